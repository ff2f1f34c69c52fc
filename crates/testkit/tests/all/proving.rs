//! Proofs about random programs against runs of the interpreter. More of them, and smaller ones of those
//! that contradict: `cargo run -p lydian-testkit --example prove_random`.

use std::time::Duration;

use lydian_testkit::oracle::seeds;
use lydian_testkit::proving::judgement::{Judgement, Times, judge};
use lydian_testkit::proving::labels::UnderTest;
use lydian_testkit::proving::reduction::reduced;
use lydian_testkit::proving::runs::Loader;
use lydian_testkit::proving::writing::{function_under_test, whole_program};

/// Little time: an engine that is wrong is so at once, most of the time.
const TIMES: Times = Times { pinned: Duration::from_millis(300), open: Duration::from_millis(100) };

#[test]
fn no_error_that_a_run_gets_to_is_out_of_reach() {
    let loader = Loader::new();
    let mut all = Judgement::default();
    let mut judged = 0;
    for seed in seeds(0..24) {
        let Ok(program) = loader.whole(&whole_program(seed)) else { continue };
        let judgement = judge(&program, seed, TIMES);
        assert_eq!(judgement.contradictions, [""; 0], "seed {seed}");
        judged += usize::from(judgement.skipped.is_none());
        all.add(judgement);
    }
    assert!(judged > 16, "{judged} programs are judged");
    assert!(all.reached > 8, "{}", all.summary());
    assert!(all.followed > all.runs / 2, "{}", all.summary());
}

#[test]
fn no_label_that_a_run_covers_is_out_of_reach() {
    let loader = Loader::new();
    let mut all = Judgement::default();
    for seed in seeds(0..4) {
        let Ok(subject) = UnderTest::read(&loader, &function_under_test(seed)) else { continue };
        let judgement = subject.judge(seed, TIMES);
        assert_eq!(judgement.contradictions, [""; 0], "seed {seed}");
        all.add(judgement);
    }
    assert!(all.reached > 100, "{}", all.summary());
}

#[test]
fn expressions_of_labels_keep_the_rules_of_the_ir() {
    let loader = Loader::new();
    for seed in seeds(101..121) {
        let subject = UnderTest::read(&loader, &function_under_test(seed));
        let why = subject.err().filter(|why| why.contains("ill-formed"));
        assert_eq!(why, None, "seed {seed}");
    }
}

#[test]
fn a_smaller_program_has_what_it_was_made_smaller_for() {
    let text = "int a;\nint main(void)\n{\nif (a) {\na++;\nfail();\n}\nwhile (a) {\na--;\n}\n}";
    let smaller = reduced(text, &mut |text| text.contains("fail()") && text.contains("main"));
    assert_eq!(smaller, "int main(void)\nfail();");
}
