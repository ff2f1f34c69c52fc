//! What is known of registers and memory where labels are judged.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::source::Point;
use lydian_ir::stmt::Terminator;
use lydian_ir::{BlockId, ConditionId, DecisionId, Expr, ExprId, LocalId, Stmt, Type};
use lydian_objective::Site;

use super::{Interval, Number, Ranges, State};

/// What is known at a site.
pub(crate) enum SiteFacts {
    /// No run passes it.
    Unreachable,
    /// What every run that passes it has there.
    Reachable(RegisterFacts),
}

/// What is known of registers.
#[derive(Default)]
pub(crate) struct RegisterFacts {
    /// The values that they can have.
    pub(crate) ranges: BTreeMap<LocalId, Interval>,
    /// The unsigned numbers that they can be, where these say more.
    pub(crate) unsigned: BTreeMap<LocalId, Interval>,
    /// Pointers that are null, and pointers that are not.
    pub(crate) nulls: BTreeMap<LocalId, bool>,
    /// What the difference of the first and the second number is at most.
    pub(crate) differences: Vec<((Number, Number), i128)>,
    /// Of each list one case is so: what registers there have the values that it says.
    pub(crate) cases: Vec<Vec<Vec<(LocalId, Interval)>>>,
}

impl Ranges<'_> {
    /// The cells of which something is known: their types, and expressions of their addresses.
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

    /// What is known where a condition of a decision was evaluated and did not trap.
    pub(crate) fn at_condition(&self, decision: DecisionId, condition: ConditionId) -> SiteFacts {
        let branches = self.branches_of(decision, Some(condition));
        let blocks: Vec<BlockId> = branches.collect();
        self.joined_at(blocks, |block| self.choosing(block))
    }

    /// What is known where a site's labels are judged.
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

    /// What is known just before one of some points, whichever it is.
    fn before_all(&self, points: Vec<Point>) -> SiteFacts {
        self.joined_at(points, |point| self.before(point))
    }

    /// What is known at one of some places, whichever it is.
    fn joined_at<P>(&self, places: Vec<P>, state: impl Fn(P) -> Option<State>) -> SiteFacts {
        if places.is_empty() {
            return SiteFacts::Reachable(RegisterFacts::default());
        }
        let states = places.into_iter().filter_map(state);
        SiteFacts::from(states.reduce(|all, next| self.joined(all, &next)))
    }

    /// Where a decision's conditions are evaluated, or one of them. If nothing in it has an effect, the
    /// state at its outcome is that at one of these.
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
