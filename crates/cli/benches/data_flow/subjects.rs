//! The subjects of [001] that are run, and their places in the authors' repository.

use std::path::{Path, PathBuf};

/// A subject.
pub(crate) struct Subject {
    /// Its name in the paper.
    pub(crate) name: &'static str,
    /// Its folder in `benchmark`.
    folder: &'static str,
}

impl Subject {
    /// Its text with the functions of KLEE.
    pub(crate) fn file(&self, repository: &Path) -> PathBuf {
        let folder = repository.join("benchmark").join(self.folder);
        let files = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        let mut files = files.map(|file| file.path());
        let found = files.find(|file| file.to_string_lossy().ends_with("_klee.c"));
        found.unwrap_or_else(|| panic!("{} has no text for KLEE", folder.display()))
    }
}

const fn subject(name: &'static str, folder: &'static str) -> Subject {
    Subject { name, folder }
}

pub(crate) const SUBJECTS: [Subject; 12] = [
    subject("factorization", "dft_previous_research/factorization"),
    subject("power", "dft_previous_research/power"),
    subject("triangle", "dft_previous_research/triangle"),
    subject("strmat", "dft_previous_research/strmat1"),
    subject("textfmt", "dft_previous_research/textfmt"),
    subject("tcas", "SIR/tcas"),
    subject("replace", "SIR/replace"),
    subject("schedule", "SIR/schedule"),
    subject("kbfiltr", "SVCOMP-ntdrivers/kbfiltr_simpl1"),
    subject("floppy", "SVCOMP-ntdrivers/floppy_simpl3"),
    subject("s3_srvr_1a", "SVCOMP-ssh/s3_srvr_1a"),
    subject("s3_clnt_termination", "SVCOMP-ssh/s3_clnt_3_termination"),
];
