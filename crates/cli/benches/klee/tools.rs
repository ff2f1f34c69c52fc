//! KLEE and Lydian on one program.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

use lydian_report::Summary;
use serde::Serialize;

use crate::subjects::Subject;
use crate::watched::{ProcessFigures, watch};

/// Whether KLEE folds conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Folding {
    AsItComes,
    Off,
}

/// LLVM's options, which KLEE takes, for a CFG simplification that leaves each condition a branch.
const NO_FOLDING: [&str; 6] = [
    "--bonus-inst-threshold=0",
    "--phi-node-folding-threshold=0",
    "--two-entry-phi-node-folding-threshold=0",
    "--simplifycfg-sink-common=false",
    "--simplifycfg-hoist-common=false",
    "--simplifycfg-merge-cond-stores=false",
];

/// KLEE ends a path whose memory is above this, which is more than any program here needs.
const KLEE_MEMORY_MB: u32 = 8000;

/// What one run of a tool gave.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ToolRun {
    /// From the source to the end.
    pub(crate) seconds: f64,
    /// Processor time.
    pub(crate) cpu_seconds: f64,
    /// The tool's own memory.
    pub(crate) own_mb: f64,
    /// With compilers and all else.
    pub(crate) peak_mb: f64,
    /// Whether all paths were explored.
    pub(crate) complete: bool,
    pub(crate) paths: u64,
    pub(crate) tests: u32,
    /// Branches that the tests cover, of those that there are, as `lydian cover` measures.
    pub(crate) covered: u32,
    pub(crate) objectives: u32,
}

/// Where things are.
pub(crate) struct Tools {
    programs: PathBuf,
    place: PathBuf,
    seconds: f64,
    cpu: Option<u32>,
}

impl Tools {
    pub(crate) fn new(programs: PathBuf, place: PathBuf, seconds: f64, cpu: Option<u32>) -> Self {
        Self { programs, place, seconds, cpu }
    }

    /// KLEE, from the source on, with tests only for what covers new code; where these cover less than
    /// a test for each path does, with all tests.
    pub(crate) fn klee(&self, subject: &Subject, folding: Folding) -> ToolRun {
        let few = self.klee_with(subject, folding, &["--only-output-states-covering-new"]);
        if few.covered == few.objectives {
            return few;
        }
        let all = self.klee_with(subject, folding, &[]);
        if all.covered > few.covered { all } else { few }
    }

    fn klee_with(&self, subject: &Subject, folding: Folding, options: &[&str]) -> ToolRun {
        let bitcode = self.place.join("program.bc");
        let tests = self.fresh("klee");
        let clang = env::var("KLEE_CLANG").unwrap_or_else(|_| "clang-16".into());
        let mut compile = self.command(&clang);
        compile.args(["-c", "-g", "-emit-llvm", "-O0", "-Xclang", "-disable-O0-optnone", "-w"]);
        compile.args(subject.flags()).arg("-o").arg(&bitcode).arg(self.source(subject));
        let compiled = self.watch(compile);
        assert!(compiled.status.success(), "{}", compiled.said);

        let klee = env::var("KLEE").unwrap_or_else(|_| "klee".into());
        let mut explore = self.command(&klee);
        explore.arg("--use-forked-solver=0").args(options);
        explore.arg(format!("--max-memory={KLEE_MEMORY_MB}"));
        explore.arg(format!("--max-time={}s", self.seconds));
        if folding == Folding::Off {
            explore.args(NO_FOLDING);
        }
        explore.arg(format!("--output-dir={}", tests.display())).arg(&bitcode);
        let explored = self.watch(explore);
        let number = |what: &str| {
            let line = explored.said.lines().find_map(|line| line.strip_prefix(what));
            line.and_then(|line| line.trim_start_matches([' ', '=']).trim().parse::<u64>().ok())
        };
        let completed = number("KLEE: done: completed paths");
        let completed = completed.unwrap_or_else(|| panic!("{}", explored.said));
        let partial = number("KLEE: done: partially completed paths").unwrap_or(0);
        let stopped = ["HaltTimer invoked", "halting execution", "WARNING: killing"];
        let tests_made = number("KLEE: done: generated tests").unwrap_or(0);
        let (covered, objectives) = self.cover(subject, &tests, tests_made > 0);
        ToolRun {
            seconds: compiled.seconds + explored.seconds,
            cpu_seconds: compiled.cpu_seconds + explored.cpu_seconds,
            own_mb: explored.own_mb,
            peak_mb: explored.peak_mb.max(compiled.peak_mb),
            complete: !stopped.iter().any(|words| explored.said.contains(words)),
            paths: completed + partial,
            tests: u32::try_from(tests_made).unwrap_or(u32::MAX),
            covered,
            objectives,
        }
    }

    /// Lydian over all paths.
    pub(crate) fn lydian(&self, subject: &Subject) -> ToolRun {
        self.generate(subject, "all", self.seconds)
    }

    /// Lydian until its tests cover so many branches: the first of fresh runs with doubling limits
    /// that does. None if it does not within all of its time.
    pub(crate) fn until(&self, subject: &Subject, covered: u32) -> Option<ToolRun> {
        let mut limit = 0.05;
        loop {
            let found = self.generate(subject, "needed", limit);
            if found.covered >= covered {
                return Some(found);
            }
            if limit >= self.seconds {
                return None;
            }
            limit = (limit * 2.0).min(self.seconds);
        }
    }

    fn generate(&self, subject: &Subject, explore: &str, seconds: f64) -> ToolRun {
        let tests = self.fresh("lydian");
        let table = self.place.join("table.json");
        let mut command = self.command(env!("CARGO_BIN_EXE_lydian"));
        command.arg("gen").arg(self.source(subject)).args(["--program", "-c", "bc"]);
        command.args(["--explore", explore, "--max-paths", "1000000000"]);
        command.args(["--max-states", "1000000000", "--solver-time", "600000"]);
        // KLEE has one thread, too.
        command.args(["--jobs", "1"]);
        command.arg("--time").arg(seconds.to_string()).arg("--output").arg(&tests);
        command.arg("--json").arg(&table).arg("--").args(subject.flags());
        let ran = self.watch(command);
        assert!(ran.status.success(), "{}: {}\n{}", subject.name, ran.status, ran.said);
        let summary = read(&table);
        let all = summary.functions.iter();
        let explored = all.clone().find_map(|function| function.exploration);
        let made: usize = all.map(|function| function.tests).sum();
        let (covered, objectives) = self.cover(subject, &tests, made > 0);
        ToolRun {
            seconds: ran.seconds,
            cpu_seconds: ran.cpu_seconds,
            own_mb: ran.own_mb,
            peak_mb: ran.peak_mb,
            complete: explored.is_some_and(|explored| explored.complete),
            paths: explored.map_or(0, |explored| explored.paths),
            tests: u32::try_from(made).unwrap_or(u32::MAX),
            covered,
            objectives,
        }
    }

    /// The branches that tests cover, and all.
    fn cover(&self, subject: &Subject, tests: &Path, any: bool) -> (u32, u32) {
        if !any {
            return (0, 0);
        }
        let table = self.place.join("covered.json");
        let mut command = Command::new(env!("CARGO_BIN_EXE_lydian"));
        command.arg("cover").arg(self.source(subject)).args(["--program", "-c", "bc", "--tests"]);
        command.arg(tests).arg("--json").arg(&table).arg("--").args(subject.flags());
        let ran = self.watch(command);
        assert!(ran.status.success(), "{}: {}\n{}", subject.name, ran.status, ran.said);
        let summary = read(&table);
        let rows = || summary.functions.iter().flat_map(|function| &function.criteria);
        let count = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        (
            count(rows().map(|row| row.covered).sum()),
            count(rows().map(|row| row.objectives - row.duplicate).sum()),
        )
    }

    /// The program as one file.
    fn source(&self, subject: &Subject) -> PathBuf {
        let path = self.place.join(subject.name).with_extension("c");
        if !path.exists() {
            let read = |path: PathBuf| {
                std::fs::read_to_string(&path)
                    .unwrap_or_else(|error| panic!("{}: {error}", path.display()))
            };
            let examples = self.programs.join("../../../../examples/table1");
            let before = subject.after.map(|name| read(examples.join(name).with_extension("c")));
            let text = read(self.programs.join(subject.name).with_extension("c"));
            std::fs::write(&path, before.unwrap_or_default() + &text).expect("the file is written");
            std::fs::copy(self.programs.join("input.h"), self.place.join("input.h"))
                .expect("the file is copied");
        }
        path
    }

    /// A folder's name that nothing has.
    fn fresh(&self, name: &str) -> PathBuf {
        let folder = self.place.join(name);
        if folder.exists() {
            std::fs::remove_dir_all(&folder).expect("what an earlier run left is removed");
        }
        folder
    }

    /// A command, on one core and with an end if that is asked for.
    fn command(&self, program: &str) -> Command {
        match self.cpu {
            None => Command::new(program),
            Some(cpu) => {
                let mut command = Command::new("taskset");
                command.arg("-c").arg(cpu.to_string()).arg(program);
                command
            }
        }
    }

    fn watch(&self, command: Command) -> ProcessFigures {
        watch(command, &self.place.join("log"))
    }
}

fn read(table: &Path) -> Summary {
    let text = std::fs::read_to_string(table).expect("the table was written");
    serde_json::from_str(&text).expect("the table is Lydian's JSON")
}
