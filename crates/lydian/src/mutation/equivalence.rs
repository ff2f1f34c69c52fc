//! Mutants that do what the original does: they leave the count.
//!
//! First the code of both is compared ([`lydian_mutate::clones`]), then a prover is asked. Only mutants
//! that no test killed are compared.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use lydian_base::CancelToken;
use lydian_mutate::clones;
use lydian_mutate::mutant::{Mutant, UnitMutants};
use lydian_mutate::results::{
    EquivalenceProof, MutantResult, MutationResults, Outcome, UnitResults,
};

use super::kept::{Dependences, KeptResults, run_key};
use super::warnings::warn;
use crate::events::Observer;
use crate::generation::workers;
use crate::project::COMPILER;
use crate::wrapper::first_error;

/// A prover of equivalence, for mutants whose code differs from the original's.
pub trait EquivalenceProver {
    /// The prover and its effort in a few words: where they change, mutants without a proof are tried anew.
    fn effort(&self) -> String;

    /// Those of the mutants that do what the original does in every run, and those that were tried.
    /// Only a complete argument is a yes: for every input of the function on which the original's
    /// behaviour is defined, the mutant's is the same.
    fn equivalent(
        &self,
        unit: &UnitMutants,
        mutants: &[&Mutant],
        cancel: &CancelToken,
    ) -> ProofAttempts;
}

/// The attempts to prove mutants of a unit equivalent, by the numbers of mutants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProofAttempts {
    /// Those that are proved.
    pub equivalent: BTreeSet<u32>,
    /// Those that were tried, with the prover's whole effort. For others nothing is kept.
    pub tried: BTreeSet<u32>,
}

/// Finds equivalent mutants among those that are alive.
pub(crate) fn leave_out(
    results: &mut MutationResults,
    prover: &dyn EquivalenceProver,
    kept: Option<&KeptResults>,
    cancel: &CancelToken,
    observer: &dyn Observer,
) {
    let keys = if kept.is_some() { living_keys(results, &prover.effort()) } else { Vec::new() };
    for (at, of) in results.units.iter_mut().enumerate() {
        let kept = kept.map(|results| KeptProofs { results, keys: &keys[at] });
        let known = kept.map(|kept| kept.take_over(of)).unwrap_or_default();
        let alive = of.mutants.iter().filter(|result| result.outcome.is_alive());
        let asked: Vec<&Mutant> =
            alive.map(|result| &result.mutant).filter(|it| !known.contains(&it.number)).collect();
        let found = proofs(&of.unit, &asked, prover, cancel, observer);
        if let Some(kept) = kept {
            kept.keep(&found);
        }
        set_equivalent(of, &found);
    }
}

/// What was found about mutants, by their numbers: the argument that one is equivalent, if there is one.
type Proofs = BTreeMap<u32, Option<EquivalenceProof>>;

/// The results of earlier runs for the living mutants of a unit, with their keys.
#[derive(Clone, Copy)]
struct KeptProofs<'k> {
    results: &'k KeptResults,
    keys: &'k BTreeMap<u32, String>,
}

impl KeptProofs<'_> {
    /// Takes over what is known. Returns the mutants of which something is.
    fn take_over(self, of: &mut UnitResults) -> BTreeSet<u32> {
        let known = self.keys.iter();
        let known: Proofs = known
            .filter_map(|(number, key)| Some((*number, self.results.equivalence(key)?)))
            .collect();
        set_equivalent(of, &known);
        known.into_keys().collect()
    }

    fn keep(self, found: &Proofs) {
        for (number, proof) in found {
            if let Some(key) = self.keys.get(number) {
                self.results.keep_equivalence(key.clone(), *proof);
            }
        }
    }
}

fn set_equivalent(of: &mut UnitResults, found: &Proofs) {
    for result in &mut of.mutants {
        if let Some(Some(proof)) = found.get(&result.mutant.number) {
            result.outcome = Outcome::Equivalent { proof: *proof };
        }
    }
}

/// The keys of the living mutants of each unit, by their numbers.
fn living_keys(results: &MutationResults, effort: &str) -> Vec<BTreeMap<u32, String>> {
    let units: Vec<UnitMutants> = results.units.iter().map(|of| of.unit.clone()).collect();
    let dependences = Dependences::of(&units);
    let mut of_functions: BTreeMap<&str, String> = BTreeMap::new();
    let mut all = Vec::new();
    for (at, of) in results.units.iter().enumerate() {
        let mut keys = BTreeMap::new();
        let alive = of.mutants.iter().filter(|result| result.outcome.is_alive());
        for MutantResult { mutant, .. } in alive {
            let function = &*mutant.function;
            let own = of_functions.entry(function).or_insert_with(|| dependences.key([function]));
            let key = format!("{}:{effort}", run_key(own, dependences.unit(at), mutant));
            keys.insert(mutant.number, key);
        }
        all.push(keys);
    }
    all
}

/// The mutants that were tried, each with the argument that it is equivalent, if there is one.
fn proofs(
    unit: &UnitMutants,
    asked: &[&Mutant],
    prover: &dyn EquivalenceProver,
    cancel: &CancelToken,
    observer: &dyn Observer,
) -> Proofs {
    let same = same_code(unit, asked, cancel, observer);
    let others: Vec<&Mutant> =
        asked.iter().copied().filter(|it| !same.contains(&it.number)).collect();
    let attempts = match cancel.is_cancelled() || others.is_empty() {
        true => ProofAttempts::default(),
        false => prover.equivalent(unit, &others, cancel),
    };
    // A cancelled attempt is no whole one.
    let tried = attempts.tried.into_iter().filter(|_| !cancel.is_cancelled());
    let mut all: Proofs = tried.map(|it| (it, None)).collect();
    all.extend(attempts.equivalent.into_iter().map(|it| (it, Some(EquivalenceProof::Proof))));
    all.extend(same.into_iter().map(|it| (it, Some(EquivalenceProof::SameCode))));
    all
}

/// The numbers of the mutants with the code of the original.
fn same_code(
    unit: &UnitMutants,
    asked: &[&Mutant],
    cancel: &CancelToken,
    observer: &dyn Observer,
) -> BTreeSet<u32> {
    let is_comparable = |mutant: &&Mutant| clones::is_comparable(unit, mutant);
    let comparable: Vec<&Mutant> = asked.iter().copied().filter(is_comparable).collect();
    let parts: Vec<&[&Mutant]> = comparable.chunks(clones::MOST_CLONES).collect();
    let threads = vec![(); workers::count(None, parts.len())];
    let found =
        workers::work_on(&parts, threads, cancel, |part, ()| Ok(same_in(unit, part, observer)));
    let found = found.map(|found| found.done).unwrap_or_default();
    found.into_iter().flat_map(|(_, same)| same).collect()
}

/// The numbers of those mutants with the code of the original.
fn same_in(unit: &UnitMutants, part: &[&Mutant], observer: &dyn Observer) -> Vec<u32> {
    match compared(unit, part) {
        Ok(same) => same,
        // One of them may be no program.
        Err(_) if part.len() > 1 => {
            part.iter().filter_map(|one| compared(unit, &[*one]).ok()).flatten().collect()
        }
        Err(message) => {
            warn(observer, format!("{}: not compared: {message}", unit.source.display()));
            Vec::new()
        }
    }
}

/// The numbers of mutants with the code of the original, or the compiler's message.
fn compared(unit: &UnitMutants, mutants: &[&Mutant]) -> Result<Vec<u32>, String> {
    let text = clones::text(unit, mutants);
    let ir = optimised(&text, &unit.flags, &unit.directory)?;
    Ok(clones::equal(&ir, mutants))
}

/// The LLVM IR that clang makes of a preprocessed text with optimisation.
fn optimised(text: &str, flags: &[String], folder: &Path) -> Result<String, String> {
    let mut clang = Command::new(COMPILER);
    clang.args(flags).args(["-w", "-O2", "-g0", "-S", "-emit-llvm", "-Qunused-arguments"]);
    clang.args(["-x", "cpp-output", "-", "-o", "-"]).current_dir(folder);
    clang.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = clang.spawn().map_err(|error| error.to_string())?;
    let input = child.stdin.take();
    std::thread::scope(|scope| {
        scope.spawn(move || input.map(|mut input| input.write_all(text.as_bytes())));
        let output = child.wait_with_output().map_err(|error| error.to_string())?;
        match output.status.success() {
            true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
            false => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                Err(first_error(&said).to_owned())
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::examples::{some_mutant, some_unit};
    use super::*;

    /// A prover without the time for all.
    struct Hurried;

    impl EquivalenceProver for Hurried {
        fn effort(&self) -> String {
            "some".to_owned()
        }

        fn equivalent(&self, _: &UnitMutants, _: &[&Mutant], _: &CancelToken) -> ProofAttempts {
            ProofAttempts { equivalent: [1].into(), tried: [1, 2].into() }
        }
    }

    #[test]
    fn nothing_is_kept_of_mutants_that_were_not_tried() {
        let mutant = |number| -> Mutant { Mutant { number, ..some_mutant() } };
        let unit = some_unit();
        let all = [1, 2, 3].map(mutant);
        let cancel = CancelToken::new();
        let asked: Vec<&Mutant> = all.iter().collect();
        let found = proofs(&unit, &asked, &Hurried, &cancel, &|_: crate::events::Event<'_>| {});
        assert_eq!(found, [(1, Some(EquivalenceProof::Proof)), (2, None)].into());
    }
}
