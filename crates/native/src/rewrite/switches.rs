//! Records on the ways out of a switch and of a computed `goto`.

use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_ir::stmt::Edge;
use lydian_objective::LabelId;

use super::tree::Edit;
use super::{Action, NO_PLACE, Watch, rank};

impl Watch<'_, '_> {
    /// An inner switch on the captured operand tells which way the user's switch goes.
    pub(super) fn switch(
        &mut self,
        block: lydian_ir::BlockId,
        ways: &[(u32, LabelId)],
        edits: &mut Vec<Edit<Action>>,
    ) {
        let site = self.body.source.switches.iter().find(|site| site.block == block);
        let lydian_ir::Terminator::Switch { cases, .. } = &self.body.blocks[block].term else {
            let labels: Vec<_> = ways.iter().map(|(_, label)| *label).collect();
            return self.unwatch(&labels, "the edge is of no switch");
        };
        let Some(site) = site else {
            let labels: Vec<_> = ways.iter().map(|(_, label)| *label).collect();
            return self.unwatch(&labels, NO_PLACE);
        };
        let mut by_way: IndexMap<u32, Vec<LabelId>> = IndexMap::new();
        ways.iter().for_each(|(way, label)| by_way.entry(*way).or_default().push(*label));
        if site.computed {
            let dispatch = self.labels_dispatch(cases, by_way);
            let action = Action::Switch { dispatch };
            edits.push(Edit { span: site.operand, rank: rank::SWITCH, action });
            return;
        }
        let mut dispatch = String::from("switch (lydian_x) { ");
        for (way, case) in cases.iter().enumerate() {
            let range = match case.low == case.high {
                true => integer(case.low),
                false => format!("{} ... {}", integer(case.low), integer(case.high)),
            };
            let record = self.on_edge(block, way as u32, &mut by_way);
            let _ = write!(dispatch, "case {range}: {record}break; ");
        }
        let default = self.on_edge(block, cases.len() as u32, &mut by_way);
        let _ = write!(dispatch, "default: {default}break; }}");
        let action = Action::Switch { dispatch };
        edits.push(Edit { span: site.operand, rank: rank::SWITCH, action });
    }

    /// What is recorded on one way out of a switch.
    fn on_edge(
        &mut self,
        block: lydian_ir::BlockId,
        way: u32,
        by_way: &mut IndexMap<u32, Vec<LabelId>>,
    ) -> String {
        let record = by_way.swap_remove(&way).map_or(String::new(), |labels| {
            format!("lydian_hit[{}] = 1; ", self.plan.cell(self.number, labels))
        });
        let flow = self.function.flow.switches.get(&(block, way));
        let path = self.function.paths.switches.get(&(block, way));
        let steps = self.function.steps.get(&Edge { from: block, way });
        flow.into_iter().chain(path).chain(steps).fold(record, |record, more| record + more)
    }

    /// Comparisons with the addresses of labels tell where a computed `goto` goes.
    fn labels_dispatch(
        &mut self,
        cases: &[lydian_ir::SwitchCase],
        mut by_way: IndexMap<u32, Vec<LabelId>>,
    ) -> String {
        let mut dispatch = String::new();
        for (way, case) in cases.iter().enumerate() {
            let Some(labels) = by_way.swap_remove(&(way as u32)) else { continue };
            let name = self.request.map.slice(case.span);
            if name.is_empty() {
                self.unwatch(&labels, "the label has no place in the text");
                continue;
            }
            let cell = self.plan.cell(self.number, labels);
            let _ = write!(dispatch, "if (lydian_x == &&{name}) lydian_hit[{cell}] = 1; ");
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
