//! Files of `lydian prove` for other tools.

use std::path::PathBuf;

use clap::Args;

/// Files for other tools.
#[derive(Debug, Args)]
pub(crate) struct OtherToolArgs {
    /// Write the program with its loops cut at the invariants of the proofs into this file, for CBMC
    #[arg(long, value_name = "FILE")]
    pub(crate) export_c: Option<PathBuf>,
    /// Write a witness (format 2.0 of SV-COMP) of each error that is reached into this folder, and one of
    /// the program if none is reachable
    #[arg(long, value_name = "DIR")]
    pub(crate) witnesses: Option<PathBuf>,
    /// Keep the programs for which the answer of the checker is the opposite, in this folder
    #[arg(long, value_name = "DIR", requires = "checker")]
    pub(crate) disagreements: Option<PathBuf>,
}
