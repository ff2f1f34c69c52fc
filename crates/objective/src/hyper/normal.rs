//! The disjunctive normal form of hyperlabels ([002] Figure 6).
//!
//! A hyperlabel becomes a disjunction of guarded conjunctions over labels and sequences that is
//! covered by the same runs in the same environments. Its size may be exponential: a conjunction of
//! disjunctions has the product of their sizes. So there is a limit, and consolidation makes the
//! normal form only below a guard. Parts outside of guards are judged separately.

use super::{Atom, Formula, Hyper, SequenceId};

/// A label with bindings, or a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part<'h> {
    /// A label.
    Atom(&'h Atom),
    /// A sequence.
    Sequence(SequenceId),
}

/// `< ls1 . ls2 ... | ψ1 && ψ2 ... >`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GuardedConjunction<'h> {
    /// The parts that must be covered.
    pub parts: Vec<Part<'h>>,
    /// The guards, all of which the bound values must satisfy.
    pub guards: Vec<&'h Formula>,
}

/// A normal form would be larger than allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("its normal form has more than {0} conjunctions")]
pub struct TooManyConjunctions(pub usize);

impl Hyper {
    /// The normal form, in the order of the hyperlabel's parts.
    ///
    /// # Errors
    /// If it has more than `limit` conjunctions.
    pub fn normal_form(
        &self,
        limit: usize,
    ) -> Result<Vec<GuardedConjunction<'_>>, TooManyConjunctions> {
        let single = |part| vec![GuardedConjunction { parts: vec![part], guards: Vec::new() }];
        match self {
            Self::Atom(atom) => Ok(single(Part::Atom(atom))),
            Self::Sequence(id) => Ok(single(Part::Sequence(*id))),
            Self::Guard(inner, formula) => {
                let mut form = inner.normal_form(limit)?;
                form.iter_mut().for_each(|conjunction| conjunction.guards.push(formula));
                Ok(form)
            }
            Self::Any(parts) => {
                let mut form = Vec::new();
                for part in parts {
                    form.extend(part.normal_form(limit)?);
                    within(form.len(), limit)?;
                }
                Ok(form)
            }
            Self::All(parts) => {
                let mut form = vec![GuardedConjunction::default()];
                for part in parts {
                    let right = part.normal_form(limit)?;
                    within(form.len().saturating_mul(right.len()), limit)?;
                    let pairs = form.iter().flat_map(|l| right.iter().map(move |r| l.with(r)));
                    form = pairs.collect();
                }
                Ok(form)
            }
        }
    }
}

const fn within(count: usize, limit: usize) -> Result<(), TooManyConjunctions> {
    if count > limit { Err(TooManyConjunctions(limit)) } else { Ok(()) }
}

impl GuardedConjunction<'_> {
    fn with(&self, other: &Self) -> Self {
        let parts = self.parts.iter().chain(&other.parts).copied().collect();
        let guards = self.guards.iter().chain(&other.guards).copied().collect();
        Self { parts, guards }
    }

    /// As a hyperlabel.
    pub fn to_hyper(&self) -> Hyper {
        let part = |part: &Part<'_>| match part {
            Part::Atom(atom) => Hyper::Atom((*atom).clone()),
            Part::Sequence(id) => Hyper::Sequence(*id),
        };
        let all = Hyper::All(self.parts.iter().map(part).collect());
        self.guards.iter().fold(all, |hyper, guard| Hyper::Guard(Box::new(hyper), (*guard).clone()))
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::EntityId;

    use super::*;

    fn sequence(index: usize) -> Hyper {
        Hyper::Sequence(SequenceId::from_index(index))
    }

    fn any(from: usize) -> Hyper {
        Hyper::Any(vec![sequence(from), sequence(from + 1)])
    }

    #[test]
    fn conjunctions_are_distributed_and_guards_gathered() {
        let inner = Hyper::Guard(Box::new(any(0)), Formula::Number(1));
        let hyper =
            Hyper::Guard(Box::new(Hyper::All(vec![inner, sequence(2)])), Formula::Number(2));
        let form = hyper.normal_form(10).expect("two conjunctions");
        let shown: Vec<_> = form.iter().map(|c| format!("{:?} {:?}", c.parts, c.guards)).collect();
        assert_eq!(
            shown,
            [
                "[Sequence(s0), Sequence(s2)] [Number(1), Number(2)]",
                "[Sequence(s1), Sequence(s2)] [Number(1), Number(2)]"
            ]
        );
    }

    #[test]
    fn a_form_that_would_blow_up_is_refused() {
        let hyper = Hyper::All((0..64).map(|index| any(2 * index)).collect());
        assert_eq!(hyper.normal_form(4096), Err(TooManyConjunctions(4096)));
    }
}
