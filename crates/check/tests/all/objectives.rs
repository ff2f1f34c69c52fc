//! Certificates of objectives: labels and sequences that no run covers, and those that some run covers.

use lydian_check::Outcome;
use serde_json::{Value, json};

use crate::common::{Example, Parts, example};

/// A loop that counts to ten if an input is not zero. `e14` says that the count is above a number, and
/// `bb4` is at no path's end.
fn counted(above: &str) -> Example {
    let functions = format!(
        r#"function f2 "main" ty6 external ()
{{
  params ()
  local v0 "i" ty3 var register i32
  local v1 "in" ty3 var register i32
  entry bb0
  bb0:
    s0: v0 = 0:i32
    s1: call f1 ty5 () () -> v1
    branch e3:eq(v1, 0:i32) ? bb3 : bb1 [d0 c0 begins then true else false]
  bb1:
    branch lt.u(v0, 10:i32) ? bb2 : bb3
  bb2:
    s2: v0 = add.u(v0, 1:i32)
    goto bb1
  bb3:
    return 0:i32
  bb4:
    return 1:i32
  expr e14:gt.u(v0, {above})
  decision d0 control @0..0 = c0 {{ c0 pure @0..0 = e3 unreached always e3 }}
}}
"#
    );
    let parts = Parts {
        main: 2,
        goal: 0,
        instances: json!([{"function": 2, "name": "main"}]),
        objects: json!([]),
        state: json!([
            {"name": "i", "place": {"register": {"instance": 0, "local": 0}}},
            {"name": "since s0", "place": {"flag": {"instance": 0, "flag": 0}}},
        ]),
        points: json!([
            {"instance": 0, "block": 0, "current": [], "invariants": []},
            {"instance": 0, "block": 1, "current": [0], "invariants": ["(bvule x0 10:32)"]},
        ]),
    };
    let mut example = example(&functions, parts);
    let certificate = example.certificate.as_object_mut().expect("an object");
    certificate.remove("goal");
    certificate.insert("objectives".to_owned(), Value::Null);
    certificate["state"].as_array_mut().expect("a list").truncate(1);
    example
}

/// An event of `main`.
fn event(at: &Value) -> Value {
    json!({"function": 2, "name": "main", "at": [at]})
}

/// One objective, asked at the first of some events.
fn label(events: &[Value], predicate: &Value) -> Value {
    json!({
        "short_circuit": false,
        "events": events.iter().map(event).collect::<Vec<Value>>(),
        "goals": [{"of": [], "label": {"event": 0, "predicate": predicate}}],
    })
}

/// The outcome for a label at a place of [`counted`].
fn label_at(place: &Value, predicate: &Value) -> Outcome {
    counted("10:i32").changed(|certificate| {
        certificate["objectives"] = label(std::slice::from_ref(place), predicate);
    })
}

/// The outcome for a sequence of [`counted`]: from `s0` to the return, with events between that end it.
fn sequence(ends: &[Value], invariants: &Value, scope: &str) -> Outcome {
    counted("10:i32").changed(|certificate| {
        let mut events = vec![json!({"terminator": 3}), json!({"statement": 0})];
        events.extend(ends.iter().cloned());
        let always = json!({"constant": true});
        let mut objectives = label(&events, &always);
        objectives["flags"] = json!([{
            "label": {"event": 1, "predicate": always},
            "ends": (2..events.len()).collect::<Vec<usize>>(),
            "scope": scope,
        }]);
        objectives["goals"][0]["after"] = json!(0);
        certificate["objectives"] = objectives;
        let instance = if scope == "run" { Value::Null } else { json!(0) };
        let flag = json!({"name": "flag", "place": {"flag": {"instance": instance, "flag": 0}}});
        certificate["state"].as_array_mut().expect("a list").push(flag);
        certificate["points"][1]["current"] = json!([0, 1]);
        certificate["points"][1]["invariants"] = invariants.clone();
    })
}

fn is_refuted(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Refuted { .. })
}

fn is_ill_formed(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::IllFormed(_))
}

#[test]
fn a_label_whose_predicate_an_invariant_excludes_stands() {
    let above = json!({"expression": 14});
    assert_eq!(label_at(&json!({"statement": 2}), &above), Outcome::Checked);
    assert_eq!(label_at(&json!({"terminator": 1}), &above), Outcome::Checked);
    let outcome = label_at(&json!({"statement": 2}), &json!({"not": {"expression": 14}}));
    assert!(is_refuted(&outcome), "{outcome:?}");
    let lower = counted("8:i32").changed(|certificate| {
        certificate["objectives"] = label(&[json!({"terminator": 1})], &above);
    });
    assert!(is_refuted(&lower), "{lower:?}");
}

#[test]
fn a_label_is_seen_at_every_kind_of_place_that_a_run_comes_to() {
    let always = json!({"constant": true});
    for place in [
        json!("start"),
        json!("entry"),
        json!({"block": 0}),
        json!({"block": 2}),
        json!({"statement": 1}),
        json!({"terminator": 0}),
        json!({"terminator": 3}),
        json!({"edge": {"block": 1, "way": 1}}),
        json!({"edge": {"block": 2, "way": 0}}),
        json!({"decision": 0}),
        json!({"condition": {"decision": 0, "condition": 0}}),
    ] {
        let outcome = label_at(&place, &always);
        assert!(is_refuted(&outcome), "{place}: {outcome:?}");
    }
    assert_eq!(label_at(&json!({"block": 4}), &always), Outcome::Checked);
}

#[test]
fn predicates_have_three_values() {
    let unknown = json!({"mutant": {"condition": 0, "expression": 14}});
    let never = json!({"all": [unknown, {"not": unknown}]});
    let decision = json!({"decision": 0});
    assert_eq!(label_at(&decision, &never), Outcome::Checked);
    let (value, other) = (json!({"condition": 0}), json!({"not": {"condition": 0}}));
    for covered in [&value, &other, &json!({"reached": 0}), &json!({"any": [value, other]})] {
        let outcome = label_at(&decision, covered);
        assert!(is_refuted(&outcome), "{covered}: {outcome:?}");
    }
    let unreached = json!({"not": {"reached": 0}});
    assert_eq!(label_at(&decision, &unreached), Outcome::Checked);
    let both = json!({"either": [{"reached": 0}, {"any": [value, other]}]});
    assert_eq!(label_at(&decision, &both), Outcome::Checked);
}

#[test]
fn a_sequence_stands_if_its_flag_excludes_its_end() {
    let reset = json!([json!({"statement": 2})]);
    let reset = reset.as_array().expect("a list");
    let both = [&reset[..], &[json!({"edge": {"block": 0, "way": 0}})]].concat();
    let flag = json!(["(bvule x0 10:32)", "(=> x1 (= x0 0:32))"]);
    assert_eq!(sequence(&both, &flag, "activation"), Outcome::Checked);
    assert_eq!(sequence(&both, &flag, "run"), Outcome::Checked);
    // The way around the loop keeps the flag.
    let around = sequence(reset, &flag, "activation");
    assert!(is_refuted(&around), "{around:?}");
    let weak = sequence(&both, &json!(["true"]), "activation");
    assert!(is_refuted(&weak), "{weak:?}");
    let wrong = sequence(&both, &json!(["(bvule x0 10:32)", "(not x1)"]), "activation");
    assert!(is_refuted(&wrong), "{wrong:?}");
}

#[test]
fn code_that_is_not_followed_may_cover_labels_and_begin_sequences() {
    let functions = r#"function f2 "inner" ty1 external ()
{
  params ()
  entry bb0
  bb0:
    return void
}

function f3 "main" ty6 external ()
{
  params ()
  entry bb0
  bb0:
    s0: call f2 ty1 () ()
    return 0:i32
}
"#;
    let parts = Parts {
        main: 3,
        goal: 0,
        instances: json!([{"function": 3, "name": "main"}]),
        objects: json!([]),
        state: json!([]),
        points: json!([{"instance": 0, "block": 0, "current": [], "invariants": []}]),
    };
    let mut example = example(functions, parts);
    example.certificate.as_object_mut().expect("an object").remove("goal");
    let (always, entry) = (json!({"constant": true}), json!("entry"));
    let inner = json!({"function": 2, "name": "inner", "at": [entry]});
    let outcome = example.changed(|certificate| {
        certificate["objectives"] = label(&[], &always);
        certificate["objectives"]["events"] = json!([inner]);
    });
    assert!(is_refuted(&outcome), "{outcome:?}");
    let since = |scope: &str| {
        example.changed(|certificate| {
            let end = json!({"function": 3, "name": "main", "at": [{"terminator": 0}]});
            let mut objectives = label(&[], &always);
            objectives["events"] = json!([end, inner]);
            objectives["flags"] =
                json!([{"label": {"event": 1, "predicate": always}, "ends": [], "scope": scope}]);
            objectives["goals"][0]["after"] = json!(0);
            certificate["objectives"] = objectives;
        })
    };
    assert!(is_refuted(&since("run")), "{:?}", since("run"));
}

#[test]
fn objectives_that_do_not_fit_the_program_are_ill_formed() {
    let always = json!({"constant": true});
    for place in [
        json!({"statement": 9}),
        json!({"block": 5}),
        json!({"edge": {"block": 2, "way": 1}}),
        json!({"decision": 1}),
        json!({"condition": {"decision": 0, "condition": 1}}),
    ] {
        let outcome = label_at(&place, &always);
        assert!(is_ill_formed(&outcome), "{place}: {outcome:?}");
    }
    for predicate in [json!({"expression": 0}), json!({"expression": 99})] {
        let outcome = label_at(&json!({"statement": 2}), &predicate);
        assert!(is_ill_formed(&outcome), "{predicate}: {outcome:?}");
    }
    let at_start = label_at(&json!("start"), &json!({"expression": 14}));
    assert!(is_ill_formed(&at_start), "{at_start:?}");
    let flags = [json!(0), json!(1)].map(|after| {
        counted("10:i32").changed(|certificate| {
            let mut objectives = label(&[json!({"statement": 2})], &always);
            let of = json!({"event": 0, "predicate": always});
            objectives["flags"] =
                json!([{"after": after, "label": of, "ends": [], "scope": "run"}]);
            certificate["objectives"] = objectives;
        })
    });
    assert!(flags.iter().all(is_ill_formed), "{flags:?}");
    let nothing = counted("10:i32").changed(|_| {});
    assert!(is_ill_formed(&nothing), "{nothing:?}");
    let both = counted("10:i32").changed(|certificate| {
        certificate["objectives"] = label(&[json!({"statement": 2})], &json!({"expression": 14}));
        certificate["goal"] = json!({"function": "main", "statement": 1});
    });
    assert!(is_ill_formed(&both), "{both:?}");
}
