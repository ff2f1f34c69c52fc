//! The notes of a unit that reports need, taken from the program during compilation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lydian_base::{EntityId as _, Place, SourceMap, Span};
use lydian_ir::{Body, FuncId, MarkId, Program, Terminator};
use lydian_native::cc::{
    NotedCondition, NotedDecision, NotedFile, NotedFlow, NotedFunction, NotedSwitch,
    NotedUnmeasured, NotedWay,
};
use lydian_objective::dataflow::UseSite;
use lydian_objective::{Criterion, DataFlow, FunctionObjectives, LabelId, Site, UnitFlows};

/// The sources of a unit, read as they are when it is compiled.
pub(crate) struct Sources<'a> {
    directory: &'a Path,
    files: BTreeMap<String, Option<Text>>,
    hashes: BTreeMap<String, Option<[u8; 32]>>,
}

/// A file's text, with the offsets of its lines.
struct Text {
    text: String,
    starts: Vec<usize>,
}

impl Text {
    fn new(text: String) -> Self {
        let ends = text.match_indices('\n').map(|(at, _)| at + 1);
        let starts = std::iter::once(0).chain(ends).collect();
        Self { text, starts }
    }

    /// A number of lines from a line on, counted from 1.
    fn lines(&self, line: u32, count: usize) -> &str {
        let first = line.saturating_sub(1) as usize;
        let at = |index: usize| self.starts.get(index).copied().unwrap_or(self.text.len());
        &self.text[at(first)..at(first + count)]
    }
}

impl<'a> Sources<'a> {
    pub(crate) fn new(directory: &'a Path) -> Self {
        Self { directory, files: BTreeMap::new(), hashes: BTreeMap::new() }
    }

    /// The text of a file that a line marker names.
    fn text(&mut self, name: &str) -> Option<&Text> {
        let (directory, hashes) = (self.directory, &mut self.hashes);
        let mut read = || {
            let bytes = std::fs::read(directory.join(name)).ok();
            let hash = bytes.as_ref().map(|bytes| *blake3::hash(bytes).as_bytes());
            hashes.insert(name.to_owned(), hash);
            bytes.map(|bytes| Text::new(String::from_utf8_lossy(&bytes).into_owned()))
        };
        if !self.files.contains_key(name) {
            let text = read();
            self.files.insert(name.to_owned(), text);
        }
        self.files.get(name)?.as_ref()
    }

    /// The files that were read, with their hashes.
    pub(crate) fn files(self) -> Vec<NotedFile> {
        let file = |(path, hash)| NotedFile { path, hash };
        self.hashes.into_iter().map(file).collect()
    }

    /// Whether a text at a line of a file differs from the file's, since it comes from a macro.
    fn is_from_macro(&mut self, name: &str, line: u32, text: &str) -> bool {
        let Some(source) = self.text(name) else { return false };
        !squeezed(source.lines(line, LINES)).contains(&squeezed(text))
    }
}

/// The most lines of the source that are searched for the text of a decision.
const LINES: usize = 40;

/// The text without white space: macros aside, preprocessing changes nothing else.
fn squeezed(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

/// The notes of one function.
pub(crate) fn function(
    program: &Program,
    map: &SourceMap,
    flows: &UnitFlows,
    objectives: &FunctionObjectives,
    sources: &mut Sources<'_>,
) -> Option<NotedFunction> {
    let function = &program.functions[objectives.function];
    let body = function.body.as_ref()?;
    let place = map.place(name_offset(program, map, objectives.function));
    let end_line = map.place(body.source.body.end.saturating_sub(1)).line;
    sources.text(&place.file);
    let mut noted = NotedFunction::new(function.name.clone(), place, end_line, objectives);
    // Text may come from other files: those that it includes, and those that `#line` names.
    let places = noted.labels.values().map(|label| &label.place);
    for place in places.chain(noted.hypers.values().map(|hyper| &hyper.place)) {
        sources.text(&place.file);
    }
    noted.decisions = decisions(map, body, sources);
    noted.switches = switches(map, body);
    noted.text_labels = text_labels(map, body, objectives);
    if objectives.sequences.values().any(|sequence| sequence.flow.is_some())
        && let Some(flow) = flows.whole(program, map).function(objectives.function)
    {
        noted.flow = noted_flow(program, map, body, flow);
    }
    if objectives.sequences.values().any(|sequence| sequence.cell_pair().is_some())
        && let Some(cells) = flows.cells(program, map).function(objectives.function)
    {
        noted.cells = noted_flow(program, map, body, cells);
    }
    Some(noted)
}

/// The note of a function in which these criteria are not measured.
pub(crate) fn unmeasured(
    program: &Program,
    map: &SourceMap,
    function: FuncId,
    criteria: Vec<Criterion>,
    reason: String,
    sources: &mut Sources<'_>,
) -> NotedUnmeasured {
    let of = &program.functions[function];
    let place = map.place(name_offset(program, map, function));
    sources.text(&place.file);
    let end_line = map.place(of.span.end.saturating_sub(1)).line;
    NotedUnmeasured { name: of.name.clone(), place, end_line, criteria, reason }
}

/// The offset of a function's name in its declaration.
fn name_offset(program: &Program, map: &SourceMap, func: FuncId) -> u32 {
    let function = &program.functions[func];
    let text = map.slice(function.span);
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let found = text.match_indices(&function.name).find(|(at, name)| {
        !text[..*at].ends_with(is_word) && !text[at + name.len()..].starts_with(is_word)
    });
    function.span.start + found.map_or(0, |(at, _)| at as u32)
}

/// The labels before statements, each with the label of the criterion `stmt` that is covered when
/// control passes it.
fn text_labels(
    map: &SourceMap,
    body: &Body,
    objectives: &FunctionObjectives,
) -> Vec<(LabelId, Place)> {
    let statements = objectives.criteria.get(&Criterion::Stmt).into_iter().flatten();
    let marks: BTreeMap<MarkId, LabelId> = statements
        .filter_map(|entry| match objectives.labels[entry.label].site {
            Site::Mark(mark) => Some((mark, entry.label)),
            _ => None,
        })
        .collect();
    let labels = body.source.labels.iter();
    labels.filter_map(|site| Some((*marks.get(&site.mark)?, map.place(site.span.start)))).collect()
}

fn decisions(map: &SourceMap, body: &Body, sources: &mut Sources<'_>) -> Vec<NotedDecision> {
    let decision = |(_, decision): (_, &lydian_ir::Decision)| {
        let place = map.place(decision.span.start);
        let text = shown(map, decision.span);
        let conditions = decision.conditions.values().map(|condition| NotedCondition {
            place: map.place(condition.span.start),
            text: shown(map, condition.span),
        });
        NotedDecision {
            from_macro: sources.is_from_macro(&place.file, place.line, &text),
            conditions: conditions.collect(),
            decision: decision.clone(),
            asked: decision.asked(&body.exprs),
            place,
            text,
        }
    };
    body.decisions.iter().map(decision).collect()
}

fn noted_flow(program: &Program, map: &SourceMap, body: &Body, flow: &DataFlow) -> NotedFlow {
    let definitions = flow.definitions.iter().map(|definition| {
        let name = definition.variable.name(program, body);
        (name, map.place(definition.span.start))
    });
    let uses = flow
        .uses
        .iter()
        .take_while(|usage| usage.elsewhere.is_none())
        .map(|usage| (map.place(usage.span.start), matches!(usage.at, UseSite::Condition(..))));
    NotedFlow { definitions: definitions.collect(), uses: uses.collect() }
}

fn switches(map: &SourceMap, body: &Body) -> Vec<NotedSwitch> {
    let mut noted = Vec::new();
    let mut seen = BTreeSet::new();
    for site in body.source.switches.iter().filter(|site| seen.insert(site.block)) {
        let Terminator::Switch { cases, .. } = &body.blocks[site.block].term else { continue };
        let place = map.place(body.source.terms[site.block].start);
        let mut ways: Vec<NotedWay> = cases
            .iter()
            .map(|case| NotedWay {
                name: match (site.computed, case.low == case.high) {
                    (true, _) => format!("label {}", shown(map, case.span)),
                    (false, true) => format!("case {}", case.low),
                    (false, false) => format!("case {} ... {}", case.low, case.high),
                },
                place: map.place(case.span.start),
            })
            .collect();
        if !site.computed {
            ways.push(NotedWay { name: "default".to_owned(), place: place.clone() });
        }
        noted.push(NotedSwitch { block: site.block, place, ways });
    }
    noted.sort_by_key(|switch| (switch.place.line, switch.place.column, switch.block.index()));
    noted
}

/// A text on one line, without line markers.
pub(crate) fn shown(map: &SourceMap, span: Span) -> String {
    let lines = map.slice(span).lines().enumerate();
    let kept = lines.filter(|(index, line)| *index == 0 || !line.trim_start().starts_with('#'));
    let words = kept.flat_map(|(_, line)| line.split_whitespace());
    words.collect::<Vec<_>>().join(" ")
}
