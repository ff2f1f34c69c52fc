//! Proofs by the engines of `lydian-prove` that two versions do the same, where the exploration does not
//! come to an end.
//!
//! The product is a program whose inputs are those of the driver, and whose error call stands where the
//! versions differ. That no run gets there shows that both give the same where both come to their ends.
//! So it is asked only where neither ends early by itself and the new one cannot trap; that the new
//! version ends is an assumption.

use std::fmt::Write as _;
use std::num::NonZeroUsize;
use std::time::Duration;

use lydian_ir::source::Point;
use lydian_ir::stmt::Terminator;
use lydian_ir::{CTypes, FuncId, Program};
use lydian_objective::changes::ProgramPlaces;

use super::DiffVerdict;
use super::comparison::Comparison;
use super::driver::{DIFFERENCE, DRIVER, Driver, InputOf, Pair};
use super::leaves::leaves;
use super::product;
use crate::project::linked::{LinkRequest, LinkedProgram};
use crate::proving::{ErrorAnswer, ProofRequest, Proofs, Provers};

impl Comparison<'_> {
    /// Whether the engines prove that both versions do the same; none if they do not in the time.
    pub(super) fn prove(
        &self,
        pair: Pair<'_>,
        driver: &Driver,
        time: Duration,
    ) -> Option<DiffVerdict> {
        let is_simple = driver.elements.is_none() && driver.externals.is_empty();
        let (old, new) = (ends(pair.old), ends(pair.new));
        let may_end = new.by_operators || new.by_itself || old.by_itself;
        if !is_simple || time.is_zero() || may_end {
            return None;
        }
        let types = &self.versions.new.program.types;
        let linked = product::of_proof(self.versions, &program_text(types, driver)?).ok()?;
        let program = LinkedProgram {
            linked,
            wraps_on_overflow: true,
            left_out: Vec::new(),
            files: Vec::new(),
        };
        let request = ProofRequest {
            program: LinkRequest::default(),
            time,
            provers: Provers::Engines,
            jobs: NonZeroUsize::new(1),
            certify: false,
            ledger: None,
            again: false,
        };
        let proofs = Proofs::of_linked(program, &request, self.cancel);
        let proofs = proofs.map_err(|error| log::info!("no proof: {error}")).ok()?;
        let are_proved =
            proofs.errors.iter().all(|one| matches!(one.answer, ErrorAnswer::Unreachable(_)));
        if proofs.errors.is_empty() || !are_proved {
            return None;
        }
        let ends = "the new version ends where the old one does".to_owned();
        let assumptions = driver.assumptions.iter().cloned().chain([ends]).collect();
        Some(DiffVerdict::ProvedByEngines { assumptions })
    }
}

/// How runs of a version of a function may end before it returns.
#[derive(Clone, Copy, Default)]
struct EarlyEnds {
    /// By undefined behaviour of its operators.
    by_operators: bool,
    /// By its own will, as by `abort`, or in a function without a body.
    by_itself: bool,
}

fn ends((program, function): (&Program, FuncId)) -> EarlyEnds {
    let places = ProgramPlaces::of(program);
    let mut found = EarlyEnds::default();
    for id in program.entered_from(function) {
        let Some(body) = &program.functions[id].body else {
            found.by_itself = true;
            continue;
        };
        for (block, own) in body.blocks.iter() {
            let points = own.stmts.iter().map(|stmt| Point::Stmt(*stmt));
            let mut points = points.chain([Point::Term(block)]);
            found.by_operators |= points.any(|point| places.effects(id, point).may_trap);
            match own.term {
                Terminator::Trap(kind) if kind.is_deliberate() => found.by_itself = true,
                Terminator::Trap(_) => found.by_operators = true,
                _ => {}
            }
        }
    }
    found
}

/// The driver with a `main` that gives it inputs; none for inputs without a name for their type.
fn program_text(types: &CTypes, driver: &Driver) -> Option<String> {
    let (mut head, mut body) = (String::new(), String::new());
    let mut arguments = Vec::new();
    for (number, input) in driver.inputs.iter().enumerate() {
        let name = match &input.of {
            InputOf::Argument(_) => {
                let name = format!("lydian_input_{number}");
                let _ = writeln!(body, "    {};", types.spell(input.ty, &name));
                arguments.push(name.clone());
                name
            }
            InputOf::Global(name) => name.clone(),
            InputOf::Buffer { .. } => return None,
        };
        for (at, leaf) in leaves(types, input.ty).ok()?.into_iter().enumerate() {
            let source = format!("__VERIFIER_nondet_lydian_{number}_{at}");
            let declared = types.spell(leaf.ty, &format!("{source}(void)"));
            let _ = writeln!(head, "extern {declared};");
            let _ = writeln!(body, "    {name}{} = {source}();", leaf.path);
        }
    }
    let empty = format!("void {DIFFERENCE}(void) {{}}");
    let error =
        format!("extern void reach_error(void);\nvoid {DIFFERENCE}(void) {{ reach_error(); }}");
    let text = driver.text.replace(&empty, &error);
    let call = format!("    {DRIVER}({});\n", arguments.join(", "));
    Some(format!("{text}{head}int main(void)\n{{\n{body}{call}    return 0;\n}}\n"))
}
