//! The experiments of [000] Table I on Lydian's own programs of the same kinds
//! (`examples/table1`): paths, time and labels covered for plain exploration, direct
//! instrumentation (DSE') and tight instrumentation with iterative label deletion (DSE*), beside
//! the paper's figures.
//!
//!     cargo bench -p lydian-cli --bench table1 [-- [WORD...] [merge] [time=SECONDS]
//!                                                  [plain=ROUNDS] [tight=ROUNDS]]
//!
//! Words choose programs by their names, and criteria. `time` limits one exploration (default 20 s);
//! what it cuts short is marked with `>`. With `merge`, decisions without effects fork once and choices
//! between values are terms, as in `lydian gen`; without, each way is a path, as in the paper.
//! `plain=ROUNDS` and `tight=ROUNDS` only repeat plain exploration, or DSE*, for a profiler.
//!
//! Times are processor times, which other work on the machine changes little: of the exploration, and
//! of all from the C source to its end, with the compiler that parses. The paper's times are of whole
//! runs of its tool. Native runs of the tests are in neither.
//!
//! Every exploration goes on after the last label, so that the paths of two modes can be compared.
//! Labels are those of the function and of all that it calls. The paths of DSE* are counted as in
//! [000] V-A: those of the program and, for each input that was made for labels alone, the path
//! that ends there.

#[path = "shared/processor.rs"]
mod processor;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use lydian_base::{Budget, CancelToken};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::lower::LoweringOptions;
use lydian_frontend::{LoadRequest, ParseRequest, Unit};
use lydian_inputs::{InputSpec, Settings};
use lydian_ir::{Callee, FuncId, Program, Stmt};
use lydian_objective::annotate::{Request, annotate};
use lydian_objective::{Criterion, FunctionObjectives};
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, Limits, Mode, Summary, Task};
use processor::{processor_time, timed};

/// The paper's figures for one mode: paths, seconds, labels covered (none for plain exploration).
type Figures = (u32, f64, Option<u32>);

/// A row of [000] Table I.
struct Paper {
    labels: u32,
    plain: Figures,
    direct: Option<Figures>,
    tight: Figures,
}

/// A program of the experiment.
struct Subject {
    name: &'static str,
    file: &'static str,
    function: &'static str,
    /// Criteria, with the paper's row where it has one.
    criteria: [(Criterion, Option<Paper>); 3],
}

/// A criterion of the paper's table with its row.
#[allow(clippy::unnecessary_wraps, reason = "some entries of the table have no row")]
const fn paper(
    labels: u32,
    plain: Figures,
    direct: Option<Figures>,
    tight: Figures,
) -> Option<Paper> {
    Some(Paper { labels, plain, direct, tight })
}

/// The experiment, with the figures of [000] Table I.
const SUBJECTS: [Subject; 7] = [
    Subject {
        name: "trityp",
        file: "trityp.c",
        function: "trityp",
        criteria: [
            (
                Criterion::Cc,
                paper(24, (35, 1.3, None), Some((183, 1.6, Some(24))), (46, 4.5, Some(24))),
            ),
            (
                Criterion::Mcc,
                paper(28, (35, 1.3, None), Some((337, 1.9, Some(28))), (66, 2.1, Some(28))),
            ),
            (Criterion::Wm, paper(129, (35, 1.3, None), None, (48, 5.1, Some(120)))),
        ],
    },
    Subject {
        name: "four_balls",
        file: "four_balls.c",
        function: "four_balls",
        criteria: [
            (Criterion::Cc, None),
            (Criterion::Mcc, None),
            (
                Criterion::Wm,
                paper(67, (7, 1.2, None), Some((195, 1.9, Some(56))), (23, 2.1, Some(56))),
            ),
        ],
    },
    Subject {
        name: "utf8_3",
        file: "utf8.c",
        function: "utf8_3",
        criteria: [
            (Criterion::Cc, None),
            (Criterion::Mcc, None),
            (
                Criterion::Wm,
                paper(84, (134, 1.4, None), Some((1379, 4.2, Some(55))), (313, 3.8, Some(55))),
            ),
        ],
    },
    Subject {
        name: "utf8_5",
        file: "utf8.c",
        function: "utf8_5",
        criteria: [
            (Criterion::Cc, None),
            (Criterion::Mcc, None),
            (
                Criterion::Wm,
                paper(84, (680, 2.0, None), Some((11111, 40.0, Some(82))), (743, 8.1, Some(82))),
            ),
        ],
    },
    Subject {
        name: "utf8_7",
        file: "utf8.c",
        function: "utf8_7",
        criteria: [
            (Criterion::Cc, None),
            (Criterion::Mcc, None),
            (
                Criterion::Wm,
                paper(
                    84,
                    (3069, 5.8, None),
                    Some((81133, 576.0, Some(82))),
                    (3265, 35.0, Some(82)),
                ),
            ),
        ],
    },
    Subject {
        name: "tcas",
        file: "tcas.c",
        function: "collision_advice",
        criteria: [
            (
                Criterion::Cc,
                paper(10, (2787, 2.9, None), Some((3508, 3.6, Some(10))), (2815, 3.4, Some(10))),
            ),
            (
                Criterion::Mcc,
                paper(12, (2787, 2.9, None), Some((3988, 4.2, Some(11))), (3059, 3.9, Some(11))),
            ),
            (
                Criterion::Wm,
                paper(
                    111,
                    (4420, 5.6, None),
                    Some((300_213, 662.0, Some(101))),
                    (6014, 27.0, Some(101)),
                ),
            ),
        ],
    },
    Subject {
        name: "replace",
        file: "replace.c",
        function: "replace",
        criteria: [
            (Criterion::Cc, None),
            (Criterion::Mcc, None),
            (
                Criterion::Wm,
                paper(
                    79,
                    (866, 2.0, None),
                    Some((87_498, 245.0, Some(70))),
                    (2347, 14.0, Some(70)),
                ),
            ),
        ],
    },
];

/// Time for one question to the solver, as `lydian gen` gives it.
const QUERY_TIME: Duration = Duration::from_secs(2);

/// What the command line asks for.
struct Options {
    words: Vec<String>,
    time: Duration,
    /// A mode whose exploration is only repeated so often.
    rounds: Option<(Mode, u32)>,
    /// Whether ways through decisions are merged.
    merge: bool,
}

fn main() {
    let options = options();
    let chosen: Vec<&Subject> =
        SUBJECTS.iter().filter(|subject| options.chooses(subject.name)).collect();
    if let Some((mode, rounds)) = options.rounds {
        chosen.iter().for_each(|subject| repeat(subject, mode, rounds, &options));
        return;
    }
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "program",
        "criterion",
        "labels",
        "mode",
        "paths",
        "time, s",
        "from source, s",
        "covered",
        "infeasible",
        "paper: labels",
        "paths",
        "time, s",
        "covered",
    ]);
    let mut plains = Vec::new();
    let mut measured = Vec::new();
    let mut ratios = Vec::new();
    for subject in chosen {
        let loaded = LoadedProgram::of(subject, options.merge);
        let plain = loaded.fastest(Mode::Plain, &[], options.time);
        for (criterion, paper) in &subject.criteria {
            if !options.chooses_criterion(*criterion) {
                continue;
            }
            let (objectives, annotating) = timed(|| loaded.objectives(*criterion));
            let direct = loaded.explore(Mode::Direct, &objectives, options.time);
            let tight = loaded.fastest(Mode::Tight, &objectives, options.time);
            let labels = objectives.iter().map(|function| function.labels.len()).sum();
            let front_end = [loaded.loading, loaded.loading + annotating];
            let row =
                Row { subject: subject.name, criterion: *criterion, labels, paper, front_end };
            row.add(&mut table, "plain", &plain, paper.as_ref().map(|paper| paper.plain));
            row.add(&mut table, "DSE'", &direct, paper.as_ref().and_then(|paper| paper.direct));
            row.add(&mut table, "DSE*", &tight, paper.as_ref().map(|paper| paper.tight));
            ratios.push(Ratio::of(&row, &plain, &tight));
            note(&format!("{} {criterion}: done", subject.name));
        }
        measured.push((subject.name, loaded.measured(options.time), rest_of(&plain)));
        plains.push((subject.name, plain));
    }
    for column in [2, 4, 5, 6, 7, 8, 9, 10, 11, 12] {
        let column = table.column_mut(column).expect("the table has thirteen columns");
        column.set_cell_alignment(CellAlignment::Right);
    }
    say(&table.to_string());
    say("\nDSE* in plain exploration; in brackets the paper's, whose times are from the source on");
    say("                      paths         time          from source");
    ratios.iter().for_each(Ratio::show);
    say("\nplain exploration");
    plains.iter().for_each(|(name, plain)| show_plain(name, plain));
    say(
        "\nplain exploration: where the time outside of the solver goes (goal: at most 10 % not on terms)",
    );
    measured.iter().for_each(|(name, plain, steps)| show_shares(name, plain, *steps));
}

fn options() -> Options {
    let mut options =
        Options { words: Vec::new(), time: Duration::from_secs(20), rounds: None, merge: false };
    for word in std::env::args().skip(1).filter(|word| word != "--bench") {
        match word.split_once('=') {
            Some(("time", value)) => {
                options.time = Duration::from_secs_f64(value.parse().expect("time=SECONDS"));
            }
            Some(("plain", value)) => {
                options.rounds = Some((Mode::Plain, value.parse().expect("plain=ROUNDS")));
            }
            Some(("tight", value)) => {
                options.rounds = Some((Mode::Tight, value.parse().expect("tight=ROUNDS")));
            }
            None if word == "merge" => options.merge = true,
            _ => options.words.push(word),
        }
    }
    options
}

/// The criteria of the table.
const CRITERIA: [Criterion; 3] = [Criterion::Cc, Criterion::Mcc, Criterion::Wm];

impl Options {
    /// Whether the words choose a program; those that name none choose all.
    fn chooses(&self, name: &str) -> bool {
        let mut words = self.words.iter().filter(|word| !is_criterion(word)).peekable();
        words.peek().is_none() || words.any(|word| name.contains(&**word))
    }

    fn chooses_criterion(&self, criterion: Criterion) -> bool {
        let mut words = self.words.iter().filter(|word| is_criterion(word)).peekable();
        words.peek().is_none() || words.any(|word| *word == criterion.to_string())
    }
}

fn is_criterion(word: &str) -> bool {
    CRITERIA.iter().any(|criterion| criterion.to_string() == word)
}

/// Explores again and again.
fn repeat(subject: &Subject, mode: Mode, rounds: u32, options: &Options) {
    let loaded = LoadedProgram::of(subject, options.merge);
    if mode == Mode::Plain {
        for _ in 0..rounds {
            show_plain(subject.name, &loaded.explore(mode, &[], options.time));
        }
        return;
    }
    for criterion in CRITERIA.into_iter().filter(|one| options.chooses_criterion(*one)) {
        let objectives = loaded.objectives(criterion);
        for _ in 0..rounds {
            let found = loaded.explore(mode, &objectives, options.time);
            let name = format!("{} {criterion}", subject.name);
            show_plain(&name, &found);
            let statistics = &found.summary.statistics;
            let counts = (statistics.label_queries, statistics.free_labels, statistics.terms);
            say(&format!("    {counts:?} questions about labels, free labels, terms"));
        }
    }
}

/// An exploration.
struct Exploration {
    summary: Summary,
    /// Seconds of processor time.
    seconds: f64,
}

/// A program that is ready to be explored.
struct LoadedProgram {
    unit: Unit,
    func: FuncId,
    spec: InputSpec,
    merge: bool,
    /// Seconds of processor time that it took until here.
    loading: f64,
}

impl LoadedProgram {
    fn of(subject: &Subject, merge: bool) -> Self {
        let (loaded, loading) = timed(|| Self::load(subject, merge));
        Self { loading, ..loaded }
    }

    fn load(subject: &Subject, merge: bool) -> Self {
        let file = examples().join(subject.file);
        let request = LoadRequest {
            parse: ParseRequest::new(&file, CompileFlags::default()),
            lowering: LoweringOptions::default(),
        };
        let mut unit = lydian_frontend::load(&request).expect("the example is C");
        lydian_inputs::prepare(&mut unit.program);
        let func = unit.program.function_named(subject.function).expect("the example defines it");
        let spec = InputSpec::new(&unit.program, Settings::default());
        lydian_process::finish();
        Self { unit, func, spec, merge, loading: 0.0 }
    }

    /// The objectives of the function and of all that it calls.
    fn objectives(&self, criterion: Criterion) -> Vec<FunctionObjectives> {
        let request = Request::new([criterion]);
        called(&self.unit.program, self.func)
            .into_iter()
            .map(|func| {
                let annotation = annotate(&self.unit.program, &self.unit.source, func, &request);
                annotation.expect("a called function has a body").objectives
            })
            .collect()
    }

    fn explore(
        &self,
        mode: Mode,
        objectives: &[FunctionObjectives],
        time: Duration,
    ) -> Exploration {
        self.explore_with(Config { mode, ..Config::default() }, objectives, time)
    }

    /// The fastest of five plain explorations with the time on terms measured.
    fn measured(&self, time: Duration) -> Summary {
        let config = Config { mode: Mode::Plain, measure_terms: true, ..Config::default() };
        let all = (0..5).map(|_| self.explore_with(config.clone(), &[], time).summary);
        all.min_by_key(|found| found.statistics.total_time).expect("there are five")
    }

    fn explore_with(
        &self,
        config: Config,
        objectives: &[FunctionObjectives],
        time: Duration,
    ) -> Exploration {
        let config = Config {
            limits: Limits { query_time: Some(QUERY_TIME), ..Limits::unbounded() },
            stop_when_covered: false,
            look_ahead: false,
            merge: self.merge,
            crash_tests: false,
            ..config
        };
        let budget = Budget::start(Some(time), CancelToken::new());
        let mut solver = standard_chain(&ChainConfig::default());
        let task = Task {
            program: &self.unit.program,
            func: self.func,
            spec: &self.spec,
            objectives,
            known: &[],
            config: &config,
            budget: &budget,
        };
        let (summary, seconds) = timed(|| task.run(&mut *solver, &mut |_| {}));
        Exploration { summary: summary.expect("the example's inputs can be planned"), seconds }
    }

    /// The fastest of several explorations, fewer of those that take long.
    fn fastest(
        &self,
        mode: Mode,
        objectives: &[FunctionObjectives],
        time: Duration,
    ) -> Exploration {
        let (mut best, begun) = (self.explore(mode, objectives, time), processor_time());
        for _ in 0..9 {
            if processor_time() - begun + best.seconds > 3.0 {
                break;
            }
            let next = self.explore(mode, objectives, time);
            assert_eq!(next.summary.paths, best.summary.paths, "an exploration is deterministic");
            if next.seconds < best.seconds {
                best = next;
            }
        }
        best
    }
}

/// Nanoseconds for one step, outside of the solver.
fn rest_of(found: &Exploration) -> f64 {
    let statistics = &found.summary.statistics;
    let outside = statistics.total_time.saturating_sub(statistics.solver_time);
    outside.as_nanos() as f64 / statistics.steps.max(1) as f64
}

fn show_shares(name: &str, measured: &Summary, step: f64) {
    let statistics = &measured.statistics;
    let measuring = statistics.solver_time + statistics.clock_time;
    let outside = statistics.total_time.saturating_sub(measuring).as_secs_f64();
    let terms = 100.0 * statistics.term_time.as_secs_f64() / outside.max(1e-9);
    say(&format!(
        "  {name:12} terms {terms:5.1} %, the rest {:5.1} %; {step:.0} ns a step without measuring",
        100.0 - terms
    ));
}

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/table1")
}

/// A function and all defined functions that it calls, in the order of the program.
fn called(program: &Program, root: FuncId) -> BTreeSet<FuncId> {
    let mut found = BTreeSet::from([root]);
    let mut waiting = vec![root];
    while let Some(func) = waiting.pop() {
        let Some(body) = &program.functions[func].body else { continue };
        for (_, stmt) in body.stmts.iter() {
            if let Stmt::Call { callee: Callee::Direct(callee), .. } = stmt
                && program.functions[*callee].body.is_some()
                && found.insert(*callee)
            {
                waiting.push(*callee);
            }
        }
    }
    found
}

/// Paths as [000] counts them.
fn paths(summary: &Summary) -> u64 {
    summary.path_count() + summary.label_paths
}

/// What the rows of one program and criterion share.
struct Row<'a> {
    subject: &'static str,
    criterion: Criterion,
    labels: usize,
    paper: &'a Option<Paper>,
    /// Seconds of processor time before plain exploration, and before others.
    front_end: [f64; 2],
}

impl Row<'_> {
    /// Seconds of processor time from the source to the end of an exploration.
    fn time_from_source(&self, plain: bool, found: &Exploration) -> f64 {
        self.front_end[usize::from(!plain)] + found.seconds
    }

    fn add(&self, table: &mut Table, mode: &str, explored: &Exploration, paper: Option<Figures>) {
        let plain = mode == "plain";
        let found = &explored.summary;
        let cut = if found.complete { "" } else { ">" };
        let (covered, infeasible) = match (plain, found.complete) {
            (true, _) => (String::new(), String::new()),
            (false, true) => {
                let proved = found.left.iter().filter(|left| left.reasons.is_empty()).count();
                (found.covered.len().to_string(), proved.to_string())
            }
            (false, false) => (found.covered.len().to_string(), "?".to_owned()),
        };
        let figure = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
        table.add_row([
            self.subject.to_owned(),
            self.criterion.to_string(),
            self.labels.to_string(),
            mode.to_owned(),
            format!("{cut}{}", paths(found)),
            format!("{cut}{:.4}", explored.seconds),
            format!("{cut}{:.3}", self.time_from_source(plain, explored)),
            covered,
            infeasible,
            figure(self.paper.as_ref().map(|paper| paper.labels.to_string())),
            figure(paper.map(|paper| paper.0.to_string())),
            figure(paper.map(|paper| paper.1.to_string())),
            figure(paper.and_then(|paper| paper.2).map(|covered| covered.to_string())),
        ]);
    }
}

/// How much more DSE* takes than plain exploration.
struct Ratio {
    what: String,
    paths: f64,
    time: f64,
    from_source: f64,
    paper: Option<(f64, f64)>,
    complete: bool,
}

impl Ratio {
    fn of(row: &Row<'_>, plain: &Exploration, tight: &Exploration) -> Self {
        let of_paper = |paper: &Paper| {
            let paths = f64::from(paper.tight.0) / f64::from(paper.plain.0);
            (paths, paper.tight.1 / paper.plain.1)
        };
        Self {
            what: format!("{} {}", row.subject, row.criterion),
            paths: paths(&tight.summary) as f64 / paths(&plain.summary) as f64,
            time: tight.seconds / plain.seconds,
            from_source: row.time_from_source(false, tight) / row.time_from_source(true, plain),
            paper: row.paper.as_ref().map(of_paper),
            complete: plain.summary.complete && tight.summary.complete,
        }
    }

    fn show(&self) {
        let bracket = |ratio: Option<f64>| ratio.map(|ratio| format!("({ratio:.2})"));
        let [paths, times] = [self.paper.map(|paper| paper.0), self.paper.map(|paper| paper.1)]
            .map(|ratio| bracket(ratio).unwrap_or_default());
        let cut = if self.complete { "" } else { " (cut short)" };
        let Self { what, paths: ours, time, from_source, .. } = self;
        say(&format!(
            "  {what:18} {ours:5.2} {paths:7} {time:6.2}        {from_source:5.2} {times:7}{cut}"
        ));
    }
}

fn show_plain(name: &str, plain: &Exploration) {
    let plain = &plain.summary;
    let statistics = &plain.statistics;
    let share = |part: Duration| 100.0 * part.as_secs_f64() / statistics.total_time.as_secs_f64();
    say(&format!(
        "  {name:12} {:6} paths {:8.3} s; solver {:4.1} %, {} queries ({} satisfiable); {} steps",
        paths(plain),
        statistics.total_time.as_secs_f64(),
        share(statistics.solver_time),
        statistics.queries,
        statistics.satisfiable,
        statistics.steps,
    ));
    for (cut, count) in &plain.cuts {
        say(&format!("    {count} times: {cut}"));
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
