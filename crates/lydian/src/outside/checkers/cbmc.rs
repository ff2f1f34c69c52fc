//! CBMC: bounded model checking with bounds that grow.
//!
//! Loops are unwound up to a bound, and CBMC also checks whether the bound suffices (*unwinding
//! assertions*). If it does, *unreachable* is an answer about all runs. Else the next bound is four times
//! as large, as long as there is time.
//!
//! CBMC 6 checks more than it is asked for and lets allocations fail, unless it is told not to.

use std::time::{Duration, Instant};

use lydian_ir::beginnings::Beginning;
use serde_json::Value;

use super::dialect::{INPUT, InputFunction};
use super::process::Ended;
use super::{Asked, CheckerAnswer};
use crate::error::Error;
use crate::proving::InputValue;

/// The first bound of loops.
const FIRST_BOUND: u32 = 2;
/// How many times larger the next bound is.
const GROWTH: u32 = 4;
/// The greatest bound that is tried.
const GREATEST_BOUND: u32 = 1 << 20;
/// The property of the goal: the first assertion of `lydian_native::GOAL_FUNCTION`.
const PROPERTY: &str = "lydian_goal.assertion.1";
/// The first version with other defaults.
const NEW_DEFAULTS: u32 = 6;

/// The answer of one run.
#[derive(Debug, PartialEq, Eq)]
enum Run {
    Reachable(Vec<InputValue>),
    /// No run within the bound reaches it; whether there are runs beyond, and warnings that tell what
    /// CBMC does not know.
    Unreachable {
        has_more: bool,
        unknown: Vec<String>,
    },
    OutOfTime,
    /// It did not end well: what it told.
    Failed(String),
}

/// Asks with bounds that grow.
pub(super) fn ask(asked: &Asked<'_>) -> Result<CheckerAnswer, Error> {
    let options = asked.ready.options;
    let end = Instant::now() + options.time;
    let mut bound = options.unwind.unwrap_or(FIRST_BOUND);
    let mut within: Option<(u32, Vec<String>)> = None;
    loop {
        let left = end.saturating_duration_since(Instant::now());
        let ended = asked.run(&arguments(asked, bound), left)?;
        match read(&ended, &asked.question.inputs) {
            Run::Reachable(inputs) => return Ok(CheckerAnswer::Reachable(inputs)),
            Run::Unreachable { has_more: false, unknown } => {
                return Ok(unreachable(asked, Vec::new(), unknown));
            }
            Run::Unreachable { has_more: true, unknown } => within = Some((bound, unknown)),
            // The answer within a smaller bound stays.
            Run::OutOfTime | Run::Failed(_) if within.is_some() => break,
            Run::OutOfTime => return Ok(out_of_time(options.time)),
            Run::Failed(why) => return Ok(CheckerAnswer::Failed(why)),
        }
        let is_last = options.unwind.is_some() || bound >= GREATEST_BOUND;
        if is_last || Instant::now() >= end || asked.cancel.is_cancelled() {
            break;
        }
        bound *= GROWTH;
    }
    let (bound, unknown) = within.unwrap_or_default();
    let sentence = format!("no loop turns and no recursion goes deeper than {bound} times");
    Ok(unreachable(asked, vec![sentence], unknown))
}

fn out_of_time(time: Duration) -> CheckerAnswer {
    CheckerAnswer::Open(format!("no answer in {:.0} s", time.as_secs_f64().max(1.0)))
}

fn unreachable(asked: &Asked<'_>, bounds: Vec<String>, mut unknown: Vec<String>) -> CheckerAnswer {
    unknown.extend(asked.question.unknown.iter().cloned());
    unknown.sort();
    unknown.dedup();
    let assumed = |name: String| format!("`{name}` writes to no variable of the program");
    CheckerAnswer::Unreachable { bounds, assumptions: unknown.into_iter().map(assumed).collect() }
}

fn arguments(asked: &Asked<'_>, bound: u32) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    all.extend(asked.files.iter().map(|file| file.display().to_string()));
    let words = ["--json-ui", "--trace", "--unwinding-assertions", "--property", PROPERTY];
    all.extend(words.map(str::to_owned));
    all.extend(["--unwind".to_owned(), bound.to_string(), format!("--{}", asked.question.model)]);
    if major_version(&asked.ready.version).is_some_and(|version| version >= NEW_DEFAULTS) {
        all.extend(["--no-standard-checks", "--no-malloc-may-fail"].map(str::to_owned));
    }
    all
}

/// The number before the first dot of a version such as `cbmc 5.83.0 (…)`.
fn major_version(text: &str) -> Option<u32> {
    let digits = text.find(|character: char| character.is_ascii_digit())?;
    text[digits..].split('.').next()?.parse().ok()
}

/// Reads what CBMC wrote.
fn read(ended: &Ended, functions: &[InputFunction]) -> Run {
    if ended.status.is_none() {
        return Run::OutOfTime;
    }
    let Ok(Value::Array(messages)) = serde_json::from_str(&ended.output) else {
        return Run::Failed(format!("its answer is no JSON: {}", ended.told()));
    };
    let results = messages.iter().find_map(|message| message.get("result")?.as_array());
    let Some(results) = results else {
        return Run::Failed(match error_message(&messages) {
            Some(error) => error.to_owned(),
            None => format!("it has no result: {}", ended.told()),
        });
    };
    let status = |result: &Value| result.get("status").and_then(Value::as_str) == Some("FAILURE");
    let is_goal =
        |result: &&Value| result.get("property").and_then(Value::as_str) == Some(PROPERTY);
    match results.iter().find(is_goal) {
        Some(goal) if status(goal) => {
            let trace = goal.get("trace").and_then(Value::as_array);
            let steps = trace.map_or(&[][..], Vec::as_slice);
            Run::Reachable(inputs(steps, functions))
        }
        Some(goal) if goal.get("status").and_then(Value::as_str) != Some("SUCCESS") => {
            Run::Failed("it has no verdict on the goal".to_owned())
        }
        // Where no path leads to the function CBMC does not list its assertion.
        _ => Run::Unreachable { has_more: results.iter().any(status), unknown: unknown(&messages) },
    }
}

/// The first message of an error.
fn error_message(messages: &[Value]) -> Option<&str> {
    let is_error =
        |message: &&Value| message.get("messageType").and_then(Value::as_str) == Some("ERROR");
    messages.iter().find(is_error)?.get("messageText")?.as_str()
}

/// The functions that CBMC knows no body of.
fn unknown(messages: &[Value]) -> Vec<String> {
    let texts = messages.iter().filter_map(|message| message.get("messageText")?.as_str());
    let names = texts.filter_map(|text| {
        let rest = text.split("no body for function").nth(1)?;
        Some(rest.trim().trim_matches(['\'', '`', '"']).to_owned())
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names.dedup();
    names
}

/// The inputs that the steps of a trace read. Of the assignments to a variable whose first value is an
/// input the first is its beginning.
fn inputs(steps: &[Value], functions: &[InputFunction]) -> Vec<InputValue> {
    let mut found: Vec<InputValue> = Vec::new();
    for input in steps.iter().filter_map(|step| input(step, functions)) {
        let is_begun = Beginning::of_name(&input.function).is_some()
            && found.iter().any(|known| known.function == input.function);
        if !is_begun {
            found.push(input);
        }
    }
    found
}

/// The input that a step of a trace reads, if it does.
fn input(step: &Value, functions: &[InputFunction]) -> Option<InputValue> {
    let of = |key: &str| step.get(key)?.as_str();
    (of("stepType")? == "assignment").then_some(())?;
    let (variable, function) = (of("lhs")?, step.get("sourceLocation")?.get("function")?.as_str()?);
    let is_it = |known: &&InputFunction| match Beginning::of_name(&known.name) {
        Some(begins) => begins == Beginning { function, variable },
        None => variable == INPUT && known.name == function,
    };
    let known = functions.iter().find(is_it)?;
    let binary = step.get("value")?.get("binary")?.as_str()?;
    Some(InputValue {
        function: known.name.clone(),
        ty: Some(known.ty.clone()),
        bytes: bytes(binary, known.size)?,
    })
}

/// The bytes of a number whose bits are written from the highest to the lowest.
fn bytes(binary: &str, size: usize) -> Option<Vec<u8>> {
    let mut bits = 0u128;
    for digit in binary.chars() {
        bits = bits.checked_mul(2)? | u128::from(digit.to_digit(2)?);
    }
    bits.to_le_bytes().get(..size).map(<[u8]>::to_vec)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::ExitStatus;

    fn ended(output: &str, code: i32) -> Ended {
        let status = Some(ExitStatus::from_raw(code << 8));
        Ended { status, output: output.to_owned(), errors: String::new() }
    }

    fn functions() -> Vec<InputFunction> {
        let ty = "int".to_owned();
        vec![InputFunction { name: "__VERIFIER_nondet_int".to_owned(), ty, size: 4 }]
    }

    #[test]
    fn inputs_are_read_from_a_trace() {
        let text = r#"[{"program": "CBMC 5.83.0"}, {"result": [
            {"property": "main.unwind.0", "status": "FAILURE"},
            {"property": "lydian_goal.assertion.1", "status": "FAILURE", "trace": [
                {"stepType": "function-call"},
                {"stepType": "assignment", "lhs": "lydian_input",
                 "sourceLocation": {"function": "__VERIFIER_nondet_int"},
                 "value": {"binary": "11111111111111111111111111111110", "data": "-2"}}]}]}]"#;
        let Run::Reachable(inputs) = read(&ended(text, 10), &functions()) else { panic!() };
        assert_eq!(inputs.len(), 1);
        assert_eq!(inputs[0].bytes, (-2i32).to_le_bytes());
    }

    #[test]
    fn the_first_value_of_a_variable_is_read_once() {
        let name = "__VERIFIER_nondet_beginning.main:x".to_owned();
        let known = [InputFunction { name, ty: "int".to_owned(), size: 4 }];
        let step = |value: &str| {
            serde_json::json!({"stepType": "assignment", "lhs": "x",
                "sourceLocation": {"function": "main"}, "value": {"binary": value}})
        };
        let found = inputs(&[step("111"), step("1")], &known);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].bytes, 7i32.to_le_bytes());
    }

    #[test]
    fn an_unwinding_assertion_that_fails_tells_of_more_runs() {
        let text = r#"[{"messageText": "no body for function 'puts'", "messageType": "WARNING"},
            {"result": [{"property": "main.unwind.0", "status": "FAILURE"},
                        {"property": "lydian_goal.assertion.1", "status": "SUCCESS"}]}]"#;
        let expected = Run::Unreachable { has_more: true, unknown: vec!["puts".to_owned()] };
        assert_eq!(read(&ended(text, 10), &functions()), expected);
    }

    #[test]
    fn other_text_is_no_answer() {
        let error = r#"[{"messageText": "CONVERSION ERROR", "messageType": "ERROR"}]"#;
        let failed = Run::Failed("CONVERSION ERROR".to_owned());
        assert_eq!(read(&ended(error, 6), &functions()), failed);
        for text in ["", "VERIFICATION SUCCESSFUL", "[]", "[{\"result\": 3}]"] {
            assert!(matches!(read(&ended(text, 0), &functions()), Run::Failed(_)), "{text}");
        }
    }

    #[test]
    fn versions_are_told_apart() {
        assert_eq!(major_version("cbmc 5.83.0 (cbmc-5.83.0)"), Some(5));
        assert_eq!(major_version("cbmc 6.3.1"), Some(6));
    }
}
