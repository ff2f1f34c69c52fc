//! The figures of [004], tables 1 and 2.

/// A line for each function: percentages of killed mutants, tests, and seconds, each by plain
/// exploration, with boundaries and with mutants.
const FIGURES: &str = include_str!("paper.csv");

/// The paper's figures for a function, as text.
pub(crate) struct Figures {
    pub(crate) scores: [&'static str; 3],
    pub(crate) tests: [&'static str; 3],
    pub(crate) seconds: [&'static str; 3],
}

impl Figures {
    pub(crate) fn of(function: &str) -> Option<Self> {
        let line = FIGURES.lines().find(|line| line.split(',').next() == Some(function))?;
        let cells: Vec<&'static str> = line.split(',').collect();
        let [_, a, b, c, d, e, f, g, h, i] = cells[..] else { return None };
        Some(Self { scores: [a, b, c], tests: [d, e, f], seconds: [g, h, i] })
    }
}
