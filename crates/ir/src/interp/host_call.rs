//! The names of the host calls ([`super::host`]).

/// A host call by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum HostCall {
    Write,
    Read,
    Open,
    Close,
    Seek,
    Remove,
    Rename,
    IsTerminal,
    Time,
    Clock,
    Getenv,
    Destructor,
    Exit,
}

impl HostCall {
    /// The call of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name.strip_prefix("__lydian_")? {
            "write" => Self::Write,
            "read" => Self::Read,
            "open" => Self::Open,
            "close" => Self::Close,
            "seek" => Self::Seek,
            "remove" => Self::Remove,
            "rename" => Self::Rename,
            "isatty" => Self::IsTerminal,
            "time" => Self::Time,
            "clock" => Self::Clock,
            "getenv" => Self::Getenv,
            "destructor" => Self::Destructor,
            "exit" => Self::Exit,
            _ => return None,
        })
    }
}
