//! The purpose of a test, in terms of the source text.

use std::collections::BTreeMap;
use std::path::Path;

use lydian_base::Place;
use lydian_ir::interp::End;
use lydian_ir::test::Test;
use lydian_objective::Criterion;
use lydian_report::suite::names;
use rustc_hash::FxHashSet;

use crate::project::location_span;
use crate::session::goals::{Entry, Goal};
use crate::session::state::Session;

/// Characters of a line of the source, or of a predicate, that are shown.
const MOST: usize = 72;

/// How far a test is followed to the place where it fails.
const STEPS_TO_FAILURE: u64 = 1 << 20;

/// The most lines of an expression in the source.
const LINES: u32 = 6;

impl Session<'_, '_> {
    /// A text for each line of the source with some of these objectives, in order: the place, and the
    /// condition that must hold there, or the line itself if control only has to pass it.
    pub(crate) fn kept_for(&self, goals: &FxHashSet<Goal>) -> Vec<String> {
        let mut lines: BTreeMap<(&str, u32), Vec<String>> = BTreeMap::new();
        for (target, Entry { goal, criterion, name, .. }) in self.entries_of(goals) {
            let Place { file, line, .. } = target.place(goal);
            let texts = lines.entry((&**file, *line)).or_default();
            let text = &self.text_with_macros(goal);
            // In a sentence about conditions, the conditions stand between quotes; the rest may be cut.
            let conditions: String = match goal {
                Goal::Label(..) => text.to_owned(),
                Goal::Hyper(..) => text.split('`').skip(1).step_by(2).take(1).collect(),
            };
            let text = match (self.hidden_by_macros(target.place(goal), &conditions), goal) {
                (None, _) => text.to_owned(),
                (Some(MacroLine { line, .. }), Goal::Hyper(..)) => {
                    format!("a condition decides in `{line}`")
                }
                (Some(MacroLine { line, is_negated: false }), _) => format!("true in `{line}`"),
                (Some(MacroLine { line, is_negated: true }), _) => format!("false in `{line}`"),
            };
            let text = match criterion {
                Criterion::AugBoundary => transformed(name, &text),
                _ if criterion.is_of_augmentation() => name.to_owned(),
                _ => text,
            };
            // Its predicate is always true.
            if text != "1" && !texts.contains(&text) {
                texts.push(text);
            }
        }
        let shown = lines.into_iter().map(|((file, line), texts)| {
            let text = match texts.is_empty() {
                true => self.project.texts.line(file, line).unwrap_or_default().to_owned(),
                false => without_repeated(&texts).join("; "),
            };
            format!("{}: {}", short_place(file, line), shortened(&text))
        });
        shown.collect()
    }

    /// The file and line in the user's code where a test fails, as the interpreter sees it.
    pub(crate) fn failing_place(&self, test: &Test) -> Option<String> {
        let program = &self.project.program;
        let run = self.runner.follow(test, STEPS_TO_FAILURE)?;
        if !matches!(run.end, End::Trapped(_)) {
            return None;
        }
        let mut places = run.location.iter().chain(&run.open_calls);
        let own = places.find(|at| !program.functions[at.function].library)?;
        let span = location_span(program, *own)?;
        let Place { file, line, .. } = self.project.texts.all.place(span.start);
        Some(short_place(&file, line))
    }

    /// The text of an objective, with the macros that the source has there.
    pub(crate) fn text_with_macros(&self, goal: Goal) -> String {
        let place = self.targets[goal.target()].place(goal);
        self.project.texts.with_macros(place, self.text(goal))
    }

    /// The line of the source that a predicate is about, if the predicate has the expansion of macros
    /// there.
    pub(crate) fn hidden_by_macros(&self, place: &Place, predicate: &str) -> Option<MacroLine<'_>> {
        let near = self.project.texts.lines(&place.file, place.line, LINES);
        let line = near.first().map(|line| line.trim()).filter(|line| !line.is_empty())?;
        let is_known = |word: &str| {
            near.iter().any(|line| names::identifiers(line).any(|known| known == word))
        };
        let is_hidden = names::identifiers(predicate).any(|word| !is_known(word));
        is_hidden.then(|| MacroLine { line, is_negated: predicate.starts_with('!') })
    }
}

/// The name of a file without its folder, and a line.
fn short_place(file: &str, line: u32) -> String {
    let name = Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
    format!("{name}:{line}")
}

/// A predicate that is not found in the source.
pub(crate) struct MacroLine<'s> {
    /// The line that it is about.
    pub(crate) line: &'s str,
    /// Whether the predicate is that an expression there is false.
    pub(crate) is_negated: bool,
}

/// A predicate without the negations and parentheses around it.
fn operand(predicate: &str) -> &str {
    let inner = predicate.strip_prefix('!').unwrap_or(predicate);
    let inner = inner.strip_prefix('(').and_then(|text| text.strip_suffix(')')).unwrap_or(inner);
    if inner == predicate { inner } else { operand(inner) }
}

/// The texts but those that say nothing beside others: that a condition decides a decision which has no
/// other conditions.
fn without_repeated(texts: &[String]) -> Vec<&str> {
    let is_plain = |text: &str| {
        text.strip_prefix('`').and_then(|text| text.strip_suffix('`')).is_some_and(|text| {
            let sides = text.split_once("` decides `");
            sides.is_some_and(|(condition, decision)| operand(condition) == operand(decision))
        })
    };
    let all = texts.iter().map(String::as_str);
    let kept: Vec<&str> = all.clone().filter(|text| !is_plain(text)).collect();
    if kept.is_empty() { all.collect() } else { kept }
}

/// What is transformed, of the name of a transformed condition, with the new condition.
fn transformed(name: &str, condition: &str) -> String {
    let of = name.rsplit_once(": ").map_or(name, |(of, _)| of);
    format!("{of}: {condition}")
}

/// The text, cut if it is long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
