//! The studies of [001] 7.3 on subjects of its authors' repository: all def-use pairs of whole programs.
//!
//!     cargo bench -p lydian-cli --bench data_flow -- FOLDER [--subjects NAME,NAME] [--time SECONDS]
//!         [--provers together,engines,exploration] [--searches dfs,random-state,md2u,sdgs,cpgs]
//!         [--out FILE]
//!
//! `FOLDER` is a copy of the repository (`tingsu/hybrid_dft` on GitHub), whose folder `benchmark` has
//! the subjects. Their text with KLEE's functions is read, as it is, and `lydian prove --criteria
//! all-uses` has `--time` seconds (default 20) and one thread for each. Of the groups `ntdrivers` and
//! `ssh` two subjects each are run; the rest of the repository is left for measurements later. `totinfo`
//! and `printtokens` include headers that the repository does not have.
//!
//! Printed are, for each way to prove, the pairs that are covered, infeasible and unknown, with the
//! median times at which they were decided, and beside them the paper's counts (`paper.csv`, from its
//! tables 1, 2 and 4; its pairs are those of CIL's text, so their numbers differ). Then follow the
//! pairs that two ways to prove decide differently, and the reasons for what is unknown.
//!
//! With `--searches` it is the study of the paper's table 2 instead: the exploration alone, in these orders
//! (the paper's DFS, RSS, RSS-MD2U, SDGS and CPGS), with the pairs that each covers, the median of the times
//! at which they were covered and half the distance between the quartiles, beside the paper's figures.

#[path = "data_flow/paper.rs"]
mod paper;
#[path = "data_flow/searches.rs"]
mod searches;
#[path = "data_flow/subjects.rs"]
mod subjects;
#[path = "data_flow/tables.rs"]
mod tables;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::Command;
use std::time::Instant;

use serde_json::Value;

use subjects::{SUBJECTS, Subject};
use tables::{Pair, Run, Verdict};

/// The program under measurement.
const LYDIAN: &str = env!("CARGO_BIN_EXE_lydian");

/// The functions of KLEE that subjects ask for inputs with.
const KLEE: &str = "\
void klee_make_symbolic(void *object, unsigned long size, const char *name);
void klee_assume(unsigned long condition);
";

/// The words of the command line.
struct Options {
    folder: PathBuf,
    subjects: Vec<String>,
    time: f64,
    provers: Vec<String>,
    searches: Vec<String>,
    out: Option<PathBuf>,
}

fn main() {
    let Some(options) = Options::read() else {
        return say("the bench needs a copy of the authors' repository: -- FOLDER");
    };
    let mut runs = Vec::new();
    for subject in SUBJECTS.iter().filter(|subject| options.wants(subject)) {
        for way in options.ways() {
            let run = run(subject, &way, &options);
            say(&run.line());
            runs.push(run);
        }
    }
    if options.searches.is_empty() {
        for provers in &options.provers {
            let own: Vec<&Run> = runs.iter().filter(|run| run.provers == *provers).collect();
            say(&format!("\n{provers}:\n{}", tables::verdicts(&own)));
        }
        say(&format!("\n{}", tables::reasons(&runs)));
    } else {
        say(&format!("\n{}", searches::table(&runs, &options.searches)));
    }
    say(&format!("\n{}", tables::disagreements(&runs)));
    if let Some(out) = &options.out {
        let text = serde_json::to_string_pretty(&runs).expect("results are valid JSON");
        std::fs::write(out, text + "\n").expect("the file can be written");
    }
}

impl Options {
    fn read() -> Option<Self> {
        let mut options = Self {
            folder: PathBuf::new(),
            subjects: Vec::new(),
            time: 20.0,
            provers: vec!["together".to_owned()],
            searches: Vec::new(),
            out: None,
        };
        let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("an option has a value");
            let names = |text: String| text.split(',').map(String::from).collect();
            match word.as_str() {
                "--subjects" => options.subjects = names(value()),
                "--time" => options.time = value().parse().expect("seconds"),
                "--provers" => options.provers = names(value()),
                "--searches" => options.searches = names(value()),
                "--out" => options.out = Some(value().into()),
                option if option.starts_with('-') => panic!("no option is named {option}"),
                folder => options.folder = folder.into(),
            }
        }
        (!options.folder.as_os_str().is_empty()).then_some(options)
    }

    /// The ways to prove that are compared.
    fn ways(&self) -> Vec<Way> {
        let provers = self.provers.iter();
        match self.searches.is_empty() {
            true => provers.map(|provers| Way { provers: provers.clone(), search: None }).collect(),
            false => {
                let exploration = |search: &String| Way {
                    provers: "exploration".to_owned(),
                    search: Some(search.clone()),
                };
                self.searches.iter().map(exploration).collect()
            }
        }
    }

    fn wants(&self, subject: &Subject) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|name| name == subject.name)
    }
}

/// Who looks for answers, and in which order the exploration follows paths.
struct Way {
    provers: String,
    search: Option<String>,
}

/// Proves what is known of the pairs of a subject.
fn run(subject: &Subject, way: &Way, options: &Options) -> Run {
    let Way { provers, search } = way;
    let folder = tempfile::tempdir().expect("a temporary folder");
    let answers = folder.path().join("answers.json");
    let header = folder.path().join("klee");
    std::fs::create_dir(&header).expect("the folder can be made");
    std::fs::write(header.join("klee.h"), KLEE).expect("the file can be written");
    let mut command = Command::new(LYDIAN);
    command.arg("prove").arg(subject.file(&options.folder)).args(["--criteria", "all-uses"]);
    command.args(["--jobs", "1", "--provers", provers, "--time", &options.time.to_string()]);
    search.iter().for_each(|search| _ = command.args(["--search", search]));
    command.arg("--json").arg(&answers).args(["--", "-w", "-I"]).arg(folder.path());
    let begun = Instant::now();
    let output = command.output().expect("lydian starts");
    let seconds = begun.elapsed().as_secs_f64();
    let mut run = Run {
        subject: subject.name.to_owned(),
        provers: search.as_ref().unwrap_or(provers).clone(),
        pairs: Vec::new(),
        seconds,
        trouble: None,
    };
    match std::fs::read_to_string(&answers) {
        Ok(text) => {
            let found: Value = serde_json::from_str(&text).expect("answers are JSON");
            run.pairs = found["objectives"].as_array().into_iter().flatten().map(pair).collect();
        }
        Err(_) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            run.trouble = Some(text.lines().last().unwrap_or("no answers").to_owned());
        }
    }
    run
}

/// A pair with what is known of it.
fn pair(found: &Value) -> Pair {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let answer = found["answer"].as_object().and_then(|answer| answer.iter().next());
    let (verdict, why) = match answer {
        Some((kind, _)) if kind == "reached" => (Verdict::Feasible, String::new()),
        Some((kind, _)) if kind == "unreachable" => (Verdict::Infeasible, String::new()),
        Some((_, why)) => (Verdict::Unknown, text(why)),
        None => (Verdict::Unknown, String::new()),
    };
    Pair {
        name: format!("{}: {}", text(&found["function"]), text(&found["name"])),
        text: text(&found["text"]),
        verdict,
        engine: text(&found["engine"]),
        seconds: found["seconds"].as_f64(),
        why,
    }
}

fn say(text: &str) {
    let _ = writeln!(std::io::stdout().lock(), "{text}");
}
