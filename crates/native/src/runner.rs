//! The parent's side of the runner: starts it, sends requests, and outlives its crashes.

use std::collections::BTreeMap;
use std::ops::Range;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use lydian_base::CancelToken;
use lydian_ir::test::{INPUT_REGION, INPUT_REGION_SIZE, PointerTarget, Test};
use tempfile::TempDir;

use crate::build::Build;
use crate::confine::{self, ATTEMPTS_BYTES, Attempt, Confinement, Noted, Sandbox};
use crate::harness::SymbolKind;
use crate::outcome::{Crash, CrashClass, Outcome, Run};
use crate::request::{Decoder, Encoder, TestError, Wants, wide_vectors};
use crate::shared::{Areas, Long, Shared, Word};

/// Why tests could not be run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A test does not fit the build.
    #[error("test {position} cannot be run: {error}")]
    Test {
        /// Which, from 0.
        position: usize,
        /// Why.
        error: TestError,
    },
    /// The system refuses memory or a process.
    #[error("cannot start the runner: {0}")]
    Start(std::io::Error),
    /// The kernel refused a confinement that it claims to support.
    #[error("the code under test cannot be confined: {0}")]
    Confinement(#[from] landlock::RulesetError),
    /// The compiled object does not load.
    #[error("the compiled program cannot be loaded: {0}")]
    Load(String),
    /// The runner dies again and again before it runs anything.
    #[error("the runner dies before it runs a test: {0}")]
    Dies(String),
    /// The set of wide decisions' vectors has no room left.
    #[error("a decision had more different evaluations than can be kept")]
    WideFull,
    /// The user asked to stop.
    #[error("stopped by the user")]
    Cancelled,
}

/// Limits of a runner.
#[derive(Clone, Debug)]
pub struct Limits {
    /// How long one test may run. After one that took longer others have an eighth of it, in time
    /// of the processor, until [`Runner::be_patient`]: where one input makes a program run for
    /// ever, others mostly do, too.
    pub test: Duration,
    /// Bytes of the buffer for tests; one test must fit.
    pub buffer: u64,
    /// Stops a run between or within tests.
    pub cancel: CancelToken,
    /// Whether the process is kept in its place.
    pub confinement: Confinement,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            test: Duration::from_secs(1),
            buffer: 8 << 20,
            cancel: CancelToken::new(),
            confinement: Confinement::default(),
        }
    }
}

/// A persistent runner of one build. Its process starts with the first tests and is started again
/// after one that crashed it.
#[derive(Debug)]
pub struct Runner {
    limits: Limits,
    shared: Shared,
    process: Option<Process>,
    /// Where tests run. It lies in the build's folder, so it goes first.
    files: TempDir,
    /// None where it is not confined.
    sandbox: Option<Sandbox>,
    /// The attempts of loading the program.
    at_start: Vec<Attempt>,
    build: Arc<Build>,
    starts: u64,
    waited: Duration,
    /// Whether a test took too long.
    impatient: bool,
    /// Whether little is expected of the next tests.
    haste: Haste,
}

#[derive(Debug)]
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        // An error means that it is gone already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How a request ended.
enum RequestEnd {
    /// With an answer.
    Replied,
    /// With the runner, in the test at this position.
    Died(u32, Outcome),
}

/// The part of the limit that tests have after one that took longer.
const IMPATIENCE: u32 = 8;
/// How much of a test's time it needs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Haste {
    /// All of it.
    #[default]
    None,
    /// A fiftieth of it, or 20 ms: nothing counts that it could do for long.
    Some,
    /// A 200th of it, or 5 ms: it is known to go on for ever, and is run again if that was too
    /// little.
    Much,
}

impl Haste {
    /// The limit in time of the processor that follows from the one on all of a test's time.
    fn limit(self, test: Duration) -> Option<Duration> {
        let (part, least) = match self {
            Self::None => return None,
            Self::Some => (50, Duration::from_millis(20)),
            Self::Much => (200, Duration::from_millis(5)),
        };
        Some((test / part).max(least.min(test)))
    }
}

const STATE_READY: u32 = 1;
const STATE_CRASHED: u32 = 2;
const STATE_FAILED: u32 = 3;
/// Bytes that the runner keeps for the heap of the code under test.
const HEAP_BYTES: u64 = 1 << 30;
/// Bytes of `struct symbol`.
const SYMBOL_BYTES: u64 = 32;
/// Bytes for the vectors of wide decisions. Values that labels and sequences bind have room of
/// their own.
const WIDE_SIZE: u64 = 1 << 20;

impl Runner {
    /// Prepares a runner. No process is started yet.
    ///
    /// # Errors
    /// Where the system gives no shared memory, or no folder can be made.
    pub fn new(build: Arc<Build>, limits: Limits) -> Result<Self, RunError> {
        let files = build.files().map_err(RunError::Start)?;
        let wide = if build.wide || build.bound > 0 { WIDE_SIZE + build.bound } else { 0 };
        let buffer = limits.buffer.next_multiple_of(crate::build::PAGE);
        let symbols = build.symbols.len() as u64;
        let areas = Areas::new(build.cells, wide, symbols, buffer, build.memory());
        let shared = Shared::new(areas).map_err(RunError::Start)?;
        let sandbox = match limits.confinement {
            Confinement::On => Some(build.sandbox(files.path())?),
            Confinement::Off => None,
        };
        Ok(Self {
            limits,
            shared,
            process: None,
            files,
            sandbox,
            at_start: Vec::new(),
            build,
            starts: 0,
            waited: Duration::ZERO,
            impatient: false,
            haste: Haste::None,
        })
    }

    /// Lets tests run as long as the limit says again, until one takes longer.
    pub const fn be_patient(&mut self) {
        self.impatient = false;
    }

    /// How much of the limit the next tests are to have, in time of the processor.
    pub const fn hurry(&mut self, haste: Haste) {
        self.haste = haste;
    }

    /// The limit in time of the processor, where there is one.
    fn short_limit(&self) -> Option<Duration> {
        let impatient = self.impatient.then(|| self.limits.test / IMPATIENCE);
        self.haste.limit(self.limits.test).or(impatient)
    }

    /// How many processes were started so far.
    pub const fn starts(&self) -> u64 {
        self.starts
    }

    /// How long requests were in the runner's hands so far.
    pub const fn time_in_runner(&self) -> Duration {
        self.waited
    }

    /// The build that it runs.
    pub fn build(&self) -> &Arc<Build> {
        &self.build
    }

    /// The process's id, while there is one.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(|process| process.0.id())
    }

    /// Runs the tests in order. Returns the run of each.
    ///
    /// # Errors
    /// Where a test does not fit the build, or the runner cannot be started. What the tests do to
    /// the runner is no error but an outcome.
    pub fn run(&mut self, tests: &[Test], wants: Wants) -> Result<Vec<Run>, RunError> {
        let mut runs = Vec::with_capacity(tests.len());
        let mut bytes = Vec::new();
        let build = self.build.clone();
        let mut encoder = Encoder::new(&build);
        while runs.len() < tests.len() {
            let from = runs.len();
            let batch = self.encode(&mut encoder, &tests[from..], from, &mut bytes)?;
            let prepared = RequestBatch { from, count: batch, wants, bytes: &bytes };
            self.place(&prepared);
            self.run_prepared(&prepared, &tests[from..from + batch], &mut runs)?;
        }
        Ok(runs)
    }

    /// Puts a batch's bytes into the shared memory.
    fn place(&self, batch: &RequestBatch<'_>) {
        self.shared.write(self.shared.areas.request, batch.bytes);
        self.shared.set_long(Long::RequestSize, batch.bytes.len() as u64);
    }

    /// Encodes as many tests as fit; at least one.
    fn encode(
        &self,
        encoder: &mut Encoder<'_>,
        tests: &[Test],
        from: usize,
        bytes: &mut Vec<u8>,
    ) -> Result<usize, RunError> {
        bytes.clear();
        let limit = self.shared.areas.request_size as usize;
        let wrong = |position, error| RunError::Test { position, error };
        for (index, test) in tests.iter().enumerate() {
            let before = bytes.len();
            encoder.encode(test, bytes).map_err(|error| wrong(from + index, error))?;
            if bytes.len() > limit {
                bytes.truncate(before);
                if index == 0 {
                    return Err(wrong(from, TestError::Size(limit as u64)));
                }
                return Ok(index);
            }
        }
        Ok(tests.len())
    }

    fn run_prepared(
        &mut self,
        batch: &RequestBatch<'_>,
        tests: &[Test],
        runs: &mut Vec<Run>,
    ) -> Result<(), RunError> {
        let mut first = 0;
        let mut alone = false;
        while first < batch.count {
            let started = self.process.is_none();
            self.ensure_started()?;
            let begun = Instant::now();
            let end = if alone { first + 1 } else { batch.count };
            let ended = self.request(first..end, batch.wants)?;
            self.waited += begun.elapsed();
            let before = runs.len();
            let attempts = self.attempts();
            let ended = ended.filter(|_| self.collect(first, &tests[..end], batch.wants, runs));
            let progressed = runs.len() > before;
            first += runs.len() - before;
            let ended = match ended {
                Some(RequestEnd::Died(u32::MAX, outcome)) if started && alone => {
                    return Err(RunError::Dies(outcome.to_string()));
                }
                // Between tests, it dies if an earlier test damaged its memory.
                Some(RequestEnd::Died(at, _)) if first < end && at as usize != first => None,
                ended => ended,
            };
            let Some(ended) = ended else {
                self.process = None;
                self.shared.set(Word::WideFull, 0);
                self.place(batch);
                if alone && !progressed {
                    runs.push(Run::ended(Outcome::Damaged));
                    first += 1;
                }
                self.tell_attempts(attempts, first, &mut runs[before..]);
                // Any test behind the last readable reply may have done it.
                alone = !alone || progressed;
                continue;
            };
            alone = false;
            match ended {
                RequestEnd::Replied if progressed => {}
                RequestEnd::Replied => {
                    let size = self.shared.areas.reply_size;
                    let error = TestError::Size(size);
                    return Err(RunError::Test { position: batch.from + first, error });
                }
                // It replied, and does not go on: nothing says that the reply is right.
                RequestEnd::Died(..) if first >= end => {
                    self.process = None;
                    runs.pop();
                    runs.push(Run::ended(Outcome::Damaged));
                }
                RequestEnd::Died(_, outcome) => {
                    log::debug!("a test of {} ended its runner: {outcome}", tests[first].function);
                    self.process = None;
                    self.impatient |=
                        self.haste == Haste::None && matches!(outcome, Outcome::TimedOut(_));
                    runs.push(self.last_words(outcome, batch.wants));
                    first += 1;
                }
            }
            self.tell_attempts(attempts, first, &mut runs[before..]);
            if self.shared.get(Word::WideFull) != 0 {
                return Err(RunError::WideFull);
            }
        }
        Ok(())
    }

    /// The attempts since the last request, or since the process began.
    fn attempts(&self) -> Vec<Noted> {
        if self.sandbox.is_none() || self.shared.get_at(self.shared.areas.attempts) == 0 {
            return Vec::new();
        }
        let bytes = self.shared.bytes(self.shared.areas.attempts, ATTEMPTS_BYTES);
        confine::noted(&bytes)
    }

    /// Adds attempts to the runs of their tests, the last of which is before position `end`, and
    /// the attempts of loading to each run.
    fn tell_attempts(&self, attempts: Vec<Noted>, end: usize, runs: &mut [Run]) {
        for run in &mut *runs {
            run.attempts.splice(..0, self.at_start.iter().cloned());
            if matches!(&run.outcome, Outcome::Killed(how) if *how == killed_by(libc::SIGSYS)) {
                run.attempts.push(Attempt::blocked());
            }
        }
        let first = end.saturating_sub(runs.len());
        for Noted { test, attempt } in attempts {
            let of_test = test.and_then(|test| runs.get_mut((test as usize).checked_sub(first)?));
            if let Some(run) = of_test {
                run.attempts.push(attempt);
            }
        }
    }

    /// The run of the test that the runner died in: its cells are still in the shared memory, if
    /// that can be read.
    fn last_words(&self, outcome: Outcome, wants: Wants) -> Run {
        let mut run = Run::ended(outcome);
        if wants.cells {
            let used = self.shared.long(Long::WideUsed).saturating_mul(8);
            let used = used.min(self.shared.areas.wide_size);
            if let Ok(wide) = wide_vectors(&self.shared.bytes(self.shared.areas.wide, used)) {
                run.cells = self.cells();
                run.wide = wide;
            }
        }
        run
    }

    /// The cells that are set: by the last test if cells were asked for, else by all since the last
    /// [`Runner::clear_cells`].
    pub fn cells(&self) -> Vec<u32> {
        let bytes = self.shared.bytes(self.shared.areas.cells, self.shared.areas.cells_size);
        let set = bytes.iter().enumerate().filter(|(_, byte)| **byte != 0);
        set.map(|(position, _)| position as u32).collect()
    }

    /// Makes all cells unset.
    pub fn clear_cells(&self) {
        self.shared.clear(self.shared.areas.cells, self.shared.areas.cells_size);
    }

    /// Reads the replies from position `first` on; false at one that makes no sense, since a test
    /// wrote over it.
    fn collect(&self, first: usize, tests: &[Test], wants: Wants, runs: &mut Vec<Run>) -> bool {
        let size = self.shared.long(Long::ReplySize).min(self.shared.areas.reply_size);
        let done = (self.shared.get(Word::Done) as usize).clamp(first, tests.len());
        let bytes = self.shared.bytes(self.shared.areas.reply, size);
        let mut decoder = Decoder::new(&bytes);
        for test in &tests[first..done] {
            let Ok(mut run) = decoder.run(&self.build, test, wants) else { return false };
            if wants.heap {
                self.find_places(&mut run);
            }
            runs.push(run);
        }
        true
    }

    /// Finds the targets of addresses of the program's own in a run's memory: words that point into
    /// a variable, or to a function.
    fn find_places(&self, run: &mut Run) {
        let count = self.build.symbols.len() as u64;
        let bytes = self.shared.bytes(self.shared.areas.symbols, count * SYMBOL_BYTES);
        let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight"));
        let names = self.build.symbols.iter().enumerate();
        let mut known: BTreeMap<u64, (u64, &str, SymbolKind)> = BTreeMap::new();
        for (at, (name, (kind, _))) in names {
            let (start, size) = (at * SYMBOL_BYTES as usize, at * SYMBOL_BYTES as usize + 8);
            known.insert(long(start), (long(size), name, kind.clone()));
        }
        let result = match &run.outcome {
            Outcome::Returned(bytes) => bytes.as_slice(),
            _ => &[],
        };
        let globals = run.globals.iter().map(|(_, bytes)| bytes);
        let blocks = run.blocks.iter().map(|(_, bytes)| bytes);
        let memories = run.objects.iter().chain(globals).chain(blocks).map(Vec::as_slice);
        let words = memories.chain([result]).flat_map(|bytes| bytes.chunks_exact(8));
        for word in words {
            let address = u64::from_le_bytes(word.try_into().expect("eight bytes"));
            let Some((start, (size, name, kind))) = known.range(..=address).next_back() else {
                continue;
            };
            let offset = address - start;
            let target = match kind {
                SymbolKind::Function if offset == 0 => PointerTarget::Function((*name).to_owned()),
                SymbolKind::Global { .. } if offset < (*size).max(1) => {
                    PointerTarget::Global((*name).to_owned(), offset)
                }
                _ => continue,
            };
            run.places.insert(address, target);
        }
    }

    /// Requests the tests at some positions. `None` if the reply is to another request, which is
    /// possible if a test wrote over the runner's memory.
    fn request(
        &self,
        positions: Range<usize>,
        wants: Wants,
    ) -> Result<Option<RequestEnd>, RunError> {
        let shared = &self.shared;
        shared.set(Word::First, positions.start as u32);
        shared.set(Word::Count, positions.end as u32);
        shared.set(Word::Wants, wants.bits());
        shared.set(Word::Done, positions.start as u32);
        shared.set(Word::Current, u32::MAX);
        shared.set_at(shared.areas.attempts, 0);
        shared.set_long(Long::ReplySize, 0);
        let seen = shared.get(Word::Reply);
        let next = seen.wrapping_add(1);
        shared.set(Word::Request, next);
        shared.wake_runner();
        let ended = self.await_end(seen)?;
        let is_answer = match &ended {
            RequestEnd::Replied => shared.get(Word::Reply) == next,
            RequestEnd::Died(u32::MAX, _) => true,
            RequestEnd::Died(at, _) => (positions.start..=positions.end).contains(&(*at as usize)),
        };
        Ok(is_answer.then_some(ended))
    }

    /// Waits for the reply, and ends a test that takes too long.
    fn await_end(&self, seen: u32) -> Result<RequestEnd, RunError> {
        let shared = &self.shared;
        let short = self.short_limit();
        // A test is stopped at the first look after its limit.
        let step = short.map_or(self.limits.test / 8, |short| short / 4);
        let step = step.clamp(Duration::from_millis(1), Duration::from_millis(50));
        let (mut current, mut since) = (shared.get(Word::Current), Instant::now());
        // Asking the system for it takes as long as a short test.
        let used_so_far = || short.map(|short| (self.processor_time(), short));
        let mut used = used_so_far();
        loop {
            shared.await_reply(seen, step);
            if shared.get(Word::Reply) != seen {
                return Ok(RequestEnd::Replied);
            }
            if shared.get(Word::State) == STATE_CRASHED {
                return Ok(RequestEnd::Died(shared.get(Word::Current), self.crash()));
            }
            if let Some(how) = self.gone() {
                // It may have told of a crash just before.
                let crashed = shared.get(Word::State) == STATE_CRASHED;
                let outcome = if crashed { self.crash() } else { Outcome::Killed(how) };
                return Ok(RequestEnd::Died(shared.get(Word::Current), outcome));
            }
            if self.limits.cancel.is_cancelled() {
                return Err(RunError::Cancelled);
            }
            let now = shared.get(Word::Current);
            if now != current {
                (current, since) = (now, Instant::now());
                used = used_so_far();
                continue;
            }
            let used_up = used.filter(|(used, short)| {
                let now = self.processor_time();
                now.saturating_sub(*used) >= *short
            });
            let limit = match used_up {
                _ if since.elapsed() >= self.limits.test => self.limits.test,
                Some((_, short)) => short,
                None => continue,
            };
            return Ok(RequestEnd::Died(now, Outcome::TimedOut(limit.as_millis() as u64)));
        }
    }

    /// The processor time of the process; `None` if the system does not tell.
    fn processor_time(&self) -> Duration {
        let Some(id) = self.process_id() else { return Duration::ZERO };
        let mut clock = 0;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `clock` and `time` are valid places; the process is a child that was not waited
        // for.
        let known = unsafe {
            libc::clock_getcpuclockid(id as libc::pid_t, &raw mut clock) == 0
                && libc::clock_gettime(clock, &raw mut time) == 0
        };
        if known { Duration::new(time.tv_sec as u64, time.tv_nsec as u32) } else { Duration::ZERO }
    }

    fn crash(&self) -> Outcome {
        let signal = self.shared.get(Word::Signal) as i32;
        let address = self.shared.long(Long::Address);
        let class = match signal {
            libc::SIGFPE => CrashClass::Arithmetic,
            libc::SIGILL | libc::SIGTRAP => CrashClass::Trap,
            libc::SIGABRT => CrashClass::Abort,
            _ if self.shared.get(Word::Overflow) != 0 => CrashClass::StackOverflow,
            _ if address < 0x1_0000 => CrashClass::NullPointer,
            _ if (INPUT_REGION..INPUT_REGION + INPUT_REGION_SIZE).contains(&address) => {
                CrashClass::OutsideObjects
            }
            _ => CrashClass::WildAddress,
        };
        Outcome::Crashed(Crash { signal, address, class })
    }

    /// How the process ended, if it did.
    fn gone(&self) -> Option<String> {
        let id = self.process.as_ref()?.0.id();
        let mut status = 0;
        let mut seen: libc::siginfo_t = unsafe_zeroed();
        // SAFETY: `seen` is a valid place; the child is left to be waited for by its owner.
        let found = unsafe {
            libc::waitid(
                libc::P_PID,
                id,
                &raw mut seen,
                libc::WEXITED | libc::WNOHANG | libc::WNOWAIT,
            )
        };
        if found == 0 && seen.si_signo == libc::SIGCHLD {
            // SAFETY: for SIGCHLD these fields are set.
            status = unsafe { seen.si_status() };
        } else if found == 0 {
            return None;
        }
        let signalled = seen.si_code == libc::CLD_KILLED || seen.si_code == libc::CLD_DUMPED;
        let raw = if signalled { status } else { status << 8 };
        Some(ExitStatus::from_raw(raw).to_string())
    }

    /// The file that a process gets as its standard output.
    fn standard_output(&self) -> std::io::Result<Stdio> {
        let ruleset = self.sandbox.as_ref().map(Sandbox::ruleset).transpose()?.flatten();
        Ok(ruleset.map_or_else(Stdio::null, Stdio::from))
    }

    fn ensure_started(&mut self) -> Result<(), RunError> {
        if self.process.is_some() {
            return Ok(());
        }
        self.write_symbols();
        let shared = &self.shared;
        for word in [Word::Request, Word::Reply, Word::State, Word::RunnerSleeps, Word::WideFull] {
            shared.set(word, 0);
        }
        shared.set_long(Long::WideUsed, 0);
        shared.set(Word::Current, u32::MAX);
        shared.set_at(shared.areas.attempts, 0);
        if self.sandbox.is_some() {
            shared.write(shared.areas.filter, Sandbox::filter());
        }
        let mut command = Command::new(self.build.runner());
        command
            .arg(self.build.object())
            .args(self.setup().map(|number| number.to_string()))
            .env_clear()
            .env("LC_ALL", "C")
            .current_dir(self.files.path())
            // The runner finds the shared memory there. Handed over by a closure in the child, it
            // would cost a copy of this process's page tables with each start.
            .stdin(shared.file().map_err(RunError::Start)?)
            .stdout(self.standard_output().map_err(RunError::Start)?)
            .stderr(Stdio::null());
        log::debug!("starting the runner, {command:?}");
        let child = command.spawn().map_err(RunError::Start)?;
        self.process = Some(Process(child));
        self.starts += 1;
        self.await_start()?;
        self.at_start = self.attempts().into_iter().map(|noted| noted.attempt).collect();
        Ok(())
    }

    fn await_start(&mut self) -> Result<(), RunError> {
        let started = Instant::now();
        let error = loop {
            match self.shared.get(Word::State) {
                STATE_READY => return Ok(()),
                STATE_FAILED => break RunError::Load(self.shared.message()),
                STATE_CRASHED => break RunError::Dies(self.crash().to_string()),
                _ => {}
            }
            if let Some(how) = self.gone() {
                if self.shared.get(Word::State) == STATE_FAILED {
                    continue;
                }
                break RunError::Dies(how);
            }
            if self.limits.cancel.is_cancelled() {
                break RunError::Cancelled;
            }
            if started.elapsed() > Duration::from_secs(30) {
                break RunError::Dies("it does not get ready within 30 s".to_owned());
            }
            self.shared.await_reply(0, Duration::from_millis(1));
        };
        self.process = None;
        Err(error)
    }

    /// Writes the table of symbols for the runner.
    fn write_symbols(&self) {
        let mut bytes = Vec::with_capacity(self.build.symbols.len() * 32);
        for (kind, offset) in self.build.symbols.values() {
            let (size, writable) = match kind {
                SymbolKind::Function => (0, 0),
                SymbolKind::Global { size, writable } => (*size, u64::from(*writable)),
            };
            [*offset, size, writable, 0].iter().for_each(|n| bytes.extend(n.to_le_bytes()));
        }
        self.shared.write(self.shared.areas.symbols, &bytes);
    }

    /// The numbers of `struct setup`.
    fn setup(&self) -> impl Iterator<Item = u64> {
        let areas = &self.shared.areas;
        let own = [
            areas.cells,
            areas.cells_size,
            areas.wide,
            areas.wide_size,
            areas.symbols,
            areas.request,
            areas.request_size,
            areas.reply,
            areas.reply_size,
            areas.total,
            INPUT_REGION,
            INPUT_REGION_SIZE,
            self.build.cells_offset,
            self.build.symbols_offset,
            self.build.entries.len() as u64,
            self.build.symbols.len() as u64,
            self.build.own_symbols as u64,
            u64::from(std::process::id()),
        ];
        let needed = areas.total + INPUT_REGION_SIZE + HEAP_BYTES + 4 * self.build.memory();
        let sandbox = self.sandbox.as_ref();
        let confinement =
            sandbox.map_or([0; 8], |sandbox| sandbox.setup(areas.filter, areas.attempts, needed));
        own.into_iter().chain(confinement)
    }
}

/// A batch of tests, encoded.
struct RequestBatch<'a> {
    /// Position of its first test among all.
    from: usize,
    count: usize,
    wants: Wants,
    bytes: &'a [u8],
}

/// A process's end by a signal, in words.
fn killed_by(signal: i32) -> String {
    ExitStatus::from_raw(signal).to_string()
}

fn unsafe_zeroed() -> libc::siginfo_t {
    // SAFETY: the type is a plain C struct for which all bits zero is a value.
    unsafe { std::mem::zeroed() }
}
