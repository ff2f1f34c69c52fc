//! Reads bodies from text.

use std::collections::BTreeMap;

use lydian_base::{Arena, EntityId, SideTable, Span};

use super::lex::Token;
use super::names::{MARK_STYLES, PURITIES, TRAPS};
use super::parse::{Reader, Result};
use crate::program::arith;
use crate::program::arithmetic_type::{ArithmeticType, ExprTypes};
use crate::program::decision::{BoolTree, Condition, Decision, DecisionKind, UnreachedValue};
use crate::program::expr::{BinOp, BitField, CastOp, CmpOp, Expr, ExprId, Type, UnOp};
use crate::program::function::{Body, Local, LocalId, LocalKind, Storage};
use crate::program::source::{
    Capture, DecisionSite, FunctionSource, LabelSite, MarkSite, Point, Root, RootKind, SwitchSite,
};
use crate::program::stmt::{
    Block, BlockId, BranchOrigin, Callee, Havoc, Mark, MarkKind, Stmt, StmtId, SwitchCase,
    Terminator,
};

/// Deeper trees are refused: the reader works by recursion.
const MAX_DEPTH: u32 = 150;

/// The parts of a body as they are read: their ids need not come in order.
#[derive(Default)]
struct Draft {
    exprs: BTreeMap<ExprId, Expr>,
    /// The id of the next node without a label.
    next: usize,
    /// Expressions with a name of the writer's own.
    named: BTreeMap<String, ExprId>,
    stmts: BTreeMap<StmtId, Stmt>,
    stmt_spans: Vec<(StmtId, Span)>,
    term_spans: Vec<(BlockId, Span)>,
    expr_spans: Vec<(ExprId, Span)>,
    c_types: Vec<(ExprId, ExprTypes)>,
    source: FunctionSource,
}

/// Reads `{ ... }`.
pub(super) fn body(reader: &mut Reader<'_>) -> Result<Body> {
    reader.mark("{")?;
    reader.keyword("params")?;
    let params = reader.list(|reader| reader.id("v"))?;
    let mut locals: Arena<LocalId, Local> = Arena::new();
    while reader.take_word("local") {
        reader.next_of(&locals, "v")?;
        let local = read_local(reader)?;
        locals.push(local);
    }
    reader.keyword("entry")?;
    let entry = reader.id("bb")?;
    let mut draft = Draft::default();
    let mut blocks = Arena::new();
    let mut decisions = Arena::new();
    let mut marks = Arena::new();
    while !reader.take("}") {
        if reader.take_word("expr") {
            draft.expr(reader, 0)?;
        } else if reader.take_word("unplaced") {
            draft.stmt(reader)?;
        } else if reader.take_word("decision") {
            reader.next_of(&decisions, "d")?;
            decisions.push(draft.decision(reader)?);
        } else if reader.take_word("mark") {
            reader.next_of(&marks, "m")?;
            marks.push(draft.mark(reader)?);
        } else if reader.take_word("source") {
            draft.source(reader)?;
        } else {
            reader.next_of(&blocks, "bb")?;
            blocks.push(draft.block(reader)?);
        }
    }
    let exprs = dense(reader, draft.exprs)?;
    let stmts = dense(reader, draft.stmts)?;
    let mut source = draft.source;
    fill(reader, &mut source.stmts, draft.stmt_spans, stmts.len())?;
    fill(reader, &mut source.terms, draft.term_spans, blocks.len())?;
    fill(reader, &mut source.exprs, draft.expr_spans, exprs.len())?;
    for (id, types) in draft.c_types {
        if id.index() >= exprs.len() {
            return Err(reader.error_before(format!("{id} has types but does not exist")));
        }
        source.c_types.set(id, Some(types));
    }
    Ok(Body { params, locals, exprs, stmts, blocks, entry, decisions, marks, source })
}

/// An arena of entities that were read in any order, if no id is left out.
fn dense<I: EntityId, T>(reader: &Reader<'_>, items: BTreeMap<I, T>) -> Result<Arena<I, T>> {
    let mut arena = Arena::new();
    for (id, item) in items {
        if id != arena.next_id() {
            return Err(
                reader.error_before(format!("this body does not say what {} is", arena.next_id()))
            );
        }
        arena.push(item);
    }
    Ok(arena)
}

fn fill<I: EntityId>(
    reader: &Reader<'_>,
    table: &mut SideTable<I, Span>,
    spans: Vec<(I, Span)>,
    len: usize,
) -> Result<()> {
    for (id, span) in spans {
        if id.index() >= len {
            return Err(reader.error_before(format!("{id} has a place but does not exist")));
        }
        table.set(id, span);
    }
    Ok(())
}

/// The C types of an expression.
fn expr_types(reader: &mut Reader<'_>) -> Result<ExprTypes> {
    let types = reader.list(|reader| {
        let word = reader.word("a number's type")?;
        ArithmeticType::parse(&word).ok_or_else(|| reader.error_before("no such type of a number"))
    })?;
    match types[..] {
        [text, written, used] => Ok(ExprTypes { text, written, used }),
        _ => Err(reader.error_before("an expression has three types")),
    }
}

fn read_local(reader: &mut Reader<'_>) -> Result<Local> {
    let (name, ty) = (reader.quoted_text()?, reader.id("ty")?);
    let kinds = [(LocalKind::Param, "param"), (LocalKind::Var, "var"), (LocalKind::Temp, "temp")];
    let kind = reader.one_of("`param`, `var` or `temp`", &kinds)?;
    let storage = if reader.take_word("register") {
        Storage::Register(reader.machine_type()?)
    } else {
        reader.keyword("memory")?;
        Storage::Memory { size: reader.number()?, align: reader.number()? }
    };
    Ok(Local { name, ty, kind, storage, scope: reader.span()? })
}

fn bit_field(reader: &mut Reader<'_>) -> Result<BitField> {
    reader.mark("[")?;
    let (record, field) = (reader.id("rec")?, reader.number()?);
    reader.keyword("byte")?;
    let byte_offset = reader.number()?;
    reader.keyword("bit")?;
    let bit = reader.number()?;
    reader.keyword("width")?;
    let bits = reader.number()?;
    let signed = reader.one_of("a sign", &[(true, "signed"), (false, "unsigned")])?;
    let ty = reader.machine_type()?;
    reader.mark("]")?;
    Ok(BitField { record, field, byte_offset, bit, bits, signed, ty })
}

fn boolean(reader: &mut Reader<'_>) -> Result<bool> {
    reader.one_of("`true` or `false`", &[(true, "true"), (false, "false")])
}

/// A constant's number, cut to its type if it is negative.
fn constant_bits(text: &str, ty: Type) -> Option<u128> {
    if let Some(hex) = text.strip_prefix("0x") {
        return u128::from_str_radix(hex, 16).ok();
    }
    match ty {
        _ if ty.is_float() => arith::parse_float(ty, text),
        _ if text.starts_with('-') => {
            text.parse::<i128>().ok().map(|value| arith::truncate(ty, value as u128))
        }
        _ => text.parse().ok(),
    }
}

fn bool_tree(reader: &mut Reader<'_>, depth: u32) -> Result<BoolTree> {
    if depth > MAX_DEPTH {
        return Err(reader.error("this tree is too deep"));
    }
    if let Some(condition) = reader.take_id("c") {
        return Ok(BoolTree::Cond(condition));
    }
    let word = reader.word("a Boolean operator, constant or condition")?;
    if let "true" | "false" = word.as_str() {
        return Ok(BoolTree::Const(word == "true"));
    }
    let operands = reader.list(|reader| bool_tree(reader, depth + 1))?;
    let wrong = reader.error_before("no such Boolean operator with so many operands");
    combine(&word, operands).ok_or(wrong)
}

type MakePair = fn(Box<BoolTree>, Box<BoolTree>) -> BoolTree;

/// `and` and `or` take two operands or more and nest to the left.
fn combine(word: &str, operands: Vec<BoolTree>) -> Option<BoolTree> {
    let count = operands.len();
    let mut operands = operands.into_iter().map(Box::new);
    let first = operands.next()?;
    let pair: Option<MakePair> = match word {
        "and" => Some(BoolTree::And),
        "or" => Some(BoolTree::Or),
        "bitand" => Some(BoolTree::BitAnd),
        "bitor" => Some(BoolTree::BitOr),
        "eq" => Some(BoolTree::Eq),
        "xor" => Some(BoolTree::Xor),
        _ => None,
    };
    match (word, pair, count) {
        ("and" | "or", Some(pair), 2..) => {
            Some(*operands.fold(first, |left, right| Box::new(pair(left, right))))
        }
        (_, Some(pair), 2) => Some(pair(first, operands.next()?)),
        ("not", None, 1) => Some(BoolTree::Not(first)),
        ("ite", None, 3) => Some(BoolTree::Ite(first, operands.next()?, operands.next()?)),
        _ => None,
    }
}

impl Draft {
    /// A node of a tree, or an expression that stands elsewhere.
    fn expr(&mut self, reader: &mut Reader<'_>, depth: u32) -> Result<ExprId> {
        if depth > MAX_DEPTH {
            return Err(reader.error("this expression is too deep"));
        }
        if reader.take("$") {
            return self.named_expr(reader, depth);
        }
        let label: Option<ExprId> = reader.take_id("e");
        if let Some(id) = label
            && !reader.take(":")
        {
            return Ok(id);
        }
        let node = self.node(reader, depth + 1)?;
        let id = label.unwrap_or_else(|| ExprId::from_index(self.next));
        self.next = id.index() + 1;
        match self.exprs.insert(id, node) {
            None => Ok(id),
            Some(_) => Err(reader.error_before(format!("{id} is given twice"))),
        }
    }

    fn named_expr(&mut self, reader: &mut Reader<'_>, depth: u32) -> Result<ExprId> {
        let name = reader.word("a name")?;
        if reader.take(":") {
            let id = self.expr(reader, depth + 1)?;
            self.named.insert(name, id);
            return Ok(id);
        }
        let known = self.named.get(&name).copied();
        known.ok_or_else(|| reader.error_before("no expression has this name yet"))
    }

    fn node(&mut self, reader: &mut Reader<'_>, depth: u32) -> Result<Expr> {
        if let Some(Token::Number(text)) = reader.peek() {
            let text = text.clone();
            reader.at += 1;
            reader.mark(":")?;
            let ty = reader.machine_type()?;
            let bits = constant_bits(&text, ty);
            let bits = bits.ok_or_else(|| reader.error_before("no number of this type"))?;
            return Ok(Expr::Const(ty, bits));
        }
        if reader.take("&") {
            if let Some(local) = reader.take_id("v") {
                return Ok(Expr::AddrLocal(local));
            }
            if let Some(global) = reader.take_id("g") {
                return Ok(Expr::AddrGlobal(global));
            }
            return Ok(Expr::AddrFunc(reader.id("f")?));
        }
        if let Some(local) = reader.take_id("v") {
            return Ok(Expr::Local(local));
        }
        self.operator(reader, depth)
    }

    fn operator(&mut self, reader: &mut Reader<'_>, depth: u32) -> Result<Expr> {
        let word = reader.word("an expression")?;
        match word.as_str() {
            "load" => {
                let volatile = reader.take_word("volatile");
                let ty = reader.machine_type()?;
                return Ok(Expr::Load { ty, addr: self.one(reader, depth)?, volatile });
            }
            "loadbits" => {
                let field = bit_field(reader)?;
                return Ok(Expr::LoadBits { field, addr: self.one(reader, depth)? });
            }
            "field" => {
                let (record, field) = (reader.id("rec")?, reader.number()?);
                return Ok(Expr::Field { base: self.one(reader, depth)?, record, field });
            }
            "index" => {
                let size = reader.number()?;
                let bound = if reader.take_word("of") { Some(reader.number()?) } else { None };
                let (base, index) = self.two(reader, depth)?;
                return Ok(Expr::Index { base, index, size, bound });
            }
            "ptrdiff" => {
                let size = reader.number()?;
                let (a, b) = self.two(reader, depth)?;
                return Ok(Expr::PtrDiff { a, b, size });
            }
            "select" => {
                let [test, then, otherwise] = self.three(reader, depth)?;
                return Ok(Expr::Select { test, then, otherwise });
            }
            _ => {}
        }
        if let Some(op) = super::names::named(&UnOp::ALL, &word) {
            return Ok(Expr::Unary(op, self.one(reader, depth)?));
        }
        if let Some(op) = super::names::named(&CastOp::ALL, &word) {
            let ty = reader.machine_type()?;
            return Ok(Expr::Cast(op, ty, self.one(reader, depth)?));
        }
        if let Some(op) = super::names::named(&BinOp::ALL, &word) {
            let (a, b) = self.two(reader, depth)?;
            return Ok(Expr::Binary(op, a, b));
        }
        if let Some(op) = super::names::named(&CmpOp::ALL, &word) {
            let (a, b) = self.two(reader, depth)?;
            return Ok(Expr::Cmp(op, a, b));
        }
        Err(reader.error_before("no such operator"))
    }

    fn one(&mut self, reader: &mut Reader<'_>, depth: u32) -> Result<ExprId> {
        reader.mark("(")?;
        let a = self.expr(reader, depth)?;
        reader.mark(")")?;
        Ok(a)
    }

    fn two(&mut self, reader: &mut Reader<'_>, depth: u32) -> Result<(ExprId, ExprId)> {
        reader.mark("(")?;
        let a = self.expr(reader, depth)?;
        reader.mark(",")?;
        let b = self.expr(reader, depth)?;
        reader.mark(")")?;
        Ok((a, b))
    }

    fn three(&mut self, reader: &mut Reader<'_>, depth: u32) -> Result<[ExprId; 3]> {
        reader.mark("(")?;
        let a = self.expr(reader, depth)?;
        reader.mark(",")?;
        let b = self.expr(reader, depth)?;
        reader.mark(",")?;
        let c = self.expr(reader, depth)?;
        reader.mark(")")?;
        Ok([a, b, c])
    }

    fn block(&mut self, reader: &mut Reader<'_>) -> Result<Block> {
        reader.mark(":")?;
        let mut stmts = Vec::new();
        loop {
            if reader.take_word("expr") {
                self.expr(reader, 0)?;
            } else if reader.peek_id::<StmtId>("s").is_some() {
                stmts.push(self.stmt(reader)?);
            } else {
                return Ok(Block { stmts, term: self.terminator(reader)? });
            }
        }
    }

    fn stmt(&mut self, reader: &mut Reader<'_>) -> Result<StmtId> {
        let id: StmtId = reader.id("s")?;
        if !reader.take(":") {
            return Ok(id);
        }
        let stmt = self.stmt_after_id(reader)?;
        match self.stmts.insert(id, stmt) {
            None => Ok(id),
            Some(_) => Err(reader.error_before(format!("{id} is given twice"))),
        }
    }

    fn stmt_after_id(&mut self, reader: &mut Reader<'_>) -> Result<Stmt> {
        if let Some(dst) = reader.take_id("v") {
            reader.mark("=")?;
            let array = reader.take_word("vla");
            if array || reader.take_word("alloca") {
                let size = self.expr(reader, 0)?;
                reader.mark(",")?;
                return Ok(Stmt::Alloca { dst, size, align: reader.number()?, array });
            }
            return Ok(Stmt::Assign { dst, value: self.expr(reader, 0)? });
        }
        let comma = |reader: &mut Reader<'_>| reader.mark(",");
        Ok(match reader.word("a statement")?.as_str() {
            "mark" => Stmt::Mark(reader.id("m")?),
            "enter" => Stmt::Enter(reader.id("v")?),
            "leave" => Stmt::Leave(reader.id("v")?),
            "store" => {
                let volatile = reader.take_word("volatile");
                let ty = reader.machine_type()?;
                let addr = self.expr(reader, 0)?;
                comma(reader)?;
                Stmt::Store { addr, value: self.expr(reader, 0)?, ty, volatile }
            }
            "storebits" => {
                let field = bit_field(reader)?;
                let addr = self.expr(reader, 0)?;
                comma(reader)?;
                Stmt::StoreBits { addr, field, value: self.expr(reader, 0)? }
            }
            "copy" => {
                let dst = self.expr(reader, 0)?;
                comma(reader)?;
                let src = self.expr(reader, 0)?;
                comma(reader)?;
                Stmt::Copy { dst, src, size: reader.number()? }
            }
            "zero" => {
                let dst = self.expr(reader, 0)?;
                comma(reader)?;
                Stmt::Zero { dst, size: reader.number()? }
            }
            "call" => self.call(reader)?,
            "release" => Stmt::Release { pointer: reader.id("v")? },
            "vaarg" => {
                let at = self.expr(reader, 0)?;
                comma(reader)?;
                Stmt::VaArg { at, ty: reader.id("ty")? }
            }
            "vastart" => Stmt::VaStart { list: self.expr(reader, 0)? },
            "havoc" => {
                let registers = reader.list(|reader| reader.id("v"))?;
                let places = reader.list(|reader| Ok((self.expr(reader, 0)?, reader.number()?)))?;
                let memory = reader.take_word("memory");
                let varies = reader.take_word("varies");
                Stmt::Havoc(Box::new(Havoc { registers, places, memory, varies }))
            }
            _ => return Err(reader.error_before("no such statement")),
        })
    }

    fn call(&mut self, reader: &mut Reader<'_>) -> Result<Stmt> {
        let callee = match reader.take("*") {
            true => Callee::Indirect(self.expr(reader, 0)?),
            false => Callee::Direct(reader.id("f")?),
        };
        let ty = reader.id("ty")?;
        let args = reader.list(|reader| self.expr(reader, 0))?;
        let arg_types = reader.list(|reader| reader.id("ty"))?;
        let dst = if reader.take("->") { Some(reader.id("v")?) } else { None };
        let dst_addr = if reader.take_word("to") { Some(self.expr(reader, 0)?) } else { None };
        Ok(Stmt::Call { callee, args, arg_types, dst, dst_addr, ty })
    }

    fn terminator(&mut self, reader: &mut Reader<'_>) -> Result<Terminator> {
        Ok(match reader.word("a statement or terminator")?.as_str() {
            "goto" => Terminator::Goto(reader.id("bb")?),
            "return" if reader.take_word("void") => Terminator::Return(None),
            "return" => Terminator::Return(Some(self.expr(reader, 0)?)),
            "trap" => Terminator::Trap(reader.one_of("a kind of trap", &TRAPS)?),
            "branch" => {
                let cond = self.expr(reader, 0)?;
                reader.mark("?")?;
                let then_to = reader.id("bb")?;
                reader.mark(":")?;
                let else_to = reader.id("bb")?;
                let origin = if reader.take("[") { Some(branch_origin(reader)?) } else { None };
                Terminator::Branch { cond, then_to, else_to, origin }
            }
            "switch" => {
                let value = self.expr(reader, 0)?;
                reader.mark("{")?;
                let mut cases = Vec::new();
                while !reader.take_word("default") {
                    let low = reader.number()?;
                    let high = if reader.take("..") { reader.number()? } else { low };
                    reader.mark(":")?;
                    let target = reader.id("bb")?;
                    cases.push(SwitchCase { low, high, target, span: reader.span()? });
                }
                reader.mark(":")?;
                let default = reader.id("bb")?;
                reader.mark("}")?;
                Terminator::Switch { value, cases, default }
            }
            _ => return Err(reader.error_before("no such statement or terminator")),
        })
    }

    fn decision(&mut self, reader: &mut Reader<'_>) -> Result<Decision> {
        let kinds = [(DecisionKind::Control, "control"), (DecisionKind::Value, "value")];
        let kind = reader.one_of("`control` or `value`", &kinds)?;
        let span = reader.span()?;
        reader.mark("=")?;
        let tree = bool_tree(reader, 0)?;
        reader.mark("{")?;
        let mut conditions = Arena::new();
        while !reader.take("}") {
            reader.next_of(&conditions, "c")?;
            let purity = reader.one_of("a purity", &PURITIES)?;
            let span = reader.span()?;
            reader.mark("=")?;
            let mut condition = Condition::new(self.expr(reader, 0)?, purity, span);
            if reader.take_word("unreached") {
                condition.unreached = self.unreached(reader)?;
            }
            conditions.push(condition);
        }
        Ok(Decision { kind, tree, conditions, span })
    }

    fn unreached(&mut self, reader: &mut Reader<'_>) -> Result<UnreachedValue> {
        if reader.take_word("never") {
            return Ok(UnreachedValue::Never);
        }
        let kinds = [(true, "always"), (false, "defined")];
        let always = reader.one_of("`never`, `always` or `defined`", &kinds)?;
        let expr = self.expr(reader, 0)?;
        Ok(if always { UnreachedValue::Always(expr) } else { UnreachedValue::WhereDefined(expr) })
    }

    fn mark(&mut self, reader: &mut Reader<'_>) -> Result<Mark> {
        let span = reader.span()?;
        let kind = if reader.take_word("label") {
            let name = reader.quoted_text()?;
            MarkKind::UserLabel { name, predicate: Box::new(self.decision(reader)?) }
        } else {
            reader.keyword("statement")?;
            MarkKind::Statement
        };
        Ok(Mark { kind, span })
    }

    fn source(&mut self, reader: &mut Reader<'_>) -> Result<()> {
        self.source.body = reader.span()?;
        reader.mark("{")?;
        while !reader.take("}") {
            match reader.word("a place")?.as_str() {
                "stmt" => self.stmt_spans.push((reader.id("s")?, reader.span()?)),
                "term" => self.term_spans.push((reader.id("bb")?, reader.span()?)),
                "expr" => {
                    // With a label it is a tree that was cut off, else the place of one.
                    let is_place =
                        matches!(reader.tokens.get(reader.at + 1), Some((_, Token::Mark("@"))));
                    if is_place {
                        self.expr_spans.push((reader.id("e")?, reader.span()?));
                    } else {
                        self.expr(reader, 0)?;
                    }
                }
                "types" => {
                    let id = reader.id("e")?;
                    self.c_types.push((id, expr_types(reader)?));
                }
                "mark" => {
                    let mark = reader.id("m")?;
                    let style = reader.one_of("a style", &MARK_STYLES)?;
                    self.source.marks.push(MarkSite { mark, span: reader.span()?, style });
                }
                "label" => {
                    let (mark, span) = (reader.id("m")?, reader.span()?);
                    self.source.labels.push(LabelSite { mark, span });
                }
                "decision" => {
                    let (decision, span) = (reader.id("d")?, reader.span()?);
                    let conditions = reader.list(Reader::span)?;
                    let keeps_value = reader.take_word("keeps");
                    let site = DecisionSite { decision, span, conditions, keeps_value };
                    self.source.decisions.push(site);
                }
                "switch" => {
                    let (block, operand) = (reader.id("bb")?, reader.span()?);
                    let computed = reader.take_word("computed");
                    self.source.switches.push(SwitchSite { block, operand, computed });
                }
                "copy" => {
                    let (copy, original) = (reader.id("s")?, reader.id("s")?);
                    self.source.copies.insert(copy, original);
                }
                "root" => {
                    reader.next_of(&self.source.roots, "r")?;
                    let root = self.root(reader)?;
                    self.source.roots.push(root);
                }
                _ => return Err(reader.error_before("no such place")),
            }
        }
        Ok(())
    }

    fn root(&mut self, reader: &mut Reader<'_>) -> Result<Root> {
        let point = point(reader)?;
        let mut copies = Vec::new();
        while reader.take_word("and") {
            copies.push(self::point(reader)?);
        }
        let span = reader.span()?;
        let kind = match reader.word("a kind of root")?.as_str() {
            "value" => RootKind::Value,
            "address" => RootKind::Address,
            "update" => RootKind::Update,
            "assigned" => {
                let local = reader.take_id("v");
                let addr = if reader.take_word("at") { Some(self.expr(reader, 0)?) } else { None };
                reader.mark("=")?;
                RootKind::Assigned { local, addr }
            }
            "condition" => {
                RootKind::Condition { decision: reader.id("d")?, condition: reader.id("c")? }
            }
            _ => return Err(reader.error_before("no kind of root")),
        };
        let expr = self.expr(reader, 0)?;
        let rewritable = !reader.take_word("fixed");
        let captures = match reader.sees("(") {
            true => reader.list(|reader| {
                let temp = reader.id("v")?;
                Ok(Capture { temp, span: reader.span()? })
            })?,
            false => Vec::new(),
        };
        Ok(Root { point, copies, expr, kind, span, captures, rewritable })
    }
}

fn point(reader: &mut Reader<'_>) -> Result<Point> {
    Ok(match reader.take_id("s") {
        Some(stmt) => Point::Stmt(stmt),
        None => Point::Term(reader.id("bb")?),
    })
}

fn branch_origin(reader: &mut Reader<'_>) -> Result<BranchOrigin> {
    let (decision, condition) = (reader.id("d")?, reader.id("c")?);
    let begins = reader.take_word("begins");
    let then_outcome = if reader.take_word("then") { Some(boolean(reader)?) } else { None };
    let else_outcome = if reader.take_word("else") { Some(boolean(reader)?) } else { None };
    reader.mark("]")?;
    Ok(BranchOrigin { decision, condition, begins, then_outcome, else_outcome })
}
