//! One function of a text through the front end, with its objectives, measured.

use lydian_base::Diagnostic;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load};
use lydian_ir::FuncId;
use lydian_ir::test::{Image, Test};
use lydian_native::{Limits, MeasureRequest, MeasuredRun, Measurer, Optimization, RewriteRequest};
use lydian_objective::annotate::{Request, annotate};
use lydian_objective::{Criterion, FunctionObjectives, Hyper, LabelId, SequenceId};

/// The last function of a text with its objectives.
pub(crate) struct Measuring {
    _place: tempfile::TempDir,
    pub(crate) unit: Unit,
    pub(crate) objectives: FunctionObjectives,
    pub(crate) function: FuncId,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// A call with these arguments.
pub(crate) fn run_of(function: &str, args: &[i32]) -> Test {
    let image = |value: &i32| Image { bytes: value.to_le_bytes().into(), pointers: vec![] };
    Test::calling(function, args.iter().map(image).collect())
}

/// A text through the front end, in a folder of its own.
pub(crate) fn loaded(text: &str) -> (tempfile::TempDir, Unit) {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("unit.c");
    std::fs::write(&file, text).unwrap();
    let flags = CompileFlags::new(&[], &file).unwrap();
    let unit = load(&LoadRequest::new(ParseRequest::new(&file, flags))).unwrap();
    (place, unit)
}

/// What runs tests of `entry` and measures the `watched` functions.
pub(crate) fn measurer<'a>(
    unit: &'a Unit,
    watched: &'a [FunctionObjectives],
    entry: &'a FuncId,
) -> Measurer<'a> {
    let request = MeasureRequest {
        rewrite: RewriteRequest::for_tests(&unit.source, &unit.program, watched),
        companions: &[],
        flags: &[],
        entries: std::slice::from_ref(entry),
        modelled: &|_| false,
        level: Optimization::Some,
        compiler: "clang-19",
    };
    Measurer::new(request, Limits::default()).unwrap_or_else(|error| panic!("{error}"))
}

impl Measuring {
    pub(crate) fn of(text: &str, criteria: &[Criterion]) -> Self {
        let (place, unit) = loaded(text);
        let (function, _) = unit.program.defined().last().unwrap();
        let request = Request::new(criteria);
        let annotation = annotate(&unit.program, &unit.source, function, &request).unwrap();
        let (objectives, diagnostics) = (annotation.objectives, annotation.diagnostics);
        Self { _place: place, unit, objectives, function, diagnostics }
    }

    pub(crate) fn measurer(&self) -> Measurer<'_> {
        measurer(&self.unit, std::slice::from_ref(&self.objectives), &self.function)
    }

    /// Why sequences cannot be measured.
    pub(crate) fn unmeasured(&self) -> Vec<String> {
        let measurer = self.measurer();
        measurer
            .plan()
            .unmeasured_sequences
            .iter()
            .map(|sequence| sequence.reason.clone())
            .collect()
    }

    /// Runs tests; all sequences can be measured.
    pub(crate) fn measured(&self, tests: &[Test]) -> Vec<MeasuredRun> {
        let mut measurer = self.measurer();
        assert_eq!(measurer.plan().unmeasured_sequences, []);
        measurer.measure(tests).unwrap()
    }

    /// The texts of the objectives of a criterion that the runs cover, and those that they do not.
    pub(crate) fn covers(
        &self,
        criterion: Criterion,
        runs: &[&[i32]],
    ) -> (Vec<String>, Vec<String>) {
        let name = &self.unit.program.functions[self.function].name;
        let tests: Vec<Test> = runs.iter().map(|args| run_of(name, args)).collect();
        let measured = self.measured(&tests);
        let seen = |id: &SequenceId| measured.iter().any(|test| test.sequences[0].contains(id));
        let label = |id: &LabelId| measured.iter().any(|test| test.covered[0].contains(id));
        let covers_part = |hyper: &Hyper| match hyper {
            Hyper::Sequence(id) => seen(id),
            Hyper::Atom(atom) => label(&atom.label),
            _ => panic!("{hyper:?}"),
        };
        let covers = |hyper: &Hyper| match hyper {
            Hyper::Any(parts) => parts.iter().any(covers_part),
            _ => covers_part(hyper),
        };
        let text = |hyper| self.objectives.hypers[hyper].text.to_string();
        let entries = self.objectives.hyper_criteria[&criterion].iter().map(|entry| entry.hyper);
        let (covered, open): (Vec<_>, Vec<_>) =
            entries.partition(|hyper| covers(&self.objectives.hypers[*hyper].hyper));
        (covered.into_iter().map(text).collect(), open.into_iter().map(text).collect())
    }
}
