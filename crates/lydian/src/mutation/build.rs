//! The programs with all mutants: of a suite that Lydian wrote, and of a project.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use lydian_base::Diagnostic;
use lydian_mutate::CASE_VARIABLE;

use super::commands::{CASE_FUNCTION, TestCommand, last_lines};
use super::warnings::warn;
use crate::error::{Error, ErrorKind};
use crate::events::Observer;
use crate::files;
use crate::project::COMPILER;
use crate::suite::C;
use crate::wrapper::{MutantRequest, WrapperOutcome, WrapperRequest, compile, first_error};

/// The beginning of the lines of a suite that make a test a function.
const CASE: &str = "LYDIAN_CASE(";

/// The program of a suite, which runs the test that its argument names.
pub(crate) struct SuiteProgram {
    pub(crate) place: tempfile::TempDir,
    program: PathBuf,
}

impl SuiteProgram {
    /// Compiles a suite with the mutants of the source that it includes.
    pub(crate) fn build(
        folder: &Path,
        flags: &[String],
        mutants: MutantRequest,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let suite = folder.join(C);
        let text = std::fs::read_to_string(&suite).map_err(|error| {
            Error::source("suite", format!("cannot read {}: {error}", suite.display()))
                .note("`lydian gen` writes it")
        })?;
        let place = files::temporary_folder()?;
        let object = place.path().join("suite.o");
        let mut words: Vec<OsString> = [COMPILER, "-DLYDIAN_NO_MAIN", "-w"].map(Into::into).into();
        words.extend(flags.iter().map(Into::into));
        words.extend([OsString::from("-c"), suite.into(), "-o".into(), object.clone().into()]);
        let store = Some(place.path().join("store"));
        let request =
            WrapperRequest { words, mutants: Some(mutants), store, ..WrapperRequest::default() };
        match compile(&request, observer)? {
            WrapperOutcome::Ended(0) => {}
            _ => return Err(unbuilt("the suite cannot be compiled with mutants")),
        }
        let driver = place.path().join("driver.c");
        let program = place.path().join("suite");
        std::fs::write(&driver, driver_text(&text)).map_err(|error| {
            Error::environment("mutants", format!("cannot write {}: {error}", driver.display()))
        })?;
        let mut link = Command::new(COMPILER);
        link.arg("-w").args(flags).arg(&driver).arg(&object).arg("-lm").arg("-o").arg(&program);
        let output = link.stdin(Stdio::null()).output();
        let output =
            output.map_err(|error| crate::wrapper::unstartable(COMPILER.as_ref(), &error))?;
        if !output.status.success() {
            return Err(unbuilt("the suite does not link").note(said_by(&output)));
        }
        Ok(Self { place, program })
    }

    /// Its tests that can be run.
    pub(crate) fn tests(&self) -> Result<Vec<TestCommand>, Error> {
        let mut list = Command::new(&self.program);
        let listed = list.env_remove(CASE_VARIABLE).stdin(Stdio::null()).output();
        let listed = listed.map_err(|error| {
            Error::environment("mutants", format!("the suite cannot be run: {error}"))
        })?;
        let text = String::from_utf8_lossy(&listed.stdout).into_owned();
        Ok(text.lines().map(|name| TestCommand::program(name, self.program.clone())).collect())
    }
}

/// A `main` that runs the test that its argument or the environment names, or lists all. Tests that the suite leaves out are not defined.
fn driver_text(suite: &str) -> String {
    let lines = suite.lines().filter_map(|line| line.trim_start().strip_prefix(CASE));
    let mut names: Vec<&str> = lines.filter_map(|rest| rest.split(',').next()).collect();
    names.sort_unstable();
    names.dedup();
    let mut text = String::from(
        "int strcmp(const char *, const char *);\nint puts(const char *);\n\
         char *getenv(const char *);\n",
    );
    for name in &names {
        let _ = writeln!(text, "int {CASE_FUNCTION}{name}(void) __attribute__((weak));");
    }
    let _ = writeln!(
        text,
        "int main(int count, char **words)\n{{\n    \
         const char *chosen = count > 1 ? words[1] : getenv(\"{CASE_VARIABLE}\");"
    );
    for name in &names {
        let case = format!("{CASE_FUNCTION}{name}");
        let _ = writeln!(
            text,
            "    if ({case} && !chosen) puts(\"{name}\");\n    \
             if ({case} && chosen && !strcmp(chosen, \"{name}\")) return {case}();"
        );
    }
    text.push_str("    return chosen ? 2 : 0;\n}\n");
    text
}

fn unbuilt(what: &str) -> Error {
    Error::new(ErrorKind::Source, Diagnostic::error("mutants", what))
}

fn said_by(output: &Output) -> String {
    first_error(&String::from_utf8_lossy(&output.stderr)).to_owned()
}

/// The beginning of a warning of the compiler wrapper.
const WARNING: &str = "warning[cc]: ";

/// Builds a project by a command. The wrapper's warnings are passed on.
pub(crate) fn of_project(
    command: &str,
    variables: &[(&'static str, String)],
    observer: &dyn Observer,
) -> Result<(), Error> {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]).stdin(Stdio::null());
    shell.envs(variables.iter().map(|(name, value)| (name, value)));
    let output = shell.output().map_err(|error| {
        Error::environment("mutants", format!("cannot run `{command}`: {error}"))
    })?;
    let messages = String::from_utf8_lossy(&output.stderr);
    for said in messages.lines().filter_map(|line| line.strip_prefix(WARNING)) {
        warn(observer, said.to_owned());
    }
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = last_lines(&[output.stdout, output.stderr]);
            Err(unbuilt(&format!("`{command}` fails")).note(format!("it says: {said}")))
        }
    }
}
