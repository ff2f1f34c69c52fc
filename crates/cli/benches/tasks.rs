//! Verification tasks with an expected answer: how many `lydian prove` decides, and none wrongly.
//!
//!     cargo bench -p lydian-cli --bench tasks -- FOLDER [--only NAME,NAME] [--time SECONDS]
//!         [--jobs N] [--check SECONDS] [--held-out] [--compare FILE] [--out FILE]
//!
//! `FOLDER` has folders of tasks in the form of SV-COMP: C files, and a `.yml` file for each task with
//! the file, the data model and the expected answer about calls of error functions. A third of the
//! tasks, by the digest of their names, is held out, and is run with `--held-out` alone. `--only`
//! names folders. Each task has `--time` seconds (default 10) and one thread; `--jobs` tasks run at
//! once (default 1).
//!
//! With `--check` each proof leaves a certificate, which `lydian check` checks with so many seconds for
//! each condition.
//!
//! Wrong answers are printed first, then a table by folder. The results are written to `--out`
//! (default `target/tasks/PART.json`); `--compare` prints what differs from an earlier file.

#[path = "tasks/reading.rs"]
mod reading;
#[path = "tasks/results.rs"]
mod results;
#[path = "tasks/running.rs"]
mod running;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use reading::Task;
use results::{Results, TaskResult};

/// The words of the command line.
pub(crate) struct Options {
    folder: PathBuf,
    only: Vec<String>,
    pub(crate) time: f64,
    jobs: usize,
    /// Seconds for each condition of a certificate; none for no certificates.
    pub(crate) check: Option<f64>,
    held_out: bool,
    compare: Option<PathBuf>,
    out: Option<PathBuf>,
}

fn main() {
    let Some(options) = Options::read() else {
        return say("the bench needs the folder of the tasks: -- FOLDER");
    };
    let before = options.compare.as_deref().map(|file| Results::read(file).expect("results"));
    let mut tasks = reading::tasks(&options.folder).expect("a folder of tasks");
    tasks.retain(|task| task.is_held_out() == options.held_out);
    tasks.retain(|task| options.only.is_empty() || options.only.contains(&task.folder));
    say(&format!("{} tasks, {} s each", tasks.len(), options.time));
    let results = Results { time: options.time, tasks: run_all(&tasks, &options) };
    say(&format!("\n{}", results.shown()));
    let out = options.out.unwrap_or_else(|| usual_file(options.held_out));
    results.write(&out);
    say(&format!("written to {}", out.display()));
    if let Some(before) = before {
        say(&format!("\n{}", results.difference(&before)));
    }
}

impl Options {
    fn read() -> Option<Self> {
        let mut options = Self {
            folder: PathBuf::new(),
            only: Vec::new(),
            time: 10.0,
            jobs: 1,
            check: None,
            held_out: false,
            compare: None,
            out: None,
        };
        let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("an option has a value");
            match word.as_str() {
                "--only" => options.only.extend(value().split(',').map(String::from)),
                "--time" => options.time = value().parse().expect("seconds"),
                "--jobs" => options.jobs = value().parse::<usize>().expect("a number").max(1),
                "--check" => options.check = Some(value().parse().expect("seconds")),
                "--held-out" => options.held_out = true,
                "--compare" => options.compare = Some(value().into()),
                "--out" => options.out = Some(value().into()),
                option if option.starts_with('-') => panic!("no option is named {option}"),
                folder => options.folder = folder.into(),
            }
        }
        (!options.folder.as_os_str().is_empty()).then_some(options)
    }
}

/// Runs all tasks, and says what became of each.
fn run_all(tasks: &[Task], options: &Options) -> Vec<TaskResult> {
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(|| {
                while let Some(task) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = running::run(task, options);
                    say(&result.line());
                    done.lock().expect("no thread panicked").push(result);
                }
            });
        }
    });
    let mut done = done.into_inner().expect("no thread panicked");
    done.sort_by(|a, b| a.name.cmp(&b.name));
    done
}

/// Where the results go if the user names no file.
fn usual_file(held_out: bool) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let part = if held_out { "held-out" } else { "open" };
    root.join(format!("target/tasks/{part}.json"))
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
