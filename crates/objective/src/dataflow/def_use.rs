//! Definitions, uses and their pairs.

use lydian_base::{EntityId, Span, entity_id};
use lydian_ir::function::LocalKind;
use lydian_ir::source::{Point, RootKind};
use lydian_ir::stmt::{Edge, Terminator};
use lydian_ir::{
    BlockId, Body, ConditionId, DecisionId, FuncId, GlobalId, LocalId, Program, StmtId,
};
use serde::{Deserialize, Serialize};

use super::cells::Access;
use crate::decision::predicates::signed;
use crate::label::{Pred, Site};

entity_id!(
    /// Names a definition of a function.
    DefinitionId,
    "def"
);
entity_id!(
    /// Names a use of a function.
    UseId,
    "use"
);

/// The definitions and uses of one function.
#[derive(Clone, Debug, Default)]
pub struct DataFlow {
    /// The definitions in the function, those of a variable one after the other; then the definitions
    /// of globals in other functions that reach its uses.
    pub definitions: Vec<Definition>,
    /// The uses in the function; then the uses in other functions that its definitions of globals
    /// reach.
    pub uses: Vec<Use>,
}

/// A variable that is defined and used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Variable {
    /// A parameter or an automatic variable of the function.
    Local(LocalId),
    /// A global or a static local.
    Global(GlobalId),
}

/// A definition: a place where a variable gets a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The variable.
    pub variable: Variable,
    /// Where.
    pub at: DefinitionSite,
    /// The text to show for it; for the start of the run the declaration.
    pub span: Span,
    /// Its number among the variable's definitions, from 1. The initial value of a global has number
    /// 0, and the definitions of a global are numbered over all functions.
    pub number: u32,
    /// Whether it counts as a definition of this function. The initial value of a global counts for
    /// the first function with a use that it reaches.
    pub own: bool,
    /// Whether it is a write through a pointer, which defines the variable only if it hits it.
    pub indirect: bool,
    /// In a data flow of cells, the cells that it writes: none if it writes all.
    pub cell: Option<Access>,
}

/// The place of a definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DefinitionSite {
    /// The start of the run: the initial value of a global.
    Start,
    /// A statement of another function.
    Elsewhere(FuncId, StmtId),
    /// The function's entry.
    Entry,
    /// A statement: the last one of those that make one initialiser.
    Stmt(StmtId),
}

/// A use: a place where the value of a variable is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The variable.
    pub variable: Variable,
    /// The place in its function.
    pub at: UseSite,
    /// If it is in another function, that function and the use there.
    pub elsewhere: Option<(FuncId, UseId)>,
    /// The number of its ways, each of which is a pair of its own.
    pub ways: u32,
    /// The text of the argument of a call that reads it; none elsewhere.
    pub argument: Span,
    /// The statement that reads the value for a condition or a switch earlier than the branch.
    pub read_at: Option<StmtId>,
    /// The text to show for it.
    pub span: Span,
    /// The definitions that may reach it, in order.
    pub reaching: Vec<DefinitionId>,
    /// Whether it may also be reached without any definition.
    pub undefined: bool,
    /// In a data flow of cells, the cells that it reads.
    pub cell: Option<Access>,
}

/// The place of a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UseSite {
    /// A statement.
    Stmt(StmtId),
    /// The value that a block returns.
    Return(BlockId),
    /// A condition, which has two ways: 0 false, 1 true.
    Condition(DecisionId, ConditionId),
    /// A switch, with the ways of its edges.
    Switch(BlockId),
}

/// A pair of a definition and a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DefUse {
    /// The definition.
    pub definition: DefinitionId,
    /// The use.
    pub usage: UseId,
    /// The way of a p-use; 0 for a c-use.
    pub way: u32,
}

impl UseSite {
    /// The number of ways of a use, each of which is a pair of its own.
    pub fn ways(self, body: &Body) -> u32 {
        match self {
            Self::Stmt(_) | Self::Return(_) => 1,
            Self::Condition(..) => 2,
            Self::Switch(block) => match &body.blocks[block].term {
                Terminator::Switch { cases, .. } => cases.len() as u32 + 1,
                _ => 0,
            },
        }
    }
}

impl UseSite {
    /// The site and the predicate of the label that stands for a use at this site.
    pub fn label(self, body: &Body, way: u32) -> (Site, Pred) {
        match self {
            Self::Stmt(stmt) => (Site::Stmt(stmt), Pred::Const(true)),
            Self::Return(block) => {
                let mut roots = body.source.roots.iter();
                match roots.find(|(_, root)| root.point == Point::Term(block)) {
                    Some((root, _)) => (Site::Root(root), Pred::Const(true)),
                    None => (Site::Entry, Pred::Const(false)),
                }
            }
            Self::Condition(decision, condition) => {
                (Site::Condition(decision, condition), signed(Pred::Cond(condition), way == 1))
            }
            Self::Switch(from) => (Site::Edge(Edge { from, way }), Pred::Const(true)),
        }
    }
}

impl Variable {
    /// Whether it outlives its function's activation.
    pub const fn is_global(self) -> bool {
        matches!(self, Self::Global(_))
    }

    /// The local, if it is one.
    pub const fn local(self) -> Option<LocalId> {
        match self {
            Self::Local(local) => Some(local),
            Self::Global(_) => None,
        }
    }

    /// Its name in C.
    pub fn name(self, program: &Program, body: &Body) -> String {
        match self {
            Self::Local(local) => body.locals[local].name.clone(),
            Self::Global(global) => c_name(&program.globals[global].name).to_owned(),
        }
    }
}

impl Use {
    /// Adds definitions that reach it.
    pub(super) fn add(
        &mut self,
        reaching: impl IntoIterator<Item = DefinitionId>,
        undefined: bool,
    ) {
        self.reaching.extend(reaching);
        self.reaching.sort_unstable();
        self.reaching.dedup();
        self.undefined |= undefined;
    }
}

impl DataFlow {
    /// The pairs of the uses in this function, by use and definition.
    pub fn pairs(&self) -> Vec<DefUse> {
        self.pairs_where(|_, usage| usage.elsewhere.is_none())
    }

    /// The pairs of the definitions that count as this function's, by use and definition.
    pub fn pairs_of_definitions(&self) -> Vec<DefUse> {
        self.pairs_where(|definition, _| definition.own)
    }

    fn pairs_where(&self, wanted: impl Fn(&Definition, &Use) -> bool) -> Vec<DefUse> {
        let mut pairs = Vec::new();
        for (index, usage) in self.uses.iter().enumerate() {
            let id = UseId::from_index(index);
            let reaching = usage.reaching.iter();
            for definition in reaching.filter(|id| wanted(self.definition(**id), usage)) {
                let ways = 0..usage.ways;
                pairs.extend(ways.map(|way| DefUse { definition: *definition, usage: id, way }));
            }
        }
        pairs
    }

    /// A definition.
    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.index()]
    }

    /// A use.
    pub fn usage(&self, id: UseId) -> &Use {
        &self.uses[id.index()]
    }
}

/// The name in C of a function or a global of a linked program, where the name may be `name@file.c`
/// for a static and `function.name` for a static local.
pub fn c_name(name: &str) -> &str {
    let name = name.split('@').next().unwrap_or(name);
    name.split('.').nth(1).unwrap_or(name)
}

/// Whether a local is a variable that the user named.
pub fn is_variable(body: &Body, local: LocalId) -> bool {
    let local = &body.locals[local];
    matches!(local.kind, LocalKind::Param | LocalKind::Var) && !local.name.is_empty()
}

/// The text of a statement whose uses can be recorded around it: none if it is a declaration's.
pub fn root_of(body: &Body, stmt: StmtId) -> Option<Span> {
    let mut roots = body.source.roots.values();
    let root = roots.find(|root| {
        root.point == Point::Stmt(stmt)
            && matches!(root.kind, RootKind::Value | RootKind::Assigned { .. })
    });
    root.map(|root| root.span)
}
