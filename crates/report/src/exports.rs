//! Coverage in the forms of other tools.
//!
//! Forms of lines and branches take them from [`crate::branches`]. Forms that list findings take the
//! objectives that no run covers from `missing`. `junit` lists all objectives.

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

/// A text on one line: each stretch of white space becomes one space.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
