//! A log of queries, each as a file that any SMT-LIB solver reads.

use crate::solver::{Answer, Limits, Solver};
use crate::terms::pool::TermPool;
use crate::terms::term::Term;
use crate::terms::value::Model;
use crate::text::smtlib;
use std::io;
use std::path::PathBuf;

/// Logs every query with its answer and time as `query-000001.smt2` and so on.
pub struct SmtLibLog<S> {
    inner: S,
    folder: PathBuf,
    written: u64,
    /// The first error of writing. After it nothing is logged, but solving continues.
    pub error: Option<io::Error>,
}

impl<S: Solver> SmtLibLog<S> {
    /// Logs to a folder, which is made when it is missing.
    pub fn new(inner: S, folder: PathBuf) -> SmtLibLog<S> {
        let error = std::fs::create_dir_all(&folder).err();
        SmtLibLog { inner, folder, written: 0, error }
    }
}

impl<S: Solver> Solver for SmtLibLog<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        let start = std::time::Instant::now();
        let answer = self.inner.check(pool, assumptions, limits);
        if self.error.is_none() {
            self.written += 1;
            let path = self.folder.join(format!("query-{:06}.smt2", self.written));
            let text = format!(
                "; {answer} in {} us by {}\n{}",
                start.elapsed().as_micros(),
                self.inner.name(),
                smtlib::script(pool, assumptions)
            );
            self.error = std::fs::write(path, text).err();
        }
        answer
    }

    fn offer(&mut self, pool: &TermPool, model: &Model) {
        self.inner.offer(pool, model);
    }

    fn forget(&mut self) {
        self.inner.forget();
    }

    fn effort(&self) -> u64 {
        self.inner.effort()
    }

    fn name(&self) -> String {
        self.inner.name()
    }
}
