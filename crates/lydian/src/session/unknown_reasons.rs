//! The reason that is shown for an unknown objective which an exploration left, chosen among the cuts
//! before it.

use std::collections::BTreeSet;

use lydian_base::SourceMap;
use lydian_objective::UnknownReason;
use lydian_symex::{Cut, add_reason};

/// The reason to show: the one that the user can influence least comes first. Dependences are all
/// named.
pub(crate) fn reason(map: &SourceMap, cuts: &[Cut]) -> UnknownReason {
    let weight = |cut: &&Cut| match cut {
        Cut::Unsupported(_) => 0,
        Cut::Stopped(_) => 1,
        Cut::Solver(_) => 2,
        Cut::Undetermined(..) | Cut::Mathematics(..) | Cut::Assumption => 3,
        Cut::LoopBound(_) | Cut::Recursion(_) | Cut::CallDepth(_) | Cut::PathSteps(_) => 4,
        Cut::NotAsked | Cut::NotAugmented => 5,
    };
    let bound = |what: &str, limit: u64| UnknownReason::Bound { what: what.into(), limit };
    match cuts.iter().min_by_key(weight) {
        None => UnknownReason::NotTried,
        Some(Cut::Stopped(reason)) => UnknownReason::Budget(*reason),
        Some(Cut::LoopBound(limit)) => bound("loop", u64::from(*limit)),
        Some(Cut::Recursion(limit)) => bound("recursion", u64::from(*limit)),
        Some(Cut::CallDepth(limit)) => bound("call depth", u64::from(*limit)),
        Some(Cut::PathSteps(limit)) => bound("path length", *limit),
        Some(Cut::Solver(_)) => UnknownReason::SolverGaveUp,
        Some(cut @ (Cut::Unsupported(_) | Cut::Assumption | Cut::NotAsked | Cut::NotAugmented)) => {
            UnknownReason::NotFollowed(cut.to_string())
        }
        Some(Cut::Undetermined(..) | Cut::Mathematics(..)) => {
            UnknownReason::Depends(dependences(map, cuts))
        }
    }
}

/// The dependences of an objective, each with its first place in the text.
fn dependences(map: &SourceMap, cuts: &[Cut]) -> Vec<String> {
    let mut found = BTreeSet::new();
    let dependences = cuts.iter().filter(|cut| cut.is_dependence());
    dependences.for_each(|cut| add_reason(&mut found, cut.clone()));
    found.iter().map(|cut| with_place(map, cut)).collect()
}

/// A reason with the place where it arose, if it has one.
pub(crate) fn with_place(map: &SourceMap, cut: &Cut) -> String {
    match cut.place() {
        Some((verb, span)) => format!("{cut}, {verb} at {}", map.place(span.start)),
        None => cut.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::Span;
    use lydian_symex::Undetermined;

    use super::*;

    #[test]
    fn what_the_user_can_change_least_is_the_reason_that_is_shown() {
        let cuts = [Cut::LoopBound(8), Cut::Unsupported("longjmp".into())];
        let map = SourceMap::from_preprocessed("", "unit.c");
        assert!(reason(&map, &cuts).to_string().contains("longjmp"));
        assert_eq!(reason(&map, &cuts[..1]).to_string(), "loop bound of 8");
    }

    #[test]
    fn all_that_an_objective_depends_on_is_named() {
        let map = SourceMap::from_preprocessed("int x;\nint y;\n", "unit.c");
        let read = |start| Cut::Undetermined(Undetermined::Unwritten, Span::new(start, start + 1));
        let sine = Cut::Mathematics("sin".into(), Span::new(7, 8));
        let bound = Cut::LoopBound(3);
        let shown = |cuts: &[Cut]| reason(&map, cuts).to_string();
        let both = "depends on uninitialised memory, read at unit.c:1:5; \
                    depends on inexact mathematics, `sin` of more than a few values, \
                    called at unit.c:2:1";
        assert_eq!(shown(&[bound, sine, read(11), read(4)]), both);
    }
}
