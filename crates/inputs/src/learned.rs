//! Observations of an exploration about the inputs of a function, for the file that `lydian init`
//! writes.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::CTypeId;

/// The uses of pointers of the inputs on the paths of an exploration, by the pointers' names in C.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointerObservations {
    /// The pointers that were followed.
    pub followed: BTreeMap<String, Dereferences>,
    /// The pointers that a branch compared with null.
    pub null_tested: BTreeSet<String>,
}

/// The accesses of paths to the target of a pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dereferences {
    /// The type of the target.
    pub element: CTypeId,
    /// The accessed elements whose numbers are constants.
    pub elements: BTreeSet<i64>,
    /// Whether an element was accessed whose number depends on an input.
    pub varies: bool,
    /// The inputs that exceeded the number of the element at each access; none before the first access.
    pub bounds: Option<BTreeSet<String>>,
    /// Whether each element was accessed only after the previous one was found not to be zero.
    pub ends_at_zero: bool,
}

impl Dereferences {
    /// No accesses yet.
    pub fn new(element: CTypeId) -> Self {
        let (elements, varies) = (BTreeSet::new(), false);
        Self { element, elements, varies, bounds: None, ends_at_zero: true }
    }

    /// Notes an access to an element at which these inputs exceeded its number.
    pub fn look(&mut self, bounds: BTreeSet<String>) {
        self.bounds = Some(match self.bounds.take() {
            Some(before) => before.intersection(&bounds).cloned().collect(),
            None => bounds,
        });
    }

    /// The input that all numbers of elements stay below, if exactly one remains.
    pub fn bound(&self) -> Option<&str> {
        let several = self.varies || self.elements.len() > 1;
        self.bounds.as_ref()?.first().filter(|_| several).map(String::as_str)
    }

    /// Whether it was read as text is, up to a zero.
    pub fn is_text(&self) -> bool {
        self.ends_at_zero && !self.varies && self.elements.len() > 1
    }
}
