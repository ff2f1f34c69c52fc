//! Random programs that follow the rules: the verifier has nothing to say about them, they read
//! back from their text, they run without a fault of the tool, and every decision's event agrees
//! with its tree.

use lydian_base::{Arena, EntityId, Rng, Span};
use lydian_ir::decision::Condition;
use lydian_ir::interp::{DecisionEvent, End, Observer, Options, View, run};
use lydian_ir::test::{INPUT_REGION, Image, ImagePointer, PointerTarget, Test, TestObject};
use lydian_ir::text::{parse, print};
use lydian_ir::trap::may_trap;
use lydian_ir::verify::verify;
use lydian_ir::*;

const I32: Type = Type::Int(32);

/// Builds one function `f(int x, int y, int *p)` with an `int` in memory and some registers.
struct Builder {
    rng: Rng,
    program: Program,
    body: Body,
    int: CTypeId,
}

impl Builder {
    fn new(seed: u64) -> Self {
        let mut program = Program::default();
        let int = program.types.int(IntKind::Int);
        let pointer = program.types.pointer(int);
        let params = vec![int, int, pointer];
        let ty = CType::Function { result: int, params, variadic: false };
        let ty = program.types.intern(ty);
        let mut locals = Arena::new();
        let mut add = |name: &str, ty, kind, storage| {
            locals.push(Local { name: name.into(), ty, kind, storage, scope: Span::NONE })
        };
        let params = vec![
            add("x", int, LocalKind::Param, Storage::Register(I32)),
            add("y", int, LocalKind::Param, Storage::Memory { size: 4, align: 4 }),
            add("p", pointer, LocalKind::Param, Storage::Register(Type::Ptr)),
        ];
        add("a", int, LocalKind::Var, Storage::Register(I32));
        add("b", int, LocalKind::Var, Storage::Memory { size: 4, align: 4 });
        program.functions.push(Function {
            param_names: vec!["x".into(), "y".into(), "p".into()],
            ..Function::declared("f", ty)
        });
        let body = Body {
            params,
            locals,
            exprs: Arena::new(),
            stmts: Arena::new(),
            blocks: Arena::new(),
            entry: BlockId::from_index(0),
            decisions: Arena::new(),
            marks: Arena::new(),
            source: lydian_ir::source::FunctionSource::default(),
        };
        Self { rng: Rng::new(seed), program, body, int }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.rng.below(bound as u64) as usize
    }

    fn expr(&mut self, expr: Expr) -> ExprId {
        self.body.exprs.push(expr)
    }

    /// An `int`.
    fn number(&mut self, depth: u32) -> ExprId {
        let local = LocalId::from_index;
        match if depth == 0 { self.below(4) } else { self.below(8) } {
            0 => {
                let bits = self.rng.next_u64() >> (32 + self.below(32));
                self.expr(Expr::Const(I32, u128::from(bits)))
            }
            1 => {
                let register = if self.below(2) == 0 { 0 } else { 3 };
                self.expr(Expr::Local(local(register)))
            }
            2 => {
                let memory = if self.below(2) == 0 { 1 } else { 4 };
                let addr = self.expr(Expr::AddrLocal(local(memory)));
                self.expr(Expr::Load { ty: I32, addr, volatile: false })
            }
            3 => {
                let base = self.expr(Expr::Local(local(2)));
                let index = self.below(4) as u128;
                let index = self.expr(Expr::Const(Type::Int(64), index));
                let addr = self.expr(Expr::Index { base, index, size: 4, bound: None });
                self.expr(Expr::Load { ty: I32, addr, volatile: false })
            }
            4 => {
                let a = self.test(depth - 1);
                self.expr(Expr::Cast(CastOp::ZExt, I32, a))
            }
            5 => {
                let a = self.number(depth - 1);
                let wide = self.expr(Expr::Cast(CastOp::SExt, Type::Int(64), a));
                self.expr(Expr::Cast(CastOp::Trunc, I32, wide))
            }
            _ => {
                let ops = BinOp::ALL.map(|(op, _)| op);
                let op = ops[self.below(17)];
                // Few that trap, or no run would get far.
                let op = if op.may_trap() && self.below(5) > 0 { BinOp::Xor } else { op };
                let a = self.number(depth - 1);
                let b = self.number(depth - 1);
                self.expr(Expr::Binary(op, a, b))
            }
        }
    }

    fn test(&mut self, depth: u32) -> ExprId {
        let ops = CmpOp::ALL.map(|(op, _)| op);
        let op = ops[self.below(10)];
        let a = self.number(depth);
        let b = self.number(depth);
        self.expr(Expr::Cmp(op, a, b))
    }

    fn block(&mut self, term: Terminator) -> BlockId {
        self.body.blocks.push(Block { stmts: vec![], term })
    }

    fn tree(&mut self, depth: usize, count: &mut usize) -> BoolTree {
        if depth == 0 || *count >= 6 {
            if self.below(8) == 0 {
                return BoolTree::Const(self.below(2) == 0);
            }
            *count += 1;
            return BoolTree::Cond(ConditionId::from_index(*count - 1));
        }
        let mut sub = |builder: &mut Self| Box::new(builder.tree(depth - 1, count));
        match self.below(9) {
            0 => BoolTree::Not(sub(self)),
            1 | 2 => BoolTree::And(sub(self), sub(self)),
            3 | 4 => BoolTree::Or(sub(self), sub(self)),
            5 => BoolTree::Eq(sub(self), sub(self)),
            6 => BoolTree::Xor(sub(self), sub(self)),
            7 if self.below(2) == 0 => BoolTree::BitAnd(sub(self), sub(self)),
            7 => BoolTree::BitOr(sub(self), sub(self)),
            _ => BoolTree::Ite(sub(self), sub(self), sub(self)),
        }
    }

    /// The first block of a tree's branches, which lead to `yes` and `no`. Made from the last
    /// operand to the first, the right side of a strict operator once for each value of the left.
    fn branches(
        &mut self,
        at: DecisionId,
        tree: &BoolTree,
        yes: (BlockId, Option<bool>),
        no: (BlockId, Option<bool>),
    ) -> (BlockId, Option<bool>) {
        match tree {
            BoolTree::Const(value) => {
                if *value {
                    yes
                } else {
                    no
                }
            }
            BoolTree::Cond(condition) => {
                let cond = self.body.decisions[at].conditions[*condition].expr;
                let origin = BranchOrigin {
                    decision: at,
                    condition: *condition,
                    begins: false,
                    then_outcome: yes.1,
                    else_outcome: no.1,
                };
                let origin = Some(origin);
                let (then_to, else_to) = (yes.0, no.0);
                (self.block(Terminator::Branch { cond, then_to, else_to, origin }), None)
            }
            BoolTree::Not(a) => self.branches(at, a, no, yes),
            BoolTree::And(a, b) => {
                let b = self.branches(at, b, yes, no);
                self.branches(at, a, b, no)
            }
            BoolTree::Or(a, b) => {
                let b = self.branches(at, b, yes, no);
                self.branches(at, a, yes, b)
            }
            BoolTree::Ite(c, a, b) => {
                let (a, b) = (self.branches(at, a, yes, no), self.branches(at, b, yes, no));
                self.branches(at, c, a, b)
            }
            BoolTree::BitAnd(a, b) => self.strict(at, a, b, [(yes, no), (no, no)]),
            BoolTree::BitOr(a, b) => self.strict(at, a, b, [(yes, yes), (yes, no)]),
            BoolTree::Eq(a, b) => self.strict(at, a, b, [(yes, no), (no, yes)]),
            BoolTree::Xor(a, b) => self.strict(at, a, b, [(no, yes), (yes, no)]),
        }
    }

    #[allow(clippy::type_complexity, reason = "where the right side leads for each left value")]
    fn strict(
        &mut self,
        at: DecisionId,
        a: &BoolTree,
        b: &BoolTree,
        [if_true, if_false]: [((BlockId, Option<bool>), (BlockId, Option<bool>)); 2],
    ) -> (BlockId, Option<bool>) {
        let if_true = self.branches(at, b, if_true.0, if_true.1);
        let if_false = self.branches(at, b, if_false.0, if_false.1);
        self.branches(at, a, if_true, if_false)
    }

    /// A decision that leads to one of two blocks; the block where it begins.
    fn decision(&mut self, yes: BlockId, no: BlockId) -> BlockId {
        let mut count = 0;
        let depth = 1 + self.below(3);
        let tree = self.tree(depth, &mut count);
        let conditions = (0..count).map(|_| {
            let expr = self.test(2);
            let (program, body) = (&self.program, &self.body);
            let traps = may_trap(program, body, &body.exprs, expr, Overflow::Wrap);
            let purity = if traps { Purity::MayTrap } else { Purity::Pure };
            Condition::new(expr, purity, Span::NONE)
        });
        let conditions = conditions.collect();
        let kind = DecisionKind::Control;
        let decision = Decision { kind, tree: tree.clone(), conditions, span: Span::NONE };
        let id = self.body.decisions.push(decision);
        let (first, _) = self.branches(id, &tree, (yes, Some(true)), (no, Some(false)));
        if let Terminator::Branch { origin: Some(origin), .. } = &mut self.body.blocks[first].term
            && origin.decision == id
        {
            origin.begins = true;
        }
        first
    }

    fn fill(&mut self, block: BlockId) {
        for _ in 0..self.below(3) {
            let value = self.number(2);
            let local = LocalId::from_index;
            let stmt = match self.below(3) {
                0 => Stmt::Assign { dst: local(3), value },
                1 => {
                    let addr = self.expr(Expr::AddrLocal(local(4)));
                    Stmt::Store { addr, value, ty: I32, volatile: false }
                }
                _ => {
                    let addr = self.expr(Expr::Local(local(2)));
                    Stmt::Store { addr, value, ty: I32, volatile: false }
                }
            };
            let stmt = self.body.stmts.push(stmt);
            self.body.blocks[block].stmts.push(stmt);
        }
    }

    fn build(mut self) -> Program {
        let entry = self.block(Terminator::Return(None));
        let enter = self.body.stmts.push(Stmt::Enter(LocalId::from_index(4)));
        self.body.blocks[entry].stmts.push(enter);
        let value = self.number(3);
        let mut next = self.block(Terminator::Return(Some(value)));
        for _ in 0..1 + self.below(4) {
            let (yes, no) =
                (self.block(Terminator::Goto(next)), self.block(Terminator::Goto(next)));
            self.fill(yes);
            self.fill(no);
            let first = self.decision(yes, no);
            next = self.block(Terminator::Goto(first));
            // Sometimes around again.
            if self.below(4) == 0 {
                self.body.blocks[no].term = Terminator::Goto(next);
            }
        }
        self.body.blocks[entry].term = Terminator::Goto(next);
        let f = FuncId::from_index(0);
        self.program.functions[f].body = Some(self.body);
        let _ = self.int;
        self.program
    }
}

/// Checks every decision's event.
#[derive(Default)]
struct Events {
    count: usize,
    unreached: usize,
}

impl Observer for Events {
    fn decision(&mut self, view: &View<'_>, event: &DecisionEvent) {
        let decision = &view.body().decisions[event.decision];
        let reached = |c: ConditionId| Truth::from(event.reached[c.index()]);
        let outcome = Truth::from(event.outcome);
        assert_eq!(decision.tree.eval(&reached), outcome);
        assert_eq!(decision.tree.eval(&|c| event.value(view, c)), outcome);
        let mut rest = decision.tree.settled();
        while let Some(next) = rest.next_condition() {
            let value =
                event.reached[next.index()].expect("the tree asks only for what was reached");
            rest = rest.assume(next, value);
        }
        assert_eq!(rest, BoolTree::Const(event.outcome));
        for (id, condition) in decision.conditions.iter() {
            let known = event.value(view, id) != Truth::Unknown;
            let was_reached = event.reached[id.index()].is_some();
            let has_value = || {
                let value = view.eval(&view.body().exprs, condition.expr);
                condition.purity == Purity::Pure && value.is_ok_and(|value| !value.uninitialised)
            };
            assert_eq!(known, was_reached || has_value());
            self.unreached += usize::from(!was_reached);
        }
        self.count += 1;
    }
}

fn a_test(rng: &mut Rng) -> Test {
    let int = |rng: &mut Rng| {
        let value = (rng.next_u64() as i64 >> (32 + rng.below(32))) as i32;
        Image { bytes: value.to_le_bytes().to_vec(), pointers: vec![] }
    };
    let pointer = ImagePointer { offset: 0, target: PointerTarget::Object(0, 0) };
    let p = Image { bytes: vec![0; 8], pointers: vec![pointer] };
    let object = TestObject {
        name: "p".into(),
        address: INPUT_REGION,
        ty: CTypeId::from_index(0),
        count: 3,
        align: 4,
        image: Image { bytes: (0..12).map(|_| rng.below(4) as u8).collect(), pointers: vec![] },
        read_only: false,
    };
    let args = vec![int(rng), int(rng), p];
    Test { objects: vec![object], ..Test::calling("f", args) }
}

#[test]
fn what_follows_the_rules_is_accepted_reads_back_and_runs() {
    let mut rng = Rng::new(5);
    let mut events = Events::default();
    let (mut returned, mut trapped) = (0, 0);
    for seed in 0..300 {
        let program = Builder::new(seed).build();
        let found: Vec<_> = verify(&program).iter().map(ToString::to_string).collect();
        assert!(found.is_empty(), "seed {seed}: {found:#?}\n{}", print(&program));
        assert!(parse(&print(&program)).as_ref() == Ok(&program), "seed {seed}");
        for _ in 0..10 {
            let options = Options { max_steps: 2000, ..Options::default() };
            let outcome = run(&program, &a_test(&mut rng), &options, &mut events).unwrap();
            match outcome.end {
                End::Returned => returned += 1,
                End::Trapped(_) => trapped += 1,
                _ => {}
            }
        }
    }
    assert!(returned > 300 && trapped > 100, "{returned} returned, {trapped} trapped");
    assert!(
        events.count > 1000 && events.unreached > 1000,
        "{} {}",
        events.count,
        events.unreached
    );
}

#[test]
fn a_branch_that_disagrees_with_its_tree_is_always_found() {
    let mut checked = 0;
    for seed in 0..200 {
        let mut program = Builder::new(seed).build();
        let body = program.functions.iter_mut().next().and_then(|(_, f)| f.body.as_mut()).unwrap();
        let branches: Vec<BlockId> = body
            .blocks
            .iter()
            .filter(|(_, b)| matches!(b.term, Terminator::Branch { .. }))
            .map(|(id, _)| id)
            .collect();
        let reachable = cfg::Cfg::new(body);
        let Some(block) = branches.into_iter().find(|block| reachable.is_reachable(*block)) else {
            continue;
        };
        if let Terminator::Branch { origin: Some(origin), .. } = &mut body.blocks[block].term {
            origin.then_outcome = match origin.then_outcome {
                Some(value) => Some(!value),
                None => Some(true),
            };
            checked += 1;
            let found = verify(&program);
            assert!(found.iter().any(|v| v.rule == verify::Rule::Origins), "seed {seed}");
        }
    }
    assert!(checked > 100, "only {checked} programs had a branch to spoil");
}
