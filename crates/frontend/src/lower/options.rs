//! How to lower.

use serde::{Deserialize, Serialize};

/// Which Boolean expressions that are used as values, not tested, are decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ValueDecisions {
    /// Those with at least one `&&`, `||` or `!` in them.
    #[default]
    WithOperators,
    /// Lone comparisons too.
    All,
}

/// How to lower.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LoweringOptions {
    /// Which Boolean values are decisions.
    pub value_decisions: ValueDecisions,
    /// Whether functions in which something is not supported get outlines: bodies with all control flow
    /// and with nothing of what is not supported ([`LoweredUnit::outlines`]). They are there to be measured,
    /// not to be run.
    pub outlines: bool,
}
