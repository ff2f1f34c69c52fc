//! The places where variables in registers come into being, without a value.
//!
//! A declaration in a loop makes a new variable each time. Of variables in memory a statement says so. Of
//! those in registers the text does: control comes from outside of the variable's scope. That matters only
//! where something may read the variable before it is written.

use std::collections::BTreeMap;

use lydian_base::Span;
use lydian_ir::{LocalKind, Storage};

use crate::encode::ids::{InstanceId, NodeId, SlotId};
use crate::encode::inlined::Inlined;
use crate::encode::state::liveness::{Analysed, Liveness};
use crate::encode::state::slots::SlotKind;

/// A variable in a register that may be read before it is written.
struct Register {
    slot: SlotId,
    scope: Span,
}

/// The registers that come into being where nodes begin.
pub(crate) fn begun(analysed: Analysed<'_, '_>, live: &Liveness) -> BTreeMap<NodeId, Vec<SlotId>> {
    let inlined = analysed.inlined;
    let mut registers: BTreeMap<InstanceId, Vec<Register>> = BTreeMap::new();
    for (id, instance) in inlined.instances.iter() {
        for (local, content) in instance.body.locals.iter() {
            let is_variable = content.kind == LocalKind::Var && !content.scope.is_none();
            if !is_variable || !matches!(content.storage, Storage::Register(_)) {
                continue;
            }
            let slot = analysed.slots.of(SlotKind::Register(id, local));
            let is_live = |slot: &SlotId| live.at(instance.entry).contains(*slot);
            let register = slot.filter(is_live).map(|slot| Register { slot, scope: content.scope });
            registers.entry(id).or_default().extend(register);
        }
    }
    let mut found: BTreeMap<NodeId, Vec<SlotId>> = BTreeMap::new();
    if registers.is_empty() {
        return found;
    }
    for (node, content) in inlined.nodes.iter() {
        for register in registers.get(&content.instance).into_iter().flatten() {
            let is_outside = |span: Span| !span.is_none() && !contains(register.scope, span);
            if first_span(inlined, node).is_some_and(is_outside) {
                found.entry(node).or_default().push(register.slot);
            }
            if last_span(inlined, node).is_some_and(is_outside) {
                for next in &content.successors {
                    found.entry(*next).or_default().push(register.slot);
                }
            }
        }
    }
    found
}

fn contains(scope: Span, span: Span) -> bool {
    scope.start <= span.start && span.start < scope.end
}

/// The text of a node's first statement; none if it has none.
fn first_span(inlined: &Inlined<'_>, node: NodeId) -> Option<Span> {
    let source = &inlined.instances[inlined.nodes[node].instance].body.source;
    inlined.stmts(node).next().map(|stmt| source.stmts[stmt])
}

/// The text of the terminator that a node ends with.
fn last_span(inlined: &Inlined<'_>, node: NodeId) -> Option<Span> {
    inlined.terminator(node)?;
    let content = &inlined.nodes[node];
    Some(inlined.instances[content.instance].body.source.terms[content.block])
}
