//! The objectives of a project that the difference from an old version may affect.

use std::collections::BTreeSet;
use std::path::Path;

use lydian_frontend::flags::CompileFlags;
use lydian_ir::FuncId;
use lydian_objective::FunctionObjectives;
use lydian_objective::changes::{
    AffectedPlaces, ImpactedObjectives, ProgramChanges, VersionFlow, VersionOf,
};
use rustc_hash::FxHashSet;

use crate::objectives::Objectives;
use crate::project::Project;

/// The options of compilers that a path may follow at once; the last is for a path alone.
pub const PATH_OPTIONS: [&str; 6] = ["-include", "-idirafter", "-isystem", "-iquote", "-I", ""];

/// A flag that changes nothing.
const NO_FLAG: &str = "-w";

/// The objectives that a change may affect, function by function.
#[derive(Clone, Debug)]
pub struct ChangeImpact {
    /// By the position of the function among the project's objectives.
    functions: Vec<ImpactedObjectives>,
    /// The counts of each function, in the same order.
    pub counts: Vec<FunctionImpact>,
}

/// The number of a function's objectives that a change may affect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionImpact {
    /// The function.
    pub function: String,
    /// The impacted objectives, each once.
    pub impacted: usize,
    /// All objectives, each once.
    pub all: usize,
}

impl ChangeImpact {
    /// The impacted objectives of the function at a position.
    pub(crate) fn of(&self, index: usize) -> Option<&ImpactedObjectives> {
        self.functions.get(index)
    }
}

impl Project {
    /// The objectives that the difference from an old version of the project may affect.
    pub fn impact(&self, objectives: &Objectives, old: &Self) -> ChangeImpact {
        let flags: Vec<&str> = self.build.flags.for_parsing().collect();
        let before = VersionOf { program: &old.program, map: &old.texts.all };
        let after = VersionOf { program: &self.program, map: &self.texts.all };
        let changes = ProgramChanges::between(before, after, &flags.join(" "));
        let mut flows = (VersionFlow::of(&old.program), VersionFlow::of(&self.program));
        let (mut functions, mut counts) = (Vec::new(), Vec::new());
        let mut known: Option<(FuncId, AffectedPlaces)> = None;
        for of in &objectives.functions {
            let entry = self.entry().unwrap_or(of.function);
            // All functions of a whole program have one entry.
            let affected = match known.take() {
                Some((of, affected)) if of == entry => affected,
                _ => AffectedPlaces::from(&changes, (&mut flows.0, &mut flows.1), entry),
            };
            let found = (&flows.1, &affected);
            let impacted = ImpactedObjectives::of(&changes, found, (&self.program, entry), of);
            known = Some((entry, affected));
            counts.push(count(self.name(of.function), of, &impacted));
            functions.push(impacted);
        }
        ChangeImpact { functions, counts }
    }

    /// The flags with which the file is compiled, for another version of it. Those of a compilation
    /// database have whole paths.
    pub fn flags(&self) -> Vec<String> {
        exact_flags(&self.build.flags)
    }
}

/// Flags for another version of a file, never empty: without a flag, a database near that version
/// would be asked.
pub(super) fn exact_flags(flags: &CompileFlags) -> Vec<String> {
    let whole = |flag: &str| with_whole_path(flag, flags.directory()?);
    let all = flags.for_preprocessing();
    let mut all: Vec<String> =
        all.map(|flag| whole(flag).unwrap_or_else(|| flag.to_owned())).collect();
    if all.is_empty() {
        all.push(NO_FLAG.to_owned());
    }
    all
}

/// A flag whose path, relative to a folder, is made absolute; none where it has none.
fn with_whole_path(flag: &str, folder: &Path) -> Option<String> {
    let option = PATH_OPTIONS.iter().find(|option| flag.starts_with(**option))?;
    let path = folder.join(&flag[option.len()..]);
    let names_one = flag.len() > option.len() && path.exists();
    names_one.then(|| format!("{option}{}", path.display()))
}

fn count(name: &str, of: &FunctionObjectives, impacted: &ImpactedObjectives) -> FunctionImpact {
    let labels: BTreeSet<_> = of.criteria.values().flatten().map(|entry| entry.label).collect();
    let hypers: FxHashSet<_> =
        of.hyper_criteria.values().flatten().map(|entry| entry.hyper).collect();
    let own = labels.iter().filter(|label| impacted.labels.contains(label)).count();
    let own_hypers = hypers.iter().filter(|hyper| impacted.hypers.contains(hyper)).count();
    FunctionImpact {
        function: name.to_owned(),
        impacted: own + own_hypers,
        all: labels.len() + hypers.len(),
    }
}
