//! Traces of runs in the interpreter.

use std::collections::BTreeSet;

use lydian_base::{EntityId, SideTable};
use lydian_ir::arith::Overflow;
use lydian_ir::interp::{self, BadTest, DecisionEvent, Interpreter, Observer, Plan, View};
use lydian_ir::source::RootId;
use lydian_ir::stmt::{BranchOrigin, Edge};
use lydian_ir::test::Test;
use lydian_ir::trap::may_trap;
use lydian_ir::{
    BlockId, ConditionId, DecisionId, ExprId, FuncId, MarkId, Program, StmtId, Truth, Type,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Trace, TraceEvent};
use crate::dataflow::Variable;
use crate::dataflow::cells::destination;
use crate::event::Event;
use crate::hyper::normal::Part;
use crate::hyper::{Atom, BoundValue, CellDefinitions, Definitions, Formula, Passage, Sequence};
use crate::interpreted_coverage::vector_of;
use crate::label::{LabelId, Pred, Site};
use crate::objectives::FunctionObjectives;
use crate::paths::NodeGraph;

/// Makes traces with the values that the labels and hyperlabels of some functions ask for.
#[derive(Debug)]
pub struct Tracer<'a> {
    program: &'a Program,
    objectives: &'a [FunctionObjectives],
    short_circuit: bool,
    index: FxHashMap<FuncId, usize>,
    /// The labels and values of each site, by function.
    sites: Vec<FxHashMap<Site, SiteRequest>>,
    /// The mutants of each condition, by function.
    mutants: Vec<FxHashMap<(DecisionId, ConditionId), Vec<ExprId>>>,
    plans: FxHashMap<(usize, ExprId), Plan>,
    /// The writes through pointers: by function and statement the address, the bytes, and the
    /// variables that may be hit.
    writes: FxHashMap<(usize, StmtId), (ExprId, u64, Vec<Variable>)>,
    /// The types of each function's expressions.
    types: Vec<Option<SideTable<ExprId, Type>>>,
}

/// The labels and the values that an event of a site must have.
#[derive(Debug, Default)]
struct SiteRequest {
    labels: Vec<LabelId>,
    values: FxHashSet<BoundValue>,
}

impl<'a> Tracer<'a> {
    /// Prepares the objectives of functions with bodies. `short_circuit` makes every condition that
    /// evaluation does not reach unknown.
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
            mutants: objectives.iter().map(|_| FxHashMap::default()).collect(),
            plans: FxHashMap::default(),
            writes: FxHashMap::default(),
            types: Vec::new(),
        };
        for one in objectives {
            let body = program.functions[one.function].body.as_ref();
            this.types.push(body.map(|body| body.types_in(&one.exprs)));
        }
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
            match label.site {
                Site::Decision(decision) => label.pred.for_each_mutant(&mut |condition, expr| {
                    let all = self.mutants[number].entry((decision, condition)).or_default();
                    if !all.contains(&expr) {
                        all.push(expr);
                    }
                }),
                Site::Condition(decision, condition) => {
                    let body = self.program.functions[objectives.function].body.as_ref();
                    let expr = body.map(|b| b.decisions[decision].conditions[condition].expr);
                    expr.into_iter().for_each(|expr| self.plan(number, expr));
                }
                _ => {}
            }
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
        let of_nodes = |passage: &Passage| matches!(passage, Passage::Adjacent | Passage::By(..));
        let follows_nodes = |sequence: &Sequence| sequence.passages.iter().any(of_nodes);
        if objectives.sequences.values().any(follows_nodes) {
            self.gather_nodes(number);
        }
        for sequence in objectives.sequences.values() {
            sequence.atoms.iter().for_each(|atom| self.gather_atom(atom));
            for passage in &sequence.passages {
                match passage.otherwise() {
                    Passage::Clear(of) => self.gather_definitions(of),
                    Passage::Cell(same) => self.gather_cells(&same.of),
                    _ => {}
                }
                let Passage::Obliged(obligations) = passage else { continue };
                for duty in obligations {
                    let Some(&number) = self.index.get(&duty.function) else { continue };
                    self.sites[number].entry(duty.site).or_default();
                    self.gather_states(number, duty.site, &duty.holds);
                }
            }
        }
    }

    /// Adds the sites of the definitions of a variable.
    fn gather_definitions(&mut self, of: &Definitions) {
        for (function, site) in of.places.iter().chain(&of.indirect) {
            let Some(&number) = self.index.get(function) else { continue };
            self.sites[number].entry(*site).or_default();
        }
        let Some(variable) = of.of else { return };
        of.indirect.iter().for_each(|place| self.gather_write(*place, variable));
    }

    /// Adds the sites of the definitions of cells, with the addresses that they write to.
    fn gather_cells(&mut self, of: &CellDefinitions) {
        for definition in &of.places {
            let (function, site) = definition.place;
            let Some(&number) = self.index.get(&function) else { continue };
            self.sites[number].entry(site).or_default();
            match (definition.writes, of.of) {
                (Some((addr, _)), _) => self.ask(number, site, &BoundValue::Expr(addr)),
                (None, Some(variable)) if definition.indirect => {
                    self.gather_write(definition.place, variable);
                }
                (None, _) => {}
            }
        }
    }

    /// Adds a write through a pointer that may hit a variable.
    fn gather_write(&mut self, (function, site): (FuncId, Site), variable: Variable) {
        let (Some(&number), Site::Stmt(stmt)) = (self.index.get(&function), site) else { return };
        let Some(body) = &self.program.functions[function].body else { return };
        let Some((addr, bytes)) = destination(self.program, &body.stmts[stmt]) else { return };
        self.plan(number, addr);
        let all = self.writes.entry((number, stmt)).or_insert((addr, bytes, Vec::new()));
        if !all.2.contains(&variable) {
            all.2.push(variable);
        }
    }

    /// Adds the nodes that have no label: their events show that other nodes are not adjacent.
    fn gather_nodes(&mut self, number: usize) {
        let function = self.objectives[number].function;
        let Some(body) = &self.program.functions[function].body else { return };
        for node in NodeGraph::of(body).nodes {
            self.sites[number].entry(Site::Block(node.head)).or_default();
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
            Formula::State(expr) => self.ask(number, site, &BoundValue::Expr(*expr)),
            Formula::Number(_) | Formula::Name(_) => {}
            Formula::Not(a) | Formula::Negate(a) => self.gather_states(number, site, a),
            Formula::Binary(_, a, b) => {
                self.gather_states(number, site, a);
                self.gather_states(number, site, b);
            }
        }
    }

    fn ask(&mut self, number: usize, site: Site, value: &BoundValue) {
        match value {
            BoundValue::Expr(expr) => self.plan(number, *expr),
            BoundValue::Truth(pred) => pred.for_each_expr(&mut |expr| self.plan(number, expr)),
        }
        self.sites[number].entry(site).or_default().values.insert(value.clone());
    }

    fn plan(&mut self, number: usize, expr: ExprId) {
        let exprs = &self.objectives[number].exprs;
        let Some(types) = &self.types[number] else { return };
        let plan = || Plan::new(self.program, exprs, types, expr);
        self.plans.entry((number, expr)).or_insert_with(plan);
    }

    /// The trace of a test, up to the point from which C does not define the run, and the outcome of
    /// the run.
    ///
    /// # Errors
    /// If the test does not fit the program.
    pub fn run(
        &self,
        test: &Test,
        options: &interp::Options,
    ) -> Result<(Trace, interp::Outcome), BadTest> {
        self.run_on(&Interpreter::new(self.program), test, options)
    }

    /// The same, on a given interpreter of the program, which keeps data that many runs need.
    ///
    /// # Errors
    /// Those of [`Tracer::run`].
    pub fn run_on(
        &self,
        interpreter: &Interpreter<'_>,
        test: &Test,
        options: &interp::Options,
    ) -> Result<(Trace, interp::Outcome), BadTest> {
        let (stack, trace) = (Vec::new(), Trace::default());
        let mutants = FxHashMap::default();
        let mut observer = TraceObserver { tracer: self, stack, activations: 0, mutants, trace };
        observer.start();
        let outcome = interpreter.run(test, options, &mut observer)?;
        Ok((observer.trace, outcome))
    }
}

/// Observes a run and makes its events.
struct TraceObserver<'a> {
    tracer: &'a Tracer<'a>,
    /// The activation at each depth of calls.
    stack: Vec<u32>,
    activations: u32,
    /// The values of mutants when their conditions were last reached in an activation.
    mutants: FxHashMap<(u32, DecisionId, ConditionId, ExprId), Truth>,
    trace: Trace,
}

/// One passage of a site, for predicates.
struct SiteEvent<'v> {
    observer: &'v TraceObserver<'v>,
    tracer: &'v Tracer<'v>,
    view: &'v View<'v>,
    number: usize,
    decision: Option<&'v DecisionEvent>,
    /// The condition that was evaluated, at a site of one.
    condition: Option<(ConditionId, Truth)>,
}

impl Event for SiteEvent<'_> {
    fn condition(&self, condition: ConditionId) -> Truth {
        match (self.decision, self.condition) {
            (Some(event), _) => match event.reached[condition.index()] {
                Some(value) => Truth::from(value),
                None if self.tracer.short_circuit => Truth::Unknown,
                None => event.value(self.view, condition),
            },
            (None, Some((own, value))) if own == condition => value,
            _ => Truth::Unknown,
        }
    }

    fn reached(&self, condition: ConditionId) -> bool {
        match (self.decision, self.condition) {
            (Some(event), _) => event.reached[condition.index()].is_some(),
            (None, Some((own, _))) => own == condition,
            (None, None) => false,
        }
    }

    fn mutant(&self, condition: ConditionId, expr: ExprId) -> Truth {
        let Some(event) = self.decision else { return Truth::Unknown };
        if self.reached(condition) {
            let key = (self.observer.activation(), event.decision, condition, expr);
            return self.observer.mutants.get(&key).copied().unwrap_or(Truth::Unknown);
        }
        let (program, body) = (self.tracer.program, self.view.body());
        let exprs = &self.tracer.objectives[self.number].exprs;
        let is_one = body.decisions[event.decision].conditions[condition].is_one_expression();
        match is_one && !may_trap(program, body, exprs, expr, Overflow::Wrap) {
            true if !self.tracer.short_circuit => self.expr(expr),
            _ => Truth::Unknown,
        }
    }

    fn expr(&self, expr: ExprId) -> Truth {
        self.view.truth_of_plan(&self.tracer.plans[&(self.number, expr)])
    }
}

impl SiteEvent<'_> {
    fn value(&self, bound: &BoundValue) -> Option<i128> {
        match bound {
            BoundValue::Truth(pred) => pred.eval(self).known().map(i128::from),
            BoundValue::Expr(expr) => {
                let value = self.view.eval_plan(&self.tracer.plans[&(self.number, *expr)]).ok()?;
                (!value.uninitialised).then_some(value.bits as i128)
            }
        }
    }
}

impl TraceObserver<'_> {
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
        let event = SiteEvent { observer: self, tracer, view, number, decision, condition };
        let labels = &tracer.objectives[number].labels;
        let covered = asked.labels.iter().filter(|id| labels[**id].pred.eval(&event).is_true());
        let values = asked.values.iter().filter_map(|v| Some((v.clone(), event.value(v)?)));
        let vector = decision.map(|e| (e.decision, vector_of(view, e, tracer.short_circuit)));
        let event = TraceEvent {
            function: view.function(),
            activation: self.activation(),
            site,
            labels: covered.copied().collect(),
            values: values.collect(),
            vector,
            hits: self.hits(view, number, site),
        };
        self.trace.events.push(event);
    }

    /// The variables that a statement is about to write to through a pointer.
    fn hits(&self, view: &View<'_>, number: usize, site: Site) -> BTreeSet<Variable> {
        let Site::Stmt(stmt) = site else { return BTreeSet::new() };
        let Some((addr, bytes, variables)) = self.tracer.writes.get(&(number, stmt)) else {
            return BTreeSet::new();
        };
        let Ok(address) = view.eval_plan(&self.tracer.plans[&(number, *addr)]) else {
            return BTreeSet::new();
        };
        let first = address.bits as u64;
        let is_hit = |variable: &&Variable| {
            let place = match variable {
                Variable::Local(local) => view.place_of_local(*local),
                Variable::Global(global) => view.place_of_global(*global),
            };
            place.is_some_and(|(start, size)| first < start + size && start < first + bytes)
        };
        variables.iter().filter(is_hit).copied().collect()
    }

    /// The events of the start of the run.
    fn start(&mut self) {
        for objectives in self.tracer.objectives {
            let labels = objectives.labels.iter();
            let at_start =
                labels.filter(|(_, l)| l.site == Site::Start && l.pred == Pred::Const(true));
            let labels: BTreeSet<LabelId> = at_start.map(|(id, _)| id).collect();
            if labels.is_empty() {
                continue;
            }
            self.trace.events.push(TraceEvent {
                function: objectives.function,
                activation: 0,
                site: Site::Start,
                labels,
                values: FxHashMap::default(),
                vector: None,
                hits: BTreeSet::new(),
            });
        }
    }

    /// The activation that runs.
    fn activation(&self) -> u32 {
        self.stack.last().copied().unwrap_or(0)
    }

    /// Updates the stack of activations: calls deeper than the view have returned.
    fn settle(&mut self, view: &View<'_>) {
        self.stack.truncate(view.depth());
    }
}

impl Observer for TraceObserver<'_> {
    fn entry(&mut self, view: &View<'_>) {
        self.stack.truncate(view.depth().saturating_sub(1));
        self.activations += 1;
        // Calls that are not reported have no number of their own.
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
        let tracer = self.tracer;
        let Some(&number) = tracer.index.get(&view.function()) else { return };
        let key = (origin.decision, origin.condition);
        for expr in tracer.mutants[number].get(&key).into_iter().flatten() {
            let value = view.truth_of_plan(&tracer.plans[&(number, *expr)]);
            self.mutants.insert((self.activation(), key.0, key.1, *expr), value);
        }
        let site = Site::Condition(key.0, key.1);
        if tracer.sites[number].contains_key(&site) {
            let expr = view.body().decisions[key.0].conditions[key.1].expr;
            let value = view.truth_of_plan(&tracer.plans[&(number, expr)]);
            self.pass(view, site, None, Some((origin.condition, value)));
        }
    }

    fn hears_statements(&self) -> bool {
        true
    }

    fn statement(&mut self, view: &View<'_>, stmt: StmtId) {
        self.settle(view);
        // A copy stands for the same place of the text.
        let original = view.body().source.original(stmt);
        self.pass(view, Site::Stmt(original), None, None);
    }

    fn block(&mut self, view: &View<'_>, block: BlockId) {
        self.settle(view);
        self.pass(view, Site::Block(block), None, None);
    }

    fn decision(&mut self, view: &View<'_>, event: &DecisionEvent) {
        self.settle(view);
        self.pass(view, Site::Decision(event.decision), Some(event), None);
    }
}
