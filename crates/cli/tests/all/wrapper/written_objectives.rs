//! Hyperlabels and paths of the user's on a project's own runs: `lydian cc --htol`.

use serde_json::Value;

use crate::common::Workplace;
use crate::common::wrapped::{built, counts, coverage, function, shell, warnings};

const FLOW: &str = r#"
#include <stdlib.h>
static int balance;
static void deposit(int sum) {
    //! in: sum > 0
    balance += sum;
}
static int withdraw(int sum) {
    //! out: 1
    if (sum > balance)
        return 0;
    balance -= sum;
    return 1;
}
int flowcontrol(int high, int low) {
    int res = 0;
    //! loc_1: 1
    res = low + (high > 3);
    //! loc_2: 1
    return res;
}
int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        int sum = atoi(argv[i]);
        if (sum > 0)
            deposit(sum);
        else
            withdraw(-sum);
    }
    //! objective saved = < [deposit::in |> { a <- sum } -> withdraw::out |> { b <- sum }] | a == b >;
    //! path idle = entry -> ... -> line 32;
    flowcontrol(argc, atoi(argv[1]));
    return 0;
}
"#;

const HTOL: &str = "function flowcontrol;\n\
    objective h6 = < [loc_1 |> { lo <- low } -> loc_2 |> { r <- res }] .\n\
      [loc_1 |> { lo' <- low } -> loc_2 |> { r' <- res }] | lo == lo' && r != r' >;\n\
    function withdraw;\n\
    path refused = line 10 -> line 11;\n\
    label l = (out, 1) |> { sum <- sum; left <- balance };\n\
    objective all = < l | sum == left >;\n";

/// The texts of the objectives of a function that have a status.
fn named<'v>(coverage: &'v Value, name: &str, status: &str) -> Vec<&'v str> {
    let objectives = function(coverage, name)["objectives"].as_array().expect("a list");
    let with_status = objectives.iter().filter(|one| one["status"] == status);
    with_status.map(|one| one["name"].as_str().unwrap_or("")).collect()
}

#[test]
fn what_runs_bind_counts_together_over_all_runs() {
    for compiler in ["clang-19", "gcc"] {
        let at = Workplace::with(FLOW);
        at.write("flow.htol", HTOL);
        built(&at, "-c htol,spc --htol flow.htol", &format!("{compiler} -O2 unit.c -o unit"));
        assert_eq!(shell(&at, "./unit 5 7 -5").code, Some(0));
        let found = coverage(&at);
        assert_eq!(warnings(&found), "", "{compiler}");
        assert_eq!(counts(&found, "flowcontrol", "htol"), (1, 0), "one run has one result");
        assert_eq!(counts(&found, "withdraw", "htol"), (1, 0));
        assert_eq!(counts(&found, "withdraw", "spc"), (1, 0));
        assert_eq!(named(&found, "main", "covered"), ["saved", "idle"]);
        // The same low with less of high, and all that is there is taken.
        assert_eq!(shell(&at, "./unit 5 -5").code, Some(0));
        assert_eq!(shell(&at, "./unit -1").code, Some(0));
        let found = coverage(&at);
        assert_eq!(counts(&found, "flowcontrol", "htol"), (1, 1), "{compiler}: {found:#}");
        assert_eq!(counts(&found, "withdraw", "htol"), (1, 1));
        assert_eq!(counts(&found, "withdraw", "spc"), (1, 1));
    }
}

#[test]
fn files_are_for_the_units_that_have_their_functions() {
    let at = Workplace::with("int one(int x) {\n  //! big: x > 1\n  return x;\n}\n");
    at.write(
        "main.c",
        "int one(int);\nint main(int argc, char **argv) {\n  return one(argc) == 9;\n}\n",
    );
    at.write(
        "a.htol",
        "function one;\nobjective o = big;\nfunction main;\nobjective m = (entry, argc == 2);\n",
    );
    at.write(
        "b.htol",
        "function nowhere;\nobjective n = (entry, 1);\nfunction one;\nobjective e = (entry, 1);\n",
    );
    let options = "--htol a.htol --htol b.htol";
    built(&at, options, "clang-19 -c unit.c");
    built(&at, options, "clang-19 -c main.c");
    built(&at, "", "clang-19 unit.o main.o -o unit");
    assert_eq!(shell(&at, "./unit x").code, Some(0));
    let found = coverage(&at);
    assert_eq!(
        warnings(&found),
        "b.htol: no file that is measured has a function `nowhere`; its objectives are left out\n"
    );
    assert_eq!(counts(&found, "one", "htol"), (2, 2));
    assert_eq!(counts(&found, "main", "htol"), (1, 1));
}

#[test]
fn mistakes_break_no_build_and_are_told_again_by_the_report() {
    let at = Workplace::with(
        "int main(int argc, char **argv) {\n  //! objective o = nowhere;\n  return argc == 9;\n}\n",
    );
    at.write("bad.htol", "function main;\nobjective x = ;\n");
    at.write(
        "ill.htol",
        "function main;\nobjective x = (line 77, 1);\nobjective y = (entry, 1);\n",
    );
    let options = "--htol bad.htol --htol ill.htol --htol none.htol";
    let ran = built(&at, options, "clang-19 unit.c -o unit");
    for said in ["bad.htol:2:15", "ill.htol:2:16", "none.htol", "unit.c:2:21"] {
        assert!(ran.err.contains(said), "{said}: {ran}");
    }
    assert_eq!(shell(&at, "./unit").code, Some(0));
    let found = coverage(&at);
    let warned = warnings(&found);
    for said in ["bad.htol:2:15", "ill.htol:2:16", "none.htol", "unit.c:2:21"] {
        assert!(warned.contains(said), "{said}: {warned}");
    }
    assert_eq!(counts(&found, "main", "htol"), (1, 1));
}

#[test]
fn a_file_is_found_beside_the_store_from_any_folder() {
    let at = Workplace::with("int main(void) { return 0; }\n");
    at.write("a.htol", "function main;\nobjective m = (entry, 1);\n");
    std::fs::create_dir(at.path("sub")).expect("a folder");
    at.write("sub/sub.c", "int main(void) { return 0; }\n");
    let lydian = env!("CARGO_BIN_EXE_lydian");
    let line = format!(
        "mkdir .lydian && cd sub && {lydian} cc --htol a.htol -- clang-19 sub.c -o sub && ./sub"
    );
    let ran = shell(&at, &line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran}");
    assert_eq!(counts(&coverage(&at), "main", "htol"), (1, 1));
}

/// More distinct values than a table has room for.
#[test]
fn a_table_that_is_too_small_leaves_open_what_it_may_have_missed() {
    let text = "int f(int i) {\n  //! at: 1\n  return i;\n}\n\
        int main(void) {\n  for (int i = 0; i < 5000; i++)\n    f(i);\n  return 0;\n}\n";
    let at = Workplace::with(text);
    at.write(
        "a.htol",
        "function f;\nlabel end = (at, i > 4990) |> { w <- i };\n\
         objective early = < at |> { v <- i } . end | v + 4992 == w && w == 4999 >;\n\
         objective late = < at |> { v <- i } . end | v + 8 == w && w == 4999 >;\n\
         objective plain = at;\n\
         objective one = < at |> { v <- i + 1 } | v == 5000 >;\n\
         objective order = < [at |> { v <- i } -> at |> { w <- i }] | v == w + 1 >;\n",
    );
    built(&at, "-c htol --htol a.htol", "clang-19 -O1 unit.c -o unit");
    assert_eq!(shell(&at, "./unit").code, Some(0));
    let found = coverage(&at);
    assert_eq!(named(&found, "f", "covered"), ["early", "plain", "one"]);
    assert_eq!(named(&found, "f", "missing"), ["order"]);
    let objectives = function(&found, "f")["objectives"].as_array().expect("a list");
    let why = "a table was too small for all the values that it binds";
    let lost = objectives.iter().filter(|one| one["status"].to_string().contains(why));
    let lost: Vec<_> = lost.map(|one| one["name"].as_str().unwrap_or("")).collect();
    assert_eq!(lost, ["late"], "{objectives:#?}");
}

/// Threads pass the sites of one sequence at once; signals interrupt it.
#[test]
fn threads_and_forks_lose_no_environment() {
    let text = r#"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>
static void first(int i) {
    //! one: i >= 0
    (void)i;
}
static void second(int i) {
    //! two: i >= 0
    (void)i;
}
static void *work(void *given) {
    int base = *(int *)given;
    for (int i = 0; i < 30; i++) {
        first(base + i);
        second(base + i);
    }
    return 0;
}
int main(void) {
    pthread_t threads[2];
    int bases[] = {0, 100};
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, work, &bases[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    //! objective own = < [first::one |> { v <- i } -> second::two |> { w <- i }] | v == w && v == 129 >;
    //! objective forked = < [first::one |> { v <- i } -> second::two |> { w <- i }] | v == 5 && w == 777 >;
    //! objective never = < [second::two |> { w <- i } -> first::one |> { v <- i }] | w == 777 >;
    if (fork() == 0) {
        second(777);
        _exit(0);
    }
    wait(0);
    return 0;
}
"#;
    let at = Workplace::with(text);
    built(&at, "-c htol", "clang-19 -O2 unit.c -o unit -pthread");
    assert_eq!(shell(&at, "./unit").code, Some(0));
    let found = coverage(&at);
    assert_eq!(named(&found, "main", "covered"), ["own", "forked"], "{found:#}");
}

/// Declarations of another age, arrays of variable length, computed jumps, `longjmp`, variable
/// arguments, functions that do not return, and members of every kind.
const ODD: &str = r#"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <stdio.h>
static jmp_buf env;
int old(a, b) int a; short b;
{
    //! k: a > b
    //! objective kr = < [activation (entry, 1) |> { x <- a } -> k |> { y <- b }] | x > y >;
    return a + b;
}
int vla(int n)
{
    //! objective v = < [activation (entry, 1) |> { x <- n } -> w |> { y <- n }] | y == x - 1 >;
    int t[n + 1];
    for (int i = 0; i <= n; i++) t[i] = i;
    n--;
    //! w: 1
    return t[n];
}
int jumps(int n)
{
    static void *where[] = {&&a, &&b, &&c};
    //! objective j = < [activation (entry, 1) |> { x <- n } -> z |> { y <- n }] | y < x >;
    //! path p = entry -> ... -> z;
    goto *where[n % 3];
a:  n++;
b:  n--;
c:
    //! z: 1
    return n - 1;
}
int deep(int n)
{
    //! before: 1
    if (n == 0) longjmp(env, 7);
    //! objective d = < [activation (entry, 1) |> { x <- n } -> before |> { y <- n }] | x == y && x == 0 >;
    return deep(n - 1);
}
int catches(int n)
{
    //! objective c = < [activation (entry, 1) |> { x <- n } -> back |> { y <- n }] | x == y >;
    if (setjmp(env) == 0)
        return deep(n);
    //! back: 1
    return 1;
}
int variadic(int n, ...)
{
    va_list l;
    int s = 0;
    va_start(l, n);
    while (n--) s += va_arg(l, int);
    va_end(l);
    //! sum: 1
    //! objective s = < (sum, s > 5) |> { q <- s } | q == 6 >;
    return s;
}
__attribute__((noreturn)) void leave(int n)
{
    //! out: 1
    //! objective l = < [activation (entry, 1) |> { x <- n } -> out |> { y <- n }] | x == y >;
    exit(n);
}
struct big { long long a; unsigned b : 5; signed c : 3; char *p; double d; struct { int z[3]; } in; };
int members(struct big *s, const struct big t[2])
{
    //! here: 1
    //! objective m = < (here, s->in.z[1] == 4) |> { a <- s->a; b <- s->b; c <- s->c; e <- t[1].in.z[2]; p <- *t->p } | a + 1 < 0 - 9223372036854775806 && b == 31 && c == -4 && e == 9 && p == 113 >;
    return s->b;
}
int main(void)
{
    struct big x = {.a = -9223372036854775807LL - 1, .b = 31, .c = -4, .p = "q", .in = {{1, 4, 9}}};
    struct big y[2] = {x, x};
    old(3, 2); vla(4); jumps(4); catches(3); variadic(3, 1, 2, 3); members(&x, y);
    for (int i = 0; i < 100; i++) catches(5);
    leave(0);
}
"#;

#[test]
fn odd_functions_keep_their_environments() {
    for compiler in ["clang-19", "gcc"] {
        let at = Workplace::with(ODD);
        built(&at, "-c htol", &format!("{compiler} -std=gnu17 -O2 -w unit.c -o unit"));
        assert_eq!(shell(&at, "./unit").code, Some(0));
        let found = coverage(&at);
        assert_eq!(warnings(&found), "");
        for name in ["old", "vla", "jumps", "deep", "catches", "variadic", "leave", "members"] {
            assert_eq!(counts(&found, name, "htol"), (1, 1), "{compiler}: {name}");
        }
    }
}
