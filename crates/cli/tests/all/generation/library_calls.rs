//! What functions of the C library do where a function that calls them is explored: each test runs with
//! the system's library, so that it confirms or contradicts what Lydian's own says.

use std::process::Command;

use crate::common::{Ran, Workplace, figures};

/// With inputs that are planned, and with inputs that come into being.
const SETTINGS: [&str; 2] = ["lazy-inputs = false\n", "lazy-inputs = true\n"];

/// Generates tests for a text under both settings. Of the functions all branches and MC/DC are covered, but
/// for so many of both that are infeasible.
fn decided(text: &str, functions: &[(&str, [u64; 2])]) {
    SETTINGS.iter().for_each(|settings| decided_with(settings, text, functions));
}

fn decided_with(settings: &str, text: &str, functions: &[(&str, [u64; 2])]) {
    let place = generated(text, settings);
    let table = place.json("t.json");
    for (function, infeasible) in functions {
        for (criterion, infeasible) in ["bc", "mcdc"].into_iter().zip(infeasible) {
            let [all, covered, proved, _, unknown] = figures(&table, function, criterion);
            assert_eq!(
                (covered, proved, unknown),
                (all - infeasible, *infeasible, 0),
                "{function}, {criterion}, {settings}: {table:#}"
            );
        }
    }
}

/// A folder in which tests for a text were made.
fn generated(text: &str, settings: &str) -> Workplace {
    let place = Workplace::with(text);
    place.write("lydian.toml", settings);
    let ran = place.done("gen unit.c -c bc,mcdc --time 60 --json t.json");
    assert!(!ran.err.contains("contradiction"), "{settings}: {ran}");
    place
}

/// Compiles the suite that was made and runs it.
fn suite_passes(place: &Workplace) -> String {
    let mut compiler = Command::new("cc");
    place.settle(compiler.args(["-w", "tests/tests.c", "-o", "suite"]));
    let ran = Ran::of(&mut compiler);
    assert_eq!(ran.code, Some(0), "{ran}");
    let mut suite = Command::new(place.path("suite"));
    place.settle(suite.env("HOME", "/home/of/whoever/runs/this"));
    let ran = Ran::of(&mut suite);
    assert_eq!(ran.code, Some(0), "{ran}");
    ran.out
}

#[test]
fn two_numbers_that_sscanf_reads_are_compared() {
    let text = r#"
        #include <stdio.h>
        int f(const char *s) {
            int a, b;
            if (sscanf(s, "%d %d", &a, &b) == 2 && a > b) return 1;
            return 0;
        }"#;
    decided(text, &[("f", [0, 0])]);
}

#[test]
fn conversions_of_sscanf_have_their_widths_sizes_and_sets() {
    let text = r#"
        #include <stdio.h>
        int hex(const char *s) {
            unsigned x; int n = 0;
            if (sscanf(s, "%x%n", &x, &n) == 1 && n == 3 && x == 0x1f) return 1;
            return 0;
        }
        int words(const char *s) {
            char w[8]; char c;
            if (sscanf(s, "%7s %c", w, &c) == 2) { if (w[0] == 'k' && c == ';') return 2; return 1; }
            return 0;
        }
        int any(const char *s) {
            int v, n = sscanf(s, "%i", &v);
            if (n == EOF) return -1;
            if (n == 0) return 0;
            if (v == 16 && s[0] == '0') return 2;
            return 1;
        }
        int percent(const char *s) {
            int v;
            if (sscanf(s, "%2d%%", &v) == 1 && v > 98) return 1;
            return 0;
        }"#;
    decided(text, &[("hex", [0, 0]), ("words", [0, 0]), ("any", [0, 0]), ("percent", [0, 0])]);
}

#[test]
fn a_set_a_short_and_a_double_are_read_by_sscanf() {
    let text = r#"
        #include <stdio.h>
        int key(const char *s) {
            char k[8]; long v;
            if (sscanf(s, "%7[a-z]=%ld", k, &v) != 2) return -1;
            if (v < 0) return 1;
            return 0;
        }
        int small(const char *s) {
            signed char h;
            if (sscanf(s, "%hhd", &h) == 1 && h == -5) return 1;
            return 0;
        }
        int real(const char *s) {
            double d;
            if (sscanf(s, "%lf", &d) == 1 && d > 2.5) return 1;
            return 0;
        }"#;
    decided(text, &[("key", [0, 0]), ("small", [0, 0]), ("real", [0, 0])]);
}

#[test]
fn strtol_sets_its_end_and_the_error_number() {
    let text = r#"
        #include <stdlib.h>
        #include <errno.h>
        int f(const char *s) {
            char *end; long v;
            errno = 0;
            v = strtol(s, &end, 10);
            if (errno == ERANGE) return -1;
            if (end == s) return -2;
            if (*end) return -3;
            if (v < 0 || v > 100) return 1;
            return 0;
        }"#;
    decided(text, &[("f", [0, 0])]);
}

#[test]
fn what_no_text_gives_is_infeasible_however_long_texts_are() {
    let text = r#"
        #include <stdlib.h>
        #include <string.h>
        #include <errno.h>
        int ends(const char *s) {
            char *end; long v = strtol(s, &end, 10);
            if (end == NULL) return 1;
            return v > 5 ? 2 : 3;
        }
        int small(const char *s) {
            errno = 0;
            long v = strtol(s, NULL, 10);
            if (v < 0 || v > 255) return 1;
            if (errno) return 2;
            return 3;
        }
        int blanks(const char *s) {
            if (strspn(s, " ") >= (size_t)1 << 40) return 1;
            return s[0] == ' ' ? 2 : 3;
        }
        int colon(const char *s) {
            const char *c = strchr(s, ':');
            if (c == s + 2) return 1;
            return c == s - 1 ? 2 : 3;
        }
        int last(const char *s) {
            const char *c = strrchr(s, '/');
            if (!c) return 3;
            return c < s ? 1 : 2;
        }
        int found(const char *s) {
            const char *c = strstr(s, "ab");
            if (!c) return 3;
            return c < s ? 1 : 2;
        }"#;
    let functions = ["ends", "small", "blanks", "colon", "last", "found"];
    decided_with(SETTINGS[1], text, &functions.map(|function| (function, [1, 1])));
}

#[test]
fn numbers_are_read_in_any_base_without_an_end_and_from_no_digits() {
    let text = r#"
        #include <stdlib.h>
        #include <errno.h>
        int base0(const char *s) {
            char *end;
            unsigned long v = strtoul(s, &end, 0);
            if (v == 31 && s[1] == 'x') return 1;
            if (v == 8 && s[0] == '0') return 2;
            return *end ? 3 : 0;
        }
        int null(const char *s) { if (strtoll(s, NULL, 16) == -255) return 1; return 0; }
        int base(const char *s, int b) {
            errno = 0;
            long v = strtol(s, NULL, b);
            if (errno == EINVAL) return 1;
            if (v > 7) return 2;
            return 0;
        }
        int port(const char *s) {
            int p = atoi(s);
            if (p <= 0 || p > 65535) return -1;
            if (p == 80) return 1;
            return 0;
        }
        int longs(const char *s) { if (atol(s) == 42 || atoll(s) == -7) return 1; return 0; }
        int empty(const char *s) {
            if (*s) return 0;
            char *e;
            strtol(s, &e, 10);
            if (e != s) return 2;
            return 1;
        }"#;
    let all = ["base0", "null", "base", "port", "longs"].map(|name| (name, [0, 0]));
    decided(text, &[&all[..], &[("empty", [1, 1])]].concat());
}

#[test]
fn doubles_are_read_with_their_ends_and_without() {
    let text = r#"
        #include <stdlib.h>
        int sign(const char *s) {
            double d = atof(s);
            if (d > 100.0) return 1;
            if (d < -3.0) return 2;
            return 0;
        }
        int special(const char *s) {
            char *end;
            double d = strtod(s, &end);
            if (end == s) return -1;
            if (d > 1e300) return 1;
            if (d != d) return 2;
            return 0;
        }"#;
    decided(text, &[("sign", [0, 0]), ("special", [0, 0])]);
}

#[test]
fn the_error_number_at_the_start_is_an_input_that_can_be_changed() {
    let text = r#"
        #include <errno.h>
        int f(void) { if (errno == EINTR) return 1; errno = 3; if (errno != 3) return 4; return 2; }
        "#;
    decided(text, &[("f", [1, 1])]);
    let place = generated(text, SETTINGS[0]);
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("errno = 4;"), "{suite}");
    assert!(suite_passes(&place).contains("2 tests, 0 failed"));
}

#[test]
fn an_allocation_that_fails_sets_the_error_number() {
    let text = r#"
        #include <errno.h>
        #include <stdlib.h>
        #include <string.h>
        int allocate(size_t n) {
            if (n > 64) return 5;
            errno = 0;
            char *p = malloc(n);
            if (!p) { if (errno == ENOMEM) return 1; return 2; }
            free(p);
            return 0;
        }
        int copy(const char *s) {
            errno = 0;
            char *d = strdup(s);
            if (errno == ENOMEM) return 1;
            free(d);
            return 0;
        }"#;
    decided(text, &[("allocate", [1, 1]), ("copy", [0, 0])]);
    suite_passes(&generated(text, SETTINGS[0]));
}

#[test]
fn that_other_functions_leave_the_error_number_alone_is_assumed() {
    let place = generated(
        r#"
        #include <errno.h>
        #include <math.h>
        #include <stdio.h>
        int printed(int n) { errno = 0; if (printf("%d", n) < 0 && errno == EIO) return 1; return 0; }
        int root(double x) { errno = 0; double y = sqrt(x); if (errno) return 1; return y > 2; }"#,
        SETTINGS[0],
    );
    let table = place.json("t.json");
    for function in ["printed", "root"] {
        let [_, _, infeasible, ..] = figures(&table, function, "bc");
        assert_eq!(infeasible, 0, "{table:#}");
    }
}

#[test]
fn a_variable_of_the_environment_is_missing_or_any_text_and_stays_the_same() {
    let text = r#"
        #include <stdlib.h>
        #include <string.h>
        int f(void) {
            const char *a = getenv("HOME"), *b = getenv("HOME");
            if (a != b) return 9;
            if (!a) return 0;
            if (strcmp(a, "/r") == 0) return 1;
            const char *p = getenv("OTHER");
            if (p && *p == 0) return 2;
            return 3;
        }
        static const char *const names[] = {"A", "B"};
        int both(void) {
            int k = 0;
            for (int i = 0; i < 2; i++) {
                char *v = getenv(names[i]);
                if (v && strlen(v) > 2) k++;
            }
            if (k == 2) return 1;
            return 0;
        }
        int none(void) { if (getenv("")) return 1; if (getenv("A=B")) return 2; return 0; }"#;
    decided(text, &[("f", [1, 1]), ("both", [0, 0]), ("none", [2, 2])]);
    let place = generated(text, SETTINGS[0]);
    let suite = place.read("tests/tests.c");
    for set in ["lydian_setenv(\"HOME\", \"/r\", 1);", "lydian_unsetenv(\"HOME\");"] {
        assert!(suite.contains(set), "{suite}");
    }
    suite_passes(&place);
    let again = place.done("cover unit.c --tests tests -c bc --json c.json");
    assert!(!again.err.contains("error"), "{again}");
    assert_eq!(figures(&place.json("c.json"), "both", "bc")[1], 8, "{again}");
}

#[test]
fn what_is_sorted_is_in_order_and_what_is_searched_is_found_or_not() {
    let text = r#"
        #include <stdlib.h>
        static int cmp(const void *a, const void *b) {
            int x = *(const int *)a, y = *(const int *)b;
            return x < y ? -1 : x > y;
        }
        int ends(int *a, size_t n) {
            if (n < 2 || n > 3) return -1;
            qsort(a, n, sizeof *a, cmp);
            if (a[0] == 3 && a[n - 1] == 7) return 1;
            if (a[0] > a[1]) return 2;
            return 0;
        }
        int find(int key) {
            static const int t[] = {1, 3, 5, 9};
            const int *p = bsearch(&key, t, 4, sizeof *t, cmp);
            if (!p) return -1;
            if (p - t == 2) return 5;
            return 0;
        }
        int none(int key) {
            int t[1] = {4};
            if (bsearch(&key, t, 0, sizeof *t, cmp)) return 1;
            return 0;
        }"#;
    decided(text, &[("find", [0, 0]), ("none", [1, 1])]);
    // Two compared elements may be further from the array's start than was tried.
    let place = generated(text, SETTINGS[1]);
    let table = place.json("t.json");
    assert_eq!(figures(&table, "ends", "bc"), [10, 9, 1, 0, 0], "{table:#}");
}

#[test]
fn a_large_array_is_sorted_without_an_allocation_of_the_programs() {
    let text = r#"
        #include <stdlib.h>
        struct item { int key; char rest[196]; };
        static int cmp(const void *a, const void *b) {
            return ((const struct item *)a)->key - ((const struct item *)b)->key;
        }
        int f(int first) {
            struct item items[2] = {{.key = first}, {.key = 5}};
            qsort(items, 2, sizeof *items, cmp);
            char *p = malloc(4);
            if (!p) return -1;
            free(p);
            if (items[0].key == 5) return 1;
            return 0;
        }"#;
    decided(text, &[("f", [0, 0])]);
}
