//! Directed search: searches that go to one objective at a time, by shortest distance (SDGS, [001]
//! 7.2) or by cut points (CPGS, [001] 4.2).
//!
//! A [`DirectedSearch`] chooses an objective, and gives each state a weight for it. The turn of an
//! objective ends when it is decided, when no waiting state can reach it, or when many states were
//! chosen for it; in the last case it has another turn later, of twice the length. The weights are
//! advice: they choose the next state and never keep a state from being followed.
//!
//! Where the path of a state redefined the variable of a pair after its definition, the sequence is
//! no longer under way; where the path must redefine it, no way to the use is open. The weight of
//! such a state is that for reaching the definition again, below those of all states past it. Where
//! it cannot reach the definition, it is not chosen for the pair while another state is left.
//! ([001]'s redefinition pruning discards it; here it may serve other objectives.)

use std::collections::VecDeque;
use std::rc::Rc;

use lydian_ir::{Body, FuncId, Program};
use lydian_objective::Site;
use lydian_objective::hyper::{Passage, SequenceScope};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use crate::State;
use crate::config::Guidance;
use crate::goals::hyper::HyperTable;
use crate::goals::hyper_sequences::{PassageRequirement, StepId, WaitId};
use crate::goals::labels::{Aim, GoalId, LabelTable, keys};
use crate::machine::program::control_flow::places_of;
use crate::machine::program::site::SiteKey;
use crate::search::cut_points::{ActivationNodes, AllowedWays, Dominance, ObjectiveStages, Stage};
use crate::search::distance::FAR;
use crate::search::graph::{Extent, Graph, NodeId};

#[cfg(test)]
mod tests;

/// The number of states that are chosen in the first turn of an objective.
const PATIENCE: u64 = 64;
/// The bits of a weight below the number of cut points, and below the number of labels.
const POINT_SHIFT: u32 = 40;
const STAGE_SHIFT: u32 = 56;

/// Chooses objectives and weighs states.
pub(crate) struct DirectedSearch<'p> {
    guidance: Guidance,
    program: &'p Program,
    graph: Graph,
    /// The first node of the function under test, and the nodes that all ways from there pass.
    start: NodeId,
    from_start: Rc<Dominance>,
    /// The objectives that wait for their turn, with the number of states that are chosen in it.
    waiting: VecDeque<(GoalId, u64)>,
    current: Option<Current>,
    /// The number of turns so far.
    turn: u32,
    /// How often labels had been reopened when the objectives were listed.
    listed: Option<usize>,
    /// Whether some path passed each node.
    seen: Vec<bool>,
}

struct Current {
    goal: GoalId,
    way: ObjectiveStages,
    patience: u64,
    chosen: u64,
}

/// The cut points that a path passed during an objective's turn.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Progress {
    turn: u32,
    stage: u32,
    passed: u32,
}

/// A state, seen from a stage of the current objective.
struct ViewedState<'s> {
    state: &'s State,
    /// The number of the stage in the objective.
    number: usize,
    stage: &'s Stage,
    /// The positions of the state's activations.
    at: &'s ActivationNodes,
}

/// A position of a state that is on its way to a label of the objective.
struct Position {
    /// The activation in which the next label is to be met; 0 for any.
    activation: u64,
    /// The number of required nodes that its path entered.
    entered: usize,
}

impl<'p> DirectedSearch<'p> {
    /// For the functions that calls may lead to; `func` is the function under test.
    pub(crate) fn new(
        guidance: Guidance,
        program: &'p Program,
        functions: &[FuncId],
        func: FuncId,
    ) -> Option<Self> {
        let graph = Graph::new(program, functions);
        let start = graph.entry(func)?;
        let from_start = Rc::new(Dominance::down(&graph, start));
        let seen = vec![false; graph.len()];
        let (waiting, current) = (VecDeque::new(), None);
        let (turn, listed) = (0, None);
        let this = Self {
            guidance,
            program,
            graph,
            start,
            from_start,
            waiting,
            current,
            turn,
            listed,
            seen,
        };
        Some(this)
    }

    /// Makes an objective that is left the current one, if there is any.
    pub(crate) fn refresh(&mut self, labels: &LabelTable<'_>, hypers: &HyperTable<'_>) {
        if self.listed != Some(labels.reopened()) {
            self.listed = Some(labels.reopened());
            self.waiting = labels.followed().map(|goal| (goal, PATIENCE)).collect();
            self.current = None;
        }
        match &mut self.current {
            Some(current) if !labels.is_followed(current.goal) => self.current = None,
            Some(current) if current.chosen >= current.patience => {
                self.waiting.push_back((current.goal, 2 * current.patience));
                self.current = None;
            }
            _ => {}
        }
        if self.current.is_none() {
            self.next_turn(labels, hypers);
        }
    }

    /// Ends the turn of an objective that cannot be reached.
    pub(crate) fn give_up(&mut self, labels: &LabelTable<'_>, hypers: &HyperTable<'_>) {
        self.current = None;
        self.next_turn(labels, hypers);
    }

    fn next_turn(&mut self, labels: &LabelTable<'_>, hypers: &HyperTable<'_>) {
        self.turn += 1;
        while let Some((goal, patience)) = self.waiting.pop_front() {
            let way = labels.is_followed(goal).then(|| self.way(goal, labels, hypers)).flatten();
            if let Some(way) = way {
                self.current = Some(Current { goal, way, patience, chosen: 0 });
                return;
            }
        }
    }

    /// Begins the turn of an objective.
    #[cfg(test)]
    fn aim_at(&mut self, goal: GoalId, labels: &LabelTable<'_>, hypers: &HyperTable<'_>) {
        self.refresh(labels, hypers);
        self.waiting.push_front((goal, PATIENCE));
        self.next_turn(labels, hypers);
    }

    /// Whether there is no current objective.
    pub(crate) const fn is_idle(&self) -> bool {
        self.current.is_none()
    }

    /// The number of the turn. Weights of different turns are not comparable.
    pub(crate) const fn turn(&self) -> u32 {
        self.turn
    }

    /// Counts a state that was chosen.
    pub(crate) fn picked(&mut self) {
        if let Some(current) = &mut self.current {
            current.chosen += 1;
        }
    }

    /// Notes that a state takes a step.
    pub(crate) fn step(&mut self, state: &mut State) {
        let frame = state.frame();
        let node = self.graph.node(frame.func, frame.block, frame.next);
        if let Some(seen) = node.map(|node| &mut self.seen[node])
            && !std::mem::replace(seen, true)
        {
            state.notes.search.fresh_at = state.course.steps;
        }
    }

    /// Notes the cut points that a state has passed before it waits. They count as passed even
    /// where its path leads back.
    pub(crate) fn note(&self, state: &mut State) {
        let Some(current) = &self.current else { return };
        if self.guidance == Guidance::Distance {
            return;
        }
        let at = self.places(state);
        for (number, stage) in current.way.stages.iter().enumerate().rev() {
            let positions = positions(stage, state);
            let view = ViewedState { state, number, stage, at: &at };
            let passed = positions.iter().map(|of| self.passed(&view, of));
            if let Some(passed) = passed.max() {
                let (stage, passed) = (number as u32, passed as u32);
                state.notes.search.progress = Progress { turn: self.turn, stage, passed };
                return;
            }
        }
    }

    /// The weight of a state for the current objective, greater is better; 0 where it cannot reach
    /// the objective.
    pub(crate) fn weight(&self, state: &State, roots: usize) -> u64 {
        let Some(current) = &self.current else { return 0 };
        if state.course.root < roots {
            return 1;
        }
        let at = self.places(state);
        let stages = &current.way.stages;
        for (number, stage) in stages.iter().enumerate().rev() {
            let view = ViewedState { state, number, stage, at: &at };
            let weigh = |of: &Position| match self.guidance {
                Guidance::CutPoints => self.weight_by_cut_points(&view, of),
                Guidance::Distance => self.weight_by_distance(&view, &stages[number + 1..], of),
            };
            let weight = positions(stage, state).iter().map(weigh).max().unwrap_or(0);
            if weight > 0 {
                return weight;
            }
        }
        0
    }

    /// [001] Formula 3: first the number of the deepest cut point passed, then `1/d² + 1/i²`. Here
    /// `d` is the distance to the next cut point, and `i` the number of instructions since the path
    /// met one that no path had passed.
    fn weight_by_cut_points(&self, view: &ViewedState<'_>, of: &Position) -> u64 {
        let &ViewedState { state, number, stage, at } = view;
        let (passed, distance) = match is_met(state, stage) {
            true => (stage.count(), 0),
            false => {
                let passed = self.passed(view, of);
                let distances = stage.distances(&self.graph, passed);
                (passed, self.distance(distances, at, of.activation))
            }
        };
        if distance >= FAR {
            return 0;
        }
        let since = state.course.steps - state.notes.search.fresh_at;
        ((number as u64 + 1) << STAGE_SHIFT)
            | ((passed as u64).min(0xfffe) + 1) << POINT_SHIFT
            | fraction(distance, since)
    }

    /// The weight by the distance through all labels that are left: that of the view's stage, and
    /// of the later ones.
    fn weight_by_distance(&self, view: &ViewedState<'_>, later: &[Stage], of: &Position) -> u64 {
        let &ViewedState { state, stage, at, .. } = view;
        let mut distance = match is_met(state, stage) {
            true => 0,
            false => {
                let distances = stage.distances(&self.graph, stage.count());
                self.distance(distances, at, of.activation)
            }
        };
        let mut places = stage.places();
        for next in later {
            distance = distance.saturating_add(next.length(&self.graph, places));
            places = next.places();
        }
        if distance >= FAR { 0 } else { u64::from(FAR - distance) }
    }

    /// The number of cut points of a stage that a state's path passed.
    fn passed(&self, view: &ViewedState<'_>, of: &Position) -> usize {
        let &ViewedState { state, number, stage, at } = view;
        let nodes: SmallVec<[NodeId; 8]> = match of.activation {
            0 => at.iter().map(|(node, _)| *node).collect(),
            own => at.iter().filter(|(_, one)| *one == own).map(|(node, _)| *node).collect(),
        };
        let Progress { turn, stage: of_stage, passed } = state.notes.search.progress;
        let before = turn == self.turn && of_stage as usize == number;
        let before = if before { passed as usize } else { 0 };
        stage.passed(&nodes, of.entered).max(before).min(stage.count())
    }

    /// The number of instructions to a place from the innermost activation, or from one around it
    /// after those within it have ended.
    fn distance(&self, distances: &[u32], at: &ActivationNodes, activation: u64) -> u32 {
        let (mut returning, mut best) = (0u32, FAR);
        for (node, own) in at.iter().rev() {
            if activation == 0 || activation == *own {
                best = best.min(returning.saturating_add(distances[*node]));
            }
            if activation == *own || returning >= FAR {
                break;
            }
            returning = returning.saturating_add(self.graph.to_end(*node)).saturating_add(1);
        }
        best
    }

    fn places(&self, state: &State) -> ActivationNodes {
        let frames = state.frames.iter();
        let nodes = frames.filter_map(|frame| {
            let node = self.graph.node(frame.func, frame.block, frame.next)?;
            Some((node, frame.serial))
        });
        nodes.collect()
    }

    /// The stages of covering an objective; `None` where no way leads there or it is not followed.
    fn way(
        &self,
        goal: GoalId,
        labels: &LabelTable<'_>,
        hypers: &HyperTable<'_>,
    ) -> Option<ObjectiveStages> {
        let stages = match labels.aim(goal) {
            Aim::Label(..) => {
                let (func, keys) = labels.sites_of(goal)?;
                let sites: Vec<_> = keys.iter().map(|key| (func, *key)).collect();
                let places = self.nodes_of(&sites);
                let ways = AllowedWays::from_start(&self.from_start);
                vec![Stage::new(&self.graph, None, sites, places, &[], ways)?]
            }
            Aim::Sequence(..) => self.stages(hypers.last_step(goal)?, hypers)?,
        };
        Some(ObjectiveStages { stages })
    }

    /// The stages of a sequence, given the step that completes it.
    fn stages(&self, last: StepId, hypers: &HyperTable<'_>) -> Option<Vec<Stage>> {
        let mut steps = vec![last];
        while let Some(wait) = hypers.sequences.steps[*steps.last()?].from {
            steps.push(hypers.sequences.waits[wait].after);
        }
        let mut stages: Vec<Stage> = Vec::new();
        for step in steps.into_iter().rev() {
            let wait = hypers.sequences.steps[step].from;
            let (sites, places) = self.sites_of(step, hypers);
            let before = stages.last().map_or(&[][..], |stage| stage.places());
            let (ways, through) = match wait {
                None => (AllowedWays::from_start(&self.from_start), Vec::new()),
                Some(wait) => self.ways_behind(wait, before, hypers)?,
            };
            stages.push(Stage::new(&self.graph, wait, sites, places, &through, ways)?);
        }
        Some(stages)
    }

    /// The sites of a step's label, and their nodes.
    fn sites_of(
        &self,
        step: StepId,
        hypers: &HyperTable<'_>,
    ) -> (Vec<(FuncId, SiteKey)>, Vec<NodeId>) {
        let of = &hypers.sequences.steps[step];
        let objectives = &hypers.objectives[of.position];
        let (func, site) = (objectives.function, objectives.labels[of.label].site);
        if site == Site::Start {
            return (Vec::new(), vec![self.start]);
        }
        let keys = self.body(func).map(|body| keys(site, body)).unwrap_or_default();
        let sites: Vec<_> = keys.into_iter().map(|key| (func, key)).collect();
        let places = self.nodes_of(&sites);
        (sites, places)
    }

    /// The ways that a passage allows from the label before it, and the nodes that it requires.
    fn ways_behind(
        &self,
        wait: WaitId,
        before: &[NodeId],
        hypers: &HyperTable<'_>,
    ) -> Option<(AllowedWays, Vec<(FuncId, lydian_ir::BlockId)>)> {
        let of = &hypers.sequences.waits[wait];
        let sites: Vec<(FuncId, SiteKey)> = of
            .asks
            .iter()
            .filter(|(_, asks)| asks.iter().any(|ask| matches!(ask, PassageRequirement::Never)))
            .filter_map(|((func, site), _)| Some((*func, keys(*site, self.body(*func)?))))
            .flat_map(|(func, keys)| keys.into_iter().map(move |key| (func, key)))
            .collect();
        let closed: FxHashSet<NodeId> = self.nodes_of(&sites).into_iter().collect();
        let step = &hypers.sequences.steps[of.after];
        let func = hypers.objectives[step.position].function;
        if let Passage::By(blocks, _) = &of.passage {
            let through = blocks.iter().map(|block| (func, *block)).collect();
            return Some((AllowedWays::through_nodes(closed), through));
        }
        let extent = match of.scope {
            SequenceScope::Activation => Extent::Activation,
            SequenceScope::Run => Extent::Calls,
        };
        // Of a label with several places, the first represents all.
        let root = *before.first()?;
        Some((AllowedWays::behind(&self.graph, root, extent, closed), Vec::new()))
    }

    /// The nodes of sites.
    fn nodes_of(&self, sites: &[(FuncId, SiteKey)]) -> Vec<NodeId> {
        let funcs: std::collections::BTreeSet<FuncId> =
            sites.iter().map(|(func, _)| *func).collect();
        let mut nodes = Vec::new();
        for func in funcs {
            let Some(body) = self.body(func) else { continue };
            let own = sites.iter().filter(|(of, _)| *of == func).map(|(_, key)| *key);
            let mut places: Vec<_> = places_of(body, own).into_values().flatten().collect();
            places.sort_unstable();
            nodes.extend(
                places.into_iter().filter_map(|(block, position)| {
                    self.graph.node(func, block, position as usize)
                }),
            );
        }
        nodes
    }

    fn body(&self, func: FuncId) -> Option<&'p Body> {
        self.program.functions[func].body.as_ref()
    }
}

/// The positions of a state that is on its way to a label of an objective.
fn positions(stage: &Stage, state: &State) -> SmallVec<[Position; 2]> {
    let Some(wait) = stage.wait else {
        return SmallVec::from_iter([Position { activation: 0, entered: 0 }]);
    };
    let begun = state.notes.goals.underway.0.iter().filter(|begun| begun.wait == wait);
    let position = |begun: &crate::goals::hyper_sequences::SequenceInstance| Position {
        activation: if stage.is_within() { begun.activation } else { 0 },
        entered: begun.entered as usize,
    };
    begun.map(position).collect()
}

/// Whether a state is about to meet a stage's label: control has just come to its site.
fn is_met(state: &State, stage: &Stage) -> bool {
    let evaluated = state.passing.evaluated.map(|(of, one)| SiteKey::Condition(of, one));
    let func = state.frames.last().map(|frame| frame.func);
    let mut sites = state.passing.arrival.into_iter().chain(evaluated);
    sites.any(|site| func.is_some_and(|func| stage.sites.contains(&(func, site))))
}

/// `1/d² + 1/i²`, where each summand is at most 1, as a number of [`POINT_SHIFT`] bits.
fn fraction(distance: u32, since: u64) -> u64 {
    let inverse_square = |number: f64| 1.0 / (number.max(1.0) * number.max(1.0));
    let sum = inverse_square(f64::from(distance)) + inverse_square(since as f64);
    (sum / 2.0 * ((1u64 << POINT_SHIFT) - 1) as f64) as u64
}
