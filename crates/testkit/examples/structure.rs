//! Prints who uses whom among the modules of crates, and the circles of their files:
//!
//! ```text
//! cargo run -p lydian-testkit --example structure -- crates/symex
//! ```

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "it is a command")]

use std::path::Path;
use std::process::ExitCode;

use lydian_testkit::structure::Structure;

fn main() -> ExitCode {
    let crates: Vec<String> = std::env::args().skip(1).collect();
    if crates.is_empty() {
        eprintln!("give the folders of crates, such as crates/symex");
        return ExitCode::from(2);
    }
    for folder in crates {
        match Structure::read(&Path::new(&folder).join("src"), &["notes.rs"]) {
            Ok(structure) => print(&folder, &structure),
            Err(why) => {
                eprintln!("{folder}: {why}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn print(folder: &str, structure: &Structure) {
    println!("{folder}: {} files", structure.files());
    for ((from, to), files) in structure.arrows() {
        println!("  {from} -> {to}  ({files})");
    }
    for circle in structure.circles() {
        println!("  a circle of {} files: {}", circle.len(), circle.join(", "));
    }
}
