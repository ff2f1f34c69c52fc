//! Why a certificate is not checked.

use std::fmt;

/// Why a certificate is not checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
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

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(what) => write!(f, "the certificate does not fit its program: {what}"),
            Self::Unsupported(what) => write!(f, "the check does not follow {what}"),
        }
    }
}

impl std::error::Error for Fault {}
