//! Local proofs against the trial of every state, on functions of one 8-bit variable.

use lydian_base::{EntityId, SourceMap, Span};
use lydian_ir::arith::{self, Overflow};
use lydian_ir::source::{Point, Root, RootKind};
use lydian_ir::{
    Body, ConditionId, Decision, DecisionId, Expr, ExprArena, ExprId, FuncId, Program, Purity,
    Truth, text,
};
use lydian_objective::decision::vector::evaluate;
use lydian_objective::{
    ConditionSet, Criterion, Event, FunctionObjectives, Label, Pred, Request, Site, annotate,
};
use lydian_prove::{LocalOutcome, LocalProver, Semantics};
use lydian_smt::{BitBlastSolver, Limits, SatBackend, TermPool};
use proptest::prelude::*;

/// A function of `v0`, an 8-bit signed number, with a decision and roots.
fn program(tree: &str, conditions: &[(&str, String)], values: &[String]) -> Program {
    let mut conditions_text = String::new();
    for (index, (purity, expr)) in conditions.iter().enumerate() {
        conditions_text.push_str(&format!("    c{index} {purity} = {expr}\n"));
    }
    let values: String = values.iter().map(|expr| format!("    expr {expr}\n")).collect();
    let source = format!(
        r#"ty0 = void
ty1 = int "signed char" 8 signed
ty2 = function ty0 (ty1)
function f0 "f" ty2 external ("x") @0..60
{{
  params (v0)
  local v0 "x" ty1 param register i8 @0..1000
  entry bb0
  bb0:
{values}    return void
  decision d0 control = {tree} {{
{conditions_text}  }}
  source {{
  }}
}}
"#
    );
    let mut program = text::parse(&source).unwrap_or_else(|error| panic!("{error}\n{source}"));
    let function = FuncId::from_index(0);
    let body = program.functions[function].body.as_mut().expect("a body");
    add_spans(body);
    add_roots(body);
    program
}

/// Gives every expression a text of its own, so that all count as written.
fn add_spans(body: &mut Body) {
    for id in body.exprs.ids() {
        let start = 100 + 2 * id.index() as u32;
        body.source.exprs.set(id, Span::new(start, start + 1));
    }
}

/// Makes a root of each condition, and of each expression that is used nowhere.
fn add_roots(body: &mut Body) {
    let mut used = vec![false; body.exprs.len()];
    for expr in body.exprs.values() {
        expr.for_each_operand(|operand| used[operand.index()] = true);
    }
    let mut roots = Vec::new();
    for (decision, conditions) in body.decisions.iter().map(|(id, d)| (id, &d.conditions)) {
        for (condition, expr) in conditions.iter().map(|(id, c)| (id, c.expr)) {
            used[expr.index()] = true;
            roots.push((expr, RootKind::Condition { decision, condition }));
        }
    }
    let unused = body.exprs.ids().filter(|id| !used[id.index()]);
    roots.extend(unused.map(|expr| (expr, RootKind::Value)));
    for (expr, kind) in roots {
        let (point, captures) = (Point::Term(body.entry), Vec::new());
        let span = body.source.exprs[expr];
        body.source.roots.push(Root {
            point,
            copies: Vec::new(),
            expr,
            kind,
            span,
            captures,
            rewritable: true,
        });
    }
}

fn objectives(program: &Program) -> FunctionObjectives {
    use Criterion::{Bc, Dcc, Gacc, Gicc, Idc, Mcc, Rte, Wm};
    let map = SourceMap::from_preprocessed(" ".repeat(1000), "sample.c");
    let request = Request::new([Bc, Dcc, Mcc, Gacc, Gicc, Wm, Idc, Rte]);
    annotate(program, &map, FuncId::from_index(0), &request).expect("a body").objectives
}

/// One state: the value of the variable.
struct State<'a> {
    body: &'a Body,
    exprs: &'a ExprArena,
    x: u128,
}

impl State<'_> {
    /// The value of an expression; `None` where it traps.
    fn eval(&self, expr: ExprId) -> Option<u128> {
        let ty = |expr: ExprId| self.body.type_in(self.exprs, expr);
        match self.exprs[expr] {
            Expr::Const(_, bits) => Some(bits),
            Expr::Local(_) => Some(self.x),
            Expr::Unary(op, a) => arith::unary(op, ty(a), self.eval(a)?, Overflow::Wrap).ok(),
            Expr::Binary(op, a, b) => {
                let (value_a, value_b) = (self.eval(a)?, self.eval(b)?);
                arith::binary(op, ty(a), value_a, value_b, Overflow::Wrap).ok()
            }
            Expr::Cmp(op, a, b) => {
                Some(u128::from(arith::compare(op, ty(a), self.eval(a)?, self.eval(b)?)))
            }
            Expr::Cast(op, to, a) => arith::cast(op, ty(a), to, self.eval(a)?).ok(),
            ref other => panic!("these functions have no {other:?}"),
        }
    }

    fn truth(&self, expr: ExprId) -> Truth {
        Truth::from(self.eval(expr).map(|bits| bits == 1))
    }
}

/// The event of a decision on a state.
struct DecisionOn<'a> {
    state: State<'a>,
    decision: &'a Decision,
    reached: ConditionSet,
    short_circuit: bool,
}

impl<'a> DecisionOn<'a> {
    /// `None` where evaluating the decision traps.
    fn new(state: State<'a>, decision: &'a Decision, short_circuit: bool) -> Option<Self> {
        let mut reached = ConditionSet::new();
        let mut trapped = false;
        evaluate(&decision.tree, &mut |condition| {
            reached.insert(condition);
            let value = state.eval(decision.conditions[condition].expr);
            trapped |= value.is_none();
            value == Some(1)
        });
        (!trapped).then_some(Self { state, decision, reached, short_circuit })
    }

    fn in_place_of(&self, condition: ConditionId, expr: ExprId) -> Truth {
        let pure = self.decision.conditions[condition].purity == Purity::Pure;
        if self.reached.contains(condition) || pure && !self.short_circuit {
            self.state.truth(expr)
        } else {
            Truth::Unknown
        }
    }
}

impl Event for DecisionOn<'_> {
    fn condition(&self, condition: ConditionId) -> Truth {
        self.in_place_of(condition, self.decision.conditions[condition].expr)
    }

    fn reached(&self, condition: ConditionId) -> bool {
        self.reached.contains(condition)
    }

    fn mutant(&self, condition: ConditionId, expr: ExprId) -> Truth {
        self.in_place_of(condition, expr)
    }

    fn expr(&self, expr: ExprId) -> Truth {
        self.state.truth(expr)
    }
}

/// Whether some state covers a label.
fn some_state_covers(
    body: &Body,
    objectives: &FunctionObjectives,
    label: &Label,
    short_circuit: bool,
) -> bool {
    (0..256).any(|x| {
        let state = State { body, exprs: &objectives.exprs, x };
        let decision = match label.site {
            Site::Decision(id) => id,
            // No predicate of these sites asks for a condition.
            _ => DecisionId::from_index(0),
        };
        let decision = &body.decisions[decision];
        let at_decision = matches!(label.site, Site::Decision(_));
        if at_decision {
            let event = DecisionOn::new(state, decision, short_circuit);
            event.is_some_and(|event| label.pred.eval(&event).is_true())
        } else {
            let reached = ConditionSet::new();
            let event = DecisionOn { state, decision, reached, short_circuit };
            label.pred.eval(&event).is_true()
        }
    })
}

/// Every label is proved infeasible exactly if no state covers it.
fn check(program: &Program, short_circuit: bool) -> Result<(), TestCaseError> {
    let body = program.functions[FuncId::from_index(0)].body.as_ref().expect("a body");
    let objectives = objectives(program);
    let semantics = Semantics { short_circuit, ..Semantics::default() };
    let mut prover = LocalProver::new(&program.types, body, &objectives, semantics);
    let mut pool = TermPool::new();
    let mut solver = BitBlastSolver::new(SatBackend::default());
    for label in objectives.labels.values() {
        let outcome = prover.prove(&mut pool, &mut solver, &Limits::none(), label);
        let feasible = some_state_covers(body, &objectives, label, short_circuit);
        match outcome {
            LocalOutcome::Infeasible => prop_assert!(!feasible, "{:?} is covered", label.pred),
            LocalOutcome::Open => prop_assert!(feasible, "{:?} is not proved", label.pred),
            LocalOutcome::Unknown(reason) => prop_assert!(false, "{reason}"),
        }
    }
    Ok(())
}

fn condition() -> impl Strategy<Value = (&'static str, String)> {
    let k = || -4i8..5;
    prop_oneof![
        k().prop_map(|k| ("pure", format!("lt.s(v0, {k}:i8)"))),
        k().prop_map(|k| ("pure", format!("eq(v0, {k}:i8)"))),
        k().prop_map(|k| ("pure", format!("ne(and(v0, {k}:i8), 0:i8)"))),
        (k(), k()).prop_map(|(k, m)| ("may-trap", format!("gt.s(div.s({k}:i8, v0), {m}:i8)"))),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let k = || -3i8..4;
    prop_oneof![
        (k(), k()).prop_map(|(k, m)| format!("add.s(mul.s(v0, {k}:i8), {m}:i8)")),
        k().prop_map(|k| format!("rem.s({k}:i8, v0)")),
        k().prop_map(|k| format!("shl.s(xor(v0, {k}:i8), v0)")),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_label_is_proved_infeasible_exactly_if_no_state_covers_it(
        tree in prop::sample::select(vec![
            "and(c0, or(c1, not(c2)))",
            "or(and(c0, c1), c2)",
            "eq(and(c0, c1), c2)",
            "ite(c0, c1, c2)",
            "bitor(c0, xor(c1, c2))",
        ]),
        conditions in prop::collection::vec(condition(), 3),
        values in prop::collection::vec(value(), 2),
        short_circuit in any::<bool>(),
    ) {
        check(&program(tree, &conditions, &values), short_circuit)?;
    }
}

/// Labels of a criterion that are proved infeasible, by name.
fn proved(program: &Program, criterion: Criterion) -> Vec<String> {
    let body = program.functions[FuncId::from_index(0)].body.as_ref().expect("a body");
    let objectives = objectives(program);
    let mut prover = LocalProver::new(&program.types, body, &objectives, Semantics::default());
    let mut pool = TermPool::new();
    let mut solver = BitBlastSolver::new(SatBackend::default());
    let mut prove = |label| prover.prove(&mut pool, &mut solver, &Limits::none(), label);
    objectives.criteria[&criterion]
        .iter()
        .filter(|entry| prove(&objectives.labels[entry.label]).evidence().is_some())
        .map(|entry| entry.name.clone())
        .collect()
}

#[test]
fn combinations_that_exclude_one_another_are_proved_infeasible() {
    let conditions =
        [("pure", "lt.s(v0, 0:i8)".to_owned()), ("pure", "gt.s(v0, 10:i8)".to_owned())];
    let program = program("or(c0, c1)", &conditions, &[]);
    assert_eq!(proved(&program, Criterion::Mcc), ["d0 TT"]);
}

#[test]
fn an_equivalent_mutant_is_proved_infeasible() {
    // x & 1 is neither above 1 nor below 0.
    let value = "and(v0, 1:i8)".to_owned();
    let conditions = [("pure", "gt.s(and(v0, 1:i8), 0:i8)".to_owned())];
    let program = program("c0", &conditions, &[value]);
    let found = proved(&program, Criterion::Wm);
    assert!(found.contains(&"ROR > -> !=".to_owned()), "{found:?}");
    assert!(found.contains(&"ABS abs".to_owned()), "{found:?}");
    assert!(!found.contains(&"ROR > -> >=".to_owned()), "{found:?}");
}

#[test]
fn a_condition_that_effects_may_change_is_not_taken_for_the_same_as_another() {
    let twice = |second| {
        let conditions = [("pure", "lt.s(v0, 0:i8)".to_owned()), (second, "lt.s(v0, 0:i8)".into())];
        proved(&program("bitand(c0, c1)", &conditions, &[]), Criterion::Mcc)
    };
    assert_eq!(twice("pure"), ["d0 TF", "d0 FT"]);
    assert_eq!(twice("effects"), Vec::<String>::new());
}

#[test]
fn a_label_that_asks_what_its_site_does_not_know_is_not_proved() {
    let conditions = [("pure", "lt.s(v0, 0:i8)".to_owned())];
    let program = program("c0", &conditions, &[]);
    let body = program.functions[FuncId::from_index(0)].body.as_ref().expect("a body");
    let objectives = objectives(&program);
    let mut label = objectives.labels.values().next().expect("a label").clone();
    label.site = Site::Entry;
    label.pred = Pred::Cond(ConditionId::from_index(0));
    let mut prover = LocalProver::new(&program.types, body, &objectives, Semantics::default());
    let mut pool = TermPool::new();
    let mut solver = BitBlastSolver::new(SatBackend::default());
    let outcome = prover.prove(&mut pool, &mut solver, &Limits::none(), &label);
    assert!(matches!(outcome, LocalOutcome::Open), "{outcome:?}");
}
