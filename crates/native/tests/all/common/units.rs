//! All functions of a text through the front end, with their objectives, measured together.

use lydian_frontend::Unit;
use lydian_ir::FuncId;
use lydian_ir::test::Test;
use lydian_native::{MeasuredRun, Measurer};
use lydian_objective::{Annotators, Criterion, FunctionObjectives, Hyper, Request};

use super::whole::{loaded, measurer};

/// The functions of a text with their objectives.
pub(crate) struct WholeUnit {
    _place: tempfile::TempDir,
    pub(crate) unit: Unit,
    pub(crate) objectives: Vec<FunctionObjectives>,
    entry: FuncId,
}

impl WholeUnit {
    /// `watched` says of which functions, by name, there are objectives. Tests call the last one.
    pub(crate) fn of(text: &str, criteria: &[Criterion], watched: impl Fn(&str) -> bool) -> Self {
        let (place, unit) = loaded(text);
        let (entry, _) = unit.program.defined().last().unwrap();
        let request = Request::new(criteria);
        let annotators = Annotators::new(&unit.program, &unit.source, &request);
        let functions = unit.program.defined().filter(|(_, function)| watched(&function.name));
        let objectives = functions.map(|(id, _)| annotators.function(id).unwrap().objectives);
        let objectives = objectives.collect();
        Self { _place: place, unit, objectives, entry }
    }

    fn measurer(&self) -> Measurer<'_> {
        measurer(&self.unit, &self.objectives, &self.entry)
    }

    /// Runs tests; all sequences can be measured.
    pub(crate) fn measured(&self, tests: &[Test]) -> Vec<MeasuredRun> {
        let mut measurer = self.measurer();
        assert_eq!(measurer.plan().unmeasured_sequences, [], "{}", measurer.text());
        measurer.measure(tests).unwrap()
    }

    /// The texts of the objectives of a criterion that the runs cover, and those that they do not.
    pub(crate) fn covers(
        &self,
        criterion: Criterion,
        measured: &[MeasuredRun],
    ) -> [Vec<String>; 2] {
        let mut found = [Vec::new(), Vec::new()];
        for (number, objectives) in self.objectives.iter().enumerate() {
            let seen = |hyper: &Hyper| match hyper {
                Hyper::Sequence(id) => {
                    measured.iter().any(|test| test.sequences[number].contains(id))
                }
                _ => panic!("{hyper:?}"),
            };
            let covers = |hyper: &Hyper| match hyper {
                Hyper::Any(parts) => parts.iter().any(seen),
                _ => seen(hyper),
            };
            for entry in &objectives.hyper_criteria[&criterion] {
                let hyper = &objectives.hypers[entry.hyper];
                found[usize::from(!covers(&hyper.hyper))].push(hyper.text.to_string());
            }
        }
        found
    }
}
