//! The C library that is written in C, against the system's.

mod against_the_host;
mod lowering;
