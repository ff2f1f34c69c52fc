//! The figures of [001]: tables 1, 2 and 4.

/// The lines of the paper's tables, subject by subject.
const FIGURES: &str = include_str!("paper.csv");

/// The paper's figures for a subject, as text.
pub(crate) struct Figures {
    pub(crate) pairs: &'static str,
    /// The pairs that its own search covers.
    pub(crate) searched: &'static str,
    /// Feasible, infeasible and unknown by CPAchecker.
    pub(crate) cpachecker: String,
    /// The same by CBMC.
    pub(crate) cbmc: String,
    /// The median seconds of an infeasible pair: CPAchecker's and CBMC's.
    pub(crate) infeasible: String,
}

impl Figures {
    pub(crate) fn of(subject: &str) -> Option<Self> {
        let line = FIGURES.lines().find(|line| line.split(',').next() == Some(subject))?;
        let cells: Vec<&'static str> = line.split(',').collect();
        let [_, pairs, searched, _, a, b, c, first, d, e, f, second] = cells[..] else {
            return None;
        };
        Some(Self {
            pairs,
            searched,
            cpachecker: format!("{a}/{b}/{c}"),
            cbmc: format!("{d}/{e}/{f}"),
            infeasible: format!("{first}/{second}"),
        })
    }
}
