//! ALL-DEFS and ALL-USES: sequences from a definition to a use without another definition between.

use lydian_base::{EntityId, Span};
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use rustc_hash::FxHashMap;

use super::{Annotator, Context};
use crate::criterion::Criterion;
use crate::dataflow::{DataFlow, DefUse, Definition, DefinitionId, DefinitionSite, Use, UseSite};
use crate::formula::signed;
use crate::hyper::{Atom, Formula, Hyper, Obligation, Passage, Scope, Sequence, SequenceId};
use crate::label::{Pred, Site};

/// About how many bytes of a text are shown.
const SNIPPET: usize = 32;

/// ALL-DEFS: each definition reaches one of its uses ([002] V-D2).
pub(super) struct AllDefinitions;

impl Annotator for AllDefinitions {
    fn criterion(&self) -> Criterion {
        Criterion::AllDefs
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let flow = cx.data_flow();
        let mut by_definition: FxHashMap<DefinitionId, Vec<DefUse>> = FxHashMap::default();
        for pair in flow.pairs(cx.body) {
            by_definition.entry(pair.definition).or_default().push(pair);
        }
        for index in 0..flow.definitions.len() {
            let id = DefinitionId::from_index(index);
            let Some(pairs) = by_definition.remove(&id) else { continue };
            let definition = flow.definition(id);
            let mut alternatives: Vec<Hyper> =
                pairs.iter().map(|pair| Hyper::Sequence(sequence(cx, &flow, *pair))).collect();
            // One pair alone is the objective of ALL-USES, which says its own text.
            let (hyper, text) = match &pairs[..] {
                [one] => (alternatives.remove(0), said(cx, &flow, *one)),
                _ => {
                    let text = format!("{} reaches a use", defined(cx, definition));
                    (Hyper::Any(alternatives), text)
                }
            };
            let name = format!("{} {}", variable(cx, definition), definition.number);
            cx.push_hyper(hyper, definition.span, name, text);
        }
    }
}

/// ALL-USES: each definition reaches each use that it can reach ([002] example 3), a p-use once
/// for each way out of it.
pub(super) struct AllUses;

impl Annotator for AllUses {
    fn criterion(&self) -> Criterion {
        Criterion::AllUses
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let flow = cx.data_flow();
        for pair in flow.pairs(cx.body) {
            let definition = flow.definition(pair.definition);
            let usage = flow.usage(pair.usage);
            let hyper = Hyper::Sequence(sequence(cx, &flow, pair));
            let text = said(cx, &flow, pair);
            let variable = variable(cx, definition);
            let name = match usage.at {
                UseSite::Stmt(_) | UseSite::Return(_) => {
                    format!("{variable} {} to {}", definition.number, pair.usage)
                }
                UseSite::Condition(..) | UseSite::Switch(_) => {
                    let way = way_name(cx, usage.at, pair.way);
                    format!("{variable} {} to {} {way}", definition.number, pair.usage)
                }
            };
            cx.push_hyper(hyper, definition.span, name, text);
        }
    }
}

/// A pair in words.
fn said(cx: &Context<'_>, flow: &DataFlow, pair: DefUse) -> String {
    let (definition, usage) = (flow.definition(pair.definition), flow.usage(pair.usage));
    format!("{} reaches {}", defined(cx, definition), used(cx, usage, pair.way))
}

fn variable(cx: &Context<'_>, definition: &Definition) -> String {
    cx.body.locals[definition.variable].name.clone()
}

/// A definition in words.
fn defined(cx: &Context<'_>, definition: &Definition) -> String {
    let name = variable(cx, definition);
    match definition.at {
        DefinitionSite::Entry => format!("the parameter {name}"),
        DefinitionSite::Stmt(_) => {
            let line = cx.map.place(definition.span.start).line;
            format!("{name} of `{}` in line {line}", snippet(cx, definition.span))
        }
    }
}

/// The beginning of a text, on one line.
fn snippet(cx: &Context<'_>, span: Span) -> String {
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
    let line = cx.map.place(usage.span.start).line;
    match usage.at {
        UseSite::Stmt(_) => {
            let text = snippet(cx, usage.span);
            match text == cx.body.locals[usage.variable].name {
                true => format!("its use in line {line}"),
                false => format!("its use in `{text}` in line {line}"),
            }
        }
        UseSite::Return(_) => format!("the return in line {line}"),
        UseSite::Condition(..) => {
            format!("the condition in line {line}, {}", way_name(cx, usage.at, way))
        }
        UseSite::Switch(_) => {
            format!("the switch in line {line}, {}", way_name(cx, usage.at, way))
        }
    }
}

fn way_name(cx: &Context<'_>, at: UseSite, way: u32) -> String {
    match at {
        UseSite::Condition(..) => (way == 1).to_string(),
        UseSite::Switch(block) => match &cx.body.blocks[block].term {
            lydian_ir::stmt::Terminator::Switch { cases, .. } => cases
                .get(way as usize)
                .map_or_else(|| "default".to_owned(), |case| format!("case {}", case.low)),
            _ => String::new(),
        },
        UseSite::Stmt(_) | UseSite::Return(_) => String::new(),
    }
}

/// The sequence of a pair, one for all criteria.
fn sequence(cx: &mut Context<'_>, flow: &DataFlow, pair: DefUse) -> SequenceId {
    if let Some(known) = cx.pairs.get(&pair) {
        return *known;
    }
    let definition = flow.definition(pair.definition);
    let usage = flow.usage(pair.usage);
    let first = definition_atom(cx, definition);
    let second = use_atom(cx, usage, pair.way);
    let others = flow
        .definitions
        .iter()
        .filter(|other| other.variable == definition.variable && other.at != definition.at);
    let forbidden = others.filter_map(|other| match other.at {
        DefinitionSite::Entry => None,
        DefinitionSite::Stmt(stmt) => Some(Obligation {
            function: first.function,
            site: Site::Stmt(stmt),
            holds: Formula::Number(0),
        }),
    });
    let passage = Passage::Obliged(forbidden.collect());
    let id = cx.sequence(Sequence {
        atoms: vec![first, second],
        passages: vec![passage],
        scope: Scope::Activation,
        flow: Some(pair),
    });
    cx.pairs.insert(pair, id);
    id
}

fn definition_atom(cx: &mut Context<'_>, definition: &Definition) -> Atom {
    let (site, span) = match definition.at {
        DefinitionSite::Entry => (Site::Entry, cx.function.span),
        DefinitionSite::Stmt(stmt) => (Site::Stmt(stmt), definition.span),
    };
    atom_at(cx, site, Pred::Const(true), span)
}

fn use_atom(cx: &mut Context<'_>, usage: &Use, way: u32) -> Atom {
    let (site, pred) = match usage.at {
        UseSite::Stmt(stmt) => (Site::Stmt(stmt), Pred::Const(true)),
        UseSite::Return(block) => {
            let roots = cx.body.source.roots.iter();
            let mut of_block = roots.filter(|(_, root)| root.point == Point::Term(block));
            match of_block.next() {
                Some((root, _)) => (Site::Root(root), Pred::Const(true)),
                None => (Site::Entry, Pred::Const(false)),
            }
        }
        UseSite::Condition(decision, condition) => {
            (Site::Condition(decision, condition), signed(Pred::Cond(condition), way == 1))
        }
        UseSite::Switch(from) => (Site::Edge(Edge { from, way }), Pred::Const(true)),
    };
    atom_at(cx, site, pred, usage.span)
}

fn atom_at(cx: &mut Context<'_>, site: Site, pred: Pred, span: Span) -> Atom {
    let label = cx.label(site, pred, span);
    cx.atom(label, Vec::new())
}
