//! The machine: a state, and the effect of one step of the program on it.
//!
//! A [`State`](state::State) is one path prefix: frames, memory, the facts that inputs of the path
//! satisfy, and a model, which is one input that takes the path. A state is *pending* while its
//! model does not satisfy its last fact; the solver then has to give another model.
//!
//! At a branch the model decides one side without a query; the other side becomes a pending state.
//! Expressions are evaluated before anything changes. So a statement with an address that must be
//! decided first can be abandoned, and executed again after the path was split.
//!
//! The machine knows no objective and no search. A step leaves forks, and paths that ended beside
//! the one that is followed, in the [`Outbox`] for the exploration.

pub(crate) mod asking;
pub(crate) mod calls;
pub(crate) mod decision_log;
pub(crate) mod devices;
pub(crate) mod ending;
pub(crate) mod evaluation;
pub(crate) mod inputs;
pub(crate) mod interrupt;
pub(crate) mod interrupts;
pub(crate) mod libc;
pub mod memory;
pub(crate) mod narrow;
pub(crate) mod program;
pub(crate) mod questions;
pub(crate) mod reports;
pub(crate) mod scope;
pub(crate) mod setup;
pub(crate) mod state;
pub(crate) mod step;
pub(crate) mod traps;

use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

use lydian_base::Budget;
use lydian_inputs::globals::can_be_input;
use lydian_inputs::learned::PointerObservations;
use lydian_inputs::{InputPlan, InputSpec, plan};
use lydian_ir::{FuncId, GlobalId, GlobalInit, Program};
use lydian_smt::{Evaluator, Model, Solver, Sort, Term, TermPool, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::config::{Config, SecondRun};
use crate::limits::Cut;
use crate::machine::program::site::ProgramPoint;
use calls::first_run;
use calls::statics::Statics;
use decision_log::DecisionLog;
use ending::CallEnd;
use inputs::pointer_uses::PointerUses;
use libc::character_tables::CharacterTables;
use memory::{Memory, in_region};
use program::context::{Context, TouchedSymbols};
use program::control_flow::ControlFlow;
use questions::{Feasible, Questions};
use reports::bounds_monitor::BoundsMonitor;
use reports::clock::TermClock;
use reports::omissions::Omissions;
use reports::outbox::Outbox;
use reports::statistics::Statistics;
use reports::undetermined::Dependences;
use reports::undetermined::UndeterminedReads;
use setup::{ExploreError, lay_out};
use state::{Claims, Course, Notes, Passing, PathCondition, PathInputs, State};
use traps::crashes::{Crash, CrashPlace};

/// Above this number, preferences of inputs are met all together or not at all.
const MOST_PREFERENCES: usize = 64;

/// By call and position of an argument.
pub(crate) type FollowedValues = FxHashMap<ProgramPoint, u32>;

/// The input of a machine: the program and the options.
pub(crate) struct Setting<'a> {
    pub(crate) program: &'a Program,
    /// The function under test.
    pub(crate) func: FuncId,
    /// The specification of its inputs.
    pub(crate) spec: &'a InputSpec,
    pub(crate) config: &'a Config,
    pub(crate) budget: &'a Budget,
    /// Globals that objectives read, besides those that the program's own code names.
    pub(crate) observed: BTreeSet<GlobalId>,
    /// Functions with objectives, besides those that calls may lead to.
    pub(crate) functions: Vec<FuncId>,
}

/// Executes steps of states.
pub(crate) struct Machine<'p, 'e, N> {
    /// The solver, and how questions are asked.
    pub(crate) questions: Questions<'e>,
    pub(crate) context: Context<'p>,
    pub(crate) pool: TermPool,
    pub(crate) evaluator: Evaluator,
    pub(crate) statistics: Statistics,
    crashes: FxHashMap<CrashPlace, Crash>,
    /// The functions that a path calls in turn: the preconditions, then the function under test.
    pub(crate) roots: Vec<FuncId>,
    /// Memory as the inputs first are, without lazy objects.
    first_memory: Memory,
    /// Whether any path began the function under test.
    pub(crate) begun: bool,
    /// For an address, the base and the offset that it is the sum of.
    derived: FxHashMap<Term, (Term, Term)>,
    /// The types that pointers of the inputs are used with.
    uses: PointerUses,
    /// At calls of functions without a term: how many values of arguments were followed.
    followed_values: FollowedValues,
    /// The character tables of glibc, where the program uses them.
    tables: Option<CharacterTables>,
    /// The bounds on inputs that paths met.
    pub(crate) bounds: BoundsMonitor,
    pub(crate) omissions: Omissions,
    pub(crate) plan: InputPlan,
    /// The arguments of the function under test.
    arguments: Vec<Term>,
    /// The static variables of the function under test, where runs of several calls are followed.
    statics: Statics,
    control_flow: Rc<ControlFlow>,
    pub(crate) outbox: Outbox<N>,
    /// The first state of all paths.
    start: Option<Box<State<N>>>,
    pub(crate) term_clock: TermClock,
    /// The number of executions of inline assembly, which names their results.
    havocs: u64,
    /// The places where undetermined values were read.
    reads: UndeterminedReads,
    /// The calls within which paths ended.
    pub(crate) ends: BTreeSet<CallEnd>,
    /// Whether two runs of a path differ on some input, where runs are compared.
    pub(crate) runs_differ: bool,
}

/// A new machine, with the data for its first state.
pub(crate) struct MachineSetUp<'p, 'e, N> {
    pub(crate) machine: Machine<'p, 'e, N>,
    /// The symbols that calls may touch.
    pub(crate) touched: TouchedSymbols,
    /// The first memory.
    pub(crate) memory: Memory,
}

impl<'p, 'e, N: Notes> Machine<'p, 'e, N> {
    /// Makes a machine.
    pub(crate) fn set_up(
        setting: Setting<'e>,
        solver: &'e mut dyn Solver,
    ) -> Result<MachineSetUp<'p, 'e, N>, ExploreError>
    where
        'e: 'p,
    {
        let Setting { program, func, spec, config, budget, mut observed, functions } = setting;
        let function = &program.functions[func];
        if function.body.is_none() {
            return Err(ExploreError::NoBody(function.name.clone()));
        }
        // An occurrence is one of a way through the program, not of several ways at once.
        let each = config.augmentation.is_some_and(|augmentation| augmentation.each_occurrence);
        let config = Config { merge: config.merge && !each, ..config.clone() };
        let mut context = Context::new(program, config.clone(), spec.clone());
        let mut pool = TermPool::with_addresses(in_region);
        let mut stated = context.stated_functions(func);
        stated.extend(config.second_run.and_then(SecondRun::function));
        stated.extend(config.interrupts.handlers.iter().map(|handler| handler.function));
        observed.extend(possible_inputs_of(program, &stated));
        let looking: Vec<FuncId> = [func].into_iter().chain(stated.iter().copied()).collect();
        context.look_at(&TouchedSymbols::by(program, &looking, observed.iter().copied()));
        let plan = plan(&mut pool, program, func, spec, &context, &observed)?;
        let mut roots = plan.preconditions.clone();
        roots.push(func);
        let planned = plan.globals.iter().map(|global| global.global);
        let all: Vec<FuncId> = roots.iter().chain(&stated).copied().collect();
        let touched = TouchedSymbols::by(program, &all, planned.chain(observed));
        context.note_planned(&plan);
        let mut memory = Memory::new();
        let arguments = lay_out(&context, &plan, &touched, &mut pool, &mut memory);
        let arguments = arguments.ok_or(ExploreError::NoRoom)?;
        first_run::set_up(config.second_run, &context, &mut memory);
        let tables = CharacterTables::make(program, &mut pool, &mut memory);
        let control_flow = Rc::new(control_flow_of(program, &touched, functions));
        let mut machine = Self {
            questions: Questions::new(solver, budget, telling_values(&pool, &plan)),
            evaluator: Evaluator::new(),
            derived: FxHashMap::default(),
            uses: PointerUses::default(),
            statistics: Statistics::default(),
            crashes: FxHashMap::default(),
            followed_values: FxHashMap::default(),
            roots,
            bounds: BoundsMonitor::default(),
            omissions: Omissions::default(),
            control_flow,
            outbox: Outbox::default(),
            start: None,
            term_clock: TermClock::new(config.measure_terms),
            first_memory: memory.clone(),
            begun: false,
            havocs: 0,
            reads: UndeterminedReads::default(),
            ends: BTreeSet::new(),
            runs_differ: false,
            context,
            pool,
            plan,
            arguments,
            statics: Statics::default(),
            tables,
        };
        machine.uses.learned = config.learns.then(Default::default);
        machine.note_inputs(&touched);
        Ok(MachineSetUp { machine, touched, memory })
    }

    /// Notes the bounds of the inputs, and the assumptions about globals that are no inputs.
    fn note_inputs(&mut self, touched: &TouchedSymbols) {
        self.bounds.add(&self.plan.bounds);
        self.bounds.add_raw_pointers(&self.plan.raw_pointers);
        self.note_unknown_globals(&touched.globals);
        self.note_static_locals(touched);
    }

    /// Notes globals that another file defines. Here they are zero unless they are inputs, so
    /// nothing is infeasible because of their values.
    fn note_unknown_globals(&mut self, touched: &BTreeSet<GlobalId>) {
        for id in touched {
            let global = &self.context.program.globals[*id];
            let is_input = self.plan.globals.iter().any(|planned| planned.global == *id);
            let is_stream = self.context.streams.iter().any(|(holder, _)| holder == id);
            if global.init == GlobalInit::Extern && !is_input && !is_stream {
                let what = format!("the contents of `{}`, which another file defines", global.name);
                self.cut(Cut::Unsupported(what));
            }
        }
    }

    /// The first state of all paths, with a model; `None` where no input meets the specification.
    pub(crate) fn first_state(&mut self, memory: Memory) -> Option<Box<State<N>>> {
        let began_with = self.begin_statics(&memory);
        let mut state = Box::new(State {
            frames: SmallVec::new(),
            memory,
            path: PathCondition::default(),
            model: self.questions.base.clone(),
            pending: false,
            tries: 0,
            claims: Claims::default(),
            passing: Passing::default(),
            inputs: PathInputs {
                externals: Arc::default(),
                cursor: self.plan.cursor,
                began_with,
                met: Arc::default(),
                volatile: Arc::default(),
                unknowns: 0,
                outgrown: false,
                calls: Arc::default(),
            },
            course: Course::default(),
            depends: Dependences::default(),
            placed: None,
            log: DecisionLog::default(),
            notes: N::default(),
        });
        let constraints = self.plan.constraints.clone();
        if self.assume(&mut state, &constraints).is_err() {
            return None;
        }
        self.prefer(&mut state);
        Some(state)
    }

    /// The control flow of the program.
    pub(crate) const fn control_flow(&self) -> &Rc<ControlFlow> {
        &self.control_flow
    }

    /// Memory as the inputs first are, without lazy objects.
    pub(crate) const fn first_memory(&self) -> &Memory {
        &self.first_memory
    }

    /// The arguments of the function under test.
    pub(crate) fn arguments(&self) -> &[Term] {
        &self.arguments
    }

    /// What paths did with the pointers of the inputs, where
    /// [`Config::learns`](crate::Config::learns) asks for it.
    pub(crate) fn take_learned(&mut self) -> PointerObservations {
        self.uses.learned.take().unwrap_or_default()
    }

    /// Whether, since the last call, a path found that a pointer leads to a larger record than
    /// supposed.
    pub(crate) fn take_outgrown(&mut self) -> bool {
        self.uses.take_outgrown()
    }

    /// How many values of arguments were followed at calls of functions without a term.
    pub(crate) const fn followed_values(&self) -> &FollowedValues {
        &self.followed_values
    }

    /// Continues from a state of another machine of the same program. `number` is this machine's
    /// number among several.
    pub(crate) fn begin_as(&mut self, number: usize, followed_values: FollowedValues) {
        self.omissions = Omissions::default();
        self.statistics = Statistics::default();
        self.followed_values = followed_values;
        // Each machine has a range of numbers of its own.
        self.havocs = (number as u64) << 24;
    }

    /// Makes a state the first of all paths.
    pub(crate) fn begin_with(&mut self, first: &State<N>) {
        self.start = Some(Box::new(first.clone()));
    }

    /// The first state of all paths.
    pub(crate) fn start(&self) -> Option<&State<N>> {
        self.start.as_deref()
    }

    /// Finds a first model that meets as many preferences as possible, the one with the largest
    /// weight first.
    fn prefer(&mut self, state: &mut State<N>) {
        let preferences = self.plan.preferences.clone();
        let mut kept = self.pool.tt();
        let all = self.pool.and_all(preferences.iter().copied());
        let mut waiting = vec![all];
        if preferences.len() <= MOST_PREFERENCES {
            waiting.extend(preferences.iter().rev());
            waiting.swap(0, preferences.len());
        }
        while let Some(wish) = waiting.pop() {
            let more = self.pool.and(kept, wish);
            if let Feasible::Yes(model) = self.ask(state, Some(more)) {
                kept = more;
                state.model = model.clone();
                state.pending = false;
                self.questions.base = model;
                if wish == all {
                    break;
                }
            }
        }
    }
}

/// The globals that some functions use and that can be inputs.
fn possible_inputs_of(program: &Program, functions: &[FuncId]) -> impl Iterator<Item = GlobalId> {
    let globals = TouchedSymbols::by(program, functions, std::iter::empty()).globals;
    globals.into_iter().filter(move |id| can_be_input(program, *id))
}

/// The control flow of the functions that calls may lead to, and of some others.
fn control_flow_of(
    program: &Program,
    touched: &TouchedSymbols,
    others: Vec<FuncId>,
) -> ControlFlow {
    let others = others.into_iter().filter(|func| !touched.functions.contains(func));
    ControlFlow::new(program, touched.functions.iter().copied().chain(others))
}

/// Different small numbers for the inputs. Zeros everywhere would hide most faults where a path
/// leaves inputs open: a mutant rarely differs from the program on zeros.
fn telling_values(pool: &TermPool, plan: &InputPlan) -> Model {
    let args = plan.args.iter().flat_map(|arg| &arg.cells);
    let objects = plan.objects.iter().flat_map(|object| &object.cells);
    let globals = plan.globals.iter().flat_map(|global| &global.cells);
    let mut number = 2u64;
    let mut values = Vec::new();
    for cell in args.chain(objects).chain(globals) {
        let Sort::BitVec(8..=64) = pool.sort(cell.value) else { continue };
        if pool.var_name(cell.value).is_some() {
            values.push((cell.value, Value::from_u64(pool.sort(cell.value), number)));
            number = if number > 90 { 2 } else { number + 3 };
        }
    }
    Model::from_values(values)
}
