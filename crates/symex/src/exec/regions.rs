//! Parts of control-flow graphs that need no path for each way through them: the rest of a decision, and
//! a choice between assignments.

use lydian_ir::{
    BlockId, Body, ConditionId, DecisionId, ExprId, Stmt, StmtId, Storage, Terminator, Type,
};
use rustc_hash::FxHashMap;

/// A decision with more conditions is not evaluated at once.
const MOST_CONDITIONS: usize = 64;
/// A side of a choice with more statements is not.
const MOST_STATEMENTS: usize = 8;

/// The conditions of a decision that a branch begins or goes on with, where nothing but conditions is
/// evaluated until its outcome, and each outcome leads to one block.
#[derive(Debug)]
pub(super) struct Region {
    pub(super) decision: DecisionId,
    /// In an order in which each comes before those that it leads to; first is the branch itself.
    pub(super) steps: Vec<Step>,
    /// Where the outcomes true and false lead to.
    pub(super) targets: [BlockId; 2],
}

/// The evaluation of one condition.
#[derive(Debug)]
pub(super) struct Step {
    pub(super) block: BlockId,
    pub(super) condition: ConditionId,
    pub(super) expr: ExprId,
    /// Where true and false lead to.
    pub(super) ways: [Way; 2],
}

/// Where a condition's value leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// To a step, by its position.
    Step(usize),
    /// To the decision's outcome.
    Outcome(bool),
}

impl Region {
    /// The region that begins with the branch of a block; none if that branch alone is all of it.
    pub(super) fn at(body: &Body, start: BlockId) -> Option<Self> {
        let Terminator::Branch { origin: Some(origin), .. } = &body.blocks[start].term else {
            return None;
        };
        let order = order(body, start, origin.decision)?;
        if order.len() < 2 {
            return None;
        }
        let positions: FxHashMap<BlockId, usize> = order.iter().copied().zip(0..).collect();
        let mut targets = [None; 2];
        let mut steps = Vec::with_capacity(order.len());
        for block in order {
            let Terminator::Branch { cond, then_to, else_to, origin: Some(origin) } =
                &body.blocks[block].term
            else {
                return None;
            };
            let sides = [(origin.then_outcome, *then_to), (origin.else_outcome, *else_to)];
            let mut ways = [Way::Outcome(false); 2];
            for (way, (outcome, to)) in ways.iter_mut().zip(sides) {
                *way = match outcome {
                    None => Way::Step(*positions.get(&to)?),
                    Some(outcome) => {
                        let target = &mut targets[usize::from(!outcome)];
                        if *target.get_or_insert(to) != to {
                            return None;
                        }
                        Way::Outcome(outcome)
                    }
                };
            }
            steps.push(Step { block, condition: origin.condition, expr: *cond, ways });
        }
        let [Some(holds), Some(fails)] = targets else { return None };
        Some(Self { decision: origin.decision, steps, targets: [holds, fails] })
    }
}

/// The blocks that evaluate conditions of a decision from one of them on, each before those that it leads
/// to; none if anything else happens there.
fn order(body: &Body, start: BlockId, decision: DecisionId) -> Option<Vec<BlockId>> {
    let mut post: Vec<BlockId> = Vec::new();
    let mut entered: Vec<BlockId> = Vec::new();
    // Blocks with whether all that they lead to is done.
    let mut waiting = vec![(start, false)];
    while let Some((block, done)) = waiting.pop() {
        if done {
            post.push(block);
            continue;
        }
        if entered.contains(&block) {
            if post.contains(&block) {
                continue;
            }
            // A way back.
            return None;
        }
        entered.push(block);
        let found = &body.blocks[block];
        let Terminator::Branch { then_to, else_to, origin: Some(origin), .. } = &found.term else {
            return None;
        };
        let inner = block != start;
        let alien = origin.decision != decision || inner && origin.begins;
        if alien || inner && !found.stmts.is_empty() || entered.len() > MOST_CONDITIONS {
            return None;
        }
        waiting.push((block, true));
        let sides = [(origin.else_outcome, *else_to), (origin.then_outcome, *then_to)];
        let inside = sides.into_iter().filter(|(outcome, _)| outcome.is_none());
        waiting.extend(inside.map(|(_, to)| (to, false)));
    }
    post.reverse();
    Some(post)
}

/// Two ways that assign to registers and meet again.
#[derive(Debug)]
pub(super) struct Choice {
    /// The blocks of either way; none where it leads straight to the end.
    pub(super) sides: [Option<BlockId>; 2],
    /// Where they meet.
    pub(super) join: BlockId,
}

impl Choice {
    /// The choice that a branch to these blocks is, if it is one.
    pub(super) fn of(body: &Body, [a, b]: [BlockId; 2]) -> Option<Self> {
        let (after_a, after_b) = (assigns(body, a), assigns(body, b));
        let (sides, join) = match () {
            () if a == b => ([None, None], a),
            () if after_a == Some(b) => ([Some(a), None], b),
            () if after_b == Some(a) => ([None, Some(b)], a),
            () => ([Some(a), Some(b)], after_a.filter(|_| after_a == after_b)?),
        };
        Some(Self { sides, join })
    }
}

/// Where a block leads to that only assigns to registers of integer types.
fn assigns(body: &Body, block: BlockId) -> Option<BlockId> {
    let found = &body.blocks[block];
    let Terminator::Goto(to) = found.term else { return None };
    let assigns = |stmt: &StmtId| match &body.stmts[*stmt] {
        Stmt::Mark(_) => true,
        Stmt::Assign { dst, .. } => {
            matches!(body.locals[*dst].storage, Storage::Register(Type::Int(_)))
        }
        _ => false,
    };
    let fits = found.stmts.len() <= MOST_STATEMENTS && to != block;
    (fits && found.stmts.iter().all(assigns)).then_some(to)
}
