//! Runs of a difference: of the product in the interpreter, and of both versions natively.

use lydian_ir::interp::{End, Location, Options, Outcome, Silent, run};
use lydian_ir::source::Point;
use lydian_ir::stmt::Callee;
use lydian_ir::test::{
    ExternalResult, INPUT_REGION, Image, ImagePointer, PointerTarget, Test, TestObject,
};
use lydian_ir::{CType, FuncId, Program, Stmt, TrapKind};
use lydian_native::{Outcome as NativeOutcome, Run};
use lydian_objective::Criterion;

use super::c_test::CTest;
use super::comparison::Comparison;
use super::driver::{CALLS_DIFFER, Driver, DriverInput, InputOf, Observation};
use super::leaves::leaves;
use super::minimise::minimised;
use super::product::Product;
use super::version_end::{Ends, VersionEnd};
use super::{DiffVerdict, Difference, NamedValue, Observed};
use crate::error::Error;
use crate::events::Event;
use crate::measurement::compiled_program::Measurement;
use crate::measurement::{MeasurementOptions, confinement};
use crate::objectives::ObjectiveRequest;

/// The most steps of a run.
const MOST_STEPS: u64 = 20_000_000;
/// The distance of the buffers of a test, in bytes.
const BETWEEN_BUFFERS: u64 = 1 << 16;

/// A test of a product on which the versions differ, as the interpreter says.
#[derive(Clone, Debug)]
pub(super) struct Finding {
    pub(super) test: Test,
    pub(super) observed: Vec<Observed>,
    /// The positions of what differs among the driver's observations, in the order of `observed`.
    differing: Vec<usize>,
    /// Whether the new version calls undefined functions otherwise.
    calls_differ: bool,
    /// Whether the new version traps.
    traps: bool,
    /// The ends of both versions, if these are what differs.
    pub(super) ends: Option<Ends>,
}

impl Finding {
    /// Runs a test of a product in the interpreter. None if the versions do not differ.
    ///
    /// # Errors
    /// Why the run shows nothing, in words.
    pub(super) fn of(
        product: &Product,
        driver: &Driver,
        test: &Test,
    ) -> Result<Option<Self>, String> {
        let options = Options { max_steps: MOST_STEPS, ..Options::default() };
        let program = &product.program;
        let outcome = run(program, test, &options, &mut Silent)
            .map_err(|error| format!("a difference was found that is no test: {error}"))?;
        if outcome.uninitialised.is_some() {
            return Err("a difference depends on memory that was never written".to_owned());
        }
        match outcome.end {
            End::Returned => Ok(Self::of_values(product, driver, test, &outcome)),
            End::Trapped(kind) if trapping(product, &outcome) == Some(product.new) => {
                let observed = observed_trap(kind);
                let (test, observed) = (test.clone(), vec![observed]);
                Ok(Some(Self {
                    test,
                    observed,
                    differing: Vec::new(),
                    calls_differ: false,
                    traps: true,
                    ends: None,
                }))
            }
            _ => Ok(None),
        }
    }

    fn of_values(
        product: &Product,
        driver: &Driver,
        test: &Test,
        outcome: &Outcome,
    ) -> Option<Self> {
        let types = &product.program.types;
        let bytes = |name: &str| {
            product.program.global_named(name).map_or(&[][..], |global| outcome.global(global))
        };
        let (mut observed, mut differing) = (Vec::new(), Vec::new());
        for (at, observation) in driver.observations.iter().enumerate() {
            let Observation { name, variables, leaf } = observation;
            let value = |variable| leaf.value(types, bytes(variable)).unwrap_or_default();
            let (old, new) = (value(&variables.0), value(&variables.1));
            if old != new {
                observed.push(Observed { what: name.clone(), old, new });
                differing.push(at);
            }
        }
        let count = |name: &str| number(bytes(name));
        let (before, after) = (count("lydian_calls_of_old"), count("lydian_calls_of_new"));
        let calls_differ = count(CALLS_DIFFER) != 0 || before != after;
        if calls_differ {
            let calls = |count: u64| match count {
                1 => "1 call".to_owned(),
                count => format!("{count} calls"),
            };
            let what = "calls of undefined functions".to_owned();
            let (old, new) = match before == after {
                true => ("other arguments or functions".to_owned(), calls(after)),
                false => (calls(before), calls(after)),
            };
            observed.push(Observed { what, old, new });
        }
        let test = test.clone();
        (!observed.is_empty()).then_some(Self {
            test,
            observed,
            differing,
            calls_differ,
            traps: false,
            ends: None,
        })
    }

    /// A test on which the versions end in two ways.
    pub(super) fn of_ends(test: Test, ends: Ends) -> Self {
        let (observed, differing) = (vec![observed_ends(ends)], Vec::new());
        Self { test, observed, differing, calls_differ: false, traps: false, ends: Some(ends) }
    }

    /// The same difference on plain inputs: what differed still does, with any values.
    pub(super) fn minimised(self, product: &Product, driver: &Driver) -> Self {
        let kind = |finding: &Self| {
            let traps = finding.traps.then(|| finding.observed.clone());
            (finding.differing.clone(), finding.calls_differ, traps)
        };
        let own = kind(&self);
        let find = |test: &Test| Self::of(product, driver, test).ok().flatten();
        let mut differs = |test: &Test| find(test).is_some_and(|found| kind(&found) == own);
        let test = minimised(&product.program, self.test.clone(), &mut differs);
        find(&test).unwrap_or(self)
    }
}

/// What is observed of two ends.
fn observed_ends((old, new): Ends) -> Observed {
    let what = "the function".to_owned();
    Observed { what, old: old.to_string(), new: new.to_string() }
}

/// What is observed where the new version traps, on purpose or by undefined behaviour.
fn observed_trap(kind: TrapKind) -> Observed {
    let trapped = VersionEnd::Trapped(kind);
    let new = match kind.is_deliberate() {
        true => trapped.to_string(),
        false => format!("undefined behaviour: {kind}"),
    };
    Observed { new, ..observed_ends((VersionEnd::Returned, trapped)) }
}

/// A little-endian number.
fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// The function that the driver called when a run trapped.
fn trapping(product: &Product, outcome: &Outcome) -> Option<FuncId> {
    let is_driver = |location: &&Location| location.function == product.driver;
    let at = outcome.open_calls.iter().find(is_driver)?;
    let Point::Stmt(stmt) = at.point else { return None };
    let body = product.program.functions[product.driver].body.as_ref()?;
    match body.stmts[stmt] {
        Stmt::Call { callee: Callee::Direct(callee), .. } => Some(callee),
        _ => None,
    }
}

/// Runs both versions natively.
pub(super) struct Native<'a> {
    pub(super) comparison: &'a Comparison<'a>,
    pub(super) driver: &'a Driver,
    pub(super) product: &'a Product,
}

impl Native<'_> {
    /// The verdict on a finding, once the native programs of both versions ran on its inputs.
    pub(super) fn confirmed(
        &self,
        function: &str,
        mut finding: Finding,
    ) -> Result<DiffVerdict, Error> {
        let request = self.comparison.request;
        let old = self.run(&request.old, function, &finding.test)?;
        let new = self.run(&request.new, function, &finding.test)?;
        let (old, new) = match (old, new) {
            (Ok(old), Ok(new)) => (old, new),
            (Err(reason), _) | (_, Err(reason)) => return Ok(DiffVerdict::Unknown { reason }),
        };
        if let Some((of_old, of_new)) = finding.ends
            && !(of_old.is_of(&old.outcome) && of_new.is_of(&new.outcome))
        {
            let reason = "the native programs do not end as the interpreter says".to_owned();
            return Ok(match VersionEnd::Endless {
                // They may take as many steps in the time, or more.
                endless if of_old == endless || of_new == endless => {
                    DiffVerdict::Unknown { reason }
                }
                _ => DiffVerdict::Contradiction { reason },
            });
        }
        let returns = |run: &Run| matches!(run.outcome, NativeOutcome::Returned(_));
        let must_return = !finding.traps && !finding.calls_differ;
        if finding.ends.is_none() && (!returns(&old) || (must_return && !returns(&new))) {
            let reason = "the native programs do not end as the interpreter says".to_owned();
            return Ok(DiffVerdict::Contradiction { reason });
        }
        let differs = |at: &usize| {
            let observation = &self.driver.observations[*at];
            let (a, b) = (self.observed(observation, &old), self.observed(observation, &new));
            // What natively has another form is not compared there.
            a.is_none() || b.is_none() || a != b
        };
        if finding.calls_differ {
            self.keep_shown(&mut finding, (&old, &new));
        } else if !finding.differing.is_empty() && !finding.differing.iter().any(differs) {
            let reason = "the interpreter sees a difference, and the native programs do not";
            return Ok(DiffVerdict::Contradiction { reason: reason.to_owned() });
        }
        let inputs = self.inputs(&finding.test);
        let test = CTest { native: self, function, finding: &finding }.text();
        let observed = finding.observed;
        Ok(DiffVerdict::Differs(Box::new(Difference {
            inputs,
            call: None,
            observed,
            test: Some(test),
        })))
    }

    /// Leaves out values that native runs do not give: behind another call the new version has other
    /// results of undefined functions in the product than natively.
    fn keep_shown(&self, finding: &mut Finding, (old, new): (&Run, &Run)) {
        let mut differing = finding.differing.iter();
        finding.observed.retain(|one| {
            let Some(at) = differing.next() else { return true };
            let observation = &self.driver.observations[*at];
            let gives =
                |run, value: &String| self.observed(observation, run).is_none_or(|it| it == *value);
            gives(old, &one.old) && gives(new, &one.new)
        });
    }

    /// Runs one version. The inner error is why it does not run.
    fn run(
        &self,
        file: &std::path::Path,
        function: &str,
        test: &Test,
    ) -> Result<Result<Run, String>, Error> {
        let silent = |_: Event<'_>| {};
        let project = self.comparison.versions.project(file, function)?;
        let objectives = project.objectives(&ObjectiveRequest::new([Criterion::Fc]), &silent)?;
        let confinement = confinement::confinement(true, self.comparison.observer);
        let options = MeasurementOptions::default();
        let measurement = Measurement::new(&project, &objectives, options, confinement);
        let compiled = measurement.begin();
        let mut runner = measurement.runner(&compiled);
        let Some(own) = self.test_of(&project.program, function, test) else {
            return Ok(Err("the inputs of the difference do not fit a version".to_owned()));
        };
        let [run, _] = runner.observe(&own)?;
        Ok(Ok(run))
    }

    /// The test of the function itself for a test of the driver.
    pub(super) fn test_of(&self, program: &Program, function: &str, test: &Test) -> Option<Test> {
        let id = program.function_named(function)?;
        let CType::Function { params, .. } = program.types.get(program.functions[id].ty) else {
            return None;
        };
        let mut own = Test::calling(function, Vec::new());
        let mut objects = Vec::new();
        let inputs: Vec<&DriverInput> = self.params().collect();
        for (param, input) in params.iter().zip(&inputs) {
            let image = match &input.of {
                InputOf::Argument(at) => test.args.get(*at)?.clone(),
                InputOf::Global(_) => return None,
                InputOf::Buffer { .. } => match self.buffer(input, test) {
                    None => Image { bytes: vec![0; 8], pointers: Vec::new() },
                    Some(variable) => {
                        let known = objects.iter().position(|name| *name == variable);
                        let at = known.unwrap_or(objects.len());
                        if known.is_none() {
                            let pointee = program.types.pointee(*param)?;
                            own.objects.push(self.object(
                                program,
                                (at, pointee),
                                (input, variable),
                                test,
                            ));
                            objects.push(variable);
                        }
                        let target = PointerTarget::Object(at as u32, 0);
                        let pointer = ImagePointer { offset: 0, target };
                        Image { bytes: vec![0; 8], pointers: vec![pointer] }
                    }
                },
            };
            own.args.push(image);
        }
        let is_input = |name: &str| {
            self.driver
                .inputs
                .iter()
                .any(|input| matches!(&input.of, InputOf::Global(own) if own == name))
        };
        own.globals =
            test.globals.iter().filter(|global| is_input(&global.name)).cloned().collect();
        own.externals = self.externals((program, id), test);
        Some(own)
    }

    fn params(&self) -> impl Iterator<Item = &DriverInput> {
        self.driver.inputs.iter().filter(|input| !matches!(input.of, InputOf::Global(_)))
    }

    /// The variable with the contents of what a pointer leads to; none where it is null.
    pub(super) fn buffer<'d>(&'d self, input: &'d DriverInput, test: &Test) -> Option<&'d str> {
        let InputOf::Buffer { variable, null, same } = &input.of else { return None };
        let is_set = |at: usize| test.args.get(at).is_some_and(|arg| number(&arg.bytes) != 0);
        if is_set(*null) {
            return None;
        }
        let earlier = same.filter(|(flag, _)| is_set(*flag)).map(|(_, earlier)| earlier);
        match earlier.map(|earlier| &self.driver.inputs[earlier].of) {
            Some(InputOf::Buffer { variable, null, .. }) if !is_set(*null) => Some(variable),
            _ => Some(variable),
        }
    }

    fn object(
        &self,
        program: &Program,
        (at, pointee): (usize, lydian_ir::CTypeId),
        (input, variable): (&DriverInput, &str),
        test: &Test,
    ) -> TestObject {
        let count = self.driver.elements.unwrap_or(1);
        let size = program.types.size(pointee).unwrap_or(1) * count;
        TestObject {
            name: input.name.clone(),
            address: INPUT_REGION + BETWEEN_BUFFERS * (at as u64 + 1),
            ty: pointee,
            count,
            align: program.types.align(pointee).max(16),
            image: Image { bytes: contents(test, variable, size as usize), pointers: Vec::new() },
            read_only: false,
        }
    }

    /// What the undefined functions that a version calls give, under their own names.
    fn externals(&self, version: (&Program, FuncId), test: &Test) -> Vec<ExternalResult> {
        let (program, function) = version;
        let called = program.entered_from(function);
        let is_called = |name: &str| called.iter().any(|id| program.functions[*id].name == *name);
        let own = test.externals.iter().filter_map(|given| {
            let all = self.driver.externals.iter();
            let mut found = all.filter(|one| one.source.as_ref() == Some(&given.function));
            let name = found.next()?.name.clone();
            is_called(&name).then(|| ExternalResult { function: name, ..given.clone() })
        });
        own.collect()
    }

    /// The value of something after a native run; none where natively it has another form.
    fn observed(&self, observation: &Observation, run: &Run) -> Option<String> {
        let types = &self.product.program.types;
        let Observation { variables, leaf, name } = observation;
        if variables.1 == "lydian_new_result" {
            let NativeOutcome::Returned(bytes) = &run.outcome else { return None };
            return (name != "result's element").then(|| leaf.value(types, bytes)).flatten();
        }
        let mut objects = self.params().filter(|input| matches!(input.of, InputOf::Buffer { .. }));
        let only = objects.next().filter(|_| objects.next().is_none());
        if let Some(InputOf::Buffer { variable, .. }) = only.map(|input| &input.of)
            && *variable == variables.1
        {
            return leaf.value(types, run.objects.first()?);
        }
        let global = run.globals.iter().find(|(name, _)| *name == variables.1)?;
        leaf.value(types, &global.1)
    }

    /// The inputs, as C writes them.
    pub(super) fn inputs(&self, test: &Test) -> Vec<NamedValue> {
        let types = &self.product.program.types;
        let mut all = Vec::new();
        for input in &self.driver.inputs {
            let mut add = |name: String, value: String| all.push(NamedValue { name, value });
            match &input.of {
                InputOf::Argument(at) => {
                    let bytes = test.args.get(*at).map_or(&[][..], |arg| &arg.bytes);
                    for leaf in leaves(types, input.ty).unwrap_or_default() {
                        let value = leaf.value(types, bytes).unwrap_or_default();
                        add(format!("{}{}", input.name, leaf.path), value);
                    }
                }
                InputOf::Global(name) => {
                    let Some(given) = test.globals.iter().find(|given| given.name == *name) else {
                        continue;
                    };
                    for leaf in leaves(types, input.ty).unwrap_or_default() {
                        let value = leaf.value(types, &given.image.bytes).unwrap_or_default();
                        add(format!("{}{}", input.name, leaf.path), value);
                    }
                }
                InputOf::Buffer { variable, .. } => match self.buffer(input, test) {
                    None => add(input.name.clone(), "0".to_owned()),
                    Some(other) if other != variable => {
                        let earlier = self.params().find(|input| {
                            matches!(&input.of, InputOf::Buffer { variable, .. } if variable == other)
                        });
                        let name = earlier.map(|input| input.name.clone()).unwrap_or_default();
                        add(input.name.clone(), name);
                    }
                    Some(variable) => {
                        let mut all = self.elements(input, variable, test);
                        // What is not named is zero.
                        let last = all.iter().rposition(|(_, value)| value != "0");
                        all.truncate(last.unwrap_or(0) + 1);
                        for (path, value) in all {
                            add(format!("{}{path}", input.name), value);
                        }
                    }
                },
            }
        }
        all
    }

    /// The scalars of a buffer, as C writes them.
    pub(super) fn elements(
        &self,
        input: &DriverInput,
        variable: &str,
        test: &Test,
    ) -> Vec<(String, String)> {
        let types = &self.product.program.types;
        let size = types.size(input.ty).unwrap_or(1) as usize;
        let count = self.driver.elements.unwrap_or(1) as usize;
        let bytes = contents(test, variable, size * count);
        let mut all = Vec::new();
        for (element, own) in bytes.chunks(size.max(1)).enumerate() {
            for leaf in leaves(types, input.ty).unwrap_or_default() {
                let value = leaf.value(types, own).unwrap_or_default();
                all.push((format!("[{element}]{}", leaf.path), value));
            }
        }
        all
    }
}

/// The contents of a buffer of a test: zero where it says nothing.
fn contents(test: &Test, variable: &str, size: usize) -> Vec<u8> {
    let given = test.globals.iter().find(|global| global.name == variable);
    let mut bytes = given.map(|global| global.image.bytes.clone()).unwrap_or_default();
    bytes.resize(size, 0);
    bytes
}
