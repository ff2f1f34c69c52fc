//! A kept case: a test that shows an internal error, as a file.

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

/// The version of the format of these files.
pub(super) const VERSION: u64 = 1;
/// The version of this Lydian.
pub(super) const LYDIAN: &str = env!("CARGO_PKG_VERSION");

/// A test that shows an internal error of Lydian's, with everything that is needed to run it again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KeptCase {
    /// The version of the format.
    pub(super) version: u64,
    /// The version of Lydian that found it.
    pub(super) lydian: String,
    /// The error, as it was reported to the user.
    pub(super) trouble: String,
    /// The folder in which Lydian ran. Relative paths in the request and its flags start there.
    pub(super) directory: PathBuf,
    /// The program: its files, flags and settings.
    pub(super) program: ProjectRequest,
    /// The request for objectives.
    pub(super) objectives: ObjectiveRequest,
    /// The options of native runs.
    pub(super) measurement: MeasurementOptions,
    /// The BLAKE3 hash of each file that the program's text came from.
    pub(super) texts: BTreeMap<PathBuf, String>,
    /// The claims about objectives that the test contradicts or should cover.
    pub(super) claims: Vec<Claim>,
    /// The claimed end of the run; none if there is no such claim.
    pub(super) ending: Option<Ending>,
    /// The test.
    pub(super) test: PortableTest,
    /// Tests that count together with it, if claims are about hyperlabels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) earlier: Vec<PortableTest>,
}

/// The claim of an engine about an objective.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claim {
    /// The engine, or its method.
    pub engine: String,
    /// The claimed verdict.
    pub verdict: ClaimedVerdict,
    /// The function that has the objective.
    pub function: String,
    /// A criterion that counts the objective.
    pub criterion: Criterion,
    /// The criterion's name for it.
    pub name: String,
    /// Its place.
    pub place: String,
    /// The condition that a test must meet there, in C.
    pub text: String,
    /// Its key within the function.
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
    /// A file that cannot be read (of kind `Source`), is no case, or has the format of another version.
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

    /// The folder in which Lydian ran, as an absolute path. The case must be replayed there, since paths
    /// in it and in the compiler's flags may be relative.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Fails if a file of the program is missing or its text has changed since the case was kept.
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
