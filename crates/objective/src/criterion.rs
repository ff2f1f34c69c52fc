//! The criteria, by the names that users give them.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A coverage criterion (semantics: [000] III, [002] Table II).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Criterion {
    /// Every defined function's entry.
    Fc,
    /// Every pair of a caller and a callee.
    Fcc,
    /// Every statement.
    Stmt,
    /// Every basic block.
    Bbc,
    /// Every branch edge.
    Bc,
    /// Every loop skipped.
    Slo,
    /// Every loop entered.
    Elo,
    /// Every loop entered more than once.
    Mlo,
    /// Every decision true and false.
    Dc,
    /// Every condition true and false.
    Cc,
    /// DC and CC.
    Dcc,
    /// Every combination of all conditions of a decision.
    Mcc,
    /// General active clause coverage.
    Gacc,
    /// General inactive clause coverage.
    Gicc,
    /// Correlated active clause coverage: masking MC/DC.
    Cacc,
    /// Restricted active clause coverage: unique-cause MC/DC.
    Racc,
    /// Restricted inactive clause coverage.
    Ricc,
    /// Short-circuit masking MC/DC by marking functions.
    Mcdc,
    /// Implicant coverage.
    Ic,
    /// Unique true point coverage.
    Utpc,
    /// Pairs of a unique true point and a near false point.
    Cutpnfp,
    /// The values at, just inside and just outside of the border of each relational condition.
    Bva,
    /// Weak mutation.
    Wm,
    /// A partition of each input.
    Idc,
    /// Run-time errors.
    Rte,
    /// Every definition of a variable with one of the uses that it reaches.
    AllDefs,
    /// Every definition with every use that it reaches.
    AllUses,
    /// Every path from a definition to a use that passes no node twice and no other definition, both
    /// being in one function.
    AllDuPaths,
    /// ALL-DEFS with array cells told apart.
    AllDefsCells,
    /// ALL-USES with array cells told apart.
    AllUsesCells,
    /// ALL-DU-PATHS with array cells told apart.
    AllDuPathsCells,
    /// Every pair of edges.
    Epc,
    /// Every prime path.
    Ppc,
    /// For each node one of its prime round trips.
    Srtc,
    /// For each node all of its prime round trips.
    Crtc,
    /// A basis of the complete paths (McCabe).
    Bpc,
    /// Every complete path, loops turned up to a limit.
    Cpc,
    /// The paths that the user lists.
    Spc,
    /// Labels that the user wrote.
    User,
    /// Hyperlabels that the user wrote.
    Htol,
}

impl Criterion {
    /// Whether it asks where control goes, and how conditions decide: objectives of which there are few, most
    /// of them decided by the program's paths. What users ask for themselves is among it.
    pub const fn is_of_control(self) -> bool {
        matches!(
            self,
            Self::Fc
                | Self::Fcc
                | Self::Stmt
                | Self::Bbc
                | Self::Bc
                | Self::Dc
                | Self::Cc
                | Self::Dcc
                | Self::Gacc
                | Self::Cacc
                | Self::Racc
                | Self::Mcdc
                | Self::User
                | Self::Htol
        )
    }

    /// Every criterion with its name, in the order of reports.
    pub const ALL: [(Self, &'static str); 40] = [
        (Self::Fc, "fc"),
        (Self::Fcc, "fcc"),
        (Self::Stmt, "stmt"),
        (Self::Bbc, "bbc"),
        (Self::Bc, "bc"),
        (Self::Slo, "slo"),
        (Self::Elo, "elo"),
        (Self::Mlo, "mlo"),
        (Self::Dc, "dc"),
        (Self::Cc, "cc"),
        (Self::Dcc, "dcc"),
        (Self::Mcc, "mcc"),
        (Self::Gacc, "gacc"),
        (Self::Gicc, "gicc"),
        (Self::Cacc, "cacc"),
        (Self::Racc, "racc"),
        (Self::Ricc, "ricc"),
        (Self::Mcdc, "mcdc"),
        (Self::Ic, "ic"),
        (Self::Utpc, "utpc"),
        (Self::Cutpnfp, "cutpnfp"),
        (Self::Bva, "bva"),
        (Self::Wm, "wm"),
        (Self::Idc, "idc"),
        (Self::Rte, "rte"),
        (Self::AllDefs, "all-defs"),
        (Self::AllUses, "all-uses"),
        (Self::AllDuPaths, "all-du-paths"),
        (Self::AllDefsCells, "all-defs-cells"),
        (Self::AllUsesCells, "all-uses-cells"),
        (Self::AllDuPathsCells, "all-du-paths-cells"),
        (Self::Epc, "epc"),
        (Self::Ppc, "ppc"),
        (Self::Srtc, "srtc"),
        (Self::Crtc, "crtc"),
        (Self::Bpc, "bpc"),
        (Self::Cpc, "cpc"),
        (Self::Spc, "spc"),
        (Self::User, "user"),
        (Self::Htol, "htol"),
    ];

    /// Whether its objectives are hyperlabels, which labels alone cannot express.
    pub const fn is_hyper(self) -> bool {
        matches!(
            self,
            Self::Fcc
                | Self::Slo
                | Self::Mlo
                | Self::Cacc
                | Self::Racc
                | Self::Ricc
                | Self::Mcdc
                | Self::Cutpnfp
                | Self::Htol
                | Self::AllDefs
                | Self::AllUses
                | Self::AllDuPaths
                | Self::AllDefsCells
                | Self::AllUsesCells
                | Self::AllDuPathsCells
                | Self::Epc
                | Self::Ppc
                | Self::Srtc
                | Self::Crtc
                | Self::Bpc
                | Self::Cpc
                | Self::Spc
        )
    }

    /// Whether it asks about statements, decisions, conditions and loops alone, so that an outline of
    /// a function is enough for it, in which no values are computed.
    pub const fn is_of_text(self) -> bool {
        matches!(
            self,
            Self::Fc
                | Self::Stmt
                | Self::Bbc
                | Self::Bc
                | Self::Slo
                | Self::Elo
                | Self::Mlo
                | Self::Dc
                | Self::Cc
                | Self::Dcc
                | Self::Mcc
                | Self::Gacc
                | Self::Gicc
                | Self::Cacc
                | Self::Racc
                | Self::Ricc
                | Self::Mcdc
                | Self::Ic
                | Self::Utpc
                | Self::Cutpnfp
        )
    }

    /// Whether it is about definitions and uses.
    pub const fn is_data_flow(self) -> bool {
        matches!(self, Self::AllDefs | Self::AllUses | Self::AllDuPaths) || self.tells_cells_apart()
    }

    /// Whether it has objectives with a definition in one unit and a use in another.
    pub const fn is_across_units(self) -> bool {
        matches!(self, Self::AllDefs | Self::AllUses | Self::AllDefsCells | Self::AllUsesCells)
    }

    /// Whether it is about definitions and uses of array cells.
    pub const fn tells_cells_apart(self) -> bool {
        matches!(self, Self::AllDefsCells | Self::AllUsesCells | Self::AllDuPathsCells)
    }

    /// Whether its objectives are written by the user in the language of hyperlabels.
    pub const fn is_written(self) -> bool {
        matches!(self, Self::Htol | Self::Spc)
    }

    /// What its objectives are, in a few words.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Fc => "every function is entered",
            Self::Fcc => "every call of every function, by caller and callee",
            Self::Stmt => "every statement",
            Self::Bbc => "every basic block",
            Self::Bc => "every branch: each condition both ways, each case of a switch",
            Self::Slo => "every loop is skipped",
            Self::Elo => "every loop is entered",
            Self::Mlo => "every loop turns more than once",
            Self::Dc => "every decision is true and false",
            Self::Cc => "every condition is true and false",
            Self::Dcc => "every decision and every condition is true and false",
            Self::Mcc => "every combination of the conditions of a decision",
            Self::Gacc => "every condition decides (general active clause coverage)",
            Self::Gicc => "every condition does not decide (general inactive clause coverage)",
            Self::Cacc => "every condition decides, with both outcomes: masking MC/DC",
            Self::Racc => "every condition decides, the others unchanged: unique-cause MC/DC",
            Self::Ricc => "every condition does not decide, the others unchanged",
            Self::Mcdc => "MC/DC as evaluation goes, conditions that it skips masked",
            Self::Ic => "every implicant of a decision and of its negation",
            Self::Utpc => "every unique true point of each implicant",
            Self::Cutpnfp => "unique true points with near false points",
            Self::Bva => "values at, just inside and just outside of each border",
            Self::Wm => "weak mutation: every mutant of an expression differs",
            Self::Idc => "every part of the domain of each input",
            Self::Rte => "every kind of run-time error at each place",
            Self::AllDefs => "every definition with one of its uses",
            Self::AllUses => "every definition with each of its uses",
            Self::AllDuPaths => "every simple path from a definition to a use",
            Self::AllDefsCells => "as all-defs, cells of arrays told apart",
            Self::AllUsesCells => "as all-uses, cells of arrays told apart",
            Self::AllDuPathsCells => "as all-du-paths, cells of arrays told apart",
            Self::Epc => "every pair of edges",
            Self::Ppc => "every prime path",
            Self::Srtc => "one prime round trip of each node",
            Self::Crtc => "all prime round trips of each node",
            Self::Bpc => "a basis of the complete paths (McCabe)",
            Self::Cpc => "every complete path, loops turned up to a limit",
            Self::Spc => "paths that you list (--htol)",
            Self::User => "labels that you wrote into the source",
            Self::Htol => "hyperlabels that you wrote (--htol)",
        }
    }

    /// Its name, as users write it.
    pub fn name(self) -> &'static str {
        let entry = Self::ALL.iter().find(|(criterion, _)| *criterion == self);
        entry.expect("the table has every criterion").1
    }
}

impl fmt::Display for Criterion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is no criterion's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no criterion `{0}`; there are {list}", list = names())]
pub struct UnknownCriterion(pub String);

fn names() -> String {
    Criterion::ALL.map(|(_, name)| name).join(", ")
}

impl FromStr for Criterion {
    type Err = UnknownCriterion;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let lower = text.to_ascii_lowercase();
        let entry = Self::ALL.iter().find(|(_, name)| *name == lower);
        entry.map(|(criterion, _)| *criterion).ok_or_else(|| UnknownCriterion(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_criterion_is_found_by_its_name_in_any_case() {
        for (criterion, name) in Criterion::ALL {
            assert_eq!(name.to_uppercase().parse(), Ok(criterion));
        }
    }

    #[test]
    fn a_name_that_is_no_criterion_is_answered_with_those_that_are() {
        let error = "mcd".parse::<Criterion>().unwrap_err().to_string();
        assert!(error.contains("`mcd`") && error.contains("gacc"), "{error}");
    }
}
