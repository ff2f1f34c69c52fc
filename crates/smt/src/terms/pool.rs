//! The pool that owns terms: interning, symbols, sorts and cached variable sets.
//!
//! A pool belongs to one run and is never global. It only grows; terms are ids into it. The smart
//! constructors are in the modules of `build`, as further methods of [`TermPool`].

use crate::terms::portable::Structures;
use crate::terms::rules::{RULES, Rule};
use crate::terms::semantics;
use crate::terms::sort::{FloatSort, MAX_WIDTH, Sort};
use crate::terms::term::{BinOp, Node, Term, UnOp};
use crate::terms::value::{ArrayValue, Value};
use crate::terms::wide::Wide;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use rustc_hash::{FxBuildHasher, FxHashMap};
use smallvec::SmallVec;
use std::hash::BuildHasher;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The next id of a pool. Ids keep a solver from mixing terms of different pools.
static NEXT_POOL: AtomicU64 = AtomicU64::new(1);

/// The prefix of the names of marked symbols. The meaning of such symbols is up to their makers; the
/// pool knows which terms mention any ([`TermPool::mentions_marked`]).
pub const MARK: char = '?';

/// For each term: whether its leaves satisfy a condition, if it was determined.
#[derive(Default)]
struct Mentions(Vec<Option<bool>>);

impl Mentions {
    /// Whether a leaf of a term `is_meant`.
    fn by(&mut self, pool: &TermPool, t: Term, is_meant: impl Fn(Term) -> bool) -> bool {
        if self.0.len() < pool.len() {
            self.0.resize(pool.len(), None);
        }
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            if self.0[top.index()].is_some() {
                stack.pop();
                continue;
            }
            let children = pool.children(top);
            let of = |child: &Term| self.0[child.index()];
            let known = if children.is_empty() {
                Some(is_meant(top))
            } else if children.iter().any(|child| of(child) == Some(true)) {
                Some(true)
            } else {
                children.iter().all(|child| of(child).is_some()).then_some(false)
            };
            match known {
                Some(known) => self.0[top.index()] = Some(known),
                None => stack.extend(children.iter().filter(|child| of(child).is_none())),
            }
        }
        self.0[t.index()] == Some(true)
    }
}

/// An arena of hash-consed terms.
pub struct TermPool {
    id: u64,
    nodes: Vec<Node>,
    sorts: Vec<Sort>,
    /// The terms, by their nodes and sorts.
    interned: HashTable<Term>,
    wides: Vec<Wide>,
    wide_ids: FxHashMap<Wide, u32>,
    tables: Vec<Arc<Vec<u64>>>,
    table_ids: FxHashMap<Arc<Vec<u64>>, u32>,
    names: Vec<Arc<str>>,
    vars: FxHashMap<Arc<str>, Term>,
    /// By symbol: the bits that it has in models that do not name it.
    defaults: Vec<u64>,
    var_sets: Vec<Option<Arc<[Term]>>>,
    /// By term: its negation, where that was made.
    pub(crate) negations: Vec<Option<Term>>,
    marked: Mentions,
    /// Whether there is a marked symbol.
    has_marked: bool,
    addresses: Mentions,
    /// The test for numbers that are addresses.
    is_address: fn(u64) -> bool,
    no_vars: Arc<[Term]>,
    rewriting: bool,
    fired: Vec<u64>,
    truth: [Term; 2],
    structures: Structures,
}

impl Default for TermPool {
    fn default() -> TermPool {
        TermPool::new()
    }
}

impl TermPool {
    /// An empty pool.
    pub fn new() -> TermPool {
        let mut pool = TermPool {
            id: NEXT_POOL.fetch_add(1, Ordering::Relaxed),
            nodes: Vec::new(),
            sorts: Vec::new(),
            interned: HashTable::new(),
            wides: Vec::new(),
            wide_ids: FxHashMap::default(),
            tables: Vec::new(),
            table_ids: FxHashMap::default(),
            names: Vec::new(),
            vars: FxHashMap::default(),
            defaults: Vec::new(),
            var_sets: Vec::new(),
            negations: Vec::new(),
            marked: Mentions::default(),
            has_marked: false,
            addresses: Mentions::default(),
            is_address: |_| false,
            no_vars: Arc::from([]),
            rewriting: true,
            fired: vec![0; RULES.len()],
            truth: [Term(0), Term(1)],
            structures: Structures::default(),
        };
        pool.intern(Node::Bool(false), Sort::Bool);
        pool.intern(Node::Bool(true), Sort::Bool);
        pool
    }

    /// An empty pool with a test for numbers that are addresses ([`TermPool::mentions_address`]).
    pub fn with_addresses(is_address: fn(u64) -> bool) -> TermPool {
        TermPool { is_address, ..TermPool::new() }
    }

    /// The number of a term by its structure, which is the same in every pool ([`Structures`]).
    pub fn structure(&mut self, term: Term) -> u64 {
        let mut structures = std::mem::take(&mut self.structures);
        let number = structures.of(self, term);
        self.structures = structures;
        number
    }

    /// A number that no other pool of the process has.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// The number of terms.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Never true: the two truth values are always there.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Switches the rewrites of the smart constructors (not constant sharing) on or off and gives
    /// the former state. Off, each constructor makes exactly the node it is named after: for
    /// tests that compare the two, and for logs.
    pub fn set_rewriting(&mut self, on: bool) -> bool {
        std::mem::replace(&mut self.rewriting, on)
    }

    pub(crate) fn rewriting(&self) -> bool {
        self.rewriting
    }

    /// The number of times that a rewrite was applied.
    pub fn fired(&self, rule: Rule) -> u64 {
        self.fired[rule as usize]
    }

    /// Notes that `rule` produced `t`.
    #[inline]
    pub(crate) fn by(&mut self, rule: Rule, t: Term) -> Term {
        self.fired[rule as usize] += 1;
        t
    }

    pub(crate) fn intern(&mut self, node: Node, sort: Sort) -> Term {
        let Self { nodes, sorts, interned, .. } = self;
        let hash = |node: Node, sort: Sort| FxBuildHasher.hash_one((node, sort));
        let is_it = |t: &Term| nodes[t.index()] == node && sorts[t.index()] == sort;
        let of = |t: &Term| hash(nodes[t.index()], sorts[t.index()]);
        match interned.entry(hash(node, sort), is_it, of) {
            Entry::Occupied(known) => *known.get(),
            Entry::Vacant(vacant) => {
                let id = u32::try_from(nodes.len()).expect("fewer than 2^32 terms fit in memory");
                vacant.insert(Term(id));
                nodes.push(node);
                sorts.push(sort);
                Term(id)
            }
        }
    }

    /// The node of a term.
    #[inline]
    pub fn node(&self, t: Term) -> Node {
        self.nodes[t.index()]
    }

    /// The sort of a term.
    #[inline]
    pub fn sort(&self, t: Term) -> Sort {
        self.sorts[t.index()]
    }

    /// The operands of a term, in order.
    pub fn children(&self, t: Term) -> SmallVec<[Term; 3]> {
        self.node(t).children()
    }

    /// Width of a term in bits; 1 for Booleans, 0 for arrays.
    #[inline]
    pub fn width(&self, t: Term) -> u32 {
        self.sort(t).width()
    }

    // ---- constants -------------------------------------------------------------------------

    /// `true` or `false`.
    #[inline]
    pub fn bool(&self, b: bool) -> Term {
        self.truth[b as usize]
    }

    /// The constant true.
    #[inline]
    pub fn tt(&self) -> Term {
        self.truth[1]
    }

    /// The constant false.
    #[inline]
    pub fn ff(&self) -> Term {
        self.truth[0]
    }

    /// The bit-vector constant `value` modulo 2^`width`; widths of more than 64 extend with zeros.
    pub fn bv(&mut self, width: u32, value: u64) -> Term {
        assert!((1..=MAX_WIDTH).contains(&width), "a bit-vector of width {width}");
        if width > 64 {
            return self.bv_wide(width, Wide::from_u64(value));
        }
        self.intern(Node::Bits(value & semantics::ones(width)), Sort::BitVec(width))
    }

    /// The bit-vector constant `value` modulo 2^`width`, from a signed number.
    pub fn bv_signed(&mut self, width: u32, value: i64) -> Term {
        if width > 64 {
            return self.bv_wide(width, Wide::from_u64(value as u64).sext(64, width));
        }
        self.bv(width, value as u64)
    }

    /// The bit-vector constant `value` modulo 2^`width`, of any width.
    pub fn bv_wide(&mut self, width: u32, value: Wide) -> Term {
        assert!((1..=MAX_WIDTH).contains(&width), "a bit-vector of width {width}");
        if width <= 64 {
            return self.bv(width, value.low_u64());
        }
        let value = value.mask(width);
        let next = self.wides.len() as u32;
        let id = *self.wide_ids.entry(value).or_insert(next);
        if id == next {
            self.wides.push(value);
        }
        self.intern(Node::Wide(id), Sort::BitVec(width))
    }

    /// The float with this bit pattern.
    pub fn fp_const(&mut self, sort: FloatSort, bits: u64) -> Term {
        self.intern(Node::Float(crate::terms::float_ops::canonical(sort, bits)), Sort::Float(sort))
    }

    /// The double constant.
    pub fn f64(&mut self, v: f64) -> Term {
        self.fp_const(FloatSort::F64, v.to_bits())
    }

    /// The float constant.
    pub fn f32(&mut self, v: f32) -> Term {
        self.fp_const(FloatSort::F32, v.to_bits() as u64)
    }

    /// An array whose first elements are given, and zero at every further index.
    pub fn const_table(&mut self, index: u32, element: u32, elements: &[u64]) -> Term {
        self.check_array(index, element);
        let mut kept: Vec<u64> = elements.iter().map(|e| e & semantics::ones(element)).collect();
        if index < 64 {
            kept.truncate(1usize << index);
        }
        while kept.last() == Some(&0) {
            kept.pop();
        }
        let table = Arc::new(kept);
        let next = self.tables.len() as u32;
        let id = *self.table_ids.entry(table.clone()).or_insert(next);
        if id == next {
            self.tables.push(table);
        }
        self.intern(Node::Table(id), Sort::Array { index, element })
    }

    /// An array of bytes with the given contents, and zero at every further index.
    pub fn const_array(&mut self, index: u32, bytes: &[u8]) -> Term {
        let elements: Vec<u64> = bytes.iter().map(|&b| b as u64).collect();
        self.const_table(index, 8, &elements)
    }

    pub(crate) fn check_array(&self, index: u32, element: u32) {
        assert!(
            (1..=64).contains(&index) && (1..=64).contains(&element),
            "an array from {index} to {element} bits"
        );
    }

    /// The constant of a value. Arrays other than uniform ones become stores over a uniform one.
    pub fn constant(&mut self, sort: Sort, value: &Value) -> Term {
        assert!(value.has_sort(sort), "{value} is no {sort}");
        match (sort, value) {
            (_, Value::Bool(b)) => self.bool(*b),
            (Sort::BitVec(w), Value::Bits { value, .. }) => self.bv(w, *value),
            (Sort::BitVec(w), Value::Wide { value, .. }) => self.bv_wide(w, **value),
            (Sort::Float(f), Value::Float { bits, .. }) => self.fp_const(f, *bits),
            (Sort::Array { index, element }, Value::Array(a)) => {
                let default = self.bv(element, a.default);
                let mut t = self.uniform_array(index, default);
                for (&i, &v) in &a.elements {
                    let (i, v) = (self.bv(index, i), self.bv(element, v));
                    t = self.store(t, i, v);
                }
                t
            }
            _ => unreachable!("has_sort was checked"),
        }
    }

    // ---- reading constants -----------------------------------------------------------------

    /// The value if the term is a constant that is no array.
    pub fn is_const(&self, t: Term) -> Option<Value> {
        match self.node(t) {
            Node::Bool(b) => Some(Value::Bool(b)),
            Node::Bits(v) | Node::Float(v) => Some(Value::from_u64(self.sort(t), v)),
            Node::Wide(id) => Some(Value::from_wide(self.sort(t), self.wides[id as usize])),
            _ => None,
        }
    }

    /// The number if the term is a bit-vector constant of at most 64 bits.
    #[inline]
    pub fn as_u64(&self, t: Term) -> Option<u64> {
        match self.node(t) {
            Node::Bits(v) => Some(v),
            _ => None,
        }
    }

    /// The number as signed if the term is a bit-vector constant of at most 64 bits.
    pub fn as_i64(&self, t: Term) -> Option<i64> {
        Some(semantics::signed(self.as_u64(t)?, self.width(t)))
    }

    /// The truth value if the term is `true` or `false`.
    #[inline]
    pub fn as_bool(&self, t: Term) -> Option<bool> {
        match self.node(t) {
            Node::Bool(b) => Some(b),
            _ => None,
        }
    }

    /// The bit pattern if the term is a float constant.
    pub fn as_float_bits(&self, t: Term) -> Option<u64> {
        match self.node(t) {
            Node::Float(v) => Some(v),
            _ => None,
        }
    }

    /// The bit pattern of any constant but arrays.
    pub(crate) fn const_bits(&self, t: Term) -> Option<Wide> {
        match self.node(t) {
            Node::Bool(b) => Some(Wide::from_u64(b as u64)),
            Node::Bits(v) | Node::Float(v) => Some(Wide::from_u64(v)),
            Node::Wide(id) => Some(self.wides[id as usize]),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn is_constant(&self, t: Term) -> bool {
        matches!(self.node(t), Node::Bool(_) | Node::Bits(_) | Node::Float(_) | Node::Wide(_))
    }

    /// Whether the term is a bit-vector constant with this (small) value.
    pub(crate) fn is_num(&self, t: Term, v: u64) -> bool {
        match self.node(t) {
            Node::Bits(x) => x == v,
            Node::Wide(id) => self.wides[id as usize] == Wide::from_u64(v),
            _ => false,
        }
    }

    /// Whether the term is the constant of ones only.
    pub(crate) fn is_ones(&self, t: Term) -> bool {
        match self.node(t) {
            Node::Bits(x) => x == semantics::ones(self.width(t)),
            Node::Wide(id) => self.wides[id as usize] == Wide::ones(self.width(t)),
            _ => false,
        }
    }

    /// The elements of a table by its number in a [`Node::Table`].
    pub fn table(&self, id: u32) -> &[u64] {
        &self.tables[id as usize]
    }

    /// The wide constant by its number in a [`Node::Wide`].
    pub fn wide(&self, id: u32) -> Wide {
        self.wides[id as usize]
    }

    /// The constant with this bit pattern.
    pub(crate) fn const_of(&mut self, sort: Sort, bits: Wide) -> Term {
        match sort {
            Sort::Bool => self.bool(bits.bit(0)),
            Sort::BitVec(w) => self.bv_wide(w, bits),
            Sort::Float(f) => self.fp_const(f, bits.low_u64()),
            Sort::Array { .. } => unreachable!("array constants have no bit pattern"),
        }
    }

    // ---- symbols ---------------------------------------------------------------------------

    /// The symbol of this name; made when it is new.
    ///
    /// # Panics
    /// If the name is already that of a symbol of another sort.
    pub fn var(&mut self, name: &str, sort: Sort) -> Term {
        if let Some(&t) = self.vars.get(name) {
            assert_eq!(self.sort(t), sort, "the symbol {name} has another sort");
            return t;
        }
        match sort {
            Sort::Array { index, element } => self.check_array(index, element),
            Sort::BitVec(w) => assert!((1..=MAX_WIDTH).contains(&w), "a bit-vector of width {w}"),
            Sort::Bool | Sort::Float(_) => {}
        }
        let name: Arc<str> = name.into();
        let t = self.intern(Node::Var(self.names.len() as u32), sort);
        self.names.push(name.clone());
        self.defaults.push(0);
        self.has_marked |= name.starts_with(MARK);
        self.vars.insert(name, t);
        t
    }

    /// A symbol of at most 64 bits which, if it is new, has these bits in models that do not name it.
    /// The default of a symbol never changes, so that evaluators may keep what they computed.
    pub fn var_with_default(&mut self, name: &str, sort: Sort, default: u64) -> Term {
        assert!(sort.is_small(), "a {sort} has no default bits");
        let known = self.vars.contains_key(name);
        let var = self.var(name, sort);
        if let (false, Node::Var(id)) = (known, self.node(var)) {
            self.defaults[id as usize] = Value::from_u64(sort, default).to_u64().unwrap_or(0);
        }
        var
    }

    /// The bits of a symbol in models that do not name it: zero unless it was made with others.
    pub fn default_bits(&self, var: Term) -> u64 {
        match self.node(var) {
            Node::Var(id) => self.defaults[id as usize],
            _ => 0,
        }
    }

    /// A symbol that did not exist: `stem`, or `stem!n` where that is taken.
    pub fn fresh_var(&mut self, stem: &str, sort: Sort) -> Term {
        if !self.vars.contains_key(stem) {
            return self.var(stem, sort);
        }
        let mut n = self.names.len();
        loop {
            let name = format!("{stem}!{n}");
            if !self.vars.contains_key(name.as_str()) {
                return self.var(&name, sort);
            }
            n += 1;
        }
    }

    /// The symbol of this name, if there is one.
    pub fn find_var(&self, name: &str) -> Option<Term> {
        self.vars.get(name).copied()
    }

    /// The name of a symbol; `None` for other terms.
    pub fn var_name(&self, t: Term) -> Option<&str> {
        match self.node(t) {
            Node::Var(id) => Some(&self.names[id as usize]),
            _ => None,
        }
    }

    /// The symbols in a term, oldest first. Computed once per term.
    pub fn vars_of(&mut self, t: Term) -> Arc<[Term]> {
        if self.var_sets.len() < self.nodes.len() {
            self.var_sets.resize(self.nodes.len(), None);
        }
        let mut stack = vec![t];
        while let Some(&top) = stack.last() {
            if self.var_sets[top.index()].is_some() {
                stack.pop();
                continue;
            }
            let children = self.children(top);
            let before = stack.len();
            stack.extend(children.iter().filter(|c| self.var_sets[c.index()].is_none()));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let set = match self.node(top) {
                Node::Var(_) => Arc::from([top]),
                _ => children.iter().fold(self.no_vars.clone(), |set, c| {
                    union(&set, self.var_sets[c.index()].as_ref().expect("children come first"))
                }),
            };
            self.var_sets[top.index()] = Some(set);
        }
        self.var_sets[t.index()].clone().expect("just computed")
    }

    /// Whether a term mentions a symbol whose name begins with [`MARK`]. Computed once per term.
    pub fn mentions_marked(&mut self, t: Term) -> bool {
        if !self.has_marked {
            return false;
        }
        let mut marked = std::mem::take(&mut self.marked);
        let mentions = marked
            .by(self, t, |leaf| self.var_name(leaf).is_some_and(|name| name.starts_with(MARK)));
        self.marked = marked;
        mentions
    }

    /// Whether a term mentions a number that is an address. Computed once per term.
    pub fn mentions_address(&mut self, t: Term) -> bool {
        let mut addresses = std::mem::take(&mut self.addresses);
        let mentions = addresses.by(self, t, |leaf| self.as_u64(leaf).is_some_and(self.is_address));
        self.addresses = addresses;
        mentions
    }

    // ---- nodes with constant folding ---------------------------------------------------------

    pub(crate) fn make_un(&mut self, op: UnOp, a: Term, sort: Sort) -> Term {
        self.intern(Node::Un(op, a), sort)
    }

    pub(crate) fn make_bin(&mut self, op: BinOp, a: Term, b: Term, sort: Sort) -> Term {
        self.intern(Node::Bin(op, a, b), sort)
    }

    /// The constant that a unary operator over a constant denotes.
    #[inline]
    pub(crate) fn fold_un(&mut self, op: UnOp, a: Term, to: Sort) -> Option<Term> {
        if !self.rewriting {
            return None;
        }
        let from = self.sort(a);
        let bits = match self.node(a) {
            Node::Bool(b) if to.is_small() => semantics::unary(op, from, to, b as u64),
            Node::Bits(v) | Node::Float(v) if to.is_small() => semantics::unary(op, from, to, v),
            _ => {
                let x = self.const_bits(a)?;
                let r = semantics::unary_wide(op, from, to, x);
                let t = self.const_of(to, r);
                return Some(self.by(Rule::FoldConstants, t));
            }
        };
        let t = self.const_of(to, Wide::from_u64(bits));
        Some(self.by(Rule::FoldConstants, t))
    }

    /// The constant that a binary operator over constants denotes.
    #[inline]
    pub(crate) fn fold_bin(&mut self, op: BinOp, a: Term, b: Term, to: Sort) -> Option<Term> {
        if !self.rewriting || !self.is_constant(a) || !self.is_constant(b) {
            return None;
        }
        let (sa, sb) = (self.sort(a), self.sort(b));
        let (x, y) = (self.const_bits(a)?, self.const_bits(b)?);
        let r = if sa.is_small() && sb.is_small() && to.is_small() {
            Wide::from_u64(semantics::binary(op, sa, sb, x.low_u64(), y.low_u64()))
        } else {
            semantics::binary_wide(op, sa, sb, x, y)
        };
        let t = self.const_of(to, r);
        Some(self.by(Rule::FoldConstants, t))
    }

    /// An array constant's elements and default as a value, for `Table` and constant arrays.
    pub(crate) fn array_default(&self, t: Term) -> Option<ArrayValue> {
        match self.node(t) {
            Node::Table(id) => Some(ArrayValue {
                default: 0,
                elements: self.table(id).iter().enumerate().map(|(i, &v)| (i as u64, v)).collect(),
            }),
            Node::Un(UnOp::ConstArray, v) => {
                Some(ArrayValue { default: self.as_u64(v)?, elements: Default::default() })
            }
            _ => None,
        }
    }
}

/// Union of two sorted sets; gives one of the arguments back when it contains the other.
fn union(a: &Arc<[Term]>, b: &Arc<[Term]>) -> Arc<[Term]> {
    let contains = |big: &[Term], small: &[Term]| {
        small.len() <= big.len() && small.iter().all(|t| big.binary_search(t).is_ok())
    };
    if Arc::ptr_eq(a, b) || contains(a, b) {
        return a.clone();
    }
    if contains(b, a) {
        return b.clone();
    }
    let mut all: Vec<Term> = a.iter().chain(b.iter()).copied().collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_terms_have_one_id_and_children_are_older() {
        let mut p = TermPool::new();
        let (x, y) = (p.var("x", Sort::BitVec(8)), p.var("y", Sort::BitVec(8)));
        let a = p.mul(x, y);
        assert_eq!(a, p.mul(y, x));
        assert!(x < a && y < a);
        assert_eq!(p.bv(8, 256 + 3), p.bv(8, 3));
        assert_ne!(p.bv(8, 3), p.bv(9, 3));
    }

    #[test]
    fn variables_of_a_term_are_sorted_and_unique() {
        let mut p = TermPool::new();
        let (x, y) = (p.var("x", Sort::BitVec(8)), p.var("y", Sort::BitVec(8)));
        let (a, b) = (p.mul(y, x), p.add(x, x));
        let c = p.udiv(a, b);
        assert_eq!(&*p.vars_of(c), &[x, y]);
        assert_eq!(&*p.vars_of(b), &[x]);
        let k = p.bv(8, 1);
        assert!(p.vars_of(k).is_empty());
    }

    #[test]
    fn a_fresh_variable_never_shares_a_name() {
        let mut p = TermPool::new();
        let a = p.fresh_var("v", Sort::Bool);
        let b = p.fresh_var("v", Sort::Bool);
        assert_ne!(a, b);
        assert_eq!(p.find_var("v"), Some(a));
    }
}
