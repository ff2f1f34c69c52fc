//! The body of a test: its data, the call, and the assertions.
//!
//! Data stands in the test's function. A pointee comes before its pointer; if objects lead to each
//! other, pointers are assigned afterwards. Only data that is too large for a stack is static.

mod data;
mod devices;
mod everything;

use std::collections::BTreeSet;

use lydian_ir::test::{Image, PassedArguments};
use lydian_ir::{CType, CTypeId, IntKind, Program, libc};

use super::assertion::{Assertion, Line};
use super::check::{Checks, Shared};
use super::literal::{
    Form, Names, function_name, identifier, initialiser, scalar, typed_integer, unique,
};
use super::stubs::Stubs;
use crate::suite::image::ObservedImage;
use crate::suite::observation::{Observation, Outcome};
use crate::suite::registers::Registers;
use crate::suite::signature::{parameter_names, result_type};
use crate::suite::test::SuiteTest;
use crate::suite::value::{Value, read};
use data::int_constant;
pub(super) use devices::accesses;
pub use devices::accesses_devices;
use devices::scripts_variables;
pub use devices::{DEVICES, devices_header};

/// Greatest number of bytes of a local variable.
const MOST_LOCAL: u64 = 1 << 14;

/// The most assignments that set a global. With more of them a whole value is copied.
const MOST_ASSIGNMENTS: usize = 8;

/// The most parts of objects that are asserted to be unchanged, if a call has no other effect.
const MOST_UNCHANGED: usize = 3;

/// The number of calls of an allocator that can be told to fail: `FAILS` has a bit for each.
pub const MOST_FAILING: usize = 64;

/// Words that cannot name a variable.
const RESERVED: &str = "auto break case char const continue default do double else enum extern float for \
    goto if inline int long register restrict return short signed sizeof static struct switch typedef \
    union unsigned void volatile while asm typeof main errno result test tests bool true false nullptr \
    constexpr alignas alignof thread_local static_assert _Bool";

/// A test that is a single assertion on the result of one call.
#[derive(Clone, Debug)]
pub(super) struct Row(pub(super) Assertion);

/// Writes one test.
pub(super) struct Body<'a> {
    program: &'a Program,
    stubs: &'a Stubs<'a>,
    /// Whether data has the alignment that it was measured with.
    aligns: bool,
    /// Whether the function that is called has a result.
    has_result: bool,
    /// Whether a macro is called as the function that releases a block.
    hides_free: bool,
    /// Whether everything is asserted that the call may write.
    is_thorough: bool,
    /// Whether volatile variables have the values of a script during the calls.
    is_scripted: bool,
    registers: &'a Registers,
    taken: BTreeSet<String>,
    lines: Vec<Line>,
}

impl<'a> Body<'a> {
    /// An empty body. `taken` are names with another meaning at file level.
    pub(super) fn new(
        program: &'a Program,
        (stubs, registers): (&'a Stubs<'a>, &'a Registers),
        taken: &BTreeSet<String>,
        (aligns, hides_free): (bool, bool),
    ) -> Self {
        let mut taken = taken.clone();
        taken.extend(RESERVED.split_whitespace().map(str::to_owned));
        Self {
            program,
            stubs,
            aligns,
            has_result: false,
            hides_free,
            is_thorough: false,
            is_scripted: false,
            registers,
            taken,
            lines: Vec::new(),
        }
    }

    fn line(&mut self, line: impl Into<String>) {
        self.lines.push(Line::Text(line.into()));
    }

    /// A name for a variable.
    fn name(&mut self, wanted: &str) -> String {
        unique(identifier(wanted), &mut self.taken)
    }

    /// The lines of a test that is expected to return, or not to.
    pub(super) fn of(mut self, suite_test: &SuiteTest) -> Result<Vec<Line>, String> {
        let test = &suite_test.test;
        let observed = suite_test.observed.as_ref();
        self.is_thorough = suite_test.thorough;
        self.is_scripted = scripts_variables(test);
        let returns = observed.is_none_or(|observed| observed.outcome == Outcome::Returned);
        let objects = self.object_names(test, observed);
        let names = Names { program: self.program, test, objects };
        self.objects(&names)?;
        let program = self.program;
        let has_error_number = libc::error_number(program).is_some();
        let is_error_number = |name: &str| has_error_number && name == libc::ERROR_NUMBER;
        for global in test.globals.iter().filter(|global| !is_error_number(&global.name)) {
            self.global(&names, &global.name, &global.image)?;
        }
        self.externals(&names)?;
        let function = program.function_named(&test.function);
        let function = function.ok_or_else(|| format!("there is no function {}", test.function))?;
        let params = match program.types.get(program.functions[function].ty) {
            CType::Function { params, .. } => params.clone(),
            _ => Vec::new(),
        };
        let params: Vec<_> = params.into_iter().zip(parameter_names(program, function)).collect();
        let mut calls = Vec::new();
        for call in test.calls() {
            calls.push(self.call(&names, &params, call)?);
        }
        if has_error_number {
            // The error number is set last, since the statements before may change it.
            let set = test.globals.iter().find(|global| is_error_number(&global.name));
            let byte = |at: usize| set.and_then(|set| set.image.bytes.get(at)).copied();
            let value = i32::from_le_bytes(std::array::from_fn(|at| byte(at).unwrap_or(0)));
            if value != 0 {
                self.line(format!("errno = {};", int_constant(value)));
            }
        }
        let last = calls.pop().expect("a test has a call");
        let ty = result_type(program, &test.function);
        self.has_result = ty.is_some();
        for call in calls {
            self.unasserted(ty.filter(|_| !returns), &call, true);
        }
        self.last_call(&names, observed, ty, &last, returns);
        Ok(self.lines)
    }

    /// The text of a call.
    fn call(
        &mut self,
        names: &Names<'_>,
        params: &[(CTypeId, String)],
        call: PassedArguments<'_>,
    ) -> Result<String, String> {
        let mut args = Vec::new();
        for ((ty, param), image) in params.iter().zip(call.args) {
            args.push(self.argument(names, *ty, param, image)?);
        }
        for (position, passed) in call.variable.iter().enumerate() {
            // No prototype converts it to its type, so a cast does.
            let ty = self.program.types.spell_compiled(passed.ty, "");
            let param = format!("arg{}", params.len() + position);
            if ty.contains('{') {
                return Err(format!("the type of {param} has no name"));
            }
            let text = self.argument(names, passed.ty, &param, &passed.image)?;
            args.push(format!("({ty}){text}"));
        }
        Ok(format!("{}({})", function_name(&names.test.function), args.join(", ")))
    }

    /// An argument: a literal, or a variable for a value that has none.
    fn argument(
        &mut self,
        names: &Names<'_>,
        ty: CTypeId,
        param: &str,
        image: &Image,
    ) -> Result<String, String> {
        let types = &self.program.types;
        let value = read(types, ty, 1, &image.clone().into());
        if let (CType::Int { kind, .. }, Value::Int { bits, width: width @ 33.., signed }) =
            (types.get(ty), &value)
            && *kind != IntKind::Bool
        {
            // A definition of before C99 converts nothing.
            return Ok(typed_integer(*bits, *width, *signed));
        }
        if types.scalar(ty).is_some()
            && let Ok(text) = scalar(names, ty, &value)
        {
            return Ok(text);
        }
        let variable = self.name(param);
        let declared = types.spell_compiled(ty, &variable);
        if declared.contains('{') {
            return Err(format!("the type of {param} has no name"));
        }
        match initialiser(names, ty, &value) {
            Ok(text) => self.line(format!("{declared} = {text};")),
            Err(_) => {
                self.line(format!("{declared};"));
                self.fill(names, &format!("(void *)&{variable}"), image, true)?;
            }
        }
        Ok(variable)
    }

    /// A call whose result is not checked. The result is kept if one of the calls may end the test.
    fn unasserted(&mut self, kept: Option<CTypeId>, call: &str, in_block: bool) {
        let Some(ty) = kept else {
            let cast = if self.has_result { "(void)" } else { "" };
            let line = self.calling(format!("{cast}{call};"));
            return self.line(line);
        };
        let declared = self.declared_result(ty, call);
        let used = "LYDIAN_KEEP(result);";
        match in_block {
            true => self.line(format!("{{ {declared} {used} }}")),
            false => {
                self.line(declared);
                self.line(used);
            }
        }
    }

    fn declared_result(&self, ty: CTypeId, call: &str) -> String {
        let spelled = self.program.types.spell_compiled(ty, "result");
        self.calling(match spelled.contains('{') {
            true => format!("__typeof__({call}) result = {call};"),
            false => format!("{spelled} = {call};"),
        })
    }

    /// A statement with a call, in which volatile variables have the values of the script.
    fn calling(&self, statement: String) -> String {
        match self.is_scripted {
            true => format!("SCRIPTED({});", statement.trim_end_matches(';')),
            false => statement,
        }
    }

    /// The last call and the assertions behind it.
    fn last_call(
        &mut self,
        names: &Names<'_>,
        observed: Option<&Observation>,
        ty: Option<CTypeId>,
        call: &str,
        returns: bool,
    ) {
        if observed.is_some_and(|observed| observed.is_undefined && returns) {
            return self.unasserted(ty, call, false);
        }
        if let Some(observed) = observed.filter(|seen| seen.outcome == Outcome::OutranScript) {
            return self.outrun(names, observed, call);
        }
        let Some(observed) = observed.filter(|_| returns) else {
            self.unasserted(ty.filter(|_| !returns), call, false);
            let exits = |observed: &Observation| {
                matches!(observed.outcome, Outcome::Exited(_)) && !observed.is_undefined
            };
            if observed.is_some_and(exits) {
                self.line("LYDIAN_RETURNED();");
            }
            return;
        };
        let mut taken = std::mem::take(&mut self.taken);
        let mut shared = Shared::new(&mut taken, &observed.blocks);
        let result = observed.result.as_ref().zip(ty).map(|(result, ty)| {
            let mut checks = Checks::new(names, result, None, &mut shared);
            checks.value(ty, "result", 0);
            (ty, checks.lines)
        });
        match result {
            Some((_, lines)) if lines.is_empty() => self.unasserted(None, call, false),
            Some((ty, lines)) => {
                let alone = match &lines[..] {
                    [Line::Assert(one)] if one.seen() == "result" => one.of(call),
                    _ => None,
                };
                let frees = !shared.is_empty();
                match alone.filter(|_| !frees && !self.is_scripted) {
                    Some(assertion) => self.lines.push(Line::Assert(assertion)),
                    None => {
                        self.line(self.declared_result(ty, call));
                        self.lines.extend(lines);
                    }
                }
            }
            None => self.unasserted(None, call, false),
        }
        self.device_writes(names.test, observed);
        self.changes(names, observed, &mut shared);
        if observed.varies {
            self.line("/* What its assembly computes differs between machines or runs. */");
            return;
        }
        if self.is_thorough {
            return self.everything(names, observed, &mut shared);
        }
        if !self.lines.iter().any(|line| matches!(line, Line::Assert(_))) {
            self.effects(names, observed, &mut shared);
        }
    }

    /// A last call that asks for another read of a device than the next. Compilers may keep the values of
    /// other memory in registers there, so nothing but accesses of devices is asserted.
    fn outrun(&mut self, names: &Names<'_>, observed: &Observation, call: &str) {
        let cast = if self.has_result { "(void)" } else { "" };
        self.line(format!("OUTRUNS({cast}{call});"));
        if !observed.is_undefined {
            self.device_writes(names.test, observed);
        }
    }

    /// For a call without other effects, asserts the calls that it makes, and that it leaves objects
    /// unchanged.
    fn effects(&mut self, names: &Names<'_>, observed: &Observation, shared: &mut Shared<'_>) {
        if self.stubs.counts_releases() && !observed.released.is_empty() {
            let count = observed.released.len();
            self.lines.push(Line::Assert(Assertion::Released { count }));
        }
        let called = observed.calls.iter().map(|(function, count)| (function.as_str(), *count));
        self.calls(called);
        if self.lines.iter().any(|line| matches!(line, Line::Assert(_))) {
            return;
        }
        let objects = names.test.objects.iter().zip(&names.objects).enumerate();
        let mut unchanged = Vec::new();
        for (position, (object, name)) in objects {
            let is_left = observed.leaves(position as u32);
            if !is_left || matches!(name.form, Form::Text(_) | Form::Bytes) {
                continue;
            }
            let before: ObservedImage = object.image.clone().into();
            let mut checks = Checks::new(names, &before, None, shared);
            match name.form {
                Form::Array | Form::Block { is_one: false } => {
                    checks.elements(object.ty, object.count, &name.variable, 0);
                }
                _ => checks.value(object.ty, &name.lvalue(), 0),
            }
            unchanged.extend(checks.lines);
        }
        unchanged.retain(|line| matches!(line, Line::Assert(one) if one.stands_alone()));
        unchanged.truncate(MOST_UNCHANGED);
        if unchanged.is_empty() {
            self.omits(names, observed);
        }
        self.lines.extend(unchanged);
    }

    /// Asserts the numbers of calls of undefined functions.
    fn calls<'n>(&mut self, called: impl Iterator<Item = (&'n str, u32)>) {
        let counted = called.filter(|(function, _)| self.stubs.counts(function));
        let assertions = counted
            .map(|(function, count)| Assertion::Calls { function: function.to_owned(), count });
        let lines: Vec<Line> = assertions.map(Line::Assert).collect();
        self.lines.extend(lines);
    }

    /// For a call without any effect, asserts that it did not call the functions that it could have
    /// called.
    fn omits(&mut self, names: &Names<'_>, observed: &Observation) {
        let program = self.program;
        let Some(function) = program.function_named(&names.test.function) else { return };
        let called = program.called_from(function);
        let called: Vec<&str> =
            called.iter().map(|id| program.functions[*id].name.as_str()).collect();
        if self.stubs.counts_releases() && observed.released.is_empty() && called.contains(&"free")
        {
            self.lines.push(Line::Assert(Assertion::Released { count: 0 }));
        }
        let other = called.into_iter().filter(|name| {
            self.stubs.counts(name) && observed.calls.iter().all(|(known, _)| known != name)
        });
        let other: Vec<&str> = other.take(MOST_UNCHANGED).collect();
        self.calls(other.into_iter().map(|name| (name, 0)));
    }

    /// Asserts the memory after the call, and frees the blocks that its result and the objects lead
    /// to.
    fn changes(&mut self, names: &Names<'_>, observed: &Observation, shared: &mut Shared<'_>) {
        let program = self.program;
        for (position, after) in &observed.objects {
            let object = &names.test.objects[*position as usize];
            let name = &names.objects[*position as usize];
            let before = Some(&object.image).filter(|_| !self.is_thorough);
            let mut checks = Checks::new(names, after, before, shared);
            match name.form {
                Form::Bytes => {
                    checks.bytes(&name.variable, 0, after.image.bytes.len() as u64, false);
                }
                Form::Array => checks.elements(object.ty, object.count, &name.variable, 0),
                _ => checks.value(object.ty, &name.lvalue(), 0),
            }
            let lines = checks.lines;
            self.lines.extend(lines);
        }
        let own = shared.take_met();
        for (global, after) in &observed.globals {
            let Some(id) = program.global_named(global).filter(|_| !global.contains('.')) else {
                continue; // a static local
            };
            let set = names.test.globals.iter().find(|input| input.name == *global);
            let initial = Image::initial(program, id);
            let before = set.map_or(&initial, |input| &input.image);
            let before = Some(before).filter(|_| !self.is_thorough);
            let mut checks = Checks::new(names, after, before, shared);
            checks.value(program.globals[id].ty, global, 0);
            let lines = checks.lines;
            self.lines.extend(lines);
        }
        for (pointer, to_const) in own {
            let is_declared = program.function_named("free").is_some() && !self.hides_free;
            let free = if is_declared && !to_const { "free" } else { "FREE" };
            self.line(format!("{free}({pointer});"));
        }
    }
}

/// The test as a row, if it is one.
pub(super) fn row(suite_test: &SuiteTest, lines: &[Line]) -> Option<Row> {
    let SuiteTest { test, observed, .. } = suite_test;
    let observed = observed.as_ref()?;
    let alone = observed.outcome == Outcome::Returned
        && observed.globals.is_empty()
        && test.objects.is_empty()
        && test.globals.is_empty()
        && test.externals.is_empty()
        && test.earlier.is_empty()
        && observed.device_writes.is_empty()
        && observed.attempts.is_empty();
    match lines {
        [Line::Assert(assertion)] if alone => Some(Row(assertion.clone())),
        _ => None,
    }
}
