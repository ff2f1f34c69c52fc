//! `lydian trace`: the trees of explorations, as `gen --trace` wrote them.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use lydian::{TraceEvent, TracedAnswer};

use crate::args::TraceArgs;
use crate::exit::{ExitCode, Failure};
use crate::output;
use crate::tracing::TraceLine;

/// One exploration: its states by number.
#[derive(Default)]
struct Tree {
    states: BTreeMap<u64, Branch>,
}

/// A state from its fork to its end.
#[derive(Default)]
struct Branch {
    /// The place of its fork.
    place: String,
    children: Vec<u64>,
    /// Its ends.
    ends: Vec<String>,
    questions: u64,
    micros: u64,
    /// The number of questions that the solver did not answer.
    unanswered: u64,
}

pub(crate) fn run(args: &TraceArgs) -> Result<ExitCode, Failure> {
    let path = args.file.display();
    let text = fs::read_to_string(&args.file)
        .map_err(|error| Failure::source("trace", format!("cannot read {path}: {error}")))?;
    let mut lines = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line: TraceLine = serde_json::from_str(line).map_err(|error| {
            let what = format!("{path}:{}: this is no line of a trace: {error}", number + 1);
            Failure::usage("trace", what).note("`lydian gen --trace FILE` writes traces")
        })?;
        lines.push(line);
    }
    lines.retain(|line| args.function.as_ref().is_none_or(|name| *name == line.function));
    output::text(&trees(lines))?;
    Ok(ExitCode::Done)
}

/// The trees of all explorations, in the order in which they began.
fn trees(lines: Vec<TraceLine>) -> String {
    let mut trees: Vec<(String, Tree)> = Vec::new();
    for TraceLine { function, event, place } in lines {
        let place = place.unwrap_or_default();
        let of = trees.iter().rposition(|(name, _)| *name == function);
        match of.filter(|_| event != TraceEvent::Begin) {
            Some(at) => trees[at].1.add(event, place),
            None => {
                trees.push((function, Tree::default()));
                if let Some((_, tree)) = trees.last_mut() {
                    tree.add(event, place);
                }
            }
        }
    }
    let mut text = String::new();
    for (function, tree) in &trees {
        let _ = writeln!(text, "{function}: {}", counted(tree.states.len() as u64, "state"));
        tree.render(0, 1, &mut text);
    }
    text
}

impl Tree {
    fn add(&mut self, event: TraceEvent, place: String) {
        let at = |what: &str| match place.is_empty() {
            true => what.to_owned(),
            false => format!("{what} at {place}"),
        };
        let mut end = |state: u64, what: String| {
            self.states.entry(state).or_default().ends.push(what);
        };
        match event {
            TraceEvent::Begin => self.states.entry(0).or_default().place = place,
            TraceEvent::Fork { state, parent } => {
                self.states.entry(state).or_default().place = place;
                self.states.entry(parent).or_default().children.push(state);
            }
            TraceEvent::Merge { state, other } => {
                end(other, at(&format!("merged with {state}")));
            }
            TraceEvent::Drop { state } => end(state, at("dropped")),
            TraceEvent::Infeasible { state } => end(state, "no input takes it".to_owned()),
            TraceEvent::End { state, ending } => end(state, at(&ending)),
            TraceEvent::Test { state, covers } => {
                end(
                    state,
                    match covers {
                        0 => "a test".to_owned(),
                        covers => format!("a test for {}", counted(covers as u64, "objective")),
                    },
                );
            }
            TraceEvent::Question { state, answer, micros } => {
                let branch = self.states.entry(state).or_default();
                branch.questions += 1;
                branch.micros += micros;
                branch.unanswered += u64::from(answer == TracedAnswer::Unknown);
            }
        }
    }

    /// A line for a state and for its forks.
    fn render(&self, state: u64, depth: usize, text: &mut String) {
        let Some(branch) = self.states.get(&state) else { return };
        let Branch { place, children, ends, questions, micros, unanswered } = branch;
        let indent = "  ".repeat(depth);
        let place = if place.is_empty() { "the start" } else { place };
        let _ = write!(text, "{indent}{state} from {place}");
        if *questions > 0 {
            let questions = counted(*questions, "question");
            let _ = write!(text, ", {questions} in {micros} µs");
        }
        if *unanswered > 0 {
            let _ = write!(text, ", {unanswered} without an answer");
        }
        for end in ends {
            let _ = write!(text, "; {end}");
        }
        text.push('\n');
        for child in children {
            self.render(*child, depth + 1, text);
        }
    }
}

/// A number with its noun.
fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_exploration_has_a_tree_of_its_states_with_what_became_of_them() {
        let text = r#"{"function":"f","event":"begin","place":"a.c:1:1"}
{"function":"f","event":"fork","state":1,"parent":0,"place":"a.c:2:9"}
{"function":"f","event":"question","state":1,"answer":"satisfiable","micros":1500,"place":"a.c:2:9"}
{"function":"f","event":"fork","state":2,"parent":1,"place":"a.c:3:9"}
{"function":"f","event":"infeasible","state":2}
{"function":"f","event":"test","state":1,"covers":1}
{"function":"f","event":"end","state":1,"ending":"returned","place":"a.c:4:5"}
{"function":"f","event":"merge","state":1,"other":0,"place":"a.c:5:5"}
{"function":"f","event":"begin"}
{"function":"f","event":"drop","state":0,"place":"a.c:2:9"}"#;
        let lines = text.lines().map(|line| serde_json::from_str(line).expect("a line of a trace"));
        assert_eq!(
            trees(lines.collect()),
            "f: 3 states\n  \
               0 from a.c:1:1; merged with 1 at a.c:5:5\n    \
                 1 from a.c:2:9, 1 question in 1500 µs; a test for 1 objective; returned at a.c:4:5\n      \
                   2 from a.c:3:9; no input takes it\n\
             f: 1 state\n  \
               0 from the start; dropped at a.c:2:9\n"
        );
    }
}
