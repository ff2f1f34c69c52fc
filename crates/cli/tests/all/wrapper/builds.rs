//! `lydian cc` is the compiler that it stands for: what is built, written and said is the same.

use crate::common::wrapped::{built, cc, counts, coverage, entered, function, shell, warnings};
use crate::common::{LYDIAN, Workplace};

const PROGRAM: &str = r#"
#include <stdio.h>
#include "limit.h"
static int within(int a, int b) {
    if (a > LIMIT && b < LIMIT)
        return 1;
    return 0;
}
int main(int argc, char **argv) {
    (void)argv;
    printf("%d\n", within(argc, 2 - argc) + twice(argc));
    return 0;
}
"#;

const HEADER: &str =
    "#define LIMIT 1\nstatic inline int twice(int n) { return n > 2 ? 2 * n : n; }\n";

fn place() -> Workplace {
    let at = Workplace::with(PROGRAM);
    at.write("limit.h", HEADER);
    at
}

#[test]
fn a_program_is_compiled_linked_and_measured_with_either_compiler() {
    for compiler in ["clang-19", "gcc"] {
        let at = place();
        built(&at, "-c fc,stmt,dc,cc,mcc", &format!("{compiler} -O2 -Wall -Werror -c unit.c"));
        built(&at, "", &format!("{compiler} unit.o -o unit"));
        assert_eq!(shell(&at, "./unit").out, "1\n");
        assert_eq!(shell(&at, "./unit 1").out, "3\n");
        let found = coverage(&at);
        assert_eq!(warnings(&found), "", "{compiler}");
        assert_eq!(counts(&found, "within", "dc"), (2, 2));
        assert_eq!(counts(&found, "within", "cc"), (4, 4), "{found:#}");
        assert_eq!(counts(&found, "twice", "dc"), (2, 1));
        assert!(entered(&found, "main"));
        let decision = &function(&found, "within")["decisions"][0];
        assert_eq!(decision["text"], "a > 1 && b < 1");
        assert_eq!(decision["from_macro"], true);
    }
}

#[test]
fn dependency_files_are_those_of_the_plain_compiler() {
    for compiler in ["clang-19", "gcc"] {
        for flags in ["-MD", "-MMD -MP", "-MD -MF own.d", "-MMD -MT one -MQ $two"] {
            for output in ["", "-o sub/made.o"] {
                let at = place();
                std::fs::create_dir(at.path("sub")).expect("a folder");
                let words = format!("{flags} -c unit.c {output}");
                let keep = |to: &str| shell(&at, &format!("mkdir {to}; mv *.d sub/*.d {to}"));
                let plain = shell(&at, &format!("{compiler} {}", words.replace('$', "\\$")));
                assert_eq!(plain.code, Some(0), "{plain}");
                keep("plain");
                built(&at, "", &format!("{compiler} {words}"));
                keep("measured");
                let same = shell(&at, "diff -r plain measured");
                assert_eq!(same.code, Some(0), "{compiler} {words}: {same}");
            }
        }
    }
}

#[test]
fn what_makes_no_object_is_the_compilers_own_output() {
    let at = place();
    for words in ["-E unit.c", "-S -o - unit.c", "-MM unit.c", "-dumpmachine"] {
        let plain = shell(&at, &format!("clang-19 {words}"));
        let ours = built(&at, "", &format!("clang-19 {words}"));
        assert_eq!(ours.out, plain.out, "{words}");
    }
    assert!(!at.path(".lydian").exists());
}

#[test]
fn several_sources_assembly_and_response_files_go_in_one_command() {
    let at = place();
    at.write("other.c", "int other(int n) { if (n) return 1; return 2; }\n");
    at.write(
        "more.c",
        "int more(void);\nint other(int);\nint main(void) { return other(more()); }\n",
    );
    at.write("more.s", ".globl more\nmore:\n xorl %eax, %eax\n ret\n.section .note.GNU-stack\n");
    at.write("words", "other.c more.s\n-o 'whole'");
    built(&at, "-c dc,fc", "clang-19 more.c @words");
    assert_eq!(shell(&at, "./whole").code, Some(2));
    let found = coverage(&at);
    assert_eq!(counts(&found, "other", "dc"), (2, 1));
    built(&at, "-c fc", "gcc -c unit.c other.c");
    assert!(at.path("unit.o").exists() && at.path("other.o").exists());
    assert_eq!(found["plain"].as_array().map(Vec::len), Some(0));
}

#[test]
fn assertions_and_debug_lines_speak_of_the_users_text() {
    let text = "#include <assert.h>\nint main(int c, char **v) {\n (void)v;\n assert(c > 1 &&\n        c < 3);\n return __LINE__;\n}\n";
    let at = Workplace::with(text);
    shell(&at, "clang-19 -g unit.c -o plain");
    built(&at, "-c stmt,dc,cc,mcc", "clang-19 -g unit.c -o measured");
    let said = |name: &str| shell(&at, &format!("./{name}")).err.replace(name, "program");
    assert_eq!(said("measured"), said("plain"));
    assert!(said("plain").contains("unit.c:"), "{}", said("plain"));
    assert_eq!(shell(&at, "./measured 1").code, Some(6));
    let lines = |name: &str| {
        let table = shell(&at, &format!("readelf --debug-dump=decodedline {name}")).out;
        let of_unit = table.lines().filter(|line| line.starts_with("unit.c "));
        let numbers = of_unit.filter_map(|line| line.split_whitespace().nth(1)?.parse().ok());
        numbers.collect::<std::collections::BTreeSet<u32>>()
    };
    let (plain, measured) = (lines("plain"), lines("measured"));
    assert!(!plain.is_empty() && plain.is_subset(&measured), "{plain:?} {measured:?}");
    assert!(measured.iter().all(|line| *line <= 7), "{measured:?}");
}

#[test]
fn an_error_of_the_users_is_said_once_by_the_compiler_and_has_its_code() {
    let at = Workplace::with("int main(void) { return nothing; }\n");
    let plain = shell(&at, "clang-19 -c unit.c");
    let ran = cc(&at, "", "clang-19 -c unit.c");
    assert_eq!((ran.code, &ran.err), (plain.code, &plain.err));
    assert!(!at.path("unit.o").exists());
}

#[test]
fn warnings_are_the_users_and_werror_holds_for_them_alone() {
    let at = Workplace::with("int main(void) {\n int unused;\n return 1 && (2 > 1);\n}\n");
    let ran = built(&at, "-c wm,dc", "clang-19 -Wall -Wextra -c unit.c");
    assert!(ran.err.contains("unused variable") && !ran.err.contains("lydian_"), "{ran}");
    let ran = cc(&at, "-c wm,dc", "clang-19 -Wall -Werror -c unit.c");
    assert_eq!(ran.code, Some(1), "{ran}");
}

#[test]
fn a_file_that_cannot_be_read_is_compiled_as_it_is_and_listed() {
    // Only gcc knows arrays of variable length in structs.
    let text = "int main(int n, char **a) {\n struct { int one[n]; } s;\n \
                s.one[0] = 1;\n return s.one[0];\n}\n";
    let at = Workplace::with(text);
    let ran = built(&at, "", "gcc unit.c -o unit");
    assert!(ran.err.contains("unit.c is compiled as it is"), "{ran}");
    assert_eq!(shell(&at, "./unit").code, Some(1));
    let found = coverage(&at);
    let plain = found["plain"].as_array().expect("a list");
    assert_eq!(plain.len(), 1);
    assert!(plain[0]["path"].as_str().is_some_and(|path| path.ends_with("unit.c")));
}

#[test]
fn configuration_probes_are_left_alone() {
    let at = place();
    at.write("conftest.c", "int main(void) { return 0; }\n");
    built(&at, "", "clang-19 conftest.c -o conftest");
    let made = shell(&at, "readelf -SW conftest | grep -c lydian");
    assert_eq!(made.out.trim(), "0");
    assert!(!at.path(".lydian").exists());
}

#[test]
fn lto_is_left_out_and_that_is_said_once() {
    let at = place();
    let first = built(&at, "-c dc", "clang-19 -flto -O2 -c unit.c");
    let second = built(&at, "-c dc", "clang-19 -flto -O2 unit.o -o unit");
    assert!(first.err.contains("link-time optimisation"), "{first}");
    assert!(!second.err.contains("link-time"), "{second}");
    shell(&at, "./unit");
    assert_eq!(counts(&coverage(&at), "within", "dc"), (2, 1));
}

#[test]
fn static_pie_and_partial_links_work() {
    let at = place();
    for (kind, flags) in [("static", "-static"), ("pie", "-fPIE -pie"), ("plain", "-no-pie")] {
        built(&at, "-c dc", &format!("clang-19 {flags} unit.c -o {kind}"));
        assert_eq!(shell(&at, &format!("rm -rf .lydian/cells; ./{kind}")).out, "1\n");
        assert_eq!(counts(&coverage(&at), "within", "dc"), (2, 1), "{kind}");
    }
    built(&at, "-c dc", "clang-19 -c unit.c");
    built(&at, "-c dc", "clang-19 -r unit.o -o part.o");
    built(&at, "-c dc", "clang-19 part.o -o whole");
    shell(&at, "rm -rf .lydian/cells; ./whole 1");
    assert_eq!(counts(&coverage(&at), "within", "dc"), (2, 1));
}

#[test]
fn objects_link_without_lydian_and_then_are_not_counted() {
    let at = place();
    built(&at, "-c dc,wm,mcc", "clang-19 -c unit.c");
    assert_eq!(shell(&at, "clang-19 unit.o -o unit && ./unit").out, "1\n");
    assert_eq!(counts(&coverage(&at), "within", "dc"), (2, 0));
}

#[test]
fn objects_bring_their_notes_to_a_store_that_lost_them() {
    let at = place();
    built(&at, "-c dc", "clang-19 -c unit.c");
    shell(&at, "rm -r .lydian");
    built(&at, "-c dc", "clang-19 unit.o -o unit");
    shell(&at, "./unit");
    assert_eq!(counts(&coverage(&at), "within", "dc"), (2, 1));
}

#[test]
fn a_header_of_two_units_counts_once_with_what_both_cover() {
    let at = place();
    let other = "#include \"limit.h\"\nint other(int n) { return twice(n); }\n";
    at.write("other.c", other);
    at.write("main.c", "#include \"limit.h\"\nint other(int);\nint main(void) { return twice(1) + other(5) != 11; }\n");
    built(&at, "-c dc,fc", "clang-19 -c other.c");
    built(&at, "-c dc,fc", "clang-19 -c main.c");
    built(&at, "", "clang-19 main.o other.o -o both");
    assert_eq!(shell(&at, "./both").code, Some(0));
    assert_eq!(counts(&coverage(&at), "twice", "dc"), (2, 2));
}

#[test]
fn a_compilation_without_a_place_for_its_notes_is_plain() {
    let at = place();
    at.write("file", "");
    let ran = built(&at, "--dir file/store", "clang-19 -c unit.c");
    assert!(ran.err.contains("compiled as it is"), "{ran}");
    let ran = built(&at, "--dir file/store", "clang-19 unit.o -o unit");
    assert!(ran.err.contains("not"), "{ran}");
    assert_eq!(shell(&at, "./unit").out, "1\n");
}

/// Skipped, aloud, where the machine has no 32-bit C library.
#[test]
fn programs_of_32_bits_are_measured_as_those_of_64_are() {
    const TEXT: &str = r#"
struct bits { unsigned a : 3, b : 20; } s;
static long long shelf[4];
long long wide(long long x, int y) {
    x += y;
    if (x > 5000000000ll && y < 3)
        return x * 3 - 0xffffffffll;
    return x;
}
int flow(int i, int j, char *p) {
    int a[3] = { 1, 2, 3 };
    a[i] = 4;
    shelf[j] = a[2];
    s.b += (unsigned)i;
    return *p == 'x' ? a[0] : (int)shelf[1] + (int)s.b;
}
int many(const int *v) {
    return v[0] && v[1] && v[2] && v[3] && v[4] && v[5] && v[6] && v[7] && v[8] && v[9] && v[10] &&
           v[11] && v[12] && v[13] && v[14] && v[15] && v[16] && v[17] && v[18] && v[19] && v[20] &&
           v[21] && v[22] && v[23] && v[24] && v[25] && v[26] && v[27] && v[28] && v[29] && v[30] &&
           v[31] && v[32] && v[33] && v[34];
}
int main(void) {
    int v[35];
    for (int i = 0; i < 35; i++)
        v[i] = 1;
    many(v);
    v[33] = 0;
    many(v);
    return wide(6000000000ll, 1) != 13705032708ll || wide(1, 4) != 5 || flow(2, 1, "y") != 6 ||
           flow(0, 2, "x") != 4;
}
"#;
    let options = "-c stmt,dc,cacc,wm,all-uses,all-uses-cells,all-du-paths-cells,ppc";
    for compiler in ["clang-19", "gcc"] {
        let measured = |width: &str| {
            let at = Workplace::with(TEXT);
            let ran = cc(&at, options, &format!("{compiler} {width} -O2 unit.c -o unit"));
            let of_library = ["crti.o", "crtbegin", "libgcc", "stubs-32.h"];
            if ran.code != Some(0) && of_library.iter().any(|what| ran.err.contains(what)) {
                return None;
            }
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{compiler} {width}");
            assert_eq!(shell(&at, "./unit").code, Some(0), "{compiler} {width}");
            let found = coverage(&at);
            assert_eq!(warnings(&found), "", "{compiler} {width}");
            assert_eq!(found["plain"], serde_json::json!([]), "{compiler} {width}");
            // A cast to 64 bits has another name in each.
            let of = |name: &str| {
                let mut objectives = function(&found, name)["objectives"].clone();
                for objective in objectives.as_array_mut().expect("a list") {
                    objective.as_object_mut().expect("an objective").remove("text");
                }
                objectives
            };
            Some(["wide", "flow", "many", "main"].map(of))
        };
        let Some(narrow) = measured("-m32") else {
            use std::io::Write as _;
            let said = "skipped: this machine has no 32-bit C library (Debian: gcc-multilib)";
            writeln!(std::io::stderr(), "{said}").expect("the test's output takes it");
            return;
        };
        assert_eq!(Some(narrow), measured("-m64"), "{compiler}");
    }
}

#[test]
fn a_compiler_cache_starts_the_compilation_of_the_instrumented_text() {
    let at = place();
    // What ccache does not cache: objects whose text includes a file.
    let cache = "#!/bin/sh\nfor word; do case $word in *.i) grep -q '[.]incbin' \"$word\" && \
                 echo includes >> started;; esac; done\necho \"$1\" >> started\nexec \"$@\"\n";
    at.write("ccache", cache);
    shell(&at, "chmod +x ccache");
    built(&at, "-c fc,dc", "./ccache gcc -O2 -c unit.c -o unit.o");
    assert_eq!(shell(&at, "cat started").out, "gcc\n");
    built(&at, "", "./ccache gcc unit.o -o unit");
    assert_eq!(shell(&at, "./unit").out, "1\n");
    assert_eq!(counts(&coverage(&at), "within", "dc"), (2, 1));
    // Without a compiler after it, it is one itself.
    shell(&at, "mkdir own; ln -s \"$(command -v gcc)\" own/ccache");
    built(&at, "-c fc", "own/ccache -O2 -c unit.c -o other.o");
}

#[test]
fn precompiled_headers_are_read_as_text_and_measured() {
    let at = place();
    at.write("own.h", "static inline int low(int n) { return n < 3 ? n : 3; }\n#define HIGH 9\n");
    // As CMake generates it.
    at.write("pch.h", "#pragma GCC system_header\n#include <stdio.h>\n#include \"own.h\"\n");
    at.write(
        "use.c",
        "int main(int n, char **v) { (void)v; return printf(\"\") + low(n) == HIGH; }\n",
    );
    let plain = "clang-19 -x c-header pch.h -o pch.h.pch && gcc -x c-header pch.h -o pch.h.gch";
    assert_eq!(shell(&at, plain).code, Some(0));
    let of_clang = "-Xclang -include-pch -Xclang pch.h.pch -Xclang -include -Xclang pch.h";
    for compiler in [format!("clang-19 {of_clang}"), "gcc -include pch.h".to_owned()] {
        let ran = built(&at, "-c fc,dc", &format!("{compiler} use.c -o use"));
        assert!(!ran.err.contains("warning"), "{}", ran.err);
        assert_eq!(shell(&at, "./use").code, Some(0));
        let found = coverage(&at);
        assert!(entered(&found, "low") && entered(&found, "main"), "{compiler}");
        std::fs::remove_dir_all(at.path(".lydian")).expect("it is there");
    }
}

#[test]
fn options_that_scripts_put_before_the_criteria_and_files_between_are_as_with_the_compiler_alone() {
    let at = place();
    at.write("one.c", "int main(void) { return 0; }\n");
    // As depcomp does where it takes Lydian's own `-c` for the compiler's.
    built(
        &at,
        "-MT one.o -MD -MP -MF one.d -c fc",
        "gcc -MT one.o -MD -MF one.d -c one.c -o one.o",
    );
    assert!(at.read("one.d").starts_with("one.o: one.c"));
    built(&at, "-c fc", "gcc -save-temps -c one.c -o other.o");
    let between = ["other.i", "other.s"].map(|name| at.read(name));
    assert!(between.iter().all(|text| text.contains("main") && !text.contains("lydian")));
    built(&at, "-c fc", "gcc other.o -o one");
    assert_eq!(shell(&at, "./one").code, Some(0));
    assert!(entered(&coverage(&at), "main"));
}

#[test]
fn a_file_that_is_not_to_be_measured_is_told_of_no_more() {
    let at = place();
    // gcc's own, and no other compiler's.
    at.write("own.c", "int f(int n) { struct { int a[n]; } s; s.a[0] = 0; return s.a[0]; }\n");
    built(&at, "-c fc", "gcc -c own.c -o own.o");
    assert_eq!(coverage(&at)["plain"].as_array().map(Vec::len), Some(1));
    let off = format!("LYDIAN_OFF=1 {LYDIAN} cc -c fc -- gcc -c own.c -o own.o");
    let off = shell(&at, &off);
    assert_eq!(off.code, Some(0), "{}", off.err);
    at.write("unit.c", "int f(void) { return 0; }\n");
    built(&at, "-c fc", "gcc -c unit.c -o unit.o");
    assert_eq!(coverage(&at)["plain"].as_array().map(Vec::len), Some(0));
}

#[test]
fn programs_that_may_use_no_floats_are_measured() {
    const TEXT: &str = "int f(int a, int b) { return a > 3 && b < 5 ? a + b : a / 2; }\n\
                        int main(void) { return f(4, 1) != 5 || f(1, 1) != 0; }\n";
    let at = Workplace::with(TEXT);
    let build = "gcc -O2 -mgeneral-regs-only unit.c -o unit";
    let ran = cc(&at, "-c stmt,wm", build);
    if ran.err.contains("general-regs-only") {
        return;
    }
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(shell(&at, "./unit").code, Some(0));
    let found = coverage(&at);
    let objectives = function(&found, "f")["objectives"].clone();
    let covered = |criterion: &str| {
        let all = objectives.as_array().expect("a list").iter();
        all.filter(|of| of["criterion"] == criterion && of["status"] == "covered").count()
    };
    assert!(covered("stmt") > 0 && covered("wm") > 20, "{objectives}");
}

#[test]
fn a_label_is_a_line_that_control_passes_as_the_statement_behind_it() {
    const TEXT: &str = "int f(int k) {
    int r = 0;
    switch (k) {
    case 1:
    case 2:
        r = 1;
        break;
    case 3: {
        int q;
        q = 4;
        r = q;
    } break;
    case 4: {}
    case 5:
        r = 5;
    out:
        r++;
        break;
    default:
        goto out;
    }
    return r;
}
int main(void) { return f(1) + f(5) == 7 ? 0 : 1; }
";
    let at = Workplace::with(TEXT);
    let ran = cc(&at, "-c stmt", "gcc -O0 unit.c -o unit");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(shell(&at, "./unit").code, Some(0));
    let found = coverage(&at);
    let lines = function(&found, "f")["lines"].clone();
    let lines: Vec<(u64, bool)> = serde_json::from_value::<Vec<serde_json::Value>>(lines)
        .expect("a list")
        .iter()
        .map(|line| (line["line"].as_u64().expect("a number"), line["covered"] == true))
        .collect();
    // As gcov has them, but for the function's first line.
    let run = [2, 3, 4, 6, 7, 13, 15, 16, 17, 18, 22].map(|line| (line, true));
    let not_run = [8, 10, 11, 12, 19, 20].map(|line| (line, false));
    let mut expected = [run.as_slice(), not_run.as_slice()].concat();
    expected.sort_unstable();
    assert_eq!(lines, expected);
}
