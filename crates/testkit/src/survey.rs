//! Surveys of whole libraries in the front end: the number of lowered functions, and reasons for the
//! others.
//!
//! A function counts once a library: one that a header defines is met in many files, and is refused
//! if it is refused in any.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lydian_base::Place;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::lower::{LoweredUnit, LoweringOptions, lower};
use lydian_frontend::{FrontendError, ParseRequest, ParsedUnit, parse_unit};
use lydian_ir::Program;
use lydian_ir::verify::verify;

/// A file to compile.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Its path, relative to `directory` or absolute.
    pub file: PathBuf,
    /// The folder in which the compiler runs.
    pub directory: PathBuf,
    /// The compiler's flags.
    pub flags: Vec<String>,
}

/// The result for one file.
#[derive(Clone, Debug)]
pub struct FileSurvey {
    /// The file.
    pub file: PathBuf,
    /// Lines of the file itself.
    pub lines: usize,
    /// Time to preprocess, parse and decode.
    pub parsing: Duration,
    /// Time to lower.
    pub lowering: Duration,
    /// Processor time of all of it, clang's included.
    pub processor: Duration,
    /// The reason for which there is no program at all.
    pub failure: Option<String>,
    /// The functions that are defined in it, by place and name.
    pub functions: BTreeSet<String>,
    /// Those that are not lowered, with the reason.
    pub refused: BTreeMap<String, String>,
    /// Initialisers of globals that are not lowered, with the reason.
    pub initialisers: Vec<String>,
    /// The errors of the verifier.
    pub violations: Vec<String>,
}

impl FileSurvey {
    /// All the time it took.
    pub fn time(&self) -> Duration {
        self.parsing + self.lowering
    }
}

/// Takes one file through the front end, and its program through the verifier.
pub fn survey(source: &SourceFile) -> FileSurvey {
    let path = source.directory.join(&source.file);
    let lines = std::fs::read(&path).map_or(0, |text| text.split(|byte| *byte == b'\n').count());
    let mut survey = FileSurvey {
        file: source.file.clone(),
        lines,
        parsing: Duration::ZERO,
        lowering: Duration::ZERO,
        processor: Duration::ZERO,
        failure: None,
        functions: BTreeSet::new(),
        refused: BTreeMap::new(),
        initialisers: Vec::new(),
        violations: Vec::new(),
    };
    let (start, before) = (Instant::now(), processor_time());
    let parsed = parse(source, &path);
    survey.parsing = start.elapsed();
    match parsed {
        Ok(parsed) => {
            let start = Instant::now();
            let lowered = lower(&parsed.ast, &parsed.source, LoweringOptions::default());
            survey.lowering = start.elapsed();
            survey.processor = processor_time().zip(before).map_or(Duration::ZERO, |(a, b)| a - b);
            count(&mut survey, &parsed, lowered);
        }
        Err(error) => survey.failure = Some(error.to_string()),
    }
    survey
}

fn parse(source: &SourceFile, path: &Path) -> Result<ParsedUnit, FrontendError> {
    let flags = CompileFlags::new(&source.flags, &source.file)?;
    parse_unit(&ParseRequest::new(path, flags.in_directory(&source.directory)))
}

fn count(survey: &mut FileSurvey, parsed: &ParsedUnit, lowered: LoweredUnit) {
    let program = lowered.program;
    let mut by_name: BTreeMap<&str, String> = BTreeMap::new();
    for (_, function) in parsed.ast.defined_functions() {
        let key = key(&parsed.source.place(function.span.start), &function.name);
        by_name.insert(&function.name, key.clone());
        survey.functions.insert(key);
    }
    for diagnostic in lowered.diagnostics {
        let place = diagnostic.place.map_or_else(String::new, |place| format!("{place}: "));
        let about = diagnostic.message.split_once(" in function `");
        let found = about.and_then(|(reason, rest)| Some((reason, rest.split_once('`')?.0)));
        match found.and_then(|(reason, name)| Some((reason, by_name.get(name)?))) {
            Some((reason, key)) => {
                survey.refused.insert(key.clone(), reason.to_owned());
            }
            None => survey.initialisers.push(format!("{place}{}", diagnostic.message)),
        }
    }
    silently_left_out(survey, &program, &by_name);
    let violations = verify(&program).into_iter().map(|violation| violation.to_string());
    survey.violations.extend(violations);
}

/// Functions without a body for which there was no diagnostic.
fn silently_left_out(survey: &mut FileSurvey, program: &Program, by_name: &BTreeMap<&str, String>) {
    let lowered: BTreeSet<&str> =
        program.defined().map(|(_, function)| function.name.as_str()).collect();
    for (name, key) in by_name {
        if !lowered.contains(name) {
            let reason = || "no reason is given".to_owned();
            survey.refused.entry(key.clone()).or_insert_with(reason);
        }
    }
}

/// The identity of a function in its library.
fn key(place: &Place, name: &str) -> String {
    let Place { file, line, .. } = place;
    format!("{file}:{line}: {name}")
}

/// Bytes of memory that this process had at most since [`reset_peak_memory`], `None` where the
/// system does not say.
pub fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

/// Processor time of this process and of those that it started and waited for; `None` where the
/// system does not say. Unlike the time by the clock it does not depend on what else is running.
pub fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name, which may have spaces in it, ends at the last parenthesis.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = fields.get(11..15)?.iter().map(|field| field.parse::<u64>());
    let ticks: u64 = ticks.sum::<Result<u64, _>>().ok()?;
    // Linux gives these times in hundredths of a second, whatever its own clock is.
    Some(Duration::from_millis(ticks * 10))
}

/// Lets [`peak_memory`] start anew; false where the system cannot.
pub fn reset_peak_memory() -> bool {
    std::fs::write("/proc/self/clear_refs", "5").is_ok()
}
