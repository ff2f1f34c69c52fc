//! Notes of work: attempts, small tests, and what tests did.

use super::*;

fn effort(settings: &str, limits: &[(&str, Option<u64>)]) -> Effort {
    let limits = limits.iter().map(|(name, limit)| ((*name).to_owned(), *limit)).collect();
    Effort { settings: settings.to_owned(), limits }
}

fn attempt(effort: Effort, keys: &[&LabelKey]) -> DecisionAttempt {
    let reason = Some(UnknownReason::SolverGaveUp);
    let open = LeftOpen { reason, places: Vec::new() };
    let left = keys.iter().map(|key| (key.0.clone(), open.clone())).collect();
    DecisionAttempt { effort, spent: 7, left }
}

fn add_attempt(ledger: &mut Ledger, scope: &EvidenceScope, attempt: &DecisionAttempt) {
    let mut recording = ledger.record(F, scope).expect("begun");
    recording.attempt(attempt).expect("recorded");
    recording.commit().expect("committed");
}

#[test]
fn effort_is_within_another_one_with_the_same_settings_and_limits_that_are_no_greater() {
    let some = |time, states| effort("a", &[("time", time), ("states", states)]);
    let all = some(Some(10), None);
    assert!(all.is_within(&all));
    assert!(some(Some(5), Some(7)).is_within(&all));
    assert!(!some(Some(11), Some(7)).is_within(&all));
    assert!(!all.is_within(&some(Some(10), Some(7))), "no limit is more than any");
    assert!(!effort("b", &[("time", Some(1)), ("states", Some(1))]).is_within(&all));
    assert!(!effort("a", &[("time", Some(1))]).is_within(&all), "a limit that is not known");
}

#[test]
fn attempts_count_in_their_scope_and_give_way_to_greater_ones() {
    let (_folder, mut ledger, keys) = filled();
    let (here, there) = (scope("code", "any"), scope("other code", "any"));
    let time = |most| effort("a", &[("time", Some(most))]);
    add_attempt(&mut ledger, &here, &attempt(time(5), &[&keys[0]]));
    assert!(ledger.attempts(F, &there).expect("attempts").is_empty());
    add_attempt(&mut ledger, &there, &attempt(time(9), &[&keys[2]]));
    // It says less about the first objective.
    add_attempt(&mut ledger, &here, &attempt(time(9), &[&keys[1]]));
    let all = ledger.attempts(F, &here).expect("attempts");
    assert_eq!(all.len(), 2);
    let is_left = |key, most| left_open(&all, &time(most), key).is_some();
    assert!(is_left(&keys[0], 5) && !is_left(&keys[0], 6));
    assert!(is_left(&keys[1], 9) && !is_left(&keys[2], 1));
    add_attempt(&mut ledger, &here, &attempt(time(9), &[&keys[0], &keys[1]]));
    assert_eq!(ledger.attempts(F, &here).expect("attempts").len(), 1);
    assert_eq!(ledger.attempts(F, &there).expect("attempts").len(), 1);
}

#[test]
fn a_function_has_its_last_runs_and_small_tests_under_their_key() {
    let (_folder, mut ledger, _) = filled();
    let here = scope("code", "any");
    let (types, int) = types();
    let test = test_of(3, int);
    let reduction = |cut_after| Reduction { cut_after, tests: vec![None, Some(test.clone())] };
    let mut recording = ledger.record(F, &here).expect("begun");
    recording.note(NoteKind::Runs, "a", "what they did").expect("recorded");
    recording.reduction("a", &reduction(None), &types).expect("recorded");
    recording.note(NoteKind::Runs, "b", "what they do").expect("recorded");
    recording.reduction("b", &reduction(Some(3)), &types).expect("recorded");
    recording.commit().expect("committed");
    assert_eq!(ledger.note(F, NoteKind::Runs, "a").expect("read"), None);
    assert_eq!(ledger.note(F, NoteKind::Runs, "b").expect("read").as_deref(), Some("what they do"));
    assert_eq!(ledger.reduction(F, "a", &types).expect("read"), None);
    assert_eq!(ledger.reduction(F, "b", &types).expect("read"), Some(reduction(Some(3))));
    assert_eq!(ledger.note(F, NoteKind::Mutants, "b").expect("read"), None);
    let none = CTypes::new();
    assert_eq!(ledger.reduction(F, "b", &none).expect("read"), None, "a type is missing");
}
