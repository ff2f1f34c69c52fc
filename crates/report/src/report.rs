//! Reports: the coverage, the sources and the project's folder, from which every form of report is
//! made.

use std::path::{Path, PathBuf};

use lydian_base::{Diagnostic, Severity};

use crate::coverage::{Coverage, DecisionCoverage};
use crate::filters::exclusion;
use crate::filters::paths::shown;
use crate::sources::{SourceText, Sources};

/// Coverage with the exclusions of comments, and with the sources.
#[derive(Clone, Debug)]
pub struct Report {
    /// The coverage. Files and functions are in order.
    pub coverage: Coverage,
    /// The sources as they are now.
    pub sources: Sources,
    /// The folder that paths are shown relative to.
    pub root: PathBuf,
}

impl Report {
    /// Reads the sources of a coverage and applies their comments. The diagnostics are warnings;
    /// or errors, and then there is no report.
    pub fn read(
        coverage: Coverage,
        root: &Path,
    ) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        let sources = Sources::read(coverage.files.iter().map(|file| file.path.as_path()));
        Self::with(coverage, sources, root)
    }

    /// The same with sources that were read already.
    pub fn with(
        mut coverage: Coverage,
        sources: Sources,
        root: &Path,
    ) -> Result<(Self, Vec<Diagnostic>), Vec<Diagnostic>> {
        coverage.files.sort_by(|a, b| a.path.cmp(&b.path));
        let mut found = Vec::new();
        for file in &mut coverage.files {
            file.functions.sort_by(|a, b| (a.start, &a.name).cmp(&(b.start, &b.name)));
            let decisions = file.functions.iter_mut().flat_map(|function| &mut function.decisions);
            decisions.for_each(DecisionCoverage::complete);
            let Some(Ok(text)) = sources.get(&file.path) else { continue };
            file.changed |= file.digest.as_ref().is_some_and(|digest| *digest != text.digest);
            // Without a hash, a text that is too short has surely changed since it was compiled.
            let lines = text.lines.len();
            file.changed |= file.functions.iter().any(|f| f.end_line as usize > lines);
            if !file.changed {
                found.extend(exclusion::apply(file, text, &coverage.criteria));
            }
        }
        if found.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
            return Err(found);
        }
        Ok((Self { coverage, sources, root: root.to_owned() }, found))
    }

    /// The text of a file that has not changed since it was compiled, or the reason for which its
    /// lines cannot be shown.
    pub fn text(&self, path: &Path, changed: bool) -> Result<&SourceText, String> {
        match self.sources.get(path) {
            Some(Ok(_)) if changed => {
                Err("the file is no longer what was compiled, so its lines are not shown".into())
            }
            Some(Ok(text)) => Ok(text),
            Some(Err(why)) => Err(format!("the file cannot be read: {why}")),
            None => Err("the file was not read".into()),
        }
    }

    /// A path as it is shown: relative to the root, where it is below.
    pub fn shown(&self, path: &Path) -> String {
        shown(path, &self.root)
    }
}
