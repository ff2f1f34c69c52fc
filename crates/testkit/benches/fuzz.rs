//! The front end on mutated trees of clang's and on mutated C: no panic, no hang.
//!
//!     cargo bench -p lydian-testkit --bench fuzz -- [minutes=1] [kind=trees|texts] [first=SEED]
//!         [one=SEED] [corpus=DIR]
//!
//! The corpus is the front end's own test programs (or the C files of `DIR`). Each seed changes one
//! file of it, runs it through the front end and the verifier, and is over within twenty seconds.
//! The work is done in processes that take a few hundred seeds each, so that what kills a process is
//! found too; `one` runs a single seed in this process, to look at it, and shows the input.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use lydian_base::Rng;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::lower::{LoweringOptions, lower};
use lydian_frontend::{Dump, ParseRequest, parse_unit};
use lydian_testkit::fuzz::{Reading, Tree, mutated_text, read_dump};

/// Seeds of one process.
const BATCH: u64 = 200;

/// How long one seed may take.
const LIMIT: Duration = Duration::from_secs(20);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Trees,
    Texts,
}

struct Settings {
    minutes: u64,
    kinds: Vec<Kind>,
    first: u64,
    one: Option<u64>,
    /// The seeds of a process that another one has started.
    batch: Option<u64>,
    corpus: PathBuf,
}

fn main() {
    let settings = settings();
    let files = files(&settings.corpus);
    assert!(!files.is_empty(), "there are C files in {}", settings.corpus.display());
    match (settings.one, settings.batch) {
        (Some(seed), _) => {
            let mut trees = BTreeMap::new();
            say(&format!("{:?}", run(seed, settings.kinds[0], &files, &mut trees, true)));
        }
        (None, Some(first)) => batch(first, settings.kinds[0], &files),
        (None, None) => supervise(&settings),
    }
}

fn settings() -> Settings {
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("../frontend/tests/programs");
    let kinds = vec![Kind::Trees, Kind::Texts];
    let mut settings =
        Settings { minutes: 1, kinds, first: 1, one: None, batch: None, corpus: own };
    for argument in std::env::args().skip(1).filter(|argument| argument != "--bench") {
        let (key, value) = argument.split_once('=').expect("arguments are like minutes=5");
        let number = || value.parse::<u64>().expect("a number");
        match (key, value) {
            ("minutes", _) => settings.minutes = number(),
            ("kind", "trees") => settings.kinds = vec![Kind::Trees],
            ("kind", "texts") => settings.kinds = vec![Kind::Texts],
            ("first", _) => settings.first = number(),
            ("one", _) => settings.one = Some(number()),
            ("batch", _) => settings.batch = Some(number()),
            ("corpus", _) => settings.corpus = value.into(),
            _ => panic!("there is no setting {argument}"),
        }
    }
    settings
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).expect("the output takes it");
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "c"));
    files.sort();
    files
}

/// Starts a process for each batch, one kind after the other, and reads what each says.
fn supervise(settings: &Settings) {
    let end = Instant::now() + Duration::from_secs(60 * settings.minutes);
    let mut totals: BTreeMap<&str, [u64; 4]> = BTreeMap::new();
    let mut first = settings.first;
    while Instant::now() < end {
        for kind in &settings.kinds {
            let name = kind_name(*kind);
            let [inputs, rejected, lowered, faults] = totals.entry(name).or_default();
            let mut at = first;
            // A process that dies has said which seed it was at: the next one begins after it.
            while at < first + BATCH {
                let said = process(at, first + BATCH, *kind, &settings.corpus);
                *inputs += said.rejected + said.lowered;
                *rejected += said.rejected;
                *lowered += said.lowered;
                *faults += said.faults.len() as u64;
                for fault in &said.faults {
                    say(&format!("  {name} {fault}"));
                }
                at = said.next;
            }
        }
        first += BATCH;
    }
    for (name, [inputs, rejected, lowered, faults]) in totals {
        say(&format!(
            "{name}: seeds {}..{first}: {inputs} inputs, {rejected} rejected, {lowered} lowered, \
             {faults} faults",
            settings.first
        ));
    }
}

const fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Trees => "trees",
        Kind::Texts => "texts",
    }
}

/// What one process said.
#[derive(Default)]
struct Said {
    rejected: u64,
    lowered: u64,
    faults: Vec<String>,
    /// The seed after the last that was begun.
    next: u64,
}

/// Runs the seeds from `first` to before `end` in a process.
fn process(first: u64, end: u64, kind: Kind, corpus: &Path) -> Said {
    let own = std::env::current_exe().expect("the system knows this program");
    let mut command = Command::new(own);
    command.arg(format!("batch={first}")).arg(format!("kind={}", kind_name(kind)));
    command.arg(format!("corpus={}", corpus.display())).stdout(Stdio::piped());
    let mut child = command.stderr(Stdio::piped()).spawn().expect("a process can be started");
    let mut errors = child.stderr.take().expect("it is piped");
    let errors = std::thread::spawn(move || {
        let mut text = String::new();
        errors.read_to_string(&mut text).map(|_| text).unwrap_or_default()
    });
    let mut said = Said { next: first, ..Said::default() };
    let (sender, lines) = std::sync::mpsc::channel();
    let output = child.stdout.take().expect("it is piped");
    let reader = std::thread::spawn(move || {
        for line in std::io::BufRead::lines(std::io::BufReader::new(output)).map_while(Result::ok) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    loop {
        match lines.recv_timeout(LIMIT) {
            Ok(line) => match line.split_once(' ') {
                Some(("begin", seed)) => said.next = seed.parse::<u64>().unwrap_or(end) + 1,
                Some(("fault", what)) => said.faults.push(format!("{}: {what}", said.next - 1)),
                Some(("end", "rejected")) => said.rejected += 1,
                Some(("end", _)) => said.lowered += 1,
                _ => {}
            },
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {
                said.faults.push(format!("{}: takes more than {LIMIT:?}", said.next - 1));
                child.kill().expect("the process can be ended");
                break;
            }
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
        }
        if said.next > end {
            break;
        }
    }
    drop(lines);
    let status = child.wait().expect("the process was started here");
    drop(reader.join());
    let errors = errors.join().unwrap_or_default();
    if !status.success() && said.next <= end && !said.faults.iter().any(|f| f.contains("more than"))
    {
        let last = errors.lines().last().unwrap_or_default().to_owned();
        said.faults.push(format!("{}: {status}: {last}", said.next - 1));
    }
    said.next = said.next.max(first + 1);
    said
}

/// All seeds from `first` to the end of its batch, saying what it is at.
fn batch(first: u64, kind: Kind, files: &[PathBuf]) {
    let mut trees = BTreeMap::new();
    // Batches begin at one more than a multiple of their size, unless `first` was given otherwise:
    // the process that started this one stops reading at its own end.
    for seed in first..first + BATCH {
        say(&format!("begin {seed}"));
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            run(seed, kind, files, &mut trees, false)
        }));
        match caught {
            Ok(Reading::Rejected) => say("end rejected"),
            Ok(Reading::Lowered(_)) => say("end lowered"),
            Err(panic) => {
                let text = panic.downcast_ref::<String>().cloned();
                let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
                let text = text.unwrap_or_default().replace('\n', " ");
                say(&format!("fault panics: {text}"));
            }
        }
    }
}

/// One seed.
fn run(
    seed: u64,
    kind: Kind,
    files: &[PathBuf],
    trees: &mut BTreeMap<PathBuf, (Tree, Dump)>,
    show: bool,
) -> Reading {
    let mut rng = Rng::new(seed);
    let file = &files[rng.below(files.len() as u64) as usize];
    match kind {
        Kind::Trees => {
            let (tree, dump) = trees.entry(file.clone()).or_insert_with(|| {
                let dump = Dump::of(&ParseRequest::new(file, CompileFlags::default()));
                let dump = dump.unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                (Tree::read(&dump.output).expect("clang prints a tree"), dump)
            });
            let output = tree.mutated(&mut rng).print();
            if show {
                say(&String::from_utf8_lossy(&output));
            }
            dump.output = output;
            read_dump(dump)
        }
        Kind::Texts => {
            let text = std::fs::read(file).expect("the file is there");
            let text = mutated_text(&String::from_utf8_lossy(&text), &mut rng);
            if show {
                say(&text);
            }
            let folder = tempfile::tempdir().expect("a temporary folder");
            let mutant = folder.path().join("mutant.c");
            std::fs::write(&mutant, text).expect("a temporary file");
            let beside = format!("-I{}", file.parent().unwrap_or(Path::new(".")).display());
            let flags = CompileFlags::new(&[beside], &mutant).expect("the flags are known");
            match parse_unit(&ParseRequest::new(mutant, flags)) {
                Err(_) => Reading::Rejected,
                Ok(unit) => {
                    let lowered = lower(&unit.ast, &unit.source, LoweringOptions::default());
                    let faults = lydian_ir::verify::verify(&lowered.program);
                    assert!(faults.is_empty(), "the verifier: {}", faults[0]);
                    Reading::Lowered(lowered.program.defined().count())
                }
            }
        }
    }
}
