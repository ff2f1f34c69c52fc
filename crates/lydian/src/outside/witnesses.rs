//! Verification witnesses in the format of SV-COMP, version 2.0 (Ayaziová, Beyer, Lingsch-Rosenfeld, Spiessl
//! and Strejček: *Software Verification Witnesses 2.0*, 2024).
//!
//! A program of which no run reaches an error has a correctness witness: the invariants at its loops that
//! can be said in C, and at labels that control jumps to. An error that is reached has a violation
//! witness: the values that the calls of input functions give, in order, and the call of the error
//! function.
//!
//! A witness is YAML. Strings are written in double quotes, as in JSON, which YAML has too.

mod entries;
mod run_calls;

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use lydian_base::Place;
use lydian_check::document::digest;
use lydian_ir::{FuncId, StmtId, Target};

use crate::project::linked::LinkedProgram;
use crate::proving::source_invariants::{HeadKind, SourceInvariants};
use crate::proving::{ErrorAnswer, ErrorProof, InputValue, Proofs};
use entries::{Content, Entry, InvariantKind, Task, Waypoint, WaypointKind};

/// A witness as a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The name of the file.
    pub file: String,
    /// The text.
    pub text: String,
    /// What it witnesses.
    pub kind: WitnessKind,
    /// The parts of the argument or the run that the format has no words for.
    pub left_out: Vec<String>,
}

/// What a witness shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WitnessKind {
    /// No run reaches an error.
    Correctness,
    /// A run reaches an error.
    Violation,
}

/// The name of the file of a correctness witness.
const CORRECTNESS: &str = "correctness.yml";

impl Proofs {
    /// The witnesses of the answers.
    pub fn witnesses(&self) -> Vec<Witness> {
        let proved = &self.proved;
        let (linked, main, invariants) = (&proved.linked, proved.main, &proved.invariants);
        WitnessWriter { linked, main, invariants }.all(&self.errors)
    }
}

/// Writes the witnesses of proofs about a program.
struct WitnessWriter<'a> {
    linked: &'a LinkedProgram,
    /// The function where runs begin.
    main: FuncId,
    invariants: &'a SourceInvariants,
}

impl WitnessWriter<'_> {
    /// The witnesses of all answers.
    fn all(&self, errors: &[ErrorProof]) -> Vec<Witness> {
        let is_proved = |error: &ErrorProof| matches!(error.answer, ErrorAnswer::Unreachable(_));
        let mut all = Vec::new();
        if errors.iter().all(is_proved) {
            all.push(self.correctness(errors));
        }
        for error in errors {
            if let ErrorAnswer::Reached(inputs) = &error.answer {
                all.push(self.violation(error, inputs, all.len()));
            }
        }
        all
    }

    fn correctness(&self, errors: &[ErrorProof]) -> Witness {
        let function = errors.first().map_or("reach_error", |error| self.callee(error.call));
        let mut entry = self.entry(function);
        for invariant in &self.invariants.all {
            let place = self.linked.linked.source.place(invariant.head.offset);
            let function = self.name(invariant.function).to_owned();
            let kind = match invariant.head.kind {
                HeadKind::Statement => InvariantKind::Location,
                HeadKind::Condition(_) | HeadKind::Body(_) => InvariantKind::Loop,
            };
            let Some(value) = invariant.value.clone() else { continue };
            entry.content.push(Content::Invariant { kind, place, function, value });
        }
        let (kind, left_out) = (WitnessKind::Correctness, self.invariants.unsaid.clone());
        Witness { file: CORRECTNESS.to_owned(), text: entry.text(), kind, left_out }
    }

    fn violation(&self, error: &ErrorProof, inputs: &[InputValue], number: usize) -> Witness {
        let mut entry = self.entry(self.callee(error.call));
        let mut left_out = Vec::new();
        for (input, call) in inputs.iter().zip(run_calls::calls(self.linked, self.main, inputs)) {
            let value = input.number();
            match call.and_then(|call| Some((call, self.call_end(call)?))) {
                Some((call, place)) => entry.content.push(Content::Waypoint(Waypoint {
                    kind: WaypointKind::FunctionReturn(format!("\\result == {value}")),
                    place,
                    function: self.name(call.0).to_owned(),
                })),
                None => left_out.push(format!("{} = {value}", input.function)),
            }
        }
        if let Some(place) = self.call_start(error.call) {
            entry.content.push(Content::Waypoint(Waypoint {
                kind: WaypointKind::Target,
                place,
                function: error.function.clone(),
            }));
        }
        let line = error.place.as_ref().map_or(0, |place| place.line);
        let file = format!("violation-{line}-{number}.yml");
        Witness { file, text: entry.text(), kind: WitnessKind::Violation, left_out }
    }

    fn name(&self, function: FuncId) -> &str {
        &self.linked.linked.program.functions[function].name
    }

    /// The function that a call names.
    fn callee(&self, (function, call): (FuncId, StmtId)) -> &str {
        use lydian_ir::{Callee, Stmt};
        let body = self.linked.linked.program.functions[function].body.as_ref();
        match body.map(|body| &body.stmts[call]) {
            Some(Stmt::Call { callee: Callee::Direct(callee), .. }) => self.name(*callee),
            _ => "reach_error",
        }
    }

    /// Where the text of a call begins.
    fn call_start(&self, (function, call): (FuncId, StmtId)) -> Option<Place> {
        let body = self.linked.linked.program.functions[function].body.as_ref()?;
        let span = body.source.stmts[call];
        (!span.is_none()).then(|| self.linked.linked.source.place(span.start))
    }

    /// The closing parenthesis of a call.
    fn call_end(&self, (function, call): (FuncId, StmtId)) -> Option<Place> {
        let body = self.linked.linked.program.functions[function].body.as_ref()?;
        let (span, source) = (body.source.stmts[call], &self.linked.linked.source);
        let text = (!span.is_none()).then(|| source.slice(span))?;
        text.ends_with(')').then(|| source.place(span.end - 1))
    }

    /// An entry without content, about the calls of a function.
    fn entry(&self, function: &str) -> Entry {
        let linked = &self.linked.linked;
        let files = self.linked.files.iter();
        let files = files.map(|file| (file.display().to_string(), hash(file))).collect();
        let is_32 = linked.program.types.target == Target::I386;
        Entry {
            task: Task {
                files,
                specification: format!("G ! call({function}())"),
                data_model: if is_32 { "ILP32" } else { "LP64" },
            },
            created: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
            content: Vec::new(),
        }
    }
}

/// The SHA-256 of a file's text; empty if it cannot be read.
fn hash(file: &Path) -> String {
    std::fs::read_to_string(file).map_or_else(|_| String::new(), |text| digest(&text))
}
