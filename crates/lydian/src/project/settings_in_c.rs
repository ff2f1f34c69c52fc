//! The C parts of `lydian.toml`, compiled together with the user's file: preconditions, invariants and
//! stubs. Also checks whether the rest of the settings fits the program.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use lydian_base::{Diagnostic, Place};
use lydian_inputs::InputSpec;
use lydian_inputs::settings::{INVARIANT, Position, TomlStep};
use lydian_inputs::spec::fit::{self, NameKind, UnknownName};
use lydian_ir::libc::model_of;
use lydian_ir::{Body, CType, Callee, Expr, ExprId, FuncId, Program, Stmt};

use super::paths::absolute;
use crate::configuration::Configuration;
use crate::error::{Error, ErrorKind};

/// The file name of the lines around an expression of the settings.
const AROUND: &str = "settings";
/// The number of columns before an expression in the text that is compiled.
const LEADING: usize = 1;
/// The similarity from which on a name counts as a misspelling of another.
const ALIKE: f64 = 0.75;
/// The most files that are searched for a name.
const MOST_FILES: usize = 5_000;
/// The most entries of folders that are searched for such files.
const MOST_ENTRIES: usize = 100_000;
/// The most bytes of a file that are searched.
const MOST_BYTES: u64 = 1 << 24;

/// C that is compiled together with the user's file.
pub(crate) struct SettingsInC {
    text: String,
}

impl SettingsInC {
    pub(crate) fn of(program: &Program, config: &Configuration) -> Result<Self, Error> {
        let mut text = String::new();
        for stub in config.stubs() {
            let path = absolute(&stub);
            if !path.is_file() {
                let message = format!("there is no file of stubs {}", stub.display());
                return Err(Error::usage("configuration", message));
            }
            let _ = writeln!(text, "#include \"{}\"", escape(&path));
        }
        for (number, expression) in expressions(program, config).iter().enumerate() {
            expression.write(&mut text, number + 1, config);
        }
        Ok(Self { text })
    }

    /// Adds more C.
    pub(crate) fn add(&mut self, text: &str) {
        self.text += text;
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Writes a file that includes the user's and adds the rest; gives its path.
    pub(crate) fn write(&self, folder: &Path, file: &Path) -> Result<PathBuf, Error> {
        let path = folder.join("with_settings.c");
        let text = format!("#include \"{}\"\n{}", escape(&absolute(file)), self.text);
        std::fs::write(&path, text).map_err(|error| {
            Error::environment("temporary-folder", format!("cannot write a file: {error}"))
        })?;
        Ok(path)
    }
}

/// A C expression of the settings.
struct Expression<'a> {
    /// The function that it is compiled to.
    function: String,
    /// The function's parameters.
    params: String,
    text: &'a str,
    /// Its path in the settings.
    way: Vec<TomlStep<'a>>,
    /// Its description for messages.
    what: String,
}

impl Expression<'_> {
    /// Writes the function. In messages about the expression, the compiler gives its place in the
    /// settings. In messages about the rest, the line is the number of the expression.
    fn write(&self, text: &mut String, number: usize, config: &Configuration) {
        let Self { function, params, text: expression, .. } = self;
        let _ =
            writeln!(text, "# {number} \"{AROUND}\"\nstatic int {function}({params}) {{ return (");
        if let (Some(file), Some(at)) = (config.path(), config.position(&self.way)) {
            let _ = writeln!(text, "# {} \"{}\"", at.line, escape(Path::new(&file)));
        }
        let _ = writeln!(text, "{expression}\n# {number} \"{AROUND}\"\n) != 0; }}");
    }
}

/// All expressions about functions and types of a program.
fn expressions<'a>(program: &Program, config: &'a Configuration) -> Vec<Expression<'a>> {
    let mut all = Vec::new();
    for (name, settings) in &config.settings.function {
        let Some(func) = program.function_named(name) else { continue };
        for (n, text) in settings.preconditions.iter().enumerate() {
            let way = [TomlStep::Value("function"), TomlStep::Value(name)];
            all.push(Expression {
                function: InputSpec::precondition_name(name, n),
                params: parameters(program, func),
                text,
                way: [&way[..], &[TomlStep::Value("preconditions"), TomlStep::Element(n)]].concat(),
                what: format!("the precondition `{text}` of {name}"),
            });
        }
    }
    let absent = fit::absent(program, &config.settings);
    for (at, (name, settings)) in config.settings.types.iter().enumerate() {
        if absent.iter().any(|absent| absent.what != NameKind::Function && absent.name == name) {
            continue;
        }
        for (n, text) in settings.invariants.iter().enumerate() {
            let way = [TomlStep::Value("types"), TomlStep::Value(name)];
            all.push(Expression {
                function: InputSpec::invariant_name(at, n),
                params: format!("{name} *self"),
                text,
                way: [&way[..], &[TomlStep::Value(INVARIANT), TomlStep::Element(n)]].concat(),
                what: format!("the invariant `{text}` of {name}"),
            });
        }
    }
    all
}

/// The parameters of a function as C declares them.
fn parameters(program: &Program, func: FuncId) -> String {
    let function = &program.functions[func];
    let CType::Function { params, .. } = program.types.get(function.ty) else {
        return String::new();
    };
    let named = params.iter().enumerate().map(|(at, ty)| {
        let name = function.param_names.get(at).cloned().unwrap_or_default();
        program.types.spell(*ty, &name)
    });
    let named: Vec<String> = named.collect();
    if named.is_empty() { "void".to_owned() } else { named.join(", ") }
}

/// A path inside the quotes of an `#include`.
fn escape(path: &Path) -> String {
    path.display().to_string().replace('\\', "\\\\").replace('"', "\\\"")
}

/// The error for a failed compilation of the user's file with the settings: it is an error in the
/// settings if the compiler failed there.
pub(crate) fn blame(failure: Error, program: &Program, config: &Configuration) -> Error {
    let path = config.path();
    let is_theirs = |found: &Diagnostic| match (&found.place, &path) {
        (Some(place), Some(path)) => *place.file == **path || &*place.file == AROUND,
        _ => false,
    };
    if failure.kind != ErrorKind::Source || !failure.diagnostics.iter().any(is_theirs) {
        return failure;
    }
    let diagnostics = failure.diagnostics.into_iter().filter(is_theirs);
    let diagnostics = diagnostics.map(|found| {
        let place = found.place.as_ref();
        let place = place.map(|place| match &*place.file == AROUND {
            true => end_of(program, config, place.line as usize).unwrap_or_else(|| place.clone()),
            false => in_settings(config, place, &found.message),
        });
        Diagnostic { code: "configuration", place, ..found }
    });
    Error { kind: ErrorKind::Usage, diagnostics: diagnostics.collect() }
        .note("it is C of lydian.toml, over what the function or the type has")
}

/// The place in the settings of an error that the compiler found in an expression. The compiler saw the
/// expression with its macros replaced and one space between its parts, so the names in its message
/// count more than the column.
fn in_settings(config: &Configuration, place: &Place, message: &str) -> Place {
    let stated = stated_at(config, place.line as usize);
    let Some((text, at)) = stated else { return place.clone() };
    let told = (place.column as usize).saturating_sub(1 + LEADING);
    let quoted = message.split('\'').skip(1).step_by(2);
    let named = quoted.flat_map(|name| words_at(text, name));
    let found = named.min_by_key(|found| found.abs_diff(told)).unwrap_or(told);
    let column = at.byte_column + found.min(text.trim_end().len().saturating_sub(1));
    Place { column: column as u32, ..place.clone() }
}

/// The last character of the expression with a number.
fn end_of(program: &Program, config: &Configuration, number: usize) -> Option<Place> {
    let all = expressions(program, config);
    let expression = all.get(number.checked_sub(1)?)?;
    let last = expression.text.trim_end().len().saturating_sub(1);
    let is_one_line = !expression.text.contains('\n');
    let place = config.place(&expression.way)?;
    Some(Place { column: place.column + if is_one_line { last as u32 } else { 0 }, ..place })
}

/// The expression that begins on a line of the settings, with its position.
fn stated_at(config: &Configuration, line: usize) -> Option<(&str, Position)> {
    let Configuration { settings, .. } = config;
    let of_functions = settings.function.iter().flat_map(|(name, of)| {
        let way =
            [TomlStep::Value("function"), TomlStep::Value(name), TomlStep::Value("preconditions")];
        of.preconditions.iter().enumerate().map(move |(n, text)| (way, n, text))
    });
    let of_types = settings.types.iter().flat_map(|(name, of)| {
        let way = [TomlStep::Value("types"), TomlStep::Value(name), TomlStep::Value(INVARIANT)];
        of.invariants.iter().enumerate().map(move |(n, text)| (way, n, text))
    });
    of_functions.chain(of_types).find_map(|(way, n, text)| {
        let at = config.position(&[&way[..], &[TomlStep::Element(n)]].concat())?;
        (at.line == line).then_some((text.as_str(), at))
    })
}

/// The positions of a word in a text.
fn words_at<'a>(text: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = !word.is_empty() && word.chars().all(is_part);
    let found = text.match_indices(word).filter(move |_| is_name);
    found.map(|(at, _)| at).filter(move |at| {
        !text[..*at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

/// Refuses settings whose names do not exist, or are not of the right kind. `source` is the file under
/// test.
pub(crate) fn check_fit(
    program: &Program,
    config: &Configuration,
    source: &Path,
) -> Result<(), Error> {
    let misfits = fit::misfits(program, &config.settings).into_iter();
    let mut all: Vec<Diagnostic> =
        misfits.map(|found| config.wrong(&found.way, found.why)).collect();
    for absent in fit::absent(program, &config.settings) {
        if !is_elsewhere(config, source, &absent) {
            all.push(missing(program, config, &absent));
        }
    }
    if all.is_empty() { Ok(()) } else { Err(Error { kind: ErrorKind::Usage, diagnostics: all }) }
}

fn missing(program: &Program, config: &Configuration, absent: &UnknownName<'_>) -> Diagnostic {
    let name = absent.name;
    let (why, near) = match absent.what {
        NameKind::Function => {
            let names = program.functions.values().map(|function| function.name.clone());
            (format!("there is no function `{name}`"), nearest(name, names))
        }
        NameKind::Type => {
            let spelt = program.types.iter().map(|(ty, _)| program.types.spell(ty, ""));
            let names = spelt.chain(program.typedefs.keys().cloned());
            (format!("there is no type `{name}`"), nearest(name, names))
        }
        NameKind::IncompleteType => {
            let why =
                format!("the type `{name}` is never completed, so nothing is known of its members");
            (why, None)
        }
    };
    let wrong = config.wrong(&absent.way, why);
    match near {
        Some(near) => wrong.note(format!("there is `{near}`")),
        None => wrong,
    }
}

fn nearest(name: &str, names: impl Iterator<Item = String>) -> Option<String> {
    let all = names.map(|other| (strsim::jaro_winkler(name, &other), other));
    let alike = all.filter(|(alike, other)| *alike >= ALIKE && !InputSpec::is_of_settings(other));
    alike.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, near)| near)
}

/// Whether C files beside or below the settings or the file under test have a name that the program
/// does not have: then the settings are about those files.
fn is_elsewhere(config: &Configuration, source: &Path, absent: &UnknownName<'_>) -> bool {
    let folder_of = |file: &Path| absolute(file).parent().map(Path::to_owned);
    let Some(folder) = config.file.as_deref().and_then(folder_of) else { return true };
    let word = absent.name.split_whitespace().next_back().unwrap_or(absent.name);
    let completes = absent.what == NameKind::IncompleteType;
    let beside = folder_of(source).filter(|beside| !beside.starts_with(&folder));
    let mut waiting: Vec<PathBuf> = beside.into_iter().chain([folder]).collect();
    let (mut files, mut seen) = (0, 0);
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MOST_ENTRIES {
                return true;
            }
            let (path, name) = (entry.path(), entry.file_name());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && !name.to_string_lossy().starts_with('.') {
                waiting.push(path);
            } else if kind.is_file() && is_source(&path) {
                files += 1;
                if files > MOST_FILES || has_word(&path, word, completes) {
                    return true;
                }
            }
        }
    }
    false
}

fn is_source(path: &Path) -> bool {
    let known = ["c", "h", "i", "inc"];
    path.extension().is_some_and(|of| known.iter().any(|known| of.eq_ignore_ascii_case(known)))
}

/// Whether a file has a word, with `with_brace` only before an opening brace. A file that cannot be
/// read may have it.
fn has_word(path: &Path, word: &str, with_brace: bool) -> bool {
    let is_large = path.metadata().is_ok_and(|found| found.len() > MOST_BYTES);
    let Ok(text) = std::fs::read(path) else { return true };
    let text = String::from_utf8_lossy(&text);
    let mut found = words_at(&text, word);
    let completes = |at: usize| text[at + word.len()..].trim_start().starts_with('{');
    is_large || if with_brace { found.any(completes) } else { found.next().is_some() }
}

/// Refuses expressions with side effects.
pub(crate) fn check_compiled(program: &Program, config: &Configuration) -> Result<(), Error> {
    let mut wrong = Vec::new();
    for expression in expressions(program, config) {
        let func = program.function_named(&expression.function);
        let body = func.and_then(|func| program.functions[func].body.as_ref());
        let Some(body) = body else { continue };
        if let Some(why) = effect_of(program, body) {
            wrong.push(config.wrong(&expression.way, format!("{} {why}", expression.what)));
        }
    }
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(Error { kind: ErrorKind::Usage, diagnostics: wrong })
    }
}

/// The side effect of an expression, if it has one.
fn effect_of(program: &Program, body: &Body) -> Option<String> {
    body.stmts.values().find_map(|stmt| match stmt {
        Stmt::Store { addr, .. }
        | Stmt::StoreBits { addr, .. }
        | Stmt::Copy { dst: addr, .. }
        | Stmt::Zero { dst: addr, .. } => {
            let why = "writes, and what is stated of inputs only reads; `==` compares";
            (!is_own(body, *addr)).then(|| why.to_owned())
        }
        Stmt::Assign { dst, .. } if body.params.contains(dst) => {
            Some("assigns to a parameter; `==` compares".to_owned())
        }
        Stmt::Call { callee: Callee::Direct(func), .. } => {
            let function = &program.functions[*func];
            let is_known = function.body.is_some()
                || model_of(&program.types, &function.name, function.ty).is_some();
            (!is_known).then(|| format!("calls `{}`, which nothing defines", function.name))
        }
        _ => None,
    })
}

/// Whether an address is that of a local variable and not of a parameter.
fn is_own(body: &Body, addr: ExprId) -> bool {
    match &body.exprs[addr] {
        Expr::AddrLocal(local) => !body.params.contains(local),
        Expr::Field { base, .. } | Expr::Index { base, .. } => is_own(body, *base),
        _ => false,
    }
}
