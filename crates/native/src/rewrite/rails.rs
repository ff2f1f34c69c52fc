//! Predicates as C: each part of a predicate becomes two `int` variables, surely true and surely
//! false, which is Kleene's logic on two rails.

use std::fmt::Write as _;

use lydian_ir::{ConditionId, ExprId};
use lydian_objective::Pred;
use rustc_hash::{FxHashMap, FxHashSet};

/// The two rails of a part: C expressions of value 0 or 1 without effects.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rails {
    pub(crate) yes: String,
    pub(crate) no: String,
}

impl Rails {
    pub(crate) fn constant(value: bool) -> Self {
        let (yes, no) = if value { ("1", "0") } else { ("0", "1") };
        Self { yes: yes.to_owned(), no: no.to_owned() }
    }

    /// An expression that always has a value.
    pub(crate) fn known(text: &str) -> Self {
        Self { yes: format!("({text})"), no: format!("!({text})") }
    }
}

/// What the leaves of a predicate are at one place of the text.
pub(crate) trait Leaves {
    /// Why a leaf has no text there.
    type Error;
    fn condition(&mut self, condition: ConditionId) -> Result<Rails, Self::Error>;
    fn reached(&mut self, condition: ConditionId) -> Result<Rails, Self::Error>;
    fn mutant(&mut self, condition: ConditionId, expr: ExprId) -> Result<Rails, Self::Error>;
    /// The text of an `i1` expression that sets `lydian_bad` where it would trap.
    fn expr(&mut self, expr: ExprId) -> Result<String, Self::Error>;
}

/// Writes predicates as declarations, one for each different part. Those of parts that speak only of
/// a decision's event are common to all predicates that are written; the others are a predicate's
/// own, since a part that evaluates something must stand where that is wanted.
#[derive(Debug, Default)]
pub(crate) struct RailWriter {
    common: String,
    own: String,
    parts: FxHashMap<Pred, Rails>,
    own_parts: Vec<Pred>,
    /// Other variables that are declared.
    others: FxHashSet<String>,
    count: usize,
}

impl RailWriter {
    /// The declarations so far. They must stand, in a block, before what uses their names.
    pub(crate) fn into_declarations(self) -> String {
        self.common + &self.own
    }

    /// The declarations of what all predicates share.
    pub(crate) fn common_declarations(&self) -> &str {
        &self.common
    }

    /// The other declarations.
    pub(crate) fn own_declarations(&self) -> &str {
        &self.own
    }

    /// Begins another predicate, where own declarations of those before do not stand.
    pub(crate) fn forget_own(&mut self) {
        self.own.clear();
        for part in self.own_parts.drain(..) {
            self.parts.remove(&part);
        }
    }

    /// Declares a variable that hangs on common ones alone, unless it is declared.
    pub(crate) fn declare_once(&mut self, name: &str, value: &str) {
        if self.others.insert(name.to_owned()) {
            let _ = write!(self.common, "int {name} = {value}; ");
        }
    }

    fn number(&mut self) -> usize {
        self.count += 1;
        self.count - 1
    }

    fn declare(&mut self, is_common: bool, yes: &str, no: &str) -> Rails {
        let number = self.number();
        let rails = Rails { yes: format!("lydian_y{number}"), no: format!("lydian_n{number}") };
        let declarations = if is_common { &mut self.common } else { &mut self.own };
        let _ = write!(declarations, "int {} = {yes}, {} = {no}; ", rails.yes, rails.no);
        rails
    }

    /// Declares what the predicate needs and gives its rails.
    pub(crate) fn write<L: Leaves>(
        &mut self,
        pred: &Pred,
        leaves: &mut L,
    ) -> Result<Rails, L::Error> {
        if let Some(known) = self.parts.get(pred) {
            return Ok(known.clone());
        }
        let common = pred.is_of_event();
        let rails = match pred {
            Pred::Const(value) => Rails::constant(*value),
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
                Rails { yes: a.no, no: a.yes }
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
