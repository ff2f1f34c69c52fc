//! Random programs of Csmith: the interpreter and the symbolic engine against the machine.
//!
//!     cargo bench -p lydian-testkit --bench csmith -- [count=1000] [first=SEED] [pinned=0]
//!         [mode=NAME] [steps=MILLIONS] [seconds=NATIVE] [budget=PINNED SECONDS] [jobs=2] [keep=DIR]
//!
//! In each mode (default, bit-fields, 64-bit, floats, pointers, m32) `count` programs are generated from
//! the seeds that begin at `first`, compiled by clang and run, lowered and run in the interpreter;
//! the first `pinned` of them also go through the symbolic engine. A program whose native run takes
//! longer than `seconds` is counted apart, and so is one that takes the interpreter more than
//! `steps` million steps, and one that converts a float to an integer that it does not fit (Csmith does
//! not guard that; clang's sanitizer must agree). `keep` is a folder for the programs that are no agreement.
//!
//! Needs Csmith and its run-time headers (Debian: `csmith`, `libcsmith-dev`), for the mode `m32` the
//! 32-bit C library too (`libc6-dev-i386`).

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use lydian_testkit::csmith::{
    MODES, Mode, Verdict, check_interpreter, check_pinned, generate, native_checksum, pinned_text,
};

#[derive(Clone, Debug)]
struct Settings {
    count: u64,
    first: u64,
    pinned: u64,
    mode: Option<String>,
    steps: u64,
    native: Duration,
    budget: Duration,
    jobs: usize,
    keep: Option<PathBuf>,
}

/// How many programs of a mode came out how, in one engine.
#[derive(Default)]
struct Tally {
    programs: u64,
    agree: u64,
    mismatch: u64,
    native_timeouts: u64,
    undefined: u64,
    limits: u64,
    steps: u64,
    time: Duration,
}

impl Tally {
    fn add(&mut self, verdict: &Verdict, steps: u64, time: Duration) {
        self.programs += 1;
        self.steps += steps;
        self.time += time;
        match verdict {
            Verdict::Agree => self.agree += 1,
            Verdict::Mismatch(_) => self.mismatch += 1,
            Verdict::NativeTimeout => self.native_timeouts += 1,
            Verdict::Undefined => self.undefined += 1,
            Verdict::Limit(_) => self.limits += 1,
        }
    }
}

fn main() {
    let settings = settings();
    say(
        "mode        engine       programs  agree  mismatch  native time-outs  undefined  limits  M steps      s",
    );
    let chosen = |mode: &&Mode| settings.mode.as_ref().is_none_or(|wanted| wanted == mode.name);
    for mode in MODES.iter().filter(chosen) {
        run_mode(mode, &settings);
    }
}

fn settings() -> Settings {
    let mut settings = Settings {
        count: 20,
        first: 1,
        pinned: 0,
        mode: None,
        steps: 50,
        native: Duration::from_secs(5),
        budget: Duration::from_secs(60),
        jobs: 2,
        keep: None,
    };
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        let (key, value) = argument.split_once('=').expect("arguments are like count=100");
        let number = || value.parse::<u64>().expect("a number");
        match key {
            "count" => settings.count = number(),
            "first" => settings.first = number(),
            "pinned" => settings.pinned = number(),
            "mode" => settings.mode = Some(value.to_owned()),
            "steps" => settings.steps = number(),
            "seconds" => settings.native = Duration::from_secs(number()),
            "budget" => settings.budget = Duration::from_secs(number()),
            "jobs" => settings.jobs = number() as usize,
            "keep" => settings.keep = Some(value.into()),
            _ => panic!("there is no setting {key}"),
        }
    }
    settings
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).expect("the output takes it");
}

fn run_mode(mode: &Mode, settings: &Settings) {
    let next = AtomicU64::new(settings.first);
    let tallies = Mutex::new((Tally::default(), Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..settings.jobs {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= settings.first + settings.count {
                        break;
                    }
                    let pinned = seed < settings.first + settings.pinned;
                    run_program(mode, seed, pinned, settings, &tallies);
                }
            });
        }
    });
    let (interpreter, engine) = tallies.into_inner().expect("no worker panicked");
    for (name, tally) in [("interpreter", interpreter), ("symbolic", engine)] {
        if tally.programs > 0 {
            let Tally {
                programs,
                agree,
                mismatch,
                native_timeouts,
                undefined,
                limits,
                steps,
                time,
            } = tally;
            say(&format!(
                "{:<11} {name:<12} {programs:>8} {agree:>6} {mismatch:>9} {native_timeouts:>17} \
                 {undefined:>10} {limits:>7} {:>8.1} {:>6.0}",
                mode.name,
                steps as f64 / 1e6,
                time.as_secs_f64(),
            ));
        }
    }
}

fn run_program(
    mode: &Mode,
    seed: u64,
    pinned: bool,
    settings: &Settings,
    tallies: &Mutex<(Tally, Tally)>,
) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("program.c");
    let text = match generate(mode, seed) {
        Ok(text) => text,
        Err(error) => return say(&format!("{} {seed}: {error}", mode.name)),
    };
    std::fs::write(&file, &text).expect("a temporary file");
    let native = match native_checksum(mode, &file, settings.native) {
        Ok(native) => native,
        Err(error) => return say(&format!("{} {seed}: {error}", mode.name)),
    };
    let start = Instant::now();
    let (verdict, steps) = match &native {
        Ok(native) => check_interpreter(mode, &file, *native, settings.steps * 1_000_000),
        Err(verdict) => (verdict.clone(), 0),
    };
    report(mode, seed, "interpreter", &verdict, &file, settings);
    tallies.lock().expect("no worker panicked").0.add(&verdict, steps, start.elapsed());
    if let (true, Ok(native), Verdict::Agree) = (pinned, native, verdict) {
        let start = Instant::now();
        std::fs::write(&file, pinned_text(&text, native)).expect("a temporary file");
        let verdict = check_pinned(mode, &file, settings.budget);
        report(mode, seed, "symbolic", &verdict, &file, settings);
        tallies.lock().expect("no worker panicked").1.add(&verdict, 0, start.elapsed());
    }
}

fn report(mode: &Mode, seed: u64, engine: &str, verdict: &Verdict, file: &Path, to: &Settings) {
    let why = match verdict {
        Verdict::Agree | Verdict::NativeTimeout | Verdict::Undefined => return,
        Verdict::Limit(why) => format!("limit: {why}"),
        Verdict::Mismatch(why) => format!("MISMATCH: {why}"),
    };
    say(&format!("  {} {seed} {engine}: {why}", mode.name));
    if let Some(folder) = &to.keep {
        let copy = folder.join(format!("{}-{seed}-{engine}.c", mode.name));
        std::fs::create_dir_all(folder).and_then(|()| std::fs::copy(file, copy)).expect("kept");
    }
}
