//! The invariants of a proof as text.

use std::fmt;

use lydian_base::{Place, SourceMap};
use lydian_prove::encode::Encoded;
use lydian_prove::readable;
use lydian_smt::{Term, TermPool};
use serde::{Deserialize, Serialize};

/// The invariants of a loop's head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PointInvariants {
    /// The function.
    pub function: String,
    /// The place of the head.
    pub place: Option<Place>,
    /// The invariants, as text.
    pub formulas: Vec<String>,
}

impl fmt::Display for PointInvariants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "always in {}", self.function)?;
        if let Some(place) = &self.place {
            write!(f, " at {place}")?;
        }
        write!(f, ": {}", self.formulas.join(", "))
    }
}

impl PointInvariants {
    /// The invariants of each point that has some. They are given as a certificate has them.
    pub(crate) fn of(
        pool: &TermPool,
        encoded: &Encoded,
        of_points: &[Vec<Term>],
        texts: &SourceMap,
    ) -> Vec<Self> {
        Self::shown_by(&mut |one| readable::formula(pool, one), encoded, of_points, texts)
    }

    /// The same with formulas that something else shows.
    pub(crate) fn shown_by(
        show: &mut dyn FnMut(Term) -> String,
        encoded: &Encoded,
        of_points: &[Vec<Term>],
        texts: &SourceMap,
    ) -> Vec<Self> {
        let points = encoded.system.points.values().zip(of_points);
        let known = points.filter(|(_, formulas)| !formulas.is_empty());
        known
            .map(|(point, formulas)| Self {
                function: point.name.split(':').next().unwrap_or_default().to_owned(),
                place: (!point.span.is_none()).then(|| texts.place(point.span.start)),
                formulas: formulas.iter().map(|one| show(*one)).collect(),
            })
            .collect()
    }
}
