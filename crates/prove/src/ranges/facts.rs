//! The facts about registers and memory at the sites of labels.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::source::Point;
use lydian_ir::stmt::Terminator;
use lydian_ir::{BlockId, ConditionId, DecisionId, Expr, ExprId, LocalId, Stmt, Type};
use lydian_objective::Site;

use super::{Interval, Number, Ranges, State};

/// The facts at a site.
pub(crate) enum SiteFacts {
    /// No run passes it.
    Unreachable,
    /// The facts that hold in every run that passes it.
    Reachable(RegisterFacts),
}

/// Facts about registers and cells.
#[derive(Default)]
pub(crate) struct RegisterFacts {
    /// The values that they can have.
    pub(crate) ranges: BTreeMap<LocalId, Interval>,
    /// The unsigned numbers that they can be, if these are more precise.
    pub(crate) unsigned: BTreeMap<LocalId, Interval>,
    /// Pointers that are null, and pointers that are not.
    pub(crate) nulls: BTreeMap<LocalId, bool>,
    /// Upper bounds on the difference of two numbers.
    pub(crate) differences: Vec<((Number, Number), i128)>,
    /// Alternatives: one case of each list holds, in which registers have the given values.
    pub(crate) cases: Vec<Vec<Vec<(LocalId, Interval)>>>,
}

impl Ranges<'_> {
    /// The cells with facts: their types, and expressions of their addresses.
    pub(crate) fn cells_of(
        &self,
        known: &RegisterFacts,
    ) -> impl Iterator<Item = (LocalId, Type, ExprId)> {
        let related = known.differences.iter().flat_map(|((x, y), _)| [x.0, y.0]);
        let named: BTreeSet<LocalId> = known
            .ranges
            .keys()
            .chain(known.unsigned.keys())
            .chain(known.nulls.keys())
            .copied()
            .chain(related)
            .collect();
        self.loads.all().filter(move |(cell, _)| named.contains(cell)).filter_map(|(cell, load)| {
            match self.body.exprs[load] {
                Expr::Load { ty, addr, .. } => Some((cell, ty, addr)),
                _ => None,
            }
        })
    }

    /// The facts where a condition of a decision was evaluated and did not trap.
    pub(crate) fn at_condition(&self, decision: DecisionId, condition: ConditionId) -> SiteFacts {
        let branches = self.branches_of(decision, Some(condition));
        let blocks: Vec<BlockId> = branches.collect();
        self.joined_at(blocks, |block| self.choosing(block))
    }

    /// The facts where the labels of a site are judged.
    pub(crate) fn at(&self, site: Site) -> SiteFacts {
        let anywhere = || SiteFacts::Reachable(RegisterFacts::default());
        let points: Vec<Point> = match site {
            Site::Root(root) => self.body.source.roots[root].points().collect(),
            Site::Stmt(stmt) => {
                let copies = self.body.source.copies.iter();
                let copies = copies.filter(|(_, of)| **of == stmt).map(|(copy, _)| *copy);
                std::iter::once(stmt).chain(copies).map(Point::Stmt).collect()
            }
            Site::Mark(mark) => {
                let stmts = self.body.stmts.iter();
                let marks = stmts.filter(|(_, stmt)| matches!(stmt, Stmt::Mark(m) if *m == mark));
                marks.map(|(id, _)| Point::Stmt(id)).collect()
            }
            Site::Decision(decision) => self.branches_of(decision, None).map(Point::Term).collect(),
            Site::Edge(edge) => return SiteFacts::from(self.on_edge(edge)),
            Site::Entry | Site::Start | Site::Block(_) | Site::Condition(..) => return anywhere(),
        };
        self.before_all(points)
    }

    /// The facts that hold just before each of several points.
    fn before_all(&self, points: Vec<Point>) -> SiteFacts {
        self.joined_at(points, |point| self.before(point))
    }

    /// The facts that hold at each of several places.
    fn joined_at<P>(&self, places: Vec<P>, state: impl Fn(P) -> Option<State>) -> SiteFacts {
        if places.is_empty() {
            return SiteFacts::Reachable(RegisterFacts::default());
        }
        let states = places.into_iter().filter_map(state);
        SiteFacts::from(states.reduce(|all, next| self.joined(all, &next)))
    }

    /// The blocks that evaluate a decision's conditions, or one of them. If nothing in the decision
    /// has an effect, the state at its outcome is that at one of these.
    fn branches_of(
        &self,
        decision: DecisionId,
        condition: Option<ConditionId>,
    ) -> impl Iterator<Item = BlockId> {
        let of_decision = move |term: &Terminator| match term {
            Terminator::Branch { origin: Some(origin), .. } => {
                let is_asked = condition.is_none_or(|condition| origin.condition == condition);
                origin.decision == decision && is_asked
            }
            _ => false,
        };
        let blocks = self.body.blocks.iter().filter(move |(_, block)| of_decision(&block.term));
        blocks.map(|(id, _)| id)
    }
}

impl From<Option<State>> for SiteFacts {
    fn from(state: Option<State>) -> Self {
        state.map_or(
            Self::Unreachable,
            |State { ranges, unsigned, nulls, differences, results, .. }| {
                let cases =
                    results.iter().map(|(result, call)| call.said(*result, &ranges)).collect();
                Self::Reachable(RegisterFacts {
                    ranges,
                    unsigned,
                    nulls,
                    differences: differences.iter().collect(),
                    cases,
                })
            },
        )
    }
}
