//! Paths that go on as another path does.
//!
//! A path comes to the head of a loop with registers, memory and facts. What it does from there follows
//! from the registers that are read before they are set, the objects that are alive, the sequences of
//! labels that are under way, and those facts that share symbols with them, directly or through other
//! facts. The other facts are about inputs that nothing depends on any more, and some input meets them.
//! The same is true of facts that some values of such inputs meet, whatever the others are. Symbols of
//! later inputs are new on either path. So where all of these are the same as they were on another
//! path, this path reaches no
//! label that the other, which is followed, does not reach. It is finished, and nothing is cut off.
//! Programs that read inputs for ever in finitely many states so have an end.
//!
//! (Boonstoppel, Cadar and Engler, "RWset: Attacking Path Explosion in Constraint-Based Test
//! Generation", TACAS 2008, section 2, prune such paths. There, a path's facts are left out where
//! nothing read later depends on them; here, liveness says that of registers alone.)
//!
//! Of each state a hash of 128 bits is kept.
//!
//! # Where it is not asked
//! - On paths whose model is to cover labels, which are yet to be given a test.
//! - On paths that called functions whose results say something about their later calls, as `getenv`.
//! - On paths that depend on undetermined values, numbers of addresses, volatile memory, or memory that
//!   came into being.
//! - On paths that read no input and learned no fact since they were compared last: they are at most
//!   followed to the next input. So loops over numbers that are known take no longer.
//! - A state is asked about once, when control comes to the head, and never while its path is followed
//!   again: it would meet itself.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

use lydian_base::EntityId;
use lydian_ir::cfg::{Cfg, Dominators, Loops};
use lydian_ir::device::{DEVICE_READ, INTERRUPT};
use lydian_ir::libc::{self, LibFn, gives_inputs, model_named};
use lydian_ir::{Body, FuncId, LocalId};
use lydian_smt::{Model, Sort, Term, TermPool};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::machine::memory::{Background, Memory};
use crate::machine::state::Frame;
use crate::merging::analyses::Analyses;
use crate::merging::hot_variables::holds;
use crate::{Machine, State};

/// States with more facts are not compared, since looking through the facts takes too long.
const MOST_FACTS: usize = 1 << 10;

/// The states that paths had at heads of loops.
#[derive(Default)]
pub(crate) struct VisitedStates {
    seen: FxHashSet<u128>,
    /// By function and block: whether it is the head of a loop.
    heads: FxHashMap<FuncId, Rc<Vec<bool>>>,
}

impl VisitedStates {
    /// Forgets all states.
    pub(crate) fn clear(&mut self) {
        self.seen.clear();
    }

    fn is_head(&mut self, body: &Body, frame: &Frame) -> bool {
        let heads = self.heads.entry(frame.func).or_insert_with(|| {
            let cfg = Cfg::new(body);
            let loops = Loops::new(&cfg, &Dominators::new(&cfg));
            let mut heads = vec![false; body.blocks.len()];
            loops.loops.values().for_each(|one| heads[one.header.index()] = true);
            Rc::new(heads)
        });
        heads[frame.block.index()]
    }

    /// Whether a state goes on as another one did before. To be asked when control comes to a block.
    pub(crate) fn meets(
        &mut self,
        machine: &mut Machine<'_, '_>,
        analyses: &Analyses,
        state: &mut State,
    ) -> bool {
        let now = (state.inputs.externals.len(), state.path.facts.len());
        let is_known = state.notes.merging.compared == now;
        let body = machine.body(state);
        if is_known || !is_comparable(state) || !self.is_head(body, state.frame()) {
            return false;
        }
        state.notes.merging.compared = now;
        let Some(key) = key(machine, analyses, state) else { return false };
        !self.seen.insert(key)
    }
}

/// A number for everything that determines how a state goes on.
fn key(machine: &mut Machine<'_, '_>, analyses: &Analyses, state: &State) -> Option<u128> {
    let mut key = Key::default();
    key.add(&state.interrupts());
    for frame in &state.frames {
        let body = machine.context.program.functions[frame.func].body.as_ref()?;
        let live = analyses.live_registers(frame.func, body);
        let live = live.before(body, frame.block, frame.next);
        key.add(&(frame.func, frame.block, frame.next, frame.interrupted));
        key.add(&frame.return_to.register);
        key.add(&frame.return_to.memory.map(|(_, size)| size));
        key.terms.extend(frame.return_to.memory.map(|(address, _)| address));
        key.add(&frame.return_to.memory.map(|(address, _)| address));
        key.add(&(frame.made.as_slice(), frame.objects.as_slice(), frame.variable));
        for (at, value) in frame.registers.iter().enumerate() {
            if holds(&live, LocalId::from_index(at)) {
                key.add(&(at, value));
                key.terms.extend(*value);
            }
        }
    }
    key.add_memory(&state.memory)?;
    key.add_sequences(state)?;
    key.add_facts(&mut machine.pool, &state.path.facts, &state.model);
    Some(key.number())
}

/// Whether nothing but registers, memory and facts determines how a state goes on.
fn is_comparable(state: &State) -> bool {
    !state.pending
        && !state.course.replay
        && state.course.check.is_none()
        && state.frame().next == 0
        && state.claims.covered.is_empty()
        && !state.claims.keep
        && state.passing.queue.is_empty()
        && !state.depends.are_some()
        && state.placed.is_none()
        && state.inputs.volatile.is_empty()
        && state.inputs.met.is_empty()
        && !state.inputs.outgrown
        && state.path.resolved.is_empty()
        && state.path.expanded.is_empty()
        && state.path.facts.len() <= MOST_FACTS
        && state.inputs.externals.iter().all(|call| forgets(&call.function))
}

/// Whether what calls of a function gave says nothing about its later calls.
fn forgets(function: &str) -> bool {
    let allocates = |model: &libc::Model| matches!(model.function, LibFn::Allocation(_));
    function == DEVICE_READ
        || function == INTERRUPT
        || gives_inputs(function)
        || model_named(function).is_some_and(allocates)
}

/// A fact and its symbols.
type FactSymbols = (Term, Arc<[Term]>);

/// Leaves out facts that say nothing about the state's symbols. Facts that share symbols which are not in
/// the state belong together. They say nothing if some values of these symbols meet all of them,
/// whatever the state's symbols are.
fn leave_out_free(
    pool: &mut TermPool,
    facts: &mut Vec<FactSymbols>,
    of_state: &FxHashSet<Term>,
    model: &Model,
) {
    let mut kept = Vec::new();
    while let Some(first) = facts.pop() {
        let mut group = vec![first];
        let mut own: FxHashSet<Term> = FxHashSet::default();
        let mut at = 0;
        while let Some((_, symbols)) = group.get(at) {
            let new = symbols.iter().filter(|one| !of_state.contains(*one));
            let new: Vec<Term> = new.copied().filter(|one| own.insert(*one)).collect();
            let shares = |symbols: &[Term]| symbols.iter().any(|one| new.contains(one));
            let (with, without) = std::mem::take(facts).into_iter().partition(|one| shares(&one.1));
            *facts = without;
            group.extend::<Vec<FactSymbols>>(with);
            at += 1;
        }
        if own.is_empty() || !is_free(pool, &group, &own, model) {
            kept.append(&mut group);
        }
    }
    *facts = kept;
}

/// A choice of a value for a symbol.
type Choice<'a> = dyn Fn(&mut TermPool, Term) -> Option<Term> + 'a;

/// Whether values of symbols are found that meet all facts, whatever the other symbols are: those of the
/// model, or the same number for all.
fn is_free(
    pool: &mut TermPool,
    facts: &[FactSymbols],
    own: &FxHashSet<Term>,
    model: &Model,
) -> bool {
    let of_model = |pool: &mut TermPool, symbol: Term| {
        let sort = pool.sort(symbol);
        model.get(symbol).map(|value| pool.constant(sort, value))
    };
    let zero = |pool: &mut TermPool, symbol: Term| number(pool, symbol, 0);
    let most = |pool: &mut TermPool, symbol: Term| number(pool, symbol, u64::MAX);
    let chosen: [&Choice<'_>; 3] = [&of_model, &zero, &most];
    chosen.into_iter().any(|value| {
        let values = own.iter().filter_map(|one| Some((*one, value(pool, *one)?)));
        let mut known: FxHashMap<Term, Term> = values.collect();
        facts.iter().all(|(fact, _)| {
            let with = pool.substituted(*fact, &mut known);
            pool.as_bool(with) == Some(true)
        })
    })
}

/// A number of the sort of a symbol, if that is one of at most 64 bits.
fn number(pool: &mut TermPool, symbol: Term, value: u64) -> Option<Term> {
    match pool.sort(symbol) {
        Sort::BitVec(width @ 1..=64) => Some(pool.bv(width, value & (u64::MAX >> (64 - width)))),
        _ => None,
    }
}

/// What determines how a state goes on, hashed.
#[derive(Default)]
struct Key {
    hash: DefaultHasher,
    other: DefaultHasher,
    /// The terms in it.
    terms: Vec<Term>,
}

impl Key {
    fn add(&mut self, part: &impl Hash) {
        part.hash(&mut self.hash);
        // The second hash is independent of the first, since each part has another prefix.
        1u8.hash(&mut self.other);
        part.hash(&mut self.other);
    }

    /// Adds all objects that are alive and may change; `None` where one came into being.
    fn add_memory(&mut self, memory: &Memory) -> Option<()> {
        for object in memory.all_objects().filter(|object| object.alive && !object.read_only) {
            self.add(&(object.base, object.size, object.length, object.kind as u8));
            self.terms.extend(object.length);
            for cell in object.contents.cells() {
                self.add(&(cell.offset, cell.size, cell.term));
                self.terms.push(cell.term);
            }
            match object.contents.background() {
                Background::Zero => self.add(&0),
                Background::Undefined(number) => self.add(&(1, number)),
                Background::Bytes(bytes) => self.add(&(2, bytes)),
                Background::Array { term, element } => {
                    self.add(&(3, term, element));
                    self.terms.push(*term);
                }
                Background::Lazy { .. } => return None,
            }
        }
        Some(())
    }

    /// Adds the sequences of labels that are under way; `None` where one has values. An activation is
    /// named by its place among the open calls.
    fn add_sequences(&mut self, state: &State) -> Option<()> {
        let mut begun = Vec::new();
        for one in state.notes.goals.underway.0.iter() {
            if !one.bound.is_empty() || one.cells.is_some() {
                return None;
            }
            let depth = state.frames.iter().position(|frame| frame.serial == one.activation);
            begun.push((one.wait, depth, one.cond, one.entered));
            self.terms.push(one.cond);
        }
        begun.sort_unstable();
        self.add(&begun);
        Some(())
    }

    /// Adds the facts that share symbols with the terms, directly or through other facts.
    fn add_facts(&mut self, pool: &mut TermPool, facts: &[Term], model: &Model) {
        let mut symbols: FxHashSet<Term> = FxHashSet::default();
        for term in std::mem::take(&mut self.terms) {
            symbols.extend(pool.vars_of(term).iter());
        }
        let mut left: Vec<FactSymbols> =
            facts.iter().map(|fact| (*fact, pool.vars_of(*fact))).collect();
        leave_out_free(pool, &mut left, &symbols, model);
        let mut related = Vec::new();
        loop {
            let before = left.len();
            left.retain(|(fact, vars)| {
                let is_related = vars.iter().any(|var| symbols.contains(var));
                if is_related {
                    related.push(*fact);
                    symbols.extend(vars.iter());
                }
                !is_related
            });
            if left.len() == before {
                break;
            }
        }
        related.sort_unstable();
        self.add(&related);
    }

    fn number(&self) -> u128 {
        u128::from(self.hash.finish()) << 64 | u128::from(self.other.finish())
    }
}
