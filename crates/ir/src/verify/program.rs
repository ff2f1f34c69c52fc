//! Rules 2 and 3: names, types of functions, initialisers.

use rustc_hash::FxHashSet;

use super::violation::{Rule, Violations};
use crate::program::ctype::{CType, Target};
use crate::program::{Global, GlobalId, GlobalInit, Program};

pub(super) fn check(program: &Program, found: &mut Violations) {
    let mut names: FxHashSet<&str> = FxHashSet::default();
    for (id, function) in program.functions.iter() {
        let is_new = names.insert(&function.name);
        found.require(is_new, Rule::Names, || {
            format!("{id} is another function named {:?}", function.name)
        });
        let ty = program.types.get(function.ty);
        let is_function = matches!(ty, CType::Function { .. });
        found.require(is_function, Rule::Names, || format!("{id} has no function type"));
    }
    names.clear();
    for (id, global) in program.globals.iter() {
        let is_new = names.insert(&global.name);
        found.require(is_new, Rule::Names, || {
            format!("{id} is another global named {:?}", global.name)
        });
        initialiser(program.types.target, id, global, found);
    }
}

fn initialiser(target: Target, id: GlobalId, global: &Global, found: &mut Violations) {
    found.require(global.align.is_power_of_two(), Rule::Initialisers, || {
        format!("{id} has the alignment {}", global.align)
    });
    let GlobalInit::Data { items, relocations } = &global.init else { return };
    let bytes = items.iter().map(|item| (item.offset, item.bytes.len() as u64));
    let addresses =
        relocations.iter().map(|relocation| (relocation.offset, target.pointer_bytes()));
    let mut stretches: Vec<(u64, u64)> = bytes.chain(addresses).collect();
    stretches.sort_unstable();
    let mut end = 0;
    for (offset, len) in stretches {
        let fits = offset >= end && offset.checked_add(len).is_some_and(|end| end <= global.size);
        found.require(fits, Rule::Initialisers, || {
            format!("{id} has {len} initial bytes at {offset}, over its end or over others")
        });
        end = offset.saturating_add(len);
    }
}
