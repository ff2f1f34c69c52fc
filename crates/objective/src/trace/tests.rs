//! Consolidation and the normal form against the semantics, on random traces and hyperlabels.

use lydian_base::EntityId;
use lydian_ir::ExprId;
use lydian_ir::interp::Options;
use lydian_ir::test::{Image, Test};
use proptest::prelude::*;

use super::*;
use crate::annotate::{Request, annotate};
use crate::coverage_record::{CoverageRecord, RecordRequest};
use crate::criterion::Criterion;
use crate::htol::HtolFile;
use crate::hyper::{Binding, FormulaOp};
use crate::testing::Sample;

/// Labels that random hyperlabels are made of.
const LABELS: usize = 4;
/// Values that an event has, as expressions 0, 1, ...
const VALUES: usize = 2;

/// A function with some labels at marks.
fn labels() -> FunctionObjectives {
    let mut sample = Sample::new("f");
    (0..LABELS).for_each(|_| sample.mark());
    let (program, map, func) = sample.finish();
    annotate(&program, &map, func, &Request::new([Criterion::Stmt])).expect("a body").objectives
}

fn traces() -> impl Strategy<Value = Vec<Trace>> {
    let values = proptest::collection::vec(proptest::option::weighted(0.9, 0..3i128), VALUES);
    let event = (0..LABELS, any::<bool>(), 0..2u32, values);
    let trace = proptest::collection::vec(event, 0..6).prop_map(|events| {
        let event = |(label, covered, activation, values): (usize, bool, u32, Vec<_>)| {
            let known = values.into_iter().enumerate().filter_map(|(index, value)| {
                Some((BoundValue::Expr(ExprId::from_index(index)), value?))
            });
            TraceEvent {
                function: FuncId::from_index(0),
                activation,
                site: site(label),
                labels: covered.then(|| LabelId::from_index(label)).into_iter().collect(),
                values: known.collect(),
                vector: None,
                hits: BTreeSet::new(),
            }
        };
        Trace { events: events.into_iter().map(event).collect() }
    });
    proptest::collection::vec(trace, 0..4)
}

fn site(label: usize) -> Site {
    Site::Mark(lydian_ir::MarkId::from_index(label))
}

/// A hyperlabel before its sequences have numbers.
#[derive(Clone, Debug)]
enum Draft {
    Atom(Atom),
    Sequence(Sequence),
    Guard(Box<Draft>, Formula),
    All(Vec<Draft>),
    Any(Vec<Draft>),
}

/// An atom that binds these names.
fn atom(names: Vec<String>) -> impl Strategy<Value = Atom> {
    let bound = proptest::collection::vec(0..VALUES, names.len());
    (0..LABELS, bound).prop_map(move |(label, bound)| {
        let bindings = names.iter().zip(bound).map(|(name, index)| Binding {
            name: name.clone(),
            value: BoundValue::Expr(ExprId::from_index(index)),
        });
        Atom {
            function: FuncId::from_index(0),
            label: LabelId::from_index(label),
            bindings: bindings.collect(),
        }
    })
}

fn operand(names: Vec<String>) -> BoxedStrategy<Formula> {
    let number = (0..3i128).prop_map(Formula::Number);
    match names.is_empty() {
        true => number.boxed(),
        false => prop_oneof![
            4 => proptest::sample::select(names).prop_map(Formula::Name),
            1 => number,
        ]
        .boxed(),
    }
}

/// A formula over these names.
fn formula(names: Vec<String>) -> BoxedStrategy<Formula> {
    let ops = [FormulaOp::Eq, FormulaOp::Ne, FormulaOp::Lt, FormulaOp::Sub, FormulaOp::Div];
    let two = (operand(names.clone()), operand(names));
    let compared = (proptest::sample::select(ops.to_vec()), two)
        .prop_map(|(op, (a, b))| Formula::binary(op, a, b));
    compared
        .prop_recursive(2, 4, 2, |inner| {
            let two = (inner.clone(), inner.clone());
            prop_oneof![
                two.clone().prop_map(|(a, b)| Formula::and(a, b)),
                two.prop_map(|(a, b)| Formula::or(a, b)),
                inner.prop_map(|a| Formula::Not(Box::new(a))),
            ]
        })
        .boxed()
}

fn sequence(first: Vec<String>, second: Vec<String>) -> impl Strategy<Value = Draft> {
    let state = Formula::State(ExprId::from_index(0));
    let known = first.clone();
    let holds = prop_oneof![
        Just(Formula::Number(0)),
        operand(known).prop_map(move |a| Formula::binary(FormulaOp::Ne, state.clone(), a)),
    ];
    let duty = (0..LABELS, holds).prop_map(|(label, holds)| Obligation {
        function: FuncId::from_index(0),
        site: site(label),
        holds,
    });
    let passage = prop_oneof![
        Just(Passage::Free),
        proptest::collection::vec(duty, 1..3).prop_map(Passage::Obliged),
    ];
    let scope = prop_oneof![Just(SequenceScope::Run), Just(SequenceScope::Activation)];
    (atom(first), passage, atom(second), scope).prop_map(|(a, passage, b, scope)| {
        let (atoms, passages) = (vec![a, b], vec![passage]);
        Draft::Sequence(Sequence { atoms, passages, scope, flow: None })
    })
}

/// A well-formed hyperlabel whose visible names are these.
fn draft(names: Vec<String>, depth: u32) -> BoxedStrategy<Draft> {
    let (left, right) = names.split_at(names.len() / 2);
    let (left, right) = (left.to_vec(), right.to_vec());
    let leaf = prop_oneof![
        2 => atom(names.clone()).prop_map(Draft::Atom),
        1 => sequence(left.clone(), right.clone()),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let below = |names: &[String]| draft(names.to_vec(), depth - 1);
    prop_oneof![
        1 => leaf,
        3 => (below(&names), formula(names.clone()))
            .prop_map(|(h, guard)| Draft::Guard(Box::new(h), guard)),
        3 => (below(&left), below(&right)).prop_map(|(a, b)| Draft::All(vec![a, b])),
        2 => (below(&names), below(&names)).prop_map(|(a, b)| Draft::Any(vec![a, b])),
    ]
    .boxed()
}

fn hyper_of(draft: Draft, objectives: &mut FunctionObjectives) -> Hyper {
    match draft {
        Draft::Atom(atom) => Hyper::Atom(atom),
        Draft::Sequence(sequence) => Hyper::Sequence(objectives.sequences.push(sequence)),
        Draft::Guard(h, guard) => Hyper::Guard(Box::new(hyper_of(*h, objectives)), guard),
        Draft::All(parts) => {
            Hyper::All(parts.into_iter().map(|part| hyper_of(part, objectives)).collect())
        }
        Draft::Any(parts) => {
            Hyper::Any(parts.into_iter().map(|part| hyper_of(part, objectives)).collect())
        }
    }
}

/// Objectives with one hyperlabel.
fn with_hyper(draft: Draft) -> (FunctionObjectives, Hyper) {
    let mut objectives = labels();
    let hyper = hyper_of(draft, &mut objectives);
    objectives.hypers.push(crate::Hyperlabel {
        hyper: hyper.clone(),
        text: "".into(),
        place: objectives.labels.values().next().expect("a label").place.clone(),
        key: crate::LabelKey(String::new()),
    });
    (objectives, hyper)
}

/// Whether each name is bound wherever the label is covered. By Figure 5 a label is covered only in
/// an environment with all of its values, and a monitor drops values that nobody uses.
fn is_total(traces: &[Trace]) -> bool {
    traces.iter().flat_map(|trace| &trace.events).all(|event| event.values.len() == VALUES)
}

fn four_names() -> Vec<String> {
    ["a", "b", "c", "d"].map(str::to_owned).into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_normal_form_has_the_environments_of_its_hyperlabel(
        traces in traces(),
        draft in draft(four_names(), 4),
    ) {
        let (objectives, hyper) = with_hyper(draft);
        let form = hyper.normal_form(10_000).expect("it is small");
        let parts = form.iter().map(|conjunction| conjunction.to_hyper()).collect();
        let expected = environments(&traces, &objectives, &hyper);
        prop_assert_eq!(environments(&traces, &objectives, &Hyper::Any(parts)), expected);
    }

    #[test]
    fn consolidation_covers_what_the_semantics_covers(
        traces in traces().prop_filter("all values known", |traces| is_total(traces)),
        draft in draft(four_names(), 4),
    ) {
        let (objectives, hyper) = with_hyper(draft);
        let wanted = RecordRequest::of(std::slice::from_ref(&objectives)).remove(0);
        let mut record = CoverageRecord::new();
        for trace in &traces {
            record.merge(&trace.record(&objectives, &wanted));
        }
        let expected = is_covered(&traces, &objectives, &hyper);
        prop_assert_eq!(record.covers(&objectives, &hyper), Ok(expected));
    }
}

/// Runs `flow(high, low)` with an `.htol` file; whether each objective is covered by the runs.
fn covered_by(sample: Sample, htol: &str, runs: &[&[i32]]) -> Vec<bool> {
    let (program, map, func) = sample.finish();
    let file = HtolFile::read("a.htol", htol).expect("it is as the grammar says");
    let request = Request { htol: vec![file], ..Request::new([Criterion::Htol]) };
    let annotation = annotate(&program, &map, func, &request).expect("a body");
    assert_eq!(annotation.diagnostics, [], "it is well-formed");
    let objectives = [annotation.objectives];
    let tracer = Tracer::new(&program, &objectives, false);
    let traces: Vec<Trace> = runs
        .iter()
        .map(|args| {
            let image = |v: &i32| Image { bytes: v.to_le_bytes().into(), pointers: Vec::new() };
            let test = Test::calling("f", args.iter().map(image).collect());
            tracer.run(&test, &Options::default()).expect("it suits the program").0
        })
        .collect();
    let wanted = RecordRequest::of(&objectives).remove(0);
    let mut record = CoverageRecord::new();
    for trace in &traces {
        record.merge(&trace.record(&objectives[0], &wanted));
    }
    let hypers = objectives[0].hypers.values();
    hypers
        .map(|hyper| {
            let covered = is_covered(&traces, &objectives[0], &hyper.hyper);
            assert_eq!(record.covers(&objectives[0], &hyper.hyper), Ok(covered));
            covered
        })
        .collect()
}

/// `f(high, low) { loc1: res = low + (high & mask); loc2: return; }`
fn flow_control(mask: i32) -> Sample {
    let mut sample = Sample::new("f");
    let int = sample.int();
    let (high, low) = (sample.param("high", int), sample.param("low", int));
    let res = sample.var("res", int);
    sample.user_label("loc1");
    let (low, high, mask) = (sample.read(low), sample.read(high), sample.constant(mask));
    let leaked = sample.expr(lydian_ir::Expr::Binary(lydian_ir::BinOp::And, high, mask));
    let value = sample.expr(lydian_ir::Expr::Binary(lydian_ir::BinOp::AddS, low, leaked));
    sample.stmt(lydian_ir::Stmt::Assign { dst: res, value });
    sample.user_label("loc2");
    sample
}

/// Example 4 of [002].
#[test]
fn non_interference_is_violated_where_high_shows_through() {
    let htol = "function f;\n\
        objective leak = < [(loc1, true) |> { lo <- low } -> (loc2, true) |> { r <- res }] .\n\
        [loc1 |> { lo' <- low } -> loc2 |> { r' <- res }] | lo == lo' && r != r' >;\n";
    let runs: [&[i32]; 3] = [&[1, -5], &[2, -5], &[4, 7]];
    assert_eq!(covered_by(flow_control(0), htol, &runs), [false]);
    assert_eq!(covered_by(flow_control(3), htol, &runs), [true]);
    assert_eq!(covered_by(flow_control(4), htol, &runs), [false], "only one low is met twice");
}

/// Examples 1 and 2, and h7 of V-D1, on `low < 3 && high < 3`.
#[test]
fn pairs_of_runs_show_independence() {
    let htol = "function f;\n\
        label l = (loc1, low < 3 && high < 3) |> { c1 <- low < 3; c2 <- high < 3 };\n\
        label l' = (loc1, !(low < 3 && high < 3)) |> { c1' <- low < 3; c2' <- high < 3 };\n\
        objective h1 = < l . l' | c1 != c1' && c2 == c2' >;\n\
        objective h2 = < l . l' | c1 == c1' && c2 != c2' >;\n\
        objective either = h1 + h2;\n";
    let covered = |runs: &[&[i32]]| covered_by(flow_control(0), htol, runs);
    assert_eq!(covered(&[&[0, 0], &[9, 9]]), [false; 3]);
    assert_eq!(covered(&[&[0, 0], &[0, 9]]), [true, false, true]);
    assert_eq!(covered(&[&[0, 0], &[0, 9], &[9, 0]]), [true; 3]);
}

/// h9 of V-D2: a passage may depend on values that were bound before.
#[test]
fn a_passage_may_ask_for_the_state() {
    let mut sample = Sample::new("f");
    let int = sample.int();
    for name in ["i", "j", "k"] {
        sample.param(name, int);
    }
    ["loc1", "loc2", "loc3"].into_iter().for_each(|name| sample.user_label(name));
    let htol = "function f;\nobjective h9 = < [activation loc1 |> { v1 <- i } \
        -(pc == loc2 => j != v1)-> loc3 |> { v2 <- k }] | v1 == v2 >;\n\
        objective never = [loc1 -(pc != loc2)-> loc3];\n";
    let covered = |runs: &[&[i32]]| covered_by(sample.clone(), htol, runs);
    assert_eq!(covered(&[&[1, 1, 1], &[1, 2, 3]]), [false, false]);
    assert_eq!(covered(&[&[1, 2, 1]]), [true, false]);
}

/// A name that is defined again stands for its earlier meaning in its own definition.
#[test]
fn a_label_may_be_named_like_the_programs_label_that_it_is_made_of() {
    let htol = "function f;\nlabel loc1 = loc1 |> { v <- low };\n\
        objective h = < loc1 . f::loc2 |> { w <- high } | v == w >;\n";
    assert_eq!(covered_by(flow_control(0), htol, &[&[1, 1]]), [true]);
    assert_eq!(covered_by(flow_control(0), htol, &[&[1, 2]]), [false]);
}

#[test]
fn an_objective_that_doubles_again_and_again_is_refused() {
    let mut htol = "function f;\nobjective o0 = loc1 + loc2;\n".to_owned();
    for n in 1..40 {
        htol += &format!("objective o{n} = o{0} . o{0};\n", n - 1);
    }
    let file = HtolFile::read("a.htol", htol).expect("it is as the grammar says");
    let (program, map, func) = flow_control(0).finish();
    let request = Request { htol: vec![file], ..Request::new([Criterion::Htol]) };
    let annotation = annotate(&program, &map, func, &request).expect("a body");
    let said = &annotation.diagnostics[0].message;
    assert_eq!(said, "an objective of more than 10000 parts is not supported");
}

#[test]
fn mistakes_in_a_file_are_shown_with_their_place() {
    let cases = [
        ("objective h = nowhere;", "2:15: `f` has no label `nowhere`"),
        ("objective h = (loc1, lo > 1);", "2:22: `f` knows no variable `lo` here"),
        ("objective h = (line 99, 1);", "2:16: `f` has no statement that begins at line 99"),
        ("objective h = (loc1, *low);", "2:23: to follow what is no pointer is not supported"),
        (
            "objective h = < loc1 |> { v <- low } + loc2 | v >;",
            "2:40: ill-formed: the parts of a disjunction bind the same names; broken by `v`",
        ),
        (
            "label l = loc1 |> { v <- low }; objective h = l |> { v <- low };",
            "2:54: ill-formed: the names that a label binds are distinct; broken by `v`",
        ),
        ("label l = loc1; label l = loc2;", "2:23: `l` is defined twice"),
        ("objective h = g::loc1;", "2:15: there is no function `g` with a body here"),
        (
            "objective h = [loc1 -(pc != g::entry)-> loc2];",
            "2:29: there is no function `g` with a body here",
        ),
        ("objective h = (g::entry, 1);", "2:15: there is no function `g` with a body here"),
        (
            "path p = loc1; objective h = p |> { v <- low };",
            "2:30: to bind at `p`, which is no label, is not supported",
        ),
    ];
    for (line, expected) in cases {
        let text = format!("function f;\n{line}\n");
        let file = HtolFile::read("a.htol", text).expect("it is as the grammar says");
        let (program, map, func) = flow_control(0).finish();
        let request = Request { htol: vec![file], ..Request::new([Criterion::Htol]) };
        let annotation = annotate(&program, &map, func, &request).expect("a body");
        let found: Vec<String> = annotation
            .diagnostics
            .iter()
            .map(|d| {
                let place = d.place.as_ref().expect("a place");
                format!("{}:{}: {}", place.line, place.column, d.message)
            })
            .collect();
        assert_eq!(found, [expected], "{line}");
    }
}
