//! Mutants whose code is that of the original: *trivial compiler equivalence* (Papadakis, Jia, Harman
//! and Le Traon, ICSE 2015, [TCE]).
//!
//! A text has a copy of a function for each mutant, and one without a change. A compiler optimises it,
//! and the copies' code is compared, but for the copies' names. Copies call other functions, and the
//! function itself, by the user's names. So equal code means equal behaviour: where a mutant calls
//! itself, its calls are those of the original, step by step.
//!
//! All copies share one text, so that it is parsed once. A copy that assigns to a static variable may
//! keep the compiler from knowing its value, which costs equal code, and never makes it.

use std::collections::BTreeMap;

use lydian_base::Span;

use crate::mutant::{FunctionNotes, Mutant, UnitMutants};
use crate::schema::renamed_head;

/// The most mutants of a text.
pub const MOST_CLONES: usize = 150;

/// Whether a mutant can be compared so.
pub fn is_comparable(unit: &UnitMutants, mutant: &Mutant) -> bool {
    function_of(unit, mutant).is_some_and(|function| function.copies)
}

fn function_of<'u>(unit: &'u UnitMutants, mutant: &Mutant) -> Option<&'u FunctionNotes> {
    let mut all = unit.functions.iter();
    all.find(|function| (function.numbers.0..function.numbers.1).contains(&mutant.number))
}

/// The text with copies of functions for these mutants, each with its function's copy 0.
pub fn text(unit: &UnitMutants, mutants: &[&Mutant]) -> String {
    let mut by_function: BTreeMap<u32, (&FunctionNotes, Vec<&Mutant>)> = BTreeMap::new();
    for mutant in mutants {
        if let Some(function) = function_of(unit, mutant).filter(|function| function.copies) {
            by_function.entry(function.span.end).or_insert((function, Vec::new())).1.push(mutant);
        }
    }
    let mut out = String::new();
    let mut at = 0;
    for (end, (function, mutants)) in by_function {
        out.push_str(unit.text.get(at..end as usize).unwrap_or_default());
        out.push('\n');
        out.push_str(&copy(&unit.text, function, None));
        mutants.iter().for_each(|mutant| out.push_str(&copy(&unit.text, function, Some(mutant))));
        at = end as usize;
    }
    out.push_str(unit.text.get(at..).unwrap_or_default());
    out
}

pub(crate) fn name(function: &str, number: u32) -> String {
    format!("lydian_copy_{number}_of_{function}")
}

fn copy(text: &str, function: &FunctionNotes, mutant: Option<&Mutant>) -> String {
    let own = name(&function.name, mutant.map_or(0, |mutant| mutant.number));
    let head = renamed_head(text, (function.span, function.name_span, function.body), &own);
    let body = match mutant {
        None => text.get(function.body.range()).unwrap_or_default().to_owned(),
        Some(mutant) => changed(text, function.body, mutant),
    };
    format!("__attribute__((used, noinline)) {head}{body}\n")
}

pub(crate) fn changed(text: &str, within: Span, mutant: &Mutant) -> String {
    let part = |start: u32, end: u32| text.get(start as usize..end as usize).unwrap_or_default();
    let (before, after) =
        (part(within.start, mutant.span.start), part(mutant.span.end, within.end));
    format!("{before}{}{after}", mutant.replacement)
}

/// The mutants whose copy has the code of copy 0, from the compiler's LLVM IR of the text.
pub fn equal(ir: &str, mutants: &[&Mutant]) -> Vec<u32> {
    let bodies = bodies(ir);
    let same = mutants.iter().filter(|mutant| {
        let code = |number: u32| {
            let own = name(&mutant.function, number);
            let body = bodies.get(own.as_str())?;
            Some(body.replace(&own, &mutant.function))
        };
        matches!((code(0), code(mutant.number)), (Some(original), Some(own)) if original == own)
    });
    same.map(|mutant| mutant.number).collect()
}

/// The bodies of functions, by name, without what tells nothing of their behaviour.
fn bodies(ir: &str) -> BTreeMap<&str, String> {
    let mut found = BTreeMap::new();
    let mut lines = ir.lines();
    while let Some(line) = lines.next() {
        let Some(head) = line.strip_prefix("define ") else { continue };
        let Some((_, rest)) = head.split_once('@') else { continue };
        let name = rest.split('(').next().unwrap_or_default();
        let mut body = signature(rest);
        for line in lines.by_ref().take_while(|line| *line != "}") {
            body.push_str(line.split(", !llvm.loop").next().unwrap_or(line));
            body.push('\n');
        }
        found.insert(name, body);
    }
    found
}

/// The parameters and their attributes: what the body may rely on.
fn signature(rest: &str) -> String {
    let behind = rest.find('(').map_or("", |at| &rest[at..]);
    let end = behind.rfind(')').map_or(behind.len(), |at| at + 1);
    format!("{}\n", &behind[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_are_compared_without_marks_of_loops() {
        let ir = "define i32 @f(i32 %0) #0 {\n  br label %1, !llvm.loop !4\n}\n\
                  define i32 @g(i32 %0) #1 {\n  br label %1, !llvm.loop !7\n}\n\
                  define i32 @h(i32 %0) #1 {\n  br label %2\n}\n";
        let found = bodies(ir);
        assert_eq!(found["f"], found["g"]);
        assert_ne!(found["f"], found["h"]);
    }
}
