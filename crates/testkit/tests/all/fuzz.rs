//! The front end on a few hundred trees and texts that no clang prints and no programmer writes.
//! The `fuzz` bench does the same for as long as one likes.

use lydian_base::{Rng, SourceMap};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::lower::{LoweringOptions, lower};
use lydian_frontend::{Dump, ParseRequest, parse_unit};
use lydian_ir::verify::verify;
use lydian_testkit::fuzz::{Reading, Tree, mutated_text, read_dump};

use crate::files::root;

fn program(name: &str) -> std::path::PathBuf {
    root().join("crates/frontend/tests/programs").join(name)
}

#[test]
fn trees_that_contradict_themselves_are_read_or_rejected_without_a_panic() {
    let mut lowered = 0;
    // In the first two, values of struct type came to stand where only lvalues do: lowering once
    // asked for the place of the value and for the value of the place, for ever.
    for name in ["memory.c", "initialisers.c", "old_style.c"] {
        let request = ParseRequest::new(program(name), CompileFlags::default());
        let mut dump = Dump::of(&request).unwrap();
        let tree = Tree::read(&dump.output).unwrap();
        dump.output = tree.print();
        assert!(matches!(read_dump(&dump), Reading::Lowered(1..)), "{name}");
        for seed in 0..60 {
            dump.output = tree.mutated(&mut Rng::new(seed)).print();
            lowered += usize::from(matches!(read_dump(&dump), Reading::Lowered(1..)));
        }
    }
    assert!(lowered > 40, "most mutants are rejected: {lowered} are lowered");
}

#[test]
fn what_is_lowered_of_a_mutated_text_is_well_formed() {
    let text = std::fs::read_to_string(program("old_style.c")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::copy(program("check.h"), folder.path().join("check.h")).unwrap();
    let file = folder.path().join("mutant.c");
    for seed in 0..25 {
        let mutant = mutated_text(&text, &mut Rng::new(seed));
        std::fs::write(&file, &mutant).unwrap();
        let request = ParseRequest::new(&file, CompileFlags::default());
        let Ok(unit) = parse_unit(&request) else { continue };
        let lowered = lower(&unit.ast, &unit.source, LoweringOptions::default());
        let faults = verify(&lowered.program);
        assert!(faults.is_empty(), "seed {seed}: {}\n{mutant}", faults[0]);
    }
}

#[test]
fn columns_of_texts_that_do_not_belong_together_are_found_without_a_panic() {
    let text = std::fs::read_to_string(program("old_style.c")).unwrap();
    let mut moved = 0;
    for seed in 0..100 {
        let source = mutated_text(&text, &mut Rng::new(seed));
        let made = mutated_text(&text, &mut Rng::new(seed + 1000));
        let mut map = SourceMap::from_preprocessed(format!("# 1 \"a.c\"\n{made}"), "a.c");
        let plain = map.clone();
        map.find_columns(|_| Some(source.clone()));
        for at in (0..map.text().len() as u32).step_by(3) {
            let (found, before) = (map.place(at), plain.place(at));
            assert!(found.column > 0 && found.line == before.line, "seed {seed}: {found}");
            moved += usize::from(found != before);
        }
    }
    assert!(moved > 0, "some lines come out even");
}
