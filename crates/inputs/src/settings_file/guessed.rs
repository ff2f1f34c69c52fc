//! The file that `lydian init --planned` writes: every guess as a setting, with its reason as a comment.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use lydian_ir::{FuncId, Program};

use crate::guess::Guess;
use crate::settings::defaults::{DEPTH, MAX_LENGTH, MAX_RECORDS, MAX_STRING};
use crate::settings::{PlaceSettings, Settings};
use crate::spec::InputSpec;

/// Writes the assumptions about the inputs of the given functions as settings, to be changed by hand.
/// [`Settings::from_toml_str`] reads the text, and planning with it gives the same plans.
pub fn write_toml(program: &Program, functions: &[FuncId]) -> String {
    let spec = InputSpec::new(program, Settings::default());
    let mut text = header();
    let mut types: BTreeMap<String, Vec<Guess>> = BTreeMap::new();
    for function in functions {
        let guesses = spec.guesses(program, *function);
        write_function(&mut text, program, &spec, *function, &guesses.places);
        for (ty, guess) in &guesses.types {
            let known = types.entry(program.types.spell(*ty, "")).or_default();
            if !known.contains(guess) {
                known.push(guess.clone());
            }
        }
    }
    for (ty, guesses) in types {
        // A type without a name cannot be spelled as a key that finds it again.
        if ty.contains('{') {
            continue;
        }
        let _ = writeln!(text, "\n# Every object of this type, wherever it is.");
        let _ = writeln!(text, "[types.{}]", quoted(&ty));
        guesses.iter().for_each(|guess| write_guess(&mut text, guess));
    }
    text
}

fn header() -> String {
    format!(
        "lazy-inputs = false\n\n# What Lydian assumes about the inputs of each function. Change what is wrong; a line that\n\
         # is left out is guessed again.\n\
         #\n\
         # kind    object, array, string, end (just past the array of `of`), into (somewhere in it),\n\
         #         null\n\
         # length  where an array's length is kept: \"len\", \".len\", \"*n\", \"2 * n\", or a number\n\
         # max     greatest length        null    whether the pointer may be null\n\
         # before  how many elements lie before the one that it points to\n\
         # range   [least, greatest]      values  [the only ones]\n\
         # alias   [pointers whose object it may share]\n\n\
         [defaults]\n\
         max-length = {MAX_LENGTH}   # elements of an array of numbers\n\
         max-string = {MAX_STRING}   # characters of a string\n\
         max-records = {MAX_RECORDS}   # elements of an array of structs or pointers\n\
         depth = {DEPTH}         # pointers followed one after the other\n"
    )
}

fn write_function(
    text: &mut String,
    program: &Program,
    spec: &InputSpec,
    function: FuncId,
    guesses: &[Guess],
) {
    write_head(text, program, spec, function, "");
    if !guesses.is_empty() {
        let name = &program.functions[function].name;
        let _ = writeln!(text, "\n[function.{}.places]", quoted(name));
        guesses.iter().for_each(|guess| write_guess(text, guess));
    }
}

/// The table of a function, with the globals that are its inputs, behind a mark.
pub(super) fn write_head(
    text: &mut String,
    program: &Program,
    spec: &InputSpec,
    function: FuncId,
    mark: &str,
) {
    let declared = &program.functions[function];
    let signature = program.types.spell(declared.ty, &declared.name);
    let _ = writeln!(text, "\n# {signature}");
    let _ = writeln!(text, "[function.{}]", quoted(&declared.name));
    let _ = writeln!(text, "# preconditions = [\"a C expression over the parameters\"]");
    if declared.body.is_some() {
        let globals = spec.globals.inputs_of(program, function, &BTreeSet::new()).into_iter();
        let names: Vec<String> = globals.map(|id| quoted(&program.globals[id].name)).collect();
        let _ =
            writeln!(text, "# Globals that it reads and that may differ from their first value.");
        let _ = writeln!(text, "{mark}globals = [{}]", names.join(", "));
    }
}

fn write_guess(text: &mut String, guess: &Guess) {
    let _ = writeln!(text, "# {}", guess.reason);
    let _ = writeln!(text, "{} = {}", quoted(&guess.place.to_string()), inline(&guess.settings));
}

/// The settings as an inline table.
pub(super) fn inline(settings: &PlaceSettings) -> String {
    let mut parts = Vec::new();
    if let Some(kind) = settings.kind {
        parts.push(format!("kind = {}", quoted(&kind.to_string())));
    }
    if let Some(length) = &settings.length {
        parts.push(match length.0 {
            crate::settings::length::Length::Number(number) => format!("length = {number}"),
            _ => format!("length = {}", quoted(&length.0.to_string())),
        });
    }
    if let Some(of) = &settings.of {
        parts.push(format!("of = {}", quoted(&of.0.to_string())));
    }
    if let Some(pointee) = &settings.pointee {
        parts.push(format!("type = {}", quoted(pointee)));
    }
    if let Some(max) = settings.max {
        parts.push(format!("max = {max}"));
    }
    if let Some(before) = settings.before {
        parts.push(format!("before = {before}"));
    }
    if let Some(alias) = &settings.alias {
        let places: Vec<String> = alias.iter().map(|place| quoted(&place.0.to_string())).collect();
        parts.push(format!("alias = [{}]", places.join(", ")));
    }
    if let Some(null) = settings.null {
        parts.push(format!("null = {null}"));
    }
    format!("{{ {} }}", parts.join(", "))
}

/// A TOML basic string.
pub(super) fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}
