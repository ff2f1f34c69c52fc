//! Rules 19 to 21: decisions, and the branches that evaluate them.

use std::fmt::Display;

use lydian_base::EntityId;
use rustc_hash::FxHashSet;

use super::violation::{BodyContext, Rule, Violations};
use crate::cfg::Cfg;
use crate::program::arith::Overflow;
use crate::program::decision::{BoolTree, Decision, DecisionId, Purity, UnreachedValue};
use crate::program::expr::Type;
use crate::program::stmt::{BlockId, BranchOrigin, MarkKind, Terminator};
use crate::trap::may_trap;

/// How many states of one decision are looked at; beyond that its rest is taken on trust.
const MAX_STATES: usize = 20_000;

pub(super) fn check(scope: &BodyContext<'_>, found: &mut Violations) {
    for (id, decision) in scope.body.decisions.iter() {
        if one_decision(scope, decision, id, found) {
            origins(scope, id, decision, found);
        }
    }
    for (id, mark) in scope.body.marks.iter() {
        if let MarkKind::UserLabel { predicate, .. } = &mark.kind {
            one_decision(scope, predicate, id, found);
        }
    }
}

/// Rules 19 and 21.
fn one_decision(
    scope: &BodyContext<'_>,
    decision: &Decision,
    name: impl Display,
    found: &mut Violations,
) -> bool {
    let mut uses = vec![0u32; decision.conditions.len()];
    decision.tree.for_each_condition(&mut |condition| uses[condition.index()] += 1);
    for (id, condition) in decision.conditions.iter() {
        found.require(uses[id.index()] == 1, Rule::Trees, || {
            format!("the tree of {name} has {id} {} times", uses[id.index()])
        });
        found.require(scope.types[condition.expr] == Type::BOOL, Rule::Trees, || {
            format!("{id} of {name} is no i1")
        });
        let (program, body) = (scope.program, scope.body);
        let traps = |expr| may_trap(program, body, &body.exprs, expr, Overflow::Wrap);
        if condition.purity == Purity::Pure {
            found.require(!traps(condition.expr), Rule::Purity, || {
                format!("{id} of {name} is called pure but may trap")
            });
        }
        if let Some(expr) = condition.unreached.expr() {
            found.require(scope.types[expr] == Type::BOOL, Rule::Trees, || {
                format!("{id} of {name} is no i1 where it is not reached")
            });
            let always = matches!(condition.unreached, UnreachedValue::Always(_));
            found.require(!always || !traps(expr), Rule::Purity, || {
                format!("{id} of {name} is said to have a value always but may trap")
            });
        }
    }
    uses.iter().all(|uses| *uses == 1)
}

/// Rule 20: follows all paths from the branches that begin an evaluation.
fn origins(scope: &BodyContext<'_>, id: DecisionId, decision: &Decision, found: &mut Violations) {
    let branches = branches_of(scope, id);
    let mut walk =
        Walk { scope, id, seen: FxHashSet::default(), met: FxHashSet::default(), work: vec![] };
    let start = decision.tree.settled();
    for (block, origin) in &branches {
        if origin.begins {
            walk.met.insert(*block);
            walk.branch(*block, origin, &start, found);
        }
    }
    while let Some((block, rest)) = walk.work.pop() {
        if walk.seen.len() > MAX_STATES {
            return;
        }
        walk.block(block, rest, found);
    }
    let cfg = Cfg::new(scope.body);
    for (block, _) in branches {
        let holds = walk.met.contains(&block) || !cfg.is_reachable(block);
        found.require(holds, Rule::Origins, || {
            format!("no branch that begins {id} leads to the one of {block}")
        });
    }
}

fn branches_of(scope: &BodyContext<'_>, id: DecisionId) -> Vec<(BlockId, BranchOrigin)> {
    let origin = |term: &Terminator| match term {
        Terminator::Branch { origin, .. } => origin.filter(|origin| origin.decision == id),
        _ => None,
    };
    let blocks = scope.body.blocks.iter();
    blocks.filter_map(|(block, found)| Some((block, origin(&found.term)?))).collect()
}

/// A walk over blocks, each with what is left of the tree there.
struct Walk<'a> {
    scope: &'a BodyContext<'a>,
    id: DecisionId,
    seen: FxHashSet<(BlockId, BoolTree)>,
    met: FxHashSet<BlockId>,
    work: Vec<(BlockId, BoolTree)>,
}

impl Walk<'_> {
    fn block(&mut self, block: BlockId, rest: BoolTree, found: &mut Violations) {
        if !self.seen.insert((block, rest.clone())) {
            return;
        }
        let term = &self.scope.body.blocks[block].term;
        match term {
            Terminator::Branch { origin: Some(origin), .. } if origin.decision == self.id => {
                // One that begins forgets this evaluation: control left it by a jump.
                if !origin.begins {
                    self.met.insert(block);
                    self.branch(block, origin, &rest, found);
                }
            }
            _ => term.for_each_successor(|to| self.work.push((to, rest.clone()))),
        }
    }

    fn branch(
        &mut self,
        block: BlockId,
        origin: &BranchOrigin,
        rest: &BoolTree,
        found: &mut Violations,
    ) {
        let id = self.id;
        let wanted = rest.next_condition();
        let asked = found.require(wanted == Some(origin.condition), Rule::Origins, || {
            let wanted = wanted.map_or_else(|| "nothing".to_owned(), |c| c.to_string());
            format!(
                "{block} evaluates {} of {id} where its tree asks for {wanted}",
                origin.condition
            )
        });
        let Terminator::Branch { then_to, else_to, .. } = &self.scope.body.blocks[block].term
        else {
            return;
        };
        if !asked {
            return;
        }
        let ways = [(true, origin.then_outcome, *then_to), (false, origin.else_outcome, *else_to)];
        for (value, outcome, to) in ways {
            let after = rest.assume(origin.condition, value);
            let settled = match after {
                BoolTree::Const(value) => Some(value),
                _ => None,
            };
            found.require(settled == outcome, Rule::Origins, || {
                let text = |outcome: Option<bool>| {
                    outcome.map_or_else(|| "no outcome".to_owned(), |value| value.to_string())
                };
                let (is, wanted) = (text(outcome), text(settled));
                format!("where {block} is {value}, {id} has {is}, but by its tree {wanted}")
            });
            if settled.is_none() {
                self.work.push((to, after));
            }
        }
    }
}
