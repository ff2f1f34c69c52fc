//! The keeper of cases, which writes them to files.

use std::path::{Path, PathBuf};

use lydian_ir::test::Test;
use lydian_ledger::PortableTest;
use lydian_symex::Ending;

use super::kept_case::{Claim, KeptCase, LYDIAN, VERSION};
use crate::error::Error;
use crate::files;
use crate::measurement::MeasurementOptions;
use crate::objectives::ObjectiveRequest;
use crate::project::Project;

/// The name of the folder of cases, which is in the folder of the tests.
pub(crate) const FOLDER: &str = "unconfirmed";

/// The number of digits of a case's hash in the name of its file.
const DIGITS: usize = 12;

/// Keeps the cases of a program.
#[derive(Clone, Debug)]
pub(crate) struct CaseKeeper<'a> {
    /// The folder of the cases. It is created with the first case.
    pub(crate) folder: PathBuf,
    pub(crate) project: &'a Project,
    /// The request for objectives.
    pub(crate) objectives: &'a ObjectiveRequest,
    pub(crate) measurement: MeasurementOptions,
}

/// A case that is to be kept: an internal error that a test shows.
pub(crate) struct Case<'t> {
    /// The error, for the user.
    pub(crate) sentence: String,
    pub(crate) test: &'t Test,
    /// Tests that count together with it for hyperlabels.
    pub(crate) earlier: &'t [Test],
    pub(crate) claims: Vec<Claim>,
    /// The claimed end of the run, if there is such a claim.
    pub(crate) ending: Option<Ending>,
}

impl CaseKeeper<'_> {
    /// Keeps a case. Returns its sentence with the name of its file.
    pub(crate) fn keep(&self, case: Case<'_>) -> Result<String, Error> {
        let sentence = case.sentence.clone();
        let path = self.write(case)?;
        Ok(format!("{sentence}; kept in {}", path.display()))
    }

    fn write(&self, case: Case<'_>) -> Result<PathBuf, Error> {
        let Case { sentence, test, earlier, claims, ending } = case;
        let types = &self.project.program.types;
        let directory = std::env::current_dir().map_err(|error| {
            Error::environment("output", format!("the present folder is not known: {error}"))
        })?;
        let texts = self.project.source_digests();
        let case = KeptCase {
            version: VERSION,
            lydian: LYDIAN.to_owned(),
            trouble: sentence,
            directory,
            program: self.project.request.clone(),
            objectives: self.objectives.clone(),
            measurement: self.measurement,
            texts: texts.map(|(path, digest)| (path.to_owned(), digest.to_owned())).collect(),
            claims,
            ending,
            test: PortableTest::new(test, types),
            earlier: earlier.iter().map(|test| PortableTest::new(test, types)).collect(),
        };
        let text = serde_json::to_string_pretty(&case).map_err(|error| {
            Error::environment("output", format!("a case cannot be kept: {error}"))
        })?;
        files::folder(&self.folder)?;
        // The same case has the same name in each run, and two cases never have the same.
        let hash = blake3::hash(text.as_bytes()).to_hex();
        let path = self.folder.join(format!("{}-{}.json", test.function, &hash[..DIGITS]));
        files::file(&path, &text)?;
        Ok(path)
    }
}

impl Project {
    /// The readable files of the program's text, each with the hash of its bytes. The file of settings is
    /// left out, although its preconditions are C: the request has its text.
    fn source_digests(&self) -> impl Iterator<Item = (&Path, &str)> {
        let settings = self.request.configuration.path();
        let files = self.texts.all.files().into_iter();
        let files = files.filter(move |file| settings.as_deref() != Some(*file)).map(Path::new);
        files.filter_map(|path| Some((path, self.texts.files().get(path)?.ok()?.digest.as_str())))
    }
}
