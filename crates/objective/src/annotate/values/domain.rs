//! IDC: a partition of the values of each parameter, at the function's entry ([000] III-B,
//! interface-based input domain coverage).
//!
//! | type | classes |
//! |---|---|
//! | signed integer | least; between least and 0; 0; between 0 and greatest; greatest |
//! | unsigned integer | 0; between 0 and greatest; greatest |
//! | `_Bool` | 0; not 0 |
//! | enumeration of at most 64 constants | each constant; any other value |
//! | float | -infinity; negative; 0; positive; +infinity; NaN |
//! | pointer | null; not null |
//!
//! Parameters of struct or union type have no classes, nor have those without a name: nothing reads
//! them.

use lydian_ir::{CType, CTypeId, CmpOp, ExprId, IntKind, Type};

use crate::annotate::context::{Annotator, Context};
use crate::annotate::exprs::{least, mask};
use crate::criterion::Criterion;
use crate::label::{Pred, Site};

/// The greatest number of an enumeration's constants that get a class each.
const ENUM_CLASSES: usize = 64;

pub(crate) struct InputDomainCoverage;

impl Annotator for InputDomainCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Idc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let body = cx.body;
        for (position, local) in body.params.iter().enumerate() {
            let Some(ty) = cx.program.types.scalar(body.locals[*local].ty) else { continue };
            let Some(parameter) = cx.parameter_name(position) else { continue };
            let value = cx.exprs.local_value(*local, ty);
            for (class, pred) in classes(cx, body.locals[*local].ty, ty, value) {
                let name = format!("{parameter} {class}");
                cx.push(Site::Entry, pred, cx.function.span, name);
            }
        }
    }
}

/// The classes of a scalar with their names. They are disjoint and leave nothing out.
fn classes(cx: &mut Context<'_>, ty: CTypeId, scalar: Type, x: ExprId) -> Vec<(String, Pred)> {
    let types = &cx.program.types;
    match types.get(ty) {
        CType::Pointer { .. } => is_zero_or_not(cx, scalar, x, ["null", "not null"]),
        CType::Int { kind: IntKind::Bool, .. } => is_zero_or_not(cx, scalar, x, ["false", "true"]),
        CType::Enum { constants, .. } if (1..=ENUM_CLASSES).contains(&constants.len()) => {
            constant_classes(cx, constants, scalar, x)
        }
        _ if scalar.is_float() => float_classes(cx, scalar, x),
        _ if types.is_signed(ty) => signed_classes(cx, scalar, x),
        _ => unsigned_classes(cx, scalar, x),
    }
}

fn is_zero_or_not(
    cx: &mut Context<'_>,
    ty: Type,
    x: ExprId,
    [zero_name, other_name]: [&str; 2],
) -> Vec<(String, Pred)> {
    let zero = cx.exprs.zero(ty);
    let equal = cx.exprs.test(CmpOp::Eq, x, zero);
    let other = cx.exprs.test(CmpOp::Ne, x, zero);
    vec![(zero_name.to_owned(), equal), (other_name.to_owned(), other)]
}

fn signed_classes(cx: &mut Context<'_>, ty: Type, x: ExprId) -> Vec<(String, Pred)> {
    let zero = cx.exprs.zero(ty);
    let low = cx.exprs.int(ty, least(ty));
    let high = cx.exprs.int(ty, !least(ty));
    let above_low = cx.exprs.test(CmpOp::GtS, x, low);
    let negative = cx.exprs.test(CmpOp::LtS, x, zero);
    let positive = cx.exprs.test(CmpOp::GtS, x, zero);
    let below_high = cx.exprs.test(CmpOp::LtS, x, high);
    vec![
        ("least".to_owned(), cx.exprs.test(CmpOp::Eq, x, low)),
        ("negative".to_owned(), Pred::and(above_low, negative)),
        ("zero".to_owned(), cx.exprs.test(CmpOp::Eq, x, zero)),
        ("positive".to_owned(), Pred::and(positive, below_high)),
        ("greatest".to_owned(), cx.exprs.test(CmpOp::Eq, x, high)),
    ]
}

fn unsigned_classes(cx: &mut Context<'_>, ty: Type, x: ExprId) -> Vec<(String, Pred)> {
    let zero = cx.exprs.zero(ty);
    let high = cx.exprs.int(ty, mask(ty) as i128);
    let positive = cx.exprs.test(CmpOp::Ne, x, zero);
    let below_high = cx.exprs.test(CmpOp::LtU, x, high);
    vec![
        ("zero".to_owned(), cx.exprs.test(CmpOp::Eq, x, zero)),
        ("positive".to_owned(), Pred::and(positive, below_high)),
        ("greatest".to_owned(), cx.exprs.test(CmpOp::Eq, x, high)),
    ]
}

fn float_classes(cx: &mut Context<'_>, ty: Type, x: ExprId) -> Vec<(String, Pred)> {
    let zero = cx.exprs.zero(ty);
    let infinity = cx.exprs.float(ty, f64::INFINITY);
    let minus_infinity = cx.exprs.float(ty, f64::NEG_INFINITY);
    let above = cx.exprs.test(CmpOp::FGt, x, minus_infinity);
    let negative = cx.exprs.test(CmpOp::FLt, x, zero);
    let positive = cx.exprs.test(CmpOp::FGt, x, zero);
    let below = cx.exprs.test(CmpOp::FLt, x, infinity);
    vec![
        ("-infinity".to_owned(), cx.exprs.test(CmpOp::FEq, x, minus_infinity)),
        ("negative".to_owned(), Pred::and(above, negative)),
        ("zero".to_owned(), cx.exprs.test(CmpOp::FEq, x, zero)),
        ("positive".to_owned(), Pred::and(positive, below)),
        ("+infinity".to_owned(), cx.exprs.test(CmpOp::FEq, x, infinity)),
        ("NaN".to_owned(), cx.exprs.test(CmpOp::FNe, x, x)),
    ]
}

fn constant_classes(
    cx: &mut Context<'_>,
    constants: &[(String, i128)],
    ty: Type,
    x: ExprId,
) -> Vec<(String, Pred)> {
    let mut found: Vec<(String, Pred)> = Vec::new();
    let mut other = Pred::Const(true);
    for (name, value) in constants {
        let constant = cx.exprs.int(ty, *value);
        let equal = cx.exprs.test(CmpOp::Eq, x, constant);
        // Two names of one value are one class.
        if found.iter().all(|(_, known)| *known != equal) {
            other = Pred::and(other, Pred::not(equal.clone()));
            found.push((name.clone(), equal));
        }
    }
    found.push(("any other value".to_owned(), other));
    found
}
