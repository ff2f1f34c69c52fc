//! The sequences of hyperlabels, followed along paths ([002] V-A: sequence).
//!
//! A state carries the sequence instances under way on its path. Each has a condition and the
//! values bound by its labels. The condition says that the labels so far held and that the passages
//! since then are as asked; mostly it is simply true. At the site of a last label, this condition
//! and that of the label make one question about the path. It is decided as a label's question is
//! ([`crate::goals::predicates`]): by the model, by a query that keeps what the model covers, or
//! later.
//!
//! Sequences share their beginnings: the pairs of one definition wait for all its uses together,
//! and paths of nodes make a tree. An instance that waits for nothing that is left is dropped.
//!
//! An event is one passage of one site, as in [`lydian_objective::trace`], which defines the
//! meaning of sequences. Several sites may lie at one point of the program. They are passed in the
//! order block, statement, roots.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::rc::Rc;
use std::sync::Arc;

use lydian_base::EntityId;
use lydian_ir::{BlockId, FuncId, Program};
use lydian_objective::dataflow::Variable;
use lydian_objective::hyper::{
    Atom, Binding, CellDefinition, Formula, Passage, SequenceScope as Extent,
};
use lydian_objective::paths::NodeGraph;
use lydian_objective::{FunctionObjectives, LabelId, SequenceId, Site};
use lydian_smt::Term;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::goals::hyper_formula::Number;
use crate::goals::labels::{GoalId, LabelTable, keys};
use crate::machine::program::site::SiteKey;

pub(crate) type WaitId = usize;
pub(crate) type StepId = usize;

/// The next label of a sequence.
pub(crate) struct Step {
    /// What waited for this step; `None` for a first label.
    pub(crate) from: Option<WaitId>,
    /// The position of its function among the objectives.
    pub(crate) position: usize,
    pub(crate) label: LabelId,
    pub(crate) bindings: Vec<Binding>,
    /// What waits after this step.
    pub(crate) waits: Vec<WaitId>,
    /// The sequences with this as their last label.
    pub(crate) ends: Vec<GoalId>,
    /// All sequences that contain this step.
    pub(crate) goals: Vec<GoalId>,
}

/// A beginning of sequences that waits for the next label.
pub(crate) struct Wait {
    pub(crate) scope: Extent,
    pub(crate) passage: Passage,
    pub(crate) asks: PassageRequirements,
    /// The names of the values bound so far.
    pub(crate) names: Vec<String>,
    /// The step after which it waits.
    pub(crate) after: StepId,
    /// All sequences that continue from here.
    pub(crate) goals: Vec<GoalId>,
}

/// The requirement of a passage at a site that control passes.
#[derive(Clone)]
pub(crate) enum PassageRequirement {
    /// Control does not pass the site.
    Never,
    /// A write through a pointer does not hit a variable.
    NoHit(Variable),
    /// A formula holds.
    Holds(Formula),
    /// None; the cells written at the site are recorded.
    Writes(CellDefinition),
}

/// The sites of sequences at one place of a function, in the order in which they are passed.
type SitesHere = Rc<Vec<SequenceSite>>;

#[derive(Clone)]
pub(crate) struct SequenceSite {
    pub(crate) site: Site,
    /// The steps with labels here, first ones and others.
    pub(crate) steps: Vec<StepId>,
    /// The block that begins here, if it is a node of the function's graph of nodes.
    pub(crate) node: Option<BlockId>,
}

/// The sequences that hyperlabels are made of.
#[derive(Default)]
pub(crate) struct SequenceTable {
    pub(crate) steps: Vec<Step>,
    pub(crate) waits: Vec<Wait>,
    pub(crate) sites: FxHashMap<(FuncId, SiteKey), SitesHere>,
    /// The first labels that stand at the start of the run.
    pub(crate) starts: Vec<StepId>,
    known_steps: FxHashMap<StepKey, StepId>,
    known_waits: FxHashMap<(StepId, Passage), WaitId>,
    known_asks: FxHashMap<Passage, PassageRequirements>,
    /// The functions with sites that record entered nodes.
    with_nodes: FxHashSet<FuncId>,
}

/// The identity of a step.
#[derive(Clone, PartialEq, Eq, Hash)]
struct StepKey {
    /// What waited for it.
    from: Option<WaitId>,
    /// Whether the sequence is one of a run.
    of_run: bool,
    func: FuncId,
    label: LabelId,
    bindings: Vec<Binding>,
}

/// The requirements of a passage, by function and site.
type PassageRequirements = Rc<FxHashMap<(FuncId, Site), Vec<PassageRequirement>>>;

/// A sequence instance: a beginning of sequences that is under way on a path.
#[derive(Clone, Debug)]
pub(crate) struct SequenceInstance {
    pub(crate) wait: WaitId,
    /// The activation that it belongs to; 0 for a sequence of the run.
    pub(crate) activation: u64,
    /// The condition that everything so far is as asked.
    pub(crate) cond: Term,
    /// The values bound so far.
    pub(crate) bound: SmallVec<[Number; 2]>,
    /// The writes to cells, where the sequence is about cells.
    pub(crate) cells: Option<Arc<Cells>>,
    /// How many nodes of its path were entered.
    pub(crate) entered: u32,
}

/// Writes to the cells of a variable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Cells {
    /// The writes of the definition that began the sequence, where that has no address of its own.
    pub(crate) first: Vec<CellWrite>,
    pub(crate) since: Vec<CellWrite>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum CellWrite {
    /// This many bytes from an address on.
    Bytes(Term, u64),
    /// All cells, under a condition.
    All(Term),
}

/// The sequence instances that are under way on a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct SequencesUnderWay(pub(crate) Arc<Vec<SequenceInstance>>);

impl SequencesUnderWay {
    /// Whether both are the same object, or both empty.
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.is_empty() && other.0.is_empty()
    }

    /// The instances with terms of another pool. `of` translates a term.
    pub(crate) fn with_terms(&self, of: &mut impl FnMut(Term) -> Term) -> Self {
        Self(Arc::new(self.0.iter().map(|begun| begun.with_terms(of)).collect()))
    }

    /// Drops the instances of an activation that ends.
    pub(crate) fn leave(&mut self, activation: u64) {
        if self.0.iter().any(|begun| begun.activation == activation) {
            Arc::make_mut(&mut self.0).retain(|begun| begun.activation != activation);
        }
    }
}

impl SequenceInstance {
    /// A number for it, by which instances of the same sequence are told apart.
    pub(crate) fn key(&self) -> u64 {
        let mut key = DefaultHasher::new();
        (self.wait, self.cond, self.entered).hash(&mut key);
        self.bound.hash(&mut key);
        self.cells.hash(&mut key);
        key.finish()
    }

    fn with_terms(&self, of: &mut impl FnMut(Term) -> Term) -> Self {
        let cells = self.cells.as_ref().map(|cells| {
            let mut writes = |writes: &[CellWrite]| -> Vec<CellWrite> {
                writes.iter().map(|write| write.with_terms(of)).collect()
            };
            Arc::new(Cells { first: writes(&cells.first), since: writes(&cells.since) })
        });
        Self {
            cells,
            cond: of(self.cond),
            bound: self.bound.iter().map(|number| number.with_terms(of)).collect(),
            ..*self
        }
    }
}

impl CellWrite {
    fn with_terms(&self, of: &mut impl FnMut(Term) -> Term) -> Self {
        match self {
            Self::Bytes(start, bytes) => Self::Bytes(of(*start), *bytes),
            Self::All(holds) => Self::All(of(*holds)),
        }
    }
}

/// A sequence that a path covers under a condition.
pub(crate) struct CoveredStep {
    /// The step that completes it.
    pub(crate) step: StepId,
    pub(crate) holds: Term,
    /// The values that its labels bound.
    pub(crate) bound: SmallVec<[Number; 2]>,
}

impl SequenceTable {
    /// Adds a label with its bindings, as a sequence of a single step.
    pub(crate) fn add_atom(
        &mut self,
        program: &Program,
        objectives: &[FunctionObjectives],
        (position, atom): (usize, &Atom),
        goal: GoalId,
        labels: &mut LabelTable<'_>,
    ) -> StepId {
        let site = objectives[position].labels[atom.label].site;
        let step = self.step(program, None, (false, atom), position, site);
        self.steps[step].goals.push(goal);
        if let Some(body) = &program.functions[atom.function].body {
            for key in keys(site, body) {
                labels.ends_at(goal, atom.function, key);
            }
        }
        step
    }

    /// Adds a sequence of a function. Returns the step that completes it, or the reason why it
    /// cannot be followed.
    pub(crate) fn add(
        &mut self,
        program: &Program,
        objectives: &[FunctionObjectives],
        at: (usize, SequenceId),
        goal: GoalId,
        labels: &mut LabelTable<'_>,
    ) -> Result<StepId, String> {
        let sequence = &objectives[at.0].sequences[at.1];
        let mut positions = Vec::new();
        for atom in &sequence.atoms {
            let position = objectives.iter().position(|of| of.function == atom.function);
            positions.push(position.ok_or("a label of a function that is not explored")?);
        }
        let (mut from, mut names, mut last) = (None, Vec::new(), 0);
        for (index, (atom, position)) in sequence.atoms.iter().zip(positions).enumerate() {
            let site = objectives[position].labels[atom.label].site;
            let of_run = sequence.scope == Extent::Run;
            let step = self.step(program, from, (of_run, atom), position, site);
            last = step;
            self.steps[step].goals.push(goal);
            names.extend(atom.bindings.iter().map(|binding| binding.name.clone()));
            match sequence.passages.get(index) {
                Some(passage) => {
                    let wait =
                        self.wait(program, (step, atom.function), sequence.scope, passage, &names);
                    self.waits[wait].goals.push(goal);
                    from = Some(wait);
                }
                None => {
                    self.steps[step].ends.push(goal);
                    if let Some(body) = &program.functions[atom.function].body {
                        for key in keys(site, body) {
                            labels.ends_at(goal, atom.function, key);
                        }
                    }
                }
            }
        }
        Ok(last)
    }

    fn step(
        &mut self,
        program: &Program,
        from: Option<WaitId>,
        (of_run, atom): (bool, &Atom),
        position: usize,
        site: Site,
    ) -> StepId {
        let (func, label, bindings) = (atom.function, atom.label, atom.bindings.clone());
        let key = StepKey { from, of_run, func, label, bindings };
        if let Some(known) = self.known_steps.get(&key) {
            return *known;
        }
        let id = self.steps.len();
        self.steps.push(Step {
            from,
            position,
            label: atom.label,
            bindings: atom.bindings.clone(),
            waits: Vec::new(),
            ends: Vec::new(),
            goals: Vec::new(),
        });
        self.known_steps.insert(key, id);
        match site {
            Site::Start if from.is_none() => self.starts.push(id),
            _ => self.tell(program, atom.function, site, |passed| passed.steps.push(id)),
        }
        id
    }

    fn wait(
        &mut self,
        program: &Program,
        (step, func): (StepId, FuncId),
        scope: Extent,
        passage: &Passage,
        names: &[String],
    ) -> WaitId {
        let key = (step, passage.clone());
        if let Some(known) = self.known_waits.get(&key) {
            return *known;
        }
        let asks = match self.known_asks.get(passage) {
            Some(known) => Rc::clone(known),
            None => self.asks(program, passage),
        };
        let of_nodes = matches!(passage, Passage::Adjacent | Passage::By(..));
        if of_nodes {
            self.tell_nodes(program, func);
        }
        let id = self.waits.len();
        let (passage, names) = (passage.clone(), names.to_vec());
        self.waits.push(Wait { scope, passage, asks, names, after: step, goals: Vec::new() });
        self.known_waits.insert(key, id);
        self.steps[step].waits.push(id);
        id
    }

    fn asks(&mut self, program: &Program, passage: &Passage) -> PassageRequirements {
        let mut asks: FxHashMap<(FuncId, Site), Vec<PassageRequirement>> = FxHashMap::default();
        let mut ask = |place: (FuncId, Site), ask: PassageRequirement| {
            asks.entry(place).or_default().push(ask)
        };
        match passage.otherwise() {
            Passage::Free | Passage::Adjacent | Passage::By(..) => {}
            Passage::Obliged(duties) => {
                for duty in duties {
                    let holds = match duty.holds {
                        Formula::Number(0) => PassageRequirement::Never,
                        ref formula => PassageRequirement::Holds(formula.clone()),
                    };
                    ask((duty.function, duty.site), holds);
                }
            }
            Passage::Clear(of) => {
                of.places.iter().for_each(|place| ask(*place, PassageRequirement::Never));
                if let Some(variable) = of.of {
                    of.indirect
                        .iter()
                        .for_each(|place| ask(*place, PassageRequirement::NoHit(variable)));
                }
            }
            Passage::Cell(same) => {
                let places = same.of.places.iter();
                places
                    .for_each(|place| ask(place.place, PassageRequirement::Writes(place.clone())));
            }
        }
        for (func, site) in asks.keys() {
            self.tell(program, *func, *site, |_| {});
        }
        let asks = Rc::new(asks);
        self.known_asks.insert(passage.clone(), Rc::clone(&asks));
        asks
    }

    /// Adds a requirement at a site of a function.
    fn tell(
        &mut self,
        program: &Program,
        func: FuncId,
        site: Site,
        change: impl Fn(&mut SequenceSite),
    ) {
        let Some(body) = &program.functions[func].body else { return };
        for key in keys(site, body) {
            let passed = Rc::make_mut(self.sites.entry((func, key)).or_default());
            let place = match passed.binary_search_by_key(&order(site), |known| order(known.site)) {
                Ok(place) => place,
                Err(place) => {
                    passed.insert(place, SequenceSite { site, steps: Vec::new(), node: None });
                    place
                }
            };
            change(&mut passed[place]);
        }
    }

    fn tell_nodes(&mut self, program: &Program, func: FuncId) {
        if !self.with_nodes.insert(func) {
            return;
        }
        let Some(body) = &program.functions[func].body else { return };
        for node in NodeGraph::of(body).nodes {
            let head = node.head;
            self.tell(program, func, Site::Block(head), |passed| passed.node = Some(head));
        }
    }

    /// Whether there is anything to do where control passes a place.
    pub(crate) fn watches(&self, func: FuncId, key: SiteKey) -> bool {
        !self.sites.is_empty() && self.sites.contains_key(&(func, key))
    }
}

/// The order in which sites at one place are passed.
fn order(site: Site) -> (u8, usize) {
    match site {
        Site::Block(block) => (0, block.index()),
        Site::Stmt(stmt) => (1, stmt.index()),
        Site::Root(root) => (2, root.index()),
        _ => (3, 0),
    }
}
