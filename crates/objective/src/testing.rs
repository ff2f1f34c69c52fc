//! Programs made by hand for this crate's tests: one function, its text, and roots in it.

use std::cell::Cell;

use lydian_base::{Arena, EntityId, SourceMap, Span};
use lydian_ir::decision::Condition;
use lydian_ir::source::{Point, Root, RootKind};
use lydian_ir::stmt::{Block, Callee, Mark, MarkKind, Terminator};
use lydian_ir::{
    BlockId, Body, BoolTree, CType, CTypeId, CTypes, CmpOp, ConditionId, Decision, DecisionId,
    DecisionKind, Expr, ExprId, FuncId, Function, IntKind, Local, LocalId, LocalKind, Program,
    Purity, Stmt, Storage, Type,
};
use proptest::prelude::*;

use crate::decision::predicates::conditions;

pub(crate) const I32: Type = Type::Int(32);

/// A function under construction. Spans of expressions count up, so that each has its own.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) program: Program,
    pub(crate) body: Body,
    pub(crate) text: String,
    name: String,
    next_span: Cell<u32>,
}

impl Sample {
    /// A function with one block that returns.
    pub(crate) fn new(name: &str) -> Self {
        let text = format!("void {name}(void) {{ body of {name} }} {}", " ".repeat(1000));
        let end = text.find('}').map_or(0, |at| at + 1) as u32;
        let start = text.find('{').map_or(0, |at| at) as u32;
        let mut body = Body::returning();
        body.source.body = Span::new(start, end);
        let program = Program { types: CTypes::new(), ..Program::default() };
        Self { program, body, text, name: name.to_owned(), next_span: Cell::new(end + 1) }
    }

    fn span(&self) -> Span {
        let start = self.next_span.get();
        self.next_span.set(start + 2);
        Span::new(start, start + 1)
    }

    pub(crate) fn int(&mut self) -> CTypeId {
        self.program.types.int(IntKind::Int)
    }

    fn local(&mut self, name: &str, ty: CTypeId, kind: LocalKind) -> LocalId {
        let scalar = self.program.types.scalar(ty).expect("a scalar");
        self.body.locals.push(Local {
            name: name.to_owned(),
            ty,
            kind,
            storage: Storage::Register(scalar),
            scope: Span::new(0, u32::MAX),
        })
    }

    pub(crate) fn param(&mut self, name: &str, ty: CTypeId) -> LocalId {
        let local = self.local(name, ty, LocalKind::Param);
        self.body.params.push(local);
        local
    }

    pub(crate) fn var(&mut self, name: &str, ty: CTypeId) -> LocalId {
        self.local(name, ty, LocalKind::Var)
    }

    /// An expression that the user wrote.
    pub(crate) fn expr(&mut self, expr: Expr) -> ExprId {
        let id = self.body.exprs.push(expr);
        let span = self.span();
        self.body.source.exprs.set(id, span);
        id
    }

    /// An expression that C implies.
    pub(crate) fn implied(&mut self, expr: Expr) -> ExprId {
        self.body.exprs.push(expr)
    }

    pub(crate) fn constant(&mut self, value: i32) -> ExprId {
        self.expr(Expr::Const(I32, u128::from(value as u32)))
    }

    pub(crate) fn read(&mut self, local: LocalId) -> ExprId {
        self.expr(Expr::Local(local))
    }

    /// A statement of the entry block.
    pub(crate) fn stmt(&mut self, stmt: Stmt) -> Point {
        let id = self.body.stmts.push(stmt);
        self.body.blocks[self.body.entry].stmts.push(id);
        Point::Stmt(id)
    }

    pub(crate) fn mark(&mut self) {
        let span = self.span();
        let mark = self.body.marks.push(Mark { kind: MarkKind::Statement, span });
        self.stmt(Stmt::Mark(mark));
    }

    /// A label of the user's that is always true.
    pub(crate) fn user_label(&mut self, name: &str) {
        let span = self.span();
        let predicate = Box::new(Decision {
            kind: DecisionKind::Control,
            tree: BoolTree::Const(true),
            conditions: Arena::new(),
            span,
        });
        let kind = MarkKind::UserLabel { name: name.to_owned(), predicate };
        let mark = self.body.marks.push(Mark { kind, span });
        self.stmt(Stmt::Mark(mark));
    }

    pub(crate) fn root(&mut self, point: Point, expr: ExprId, kind: RootKind) {
        let span = self.span();
        let captures = Vec::new();
        self.body.source.roots.push(Root {
            point,
            copies: Vec::new(),
            expr,
            kind,
            span,
            captures,
            rewritable: true,
        });
    }

    /// A root whose value the function returns.
    pub(crate) fn returned(&mut self, expr: ExprId) {
        self.root(Point::Term(self.body.entry), expr, RootKind::Value);
    }

    /// A decision over fresh pure comparisons, one for each condition of the tree.
    pub(crate) fn decision(&mut self, tree: BoolTree) {
        let int = self.int();
        let x = self.param("x", int);
        let conditions = conditions(&tree)
            .iter()
            .map(|condition| {
                let (a, b) = (self.read(x), self.constant(condition.index() as i32));
                let expr = self.expr(Expr::Cmp(CmpOp::LtS, a, b));
                Condition::new(expr, Purity::Pure, self.span())
            })
            .collect();
        let span = self.span();
        self.body.decisions.push(Decision { kind: DecisionKind::Control, tree, conditions, span });
    }

    /// A decision of one condition, which is this expression.
    pub(crate) fn lone_decision(&mut self, expr: ExprId) -> DecisionId {
        let condition = Condition::new(expr, Purity::Pure, self.span());
        let decision = self.body.decisions.push(Decision {
            kind: DecisionKind::Control,
            tree: *cond(0),
            conditions: [condition].into_iter().collect(),
            span: self.span(),
        });
        let condition = ConditionId::from_index(0);
        let point = Point::Term(self.body.entry);
        self.root(point, expr, RootKind::Condition { decision, condition });
        decision
    }

    /// Another function, which is declared.
    pub(crate) fn declare(&mut self, name: &str) -> FuncId {
        let ty = self.void_function();
        self.program
            .functions
            .push(Function { span: Span::new(0, 0), ..Function::declared(name, ty) })
    }

    /// A call of a function that takes and gives nothing.
    pub(crate) fn call(&mut self, callee: FuncId) -> Point {
        let ty = self.void_function();
        self.stmt(Stmt::Call {
            callee: Callee::Direct(callee),
            args: Vec::new(),
            arg_types: Vec::new(),
            dst: None,
            dst_addr: None,
            ty,
        })
    }

    fn void_function(&mut self) -> CTypeId {
        let void = self.program.types.void();
        let signature = CType::Function { result: void, params: Vec::new(), variadic: false };
        self.program.types.intern(signature)
    }

    /// The program with its function and text.
    pub(crate) fn finish(mut self) -> (Program, SourceMap, FuncId) {
        let ty = self.void_function();
        let span = self.body.source.body;
        let body = Some(self.body);
        let function = Function { body, span, ..Function::declared(self.name, ty) };
        let func = self.program.functions.push(function);
        let map = SourceMap::from_preprocessed(self.text, "sample.c");
        (self.program, map, func)
    }
}

/// `f(p) { if (..) v = 1; return; }`: blocks 0, 1 (assigns) and 2 (returns).
pub(crate) fn one_armed_assignment() -> Body {
    let mut sample = Sample::new("f");
    let int = sample.int();
    sample.param("p", int);
    let v = sample.var("v", int);
    let test = sample.implied(Expr::Const(Type::BOOL, 1));
    let one = sample.constant(1);
    let (arm, join) = (BlockId::from_index(1), BlockId::from_index(2));
    let mut body = sample.body;
    let assign = body.stmts.push(Stmt::Assign { dst: v, value: one });
    body.blocks[body.entry].term =
        Terminator::Branch { cond: test, then_to: arm, else_to: join, origin: None };
    body.blocks.push(Block { stmts: vec![assign], term: Terminator::Goto(join) });
    body.blocks.push(Block { stmts: Vec::new(), term: Terminator::Return(None) });
    body
}

/// The condition at a position.
pub(crate) fn cond(index: usize) -> Box<BoolTree> {
    Box::new(BoolTree::Cond(ConditionId::from_index(index)))
}

/// A tree in which each of at least 1 and at most `most` conditions occurs once, numbered from left
/// to right.
pub(crate) fn tree(most: usize) -> impl Strategy<Value = BoolTree> {
    let leaf = prop_oneof![
        12 => Just(BoolTree::Cond(ConditionId::from_index(0))),
        1 => any::<bool>().prop_map(BoolTree::Const),
    ];
    let tree = leaf.prop_recursive(4, 8, 3, |inner| {
        let boxed = inner.prop_map(Box::new).boxed();
        let two = (boxed.clone(), boxed.clone());
        prop_oneof![
            2 => boxed.clone().prop_map(BoolTree::Not),
            4 => two.clone().prop_map(|(a, b)| BoolTree::And(a, b)),
            4 => two.clone().prop_map(|(a, b)| BoolTree::Or(a, b)),
            1 => two.clone().prop_map(|(a, b)| BoolTree::BitAnd(a, b)),
            1 => two.clone().prop_map(|(a, b)| BoolTree::BitOr(a, b)),
            1 => two.clone().prop_map(|(a, b)| BoolTree::Eq(a, b)),
            1 => two.prop_map(|(a, b)| BoolTree::Xor(a, b)),
            1 => (boxed.clone(), boxed.clone(), boxed)
                .prop_map(|(test, a, b)| BoolTree::Ite(test, a, b)),
        ]
    });
    let numbered = tree.prop_map(|tree| number(&tree, &mut 0));
    numbered.prop_filter("a fitting number of conditions", move |tree| {
        (1..=most).contains(&conditions(tree).len())
    })
}

fn number(tree: &BoolTree, next: &mut usize) -> BoolTree {
    let mut part = |tree: &BoolTree| Box::new(number(tree, next));
    match tree {
        BoolTree::Const(value) => BoolTree::Const(*value),
        BoolTree::Cond(_) => {
            *next += 1;
            BoolTree::Cond(ConditionId::from_index(*next - 1))
        }
        BoolTree::Not(a) => BoolTree::Not(part(a)),
        BoolTree::And(a, b) => BoolTree::And(part(a), part(b)),
        BoolTree::Or(a, b) => BoolTree::Or(part(a), part(b)),
        BoolTree::BitAnd(a, b) => BoolTree::BitAnd(part(a), part(b)),
        BoolTree::BitOr(a, b) => BoolTree::BitOr(part(a), part(b)),
        BoolTree::Eq(a, b) => BoolTree::Eq(part(a), part(b)),
        BoolTree::Xor(a, b) => BoolTree::Xor(part(a), part(b)),
        BoolTree::Ite(test, a, b) => BoolTree::Ite(part(test), part(a), part(b)),
    }
}
