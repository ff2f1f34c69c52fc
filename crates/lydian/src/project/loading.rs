//! Loading: from a file and its flags to a program.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use lydian_base::{Severity, SourceMap};
use lydian_clib::{ClibError, Inputs, Library, Purpose};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::preprocess::SelfRunning;
use lydian_frontend::{LoadRequest, ParseRequest, Unit};
use lydian_inputs::settings::MutateSettings;
use lydian_inputs::{InputSpec, Settings};
use lydian_ir::Program;
use lydian_ir::link::{LinkError, Role, link};
use lydian_native::{Companion, Libraries};

use super::flags::{check_language, flags_of, rejected};
use super::functions::{chosen, relevant};
use super::handlers;
use super::linked::left_out;
use super::paths::{absolute, canonical};
use super::request::ProjectRequest;
use super::settings_in_c::{self, SettingsInC};
use super::svd::StatedDevices;
use super::units;
use super::whole_program::WholeProgram;
use super::{COMPILER, Project, ProjectSettings, SourceTexts, UserBuild, WholeProgramTest};
use crate::configuration::Configuration;
use crate::error::{Error, ErrorKind};
use crate::events::{Observer, tell};
use crate::files;

impl Project {
    /// Reads, parses and lowers the file, and links it with the others. The observer gets diagnostics
    /// about omissions.
    ///
    /// # Errors
    /// C that cannot be read, settings that do not fit it, functions that it does not define or that are
    /// not supported.
    pub fn load(request: &ProjectRequest, observer: &dyn Observer) -> Result<Self, Error> {
        load(request, observer)
    }
}

fn load(request: &ProjectRequest, observer: &dyn Observer) -> Result<Project, Error> {
    let mut config = request.configuration.clone();
    let file = &request.file;
    let flags = flags_of(file, &request.flags, request.compile_commands.as_deref())?;
    check_language(file)?;
    let mut unit = parse(&request.file, &flags, request, SelfRunning::Stays)?;
    let of_whole = |asked| WholeProgram::of(&unit.program, request, asked);
    let program = request.program.as_ref().map(of_whole).transpose()?.flatten();
    if !unit.program.startup.is_empty() {
        // The driver of a whole program calls them.
        unit = parse(&request.file, &flags, request, SelfRunning::IsPlain)?;
    }
    settings_in_c::check_fit(&unit.program, &config, &request.file)?;
    let mut extra = SettingsInC::of(&unit.program, &config)?;
    extra.add(program.as_ref().map_or("", |program| &program.driver));
    if !extra.is_empty() {
        let folder = files::temporary_folder()?;
        let file = extra.write(folder.path(), &request.file)?;
        unit = parse(&file, &flags, request, SelfRunning::IsPlain)
            .map_err(|failure| settings_in_c::blame(failure, &unit.program, &config))?;
        settings_in_c::check_compiled(&unit.program, &config)?;
    }
    tell(observer, &relevant(&unit, request));
    if unit.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
        return Err(Error { kind: ErrorKind::Usage, diagnostics: Vec::new() });
    }
    let functions = chosen(&unit.program, &unit.source, request)?;
    let others = match program {
        Some(_) => others(request, SelfRunning::Stays, observer)?,
        None => others(request, SelfRunning::IsPlain, observer)?,
    };
    let texts = std::iter::once(&unit).chain(others.iter().map(|(_, unit)| unit));
    let texts: Vec<SourceMap> = texts.map(|unit| unit.source.clone()).collect();
    let (users, starts) =
        SourceMap::join(&texts).ok_or_else(|| units::unlinked(LinkError::TooLong))?;
    let written = unit.written.clone();
    let (had_foreign_assembly, self_running) = (unit.had_foreign_assembly, unit.self_running);
    let all = std::iter::once(&unit).chain(others.iter().map(|(_, unit)| unit));
    let left_out = all.flat_map(left_out).collect();
    let companions = others.iter().map(|(_, unit)| companion(unit)).collect();
    let tested_as_whole = program;
    let inputs = tested_as_whole.as_ref().and_then(|whole| whole.inputs);
    let (mut program, map) = whole(unit, others, inputs, (request, observer))?;
    lydian_inputs::prepare(&mut program);
    handlers::check_stated(&program, &config.settings.interrupts.handlers, &config)?;
    let stubs = config.stubs().map(|stub| absolute(&stub).display().to_string()).collect();
    let devices = StatedDevices::read(&config)?;
    tell(observer, &devices.warnings);
    let text = settings_text(&config, &devices);
    let settings = std::mem::take(&mut config.settings);
    let accepted = settings.accept.clone();
    let interrupts = settings.interrupts.clone();
    let settings = match &tested_as_whole {
        Some(whole) => whole.settings(settings),
        None => settings,
    };
    let mut spec = InputSpec::new(&program, settings);
    spec.devices = Arc::new(devices.map);
    let tested = |whole: WholeProgram| {
        Some(WholeProgramTest {
            entry: whole.entry(&program)?,
            surroundings: whole.surroundings(),
            driver: whole.driver,
            request: request.program?,
        })
    };
    let whole = tested_as_whole.and_then(tested);
    Ok(Project {
        spec,
        functions,
        left_out,
        texts: SourceTexts::new(map, users, starts, written),
        build: UserBuild {
            file: request.file.clone(),
            flags,
            companions,
            stubs,
            had_foreign_assembly,
            self_running,
        },
        settings: ProjectSettings { text, accepted, interrupts, config },
        whole,
        request: request.clone(),
        guesses: OnceLock::new(),
        handlers: OnceLock::new(),
        program,
    })
}

/// The other files of the program, which the user names, loaded.
fn others(
    request: &ProjectRequest,
    self_running: SelfRunning,
    observer: &dyn Observer,
) -> Result<Vec<(PathBuf, Unit)>, Error> {
    let sources =
        units::sources(&request.with, &request.flags, request.compile_commands.as_deref())?;
    let own = canonical(&request.file);
    let sources: Vec<_> =
        sources.into_iter().filter(|source| canonical(&source.file) != own).collect();
    let mut requests = units::requests(&sources);
    for one in &mut requests {
        one.lowering = request.lowering();
        one.parse.self_running = self_running;
    }
    let files = sources.iter().map(|source| source.file.clone());
    Ok(files.zip(units::load(&requests, observer)?).collect())
}

fn companion(unit: &Unit) -> Companion {
    let flags = unit.flags.for_parsing().map(str::to_owned).collect();
    let declarations = lydian_native::implicit_declarations(&unit.program);
    Companion { text: unit.source.text().to_string(), declarations, flags }
}

/// The program of a file, other files, and the parts of the C library that are worth exploring.
fn whole(
    unit: Unit,
    others: Vec<(PathBuf, Unit)>,
    inputs: Option<Inputs>,
    (request, observer): (&ProjectRequest, &dyn Observer),
) -> Result<(Program, SourceMap), Error> {
    let wants_library = |unit: &Unit| lydian_clib::is_explored_by(&unit.program);
    let wanted = inputs.is_some()
        || wants_library(&unit)
        || others.iter().any(|(_, unit)| wants_library(unit));
    if others.is_empty() && !wanted {
        return Ok((unit.program, unit.source));
    }
    let flags = unit.flags.clone();
    let mut parts = vec![units::link_unit(&request.file, unit, Role::Part)];
    let others = others.into_iter();
    parts.extend(others.map(|(file, unit)| units::link_unit(&file, unit, Role::Companion)));
    let no_library = |error: ClibError| Error::environment("library", error.to_string());
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
    log::info!(
        "linked the program: {} functions with bodies, {} globals",
        linked.program.defined().count(),
        linked.program.globals.len()
    );
    tell(observer, &linked.diagnostics);
    Ok((linked.program, linked.source))
}

fn parse(
    file: &Path,
    flags: &CompileFlags,
    request: &ProjectRequest,
    self_running: SelfRunning,
) -> Result<Unit, Error> {
    let parse = ParseRequest { self_running, ..ParseRequest::new(file, flags.clone()) };
    let load = LoadRequest { parse, lowering: request.lowering() };
    lydian_frontend::load(&load).map_err(rejected)
}

/// The settings that say which runs are considered. Accepted assumptions and mutation operators do not change
/// evidence and are left out.
fn settings_text(config: &Configuration, devices: &StatedDevices) -> String {
    let settings = Settings {
        accept: Vec::new(),
        mutate: MutateSettings::default(),
        ..config.settings.clone()
    };
    let text = serde_json::to_string(&settings).expect("settings are valid JSON");
    let files = devices.texts.iter().map(|text| blake3::hash(text.as_bytes()).to_hex());
    files.fold(text, |text, file| format!("{text} {file}"))
}
