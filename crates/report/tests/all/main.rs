//! Suites and reports in all forms, and the tools that read them.

mod exclusions;
mod forms;
mod merging;
mod pages;
mod sample;
mod scale;
mod suite_c;
mod suite_c_programs;
mod suite_json;
mod thorough_tests;
mod tools;
