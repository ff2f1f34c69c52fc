//! Attempts at objectives that stay open: recorded at the end of a session, and taken over by later ones.
//!
//! The end of a session leaves in the ledger what it might take ([`Effort`]), and the reason of each objective
//! that it left open. A later session with the same code and configuration that may take no more has nothing
//! to find: it takes the reasons over, without proofs and explorations. Places in reasons are kept as positions
//! in the text of a function, so that they are right where an edit elsewhere moved it.
//!
//! **Invariant:** all objectives that are open are taken over, or none. A session that explores any of them
//! explores all: they share its time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use lydian_ir::FuncId;
use lydian_ledger::{DecisionAttempt, Effort, LeftOpen, left_open};
use lydian_objective::evidence::{Evidence, UnknownReason, Verdict};
use lydian_objective::fingerprint::{TextPosition, reachable};
use lydian_report::TakenOver;
use lydian_symex::{Config, Limits};

use super::goals::{FunctionUnderTest, Goal, Verdicts};
use super::standing::Standing;
use super::state::{Session, SessionOptions};
use super::unknown_reasons::renamed;
use crate::error::Error;
use crate::project::Project;
use crate::shared_ledger::digest;

/// How a session ended.
pub(crate) struct Ended {
    /// Nothing could be explored.
    pub(crate) refused: bool,
    /// No input meets a statement of the user.
    pub(crate) unmet: bool,
    /// There was an internal error.
    pub(crate) contradicted: bool,
    pub(crate) interrupted: bool,
}

impl Ended {
    /// Whether it leaves an attempt. What is told to the user at other ends is found anew each time.
    pub(crate) const fn is_regular(&self) -> bool {
        !(self.refused || self.unmet || self.contradicted || self.interrupted)
    }
}

impl Session<'_, '_> {
    /// Takes over the reasons for all open objectives from earlier attempts. Returns how many there are in
    /// which function; none if some objective is to be tried.
    pub(crate) fn take_over(&mut self, config: &Config) -> Result<Option<Vec<TakenOver>>, Error> {
        let left = self.open_goals()?;
        if left.is_empty() || !self.options.may_take_over(config) {
            return Ok(None);
        }
        let effort = effort(self.project, self.entry, config, &self.options);
        let (mut found, mut counts) = (Vec::new(), Vec::new());
        for (at, target) in self.targets.iter().enumerate() {
            let mut own = left.iter().filter(|goal| goal.target() == at).peekable();
            if own.peek().is_none() {
                continue;
            }
            let attempts = self.ledger.lock().attempts(self.function(target), &target.scope);
            let attempts = attempts.map_err(Error::from)?;
            let verdicts = self.verdicts(target)?;
            let mut objectives = 0;
            for goal in own {
                let open = left_open(&attempts, &effort, target.key(*goal));
                let Some(reason) = open.and_then(|open| self.moved(open)) else {
                    return Ok(None);
                };
                objectives += usize::from(self.is_unknown(*goal, &verdicts));
                let is_new = |reason: &UnknownReason| !self.has_reason(*goal, reason, &verdicts);
                let reason = reason.filter(is_new);
                found.extend(reason.map(|reason| (*goal, Evidence::Unknown { reason })));
            }
            let function = self.project.name(target.objectives.function).to_owned();
            counts.extend((objectives > 0).then_some(TakenOver { function, objectives }));
        }
        log::info!(
            "{}: {} objectives stay open as an earlier run left them",
            self.name(),
            left.len()
        );
        self.record_evidence(&found)?;
        Ok(Some(counts))
    }

    /// Records what this session left open. Nothing is recorded if a reason cannot be taken over.
    pub(crate) fn record_attempt(&mut self, config: &Config, spent: Duration) -> Result<(), Error> {
        let mut all = Vec::new();
        for (at, target) in self.targets.iter().enumerate() {
            let left = self.open_goals_of(at, target)?;
            let verdicts = self.verdicts(target)?;
            let mut open = BTreeMap::new();
            for goal in left {
                let reason = match self.verdict(goal, &verdicts) {
                    None => Some(&UnknownReason::NotTried),
                    Some(Verdict::Unknown { reason }) => Some(reason),
                    Some(_) => None,
                };
                let Some(left) = self.left_open(reason) else { return Ok(()) };
                open.insert(target.key(goal).0.clone(), left);
            }
            all.push(open);
        }
        if all.iter().all(BTreeMap::is_empty) {
            return Ok(());
        }
        let mut effort = effort(self.project, self.entry, config, &self.options);
        // The default follows from what the machine has to spare, so it counts only where it was too little.
        effort.limits.insert("memory".to_owned(), self.recorded.memory);
        let spent = spent.as_millis() as u64;
        self.record(|at, _, recording| match all[at].is_empty() {
            true => Ok(()),
            false => {
                let (effort, left) = (effort.clone(), all[at].clone());
                recording.attempt(&DecisionAttempt { effort, spent, left })
            }
        })
    }

    /// What the ledger keeps of an open objective, by the reason for which it is unknown; none if the next run
    /// has to try it again.
    fn left_open(&self, reason: Option<&UnknownReason>) -> Option<LeftOpen> {
        let reason = match reason {
            // Evidence of its own says so.
            None | Some(UnknownReason::InputBounds(_)) => return Some(LeftOpen::default()),
            Some(UnknownReason::Unconfirmed | UnknownReason::Withdrawn) => return None,
            Some(reason) => reason,
        };
        let (program, map) = (&self.project.program, &self.project.texts.all);
        let text = reason.to_string();
        let named = self.places.within(&text);
        let without = named.iter().map(|(name, _)| (name.clone(), String::new()));
        if names_a_place(&renamed(&text, &without.collect::<Vec<_>>())) {
            // An earlier session spelled it.
            return None;
        }
        let positions =
            named.into_iter().map(|(name, at)| Some((name, TextPosition::of(program, map, at)?)));
        let places = positions.collect::<Option<Vec<_>>>()?;
        Some(LeftOpen { reason: Some(reason.clone()), places })
    }

    /// The reason of an attempt, with places as they are now; none if one of them is no more. The inner one is
    /// none where other evidence says why the objective is open.
    fn moved(&self, open: &LeftOpen) -> Option<Option<UnknownReason>> {
        let Some(reason) = &open.reason else { return Some(None) };
        let (program, map) = (&self.project.program, &self.project.texts.all);
        let now = |(old, position): &(String, TextPosition)| {
            Some((old.clone(), self.places.name(position.offset(program, map)?)))
        };
        let places = open.places.iter().map(now).collect::<Option<Vec<_>>>()?;
        Some(Some(match reason {
            UnknownReason::Depends(all) => {
                UnknownReason::Depends(all.iter().map(|one| renamed(one, &places)).collect())
            }
            UnknownReason::NotFollowed(what) => UnknownReason::NotFollowed(renamed(what, &places)),
            other => other.clone(),
        }))
    }

    fn verdict<'v>(&self, goal: Goal, verdicts: &'v Verdicts) -> Option<&'v Verdict> {
        verdicts.get(self.targets[goal.target()].key(goal))?.as_ref().ok()
    }

    fn is_unknown(&self, goal: Goal, verdicts: &Verdicts) -> bool {
        matches!(self.verdict(goal, verdicts), None | Some(Verdict::Unknown { .. }))
    }

    /// Whether an objective is unknown for a reason already.
    fn has_reason(&self, goal: Goal, reason: &UnknownReason, verdicts: &Verdicts) -> bool {
        match self.verdict(goal, verdicts) {
            Some(Verdict::Unknown { reason: known }) => known == reason,
            None => *reason == UnknownReason::NotTried,
            Some(_) => false,
        }
    }
}

impl SessionOptions {
    /// Whether explorations are wanted for nothing but verdicts and tests.
    pub(super) fn may_take_over(&self, config: &Config) -> bool {
        let of_occurrences = config.augmentation.is_some_and(|asked| asked.each_occurrence);
        let shows_work = config.traces || self.logs_questions;
        config.stop_when_covered && !of_occurrences && !shows_work && !self.again
    }
}

impl Standing<'_> {
    /// Whether earlier attempts give the reasons for all open objectives of some functions with these
    /// verdicts.
    pub(super) fn leaves_all(
        &self,
        targets: &[FunctionUnderTest<'_>],
        verdicts: &[Arc<Verdicts>],
        effort: impl Fn() -> Effort,
    ) -> Result<bool, Error> {
        let mut made = None;
        for (at, (target, verdicts)) in targets.iter().zip(verdicts).enumerate() {
            let left = target.open_goals(at, verdicts);
            if left.is_empty() {
                continue;
            }
            let attempts = self.ledger.lock().attempts(self.function(target), &target.scope);
            let attempts = attempts.map_err(Error::from)?;
            let effort = made.get_or_insert_with(&effort);
            let is_known = |goal: &Goal| left_open(&attempts, effort, target.key(*goal)).is_some();
            if !left.iter().all(is_known) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// What a session may take.
pub(super) fn effort(
    project: &Project,
    entry: FuncId,
    config: &Config,
    options: &SessionOptions,
) -> Effort {
    let way = Config {
        limits: Limits::default(),
        pause: None,
        traces: false,
        measure_terms: false,
        ..config.clone()
    };
    let (reached, _) = reachable(&project.program, entry);
    let functions = &project.program.functions;
    // Of several places for one reason, that of the first in the text is shown.
    let mut order: Vec<_> = reached.values().map(|id| &functions[*id]).collect();
    order.sort_by_key(|function| function.span.start);
    let order: Vec<&str> = order.iter().map(|function| function.name.as_str()).collect();
    let version = env!("CARGO_PKG_VERSION");
    let confined = options.measurement.confined;
    let settings = digest::of(&format!("{version} {way:?} {confined} {}", order.join(" ")));
    let milliseconds = |time: Duration| time.as_millis() as u64;
    let limits = &config.limits;
    let named = [
        ("time", Some(milliseconds(options.time))),
        ("test time", Some(milliseconds(options.measurement.test_time))),
        ("query time", limits.query_time.map(milliseconds)),
        ("states", limits.states),
        ("whole states", limits.whole_states),
        ("memory", limits.memory),
        ("paths", limits.paths),
        ("steps", limits.steps),
        ("path steps", Some(limits.path_steps)),
        ("loop bound", limits.loop_bound.map(u64::from)),
        ("recursion", Some(u64::from(limits.recursion))),
        ("call depth", Some(u64::from(limits.call_depth))),
        ("calls", Some(u64::from(limits.calls))),
        ("library bytes", Some(limits.libc_bytes)),
        ("pointer choices", Some(limits.pointer_choices as u64)),
        ("trap queries", Some(u64::from(limits.trap_queries))),
        ("proofs", Some(u64::from(options.proofs))),
        ("workers", Some(options.workers as u64)),
    ];
    let limits = named.into_iter().map(|(name, limit)| (name.to_owned(), limit)).collect();
    Effort { settings, limits }
}

/// Whether a text has the end of a place, `:LINE:COLUMN`.
fn names_a_place(text: &str) -> bool {
    let mut parts = text.split(':').skip(1);
    let begins_with_digit = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|c| c.is_ascii_digit());
    let mut before = parts.next();
    parts.any(|part| {
        let line = before.replace(part);
        line.is_some_and(is_number) && begins_with_digit(part)
    })
}

#[cfg(test)]
mod tests {
    use super::names_a_place;

    #[test]
    fn a_place_is_seen_by_its_line_and_column() {
        assert!(names_a_place("read at unit.c:12:5"));
        assert!(names_a_place("read at unit.c:12:5; used elsewhere"));
        assert!(!names_a_place("solver: gave up: 5"));
        assert!(!names_a_place("loop bound of 8"));
    }
}
