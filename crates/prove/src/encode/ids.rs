//! The names of the parts of an inlined program.

use lydian_base::entity_id;

entity_id!(
    /// Names an instance: a function in one context of calls.
    InstanceId,
    "i"
);
entity_id!(
    /// Names a node of the inlined graph: a run of statements of an instance.
    NodeId,
    "n"
);
entity_id!(
    /// Names a memory object.
    ObjectId,
    "o"
);
entity_id!(
    /// Names a slot: a part of the state.
    SlotId,
    "x"
);
