//! Attacks what Lydian calls infeasible: functions of foreign C run natively on many inputs that
//! Lydian did not make, with each infeasible label as a check in the text.
//!
//!     cargo bench -p lydian-cli --bench attack -- [functions=100] [runs=1000000] [seed=1]
//!         [libraries=NAME,NAME] [files=PATH,PATH] [names=FUNCTION,FUNCTION] [time=2]
//!         [criteria=stmt,bc,dc,mcc,wm] [first=0] [seconds=60] [jobs=1]
//!
//! The functions are drawn by the seed from the open part of `scripts/survey-c`, or are those of the
//! files given; `jobs` of them are attacked at a time. `lydian gen` judges each for `time` seconds. Its
//! infeasible labels are placed as checks in the text, as native measurement places them. Then the
//! function runs on `runs` inputs (fewer where `seconds` are over before) that `attack/runtime.c` makes
//! of its types: graphs of objects with null, shared, aliasing, cyclic and inner pointers, strings,
//! globals, numbers that the text casts to pointers, static locals as calls before leave them, and stubs
//! of undefined functions that return anything and write through their pointers. A run ends where
//! undefined behaviour begins, as far as clang's sanitizers and guard pages see it.
//!
//! What only runs cover that end in a trap of the sanitizer is counted apart: the check stands before
//! the expression whose own evaluation may be what is undefined. What another run covers is repeated
//! alone on a build with `AddressSanitizer` and other values in variables that have none. Where the
//! check is met again, the verdict is wrong: a hit. Hits are printed with the input, and what replays
//! them is kept in `target/attack`.

#[path = "shared/foreign.rs"]
mod foreign;
#[path = "attack/native.rs"]
mod native;
#[path = "attack/subject.rs"]
mod subject;
#[path = "attack/tables.rs"]
mod tables;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lydian_objective::Criterion;
use native::{Build, CellHits, Runtime};
use subject::{Subject, Unit};

/// How many functions of one file are drawn at most.
const OF_EACH_FILE: usize = 4;

struct Options {
    functions: usize,
    runs: u64,
    first: u64,
    seed: u64,
    time: f64,
    seconds: u64,
    jobs: usize,
    criteria: String,
    libraries: Vec<String>,
    files: Vec<String>,
    names: Vec<String>,
}

/// A function to attack.
struct Candidate {
    library: String,
    place: PathBuf,
    file: String,
    flags: Vec<String>,
    function: String,
}

#[derive(Default)]
struct Counts {
    functions: u64,
    labels: u64,
    unplaced: u64,
    runs: u64,
    /// Checks that were met, but not by the same run in the exact build.
    unconfirmed: u64,
    /// Checks that were met only by runs that end in a trap, maybe in the same expression.
    trapped: u64,
    hits: u64,
    left_out: BTreeMap<String, u64>,
}

impl Counts {
    fn add(&mut self, other: Self) {
        self.functions += other.functions;
        self.labels += other.labels;
        self.unplaced += other.unplaced;
        self.runs += other.runs;
        self.unconfirmed += other.unconfirmed;
        self.trapped += other.trapped;
        self.hits += other.hits;
        for (why, count) in other.left_out {
            *self.left_out.entry(why).or_default() += count;
        }
    }
}

fn main() {
    let options = Options::read();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the workspace is there");
    let folder = root.join("target/attack");
    let attack = Attack { runtime: Runtime::build(&folder), folder, options };
    let candidates = attack.candidates(&root);
    say(&format!("{} functions, seed {}", candidates.len(), attack.options.seed));
    let counts = attack.all(&candidates);
    let Counts { functions, labels, unplaced, runs, unconfirmed, trapped, hits, left_out } = counts;
    for (why, count) in left_out {
        say(&format!("left out: {count}: {why}"));
    }
    say(&format!(
        "{functions} functions, {labels} infeasible labels ({unplaced} more have no check), {runs} runs, \
         {unconfirmed} unconfirmed, {trapped} met only by runs that end in a trap, {hits} hits"
    ));
    std::process::exit(i32::from(hits > 0));
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            functions: 100,
            runs: 1_000_000,
            first: 0,
            seed: 1,
            time: 2.0,
            seconds: 60,
            jobs: 1,
            criteria: "stmt,bc,dc,mcc,wm".to_owned(),
            libraries: Vec::new(),
            files: Vec::new(),
            names: Vec::new(),
        };
        for word in std::env::args().skip(1).filter(|word| word != "--bench") {
            let (name, value) = word.split_once('=').expect("an option is NAME=VALUE");
            let number = || value.parse().expect("a number");
            let list = || value.split(',').map(String::from);
            match name {
                "functions" => options.functions = number() as usize,
                "runs" => options.runs = number(),
                "first" => options.first = number(),
                "seed" => options.seed = number(),
                "seconds" => options.seconds = number(),
                "jobs" => options.jobs = number().max(1) as usize,
                "time" => options.time = value.parse().expect("seconds"),
                "criteria" => value.clone_into(&mut options.criteria),
                "libraries" => options.libraries.extend(list()),
                "files" => options.files.extend(list()),
                "names" => options.names.extend(list()),
                _ => panic!("no option is named {name}"),
            }
        }
        options
    }
}

struct Attack {
    runtime: Runtime,
    folder: PathBuf,
    options: Options,
}

impl Attack {
    /// The functions of the files given; else some of each of so many files of the open part, drawn
    /// by the seed, as give enough.
    fn candidates(&self, root: &Path) -> Vec<Candidate> {
        let Options { files, libraries, names, functions, seed, .. } = &self.options;
        let (libraries, of_each) = match files.is_empty() {
            true => (foreign::libraries(root, "open", libraries), OF_EACH_FILE),
            false => (vec![given(root, files)], usize::MAX),
        };
        let units = libraries
            .iter()
            .flat_map(|library| library.units.iter().map(move |unit| (library, unit)));
        let mut all = Vec::new();
        for (library, unit) in foreign::shuffled(units.collect(), *seed) {
            if all.len() >= *functions {
                break;
            }
            let listed = foreign::functions_of(library, unit).unwrap_or_default();
            let named = |name: &String| names.is_empty() || names.contains(name);
            let chosen = listed.into_iter().filter(named).collect();
            let chosen = foreign::sample(chosen, of_each.min(functions - all.len()), *seed);
            all.extend(chosen.into_iter().map(|function| Candidate {
                library: library.name.clone(),
                place: library.place.clone(),
                file: unit.file.clone(),
                flags: unit.flags.clone(),
                function,
            }));
        }
        all
    }

    /// Attacks the functions, several at a time.
    fn all(&self, candidates: &[Candidate]) -> Counts {
        let queue = Mutex::new(candidates.iter());
        let next = || queue.lock().expect("no thread panics with the queue").next();
        let worker = || {
            let mut counts = Counts::default();
            while let Some(candidate) = next() {
                if let Err(why) = self.function(candidate, &mut counts) {
                    *counts.left_out.entry(why).or_default() += 1;
                }
            }
            counts
        };
        let mut all = Counts::default();
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..self.options.jobs).map(|_| scope.spawn(worker)).collect();
            for counts in workers {
                all.add(counts.join().expect("a worker ends without a panic"));
            }
        });
        all
    }

    /// Attacks one function, or says why it cannot be.
    fn function(&self, candidate: &Candidate, counts: &mut Counts) -> Result<(), String> {
        let Candidate { place, file, flags, function, .. } = candidate;
        let Options { criteria, time, .. } = &self.options;
        let keys = subject::infeasible_keys(place, file, flags, function, criteria, *time)?;
        if keys.is_empty() {
            return Err("no label is called infeasible".to_owned());
        }
        let unit = Unit::read(place, file, flags)?;
        let criteria: Vec<Criterion> =
            criteria.split(',').map(|name| name.parse().expect("a criterion")).collect();
        let subject = subject::place(&unit, function, &criteria, &keys);
        let subject = subject.ok_or("the function is not lowered")?;
        counts.unplaced += subject.unplaced as u64;
        if subject.targets.is_empty() {
            return Err("no infeasible label has a check".to_owned());
        }
        let (folder, built) = self.build(candidate, &unit, &subject)?;
        let cells: Vec<usize> =
            subject.targets.iter().flat_map(|target| target.cells.clone()).collect();
        let Options { first, runs, seconds, .. } = self.options;
        let CellHits { hits: met, trapped, runs } =
            self.runtime.run(&built, first, runs, &cells, seconds);
        counts.trapped += trapped;
        counts.functions += 1;
        counts.labels += subject.targets.len() as u64;
        counts.runs += runs;
        let kept = self.confirm(candidate, &subject, &folder, &met, counts);
        say(&format!(
            "{} {file} {function}: {} labels, {runs} runs, {kept} hits",
            candidate.library,
            subject.targets.len()
        ));
        if met.is_empty() {
            let _ = std::fs::remove_dir_all(folder);
        }
        Ok(())
    }

    /// Writes and compiles the function's files in a folder of its own.
    fn build(
        &self,
        candidate: &Candidate,
        unit: &Unit,
        subject: &Subject,
    ) -> Result<(PathBuf, PathBuf), String> {
        let source = unit.map.text();
        let tables = tables::tables(&unit.program, subject.function, source);
        let tables = tables.map_err(|why| format!("not called: {why}"))?;
        let Candidate { library, file, function, .. } = candidate;
        let folder = format!("{library}.{}.{function}", file.replace('/', "."));
        let folder = self.folder.join(folder);
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        let write = |name: &str, text: &str| {
            std::fs::write(folder.join(name), text).expect("the folder can be written to");
        };
        write("unit.i", &(subject.text.clone() + &tables.appendix));
        write("stubs.c", &tables.stubs);
        let built = native::compile(&folder, &candidate.flags, Build::Fast);
        let built = built.map_err(|why| format!("does not compile: {why}"))?;
        Ok((folder, built))
    }

    /// Repeats the runs that met a check on the exact build; prints and counts those that do again, and do not
    /// end in a trap of the sanitizer.
    fn confirm(
        &self,
        candidate: &Candidate,
        subject: &Subject,
        folder: &Path,
        met: &[(usize, u64)],
        counts: &mut Counts,
    ) -> u64 {
        if met.is_empty() {
            return 0;
        }
        let exact = match native::compile(folder, &candidate.flags, Build::Exact) {
            Ok(exact) => exact,
            Err(why) => {
                say(&format!("not confirmed, since it does not compile: {why}"));
                counts.unconfirmed += met.len() as u64;
                return 0;
            }
        };
        let mut hits = 0;
        let mut known = BTreeSet::new();
        for (cell, run) in met {
            let target = subject.targets.iter().find(|target| target.cells.contains(cell));
            let name = target.map_or("", |target| &target.name);
            if known.contains(name) {
                continue;
            }
            let (input, set) = self.runtime.show(Build::Exact, &exact, *run, &[*cell]);
            if !set.contains(cell) {
                counts.unconfirmed += 1;
                continue;
            }
            hits += 1;
            known.insert(name);
            say(&format!(
                "WRONG INFEASIBLE: {} {} {}: {name}\n  replay: {} {} show {run} {cell}\n{input}",
                candidate.library,
                candidate.file,
                candidate.function,
                self.folder.join("exact").display(),
                exact.display(),
            ));
        }
        counts.hits += hits;
        hits
    }
}

/// Files as a library of their own; they are compiled without flags.
fn given(root: &Path, files: &[String]) -> foreign::Library {
    let unit = |file: &String| {
        let path = std::fs::canonicalize(file).expect("the file is there");
        foreign::Unit { file: path.display().to_string(), flags: Vec::new() }
    };
    let units = files.iter().map(unit).collect();
    foreign::Library { name: "given".to_owned(), place: root.to_owned(), units }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
