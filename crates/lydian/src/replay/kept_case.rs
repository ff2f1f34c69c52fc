//! A case as a file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use lydian_ledger::PortableTest;
use lydian_objective::{Criterion, LabelKey};
use lydian_report::sources::SourceText;
use lydian_symex::Ending;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::Error;
use crate::measurement::MeasurementOptions;
use crate::objectives::ObjectiveRequest;
use crate::project::request::ProjectRequest;

/// The version of the form of these files.
pub(super) const VERSION: u64 = 1;
/// The version of Lydian that writes them now.
pub(super) const LYDIAN: &str = env!("CARGO_PKG_VERSION");

/// A test that shows an internal error of Lydian's, with all that it takes to run it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptCase {
    /// The version of the form.
    pub(super) version: u64,
    /// The version of Lydian that found it.
    pub(super) lydian: String,
    /// The error, as the user was told of it.
    pub(super) trouble: String,
    /// The folder in which Lydian ran. Relative paths of the request and of its flags start there.
    pub(super) directory: PathBuf,
    /// The program: its files, flags and settings.
    pub(super) program: ProjectRequest,
    /// What was asked of each function.
    pub(super) objectives: ObjectiveRequest,
    /// How tests ran natively.
    pub(super) measurement: MeasurementOptions,
    /// The BLAKE3 hash of each file that the program's text came from.
    pub(super) texts: BTreeMap<PathBuf, String>,
    /// What is claimed of objectives that the test is about.
    pub(super) claims: Vec<Claim>,
    /// How the run should end; none where nothing is claimed of that.
    pub(super) ending: Option<Ending>,
    /// The test.
    pub(super) test: PortableTest,
    /// Tests that count together with it, where claims are about hyperlabels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier: Vec<PortableTest>,
}

/// What an engine claims of an objective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The engine, or its method.
    pub engine: String,
    /// What it says.
    pub verdict: ClaimedVerdict,
    /// The function that has the objective.
    pub function: String,
    /// A criterion that asks for it.
    pub criterion: Criterion,
    /// What the criterion calls it.
    pub name: String,
    /// Where it is.
    pub place: String,
    /// What is to hold there, in C.
    pub text: String,
    /// What identifies it within the function.
    pub(crate) key: LabelKey,
    /// Whether it is a hyperlabel.
    pub(crate) is_hyperlabel: bool,
}

/// A verdict that an engine claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaimedVerdict {
    /// The test covers it, alone or with those before it.
    Covered,
    /// No test covers it.
    Infeasible,
}

impl KeptCase {
    /// Reads a case.
    ///
    /// # Errors
    /// A file that cannot be read (of kind `Source`), is no case, or has the form of another version.
    pub fn read(path: &Path) -> Result<Self, Error> {
        let shown = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::source("replay", format!("cannot read {shown}: {error}")))?;
        let no_case = |why: String| {
            let error = Error::usage("replay", format!("{shown} is no kept case: {why}"));
            error.note("`lydian gen` keeps cases of internal errors in `unconfirmed` of its folder")
        };
        let value: Value =
            serde_json::from_str(&text).map_err(|error| no_case(error.to_string()))?;
        match value.get("version").and_then(Value::as_u64) {
            Some(VERSION) => {}
            Some(other) => {
                let why = format!("{shown} has version {other}, where {VERSION} can be read");
                let by = value.get("lydian").and_then(Value::as_str).unwrap_or("another version");
                return Err(Error::usage("replay", why).note(format!("Lydian {by} wrote it")));
            }
            None => return Err(no_case("it has no version".to_owned())),
        }
        serde_json::from_value(value).map_err(|error| no_case(error.to_string()))
    }

    /// The folder in which Lydian ran, an absolute path. The case is to be replayed there, since paths in
    /// it and in the compiler's flags may be relative.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// An error if a file of the program is gone or has another text than when the case was kept.
    pub(super) fn check_texts(&self) -> Result<(), Error> {
        for (path, digest) in &self.texts {
            let shown = path.display();
            let bytes = std::fs::read(path).map_err(|error| {
                let what = format!("the case is about {shown}, which cannot be read: {error}");
                Error::source("replay", what)
            })?;
            if SourceText::of(&bytes).digest != *digest {
                let what = format!("{shown} has changed since the case was kept");
                let note = "restore the text as it was, or run `lydian gen` on the new one";
                return Err(Error::source("replay", what).note(note));
            }
        }
        Ok(())
    }
}
