//! Sets of criteria, by the names that users give them.

use std::str::FromStr;

use crate::criterion::{Criterion, UnknownCriterion};
use Criterion::{
    AllDefs, AllDuPaths, AllUses, Bc, Cacc, Cc, Cutpnfp, Dc, Dcc, Fc, Fcc, Gacc, Gicc, Ic, Mcc,
    Mcdc, Racc, Ricc, Stmt, Utpc, Wm,
};

/// Criteria that are asked for together.
#[derive(Clone, Copy, Debug)]
pub struct CriterionSet {
    /// Its name, as users write it.
    pub name: &'static str,
    /// A few words about it.
    pub about: &'static str,
    /// The criteria, in the order of reports.
    pub criteria: &'static [Criterion],
}

/// The set of all criteria that need no file of the user's, and no runs of mutants. Those of
/// augmentation, which `--augment` asks for, are not among them.
const ALL: &str = "all";

/// All sets but that of all criteria. The sets of standards are the structural coverage of code that
/// the standards ask for or highly recommend: DO-178C table A-7 with 6.4.4.2 d for calls between
/// functions, ISO 26262-6 (2018) tables 9 and 12, IEC 61508-3 (2010) table B.2.
pub const SETS: [CriterionSet; 14] = [
    CriterionSet { name: "do178c-c", about: "DO-178C, level C", criteria: &[Fcc, Stmt] },
    CriterionSet { name: "do178c-b", about: "DO-178C, level B", criteria: &[Fcc, Stmt, Dc] },
    CriterionSet { name: "do178c-a", about: "DO-178C, level A", criteria: &[Fcc, Stmt, Dc, Mcdc] },
    CriterionSet { name: "iso26262-a", about: "ISO 26262, ASIL A", criteria: &[Stmt] },
    CriterionSet { name: "iso26262-b", about: "ISO 26262, ASIL B", criteria: &[Stmt, Bc] },
    CriterionSet { name: "iso26262-c", about: "ISO 26262, ASIL C", criteria: &[Fc, Fcc, Stmt, Bc] },
    CriterionSet {
        name: "iso26262-d",
        about: "ISO 26262, ASIL D",
        criteria: &[Fc, Fcc, Stmt, Bc, Mcdc],
    },
    CriterionSet { name: "iec61508-sil1", about: "IEC 61508, SIL 1", criteria: &[Fc] },
    CriterionSet { name: "iec61508-sil2", about: "IEC 61508, SIL 2", criteria: &[Fc, Stmt] },
    CriterionSet { name: "iec61508-sil3", about: "IEC 61508, SIL 3", criteria: &[Fc, Stmt, Bc] },
    CriterionSet {
        name: "iec61508-sil4",
        about: "IEC 61508, SIL 4",
        criteria: &[Fc, Stmt, Bc, Mcdc],
    },
    CriterionSet {
        name: "logic",
        about: "all about decisions and their conditions",
        criteria: &[Dc, Cc, Dcc, Mcc, Gacc, Gicc, Cacc, Racc, Ricc, Mcdc, Ic, Utpc, Cutpnfp],
    },
    CriterionSet {
        name: "data-flow",
        about: "definitions and their uses",
        criteria: &[AllDefs, AllUses, AllDuPaths],
    },
    CriterionSet { name: "mutation", about: "weak mutation", criteria: &[Wm] },
];

/// The criteria that a user names by one word: a criterion, or those of a set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CriterionChoice(Vec<Criterion>);

impl CriterionChoice {
    /// The criteria of several choices, each where it is first.
    pub fn together(choices: &[Self]) -> Vec<Criterion> {
        let mut all: Vec<Criterion> = Vec::new();
        for criterion in choices.iter().flat_map(|choice| &choice.0) {
            if !all.contains(criterion) {
                all.push(*criterion);
            }
        }
        all
    }
}

/// A name that is no criterion's and no set's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}; and the sets {sets}", sets = set_names())]
pub struct UnknownChoice(UnknownCriterion);

fn set_names() -> String {
    SETS.map(|set| set.name).into_iter().chain([ALL]).collect::<Vec<_>>().join(", ")
}

/// The names of all criteria and sets.
pub fn names() -> String {
    let criteria = Criterion::ALL.map(|(_, name)| name).join(", ");
    format!("{criteria}; the sets {}", set_names())
}

impl FromStr for CriterionChoice {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower = text.trim().to_ascii_lowercase();
        if lower == ALL {
            let known = Criterion::ALL.into_iter().map(|(criterion, _)| criterion);
            return Ok(Self(known.filter(|criterion| is_in_all(*criterion)).collect()));
        }
        match SETS.iter().find(|set| set.name == lower) {
            Some(set) => Ok(Self(set.criteria.to_vec())),
            None => lower.parse().map(|criterion| Self(vec![criterion])).map_err(UnknownChoice),
        }
    }
}

/// Whether the set of all criteria has it.
const fn is_in_all(criterion: Criterion) -> bool {
    !criterion.is_written() && !criterion.is_strong() && !criterion.is_of_augmentation()
}

/// A line for each criterion and each set, with a few words about it.
pub fn listed() -> String {
    let line = |name: &str, about: &str| format!("  {name:<19} {about}\n");
    let mut text = String::new();
    for (criterion, name) in Criterion::ALL {
        text.push_str(&line(name, criterion.about()));
    }
    text.push_str("\nSets of criteria:\n");
    for set in SETS {
        let names: Vec<&str> = set.criteria.iter().map(|criterion| criterion.name()).collect();
        text.push_str(&line(set.name, &format!("{}: {}", set.about, names.join(", "))));
    }
    text.push_str(&line(ALL, "all criteria that need no file, but sm and those of augmentation"));
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::criterion::Construct;

    fn chosen(text: &str) -> Vec<Criterion> {
        let choices: Result<Vec<CriterionChoice>, _> = text.split(',').map(str::parse).collect();
        CriterionChoice::together(&choices.expect("known names"))
    }

    #[test]
    fn sets_and_criteria_are_chosen_together_and_each_once() {
        assert_eq!(chosen("mcdc,DO178C-a,wm"), [Mcdc, Fcc, Stmt, Dc, Wm]);
        assert_eq!(chosen("all").len(), Criterion::ALL.len() - 7);
        let error = "iso26262-e".parse::<CriterionChoice>().expect_err("there is none").to_string();
        assert!(error.contains("`iso26262-e`") && error.contains("iso26262-d"), "{error}");
    }

    #[test]
    fn sets_have_their_criteria_in_the_order_of_reports_and_no_name_of_a_criterion() {
        for set in SETS {
            assert!(set.criteria.is_sorted(), "{}", set.name);
            assert!(set.name.parse::<Criterion>().is_err(), "{}", set.name);
        }
    }

    #[test]
    fn who_asks_for_what_there_is_not_is_told_everything_that_there_is() {
        let error = "mcd".parse::<CriterionChoice>().expect_err("there is none").to_string();
        for text in [error, names()] {
            assert!(Criterion::ALL.iter().all(|(_, name)| text.contains(name)), "{text}");
            assert!(
                SETS.iter().all(|set| text.contains(set.name)) && text.ends_with(ALL),
                "{text}"
            );
        }
    }

    #[test]
    fn sets_of_what_belongs_together_leave_no_criterion_out() {
        let about = |holds: fn(Criterion) -> bool| -> Vec<Criterion> {
            let all = Criterion::ALL.into_iter().map(|(criterion, _)| criterion);
            all.filter(|one| !one.is_of_augmentation() && holds(*one)).collect()
        };
        let decisions = |one: Criterion| matches!(one.construct(), Construct::Decision(_));
        assert_eq!(chosen("logic"), about(decisions));
        let whole = |one: Criterion| one.flow().is_some_and(|flow| !flow.cells);
        assert_eq!(chosen("data-flow"), about(whole));
        assert_eq!(chosen("mutation"), about(|one| one.construct() == Construct::Mutant));
    }

    #[test]
    fn the_list_has_a_line_for_each_name() {
        let lines = listed();
        let has = |name: &str| lines.lines().any(|line| line.trim_start().starts_with(name));
        assert!(Criterion::ALL.iter().all(|(_, name)| has(name)));
        assert!(SETS.iter().all(|set| has(set.name)));
    }
}
