//! The results of a run as a table and as a file.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use serde::{Deserialize, Serialize};

/// The answer about a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Answer {
    Safe,
    Unsafe,
    Unknown,
    /// The program gave no answers.
    None,
}

/// The result of a task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct TaskResult {
    pub(crate) name: String,
    pub(crate) folder: String,
    pub(crate) is_safe: bool,
    pub(crate) answer: Answer,
    /// Who decided.
    pub(crate) engine: String,
    /// Why nothing is known, or why a certificate does not stand.
    pub(crate) why: String,
    pub(crate) seconds: f64,
    /// The certificates of a proof, where they were asked for.
    pub(crate) certificates: Option<usize>,
    /// Whether all errors have one and all stand.
    pub(crate) checked: Option<bool>,
    pub(crate) check_seconds: Option<f64>,
}

/// The results of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Results {
    pub(crate) time: f64,
    pub(crate) tasks: Vec<TaskResult>,
}

impl TaskResult {
    fn is_right(&self) -> bool {
        self.answer == if self.is_safe { Answer::Safe } else { Answer::Unsafe }
    }

    fn is_wrong(&self) -> bool {
        self.answer == if self.is_safe { Answer::Unsafe } else { Answer::Safe }
    }

    /// The result in a line.
    pub(crate) fn line(&self) -> String {
        let verdict = match (self.is_right(), self.is_wrong()) {
            (true, _) => "right",
            (_, true) => "WRONG",
            _ => "open",
        };
        let Self { name, seconds, engine, why, .. } = self;
        let why = why.lines().next().unwrap_or_default();
        format!("{verdict:5} {name} {:?} {seconds:.2} s {engine} {why}", self.answer)
    }
}

impl Results {
    /// Results that were written before.
    pub(crate) fn read(file: &Path) -> Option<Self> {
        serde_json::from_str(&std::fs::read_to_string(file).ok()?).ok()
    }

    pub(crate) fn write(&self, file: &Path) {
        if let Some(folder) = file.parent() {
            std::fs::create_dir_all(folder).expect("the folder can be made");
        }
        let text = serde_json::to_string_pretty(self).expect("results are valid JSON");
        std::fs::write(file, text + "\n").expect("the file can be written");
    }

    /// Wrong answers, and a table by folder.
    pub(crate) fn shown(&self) -> String {
        let wrong: Vec<String> =
            self.tasks.iter().filter(|task| task.is_wrong()).map(TaskResult::line).collect();
        let mut text = format!("{} wrong answers\n", wrong.len());
        wrong.iter().for_each(|line| _ = writeln!(text, "{line}"));
        let mut folders: BTreeMap<&str, Vec<&TaskResult>> = BTreeMap::new();
        for task in &self.tasks {
            folders.entry(&task.folder).or_default().push(task);
        }
        let mut table = Table::new();
        table.load_style(ASCII_MARKDOWN).set_header([
            "folder",
            "safe",
            "unsafe",
            "certified",
            "median",
            "proofs",
            "checks",
        ]);
        for (folder, tasks) in &folders {
            table.add_row(row(folder, tasks));
        }
        table.add_row(row("all", &self.tasks.iter().collect::<Vec<_>>()));
        let _ = write!(text, "{table}");
        text
    }

    /// The tasks whose answer differs from an earlier one.
    pub(crate) fn difference(&self, before: &Self) -> String {
        let known: BTreeMap<&str, &TaskResult> =
            before.tasks.iter().map(|task| (task.name.as_str(), task)).collect();
        let mut text = String::new();
        for task in &self.tasks {
            let Some(before) = known.get(task.name.as_str()) else { continue };
            if before.answer != task.answer {
                let _ = writeln!(
                    text,
                    "{}: {:?} ({:.2} s) is now {:?} ({:.2} s)",
                    task.name, before.answer, before.seconds, task.answer, task.seconds
                );
            }
        }
        if text.is_empty() { "no answer differs\n".to_owned() } else { text }
    }
}

/// A row of the table: counts, the median time of what is decided, and the times of proofs and checks.
fn row(name: &str, tasks: &[&TaskResult]) -> Vec<String> {
    let counts = |is_safe: bool| {
        let own: Vec<&&TaskResult> = tasks.iter().filter(|task| task.is_safe == is_safe).collect();
        let right = own.iter().filter(|task| task.is_right()).count();
        format!("{right} of {}", own.len())
    };
    let proved: Vec<&&TaskResult> = tasks.iter().filter(|task| task.checked.is_some()).collect();
    let stand = proved.iter().filter(|task| task.checked == Some(true)).count();
    let mut times: Vec<f64> =
        tasks.iter().filter(|task| task.is_right()).map(|task| task.seconds).collect();
    times.sort_by(f64::total_cmp);
    let median = times.get(times.len() / 2).map_or_else(String::new, |time| format!("{time:.2} s"));
    let seconds = |of: fn(&TaskResult) -> f64| {
        format!("{:.1} s", proved.iter().map(|task| of(task)).sum::<f64>())
    };
    vec![
        name.to_owned(),
        counts(true),
        counts(false),
        format!("{stand} of {}", proved.len()),
        median,
        seconds(|task| task.seconds),
        seconds(|task| task.check_seconds.unwrap_or(0.0)),
    ]
}
