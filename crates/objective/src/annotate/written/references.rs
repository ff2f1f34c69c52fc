//! Binds the references of other functions' objectives to a function.
//!
//! An atom of another function names that function's label by its number. So the labels that others
//! name are made before all others of the function, in the order of the files. Everyone who annotates
//! the function, or only asks for its labels, gets the same numbers.

use std::rc::Rc;

use lydian_ir::FuncId;

use super::trees::Binder;
use crate::annotate::context::Context;
use crate::annotate::program::{BoundReference, BoundReferences};
use crate::criterion::Criterion;
use crate::htol::HtolError;
use crate::htol::references::{Reference, ReferencedTree};

/// Adds the labels that hyperlabels of other functions name by their numbers. They come before any
/// other label, whichever function is asked for. Returns the references to the function, bound.
pub(crate) fn add_first_labels(cx: &mut Context<'_>) -> Vec<Result<BoundReference, HtolError>> {
    let criteria = &cx.request.criteria;
    let asks = |holds: fn(Criterion) -> bool| criteria.iter().any(|criterion| holds(*criterion));
    if asks(Criterion::is_data_flow) {
        cx.add_shared_labels();
    }
    match asks(Criterion::is_written) {
        true => bind(cx),
        false => Vec::new(),
    }
}

/// Makes the labels of the context's function that others name, with their bindings.
fn bind(cx: &mut Context<'_>) -> Vec<Result<BoundReference, HtolError>> {
    let references = &cx.shared.references;
    let named = references.to(cx.id());
    let bind = |reference: &Reference<'_>| {
        let binder = Binder::new(references, reference.file);
        match &reference.tree {
            ReferencedTree::Label(label) => binder.atom(cx, label, reference.from),
            ReferencedTree::Duty(duty, bound) => binder.duty(cx, duty, bound),
        }
    };
    named.iter().map(bind).collect()
}

/// The references to another function of the program, bound to it.
pub(super) fn references_to(cx: &Context<'_>, function: FuncId) -> BoundReferences {
    if let Some(known) = cx.shared.bound.borrow().get(&function) {
        return Rc::clone(known);
    }
    let other = Context::new(cx.shared, function);
    let bound = other.map(|mut other| add_first_labels(&mut other)).unwrap_or_default();
    let bound: BoundReferences = Rc::new(bound);
    cx.shared.bound.borrow_mut().insert(function, Rc::clone(&bound));
    bound
}
