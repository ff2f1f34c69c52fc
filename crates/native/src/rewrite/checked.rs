//! A program for another checker: it calls a function exactly where an objective is covered.
//!
//! This is the reduction of objectives to reachability ([001] 4.3, Figure 2). The probes are those of
//! measurement, for one objective alone: what sets a cell of the objective there calls
//! [`GOAL_FUNCTION`] here, and all other cells are left out. A label is a place and a predicate. A
//! sequence has its automaton, which is the paper's `cover_flag` where it is a definition and a use.
//!
//! # Invariant
//! The program has the runs of the user's. So a checker that shows that the function is not called has
//! shown that no run covers the objective.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_base::Arena;
use lydian_ir::{ExprArena, FuncId};
use lydian_objective::hyper::{Atom, Passage, Sequence};
use lydian_objective::{Criterion, FunctionObjectives, LabelEntry, LabelId, SequenceId};

use crate::plan::Plan;
use crate::rewrite::{Purpose, RewriteRequest, RewrittenUnits, rewrite_units};

/// The function that is called where the objective is covered. The caller of [`checked_units`] defines
/// it: `int lydian_goal(void);`.
pub const GOAL_FUNCTION: &str = "lydian_goal";

/// The objective that a program is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CheckedGoal {
    /// A label of a function.
    Label(FuncId, LabelId),
    /// A sequence of a function.
    Sequence(FuncId, SequenceId),
}

/// The text of the cells in rewritten texts.
const CELLS: &str = "lydian_hit";
/// How a cell is set so that the compiler keeps it; it means the same as without.
const KEPT_CELL: &str = "*(volatile __typeof__(lydian_hit[0]) *)&lydian_hit[";
/// The declaration of the cells in all units but the first.
const DECLARATION: &str = "extern unsigned char lydian_hit[];\n";
/// Functions that probes call and a checker does not have.
const RECORDERS: [&str; 3] = ["lydian_row(", "lydian_add(", "lydian_wide("];

/// The texts of all units with calls where the objective is covered.
///
/// # Errors
/// The reason why the text cannot say when the objective is covered.
pub fn checked_units(
    request: &RewriteRequest<'_>,
    goal: CheckedGoal,
) -> Result<Vec<String>, String> {
    let watched = only(goal, request.watched)?;
    let alone = RewriteRequest {
        watched: &watched,
        purpose: Purpose::Tests,
        leaves_out: false,
        counts: false,
        ..*request
    };
    let RewrittenUnits { text, others, plan } = rewrite_units(&alone);
    let own = unmeasured(&plan);
    if let Some(reason) = own {
        return Err(reason);
    }
    let cells = cells_of(&plan, goal);
    if cells.is_empty() {
        return Err("the text has no place for it".to_owned());
    }
    let map = request.map;
    let plain = request.units();
    let mut units = vec![checked(&text, &cells)?];
    for (unit, other) in plain.iter().skip(1).zip(others) {
        units.push(match other {
            Some(text) => checked(&text, &cells)?,
            None => map.slice(*unit).to_owned(),
        });
    }
    Ok(units)
}

/// The objectives of all functions with nothing but the goal, which is the first of its kind.
fn only(goal: CheckedGoal, all: &[FunctionObjectives]) -> Result<Vec<FunctionObjectives>, String> {
    let of = |function: FuncId| all.iter().find(|known| known.function == function);
    let unknown = || "it is about a function that is not measured".to_owned();
    match goal {
        CheckedGoal::Label(function, label) => {
            let known = of(function).ok_or_else(unknown)?;
            Ok(vec![with_label(known, label)])
        }
        CheckedGoal::Sequence(function, id) => {
            let known = of(function).ok_or_else(unknown)?;
            with_sequence(known, id, of).ok_or_else(unknown)
        }
    }
}

/// A function's objectives with one label.
fn with_label(known: &FunctionObjectives, label: LabelId) -> FunctionObjectives {
    let counts = |entries: &Vec<LabelEntry>| entries.iter().any(|entry| entry.label == label);
    let criterion = known.criteria.iter().find(|(_, entries)| counts(entries));
    let criterion = criterion.map_or(Criterion::Dc, |(criterion, _)| *criterion);
    let mut labels = Arena::new();
    let id = labels.push(known.labels[label].clone());
    let entry = LabelEntry { label: id, name: String::new(), duplicate_of: None };
    FunctionObjectives {
        labels,
        criteria: IndexMap::from_iter([(criterion, vec![entry])]),
        ..without_objectives(known)
    }
}

/// The objectives of the functions that a sequence is about, its owner first; none if they are not
/// known.
fn with_sequence<'o>(
    owner: &'o FunctionObjectives,
    id: SequenceId,
    of: impl Fn(FuncId) -> Option<&'o FunctionObjectives>,
) -> Option<Vec<FunctionObjectives>> {
    let mut sequence = owner.sequences[id].clone();
    let mut found = vec![without_objectives(owner)];
    let is_pair = sequence.is_pair();
    for Atom { function, label, .. } in &mut sequence.atoms {
        // A pair is recorded by its definition and use; the labels of other functions say nothing more.
        if is_pair && *function != owner.function {
            continue;
        }
        let known = of(*function)?;
        let place = match found.iter().position(|one| one.function == *function) {
            Some(place) => place,
            None => {
                found.push(without_objectives(known));
                found.len() - 1
            }
        };
        *label = found[place].labels.push(known.labels[*label].clone());
    }
    for function in obliged(&sequence) {
        if found.iter().all(|one| one.function != function) {
            let nothing = || FunctionObjectives::none(function, ExprArena::default());
            found.push(of(function).map_or_else(nothing, without_objectives));
        }
    }
    found[0].sequences.push(sequence);
    Some(found)
}

/// The functions with obligations of a sequence.
fn obliged(sequence: &Sequence) -> BTreeSet<FuncId> {
    let obligations = sequence.passages.iter().flat_map(|passage| match passage.otherwise() {
        Passage::Obliged(all) => all.as_slice(),
        _ => &[],
    });
    obligations.map(|obligation| obligation.function).collect()
}

/// A function without objectives, with the expressions that predicates may have.
fn without_objectives(known: &FunctionObjectives) -> FunctionObjectives {
    FunctionObjectives::none(known.function, known.exprs.clone())
}

/// Why the text does not say when the objective is covered.
fn unmeasured(plan: &Plan) -> Option<String> {
    let labels = plan.unmeasured_labels.iter().chain(&plan.unbound_labels).map(|of| &of.reason);
    let sequences = plan.unmeasured_sequences.iter().map(|of| &of.reason);
    labels.chain(sequences).next().cloned()
}

/// The cells whose setting means that the objective, which is alone, is covered.
fn cells_of(plan: &Plan, goal: CheckedGoal) -> BTreeSet<u32> {
    let cells = plan.cells.iter().zip(0..);
    let own = cells.filter(|(cell, _)| match goal {
        CheckedGoal::Label(..) => !cell.labels.is_empty(),
        CheckedGoal::Sequence(..) => !cell.sequences.is_empty() || !cell.elsewhere.is_empty(),
    });
    own.map(|(_, at)| at).collect()
}

/// A rewritten text with calls in the place of some cells, and nothing in the place of others.
fn checked(text: &str, cells: &BTreeSet<u32>) -> Result<String, String> {
    if RECORDERS.iter().any(|name| text.contains(name)) {
        return Err("it depends on values that only tests record".to_owned());
    }
    let text = text.replace(KEPT_CELL, &format!("{CELLS}[")).replace(DECLARATION, "");
    let mut whole = declarations(cells);
    let mut rest = text.as_str();
    while let Some(at) = rest.find(CELLS) {
        whole.push_str(&rest[..at]);
        let event = CellUse::read(&rest[at + CELLS.len()..]).ok_or("a probe has another form")?;
        whole.push_str(&event.text(cells));
        rest = &rest[at + CELLS.len() + event.length..];
    }
    Ok(whole + rest)
}

/// The declarations before a unit's text.
fn declarations(cells: &BTreeSet<u32>) -> String {
    let mut tests = String::new();
    for (at, cell) in cells.iter().enumerate() {
        let _ = write!(tests, "{}cell == {cell}", if at > 0 { " || " } else { "" });
    }
    format!(
        "# 1 \"<lydian>\"\nint {GOAL_FUNCTION}(void);\n\
         static __inline__ __attribute__((unused)) int {GOAL_FUNCTION}_at(unsigned long cell) \
         {{ if ({tests}) return {GOAL_FUNCTION}(); return 0; }}\n"
    )
}

/// A use of a cell in a rewritten text.
struct CellUse<'t> {
    /// The text of the cell's number.
    index: &'t str,
    is_set: bool,
    /// How long the text behind the name is.
    length: usize,
}

impl<'t> CellUse<'t> {
    /// Reads what stands behind the name of the cells.
    fn read(text: &'t str) -> Option<Self> {
        let inner = text.strip_prefix('[')?;
        let mut depth = 1;
        let end = inner.char_indices().find(|(_, character)| {
            depth += match character {
                '[' => 1,
                ']' => -1,
                _ => 0,
            };
            depth == 0
        });
        let (end, _) = end?;
        let behind = &inner[end + 1..];
        let is_set = behind.starts_with(" = 1");
        let length = 1 + end + 1 + if is_set { " = 1".len() } else { 0 };
        Some(Self { index: &inner[..end], is_set, length })
    }

    fn text(&self, cells: &BTreeSet<u32>) -> String {
        if !self.is_set {
            return "0".to_owned();
        }
        match self.index.parse::<u32>() {
            Ok(cell) if cells.contains(&cell) => format!("{GOAL_FUNCTION}()"),
            Ok(_) => "0".to_owned(),
            Err(_) => format!("{GOAL_FUNCTION}_at({})", self.index),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_of_the_goal_becomes_a_call_and_another_nothing() {
        let text = "f((lydian_hit[3] = 1, x), (lydian_hit[4] = 1, y)); if (!lydian_hit[4]) g();";
        let checked = checked(text, &BTreeSet::from([4])).unwrap();
        let body = checked.lines().last().unwrap();
        assert_eq!(body, "f((0, x), (lydian_goal(), y)); if (!0) g();");
    }

    #[test]
    fn a_computed_cell_is_compared_with_those_of_the_goal() {
        let text = "lydian_hit[2 + !!(t[lydian_u])] = 1; ";
        let checked = checked(text, &BTreeSet::from([3, 5])).unwrap();
        assert!(checked.contains("if (cell == 3 || cell == 5) return lydian_goal();"), "{checked}");
        assert!(checked.ends_with("lydian_goal_at(2 + !!(t[lydian_u])); "), "{checked}");
    }

    #[test]
    fn what_only_tests_record_is_refused() {
        assert!(checked("if (!lydian_row(0, 1, x)) lydian_hit[0] = 1;", &BTreeSet::new()).is_err());
        assert!(checked("f(lydian_hit);", &BTreeSet::new()).is_err());
    }
}
