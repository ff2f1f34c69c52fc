//! The cache of predicates' results, and its keys.
//!
//! A label that no input covers is looked at on every path that passes its site. Most of these
//! paths have the same values in the few places that the label reads. So the results for the labels
//! of a site are cached, with the values of these places as the key ([`Group`]). Cacheable
//! expressions are those of integers and addresses in registers and of values read from memory.
//! Memory is read each time; the rest of the value depends on nothing else.
//!
//! The address that a load reads from is cached in the same way ([`LoadPlace`]), so that most loads
//! need no evaluation of their addresses.
//!
//! Besides its value, evaluating the rest of an expression reports operations on addresses
//! ([`StateReader::related`](lydian_eval::StateReader::related) and the like). A result is not
//! cached where such a report makes a difference
//! ([`BoundsMonitor::tells`](crate::machine::reports::bounds_monitor::BoundsMonitor)). So a second
//! evaluation with the same values would report nothing new.

use std::sync::Arc;

use lydian_base::EntityId as _;
use lydian_eval::Kleene;
use lydian_ir::{CastOp, ConditionId, Expr, ExprArena, ExprId, FuncId, LocalId, Type};
use lydian_smt::Term;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::goals::labels::ConditionKey;
use crate::goals::labels::{GoalId, LabelTable};
use crate::machine::program::site::SiteKey;
use crate::machine::state::{ConditionValue, MutantValues};

/// An expression that reads more places is not cached.
const MOST_PLACES: usize = 4;
/// Expressions with more parts are not analysed.
const MOST_PARTS: u32 = 64;
/// The most places in the key of a group. A label that reads further places is evaluated each time.
const MOST_TOGETHER: usize = 24;
/// With more addresses of loads, or lists of mutants, than this the cache is cleared.
const MOST_KEPT: usize = 1 << 18;
/// With more results of groups than this the cache is cleared.
const MOST_OF_GROUPS: usize = 1 << 17;

/// The content of a place: its value, where reading it does not trap, and the condition under which
/// it does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct PlaceContent {
    pub(crate) value: Term,
    pub(crate) defined: Term,
}

/// Read places, or their contents.
pub(crate) type FewPlaces<T> = SmallVec<[T; MOST_PLACES]>;

/// A place that an expression reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadPlace {
    Register(LocalId),
    /// The address of a local.
    Address(LocalId),
    /// The memory that a load, which is a part of the expression, reads.
    Memory(ExprId),
}

/// The cached results of predicates of all functions.
#[derive(Default)]
pub(crate) struct PredicateCache {
    /// The places that an expression reads; `None` for an expression that is not cacheable.
    reads: FxHashMap<(FuncId, ExprId), Option<FewPlaces<ReadPlace>>>,
    /// The address that a load reads from, by the values that the address depends on.
    located: FxHashMap<LoadKey, LoadPlace>,
    /// The results for the labels of sites.
    pub(crate) sites: FxHashMap<(FuncId, SiteKey), Group<SiteGives>>,
    /// The values of the mutants of conditions.
    pub(crate) mutants: FxHashMap<ConditionKey, Group<MutantValues>>,
    /// The lists of mutants' values, each stored once.
    lists: FxHashMap<Box<[(ExprId, Kleene)]>, Arc<MutantValues>>,
    lists_made: u32,
    /// The number of cached results of groups.
    of_groups: usize,
    /// Whether paths have objects with bounds that others do not have, as far as is known.
    knows_additions: bool,
}

/// A load, and the contents of the places that its address depends on.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct LoadKey {
    pub(crate) func: FuncId,
    pub(crate) load: ExprId,
    pub(crate) values: FewPlaces<PlaceContent>,
}

/// The address that a load reads from, where that is a single one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LoadPlace {
    /// The address; `None` where it is in no object.
    pub(crate) address: Option<u64>,
    /// The positions of the bounds that a read at the address meets, on any path.
    pub(crate) meets: SmallVec<[usize; 2]>,
}

/// The result for a label of a site on a state.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LabelCondition {
    /// The label holds under this condition, which is not constantly false.
    Where(Term),
    /// The cache does not tell; the predicate must be evaluated.
    Ask,
}

/// The labels of a site that may hold, in the order of the objectives.
pub(crate) type SiteGives = [(GoalId, LabelCondition)];

/// The places that the labels of a group read, with the labels that read each.
pub(crate) type GroupReads = Arc<[(ReadPlace, Arc<[GoalId]>)]>;

/// Predicates that are evaluated together, with their results by the contents of everything that
/// they read.
#[derive(Debug)]
pub(crate) struct Group<T: ?Sized> {
    /// The labels that were left when the group was made, and how often labels had been reopened.
    goals: Arc<[GoalId]>,
    reopened: usize,
    /// The state of knowledge about labels when the group was last found valid
    /// ([`LabelTable::changes`](crate::goals::labels::LabelTable::changes)).
    seen_at: u64,
    /// The places that are read, each once, with the labels that read them.
    pub(crate) reads: GroupReads,
    gave: FxHashMap<Key, Arc<T>>,
}

/// A cache key: the numbers of terms, and of the other things that a predicate may depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Key(SmallVec<[u32; 24]>);

impl Key {
    /// Adds the content of a place; `None` where it has no cacheable value.
    pub(crate) fn add_read(&mut self, read: Option<PlaceContent>) {
        match read {
            Some(PlaceContent { value, defined }) => [value, defined].map(|term| self.add(term)),
            None => [(); 2].map(|()| self.0.push(u32::MAX)),
        };
    }

    fn add(&mut self, term: Term) {
        self.0.push(term.index() as u32);
    }

    /// Whether the place added at a position has a cacheable value.
    pub(crate) fn has(&self, position: usize) -> bool {
        self.0[2 * position] != u32::MAX
    }

    /// Adds the value of a condition.
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

    /// Adds the values of mutants.
    pub(crate) fn add_mutants(&mut self, condition: ConditionId, mutants: &MutantValues) {
        self.0.extend([condition.index() as u32, mutants.number]);
    }
}

impl PredicateCache {
    /// The places that an expression of a function's labels reads; `None` if it is not cacheable.
    pub(crate) fn reads(
        &mut self,
        func: FuncId,
        exprs: &ExprArena,
        expr: ExprId,
        local_type: impl Fn(LocalId) -> Option<Type>,
    ) -> Option<FewPlaces<ReadPlace>> {
        let reads = self.reads.entry((func, expr));
        reads.or_insert_with(|| places_read(exprs, expr, &local_type)).clone()
    }

    /// Caches the results for the labels of a site.
    pub(crate) fn keep_site(&mut self, of: (FuncId, SiteKey), key: Key, gives: Arc<SiteGives>) {
        self.make_room();
        if let Some(group) = self.sites.get_mut(&of) {
            group.gave.insert(key, gives);
        }
    }

    /// Caches the values of a condition's mutants.
    pub(crate) fn keep_mutants(&mut self, of: ConditionKey, key: Key, values: Arc<MutantValues>) {
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

    /// Clears the cache where results may depend on more than the places that they read: paths have
    /// objects with bounds that others do not have.
    pub(crate) fn note_additions(&mut self, adds: bool) {
        if adds == self.knows_additions {
            return;
        }
        self.knows_additions = adds;
        self.located.clear();
        self.forget_groups();
    }

    /// The cached address of a load, by the values that the address depends on.
    pub(crate) fn located(&self, key: &LoadKey) -> Option<LoadPlace> {
        self.located.get(key).cloned()
    }

    /// Caches the address of a load.
    pub(crate) fn locate(&mut self, key: LoadKey, located: LoadPlace) {
        if self.located.len() >= MOST_KEPT {
            self.located.clear();
        }
        self.located.insert(key, located);
    }

    /// The shared list of these values of mutants.
    pub(crate) fn list(&mut self, values: Vec<(ExprId, Kleene)>) -> Arc<MutantValues> {
        if self.lists.len() >= MOST_KEPT {
            self.lists.clear();
        }
        let values = values.into_boxed_slice();
        if let Some(known) = self.lists.get(&values) {
            return Arc::clone(known);
        }
        self.lists_made += 1;
        let made = Arc::new(MutantValues { number: self.lists_made, values: values.clone() });
        self.lists.insert(values, Arc::clone(&made));
        made
    }
}

impl<T: ?Sized> Group<T> {
    /// A group for labels that are left, which read some places.
    pub(crate) fn new(
        goals: Arc<[GoalId]>,
        labels: &LabelTable<'_>,
        expressions: impl IntoIterator<Item = (FewPlaces<ReadPlace>, GoalId)>,
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

    /// Whether no result is cached.
    pub(crate) fn is_empty(&self) -> bool {
        self.gave.is_empty()
    }

    /// The labels that were left when the group was made.
    pub(crate) const fn goals(&self) -> &Arc<[GoalId]> {
        &self.goals
    }

    /// Whether the group is still valid: none of its labels was reopened and, if labels are
    /// deleted, more than half of its labels are left.
    pub(crate) fn serves(&mut self, labels: &LabelTable<'_>, deletion: bool) -> bool {
        if self.seen_at == labels.changes() {
            return true;
        }
        self.seen_at = labels.changes();
        let left = self.goals.iter().filter(|goal| !deletion || !labels.is_covered(**goal)).count();
        labels.reopened() == self.reopened && (2 * left > self.goals.len() || self.goals.is_empty())
    }

    /// The cached result for a key.
    pub(crate) fn get(&self, key: &Key) -> Option<&Arc<T>> {
        self.gave.get(key)
    }
}

/// The content of a register.
pub(crate) fn register(registers: &[Option<Term>], local: LocalId) -> Option<Term> {
    registers.get(local.index()).copied().flatten()
}

/// The places that an expression reads, each once; `None` if it is not cacheable.
fn places_read(
    exprs: &ExprArena,
    expr: ExprId,
    local_type: &impl Fn(LocalId) -> Option<Type>,
) -> Option<FewPlaces<ReadPlace>> {
    let mut reading = Reading { exprs, local_type, found: FewPlaces::new(), parts: 0 };
    reading.visit(expr)?;
    Some(reading.found)
}

struct Reading<'a, F> {
    exprs: &'a ExprArena,
    local_type: &'a F,
    found: FewPlaces<ReadPlace>,
    parts: u32,
}

impl<F: Fn(LocalId) -> Option<Type>> Reading<'_, F> {
    /// Notes the places that an expression reads; `None` if it is not cacheable.
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
