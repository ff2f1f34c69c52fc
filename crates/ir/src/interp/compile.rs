//! From a function's body to its linear code.
//!
//! Blocks come in their order, so that most edges fall through. Each statement is made from its
//! expressions ([`values`]); a branch on a comparison is one operation. Steps are counted once for
//! every run of statements up to a call or the end of a block. For an observer ([`Settings::events`])
//! there are events between the operations, and every register has a flag.

use lydian_base::{EntityId, SideTable};
use rustc_hash::FxHashMap;

use crate::libc::model_of;
use crate::program::arith::Overflow;
use crate::program::ctype::{CType, CTypeId};
use crate::program::expr::{BitField, CmpOp, Expr, ExprId, Type};
use crate::program::function::{Body, LocalId, Storage};
use crate::program::source::{Point, RootId};
use crate::program::stmt::{BlockId, Callee, Stmt, Terminator};
use crate::program::{FuncId, Program};
use crate::trap::may_trap;

use crate::assigned::{self, DefiniteAssignment, Set};

use super::code::{ArgumentSlot, CallSite, Code, Op, Receive, RootEvent};
use super::host_call::HostCall;
use super::layout::{FrameLayout, FrameSize, Home};
use super::memory::GAP;
use super::observe::EventLevel;
use super::plan::Plan;
use super::slots::{Slot, is_wide, slots_of};

mod access;
mod branch;
mod select;
mod subscripts;
mod values;

use values::Nodes;

/// How many slots registers can have; the others are far.
const REGISTER_SLOTS: u32 = 40_000;
/// How many slots the parameters of a function, or the arguments of a call, can have.
const ARGUMENT_SLOTS: usize = 8_000;
/// Frames of more bytes than this are never entered.
const MOST_FRAME: u64 = 1 << 31;

/// The assumptions that code is compiled for.
#[derive(Clone, Copy)]
pub(super) struct Settings<'a> {
    pub(super) overflow: Overflow,
    /// The events for an observer.
    pub(super) events: EventLevel,
    /// Whether host calls are served.
    pub(super) hosted: bool,
    /// The addresses of the globals.
    pub(super) globals: &'a [u64],
}

impl Settings<'_> {
    /// Whether an observer listens.
    fn watched(&self) -> bool {
        self.events > EventLevel::Nothing
    }
}

/// A comparison of two expressions.
struct Comparison {
    op: CmpOp,
    a: ExprId,
    b: ExprId,
}

/// A function in the making.
struct Builder<'a, 'p> {
    program: &'p Program,
    body: &'p Body,
    settings: Settings<'a>,
    types: SideTable<ExprId, Type>,
    code: Code<'p>,
    assigned: DefiniteAssignment,
    /// Registers that are surely set here.
    set: Set,
    nodes: Nodes,
    /// The first slot of temporaries, and the first that is free in this statement.
    first_temporary: Slot,
    cursor: Slot,
    free: Vec<Slot>,
    /// The most slots that a statement needed.
    most_slots: Slot,
    starts: Vec<u32>,
    /// Jumps to blocks.
    jumps: Vec<(usize, BlockId)>,
    /// Where the steps of this run of statements are counted.
    counter: Option<usize>,
    roots: FxHashMap<Point, Vec<RootId>>,
    /// Whether it needs more slots than there are.
    overfull: bool,
}

/// The code of a function; `None` where it needs more room than any run has.
pub(super) fn compile<'p>(
    program: &'p Program,
    function: FuncId,
    body: &'p Body,
    settings: Settings<'_>,
) -> Option<Code<'p>> {
    let mut builder = Builder::new(program, function, body, settings);
    builder.homes();
    if builder.overfull {
        return None;
    }
    builder.begin();
    let order: Vec<BlockId> = body.blocks.ids().collect();
    if order.first() != Some(&body.entry) {
        builder.jump(body.entry);
    }
    for (position, block) in order.iter().enumerate() {
        builder.block(*block, order.get(position + 1).copied());
    }
    builder.resolve();
    (!builder.overfull && builder.most_slots < Slot::MAX - 8).then_some(builder.code)
}

impl<'a, 'p> Builder<'a, 'p> {
    fn new(program: &'p Program, function: FuncId, body: &'p Body, settings: Settings<'a>) -> Self {
        let mut roots: FxHashMap<Point, Vec<RootId>> = FxHashMap::default();
        if settings.watched() {
            for (id, root) in body.source.roots.iter() {
                root.points().for_each(|point| roots.entry(point).or_default().push(id));
            }
        }
        let assigned = match settings.watched() {
            true => DefiniteAssignment::nothing_known(body),
            false => DefiniteAssignment::new(body),
        };
        let is_variadic =
            crate::variadic::is_variadic(&program.types, program.functions[function].ty);
        let code = Code::new(function, body, FrameLayout::new(body, GAP), is_variadic);
        Self {
            program,
            body,
            settings,
            types: body.types_in(&body.exprs),
            code,
            assigned,
            set: Set::new(),
            nodes: Nodes::new(body),
            first_temporary: 0,
            cursor: 0,
            free: Vec::new(),
            most_slots: 0,
            starts: vec![0; body.blocks.len()],
            jumps: Vec::new(),
            counter: None,
            roots,
            overfull: false,
        }
    }

    fn emit(&mut self, op: Op) {
        self.code.ops.push(op);
    }

    // Homes.

    /// Gives every local a place: parameters, then registers with flags, then the others.
    fn homes(&mut self) {
        let body = self.body;
        self.frame();
        let mut next = self.params();
        let mut is_param = vec![false; body.locals.len()];
        body.params.iter().for_each(|param| is_param[param.index()] = true);
        let registers: Vec<LocalId> = body
            .locals
            .ids()
            .filter(|id| matches!(body.locals[*id].storage, Storage::Register(_)))
            .filter(|id| !is_param[id.index()])
            .collect();
        let first_flagged = next;
        let (uncertain, certain): (Vec<LocalId>, Vec<LocalId>) =
            registers.into_iter().partition(|id| self.assigned.uncertain[id.index()]);
        let mut flagged = Vec::new();
        for id in uncertain {
            if let Some(slot) = self.near_or_far(id, &mut next, 1) {
                self.code.layout.place_near(id, slot);
                flagged.push(id);
            }
        }
        for id in flagged {
            self.code.layout.set_flag(id, next as Slot);
            next += 1;
        }
        if next > first_flagged {
            self.emit(Op::Clear(first_flagged as Slot, next as Slot));
        }
        for id in certain {
            if let Some(slot) = self.near_or_far(id, &mut next, 0) {
                self.code.layout.place_near(id, slot);
            }
        }
        self.first_temporary = next as Slot;
        self.cursor = self.first_temporary;
    }

    /// A register's slot, with room for `more` later; or a far place, and `None`.
    fn near_or_far(&mut self, local: LocalId, next: &mut u32, more: u32) -> Option<Slot> {
        let count = u32::from(slots_of(self.code.layout.ty(local)));
        if *next + 2 * count + more > REGISTER_SLOTS {
            self.code.layout.place_far(local);
            return None;
        }
        *next += count;
        Some((*next - count) as Slot)
    }

    /// Lays out the locals in memory.
    fn frame(&mut self) {
        let (mut end, mut most) = (0u64, GAP);
        for (id, local) in self.body.locals.iter() {
            let Storage::Memory { size, align } = local.storage else { continue };
            let align = align.clamp(1, 1 << 20).next_power_of_two();
            let start = if end == 0 { 0 } else { (end + GAP).next_multiple_of(align) };
            end = start.saturating_add(size.max(1));
            most = most.max(align);
            if end > MOST_FRAME {
                self.overfull = true;
                return;
            }
            self.code.layout.place_in_memory(id, start as u32, size as u32);
        }
        self.code.layout.set_size(FrameSize { bytes: end, align: most });
    }

    /// Gives the parameters their slots; the number of slots.
    fn params(&mut self) -> u32 {
        let body = self.body;
        let mut next = 0u32;
        for param in &body.params {
            let local = &body.locals[*param];
            let scalar = self.program.types.scalar(local.ty).unwrap_or(Type::Ptr);
            let (ty, receive) = match (local.storage, self.code.layout.home(*param)) {
                (Storage::Register(ty), _) => (ty, Receive::Register),
                (_, Home::Memory { offset, size }) => {
                    self.code.params.is_plain = false;
                    let is_record = self.program.types.scalar(local.ty).is_none();
                    match is_record {
                        true => (Type::Ptr, Receive::Record { offset, size }),
                        false => (scalar, Receive::Scalar { offset, size }),
                    }
                }
                _ => (scalar, Receive::Register),
            };
            if matches!(local.storage, Storage::Register(_)) {
                self.code.layout.place_near(*param, next as Slot);
            }
            self.code.params.slots.push(ArgumentSlot { ty, slot: next as Slot });
            self.code.params.receives.push(receive);
            next += u32::from(slots_of(ty));
            if next as usize > ARGUMENT_SLOTS {
                self.overfull = true;
                return 0;
            }
        }
        next
    }

    fn begin(&mut self) {
        if self.settings.watched() {
            self.emit(Op::SeesEntry);
        }
    }

    // Blocks.

    fn block(&mut self, id: BlockId, next: Option<BlockId>) {
        self.starts[id.index()] = self.code.ops.len() as u32;
        self.counter = None;
        self.set = self.assigned.at(id.index());
        if self.settings.events == EventLevel::Statements {
            self.emit(Op::SeesBlock(id));
        }
        let body = self.body;
        let block = &body.blocks[id];
        for stmt in &block.stmts {
            self.point(Point::Stmt(*stmt));
            self.statement(&body.stmts[*stmt]);
            if let Some(dst) = assigned::target(&body.stmts[*stmt]) {
                assigned::insert(&mut self.set, dst);
            }
        }
        self.point(Point::Term(id));
        self.terminator(id, &block.term, next);
        self.counter = None;
    }

    /// A statement or terminator begins.
    fn point(&mut self, point: Point) {
        self.most_slots = self.most_slots.max(self.cursor);
        self.cursor = self.first_temporary;
        self.free.clear();
        if self.settings.watched() {
            self.counter = None;
        }
        let counter = match self.counter {
            Some(counter) => counter,
            None => {
                self.code.points.begin_segment();
                self.emit(Op::Steps(0));
                self.code.ops.len() - 1
            }
        };
        self.counter = Some(counter);
        if let Op::Steps(count) = &mut self.code.ops[counter] {
            *count += 1;
        }
        self.code.points.begin(self.code.ops.len() as u32, point);
        if let (Point::Stmt(stmt), EventLevel::Statements) = (point, self.settings.events) {
            self.emit(Op::SeesStatement(stmt));
        }
        if let Some(roots) = self.roots.remove(&point) {
            let number = self.code.events.roots.len() as u32;
            let roots = self.roots_in_order(roots);
            self.code.events.roots.push(roots);
            self.emit(Op::SeesRoots(number));
        }
    }

    /// The roots of one place, in the order of their evaluation, those that may trap before others
    /// prepared.
    fn roots_in_order(&self, roots: Vec<RootId>) -> Vec<RootEvent> {
        let body = self.code.body;
        let last = roots.len() - 1;
        let prepare = |(position, root): (usize, RootId)| {
            let expr = body.source.roots[root].expr;
            let overflow = self.settings.overflow;
            let matters =
                position < last && may_trap(self.program, body, &body.exprs, expr, overflow);
            let may_trap = matters.then(|| Plan::new(self.program, &body.exprs, &self.types, expr));
            RootEvent { root, may_trap }
        };
        roots.into_iter().enumerate().map(prepare).collect()
    }

    fn jump(&mut self, to: BlockId) {
        self.jump_by(Op::Jump(0), to);
    }

    /// A jump whose target is filled in at the end.
    fn jump_by(&mut self, op: Op, to: BlockId) {
        self.jumps.push((self.code.ops.len(), to));
        self.emit(op);
    }

    fn resolve(&mut self) {
        for (at, block) in std::mem::take(&mut self.jumps) {
            let target = self.starts[block.index()];
            branch::set_target(&mut self.code.ops[at], target);
        }
        self.resolve_tables();
    }

    // Statements.

    fn statement(&mut self, stmt: &'p Stmt) {
        match stmt {
            Stmt::Mark(mark) => {
                if self.settings.watched() {
                    self.emit(Op::SeesMark(*mark));
                }
            }
            Stmt::Assign { dst, value } => self.assign(*dst, |builder, slot| {
                builder.value_into(*value, slot);
            }),
            Stmt::Store { addr, value, ty, volatile } => {
                let value = self.slot(*value);
                let address = self.value(*addr, None);
                match volatile {
                    true => self.store_volatile(*ty, value.slot, address),
                    false => self.store(*ty, value.slot, address),
                }
            }
            Stmt::StoreBits { addr, field, value } => {
                let value = self.slot(*value);
                let address = self.slot(*addr);
                let number = self.field(field);
                self.emit(Op::StoreBits(value.slot, address.slot, number));
            }
            Stmt::Copy { dst, src, size } => {
                let from = self.slot(*src);
                let to = self.slot(*dst);
                self.emit(Op::Copy(to.slot, from.slot, *size));
            }
            Stmt::Zero { dst, size } => {
                let to = self.slot(*dst);
                self.emit(Op::Zero(to.slot, *size));
            }
            Stmt::Call { .. } => self.call(stmt),
            Stmt::Enter(local) => {
                if let Home::Memory { offset, size } = self.code.layout.home(*local) {
                    self.emit(Op::Enter(offset, size));
                }
            }
            Stmt::Leave(local) => {
                if let Home::Memory { offset, size } = self.code.layout.home(*local) {
                    self.emit(Op::Leave(offset, size));
                }
            }
            Stmt::Alloca { dst, size, align, array } => {
                let size = self.slot(*size);
                let align = (*align).min(1 << 20) as u32;
                let array = *array;
                self.assign(*dst, |builder, slot| {
                    builder.emit(Op::Alloca(slot, size.slot, align, array));
                });
            }
            Stmt::Release { pointer } => self.release(*pointer),
            Stmt::VaStart { list } => {
                let list = self.slot(*list);
                self.emit(Op::VaStart(list.slot));
            }
            Stmt::VaArg { .. } => {}
            Stmt::Havoc(havoc) => self.emit(Op::Havoc(havoc.varies)),
        }
    }

    /// Sets a register to the value that `make` puts into the slot.
    fn assign(&mut self, dst: LocalId, make: impl FnOnce(&mut Self, Slot)) {
        match self.code.layout.home(dst) {
            Home::Near(slot) => {
                make(self, slot);
                if let Some(flag) = self.code.layout.flag(dst) {
                    self.emit(Op::Const(flag, 1));
                }
            }
            Home::Far(index) => {
                let ty = self.code.layout.ty(dst);
                let slot = self.temporary(ty).slot;
                make(self, slot);
                self.emit(Op::SetFar(slot, index, is_wide(ty)));
            }
            Home::Memory { .. } => {}
        }
    }

    fn release(&mut self, pointer: LocalId) {
        match self.code.layout.home(pointer) {
            Home::Near(slot) => {
                self.emit(Op::Release(slot));
                if let Some(flag) = self.code.layout.flag(pointer) {
                    self.emit(Op::Const(flag, 1));
                }
            }
            Home::Far(index) => {
                let slot = self.temporary(Type::Ptr).slot;
                self.emit(Op::GetFar(slot, index, false));
                self.emit(Op::Release(slot));
                self.emit(Op::SetFar(slot, index, false));
            }
            Home::Memory { .. } => {}
        }
    }

    fn field(&mut self, field: &BitField) -> u32 {
        self.code.fields.push(*field);
        self.code.fields.len() as u32 - 1
    }

    // Calls.

    fn call(&mut self, stmt: &'p Stmt) {
        let Stmt::Call { callee, args, dst, .. } = stmt else { return };
        let number = self.code.sites.len() as u32;
        let ty = dst.map(|dst| self.code.layout.ty(dst));
        let far = dst.filter(|dst| matches!(self.code.layout.home(*dst), Home::Far(_)));
        let far_slot = far.map(|dst| self.temporary(self.code.layout.ty(dst)).slot);
        let result = dst.map(|dst| match self.code.layout.home(dst) {
            Home::Near(slot) => slot,
            _ => far_slot.unwrap_or(0),
        });
        let target = match callee {
            Callee::Direct(function) => Err(*function),
            Callee::Indirect(pointer) => {
                let to = self.temporary(Type::Ptr).slot;
                let address = self.slot(*pointer);
                self.emit(Op::Resolve(to, address.slot, number));
                Ok(to)
            }
        };
        let (at, passed) = self.arguments(args);
        let dst_addr = match stmt {
            Stmt::Call { dst_addr: Some(addr), .. } => Some(self.slot(*addr).slot),
            _ => None,
        };
        self.code.sites.push(CallSite {
            stmt,
            at,
            args: passed,
            dst: result.zip(ty),
            dst_addr,
            model: None,
            suits: Default::default(),
            signature: Default::default(),
            variable: Default::default(),
        });
        match target {
            Ok(slot) => self.emit(Op::CallTo(slot, number)),
            Err(function) => self.direct(function, number),
        }
        self.counter = None;
        if let Some(dst) = dst {
            self.after_call(*dst, far_slot);
        }
    }

    fn after_call(&mut self, dst: LocalId, far_slot: Option<Slot>) {
        if let Some(flag) = self.code.layout.flag(dst) {
            self.emit(Op::Const(flag, 1));
        }
        if let (Home::Far(index), Some(slot)) = (self.code.layout.home(dst), far_slot) {
            let wide = is_wide(self.code.layout.ty(dst));
            self.emit(Op::SetFar(slot, index, wide));
        }
    }

    /// Computes arguments into slots that lie together; the first, and each one's place.
    fn arguments(&mut self, args: &[ExprId]) -> (Slot, Vec<ArgumentSlot>) {
        let mut passed = Vec::with_capacity(args.len());
        let mut count = 0usize;
        for arg in args {
            let ty = self.types[*arg];
            passed.push(ArgumentSlot { ty, slot: count as Slot });
            count += usize::from(slots_of(ty));
        }
        if count > ARGUMENT_SLOTS {
            self.overfull = true;
            return (0, Vec::new());
        }
        let at = self.cursor;
        self.cursor = self.cursor.saturating_add(count as Slot);
        for (arg, passed) in args.iter().zip(&passed) {
            self.value_into(*arg, at + passed.slot);
        }
        (at, passed)
    }

    fn direct(&mut self, function: FuncId, site: u32) {
        let declared = &self.program.functions[function];
        if declared.body.is_some() {
            return self.emit(Op::Call(function, site));
        }
        if let Some(host) = HostCall::named(&declared.name).filter(|_| self.settings.hosted) {
            return self.emit(Op::CallHost(host, site));
        }
        match model_of(&self.program.types, &declared.name, declared.ty) {
            Some(model) => {
                self.code.sites[site as usize].model = Some(model);
                self.emit(Op::CallModel(site));
            }
            None => self.emit(Op::CallExternal(function, site)),
        }
    }

    // Ends of blocks.

    fn terminator(&mut self, id: BlockId, term: &'p Terminator, next: Option<BlockId>) {
        match term {
            Terminator::Goto(to) => self.edge(id, 0, *to, next),
            Terminator::Branch { cond, then_to, else_to, origin } => {
                if self.settings.watched() {
                    self.watched_branch(id, *cond, (*then_to, *else_to), *origin);
                } else {
                    self.branch(*cond, *then_to, *else_to, next);
                }
            }
            Terminator::Switch { value, cases, default } => {
                self.switch(id, *value, cases, *default);
            }
            Terminator::Return(None) => self.emit(Op::Return),
            Terminator::Return(Some(value)) => {
                let slot = self.slot(*value).slot;
                let op = match self.returns_record() {
                    true => Op::ReturnRecord(slot),
                    false if is_wide(self.types[*value]) => Op::ReturnWide(slot),
                    false => Op::ReturnValue(slot),
                };
                self.emit(op);
            }
            Terminator::Trap(kind) => self.emit(Op::Trap(*kind)),
        }
    }

    fn returns_record(&self) -> bool {
        let types = &self.program.types;
        let result = |ty: CTypeId| match types.get(ty) {
            CType::Function { result, .. } => Some(*result),
            _ => None,
        };
        let result = result(self.program.functions[self.code.function].ty);
        result.is_some_and(|result| types.is_aggregate(result))
    }

    /// An edge that is always taken.
    fn edge(&mut self, from: BlockId, way: u32, to: BlockId, next: Option<BlockId>) {
        if self.settings.watched() {
            self.emit(Op::SeesEdge(from, way));
        }
        if next != Some(to) {
            self.jump(to);
        }
    }

    /// Whether an expression is a comparison.
    fn comparison(&self, expr: ExprId) -> Option<Comparison> {
        match &self.body.exprs[expr] {
            Expr::Cmp(op, a, b) => Some(Comparison { op: *op, a: *a, b: *b }),
            _ => None,
        }
    }
}
