//! Dual rail: predicates as C in Kleene's logic.
//!
//! Each part of a predicate becomes two `int` variables: one says that the part is surely true, the
//! other that it is surely false.

use std::fmt::Write as _;

use lydian_ir::{ConditionId, ExprId};
use lydian_objective::Pred;
use rustc_hash::{FxHashMap, FxHashSet};

/// The two rails of a part: C expressions of value 0 or 1 without effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct DualRail {
    pub(crate) yes: String,
    pub(crate) no: String,
}

impl DualRail {
    pub(crate) fn constant(value: bool) -> Self {
        let (yes, no) = if value { ("1", "0") } else { ("0", "1") };
        Self { yes: yes.to_owned(), no: no.to_owned() }
    }

    /// An expression that always has a value.
    pub(crate) fn known(text: &str) -> Self {
        Self { yes: format!("({text})"), no: format!("!({text})") }
    }
}

/// The C text of a predicate's leaves at one place.
pub(crate) trait PredicateLeaves {
    /// Why a leaf has no text there.
    type Error;
    fn condition(&mut self, condition: ConditionId) -> Result<DualRail, Self::Error>;
    fn reached(&mut self, condition: ConditionId) -> Result<DualRail, Self::Error>;
    fn mutant(&mut self, condition: ConditionId, expr: ExprId) -> Result<DualRail, Self::Error>;
    /// The text of an `i1` expression that sets `lydian_bad` where it would trap.
    fn expr(&mut self, expr: ExprId) -> Result<String, Self::Error>;
}

/// Writes predicates as declarations, one for each different part. Parts that depend on a
/// decision's event only are common to all predicates. Other parts belong to one predicate: they
/// evaluate expressions, so their place matters.
#[derive(Debug, Default)]
pub(crate) struct DualRailWriter {
    common: String,
    own: String,
    parts: FxHashMap<Pred, DualRail>,
    own_parts: Vec<Pred>,
    /// Other variables that are declared.
    others: FxHashSet<String>,
    count: usize,
}

impl DualRailWriter {
    /// The declarations so far. They must stand in a block before the uses of their names.
    pub(crate) fn into_declarations(self) -> String {
        self.common + &self.own
    }

    /// The declarations of common parts.
    pub(crate) fn common_declarations(&self) -> &str {
        &self.common
    }

    /// The other declarations.
    pub(crate) fn own_declarations(&self) -> &str {
        &self.own
    }

    /// Begins another predicate, at a place without the own declarations of earlier ones.
    pub(crate) fn forget_own(&mut self) {
        self.own.clear();
        for part in self.own_parts.drain(..) {
            self.parts.remove(&part);
        }
    }

    /// Declares a variable that depends on common parts only, once.
    pub(crate) fn declare_once(&mut self, name: &str, value: &str) {
        if self.others.insert(name.to_owned()) {
            let _ = write!(self.common, "int {name} = {value}; ");
        }
    }

    fn number(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    fn declare(&mut self, is_common: bool, yes: &str, no: &str) -> DualRail {
        let number = self.number();
        let rails = DualRail { yes: format!("lydian_y{number}"), no: format!("lydian_n{number}") };
        let declarations = if is_common { &mut self.common } else { &mut self.own };
        let _ = write!(declarations, "int {} = {yes}, {} = {no}; ", rails.yes, rails.no);
        rails
    }

    /// Declares the parts of a predicate and returns its dual rail.
    pub(crate) fn write<L: PredicateLeaves>(
        &mut self,
        pred: &Pred,
        leaves: &mut L,
    ) -> Result<DualRail, L::Error> {
        if let Some(known) = self.parts.get(pred) {
            return Ok(known.clone());
        }
        let common = pred.is_of_event();
        let rails = match pred {
            Pred::Const(value) => DualRail::constant(*value),
            Pred::Cond(condition) => leaves.condition(*condition)?,
            Pred::Reached(condition) => leaves.reached(*condition)?,
            Pred::Mutant(condition, expr) => leaves.mutant(*condition, *expr)?,
            Pred::Expr(expr) => {
                let text = leaves.expr(*expr)?;
                let number = self.number();
                let _ = write!(self.own, "lydian_bad = 0; int lydian_e{number} = {text}; ");
                let yes = format!("lydian_e{number} & !lydian_bad");
                self.declare(common, &yes, &format!("!lydian_e{number} & !lydian_bad"))
            }
            Pred::Not(a) => {
                let a = self.write(a, leaves)?;
                DualRail { yes: a.no, no: a.yes }
            }
            Pred::And(a, b) => {
                let (a, b) = (self.write(a, leaves)?, self.write(b, leaves)?);
                self.declare(
                    common,
                    &format!("{} & {}", a.yes, b.yes),
                    &format!("{} | {}", a.no, b.no),
                )
            }
            Pred::Or(a, b) => {
                let (a, b) = (self.write(a, leaves)?, self.write(b, leaves)?);
                self.declare(
                    common,
                    &format!("{} | {}", a.yes, b.yes),
                    &format!("{} & {}", a.no, b.no),
                )
            }
            Pred::Xor(a, b) => {
                let (a, b) = (self.write(a, leaves)?, self.write(b, leaves)?);
                self.declare(
                    common,
                    &format!("({} & {}) | ({} & {})", a.yes, b.no, a.no, b.yes),
                    &format!("({} & {}) | ({} & {})", a.yes, b.yes, a.no, b.no),
                )
            }
        };
        if !common {
            self.own_parts.push(pred.clone());
        }
        self.parts.insert(pred.clone(), rails.clone());
        Ok(rails)
    }
}
