//! Rules 4, 11 to 13, 15 to 18, 22 and 23: locals, statements, blocks, source tables.

use lydian_base::EntityId;

use super::exprs::is_machine_type;
use super::violation::{BodyContext, Rule, Violations};
use super::{calls, exprs};
use crate::program::ctype::CType;
use crate::program::expr::{ExprId, Type};
use crate::program::function::{Local, LocalId, LocalKind, Storage};
use crate::program::source::RootKind;
use crate::program::stmt::{BlockId, Stmt, StmtId, SwitchCase, Terminator};

/// Rule 4.
pub(super) fn locals(scope: &BodyContext<'_>, found: &mut Violations) {
    let types = &scope.program.types;
    let declared = &scope.program.functions[scope.function];
    if let CType::Function { params, .. } = types.get(declared.ty) {
        let count = scope.body.params.len();
        found.require(params.len() == count, Rule::Locals, || {
            format!("the body has {count} parameters but its type has {}", params.len())
        });
    }
    for (position, id) in scope.body.params.iter().enumerate() {
        let is_new = !scope.body.params[..position].contains(id);
        let is_param = scope.body.locals[*id].kind == LocalKind::Param;
        found.require(is_new && is_param, Rule::Locals, || {
            format!("{id} stands for a parameter twice or is of another kind")
        });
        let CType::Function { params, .. } = types.get(declared.ty) else { continue };
        let passed = params.get(position).and_then(|ty| types.scalar(*ty));
        let own = types.scalar(scope.body.locals[*id].ty);
        found.require(passed == own, Rule::Locals, || {
            format!("parameter {id} is of another type than the function's type says")
        });
    }
    for (id, local) in scope.body.locals.iter() {
        one_local(scope, id, local, found);
    }
}

fn one_local(scope: &BodyContext<'_>, id: LocalId, local: &Local, found: &mut Violations) {
    let types = &scope.program.types;
    let is_param = scope.body.params.contains(&id);
    found.require(is_param || local.kind != LocalKind::Param, Rule::Locals, || {
        format!("{id} is of kind `param` but no parameter")
    });
    match local.storage {
        Storage::Register(ty) => {
            let is_test = local.kind == LocalKind::Temp && ty == Type::BOOL;
            let suits = is_machine_type(ty) && (types.scalar(local.ty) == Some(ty) || is_test);
            found.require(suits, Rule::Locals, || {
                format!("register {id} of type {ty} is a {}", types.spell(local.ty, ""))
            });
        }
        Storage::Memory { size, align } => {
            found.require(align.is_power_of_two(), Rule::Locals, || {
                format!("{id} has the alignment {align}")
            });
            let wanted = types.size(local.ty);
            found.require(!is_param || wanted == Some(size), Rule::Locals, || {
                format!("parameter {id} has {size} bytes but its type {wanted:?}")
            });
        }
    }
}

pub(super) fn check(scope: &BodyContext<'_>, found: &mut Violations) {
    placement(scope, found);
    for (id, stmt) in scope.body.stmts.iter() {
        statement(scope, id, stmt, found);
    }
    for (id, block) in scope.body.blocks.iter() {
        terminator(scope, id, &block.term, found);
    }
}

/// Rules 11 and 12.
fn placement(scope: &BodyContext<'_>, found: &mut Violations) {
    let mut uses = vec![0u32; scope.body.stmts.len()];
    for (id, block) in scope.body.blocks.iter() {
        block.stmts.iter().for_each(|stmt| uses[stmt.index()] += 1);
        block.term.for_each_successor(|to| {
            found.require(to != scope.body.entry, Rule::Entry, || {
                format!("an edge leads from {id} to the entry")
            });
        });
    }
    for (stmt, uses) in scope.body.stmts.ids().zip(uses) {
        found.require(uses == 1, Rule::OneBlock, || format!("{stmt} is in blocks {uses} times"));
    }
}

fn statement(scope: &BodyContext<'_>, id: StmtId, stmt: &Stmt, found: &mut Violations) {
    let ty = |expr: ExprId| scope.types[expr];
    let types = |holds: bool, found: &mut Violations| {
        found.require(holds, Rule::StatementTypes, || {
            format!("{id} does not suit the types of its expressions")
        });
    };
    let at_least_one = |size: u64, found: &mut Violations| {
        found.require(size > 0, Rule::Sizes, || format!("{id} is of no bytes"));
    };
    match stmt {
        Stmt::Mark(_) => {}
        Stmt::Assign { dst, value } => {
            types(scope.body.locals[*dst].storage == Storage::Register(ty(*value)), found);
        }
        Stmt::Store { addr, value, ty: stored, .. } => {
            let suits = ty(*addr) == Type::Ptr && ty(*value) == *stored;
            types(suits && *stored != Type::BOOL && is_machine_type(*stored), found);
        }
        Stmt::StoreBits { addr, field, value } => {
            types(ty(*addr) == Type::Ptr && ty(*value) == field.ty, found);
            exprs::bit_field(scope, &id.to_string(), field, found);
        }
        Stmt::Copy { dst, src, size } => {
            types(ty(*dst) == Type::Ptr && ty(*src) == Type::Ptr, found);
            at_least_one(*size, found);
        }
        Stmt::Zero { dst, size } => {
            types(ty(*dst) == Type::Ptr, found);
            at_least_one(*size, found);
        }
        Stmt::Call { .. } => calls::check(scope, id, stmt, found),
        Stmt::Alloca { dst, size, align, .. } => {
            types(is_pointer_register(scope, *dst) && ty(*size) == Type::Int(64), found);
            found.require(align.is_power_of_two(), Rule::Sizes, || {
                format!("{id} has the alignment {align}")
            });
        }
        Stmt::Release { pointer } => types(is_pointer_register(scope, *pointer), found),
        Stmt::VaArg { at, .. } => types(ty(*at) == Type::Ptr, found),
        Stmt::VaStart { list } => {
            types(ty(*list) == Type::Ptr, found);
            let declared = scope.program.types.get(scope.program.functions[scope.function].ty);
            let variadic = matches!(declared, CType::Function { variadic: true, .. });
            found.require(variadic, Rule::Variadic, || {
                format!("{id} stands in a function that takes no variable arguments")
            });
        }
        Stmt::Havoc(havoc) => {
            let register =
                |local: &LocalId| matches!(scope.body.locals[*local].storage, Storage::Register(_));
            let places = havoc.places.iter().all(|(addr, _)| ty(*addr) == Type::Ptr);
            types(places && havoc.registers.iter().all(register), found);
            havoc.places.iter().for_each(|(_, size)| at_least_one(*size, found));
        }
        Stmt::Enter(local) | Stmt::Leave(local) => {
            let kept = &scope.body.locals[*local];
            let holds =
                kept.kind != LocalKind::Param && matches!(kept.storage, Storage::Memory { .. });
            found.require(holds, Rule::Lifetimes, || {
                format!("{id} enters or leaves {local}, which is a parameter or register")
            });
        }
    }
}

fn is_pointer_register(scope: &BodyContext<'_>, local: LocalId) -> bool {
    scope.body.locals[local].storage == Storage::Register(Type::Ptr)
}

/// Rules 17 and 18.
fn terminator(scope: &BodyContext<'_>, id: BlockId, term: &Terminator, found: &mut Violations) {
    match term {
        Terminator::Goto(_) | Terminator::Trap(_) | Terminator::Return(None) => {}
        Terminator::Branch { cond, .. } => {
            let is_test = scope.types[*cond] == Type::BOOL;
            found.require(is_test, Rule::Branches, || format!("{id} tests what is no i1"));
        }
        Terminator::Switch { value, cases, .. } => {
            let ty = scope.types[*value];
            let is_integer = matches!(ty, Type::Int(bits) if bits > 1);
            found.require(is_integer, Rule::Branches, || format!("{id} switches on no integer"));
            cases_are_disjoint(id, cases, found);
        }
        Terminator::Return(Some(value)) => {
            let ty = scope.types[*value];
            let wanted = calls::result(scope, scope.program.functions[scope.function].ty);
            found.require(wanted == Some(ty), Rule::Returns, || {
                format!("{id} returns a {ty}, which is not the function's result")
            });
        }
    }
}

fn cases_are_disjoint(id: BlockId, cases: &[SwitchCase], found: &mut Violations) {
    let mut ranges: Vec<(i128, i128)> = cases.iter().map(|case| (case.low, case.high)).collect();
    ranges.sort_unstable();
    let ordered = ranges.iter().all(|(low, high)| low <= high);
    let disjoint = ranges.windows(2).all(|pair| pair[0].1 < pair[1].0);
    found.require(ordered && disjoint, Rule::Branches, || {
        format!("{id} has cases that are empty or overlap")
    });
}

/// Rule 22.
pub(super) fn source(scope: &BodyContext<'_>, found: &mut Violations) {
    let source = &scope.body.source;
    for site in &source.decisions {
        let conditions = scope.body.decisions[site.decision].conditions.len();
        let count = site.conditions.len();
        found.require(count == conditions, Rule::Source, || {
            format!("the site of {} has {count} conditions, not {conditions}", site.decision)
        });
    }
    for site in &source.switches {
        let term = &scope.body.blocks[site.block].term;
        let is_switch = matches!(term, Terminator::Switch { .. });
        found.require(is_switch, Rule::Source, || format!("{} ends with no switch", site.block));
    }
    for (id, root) in source.roots.iter() {
        let ty = scope.types[root.expr];
        let suits = match root.kind {
            RootKind::Address => ty == Type::Ptr,
            RootKind::Condition { .. } => ty == Type::BOOL,
            RootKind::Assigned { addr, .. } => {
                addr.is_none_or(|addr| scope.types[addr] == Type::Ptr)
            }
            RootKind::Value | RootKind::Update => true,
        };
        found.require(suits, Rule::Source, || format!("{id} is of its kind but a {ty}"));
        for capture in &root.captures {
            let storage = scope.body.locals[capture.temp].storage;
            let is_register = matches!(storage, Storage::Register(_));
            found.require(is_register, Rule::Source, || {
                format!("{id} captures {}, which is in memory", capture.temp)
            });
        }
    }
}
