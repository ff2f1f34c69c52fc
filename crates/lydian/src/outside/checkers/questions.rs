//! Questions about the objectives of a project.

use lydian_native::{CheckedGoal, RewriteRequest, checked_units};
use lydian_objective::{FunctionObjectives, UnitFlows};

use super::dialect::{Dialect, QuestionText};
use crate::project::Project;

impl Project {
    /// The program that asks whether a run covers a label or sequence of these objectives. The data flow
    /// is worked out once for all questions.
    ///
    /// # Errors
    /// The reason why the text cannot say when it is covered.
    pub(crate) fn question(
        &self,
        watched: &[FunctionObjectives],
        goal: CheckedGoal,
        flows: &UnitFlows,
        dialect: Dialect,
    ) -> Result<QuestionText, String> {
        let request = RewriteRequest {
            starts: &self.texts.starts,
            flows: Some(flows),
            ..RewriteRequest::for_tests(&self.texts.users, &self.program, watched)
        };
        let units = checked_units(&request, goal)?;
        Ok(QuestionText::new(&self.program, units, dialect))
    }
}
