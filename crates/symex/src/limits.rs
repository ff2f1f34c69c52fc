//! What an exploration may cost, and the typed reasons for what it left out.
//!
//! Nothing is cut silently: each limit that was hit is a [`Cut`] in the result, with how often, and
//! stands in the way of all that may lie ahead of where it was hit.

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
    /// Live states. Where there are so many, the newest goes on first until a quarter is gone, so that
    /// paths come to their ends; at more than four times as many the exploration ends.
    pub states: Option<u64>,
    /// States that wait and are kept whole; where there are more, those that wait are evicted to what
    /// makes them again.
    pub whole_states: Option<u64>,
    /// Resident memory of the process, in bytes. Where it is nearly used up, states that wait are
    /// evicted, and the newest state goes on first; where that does not help, the exploration is
    /// stopped.
    pub memory: Option<u64>,
    /// Finished paths.
    pub paths: Option<u64>,
    /// Statements and terminators over all paths.
    pub steps: Option<u64>,
    /// Statements and terminators of one path.
    pub path_steps: u64,
    /// How often one activation may decide to stay in a loop where the input could also leave it.
    pub loop_bound: Option<u32>,
    /// How many activations of one function may be live at once.
    pub recursion: u32,
    /// How many activations may be live at once.
    pub call_depth: u32,
    /// How many calls of the function under test one run may have, where its static variables keep values
    /// from call to call.
    pub calls: u32,
    /// How many bytes one model of a library function looks at.
    pub libc_bytes: u64,
    /// How many alternatives an address may have before the path is split.
    pub pointer_choices: usize,
    /// How many queries for a crashing input are asked at one place of the program.
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
    /// No limit on anything but what keeps one path finite.
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

/// Why some part of the program's behaviour was not explored.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cut {
    /// A budget of the whole exploration.
    Stopped(StopReason),
    /// A loop was left after so many decisions to stay in it.
    LoopBound(u32),
    /// So many activations of one function were live.
    Recursion(u32),
    /// So many activations were live.
    CallDepth(u32),
    /// One path took so many steps.
    PathSteps(u64),
    /// The solver had no answer, and why.
    Solver(String),
    /// Something that the engine does not model: what, and in which function.
    Unsupported(String),
    /// What a path took as covered was lost where the program assumes something of its inputs.
    Assumption,
    /// What the program does hangs on what it does not determine, which came into play at a place
    /// of the text.
    Undetermined(Undetermined, Span),
    /// What the program does hangs on a function that no term computes (`sin` and its like), called
    /// at a place of the text with more values than were followed.
    Mathematics(String, Span),
    /// No path was asked for it: the exploration does not look at labels.
    NotAsked,
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
        }
    }
}

impl Cut {
    /// Where in the text it came into play, with what the program does there as a verb (*read*); `None`
    /// where it has no place.
    pub const fn place(&self) -> Option<(&'static str, Span)> {
        match self {
            Self::Undetermined(_, span) | Self::Mathematics(_, span) if span.is_none() => None,
            Self::Undetermined(what, span) => Some((what.verb(), *span)),
            Self::Mathematics(_, span) => Some(("called", *span)),
            _ => None,
        }
    }

    /// Whether it says on what the program's behaviour hangs. Several such reasons may hold at once.
    pub const fn is_dependence(&self) -> bool {
        matches!(self, Self::Undetermined(..) | Self::Mathematics(..))
    }

    /// Whether two reasons are the same but for the place.
    fn is_as(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Undetermined(a, _), Self::Undetermined(b, _)) => a == b,
            (Self::Mathematics(a, _), Self::Mathematics(b, _)) => a == b,
            _ => self == other,
        }
    }
}

/// Adds a reason to some others. Of those that differ in their place alone, the first in the text is
/// kept, in whatever order they come: so many need no more memory than one.
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
    fn of_reasons_that_differ_in_their_place_the_first_in_the_text_is_kept() {
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
