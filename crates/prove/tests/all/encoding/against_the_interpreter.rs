//! The system of a program against the interpreter: a result is reached exactly where the interpreter
//! computes it.

use lydian_ir::Program;
use lydian_ir::interp::{self, End, Options, Silent};
use lydian_ir::test::{ANY_BYTES, ExternalResult, Image, Test};
use lydian_smt::TermPool;

use super::common::{encoded, load_with, run};

/// What all programs begin with.
const HEAD: &str = "
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
typedef __SIZE_TYPE__ size_t;
extern void *malloc(size_t);
extern void *calloc(size_t, size_t);
extern void free(void *);
extern void *memcpy(void *, const void *, size_t);
extern void *memset(void *, int, size_t);
extern double fabs(double);
";

pub(crate) fn nondet(value: u64) -> ExternalResult {
    let bytes = (value as u32).to_le_bytes().to_vec();
    ExternalResult {
        function: ANY_BYTES.to_owned(),
        result: Image { bytes, pointers: Vec::new() },
        object: None,
        writes: Vec::new(),
    }
}

/// A run of `run()` in the interpreter.
struct Expected {
    /// The result; none where it traps.
    result: Option<i32>,
    /// How many inputs it reads.
    inputs: usize,
}

fn expected(program: &Program, inputs: &[u64]) -> Expected {
    let mut test = Test::calling("run", Vec::new());
    test.externals = inputs.iter().copied().map(nondet).collect();
    let outcome = interp::run(program, &test, &Options::default(), &mut Silent);
    let outcome = outcome.unwrap_or_else(|error| panic!("{error}"));
    let bytes = outcome.result.filter(|_| outcome.end == End::Returned);
    let result = bytes.map(|bytes| i32::from_le_bytes(bytes.try_into().expect("four bytes")));
    Expected { result, inputs: outcome.externals.len() }
}

/// Checks a program with several rows of inputs: the error is reached where the result of `run()` is
/// compared with what the interpreter gives, and nowhere else. Returns how many rows do not trap.
pub(crate) fn check(text: &str, rows: &[&[u64]]) -> usize {
    check_with(text, rows, &[])
}

fn check_with(text: &str, rows: &[&[u64]], flags: &[&str]) -> usize {
    let main = "int main(void) {
        int r = run();
        if (r == __VERIFIER_nondet_int()) reach_error();
        return 0;
    }";
    let unit = load_with(&format!("{HEAD}{text}\n{main}"), flags);
    let mut pool = TermPool::new();
    let encoded = encoded(&mut pool, &unit.program, "main");
    // Runs of these programs stay below the limit of 32-bit targets that the first is about. No pointer
    // whose distance they use is null, but a variable of the system does not show that.
    let met_by_no_run = [
        "more memory is allocated at one place than is told apart",
        "the distance of an object from null is used",
    ];
    let is_met = |reason: &&String| !met_by_no_run.contains(&reason.as_str());
    let reasons: Vec<&String> = encoded.system.inexact.iter().filter(is_met).collect();
    assert!(reasons.is_empty(), "{reasons:?}\n{text}");
    let reaches = |inputs: &[u64], read: usize, result: i32| {
        let mut given = inputs.to_vec();
        given.resize(read, 0);
        given.push(u64::from(result as u32));
        !run(&pool, &encoded, &given).goals.is_empty()
    };
    let mut returned = 0;
    for inputs in rows {
        let expected = expected(&unit.program, inputs);
        let Some(result) = expected.result else {
            assert!(!reaches(inputs, expected.inputs, 0), "{inputs:?} traps:\n{text}");
            continue;
        };
        returned += 1;
        assert!(reaches(inputs, expected.inputs, result), "{result} {inputs:?}\n{text}");
        let other = result.wrapping_add(1);
        assert!(!reaches(inputs, expected.inputs, other), "{result} {inputs:?}\n{text}");
    }
    returned
}

#[test]
fn loops_and_arrays() {
    check(
        "int run(void) {
             int a[8], sum = 0, n = __VERIFIER_nondet_int();
             if (n < 0 || n > 8) return -1;
             for (int i = 0; i < n; i++) a[i] = i * i + n;
             for (int i = n - 1; i >= 0; i--) sum = sum * 3 + a[i];
             return sum;
         }",
        &[&[0], &[5], &[8], &[9]],
    );
}

#[test]
fn an_access_out_of_bounds_ends_the_run() {
    check(
        "int run(void) {
             int a[4] = {1, 2, 3, 4}, n = __VERIFIER_nondet_int();
             return a[n];
         }",
        &[&[0], &[3], &[4], &[u64::MAX]],
    );
}

#[test]
fn structs_and_their_copies() {
    check(
        "struct in { short s; int i; };
         struct point { char c; struct in in[2]; long l; };
         static struct point make(int n) {
             struct point p = {0};
             p.c = (char)n; p.in[0].s = (short)(n * 3); p.in[1].i = n + 7; p.l = -n;
             return p;
         }
         static int use(struct point p) { p.l += 5; return p.c + p.in[0].s * 2 + p.in[1].i + (int)p.l; }
         int run(void) {
             int n = __VERIFIER_nondet_int();
             struct point p = make(n), q = p, *r = &q;
             r->in[1].i ^= 21;
             p.in[n & 1].i = 9;
             return use(p) * 31 + use(*r) + q.in[1].i;
         }",
        &[&[0], &[5], &[0xffff_fff0], &[12345]],
    );
}

#[test]
fn pointers_that_walk_and_swap() {
    check(
        "static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }
         int run(void) {
             int a[6] = {6, 2, 5, 1, 4, 3}, *p, *end = a + 6, r = 0;
             int n = __VERIFIER_nondet_int();
             a[1] = n;
             for (int i = 0; i < 5; i++)
                 for (p = a; p < end - 1; p++)
                     if (p[0] > p[1]) swap(p, p + 1);
             for (p = a; p != end; p++) r = r * 7 + *p;
             return r + (int)(end - a);
         }",
        &[&[2], &[100], &[0xffff_ff00]],
    );
}

#[test]
fn switches_and_gotos() {
    check(
        "int run(void) {
             int n = __VERIFIER_nondet_int(), r = 0, k = 0;
         again:
             switch (n % 7) {
             case 0: r += 1;
             case 1: r += 10; break;
             case 2: goto out;
             case 3 ... 4: r *= 2; break;
             default: r -= 3;
             }
             n = n / 2 + 1;
             if (++k < 6) goto again;
             if (k & 1) { middle: r ^= 0x55; }
             if (r > 20 && k < 9) { k += 3; goto middle; }
         out:
             return r * 10 + k;
         }",
        &[&[0], &[1], &[2], &[77], &[1000], &[0xffff_fff9]],
    );
}

#[test]
fn calls_and_function_pointers() {
    check(
        "static int twice(int x) { return 2 * x; }
         static int less(int x) { return x - 1; }
         static int (*const table[2])(int) = {twice, less};
         static int apply(int (*f)(int), int x) { return f(f(x)); }
         int run(void) {
             int n = __VERIFIER_nondet_int();
             int (*f)(int) = n > 10 ? twice : less;
             return apply(f, n) + table[n & 1](3) * 100;
         }",
        &[&[3], &[11], &[12]],
    );
}

#[test]
fn bit_fields_and_unions() {
    check(
        "struct bits { unsigned a : 3; int b : 5; unsigned c : 11; _Bool d : 1; };
         union u { unsigned i; unsigned char c[4]; float f; };
         int run(void) {
             int n = __VERIFIER_nondet_int();
             struct bits b = {0};
             union u u;
             b.a = n; b.b = n >> 3; b.c = n * 5; b.d = n & 4;
             u.i = (unsigned)n; u.c[1] ^= 0x5a;
             int r = b.a + b.b * 8 + b.c * 512 + b.d * 7;
             u.f = u.f * 0 + 1.5f;
             return r + (int)(u.i >> 20) + u.c[3];
         }",
        &[&[0], &[29], &[0x7fff], &[12345678]],
    );
}

#[test]
fn floats() {
    check(
        "int run(void) {
             int n = __VERIFIER_nondet_int();
             double a[3], s = 0;
             float f = (float)n / 3;
             for (int i = 0; i < 3; i++) a[i] = n * 0.5 + i;
             for (int i = 0; i < 3; i++) s += a[i] * f;
             return (int)s + (s > 10) + (int)fabs(-2.5 * n);
         }",
        &[&[0], &[7], &[0xffff_fffd]],
    );
}

#[test]
fn allocated_lists() {
    check(
        "struct node { int v; struct node *next; };
         int run(void) {
             int n = __VERIFIER_nondet_int() & 7, r = 0;
             struct node *head = 0, *p;
             for (int i = 0; i < n; i++) {
                 p = malloc(sizeof *p);
                 p->v = i * 3; p->next = head; head = p;
             }
             for (p = head; p; p = p->next) { r = r * 5 + p->v; p->v++; }
             for (p = head; p; p = p->next) r += p->v;
             int *a = calloc(n + 1, sizeof *a);
             a[n] = 4;
             r += a[0] + a[n];
             free(a);
             return r;
         }",
        &[&[0], &[1], &[6]],
    );
}

#[test]
fn globals_and_their_first_values() {
    check(
        "static int table[5] = {3, 1, 4, 1, 5};
         static const char *const names[3] = {\"ab\", \"cde\", \"f\"};
         static struct { int *p; short s; } g = {&table[2], 7};
         int zero[100];
         int run(void) {
             int n = __VERIFIER_nondet_int(), r = 0;
             if (n < 0 || n > 2) return 0;
             for (const char *c = names[n]; *c; c++) r = r * 11 + *c;
             *g.p += n; g.s++;
             zero[n * 40] = 2;
             return r + table[2] * 1000 + g.s + zero[40] + zero[0];
         }",
        &[&[0], &[1], &[2], &[5]],
    );
}

#[test]
fn fills_and_copies_of_memory() {
    check(
        "struct s { int a; char c[5]; short h; };
         int run(void) {
             int n = __VERIFIER_nondet_int();
             struct s x, y[2];
             memset(&x, 0, sizeof x);
             x.a = n; x.c[2] = (char)n; x.h = 9;
             memcpy(&y[1], &x, sizeof x);
             y[0] = y[1];
             y[n & 1].h = 4;
             int big[20] = {1, 2, 3}, other[20];
             memcpy(other, big, sizeof big);
             return y[0].a + y[0].c[2] * 2 + y[0].h + y[1].h * 100 + other[2] + other[19];
         }",
        &[&[0], &[33], &[0x1234_5601]],
    );
}

#[test]
fn wide_integers_and_shifts() {
    check(
        "int run(void) {
             int n = __VERIFIER_nondet_int();
             unsigned long l = (unsigned long)n * 0x123456789abUL;
             __int128 w = (__int128)n * n * n;
             short s = (short)n; signed char c = (signed char)n;
             int r = (int)(l >> 13) ^ (int)(w >> 40) ^ (s << 2) ^ (c >> 1);
             return r / 3 % 1000 + (n != 0 ? 100 / n : 5);
         }",
        &[&[0], &[17], &[0xffff_ff9c], &[0x7fff_ffff]],
    );
}

#[test]
fn arrays_of_pointers_and_of_arrays() {
    check(
        "int run(void) {
             int a = 1, b = 2, m[3][4] = {{0}}, n = __VERIFIER_nondet_int();
             int *t[4] = {&a, &b, &m[1][2], 0};
             for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) m[i][j] = i * 10 + j + n;
             *t[n & 1] += 5;
             t[2][1] = 9;
             return *t[n % 3] + m[1][3] * 100 + m[2][n & 3] + a * 7;
         }",
        &[&[0], &[1], &[5], &[3], &[0xffff_ffff]],
    );
}

#[test]
fn programs_for_32_bit_targets() {
    let flags = ["-m32", "-msse2", "-mfpmath=sse"];
    let program = "
        struct node { int v; struct node *next; };
        static struct node first = {4, 0}, *head = &first;
        static int add(int (*f)(int), int n) { return f(n) + 1; }
        static int twice(int n) { return 2 * n; }
        int run(void) {
            int n = __VERIFIER_nondet_int() & 3, r = 0, a[3] = {1, 2, 3}, *p = a + n;
            for (int i = 0; i < n; i++) {
                struct node *new = malloc(sizeof *new);
                new->v = i; new->next = head; head = new;
            }
            for (struct node *at = head; at; at = at->next) r = r * 10 + at->v;
            long long l = (long long)n << 40;
            return r + add(twice, n) + (int)(l >> 38) + (int)(p - a) + *p;
        }";
    assert_eq!(check_with(program, &[&[0], &[2], &[1], &[3]], &flags), 3);
}
