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
use lydian_mutate::results::{EquivalenceProof, MutationResults, Outcome, UnitResults};

use super::kept::{Dependences, KeptResults};
use super::warnings::warn;
use crate::events::Observer;
use crate::generation::workers;
use crate::project::COMPILER;

/// A prover of equivalence, for mutants whose code differs from the original's.
pub trait EquivalenceProver {
    /// The prover and its effort in a few words: where they change, mutants without a proof are tried anew.
    fn effort(&self) -> String;

    /// The numbers of those mutants that do what the original does in every run. Only a complete
    /// argument is a yes: for every input of the function on which the original's behaviour is defined,
    /// the mutant's is the same.
    fn equivalent(
        &self,
        unit: &UnitMutants,
        mutants: &[&Mutant],
        cancel: &CancelToken,
    ) -> BTreeSet<u32>;
}

/// Finds equivalent mutants among those that are alive.
pub(crate) fn leave_out(
    results: &mut MutationResults,
    prover: &dyn EquivalenceProver,
    kept: &KeptResults,
    cancel: &CancelToken,
    observer: &dyn Observer,
) {
    let units: Vec<UnitMutants> = results.units.iter().map(|of| of.unit.clone()).collect();
    let dependences = Dependences::of(&units);
    let effort = prover.effort();
    for of in &mut results.units {
        let mut keys: BTreeMap<u32, String> = BTreeMap::new();
        for result in of.mutants.iter_mut().filter(|result| result.outcome.is_alive()) {
            let own = dependences.key([result.mutant.function.as_str()]);
            let key = format!("{own}:{}:{effort}", result.mutant.key);
            match kept.equivalence(&key) {
                Some(Some(proof)) => result.outcome = Outcome::Equivalent { proof },
                Some(None) => {}
                None => _ = keys.insert(result.mutant.number, key),
            }
        }
        let same = same_code(of, &keys, cancel, observer);
        let alive = of.mutants.iter().filter(|it| keys.contains_key(&it.mutant.number));
        let others = alive.map(|result| &result.mutant).filter(|it| !same.contains(&it.number));
        let others: Vec<&Mutant> = others.collect();
        let proved = match cancel.is_cancelled() || others.is_empty() {
            true => BTreeSet::new(),
            false => prover.equivalent(&of.unit, &others, cancel),
        };
        for result in &mut of.mutants {
            let number = result.mutant.number;
            let Some(key) = keys.remove(&number) else { continue };
            let proof = match (same.contains(&number), proved.contains(&number)) {
                (true, _) => Some(EquivalenceProof::SameCode),
                (false, true) => Some(EquivalenceProof::Proof),
                (false, false) => None,
            };
            if let Some(proof) = proof {
                result.outcome = Outcome::Equivalent { proof };
            }
            if proof.is_some() || !cancel.is_cancelled() {
                kept.keep_equivalence(key, proof);
            }
        }
    }
}

/// The numbers of the living mutants with the code of the original.
fn same_code(
    of: &UnitResults,
    asked: &BTreeMap<u32, String>,
    cancel: &CancelToken,
    observer: &dyn Observer,
) -> BTreeSet<u32> {
    let alive = of.mutants.iter().filter(|result| asked.contains_key(&result.mutant.number));
    let alive: Vec<&Mutant> = alive
        .map(|result| &result.mutant)
        .filter(|mutant| clones::is_comparable(&of.unit, mutant))
        .collect();
    let parts: Vec<&[&Mutant]> = alive.chunks(clones::MOST_CLONES).collect();
    let threads = vec![(); workers::count(None, parts.len())];
    let found =
        workers::work_on(&parts, threads, cancel, |part, ()| Ok(same_in(&of.unit, part, observer)));
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
                let line = said.lines().find(|line| line.contains("error"));
                Err(line.unwrap_or("the compiler fails").to_owned())
            }
        }
    })
}
