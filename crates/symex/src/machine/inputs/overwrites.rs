//! Writes of undefined functions over existing values.
//!
//! Such a call may write to all memory that it can reach: through its arguments by pointers that
//! are not to const, also behind pointers stored there, to variables of external linkage, and to
//! the error number. A function of the system's libraries knows none of the program's variables. Of
//! the reachable memory, only values that the path looked at or wrote make a difference: everything
//! else has any value anyway. So each such value becomes a choice under a symbol of its own,
//! between the old value and a fresh input. In a test, the call writes where the choice is for the
//! latter.
//!
//! Memory that cannot be reached at the call is unchanged. It is granted that the function keeps no
//! pointers from earlier calls, and calls nothing back ([`AssumptionKind::KeptPointers`]).
//!
//! All this follows from the state alone, so that a replayed path gets the same writes.

use std::cmp::Reverse;
use std::ops::Range;
use std::sync::Arc;

use lydian_inputs::bounds::nothing_kept;
use lydian_inputs::lazy::shape::PartKind;
use lydian_inputs::lazy::{LazyObject, Row};
use lydian_inputs::{CellPlan, MOST_WRITTEN, WriteContents, WritePlan};
use lydian_ir::outside::writes_nothing;
use lydian_ir::test::WriteBase;
use lydian_ir::{CType, CTypeId, FuncId, Type};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::{Node, Sort, Term};

use crate::machine::Machine;
use crate::machine::calls::call_site::CallSite;
use crate::machine::inputs::permitted::PermittedWrites;
use crate::machine::inputs::reachable::{Piece, ReachableMemory, ReachableRange, is_of_system};
use crate::machine::memory::{Background, Object, ObjectKind, distance};
use crate::machine::state::{Notes, State};

/// Numbers without a gap that take more bytes than this are one array.
const MOST_APART: u64 = 64;
/// The most elements before the place of a pointer that are kept one by one.
const MOST_KEPT: u64 = 256;

/// A number that is a choice of this many calls is always written by the next one.
const MOST_CHOICES: u32 = 8;

/// The rows of an object that became choices as arrays.
enum ChosenRows {
    /// All rows.
    All,
    /// These rows of an input object.
    Of(Vec<Row>),
}

impl ChosenRows {
    /// Whether there are more bytes than are overwritten one by one.
    fn leave_bytes_out<N>(&self, state: &State<N>, reached: &ReachableRange) -> bool {
        let contents = &state.memory.object(reached.object).contents;
        let is_lazy = matches!(contents.background(), Background::Lazy { .. });
        let bytes = reached.bytes.end.saturating_sub(reached.bytes.start);
        matches!(self, Self::Of(_)) && !is_lazy && bytes > MOST_WRITTEN
    }

    fn have(&self, object: &Object, at: u64) -> bool {
        match (self, object.contents.background()) {
            (Self::All, _) => true,
            (Self::Of(rows), Background::Lazy { object, .. }) => {
                rows.contains(&object.row_at(distance(at)).0)
            }
            (Self::Of(_), _) => false,
        }
    }
}

/// An undefined function's call that writes.
#[derive(Clone, Copy)]
struct Call<'a> {
    /// The part of the names of values after the call.
    name: &'a str,
    permitted: &'a PermittedWrites,
    /// In a second run, the values that the same call writes in the first: it writes no others, though
    /// the path knows more of its memory by now.
    first: Option<&'a [Term]>,
}

impl Call<'_> {
    /// Whether the call writes a value.
    fn writes(self, value: Term) -> bool {
        self.first.is_none_or(|first| first.contains(&value))
    }

    /// Whether the call may write to some bytes of a reached range.
    fn may_write(self, reached: &ReachableRange, bytes: &Range<u64>) -> bool {
        let Some(place) = reached.place else { return !self.permitted.is_stated() };
        let behind = bytes.start.wrapping_sub(place)..bytes.end.wrapping_sub(place);
        self.permitted.allow(&reached.way.to, &reached.way.through, &behind)
    }
}

impl<N: Notes> Machine<'_, '_, N> {
    /// Overwrites everything that a call of an undefined function can reach. Returns the writes,
    /// those behind the most pointers first.
    pub(crate) fn overwrite(
        &mut self,
        state: &mut State<N>,
        func: FuncId,
        site: &CallSite,
        arg_types: &[CTypeId],
        permitted: &PermittedWrites,
    ) -> Vec<WritePlan> {
        let function = &self.context.program.functions[func];
        if !self.context.spec.lazy || writes_nothing(&function.name) {
            return Vec::new();
        }
        let call = format!("{}()#{}", function.name, state.calls_of(&function.name));
        let ReachableMemory { mut found, incomplete } = self.reach_of(state, func, site, arg_types);
        // Two ways may lead to one object, so the path has the order of the test: what a pointer leads
        // to is written before the pointer.
        found.sort_by_key(|reached| Reverse(reached.way.through.len()));
        let (mut incomplete, mut writes) = (incomplete, Vec::new());
        let first = state.written_in_first_run(&function.name);
        for reached in found.iter().filter(|reached| reached.writable) {
            if state.memory.object(reached.object).is_lost() {
                continue;
            }
            let call = Call { name: &call, permitted, first: first.as_deref() };
            let rows = self.overwrite_rows(state, reached, call, &mut writes);
            self.overwrite_pieces(state, reached, &rows, call, &mut writes);
            incomplete |= rows.leave_bytes_out(state, reached);
        }
        if !permitted.is_stated() {
            self.assume_reach(func, incomplete);
        }
        writes
    }

    /// Notes the assumption that a call writes to nothing else.
    fn assume_reach(&mut self, func: FuncId, incomplete: bool) {
        let function = &self.context.program.functions[func];
        if !is_of_system(function) {
            self.bounds.assume(nothing_kept());
        }
        if incomplete {
            let name = &function.name;
            let sentence = format!("{name} writes only to what its arguments simply lead to");
            self.bounds.assume(Assumption::new(AssumptionKind::ExternalWrites, name, sentence));
        }
    }

    /// Makes each value in a reached range a choice between the old and a fresh one, except for
    /// rows that are choices already.
    fn overwrite_pieces(
        &mut self,
        state: &mut State<N>,
        reached: &ReachableRange,
        rows: &ChosenRows,
        call: Call<'_>,
        writes: &mut Vec<WritePlan>,
    ) {
        if matches!(rows, ChosenRows::All) || self.is_planned_variable(state, reached) {
            return;
        }
        for Piece { at, kind } in self.pieces(state, reached) {
            let object = state.memory.object(reached.object);
            let size = kind.bytes();
            if rows.have(object, at) || !call.may_write(reached, &(at..at + size)) {
                continue;
            }
            let unwritten = object.contents.unwritten(&mut self.pool, at, size);
            let is_unwritten = unwritten.contains(&true);
            // The plan of the call writes memory without a value that arguments lead to.
            if is_unwritten && is_planned(reached, at) {
                continue;
            }
            let may_stay = !is_unwritten && !self.was_written_often(object, (at, size), kind);
            let name = name_of(object, at, call.name);
            let fresh = self.context.inputs.fresh(&mut self.pool, kind, &name);
            if !call.writes(fresh) {
                continue;
            }
            let length = object.length;
            let mut when = self.when_written(reached, may_stay, &name);
            if let Some(length) = length {
                let end = self.pool.bv(64, at + size);
                let inside = self.pool.ule(end, length);
                when = self.pool.and(when, inside);
            }
            state.memory.store_where(&mut self.pool, (reached.object, at), when, (size, fresh));
            let cell = CellPlan { offset: 0, ty: machine_type(kind), value: fresh };
            let offset = reached.behind_way(at);
            let written = WriteContents::Cells { size, cells: vec![cell] };
            writes.push(plan_of(reached, offset, written, when));
        }
    }

    /// Whether a number is a choice of so many calls that the term is too large. Then the next call
    /// always writes it, possibly the same number.
    fn was_written_often(
        &mut self,
        object: &Object,
        (at, size): (u64, u64),
        kind: PartKind,
    ) -> bool {
        let mut value = object.contents.read(&mut self.pool, at, size);
        let mut choices = 0;
        while let Node::Ite(_, _, before) = self.pool.node(value) {
            (value, choices) = (before, choices + 1);
        }
        choices >= MOST_CHOICES && !matches!(kind, PartKind::Pointer(_))
    }

    /// The condition under which a reached value is written: where the call chooses to. A value
    /// that is missing is always written.
    fn when_written(&mut self, reached: &ReachableRange, may_stay: bool, name: &str) -> Term {
        if !may_stay {
            return reached.guard;
        }
        let changed = self.pool.var(&format!("changed({name})"), Sort::Bool);
        self.pool.and(reached.guard, changed)
    }

    /// Whether a reached range is a lone variable that an argument leads to, which the plan of the
    /// call sets.
    fn is_planned_variable(&self, state: &State<N>, reached: &ReachableRange) -> bool {
        let object = state.memory.object(reached.object);
        let types = &self.context.program.types;
        let is_lone = |ty: CTypeId| {
            types.scalar(ty).is_some() && types.size(ty) == Some(object.size - reached.bytes.start)
        };
        is_planned(reached, reached.bytes.start)
            && !matches!(object.kind, ObjectKind::Input | ObjectKind::Lazy)
            && object.length.is_none()
            && reached.element.is_some_and(is_lone)
    }

    /// Makes each array in a reached range a choice between the old and a fresh one.
    fn overwrite_rows(
        &mut self,
        state: &mut State<N>,
        reached: &ReachableRange,
        call: Call<'_>,
        writes: &mut Vec<WritePlan>,
    ) -> ChosenRows {
        let object = state.memory.object(reached.object);
        if let Background::Lazy { object: lazy, .. } = object.contents.background() {
            let lazy = lazy.clone();
            return ChosenRows::Of(self.overwrite_lazy_rows(state, reached, &lazy, call, writes));
        }
        let element = self.element_of_array(object, reached);
        let element = element.filter(|_| call.may_write(reached, &reached.bytes));
        let Some(element) = element else { return ChosenRows::Of(Vec::new()) };
        let name = name_of(object, reached.bytes.start, call.name);
        let may_stay = !object.contents.is_unwritten_beneath(&self.pool);
        let when = self.when_written(reached, may_stay, &name);
        let (size, object_length) = (object.size, object.length);
        let contents = &mut state.memory.object_mut(reached.object).contents;
        let (old, element) = contents.make_array(&mut self.pool, size, element);
        let sort = Sort::Array { index: 32, element: element as u32 * 8 };
        let symbol = self.pool.var(&format!("{name}:{element}"), sort);
        if !call.writes(symbol) {
            return ChosenRows::All;
        }
        let mut array = self.pool.ite(when, symbol, old);
        for index in 0..reached.bytes.start / element {
            let index = self.pool.bv(32, index);
            let kept = self.pool.select(old, index);
            array = self.pool.store(array, index, kept);
        }
        contents.set_array(array, element);
        let offset = reached.behind_way(0);
        let behind = self.pool.bv(64, offset);
        let length = object_length.unwrap_or_else(|| self.pool.bv(64, size));
        let length = self.pool.add(length, behind);
        let written = WriteContents::Row { symbol, kind: PartKind::Raw(element), of: None };
        let plan = plan_of(reached, offset, written, when);
        writes.push(WritePlan { length: Some(length), ..plan });
        ChosenRows::All
    }

    /// The size in bytes of an element, where a reached range is best handled as one array: it is
    /// an array already, or consists of many adjacent numbers.
    fn element_of_array(&self, object: &Object, reached: &ReachableRange) -> Option<u64> {
        let types = &self.context.program.types;
        let bytes = reached.bytes.end.checked_sub(reached.bytes.start)?;
        let scalar = reached.element.and_then(|ty| types.scalar(ty));
        let element = match (object.contents.background(), scalar) {
            (Background::Array { element, .. }, _) => u64::from(*element),
            (_, Some(Type::Int(_) | Type::F32 | Type::F64)) if bytes > MOST_APART => {
                reached.element.and_then(|ty| types.size(ty)).filter(|size| *size <= 8)?
            }
            (_, None) if bytes > MOST_WRITTEN => 1,
            (_, None) if bytes > MOST_APART && self.is_void(reached.element) => 1,
            _ => return None,
        };
        let start = reached.bytes.start;
        let is_kept = start.is_multiple_of(element) && start / element <= MOST_KEPT;
        (is_kept && reached.bytes.end == object.size).then_some(element)
    }

    fn is_void(&self, ty: Option<CTypeId>) -> bool {
        ty.is_none_or(|ty| *self.context.program.types.get(ty) == CType::Void)
    }

    /// Makes the rows that the path has as arrays of an input object choices. Returns them.
    fn overwrite_lazy_rows(
        &mut self,
        state: &mut State<N>,
        reached: &ReachableRange,
        lazy: &Arc<LazyObject>,
        call: Call<'_>,
        writes: &mut Vec<WritePlan>,
    ) -> Vec<Row> {
        let object = state.memory.object(reached.object);
        let has_arrays = !object.touched.at().is_empty() || object.contents.has_rows();
        if !has_arrays || !call.may_write(reached, &reached.bytes) {
            return Vec::new();
        }
        // A block that the inputs' block was moved to has a length.
        let behind = self.pool.bv(64, reached.behind_way(0));
        let length = object.length.map(|length| self.pool.add(length, behind));
        let mut rows = Vec::new();
        for (row, _) in lazy.known_arrays() {
            let contents = &state.memory.object(reached.object).contents;
            let Some(old) = contents.row(&mut self.pool, &row) else { continue };
            let name = format!("{} after {}", lazy.name_of_row(&row), call.name);
            let symbol = self.pool.var(&name, self.pool.sort(old));
            if !call.writes(symbol) {
                continue;
            }
            let may_stay = true;
            let when = self.when_written(reached, may_stay, &name);
            let array = self.pool.ite(when, symbol, old);
            let contents = &mut state.memory.object_mut(reached.object).contents;
            contents.set_row(&mut self.pool, &row, array);
            let of = Some((lazy.clone(), row.clone()));
            let offset = reached.behind_way(0);
            let written = WriteContents::Row { symbol, kind: row.kind, of };
            writes.push(WritePlan { length, ..plan_of(reached, offset, written, when) });
            rows.push(row);
        }
        rows
    }
}

/// Whether the plan of the call says what is written to a place in a reached range.
fn is_planned(reached: &ReachableRange, at: u64) -> bool {
    let is_argument = matches!(reached.way.to, WriteBase::Argument(_));
    let place = reached.place.filter(|_| reached.way.through.is_empty() && is_argument);
    place.is_some_and(|place| at.wrapping_sub(place) < MOST_WRITTEN)
}

/// The name of a place in an object after a call.
fn name_of(object: &Object, at: u64, call: &str) -> String {
    match &object.first {
        Some(first) => format!("{} after {call}", first.path_at(distance(at))),
        None => format!("{}@{:x}+{at} after {call}", object.name, object.base),
    }
}

/// The machine type of values of a kind in a test.
const fn machine_type(kind: PartKind) -> Type {
    match kind {
        PartKind::Number(machine, _) => machine,
        PartKind::Pointer(_) => Type::Ptr,
        PartKind::Raw(size) => Type::Int(size as u8 * 8),
    }
}

fn plan_of(reached: &ReachableRange, offset: u64, written: WriteContents, when: Term) -> WritePlan {
    WritePlan {
        chain: reached.way.clone(),
        target: 0,
        offset,
        contents: written,
        when,
        length: None,
    }
}
