//! A folder with a C file in it, and the command run on it.

pub(crate) mod faulty_clang;
pub(crate) mod unity;
pub(crate) mod wrapped;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use serde_json::Value;

/// The command under test.
pub(crate) const LYDIAN: &str = env!("CARGO_BIN_EXE_lydian");

/// A temporary folder in which commands run. Its `tmp` is the commands' own temporary folder.
pub(crate) struct Workplace {
    folder: tempfile::TempDir,
}

/// A command that ended.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Workplace {
    /// A folder with `unit.c` in it.
    pub(crate) fn with(text: &str) -> Self {
        let this = Self { folder: tempfile::tempdir().expect("a temporary folder can be made") };
        std::fs::create_dir(this.path("tmp")).expect("a folder can be made in it");
        this.write("unit.c", text);
        this
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap_or_else(|error| panic!("{name}: {error}"));
    }

    pub(crate) fn read(&self, name: &str) -> String {
        let text = std::fs::read_to_string(self.path(name));
        text.unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        let text = self.read(name);
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"))
    }

    /// The command with its words separated by spaces, not yet started.
    pub(crate) fn command(&self, words: &str) -> Command {
        let mut command = Command::new(LYDIAN);
        command.args(words.split_whitespace());
        self.settle(&mut command);
        command
    }

    /// Any program, run as the command would be.
    pub(crate) fn settle(&self, command: &mut Command) {
        command
            .current_dir(self.folder.path())
            .env("TMPDIR", self.path("tmp"))
            .env_remove("LYDIAN_CLANG")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
    }

    pub(crate) fn run(&self, words: &str) -> Ran {
        Ran::of(&mut self.command(words))
    }

    /// Runs the command, which is to do what it was asked.
    pub(crate) fn done(&self, words: &str) -> Ran {
        let ran = self.run(words);
        assert_eq!(ran.code, Some(0), "lydian {words}: {ran}");
        ran
    }

    /// Runs the command, which is to fail with this code and these words.
    pub(crate) fn refused(&self, words: &str, code: i32, said: &[&str]) -> Ran {
        let ran = self.run(words);
        ran.says(code, said);
        ran
    }

    /// What the commands left in their temporary folder.
    pub(crate) fn left_over(&self) -> Vec<PathBuf> {
        entries(&self.path("tmp"))
    }
}

/// The entries of a folder, in order.
pub(crate) fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{folder:?}: {error}"));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    found.sort();
    found
}

impl Ran {
    pub(crate) fn of(command: &mut Command) -> Self {
        Self::from(command.output().expect("the command can be started"))
    }

    pub(crate) fn says(&self, code: i32, said: &[&str]) {
        assert_eq!(self.code, Some(code), "{self}");
        for words in said {
            assert!(self.err.contains(words), "`{words}` is missing: {self}");
        }
        assert!(!self.err.contains("panicked"), "{self}");
    }
}

impl From<Output> for Ran {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        }
    }
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ended with {:?}\n{}\n{}", self.code, self.out, self.err)
    }
}

/// The figures of one function and criterion in the table as JSON: objectives, covered,
/// infeasible, duplicate, unknown.
pub(crate) fn figures(table: &Value, function: &str, criterion: &str) -> [u64; 5] {
    let row = rows(table, function).into_iter().find(|row| row["criterion"] == criterion);
    let row = row.unwrap_or_else(|| panic!("no {criterion} of {function} in {table:#}"));
    ["objectives", "covered", "infeasible", "duplicate", "unknown"]
        .map(|key| row[key].as_u64().unwrap_or_else(|| panic!("no number {key} in {row}")))
}

/// The rows of one function.
pub(crate) fn rows<'a>(table: &'a Value, function: &str) -> Vec<&'a Value> {
    let functions = table["functions"].as_array().expect("there is a list of functions");
    let found = functions.iter().find(|found| found["name"] == function);
    let found = found.unwrap_or_else(|| panic!("no {function} in {table:#}"));
    found["criteria"].as_array().expect("a function has a list of criteria").iter().collect()
}

/// Waits until something is so. Panics with `what` after a generous time.
pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A thousand paths a second for hours where ways are not merged, labels that only some of them
/// cover, and one that none covers, as one of two neighbours is even.
pub(crate) const LONG: &str = "\
int f(const unsigned char key[16])
{
    unsigned hash = 5381;
    int score = 0, next;
    for (int i = 0; i < 16; i++) {
        if (key[i] > 100 && key[i] < 200)
            score++;
        hash = hash * 33 + key[i] * key[(i + 1) % 16];
    }
    next = hash + 1;
    if (score == 3 && hash * next == 0x12345677)
        return 2;
    return score > 5;
}
";

/// The processes that the threads of a process started and that are still there.
pub(crate) fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads
        .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok());
    let pids = |list: String| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect();
    lists.flat_map::<Vec<u32>, _>(pids).collect()
}

/// Whether a process runs: one that ended and that nobody has asked for does not.
pub(crate) fn is_alive(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}
