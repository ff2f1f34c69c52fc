//! Runs that an observer stops.

use super::*;

/// Stops a run when it has been asked so many times.
struct Patience(u64);

impl Observer for Patience {
    fn listens(&self) -> bool {
        false
    }

    fn stops(&mut self) -> bool {
        self.0 = self.0.saturating_sub(1);
        self.0 == 0
    }
}

/// A loop without an end, in a function that `f` calls.
const FOREVER: &str = "function f0 \"f\" ty14 external () { params ()
     entry bb0 bb0: s0: call f1 ty14 () () return void }
function f1 \"g\" ty14 external () { params ()
     entry bb0 bb0: goto bb1 bb1: goto bb1 }
";

#[test]
fn an_observer_that_does_not_listen_may_stop_a_run_all_the_same() {
    let program = program(FOREVER);
    let run = |patience| {
        let options = Options { max_steps: u64::MAX, ..Options::default() };
        run(&program, &test(vec![]), &options, &mut Patience(patience)).unwrap()
    };
    let (short, long) = (run(1), run(3));
    assert_eq!(short.end, End::Stopped(StopReason::Cancelled));
    assert_eq!(long.end, End::Stopped(StopReason::Cancelled));
    assert!(short.steps > 1_000_000 && long.steps > 2 * short.steps, "{}", short.steps);
}

#[test]
fn a_limit_beyond_several_checkpoints_is_met_to_the_step() {
    let program = program(FOREVER);
    let options = Options { max_steps: 10_000_001, ..Options::default() };
    let outcome = run(&program, &test(vec![]), &options, &mut Silent).unwrap();
    assert_eq!(outcome.end, End::Stopped(StopReason::Steps(10_000_001)));
    assert_eq!(outcome.steps, 10_000_001);
    let functions: Vec<usize> =
        outcome.open_calls.iter().map(|call| call.function.index()).collect();
    assert_eq!(functions, [1, 0], "the calls that were open");
}
