//! Possible targets of pointers of the inputs that are not followed.

use lydian_objective::{Assumption, AssumptionKind};

use crate::machine::Machine;
use crate::machine::state::Notes;

impl<N: Notes> Machine<'_, '_, N> {
    /// Notes the assumption where a pointer of the inputs has more possible targets than were
    /// tried.
    pub(crate) fn note_left_out_targets(&mut self) {
        if self.context.inputs.leaves_targets_out() {
            let sentence =
                "pointers lead to no more than the first variables and functions of a type";
            self.bounds.assume(Assumption::new(AssumptionKind::Alias, "", sentence));
        }
    }
}
