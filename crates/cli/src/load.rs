//! From the command line's file and flags to a program.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use lydian_base::{Diagnostic, Place, Severity, SourceMap};
use lydian_clib::{ClibError, Inputs, Library, Purpose};
use lydian_frontend::compile_commands::CompileCommands;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::lower::{LoweringOptions, ValueDecisions};
use lydian_frontend::{FrontendError, LoadRequest, ParseRequest, Unit};
use lydian_inputs::InputSpec;
use lydian_ir::link::{LinkError, Role, link};
use lydian_ir::source::WrittenLine;
use lydian_ir::{FuncId, Function, Program, Target};
use lydian_native::{Companion, Libraries};
use lydian_report::sources::Sources;

use crate::args::{ProgramArgs, SourceArgs, ValueDecisionsArg};
use crate::config::Config;
use crate::exit::{ExitCode, Failure};
use crate::program::WholeProgram;
use crate::stated::{self, Extra};
use crate::{render, units};

/// What compiles the instrumented program.
pub(crate) const COMPILER: &str = "clang-19";

/// The code of the front end's diagnostics about what it leaves out.
const UNSUPPORTED: &str = "unsupported-construct";

/// A program, and the functions of it that the user asked for.
pub(crate) struct Loaded {
    pub(crate) program: Program,
    /// The texts of all units, the file's own first: what every span refers to.
    pub(crate) map: SourceMap,
    /// The texts of the user's units, the file's own first, without what the C library adds.
    pub(crate) users: SourceMap,
    /// Where the text of each of them begins.
    pub(crate) starts: Vec<u32>,
    /// What the file's comments say in the language of hyperlabels.
    pub(crate) written: Vec<WrittenLine>,
    /// The other units, as they are compiled.
    pub(crate) companions: Vec<Companion>,
    pub(crate) flags: CompileFlags,
    /// Each has a body.
    pub(crate) functions: Vec<FuncId>,
    /// What tests call, where the program is tested as a whole; else they call each function.
    pub(crate) entry: Option<FuncId>,
    /// The C that calls `main` with arguments, where that is tested.
    pub(crate) driver: String,
    /// What the user says of a whole program's surroundings, one sentence each.
    pub(crate) surroundings: Vec<String>,
    /// The absolute paths of the user's stubs, which are part of the program.
    pub(crate) stubs: Vec<String>,
    /// What is assumed about inputs.
    pub(crate) spec: InputSpec,
    /// The file of settings, which `spec` has now.
    pub(crate) config: Config,
    /// The files that the texts came from, read when they are first asked for.
    sources: OnceLock<Sources>,
}

impl Loaded {
    /// What tests call.
    pub(crate) fn entries(&self) -> &[FuncId] {
        match &self.entry {
            Some(entry) => std::slice::from_ref(entry),
            None => &self.functions,
        }
    }

    /// What a user calls the function that tests call: a whole program may have a driver before `main`.
    pub(crate) const fn caller<'n>(&self, function: &'n str) -> &'n str {
        if self.entry.is_some() { "main" } else { function }
    }

    /// The files that the texts came from, as they are on the disk.
    pub(crate) fn sources(&self) -> &Sources {
        self.sources.get_or_init(|| Sources::read(self.map.files().into_iter().map(Path::new)))
    }
}

/// Reads, parses and lowers the file; shows diagnostics about what is left out.
pub(crate) fn load(args: &SourceArgs, config: Config) -> Result<Loaded, Failure> {
    load_program(args, None, config)
}

/// The same, as a whole program if that is asked for.
pub(crate) fn load_program(
    args: &SourceArgs,
    asked: Option<&ProgramArgs>,
    mut config: Config,
) -> Result<Loaded, Failure> {
    let flags = flags(args)?;
    check_language(&args.file)?;
    let mut unit = parse(&args.file, &flags, args)?;
    let of_whole = |asked| WholeProgram::of(&unit.program, args, asked);
    let program = asked.map(of_whole).transpose()?.flatten();
    stated::check_fit(&unit.program, &config, &args.file)?;
    let mut extra = Extra::of(&unit.program, &config)?;
    extra.add(program.as_ref().map_or("", |program| &program.driver));
    if !extra.is_empty() {
        let folder = tempfile::tempdir().map_err(|error| {
            Failure::environment("temporary-folder", format!("no temporary folder: {error}"))
        })?;
        let file = extra.write(folder.path(), &args.file)?;
        unit = parse(&file, &flags, args)
            .map_err(|failure| stated::blame(failure, &unit.program, &config))?;
        stated::check_compiled(&unit.program, &config)?;
    }
    render::diagnostics(&relevant(&unit, args));
    if unit.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(Failure { code: ExitCode::Usage, diagnostics: Vec::new() });
    }
    let functions = chosen(&unit.program, &unit.source, args)?;
    let others = others(args)?;
    let texts = std::iter::once(&unit).chain(others.iter().map(|(_, unit)| unit));
    let texts: Vec<SourceMap> = texts.map(|unit| unit.source.clone()).collect();
    let (users, starts) =
        SourceMap::join(&texts).ok_or_else(|| units::unlinked(LinkError::TooLong))?;
    let written = unit.written.clone();
    let companions = others.iter().map(|(_, unit)| companion(unit)).collect();
    let tested_as_whole = program;
    let inputs = tested_as_whole.as_ref().and_then(|whole| whole.inputs);
    let (mut program, map) = whole(unit, others, inputs, args)?;
    lydian_inputs::prepare(&mut program);
    let entry = tested_as_whole.as_ref().and_then(|whole| whole.entry(&program));
    let surroundings = tested_as_whole.as_ref().map(WholeProgram::surroundings);
    let surroundings = surroundings.unwrap_or_default();
    let driver = tested_as_whole.as_ref().map(|whole| whole.driver.clone()).unwrap_or_default();
    let stubs = config.stubs().map(|stub| absolute(&stub).display().to_string()).collect();
    let settings = std::mem::take(&mut config.settings);
    let settings = match &tested_as_whole {
        Some(whole) => whole.settings(settings),
        None => settings,
    };
    let spec = InputSpec::new(&program, settings);
    Ok(Loaded {
        program,
        map,
        users,
        starts,
        written,
        companions,
        flags,
        functions,
        entry,
        driver,
        surroundings,
        stubs,
        spec,
        config,
        sources: OnceLock::new(),
    })
}

/// Refuses what is not compiled for x86-64: neither the exploration nor the native runner knows
/// other addresses.
pub(crate) fn require_x86_64(loaded: &Loaded) -> Result<(), Failure> {
    match loaded.program.types.target {
        Target::X86_64 => Ok(()),
        Target::I386 => {
            let what = "tests of 32-bit programs (`-m32`) are neither generated nor measured";
            let failure = Diagnostic::error("unsupported-target", what);
            let failure = Failure::new(ExitCode::Unsupported, failure);
            Err(failure.note("`lydian run`, `objectives` and `ir` take such programs"))
        }
    }
}

/// The other files of the program, which the user names, loaded.
fn others(args: &SourceArgs) -> Result<Vec<(PathBuf, Unit)>, Failure> {
    let sources = units::sources(&args.with, &args.flags, args.compile_commands.as_deref())?;
    let own = canonical(&args.file);
    let sources: Vec<_> =
        sources.into_iter().filter(|source| canonical(&source.file) != own).collect();
    let mut requests = units::requests(&sources);
    requests.iter_mut().for_each(|request| request.lowering = lowering(args));
    let files = sources.iter().map(|source| source.file.clone());
    Ok(files.zip(units::load(&requests)?).collect())
}

fn companion(unit: &Unit) -> Companion {
    let flags = unit.flags.for_parsing().map(str::to_owned).collect();
    let declarations = lydian_native::implicit_declarations(&unit.program);
    Companion { text: unit.source.text().to_string(), declarations, flags }
}

/// The program of a file, other files, and what of the C library is worth exploring.
fn whole(
    unit: Unit,
    others: Vec<(PathBuf, Unit)>,
    inputs: Option<Inputs>,
    args: &SourceArgs,
) -> Result<(Program, SourceMap), Failure> {
    let wants_library = |unit: &Unit| lydian_clib::is_explored_by(&unit.program);
    let wanted = inputs.is_some()
        || wants_library(&unit)
        || others.iter().any(|(_, unit)| wants_library(unit));
    if others.is_empty() && !wanted {
        return Ok((unit.program, unit.source));
    }
    let flags = unit.flags.clone();
    let mut parts = vec![units::link_unit(&args.file, unit, Role::Part)];
    let others = others.into_iter();
    parts.extend(others.map(|(file, unit)| units::link_unit(&file, unit, Role::Companion)));
    let no_library = |error: ClibError| Failure::environment("library", error.to_string());
    let inputs = inputs.map(|inputs| inputs.lower(&flags)).transpose().map_err(no_library)?;
    // Natively the system's library takes the place of Lydian's.
    let system = LazyCell::new(|| Libraries::of(COMPILER).ok());
    let has = |name: &str| system.as_ref().is_none_or(|system| system.contains(name));
    let linked = match wanted.then(|| Library::lower(&flags)) {
        Some(Ok(library)) => library.link_with(parts, inputs.as_ref(), Purpose::Explore, &has),
        Some(Err(error)) if inputs.is_some() => return Err(no_library(error)),
        // A target without the library's headers does without it.
        Some(Err(_)) | None => link(parts),
    };
    let linked = linked.map_err(units::unlinked)?;
    render::diagnostics(&linked.diagnostics);
    Ok((linked.program, linked.source))
}

fn flags(args: &SourceArgs) -> Result<CompileFlags, Failure> {
    flags_of(&args.file, &args.flags, args.compile_commands.as_deref())
}

/// The flags of a file: those that were given, else those of the database that was named or is
/// nearest.
pub(crate) fn flags_of(
    file: &Path,
    flags: &[String],
    database: Option<&Path>,
) -> Result<CompileFlags, Failure> {
    let bad = |error: &dyn std::fmt::Display| Failure::usage("flags", error.to_string());
    if !flags.is_empty() {
        let flags = CompileFlags::new(flags, file).map_err(|error| bad(&error))?;
        let stray = flags.other_inputs().find(|input| has_extension(input, &["c", "i"]));
        return match stray.map(Path::display) {
            None => Ok(flags),
            Some(stray) => Err(Failure::usage(
                "flags",
                format!("{stray} is a source file among the compiler's flags"),
            )
            .note(format!("`--with {stray}`, before `--`, makes it part of the program"))),
        };
    }
    let nearest = database.map(Path::to_owned).or_else(|| CompileCommands::locate(file));
    let Some(path) = nearest else { return Ok(CompileFlags::default()) };
    let found = CompileCommands::read(&path).and_then(|all| all.flags_for(file));
    match found {
        // A database that was only found nearby may well not know the file.
        Err(_) if database.is_none() => Ok(CompileFlags::default()),
        found => found.map_err(|error| bad(&error)),
    }
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str());
    extension.is_some_and(|extension| extensions.contains(&extension))
}

/// An error for a file that is C++ by its name.
fn check_language(file: &Path) -> Result<(), Failure> {
    let other = ["cc", "cp", "cpp", "cxx", "c++", "C", "CPP", "hh", "hpp", "hxx"];
    if !has_extension(file, &other) {
        return Ok(());
    }
    let failure = Failure::source("source", format!("{} is C++ by its name", file.display()));
    Err(failure.note("Lydian reads C; a file that is C after all needs a name that ends in .c"))
}

fn lowering(args: &SourceArgs) -> LoweringOptions {
    lowering_options(args.value_decisions)
}

/// How programs are lowered for this choice.
pub(crate) const fn lowering_options(value_decisions: ValueDecisionsArg) -> LoweringOptions {
    let value_decisions = match value_decisions {
        ValueDecisionsArg::WithOperators => ValueDecisions::WithOperators,
        ValueDecisionsArg::All => ValueDecisions::All,
    };
    LoweringOptions { value_decisions, outlines: false }
}

fn parse(file: &Path, flags: &CompileFlags, args: &SourceArgs) -> Result<Unit, Failure> {
    let parse = ParseRequest::new(file, flags.clone());
    let request = LoadRequest { parse, lowering: lowering(args) };
    lydian_frontend::load(&request).map_err(rejected)
}

/// The failure for what the front end says.
pub(crate) fn rejected(error: FrontendError) -> Failure {
    use lydian_frontend::clang::ClangError;
    match error {
        FrontendError::Clang(ClangError::Rejected(diagnostics)) => {
            let is_other = diagnostics.first().is_some_and(is_about_cpp);
            let failure = Failure { code: ExitCode::Source, diagnostics };
            if is_other { failure.note("this looks like C++; Lydian reads C") } else { failure }
        }
        FrontendError::Clang(error) => Failure::environment("clang", error.to_string()),
        error @ FrontendError::Source { .. } => Failure::source("source", error.to_string()),
        error => Failure::usage("flags", error.to_string()),
    }
}

/// Whether clang does not know a word with which declarations of C++ begin.
fn is_about_cpp(diagnostic: &Diagnostic) -> bool {
    let words = ["class", "namespace", "template", "using"];
    words.iter().any(|word| diagnostic.message == format!("unknown type name '{word}'"))
}

/// The functions that were named, or all that the user's file defines.
fn chosen(program: &Program, map: &SourceMap, args: &SourceArgs) -> Result<Vec<FuncId>, Failure> {
    if args.functions.is_empty() {
        let own = OwnText::of(program, map, &args.file);
        let all: Vec<FuncId> = program
            .defined()
            .filter(|(_, function)| own.holds(&map.place(function.span.start)))
            .filter(|(_, function)| !InputSpec::is_of_settings(&function.name))
            .map(|(id, _)| id)
            .collect();
        return match all.is_empty() {
            true if own.is_empty() => Err(nothing_to_test(args)),
            true => Err(nothing_supported(args)),
            false => Ok(all),
        };
    }
    let mut found = Vec::new();
    let mut unsupported = 0;
    for name in &args.functions {
        let id = program.function_named(name);
        match id.filter(|id| program.functions[*id].body.is_some()) {
            Some(id) => found.push(id),
            // Diagnostics that were shown before say why it has no body.
            None if id.is_some_and(|id| is_defined(&program.functions[id], map)) => {
                unsupported += 1
            }
            None => return Err(no_such_function(program, name, args)),
        }
    }
    if found.is_empty() && unsupported > 0 { Err(nothing_supported(args)) } else { Ok(found) }
}

/// Whether the text of a function is a definition, whether it could be lowered or not.
fn is_defined(function: &Function, map: &SourceMap) -> bool {
    map.slice(function.span).trim_end().ends_with('}')
}

/// Which text is the user's own: what they did not name functions of is left alone elsewhere.
enum OwnText {
    /// The file that the user named.
    File(PathBuf),
    /// That file defines nothing, it only includes others: the files of all functions outside of
    /// system headers.
    Included(BTreeSet<PathBuf>),
}

impl OwnText {
    fn of(program: &Program, map: &SourceMap, file: &Path) -> Self {
        let main = canonical(file);
        let defined = || program.functions.values().filter(|function| is_defined(function, map));
        let file_of = |function: &Function| canonical_file(&map.place(function.span.start));
        if defined().any(|function| file_of(function) == main) {
            return Self::File(main);
        }
        let outside = defined().filter(|function| !map.is_system(function.span.start));
        Self::Included(outside.map(file_of).collect())
    }

    /// Whether it defines no function.
    fn is_empty(&self) -> bool {
        matches!(self, Self::Included(files) if files.is_empty())
    }

    fn holds(&self, place: &Place) -> bool {
        let file = canonical_file(place);
        match self {
            Self::File(own) => *own == file,
            Self::Included(files) => files.contains(&file),
        }
    }
}

pub(crate) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn canonical_file(place: &Place) -> PathBuf {
    canonical(Path::new(&*place.file))
}

/// The diagnostics to show. Of those about what is not supported only the ones in the functions
/// that were asked for, and how many others there are: headers are full of them.
fn relevant(unit: &Unit, args: &SourceArgs) -> Vec<Diagnostic> {
    let (program, map) = (&unit.program, &unit.source);
    let own = OwnText::of(program, map, &args.file);
    let named = |place: &Place| {
        let functions = args.functions.iter().filter_map(|name| program.function_named(name));
        functions.map(|id| program.functions[id].span).any(|span| {
            let (start, end) = (map.place(span.start), map.place(span.end));
            start.file == place.file && (start.line..=end.line).contains(&place.line)
        })
    };
    let wanted = |diagnostic: &&Diagnostic| {
        diagnostic.code != UNSUPPORTED
            || match &diagnostic.place {
                Some(place) if args.functions.is_empty() => own.holds(place),
                Some(place) => named(place),
                None => true,
            }
    };
    let mut shown: Vec<Diagnostic> = unit.diagnostics.iter().filter(wanted).cloned().collect();
    let hidden = unit.diagnostics.len() - shown.len();
    if hidden > 0 {
        let were = if hidden == 1 { "construct is" } else { "constructs are" };
        let message = format!("{hidden} more unsupported {were} outside of what was asked for");
        shown.push(Diagnostic::new(Severity::Note, UNSUPPORTED, message));
    }
    shown
}

fn nothing_to_test(args: &SourceArgs) -> Failure {
    let what = format!("{} defines no function", args.file.display());
    let failure = Failure::new(ExitCode::Unsupported, Diagnostic::error("nothing-to-test", what));
    failure.note("objectives are about functions: name the file that has them")
}

fn nothing_supported(args: &SourceArgs) -> Failure {
    let what = match args.functions.as_slice() {
        [] => format!("{} defines no function that is supported", args.file.display()),
        [one] => format!("the function `{one}` is not supported"),
        _ => "none of the functions is supported".to_owned(),
    };
    Failure::new(ExitCode::Unsupported, Diagnostic::error("nothing-supported", what))
}

fn no_such_function(program: &Program, name: &str, args: &SourceArgs) -> Failure {
    let file = args.file.display();
    let failure = Failure::source("no-such-function", format!("{file} does not define `{name}`"));
    let near = program
        .defined()
        .map(|(_, function)| (strsim::jaro_winkler(&function.name, name), &function.name))
        .filter(|(likeness, _)| *likeness > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match near {
        Some((_, near)) => failure.note(format!("there is a function `{near}`")),
        None => failure.note(format!("`lydian objectives {file}` lists what it defines")),
    }
}
