//! The old version that a command compares a file with.

use std::path::PathBuf;

use clap::Args;

/// The old version of the file, of which only the difference is tested.
#[derive(Clone, Debug, Default, Args)]
pub(crate) struct ChangeArgs {
    /// Only objectives that the difference from this old version of the file may affect
    #[arg(long, value_name = "FILE", conflicts_with = "since")]
    pub(crate) against: Option<PathBuf>,
    /// Only objectives that changes since this commit of git may affect
    #[arg(long, value_name = "REVISION")]
    pub(crate) since: Option<String>,
}
