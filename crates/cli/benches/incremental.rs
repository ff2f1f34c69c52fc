//! What a second run costs after an edit of one function.
//!
//!     cargo bench -p lydian-cli --bench incremental [-- [functions=200] [seconds=2] [jobs=1]
//!         [criteria=stmt,bc,mcdc,wm] [edit=condition]]
//!
//! A file of functions that call each other and share types, variables and literals is written.
//! `lydian gen` runs on it, the file is edited, and `gen` runs again in the same folder, and once more in a
//! new one. Edits are `condition` (one function gets a condition and a literal), `constant` and `literal`
//! (one function has another), `type` and `variable` (ten functions share them).
//!
//! Printed are the three times, the time of the second run as a share of the first, and every objective
//! whose verdict differs between the second run and the fresh one.

#[path = "shared/connected.rs"]
mod connected;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use connected::{ConnectedFunctions, Edit};
use lydian_report::Summary;

struct Arguments {
    functions: usize,
    seconds: String,
    jobs: String,
    criteria: String,
    edit: String,
}

impl Arguments {
    fn of_arguments() -> Self {
        let mut asked = Self {
            functions: 200,
            seconds: "2".to_owned(),
            jobs: "1".to_owned(),
            criteria: "stmt,bc,mcdc,wm".to_owned(),
            edit: "condition".to_owned(),
        };
        for word in std::env::args().skip(1).filter(|word| !word.starts_with("--")) {
            match word.split_once('=') {
                Some(("functions", number)) => {
                    asked.functions = number.parse().expect("a number of functions");
                }
                Some(("seconds", number)) => asked.seconds = number.to_owned(),
                Some(("jobs", number)) => asked.jobs = number.to_owned(),
                Some(("criteria", names)) => asked.criteria = names.to_owned(),
                Some(("edit", name)) => asked.edit = name.to_owned(),
                _ => panic!("`{word}` is no argument of this bench; see the head of its file"),
            }
        }
        asked
    }

    /// The edit, in the middle of the file where it is one of a function.
    fn edit(&self) -> Edit {
        let middle = self.functions / 2;
        match self.edit.as_str() {
            "condition" => Edit::Condition(middle),
            "constant" => Edit::Constant(middle),
            "literal" => Edit::Literal(middle),
            "type" => Edit::Type,
            "variable" => Edit::Variable,
            other => panic!("`{other}` is no edit of this bench; see the head of its file"),
        }
    }
}

fn main() {
    let asked = Arguments::of_arguments();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let at = folder.path();
    let mut file = ConnectedFunctions::new(asked.functions);
    write(at, &file);
    let (first, _) = generate(at, "kept", &asked);
    say(&format!("first run: {first:.2} s"));
    file.edit(asked.edit());
    write(at, &file);
    let (second, kept) = generate(at, "kept", &asked);
    say(&format!("after the edit: {second:.2} s, {:.1} % of the first", 100.0 * second / first));
    let (fresh, anew) = generate(at, "fresh", &asked);
    say(&format!("fresh run: {fresh:.2} s"));
    let keys = kept.keys().chain(anew.keys().filter(|key| !kept.contains_key(*key)));
    let differ: Vec<_> = keys.filter(|key| kept.get(*key) != anew.get(*key)).collect();
    for key in &differ {
        say(&format!("{key}: {:?} after the edit, {:?} fresh", kept.get(*key), anew.get(*key)));
    }
    say(&format!("{} different objectives, {} verdicts differ", anew.len(), differ.len()));
}

fn say(text: &str) {
    writeln!(std::io::stdout(), "{text}").expect("standard output takes it");
}

fn write(at: &Path, file: &ConnectedFunctions) {
    std::fs::write(at.join("unit.c"), file.text()).expect("the file can be written");
}

/// The seconds of a run, and the verdicts by objective.
fn generate(at: &Path, folder: &str, asked: &Arguments) -> (f64, BTreeMap<String, String>) {
    let begun = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_lydian"))
        .current_dir(at)
        .args(["gen", "unit.c", "-c", &asked.criteria, "--time", &asked.seconds])
        .args(["--jobs", &asked.jobs, "--json", "table.json", "-o", folder])
        .output()
        .expect("lydian runs");
    let seconds = begun.elapsed().as_secs_f64();
    if !output.status.success() {
        say(&String::from_utf8_lossy(&output.stderr));
    }
    let table = std::fs::read(at.join("table.json")).expect("a run writes its table");
    let summary: Summary = serde_json::from_slice(&table).expect("the table is JSON");
    let mut verdicts = BTreeMap::new();
    for function in summary.functions {
        for it in function.objectives {
            let key = format!("{}:{}:{}", it.line, it.column, function.name);
            let key = format!("{key} {} {}: {}", it.criterion, it.name, it.text);
            let verdict: &mut String = verdicts.entry(key).or_default();
            *verdict += &format!("{} {:?};", it.verdict, it.assumptions);
        }
    }
    (seconds, verdicts)
}
