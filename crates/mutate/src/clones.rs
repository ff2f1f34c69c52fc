//! Mutants whose code is that of the original: *trivial compiler equivalence* (Papadakis, Jia, Harman
//! and Le Traon, ICSE 2015, [TCE]).
//!
//! A text has a copy of a function for each mutant, and one without a change. A compiler optimises it,
//! and the copies' code is compared, but for the copies' names. Copies call other functions, and the
//! function itself, by the user's names. Of the function itself there is a declaration alone, so that the
//! compiler knows nothing of its results. So equal code means equal behaviour: where a mutant calls itself,
//! directly or through others, its calls are those of the original, step by step.
//!
//! All copies share one text, so that it is parsed once. A copy that assigns to a static variable may
//! keep the compiler from knowing its value, which costs equal code, and never makes it.

use std::collections::BTreeMap;

use lydian_base::Span;

use crate::mutant::{FunctionNotes, Mutant, UnitMutants};
use crate::schema::renamed_head;

/// What stands before and behind the number in the name of a copy.
const COPY: &str = "lydian_copy_";
const OF: &str = "_of_";

/// The most mutants of a text.
pub const MOST_CLONES: usize = 150;

/// Whether a mutant can be compared so.
pub fn is_comparable(unit: &UnitMutants, mutant: &Mutant) -> bool {
    unit.function_of(mutant).is_some_and(|function| function.copies)
}

/// The text with copies of functions for these mutants, each with its function's copy 0.
pub fn text(unit: &UnitMutants, mutants: &[&Mutant]) -> String {
    let mut by_function: BTreeMap<u32, (&FunctionNotes, Vec<&Mutant>)> = BTreeMap::new();
    for mutant in mutants {
        if let Some(function) = unit.function_of(mutant).filter(|function| function.copies) {
            by_function.entry(function.span.end).or_insert((function, Vec::new())).1.push(mutant);
        }
    }
    let mut out = String::new();
    let mut at = 0;
    for (end, (function, mutants)) in by_function {
        out.push_str(unit.text.get(at..function.body.start as usize).unwrap_or_default());
        out.push_str(";\n");
        out.push_str(&copy(&unit.text, function, None));
        mutants.iter().for_each(|mutant| out.push_str(&copy(&unit.text, function, Some(mutant))));
        at = end as usize;
    }
    out.push_str(unit.text.get(at..).unwrap_or_default());
    out
}

pub(crate) fn name(function: &str, number: u32) -> String {
    format!("{COPY}{number}{OF}{function}")
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
    let code = Code::read(ir);
    let same = mutants.iter().filter(|mutant| {
        let own = |number: u32| code.of(&name(&mutant.function, number));
        matches!((own(0), own(mutant.number)), (Some(original), Some(own)) if original == own)
    });
    same.map(|mutant| mutant.number).collect()
}

/// The code of a text, by the names of functions and of data.
struct Code<'a> {
    bodies: BTreeMap<&'a str, String>,
    data: BTreeMap<&'a str, &'a str>,
}

impl<'a> Code<'a> {
    fn read(ir: &'a str) -> Self {
        let (mut bodies, mut data) = (BTreeMap::new(), BTreeMap::new());
        let mut lines = ir.lines();
        while let Some(line) = lines.next() {
            if let Some((name, definition)) =
                line.strip_prefix('@').and_then(|it| it.split_once(" = "))
            {
                data.insert(name, definition);
            }
            let Some(head) = line.strip_prefix("define ") else { continue };
            let Some((_, rest)) = head.split_once('@') else { continue };
            let name = rest.split('(').next().unwrap_or_default();
            let mut body = signature(rest);
            for line in lines.by_ref().take_while(|line| *line != "}") {
                body.push_str(line.split(", !llvm.loop").next().unwrap_or(line));
                body.push('\n');
            }
            bodies.insert(name, body);
        }
        Self { bodies, data }
    }

    /// The code of a function with all data that it names, without the names of copies. A compiler may
    /// make tables of a function's constants, so that only the data tells two copies apart.
    fn of(&self, function: &str) -> Option<String> {
        let mut text = self.bodies.get(function)?.clone();
        let mut seen: Vec<&str> = Vec::new();
        let mut at = 0;
        while let Some(found) = text[at..].find('@') {
            at += found + 1;
            let end = text[at..].find(|c: char| !is_name(c)).map_or(text.len(), |end| at + end);
            let named = self.data.get_key_value(&text[at..end]);
            if let Some((name, definition)) = named.filter(|(name, _)| !seen.contains(*name)) {
                seen.push(name);
                text.push_str(&format!("@{name} = {definition}\n"));
            }
        }
        Some(without_copies(&text))
    }
}

/// Whether a character is part of a name without quotes.
const fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$' | '-')
}

/// A text in which copies have the names of their functions.
fn without_copies(text: &str) -> String {
    let mut parts = text.split(COPY);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        out.push_str(part[digits..].strip_prefix(OF).unwrap_or(part));
    }
    out
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

    const IR: &str = "@t.lydian_copy_1_of_f = private constant [1 x i32] [i32 4]\n\
        @t.lydian_copy_2_of_f = private constant [1 x i32] [i32 4]\n\
        @t.lydian_copy_3_of_f = private constant [1 x i32] [i32 5]\n\
        define i32 @lydian_copy_1_of_f(i32 %0) #0 {\n  load @t.lydian_copy_1_of_f, !llvm.loop !4\n}\n\
        define i32 @lydian_copy_2_of_f(i32 %0) #1 {\n  load @t.lydian_copy_2_of_f, !llvm.loop !7\n}\n\
        define i32 @lydian_copy_3_of_f(i32 %0) #1 {\n  load @t.lydian_copy_3_of_f\n}\n";

    #[test]
    fn copies_are_compared_with_their_data_and_without_marks_of_loops() {
        let code = Code::read(IR);
        let of = |number: u32| code.of(&name("f", number)).unwrap();
        assert_eq!(of(1), of(2));
        assert_ne!(of(1), of(3), "tables with other numbers are other code");
    }

    #[test]
    fn names_of_copies_are_those_of_their_functions() {
        assert_eq!(without_copies("@lydian_copy_12_of_g.x, @f"), "@g.x, @f");
    }
}
