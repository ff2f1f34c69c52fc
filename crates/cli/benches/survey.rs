//! How many functions of C that Lydian was not developed on are decided, and what leaves the others.
//!
//!     cargo bench -p lydian-cli --bench survey [-- [part=open|held-out] [libraries=NAME,NAME]
//!         [time=SECONDS] [functions=N] [seed=N] [jobs=N] [compare=FILE] [out=FILE]]
//!
//! `scripts/survey-c` fetches the libraries of the part (default: open) that are not in
//! `target/survey-c`. `lydian gen` runs on each file for stmt, bc and mcdc with `time` seconds a
//! function (default 2). A function is decided where every objective of the three is covered,
//! infeasible without further assumptions, or a duplicate. `functions` draws that many, by the seed
//! (default 1). Where a run on a file fails, its functions are run one by one.
//!
//! Printed are a row for each library, the reasons for what is left with the functions that each
//! leaves (numbers and names in a reason are left out, so that equal ones count together), and every
//! panic, internal error and contradiction. All of it is written as JSON to `out` (default
//! `target/survey/PART.json`; what is there is kept as `PART.previous.json`); `compare` prints what
//! differs from an earlier file, function by function.

#[path = "shared/foreign.rs"]
mod foreign;
#[path = "survey/generation.rs"]
mod generation;
#[path = "survey/results.rs"]
mod results;
#[path = "survey/tables.rs"]
mod tables;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use foreign::{Library, Unit};
use generation::{GenResults, Work};
use results::{Survey, Trouble};

/// The words of the command line.
struct Options {
    part: String,
    libraries: Vec<String>,
    time: f64,
    functions: Option<usize>,
    seed: u64,
    jobs: usize,
    compare: Option<PathBuf>,
    out: Option<PathBuf>,
}

fn main() {
    let options = Options::read();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().expect("the workspace is there");
    let before = options.compare.as_deref().map(|file| Survey::read(file).expect("a survey"));
    let libraries = foreign::libraries(&root, &options.part, &options.libraries);
    let (work, mut troubles) = all_work(&libraries, &options);
    let count: usize = work.iter().map(|piece| piece.functions.len()).sum();
    say(&format!("{count} functions, seed {}", options.seed));
    let GenResults { functions, troubles: found } =
        generation::run_all(&work, options.jobs, options.time, tell);
    troubles.extend(found);
    let survey = Survey { part: options.part.clone(), time: options.time, functions, troubles };
    let tables = [tables::libraries(&survey), tables::reasons(&survey), tables::troubles(&survey)];
    say(&format!("\n{}", tables.join("\n\n")));
    let out = options.out.unwrap_or_else(|| kept_free(&root, &options.part));
    survey.write(&out);
    say(&format!("\nwritten to {}", out.display()));
    if let Some(before) = before {
        say(&format!("\n{}", tables::comparison(&before, &survey)));
    }
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            part: "open".to_owned(),
            libraries: Vec::new(),
            time: 2.0,
            functions: None,
            seed: 1,
            jobs: 1,
            compare: None,
            out: None,
        };
        for word in std::env::args().skip(1).filter(|word| word != "--bench") {
            let (name, value) = word.split_once('=').expect("an option is NAME=VALUE");
            let number = || value.parse().expect("a number");
            match name {
                "part" => value.clone_into(&mut options.part),
                "libraries" => options.libraries.extend(value.split(',').map(String::from)),
                "time" => options.time = value.parse().expect("seconds"),
                "functions" => options.functions = Some(number()),
                "seed" => options.seed = number() as u64,
                "jobs" => options.jobs = number().max(1),
                "compare" => options.compare = Some(value.into()),
                "out" => options.out = Some(value.into()),
                _ => panic!("no option is named {name}"),
            }
        }
        options
    }
}

/// The functions to work on, file by file; files that Lydian cannot read are trouble.
fn all_work<'a>(libraries: &'a [Library], options: &Options) -> (Vec<Work<'a>>, Vec<Trouble>) {
    let (mut all, mut troubles) = (Vec::new(), Vec::new());
    for library in libraries {
        for unit in &library.units {
            match foreign::functions_of(library, unit) {
                Ok(names) => all.extend(names.into_iter().map(|name| (library, unit, name))),
                // Tables of data alone.
                Err(what) if what.contains("[nothing-to-test]") => {}
                Err(what) => troubles.push(Trouble {
                    library: library.name.clone(),
                    file: unit.file.clone(),
                    functions: Vec::new(),
                    what,
                }),
            }
        }
    }
    let whole = options.functions.is_none();
    if let Some(count) = options.functions {
        all = foreign::sample(all, count, options.seed);
    }
    let same =
        |a: &(&Library, &Unit, String), b: &(&Library, &Unit, String)| std::ptr::eq(a.1, b.1);
    let work = all.chunk_by(same).map(|functions| Work {
        library: functions[0].0,
        unit: functions[0].1,
        functions: functions.iter().map(|(_, _, name)| name.clone()).collect(),
        whole,
    });
    (work.collect(), troubles)
}

/// Says what became of a file.
fn tell(work: &Work<'_>, gathered: &GenResults) {
    let decided = gathered.functions.iter().filter(|function| function.decided).count();
    let all = gathered.functions.len();
    say(&format!("{} {}: {decided} of {all} decided", work.library.name, work.unit.file));
}

/// Where the results of a part go; those of the run before are moved aside.
fn kept_free(root: &Path, part: &str) -> PathBuf {
    let folder = root.join("target/survey");
    let path = folder.join(format!("{part}.json"));
    if path.is_file() {
        let kept = folder.join(format!("{part}.previous.json"));
        std::fs::rename(&path, kept).expect("the folder can be written to");
    }
    path
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
