//! Functions: the arenas that own a body, and the side tables beside it.

use lydian_base::{Arena, SideTable, Span};
use serde::{Deserialize, Serialize};

use super::decision::Decision;
use super::expr::{Expr, ExprArena, type_of};
use super::ids::{BlockId, CTypeId, DecisionId, ExprId, MarkId, StmtId};
use super::machine_type::Type;
use super::source::FunctionSource;
use super::stmt::{Block, Mark, Stmt, Terminator};

pub use super::ids::LocalId;

/// A function of the translation unit, defined or only declared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Function {
    /// Its name in C.
    pub name: String,
    /// Its name for the linker, where that is another (`asm` in its declaration).
    pub symbol: Option<String>,
    /// Its C type, a function type.
    pub ty: CTypeId,
    /// Its linkage.
    pub linkage: Linkage,
    /// Names of the parameters; empty where a declaration has none.
    pub param_names: Vec<String>,
    /// Never returns (`_Noreturn` and its spellings).
    pub noreturn: bool,
    /// Whether a definition in another unit takes the place of this one (`weak`, and an `inline`
    /// definition that other units may have too).
    pub weak: bool,
    /// Whether it is part of Lydian's own C library, linked in where the program leaves it
    /// undefined. It has no objectives, and natively the system's library takes its place.
    pub library: bool,
    /// Whether it is declared by a header of the system, so that a library defines it which knows none
    /// of the program's variables.
    pub system: bool,
    /// Whether the text calls it and declares it nowhere: compilers take it for the builtin of its
    /// name, or for a function of `int`.
    pub implicit: bool,
    /// Its body, if it is defined here and everything in it is supported.
    pub body: Option<Body>,
    /// The text of its definition or declaration.
    pub span: Span,
}

impl Function {
    /// A function of external linkage that is declared and no more, with nothing said of it but its
    /// name and type.
    pub fn declared(name: impl Into<String>, ty: CTypeId) -> Self {
        Self {
            name: name.into(),
            symbol: None,
            ty,
            linkage: Linkage::External,
            param_names: Vec::new(),
            noreturn: false,
            weak: false,
            library: false,
            system: false,
            implicit: false,
            body: None,
            span: Span::NONE,
        }
    }

    /// Its name for the linker.
    pub fn link_name(&self) -> &str {
        self.symbol.as_deref().unwrap_or(&self.name)
    }
}

/// Linkage: the translation units that can see a function or global.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Linkage {
    /// Every translation unit.
    External,
    /// This one.
    Internal,
}

/// The body of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Body {
    /// The locals that receive the parameters, in order. A memory local of scalar type gets the
    /// value stored; one of struct or union type gets a copy of what the argument points to.
    pub params: Vec<LocalId>,
    /// Parameters, variables and temporaries.
    pub locals: Arena<LocalId, Local>,
    /// Expressions.
    pub exprs: ExprArena,
    /// Statements, each in exactly one block.
    pub stmts: Arena<StmtId, Stmt>,
    /// Blocks.
    pub blocks: Arena<BlockId, Block>,
    /// Where control enters; no edge leads here.
    pub entry: BlockId,
    /// Decisions, in source order.
    pub decisions: Arena<DecisionId, Decision>,
    /// Places that objectives refer to, in source order.
    pub marks: Arena<MarkId, Mark>,
    /// Places in the text, for diagnostics and the source rewriter.
    pub source: FunctionSource,
}

/// A parameter, variable or temporary.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Local {
    /// Its name in C; empty for a temporary, but for one that holds the address of a variable
    /// length array: it has the array's name, which means that address in C too.
    pub name: String,
    /// Its C type.
    pub ty: CTypeId,
    /// Its kind.
    pub kind: LocalKind,
    /// Where it is kept.
    pub storage: Storage,
    /// The text in which a variable's name means it: from its declaration to the end of its block.
    pub scope: Span,
}

/// The role of a local in C.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum LocalKind {
    /// A parameter.
    Param,
    /// An automatic variable (a static one is a global).
    Var,
    /// A value that lowering had to keep.
    Temp,
}

/// Where a local is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Storage {
    /// A scalar whose address is never taken.
    Register(Type),
    /// Bytes in memory. Live from `Enter` to `Leave`; parameters from entry to return.
    Memory {
        /// Size in bytes.
        size: u64,
        /// Alignment in bytes.
        align: u64,
    },
}

impl Body {
    /// The type of an expression of this body, or of an arena that extends this body's.
    pub fn type_in(&self, arena: &ExprArena, expr: ExprId) -> Type {
        type_of(arena, expr, |local| match self.locals[local].storage {
            Storage::Register(ty) => ty,
            Storage::Memory { .. } => Type::Ptr,
        })
    }

    /// The type of every expression of an arena that is or extends this body's. Linear, where
    /// asking for one type after the other may not be.
    pub fn types_in(&self, arena: &ExprArena) -> SideTable<ExprId, Type> {
        let mut types = SideTable::new(Type::Ptr);
        for (id, expr) in arena.iter() {
            let ty = match expr {
                Expr::Unary(_, a) | Expr::Binary(_, a, _) => types[*a],
                _ => self.type_in(arena, id),
            };
            types.set(id, ty);
        }
        types
    }

    /// A body of one block, which returns nothing.
    pub fn returning() -> Self {
        let mut blocks = Arena::new();
        let entry = blocks.push(Block { stmts: Vec::new(), term: Terminator::Return(None) });
        Self {
            params: Vec::new(),
            locals: Arena::new(),
            exprs: Arena::new(),
            stmts: Arena::new(),
            blocks,
            entry,
            decisions: Arena::new(),
            marks: Arena::new(),
            source: FunctionSource::default(),
        }
    }

    /// The type of an expression of this body.
    pub fn type_of(&self, expr: ExprId) -> Type {
        self.type_in(&self.exprs, expr)
    }
}
