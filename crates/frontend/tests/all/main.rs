//! The front end on C files: what it decodes, lowers and refuses, and what the lowered programs
//! compute.

mod decode;
mod differential;
mod lower;
mod parse_errors;
mod real_programs;
