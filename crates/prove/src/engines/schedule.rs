//! The order of the engines, and the time of each.
//!
//! Rounds get longer: each has a multiple of the time of the round before, as the bounds of [001] 7.3
//! grow threefold. In a round each engine has its share of the time, the cheap ones first. All goals
//! share one unrolling, one set of invariants, and the lemmas of refinement.

use std::cell::OnceCell;
use std::sync::Arc;
use std::time::Duration;

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Evaluator, Limits, Model, Solver, Term, TermPool};
use rustc_hash::FxHashSet;

use crate::engines::acceleration::Acceleration;
use crate::engines::acceleration::search::JumpSearch;
use crate::engines::algebra::Products;
use crate::engines::cells::Cells;
use crate::engines::certificate::{Argument, Certificate};
use crate::engines::companion::{Companion, FoundRun};
use crate::engines::flags::Flags;
use crate::engines::induction::Induction;
use crate::engines::invariants::equations::{columns, equations};
use crate::engines::invariants::houdini::preserved;
use crate::engines::invariants::polynomials::polynomials;
use crate::engines::invariants::templates::{Effort, candidates};
use crate::engines::invariants::{Invariants, extend};
use crate::engines::minimisation::needed;
use crate::engines::queries::Queries;
use crate::engines::refinement::{Outcome, Refinement};
use crate::engines::sampling::Samples;
use crate::engines::slicing::Slice;
use crate::engines::stage::terms_of;
use crate::engines::trace::{Course, Trace};
use crate::engines::unrolling::Unrolling;
use crate::engines::values::Values;
use crate::system::{GoalId, System};

/// The layers of the first round's unrolling.
const FIRST_LAYERS: usize = 4;
/// The time of a query about the invariants that a proof needs.
const MINIMISATION: Duration = Duration::from_millis(200);
/// The layers with jumps that each round adds.
const JUMP_LAYERS: usize = 3;
/// The factor of the time for flags in the first round.
const FIRST_FLAGS: u32 = 8;
/// The part of the time that is left for flags in the first round where there are many goals.
const FLAGS_PART: u32 = 10;
/// So many goals are many.
const MANY_GOALS: usize = 64;
/// The runs to a goal that do not count after which no others are looked for.
const MOST_REFUSED: usize = 6;
/// The runs that are sampled in the first round.
const FIRST_RUNS: usize = 24;

/// The time for the engines.
#[derive(Clone, Debug)]
pub struct Schedule<'c> {
    /// The time of each engine in the first round.
    pub first: Duration,
    /// The factor from one round to the next.
    pub growth: u32,
    /// The most rounds.
    pub rounds: u32,
    /// The most time of one query.
    pub query: Duration,
    /// The limits of the whole. Its end and its interrupt are obeyed by all engines.
    pub limits: Limits,
    /// Another party that decides goals at the same time.
    pub companion: Option<Arc<dyn Companion + 'c>>,
}

impl Default for Schedule<'_> {
    /// Rounds of 10 milliseconds and three times more each, up to seven seconds for each engine.
    fn default() -> Self {
        Self {
            first: Duration::from_millis(10),
            growth: 3,
            rounds: 7,
            query: Duration::from_secs(2),
            limits: Limits::none(),
            companion: None,
        }
    }
}

/// The answer for a goal.
#[derive(Clone, Debug)]
pub enum Decision {
    /// This run reaches it.
    Reached(Trace),
    /// No run reaches it.
    Unreachable(Certificate),
    /// Neither was found, for this reason.
    Unknown(String),
}

impl Decision {
    /// `reached`, `unreachable` or `unknown`.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Reached(_) => "reached",
            Self::Unreachable(_) => "unreachable",
            Self::Unknown(_) => "unknown",
        }
    }
}

/// The decision about a goal, and who made it.
#[derive(Clone, Debug)]
pub struct Verdict {
    /// The goal.
    pub goal: GoalId,
    /// The decision.
    pub decision: Decision,
    /// The engine that decided, or "none".
    pub engine: &'static str,
}

impl Verdict {
    /// That of no engine, for a reason.
    pub fn unknown(goal: GoalId, why: &str) -> Self {
        Self { goal, decision: Decision::Unknown(why.to_owned()), engine: "none" }
    }

    /// That about a goal which all engines left open, perhaps since the time was over.
    pub(crate) fn open(goal: GoalId, is_late: bool) -> Self {
        let why = if is_late { "out of time" } else { "no engine found an answer" };
        Self::unknown(goal, why)
    }
}

/// Decides goals of a system, in their order.
pub fn decide(
    pool: &mut TermPool,
    system: &System,
    goals: &[GoalId],
    solver: &mut dyn Solver,
    schedule: &Schedule<'_>,
) -> Vec<Verdict> {
    if system.transitions.iter().any(|transition| transition.to == system.entry) {
        let why = "a transition leads to the entry";
        return goals.iter().map(|goal| Verdict::unknown(*goal, why)).collect();
    }
    let slice = Slice::new(pool, system, goals);
    let mut queries = Queries::new(pool, solver, &schedule.limits, schedule.query);
    let accelerated = OnceCell::new();
    let mut session = Session::new(&mut queries, system, (&slice, &accelerated), goals);
    session.companion.clone_from(&schedule.companion);
    session.decide_without_ways();
    let mut share = schedule.first;
    let mut rounds = 0;
    while !session.open().is_empty() && rounds < schedule.rounds && !queries.expired() {
        session.companion.iter().for_each(|companion| companion.take_turn(share));
        session.round(&mut queries, share, rounds);
        share = share.saturating_mul(schedule.growth);
        rounds += 1;
    }
    let decided = session.decided.into_iter().zip(goals);
    let is_late = queries.expired();
    decided
        .map(|(decided, goal)| decided.unwrap_or_else(|| Verdict::open(*goal, is_late)))
        .collect()
}

/// The engines at work on the goals of one slice.
struct Session<'s> {
    whole: &'s System,
    slice: &'s Slice,
    /// The goals in the whole system, by their ids in the slice.
    goals: Vec<GoalId>,
    decided: Vec<Option<Verdict>>,
    unrolling: Unrolling<'s>,
    /// By goal: the number of layers that are known not to reach it.
    clear: Vec<usize>,
    samples: Samples<'s>,
    /// The slice with jumps, once it was made.
    accelerated: &'s OnceCell<Acceleration>,
    /// The search of it, once it has begun; none if there are no jumps.
    jumps: Option<Option<JumpSearch<'s>>>,
    flags: Flags<'s>,
    /// Whether the other engines have the formulas about flags.
    has_flags: bool,
    values: Values<'s>,
    cells: Cells<'s>,
    invariants: Invariants,
    /// Candidates for invariants that failed, by the position of their point, while the search for the
    /// others goes on in a later round.
    failed: FxHashSet<(usize, Term)>,
    refinement: Refinement<'s>,
    /// Whether the slice has products of variables.
    multiplies: bool,
    companion: Option<Arc<dyn Companion + 's>>,
    /// By goal: the runs to it that do not count.
    refused: Vec<usize>,
}

impl<'s> Session<'s> {
    fn new(
        queries: &mut Queries<'_>,
        whole: &'s System,
        (slice, accelerated): (&'s Slice, &'s OnceCell<Acceleration>),
        goals: &[GoalId],
    ) -> Self {
        let system = &slice.system;
        Self {
            whole,
            slice,
            goals: goals.to_vec(),
            decided: vec![None; goals.len()],
            unrolling: Unrolling::from_entry(queries, system),
            clear: vec![0; goals.len()],
            samples: Samples::new(queries.pool, system),
            accelerated,
            jumps: None,
            flags: Flags::new(queries.pool, system),
            has_flags: false,
            values: Values::new(system),
            cells: Cells::new(queries.pool, system),
            invariants: vec![Vec::new(); system.points.len()],
            failed: FxHashSet::default(),
            refinement: Refinement::new(queries.pool, system),
            multiplies: multiplies(queries.pool, system),
            companion: None,
            refused: vec![0; goals.len()],
        }
    }

    /// The goals of the slice that are not decided.
    fn open(&self) -> Vec<GoalId> {
        let ids = self.slice.system.goals.ids();
        ids.filter(|goal| self.decided[goal.index()].is_none() && !self.is_elsewhere(*goal))
            .collect()
    }

    /// Whether the other party has decided a goal of the slice.
    fn is_elsewhere(&self, goal: GoalId) -> bool {
        let goal = self.goals[goal.index()];
        self.companion.as_ref().is_some_and(|companion| companion.has_decided(goal))
    }

    fn note(&mut self, goal: GoalId, decision: Decision, engine: &'static str) {
        let verdict = Verdict { goal: self.goals[goal.index()], decision, engine };
        self.companion.iter().for_each(|companion| companion.note_decided(verdict.goal));
        self.decided[goal.index()] = Some(verdict);
    }

    /// The decision that a goal is out of reach.
    fn unreachable(
        &self,
        (depth, argument): (usize, Argument),
        invariants: &Invariants,
    ) -> Decision {
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        Decision::Unreachable(self.slice.certificate(depth, argument, invariants))
    }

    /// The decision that invariants exclude a goal, by those that are needed.
    fn excluded(
        &self,
        queries: &mut Queries<'_>,
        goal: GoalId,
        invariants: &Invariants,
    ) -> Decision {
        let mut queries = queries.at_most(MINIMISATION);
        let needed = needed(&mut queries, &self.slice.system, goal, invariants);
        self.unreachable((1, Argument::Induction), &needed)
    }

    /// The same by induction over some states; with invariants only if it needs them.
    fn excluded_by_window(
        &self,
        queries: &mut Queries<'_>,
        goal: GoalId,
        depth: usize,
    ) -> Decision {
        let none = vec![Vec::new(); self.slice.system.points.len()];
        let mut alone = Induction::new(&self.slice.system, &none);
        let is_alone = alone.step(&mut queries.at_most(MINIMISATION), goal, depth);
        let needed = if is_alone { &none } else { &self.invariants };
        self.unreachable((depth, Argument::Induction), needed)
    }

    /// Notes a run, if it is one of the whole system.
    fn note_reached(
        &mut self,
        pool: &mut TermPool,
        goal: GoalId,
        course: &Course,
        engine: &'static str,
    ) {
        // A run to another goal may have covered this one.
        if self.is_elsewhere(goal) {
            return;
        }
        let course = self.slice.course_of_whole(pool, course, goal);
        let whole = self.goals[goal.index()];
        let trace = course.and_then(|course| course.replayed(pool, self.whole, whole));
        if let (Some(trace), Some(companion)) = (&trace, &self.companion) {
            let counts = companion.take_run(pool, FoundRun { goal: whole, trace, engine });
            let refused = &mut self.refused[goal.index()];
            *refused += usize::from(!counts);
            if !counts && *refused < MOST_REFUSED {
                return;
            }
        }
        let decision = match trace {
            Some(trace) => Decision::Reached(trace),
            None => Decision::Unknown(format!("internal error: the run of {engine} is none")),
        };
        self.note(goal, decision, engine);
    }

    /// Decides the goals that no transition comes near.
    fn decide_without_ways(&mut self) {
        for goal in self.open() {
            if self.slice.system.goals[goal].approaches.is_empty() {
                let none = vec![Vec::new(); self.slice.system.points.len()];
                let decision = self.unreachable((1, Argument::Induction), &none);
                self.note(goal, decision, "slicing");
            }
        }
    }

    /// Lets each engine work for its share of time.
    fn round(&mut self, queries: &mut Queries<'_>, share: Duration, round: u32) {
        let layers = if round == 0 { FIRST_LAYERS } else { usize::MAX };
        self.unroll(&mut queries.within(share), layers);
        self.sample(&mut queries.within(share), FIRST_RUNS * (round as usize + 1));
        let time = self.time_of_flags(queries, share, round);
        self.flow(&mut queries.within(time));
        if round > 0 {
            self.jump(&mut queries.within(share.saturating_mul(2)), JUMP_LAYERS * round as usize);
        }
        self.enumerate(&mut queries.within(share.saturating_mul(2)));
        if self.multiplies {
            self.look_at_named(&mut queries.within(share.saturating_mul(4)));
        }
        self.relate(&mut queries.within(share.saturating_mul(2)), false);
        if round % 2 == 1 || self.multiplies {
            self.relate(&mut queries.within(share.saturating_mul(2)), true);
        }
        self.guess(&mut queries.within(share.saturating_mul(4)), Effort::Low);
        self.look_at_cells(&mut queries.within(share.saturating_mul(2)));
        self.induct(&mut queries.within(share), round);
        self.refine(&mut queries.within(share.saturating_mul(2)));
        self.guess(&mut queries.within(share.saturating_mul(4)), Effort::High);
    }

    fn sample(&mut self, queries: &mut Queries<'_>, runs: usize) {
        let open = self.open();
        if open.is_empty() {
            return;
        }
        for (goal, course) in self.samples.run(queries, runs, &open) {
            if queries.expired() {
                return;
            }
            self.note_reached(queries.pool, goal, &course, "sampling");
        }
    }

    /// Looks for runs in which many turns of a loop are one transition.
    fn jump(&mut self, queries: &mut Queries<'_>, layers: usize) {
        let open = self.open();
        if open.is_empty() || queries.expired() {
            return;
        }
        let (system, invariants) = (&self.slice.system, &self.invariants);
        let accelerated = self.accelerated;
        let search = self.jumps.get_or_insert_with(|| {
            let made = accelerated.get_or_init(|| Acceleration::of(queries, system, invariants));
            JumpSearch::new(queries, made)
        });
        let Some(search) = search else { return };
        for (goal, course) in search.work(queries, (&open, layers), &mut self.samples) {
            self.note_reached(queries.pool, goal, &course, "acceleration");
        }
    }

    /// The time for flags. In the first round it is longer, and a part of all that is left where there are
    /// many goals, since the analysis is for all of them at once.
    fn time_of_flags(&self, queries: &Queries<'_>, share: Duration, round: u32) -> Duration {
        let first = if round == 0 { FIRST_FLAGS } else { 1 };
        let time = share.saturating_mul(8 * first);
        match queries.left().filter(|_| round == 0 && self.goals.len() >= MANY_GOALS) {
            Some(left) => time.max(left / FLAGS_PART),
            None => time,
        }
    }

    /// Proves goals by the flags that may be set.
    fn flow(&mut self, queries: &mut Queries<'_>) {
        if self.has_flags || !self.flags.are_some() || self.open().is_empty() {
            return;
        }
        if !self.flags.work(queries, &self.samples) {
            return;
        }
        let mut goals = self.open();
        goals.retain(|goal| self.is_clear_of_entry(queries, *goal));
        if queries.expired() {
            return;
        }
        let Some(excluded) = self.flags.excluded(queries, goals) else { return };
        for goal in excluded {
            let own = self.flags.formulas(queries.pool, &[goal]);
            let decision = self.unreachable((1, Argument::Induction), &own);
            self.note(goal, decision, "flags");
        }
        let left = self.flags.single_formulas(queries.pool, &self.open());
        left.into_iter().for_each(|own| extend(&mut self.invariants, own));
        self.has_flags = true;
    }

    /// Whether a goal is not reached without a transition.
    fn is_clear_of_entry(&self, queries: &mut Queries<'_>, goal: GoalId) -> bool {
        let system = &self.slice.system;
        let approaches = system.goals[goal].approaches.iter();
        let mut first = approaches.filter(|way| way.from == system.entry);
        self.clear[goal.index()] >= 1 || first.all(|way| queries.contradict(&[way.condition]))
    }

    /// Finds the combinations of values of variables that have few.
    fn enumerate(&mut self, queries: &mut Queries<'_>) {
        if self.open().is_empty() {
            return;
        }
        if let Some(found) = self.values.work(queries, &self.samples, &self.invariants) {
            extend(&mut self.invariants, found);
            let mut induction = Induction::new(&self.slice.system, &self.invariants);
            self.prove_by(queries, &mut induction, 1, "values");
        }
    }

    /// Unrolls up to a number of layers in all, and on as long as there is no choice.
    fn unroll(&mut self, queries: &mut Queries<'_>, layers: usize) {
        while !self.open().is_empty() && !queries.expired() && !self.unrolling.is_over() {
            let depth = self.unrolling.depth();
            self.ask_layer(queries, depth);
            if queries.expired() || (depth >= layers && !self.unrolling.is_concrete(queries.pool)) {
                return;
            }
            self.unrolling.extend(queries.pool);
            for model in self.unrolling.prune(queries) {
                if let Some((steps, _)) = self.unrolling.steps(queries.pool, &model, depth + 1) {
                    self.samples.keep_run(queries.pool, &steps);
                }
            }
        }
        self.close();
    }

    /// Decides the goals that a complete unrolling has not met.
    fn close(&mut self) {
        let depth = self.unrolling.depth();
        if !self.unrolling.is_over() {
            return;
        }
        for goal in self.open() {
            if self.clear[goal.index()] >= depth {
                let none = vec![Vec::new(); self.slice.system.points.len()];
                let decision = self.unreachable((depth, Argument::Exhaustion), &none);
                self.note(goal, decision, "unrolling");
            }
        }
    }

    /// Asks for the goals that runs reach from a layer.
    fn ask_layer(&mut self, queries: &mut Queries<'_>, depth: usize) {
        let mut open = self.open();
        // Where runs do not count, longer ones are looked for.
        let is_refused = |goal: usize| self.refused[goal] > 0 && self.clear[goal] < depth;
        open.retain(|goal| self.clear[goal.index()] == depth || is_refused(goal.index()));
        loop {
            let mut ways = Vec::new();
            for goal in &open {
                ways.push((*goal, self.unrolling.goal(queries.pool, depth, *goal)));
            }
            let any = queries.pool.or_all(ways.iter().map(|(_, reached)| *reached));
            let mut query = self.unrolling.assumed().to_vec();
            query.push(any);
            match queries.check(&query) {
                Answer::Unsat { .. } => {
                    open.iter().for_each(|goal| self.note_clear(*goal, depth));
                    return;
                }
                Answer::Sat(model) => {
                    let met = self.meet(queries.pool, depth, &ways, &model);
                    open.retain(|goal| !met.contains(goal));
                    if open.is_empty() || met.is_empty() {
                        return;
                    }
                }
                Answer::Unknown(_) => return self.ask_each(queries, depth, &ways),
            }
        }
    }

    /// Notes that a goal is not reached from a layer.
    fn note_clear(&mut self, goal: GoalId, depth: usize) {
        let clear = &mut self.clear[goal.index()];
        *clear += usize::from(*clear == depth);
    }

    /// Asks for each goal alone.
    fn ask_each(&mut self, queries: &mut Queries<'_>, depth: usize, ways: &[(GoalId, Term)]) {
        if ways.len() < 2 {
            return;
        }
        for way in ways {
            let mut query = self.unrolling.assumed().to_vec();
            query.push(way.1);
            match queries.check(&query) {
                Answer::Unsat { .. } => self.note_clear(way.0, depth),
                Answer::Sat(model) => {
                    self.meet(queries.pool, depth, &[*way], &model);
                }
                Answer::Unknown(_) => {}
            }
        }
    }

    /// Notes the goals that a model's run reaches from a layer.
    fn meet(
        &mut self,
        pool: &mut TermPool,
        depth: usize,
        ways: &[(GoalId, Term)],
        model: &Model,
    ) -> Vec<GoalId> {
        let mut evaluator = Evaluator::new();
        let mut met = Vec::new();
        for (goal, reached) in ways {
            if !evaluator.holds(pool, model, *reached) {
                continue;
            }
            if self.is_elsewhere(*goal) {
                met.push(*goal);
                continue;
            }
            if let Some(course) = self.unrolling.course(pool, model, depth, *goal) {
                self.note_reached(pool, *goal, &course, "unrolling");
                met.push(*goal);
            }
        }
        met
    }

    /// Finds out which equations with products that the system names hold.
    fn look_at_named(&mut self, queries: &mut Queries<'_>) {
        if self.open().is_empty() || queries.expired() {
            return;
        }
        let system = &self.slice.system;
        let found = polynomials(queries, system, &self.samples, &self.invariants);
        if let Some(found) = found {
            extend(&mut self.invariants, found);
            self.prove(queries);
        }
    }

    /// Finds equations, on demand with products of variables.
    fn relate(&mut self, queries: &mut Queries<'_>, products: bool) {
        let system = &self.slice.system;
        for terms in columns(queries.pool, system, products) {
            if self.open().is_empty() || queries.expired() {
                return;
            }
            let found = equations(queries, system, &self.samples, &self.invariants, &terms);
            extend(&mut self.invariants, found);
        }
        self.prove(queries);
    }

    /// Finds invariants of fixed forms.
    fn guess(&mut self, queries: &mut Queries<'_>, effort: Effort) {
        if self.open().is_empty() || queries.expired() {
            return;
        }
        let system = &self.slice.system;
        let mut guesses = candidates(queries.pool, system, &self.samples, effort);
        for (at, guesses) in guesses.iter_mut().enumerate() {
            let known = &self.invariants[at];
            guesses.retain(|guess| !known.contains(guess) && !self.failed.contains(&(at, *guess)));
        }
        let survivors = preserved(queries, system, &self.invariants, guesses.clone());
        if survivors.hold {
            self.failed.clear();
            extend(&mut self.invariants, survivors.candidates);
            return self.prove(queries);
        }
        for (at, guesses) in guesses.into_iter().enumerate() {
            let left = &survivors.candidates[at];
            let failed = guesses.into_iter().filter(|guess| !left.contains(guess));
            self.failed.extend(failed.map(|guess| (at, guess)));
        }
    }

    /// Proves goals by formulas about all elements of arrays.
    fn look_at_cells(&mut self, queries: &mut Queries<'_>) {
        if self.open().is_empty() || self.cells.work(queries, &self.invariants).is_none() {
            return;
        }
        for goal in self.open() {
            if queries.expired() {
                return;
            }
            let excluded = self.cells.exclude(queries, goal, &self.invariants);
            if self.clear[goal.index()] >= 1 && excluded {
                let all = self.cells.with(&self.invariants);
                let mut certificate = self.slice.certificate(1, Argument::Induction, &all);
                certificate.parameters = self.cells.parameters().clone();
                self.note(goal, Decision::Unreachable(certificate), "cells");
            }
        }
    }

    /// Proves goals by the invariants alone.
    fn prove(&mut self, queries: &mut Queries<'_>) {
        let mut induction = Induction::new(&self.slice.system, &self.invariants);
        self.prove_by(queries, &mut induction, 1, "invariants");
    }

    fn prove_by(
        &mut self,
        queries: &mut Queries<'_>,
        induction: &mut Induction<'_>,
        depth: usize,
        engine: &'static str,
    ) {
        for goal in self.open() {
            if queries.expired() {
                return;
            }
            if self.clear[goal.index()] >= depth && induction.step(queries, goal, depth) {
                let decision = match depth {
                    1 => self.excluded(queries, goal, &self.invariants),
                    _ => self.excluded_by_window(queries, goal, depth),
                };
                self.note(goal, decision, engine);
            }
        }
    }

    /// Proves goals by the invariants and the last states before them.
    fn induct(&mut self, queries: &mut Queries<'_>, round: u32) {
        let mut induction = Induction::new(&self.slice.system, &self.invariants);
        for depth in 2..=4 * round as usize + 3 {
            if self.open().is_empty() || queries.expired() {
                return;
            }
            self.prove_by(queries, &mut induction, depth, "induction");
        }
    }

    fn refine(&mut self, queries: &mut Queries<'_>) {
        for goal in self.open() {
            if self.refinement.is_stuck(goal) {
                continue;
            }
            if queries.expired() {
                return;
            }
            match self.refinement.work(queries, goal, &self.invariants) {
                Outcome::Reached(course) => {
                    self.note_reached(queries.pool, goal, &course, "refinement");
                }
                Outcome::Unreachable(lemmas) => {
                    let mut all = self.invariants.clone();
                    extend(&mut all, lemmas);
                    let decision = self.excluded(queries, goal, &all);
                    self.note(goal, decision, "refinement");
                }
                Outcome::Open => {}
            }
        }
    }
}

/// Whether a guard, a value or an approach has a product of variables in it.
fn multiplies(pool: &TermPool, system: &System) -> bool {
    let mut products = Products::default();
    terms_of(system).any(|term| products.has(pool, term))
}

#[cfg(test)]
mod tests;
