//! The interface to solvers. Every decorator and every back end implements it.

use crate::terms::eval::Evaluator;
use crate::terms::pool::TermPool;
use crate::terms::term::Term;
use crate::terms::value::Model;
use lydian_base::Span;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The limits of a query.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// Wall time for the query. A chain of two solvers may use it twice.
    pub time: Option<Duration>,
    /// The moment at which the whole run is out of time. No query goes on after it.
    pub end: Option<Instant>,
    /// Conflicts of a SAT solver; with 0, only means without a solver are tried.
    pub conflicts: Option<u64>,
    /// Gates that bit-blasting may have made, a measure of memory.
    pub gates: Option<usize>,
    /// Becomes true when the run is to stop.
    pub interrupt: Option<Arc<AtomicBool>>,
}

impl Limits {
    /// No limits.
    pub fn none() -> Limits {
        Limits::default()
    }

    /// A limit of wall time only.
    pub fn time(time: Duration) -> Limits {
        Limits { time: Some(time), ..Limits::default() }
    }

    /// Whether the run was told to stop.
    pub fn interrupted(&self) -> bool {
        self.interrupt.as_ref().is_some_and(|i| i.load(Ordering::Relaxed))
    }

    /// Whether the whole run is out of time, or was told to stop.
    pub fn expired(&self) -> bool {
        self.interrupted() || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// The same limits for so much of the time that is left to the whole run.
    pub fn within(&self, time: Duration) -> Limits {
        let end = Instant::now() + time;
        Limits { end: Some(self.end.map_or(end, |outer| outer.min(end))), ..self.clone() }
    }

    /// The moment at which a query that starts now is out of time.
    pub fn deadline(&self) -> Option<Instant> {
        let own = self.time.map(|t| Instant::now() + t);
        own.into_iter().chain(self.end).min()
    }
}

/// A theory that a back end may lack.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Theory {
    /// IEEE float arithmetic that bit-blasting does not cover.
    Floats,
    /// Arrays beyond what the back end eliminates.
    Arrays,
}

/// The reason for which a query has no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Reason {
    /// The time limit.
    #[error("no answer within {0:?}")]
    Time(Duration),
    /// The limit of gates or the memory.
    #[error("more than {0} gates")]
    Memory(usize),
    /// The limit of conflicts.
    #[error("no answer within {0} conflicts")]
    Conflicts(u64),
    /// The back end does not know a theory.
    #[error("{0:?} are not supported by this solver")]
    Unsupported(Theory),
    /// The run was told to stop.
    #[error("interrupted")]
    Interrupted,
    /// The external solver is not installed.
    #[error("{0} is not installed")]
    BackendMissing(String),
    /// The back end failed.
    #[error("the solver failed: {0}")]
    Backend(String),
    /// The back end gave up without a limit being hit.
    #[error("the solver gave up: {0}")]
    GaveUp(String),
    /// An internal error: the model that a solver returned does not satisfy the query.
    #[error("internal error: a model of {0} does not satisfy the query")]
    WrongModel(String),
    /// An internal error: two solvers disagree.
    #[error("internal error: {first} and {second} disagree{}", kept(.query))]
    Disagreement {
        /// The solver whose answer came first.
        first: String,
        /// The solver that contradicts it.
        second: String,
        /// The query as SMT-LIB, if it could be kept.
        query: Option<PathBuf>,
    },
}

fn kept(query: &Option<PathBuf>) -> String {
    query.as_ref().map_or(String::new(), |q| format!(" on {}", q.display()))
}

impl Reason {
    /// Whether this is a fault of Lydian or of a solver rather than a limit.
    pub fn is_internal_error(&self) -> bool {
        matches!(self, Reason::WrongModel(_) | Reason::Disagreement { .. })
    }
}

/// The answer to a query.
#[derive(Clone, Debug)]
pub enum Answer {
    /// The assumptions hold together, for instance in this model.
    Sat(Model),
    /// The assumptions contradict each other.
    Unsat {
        /// Assumptions that do so alone, if the back end knows; a subset of the query's.
        core: Option<Vec<Term>>,
    },
    /// No answer, and why.
    Unknown(Reason),
}

impl Answer {
    /// Whether the answer is satisfiable.
    pub fn is_sat(&self) -> bool {
        matches!(self, Answer::Sat(_))
    }

    /// Whether the answer is unsatisfiable.
    pub fn is_unsat(&self) -> bool {
        matches!(self, Answer::Unsat { .. })
    }

    /// The model of a satisfiable answer.
    pub fn model(&self) -> Option<&Model> {
        match self {
            Answer::Sat(m) => Some(m),
            _ => None,
        }
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Answer::Sat(_) => write!(f, "sat"),
            Answer::Unsat { .. } => write!(f, "unsat"),
            Answer::Unknown(r) => write!(f, "unknown: {r}"),
        }
    }
}

/// The subject of a query, for the readers of a log of queries.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Subject {
    /// A place in the text, such as that of a state of an exploration.
    At(Span),
    /// A name, such as that of an objective.
    Named(String),
}

/// Decides whether Boolean terms can hold together.
pub trait Solver {
    /// Whether all assumptions hold in some model. The pool may grow.
    ///
    /// A model that is returned satisfies every assumption as the evaluator sees it; variables
    /// that it does not name have their defaults.
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer;

    /// Tells the solver of a model that satisfies most of the next query, such as the model of the
    /// state that asks. Only a hint: it changes what is found first, never whether.
    fn offer(&mut self, _pool: &TermPool, _model: &Model) {}

    /// Sets the subject of the next query. Only a log calls the function, so it costs nothing without one.
    fn set_subject(&mut self, _subject: &dyn Fn() -> Subject) {}

    /// Gives back memory that only makes answers faster: what was learnt, answers, gates.
    fn forget(&mut self) {}

    /// The amount of work so far, in units of some tenths of a microsecond. It is counted and not
    /// measured, so it depends on the queries alone and is the same on any machine.
    fn effort(&self) -> u64 {
        0
    }

    /// A short name for messages and statistics.
    fn name(&self) -> String;
}

impl<S: Solver + ?Sized> Solver for Box<S> {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        (**self).check(pool, assumptions, limits)
    }

    fn offer(&mut self, pool: &TermPool, model: &Model) {
        (**self).offer(pool, model);
    }

    fn set_subject(&mut self, subject: &dyn Fn() -> Subject) {
        (**self).set_subject(subject);
    }

    fn forget(&mut self) {
        (**self).forget();
    }

    fn effort(&self) -> u64 {
        (**self).effort()
    }

    fn name(&self) -> String {
        (**self).name()
    }
}

/// The model as an answer if it satisfies the assumptions, else an internal error that names the
/// solver. Every back end passes its models through this.
pub(crate) fn checked(
    evaluator: &mut Evaluator,
    pool: &TermPool,
    assumptions: &[Term],
    model: Model,
    solver: &str,
) -> Answer {
    if assumptions.iter().all(|&a| evaluator.holds(pool, &model, a)) {
        Answer::Sat(model)
    } else {
        Answer::Unknown(Reason::WrongModel(solver.to_string()))
    }
}
