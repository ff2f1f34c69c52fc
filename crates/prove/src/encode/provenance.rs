//! The parts of the program that a system's variables, points and addresses stand for.

use std::collections::BTreeMap;

use lydian_base::{Arena, EntityId, SideTable};
use lydian_ir::{
    BlockId, ConditionId, DecisionId, ExprId, FuncId, GlobalId, LocalId, StmtId, Type,
};
use lydian_objective::hyper::{SequenceId, SequenceScope};
use lydian_objective::{LabelId, Site};

use crate::encode::ids::{NodeId, SlotId};
use crate::encode::inlined::Inlined;
use crate::encode::memory::layout::Layout;
use crate::encode::pointers::objects::ObjectKind;
use crate::encode::state::liveness::{Analysed, Liveness};
use crate::encode::state::slots::SlotKind;
use crate::system::{PointId, VarId};

/// The parts of the program that a system is about.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The activations that are told apart, callers before those that they call.
    pub instances: Vec<InstanceOrigin>,
    /// The memory objects.
    pub objects: Vec<ObjectOrigin>,
    /// The number that stands for each function's address.
    pub functions: SideTable<FuncId, u64>,
    /// The place of each variable; none for those that are no part of the program's state or of its goals.
    pub variables: Arena<VarId, Option<VariablePlace>>,
    /// The variable that holds memory which is no object of the program, an array with an element for
    /// each address.
    pub outside: Option<VarId>,
    /// The place of each point; none where it is not the beginning of a block.
    pub points: Arena<PointId, Option<PointOrigin>>,
    /// The variables that matter at each point. The others keep the value that they had at the point
    /// before, whatever the program does to them.
    pub live: SideTable<PointId, Vec<VarId>>,
    /// The flags of sequences that are goals, each after the one before it.
    pub flags: Vec<FlagOrigin>,
    /// The sequences that are goals, by function.
    pub sequences: BTreeMap<(FuncId, SequenceId), SequenceEnd>,
}

/// The parts of a system that are about its goals.
pub(crate) struct GoalOrigins {
    /// The places of variables that are notes for goals, by variable.
    pub(crate) notes: Vec<Option<VariablePlace>>,
    pub(crate) flags: Vec<FlagOrigin>,
    pub(crate) sequences: BTreeMap<(FuncId, SequenceId), SequenceEnd>,
}

/// A flag: whether a run is in the midst of a sequence.
#[derive(Clone, Debug)]
pub struct FlagOrigin {
    /// The flag that must be set before it.
    pub before: Option<usize>,
    /// The label that sets it, with its function.
    pub label: (FuncId, LabelId),
    /// The places that reset it.
    pub resets: Vec<(FuncId, Site)>,
    /// The scope of its sequence.
    pub scope: SequenceScope,
}

/// The end of a sequence that is a goal.
#[derive(Clone, Copy, Debug)]
pub struct SequenceEnd {
    /// The flag of all labels but the last; none where all that comes before counts as covered.
    pub flag: Option<usize>,
    /// The last label, with its function; none if it counts as covered at once.
    pub label: Option<(FuncId, LabelId)>,
}

/// An activation.
#[derive(Clone, Debug)]
pub struct InstanceOrigin {
    /// Its function.
    pub function: FuncId,
    /// The caller, by its position, and the call; none for a function that the run begins with.
    pub call: Option<(usize, StmtId)>,
    /// Whether it stands for all activations of a recursive function.
    pub recursive: bool,
}

/// The place of a point.
#[derive(Clone, Copy, Debug)]
pub struct PointOrigin {
    /// The instance.
    pub instance: usize,
    /// The kind of place.
    pub kind: PlaceKind,
    /// The block; at the ends of a recursive function the first one.
    pub block: BlockId,
}

/// The kinds of places that are points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// A block begins.
    Block,
    /// A recursive function is entered.
    Enter,
    /// A recursive function returns.
    Return,
}

/// A memory object.
#[derive(Clone, Debug)]
pub struct ObjectOrigin {
    /// Its origin.
    pub kind: OriginKind,
    /// Its name for people.
    pub name: String,
    /// The number that stands for the address of its first byte.
    pub address: u64,
}

/// The origin of a memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OriginKind {
    /// A global.
    Global(GlobalId),
    /// A local of an instance.
    Local(usize, LocalId),
    /// A statement of an instance that allocates memory.
    Allocated {
        /// The instance.
        instance: usize,
        /// The statement.
        stmt: StmtId,
        /// The distance between blocks, if their size is a constant.
        step: Option<u64>,
        /// Whether there may be more than one block.
        repeats: bool,
        /// The most bytes of all blocks.
        most: u64,
    },
}

/// The place of a variable.
#[derive(Clone, Copy, Debug)]
pub enum VariablePlace {
    /// A register of an instance.
    Register(usize, LocalId),
    /// Bytes of an object.
    Bytes {
        /// The object, by its position.
        object: usize,
        /// Where they begin.
        offset: u64,
        /// How many they are.
        size: u64,
        /// Whether the variable is a float.
        float: bool,
    },
    /// Bytes of an object that come again and again.
    Elements {
        /// The object, by its position.
        object: usize,
        /// Where the first begins.
        offset: u64,
        /// The bytes of one.
        size: u64,
        /// The distance between two.
        period: u64,
        /// The bits of an index.
        index_bits: u32,
    },
    /// How many bytes are allocated at a place.
    End(usize),
    /// The value that a parameter of a recursive function had where it was entered.
    Argument(usize, LocalId),
    /// The bytes of an object where a recursive function was entered.
    Before {
        /// The instance of the function.
        instance: usize,
        /// The object, by its position.
        object: usize,
        /// Where they begin.
        offset: u64,
        /// How many they are.
        size: u64,
        /// Whether the variable is a float.
        float: bool,
    },
    /// The result of a recursive function.
    Result(usize),
    /// Whether a flag of a sequence is set, in an instance or in the run.
    Flag(Option<usize>, usize),
    /// Whether the last evaluation of a decision of an instance reached a condition.
    Reached(usize, DecisionId, ConditionId),
    /// The value that the condition had there.
    Outcome(usize, DecisionId, ConditionId),
    /// Whether an expression in place of the condition surely had a value there.
    Mutant {
        /// The instance.
        instance: usize,
        /// The decision.
        decision: DecisionId,
        /// The condition.
        condition: ConditionId,
        /// The expression.
        expr: ExprId,
        /// The value.
        value: bool,
    },
}

/// The provenance of a system with these slots for variables and these nodes for points.
pub(crate) fn provenance(
    analysed: Analysed<'_, '_>,
    goals: GoalOrigins,
    live: &Liveness,
    (slots, nodes): (&[SlotId], &[NodeId]),
) -> Provenance {
    let inlined = analysed.inlined;
    let instances = inlined.instances.iter().map(|(id, instance)| InstanceOrigin {
        function: instance.function,
        call: instance.call.map(|call| (call.caller.index(), call.stmt)),
        recursive: inlined.summary(id).is_some(),
    });
    let mut functions = SideTable::new(0);
    for function in inlined.program.functions.ids() {
        functions.set(function, analysed.objects.function_address(function));
    }
    let (mut variables, mut points) = (Arena::new(), Arena::new());
    let mut outside = None;
    for (slot, note) in slots.iter().zip(&goals.notes) {
        let place = place(analysed, *slot).or(*note);
        let variable = variables.push(place);
        if analysed.slots.all[*slot].kind == SlotKind::Outside {
            outside = Some(variable);
        }
    }
    let mut live_at = SideTable::new(Vec::new());
    for node in nodes {
        let point = points.push(point(inlined, *node));
        let live = live.at(*node);
        let all = slots.iter().enumerate().filter(|(_, slot)| live.contains(**slot));
        live_at.set(point, all.map(|(at, _)| VarId::from_index(at)).collect());
    }
    let (instances, objects) = (instances.collect(), objects(analysed));
    Provenance {
        instances,
        objects,
        functions,
        variables,
        outside,
        points,
        live: live_at,
        flags: goals.flags,
        sequences: goals.sequences,
    }
}

fn point(inlined: &Inlined<'_>, node: NodeId) -> Option<PointOrigin> {
    let content = &inlined.nodes[node];
    let summary = inlined.summary(content.instance);
    let kind = match summary {
        Some(summary) if summary.enter == node => PlaceKind::Enter,
        Some(summary) if summary.exit == node => PlaceKind::Return,
        _ if inlined.begins_block(node) => PlaceKind::Block,
        _ => return None,
    };
    Some(PointOrigin { instance: content.instance.index(), kind, block: content.block })
}

fn objects(analysed: Analysed<'_, '_>) -> Vec<ObjectOrigin> {
    let objects = analysed.objects;
    let all = objects.all.iter().map(|(id, object)| ObjectOrigin {
        kind: match object.kind {
            ObjectKind::Global(global) => OriginKind::Global(global),
            ObjectKind::Local(instance, local) => OriginKind::Local(instance.index(), local),
            ObjectKind::Allocated(instance, stmt) => {
                let site = objects.sites.get(&id);
                OriginKind::Allocated {
                    instance: instance.index(),
                    stmt,
                    step: site.filter(|site| site.size.is_some()).map(|site| site.step()),
                    repeats: site.is_some_and(|site| site.repeats),
                    most: objects.region(),
                }
            }
        },
        name: object.name.clone(),
        address: object.base,
    });
    all.collect()
}

/// The place of a slot; none if it is a note.
pub(crate) fn place(analysed: Analysed<'_, '_>, slot: SlotId) -> Option<VariablePlace> {
    match analysed.slots.all[slot].kind {
        SlotKind::Register(instance, local) => {
            Some(VariablePlace::Register(instance.index(), local))
        }
        SlotKind::End(object) => Some(VariablePlace::End(object.index())),
        SlotKind::Cell(object, at) => {
            let Layout::Cells(cells) = analysed.layouts.of(object) else { return None };
            let cell = &cells[at];
            let float = matches!(cell.ty, Some(Type::F32 | Type::F64));
            let (offset, size) = (cell.offset, cell.size);
            Some(VariablePlace::Bytes { object: object.index(), offset, size, float })
        }
        SlotKind::Lane(object, at) => {
            let Layout::Lanes(lanes) = analysed.layouts.of(object) else { return None };
            let lane = lanes.lanes[at];
            Some(VariablePlace::Elements {
                object: object.index(),
                offset: lane.offset,
                size: lane.size,
                period: lanes.period,
                index_bits: lanes.index_bits,
            })
        }
        SlotKind::Before(instance, _) => {
            let parts = analysed.summaries.of(instance)?;
            let now = parts.kept().find(|kept| kept.before == slot)?.now;
            match place(analysed, now)? {
                VariablePlace::Register(instance, local) => {
                    Some(VariablePlace::Argument(instance, local))
                }
                VariablePlace::Bytes { object, offset, size, float } => {
                    let instance = instance.index();
                    Some(VariablePlace::Before { instance, object, offset, size, float })
                }
                _ => None,
            }
        }
        SlotKind::Result(instance) => Some(VariablePlace::Result(instance.index())),
        SlotKind::ResultAddress(_)
        | SlotKind::Reached(..)
        | SlotKind::Value(..)
        | SlotKind::Mutant(..)
        | SlotKind::Flag(..)
        | SlotKind::Outside => None,
    }
}
