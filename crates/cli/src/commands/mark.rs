//! `lydian mark`: runs tests so that the coverage of each is recorded separately.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::Command;

use serde::Deserialize;

use crate::args::MarkArgs;
use crate::exit::{ExitCode, Failure};
use crate::output;

/// The variable with the name of the test that programs run for; the run-time reads it.
const VARIABLE: &str = "LYDIAN_TEST";

/// The output of `ctest --show-only=json-v1`.
#[derive(Deserialize)]
struct Listing {
    tests: Vec<ListedTest>,
}

#[derive(Deserialize)]
struct ListedTest {
    name: String,
}

pub(crate) fn run(args: &MarkArgs) -> Result<u8, Failure> {
    if let Some(folder) = &args.ctest {
        return ctest(folder, &args.words);
    }
    let (Some(name), Some((program, words))) = (&args.name, args.words.split_first()) else {
        return Err(Failure::usage("mark", "no command is given".to_owned())
            .note("it is written lydian mark NAME -- COMMAND"));
    };
    // The command replaces this process, so that signals and the exit code are its own.
    let error = Command::new(program).args(words).env(VARIABLE, name).exec();
    let program = program.to_string_lossy();
    Err(Failure::environment("mark", format!("cannot start {program}: {error}")))
}

/// Runs each test of a folder by itself. Returns the worst exit code.
fn ctest(folder: &Path, words: &[OsString]) -> Result<u8, Failure> {
    let start = |words: &[&OsStr]| {
        let mut command = Command::new("ctest");
        command.current_dir(folder).args(words);
        command
    };
    let unstartable = |error: std::io::Error| {
        Failure::environment("mark", format!("cannot start ctest in {}: {error}", folder.display()))
    };
    let list =
        start(&["--show-only=json-v1".as_ref()]).args(words).output().map_err(unstartable)?;
    let listed: Listing = serde_json::from_slice(&list.stdout).map_err(|_| {
        let said = String::from_utf8_lossy(&list.stderr).trim().to_owned();
        Failure::usage("mark", format!("ctest lists no tests in {}: {said}", folder.display()))
    })?;
    if listed.tests.is_empty() {
        return Err(Failure::usage("mark", format!("{} has no tests", folder.display())));
    }
    let (mut worst, mut failed) = (0, Vec::new());
    for ListedTest { name } in &listed.tests {
        let pattern = format!("^{}$", escaped(name));
        let mut command = start(&["-R".as_ref(), pattern.as_ref()]);
        let ran = command.args(["--output-on-failure", "--no-tests=error", "--quiet"]).args(words);
        let status = ran.env(VARIABLE, name).status().map_err(unstartable)?;
        let code = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or_default());
        if code != 0 {
            failed.push(name.as_str());
            worst = worst.max(u8::try_from(code).unwrap_or(u8::MAX));
        }
    }
    let count = listed.tests.len();
    output::text(&match failed.len() {
        0 => format!("{count} tests passed, marked by their names.\n"),
        bad => format!("{bad} of {count} tests failed: {}\n", failed.join(", ")),
    })?;
    Ok(if worst == 0 { ExitCode::Done as u8 } else { worst })
}

/// A name as a regular expression of CMake.
fn escaped(name: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        if "\\^$.[]|()*+?".contains(c) {
            text.push('\\');
        }
        text.push(c);
    }
    text
}
