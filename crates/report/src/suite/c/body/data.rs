//! A test's data: its objects, the globals that it sets, and the results of undefined functions.

use std::collections::BTreeSet;
use std::ops::Range;

use lydian_ir::test::{
    CALLBACK_PREFIX, ExternalResult, INPUT_PREFIX, Image, PointerTarget, Test, TestObject,
};
use lydian_ir::{CType, CTypeId, CTypes, GlobalId, IntKind};

use super::super::assign::assign;
use super::super::literal::{Form, Names, ObjectName, array, characters, initialiser, string};
use super::devices::is_scripted;
use super::{Body, MOST_ASSIGNMENTS, MOST_FAILING, MOST_LOCAL};
use crate::suite::image::{ObservedImage, plain};
use crate::suite::observation::{Observation, Outcome};
use crate::suite::value::{Pointer, Value, is_byte, read};

impl Body<'_> {
    pub(super) fn object_names(
        &mut self,
        test: &Test,
        observed: Option<&Observation>,
    ) -> Vec<ObjectName> {
        // For each object, whether each pointer to it is one to constants at its start.
        let mut pointed: Vec<Vec<bool>> = vec![Vec::new(); test.objects.len()];
        self.each_pointer(test, &mut |to_const, target| {
            if let PointerTarget::Object(position, offset) = target
                && let Some(all) = pointed.get_mut(*position as usize)
            {
                all.push(to_const && *offset == 0);
            }
        });
        let program = self.program;
        let types = &program.types;
        // Equal literals may be one object, whose addresses are equal.
        let mut literals: BTreeSet<String> = BTreeSet::new();
        let names = test.objects.iter().zip(pointed).enumerate().map(|(position, (object, by))| {
            let typed = types.is_nameable(object.ty);
            let size = types.size(object.ty).unwrap_or(1);
            let bytes = object.image.bytes.len() as u64;
            let changed = observed.is_none_or(|observed| {
                observed.outcome != Outcome::Returned
                    || observed.objects.iter().any(|(at, _)| *at as usize == position)
            });
            let is_shown = observed.is_some_and(|seen| seen.leads_to(position as u32));
            let released = observed.is_some_and(|seen| seen.released.contains(&(position as u32)));
            let is_of_environment = by.is_empty() && !is_shown && is_of_environment(test, position);
            let form = if is_of_environment {
                Form::Text(string(
                    object.image.bytes.split(|byte| *byte == 0).next().unwrap_or(&[]),
                ))
            } else if typed && released {
                // An object with a flexible array member is larger than its type.
                Form::Block { is_one: object.count == 1 || bytes != size * object.count }
            } else if !typed {
                Form::Bytes
            } else if bytes != size * object.count || object.count > 1 && is_open(types, object.ty)
            {
                Form::Room
            } else if let (false, Some(text)) =
                ((changed && !object.read_only) || is_shown, text(types, object, &by))
                && literals.insert(text.clone())
            {
                Form::Text(text)
            } else if !changed && is_empty_text(types, object) {
                Form::Array
            } else if object.count == 1 {
                Form::One
            } else {
                Form::Array
            };
            let variable = match &form {
                Form::Text(text) => text.clone(),
                _ => self.name(&variable(types, object)),
            };
            ObjectName { variable, form }
        });
        names.collect()
    }

    /// Calls `show` with all pointers of a test, and whether the type of the place leads to
    /// constants.
    fn each_pointer<'t>(&self, test: &'t Test, show: &mut impl FnMut(bool, &'t PointerTarget)) {
        let program = self.program;
        let types = &program.types;
        let params: &[CTypeId] = match program.function_named(&test.function) {
            Some(id) => match types.get(program.functions[id].ty) {
                CType::Function { params, .. } => params,
                _ => &[],
            },
            None => &[],
        };
        for call in test.calls() {
            for (at, image) in call.args.iter().enumerate() {
                pointers(types, params.get(at).copied(), 1, image, show);
            }
            for passed in call.variable {
                pointers(types, Some(passed.ty), 1, &passed.image, show);
            }
        }
        for object in &test.objects {
            pointers(types, Some(object.ty), object.count, &object.image, show);
        }
        for global in &test.globals {
            let ty = program.global_named(&global.name).map(|id| program.globals[id].ty);
            pointers(types, ty, 1, &global.image, show);
        }
        // Values of environment variables are set as texts.
        for external in test.externals.iter().filter(|call| call.variable().is_none()) {
            pointers(types, None, 1, &external.result, show);
            for write in &external.writes {
                pointers(types, None, 1, &write.image, show);
            }
        }
    }

    /// Declares the objects.
    pub(super) fn objects(&mut self, names: &Names<'_>) -> Result<(), String> {
        let count = names.objects.len();
        let mut order =
            Order { names, seen: vec![false; count], done: vec![false; count], all: Vec::new() };
        (0..count).for_each(|position| order.visit(position));
        let all = order.all;
        let mut declared = vec![false; count];
        let mut left = Vec::new();
        for position in all {
            if !matches!(names.objects[position].form, Form::Text(_)) {
                let object = &names.test.objects[position];
                let is_open = |target: &PointerTarget| match target {
                    PointerTarget::Object(other, _) => {
                        let other = *other as usize;
                        let is_text = || matches!(names.objects[other].form, Form::Text(_));
                        // A variable has an address in its own initial value, a block has none yet.
                        let is_own = || {
                            let is_block = matches!(names.objects[other].form, Form::Block { .. });
                            other == position && !is_block
                        };
                        !declared[other] && !is_own() && !is_text()
                    }
                    _ => false,
                };
                let (image, open) = split(&object.image, is_open);
                self.object(names, position, &image)?;
                if !open.is_empty() {
                    left.push((position, image));
                }
            }
            declared[position] = true;
        }
        for (position, image) in left {
            let (object, name) = (&names.test.objects[position], &names.objects[position]);
            let types = &self.program.types;
            let before = read(types, object.ty, object.count, &image.into());
            let after = read(types, object.ty, object.count, &object.image.clone().into());
            let mut assigned = Vec::new();
            let is_array = matches!(name.form, Form::Array | Form::Block { is_one: false });
            let whole = (object.ty, is_array.then_some(object.count));
            let done = name.form != Form::Bytes
                && assign(names, whole, &name.lvalue(), &after, &before, &mut assigned).is_ok();
            match done {
                true => assigned.into_iter().for_each(|line| self.line(line)),
                false => self.fill(names, &address(name), &object.image, false)?,
            }
        }
        self.settle_unions(names);
        Ok(())
    }

    /// Makes what unions hold visible through all of their members. A test sets one member, and compilers
    /// may take it for granted that the program reads no other through a pointer.
    fn settle_unions(&mut self, names: &Names<'_>) {
        for (object, name) in names.test.objects.iter().zip(&names.objects) {
            let is_set = object.image.bytes.iter().any(|byte| *byte != 0);
            let is_variable = matches!(name.form, Form::One | Form::Array);
            if is_set && is_variable && has_union(&self.program.types, object.ty) {
                self.line(format!("SETTLE({});", name.variable));
            }
        }
    }

    /// Declares an object with these contents.
    fn object(&mut self, names: &Names<'_>, position: usize, image: &Image) -> Result<(), String> {
        let types = &self.program.types;
        let object = &names.test.objects[position];
        let name = &names.objects[position];
        let variable = &name.variable;
        let size = object.image.bytes.len() as u64;
        let align = if self.aligns { object.align.max(16) } else { object.align };
        let usual =
            if self.aligns { types.align(object.ty) } else { types.align(object.ty).max(16) };
        let aligned = match align > usual || name.form == Form::Bytes {
            true => format!(" __attribute__((__aligned__({align})))"),
            false => String::new(),
        };
        let is_scripted = is_scripted(names.test, position);
        let storage = if size > MOST_LOCAL || is_scripted { "static " } else { "" };
        let is_one = matches!(name.form, Form::One | Form::Room | Form::Block { is_one: true });
        let count = if is_one { 1 } else { object.count };
        let value = match name.form {
            Form::Bytes => Value::Raw(image.clone().into()),
            Form::Room => match head(image, types.size(object.ty).unwrap_or(size)) {
                Some(head) => read(types, object.ty, 1, &head.into()),
                None => Value::Raw(image.clone().into()),
            },
            _ => read(types, object.ty, count, &image.clone().into()),
        };
        // By its bytes, as an enumerator's value has a name.
        let is_zero = image.pointers.is_empty() && image.bytes.iter().all(|byte| *byte == 0)
            || value.is_zero();
        let is_scalar = types.scalar(object.ty).is_some();
        let initial = match &value {
            _ if name.form == Form::Array && is_empty_text(types, object) => Ok("\"\"".to_owned()),
            value if is_zero && (!is_scalar || matches!(value, Value::Raw(_))) => {
                Ok("{ 0 }".to_owned())
            }
            Value::Text(bytes) if !is_one => {
                Ok(characters(self.program, object.ty, bytes, object.count))
            }
            Value::Array(elements) if !is_one => array(names, object.ty, elements),
            value => initialiser(names, object.ty, value),
        };
        let spelled = match name.form {
            Form::Room => {
                let it = types.spell_compiled(object.ty, "it");
                format!("union {{ {it}; unsigned char bytes[{}]; }} {variable}", size.max(1))
            }
            Form::Bytes => format!("unsigned char {variable}[{}]", size.max(1)),
            Form::Array => {
                // A string literal ends with a zero byte, a list of characters does not.
                let is_literal = initial.as_ref().is_ok_and(|text| text.starts_with('"'));
                let is_whole = size <= MOST_LOCAL && is_whole_text(types, object);
                let count = match is_literal && is_whole {
                    true => String::new(),
                    false => object.count.max(1).to_string(),
                };
                types.spell_compiled(object.ty, &format!("{variable}[{count}]"))
            }
            Form::One | Form::Text(_) => types.spell_compiled(object.ty, variable),
            Form::Block { .. } => types.spell_compiled(object.ty, &format!("*{variable}")),
        };
        let initial = match name.form {
            Form::Room if !is_zero => initial.map(|text| format!("{{ .it = {text} }}")),
            _ => initial,
        };
        if let Form::Block { .. } = name.form {
            let ty = types.spell_compiled(object.ty, "");
            let is_whole = size == types.size(object.ty).unwrap_or(0) * count;
            // No array has elements with a flexible member.
            let is_array_of_open = count > 1 && is_open(types, object.ty);
            let is_plain =
                initial.is_ok() && is_whole && !ty.contains(['(', '[']) && !is_array_of_open;
            let (size, text) = (size.max(1), initial.unwrap_or_default());
            if is_plain {
                let inner = text.strip_prefix("{ ").and_then(|text| text.strip_suffix(" }"));
                let inner = inner.unwrap_or(&text);
                let macros = if is_one { "BLOCK(" } else { "BLOCK_OF(" };
                let count = if is_one { String::new() } else { format!("{}, ", object.count) };
                self.line(format!("{spelled} = {macros}{ty}, {count}{inner});"));
                return Ok(());
            }
            self.line(format!("{spelled} = lydian_block({size});"));
            return self.fill(names, variable, image, false);
        }
        match initial {
            // On a page of its own.
            Ok(text) if is_scripted && image.pointers.is_empty() => {
                let whole = spelled.strip_prefix("const ").unwrap_or(&spelled);
                self.line(format!("static {whole} __attribute__((__aligned__(4096))) = {text};"));
                Ok(())
            }
            Ok(text) if storage.is_empty() => {
                let constant = if object.read_only { "const " } else { "" };
                self.line(format!("{constant}{spelled}{aligned} = {text};"));
                Ok(())
            }
            initial => {
                let is_static = !storage.is_empty();
                let zero = if is_static { "" } else { " = { 0 }" };
                self.line(format!("{storage}{spelled}{aligned}{zero};"));
                if !(is_static && initial.is_ok() && name.form == Form::One) {
                    return self.fill(names, &address(name), image, is_static);
                }
                // It keeps its values from one run of the test to the next.
                self.line(format!("__builtin_memset((void *)&{variable}, 0, sizeof {variable});"));
                self.set(names, object.ty, variable, image)
            }
        }
    }

    /// Gives a variable that holds zeros these contents: member by member if few of them are set.
    fn set(
        &mut self,
        names: &Names<'_>,
        ty: CTypeId,
        variable: &str,
        image: &Image,
    ) -> Result<(), String> {
        let types = &self.program.types;
        let zero = read(types, ty, 1, &ObservedImage::zero(image.bytes.len() as u64));
        let value = read(types, ty, 1, &image.clone().into());
        match self.assign_few(names, ty, variable, (&zero, &value)) {
            true => Ok(()),
            false => self.fill(names, &format!("(void *)&{variable}"), image, false),
        }
    }

    /// Makes a value another by assignments, if few are needed. Returns whether it did.
    fn assign_few(
        &mut self,
        names: &Names<'_>,
        ty: CTypeId,
        lvalue: &str,
        (before, after): (&Value, &Value),
    ) -> bool {
        let mut assigned = Vec::new();
        let is_done = assign(names, (ty, None), lvalue, after, before, &mut assigned).is_ok();
        let is_few = is_done && assigned.len() <= MOST_ASSIGNMENTS;
        assigned.into_iter().filter(|_| is_few).for_each(|line| self.line(line));
        is_few
    }

    /// Copies bytes and pointers to an address. With `again` something else than zeros may stand there.
    pub(super) fn fill(
        &mut self,
        names: &Names<'_>,
        address: &str,
        image: &Image,
        again: bool,
    ) -> Result<(), String> {
        let image = plain(image);
        let place = |at: usize| match at {
            0 => address.to_owned(),
            _ => format!("(char *){address} + {at}"),
        };
        let runs = nonzero_runs(&image.bytes);
        let is_all = matches!(&runs[..], [run] if run.len() == image.bytes.len());
        if again && !is_all {
            self.line(format!("__builtin_memset({address}, 0, {});", image.bytes.len()));
        }
        for run in runs {
            let (to, size) = (place(run.start), run.len());
            let bytes = string(&image.bytes[run]);
            self.line(format!("__builtin_memcpy({to}, {bytes}, {size});"));
        }
        for pointer in &image.pointers {
            let target = names.pointer(&Pointer::To(pointer.target.clone()), None)?;
            let to = place(pointer.offset as usize);
            self.line(format!(
                "{{ const void *pointer = {target}; __builtin_memcpy({to}, &pointer, sizeof pointer); }}"
            ));
        }
        Ok(())
    }

    /// Sets a global.
    pub(super) fn global(
        &mut self,
        names: &Names<'_>,
        global: &str,
        image: &Image,
    ) -> Result<(), String> {
        let program = self.program;
        if global.contains('.') {
            return Err(format!("C has no name for {global} outside of its function"));
        }
        let id: GlobalId =
            program.global_named(global).ok_or_else(|| format!("there is no global {global}"))?;
        let (ty, size) = (program.globals[id].ty, image.bytes.len());
        let whole: ObservedImage = image.clone().into();
        let value = read(&program.types, ty, 1, &whole);
        let before = read(&program.types, ty, 1, &Image::initial(program, id).into());
        if !program.globals[id].read_only && self.assign_few(names, ty, global, (&before, &value)) {
            return Ok(());
        }
        match initialiser(names, ty, &value) {
            Ok(text) => {
                let variable = self.name(&format!("{global}_set"));
                let text = if value.is_zero() { "{ 0 }".to_owned() } else { text };
                self.line(format!("__typeof__({global}) {variable} = {text};"));
                self.line(format!(
                    "lydian_overwrite((void *)&{global}, (void *)&{variable}, sizeof {variable});"
                ));
                Ok(())
            }
            Err(_) => {
                self.line(format!("__builtin_memset((void *)&{global}, 0, {size});"));
                self.fill(names, &format!("(void *)&{global}"), image, false)
            }
        }
    }

    /// Files, the environment, and what undefined functions do.
    pub(super) fn externals(&mut self, names: &Names<'_>) -> Result<(), String> {
        for (file, bytes) in names.test.files() {
            let (shown, size) = (string(&bytes), bytes.len());
            self.line(format!("lydian_give(\"{file}\", {shown}, {size});"));
        }
        for (name, value) in names.test.environment() {
            let name = string(name.as_bytes());
            self.line(match value {
                Some(value) => format!("lydian_setenv({name}, {}, 1);", string(&value)),
                None => format!("lydian_unsetenv({name});"),
            });
        }
        let is_call = |call: &&ExternalResult| call.variable().is_none() && !call.is_of_script();
        let calls = names.test.externals.iter().filter(is_call);
        let calls: Vec<&ExternalResult> = calls.collect();
        let functions: BTreeSet<&str> = calls.iter().map(|call| call.function.as_str()).collect();
        self.script(names)?;
        for function in functions.into_iter().filter(|name| !name.starts_with(INPUT_PREFIX)) {
            let calls: Vec<&ExternalResult> =
                calls.iter().filter(|call| call.function == function).copied().collect();
            self.gives(names, function, &calls)?;
            for (number, call) in calls.iter().enumerate() {
                self.writes(names, number + 1, call)?;
            }
        }
        Ok(())
    }

    /// The results of the calls of a function.
    fn gives(
        &mut self,
        names: &Names<'_>,
        function: &str,
        calls: &[&ExternalResult],
    ) -> Result<(), String> {
        let is_set =
            |image: &Image| !image.pointers.is_empty() || image.bytes.iter().any(|byte| *byte != 0);
        let results = calls.iter().map(|call| &call.result);
        if self.stubs.can_fail(function) {
            for (at, _) in results.enumerate().filter(|(_, result)| !is_set(result)) {
                if at >= MOST_FAILING {
                    return Err(format!("call {} of {function} fails", at + 1));
                }
                self.line(format!("FAILS({function}, {});", at + 1));
            }
            return Ok(());
        }
        // A result that is not given is zero.
        let told = results.clone().rposition(is_set).map_or(0, |last| last + 1);
        let int = |image: &Image| {
            let byte = |at: usize| image.bytes.get(at).copied().unwrap_or(0);
            int_constant(i32::from_le_bytes(std::array::from_fn(byte)))
        };
        let mut values = Vec::new();
        for image in results.take(told) {
            values.push(match (self.stubs.has_queue(function), function) {
                (Some(ty), _) => {
                    let value = read(&self.program.types, ty, 1, &image.clone().into());
                    let text = initialiser(names, ty, &value);
                    text.map_err(|why| format!("a result of {function}: {why}"))?
                }
                (None, "klee_int" | "klee_range") => int(image),
                (None, "klee_make_symbolic") => {
                    format!("{{ {}, {} }}", string(&image.bytes), image.bytes.len())
                }
                (None, _) => return Ok(()),
            });
        }
        if !values.is_empty() {
            self.line(format!("GIVES({function}, {});", values.join(", ")));
        }
        Ok(())
    }

    /// The writes of a call of an undefined function.
    fn writes(
        &mut self,
        names: &Names<'_>,
        call: usize,
        result: &ExternalResult,
    ) -> Result<(), String> {
        let function = result.function.as_str();
        if !result.writes.is_empty() && self.stubs.passed(function).is_none() {
            return Err(format!("the type of a parameter of {function} has no name"));
        }
        for write in &result.writes {
            let mut before = Vec::new();
            let way = self.stubs.way(names, function, write)?;
            let (from, size) =
                self.stubs.written(names, function, write, &mut before, &mut self.taken)?;
            before.into_iter().for_each(|line| self.line(line));
            self.line(format!(
                "WRITES({function}, .call = {call}, {way}, .from = {from}, .size = {size});"
            ));
        }
        Ok(())
    }
}

/// The order in which objects are declared: a pointee before its pointer.
struct Order<'n> {
    names: &'n Names<'n>,
    seen: Vec<bool>,
    done: Vec<bool>,
    all: Vec<usize>,
}

impl Order<'_> {
    fn visit(&mut self, position: usize) {
        if std::mem::replace(&mut self.seen[position], true) {
            return;
        }
        let pointers = &self.names.test.objects[position].image.pointers;
        for pointer in pointers {
            if let PointerTarget::Object(other, _) = pointer.target
                && (other as usize) < self.seen.len()
            {
                self.visit(other as usize);
            }
        }
        if !std::mem::replace(&mut self.done[position], true) {
            self.all.push(position);
        }
    }
}

/// The image without the pointers to open objects, and these pointers.
fn split(image: &Image, is_open: impl Fn(&PointerTarget) -> bool) -> (Image, Vec<PointerTarget>) {
    let mut copy = plain(image);
    let open = copy.pointers.iter().filter(|pointer| is_open(&pointer.target));
    let open = open.map(|pointer| pointer.target.clone()).collect();
    copy.pointers.retain(|pointer| !is_open(&pointer.target));
    (copy, open)
}

/// Whether a type is a structure that ends with a flexible array member. Such a structure cannot be
/// an element of an array.
fn is_open(types: &CTypes, ty: CTypeId) -> bool {
    let CType::Record(record) = types.get(ty) else { return false };
    let last = types.records[*record].fields.last();
    last.is_some_and(|field| match types.get(field.ty) {
        CType::Array { length: None | Some(0), .. } => true,
        _ => is_open(types, field.ty),
    })
}

/// The fewest zeros side by side that are left out of the bytes that are copied into zeros.
const LONG_RUN: usize = 16;

/// The runs of bytes that hold all that is not zero.
fn nonzero_runs(bytes: &[u8]) -> Vec<Range<usize>> {
    let mut runs: Vec<Range<usize>> = Vec::new();
    for at in (0..bytes.len()).filter(|at| bytes[*at] != 0) {
        match runs.last_mut() {
            Some(run) if at - run.end < LONG_RUN => run.end = at + 1,
            _ => runs.push(at..at + 1),
        }
    }
    runs
}

/// The first bytes of an image, if all others are zero.
fn head(image: &Image, size: u64) -> Option<Image> {
    let (own, others) = image.bytes.split_at_checked(size as usize)?;
    let is_all = others.iter().all(|byte| *byte == 0)
        && image.pointers.iter().all(|pointer| pointer.offset + 8 <= size);
    is_all.then(|| Image { bytes: own.to_vec(), pointers: image.pointers.clone() })
}

fn address(name: &ObjectName) -> String {
    match name.form {
        Form::Bytes | Form::Array | Form::Block { .. } => format!("(void *){}", name.variable),
        _ => format!("(void *)&{}", name.variable),
    }
}

/// Calls `show` with the pointers of an image, and whether the place of each is a pointer to
/// constants.
fn pointers<'t>(
    types: &CTypes,
    ty: Option<CTypeId>,
    count: u64,
    image: &'t Image,
    show: &mut impl FnMut(bool, &'t PointerTarget),
) {
    for pointer in &image.pointers {
        let size = ty.and_then(|ty| types.size(ty)).unwrap_or(0);
        let at = if count > 1 && size > 0 { pointer.offset % size } else { pointer.offset };
        let to_const = ty.and_then(|ty| leads_to_constants(types, ty, at));
        show(to_const.unwrap_or(false), &pointer.target);
    }
}

/// Whether the pointer that lies at an offset in a type leads to constants.
fn leads_to_constants(types: &CTypes, ty: CTypeId, offset: u64) -> Option<bool> {
    match types.get(ty) {
        CType::Pointer { to_const, .. } => (offset == 0).then_some(*to_const),
        CType::Array { element, .. } => {
            let size = types.size(*element).filter(|size| *size > 0)?;
            leads_to_constants(types, *element, offset % size)
        }
        CType::Record(record) if !types.records[*record].is_union => {
            let fields = &types.records[*record].fields;
            fields.iter().filter(|field| field.bits.is_none()).find_map(|field| {
                let behind = offset.checked_sub(field.bit_offset / 8)?;
                (behind < types.size(field.ty)?)
                    .then(|| leads_to_constants(types, field.ty, behind))?
            })
        }
        _ => None,
    }
}

/// The string literal that represents an object; `None` if there is none. The object must be a text
/// that ends at its end, and have a single pointer to it, to constant characters.
fn text(types: &CTypes, object: &TestObject, by: &[bool]) -> Option<String> {
    let bytes = &object.image.bytes;
    let (last, text) = bytes.split_last()?;
    let is_constant = by == [true];
    let fits = is_byte(types, object.ty) && object.image.pointers.is_empty();
    let printable =
        text.iter().all(|byte| (b' '..=b'~').contains(byte) || matches!(byte, b'\n' | b'\t'));
    (is_constant && fits && *last == 0 && printable).then(|| string(text))
}

/// Whether an object is the value of an environment variable.
fn is_of_environment(test: &Test, object: usize) -> bool {
    let leads = |target: &PointerTarget| matches!(target, PointerTarget::Object(position, _) if *position as usize == object);
    let mut values = test.externals.iter().filter(|call| call.variable().is_some());
    values.any(|call| call.result.pointers.iter().any(|pointer| leads(&pointer.target)))
}

/// Whether an object is a text that ends where the object does.
fn is_whole_text(types: &CTypes, object: &TestObject) -> bool {
    let is_char = matches!(types.get(object.ty), CType::Int { kind: IntKind::Char, .. });
    let bytes = &object.image.bytes;
    let text = bytes.split_last().is_some_and(|(last, text)| *last == 0 && !text.contains(&0));
    is_char && text && bytes.len() as u64 == object.count && object.image.pointers.is_empty()
}

/// Whether an object is a text of no characters.
pub(super) fn is_empty_text(types: &CTypes, object: &TestObject) -> bool {
    object.count == 1 && is_whole_text(types, object)
}

/// The name of an object's variable: the last descriptive member of its place.
fn variable(types: &CTypes, object: &TestObject) -> String {
    // The rest tells when the object came into being.
    let place = object.name.split(['@', ' ']).next().unwrap_or_default().replace("->", ".");
    let mut words = place.split('.').rev();
    let last = words.find(|word| !word.is_empty()).unwrap_or("");
    // An element may follow.
    let is_hash = |word: &str| {
        let word = word.split(|c: char| !c.is_ascii_alphanumeric()).next().unwrap_or_default();
        word.len() > 10 && word.starts_with('p') && word[1..].bytes().all(|b| b.is_ascii_hexdigit())
    };
    if let Some((function, call)) = last.split_once("()#") {
        let is_callback = function.starts_with(CALLBACK_PREFIX);
        let name = if is_callback { "given".to_owned() } else { format!("{function}_gives") };
        // Calls are counted from 0.
        return match call.parse::<u32>() {
            Ok(before @ 1..) => format!("{name}_{}", before + 1),
            _ => name,
        };
    }
    if is_hash(last) || last.is_empty() {
        return match types.get(object.ty) {
            CType::Record(record) if !types.records[*record].name.is_empty() => {
                format!("a_{}", types.records[*record].name)
            }
            CType::Int { kind: IntKind::Char, .. } => "text".to_owned(),
            _ => "data".to_owned(),
        };
    }
    last.to_owned()
}

/// Whether a type has a union with several members in it.
fn has_union(types: &CTypes, ty: CTypeId) -> bool {
    match types.get(ty) {
        CType::Array { element, .. } => has_union(types, *element),
        CType::Record(record) => {
            let record = &types.records[*record];
            let is_union = record.is_union && record.fields.len() > 1;
            is_union || record.fields.iter().any(|field| has_union(types, field.ty))
        }
        _ => false,
    }
}

/// An `int` as a constant expression.
pub(super) fn int_constant(value: i32) -> String {
    if value == i32::MIN { format!("(-{} - 1)", i32::MAX) } else { value.to_string() }
}
