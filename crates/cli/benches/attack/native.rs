//! Compiling what is attacked, and running it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The runtime, in both builds.
pub(crate) struct Runtime {
    folder: PathBuf,
}

/// How a unit is compiled.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    /// For many runs: traps where C's undefined behaviour begins as far as clang's sanitizer sees it,
    /// and pages that cannot be accessed behind the objects of the inputs.
    Fast,
    /// For one run that is to be confirmed: `AddressSanitizer` too, and variables without a value
    /// have another pattern.
    Exact,
}

impl Build {
    const fn name(self) -> &'static str {
        match self {
            Self::Fast => "fast",
            Self::Exact => "exact",
        }
    }

    const fn flags(self) -> &'static [&'static str] {
        match self {
            Self::Fast => &["-ftrivial-auto-var-init=zero"],
            Self::Exact => {
                &["-ftrivial-auto-var-init=pattern", "-fsanitize=address", "-shared-libasan"]
            }
        }
    }
}

const COMPILER: &str = "clang-19";

/// Without optimisation checks and records stay in the order of the text.
const FLAGS: [&str; 9] = [
    "-O0",
    "-g0",
    "-w",
    "-fPIC",
    "-fno-builtin",
    "-fno-strict-aliasing",
    "-Wno-implicit-function-declaration",
    "-fsanitize=undefined,float-cast-overflow",
    "-fno-sanitize=function,vptr",
];

/// What runs met.
pub(crate) struct CellHits {
    /// The cells that were set, each with the first run that did.
    pub(crate) hits: Vec<(usize, u64)>,
    /// How many others were set only by runs that ended in a trap of the sanitizer, which may have been
    /// in the same expression.
    pub(crate) trapped: u64,
    /// How many runs there were.
    pub(crate) runs: u64,
}

impl Runtime {
    pub(crate) fn build(folder: &Path) -> Self {
        std::fs::create_dir_all(folder).expect("the folder can be made");
        let source = folder.join("runtime.c");
        std::fs::write(&source, include_str!("runtime.c")).expect("the folder can be written to");
        for build in [Build::Fast, Build::Exact] {
            let mut clang = Command::new(COMPILER);
            clang.args(["-O1", "-w", "-rdynamic"]);
            if build == Build::Exact {
                clang.args(["-fsanitize=address", "-shared-libasan", "-Wl,-rpath"]);
                clang.arg(library_folder());
            }
            clang.arg(&source).args(["-ldl", "-lm", "-o"]).arg(folder.join(build.name()));
            succeed(&mut clang).expect("the runtime compiles");
        }
        Self { folder: folder.to_owned() }
    }

    /// Runs numbers `first` and on, for so many seconds at most.
    pub(crate) fn run(
        &self,
        unit: &Path,
        first: u64,
        runs: u64,
        cells: &[usize],
        seconds: u64,
    ) -> CellHits {
        let mut command = Command::new(self.folder.join(Build::Fast.name()));
        command.arg(unit).args([first.to_string(), runs.to_string(), list(cells)]);
        command.arg(seconds.to_string());
        let out = command.output().expect("the runtime can be started");
        let text = String::from_utf8_lossy(&out.stdout);
        let hit = |line: &str| {
            let mut words = line.strip_prefix("hit ")?.split(' ');
            Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
        };
        let runs = text.lines().filter_map(|line| line.strip_prefix("runs ")?.parse::<u64>().ok());
        let trapped = text.lines().filter(|line| line.starts_with("trapped "));
        CellHits {
            hits: text.lines().filter_map(hit).collect(),
            trapped: trapped.count() as u64,
            runs: runs.sum(),
        }
    }

    /// Runs one number alone: what it prints of its input, and the cells that it sets, but for those that it
    /// sets before it ends in a trap of the sanitizer: where a run is one of many, a limit may end it between
    /// the two.
    pub(crate) fn show(
        &self,
        build: Build,
        unit: &Path,
        run: u64,
        cells: &[usize],
    ) -> (String, Vec<usize>) {
        let mut command = Command::new(self.folder.join(build.name()));
        command.arg(unit).args(["show", &run.to_string(), &list(cells)]);
        let out = command.output().expect("the runtime can be started");
        let text = String::from_utf8_lossy(&out.stdout).into_owned();
        let set = text.lines().filter_map(|line| line.strip_prefix("set ")?.parse().ok());
        (text.clone(), set.collect())
    }
}

fn list(cells: &[usize]) -> String {
    cells.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}

/// Where the shared library of `AddressSanitizer` is.
fn library_folder() -> PathBuf {
    let out = Command::new(COMPILER).arg("-print-resource-dir").output().expect("clang starts");
    Path::new(String::from_utf8_lossy(&out.stdout).trim()).join("lib/linux")
}

/// Compiles a unit in its folder, which has `unit.i` and `stubs.c`.
pub(crate) fn compile(folder: &Path, flags: &[String], build: Build) -> Result<PathBuf, String> {
    let object = |name: &str| folder.join(format!("{}-{name}.o", build.name()));
    let kept = |flag: &&String| ["-std=", "-f", "-m"].iter().any(|start| flag.starts_with(start));
    for (name, file, language) in [("unit", "unit.i", "cpp-output"), ("stubs", "stubs.c", "c")] {
        let mut clang = Command::new(COMPILER);
        clang.args(FLAGS).arg("-fsanitize-trap=undefined,float-cast-overflow");
        clang.args(build.flags()).args(["-x", language]);
        if name == "unit" {
            clang.args(flags.iter().filter(kept));
        }
        clang.arg("-c").arg(folder.join(file)).arg("-o").arg(object(name));
        succeed(&mut clang)?;
    }
    let unit = folder.join(format!("{}.so", build.name()));
    let mut clang = Command::new(COMPILER);
    clang.args(["-shared", "-Wl,-Bsymbolic,-z,norelro,-z,now", "-w"]);
    if build == Build::Exact {
        clang.args(["-fsanitize=address", "-shared-libasan"]);
    }
    clang.arg(object("unit")).arg(object("stubs")).args(["-lm", "-o"]).arg(&unit);
    succeed(&mut clang)?;
    Ok(unit)
}

fn succeed(command: &mut Command) -> Result<Output, String> {
    let out = command.output().map_err(|error| error.to_string())?;
    if out.status.success() {
        return Ok(out);
    }
    let errors = String::from_utf8_lossy(&out.stderr);
    let first = errors.lines().find(|line| line.contains("error")).unwrap_or("clang fails");
    Err(first.to_owned())
}
