//! Puts the counters of a function into its text.

use indexmap::IndexMap;
use lydian_base::EntityId as _;
use lydian_ir::ConditionId;
use lydian_ir::cfg::{Cfg, Dominators, Loops};
use lydian_objective::{LabelId, Site};
use rustc_hash::FxHashMap;

use crate::rewrite::counters::{CounterPlacement, CounterSum, Counters, increment};
use crate::rewrite::decision::vectors::Recording;
use crate::rewrite::edges::DecisionEdges;
use crate::rewrite::edits::EditAction;
use crate::rewrite::function::FunctionRewriter;
use crate::rewrite::text::tree::Edit;

impl FunctionRewriter<'_, '_> {
    /// Places counters for the labels of the entry, of statements and of switches, and for the
    /// conditions of measured decisions. Places none if the request asks for no counts.
    pub(crate) fn count(
        &mut self,
        labels: &IndexMap<Site, Vec<LabelId>>,
        edits: &mut Vec<Edit<EditAction>>,
    ) -> Counters {
        if !self.request.counts {
            return Counters::default();
        }
        let body = self.body;
        let measured = self.function.decisions.iter();
        let measured = measured.filter(|edit| !matches!(edit.recording(), Recording::Nothing));
        let conditions = measured.flat_map(|edit| {
            (0..edit.conditions()).map(|index| (edit.id, ConditionId::from_index(index)))
        });
        let cfg = Cfg::new(body);
        let mut placing = CounterPlacement {
            body,
            function: self.number,
            labels,
            conditions: conditions.collect(),
            ends: DecisionEdges::new(body),
            loops: Loops::new(&cfg, &Dominators::new(&cfg)),
            cfg,
            flows: FxHashMap::default(),
            at_marks: Vec::new(),
            on_ways: IndexMap::new(),
            on_edges: FxHashMap::default(),
            plan: self.plan,
        };
        let entry = placing.counter();
        placing.counts_labels(Site::Entry, &CounterSum::of(entry));
        for block in placing.cfg.reverse_postorder().to_vec() {
            placing.block(block, &CounterSum::of(entry));
        }
        let CounterPlacement { at_marks, on_ways, on_edges, .. } = placing;
        for (mark, counter) in at_marks {
            if let Some(site) = body.source.marks.iter().find(|site| site.mark == mark) {
                edits.push(self.at_mark(site, None, format!("{}; ", increment(counter))));
            }
        }
        for ((decision, condition), counters) in on_ways {
            let texts = counters.map(|counter| {
                counter.map_or(String::new(), |counter| format!("{}, ", increment(counter)))
            });
            let mut decisions = self.function.decisions.iter_mut();
            if let Some(edit) = decisions.find(|edit| edit.id == decision) {
                edit.on_ways(condition, &texts);
            }
        }
        Counters { entry: format!("{}; ", increment(entry)), on_edges }
    }
}
