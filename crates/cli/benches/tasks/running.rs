//! One task: `lydian prove`, and `lydian check` for what it proves.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Instant;

use serde_json::Value;

use super::Options;
use super::reading::Task;
use super::results::{Answer, TaskResult};

/// The program under measurement.
const LYDIAN: &str = env!("CARGO_BIN_EXE_lydian");

/// The result of a task.
pub(crate) fn run(task: &Task, options: &Options) -> TaskResult {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let answers = folder.path().join("answers.json");
    let certificates = folder.path().join("certificates");
    let mut command = Command::new(LYDIAN);
    command.arg("prove").arg(&task.file).args(["--jobs", "1", "--time"]);
    command.arg(options.time.to_string()).arg("--json").arg(&answers);
    if options.check.is_some() {
        command.arg("--certificates").arg(&certificates);
    }
    if task.is_narrow {
        command.args(["--", "-m32"]);
    }
    let begun = Instant::now();
    let output = command.output().expect("lydian starts");
    let mut result = TaskResult {
        name: task.name(),
        folder: task.folder.clone(),
        is_safe: task.is_safe,
        answer: Answer::None,
        engine: String::new(),
        why: String::new(),
        seconds: begun.elapsed().as_secs_f64(),
        certificates: None,
        checked: None,
        check_seconds: None,
    };
    match std::fs::read_to_string(&answers) {
        Ok(text) => take(&mut result, &serde_json::from_str(&text).expect("answers are JSON")),
        Err(_) => result.why = last_line(&output),
    }
    if let Some(time) = options.check
        && result.answer == Answer::Safe
    {
        check(&mut result, &certificates, time);
    }
    result
}

/// Takes the answer of a program from those of its errors.
fn take(result: &mut TaskResult, answers: &Value) {
    let mut kinds = Vec::new();
    for error in answers["errors"].as_array().into_iter().flatten() {
        let kind = error["answer"].as_object().and_then(|answer| answer.iter().next());
        let Some((kind, content)) = kind else { continue };
        if kind == "unknown" || kind == "unconfirmed" {
            result.why = content.as_str().unwrap_or_default().to_owned();
        }
        error["engine"].as_str().unwrap_or_default().clone_into(&mut result.engine);
        kinds.push(kind.as_str());
    }
    result.answer = match kinds {
        kinds if kinds.contains(&"reached") => Answer::Unsafe,
        kinds if kinds.iter().all(|kind| *kind == "unreachable") => Answer::Safe,
        _ => Answer::Unknown,
    };
}

/// Checks the certificates of a proof.
fn check(result: &mut TaskResult, folder: &Path, time: f64) {
    let begun = Instant::now();
    let file = folder.with_extension("json");
    let mut command = Command::new(LYDIAN);
    command.arg("check").arg(folder).args(["--time", &time.to_string()]).arg("--json").arg(&file);
    let output = command.output().expect("lydian starts");
    result.check_seconds = Some(begun.elapsed().as_secs_f64());
    let checks = std::fs::read_to_string(&file).ok();
    let checks: Value =
        checks.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let made = checks["certificates"].as_array().map_or(0, Vec::len);
    result.certificates = Some(made);
    result.checked = Some(made > 0 && output.status.success());
    if !output.status.success() {
        result.why = format!("check: {}", last_line(&output));
    }
}

/// What a program wrote last.
fn last_line(output: &Output) -> String {
    let text = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let text = String::from_utf8_lossy(&text).into_owned();
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
}
