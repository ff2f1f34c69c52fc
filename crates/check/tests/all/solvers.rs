//! Solvers that are missing, hang or write nonsense.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lydian_check::{Answer, Solver, SolverError};
use tempfile::TempDir;

const SHORT: Duration = Duration::from_millis(300);
const LONG: Duration = Duration::from_secs(60);

/// A solver that is this script for the shell.
fn script(folder: &TempDir, text: &str) -> PathBuf {
    let path = folder.path().join("solver");
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    path
}

fn answer(text: &str, time: Duration) -> Result<Answer, SolverError> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = script(&folder, text);
    Solver::find(Some(&path), time).expect("it is there").ask("(check-sat)\n")
}

#[test]
fn a_solver_that_is_missing_is_named_with_its_package() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Solver::find_in(folder.path().as_os_str(), None, LONG).expect_err("nothing there");
    let message = error.to_string();
    assert!(message.contains("z3 or cvc5") && message.contains("package z3"), "{message}");
    let named = Solver::find_in(OsStr::new(""), Some(Path::new("no-such-solver")), LONG);
    assert!(named.expect_err("it is not there").to_string().contains("no-such-solver"));
}

#[test]
fn answers_are_what_the_first_line_says() {
    let read = "cat > /dev/null; ";
    let unsat = answer(&format!("{read}echo unsat; echo '(error \"no model\")'"), LONG);
    assert_eq!(unsat.expect("an answer"), Answer::Unsatisfiable);
    let sat = answer(&format!("{read}echo sat; echo '(x 1)'"), LONG);
    assert_eq!(sat.expect("an answer"), Answer::Satisfiable("(x 1)".to_owned()));
    let unknown = answer(&format!("{read}echo unknown"), LONG);
    assert!(matches!(unknown, Ok(Answer::Unknown(_))));
}

#[test]
fn nonsense_and_silence_are_errors_and_no_answers() {
    for text in ["echo hello", "exit 3", "echo '(error \"line 1\")'; echo unsat", "printf '\\377'"]
    {
        let found = answer(text, LONG);
        assert!(matches!(found, Err(SolverError::Nonsense(..))), "{text}: {found:?}");
    }
}

#[test]
fn a_solver_that_hangs_is_killed() {
    let found = answer("exec sleep 1000", SHORT);
    assert!(matches!(found, Ok(Answer::Unknown(_))), "{found:?}");
}
