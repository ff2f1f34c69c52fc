//! Judges proofs about random programs, and makes those smaller that show a contradiction:
//!
//! ```text
//! cargo run -p lydian-testkit --example prove_random -- SEED COUNT [labels]
//! cargo run -p lydian-testkit --example prove_random -- FILE
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use std::process::ExitCode;

use lydian_testkit::proving::judgement::{Judgement, Times, judge};
use lydian_testkit::proving::labels::UnderTest;
use lydian_testkit::proving::reduction::reduced;
use lydian_testkit::proving::runs::Loader;
use lydian_testkit::proving::writing::{function_under_test, whole_program};

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if let [file] = &args[..] {
        return judge_file(file);
    }
    let number = |at: usize| args.get(at).and_then(|arg| arg.parse::<u64>().ok());
    let (Some(first), Some(count)) = (number(0), number(1)) else {
        eprintln!("give the first seed and how many there are");
        return ExitCode::from(2);
    };
    let loader = Loader::new();
    let mut all = Judgement::default();
    let mut skipped = 0;
    let show = args.iter().any(|arg| arg == "show");
    let of_labels = args.get(2).is_some_and(|arg| arg == "labels");
    let judged = |text: &str, seed| match of_labels {
        true => judged_labels(&loader, text, seed),
        false => judged_errors(&loader, text, seed),
    };
    for seed in first..first + count {
        // A panic comes behind the seed that shows it.
        eprint!("{seed} ");
        let text = if of_labels { function_under_test(seed) } else { whole_program(seed) };
        if show {
            println!("{text}");
        }
        let judgement = judged(&text, seed);
        if let Some(why) = &judgement.skipped {
            println!("seed {seed}: {why}");
            skipped += 1;
        }
        if !judgement.contradictions.is_empty() {
            println!("seed {seed}: {:#?}", judgement.contradictions);
            let mut shows = |text: &str| {
                let smaller = judged(text, seed);
                smaller.skipped.is_none() && !smaller.contradictions.is_empty()
            };
            println!("{}", reduced(&text, &mut shows));
        }
        all.add(judgement);
    }
    println!("{:#?}", all.inexact);
    println!("{count} programs, {skipped} skipped: {}", all.summary());
    if all.contradictions.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn judged_errors(loader: &Loader, text: &str, seed: u64) -> Judgement {
    match loader.whole(text) {
        Ok(program) => judge(&program, seed, Times::default()),
        Err(why) => Judgement { skipped: Some(why), ..Judgement::default() },
    }
}

fn judged_labels(loader: &Loader, text: &str, seed: u64) -> Judgement {
    match UnderTest::read(loader, text) {
        Ok(subject) => subject.judge(seed, Times::default()),
        Err(why) => Judgement { skipped: Some(why), ..Judgement::default() },
    }
}

/// Judges the program of a file.
fn judge_file(file: &str) -> ExitCode {
    let Ok(text) = std::fs::read_to_string(file) else {
        eprintln!("{file} cannot be read");
        return ExitCode::from(2);
    };
    let judgement = judged_errors(&Loader::new(), &text, 0);
    println!("{judgement:#?}");
    if judgement.contradictions.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
