//! The objects that pointers may point to.
//!
//! The analysis is inclusion-based and ignores the order of statements (Andersen, *Program Analysis and
//! Specialization for the C Programming Language*, 1994, chapter 4). An object has one set of contents.
//!
//! Code that is not known may know an object whose address it was given, or that such an object leads to,
//! or whose address was made a number. Pointers that are read where numbers may have been written are not
//! known.

pub(crate) mod targets;

use std::collections::BTreeSet;

use lydian_base::EntityId;
use lydian_ir::stmt::Terminator;
use lydian_ir::{
    Callee, CastOp, Expr, ExprId, GlobalInit, LocalId, RecordId, RelocationTarget, Stmt, StmtId,
    Type,
};
use rustc_hash::FxHashMap;

use crate::library::Effect;
use crate::library::calls::effect_at;
use crate::objects::Objects;
use crate::pointers::targets::Targets;
use crate::unfolding::Unfolding;

/// The first address that is not near null.
pub(crate) const NULL_PAGE: u64 = 4096;

/// The most places whose offsets a copy shifts.
const MOST_SHIFTED: usize = 256;

/// The place of a scalar in an object, as far as it tells apart what overlaps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shape {
    /// Bytes from an offset on.
    Exact(i64, u64),
    /// A member of a struct.
    Member(RecordId, u32),
    Other,
}

/// The accesses of an object: of pointers, and writes of numbers.
#[derive(Clone, Debug, Default)]
struct Uses {
    pointers: BTreeSet<Shape>,
    numbers: BTreeSet<Shape>,
    /// Whether a number is read.
    reads_number: BTreeSet<Shape>,
}

/// The result of the analysis.
#[derive(Debug)]
pub(crate) struct Pointers {
    /// By instance and expression; empty for what is no pointer.
    exprs: Vec<Vec<Targets>>,
    registers: FxHashMap<(usize, LocalId), Targets>,
    contents: Vec<Targets>,
    uses: Vec<Uses>,
    results: FxHashMap<usize, Targets>,
    /// The objects that code which is not known may know.
    pub(crate) known_outside: BTreeSet<usize>,
    /// The objects where pointers may be read that were written as numbers, or in part.
    punned: BTreeSet<usize>,
    /// The objects that something may write to.
    pub(crate) written: BTreeSet<usize>,
    /// Whether there are calls of code that is not known.
    pub(crate) calls_unknown: bool,
    changed: bool,
}

/// The parts that the analysis works on.
#[derive(Clone, Copy)]
struct Scene<'s, 'a> {
    unfolding: &'s Unfolding<'a>,
    objects: &'s Objects,
}

impl Pointers {
    pub(crate) fn new(unfolding: &Unfolding<'_>, objects: &Objects) -> Self {
        let sizes = unfolding.instances.iter().map(|instance| instance.body.exprs.len());
        let mut found = Self {
            exprs: sizes.map(|size| vec![Targets::default(); size]).collect(),
            registers: FxHashMap::default(),
            contents: vec![Targets::default(); objects.all.len()],
            uses: vec![Uses::default(); objects.all.len()],
            results: FxHashMap::default(),
            known_outside: BTreeSet::new(),
            punned: BTreeSet::new(),
            written: BTreeSet::new(),
            calls_unknown: false,
            changed: true,
        };
        let scene = Scene { unfolding, objects };
        found.start(scene);
        while found.changed {
            found.changed = false;
            for instance in 0..unfolding.instances.len() {
                found.visit(scene, instance);
            }
            found.close_outside(scene);
        }
        found
    }

    /// The targets of a pointer.
    pub(crate) fn of(&self, instance: usize, expr: ExprId) -> &Targets {
        &self.exprs[instance][expr.index()]
    }

    /// Whether a pointer that is read through one with these targets may be no address but a number.
    pub(crate) fn may_be_number(&self, targets: &Targets) -> bool {
        self.candidates(targets).iter().any(|object| self.punned.contains(object))
    }

    /// Whether a read of numbers may find bytes of an address.
    pub(crate) fn may_read_address(
        &self,
        (unfolding, objects): (&Unfolding<'_>, &Objects),
        at: (usize, ExprId),
        bytes: u64,
    ) -> bool {
        let scene = Scene { unfolding, objects };
        let shapes = self.shapes(scene, at, bytes);
        shapes.iter().any(|(object, shape)| {
            let contents = &self.contents[*object];
            let has_addresses = !contents.objects.is_empty() || !contents.functions.is_empty();
            let overlaps = |pointer: &Shape| scene.overlap(*shape, *pointer);
            has_addresses && self.uses[*object].pointers.iter().any(overlaps)
        })
    }

    /// The targets of a register.
    pub(crate) fn of_register(&self, instance: usize, local: LocalId) -> Targets {
        self.registers.get(&(instance, local)).cloned().unwrap_or_default()
    }

    /// What the pointers in an object point to.
    pub(crate) fn contents(&self, object: usize) -> &Targets {
        &self.contents[object]
    }

    /// The initial contents of globals, and the parameters of the entry.
    fn start(&mut self, scene: Scene<'_, '_>) {
        let program = scene.unfolding.program;
        for (id, global) in program.globals.iter() {
            let Some(object) = scene.objects.global(id) else { continue };
            // Of constants nothing is written, and a read through any pointer gives any value.
            if !scene.unfolding.beginning.is_of_program() && !global.read_only {
                self.known_outside.insert(object);
            }
            match &global.init {
                GlobalInit::Extern => _ = self.known_outside.insert(object),
                GlobalInit::Zero => {}
                GlobalInit::Data { items, relocations } => {
                    for item in items.iter().filter(|item| item.bytes.iter().any(|byte| *byte != 0))
                    {
                        let shape = Shape::Exact(item.offset as i64, item.bytes.len() as u64);
                        self.uses[object].numbers.insert(shape);
                    }
                    for relocation in relocations {
                        let targets = match relocation.target {
                            RelocationTarget::Function(function) => Targets::function(function),
                            RelocationTarget::Global(global) => scene
                                .objects
                                .global(global)
                                .map_or_else(Targets::anything, |object| {
                                    Targets::object(object, Some(relocation.addend))
                                }),
                        };
                        self.contents[object].add(&targets);
                        let bytes = program.types.target.pointer_bytes();
                        let shape = Shape::Exact(relocation.offset as i64, bytes);
                        self.uses[object].pointers.insert(shape);
                    }
                }
            }
        }
        for (at, instance) in scene.unfolding.instances.iter().enumerate() {
            if !instance.is_root() {
                continue;
            }
            for param in &instance.body.params {
                self.registers.insert((at, *param), Targets::anything());
                if let Some(object) = scene.objects.local(at, *param) {
                    self.contents[object].any = true;
                }
            }
        }
    }

    /// What code outside knows leads it on; and numbers may be addresses where they overlap.
    fn close_outside(&mut self, scene: Scene<'_, '_>) {
        if self.calls_unknown {
            let globals = scene.unfolding.program.globals.ids();
            let globals = globals.filter_map(|global| scene.objects.global(global));
            let before = self.known_outside.len();
            self.known_outside.extend(globals);
            self.changed |= self.known_outside.len() != before;
        }
        for object in 0..self.contents.len() {
            let uses = &self.uses[object];
            let conflicts = |numbers: &BTreeSet<Shape>| {
                numbers.iter().any(|number| {
                    uses.pointers.iter().any(|pointer| scene.overlap(*number, *pointer))
                })
            };
            let (is_written, is_read) = (conflicts(&uses.numbers), conflicts(&uses.reads_number));
            if is_written {
                self.punned.insert(object);
                // A pointer of which some bytes were replaced may point anywhere.
                let mut contents = self.contents[object].moved(None);
                contents.any = true;
                self.changed |= self.contents[object].add(&contents);
                self.escape(&contents);
            }
            if is_read {
                let contents = self.contents[object].clone();
                self.escape(&contents);
            }
            if self.known_outside.contains(&object) {
                self.changed |= self.contents[object].add(&Targets::anything());
                let contents = self.contents[object].clone();
                self.escape(&contents);
            }
        }
    }

    /// Gives addresses to code that is not known.
    fn escape(&mut self, targets: &Targets) {
        for object in targets.objects.keys() {
            self.changed |= self.known_outside.insert(*object);
        }
    }

    fn visit(&mut self, scene: Scene<'_, '_>, instance: usize) {
        let body = scene.unfolding.instances[instance].body;
        for (expr, _) in body.exprs.iter() {
            let targets = self.evaluate(scene, instance, expr);
            let known = &mut self.exprs[instance][expr.index()];
            self.changed |= known.add(&targets);
        }
        for block in body.blocks.values() {
            for stmt in &block.stmts {
                self.visit_stmt(scene, (instance, *stmt));
            }
            if let Terminator::Return(Some(value)) = block.term {
                let targets = self.of(instance, value).clone();
                self.changed |= self.results.entry(instance).or_default().add(&targets);
            }
        }
    }

    fn evaluate(&mut self, scene: Scene<'_, '_>, instance: usize, expr: ExprId) -> Targets {
        let content = &scene.unfolding.instances[instance];
        let exprs = &content.body.exprs;
        if let Some((pointer, ty)) = scene.made_number(instance, expr) {
            let targets = self.of(instance, pointer).clone();
            if ty != Type::Ptr {
                self.escape(&targets);
            }
        }
        if let Expr::Load { ty, addr, .. } = &exprs[expr] {
            let bytes = scene.unfolding.program.types.target.stored_bytes(*ty);
            self.note_read(scene, (instance, *addr), (bytes, *ty == Type::Ptr));
        }
        if let Expr::LoadBits { addr, field } = &exprs[expr] {
            self.note_read(scene, (instance, *addr), (field.bytes(), false));
        }
        if content.types[expr] != Type::Ptr {
            return Targets::default();
        }
        match &exprs[expr] {
            Expr::Const(_, value) if *value < u128::from(NULL_PAGE) => Targets::default(),
            Expr::Local(local) => {
                self.registers.get(&(instance, *local)).cloned().unwrap_or_default()
            }
            Expr::AddrLocal(local) => scene.address(scene.objects.local(instance, *local)),
            Expr::AddrGlobal(global) => scene.address(scene.objects.global(*global)),
            Expr::AddrFunc(function) => Targets::function(*function),
            Expr::Load { addr, volatile, .. } => {
                let from = self.of(instance, *addr).clone();
                let mut all = Targets { any: *volatile || from.any, ..Targets::default() };
                for object in self.candidates(&from) {
                    all.add(&self.contents[object]);
                }
                all
            }
            Expr::Cast(CastOp::Bits, _, from) => {
                match (scene.unfolding.moved_address(instance, *from), &exprs[*from]) {
                    (Some((pointer, by)), _) => self.of(instance, pointer).moved(Some(by)),
                    (None, Expr::Const(_, value)) if *value < u128::from(NULL_PAGE) => {
                        Targets::default()
                    }
                    (None, _) => Targets::anything(),
                }
            }
            Expr::Field { base, record, field } => {
                let offset = scene.field_offset(*record, *field);
                self.of(instance, *base).moved(offset)
            }
            Expr::Index { base, index, size, .. } => {
                let by = match exprs[*index] {
                    Expr::Const(_, index) => (index as i64).checked_mul(*size as i64),
                    _ => None,
                };
                self.of(instance, *base).moved(by)
            }
            _ => Targets::anything(),
        }
    }

    /// The objects among some targets.
    pub(crate) fn candidates(&self, targets: &Targets) -> BTreeSet<usize> {
        let mut all: BTreeSet<usize> = targets.objects.keys().copied().collect();
        if targets.any {
            all.extend(&self.known_outside);
        }
        all
    }

    fn note_read(
        &mut self,
        scene: Scene<'_, '_>,
        (instance, addr): (usize, ExprId),
        (bytes, is_pointer): (u64, bool),
    ) {
        for (object, shape) in self.shapes(scene, (instance, addr), bytes) {
            let uses = &mut self.uses[object];
            let shapes = if is_pointer { &mut uses.pointers } else { &mut uses.reads_number };
            self.changed |= shapes.insert(shape);
        }
    }

    /// The places in objects that an access may hit.
    fn shapes(
        &self,
        scene: Scene<'_, '_>,
        (instance, addr): (usize, ExprId),
        bytes: u64,
    ) -> Vec<(usize, Shape)> {
        let targets = self.of(instance, addr);
        let member = match scene.unfolding.instances[instance].body.exprs[addr] {
            Expr::Field { record, field, .. } => Some(Shape::Member(record, field)),
            _ => None,
        };
        let shape = |object: &usize| {
            let exact = targets.objects.get(object).copied().flatten();
            let exact = exact.map(|offset| Shape::Exact(offset, bytes));
            (*object, exact.or(member).unwrap_or(Shape::Other))
        };
        self.candidates(targets).iter().map(shape).collect()
    }

    fn visit_stmt(&mut self, scene: Scene<'_, '_>, (instance, stmt): (usize, StmtId)) {
        let body = scene.unfolding.instances[instance].body;
        match &body.stmts[stmt] {
            Stmt::Assign { dst, value } => {
                let targets = self.of(instance, *value).clone();
                self.assign((instance, *dst), &targets);
            }
            Stmt::Store { addr, value, ty, .. } => {
                let bytes = scene.unfolding.program.types.target.stored_bytes(*ty);
                let to = self.shapes(scene, (instance, *addr), bytes);
                let value = self.of(instance, *value).clone();
                let is_pointer = *ty == Type::Ptr;
                self.write(&self.of(instance, *addr).clone(), is_pointer.then_some(&value));
                for (object, shape) in to {
                    let uses = &mut self.uses[object];
                    let shapes = if is_pointer { &mut uses.pointers } else { &mut uses.numbers };
                    self.changed |= shapes.insert(shape);
                }
            }
            Stmt::StoreBits { addr, field, .. } => {
                let to = self.shapes(scene, (instance, *addr), field.bytes());
                self.write(&self.of(instance, *addr).clone(), None);
                for (object, shape) in to {
                    self.changed |= self.uses[object].numbers.insert(shape);
                }
            }
            Stmt::Copy { dst, src, size } => {
                self.copy_through(scene, instance, (*dst, *src), (Some(*size), true));
            }
            Stmt::Zero { dst, .. } => self.write(&self.of(instance, *dst).clone(), None),
            Stmt::Call { .. } => self.visit_call(scene, (instance, stmt)),
            Stmt::Alloca { dst, .. } => {
                let targets = scene.allocated(instance, stmt);
                self.assign((instance, *dst), &targets);
            }
            Stmt::VaStart { list } => self.give_away(instance, *list),
            Stmt::Havoc(havoc) => {
                self.note_unknown();
                if havoc.memory {
                    let known = self.known_outside.len();
                    self.known_outside.extend(0..self.contents.len());
                    self.changed |= self.known_outside.len() != known;
                }
                for register in &havoc.registers {
                    self.assign((instance, *register), &Targets::anything());
                }
                for (addr, _) in &havoc.places {
                    self.give_away(instance, *addr);
                }
            }
            Stmt::Mark(_)
            | Stmt::Enter(_)
            | Stmt::Leave(_)
            | Stmt::Release { .. }
            | Stmt::VaArg { .. } => {}
        }
    }

    fn note_unknown(&mut self) {
        self.changed |= !self.calls_unknown;
        self.calls_unknown = true;
    }

    fn give_away(&mut self, instance: usize, expr: ExprId) {
        let targets = self.of(instance, expr).clone();
        self.escape(&targets);
        self.write(&targets, None);
    }

    fn assign(&mut self, register: (usize, LocalId), targets: &Targets) {
        self.changed |= self.registers.entry(register).or_default().add(targets);
    }

    /// A write to what a pointer may point to, of a pointer if there are targets.
    fn write(&mut self, to: &Targets, value: Option<&Targets>) {
        if let Some(value) = value
            && to.any
        {
            self.escape(value);
        }
        for object in self.candidates(to) {
            self.changed |= self.written.insert(object);
            if let Some(value) = value {
                self.changed |= self.contents[object].add(value);
            }
        }
    }

    /// A copy of so many bytes, if that is known. Where it is of a type, pointers in it are whole if their
    /// offsets are not known.
    fn copy_through(
        &mut self,
        scene: Scene<'_, '_>,
        instance: usize,
        (dst, src): (ExprId, ExprId),
        (size, is_typed): (Option<u64>, bool),
    ) {
        let (to, from) = (self.of(instance, dst).clone(), self.of(instance, src).clone());
        let bytes = scene.unfolding.program.types.target.pointer_bytes();
        let is_whole = size.is_some_and(|size| size.is_multiple_of(bytes));
        let mut cuts = false;
        for object in self.candidates(&from) {
            let start = from.objects.get(&object).copied().flatten();
            let is_cut = |shape: &Shape| match (shape, start, size) {
                (Shape::Exact(at, of), Some(start), Some(size)) => {
                    let (end, last) =
                        (start.saturating_add_unsigned(size), at.saturating_add_unsigned(*of));
                    let overlaps = *at < end && start < last;
                    overlaps && (*at < start || end < last)
                }
                _ => !(is_typed && is_whole),
            };
            cuts |= self.uses[object].pointers.iter().any(is_cut);
        }
        self.copy(&to, &from);
        if cuts {
            self.cut_pointers(&to, &from);
        }
    }

    /// Pointers are copied in part: they are read as numbers, and what is written are numbers.
    fn cut_pointers(&mut self, to: &Targets, from: &Targets) {
        for object in self.candidates(from) {
            self.changed |= self.uses[object].reads_number.insert(Shape::Other);
        }
        for object in self.candidates(to) {
            let uses = &mut self.uses[object];
            self.changed |= uses.numbers.insert(Shape::Other);
            self.changed |= uses.pointers.insert(Shape::Other);
        }
    }

    /// A copy of what some pointers point to.
    fn copy(&mut self, to: &Targets, from: &Targets) {
        let mut contents = Targets { any: from.any, ..Targets::default() };
        let (mut uses, sources) = (Uses::default(), self.candidates(from));
        // Copies between parts of one object would shift for ever.
        let of_source = |object: &usize| {
            let uses = &self.uses[*object];
            uses.pointers.len() + uses.numbers.len()
        };
        let is_short = sources.iter().map(of_source).sum::<usize>() <= MOST_SHIFTED;
        let shifted = |shape: &Shape| match shape {
            Shape::Member(..) => *shape,
            Shape::Exact(at, size) => {
                let one = |targets: &Targets| match targets.objects.first_key_value() {
                    Some((_, Some(offset))) if targets.objects.len() == 1 && !targets.any => {
                        Some(*offset)
                    }
                    _ => None,
                };
                let by = one(to).zip(one(from)).map(|(to, from)| to.wrapping_sub(from));
                match by {
                    Some(0) => *shape,
                    Some(by) if is_short => Shape::Exact(at.wrapping_add(by), *size),
                    _ => Shape::Other,
                }
            }
            Shape::Other => Shape::Other,
        };
        for object in sources {
            contents.add(&self.contents[object]);
            uses.pointers.extend(self.uses[object].pointers.iter().map(shifted));
            uses.numbers.extend(self.uses[object].numbers.iter().map(shifted));
        }
        self.write(to, Some(&contents));
        for object in self.candidates(to) {
            let own = &mut self.uses[object];
            let before = own.pointers.len() + own.numbers.len();
            own.pointers.extend(&uses.pointers);
            own.numbers.extend(&uses.numbers);
            self.changed |= own.pointers.len() + own.numbers.len() != before;
        }
    }

    fn visit_call(&mut self, scene: Scene<'_, '_>, (instance, stmt): (usize, StmtId)) {
        let content = &scene.unfolding.instances[instance];
        let Stmt::Call { callee, args, dst, dst_addr, .. } = &content.body.stmts[stmt] else {
            return;
        };
        let mut callees = content.callees.get(&stmt).cloned().unwrap_or_default();
        callees.extend(scene.unfolding.recursive_callee(instance, stmt));
        for callee in &callees {
            self.enter(scene, (instance, args), *callee);
            let result = self.results.get(callee).cloned().unwrap_or_default();
            if let Some(dst) = dst {
                self.assign((instance, *dst), &result);
            }
            if let Some(addr) = dst_addr {
                let to = self.of(instance, *addr).clone();
                self.copy(&to, &result);
            }
        }
        let is_followed = match callee {
            Callee::Direct(_) => !callees.is_empty(),
            Callee::Indirect(pointer) => {
                let targets = self.of(instance, *pointer);
                let follows = |function| scene.unfolding.follows((instance, stmt), function);
                !targets.any && targets.functions.iter().copied().all(follows)
            }
        };
        if !is_followed {
            self.visit_other_call(scene, (instance, stmt));
        }
    }

    /// A call that is not followed.
    fn visit_other_call(&mut self, scene: Scene<'_, '_>, (instance, stmt): (usize, StmtId)) {
        let content = &scene.unfolding.instances[instance];
        let Stmt::Call { args, dst, dst_addr, callee, .. } = &content.body.stmts[stmt] else {
            return;
        };
        let effect = match callee {
            Callee::Direct(callee) => effect_at(scene.unfolding, (instance, args), *callee),
            Callee::Indirect(_) => Effect::Unknown,
        };
        let result = match effect {
            Effect::End | Effect::Assume | Effect::Assert => return,
            Effect::Value | Effect::Magnitude => Targets::default(),
            Effect::First => {
                args.first().map(|arg| self.of(instance, *arg).clone()).unwrap_or_default()
            }
            Effect::Malloc | Effect::Calloc => scene.allocated(instance, stmt),
            Effect::Realloc => {
                let mut result = scene.allocated(instance, stmt);
                // Its contents may be those of the block before, wherever that lay.
                result.add(&Targets::anything());
                args.iter().for_each(|arg| self.give_away(instance, *arg));
                let made = scene.allocated(instance, stmt);
                self.escape(&made);
                result
            }
            Effect::Copy if args.len() == 3 => {
                let size = scene.unfolding.constant(instance, args[2]);
                self.copy_through(scene, instance, (args[0], args[1]), (size, false));
                self.of(instance, args[0]).clone()
            }
            Effect::Fill if args.len() == 3 => {
                let to = self.shapes(scene, (instance, args[0]), 1);
                self.write(&self.of(instance, args[0]).clone(), None);
                let is_zero = matches!(content.body.exprs[args[1]], Expr::Const(_, 0));
                for (object, _) in to.into_iter().filter(|_| !is_zero) {
                    self.changed |= self.uses[object].numbers.insert(Shape::Other);
                }
                self.of(instance, args[0]).clone()
            }
            Effect::Copy | Effect::Fill | Effect::Unknown => {
                self.note_unknown();
                args.iter().for_each(|arg| self.give_away(instance, *arg));
                dst_addr.iter().for_each(|addr| self.give_away(instance, *addr));
                Targets::anything()
            }
        };
        if let Some(dst) = dst {
            self.assign((instance, *dst), &result);
        }
    }

    /// Gives the parameters of an instance their targets.
    fn enter(&mut self, scene: Scene<'_, '_>, (caller, args): (usize, &[ExprId]), callee: usize) {
        let body = scene.unfolding.instances[callee].body;
        for (param, arg) in body.params.iter().zip(args) {
            let value = self.of(caller, *arg).clone();
            let is_pointer = scene.unfolding.instances[caller].types[*arg] == Type::Ptr;
            let value = if is_pointer { value } else { Targets::anything() };
            let Some(object) = scene.objects.local(callee, *param) else {
                self.assign((callee, *param), &value);
                continue;
            };
            let ty = scene.unfolding.program.types.scalar(body.locals[*param].ty);
            self.changed |= self.written.insert(object);
            match ty {
                Some(Type::Ptr) => {
                    self.changed |= self.contents[object].add(&value);
                    self.changed |= self.uses[object].pointers.insert(Shape::Exact(0, 8));
                }
                Some(ty) => {
                    let bytes = scene.unfolding.program.types.target.stored_bytes(ty);
                    let shape = Shape::Exact(0, bytes);
                    self.changed |= self.uses[object].numbers.insert(shape);
                }
                // A struct is copied from where the argument points to.
                None => self.copy(&Targets::object(object, Some(0)), &value),
            }
        }
    }
}

impl Scene<'_, '_> {
    fn address(self, object: Option<usize>) -> Targets {
        object.map_or_else(Targets::anything, |object| Targets::object(object, Some(0)))
    }

    fn allocated(self, instance: usize, stmt: StmtId) -> Targets {
        let Some(object) = self.objects.allocated(instance, stmt) else {
            return Targets::anything();
        };
        let repeats = self.objects.all[object].repeats();
        Targets::object(object, (!repeats).then_some(0))
    }

    fn field_offset(self, record: RecordId, field: u32) -> Option<i64> {
        let records = &self.unfolding.program.types.records;
        let field = records.get(record)?.fields.get(field as usize)?;
        i64::try_from(field.bit_offset / 8).ok()
    }

    /// Whether two scalars of an object may share bytes.
    fn overlap(self, a: Shape, b: Shape) -> bool {
        match (a, b) {
            (Shape::Exact(a, of_a), Shape::Exact(b, of_b)) => {
                a < b.saturating_add_unsigned(of_b) && b < a.saturating_add_unsigned(of_a)
            }
            (Shape::Member(record, a), Shape::Member(other, b)) if record == other => {
                a == b || self.unfolding.program.types.records[record].is_union
            }
            _ => true,
        }
    }

    /// The pointer that an expression makes a number of.
    fn made_number(self, instance: usize, expr: ExprId) -> Option<(ExprId, Type)> {
        let content = &self.unfolding.instances[instance];
        match content.body.exprs[expr] {
            Expr::Cast(_, ty, from) if content.types[from] == Type::Ptr && ty != Type::Ptr => {
                Some((from, ty))
            }
            _ => None,
        }
    }
}
