//! What the ledger keeps, for how long, and what it says when it cannot.

use lydian_base::{EntityId, SourceMap, Span};
use lydian_ir::decision::Condition;
use lydian_ir::test::{Image, TestObject};
use lydian_ir::{
    Body, BoolTree, CType, CTypeId, CmpOp, ConditionId, Decision, DecisionKind, Expr, Function,
    IntKind, Local, LocalKind, Program, Purity, Storage, Type,
};
use lydian_objective::assumption::{Assumption, AssumptionKind};
use lydian_objective::evidence::{CriterionRow, UnknownReason};
use lydian_objective::{Criterion, FunctionObjectives, Request, annotate};
use tempfile::TempDir;

use super::*;

mod notes;

const F: FunctionName<'_> = FunctionName { unit: "a.c", name: "f" };

fn scope(code: &str, configuration: &str) -> EvidenceScope {
    EvidenceScope { code: code.to_owned(), configuration: configuration.to_owned() }
}

/// Objectives of `a && b` for DCC, which share nothing, and of a lone condition, which do.
fn objectives(tree: BoolTree) -> FunctionObjectives {
    let text = "void f(int x) { if (x < 0 || x < 1) ; }".to_owned();
    let mut program = Program { types: CTypes::new(), ..Program::default() };
    let int = program.types.int(IntKind::Int);
    let mut body = Body::returning();
    body.source.body = Span::new(14, text.len() as u32);
    let (name, scope) = ("x".to_owned(), body.source.body);
    let storage = Storage::Register(Type::Int(32));
    let x = Local { name, ty: int, kind: LocalKind::Param, storage, scope };
    let x = body.locals.push(x);
    body.params.push(x);
    let conditions = [20u32, 29].map(|start| {
        let (read, number) = (Expr::Local(x), Expr::Const(Type::Int(32), u128::from(start == 29)));
        let mut written = |expr, from, to| {
            let (id, span) = (body.exprs.push(expr), Span::new(start + from, start + to));
            body.source.exprs.set(id, span);
            (id, span)
        };
        let ((left, _), (right, _)) = (written(read, 0, 1), written(number, 4, 5));
        let (value, span) = written(Expr::Cmp(CmpOp::LtS, left, right), 0, 5);
        Condition::new(value, Purity::Pure, span)
    });
    let (kind, span) = (DecisionKind::Control, Span::new(20, 34));
    let conditions = conditions.into_iter().take(conditions_of(&tree)).collect();
    body.decisions.push(Decision { kind, tree, conditions, span });
    let result = program.types.void();
    let ty = CType::Function { result, params: vec![int], variadic: false };
    let ty = program.types.intern(ty);
    let (span, body) = (body.source.body, Some(body));
    let function = program.functions.push(Function { body, span, ..Function::declared("f", ty) });
    let map = SourceMap::from_preprocessed(text, "a.c");
    let request = Request::new([Criterion::Dcc]);
    annotate(&program, &map, function, &request).expect("a body").objectives
}

/// How many conditions a tree has, here one or two.
fn conditions_of(tree: &BoolTree) -> usize {
    if matches!(tree, BoolTree::Cond(_)) { 1 } else { 2 }
}

/// The condition at a position.
fn cond(index: usize) -> Box<BoolTree> {
    Box::new(BoolTree::Cond(ConditionId::from_index(index)))
}

fn test_of(byte: u8, ty: CTypeId) -> Test {
    let image = Image { bytes: vec![byte; 4], pointers: Vec::new() };
    let object = TestObject {
        name: "buf".into(),
        address: lydian_ir::test::INPUT_REGION,
        ty,
        count: 1,
        align: 4,
        image: image.clone(),
        read_only: false,
    };
    Test { objects: vec![object], ..Test::calling("f", vec![image]) }
}

fn types() -> (CTypes, CTypeId) {
    let mut types = CTypes::new();
    let int = types.int(IntKind::Int);
    (types, int)
}

/// A ledger in a folder of its own, with objectives recorded; and the labels' keys.
fn filled() -> (TempDir, Ledger, Vec<LabelKey>) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = Ledger::open(&folder.path().join("ledger.db")).expect("a new ledger");
    let objectives = objectives(BoolTree::And(cond(0), cond(1)));
    let mut recording = ledger.record(F, &scope("code", "any")).expect("a recording");
    recording.objectives(&objectives).expect("recorded");
    recording.commit().expect("committed");
    let keys = objectives.labels.values().map(|label| label.key.clone()).collect();
    (folder, ledger, keys)
}

fn add(ledger: &mut Ledger, scope: &EvidenceScope, label: &LabelKey, evidence: &Evidence) {
    let mut recording = ledger.record(F, scope).expect("a recording");
    recording.evidence(label, evidence).expect("recorded");
    recording.commit().expect("committed");
}

fn add_test(ledger: &mut Ledger, byte: u8) -> TestHash {
    let (types, int) = types();
    let mut recording = ledger.record(F, &scope("code", "any")).expect("a recording");
    let hash = recording.test(&test_of(byte, int), &types).expect("recorded");
    recording.commit().expect("committed");
    hash
}

/// The counts for the only criterion of `a && b`.
fn row(ledger: &Ledger, scope: &EvidenceScope) -> CriterionRow {
    let tree = BoolTree::And(cond(0), cond(1));
    row_of(ledger, scope, &objectives(tree), &AcceptedAssumptions::default())
}

fn row_of(
    ledger: &Ledger,
    scope: &EvidenceScope,
    objectives: &FunctionObjectives,
    accepted: &AcceptedAssumptions,
) -> CriterionRow {
    let verdicts = ledger.verdicts(F, scope, accepted).expect("verdicts").into_iter();
    let verdicts = verdicts.map(|found| (found.label, found.verdict)).collect();
    let mut rows = criterion_rows(objectives, &verdicts);
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows.remove(0)
}

fn complete() -> Evidence {
    let method = Evidence::EXPLORATION.to_owned();
    Evidence::Complete {
        method,
        preconditions: "none".into(),
        assumptions: Vec::new(),
        invariants: Vec::new(),
        certificates: Vec::new(),
    }
}

#[test]
fn evidence_becomes_verdicts_and_counts() {
    let (_folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    let test = add_test(&mut ledger, 1);
    add(&mut ledger, &here, &keys[0], &Evidence::Measured { test: test.clone() });
    add(&mut ledger, &here, &keys[1], &complete());
    let gave_up = Evidence::Unknown { reason: UnknownReason::SolverGaveUp };
    add(&mut ledger, &here, &keys[2], &gave_up);
    let row = row(&ledger, &here);
    assert_eq!((row.objectives, row.covered, row.infeasible, row.unknown), (6, 1, 1, 4));
    let reasons = [("not tried".to_owned(), 3), ("the solver gave up".to_owned(), 1)];
    assert_eq!(row.reasons, reasons);
    let verdicts = ledger.verdicts(F, &here, &AcceptedAssumptions::default()).expect("verdicts");
    let of = |key: &LabelKey| {
        verdicts.iter().find(|v| v.label == *key).expect("a verdict").verdict.clone()
    };
    assert_eq!(of(&keys[0]), Ok(Verdict::Covered { tests: vec![test] }));
    assert_eq!(of(&keys[1]), Ok(Verdict::Infeasible { argument: complete() }));
}

#[test]
fn duplicates_are_counted_apart() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut ledger = Ledger::open(&folder.path().join("ledger.db")).expect("a new ledger");
    let here = scope("code", "any");
    let mut recording = ledger.record(F, &here).expect("a recording");
    let lone = objectives(*cond(0));
    recording.objectives(&lone).expect("recorded");
    recording.commit().expect("committed");
    let row = row_of(&ledger, &here, &lone, &AcceptedAssumptions::default());
    assert_eq!((row.objectives, row.duplicate, row.unknown), (4, 2, 2));
}

#[test]
fn an_exploration_holds_for_its_configuration_and_a_measured_test_for_all() {
    let (_folder, mut ledger, keys) = filled();
    let here = scope("code", "n < 10");
    let test = add_test(&mut ledger, 1);
    add(&mut ledger, &here, &keys[0], &Evidence::Measured { test });
    add(&mut ledger, &here, &keys[1], &complete());
    let counts = |ledger: &Ledger, scope: &EvidenceScope| {
        let row = row(ledger, scope);
        (row.covered, row.infeasible)
    };
    assert_eq!(counts(&ledger, &here), (1, 1));
    assert_eq!(counts(&ledger, &scope("code", "n < 20")), (1, 0));
    assert_eq!(counts(&ledger, &scope("edited", "n < 10")), (0, 0));
    assert_eq!(counts(&ledger, &here), (1, 1), "what is out of scope is kept");
}

#[test]
fn contradictory_evidence_is_kept_and_counts_as_unknown() {
    let (_folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    let test = add_test(&mut ledger, 1);
    add(&mut ledger, &here, &keys[0], &complete());
    add(&mut ledger, &here, &keys[0], &Evidence::Measured { test: test.clone() });
    let verdicts = ledger.verdicts(F, &here, &AcceptedAssumptions::default()).expect("verdicts");
    let errors: Vec<_> = verdicts.iter().filter_map(|v| v.verdict.as_ref().err()).collect();
    assert_eq!(errors, [&Contradiction { covered: vec![test], infeasible: Box::new(complete()) }]);
    let row = row(&ledger, &here);
    assert_eq!((row.covered, row.infeasible), (0, 0));
    assert!(row.reasons.contains(&("contradictory evidence".to_owned(), 1)));
}

#[test]
fn of_reasons_for_knowing_nothing_the_last_one_stands() {
    let (_folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    for reason in [UnknownReason::SolverGaveUp, UnknownReason::NotTried] {
        add(&mut ledger, &here, &keys[0], &Evidence::Unknown { reason });
    }
    let count: i64 = ledger
        .connection
        .query_row("SELECT count(*) FROM evidence", [], |row| row.get(0))
        .expect("a count");
    assert_eq!((count, row(&ledger, &here).reasons.len()), (1, 1));
}

#[test]
fn what_is_recorded_is_there_when_the_ledger_is_opened_again() {
    let (folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    let test = add_test(&mut ledger, 1);
    add(&mut ledger, &here, &keys[0], &Evidence::Measured { test });
    drop(ledger);
    let ledger = Ledger::open(&folder.path().join("ledger.db")).expect("the ledger");
    assert_eq!(row(&ledger, &here).covered, 1);
}

#[test]
fn a_recording_that_is_not_committed_leaves_nothing() {
    let (_folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    let mut recording = ledger.record(F, &here).expect("a recording");
    recording.evidence(&keys[0], &complete()).expect("recorded");
    drop(recording);
    assert_eq!(row(&ledger, &here).infeasible, 0);
}

#[test]
fn a_test_is_read_back_with_the_types_of_the_program_as_it_is_then() {
    let (_folder, mut ledger, _) = filled();
    let first = add_test(&mut ledger, 1);
    assert_eq!(add_test(&mut ledger, 1), first, "the same test");
    let second = add_test(&mut ledger, 2);
    let mut edited = CTypes::new();
    edited.int(IntKind::Long);
    let int = edited.int(IntKind::Int);
    assert_ne!(int, types().1);
    let tests = ledger.tests(F, &scope("code", "any"), &edited).expect("tests");
    let stored = |hash, byte| StoredTest { hash, test: test_of(byte, int) };
    assert_eq!(tests, [stored(first, 1), stored(second, 2)]);
    assert_eq!(
        ledger.tests(F, &scope("code", "any"), &CTypes::new()).expect("no tests"),
        [],
        "the type is gone"
    );
}

#[test]
fn evidence_on_a_label_or_test_that_is_not_recorded_is_an_error() {
    let (_folder, mut ledger, keys) = filled();
    let mut recording = ledger.record(F, &scope("code", "any")).expect("a recording");
    let nowhere = LabelKey("no such label".into());
    let error = recording.evidence(&nowhere, &complete()).unwrap_err();
    assert!(matches!(error, LedgerError::NotRecorded { label } if label == nowhere));
    let measured = Evidence::Measured { test: TestHash("no such test".into()) };
    let error = recording.evidence(&keys[0], &measured).unwrap_err();
    assert!(matches!(error, LedgerError::NotRecorded { .. }));
}

#[test]
fn a_file_that_is_no_database_is_reported_and_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let garbage = "this is no database, though it is long enough to have a header".repeat(50);
    std::fs::write(&path, &garbage).expect("written");
    let error = Ledger::open(&path).unwrap_err();
    assert!(matches!(error, LedgerError::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains("--fresh"), "{error}");
    assert_eq!(std::fs::read_to_string(&path).expect("still there"), garbage);
}

#[test]
fn a_ledger_with_damaged_pages_is_reported() {
    let (folder, mut ledger, _) = filled();
    for byte in 0..200 {
        add_test(&mut ledger, byte);
    }
    drop(ledger);
    let path = folder.path().join("ledger.db");
    let mut bytes = std::fs::read(&path).expect("the file");
    assert!(bytes.len() > 5 * 4096, "{} bytes", bytes.len());
    bytes[4096..].iter_mut().step_by(3).for_each(|byte| *byte ^= 0x5a);
    std::fs::write(&path, bytes).expect("written");
    let error = Ledger::open(&path).unwrap_err();
    assert!(matches!(error, LedgerError::Corrupt { .. }), "{error:?}");
}

#[test]
fn a_database_of_something_else_is_not_touched() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let other = Connection::open(&path).expect("a database");
    other.execute_batch("CREATE TABLE songs(name TEXT)").expect("a table");
    drop(other);
    let before = std::fs::read(&path).expect("the file");
    assert!(matches!(Ledger::open(&path), Err(LedgerError::Foreign { .. })));
    assert_eq!(std::fs::read(&path).expect("the file"), before);
}

#[test]
fn a_ledger_of_a_newer_version_is_not_touched() {
    let (folder, ledger, _) = filled();
    ledger.connection.pragma_update(None, "user_version", 99).expect("set");
    drop(ledger);
    let error = Ledger::open(&folder.path().join("ledger.db")).unwrap_err();
    assert!(matches!(error, LedgerError::Newer { found: 99, .. }), "{error:?}");
}

#[test]
fn a_full_disk_is_reported_and_what_was_committed_is_kept() {
    let (_folder, mut ledger, _) = filled();
    let pages: i64 =
        ledger.connection.query_row("PRAGMA page_count", [], |row| row.get(0)).expect("a count");
    ledger.connection.pragma_update(None, "max_page_count", pages + 2).expect("set");
    let (types, int) = types();
    let mut kept = 0;
    let error = loop {
        let mut recording = ledger.record(F, &scope("code", "any")).expect("a recording");
        let result = recording.test(&test_of(kept, int), &types);
        match result.and_then(|_| recording.commit()) {
            Ok(()) => kept += 1,
            Err(error) => break error,
        }
        assert!(kept < 200, "two pages are not that large");
    };
    assert!(matches!(error, LedgerError::Full { .. }), "{error:?}");
    assert_eq!(
        ledger.tests(F, &scope("code", "any"), &types).expect("tests").len(),
        usize::from(kept)
    );
}

#[test]
fn a_ledger_that_another_process_writes_to_is_reported_as_locked() {
    let (folder, ledger, _) = filled();
    let mut other = Ledger::open(&folder.path().join("ledger.db")).expect("the ledger");
    other.connection.busy_timeout(Duration::ZERO).expect("set");
    ledger.connection.execute_batch("BEGIN IMMEDIATE").expect("a transaction");
    let error = other.record(F, &scope("code", "any")).unwrap_err();
    assert!(matches!(error, LedgerError::Locked { .. }), "{error:?}");
}

#[test]
fn a_ledger_in_a_folder_that_is_not_there_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let error = Ledger::open(&folder.path().join("missing/ledger.db")).unwrap_err();
    assert!(matches!(error, LedgerError::Access { .. }), "{error:?}");
}

#[test]
fn a_ledger_set_aside_can_be_opened_under_its_new_name() {
    let (folder, ledger, keys) = filled();
    drop(ledger);
    let path = folder.path().join("ledger.db");
    let aside = Ledger::set_aside(&path).expect("renamed").expect("there was one");
    assert_eq!(Ledger::set_aside(&path).expect("nothing to do"), None);
    let old = Ledger::open(&aside).expect("the old ledger");
    let verdicts =
        old.verdicts(F, &scope("code", "any"), &AcceptedAssumptions::default()).expect("verdicts");
    assert_eq!(verdicts.len(), keys.len());
    let new = Ledger::open(&path).expect("a new ledger");
    assert_eq!(
        new.verdicts(F, &scope("code", "any"), &AcceptedAssumptions::default()).expect("verdicts"),
        []
    );
}

#[test]
fn a_test_that_contradicted_a_claim_is_not_given_back_until_it_is_confirmed() {
    let (_folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    let (good, bad) = (add_test(&mut ledger, 1), add_test(&mut ledger, 2));
    add(&mut ledger, &here, &keys[0], &Evidence::Measured { test: good.clone() });
    let claim = Evidence::Unconfirmed {
        claimed_by: "exploration".into(),
        test: bad.clone(),
        measured: "nothing".into(),
    };
    add(&mut ledger, &here, &keys[1], &claim);
    let given = |ledger: &Ledger, code: &str| -> Vec<TestHash> {
        let tests = ledger.tests(F, &scope(code, "other"), &types().0).expect("tests");
        tests.into_iter().map(|stored| stored.hash).collect()
    };
    assert_eq!(given(&ledger, "code"), std::slice::from_ref(&good));
    assert_eq!(given(&ledger, "edited code"), [good.clone(), bad.clone()]);
    add(&mut ledger, &here, &keys[1], &Evidence::Measured { test: bad.clone() });
    assert_eq!(given(&ledger, "code"), [good, bad]);
}

#[test]
fn what_the_first_format_took_for_measured_or_complete_is_dropped_and_its_tests_are_kept() {
    let (folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    let test = add_test(&mut ledger, 1);
    add(&mut ledger, &here, &keys[0], &Evidence::Measured { test });
    add(&mut ledger, &here, &keys[1], &complete());
    ledger
        .connection
        .execute_batch(
            "DROP INDEX unconfirmed; DROP TABLE document; DROP TABLE attempt;
             DROP TABLE reduction; DROP TABLE note; DROP TABLE recorded; PRAGMA user_version = 1",
        )
        .unwrap();
    drop(ledger);
    let ledger = Ledger::open(&folder.path().join("ledger.db")).expect("it is taken over");
    let row = row(&ledger, &here);
    assert_eq!((row.covered, row.infeasible), (0, 0));
    assert_eq!(ledger.tests(F, &here, &types().0).expect("tests").len(), 1);
}

fn alias() -> Assumption {
    Assumption::new(AssumptionKind::Alias, "p and q", "p and q are different objects")
}

fn assuming(assumptions: &[Assumption]) -> Evidence {
    let method = Evidence::EXPLORATION.to_owned();
    Evidence::Complete {
        method,
        preconditions: "none".into(),
        assumptions: assumptions.to_vec(),
        invariants: Vec::new(),
        certificates: Vec::new(),
    }
}

#[test]
fn what_is_infeasible_as_assumed_is_counted_apart_with_each_assumption() {
    let (_folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    let small = Assumption::new(AssumptionKind::ObjectSize, "", "no object is large");
    add(&mut ledger, &here, &keys[0], &assuming(&[alias(), small.clone()]));
    add(&mut ledger, &here, &keys[1], &assuming(std::slice::from_ref(&small)));
    let found = row(&ledger, &here);
    assert_eq!((found.infeasible, found.infeasible_as_assumed, found.unknown), (1, 1, 4));
    assert_eq!(found.granted, std::slice::from_ref(&small));
    let [objective] = &found.assumed[..] else { panic!("one: {:?}", found.assumed) };
    assert_eq!(objective.assumptions, [alias()]);
    assert!(objective.place.line > 0 && !objective.text.is_empty(), "{objective:?}");
    let accepted = AcceptedAssumptions::named(["alias"]).expect("a kind");
    let all = objectives(BoolTree::And(cond(0), cond(1)));
    let row = row_of(&ledger, &here, &all, &accepted);
    assert_eq!((row.infeasible, row.infeasible_as_assumed), (2, 0));
    assert_eq!(row.granted, [alias(), small]);
}

#[test]
fn a_contradiction_withdraws_what_the_same_engine_claims_and_keeps_the_evidence() {
    let (folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    add(&mut ledger, &here, &keys[0], &complete());
    add(&mut ledger, &here, &keys[1], &assuming(&[alias()]));
    let proof = Evidence::LocalProof { method: "local-unsat".into() };
    add(&mut ledger, &here, &keys[2], &proof);
    let method = Evidence::DERIVED.to_owned();
    add(&mut ledger, &here, &keys[3], &Evidence::LocalProof { method });
    let mut recording = ledger.record(F, &here).expect("a recording");
    let count = recording.withdraw(Engine::Exploration, "a test covers it").expect("withdrawn");
    recording.commit().expect("committed");
    assert_eq!(count, 3);
    drop(ledger);
    let mut ledger = Ledger::open(&folder.path().join("ledger.db")).expect("the ledger");
    let found = row(&ledger, &here);
    assert_eq!((found.infeasible, found.infeasible_as_assumed, found.unknown), (1, 0, 5));
    let reason = "withdrawn: a contradiction in the same exploration".to_owned();
    assert!(found.reasons.contains(&(reason, 3)), "{:?}", found.reasons);
    let kept: i64 = ledger
        .connection
        .query_row("SELECT count(*) FROM evidence WHERE kind = 'complete'", [], |row| row.get(0))
        .expect("a count");
    assert_eq!(kept, 2);
    add(&mut ledger, &here, &keys[0], &complete());
    assert_eq!(row(&ledger, &here).infeasible, 1, "claiming it once more changes nothing");
}

#[test]
fn explorations_of_an_older_format_are_made_again_since_they_do_not_name_their_assumptions() {
    let (folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    add(&mut ledger, &here, &keys[0], &complete());
    add(&mut ledger, &here, &keys[1], &Evidence::LocalProof { method: "local-unsat".into() });
    let older = "DROP TABLE document; DROP TABLE attempt; DROP TABLE reduction;
         DROP TABLE note; DROP TABLE recorded; PRAGMA user_version = 3";
    ledger.connection.execute_batch(older).expect("set");
    drop(ledger);
    let ledger = Ledger::open(&folder.path().join("ledger.db")).expect("it is taken over");
    let found = row(&ledger, &here);
    assert_eq!((found.infeasible, found.unknown), (1, 5));
}

fn certified(names: &[&str]) -> Evidence {
    let Evidence::Complete { preconditions, assumptions, invariants, .. } = complete() else {
        panic!("it is an argument")
    };
    let method = Evidence::ALL_RUNS.to_owned();
    let certificates = names.iter().map(|name| (*name).to_owned()).collect();
    Evidence::Complete { method, preconditions, assumptions, invariants, certificates }
}

#[test]
fn documents_are_kept_once_by_their_names() {
    let (folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    let mut recording = ledger.record(F, &here).expect("a recording");
    recording.document("a", "first").expect("recorded");
    recording.document("a", "second").expect("recorded");
    recording.evidence(&keys[0], &certified(&["a"])).expect("recorded");
    recording.commit().expect("committed");
    drop(ledger);
    let ledger = Ledger::open(&folder.path().join("ledger.db")).expect("the ledger");
    assert_eq!(ledger.document("a").expect("read").as_deref(), Some("first"));
    assert_eq!(ledger.document("b").expect("read"), None);
}

#[test]
fn arguments_with_certificates_are_listed_until_they_are_withdrawn() {
    let (_folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    add(&mut ledger, &here, &keys[0], &certified(&["a", "b"]));
    add(&mut ledger, &here, &keys[1], &complete());
    let found = ledger.certified().expect("read");
    let [only] = &found[..] else { panic!("{found:?}") };
    assert_eq!((only.label.clone(), only.scope.clone()), (keys[0].clone(), here));
    assert_eq!((only.unit.as_str(), only.function.as_str()), (F.unit, F.name));
    assert_eq!(only.evidence.certificates(), ["a", "b"]);
    let method = only.evidence.method().to_owned();
    let (scope, label) = (only.scope.clone(), only.label.clone());
    let contradiction = "its certificate does not stand".to_owned();
    add(&mut ledger, &scope, &label, &Evidence::Withdrawn { method, contradiction });
    assert_eq!(ledger.certified().expect("read"), []);
}

fn move_lines(objectives: &mut FunctionObjectives, by: u32) {
    let all: Vec<_> = objectives.labels.iter().map(|(id, _)| id).collect();
    all.into_iter().for_each(|id| objectives.labels[id].place.line += by);
}

/// The lines of all labels of certified evidence.
fn lines(ledger: &Ledger) -> Vec<u32> {
    ledger.certified().expect("evidence").into_iter().map(|found| found.place.line).collect()
}

#[test]
fn labels_move_with_their_function_and_are_written_again_only_if_they_changed() {
    let (_folder, mut ledger, keys) = filled();
    let here = scope("code", "any");
    let Evidence::Complete { method, preconditions, assumptions, invariants, .. } = complete()
    else {
        panic!("complete");
    };
    let certificates = vec!["c".to_owned()];
    let proof = Evidence::Complete { method, preconditions, assumptions, invariants, certificates };
    let mut other = objectives(*cond(0));
    let is_known = |key: &LabelKey| other.labels.values().any(|label| label.key == *key);
    let only_here = keys.iter().find(|key| !is_known(key)).expect("a label of `a && b` alone");
    add(&mut ledger, &here, only_here, &proof);
    let before = lines(&ledger);
    let mut moved = objectives(BoolTree::And(cond(0), cond(1)));
    assert!(ledger.has_objectives(F, &moved).expect("read"));
    move_lines(&mut moved, 40);
    assert!(!ledger.has_objectives(F, &moved).expect("read"));
    let mut recording = ledger.record(F, &here).expect("a recording");
    recording.objectives(&moved).expect("recorded");
    recording.commit().expect("committed");
    assert!(ledger.has_objectives(F, &moved).expect("read"));
    assert_eq!(lines(&ledger), before.iter().map(|line| line + 40).collect::<Vec<_>>());
    // Another set of objectives, elsewhere: the labels that it does not have stay where they are.
    move_lines(&mut other, 100);
    let mut recording = ledger.record(F, &here).expect("a recording");
    recording.objectives(&other).expect("recorded");
    recording.commit().expect("committed");
    assert!(!ledger.has_objectives(F, &moved).expect("read"));
    assert_eq!(lines(&ledger), before.iter().map(|line| line + 40).collect::<Vec<_>>());
}
