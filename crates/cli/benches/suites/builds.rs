//! Builds of a suite, and what running them says.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

use crate::foreign::{Library, Unit};

/// A compiler with flags.
pub(crate) struct Build {
    pub(crate) name: &'static str,
    compiler: &'static str,
    flags: &'static [&'static str],
}

/// What came of a suite in one build.
pub(crate) struct Built {
    /// The first error where it does not compile.
    pub(crate) compiled: Result<(), String>,
    /// The first warning about the suite's own lines.
    pub(crate) warning: Option<String>,
    /// The tests that fail in the first run or the second.
    pub(crate) failed: BTreeSet<String>,
    /// What else a run says, where it ends otherwise than it should.
    ended: Option<String>,
}

/// Every build that a suite must pass in.
pub(crate) const BUILDS: [Build; 5] = [
    Build { name: "gcc -O0", compiler: "gcc", flags: &["-O0"] },
    Build { name: "gcc -O2", compiler: "gcc", flags: &["-O2"] },
    Build { name: "clang -O0", compiler: "clang-19", flags: &["-O0"] },
    Build { name: "clang -O2", compiler: "clang-19", flags: &["-O2"] },
    Build {
        name: "gcc, ASan, UBSan",
        compiler: "gcc",
        flags: &["-O1", "-g", "-fsanitize=address,undefined"],
    },
];

/// How long a suite may run, in seconds.
const SECONDS: &str = "120";

impl Build {
    /// Compiles a suite with the flags of its source, and runs it twice.
    pub(crate) fn run(&self, library: &Library, unit: &Unit, suite: &Path) -> Built {
        let binary = suite.with_file_name("suite");
        let mut compiler = Command::new(self.compiler);
        compiler.current_dir(&library.place).args(&unit.flags).args(self.flags);
        compiler
            .args(["-Wall", "-Wextra", "-DLYDIAN_RUN_UNDEFINED", "-o"])
            .arg(&binary)
            .arg(suite)
            .args(["-lm", "-lpthread"]);
        let out = compiler.output().expect("the compiler can be started");
        let said = String::from_utf8_lossy(&out.stderr);
        let own = suite.display().to_string();
        let first = |kind: &str, of: &str| {
            let found = said.lines().find(|line| line.contains(kind) && line.contains(of));
            found.map(|line| line.trim_start_matches(&own).to_owned())
        };
        let mut built = Built {
            compiled: Ok(()),
            warning: first("warning: ", &format!("{own}:")),
            failed: BTreeSet::new(),
            ended: None,
        };
        if !out.status.success() {
            let error = first("error", "").or_else(|| first("undefined reference", ""));
            built.compiled = Err(error.unwrap_or_else(|| "no message".to_owned()));
            return built;
        }
        for _ in 0..2 {
            let out = Command::new("timeout").arg(SECONDS).arg(&binary).output();
            let out = out.expect("the suite can be started");
            let said = String::from_utf8_lossy(&out.stdout);
            let failed = said.lines().filter_map(|line| line.strip_prefix("FAILED "));
            built.failed.extend(failed.map(str::to_owned));
            if !out.status.success() && built.failed.is_empty() {
                built.ended = Some(format!("ended with {}", out.status));
            }
        }
        built
    }
}

impl Built {
    /// Whether it compiles, and every test passes in both runs.
    pub(crate) fn passes(&self) -> bool {
        self.compiled.is_ok() && self.failed.is_empty() && self.ended.is_none()
    }

    /// What is wrong first.
    pub(crate) fn trouble(&self) -> Option<String> {
        if let Err(error) = &self.compiled {
            return Some(error.clone());
        }
        let failed = self.failed.first().map(|test| format!("{test} fails"));
        failed.or_else(|| self.ended.clone()).or_else(|| self.warning.clone())
    }
}
