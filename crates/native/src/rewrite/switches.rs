//! Records on the ways out of a switch and of a computed `goto`.

use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_ir::Type;
use lydian_ir::stmt::Edge;
use lydian_objective::LabelId;

use super::tree::Edit;
use super::{Action, NO_PLACE, Watch, rank};

/// So many values a case may a switch have from its least case to its greatest one to be recorded
/// by one store.
const SPARSE: usize = 4;

impl Watch<'_, '_> {
    /// An inner switch on the captured operand tells which way the user's switch goes.
    pub(super) fn switch(
        &mut self,
        block: lydian_ir::BlockId,
        ways: &[(u32, LabelId)],
        edits: &mut Vec<Edit<Action>>,
    ) {
        let site = self.body.source.switches.iter().find(|site| site.block == block);
        let lydian_ir::Terminator::Switch { cases, value, .. } = &self.body.blocks[block].term
        else {
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
        let is_wide = self.body.type_in(&self.body.exprs, *value) == Type::Int(128);
        if let Some(dispatch) =
            (!is_wide).then(|| self.dense_dispatch(block, cases, &by_way)).flatten()
        {
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

    /// One store for all ways of a switch whose cases lie close to each other: a cell for each value
    /// between the least and the greatest one, and one for all others. None where more than labels
    /// is recorded.
    fn dense_dispatch(
        &mut self,
        block: lydian_ir::BlockId,
        cases: &[lydian_ir::SwitchCase],
        by_way: &IndexMap<u32, Vec<LabelId>>,
    ) -> Option<String> {
        let least = cases.iter().map(|case| case.low).min()?;
        let greatest = cases.iter().map(|case| case.high).max()?;
        let values = usize::try_from(greatest.checked_sub(least)?).ok()?.checked_add(1)?;
        let fits = |value: i128| i64::try_from(value).is_ok();
        let has_more = (0..=cases.len() as u32).any(|way| {
            let at = &(block, way);
            self.function.flow.switches.contains_key(at)
                || self.function.paths.switches.contains_key(at)
                || self.function.steps.contains_key(&Edge { from: block, way })
        });
        if has_more || values > SPARSE * cases.len() || !fits(least) || !fits(greatest) {
            return None;
        }
        let labels = |way: usize| by_way.get(&(way as u32)).cloned().unwrap_or_default();
        let first = self.plan.cells.len();
        for value in least..=greatest {
            let way = cases.iter().position(|case| (case.low..=case.high).contains(&value));
            self.plan.cell(self.number, labels(way.unwrap_or(cases.len())));
        }
        let others = self.plan.cell(self.number, labels(cases.len()));
        let least = integer(least);
        Some(format!(
            "{{ unsigned long long lydian_w = (unsigned long long)lydian_x - {least}; \
             lydian_hit[lydian_w < {values}ull ? {first} + lydian_w : {others}] = 1; }}"
        ))
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
