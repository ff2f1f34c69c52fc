//! What predicates gave before.
//!
//! A label that no input covers is looked at on every path that passes its site, and most of these
//! have the same values in the few places that it reads. So what the labels of a site gave is kept by
//! those ([`Group`]). Kept are expressions of integers and addresses in registers and of what is read from
//! memory: reading is done each time, the rest of the value depends on nothing else.
//!
//! Where a load reads is kept in the same way ([`LoadPlace`]), so that most are read without a look at
//! their addresses.
//!
//! What evaluating the rest tells the exploration is what it did with addresses
//! ([`StateReader::related`](lydian_eval::StateReader::related) and the like). A value where that makes
//! a difference to anybody is not kept ([`BoundsMonitor::tells`](crate::machine::reports::bounds_monitor::BoundsMonitor)): so evaluating it again,
//! with the same values, would tell nothing.

use std::sync::Arc;

use lydian_base::EntityId as _;
use lydian_eval::Kleene;
use lydian_ir::{CastOp, ConditionId, DecisionId, Expr, ExprArena, ExprId, FuncId, LocalId, Type};
use lydian_smt::Term;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::goals::labels::{GoalId, LabelTable};
use crate::machine::program::site::SiteKey;
use crate::machine::state::{ConditionValue, Mutants};

/// An expression that reads more places is not kept.
const MOST_PLACES: usize = 4;
/// Expressions with more parts are not looked at.
const MOST_PARTS: u32 = 64;
/// What reads more places together is kept by so many of them.
const MOST_TOGETHER: usize = 24;
/// With more places of loads, or lists of mutants, than this all are forgotten.
const MOST_KEPT: usize = 1 << 18;
/// With more values of groups than this all are forgotten.
const MOST_OF_GROUPS: usize = 1 << 17;

/// What is at a place: its value where reading it does not trap, and where that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Read {
    pub(crate) value: Term,
    pub(crate) defined: Term,
}

/// Places or what is there.
pub(crate) type Few<T> = SmallVec<[T; MOST_PLACES]>;

/// Where an expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadPlace {
    Register(LocalId),
    /// The address of a local.
    Address(LocalId),
    /// What a part of it, a load, reads from memory.
    Memory(ExprId),
}

/// Values that were computed, of all functions.
#[derive(Default)]
pub(crate) struct PredicateCache {
    /// Where an expression reads; none of one that is not kept.
    reads: FxHashMap<(FuncId, ExprId), Option<Few<ReadPlace>>>,
    /// Where loads read, by what their addresses hang on.
    located: FxHashMap<LoadKey, LoadPlace>,
    /// The labels of sites.
    pub(crate) sites: FxHashMap<(FuncId, SiteKey), Group<SiteGives>>,
    /// The mutants of conditions.
    pub(crate) mutants: FxHashMap<(FuncId, DecisionId, ConditionId), Group<Mutants>>,
    /// Each list of mutants' values once.
    lists: FxHashMap<Box<[(ExprId, Kleene)]>, Arc<Mutants>>,
    lists_made: u32,
    /// How much is kept of groups.
    of_groups: usize,
    /// Whether paths have objects with bounds that others do not have, as far as is known here.
    knows_additions: bool,
}

/// A load, and what is at the places that its address reads.
pub(crate) type LoadKey = (FuncId, ExprId, Few<Read>);

/// Where a load reads, where that is one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadPlace {
    /// The address; none where it is in no object.
    pub(crate) address: Option<u64>,
    /// The positions of the bounds that reading there meets, whoever does.
    pub(crate) meets: SmallVec<[usize; 2]>,
}

/// What a label of a site says on a state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LabelCondition {
    /// It surely holds where this does, which is somewhere.
    Where(Term),
    /// What is kept does not tell.
    Ask,
}

/// The labels of a site that hold somewhere, in the order of the objectives.
pub(crate) type SiteGives = [(GoalId, LabelCondition)];

/// What is read and what it gives.
pub(crate) type Reads = Arc<[(ReadPlace, Arc<[GoalId]>)]>;

/// Predicates that are evaluated together: what they gave, by all that they read.
#[derive(Debug)]
pub(crate) struct Group<T: ?Sized> {
    /// The labels that were left when it was made, and how often labels had been opened again.
    goals: Arc<[GoalId]>,
    reopened: usize,
    /// What was known of labels when it was last seen that it serves
    /// ([`LabelTable::changes`](crate::goals::labels::LabelTable::changes)).
    seen_at: u64,
    /// What is read, each place once, with the labels that read it.
    pub(crate) reads: Reads,
    gave: FxHashMap<Key, Arc<T>>,
}

/// What values are kept by together: numbers of terms, and of what else a predicate may hang on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Key(SmallVec<[u32; 24]>);

impl Key {
    /// Adds the value of a place; none where it has no value that is kept.
    pub(crate) fn add_read(&mut self, read: Option<Read>) {
        match read {
            Some(Read { value, defined }) => [value, defined].map(|term| self.add(term)),
            None => [(); 2].map(|()| self.0.push(u32::MAX)),
        };
    }

    fn add(&mut self, term: Term) {
        self.0.push(term.index() as u32);
    }

    /// Whether the place that was added at a position has a value that is kept.
    pub(crate) fn has(&self, position: usize) -> bool {
        self.0[2 * position] != u32::MAX
    }

    /// Adds what a condition was.
    pub(crate) fn add_condition(&mut self, value: ConditionValue) {
        match value {
            ConditionValue::NotReached => self.0.push(0),
            ConditionValue::Is(value) => self.0.push(1 + u32::from(value)),
            ConditionValue::Either { reached, value } => {
                self.0.push(3);
                self.add(reached);
                self.add(value);
            }
        }
    }

    /// Adds values of mutants.
    pub(crate) fn add_mutants(&mut self, condition: ConditionId, mutants: &Mutants) {
        self.0.extend([condition.index() as u32, mutants.number]);
    }
}

impl PredicateCache {
    /// Where an expression of a function's labels reads; none if its values are not kept.
    pub(crate) fn reads(
        &mut self,
        func: FuncId,
        exprs: &ExprArena,
        expr: ExprId,
        local_type: impl Fn(LocalId) -> Option<Type>,
    ) -> Option<Few<ReadPlace>> {
        let reads = self.reads.entry((func, expr));
        reads.or_insert_with(|| places_read(exprs, expr, &local_type)).clone()
    }

    /// Keeps what the labels of a site give.
    pub(crate) fn keep_site(&mut self, of: (FuncId, SiteKey), key: Key, gives: Arc<SiteGives>) {
        self.make_room();
        if let Some(group) = self.sites.get_mut(&of) {
            group.gave.insert(key, gives);
        }
    }

    /// Keeps the values of a condition's mutants.
    pub(crate) fn keep_mutants(
        &mut self,
        of: (FuncId, DecisionId, ConditionId),
        key: Key,
        values: Arc<Mutants>,
    ) {
        self.make_room();
        if let Some(group) = self.mutants.get_mut(&of) {
            group.gave.insert(key, values);
        }
    }

    fn make_room(&mut self) {
        self.of_groups += 1;
        if self.of_groups > MOST_OF_GROUPS {
            self.forget_groups();
        }
    }

    fn forget_groups(&mut self) {
        self.of_groups = 0;
        self.sites.values_mut().for_each(|group| group.gave.clear());
        self.mutants.values_mut().for_each(|group| group.gave.clear());
    }

    /// Forgets all values where something else than the places was changed that they hang on: paths have
    /// objects with bounds that others do not have.
    pub(crate) fn note_additions(&mut self, adds: bool) {
        if adds == self.knows_additions {
            return;
        }
        self.knows_additions = adds;
        self.located.clear();
        self.forget_groups();
    }

    /// Where a load reads whose address hangs on these values, if that was found out.
    pub(crate) fn located(&self, key: &LoadKey) -> Option<LoadPlace> {
        self.located.get(key).cloned()
    }

    /// Keeps where a load reads.
    pub(crate) fn locate(&mut self, key: LoadKey, located: LoadPlace) {
        if self.located.len() >= MOST_KEPT {
            self.located.clear();
        }
        self.located.insert(key, located);
    }

    /// The one list of these values of mutants.
    pub(crate) fn list(&mut self, values: Vec<(ExprId, Kleene)>) -> Arc<Mutants> {
        if self.lists.len() >= MOST_KEPT {
            self.lists.clear();
        }
        let values = values.into_boxed_slice();
        if let Some(known) = self.lists.get(&values) {
            return Arc::clone(known);
        }
        self.lists_made += 1;
        let made = Arc::new(Mutants { number: self.lists_made, values: values.clone() });
        self.lists.insert(values, Arc::clone(&made));
        made
    }
}

impl<T: ?Sized> Group<T> {
    /// Of labels that are left, which read some places.
    pub(crate) fn new(
        goals: Arc<[GoalId]>,
        labels: &LabelTable<'_>,
        expressions: impl IntoIterator<Item = (Few<ReadPlace>, GoalId)>,
    ) -> Self {
        let mut reads: Vec<(ReadPlace, Vec<GoalId>)> = Vec::new();
        for (places, goal) in expressions {
            for place in places {
                match reads.iter().position(|(known, _)| *known == place) {
                    Some(at) if reads[at].1.contains(&goal) => {}
                    Some(at) => reads[at].1.push(goal),
                    None if reads.len() < MOST_TOGETHER => reads.push((place, vec![goal])),
                    None => {}
                }
            }
        }
        let reads = reads.into_iter().map(|(place, readers)| (place, readers.into())).collect();
        let (reopened, seen_at) = (labels.reopened(), labels.changes());
        Self { goals, reopened, seen_at, reads, gave: FxHashMap::default() }
    }

    /// Whether nothing is kept.
    pub(crate) fn is_empty(&self) -> bool {
        self.gave.is_empty()
    }

    /// The labels that were left when it was made.
    pub(crate) const fn goals(&self) -> &Arc<[GoalId]> {
        &self.goals
    }

    /// Whether it still serves: none of its labels was opened again, and of those that it was made for
    /// more than half are left, if labels are deleted.
    pub(crate) fn serves(&mut self, labels: &LabelTable<'_>, deletion: bool) -> bool {
        if self.seen_at == labels.changes() {
            return true;
        }
        self.seen_at = labels.changes();
        let left = self.goals.iter().filter(|goal| !deletion || !labels.is_covered(**goal)).count();
        labels.reopened() == self.reopened && (2 * left > self.goals.len() || self.goals.is_empty())
    }

    /// What the predicates gave.
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<T>> {
        self.gave.get(key)
    }
}

/// The value of a place that is a register.
pub(crate) fn register(registers: &[Option<Term>], local: LocalId) -> Option<Term> {
    registers.get(local.index()).copied().flatten()
}

/// Where an expression reads, each place once, if it is one that is kept.
fn places_read(
    exprs: &ExprArena,
    expr: ExprId,
    local_type: &impl Fn(LocalId) -> Option<Type>,
) -> Option<Few<ReadPlace>> {
    let mut reading = Reading { exprs, local_type, found: Few::new(), parts: 0 };
    reading.visit(expr)?;
    Some(reading.found)
}

struct Reading<'a, F> {
    exprs: &'a ExprArena,
    local_type: &'a F,
    found: Few<ReadPlace>,
    parts: u32,
}

impl<F: Fn(LocalId) -> Option<Type>> Reading<'_, F> {
    /// Notes where an expression reads; none if it is not kept.
    fn visit(&mut self, expr: ExprId) -> Option<()> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return None;
        }
        let is_kept = |ty: Type| matches!(ty, Type::Int(_) | Type::Ptr).then_some(());
        match self.exprs[expr] {
            Expr::Const(ty, _) => is_kept(ty),
            Expr::Local(local) => {
                is_kept((self.local_type)(local)?)?;
                self.add(ReadPlace::Register(local))
            }
            Expr::Load { ty, volatile: false, .. } => {
                is_kept(ty)?;
                self.add(ReadPlace::Memory(expr))
            }
            Expr::AddrLocal(local) => self.add(ReadPlace::Address(local)),
            Expr::AddrGlobal(_) => Some(()),
            Expr::Field { base, .. } => self.visit(base),
            Expr::Index { base, index, .. } => {
                self.visit(base)?;
                self.visit(index)
            }
            Expr::Unary(_, a) => self.visit(a),
            Expr::Binary(_, a, b) | Expr::Cmp(_, a, b) | Expr::PtrDiff { a, b, .. } => {
                self.visit(a)?;
                self.visit(b)
            }
            Expr::Select { test, then, otherwise } => {
                self.visit(test)?;
                self.visit(then)?;
                self.visit(otherwise)
            }
            Expr::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt, to, a) => {
                is_kept(to)?;
                self.visit(a)
            }
            _ => None,
        }
    }

    fn add(&mut self, place: ReadPlace) -> Option<()> {
        if self.found.contains(&place) {
            return Some(());
        }
        (self.found.len() < MOST_PLACES).then(|| self.found.push(place))
    }
}
