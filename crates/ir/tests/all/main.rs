//! The interpreter and its arithmetic, against C that clang compiles.

mod arithmetic_against_c;
mod memory_against_c;
mod operators_in_code;
mod random_programs;
mod stack_objects;
mod whole_programs;
