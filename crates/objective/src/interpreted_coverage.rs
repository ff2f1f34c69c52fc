//! Coverage by the interpreter: the labels that a test covers, up to the point from which C does not
//! define the run.
//!
//! A native run goes on after undefined behaviour, and its coverage there says nothing about the
//! program. The interpreter sees every fault and every use of memory that was never written, so it
//! determines which labels a run covers before. It is no measurement: a label that only the
//! interpreter covers does not count.
//!
//! Predicates are evaluated in Kleene's logic by [`crate::Pred::eval`] at the sites that the
//! interpreter reports to its observer.

use std::cell::Cell;

use lydian_base::EntityId;
use lydian_ir::arith::Overflow;
use lydian_ir::interp::{self, BadTest, DecisionEvent, Interpreter, Observer, Plan, View};
use lydian_ir::source::RootId;
use lydian_ir::stmt::{BranchOrigin, Edge};
use lydian_ir::test::Test;
use lydian_ir::trap::may_trap;
use lydian_ir::{BlockId, ConditionId, DecisionId, ExprId, FuncId, MarkId, Program, StmtId, Truth};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::coverage_record::{LabelValues, RecordRequest, Row};
use crate::decision::vector::DecisionVector;
use crate::event::Event;
use crate::hyper::BoundValue;
use crate::label::{LabelId, Site};
use crate::objectives::FunctionObjectives;

/// A run of the interpreter with its coverage.
#[derive(Debug)]
pub struct InterpretedRun {
    /// The run.
    pub outcome: interp::Outcome,
    /// The labels of each function that were covered while the run was defined, in order. The
    /// functions are in the order in which their objectives were given.
    pub covered: Vec<Vec<LabelId>>,
    /// The labels of each function that were passed, and whose predicates then had no value because they
    /// read memory that was never written, as the padding of an input.
    pub unwritten: Vec<FxHashSet<LabelId>>,
    /// For each function, the vectors that its decisions had while the run was defined, if
    /// hyperlabels need them.
    pub vectors: Vec<FxHashSet<(DecisionId, DecisionVector)>>,
    /// For each function, the values that its labels bound while the run was defined, if hyperlabels
    /// need them.
    pub bound: Vec<FxHashSet<(LabelValues, Row)>>,
}

/// The labels of a site.
#[derive(Clone, Debug, Default)]
struct SiteLabels {
    all: Vec<LabelId>,
    /// The positions of the values that hyperlabels request of some of them.
    wanted: Vec<usize>,
}

/// Runs tests in the interpreter and finds the objectives that they cover. Objectives are prepared
/// once, for any number of runs.
#[derive(Debug)]
pub struct CoverageInterpreter<'a> {
    program: &'a Program,
    objectives: &'a [FunctionObjectives],
    short_circuit: bool,
    wanted: Vec<RecordRequest>,
    index: FxHashMap<FuncId, usize>,
    sites: Vec<FxHashMap<Site, SiteLabels>>,
    /// The mutants of each condition.
    mutants: Vec<FxHashMap<(DecisionId, ConditionId), Vec<ExprId>>>,
    /// Each expression of a predicate, with whether it may trap.
    plans: FxHashMap<(usize, ExprId), (Plan, bool)>,
}

impl<'a> CoverageInterpreter<'a> {
    /// Prepares the objectives of functions with bodies. `short_circuit` makes every condition that
    /// evaluation does not reach unknown.
    pub fn new(
        program: &'a Program,
        objectives: &'a [FunctionObjectives],
        short_circuit: bool,
    ) -> Self {
        let mut this = Self {
            program,
            objectives,
            short_circuit,
            wanted: RecordRequest::of(objectives),
            index: FxHashMap::default(),
            sites: vec![FxHashMap::default(); objectives.len()],
            mutants: vec![FxHashMap::default(); objectives.len()],
            plans: FxHashMap::default(),
        };
        for index in 0..objectives.len() {
            this.prepare(index);
        }
        this
    }

    fn prepare(&mut self, index: usize) {
        let (program, all) = (self.program, self.objectives);
        let objectives = &all[index];
        let Some(body) = &program.functions[objectives.function].body else { return };
        let exprs = &objectives.exprs;
        let types = body.types_in(exprs);
        let mut plan = |expr| {
            self.plans.entry((index, expr)).or_insert_with(|| {
                let traps = may_trap(program, body, exprs, expr, Overflow::Wrap);
                (Plan::new(program, exprs, &types, expr), traps)
            });
        };
        for value in self.wanted[index].labels.iter().flat_map(|wanted| &wanted.values.values) {
            match value {
                BoundValue::Expr(expr) => plan(*expr),
                BoundValue::Truth(pred) => pred.for_each_expr(&mut plan),
            }
        }
        for (id, label) in objectives.labels.iter() {
            self.sites[index].entry(label.site).or_default().all.push(id);
            label.pred.for_each_expr(&mut plan);
            if let Site::Decision(decision) = label.site {
                label.pred.for_each_mutant(&mut |condition, expr| {
                    let of_condition = self.mutants[index].entry((decision, condition));
                    of_condition.or_default().push(expr);
                });
            }
        }
        for (position, wanted) in self.wanted[index].labels.iter().enumerate() {
            let site = objectives.labels[wanted.values.label].site;
            self.sites[index].entry(site).or_default().wanted.push(position);
        }
        self.index.insert(objectives.function, index);
    }

    /// Whether a label's predicate may trap, as one that reads through a pointer does. Whether it
    /// traps on a state depends on the bounds of objects, which a native run does not know for all of
    /// them.
    pub fn may_trap(&self, index: usize, label: LabelId) -> bool {
        let mut any = false;
        self.objectives[index].labels[label].pred.for_each_expr(&mut |expr| {
            any |= self.plans.get(&(index, expr)).is_none_or(|(_, traps)| *traps);
        });
        any
    }

    /// Runs a test.
    ///
    /// # Errors
    /// If the test does not fit the program.
    pub fn run(&self, test: &Test, options: &interp::Options) -> Result<InterpretedRun, BadTest> {
        self.run_on(&Interpreter::new(self.program), test, options)
    }

    /// The number of expressions of predicates, which a run may evaluate wherever it passes their sites.
    pub fn predicates(&self) -> usize {
        self.plans.len()
    }

    /// The same, on a given interpreter of the program, which keeps data that many runs need.
    ///
    /// # Errors
    /// Those of [`CoverageInterpreter::run`].
    pub fn run_on(
        &self,
        interpreter: &Interpreter<'_>,
        test: &Test,
        options: &interp::Options,
    ) -> Result<InterpretedRun, BadTest> {
        let labels = self.objectives.iter().map(|objectives| objectives.labels.len());
        let covered = labels.map(|count| vec![false; count]).collect();
        let vectors = vec![FxHashSet::default(); self.objectives.len()];
        let bound = vec![FxHashSet::default(); self.objectives.len()];
        let unwritten = vec![FxHashSet::default(); self.objectives.len()];
        let mut observer = CoverageObserver {
            prepared: self,
            values: FxHashMap::default(),
            covered,
            unwritten,
            vectors,
            bound,
        };
        let outcome = interpreter.run(test, options, &mut observer)?;
        let covered = self.objectives.iter().zip(&observer.covered).map(|(objectives, covered)| {
            objectives.labels.ids().filter(|label| covered[label.index()]).collect()
        });
        let covered = covered.collect();
        let CoverageObserver { unwritten, vectors, bound, .. } = observer;
        Ok(InterpretedRun { outcome, covered, unwritten, vectors, bound })
    }
}

/// Identifies the value of a mutant: the depth of the call, the decision, the condition, the mutant.
type MutantKey = (usize, DecisionId, ConditionId, ExprId);

/// The value of a mutant, and whether it has none for want of written memory.
#[derive(Clone, Copy, Debug)]
struct MutantValue {
    truth: Truth,
    unwritten: bool,
}

impl MutantValue {
    fn of(view: &View<'_>, plan: &Plan) -> Self {
        let truth = view.truth_of_plan(plan);
        Self { truth, unwritten: truth == Truth::Unknown && view.is_unwritten(plan) }
    }
}

/// Evaluates predicates where their sites are passed.
struct CoverageObserver<'a> {
    prepared: &'a CoverageInterpreter<'a>,
    /// The values of mutants when their conditions were last reached.
    values: FxHashMap<MutantKey, MutantValue>,
    /// By label.
    covered: Vec<Vec<bool>>,
    unwritten: Vec<FxHashSet<LabelId>>,
    vectors: Vec<FxHashSet<(DecisionId, DecisionVector)>>,
    bound: Vec<FxHashSet<(LabelValues, Row)>>,
}

impl CoverageObserver<'_> {
    fn keep_vector(&mut self, view: &View<'_>, event: &DecisionEvent) {
        let Some(&index) = self.prepared.index.get(&view.function()) else { return };
        if !view.is_undefined()
            && self.prepared.wanted[index].decisions.contains_key(&event.decision)
        {
            let vector = vector_of(view, event, self.prepared.short_circuit);
            self.vectors[index].insert((event.decision, vector));
        }
    }

    fn pass(&mut self, view: &View<'_>, site: Site, event: Option<&DecisionEvent>) {
        if view.is_undefined() {
            return;
        }
        let Some(&index) = self.prepared.index.get(&view.function()) else { return };
        let Some(labels) = self.prepared.sites[index].get(&site) else { return };
        let at = SiteEvent { observer: self, view, index, event, unwritten: Cell::new(false) };
        let objectives = &self.prepared.objectives[index];
        let (mut covered, mut unwritten) = (Vec::new(), Vec::new());
        for label in labels.all.iter().filter(|label| !self.covered[index][label.index()]) {
            at.unwritten.set(false);
            match objectives.labels[*label].pred.eval(&at) {
                Truth::True => covered.push(*label),
                Truth::Unknown if at.unwritten.get() => unwritten.push(*label),
                _ => {}
            }
        }
        let wanted = &self.prepared.wanted[index].labels;
        let here = labels.wanted.iter().map(|position| &wanted[*position].values);
        let bound: Vec<(LabelValues, Row)> = here
            .filter(|wanted| objectives.labels[wanted.label].pred.eval(&at).is_true())
            .filter_map(|wanted| {
                let row =
                    wanted.values.iter().map(|value| at.value(value)).collect::<Option<_>>()?;
                Some((wanted.clone(), row))
            })
            .collect();
        for label in covered {
            self.covered[index][label.index()] = true;
        }
        self.unwritten[index].extend(unwritten);
        self.bound[index].extend(bound);
    }
}

/// The vector of a decision's event. With `short_circuit`, conditions that were not reached are
/// unknown.
pub(crate) fn vector_of(
    view: &View<'_>,
    event: &DecisionEvent,
    short_circuit: bool,
) -> DecisionVector {
    let mut vector = DecisionVector::default();
    for (index, reached) in event.reached.iter().enumerate() {
        let condition = ConditionId::from_index(index);
        let known = if short_circuit { *reached } else { event.value(view, condition).known() };
        if reached.is_some() {
            vector.reached.insert(condition);
        }
        if let Some(value) = known {
            vector.known.insert(condition);
            if value {
                vector.value.insert(condition);
            }
        }
    }
    vector
}

/// One passage of a site.
struct SiteEvent<'w, 'v> {
    observer: &'w CoverageObserver<'w>,
    view: &'v View<'v>,
    index: usize,
    /// `None` if the site is no decision. Labels there read no condition.
    event: Option<&'v DecisionEvent>,
    /// Whether a value was asked for that memory without a value decides.
    unwritten: Cell<bool>,
}

impl SiteEvent<'_, '_> {
    fn truth(&self, value: MutantValue) -> Truth {
        self.unwritten.set(self.unwritten.get() | value.unwritten);
        value.truth
    }

    fn value(&self, bound: &BoundValue) -> Option<i128> {
        match bound {
            BoundValue::Truth(pred) => pred.eval(self).known().map(i128::from),
            BoundValue::Expr(expr) => {
                let plan = &self.observer.prepared.plans[&(self.index, *expr)].0;
                let value = self.view.eval_plan(plan).ok()?;
                (!value.uninitialised).then_some(value.bits as i128)
            }
        }
    }

    fn reached_value(&self, condition: ConditionId) -> Option<bool> {
        self.event.and_then(|event| event.reached[condition.index()])
    }
}

impl Event for SiteEvent<'_, '_> {
    fn condition(&self, condition: ConditionId) -> Truth {
        match (self.reached_value(condition), self.event) {
            (Some(value), _) => Truth::from(value),
            (None, Some(event)) if !self.observer.prepared.short_circuit => {
                event.value(self.view, condition)
            }
            (None, _) => Truth::Unknown,
        }
    }

    fn reached(&self, condition: ConditionId) -> bool {
        self.reached_value(condition).is_some()
    }

    fn mutant(&self, condition: ConditionId, expr: ExprId) -> Truth {
        let Some(event) = self.event else { return Truth::Unknown };
        if self.reached(condition) {
            let key = (self.view.depth(), event.decision, condition, expr);
            let value = self.observer.values.get(&key);
            return value.map_or(Truth::Unknown, |value| self.truth(*value));
        }
        let conditions = &self.view.body().decisions[event.decision].conditions;
        let is_one = conditions[condition].is_one_expression();
        let (plan, traps) = &self.observer.prepared.plans[&(self.index, expr)];
        match is_one && !traps && !self.observer.prepared.short_circuit {
            true => self.truth(MutantValue::of(self.view, plan)),
            false => Truth::Unknown,
        }
    }

    fn expr(&self, expr: ExprId) -> Truth {
        let plan = &self.observer.prepared.plans[&(self.index, expr)].0;
        self.truth(MutantValue::of(self.view, plan))
    }
}

impl Observer for CoverageObserver<'_> {
    fn entry(&mut self, view: &View<'_>) {
        self.pass(view, Site::Entry, None);
    }

    fn mark(&mut self, view: &View<'_>, mark: MarkId) {
        self.pass(view, Site::Mark(mark), None);
    }

    fn edge(&mut self, view: &View<'_>, edge: Edge) {
        self.pass(view, Site::Edge(edge), None);
    }

    fn root(&mut self, view: &View<'_>, root: RootId) {
        self.pass(view, Site::Root(root), None);
    }

    fn condition(&mut self, view: &View<'_>, origin: &BranchOrigin) {
        let Some(&index) = self.prepared.index.get(&view.function()) else { return };
        let key = (origin.decision, origin.condition);
        let Some(mutants) = self.prepared.mutants[index].get(&key) else { return };
        for expr in mutants {
            let value = MutantValue::of(view, &self.prepared.plans[&(index, *expr)].0);
            self.values.insert((view.depth(), key.0, key.1, *expr), value);
        }
    }

    fn hears_statements(&self) -> bool {
        let mut sites = self.prepared.sites.iter().flat_map(|sites| sites.keys());
        sites.any(|site| matches!(site, Site::Stmt(_) | Site::Block(_)))
    }

    fn statement(&mut self, view: &View<'_>, stmt: StmtId) {
        // A copy stands for the same place of the text.
        let original = view.body().source.original(stmt);
        self.pass(view, Site::Stmt(original), None);
    }

    fn block(&mut self, view: &View<'_>, block: BlockId) {
        self.pass(view, Site::Block(block), None);
    }

    fn decision(&mut self, view: &View<'_>, event: &DecisionEvent) {
        self.pass(view, Site::Decision(event.decision), Some(event));
        self.keep_vector(view, event);
    }
}

#[cfg(test)]
mod tests {
    use lydian_ir::interp::{End, Options};
    use lydian_ir::stmt::{Block, Mark, MarkKind, Terminator};
    use lydian_ir::test::Image;
    use lydian_ir::{BinOp, CmpOp, Expr, Stmt, TrapKind};

    use super::*;
    use crate::annotate::{Request, annotate};
    use crate::criterion::Criterion;
    use crate::testing::Sample;

    fn covered_by(sample: Sample, args: &[i32]) -> (Vec<String>, End) {
        let (program, map, func) = sample.finish();
        let request = Request::new([Criterion::Stmt]);
        let annotation = annotate(&program, &map, func, &request).expect("a body");
        let objectives = [annotation.objectives];
        let image = |value: &i32| Image { bytes: value.to_le_bytes().into(), pointers: Vec::new() };
        let test = Test::calling("f", args.iter().map(image).collect());
        let interpreter = CoverageInterpreter::new(&program, &objectives, false);
        let run = interpreter.run(&test, &Options::default()).expect("it suits the program");
        let shown =
            run.covered[0].iter().map(|label| format!("{:?}", objectives[0].labels[*label].site));
        (shown.collect(), run.outcome.end)
    }

    /// `f(x) { <mark> q = 1 / x; <mark> return; }`
    fn divides() -> Sample {
        let mut sample = Sample::new("f");
        let int = sample.int();
        let (x, q) = (sample.param("x", int), sample.var("q", int));
        sample.mark();
        let (one, by) = (sample.constant(1), sample.read(x));
        let value = sample.expr(Expr::Binary(BinOp::DivS, one, by));
        sample.stmt(Stmt::Assign { dst: q, value });
        sample.mark();
        sample
    }

    #[test]
    fn labels_after_a_fault_are_not_covered() {
        let (all, end) = covered_by(divides(), &[2]);
        assert_eq!((all.len(), end), (2, End::Returned));
        let (before, end) = covered_by(divides(), &[0]);
        assert_eq!((before, end), (all[..1].to_vec(), End::Trapped(TrapKind::DivisionByZero)));
    }

    #[test]
    fn a_call_is_passed_though_it_does_not_come_back() {
        let mut sample = Sample::new("f");
        let abort = sample.declare("abort");
        sample.call(abort);
        let (program, map, func) = sample.finish();
        let request = Request::new([Criterion::Fcc]);
        let annotation = annotate(&program, &map, func, &request).expect("a body");
        let objectives = [annotation.objectives];
        let interpreter = CoverageInterpreter::new(&program, &objectives, false);
        let test = Test::calling("f", Vec::new());
        let run = interpreter.run(&test, &Options::default()).expect("it suits the program");
        assert_eq!(run.outcome.end, End::Trapped(TrapKind::Abort));
        assert_eq!(run.covered[0].len(), 1);
    }

    /// `f() { <mark> r = q; <mark> if (r == 0) { <mark> } return; }`, `q` never being written.
    fn uses_what_was_never_written() -> Sample {
        let mut sample = Sample::new("f");
        let int = sample.int();
        let (q, r) = (sample.var("q", int), sample.var("r", int));
        sample.mark();
        let value = sample.read(q);
        sample.stmt(Stmt::Assign { dst: r, value });
        sample.mark();
        let (moved, zero) = (sample.read(r), sample.constant(0));
        let cond = sample.expr(Expr::Cmp(CmpOp::Eq, moved, zero));
        let body = &mut sample.body;
        let mark = body.marks.push(Mark { kind: MarkKind::Statement, span: body.source.body });
        let stmts = vec![body.stmts.push(Stmt::Mark(mark))];
        let arm = body.blocks.push(Block { stmts, term: Terminator::Return(None) });
        let join = body.blocks.push(Block { stmts: Vec::new(), term: Terminator::Return(None) });
        body.blocks[body.entry].term =
            Terminator::Branch { cond, then_to: arm, else_to: join, origin: None };
        sample
    }

    #[test]
    fn labels_after_a_use_of_what_was_never_written_are_not_covered() {
        let (covered, end) = covered_by(uses_what_was_never_written(), &[]);
        assert_eq!((covered.len(), end), (2, End::Returned), "{covered:?}");
    }
}
