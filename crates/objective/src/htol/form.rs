//! Well-formed hyperlabels, and the names that they make visible ([002] Figures 3 and 4).
//!
//! A name is visible in a hyperlabel if each environment that covers the hyperlabel binds the name.
//! By the rules no name is bound twice in one environment, the alternatives of a disjunction bind the
//! same names, and guards and passages use bound names only.

use std::collections::{BTreeMap, BTreeSet};

use super::error::HtolError;
use super::syntax::{Extent, LabelRef, LabelTree, Named, SequenceTree, Term, Tree, TreeKind};
use crate::hyper::form::Rule;

/// Gives the names that are visible in the label or objective of a name; `None` if the name is not
/// defined.
pub type NameLookup<'k> = dyn Fn(&Named) -> Option<BTreeSet<String>> + 'k;

/// Checks a hyperlabel and returns its visible names, `nm(h)`. `known` gives those of named labels
/// and objectives; an unknown one is taken to bind nothing.
///
/// # Errors
/// The first rule that is broken, with the names and the place.
pub fn visible_names(tree: &Tree, known: &NameLookup<'_>) -> Result<BTreeSet<String>, HtolError> {
    match &tree.kind {
        TreeKind::Label(label) => names_of_label(label, known),
        TreeKind::Sequence(sequence) => names_of_sequence(sequence, known),
        TreeKind::Guard(inner, guard) => {
            let visible = visible_names(inner, known)?;
            over(guard, &visible)?;
            Ok(visible)
        }
        TreeKind::All(parts) => {
            let parts = parts.iter().map(|part| Ok((visible_names(part, known)?, &part.at)));
            disjoint(parts, Rule::Conjunction)
        }
        TreeKind::Any(parts) => alike(parts, known),
    }
}

pub(super) fn names_of_label(
    label: &LabelTree,
    known: &NameLookup<'_>,
) -> Result<BTreeSet<String>, HtolError> {
    let own = match &label.label {
        LabelRef::Named(name) => known(name).unwrap_or_default(),
        LabelRef::At(..) => BTreeSet::new(),
    };
    let mut names = own;
    for (name, _) in &label.bindings {
        if !names.insert(name.text.clone()) {
            return Err(ill_formed(Rule::Bindings, [name.text.clone()], &name.at));
        }
    }
    Ok(names)
}

fn names_of_sequence(
    sequence: &SequenceTree,
    known: &NameLookup<'_>,
) -> Result<BTreeSet<String>, HtolError> {
    let labels = sequence.labels.iter();
    disjoint(labels.map(|label| Ok((names_of_label(label, known)?, &label.at))), Rule::Sequence)
}

/// The union of the parts' names, no two of which may share one.
fn disjoint<'t>(
    parts: impl Iterator<Item = Result<(BTreeSet<String>, &'t Extent), HtolError>>,
    rule: Rule,
) -> Result<BTreeSet<String>, HtolError> {
    let mut all = BTreeSet::new();
    for part in parts {
        let (names, at) = part?;
        let shared: Vec<String> = all.intersection(&names).cloned().collect();
        if !shared.is_empty() {
            return Err(ill_formed(rule, shared, at));
        }
        all.extend(names);
    }
    Ok(all)
}

fn alike(parts: &[Tree], known: &NameLookup<'_>) -> Result<BTreeSet<String>, HtolError> {
    let mut first: Option<BTreeSet<String>> = None;
    for part in parts {
        let names = visible_names(part, known)?;
        if let Some(expected) = &first {
            let different: Vec<String> = expected.symmetric_difference(&names).cloned().collect();
            if !different.is_empty() {
                return Err(ill_formed(Rule::Disjunction, different, &part.at));
            }
        }
        first.get_or_insert(names);
    }
    Ok(first.unwrap_or_default())
}

/// Checks that a formula is over these names.
fn over(term: &Term, visible: &BTreeSet<String>) -> Result<(), HtolError> {
    let mut unbound: BTreeMap<&str, &Extent> = BTreeMap::new();
    term.for_each_name(&mut |name, at| {
        if !visible.contains(name) {
            unbound.entry(name).or_insert(at);
        }
    });
    let Some(at) = unbound.values().min_by_key(|at| at.0.start) else { return Ok(()) };
    Err(ill_formed(Rule::Guard, unbound.keys().map(|name| (*name).to_owned()), at))
}

fn ill_formed(rule: Rule, names: impl IntoIterator<Item = String>, at: &Extent) -> HtolError {
    HtolError::IllFormed { rule, names: names.into_iter().collect(), at: at.0.clone() }
}
