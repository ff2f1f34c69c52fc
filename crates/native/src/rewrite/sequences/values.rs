//! Bound values of sequences and formulas over them, as C.

use std::fmt::Write as _;

use lydian_ir::{CastOp, Expr, ExprId, Type};
use lydian_objective::Pred;
use lydian_objective::hyper::{BoundValue, Formula, FormulaOp};
use rustc_hash::FxHashMap;

use crate::plan::Column;
use crate::rewrite::predicates::POISON;
use crate::rewrite::predicates::writer::{PredicateWriter, TextContext};
use crate::rewrite::request::RewriteRequest;

/// A value that was evaluated.
#[derive(Clone, Debug)]
pub(crate) struct BoundWords {
    /// Whether it is known: a C expression without effects.
    pub(crate) known: String,
    /// Its words.
    pub(crate) words: Vec<String>,
}

/// The words of metavariables, and how they are kept.
pub(crate) type Metavariables<'n> = dyn Fn(&str) -> Option<(Column, Vec<String>)> + 'n;

/// How a bound value is kept.
pub(crate) fn value_column(
    request: &RewriteRequest<'_>,
    function: usize,
    bound: &BoundValue,
) -> Column {
    let BoundValue::Expr(expr) = bound else { return Column::Unsigned };
    let exprs = &request.watched[function].exprs;
    match &exprs[*expr] {
        Expr::Cast(CastOp::SExt, Type::Int(128), _) => Column::Signed,
        Expr::Cast(CastOp::ZExt, Type::Int(128), _) => Column::Unsigned,
        Expr::Const(Type::Int(128), bits) if i64::try_from(*bits as i128).is_ok() => Column::Signed,
        _ => {
            let body = request.program.functions[request.watched[function].function].body.as_ref();
            let ty = body.map(|body| body.types_in(exprs)[*expr]);
            match ty {
                Some(Type::Int(128)) | None => Column::Wide,
                Some(_) => Column::Unsigned,
            }
        }
    }
}

/// Writes values and formulas at one place of a text.
pub(crate) struct ValueWriter<'h, 'a> {
    predicates: &'h PredicateWriter<'a>,
    standing: TextContext<'h>,
    declarations: String,
    known: FxHashMap<(ExprId, bool), usize>,
    preds: usize,
}

impl<'h, 'a> ValueWriter<'h, 'a> {
    pub(crate) fn new(predicates: &'h PredicateWriter<'a>, standing: TextContext<'h>) -> Self {
        let known = FxHashMap::default();
        Self { predicates, standing, declarations: String::new(), known, preds: 0 }
    }

    /// The declarations of the values and formulas written so far.
    pub(crate) fn finish(self) -> String {
        self.declarations
    }

    /// Declares the value of an expression, of the given type in C. Returns the number of the
    /// variables `lydian_z` and `lydian_k`, its value and whether it is known.
    pub(crate) fn declare(&mut self, expr: ExprId, half: bool) -> Result<usize, String> {
        if let Some(number) = self.known.get(&(expr, half)) {
            return Ok(*number);
        }
        let text = self.predicates.text(expr, self.standing)?;
        let number = self.known.len();
        let ty = if half { "unsigned long long" } else { "lydian_u128" };
        let _ = write!(
            self.declarations,
            "{POISON} = 0; {ty} lydian_z{number} = ({ty})({text}); \
             int lydian_k{number} = !{POISON}; (void)lydian_k{number}; "
        );
        self.known.insert((expr, half), number);
        Ok(number)
    }

    /// A bound value, in words.
    pub(crate) fn bound(&mut self, bound: &BoundValue) -> Result<BoundWords, String> {
        let expr = match bound {
            BoundValue::Expr(expr) => *expr,
            BoundValue::Truth(pred) => return self.truth(pred),
        };
        let objectives = self.predicates.objectives();
        let value = |number: usize| format!("lydian_z{number}");
        let known = |number: usize| format!("lydian_k{number}");
        let single =
            |number: usize| BoundWords { known: known(number), words: vec![value(number)] };
        match &objectives.exprs[expr] {
            Expr::Cast(CastOp::SExt, Type::Int(128), of) => {
                let number = self.declare(*of, true)?;
                let width = self.predicates.width(*of);
                let word = match width {
                    1 => format!("(0ull - lydian_z{number})"),
                    _ => {
                        let by = 64 - width;
                        format!(
                            "(unsigned long long)((long long)(lydian_z{number} << {by}) >> {by})"
                        )
                    }
                };
                Ok(BoundWords { known: known(number), words: vec![word] })
            }
            Expr::Cast(CastOp::ZExt, Type::Int(128), of) => Ok(single(self.declare(*of, true)?)),
            Expr::Const(Type::Int(128), bits) if i64::try_from(*bits as i128).is_ok() => {
                Ok(BoundWords {
                    known: "1".to_owned(),
                    words: vec![format!("{}ull", *bits as u64)],
                })
            }
            _ if self.predicates.width(expr) == 128 => {
                let number = self.declare(expr, false)?;
                let words = vec![
                    format!("(unsigned long long)lydian_z{number}"),
                    format!("(unsigned long long)(lydian_z{number} >> 64)"),
                ];
                Ok(BoundWords { known: known(number), words })
            }
            _ => Ok(single(self.declare(expr, true)?)),
        }
    }

    /// A truth value.
    fn truth(&mut self, pred: &Pred) -> Result<BoundWords, String> {
        let (declarations, rails) = self.predicates.rails(pred, self.standing)?;
        let number = self.preds;
        self.preds += 1;
        let _ = write!(
            self.declarations,
            "int lydian_yes{number}, lydian_no{number}; {{ {declarations}\
             lydian_yes{number} = {}; lydian_no{number} = {}; }} ",
            rails.yes, rails.no
        );
        let known = format!("(lydian_yes{number} | lydian_no{number})");
        Ok(BoundWords { known, words: vec![format!("(unsigned long long)lydian_yes{number}")] })
    }

    /// A C expression for whether a formula surely holds. `name` gives the words of a metavariable
    /// and how it is kept.
    pub(crate) fn formula(
        &mut self,
        formula: &Formula,
        name: &Metavariables<'_>,
    ) -> Result<String, String> {
        if !self.predicates.has_wide_integers() {
            return Err("its formula needs integers of 128 bits".to_owned());
        }
        Ok(format!("lydian_f_holds({})", self.operand(formula, name)?))
    }

    fn operand(&mut self, formula: &Formula, name: &Metavariables<'_>) -> Result<String, String> {
        let wide = |high: &str, low: &str| {
            format!("lydian_f(1, (lydian_u128)({high}) << 64 | (lydian_u128)({low}))")
        };
        Ok(match formula {
            Formula::Number(number) => {
                let bits = *number as u128;
                wide(&format!("{}ull", (bits >> 64) as u64), &format!("{}ull", bits as u64))
            }
            Formula::Name(of) => match name(of) {
                Some((Column::Wide, words)) => wide(&words[1], &words[0]),
                Some((Column::Unsigned, words)) => format!("lydian_f(1, {})", words[0]),
                Some((Column::Signed, words)) => {
                    format!("lydian_f(1, (lydian_u128)(lydian_s128)(long long){})", words[0])
                }
                None => return Err("it asks for a value that nothing binds".to_owned()),
            },
            Formula::State(expr) => {
                let number = self.declare(*expr, false)?;
                format!("lydian_f(lydian_k{number}, lydian_z{number})")
            }
            Formula::Not(a) => format!("lydian_f_not({})", self.operand(a, name)?),
            Formula::Negate(a) => format!("lydian_f_neg({})", self.operand(a, name)?),
            Formula::Binary(op, a, b) => {
                let (a, b) = (self.operand(a, name)?, self.operand(b, name)?);
                format!("lydian_f_{}({a}, {b})", name_of(*op))
            }
        })
    }
}

const fn name_of(op: FormulaOp) -> &'static str {
    match op {
        FormulaOp::And => "and",
        FormulaOp::Or => "or",
        FormulaOp::Eq => "eq",
        FormulaOp::Ne => "ne",
        FormulaOp::Lt => "lt",
        FormulaOp::Le => "le",
        FormulaOp::Gt => "gt",
        FormulaOp::Ge => "ge",
        FormulaOp::Add => "add",
        FormulaOp::Sub => "sub",
        FormulaOp::Mul => "mul",
        FormulaOp::Div => "div",
        FormulaOp::Rem => "rem",
    }
}

/// The C functions for the values of formulas as `lydian_objective::hyper` defines them: integers of
/// 128 bits, unknown if an operand is unknown, a divisor is zero or a result does not fit.
pub(crate) fn formula_functions() -> String {
    const INLINE: &str = "static __inline__ __attribute__((unused))";
    let mut text = format!(
        "struct lydian_f {{ int known; lydian_s128 value; }};\n\
         {INLINE} struct lydian_f lydian_f(int known, lydian_u128 value) \
         {{ struct lydian_f f; f.known = known; f.value = (lydian_s128)value; return f; }}\n\
         {INLINE} int lydian_f_holds(struct lydian_f a) {{ return a.known && a.value != 0; }}\n\
         {INLINE} struct lydian_f lydian_f_not(struct lydian_f a) \
         {{ a.value = a.value == 0; return a; }}\n\
         {INLINE} int lydian_f_least(lydian_s128 a) \
         {{ return (lydian_u128)a == (lydian_u128)1 << 127; }}\n\
         {INLINE} struct lydian_f lydian_f_neg(struct lydian_f a) \
         {{ return lydian_f(a.known && !lydian_f_least(a.value), 0 - (lydian_u128)a.value); }}\n\
         {INLINE} struct lydian_f lydian_f_and(struct lydian_f a, struct lydian_f b) {{ \
         int no = (a.known && a.value == 0) || (b.known && b.value == 0); \
         return lydian_f(no || (a.known && b.known), !no); }}\n\
         {INLINE} struct lydian_f lydian_f_or(struct lydian_f a, struct lydian_f b) {{ \
         int yes = (a.known && a.value != 0) || (b.known && b.value != 0); \
         return lydian_f(yes || (a.known && b.known), yes); }}\n"
    );
    let mut operator = |name: &str, body: &str| {
        let _ = writeln!(
            text,
            "{INLINE} struct lydian_f lydian_f_{name}(struct lydian_f a, struct lydian_f b) {{ \
             int known = a.known && b.known; lydian_u128 x = (lydian_u128)a.value, \
             y = (lydian_u128)b.value, z = 0; {body} return lydian_f(known, z); }}"
        );
    };
    for (name, sign) in
        [("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")]
    {
        operator(name, &format!("z = a.value {sign} b.value;"));
    }
    operator("add", "z = x + y; known = known && !((~(x ^ y) & (x ^ z)) >> 127);");
    operator("sub", "z = x - y; known = known && !(((x ^ y) & (x ^ z)) >> 127);");
    operator(
        "mul",
        "lydian_u128 m = a.value < 0 ? 0 - x : x, n = b.value < 0 ? 0 - y : y; \
         int minus = (a.value < 0) != (b.value < 0); \
         lydian_u128 most = ((lydian_u128)1 << 127) - !minus; \
         if (known && m != 0 && n > most / m) known = 0; \
         z = minus ? 0 - m * n : m * n;",
    );
    let divides = "known = known && y != 0 && !(lydian_f_least(a.value) && b.value == -1); \
                   if (known) z = (lydian_u128)";
    operator("div", &format!("{divides}(a.value / b.value);"));
    operator("rem", &format!("{divides}(a.value % b.value);"));
    text
}
