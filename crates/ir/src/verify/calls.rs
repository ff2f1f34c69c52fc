//! Rule 14: calls.

use super::violation::{BodyContext, Rule, Violations};
use crate::program::ctype::{CType, CTypeId};
use crate::program::expr::Type;
use crate::program::function::Storage;
use crate::program::stmt::{Callee, Stmt, StmtId};

/// The machine type of a value as it is passed or returned: an address for a value in memory.
/// `None` for a type that cannot be passed.
fn passed(scope: &BodyContext<'_>, ty: CTypeId) -> Option<Type> {
    let types = &scope.program.types;
    if types.is_aggregate(ty) { Some(Type::Ptr) } else { types.scalar(ty) }
}

/// The machine type of the result of a function of this type; `None` for `void`.
pub(super) fn result(scope: &BodyContext<'_>, ty: CTypeId) -> Option<Type> {
    match scope.program.types.get(ty) {
        CType::Function { result, .. } => passed(scope, *result),
        _ => None,
    }
}

pub(super) fn check(scope: &BodyContext<'_>, id: StmtId, stmt: &Stmt, found: &mut Violations) {
    let Stmt::Call { callee, args, arg_types, dst, dst_addr, ty } = stmt else { return };
    if let Callee::Indirect(pointer) = callee {
        found.require(scope.types[*pointer] == Type::Ptr, Rule::Calls, || {
            format!("{id} calls through what is no address")
        });
    }
    let types = &scope.program.types;
    let CType::Function { result, params, variadic } = types.get(*ty) else {
        found.add(Rule::Calls, format!("{id} calls with what is no function type"));
        return;
    };
    let count = args.len();
    let enough = if *variadic { count >= params.len() } else { count == params.len() };
    found.require(enough && arg_types.len() == count, Rule::Calls, || {
        format!("{id} passes {count} arguments to a function that takes {}", params.len())
    });
    for (position, (arg, ty)) in args.iter().zip(arg_types).enumerate() {
        let suits = passed(scope, *ty) == Some(scope.types[*arg])
            && params.get(position).is_none_or(|param| passed(scope, *param) == passed(scope, *ty));
        found.require(suits, Rule::Calls, || {
            format!("argument {} of {id} is a {}", position + 1, scope.types[*arg])
        });
    }
    let is_record = types.is_aggregate(*result);
    if let Some(dst) = dst {
        let wanted = types.scalar(*result).map(Storage::Register);
        let storage = Some(scope.body.locals[*dst].storage);
        found.require(!is_record && wanted.is_some() && storage == wanted, Rule::Calls, || {
            format!("{dst}, which gets the result of {id}, has another type")
        });
    }
    let to_address = dst_addr.map(|addr| scope.types[addr]);
    let holds = to_address.is_none_or(|ty| is_record && ty == Type::Ptr);
    found.require(holds, Rule::Calls, || {
        format!("{id} has an address for a result that is no struct or union")
    });
}
