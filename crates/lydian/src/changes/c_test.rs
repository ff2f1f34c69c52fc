//! A difference as a C program, which prints what a version does.

use std::fmt::Write as _;

use lydian_ir::libc::library_function;
use lydian_ir::{CType, CTypes};

use super::confirmation::{Finding, Native};
use super::driver::{DriverInput, InputOf, STATIC};
use super::leaves::{Leaf, leaves};
use crate::project::paths::absolute;

/// A difference of a function.
pub(super) struct CTest<'a> {
    pub(super) native: &'a Native<'a>,
    pub(super) function: &'a str,
    pub(super) finding: &'a Finding,
}

impl CTest<'_> {
    /// The program. The version that it includes is a macro; the new one is the default.
    pub(super) fn text(&self) -> String {
        let request = self.native.comparison.request;
        let (old, new) = (absolute(&request.old), absolute(&request.new));
        let mut out = format!("/* Two versions of `{}` differ. Build this with\n", self.function);
        let _ = writeln!(out, " *     -DVERSION='\"{}\"'\n * for the old one.\n *", old.display());
        for observed in &self.finding.observed {
            let _ =
                writeln!(out, " * {}: old {}, new {}", observed.what, observed.old, observed.new);
        }
        let _ =
            writeln!(out, " */\n#ifndef VERSION\n#define VERSION \"{}\"\n#endif", new.display());
        self.others(&mut out);
        out.push_str(&self.native.comparison.versions.without_self_running());
        out.push_str("#define main main_of_version\n#include VERSION\n#undef main\n");
        out.push_str("extern int printf(const char *, ...);\n\n");
        self.externals(&mut out);
        out.push_str("int main(void)\n{\n");
        self.inputs(&mut out);
        self.call(&mut out);
        out.push_str("    return 0;\n}\n");
        out
    }

    fn types(&self) -> &CTypes {
        &self.native.product.program.types
    }

    /// Undefined functions give what they gave, in order.
    fn externals(&self, out: &mut String) {
        let Native { driver, product, .. } = self.native;
        for external in &driver.externals {
            let found = product.program.function_named(&external.name);
            let Some(function) = found.map(|id| &product.program.functions[id]) else { continue };
            let CType::Function { result, params, .. } = self.types().get(function.ty) else {
                continue;
            };
            let params: Vec<String> = params
                .iter()
                .enumerate()
                .map(|(at, ty)| self.types().spell(*ty, &format!("a{at}")))
                .collect();
            let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
            let head = self.types().spell(*result, &format!("{}({params})", external.name));
            let Some(source) = &external.source else {
                let _ = writeln!(out, "{head}\n{{\n}}\n");
                continue;
            };
            let given = self.finding.test.externals.iter().filter(|one| one.function == *source);
            let leaf = Leaf::whole(*result);
            let mut values: Vec<String> =
                given.filter_map(|one| leaf.value(self.types(), &one.result.bytes)).collect();
            values.push("0".to_owned());
            let list = self.types().spell(*result, "given[]");
            let _ = writeln!(
                out,
                "{head}\n{{\n    static {list} = {{ {} }};\n    static unsigned at;\n    \
                 return given[at < {} ? at++ : {}];\n}}\n",
                values.join(", "),
                values.len() - 1,
                values.len() - 1,
            );
        }
    }

    /// Functions that the file leaves undefined and that the test does not call, so that it links.
    fn others(&self, out: &mut String) {
        let Native { driver, comparison, .. } = self.native;
        let program = &comparison.versions.new.program;
        for function in program.functions.values() {
            let is_known = driver.externals.iter().any(|it| it.name == function.name);
            if function.body.is_some() || is_known || library_function(&function.name).is_some() {
                continue;
            }
            let _ = writeln!(out, "#pragma weak {}", function.name);
        }
    }

    fn inputs(&self, out: &mut String) {
        let test = &self.finding.test;
        for input in &self.native.driver.inputs {
            match &input.of {
                InputOf::Global(name) => {
                    let Some(given) = test.globals.iter().find(|one| one.name == *name) else {
                        continue;
                    };
                    self.assign(&input.name, input, &given.image.bytes, out);
                }
                InputOf::Argument(at) => {
                    let name = c_name(&input.name);
                    let _ = writeln!(out, "    {};", self.types().spell(input.ty, &name));
                    let bytes = test.args.get(*at).map_or(&[][..], |arg| &arg.bytes);
                    self.assign(&name, input, bytes, out);
                }
                InputOf::Buffer { variable, .. } => self.buffer(input, variable, out),
            }
        }
    }

    fn assign(&self, name: &str, input: &DriverInput, bytes: &[u8], out: &mut String) {
        for leaf in leaves(self.types(), input.ty).unwrap_or_default() {
            if let Some(value) = leaf.value(self.types(), bytes) {
                let _ = writeln!(out, "    {name}{} = {value};", leaf.path);
            }
        }
    }

    fn buffer(&self, input: &DriverInput, variable: &str, out: &mut String) {
        let name = c_name(&input.name);
        let test = &self.finding.test;
        let pointer = self.types().spell(input.ty, &format!("*{name}"));
        match self.native.buffer(input, test) {
            None => _ = writeln!(out, "    {pointer} = 0;"),
            Some(other) if other != variable => {
                let earlier = self.native.driver.inputs.iter().find(|input| {
                    matches!(&input.of, InputOf::Buffer { variable, .. } if variable == other)
                });
                let other = earlier.map_or_else(String::new, |input| c_name(&input.name));
                let _ = writeln!(out, "    {pointer} = {other};");
            }
            Some(_) => {
                let count = self.native.driver.elements.unwrap_or(1);
                let array = self.types().spell(input.ty, &format!("{name}[{count}]"));
                let _ = writeln!(out, "    {array};");
                for (path, value) in self.native.elements(input, variable, test) {
                    let _ = writeln!(out, "    {name}{path} = {value};");
                }
            }
        }
    }

    /// The call, and the output of what is compared.
    fn call(&self, out: &mut String) {
        let Native { driver, product, .. } = self.native;
        let params = driver.inputs.iter().filter(|it| !matches!(it.of, InputOf::Global(_)));
        let arguments: Vec<String> = params.map(|input| c_name(&input.name)).collect();
        let call = format!("{}({})", self.function, arguments.join(", "));
        let function = &product.program.functions[product.new];
        let result = match self.types().get(function.ty) {
            CType::Function { result, .. } => *result,
            _ => function.ty,
        };
        match self.types().get(result) {
            CType::Void | CType::Pointer { .. } => _ = writeln!(out, "    {call};"),
            _ => _ = writeln!(out, "    {} = {call};", self.types().spell(result, "result")),
        }
        if self.finding.ends.is_some() {
            let _ = writeln!(out, "    printf(\"the function returns\\n\");");
        }
        let differs = |name: &String| self.finding.observed.iter().any(|one| one.what == *name);
        for observation in driver.observations.iter().filter(|one| differs(&one.name)) {
            let is_static = observation.variables.1.starts_with(STATIC);
            if observation.name == "result's element" || is_static {
                continue;
            }
            let name = match observation.variables.1.starts_with("lydian_new_") {
                true => c_name(&observation.name),
                false => observation.name.clone(),
            };
            let (form, cast) = self.form(&observation.leaf);
            let _ = writeln!(out, "    printf(\"{name} = {form}\\n\", ({cast}){name});");
        }
    }

    const fn float() -> (&'static str, &'static str) {
        ("%.17g", "double")
    }

    fn form(&self, leaf: &Leaf) -> (&'static str, &'static str) {
        match leaf.is_float(self.types()) {
            true => Self::float(),
            false if self.types().is_signed(leaf.ty) => ("%lld", "long long"),
            false => ("%llu", "unsigned long long"),
        }
    }
}

/// The name of a parameter as C has it; one without a name is called by its position.
fn c_name(name: &str) -> String {
    name.replace(' ', "_")
}
