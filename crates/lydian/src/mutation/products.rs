//! Proofs that a mutant of a function that only computes is equivalent, by products
//! ([`lydian_mutate::products`]).
//!
//! All products of a unit are one program, whose error calls the engines of proofs and the exploration
//! decide as those of any other. An error call that no run reaches is an equivalent mutant.

use std::collections::BTreeSet;
use std::time::Duration;

use lydian_base::CancelToken;
use lydian_mutate::mutant::{Mutant, UnitMutants};
use lydian_mutate::products;

use super::equivalence::EquivalenceProver;
use crate::error::Error;
use crate::events::Event;
use crate::project::linked::LinkRequest;
use crate::proving::{ErrorAnswer, ProofRequest, Proofs, Provers};

/// The most mutants of a product.
const MOST: usize = 40;

/// A prover that explores products.
#[derive(Clone, Copy, Debug)]
pub struct ProductProver {
    /// The time for each unit; with none, nothing is proved.
    pub time: Duration,
}

impl EquivalenceProver for ProductProver {
    fn equivalent(
        &self,
        unit: &UnitMutants,
        mutants: &[&Mutant],
        cancel: &CancelToken,
    ) -> BTreeSet<u32> {
        let provable = mutants.iter().copied().filter(|it| products::is_provable(unit, it));
        let provable: Vec<&Mutant> = provable.collect();
        let parts = provable.len().div_ceil(MOST).max(1) as u32;
        let mut found = BTreeSet::new();
        for part in provable.chunks(MOST) {
            if self.time.is_zero() || cancel.is_cancelled() {
                break;
            }
            match proved(unit, part, self.time / parts, cancel) {
                Ok(equal) => found.extend(equal),
                Err(error) => log::info!("no proofs for {}: {error}", unit.source.display()),
            }
        }
        found
    }
}

/// The mutants of a product that differ in no run.
fn proved(
    unit: &UnitMutants,
    mutants: &[&Mutant],
    time: Duration,
    cancel: &CancelToken,
) -> Result<Vec<u32>, Error> {
    let unwritten = |error: std::io::Error| {
        Error::environment("mutants", format!("a product cannot be written: {error}"))
    };
    let place = tempfile::tempdir().map_err(unwritten)?;
    let file = place.path().join("product.c");
    std::fs::write(&file, products::text(unit, mutants)).map_err(unwritten)?;
    let mut flags = unit.flags.clone();
    flags.extend([products::WRAPPING.to_owned(), "-w".to_owned()]);
    let program = LinkRequest { files: vec![file], flags, compile_commands: None };
    let jobs = std::num::NonZeroUsize::new(1);
    let request = ProofRequest { program, time, provers: Provers::Together, jobs, certify: false };
    let silent = |_: Event<'_>| {};
    let proofs = Proofs::of_errors(&request, cancel, &silent)?;
    let equal = proofs.errors.iter().filter_map(|error| match error.answer {
        ErrorAnswer::Unreachable(_) => products::compared(&error.function),
        _ => None,
    });
    Ok(equal.collect())
}
