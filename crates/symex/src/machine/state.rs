//! One path prefix. Forking copies a few small vectors; memory and lower frames are shared.

use std::fmt::Debug;
use std::sync::Arc;

use lydian_base::{EntityId, Span};
use lydian_eval::Kleene;
use lydian_inputs::{Cursor, ExternalPlan};
use lydian_ir::{BlockId, Body, ConditionId, DecisionId, ExprId, FuncId, LocalId};
use lydian_smt::{BinOp, Model, Node, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::machine::decision_log::DecisionLog;
use crate::machine::memory::{
    Candidate, Contents, Expansion, Facts, Knowledge, Memory, ObjectId, Offset, Target,
};
use crate::machine::program::site::{ObserverId, SiteKey};
use crate::machine::reports::undetermined::Dependences;

/// What a condition was in the last evaluation of its decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionValue {
    /// It was not reached.
    NotReached,
    /// The path went this way.
    Is(bool),
    /// The path stands for several ways: where it was reached, and what it was there.
    Either { reached: Term, value: Term },
}

impl ConditionValue {
    /// Whether the path stands for several ways.
    pub(crate) const fn is_merged(&self) -> bool {
        matches!(self, Self::Either { .. })
    }
}

/// Values of mutants of a condition, just before it is evaluated.
#[derive(Debug, PartialEq)]
pub(crate) struct Mutants {
    /// No other list has it.
    pub(crate) number: u32,
    pub(crate) values: Box<[(ExprId, Kleene)]>,
}

impl Mutants {
    /// The value of a mutant, if it is one of these.
    pub(crate) fn value(&self, mutant: ExprId) -> Option<Kleene> {
        self.values.iter().find(|(expr, _)| *expr == mutant).map(|(_, value)| *value)
    }
}

/// Labels that control passes, to be looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PassedSite {
    /// Those of a site. Their predicates are to be evaluated on the state.
    Site(SiteKey),
    /// One that was evaluated, and surely holds on the inputs of the path on which this does.
    Where { site: SiteKey, goal: ObserverId, holds: Term },
}

/// The last evaluation of a decision in one activation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DecisionEvent {
    pub(crate) decision: DecisionId,
    /// For each condition its value.
    pub(crate) values: SmallVec<[ConditionValue; 4]>,
    /// Mutants of conditions that were reached, evaluated just before.
    pub(crate) mutants: SmallVec<[(ConditionId, Arc<Mutants>); 1]>,
}

/// Where the result of a call goes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReturnTo {
    /// A register for a scalar.
    pub(crate) register: Option<LocalId>,
    /// An address for a struct or union, and how many bytes are copied there.
    pub(crate) memory: Option<(Term, u64)>,
}

/// Where in an object volatile memory was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VolatilePlace {
    object: ObjectId,
    /// The first byte; none where that depends on the input.
    start: Option<i64>,
    size: u64,
}

impl VolatilePlace {
    /// So many bytes of an object that an address may lie in.
    pub(crate) const fn of(candidate: &Candidate, size: u64) -> Self {
        let start = match candidate.offset {
            Offset::Known(start) => Some(start),
            Offset::Scaled { .. } => None,
        };
        Self { object: candidate.object, start, size }
    }

    /// Whether two have bytes in common, as far as is known.
    pub(crate) fn meets(&self, other: &Self) -> bool {
        let behind = |a: i64, size: u64, b: i64| a.saturating_add_unsigned(size) > b;
        self.object == other.object
            && self
                .start
                .zip(other.start)
                .is_none_or(|(a, b)| behind(a, self.size, b) && behind(b, other.size, a))
    }
}

/// An activation of a function.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) func: FuncId,
    pub(crate) block: BlockId,
    /// Position of the next statement in the block; the terminator comes after the last.
    pub(crate) next: usize,
    /// Whether the labels just before it were already looked at.
    pub(crate) sites_done: bool,
    /// Values of register locals.
    pub(crate) registers: Vec<Option<Term>>,
    /// Objects of memory locals that are alive, up to the last that had one.
    pub(crate) objects: Vec<Option<ObjectId>>,
    /// Objects that were made while it ran and live at most until it returns.
    pub(crate) made: SmallVec<[ObjectId; 2]>,
    /// The address of its variable arguments; 0 where it takes none.
    pub(crate) variable: u64,
    /// A number that no other activation of the path has.
    pub(crate) serial: u64,
    pub(crate) events: SmallVec<[DecisionEvent; 1]>,
    /// How often the path decided to stay in a loop at a block's branch.
    pub(crate) loops: SmallVec<[(BlockId, u32); 2]>,
    pub(crate) return_to: ReturnTo,
}

/// What is known of the inputs that take a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathCondition {
    /// The path condition: Booleans without `And` at their top.
    pub(crate) facts: Facts,
    /// Addresses without structure that the path was split on.
    pub(crate) resolved: FxHashMap<Term, Target>,
    /// What pointers of the inputs may lead to, where the path looked.
    pub(crate) expanded: Arc<FxHashMap<Term, Arc<Expansion>>>,
}

/// What control passed and nobody looked at yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passing {
    /// The condition that was just evaluated.
    pub(crate) evaluated: Option<(DecisionId, ConditionId)>,
    /// The site that control reached when the state was made.
    pub(crate) arrival: Option<SiteKey>,
    /// Labels of the site that control just passed, to be looked at before anything else.
    pub(crate) queue: SmallVec<[PassedSite; 4]>,
}

/// What a state's model is to cover.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims {
    /// What this model covers and no test was given for yet.
    pub(crate) covered: Vec<ObserverId>,
    /// What makes the model cover those labels.
    pub(crate) promises: Vec<Term>,
    /// Whether to give a test at the path's end even if it covers nothing new.
    pub(crate) keep: bool,
}

/// What inputs of a path came into being on it.
#[derive(Clone, Debug)]
pub(crate) struct PathInputs {
    /// Results of undefined functions so far.
    pub(crate) externals: Arc<Vec<Arc<ExternalPlan>>>,
    /// Where the next input object can go.
    pub(crate) cursor: Cursor,
    /// What the static variables of the function under test had when its call began.
    pub(crate) began_with: Arc<[Contents]>,
    /// The objects of the inputs whose invariants the path supposes.
    pub(crate) met: Arc<SupposedInvariants>,
    /// Places of volatile memory that the path read, each once.
    pub(crate) volatile: Arc<Vec<VolatilePlace>>,
    /// How many symbols it made, each for something else that is not determined.
    pub(crate) unknowns: u64,
    /// Whether it took a pointer for one into a larger record than what that leads to.
    pub(crate) outgrown: bool,
}

/// How far a path has come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Course {
    /// What the path is called in a trace, where one is made.
    pub(crate) number: u64,
    /// How many of the functions that run in turn (preconditions, then the function under test)
    /// were begun.
    pub(crate) root: usize,
    /// How many activations the path began.
    pub(crate) activations: u64,
    /// How many statements and terminators it executed.
    pub(crate) steps: u64,
    /// Whether the state only follows its model, to see what that covers.
    pub(crate) replay: bool,
    /// What the state evaluates, where it is no path of the program's.
    pub(crate) check: Option<Check>,
}

/// Invariants by their positions, each with the address of an object of which a path supposes it.
pub(crate) type SupposedInvariants = FxHashSet<(usize, Term)>;

/// What a state evaluates that is no path of the program's.
#[derive(Clone, Debug, Default)]
pub(crate) struct Check {
    /// What was returned, once it was.
    pub(crate) value: Option<Term>,
}

/// What those who run the machine note of a state. It travels with the state, and the machine never looks
/// into it.
pub(crate) trait Notes: Clone + Debug + Default {
    /// For the other side of a branch.
    fn fork(&self) -> Self;

    /// An activation ends, which has this number on its path.
    fn leave(&mut self, activation: u64);

    /// Whether something that control passed still waits to be looked at.
    fn is_waiting(&self) -> bool;
}

/// A path prefix.
#[derive(Clone, Debug)]
pub(crate) struct State<N> {
    /// Activations, outermost first.
    pub(crate) frames: SmallVec<[Arc<Frame>; 4]>,
    pub(crate) memory: Memory,
    /// The path condition.
    pub(crate) path: PathCondition,
    /// An input that takes the path.
    pub(crate) model: Model,
    /// Whether the model may not satisfy the facts yet.
    pub(crate) pending: bool,
    /// How often the solver was asked for a model and had no answer.
    pub(crate) tries: u8,
    /// What it is to cover.
    pub(crate) claims: Claims,
    pub(crate) passing: Passing,
    pub(crate) inputs: PathInputs,
    pub(crate) course: Course,
    /// What the path depends on that the program does not determine.
    pub(crate) depends: Dependences,
    /// Where the path first used where an object of the program's own lies. Numbers say which way it
    /// takes, which may be others on another run.
    pub(crate) placed: Option<Span>,
    /// What makes the state again.
    pub(crate) log: DecisionLog,
    /// What others note of it.
    pub(crate) notes: N,
}

impl<N: Notes> State<N> {
    /// Whether the function under test has begun, which comes after so many functions but one; not on what
    /// is no path of the program's.
    pub(crate) const fn has_begun(&self, roots: usize) -> bool {
        self.course.root >= roots && self.course.check.is_none()
    }

    /// The innermost activation.
    pub(crate) fn frame(&self) -> &Frame {
        self.frames.last().expect("a running state has a frame")
    }

    /// The innermost activation, to be changed in this state alone.
    pub(crate) fn frame_mut(&mut self) -> &mut Frame {
        Arc::make_mut(self.frames.last_mut().expect("a running state has a frame"))
    }

    /// What the path knows.
    pub(crate) fn knowledge(&self) -> Knowledge<'_> {
        Knowledge {
            facts: Some(&self.path.facts),
            resolved: &self.path.resolved,
            derived: None,
            inputs: None,
            expanded: Some(&self.path.expanded),
        }
    }

    /// Notes that the path may have read volatile memory at a place.
    pub(crate) fn note_volatile(&mut self, place: VolatilePlace) {
        if !self.inputs.volatile.contains(&place) {
            Arc::make_mut(&mut self.inputs.volatile).push(place);
        }
    }

    /// How many calls of a function the path made whose results are the test's.
    pub(crate) fn calls_of(&self, function: &str) -> u32 {
        let last = self.inputs.externals.iter().rfind(|call| call.function == function);
        last.map_or(0, |call| call.nth + 1)
    }

    /// How many calls of the function under test the path has after the first.
    pub(crate) fn further_calls(&self) -> u32 {
        self.inputs.externals.iter().filter(|call| call.is_further_call()).count() as u32
    }

    /// The variable arguments that the function under test has on the path, in order.
    pub(crate) fn variable_arguments(&self) -> impl Iterator<Item = &ExternalPlan> {
        self.inputs.externals.iter().map(|call| &**call).filter(|call| call.is_variable_argument())
    }

    /// A copy for the other side of a branch, that covers nothing yet.
    pub(crate) fn fork(&self) -> Box<Self> {
        let PathCondition { facts, resolved, expanded } = &self.path;
        Box::new(Self {
            frames: self.frames.clone(),
            memory: self.memory.clone(),
            path: PathCondition {
                facts: facts.fork(),
                resolved: resolved.clone(),
                expanded: expanded.clone(),
            },
            model: self.model.clone(),
            pending: self.pending,
            tries: 0,
            claims: Claims::default(),
            passing: self.passing.clone(),
            inputs: self.inputs.clone(),
            course: self.course.clone(),
            depends: self.depends.clone(),
            placed: self.placed,
            log: self.log.clone(),
            notes: self.notes.fork(),
        })
    }

    /// A copy that takes over what the model covers, and that it is to go on doing so.
    pub(crate) fn take_claims(&mut self) -> Box<Self> {
        let mut copy = self.fork();
        copy.claims = std::mem::take(&mut self.claims);
        copy
    }

    /// Adds a fact; conjunctions by their parts. False where it contradicts a fact in so many
    /// words.
    pub(crate) fn add_fact(&mut self, pool: &mut TermPool, fact: Term) -> bool {
        let mut waiting: SmallVec<[Term; 8]> = SmallVec::new();
        waiting.push(fact);
        while let Some(fact) = waiting.pop() {
            match self.knowledge().known(pool, fact) {
                Some(true) => continue,
                Some(false) => return false,
                None => {}
            }
            match pool.node(fact) {
                Node::Bin(BinOp::And, a, b) => waiting.extend([b, a]),
                _ => self.path.facts.push(fact),
            }
        }
        true
    }
}

impl Frame {
    /// An activation that begins, with a number that no other of its path has.
    pub(crate) fn new(func: FuncId, body: &Body, serial: u64, return_to: ReturnTo) -> Self {
        Self {
            func,
            block: body.entry,
            next: 0,
            sites_done: false,
            registers: vec![None; body.locals.len()],
            objects: Vec::new(),
            made: SmallVec::new(),
            variable: 0,
            serial,
            events: SmallVec::new(),
            loops: SmallVec::new(),
            return_to,
        }
    }

    /// The object of a memory local, if it is alive.
    pub(crate) fn object(&self, local: LocalId) -> Option<ObjectId> {
        self.objects.get(local.index()).copied().flatten()
    }

    /// Notes the object of a memory local whose lifetime begins.
    pub(crate) fn set_object(&mut self, local: LocalId, object: ObjectId) {
        if self.objects.len() <= local.index() {
            self.objects.resize(local.index() + 1, None);
        }
        self.objects[local.index()] = Some(object);
    }

    /// The last evaluation of a decision, if there was one.
    pub(crate) fn event(&self, decision: DecisionId) -> Option<&DecisionEvent> {
        self.events.iter().find(|event| event.decision == decision)
    }

    /// The last evaluation of a decision, to be changed.
    pub(crate) fn event_of(&mut self, decision: DecisionId) -> Option<&mut DecisionEvent> {
        self.events.iter_mut().find(|event| event.decision == decision)
    }

    /// The event of a decision; a new one where its evaluation begins or none is known.
    pub(crate) fn event_mut(
        &mut self,
        decision: DecisionId,
        conditions: usize,
        begins: bool,
    ) -> &mut DecisionEvent {
        let at = self.events.iter().position(|event| event.decision == decision);
        let at = at.unwrap_or_else(|| {
            self.events.push(DecisionEvent {
                decision,
                values: SmallVec::from_elem(ConditionValue::NotReached, conditions),
                mutants: SmallVec::new(),
            });
            self.events.len() - 1
        });
        let event = &mut self.events[at];
        if begins {
            event.values.fill(ConditionValue::NotReached);
            event.mutants.clear();
        }
        event
    }

    /// Goes to the start of a block.
    pub(crate) fn go_to(&mut self, block: BlockId) {
        self.block = block;
        self.next = 0;
        self.sites_done = false;
    }

    /// Goes past the statement that was executed.
    pub(crate) fn advance(&mut self) {
        self.next += 1;
        self.sites_done = false;
    }
}
