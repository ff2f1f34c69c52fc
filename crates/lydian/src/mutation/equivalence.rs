//! Mutants that do what the original does: they leave the count.
//!
//! First the code of both is compared ([`lydian_mutate::clones`]), then a prover is asked. Only mutants
//! that no test killed are compared. Some texts keep a compiler busy for minutes, or for ever: it is ended
//! after a share of the time ([`CodeTime`]), and nothing is kept of the mutants that it did not compare.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

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
use crate::measurement::process_group;
use crate::project::COMPILER;
use crate::wrapper::first_error;

/// A prover of equivalence, for mutants whose code differs from the original's.
pub trait EquivalenceProver {
    /// The prover and its effort in a few words: where they change, mutants without a proof are tried anew.
    fn effort(&self) -> String;

    /// The time that it may take for a unit. The comparison of optimised code may take as long.
    fn time(&self) -> Duration;

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

/// What keeps the compiler from using that C leaves something undefined: it could give a mutant the code of the
/// original though it adds an overflow, a loop without an end or a read of a variable without a value, which
/// shows in a build with less optimisation.
const DEFINED: [&str; 5] = [
    "-fwrapv",
    "-fno-strict-aliasing",
    "-fno-delete-null-pointer-checks",
    "-fno-finite-loops",
    "-ftrivial-auto-var-init=zero",
];
/// The least time for comparing the optimised code of a unit.
const LEAST: Duration = Duration::from_secs(10);
/// The share (one n-th) of it that a run of the compiler may take.
const SHARE: u32 = 4;

/// The time for comparing the optimised code of a unit.
#[derive(Clone, Copy)]
struct CodeTime {
    /// When it is over.
    end: Instant,
    /// The most that a run of the compiler may take.
    one: Duration,
}

impl CodeTime {
    fn new(time: Duration) -> Self {
        let time = time.max(LEAST);
        Self { end: Instant::now() + time, one: time / SHARE }
    }

    /// When a run of the compiler that begins now has to end; none if there is no time for one.
    fn next(&self) -> Option<Instant> {
        let now = Instant::now();
        (now < self.end).then(|| self.end.min(now + self.one))
    }
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
    let SameCode { same, cut } = same_code(unit, asked, prover.time(), cancel, observer);
    let others: Vec<&Mutant> =
        asked.iter().copied().filter(|it| !same.contains(&it.number)).collect();
    let attempts = match cancel.is_cancelled() || others.is_empty() {
        true => ProofAttempts::default(),
        false => prover.equivalent(unit, &others, cancel),
    };
    // A cancelled attempt is no whole one.
    let is_whole = |it: &u32| !cancel.is_cancelled() && !cut.contains(it);
    let tried = attempts.tried.into_iter().filter(is_whole);
    let mut all: Proofs = tried.map(|it| (it, None)).collect();
    all.extend(attempts.equivalent.into_iter().map(|it| (it, Some(EquivalenceProof::Proof))));
    all.extend(same.into_iter().map(|it| (it, Some(EquivalenceProof::SameCode))));
    all
}

/// The comparison of mutants' optimised code with the original's, by the numbers of mutants.
#[derive(Default)]
struct SameCode {
    /// Those with the code of the original.
    same: BTreeSet<u32>,
    /// Those that were not compared, since the time was over.
    cut: BTreeSet<u32>,
}

impl SameCode {
    fn extend(&mut self, other: Self) {
        self.same.extend(other.same);
        self.cut.extend(other.cut);
    }
}

/// Compares the code of mutants with the original's.
fn same_code(
    unit: &UnitMutants,
    asked: &[&Mutant],
    time: Duration,
    cancel: &CancelToken,
    observer: &dyn Observer,
) -> SameCode {
    let is_comparable = |mutant: &&Mutant| clones::is_comparable(unit, mutant);
    let comparable: Vec<&Mutant> = asked.iter().copied().filter(is_comparable).collect();
    let parts: Vec<&[&Mutant]> = comparable.chunks(clones::MOST_CLONES).collect();
    let threads = vec![(); workers::count(None, parts.len())];
    let time = CodeTime::new(time);
    let own = CancelToken::new();
    let found = workers::work_on(&parts, threads, &own, |part, ()| {
        Ok(same_in(unit, part, (time, cancel), observer))
    });
    let mut all = SameCode::default();
    let done = found.map(|found| found.done).unwrap_or_default();
    done.into_iter().for_each(|(_, part)| all.extend(part));
    if !all.cut.is_empty() && !cancel.is_cancelled() {
        let (count, file) = (all.cut.len(), unit.source.display());
        let many = if count == 1 { "mutant" } else { "mutants" };
        warn(observer, format!("{file}: the code of {count} {many} is not compared: time limit"));
    }
    all
}

/// The same for mutants in one text.
fn same_in(
    unit: &UnitMutants,
    part: &[&Mutant],
    (time, cancel): (CodeTime, &CancelToken),
    observer: &dyn Observer,
) -> SameCode {
    match compared(unit, part, (time, cancel)) {
        Ok(same) => SameCode { same: same.into_iter().collect(), ..SameCode::default() },
        Err(NotCompared::Cut) => {
            let cut = part.iter().map(|mutant| mutant.number).collect();
            SameCode { cut, ..SameCode::default() }
        }
        // One of them may be no program.
        Err(NotCompared::Refused(_)) if part.len() > 1 => {
            let mut all = SameCode::default();
            for one in part {
                match compared(unit, &[*one], (time, cancel)) {
                    Ok(same) => all.same.extend(same),
                    Err(NotCompared::Cut) => _ = all.cut.insert(one.number),
                    Err(NotCompared::Refused(_)) => {}
                }
            }
            all
        }
        Err(NotCompared::Refused(message)) => {
            warn(observer, format!("{}: not compared: {message}", unit.source.display()));
            SameCode::default()
        }
    }
}

/// Why there is no code to be compared.
#[derive(Debug)]
enum NotCompared {
    /// The time was over, or the user stopped it.
    Cut,
    /// The compiler refuses the text, with this message.
    Refused(String),
}

/// The numbers of mutants with the code of the original.
fn compared(
    unit: &UnitMutants,
    mutants: &[&Mutant],
    (time, cancel): (CodeTime, &CancelToken),
) -> Result<Vec<u32>, NotCompared> {
    let end = time.next().filter(|_| !cancel.is_cancelled()).ok_or(NotCompared::Cut)?;
    let text = clones::text(unit, mutants);
    let mut clang = Command::new(COMPILER);
    clang.args(&unit.flags).args(["-w", "-O2", "-g0", "-S", "-emit-llvm", "-Qunused-arguments"]);
    clang.args(DEFINED).args(["-x", "cpp-output", "-", "-o", "-"]).current_dir(&unit.directory);
    let ir = output(clang, text, (end, cancel))?;
    Ok(clones::equal(&ir, mutants))
}

/// What a compiler writes of a text. It is killed with all that it started when its time is over.
fn output(
    mut compiler: Command,
    text: String,
    (end, cancel): (Instant, &CancelToken),
) -> Result<String, NotCompared> {
    let refused = |error: std::io::Error| NotCompared::Refused(error.to_string());
    compiler.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = compiler.process_group(0).spawn().map_err(refused)?;
    let (input, output, errors) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    std::thread::scope(|scope| {
        scope.spawn(move || input.map(|mut input| input.write_all(text.as_bytes())));
        let output = scope.spawn(move || read(output));
        let errors = scope.spawn(move || read(errors));
        let status = process_group::wait(&mut child, end, cancel).map_err(refused)?;
        let (output, errors) = (output.join(), errors.join());
        match status {
            None => Err(NotCompared::Cut),
            Some(status) if status.success() => Ok(output.unwrap_or_default()),
            Some(_) => {
                let said = errors.unwrap_or_default();
                Err(NotCompared::Refused(first_error(&said).to_owned()))
            }
        }
    })
}

/// All that comes from a process.
fn read(from: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    from.into_iter().for_each(|mut from| _ = from.read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
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

        fn time(&self) -> Duration {
            Duration::ZERO
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

    #[test]
    fn a_compiler_that_does_not_end_is_ended_and_says_nothing() {
        let mut busy = Command::new("sh");
        busy.args(["-c", "sleep 1000 & wait"]);
        let end = Instant::now() + Duration::from_millis(50);
        let found = output(busy, "int f;".to_owned(), (end, &CancelToken::new()));
        assert!(matches!(found, Err(NotCompared::Cut)), "{found:?}");
        let time = CodeTime { end: Instant::now(), one: LEAST };
        assert!(time.next().is_none(), "the time is over");
    }
}
