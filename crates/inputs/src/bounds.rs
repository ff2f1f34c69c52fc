//! Bounds on inputs that nobody stated, and when such a bound leaves out nothing.
//!
//! A plan gives every string, array and chain of pointers a greatest size. Where the user did not
//! state it, an input beyond it may exist, so that what an exploration within it leaves is not yet
//! infeasible. Often the bound makes no difference all the same: a decoder that looks at seven
//! bytes at most cannot tell a string of sixteen characters from a longer one. Each [`Bound`]
//! therefore says which accesses could tell ([`Reach`]), and an exploration notes whether any of
//! its paths makes one (`watch` in `lydian-symex`). A bound that no path meets is no restriction.
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
//! *Claim*: where the exploration of *W* was complete, *v* covers no label that it left. Run the
//! program on *v* and on *cut(v)* side by side. Both begin in the same state, but for bytes at or
//! behind a bound, and where objects end. As long as neither run reads such a byte, accesses one
//! behind the end, or sees an address as a number, each step computes the same values and takes
//! the same way. The run on *cut(v)* is one that the exploration followed, since it was complete.
//! Had it made such an access, the access would have been possible on that path, and the bound
//! would have been met. So it made none, neither did the run on *v*, both evaluate each label's
//! predicate to the same value (what a predicate reads counts as an access of its path), and a
//! label that *cut(v)* does not cover is not covered by *v*.
//!
//! What can tell *v* from *cut(v)*, and how it is noted:
//! - *An access to a byte behind the bound*, reading or writing, by the program, by the model of a
//!   library function, or by the predicate of a label. For a string this begins with the NUL that
//!   the bound puts there; a string that is walked to its end meets its bound. An access whose place
//!   depends on the input counts if the path allows that it lies there: the solver is asked, and
//!   no answer counts as yes. An access that traps because it lies behind the object's end is one
//!   of these.
//! - *A pointer that was made null, or bytes that were left at zero*: reading any byte of them.
//!   Writing them tells nothing.
//! - *A length*. An array whose length is a value of the inputs, or to the end of which another
//!   input points, bounds that value too: *cut(v)* has the greatest length within the bound where *v*
//!   has a greater one. Where the value lies in memory and is nothing else, any read of it tells
//!   (a bound of its own, [`Reach::Within`]). Of other values nothing is known about what depends on
//!   them, so such a bound always counts as met ([`Reach::Always`]): parameters, ends of arrays,
//!   lengths that are computed from several values, that arrays with different bounds share, that
//!   settings restrict or a precondition might name. So does a bound on what has no address of its
//!   own (structs that are passed by value, results of calls).
//! - *Leaving the object by arithmetic*: an address outside of the object that it was computed
//!   from may lie in a neighbour, whose place depends on the object's size.
//! - *Addresses as numbers*: a pointer that is converted to an integer, the order or distance of
//!   pointers into different objects, an address that only its value leads to an object. These
//!   meet the bounds of the objects concerned, or all of them.
//! - *That two objects of the inputs are two*: a plan makes few aliases that the user did not state.
//!   Where a path compares pointers to two of them, that is kept as a bound of its own.
//!
//! What cannot: comparing or subtracting pointers into the same object, since both runs have them
//! at the same distance from its start; a pointer that an undefined function is given, which returns
//! any value and writes to none of the inputs' objects, but any value to the same variables of the
//! program in both runs (assumptions of their own).
//!
//! A read by a subscript that an array of known length does not have (`p->name[i]`) meets no bound: C
//! defines nothing behind it, so that inputs that lead there are left out, which is an assumption that
//! is told.
//!
//! What only the predicate of a label does restricts only that label: the runs on *v* and *cut(v)*
//! stay side by side without it, and no other predicate looks at it.
//!
//! An access before an object's start meets its bound too: an input may point into the middle of an
//! array. Predicates of labels are the exception, since no program is meant to be given the middle of
//! an array because a mutant of it reads `p[-1]`: where only they read there, that nothing lies before
//! the object is an assumption that is told.

use lydian_objective::{Assumption, AssumptionKind};

/// The assumption that nothing lies before an object of the inputs.
pub fn nothing_before(name: &str) -> Assumption {
    let sentence = format!("nothing lies before the elements of {name}");
    Assumption::new(AssumptionKind::LeadingElements, name, sentence)
}

/// A bound on the inputs that the user did not state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bound {
    /// What is assumed of inputs where it makes a difference: `s has at most 16 characters`.
    pub assumption: Assumption,
    /// What could tell inputs beyond the bound from those within it.
    pub reach: Reach,
    /// Whether it is an assumption even where it makes no difference. Otherwise it is what the
    /// pointer's type says anyway (one object), and worth a word only where more is accessed.
    pub shown: bool,
}

/// The accesses that could tell inputs beyond a bound from those within it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Not known: the bound always makes a difference.
    Always,
    /// Accesses of any kind to a byte `from` bytes or more behind the start of an object, or before it.
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
