//! The folder of tests: the suite in its forms, with observed behaviour.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use lydian_base::Diagnostic;
use lydian_base::macros::definition;
use lydian_frontend::preprocess::{SELF_RUNNING, SelfRunningAttributes};
use lydian_ir::Program;
use lydian_ir::test::{ExternalResult, Test};
use lydian_native::{Build, MeasuredRun, Run};
use lydian_report::suite::c::frameworks::Framework;
use lydian_report::suite::registers::Registers;
use lydian_report::suite::{self, ktest, names, testcomp};
use lydian_report::{OnDemand, SuiteTest};

use crate::error::Error;
use crate::events::{Observer, tell};
use crate::files;
use crate::measurement::test_runner::TestRunner;
use crate::project::Project;

pub(crate) use observed::ObservedTest;

mod device_warnings;
mod observed;
pub(crate) mod ownership;

/// The suite as JSON, in a folder of tests.
pub(crate) const JSON: &str = "tests.json";
/// The suite as a zip file of the Competition on Software Testing, in a folder of tests.
const TESTCOMP: &str = "testcomp.zip";
/// The folder of the suite's tests in KLEE's form, in a folder of tests.
const KTEST: &str = "ktest";
/// The suite as one C file, in a folder of tests.
pub(crate) const C: &str = "tests.c";
/// The source as it was tested, where that is not what the user wrote.
const COMPILED: &str = "tests_source.c";

/// A form for other tools, beside Lydian's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteFormat {
    /// The zip file of the Competition on Software Testing.
    Testcomp,
    /// KLEE's files.
    Ktest,
    /// A file for a test framework.
    Framework(Framework),
}

/// A test that does not end well.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingTest {
    /// Its name.
    pub name: String,
    /// Its ending, and where it ended if that is known.
    pub ending: String,
}

/// A test with its measurement and its purpose.
pub(crate) struct KeptTest {
    /// Its name, unless another test has it.
    pub(crate) name: String,
    pub(crate) test: Test,
    pub(crate) measured: MeasuredRun,
    pub(crate) observed: ObservedTest,
    pub(crate) covers: Vec<String>,
    /// Its purpose in terms of the source text.
    pub(crate) kept_for: Vec<String>,
    /// The file and line where it fails, if it does and this is known.
    pub(crate) fails_at: Option<String>,
}

/// Why the suite as C has a test with such a run behind a macro; none if it runs by default.
pub(crate) fn on_demand(run: &Run, is_undefined: impl FnOnce() -> bool) -> Option<OnDemand> {
    if !run.outcome.is_regular() {
        return Some(OnDemand::Crashing);
    }
    if !run.attempts.is_empty() {
        return Some(OnDemand::Unconfined);
    }
    is_undefined().then_some(OnDemand::Undefined)
}

impl KeptTest {
    /// Why the suite as C has it behind a macro; none if it runs by default.
    pub(crate) fn on_demand(&self) -> Option<OnDemand> {
        on_demand(&self.measured.run, || self.observed.observation.is_undefined)
    }

    /// A test that asserts what the program does; none if a run of it does not end well, or not in a
    /// defined way.
    pub(crate) fn with_assertions(
        runner: &mut TestRunner<'_>,
        test: Test,
        name: String,
    ) -> Result<Option<Self>, Error> {
        let measured = match runner.measure(&test)? {
            Ok(measured) if measured.run.outcome.is_orderly() => measured,
            Ok(_) => return Ok(None),
            Err(misfit) => {
                log::info!("a test `{name}` is left out: {misfit}");
                return Ok(None);
            }
        };
        let observed = ObservedTest::of(runner, &test, &measured)?;
        if !observed.has_memory {
            return Ok(None);
        }
        let (covers, kept_for) = (Vec::new(), Vec::new());
        Ok(Some(Self { name, test, measured, observed, covers, kept_for, fails_at: None }))
    }
}

/// Collects the tests of all functions.
#[derive(Clone, Default)]
pub(crate) struct Suite {
    pub(crate) tests: Vec<SuiteTest>,
    pub(crate) names: BTreeSet<String>,
    /// Whether each test is a function of its own in C.
    pub(crate) apart: bool,
}

impl Suite {
    /// Adds tests. Returns those that do not end well, because they show faults of the program under
    /// test, and the names of all.
    pub(crate) fn add(
        &mut self,
        program: &Program,
        tests: Vec<KeptTest>,
    ) -> (Vec<FailingTest>, Vec<String>) {
        let (mut faults, mut names) = (Vec::new(), Vec::new());
        for kept in tests {
            let same = |known: &&SuiteTest| known.keep && known.test == kept.test;
            if let Some(known) = self.tests.iter().find(same) {
                names.push(known.name.clone());
                continue;
            }
            let outcome = &kept.measured.run.outcome;
            let ends_well = outcome.is_orderly();
            let name = if ends_well { kept.name.clone() } else { format!("{}_fails", kept.name) };
            let name = names::unique(&name, &mut self.names);
            if !ends_well {
                let at = kept.fails_at.map(|place| format!(" at {place}"));
                let ending = format!("{outcome}{}", at.unwrap_or_default());
                faults.push(FailingTest { name: name.clone(), ending });
            }
            names.push(name.clone());
            let ObservedTest { observation, no_variables, .. } = kept.observed;
            let mut test = kept.test;
            // The environment of the suite may have them.
            let target = program.types.target;
            let no_variables = no_variables.iter();
            let no_variables = no_variables.map(|name| ExternalResult::no_variable(name, target));
            test.externals.extend(no_variables);
            self.tests.push(SuiteTest {
                name,
                observed: Some(observation),
                test,
                covers: kept.covers,
                kept_for: kept.kept_for,
                keep: false,
                thorough: false,
            });
        }
        (faults, names)
    }

    /// Adds the tests of an earlier suite in the folder that its user wants to stay, under their names.
    pub(crate) fn add_kept(&mut self, folder: &Path, project: &Project, observer: &dyn Observer) {
        let path = folder.join(JSON);
        let Ok(text) = std::fs::read_to_string(&path) else { return };
        let kept =
            match suite::json::from_json(&project.program, &path.display().to_string(), &text) {
                Ok(tests) => tests.into_iter().filter(|test| test.keep),
                Err(error) => {
                    let message = format!("no test of it stays: {error}");
                    return tell(observer, &[Diagnostic::warning("tests", message)]);
                }
            };
        for test in kept {
            self.names.insert(test.name.clone());
            self.tests.push(test);
        }
    }

    /// The names of the files of a suite in these forms.
    pub(crate) fn files(formats: &[SuiteFormat]) -> Vec<&'static str> {
        let frameworks = formats.iter().filter_map(|format| format.framework());
        let own = [JSON, C, suite::c::HEADER.0, suite::c::DEVICES, COMPILED];
        own.into_iter().chain(frameworks.map(Framework::file)).collect()
    }

    /// Writes the forms for other tools into the folder. Returns the files of Lydian's own forms and of
    /// test frameworks. `build` has the names that the program leaves undefined.
    pub(crate) fn write(
        &self,
        folder: &Path,
        source: &Path,
        project: &Project,
        build: &Build,
        formats: &[SuiteFormat],
        observer: &dyn Observer,
    ) -> Result<Vec<(PathBuf, String)>, Error> {
        let path = std::path::absolute(source).unwrap_or_else(|_| source.to_owned());
        let source = path.display().to_string();
        for format in formats {
            match format {
                SuiteFormat::Testcomp => self.write_testcomp(folder, &path, (project, observer))?,
                SuiteFormat::Ktest => self.write_ktest(folder, &source, (project, observer))?,
                SuiteFormat::Framework(_) => {}
            }
        }
        let json = suite::json::to_json(&project.program, &source, &self.tests);
        let mut files = vec![(folder.join(JSON), json)];
        let source = files::relative(folder, &path);
        // What the assembler of this machine refuses is not in the program that was tested.
        let compiled = project.without_foreign_assembly();
        let include = compiled.as_ref().map_or_else(|| source.clone(), |_| COMPILED.to_owned());
        let stubs = project.build.stubs.iter().map(|stub| files::relative(folder, Path::new(stub)));
        let stubs: Vec<String> = stubs.collect();
        let mut stubs: Vec<&str> = stubs.iter().map(String::as_str).collect();
        let mut driver = project.whole.as_ref().map_or("", |whole| &whole.driver);
        if compiled.is_some() {
            // They are in that text.
            (stubs, driver) = (Vec::new(), "");
        }
        let externals: Vec<String> = build.externals().map(str::to_owned).collect();
        let macros = macros(project);
        let registers = registers(project, &self.tests, &macros);
        tell(observer, &device_warnings::of(project, &self.tests));
        let options = suite::c::Options {
            source: &source,
            include: &include,
            before: &without_self_running(project.build.self_running),
            stubs: &stubs,
            driver,
            externals: &externals,
            left_out: &project.left_out,
            macros: &macros,
            registers: &registers,
            library: &|name| build.library().contains(name),
            apart: self.apart,
            framework: None,
        };
        let emitted = suite::c::emit(&project.program, &self.tests, &options);
        let left_out: Vec<Diagnostic> = emitted
            .left_out
            .iter()
            .map(|(test, reason)| {
                Diagnostic::warning("not-in-c", format!("{C} has no test `{test}`: {reason}"))
            })
            .collect();
        tell(observer, &left_out);
        for framework in formats.iter().filter_map(|format| format.framework()) {
            let text = match framework {
                Framework::Googletest => {
                    Framework::glue(&suite::c::suite_name(&source), &emitted.cases)
                }
                _ => {
                    let options = suite::c::Options { framework: Some(framework), ..options };
                    suite::c::to_c(&project.program, &self.tests, &options)
                }
            };
            files.push((folder.join(framework.file()), text));
        }
        files.push((folder.join(suite::c::HEADER.0), suite::c::HEADER.1.to_owned()));
        if emitted.has_devices {
            files.push((folder.join(suite::c::DEVICES), suite::c::devices_header()));
        }
        files.push((folder.join(C), emitted.text));
        files.extend(compiled.map(|text| (folder.join(COMPILED), text)));
        for (path, text) in &mut files {
            ownership::set_aside(path, observer)?;
            *text = ownership::sealed(path, text);
        }
        Ok(files)
    }
}

/// Directives by which functions that run by themselves run only where tests call them.
pub(crate) fn without_self_running(attributes: SelfRunningAttributes) -> String {
    let used = SELF_RUNNING.iter().zip(attributes.0).filter(|(_, is_used)| *is_used);
    let lines: String = used
        .flat_map(|(word, _)| [(*word).to_owned(), format!("__{word}__")])
        .map(|name| format!("#define {name} lydian_plain\n"))
        .collect();
    match lines.is_empty() {
        true => lines,
        // Compilers leave out attributes that they do not know, with and without arguments.
        false => format!(
            "/* Functions that run by themselves run only where a test calls them. */\n#pragma GCC diagnostic \
             ignored \"-Wattributes\"\n{lines}"
        ),
    }
}

/// The macros for registers of devices, where tests access some.
fn registers(project: &Project, tests: &[SuiteTest], macros: &BTreeSet<String>) -> Registers {
    if !tests.iter().any(suite::c::accesses_devices) {
        return Registers::default();
    }
    let lines = project.texts.files().texts().flat_map(|text| &text.lines);
    let of_source = Registers::of(&project.program.types, lines.map(String::as_str));
    let globals = project.program.globals.values().map(|global| &global.name);
    let functions = project.program.functions.values().map(|function| &function.name);
    let taken = macros.iter().chain(globals).chain(functions).cloned().collect();
    of_source.with_stated(project.spec.devices.clone(), taken)
}

/// The macros that the files of a program define anywhere.
fn macros(project: &Project) -> BTreeSet<String> {
    let lines = project.texts.files().texts().flat_map(|text| &text.lines);
    lines.filter_map(|line| Some(definition(line)?.0.to_owned())).collect()
}

impl SuiteFormat {
    /// The test framework that it is for, if it is for one.
    const fn framework(self) -> Option<Framework> {
        match self {
            Self::Testcomp | Self::Ktest => None,
            Self::Framework(framework) => Some(framework),
        }
    }
}

impl Suite {
    fn write_testcomp(
        &self,
        folder: &Path,
        source: &Path,
        (project, observer): (&Project, &dyn Observer),
    ) -> Result<(), Error> {
        entry_of(project, TESTCOMP)?;
        let text = std::fs::read(source).map_err(|error| {
            Error::environment("source", format!("cannot read {}: {error}", source.display()))
        })?;
        let created = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        let about = testcomp::Metadata {
            program_file: &source.display().to_string(),
            program_text: &text,
            entry: "main",
            specification: testcomp::BRANCHES,
            created: created.map_or(0, |since| since.as_secs()),
        };
        let suite = testcomp::to_testcomp(&project.program, &self.tests, &about);
        left_out(TESTCOMP, "not-in-testcomp", &suite.left_out, observer);
        files::bytes(&folder.join(TESTCOMP), &suite.to_zip())
    }

    fn write_ktest(
        &self,
        folder: &Path,
        source: &str,
        (project, observer): (&Project, &dyn Observer),
    ) -> Result<(), Error> {
        entry_of(project, KTEST)?;
        let folder = folder.join(KTEST);
        files::folder(&folder)?;
        // Removes tests of an earlier run, so that they are not mistaken for this run's.
        for old in files_in(&folder, "ktest")? {
            std::fs::remove_file(&old).map_err(|error| unreadable(&old, &error))?;
        }
        let mut missing = Vec::new();
        for test in &self.tests {
            match ktest::to_ktest(&project.program, &test.test, source) {
                Ok(bytes) => files::bytes(&folder.join(format!("{}.ktest", test.name)), &bytes)?,
                Err(why) => missing.push((test.name.clone(), why)),
            }
        }
        left_out(KTEST, "not-in-ktest", &missing, observer);
        Ok(())
    }
}

/// Warns of tests that a form cannot hold.
fn left_out(form: &str, code: &'static str, tests: &[(String, String)], observer: &dyn Observer) {
    let warnings = tests.iter().map(|(test, why)| {
        Diagnostic::warning(code, format!("{form} has no test `{test}`: {why}"))
    });
    tell(observer, &warnings.collect::<Vec<_>>());
}

/// The function that tests of a whole program call, for a form that needs one.
fn entry_of<'a>(project: &'a Project, form: &str) -> Result<&'a str, Error> {
    let entry = project.entry().map(|entry| project.program.functions[entry].name.as_str());
    entry.ok_or_else(|| {
        Error::usage("format", format!("{form} is for tests of whole programs alone"))
            .note("`--program` makes such tests")
    })
}

/// Reads the tests of a folder or file, in any of the forms.
///
/// # Errors
/// Files that cannot be read, or are no tests of the program.
pub fn read_suite(path: &Path, project: &Project) -> Result<Vec<SuiteTest>, Error> {
    let json = path.join(JSON);
    if path.is_dir() && !json.is_file() {
        let mut files = files_in(path, "xml")?;
        files.extend(files_in(path, "ktest")?);
        if !files.is_empty() {
            let tests = files.iter().map(|file| read_foreign(file, project));
            return Ok(tests.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect());
        }
    }
    let is_foreign = |extension| ["xml", "ktest", "zip"].iter().any(|known| extension == *known);
    if path.extension().is_some_and(is_foreign) && path.is_file() {
        return read_foreign(path, project);
    }
    let file: PathBuf = if path.is_dir() { json } else { path.to_owned() };
    let text = std::fs::read_to_string(&file).map_err(|error| {
        unreadable(&file, &error).note("give the folder that `lydian gen` wrote, or its tests.json")
    })?;
    suite::json::from_json(&project.program, &file.display().to_string(), &text)
        .map_err(|error| Error::usage("tests", error.to_string()))
}

fn unreadable(file: &Path, error: &std::io::Error) -> Error {
    Error::usage("tests", format!("cannot read {}: {error}", file.display()))
}

/// The files of a folder with this extension, in the order of their names.
fn files_in(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let entries = std::fs::read_dir(folder).map_err(|error| unreadable(folder, &error))?;
    let paths = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let mut paths: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect();
    paths.sort();
    Ok(paths)
}

/// Reads a file of another tool: a zip file, or one test.
fn read_foreign(file: &Path, project: &Project) -> Result<Vec<SuiteTest>, Error> {
    let bytes = std::fs::read(file).map_err(|error| unreadable(file, &error))?;
    let entry = entry_of(project, &file.display().to_string())?;
    let name = file.file_stem().map_or_else(String::new, |s| s.to_string_lossy().into_owned());
    let wrong = |error: &dyn std::fmt::Display| {
        Error::usage("tests", format!("{}: {error}", file.display()))
    };
    let extension = file.extension().and_then(|extension| extension.to_str());
    let tests: Vec<(String, Test)> = match extension {
        Some("zip") => testcomp::from_zip(entry, &bytes).map_err(|error| wrong(&error))?,
        Some("ktest") => {
            vec![(name, ktest::from_ktest(entry, &bytes).map_err(|error| wrong(&error))?)]
        }
        _ => {
            let text = String::from_utf8_lossy(&bytes);
            let test = testcomp::from_xml(entry, &name, &text).map_err(|error| wrong(&error))?;
            test.map(|test| (name, test)).into_iter().collect()
        }
    };
    let suite = tests.into_iter().map(|(name, test)| SuiteTest::new(name, test));
    Ok(suite.collect())
}
