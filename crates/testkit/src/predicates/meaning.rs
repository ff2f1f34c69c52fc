//! Checks that the predicates that users read have the meaning by which coverage is judged.
//!
//! Each predicate's text becomes a part of the program, at its place, and records whether it was true
//! there. The records of tests of that program are compared with the interpreter's coverage.
//!
//! Predicates are left out if their text has a part that the program evaluates once, with an effect (a
//! call, `i++`): there the text stands for the resulting value. C has no third truth value: a predicate
//! that may trap can be true in C where it is unknown, so for these the comparison goes one way:
//! covered ones must be true in C.

use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use lydian_base::{EntityId, Rng};
use lydian_ir::interp::{End, Options};
use lydian_ir::test::{Image, PointerTarget, Test};
use lydian_ir::{Body, CType, Expr, ExprId, Program, Purity};
use lydian_objective::{CoverageInterpreter, LabelId, Pred, Site};
use rustc_hash::FxHashSet;

use super::{TextWithChecks, checked};
use crate::oracle::Subject;

/// The result for the predicates of one program.
#[derive(Clone, Debug, Default)]
pub struct Meaning {
    /// Predicates that were compared.
    pub compared: usize,
    /// Those of them that a test covers.
    pub covered: usize,
    /// Predicates that were left out since evaluating their text has an effect.
    pub with_effects: usize,
    /// Tests.
    pub tests: usize,
    /// Disagreements, in words.
    pub mismatches: Vec<String>,
}

impl Meaning {
    /// Adds the result of another program.
    pub fn merge(&mut self, other: Self) {
        self.compared += other.compared;
        self.covered += other.covered;
        self.with_effects += other.with_effects;
        self.tests += other.tests;
        self.mismatches.extend(other.mismatches);
    }
}

/// Compares the records of texts in runs of these tests with the interpreter's coverage.
pub fn compare(subject: &Subject, tests: &[Test]) -> Meaning {
    let coverage_interpreter = subject.coverage_interpreter();
    let options = Options { max_steps: 20_000, ..Options::default() };
    let runs = tests
        .iter()
        .filter_map(|test| Some((test, coverage_interpreter.run(test, &options).ok()?)));
    let (tests, runs): (Vec<&Test>, Vec<_>) =
        runs.filter(|(_, run)| run.outcome.end == End::Returned).unzip();
    let site = |index: usize, label: LabelId| subject.objectives[index].labels[label].site;
    // Labels of single conditions are atoms of hyperlabels, which the interpreter does not judge by
    // themselves.
    let is_judged = |index, label| !matches!(site(index, label), Site::Condition(..));
    let is_chosen = |index, label| is_judged(index, label) && !has_effects(subject, index, label);
    let checked = checked(&subject.program, &subject.map, &subject.objectives, &is_chosen, &record);
    let labels = subject.objectives.iter().flat_map(|own| own.labels.values());
    let all = labels.filter(|label| !matches!(label.pred, Pred::Const(_))).count();
    let mut meaning = Meaning {
        compared: checked.checks.len(),
        with_effects: all - checked.checks.len() - checked.unplaced.len(),
        tests: tests.len(),
        ..Meaning::default()
    };
    let native = run(subject, &checked, &tests);
    let mut covered = FxHashSet::default();
    for ((test, ours), native) in tests.iter().zip(&runs).zip(&native) {
        for (number, (index, label)) in checked.checks.iter().enumerate() {
            let expected = ours.covered[*index].contains(label);
            if expected {
                covered.insert(number);
            }
            let Some(found) = native.get(number) else { continue };
            if agree(subject, &coverage_interpreter, (*index, *label), expected, *found) {
                continue;
            }
            let what = subject.describe(*index, *label);
            let call = &test.args.iter().map(|arg| &arg.bytes).collect::<Vec<_>>();
            let who = if expected { "only judged true" } else { "only true in C" };
            meaning.mismatches.push(format!("{what}: {who} by {}{call:?}", test.function));
        }
    }
    meaning.covered = covered.len();
    meaning
}

/// The record of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckRecord {
    /// It was not true.
    Nothing,
    True,
    /// It was not true, but evaluating it was a fault at least once.
    Fault,
}

/// Whether the judgement and the record in C are consistent.
fn agree(
    subject: &Subject,
    coverage_interpreter: &CoverageInterpreter<'_>,
    (index, label): (usize, LabelId),
    expected: bool,
    found: CheckRecord,
) -> bool {
    match (expected, found) {
        (true, CheckRecord::True) | (false, CheckRecord::Nothing | CheckRecord::Fault) => true,
        // A predicate that is true in Kleene's logic may be a fault in C, which evaluates from left to
        // right.
        (true, CheckRecord::Fault) => true,
        (true, CheckRecord::Nothing) => false,
        (false, CheckRecord::True) => may_be_unknown(subject, coverage_interpreter, index, label),
    }
}

/// Whether a predicate may be unknown where its text has a value.
fn may_be_unknown(
    subject: &Subject,
    coverage_interpreter: &CoverageInterpreter<'_>,
    index: usize,
    label: LabelId,
) -> bool {
    let own = &subject.objectives[index];
    let Some(body) = &subject.program.functions[own.function].body else { return true };
    let traps = match own.labels[label].site {
        Site::Decision(decision) | Site::Condition(decision, _) => {
            let conditions = body.decisions[decision].conditions.values();
            let mut conditions = conditions.map(|condition| condition.purity);
            conditions.any(|purity| purity != Purity::Pure)
        }
        _ => false,
    };
    traps || subject.short_circuit || coverage_interpreter.may_trap(index, label)
}

/// Whether the text has a part that the program evaluates once, with an effect.
fn has_effects(subject: &Subject, index: usize, label: LabelId) -> bool {
    let own = &subject.objectives[index];
    let Some(body) = &subject.program.functions[own.function].body else { return true };
    let label = &own.labels[label];
    let mut found = match label.site {
        Site::Decision(decision) | Site::Condition(decision, _) => {
            let conditions = body.decisions[decision].conditions.values();
            let mut conditions = conditions.map(|condition| (condition.purity, condition.expr));
            conditions.any(|(purity, expr)| {
                purity == Purity::Effects || reads_temporary(body, &body.exprs, expr)
            })
        }
        _ => false,
    };
    label.pred.for_each_expr(&mut |expr| found |= reads_temporary(body, &own.exprs, expr));
    found
}

fn reads_temporary(body: &Body, exprs: &lydian_ir::ExprArena, expr: ExprId) -> bool {
    let mut rest = vec![expr];
    while let Some(at) = rest.pop() {
        match &exprs[at] {
            Expr::Local(local) | Expr::AddrLocal(local) if body.locals[*local].name.is_empty() => {
                return true;
            }
            node => node.for_each_operand(|operand| rest.push(operand)),
        }
    }
    false
}

/// A check that records whether a predicate is true, and whether evaluating it is a fault.
fn record(number: usize, text: &str) -> String {
    format!(
        "(void)(lydian_setjmp(lydian_place, 0) ? (void)(lydian_faults[{number}] = 1) : \
         (void)((lydian_guarded = 1) && ({text}) && (lydian_trues[{number}] = 1)), \
         lydian_guarded = 0)"
    )
}

/// The declarations that checks use, before the text.
const DECLARATIONS: &str = "extern unsigned char *lydian_trues, *lydian_faults;\n\
    extern volatile int lydian_guarded;\n\
    extern long lydian_place[];\n\
    int lydian_setjmp(void *, int) __asm__(\"__sigsetjmp\") __attribute__((returns_twice));\n";

/// Runs each test in a process of its own. Returns the record of each check for each test.
fn run(subject: &Subject, checked: &TextWithChecks, tests: &[&Test]) -> Vec<Vec<CheckRecord>> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let (unit, main) = (folder.path().join("unit.i"), folder.path().join("main.c"));
    let mut text = format!("{DECLARATIONS}{}\n", checked.text);
    for (number, test) in tests.iter().enumerate() {
        text.push_str(&caller(&subject.program, number, test));
    }
    std::fs::write(&unit, text).expect("a temporary file can be written");
    std::fs::write(&main, driver(checked.checks.len(), tests.len()))
        .expect("a temporary file can be written");
    let program = folder.path().join("program");
    compile(&unit, &main, &program);
    let output = Command::new(&program).output().expect("the program starts");
    assert!(output.status.success(), "{:?}", output.status);
    let found = output.stdout.chunks_exact(checked.checks.len().max(1) + 1);
    let found = found.map(|line| {
        let recorded = |byte: &u8| match byte {
            b'1' => CheckRecord::True,
            b'!' => CheckRecord::Fault,
            _ => CheckRecord::Nothing,
        };
        // The first tells whether the run came to its end.
        if line[0] == b'0' { Vec::new() } else { line[1..].iter().map(recorded).collect() }
    });
    found.collect()
}

fn compile(unit: &Path, main: &Path, program: &Path) {
    let flags = ["-O0", "-w", "-fwrapv", "-fbracket-depth=2000", "-x", "cpp-output"];
    let output = Command::new("clang-19")
        .args(flags)
        .arg(unit)
        .args(["-x", "c"])
        .arg(main)
        .args(["-lm", "-o"])
        .arg(program)
        .output()
        .expect("clang-19 runs; `make setup` installs it");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}", said.lines().take(20).collect::<Vec<_>>().join("\n"));
}

/// A function that makes the call of a test.
fn caller(program: &Program, number: usize, test: &Test) -> String {
    let bytes = |image: &Image| {
        let all: Vec<String> = image.bytes.iter().map(ToString::to_string).collect();
        all.join(", ")
    };
    let mut text = format!("void lydian_test_{number}(void) {{\n");
    for (position, object) in test.objects.iter().enumerate() {
        let contents = bytes(&object.image);
        let _ = writeln!(
            text,
            "static unsigned char lydian_o{position}[] __attribute__((aligned(16))) = {{ {contents} }};"
        );
    }
    let (_, function) = program
        .functions
        .iter()
        .find(|(_, function)| function.name == test.function)
        .expect("tests call functions of the program");
    let CType::Function { params, .. } = program.types.get(function.ty) else { return text };
    let arguments = params.iter().zip(&test.args).map(|(ty, image)| {
        match image.pointers.first().map(|pointer| &pointer.target) {
            Some(PointerTarget::Object(object, _)) => format!("(void *)lydian_o{object}"),
            _ => {
                let pointer = program.types.spell_compiled(*ty, "*");
                format!("*({pointer})(unsigned char[]){{ {} }}", bytes(image))
            }
        }
    });
    let arguments: Vec<String> = arguments.collect();
    let _ = writeln!(text, "{}({});\n}}", test.function, arguments.join(", "));
    text
}

/// The program that makes the calls and prints what was recorded.
fn driver(checks: usize, tests: usize) -> String {
    let declared: String =
        (0..tests).map(|number| format!("void lydian_test_{number}(void);\n")).collect();
    let names: String = (0..tests).map(|number| format!("lydian_test_{number}, ")).collect();
    DRIVER
        .replace("DECLARED", &declared)
        .replace("NAMES", &names)
        .replace("CHECKS", &checks.max(1).to_string())
        .replace("TESTS", &tests.to_string())
}

const DRIVER: &str = r#"
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
DECLARED
static void (*const tests[])(void) = { NAMES 0 };
unsigned char *lydian_trues, *lydian_faults;
volatile int lydian_guarded;
long lydian_place[64];
static void fault(int signal)
{
    if (!lydian_guarded) _exit(1);
    lydian_guarded = 0;
    siglongjmp(*(sigjmp_buf *)lydian_place, 1);
}
int main(void)
{
    unsigned char *shared = mmap(0, 2 * CHECKS + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    lydian_trues = shared + 1;
    lydian_faults = lydian_trues + CHECKS;
    for (int i = 0; i < TESTS; i++) {
        memset(shared, 0, 2 * CHECKS + 1);
        pid_t child = fork();
        if (child == 0) {
            struct sigaction action = { .sa_handler = fault, .sa_flags = SA_NODEFER };
            sigaction(SIGFPE, &action, 0);
            sigaction(SIGSEGV, &action, 0);
            sigaction(SIGBUS, &action, 0);
            freopen("/dev/null", "w", stdout);
            alarm(20);
            tests[i]();
            shared[0] = 1;
            _exit(0);
        }
        waitpid(child, 0, 0);
        putchar(shared[0] ? '1' : '0');
        for (long k = 0; k < CHECKS; k++)
            putchar(lydian_trues[k] ? '1' : lydian_faults[k] ? '!' : '0');
        fflush(stdout);
    }
    return 0;
}
"#;

/// Random calls of the program's functions whose parameters are numbers and pointers to numbers.
pub fn random_tests(subject: &Subject, each: usize, length: u64, seed: u64) -> Vec<Test> {
    let types = &subject.program.types;
    let is_number = |ty| {
        let scalar = types.scalar(ty).filter(|scalar| *scalar != lydian_ir::Type::Ptr);
        scalar.is_some() && types.size(ty).is_some_and(|size| size <= 8)
    };
    let is_simple = |ty| is_number(ty) || types.pointee(ty).is_some_and(is_number);
    let mut tests = Vec::new();
    for func in &subject.functions {
        let function = &subject.program.functions[*func];
        let CType::Function { params, variadic: false, .. } = types.get(function.ty) else {
            continue;
        };
        if !params.iter().all(|ty| is_simple(*ty)) {
            continue;
        }
        let mut rng = Rng::new(seed ^ func.index() as u64);
        tests.extend((0..each).map(|_| subject.random_test(*func, length, &mut rng)));
    }
    tests
}
