//! The C text that calls both versions of a function on the same inputs and compares what they do.
//!
//! It follows the new version's text, so it knows all types. The old version's functions and variables
//! have names of their own ([`old_name`]), and so have static locals ([`visible_name`]).

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lydian_ir::libc::is_library_object;
use lydian_ir::{
    CType, CTypeId, CTypes, Expr, FuncId, Global, GlobalId, GlobalInit, Linkage, Program,
    RelocationTarget, Stmt,
};
use lydian_objective::changes::ProgramPlaces;

use super::externals::{self, External};
use super::leaves::{Leaf, leaves};

/// The function that calls both versions.
pub(super) const DRIVER: &str = "lydian_driver";
/// The function that is called where they differ.
pub(super) const DIFFERENCE: &str = "lydian_versions_differ";
/// The function that is called where something cannot be compared.
pub(super) const UNCOMPARED: &str = "lydian_versions_uncompared";
/// The variable that tells whether the calls of undefined functions differ.
pub(super) const CALLS_DIFFER: &str = "lydian_calls_differ";

/// What the names of static locals begin with.
pub(super) const STATIC: &str = "lydian_static_";

/// The name of the old version's function or variable.
pub(super) fn old_name(name: &str) -> String {
    format!("lydian_old__{}", name.replace(['.', '@'], "__"))
}

/// The name of a variable of the new version that C text can use: static locals have none of their own.
pub(super) fn visible_name(name: &str) -> String {
    match name.contains('.') {
        true => format!("{STATIC}{}", name.replace('.', "__")),
        false => name.to_owned(),
    }
}

/// A driver with what it takes and compares.
#[derive(Clone, Debug)]
pub(super) struct Driver {
    /// Its C.
    pub(super) text: String,
    /// The inputs of the function, in order.
    pub(super) inputs: Vec<DriverInput>,
    /// What is compared.
    pub(super) observations: Vec<Observation>,
    /// The static locals that either version may write.
    pub(super) statics: Vec<String>,
    /// The undefined functions.
    pub(super) externals: Vec<External>,
    /// What the comparison assumes of inputs, in sentences.
    pub(super) assumptions: Vec<String>,
    /// Whether there are pointers, which lead to so many elements.
    pub(super) elements: Option<u64>,
}

/// An input of the function.
#[derive(Clone, Debug)]
pub(super) struct DriverInput {
    /// Its name in C.
    pub(super) name: String,
    /// Its type; of what a pointer leads to, the type of an element.
    pub(super) ty: CTypeId,
    pub(super) of: InputOf,
}

/// Where the driver has an input from.
#[derive(Clone, Debug)]
pub(super) enum InputOf {
    /// The driver's argument at a position.
    Argument(usize),
    /// A buffer.
    Buffer {
        /// The variable that has its contents.
        variable: String,
        /// The position of the argument that says whether the pointer is null.
        null: usize,
        /// The position of the argument that says whether it leads to the buffer of an earlier
        /// parameter, unless that is null, and the position of that one among the inputs.
        same: Option<(usize, usize)>,
    },
    /// A variable of this name in the product.
    Global(String),
}

/// A scalar that is compared.
#[derive(Clone, Debug)]
pub(super) struct Observation {
    /// Its name for the user.
    pub(super) name: String,
    /// The variable of the product that has the old version's, and that with the new one's.
    pub(super) variables: (String, String),
    /// Its place in both.
    pub(super) leaf: Leaf,
}

/// Both versions of a function.
#[derive(Clone, Copy)]
pub(super) struct Pair<'p> {
    pub(super) old: (&'p Program, FuncId),
    pub(super) new: (&'p Program, FuncId),
}

impl Driver {
    /// The driver of a function, whose pointers lead to so many elements.
    ///
    /// # Errors
    /// Why both versions cannot be compared, in words.
    pub(super) fn of(pair: Pair<'_>, elements: u64) -> Result<Self, String> {
        let (program, function) = pair.new;
        let name = &program.functions[function].name;
        let CType::Function { result, params, variadic } =
            program.types.get(program.functions[function].ty)
        else {
            return Err(format!("`{name}` has no function type"));
        };
        if *variadic && !params.is_empty() {
            return Err("it takes any number of arguments".to_owned());
        }
        let mut writer = Writer::new(pair, elements);
        writer.externals()?;
        writer.globals()?;
        writer.params(params)?;
        writer.calls(*result)?;
        writer.assume_apart();
        Ok(writer.finish())
    }
}

/// Refuses what makes two runs of the same code differ.
///
/// # Errors
/// What it is, in words.
pub(super) fn check_bodies(pair: Pair<'_>) -> Result<(), String> {
    check_bodies_of(pair.new)?;
    check_bodies_of(pair.old)
}

fn check_bodies_of((program, function): (&Program, FuncId)) -> Result<(), String> {
    for id in program.entered_from(function) {
        let Some(body) = &program.functions[id].body else { continue };
        let name = &program.functions[id].name;
        let is_volatile = |expr: &Expr| matches!(expr, Expr::Load { volatile: true, .. });
        if body.exprs.values().any(is_volatile) {
            return Err(format!("`{name}` reads volatile memory"));
        }
        let is_volatile = |stmt: &Stmt| matches!(stmt, Stmt::Store { volatile: true, .. });
        if body.stmts.values().any(is_volatile) {
            return Err(format!("`{name}` writes volatile memory"));
        }
        if body.stmts.values().any(|stmt| matches!(stmt, Stmt::Havoc(_))) {
            return Err(format!("`{name}` has inline assembly"));
        }
    }
    Ok(())
}

/// Writes a driver.
struct Writer<'p> {
    pair: Pair<'p>,
    /// The functions that runs of the new version and of the old one may enter.
    entered: [Vec<FuncId>; 2],
    elements: u64,
    /// Declarations.
    head: String,
    /// Statements before the calls.
    copies: String,
    /// Statements behind them.
    compared: String,
    driver: Driver,
    /// The driver's parameters.
    params: Vec<String>,
    /// The arguments of the old version and of the new one.
    arguments: (Vec<String>, Vec<String>),
}

impl<'p> Writer<'p> {
    fn new(pair: Pair<'p>, elements: u64) -> Self {
        let driver = Driver {
            text: String::new(),
            inputs: Vec::new(),
            observations: Vec::new(),
            statics: Vec::new(),
            externals: Vec::new(),
            assumptions: Vec::new(),
            elements: None,
        };
        Self {
            pair,
            entered: [pair.new, pair.old].map(|(program, function)| program.entered_from(function)),
            elements,
            head: String::new(),
            copies: String::new(),
            compared: String::new(),
            driver,
            params: Vec::new(),
            arguments: (Vec::new(), Vec::new()),
        }
    }

    fn types(&self) -> &'p CTypes {
        &self.pair.new.0.types
    }

    /// Both versions, each with the functions that its runs may enter.
    fn versions(&self) -> [(&'p Program, Vec<FuncId>); 2] {
        let [new, old] = self.entered.clone();
        [(self.pair.new.0, new), (self.pair.old.0, old)]
    }

    fn externals(&mut self) -> Result<(), String> {
        let mut known: BTreeSet<String> = BTreeSet::new();
        self.head.push_str(&externals::record());
        let [(new, of_new), (old, of_old)] = self.versions();
        for (program, entered, other) in [(new, of_new, old), (old, of_old, new)] {
            for external in externals::undefined(program, &entered)? {
                if is_defined(other, &external.name) {
                    return Err(format!("one version alone defines `{}`", external.name));
                }
                if known.insert(external.name.clone()) {
                    let number = self.driver.externals.len();
                    let external = External::of(&program.types, external, number)?;
                    self.head.push_str(external.text());
                    self.assume(&format!(
                        "`{}` writes no variable of the program, and calls nothing back",
                        external.name
                    ));
                    self.driver.externals.push(external);
                }
            }
            if entered.iter().any(|id| allocates(&program.functions[*id].name)) {
                self.assume("allocations of memory succeed");
            }
        }
        Ok(())
    }

    fn assume(&mut self, sentence: &str) {
        if !self.driver.assumptions.iter().any(|known| known == sentence) {
            self.driver.assumptions.push(sentence.to_owned());
        }
    }

    /// Copies the variables that a version may write, and compares them.
    fn globals(&mut self) -> Result<(), String> {
        let [new, old] = self.versions().map(|(program, entered)| Variables::of(program, entered));
        let mut named = new.named_here.clone();
        named.extend(old.named_here.iter().cloned());
        for name in named.iter().map(String::as_str) {
            match (new.named(name), old.named(name)) {
                (Some(new), Some(old)) => self.global(new, old)?,
                (Some(one), None) | (None, Some(one)) if one.changes => {
                    self.assume(&format!(
                        "`{name}`, which one version alone has, has its first value, and counts \
                         for nothing afterwards"
                    ));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn global(&mut self, new: &Variable<'_>, old: &Variable<'_>) -> Result<(), String> {
        let global = new.global;
        if !new.changes && !old.changes {
            return Ok(());
        }
        let has_changed = global.init != old.global.init;
        if has_changed && !new.is_written && !old.is_written {
            self.assume(&format!("no other file writes `{}`", global.name));
            return Ok(());
        }
        if has_changed {
            self.assume(&format!(
                "`{}` may have any value: that its first value differs is not compared",
                global.name
            ));
        }
        let types = self.types();
        let (spelled, before) =
            (types.spell(global.ty, ""), self.pair.old.0.types.spell(old.global.ty, ""));
        if spelled != before || global.size != old.global.size {
            return Err(format!("the variable `{}` has another type", global.name));
        }
        let all = leaves(types, global.ty)
            .map_err(|what| format!("the variable `{}` has {what}", global.name))?;
        let (name, other) = (visible_name(&global.name), old_name(&global.name));
        let _ = writeln!(self.head, "extern {};", types.spell(global.ty, &other));
        if name != global.name {
            let _ = writeln!(self.head, "extern {};", types.spell(global.ty, &name));
            self.driver.statics.push(name.clone());
        } else {
            let (ty, of) = (global.ty, InputOf::Global(name.clone()));
            self.driver.inputs.push(DriverInput { name: name.clone(), ty, of });
        }
        let _ = writeln!(self.copies, "    __builtin_memcpy(&{other}, &{name}, sizeof {name});");
        let shown = global.name.rsplit('.').next().unwrap_or(&global.name).to_owned();
        self.compare(&shown, (&other, &name), all);
        Ok(())
    }

    fn compare(&mut self, shown: &str, (old, new): (&str, &str), all: Vec<Leaf>) {
        let types = self.types();
        for leaf in all {
            let (a, b) = (format!("{old}{}", leaf.path), format!("{new}{}", leaf.path));
            let _ = writeln!(self.compared, "    differs |= {};", leaf.differs(types, &a, &b));
            let name = format!("{shown}{}", leaf.path);
            let variables = (old.to_owned(), new.to_owned());
            self.driver.observations.push(Observation { name, variables, leaf });
        }
    }

    fn params(&mut self, params: &[CTypeId]) -> Result<(), String> {
        let (program, function) = self.pair.new;
        let mut buffers: Vec<(CTypeId, usize, usize)> = Vec::new();
        for (at, ty) in params.iter().enumerate() {
            let known = program.functions[function].param_names.get(at);
            let name = known.filter(|name| !name.is_empty()).cloned();
            let name = name.unwrap_or_else(|| format!("parameter {}", at + 1));
            match self.types().get(*ty) {
                CType::Pointer { pointee, .. } => {
                    self.buffer((at, name), *pointee, &mut buffers)?;
                }
                _ => self.number((at, name), *ty)?,
            }
        }
        Ok(())
    }

    fn number(&mut self, (at, name): (usize, String), ty: CTypeId) -> Result<(), String> {
        leaves(self.types(), ty).map_err(|what| format!("the parameter `{name}` has {what}"))?;
        let own = format!("lydian_a{at}");
        let of = InputOf::Argument(self.params.len());
        self.params.push(self.types().spell(ty, &own));
        self.arguments.0.push(own.clone());
        self.arguments.1.push(own);
        self.driver.inputs.push(DriverInput { name, ty, of });
        Ok(())
    }

    /// What is not tried of pointers.
    fn assume_apart(&mut self) {
        let of = |input: &&DriverInput| matches!(input.of, InputOf::Buffer { .. });
        let pointers = self.driver.inputs.iter().filter(of).count();
        let is_variable = |input: &DriverInput| matches!(input.of, InputOf::Global(_));
        let variables = self.driver.inputs.iter().any(is_variable);
        if pointers > 1 {
            self.assume("pointers lead to different objects, or to the same element of one");
        }
        if pointers > 0 && variables {
            self.assume("pointers lead to no variable of the program");
        }
    }

    /// A pointer leads to so many elements, to the buffer of an earlier parameter, or is null.
    fn buffer(
        &mut self,
        (at, name): (usize, String),
        pointee: CTypeId,
        buffers: &mut Vec<(CTypeId, usize, usize)>,
    ) -> Result<(), String> {
        let (types, elements) = (self.types(), self.elements);
        let all = leaves(types, pointee)
            .map_err(|what| format!("what the parameter `{name}` points to has {what}"))?;
        let size = types.size(pointee).unwrap_or(1) * 8;
        let (own, prior) = (format!("lydian_new_{at}"), format!("lydian_prior_{at}"));
        for variable in [&own, &prior] {
            let spelled = types.spell(pointee, &format!("{variable}[{elements}]"));
            let _ = writeln!(self.head, "{spelled};");
        }
        let _ = writeln!(self.copies, "    __builtin_memcpy({prior}, {own}, sizeof {own});");
        let null = self.params.len();
        self.params.push(format!("unsigned char lydian_null_{at}"));
        let earlier = buffers.iter().find(|(ty, ..)| *ty == pointee).copied();
        let same = earlier.map(|(_, _, input)| {
            self.params.push(format!("unsigned char lydian_same_{at}"));
            (self.params.len() - 1, input)
        });
        let leads = |buffer: &str| {
            let other = earlier.map(|(_, other, _)| {
                let buffer = buffer.replace('#', &other.to_string());
                format!("lydian_same_{at} && !lydian_null_{other} ? {buffer} : ")
            });
            let target = buffer.replace('#', &at.to_string());
            format!("lydian_null_{at} ? 0 : {}{target}", other.unwrap_or_default())
        };
        for (variable, buffer) in [("lydian_op", "lydian_prior_#"), ("lydian_np", "lydian_new_#")] {
            let spelled = types.spell(pointee, &format!("*{variable}_{at}"));
            let _ = writeln!(self.copies, "    {spelled} = {};", leads(buffer));
        }
        self.arguments.0.push(format!("lydian_op_{at}"));
        self.arguments.1.push(format!("lydian_np_{at}"));
        buffers.push((pointee, at, self.driver.inputs.len()));
        let of = InputOf::Buffer { variable: own.clone(), null, same };
        self.driver.inputs.push(DriverInput { name: name.clone(), ty: pointee, of });
        self.driver.elements = Some(elements);
        for element in 0..elements {
            let moved = all.iter().map(|leaf| Leaf {
                path: format!("[{element}]{}", leaf.path),
                bit: leaf.bit + element * size,
                ..leaf.clone()
            });
            self.compare(&name, (&prior, &own), moved.collect());
        }
        Ok(())
    }

    fn calls(&mut self, result: CTypeId) -> Result<(), String> {
        let (program, function) = self.pair.new;
        let types = self.types();
        let name = program.functions[function].name.clone();
        let other = old_name(&name);
        let _ =
            writeln!(self.head, "extern {};", types.spell(program.functions[function].ty, &other));
        let (old, new) = (self.arguments.0.join(", "), self.arguments.1.join(", "));
        match types.get(result) {
            CType::Void => {
                let _ = writeln!(self.copies, "    {other}({old});\n    {name}({new});");
            }
            CType::Pointer { .. } => self.pointer_result((&other, &old), (&name, &new))?,
            _ => {
                let all = leaves(types, result).map_err(|what| format!("the result has {what}"))?;
                for variable in ["lydian_old_result", "lydian_new_result"] {
                    let _ = writeln!(self.head, "{};", types.spell(result, variable));
                }
                let _ = writeln!(self.copies, "    lydian_old_result = {other}({old});");
                let _ = writeln!(self.copies, "    lydian_new_result = {name}({new});");
                self.compare("result", ("lydian_old_result", "lydian_new_result"), all);
            }
        }
        Ok(())
    }

    /// A pointer that is returned is compared by the element of a parameter that it leads to.
    fn pointer_result(&mut self, old: (&str, &str), new: (&str, &str)) -> Result<(), String> {
        let inputs = self.driver.inputs.iter();
        let buffers: Vec<String> = inputs
            .filter_map(|input| match &input.of {
                InputOf::Buffer { variable, .. } => Some(variable.clone()),
                _ => None,
            })
            .collect();
        if buffers.is_empty() {
            return Err("it returns a pointer that leads to none of its parameters".to_owned());
        }
        self.head.push_str(
            "static unsigned char lydian_elsewhere;\nint lydian_old_result, lydian_new_result;\n",
        );
        for (which, prefix) in [("old", "lydian_prior_"), ("new", "lydian_new_")] {
            let _ = writeln!(
                self.head,
                "static int lydian_leads_{which}(const void *p)\n{{\n    if (!p) return -1;"
            );
            for (number, buffer) in buffers.iter().enumerate() {
                let buffer = buffer.replace("lydian_new_", prefix);
                for element in 0..=self.elements {
                    let place = number as u64 * 1000 + element;
                    let _ = writeln!(
                        self.head,
                        "    if (p == (const void *)({buffer} + {element})) return {place};"
                    );
                }
            }
            self.head.push_str("    lydian_elsewhere = 1;\n    return -2;\n}\n");
        }
        let _ = writeln!(
            self.copies,
            "    lydian_old_result = lydian_leads_old({}({}));",
            old.0, old.1
        );
        let _ = writeln!(
            self.copies,
            "    lydian_new_result = lydian_leads_new({}({}));",
            new.0, new.1
        );
        let int = self
            .types()
            .iter()
            .find(|(_, ty)| matches!(ty, CType::Int { bits: 32, signed: true, .. }));
        let Some((int, _)) = int else { return Err("there is no type `int`".to_owned()) };
        let leaf = vec![Leaf::whole(int)];
        self.compare("result's element", ("lydian_old_result", "lydian_new_result"), leaf);
        let _ = writeln!(self.compared, "    if (lydian_elsewhere) {UNCOMPARED}();");
        Ok(())
    }

    fn finish(mut self) -> Driver {
        let params = match self.params.is_empty() {
            true => "void".to_owned(),
            false => self.params.join(", "),
        };
        let Self { head, copies, compared, .. } = &self;
        self.driver.text = format!(
            "{head}void {DIFFERENCE}(void) {{}}\nvoid {UNCOMPARED}(void) {{}}\n\
             void {DRIVER}({params})\n{{\n    int differs = 0;\n{copies}{compared}\
             \x20   differs |= {CALLS_DIFFER} | (lydian_calls_of_old != lydian_calls_of_new);\n\
             \x20   if (lydian_too_many_calls) {UNCOMPARED}();\n\
             \x20   if (differs) {DIFFERENCE}();\n}}\n"
        );
        self.driver
    }
}

/// Whether a program defines a function of a name.
fn is_defined(program: &Program, name: &str) -> bool {
    program.function_named(name).is_some_and(|id| program.functions[id].body.is_some())
}

/// Whether a function of the library allocates memory.
fn allocates(name: &str) -> bool {
    matches!(name, "malloc" | "calloc" | "realloc" | "aligned_alloc" | "strdup" | "strndup")
}

/// A variable that a version of a function names.
struct Variable<'p> {
    global: &'p Global,
    /// Whether its value may be another than its first one.
    changes: bool,
    /// Whether the file may write it.
    is_written: bool,
}

/// Globals, with those whose addresses stand in their first contents.
fn with_targets(program: &Program, named: BTreeSet<GlobalId>) -> BTreeSet<GlobalId> {
    let mut waiting: Vec<GlobalId> = named.iter().copied().collect();
    let mut found = named;
    while let Some(global) = waiting.pop() {
        let GlobalInit::Data { relocations, .. } = &program.globals[global].init else { continue };
        for relocation in relocations {
            if let RelocationTarget::Global(target) = relocation.target
                && found.insert(target)
            {
                waiting.push(target);
            }
        }
    }
    found
}

/// The variables of a version.
struct Variables<'p> {
    all: Vec<Variable<'p>>,
    /// The names of those that runs of the function read or write by name.
    named_here: BTreeSet<String>,
}

impl<'p> Variables<'p> {
    /// The variables of a program, and those that some functions name.
    fn of(program: &'p Program, functions: Vec<FuncId>) -> Self {
        let places = ProgramPlaces::of(program);
        let here = places.named_by(functions);
        let anywhere = places.named_by(program.functions.ids());
        let counts = |global: &Global| {
            !global.read_only && !global.name.starts_with('.') && !is_library_object(&global.name)
        };
        let all =
            program.globals.iter().filter(|(_, global)| counts(global)).map(|(id, global)| {
                let is_written = anywhere.written.contains(&id) || places.is_exposed(id);
                // Other files may write what they can name.
                let changes = global.linkage == Linkage::External
                    || global.init == GlobalInit::Extern
                    || is_written;
                Variable { global, changes, is_written }
            });
        let all: Vec<Variable<'_>> = all.collect();
        let named = with_targets(program, here.named);
        let named = named.iter().map(|id| &program.globals[*id]).filter(|it| counts(it));
        Self { named_here: named.map(|global| global.name.clone()).collect(), all }
    }

    fn named(&self, name: &str) -> Option<&Variable<'p>> {
        self.all.iter().find(|variable| variable.global.name == name)
    }
}
