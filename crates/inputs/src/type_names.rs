//! The types of a program by the names that settings give them.

use lydian_ir::{CTypeId, Program};

/// The types that C spells so, or that a `typedef` gives this name.
pub(crate) fn types_named(program: &Program, name: &str) -> Vec<CTypeId> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = words(name);
    let spelled = program.types.iter().filter(|(id, _)| program.types.spell(*id, "") == wanted);
    let mut found: Vec<CTypeId> = spelled.map(|(id, _)| id).collect();
    found.extend(program.typedefs.get(&wanted).filter(|id| !found.contains(id)));
    found
}
