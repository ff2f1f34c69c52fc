//! Equality of addresses in different objects. The end of one may be the beginning of the next (C17,
//! 6.5.9), and the bounds of `extern` arrays may be names for one place.

use lydian_ir::interp::memory::NULL_PAGE;
use lydian_ir::{CType, CmpOp, Expr, ExprId, GlobalInit, Stmt, Target, Type};
use lydian_smt::{Sort, Term, TermPool};

use crate::encode::ids::{InstanceId, ObjectId};
use crate::encode::machine::Machine;
use crate::encode::pointers::objects::ObjectKind;
use crate::encode::pointers::offset::Offset;
use crate::encode::pointers::{Place, Targets};
use crate::encode::state::liveness::Analysed;

impl Machine<'_, '_> {
    /// Whether an expression compares addresses for equality that may lie in different objects, and not
    /// surely inside of these.
    pub(super) fn may_meet(&self, instance: InstanceId, expr: ExprId) -> bool {
        let exprs = self.analysed.inlined.instances[instance].exprs;
        let types = &self.analysed.pointers.types;
        let mut waiting = vec![expr];
        while let Some(expr) = waiting.pop() {
            if let Expr::Cmp(CmpOp::Eq | CmpOp::Ne, a, b) = &exprs[expr]
                && types.of(self.analysed.inlined, instance, *a) == Type::Ptr
                && self.targets_may_meet([*a, *b].map(|side| self.targets((instance, side))))
            {
                return true;
            }
            exprs[expr].for_each_operand(|operand| waiting.push(operand));
        }
        false
    }

    fn targets_may_meet(&self, sides: [Targets; 2]) -> bool {
        let objects = |side: Targets| -> Vec<(ObjectId, bool)> {
            let inside = |(place, at)| match place {
                Place::Object(object) => Some((object, self.is_inside(object, at))),
                Place::Function(_) | Place::Unknown => None,
            };
            side.into_iter().filter_map(inside).collect()
        };
        let [a, b] = sides.map(objects);
        a.iter()
            .any(|(a, a_inside)| b.iter().any(|(b, b_inside)| a != b && !(*a_inside && *b_inside)))
    }

    /// Whether an offset is surely that of a byte of an object which no other object shares. The bounds of
    /// `extern` arrays may be names for the same place.
    fn is_inside(&self, object: ObjectId, at: Offset) -> bool {
        let Analysed { inlined, objects, .. } = self.analysed;
        if let ObjectKind::Global(global) = objects.all[object].kind {
            let global = &inlined.program.globals[global];
            let is_array = matches!(inlined.program.types.get(global.ty), CType::Array { .. });
            if is_array && global.init == GlobalInit::Extern {
                return false;
            }
        }
        let site = objects.sites.get(&object);
        let size = objects.all[object].size.or_else(|| site.and_then(|site| site.size));
        let start = match site.filter(|site| site.repeats) {
            Some(site) if at.stride.is_multiple_of(site.step()) => {
                Some(at.start.rem_euclid(site.step() as i64))
            }
            Some(_) => None,
            None => at.exact(),
        };
        let fits = |start: i64| start >= 0 && size.is_some_and(|size| (start as u64) < size);
        start.is_some_and(|start| fits(start) || start == 0 && self.is_from_heap(object))
    }

    /// Whether an object consists of blocks of the heap. The beginning of one is that of no other object,
    /// whatever its size.
    fn is_from_heap(&self, object: ObjectId) -> bool {
        let ObjectKind::Allocated(instance, stmt) = self.analysed.objects.all[object].kind else {
            return false;
        };
        let body = self.analysed.inlined.instances[instance].body;
        matches!(body.stmts[stmt], Stmt::Call { .. })
    }

    /// Whether two addresses are equal, which may be if they lie in different objects; none where they
    /// do not.
    pub(super) fn equal_if_apart(
        &mut self,
        pool: &mut TermPool,
        [a, b]: [Term; 2],
    ) -> Option<Term> {
        let equal = pool.eq(a, b);
        let apart = self.lie_apart(pool, [a, b]);
        if pool.as_bool(equal) == Some(true) || pool.as_bool(apart) == Some(false) {
            return None;
        }
        self.more("an address that may be the end of an object is compared with another's");
        let any = Self::anything(pool, Sort::Bool);
        let meet = pool.and(apart, any);
        Some(pool.or(equal, meet))
    }

    /// Whether two addresses are not null, and, where that shows, in different objects.
    fn lie_apart(&self, pool: &mut TermPool, [a, b]: [Term; 2]) -> Term {
        let page = pool.bv(64, NULL_PAGE);
        let [is_a, is_b] = [a, b].map(|address| pool.uge(address, page));
        let both = pool.and(is_a, is_b);
        if self.target() != Target::X86_64 {
            return both;
        }
        let shift = self.analysed.objects.span().0.trailing_zeros();
        let [a, b] = [a, b].map(|address| pool.extract(63, shift, address));
        let differ = pool.neq(a, b);
        pool.and(both, differ)
    }
}
