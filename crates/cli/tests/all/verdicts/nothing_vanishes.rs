//! Functions with what is not supported: they are measured for what their text allows, and counted as
//! not measured for the rest. Figures are worked out by hand, and are those of clang's coverage where
//! that has the criterion.

use crate::common::Workplace;
use crate::common::wrapped::{built, counts, coverage, shell};

/// Nothing that is done with these types is supported.
const WIDE: &str = r"
__float128 limit = 3;
static int choose(int a, int b, __float128 x)
{
    __float128 y = x + 1;
    int r = 0;
    if (a > 0 && b < 3)
        y = a == 2 ? y : (b ? x : y * 2);
    else
        r = 2;
    if (y > limit || a == 7)
        r++;
    do {
        y = y + 1;
        r += y > 9 && r < 4;
    } while (y < 8);
    switch ((int)y) {
    case 9: return 1;
    case 8: r = ({ int t = a; if (t) t = 5; t; });
    }
    return r + (int)y;
}
static int narrow(int a) { return a > 3 ? 1 : 2; }
int main(void)
{
    narrow(1);
    choose(1, 0, 2);
    choose(0, 0, 1);
    return 0;
}
";

#[test]
fn a_function_of_an_unsupported_type_has_all_its_statements_and_decisions() {
    for compiler in ["clang-19", "gcc", "gcc -O2"] {
        let at = Workplace::with(WIDE);
        let ran = built(&at, "-c stmt,bc,mcdc,all-uses", &format!("{compiler} -w unit.c -o unit"));
        ran.says(
            0,
            &["warning[not-measured]", "`choose` is not measured for all-uses", "unit.c:5"],
        );
        assert_eq!(shell(&at, "./unit").code, Some(0));
        let found = coverage(&at);
        // All but `return 1`.
        assert_eq!(counts(&found, "choose", "stmt"), (18, 17), "{compiler}");
        assert_eq!(counts(&found, "choose", "bc"), (23, 14), "{compiler}");
        assert_eq!(counts(&found, "narrow", "bc"), (2, 1), "{compiler}");
        assert_eq!(counts(&found, "choose", "all-uses"), (1, 0), "{compiler}");
        at.refused(
            "report --fail-under all-uses=1",
            1,
            &["all-uses is not measured of 2 functions", "`choose` (unit.c:3)", "lydian-justify"],
        );
        at.done("report --fail-under stmt=90");
    }
}

#[test]
fn a_comment_excuses_a_function_that_is_not_measured() {
    let text = "__attribute__((naked)) int bare(void) { __asm__(\"ret\"); } // lydian-justify stmt: assembly\n\
                int main(void) { return 0; }\n";
    let at = Workplace::with(text);
    built(&at, "-c stmt", "clang-19 unit.c -o unit").says(0, &["`bare` is not measured"]);
    assert_eq!(shell(&at, "./unit").code, Some(0));
    at.done("report --fail-under stmt=100");
    at.write("unit.c", &text.replace("// lydian-justify stmt: assembly", ""));
    // It is said each time that the file itself is compiled.
    built(&at, "-c stmt", "clang-19 unit.c -o unit").says(0, &["`bare` is not measured"]);
    assert_eq!(shell(&at, "./unit").code, Some(0));
    at.refused("report --fail-under stmt=50", 1, &["`bare` (unit.c:1)", "naked"]);
    assert_eq!(counts(&coverage(&at), "bare", "stmt"), (1, 0));
}

#[test]
fn a_file_that_is_compiled_as_it_is_fails_a_threshold() {
    let at = Workplace::with("int main(void) { extern int g(int); return g(0); }\n");
    // Clang refuses an array of variable length in a struct.
    let text = "int g(int b) { struct { int a[b + 1]; } s; s.a[b] = 0; return s.a[b]; }\n";
    at.write("sized.c", text);
    let ran = built(&at, "-c stmt", "gcc unit.c sized.c -o unit");
    ran.says(0, &["sized.c is compiled as it is"]);
    assert_eq!(shell(&at, "./unit").code, Some(0));
    at.refused("report --fail-under stmt=1", 1, &["one file is compiled as it is", "sized.c"]);
}

#[test]
fn intrinsics_are_measured_with_and_without_optimisation() {
    let text = r"
#include <immintrin.h>
static int mix(const unsigned char *in, int n)
{
    __m128i v = _mm_loadu_si128((const __m128i *)in);
    for (int i = 0; i < n; i++) {
        v = _mm_xor_si128(v, _mm_slli_si128(v, 4));
        v = _mm_aeskeygenassist_si128(v, 0x10);
        _mm_prefetch((const char *)in, _MM_HINT_T0);
        if (_mm_movemask_epi8(v) == 0 && n > 16)
            return -1;
    }
    return _mm_extract_epi16(v, 0) > 0 ? n : -n;
}
int main(void)
{
    unsigned char a[16] = {1, 2, 3};
    mix(a, 2);
    return 0;
}
";
    for compiler in ["gcc -O0", "gcc -O2", "clang-19 -O0", "clang-19 -O2"] {
        let at = Workplace::with(text);
        built(&at, "-c stmt,bc", &format!("{compiler} -maes -msse4.1 unit.c -o unit"));
        assert_eq!(shell(&at, "./unit").code, Some(0));
        let found = coverage(&at);
        assert_eq!(counts(&found, "mix", "stmt").0, 10, "{compiler}");
        assert_eq!(counts(&found, "mix", "bc").0, 8, "{compiler}");
    }
}

#[test]
fn text_of_other_files_is_on_the_lines_of_these_files() {
    let text = "int f(int a, int b)\n{\n    int r = 0;\n#line 7 \"gram.y\"\n\
                \x20   if (a > 1 && b) r = 1;\n    r += 2;\n#line 6 \"unit.c\"\n#include \"body.inc\"\n\
                \x20   return r;\n}\nint main(void) { return f(2, 1) != 2; }\n";
    for compiler in ["gcc", "clang-19"] {
        let at = Workplace::with(text);
        at.write("gram.y", "%%\nr: ;\n%%\n\n\n\n    if (a > 1 && b) r = 1;\n    r += 2;\n");
        at.write("body.inc", "/* a\n   licence */\nif (r > 5)\n    r++;\nelse\n    r--;\n");
        built(&at, "-c stmt,bc", &format!("{compiler} unit.c -o unit"));
        assert_eq!(shell(&at, "./unit").code, Some(0));
        at.done("report --lcov all.info");
        let records = at.read("all.info");
        let of = |file: &str| -> Vec<String> {
            let own =
                records.split("SF:").find(|part| part.lines().next().unwrap().ends_with(file));
            let lines = own.unwrap_or_else(|| panic!("{records}")).lines();
            lines.filter(|line| line.starts_with("DA:")).map(str::to_owned).collect()
        };
        assert_eq!(of("gram.y"), ["DA:7,1", "DA:8,1"], "{compiler}");
        assert_eq!(of("body.inc"), ["DA:3,1", "DA:4,0", "DA:6,1"], "{compiler}");
        assert_eq!(of("unit.c"), ["DA:1,1", "DA:3,1", "DA:7,1", "DA:9,1"], "{compiler}");
        assert_eq!(records.matches("FN:").count(), 2, "{records}");
    }
}

/// A function that begins with a macro of a system header, whose tokens gcc marks as that header's.
#[test]
fn functions_that_begin_with_a_macro_of_the_system_are_measured() {
    let gap = "/*\n".to_owned() + &"\n".repeat(12) + "*/\n";
    let text = format!(
        "#include <stdbool.h>\n#include <limits.h>\n{gap}bool\none(int n)\n{{\n    return n > 1;\n}}\n\
         {gap}bool two(void) {{ return true; }}\n{gap}int main(void) {{ return one(INT_MAX) && two() ? 0 : 1; }}\n"
    );
    for compiler in ["gcc", "gcc -save-temps", "clang-19"] {
        let at = Workplace::with(&text);
        built(&at, "-c stmt", &format!("{compiler} -c unit.c -o unit.o"));
        built(&at, "-c stmt", &format!("{compiler} unit.o -o unit"));
        assert_eq!(shell(&at, "./unit").code, Some(0));
        let found = coverage(&at);
        for name in ["one", "two", "main"] {
            assert_eq!(counts(&found, name, "stmt"), (1, 1), "{name}, {compiler}");
        }
    }
}

/// gcc puts line markers into the expansion of `offsetof`.
#[test]
fn offsets_of_members_are_measured_in_macros_and_with_definitions_and_indices() {
    let text = "#include <stddef.h>\nstruct block { char kind; long data[1]; };\n#define SIZE(n) \
                ((int)offsetof(struct block, data) + (n))\nstatic int size(int n) { int s = SIZE(n); return \
                s; }\nstatic int align(void) { int a = offsetof(struct { char c; short s; }, s); return a; \
                }\nstatic int end(int n) { int e = offsetof(struct block, data[n]); return e; }\n\
                int main(void) { return size(1) + align() + end(2) - 35; }\n";
    for compiler in ["gcc", "gcc -O2", "clang-19"] {
        let at = Workplace::with(text);
        let ran = built(&at, "-c all-uses", &format!("{compiler} unit.c -o unit"));
        assert_eq!(ran.err, "", "{compiler}");
        assert_eq!(shell(&at, "./unit").code, Some(0));
        let found = coverage(&at);
        assert_eq!(counts(&found, "size", "all-uses"), (2, 2), "{compiler}");
        assert_eq!(counts(&found, "align", "all-uses"), (1, 1), "{compiler}");
        assert_eq!(counts(&found, "end", "all-uses"), (2, 2), "{compiler}");
    }
}

const NESTED: &str = r"
static int apply(int (*f)(int), int v) { return f(v); }
static int outer(int k, int v)
{
    int calls = 0;
    auto int add(int x);
    int add(int x)
    {
        calls++;
        if (x > 3 && k)
            return x + k;
        return x;
    }
    if (v > 2 || k)
        v = apply(add, v);
    return v + add(1) + calls;
}
int main(void) { return outer(1, 5) + outer(0, 1) - 12; }
";

#[test]
fn a_nested_function_of_gcc_is_not_measured_and_the_one_around_it_is() {
    for level in ["-O0", "-O2"] {
        let at = Workplace::with(NESTED);
        let ran = built(&at, "-c stmt,bc,all-uses", &format!("gcc {level} -w unit.c -o unit"));
        ran.says(0, &["warning[not-measured]", "a nested function is not supported"]);
        assert_eq!(shell(&at, "./unit").code, Some(0), "{level}");
        let found = coverage(&at);
        // What is around it: `calls`, the decision, `v = …`, `return`.
        assert_eq!(counts(&found, "outer", "stmt"), (4, 4), "{level}");
        assert_eq!(counts(&found, "outer", "bc"), (4, 3), "{level}");
        assert_eq!(counts(&found, "outer", "all-uses"), (1, 0), "{level}");
        assert_eq!(counts(&found, "apply", "stmt"), (1, 1), "{level}");
        // All that is asked of it is not measured.
        assert_eq!(counts(&found, "add", "stmt"), (1, 0), "{level}");
    }
}
