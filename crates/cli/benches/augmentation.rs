//! Augmented exploration: tables 1 and 2 of [004] on functions written after the names of its subjects,
//! beside the paper's figures, and beside the same ends by criteria of labels.
//!
//!     cargo bench -p lydian-cli --bench augmentation [-- quick]
//!
//! For each function and way: the tests, the questions about transformed conditions, and the wall-clock
//! time of `lydian gen` for that function alone. For each file and way: the mutants of the text that its
//! suite kills (`lydian mutate`), and the transformed comparisons and clauses that it satisfies. `quick`
//! leaves these out.

#[path = "augmentation/paper.rs"]
mod paper;
#[path = "augmentation/tables.rs"]
mod tables;
#[path = "augmentation/ways.rs"]
mod ways;

use std::io::Write as _;
use std::path::Path;

use tables::Subject;
use ways::{Adequacy, Cost, Feasible, WAYS, adequacy, cost, feasible};

fn main() {
    let quick = std::env::args().any(|word| word == "quick");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/augmentation");
    let named = subjects(&folder.join("named.c"), quick);
    let integers = subjects(&folder.join("integers.c"), quick);
    let mut all = named;
    all.push(Subject::average("integers", &integers));
    if !quick {
        say(&tables::scores(&all));
    }
    say(&tables::costs(&all));
    say(&tables::ways(&all));
}

/// The functions of a file, each with all ways.
fn subjects(file: &Path, quick: bool) -> Vec<Subject> {
    let known = feasible(file).expect("the file can be explored");
    let adequate: Vec<Vec<Adequacy>> = match quick {
        true => Vec::new(),
        false => WAYS.iter().map(|way| whole_file(way, file, &known)).collect(),
    };
    let of_function = |known: &Feasible| {
        let name = &known.function;
        let cost = |way| cost(way, file, name).unwrap_or_else(|| panic!("{name} by {}", way.name));
        let costs: Vec<Cost> = WAYS.iter().map(cost).collect();
        let own = |all: &Vec<Adequacy>| {
            all.iter().find(|one| one.function == *name).expect("each function is measured").clone()
        };
        Subject::new(name, &costs, &adequate.iter().map(own).collect::<Vec<_>>())
    };
    known.iter().map(of_function).collect()
}

fn whole_file(way: &ways::Way, file: &Path, known: &[Feasible]) -> Vec<Adequacy> {
    adequacy(way, file, known).unwrap_or_else(|| panic!("{} by {}", file.display(), way.name))
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    drop(writeln!(out, "{text}\n"));
}
