//! Whether the predicates that users read are C that compiles where their objectives stand.
//!
//! The text of each label is put, as a check, into the preprocessed text at the label's own place:
//! beside the decision, expression or statement, or at the start of the function. What a check does
//! is the caller's: it may only be compiled ([`refusals`]), or record whether the text is true there.
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

/// A text of which predicates have become a part.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The text, preprocessed as it was.
    pub text: String,
    /// What each check is of: the position of the function's objectives, and the label.
    pub checks: Vec<(usize, LabelId)>,
    /// The labels whose places have no text that could hold a check.
    pub unplaced: Vec<(usize, LabelId)>,
}

/// The file that compilers are told a check stands in. Its lines are the numbers of the checks.
const CHECKS: &str = "lydian_checks";

/// The file that they are told all other text stands in.
const REST: &str = "lydian_rest";

/// Puts a check of each predicate that says something, and that is `chosen`, into the text. `write`
/// makes it, an expression of type `void` on one line, of its number and the predicate's text.
pub fn checked(
    program: &Program,
    map: &SourceMap,
    objectives: &[FunctionObjectives],
    chosen: &dyn Fn(usize, LabelId) -> bool,
    write: &dyn Fn(usize, &str) -> String,
) -> Checked {
    let mut checked = Checked::default();
    let mut edits: BTreeMap<Place, String> = BTreeMap::new();
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

/// Where checks are put, outer places first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    start: u32,
    /// Longer places come first.
    end: std::cmp::Reverse<u32>,
    form: Form,
}

/// How checks are put around a text.
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

/// Where the state is that a predicate speaks of.
fn place(body: &Body, site: Site) -> Option<Place> {
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

fn at(span: Span, form: Form) -> Place {
    Place { start: span.start, end: std::cmp::Reverse(span.end), form }
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
fn spliced(text: &str, edits: BTreeMap<Place, String>) -> String {
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

/// What a compiler says of the checks that it does not take, or finds no sense in: by number.
///
/// # Errors
/// What it says of the rest of the text, if it does not take that.
pub fn refusals(
    compiler: &str,
    flags: &[String],
    checked: &Checked,
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
