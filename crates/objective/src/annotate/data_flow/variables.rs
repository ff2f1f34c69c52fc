//! ALL-DEFS, ALL-USES and ALL-DU-PATHS: sequences from a definition to a use without another definition between.

use std::sync::Arc;

use lydian_base::{EntityId, Span};
use lydian_ir::{BlockId, FuncId};
use rustc_hash::FxHashMap;

use crate::annotate::context::{Annotator, Context};
use crate::annotate::control_flow::paths;
use crate::criterion::Criterion;
use crate::dataflow::{
    Access, DataFlow, DefUse, Definition, DefinitionId, DefinitionSite, DuPaths, Use, UseSite,
    Variable, c_name,
};
use crate::hyper::{
    Atom, Binding, BoundValue, Definitions, Formula, Hyper, Obligation, Passage, Sequence,
    SequenceId, SequenceScope,
};
use crate::label::{Pred, Site};
use crate::paths::{Path, TooManyPaths};

/// The length, in bytes, at which a text is cut.
const SNIPPET: usize = 32;

/// The definitions and uses of a function, and the forms of their pairs: as sequences and in words.
pub(crate) struct Pairs<'a> {
    pub(crate) flow: &'a DataFlow,
    /// The sequence of a pair, one for all criteria.
    pub(crate) sequence: fn(&mut Context<'_>, &DataFlow, DefUse) -> SequenceId,
    /// A new sequence of a pair by a path.
    pub(crate) by: fn(&mut Context<'_>, &DataFlow, DefUse, Vec<BlockId>) -> SequenceId,
    /// A use in words, with its way.
    pub(crate) used: fn(&Context<'_>, &Use, u32) -> String,
}

impl<'a> Pairs<'a> {
    /// Those of whole variables.
    pub(crate) fn of_variables(cx: &Context<'a>) -> Self {
        Self { flow: cx.data_flow(), sequence, by, used }
    }

    /// The pairs of each definition that counts as this function's, without those that have none.
    pub(crate) fn by_definition(&self) -> Vec<Vec<DefUse>> {
        let mut by_definition: FxHashMap<DefinitionId, Vec<DefUse>> = FxHashMap::default();
        for pair in self.flow.pairs_of_definitions() {
            by_definition.entry(pair.definition).or_default().push(pair);
        }
        let all = (0..self.flow.definitions.len()).map(DefinitionId::from_index);
        all.filter_map(|id| by_definition.remove(&id)).collect()
    }

    /// Adds the objectives of the pairs whose uses are in the function. The pairs of its definitions
    /// with uses in other units are added, too, since functions of other units have no objectives of
    /// their own.
    pub(crate) fn reach_each(&self, cx: &mut Context<'_>, wanted: impl Fn(DefUse) -> bool) {
        for pair in self.flow.pairs().into_iter().filter(|pair| wanted(*pair)) {
            self.reach(cx, pair);
        }
        for pair in self.flow.pairs_of_definitions().into_iter().filter(|pair| wanted(*pair)) {
            let (definition, usage) =
                (self.flow.definition(pair.definition), self.flow.usage(pair.usage));
            let is_here = !cx.is_foreign(definition.span);
            if usage.elsewhere.is_some() && is_here && cx.is_foreign(usage.span) {
                self.reach(cx, pair);
            }
        }
    }

    /// Adds the objective of a definition with these pairs: it reaches one of their uses.
    pub(crate) fn reach_one(&self, cx: &mut Context<'_>, pairs: &[DefUse]) {
        let definition = self.flow.definition(pairs[0].definition);
        let sequences = pairs.iter().map(|pair| (self.sequence)(cx, self.flow, *pair));
        let mut alternatives: Vec<Hyper> = sequences.map(Hyper::Sequence).collect();
        // A single pair is an objective of ALL-USES, and has its text.
        let (hyper, text) = match pairs {
            [one] => (alternatives.remove(0), self.said(cx, *one)),
            _ => {
                let text = format!("{} reaches a use", defined(cx, definition));
                (Hyper::Any(alternatives), text)
            }
        };
        let name = format!("{} {}", variable(cx, definition), definition.number);
        cx.push_hyper(hyper, definition.span, name, text);
    }

    /// Adds the objective of a pair.
    pub(crate) fn reach(&self, cx: &mut Context<'_>, pair: DefUse) {
        let hyper = Hyper::Sequence((self.sequence)(cx, self.flow, pair));
        let (name, text) = (name(cx, self.flow, pair), self.said(cx, pair));
        cx.push_hyper(hyper, self.flow.definition(pair.definition).span, name, text);
    }

    /// A pair in words.
    fn said(&self, cx: &Context<'_>, pair: DefUse) -> String {
        let usage = (self.used)(cx, self.flow.usage(pair.usage), pair.way);
        format!("{} reaches {usage}", defined(cx, self.flow.definition(pair.definition)))
    }
}

/// ALL-DEFS: each definition reaches one of its uses ([002] V-D2).
pub(crate) struct AllDefinitions;

impl Annotator for AllDefinitions {
    fn criterion(&self) -> Criterion {
        Criterion::AllDefs
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let pairs = Pairs::of_variables(cx);
        for of_one in pairs.by_definition() {
            pairs.reach_one(cx, &of_one);
        }
    }
}

/// ALL-USES: each definition reaches each use that it can reach ([002] example 3), a p-use once
/// for each way out of it.
pub(crate) struct AllUses;

impl Annotator for AllUses {
    fn criterion(&self) -> Criterion {
        Criterion::AllUses
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let pairs = Pairs::of_variables(cx);
        pairs.reach_each(cx, |_| true);
    }
}

/// The names of the definitions and uses of globals in a function.
#[derive(Clone, Debug, Default)]
pub struct DefUseNames {
    /// The definitions in words, by their ids; empty for a local's.
    pub definitions: Vec<String>,
    /// The uses, by their ids: the name of each way, and the use in words; empty for a local's.
    pub uses: Vec<Vec<(String, String)>>,
}

impl DefUseNames {
    /// Those of whole variables.
    pub(crate) fn of(cx: &Context<'_>) -> Self {
        let flow = cx.data_flow();
        let definition = |one: &Definition| match one.variable {
            Variable::Global(_) => defined(cx, one),
            Variable::Local(_) => String::new(),
        };
        let way = |usage: &Use, way| (way_name(cx, usage, way), used(cx, usage, way));
        let ways = |usage: &Use| {
            let count = if usage.variable.is_global() { usage.ways } else { 0 };
            (0..count).map(|number| way(usage, number)).collect()
        };
        Self {
            definitions: flow.definitions.iter().map(definition).collect(),
            uses: flow.uses.iter().map(ways).collect(),
        }
    }
}

/// The name of a pair as an objective.
fn name(cx: &Context<'_>, flow: &DataFlow, pair: DefUse) -> String {
    let (definition, usage) = (flow.definition(pair.definition), flow.usage(pair.usage));
    let variable = variable(cx, definition);
    match usage.at {
        UseSite::Stmt(_) | UseSite::Return(_) => {
            format!("{variable} {} to {}", definition.number, pair.usage)
        }
        UseSite::Condition(..) | UseSite::Switch(_) => {
            let way = way_name(cx, usage, pair.way);
            format!("{variable} {} to {} {way}", definition.number, pair.usage)
        }
    }
}

/// ALL-DU-PATHS: each pair of a local, and each pair of a global within the function, by each of its
/// paths without another definition.
pub(crate) struct AllDuPaths;

impl Annotator for AllDuPaths {
    fn criterion(&self) -> Criterion {
        Criterion::AllDuPaths
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let limit = cx.request.paths;
        let pairs = Pairs::of_variables(cx);
        match pairs.paths(cx, |_| true, limit) {
            Ok((found, _)) => pairs.push_paths(cx, found),
            Err(error) => paths::too_many(cx, self.criterion(), error),
        }
    }
}

/// A path from a definition to a use.
pub(crate) enum DuPath {
    /// A path of a local. The objective asks only that control takes it.
    Path(Path),
    /// The nodes that control enters between the two, for a global or a cell.
    Entered(Vec<BlockId>),
}

impl Pairs<'_> {
    /// The paths of the pairs of the `wanted` variables in the function, at most `limit`, and the
    /// number of further paths that the limit allows.
    pub(crate) fn paths(
        &self,
        cx: &mut Context<'_>,
        wanted: impl Fn(Variable) -> bool,
        limit: usize,
    ) -> Result<(Vec<(DefUse, DuPath)>, usize), TooManyPaths> {
        let graph = cx.node_graph();
        let mut search = DuPaths::new(cx.body, &graph, self.flow, limit);
        let mut found = Vec::new();
        for pair in self.flow.pairs() {
            let definition = self.flow.definition(pair.definition);
            if !wanted(definition.variable) {
                continue;
            }
            let is_cell = self.flow.usage(pair.usage).cell.is_some();
            let ways: Vec<DuPath> = match is_cell || definition.variable.is_global() {
                false => search.of(pair)?.into_iter().map(DuPath::Path).collect(),
                true => search.entered(pair)?.into_iter().map(DuPath::Entered).collect(),
            };
            found.extend(ways.into_iter().map(|way| (pair, way)));
        }
        Ok((found, search.left()))
    }

    /// Adds the objectives of paths.
    pub(crate) fn push_paths(&self, cx: &mut Context<'_>, found: Vec<(DefUse, DuPath)>) {
        let graph = cx.node_graph();
        for (pair, way) in found {
            let definition = self.flow.definition(pair.definition);
            let variable = variable(cx, definition);
            let (hyper, path) = match way {
                // The same path may be an objective of a criterion of paths, which is another
                // hyperlabel.
                DuPath::Path(path) => (Hyper::Any(vec![paths::hyper(cx, &graph, &path)]), path),
                DuPath::Entered(heads) => {
                    let path = heads.iter().filter_map(|head| graph.node_at(*head)).collect();
                    (Hyper::Sequence((self.by)(cx, self.flow, pair, heads)), path)
                }
            };
            let said = self.said(cx, pair);
            let (text, by) = match path.is_empty() {
                true => (format!("{said} directly"), "no node".to_owned()),
                false => {
                    (format!("{said} by {}", paths::lines(cx, &graph, &path)), paths::name(&path))
                }
            };
            let name = match hyper {
                Hyper::Any(_) => {
                    format!("{variable} {} to {} by {by}", definition.number, pair.usage)
                }
                _ => format!("{} by {by}", name(cx, self.flow, pair)),
            };
            cx.push_hyper(hyper, definition.span, name, text);
        }
    }
}

fn variable(cx: &Context<'_>, definition: &Definition) -> String {
    definition.variable.name(cx.program, cx.body)
}

/// A definition in words.
fn defined(cx: &Context<'_>, definition: &Definition) -> String {
    let name = variable(cx, definition);
    let by = || {
        let line = cx.map.place(definition.span.start).line;
        format!("{name} of `{}` in line {line}", snippet(cx, definition.span))
    };
    let whole = match definition.at {
        DefinitionSite::Start => format!("the initial value of {name}"),
        DefinitionSite::Entry => format!("the parameter {name}"),
        DefinitionSite::Stmt(_) => by(),
        DefinitionSite::Elsewhere(function, _) => {
            format!("{} of {}", by(), elsewhere(cx, function, definition.span))
        }
    };
    match definition.cell {
        None => whole,
        Some(_) => format!("the cell of {whole}"),
    }
}

/// The beginning of a text, on one line.
pub(crate) fn snippet(cx: &Context<'_>, span: Span) -> String {
    let mut words = cx.map.slice(span).split_whitespace();
    let mut text = words.next().unwrap_or("").to_owned();
    for word in words {
        if text.len() + word.len() >= SNIPPET {
            text.push_str(" ...");
            break;
        }
        text.push(' ');
        text.push_str(word);
    }
    text
}

fn used(cx: &Context<'_>, usage: &Use, way: u32) -> String {
    let name = usage.variable.name(cx.program, cx.body);
    let line = cx.map.place(usage.span.start).line;
    let text = match usage.at {
        UseSite::Stmt(_) => {
            let text = snippet(cx, usage.span);
            match text == name {
                true => format!("its use in line {line}"),
                false => format!("its use in `{text}` in line {line}"),
            }
        }
        UseSite::Return(_) => format!("the return in line {line}"),
        UseSite::Condition(..) => {
            format!("the condition in line {line}, {}", way_name(cx, usage, way))
        }
        UseSite::Switch(_) => {
            format!("the switch in line {line}, {}", way_name(cx, usage, way))
        }
    };
    match usage.elsewhere {
        Some((function, _)) => format!("{text} of {}", elsewhere(cx, function, usage.span)),
        None => text,
    }
}

/// The name of a function that a place lies in, with its file if that is another one.
pub(crate) fn elsewhere(cx: &Context<'_>, function: FuncId, place: Span) -> String {
    let name = c_name(&cx.program.functions[function].name);
    match cx.is_foreign(place) {
        false => name.to_owned(),
        true => {
            let file = cx.map.place(place.start).file;
            let file = file.rsplit('/').next().unwrap_or(&file);
            format!("{name} in {file}")
        }
    }
}

pub(crate) fn way_name(cx: &Context<'_>, usage: &Use, way: u32) -> String {
    let elsewhere = usage.elsewhere.and_then(|(id, _)| cx.program.functions[id].body.as_ref());
    let body = elsewhere.unwrap_or(cx.body);
    match usage.at {
        UseSite::Condition(..) => (way == 1).to_string(),
        UseSite::Switch(block) => match &body.blocks[block].term {
            lydian_ir::stmt::Terminator::Switch { cases, .. } => cases
                .get(way as usize)
                .map_or_else(|| "default".to_owned(), |case| format!("case {}", case.low)),
            _ => String::new(),
        },
        UseSite::Stmt(_) | UseSite::Return(_) => String::new(),
    }
}

/// The sequence of a pair of a whole variable.
fn sequence(cx: &mut Context<'_>, flow: &DataFlow, pair: DefUse) -> SequenceId {
    if let Some(known) = cx.shared_sequences.pairs.get(&pair) {
        return *known;
    }
    let clear = Passage::Clear(definitions(cx, flow, flow.definition(pair.definition).variable));
    let sequence = sequence_with(cx, flow, pair, clear);
    let id = cx.sequence(Sequence { flow: Some(pair), ..sequence });
    cx.shared_sequences.pairs.insert(pair, id);
    id
}

/// The sequence of a pair of a global by a path.
fn by(cx: &mut Context<'_>, flow: &DataFlow, pair: DefUse, path: Vec<BlockId>) -> SequenceId {
    let clear = Passage::Clear(definitions(cx, flow, flow.definition(pair.definition).variable));
    let sequence = sequence_with(cx, flow, pair, Passage::By(path, Box::new(clear)));
    cx.sequence(Sequence { flow: Some(pair), ..sequence })
}

/// The sequence of a pair, with a passage from the definition to the read of the value. A definition
/// and a use of cells bind the addresses.
pub(crate) fn sequence_with(
    cx: &mut Context<'_>,
    flow: &DataFlow,
    pair: DefUse,
    passage: Passage,
) -> Sequence {
    let (definition, usage) = (flow.definition(pair.definition), flow.usage(pair.usage));
    let bind = |name: &str, access: &Access| Binding {
        name: name.to_owned(),
        value: BoundValue::Expr(access.addr),
    };
    let mut first = definition_atom(cx, definition);
    first.bindings = definition.cell.iter().map(|access| bind("defined", access)).collect();
    let (mut atoms, mut passages) = (vec![first], vec![passage]);
    if let Some(read) = read_atom(cx, usage) {
        // Definitions between the read and the branch do not matter. Nor does the address at the
        // branch, which may depend on values that have changed since the read.
        let site = usage.read_at.map(Site::Stmt);
        let again = |site| Obligation { function: read.function, site, holds: Formula::Number(0) };
        passages.push(Passage::Obliged(site.into_iter().map(again).collect()));
        atoms.push(read);
    }
    atoms.push(use_atom(cx, usage, pair.way));
    // The atom after the definition is where the value is read.
    atoms[1].bindings = usage.cell.iter().map(|access| bind("used", access)).collect();
    let scope = match definition.variable {
        Variable::Local(_) => SequenceScope::Activation,
        Variable::Global(_) => SequenceScope::Run,
    };
    Sequence { atoms, passages, scope, flow: None }
}

/// The definitions of a variable that no sequence of it may pass. The definition of the sequence's
/// own first atom may be among them: a run that passes it again has a sequence that begins there.
fn definitions(cx: &mut Context<'_>, flow: &DataFlow, variable: Variable) -> Arc<Definitions> {
    if let Some(known) = cx.shared_sequences.clear.get(&variable) {
        return Arc::clone(known);
    }
    let all = match variable {
        Variable::Global(global) => cx.unit_flow().stores(global),
        Variable::Local(local) => {
            let places = |indirect: bool| {
                let own = flow.definitions.iter().filter(|other| other.variable == variable);
                let own = own.filter(|other| other.indirect == indirect);
                let places = own.filter_map(|definition| match definition.at {
                    DefinitionSite::Stmt(stmt) => Some((cx.id(), Site::Stmt(stmt))),
                    _ => None,
                });
                places.collect()
            };
            let name = format!("{} {local}", cx.body.locals[local].name);
            let (places, indirect) = (places(false), places(true));
            Arc::new(Definitions { variable: name, of: Some(variable), places, indirect })
        }
    };
    cx.shared_sequences.clear.insert(variable, Arc::clone(&all));
    all
}

fn definition_atom(cx: &mut Context<'_>, definition: &Definition) -> Atom {
    let always = Pred::Const(true);
    match definition.at {
        DefinitionSite::Start => atom_at(cx, Site::Start, always, definition.span),
        DefinitionSite::Entry => {
            let span = cx.function.span;
            atom_at(cx, Site::Entry, always, span)
        }
        DefinitionSite::Stmt(stmt) => atom_at(cx, Site::Stmt(stmt), always, definition.span),
        DefinitionSite::Elsewhere(function, stmt) => {
            atom_elsewhere(cx, function, Site::Stmt(stmt), &always)
        }
    }
}

fn use_atom(cx: &mut Context<'_>, usage: &Use, way: u32) -> Atom {
    let Some((function, _)) = usage.elsewhere else {
        let (site, pred) = usage.at.label(cx.body, way);
        return atom_at(cx, site, pred, usage.span);
    };
    let body = cx.program.functions[function].body.as_ref();
    let (site, pred) = usage.at.label(body.expect("a use is in a body"), way);
    atom_elsewhere(cx, function, site, &pred)
}

/// The statement at which a condition or a switch reads the value, if that is earlier than the
/// branch.
fn read_atom(cx: &mut Context<'_>, usage: &Use) -> Option<Atom> {
    let site = Site::Stmt(usage.read_at?);
    Some(match usage.elsewhere {
        Some((function, _)) => atom_elsewhere(cx, function, site, &Pred::Const(true)),
        None => atom_at(cx, site, Pred::Const(true), usage.span),
    })
}

fn atom_at(cx: &mut Context<'_>, site: Site, pred: Pred, span: Span) -> Atom {
    let label = cx.label(site, pred, span);
    cx.atom(label, Vec::new())
}

/// A label of another function as an atom.
fn atom_elsewhere(cx: &Context<'_>, function: FuncId, site: Site, pred: &Pred) -> Atom {
    let label = cx.shared_flow().shared_label(function, site, pred);
    let label = label.expect("what is an atom elsewhere is shared");
    Atom { function, label, bindings: Vec::new() }
}
