//! Limits of an exploration, and the typed reasons for everything that it left out.
//!
//! Nothing is cut silently. Each limit that was hit is a [`Cut`] in the result, with its count. It
//! keeps undecided every objective that may lie ahead of the place where it was hit.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use lydian_base::{Span, StopReason};
use lydian_eval::Undetermined;
use serde::{Deserialize, Serialize};

/// Limits of one exploration. `None` means no limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Limits {
    /// Wall-clock time of the whole exploration.
    pub time: Option<Duration>,
    /// Wall-clock time of one solver query.
    pub query_time: Option<Duration>,
    /// Live states. At this number, the newest state goes first until a quarter of the states is
    /// gone, so that paths come to their ends. At more than four times this number the exploration
    /// ends.
    pub states: Option<u64>,
    /// Waiting states that are kept whole. Where there are more, waiting states are evicted.
    pub whole_states: Option<u64>,
    /// Resident memory of the process, in bytes. Where it is nearly used up, waiting states are
    /// evicted, and the newest state goes first. Where that does not help, the exploration stops.
    pub memory: Option<u64>,
    /// Finished paths.
    pub paths: Option<u64>,
    /// Statements and terminators executed on all paths.
    pub steps: Option<u64>,
    /// Statements and terminators executed on one path.
    pub path_steps: u64,
    /// Iterations for which one activation may decide to stay in a loop that the input could also
    /// leave.
    pub loop_bound: Option<u32>,
    /// Live activations of one function.
    pub recursion: u32,
    /// Live activations of all functions.
    pub call_depth: u32,
    /// Calls of the function under test in one run, where its static variables keep their values
    /// from call to call.
    pub calls: u32,
    /// Bytes that one call of a library model looks at.
    pub libc_bytes: u64,
    /// Alternatives that an address may have before the path is split.
    pub pointer_choices: usize,
    /// Queries for a trapping input at one place of the program.
    pub trap_queries: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            time: Some(Duration::from_secs(60)),
            query_time: Some(Duration::from_secs(5)),
            states: Some(200_000),
            whole_states: None,
            memory: None,
            paths: None,
            steps: None,
            path_steps: 1_000_000,
            loop_bound: Some(64),
            recursion: 16,
            call_depth: 256,
            calls: 16,
            libc_bytes: 4096,
            pointer_choices: 64,
            trap_queries: 64,
        }
    }
}

impl Limits {
    /// Unlimited, except for the limits that keep one path finite.
    pub fn unbounded() -> Self {
        Self {
            time: None,
            query_time: None,
            states: None,
            paths: None,
            steps: None,
            loop_bound: None,
            ..Self::default()
        }
    }
}

/// A reason for which some part of the program's behaviour was not explored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// A budget of the whole exploration was used up.
    Stopped(StopReason),
    /// A loop was left after this number of decisions to stay in it.
    LoopBound(u32),
    /// This number of activations of one function were live.
    Recursion(u32),
    /// This number of activations were live.
    CallDepth(u32),
    /// One path took this number of steps.
    PathSteps(u64),
    /// The solver gave no answer, for the reason given.
    Solver(String),
    /// The engine does not model a construct. The text names it and its function.
    Unsupported(String),
    /// The program assumes something about its inputs, and labels that a path took as covered are
    /// open again because of that.
    Assumption,
    /// The program's behaviour depends on a value that the program does not determine. The span is
    /// the place of the text where the value came into play.
    Undetermined(Undetermined, Span),
    /// The program's behaviour depends on a function that has no term (`sin` and the like). The
    /// span is a call of it with more values than were followed.
    Mathematics(String, Span),
    /// No path was asked for it, because the exploration does not look at labels.
    NotAsked,
    /// It is a transformed condition, and not all paths were augmented.
    NotAugmented,
}

impl fmt::Display for Cut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stopped(reason) => reason.fmt(f),
            Self::LoopBound(bound) => write!(f, "loop bound of {bound}"),
            Self::Recursion(bound) => write!(f, "recursion bound of {bound}"),
            Self::CallDepth(bound) => write!(f, "call depth of {bound}"),
            Self::PathSteps(bound) => write!(f, "limit of {bound} steps a path"),
            Self::Solver(reason) => write!(f, "solver: {reason}"),
            Self::Unsupported(what) => write!(f, "not supported: {what}"),
            Self::Assumption => write!(f, "met only before an assumption that did not hold"),
            Self::Undetermined(what, _) => write!(f, "depends on {what}"),
            Self::Mathematics(name, _) => {
                write!(f, "depends on inexact mathematics, `{name}` of more than a few values")
            }
            Self::NotAsked => {
                write!(f, "no path's own test reaches it, and plain mode asks for no other")
            }
            Self::NotAugmented => write!(f, "no path that was augmented satisfies it"),
        }
    }
}

impl Cut {
    /// The place of the text where the value came into play, and the program's action there as a
    /// verb (*read*). `None` for a reason without a place.
    pub const fn place(&self) -> Option<(&'static str, Span)> {
        match self {
            Self::Undetermined(_, span) | Self::Mathematics(_, span) if span.is_none() => None,
            Self::Undetermined(what, span) => Some((what.verb(), *span)),
            Self::Mathematics(_, span) => Some(("called", *span)),
            _ => None,
        }
    }

    /// Whether the reason names a dependence of the program's behaviour. Several such reasons may
    /// hold at once.
    pub const fn is_dependence(&self) -> bool {
        matches!(self, Self::Undetermined(..) | Self::Mathematics(..))
    }

    /// Whether two reasons differ in their places at most.
    fn is_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undetermined(a, _), Self::Undetermined(b, _)) => a == b,
            (Self::Mathematics(a, _), Self::Mathematics(b, _)) => a == b,
            _ => self == other,
        }
    }
}

/// Adds a reason to a set. Of reasons that differ in their places alone, the set keeps the first in
/// the text, whatever the order in which they come. So many such reasons need no more memory than
/// one.
pub fn add_reason(reasons: &mut BTreeSet<Cut>, reason: Cut) {
    let known = reasons.iter().find(|known| known.is_as(&reason));
    match known.and_then(Cut::place).zip(reason.place()) {
        _ if known.is_none() => {}
        Some((before, now)) if now.1 < before.1 => {
            reasons.retain(|known| !known.is_as(&reason));
        }
        None if reason.place().is_some() => reasons.retain(|known| !known.is_as(&reason)),
        _ => return,
    }
    reasons.insert(reason);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_in_the_text_of_reasons_that_differ_in_their_place_is_kept() {
        let read = |start| Cut::Undetermined(Undetermined::Unwritten, Span::new(start, start + 1));
        let nowhere = Cut::Undetermined(Undetermined::Unwritten, Span::NONE);
        let sine = Cut::Mathematics("sin".into(), Span::new(7, 9));
        let mut all = [read(5), nowhere, sine.clone(), read(3), Cut::LoopBound(4), read(9)];
        for _ in 0..all.len() {
            all.rotate_left(1);
            let mut reasons = BTreeSet::new();
            all.iter().for_each(|reason| add_reason(&mut reasons, reason.clone()));
            let expected = BTreeSet::from([Cut::LoopBound(4), read(3), sine.clone()]);
            assert_eq!(reasons, expected);
        }
    }
}
