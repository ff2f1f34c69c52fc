//! Calls of undefined functions that C orders in no way: those in two operands of one expression.
//!
//! A test gives the results of a function call by call. Where compilers choose the order of the calls, they
//! choose which call gets which result.

use lydian_base::Span;

use super::externals::ExternalAnswer;
use crate::interp::machine::call_stack::Frame;
use crate::program::source::{FunctionSource, Point};
use crate::program::{FuncId, Program};

/// The most open calls, the newest first, whose expressions are looked at.
const MOST_CALLERS: usize = 64;

/// A call of an undefined function within an operand.
struct OperandCall {
    /// The call of the function with the expression, by its serial number.
    activation: u64,
    /// The expression's position among those of its function, and the operand's in it.
    expression: usize,
    operand: usize,
    function: FuncId,
    answer: ExternalAnswer,
}

/// The calls of undefined functions in operands without an order.
#[derive(Default)]
pub(super) struct UnsequencedCalls {
    seen: Vec<OperandCall>,
}

impl UnsequencedCalls {
    /// Notes a call of an undefined function and its answer, with the calls that are open, the newest first.
    /// Returns whether it has no order with another one of the same function whose answer is another, so that
    /// C does not define which gets which.
    pub(super) fn note<'f>(
        &mut self,
        program: &Program,
        open: impl Iterator<Item = &'f Frame<'f, 'f>>,
        (function, answer): (FuncId, &ExternalAnswer),
    ) -> bool {
        let mut matters = false;
        for frame in open.take(MOST_CALLERS) {
            let Some(source) = source_of(program, frame) else { continue };
            let Some(Point::Stmt(stmt)) = frame.location().map(|location| location.point) else {
                continue;
            };
            let text = source.stmts[stmt];
            let is_in = |operand: &Span| operand.start <= text.start && text.end <= operand.end;
            for (expression, operands) in source.unsequenced.iter().enumerate() {
                let Some(operand) = operands.iter().position(is_in) else { continue };
                let (activation, answer) = (frame.serial, answer.clone());
                let call = OperandCall { activation, expression, operand, function, answer };
                matters |= self.add(call);
            }
        }
        matters
    }

    /// Adds a call. Returns whether one of another operand had another answer, so that the order matters.
    fn add(&mut self, new: OperandCall) -> bool {
        let is_of = |known: &OperandCall| {
            (known.activation, known.expression) == (new.activation, new.expression)
        };
        // An earlier operand again: the expression is evaluated anew.
        self.seen.retain(|known| !is_of(known) || known.operand <= new.operand);
        let mut others = self.seen.iter().filter(|known| is_of(known));
        let matters = others.any(|known| {
            known.operand < new.operand
                && known.function == new.function
                && known.answer != new.answer
        });
        self.seen.push(new);
        matters
    }
}

/// The source of the function of a call, if it has operands without an order.
fn source_of<'p>(program: &'p Program, frame: &Frame<'_, '_>) -> Option<&'p FunctionSource> {
    let body = program.functions[frame.code.function].body.as_ref()?;
    Some(&body.source).filter(|source| !source.unsequenced.is_empty())
}
