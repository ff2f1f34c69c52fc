//! Counters: how often control passed the entry of a function, its statements, and the ways of its
//! conditions and switches.
//!
//! A counter is a word of 64 bits in a second array. A count is a sum of counters, some of them
//! subtracted. Control that enters a block leaves it, so one way of a condition is the count of the
//! condition minus the count of the other way, and no counter is needed where ways meet (Knuth,
//! *The Art of Computer Programming*, 1, 2.3.4.1; here in one pass forwards, in which the count of
//! a loop's back edge is not known yet). A call may not return, so the statements after it are
//! counted anew.

use indexmap::IndexMap;
use lydian_ir::cfg::{Cfg, Loops};
use lydian_ir::stmt::Edge;
use lydian_ir::{BlockId, Body, ConditionId, DecisionId, MarkId, Stmt, Terminator};
use lydian_objective::{LabelId, Site};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::FIRST_COUNTER;
use crate::plan::{Count, CountOf, Plan};
use crate::rewrite::edges::DecisionEdges;
use crate::rewrite::text::user_labels;

/// So many counters are added up at most; beyond that another counter costs less.
const MOST_TERMS: usize = 8;

/// A sum of counters: each with whether it is subtracted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CounterSum(Vec<(u32, bool)>);

impl CounterSum {
    pub(crate) fn of(counter: u32) -> Self {
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
pub(crate) struct Counters {
    /// At its entry: a statement.
    pub(crate) entry: String,
    /// On ways out of switches: an expression.
    pub(crate) on_edges: FxHashMap<Edge, String>,
}

/// Counters while they are placed.
pub(crate) struct CounterPlacement<'a> {
    pub(crate) plan: &'a mut Plan,
    pub(crate) body: &'a Body,
    pub(crate) function: u32,
    pub(crate) labels: &'a IndexMap<Site, Vec<LabelId>>,
    /// The conditions of which the text can count the ways, each with its decision.
    pub(crate) conditions: FxHashSet<(DecisionId, ConditionId)>,
    pub(crate) ends: DecisionEdges,
    pub(crate) cfg: Cfg,
    pub(crate) loops: Loops,
    /// The counts of edges, as far as they are known.
    pub(crate) flows: FxHashMap<Edge, CounterSum>,
    pub(crate) at_marks: Vec<(MarkId, u32)>,
    pub(crate) on_ways: IndexMap<(DecisionId, ConditionId), [Option<u32>; 2]>,
    pub(crate) on_edges: FxHashMap<Edge, String>,
}

impl CounterPlacement<'_> {
    pub(crate) fn counter(&mut self) -> u32 {
        let counter = self.plan.counters;
        self.plan.counters += 1;
        counter
    }

    fn counts(&mut self, of: CountOf, sum: &CounterSum) {
        let count = Count { function: self.function, of, terms: sum.0.clone() };
        self.plan.counts.push(count);
    }

    pub(crate) fn counts_labels(&mut self, site: Site, sum: &CounterSum) {
        if let Some(labels) = self.labels.get(&site) {
            self.counts(CountOf::Labels(labels.clone()), sum);
        }
    }

    /// Whether a mark has labels and a place of its own in the text.
    fn is_counted(&self, mark: MarkId) -> bool {
        self.labels.contains_key(&Site::Mark(mark)) && !user_labels::is_user_label(self.body, mark)
    }

    /// How often control comes to a block, if that is known.
    fn comes_to(&self, block: BlockId, entry: &CounterSum) -> Option<CounterSum> {
        let is_entry = block == self.body.entry;
        let start = if is_entry { entry.clone() } else { CounterSum::default() };
        let before = self.cfg.predecessors(block).iter();
        let mut before = before.filter(|edge| self.cfg.is_reachable(edge.from));
        before.try_fold(start, |sum, edge| sum.add(self.flows.get(edge)?, false))
    }

    pub(crate) fn block(&mut self, block: BlockId, entry: &CounterSum) {
        let body = self.body;
        let mut here = self.comes_to(block, entry);
        for stmt in &body.blocks[block].stmts {
            match &body.stmts[*stmt] {
                Stmt::Mark(mark) if self.is_counted(*mark) => {
                    let sum = here.take().unwrap_or_else(|| {
                        let counter = self.counter();
                        self.at_marks.push((*mark, counter));
                        CounterSum::of(counter)
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

    /// Counts the ways of a condition. If several blocks evaluate it, the counts of each block's
    /// edges are not known.
    fn branch(&mut self, of: (DecisionId, ConditionId), here: Option<CounterSum>) {
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
        let counted = |way: usize| counters[way].map(CounterSum::of);
        let sums = [0, 1].map(|way| match (counted(way), &left_out) {
            (Some(sum), _) => Some(sum),
            (None, Some((here, _))) => here.clone().add(&counted(1 - way)?, true),
            (None, None) => None,
        });
        if let [Some(no), Some(yes)] = &sums {
            self.counts(count_of(of, false), no);
            self.counts(count_of(of, true), yes);
            self.on_ways.insert(of, counters);
            let known = edges.into_iter().flatten().zip([no.clone(), yes.clone()]);
            self.flows.extend(known);
        } else {
            // The sum was too long.
            self.branch(of, None);
        }
    }

    /// The way that is likely to be taken more often: the one that stays in more loops, else the
    /// false one.
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
                self.counts_labels(Site::Edge(edge), &CounterSum::of(counter));
                self.on_edges.insert(edge, increment(counter));
                self.flows.insert(edge, CounterSum::of(counter));
            }
        }
    }
}

/// Removes the counts whose counters stand in no text, since an edit was refused.
pub(crate) fn forget_uncounted<'t>(plan: &mut Plan, texts: impl Iterator<Item = &'t str>) {
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

fn count_of((decision, condition): (DecisionId, ConditionId), value: bool) -> CountOf {
    CountOf::Condition { decision, condition, value }
}

pub(crate) fn increment(counter: u32) -> String {
    format!("lydian_counts[{}]++", FIRST_COUNTER as u32 + counter)
}

#[cfg(test)]
mod tests {
    use super::CounterSum;

    #[test]
    fn what_is_added_and_subtracted_vanishes() {
        let sum = |terms: &[(u32, bool)]| CounterSum(terms.to_vec());
        let one_way = CounterSum::of(1).add(&CounterSum::of(2), true).expect("it is short");
        assert_eq!(one_way, sum(&[(1, false), (2, true)]));
        assert_eq!(one_way.add(&CounterSum::of(2), false), Some(CounterSum::of(1)));
        assert_eq!(CounterSum::default().add(&sum(&[(1, false); 9]), false), None);
    }
}
