//! Values at borders, [004] 4.1.
//!
//! Equation (1) takes the value of a condition's domain that is nearest to its border, equation (2)
//! values further inside. Both are applied to a condition and to its negation, whose domain lies on the
//! other side. So the objectives of `A < B` are those of `A >= B`:
//!
//! | condition | inside: (1), (2) | outside: (1), (2) of the negation |
//! |---|---|---|
//! | `A < B` | `A == B - 1`, `A < B - 1` | `A == B`, `A > B` |
//! | `A <= B` | `A == B`, `A < B` | `A == B + 1`, `A > B + 1` |
//! | `A >= B` | `A == B`, `A > B` | `A == B - 1`, `A < B - 1` |
//! | `A > B` | `A == B + 1`, `A > B + 1` | `A == B`, `A < B` |
//! | `A == B` | `A == B` | `A == B - 1`; in addition to the paper `A == B + 1` |
//! | `A != B` | `A == B - 1`; in addition to the paper `A == B + 1` | `A == B` |
//!
//! Values do not wrap: nothing is above the greatest value. Addresses and floats have the objective `A
//! == B` alone, as for [`super::super::values::boundary`].

use lydian_ir::CmpOp;

use crate::annotate::context::{Annotator, Context};
use crate::annotate::text::shown;
use crate::annotate::values::boundary::{Relation, Side, mutant, relations};
use crate::criterion::Criterion;
use crate::label::{Pred, Site};

pub(in crate::annotate) struct AugmentedBoundaries;

impl Annotator for AugmentedBoundaries {
    fn criterion(&self) -> Criterion {
        Criterion::AugBoundary
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        relations(cx, &mut |cx, relation| {
            for (pred, name) in transformed(cx, relation) {
                let name = format!("boundary of {}: {name}", shown(cx, relation.root.span));
                let pred = Pred::and(relation.arrives.clone(), pred);
                cx.push(Site::Decision(relation.decision), pred, relation.root.span, name);
            }
        });
    }
}

/// The transformed conditions of a relation, with their names.
fn transformed(cx: &mut Context<'_>, relation: &Relation<'_>) -> Vec<(Pred, &'static str)> {
    let equal = relation.is_equal(cx);
    let Some(signed) = relation.signedness(cx) else { return vec![(equal, "equal")] };
    let next = |cx: &mut Context<'_>, side| relation.is_next(cx, side, signed);
    let ordered = |cx: &mut Context<'_>, side: Side| {
        let (a, b) = relation.sides;
        mutant(cx, relation.condition, side.order(signed), a, b)
    };
    // The side that belongs to the condition or its negation without the border.
    let (open, names) = match relation.op {
        CmpOp::LtS | CmpOp::LtU => (Side::Below, IN_OUT),
        CmpOp::GeS | CmpOp::GeU => (Side::Below, OUT_IN),
        CmpOp::GtS | CmpOp::GtU => (Side::Above, IN_OUT),
        CmpOp::LeS | CmpOp::LeU => (Side::Above, OUT_IN),
        _ => {
            let (below, above) = (next(cx, Side::Below), next(cx, Side::Above));
            return vec![(equal, "equal"), (below, "just below"), (above, "just above")];
        }
    };
    let other = if open == Side::Below { Side::Above } else { Side::Below };
    let (nearest, beyond) = (next(cx, open), ordered(cx, other));
    let further = relation.is_further(cx, open, signed);
    [nearest, further, equal, beyond].into_iter().zip(names).collect()
}

/// The names where the open side belongs to the condition: nearest, further, border, beyond.
const IN_OUT: [&str; 4] = ["just inside", "further inside", "just outside", "further outside"];
/// The same where it belongs to the negation.
const OUT_IN: [&str; 4] = ["just outside", "further outside", "just inside", "further inside"];
