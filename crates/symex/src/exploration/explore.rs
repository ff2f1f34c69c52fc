//! The engine of an exploration: it sets up the first state, and runs states until none is left or
//! a limit is hit.

use std::collections::BTreeMap;
use std::rc::Rc;

use lydian_base::StopReason;
use lydian_inputs::{Start, concretise};
use lydian_ir::test::Test;
use lydian_smt::{Model, Solver, TermPool};

use crate::Machine;
use crate::State;
use crate::config::{LabelDeletion, Mode};
use crate::exploration::eviction::Eviction;
use crate::exploration::flow::Flow;
use crate::exploration::outcome::{Event, FoundTest, Progress, Summary};
use crate::exploration::task::Task;
use crate::exploration::trace_event::TraceEvent;
use crate::exploration::workers::{Exchange, TestMessage};
use crate::goals::Goals;
use crate::goals::observed::observed_globals;
use crate::limits::Cut;
use crate::machine::ending::Ending;
use crate::machine::memory::Memory;
use crate::machine::program::control_flow::SitePlaces;
use crate::machine::reports::omissions::Hindrances;
use crate::machine::setup::ExploreError;
use crate::machine::{MachineSetUp, Setting};
use crate::merging::Merging;
use crate::search::directed::DirectedSearch;
use crate::search::distance::Distances;
use crate::search::frontier::Frontier;
use crate::search::rank::Ranks;
use crate::search::searcher::Origin;

/// How many steps pass between looks at the clock.
const CLOCK_STEPS: u32 = 64;
/// How many steps a split counts for, since it evaluates more.
const SPLIT_TICKS: u32 = 4;
/// After so many steps in a row that cover nothing, a state lets others go on.
const PATIENCE: u64 = 1 << 12;
/// So many new terms count as a step of [`PATIENCE`], since steps that build large terms are slow.
const STEP_TERMS: u64 = 8;
/// After so many steps that cover nothing, the replay of a model is given up.
const REPLAY_PATIENCE: u64 = 1 << 13;
/// So many new terms make a look at the clock due early, since steps that build large terms are
/// slow.
const CLOCK_TERMS: usize = 2048;

/// The exploration ends where the number of states exceeds this multiple of its limit by
/// [`LONG_PATH`], which allows for the splits of one path.
const CROWD: u64 = 4;
const LONG_PATH: u64 = 1000;

/// Work since the last look at the clock.
#[derive(Debug, Default)]
pub(crate) struct StepClock {
    /// Steps.
    pub(crate) ticks: u32,
    /// The number of terms at the last look.
    terms: usize,
}

/// A running exploration.
pub(crate) struct Engine<'p, 'e> {
    pub(crate) machine: Machine<'p, 'e>,
    pub(crate) goals: Goals<'e>,
    pub(crate) merging: Merging,
    pub(crate) frontier: Frontier<'p>,
    pub(crate) clock: StepClock,
    /// Whether any input meets each invariant that a path asked for.
    pub(crate) invariants_met: BTreeMap<usize, bool>,
    pub(crate) paths: BTreeMap<Ending, u64>,
    /// How often the exploration began anew because a pointer turned out to lead to a larger
    /// record.
    pub(crate) begun_anew: u32,
    pub(crate) eviction: Eviction,
    /// The work that was spent on shorter objects for tests.
    pub(crate) work_on_shortness: u64,
    /// How many states other than the first have numbers in the trace.
    pub(crate) states_traced: u64,
    pub(crate) stopped: bool,
    /// Why the exploration stopped; `None` if everything is covered.
    pub(crate) stop_reason: Option<StopReason>,
    /// What this worker tells the others and knows of them.
    pub(crate) exchange: Exchange,
    pub(crate) sink: &'e mut dyn FnMut(Event),
}

impl<'p, 'e> Engine<'p, 'e> {
    /// Makes an exploration that has not begun, and the first state of all paths.
    pub(crate) fn set_up(
        task: &Task<'e>,
        solver: &'e mut dyn Solver,
        sink: &'e mut dyn FnMut(Event),
    ) -> Result<(Self, Option<Box<State>>), ExploreError>
    where
        'e: 'p,
    {
        let Task { program, func, spec, objectives, known, config, budget } = *task;
        let goals = Goals::new(program, objectives, known, config.augmentation);
        let setting = Setting {
            program,
            func,
            spec,
            config,
            budget,
            observed: observed_globals(program, func, objectives),
            functions: program.functions.ids().filter(|func| goals.labels.has(*func)).collect(),
        };
        let MachineSetUp { machine, touched, memory } = Machine::set_up(setting, solver)?;
        let control_flow = machine.control_flow();
        let sites = SitePlaces::new(program, control_flow, |func| goals.labels.sites(func));
        let distances = Distances::new(Rc::clone(control_flow), sites);
        let directed =
            config.search.guidance().filter(|_| config.mode != Mode::Plain).and_then(|guidance| {
                DirectedSearch::new(guidance, program, &touched.functions, func)
            });
        let roots = machine.roots.len();
        let mut engine = Self {
            machine,
            goals,
            merging: Merging::default(),
            frontier: Frontier::new(config, Ranks::new(distances), directed, roots),
            clock: StepClock::default(),
            paths: BTreeMap::new(),
            eviction: Eviction::default(),
            states_traced: 0,
            work_on_shortness: 0,
            stopped: false,
            stop_reason: None,
            exchange: Exchange::default(),
            invariants_met: BTreeMap::new(),
            sink,
            begun_anew: 0,
        };
        let first = engine.first_state(memory);
        Ok((engine, first))
    }

    fn first_state(&mut self, memory: Memory) -> Option<Box<State>> {
        let mut state = self.machine.first_state(memory)?;
        let begun = self.suppose_of_arguments(&mut state);
        let begun = begun.and_then(|()| {
            let begun = self.machine.begin_root(&mut state);
            self.settle(&mut state, begun)
        });
        match begun {
            Ok(()) => Some(state),
            Err(Flow::End(ending)) => {
                self.finish(state, ending);
                None
            }
            Err(Flow::Yield | Flow::Infeasible) => None,
        }
    }

    pub(crate) fn run(&mut self) {
        while !self.stopped && !self.has_paths_for_augmentation() && self.run_one() {}
        if let Some(cut) = self.cut_by_stop() {
            self.goals.hypers.stop_asking(&cut);
        }
        self.look_at_all_labels();
        self.look_at_all_rows();
        if !self.stopped && self.goals.follow_all_that_cover() {
            self.run_replays();
        }
        self.look_at_all_pairs();
        self.look_at_all_occurrences();
        self.drop_all_waiting();
    }

    /// After an early stop, gives the tests of the models of waiting states.
    pub(crate) fn drop_all_waiting(&mut self) {
        if self.stopped {
            for state in self.frontier.drain() {
                drop_waiting(self, state);
            }
        }
    }

    /// Runs one of the waiting states. Returns false where none waits.
    pub(crate) fn run_one(&mut self) -> bool {
        self.look_at_due_labels();
        self.look_at_due_rows();
        self.look_at_due_pairs();
        self.look_at_due_occurrences();
        self.look_at_whole_states();
        let (work, steps) = (self.work_on_paths(), self.machine.statistics.steps);
        let Some(mut state) = self.frontier.next(&self.goals, work, steps) else { return false };
        if self.drops(&mut state) {
            return true;
        }
        self.frontier.picked(&state);
        if !self.revive(&mut state) {
            return true;
        }
        self.goals.deferred.count_run();
        if let Some(state) = self.activated(state) {
            self.run_state(state);
        }
        true
    }

    /// Runs a state until it ends or another state is to go on.
    pub(crate) fn run_state(&mut self, mut state: Box<State>) {
        let mut novelty = Novelty::of(&state, &self.machine.pool);
        loop {
            let Some(next) = self.pass_merge_scope(state) else { return };
            state = next;
            if novelty.are_older(&state, &self.machine.pool, PATIENCE) && self.may_rest() {
                self.rest(state);
                return;
            }
            let flow = self.step(&mut state);
            self.run_replays();
            match flow {
                Ok(()) => {}
                Err(Flow::Yield) if self.goes_on(&state) => {
                    if self.drops(&mut state) {
                        return;
                    }
                }
                Err(Flow::Yield) => {
                    state.notes.search.idle = 0;
                    self.clock.ticks += SPLIT_TICKS;
                    if !self.look_at_budget() {
                        self.put_back(state);
                        return;
                    }
                }
                Err(Flow::End(ending)) => {
                    self.finish(state, ending);
                    self.look_at_budget();
                    return;
                }
                Err(Flow::Infeasible) => return,
            }
            let Some(active) = self.activated(state) else { return };
            state = active;
            if self.stopped || self.is_out_of_time() {
                drop_waiting(self, state);
                return;
            }
        }
    }

    /// Whether a state may be put back in the midst of its path. Where the program assumes
    /// something, a model is a test only if its path is known to its end.
    fn may_rest(&self) -> bool {
        !self.frontier.stays() && !self.machine.context.assumes
    }

    /// Puts back a state that takes long without covering anything: it may be in a loop with a
    /// large bound. Its test is given now.
    fn rest(&mut self, mut state: Box<State>) {
        if !state.claims.covered.is_empty() || state.claims.keep {
            self.give_test(&mut state, Ending::Cut(Cut::PathSteps(PATIENCE)));
        }
        // A replayed model is only followed for its test, which was just given.
        if !state.course.replay {
            state.notes.search.idle = state.notes.search.idle.saturating_add(1);
            self.put_back(state);
        }
    }

    /// Whether a state goes on at once after a split. A state with a model that covers labels does:
    /// its test is given at the end of its path, and the test of a waiting state would be lost if
    /// the process were killed.
    fn goes_on(&self, state: &State) -> bool {
        state.course.replay || !state.claims.covered.is_empty() || self.frontier.stays()
    }

    /// Follows models that were found for labels to the ends of their paths.
    pub(crate) fn run_replays(&mut self) {
        while let Some(state) = self.goals.runs.pop() {
            self.run_replay(state);
        }
    }

    pub(crate) fn run_replay(&mut self, mut state: Box<State>) {
        let mut most = self.machine.context.config.limits.path_steps;
        if self.may_rest() {
            most = most.min(REPLAY_PATIENCE);
        }
        let mut novelty = Novelty::of(&state, &self.machine.pool);
        loop {
            let ending = match self.step(&mut state) {
                Ok(()) | Err(Flow::Yield)
                    if novelty.are_older(&state, &self.machine.pool, most) =>
                {
                    Ending::Cut(Cut::PathSteps(most))
                }
                Ok(()) | Err(Flow::Yield) => {
                    if !self.activate_now(&mut state) {
                        return;
                    }
                    if !self.is_out_of_time() {
                        continue;
                    }
                    let reason =
                        self.machine.questions.budget.exceeded().unwrap_or(StopReason::Cancelled);
                    Ending::Cut(Cut::Stopped(reason))
                }
                Err(Flow::End(ending)) => ending,
                Err(Flow::Infeasible) => return,
            };
            if state.claims.keep || !state.claims.covered.is_empty() {
                self.give_test(&mut state, ending);
            }
            return;
        }
    }

    /// Whether no continuation of a state's path can meet anything that is left, so that the path
    /// need not be followed ([000]'s look-ahead).
    pub(crate) fn is_hopeless(&self, state: &State) -> bool {
        let config = &self.machine.context.config;
        config.look_ahead
            && config.mode != Mode::Plain
            && config.label_deletion.deletes()
            && !config.every_path
            && !self.goals.augmentation.wants_first_path()
            && state.has_begun(self.machine.roots.len())
            // A path may still break an assumption, and open its labels again. Then another path that
            // shares its beginning may cover them, although it passed them already.
            && (!self.machine.context.assumes
                || self.goals.labels.without_test() == 0 && !self.goals.labels.has_reopened())
            // Nothing counts on a path that depends on undetermined values.
            && (state.depends.end_path()
                || !self.machine.may_call_again(state) && self.frontier.is_hopeless(state, &self.goals.labels))
    }

    /// Whether a state is dropped because it is hopeless. A state with a test that is not given yet
    /// is followed to the end of its model's path instead.
    pub(crate) fn drops(&mut self, state: &mut State) -> bool {
        if state.course.replay || !self.is_hopeless(state) {
            return false;
        }
        self.machine.cut_dependences(state);
        if !state.claims.covered.is_empty() || state.claims.keep {
            state.course.replay = !state.pending;
            return false;
        }
        self.goals.keep_dropped(state);
        self.machine.statistics.dropped += 1;
        self.trace(state, |state| TraceEvent::Drop { state });
        true
    }

    /// Puts the other side of a split in the queue.
    pub(crate) fn push(&mut self, state: Box<State>) {
        // It was put there when the path was followed the first time.
        if !state.log.is_played()
            && let Some(state) = self.merging.scopes.keep(state)
        {
            self.let_wait(state, Origin::Fork);
        }
    }

    /// Puts the running state back in the queue.
    fn put_back(&mut self, state: Box<State>) {
        self.let_wait(state, Origin::Back);
    }

    pub(crate) fn let_wait(&mut self, mut state: Box<State>, origin: Origin) {
        if self.drops(&mut state) {
            return;
        }
        self.eviction.count_whole();
        self.frontier.add(state, origin, &self.goals.labels);
    }

    /// The waiting states.
    #[cfg(test)]
    pub(crate) fn waiting(&mut self) -> Vec<Box<State>> {
        self.frontier.drain()
    }

    /// Handles the end of a path.
    pub(crate) fn finish(&mut self, mut state: Box<State>, ending: Ending) {
        match &ending {
            Ending::Cut(cut) => self.cut_path(&state, cut.clone()),
            _ => self.machine.cut_dependences(&state),
        }
        self.machine.compare_endings(&mut state, &ending);
        self.trace_end(&state, &ending);
        self.machine.note_end(&state, &ending);
        self.count_path(ending.clone());
        let no_test = state.depends.are_some() || ending == Ending::Assumption;
        let context = &self.machine.context;
        // A path may cover what another one, which shares its beginning, covered up to an assumption
        // that did not hold.
        let may_cover = context.assumes && self.goals.labels.has_reopened();
        let is_first = self.goals.augmentation.wants_first_path();
        let wanted = (context.config.every_path || may_cover || is_first) && !no_test;
        if wanted || state.claims.keep || !state.claims.covered.is_empty() {
            self.give_test(&mut state, ending);
        }
        self.tell_progress();
    }

    /// Reports the progress of all workers together, as far as this worker knows it.
    pub(crate) fn tell_progress(&mut self) {
        let others = self.exchange.others();
        let progress = Progress {
            paths: self.paths.values().sum::<u64>() + others.paths,
            states: self.frontier.len() + others.waiting,
            labels_left: self.goals.labels.left(),
            queries: self.machine.statistics.queries + others.queries,
        };
        (self.sink)(Event::Progress(progress));
    }

    /// Counts a finished path.
    pub(crate) fn count_path(&mut self, ending: Ending) {
        *self.paths.entry(ending).or_default() += 1;
    }

    /// Gives the test of a state's model, with the labels that it covers. Where the path depends on
    /// undetermined values, it may be no path of the program from there on, so nothing is claimed of
    /// its end.
    pub(crate) fn give_test(&mut self, state: &mut State, ending: Ending) {
        let ending = state.depends.cuts().into_iter().next().map_or(ending, Ending::Cut);
        let ending = match self.bring_within_reason(state) {
            Some(false) => ending,
            // The trap is no fact of the path, so the other input may not trap.
            Some(true) if matches!(ending, Ending::Trapped(_)) => {
                Ending::Cut(Cut::Unsupported("a trap beyond an object of 1 KiB".into()))
            }
            Some(true) => ending,
            None => return,
        };
        if self.withdraws_all_in_front_of_blocks(state) {
            return;
        }
        let Some(shown) = self.meeting_invariants(state) else { return };
        let shown = shown.as_deref();
        let is_other = shown.is_some_and(|shown| shown.model != state.model);
        let ending = match ending {
            Ending::Trapped(_) if is_other => {
                Ending::Cut(Cut::Unsupported("a trap of inputs that meet no invariant".into()))
            }
            ending => ending,
        };
        let config = &self.machine.context.config;
        // The trap is no fact of the path.
        let traps = matches!(ending, Ending::Trapped(_));
        let promised = config.mode == Mode::Tight && config.label_deletion == LabelDeletion::Kept;
        let nicer = config.nice_values && promised && !traps;
        let nicer = nicer.then(|| self.nicer_model(shown.unwrap_or(state)));
        let model = nicer.as_ref().unwrap_or(shown.map_or(&state.model, |shown| &shown.model));
        let test = self.test_of(state, shown, model);
        let facts = shown.unwrap_or(state).path.facts.iter();
        let claims = facts.chain(&state.claims.promises).copied().collect();
        let placed = self.machine.use_of_location(state, claims);
        if Self::is_too_large(&test) {
            return self.give_up(state, "a test of more than 7 MiB");
        }
        let covered = std::mem::take(&mut state.claims.covered);
        self.goals.labels.given(covered.len());
        state.claims.promises.clear();
        state.claims.conditions.clear();
        let kept = std::mem::take(&mut state.claims.keep);
        let is_first = self.goals.augmentation.wants_first_path();
        if is_first || covered.iter().any(|goal| !self.goals.labels.augments(*goal)) {
            self.goals.augment_path(state);
        }
        self.goals.augmentation.note_model(model);
        let has = self.goals.record_of(&mut self.machine, state, &covered, model);
        let completes = self.goals.hypers.give(&has, &mut self.goals.labels).unwrap_or_default();
        self.note_given(state, TestMessage::of(&covered, kept, has), &ending);
        self.trace(state, |state| TraceEvent::Test { state, covers: covered.len() });
        let covers = covered.iter().filter_map(|goal| self.goals.labels.label_ref(*goal)).collect();
        let transformed = self.transformed_by(state);
        let facts = state.path.facts.len();
        let found = FoundTest { test, covers, completes, transformed, facts, ending, placed };
        (self.sink)(Event::Test(Box::new(found)));
    }

    /// The test of a model of a state. `shown` is the state with more inputs, if there are any.
    fn test_of(&mut self, state: &State, shown: Option<&State>, model: &Model) -> Test {
        let of = shown.unwrap_or(state);
        let claims = of.path.facts.iter().chain(&state.claims.promises).copied();
        let needs = self.machine.needs_of(&of.memory, model, claims);
        let Machine { context, pool, plan, .. } = &self.machine;
        let externals = Machine::externals_of_runs(state);
        concretise(context.program, pool, plan, &externals, model, context, needs)
    }

    /// After a step: whether to stop. It looks only where a look is due.
    pub(crate) fn is_out_of_time(&mut self) -> bool {
        self.clock.ticks += 1;
        self.clock_is_due() && self.look_at_budget()
    }

    pub(crate) fn clock_is_due(&self) -> bool {
        self.machine.questions.late
            || self.clock.ticks >= CLOCK_STEPS
            || self.machine.pool.len() >= self.clock.terms.saturating_add(CLOCK_TERMS)
    }

    /// Looks at the clock if a look is due. Returns the reason to stop, if there is one.
    fn look_at_clock(&mut self) -> Option<StopReason> {
        if !self.clock_is_due() {
            return None;
        }
        self.clock = StepClock { ticks: 0, terms: self.machine.pool.len() };
        if let Some(pause) = &self.machine.context.config.pause {
            pause.wait();
        }
        self.machine.questions.budget.exceeded()
    }

    /// Stops where a budget is used up or nothing is left to do. Returns whether it stopped.
    pub(crate) fn look_at_budget(&mut self) -> bool {
        if self.stopped {
            return true;
        }
        let memory = self.clock_is_due().then(|| self.look_at_memory()).flatten();
        let time = self.look_at_clock();
        let others = self.exchange.others();
        let paths: u64 = self.paths.values().sum::<u64>() + others.paths;
        let steps = self.machine.statistics.steps + others.steps;
        let states = (self.frontier.len() + others.waiting) as u64;
        self.throttle(states);
        let limits = &self.machine.context.config.limits;
        let over = |used: u64, limit: Option<u64>| limit.filter(|limit| used >= *limit);
        let reason = time
            .or(memory)
            .or_else(|| over(paths, limits.paths).map(StopReason::Paths))
            .or_else(|| over(steps, limits.steps).map(StopReason::Steps))
            .or_else(|| {
                over(states.saturating_sub(LONG_PATH) / CROWD, limits.states)
                    .map(StopReason::States)
            });
        if let Some(reason) = reason {
            self.stop(reason);
        }
        let covered = self.machine.context.config.mode != Mode::Plain
            && self.machine.context.config.stop_when_covered
            && !self.goals.augmentation.is_on()
            && self.goals.labels.left() == 0
            // A path may still break an assumption, and open its labels again.
            && (!self.machine.context.assumes || self.goals.labels.without_test() == 0);
        self.stopped |= covered;
        self.stopped
    }

    /// Where the limit of states is reached, or memory is short, paths are followed to their ends
    /// until there is room again.
    fn throttle(&mut self, states: u64) {
        let Some(limit) = self.machine.context.config.limits.states else { return };
        let is_crowded = match self.frontier.is_crowded() {
            true => states > limit - limit / 4,
            false => states >= limit,
        };
        self.frontier.crowd(is_crowded || self.eviction.is_short());
    }

    pub(crate) fn into_summary(mut self) -> Summary {
        self.machine.note_left_out_targets();
        self.machine.statistics.terms = self.machine.pool.len();
        (self.machine.statistics.term_time, self.machine.statistics.clock_time) =
            self.machine.term_clock.result();
        self.machine.settle_statics();
        let complete = self.machine.omissions.is_empty();
        let learned = self.machine.take_learned();
        let (unmet, preconditions) = (self.unmet(), self.preconditions());
        let in_the_way =
            Hindrances { omissions: &self.machine.omissions, sites: self.frontier.sites() };
        let program = self.machine.context.program;
        let (covered_hypers, mut left_hypers) =
            self.goals.hypers.result(program, &self.goals.labels, &in_the_way);
        let of_some_label = self.machine.bounds.met_for_some();
        left_hypers.iter_mut().for_each(|hyper| hyper.bounds.clone_from(&of_some_label));
        let (covered, mut left) = self.goals.labels.into_result(&self.machine.bounds, &in_the_way);
        if self.machine.context.config.mode == Mode::Plain {
            // No path was asked for the labels, so complete exploration decides nothing about them.
            left.iter_mut().for_each(|label| label.reasons.push(Cut::NotAsked));
            left_hypers.iter_mut().for_each(|hyper| hyper.reasons.push(Cut::NotAsked));
        }
        let starts = self.machine.plan.starts(&self.machine.pool).into_iter();
        let is_early = |start: &Start| self.machine.bounds.begins_early(start.address);
        let starts = starts.map(|start| (is_early(&start), start));
        Summary {
            paths: self.paths,
            label_paths: self.goals.label_paths,
            covered,
            left,
            covered_hypers,
            left_hypers,
            cuts: self.machine.omissions.counts().clone(),
            complete,
            runs_differ: self.machine.runs_differ,
            learned,
            unmet,
            preconditions,
            assumptions: self.machine.bounds.assumptions(),
            bounds: self.machine.bounds.met(),
            starts: starts.map(|(early, start)| (start, early)).collect(),
            ends: self.machine.ends,
            statistics: self.machine.statistics,
        }
    }
}

/// The point of a path at which the state last covered something.
struct Novelty {
    covered: usize,
    /// The state's steps at that point.
    at: u64,
    /// The number of terms at that point.
    terms: usize,
}

impl Novelty {
    /// The current point of a path.
    fn of(state: &State, pool: &TermPool) -> Self {
        Self { covered: state.claims.covered.len(), at: state.course.steps, terms: pool.len() }
    }

    /// Whether the state has since taken at least so many steps, or built the number of terms that
    /// counts for as many.
    fn are_older(&mut self, state: &State, pool: &TermPool, steps: u64) -> bool {
        if self.covered != state.claims.covered.len() {
            *self = Self::of(state, pool);
        }
        let terms = pool.len() - self.terms;
        // Behind a merge scope another state may go on, with a path that is shorter.
        let since = state.course.steps.saturating_sub(self.at);
        since + terms as u64 / STEP_TERMS >= steps
    }
}

/// Drops a state that waits when the exploration stops, after giving the test of its model.
fn drop_waiting(engine: &mut Engine<'_, '_>, mut state: Box<State>) {
    if let Some(cut) = engine.cut_by_stop() {
        engine.cut_path(&state, cut);
    }
    if !state.claims.covered.is_empty() {
        let reason = engine.machine.questions.budget.exceeded().unwrap_or(StopReason::Cancelled);
        engine.give_test(&mut state, Ending::Cut(Cut::Stopped(reason)));
    }
}
