//! Random functions over pointers: no input of a bounded domain may cover what is called infeasible.
//!
//!     cargo bench -p lydian-testkit --bench enumeration -- [count=10000] [first=0] [limit=20000]
//!         [seconds=2] [jobs=1] [without=alias,inside-array,member,to-global,cycle,global,static,
//!         no-memory,null] [wm=0] [lazy=off] [moves=off] [keep=DIR]
//!
//! `count` functions are generated from the seeds that begin at `first`
//! (`lydian_testkit::pointers`). Each is explored and asked proofs of, for `seconds` each, and run in
//! the interpreter on every input of the domain (`lydian_testkit::enumeration`), on a sample of them
//! where there are more than `limit`. `without` leaves inputs with these traits out. `wm=1` adds the
//! objectives of weak mutation; with `lazy=on` inputs come into being where a path looks at them; with
//! `moves=on` pointers are moved by numbers of the input, and what they lead to is freed. Mismatches are
//! counted by what is special about the inputs that show them, of which those with the fewest traits are
//! taken; the first of each kind is shown in full, and `keep` gets a file for each function with one.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use lydian_objective::Criterion;
use lydian_testkit::enumeration::{FunctionJudgement, Trait, judge};
use lydian_testkit::pointers::Moves;

struct Options {
    count: u64,
    first: u64,
    limit: u64,
    seconds: f64,
    jobs: usize,
    without: Vec<Trait>,
    mutants: bool,
    lazy: bool,
    moves: Moves,
    keep: Option<PathBuf>,
}

#[derive(Default)]
struct Tally {
    functions: u64,
    exhaustive: u64,
    inputs: u64,
    labels: usize,
    infeasible: usize,
    panics: Vec<u64>,
    wrong: BTreeMap<Kind, Mismatches>,
}

/// What mismatches are counted by: the engine, and what is special about the inputs.
type Kind = (&'static str, BTreeSet<Trait>);

/// Mismatches of one kind.
struct Mismatches {
    labels: u64,
    functions: BTreeSet<u64>,
    /// The first in words.
    first: String,
}

fn main() {
    let options = Options::read();
    let next = AtomicU64::new(options.first);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= options.first + options.count {
                        break;
                    }
                    let judged = std::panic::catch_unwind(|| options.judge(seed));
                    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
                    match judged {
                        Ok(judged) => tally.add(seed, &judged, &options),
                        Err(_) => tally.panics.push(seed),
                    }
                }
            });
        }
    });
    let tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    tally.show();
    std::process::exit(i32::from(!tally.wrong.is_empty() || !tally.panics.is_empty()));
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            count: 10_000,
            first: 0,
            limit: 20_000,
            seconds: 2.0,
            jobs: 1,
            without: Vec::new(),
            mutants: false,
            lazy: false,
            moves: Moves::None,
            keep: None,
        };
        for word in std::env::args().skip(1).filter(|word| word != "--bench") {
            let (name, value) = word.split_once('=').expect("an option is NAME=VALUE");
            let number = || value.parse::<u64>().expect("a number");
            match name {
                "count" => options.count = number(),
                "first" => options.first = number(),
                "limit" => options.limit = number().max(2),
                "seconds" => options.seconds = value.parse().expect("seconds"),
                "jobs" => options.jobs = number().max(1) as usize,
                "without" => options.without = value.split(',').map(trait_named).collect(),
                "wm" => options.mutants = number() > 0,
                "lazy" => options.lazy = value == "on",
                "moves" if value == "on" => options.moves = Moves::Any,
                "keep" => options.keep = Some(value.into()),
                _ => panic!("no option is named {name}"),
            }
        }
        options
    }

    fn judge(&self, seed: u64) -> FunctionJudgement {
        let mut criteria = vec![Criterion::Stmt, Criterion::Bc, Criterion::Dc, Criterion::Mcc];
        if self.mutants {
            criteria.push(Criterion::Wm);
        }
        let time = Duration::from_secs_f64(self.seconds);
        let settings = format!("lazy-inputs = {}", self.lazy);
        judge((seed, self.moves), &criteria, self.limit, &self.without, &settings, time)
    }
}

fn trait_named(name: &str) -> Trait {
    let all = [
        ("alias", Trait::Alias),
        ("inside-array", Trait::InsideArray),
        ("member", Trait::Member),
        ("to-global", Trait::ToGlobal),
        ("cycle", Trait::Cycle),
        ("global", Trait::Global),
        ("static", Trait::Static),
        ("no-memory", Trait::NoMemory),
        ("null", Trait::Null),
    ];
    let found = all.iter().find(|(own, _)| *own == name);
    found.unwrap_or_else(|| panic!("no trait is named {name}")).1
}

impl Tally {
    fn add(&mut self, seed: u64, judged: &FunctionJudgement, options: &Options) {
        self.functions += 1;
        self.exhaustive += u64::from(judged.found.exhaustive);
        self.inputs += judged.found.inputs;
        self.labels += judged.labels.0;
        self.infeasible += judged.labels.1;
        for wrong in &judged.wrong {
            let key = (wrong.engine, wrong.covering.traits.clone());
            let of_kind = self.wrong.entry(key).or_insert_with(|| Mismatches {
                labels: 0,
                functions: BTreeSet::new(),
                first: format!("seed {seed}: {wrong}\n{}", judged.text),
            });
            of_kind.labels += 1;
            of_kind.functions.insert(seed);
        }
        let Some(keep) = options.keep.as_ref().filter(|_| !judged.wrong.is_empty()) else { return };
        let lines: Vec<String> = judged.wrong.iter().map(|wrong| format!("// {wrong}\n")).collect();
        std::fs::create_dir_all(keep).expect("the folder can be made");
        std::fs::write(keep.join(format!("{seed}.c")), lines.concat() + &judged.text)
            .expect("the folder can be written to");
    }

    fn show(&self) {
        let mut kinds: Vec<_> = self.wrong.iter().collect();
        kinds.sort_by_key(|(_, of_kind)| std::cmp::Reverse(of_kind.labels));
        for ((engine, traits), Mismatches { labels, functions, first }) in kinds {
            let functions = functions.len();
            say(&format!(
                "{labels} labels of {functions} functions, {engine}, {traits:?}\n{first}"
            ));
        }
        for seed in &self.panics {
            say(&format!("seed {seed}: panics"));
        }
        let wrong: u64 = self.wrong.values().map(|of_kind| of_kind.labels).sum();
        say(&format!(
            "{} functions ({} with all inputs of the domain), {} inputs, {} labels, {} infeasible, \
             {wrong} of them wrong, {} panics",
            self.functions,
            self.exhaustive,
            self.inputs,
            self.labels,
            self.infeasible,
            self.panics.len()
        ));
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
