//! What a recursive function has in common with its callers: the parts of the state that its contract
//! speaks of, and the objects that its callers and it can both know.
//!
//! All activations share one instance, so an object of the instance stands for the objects of all of
//! them. That is right as long as no activation knows an object of another. A function for which this is
//! not sure has no summary.

use std::collections::BTreeSet;

use lydian_eval::sort_of;
use lydian_ir::{CType, FuncId, Storage};
use lydian_smt::Sort;

use crate::encode::ids::{InstanceId, NodeId, ObjectId, SlotId};
use crate::encode::inlined::calls::Code;
use crate::encode::inlined::{Exit, Inlined, Summary};
use crate::encode::memory::layout::Layout;
use crate::encode::pointers::objects::{ObjectKind, Objects};
use crate::encode::pointers::{Place, PointsTo, Targets};
use crate::encode::state::liveness::Notes;
use crate::encode::state::slots::{Layouts, SlotKind, Slots};

/// The most globals that a contract speaks of.
const MOST_GLOBALS: usize = 8;

/// A part of the state, and the part that keeps its value from the entry of an activation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    pub(crate) now: SlotId,
    pub(crate) before: SlotId,
}

/// The parts of the state that the contract of a function speaks of.
#[derive(Clone, Debug)]
pub(crate) struct Parts {
    pub(crate) summary: Summary,
    /// The parameters that are registers.
    pub(crate) params: Vec<Kept>,
    /// Cells of globals.
    pub(crate) globals: Vec<Kept>,
    pub(crate) result: Option<SlotId>,
}

/// The recursive functions of a program.
#[derive(Debug, Default)]
pub(crate) struct Summaries {
    pub(crate) all: Vec<Parts>,
    /// The objects that a recursive function may know of its callers.
    pub(crate) visible: BTreeSet<ObjectId>,
}

impl Summaries {
    /// Makes the slots for all recursive functions.
    pub(crate) fn new(
        inlined: &Inlined<'_>,
        (objects, pointers): (&Objects, &PointsTo<'_>),
        code: &Code,
        layouts: &Layouts,
        slots: &mut Slots,
    ) -> Self {
        let parts =
            |summary: &Summary| parts_of(inlined, *summary, (objects, code), layouts, slots);
        let all: Vec<Parts> = inlined.summaries.iter().map(parts).collect();
        let visible = match all.is_empty() {
            true => BTreeSet::new(),
            false => visible_objects(inlined, objects, pointers),
        };
        Self { all, visible }
    }

    /// The parts of the function that an instance is the body of.
    pub(crate) fn of(&self, instance: InstanceId) -> Option<&Parts> {
        self.all.iter().find(|parts| parts.summary.instance == instance)
    }

    /// The function that is entered at a node.
    pub(crate) fn entered_at(&self, node: NodeId) -> Option<&Parts> {
        self.all.iter().find(|parts| parts.summary.enter == node)
    }

    /// The function that returns to a node.
    pub(crate) fn returning_to(&self, node: NodeId) -> Option<&Parts> {
        self.all.iter().find(|parts| parts.summary.exit == node)
    }

    /// What a node reads and writes for contracts.
    pub(crate) fn notes(&self, inlined: &Inlined<'_>, node: NodeId, notes: &mut Notes) {
        if let Some(parts) = self.entered_at(node) {
            notes.reads.extend(parts.kept().map(|kept| kept.before));
            notes.writes.extend(parts.kept().map(|kept| kept.now));
        }
        if let Some(parts) = self.returning_to(node) {
            notes.reads.extend(parts.kept().map(|kept| kept.before));
            notes.reads.extend(parts.globals.iter().map(|kept| kept.now));
            notes.reads.extend(parts.result);
        }
        if let Exit::Recursion { callee, .. } = inlined.nodes[node].exit
            && let Some(parts) = self.of(callee)
        {
            notes.reads.extend(parts.globals.iter().map(|kept| kept.now));
        }
    }

    /// The slots that an activation sets where it begins, so that nothing before it matters for them.
    pub(crate) fn own_slots(&self) -> impl Iterator<Item = SlotId> + '_ {
        self.all.iter().flat_map(|parts| parts.kept().map(|kept| kept.before).chain(parts.result))
    }
}

impl Parts {
    pub(crate) fn kept(&self) -> impl Iterator<Item = Kept> + '_ {
        self.params.iter().chain(&self.globals).copied()
    }
}

/// The recursive functions for which it is not sure that no activation knows an object of another.
pub(crate) fn entangled(
    inlined: &Inlined<'_>,
    objects: &Objects,
    pointers: &PointsTo<'_>,
) -> BTreeSet<FuncId> {
    let mut found = BTreeSet::new();
    if inlined.summaries.is_empty() {
        return found;
    }
    for object in visible_objects(inlined, objects, pointers) {
        let (ObjectKind::Local(instance, _) | ObjectKind::Allocated(instance, _)) =
            objects.all[object].kind
        else {
            continue;
        };
        let root = inlined.summary(inlined.root(instance));
        found.extend(root.map(|summary| summary.function));
    }
    found
}

/// The objects that a recursive function may know where it is entered: globals, what pointers that it is
/// given point to, and what can be reached from there.
fn visible_objects(
    inlined: &Inlined<'_>,
    objects: &Objects,
    pointers: &PointsTo<'_>,
) -> BTreeSet<ObjectId> {
    let globals = objects.all.iter();
    let globals = globals.filter(|(_, object)| matches!(object.kind, ObjectKind::Global(_)));
    let mut waiting: Vec<ObjectId> = globals.map(|(id, _)| id).collect();
    waiting.extend(pointers.escaped_objects());
    for summary in &inlined.summaries {
        let instance = &inlined.instances[summary.instance];
        for param in &instance.body.params {
            match instance.body.locals[*param].storage {
                Storage::Register(_) => {
                    waiting.extend(objects_in(&pointers.of_register(summary.instance, *param)));
                }
                Storage::Memory { .. } => {
                    let own = objects.of(ObjectKind::Local(summary.instance, *param));
                    let contents = own.map(|own| pointers.contents(own));
                    waiting.extend(contents.into_iter().flat_map(objects_in));
                }
            }
        }
    }
    let mut found = BTreeSet::new();
    while let Some(object) = waiting.pop() {
        if found.insert(object) {
            waiting.extend(objects_in(pointers.contents(object)));
        }
    }
    found
}

fn objects_in(targets: &Targets) -> Vec<ObjectId> {
    let object = |place: &Place| match place {
        Place::Object(object) => Some(*object),
        _ => None,
    };
    targets.keys().filter_map(object).collect()
}

fn parts_of(
    inlined: &Inlined<'_>,
    summary: Summary,
    (objects, code): (&Objects, &Code),
    layouts: &Layouts,
    slots: &mut Slots,
) -> Parts {
    let instance = &inlined.instances[summary.instance];
    let mut params = Vec::new();
    for (at, param) in instance.body.params.iter().enumerate() {
        let Some(now) = slots.of(SlotKind::Register(summary.instance, *param)) else { continue };
        let (sort, name) = (slots.all[now].sort, format!("{}.before", slots.all[now].name));
        let before = slots.add(SlotKind::Before(summary.instance, at), sort, name);
        params.push(Kept { now, before });
    }
    let mut globals = Vec::new();
    let named = code.globals_of(summary.function).into_iter();
    for object in named.filter_map(|global| objects.of(ObjectKind::Global(global))) {
        for now in slots.of_object(layouts, object) {
            let (kind, sort) = (slots.all[now].kind, slots.all[now].sort);
            let is_scalar = matches!(layouts.of(object), Layout::Cells(_))
                && matches!(sort, Sort::BitVec(..=64) | Sort::Float(_));
            if is_scalar && !layouts.is_constant(kind) && globals.len() < MOST_GLOBALS {
                let at = instance.body.params.len() + globals.len();
                let name = format!("{}.before_{}", slots.all[now].name, instance.name);
                let before = slots.add(SlotKind::Before(summary.instance, at), sort, name);
                globals.push(Kept { now, before });
            }
        }
    }
    let function = &inlined.program.functions[summary.function];
    let types = &inlined.program.types;
    let result = match types.get(function.ty) {
        CType::Function { result, .. } => types.scalar(*result),
        _ => None,
    };
    let result = result.map(|ty| {
        let name = format!("{}.result", instance.name);
        slots.add(SlotKind::Result(summary.instance), sort_of(ty), name)
    });
    Parts { summary, params, globals, result }
}
