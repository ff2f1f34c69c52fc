//! Checks that the predicates that users read are C that compiles at their objectives.
//!
//! The text of each label becomes a check in the preprocessed text at the label's own place: beside the
//! decision, expression or statement, or at the start of the function. The caller decides about the
//! check's effect: it may only be compiled ([`refusals`]), or record whether the text is true there.
//! Nothing of this is shared with the rewriting that measures.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};

use lydian_base::{EntityId, SourceMap, Span};
use lydian_ir::source::{MarkStyle, RootId, RootKind};
use lydian_ir::{Body, Expr, Program, Type};
use lydian_objective::{FunctionObjectives, LabelId, Pred, Site};

pub mod meaning;

/// A text with predicates inserted.
#[derive(Clone, Debug, Default)]
pub struct TextWithChecks {
    /// The text, preprocessed as it was.
    pub text: String,
    /// The origin of each check: the position of the function's objectives, and the label.
    pub checks: Vec<(usize, LabelId)>,
    /// The labels whose places have no text that could hold a check.
    pub unplaced: Vec<(usize, LabelId)>,
}

/// The file name of checks in line markers. Its lines are the numbers of the checks.
const CHECKS: &str = "lydian_checks";

/// The file name of all other text in line markers.
const REST: &str = "lydian_rest";

/// Inserts a check of each predicate that is not constant and that is `chosen` into the text. `write`
/// makes the check, an expression of type `void` on one line, of its number and the predicate's text.
pub fn checked(
    program: &Program,
    map: &SourceMap,
    objectives: &[FunctionObjectives],
    chosen: &dyn Fn(usize, LabelId) -> bool,
    write: &dyn Fn(usize, &str) -> String,
) -> TextWithChecks {
    let mut checked = TextWithChecks::default();
    let mut edits: BTreeMap<CheckPosition, String> = BTreeMap::new();
    for (index, own) in objectives.iter().enumerate() {
        let Some(body) = &program.functions[own.function].body else { continue };
        for (id, label) in own.labels.iter() {
            if matches!(label.pred, Pred::Const(_)) || !chosen(index, id) {
                continue;
            }
            let Some(place) = place(body, label.site) else {
                checked.unplaced.push((index, id));
                continue;
            };
            let check = write(checked.checks.len(), &label.text);
            let number = checked.checks.len();
            let text = edits.entry(place).or_default();
            let _ = write!(text, "\n# {number} \"{CHECKS}\"\n{check}\n# 1 \"{REST}\"\n, ");
            checked.checks.push((index, id));
        }
    }
    checked.text = spliced(map.text(), edits);
    checked
}

/// The position of checks, outer ones first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct CheckPosition {
    start: u32,
    /// Longer places come first.
    end: std::cmp::Reverse<u32>,
    form: Form,
}

/// The ways to put a check into a text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    /// Before it, as a statement.
    Before,
    /// Before it, both in a block.
    Block,
    /// As the left side of a comma.
    Comma,
    /// The same, the text being a null pointer constant.
    NullPointer,
    /// Where the text must stay an lvalue.
    Lvalue,
}

/// The position of the state that a predicate is about.
fn place(body: &Body, site: Site) -> Option<CheckPosition> {
    let source = &body.source;
    match site {
        Site::Entry => {
            let start = source.body.start + 1;
            Some(at(Span::new(start, start), Form::Before))
        }
        Site::Mark(mark) => {
            let site = source.marks.iter().find(|site| site.mark == mark)?;
            let form = match site.style {
                MarkStyle::Wrap | MarkStyle::BeforeFor => Form::Block,
                MarkStyle::Before => Form::Before,
                MarkStyle::Expression => Form::Comma,
            };
            Some(at(site.span, form))
        }
        Site::Decision(decision) => {
            let site = source.decisions.iter().find(|site| site.decision == decision)?;
            Some(at(site.span, Form::Comma))
        }
        Site::Condition(decision, condition) => {
            let site = source.decisions.iter().find(|site| site.decision == decision)?;
            Some(at(*site.conditions.get(condition.index())?, Form::Comma))
        }
        Site::Root(root) => Some(at(source.roots[root].span, root_form(body, root))),
        _ => None,
    }
}

fn at(span: Span, form: Form) -> CheckPosition {
    CheckPosition { start: span.start, end: std::cmp::Reverse(span.end), form }
}

fn root_form(body: &Body, root: RootId) -> Form {
    let root = &body.source.roots[root];
    match root.kind {
        RootKind::Address => Form::Lvalue,
        RootKind::Value | RootKind::Assigned { .. }
            if matches!(body.exprs[root.expr], Expr::Const(Type::Ptr, _)) =>
        {
            Form::NullPointer
        }
        _ => Form::Comma,
    }
}

/// The text with the checks at their places. `checks` end with a comma each.
fn spliced(text: &str, edits: BTreeMap<CheckPosition, String>) -> String {
    let mut out = String::new();
    let mut position = 0;
    let mut open: Vec<(u32, &str)> = Vec::new();
    let copy_to = |out: &mut String, position: &mut usize, to: u32| {
        out.push_str(text.get(*position..to as usize).unwrap_or(""));
        *position = to as usize;
    };
    for (place, checks) in edits {
        while let Some((end, closing)) = open.pop_if(|(end, _)| *end <= place.start) {
            copy_to(&mut out, &mut position, end);
            out.push_str(closing);
        }
        copy_to(&mut out, &mut position, place.start);
        let (opening, between, closing) = match place.form {
            Form::Before => ("", "(void)0; ", ""),
            Form::Block => ("{ ", "(void)0; ", " }"),
            Form::Comma => ("(", "", ")"),
            Form::NullPointer => ("(", "(void *)", ")"),
            Form::Lvalue => ("(*(", "&(", ")))"),
        };
        out.push_str(opening);
        out.push_str(&checks);
        out.push_str(between);
        open.push((place.end.0, closing));
    }
    while let Some((end, closing)) = open.pop() {
        copy_to(&mut out, &mut position, end);
        out.push_str(closing);
    }
    copy_to(&mut out, &mut position, text.len() as u32);
    out
}

/// A check that is compiled and never evaluated.
pub fn only_compiled(_: usize, text: &str) -> String {
    format!("(void)(0 && ({text}))")
}

/// Types that gcc has and clang has not.
const NOT_CLANGS: [&str; 5] = ["_Float32", "_Float64", "_Float32x", "_Float64x", "_Float128"];

/// The compiler's messages about checks that it rejects or finds senseless, by number.
///
/// # Errors
/// Its messages about the rest of the text, if it rejects that.
pub fn refusals(
    compiler: &str,
    flags: &[String],
    checked: &TextWithChecks,
) -> Result<BTreeMap<usize, String>, String> {
    let mut command = Command::new(compiler);
    command.args(flags).args(["-fsyntax-only", "-fwrapv", "-Wno-overflow", "-Wno-div-by-zero"]);
    if compiler.contains("clang") {
        command.args(["-ferror-limit=0", "-fbracket-depth=2000", "-x", "cpp-output"]);
    } else {
        // Headers of the system declare these types for compilers that do not have them.
        command.args(NOT_CLANGS.map(|name| format!("-D{name}=lydian{name}")));
        command.args(["-x", "c"]);
    }
    command.arg("-").env("LC_ALL", "C").stdin(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(|error| format!("{compiler}: {error}"))?;
    let mut input = child.stdin.take().ok_or("the compiler has no input")?;
    let text = checked.text.clone();
    let writing = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    writing.join().map_err(|_| "the text could not be written")?.ok();
    let said = String::from_utf8_lossy(&output.stderr);
    let mut refused = BTreeMap::new();
    for line in said.lines() {
        if let Some((number, message)) = message_of_check(line).filter(|(_, m)| is_refusal(m)) {
            refused.entry(number).or_insert_with(|| message.to_owned());
        }
    }
    if refused.is_empty() && !output.status.success() {
        return Err(said.lines().take(5).collect::<Vec<_>>().join("\n"));
    }
    Ok(refused)
}

fn message_of_check(line: &str) -> Option<(usize, &str)> {
    let (number, rest) = line.strip_prefix(CHECKS)?.strip_prefix(':')?.split_once(':')?;
    Some((number.parse().ok()?, rest))
}

/// Errors, and warnings of what is no C by the standard or does not mean what it seems to.
fn is_refusal(message: &str) -> bool {
    const NO_C: [&str; 8] = [
        "mplicit declaration",
        "distinct pointer types",
        "between pointer and integer",
        "ncompatible pointer type",
        "without a cast",
        "is so large that it is unsigned",
        "integer literal is too large",
        "incompatible integer to pointer",
    ];
    message.contains("error:") || NO_C.iter().any(|text| message.contains(text))
}
