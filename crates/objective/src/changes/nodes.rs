//! The nodes of a body: its statements, and the terminators that decide or end something, each with a
//! text that does not depend on numbers.
//!
//! Marks and jumps change nothing and are no nodes. A node's successors are the nodes that control
//! comes to next.

use std::fmt::Write as _;

use lydian_base::{EntityId as _, entity_id};
use lydian_ir::cfg::Cfg;
use lydian_ir::libc::{EndFn, LibFn, model_named};
use lydian_ir::source::Point;
use lydian_ir::stmt::{Callee, Terminator};
use lydian_ir::{
    BlockId, Body, CTypeId, Expr, ExprId, FuncId, GlobalId, GlobalInit, LocalId, Program,
    RelocationTarget, Stmt, Storage,
};
use rustc_hash::FxHashMap;

use crate::fingerprint::expr_head;

entity_id!(
    /// Names a node of a body.
    NodeId,
    "n"
);

/// A node of a body.
#[derive(Clone, Debug)]
pub(super) struct Node {
    /// The statement or terminator.
    pub(super) point: Point,
    /// Its block.
    pub(super) block: BlockId,
    /// Its IR, with names in the place of numbers.
    pub(super) text: String,
    /// The locals in it, in the order of the text.
    pub(super) locals: Vec<LocalId>,
    /// The nodes that may come next, by the terminator's ways.
    pub(super) successors: Vec<Option<NodeId>>,
}

/// The nodes of a body, in the order of its blocks.
#[derive(Clone, Debug)]
pub struct Nodes {
    pub(super) all: lydian_base::Arena<NodeId, Node>,
    of: FxHashMap<Point, NodeId>,
    /// The node to which control comes first in a block.
    first: FxHashMap<BlockId, Option<NodeId>>,
}

impl Nodes {
    /// The nodes of the blocks that control can reach.
    pub fn of(program: &Program, func: FuncId, body: &Body) -> Self {
        let cfg = Cfg::new(body);
        let mut this = Self {
            all: lydian_base::Arena::new(),
            of: FxHashMap::default(),
            first: FxHashMap::default(),
        };
        for (id, block) in body.blocks.iter().filter(|(id, _)| cfg.is_reachable(*id)) {
            for stmt in &block.stmts {
                if !matches!(body.stmts[*stmt], Stmt::Mark(_)) {
                    this.push((program, func, body), Point::Stmt(*stmt), id);
                }
            }
            if !matches!(block.term, Terminator::Goto(_)) {
                this.push((program, func, body), Point::Term(id), id);
            }
        }
        this.find_successors(body);
        this
    }

    /// The node of a point; `None` for marks, jumps, and what control does not reach.
    pub fn at(&self, point: Point) -> Option<NodeId> {
        self.of.get(&point).copied()
    }

    /// The statement or terminator that a node is.
    pub fn point(&self, node: NodeId) -> Point {
        self.all[node].point
    }

    /// All nodes.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + '_ {
        self.all.ids()
    }

    /// The block of a node.
    pub fn block(&self, node: NodeId) -> BlockId {
        self.all[node].block
    }

    /// The nodes that may come next.
    pub(super) fn successors(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        self.all[node].successors.iter().flatten().copied()
    }

    /// The next node of the same block.
    pub(super) fn next_in_block(&self, node: NodeId) -> Option<NodeId> {
        let next = NodeId::from_index(node.index() + 1);
        self.all.get(next).filter(|next| next.block == self.block(node)).map(|_| next)
    }

    /// The first node that control comes to in a block or behind it.
    pub(super) fn first_of(&self, block: BlockId) -> Option<NodeId> {
        self.first.get(&block).copied().flatten()
    }

    fn push(&mut self, of: (&Program, FuncId, &Body), point: Point, block: BlockId) {
        let mut writer = NodeText { of, text: String::new(), locals: Vec::new() };
        match point {
            Point::Stmt(stmt) => writer.stmt(&of.2.stmts[stmt]),
            Point::Term(block) => writer.terminator(&of.2.blocks[block].term),
        }
        let NodeText { text, locals, .. } = writer;
        let node = self.all.push(Node { point, block, text, locals, successors: Vec::new() });
        self.of.insert(point, node);
    }

    fn find_successors(&mut self, body: &Body) {
        for block in body.blocks.ids() {
            let first = self.enter(body, block);
            self.first.insert(block, first);
        }
        let ids: Vec<NodeId> = self.all.ids().collect();
        for (position, id) in ids.iter().enumerate() {
            let Node { point, block, .. } = self.all[*id];
            self.all[*id].successors = match point {
                Point::Stmt(_) => {
                    let next = ids.get(position + 1).copied();
                    let here = next.filter(|next| self.all[*next].block == block);
                    vec![here.or_else(|| self.behind(body, block))]
                }
                Point::Term(block) => {
                    let mut found = Vec::new();
                    body.blocks[block].term.for_each_successor(|to| found.push(self.first_of(to)));
                    found
                }
            };
        }
    }

    /// The node behind the statements of a block that ends in a jump.
    fn behind(&self, body: &Body, block: BlockId) -> Option<NodeId> {
        match body.blocks[block].term {
            Terminator::Goto(to) => self.first_of(to),
            _ => self.at(Point::Term(block)),
        }
    }

    /// The first node from a block on. Jumps that only lead to each other come to none.
    fn enter(&self, body: &Body, block: BlockId) -> Option<NodeId> {
        let mut at = block;
        for _ in 0..=body.blocks.len() {
            let mut own = body.blocks[at].stmts.iter().map(|stmt| Point::Stmt(*stmt));
            if let Some(node) = own.find_map(|point| self.at(point)) {
                return Some(node);
            }
            match body.blocks[at].term {
                Terminator::Goto(to) => at = to,
                _ => return self.at(Point::Term(at)),
            }
        }
        None
    }
}

/// Writes the text of one node.
struct NodeText<'a> {
    of: (&'a Program, FuncId, &'a Body),
    text: String,
    locals: Vec<LocalId>,
}

impl NodeText<'_> {
    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Mark(_) => self.word("mark"),
            Stmt::Assign { dst, value } => {
                self.word("assign");
                self.local(*dst);
                self.expr(*value);
            }
            Stmt::Store { addr, value, ty, volatile } => {
                self.word(&format!("store {ty} {volatile}"));
                self.exprs([*addr, *value]);
            }
            Stmt::StoreBits { addr, field, value } => {
                let (at, bits) = ((field.byte_offset, field.bit), (field.bits, field.signed));
                self.word(&format!("store bits {at:?} {bits:?} {}", field.ty));
                self.exprs([*addr, *value]);
            }
            Stmt::Copy { dst, src, size } => {
                self.word(&format!("copy {size}"));
                self.exprs([*dst, *src]);
            }
            Stmt::Zero { dst, size } => {
                self.word(&format!("zero {size}"));
                self.expr(*dst);
            }
            Stmt::Call { .. } => self.call(stmt),
            Stmt::Enter(local) => {
                self.word("enter");
                self.local(*local);
            }
            Stmt::Leave(local) => {
                self.word("leave");
                self.local(*local);
            }
            Stmt::Alloca { dst, size, align, array } => {
                self.word(&format!("alloca {align} {array}"));
                self.local(*dst);
                self.expr(*size);
            }
            Stmt::Release { pointer } => {
                self.word("release");
                self.local(*pointer);
            }
            Stmt::VaStart { list } => {
                self.word("va_start");
                self.expr(*list);
            }
            Stmt::VaArg { at, ty } => {
                self.word("va_arg");
                self.ty(*ty);
                self.expr(*at);
            }
            Stmt::Havoc(havoc) => {
                self.word(&format!("assembly {}", havoc.memory));
                havoc.registers.iter().for_each(|local| self.local(*local));
                for (addr, size) in &havoc.places {
                    self.word(&size.to_string());
                    self.expr(*addr);
                }
            }
        }
    }

    fn call(&mut self, stmt: &Stmt) {
        let Stmt::Call { callee, args, arg_types, dst, dst_addr, ty } = stmt else { return };
        match callee {
            Callee::Direct(callee) => {
                let name = self.of.0.functions[*callee].name.clone();
                self.word(&format!("call {name}"));
                if is_failed_assertion(&name) {
                    return;
                }
            }
            Callee::Indirect(pointer) => {
                self.word("call through");
                self.expr(*pointer);
            }
        }
        self.ty(*ty);
        for (arg, ty) in args.iter().zip(arg_types) {
            self.ty(*ty);
            self.expr(*arg);
        }
        dst.iter().for_each(|local| self.local(*local));
        if let Some(addr) = dst_addr {
            self.word("into");
            self.expr(*addr);
        }
    }

    fn terminator(&mut self, term: &Terminator) {
        match term {
            Terminator::Goto(_) => self.word("goto"),
            Terminator::Branch { cond, origin, .. } => {
                // The way that a test ends its decision is a part of what its objectives mean.
                let ends = origin.map(|it| (it.begins, it.then_outcome, it.else_outcome));
                self.word(&format!("branch {ends:?}"));
                self.expr(*cond);
            }
            Terminator::Switch { value, cases, .. } => {
                self.word("switch");
                self.expr(*value);
                cases.iter().for_each(|case| self.word(&format!("{}..{}", case.low, case.high)));
            }
            Terminator::Return(value) => {
                self.word("return");
                value.iter().for_each(|value| self.expr(*value));
            }
            Terminator::Trap(kind) => self.word(&format!("trap {kind}")),
        }
    }

    fn exprs(&mut self, exprs: impl IntoIterator<Item = ExprId>) {
        exprs.into_iter().for_each(|expr| self.expr(expr));
    }

    fn expr(&mut self, expr: ExprId) {
        let (program, _, body) = self.of;
        match &body.exprs[expr] {
            Expr::Local(local) | Expr::AddrLocal(local) => self.local(*local),
            Expr::AddrGlobal(global) if is_literal(program, *global) => {
                let text = global_text(program, *global);
                self.word(&text);
            }
            other => {
                self.word("(");
                self.word(&expr_head(program, other));
                other.for_each_operand(|operand| self.expr(operand));
                self.word(")");
            }
        }
    }

    /// A local by its name, type and storage. Which one it is, the matching of nodes decides.
    fn local(&mut self, local: LocalId) {
        let of = &self.of.2.locals[local];
        let place = match &of.storage {
            Storage::Register(ty) => ty.to_string(),
            Storage::Memory { size, align } => format!("{size} {align}"),
        };
        let name = of.name.clone();
        self.word(&format!("{name}:{place}"));
        self.ty(of.ty);
        self.locals.push(local);
    }

    fn ty(&mut self, ty: CTypeId) {
        let spelled = self.of.0.types.spell(ty, "");
        self.word(&spelled);
    }

    fn word(&mut self, word: &str) {
        let _ = write!(self.text, "{word} ");
    }
}

/// Whether a global has a name of the user's.
pub(super) fn is_named(program: &Program, id: GlobalId) -> bool {
    !is_literal(program, id)
}

/// A global with its first contents as text; literals without their names, which are numbers.
pub fn global_text(program: &Program, id: GlobalId) -> String {
    let global = &program.globals[id];
    let name = if is_literal(program, id) { "literal" } else { &global.name };
    let head = format!("global {name} {} {} {}", global.size, global.align, global.read_only);
    let GlobalInit::Data { items, relocations } = &global.init else {
        return format!("{head} {}", global.init == GlobalInit::Zero);
    };
    let items: Vec<(u64, &[u8])> =
        items.iter().map(|item| (item.offset, item.bytes.as_slice())).collect();
    let targets = relocations.iter().map(|one| {
        let target = match one.target {
            RelocationTarget::Global(to) if is_literal(program, to) && to != id => {
                global_text(program, to)
            }
            RelocationTarget::Global(to) => program.globals[to].name.clone(),
            RelocationTarget::Function(to) => program.functions[to].name.clone(),
        };
        format!("{} {target} {}", one.offset, one.addend)
    });
    format!("{head} {items:?} {:?}", targets.collect::<Vec<_>>())
}

/// Whether a global is a string literal or another constant without a name of the user's.
fn is_literal(program: &Program, id: GlobalId) -> bool {
    let global = &program.globals[id];
    global.read_only && global.name.starts_with('.')
}
/// Whether a function ends the program for a failed assertion. Its arguments are the message, with the file
/// and the line.
fn is_failed_assertion(name: &str) -> bool {
    let model = model_named(name).map(|model| model.function);
    matches!(model, Some(LibFn::End(EndFn::AssertFail)))
}
