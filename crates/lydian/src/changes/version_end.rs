//! The end of a run of a version.

use std::fmt;

use lydian_ir::TrapKind;
use lydian_ir::interp::End;
use lydian_native::Outcome;

/// The end of a run of one version that C defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VersionEnd {
    Returned,
    /// With the status that the system sees.
    Exited(u8),
    /// On purpose, by `abort` or a trap instruction.
    Trapped(TrapKind),
    Endless,
}

impl VersionEnd {
    pub(super) fn of(end: End) -> Option<Self> {
        match end {
            End::Returned => Some(Self::Returned),
            End::Exited(status) => Some(Self::Exited(status as u8)),
            End::Trapped(kind) if kind.is_deliberate() => Some(Self::Trapped(kind)),
            End::Stopped(_) => Some(Self::Endless),
            _ => None,
        }
    }

    /// Whether a native run ended so.
    pub(super) fn is_of(self, native: &Outcome) -> bool {
        match self {
            Self::Returned => matches!(native, Outcome::Returned(_)),
            Self::Exited(status) => {
                matches!(native, Outcome::Exited(own) if *own as u8 == status)
            }
            Self::Trapped(TrapKind::Abort) => matches!(native, Outcome::Aborted),
            Self::Trapped(_) => matches!(native, Outcome::Crashed(_) | Outcome::EndedBy(_)),
            Self::Endless => matches!(native, Outcome::TimedOut(_)),
        }
    }
}

impl fmt::Display for VersionEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Returned => f.write_str("returns"),
            Self::Exited(status) => write!(f, "exits with status {status}"),
            Self::Trapped(TrapKind::Abort) => f.write_str("aborts"),
            Self::Trapped(kind) => write!(f, "ends by a {kind}"),
            Self::Endless => f.write_str("does not end"),
        }
    }
}

/// The ends of both versions.
pub(super) type Ends = (VersionEnd, VersionEnd);
