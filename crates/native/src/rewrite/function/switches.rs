//! Puts probes on the ways out of a switch and of a computed `goto`.

use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_base::Span;
use lydian_ir::BlockId;
use lydian_ir::stmt::Edge;
use lydian_objective::LabelId;

use crate::rewrite::edges::ExitProbes;
use crate::rewrite::edits::{EditAction, rank};
use crate::rewrite::function::FunctionRewriter;
use crate::rewrite::request::Purpose;
use crate::rewrite::source::scan;
use crate::rewrite::switches::{SwitchEdit, SwitchExit};
use crate::rewrite::text::tree::Edit;
use crate::rewrite::uninstrumentable::NO_PLACE;

impl FunctionRewriter<'_, '_> {
    /// Puts probes on the ways out of a switch.
    pub(crate) fn switch(
        &mut self,
        block: lydian_ir::BlockId,
        ways: &[(u32, LabelId)],
        edits: &mut Vec<Edit<EditAction>>,
    ) {
        let site = self.body.source.switches.iter().find(|site| site.block == block);
        let lydian_ir::Terminator::Switch { cases, .. } = &self.body.blocks[block].term else {
            let labels: Vec<_> = ways.iter().map(|(_, label)| *label).collect();
            return self.add_uninstrumentable(&labels, "the edge is of no switch");
        };
        let Some(site) = site else {
            let labels: Vec<_> = ways.iter().map(|(_, label)| *label).collect();
            return self.add_uninstrumentable(&labels, NO_PLACE);
        };
        let mut by_way: IndexMap<u32, Vec<LabelId>> = IndexMap::new();
        ways.iter().for_each(|(way, label)| by_way.entry(*way).or_default().push(*label));
        if site.computed {
            let dispatch = self.labels_dispatch(block, cases, by_way);
            // Several `goto`s may lead to one dispatch.
            let sites = self.body.source.switches.iter().filter(|site| site.block == block);
            edits.extend(sites.map(|site| {
                let action = EditAction::Goto { dispatch: dispatch.clone() };
                Edit { span: site.operand, rank: rank::SWITCH, action }
            }));
            return;
        }
        let labels = cases.iter().map(|case| match case.low == case.high {
            true => format!("case {}", integer(case.low)),
            false => format!("case {} ... {}", integer(case.low), integer(case.high)),
        });
        let labels = labels.chain(std::iter::once("default".to_owned()));
        let (function, index) = (self.number, self.function.switches.len());
        let spans = cases.iter().map(|case| self.label_of_statement(case.span));
        let spans: Vec<Option<Span>> = spans.chain(std::iter::once(None)).collect();
        let ways = (0..).zip(labels).zip(&spans).map(|((way, label), at)| {
            let exit = self.on_edge(block, way, label, &mut by_way);
            SwitchExit { at_label: at.is_some(), ..exit }
        });
        let ways = ways.collect();
        edits.extend(spans.into_iter().enumerate().filter_map(|(way, span)| {
            let action = EditAction::Case { function, index, way };
            Some(Edit { span: span?, rank: rank::CASE, action })
        }));
        self.function.switches.push(SwitchEdit { block, ways });
        let action = EditAction::Switch { function, index };
        edits.push(Edit { span: site.operand, rank: rank::SWITCH, action });
    }

    /// The label of a case, if statements may stand before it and behind it.
    fn label_of_statement(&self, label: Span) -> Option<Span> {
        let map = self.request.map;
        let text = map.slice(label);
        let is_label = text.starts_with("case") && text.ends_with(':') && !text.contains('\n');
        let stands = || scan::begins_statement(map.text(), label.start as usize);
        (self.request.purpose == Purpose::Program && is_label && stands()).then_some(label)
    }

    /// The probes on one way out of a switch.
    fn on_edge(
        &mut self,
        block: BlockId,
        way: u32,
        label: String,
        by_way: &mut IndexMap<u32, Vec<LabelId>>,
    ) -> SwitchExit {
        let mut on_way = ExitProbes::default();
        if let Some(labels) = by_way.swap_remove(&way) {
            on_way.cells.push(self.plan.cell(self.number, labels));
        }
        let of = &self.function;
        for more in [of.flow.switches.get(&(block, way)), of.paths.switches.get(&(block, way))] {
            on_way.cells.extend(more.into_iter().flat_map(|more| &more.cells));
            on_way.text.extend(more.map(|more| more.text.as_str()));
        }
        let edge = Edge { from: block, way };
        on_way.text.extend(of.steps.get(&edge).map(String::as_str));
        on_way.text.extend(self.counters.on_edges.get(&edge).map(|count| format!("{count}; ")));
        let tables = of.tables_on_edge(edge).collect();
        SwitchExit { label, on_way, tables, at_label: false }
    }

    /// Comparisons with the addresses of labels tell where a computed `goto` goes.
    fn labels_dispatch(
        &mut self,
        block: BlockId,
        cases: &[lydian_ir::SwitchCase],
        mut by_way: IndexMap<u32, Vec<LabelId>>,
    ) -> String {
        let mut dispatch = String::new();
        for (way, case) in cases.iter().enumerate() {
            let Some(labels) = by_way.swap_remove(&(way as u32)) else { continue };
            let name = self.request.map.slice(case.span);
            if name.is_empty() {
                self.add_uninstrumentable(&labels, "the label has no place in the text");
                continue;
            }
            let cell = self.plan.cell(self.number, labels);
            let or = if dispatch.is_empty() { "" } else { "else " };
            let count = self.counters.on_edges.get(&Edge { from: block, way: way as u32 });
            let count = count.map_or(String::new(), |count| format!(", {count}"));
            let probe = format!("lydian_hit[{cell}] = 1{count}");
            let _ = write!(dispatch, "{or}if (lydian_x == &&{name}) {probe}; ");
        }
        dispatch
    }
}

/// An integer constant of C, of a type that holds it.
fn integer(value: i128) -> String {
    match value {
        -0x8000_0000_0000_0000 => "(-9223372036854775807l - 1)".to_owned(),
        _ if value > i128::from(i64::MAX) => format!("{value}ul"),
        _ => format!("{value}l"),
    }
}
