//! The mutants of a unit, from its syntax tree.
//!
//! A function's statements are followed in the order of the text. Each full expression is a *site*
//! ([`site`]); the mutants of its parts are drafted by [`expressions`], with the test that tells
//! whether a mutant's value differs. Statements that can be deleted stand beside the sites.

mod computing;
mod expressions;
mod functions;
mod operands;
mod scope;
pub(crate) mod site;

use std::collections::HashMap;

use lydian_base::{SourceMap, Span};
use lydian_frontend::ParsedUnit;
use lydian_frontend::ast::{FunctionDecl, FunctionId, TranslationUnit};

use crate::mutant::{FunctionNotes, FunctionText, Mutant, Position};
use crate::operator::Operator;
use crate::pattern::Pattern;
use crate::text::on_one_line;
use functions::FunctionWalk;
use site::FunctionPlan;

/// The mutants of a unit, and where they stand.
#[derive(Debug, Default)]
pub struct Enumeration {
    /// The mutants, by number.
    pub mutants: Vec<Mutant>,
    /// The functions without mutants that could have some, each with the reason.
    pub left_out: Vec<(String, String)>,
    /// Mutants by patterns that make no program: they are as the original is.
    pub refused: Vec<u32>,
    /// All functions that the text defines, in its order.
    pub defined: Vec<FunctionText>,
    pub(crate) functions: Vec<FunctionPlan>,
}

impl Enumeration {
    /// The texts of the functions with mutants.
    pub fn functions(&self) -> Vec<FunctionNotes> {
        self.functions.iter().map(|plan| plan.notes.clone()).collect()
    }

    /// Writes no mutants of other functions into a text. Numbers stay.
    pub fn keep_functions(&mut self, is_kept: &dyn Fn(&FunctionNotes) -> bool) {
        self.functions.retain(|plan| is_kept(&plan.notes));
    }

    /// Leaves out mutants of functions that the compiler refuses: at first those by patterns that are no
    /// program alone, as `is_program` says, and else all. Returns whether there are any.
    pub fn leave_out(
        &mut self,
        reason: &str,
        is_refused: &dyn Fn(&FunctionNotes) -> bool,
        is_program: &dyn Fn(&Mutant) -> bool,
    ) -> bool {
        if self.withdraw_patterns(is_refused, is_program) {
            return true;
        }
        let before = self.functions.len();
        let left_out = &mut self.left_out;
        self.functions.retain(|plan| {
            let refused = is_refused(&plan.notes);
            if refused {
                left_out.push((plan.notes.name.clone(), reason.to_owned()));
            }
            !refused
        });
        // Numbers stay, so that the plans of other functions do.
        self.functions.len() != before
    }
}

impl Enumeration {
    /// Makes mutants by patterns that are no program do what the original does, in some functions.
    fn withdraw_patterns(
        &mut self,
        is_meant: &dyn Fn(&FunctionNotes) -> bool,
        is_program: &dyn Fn(&Mutant) -> bool,
    ) -> bool {
        let before = self.refused.len();
        for plan in self.functions.iter_mut().filter(|plan| is_meant(&plan.notes)) {
            for site in &mut plan.sites {
                for (number, alternative) in (site.first..).zip(&mut site.alternatives) {
                    let mutant = &self.mutants[number as usize - 1];
                    let is_known = self.refused.contains(&number);
                    if mutant.operator == Operator::Own && !is_known && !is_program(mutant) {
                        alternative.1.clone_from(&mutant.original);
                        self.refused.push(number);
                    }
                }
            }
        }
        self.refused.len() != before
    }
}

/// The choice of mutants.
#[derive(Clone, Copy)]
pub struct Choice<'c> {
    /// Whether functions that stand in a file get mutants. The file is as the preprocessor names it.
    pub file: &'c dyn Fn(&str) -> bool,
    /// The operators.
    pub operators: &'c [Operator],
    /// The user's own operators.
    pub patterns: &'c [Pattern],
    /// The text of a user's file.
    pub read: &'c dyn Fn(&str) -> Option<String>,
}

/// Lists the mutants of a unit.
pub fn enumerate(unit: &ParsedUnit, choice: Choice<'_>) -> Enumeration {
    let mut found = Enumeration::default();
    let mut places = Places { map: &unit.source, choice, files: HashMap::new() };
    let texts = unit.ast.defined_functions().filter(|(_, function)| !function.span.is_none());
    let text = |(_, function): (FunctionId, &FunctionDecl)| FunctionText {
        name: function.name.to_string(),
        span: function.span,
    };
    found.defined = texts.map(text).collect();
    found.defined.sort_by_key(|function| function.span.start);
    for (id, function) in unit.ast.defined_functions() {
        if !is_chosen(&unit.source, function, choice) {
            continue;
        }
        if let Some(reason) = unsuitable(&unit.ast, function) {
            found.left_out.push((function.name.to_string(), reason.to_owned()));
            continue;
        }
        of_function(unit, id, &mut places, &mut found);
    }
    found
}

fn is_chosen(map: &SourceMap, function: &FunctionDecl, choice: Choice<'_>) -> bool {
    let start = function.span.start;
    !function.in_system_header && !map.is_system(start) && (choice.file)(&map.place(start).file)
}

/// Why a function cannot have mutants.
fn unsuitable(ast: &TranslationUnit, function: &FunctionDecl) -> Option<&'static str> {
    let is_naked = function.specifiers.attributes.iter().any(|name| &**name == "NakedAttr");
    let body = function.body.map(|body| ast.stmts[body].span);
    match body {
        _ if is_naked => Some("it is assembly alone"),
        Some(body) if !body.is_none() && function.span.contains(body) => None,
        _ => Some("its text is not known"),
    }
}

fn of_function(
    unit: &ParsedUnit,
    id: FunctionId,
    places: &mut Places<'_>,
    found: &mut Enumeration,
) {
    let first = found.mutants.len() as u32 + 1;
    let walk = FunctionWalk::new(&unit.ast, unit.source.text(), id, places.choice);
    let Some((mut plan, drafts)) = walk.plan(first) else { return };
    let function = &unit.ast.functions[id];
    let (mut number, mut same) = (first, HashMap::new());
    for draft in drafts {
        let original = unit.source.slice(draft.span).to_owned();
        let (start, end, in_macro) = places.of(draft.span, &original);
        let shown = on_one_line(&original);
        let what = format!("{} {} {shown} {}", function.name, draft.name, draft.replacement);
        let turn: &mut u32 = same.entry(what.clone()).or_default();
        *turn += 1;
        let body = unit.source.slice(function.span);
        let key = blake3::hash(format!("{body} {what} {turn}").as_bytes()).to_hex();
        found.mutants.push(Mutant {
            number,
            operator: draft.operator,
            name: draft.name,
            function: function.name.to_string(),
            span: draft.span,
            original,
            replacement: draft.replacement,
            file: unit.source.place(draft.span.start).file.to_string(),
            start,
            end,
            in_macro,
            key: key[..16].to_owned(),
        });
        number += 1;
    }
    plan.notes.numbers = (first, number);
    if number > first {
        found.functions.push(plan);
    }
}

/// Finds the places of spans in the user's files.
struct Places<'a> {
    map: &'a SourceMap,
    choice: Choice<'a>,
    files: HashMap<String, Option<Vec<String>>>,
}

impl Places<'_> {
    /// The begin and the end of a span, and whether the user's file has another text there.
    fn of(&mut self, span: Span, text: &str) -> (Position, Position, bool) {
        let first = self.map.place(span.start);
        let last = self.map.place(span.end.saturating_sub(1).max(span.start));
        let start = Position { line: first.line, column: first.column };
        let end = Position { line: last.line, column: last.column + 1 };
        let read = self.choice.read;
        let lines = self
            .files
            .entry(first.file.to_string())
            .or_insert_with(|| Some(read(&first.file)?.lines().map(str::to_owned).collect()));
        let is_same = first.file == last.file
            && lines.as_ref().is_some_and(|lines| {
                written(lines, start, end).is_some_and(|own| on_one_line(&own) == on_one_line(text))
            });
        (start, end, !is_same)
    }
}

/// The text of a file between two places.
fn written(lines: &[String], start: Position, end: Position) -> Option<String> {
    let mut out = String::new();
    for number in start.line..=end.line {
        let line = lines.get(number as usize - 1)?;
        let from = if number == start.line { start.column as usize - 1 } else { 0 };
        let to = if number == end.line { end.column as usize - 1 } else { line.len() };
        out.push_str(line.get(from..to)?);
        out.push('\n');
    }
    Some(out)
}
