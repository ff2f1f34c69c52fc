//! Runs of `lydian gen` over the files of the libraries, several at once where asked.

use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::foreign::{Library, Unit};
use crate::results::{FunctionResult, Trouble};

/// What is asked for of every function.
const CRITERIA: &str = "stmt,bc,mcdc";

/// Functions of one file, which one run of `gen` works on.
pub(crate) struct Work<'a> {
    pub(crate) library: &'a Library,
    pub(crate) unit: &'a Unit,
    pub(crate) functions: Vec<String>,
    /// Whether these are all functions of the file.
    pub(crate) whole: bool,
}

/// What runs of `gen` gave.
#[derive(Default)]
pub(crate) struct GenResults {
    pub(crate) functions: Vec<FunctionResult>,
    pub(crate) troubles: Vec<Trouble>,
}

/// Does all work, `jobs` pieces at once; the results are in the order of the work.
pub(crate) fn run_all(
    work: &[Work<'_>],
    jobs: usize,
    time: f64,
    done: impl Fn(&Work<'_>, &GenResults) + Sync,
) -> GenResults {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, GenResults)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| {
                while let Some((index, piece)) = take(work, &next) {
                    let gathered = piece.run(time);
                    done(piece, &gathered);
                    let mut all = results.lock().unwrap_or_else(PoisonError::into_inner);
                    all.push((index, gathered));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    let mut all = GenResults::default();
    for (_, gathered) in results {
        all.functions.extend(gathered.functions);
        all.troubles.extend(gathered.troubles);
    }
    all
}

fn take<'a, T>(work: &'a [T], next: &AtomicUsize) -> Option<(usize, &'a T)> {
    let index = next.fetch_add(1, Ordering::Relaxed);
    Some((index, work.get(index)?))
}

impl Work<'_> {
    /// One run for all functions; where that gives no table, one for each.
    fn run(&self, time: f64) -> GenResults {
        let mut gathered = GenResults::default();
        let asked: &[String] = if self.whole { &[] } else { &self.functions };
        match self.generate(asked, self.functions.len(), time, &mut gathered.troubles) {
            Some(rows) => self.take_rows(&self.functions, rows, &mut gathered),
            None if self.functions.len() == 1 => {
                self.take_rows(&self.functions, Vec::new(), &mut gathered);
            }
            None => {
                for function in &self.functions {
                    let asked = std::slice::from_ref(function);
                    let rows = self.generate(asked, 1, time, &mut gathered.troubles);
                    self.take_rows(asked, rows.unwrap_or_default(), &mut gathered);
                }
            }
        }
        gathered
    }

    /// Keeps the rows of a table, and for each function that has none an entry that says so.
    fn take_rows(&self, asked: &[String], rows: Vec<FunctionResult>, gathered: &mut GenResults) {
        for function in asked {
            let row = rows.iter().find(|row| row.function == *function);
            gathered.functions.push(row.cloned().unwrap_or_else(|| {
                let (library, file) = (&self.library.name, &self.unit.file);
                FunctionResult::without_a_row(library, file, function, "no result for the function")
            }));
        }
    }

    /// Runs `gen`; the rows of its table, `None` where it wrote none.
    fn generate(
        &self,
        functions: &[String],
        count: usize,
        time: f64,
        troubles: &mut Vec<Trouble>,
    ) -> Option<Vec<FunctionResult>> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (json, errors) = (folder.path().join("table.json"), folder.path().join("errors"));
        let mut lydian = Command::new(env!("CARGO_BIN_EXE_lydian"));
        lydian.current_dir(&self.library.place).args(["gen", &self.unit.file]);
        lydian.args(["-c", CRITERIA, "--jobs", "1", "--time", &time.to_string()]);
        for function in functions {
            lydian.args(["-f", function]);
        }
        lydian.arg("-o").arg(folder.path().join("tests")).arg("--json").arg(&json);
        lydian.arg("--").args(&self.unit.flags).stdin(Stdio::null()).stdout(Stdio::null());
        lydian.stderr(std::fs::File::create(&errors).expect("the file can be made"));
        let limit = Duration::from_secs_f64(60.0 + count as f64 * (10.0 + 3.0 * time));
        let status = finish(&mut lydian, limit);
        let errors = std::fs::read(&errors).unwrap_or_default();
        self.judge(functions, status, &String::from_utf8_lossy(&errors), troubles);
        let table = std::fs::read_to_string(json).ok()?;
        let table: serde_json::Value = serde_json::from_str(&table).ok()?;
        let (library, file) = (&self.library.name, &self.unit.file);
        let rows = table["functions"].as_array()?.iter();
        Some(rows.filter_map(|row| FunctionResult::from_row(library, file, row)).collect())
    }

    /// Keeps what a run says is wrong with Lydian itself.
    fn judge(
        &self,
        functions: &[String],
        status: Option<ExitStatus>,
        errors: &str,
        troubles: &mut Vec<Trouble>,
    ) {
        let mut say = |what: String| {
            troubles.push(Trouble {
                library: self.library.name.clone(),
                file: self.unit.file.clone(),
                functions: functions.to_vec(),
                what,
            });
        };
        let internal = |line: &&str| line.starts_with("error") || line.contains(" panicked at ");
        match status {
            None => say("does not end".to_owned()),
            Some(status) if matches!(status.code(), Some(0 | 4)) => {}
            Some(status) => {
                let lines: Vec<&str> = errors.lines().filter(internal).take(8).collect();
                say(format!("{status}: {}", lines.join("; ")));
            }
        }
    }
}

/// Waits for a process, which is killed after the limit; then there is no status.
fn finish(command: &mut Command, limit: Duration) -> Option<ExitStatus> {
    let mut child = command.spawn().expect("lydian can be started");
    let begun = Instant::now();
    loop {
        if let Some(status) = child.try_wait().expect("the process can be waited for") {
            return Some(status);
        }
        if begun.elapsed() > limit {
            let _ = child.kill();
            let _ = child.wait();
            return None;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
