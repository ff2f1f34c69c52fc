//! The result type and the parameters of a function under test.

use lydian_ir::{CType, CTypeId, Program};

/// The type of a function's result; `None` for `void` and for a function that is not there.
pub(crate) fn result_type(program: &Program, function: &str) -> Option<CTypeId> {
    let function = &program.functions[program.function_named(function)?];
    match program.types.get(function.ty) {
        CType::Function { result, .. } => program.types.size(*result).map(|_| *result),
        _ => None,
    }
}

/// The names of a function's parameters. A parameter without a name, or with that of another one, is
/// `arg0` and so on.
pub(crate) fn parameter_names(program: &Program, function: lydian_ir::FuncId) -> Vec<String> {
    let declared = &program.functions[function];
    let CType::Function { params, .. } = program.types.get(declared.ty) else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    for position in 0..params.len() {
        let local = || {
            let body = declared.body.as_ref()?;
            Some(&body.locals[*body.params.get(position)?].name)
        };
        let name = declared.param_names.get(position).or_else(local);
        let usable = name.filter(|name| !name.is_empty() && !names.contains(name));
        names.push(usable.cloned().unwrap_or_else(|| format!("arg{position}")));
    }
    names
}
