//! What value ranges prove, and that no run of random programs passes what they exclude.

use std::time::Duration;

use lydian_ir::interp::Options;
use lydian_objective::trace::Tracer;
use lydian_objective::{Criterion, LabelId};
use lydian_testkit::agreement::{Batch, Settings};
use lydian_testkit::cprogram::Features;
use lydian_testkit::oracle::Subject;
use rustc_hash::FxHashSet;

const TIME: Duration = Duration::from_secs(60);

/// The names and predicates of the labels of the last function that are proved infeasible.
fn proved(text: &str, criterion: Criterion) -> Vec<String> {
    let subject = Subject::read(text, &[criterion], false);
    let last = subject.objectives.len() - 1;
    let objectives = &subject.objectives[last];
    let label = |id: &LabelId| objectives.labels[*id].text.clone();
    subject.proved_infeasible(last, TIME).iter().map(label).collect()
}

fn has(proved: &[String], text: &str) -> bool {
    proved.iter().any(|label| label == text)
}

#[test]
fn a_loop_counter_stays_between_its_start_and_its_limit() {
    let text = "int f(const int *a, int n)\n{\n    int sum = 0;\n    if (n > 9)\n        n = 9;\n    \
                for (int i = 0; i < n; i++)\n        sum += a[i];\n    return sum;\n}\n";
    let proved = proved(text, Criterion::Wm);
    let absolute = "(i < n) ^ (((i ^ (i >> 31)) - (i >> 31)) < n)";
    assert!(has(&proved, absolute), "{proved:#?}");
    let next = "(i + 1) != (((i + 1) ^ ((i + 1) >> 31)) - ((i + 1) >> 31))";
    assert!(has(&proved, next), "{proved:#?}");
    assert!(!proved.iter().any(|label| label.contains("sum +")), "a sum can be negative");
}

#[test]
fn a_call_gives_what_its_callee_returns() {
    let text = "static int kind(unsigned char c)\n{\n    if (c < 128)\n        return 0;\n    \
                return c < 192 ? -1 : 2;\n}\n\
                int f(unsigned char c)\n{\n    int k = kind(c);\n    if (k > 2)\n        return 9;\n    \
                if (k < 0)\n        return k;\n    return k == 1 || k < 3;\n}\n";
    let proved = proved(text, Criterion::Cc);
    assert!(has(&proved, "k > 2"), "{proved:#?}");
    assert!(has(&proved, "!(k < 3)"), "{proved:#?}");
    assert!(!has(&proved, "k == 1"), "an interval has no gaps: {proved:#?}");
}

#[test]
fn what_a_test_says_of_a_copy_it_says_of_the_original() {
    let text = "int f(const char *s)\n{\n    int faults = 0;\n    for (; *s; s++)\n        \
                if (*s == 'x' && faults++ > 0)\n            return -1;\n    return faults;\n}\n";
    let proved = proved(text, Criterion::Wm);
    let negative = "faults != ((faults ^ (faults >> 31)) - (faults >> 31))";
    assert!(has(&proved, negative), "{proved:#?}");
}

#[test]
fn numbers_that_wrap_can_be_anything() {
    let text = "int f(int n)\n{\n    int i = 0;\n    while (n-- != 0)\n        i++;\n    \
                unsigned char c = (unsigned char)(i + 200);\n    if (i < 0 || c > 100)\n        \
                return 1;\n    return 0;\n}\n";
    assert_eq!(proved(text, Criterion::Cc), Vec::<String>::new());
}

#[test]
fn no_run_of_random_programs_covers_what_is_proved_infeasible() {
    let settings = Settings { cases: 6, tests: 12, ..Settings::default() };
    let (mut excluded, mut passed) = (0, 0);
    for first in [0, 500, 90_000] {
        let batch = Batch::new(first, &settings, Features::All, false);
        let subject = &batch.subject;
        let tracer = Tracer::new(&subject.program, &subject.objectives, false);
        let mut covered: Vec<FxHashSet<LabelId>> =
            vec![FxHashSet::default(); subject.objectives.len()];
        let mut rng = lydian_base::Rng::new(first ^ 0x5eed);
        for case in &batch.cases {
            for _ in 0..settings.tests {
                let test = case.test(&case.arguments(&mut rng));
                let options = Options { max_steps: 20_000, ..Options::default() };
                let (trace, _) = tracer.run(&test, &options).expect("tests suit their program");
                for event in &trace.events {
                    let of =
                        |one: &lydian_objective::FunctionObjectives| one.function == event.function;
                    let index = subject.objectives.iter().position(of).expect("it is annotated");
                    covered[index].extend(&event.labels);
                }
            }
        }
        for (index, covered) in covered.iter().enumerate() {
            let proved = subject.proved_infeasible(index, TIME);
            for label in &proved {
                assert!(!covered.contains(label), "{}", subject.describe(index, *label));
            }
            excluded += proved.len();
            passed += covered.len();
        }
    }
    assert!(excluded > 100 && passed > 1_000, "{excluded} labels are proved, {passed} covered");
}
