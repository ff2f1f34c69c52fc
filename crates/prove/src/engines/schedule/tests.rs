//! Tests of all engines together.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::*;
use crate::engines::testing::loops::LOOPS;
use crate::engines::testing::search::reachable;
use crate::engines::testing::{Fixture, Reluctant, random, solver, system};

/// The verdicts on all goals, each confirmed: traces are replayed, and certificates checked.
fn confirmed(fixture: &mut Fixture, schedule: &Schedule) -> Vec<Verdict> {
    confirmed_by(fixture, schedule, &mut solver())
}

fn confirmed_by(
    fixture: &mut Fixture,
    schedule: &Schedule,
    deciding: &mut dyn Solver,
) -> Vec<Verdict> {
    let goals = fixture.goals();
    let Fixture { pool, system } = fixture;
    let verdicts = decide(pool, system, &goals, deciding, schedule);
    let mut solver = solver();
    for verdict in &verdicts {
        match &verdict.decision {
            Decision::Reached(trace) => assert!(trace.leads_to(pool, system, verdict.goal)),
            Decision::Unreachable(certificate) => {
                let limits = Limits::none();
                let checked = certificate.check(pool, system, verdict.goal, &mut solver, &limits);
                assert!(checked.is_ok(), "{}: {checked:?}\n{}", verdict.engine, system.text(pool));
            }
            Decision::Unknown(_) => {}
        }
    }
    verdicts
}

#[test]
fn verdicts_on_random_systems_are_those_of_a_search_of_all_states() {
    let mut engines = std::collections::BTreeMap::<&str, usize>::new();
    for seed in 0..400 {
        let mut fixture = random(seed);
        let reached = reachable(&mut fixture).goals;
        let schedule = Schedule { rounds: 5, ..Schedule::default() };
        for verdict in confirmed(&mut fixture, &schedule) {
            *engines.entry(verdict.engine).or_default() += 1;
            let expected = reached.contains_key(&verdict.goal);
            let found = match verdict.decision {
                Decision::Reached(_) => true,
                Decision::Unreachable(_) => false,
                Decision::Unknown(_) => continue,
            };
            assert_eq!(found, expected, "seed {seed}, {}", verdict.engine);
        }
    }
    let unknown = engines.get("none").copied().unwrap_or(0);
    assert!(unknown * 50 < 800, "{engines:?}");
    assert!(engines.len() >= 4, "{engines:?}");
}

#[test]
fn a_solver_that_often_has_no_answer_makes_no_verdict_wrong() {
    let mut decided = 0;
    for seed in 2000..2150 {
        let mut fixture = random(seed);
        let reached = reachable(&mut fixture).goals;
        let schedule = Schedule { rounds: 3, ..Schedule::default() };
        let mut reluctant = Reluctant::new(seed);
        for verdict in confirmed_by(&mut fixture, &schedule, &mut reluctant) {
            let found = match verdict.decision {
                Decision::Reached(_) => true,
                Decision::Unreachable(_) => false,
                Decision::Unknown(_) => continue,
            };
            assert_eq!(found, reached.contains_key(&verdict.goal), "seed {seed}");
            decided += 1;
        }
    }
    assert!(decided > 200, "{decided} of 300 are decided");
}

#[test]
fn typical_loops_are_decided_on_thirty_two_bits() {
    for example in LOOPS {
        let mut fixture = system(32, example.text);
        let verdicts = confirmed(&mut fixture, &Schedule { rounds: 9, ..Schedule::default() });
        for (verdict, expected) in verdicts.iter().zip(example.reached) {
            let reached = match &verdict.decision {
                Decision::Reached(_) => true,
                Decision::Unreachable(_) => false,
                Decision::Unknown(why) => panic!("{}: {why}", example.name),
            };
            assert_eq!(reached, *expected, "{}, by {}", example.name, verdict.engine);
        }
    }
}

/// A companion that has decided one goal.
#[derive(Debug)]
struct Decided(GoalId);

impl Companion for Decided {
    fn has_decided(&self, goal: GoalId) -> bool {
        goal == self.0
    }

    fn take_turn(&self, _: Duration) {}
}

#[test]
fn a_goal_that_a_companion_has_decided_is_left_to_it() {
    let example = &LOOPS[1];
    let mut fixture = system(32, example.text);
    let companion = Some(Arc::new(Decided(GoalId::from_index(0))) as Arc<dyn Companion>);
    let schedule = Schedule { rounds: 9, companion, ..Schedule::default() };
    let verdicts = confirmed(&mut fixture, &schedule);
    assert!(matches!(verdicts[0].decision, Decision::Unknown(_)), "{verdicts:?}");
    assert!(matches!(verdicts[1].decision, Decision::Unreachable(_)), "{verdicts:?}");
}

#[test]
fn a_run_that_is_told_to_stop_leaves_goals_unknown() {
    let mut fixture = system(32, LOOPS[0].text);
    let interrupt = Some(Arc::new(AtomicBool::new(true)));
    let limits = Limits { interrupt, ..Limits::none() };
    let schedule = Schedule { limits, ..Schedule::default() };
    let verdicts = confirmed(&mut fixture, &schedule);
    assert!(matches!(verdicts[0].decision, Decision::Unknown(_)), "{verdicts:?}");
}
