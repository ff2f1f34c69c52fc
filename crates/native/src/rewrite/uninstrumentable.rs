//! Labels and sequences that cannot be measured: the plan lists each with the reason, and they do
//! not count as missed.

use lydian_objective::{LabelId, SequenceId};

use crate::plan::{Plan, UnmeasuredLabel, UnmeasuredSequence};

/// The reason for an edit that overlaps another.
pub(crate) const OVERLAP: &str = "its text overlaps that of another place";

/// The reason for a site without a place in the text.
pub(crate) const NO_PLACE: &str = "its place in the text is not known";

/// Adds labels that cannot be measured to the plan, with the reason.
pub(crate) fn add_labels(function: u32, labels: &[LabelId], reason: &str, plan: &mut Plan) {
    let affected = labels.iter().map(|label| UnmeasuredLabel {
        function,
        label: *label,
        reason: reason.to_owned(),
    });
    plan.unmeasured_labels.extend(affected);
}

/// Adds sequences that cannot be measured, each with the position of its function.
pub(crate) fn add_all(all: &[(u32, SequenceId)], reason: &str, plan: &mut Plan) {
    all.iter()
        .for_each(|(function, sequence)| add_sequences(*function, &[*sequence], reason, plan));
}

/// Adds sequences that cannot be measured to the plan, with the reason.
pub(crate) fn add_sequences(
    function: u32,
    sequences: &[SequenceId],
    reason: &str,
    plan: &mut Plan,
) {
    let affected = sequences.iter().map(|sequence| UnmeasuredSequence {
        function,
        sequence: *sequence,
        reason: reason.to_owned(),
    });
    plan.unmeasured_sequences.extend(affected);
}
