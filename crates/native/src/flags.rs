//! The compile flags of the measured build: the user's flags that matter after preprocessing, and
//! Lydian's own.

use lydian_ir::Program;

/// How the instrumented text is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Optimization {
    /// `-O0`: cells are set exactly when control passes, even in a run that crashes or is stopped.
    /// With optimisation, compilers may delay stores that a run that ends well does not need
    /// earlier.
    None,
    /// `-O1`.
    #[default]
    Some,
    /// `-O2`.
    Full,
}

impl Optimization {
    /// The compilers' flag for it.
    pub const fn flag(self) -> &'static str {
        match self {
            Self::None => "-O0",
            Self::Some => "-O1",
            Self::Full => "-O2",
        }
    }
}

/// Flags that change nothing that Lydian measures, or that would stop the build.
const DROPPED: [&str; 14] = [
    "-fsanitize",
    "-fprofile",
    "-fcoverage",
    "-flto",
    "-fno-lto",
    "-fplugin",
    "-ftest-coverage",
    "-fwhole-program",
    "-ftrapv",
    "-fstrict-overflow",
    "-fstack-protector",
    "-fcolor",
    "-fdiagnostics",
    "-fPI",
];

/// The user's flags that determine the meaning of the text: the language, the target and its
/// options.
pub(crate) fn kept(flags: &[String]) -> Vec<String> {
    let mut kept = Vec::new();
    let mut flags = flags.iter();
    while let Some(flag) = flags.next() {
        if matches!(flag.as_str(), "-target" | "-arch" | "-march" | "-mllvm") {
            kept.push(flag.clone());
            kept.extend(flags.next().cloned());
        } else if ["-std=", "-f", "-m", "--target=", "-ansi"].iter().any(|p| flag.starts_with(p))
            && !DROPPED.iter().any(|prefix| flag.starts_with(prefix))
        {
            kept.push(flag.clone());
        }
    }
    kept
}

/// Functions that are not builtins. A compiler may delete an allocation whose failure a test asks
/// for, and may make a call of `puts` out of one of `printf`, whose result a test gives.
const NO_BUILTINS: [&str; 17] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "strdup",
    "strndup",
    "aligned_alloc",
    "posix_memalign",
    "printf",
    "fprintf",
    "sprintf",
    "snprintf",
    "puts",
    "putchar",
    "fputs",
    "fputc",
    "fwrite",
];

/// Declarations of the functions of `NO_BUILTINS` that the text calls without a declaration.
/// Compilers would take such a function for the builtin of its name.
pub fn implicit_declarations(program: &Program) -> String {
    let implicit = program.functions.values().filter(|function| function.implicit);
    let named = implicit.filter(|function| NO_BUILTINS.contains(&function.name.as_str()));
    let types = &program.types;
    named
        .map(|function| format!("{};\n", types.spell_compiled(function.ty, &function.name)))
        .collect()
}

/// The measured build's own flags.
///
/// `-fwrapv`, `-fno-strict-aliasing` and `-fno-delete-null-pointer-checks` give the text the
/// meaning that the IR gives it: arithmetic that wraps, memory that is bytes, no conclusions from
/// calls such as `memcpy(p, q, 0)`. Variables without an initial value start as zero, so that a run
/// depends on its inputs alone, and a pure condition may be read before the program would.
pub(crate) fn own(level: Optimization) -> Vec<String> {
    let fixed = [
        "-x",
        "cpp-output",
        "-w",
        // Warnings that clang makes errors by default must not be stricter here than in the front
        // end.
        "-Wno-everything",
        "-fPIC",
        "-fwrapv",
        "-fno-strict-aliasing",
        "-fno-delete-null-pointer-checks",
        "-ffp-contract=off",
        "-ftrivial-auto-var-init=zero",
        "-fno-stack-protector",
        "-fno-asynchronous-unwind-tables",
        "-fbracket-depth=1024",
    ];
    let no_builtins = NO_BUILTINS.iter().map(|name| format!("-fno-builtin-{name}"));
    let mut flags: Vec<String> = fixed.into_iter().map(str::to_owned).chain(no_builtins).collect();
    flags.push(level.flag().to_owned());
    flags
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_for_the_language_and_target_are_kept_and_those_for_the_preprocessor_are_not() {
        let flags = ["-std=c99", "-Ifoo", "-DX=1", "-funsigned-char", "-O3", "-Werror", "-target"];
        let mut flags: Vec<String> = flags.map(str::to_owned).to_vec();
        flags.extend(["x86_64-linux-gnu", "-fsanitize=address", "-g"].map(str::to_owned));
        assert_eq!(kept(&flags), ["-std=c99", "-funsigned-char", "-target", "x86_64-linux-gnu"]);
    }
}
