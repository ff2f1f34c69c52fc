//! Terms that are made of IR operators, against the arithmetic of the interpreter.

mod operators_against_arith;
