//! Invariants of proofs as C expressions over the program's own variables, at the loops of its text.
//!
//! A formula of a certificate speaks of the state at a point. It can be said in C where all its parts are
//! variables that have a name at the loop and that are current there, and where C has its operators. What
//! cannot be said is left out, which leaves a weaker statement that is true as well. A function may be
//! inlined at several calls; at a loop in it one of the statements of its instances holds.

mod c_terms;
mod loops;

use std::collections::BTreeMap;

use lydian_ir::{BlockId, FuncId, Program};
use lydian_prove::encode::Encoded;
use lydian_prove::encode::provenance::{PlaceKind, PointOrigin};
use lydian_prove::system::PointId;
use lydian_smt::{Term, TermPool};

use crate::project::linked::LinkedProgram;
use c_terms::CTerms;
pub(crate) use loops::{HeadKind, LoopHead};

/// What holds whenever control is at a place of the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SourceInvariant {
    /// The function.
    pub(crate) function: FuncId,
    /// The loop.
    pub(crate) head: LoopHead,
    /// The C expression; none if nothing can be said.
    pub(crate) value: Option<String>,
}

/// The invariants of some proofs.
#[derive(Clone, Debug, Default)]
pub(crate) struct SourceInvariants {
    pub(crate) all: Vec<SourceInvariant>,
    /// The formulas that have no form in C here, as they are shown to people.
    pub(crate) unsaid: Vec<String>,
    /// Whether a loop of the program was not found in its text.
    pub(crate) has_unknown_loops: bool,
}

/// The statements of the instances of a loop, each a conjunction.
type Instances = BTreeMap<(FuncId, BlockId), Vec<Vec<String>>>;

impl SourceInvariants {
    /// The invariants of certificates, given for each point.
    pub(crate) fn of(
        linked: &LinkedProgram,
        (encoded, pool): (&Encoded, &TermPool),
        certificates: &[&[Vec<Term>]],
    ) -> Self {
        let mut this = Self::default();
        let mut instances = Instances::new();
        for point in encoded.system.points.ids() {
            if point == encoded.system.entry {
                continue;
            }
            let (instance, block) = match encoded.provenance.points[point] {
                Some(PointOrigin { kind: PlaceKind::Block, instance, block }) => (instance, block),
                Some(_) => continue,
                None => {
                    this.has_unknown_loops = true;
                    continue;
                }
            };
            let function = encoded.provenance.instances[instance].function;
            let said = this.said((linked, encoded, pool), (point, instance, block), certificates);
            instances.entry((function, block)).or_default().push(said);
        }
        for ((function, block), statements) in instances {
            let value = disjunction(&statements);
            match (LoopHead::of(linked, function, block), value) {
                (Some(head), value) => this.all.push(SourceInvariant { function, head, value }),
                (None, Some(value)) => this.unsaid.push(format!("{value} (no loop of the text)")),
                (None, None) => this.has_unknown_loops = true,
            }
        }
        this
    }

    /// The formulas at a point that have a form in C.
    fn said(
        &mut self,
        (linked, encoded, pool): (&LinkedProgram, &Encoded, &TermPool),
        (point, instance, block): (PointId, usize, BlockId),
        certificates: &[&[Vec<Term>]],
    ) -> Vec<String> {
        let program = &linked.linked.program;
        let function = encoded.provenance.instances[instance].function;
        let Some(offset) = text_of(program, function, block) else { return Vec::new() };
        let terms = CTerms::new(program, (encoded, pool), (point, instance), offset);
        let mut said: Vec<String> = Vec::new();
        let at = lydian_base::EntityId::index(point);
        for formula in certificates.iter().filter_map(|of| of.get(at)).flatten() {
            match terms.condition(*formula) {
                Some(text) if said.contains(&text) || text == "1" => {}
                Some(text) => said.push(text),
                None => {
                    let shown = lydian_prove::readable::formula(pool, *formula);
                    if !self.unsaid.contains(&shown) {
                        self.unsaid.push(shown);
                    }
                }
            }
        }
        said
    }
}

/// Where the text of a block begins.
fn text_of(program: &Program, function: FuncId, block: BlockId) -> Option<u32> {
    let body = program.functions[function].body.as_ref()?;
    let first = body.blocks[block].stmts.first();
    let span = first.map_or(body.source.terms[block], |stmt| body.source.stmts[*stmt]);
    (!span.is_none()).then_some(span.start)
}

/// One of some conjunctions, as C; none if one of them says nothing.
fn disjunction(statements: &[Vec<String>]) -> Option<String> {
    let mut all: Vec<String> = Vec::new();
    for of_instance in statements {
        if of_instance.is_empty() {
            return None;
        }
        let text =
            of_instance.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" && ");
        if !all.contains(&text) {
            all.push(text);
        }
    }
    match all.as_slice() {
        [] => None,
        [one] => Some(one.clone()),
        several => {
            Some(several.iter().map(|one| format!("({one})")).collect::<Vec<_>>().join(" || "))
        }
    }
}
