//! The effect of a call, as far as it depends on the arguments.

use lydian_ir::{CastOp, Expr, ExprArena, ExprId, FuncId, Program, Type};

use crate::library::{Effect, effect_of, gives_input};
use crate::objects::initial_number;
use crate::unfolding::Unfolding;

/// The longest format that is read.
const LONGEST_FORMAT: u64 = 1 << 12;

/// The effect of a call in an instance that is not followed. An input that is given an address may be
/// written there, and so may the arguments of `printf` if its format is not known. Nothing is known of a
/// call without all arguments.
pub(crate) fn effect_at(
    unfolding: &Unfolding<'_>,
    (instance, args): (usize, &[ExprId]),
    callee: FuncId,
) -> Effect {
    let effect = effect_of(unfolding.program, callee);
    if !effect.suits(args.len()) {
        return Effect::Unknown;
    }
    let function = &unfolding.program.functions[callee];
    let content = &unfolding.instances[instance];
    let is_confined = if effect != Effect::Value {
        true
    } else if gives_input(&function.name) {
        args.iter().all(|arg| content.types[*arg] != Type::Ptr)
    } else if function.name == "printf" {
        let exprs = &content.body.exprs;
        args.first().is_some_and(|format| has_plain_format(unfolding.program, exprs, *format))
    } else {
        true
    };
    if is_confined { effect } else { Effect::Unknown }
}

/// Whether an argument is a constant format that writes nothing to where its arguments point.
fn has_plain_format(program: &Program, exprs: &ExprArena, format: ExprId) -> bool {
    let mut at = format;
    let global = loop {
        match &exprs[at] {
            Expr::AddrGlobal(global) => break *global,
            Expr::Cast(CastOp::Bits, Type::Ptr, from) => at = *from,
            Expr::Index { base, index, .. } if matches!(exprs[*index], Expr::Const(_, 0)) => {
                at = *base;
            }
            _ => return false,
        }
    };
    let content = &program.globals[global];
    if !content.read_only || content.size > LONGEST_FORMAT {
        return false;
    }
    let bytes = (0..content.size).map(|at| initial_number(program, global, (at, 1)));
    let bytes: Option<Vec<u8>> = bytes.map(|byte| u8::try_from(byte?).ok()).collect();
    bytes.is_some_and(|bytes| is_plain(&bytes))
}

/// Whether a format ends and has no `%n`.
fn is_plain(bytes: &[u8]) -> bool {
    let Some(end) = bytes.iter().position(|byte| *byte == 0) else { return false };
    let mut bytes = bytes[..end].iter();
    while let Some(byte) = bytes.next() {
        if *byte != b'%' {
            continue;
        }
        let conversion = bytes.by_ref().find(|byte| !b"-+ #'.*$hlLqjzt0123456789".contains(byte));
        let is_known = conversion.is_some_and(|byte| b"%diouxXeEfFgGaAcsp".contains(byte));
        if !is_known {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_with_counts_or_without_an_end_are_not_plain() {
        assert!(is_plain(b"%d%% of %-5.*ld\n\0"));
        for format in [&b"%n\0"[..], b"%hhn\0", b"%1$ln\0", b"%d", b"%\0"] {
            assert!(!is_plain(format), "{format:?}");
        }
    }
}
