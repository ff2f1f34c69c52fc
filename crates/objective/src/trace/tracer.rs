//! Traces of runs in the interpreter.

use lydian_ir::interp::{self, BadTest, DecisionEvent, Observer, Plan, View};
use lydian_ir::source::RootId;
use lydian_ir::stmt::{BranchOrigin, Edge};
use lydian_ir::test::Test;
use lydian_ir::{ConditionId, ExprId, FuncId, MarkId, Program, Truth};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Trace, TraceEvent};
use crate::event::Event;
use crate::foresee::vector_of;
use crate::hyper::normal::Part;
use crate::hyper::{Atom, Bound, Formula, Passage};
use crate::label::{FunctionObjectives, LabelId, Site};

/// Makes traces with what hyperlabels of some functions ask for.
///
/// A predicate over the values of mutants is unknown in its events: those belong to weak mutation,
/// which is no hyperlabel's.
#[derive(Debug)]
pub struct Tracer<'a> {
    program: &'a Program,
    objectives: &'a [FunctionObjectives],
    short_circuit: bool,
    index: FxHashMap<FuncId, usize>,
    /// What is asked at each site, by function.
    sites: Vec<FxHashMap<Site, Asked>>,
    plans: FxHashMap<(usize, ExprId), Plan>,
}

/// What is asked at a site.
#[derive(Debug, Default)]
struct Asked {
    labels: Vec<LabelId>,
    values: FxHashSet<Bound>,
}

impl<'a> Tracer<'a> {
    /// Prepares the objectives of functions with bodies. `short_circuit` makes every condition that
    /// evaluation does not reach unknown, pure or not.
    pub fn new(
        program: &'a Program,
        objectives: &'a [FunctionObjectives],
        short_circuit: bool,
    ) -> Self {
        let functions = objectives.iter().enumerate();
        let index = functions.map(|(number, one)| (one.function, number)).collect();
        let mut this = Self {
            program,
            objectives,
            short_circuit,
            index,
            sites: objectives.iter().map(|_| FxHashMap::default()).collect(),
            plans: FxHashMap::default(),
        };
        for number in 0..objectives.len() {
            this.gather(number);
        }
        this
    }

    fn gather(&mut self, number: usize) {
        let all = self.objectives;
        let objectives = &all[number];
        for (id, label) in objectives.labels.iter() {
            self.sites[number].entry(label.site).or_default().labels.push(id);
            label.pred.for_each_expr(&mut |expr| self.plan(number, expr));
        }
        for hyper in objectives.hypers.values() {
            let mut atoms = Vec::new();
            hyper.hyper.for_each_part(&mut |part| {
                if let Part::Atom(atom) = part {
                    atoms.push(atom);
                }
            });
            atoms.into_iter().for_each(|atom| self.gather_atom(atom));
        }
        for sequence in objectives.sequences.values() {
            sequence.atoms.iter().for_each(|atom| self.gather_atom(atom));
            for passage in &sequence.passages {
                let Passage::Obliged(obligations) = passage else { continue };
                for duty in obligations {
                    let Some(&number) = self.index.get(&duty.function) else { continue };
                    self.sites[number].entry(duty.site).or_default();
                    self.gather_states(number, duty.site, &duty.holds);
                }
            }
        }
    }

    fn gather_atom(&mut self, atom: &Atom) {
        let Some(&number) = self.index.get(&atom.function) else { return };
        let site = self.objectives[number].labels[atom.label].site;
        for binding in &atom.bindings {
            self.ask(number, site, &binding.value);
        }
    }

    fn gather_states(&mut self, number: usize, site: Site, formula: &Formula) {
        match formula {
            Formula::State(expr) => self.ask(number, site, &Bound::Expr(*expr)),
            Formula::Number(_) | Formula::Name(_) => {}
            Formula::Not(a) | Formula::Negate(a) => self.gather_states(number, site, a),
            Formula::Binary(_, a, b) => {
                self.gather_states(number, site, a);
                self.gather_states(number, site, b);
            }
        }
    }

    fn ask(&mut self, number: usize, site: Site, value: &Bound) {
        match value {
            Bound::Expr(expr) => self.plan(number, *expr),
            Bound::Truth(pred) => pred.for_each_expr(&mut |expr| self.plan(number, expr)),
        }
        self.sites[number].entry(site).or_default().values.insert(value.clone());
    }

    fn plan(&mut self, number: usize, expr: ExprId) {
        let objectives = &self.objectives[number];
        let Some(body) = &self.program.functions[objectives.function].body else { return };
        self.plans.entry((number, expr)).or_insert_with(|| {
            let types = body.types_in(&objectives.exprs);
            Plan::new(self.program, &objectives.exprs, &types, expr)
        });
    }

    /// The trace of a test, up to where C stops defining the run.
    ///
    /// # Errors
    /// Where the test does not suit the program.
    pub fn run(&self, test: &Test, options: &interp::Options) -> Result<Trace, BadTest> {
        let (stack, trace) = (Vec::new(), Trace::default());
        let mut watch = Watch { tracer: self, stack, activations: 0, trace };
        interp::run(self.program, test, options, &mut watch)?;
        Ok(watch.trace)
    }
}

/// Hears of a run.
struct Watch<'a> {
    tracer: &'a Tracer<'a>,
    /// The activation at each depth of calls.
    stack: Vec<u32>,
    activations: u32,
    trace: Trace,
}

/// What a predicate can ask at a passage.
struct Passing<'v> {
    tracer: &'v Tracer<'v>,
    view: &'v View<'v>,
    number: usize,
    decision: Option<&'v DecisionEvent>,
    /// The condition that was evaluated, at a site of one.
    condition: Option<(ConditionId, Truth)>,
}

impl Event for Passing<'_> {
    fn condition(&self, condition: ConditionId) -> Truth {
        use lydian_base::EntityId as _;
        match (self.decision, self.condition) {
            (Some(event), _) => match event.reached[condition.index()] {
                Some(value) => Truth::from(value),
                None if self.tracer.short_circuit => Truth::Unknown,
                None => event.values[condition.index()],
            },
            (None, Some((own, value))) if own == condition => value,
            _ => Truth::Unknown,
        }
    }

    fn reached(&self, condition: ConditionId) -> bool {
        use lydian_base::EntityId as _;
        match (self.decision, self.condition) {
            (Some(event), _) => event.reached[condition.index()].is_some(),
            (None, Some((own, _))) => own == condition,
            (None, None) => false,
        }
    }

    fn mutant(&self, _: ConditionId, _: ExprId) -> Truth {
        Truth::Unknown
    }

    fn expr(&self, expr: ExprId) -> Truth {
        self.view.truth_of_plan(&self.tracer.plans[&(self.number, expr)])
    }
}

impl Passing<'_> {
    fn value(&self, bound: &Bound) -> Option<i128> {
        match bound {
            Bound::Truth(pred) => pred.eval(self).known().map(i128::from),
            Bound::Expr(expr) => {
                let value = self.view.eval_plan(&self.tracer.plans[&(self.number, *expr)]).ok()?;
                (!value.uninitialised).then_some(value.bits as i128)
            }
        }
    }
}

impl Watch<'_> {
    fn pass(
        &mut self,
        view: &View<'_>,
        site: Site,
        decision: Option<&DecisionEvent>,
        condition: Option<(ConditionId, Truth)>,
    ) {
        let tracer = self.tracer;
        let Some(&number) = tracer.index.get(&view.function()) else { return };
        let Some(asked) = tracer.sites[number].get(&site).filter(|_| !view.is_undefined()) else {
            return;
        };
        let passing = Passing { tracer, view, number, decision, condition };
        let labels = &tracer.objectives[number].labels;
        let covered = asked.labels.iter().filter(|id| labels[**id].pred.eval(&passing).is_true());
        let values = asked.values.iter().filter_map(|v| Some((v.clone(), passing.value(v)?)));
        let vector = decision.map(|e| (e.decision, vector_of(e, tracer.short_circuit)));
        self.trace.events.push(TraceEvent {
            function: view.function(),
            activation: self.stack.last().copied().unwrap_or(0),
            site,
            labels: covered.copied().collect(),
            values: values.collect(),
            vector,
        });
    }

    /// Knows which activation runs: calls deeper than the view have returned.
    fn settle(&mut self, view: &View<'_>) {
        self.stack.truncate(view.depth());
    }
}

impl Observer for Watch<'_> {
    fn entry(&mut self, view: &View<'_>) {
        self.stack.truncate(view.depth().saturating_sub(1));
        self.activations += 1;
        // Calls that are not told of have no number of their own.
        self.stack.resize(view.depth(), self.activations);
        self.pass(view, Site::Entry, None, None);
    }

    fn mark(&mut self, view: &View<'_>, mark: MarkId) {
        self.settle(view);
        self.pass(view, Site::Mark(mark), None, None);
    }

    fn edge(&mut self, view: &View<'_>, edge: Edge) {
        self.settle(view);
        self.pass(view, Site::Edge(edge), None, None);
    }

    fn root(&mut self, view: &View<'_>, root: RootId) {
        self.settle(view);
        self.pass(view, Site::Root(root), None, None);
    }

    fn condition(&mut self, view: &View<'_>, origin: &BranchOrigin) {
        self.settle(view);
        let site = Site::Condition(origin.decision, origin.condition);
        let body = view.body();
        let expr = body.decisions[origin.decision].conditions[origin.condition].expr;
        let value = view.truth(&body.exprs, expr);
        self.pass(view, site, None, Some((origin.condition, value)));
    }

    fn decision(&mut self, view: &View<'_>, event: &DecisionEvent) {
        self.settle(view);
        self.pass(view, Site::Decision(event.decision), Some(event), None);
    }
}
