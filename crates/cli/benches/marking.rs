//! MC/DC by marking functions against explicitly instrumented source, after Table II and Figure 6 of
//! [003]: states, paths and time of exploring both, and of exploring the program for its statements alone.
//!
//!     cargo bench -p lydian-cli --bench marking [-- [WORD...] [merge] [rounds=N] [time=SECONDS] [show]]
//!
//! The programs have long and nested decisions, and all but the smallest take more than a second. Words choose programs by
//! their names. Each is made as C text in three forms:
//!
//! - *plain* and *marked* are the program itself. Marked is explored for MC/DC, whose labels lie beside
//!   the program; plain is explored for its statements.
//! - *instrumented* has in front of each decision an `if` for the value of each condition, and one for each
//!   obligation of MC/DC, whose statement notes it ([003] II-A). It is explored for its statements.
//! - *short* has the `if`s for obligations alone, which evaluate conditions in the order of the decision
//!   and no further than needed. That is less instrumentation than the paper's.
//!
//! What `time` cuts short (60 s by default) is marked with `>`. All paths are followed to their ends, without merging as in the paper, or with `merge` as in `lydian
//! gen`. Times are processor times, the least of some rounds, of the exploration alone. `show` prints the
//! texts. The obligations that each form covers must be the same in number.

#[path = "shared/processor.rs"]
mod processor;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use comfy_table::{Table, presets};
use lydian_base::{Budget, CancelToken};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::lower::LoweringOptions;
use lydian_frontend::{LoadRequest, ParseRequest, Unit};
use lydian_inputs::{InputSpec, Settings};
use lydian_objective::annotate::{Request, annotate};
use lydian_objective::{Criterion, FunctionObjectives};
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, Limits, Summary, Task};
use processor::timed;

/// A decision over named conditions, each of which it has once.
enum Tree {
    Condition(&'static str),
    And(Box<Tree>, Box<Tree>),
    Or(Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
}

/// A program: a function of integers that passes decisions in turn.
struct Subject {
    name: &'static str,
    parameters: usize,
    decisions: Vec<Step>,
}

/// A decision with what follows on its sides.
struct Step {
    decision: Tree,
    /// Decisions that are only passed where it holds.
    inner: Vec<Step>,
}

/// The form of a program's text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Plain,
    Instrumented,
    Short,
}

/// What the words of the command line say.
struct Options {
    words: Vec<String>,
    merge: bool,
    rounds: u32,
    time: Duration,
    show: bool,
}

fn main() {
    let mut options = Options {
        words: vec![],
        merge: false,
        rounds: 3,
        time: Duration::from_secs(120),
        show: false,
    };
    for word in std::env::args().skip(1).filter(|word| word != "--bench") {
        match word.split_once('=') {
            Some(("rounds", given)) => options.rounds = given.parse().expect("a number"),
            Some(("time", given)) => {
                options.time = Duration::from_secs(given.parse().expect("a number of seconds"));
            }
            None if word == "merge" => options.merge = true,
            None if word == "show" => options.show = true,
            _ => options.words.push(word),
        }
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "program",
        "conditions",
        "explored",
        "states",
        "paths",
        "MC/DC covered",
        "time",
        "to plain",
        "to marked",
    ]);
    let chosen = |subject: &Subject| {
        options.words.is_empty()
            || options.words.iter().any(|word| subject.name.contains(word.as_str()))
    };
    for subject in subjects().into_iter().filter(chosen) {
        subject.compare(&options, &mut table);
    }
    say(&table.to_string());
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).expect("the output takes it");
}

fn all(trees: impl IntoIterator<Item = Tree>) -> Tree {
    joined(trees, |a, b| Tree::And(Box::new(a), Box::new(b)))
}

fn any(trees: impl IntoIterator<Item = Tree>) -> Tree {
    joined(trees, |a, b| Tree::Or(Box::new(a), Box::new(b)))
}

fn joined(trees: impl IntoIterator<Item = Tree>, join: fn(Tree, Tree) -> Tree) -> Tree {
    trees.into_iter().reduce(join).expect("there are operands")
}

fn not(tree: Tree) -> Tree {
    Tree::Not(Box::new(tree))
}

fn is(text: &'static str) -> Tree {
    Tree::Condition(text)
}

fn step(decision: Tree) -> Step {
    Step { decision, inner: Vec::new() }
}

fn subjects() -> Vec<Subject> {
    let brakes = vec![
        step(any([
            all([is("a > 3"), is("b < 9"), is("c != 4")]),
            all([is("d >= 12"), is("e <= 40")]),
        ])),
        step(all([any([is("f > 0"), is("g > 0"), is("h > 0")]), any([is("i < 7"), is("j < 7")])])),
        step(any([all([is("k == 1"), is("l != 2")]), all([is("m > n"), is("o < p")])])),
        step(all([is("q > 5"), any([is("r > 5"), not(all([is("s > 5"), is("t > 5")]))])])),
        step(any([
            all([is("u > 1"), is("v > 2")]),
            all([is("w > 3"), is("x > 4")]),
            all([is("y > 5"), is("z > 6")]),
        ])),
    ];
    let guidance = vec![
        Step {
            decision: all([any([is("a > b"), is("c > 100")]), any([is("d < 3"), is("e == 8")])]),
            inner: vec![
                step(any([
                    all([is("f > 10"), is("g < 10")]),
                    all([is("f < 0 - 10"), is("h > 10")]),
                ])),
                step(all([is("i != 0"), any([is("j > 1"), is("k > 1"), is("l > 1")])])),
            ],
        },
        Step {
            decision: not(any([is("m > 50"), all([is("n > 50"), is("o > 50")])])),
            inner: vec![step(any([
                is("a > b + 5"),
                all([is("c > 120"), is("d < 1")]),
                is("p == 3"),
            ]))],
        },
        step(any([all([is("q > 7"), is("r < 7")]), all([is("s > 7"), is("t < 7")])])),
        step(all([
            any(["u > 1", "v > 2", "w > 3"].map(is)),
            any(["x > 4", "y > 5", "z > 6"].map(is)),
        ])),
    ];
    let modes = vec![
        step(any(["a == 1", "b == 2", "c == 3", "d == 4", "e == 5", "f == 6"].map(is))),
        step(all(["g > 1", "h > 2", "i > 3", "j > 4", "k > 5", "l > 6"].map(is))),
        step(any([
            all(["m < 1", "n < 2", "o < 3"].map(is)),
            all(["p < 4", "q < 5", "r < 6"].map(is)),
        ])),
        step(all([is("s != 0"), is("t != 0")])),
        step(any([
            all(["u > 1", "v > 2", "w > 3"].map(is)),
            all(["x > 4", "y > 5", "z > 6"].map(is)),
        ])),
    ];
    let lever = vec![
        step(any([
            all([is("a > 3"), is("b < 9"), is("c != 4")]),
            all([is("d >= 12"), is("e <= 40")]),
        ])),
        step(all([any([is("f > 0"), is("g > 0"), is("h > 0")]), any([is("i < 7"), is("j < 7")])])),
        step(any([all([is("k == 1"), is("l != 2")]), all([is("m > n"), is("o < p")])])),
    ];
    vec![
        Subject { name: "lever", parameters: 16, decisions: lever },
        Subject { name: "brakes", parameters: 26, decisions: brakes },
        Subject { name: "guidance", parameters: 26, decisions: guidance },
        Subject { name: "modes", parameters: 26, decisions: modes },
    ]
}

impl Tree {
    /// The tree as C; `condition` gives the text of each condition.
    fn text(&self, condition: &dyn Fn(&str) -> String) -> String {
        match self {
            Self::Condition(text) => condition(text),
            Self::And(a, b) => format!("({} && {})", a.text(condition), b.text(condition)),
            Self::Or(a, b) => format!("({} || {})", a.text(condition), b.text(condition)),
            Self::Not(a) => format!("!{}", a.text(condition)),
        }
    }

    fn conditions(&self) -> Vec<&'static str> {
        match self {
            Self::Condition(text) => vec![text],
            Self::And(a, b) | Self::Or(a, b) => [a.conditions(), b.conditions()].concat(),
            Self::Not(a) => a.conditions(),
        }
    }

    /// The obligations of short-circuit MC/DC, two for each condition: what must hold in front of the
    /// decision for the condition to have a value and to decide the outcome with it. A left operand
    /// that is evaluated must not have ended the operator, and a right operand that is evaluated must not
    /// mask this one ([003] III, Figures 3 and 4).
    fn obligations(&self, condition: &dyn Fn(&str) -> String) -> Vec<String> {
        let mut found = Vec::new();
        for value in [true, false] {
            self.collect(condition, value, &mut found);
        }
        found
            .into_iter()
            .map(|(before, own, behind, _)| conjunction(&[before, vec![own], behind]))
            .collect()
    }

    /// The obligations of a subtree, with what must hold before its condition is evaluated and behind it,
    /// and the value that the subtree has then.
    fn collect(&self, condition: &dyn Fn(&str) -> String, value: bool, into: &mut Vec<Obligation>) {
        match self {
            Self::Condition(text) => {
                let own = if value { condition(text) } else { format!("!{}", condition(text)) };
                into.push((Vec::new(), own, Vec::new(), value));
            }
            Self::Not(a) => {
                let at = into.len();
                a.collect(condition, value, into);
                into[at..].iter_mut().for_each(|one| one.3 = !one.3);
            }
            Self::And(a, b) | Self::Or(a, b) => {
                // The value that does not decide the operator.
                let neutral = matches!(self, Self::And(..));
                let is_neutral = |tree: &Self| match neutral {
                    true => tree.text(condition),
                    false => format!("!{}", tree.text(condition)),
                };
                let at = into.len();
                a.collect(condition, value, into);
                for one in into[at..].iter_mut().filter(|one| one.3 == neutral) {
                    one.2.push(is_neutral(b));
                }
                let at = into.len();
                b.collect(condition, value, into);
                into[at..].iter_mut().for_each(|one| one.0.insert(0, is_neutral(a)));
            }
        }
    }
}

/// What must hold before a condition is evaluated, the condition with its value, what must hold behind it,
/// and the value of the tree around it.
type Obligation = (Vec<String>, String, Vec<String>, bool);

fn conjunction(parts: &[Vec<String>]) -> String {
    parts.concat().join(" && ")
}

impl Subject {
    fn conditions(&self) -> usize {
        fn of(steps: &[Step]) -> usize {
            steps.iter().map(|step| step.decision.conditions().len() + of(&step.inner)).sum()
        }
        of(&self.decisions)
    }

    /// The program as C, and the number of its obligations' statements.
    fn text(&self, form: Form) -> String {
        let names = ('a'..).take(self.parameters).map(|name| format!("int {name}"));
        let parameters: Vec<String> = names.collect();
        let mut body = match form {
            Form::Instrumented => "    int v0, v1, v2, v3, v4, v5;\n".to_owned(),
            Form::Plain | Form::Short => String::new(),
        };
        let mut number = 0;
        for step in &self.decisions {
            write_step(step, form, &mut number, 1, &mut body);
        }
        format!(
            "int noted[200];\nint f({})\n{{\n    int result = 0;\n{body}    return result;\n}}\n",
            parameters.join(", ")
        )
    }

    fn compare(&self, options: &Options, table: &mut Table) {
        let (merge, time) = (options.merge, options.time);
        let texts = [Form::Plain, Form::Instrumented, Form::Short].map(|form| self.text(form));
        if options.show {
            texts.iter().for_each(|text| say(text));
        }
        let [plain, instrumented, short] = texts.map(|text| LoadedProgram::of(&text));
        let forms = [
            ("plain", &plain, Criterion::Stmt),
            ("marked", &plain, Criterion::Mcdc),
            ("instrumented", &instrumented, Criterion::Stmt),
            ("short", &short, Criterion::Stmt),
        ];
        let mut explored =
            forms.map(|(_, program, criterion)| program.explore(criterion, merge, time));
        // The forms take turns, so that other work on the machine meets all of them.
        for _ in 1..options.rounds {
            for ((_, program, criterion), best) in forms.iter().zip(&mut explored) {
                if best.summary.complete {
                    let next = program.explore(*criterion, merge, time);
                    best.seconds = best.seconds.min(next.seconds);
                }
            }
        }
        let [base, marked, with, least] = [0, 1, 2, 3].map(|at| explored[at].obligations);
        assert_eq!(base, 0, "the plain program notes nothing");
        let complete = explored.iter().all(|one| one.summary.complete);
        assert!(
            !complete || marked == with && marked == least,
            "{marked}, {with}, {least} obligations"
        );
        let (plain, marked) = (explored[0].seconds, explored[1].seconds);
        for (at, ((name, ..), one)) in forms.iter().zip(&explored).enumerate() {
            let cut = if one.summary.complete { "" } else { ">" };
            let of_first = |text: String| if at == 0 { text } else { String::new() };
            table.add_row([
                of_first(self.name.to_owned()),
                of_first(self.conditions().to_string()),
                (*name).to_owned(),
                format!("{cut}{}", one.summary.statistics.steps),
                format!("{cut}{}", one.summary.path_count()),
                one.obligations.to_string(),
                format!("{cut}{:.2} s", one.seconds),
                format!("{cut}{:.2}", one.seconds / plain),
                format!("{cut}{:.2}", one.seconds / marked),
            ]);
        }
    }
}

fn write_step(step: &Step, form: Form, number: &mut usize, depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    let in_source = |condition: &str| format!("({condition})");
    let conditions = step.decision.conditions();
    let of_value = |condition: &str| {
        let at = conditions.iter().position(|one| *one == condition).expect("it is one of them");
        format!("v{at}")
    };
    if form == Form::Instrumented {
        for (at, condition) in conditions.iter().enumerate() {
            _ = writeln!(
                text,
                "{indent}v{at} = 0;\n{indent}if ({condition})\n{indent}    v{at} = 1;"
            );
        }
    }
    let obligations = match form {
        Form::Plain => Vec::new(),
        Form::Instrumented => step.decision.obligations(&of_value),
        Form::Short => step.decision.obligations(&in_source),
    };
    for obligation in obligations {
        _ = writeln!(text, "{indent}if ({obligation})\n{indent}    noted[{number}] = 1;");
        *number += 1;
    }
    let decision = step.decision.text(&in_source);
    _ = writeln!(text, "{indent}if ({decision}) {{\n{indent}    result += {depth};");
    for inner in &step.inner {
        _ = writeln!(text, "{indent}    {{");
        write_step(inner, form, number, depth + 2, text);
        _ = writeln!(text, "{indent}    }}");
    }
    _ = writeln!(text, "{indent}}} else {{\n{indent}    result -= 1;\n{indent}}}");
}

/// An exploration.
struct Exploration {
    summary: Summary,
    /// The obligations of MC/DC that are covered: labels of it, or statements that note one.
    obligations: usize,
    /// Seconds of processor time.
    seconds: f64,
}

/// A program that is ready to be explored.
struct LoadedProgram {
    unit: Unit,
    spec: InputSpec,
    /// The lines with statements that note an obligation.
    notes: BTreeSet<u32>,
}

impl LoadedProgram {
    fn of(text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("f.c");
        std::fs::write(&file, text).expect("a file can be written");
        let request = LoadRequest {
            parse: ParseRequest::new(&file, CompileFlags::default()),
            lowering: LoweringOptions::default(),
        };
        let mut unit = lydian_frontend::load(&request).expect("the text is C");
        lydian_inputs::prepare(&mut unit.program);
        let spec = InputSpec::new(&unit.program, Settings::default());
        lydian_process::finish();
        let lines = text.lines().zip(1..);
        let notes = lines.filter(|(line, _)| line.contains("noted[") && line.contains('='));
        let notes = notes.map(|(_, number)| number).collect();
        Self { unit, spec, notes }
    }

    fn explore(&self, criterion: Criterion, merge: bool, time: Duration) -> Exploration {
        let program = &self.unit.program;
        let func = program.function_named("f").expect("the text defines it");
        let request = Request::new([criterion]);
        let annotation = annotate(program, &self.unit.source, func, &request);
        let objectives = [annotation.expect("it has a body").objectives];
        let config = Config {
            limits: Limits::unbounded(),
            stop_when_covered: false,
            look_ahead: false,
            crash_tests: false,
            merge,
            ..Config::default()
        };
        let budget = Budget::start(Some(time), CancelToken::new());
        let mut solver = standard_chain(&ChainConfig::default());
        let (spec, config, budget) = (&self.spec, &config, &budget);
        let task =
            Task { program, func, spec, objectives: &objectives, known: &[], config, budget };
        let (summary, seconds) = timed(|| task.run(&mut *solver, &mut |_| {}));
        let summary = summary.expect("the inputs are integers");
        let obligations = self.obligations(criterion, &objectives[0], &summary);
        Exploration { summary, obligations, seconds }
    }

    fn obligations(
        &self,
        criterion: Criterion,
        objectives: &FunctionObjectives,
        summary: &Summary,
    ) -> usize {
        let notes = |label: lydian_objective::LabelId| {
            self.notes.contains(&objectives.labels[label].place.line)
        };
        let is_one = |label| criterion == Criterion::Mcdc || notes(label);
        summary.covered.iter().filter(|covered| is_one(covered.label)).count()
    }
}
