//! Visible names and well-formedness of hyperlabels, by the rules of [002] Figures 3 and 4.

use std::collections::BTreeSet;

use lydian_base::Arena;

use super::{Atom, Formula, Hyper, Passage, Sequence, SequenceId};

/// A rule of well-formedness.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The names in the bindings of a label are distinct.
    Bindings,
    /// The labels of a sequence bind different names.
    Sequence,
    /// The parts of a conjunction make different names visible.
    Conjunction,
    /// The parts of a disjunction make the same names visible.
    Disjunction,
    /// A guard is over names that are visible in its operand.
    Guard,
}

impl std::fmt::Display for Rule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Bindings => "the names that a label binds are distinct",
            Self::Sequence => "the labels of a sequence bind different names",
            Self::Conjunction => "the parts of a conjunction bind different names",
            Self::Disjunction => "the parts of a disjunction bind the same names",
            Self::Guard => "a guard is over names that what it guards always binds",
        })
    }
}

/// A rule that a hyperlabel breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("ill-formed: {rule}; broken by {names:?}")]
pub struct IllFormed {
    /// The rule.
    pub rule: Rule,
    /// The names that break it.
    pub names: Vec<String>,
}

impl Hyper {
    /// `nm(h)`: the names that each covering environment binds.
    ///
    /// # Errors
    /// The first rule of well-formedness that it breaks.
    pub fn visible_names<'h>(
        &'h self,
        sequences: &'h Arena<SequenceId, Sequence>,
    ) -> Result<BTreeSet<&'h str>, IllFormed> {
        match self {
            Self::Atom(atom) => names_of_atom(atom),
            Self::Sequence(id) => names_of_sequence(&sequences[*id]),
            Self::Guard(inner, guard) => {
                let visible = inner.visible_names(sequences)?;
                over(guard, &visible)?;
                Ok(visible)
            }
            Self::All(parts) => {
                let parts = parts.iter().map(|part| part.visible_names(sequences));
                disjoint(parts, Rule::Conjunction)
            }
            Self::Any(parts) => {
                let mut parts = parts.iter().map(|part| part.visible_names(sequences));
                let first = parts.next().transpose()?.unwrap_or_default();
                for part in parts {
                    let different = first.symmetric_difference(&part?).copied().collect();
                    none(different, Rule::Disjunction)?;
                }
                Ok(first)
            }
        }
    }
}

fn names_of_atom(atom: &Atom) -> Result<BTreeSet<&str>, IllFormed> {
    let mut names = BTreeSet::new();
    let again = atom.bindings.iter().map(|b| b.name.as_str()).filter(|name| !names.insert(*name));
    let again: Vec<&str> = again.collect();
    none(again, Rule::Bindings)?;
    Ok(names)
}

fn names_of_sequence(sequence: &Sequence) -> Result<BTreeSet<&str>, IllFormed> {
    let names = disjoint(sequence.atoms.iter().map(names_of_atom), Rule::Sequence)?;
    let mut bound = BTreeSet::new();
    for (atom, passage) in sequence.atoms.iter().zip(&sequence.passages) {
        bound.extend(atom.bindings.iter().map(|binding| binding.name.as_str()));
        if let Passage::Obliged(obligations) = passage.otherwise() {
            obligations.iter().try_for_each(|duty| over(&duty.holds, &bound))?;
        }
    }
    Ok(names)
}

fn disjoint<'h>(
    parts: impl Iterator<Item = Result<BTreeSet<&'h str>, IllFormed>>,
    rule: Rule,
) -> Result<BTreeSet<&'h str>, IllFormed> {
    let mut all = BTreeSet::new();
    for part in parts {
        let part = part?;
        none(all.intersection(&part).copied().collect(), rule)?;
        all.extend(part);
    }
    Ok(all)
}

/// Checks that a formula is over these names.
fn over(formula: &Formula, visible: &BTreeSet<&str>) -> Result<(), IllFormed> {
    let mut unbound = Vec::new();
    formula.for_each_name(&mut |name| {
        if !visible.contains(name) {
            unbound.push(name);
        }
    });
    none(unbound, Rule::Guard)
}

fn none(names: Vec<&str>, rule: Rule) -> Result<(), IllFormed> {
    match names.is_empty() {
        true => Ok(()),
        false => Err(IllFormed { rule, names: names.into_iter().map(str::to_owned).collect() }),
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::EntityId;
    use lydian_ir::{ExprId, FuncId};

    use super::*;
    use crate::hyper::{Binding, BoundValue, FormulaOp};
    use crate::label::LabelId;

    fn atom(names: &[&str]) -> Hyper {
        let value = BoundValue::Expr(ExprId::from_index(0));
        let bind = |name: &&str| Binding { name: (*name).to_owned(), value: value.clone() };
        Hyper::Atom(Atom {
            function: FuncId::from_index(0),
            label: LabelId::from_index(0),
            bindings: names.iter().map(bind).collect(),
        })
    }

    fn broken(hyper: &Hyper) -> Option<(Rule, Vec<String>)> {
        hyper.visible_names(&Arena::new()).err().map(|error| (error.rule, error.names))
    }

    #[test]
    fn each_rule_is_checked() {
        let guard = Formula::binary(FormulaOp::Eq, Formula::name("a"), Formula::name("z"));
        let guarded = Hyper::Guard(Box::new(atom(&["a"])), guard);
        let cases = [
            (atom(&["a", "a"]), Some((Rule::Bindings, "a"))),
            (Hyper::All(vec![atom(&["a"]), atom(&["b", "a"])]), Some((Rule::Conjunction, "a"))),
            (Hyper::Any(vec![atom(&["a"]), atom(&["b"])]), Some((Rule::Disjunction, "a b"))),
            (guarded, Some((Rule::Guard, "z"))),
            (Hyper::All(vec![atom(&["a"]), atom(&["b"])]), None),
            (Hyper::Any(vec![atom(&["a"]), atom(&["a"])]), None),
        ];
        for (hyper, expected) in cases {
            let names = |names: &str| names.split(' ').map(str::to_owned).collect();
            let expected = expected.map(|(rule, list)| (rule, names(list)));
            assert_eq!(broken(&hyper), expected, "{hyper:?}");
        }
    }
}
