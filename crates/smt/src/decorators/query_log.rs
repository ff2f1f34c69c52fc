//! A log of questions, each as a file that any SMT-LIB solver reads.
//!
//! [`Logging`] is the outermost decorator of a chain. There it gets each question as an engine asks it,
//! before the caches, slices and rewrites of other decorators answer or change it. Chains in several
//! threads may share a [`QueryLog`], which numbers their questions in the order of the answers.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use lydian_base::SourceMap;

use crate::solver::{Answer, Limits, Solver, Subject};
use crate::terms::pool::TermPool;
use crate::terms::term::Term;
use crate::text::smtlib;

/// The end of the names of the log's files.
const SUFFIX: &str = ".smt2";
/// The least number of digits of a file's number, so that names sort in the order of the questions.
const DIGITS: usize = 6;
/// The most characters of the asker's name in a file's name.
const MOST_CHARACTERS: usize = 64;

/// A folder with a file for each question.
#[derive(Debug)]
pub struct QueryLog {
    folder: PathBuf,
    /// The texts to which subjects of questions refer.
    map: SourceMap,
    count: AtomicU64,
    /// The first error of writing. Nothing is written after it.
    error: Mutex<Option<io::Error>>,
}

impl QueryLog {
    /// Begins a log in a folder, which is created if it does not exist. The files of an earlier log are
    /// removed.
    /// `map` has the texts to which subjects of questions refer.
    ///
    /// # Errors
    /// A folder that cannot be created, read or written.
    pub fn begin(folder: &Path, map: SourceMap) -> io::Result<Self> {
        std::fs::create_dir_all(folder)?;
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            if entry.file_name().to_str().is_some_and(is_name_of_a_log) {
                std::fs::remove_file(entry.path())?;
            }
        }
        // A folder that takes no file is an error at once, not after an hour of work.
        let probe = folder.join(name_of(0, "probe"));
        std::fs::write(&probe, "").and_then(|()| std::fs::remove_file(&probe))?;
        Ok(Self {
            folder: folder.to_owned(),
            map,
            count: AtomicU64::new(0),
            error: Mutex::default(),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The number of questions so far, up to the first that could not be written.
    pub fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The first error of writing, once. After it nothing was logged.
    pub fn take_error(&self) -> Option<io::Error> {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Whether a file could not be written.
    fn has_failed(&self) -> bool {
        self.error.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Writes the file of a question, with the next number.
    fn write(&self, asker: &str, question: &Question<'_>) {
        if self.has_failed() {
            return;
        }
        let number = self.count.fetch_add(1, Ordering::Relaxed) + 1;
        let path = self.folder.join(name_of(number, asker));
        let subject = question.subject.map(|subject| self.shown(subject)).unwrap_or_default();
        let text = question.text(&format!("question {number} of {asker}{subject}"));
        if let Err(error) = std::fs::write(&path, text) {
            // Half a question would be another one.
            let _ = std::fs::remove_file(&path);
            self.error.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        }
    }

    /// The text of a subject, which follows that of the asker.
    fn shown(&self, subject: &Subject) -> String {
        match subject {
            Subject::At(span) if span.is_none() => String::new(),
            Subject::At(span) => format!(", at {}", self.map.place(span.start)),
            Subject::Named(name) => format!(", on {name}"),
        }
    }
}

/// The name of a question's file.
fn name_of(number: u64, asker: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let asker: String = asker.chars().take(MOST_CHARACTERS).map(plain).collect();
    format!("{number:0DIGITS$}-{asker}{SUFFIX}")
}

/// Whether a file has the name of a question.
fn is_name_of_a_log(name: &str) -> bool {
    let number = name.strip_suffix(SUFFIX).and_then(|name| name.split_once('-'));
    number.is_some_and(|(number, _)| {
        number.len() >= DIGITS && number.chars().all(|c| c.is_ascii_digit())
    })
}

/// A question that was answered.
struct Question<'a> {
    pool: &'a TermPool,
    assumptions: &'a [Term],
    subject: Option<&'a Subject>,
    answer: &'a Answer,
    time: Duration,
    solver: String,
}

impl Question<'_> {
    /// The contents of its file.
    fn text(&self, heading: &str) -> String {
        let Self { answer, time, solver, .. } = self;
        let micros = time.as_micros();
        let comments = [heading.to_owned(), format!("{answer} in {micros} us by {solver}")];
        // A comment ends with its line.
        let comments = comments.map(|text| format!("; {}\n", text.replace(['\n', '\r'], " ")));
        let status = match answer {
            Answer::Sat(_) => "sat",
            Answer::Unsat { .. } => "unsat",
            Answer::Unknown(_) => "unknown",
        };
        let script = smtlib::script(self.pool, self.assumptions);
        format!("{}(set-info :status {status})\n{script}", comments.concat())
    }
}

/// The log of a chain's questions, and the asker.
#[derive(Clone, Debug)]
pub struct LogTarget {
    /// The log.
    pub log: Arc<QueryLog>,
    /// The asker: the name of the function that an exploration or a proof is about.
    pub asker: String,
}

/// Logs each question to the inner solver, with its answer.
pub struct Logging<S> {
    inner: S,
    target: LogTarget,
    /// The subject of the next question, if it is known.
    subject: Option<Subject>,
}

impl<S: Solver> Logging<S> {
    /// Wraps a solver.
    pub const fn new(inner: S, target: LogTarget) -> Self {
        Self { inner, target, subject: None }
    }
}

impl<S: Solver> Solver for Logging<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        let begun = Instant::now();
        let answer = self.inner.check(pool, assumptions, limits);
        let time = begun.elapsed();
        let (subject, solver) = (self.subject.take(), self.inner.name());
        let (subject, answered) = (subject.as_ref(), &answer);
        let question = Question { pool, assumptions, subject, answer: answered, time, solver };
        self.target.log.write(&self.target.asker, &question);
        answer
    }

    fn set_subject(&mut self, subject: &dyn Fn() -> Subject) {
        self.subject = Some(subject());
    }

    forward_to_inner!(offer, forget, effort, name);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitblast::{BitBlastSolver, SatBackend};
    use crate::terms::sort::Sort;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("the folder is there");
        let name = |entry: io::Result<std::fs::DirEntry>| entry.expect("an entry").file_name();
        let mut names: Vec<String> =
            entries.map(|entry| name(entry).into_string().expect("a plain name")).collect();
        names.sort();
        names
    }

    fn ask(log: &Arc<QueryLog>, asker: &str) -> Answer {
        let target = LogTarget { log: log.clone(), asker: asker.to_owned() };
        let mut solver = Logging::new(BitBlastSolver::new(SatBackend::Batsat), target);
        let mut pool = TermPool::new();
        let b = pool.var("b", Sort::Bool);
        solver.set_subject(&|| Subject::Named("a label".to_owned()));
        solver.check(&mut pool, &[b], &Limits::none())
    }

    #[test]
    fn threads_that_share_a_log_write_files_of_their_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = QueryLog::begin(folder.path(), SourceMap::from_preprocessed("", "f.c"))
            .expect("it is writable");
        let log = Arc::new(log);
        std::thread::scope(|scope| {
            for asker in ["f", "g", "h", "i"] {
                let log = &log;
                scope.spawn(move || (0..25).for_each(|_| assert!(ask(log, asker).is_sat())));
            }
        });
        assert_eq!((log.count(), names(folder.path()).len()), (100, 100));
        assert!(log.take_error().is_none());
    }

    #[test]
    fn a_new_log_replaces_an_earlier_one_and_no_other_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let begin = || {
            let log = QueryLog::begin(folder.path(), SourceMap::from_preprocessed("", "f.c"));
            Arc::new(log.expect("it is writable"))
        };
        let log = begin();
        ask(&log, "f");
        ask(&log, "f");
        std::fs::write(folder.path().join("mine.smt2"), "").expect("it is writable");
        ask(&begin(), "g");
        assert_eq!(names(folder.path()), ["000001-g.smt2", "mine.smt2"]);
    }

    #[test]
    fn a_log_that_cannot_be_written_to_keeps_the_error_and_the_answers() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("log");
        let log = QueryLog::begin(&inner, SourceMap::from_preprocessed("", "f.c"));
        let log = Arc::new(log.expect("it is writable"));
        std::fs::remove_dir(&inner).expect("it is empty");
        assert!(ask(&log, "f").is_sat());
        assert!(ask(&log, "f").is_sat());
        assert_eq!(log.count(), 1, "only the first question was tried to be written");
        assert!(log.take_error().is_some());
        std::fs::write(&inner, "").expect("it is writable");
        assert!(
            QueryLog::begin(&inner, SourceMap::from_preprocessed("", "f.c")).is_err(),
            "it is a file"
        );
    }
}
