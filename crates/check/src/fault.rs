//! Why a certificate is not checked.

/// Why a certificate is not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// It contradicts itself, or the program that it is about.
    Form(String),
    /// The program has something that the check does not follow.
    Unsupported(String),
}

impl Fault {
    pub(crate) fn form(what: impl Into<String>) -> Self {
        Self::Form(what.into())
    }

    pub(crate) fn unsupported(what: impl Into<String>) -> Self {
        Self::Unsupported(what.into())
    }
}
