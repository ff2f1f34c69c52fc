use lydian_base::{Arena, EntityId, Rng, Span};

use super::*;
use crate::program::arithmetic_type::{ArithmeticType, ExprTypes};
use crate::program::ctype::{CType, Field, Record, Target};
use crate::program::decision::{BoolTree, Condition, Decision, DecisionKind, UnreachedValue};
use crate::program::expr::{BinOp, BitField, CastOp, CmpOp, Expr, ExprId, Type, UnOp};
use crate::program::function::{Body, Function, Local, LocalKind, Storage};
use crate::program::source::*;
use crate::program::stmt::*;
use crate::program::{
    Alias, Global, GlobalInit, InitItem, Linkage, Program, Relocation, RelocationTarget, Startup,
    arith,
};

/// Makes programs of every shape that the types allow, most of them without any sense.
struct Soup(Rng);

impl Soup {
    fn below(&mut self, bound: usize) -> usize {
        self.0.below(bound as u64) as usize
    }
    fn coin(&mut self) -> bool {
        self.below(2) == 0
    }
    fn id<I: EntityId>(&mut self) -> I {
        I::from_index(self.below(6))
    }
    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }
    fn some<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> Option<T> {
        if self.coin() { Some(make(self)) } else { None }
    }
    fn many<T>(&mut self, mut make: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.below(4)).map(|_| make(self)).collect()
    }
    fn number(&mut self) -> u64 {
        let shift = self.below(64);
        self.0.next_u64() >> shift
    }
    fn wide(&mut self) -> u128 {
        (u128::from(self.number()) << 64 | u128::from(self.number())) >> self.below(128)
    }
    fn span(&mut self) -> Span {
        if self.coin() { Span::NONE } else { Span::new(self.number() as u32, self.number() as u32) }
    }
    fn name(&mut self) -> String {
        self.pick(&["", "x", "a b", "q\"\\", "\n\u{e4}\u{1f600}", ".str.0", "f.x.2", "?#"]).into()
    }
    fn machine(&mut self) -> Type {
        let types = [1, 8, 16, 32, 64, 128].map(Type::Int);
        self.pick(
            &[&types[..], &[Type::F16, Type::BF16, Type::F32, Type::F64, Type::F80, Type::Ptr]]
                .concat(),
        )
    }
    fn bit_field(&mut self) -> BitField {
        BitField {
            record: self.id(),
            field: self.below(9) as u32,
            byte_offset: self.number(),
            bit: self.below(8) as u8,
            bits: self.below(65) as u8,
            signed: self.coin(),
            ty: self.machine(),
        }
    }
    fn expr(&mut self, len: usize) -> Expr {
        // Mostly operands from before, often the last one, so that trees get deep.
        let operand = |soup: &mut Self| {
            let index = match soup.below(8) {
                0..5 => len.saturating_sub(1),
                5 | 6 => soup.below(len.max(1)),
                _ => soup.below(len + 3),
            };
            ExprId::from_index(index)
        };
        match self.below(15) {
            14 => {
                Expr::Select { test: operand(self), then: operand(self), otherwise: operand(self) }
            }
            0 | 1 => {
                let (ty, bits) = (self.machine(), self.wide());
                let fits = self.below(8) > 0;
                Expr::Const(ty, if fits { arith::truncate(ty, bits) } else { bits })
            }
            2 => Expr::Local(self.id()),
            3 => Expr::AddrLocal(self.id()),
            4 => Expr::AddrGlobal(self.id()),
            5 => Expr::AddrFunc(self.id()),
            6 => Expr::Load { ty: self.machine(), addr: operand(self), volatile: self.coin() },
            7 => Expr::LoadBits { field: self.bit_field(), addr: operand(self) },
            8 => Expr::Unary(self.pick(&UnOp::ALL).0, operand(self)),
            9 => Expr::Binary(self.pick(&BinOp::ALL).0, operand(self), operand(self)),
            10 => Expr::Cmp(self.pick(&CmpOp::ALL).0, operand(self), operand(self)),
            11 => Expr::Cast(self.pick(&CastOp::ALL).0, self.machine(), operand(self)),
            12 => {
                Expr::Field { base: operand(self), record: self.id(), field: self.below(9) as u32 }
            }
            _ if self.coin() => Expr::Index {
                base: operand(self),
                index: operand(self),
                size: self.number(),
                bound: self.some(Self::number),
            },
            _ => Expr::PtrDiff { a: operand(self), b: operand(self), size: self.number() },
        }
    }
    fn any_expr(&mut self, exprs: usize) -> ExprId {
        ExprId::from_index(self.below(exprs + 1))
    }
    fn stmt(&mut self, exprs: usize) -> Stmt {
        match self.below(13) {
            0 => Stmt::Mark(self.id()),
            1 => Stmt::Assign { dst: self.id(), value: self.any_expr(exprs) },
            2 => Stmt::Store {
                addr: self.any_expr(exprs),
                value: self.any_expr(exprs),
                ty: self.machine(),
                volatile: self.coin(),
            },
            3 => Stmt::StoreBits {
                addr: self.any_expr(exprs),
                field: self.bit_field(),
                value: self.any_expr(exprs),
            },
            4 => {
                let (dst, src) = (self.any_expr(exprs), self.any_expr(exprs));
                Stmt::Copy { dst, src, size: self.number() }
            }
            5 => Stmt::Zero { dst: self.any_expr(exprs), size: self.number() },
            6 => Stmt::Enter(self.id()),
            7 => Stmt::Leave(self.id()),
            8 => Stmt::Alloca {
                dst: self.id(),
                size: self.any_expr(exprs),
                align: self.number(),
                array: self.coin(),
            },
            9 => Stmt::Release { pointer: self.id() },
            10 => Stmt::VaStart { list: self.any_expr(exprs) },
            11 => Stmt::VaArg { at: self.any_expr(exprs), ty: self.id() },
            12 => Stmt::Havoc(Box::new(Havoc {
                registers: self.many(Self::id),
                places: self.many(|soup| (soup.any_expr(exprs), soup.number())),
                memory: self.coin(),
                varies: self.coin(),
            })),
            _ => Stmt::Call {
                callee: match self.coin() {
                    true => Callee::Direct(self.id()),
                    false => Callee::Indirect(self.any_expr(exprs)),
                },
                args: self.many(|soup| soup.any_expr(exprs)),
                arg_types: self.many(Self::id),
                dst: self.some(Self::id),
                dst_addr: self.some(|soup| soup.any_expr(exprs)),
                ty: self.id(),
            },
        }
    }
    fn origin(&mut self) -> BranchOrigin {
        BranchOrigin {
            decision: self.id(),
            condition: self.id(),
            begins: self.coin(),
            then_outcome: self.some(Self::coin),
            else_outcome: self.some(Self::coin),
        }
    }
    fn terminator(&mut self, exprs: usize) -> Terminator {
        match self.below(5) {
            0 => Terminator::Goto(self.id()),
            1 => Terminator::Branch {
                cond: self.any_expr(exprs),
                then_to: self.id(),
                else_to: self.id(),
                origin: self.some(Self::origin),
            },
            2 => Terminator::Switch {
                value: self.any_expr(exprs),
                cases: self.many(|soup| SwitchCase {
                    low: soup.wide() as i128,
                    high: soup.wide() as i128,
                    target: soup.id(),
                    span: soup.span(),
                }),
                default: self.id(),
            },
            3 => Terminator::Return(self.some(|soup| soup.any_expr(exprs))),
            _ => Terminator::Trap(self.pick(&super::names::TRAPS).0),
        }
    }
    fn tree(&mut self, depth: usize) -> BoolTree {
        let sub = |soup: &mut Self| Box::new(soup.tree(depth.saturating_sub(1)));
        match if depth == 0 { self.below(2) } else { self.below(10) } {
            0 => BoolTree::Const(self.coin()),
            1 => BoolTree::Cond(self.id()),
            2 => BoolTree::Not(sub(self)),
            3 => BoolTree::And(sub(self), sub(self)),
            4 => BoolTree::Or(sub(self), sub(self)),
            5 => BoolTree::BitAnd(sub(self), sub(self)),
            6 => BoolTree::BitOr(sub(self), sub(self)),
            7 => BoolTree::Eq(sub(self), sub(self)),
            8 => BoolTree::Xor(sub(self), sub(self)),
            _ => BoolTree::Ite(sub(self), sub(self), sub(self)),
        }
    }
    fn decision(&mut self, exprs: usize) -> Decision {
        let kind = self.pick(&[DecisionKind::Control, DecisionKind::Value]);
        let conditions = self.many(|soup| Condition {
            expr: soup.any_expr(exprs),
            purity: soup.pick(&super::names::PURITIES).0,
            unreached: match soup.below(3) {
                0 => UnreachedValue::Never,
                1 => UnreachedValue::Always(soup.any_expr(exprs)),
                _ => UnreachedValue::WhereDefined(soup.any_expr(exprs)),
            },
            span: soup.span(),
        });
        let conditions = conditions.into_iter().collect();
        Decision { kind, tree: self.tree(5), conditions, span: self.span() }
    }
    fn mark(&mut self, exprs: usize) -> Mark {
        let kind = match self.coin() {
            true => MarkKind::Statement,
            false => {
                MarkKind::UserLabel { name: self.name(), predicate: Box::new(self.decision(exprs)) }
            }
        };
        Mark { kind, span: self.span() }
    }
    fn root(&mut self, exprs: usize) -> Root {
        Root {
            point: match self.coin() {
                true => Point::Stmt(self.id()),
                false => Point::Term(self.id()),
            },
            copies: self.many(|soup| Point::Term(soup.id())),
            expr: self.any_expr(exprs),
            kind: match self.below(5) {
                0 => RootKind::Value,
                1 => RootKind::Assigned {
                    local: self.some(Self::id),
                    addr: self.some(|soup| soup.any_expr(exprs)),
                },
                2 => RootKind::Address,
                3 => RootKind::Update,
                _ => RootKind::Condition { decision: self.id(), condition: self.id() },
            },
            span: self.span(),
            captures: self.many(|soup| Capture { span: soup.span(), temp: soup.id() }),
            rewritable: self.coin(),
        }
    }
    fn c_types(&mut self) -> Option<ExprTypes> {
        let all = [
            ArithmeticType::Bool,
            ArithmeticType::INT,
            ArithmeticType::Int { bits: 8, signed: false },
            ArithmeticType::BitInt { width: 7, bits: 8, signed: true },
            ArithmeticType::Float(Type::F80),
        ];
        self.some(|soup| {
            let [text, written, used] = [(); 3].map(|()| soup.pick(&all));
            ExprTypes { text, written, used }
        })
    }
    fn source(&mut self, body: &Body) -> FunctionSource {
        let exprs = body.exprs.len();
        let mut source = FunctionSource { body: self.span(), ..FunctionSource::default() };
        body.stmts.ids().for_each(|id| source.stmts.set(id, self.span()));
        body.blocks.ids().for_each(|id| source.terms.set(id, self.span()));
        body.exprs.ids().for_each(|id| source.exprs.set(id, self.span()));
        body.exprs.ids().for_each(|id| source.c_types.set(id, self.c_types()));
        source.marks = self.many(|soup| MarkSite {
            mark: soup.id(),
            span: soup.span(),
            style: soup.pick(&super::names::MARK_STYLES).0,
        });
        source.labels = self.many(|soup| LabelSite { mark: soup.id(), span: soup.span() });
        source.decisions = self.many(|soup| DecisionSite {
            decision: soup.id(),
            span: soup.span(),
            conditions: soup.many(Self::span),
            keeps_value: soup.coin(),
        });
        source.switches = self.many(|soup| SwitchSite {
            block: soup.id(),
            operand: soup.span(),
            computed: soup.coin(),
        });
        source.roots = self.many(|soup| soup.root(exprs)).into_iter().collect();
        source.copies = self.many(|soup| (soup.id(), soup.id())).into_iter().collect();
        source
    }
    fn body(&mut self) -> Body {
        let mut exprs = Arena::new();
        let count = self.pick(&[0, 5, 40, 300]);
        for len in 0..count {
            exprs.push(self.expr(len));
        }
        let stmts: Arena<StmtId, Stmt> = (0..self.below(12)).map(|_| self.stmt(count)).collect();
        let mut blocks = Arena::new();
        for _ in 0..self.below(5) {
            // Some twice, some never.
            let placed = (0..self.below(4)).map(|_| self.below(stmts.len() + 1));
            let placed = placed.filter(|index| *index < stmts.len());
            let stmts = placed.map(StmtId::from_index).collect();
            let block = Block { stmts, term: Terminator::Goto(BlockId::from_index(0)) };
            blocks.push(block);
        }
        for (_, block) in blocks.iter_mut() {
            block.term = self.terminator(count);
        }
        let locals = self.many(|soup| Local {
            name: soup.name(),
            ty: soup.id(),
            kind: soup.pick(&[LocalKind::Param, LocalKind::Var, LocalKind::Temp]),
            storage: match soup.coin() {
                true => Storage::Register(soup.machine()),
                false => Storage::Memory { size: soup.number(), align: soup.number() },
            },
            scope: soup.span(),
        });
        let mut body = Body {
            params: self.many(Self::id),
            locals: locals.into_iter().collect(),
            exprs,
            stmts,
            blocks,
            entry: self.id(),
            decisions: self.many(|soup| soup.decision(count)).into_iter().collect(),
            marks: self.many(|soup| soup.mark(count)).into_iter().collect(),
            source: FunctionSource::default(),
        };
        body.source = self.source(&body);
        body
    }
    fn types(&mut self, program: &mut Program) {
        program.types.target = self.pick(&[Target::X86_64, Target::I386]);
        let mut last = program.types.void();
        for _ in 0..self.below(10) {
            let ty = match self.below(13) {
                9 => CType::LongDouble,
                10 => CType::Complex { element: last },
                11 => CType::Vector { element: last, length: self.number() },
                12 => self.pick(&[CType::Float16, CType::BFloat16]),
                0 => CType::Float,
                1 => CType::Double,
                2 => {
                    let kind = self.pick(&super::names::INT_KINDS);
                    CType::Int { kind, bits: self.below(129) as u8, signed: self.coin() }
                }
                3 => CType::Enum {
                    name: self.name(),
                    underlying: last,
                    constants: self.many(|soup| (soup.name(), soup.wide() as i128)),
                },
                4 => CType::Opaque { name: self.name(), size: self.number(), align: 8 },
                5 => CType::Pointer { pointee: last, to_const: self.coin() },
                6 => CType::Array { element: last, length: self.some(Self::number) },
                7 => CType::Function {
                    result: last,
                    params: vec![last; self.below(3)],
                    variadic: self.coin(),
                },
                _ => CType::Record(self.id()),
            };
            last = program.types.intern(ty);
        }
        for _ in 0..self.below(3) {
            program.types.records.push(Record {
                name: self.name(),
                is_union: self.coin(),
                is_local: self.coin(),
                fields: self.many(|soup| Field {
                    name: soup.name(),
                    ty: soup.id(),
                    bit_offset: soup.number(),
                    bits: soup.some(|soup| soup.below(64) as u16),
                }),
                size: self.some(Self::number),
                align: self.number(),
            });
        }
    }
    fn global(&mut self) -> Global {
        Global {
            name: self.name(),
            ty: self.id(),
            size: self.number(),
            align: self.number(),
            linkage: self.pick(&[Linkage::External, Linkage::Internal]),
            read_only: self.coin(),
            weak: self.coin(),
            thread_local: self.coin(),
            init: match self.below(3) {
                0 => GlobalInit::Extern,
                1 => GlobalInit::Zero,
                _ => GlobalInit::Data {
                    items: self.many(|soup| InitItem {
                        offset: soup.number(),
                        bytes: soup.many(|soup| soup.number() as u8),
                    }),
                    relocations: self.many(|soup| Relocation {
                        offset: soup.number(),
                        target: match soup.coin() {
                            true => RelocationTarget::Global(soup.id()),
                            false => RelocationTarget::Function(soup.id()),
                        },
                        addend: soup.number() as i64,
                    }),
                },
            },
            span: self.span(),
        }
    }
    fn program(&mut self) -> Program {
        let mut program = Program::default();
        self.types(&mut program);
        for _ in 0..self.below(3) {
            program.typedefs.insert(self.name(), self.id());
        }
        program.globals = self.many(Self::global).into_iter().collect();
        let functions = self.many(|soup| Function {
            name: soup.name(),
            symbol: soup.some(Self::name),
            ty: soup.id(),
            linkage: Linkage::External,
            param_names: soup.many(Self::name),
            noreturn: soup.coin(),
            weak: soup.coin(),
            library: soup.coin(),
            system: soup.coin(),
            implicit: soup.coin(),
            body: soup.some(Self::body),
            span: soup.span(),
        });
        program.functions = functions.into_iter().collect();
        program.aliases = self.many(|soup| Alias {
            name: soup.name(),
            target: match soup.coin() {
                true => RelocationTarget::Global(soup.id()),
                false => RelocationTarget::Function(soup.id()),
            },
        });
        program.startup = self.many(|soup| Startup {
            function: soup.id(),
            moment: soup.pick(&super::names::MOMENTS).0,
            priority: soup.number() as u32,
        });
        program
    }
}

#[test]
fn what_was_printed_reads_back_to_the_same_program_whatever_it_is() {
    for seed in 0..400 {
        let program = Soup(Rng::new(seed)).program();
        let text = print(&program);
        match parse(&text) {
            Ok(read) => {
                similar_asserts::assert_eq!(read, program, "seed {seed}\n{text}");
            }
            Err(error) => panic!("seed {seed}: {error}\n{text}"),
        }
    }
}

#[test]
fn a_mutated_text_is_an_error_with_a_place_or_a_program_but_never_a_panic() {
    let mut errors = 0;
    for seed in 0..40 {
        let mut soup = Soup(Rng::new(1000 + seed));
        let text = print(&soup.program()).into_bytes();
        for _ in 0..50 {
            let mut text = text.clone();
            for _ in 0..1 + soup.below(3) {
                let (at, other) = (soup.below(text.len()), soup.below(text.len()));
                match soup.below(4) {
                    0 => text[at] = text[other],
                    1 => text.truncate(at.max(1)),
                    2 => text[at] = soup.number() as u8,
                    _ => text.splice(at..at, b"999999999999".iter().copied()).for_each(drop),
                }
            }
            if let Err(error) = parse(&String::from_utf8_lossy(&text)) {
                errors += 1;
                assert!(error.line >= 1 && error.column >= 1 && !error.message.is_empty());
            }
        }
    }
    assert!(errors > 100, "only {errors} of 2000 mutations made an error");
}

#[test]
fn an_expression_of_ten_thousand_nodes_is_cut_and_reads_back() {
    let mut body = Soup(Rng::new(1)).body();
    body.exprs = Arena::new();
    let mut last = body.exprs.push(Expr::Const(Type::Int(32), 1));
    for _ in 0..10_000 {
        last = body.exprs.push(Expr::Unary(UnOp::Not, last));
    }
    body.stmts = Arena::new();
    body.blocks = Arena::new();
    body.blocks.push(Block { stmts: vec![], term: Terminator::Return(Some(last)) });
    body.decisions = Arena::new();
    body.marks = Arena::new();
    body.source = FunctionSource::default();
    let mut program = Program::default();
    let ty = program.types.void();
    program.functions.push(Function {
        name: "f".into(),
        symbol: None,
        ty,
        linkage: Linkage::External,
        param_names: vec![],
        noreturn: false,
        weak: false,
        library: false,
        system: false,
        implicit: false,
        body: Some(body),
        span: Span::NONE,
    });
    let read = parse(&print(&program)).unwrap();
    assert!(read == program);
}

#[test]
fn an_error_names_the_line_and_column_where_the_text_stops_making_sense() {
    let error = parse("ty0 = void\nty1 = pointer tz\n").unwrap_err();
    assert_eq!(error.to_string(), "2:15: an id `tyN` expected, not `tz`");
    let error = parse("ty0 = array ty0 3").unwrap_err();
    assert_eq!(error.message, "a type is made of types that come before it");
    let error = parse("ty0 = void ty1 = void").unwrap_err();
    assert_eq!((error.line, error.column), (1, 12));
    let deep = format!(
        "ty0 = void function f0 \"f\" ty0 external () {{ params () entry bb0 bb0: return {}",
        "not(".repeat(100_000)
    );
    assert_eq!(parse(&deep).unwrap_err().message, "this expression is too deep");
}

#[test]
fn a_body_reads_like_its_c() {
    let text = r#"ty0 = void
ty1 = int "int" 32 signed
ty2 = function ty1 (ty1)

function f0 "clamp" ty2 external ("x") @0..60
{
  params (v0)
  local v0 "x" ty1 param register i32 @10..60
  entry bb0
  bb0:
    branch gt.s(v0, 10:i32) ? bb1 : bb2 [d0 c0 begins then true else false]
  bb1:
    return -1:i32
  bb2:
    s0: v0 = add.s(v0, 1:i32)
    return v0
  decision d0 control = c0 {
    c0 pure = e2
  }
  source {
  }
}
"#;
    let program = parse(text).unwrap();
    let body = program.functions.values().next().unwrap().body.as_ref().unwrap();
    assert_eq!(body.exprs.len(), 8);
    let text = print(&program);
    assert!(text.contains("branch e2:gt.s(v0, 10:i32) ? bb1 : bb2 [d0 c0 begins"), "{text}");
    assert_eq!(parse(&text).unwrap(), program);
    let tree = print_expr(&body.exprs, ExprId::from_index(2));
    assert_eq!(tree, "gt.s(v0, 10:i32)");
    // The function alone is all of the text behind the types.
    let function = print_function(&program, program.function_named("clamp").unwrap());
    assert_eq!(text.split_once("\n\n").unwrap().1, function);
}
