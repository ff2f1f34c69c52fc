//! The machine: frames, statements, terminators.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use lydian_base::{EntityId, SideTable, StopReason};
use rustc_hash::FxHashMap;

use super::memory::{Memory, Region};
use super::observe::{Observer, View};
use super::plan::{Ground, Plan, Value};
use super::start::{self, CharacterTables};
use super::{BadTest, End, Location, Options, Outcome, Unknown};
use crate::arith;
use crate::ctype::CType;
use crate::expr::{ExprId, Type};
use crate::function::{Body, LocalId, Storage};
use crate::program::{FuncId, GlobalId, Program};
use crate::source::{Point, RootId};
use crate::stmt::{BlockId, BranchOrigin, Edge, Stmt, SwitchCase, Terminator, TrapKind};
use crate::test::Test;

/// What is prepared of a function once.
pub(super) struct Code<'p> {
    pub(super) body: &'p Body,
    types: SideTable<ExprId, Type>,
    plans: RefCell<Vec<Option<Rc<Plan>>>>,
    roots: FxHashMap<Point, Vec<RootId>>,
}

/// One call that has not returned.
pub(super) struct Frame<'p> {
    pub(super) function: FuncId,
    pub(super) code: Rc<Code<'p>>,
    pub(super) registers: Vec<Value>,
    /// The addresses of memory locals.
    pub(super) addresses: Vec<u64>,
    /// The positions of memory locals in the stack's region.
    objects: Vec<usize>,
    block: BlockId,
    next: usize,
    /// The conditions of each decision that were reached since it was last begun.
    decisions: Vec<Vec<Option<bool>>>,
    /// How many objects the stack had before.
    stack: usize,
    pub(super) dst: Option<LocalId>,
    pub(super) dst_addr: Option<u64>,
    /// The address of its variable arguments; 0 where it takes none, or none were passed.
    pub(super) variable: u64,
    /// A number that no other frame of the run has.
    pub(super) serial: u64,
}

impl Frame<'_> {
    /// The block that runs and the position of its next statement.
    pub(super) const fn place(&self) -> (BlockId, usize) {
        (self.block, self.next)
    }

    /// Goes to a statement of a block.
    pub(super) fn go_to(&mut self, block: BlockId, next: usize) {
        self.block = block;
        self.next = next;
    }
}

/// Why a step did not go on to the next one.
pub(super) enum Stop {
    End(End),
}

impl From<TrapKind> for Stop {
    fn from(kind: TrapKind) -> Self {
        Self::End(End::Trapped(kind))
    }
}

pub(super) type Step<T> = Result<T, Stop>;

/// A run in progress.
pub(super) struct Machine<'p> {
    pub(super) program: &'p Program,
    test: &'p Test,
    options: &'p Options,
    pub(super) memory: Memory,
    pub(super) frames: Vec<Frame<'p>>,
    codes: FxHashMap<FuncId, Rc<Code<'p>>>,
    /// What undefined functions return, by name.
    results: FxHashMap<&'p str, VecDeque<Vec<u8>>>,
    pub(super) tables: Option<CharacterTables>,
    result: Option<Vec<u8>>,
    uninitialised: Option<Location>,
    steps: u64,
    /// Bytes of the heap and stack.
    pub(super) used: u64,
    pub(super) externals: Vec<FuncId>,
    scratch: Vec<u128>,
    /// How many calls were begun.
    activations: u64,
}

impl<'p> Machine<'p> {
    /// Memory and the first frame of a test.
    pub(super) fn start(
        program: &'p Program,
        test: &'p Test,
        options: &'p Options,
        function: FuncId,
    ) -> Result<Self, BadTest> {
        let memory = start::memory(program, test, options.max_memory)?;
        let mut results: FxHashMap<&str, VecDeque<Vec<u8>>> = FxHashMap::default();
        for external in &test.externals {
            let name = external.function.as_str();
            let bytes = start::image_bytes(program, &memory, test, &external.result, name)?;
            results.entry(name).or_default().push_back(bytes);
        }
        let mut machine = Self {
            program,
            test,
            options,
            memory,
            frames: Vec::new(),
            codes: FxHashMap::default(),
            results,
            tables: None,
            result: None,
            uninitialised: None,
            steps: 0,
            used: 0,
            externals: Vec::new(),
            scratch: Vec::new(),
            activations: 0,
        };
        machine.first_frame(function)?;
        Ok(machine)
    }

    fn first_frame(&mut self, function: FuncId) -> Result<(), BadTest> {
        let Some(body) = &self.program.functions[function].body else {
            return Err(BadTest::NoFunction(self.test.function.clone()));
        };
        let (wanted, given) = (body.params.len(), self.test.args.len());
        if wanted != given {
            return Err(BadTest::Arguments { wanted, given });
        }
        self.push_frame(function, body, None, None);
        for (param, image) in body.params.iter().zip(&self.test.args) {
            let name = &body.locals[*param].name;
            let bytes = start::image_bytes(self.program, &self.memory, self.test, image, name)?;
            self.set_param(*param, &bytes).ok_or_else(|| BadTest::TooLarge(name.clone()))?;
        }
        Ok(())
    }

    /// Gives a parameter of the newest frame its bytes; `None` where they are too many.
    pub(super) fn set_param(&mut self, param: LocalId, bytes: &[u8]) -> Option<()> {
        let frame = self.frames.last_mut()?;
        match frame.code.body.locals[param].storage {
            Storage::Register(ty) => {
                let mut raw = [0; 16];
                raw.get_mut(..bytes.len())?.copy_from_slice(bytes);
                let bits = arith::truncate(ty, u128::from_le_bytes(raw));
                frame.registers[param.index()] = Value { bits, uninitialised: false };
                Some(())
            }
            Storage::Memory { .. } => self.memory.write(frame.addresses[param.index()], bytes).ok(),
        }
    }

    fn code(&mut self, function: FuncId, body: &'p Body) -> Rc<Code<'p>> {
        let made = self.codes.entry(function).or_insert_with(|| {
            let mut roots: FxHashMap<Point, Vec<RootId>> = FxHashMap::default();
            for (id, root) in body.source.roots.iter() {
                root.points().for_each(|point| roots.entry(point).or_default().push(id));
            }
            let plans = RefCell::new(vec![None; body.exprs.len()]);
            Rc::new(Code { body, types: body.types_in(&body.exprs), plans, roots })
        });
        Rc::clone(made)
    }

    /// Begins a call. Parameters in memory are live, other memory locals are not.
    pub(super) fn push_frame(
        &mut self,
        function: FuncId,
        body: &'p Body,
        dst: Option<LocalId>,
        dst_addr: Option<u64>,
    ) {
        let code = self.code(function, body);
        let stack = self.memory.objects(Region::Stack).len();
        self.activations += 1;
        let nothing = Value { bits: 0, uninitialised: true };
        let mut frame = Frame {
            function,
            code,
            registers: vec![nothing; body.locals.len()],
            addresses: vec![0; body.locals.len()],
            objects: vec![0; body.locals.len()],
            block: body.entry,
            next: 0,
            decisions: body.decisions.values().map(|d| vec![None; d.conditions.len()]).collect(),
            stack,
            dst,
            dst_addr,
            variable: 0,
            serial: self.activations,
        };
        for (id, local) in body.locals.iter() {
            if let Storage::Memory { size, align } = local.storage {
                let (object, address) = self.memory.reserve(size, align);
                frame.addresses[id.index()] = address;
                frame.objects[id.index()] = object;
                if body.params.contains(&id) {
                    self.used = self.used.saturating_add(size);
                    self.memory.object_mut(Region::Stack, object).begin();
                }
            }
        }
        self.frames.push(frame);
    }

    /// Runs to the end.
    pub(super) fn run(mut self, observer: &mut dyn Observer) -> Result<Outcome, BadTest> {
        observer.entry(&self.view());
        let end = loop {
            if self.steps >= self.options.max_steps {
                break End::Stopped(StopReason::Steps(self.options.max_steps));
            }
            if self.used > self.options.max_memory {
                break End::Stopped(StopReason::Memory(self.options.max_memory));
            }
            self.steps += 1;
            if let Err(Stop::End(end)) = self.step(observer) {
                break end;
            }
        };
        Ok(self.outcome(end))
    }

    fn outcome(self, end: End) -> Outcome {
        let location = if end == End::Returned { None } else { self.location() };
        let bytes = |address| match self.memory.place(address) {
            super::Place::Object(region, index, 0) => {
                self.memory.objects(region)[index].bytes().to_vec()
            }
            _ => Vec::new(),
        };
        let objects = self.test.objects.iter().map(|object| bytes(object.address)).collect();
        let globals =
            self.program.globals.ids().map(|id: GlobalId| {
                self.memory.objects(Region::Global)[id.index()].bytes().to_vec()
            });
        Outcome {
            end,
            location,
            result: self.result,
            objects,
            globals: globals.collect(),
            uninitialised: self.uninitialised,
            steps: self.steps,
            externals: self.externals,
            memory: self.memory,
        }
    }

    pub(super) fn frame(&mut self) -> &mut Frame<'p> {
        self.frames.last_mut().expect("a run has a frame until it ends")
    }

    fn location(&self) -> Option<Location> {
        let frame = self.frames.last()?;
        let block = &frame.code.body.blocks[frame.block];
        let point = match block.stmts.get(frame.next) {
            Some(stmt) => Point::Stmt(*stmt),
            None => Point::Term(frame.block),
        };
        Some(Location { function: frame.function, point })
    }

    pub(super) fn view(&self) -> View<'_> {
        let frame = self.frames.last().expect("a run has a frame until it ends");
        View {
            program: self.program,
            function: frame.function,
            body: frame.code.body,
            depth: self.frames.len(),
            undefined: self.uninitialised.is_some(),
            ground: Ground {
                memory: &self.memory,
                registers: &frame.registers,
                addresses: &frame.addresses,
                overflow: self.options.overflow,
            },
            scratch: RefCell::new(Vec::new()),
        }
    }

    pub(super) const fn overflow(&self) -> arith::Overflow {
        self.options.overflow
    }

    pub(super) const fn max_memory(&self) -> u64 {
        self.options.max_memory
    }

    pub(super) const fn max_depth(&self) -> u32 {
        self.options.max_depth
    }

    /// The next result that the test gives a function.
    pub(super) fn next_result(&mut self, name: &str) -> Option<Vec<u8>> {
        self.results.get_mut(name)?.pop_front()
    }

    /// Notes that a value which was never written was used here.
    pub(super) fn note_uninitialised(&mut self) {
        if self.uninitialised.is_none() {
            self.uninitialised = self.location();
        }
    }

    /// The bits of a value that the run is about to use.
    pub(super) fn eval(&mut self, expr: ExprId) -> Step<u128> {
        let value = self.value_of(expr)?;
        if value.uninitialised {
            self.note_uninitialised();
        }
        Ok(value.bits)
    }

    /// A value that is only moved, which is no use of it.
    fn value_of(&mut self, expr: ExprId) -> Step<Value> {
        let frame = self.frames.last().expect("a run has a frame until it ends");
        let code = &frame.code;
        let plan = code.plans.borrow()[expr.index()].clone();
        let plan = plan.unwrap_or_else(|| {
            let plan = Rc::new(Plan::new(self.program, &code.body.exprs, &code.types, expr));
            code.plans.borrow_mut()[expr.index()] = Some(Rc::clone(&plan));
            plan
        });
        let ground = Ground {
            memory: &self.memory,
            registers: &frame.registers,
            addresses: &frame.addresses,
            overflow: self.options.overflow,
        };
        Ok(plan.eval(&ground, &mut self.scratch)?)
    }

    pub(super) fn address(&mut self, expr: ExprId) -> Step<u64> {
        Ok(self.eval(expr)? as u64)
    }

    /// One statement or terminator.
    fn step(&mut self, observer: &mut dyn Observer) -> Step<()> {
        let frame = self.frame();
        let code = Rc::clone(&frame.code);
        let (block, next) = (frame.block, frame.next);
        let block_of = &code.body.blocks[block];
        let point = block_of.stmts.get(next).map_or(Point::Term(block), |stmt| Point::Stmt(*stmt));
        if let Some(roots) = code.roots.get(&point) {
            let view = self.view();
            roots.iter().for_each(|root| observer.root(&view, *root));
        }
        match point {
            Point::Stmt(stmt) => {
                let depth = self.frames.len();
                self.statement(&code.body.stmts[stmt], observer)?;
                // A call has made a frame of its own: this one goes on after the statement.
                // Or `longjmp` has ended it, and another goes on after its own.
                let goes_on = depth.min(self.frames.len());
                self.frames[goes_on - 1].next += 1;
                if self.frames.len() > depth {
                    observer.entry(&self.view());
                }
                Ok(())
            }
            Point::Term(_) => self.terminator(&block_of.term, observer),
        }
    }

    fn statement(&mut self, stmt: &'p Stmt, observer: &mut dyn Observer) -> Step<()> {
        match stmt {
            Stmt::Mark(mark) => observer.mark(&self.view(), *mark),
            Stmt::Assign { dst, value } => {
                let value = self.value_of(*value)?;
                self.frame().registers[dst.index()] = value;
            }
            Stmt::Store { addr, value, ty, .. } => {
                let value = self.value_of(*value)?;
                let address = self.address(*addr)?;
                self.memory.store(address, ty.bytes(), value.bits)?;
                if value.uninitialised {
                    self.memory.forget_written(address, ty.bytes())?;
                }
            }
            Stmt::StoreBits { addr, field, value } => {
                let bits = self.eval(*value)?;
                let address = self.address(*addr)?;
                let (raw, _) = self.memory.load(address, field.bytes())?;
                let raw = arith::insert_bits(field, raw, bits);
                self.memory.store(address, field.bytes(), raw)?;
            }
            Stmt::Copy { dst, src, size } => {
                let from = self.address(*src)?;
                let to = self.address(*dst)?;
                let bytes = self.memory.read(from, *size)?;
                self.memory.write_as_read(to, &bytes)?;
            }
            Stmt::Zero { dst, size } => {
                let to = self.address(*dst)?;
                self.memory.fill(to, *size, 0)?;
            }
            Stmt::Call { .. } => self.call(stmt)?,
            Stmt::Enter(local) => {
                let object = self.frame().objects[local.index()];
                let object = self.memory.object_mut(Region::Stack, object);
                self.used = self.used.saturating_add(object.size);
                if self.used <= self.options.max_memory {
                    object.begin();
                }
            }
            Stmt::Leave(local) => {
                let object = self.frame().objects[local.index()];
                let object = self.memory.object_mut(Region::Stack, object);
                if object.live {
                    self.used = self.used.saturating_sub(object.size);
                }
                object.end();
            }
            Stmt::Alloca { dst, size, align, array } => self.alloca(*dst, *size, *align, *array)?,
            Stmt::Release { pointer } => self.release(*pointer),
            Stmt::VaStart { list } => self.va_start(*list)?,
            Stmt::Havoc(_) => return Err(Stop::End(End::Unknown(Unknown::Assembly))),
        }
        Ok(())
    }

    fn terminator(&mut self, term: &'p Terminator, observer: &mut dyn Observer) -> Step<()> {
        match term {
            Terminator::Goto(to) => self.take_edge(0, *to, observer),
            Terminator::Branch { cond, then_to, else_to, origin } => {
                if let Some(origin) = origin {
                    self.begin_condition(origin);
                    observer.condition(&self.view(), origin);
                }
                let value = self.eval(*cond)? != 0;
                if let Some(origin) = origin {
                    self.end_condition(origin, value, observer);
                }
                if value {
                    self.take_edge(0, *then_to, observer);
                } else {
                    self.take_edge(1, *else_to, observer);
                }
            }
            Terminator::Switch { value, cases, default } => {
                let operand = *value;
                let bits = self.eval(operand)?;
                let ty = self.frame().code.types[operand];
                let holds = |case: &SwitchCase| arith::in_case(ty, bits, case.low, case.high);
                let found = cases.iter().position(holds);
                let (way, to) = match found {
                    Some(way) => (way, cases[way].target),
                    None => (cases.len(), *default),
                };
                self.take_edge(way as u32, to, observer);
            }
            Terminator::Return(value) => self.give_back(*value)?,
            Terminator::Trap(kind) => return Err((*kind).into()),
        }
        Ok(())
    }

    fn take_edge(&mut self, way: u32, to: BlockId, observer: &mut dyn Observer) {
        let from = self.frame().block;
        observer.edge(&self.view(), Edge { from, way });
        let frame = self.frame();
        frame.block = to;
        frame.next = 0;
    }

    fn begin_condition(&mut self, origin: &BranchOrigin) {
        if origin.begins {
            self.frame().decisions[origin.decision.index()].fill(None);
        }
    }

    fn end_condition(&mut self, origin: &BranchOrigin, value: bool, observer: &mut dyn Observer) {
        let reached = &mut self.frame().decisions[origin.decision.index()];
        reached[origin.condition.index()] = Some(value);
        let outcome = if value { origin.then_outcome } else { origin.else_outcome };
        if let Some(outcome) = outcome {
            let reached = reached.clone();
            let view = self.view();
            observer.decision(&view, &view.event(origin.decision, outcome, reached));
        }
    }

    /// Ends the newest call.
    fn give_back(&mut self, value: Option<ExprId>) -> Step<()> {
        let bits = value.map(|value| self.eval(value)).transpose()?;
        let function = self.frame().function;
        let ty = self.program.functions[function].ty;
        let types = &self.program.types;
        let (size, is_record) = match types.get(ty) {
            CType::Function { result, .. } => {
                let is_record = matches!(types.get(*result), CType::Record(_));
                (types.size(*result).unwrap_or(0), is_record)
            }
            _ => (0, false),
        };
        let (dst, dst_addr) = (self.frame().dst, self.frame().dst_addr);
        let is_first = self.frames.len() == 1;
        match bits {
            Some(address) if is_record => {
                let bytes = self.memory.read(address as u64, size)?;
                if is_first {
                    self.result = Some(bytes.bytes);
                } else if let Some(to) = dst_addr {
                    self.memory.write_as_read(to, &bytes)?;
                }
            }
            Some(bits) if is_first => {
                self.result = Some(bits.to_le_bytes()[..size.min(16) as usize].to_vec());
            }
            None if dst.is_some() || dst_addr.is_some() => {
                return Err(TrapKind::MissingReturn.into());
            }
            _ => {}
        }
        self.pop_frame();
        if is_first {
            return Err(Stop::End(End::Returned));
        }
        if let (Some(dst), Some(bits)) = (dst, bits) {
            self.frame().registers[dst.index()] = Value { bits, uninitialised: false };
        }
        Ok(())
    }

    pub(super) fn pop_frame(&mut self) {
        if let Some(frame) = self.frames.pop() {
            let live = self.memory.objects(Region::Stack)[frame.stack..].iter();
            let size: u64 = live.filter(|object| object.live).map(|object| object.size).sum();
            self.used = self.used.saturating_sub(size);
            self.memory.cut_stack(frame.stack);
        }
    }
}
