//! `lydian diff`.

use std::path::Path;
use std::process::Command;

use crate::common::{Ran, Workplace};

const OLD: &str = include_str!("old.c");
const NEW: &str = include_str!("new.c");

fn versions(old: &str, new: &str) -> Workplace {
    let at = Workplace::with(new);
    at.write("old.c", old);
    at
}

#[test]
fn functions_are_equal_or_differ_with_inputs_that_show_it() {
    let at = versions(OLD, NEW);
    let ran = at.run("diff old.c unit.c --time 60");
    assert_eq!(ran.code, Some(1), "{ran}");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/all/versions/diff.txt");
    if std::env::var_os("LYDIAN_BLESS").is_some() {
        std::fs::write(&golden, &ran.out).expect("the expected text can be written");
    }
    let expected = std::fs::read_to_string(&golden).expect("LYDIAN_BLESS=1 writes it");
    assert_eq!(ran.out, expected, "LYDIAN_BLESS=1 accepts it");
}

#[test]
fn the_c_program_of_a_difference_shows_it_with_either_version() {
    let at = versions(OLD, NEW);
    let ran =
        at.run("diff old.c unit.c -f above -f swap -f reading --tests found --json diff.json");
    assert_eq!(ran.code, Some(1), "{ran}");
    let json = at.json("diff.json");
    for function in json["functions"].as_array().expect("a list of functions") {
        let name = function["function"].as_str().expect("a name");
        let observed = &function["verdict"]["observed"][0];
        if observed["what"] == "calls of undefined functions" {
            continue;
        }
        for (version, file) in [("old", "old.c"), ("new", "unit.c")] {
            let shown = output(&at, name, file);
            let value = observed[version].as_str().expect("a value");
            let what = observed["what"].as_str().expect("a name");
            assert!(shown.contains(&format!("{what} = {value}\n")), "{name} {version}: {shown}");
        }
    }
}

/// The output of the program of a difference, built with a version.
fn output(at: &Workplace, name: &str, version: &str) -> String {
    let mut clang = Command::new("clang-19");
    let macros = format!("-DVERSION=\"{}\"", at.path(version).display());
    clang.args(["-w", &macros, "-o", "shown"]);
    clang.arg(format!("found/{name}_differs.c"));
    at.settle(&mut clang);
    let built = Ran::of(&mut clang);
    assert_eq!(built.code, Some(0), "{built}");
    let mut shown = Command::new(at.path("shown"));
    at.settle(&mut shown);
    Ran::of(&mut shown).out
}

#[test]
fn equal_versions_end_with_zero_whatever_their_lines_are() {
    let at = versions(
        "int f(int a)\n{\n    return a + 1;\n}\n",
        "/* moved */\n\n\nint f(int a) {  return a + 1; /* next */ }\n",
    );
    let ran = at.done("diff old.c unit.c");
    assert_eq!(ran.out, "f: equal, by its text\n1 function: 1 equal\n");
}

#[test]
fn a_variable_that_one_version_of_a_function_leaves_alone_is_compared() {
    let at = versions(
        "int x;\nint f(int a) { x = a; return a; }\nint g(void) { return x; }\n",
        "int x;\nint f(int a) { return a; }\nint g(void) { return x; }\n",
    );
    let ran = at.run("diff old.c unit.c");
    assert!(ran.out.contains("f: differs"), "{ran}");
    assert!(ran.out.contains("x: old"), "{ran}");
}

#[test]
fn a_variable_that_only_a_table_names_is_compared() {
    let text = "static int x, y;\nstatic int *const all[2] = { &x, &y };\n\
                void set(int a) { *all[a & 1] = VALUE; }\nint both(void) { return x + y; }\n";
    let at = versions(&text.replace("VALUE", "1"), &text.replace("VALUE", "2"));
    let ran = at.run("diff old.c unit.c");
    assert!(ran.out.contains("set: differs"), "{ran}");
    assert!(ran.out.contains(": old 1, new 2"), "{ran}");
}

#[test]
fn parts_of_types_that_a_function_does_not_use_make_no_difference() {
    let at = versions(
        "struct s { int a, b; };\nint f(struct s *p) { return p->a; }\n",
        "struct s { int a; long b; };\nint f(struct s *p) { return p->a; }\n",
    );
    let ran = at.done("diff old.c unit.c");
    assert!(ran.out.contains("f: equal, by its statements"), "{ran}");
}

#[test]
fn loops_without_a_bound_are_compared_by_proofs() {
    let at = versions(
        "unsigned f(unsigned n) { unsigned i = 0; while (i < n) i++; return i; }\n\
         unsigned g(unsigned n) { unsigned i = 0; while (i < n) i++; return i & 1; }\n",
        "unsigned f(unsigned n) { return n; }\n\
         unsigned g(unsigned n) { unsigned i = 0; while (i < n) i++; return i + 2 & 1; }\n",
    );
    let ran = at.done("diff old.c unit.c --time 8");
    for name in ["f", "g"] {
        let words = format!("{name}: equal, proved: no run tells the versions apart");
        assert!(ran.out.contains(&words), "{ran}");
    }
    assert!(ran.out.contains("if the new version ends where the old one does"), "{ran}");
}

#[test]
fn a_changed_table_and_a_changed_callee_are_differences() {
    let at = versions(
        "static const int t[3] = { 1, 2, 3 };\nstatic int g(int a) { return a; }\n\
         int f(int a) { return t[a & 1]; }\nint h(int a) { return g(a); }\n",
        "static const int t[3] = { 1, 7, 3 };\nstatic int g(int a) { return a & 7; }\n\
         int f(int a) { return t[a & 1]; }\nint h(int a) { return g(a); }\n",
    );
    let ran = at.run("diff old.c unit.c");
    assert_eq!(ran.code, Some(1), "{ran}");
    for name in ["f", "g", "h"] {
        assert!(ran.out.contains(&format!("{name}: differs")), "{ran}");
    }
}

#[test]
fn static_variables_leave_a_comparison_open_and_so_does_what_aborts_in_both_versions() {
    let at = versions(
        "void abort(void);\nint f(int a) { if (a == 3) abort(); return a; }\n\
         int g(void) { static int n; n++; return n > 5 ? 1 : 0; }\n",
        "void abort(void);\nint f(int a) { if (3 == a) abort(); return a + 0; }\n\
         int g(void) { static int n; n++; return n > 6 ? 1 : 0; }\n",
    );
    let ran = at.run("diff old.c unit.c");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.out.contains("f: unknown: some runs of the old version abort"), "{ran}");
    assert!(ran.out.contains("g: unknown: the versions are equal in the first call"), "{ran}");
}

#[test]
fn structs_with_pointers_unions_and_calls_with_any_arguments_are_compared() {
    let old = "struct node { struct node *next; int n; };\nint f(struct node *p) { return p->n; }\n\
         union u { int i; float f; };\nint g(union u *p) { return p->i; }\n\
         int printf(const char *, ...);\nint h(int a) { printf(\"%d\", a); return a; }\n\
         int k(int a) { printf(\"%d\", a); return a; }\n";
    let new = old.replace("p->n;", "p->n + 1;").replace("p->i;", "p->i + 1;");
    let new =
        new.replacen("return a;", "return a + 1;", 1).replacen("return a;", "return 1 * a;", 1);
    let at = versions(old, &new);
    let ran = at.run("diff old.c unit.c");
    assert_eq!(ran.code, Some(1), "{ran}");
    for name in ["f", "g", "h"] {
        assert!(ran.out.contains(&format!("{name}: differs")), "{ran}");
    }
    let between = "not supported: a comparison of what `printf` does in between";
    let open = format!("k: unknown: no difference was found, but not all was compared: {between}");
    assert!(ran.out.contains(&open), "{ran}");
}

#[test]
fn what_the_c_library_keeps_from_the_old_version_leaves_a_comparison_open() {
    let text =
        "#include <errno.h>\nint f(int a) { int old = errno; errno = a; return old BACK; }\n";
    let at = versions(&text.replace("BACK", ""), &text.replace("BACK", "+ 0 * a"));
    let ran = at.run("diff old.c unit.c");
    assert!(ran.out.contains("f: unknown: the C library's `__errno_location`"), "{ran}");
}

#[test]
fn no_proof_passes_over_what_may_trap_in_the_new_version_alone() {
    let text = |shift: &str, cast: &str, store: &str| {
        let count = "unsigned i = 0; while (i < n) i++;";
        format!(
            "int t[4];\n\
             unsigned shifts(unsigned n, unsigned s) {{ {count} {shift} return i; }}\n\
             unsigned casts(unsigned n, double d) {{ {count} {cast} return i; }}\n\
             unsigned stores(unsigned n) {{ {count} {store} return i; }}\n"
        )
    };
    let at = versions(
        &text("", "", ""),
        &text(
            "if (n == 77777) s = 1u << s;",
            "if (n == 77777) { int k = (int)d; d = k; }",
            "if (n == 77777) t[5] = 0;",
        ),
    );
    let ran = at.run("diff old.c unit.c --time 8");
    assert_eq!(ran.code, Some(1), "{ran}");
    for name in ["shifts", "casts", "stores"] {
        assert!(ran.out.contains(&format!("{name}: unknown: no difference was found")), "{ran}");
    }
}

#[test]
fn functions_that_are_not_supported_are_equal_only_by_their_text() {
    let text = "static int g(int a) { __float128 z = a; return z; }\nint f(int a) { return g(a); }\n\
                int other(int a) { return a; }\n";
    let at = versions(text, &text.replace("z = a;", "z = a; /* a */"));
    let ran = at.done("diff old.c unit.c");
    assert!(ran.out.contains("3 functions: 3 equal"), "{ran}");
    at.write("unit.c", &text.replace("z = a;", "z = a + 1;"));
    let ran = at.run("diff old.c unit.c");
    assert_eq!(ran.code, Some(1), "{ran}");
    for name in ["f", "g"] {
        let words = format!("{name}: unknown: `g` uses a construct that is not supported");
        assert!(ran.out.contains(&words), "{ran}");
    }
    assert!(ran.out.contains("other: equal, by its text"), "{ran}");
    at.write("unit.c", &text.replace("__float128", "int"));
    let ran = at.run("diff old.c unit.c");
    assert!(ran.out.contains("g: unknown: `g` uses a construct that is not supported"), "{ran}");
}

#[test]
fn a_callee_that_one_version_alone_defines_leaves_a_comparison_open() {
    let callee = "int g(int a) { return a + 1; }\n";
    let caller = "int g(int a);\nint f(int a) { return g(a); }\n";
    let at = versions(&format!("{callee}{caller}"), caller);
    let ran = at.run("diff old.c unit.c");
    assert!(ran.out.contains("f: unknown: one version alone defines `g`"), "{ran}");
    assert!(ran.out.contains("g: removed"), "{ran}");
}

#[test]
fn writes_of_volatile_memory_are_not_compared_by_their_last_value() {
    let at = versions(
        "volatile int port;\nvoid f(void) { port = 1; port = 2; }\n",
        "volatile int port;\nvoid f(void) { port = 2; }\n",
    );
    let ran = at.run("diff old.c unit.c");
    assert!(ran.out.contains("f: unknown: `f` writes volatile memory"), "{ran}");
    let text = |bits: &str, whole: &str| {
        format!(
            "struct s {{ int a : 3; int b; }};\nvolatile struct s p;\n\
             void bits(volatile struct s *p) {{ {bits} p->a = 2; }}\n\
             void whole(void) {{ struct s z = {{ 1, 2 }}; {whole} p = z; }}\n\
             int reads(void) {{ struct s z = p; {whole} return z.b; }}\n"
        )
    };
    let at = versions(&text("p->a = 1;", "z = p;"), &text("", ""));
    let ran = at.run("diff old.c unit.c");
    for name in ["bits", "whole", "reads"] {
        let words = format!("{name}: unknown: `{name}` accesses volatile bit-fields or structs");
        assert!(ran.out.contains(&words), "{ran}");
    }
}

#[test]
fn floats_are_passed_alike_if_both_are_nan_and_zeros_have_one_sign() {
    let at = versions(
        "void out(double d);\nvoid nan(double d) { out(d); }\n\
         void zero(int a) { out(a ? 1.0 : 0.0); }\n",
        "void out(double d);\nvoid nan(double d) { out(d != d ? d : d); }\n\
         void zero(int a) { out(a ? 1.0 : -0.0); }\n",
    );
    let ran = at.run("diff old.c unit.c");
    assert!(ran.out.contains("nan: equal, proved"), "{ran}");
    assert!(ran.out.contains("zero: differs"), "{ran}");
}

#[test]
fn results_behind_another_call_are_shown_only_if_native_runs_give_them() {
    let at = versions(
        "int in(int k);\n\
         int f(int a) { int r = in(a); if (r != 5) __builtin_unreachable(); return r; }\n\
         int g(int a) { return in(a); }\n",
        "int in(int k);\nint more(int k);\nint f(int a) { return in(a + 1); }\n\
         int g(int a) { int r = in(a); return r == 5 ? more(r) : r; }\n",
    );
    let ran = at.run("diff old.c unit.c");
    assert_eq!(ran.code, Some(1), "{ran}");
    assert!(ran.out.contains("f: differs") && ran.out.contains("g: differs"), "{ran}");
    assert!(ran.out.contains("calls of undefined functions: old 1 call, new 2 calls"), "{ran}");
    assert_eq!(ran.out.matches("result: ").count(), 1, "{ran}");
    assert!(ran.out.contains("result: old 5, new 0"), "{ran}");
}

#[test]
fn both_versions_run_natively_with_the_flags_of_the_new_one() {
    let at = Workplace::with("int f(int a) { return a + 2 * K; }\n");
    std::fs::create_dir(at.path("before")).expect("a folder can be made");
    at.write("before/old.c", "int f(int a) { return a + K; }\n");
    let folder = at.path("").display().to_string();
    let entry = |file: &str, flag: &str| {
        format!(
            "{{\"directory\": \"{folder}\", \"file\": \"{file}\", \
              \"arguments\": [\"cc\", \"{flag}\", \"-c\", \"{file}\"]}}"
        )
    };
    at.write("compile_commands.json", &format!("[{}]", entry("unit.c", "-DK=2")));
    for other in ["[]".to_owned(), format!("[{}]", entry("before/old.c", "-DK=4"))] {
        at.write("before/compile_commands.json", &other);
        let ran = at.run("diff before/old.c unit.c");
        assert_eq!(ran.code, Some(1), "{ran}");
        assert!(ran.out.contains("result: old 2, new 4"), "{ran}");
    }
}

#[test]
fn variables_with_static_in_their_names_are_shown_by_the_c_program() {
    let text = "int my_static_total;\nvoid f(int a) { my_static_total VALUE a; }\n";
    let at = versions(&text.replace("VALUE", "+="), &text.replace("VALUE", "-="));
    let ran = at.run("diff old.c unit.c --tests found");
    assert_eq!(ran.code, Some(1), "{ran}");
    for (file, value) in [("old.c", "1"), ("unit.c", "-1")] {
        let shown = output(&at, "f", file);
        assert!(shown.contains(&format!("my_static_total = {value}\n")), "{file}: {shown}");
    }
}

#[test]
fn runs_that_end_by_a_trap_instruction_are_a_difference_or_leave_a_comparison_open() {
    let old = "int f(int a) { if (a < 0) __builtin_trap(); return a; }\n";
    let at = versions(old, "int f(int a) { return a; }\n");
    let ran = at.run("diff old.c unit.c");
    let shown = "a = -1\n    the function: old ends by a trap instruction, new returns";
    assert!(ran.out.contains(shown), "{ran}");
    at.write("unit.c", &old.replace("a < 0", "a <= -1"));
    let ran = at.run("diff old.c unit.c");
    assert!(ran.out.contains("f: unknown: some runs of the old version end by a trap"), "{ran}");
}

#[test]
fn versions_that_cannot_be_read_are_named() {
    let at = versions("int f(int a) { return a }", "int f(int a) { return a; }");
    at.refused("diff old.c unit.c", 3, &["expected", "this is the old version"]);
    at.refused("diff unit.c old.c", 3, &["expected", "this is the new version"]);
    at.refused("diff none.c unit.c", 3, &["there is no file none.c"]);
    at.write("old.c", "int f(int a) { return a; }");
    at.refused("diff old.c unit.c -f g", 3, &["neither version defines `g`"]);
    at.write("old.c", "int x;");
    at.write("unit.c", "int x;");
    at.refused("diff old.c unit.c", 4, &["neither version defines a function"]);
}

const LIST: &str = "#include <stdlib.h>
struct list { struct list *next; int n; char *name; };
static struct list *first;
void put(struct list *l) { l->next = first; first = l; }
int sum(const struct list *l) { int all = 0; for (; l; l = l->next) all += l->n; return all; }
int second(const struct list *l) { if (l && l->next) return l->next->n; return 0; }
char *name_of(struct list *l) { if (!l) return NULL; return l->name; }
int use(struct list *l) { put(l); return second(first); }
";

/// The inputs have pointers in structs, and a variable leads to one.
#[test]
fn versions_with_pointers_in_structs_are_compared() {
    let new = LIST
        .replace(
            "if (l && l->next) return l->next->n; return 0;",
            "const struct list *next = l ? l->next : NULL; return next ? next->n : 0;",
        )
        .replace("return l->name;", "return l->n == 7 ? NULL : l->name;")
        .replace("first = l; }", "if (l->n != 3) first = l; }");
    let at = versions(LIST, &new);
    let ran = at.run("diff old.c unit.c --time 20 --tests found");
    assert_eq!(ran.code, Some(1), "{ran}");
    let of = |name: &str| {
        let rest = ran.out.split_once(&format!("{name}: ")).map_or("", |(_, rest)| rest);
        rest.split_once('\n').map_or(rest, |(line, _)| line)
    };
    assert!(of("second").starts_with("equal, proved"), "{ran}");
    assert_eq!(of("sum"), "equal, by its text");
    for differs in ["put", "name_of", "use"] {
        assert_eq!(of(differs), "differs", "{differs}: {ran}");
        let built = |version: &str| {
            let mut clang = Command::new("clang-19");
            let macros = format!("-DVERSION=\"{}\"", at.path(version).display());
            clang.args(["-w", &macros, "-o", "shown"]).arg(format!("found/{differs}_differs.c"));
            at.settle(&mut clang);
            let built = Ran::of(&mut clang);
            assert_eq!(built.code, Some(0), "{built}");
            let mut shown = Command::new("./shown");
            at.settle(&mut shown);
            Ran::of(&mut shown).code
        };
        assert_eq!((built("old.c"), built("unit.c")), (Some(0), Some(1)), "{differs}");
    }
}

#[test]
fn versions_whose_types_or_variables_differ_are_not_compared_on_common_inputs() {
    let unknown = |new: &str, reason: &str| {
        let at = versions(LIST, new);
        let ran = at.run("diff old.c unit.c -f put --time 20");
        assert!(ran.out.starts_with(&format!("put: unknown: {reason}\n")), "{ran}");
    };
    let members = LIST.replace("int n; char *name;", "char *name; int n;");
    let members = members.replace("first = l; }", "first = l; l->n = 2; }");
    unknown(&members, "`struct list` is another type in the two versions");
    let types = LIST.replace("*first;", "*first[2];").replace("= first;", "= *first;");
    let types = types.replace("first = l", "*first = l").replace("(first)", "(*first)");
    unknown(&types, "the variable `first` has another type");
}

#[test]
fn the_old_version_may_have_flags_and_headers_of_its_own() {
    let text = "#include \"limit.h\"\nint f(const int *a) { return *a > LIMIT; }\n";
    let at = versions(text, &format!("{text}int g(void) {{ return 1; }}\n"));
    for (folder, limit) in [("before", 10), ("now", 12)] {
        std::fs::create_dir(at.path(folder)).expect("a new folder");
        at.write(&format!("{folder}/limit.h"), &format!("#define LIMIT {limit}\n"));
    }
    let ran = at.run("diff old.c unit.c -f f --old-flag -Ibefore --tests found -- -Inow");
    assert!(ran.out.starts_with("f: differs\n"), "{ran}");
    let same = at.run("diff old.c unit.c -f f -- -Inow");
    assert_eq!(same.out, "f: equal, by its text\n1 function: 1 equal\n");
}

/// The table is the same in both versions, and leads to a row that is not.
#[test]
fn a_table_that_leads_to_changed_data_is_not_shared_by_the_versions() {
    let old = "struct list { struct list *next; int n; };\nstatic const int low[] = { 1, 2 };\n\
               static const int *const rows[] = { low, low + 1 };\n\
               int f(const struct list *l) { return rows[l->n & 1][0]; }\n";
    let at = versions(old, &old.replace("{ 1, 2 }", "{ 1, 3 }"));
    let ran = at.run("diff old.c unit.c -f f --time 20");
    assert!(ran.out.starts_with("f: differs\n"), "{ran}");
    let writable = |text: &str| text.replace("*const rows", "*rows");
    let at = versions(&writable(old), &writable(&old.replace("{ 1, 2 }", "{ 1, 3 }")));
    let ran = at.run("diff old.c unit.c -f f --time 20");
    let words = "f: unknown: the variable `rows` leads to `low`, which changed\n";
    assert!(ran.out.starts_with(words), "{ran}");
}

/// Tests in C are not confined, so no code runs in one that reaches out of the program where it is.
#[test]
fn a_version_that_reaches_out_of_the_program_does_so_in_no_test_of_differences() {
    let at = versions(LIST, LIST);
    let begins = format!(
        "static void begin(void)\n{{\n    static const char name[] = \"{}\";\n    long made;\n    __asm__ \
         volatile(\"syscall\" : \"=a\"(made)\n        : \"0\"(85L), \"D\"(name), \"S\"(0600L) : \"rcx\", \
         \"r11\", \"memory\");\n}}\n",
        at.path("made").display()
    );
    let declared = "static void begin(void);\n";
    let new = LIST.replace(
        "return l->name;",
        "if (l->n == 7) begin();\n    return l->n == 7 ? NULL : l->name;",
    );
    at.write("unit.c", &format!("{declared}{new}{begins}"));
    let ran = at.run("diff old.c unit.c -f name_of --time 20");
    assert!(ran.out.starts_with("name_of: unknown: `begin` has inline assembly\n"), "{ran}");
    assert!(!at.path("made").exists(), "{ran}");
    // What runs before `main` in one of them does not run at all.
    let new = LIST.replace("return l->name;", "return l->n == 7 ? NULL : l->name;");
    at.write("unit.c", &format!("{new}__attribute__((constructor)) {begins}"));
    let ran = at.run("diff old.c unit.c -f name_of --time 20");
    assert!(ran.out.starts_with("name_of: differs\n"), "{ran}");
    assert!(!at.path("made").exists(), "{ran}");
}

/// Ends of the program: by `exit` with two statuses, by `abort`, and never.
const ENDS: &str = "\
void exit(int);
void abort(void);
int leaves(int a)
{
    if (a > 1000 && a < 2000)
        STATUS;
    return a;
}
int gives_up(unsigned a)
{
    if (a > 5)
        UP;
    return 0;
}
unsigned turns(unsigned a)
{
    unsigned n = 0;
    while (LEFT)
        n = n < 9 ? n + 1 : n;
    return n;
}
";

#[test]
fn the_ends_of_a_version_are_differences_with_plain_inputs() {
    let of = |status: &str, up: &str, left: &str| {
        ENDS.replace("STATUS", status).replace("UP", up).replace("LEFT", left)
    };
    let at = versions(&of("exit(2)", "abort()", "n < 5"), &of("exit(3)", "return 1", "n < a + 5"));
    let ran = at.run("diff old.c unit.c --time 10");
    assert_eq!(ran.code, Some(1), "{ran}");
    for shown in [
        "the function: old exits with status 2, new exits with status 3",
        "the function: old aborts, new returns",
        "a = 1001",
        "a = 6",
    ] {
        assert!(ran.out.contains(shown), "{shown}: {ran}");
    }
    let back = at.run("diff unit.c old.c --time 10");
    for shown in [
        "the function: old exits with status 3, new exits with status 2",
        "the function: old returns, new aborts",
    ] {
        assert!(back.out.contains(shown), "{shown}: {back}");
    }
}

#[test]
fn inputs_of_differences_are_plain() {
    let old = "struct s { int *p; int n, m; };\n\
        int f(int a, int b, int c) { return a > 100 && b > a ? 1 : 0; }\n\
        int g(struct s *s) { return s->p ? *s->p + s->n : 0; }\n";
    let new = old.replace("b > a ?", "b > a + 1 ?").replace("*s->p + s->n", "*s->p + s->n + 1");
    let at = versions(old, &new);
    let ran = at.run("diff old.c unit.c --time 10");
    assert_eq!(ran.code, Some(1), "{ran}");
    for shown in ["a = 101", "b = 102", "c = 0"] {
        assert!(ran.out.contains(shown), "{shown}: {ran}");
    }
}
