//! Small programs, their mutants, and the programs that a compiler makes of them.

use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{ParseRequest, ParsedUnit, parse_unit};
use lydian_mutate::mutant::{UnitId, UnitMutants};
use lydian_mutate::{CHOICE, Choice, Enumeration, Operator, choices, enumerate, schema};
use tempfile::TempDir;

/// A program with its mutants.
pub(crate) struct Program {
    pub(crate) place: TempDir,
    pub(crate) unit: ParsedUnit,
    pub(crate) found: Enumeration,
    pub(crate) id: UnitId,
}

/// How a program ended: its status or signal, and its output.
pub(crate) type Behaviour = (Option<i32>, Option<i32>, String);

impl Program {
    pub(crate) fn new(text: &str) -> Self {
        Self::with(text, &Operator::ALL)
    }

    pub(crate) fn with(text: &str, operators: &[Operator]) -> Self {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("program.c");
        std::fs::write(&file, text).unwrap();
        let request = ParseRequest::new(&file, CompileFlags::default());
        let unit = parse_unit(&request).unwrap();
        let read = |file: &str| std::fs::read_to_string(file).ok();
        let choice = Choice { file: &|_| true, operators, patterns: &[], read: &read };
        let found = enumerate(&unit, choice);
        let id = UnitId::of(unit.source.text(), &found.mutants);
        Self { place, unit, found, id }
    }

    /// The name, the replaced text and the replacement of each mutant.
    pub(crate) fn changes(&self) -> Vec<(&str, &str, &str)> {
        let all = self.found.mutants.iter();
        all.map(|it| (it.name.as_str(), it.original.as_str(), it.replacement.as_str())).collect()
    }

    pub(crate) fn notes(&self) -> UnitMutants {
        UnitMutants {
            id: self.id.clone(),
            source: self.place.path().join("program.c"),
            directory: self.place.path().to_owned(),
            flags: Vec::new(),
            text: self.unit.source.text().to_string(),
            mutants: self.found.mutants.clone(),
            functions: self.found.functions(),
            left_out: self.found.left_out.clone(),
            refused: Vec::new(),
            defined: self.found.defined.clone(),
        }
    }

    /// The program of the schema.
    pub(crate) fn schema(&self) -> PathBuf {
        let text = schema(&self.unit.source, &self.found, &self.id);
        self.compiled("schema", &text).unwrap_or_else(|said| panic!("{said}\n{text}"))
    }

    /// The program of the text with choices, which the environment makes.
    pub(crate) fn choices(&self) -> PathBuf {
        let own = format!("static unsigned {CHOICE};");
        let read = format!(
            "{own} char *getenv(const char *); int atoi(const char *);
             static __attribute__((constructor)) void choose(void)
             {{ char *own = getenv(\"CHOSEN\"); if (own) {CHOICE} = atoi(own); }}"
        );
        let text = choices(&self.unit.source, &self.found);
        assert!(text.contains(&own));
        let text = text.replacen(&own, &read, 1);
        self.compiled("choices", &text).unwrap_or_else(|said| panic!("{said}\n{text}"))
    }

    /// The optimised code of a text with copies of functions.
    pub(crate) fn ir_of_clones(&self, text: &str) -> String {
        let source = self.place.path().join("clones.i");
        std::fs::write(&source, text).unwrap();
        let mut clang = Command::new("clang-19");
        clang.args(["-w", "-O2", "-S", "-emit-llvm", "-x", "cpp-output", "-o", "-"]).arg(&source);
        String::from_utf8(clang.output().unwrap().stdout).unwrap()
    }

    /// The program of a preprocessed text, or the compiler's message.
    pub(crate) fn compiled(&self, name: &str, text: &str) -> Result<PathBuf, String> {
        let source = self.place.path().join(format!("{name}.i"));
        let program = self.place.path().join(name);
        std::fs::write(&source, text).unwrap();
        let mut clang = Command::new("clang-19");
        clang.args(["-w", "-O0", "-fbracket-depth=4096", "-x", "cpp-output"]);
        let output = clang.arg(&source).arg("-lm").arg("-o").arg(&program).output().unwrap();
        match output.status.success() {
            true => Ok(program),
            false => Err(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
    }
}

/// Runs a program with little time, and with a variable of the environment.
pub(crate) fn run(program: &Path, variable: Option<(&str, &str)>) -> Behaviour {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "ulimit -t 1; ulimit -c 0; exec \"$0\""]).arg(program);
    shell.stdin(Stdio::null()).stderr(Stdio::null());
    if let Some((name, value)) = variable {
        shell.env(name, value);
    }
    let output = shell.output().unwrap();
    // A program that writes without an end is stopped anywhere.
    let text = match output.stdout.len() {
        ..4096 => String::from_utf8_lossy(&output.stdout).into_owned(),
        _ => "much".to_owned(),
    };
    (output.status.code(), output.status.signal(), text)
}
