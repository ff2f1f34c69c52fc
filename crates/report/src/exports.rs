//! Coverage in the forms of other tools.
//!
//! Those that know lines and branches take both from [`crate::branches`]; those that list findings
//! take what no run covers from `missing`; `junit` lists all objectives.

pub mod cobertura;
pub mod codecov;
pub mod gcov_json;
pub mod github;
pub mod gitlab;
pub mod junit;
pub mod lcov;
pub mod sarif;
pub mod sonarqube;

mod missing;
mod xml;

/// A text of one line: all white space in it is one space each.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
