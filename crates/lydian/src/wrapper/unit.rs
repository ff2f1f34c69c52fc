//! One C file: instrumented and compiled, or compiled as it is.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::process::{ExitStatus, Output};

use lydian_base::{Diagnostic, Severity, SourceMap, Span};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::lower::{LoweringOptions, UnsupportedConstruct};
use lydian_frontend::preprocess::{GNU_TYPES, Preprocessing};
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load};
use lydian_ir::{FuncId, Function, Program};
use lydian_native::cc::{
    CommandLine, Input, InputKind, NotedPlan, NotedWritten, Notes, Store, Stores, UnitId, UnitText,
    dependency_arguments, tables_of, unit_text,
};
use lydian_native::{Purpose, RewriteRequest, rewrite};
use lydian_objective::{
    Annotators, Criterion, DefUseNames, FunctionObjectives, HtolFile, Request, UnitFlows,
};

use super::absolute;
use super::compiler::Compiler;
use super::mutants::MutantRequest;
use super::sharing::Sharing;
use super::unit_notes::{self, Sources};
use crate::error::Error;
use crate::events::{Observer, tell};

/// The parts of a command that are the same for all its files.
pub(crate) struct Job<'a> {
    pub(crate) compiler: &'a Compiler,
    pub(crate) line: &'a CommandLine,
    pub(crate) store: &'a Store,
    pub(crate) directory: &'a Path,
    pub(crate) criteria: &'a [Criterion],
    pub(crate) short_circuit: bool,
    pub(crate) lowering: LoweringOptions,
    pub(crate) stores: Stores,
    /// The kind of stores to execution counters, if executions are counted.
    pub(crate) counts: Option<Stores>,
    /// The files of hyperlabels.
    pub(crate) htol: &'a [Hyperlabels],
    /// The mutants to build in, instead of measurement.
    pub(crate) mutants: Option<&'a MutantRequest>,
    /// The receiver of warnings about omissions.
    pub(crate) observer: &'a dyn Observer,
}

/// A file of hyperlabels, or the reason for which it cannot be read.
pub(crate) struct Hyperlabels {
    pub(crate) path: String,
    pub(crate) file: Result<HtolFile, Diagnostic>,
}

/// The outcome for a file.
pub(crate) enum Instrumentation {
    /// It is instrumented, under this id.
    Instrumented(UnitId),
    /// It could not be instrumented, for a reason in one sentence.
    Not(String),
}

/// The objectives of a file.
struct UnitObjectives {
    objectives: Vec<FunctionObjectives>,
    diagnostics: Vec<Diagnostic>,
    /// The descriptions of definitions and uses.
    described: BTreeMap<FuncId, DefUseNames>,
    flows: UnitFlows,
}

/// A function in which some criteria are not measured.
struct Omission {
    function: FuncId,
    criteria: Vec<Criterion>,
    /// The reason.
    reason: String,
}

/// A file that was read.
struct UnitSource {
    unit: Unit,
    /// The program without outlines, if it has any.
    whole: Option<Program>,
    unmeasured: Vec<Omission>,
    objectives: Vec<FunctionObjectives>,
    flows: UnitFlows,
    /// The descriptions of definitions and uses, if pairs between units are requested.
    described: BTreeMap<FuncId, DefUseNames>,
    remarks: Vec<String>,
    written: Vec<NotedWritten>,
}

/// The number of times that refused functions are left out before the file is compiled as it is.
const ATTEMPTS: usize = 4;

impl Job<'_> {
    /// Warns about an omission.
    pub(crate) fn warn(&self, message: String) {
        tell(self.observer, &[Diagnostic::warning("cc", message)]);
    }

    /// Compiles one input to an object, instrumented.
    pub(crate) fn instrument(
        &self,
        input: &Input,
        object: &Path,
    ) -> Result<Instrumentation, Error> {
        let mut reasons = Vec::new();
        for preprocessing in self.preprocessings(input) {
            let read = match self.read(input, &preprocessing) {
                Ok(read) => read,
                Err(reason) => {
                    reasons.push(reason);
                    continue;
                }
            };
            match self.compile(input, read, object)? {
                Ok(id) => return Ok(Instrumentation::Instrumented(id)),
                Err(reason) => reasons.push(reason),
            }
        }
        Ok(Instrumentation::Not(reasons.into_iter().next().unwrap_or_default()))
    }

    /// The ways of preprocessing, the best first.
    pub(crate) fn preprocessings(&self, input: &Input) -> Vec<Preprocessing> {
        if input.kind == InputKind::Preprocessed {
            return vec![Preprocessing::Done];
        }
        let own = |program: OsString, is_gcc| {
            let mut arguments = self.line.for_preprocessing();
            arguments.extend(dependency_arguments(self.line, input));
            arguments.extend(["-x", "c"].map(str::to_owned));
            Preprocessing::Compiler { program, arguments, is_gcc }
        };
        let mut all = vec![own(self.compiler.program.clone().into(), self.compiler.is_gcc)];
        if self.compiler.is_gcc {
            all.push(Preprocessing::Clang);
        }
        all
    }

    /// The request to the front end for a file.
    pub(crate) fn parse_request(
        &self,
        input: &Input,
        preprocessing: Preprocessing,
    ) -> Result<ParseRequest, String> {
        let path = Path::new(&input.path);
        let flags = CompileFlags::new(&self.line.for_front_end(), path);
        let flags = flags.map_err(|error| error.to_string())?;
        Ok(ParseRequest { preprocessing, ..ParseRequest::new(path, flags) })
    }

    fn read(&self, input: &Input, preprocessing: &Preprocessing) -> Result<UnitSource, String> {
        let mut request = LoadRequest::new(self.parse_request(input, preprocessing.clone())?);
        request.lowering = LoweringOptions { outlines: true, ..self.lowering };
        let unit = load(&request).map_err(|error| error.to_string())?;
        let (htol, mut written) = self.written(&unit);
        let whole = (!unit.outlines.is_empty()).then(|| without_outlines(&unit));
        let annotated =
            self.objectives(whole.as_ref().unwrap_or(&unit.program), &unit.source, htol);
        let UnitObjectives { mut objectives, diagnostics, described, flows } = annotated;
        objectives.extend(self.of_outlines(&unit));
        let unmeasured = self.unmeasured(&unit);
        let (wrong, remarks): (Vec<Diagnostic>, Vec<Diagnostic>) =
            diagnostics.into_iter().partition(|found| found.severity == Severity::Error);
        if let Some(last) = written.last_mut() {
            last.wrong.extend(wrong.iter().map(shown));
            tell(self.observer, &as_warnings(wrong));
        }
        let remarks = remarks.iter().chain(&unit.diagnostics).map(shown).collect();
        Ok(UnitSource { unit, whole, unmeasured, objectives, flows, described, remarks, written })
    }

    /// The user's hyperlabels and paths about functions of the unit: those of files, and those of its
    /// comments. Reports errors in the latter.
    fn written(&self, unit: &Unit) -> (Vec<HtolFile>, Vec<NotedWritten>) {
        if !self.criteria.iter().any(|criterion| criterion.is_written()) {
            return (Vec::new(), Vec::new());
        }
        let is_defined =
            |name: &str| unit.program.defined().any(|(_, function)| function.name == name);
        let (mut files, mut noted) = (Vec::new(), Vec::new());
        for Hyperlabels { path, file } in self.htol {
            let note = |functions, wrong| NotedWritten { path: path.clone(), functions, wrong };
            match file {
                Ok(file) => {
                    let functions = file.functions().map(str::to_owned).collect();
                    noted.push(note(functions, Vec::new()));
                    files.push(file.clone().only_about(is_defined));
                }
                Err(wrong) => noted.push(note(Vec::new(), vec![shown(wrong)])),
            }
        }
        let (comments, wrong) = HtolFile::of_comments(&unit.program, &unit.written);
        noted.push(NotedWritten {
            path: comments.path.clone(),
            functions: comments.functions().map(str::to_owned).collect(),
            wrong: wrong.iter().map(shown).collect(),
        });
        tell(self.observer, &as_warnings(wrong));
        files.push(comments);
        (files, noted)
    }

    fn objectives(
        &self,
        program: &Program,
        map: &SourceMap,
        htol: Vec<HtolFile>,
    ) -> UnitObjectives {
        let short_circuit = self.short_circuit;
        let request = Request { short_circuit, htol, ..Request::new(self.recorded()) };
        let (mut all, mut diagnostics) = (Vec::new(), Vec::new());
        let annotators = Annotators::new(program, map, &request);
        for (id, function) in program.defined() {
            if !is_watched(map, function) {
                continue;
            }
            let Ok(annotation) = annotators.function(id) else { continue };
            diagnostics.extend(annotation.diagnostics);
            all.push(annotation.objectives);
        }
        let mut described = BTreeMap::new();
        if self.criteria.iter().any(|criterion| criterion.is_across_units()) {
            let defined = program.defined().map(|(id, _)| id);
            described
                .extend(defined.filter_map(|id| Some((id, annotators.def_use_names(id).ok()?))));
        }
        UnitObjectives { objectives: all, diagnostics, described, flows: annotators.into_flows() }
    }

    /// The recorded criteria: the requested ones, and those that readers of reports expect for each
    /// line and function.
    fn recorded(&self) -> Vec<Criterion> {
        let always = Criterion::OF_EVERY_REPORT.into_iter();
        let more = always.filter(|criterion| !self.criteria.contains(criterion));
        self.criteria.iter().copied().chain(more).collect()
    }

    /// The objectives of functions with outlines.
    fn of_outlines(&self, unit: &Unit) -> Vec<FunctionObjectives> {
        let (program, map) = (&unit.program, &unit.source);
        let criteria = self.recorded().into_iter().filter(|criterion| criterion.is_of_text());
        let short_circuit = self.short_circuit;
        let request = Request { short_circuit, ..Request::new(criteria.collect::<Vec<_>>()) };
        let annotators = Annotators::new(program, map, &request);
        let watched = unit.outlines.keys().filter(|id| is_watched(map, &program.functions[**id]));
        let annotations = watched.filter_map(|id| annotators.function(*id).ok());
        annotations.map(|annotation| annotation.objectives).collect()
    }

    /// The functions in which some criteria are not measured, with the reasons.
    fn unmeasured(&self, unit: &Unit) -> Vec<Omission> {
        let (program, map) = (&unit.program, &unit.source);
        let reason = |gap: &UnsupportedConstruct| {
            format!("{} is not supported ({})", gap.what, map.place(gap.span.start))
        };
        let mut all = Vec::new();
        let mut add = |function: FuncId, criteria: Vec<Criterion>, reason: String| {
            if is_users(map, &program.functions[function]) && !criteria.is_empty() {
                all.push(Omission { function, criteria, reason });
            }
        };
        for (function, gaps) in &unit.outlines {
            let criteria = self.criteria.iter().copied().filter(|one| !one.is_of_text());
            let reasons = gaps.first().map(reason);
            add(*function, criteria.collect(), reasons.unwrap_or_default());
        }
        for (function, gap) in &unit.left_out {
            add(*function, self.criteria.to_vec(), reason(gap));
        }
        for (id, function) in program.defined() {
            if is_naked(map.slice(function.span)) {
                add(id, self.criteria.to_vec(), "it is assembly alone (`naked`)".to_owned());
            }
        }
        all
    }

    /// Reports the functions in which some criteria are not measured: those of the input each time,
    /// those of another file once.
    fn tell(&self, input: &Input, read: &UnitSource) {
        let (program, map) = (&read.unit.program, &read.unit.source);
        let mut files: BTreeMap<String, Vec<&Omission>> = BTreeMap::new();
        for one in &read.unmeasured {
            let place = map.place(program.functions[one.function].span.start);
            files.entry(place.file.to_string()).or_default().push(one);
        }
        for (file, all) in files {
            let path = absolute(self.directory, &file);
            let name = blake3::hash(path.display().to_string().as_bytes()).to_hex();
            let is_own = path == absolute(self.directory, &input.path);
            if !is_own && !self.store.first_time(&format!("unmeasured-{name}")) {
                continue;
            }
            let first = all[0];
            let name = &program.functions[first.function].name;
            let what = match first.criteria.len() == self.criteria.len() {
                true => String::new(),
                false => format!(" for {}", listed(&first.criteria)),
            };
            let more = match all.len() - 1 {
                0 => String::new(),
                1 => "; nor is one more function".to_owned(),
                more => format!("; nor are {more} more functions"),
            };
            let message = format!(
                "{file}: `{name}` is not measured{what}: {}{more}; reports say so",
                first.reason
            );
            tell(self.observer, &[Diagnostic::warning("not-measured", message)]);
        }
    }

    /// Rewrites and compiles. Functions that the compiler refuses are left out. The inner error is the
    /// reason for which there is no object.
    fn compile(
        &self,
        input: &Input,
        mut read: UnitSource,
        object: &Path,
    ) -> Result<Result<UnitId, String>, Error> {
        let mut said = String::new();
        for _ in 0..ATTEMPTS {
            let (id, text) = match self.text(input, &read) {
                Ok(done) => done,
                Err(error) => return Ok(Err(error)),
            };
            let output = match self.compile_text(input, &text, object)? {
                Ok(output) => output,
                Err(reason) => return Ok(Err(reason)),
            };
            if output.status.success() {
                self.tell(input, &read);
                return Ok(Ok(id));
            }
            said = String::from_utf8_lossy(&output.stderr).into_owned();
            if !leave_out(&mut read, self.criteria, &said) {
                break;
            }
        }
        let first = first_error(&said);
        Ok(Err(format!("the compiler refuses the instrumented text: {first}")))
    }

    /// Compiles a preprocessed text. The inner error is the reason for which the text cannot be kept.
    pub(crate) fn compile_text(
        &self,
        input: &Input,
        text: &str,
        object: &Path,
    ) -> Result<Result<Output, String>, Error> {
        let place = match self.store.temporary() {
            Ok(place) => place,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let source = place.path().join("unit.i");
        if let Err(error) = std::fs::write(&source, text) {
            return Ok(Err(format!("{}: {error}", source.display())));
        }
        if let Some(folder) = std::env::var_os("LYDIAN_KEEP") {
            let name = Path::new(&input.path).file_name().unwrap_or_default();
            drop(std::fs::write(Path::new(&folder).join(name).with_extension("i"), text));
        }
        Ok(Ok(self.compiler.output(&self.words(&source, object))?))
    }

    /// Makes the instrumented text, and writes its notes to the store.
    fn text(&self, input: &Input, read: &UnitSource) -> Result<(UnitId, String), String> {
        let (program, map) = (&read.unit.program, &read.unit.source);
        let (rewritten, plan) = rewrite(&RewriteRequest {
            map,
            starts: &[],
            program,
            watched: &read.objectives,
            short_circuit: self.short_circuit,
            overflow_traps: false,
            purpose: Purpose::Program,
            // An exact build delays no record.
            leaves_out: matches!(self.stores, Stores::Plain | Stores::InPlace),
            counts: self.counts.is_some(),
            any_order: self.compiler.is_gcc,
            flows: Some(&read.flows),
        });
        let whole = read.whole.as_ref().unwrap_or(program);
        let mut sources = Sources::new(self.directory);
        let unmeasured = read.unmeasured.iter().map(|one| {
            let (criteria, reason) = (one.criteria.clone(), one.reason.clone());
            unit_notes::unmeasured(program, map, one.function, criteria, reason, &mut sources)
        });
        let unmeasured = unmeasured.collect();
        let (flows, functions) = (&read.flows, read.objectives.iter());
        let functions =
            functions.map(|of| unit_notes::function(program, map, flows, of, &mut sources));
        let functions = functions.collect::<Option<Vec<_>>>().ok_or("a function has no body")?;
        let tables = tables_of(&plan);
        let asks = self.criteria.iter().any(|criterion| criterion.is_across_units());
        let shared = asks.then(|| {
            let of = Sharing { program, map, described: &read.described, plan: &plan };
            of.noted(flows.whole(whole, map), &read.objectives, tables.foreign)
        });
        let notes = Notes {
            source: input.path.clone(),
            directory: self.directory.display().to_string(),
            criteria: self.criteria.to_vec(),
            short_circuit: self.short_circuit,
            files: sources.files(),
            plan: NotedPlan::new(&plan, tables.clone()),
            functions,
            unmeasured,
            remarks: read.remarks.clone(),
            written: read.written.clone(),
            shared,
        };
        let (id, packed) = notes.pack();
        let path = self.store.keep_notes(id, &packed).map_err(|error| error.to_string())?;
        let text = unit_text(&UnitText {
            rewritten: &rewritten.replacen(GNU_TYPES, "", 1),
            plan: &plan,
            tables: &tables,
            id,
            notes: (&path, packed.len()),
            stores: self.stores,
            counters: self.counts.unwrap_or_default(),
        });
        Ok((id, text))
    }

    /// The compiler's words for the instrumented text.
    fn words(&self, source: &Path, object: &Path) -> Vec<String> {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let mut words = self.line.for_compiling();
        if !self.compiler.is_gcc {
            words.extend(["-fbracket-depth=4096", "-Qunused-arguments"].map(str::to_owned));
        }
        words.extend(["-x", "cpp-output", "-c"].map(str::to_owned));
        words.extend([shown(source), "-o".to_owned(), shown(object)]);
        words
    }

    /// Runs the user's compiler for its warnings about the file, if any were requested. False if it
    /// treats one as an error.
    pub(crate) fn passes_checks(&self, input: &Input) -> Result<bool, Error> {
        if !self.line.asks_for_warnings() || input.kind != InputKind::C {
            return Ok(true);
        }
        let mut words = self.line.for_checking();
        words.extend(["-fsyntax-only", "-x", "c"].map(str::to_owned));
        words.push(input.path.clone());
        let status: ExitStatus = self.compiler.run(&words)?;
        Ok(status.success())
    }
}

/// A diagnostic on one line.
fn shown(found: &Diagnostic) -> String {
    match &found.place {
        Some(place) => format!("{place}: {}", found.message),
        None => found.message.clone(),
    }
}

/// Turns errors into warnings, because errors in objectives must not break a build.
fn as_warnings(errors: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let warn = |error| Diagnostic { severity: Severity::Warning, ..error };
    errors.into_iter().map(warn).collect()
}

/// The program with functions that have outlines only declared.
fn without_outlines(unit: &Unit) -> Program {
    let mut program = unit.program.clone();
    for function in unit.outlines.keys() {
        program.functions[*function].body = None;
    }
    program
}

/// Criteria as a list.
fn listed(criteria: &[Criterion]) -> String {
    let names: Vec<String> = criteria.iter().map(ToString::to_string).collect();
    names.join(", ")
}

/// Whether a function is the user's and not of a library or system header.
fn is_users(map: &SourceMap, function: &Function) -> bool {
    !function.library && !function.span.is_none() && !map.is_system(function.span.start)
}

/// Whether a user's function can be instrumented.
fn is_watched(map: &SourceMap, function: &Function) -> bool {
    is_users(map, function) && !is_naked(map.slice(function.span))
}

/// Whether a function is pure assembly, which cannot be instrumented.
fn is_naked(text: &str) -> bool {
    let head = text.split('{').next().unwrap_or("");
    head.contains("naked")
}

/// The places of errors in the compiler's messages.
pub(crate) struct Refusals(Vec<(String, u32)>);

impl Refusals {
    pub(crate) fn of(messages: &str) -> Self {
        let errors = messages.lines().filter(|line| line.contains("error:"));
        let places = errors.filter_map(|line| {
            let mut parts = line.split(':');
            Some((parts.next()?.to_owned(), parts.next()?.parse().ok()?))
        });
        Self(places.collect())
    }

    /// Whether some are in a function's text.
    pub(crate) fn are_in(&self, map: &SourceMap, span: Span) -> bool {
        let first = map.place(span.start);
        let lines = first.line..=map.place(span.end.saturating_sub(1)).line;
        self.0.iter().any(|(file, line)| **file == *first.file && lines.contains(line))
    }
}

/// The first message about an error.
pub(crate) fn first_error(messages: &str) -> &str {
    let is_error = |line: &&str| line.contains("error") || line.contains("undefined reference");
    messages.lines().find(is_error).unwrap_or("no message")
}

/// Removes the functions that the messages mention. False if there are none.
fn leave_out(read: &mut UnitSource, criteria: &[Criterion], messages: &str) -> bool {
    let refusals = Refusals::of(messages);
    let UnitSource { unit, objectives, unmeasured, .. } = read;
    let before = objectives.len();
    objectives.retain(|of| {
        let function = &unit.program.functions[of.function];
        let is_wrong = refusals.are_in(&unit.source, function.span);
        if is_wrong {
            unmeasured.retain(|one| one.function != of.function);
            unmeasured.push(Omission {
                function: of.function,
                criteria: criteria.to_vec(),
                reason: "the compiler refuses its instrumented text".to_owned(),
            });
        }
        !is_wrong
    });
    objectives.len() != before
}
