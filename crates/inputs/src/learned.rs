//! What an exploration learned of the inputs of a function: for the file that `lydian init` writes.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::CTypeId;

/// What the paths of an exploration did with the pointers of the inputs, by how C names these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Learned {
    /// The pointers that were followed.
    pub followed: BTreeMap<String, Followed>,
    /// The pointers that a branch compared with null.
    pub null_tested: BTreeSet<String>,
}

/// What paths did where a pointer leads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The type of what is there.
    pub element: CTypeId,
    /// The elements that were looked at at known places.
    pub elements: BTreeSet<i64>,
    /// Whether an element was looked at whose number is an input.
    pub varies: bool,
    /// Inputs that were greater than the number of the element at each look; none before the first look.
    pub bounds: Option<BTreeSet<String>>,
    /// Whether each element was looked at only after the one before was found not to be zero.
    pub ends_at_zero: bool,
}

impl Followed {
    /// Nothing was looked at yet.
    pub fn new(element: CTypeId) -> Self {
        let (elements, varies) = (BTreeSet::new(), false);
        Self { element, elements, varies, bounds: None, ends_at_zero: true }
    }

    /// An element was looked at where these inputs were greater than its number.
    pub fn look(&mut self, bounds: BTreeSet<String>) {
        self.bounds = Some(match self.bounds.take() {
            Some(before) => before.intersection(&bounds).cloned().collect(),
            None => bounds,
        });
    }

    /// The input that the numbers of elements stay below, where more than one says so.
    pub fn bound(&self) -> Option<&str> {
        let several = self.varies || self.elements.len() > 1;
        self.bounds.as_ref()?.first().filter(|_| several).map(String::as_str)
    }

    /// Whether it was read as text is, up to a zero.
    pub fn is_text(&self) -> bool {
        self.ends_at_zero && !self.varies && self.elements.len() > 1
    }
}
