//! The program that a tool is given: the user's units with the objective marked, and definitions in the
//! words of the tool's dialect.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lydian_ir::beginnings::Beginning;
use lydian_ir::libc::gives_inputs;
use lydian_ir::{CType, CTypeId, Function, Program, Target};
use lydian_native::GOAL_FUNCTION;

use crate::error::Error;

/// The local variable that has an input before it is returned, in the trace of a tool.
pub(super) const INPUT: &str = "lydian_input";
/// The function that must not be called, in the dialect of verification tasks.
pub(super) const ERROR_FUNCTION: &str = "reach_error";
/// The property of verification tasks.
const PROPERTY: &str = "CHECK( init(main()), LTL(G ! call(reach_error())) )\n";
/// The name of the file with it.
pub(super) const PROPERTY_FILE: &str = "unreach-call.prp";

/// Functions that end a run, as Lydian understands programs. Those that a tool takes for its property
/// get other names.
const ENDING: [&str; 5] =
    ["reach_error", "__VERIFIER_error", "__assert_fail", "__assert", "__assert_perror_fail"];
/// Functions with which a program says what is assumed, and with which it asserts: a run goes on only
/// where the argument is true.
const ASSUMING: [&str; 4] =
    ["__VERIFIER_assume", "__CPROVER_assume", "__VERIFIER_assert", "__CPROVER_assert"];

/// The words for errors, inputs and assumptions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// That of CBMC.
    Cbmc,
    /// That of SV-COMP's verification tasks.
    VerificationTask,
}

/// The texts of a program that asks about one objective.
#[derive(Clone, Debug)]
pub(crate) struct QuestionText {
    units: Vec<String>,
    /// The bits of an address.
    pub(super) model: u32,
    /// The functions that give inputs.
    pub(super) inputs: Vec<InputFunction>,
    /// Functions of which a tool knows nothing but their declaration.
    pub(super) unknown: Vec<String>,
}

/// A function that gives inputs.
#[derive(Clone, Debug)]
pub(super) struct InputFunction {
    pub(super) name: String,
    /// The C type of its result.
    pub(super) ty: String,
    pub(super) size: usize,
}

impl QuestionText {
    /// The program with marked units ([`lydian_native::checked_units`]) in a dialect.
    pub(crate) fn new(program: &Program, marked: Vec<String>, dialect: Dialect) -> Self {
        let renamed = names_to_change(program, dialect);
        let mut units: Vec<String> =
            marked.iter().map(|unit| with_other_names(unit, &renamed)).collect();
        if dialect == Dialect::VerificationTask {
            // Tools tell lines of the text that they get.
            units.iter_mut().for_each(|unit| *unit = without_markers(unit));
        }
        let writer = Writer { program, dialect, renamed: &renamed };
        let mut this =
            Self { units: Vec::new(), model: 64, inputs: Vec::new(), unknown: Vec::new() };
        if program.types.target == Target::I386 {
            this.model = 32;
        }
        let definitions = writer.definitions(&mut this);
        if let Some(first) = units.first_mut() {
            first.push_str(&definitions);
        }
        this.units = units;
        this
    }

    /// Adds the variables whose first values are inputs of a program
    /// ([`lydian_ir::beginnings::make_inputs`]), which a tool may tell in its trace.
    pub(crate) fn add_beginnings(&mut self, program: &Program) {
        for function in program.functions.values() {
            if Beginning::of_name(&function.name).is_none() {
                continue;
            }
            let types = &program.types;
            let CType::Function { result, .. } = types.get(function.ty) else { continue };
            self.inputs.push(InputFunction {
                name: function.name.clone(),
                ty: types.spell(*result, "").trim().to_owned(),
                size: types.size(*result).unwrap_or(0) as usize,
            });
        }
    }

    /// Writes the program, and the property beside it. Returns the program's files.
    pub(super) fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        let write = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).map_err(|error| {
                Error::environment("checker", format!("cannot write {}: {error}", path.display()))
            })?;
            Ok(path)
        };
        write(PROPERTY_FILE, PROPERTY)?;
        let units = self.units.iter().enumerate();
        units.map(|(number, text)| write(&format!("unit-{number}.i"), text)).collect()
    }

    /// The texts of the units, for a user who keeps them.
    pub(crate) fn units(&self) -> &[String] {
        &self.units
    }
}

/// The functions whose names would mean something else to the tool.
fn names_to_change(program: &Program, dialect: Dialect) -> Vec<String> {
    // A tool that has its own word for an assumption needs no definition of it.
    let own: &[&str] = match dialect {
        Dialect::Cbmc => &["__CPROVER_assert"],
        Dialect::VerificationTask => &["__CPROVER_assert", "__CPROVER_assume"],
    };
    let is_there = |name: &&&str| program.functions.values().any(|one| one.name == ***name);
    ENDING.iter().chain(own).filter(is_there).map(|name| (*name).to_owned()).collect()
}

/// A text with other names for some functions.
fn with_other_names(text: &str, renamed: &[String]) -> String {
    let mut text = text.to_owned();
    for name in renamed {
        text = replaced(&text, name, &other_name(name));
    }
    text
}

/// A text without line markers.
fn without_markers(text: &str) -> String {
    let is_marker = |line: &&str| line.starts_with("# ");
    text.lines().filter(|line| !is_marker(line)).flat_map(|line| [line, "\n"]).collect()
}

fn other_name(name: &str) -> String {
    format!("lydian_{}", name.trim_start_matches('_'))
}

/// A text with another word in the place of a word, outside of string literals.
fn replaced(text: &str, from: &str, to: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut whole = String::with_capacity(text.len());
    let (mut begin, mut in_string) = (0, false);
    for (at, _) in text.match_indices(from) {
        in_string = ends_in_string(&text[begin..at], in_string);
        let end = at + from.len();
        let is_word = !text[..at].ends_with(is_part) && !text[end..].starts_with(is_part);
        whole.push_str(&text[begin..at]);
        whole.push_str(if is_word && !in_string { to } else { from });
        begin = end;
    }
    whole + &text[begin..]
}

/// Whether a string literal is open at the end of a text. One never passes the end of a line.
fn ends_in_string(text: &str, begun: bool) -> bool {
    let (line, mut open) = match text.rfind('\n') {
        Some(at) => (&text[at + 1..], false),
        None => (text, begun),
    };
    let mut characters = line.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' => _ = characters.next(),
            '\'' if !open => {
                if characters.next() == Some('\\') {
                    characters.next();
                }
                characters.next();
            }
            '"' => open = !open,
            _ => {}
        }
    }
    open
}

/// Writes the definitions at the end of the program.
struct Writer<'w> {
    program: &'w Program,
    dialect: Dialect,
    renamed: &'w [String],
}

impl Writer<'_> {
    fn definitions(&self, question: &mut QuestionText) -> String {
        let mut text = String::from("\n# 1 \"<lydian>\"\n");
        text.push_str(&match self.dialect {
            Dialect::Cbmc => format!(
                "int {GOAL_FUNCTION}(void) {{ __CPROVER_assert(0, \"{GOAL_FUNCTION}\"); \
                 __CPROVER_assume(0); return 1; }}\n"
            ),
            Dialect::VerificationTask => format!(
                "void abort(void);\n\
                 extern void __assert_fail(const char *, const char *, unsigned int, const char *);\n\
                 void reach_error(void) {{ __assert_fail(\"0\", \"lydian\", 1, \"reach_error\"); }}\n\
                 int {GOAL_FUNCTION}(void) {{ reach_error(); return 1; }}\n"
            ),
        });
        text.push_str(
            "int lydian_readable(const void *address, unsigned long bytes) \
             { (void)address; (void)bytes; return 1; }\n",
        );
        for function in self.program.functions.values() {
            if function.body.is_none() || function.library {
                self.define(function, question, &mut text);
            }
        }
        text
    }

    /// Defines a function that the user's text leaves undefined, if Lydian has a meaning for it.
    fn define(&self, function: &Function, question: &mut QuestionText, text: &mut String) {
        let name = function.name.as_str();
        let is_known = |all: &[&str]| all.contains(&name);
        if is_known(&ENDING) && self.renamed.iter().any(|one| one == name) {
            self.define_as(function, &format!("{{ {} }}", self.end("0")), text);
        } else if is_known(&ASSUMING) {
            let own = self.dialect == Dialect::Cbmc && name == "__CPROVER_assume";
            if !own {
                self.define_as(function, &format!("{{ {} }}", self.end("lydian_a0")), text);
            }
        } else if gives_inputs(name) || !function.system && !function.library {
            self.input(function, question, text);
        }
    }

    /// A statement after which the run goes on only where a condition is true.
    fn end(&self, condition: &str) -> String {
        match self.dialect {
            Dialect::Cbmc => format!("__CPROVER_assume({condition});"),
            Dialect::VerificationTask => format!("if (!({condition})) abort();"),
        }
    }

    /// Defines a function that gives any value, and notes it.
    fn input(&self, function: &Function, question: &mut QuestionText, text: &mut String) {
        let types = &self.program.types;
        let CType::Function { result, params, .. } = types.get(function.ty) else { return };
        if !gives_inputs(&function.name) && !self.tells_nothing(params) {
            question.unknown.push(function.name.clone());
        }
        let size = types.size(*result).unwrap_or(0) as usize;
        let is_number = types.scalar(*result).is_some();
        if !is_number || matches!(types.get(*result), CType::Pointer { .. }) {
            if size > 0 {
                question.unknown.push(function.name.clone());
            }
            return;
        }
        let ty = types.spell(*result, "").trim().to_owned();
        if self.dialect == Dialect::Cbmc {
            let body = format!("{{ {ty} {INPUT}; return {INPUT}; }}");
            self.define_as(function, &body, text);
        }
        question.inputs.push(InputFunction { name: function.name.clone(), ty, size });
    }

    /// Whether a function gets no address.
    fn tells_nothing(&self, params: &[CTypeId]) -> bool {
        let is_address = |param: &CTypeId| {
            !matches!(
                self.program.types.get(*param),
                CType::Int { .. } | CType::Enum { .. } | CType::Float | CType::Double
            )
        };
        !params.iter().any(is_address)
    }

    fn define_as(&self, function: &Function, body: &str, text: &mut String) {
        let types = &self.program.types;
        let CType::Function { result, params, variadic } = types.get(function.ty) else { return };
        let mut list: Vec<String> = params
            .iter()
            .enumerate()
            .map(|(at, param)| types.spell(*param, &format!("lydian_a{at}")))
            .collect();
        match (list.is_empty(), variadic) {
            (false, true) => list.push("...".to_owned()),
            (true, _) => list.push("void".to_owned()),
            _ => {}
        }
        let name = match self.renamed.contains(&function.name) {
            true => other_name(&function.name),
            false => function.name.clone(),
        };
        let declarator = format!("{name}({})", list.join(", "));
        let _ = writeln!(text, "{} {body}", types.spell(*result, &declarator));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_replaced_where_it_is_the_functions_name() {
        let text = "f(\"f\\\" f\"); ff(f); g('\"', f, \"f\");\nf();";
        assert_eq!(replaced(text, "f", "g"), "g(\"f\\\" f\"); ff(g); g('\"', g, \"f\");\ng();");
    }
}
