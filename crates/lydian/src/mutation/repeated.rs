//! Mutants of a file that several units include: a header's, or those of a source that each of several test
//! programs includes.
//!
//! Each unit has its own mutants, and a run chooses one of one unit. For the user they are one change of the
//! file, so they count as one mutant: one that is killed in any unit is killed, and one that is equivalent
//! in all units is equivalent.

use std::collections::BTreeMap;

use lydian_mutate::results::{MutantResult, MutationResults, Outcome, UnitResults};
use lydian_mutate::{Mutant, Position};

/// What a change of a file is: the file, its place, the replacement, and the mutant's name.
type Change<'m> = (&'m str, Position, Position, &'m str, &'m str);

fn change(mutant: &Mutant) -> Change<'_> {
    (&mutant.file, mutant.start, mutant.end, &mutant.replacement, &mutant.name)
}

/// The positions of a mutant: of its unit, and its own there.
pub(crate) type At = (usize, usize);

/// The mutants of all units by their changes, in the order of the first of each.
pub(crate) fn changes(results: &MutationResults) -> Vec<Vec<At>> {
    let mut groups: Vec<Vec<At>> = Vec::new();
    let mut known: BTreeMap<(Change<'_>, usize), usize> = BTreeMap::new();
    for (unit, of) in results.units.iter().enumerate() {
        // A line that is preprocessed twice in a unit has the same change twice: they stay apart.
        let mut turns: BTreeMap<Change<'_>, usize> = BTreeMap::new();
        for (at, result) in of.mutants.iter().enumerate() {
            let own = change(&result.mutant);
            let turn = turns.entry(own).or_default();
            let group = *known.entry((own, *turn)).or_insert(groups.len());
            *turn += 1;
            if group == groups.len() {
                groups.push(Vec::new());
            }
            groups[group].push((unit, at));
        }
    }
    groups
}

/// The mutants that were taken out of results, as another one stands for them.
pub(crate) struct Repeated {
    /// With the positions of those that stand for them, in the results without them.
    others: Vec<(At, usize, MutantResult)>,
}

/// Leaves one mutant of each change in the results, with what is known of all.
pub(crate) fn fold(results: &mut MutationResults) -> Repeated {
    let mut stand_for: BTreeMap<At, At> = BTreeMap::new();
    for group in changes(results) {
        let first = group[0];
        stand_for.extend(group[1..].iter().map(|other| (*other, first)));
    }
    let mut others = Vec::new();
    let mut moved: BTreeMap<At, At> = BTreeMap::new();
    for (unit, of) in results.units.iter_mut().enumerate() {
        let mut own = Vec::new();
        for (at, result) in std::mem::take(&mut of.mutants).into_iter().enumerate() {
            match stand_for.get(&(unit, at)) {
                Some(first) => others.push((*first, unit, result)),
                None => {
                    moved.insert((unit, at), (unit, own.len()));
                    own.push(result);
                }
            }
        }
        of.mutants = own;
    }
    let names = results.tests.iter().enumerate().map(|(at, (name, _))| (name, at));
    let order: BTreeMap<&String, usize> = names.collect();
    for (first, unit, result) in &mut others {
        *first = moved[first];
        let stands = &mut results.units[first.0].mutants[first.1];
        stands.also_in.push(*unit);
        for (all, more) in [
            (&mut stands.reached_by, &result.reached_by),
            (&mut stands.infected_by, &result.infected_by),
            (&mut stands.killed_by, &result.killed_by),
        ] {
            all.extend(more.iter().cloned());
            all.sort_by_key(|name| order.get(name));
            all.dedup();
        }
        if rank(&result.outcome) > rank(&stands.outcome) {
            stands.outcome = result.outcome.clone();
        }
    }
    Repeated { others }
}

/// What counts for a change, of what is known of its mutants: the greatest.
const fn rank(outcome: &Outcome) -> u8 {
    match outcome {
        Outcome::Killed { .. } => 6,
        Outcome::Pending => 5,
        Outcome::Survived => 4,
        Outcome::NotInfected => 3,
        Outcome::NotReached => 2,
        Outcome::Equivalent { .. } => 1,
        Outcome::Invalid { .. } => 0,
    }
}

impl Repeated {
    /// Looks at the others of mutants that are equivalent: where one is not, neither is the change.
    /// `compare` finds the equivalent mutants of results.
    pub(crate) fn check(
        self,
        results: &mut MutationResults,
        compare: impl FnOnce(&mut MutationResults),
    ) {
        let is_equivalent = |results: &MutationResults, at: At| {
            matches!(results.units[at.0].mutants[at.1].outcome, Outcome::Equivalent { .. })
        };
        let asked = self.others.into_iter().filter(|(first, ..)| is_equivalent(results, *first));
        let empty =
            results.units.iter().map(|of| UnitResults { mutants: Vec::new(), ..of.clone() });
        let mut rest = MutationResults { units: empty.collect(), ..MutationResults::default() };
        let mut firsts: BTreeMap<At, At> = BTreeMap::new();
        for (first, unit, result) in asked {
            let mutants = &mut rest.units[unit].mutants;
            firsts.insert((unit, mutants.len()), first);
            mutants.push(result);
        }
        if firsts.is_empty() {
            return;
        }
        compare(&mut rest);
        for ((unit, at), first) in firsts {
            let own = &rest.units[unit].mutants[at].outcome;
            let stands = &mut results.units[first.0].mutants[first.1].outcome;
            if rank(own) > rank(stands) {
                *stands = own.clone();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use lydian_mutate::results::{EquivalenceProof, Failure};

    use super::super::examples::{some_mutant, some_unit};
    use super::*;

    fn result(name: &str, line: u32, outcome: Outcome) -> MutantResult {
        let place = Position { line, column: 1 };
        let mutant = Mutant {
            name: name.to_owned(),
            start: place,
            end: place,
            file: "unit.h".to_owned(),
            ..some_mutant()
        };
        let killed_by = match &outcome {
            Outcome::Killed { test, .. } => vec![test.clone()],
            _ => Vec::new(),
        };
        MutantResult {
            mutant,
            outcome,
            reached_by: killed_by.clone().into_iter().chain(["t".to_owned()]).collect(),
            infected_by: Vec::new(),
            killed_by,
            subsumed: false,
            generated: None,
            also_in: Vec::new(),
        }
    }

    fn results(units: [Vec<MutantResult>; 2]) -> MutationResults {
        let units = units.map(|mutants| UnitResults { unit: some_unit(), mutants });
        let tests = ["t", "u"].map(|name| (name.to_owned(), 1)).into();
        MutationResults { units: units.into(), tests, ..MutationResults::default() }
    }

    fn killed(test: &str) -> Outcome {
        Outcome::Killed { test: test.to_owned(), failure: Failure::Status(1) }
    }

    #[test]
    fn a_change_is_killed_where_a_test_kills_it_in_any_unit() {
        let mut all = results([
            vec![result("a", 1, Outcome::NotReached), result("b", 2, Outcome::Survived)],
            vec![
                result("c", 3, killed("u")),
                result("a", 1, killed("u")),
                result("b", 2, Outcome::NotReached),
            ],
        ]);
        drop(fold(&mut all));
        let outcomes: Vec<_> = all.all().map(|it| (&*it.mutant.name, it.outcome.name())).collect();
        assert_eq!(outcomes, [("a", "killed"), ("b", "survived"), ("c", "killed")]);
        let first = all.all().next().unwrap();
        assert_eq!(first.killed_by, ["u"]);
        assert_eq!(first.reached_by, ["t", "u"], "in the order of the tests");
    }

    #[test]
    fn a_change_that_was_not_run_in_each_unit_has_no_result() {
        let mut all = results([
            vec![result("a", 1, Outcome::Survived)],
            vec![result("a", 1, Outcome::Pending)],
        ]);
        drop(fold(&mut all));
        assert_eq!(all.all().map(|it| it.outcome.name()).collect::<Vec<_>>(), ["not run"]);
    }

    #[test]
    fn a_change_is_equivalent_only_where_it_is_in_all_units() {
        let equivalent = || Outcome::Equivalent { proof: EquivalenceProof::SameCode };
        let names = ["a", "b"];
        let unit =
            || [1, 2].map(|line| result(names[line - 1], line as u32, Outcome::Survived)).into();
        let mut all = results([unit(), unit()]);
        let repeated = fold(&mut all);
        all.units[0].mutants.iter_mut().for_each(|it| it.outcome = equivalent());
        repeated.check(&mut all, |rest| {
            assert_eq!((rest.units[0].mutants.len(), rest.units[1].mutants.len()), (0, 2));
            rest.units[1].mutants[1].outcome = equivalent();
        });
        let outcomes: Vec<_> = all.all().map(|it| it.outcome.name()).collect();
        assert_eq!(outcomes, ["survived", "equivalent"]);
    }

    #[test]
    fn a_place_that_a_unit_includes_twice_has_two_mutants() {
        let twice = || vec![result("a", 1, killed("t")), result("a", 1, Outcome::Survived)];
        let mut all = results([twice(), twice()]);
        drop(fold(&mut all));
        assert_eq!(all.all().count(), 2);
    }
}
