//! Eviction: waiting states lose most of their data where memory is short, and are replayed before
//! they go on.
//!
//! An evicted state has lost its registers, memory and facts. It keeps its position, its model, the
//! labels that are to be looked at next, and its
//! [`DecisionLog`](crate::machine::decision_log::DecisionLog). A replay begins at the first state
//! of the exploration, or at the last merge on the path. It follows the path with the answers of
//! the log: no question is asked, no label is looked at, and no other state is made. The pool keeps
//! all terms, so the same operations give the same terms. A fingerprint of registers and facts
//! tells whether the result is the evicted state. If it is not, the path is cut, with its reason. A
//! state is never dropped silently, and never replaced by another.
//!
//! Neither the remaining data of an evicted state nor its fingerprint refer to the pool of its
//! terms: the fingerprint is made of the structure of terms. So another worker can replay the state
//! ([`workers`](crate::exploration::workers)).
//!
//! Explorations give the same results with and without eviction. Three kinds of state are not
//! evicted: those with a test that is not given yet, those that wait for the question of a label,
//! and those of direct instrumentation, where labels are branches of the path.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use lydian_inputs::ExternalPlan;
use lydian_ir::{BlockId, FuncId};
use lydian_smt::{Structures, Term, TermPool};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::State;
use crate::machine::memory::{Facts, Memory};
use crate::machine::state::{Frame, ReturnTo};

/// Memory use is read at each 16th look at the clock, since reading it takes a few microseconds.
pub(crate) const LOOKS: u32 = 16;
/// The evictions between two looks at the clock.
pub(crate) const EVICTIONS: usize = 256;

/// The position of an activation: function, block, position in it, and whether labels there were
/// looked at.
pub(crate) type ActivationPlace = (FuncId, BlockId, usize, bool);

/// The bookkeeping of eviction.
#[derive(Default)]
pub(crate) struct Eviction {
    /// Activations reduced to their position.
    places: FxHashMap<ActivationPlace, Arc<Frame>>,
    /// The structural hashes of terms, for fingerprints.
    pub(crate) structures: Structures,
    nothing: Memory,
    no_externals: Arc<Vec<Arc<ExternalPlan>>>,
    /// How many states were put in the queue since all were evicted.
    pub(crate) whole: u64,
    /// Looks at the clock since memory use was last read.
    pub(crate) looks: u32,
    /// The memory use, in bytes, at which states are evicted again.
    pub(crate) next: u64,
    /// Whether memory was short when its use was last read, although states were evicted.
    pub(crate) is_short: bool,
}

impl Eviction {
    /// Whether memory is short.
    pub(crate) fn is_short(&self) -> bool {
        self.is_short
    }

    /// Counts a whole state that was put in the queue.
    pub(crate) fn count_whole(&mut self) {
        self.whole += 1;
    }

    /// Removes everything from a state that a replay of its log makes again.
    pub(crate) fn evict(&mut self, pool: &TermPool, state: &mut State) {
        state.notes.eviction.evicted = Some(fingerprint(&mut self.structures, pool, state));
        let places: SmallVec<[ActivationPlace; 4]> = activation_places(state).collect();
        self.empty(state, &places);
        state.log.shrink();
    }

    /// Reduces a state to its activations' positions.
    pub(crate) fn empty(&mut self, state: &mut State, places: &[ActivationPlace]) {
        state.notes.merging.mark = None;
        state.frames.clear();
        for place in places {
            let frame = self.places.entry(*place).or_insert_with(|| Arc::new(at_place(*place)));
            state.frames.push(frame.clone());
        }
        state.memory = self.nothing.clone();
        state.path.facts = Facts::new();
        state.path.resolved = FxHashMap::default();
        state.path.expanded = Arc::default();
        state.inputs.externals = self.no_externals.clone();
    }
}

/// The positions of a state's activations, outermost first.
pub(crate) fn activation_places(state: &State) -> impl Iterator<Item = ActivationPlace> {
    state.frames.iter().map(|frame| (frame.func, frame.block, frame.next, frame.sites_done))
}

/// The outcome of replaying a path.
pub(crate) enum ReplayOutcome {
    /// The evicted state.
    Same(Box<State>),
    /// Another state, or the path could not be followed.
    Other,
    /// The exploration stopped during the replay.
    Stopped,
}

impl State {
    /// Whether the log and the data that an evicted state keeps determine the whole state.
    pub(crate) fn can_be_made_again(&self) -> bool {
        self.notes.eviction.evicted.is_none()
            && !self.course.replay
            && !self.claims.keep
            && self.claims.covered.is_empty()
    }

    /// Takes over from an evicted state the data that do not follow from the path.
    pub(crate) fn resume_as(&mut self, evicted: &mut Self) {
        self.pending = evicted.pending;
        self.tries = evicted.tries;
        self.passing.evaluated = evicted.passing.evaluated;
        self.passing.arrival = evicted.passing.arrival;
        self.passing.queue = std::mem::take(&mut evicted.passing.queue);
        self.claims.covered = std::mem::take(&mut evicted.claims.covered);
        self.claims.promises = std::mem::take(&mut evicted.claims.promises);
        self.claims.conditions = std::mem::take(&mut evicted.claims.conditions);
        self.notes.goals.undecided = std::mem::take(&mut evicted.notes.goals.undecided);
        self.notes.goals.trail = std::mem::take(&mut evicted.notes.goals.trail);
        self.notes.goals.underway = std::mem::take(&mut evicted.notes.goals.underway);
        self.notes.merging.start = evicted.notes.merging.start.take();
        self.notes.goals.haste = evicted.notes.goals.haste;
        self.notes.occurrences = std::mem::take(&mut evicted.notes.occurrences);
        self.claims.keep = evicted.claims.keep;
        self.course.steps = evicted.course.steps;
        self.course.number = evicted.course.number;
        self.notes.search.idle = evicted.notes.search.idle;
        let sites_done = evicted.frame().sites_done;
        if self.frame().sites_done != sites_done {
            self.frame_mut().sites_done = sites_done;
        }
        // Its state was compared with others when it came here first.
        if self.frame().arrived {
            self.frame_mut().arrived = false;
        }
    }
}

/// An activation that has nothing but a position.
fn at_place((func, block, next, sites_done): ActivationPlace) -> Frame {
    Frame {
        func,
        block,
        next,
        sites_done,
        registers: Vec::new(),
        objects: Vec::new(),
        made: SmallVec::new(),
        variable: 0,
        serial: 0,
        events: SmallVec::new(),
        loops: SmallVec::new(),
        return_to: ReturnTo::default(),
        arrived: false,
        interrupted: false,
    }
}

/// A hash that differs for states with a different path condition, position or register. Equal
/// states of different pools have the same hash.
pub(crate) fn fingerprint(structures: &mut Structures, pool: &TermPool, state: &State) -> u64 {
    let mut hasher = DefaultHasher::new();
    // Conjuncts are ordered by their age in this pool, which another pool does not share.
    let mut unordered = |terms: &mut dyn Iterator<Item = Term>| {
        terms.fold(0_u64, |sum, term| sum.wrapping_add(structures.of(pool, term)))
    };
    unordered(&mut state.path.facts.iter().copied()).hash(&mut hasher);
    unordered(&mut state.path.resolved.keys().copied()).hash(&mut hasher);
    unordered(&mut state.path.expanded.keys().copied()).hash(&mut hasher);
    for frame in &state.frames {
        (frame.func, frame.block, frame.next, frame.serial).hash(&mut hasher);
        for register in &frame.registers {
            register.map(|term| structures.of(pool, term)).hash(&mut hasher);
        }
        frame.objects.hash(&mut hasher);
    }
    let depends = state.depends.are_some();
    let counts =
        (state.course.activations, state.inputs.externals.len(), state.course.root, depends);
    (counts, state.inputs.cursor.next).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
pub(crate) mod tests {
    use crate::config::Mode;
    use crate::exploration::explore::Engine;
    use lydian_base::{Budget, CancelToken};
    use lydian_frontend::flags::CompileFlags;
    use lydian_frontend::{LoadRequest, ParseRequest};
    use lydian_ir::Program;
    use lydian_smt::{ChainConfig, standard_chain};

    use super::*;
    use crate::config::Config;
    use crate::config::Search;
    use crate::exploration::task::Task;
    use lydian_inputs::{InputSpec, Settings, prepare};

    /// Paths fork at conditions, at a switch, at addresses, at allocations and in a library
    /// function.
    const PROGRAM: &str = r#"
        #include <stdlib.h>
        #include <string.h>
        struct pair { int left; int *right; };
        static int table[4] = {1, 2, 3, 4};
        static int twice(int a) { return a > 100 ? 100 : 2 * a; }
        static int thrice(int a) { return 3 * a; }
        int f(int a, unsigned at, struct pair *p, const char *text, unsigned size)
        {
            int sum = 0, (*calls[2])(int) = {twice, thrice};
            int *place = a > 3 && at < 4 ? &table[at] : p ? p->right : &sum;
            char *copy = malloc(size);
            if (place)
                *place = calls[at & 1](a);
            if (copy) {
                copy[0] = text ? text[0] : 'x';
                if (size > 3 && text && strcmp(text, "ab") == 0)
                    sum += copy[0];
                free(copy);
            }
            switch (at % 5) {
            case 0: sum += table[a & 3]; break;
            case 1: case 2: sum -= 7; break;
            case 4: for (int i = 0; i < (a & 7); i++) sum ^= table[i & 3]; break;
            }
            return sum > a ? 1 : sum < -a ? 2 : 3;
        }
    "#;

    pub(crate) fn program() -> (Program, FuncId) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let file = folder.path().join("paths.c");
        std::fs::write(&file, PROGRAM).expect("the source can be written");
        let request = LoadRequest::new(ParseRequest::new(file, CompileFlags::default()));
        let mut program = lydian_frontend::load(&request).expect("the source is valid").program;
        prepare(&mut program);
        let (func, _) = program.defined().find(|(_, of)| of.name == "f").expect("`f` is there");
        (program, func)
    }

    /// Everything but the log, which only says how the state was made.
    fn all_of(state: &State) -> String {
        let mut state = state.clone();
        state.log = Default::default();
        // One that is made again is not compared with others a second time.
        state.frame_mut().arrived = false;
        format!("{state:?}")
    }

    /// Makes an engine that explores the program, and its first state.
    pub(crate) fn with_engine(
        program: &Program,
        func: FuncId,
        config: &Config,
        check: impl FnOnce(&mut Engine<'_, '_>, Box<State>),
    ) {
        let spec = InputSpec::new(program, Settings::default());
        let mut solver = standard_chain(&ChainConfig::default());
        let budget = Budget::start(None, CancelToken::new());
        let mut sink = |_| {};
        let task = Task {
            program,
            func,
            spec: &spec,
            objectives: &[],
            known: &[],
            config,
            budget: &budget,
        };
        let (mut engine, first) =
            Engine::set_up(&task, &mut *solver, &mut sink).expect("it can be explored");
        let first = first.expect("there is an input");
        engine.machine.begin_with(&first);
        check(&mut engine, first);
    }

    #[test]
    fn a_replayed_state_equals_the_evicted_one() {
        let (program, func) = program();
        let mut compared = 0;
        for (search, merge) in
            [(Search::BreadthFirst, true), (Search::Mixed, false), (Search::DepthFirst, true)]
        {
            let config = Config { search, merge, mode: Mode::Plain, ..Config::default() };
            with_engine(&program, func, &config, |engine, first| {
                engine.push(first);
                for _ in 0..60 {
                    let waiting = engine.frontier.states_mut().map(|state| state.clone());
                    for before in waiting.collect::<Vec<State>>() {
                        let mut state = Box::new(before.clone());
                        engine.eviction.evict(&engine.machine.pool, &mut state);
                        assert!(state.path.facts.is_empty() && state.frame().registers.is_empty());
                        assert!(engine.revive(&mut state), "{before:?}");
                        assert_eq!(all_of(&state), all_of(&before));
                        compared += usize::from(before.path.facts.len() > 3);
                    }
                    if !engine.run_one() {
                        break;
                    }
                }
            });
        }
        assert!(compared > 100, "{compared}");
    }

    #[test]
    fn a_replay_that_takes_another_way_is_cut_and_not_lost() {
        let (program, func) = program();
        let config = Config { mode: Mode::Plain, ..Config::default() };
        with_engine(&program, func, &config, |engine, mut state| {
            state.path.facts.push(engine.machine.pool.ff());
            engine.eviction.evict(&engine.machine.pool, &mut state);
            assert!(!engine.revive(&mut state));
            assert!(engine.machine.is_cut());
        });
    }
}
