//! The sets that the analysis of pointers computes with.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::FuncId;

/// What a pointer may point to. Null is always among it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Targets {
    /// Objects, by their positions; the offset if it is always the same.
    pub(crate) objects: BTreeMap<usize, Option<i64>>,
    /// Functions.
    pub(crate) functions: BTreeSet<FuncId>,
    /// Whether it may also point to memory or functions that are not known, and to all objects that
    /// code which is not known may know.
    pub(crate) any: bool,
}

impl Targets {
    /// One object at an offset.
    pub(crate) fn object(object: usize, offset: Option<i64>) -> Self {
        Self { objects: BTreeMap::from([(object, offset)]), ..Self::default() }
    }

    /// One function.
    pub(crate) fn function(function: FuncId) -> Self {
        Self { functions: BTreeSet::from([function]), ..Self::default() }
    }

    /// What is not known.
    pub(crate) fn anything() -> Self {
        Self { any: true, ..Self::default() }
    }

    /// Adds others. Returns whether that changed it.
    pub(crate) fn add(&mut self, other: &Self) -> bool {
        let mut changed = other.any && !self.any;
        self.any |= other.any;
        for (object, offset) in &other.objects {
            match self.objects.get_mut(object) {
                None => {
                    self.objects.insert(*object, *offset);
                    changed = true;
                }
                Some(known) if known != offset && known.is_some() => {
                    *known = None;
                    changed = true;
                }
                Some(_) => {}
            }
        }
        for function in &other.functions {
            changed |= self.functions.insert(*function);
        }
        changed
    }

    /// The same, moved by a distance in bytes; by any distance if there is none.
    pub(crate) fn moved(&self, by: Option<i64>) -> Self {
        let moved = |offset: Option<i64>| offset?.checked_add(by?);
        let objects = self.objects.iter().map(|(object, offset)| (*object, moved(*offset)));
        Self { objects: objects.collect(), functions: self.functions.clone(), any: self.any }
    }
}
