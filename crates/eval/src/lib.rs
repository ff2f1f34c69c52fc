//! The meaning of an IR expression and of a label's predicate over terms, written once for every engine that uses terms.
