//! The machine: the state of a run.
//!
//! Its parts own their state: the call stack, the counter of steps, the marks of undefined values, the
//! answers of the test to undefined functions, the calls of allocators. The modules below it execute code
//! on it; the models of library functions ([`super::library`]) see its memory and its methods alone.

use std::cell::RefCell;

use lydian_base::{EntityId, StopReason};

use super::code::{Code, Receive};
use super::code_cache::{CodeCache, PatchedCode};
use super::host::Host;
use super::layout::FrameSize;
use super::memory::{Bytes, FrameSpan, Memory};
use super::observe::{DecisionEvent, Observer, View};
use super::plan::EvalContext;
use super::slots::{FarRegister, Slot, Window, few_slots, read, write};
use super::start::{self, CharacterTables};
use crate::device::{DEVICE_READ, DeviceRead, DeviceWrite, INTERRUPT};
use crate::interp::options::{Options, UninitialisedUse};
use crate::interp::outcome::{BadTest, End, Location, Outcome};
use crate::libc::gives_inputs;
use crate::program::ctype::{CType, CTypeId};
use crate::program::stmt::TrapKind;
use crate::program::{FuncId, Program, arith};
use crate::test::{ANY_BYTES, ANY_NUMBER, NumberKind, Test};

mod allocations;
mod call_stack;
mod calls;
mod devices;
mod exec;
mod externals;
mod flow;
mod host_calls;
mod interrupts;
mod sequence;
mod stack;
mod steps;
mod undefined;
mod unsequenced;
mod writes;

use self::allocations::Allocations;
use self::call_stack::{CallStack, Frame};
use self::externals::{ExternalAnswer, Externals};
use self::interrupts::RunningHandler;
use self::steps::StepCounter;
use self::undefined::UndefinedValues;
use self::unsequenced::UnsequencedCalls;

/// Why a run does not go on.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stop {
    /// It has ended.
    End(End),
    /// Something that was never written is read: from here on it is to be followed.
    Follow,
}

impl Stop {
    /// The end of the run. Where no operation runs yet, reading an undefined value is a use of it.
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

/// The places where a run first did something that C does not define without ending.
#[derive(Clone, Copy, Debug, Default)]
struct FirstUses {
    /// Of a value that was never written.
    uninitialised: Option<Location>,
    /// Of a function or address in a way that machines and libraries allow.
    misused: Option<Location>,
}

/// A run in progress.
pub(super) struct Machine<'p, 'c> {
    pub(super) program: &'p Program,
    pub(super) options: Options,
    pub(super) memory: Memory,
    codes: &'c CodeCache<'p>,
    /// The code of the call that the limit of steps will stop.
    patched: &'c PatchedCode,
    calls: CallStack<'p, 'c>,
    slots: Vec<u64>,
    steps: StepCounter,
    undefined: UndefinedValues,
    externals: Externals,
    /// The writes of devices, in order.
    device_writes: Vec<DeviceWrite>,
    /// The read of a device that the script has no value for.
    outrun: Option<DeviceRead>,
    /// How many reads found their value in the script.
    scripted_reads: u32,
    /// The handler of interrupts that began last, until the read before which it ran is made.
    handler: Option<RunningHandler>,
    allocations: Allocations,
    first_uses: FirstUses,
    unsequenced: UnsequencedCalls,
    tables: Option<CharacterTables>,
    result: Option<Vec<u8>>,
    undetermined_result: Vec<usize>,
    /// The value with which a `setjmp` returns again.
    jump_value: Option<u32>,
    /// Bytes of the heap and stack.
    used: u64,
    /// Room for the values of a plan's nodes.
    scratch: Vec<u128>,
    host: Option<Box<Host<'c>>>,
}

impl<'p, 'c> Machine<'p, 'c> {
    /// A machine that runs nothing yet, with slots of an earlier run.
    pub(super) fn new(
        program: &'p Program,
        options: Options,
        memory: Memory,
        codes: &'c CodeCache<'p>,
        patched: &'c PatchedCode,
        slots: Vec<u64>,
    ) -> Self {
        Self {
            program,
            options,
            memory,
            codes,
            patched,
            calls: CallStack::default(),
            slots: few_slots(slots),
            steps: StepCounter::new(options.max_steps),
            undefined: UndefinedValues::default(),
            externals: Externals::default(),
            device_writes: Vec::new(),
            outrun: None,
            scripted_reads: 0,
            handler: None,
            allocations: Allocations::default(),
            first_uses: FirstUses::default(),
            unsequenced: UnsequencedCalls::default(),
            tables: None,
            result: None,
            undetermined_result: Vec::new(),
            jump_value: None,
            used: 0,
            scratch: Vec::new(),
            host: None,
        }
    }

    /// The same machine with host calls served.
    pub(super) fn with_host(mut self, host: Option<Box<Host<'c>>>) -> Self {
        self.host = host;
        self
    }

    /// Takes the answers of a test to calls of undefined functions.
    pub(super) fn take_externals(&mut self, test: &Test) -> Result<(), BadTest> {
        for external in &test.externals {
            if external.function == DEVICE_READ {
                self.take_read(test, external)?;
                continue;
            }
            if external.function == INTERRUPT {
                self.take_interrupt(test, external)?;
                continue;
            }
            let (name, image) = (external.function.as_str(), &external.result);
            let bytes = start::image_bytes(self.program, &self.memory, test, image, name)?;
            let writes = self.given_writes(test, external)?;
            self.externals.add(external, ExternalAnswer { bytes, writes });
        }
        Ok(())
    }

    /// Calls a function from outside with these arguments.
    pub(super) fn first_call(&mut self, function: FuncId, images: &[Vec<u8>]) -> Step<()> {
        let codes = self.codes;
        let code = codes.get(function).ok_or(self.no_room())?;
        let span = self.push(code, 0, 0, 0)?;
        for ((receive, param), image) in
            code.params.receives.iter().zip(&code.params.slots).zip(images)
        {
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

    /// Counts bytes of objects that are no more.
    pub(super) const fn give_back_bytes(&mut self, bytes: u64) {
        self.used = self.used.saturating_sub(bytes);
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
        let caller = self.calls.last().map_or(self.memory.stack_bottom(), |frame| frame.span);
        let FrameSize { bytes, align } = code.layout.size();
        let span = match bytes {
            0 => FrameSpan { base: caller.end, end: caller.end },
            _ => {
                self.use_bytes(bytes)?;
                self.memory.push_frame(bytes, align).ok_or(self.no_room())?
            }
        };
        let serial = self.calls.next_serial();
        self.calls.push(Frame {
            code,
            base,
            pc: 0,
            span,
            bytes,
            site,
            dst_addr,
            serial,
            variable: 0,
            far: vec![FarRegister::default(); code.layout.far_count()],
            conditions: if self.codes.is_watched() { code.no_conditions() } else { Vec::new() },
        });
        Ok(span)
    }

    /// Ends the newest call.
    #[inline]
    pub(super) fn pop(&mut self) -> Frame<'p, 'c> {
        let frame = self.calls.pop();
        let caller = self.calls.last().map_or(self.memory.stack_bottom(), |frame| frame.span);
        if frame.bytes > 0 || frame.span.end != caller.end {
            self.give_back_bytes(frame.bytes);
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
        if self.calls.depth() as u64 >= u64::from(self.options.max_depth) {
            return Err(Stop::End(End::TooDeep(self.options.max_depth)));
        }
        let site = &caller.sites[number as usize];
        if site.suits.get() != function.index() as u32 + 1 {
            self.pass(callee, caller, number, regs)?;
        }
        let dst_addr = site.dst_addr.map_or(0, |slot| regs[usize::from(slot)]);
        let base = self.frame().base + usize::from(site.at);
        if callee.params.is_plain {
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
        if callee.params.slots.len() > site.args.len() {
            return Err(TrapKind::BadCall.into());
        }
        if site.args.starts_with(&callee.params.slots) {
            site.suits.set(callee.function.index() as u32 + 1);
            return Ok(());
        }
        let values: Vec<u128> =
            site.args.iter().map(|arg| read(regs, site.at + arg.slot, arg.ty)).collect();
        for (param, value) in callee.params.slots.iter().zip(values) {
            write(regs, site.at + param.slot, param.ty, arith::truncate(param.ty, value));
        }
        Ok(())
    }

    /// The structs and unions that are passed, read before the callee begins.
    fn records(&self, callee: &Code<'p>, at: Slot, regs: &Window) -> Step<Vec<Bytes>> {
        let mut records = Vec::new();
        for (receive, param) in callee.params.receives.iter().zip(&callee.params.slots) {
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
        for (receive, param) in callee.params.receives.iter().zip(&callee.params.slots) {
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

    /// The newest call.
    #[inline]
    pub(super) fn frame(&self) -> &Frame<'p, 'c> {
        self.calls.newest()
    }

    #[inline]
    pub(super) fn frame_mut(&mut self) -> &mut Frame<'p, 'c> {
        self.calls.newest_mut()
    }

    /// Where each open call stands, the newest first.
    pub(super) fn trace(&self) -> Vec<Location> {
        self.calls.trace()
    }

    /// The call of this number, if it has not returned.
    pub(super) fn call_of(&self, serial: u64) -> Option<&Frame<'p, 'c>> {
        self.calls.with_serial(serial)
    }

    /// Ends all calls that are newer than the call of this number.
    pub(super) fn return_to(&mut self, serial: u64) {
        while self.calls.last().is_some_and(|frame| frame.serial != serial) {
            self.pop();
        }
    }

    /// The slots, which another run may use.
    pub(super) fn take_slots(&mut self) -> Vec<u64> {
        std::mem::take(&mut self.slots)
    }

    /// The result of the function that was called from outside, given once.
    pub(super) const fn take_result(&mut self) -> Option<Vec<u8>> {
        self.result.take()
    }

    /// The world outside, which another machine may go on with.
    pub(super) const fn take_host(&mut self) -> Option<Box<Host<'c>>> {
        self.host.take()
    }

    /// Where a value that was never written was first used.
    pub(super) const fn uninitialised(&self) -> Option<Location> {
        self.first_uses.uninitialised
    }

    /// The undefined functions that were called, in order.
    pub(super) fn called_externals(&self) -> &[FuncId] {
        self.externals.called()
    }

    /// A value that was never written is used.
    #[cold]
    pub(super) fn note_uninitialised(&mut self) -> Step<()> {
        if self.first_uses.uninitialised.is_none() {
            self.first_uses.uninitialised = self.calls.location();
        }
        match self.options.uninitialised {
            UninitialisedUse::Note => Ok(()),
            UninitialisedUse::Trap => Err(Stop::End(End::Trapped(TrapKind::Uninitialised))),
        }
    }

    /// Notes where the run first does what C does not define though machines and libraries do what is
    /// expected, if this is one: a function called with what it may not be given, an address made of a
    /// null pointer.
    pub(super) fn note_misuse(&mut self, is_misuse: bool) {
        if is_misuse && self.first_uses.misused.is_none() {
            self.first_uses.misused = self.calls.location();
        }
    }

    /// Counts a call of an allocator; how many there were before.
    pub(super) fn count_allocation(&mut self, name: &str) -> u32 {
        self.allocations.count(name)
    }

    /// A call of an allocator fails for its size alone.
    pub(super) fn refuse_allocation(&mut self, name: &str, number: u32) {
        self.allocations.refuse(name, number);
    }

    /// The tables of characters, placed where they are asked for first.
    pub(super) fn character_tables(&mut self) -> CharacterTables {
        match self.tables {
            Some(tables) => tables,
            None => *self.tables.insert(CharacterTables::place(&mut self.memory)),
        }
    }

    /// The newest call's `setjmp` returns again, with this value.
    pub(super) const fn jump_with(&mut self, value: u32) {
        self.jump_value = Some(value);
    }

    /// The value with which the newest call's `setjmp` returns again, given once.
    pub(super) const fn take_jump_value(&mut self) -> Option<u32> {
        self.jump_value.take()
    }

    /// Where a run that ended so was, and how many steps it took.
    pub(super) fn place_and_steps(&self, end: End) -> (Option<Location>, u64) {
        let location = match end {
            End::Returned => None,
            _ => self.steps.stopped_at().or_else(|| self.calls.location()),
        };
        let mut steps = self.steps.taken();
        if self.steps.stopped_at().is_none()
            && let Some(frame) = self.calls.last()
            && let Some(point) = frame.point_index()
        {
            // The whole run of statements was counted when it began.
            steps -= frame.code.points.rest_of_segment(point) as u64;
        }
        (location, steps)
    }

    /// Ends the run and gives its outcome.
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
        let externals = self.externals.into_calls();
        Outcome {
            end,
            location,
            open_calls: self.calls.trace(),
            result: self.result,
            undetermined_result: self.undetermined_result,
            objects,
            globals: globals.collect(),
            undetermined_objects,
            undetermined_globals,
            undetermined_blocks: self.memory.blocks_undetermined(),
            uninitialised: self.first_uses.uninitialised,
            misused: self.first_uses.misused,
            steps,
            externals: externals.called,
            missed_variables: externals.missed_variables,
            outrun: self.outrun,
            scripted_reads: self.scripted_reads,
            device_writes: self.device_writes,
            refused: self.allocations.into_refused(),
            memory: self.memory,
        }
    }

    /// The state for an observer.
    pub(super) fn view<'a>(&'a self, slots: &'a [u64]) -> View<'a> {
        let frame = self.frame();
        View {
            program: self.program,
            code: frame.code,
            depth: self.calls.depth(),
            undefined: self.first_uses.uninitialised.is_some(),
            context: self.eval_context(slots),
            scratch: RefCell::new(Vec::new()),
        }
    }

    /// The state on which expressions are evaluated.
    pub(super) fn eval_context<'a>(&'a self, slots: &'a [u64]) -> EvalContext<'a> {
        let frame = self.frame();
        EvalContext {
            memory: &self.memory,
            slots,
            undefined: self.undefined.of_window(frame.base),
            far: &frame.far,
            layout: &frame.code.layout,
            frame: frame.span.base,
            overflow: self.options.overflow,
        }
    }

    /// The next result that the test gives a function.
    pub(super) fn next_result(&mut self, name: &str) -> Option<Vec<u8>> {
        Some(self.externals.next(name)?.bytes)
    }

    /// The address of an environment variable's value; 0 where the test has no such variable.
    pub(super) fn variable(&mut self, name: &str) -> u64 {
        self.externals.variable(name)
    }

    /// The answer to the next call of a function. Where the test lists inputs without functions, it is
    /// the next of its inputs, as a number of this kind. `None` where the test has no answer.
    pub(super) fn next_input(
        &mut self,
        name: &str,
        kind: NumberKind,
    ) -> Step<Option<ExternalAnswer>> {
        let own = self.externals.next(name);
        if own.is_some() || !self.externals.has_inputs_of_any() || !gives_inputs(name) {
            return Ok(own);
        }
        if let Some(image) = self.next_result(ANY_NUMBER) {
            let (at, size) = kind.place();
            let bytes = image.get(at..at + size).map(<[u8]>::to_vec);
            return Ok(bytes.map(|bytes| ExternalAnswer { bytes, writes: Vec::new() }));
        }
        let given = self.externals.next(ANY_BYTES);
        // The native run ends there too.
        given.map(Some).ok_or(Stop::End(End::Exited(1)))
    }

    /// The size of a function's result, and whether it is a struct or union.
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
        let origin = frame.code.events.origins[number as usize];
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
        let origin = frame.code.events.origins[number as usize];
        if origin.begins {
            frame.conditions[frame.code.conditions_of(origin.decision)].fill(None);
        }
        observer.condition(&self.view(regs), &origin);
    }
}
