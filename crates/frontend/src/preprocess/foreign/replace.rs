//! Replaces foreign assembly by C.
//!
//! - Instructions that have a model ([`models`]) become their meaning.
//! - Other statements become calls of functions that the program leaves undefined, so that outputs are
//!   inputs of tests: `assembly_in_f` for a value or an effect, and `assembly_in_f_at` for memory that
//!   is written. Inputs are evaluated.
//! - A `naked` function is one call.
//! - Assembly between functions, and the register of a variable, go without replacement.

use std::collections::BTreeSet;

use super::models::{self, Meaning};
use super::scan::{Found, Kind, naked_words};
use super::{By, Replacements};
use crate::decode::assembly::{entries, leading_strings, sections};
use crate::preprocess::edits::Edit;

/// The replacements of what is marked as foreign.
pub(super) fn replacements(text: &str, found: &[Found], foreign: &[bool]) -> Replacements {
    let mut writer = Writer {
        text,
        made: Replacements::default(),
        definitions: BTreeSet::new(),
        declared: BTreeSet::new(),
    };
    for (one, _) in found.iter().zip(foreign).filter(|(_, foreign)| **foreign) {
        writer.replace(one);
    }
    if found.iter().zip(foreign).any(|(one, foreign)| *foreign && one.kind == Kind::Naked) {
        let words = naked_words(text).into_iter();
        writer.made.edits.extend(words.map(|word| Edit {
            at: word.start,
            delete: word.len(),
            insert: "unused".to_owned(),
        }));
    }
    if !writer.definitions.is_empty() {
        let definitions: Vec<&str> = writer.definitions.into_iter().collect();
        writer.made.prelude = format!("# 1 \"<lydian>\" 1\n{}\n", definitions.join("\n"));
    }
    writer.made
}

struct Writer<'t> {
    text: &'t str,
    made: Replacements,
    definitions: BTreeSet<&'static str>,
    /// The functions that are declared already.
    declared: BTreeSet<String>,
}

/// An operand: its constraint and its expression.
struct Operand<'t> {
    constraint: String,
    expr: &'t str,
}

/// A statement of assembly as its text says it.
struct Statement<'t> {
    template: String,
    outputs: Vec<Operand<'t>>,
    inputs: Vec<Operand<'t>>,
    /// Whether it may have effects beside its outputs.
    has_effects: bool,
    labels: Vec<&'t str>,
}

impl Writer<'_> {
    fn replace(&mut self, found: &Found) {
        let text = self.text;
        let old = &text[found.span.clone()];
        let (new, by) = match found.kind {
            Kind::Statement => self.statement(found, old),
            Kind::Naked => self.naked(found),
            Kind::Outside => (String::new(), By::Nothing),
            Kind::Register => (without_register(old), By::Nothing),
        };
        // Line numbers stay.
        let lines = old.matches('\n').count().saturating_sub(new.matches('\n').count());
        let insert = new + &"\n".repeat(lines);
        self.made.edits.push(Edit { at: found.span.start, delete: old.len(), insert });
        self.made.places.push((found.span.start, by));
    }

    fn statement(&mut self, found: &Found, old: &str) -> (String, By) {
        let name = format!("assembly_in_{}", found.function);
        let Some(statement) = read(old) else {
            self.declare(found, &name, "unsigned long long", "void");
            return (format!("(void){name}()"), By::Call(name));
        };
        let meaning = models::meaning(&statement.template);
        if let Some(c) = meaning.and_then(|meaning| self.modelled(&meaning, &statement)) {
            return (c, By::Model(statement.template));
        }
        let mut parts: Vec<String> =
            statement.inputs.iter().map(|input| format!("(void)({})", input.expr)).collect();
        let without_calls = parts.len();
        parts.extend(statement.outputs.iter().map(|output| self.output(found, &name, output)));
        if statement.labels.is_empty() && statement.outputs.is_empty() && statement.has_effects {
            self.declare(found, &name, "unsigned long long", "void");
            parts.push(format!("(void){name}()"));
        }
        if !statement.labels.is_empty() {
            return (self.jumps(found, &name, &statement, parts), By::Call(name));
        }
        match parts.len() == without_calls {
            true => (parts.join(", ") + if parts.is_empty() { "(void)0" } else { "" }, By::Nothing),
            false => (parts.join(", "), By::Call(name)),
        }
    }

    /// Gives an output the value of a call.
    fn output(&mut self, found: &Found, name: &str, output: &Operand<'_>) -> String {
        let expr = output.expr;
        if is_memory(&output.constraint) {
            self.declare(found, &format!("{name}_at"), "void", "void *");
            return format!("{name}_at((void *)&({expr}))");
        }
        self.declare(found, name, "unsigned long long", "void");
        format!("({expr}) = (__typeof__(({expr}) + 0)){name}()")
    }

    /// `asm goto`: the result of a call says where control goes.
    fn jumps(
        &mut self,
        found: &Found,
        name: &str,
        statement: &Statement<'_>,
        mut parts: Vec<String>,
    ) -> String {
        self.declare(found, name, "unsigned long long", "void");
        let cases = statement.labels.iter().enumerate();
        let cases: String =
            cases.map(|(at, label)| format!("case {}: goto {label}; ", at + 1)).collect();
        parts.push(format!("(void)0; switch ({name}()) {{ {cases}default: ; }}"));
        format!("__extension__ ({{ {} }})", parts.join(", "))
    }

    /// The meaning of an instruction, if the operands are those that it asks for.
    fn modelled(&mut self, meaning: &Meaning, statement: &Statement<'_>) -> Option<String> {
        let inputs: Vec<&str> = statement.inputs.iter().map(|input| input.expr).collect();
        let (definition, c) = match (meaning, statement.outputs.as_slice(), inputs.as_slice()) {
            (Meaning::Nothing, [], _) => {
                let parts = inputs.iter().map(|input| format!("(void)({input}), "));
                return Some(parts.collect::<String>() + "(void)0");
            }
            (Meaning::Value(definition), [output], [_, ..]) if !is_memory(&output.constraint) => {
                let call = format!("{}({})", definition.name, inputs.join(", "));
                (*definition, format!("({}) = {call}", output.expr))
            }
            (Meaning::Read(definition, value), [output], []) => {
                (*definition, format!("({}) = ({value})", output.expr))
            }
            (Meaning::Effect(definition, effect), [], [] | [_]) => {
                let wanted = effect.contains('%');
                let input = inputs.first();
                if wanted != input.is_some() {
                    return None;
                }
                (*definition, effect.replace('%', input.unwrap_or(&"")))
            }
            _ => return None,
        };
        self.definitions.insert(definition.text);
        Some(c)
    }

    /// A body that returns what an undefined function does.
    fn naked(&mut self, found: &Found) -> (String, By) {
        let name = format!("assembly_in_{}", found.function);
        self.declare(found, &name, "unsigned long long", "void");
        let head = &self.text[found.item..found.span.start];
        let result = result_of(head, &found.function);
        let body = match result.as_str() {
            "void" => format!("{{ (void){name}(); }}"),
            result => format!("{{ return ({result}){name}(); }}"),
        };
        (body, By::Call(name))
    }

    fn declare(&mut self, found: &Found, name: &str, result: &str, parameters: &str) {
        if self.declared.insert(name.to_owned()) {
            let insert = format!("extern {result} {name}({parameters}); ");
            self.made.edits.push(Edit { at: found.item, delete: 0, insert });
        }
    }
}

/// Whether an operand is in memory.
fn is_memory(constraint: &str) -> bool {
    let letters = constraint.trim_start_matches(['=', '+', '&', '%']);
    !letters.contains('r') && letters.starts_with(['m', 'Q', 'o', 'V', 'U'])
}

/// A declaration without its register.
fn without_register(text: &str) -> String {
    let Some(rest) = text.strip_prefix("register") else { return String::new() };
    let at = ["__asm", "asm"].iter().find_map(|word| rest.rfind(word));
    rest[..at.unwrap_or(rest.len())].trim_end().to_owned()
}

/// The type of a function's result, of the words in front of its name.
fn result_of(head: &str, name: &str) -> String {
    const OTHERS: [&str; 8] = [
        "static",
        "extern",
        "inline",
        "__inline",
        "__inline__",
        "_Noreturn",
        "__extension__",
        "register",
    ];
    let end = head.find(&format!("{name}(")).or_else(|| head.find(name)).unwrap_or(head.len());
    let mut kept = head[..end].to_owned();
    while let Some(at) = kept.find("__attribute") {
        let mut depth = 0i32;
        let close = kept[at..].char_indices().find_map(|(offset, c)| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            (c == ')' && depth == 0).then_some(at + offset + 1)
        });
        kept.replace_range(at..close.unwrap_or(kept.len()), " ");
    }
    let lines = kept.lines().filter(|line| !line.starts_with('#'));
    let words = lines.flat_map(str::split_whitespace).filter(|word| !OTHERS.contains(word));
    let result = words.collect::<Vec<_>>().join(" ");
    if result.is_empty() { "int".to_owned() } else { result }
}

/// Reads a statement of assembly; `None` if its text is of a form that is not read.
fn read(text: &str) -> Option<Statement<'_>> {
    let sections = sections(text)?;
    let (template, sections) = sections.split_first()?;
    let clobbers = sections.get(2).is_some_and(|section| section.contains("\"memory\""));
    Some(Statement {
        template: by_numbers(&leading_strings(template)?, sections),
        outputs: operands(sections.first())?,
        inputs: operands(sections.get(1))?,
        has_effects: clobbers || sections.is_empty(),
        labels: entries(sections.get(3))?.into_iter().map(str::trim).collect(),
    })
}

fn operands<'t>(section: Option<&&'t str>) -> Option<Vec<Operand<'t>>> {
    entries(section)?.into_iter().map(operand).collect()
}

/// `[name] "constraint" (expression)`.
fn operand(text: &str) -> Option<Operand<'_>> {
    let constraint = leading_strings(text)?;
    let after = &text[behind_constraint(text)?..];
    let expr = after.trim().strip_prefix('(')?.strip_suffix(')')?;
    Some(Operand { constraint, expr })
}

/// Where the expression behind an operand's constraint begins.
fn behind_constraint(text: &str) -> Option<usize> {
    let mut at = text.find('"')?;
    loop {
        let end = at + 1 + text[at + 1..].find('"')? + 1;
        at = text.len() - text[end..].trim_start().len();
        if !text[at..].starts_with('"') {
            return Some(at);
        }
    }
}

/// A template whose operands are numbers: `%[out]` becomes `%0`.
fn by_numbers(template: &str, sections: &[&str]) -> String {
    let operands =
        sections.iter().take(2).flat_map(|section| entries(Some(section)).unwrap_or_default());
    let name = |operand: &str| {
        Some(operand.trim_start().strip_prefix('[')?.split_once(']')?.0.trim().to_owned())
    };
    let numbered = operands.enumerate().filter_map(|(at, operand)| Some((at, name(operand)?)));
    numbered.fold(template.to_owned(), |template, (at, name)| {
        template.replace(&format!("%[{name}]"), &format!("%{at}"))
    })
}
