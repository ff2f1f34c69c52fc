//! Parts of control-flow graphs that need no path for each way through them: the rest of a
//! decision, and areas that only compute values.

use std::collections::BTreeMap;
use std::rc::Rc;

use lydian_base::EntityId;
use lydian_ir::cfg::Cfg;
use lydian_ir::{
    BlockId, Body, Callee, ConditionId, DecisionId, Expr, ExprId, FuncId, LocalId, Stmt, Storage,
    Terminator, Type,
};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

/// The most conditions of a decision that is evaluated at once.
const MOST_CONDITIONS: usize = 64;
/// The most blocks of an area.
const MOST_BLOCKS: usize = 24;
/// The most statements of an area.
const MOST_STATEMENTS: usize = 48;

/// The conditions of a decision from a branch on, where nothing but conditions is evaluated until
/// its outcome, and each outcome leads to one block.
#[derive(Debug)]
pub(crate) struct DecisionRegion {
    pub(crate) decision: DecisionId,
    /// The steps, each before those that it leads to. The first is the branch itself.
    pub(crate) steps: Vec<RegionStep>,
    /// The targets of the outcomes true and false.
    pub(crate) targets: [BlockId; 2],
}

/// The evaluation of one condition.
#[derive(Debug)]
pub(crate) struct RegionStep {
    pub(crate) block: BlockId,
    pub(crate) condition: ConditionId,
    pub(crate) expr: ExprId,
    /// The successors for the values true and false.
    pub(crate) ways: [ConditionWay; 2],
}

/// The successor of a condition for one of its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionWay {
    /// Another step, by its position.
    RegionStep(usize),
    /// The outcome of the decision.
    Outcome(bool),
}

impl DecisionRegion {
    /// The region that begins with the branch of a block; `None` if the region is that branch
    /// alone.
    pub(crate) fn at(body: &Body, start: BlockId) -> Option<Self> {
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
            let mut ways = [ConditionWay::Outcome(false); 2];
            for (way, (outcome, to)) in ways.iter_mut().zip(sides) {
                *way = match outcome {
                    None => ConditionWay::RegionStep(*positions.get(&to)?),
                    Some(outcome) => {
                        let target = &mut targets[usize::from(!outcome)];
                        if *target.get_or_insert(to) != to {
                            return None;
                        }
                        ConditionWay::Outcome(outcome)
                    }
                };
            }
            steps.push(RegionStep { block, condition: origin.condition, expr: *cond, ways });
        }
        let [Some(holds), Some(fails)] = targets else { return None };
        Some(Self { decision: origin.decision, steps, targets: [holds, fails] })
    }
}

/// The blocks that evaluate conditions of a decision from one of them on, each before its
/// successors; `None` if anything else happens there.
fn order(body: &Body, start: BlockId, decision: DecisionId) -> Option<Vec<BlockId>> {
    let mut post: Vec<BlockId> = Vec::new();
    let mut entered: Vec<BlockId> = Vec::new();
    // Blocks, each with whether all its successors are done.
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
            // A back edge.
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

/// An area: blocks that only compute. Control enters it from outside by ways that meet again behind
/// it or all return. It writes only registers, calls only functions of the same kind, and has no
/// back edge.
#[derive(Debug)]
pub(crate) struct Area {
    /// The blocks, each before its successors. Blocks with further conditions of a decision belong
    /// to the block where the decision begins.
    pub(crate) blocks: Vec<BlockId>,
    /// The block where all ways meet; `None` where all return.
    pub(crate) join: Option<BlockId>,
    /// Whether each register is read only inside of the area.
    pub(crate) own: Vec<bool>,
    /// The functions that are called in it.
    pub(crate) calls: Vec<FuncId>,
}

/// The place where the ways through an area end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum AreaEnd {
    /// The block where all of them meet.
    Join,
    /// Returns from the function.
    Returns,
}

/// The facts about a function that the search for areas needs.
pub(crate) struct Surroundings<'a> {
    pub(crate) body: &'a Body,
    pub(crate) cfg: &'a Cfg,
    /// For each register, the blocks that read it.
    pub(crate) readers: &'a [Vec<BlockId>],
    /// The decision region that begins with a block's branch, if it has more than one condition.
    pub(crate) region: &'a dyn Fn(BlockId) -> Option<Rc<DecisionRegion>>,
    /// Whether a function's body is an area.
    pub(crate) computes: &'a dyn Fn(FuncId) -> bool,
}

impl Surroundings<'_> {
    /// The area that the body is, if it is one and all its locals are registers.
    pub(crate) fn whole(&self) -> Option<Area> {
        let mut locals = self.body.locals.values();
        let registers = locals.all(|local| matches!(local.storage, Storage::Register(_)));
        registers.then(|| self.area(&[self.body.entry], AreaEnd::Returns)).flatten()
    }

    /// The area between two blocks and the first block where all ways from them meet.
    pub(crate) fn between(&self, blocks: [BlockId; 2]) -> Option<Area> {
        self.area(&blocks, AreaEnd::Join)
    }

    fn area(&self, starts: &[BlockId], end: AreaEnd) -> Option<Area> {
        let meets = end == AreaEnd::Join;
        let position = |block: BlockId| self.cfg.position(block).map(|at| (false, at));
        let mut waiting = BTreeMap::new();
        for start in starts {
            waiting.insert(position(*start)?, *start);
        }
        let (mut blocks, mut statements, mut join) = (Vec::new(), 0, None);
        while let Some(((back, at), block)) = waiting.pop_first() {
            if meets && waiting.is_empty() {
                join = Some(block);
                break;
            }
            let found = &self.body.blocks[block];
            statements += found.stmts.len();
            let fits = blocks.len() < MOST_BLOCKS && statements <= MOST_STATEMENTS;
            let plain = found.stmts.iter().all(|stmt| self.computes(&self.body.stmts[*stmt]));
            if back || !fits || !plain {
                return None;
            }
            blocks.push(block);
            for next in self.targets(block)? {
                let (_, there) = position(next)?;
                waiting.insert((there <= at, there), next);
            }
            if matches!(found.term, Terminator::Return(_)) && meets {
                return None;
            }
        }
        if join.is_some_and(|join| blocks.contains(&join)) {
            return None;
        }
        let reads_inside = |readers: &Vec<BlockId>| readers.iter().all(|at| blocks.contains(at));
        let own = self.readers.iter().map(reads_inside).collect();
        let stmts = blocks.iter().flat_map(|block: &BlockId| &self.body.blocks[*block].stmts);
        let calls = stmts.filter_map(|stmt| match &self.body.stmts[*stmt] {
            Stmt::Call { callee: Callee::Direct(callee), .. } => Some(*callee),
            _ => None,
        });
        let calls = calls.collect();
        Some(Area { blocks, join, own, calls })
    }

    /// Whether a statement only computes a value for a register of an integer type.
    fn computes(&self, stmt: &Stmt) -> bool {
        let is_integer =
            |dst: LocalId| matches!(self.body.locals[dst].storage, Storage::Register(Type::Int(_)));
        match stmt {
            Stmt::Mark(_) => true,
            // A volatile read is an input of its own, or may differ from the next.
            Stmt::Assign { dst, value } => {
                let is_volatile =
                    matches!(self.body.exprs[*value], Expr::Load { volatile: true, .. });
                is_integer(*dst) && !is_volatile
            }
            Stmt::Call { callee: Callee::Direct(func), dst, dst_addr: None, .. } => {
                dst.is_none_or(is_integer) && (self.computes)(*func)
            }
            _ => false,
        }
    }

    /// The successors of a block with the decision that begins there; `None` where control may also
    /// go elsewhere.
    fn targets(&self, block: BlockId) -> Option<SmallVec<[BlockId; 4]>> {
        match &self.body.blocks[block].term {
            Terminator::Goto(to) => Some(smallvec![*to]),
            Terminator::Branch { then_to, else_to, origin, .. } => {
                if origin.is_some_and(|origin| !origin.begins) {
                    return None;
                }
                if let Some(region) = (self.region)(block) {
                    return Some(region.targets.into_iter().collect());
                }
                let ends =
                    origin.is_none_or(|o| o.then_outcome.is_some() && o.else_outcome.is_some());
                ends.then(|| smallvec![*then_to, *else_to])
            }
            Terminator::Switch { cases, default, .. } => {
                let cases = cases.iter().map(|case| case.target);
                Some(cases.chain([*default]).collect())
            }
            Terminator::Return(_) => Some(SmallVec::new()),
            Terminator::Trap(_) => None,
        }
    }
}

/// For each local of a body, the blocks that read it as a register.
pub(crate) fn readers(body: &Body) -> Vec<Vec<BlockId>> {
    let mut readers = vec![Vec::new(); body.locals.len()];
    for (id, block) in body.blocks.iter() {
        let mut waiting: Vec<ExprId> = block.term.operand().into_iter().collect();
        for stmt in &block.stmts {
            body.stmts[*stmt].for_each_expr(|expr| waiting.push(expr));
        }
        while let Some(expr) = waiting.pop() {
            body.exprs[expr].for_each_operand(|operand| waiting.push(operand));
            if let Expr::Local(local) = body.exprs[expr]
                && readers[local.index()].last() != Some(&id)
            {
                readers[local.index()].push(id);
            }
        }
    }
    readers
}
