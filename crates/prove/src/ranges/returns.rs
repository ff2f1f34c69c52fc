//! Summaries: the results of functions, for their callers.
//!
//! A number has a range for each return, with the arguments that lead there ([`ReturnCase`]). A
//! pointer is null or not, or is one of the arguments plus an offset. After a call, an argument is
//! not null if the callee accesses its pointee on every path.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use lydian_ir::source::Point;
use lydian_ir::stmt::Terminator;
use lydian_ir::{Block, BlockId, Body, Expr, ExprId, FuncId, LocalId, Program, StmtId, Type};
use rustc_hash::FxHashMap;

use super::{Interval, ObjectSizes, Ranges, State, register};

/// The most returns of a function that are kept separately.
const MOST_CASES: usize = 16;
/// The most statements of callees that are followed altogether.
const MOST_WORK: usize = 40_000;

/// The result of a call of a function whose returns are kept separately.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct CallResult {
    /// The arguments that are registers: the positions of the parameters, and the registers.
    arguments: Vec<(usize, LocalId)>,
    cases: Arc<[ReturnCase]>,
}

/// One of a function's returns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReturnCase {
    result: Interval,
    /// The values of its parameters that can lead there, for parameters that the function does not
    /// assign to.
    parameters: BTreeMap<usize, Interval>,
}

/// The summaries of functions, computed once for all callers.
#[derive(Debug, Default)]
pub(super) struct Summaries {
    known: RefCell<FxHashMap<FuncId, Option<Summary>>>,
    work: RefCell<usize>,
}

/// The facts after a call of a function has returned.
#[derive(Clone, Debug)]
pub(super) struct Summary {
    returned: Option<ReturnSummary>,
    /// The parameters that were not null, by position.
    not_null: Arc<[usize]>,
}

impl Summary {
    /// The same for a call whose result the caller uses as a value of a type, if of any. A call
    /// through another type gives something else.
    pub(super) fn taken_for(mut self, ty: Option<Type>) -> Self {
        self.returned = self.returned.filter(|returned| Some(returned.ty) == ty);
        self
    }
}

/// The result of a function.
#[derive(Clone, Debug)]
struct ReturnSummary {
    ty: Type,
    value: ReturnedValue,
}

/// The value that a function returns.
#[derive(Clone, Debug)]
enum ReturnedValue {
    /// A number.
    Number {
        range: Interval,
        /// The same, return by return; empty if there are too many returns, or one.
        cases: Arc<[ReturnCase]>,
    },
    /// A pointer.
    Pointer(ReturnedPointer),
}

/// A pointer that a function returns.
#[derive(Clone, Copy, Debug)]
struct ReturnedPointer {
    /// Whether it is null, if that is known.
    is_null: Option<bool>,
    /// The parameter that it is made of, and the number of bytes from there.
    made_of: Option<(usize, i128)>,
}

/// The common value of all, if there is one.
fn common<T: PartialEq>(mut all: impl Iterator<Item = Option<T>>) -> Option<T> {
    let first = all.next()??;
    all.all(|other| other.as_ref() == Some(&first)).then_some(first)
}

impl Ranges<'_> {
    /// Applies the return of a call to a state.
    pub(super) fn called(
        &self,
        state: &mut State,
        stmt: StmtId,
        dst: Option<LocalId>,
        args: &[ExprId],
    ) {
        let summary = self.summaries.get(&stmt);
        for at in summary.iter().flat_map(|summary| summary.not_null.iter()) {
            // If it is null, the call does not return.
            if let Some(arg) = args.get(*at) {
                self.note_null(state, *arg, false);
            }
        }
        if let Some(dst) = dst {
            let returned = summary.and_then(|summary| summary.returned.as_ref());
            self.gave(state, returned, dst, args);
        }
    }

    /// Applies the assignment of a call's result to a register.
    fn gave(
        &self,
        state: &mut State,
        returned: Option<&ReturnSummary>,
        dst: LocalId,
        args: &[ExprId],
    ) {
        let address = returned.and_then(|returned| {
            let ReturnedValue::Pointer(ReturnedPointer { made_of: Some((at, offset)), .. }) =
                returned.value
            else {
                return None;
            };
            self.address(state, *args.get(at)?)?
                .moved(offset)
                .filter(|address| !address.is_made_of(dst))
        });
        let argument = |at: usize| self.is_null(state, *args.get(at)?);
        let is_null = returned.and_then(|returned| match returned.value {
            ReturnedValue::Pointer(ReturnedPointer { is_null: Some(is_null), .. }) => Some(is_null),
            ReturnedValue::Pointer(ReturnedPointer { made_of: Some((at, offset)), .. }) => {
                argument(at).filter(|is_null| !is_null || offset == 0)
            }
            _ => None,
        });
        state.forget(dst);
        state.addresses.extend(address.map(|address| (dst, address)));
        state.nulls.extend(is_null.map(|is_null| (dst, is_null)));
        if let Some(ReturnSummary { value: ReturnedValue::Number { range, cases }, .. }) = returned
        {
            state.ranges.insert(dst, *range);
            let call = self.call_result(dst, args, cases);
            call.into_iter().for_each(|call| _ = state.results.insert(dst, call));
        }
    }

    /// The relation of the result of a call to its arguments, if there is one.
    fn call_result(
        &self,
        dst: LocalId,
        arguments: &[ExprId],
        cases: &Arc<[ReturnCase]>,
    ) -> Option<Arc<CallResult>> {
        let is_told = |at: usize| cases.iter().any(|case| case.parameters.contains_key(&at));
        let register = |(at, argument): (usize, &ExprId)| match self.body.exprs[*argument] {
            Expr::Local(local) if local != dst && is_told(at) => {
                register(self.body, local).map(|_| (at, local))
            }
            _ => None,
        };
        let arguments: Vec<_> = arguments.iter().enumerate().filter_map(register).collect();
        (!arguments.is_empty()).then(|| Arc::new(CallResult { arguments, cases: cases.clone() }))
    }

    /// Restricts other registers by the values of a register, through the calls that it is the result
    /// or an argument of.
    pub(super) fn learn_by_cases(&self, mut state: State, local: LocalId) -> Option<State> {
        let is_about =
            |result: LocalId, call: &CallResult| result == local || call.has_argument(local);
        let calls: Vec<Vec<Vec<(LocalId, Interval)>>> = state
            .results
            .iter()
            .filter(|(result, call)| is_about(**result, call))
            .map(|(result, call)| call.said(*result, &state.ranges))
            .collect();
        for cases in calls {
            let mut cases = cases.into_iter();
            let mut all: BTreeMap<LocalId, Interval> = cases.next()?.into_iter().collect();
            for case in cases {
                let case: BTreeMap<LocalId, Interval> = case.into_iter().collect();
                all.retain(|other, range| match case.get(other) {
                    Some(there) => {
                        *range = range.join(*there);
                        true
                    }
                    None => false,
                });
            }
            for (other, range) in all {
                let known = self.range(&state, other)?.meet(range)?;
                state.ranges.insert(other, known);
            }
        }
        Some(state)
    }

    /// The facts where the function returns.
    fn summary(&self) -> Summary {
        let is_return = |(id, block): (BlockId, &Block)| match block.term {
            Terminator::Return(value) => Some((self.before(Point::Term(id))?, value)),
            _ => None,
        };
        let returns: Vec<(State, Option<ExprId>)> =
            self.body.blocks.iter().filter_map(is_return).collect();
        let is_not_null = |local: LocalId| {
            let known = returns.iter().map(|(state, _)| state.nulls.get(&local).copied());
            common(known) == Some(false)
        };
        let not_null = self.kept.iter().filter(|(local, _)| is_not_null(**local));
        let not_null = not_null.map(|(_, at)| *at).collect();
        let values = returns.into_iter().map(|(state, value)| Some((state, value?)));
        Summary { returned: self.returned(values.collect()), not_null }
    }

    /// The result of the function, if it is known for all returns.
    fn returned(&self, returns: Option<Vec<(State, ExprId)>>) -> Option<ReturnSummary> {
        let returns = returns?;
        let ty = self.types[returns.first()?.1];
        if returns.iter().any(|(_, value)| self.types[*value] != ty) {
            return None;
        }
        let value = match ty {
            Type::Ptr => ReturnedValue::Pointer(self.returned_pointer(&returns)),
            _ => self.returned_number(&returns)?,
        };
        Some(ReturnSummary { ty, value })
    }

    fn returned_number(&self, returns: &[(State, ExprId)]) -> Option<ReturnedValue> {
        let case = |(state, value): &(State, ExprId)| {
            let known = |(local, at): (&LocalId, &usize)| Some((*at, *state.ranges.get(local)?));
            let parameters = self.kept.iter().filter_map(known).collect();
            Some(ReturnCase { result: self.eval(state, *value)?, parameters })
        };
        let cases: Vec<ReturnCase> = returns.iter().map(case).collect::<Option<_>>()?;
        let range = cases.iter().map(|case| case.result).reduce(Interval::join)?;
        let is_told = (2..=MOST_CASES).contains(&cases.len());
        Some(ReturnedValue::Number {
            range,
            cases: if is_told { cases.into() } else { Arc::new([]) },
        })
    }

    fn returned_pointer(&self, returns: &[(State, ExprId)]) -> ReturnedPointer {
        let made_of = |(state, value): &(State, ExprId)| {
            let (pointer, offset) = self.address(state, *value)?.constant_from_pointer()?;
            Some((*self.kept.get(&pointer)?, offset))
        };
        ReturnedPointer {
            is_null: common(returns.iter().map(|(state, value)| self.is_null(state, *value))),
            made_of: common(returns.iter().map(made_of)),
        }
    }
}

impl CallResult {
    /// Whether a register is one of its arguments.
    pub(super) fn has_argument(&self, local: LocalId) -> bool {
        self.arguments.iter().any(|(_, argument)| *argument == local)
    }

    /// The values of registers in each case, including the result, for cases that the ranges allow.
    pub(super) fn said(
        &self,
        result: LocalId,
        ranges: &BTreeMap<LocalId, Interval>,
    ) -> Vec<Vec<(LocalId, Interval)>> {
        let of_case = |case: &ReturnCase| -> Vec<(LocalId, Interval)> {
            let values = self
                .arguments
                .iter()
                .filter_map(|(at, local)| Some((*local, *case.parameters.get(at)?)));
            std::iter::once((result, case.result)).chain(values).collect()
        };
        let is_allowed = |case: &Vec<(LocalId, Interval)>| {
            let meets = |(local, values): &(LocalId, Interval)| {
                ranges.get(local).is_none_or(|range| range.meet(*values).is_some())
            };
            case.iter().all(meets)
        };
        self.cases.iter().map(of_case).filter(is_allowed).collect()
    }
}

impl Summaries {
    /// The facts after a call of a function has returned; `None` if there are none.
    pub(super) fn of(&self, program: &Program, func: FuncId, depth: u32) -> Option<Summary> {
        let function = &program.functions[func];
        let body = function.body.as_ref()?;
        if !may_say_something(body) {
            return None;
        }
        if let Some(known) = self.known.borrow().get(&func) {
            return known.clone();
        }
        let work = *self.work.borrow() + body.stmts.len();
        // Another definition may stand in for a weak one, the system's for one of the C library.
        if depth == 0 || work > MOST_WORK || function.weak || function.library {
            return None;
        }
        *self.work.borrow_mut() = work;
        // A function that calls itself can return anything, as far as it is known here.
        self.known.borrow_mut().insert(func, None);
        let ranges = Ranges::find(program, func, ObjectSizes::Any, self, depth - 1);
        let found = ranges.map(|ranges| ranges.summary());
        self.known.borrow_mut().insert(func, found.clone());
        found
    }
}

/// Whether a function returns a number or a pointer, or is given a pointer.
fn may_say_something(body: &Body) -> bool {
    let is_pointer = |local: &LocalId| register(body, *local) == Some(Type::Ptr);
    let returned = |block: &Block| match block.term {
        Terminator::Return(Some(value)) => Some(body.type_of(value)),
        _ => None,
    };
    let is_followed = |ty: Type| Interval::of(ty).is_some() || ty == Type::Ptr;
    body.params.iter().any(is_pointer)
        || body.blocks.values().find_map(returned).is_some_and(is_followed)
}
