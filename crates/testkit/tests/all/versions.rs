//! `lydian diff` on random edits of random functions, against all inputs of both versions.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds; a failure names the seed and shows both texts.

use std::time::Duration;

use lydian::{CancelToken, DiffRequest, DiffVerdict, Difference, Event, VersionDiff};
use lydian_ir::interp::Interpreter;
use lydian_testkit::oracle::{Subject, seeds};
use lydian_testkit::versions::{SmallInput, VersionPair, first_difference};

/// The functions of one text.
const FUNCTIONS: u64 = 8;

fn compared(pair: &VersionPair) -> VersionDiff {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file can be written");
        path
    };
    let request = DiffRequest {
        old_flags: None,
        old: file("old.c", &pair.old),
        new: file("new.c", &pair.new),
        functions: pair.functions.clone(),
        flags: Vec::new(),
        compile_commands: None,
        time: Duration::from_secs(20),
        elements: 4,
    };
    let silent = |_: Event<'_>| {};
    VersionDiff::between(&request, &CancelToken::new(), &silent).expect("both versions are C")
}

/// The input of a difference.
fn input(difference: &Difference) -> SmallInput {
    let value = |name: &str| {
        let found = difference.inputs.iter().find(|input| input.name == name);
        found.map_or(0, |input| input.value.parse::<u8>().expect("a small number"))
    };
    SmallInput { a: value("a"), b: value("b") != 0, state: value("state") != 0 }
}

#[test]
fn no_difference_is_missed_and_none_is_made_up() {
    let (mut equal, mut differ, mut unknown) = (0, 0, Vec::new());
    for seed in seeds(0..4) {
        let pair = VersionPair::random(seed, FUNCTIONS);
        let old = Subject::read(&pair.old, &[], false).program;
        let new = Subject::read(&pair.new, &[], false).program;
        for one in compared(&pair).functions {
            let name = one.function.as_str();
            let shown = || format!("seed {seed}, {one:?}\n{}\n{}", pair.old, pair.new);
            let found = first_difference(&old, &new, name);
            match &one.verdict {
                DiffVerdict::EqualText
                | DiffVerdict::EqualCode
                | DiffVerdict::Proved { .. }
                | DiffVerdict::ProvedByEngines { .. } => {
                    equal += 1;
                    assert_eq!(found, None, "{}", shown());
                }
                DiffVerdict::Differs(difference) => {
                    differ += 1;
                    let input = input(difference);
                    let before = input.run(&Interpreter::new(&old), &old, name);
                    let after = input.run(&Interpreter::new(&new), &new, name);
                    assert!(before.is_some() && before != after, "{}", shown());
                }
                DiffVerdict::Unknown { reason } => unknown.push(reason.clone()),
                other => panic!("{other:?}: {}", shown()),
            }
        }
    }
    assert!(equal > 0 && differ > 0, "{equal} equal, {differ} differ");
    assert!(unknown.len() * 10 <= equal + differ, "{unknown:?}");
}
