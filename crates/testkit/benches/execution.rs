//! A public execution test suite for C compilers, run in the interpreter.
//!
//!     cargo bench -p lydian-testkit --bench execution -- DIR [word=WORD] [steps=MILLIONS] [list=1]
//!
//! `DIR` holds the suite's C files, each a program that ends with status 0 where the compiler is
//! right: gcc's `gcc.c-torture/execute` (Debian: in the tarball of `gcc-12-source`), tcc's
//! `tests2`, c-testsuite's `tests/single-exec`. A file counts where clang at -O0 compiles it and the
//! result ends with status 0 on this machine (flags are taken from its `dg-options`). It passes where
//! the interpreter, with Lydian's C library, ends so too and writes the same. `list=1` names every
//! file that does not pass, as it is met. The suite is not part of this repository.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use lydian_clib::Library;
use lydian_frontend::flags::CompileFlags;
use lydian_ir::interp::End;
use lydian_testkit::execution::{LibraryRun, ProcessEnd, load, run_natively, run_with_library};

/// What became of a file.
enum Fate {
    /// Clang rejects it, or its result does not end with status 0 here.
    NotForClang(String),
    Passes,
    /// A part of it is not lowered.
    Refused(String),
    /// The interpreter ends otherwise.
    Differs(String),
}

fn main() {
    let (mut folder, mut word, mut steps, mut list) = (None, String::new(), 1000, false);
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        match argument.split_once('=') {
            Some(("word", given)) => given.clone_into(&mut word),
            Some(("steps", given)) => steps = given.parse().expect("a number"),
            Some(("list", given)) => list = given == "1",
            _ => folder = Some(PathBuf::from(argument)),
        }
    }
    // Without a suite there is nothing to run: `cargo bench` without arguments must not fail.
    let Some(folder) = folder else { return say("no suite is named") };
    let files = files(&folder.canonicalize().expect("the folder of the suite is there"), &word);
    let library = Library::lower(&CompileFlags::default()).expect("clang takes the library");
    // Programs that write files leave them behind.
    let scratch = tempfile::tempdir().expect("a folder can be made");
    std::env::set_current_dir(scratch.path()).expect("it can be entered");
    let next = AtomicUsize::new(0);
    let fates = Mutex::new(BTreeMap::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let fate = run(file, &library, steps * 1_000_000);
                    if list {
                        say_fate(file, &fate);
                    }
                    fates.lock().expect("no worker panicked").insert(file, fate);
                }
            });
        }
    });
    report(&fates.into_inner().expect("no worker panicked"));
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).expect("the output takes it");
}

fn say_fate(file: &Path, fate: &Fate) {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    match fate {
        Fate::Passes => {}
        Fate::NotForClang(why) => say(&format!("  {name}: not for clang: {why}")),
        Fate::Refused(why) => say(&format!("  {name}: not lowered: {why}")),
        Fate::Differs(why) => say(&format!("  {name}: differs: {why}")),
    }
}

fn files(folder: &Path, word: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("the folder of the suite is there");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| {
        let is_c = file.extension().is_some_and(|extension| extension == "c");
        is_c && file.to_string_lossy().contains(word)
    });
    files.sort();
    files
}

/// The flags of a file's `dg-options` and `dg-additional-options`, without those for other targets.
fn flags(text: &str) -> Vec<String> {
    let mut flags = vec!["-std=gnu17".to_owned()];
    for line in text.lines().filter(|line| line.contains("options") && line.contains("{ dg-")) {
        if let (Some(given), false) = (line.split('"').nth(1), line.contains("target")) {
            flags.extend(given.split_whitespace().map(str::to_owned));
        }
    }
    flags
}

fn run(file: &Path, library: &Library, max_steps: u64) -> Fate {
    let text = String::from_utf8_lossy(&std::fs::read(file).unwrap_or_default()).into_owned();
    let flags = flags(&text);
    let native = match run_natively(file, &flags, Duration::from_secs(20)) {
        Err(error) => return Fate::NotForClang(format!("rejected: {error}")),
        Ok(native) => native,
    };
    let status = match native.ended {
        ProcessEnd::Exited(0) => 0,
        // What is expected of it may be another status.
        ProcessEnd::Exited(status) if file.with_extension("expect").exists() => status,
        other => return Fate::NotForClang(format!("its run: {other:?}")),
    };
    let unit = match load(file, &flags) {
        Ok(unit) => unit,
        Err(error) => return Fate::Differs(format!("the front end: {error}")),
    };
    let refused =
        unit.diagnostics.iter().find(|diagnostic| diagnostic.code == "unsupported-construct");
    let run = run_with_library(&unit, library, max_steps);
    match (run, refused) {
        (Ok(run), _) if run.outcome.end == End::Exited(status) && run.output == native.output => {
            Fate::Passes
        }
        (_, Some(why)) => {
            let reason = why.message.split(" in function `").next().unwrap_or_default();
            Fate::Refused(reason.split(" in the initialiser").next().unwrap_or_default().to_owned())
        }
        (Ok(run), None) => Fate::Differs(describe(&run, &native.output)),
        (Err(error), None) => Fate::Differs(error.to_string()),
    }
}

fn describe(run: &LibraryRun, expected: &[u8]) -> String {
    let name = |function| run.program.functions[function].name.as_str();
    let end = match run.outcome.end {
        End::OutrunsScript => "reads a device".to_owned(),
        End::NoReturn(function) => format!("calls {}", name(function)),
        End::Trapped(kind) => format!("trap {kind:?}"),
        End::Assumption => "a failed assumption".to_owned(),
        End::Stopped(reason) => format!("stopped: {reason:?}"),
        End::Exited(0) => "another output".to_owned(),
        End::Exited(status) => format!("exits with {status}"),
        other => format!("{other:?}"),
    };
    let place = match (run.outcome.end, run.outcome.location) {
        (End::Exited(_), _) | (_, None) => String::new(),
        (_, Some(location)) => format!(" in `{}`", name(location.function)),
    };
    let line = match run.outcome.end {
        End::Exited(0) => first_difference(&run.output, expected),
        _ => String::new(),
    };
    let unknown: Vec<&str> = run.outcome.externals.iter().map(|id| name(*id)).collect();
    match unknown.is_empty() {
        true => format!("{end}{place}{line}"),
        false => {
            format!("{end}{place}{line}, after calls of what is unknown: {}", unknown.join(", "))
        }
    }
}

/// Where two outputs differ first.
fn first_difference(output: &[u8], expected: &[u8]) -> String {
    let (output, expected) = (String::from_utf8_lossy(output), String::from_utf8_lossy(expected));
    let mut pairs = output.lines().zip(expected.lines()).enumerate();
    match pairs.find(|(_, (ours, theirs))| ours != theirs) {
        Some((line, (ours, theirs))) => {
            format!(", line {}: `{ours}` for `{theirs}`", line + 1)
        }
        None => format!(", {} lines for {}", output.lines().count(), expected.lines().count()),
    }
}

fn report(fates: &BTreeMap<&PathBuf, Fate>) {
    let mut counts = [0usize; 4];
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (file, fate) in fates {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let (index, reason) = match fate {
            Fate::Passes => (0, None),
            Fate::Refused(why) => (1, Some(format!("not lowered: {why}"))),
            Fate::Differs(why) => (2, Some(format!("differs: {why}"))),
            Fate::NotForClang(why) => (3, Some(format!("not for clang: {why}"))),
        };
        counts[index] += 1;
        if let Some(reason) = reason {
            reasons.entry(reason).or_default().push(name);
        }
    }
    let [passes, refused, differs, not] = counts;
    let run = passes + refused + differs;
    say(&format!(
        "{} files, {not} not for clang on this machine, {run} run: {passes} pass ({:.2} %), {refused} not \
         lowered, {differs} differ",
        fates.len(),
        100.0 * passes as f64 / run.max(1) as f64,
    ));
    let mut sorted: Vec<(&String, &Vec<String>)> = reasons.iter().collect();
    sorted.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    for (reason, names) in sorted {
        let shown: Vec<&str> = names.iter().take(4).map(String::as_str).collect();
        say(&format!("{:>5} {reason}: {}", names.len(), shown.join(" ")));
    }
}
