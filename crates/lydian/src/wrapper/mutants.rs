//! `lydian cc --mutants`: a file compiled with all its mutants.
//!
//! The notes of a unit are files of the store, `mutants/HASH-OF-THE-OBJECT.json`, so that an object that
//! is made anew has new notes. An object needs nothing of Lydian's at link time.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lydian_frontend::preprocess::{GNU_TYPES, Preprocessing};
use lydian_frontend::{ParsedUnit, parse_unit};
use lydian_mutate::mutant::{FunctionNotes, Mutant, UnitId, UnitMutants};
use lydian_mutate::{Choice, Enumeration, Operator, Pattern, enumerate, schema};
use lydian_native::cc::{Input, Store};

use super::absolute;
use super::unit::{Job, Refusals, first_error};
use crate::error::Error;
use crate::files;
use crate::mutation::patterns::patterns_near;
use crate::project::COMPILER;

/// The mutants that objects are compiled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MutantRequest {
    /// The files whose functions get mutants; none for each command's own.
    pub files: Vec<PathBuf>,
    /// The operators.
    pub operators: Vec<Operator>,
    /// The user's own operators; none for those of the settings that are nearest to each file.
    pub patterns: Option<Vec<Pattern>>,
}

impl Default for MutantRequest {
    fn default() -> Self {
        Self { files: Vec::new(), operators: Operator::ALL.to_vec(), patterns: None }
    }
}

/// The folder of the notes in a store.
const FOLDER: &str = "mutants";
/// The number of times that refused functions are left out before a file is compiled as it is.
const ATTEMPTS: usize = 4;

/// The units with mutants of a store, each once.
pub(crate) fn units_of(store: &Store) -> Vec<UnitMutants> {
    let entries = std::fs::read_dir(store.path().join(FOLDER)).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    paths.sort();
    let read = |path: PathBuf| serde_json::from_slice(&std::fs::read(path).ok()?).ok();
    let mut units: Vec<UnitMutants> = paths.into_iter().filter_map(read).collect();
    units.sort_by(|a, b| (&a.source, &a.id).cmp(&(&b.source, &b.id)));
    units.dedup_by(|a, b| a.id == b.id);
    units
}

impl Job<'_> {
    /// Compiles one input to an object with its mutants. Returns the reason if it could not be done.
    pub(crate) fn mutate(
        &self,
        request: &MutantRequest,
        input: &Input,
        object: &Path,
        named: &Path,
    ) -> Result<Option<String>, Error> {
        let notes = self.notes_path(named);
        drop(std::fs::remove_file(&notes));
        let mut first = None;
        for preprocessing in self.preprocessings(input) {
            let made = match self.parsed(input, preprocessing) {
                Ok(unit) => self.with_mutants(request, input, &unit, object)?,
                Err(reason) => Err(reason),
            };
            match made {
                Ok(unit) => {
                    let text = serde_json::to_string(&unit).unwrap_or_default();
                    let kept = files::folder(&self.store.path().join(FOLDER));
                    let kept = kept.and_then(|()| files::page(&notes, &text));
                    return Ok(kept.err().map(|error| error.to_string()));
                }
                Err(reason) => first = first.or(Some(reason)),
            }
        }
        Ok(Some(first.unwrap_or_default()))
    }

    fn notes_path(&self, object: &Path) -> PathBuf {
        let object = absolute(self.directory, object);
        let hash = blake3::hash(object.as_os_str().as_encoded_bytes()).to_hex();
        self.store.path().join(FOLDER).join(format!("{}.json", &hash[..24]))
    }

    fn parsed(&self, input: &Input, preprocessing: Preprocessing) -> Result<ParsedUnit, String> {
        parse_unit(&self.parse_request(input, preprocessing)?).map_err(|error| error.to_string())
    }

    /// Compiles a text with its mutants. Functions that the compiler refuses are left out. The inner
    /// error is the reason for which there is no object.
    fn with_mutants(
        &self,
        request: &MutantRequest,
        input: &Input,
        unit: &ParsedUnit,
        object: &Path,
    ) -> Result<Result<UnitMutants, String>, Error> {
        let wanted: Vec<PathBuf> = match request.files.is_empty() {
            true => vec![self.whole(&input.path)],
            false => request.files.iter().map(|file| self.whole(file)).collect(),
        };
        let is_wanted = |file: &str| wanted.contains(&self.whole(file));
        let read = |file: &str| {
            let bytes = std::fs::read(absolute(self.directory, file)).ok()?;
            Some(String::from_utf8_lossy(&bytes).into_owned())
        };
        let operators = &request.operators;
        let near = || patterns_near(&self.whole(&input.path));
        let patterns = request.patterns.clone().map_or_else(near, Ok)?;
        let choice = Choice { file: &is_wanted, operators, patterns: &patterns, read: &read };
        let mut found = enumerate(unit, choice);
        let mut said = String::new();
        for _ in 0..ATTEMPTS {
            let id = UnitId::of(unit.source.text(), &found.mutants);
            let text = schema(&unit.source, &found, &id).replacen(GNU_TYPES, "", 1);
            let output = match self.compile_text(input, &text, object)? {
                Ok(output) => output,
                Err(reason) => return Ok(Err(reason)),
            };
            if output.status.success() {
                return Ok(Ok(self.unit_notes(input, unit, found, id)));
            }
            said = String::from_utf8_lossy(&output.stderr).into_owned();
            if !leave_out(unit, &mut found, &said, &|mutant| is_program(unit, mutant)) {
                break;
            }
        }
        let first = first_error(&said);
        Ok(Err(format!("the compiler refuses the text with mutants: {first}")))
    }

    fn whole(&self, file: impl AsRef<Path>) -> PathBuf {
        let path = absolute(self.directory, file);
        path.canonicalize().unwrap_or(path)
    }

    fn unit_notes(
        &self,
        input: &Input,
        unit: &ParsedUnit,
        found: Enumeration,
        id: UnitId,
    ) -> UnitMutants {
        UnitMutants {
            id,
            source: self.whole(&input.path),
            directory: self.directory.to_owned(),
            flags: unit.flags.for_parsing().map(str::to_owned).collect(),
            text: unit.source.text().to_string(),
            functions: found.functions(),
            mutants: found.mutants,
            left_out: found.left_out,
            refused: found.refused,
            defined: found.defined,
        }
    }
}

/// Leaves out the functions that the compiler's messages are about, or their mutants by patterns that are
/// no program. False if there are none.
fn leave_out(
    unit: &ParsedUnit,
    found: &mut Enumeration,
    messages: &str,
    is_program: &dyn Fn(&Mutant) -> bool,
) -> bool {
    let refusals = Refusals::of(messages);
    let is_refused = |function: &FunctionNotes| refusals.are_in(&unit.source, function.span);
    found.leave_out("the compiler refuses its text with mutants", &is_refused, is_program)
}

/// Whether the text of a unit with one mutant is a program, as clang has it. Where clang cannot be asked, it
/// counts as one.
pub(crate) fn is_program(unit: &ParsedUnit, mutant: &Mutant) -> bool {
    let text = mutant.apply(unit.source.text());
    let mut clang = Command::new(COMPILER);
    clang.args(unit.flags.for_parsing()).args(["-w", "-fsyntax-only", "-Qunused-arguments"]);
    clang.args(["-Werror=implicit-function-declaration", "-x", "cpp-output", "-"]);
    clang.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut child) = clang.spawn() else { return true };
    if let Some(mut input) = child.stdin.take() {
        drop(input.write_all(text.as_bytes()));
    }
    child.wait().is_ok_and(|status| status.success())
}
