//! The evaluation of expressions on a simulated state.

use std::convert::Infallible;

use lydian_eval::{Evaluation, Kleene, StateReader, Traps, sort_of};
use lydian_ir::interp::memory::NULL_PAGE;
use lydian_ir::{CType, Expr, ExprId, FuncId, GlobalId, LocalId, Storage, Type};
use lydian_smt::{BinOp, Node, Sort, Term, TermPool};

use crate::encode::ids::{InstanceId, ObjectId};
use crate::encode::machine::Machine;
use crate::encode::pointers::objects::ObjectKind;
use crate::encode::pointers::{Place, Targets};
use crate::encode::state::State;
use crate::encode::state::slots::SlotKind;

/// How deep the parts of an address are looked for.
const MOST_PARTS: u32 = 8;

/// Who evaluates an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Evaluator {
    Program,
    /// A label's predicate, which is unknown where a subscript lies outside of its array.
    Label,
}

impl Machine<'_, '_> {
    /// The value of an expression of the program. The path ends where evaluating it traps.
    pub(crate) fn eval(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, expr): (InstanceId, ExprId),
    ) -> Term {
        let mut traps = Traps::none();
        let value = self.eval_as(pool, state, (instance, expr), (Evaluator::Program, &mut traps));
        Self::leave(pool, state, &traps);
        value
    }

    /// The address that an expression gives, of which [`Machine::beyond`] tells from here on.
    pub(crate) fn eval_address(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        at: (InstanceId, ExprId),
    ) -> Term {
        self.beyond = None;
        self.eval(pool, state, at)
    }

    /// The value of an `i1` expression of a label, unknown where it traps.
    pub(crate) fn truth(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        at: (InstanceId, ExprId),
    ) -> Kleene {
        let mut traps = Traps::none();
        let value = self.eval_as(pool, state, at, (Evaluator::Label, &mut traps));
        Kleene::guarded(pool, value, &traps)
    }

    /// Where an address points to.
    pub(crate) fn targets(&self, at: (InstanceId, ExprId)) -> Targets {
        self.analysed.pointers.targets(self.analysed.inlined, self.analysed.objects, at)
    }

    fn eval_as(
        &mut self,
        pool: &mut TermPool,
        state: &mut State,
        (instance, expr): (InstanceId, ExprId),
        (evaluator, traps): (Evaluator, &mut Traps),
    ) -> Term {
        let inlined = self.analysed.inlined;
        if self.uses_number(instance, expr) {
            self.more("an address is used as a number");
            let ty = self.analysed.pointers.types.of(inlined, instance, expr);
            return Self::anything(pool, sort_of(ty));
        }
        let evaluation = Evaluation {
            types: &inlined.program.types,
            exprs: inlined.instances[instance].exprs,
            overflow: self.request.semantics.overflow,
            subscripts: evaluator == Evaluator::Label,
        };
        let is_ordered = self.is_ordered(instance, expr);
        let may_meet = self.may_meet(instance, expr);
        let address = None;
        let mut reader = Reader { machine: self, state, instance, address, is_ordered, may_meet };
        let Ok(value) = evaluation.eval(pool, expr, &mut reader, traps);
        value
    }

    /// Whether an expression uses the number of an object's address.
    fn uses_number(&self, instance: InstanceId, expr: ExprId) -> bool {
        let pointers = self.analysed.pointers;
        let used = pointers.numbers(self.analysed.inlined, instance, expr);
        used.into_iter().any(|pointer| !self.targets((instance, pointer)).is_empty())
    }

    /// Whether all addresses that an expression compares for their order, or whose distance it
    /// computes, lie in one object that is no region of several blocks.
    fn is_ordered(&self, instance: InstanceId, expr: ExprId) -> bool {
        let exprs = self.analysed.inlined.instances[instance].exprs;
        let types = &self.analysed.pointers.types;
        let mut waiting = vec![expr];
        while let Some(expr) = waiting.pop() {
            let pair = match &exprs[expr] {
                Expr::Cmp(op, a, b)
                    if !matches!(op, lydian_ir::CmpOp::Eq | lydian_ir::CmpOp::Ne)
                        && types.of(self.analysed.inlined, instance, *a) == Type::Ptr =>
                {
                    Some((*a, *b))
                }
                Expr::PtrDiff { a, b, .. } => Some((*a, *b)),
                _ => None,
            };
            if let Some((a, b)) = pair {
                let (a, b) = (self.targets((instance, a)), self.targets((instance, b)));
                let mut places = a.keys().chain(b.keys());
                let first = places.next();
                let is_block = match first {
                    Some(Place::Object(object)) => {
                        let site = self.analysed.objects.sites.get(object);
                        site.is_none_or(|site| !site.repeats)
                    }
                    Some(Place::Unknown) => false,
                    Some(Place::Function(_)) | None => true,
                };
                if !is_block || places.any(|place| Some(place) != first) {
                    return false;
                }
            }
            exprs[expr].for_each_operand(|operand| waiting.push(operand));
        }
        true
    }
}

/// Gives an evaluation the values of a state.
struct Reader<'r, 's, 'a> {
    machine: &'r mut Machine<'s, 'a>,
    state: &'r mut State,
    instance: InstanceId,
    /// The expression of the address that is read next.
    address: Option<ExprId>,
    is_ordered: bool,
    may_meet: bool,
}

impl StateReader for Reader<'_, '_, '_> {
    type Stop = Infallible;

    fn local(&mut self, pool: &mut TermPool, local: LocalId) -> Result<Term, Infallible> {
        let slot = self.machine.slot(SlotKind::Register(self.instance, local));
        Ok(self.machine.value(pool, self.state, slot))
    }

    fn local_address(&mut self, pool: &mut TermPool, local: LocalId) -> Result<Term, Infallible> {
        let kind = ObjectKind::Local(self.instance, local);
        Ok(self.machine.object_address(pool, kind))
    }

    fn global_address(&mut self, pool: &mut TermPool, id: GlobalId) -> Result<Term, Infallible> {
        Ok(self.machine.object_address(pool, ObjectKind::Global(id)))
    }

    fn function_address(&mut self, pool: &mut TermPool, id: FuncId) -> Result<Term, Infallible> {
        Ok(pool.bv(64, self.machine.analysed.objects.function_address(id)))
    }

    fn address_begins(&mut self) -> Option<Term> {
        self.machine.beyond.take()
    }

    fn address_ends(&mut self, outer: Option<Term>) {
        self.machine.beyond = outer;
    }

    fn address_of_read(&mut self, addr: ExprId) {
        self.address = Some(addr);
    }

    fn load(
        &mut self,
        pool: &mut TermPool,
        ty: Type,
        addr: Term,
        volatile: bool,
        traps: &mut Traps,
    ) -> Result<Term, Infallible> {
        let targets = match self.address.take() {
            Some(expr) => self.machine.targets((self.instance, expr)),
            None => std::iter::once((Place::Unknown, crate::encode::pointers::offset::Offset::ANY))
                .collect(),
        };
        // A number that traps here may be a device's address elsewhere.
        let mut ignored = Traps::none();
        let is_device = volatile && targets.contains_key(&Place::Unknown);
        let traps = if is_device { &mut ignored } else { traps };
        let mut value = self.machine.load(pool, self.state, (addr, &targets), ty, traps);
        if let Some(beyond) = self.machine.beyond_with_pointers(&targets) {
            let any = Machine::anything(pool, sort_of(ty));
            value = pool.ite(beyond, any, value);
        }
        if volatile {
            self.machine.more("volatile memory is read");
            return Ok(Machine::anything(pool, sort_of(ty)));
        }
        Ok(value)
    }

    fn local_type(&self, local: LocalId) -> Type {
        let body = self.machine.analysed.inlined.instances[self.instance].body;
        match body.locals[local].storage {
            Storage::Register(ty) => ty,
            Storage::Memory { .. } => Type::Ptr,
        }
    }

    fn unmodelled(
        &mut self,
        pool: &mut TermPool,
        what: &str,
        sort: Sort,
    ) -> Result<Term, Infallible> {
        self.machine.more(format!("{what} is not modelled"));
        Ok(Machine::anything(pool, sort))
    }

    fn subscript(
        &mut self,
        pool: &mut TermPool,
        base: Term,
        index: Term,
        (count, size): (u64, u64),
        _: &mut Traps,
    ) -> Result<Term, Infallible> {
        if self.machine.is_whole_array(pool, base, count.saturating_mul(size)) {
            // Beyond it there is nothing of the object.
            return Ok(index);
        }
        let count = pool.bv(64, count);
        let beyond = pool.uge(index, count);
        if pool.as_bool(beyond) != Some(false) {
            let before = self.machine.beyond.unwrap_or_else(|| pool.ff());
            self.machine.beyond = Some(pool.or(before, beyond));
        }
        Ok(index)
    }

    fn related(
        &mut self,
        pool: &mut TermPool,
        addresses: [Term; 2],
        equality: bool,
    ) -> Result<Option<Term>, Infallible> {
        if equality {
            return Ok(match self.may_meet {
                true => self.machine.equal_if_apart(pool, addresses),
                false => None,
            });
        }
        if self.is_ordered {
            return Ok(None);
        }
        self.machine.more("addresses of several objects are compared");
        Ok(Some(Machine::anything(pool, Sort::Bool)))
    }

    fn distance(&mut self, pool: &mut TermPool, [a, b]: [Term; 2]) -> Result<Term, Infallible> {
        let any = Machine::anything(pool, Sort::BitVec(64));
        if !self.is_ordered {
            self.machine.more("the distance of addresses in several objects is used");
            return Ok(any);
        }
        // The distance of a null pointer from an object depends on where the object lies.
        let (null_a, null_b) = (self.machine.is_null(pool, a), self.machine.is_null(pool, b));
        let (one_is, distance) = (pool.neq(null_a, null_b), pool.sub(a, b));
        if pool.as_bool(one_is) != Some(false) {
            self.machine.more("the distance of an object from null is used");
        }
        Ok(pool.ite(one_is, any, distance))
    }
}

impl Machine<'_, '_> {
    /// Where the last address is computed by a subscript beyond an array in an object with pointers. The
    /// analysis of pointers does not follow such accesses.
    pub(crate) fn beyond_with_pointers(&mut self, targets: &Targets) -> Option<Term> {
        let beyond = self.beyond?;
        let pointers = self.analysed.pointers;
        let mixes = targets.keys().any(|place| match place {
            Place::Object(object) => pointers.has_pointers(*object) && !self.is_one_array(*object),
            _ => false,
        });
        if mixes {
            self.more("a subscript may lie outside of its array, and inside of the object");
        }
        mixes.then_some(beyond)
    }

    /// Whether an address is null, or so near to it as no object is. One that is computed from an object's
    /// is not.
    fn is_null(&self, pool: &mut TermPool, address: Term) -> Term {
        if self.is_in_object(pool, address, MOST_PARTS) {
            return pool.ff();
        }
        let page = pool.bv(64, NULL_PAGE);
        pool.ult(address, page)
    }

    /// Whether an address shows that it was computed from that of an object.
    fn is_in_object(&self, pool: &TermPool, address: Term, depth: u32) -> bool {
        if let Some(constant) = pool.as_u64(address) {
            let (low, length) = self.analysed.objects.span();
            return constant.wrapping_sub(low) < length;
        }
        let is_in = |part: Term| depth > 0 && self.is_in_object(pool, part, depth - 1);
        match pool.node(address) {
            Node::Bin(BinOp::Add, a, b) => is_in(a) || is_in(b),
            Node::Bin(BinOp::Sub, a, _) => is_in(a),
            Node::Ite(_, a, b) => is_in(a) && is_in(b),
            _ => false,
        }
    }

    /// Whether an array of so many bytes at an address is a whole object.
    fn is_whole_array(&self, pool: &TermPool, base: Term, bytes: u64) -> bool {
        let objects = self.analysed.objects;
        let object = pool.as_u64(base).and_then(|base| Some((base, objects.at(base)?)));
        object.is_some_and(|(base, object)| {
            let object = &objects.all[object];
            object.base == base && object.size.is_some_and(|size| size <= bytes)
        })
    }

    /// Whether C says that an object is an array of pointers, or of such arrays.
    fn is_one_array(&self, object: ObjectId) -> bool {
        let inlined = self.analysed.inlined;
        let mut ty = match self.analysed.objects.all[object].kind {
            ObjectKind::Global(global) => inlined.program.globals[global].ty,
            ObjectKind::Local(instance, local) => inlined.instances[instance].body.locals[local].ty,
            ObjectKind::Allocated(..) => return false,
        };
        let types = &inlined.program.types;
        while let CType::Array { element, .. } = types.get(ty) {
            ty = *element;
        }
        types.scalar(ty) == Some(Type::Ptr)
    }

    fn object_address(&mut self, pool: &mut TermPool, kind: ObjectKind) -> Term {
        match self.analysed.objects.of(kind) {
            Some(object) => pool.bv(64, self.analysed.objects.all[object].base),
            None => Self::anything(pool, Sort::BitVec(64)),
        }
    }
}
