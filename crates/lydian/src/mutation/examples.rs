//! A mutant and a unit for tests.

use lydian_mutate::mutant::{Mutant, UnitId, UnitMutants};
use lydian_mutate::{Operator, Position};

/// A mutant on line 1 of `f`.
pub(super) fn some_mutant() -> Mutant {
    let position = Position { line: 1, column: 1 };
    Mutant {
        number: 1,
        operator: Operator::Ror,
        name: String::new(),
        function: "f".to_owned(),
        span: lydian_base::Span::new(0, 0),
        original: String::new(),
        replacement: String::new(),
        file: "unit.c".to_owned(),
        start: position,
        end: position,
        in_macro: false,
        key: String::new(),
    }
}

/// A unit without mutants.
pub(super) fn some_unit() -> UnitMutants {
    UnitMutants {
        id: UnitId::of("", &[]),
        source: "unit.c".into(),
        directory: "/".into(),
        flags: Vec::new(),
        text: String::new(),
        mutants: Vec::new(),
        functions: Vec::new(),
        left_out: Vec::new(),
        refused: Vec::new(),
        defined: Vec::new(),
    }
}
