//! Follows sequences along paths: the effect of passing a site on the sequences under way
//! ([`crate::goals::hyper_sequences`]).

use std::rc::Rc;
use std::sync::Arc;

use lydian_base::EntityId;
use lydian_eval::{Kleene, Traps, eval_pred, to_bytes};
use lydian_ir::{DecisionId, ExprId, FuncId};
use lydian_objective::dataflow::Variable;
use lydian_objective::dataflow::cells::destination;
use lydian_objective::hyper::{
    BoundValue, CellDefinition, Formula, Passage, SameCell, SequenceScope as Extent,
};
use lydian_objective::{Pred, Site};
use lydian_smt::{Term, TermPool};
use smallvec::SmallVec;

use crate::Machine;
use crate::State;
use crate::config::Mode;
use crate::goals::Goals;
use crate::goals::core_cache::OpenLabel;
use crate::goals::hyper_formula::{Leaves, Number, truth};
use crate::goals::hyper_sequences::{
    CellWrite, Cells, CoveredStep, PassageRequirement, SequenceInstance, SequenceSite, StepId,
};
use crate::goals::labels::GoalId;
use crate::goals::predicates::SiteScope;
use crate::goals::predicates::hindrance;
use crate::limits::Cut;
use crate::machine::calls::statics::OngoingSequences;
use crate::machine::memory::definedness;
use crate::machine::program::site::SiteKey;

/// The most sequence instances under way on a path. Further ones are undecided.
const MOST_UNDERWAY: usize = 2048;
/// The most bytes of a use of array cells that are followed.
const MOST_BYTES: u64 = 64;

/// The values of expressions at a site on a state, and of the metavariables that a sequence bound.
struct SiteLeaves<'s, 'a, 'p> {
    scope: SiteScope<'a, 'p>,
    names: &'s [String],
    bound: &'s [Number],
}

impl Leaves for SiteLeaves<'_, '_, '_> {
    fn name(&mut self, _: &mut TermPool, name: &str) -> Option<Number> {
        let at = self.names.iter().position(|known| known == name)?;
        self.bound.get(at).copied()
    }

    fn state(&mut self, pool: &mut TermPool, expr: ExprId) -> Option<Number> {
        Some(self.scope.number(pool, expr))
    }
}

impl SiteScope<'_, '_> {
    /// The value of a scalar expression on the state, read as unsigned, where it has one.
    pub(crate) fn number(&mut self, pool: &mut TermPool, expr: ExprId) -> Number {
        let mut traps = Traps::none();
        match self.scope.eval_predicate(pool, self.exprs, expr, &mut traps) {
            Ok(value) => {
                let absent = traps.absent(pool);
                let bits = to_bytes(pool, value);
                let defined = definedness(pool, bits);
                let known = pool.and(absent, defined);
                Number::of_bits(pool, known, bits)
            }
            Err(stop) => {
                self.hindrance = Some(hindrance(stop));
                Number::unknown(pool)
            }
        }
    }

    /// The value of a metavariable's binding.
    pub(crate) fn bound(&mut self, pool: &mut TermPool, value: &BoundValue) -> Number {
        match value {
            BoundValue::Expr(expr) => self.number(pool, *expr),
            BoundValue::Truth(pred) => {
                let truth = eval_pred(pool, pred, self);
                Number::of_truth(pool, truth)
            }
        }
    }
}

impl Goals<'_> {
    /// Handles a place that control passes: sequences begin, go on, or are given up. Returns those
    /// that end.
    ///
    /// No question is asked here, so that copies of the state that are made for its questions have
    /// the complete effect of the place.
    pub(crate) fn pass_sequences(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        key: SiteKey,
    ) -> Vec<CoveredStep> {
        let mut covered = Vec::new();
        let plain = machine.context.config.mode == Mode::Plain;
        if plain || !state.has_begun(machine.roots.len()) || self.hypers.sequences.steps.is_empty()
        {
            return covered;
        }
        let func = state.frame().func;
        let is_first = state.frames.len() == 1 && state.further_calls() == 0;
        if key == SiteKey::Entry && is_first {
            self.pass_start(machine, state);
        }
        let Some(passed) = self.hypers.sequences.sites.get(&(func, key)) else { return covered };
        let passed = Rc::clone(passed);
        for site in passed.iter() {
            self.pass_site(machine, state, func, site, &mut covered);
        }
        covered
    }

    /// Asks for the sequences that end at the place that control passed.
    pub(crate) fn cover_sequences(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        covered: Vec<CoveredStep>,
    ) {
        for CoveredStep { step, holds, bound } in covered {
            if self.hypers.pairs.asks_for(step) {
                self.meet_part(machine, state, step, holds, &bound);
            }
            for goal in self.hypers.sequences.steps[step].ends.clone() {
                self.decide_labels(machine, state, vec![OpenLabel::new(goal, holds)]);
            }
        }
        if state.passing.queue.is_empty() && !state.notes.goals.undecided.is_empty() {
            self.defer(state);
        }
    }

    /// The sequences of the run that are under way where a call of the function under test ends. Of those
    /// that are not left nothing is said.
    pub(crate) fn ongoing_sequences(&self, state: &State) -> OngoingSequences {
        let sequences = &self.hypers.sequences;
        let all = state.notes.goals.underway.0.iter();
        let left = all.filter(|begun| {
            begun.activation == 0 && self.is_left(&sequences.waits[begun.wait].goals)
        });
        let (mut keys, mut since_start) = (Vec::new(), true);
        for begun in left {
            since_start &= sequences.starts.contains(&sequences.waits[begun.wait].after);
            keys.push(begun.key());
        }
        keys.sort_unstable();
        OngoingSequences { keys, since_start }
    }

    /// Begins the sequences that begin with the run.
    fn pass_start(&mut self, machine: &mut Machine<'_, '_>, state: &mut State) {
        let starts = self.hypers.sequences.starts.clone();
        let mut new = Vec::new();
        for step in starts {
            let of = &self.hypers.sequences.steps[step];
            let pred = &self.hypers.objectives[of.position].labels[of.label].pred;
            if *pred == Pred::Const(true) && self.is_left(&of.goals) {
                let cond = machine.pool.tt();
                self.begin(
                    machine,
                    state,
                    step,
                    None,
                    cond,
                    SmallVec::new(),
                    Site::Start,
                    &mut new,
                );
            }
        }
        self.add_begun(machine, state, new);
    }

    fn is_left(&self, goals: &[GoalId]) -> bool {
        goals.iter().any(|goal| self.labels.is_followed(*goal))
    }

    fn pass_site(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        func: FuncId,
        passed: &SequenceSite,
        covered: &mut Vec<CoveredStep>,
    ) {
        let mut new = Vec::new();
        for step in &passed.steps {
            self.take_step(machine, state, *step, passed.site, &mut new, covered);
        }
        self.keep_passages(machine, state, func, passed);
        self.add_begun(machine, state, new);
    }

    /// Takes a step of sequences at a site where its label may hold.
    fn take_step(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        step: StepId,
        site: Site,
        new: &mut Vec<SequenceInstance>,
        covered: &mut Vec<CoveredStep>,
    ) {
        let of = &self.hypers.sequences.steps[step];
        if !self.is_left(&of.goals) {
            return;
        }
        let serial = state.frame().serial;
        let before: Vec<Option<SequenceInstance>> = match of.from {
            None => vec![None],
            Some(wait) => {
                let fits = |begun: &&SequenceInstance| {
                    begun.wait == wait && (begun.activation == 0 || begun.activation == serial)
                };
                state.notes.goals.underway.0.iter().filter(fits).cloned().map(Some).collect()
            }
        };
        if before.is_empty() {
            return;
        }
        if state.depends.are_some() {
            state.depends.cuts().iter().for_each(|cut| self.hinder_goals(step, cut));
            return;
        }
        let Some((holds, own)) = self.label_here(machine, state, step, site) else { return };
        for begun in before {
            let so_far = begun.as_ref().map_or(machine.pool.tt(), |begun| begun.cond);
            let mut cond = machine.pool.and(so_far, holds);
            if let Some(begun) = &begun {
                let arrives = self.arrives(machine, begun, step, &own);
                cond = machine.pool.and(cond, arrives);
            }
            match state.knowledge().known(&mut machine.pool, cond) {
                Some(false) => continue,
                Some(true) => cond = machine.pool.tt(),
                None => {}
            }
            let mut bound = begun.as_ref().map(|begun| begun.bound.clone()).unwrap_or_default();
            bound.extend(own.iter().copied());
            let ends = !self.hypers.sequences.steps[step].ends.is_empty();
            if ends || self.hypers.pairs.asks_for(step) {
                covered.push(CoveredStep { step, holds: cond, bound: bound.clone() });
            }
            self.begin(machine, state, step, begun.as_ref(), cond, bound, site, new);
        }
    }

    fn hinder_goals(&mut self, step: StepId, reason: &Cut) {
        for goal in self.hypers.sequences.steps[step].goals.clone() {
            self.labels.hinder(goal, reason.clone());
        }
    }

    /// The condition under which a step's label holds with all its bindings known, and the
    /// bindings. `None` where it holds on no input.
    fn label_here(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        step: StepId,
        site: Site,
    ) -> Option<(Term, SmallVec<[Number; 2]>)> {
        let of = &self.hypers.sequences.steps[step];
        let objectives = &self.hypers.objectives[of.position];
        let pred = &objectives.labels[of.label].pred;
        let bindings = of.bindings.clone();
        if *pred == Pred::Const(true) && bindings.is_empty() {
            return Some((machine.pool.tt(), SmallVec::new()));
        }
        let decision = decision_of(site);
        let (mut env, pool) = self.cache.site_scope(machine, state, &objectives.exprs, decision);
        let value: Kleene = eval_pred(pool, pred, &mut env);
        let mut bound: SmallVec<[Number; 2]> = SmallVec::new();
        for binding in &bindings {
            bound.push(env.bound(pool, &binding.value));
        }
        let hindrance = env.hindrance.take();
        machine.settle_suspicions(state);
        if let Some(what) = hindrance {
            self.hinder_goals(step, &Cut::Unsupported(what));
        }
        let defined = definedness(&mut machine.pool, value.surely_true);
        for reason in machine.undetermined_of(state, value.surely_true, defined) {
            self.hinder_goals(step, &reason);
        }
        let mut holds = machine.pool.and(value.surely_true, defined);
        for number in &bound {
            holds = machine.pool.and(holds, number.known);
        }
        (machine.pool.as_bool(holds) != Some(false)).then_some((holds, bound))
    }

    /// The condition that the end of a passage is as asked: control took the required path to it,
    /// and the cell is one that the first label defined.
    fn arrives(
        &mut self,
        machine: &mut Machine<'_, '_>,
        begun: &SequenceInstance,
        step: StepId,
        own: &[Number],
    ) -> Term {
        let (passage, first) = {
            let wait = &self.hypers.sequences.waits[begun.wait];
            (wait.passage.clone(), begun.bound.first().copied())
        };
        if let Passage::By(nodes, _) = &passage
            && begun.entered as usize != nodes.len()
        {
            return machine.pool.ff();
        }
        let Passage::Cell(same) = passage.otherwise() else { return machine.pool.tt() };
        let (Some(cells), Some(read)) = (&begun.cells, own.first()) else {
            return machine.pool.ff();
        };
        if same.read > MOST_BYTES {
            let what = format!("a use of more than {MOST_BYTES} bytes of cells");
            self.hinder_goals(step, &Cut::Unsupported(what));
            return machine.pool.ff();
        }
        let read = machine.pool.extract(63, 0, read.value);
        let first = first.map(|first| machine.pool.extract(63, 0, first.value));
        same_cell(&mut machine.pool, same, cells, first, read)
    }

    /// Begins what waits after a step, under the condition that its label held.
    #[allow(clippy::too_many_arguments, reason = "all that is known of the step")]
    fn begin(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        step: StepId,
        before: Option<&SequenceInstance>,
        cond: Term,
        bound: SmallVec<[Number; 2]>,
        site: Site,
        new: &mut Vec<SequenceInstance>,
    ) {
        for wait in self.hypers.sequences.steps[step].waits.clone() {
            let of = &self.hypers.sequences.waits[wait];
            if !self.is_left(&of.goals) {
                continue;
            }
            let by_path = matches!(of.passage, Passage::By(..));
            let activation = match of.scope {
                Extent::Run if !by_path => 0,
                _ => state.frame().serial,
            };
            let passage = of.passage.clone();
            let mut cond = cond;
            let mut cells = None;
            match passage.otherwise() {
                Passage::Clear(definitions) if before.is_none() => {
                    let place = (state.frame().func, site);
                    if definitions.indirect.contains(&place)
                        && let Some(variable) = definitions.of
                    {
                        let hit = self.hit(machine, state, site, variable, step);
                        cond = machine.pool.and(cond, hit);
                    }
                }
                Passage::Cell(same) => {
                    let first = self.first_writes(machine, state, site, same, step);
                    cells = Some(Arc::new(Cells { first, since: Vec::new() }));
                }
                _ => {}
            }
            if machine.pool.as_bool(cond) != Some(false) {
                let bound = bound.clone();
                new.push(SequenceInstance { wait, activation, cond, bound, cells, entered: 0 });
            }
        }
    }

    /// The writes of a definition of cells that binds no address.
    fn first_writes(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        site: Site,
        same: &SameCell,
        step: StepId,
    ) -> Vec<CellWrite> {
        if same.written.is_some() {
            return Vec::new();
        }
        let place = (state.frame().func, site);
        let own: Vec<CellDefinition> = same.of.at(place).cloned().collect();
        if own.is_empty() {
            // The start of the run is a definition without a statement.
            return vec![CellWrite::All(machine.pool.tt())];
        }
        let variable = same.of.of;
        own.iter()
            .map(|definition| self.write(machine, state, site, definition, variable, step))
            .collect()
    }

    /// The write of a definition of cells at a site.
    fn write(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        site: Site,
        definition: &CellDefinition,
        variable: Option<Variable>,
        step: StepId,
    ) -> CellWrite {
        match (definition.writes, variable) {
            (Some((addr, bytes)), _) => {
                let number = self.number_here(machine, state, addr, step);
                let address = machine.pool.extract(63, 0, number.value);
                CellWrite::Bytes(address, bytes)
            }
            (None, Some(variable)) if definition.indirect => {
                CellWrite::All(self.hit(machine, state, site, variable, step))
            }
            (None, _) => CellWrite::All(machine.pool.tt()),
        }
    }

    /// The value of an expression of the function at a site.
    fn number_here(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        expr: ExprId,
        step: StepId,
    ) -> Number {
        let func = state.frame().func;
        let objectives = self.hypers.objectives.iter().find(|of| of.function == func);
        let Some(objectives) = objectives else {
            let what = "a definition in a function that is not explored".to_owned();
            self.hinder_goals(step, &Cut::Unsupported(what));
            return Number::unknown(&mut machine.pool);
        };
        let (mut env, pool) = self.cache.site_scope(machine, state, &objectives.exprs, None);
        let number = env.number(pool, expr);
        let hindrance = env.hindrance.take();
        machine.settle_suspicions(state);
        if let Some(what) = hindrance {
            self.hinder_goals(step, &Cut::Unsupported(what));
        }
        number
    }

    /// The condition under which a write through a pointer hits a variable.
    fn hit(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        site: Site,
        variable: Variable,
        step: StepId,
    ) -> Term {
        let place = match variable {
            Variable::Local(local) => state.frame().object(local).map(|object| {
                let object = state.memory.object(object);
                (object.base, object.size)
            }),
            Variable::Global(global) => {
                let size = machine.context.program.globals[global].size;
                Some((machine.context.globals[global.index()], size))
            }
        };
        let (Some((start, size)), Some((addr, bytes))) = (place, written_at(machine, state, site))
        else {
            return machine.pool.ff();
        };
        let number = self.number_here(machine, state, addr, step);
        let first = machine.pool.extract(63, 0, number.value);
        // first < start + size && start < first + bytes
        let end = machine.pool.bv(64, start.wrapping_add(size));
        let starts_before = machine.pool.ult(first, end);
        let bytes = machine.pool.bv(64, bytes);
        let last = machine.pool.add(first, bytes);
        let start = machine.pool.bv(64, start);
        let ends_after = machine.pool.ult(start, last);
        machine.pool.and(starts_before, ends_after)
    }

    /// Restricts the sequences under way to passages that are as asked at a site.
    fn keep_passages(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        func: FuncId,
        passed: &SequenceSite,
    ) {
        if state.notes.goals.underway.0.is_empty() {
            return;
        }
        let serial = state.frame().serial;
        let mut kept = Vec::with_capacity(state.notes.goals.underway.0.len());
        let mut changed = false;
        for begun in Arc::clone(&state.notes.goals.underway.0).iter() {
            let concerned = begun.activation == 0 || begun.activation == serial;
            match concerned {
                false => kept.push(begun.clone()),
                true => match self.keep_passage(machine, state, begun, func, passed) {
                    Some((begun, same)) => {
                        changed |= !same;
                        kept.push(begun);
                    }
                    None => changed = true,
                },
            }
        }
        if changed {
            state.notes.goals.underway.0 = Arc::new(kept);
        }
    }

    /// A sequence instance after a site; `None` where it is given up. Also returns whether it is
    /// unchanged.
    fn keep_passage(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        begun: &SequenceInstance,
        func: FuncId,
        passed: &SequenceSite,
    ) -> Option<(SequenceInstance, bool)> {
        let wait = &self.hypers.sequences.waits[begun.wait];
        let asks = Rc::clone(&wait.asks);
        let asked = asks.get(&(func, passed.site));
        let node = passed.node.filter(|_| begun.activation != 0);
        let by_nodes = matches!(wait.passage, Passage::Adjacent | Passage::By(..));
        if asked.is_none() && !(node.is_some() && by_nodes) {
            return Some((begun.clone(), true));
        }
        if !self.is_left(&wait.goals) {
            return None;
        }
        let mut begun = begun.clone();
        if let Some(node) = node {
            match &wait.passage {
                Passage::Adjacent => return None,
                Passage::By(nodes, _) if nodes.get(begun.entered as usize) == Some(&node) => {
                    begun.entered += 1;
                }
                Passage::By(..) => return None,
                _ => {}
            }
        }
        let step = self.hypers.sequences.waits[begun.wait].after;
        for ask in asked.into_iter().flatten() {
            let holds = match ask {
                PassageRequirement::Never => return None,
                PassageRequirement::NoHit(variable) => {
                    let hit = self.hit(machine, state, passed.site, *variable, step);
                    machine.pool.not(hit)
                }
                PassageRequirement::Holds(formula) => {
                    self.duty(machine, state, &begun, formula, passed.site, step)
                }
                PassageRequirement::Writes(definition) => {
                    let variable = match self.hypers.sequences.waits[begun.wait].passage.otherwise()
                    {
                        Passage::Cell(same) => same.of.of,
                        _ => None,
                    };
                    let write = self.write(machine, state, passed.site, definition, variable, step);
                    let cells = begun.cells.get_or_insert_default();
                    Arc::make_mut(cells).since.push(write);
                    machine.pool.tt()
                }
            };
            begun.cond = machine.pool.and(begun.cond, holds);
        }
        (state.knowledge().known(&mut machine.pool, begun.cond) != Some(false))
            .then_some((begun, false))
    }

    /// The condition under which an obligation holds.
    fn duty(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        begun: &SequenceInstance,
        formula: &Formula,
        site: Site,
        step: StepId,
    ) -> Term {
        let func = state.frame().func;
        let names = self.hypers.sequences.waits[begun.wait].names.clone();
        let objectives = self.hypers.objectives.iter().find(|of| of.function == func);
        let Some(objectives) = objectives else {
            let what = "an obligation in a function that is not explored".to_owned();
            self.hinder_goals(step, &Cut::Unsupported(what));
            return machine.pool.ff();
        };
        let (scope, pool) =
            self.cache.site_scope(machine, state, &objectives.exprs, decision_of(site));
        let mut leaves = SiteLeaves { scope, names: &names, bound: &begun.bound };
        let holds = truth(pool, formula, &mut leaves);
        let hindrance = leaves.scope.hindrance.take();
        machine.settle_suspicions(state);
        if let Some(what) = hindrance {
            self.hinder_goals(step, &Cut::Unsupported(what));
        }
        holds.surely_true
    }

    /// Adds sequence instances to those under way. Instances of the same kind become one.
    fn add_begun(
        &mut self,
        machine: &mut Machine<'_, '_>,
        state: &mut State,
        new: Vec<SequenceInstance>,
    ) {
        if new.is_empty() {
            return;
        }
        let underway = Arc::make_mut(&mut state.notes.goals.underway.0);
        for begun in new {
            let same = |known: &&mut SequenceInstance| {
                known.wait == begun.wait
                    && known.activation == begun.activation
                    && known.entered == begun.entered
                    && known.bound == begun.bound
                    && known.cells == begun.cells
            };
            let count = underway.len();
            match underway.iter_mut().find(same) {
                Some(known) => known.cond = machine.pool.or(known.cond, begun.cond),
                None if count < MOST_UNDERWAY => underway.push(begun),
                None => {
                    let what = format!("more than {MOST_UNDERWAY} sequences under way at once");
                    for goal in &self.hypers.sequences.waits[begun.wait].goals {
                        self.labels.hinder(*goal, Cut::Unsupported(what.clone()));
                    }
                }
            }
        }
    }
}

/// The decision of a site at which a decision is evaluated.
fn decision_of(site: Site) -> Option<DecisionId> {
    match site {
        Site::Decision(decision) | Site::Condition(decision, _) => Some(decision),
        _ => None,
    }
}

/// The condition under which some byte that is read was written by the definition that began the
/// sequence, and by no later one.
fn same_cell(
    pool: &mut TermPool,
    same: &SameCell,
    cells: &Cells,
    first: Option<Term>,
    read: Term,
) -> Term {
    let mut any = pool.ff();
    for index in 0..same.read {
        let offset = pool.bv(64, index);
        let byte = pool.add(read, offset);
        let mut here = match (same.written, first) {
            (Some(bytes), Some(start)) => lies_in(pool, byte, start, bytes),
            (Some(_), None) => pool.ff(),
            (None, _) => {
                let own: Vec<Term> =
                    cells.first.iter().map(|write| writes_byte(pool, write, byte)).collect();
                pool.or_all(own)
            }
        };
        for write in &cells.since {
            let lost = writes_byte(pool, write, byte);
            let kept = pool.not(lost);
            here = pool.and(here, kept);
        }
        any = pool.or(any, here);
    }
    any
}

fn writes_byte(pool: &mut TermPool, write: &CellWrite, byte: Term) -> Term {
    match write {
        CellWrite::Bytes(start, bytes) => lies_in(pool, byte, *start, *bytes),
        CellWrite::All(holds) => *holds,
    }
}

/// Whether a byte is one of the bytes from an address on.
fn lies_in(pool: &mut TermPool, byte: Term, start: Term, bytes: u64) -> Term {
    let distance = pool.sub(byte, start);
    let bytes = pool.bv(64, bytes);
    pool.ult(distance, bytes)
}

/// The address at which a statement writes through a pointer, and the number of bytes.
fn written_at(machine: &Machine<'_, '_>, state: &State, site: Site) -> Option<(ExprId, u64)> {
    let Site::Stmt(stmt) = site else { return None };
    destination(machine.context.program, &machine.body(state).stmts[stmt])
}
