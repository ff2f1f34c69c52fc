//! Counterexamples as C: files that define the functions which give a program its inputs.
//!
//! Such a file is compiled and linked with the program. Each function returns its values in the order of
//! its calls, and zero when there are no more. The file defines `reach_error` and its like, and
//! assumptions, as far as the program leaves them undefined.
//!
//! A native run chooses the first values of variables that begin without one by itself, so a file that
//! needs some names them in a comment.

use std::fmt::Write as _;

use lydian_ir::beginnings::Beginning;

use super::Proofs;
use super::verdicts::{ErrorAnswer, InputValue};

/// A counterexample as a C file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NativeTest {
    /// The name of the file: `error-LINE.c`, with a number where several errors stand in a line.
    pub file: String,
    /// The text.
    pub text: String,
}

/// KLEE's function that fills an object with an input.
const MAKE_SYMBOLIC: &str = "klee_make_symbolic";

/// The functions that tests define where the program does not, with their definitions.
const DEFINITIONS: [(&str, &str); 4] = [
    ("reach_error", "void reach_error(void) { abort(); }"),
    ("__VERIFIER_error", "void __VERIFIER_error(void) { abort(); }"),
    ("__VERIFIER_assert", "void __VERIFIER_assert(int holds) { if (!holds) abort(); }"),
    ("__VERIFIER_assume", "void __VERIFIER_assume(int holds) { if (!holds) exit(0); }"),
];

impl Proofs {
    /// A C file for each error that is reached.
    pub fn native_tests(&self) -> Vec<NativeTest> {
        let mut tests: Vec<NativeTest> = Vec::new();
        for error in &self.errors {
            let ErrorAnswer::Reached(inputs) = &error.answer else { continue };
            let line = error.place.as_ref().map_or(0, |place| place.line);
            let same = format!("error-{line}");
            let count = tests.iter().filter(|test| test.file.starts_with(&same)).count();
            let file = match count {
                0 => format!("{same}.c"),
                _ => format!("{same}-{}.c", count + 1),
            };
            let place =
                error.place.as_ref().map_or_else(|| error.function.clone(), ToString::to_string);
            let mut text = program_text(&[place], inputs, &self.undefined);
            if error.overflow.is_some() {
                text.insert_str(0, "/* A signed overflow comes first: compile with -fwrapv. */\n");
            }
            tests.push(NativeTest { file, text });
        }
        tests
    }
}

/// The text of a file that gives a program inputs which lead to some places.
pub(super) fn program_text(
    places: &[String],
    inputs: &[InputValue],
    undefined: &[String],
) -> String {
    let places: Vec<String> = places.iter().map(|place| place.replace("*/", "* /")).collect();
    let mut text = match &places[..] {
        [place] => format!("/* Inputs that lead to {place}. Link this file with the program. */\n"),
        _ => format!(
            "/* Inputs that lead to these places. Link this file with the program.\n   {} */\n",
            places.join("\n   ")
        ),
    };
    for (begins, value) in inputs.iter().filter_map(beginning) {
        let Beginning { function, variable } = begins;
        let _ = writeln!(text, "/* `{variable}` in `{function}` has to begin as {value}. */");
    }
    text += "#include <stdlib.h>\n#include <string.h>\n";
    for name in undefined {
        let known = DEFINITIONS.iter().find(|(known, _)| known == name);
        known.into_iter().for_each(|(_, definition)| _ = writeln!(text, "\n{definition}"));
    }
    let mut functions: Vec<&str> = Vec::new();
    for input in inputs.iter().filter(|input| beginning(input).is_none()) {
        if !functions.contains(&input.function.as_str()) {
            functions.push(&input.function);
        }
    }
    functions.iter().for_each(|function| add_function(&mut text, function, inputs));
    text
}

/// The variable that an input is the first value of, and the value as text.
fn beginning(input: &InputValue) -> Option<(Beginning<'_>, String)> {
    Some((Beginning::of_name(&input.function)?, input.number()))
}

/// Defines the function that fills objects with inputs.
fn add_filler(text: &mut String, own: &[&InputValue]) {
    for (at, input) in own.iter().enumerate() {
        let bytes: Vec<String> = input.bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
        let _ = writeln!(
            text,
            "\nstatic const unsigned char object_{at}[] = {{ {}, 0 }};",
            bytes.join(", ")
        );
    }
    let objects: Vec<String> = (0..own.len()).map(|at| format!("object_{at}")).collect();
    let _ = write!(
        text,
        "\nvoid {MAKE_SYMBOLIC}(void *object, unsigned long size, const char *name)\n{{\n    \
         static const unsigned char *const objects[] = {{ {} }};\n    \
         static unsigned long next;\n    (void)name;\n    \
         if (next < sizeof objects / sizeof objects[0])\n        \
         memcpy(object, objects[next++], size);\n}}\n",
        objects.join(", ")
    );
}

/// Defines a function that gives inputs.
fn add_function(text: &mut String, function: &str, inputs: &[InputValue]) {
    let own: Vec<_> = inputs.iter().filter(|input| input.function == function).collect();
    if function == MAKE_SYMBOLIC {
        return add_filler(text, &own);
    }
    let Some(ty) = own.first().and_then(|input| input.ty.as_deref()) else { return };
    if ty == "void" {
        let _ = writeln!(text, "\nvoid {function}() {{}}");
        return;
    }
    let size = own.iter().map(|input| input.bytes.len()).max().unwrap_or(0);
    let _ = write!(
        text,
        "\n{ty} {function}(void)\n{{\n    static const unsigned char values[][{size}] = {{\n"
    );
    for input in &own {
        let bytes: Vec<String> = input.bytes.iter().map(|byte| format!("0x{byte:02x}")).collect();
        let _ = writeln!(text, "        {{ {} }}, /* {} */", bytes.join(", "), input.number());
    }
    let _ = write!(
        text,
        "    }};\n    static unsigned long next;\n    {ty} value;\n    \
         memset(&value, 0, sizeof value);\n    \
         if (next < sizeof values / sizeof values[0])\n        \
         memcpy(&value, values[next++], sizeof values[0]);\n    return value;\n}}\n"
    );
}

impl InputValue {
    /// The value as a person reads it: a number of at most eight bytes, signed unless its type says
    /// otherwise, or else bytes.
    pub fn number(&self) -> String {
        let ty = self.ty.as_deref().unwrap_or_default();
        match (ty, self.bytes.as_slice()) {
            ("float", &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]).to_string(),
            ("double", &[a, b, c, d, e, f, g, h]) => {
                f64::from_le_bytes([a, b, c, d, e, f, g, h]).to_string()
            }
            (_, bytes) if !bytes.is_empty() && bytes.len() <= 8 => {
                let unsigned = ty.contains("unsigned") || ty == "_Bool";
                let negative = !unsigned && bytes.last().is_some_and(|last| *last >= 0x80);
                let mut image = [if negative { 0xff } else { 0 }; 8];
                image[..bytes.len()].copy_from_slice(bytes);
                match unsigned {
                    true => u64::from_le_bytes(image).to_string(),
                    false => i64::from_le_bytes(image).to_string(),
                }
            }
            (_, bytes) => format!("bytes {bytes:02x?}"),
        }
    }
}
