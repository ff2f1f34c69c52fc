//! A program: one translation unit with its types, globals and functions.

use std::collections::BTreeSet;

use indexmap::IndexMap;
use lydian_base::{Arena, Span};
use serde::{Deserialize, Serialize};

use self::ctype::CTypes;
use self::expr::Expr;
use self::stmt::{Callee, Stmt};

pub mod arith;
pub mod arithmetic_type;
pub mod ctype;
pub mod decision;
pub mod expr;
pub mod function;
pub mod ids;
pub mod machine_type;
pub mod operator;
pub mod source;
pub mod stmt;
pub mod target;
pub mod trap_kind;

pub use arithmetic_type::{ArithmeticType, ExprTypes};
pub use function::{Function, Linkage};
pub use ids::{CTypeId, FuncId, GlobalId};

/// One translation unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// All C types.
    pub types: CTypes,
    /// Variables with static storage, string literals among them.
    pub globals: Arena<GlobalId, Global>,
    /// Functions, defined or called.
    pub functions: Arena<FuncId, Function>,
    /// `typedef` names that a declaration can use, for spelling types in what is emitted.
    pub typedefs: IndexMap<String, CTypeId>,
    /// The functions that run before and after `main`, in the order of the source.
    pub startup: Vec<Startup>,
    /// Further names that other units may use, in the order of the source.
    pub aliases: Vec<Alias>,
}

/// Another name of a function or global (`__attribute__((alias))`). In its own unit it is not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alias {
    /// The name, of external linkage.
    pub name: String,
    /// The function or global that it names.
    pub target: RelocationTarget,
}

/// A function that runs by itself (`__attribute__((constructor))` and `destructor`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Startup {
    /// The function.
    pub function: FuncId,
    /// When it runs.
    pub moment: Moment,
    /// Those of a lower number run earlier before `main`, and later after it.
    pub priority: u32,
}

/// On which side of `main` a function runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Moment {
    /// Before it is called.
    BeforeMain,
    /// When the program ends, after what `atexit` was given.
    AtExit,
}

/// An object with static storage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Global {
    /// Its name in C; `function.name` for a static local (numbered from the second of one name on,
    /// `f.x.2`), `.str.N` for a string literal, `.literal.N` for a compound literal.
    pub name: String,
    /// Its C type.
    pub ty: CTypeId,
    /// Size in bytes.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// Its linkage.
    pub linkage: Linkage,
    /// Whether it is const, so that a write is a fault.
    pub read_only: bool,
    /// Whether a definition in another unit takes the place of this one.
    pub weak: bool,
    /// Whether each thread has one of its own. Functions are run by one thread, for which it is a variable as
    /// others are; what defines it must say so, too.
    pub thread_local: bool,
    /// Its first contents.
    pub init: GlobalInit,
    /// The text of its declaration.
    pub span: Span,
}

/// The contents of a global when the program starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GlobalInit {
    /// Defined in another translation unit.
    Extern,
    /// All bytes zero.
    Zero,
    /// Bytes at offsets, zero elsewhere; and addresses.
    Data {
        /// Stretches of bytes, by offset, without overlap.
        items: Vec<InitItem>,
        /// Addresses, eight bytes each, apart from the stretches.
        relocations: Vec<Relocation>,
    },
}

/// A run of initial bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InitItem {
    /// Where it starts.
    pub offset: u64,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// An address among initial bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Relocation {
    /// Where it stands.
    pub offset: u64,
    /// The object or function whose address it is.
    pub target: RelocationTarget,
    /// The offset from that address, in bytes.
    pub addend: i64,
}

/// The object or function whose address a constant is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RelocationTarget {
    /// A global.
    Global(GlobalId),
    /// A function.
    Function(FuncId),
}

impl Program {
    /// The functions whose addresses bodies take and initial values name.
    pub fn addressed_functions(&self) -> BTreeSet<FuncId> {
        let bodies = self.functions.values().filter_map(|function| function.body.as_ref());
        let in_bodies = bodies.flat_map(|body| body.exprs.values()).filter_map(|expr| match expr {
            Expr::AddrFunc(target) => Some(*target),
            _ => None,
        });
        let in_globals = self.relocations().filter_map(|relocation| match relocation.target {
            RelocationTarget::Function(target) => Some(target),
            RelocationTarget::Global(_) => None,
        });
        in_bodies.chain(in_globals).collect()
    }

    /// The functions that a function calls by their names, and what these call, the nearest first.
    pub fn called_from(&self, function: FuncId) -> Vec<FuncId> {
        let mut found = vec![function];
        let mut next = 0;
        while let Some(caller) = found.get(next).copied() {
            next += 1;
            let body = self.functions[caller].body.as_ref();
            for stmt in body.into_iter().flat_map(|body| body.stmts.values()) {
                if let Stmt::Call { callee: Callee::Direct(callee), .. } = stmt
                    && !found.contains(callee)
                {
                    found.push(*callee);
                }
            }
        }
        found.split_off(1)
    }

    /// The functions that a run of a function may enter or call, itself first. A call through a pointer
    /// may call each function whose address is a value somewhere.
    pub fn entered_from(&self, function: FuncId) -> Vec<FuncId> {
        let mut found = vec![function];
        found.extend(self.called_from(function));
        let calls_through_pointer = |id: &FuncId| {
            let body = self.functions[*id].body.as_ref();
            let mut stmts = body.into_iter().flat_map(|body| body.stmts.values());
            stmts.any(|stmt| matches!(stmt, Stmt::Call { callee: Callee::Indirect(_), .. }))
        };
        if found.iter().any(calls_through_pointer) {
            for addressed in self.addressed_functions() {
                let further = std::iter::once(addressed).chain(self.called_from(addressed));
                for id in further {
                    if !found.contains(&id) {
                        found.push(id);
                    }
                }
            }
        }
        found
    }

    /// Whether anything calls a function by its name, or names its address.
    pub fn is_used(&self, function: FuncId) -> bool {
        let mut bodies = self.functions.values().filter_map(|function| function.body.as_ref());
        let calls = |stmt: &Stmt| match stmt {
            Stmt::Call { callee: Callee::Direct(callee), .. } => *callee == function,
            _ => false,
        };
        bodies.any(|body| body.stmts.values().any(calls))
            || self.addressed_functions().contains(&function)
    }

    /// The addresses in initial values of globals.
    pub fn relocations(&self) -> impl Iterator<Item = &Relocation> {
        self.globals.values().flat_map(|global| match &global.init {
            GlobalInit::Data { relocations, .. } => &relocations[..],
            GlobalInit::Extern | GlobalInit::Zero => &[],
        })
    }

    /// The function of this name.
    pub fn function_named(&self, name: &str) -> Option<FuncId> {
        self.functions.iter().find(|(_, function)| function.name == name).map(|(id, _)| id)
    }

    /// The global of this name.
    pub fn global_named(&self, name: &str) -> Option<GlobalId> {
        self.globals.iter().find(|(_, global)| global.name == name).map(|(id, _)| id)
    }

    /// The functions that run at a moment, in the order in which they do: by their priorities, and
    /// by the source where these are the same; at the exit the other way round.
    pub fn run_at(&self, moment: Moment) -> Vec<FuncId> {
        let mut found: Vec<&Startup> =
            self.startup.iter().filter(|entry| entry.moment == moment).collect();
        found.sort_by_key(|entry| entry.priority);
        if moment == Moment::AtExit {
            found.reverse();
        }
        found.into_iter().map(|entry| entry.function).collect()
    }

    /// Functions with a body, in the order of the source.
    pub fn defined(&self) -> impl Iterator<Item = (FuncId, &Function)> {
        self.functions.iter().filter(|(_, function)| function.body.is_some())
    }
}
