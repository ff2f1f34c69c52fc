//! A function and its mutants, explored together: inputs on which a mutant ends in another way, or the
//! argument that there are none.
//!
//! The program is the text with all mutants as choices ([`lydian_mutate::choices`]). An exploration
//! follows the original, and from the same inputs a mutant ([`SecondRun`]). What comes before the mutated
//! place is shared: the path condition, and all memory that came into being.

use std::path::Path;
use std::time::Duration;

use lydian_base::{Budget, CancelToken};
use lydian_frontend::{ParseRequest, parse_unit};
use lydian_ir::test::Test;
use lydian_ir::{FuncId, Global, GlobalId, Overflow, Program};
use lydian_mutate::mutant::FunctionNotes;
use lydian_mutate::{CHOICE, Choice, Mutant, Operator, Pattern, choices, enumerate};
use lydian_objective::{AcceptedAssumptions, Assumption};
use lydian_report::SuiteTest;
use lydian_report::suite::json;
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, Event as Finding, Limits, SecondRun, Summary, Task};

use crate::error::Error;
use crate::events::Event;
use crate::files;
use crate::project::Project;
use crate::project::flags::rejected;
use crate::project::paths::canonical;
use crate::project::request::ProjectRequest;
use crate::wrapper::mutants::is_program;

/// The most steps of a path: a mutant may never end, and a test of that has to run out of time.
const MOST_STEPS: u64 = 1 << 16;

/// The effort for one mutant.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Effort {
    /// The longest time.
    pub(crate) time: Duration,
    /// The tests after which the exploration ends.
    pub(crate) tests: usize,
}

/// A program that behaves as any of the mutants of a file.
pub(crate) struct ComparedProgram {
    project: Project,
    variable: GlobalId,
    /// The mutants of the file, by number.
    pub(crate) mutants: Vec<Mutant>,
    /// The text of the program.
    _place: tempfile::TempDir,
}

/// What is known of a mutant after an exploration.
pub(crate) struct Comparison {
    /// Inputs on which it should end in another way than the original.
    pub(crate) tests: Vec<Test>,
    pub(crate) verdict: ComparisonVerdict,
}

/// Whether a mutant can be told from the original.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ComparisonVerdict {
    /// Some input tells them apart, as the exploration has it.
    Differs,
    /// No input does, under these assumptions beside those that anybody grants.
    Same(Vec<Assumption>),
    /// It is not known, for this reason.
    Unknown(String),
}

impl ComparedProgram {
    /// The program of a project's file with mutants of some operators; none if it has no mutants.
    ///
    /// # Errors
    /// A text that cannot be read or is not supported.
    pub(crate) fn load(
        project: &Project,
        operators: &[Operator],
        patterns: &[Pattern],
    ) -> Result<Option<Self>, Error> {
        let own = canonical(&project.build.file);
        Self::load_of(project, (operators, patterns), &|name| canonical(Path::new(name)) == own)
    }

    /// The same with mutants of the functions that stand in some files.
    ///
    /// # Errors
    /// A text that cannot be read or is not supported.
    pub(crate) fn load_of(
        project: &Project,
        (operators, patterns): (&[Operator], &[Pattern]),
        is_own: &dyn Fn(&str) -> bool,
    ) -> Result<Option<Self>, Error> {
        let file = &project.build.file;
        let parse = ParseRequest::new(file, project.build.flags.clone());
        let unit = parse_unit(&parse).map_err(rejected)?;
        let read =
            |name: &str| Some(String::from_utf8_lossy(&std::fs::read(name).ok()?).into_owned());
        let mut found = enumerate(&unit, Choice { file: is_own, operators, patterns, read: &read });
        if found.mutants.is_empty() {
            return Ok(None);
        }
        let unwritten = |error: std::io::Error| {
            Error::environment("mutants", format!("a program cannot be written: {error}"))
        };
        let place = files::temporary_folder()?;
        let text = place.path().join("choices.c");
        let functions = project.functions.iter().map(|id| project.name(*id).to_owned());
        let request = ProjectRequest {
            file: text.clone(),
            functions: functions.collect(),
            flags: project.build.flags.for_preprocessing().map(str::to_owned).collect(),
            compile_commands: None,
            ..project.request.clone()
        };
        let silent = |_: Event<'_>| {};
        let compared = loop {
            std::fs::write(&text, choices(&unit.source, &found)).map_err(unwritten)?;
            let error = match Project::load(&request, &silent) {
                Ok(compared) => break compared,
                Err(error) => error,
            };
            // What the compiler refuses is left out, as it is where mutants are run.
            let is_refused = |function: &FunctionNotes| error.is_in(&unit.source, function.span);
            let is_program = |mutant: &Mutant| is_program(&unit, mutant);
            let reason = "the compiler refuses its text with mutants";
            if !found.leave_out(reason, &is_refused, &is_program) {
                return Err(error);
            }
        };
        let is_choice = |(id, global): (GlobalId, &Global)| (global.name == CHOICE).then_some(id);
        let variable = compared.program.globals.iter().find_map(is_choice).ok_or_else(|| {
            Error::source("mutants", format!("{} has no mutants", file.display()))
        })?;
        Ok(Some(Self { project: compared, variable, mutants: found.mutants, _place: place }))
    }

    /// Explores a mutant together with its original. Tests are those of the program `of`.
    pub(crate) fn compare(
        &self,
        mutant: &Mutant,
        of: &Program,
        config: &Config,
        effort: Effort,
        cancel: &CancelToken,
    ) -> Comparison {
        let program = &self.project.program;
        let func = self.project.entry().or_else(|| program.function_named(&mutant.function));
        let Some(func) = func.filter(|func| program.functions[*func].body.is_some()) else {
            return Comparison::unknown("its function is not supported");
        };
        let config = Config {
            second_run: Some(SecondRun::Variable {
                variable: self.variable,
                value: mutant.number.into(),
            }),
            look_ahead: false,
            stop_when_covered: false,
            every_path: false,
            crash_tests: false,
            traces: false,
            learns: false,
            overflow: self.overflow(),
            limits: Limits {
                path_steps: config.limits.path_steps.min(MOST_STEPS),
                ..config.limits.clone()
            },
            ..config.clone()
        };
        // A token of its own, as this exploration ends when it has found enough.
        let own = CancelToken::new();
        let budget = Budget::start(Some(effort.time), own.clone());
        let task = Task {
            program,
            func,
            spec: &self.project.spec,
            objectives: &[],
            known: &[],
            config: &config,
            budget: &budget,
        };
        let mut tests = Vec::new();
        let mut sink = |finding: Finding| {
            if let Finding::Test(found) = finding {
                tests.push(found.test);
            }
            if tests.len() >= effort.tests || cancel.is_cancelled() {
                own.cancel();
            }
        };
        let summary = task.run(&mut *standard_chain(&ChainConfig::default()), &mut sink);
        let verdict = match &summary {
            _ if !tests.is_empty() => ComparisonVerdict::Differs,
            Ok(summary) => self.verdict(func, summary),
            Err(error) => ComparisonVerdict::Unknown(format!("no inputs could be made: {error}")),
        };
        Comparison {
            tests: tests.iter().filter_map(|test| self.test_of(of, test)).collect(),
            verdict,
        }
    }

    /// The meaning of signed overflow in the original: inputs on which it overflows have no defined
    /// behaviour, unless flags say so.
    fn overflow(&self) -> Overflow {
        match self.project.build.flags.wraps_on_overflow() {
            true => Overflow::Wrap,
            false => Overflow::Trap,
        }
    }

    /// The verdict of an exploration without tests.
    fn verdict(&self, func: FuncId, summary: &Summary) -> ComparisonVerdict {
        if let Some(unmet) = summary.unmet.first() {
            return ComparisonVerdict::Unknown(unmet.to_string());
        }
        if summary.runs_differ {
            let why = "it differs on inputs of which no test could be made";
            return ComparisonVerdict::Unknown(why.to_owned());
        }
        if !summary.complete {
            let cut = summary.cuts.keys().next();
            let why =
                cut.map_or_else(|| "not all paths were followed".to_owned(), |cut| cut.to_string());
            return ComparisonVerdict::Unknown(why);
        }
        let (program, granted) = (&self.project.program, AcceptedAssumptions::default());
        let all = summary.assumptions.iter().chain(&summary.bounds);
        let assumed = all.filter(|one| !self.project.spec.states(program, func, one));
        let assumed = assumed.filter(|one| !granted.includes(one));
        ComparisonVerdict::Same(assumed.cloned().collect())
    }

    /// A test as one of another program, whose types have other numbers.
    fn test_of(&self, of: &Program, test: &Test) -> Option<Test> {
        let mut test = test.clone();
        test.globals.retain(|global| global.name != CHOICE);
        let test = SuiteTest::new("test".to_owned(), test);
        let text = json::to_json(&self.project.program, "", &[test]);
        let read = json::from_json(of, "", &text);
        let read = read.inspect_err(|error| log::info!("a test of a mutant is left out: {error}"));
        Some(read.ok()?.pop()?.test)
    }
}

impl Comparison {
    fn unknown(why: &str) -> Self {
        Self { tests: Vec::new(), verdict: ComparisonVerdict::Unknown(why.to_owned()) }
    }
}
