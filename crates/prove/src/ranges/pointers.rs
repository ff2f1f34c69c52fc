//! Null pointers: the pointers that are null, and those that are not.
//!
//! A pointer in a register or cell may be known to be null, or known not to be: by a comparison, by
//! an assignment, or by an access. So a check for null after an access is decided: `p->n = 0; if
//! (p)`.
//!
//! An access through a null pointer traps, at whatever offset: there is no object that it started
//! from (the argument of [`accesses`](super::accesses)). So after an access neither the pointer that
//! it goes through is null, nor the one that this was made of. Arithmetic on a pointer stays within
//! its object or goes just behind it, as C requires, so its result is null only if the pointer is.
//! Variables that are only declared weakly can be absent, so their addresses are not known.

use lydian_ir::libc::library_function;
use lydian_ir::stmt::Callee;
use lydian_ir::{Body, CmpOp, Expr, ExprId, LocalId, Program, Stmt, Type};

use super::{Ranges, State};

/// The number of first arguments of a call whose pointees the callee accesses, whatever the other
/// arguments are.
pub(super) fn accessed_arguments(program: &Program, stmt: &Stmt) -> usize {
    let Stmt::Call { callee: Callee::Direct(callee), .. } = stmt else { return 0 };
    let function = &program.functions[*callee];
    let row = library_function(&function.name).filter(|_| function.body.is_none());
    let modelled = row.filter(|row| row.model().is_some());
    modelled.and_then(|row| row.effects).map_or(0, |effects| effects.needs.leading())
}

/// The pointer from which an address is computed.
fn origin(body: &Body, addr: ExprId) -> ExprId {
    match body.exprs[addr] {
        Expr::Field { base, .. } | Expr::Index { base, .. } => origin(body, base),
        _ => addr,
    }
}

impl Ranges<'_> {
    /// The register or cell with a pointer that an expression reads.
    fn pointer(&self, expr: ExprId) -> Option<LocalId> {
        self.read(expr).filter(|local| self.ty(*local) == Some(Type::Ptr))
    }

    /// Whether a pointer is null; none where that is not known.
    pub(super) fn is_null(&self, state: &State, expr: ExprId) -> Option<bool> {
        match self.body.exprs[expr] {
            Expr::Const(Type::Ptr, bits) => Some(bits == 0),
            Expr::AddrLocal(_) => Some(false),
            Expr::AddrGlobal(global) => (!self.program.globals[global].weak).then_some(false),
            Expr::AddrFunc(func) => (!self.program.functions[func].weak).then_some(false),
            Expr::Field { base, .. } | Expr::Index { base, .. } => {
                self.is_null(state, base).filter(|is_null| !is_null)
            }
            _ => state.nulls.get(&self.pointer(expr)?).copied(),
        }
    }

    /// Adds to a state that a pointer is null, or is not. Returns false, and adds nothing, if that is
    /// never so.
    pub(super) fn note_null(&self, state: &mut State, expr: ExprId, is_null: bool) -> bool {
        match self.pointer(expr) {
            Some(pointer) => self.note_null_pointer(state, pointer, is_null),
            None => self.is_null(state, expr).is_none_or(|known| known == is_null),
        }
    }

    fn note_null_pointer(&self, state: &mut State, pointer: LocalId, is_null: bool) -> bool {
        if state.nulls.get(&pointer).is_some_and(|known| *known != is_null) {
            return false;
        }
        let same: Vec<LocalId> = self.copies(state, pointer).collect();
        state.nulls.extend(same.into_iter().map(|pointer| (pointer, is_null)));
        true
    }

    /// A register or cell and those that are copies of one and the same pointer.
    fn copies(&self, state: &State, pointer: LocalId) -> impl Iterator<Item = LocalId> {
        let original =
            |local: LocalId| state.addresses.get(&local).and_then(|address| address.copied());
        let first = original(pointer).unwrap_or(pointer);
        let others =
            state.addresses.keys().copied().filter(move |local| original(*local) == Some(first));
        others.chain([first, pointer])
    }

    /// Applies a comparison of pointers to a state; `None` if it never comes out so.
    pub(super) fn compared_pointers(
        &self,
        mut state: State,
        op: CmpOp,
        a: ExprId,
        b: ExprId,
    ) -> Option<State> {
        if self.types[a] != Type::Ptr {
            return Some(state);
        }
        // Whether one side is null by what is known of the other.
        let by_other = |other: ExprId| match (op, self.is_null(&state, other)?) {
            (CmpOp::Eq, is_null) => Some(is_null),
            (CmpOp::Ne, true) => Some(false),
            _ => None,
        };
        let known = [(a, by_other(b)), (b, by_other(a))];
        let mut known = known.into_iter().filter_map(|(side, is_null)| Some((side, is_null?)));
        known.all(|(side, is_null)| self.note_null(&mut state, side, is_null)).then_some(state)
    }

    /// Whether a comparison of pointers holds; none where that is not known.
    pub(super) fn compare_pointers(
        &self,
        state: &State,
        op: CmpOp,
        a: ExprId,
        b: ExprId,
    ) -> Option<bool> {
        let equal = match (self.is_null(state, a)?, self.is_null(state, b)?) {
            (true, true) => true,
            (false, false) => return None,
            _ => false,
        };
        match op {
            CmpOp::Eq => Some(equal),
            CmpOp::Ne => Some(!equal),
            _ => None,
        }
    }

    /// The state behind an access that did not trap; none if it does.
    pub(super) fn accessed_through(&self, mut state: State, addr: ExprId) -> Option<State> {
        let pointer = origin(self.body, addr);
        if self.types[pointer] != Type::Ptr {
            return Some(state);
        }
        let made_of =
            self.pointer(pointer).and_then(|pointer| state.addresses.get(&pointer)?.pointer());
        let is_met = self.note_null(&mut state, pointer, false)
            && made_of.is_none_or(|first| self.note_null_pointer(&mut state, first, false));
        is_met.then_some(state)
    }
}
