//! Each model of a library function equals a loop in C that does the same.
//!
//! Every function of the programs below calls a library function, compares the result with its own
//! computation, and aborts where they differ. No path aborts, nothing is cut, and the interpreter,
//! which has models of its own, ends every generated test in the same way.

use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest};
use lydian_inputs::Settings;
use lydian_ir::TrapKind;
use lydian_ir::interp::{End, Options, Silent, run};
use lydian_symex::Ending;

use crate::common::{self, explore_program, plain};

const HEAD: &str = r#"
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
struct two { char a[3], b[3]; unsigned char n, c; };
#define CHECK(condition) do { if (!(condition)) abort(); } while (0)
#define TEXTS char a[4] = { t.a[0], t.a[1], t.a[2], 0 }, b[4] = { t.b[0], t.b[1], t.b[2], 0 }
static int sign(int x) { return x < 0 ? -1 : x > 0; }
"#;

/// Explores every function of a program whose name begins with `check_`.
fn check(text: &str) {
    let dir = tempfile::tempdir().expect("a directory for the source");
    let path = dir.path().join("checks.c");
    std::fs::write(&path, format!("{HEAD}{text}")).expect("the source can be written");
    let request = LoadRequest::new(ParseRequest::new(path, CompileFlags::default()));
    let unit = lydian_frontend::load(&request).unwrap_or_else(|error| panic!("{error}"));
    let missing: Vec<_> = unit.diagnostics.iter().map(|found| &found.message).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let defined = unit.program.defined();
    let names: Vec<String> = defined.map(|(_, function)| function.name.clone()).collect();
    let names: Vec<_> = names.iter().filter(|name| name.starts_with("check_")).collect();
    assert!(!names.is_empty());
    for name in names {
        let program = unit.program.clone();
        let settings = Settings::default();
        let found = explore_program(program, &unit.source, name, &[], &plain(), settings);
        let summary = &found.summary;
        assert!(summary.complete, "{name}: {:?}", summary.cuts);
        let aborted = summary.paths.get(&Ending::Trapped(TrapKind::Abort));
        assert_eq!(aborted, None, "{name}: {:?}", found.tests);
        assert!(!found.tests.is_empty(), "{name}");
        for test in &found.tests {
            let outcome = run(&found.program, &test.test, &Options::default(), &mut Silent);
            let outcome = outcome.unwrap_or_else(|error| panic!("{name}: {error}"));
            let expected = match test.ending {
                Ending::Returned => End::Returned,
                Ending::Trapped(kind) => End::Trapped(kind),
                ref other => panic!("{name}: {other}"),
            };
            assert_eq!(outcome.end, expected, "{name}: {:?}", test.test);
        }
    }
}

#[test]
fn lengths_and_comparisons_are_those_of_loops() {
    check(
        r#"
void check_strlen(struct two t) {
    TEXTS; (void)b;
    size_t n = 0;
    while (a[n]) n++;
    CHECK(strlen(a) == n);
}
void check_strlen_of_what_may_not_end(struct two t) {
    size_t n = strlen(t.a + 3);
    CHECK(n < 5 && ((char *)&t)[3 + n] == 0);
}
void check_strnlen(struct two t) {
    TEXTS; (void)b;
    size_t n = 0;
    while (n < t.n && a[n]) n++;
    CHECK(strnlen(a, t.n) == n);
}
static int difference(const char *x, const char *y, size_t limit, int text, int fold) {
    for (size_t i = 0; i < limit; i++) {
        unsigned char p = x[i], q = y[i];
        if (fold && p >= 'A' && p <= 'Z') p += 32;
        if (fold && q >= 'A' && q <= 'Z') q += 32;
        if (p != q) return p < q ? -1 : 1;
        if (text && p == 0) return 0;
    }
    return 0;
}
void check_strcmp(struct two t) {
    TEXTS;
    CHECK(sign(strcmp(a, b)) == difference(a, b, 9, 1, 0));
}
void check_strncmp(struct two t) {
    TEXTS;
    CHECK(sign(strncmp(a, b, t.n)) == difference(a, b, t.n, 1, 0));
}
void check_strcasecmp(struct two t) {
    char a[3] = { t.a[0], t.a[1] }, b[3] = { t.b[0], t.b[1] };
    CHECK(sign(strcasecmp(a, b)) == difference(a, b, 9, 1, 1));
}
void check_strncasecmp(struct two t) {
    char a[3] = { t.a[0], t.a[1] }, b[3] = { t.b[0], t.b[1] };
    CHECK(sign(strncasecmp(a, b, t.n)) == difference(a, b, t.n, 1, 1));
}
void check_memcmp(struct two t) {
    if (t.n > 3) return;
    CHECK(sign(memcmp(t.a, t.b, t.n)) == difference(t.a, t.b, t.n, 0, 0));
    CHECK(!memcmp(t.a, t.b, 2) == (difference(t.a, t.b, 2, 0, 0) == 0));
}
void check_memcmp_beyond_the_end(struct two t) {
    char a[2] = { t.a[0], t.a[1] };
    CHECK(memcmp(a, t.b, t.n) != 0 || t.n <= 2);
}
"#,
    );
}

#[test]
fn searches_are_those_of_loops() {
    check(
        r#"
void check_memchr(struct two t) {
    if (t.n > 3) return;
    char *found = 0;
    for (int i = 0; i < t.n && !found; i++)
        if (t.a[i] == (char)t.c) found = &t.a[i];
    CHECK(memchr(t.a, t.c, t.n) == found);
}
void check_strchr(struct two t) {
    TEXTS; (void)b;
    char *found = 0, *last = 0;
    for (int i = 0; ; i++) {
        if (a[i] == (char)t.c) { last = &a[i]; if (!found) found = last; }
        if (!a[i]) break;
    }
    CHECK(strchr(a, t.c) == found);
    CHECK(strrchr(a, t.c) == last);
}
static int has(const char *set, char c) {
    for (; *set; set++) if (*set == c) return 1;
    return 0;
}
void check_spans(struct two t) {
    char a[4] = { t.a[0], t.a[1], t.a[2] }, b[3] = { t.b[0], t.b[1] };
    size_t in = 0, out = 0;
    while (a[in] && has(b, a[in])) in++;
    while (a[out] && !has(b, a[out])) out++;
    CHECK(strspn(a, b) == in);
    CHECK(strcspn(a, b) == out);
    CHECK(strpbrk(a, b) == (a[out] ? a + out : 0));
}
void check_strstr(struct two t) {
    char a[4] = { t.a[0], t.a[1], t.a[2] }, b[3] = { t.b[0], t.b[1] };
    char *found = 0;
    for (int i = 0; !found; i++) {
        int j = 0;
        while (b[j] && a[i + j] == b[j]) j++;
        if (!b[j]) found = &a[i];
        if (!a[i]) break;
    }
    CHECK(strstr(a, b) == found);
}
void check_a_late_character(struct two t) {
    char long_text[101];
    for (int i = 0; i < 100; i++) long_text[i] = 'x';
    long_text[100] = 0;
    if (t.n >= 100) return;
    long_text[t.n] = 'y';
    char *found = strchr(long_text, 'y');
    CHECK(found - long_text == t.n);
    CHECK(*found == 'y');
}
"#,
    );
}

#[test]
fn copies_are_those_of_loops() {
    check(
        r#"
void check_memcpy_of_a_symbolic_number(struct two t) {
    char to[3] = { 'x', 'y', 'z' };
    if (t.n > 3) return;
    memcpy(to, t.a, t.n);
    for (int i = 0; i < 3; i++) CHECK(to[i] == (i < t.n ? t.a[i] : "xyz"[i]));
}
void check_memcpy_beyond_the_end(struct two t) {
    char to[2];
    memcpy(to, t.a, t.n);
    CHECK(t.n <= 2);
}
void check_memcpy_of_elements(int x, int y, unsigned n) {
    int from[3] = { x, y, x + y }, to[3] = { 1, 2, 3 };
    if (n > 3) return;
    memcpy(to, from, n * sizeof *to);
    for (unsigned i = 0; i < 3; i++) CHECK(to[i] == (i < n ? from[i] : (int)i + 1));
}
void check_memcpy_of_pointers(int x, unsigned n) {
    int y = 7;
    int *from[2] = { &x, &y }, *to[2] = { &y, &x };
    if (n > 2) return;
    memcpy(to, from, n * sizeof *to);
    CHECK(*to[0] == (n > 0 ? x : 7));
    CHECK(*to[1] == (n > 1 ? 7 : x));
}
void check_memmove(struct two t) {
    if (t.n > 2) return;
    char all[4] = { t.a[0], t.a[1], t.b[0], t.b[1] };
    memmove(all + 1, all, t.n);
    CHECK(t.n < 1 || all[1] == t.a[0]);
    CHECK(t.n < 2 || all[2] == t.a[1]);
    CHECK(all[0] == t.a[0] && all[3] == t.b[1]);
}
void check_memcpy_at_symbolic_places(struct two t) {
    char to[8] = {0}, from[8] = {1, 2, 3, 4, 5, 6, 7, 8};
    unsigned at = t.c & 15;
    memcpy(to + at, from + 2, t.n);
    for (unsigned i = 0; i < 8; i++)
        CHECK(to[i] == (i >= at && i - at < t.n ? from[2 + i - at] : 0));
}
void check_memcpy_from_before_the_start(struct two t) {
    char to[4] = {0}, from[4] = {1, 2, 3, 4};
    int at = (t.c & 7) - 3;
    memcpy(to, from + at, t.n & 7);
    CHECK((t.n & 7) == 0 || to[0] == at + 1);
}
void check_memset_of_elements_at_symbolic_places(struct two t) {
    int words[3] = {0};
    unsigned at = t.c & 3;
    memset(words + at, 1, t.n & 31);
    CHECK((t.n & 31) < 4 || words[at] == 0x1010101);
}
void check_memset_of_a_block_of_symbolic_size(struct two t) {
    unsigned size = t.c & 7, count = t.n & 15;
    char *p = malloc(size);
    if (!p) return;
    memset(p, 7, count);
    CHECK(count <= size && (count == 0 || p[count - 1] == 7));
    free(p);
}
void check_memset(struct two t) {
    char to[3] = { 'x', 'y', 'z' };
    if (t.n > 3) return;
    CHECK(memset(to, t.c, t.n) == to);
    for (int i = 0; i < 3; i++) CHECK(to[i] == (i < t.n ? (char)t.c : "xyz"[i]));
    memset(to, 0x107, sizeof to);
    CHECK(to[0] == 7 && to[1] == 7 && to[2] == 7);
}
void check_memset_of_much(struct two t) {
    unsigned words[1500];
    memset(words, 0xff, sizeof words);
    CHECK(words[0] == ~0u && words[1499] == ~0u);
    CHECK(words[t.n] == ~0u);
}
void check_strcpy(struct two t) {
    TEXTS; (void)b;
    char to[5] = "wxyz";
    size_t n = strlen(a);
    CHECK(strcpy(to, a) == to);
    for (size_t i = 0; i < 5; i++) CHECK(to[i] == (i <= n ? a[i] : "wxyz"[i]));
    char again[4];
    CHECK(stpcpy(again, a) == again + n);
}
void check_strcpy_beyond_the_end(struct two t) {
    TEXTS; (void)b;
    char to[2];
    strcpy(to, a);
    CHECK(!to[0] || !to[1]);
}
void check_strncpy(struct two t) {
    TEXTS; (void)b;
    char to[5] = "wxyz";
    if (t.n > 5) return;
    size_t n = strlen(a);
    strncpy(to, a, t.n);
    for (size_t i = 0; i < 5; i++)
        CHECK(to[i] == (i >= t.n ? "wxyz"[i] : i < n ? a[i] : 0));
}
void check_strcat(struct two t) {
    char a[3] = { t.a[0], t.a[1] }, b[3] = { t.b[0], t.b[1] }, to[6] = "";
    size_t n = strlen(a), m = strlen(b);
    strcpy(to, a);
    CHECK(strcat(to, b) == to);
    CHECK(strlen(to) == n + m && !memcmp(to, a, n) && !memcmp(to + n, b, m + 1));
}
void check_strncat(struct two t) {
    char a[3] = { t.a[0], t.a[1] }, b[3] = { t.b[0], t.b[1] }, to[6] = "?????";
    size_t n = strlen(a), m = strnlen(b, t.n);
    strcpy(to, a);
    strncat(to, b, t.n);
    CHECK(strlen(to) == n + m && !memcmp(to, a, n) && !memcmp(to + n, b, m));
}
"#,
    );
}

#[test]
fn characters_are_those_of_the_c_locale() {
    check(
        r#"
void check_classes(unsigned char c) {
    int upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z', digit = c >= '0' && c <= '9';
    CHECK(!!isupper(c) == upper && !!islower(c) == lower && !!isdigit(c) == digit);
    CHECK(!!isalpha(c) == (upper || lower) && !!isalnum(c) == (upper || lower || digit));
    CHECK(!!isspace(c) == (c == ' ' || (c >= 9 && c <= 13)));
    CHECK(!!isprint(c) == (c >= 32 && c < 127) && !!isgraph(c) == (c > 32 && c < 127));
    CHECK(!!isblank(c) == (c == ' ' || c == '\t') && !!iscntrl(c) == (c < 32 || c == 127));
    CHECK(!!ispunct(c) == (c > 32 && c < 127 && !(upper || lower || digit)));
    CHECK(!!isxdigit(c) == (digit || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F')));
}
void check_functions_behind_macros(int c) {
    int space = (isspace)(c);
    CHECK(c >= -128 && c <= 255);
    CHECK(!!space == (c == ' ' || (c >= 9 && c <= 13)));
}
void check_cases(unsigned char c) {
    CHECK(tolower(c) == (c >= 'A' && c <= 'Z' ? c + 32 : c));
    CHECK(toupper(c) == (c >= 'a' && c <= 'z' ? c - 32 : c));
    CHECK((tolower)(c + 1000) == c + 1000);
    CHECK((*__ctype_tolower_loc())[c] == tolower(c));
    CHECK((*__ctype_toupper_loc())[c] == toupper(c));
}
"#,
    );
}

#[test]
fn an_allocated_block_is_an_object_of_its_own() {
    check(
        r#"
void check_malloc(unsigned char n, unsigned char at) {
    char *p = malloc(n);
    if (!p) return;
    p[at] = 1;
    CHECK(at < n);
    free(p);
}
void check_calloc(unsigned char n, unsigned char at) {
    int *p = calloc(n, sizeof *p);
    if (!p || at >= n) return;
    CHECK(p[at] == 0);
    p[at] = 5;
    CHECK(p[at] == 5 && (at == 0 || p[0] == 0));
    free(p);
}
void check_calloc_of_too_much(size_t n) {
    if (n < ((size_t)1 << 62)) return;
    CHECK(calloc(n, 4) == 0);
}
void check_realloc(int x) {
    int *p = malloc(sizeof *p);
    if (!p) return;
    *p = x;
    int *q = realloc(p, 2 * sizeof *p);
    if (!q) { CHECK(*p == x); free(p); return; }
    CHECK(q[0] == x);
    q[1] = x;
    int *r = realloc(q, sizeof *q);
    if (r) { CHECK(r[0] == x); q = r; }
    free(q);
}
void check_a_block_filled_from_a_buffer(struct two t) {
    if (t.n > 3) return;
    char *p = malloc(t.n + 1);
    if (!p) return;
    memcpy(p, t.a, t.n);
    p[t.n] = 0;
    CHECK(strnlen(t.a, t.n) == strlen(p));
    free(p);
}
void check_strdup(struct two t) {
    TEXTS; (void)b;
    char *p = strdup(a);
    if (!p) return;
    CHECK(p != a && !strcmp(p, a));
    free(p);
}
void check_strndup(struct two t) {
    TEXTS; (void)b;
    char *p = strndup(a, t.n);
    if (!p) return;
    CHECK(strlen(p) == strnlen(a, t.n) && !strncmp(p, a, t.n));
    free(p);
}
"#,
    );
}

#[test]
fn integer_builtins_are_those_of_loops() {
    check(
        r#"
void check_absolute_values(int x, long y) {
    CHECK(abs(x) == (x < 0 ? (int)(0u - x) : x));
    CHECK(labs(y) == (y < 0 ? (long)(0ul - y) : y));
}
void check_counts(unsigned char x, unsigned shift) {
    if (shift > 24 || shift % 8) return;
    unsigned value = (unsigned)x << shift;
    int ones = 0, first = 0;
    for (int i = 0; i < 8; i++) ones += x >> i & 1;
    CHECK(__builtin_popcount(value) == ones && __builtin_parity(value) == ones % 2);
    for (first = 0; first < 8 && !(x >> first & 1); first++) {}
    CHECK(__builtin_ffs(value) == (x ? first + (int)shift + 1 : 0));
    if (!x) return;
    CHECK(__builtin_ctz(value) == first + (int)shift);
    int last = 7;
    while (!(x >> last & 1)) last--;
    CHECK(__builtin_clz(value) == 31 - last - (int)shift);
    CHECK(__builtin_clzll(value) == 63 - last - (int)shift);
}
void check_signs(int x) {
    int same = 0;
    if (x > 3 || x < -4) return;
    while (same < 31 && (x >> (30 - same) & 1) == (x < 0)) same++;
    CHECK(__builtin_clrsb(x) == same);
}
void check_swaps(unsigned x, unsigned short y) {
    CHECK(__builtin_bswap32(x) == (x >> 24 | (x >> 8 & 0xff00) | (x << 8 & 0xff0000) | x << 24));
    CHECK(__builtin_bswap16(y) == (unsigned short)(y >> 8 | y << 8));
    CHECK(__builtin_bswap64(x) == (unsigned long)__builtin_bswap32(x) << 32);
}
void check_overflow(int a, int b) {
    int sum; unsigned char narrow;
    long exact = (long)a + b;
    CHECK(__builtin_add_overflow(a, b, &sum) == (exact != (int)exact) && sum == (int)exact);
    exact = (long)a - b;
    CHECK(__builtin_ssub_overflow(a, b, &sum) == (exact != (int)exact) && sum == (int)exact);
    CHECK(__builtin_sub_overflow(a, b, &narrow) == (exact < 0 || exact > 255));
    CHECK(narrow == (unsigned char)exact);
}
void check_product_overflow(signed char a, unsigned char b) {
    signed char product;
    if (b > 20) return;
    int exact = a * b;
    CHECK(__builtin_mul_overflow(a, b, &product) == (exact != (signed char)exact));
    CHECK(product == (signed char)exact);
}
void check_product_overflow_of_one_type(int a, int b) {
    int product;
    if (a != 3 && a != -5) return;
    long exact = (long)a * b;
    CHECK(__builtin_mul_overflow(a, b, &product) == (exact != (int)exact));
}
void check_size_overflow(size_t a, size_t b) {
    size_t sum;
    CHECK(__builtin_add_overflow(a, b, &sum) == (a + b < a) && sum == a + b);
    CHECK(__builtin_sub_overflow(a, b, &sum) == (a < b));
}
void check_mixed_overflow(int a, unsigned b) {
    int sum;
    long exact = (long)a + b;
    CHECK(__builtin_add_overflow(a, b, &sum) == (exact != (int)exact));
}
"#,
    );
}

#[test]
fn exact_mathematics_is_exact() {
    check(
        r#"
void check_whole_numbers(float x) {
    if (!(x > -8 && x < 8)) return;
    int whole = (int)x;
    CHECK(truncf(x) == whole);
    CHECK(floorf(x) == (x < whole ? whole - 1 : whole));
    CHECK(ceilf(x) == (x > whole ? whole + 1 : whole));
    CHECK(fabsf(x) == (x < 0 ? -x : x));
}
void check_tests(double x, double y) {
    CHECK(!!isnan(x) == (x != x));
    CHECK(!!isinf(x) == (x == HUGE_VAL || x == -HUGE_VAL));
    CHECK(!!isfinite(x) == (x - x == 0));
    CHECK(!!isless(x, y) == (x < y) && !!isunordered(x, y) == (x != x || y != y));
    if (isnan(x) || isnan(y)) return;
    CHECK(fmin(x, y) == (x < y ? x : y) && fmax(x, y) == (x > y ? x : y));
    CHECK(fabs(copysign(x, y)) == fabs(x) && !!signbit(copysign(x, y)) == !!signbit(y));
}
void check_parts(float x) {
    int power;
    float fraction = frexpf(x, &power);
    if (x == 0 || x != x || x - x != 0) { CHECK(power == 0); return; }
    CHECK(fabsf(fraction) >= 0.5f && fabsf(fraction) < 1);
    CHECK(power <= 128 && power >= -148);
}
void check_fractions(float x) {
    float whole, rest = modff(x, &whole);
    if (x != x) return;
    CHECK(whole == truncf(x));
    CHECK(x - x != 0 ? rest == 0 : rest == x - whole);
}
void check_scaling(unsigned char n) {
    if (n > 20) return;
    CHECK(ldexp(3.0, n) == (double)(3u << n));
    CHECK(scalbn(1.0, -(int)n) * (1u << n) == 1.0);
}
void check_square_roots(unsigned char n) {
    CHECK(sqrt((double)n * n) == n);
}
"#,
    );
}

#[test]
fn inexact_functions_are_followed_at_a_few_values_that_the_interpreter_confirms() {
    let text = r#"
        #include <math.h>
        int powers(double x) { return pow(x, 2) > 0.5 ? 1 : 0; }
        int known(void) { return pow(2, 10) == 1024 && fmod(7.5, 2) == 1.5 ? 1 : 0; }
    "#;
    let found = common::explore_c(text, "powers", &[], &plain());
    assert!(!found.summary.complete);
    assert!(!found.tests.is_empty());
    let known = common::explore_c(text, "known", &[], &plain());
    assert!(known.summary.complete, "{:?}", known.summary.cuts);
    let outcome = run(&known.program, &known.tests[0].test, &Options::default(), &mut Silent);
    assert_eq!(outcome.expect("it runs").result, Some(vec![1, 0, 0, 0]));
}
