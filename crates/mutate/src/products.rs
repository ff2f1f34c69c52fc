//! Products of a function and its mutants: one program that calls both on the same inputs and reports
//! where the results differ.
//!
//! A product says all only about functions that compute a number from numbers: no loops, no calls, no
//! memory but locals, no globals, no operator that may trap ([`crate::mutant::FunctionNotes::computes`]).
//! Then both versions end on every input, and the result is all that can be observed. Signed overflow
//! has to wrap in the product, so that it ends no run of one version alone.

use std::fmt::Write as _;

use lydian_base::Span;

use crate::clones::{changed, name};
use crate::mutant::{FunctionNotes, Mutant, UnitMutants};
use crate::operator::Operator;
use crate::schema::renamed_head;
use crate::text::Edits;

/// The flag that a product has to be compiled with.
pub const WRAPPING: &str = "-fwrapv";
/// The begin of the names of the functions that compare.
const CHECK: &str = "lydian_compares_";

/// Absolute values, defined for the least number, too.
const ABSOLUTE: &str = "\
static int lydian_abs(int n) { return n < 0 ? -n : n; }
static long long lydian_llabs(long long n) { return n < 0 ? -n : n; }
";

/// Whether a product of a mutant says all about it. A mutant that divides may trap, and one with another
/// variable may read a global.
pub fn is_provable(unit: &UnitMutants, mutant: &Mutant) -> bool {
    let divides = ["-> /", "-> %"].iter().any(|end| mutant.name.ends_with(end));
    let others =
        matches!(mutant.operator, Operator::Vrr | Operator::Lhs | Operator::Sor | Operator::Own);
    !divides && !others && computing(unit, mutant).is_some()
}

/// The function of a mutant, if it only computes.
fn computing<'u>(unit: &'u UnitMutants, mutant: &Mutant) -> Option<&'u FunctionNotes> {
    let function = unit.function_of(mutant)?;
    (function.copies && !function.computes.is_empty()).then_some(function)
}

/// The product of these mutants with their functions. It calls `reach_error` in the function that
/// [`compared`] reads, for each mutant whose result differs.
pub fn text(unit: &UnitMutants, mutants: &[&Mutant]) -> String {
    let own = declarations(unit);
    let mut out = format!("#define main lydian_own_main\n{own}\n#undef main\n{ABSOLUTE}");
    out.push_str("extern void reach_error(void);\n");
    let types = unit.functions.iter().flat_map(|function| &function.computes);
    let mut types: Vec<&str> = types.map(String::as_str).collect();
    types.sort_unstable();
    types.dedup();
    for ty in types {
        let _ = writeln!(out, "extern {ty} {}(void);", input(ty));
    }
    let mut calls = String::new();
    for (at, mutant) in mutants.iter().enumerate() {
        let Some(function) = computing(unit, mutant) else { continue };
        let number = mutant.number;
        out.push_str(&copies(&unit.text, function, mutant));
        let _ = writeln!(out, "static void {CHECK}{number}(void)\n{{");
        for (position, ty) in function.computes.iter().enumerate() {
            let _ = writeln!(out, "    {ty} a{position} = {}();", input(ty));
        }
        let args: Vec<String> = (0..function.computes.len()).map(|at| format!("a{at}")).collect();
        let args = args.join(", ");
        let (original, own) = (original(function, number), name(&function.name, number));
        let _ = writeln!(out, "    if ({original}({args}) != {own}({args})) reach_error();\n}}");
        let _ = writeln!(calls, "    if (chosen == {at}) {CHECK}{number}();");
    }
    let _ = writeln!(
        out,
        "extern int __VERIFIER_nondet_lydian(void);\n\
         int main(void)\n{{\n    int chosen = __VERIFIER_nondet_lydian();\n{calls}    return 0;\n}}"
    );
    out
}

/// The mutant that a function of the product compares.
pub fn compared(function: &str) -> Option<u32> {
    function.strip_prefix(CHECK)?.parse().ok()
}

/// The text of a unit, in which functions with mutants are declarations: what they call is no part of a
/// product.
fn declarations(unit: &UnitMutants) -> String {
    let mut edits = Edits::default();
    unit.functions.iter().for_each(|function| edits.replace(function.body, ";".to_owned()));
    edits.apply(&unit.text, Span::new(0, unit.text.len() as u32))
}

fn original(function: &FunctionNotes, number: u32) -> String {
    format!("lydian_original_for_{number}_of_{}", function.name)
}

/// The two versions.
fn copies(text: &str, function: &FunctionNotes, mutant: &Mutant) -> String {
    let head = |name: &str| {
        let head = renamed_head(text, (function.span, function.name_span, function.body), name);
        let is_static = head.split_whitespace().any(|word| word == "static");
        if is_static { head } else { format!("static {head}") }
    };
    let first = head(&original(function, mutant.number));
    let second = head(&name(&function.name, mutant.number));
    let body = text.get(function.body.range()).unwrap_or_default();
    let own = changed(text, function.body, mutant);
    let own = own.replace("__builtin_abs(", "lydian_abs(");
    let own = own.replace("__builtin_llabs(", "lydian_llabs(");
    format!("{first}{body}\n{second}{own}\n")
}

/// The name of a function that gives inputs of a type.
fn input(ty: &str) -> String {
    format!("__VERIFIER_nondet_{}", ty.replace(' ', "_"))
}
