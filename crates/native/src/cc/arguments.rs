//! Command lines of gcc and clang: which words are inputs, which say what is made, and which only
//! matter to the preprocessor.
//!
//! Words that are not known are kept wherever they stand. Response files are read, as gcc reads
//! them, because inputs and the output may be in them.

use std::path::{Path, PathBuf};

/// The product of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// One object for each input (`-c`).
    Object,
    /// A program or library, from sources, objects or both.
    Link,
    /// Anything else (`-E`, `-S`, `-M`, `-fsyntax-only`, `--version`, no input at all): no business
    /// of Lydian's.
    Other,
}

/// The kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InputKind {
    /// C.
    C,
    /// C that is preprocessed already.
    Preprocessed,
    /// An object, a library, another language.
    Other,
}

/// An input file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// As the command names it.
    pub path: String,
    /// Its kind.
    pub kind: InputKind,
}

/// The role of a group of words.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Role {
    Input(Input),
    /// `-o` and its argument.
    Output(String),
    /// `-c`.
    Mode,
    /// `-x` and its argument.
    Language,
    /// `-MD`, `-MF file` and their like.
    Dependency,
    /// `-I`, `-D`: of no use once the text is preprocessed.
    Preprocessor,
    /// A precompiled header. Its text is read in its place, since the compiled text has it
    /// expanded.
    Precompiled,
    /// `-flto` and its like, which Lydian leaves out.
    Lto,
    /// Read by the linker alone.
    Linker,
    /// Asks for errors where C leaves more freedom than the standard's letter.
    Pedantic,
    Plain,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Group {
    words: Vec<String>,
    role: Role,
}

/// A compiler's command line, without the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandLine {
    groups: Vec<Group>,
    /// Its product.
    pub action: Action,
}

/// The reason why a command line cannot be read. The compiler itself then tells the error.
#[derive(Debug, thiserror::Error)]
pub enum UnreadableCommand {
    /// A response file.
    #[error("the response file {0} cannot be read")]
    ResponseFile(String),
    /// An option without its argument.
    #[error("`{0}` needs an argument")]
    MissingArgument(String),
}

/// Options whose argument is the next word.
const SEPARATE: &[&str] = &[
    "-o",
    "-I",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-isystem-after",
    "-iprefix",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-isysroot",
    "-imultilib",
    "-include-pch",
    "-ivfsoverlay",
    "-MF",
    "-MT",
    "-MQ",
    "-MJ",
    "-x",
    "-Xclang",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xanalyzer",
    "-mllvm",
    "-mthread-model",
    "-L",
    "-l",
    "-T",
    "-u",
    "-z",
    "-e",
    "-h",
    "-A",
    "-arch",
    "-target",
    "--target",
    "--sysroot",
    "-aux-info",
    "--param",
    "-G",
    "-b",
    "-V",
    "-wrapper",
    "-dumpbase",
    "-dumpbase-ext",
    "-dumpdir",
    "-rpath",
    "-framework",
    "-F",
    "-gcc-toolchain",
    "-B",
    "-soname",
    "--output",
    "--include",
    "--entry",
    "-R",
    "-Tbss",
    "-Tdata",
    "-Ttext",
    "-working-directory",
];

/// The prefixes of words for the linker.
const LINKER: &[&str] = &["-l", "-L", "-Wl,", "-Xlinker", "-rdynamic", "-T"];

/// Preprocessor options, alone or with their argument joined on.
const PREPROCESSOR: &[&str] = &[
    "-I",
    "-D",
    "-U",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-Xpreprocessor",
    "-Wp,",
    "-nostdinc",
    "-undef",
    "-A",
    "--include",
    "-trigraphs",
    "-ivfsoverlay",
];

/// Options that name a file to read before the input.
const INCLUDES: &[&str] = &["-include", "-include-pch", "-imacros"];

/// Options after which nothing is compiled to an object.
const NO_OBJECT: &[&str] = &[
    "-E",
    "-S",
    "-M",
    "-MM",
    "-fsyntax-only",
    "--version",
    "-dumpversion",
    "-dumpfullversion",
    "-dumpmachine",
    "-dumpspecs",
    "-###",
    "--help",
    "--analyze",
    "-emit-llvm",
    "-emit-ast",
    "--precompile",
    "-cc1",
    "-cc1as",
    "--preprocess",
    "--assemble",
];

impl CommandLine {
    /// Reads the words after the compiler's name; response files are relative to the current
    /// directory.
    ///
    /// # Errors
    /// A response file that cannot be read, or an option without its argument.
    pub fn parse(words: &[String]) -> Result<Self, UnreadableCommand> {
        let mut all = Vec::new();
        expand(words, 0, &mut all)?;
        let mut groups = Vec::new();
        let mut language: Option<String> = None;
        let mut rest = all.into_iter().peekable();
        while let Some(word) = rest.next() {
            let mut words = vec![word];
            if SEPARATE.contains(&words[0].as_str()) {
                let value = rest.next();
                words.push(
                    value.ok_or_else(|| UnreadableCommand::MissingArgument(words[0].clone()))?,
                );
            }
            // An option behind `-Xclang` has its argument behind another `-Xclang`.
            if words[0] == "-Xclang"
                && INCLUDES.contains(&words[1].as_str())
                && let Some(again) = rest.next_if(|word| word == "-Xclang")
            {
                words.extend([Some(again), rest.next()].into_iter().flatten());
            }
            let role = role(&words, &mut language);
            groups.push(Group { words, role });
        }
        let action = action(&groups);
        Ok(Self { groups, action })
    }

    /// The inputs, in order.
    pub fn inputs(&self) -> impl Iterator<Item = &Input> {
        self.groups.iter().filter_map(|group| match &group.role {
            Role::Input(input) => Some(input),
            _ => None,
        })
    }

    /// The word after `-o`.
    pub fn output(&self) -> Option<&str> {
        self.groups.iter().rev().find_map(|group| match &group.role {
            Role::Output(path) => Some(path.as_str()),
            _ => None,
        })
    }

    /// Where the object of an input goes.
    pub fn object_of(&self, input: &Input) -> PathBuf {
        match self.output() {
            Some(path) if self.action == Action::Object => path.into(),
            _ => Path::new(Path::new(&input.path).file_name().unwrap_or_default())
                .with_extension("o"),
        }
    }

    /// Where a linked file goes.
    pub fn linked(&self) -> PathBuf {
        self.output().unwrap_or("a.out").into()
    }

    /// Whether it asks for link-time optimisation.
    pub fn wants_lto(&self) -> bool {
        self.groups
            .iter()
            .any(|group| group.role == Role::Lto && group.words[0].starts_with("-flto"))
    }

    /// Whether a word stands on it.
    pub fn has(&self, word: &str) -> bool {
        self.groups.iter().any(|group| group.words[0] == word)
    }

    /// Whether warnings were asked for.
    pub fn asks_for_warnings(&self) -> bool {
        let is_warning = |word: &str| {
            let rest = word.strip_prefix("-W").unwrap_or("");
            !rest.is_empty() && !["l,", "a,", "p,", "no-"].iter().any(|p| rest.starts_with(p))
        };
        !self.has("-w") && self.groups.iter().any(|group| is_warning(&group.words[0]))
    }

    /// Whether dependency files are asked for beside the compilation.
    pub fn writes_dependencies(&self) -> bool {
        self.groups.iter().any(|group| {
            let word = group.words[0].as_str();
            matches!(word, "-MD" | "-MMD") || asks_preprocessor_for_dependencies(word)
        })
    }

    /// The command as it is, without link-time optimisation.
    pub fn plain(&self) -> Vec<String> {
        self.words(|role| *role != Role::Lto)
    }

    /// The arguments for preprocessing one of its inputs, without the input and without dependency
    /// files ([`super::dependency_arguments`]).
    pub fn for_preprocessing(&self) -> Vec<String> {
        self.reading(|role| matches!(role, Role::Preprocessor | Role::Plain | Role::Pedantic))
    }

    /// The words that decide how the C of an input is read, for the front end.
    pub fn for_front_end(&self) -> Vec<String> {
        self.reading(|role| matches!(role, Role::Preprocessor | Role::Plain))
    }

    /// The arguments for compiling the preprocessed text to an object, without input and output.
    pub fn for_compiling(&self) -> Vec<String> {
        let mut words = self.words(|role| matches!(role, Role::Plain));
        words.retain(|word| !saves(word));
        words.push("-w".to_owned());
        words
    }

    /// The arguments for checking one input for warnings: all words except those for the output,
    /// those for the linker (clang warns of them if it links nothing), and the input.
    pub fn for_checking(&self) -> Vec<String> {
        let mut words =
            self.reading(|role| matches!(role, Role::Preprocessor | Role::Plain | Role::Pedantic));
        words.retain(|word| !saves(word));
        words
    }

    /// Whether the user asks for the files between the input and the object.
    pub fn saves_temporaries(&self) -> bool {
        self.groups.iter().any(|group| saves(&group.words[0]))
    }

    /// The words of these roles, without options that make the preprocessor write files: only one
    /// run may write them.
    fn reading(&self, keep: impl Fn(&Role) -> bool) -> Vec<String> {
        self.words(keep).into_iter().filter_map(without_dependencies).collect()
    }

    /// The command for one of several inputs of `-c`, as it is.
    pub fn plain_of(&self, input: &Input) -> Vec<String> {
        let mut words = Vec::new();
        for group in self.groups.iter().filter(|group| group.role != Role::Lto) {
            match &group.role {
                Role::Input(other) if other != input => {}
                _ => words.extend(group.words.iter().cloned()),
            }
        }
        words
    }

    /// The words that choose the machine that is compiled for.
    pub fn for_target(&self) -> Vec<String> {
        let chooses = |group: &&Group| {
            let word = group.words[0].as_str();
            let is_machine = word.starts_with("-m") && word != "-mllvm";
            is_machine
                || ["-target", "--target", "--sysroot", "-B", "-arch"].contains(&word)
                || ["--target=", "--sysroot=", "-B"].iter().any(|prefix| word.starts_with(prefix))
        };
        self.groups.iter().filter(chooses).flat_map(|group| group.words.clone()).collect()
    }

    /// The link command, with objects in the place of inputs that were compiled, and one object put
    /// first and one last.
    pub fn for_linking(
        &self,
        compiled: &[(Input, PathBuf)],
        first_and_last: Option<(&Path, &Path)>,
    ) -> Vec<String> {
        let shown = |path: &Path| path.to_string_lossy().into_owned();
        let object = |input: &Input| {
            compiled.iter().find(|(known, _)| known == input).map(|(_, object)| shown(object))
        };
        let others =
            self.inputs().any(|input| input.kind != InputKind::Other && object(input).is_none());
        let mut words = Vec::new();
        let mut first = first_and_last.map(|(first, _)| first);
        for group in self.groups.iter().filter(|group| group.role != Role::Lto) {
            match &group.role {
                Role::Language if !others && !compiled.is_empty() => {}
                Role::Dependency if !others => {}
                Role::Input(input) => {
                    if let Some(first) = first.take() {
                        let at = words.len();
                        words.insert(at, shown(first));
                    }
                    match object(input) {
                        Some(object) => words.push(object),
                        None => words.extend(group.words.iter().cloned()),
                    }
                }
                _ => words.extend(group.words.iter().cloned()),
            }
        }
        if let Some((_, last)) = first_and_last {
            words.push(shown(last));
        }
        words
    }

    fn words(&self, keep: impl Fn(&Role) -> bool) -> Vec<String> {
        let kept = self.groups.iter().filter(|group| keep(&group.role));
        kept.flat_map(|group| group.words.iter().cloned()).collect()
    }

    /// The dependency options, with their arguments.
    pub(crate) fn dependency_words(&self) -> impl Iterator<Item = &[String]> {
        let groups = self.groups.iter().filter(|group| {
            group.role == Role::Dependency || asks_preprocessor_for_dependencies(&group.words[0])
        });
        groups.map(|group| group.words.as_slice())
    }
}

/// Whether an option keeps the files between an input and its object.
fn saves(word: &str) -> bool {
    word.trim_start_matches('-').starts_with("save-temps")
}

/// Whether a word hands the preprocessor itself an option for dependency files.
fn asks_preprocessor_for_dependencies(word: &str) -> bool {
    word.strip_prefix("-Wp,").is_some_and(|rest| rest.split(',').any(|part| part.starts_with("-M")))
}

/// A word without the options for dependency files that it hands the preprocessor itself.
fn without_dependencies(word: String) -> Option<String> {
    if !asks_preprocessor_for_dependencies(&word) {
        return Some(word);
    }
    let mut kept = vec!["-Wp"];
    let mut parts = word.strip_prefix("-Wp,")?.split(',');
    while let Some(part) = parts.next() {
        match part {
            "-MD" | "-MMD" | "-MF" | "-MT" | "-MQ" => _ = parts.next(),
            part if part.starts_with("-M") => {}
            part => kept.push(part),
        }
    }
    (kept.len() > 1).then(|| kept.join(","))
}

fn role(words: &[String], language: &mut Option<String>) -> Role {
    let word = words[0].as_str();
    let value = words.get(1);
    let passed = if word == "-Xclang" { value.map(String::as_str) } else { Some(word) };
    match passed {
        Some("-include-pch") => return Role::Precompiled,
        Some(option) if INCLUDES.contains(&option) => return Role::Preprocessor,
        _ => {}
    }
    match word {
        "-c" => return Role::Mode,
        "-o" | "--output" => return Role::Output(value.cloned().unwrap_or_default()),
        "-x" => {
            *language = value.filter(|value| *value != "none").cloned();
            return Role::Language;
        }
        "-MD" | "-MMD" | "-MP" | "-MG" | "-MF" | "-MT" | "-MQ" | "-MJ" | "-MV" => {
            return Role::Dependency;
        }
        "-fuse-linker-plugin" | "-fwhole-program-vtables" => return Role::Lto,
        "-pedantic-errors" | "-pedantic" | "-Wpedantic" | "--pedantic" => return Role::Pedantic,
        _ => {}
    }
    let joined = |prefix: &str| word.strip_prefix(prefix).filter(|rest| !rest.is_empty());
    if let Some(path) = joined("-o").filter(|_| !word.starts_with("-objc")) {
        return Role::Output(path.to_owned());
    }
    if let Some(path) = joined("--output=") {
        return Role::Output(path.to_owned());
    }
    if let Some(name) = joined("-x") {
        *language = Some(name.to_owned()).filter(|name| name != "none");
        return Role::Language;
    }
    if ["-MF", "-MT", "-MQ", "-MJ"].iter().any(|prefix| word.starts_with(prefix)) {
        return Role::Dependency;
    }
    if word.starts_with("-flto")
        || word.starts_with("-ffat-lto")
        || word.starts_with("-fno-fat-lto")
    {
        return Role::Lto;
    }
    if PREPROCESSOR.iter().any(|prefix| word.starts_with(prefix)) {
        return Role::Preprocessor;
    }
    if LINKER.iter().any(|prefix| word.starts_with(prefix)) {
        return Role::Linker;
    }
    if word.starts_with('-') && word != "-" {
        return Role::Plain;
    }
    Role::Input(Input { path: word.to_owned(), kind: kind(word, language.as_deref()) })
}

fn kind(path: &str, language: Option<&str>) -> InputKind {
    if path == "-" {
        return InputKind::Other;
    }
    match language {
        Some("c") => InputKind::C,
        Some("cpp-output") => InputKind::Preprocessed,
        Some(_) => InputKind::Other,
        None => match Path::new(path).extension().and_then(|extension| extension.to_str()) {
            Some("c") => InputKind::C,
            Some("i") => InputKind::Preprocessed,
            _ => InputKind::Other,
        },
    }
}

fn action(groups: &[Group]) -> Action {
    let word = |group: &Group| group.words[0].clone();
    let is_other = |group: &Group| {
        NO_OBJECT.contains(&word(group).as_str()) || word(group).starts_with("-print-")
    };
    let has_input = groups.iter().any(|group| matches!(group.role, Role::Input(_)));
    if !has_input || groups.iter().any(is_other) {
        return Action::Other;
    }
    let reads_input = groups.iter().any(|group| group.words == ["-"]);
    match groups.iter().any(|group| group.role == Role::Mode) {
        _ if reads_input => Action::Other,
        true => Action::Object,
        false => Action::Link,
    }
}

/// How deep response files may name others.
const NESTED: u32 = 16;

fn expand(words: &[String], depth: u32, all: &mut Vec<String>) -> Result<(), UnreadableCommand> {
    for word in words {
        match word.strip_prefix('@') {
            // Where there is no such file, the word means itself, as it does for gcc.
            Some(path) if Path::new(path).is_file() && depth < NESTED => {
                let text = std::fs::read_to_string(path)
                    .map_err(|_| UnreadableCommand::ResponseFile(path.to_owned()))?;
                expand(&split(&text), depth + 1, all)?;
            }
            _ => all.push(word.clone()),
        }
    }
    Ok(())
}

/// The words of a response file: separated by white space, with quotes and backslashes.
fn split(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match (c, quote) {
            ('\\', _) => word.get_or_insert_default().extend(chars.next()),
            (c, Some(open)) if c == open => quote = None,
            (c, Some(_)) => word.get_or_insert_default().push(c),
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (c, None) if c.is_whitespace() => words.extend(word.take()),
            (c, None) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> CommandLine {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        CommandLine::parse(&words).expect("the line can be read")
    }

    #[test]
    fn a_compilation_is_split_into_its_parts() {
        let line = parse("-O2 -Iinc -D X=1 -c -g -MD -MF a.d -o out/a.o -flto=auto src/a.c -Wall");
        assert_eq!(line.action, Action::Object);
        let inputs: Vec<_> = line.inputs().collect();
        assert_eq!(inputs.len(), 1);
        assert_eq!((inputs[0].path.as_str(), inputs[0].kind), ("src/a.c", InputKind::C));
        assert_eq!(line.output(), Some("out/a.o"));
        assert_eq!(line.for_compiling(), ["-O2", "-g", "-Wall", "-w"]);
        assert_eq!(line.for_preprocessing(), ["-O2", "-Iinc", "-D", "X=1", "-g", "-Wall"]);
        assert!(line.wants_lto() && line.asks_for_warnings() && line.writes_dependencies());
        assert!(!line.plain().contains(&"-flto=auto".to_owned()));
    }

    #[test]
    fn an_object_goes_where_the_compiler_would_put_it() {
        let line = parse("-c dir/a.c b.c");
        let objects: Vec<_> = line.inputs().map(|input| line.object_of(input)).collect();
        assert_eq!(objects, [PathBuf::from("a.o"), PathBuf::from("b.o")]);
        let second = line.inputs().nth(1).expect("a second input");
        assert_eq!(line.plain_of(second), ["-c", "b.c"]);
    }

    #[test]
    fn the_language_holds_for_the_inputs_after_it() {
        let line = parse("-x c a.y -x none b.y c.c -xcpp-output d.c");
        let kinds: Vec<_> = line.inputs().map(|input| input.kind).collect();
        assert_eq!(kinds, [InputKind::C, InputKind::Other, InputKind::C, InputKind::Preprocessed]);
    }

    #[test]
    fn what_makes_no_object_is_left_to_the_compiler() {
        for line in ["-E a.c", "-S a.c", "-M a.c", "--version", "-print-prog-name=ld", "-c -", "-v"]
        {
            assert_eq!(parse(line).action, Action::Other, "{line}");
        }
        assert_eq!(parse("a.c -o a").action, Action::Link);
        assert_eq!(parse("-shared a.o -o a.so").action, Action::Link);
    }

    #[test]
    fn a_link_has_objects_for_sources_and_two_more() {
        let line = parse("-x c a.c -x none b.o -lm -o prog");
        let source = line.inputs().next().expect("an input").clone();
        let compiled = [(source, PathBuf::from("/t/a.o"))];
        let first_and_last = Some((Path::new("/r/first.o"), Path::new("/r/last.o")));
        let words = line.for_linking(&compiled, first_and_last);
        assert_eq!(words, ["/r/first.o", "/t/a.o", "b.o", "-lm", "-o", "prog", "/r/last.o"]);
    }

    #[test]
    fn a_response_file_is_read_with_its_quotes() {
        assert_eq!(split("-DA=\"x y\"  'b c'\\\nd\\ e\n"), ["-DA=x y", "b c\nd e"]);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("args");
        std::fs::write(&path, "-c 'a b.c'").expect("the file is written");
        let line = CommandLine::parse(&[format!("@{}", path.display())]).expect("it is read");
        assert_eq!(line.inputs().next().map(|input| input.path.as_str()), Some("a b.c"));
    }

    #[test]
    fn only_the_run_that_preprocesses_may_write_dependency_files() {
        let line = parse("-Wall -Wp,-DX=1,-MD,a.d,-MT,t -Wp,-MMD,b.d -save-temps -c a.c");
        assert_eq!(line.for_checking(), ["-Wall", "-Wp,-DX=1"]);
        assert!(line.writes_dependencies());
        for words in [line.for_preprocessing(), line.for_front_end(), line.for_compiling()] {
            assert!(!words.iter().any(|word| word.contains("-M")), "{words:?}");
        }
        let written: Vec<_> = line.dependency_words().map(<[String]>::to_vec).collect();
        assert_eq!(written, [["-Wp,-DX=1,-MD,a.d,-MT,t"], ["-Wp,-MMD,b.d"]]);
    }

    #[test]
    fn a_precompiled_header_is_read_as_text() {
        let pch = "-Xclang -include-pch -Xclang p.pch -Xclang -include -Xclang p.h";
        let line = parse(&format!("-O1 {pch} -Xclang -fno-foo -include-pch q.pch -c a.c"));
        assert_eq!(line.for_compiling(), ["-O1", "-Xclang", "-fno-foo", "-w"]);
        let read = ["-O1", "-Xclang", "-include", "-Xclang", "p.h", "-Xclang", "-fno-foo"];
        assert_eq!(line.for_preprocessing(), read);
        assert_eq!(line.for_front_end(), read);
        assert!(line.plain().join(" ").contains(pch));
    }

    #[test]
    fn what_the_linker_reads_is_not_checked_for_warnings() {
        let line = parse("-Wall -Werror a.c -o a -lm -L. -L b -Xlinker c -Wl,-z,now -fPIC");
        assert_eq!(line.for_checking(), ["-Wall", "-Werror", "-fPIC"]);
        assert!(line.plain().join(" ").contains("-lm -L. -L b -Xlinker c -Wl,-z,now"));
    }

    #[test]
    fn an_option_without_its_argument_is_an_error() {
        let error = CommandLine::parse(&["-o".to_owned()]).expect_err("no argument");
        assert!(error.to_string().contains("-o"));
    }
}
