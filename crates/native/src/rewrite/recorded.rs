//! Which labels of a function are recorded by themselves: those that only sequences name are not.

use lydian_ir::FuncId;
use lydian_objective::hyper::normal::Part;
use lydian_objective::{FunctionObjectives, LabelId};
use rustc_hash::{FxHashMap, FxHashSet};

/// The labels that hyperlabels of other functions name.
#[derive(Debug, Default)]
pub(super) struct Elsewhere {
    /// Those that are atoms of sequences.
    in_sequences: FxHashMap<FuncId, Vec<LabelId>>,
    /// Those that are to be recorded by themselves.
    alone: FxHashMap<FuncId, Vec<LabelId>>,
}

impl Elsewhere {
    pub(super) fn of(all: &[FunctionObjectives]) -> Self {
        let mut this = Self::default();
        for of in all {
            // The labels of pairs are known as shared ones.
            let sequences = of.sequences.values().filter(|sequence| !sequence.is_pair());
            for atom in sequences.flat_map(|sequence| &sequence.atoms) {
                if atom.function != of.function {
                    this.in_sequences.entry(atom.function).or_default().push(atom.label);
                }
            }
            for hyper in of.hypers.values() {
                hyper.hyper.for_each_part(&mut |part| match part {
                    Part::Atom(atom) if atom.function != of.function => {
                        this.alone.entry(atom.function).or_default().push(atom.label);
                    }
                    Part::Atom(_) | Part::Sequence(_) => {}
                });
            }
        }
        this
    }
}

/// The labels that are to be recorded: all but those that are atoms of sequences and no more. The
/// first `shared` ones are atoms of other functions' pairs.
pub(super) fn labels_recorded(
    objectives: &FunctionObjectives,
    elsewhere: &Elsewhere,
    shared: usize,
) -> Vec<LabelId> {
    let in_sequences = objectives.sequences.values().flat_map(|sequence| &sequence.atoms);
    let own = in_sequences.filter(|atom| atom.function == objectives.function);
    let mut left_out: FxHashSet<LabelId> = own.map(|atom| atom.label).collect();
    let of_others = |map: &FxHashMap<FuncId, Vec<LabelId>>| {
        map.get(&objectives.function).cloned().unwrap_or_default()
    };
    left_out.extend(of_others(&elsewhere.in_sequences));
    left_out.extend(objectives.labels.ids().take(shared));
    let counted = objectives.criteria.values().flatten();
    counted.for_each(|entry| _ = left_out.remove(&entry.label));
    for hyper in objectives.hypers.values() {
        hyper.hyper.for_each_part(&mut |part| match part {
            Part::Atom(atom) if atom.function == objectives.function => {
                left_out.remove(&atom.label);
            }
            Part::Atom(_) | Part::Sequence(_) => {}
        });
    }
    of_others(&elsewhere.alone).iter().for_each(|label| _ = left_out.remove(label));
    objectives.labels.ids().filter(|label| !left_out.contains(label)).collect()
}
