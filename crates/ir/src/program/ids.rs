//! The names of all entities of a program: a number each, with a letter in the text form.
//!
//! They stand apart from the entities, so that expressions, statements, functions and programs can name
//! each other without depending on each other.

use lydian_base::entity_id;

entity_id!(
    /// Names a function of a program.
    FuncId,
    "f"
);
entity_id!(
    /// Names a global of a program.
    GlobalId,
    "g"
);
entity_id!(
    /// Names a C type of a [`CTypes`] table. Structurally equal types have one id.
    CTypeId,
    "ty"
);
entity_id!(
    /// Names a struct or union of a [`CTypes`] table.
    RecordId,
    "rec"
);
entity_id!(
    /// Names a local of a function.
    LocalId,
    "v"
);
entity_id!(
    /// Names an expression of an [`ExprArena`].
    ExprId,
    "e"
);
entity_id!(
    /// Names a statement of a function.
    StmtId,
    "s"
);
entity_id!(
    /// Names a block of a function.
    BlockId,
    "bb"
);
entity_id!(
    /// Names a place that the source has and objectives refer to.
    MarkId,
    "m"
);
entity_id!(
    /// Names a decision of a function.
    DecisionId,
    "d"
);
entity_id!(
    /// Names a condition of a decision: its leaves from left to right.
    ConditionId,
    "c"
);
entity_id!(
    /// Names a root of a function.
    RootId,
    "r"
);
