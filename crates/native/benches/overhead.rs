//! What measuring costs: bzip2 compresses and decompresses a buffer, not instrumented and
//! instrumented, all at -O2.
//!
//! Prints the ratio of the times for sets of criteria. The library's source is fetched by
//! `scripts/real-c bzip2`, into `target/real-c/bzip2`.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, load};
use lydian_native::{Optimization, RewriteRequest, compile_flags, rewrite, with_cells};
use lydian_objective::Criterion;
use lydian_objective::annotate::{Request, annotate};

const FILES: [&str; 7] =
    ["blocksort", "huffman", "compress", "decompress", "crctable", "randtable", "bzlib"];

/// Compresses text made by a small generator, and back.
const DRIVER: &str = r#"
int BZ2_bzBuffToBuffCompress(char *, unsigned *, char *, unsigned, int, int, int);
int BZ2_bzBuffToBuffDecompress(char *, unsigned *, char *, unsigned, int, int);
int memcmp(const void *, const void *, unsigned long);
enum { SIZE = 3000000 };
static char from[SIZE], packed[SIZE + SIZE / 50 + 600], back[SIZE];
void bz_internal_error(int code) { (void)code; __builtin_trap(); }
int lydian_readable(const void *p, unsigned long n) { (void)n; return p != 0; }
void lydian_wide(unsigned d, unsigned w, const unsigned long long *v) { (void)d, (void)w, (void)v; }
int main(void) {
    static const char *const words[8] =
        {"coverage ", "of ", "a label ", "needs ", "one run, ", "the ", "decision\n", "x=y+1; "};
    unsigned long state = 1, at = 0;
    while (at < SIZE) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        const char *word = words[state >> 61];
        while (*word && at < SIZE) from[at++] = *word++;
        if ((state >> 40) % 16 == 0 && at < SIZE) from[at++] = (char)(state >> 50);
    }
    unsigned size = sizeof packed, again = sizeof back;
    if (BZ2_bzBuffToBuffCompress(packed, &size, from, SIZE, 9, 0, 30)) return 1;
    if (BZ2_bzBuffToBuffDecompress(back, &again, packed, size, 0, 0)) return 2;
    return again != SIZE || memcmp(from, back, SIZE) != 0;
}
"#;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/real-c/bzip2");
    if !root.join("blocksort.c").is_file() {
        say("bzip2 is not there: run scripts/real-c bzip2");
        return;
    }
    let place = tempfile::tempdir().expect("a temporary directory");
    let all: Vec<Criterion> = Criterion::ALL.iter().map(|(criterion, _)| *criterion).collect();
    let variants: [(&str, Option<&[Criterion]>); 8] = [
        ("plain", None),
        ("dc", Some(&[Criterion::Dc])),
        ("mcc+gacc", Some(&[Criterion::Mcc, Criterion::Gacc])),
        ("all-uses", Some(&[Criterion::AllDefs, Criterion::AllUses])),
        ("ppc", Some(&[Criterion::Epc, Criterion::Ppc])),
        ("slo+mlo", Some(&[Criterion::Slo, Criterion::Mlo])),
        ("wm", Some(&[Criterion::Wm])),
        ("all", Some(&all)),
    ];
    let programs: Vec<PathBuf> = variants
        .iter()
        .map(|(name, criteria)| program(&root, place.path(), name, *criteria))
        .collect();
    // The variants take turns, so that a busy moment of the machine does not hit one alone.
    let mut best = [Duration::MAX; 8];
    for _ in 0..7 {
        for (program, best) in programs.iter().zip(&mut best) {
            *best = (*best).min(run(program));
        }
    }
    for ((name, _), time) in variants.iter().zip(best) {
        let ratio = time.as_secs_f64() / best[0].as_secs_f64();
        say(&format!("{name:10} {:8.1} ms   {ratio:.3}", time.as_secs_f64() * 1000.0));
    }
}

fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// User time of one run.
fn run(program: &Path) -> Duration {
    let started = Instant::now();
    let before = children();
    let status = Command::new(program).status().expect("the program starts");
    assert!(status.success(), "{}: {status}", program.display());
    let used = children().saturating_sub(before);
    if used.is_zero() { started.elapsed() } else { used }
}

/// Processor time of all children so far.
fn children() -> Duration {
    // SAFETY: the place is valid and all bits zero are a value of it.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_CHILDREN, &raw mut usage);
        usage
    };
    Duration::from_micros((usage.ru_utime.tv_sec * 1_000_000 + usage.ru_utime.tv_usec) as u64)
}

fn program(root: &Path, place: &Path, name: &str, criteria: Option<&[Criterion]>) -> PathBuf {
    let mut objects = Vec::new();
    for file in FILES {
        let source = root.join(format!("{file}.c"));
        let text = text(&source, criteria);
        // Each unit has cells of its own; in one program their readers need names of their own.
        let text = text.replace("lydian_read(", &format!("lydian_read_{file}("));
        let unit = place.join(format!("{name}-{file}.i"));
        fs::write(&unit, text).expect("the text is written");
        let object = unit.with_extension("o");
        let mut command = Command::new("clang-19");
        // The plain program is built as its user would.
        match criteria {
            Some(_) => command.args(compile_flags(&[], Optimization::Full)),
            None => command.args(["-x", "cpp-output", "-w", "-O2"]),
        };
        command.arg("-c").arg(&unit);
        compile(command.arg("-o").arg(&object));
        objects.push(object);
    }
    let driver = place.join("driver.c");
    fs::write(&driver, DRIVER).expect("the driver is written");
    let program = place.join(name);
    let mut command = Command::new("clang-19");
    compile(command.args(["-O2", "-w"]).arg(&driver).args(&objects).arg("-o").arg(&program));
    program
}

fn compile(command: &mut Command) {
    let output = command.output().expect("clang-19 starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The preprocessed text of a file, instrumented for all functions if criteria are given.
fn text(source: &Path, criteria: Option<&[Criterion]>) -> String {
    let arguments = ["-DBZ_NO_STDIO".to_owned()];
    let flags = CompileFlags::new(&arguments, source).expect("the flags are right");
    let unit = load(&LoadRequest::new(ParseRequest::new(source, flags)));
    let unit = unit.unwrap_or_else(|error| panic!("{}: {error}", source.display()));
    let Some(criteria) = criteria else { return unit.source.text().to_string() };
    let defined = unit.program.defined().filter(|(_, f)| !unit.source.is_system(f.span.start));
    let mut watched = Vec::new();
    for (function, _) in defined {
        let annotation = annotate(&unit.program, &unit.source, function, &Request::new(criteria));
        watched.push(annotation.expect("a function with a body").objectives);
    }
    let request = RewriteRequest::for_tests(&unit.source, &unit.program, &watched);
    let (text, plan) = rewrite(&request);
    for unwatched in &plan.unmeasured_labels {
        say(&format!("{}: not watched: {}", source.display(), unwatched.reason));
    }
    with_cells(&text, &plan, false)
}
