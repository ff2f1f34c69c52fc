//! Comparing two versions of a C file, function by function.
//!
//! Functions are matched by their names ([`lydian_objective::changes`]). Those whose text is the same,
//! with all that they reach, are equal. For the others both versions are put in one program with a
//! driver, which calls both on the same inputs and compares what they do ([`product`]). A complete
//! exploration of the driver proves that they are equal, or finds inputs on which they differ, which
//! the native programs of both versions confirm.

mod c_test;
mod common_inputs;
mod common_program;
mod comparison;
mod confirmation;
mod driver;
mod endings;
mod externals;
mod impact;
mod leaves;
mod minimise;
mod product;
mod proofs;
pub(crate) mod second_runs;
mod two_version_test;
mod version_end;
mod versions;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use lydian_base::CancelToken;
use lydian_objective::changes::{FunctionChange, FunctionStatus, ProgramChanges};
use serde::Serialize;

use crate::error::{Error, ErrorKind};
use crate::events::{Event, Observer};
use comparison::Comparison;
pub use impact::{ChangeImpact, FunctionImpact, PATH_OPTIONS};
use versions::Versions;

/// Two versions of a C file to be compared.
#[derive(Clone, Debug)]
pub struct DiffRequest {
    /// The old version.
    pub old: PathBuf,
    /// The new version.
    pub new: PathBuf,
    /// The functions by their names; none for all that a version defines.
    pub functions: Vec<String>,
    /// The compiler's flags for both. Without any, those of the compilation database.
    pub flags: Vec<String>,
    /// The flags for the old version alone, in place of the others; none if it has the same.
    pub old_flags: Option<Vec<String>>,
    /// The compilation database; none for the nearest, if there is one.
    pub compile_commands: Option<PathBuf>,
    /// The time for each function.
    pub time: Duration,
    /// The elements that a pointer among the parameters leads to.
    pub elements: u64,
}

/// The difference between two versions of a file.
#[derive(Clone, Debug, Serialize)]
pub struct VersionDiff {
    /// The functions that a version defines: those of the new one in its order, then those that it does
    /// not define any more, and at last those that are not supported.
    pub functions: Vec<FunctionDiff>,
}

/// The difference between two versions of a function.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionDiff {
    /// Its name.
    pub function: String,
    /// The result.
    pub verdict: DiffVerdict,
    /// The lines of the new version whose statements are new or changed, in order.
    pub changed_lines: Vec<u32>,
    /// The lines of the old version whose statements are gone or changed, in order.
    pub removed_lines: Vec<u32>,
    /// The time that was spent, in seconds.
    pub seconds: f64,
}

/// What is known of two versions of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum DiffVerdict {
    /// Their texts are equal, and those of all that they reach.
    EqualText,
    /// Their statements are equal, and those of all that they reach, though not all types and texts are.
    EqualCode,
    /// Both do the same, as all paths of both together show.
    Proved {
        /// What the argument assumes of inputs, in sentences.
        assumptions: Vec<String>,
        /// The number of paths.
        paths: u64,
    },
    /// No run of both together tells them apart, as engines prove over all runs.
    ProvedByEngines {
        /// What the argument assumes, in sentences.
        assumptions: Vec<String>,
    },
    /// There are inputs on which they differ.
    Differs(Box<Difference>),
    /// It is not known.
    Unknown {
        /// Why.
        reason: String,
    },
    /// Only the new version defines it.
    Added,
    /// Only the old version defines it.
    Removed,
    /// Its type differs.
    Signature {
        /// As C spells it in the old version.
        old: String,
        /// As C spells it in the new version.
        new: String,
    },
    /// An engine and the native programs contradict each other: an internal error.
    Contradiction {
        /// What they say.
        reason: String,
    },
}

/// Inputs on which two versions of a function differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The inputs that matter, each with its value as C writes it.
    pub inputs: Vec<NamedValue>,
    /// The inputs and the call as C statements, where the inputs are not listed one by one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What differs.
    pub observed: Vec<Observed>,
    /// A C program that shows both, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
}

/// An input.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NamedValue {
    /// Its name in C.
    pub name: String,
    /// Its value in C.
    pub value: String,
}

/// Something that is not the same after both versions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Observed {
    /// Its name: `result`, a variable, or what the function does.
    pub what: String,
    /// What the old version gives.
    pub old: String,
    /// What the new version gives.
    pub new: String,
}

impl VersionDiff {
    /// Compares two versions. Once `cancel` is cancelled, the other functions are unknown for that
    /// reason.
    ///
    /// # Errors
    /// A version that cannot be read, a function that neither defines, and a program that is not for
    /// x86-64.
    pub fn between(
        request: &DiffRequest,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let versions = Versions::load(request, observer)?;
        let changes = versions.changes();
        let asked = |change: &&FunctionChange| {
            request.functions.is_empty() || request.functions.contains(&change.name)
        };
        let is_known = |name: &&String| changes.functions.iter().any(|one| one.name == **name);
        if let Some(name) = request.functions.iter().find(|name| !is_known(name)) {
            let what = format!("neither version defines `{name}`");
            return Err(Error::source("no-such-function", what));
        }
        let chosen: Vec<&FunctionChange> = changes
            .functions
            .iter()
            .filter(|change| !request.functions.is_empty() || versions.is_of_file(change))
            .filter(asked)
            .collect();
        if chosen.is_empty() {
            let what = "neither version defines a function";
            let error = lydian_base::Diagnostic::error("nothing-to-compare", what);
            return Err(Error::new(ErrorKind::Unsupported, error));
        }
        let comparison =
            Comparison { versions: &versions, changes: &changes, request, cancel, observer };
        let compared = chosen.into_iter().map(|change| {
            observer.notice(Event::Begun { function: &change.name });
            let begun = Instant::now();
            let verdict = verdict(&comparison, &changes, change)?;
            observer.notice(Event::Ended { function: &change.name });
            let (changed_lines, removed_lines) = versions.lines(change);
            Ok(FunctionDiff {
                function: change.name.clone(),
                verdict,
                changed_lines,
                removed_lines,
                seconds: begun.elapsed().as_secs_f64(),
            })
        });
        Ok(Self { functions: compared.collect::<Result<_, Error>>()? })
    }
}

fn verdict(
    comparison: &Comparison<'_>,
    changes: &ProgramChanges,
    change: &FunctionChange,
) -> Result<DiffVerdict, Error> {
    let Versions { old, new, .. } = comparison.versions;
    Ok(match &change.status {
        FunctionStatus::Equal if !comparison.enters_unknown_text(change) => DiffVerdict::EqualText,
        FunctionStatus::Added => DiffVerdict::Added,
        FunctionStatus::Removed => DiffVerdict::Removed,
        FunctionStatus::Signature { old, new } => {
            DiffVerdict::Signature { old: old.clone(), new: new.clone() }
        }
        FunctionStatus::Changed | FunctionStatus::ReachesChange
            if changes.is_equal_code((&old.program, &new.program), change)
                && !comparison.enters_unknown_text(change) =>
        {
            DiffVerdict::EqualCode
        }
        FunctionStatus::Equal | FunctionStatus::Changed | FunctionStatus::ReachesChange => {
            comparison.compare(change)?
        }
    })
}
