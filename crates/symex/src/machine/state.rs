//! A state: one path prefix. Forking copies a few small vectors; memory and lower frames are
//! shared.

use std::fmt::Debug;
use std::sync::Arc;

use lydian_base::{EntityId, Span};
use lydian_eval::Kleene;
use lydian_inputs::{Cursor, ExternalPlan};
use lydian_ir::device::{DEVICE_READ, INTERRUPT};
use lydian_ir::{BlockId, Body, ConditionId, DecisionId, ExprId, FuncId, LocalId};
use lydian_smt::{BinOp, Model, Node, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::machine::calls::first_run::{FirstRun, RecordedCall};
use crate::machine::calls::statics::CallStart;
use crate::machine::decision_log::DecisionLog;
use crate::machine::memory::{
    AddressTarget, Candidate, Expansion, Facts, Knowledge, Memory, ObjectId, Offset,
};
use crate::machine::program::site::ProgramPoint;
use crate::machine::program::site::{ObserverId, SiteKey};
use crate::machine::reports::undetermined::Dependences;

/// The value of a condition in the last evaluation of its decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ConditionValue {
    /// The condition was not reached.
    NotReached,
    /// The path took this side.
    Is(bool),
    /// The path stands for several ways. `reached` is the condition under which it was reached, and
    /// `value` its value there.
    Either { reached: Term, value: Term },
}

impl ConditionValue {
    /// Whether the path stands for several ways.
    pub(crate) const fn is_merged(&self) -> bool {
        matches!(self, Self::Either { .. })
    }
}

/// The values of mutants of a condition, just before it is evaluated.
#[derive(Debug, PartialEq)]
pub(crate) struct MutantValues {
    /// A number that differs for each list of values.
    pub(crate) number: u32,
    pub(crate) values: Box<[(ExprId, Kleene)]>,
}

impl MutantValues {
    /// The value of a mutant, if it is one of these.
    pub(crate) fn value(&self, mutant: ExprId) -> Option<Kleene> {
        self.values.iter().find(|(expr, _)| *expr == mutant).map(|(_, value)| *value)
    }
}

/// Labels that control passes, to be looked at.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PassedSite {
    /// The labels of a site. Their predicates are yet to be evaluated.
    Site(SiteKey),
    /// A label with an evaluated predicate, which surely holds on the inputs of the path that
    /// satisfy `holds`.
    Where { site: SiteKey, goal: ObserverId, holds: Term },
}

/// The last evaluation of a decision in one activation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct DecisionEvent {
    pub(crate) decision: DecisionId,
    /// The value of each condition.
    pub(crate) values: SmallVec<[ConditionValue; 4]>,
    /// The values of mutants of conditions that were reached, evaluated just before.
    pub(crate) mutants: SmallVec<[(ConditionId, Arc<MutantValues>); 1]>,
}

/// Whether an evaluation of a decision begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventPhase {
    /// It begins with the condition that is evaluated now.
    Begins,
    /// It began earlier.
    Continues,
}

/// The destination of the result of a call.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReturnTo {
    /// The register of a scalar.
    pub(crate) register: Option<LocalId>,
    /// The address of a struct or union, and its size in bytes.
    pub(crate) memory: Option<(Term, u64)>,
}

/// A place in an object at which volatile memory was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct VolatilePlace {
    object: ObjectId,
    /// The first byte; `None` where that depends on the input.
    start: Option<i64>,
    size: u64,
}

impl VolatilePlace {
    /// `size` bytes of an object that an address may lie in.
    pub(crate) const fn of(candidate: &Candidate, size: u64) -> Self {
        let start = match candidate.offset {
            Offset::Known(start) => Some(start),
            Offset::Scaled(_) => None,
        };
        Self { object: candidate.object, start, size }
    }

    /// Whether two places have bytes in common, as far as is known.
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
    /// The position of the next statement in the block; the terminator comes after the last.
    pub(crate) next: usize,
    /// Whether the labels just before it were already looked at.
    pub(crate) sites_done: bool,
    /// The values of register locals.
    pub(crate) registers: Vec<Option<Term>>,
    /// The objects of memory locals that are alive, up to the last local with one.
    pub(crate) objects: Vec<Option<ObjectId>>,
    /// Objects that were made while it ran and live at most until it returns.
    pub(crate) made: SmallVec<[ObjectId; 2]>,
    /// The address of its variable arguments; 0 where it takes none.
    pub(crate) variable: u64,
    /// A number that no other activation of the path has.
    pub(crate) serial: u64,
    pub(crate) events: SmallVec<[DecisionEvent; 1]>,
    /// How often the path decided to stay in a loop, by the block of the branch.
    pub(crate) loops: SmallVec<[(BlockId, u32); 2]>,
    pub(crate) return_to: ReturnTo,
    /// Whether control just came to the block.
    pub(crate) arrived: bool,
    /// Whether a handler of interrupts began before the statement, a volatile read.
    pub(crate) interrupted: bool,
}

/// The knowledge about the inputs that take a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct PathCondition {
    /// The path condition: Booleans without `And` at their top.
    pub(crate) facts: Facts,
    /// The targets of addresses without structure that the path was split on.
    pub(crate) resolved: FxHashMap<Term, AddressTarget>,
    /// The possible targets of pointers of the inputs that the path followed.
    pub(crate) expanded: Arc<FxHashMap<Term, Arc<Expansion>>>,
}

/// Sites that control passed and that were not looked at yet.
#[derive(Clone, Debug, Default)]
pub(crate) struct Passing {
    /// The condition that was just evaluated.
    pub(crate) evaluated: Option<(DecisionId, ConditionId)>,
    /// The site that control reached when the state was made.
    pub(crate) arrival: Option<SiteKey>,
    /// Labels of the site that control just passed, to be looked at before anything else.
    pub(crate) queue: SmallVec<[PassedSite; 4]>,
}

/// The labels that a state's model is to cover.
#[derive(Clone, Debug, Default)]
pub(crate) struct Claims {
    /// Labels that the model covers and for which no test was given yet.
    pub(crate) covered: Vec<ObserverId>,
    /// The conditions under which the model covers those labels.
    pub(crate) promises: Vec<Term>,
    /// The same by label, where it is not simply true. Some labels may not be claimed any more.
    pub(crate) conditions: Vec<(ObserverId, Term)>,
    /// Labels that the model was made for at one occurrence, each with the turn of its place on the
    /// path, where each occurrence is augmented.
    pub(crate) transformed: Vec<(ObserverId, u32)>,
    /// Whether to give a test at the path's end even if it covers nothing new.
    pub(crate) keep: bool,
}

/// Inputs that came into being on a path.
#[derive(Clone, Debug)]
pub(crate) struct PathInputs {
    /// The results of undefined functions so far.
    pub(crate) externals: Arc<Vec<Arc<ExternalPlan>>>,
    /// The place for the next input object.
    pub(crate) cursor: Cursor,
    /// The beginning of the call of the function under test.
    pub(crate) began_with: CallStart,
    /// The input objects with invariants that the path supposes.
    pub(crate) met: Arc<SupposedInvariants>,
    /// Places of volatile memory that the path read, each once.
    pub(crate) volatile: Arc<Vec<VolatilePlace>>,
    /// The number of symbols that the path made for undetermined values.
    pub(crate) unknowns: u64,
    /// Whether the path used a pointer with a larger record than it leads to.
    pub(crate) outgrown: bool,
    /// The calls of undefined functions so far, where runs are compared.
    pub(crate) calls: Arc<Vec<RecordedCall>>,
}

/// The progress of a path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Course {
    /// The number of the path in a trace.
    pub(crate) number: u64,
    /// How many of the functions that run in turn (preconditions, then the function under test)
    /// were begun.
    pub(crate) root: usize,
    /// The number of activations that the path began.
    pub(crate) activations: u64,
    /// The number of statements and terminators that it executed.
    pub(crate) steps: u64,
    /// Whether the state only follows its model, to find out what that covers.
    pub(crate) replay: bool,
    /// The evaluation of the state, where it is no path of the program.
    pub(crate) check: Option<Check>,
    /// The value that the last call of the function under test returned.
    pub(crate) result: Option<Term>,
    /// The first run of the path, where this is the second.
    pub(crate) first_run: Option<Arc<FirstRun>>,
}

/// Supposed invariants: their positions, each with the address of an object.
pub(crate) type SupposedInvariants = FxHashSet<(usize, Term)>;

/// The evaluation of an invariant on a state that is no path of the program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Check {
    /// The returned value, once there is one.
    pub(crate) value: Option<Term>,
}

/// The notes of the other parts about a state. They travel with the state, and the machine never
/// looks into them.
pub(crate) trait Notes: Clone + Debug + Default {
    /// The notes for the other side of a branch.
    fn fork(&self) -> Self;

    /// Handles the end of the activation with this number.
    fn leave(&mut self, activation: u64);

    /// Whether a site that control passed still waits to be looked at.
    fn is_waiting(&self) -> bool;
}

/// A path prefix.
#[derive(Clone, Debug)]
pub(crate) struct State<N> {
    /// The activations, outermost first.
    pub(crate) frames: SmallVec<[Arc<Frame>; 4]>,
    pub(crate) memory: Memory,
    /// The path condition.
    pub(crate) path: PathCondition,
    /// An input that takes the path.
    pub(crate) model: Model,
    /// Whether the model may not satisfy the facts yet.
    pub(crate) pending: bool,
    /// How often the solver was asked for a model without an answer.
    pub(crate) tries: u8,
    /// The labels that the model is to cover.
    pub(crate) claims: Claims,
    pub(crate) passing: Passing,
    pub(crate) inputs: PathInputs,
    pub(crate) course: Course,
    /// The undetermined values that the path depends on.
    pub(crate) depends: Dependences,
    /// The first use of the address of one of the program's own objects as a number. Another run
    /// may have other addresses and take another path.
    pub(crate) placed: Option<Span>,
    /// The decision log, from which the state can be replayed.
    pub(crate) log: DecisionLog,
    /// The notes of the other parts.
    pub(crate) notes: N,
}

impl<N: Notes> State<N> {
    /// Whether the function under test has begun; `roots` counts it and the functions before it.
    /// False on a state that is no path of the program.
    pub(crate) const fn has_begun(&self, roots: usize) -> bool {
        self.course.root >= roots && self.course.check.is_none()
    }

    /// The innermost activation.
    pub(crate) fn frame(&self) -> &Frame {
        self.frames.last().expect("a running state has a frame")
    }

    /// Whether a handler of interrupts runs.
    pub(crate) fn is_in_handler(&self) -> bool {
        self.frames.iter().rev().skip(1).any(|frame| frame.interrupted)
    }

    /// The innermost activation, to be changed in this state alone.
    pub(crate) fn frame_mut(&mut self) -> &mut Frame {
        Arc::make_mut(self.frames.last_mut().expect("a running state has a frame"))
    }

    /// The path's knowledge about terms.
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

    /// The number of the path's calls of a function with results that are inputs of the test.
    pub(crate) fn calls_of(&self, function: &str) -> u32 {
        let last = self.inputs.externals.iter().rfind(|call| call.function == function);
        last.map_or(0, |call| call.nth + 1)
    }

    /// How often handlers of interrupts ran on the path.
    pub(crate) fn interrupts(&self) -> usize {
        self.inputs.externals.iter().filter(|entry| entry.function == INTERRUPT).count()
    }

    /// The number of the path's reads in the script at a place.
    pub(crate) fn reads_at(&self, place: &str) -> u32 {
        let is_there = |entry: &&Arc<ExternalPlan>| {
            entry.function == DEVICE_READ && entry.object.as_deref() == Some(place)
        };
        self.inputs.externals.iter().filter(is_there).count() as u32
    }

    /// The number of the path's calls of the function under test after the first.
    pub(crate) fn further_calls(&self) -> u32 {
        self.inputs.externals.iter().filter(|call| call.is_further_call()).count() as u32
    }

    /// The variable arguments of the function under test on the path, in order.
    pub(crate) fn variable_arguments(&self) -> impl Iterator<Item = &ExternalPlan> {
        self.inputs.externals.iter().map(|call| &**call).filter(|call| call.is_variable_argument())
    }

    /// A copy for the other side of a branch, which covers nothing yet.
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

    /// A copy that takes over the claims and promises of this state.
    pub(crate) fn take_claims(&mut self) -> Box<Self> {
        let mut copy = self.fork();
        copy.claims = std::mem::take(&mut self.claims);
        copy
    }

    /// Adds a fact; a conjunction by its parts. Returns false where its negation is a fact.
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
    /// A new activation, with a number that no other of its path has.
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
            arrived: false,
            interrupted: false,
        }
    }

    /// The object of a memory local, if it is alive.
    pub(crate) fn object(&self, local: LocalId) -> Option<ObjectId> {
        self.objects.get(local.index()).copied().flatten()
    }

    /// Notes the object of a memory local when its lifetime begins.
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
        phase: EventPhase,
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
        if phase == EventPhase::Begins {
            event.values.fill(ConditionValue::NotReached);
            event.mutants.clear();
        }
        event
    }

    /// The point of the program at which the activation is.
    pub(crate) const fn point(&self) -> ProgramPoint {
        ProgramPoint { func: self.func, block: self.block, index: self.next }
    }

    /// Goes to the start of a block.
    pub(crate) fn go_to(&mut self, block: BlockId) {
        self.block = block;
        self.next = 0;
        self.sites_done = false;
        self.arrived = true;
        self.interrupted = false;
    }

    /// Goes past the statement that was executed.
    pub(crate) fn advance(&mut self) {
        self.next += 1;
        self.sites_done = false;
        self.interrupted = false;
    }
}
