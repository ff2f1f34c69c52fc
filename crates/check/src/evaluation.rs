//! The values of expressions on a state.

use lydian_base::EntityId;
use lydian_ir::{BinOp, CmpOp, Expr, ExprId, Type};
use rustc_hash::FxHashMap;

use crate::machine::{Machine, Scene};
use crate::meaning::{Meaning, binary, bit_field, cast, compare, constant, sort_of, unary};
use crate::pointers::NULL_PAGE;
use crate::state::{Base, Key, OFFSET_BITS, State, Value};
use crate::terms::Term;

/// The values of the expressions of one tree.
type Known = FxHashMap<ExprId, Value>;

impl Machine<'_, '_> {
    /// The value of an expression of an instance. The run ends where it traps.
    pub(crate) fn eval(&mut self, state: &mut State, (instance, expr): (usize, ExprId)) -> Value {
        let mut known = Known::default();
        // Operands come before their users, so trees of any depth are evaluated without recursion.
        let exprs = &self.scene.unfolding.instances[instance].body.exprs;
        let (mut needed, mut waiting) = (std::collections::BTreeSet::new(), vec![expr]);
        while let Some(expr) = waiting.pop() {
            if needed.insert(expr) {
                exprs[expr].for_each_operand(|operand| waiting.push(operand));
            }
        }
        for expr in needed {
            let value = self.value(state, (instance, expr), &known);
            known.insert(expr, value);
        }
        known[&expr]
    }

    fn anything(&mut self, ty: Type) -> Value {
        let sort = sort_of(ty, self.scene.address_bits());
        Value::plain(self.terms.fresh("any", sort))
    }

    /// Whether a number of a type that is read may be of an address, or a part of one.
    fn may_read_address(&self, at: (usize, ExprId), ty: Type) -> bool {
        self.reads_address(at, self.scene.objects.target.stored_bytes(ty))
    }

    fn reads_address(&self, at: (usize, ExprId), bytes: u64) -> bool {
        let Scene { pointers, unfolding, objects, .. } = self.scene;
        pointers.may_read_address((unfolding, objects), at, bytes)
    }

    /// Whether an address is a number that neither null nor an object or function has.
    fn is_number(&self, address: Term) -> bool {
        let number = self.terms.number(address);
        number.is_some_and(|number| number >= NULL_PAGE.into())
            && !self.addresses.contains(&address)
    }

    /// The value of an operator's result, where the operator does not trap.
    fn settled(&mut self, state: &mut State, ty: Type, meaning: Meaning) -> Value {
        if let Some(traps) = meaning.traps {
            let absent = self.terms.not(traps);
            state.assume(&mut self.terms, absent);
        }
        meaning.value.map_or_else(|| self.anything(ty), Value::plain)
    }

    fn value(
        &mut self,
        state: &mut State,
        (instance, expr): (usize, ExprId),
        known: &Known,
    ) -> Value {
        let content = &self.scene.unfolding.instances[instance];
        let (exprs, types) = (&content.body.exprs, &content.types);
        let ty = types[expr];
        match &exprs[expr] {
            // The numbers of addresses are the certificate's, so no number of the program is one.
            Expr::Const(Type::Ptr, bits) if *bits >= NULL_PAGE.into() => self.anything(Type::Ptr),
            Expr::Const(ty, bits) => {
                let width = self.scene.address_bits();
                Value::plain(constant(&mut self.terms, *ty, *bits, width))
            }
            Expr::Local(local) => self.get(state, Key::Register(instance, local.index() as u32)),
            Expr::AddrLocal(local) => {
                let object = self.scene.objects.local(instance, *local);
                self.start_of(object)
            }
            Expr::AddrGlobal(global) => {
                let object = self.scene.objects.global(*global);
                self.start_of(object)
            }
            Expr::AddrFunc(function) => self.function_address(*function),
            Expr::Load { ty, addr, volatile } => {
                let targets = self.scene.pointers.of(instance, *addr);
                let value = self.load(state, (known[addr], targets), *ty);
                // The certificate chooses the numbers of addresses, so other numbers are none of them.
                let is_foreign = match ty {
                    Type::Ptr => {
                        self.is_number(value.term)
                            || (self.scene.pointers.may_be_number(targets)
                                && !self.addresses.contains(&value.term))
                    }
                    _ => self.may_read_address((instance, *addr), *ty),
                };
                if *volatile || is_foreign { self.anything(*ty) } else { value }
            }
            Expr::LoadBits { field, addr } => {
                let targets = self.scene.pointers.of(instance, *addr);
                let bytes = self.load_bits(state, (known[addr], targets), field.bytes());
                if self.reads_address((instance, *addr), field.bytes()) {
                    return self.anything(ty);
                }
                Value::plain(bit_field(&mut self.terms, *field, bytes))
            }
            Expr::Unary(op, a) => {
                let meaning = unary(&mut self.terms, *op, ty, known[a].term);
                self.settled(state, ty, meaning)
            }
            Expr::Binary(op, a, b) => self.operation(state, (*op, ty), (known[a], known[b])),
            Expr::Cmp(op, a, b) => {
                let (x, y) = (known[a], known[b]);
                match self.comparison((instance, *op), (*a, x), (*b, y)) {
                    Some(truth) => Value::plain(truth),
                    None => self.anything(ty),
                }
            }
            Expr::Cast(op, to, from) => match (types[*from], *to) {
                (Type::Ptr, Type::Ptr) => known[from],
                (Type::Ptr, to) => self.as_number(known[from], to),
                (_, Type::Ptr) => self.as_pointer((instance, *from), known),
                (from_ty, to) => {
                    let meaning = cast(&mut self.terms, *op, (from_ty, to), known[from].term);
                    self.settled(state, to, meaning)
                }
            },
            Expr::Field { base, record, field } => {
                let records = &self.scene.program().types.records;
                let offset = records[*record].fields[*field as usize].bit_offset / 8;
                let offset = self.terms.bits(OFFSET_BITS, offset.into());
                self.moved_by(known[base], offset)
            }
            Expr::Index { base, index, size, .. } => {
                let width = OFFSET_BITS;
                let index = self.terms.resize(known[index].term, width);
                let size = self.terms.bits(width, (*size).into());
                let offset = self.terms.arithmetic("bvmul", index, size);
                self.moved_by(known[base], offset)
            }
            Expr::PtrDiff { a, b, size } => {
                let both = [(*a, known[a]), (*b, known[b])];
                self.distance(instance, both, *size)
            }
            Expr::Select { .. } => self.anything(ty),
        }
    }

    fn start_of(&mut self, object: Option<usize>) -> Value {
        let Some(object) = object else { return self.anything(Type::Ptr) };
        let offset = self.terms.bits(OFFSET_BITS, 0);
        self.address(Base { object, offset })
    }

    /// An address, some bytes further.
    fn moved_by(&mut self, base: Value, offset: Term) -> Value {
        match base.base {
            Some(Base { object, offset: before }) => {
                let offset = self.terms.add(before, offset);
                self.address(Base { object, offset })
            }
            None => {
                let offset = self.terms.resize(offset, self.scene.address_bits());
                let moved = self.terms.add(base.term, offset);
                let is_number = self.terms.number(base.term).is_some();
                match self.terms.number(moved) {
                    Some(number) if number < NULL_PAGE.into() => Value::plain(moved),
                    _ if moved == base.term || !is_number => Value::plain(moved),
                    // A number that is moved could be one that the certificate gives an object.
                    _ => self.anything(Type::Ptr),
                }
            }
        }
    }

    fn operation(
        &mut self,
        state: &mut State,
        (op, ty): (BinOp, Type),
        (a, b): (Value, Value),
    ) -> Value {
        let meaning = binary(&mut self.terms, op, ty, a.term, b.term);
        self.settled(state, ty, meaning)
    }

    /// The number of an address is any, but for that of null.
    fn as_number(&mut self, pointer: Value, ty: Type) -> Value {
        let number = self.anything(ty);
        let Type::Int(2..) = ty else { return number };
        let (some, is_some) =
            (self.terms.is_nonzero(number.term), self.terms.is_nonzero(pointer.term));
        let zero = self.terms.bits(ty.bits(), 0);
        // Zero for null. Another address may well have a number whose lowest bits are zero.
        let value = if ty.bits() >= self.scene.address_bits() {
            let equation = self.terms.equal(some, is_some);
            self.terms.define(number.term, equation);
            number.term
        } else {
            self.terms.choose(is_some, number.term, zero)
        };
        Value::plain(value)
    }

    /// A number as an address: one that is moved from another, one near null, or any.
    fn as_pointer(&mut self, (instance, number): (usize, ExprId), known: &Known) -> Value {
        let width = self.scene.address_bits();
        if let Some((pointer, distance)) = self.scene.unfolding.moved_address(instance, number) {
            let distance = self.terms.bits(OFFSET_BITS, distance as u128);
            return match known.get(&pointer) {
                Some(pointer) => self.moved_by(*pointer, distance),
                None => self.anything(Type::Ptr),
            };
        }
        let term = known[&number].term;
        match self.terms.number(term) {
            Some(value) if value < NULL_PAGE.into() => Value::plain(self.terms.bits(width, value)),
            _ => self.anything(Type::Ptr),
        }
    }

    /// A comparison; none where it is any truth value.
    fn comparison(
        &mut self,
        (instance, op): (usize, CmpOp),
        (a, x): (ExprId, Value),
        (b, y): (ExprId, Value),
    ) -> Option<Term> {
        let ty = self.scene.unfolding.instances[instance].types[a];
        let is_ordered = matches!(op, CmpOp::Eq | CmpOp::Ne) || ty != Type::Ptr;
        if !is_ordered && !self.in_one_block(instance, [(a, x), (b, y)]) {
            return None;
        }
        compare(&mut self.terms, op, ty, x.term, y.term)
    }

    /// Whether two addresses surely lie in one object that is one block.
    fn in_one_block(&self, instance: usize, [(a, x), (b, y)]: [(ExprId, Value); 2]) -> bool {
        let only = |expr: ExprId, value: Value| match value.base {
            Some(base) => Some(base.object),
            None => {
                let targets = self.scene.pointers.of(instance, expr);
                let one =
                    targets.objects.len() == 1 && !targets.any && targets.functions.is_empty();
                targets.objects.keys().next().copied().filter(|_| one)
            }
        };
        let object = only(a, x);
        let is_block = object.is_some_and(|object| !self.scene.objects.all[object].repeats());
        is_block && object == only(b, y)
    }

    /// The distance between two addresses in elements, 64 bits.
    fn distance(&mut self, instance: usize, [a, b]: [(ExprId, Value); 2], size: u64) -> Value {
        if !self.in_one_block(instance, [a, b]) || size == 0 {
            return self.anything(Type::Int(64));
        }
        let (x, y) = match (a.1.base, b.1.base) {
            (Some(x), Some(y)) => (x.offset, y.offset),
            _ => (a.1.term, b.1.term),
        };
        let bytes = self.terms.sub(x, y);
        let bytes = self.terms.resize(bytes, self.scene.address_bits());
        let bytes = self.terms.sign_extend(bytes, 64);
        // Where something is left over compilers shift, and so does the IR.
        let (head, by) = match size.is_power_of_two() {
            true => ("bvashr", u64::from(size.trailing_zeros())),
            false => ("bvsdiv", size),
        };
        let by = self.terms.bits(64, by.into());
        Value::plain(self.terms.arithmetic(head, bytes, by))
    }
}
