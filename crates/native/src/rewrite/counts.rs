//! Counters: how often control passed the entry of a function, its statements, and the ways of its
//! conditions and switches.
//!
//! A counter is a word of 64 bits of a second array. What is counted is a sum of counters, some of them
//! subtracted: what comes into a block goes out of it, so that one way of a condition is what came to
//! it without what went the other way, and where ways meet no counter is needed (Knuth, *The Art of
//! Computer Programming*, 1, 2.3.4.1; here in one pass forwards, in which what comes back to the head
//! of a loop is not known yet). A call may not return, so what stands behind one is counted anew.

use indexmap::IndexMap;
use lydian_base::EntityId as _;
use lydian_ir::cfg::{Cfg, Dominators, Loops};
use lydian_ir::stmt::Edge;
use lydian_ir::{BlockId, Body, ConditionId, DecisionId, MarkId, Stmt, Terminator};
use lydian_objective::{LabelId, Site};
use rustc_hash::{FxHashMap, FxHashSet};

use super::implied::Ends;
use super::tree::Edit;
use super::vectors::Recording;
use super::{Action, Watch, labels};
use crate::cc::FIRST_COUNTER;
use crate::plan::{Count, CountOf, Plan};

/// So many counters are added up at most; beyond that another counter costs less.
const MOST_TERMS: usize = 8;

/// Counters that are added, and those that are subtracted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Sum(Vec<(u32, bool)>);

impl Sum {
    fn of(counter: u32) -> Self {
        Self(vec![(counter, false)])
    }

    /// Adds another sum, or subtracts it; nothing where it gets too long.
    fn add(mut self, other: &Self, subtracts: bool) -> Option<Self> {
        for (counter, negative) in &other.0 {
            let term = (*counter, *negative != subtracts);
            match self.0.iter().position(|own| *own == (term.0, !term.1)) {
                Some(opposite) => _ = self.0.swap_remove(opposite),
                None => self.0.push(term),
            }
        }
        (self.0.len() <= MOST_TERMS).then_some(self)
    }
}

/// Where a function's counters are.
#[derive(Debug, Default)]
pub(super) struct Counters {
    /// At its entry: a statement.
    pub(super) entry: String,
    /// On ways out of switches: an expression.
    pub(super) on_edges: FxHashMap<Edge, String>,
}

/// Counters while they are placed.
struct Placing<'a> {
    plan: &'a mut Plan,
    body: &'a Body,
    function: u32,
    labels: &'a IndexMap<Site, Vec<LabelId>>,
    /// The conditions of which the text can count the ways, each with its decision.
    conditions: FxHashSet<(DecisionId, ConditionId)>,
    ends: Ends,
    cfg: Cfg,
    loops: Loops,
    /// What is known of edges.
    flows: FxHashMap<Edge, Sum>,
    at_marks: Vec<(MarkId, u32)>,
    on_ways: IndexMap<(DecisionId, ConditionId), [Option<u32>; 2]>,
    on_edges: FxHashMap<Edge, String>,
}

impl Placing<'_> {
    fn counter(&mut self) -> u32 {
        let counter = self.plan.counters;
        self.plan.counters += 1;
        counter
    }

    fn counts(&mut self, of: CountOf, sum: &Sum) {
        let count = Count { function: self.function, of, terms: sum.0.clone() };
        self.plan.counts.push(count);
    }

    fn counts_labels(&mut self, site: Site, sum: &Sum) {
        if let Some(labels) = self.labels.get(&site) {
            self.counts(CountOf::Labels(labels.clone()), sum);
        }
    }

    /// Whether a mark has labels and a place of its own in the text.
    fn is_counted(&self, mark: MarkId) -> bool {
        self.labels.contains_key(&Site::Mark(mark)) && !labels::is_user_label(self.body, mark)
    }

    /// How often control comes to a block, if that is known.
    fn comes_to(&self, block: BlockId, entry: &Sum) -> Option<Sum> {
        let is_entry = block == self.body.entry;
        let start = if is_entry { entry.clone() } else { Sum::default() };
        let before = self.cfg.predecessors(block).iter();
        let mut before = before.filter(|edge| self.cfg.is_reachable(edge.from));
        before.try_fold(start, |sum, edge| sum.add(self.flows.get(edge)?, false))
    }

    fn block(&mut self, block: BlockId, entry: &Sum) {
        let body = self.body;
        let mut here = self.comes_to(block, entry);
        for stmt in &body.blocks[block].stmts {
            match &body.stmts[*stmt] {
                Stmt::Mark(mark) if self.is_counted(*mark) => {
                    let sum = here.take().unwrap_or_else(|| {
                        let counter = self.counter();
                        self.at_marks.push((*mark, counter));
                        Sum::of(counter)
                    });
                    self.counts_labels(Site::Mark(*mark), &sum);
                    here = Some(sum);
                }
                Stmt::Call { .. } | Stmt::Havoc(_) => here = None,
                _ => {}
            }
        }
        match &body.blocks[block].term {
            Terminator::Goto(_) => {
                self.flows.extend(here.map(|sum| (Edge { from: block, way: 0 }, sum)));
            }
            Terminator::Branch { origin: Some(origin), .. } => {
                self.branch((origin.decision, origin.condition), here);
            }
            Terminator::Switch { cases, .. } => self.switch(block, cases.len() as u32 + 1),
            Terminator::Branch { origin: None, .. }
            | Terminator::Return(_)
            | Terminator::Trap(_) => {}
        }
    }

    /// The ways of a condition. Where several blocks evaluate it, what goes on from one is not known.
    fn branch(&mut self, of: (DecisionId, ConditionId), here: Option<Sum>) {
        if !self.conditions.contains(&of) || self.on_ways.contains_key(&of) {
            return;
        }
        let edges = [false, true].map(|value| self.ends.of_condition(of.0, of.1, value));
        let (here, edges) = match &edges {
            [no, yes] if no.len() == 1 && yes.len() == 1 => (here, Some([no[0], yes[0]])),
            _ => (None, None),
        };
        let left_out = here.zip(edges).map(|(here, edges)| (here, self.busier(edges)));
        let mut counters = [None; 2];
        for (way, counter) in counters.iter_mut().enumerate() {
            if left_out.as_ref().is_none_or(|(_, busier)| *busier != way) {
                *counter = Some(self.counter());
            }
        }
        let counted = |way: usize| counters[way].map(Sum::of);
        let sums = [0, 1].map(|way| match (counted(way), &left_out) {
            (Some(sum), _) => Some(sum),
            (None, Some((here, _))) => here.clone().add(&counted(1 - way)?, true),
            (None, None) => None,
        });
        if let [Some(no), Some(yes)] = &sums {
            self.counts(CountOf::Way(of.0, of.1, false), no);
            self.counts(CountOf::Way(of.0, of.1, true), yes);
            self.on_ways.insert(of, counters);
            let known = edges.into_iter().flatten().zip([no.clone(), yes.clone()]);
            self.flows.extend(known);
        } else {
            // The sum was too long.
            self.branch(of, None);
        }
    }

    /// The way that is likely to be taken more often: the one that stays in more loops, else the false
    /// one.
    fn busier(&self, edges: [Edge; 2]) -> usize {
        let depth = |edge: Edge| {
            let target = self.cfg.target(edge).and_then(|block| self.loops.innermost(block));
            target.map_or(0, |id| self.loops.loops[id].depth)
        };
        usize::from(depth(edges[1]) > depth(edges[0]))
    }

    fn switch(&mut self, block: BlockId, ways: u32) {
        for edge in (0..ways).map(|way| Edge { from: block, way }) {
            if self.labels.contains_key(&Site::Edge(edge)) {
                let counter = self.counter();
                self.counts_labels(Site::Edge(edge), &Sum::of(counter));
                self.on_edges.insert(edge, increment(counter));
                self.flows.insert(edge, Sum::of(counter));
            }
        }
    }
}

impl Watch<'_, '_> {
    /// Places counters for the labels of entry, statements and switches, and for the conditions of the
    /// decisions that are measured; none where nothing is to be counted.
    pub(super) fn count(
        &mut self,
        labels: &IndexMap<Site, Vec<LabelId>>,
        edits: &mut Vec<Edit<Action>>,
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
        let mut placing = Placing {
            body,
            function: self.number,
            labels,
            conditions: conditions.collect(),
            ends: Ends::new(body),
            loops: Loops::new(&cfg, &Dominators::new(&cfg)),
            cfg,
            flows: FxHashMap::default(),
            at_marks: Vec::new(),
            on_ways: IndexMap::new(),
            on_edges: FxHashMap::default(),
            plan: self.plan,
        };
        let entry = placing.counter();
        placing.counts_labels(Site::Entry, &Sum::of(entry));
        for block in placing.cfg.reverse_postorder().to_vec() {
            placing.block(block, &Sum::of(entry));
        }
        let Placing { at_marks, on_ways, on_edges, .. } = placing;
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

/// Forgets what the texts do not count after all, since an edit was lost.
pub(super) fn forget_lost<'t>(plan: &mut Plan, texts: impl Iterator<Item = &'t str>) {
    if plan.counts.is_empty() {
        return;
    }
    let mut placed = FxHashSet::default();
    for text in texts {
        let number = |part: &str| part.split_once(']')?.0.parse::<u32>().ok();
        placed.extend(text.split("lydian_counts[").skip(1).filter_map(number));
    }
    let is_placed = |term: &(u32, bool)| placed.contains(&(FIRST_COUNTER as u32 + term.0));
    plan.counts.retain(|count| count.terms.iter().all(is_placed));
}

fn increment(counter: u32) -> String {
    format!("lydian_counts[{}]++", FIRST_COUNTER as u32 + counter)
}

#[cfg(test)]
mod tests {
    use super::Sum;

    #[test]
    fn what_is_added_and_subtracted_vanishes() {
        let sum = |terms: &[(u32, bool)]| Sum(terms.to_vec());
        let one_way = Sum::of(1).add(&Sum::of(2), true).expect("it is short");
        assert_eq!(one_way, sum(&[(1, false), (2, true)]));
        assert_eq!(one_way.add(&Sum::of(2), false), Some(Sum::of(1)));
        assert_eq!(Sum::default().add(&sum(&[(1, false); 9]), false), None);
    }
}
