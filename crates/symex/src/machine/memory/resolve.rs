//! Resolution: from an address to the objects that it may lie in.
//!
//! Pointers are terms over concrete bases: `ite(choice, 0, base) + 4 * i`. The structure of the
//! term shows the object, so that no query is needed: [`flatten_address`] lists the alternatives
//! with their guards. An address belongs to the object with the address that it was made from.
//! Leaving that object is undefined in C, and out of bounds here. Only an address without
//! structure, such as one made from bytes, must be decided by splitting the path
//! ([`AddressTarget::Opaque`]).

use std::sync::Arc;

use lydian_inputs::lazy::LazyInputs;
use lydian_smt::{BinOp, Node, Term, TermPool};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use crate::machine::memory::{Facts, Memory, NULL_PAGE, ObjectId, Region, function_at};

/// The path's knowledge about terms.
#[derive(Clone, Copy, Debug)]
pub struct Knowledge<'a> {
    /// Booleans that hold on the path, if there are any.
    pub facts: Option<&'a Facts>,
    /// Addresses without structure, each with the target that it was found to have.
    pub resolved: &'a FxHashMap<Term, AddressTarget>,
    /// Addresses that the program made by adding an offset to another, with both.
    pub derived: Option<&'a FxHashMap<Term, (Term, Term)>>,
    /// Pointers of the inputs that may lead to lazy objects.
    pub inputs: Option<&'a LazyInputs>,
    /// The targets that the path found for such pointers.
    pub expanded: Option<&'a FxHashMap<Term, Arc<Expansion>>>,
}

/// The possible targets of a pointer of the inputs. Each guard holds on some input of the path, and
/// no two hold on the same one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The places.
    pub places: Vec<PointerPlace>,
}

/// A place that a pointer of the inputs may lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PointerPlace {
    /// The condition under which the pointer leads there.
    pub guard: Term,
    /// The address without the distance.
    pub address: u64,
    /// The distance from the address in bytes, a 64-bit term, where that depends on the input.
    pub distance: Option<Term>,
}

impl Knowledge<'_> {
    /// No knowledge.
    pub const NONE: Knowledge<'static> = Knowledge {
        facts: None,
        resolved: &FxHashMap::with_hasher(FxBuildHasher),
        derived: None,
        inputs: None,
        expanded: None,
    };

    /// The value of a Boolean where the path has it or its negation as a fact.
    pub fn known(&self, pool: &mut TermPool, condition: Term) -> Option<bool> {
        match self.facts {
            Some(facts) => facts.known(pool, condition),
            None => pool.as_bool(condition),
        }
    }

    /// The value of a Boolean, looked up as a whole.
    pub fn known_alone(&self, pool: &mut TermPool, condition: Term) -> Option<bool> {
        match self.facts {
            Some(facts) => facts.known_alone(pool, condition),
            None => pool.as_bool(condition),
        }
    }
}

/// The outermost condition of a choice in an address that the path does not decide.
pub fn choice_of(pool: &mut TermPool, addr: Term, knowledge: Knowledge<'_>) -> Option<Term> {
    match pool.node(addr) {
        Node::Ite(condition, then, other) => match knowledge.known(pool, condition) {
            Some(holds) => choice_of(pool, if holds { then } else { other }, knowledge),
            None => Some(condition),
        },
        Node::Bin(BinOp::Add, a, b) => {
            choice_of(pool, a, knowledge).or_else(|| choice_of(pool, b, knowledge))
        }
        Node::Bin(BinOp::Sub, a, _) => choice_of(pool, a, knowledge),
        _ => None,
    }
}

/// An alternative for an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressTarget {
    /// Null, or so near to it that an access through it is a null dereference.
    Null,
    /// This number, plus a 64-bit term if there is one.
    Known(u64, Option<Term>),
    /// The value of a term that does not show the object.
    Opaque(Term),
    /// A pointer of the inputs that was not followed yet.
    Input(Term),
    /// Outside of every live object.
    Wild,
}

/// The offset in an object at which an access starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offset {
    /// At a constant distance from the object's base.
    Known(i64),
    /// At a distance that depends on an index.
    Scaled(ScaledOffset),
}

/// The distance `start + stride * index` from an object's base, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScaledOffset {
    /// The distance for index 0.
    pub start: i64,
    /// The bytes from one index to the next, at least 1.
    pub stride: u64,
    /// The index, a signed number of its own width.
    pub index: Term,
}

/// An object that an address may lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The condition under which it does.
    pub guard: Term,
    /// The object.
    pub object: ObjectId,
    /// The offset in it.
    pub offset: Offset,
}

/// The alternatives of an address. The guards of candidates, null and wild exclude each other, and
/// one of them holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resolution {
    /// Live objects.
    pub candidates: Vec<Candidate>,
    /// The condition under which the address is null.
    pub null: Term,
    /// The condition under which it is in no live object, whatever the offset.
    pub wild: Term,
}

/// Whether a number can be an address of an object or function.
pub fn in_region(address: u64) -> bool {
    Region::of(address).is_some() || function_at(address).is_some()
}

/// Whether a term contains a number that `is_meant`.
pub fn mentions(pool: &TermPool, term: Term, is_meant: impl Fn(u64) -> bool) -> bool {
    let mut seen = FxHashSet::default();
    let mut waiting = vec![term];
    while let Some(next) = waiting.pop() {
        if pool.as_u64(next).is_some_and(&is_meant) {
            return true;
        }
        let children = pool.children(next).into_iter();
        waiting.extend(children.filter(|child| seen.insert(*child)));
    }
    false
}

/// The most visits of subterms of one address. Shared subterms are visited as often as they occur.
/// An address with more has too many alternatives, though many may be the same.
const MOST_VISITS: u32 = 1 << 12;
/// The depth to which a term is searched for an address that it is made from.
const POINTER_DEPTH: u32 = 8;

/// Lists the alternatives of an address with their guards, without those that the path excludes.
/// `None` where there are more than `limit`, or where they cannot be listed in reasonable time.
pub fn flatten_address(
    pool: &mut TermPool,
    addr: Term,
    knowledge: Knowledge<'_>,
    limit: usize,
) -> Option<Vec<(Term, AddressTarget)>> {
    let mut walk = AddressWalk { knowledge, limit, visits: 0, out: Vec::new() };
    let guard = pool.tt();
    walk.visit(pool, addr, 0, None, guard).then_some(walk.out)
}

struct AddressWalk<'a> {
    knowledge: Knowledge<'a>,
    limit: usize,
    visits: u32,
    out: Vec<(Term, AddressTarget)>,
}

impl AddressWalk<'_> {
    /// Adds the alternatives of the address `t + add + offset` under `guard`. Returns false where
    /// there are too many.
    fn visit(
        &mut self,
        pool: &mut TermPool,
        t: Term,
        add: u64,
        offset: Option<Term>,
        guard: Term,
    ) -> bool {
        self.visits += 1;
        if self.visits > MOST_VISITS {
            return false;
        }
        if let Some(value) = pool.as_u64(t) {
            let address = value.wrapping_add(add);
            let null = value.wrapping_add(add) < NULL_PAGE || value == 0 && !in_region(address);
            let target =
                if null { AddressTarget::Null } else { AddressTarget::Known(address, offset) };
            return self.leaf(pool, guard, target);
        }
        let derived = self.knowledge.derived.and_then(|derived| derived.get(&t));
        if let Some((base, distance)) = derived.copied() {
            let offset = sum(pool, offset, distance);
            return self.visit(pool, base, add, Some(offset), guard);
        }
        if let Some(target) = self.resolved(t) {
            let target = match target {
                AddressTarget::Known(base, _) => {
                    let start = pool.bv(64, base);
                    let inner = pool.sub(t, start);
                    let offset = sum(pool, offset, inner);
                    AddressTarget::Known(base.wrapping_add(add), Some(offset))
                }
                other => other,
            };
            return self.leaf(pool, guard, target);
        }
        if let Some(expansion) = self.knowledge.expanded.and_then(|known| known.get(&t)) {
            return self.visit_expansion(pool, expansion, add, offset, guard);
        }
        if self.knowledge.inputs.is_some_and(|inputs| inputs.is_pointer(t)) {
            return self.leaf(pool, guard, AddressTarget::Input(t));
        }
        if in_region(add) && !self.looks_like_pointer(pool, t, POINTER_DEPTH) {
            let offset = sum(pool, offset, t);
            return self.leaf(pool, guard, AddressTarget::Known(add, Some(offset)));
        }
        self.visit_node(pool, t, add, offset, guard)
    }

    /// Adds the places of a pointer of the inputs that the path followed, moved by `add + offset`.
    fn visit_expansion(
        &mut self,
        pool: &mut TermPool,
        expansion: &Expansion,
        add: u64,
        offset: Option<Term>,
        guard: Term,
    ) -> bool {
        expansion.places.iter().all(|place| {
            let guard = match self.knowledge.known(pool, place.guard) {
                Some(false) => return true,
                Some(true) => guard,
                None => pool.and(guard, place.guard),
            };
            let distance = place.distance.map(|distance| sum(pool, offset, distance));
            let target = AddressTarget::Known(place.address.wrapping_add(add), distance.or(offset));
            self.leaf(pool, guard, target)
        })
    }

    /// Adds the alternatives of the address `t + add + offset` by the outermost operator of `t`.
    fn visit_node(
        &mut self,
        pool: &mut TermPool,
        t: Term,
        add: u64,
        offset: Option<Term>,
        guard: Term,
    ) -> bool {
        match pool.node(t) {
            Node::Ite(condition, x, y) => {
                self.visit_ite(pool, condition, [x, y], add, offset, guard)
            }
            Node::Bin(BinOp::Add, x, k) if pool.as_u64(k).is_some() => {
                let k = pool.as_u64(k).unwrap_or(0);
                self.visit(pool, x, add.wrapping_add(k), offset, guard)
            }
            Node::Bin(BinOp::Add, x, y) if self.looks_like_pointer(pool, x, POINTER_DEPTH) => {
                let offset = sum(pool, offset, y);
                self.visit(pool, x, add, Some(offset), guard)
            }
            Node::Bin(BinOp::Add, x, y) if self.looks_like_pointer(pool, y, POINTER_DEPTH) => {
                let offset = sum(pool, offset, x);
                self.visit(pool, y, add, Some(offset), guard)
            }
            Node::Bin(BinOp::Sub, x, y) if self.looks_like_pointer(pool, x, POINTER_DEPTH) => {
                let back = pool.neg(y);
                let offset = sum(pool, offset, back);
                self.visit(pool, x, add, Some(offset), guard)
            }
            _ if self.knowledge.inputs.is_some_and(|inputs| inputs.is_raw(pool, t)) => {
                self.leaf(pool, guard, AddressTarget::Input(t))
            }
            _ => self.visit_opaque(pool, t, add, offset, guard),
        }
    }

    /// Adds the address `t + add + offset`, where `t` does not show the object.
    fn visit_opaque(
        &mut self,
        pool: &mut TermPool,
        t: Term,
        add: u64,
        offset: Option<Term>,
        guard: Term,
    ) -> bool {
        let add = pool.bv(64, add);
        let mut whole = pool.add(t, add);
        if let Some(offset) = offset {
            whole = pool.add(whole, offset);
        }
        let target = match self.resolved(whole) {
            None => AddressTarget::Opaque(whole),
            Some(AddressTarget::Known(base, _)) => {
                let start = pool.bv(64, base);
                AddressTarget::Known(base, Some(pool.sub(whole, start)))
            }
            Some(other) => other,
        };
        self.leaf(pool, guard, target)
    }

    fn visit_ite(
        &mut self,
        pool: &mut TermPool,
        condition: Term,
        sides: [Term; 2],
        add: u64,
        offset: Option<Term>,
        guard: Term,
    ) -> bool {
        let known = self.knowledge.known(pool, condition);
        if known != Some(false) {
            let guard = if known.is_some() { guard } else { pool.and(guard, condition) };
            if !self.visit(pool, sides[0], add, offset, guard) {
                return false;
            }
        }
        if known != Some(true) {
            let not = pool.not(condition);
            let guard = if known.is_some() { guard } else { pool.and(guard, not) };
            return self.visit(pool, sides[1], add, offset, guard);
        }
        true
    }

    fn resolved(&self, t: Term) -> Option<AddressTarget> {
        self.knowledge.resolved.get(&t).copied()
    }

    /// Whether the term is made from an address.
    fn looks_like_pointer(&self, pool: &TermPool, t: Term, depth: u32) -> bool {
        if let Some(value) = pool.as_u64(t) {
            return in_region(value);
        }
        if depth == 0 {
            return false;
        }
        match pool.node(t) {
            Node::Ite(_, x, y) | Node::Bin(BinOp::Add, x, y) => {
                self.looks_like_pointer(pool, x, depth - 1)
                    || self.looks_like_pointer(pool, y, depth - 1)
            }
            Node::Bin(BinOp::Sub, x, y) => {
                self.looks_like_pointer(pool, x, depth - 1)
                    && !self.looks_like_pointer(pool, y, depth - 1)
            }
            _ => {
                let is_input =
                    |inputs: &LazyInputs| inputs.is_pointer(t) || inputs.is_raw_symbol(t);
                self.resolved(t).is_some() || self.knowledge.inputs.is_some_and(is_input)
            }
        }
    }

    fn leaf(&mut self, pool: &mut TermPool, guard: Term, target: AddressTarget) -> bool {
        // The parts of the guard were looked up when they were added.
        if self.knowledge.known_alone(pool, guard) == Some(false) {
            return true;
        }
        if let Some((old, _)) = self.out.iter_mut().find(|(_, other)| *other == target) {
            *old = pool.or(*old, guard);
            return true;
        }
        self.out.push((guard, target));
        self.out.len() <= self.limit
    }
}

fn sum(pool: &mut TermPool, a: Option<Term>, b: Term) -> Term {
    match a {
        Some(a) => pool.add(a, b),
        None => b,
    }
}

impl Memory {
    /// The live objects that the alternatives of an address lie in, and the conditions under which
    /// it is null or wild. `Err` has an alternative without structure and its guard.
    pub fn resolve(
        &self,
        pool: &mut TermPool,
        alternatives: &[(Term, AddressTarget)],
    ) -> Result<Resolution, (Term, Term)> {
        let mut result = Resolution { candidates: Vec::new(), null: pool.ff(), wild: pool.ff() };
        for (guard, target) in alternatives.iter().copied() {
            match target {
                AddressTarget::Null => result.null = pool.or(result.null, guard),
                AddressTarget::Wild => result.wild = pool.or(result.wild, guard),
                AddressTarget::Opaque(term) | AddressTarget::Input(term) => {
                    return Err((guard, term));
                }
                AddressTarget::Known(address, offset) => {
                    let object = self.object_near(address).filter(|id| self.object(*id).alive);
                    let Some(object) = object else {
                        result.wild = pool.or(result.wild, guard);
                        continue;
                    };
                    let start = address.wrapping_sub(self.object(object).base) as i64;
                    let offset = scaled_offset(pool, start, offset);
                    result.candidates.push(Candidate { guard, object, offset });
                }
            }
        }
        Ok(result)
    }
}

/// Finds the stride of a symbolic distance.
fn scaled_offset(pool: &mut TermPool, start: i64, distance: Option<Term>) -> Offset {
    let Some(distance) = distance else { return Offset::Known(start) };
    if let Some(known) = pool.as_i64(distance) {
        return Offset::Known(start.wrapping_add(known));
    }
    if let Node::Bin(BinOp::Add, x, k) = pool.node(distance)
        && let Some(k) = pool.as_i64(k)
    {
        return scaled_offset(pool, start.wrapping_add(k), Some(x));
    }
    if let Node::Bin(BinOp::Mul, x, k) = pool.node(distance)
        && let Some(stride) = pool.as_u64(k)
        && (1..1 << 31).contains(&stride)
    {
        return Offset::Scaled(ScaledOffset { start, stride, index: x });
    }
    let mut zeros = 0;
    while zeros < 12 {
        let bit = pool.extract(zeros, zeros, distance);
        if pool.as_u64(bit) != Some(0) {
            break;
        }
        zeros += 1;
    }
    if zeros == 0 {
        return Offset::Scaled(ScaledOffset { start, stride: 1, index: distance });
    }
    let index = pool.extract(63, zeros, distance);
    Offset::Scaled(ScaledOffset { start, stride: 1 << zeros, index })
}
