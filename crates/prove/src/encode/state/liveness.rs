//! The slots whose values matter at each node: those that some way from there reads before it writes.
//!
//! A backward analysis over the inlined graph. A slot that is taken for dead though it is not has any
//! value, so that a mistake here cannot hide a behaviour.

use lydian_base::EntityId;
use lydian_ir::libc::{LibFn, MemoryFn};
use lydian_ir::stmt::Terminator;
use lydian_ir::{Callee, Expr, ExprId, LocalId, Stmt, StmtId, Storage};

use crate::encode::ids::{InstanceId, NodeId, SlotId};
use crate::encode::inlined::calls::{CallEffect, Code, effect_of};
use crate::encode::inlined::graph::Graph;
use crate::encode::inlined::{Exit, Inlined};
use crate::encode::memory::layout::{Cell, Lane, Layout};
use crate::encode::pointers::objects::{ObjectKind, Objects};
use crate::encode::pointers::offset::Offset;
use crate::encode::pointers::{Place, PointsTo, Spot};
use crate::encode::state::SlotSet;
use crate::encode::state::slots::{Layouts, SlotKind, Slots};
use crate::encode::summaries::Summaries;

/// The parts of an analysed program.
#[derive(Clone, Copy)]
pub(crate) struct Analysed<'s, 'a> {
    pub(crate) inlined: &'s Inlined<'a>,
    pub(crate) objects: &'s Objects,
    pub(crate) pointers: &'s PointsTo<'a>,
    pub(crate) layouts: &'s Layouts,
    pub(crate) slots: &'s Slots,
    pub(crate) code: &'s Code,
    pub(crate) summaries: &'s Summaries,
}

/// Reads that are no part of the program's statements.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    /// Expressions of labels that are evaluated in a node.
    pub(crate) exprs: Vec<ExprId>,
    /// Slots that a node reads.
    pub(crate) reads: Vec<SlotId>,
    /// Slots that a node writes before it reads them.
    pub(crate) writes: Vec<SlotId>,
}

/// The live slots at the beginning of each node.
#[derive(Debug)]
pub(crate) struct Liveness(Vec<SlotSet>);

impl Liveness {
    pub(crate) fn new(
        analysed: Analysed<'_, '_>,
        graph: &Graph,
        notes: impl Fn(NodeId) -> Notes,
    ) -> Self {
        let room = analysed.slots.all.len();
        let nodes = analysed.inlined.nodes.len();
        let empty = SlotSet::with_room(room);
        let mut live = vec![empty.clone(); nodes];
        let mut killed = vec![empty.clone(); nodes];
        for node in &graph.order {
            let mut scan = NodeScan { analysed, read: empty.clone(), written: empty.clone() };
            scan.notes(*node, &notes(*node));
            scan.node(*node);
            live[node.index()] = scan.read;
            killed[node.index()] = scan.written;
        }
        let mut entering = empty.clone();
        analysed.summaries.own_slots().for_each(|slot| entering.insert(slot));
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for node in graph.order.iter().rev() {
                let mut own = std::mem::take(&mut live[node.index()]);
                let content = &analysed.inlined.nodes[*node];
                let is_recursion = matches!(content.exit, Exit::Recursion { .. });
                for (way, to) in content.successors.iter().enumerate() {
                    if to == node {
                        continue;
                    }
                    let (own_killed, to) = (&killed[node.index()], &live[to.index()]);
                    changed |= match is_recursion && way == 0 {
                        true => own.add_all_but(to, &own_killed.joined(&entering)),
                        false => own.add_all_but(to, own_killed),
                    };
                }
                live[node.index()] = own;
            }
        }
        Self(live)
    }

    /// The slots that matter at the beginning of a node.
    pub(crate) fn at(&self, node: NodeId) -> &SlotSet {
        &self.0[node.index()]
    }
}

/// The slots that a node reads before it writes them, and those that it surely writes.
struct NodeScan<'s, 'a> {
    analysed: Analysed<'s, 'a>,
    read: SlotSet,
    written: SlotSet,
}

impl NodeScan<'_, '_> {
    fn notes(&mut self, node: NodeId, notes: &Notes) {
        let instance = self.analysed.inlined.nodes[node].instance;
        notes.exprs.iter().for_each(|expr| self.reads(instance, *expr));
        notes.reads.iter().for_each(|slot| self.reads_slot(*slot));
        notes.writes.iter().for_each(|slot| self.written.insert(*slot));
    }

    fn node(&mut self, node: NodeId) {
        let Analysed { inlined, .. } = self.analysed;
        let instance = inlined.nodes[node].instance;
        for stmt in inlined.stmts(node) {
            self.stmt(instance, stmt);
        }
        if let Exit::Call { stmt, callees, .. } = &inlined.nodes[node].exit {
            self.reads_of(instance, *stmt);
            callees.iter().for_each(|callee| self.call(instance, *stmt, *callee));
        }
        if let Exit::Recursion { stmt, callee } = &inlined.nodes[node].exit {
            self.recursion(instance, *stmt, *callee);
        }
        let Some(terminator) = inlined.terminator(node) else { return };
        terminator.operand().into_iter().for_each(|operand| self.reads(instance, operand));
        if let Terminator::Return(value) = terminator {
            self.returns(instance, *value);
        }
    }

    fn reads_slot(&mut self, slot: SlotId) {
        let is_constant = self.analysed.layouts.is_constant(self.analysed.slots.all[slot].kind);
        if !is_constant && !self.written.contains(slot) {
            self.read.insert(slot);
        }
    }

    fn reads_kind(&mut self, kind: SlotKind) {
        if let Some(slot) = self.analysed.slots.of(kind) {
            self.reads_slot(slot);
        }
    }

    fn writes_kind(&mut self, kind: SlotKind) {
        if let Some(slot) = self.analysed.slots.of(kind) {
            self.written.insert(slot);
        }
    }

    fn reads_of(&mut self, instance: InstanceId, stmt: StmtId) {
        let body = self.analysed.inlined.instances[instance].body;
        let mut exprs = Vec::new();
        body.stmts[stmt].for_each_expr(|expr| exprs.push(expr));
        exprs.into_iter().for_each(|expr| self.reads(instance, expr));
    }

    fn reads(&mut self, instance: InstanceId, expr: ExprId) {
        let exprs = self.analysed.inlined.instances[instance].exprs;
        let mut waiting = vec![expr];
        while let Some(expr) = waiting.pop() {
            match &exprs[expr] {
                Expr::Local(local) => self.reads_kind(SlotKind::Register(instance, *local)),
                Expr::Load { ty, addr, .. } => {
                    let size = self.analysed.layouts.target.stored_bytes(*ty);
                    self.loads(instance, *addr, size);
                }
                Expr::LoadBits { field, addr } => self.loads(instance, *addr, field.bytes()),
                _ => {}
            }
            exprs[expr].for_each_operand(|operand| waiting.push(operand));
        }
    }

    fn spots(&self, instance: InstanceId, addr: ExprId) -> Vec<Spot> {
        let Analysed { inlined, objects, pointers, .. } = self.analysed;
        pointers.spots(inlined, objects, (instance, addr))
    }

    fn loads(&mut self, instance: InstanceId, addr: ExprId, size: u64) {
        self.reads_outside(instance, addr);
        for Spot { object, at } in self.spots(instance, addr) {
            self.reads_kind(SlotKind::End(object));
            let stretches: Vec<(SlotKind, Offset, u64)> = match self.analysed.layouts.of(object) {
                Layout::Cells(cells) => {
                    let cells = cells.iter().enumerate();
                    let of = |(nth, cell): (usize, &Cell)| {
                        let start = Offset::ZERO.plus(cell.offset as i64);
                        (SlotKind::Cell(object, nth), start, cell.size)
                    };
                    cells.map(of).collect()
                }
                Layout::Lanes(lanes) => {
                    let period = lanes.period;
                    let lanes = lanes.lanes.iter().enumerate();
                    let of = |(nth, lane): (usize, &Lane)| {
                        let start = Offset::ZERO.plus(lane.offset as i64).with_stride(period);
                        (SlotKind::Lane(object, nth), start, lane.size)
                    };
                    lanes.map(of).collect()
                }
            };
            for (kind, start, bytes) in stretches {
                if start.may_overlap(bytes, at, size) {
                    self.reads_kind(kind);
                }
            }
        }
    }

    fn reads_outside(&mut self, instance: InstanceId, addr: ExprId) {
        let Analysed { inlined, objects, pointers, .. } = self.analysed;
        let targets = pointers.targets(inlined, objects, (instance, addr));
        if targets.contains_key(&Place::Unknown) {
            self.reads_kind(SlotKind::Outside);
        }
    }

    /// Reads all of each object that an address may point into.
    fn reads_objects(&mut self, instance: InstanceId, addr: ExprId) {
        self.reads_outside(instance, addr);
        for Spot { object, .. } in self.spots(instance, addr) {
            self.reads_kind(SlotKind::End(object));
            for slot in self.analysed.slots.of_object(self.analysed.layouts, object) {
                self.reads_slot(slot);
            }
        }
    }

    fn stmt(&mut self, instance: InstanceId, id: StmtId) {
        self.reads_of(instance, id);
        let inlined = self.analysed.inlined;
        match &inlined.instances[instance].body.stmts[id] {
            Stmt::Assign { dst, .. } => self.writes_kind(SlotKind::Register(instance, *dst)),
            Stmt::Store { addr, ty, .. } => {
                let size = self.analysed.layouts.target.stored_bytes(*ty);
                self.stores(instance, *addr, size);
            }
            Stmt::StoreBits { addr, .. } => {
                self.ends(instance, *addr);
                self.reads_outside(instance, *addr);
            }
            Stmt::Zero { dst, .. } => self.ends(instance, *dst),
            Stmt::Copy { dst, src, .. } => {
                self.ends(instance, *dst);
                self.reads_objects(instance, *src);
            }
            Stmt::Enter(local) => {
                if let Some(object) = self.analysed.objects.of(ObjectKind::Local(instance, *local))
                {
                    for slot in self.analysed.slots.of_object(self.analysed.layouts, object) {
                        self.written.insert(slot);
                    }
                }
            }
            Stmt::Alloca { dst, .. } => {
                self.allocates(instance, id);
                self.writes_kind(SlotKind::Register(instance, *dst));
            }
            Stmt::Call { callee: Callee::Direct(callee), args, dst, dst_addr, .. } => {
                dst_addr.iter().for_each(|addr| self.ends(instance, *addr));
                self.allocates(instance, id);
                if let CallEffect::Model(model) = effect_of(inlined.program, *callee) {
                    args.iter().for_each(|arg| self.ends(instance, *arg));
                    let copies = matches!(
                        model.function,
                        LibFn::Memory(MemoryFn::Memcpy | MemoryFn::Memmove)
                    );
                    if copies && let Some(from) = args.get(1) {
                        self.reads_objects(instance, *from);
                    }
                }
                dst.iter().for_each(|dst| self.writes_kind(SlotKind::Register(instance, *dst)));
            }
            Stmt::Call { dst, .. } => {
                dst.iter().for_each(|dst| self.writes_kind(SlotKind::Register(instance, *dst)));
            }
            Stmt::Release { pointer } => {
                self.writes_kind(SlotKind::Register(instance, *pointer));
            }
            Stmt::Havoc(_)
            | Stmt::Mark(_)
            | Stmt::Leave(_)
            | Stmt::VaStart { .. }
            | Stmt::VaArg { .. } => {}
        }
    }

    /// A place that allocates reads how much is allocated there.
    fn allocates(&mut self, instance: InstanceId, stmt: StmtId) {
        let object = self.analysed.objects.of(ObjectKind::Allocated(instance, stmt));
        let Some(object) = object else { return };
        let Analysed { objects, slots, layouts, .. } = self.analysed;
        if objects.sites.get(&object).is_some_and(|site| site.repeats) {
            self.reads_kind(SlotKind::End(object));
            return;
        }
        self.writes_kind(SlotKind::End(object));
        let slots = slots.of_object(layouts, object);
        slots.into_iter().for_each(|slot| self.written.insert(slot));
    }

    /// A write reads how much of a region is allocated.
    fn ends(&mut self, instance: InstanceId, addr: ExprId) {
        for Spot { object, .. } in self.spots(instance, addr) {
            self.reads_kind(SlotKind::End(object));
        }
    }

    fn stores(&mut self, instance: InstanceId, addr: ExprId, size: u64) {
        self.ends(instance, addr);
        let Analysed { inlined, objects, pointers, layouts, .. } = self.analysed;
        let targets = pointers.targets(inlined, objects, (instance, addr));
        let mut targets = targets.into_iter();
        let (Some((Place::Object(object), at)), None) = (targets.next(), targets.next()) else {
            return;
        };
        if let (Layout::Cells(cells), Some(start)) = (layouts.of(object), at.exact()) {
            for (nth, cell) in cells.iter().enumerate() {
                if cell.offset as i64 == start && cell.size == size {
                    self.writes_kind(SlotKind::Cell(object, nth));
                }
            }
        }
    }

    fn call(&mut self, caller: InstanceId, stmt: StmtId, callee: InstanceId) {
        let inlined = self.analysed.inlined;
        let Stmt::Call { args, dst_addr, .. } = &inlined.instances[caller].body.stmts[stmt] else {
            return;
        };
        self.reads_passed(caller, args, callee);
        for (local, content) in inlined.instances[callee].body.locals.iter() {
            match content.storage {
                Storage::Register(_) => self.writes_kind(SlotKind::Register(callee, local)),
                Storage::Memory { .. } => self.resets(callee, local),
            }
        }
        if dst_addr.is_some() {
            self.writes_kind(SlotKind::ResultAddress(callee));
        }
    }

    /// A call of a recursive function, which may be that of the caller: its registers are set on one of
    /// the ways only.
    fn recursion(&mut self, caller: InstanceId, stmt: StmtId, callee: InstanceId) {
        self.reads_of(caller, stmt);
        let inlined = self.analysed.inlined;
        let Stmt::Call { args, dst, .. } = &inlined.instances[caller].body.stmts[stmt] else {
            return;
        };
        self.reads_passed(caller, args, callee);
        dst.iter().for_each(|dst| self.writes_kind(SlotKind::Register(caller, *dst)));
    }

    /// The arguments that are copied from memory.
    fn reads_passed(&mut self, caller: InstanceId, args: &[ExprId], callee: InstanceId) {
        let body = self.analysed.inlined.instances[callee].body;
        for (param, arg) in body.params.iter().zip(args) {
            if matches!(body.locals[*param].storage, Storage::Memory { .. }) {
                self.reads_objects(caller, *arg);
            }
        }
    }

    /// A memory local of an instance that is called has no value yet.
    fn resets(&mut self, callee: InstanceId, local: LocalId) {
        let Analysed { objects, slots, layouts, .. } = self.analysed;
        if let Some(object) = objects.of(ObjectKind::Local(callee, local)) {
            let slots = slots.of_object(layouts, object);
            slots.into_iter().for_each(|slot| self.written.insert(slot));
        }
    }

    fn returns(&mut self, instance: InstanceId, value: Option<ExprId>) {
        let Some((caller, Stmt::Call { dst, dst_addr, .. })) =
            self.analysed.inlined.call_of(instance)
        else {
            return self.writes_kind(SlotKind::Result(instance));
        };
        if let Some(addr) = dst_addr {
            self.reads_kind(SlotKind::ResultAddress(instance));
            value.iter().for_each(|value| self.reads_objects(instance, *value));
            self.ends(caller, *addr);
        }
        if let Some(dst) = dst {
            self.writes_kind(SlotKind::Register(caller, *dst));
        }
    }
}
