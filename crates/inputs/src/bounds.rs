//! Bounds on inputs that the user did not state, and a proof of when such a bound excludes nothing.
//!
//! A plan gives every string, array and chain of pointers a greatest size. If the user did not state
//! the size, larger inputs may exist, and an objective that the exploration leaves uncovered within the
//! bound is not yet proved infeasible. Often the bound makes no difference: a decoder that reads at
//! most seven bytes cannot distinguish a string of sixteen characters from a longer one. Each [`Bound`]
//! therefore lists the accesses that could distinguish the two ([`Reach`]), and an exploration notes
//! whether any of its paths makes one (its bounds monitor). A bound that no path meets is no
//! restriction.
//!
//! # The argument
//!
//! Let *W* be the inputs that the plan describes and *V* those without the bounds that no path
//! met. For an input *v* of *V* let *cut(v)* be the input of *W* that is *v* with
//! - every string longer than its bound ended by a NUL at the bound,
//! - every array longer than its bound shortened to it,
//! - every pointer that the plan makes null for its depth set to null, and every byte that the plan
//!   leaves at zero for its number set to zero.
//!
//! *Claim*: if the exploration of *W* was complete, *v* covers no label that it left. Run the program
//! on *v* and on *cut(v)* side by side. Both begin in the same state, except for bytes at or beyond a
//! bound and for the ends of objects. As long as neither run reads such a byte, accesses one beyond an
//! end, or uses an address as a number, each step computes the same values and takes the same branch.
//! The exploration followed the run on *cut(v)*, since it was complete. If that run had made such an
//! access, the access would have been possible on its path, and the bound would have been met. So it
//! made none, and neither did the run on *v*. Both evaluate each label's predicate to the same value
//! (reads of a predicate count as accesses of its path), so *v* covers no label that *cut(v)* does not
//! cover.
//!
//! The following accesses can distinguish *v* from *cut(v)*, and are noted thus:
//! - *An access to a byte beyond the bound*, a read or a write, by the program, by the model of a
//!   library function, or by the predicate of a label. For a string this begins with the NUL that the
//!   bound puts there: a string that is walked to its end meets its bound. An access whose place
//!   depends on the input counts if the path allows it to lie there. The solver is asked, and no answer
//!   counts as yes. An access that traps because it lies beyond the object's end is also one.
//! - *A pointer that was made null, or bytes that were left at zero*: a read of any of their bytes.
//!   Writes to them distinguish nothing.
//! - *A length*. If the length of an array is a value of the inputs, or if another input points to its
//!   end, the array's bound is also a bound on that value: *cut(v)* has the greatest length within the
//!   bound where *v* has a greater one. If the value lies in memory and has no other role, any read of
//!   it distinguishes the two (a bound of its own, [`Reach::Within`]). For other values the dependent
//!   computations are not known, and the bound always counts as met ([`Reach::Always`]): for
//!   parameters, ends of arrays, lengths that are computed from several values, that arrays with
//!   different bounds share, that settings restrict, or that a precondition might name. The same holds
//!   for a bound on an object without an address of its own (structs that are passed by value, results
//!   of calls).
//! - *Arithmetic that leaves the object*: an address outside of the object that it was computed from
//!   may lie in a neighbour, whose place depends on the object's size.
//! - *Addresses as numbers*: conversions of pointers to integers, the order or distance of pointers
//!   into different objects, and addresses that lead to an object only by their value. These meet the
//!   bounds of the objects concerned, or all bounds.
//! - *The assumption that two objects of the inputs are different ones*: a plan makes few aliases that
//!   the user did not state. Where a path compares pointers to two of them, the assumption is kept as a
//!   bound of its own.
//!
//! The following cannot distinguish them: comparing or subtracting pointers into the same object, since
//! both runs have them at the same distance from its start; and passing a pointer to an undefined
//! function. Such a function returns any value, writes to none of the inputs' objects, and writes any
//! value to the same variables of the program in both runs (separate assumptions).
//!
//! A read by a subscript beyond an array of known length (`p->name[i]`) meets no bound. C does not
//! define it, so inputs that lead to it are excluded, and the exclusion is reported as an assumption.
//!
//! An access that only the predicate of a label makes restricts only that label: the runs on *v* and
//! *cut(v)* stay side by side without it, and no other predicate depends on it.
//!
//! An access before an object's start meets its bound too, because an input may point into the middle
//! of an array. Predicates of labels are the exception: no program is meant to be given the middle of
//! an array because a mutant of it reads `p[-1]`. If only predicates read there, the absence of earlier
//! elements is a reported assumption.

use lydian_objective::{Assumption, AssumptionKind};

/// The assumption that nothing lies before an object of the inputs.
pub fn nothing_before(name: &str) -> Assumption {
    let sentence = format!("nothing lies before the elements of {name}");
    Assumption::new(AssumptionKind::LeadingElements, name, sentence)
}

/// The assumption that undefined functions keep no pointers for later calls, and call nothing of the
/// program.
pub fn nothing_kept() -> Assumption {
    let sentence = "an undefined function keeps no pointers, and calls nothing back";
    Assumption::new(AssumptionKind::KeptPointers, "", sentence)
}

/// A bound on the inputs that the user did not state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The assumption that holds where the bound makes a difference: `s has at most 16 characters`.
    pub assumption: Assumption,
    /// The accesses that could distinguish inputs beyond the bound from those within it.
    pub reach: Reach,
    /// Whether it is an assumption even where it makes no difference. Otherwise it restates the
    /// pointer's type (one object), and is reported only if more is accessed.
    pub shown: bool,
}

/// The accesses that could distinguish inputs beyond a bound from those within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Not known: the bound always makes a difference.
    Always,
    /// Accesses of any kind to a byte `from` bytes or more after the start of an object, or before its
    /// start.
    Behind {
        /// The object's address.
        object: u64,
        /// The first byte.
        from: u64,
        /// Bytes of an element, for the user.
        element: u64,
    },
    /// Reads of a byte between two distances from the start of an object.
    Within {
        /// The object's address.
        object: u64,
        /// The first byte.
        from: u64,
        /// Just behind the last.
        to: u64,
    },
}

impl Reach {
    /// The address of the object, if there is one.
    pub const fn object(&self) -> Option<u64> {
        match self {
            Self::Always => None,
            Self::Behind { object, .. } | Self::Within { object, .. } => Some(*object),
        }
    }
}
