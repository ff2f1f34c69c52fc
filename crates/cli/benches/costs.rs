//! What measuring costs under `lydian cc`, for the compiler and for the program that is measured.
//!
//!     cargo bench -p lydian-cli --bench costs [-- [NAME...] [compiler=gcc] [only=NAME,...]]
//!
//! Libraries are compiled at -O2 plainly and with sets of criteria, and run with a driver
//! ([`costs/`]; `scripts/real-c` fetches the libraries). Printed are, all as ratios to the plain
//! build of the same compiler but for the memory:
//!
//! - the processor time of compiling, all that `lydian cc` starts included, the lesser of two;
//! - the most memory that one process of the compilation had;
//! - the instructions that the program executes, as valgrind's cachegrind counts them: other work
//!   does not change them. The column is empty where valgrind is not installed;
//! - with `runs=N`, the processor time of the program, the least of so many runs in which all builds
//!   take turns.
//!
//! cJSON, which no crate carries, is measured where `target/real-c/cjson` has its source.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use comfy_table::{Table, presets};

#[path = "shared/processor.rs"]
mod processor;

use processor::{Spent, spent};

/// Sets of criteria, each with its name and the greatest ratios that are aimed at, of compiling and
/// of running.
const VARIANTS: [(&str, &str, f64, f64); 5] = [
    ("branches", "bc", 1.4, 1.06),
    ("MC/DC", "stmt,bc,mcdc", 1.4, 1.10),
    ("data flow", "all-defs,all-uses", 1.6, 1.35),
    ("all but mutants", ALL, 2.5, 1.9),
    ("all", "", 2.5, 1.9),
];

/// All criteria but mutants that need no limits or text of the user's.
const ALL: &str = "fc,fcc,stmt,bbc,bc,dc,cc,dcc,mcc,gacc,gicc,cacc,racc,ricc,mcdc,ic,utpc,bva,slo,\
    elo,mlo,epc,all-defs,all-uses";

/// A library and what uses it.
struct Subject {
    name: &'static str,
    /// Where its files are in the folder of the library.
    folder: &'static str,
    /// Files without their endings; all of the folder's if there are none.
    files: &'static [&'static str],
    include: &'static str,
    flags: &'static [&'static str],
    /// Rounds of the driver when instructions are counted.
    rounds: u32,
}

const SUBJECTS: [Subject; 6] = [
    Subject { name: "lz4", folder: "lib", files: &["lz4"], include: "lib", flags: &[], rounds: 4 },
    Subject {
        name: "expat",
        folder: "lib",
        files: &["xmlparse", "xmltok", "xmlrole"],
        include: "lib",
        flags: &[
            "-DHAVE_MEMMOVE",
            "-DXML_DTD",
            "-DXML_NS",
            "-DXML_CONTEXT_BYTES=1024",
            "-DBYTEORDER=1234",
        ],
        rounds: 5,
    },
    Subject { name: "cjson", folder: ".", files: &["cJSON"], include: ".", flags: &[], rounds: 10 },
    Subject {
        name: "zlib",
        folder: ".",
        files: &[
            "adler32", "compress", "crc32", "deflate", "inffast", "inflate", "inftrees", "trees",
            "uncompr", "zutil",
        ],
        include: ".",
        flags: &["-DHAVE_UNISTD_H", "-DHAVE_STDARG_H"],
        rounds: 1,
    },
    Subject {
        name: "yaml",
        folder: "src",
        files: &[],
        include: "include",
        flags: &[
            "-DYAML_VERSION_MAJOR=0",
            "-DYAML_VERSION_MINOR=1",
            "-DYAML_VERSION_PATCH=6",
            "-DYAML_VERSION_STRING=\"0.1.6\"",
        ],
        rounds: 5,
    },
    Subject {
        name: "sqlite",
        folder: ".",
        files: &["sqlite3"],
        include: ".",
        flags: &["-DSQLITE_THREADSAFE=0", "-DSQLITE_OMIT_LOAD_EXTENSION"],
        rounds: 1,
    },
];

struct Settings {
    compiler: String,
    only: Vec<String>,
    runs: usize,
}

/// One build of a library.
struct Build {
    name: &'static str,
    /// The greatest ratios that are aimed at.
    aims: [f64; 2],
    program: PathBuf,
    compiling: Spent,
    instructions: Option<u64>,
    running: f64,
}

fn main() {
    let mut settings = Settings { compiler: "gcc".to_owned(), only: Vec::new(), runs: 0 };
    let mut chosen = Vec::new();
    for word in std::env::args().skip(1).filter(|word| word != "--bench") {
        match word.split_once('=') {
            Some(("compiler", name)) => settings.compiler = name.to_owned(),
            Some(("only", names)) => settings.only = names.split(',').map(str::to_owned).collect(),
            Some(("runs", number)) => settings.runs = number.parse().expect("runs is a number"),
            _ => chosen.push(word),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "program",
        "criteria",
        "compiling",
        "aim",
        "MB",
        "instructions",
        "aim",
        "processor time",
    ]);
    for subject in &SUBJECTS {
        let is_chosen = chosen.is_empty() || chosen.iter().any(|word| word == subject.name);
        let Some(source) = is_chosen.then(|| fetched(&root, subject)).flatten() else { continue };
        measure(&root, subject, &source, &settings, &mut table);
    }
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split(' ').next().unwrap_or("?");
    say(&format!("{} -O2, load average at the end {load}\n{table}", settings.compiler));
}

/// The folder of a library's source, if it can be had.
fn fetched(root: &Path, subject: &Subject) -> Option<PathBuf> {
    let source = root.join("target/real-c").join(subject.name);
    if subject.name == "cjson" {
        return source.join("cJSON.c").is_file().then_some(source);
    }
    let fetched = Command::new(root.join("scripts/real-c")).arg(subject.name).output();
    assert!(fetched.is_ok_and(|output| output.status.success()), "cannot fetch {}", subject.name);
    Some(source)
}

/// Builds a library in all ways, runs it, and adds the rows of the table.
fn measure(root: &Path, subject: &Subject, source: &Path, settings: &Settings, table: &mut Table) {
    let place = tempfile::tempdir().expect("a temporary directory");
    let is_wanted = |name: &str| {
        // Compilers take many minutes for all mutants of SQLite.
        let is_small = (subject.name, name) != ("sqlite", "all");
        (settings.only.is_empty() && is_small) || settings.only.iter().any(|n| n == name)
    };
    let wanted = VARIANTS.iter().filter(|(name, ..)| is_wanted(name));
    let with_all = format!("{ALL},wm");
    let mut builds = vec![build(root, subject, source, (place.path(), settings), ("plain", None))];
    for (name, criteria, compiling, running) in wanted {
        let criteria = if criteria.is_empty() { &with_all } else { *criteria };
        let made = build(root, subject, source, (place.path(), settings), (name, Some(criteria)));
        builds.push(Build { aims: [*compiling, *running], ..made });
    }
    for build in &mut builds {
        build.instructions = instructions(&build.program, subject.rounds);
    }
    // The builds take turns, so that a busy moment of the machine does not hit one alone.
    for _ in 0..settings.runs {
        for build in &mut builds {
            let mut command = Command::new(&build.program);
            command.arg((subject.rounds * 10).to_string()).stdout(Stdio::null());
            build.running = build.running.min(spent(&mut command).seconds);
        }
    }
    let (plain, others) = builds.split_first().expect("the plain build is made");
    for build in others {
        table.add_row(row(subject.name, build, plain));
    }
}

fn row(program: &str, build: &Build, plain: &Build) -> Vec<String> {
    let [compiling, running] = build.aims;
    let executed = build.instructions.zip(plain.instructions);
    let executed = executed.map(|(of, plain)| format!("{:.3}", of as f64 / plain as f64));
    let ran = build.running / plain.running;
    vec![
        program.to_owned(),
        build.name.to_owned(),
        format!("{:.2}", build.compiling.seconds / plain.compiling.seconds),
        format!("{compiling:.1}"),
        format!("{:.0}", build.compiling.megabytes),
        executed.unwrap_or_default(),
        format!("{running:.2}"),
        if ran.is_finite() { format!("{ran:.2}") } else { String::new() },
    ]
}

/// Compiles the library in one way, and links the program.
fn build(
    root: &Path,
    subject: &Subject,
    source: &Path,
    (place, settings): (&Path, &Settings),
    (name, criteria): (&'static str, Option<&str>),
) -> Build {
    let place = place.join(name.replace([' ', '/'], "-"));
    fs::create_dir_all(&place).expect("a folder is made");
    let compiler = || {
        let Some(criteria) = criteria else { return Command::new(&settings.compiler) };
        let mut command = Command::new(env!("CARGO_BIN_EXE_lydian"));
        command.arg("cc").arg("--dir").arg(place.join(".lydian"));
        command.args(["-c", criteria, "--", &settings.compiler]);
        command
    };
    let include = format!("-I{}", source.join(subject.include).display());
    let compile = |mut command: Command, file: &Path, object: &Path| {
        command.args(["-O2", "-w", &include]).args(subject.flags);
        command.arg("-c").arg(file).arg("-o").arg(object);
        spent(&mut command)
    };
    let mut compiling = Spent::default();
    let mut objects = vec![place.join("driver.o")];
    for file in files(subject, &source.join(subject.folder)) {
        let object = place.join(file.file_name().expect("a name")).with_extension("o");
        let [first, second] = [0, 1].map(|_| compile(compiler(), &file, &object));
        compiling.seconds += first.seconds.min(second.seconds);
        compiling.megabytes = compiling.megabytes.max(first.megabytes);
        objects.push(object);
    }
    let driver = root.join("crates/cli/benches/costs").join(format!("{}.c", subject.name));
    compile(Command::new(&settings.compiler), &driver, &objects[0]);
    let program = place.join("program");
    spent(compiler().args(&objects).arg("-lm").arg("-o").arg(&program));
    Build { name, aims: [1.0; 2], program, compiling, instructions: None, running: f64::INFINITY }
}

fn files(subject: &Subject, folder: &Path) -> Vec<PathBuf> {
    if !subject.files.is_empty() {
        return subject.files.iter().map(|name| folder.join(format!("{name}.c"))).collect();
    }
    let entries = fs::read_dir(folder).expect("the library is there").flatten();
    let is_c = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "c");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(is_c).collect();
    files.sort();
    files
}

/// The instructions that a program executes.
fn instructions(program: &Path, rounds: u32) -> Option<u64> {
    let counted = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(program)
        .arg(rounds.to_string())
        .output()
        .ok()?;
    assert!(counted.status.success(), "{}: {}", program.display(), counted.status);
    let said = String::from_utf8_lossy(&counted.stderr);
    let line = said.lines().find(|line| line.contains("refs:"))?;
    line.rsplit(' ').next()?.replace(',', "").parse().ok()
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
