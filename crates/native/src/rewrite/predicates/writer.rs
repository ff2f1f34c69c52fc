//! Statements that evaluate the predicate of a label on the state at one place, and set its cell.

use lydian_base::SideTable;
use lydian_ir::cexact::{ExactC, Guard, Loads, Names, ScopedNames};
use lydian_ir::source::Capture;
use lydian_ir::trap::may_trap;
use lydian_ir::{Body, CType, ConditionId, Expr, ExprId, LocalId, Overflow, Program, Type, arith};
use lydian_objective::{FunctionObjectives, Pred};

use crate::rewrite::predicates::code::{CodeWriter, DecisionEvent, SharedValues};
use crate::rewrite::predicates::dual_rail::{DualRail, DualRailWriter, PredicateLeaves};
use crate::rewrite::predicates::parameters::{ParameterNames, ProbeParameters};
use crate::rewrite::predicates::{PAGES, POISON};
use crate::rewrite::request::{Purpose, RewriteRequest};

/// The context of a text: the state that it refers to, and the names in it.
#[derive(Clone, Copy)]
pub(crate) struct TextContext<'a> {
    /// The place in the user's text whose state it refers to.
    pub(crate) at: u32,
    /// The first expression that checks its operands.
    pub(crate) guard_from: usize,
    /// The captures that have names.
    pub(crate) captures: &'a [Capture],
    /// Its parameters, if it stands in a function of its own.
    pub(crate) parameters: Option<&'a ProbeParameters>,
}

impl TextContext<'_> {
    /// In the user's function, at this place. All expressions check their operands.
    pub(crate) const fn at(at: u32) -> Self {
        Self { at, guard_from: 0, captures: &[], parameters: None }
    }
}

/// The name of the variable that holds a captured value.
pub(crate) fn capture_name(temp: LocalId) -> String {
    format!("lydian_t{}", lydian_base::EntityId::index(temp))
}

/// Names captured values.
fn names_of(captures: &[Capture]) -> impl Fn(LocalId) -> Option<String> {
    |temp| captures.iter().any(|capture| capture.temp == temp).then(|| capture_name(temp))
}

/// Declarations of captured values, in order. A value of arithmetic type has the type of its
/// temporary, so that a bit-field is promoted as in the user's text.
pub(crate) fn capture_declarations(
    program: &Program,
    body: &Body,
    captured: &[(LocalId, String)],
) -> String {
    let declare = |temp: LocalId| match program.types.get(body.locals[temp].ty) {
        CType::Int { .. } | CType::Float | CType::Double | CType::LongDouble => {
            program.types.spell_compiled(body.locals[temp].ty, &capture_name(temp))
        }
        _ => format!("__auto_type {}", capture_name(temp)),
    };
    captured.iter().map(|(temp, text)| format!("{} = ({text}); ", declare(*temp))).collect()
}

/// The cell of a label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LabelCell {
    /// Its number.
    pub(crate) number: usize,
    /// Whether it is set just before undefined behaviour. Compilers may assume that this is never
    /// reached and remove stores before it, but not volatile stores.
    pub(crate) before_undefined: bool,
    /// A flag to set while the cell is not.
    pub(crate) open: Option<&'static str>,
}

impl LabelCell {
    /// The statement that sets it.
    fn set(self) -> String {
        let cell = self.number;
        match self.before_undefined {
            true => format!("*(volatile __typeof__(lydian_hit[0]) *)&lydian_hit[{cell}] = 1; "),
            false => format!("lydian_hit[{cell}] = 1; "),
        }
    }

    /// The statement that sets it where a condition holds, which must have no effects.
    pub(crate) fn set_if(self, condition: &str) -> String {
        let set = self.set();
        match self.open {
            None => format!("if ({condition}) {set}"),
            Some(flag) => format!("if ({condition}) {set}else {flag} = 1; "),
        }
    }
}

/// Writes predicates of one function's labels.
pub(crate) struct PredicateWriter<'a> {
    request: &'a RewriteRequest<'a>,
    objectives: &'a FunctionObjectives,
    body: &'a Body,
    types: SideTable<ExprId, Type>,
}

impl<'a> PredicateWriter<'a> {
    pub(crate) fn new(
        request: &'a RewriteRequest<'a>,
        objectives: &'a FunctionObjectives,
        body: &'a Body,
    ) -> Self {
        let types = body.types_in(&objectives.exprs);
        Self { request, objectives, body, types }
    }

    pub(crate) const fn body(&self) -> &'a Body {
        self.body
    }

    /// Whether the text becomes the user's own program.
    pub(crate) fn is_program(&self) -> bool {
        self.request.purpose == Purpose::Program
    }

    pub(crate) const fn objectives(&self) -> &'a FunctionObjectives {
        self.objectives
    }

    /// Whether compilers for the target have integers of 128 bits.
    pub(crate) fn has_wide_integers(&self) -> bool {
        self.request.program.types.target.pointer_bits() == 64
    }

    /// The bits of an integer expression; 64 for an address.
    pub(crate) fn width(&self, expr: ExprId) -> u32 {
        match self.types[expr] {
            Type::Int(bits) => u32::from(bits),
            _ => 64,
        }
    }

    /// C expressions for whether a predicate is surely true, and surely false, on the state at a
    /// place, and the declarations that they need.
    pub(crate) fn rails(
        &self,
        pred: &Pred,
        standing: TextContext<'_>,
    ) -> Result<(String, DualRail), String> {
        let mut writer = DualRailWriter::default();
        let rails = writer.write(pred, &mut StateLeaves { predicates: self, standing })?;
        Ok((writer.into_declarations(), rails))
    }

    /// Whether an expression of a predicate has a value on every state.
    pub(crate) fn cannot_trap(&self, expr: ExprId) -> bool {
        let overflow = if self.request.overflow_traps { Overflow::Trap } else { Overflow::Wrap };
        !may_trap(self.request.program, self.body, &self.objectives.exprs, expr, overflow)
    }

    pub(crate) fn slice(&self, span: lydian_base::Span) -> &'a str {
        self.request.map.slice(span)
    }

    /// A statement that sets the cell where the predicate is surely true on the state.
    pub(crate) fn label_probe(
        &self,
        pred: &Pred,
        cell: LabelCell,
        standing: TextContext<'_>,
    ) -> Result<String, String> {
        if let Pred::Const(value) = pred {
            return Ok(if *value { cell.set() } else { String::new() });
        }
        let mut writer = DualRailWriter::default();
        let mut leaves = StateLeaves { predicates: self, standing };
        let rails = writer.write(pred, &mut leaves)?;
        let declarations = writer.into_declarations();
        let (number, set) = (cell.number, cell.set_if(&rails.yes));
        Ok(format!("if (!lydian_hit[{number}]) {{ {declarations}{set}}} "))
    }

    /// C expressions for whether each predicate is surely true on the state at `at`, and the
    /// declarations that they need.
    pub(crate) fn truths(&self, preds: &[&Pred], at: u32) -> Result<(String, Vec<String>), String> {
        let mut writer = DualRailWriter::default();
        let mut leaves = StateLeaves { predicates: self, standing: TextContext::at(at) };
        let rails = preds.iter().map(|pred| writer.write(pred, &mut leaves));
        let truths: Result<Vec<String>, String> = rails.map(|rails| Ok(rails?.yes)).collect();
        Ok((writer.into_declarations(), truths?))
    }

    /// The text of a condition that was not reached, which reads variables by their names only: it
    /// sets [`POISON`] where it has no value.
    pub(crate) fn text_where_defined(&self, expr: ExprId, at: u32) -> Result<String, String> {
        let (program, function) = (self.request.program, self.objectives.function);
        let names = ScopedNames::new(program, function, self.body, at, &|_| None);
        let guard = Guard {
            poison: POISON,
            pages: None,
            from: 0,
            overflow_traps: self.request.overflow_traps,
            loads: Loads::Subscripts,
        };
        let exprs = (&self.objectives.exprs, &self.types);
        let exact = ExactC::with_types(program, self.body, exprs, &names, Some(guard));
        exact.text(expr).map_err(|error| error.to_string())
    }

    /// The text of an expression.
    pub(crate) fn text(&self, expr: ExprId, standing: TextContext<'_>) -> Result<String, String> {
        let TextContext { at, guard_from, captures, parameters } = standing;
        let temporary = names_of(captures);
        let names = ScopedNames::new(
            self.request.program,
            self.objectives.function,
            self.body,
            at,
            &temporary,
        );
        let passed = parameters.map(|parameters| ParameterNames {
            names: &names,
            program: self.request.program,
            body: self.body,
            purpose: self.request.purpose,
            parameters,
        });
        let names: &dyn Names = match &passed {
            Some(passed) => passed,
            None => &names,
        };
        let guard = Guard {
            poison: POISON,
            // In a test, the ends of objects are known.
            pages: parameters.filter(|_| self.request.purpose == Purpose::Program).map(|_| PAGES),
            from: guard_from,
            overflow_traps: self.request.overflow_traps,
            loads: Loads::Everything,
        };
        let exprs = (&self.objectives.exprs, &self.types);
        let exact = ExactC::with_types(self.request.program, self.body, exprs, names, Some(guard));
        exact.text(expr).map_err(|error| error.to_string())
    }

    /// The value of a predicate that is made of constants.
    pub(crate) fn settled(&self, pred: &Pred) -> Option<bool> {
        match pred {
            Pred::Const(value) => Some(*value),
            Pred::Expr(expr) => self.constant(*expr).map(|value| value == 1),
            _ => None,
        }
    }

    /// The value of an expression that is made of constants.
    fn constant(&self, expr: ExprId) -> Option<u128> {
        let overflow = if self.request.overflow_traps { Overflow::Trap } else { Overflow::Wrap };
        let (exprs, ty) = (&self.objectives.exprs, |id| self.types[id]);
        match exprs[expr] {
            Expr::Const(_, bits) => Some(bits),
            Expr::Unary(op, a) => arith::unary(op, ty(a), self.constant(a)?, overflow).ok(),
            Expr::Binary(op, a, b) => {
                let (x, y) = (self.constant(a)?, self.constant(b)?);
                arith::binary(op, ty(a), x, y, overflow).ok()
            }
            Expr::Cmp(op, a, b) => {
                let (x, y) = (self.constant(a)?, self.constant(b)?);
                Some(u128::from(arith::compare(op, ty(a), x, y)))
            }
            Expr::Cast(op, to, a) => arith::cast(op, ty(a), to, self.constant(a)?).ok(),
            _ => None,
        }
    }

    /// Lets `write` write expressions as code, on the state at a place of a user's program, with
    /// the parameters of the place and the values that they share.
    pub(crate) fn code<T>(
        &self,
        standing: TextContext<'_>,
        (parameters, shared): (&ProbeParameters, &mut SharedValues),
        outcome: Option<DecisionEvent<'_>>,
        write: impl FnOnce(&mut CodeWriter<'_>) -> Option<T>,
    ) -> Option<T> {
        let TextContext { at, guard_from, captures, .. } = standing;
        let temporary = names_of(captures);
        let RewriteRequest { program, purpose, overflow_traps, .. } = *self.request;
        let names = ScopedNames::new(program, self.objectives.function, self.body, at, &temporary);
        let names = ParameterNames { names: &names, program, body: self.body, purpose, parameters };
        write(&mut CodeWriter {
            program,
            body: self.body,
            arena: &self.objectives.exprs,
            types: &self.types,
            names: &names,
            guard_from,
            overflow_traps,
            shared,
            outcome,
        })
    }
}

/// Leaves on a state, without a decision.
struct StateLeaves<'h, 'a> {
    predicates: &'h PredicateWriter<'a>,
    standing: TextContext<'h>,
}

const NO_DECISION: &str = "its predicate speaks of a decision's conditions outside of the decision";

impl PredicateLeaves for StateLeaves<'_, '_> {
    type Error = String;

    fn condition(&mut self, _: ConditionId) -> Result<DualRail, String> {
        Err(NO_DECISION.to_owned())
    }

    fn reached(&mut self, _: ConditionId) -> Result<DualRail, String> {
        Err(NO_DECISION.to_owned())
    }

    fn mutant(&mut self, _: ConditionId, _: ExprId) -> Result<DualRail, String> {
        Err(NO_DECISION.to_owned())
    }

    fn expr(&mut self, expr: ExprId) -> Result<String, String> {
        self.predicates.text(expr, self.standing)
    }
}
