//! The scope and thresholds of a report, by the command line and the settings.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lydian::{CONFIGURATION_FILE, Configuration};
use lydian_base::Diagnostic;
use lydian_inputs::settings::TomlStep;
use lydian_objective::Criterion;
use lydian_report::Report;
use lydian_report::coverage::Coverage;
use lydian_report::filters::paths::{PathFilter, PathPattern, shown};
use lydian_report::totals::thresholds::{Threshold, ThresholdResult};

use crate::args::ReportArgs;
use crate::exit::{ExitCode, Failure};

/// The most unmeasured functions that are named.
const MOST_NAMED: usize = 10;

/// The options of the command line and the settings. The paths of each are relative to a folder of its
/// own.
pub(super) struct ReportScope {
    here: Part,
    settings: Part,
    /// Whether the report is limited to a change, which need not touch every path.
    is_of_change: bool,
}

#[derive(Default)]
struct Part {
    filter: PathFilter,
    thresholds: Vec<Threshold>,
    base: PathBuf,
}

impl ReportScope {
    pub(super) fn read(args: &ReportArgs, root: &Path) -> Result<Self, Failure> {
        let asked = &args.scope;
        let filter = PathFilter { include: asked.include.clone(), exclude: asked.exclude.clone() };
        let here = Part { filter, thresholds: args.fail_under.clone(), base: root.to_owned() };
        // The search for the nearest file of settings starts at a file.
        let config = Configuration::read(args.config.as_deref(), &root.join(CONFIGURATION_FILE))?;
        let is_of_change = asked.is_of_change();
        let settings = Part::of(&config, is_of_change)
            .map_err(|wrong| Failure { code: ExitCode::Usage, diagnostics: vec![wrong] })?;
        Ok(Self { here, settings, is_of_change })
    }

    fn parts(&self) -> [&Part; 2] {
        [&self.here, &self.settings]
    }

    /// Whether a file belongs to the report.
    pub(super) fn keeps(&self, path: &Path) -> bool {
        self.parts().into_iter().all(|part| part.filter.keeps(&shown(path, &part.base)))
    }

    /// Removes files from the coverage. Returns their number.
    pub(super) fn limit(&self, coverage: &mut Coverage) -> usize {
        self.parts().into_iter().map(|part| part.filter.apply(coverage, &part.base)).sum()
    }

    /// The criteria with thresholds.
    pub(super) fn criteria(&self) -> impl Iterator<Item = Criterion> {
        let parts = self.parts().into_iter();
        parts.flat_map(|part| part.thresholds.iter().map(|threshold| threshold.criterion))
    }

    /// Whether the report meets its thresholds.
    pub(super) fn judge(&self, report: &Report) -> Result<ExitCode, Failure> {
        let mut diagnostics = Vec::new();
        let mut plain = Vec::new();
        for (part, threshold) in self
            .parts()
            .into_iter()
            .flat_map(|part| part.thresholds.iter().map(move |it| (part, it)))
        {
            if let Some(path) = threshold.of_nothing(report, &part.base)
                && !self.is_of_change
            {
                return Err(Failure::usage(
                    "fail-under",
                    format!("no file of the report is of {path}"),
                )
                .note(format!("it is relative to {}", part.base.display())));
            }
            let judged = threshold.judge(report, &part.base);
            let below = judged.below.iter();
            diagnostics.extend(below.map(|below| Diagnostic::error("fail-under", below.clone())));
            diagnostics.extend(unmeasured(threshold.criterion, &judged));
            plain.extend(judged.plain);
        }
        plain.sort();
        plain.dedup();
        diagnostics.extend(not_at_all(&plain));
        match diagnostics.is_empty() {
            true => Ok(ExitCode::Done),
            false => Err(Failure { code: ExitCode::Below, diagnostics }),
        }
    }
}

impl Part {
    fn of(config: &Configuration, is_of_change: bool) -> Result<Self, Diagnostic> {
        let settings = &config.settings.report;
        let (key, thresholds) = match is_of_change {
            true => ("diff-fail-under", &settings.diff_fail_under),
            false => ("fail-under", &settings.fail_under),
        };
        let base = config.file.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
        // The file of settings is named relative to the current folder, which may be its own.
        let base = if base.as_os_str().is_empty() { Path::new(".") } else { base };
        let filter = PathFilter {
            include: read::<PathPattern>(config, "include", &settings.include)?,
            exclude: read::<PathPattern>(config, "exclude", &settings.exclude)?,
        };
        Ok(Self {
            filter,
            thresholds: read(config, key, thresholds)?,
            base: base.canonicalize().unwrap_or_else(|_| base.to_owned()),
        })
    }
}

fn read<T: FromStr<Err = String>>(
    config: &Configuration,
    key: &str,
    texts: &[String],
) -> Result<Vec<T>, Diagnostic> {
    let one = |text: &String| {
        let way = [TomlStep::Value("report"), TomlStep::Key(key)];
        text.parse().map_err(|why| config.wrong(&way, format!("`{text}` in {key}: {why}")))
    };
    texts.iter().map(one).collect()
}

/// A warning about files without any measurement, which no figure includes.
fn not_at_all(plain: &[String]) -> Option<Diagnostic> {
    let files = match plain.len() {
        0 => return None,
        1 => "one file is compiled as it is".to_owned(),
        count => format!("{count} files are compiled as they are"),
    };
    let mut diagnostic = Diagnostic::error("fail-under", format!("{files}, and not measured"));
    for file in plain.iter().take(MOST_NAMED) {
        diagnostic = diagnostic.note(file.clone());
    }
    Some(diagnostic.note("compile with LYDIAN_OFF=1 what is not to be measured"))
}

/// A warning about functions in which a criterion is not measured, unless a comment excuses it.
fn unmeasured(criterion: Criterion, judged: &ThresholdResult) -> Option<Diagnostic> {
    let functions = match judged.unmeasured.len() {
        0 => return None,
        1 => "one function".to_owned(),
        count => format!("{count} functions"),
    };
    let message = format!("{criterion} is not measured of {functions}");
    let mut diagnostic = Diagnostic::error("fail-under", message);
    for one in judged.unmeasured.iter().take(MOST_NAMED) {
        diagnostic = diagnostic.note(one.clone());
    }
    let excuse =
        "a comment `lydian-justify CRITERION: REASON` on the line of its name excuses a function";
    Some(diagnostic.note(excuse))
}
