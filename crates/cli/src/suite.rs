//! The folder of tests: the suite in its forms, with what was observed.

use std::path::{Path, PathBuf};

use lydian_base::Diagnostic;
use lydian_ir::Program;
use lydian_ir::test::Test;
use lydian_native::{Build, Measured, Outcome};
use lydian_report::{Observed, Outcome as Ending, SuiteTest, suite_c, suite_json};

use crate::exit::Failure;
use crate::load::Loaded;
use crate::{output, render};

/// The suite as JSON, in a folder of tests.
pub(crate) const JSON: &str = "tests.json";
/// The suite as one C file, in a folder of tests.
pub(crate) const C: &str = "tests.c";

/// A test with what it showed and what it is kept for.
pub(crate) struct Kept {
    pub(crate) test: Test,
    pub(crate) measured: Measured,
    pub(crate) covers: Vec<String>,
}

/// Collects the tests of all functions.
#[derive(Default)]
pub(crate) struct Collected {
    tests: Vec<SuiteTest>,
}

impl Collected {
    /// Adds the tests of one function, which are numbered in order.
    pub(crate) fn add(&mut self, program: &Program, function: &str, tests: Vec<Kept>) {
        let tests = tests.into_iter().enumerate().map(|(index, kept)| SuiteTest {
            name: test_name(function, index),
            observed: Some(observed(program, &kept.test, &kept.measured)),
            test: kept.test,
            covers: kept.covers,
        });
        self.tests.extend(tests);
    }

    /// Writes all forms into the folder. `build` says what the program leaves undefined.
    pub(crate) fn write(
        &self,
        folder: &Path,
        source: &Path,
        loaded: &Loaded,
        build: &Build,
    ) -> Result<(), Failure> {
        let source = std::path::absolute(source).unwrap_or_else(|_| source.to_owned());
        let source = source.display().to_string();
        let json = suite_json::to_json(&loaded.program, &source, &self.tests);
        output::file(&folder.join(JSON), &json)?;
        let stubs: Vec<&str> = loaded.stubs.iter().map(String::as_str).collect();
        let externals: Vec<String> = build.externals().map(str::to_owned).collect();
        let options = suite_c::Options {
            source: &source,
            include: &source,
            stubs: &stubs,
            externals: &externals,
            library: build.library(),
        };
        let emitted = suite_c::emit(&loaded.program, &self.tests, &options);
        let left_out: Vec<Diagnostic> = emitted
            .left_out
            .iter()
            .map(|(test, reason)| {
                Diagnostic::warning("not-in-c", format!("{C} has no test `{test}`: {reason}"))
            })
            .collect();
        render::diagnostics(&left_out);
        output::file(&folder.join(C), &emitted.text)
    }
}

/// A line for each test that does not end well: it shows a fault of the program under test.
pub(crate) fn faults(function: &str, tests: &[Kept]) -> String {
    let bad = tests.iter().enumerate().filter(|(_, kept)| !kept.measured.run.outcome.is_orderly());
    bad.map(|(index, kept)| {
        format!("{}: {}\n", test_name(function, index), kept.measured.run.outcome)
    })
    .collect()
}

/// The name of a function's test, by its position.
fn test_name(function: &str, index: usize) -> String {
    format!("{function}_{}", index + 1)
}

/// Reads the tests of a folder, or of one JSON file.
pub(crate) fn read(path: &Path, loaded: &Loaded) -> Result<Vec<SuiteTest>, Failure> {
    let file: PathBuf = if path.is_dir() { path.join(JSON) } else { path.to_owned() };
    let text = std::fs::read_to_string(&file).map_err(|error| {
        Failure::usage("tests", format!("cannot read {}: {error}", file.display()))
            .note("give the folder that `lydian gen` wrote, or its tests.json")
    })?;
    suite_json::from_json(&loaded.program, &file.display().to_string(), &text)
        .map_err(|error| Failure::usage("tests", error.to_string()))
}

/// What a run showed, as the suite keeps it.
fn observed(program: &Program, test: &Test, measured: &Measured) -> Observed {
    let run = &measured.run;
    let (ending, result): (Ending, &[u8]) = match &run.outcome {
        Outcome::Returned(bytes) => (Ending::Returned, bytes),
        Outcome::Exited(status) => (Ending::Exited(*status), &[]),
        Outcome::Aborted => (Ending::Aborted, &[]),
        Outcome::Crashed(crash) => (Ending::Crashed(crash.signal), &[]),
        Outcome::TimedOut(limit) => (Ending::TimedOut(*limit), &[]),
        other => (Ending::Ended(other.to_string()), &[]),
    };
    Observed::from_bytes(program, test, ending, result, &run.objects, &run.globals)
}
