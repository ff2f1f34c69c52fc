//! Exploring small programs in text form.

use std::time::Duration;

use lydian_base::SourceMap;
use lydian_inputs::Settings;
use lydian_ir::TrapKind;
use lydian_objective::Criterion;
use lydian_smt::{Answer, BitBlastSolver, Reason, SatBackend, Solver, Term, TermPool};
use lydian_symex::{Config, Ending};

use crate::common::{self, explore_text, explore_with, plain};

/// `int both(int a, int b) { if (a > 3 && b == a + 1) return 1; return 0; }`
const BOTH: &str = r#"
ty0 = int "int" 32 signed
ty1 = function ty0 (ty0, ty0)
function f0 "both" ty1 external ("a", "b") {
  params (v0, v1)
  local v0 "a" ty0 param register i32
  local v1 "b" ty0 param register i32
  entry bb0
  bb0: branch $x:gt.s(v0, 3:i32) ? bb1 : bb3 [d0 c0 begins else false]
  bb1: branch $y:eq(v1, add.s(v0, 1:i32)) ? bb2 : bb3 [d0 c1 then true else false]
  bb2: return 1:i32
  bb3: return 0:i32
  decision d0 control = and(c0, c1) { c0 pure = $x c1 pure = $y }
}
"#;

#[test]
fn every_path_of_a_function_is_found_once() {
    let found = explore_text(BOTH, "both", &[], &plain());
    assert_eq!(found.summary.path_count(), 3);
    assert!(found.summary.complete);
    assert_eq!(found.tests.len(), 3);
}

#[test]
fn all_combinations_of_conditions_are_covered_also_those_that_evaluation_does_not_reach() {
    let found = explore_text(BOTH, "both", &[Criterion::Mcc], &Config::default());
    assert_eq!(found.covered(Criterion::Mcc).len(), 4, "{:?}", found.summary.left);
    assert!(found.summary.left.is_empty());
}

/// `unsigned sum(unsigned n) { unsigned s = 0; for (unsigned i = 0; i < n; i++) s += 10 / (n - 3);
/// return s; }`
const LOOP: &str = r#"
ty0 = int "unsigned int" 32 unsigned
ty1 = function ty0 (ty0)
function f0 "sum" ty1 external ("n") {
  params (v0)
  local v0 "n" ty0 param register i32
  local v1 "i" ty0 var register i32
  local v2 "s" ty0 var register i32
  entry bb0
  bb0: s0: v1 = 0:i32 s1: v2 = 0:i32 goto bb1
  bb1: branch $x:lt.u(v1, v0) ? bb2 : bb3 [d0 c0 begins then true else false]
  bb2: s2: v2 = add.u(v2, div.u(10:i32, sub.u(v0, 3:i32))) s3: v1 = add.u(v1, 1:i32) goto bb1
  bb3: return v2
  decision d0 control = c0 { c0 pure = $x }
}
"#;

#[test]
fn a_loop_is_cut_at_its_bound_and_a_trap_has_its_test() {
    let mut config = plain();
    config.limits.loop_bound = Some(5);
    let found = explore_text(LOOP, "sum", &[], &config);
    let trapped = Ending::Trapped(TrapKind::DivisionByZero);
    assert_eq!(found.summary.paths.get(&trapped), Some(&1));
    assert!(!found.summary.complete);
    let test = found.tests.iter().find(|test| test.ending == trapped).expect("a crashing test");
    assert_eq!(test.test.args[0].bytes, [3, 0, 0, 0]);
    // n = 0, 1, 2, 4, 5 return; 3 traps; 6 and more are cut.
    assert_eq!(found.summary.paths.get(&Ending::Returned), Some(&5));
}

/// Answers only questions that have the full time of one question.
struct Slow {
    inner: BitBlastSolver,
    needs: Duration,
    refused: u32,
}

impl Solver for Slow {
    fn check(
        &mut self,
        pool: &mut TermPool,
        query: &[Term],
        limits: &lydian_smt::Limits,
    ) -> Answer {
        match limits.time {
            Some(time) if time < self.needs => {
                self.refused += 1;
                Answer::Unknown(Reason::Time(time))
            }
            _ => self.inner.check(pool, query, limits),
        }
    }

    fn name(&self) -> String {
        "slow".into()
    }
}

#[test]
fn questions_without_an_answer_in_little_time_are_asked_again_and_nothing_is_lost() {
    let mut config = Config::default();
    config.limits.time = None;
    config.stop_when_covered = false;
    let needs = config.limits.query_time.expect("a limit");
    let criteria = [Criterion::Mcc, Criterion::Wm];
    let quick = explore_text(BOTH, "both", &criteria, &config);
    let mut solver = Slow { inner: BitBlastSolver::new(SatBackend::default()), needs, refused: 0 };
    let program = lydian_ir::text::parse(BOTH).expect("the text is well-formed");
    let map = SourceMap::from_preprocessed(" ".repeat(4096), "test.c");
    let settings = Settings::default();
    let slow = explore_with(&mut solver, program, &map, "both", &criteria, &config, settings);
    assert!(solver.refused > 0);
    assert!(quick.summary.complete && slow.summary.complete, "{:?}", slow.summary);
    assert_eq!(slow.summary.paths, quick.summary.paths);
    assert_eq!(slow.summary.covered.len(), quick.summary.covered.len());
    let left = |explored: &common::Explored| {
        explored.summary.left.iter().map(|left| left.label).collect::<Vec<_>>()
    };
    assert_eq!(left(&slow), left(&quick));
}
