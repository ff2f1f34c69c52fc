//! Functions that both versions call and neither defines: what the old version was given, the new one is
//! given too, as long as it makes the same calls.
//!
//! The stub of the old version records each call with its arguments and its result, which is an input.
//! That of the new version compares its calls with the record, in order. Another call is a difference.

use std::fmt::Write as _;

use lydian_ir::libc::{Exploration, Source, gives_inputs, library_function};
use lydian_ir::{CType, CTypes, FuncId, Function, Program};

use super::driver::old_name;
use super::leaves::{Leaf, leaves};

/// The most calls of a run that are recorded.
const MOST_CALLS: u32 = 16;

/// A function that is defined nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct External {
    /// Its name.
    pub(super) name: String,
    /// The function that gives its results in the product; none where it gives none.
    pub(super) source: Option<String>,
    text: String,
}

/// The C of the record that all stubs share.
pub(super) fn record() -> String {
    format!(
        "static unsigned lydian_calls_of_old, lydian_calls_of_new, lydian_call_order[{MOST_CALLS}];\n\
         static unsigned char lydian_calls_differ, lydian_too_many_calls;\n"
    )
}

/// The functions that some functions of a program call and that no engine knows.
///
/// # Errors
/// A call that cannot be compared, in words.
pub(super) fn undefined<'p>(
    program: &'p Program,
    reached: &[FuncId],
) -> Result<Vec<&'p Function>, String> {
    let mut found = Vec::new();
    for id in reached {
        let function = &program.functions[*id];
        if function.body.is_some() {
            continue;
        }
        let name = &function.name;
        if gives_inputs(name) {
            return Err(format!("`{name}` gives other inputs to each version"));
        }
        match library_function(name).map(|known| known.source) {
            Some(Source::Model(_) | Source::C(Exploration::Always)) => {}
            _ if function.noreturn => {
                return Err(format!("`{name}`, which is defined nowhere, never returns"));
            }
            _ => found.push(function),
        }
    }
    Ok(found)
}

impl External {
    /// The stubs of a function. `number` is its own among all.
    ///
    /// # Errors
    /// What it takes or gives and cannot be compared, in words.
    pub(super) fn of(types: &CTypes, function: &Function, number: usize) -> Result<Self, String> {
        let name = &function.name;
        let CType::Function { result, params, variadic } = types.get(function.ty) else {
            return Err(format!("`{name}` has no function type"));
        };
        if *variadic {
            return Err(format!("calls of `{name}`, which takes any arguments, are not compared"));
        }
        let scalar =
            |ty| leaves(types, ty).is_ok_and(|all| all.len() == 1 && all[0].path.is_empty());
        if !params.iter().all(|param| scalar(*param)) {
            return Err(format!("calls of `{name}` have arguments that are no numbers"));
        }
        let is_void = matches!(types.get(*result), CType::Void);
        if !is_void && !scalar(*result) {
            return Err(format!("the result of `{name}`, which is defined nowhere, is no number"));
        }
        let stub = Stub { types, name, params, result: (!is_void).then_some(*result), number };
        Ok(Self { name: name.clone(), source: stub.source(), text: stub.text() })
    }

    /// The C of its stubs.
    pub(super) fn text(&self) -> &str {
        &self.text
    }
}

struct Stub<'a> {
    types: &'a CTypes,
    name: &'a str,
    params: &'a [lydian_ir::CTypeId],
    result: Option<lydian_ir::CTypeId>,
    number: usize,
}

impl Stub<'_> {
    fn source(&self) -> Option<String> {
        self.result.map(|_| format!("lydian_result_of_{}", self.name))
    }

    fn text(&self) -> String {
        let mut out = String::new();
        let Self { types, name, .. } = self;
        if let (Some(result), Some(source)) = (self.result, self.source()) {
            let _ = writeln!(out, "extern {};", types.spell(result, &format!("{source}(void)")));
            let kept = types.spell(result, &format!("lydian_given_{name}[{MOST_CALLS}]"));
            let _ = writeln!(out, "static {kept};");
        }
        for (at, param) in self.params.iter().enumerate() {
            let kept = types.spell(*param, &format!("lydian_passed_{name}_{at}[{MOST_CALLS}]"));
            let _ = writeln!(out, "static {kept};");
        }
        self.write_old(&mut out);
        self.write_new(&mut out);
        out
    }

    fn head(&self, name: &str) -> String {
        let params: Vec<String> = self
            .params
            .iter()
            .enumerate()
            .map(|(at, param)| self.types.spell(*param, &format!("lydian_a{at}")))
            .collect();
        let params = if params.is_empty() { "void".to_owned() } else { params.join(", ") };
        let declarator = format!("{name}({params})");
        match self.result {
            Some(result) => self.types.spell(result, &declarator),
            None => format!("void {declarator}"),
        }
    }

    /// A statement that returns what the source gives.
    fn fresh(&self) -> String {
        self.source().map_or_else(|| "return;".to_owned(), |source| format!("return {source}();"))
    }

    fn write_old(&self, out: &mut String) {
        let Self { name, number, .. } = self;
        let head = self.head(&old_name(name));
        let _ = writeln!(out, "{head}\n{{\n    unsigned at = lydian_calls_of_old;");
        let _ = writeln!(
            out,
            "    if (at >= {MOST_CALLS}) {{ lydian_too_many_calls = 1; {} }}",
            self.fresh()
        );
        let _ = writeln!(
            out,
            "    lydian_calls_of_old = at + 1;\n    lydian_call_order[at] = {number};"
        );
        for at in 0..self.params.len() {
            let _ = writeln!(out, "    lydian_passed_{name}_{at}[at] = lydian_a{at};");
        }
        if let Some(source) = self.source() {
            let _ = writeln!(out, "    lydian_given_{name}[at] = {source}();");
            let _ = writeln!(out, "    return lydian_given_{name}[at];");
        }
        out.push_str("}\n");
    }

    fn write_new(&self, out: &mut String) {
        let Self { types, name, number, .. } = self;
        let _ = writeln!(out, "{}\n{{\n    unsigned at = lydian_calls_of_new++;", self.head(name));
        let _ =
            write!(out, "    if (at >= lydian_calls_of_old || lydian_call_order[at] != {number}");
        for (at, param) in self.params.iter().enumerate() {
            let (passed, own) = (format!("lydian_passed_{name}_{at}[at]"), format!("lydian_a{at}"));
            let _ = write!(out, " || {}", Leaf::whole(*param).differs(types, &passed, &own));
        }
        let _ = writeln!(out, ") {{ lydian_calls_differ = 1; {} }}", self.fresh());
        if self.result.is_some() {
            let _ = writeln!(out, "    return lydian_given_{name}[at];");
        }
        out.push_str("}\n");
    }
}
