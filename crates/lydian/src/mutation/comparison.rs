//! A function and its mutants, explored together: inputs on which a mutant ends in another way, or the
//! argument that there are none.
//!
//! The program is the text with all mutants as choices ([`lydian_mutate::choices`]). An exploration
//! follows the original, and from the same inputs a mutant ([`SecondRun`]). What comes before the mutated
//! place is shared: the path condition, and all memory that came into being.

use std::collections::BTreeSet;
use std::path::Path;

use lydian_base::CancelToken;
use lydian_frontend::{ParseRequest, parse_unit};
use lydian_ir::test::Test;
use lydian_ir::{Global, GlobalId, Program};
use lydian_mutate::mutant::FunctionNotes;
use lydian_mutate::{CHOICE, Choice, Mutant, Operator, Pattern, choices, enumerate};
use lydian_symex::{Config, SecondRun};

use crate::changes::second_runs::{Comparison, Effort, TwoRuns, as_test_of};
use crate::error::Error;
use crate::events::Event;
use crate::files;
use crate::project::Project;
use crate::project::flags::rejected;
use crate::project::paths::canonical;
use crate::project::request::{ProjectRequest, WholeProgramRequest};
use crate::wrapper::mutants::is_program;

/// A program that behaves as any of the mutants of a file.
pub(crate) struct ComparedProgram {
    project: Project,
    variable: GlobalId,
    /// The mutants of the file, by number.
    pub(crate) mutants: Vec<Mutant>,
    /// The functions whose mutants are in the program.
    functions: BTreeSet<String>,
    /// The text of the program.
    _place: tempfile::TempDir,
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
        let is_own = |name: &str| canonical(Path::new(name)) == own;
        Self::load_of(project, (operators, patterns), &is_own, &|_| true)
    }

    /// The same with mutants of some functions, of those that stand in some files. A text with thousands of
    /// mutants takes minutes to load.
    ///
    /// # Errors
    /// A text that cannot be read or is not supported.
    pub(crate) fn load_of(
        project: &Project,
        (operators, patterns): (&[Operator], &[Pattern]),
        is_own: &dyn Fn(&str) -> bool,
        is_asked: &dyn Fn(&FunctionNotes) -> bool,
    ) -> Result<Option<Self>, Error> {
        let file = &project.build.file;
        let parse = ParseRequest::new(file, project.build.flags.clone());
        let unit = parse_unit(&parse).map_err(rejected)?;
        let read =
            |name: &str| Some(String::from_utf8_lossy(&std::fs::read(name).ok()?).into_owned());
        let mut found = enumerate(&unit, Choice { file: is_own, operators, patterns, read: &read });
        found.keep_functions(is_asked);
        if found.functions().is_empty() {
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
            // It is tested as a whole where the project is, though functions are named.
            program: project
                .request
                .program
                .map(|of| WholeProgramRequest { always: project.entry().is_some(), ..of }),
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
        let functions = found.functions().into_iter().map(|function| function.name).collect();
        let mutants = found.mutants;
        Ok(Some(Self { project: compared, variable, mutants, functions, _place: place }))
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
        if !self.functions.contains(&mutant.function) {
            return Comparison::unknown(
                "its function has no mutants in the program that is explored",
            );
        }
        let func = self.project.entry().or_else(|| program.function_named(&mutant.function));
        let Some(func) = func.filter(|func| program.functions[*func].body.is_some()) else {
            return Comparison::unknown("its function is not supported");
        };
        let second = SecondRun::Variable { variable: self.variable, value: mutant.number.into() };
        let runs = TwoRuns {
            program,
            func,
            spec: &self.project.spec,
            second,
            // Inputs on which the original overflows have no defined behaviour, unless flags say so.
            wraps: self.project.build.flags.wraps_on_overflow(),
            config,
        };
        let mut found = runs.compare(effort, cancel);
        let tests = std::mem::take(&mut found.tests).into_iter();
        found.tests = tests.filter_map(|test| self.test_of(of, test)).collect();
        found
    }

    /// A test as one of another program.
    fn test_of(&self, of: &Program, mut test: Test) -> Option<Test> {
        test.globals.retain(|global| global.name != CHOICE);
        as_test_of(of, &self.project.program, test)
    }
}
