//! The machine: calls in progress, and what a run needs besides its code and memory.

use std::cell::{OnceCell, RefCell};
use std::collections::VecDeque;

use lydian_base::{EntityId, StopReason};
use rustc_hash::FxHashMap;

use super::code::{Code, Home, Op, Receive, Slot, WINDOW, is_wide};
use super::compile::{Settings, compile};
use super::flow::Forgotten;
use super::host::Host;
use super::memory::{Bytes, FrameSpan, Memory};
use super::observe::{DecisionEvent, Hearing, Observer, View};
use super::plan::Ground;
use super::start::{self, CharacterTables};
use super::writes::GivenWrite;
use super::{BadTest, End, Location, Options, Outcome};
use crate::arith;
use crate::ctype::{CType, CTypeId};
use crate::libc::{gives_inputs, names_variable};
use crate::program::{FuncId, Program};
use crate::stmt::TrapKind;
use crate::test::{ANY_BYTES, ANY_NUMBER, NumberKind, Test};

/// The slots that a call can name.
pub(super) type Window = [u64; WINDOW];

/// The code of every function that ran, made when it is first called.
pub(super) struct Codes<'p> {
    program: &'p Program,
    overflow: arith::Overflow,
    hearing: Hearing,
    hosted: bool,
    globals: Vec<u64>,
    codes: Vec<OnceCell<Option<Code<'p>>>>,
}

/// The code in which a run stops within a run of statements, made when its limit of steps comes near.
pub(super) type Stops = OnceCell<Vec<Op>>;

/// Slots for a run, which begins with few of them, made of those of another.
pub(super) fn few_slots(mut slots: Vec<u64>) -> Vec<u64> {
    slots.resize(2 * WINDOW, 0);
    slots
}

impl<'p> Codes<'p> {
    pub(super) fn new(
        program: &'p Program,
        memory: &Memory,
        overflow: arith::Overflow,
        (hearing, hosted): (Hearing, bool),
    ) -> Self {
        let globals = program.globals.ids().map(|id| memory.global_address(id)).collect();
        let codes = program.functions.ids().map(|_| OnceCell::new()).collect();
        Self { program, overflow, hearing, hosted, globals, codes }
    }

    /// The code of a function; `None` where it has no body or needs more room than there is.
    #[inline]
    fn get(&self, function: FuncId) -> Option<&Code<'p>> {
        let made = self.codes[function.index()].get_or_init(|| {
            let body = self.program.functions[function].body.as_ref()?;
            let settings = Settings {
                overflow: self.overflow,
                hearing: self.hearing,
                hosted: self.hosted,
                globals: &self.globals,
            };
            compile(self.program, function, body, settings)
        });
        made.as_ref()
    }
}

/// A register beside the window: its bits, and whether it was set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FarRegister {
    pub(super) bits: u128,
    pub(super) set: bool,
}

/// One call that has not returned.
pub(super) struct Frame<'p, 'c> {
    pub(super) code: &'c Code<'p>,
    /// Where its window begins.
    pub(super) base: usize,
    /// The operation after the one that runs, or that called.
    pub(super) pc: usize,
    pub(super) span: FrameSpan,
    /// The bytes of its objects.
    pub(super) bytes: u64,
    /// The call in its caller.
    pub(super) site: u32,
    /// Where a record that it returns goes; 0 for nowhere.
    pub(super) dst_addr: u64,
    /// Tells it from all calls before.
    pub(super) serial: u64,
    /// The address of its variable arguments; 0 where it takes none.
    pub(super) variable: u64,
    pub(super) far: Vec<FarRegister>,
    /// The conditions of all decisions that were reached since each was last begun, for an observer.
    pub(super) conditions: Vec<Option<bool>>,
}

/// Why a run does not go on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// It has ended.
    End(End),
    /// Something that was never written is read: from here on it is to be followed.
    Follow,
}

impl Stop {
    /// The end of the run; what is to be followed is a use where nothing runs yet.
    pub(super) const fn end(self) -> End {
        match self {
            Self::End(end) => end,
            Self::Follow => End::Trapped(TrapKind::Uninitialised),
        }
    }
}

impl From<TrapKind> for Stop {
    fn from(kind: TrapKind) -> Self {
        Self::End(End::Trapped(kind))
    }
}

pub(super) type Step<T> = Result<T, Stop>;

/// Under what the value of an environment variable is kept among results.
fn variable_key(variable: &str) -> String {
    format!("${variable}")
}

/// What one call of an undefined function gives.
#[derive(Debug, Default)]
pub(super) struct Given {
    /// Its result.
    pub(super) bytes: Vec<u8>,
    /// What it writes.
    pub(super) writes: Vec<GivenWrite>,
}

/// A run in progress.
pub(super) struct Machine<'p, 'c> {
    pub(super) program: &'p Program,
    pub(super) options: Options,
    pub(super) memory: Memory,
    pub(super) frames: Vec<Frame<'p, 'c>>,
    pub(super) codes: &'c Codes<'p>,
    pub(super) stops: &'c Stops,
    pub(super) slots: Vec<u64>,
    /// What undefined functions return, by name.
    results: FxHashMap<String, VecDeque<Given>>,
    /// The environment variables that were asked for and that the test does not give.
    missed: Vec<String>,
    /// How often each allocator was called.
    pub(super) allocations: Vec<(String, u32)>,
    /// The calls of allocators, by number, that failed for their size alone.
    pub(super) refused: Vec<(String, u32)>,
    pub(super) tables: Option<CharacterTables>,
    pub(super) result: Option<Vec<u8>>,
    pub(super) uninitialised: Option<Location>,
    pub(super) misused: Option<Location>,
    /// By slot of all windows: whether its value is undefined. Empty until something is.
    pub(super) undefined: Vec<bool>,
    pub(super) forgotten: Option<Forgotten>,
    /// What the `setjmp` that returns again gives.
    pub(super) jump_value: Option<u32>,
    pub(super) steps: u64,
    /// Where the limit of steps will stop the run.
    pub(super) stop_at: Option<Location>,
    /// Where it did.
    pub(super) stopped_at: Option<Location>,
    /// Bytes of the heap and stack.
    pub(super) used: u64,
    pub(super) externals: Vec<FuncId>,
    pub(super) scratch: Vec<u128>,
    serial: u64,
    pub(super) host: Option<Box<Host<'c>>>,
}

impl<'p, 'c> Machine<'p, 'c> {
    /// A machine that runs nothing yet and has no slots.
    pub(super) fn new(
        program: &'p Program,
        options: Options,
        memory: Memory,
        (codes, stops): (&'c Codes<'p>, &'c Stops),
    ) -> Self {
        Self {
            program,
            options,
            memory,
            frames: Vec::new(),
            codes,
            stops,
            slots: Vec::new(),
            results: FxHashMap::default(),
            missed: Vec::new(),
            allocations: Vec::new(),
            refused: Vec::new(),
            tables: None,
            result: None,
            uninitialised: None,
            misused: None,
            undefined: Vec::new(),
            forgotten: None,
            jump_value: None,
            steps: 0,
            stop_at: None,
            stopped_at: None,
            used: 0,
            externals: Vec::new(),
            scratch: Vec::new(),
            serial: 0,
            host: None,
        }
    }

    /// Takes what a test says of undefined functions.
    pub(super) fn take_externals(&mut self, test: &Test) -> Result<(), BadTest> {
        for external in &test.externals {
            let name = external.function.as_str();
            let image = &external.result;
            let bytes = start::image_bytes(self.program, &self.memory, test, image, name)?;
            let writes = self.given_writes(test, external)?;
            let given = Given { bytes, writes };
            let name = external.variable().map_or_else(|| name.to_owned(), variable_key);
            self.results.entry(name).or_default().push_back(given);
        }
        Ok(())
    }

    /// Calls a function from outside with these arguments.
    pub(super) fn first_call(&mut self, function: FuncId, images: &[Vec<u8>]) -> Step<()> {
        let codes = self.codes;
        let code = codes.get(function).ok_or(self.no_room())?;
        let span = self.push(code, 0, 0, 0)?;
        for ((receive, param), image) in code.receives.iter().zip(&code.params).zip(images) {
            match receive {
                Receive::Register => {
                    let mut raw = [0; 16];
                    let len = image.len().min(16);
                    raw[..len].copy_from_slice(&image[..len]);
                    let bits = arith::truncate(param.ty, u128::from_le_bytes(raw));
                    self.slots[usize::from(param.slot)] = bits as u64;
                    self.slots[usize::from(param.slot) + 1] = (bits >> 64) as u64;
                }
                Receive::Scalar { offset, size } | Receive::Record { offset, size } => {
                    let address = span.base + u64::from(*offset);
                    self.memory.enter(address, u64::from(*size));
                    self.memory.write(address, image)?;
                }
            }
        }
        Ok(())
    }

    pub(super) const fn no_room(&self) -> Stop {
        Stop::End(End::Stopped(StopReason::Memory(self.options.max_memory)))
    }

    /// Counts bytes of objects.
    pub(super) fn use_bytes(&mut self, bytes: u64) -> Step<()> {
        self.used = self.used.saturating_add(bytes);
        if self.used > self.options.max_memory { Err(self.no_room()) } else { Ok(()) }
    }

    /// Begins a call: a frame whose parameters are not received yet.
    #[inline]
    fn push(
        &mut self,
        code: &'c Code<'p>,
        base: usize,
        site: u32,
        dst_addr: u64,
    ) -> Step<FrameSpan> {
        let caller = self.frames.last().map_or(self.memory.stack_bottom(), |frame| frame.span);
        let (bytes, align) = code.frame;
        let span = match bytes {
            0 => FrameSpan { base: caller.end, end: caller.end },
            _ => {
                self.use_bytes(bytes)?;
                self.memory.push_frame(bytes, align).ok_or(self.no_room())?
            }
        };
        self.serial += 1;
        let watched = self.codes.hearing > Hearing::Nothing;
        self.frames.push(Frame {
            code,
            base,
            pc: 0,
            span,
            bytes,
            site,
            dst_addr,
            serial: self.serial,
            variable: 0,
            far: vec![FarRegister::default(); code.far as usize],
            conditions: if watched { code.no_conditions() } else { Vec::new() },
        });
        Ok(span)
    }

    /// Ends the newest call.
    #[inline]
    pub(super) fn pop(&mut self) -> Frame<'p, 'c> {
        let frame = self.frames.pop().expect("a run has a frame until it ends");
        let caller = self.frames.last().map_or(self.memory.stack_bottom(), |frame| frame.span);
        if frame.bytes > 0 || frame.span.end != caller.end {
            self.used = self.used.saturating_sub(frame.bytes);
            self.memory.pop_frame(frame.span, caller);
        }
        frame
    }

    /// Calls a function with a body. The window is the caller's.
    #[inline]
    pub(super) fn enter(
        &mut self,
        function: FuncId,
        caller: &'c Code<'p>,
        number: u32,
        regs: &mut Window,
    ) -> Step<()> {
        let codes = self.codes;
        let Some(callee) = codes.get(function) else { return Err(self.no_room()) };
        if self.frames.len() as u64 >= u64::from(self.options.max_depth) {
            return Err(Stop::End(End::TooDeep(self.options.max_depth)));
        }
        let site = &caller.sites[number as usize];
        if site.suits.get() != function.index() as u32 + 1 {
            self.pass(callee, caller, number, regs)?;
        }
        let dst_addr = site.dst_addr.map_or(0, |slot| regs[usize::from(slot)]);
        let base = self.frame().base + usize::from(site.at);
        if callee.is_plain {
            self.push(callee, base, number, dst_addr)?;
            return Ok(());
        }
        let records = self.records(callee, site.at, regs)?;
        let variable = self.variable_arguments(callee, caller, number, regs)?;
        let span = self.push(callee, base, number, dst_addr)?;
        self.receive(callee, site.at, regs, span, &records)?;
        self.pass_variable(caller, number, callee, &variable)
    }

    /// Sees that arguments lie where the callee's parameters are, and puts them there if they
    /// do not.
    #[cold]
    fn pass(
        &self,
        callee: &Code<'p>,
        caller: &Code<'p>,
        number: u32,
        regs: &mut Window,
    ) -> Step<()> {
        let site = &caller.sites[number as usize];
        if callee.params.len() > site.args.len() {
            return Err(TrapKind::BadCall.into());
        }
        if site.args.starts_with(&callee.params) {
            site.suits.set(callee.function.index() as u32 + 1);
            return Ok(());
        }
        let values: Vec<u128> =
            site.args.iter().map(|arg| read(regs, site.at + arg.slot, arg.ty)).collect();
        for (param, value) in callee.params.iter().zip(values) {
            write(regs, site.at + param.slot, param.ty, arith::truncate(param.ty, value));
        }
        Ok(())
    }

    /// The structs and unions that are passed, read before the callee begins.
    fn records(&self, callee: &Code<'p>, at: Slot, regs: &Window) -> Step<Vec<Bytes>> {
        let mut records = Vec::new();
        for (receive, param) in callee.receives.iter().zip(&callee.params) {
            if let Receive::Record { size, .. } = receive {
                let from = regs[usize::from(at + param.slot)];
                records.push(self.memory.read(from, u64::from(*size))?);
            }
        }
        Ok(records)
    }

    /// Puts parameters that are not registers where they belong.
    fn receive(
        &mut self,
        callee: &Code<'p>,
        at: Slot,
        regs: &Window,
        span: FrameSpan,
        records: &[Bytes],
    ) -> Step<()> {
        let mut records = records.iter();
        for (receive, param) in callee.receives.iter().zip(&callee.params) {
            match receive {
                Receive::Register => {}
                Receive::Scalar { offset, size } => {
                    let (address, size) = (span.base + u64::from(*offset), u64::from(*size));
                    self.memory.enter(address, size);
                    let bits = read(regs, at + param.slot, param.ty);
                    self.memory.store(address, size, bits)?;
                }
                Receive::Record { offset, size } => {
                    let address = span.base + u64::from(*offset);
                    self.memory.enter(address, u64::from(*size));
                    if let Some(record) = records.next() {
                        self.memory.write_as_read(address, record)?;
                    }
                }
            }
        }
        Ok(())
    }

    pub(super) fn frame(&self) -> &Frame<'p, 'c> {
        self.frames.last().expect("a run has a frame until it ends")
    }

    pub(super) fn frame_mut(&mut self) -> &mut Frame<'p, 'c> {
        self.frames.last_mut().expect("a run has a frame until it ends")
    }

    /// The statement or terminator that runs.
    pub(super) fn location(&self) -> Option<Location> {
        location(self.frames.last()?)
    }

    /// Where each open call stands, the newest first.
    pub(super) fn trace(&self) -> Vec<Location> {
        self.frames.iter().rev().filter_map(location).collect()
    }

    /// Where a run that ended so was, and how many steps it took.
    pub(super) fn place_and_steps(&self, end: End) -> (Option<Location>, u64) {
        let location = match end {
            End::Returned => None,
            _ => self.stopped_at.or_else(|| self.location()),
        };
        let mut steps = self.steps;
        if self.stopped_at.is_none()
            && let Some(frame) = self.frames.last()
            && let Some(point) = frame.code.point_index(frame.pc.saturating_sub(1))
        {
            // The whole run of statements was counted when it began.
            steps -= frame.code.rest_of_segment(point) as u64;
        }
        (location, steps)
    }

    /// Ends the run: what it did.
    pub(super) fn outcome(self, end: End, objects: &[u64]) -> Outcome {
        let (location, steps) = self.place_and_steps(end);
        let undetermined_objects = objects.iter().enumerate().flat_map(|(at, base)| {
            self.memory.input_undetermined(*base).into_iter().map(move |byte| (at, byte))
        });
        let undetermined_globals = self.program.globals.ids().flat_map(|id| {
            self.memory.global_undetermined(id).into_iter().map(move |byte| (id, byte))
        });
        let (undetermined_objects, undetermined_globals) =
            (undetermined_objects.collect(), undetermined_globals.collect());
        let objects = objects.iter().map(|base| self.memory.input_bytes(*base)).collect();
        let globals = self.program.globals.ids().map(|id| self.memory.global_bytes(id));
        Outcome {
            end,
            location,
            result: self.result,
            objects,
            globals: globals.collect(),
            undetermined_objects,
            undetermined_globals,
            undetermined_blocks: self.memory.blocks_undetermined(),
            uninitialised: self.uninitialised,
            misused: self.misused,
            steps,
            externals: self.externals,
            missed_variables: self.missed,
            refused: self.refused,
            memory: self.memory,
        }
    }

    /// The state for an observer.
    pub(super) fn view<'a>(&'a self, slots: &'a [u64]) -> View<'a> {
        let frame = self.frame();
        View {
            program: self.program,
            function: frame.code.function,
            body: frame.code.body,
            depth: self.frames.len(),
            undefined: self.uninitialised.is_some(),
            ground: self.ground(slots),
            scratch: RefCell::new(Vec::new()),
        }
    }

    /// What expressions are evaluated on.
    pub(super) fn ground<'a>(&'a self, slots: &'a [u64]) -> Ground<'a> {
        let frame = self.frame();
        Ground {
            memory: &self.memory,
            slots,
            undefined: self.undefined.get(frame.base..).unwrap_or_default(),
            far: &frame.far,
            code: frame.code,
            frame: frame.span.base,
            overflow: self.options.overflow,
        }
    }

    /// The next result that the test gives a function.
    pub(super) fn next_result(&mut self, name: &str) -> Option<Vec<u8>> {
        Some(self.next_given(name)?.bytes)
    }

    /// The address of an environment variable's value; 0 where the test has no such variable.
    pub(super) fn variable(&mut self, name: &str) -> u64 {
        let given = self.results.get(&variable_key(name)).and_then(|given| given.front());
        let is_missed = given.is_none() && names_variable(name);
        if is_missed && !self.missed.iter().any(|known| known == name) {
            self.missed.push(name.to_owned());
        }
        let bytes = given.and_then(|given| given.bytes.first_chunk::<8>());
        bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    fn next_given(&mut self, name: &str) -> Option<Given> {
        self.results.get_mut(name)?.pop_front()
    }

    /// What the next call of a function gives; where the test does not say which function gives
    /// what, the next of its inputs, as a number of this kind. `None` where it says nothing.
    pub(super) fn next_input(&mut self, name: &str, kind: NumberKind) -> Step<Option<Given>> {
        let own = self.next_given(name);
        let any = [ANY_NUMBER, ANY_BYTES].iter().any(|any| self.results.contains_key(*any));
        if own.is_some() || !any || !gives_inputs(name) {
            return Ok(own);
        }
        if let Some(image) = self.next_result(ANY_NUMBER) {
            let (at, size) = kind.place();
            let bytes = image.get(at..at + size).map(<[u8]>::to_vec);
            return Ok(bytes.map(|bytes| Given { bytes, writes: Vec::new() }));
        }
        let given = self.next_given(ANY_BYTES);
        // The native run ends there too.
        given.map(Some).ok_or(Stop::End(End::Exited(1)))
    }

    /// The size of what a function returns, and whether it is a struct or union.
    pub(super) fn result_shape(&self, function: FuncId) -> (u64, bool) {
        let types = &self.program.types;
        let result = |ty: CTypeId| match types.get(ty) {
            CType::Function { result, .. } => Some(*result),
            _ => None,
        };
        result(self.program.functions[function].ty).map_or((0, false), |result| {
            let is_record = types.is_aggregate(result);
            (types.size(result).unwrap_or(0), is_record)
        })
    }

    /// Sets a register of the running call.
    pub(super) fn set_far(&mut self, index: u32, bits: u128, set: bool) {
        self.frame_mut().far[index as usize] = FarRegister { bits, set };
    }

    /// Tells an observer that a condition was evaluated, and the decision if that ends it.
    pub(super) fn sees_outcome(
        &mut self,
        observer: &mut dyn Observer,
        regs: &Window,
        number: u32,
        value: bool,
    ) {
        let frame = self.frame_mut();
        let origin = frame.code.origins[number as usize];
        let reached = &mut frame.conditions[frame.code.conditions_of(origin.decision)];
        reached[origin.condition.index()] = Some(value);
        let outcome = if value { origin.then_outcome } else { origin.else_outcome };
        if let Some(outcome) = outcome {
            let reached = reached.to_vec();
            let event = DecisionEvent { decision: origin.decision, outcome, reached };
            observer.decision(&self.view(regs), &event);
        }
    }

    /// Tells it that one is about to be.
    pub(super) fn sees_condition(
        &mut self,
        observer: &mut dyn Observer,
        regs: &Window,
        number: u32,
    ) {
        let frame = self.frame_mut();
        let origin = frame.code.origins[number as usize];
        if origin.begins {
            frame.conditions[frame.code.conditions_of(origin.decision)].fill(None);
        }
        observer.condition(&self.view(regs), &origin);
    }
}

/// The statement or terminator of a call that runs, or that called.
fn location(frame: &Frame<'_, '_>) -> Option<Location> {
    let index = frame.code.point_index(frame.pc.saturating_sub(1)).unwrap_or(0);
    let point = frame.code.points.get(index)?.1;
    Some(Location { function: frame.code.function, point })
}

/// A value in a slot or two.
pub(super) fn read(slots: &[u64], slot: Slot, ty: crate::expr::Type) -> u128 {
    let at = usize::from(slot);
    match is_wide(ty) {
        true => u128::from(slots[at + 1]) << 64 | u128::from(slots[at]),
        false => u128::from(slots[at]),
    }
}

/// Puts a value into a slot or two.
pub(super) fn write(slots: &mut [u64], slot: Slot, ty: crate::expr::Type, bits: u128) {
    let at = usize::from(slot);
    slots[at] = bits as u64;
    if is_wide(ty) {
        slots[at + 1] = (bits >> 64) as u64;
    }
}

impl Code<'_> {
    /// The address of a memory local whose frame begins at `frame`.
    pub(super) fn address_of(&self, local: crate::function::LocalId, frame: u64) -> u64 {
        match self.home(local) {
            Home::Memory { offset, .. } => frame + u64::from(offset),
            _ => 0,
        }
    }
}
