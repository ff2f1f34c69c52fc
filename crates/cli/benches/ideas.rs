//! The effect of each idea of the exploration: the same programs with one idea left out at a time.
//!
//!     cargo bench -p lydian-cli --bench ideas [-- [WORD...] [time=SECONDS] [rounds=N]]
//!
//! Words choose programs by their names. `time` limits one exploration (default 10 s); what it ends
//! stands with `>`. Of `rounds` (default 3) the least time counts, unless one takes a second.
//!
//! The programs are those of the bench `klee` at their larger bounds, and two of Table I. Every path of
//! `main` is followed to its end, with the labels of branch coverage in all functions, in this process:
//! no compiler and no test is run. Times are processor times of the exploration.
//!
//! Left out are: merging of ways (`--no-merge`), state merging behind loops and calls that do not matter
//! (`--no-state-merging`), label deletion (P* alone) and its flavours (`--label-deletion`), letting labels
//! wait for the program's own paths, models that are tried before solving, their repair, linear arithmetic,
//! slices of path conditions, and remembered answers.

#[path = "shared/processor.rs"]
mod processor;
#[path = "klee/subjects.rs"]
mod subjects;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};
use lydian_base::{Budget, CancelToken};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest};
use lydian_inputs::{InputSpec, Settings};
use lydian_ir::{FuncId, Program};
use lydian_objective::annotate::{Request, annotate};
use lydian_objective::{Criterion, FunctionObjectives};
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{Config, LabelDeletion, Limits, Summary, Task};
use processor::timed;
use subjects::SUBJECTS;

/// An idea, and what an exploration without it is.
struct Idea {
    name: &'static str,
    without: fn(&mut Config, &mut ChainConfig),
}

const IDEAS: [Idea; 11] = [
    Idea { name: "merging", without: |config, _| config.merge = false },
    Idea { name: "state merging", without: |config, _| config.merge_states_after = None },
    Idea { name: "deletion", without: |config, _| config.label_deletion = LabelDeletion::Off },
    Idea { name: "IDL-2", without: |config, _| config.label_deletion = LabelDeletion::Solved },
    Idea { name: "kept inputs", without: |config, _| config.label_deletion = LabelDeletion::Run },
    Idea { name: "patience", without: |config, _| config.label_patience = 0 },
    Idea { name: "models", without: |_, chain| chain.models = 0 },
    Idea { name: "repair", without: |_, chain| chain.repair = false },
    Idea { name: "linear", without: |_, chain| chain.linear = false },
    Idea { name: "slices", without: |_, chain| chain.slices = false },
    Idea { name: "caching", without: |_, chain| chain.caching = false },
];

struct Options {
    words: Vec<String>,
    time: Duration,
    rounds: u32,
}

fn main() {
    let options = options();
    let mut header = vec!["program".to_owned(), "all, s".to_owned(), "paths".to_owned()];
    header.extend(IDEAS.iter().map(|idea| format!("no {}", idea.name)));
    let columns = header.len();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header);
    let mut logarithms: Vec<Vec<f64>> = IDEAS.iter().map(|_| Vec::new()).collect();
    for program in &programs(&options.words) {
        let loaded = LoadedProgram::of(program);
        // What is touched for the first time takes longer.
        loaded.explore(|_, _| {}, options.time);
        let all = loaded.fastest(|_, _| {}, &options);
        let mut row = vec![program.name.to_owned(), all.text(), all.paths().to_string()];
        for (idea, logarithms) in IDEAS.iter().zip(&mut logarithms) {
            let without = loaded.fastest(idea.without, &options);
            if all.summary.complete && without.summary.complete {
                assert_eq!(
                    covered(&all),
                    covered(&without),
                    "{} without {}",
                    program.name,
                    idea.name
                );
            }
            let ratio = without.seconds / all.seconds;
            logarithms.push(ratio.ln());
            let cut = if without.summary.complete { "" } else { ">" };
            row.push(format!("{cut}{ratio:.2}"));
        }
        note(&row.join(" "));
        table.add_row(row);
    }
    let means = logarithms.iter().map(|all| (all.iter().sum::<f64>() / all.len() as f64).exp());
    let mut last = vec!["geometric mean".to_owned(), String::new(), String::new()];
    last.extend(means.map(|mean| format!("{mean:.2}")));
    table.add_row(last);
    for column in 1..columns {
        let column = table.column_mut(column).expect("the table has this column");
        column.set_cell_alignment(CellAlignment::Right);
    }
    say(&table.to_string());
}

fn options() -> Options {
    let mut options = Options { words: Vec::new(), time: Duration::from_secs(10), rounds: 3 };
    for word in std::env::args().skip(1).filter(|word| word != "--bench") {
        match word.split_once('=') {
            Some(("time", value)) => {
                options.time = Duration::from_secs_f64(value.parse().expect("time=SECONDS"));
            }
            Some(("rounds", value)) => options.rounds = value.parse().expect("rounds=NUMBER"),
            _ => options.words.push(word),
        }
    }
    options
}

/// What is explored.
struct Subject {
    name: &'static str,
    file: PathBuf,
    function: &'static str,
    flags: Vec<String>,
}

/// Those that words choose; no words choose all.
fn programs(words: &[String]) -> Vec<Subject> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let whole = SUBJECTS.iter().filter(|subject| subject.after.is_none());
    let whole = whole.filter(|subject| !subject.small && subject.is_chosen(words));
    let whole = whole.map(|subject| Subject {
        name: subject.name,
        file: root.join("benches/klee").join(subject.name).with_extension("c"),
        function: "main",
        flags: subject.flags().collect(),
    });
    let functions = [("tcas", "collision_advice"), ("utf8", "utf8_5")];
    let is_chosen = |name: &str| words.is_empty() || words.iter().any(|word| word == name);
    let functions = functions.into_iter().filter(|(name, _)| is_chosen(name));
    let functions = functions.map(|(name, function)| Subject {
        name,
        file: root.join("../../examples/table1").join(name).with_extension("c"),
        function,
        flags: Vec::new(),
    });
    whole.chain(functions).collect()
}

/// A program that is ready to be explored.
struct LoadedProgram {
    program: Program,
    func: FuncId,
    spec: InputSpec,
    objectives: Vec<FunctionObjectives>,
}

/// An exploration, and how many seconds of processor time it took.
struct Exploration {
    summary: Summary,
    seconds: f64,
}

impl LoadedProgram {
    fn of(subject: &Subject) -> Self {
        let flags =
            CompileFlags::new(&subject.flags, &subject.file).expect("the flags are clang's");
        let request = LoadRequest::new(ParseRequest::new(&subject.file, flags));
        let mut unit = lydian_frontend::load(&request).expect("the program is C");
        lydian_process::finish();
        lydian_inputs::prepare(&mut unit.program);
        let func = unit.program.function_named(subject.function).expect("it is defined");
        let request = Request::new([Criterion::Bc]);
        let functions = unit.program.defined().map(|(func, _)| func);
        let objectives = functions.map(|func| {
            let annotation = annotate(&unit.program, &unit.source, func, &request);
            annotation.expect("a defined function has a body").objectives
        });
        let objectives = objectives.collect();
        let mut settings = Settings::default();
        // A program starts with the values that its globals have.
        let of_function = settings.function.entry(subject.function.to_owned());
        of_function.or_default().globals.get_or_insert_default();
        let spec = InputSpec::new(&unit.program, settings);
        Self { program: unit.program, func, spec, objectives }
    }

    /// The fastest of several explorations without an idea.
    fn fastest(
        &self,
        without: fn(&mut Config, &mut ChainConfig),
        options: &Options,
    ) -> Exploration {
        let mut best = self.explore(without, options.time);
        for _ in 1..options.rounds {
            if best.seconds > 1.0 {
                break;
            }
            let next = self.explore(without, options.time);
            if next.seconds < best.seconds {
                best = next;
            }
        }
        best
    }

    fn explore(&self, without: fn(&mut Config, &mut ChainConfig), time: Duration) -> Exploration {
        let mut config = Config {
            limits: Limits { query_time: Some(time), ..Limits::unbounded() },
            stop_when_covered: false,
            look_ahead: false,
            ..Config::default()
        };
        let mut chain = ChainConfig::default();
        without(&mut config, &mut chain);
        let budget = Budget::start(Some(time), CancelToken::new());
        let mut solver = standard_chain(&chain);
        let task = Task {
            program: &self.program,
            func: self.func,
            spec: &self.spec,
            objectives: &self.objectives,
            known: &[],
            config: &config,
            budget: &budget,
        };
        let (summary, seconds) = timed(|| task.run(&mut *solver, &mut |_| {}));
        Exploration { summary: summary.expect("the inputs can be planned"), seconds }
    }
}

impl Exploration {
    fn paths(&self) -> u64 {
        self.summary.path_count() + self.summary.label_paths
    }

    fn text(&self) -> String {
        let cut = if self.summary.complete { "" } else { ">" };
        format!("{cut}{:.3}", self.seconds)
    }
}

fn covered(explored: &Exploration) -> std::collections::BTreeSet<lydian_symex::LabelRef> {
    explored.summary.covered.iter().copied().collect()
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout(), "{text}");
}

fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
