//! What runs of measured programs leave behind, however they end.

use crate::common::wrapped::{built, counts, coverage, entered, function, shell, warnings};
use crate::common::{self, Workplace};

const ENDS: &str = r#"
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static int by_exit(void) { _exit(0); }
static int by_abort(void) { abort(); }
static int by_kill(void) { return kill(getpid(), SIGKILL); }
static int by_crash(void) { raise(SIGSEGV); return 0; }
static int in_child(int n) { return n > 3; }
static int after_exec(void) { return 0; }
static void *in_thread(void *p) { return p ? p : NULL; }
int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "exit")) return by_exit();
    if (!strcmp(how, "abort")) return by_abort();
    if (!strcmp(how, "kill")) return by_kill();
    if (!strcmp(how, "crash")) return by_crash();
    if (!strcmp(how, "executed")) return after_exec();
    if (!strcmp(how, "exec")) { execl(argv[0], argv[0], "executed", (char *)0); return 1; }
    if (!strcmp(how, "fork")) {
        pid_t child = fork();
        if (child == 0) _exit(in_child(argc));
        waitpid(child, NULL, 0);
        return 0;
    }
    if (!strcmp(how, "thread")) {
        pthread_t threads[4];
        for (int i = 0; i < 4; i++) pthread_create(threads + i, NULL, in_thread, i % 2 ? argv : 0);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
        return 0;
    }
    if (!strcmp(how, "wait")) { puts("ready"); fflush(stdout); return getchar() == 'x'; }
    if (!strcmp(how, "descriptors")) {
        for (int fd = 0; fd < 100; fd++) if (fcntl(fd, F_GETFD) != -1) printf("%d ", fd);
        return 0;
    }
    puts("done");
    return 0;
}
"#;

fn ends() -> Workplace {
    let at = Workplace::with(ENDS);
    built(&at, "-c fc,dc", "clang-19 -O2 -pthread unit.c -o unit");
    at
}

#[test]
fn no_end_of_a_process_loses_what_it_did() {
    let at = ends();
    for (how, name) in [
        ("exit", "by_exit"),
        ("abort", "by_abort"),
        ("kill", "by_kill"),
        ("crash", "by_crash"),
        ("exec", "after_exec"),
        ("fork", "in_child"),
        ("thread", "in_thread"),
    ] {
        shell(&at, &format!("./unit {how}"));
        let found = coverage(&at);
        assert!(entered(&found, name), "{how}");
        assert_eq!(warnings(&found), "");
    }
    let found = coverage(&at);
    assert_eq!(counts(&found, "in_child", "fc"), (1, 1));
    assert_eq!(counts(&found, "in_thread", "dc"), (2, 2));
}

#[test]
fn a_crash_loses_nothing_that_came_before_though_records_imply_each_other() {
    let at = Workplace::with(
        "int first(int *p, int n) {\n    n++;\n    n += 2;\n    int x = *p;\n    return x + n;\n}\n\
         int second(int *p, int n) {\n    if (n > 3)\n        n = p[1];\n    return n;\n}\n\
         int third(int *p, int n) {\n    int x = p[0];\n    if (n > 3)\n        \
         if (p[1] > x)\n            n = 100 / (n - 9);\n    return n + p[2];\n}\n\
         int main(int argc, char **argv) {\n    int two[3] = {1, 2, 3};\n    \
         if (argc == 2) return second(0, 9);\n    if (argc == 3) return third(two, 9);\n    \
         return first(0, argc);\n}\n",
    );
    let flags = "-O1 -fno-delete-null-pointer-checks";
    let criteria = "fc,stmt,dc,all-uses";
    let covered = |lydian: &str| {
        shell(&at, "rm -rf .lydian");
        built(&at, &format!("{lydian}-c {criteria}"), &format!("clang-19 {flags} unit.c -o unit"));
        shell(&at, "./unit; ./unit 1; ./unit 1 2; true");
        let coverage = coverage(&at);
        let counted = |name| criteria.split(',').map(|of| counts(&coverage, name, of)).collect();
        ["first", "second", "third", "main"].map(counted)
    };
    let exact: [Vec<_>; 4] = covered("--exact ");
    assert_eq!(covered(""), exact, "of {criteria}");
    assert!(exact.iter().all(|of| of[0] == (1, 1)), "every function is entered: {exact:?}");
    assert_eq!(exact[0][1], (4, 3), "`first` ends in its third statement");
}

#[test]
fn a_program_finds_its_descriptors_as_they_would_be() {
    let at = ends();
    shell(&at, "clang-19 -pthread unit.c -o plain");
    let plain = shell(&at, "./plain descriptors").out;
    assert!(plain.starts_with("0 1 2 "));
    assert_eq!(shell(&at, "./unit descriptors").out, plain);
}

#[test]
fn processes_at_once_have_files_of_their_own_and_add_up() {
    use std::io::{BufRead as _, Write as _};
    let at = ends();
    let mut running = Vec::new();
    for _ in 0..3 {
        let mut command = std::process::Command::new(at.path("unit"));
        at.settle(&mut command);
        command.arg("wait").stdin(std::process::Stdio::piped()).env_remove("LYDIAN_DIR");
        let mut child = command.spawn().expect("it starts");
        let out = child.stdout.take().expect("a pipe");
        let mut line = String::new();
        std::io::BufReader::new(out).read_line(&mut line).expect("it says something");
        assert_eq!(line, "ready\n");
        running.push(child);
    }
    shell(&at, "./unit exit");
    let files = common::entries(&at.path(".lydian/cells"));
    assert_eq!(files.len(), 4, "{files:?}");
    for mut child in running {
        drop(child.stdin.take().expect("a pipe").write_all(b"y"));
        child.wait().expect("it ends");
    }
    // A slot that is free again is used again.
    shell(&at, "./unit abort");
    assert_eq!(common::entries(&at.path(".lydian/cells")).len(), 4);
    let found = coverage(&at);
    assert!(entered(&found, "by_exit") && entered(&found, "by_abort"));
}

#[test]
fn a_full_disk_costs_the_counts_and_nothing_else() {
    let at = ends();
    // A limit on the size of files acts as a full disk does, and raises a signal on top.
    let ran = shell(&at, "ulimit -f 0; ./unit | cat");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "done\n", ""));
    let found = coverage(&at);
    assert!(!entered(&found, "main"));
    assert!(warnings(&found).contains("some runs could not be counted"), "{found:#}");
    shell(&at, "./unit");
    assert!(entered(&coverage(&at), "main"));
}

#[test]
fn a_folder_that_cannot_be_written_costs_the_counts_and_nothing_else() {
    let at = ends();
    let ran = shell(&at, "LYDIAN_DIR=/dev/null/store ./unit");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "done\n", ""));
    let ran = shell(&at, "LYDIAN_VERBOSE=1 LYDIAN_DIR=/dev/null/store ./unit");
    assert!(ran.err.contains("this run is not counted"), "{ran}");
}

#[test]
fn a_run_goes_to_the_folder_that_the_environment_names() {
    let at = ends();
    shell(&at, "LYDIAN_DIR=$PWD/elsewhere ./unit");
    assert!(!at.path(".lydian/cells").exists());
    assert_eq!(common::entries(&at.path("elsewhere/cells")).len(), 1);
}

#[test]
fn damaged_counters_cost_what_is_damaged_and_are_told() {
    let at = Workplace::with("int f(int n) { return n > 1; }\n");
    at.write("main.c", "int f(int);\nint main(int c, char **v) { (void)v; return f(c); }\n");
    built(&at, "-c fc,dc", "clang-19 -c unit.c");
    built(&at, "-c fc,dc", "clang-19 -c main.c");
    built(&at, "", "clang-19 unit.o main.o -o unit");
    shell(&at, "./unit");
    let path = common::entries(&at.path(".lydian/cells")).remove(0);
    let sound = std::fs::read(&path).expect("the file can be read");
    // The first unit's first cell stands behind two headers.
    let mut bytes = sound.clone();
    bytes[128] = 77;
    std::fs::write(&path, &bytes).expect("the file can be written");
    let found = coverage(&at);
    assert!(warnings(&found).contains("damaged"), "{found:#}");
    assert!(!entered(&found, "f") && entered(&found, "main"));
    // Cut off, in the second unit.
    std::fs::write(&path, &sound[..230]).expect("the file can be written");
    let found = coverage(&at);
    assert!(warnings(&found).contains("cut off"), "{found:#}");
    assert!(entered(&found, "f") && !entered(&found, "main"));
    // The next run fills it up again.
    shell(&at, "./unit");
    let found = coverage(&at);
    assert!(entered(&found, "f") && entered(&found, "main"));
    assert_eq!(warnings(&found), "");
}

#[test]
fn a_source_that_changed_after_the_build_is_told() {
    let at = Workplace::with("int main(void) { return 0; }\n");
    built(&at, "-c fc", "clang-19 unit.c -o unit");
    shell(&at, "./unit");
    at.write("unit.c", "int main(void) { return 1; }\n");
    let found = coverage(&at);
    assert!(warnings(&found).contains("has changed since it was compiled"), "{found:#}");
    assert_eq!(found["files"][0]["changed"], true);
}

#[test]
fn counters_of_an_earlier_build_do_not_count() {
    let at = Workplace::with("int main(void) { return 0; }\n");
    built(&at, "-c fc", "clang-19 unit.c -o unit");
    shell(&at, "./unit");
    at.write("unit.c", "\nint main(void) { return 0; }\n");
    built(&at, "-c fc", "clang-19 unit.c -o unit");
    let found = coverage(&at);
    assert!(!entered(&found, "main"));
    assert!(warnings(&found).contains("earlier build"), "{found:#}");
}

#[test]
fn a_build_by_another_version_is_to_be_built_again() {
    let at = Workplace::with("int main(void) { return 0; }\n");
    built(&at, "-c fc", "clang-19 unit.c -o unit");
    let path = common::entries(&at.path(".lydian/notes")).remove(0);
    let mut bytes = std::fs::read(&path).expect("the notes can be read");
    bytes[0] ^= 0x40;
    std::fs::write(&path, bytes).expect("the notes can be written");
    let found = coverage(&at);
    assert!(warnings(&found).contains("another version of Lydian"), "{found:#}");
}

#[test]
fn a_library_that_is_loaded_and_unloaded_is_counted() {
    let at = Workplace::with("int f(int n) { if (n > 2) return 1; return 0; }\n");
    let main = r#"
#include <dlfcn.h>
int main(int argc, char **argv) {
    for (int turn = 0; turn < argc; turn++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        if (!library) return 1;
        int (*f)(int) = (int (*)(int))dlsym(library, "f");
        f(turn + 2);
        dlclose(library);
    }
    return 0;
}
"#;
    at.write("main.c", main);
    built(&at, "-c fc,dc", "gcc -O2 -fPIC -shared unit.c -o libunit.so");
    built(&at, "-c fc,dc", "gcc -O2 main.c -o main -ldl");
    assert_eq!(shell(&at, "./main ./libunit.so").code, Some(0));
    let found = coverage(&at);
    assert_eq!(counts(&found, "f", "dc"), (2, 2));
    assert!(entered(&found, "main"));
    assert_eq!(common::entries(&at.path(".lydian/cells")).len(), 2);
}

#[test]
fn wide_decisions_keep_each_evaluation_once() {
    let conditions: Vec<String> = (0..12).map(|n| format!("v[{n}]")).collect();
    let text = format!(
        "int f(const int *v) {{ return {} ? 1 : 2; }}\n\
         int main(void) {{ int v[12] = {{0}}; \
         for (int turn = 0; turn < 1000; turn++) {{ f(v); v[3] = turn % 2; v[7] = turn % 3 == 0; }} \
         return 0; }}\n",
        conditions.join(" || ")
    );
    for compiler in ["clang-19", "gcc"] {
        let at = Workplace::with(&text);
        built(&at, "-c dc,cc,gacc", &format!("{compiler} -O2 unit.c -o unit"));
        shell(&at, "./unit && ./unit");
        let found = coverage(&at);
        let decision = &function(&found, "f")["decisions"][0];
        assert_eq!(decision["conditions"].as_array().map(Vec::len), Some(12));
        let rows = decision["rows"].as_array().expect("rows");
        // Nothing, only the eighth, and the fourth, after which evaluation stops.
        assert_eq!(rows.len(), 3, "{rows:#?}");
        assert_eq!(counts(&found, "f", "dc"), (2, 2));
    }
}

#[test]
fn undefined_values_that_evaluation_does_not_reach_change_nothing() {
    // `set` has no value where `ok` is false, and `n + 1` overflows where `n` is the greatest.
    let text = r#"
#include <limits.h>
#include <stdio.h>
static int f(int ok, int n) {
    int set;
    if (ok) set = n;
    if (ok && set == 3) return 1;
    if (n != INT_MAX && n + 1 > 5) return 2;
    return 3;
}
int main(void) {
    printf("%d%d%d%d\n", f(0, 1), f(1, 3), f(1, 9), f(0, INT_MAX));
    return 0;
}
"#;
    for compiler in ["clang-19 -O2", "clang-19 -O0", "gcc -O2", "gcc -O3"] {
        let at = Workplace::with(text);
        built(&at, "-c dc,cc,mcc,gacc", &format!("{compiler} unit.c -o unit"));
        assert_eq!(shell(&at, "./unit").out, "3123\n", "{compiler}");
    }
}

#[test]
fn exact_records_are_there_when_a_loop_that_calls_nothing_is_killed() {
    let text = "#include <signal.h>\n#include <unistd.h>\n\
        static void stop(int n) { (void)n; _exit(0); }\n\
        static int spin(volatile unsigned *v) { for (;;) { if (*v % 2) *v += 3; else *v += 1; } }\n\
        int main(void) { unsigned v = 1; signal(SIGALRM, stop); alarm(1); return spin(&v); }\n";
    let at = Workplace::with(text);
    built(&at, "--exact -c fc,dc", "clang-19 -O2 unit.c -o unit");
    assert_eq!(shell(&at, "./unit").code, Some(0));
    assert_eq!(counts(&coverage(&at), "spin", "dc"), (2, 2));
}

/// How many mutants of `at` are open, and how many covered.
fn alive_and_dead(at: &Workplace) -> (usize, usize) {
    let (all, covered) = counts(&coverage(at), "at", "wm");
    (all - covered, covered)
}

#[test]
fn a_mutant_that_differs_in_one_pass_of_a_million_is_seen_where_records_are_exact() {
    // All but one element are 0, where `-x` and `abs(x)` are no mutants. Sampling begins after
    // thousands of passes.
    let text = "#include <stdlib.h>\n\
        static int at(const int *p, int i) { return p[i] * 2; }\n\
        int main(int argc, char **argv) { (void)argv; int n = 1000000, sum = 0; \
        int *p = calloc(n, sizeof *p); p[777777] = argc - 3; \
        for (int i = 0; i < n; i++) sum += at(p, i); free(p); return sum == 100; }\n";
    let at = Workplace::with(text);
    built(&at, "-c wm", "clang-19 -O1 unit.c -o unit");
    assert_eq!(shell(&at, "./unit").code, Some(0));
    let (open, seen) = alive_and_dead(&at);
    built(&at, "--exact -c wm", "clang-19 -O1 unit.c -o unit");
    assert_eq!(shell(&at, "./unit").code, Some(0));
    let (still_open, all_seen) = alive_and_dead(&at);
    assert!(seen > 5 && all_seen >= seen + 3, "{seen} of {open}, {all_seen} of {still_open}");
}

#[test]
fn many_writes_through_pointers_and_borders_of_what_they_write_are_measured_at_once() {
    let writes: String = (0..70).map(|n| format!("*p = (unsigned char)(*p + {n}); ")).collect();
    let text = format!(
        "static int f(unsigned char *p, unsigned char v) {{ unsigned char own = v, *q = &own; \
         {}if (*p == 3) v++; return own + v + (*q > 2); }}\n\
         int main(int argc, char **argv) {{ unsigned char a = (unsigned char)argc; (void)argv; \
         return f(&a, a) > 1000; }}\n",
        writes.replace("*p", "*q")
    );
    let at = Workplace::with(&text);
    let ran = built(&at, "-c all-uses,bva,wm", "clang-19 unit.c -o unit");
    assert_eq!((shell(&at, "./unit").code, ran.err.as_str()), (Some(0), ""));
    let found = coverage(&at);
    assert_eq!(warnings(&found), "");
    assert!(counts(&found, "f", "all-uses").1 > 70);
    assert_eq!(counts(&found, "f", "bva").0, 3);
}

#[test]
fn programs_with_sanitizers_run_clean() {
    let text = "#include <pthread.h>\n#include <stdlib.h>\n\
        static int shared, locked, *some;\nstatic pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;\n\
        static void *work(void *p) { (void)p; for (int i = 0; i < 100; i++) { \
        pthread_mutex_lock(&lock); locked = 1; if (locked && shared > 50) shared = 0; shared++; some[shared % 8] = some[(shared + 3) % 8]; \
        pthread_mutex_unlock(&lock); } return 0; }\n\
        int main(void) { pthread_t a, b; some = calloc(8, sizeof *some); pthread_create(&a, 0, work, 0); \
        pthread_create(&b, 0, work, 0); pthread_join(a, 0); pthread_join(b, 0); free(some); return 0; }\n";
    for kind in ["thread", "address,undefined"] {
        let at = Workplace::with(text);
        let flags = format!("-g -O1 -fsanitize={kind} -fno-sanitize-recover=all");
        if shell(&at, &format!("clang-19 {flags} unit.c -o plain && ./plain")).code != Some(0) {
            // The sanitizer's run-time is not installed, or does not run here.
            continue;
        }
        built(&at, "-c fc,dc,cc,mcdc,wm,all-uses", &format!("clang-19 {flags} unit.c -o unit"));
        let ran = shell(&at, "./unit");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{kind}");
        assert_eq!(counts(&coverage(&at), "work", "fc"), (1, 1));
    }
}

#[test]
fn definitions_of_globals_in_other_objects_end_the_reach_of_those_here() {
    let at = Workplace::with(
        "int state = 1;\nstatic int own;\nvoid other(int n);\n\
         static void set(int n) {\n  own = n;\n}\n\
         int main(int argc, char **argv) {\n  (void)argv;\n  state = 2;\n\
         \x20 if (argc > 1)\n    other(3);\n  set(argc);\n  return state + own - 3;\n}\n",
    );
    at.write("other.c", "extern int state;\nvoid other(int n) {\n  state = state + n;\n}\n");
    for object in ["unit", "other"] {
        built(&at, "-c all-uses,all-defs", &format!("clang-19 -O2 -c {object}.c -o {object}.o"));
    }
    built(&at, "-c all-uses,all-defs", "clang-19 unit.o other.o -o unit");
    shell(&at, "./unit x");
    let status = |name: &str, text: &str| {
        let found = coverage(&at);
        let objectives = function(&found, name)["objectives"].as_array().unwrap().clone();
        let one = objectives.iter().find(|one| one["text"] == text);
        one.unwrap_or_else(|| panic!("{text}: {objectives:#?}"))["status"].clone()
    };
    let of_state = "state of `state = 2` in line 9 reaches the return in line 13";
    let of_own = "own of `own = n` in line 5 of set reaches the return in line 13";
    assert_eq!(status("main", of_own), "covered");
    assert_eq!(status("main", of_state), "missing");
    // It reads what the other unit defined, which is no definition of its own.
    let initial = "the initial value of state reaches its use in line 3";
    assert_eq!(status("other", initial), "missing");
    let of_definition = "own of `own = n` in line 5 reaches the return in line 13 of main";
    assert_eq!(status("set", of_definition), "covered");
    shell(&at, "./unit || true");
    assert_eq!(status("main", of_state), "covered");
}

#[test]
fn definitions_of_cells_in_other_objects_end_the_reach_of_those_of_the_same_cells_here() {
    let at = Workplace::with(
        "int state[2] = { 1 };\nvoid other(int n);\n\
         int main(int argc, char **argv) {\n  (void)argv;\n  state[0] = 2;\n  state[1] = 2;\n\
         \x20 if (argc > 1)\n    other(0);\n  return state[0] + state[1] > 9;\n}\n",
    );
    at.write("other.c", "extern int state[2];\nvoid other(int n) {\n  state[n] += 3;\n}\n");
    let options = "-c all-uses-cells,all-defs-cells";
    built(&at, options, "clang-19 -O2 unit.c other.c -o unit");
    let status = |name: &str, text: &str| {
        let found = coverage(&at);
        let objectives = function(&found, name)["objectives"].as_array().unwrap().clone();
        let one = objectives.iter().find(|one| one["text"] == text);
        one.unwrap_or_else(|| panic!("{text}: {objectives:#?}"))["status"].clone()
    };
    let to = |cell: &str, line: u32| {
        format!(
            "the cell of state of `{cell} = 2` in line {line} reaches `{cell}` of the return in line 9"
        )
    };
    let initial = "the initial value of state reaches `state[n]` in line 3";
    shell(&at, "./unit x");
    assert_eq!(status("main", &to("state[0]", 5)), "missing");
    assert_eq!(status("main", &to("state[1]", 6)), "covered");
    // It reads what the other unit defined.
    assert_eq!(status("other", initial), "missing");
    shell(&at, "./unit");
    assert_eq!(status("main", &to("state[0]", 5)), "covered");
}

const COUNTED: &str = r#"
#include <pthread.h>
#include <stdlib.h>
static int chosen(int n) {
    switch (n % 3) {
    case 0: return 1;
    default: return n > 5 && n != 7;
    }
}
static void *work(void *p) {
    long sum = 0;
    for (int n = 0; n < 100000; n++) sum += n;
    return p ? p : (void *)sum;
}
int main(int argc, char **argv) {
    int sum = 0;
    for (int n = 0; n < atoi(argv[1]); n++) sum += chosen(n);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(threads + i, 0, work, 0);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], 0);
    return sum == 0;
}
"#;

#[test]
fn counts_add_up_over_runs_and_atomic_ones_over_threads() {
    let at = Workplace::with(COUNTED);
    for compiler in ["gcc -O2", "clang-19 -O1"] {
        let name = format!("unit.{}", &compiler[..3]);
        built(&at, "--counts=atomic", &format!("{compiler} -pthread unit.c -o {name}"));
        shell(&at, &format!("rm -rf .lydian/cells; ./{name} 10; ./{name} 20"));
        let found = coverage(&at);
        assert_eq!(warnings(&found), "");
        let chosen = function(&found, "chosen");
        assert_eq!(chosen["entries"], 30, "{compiler}");
        let ways = &chosen["switches"][0]["ways"];
        assert_eq!([&ways[0]["count"], &ways[1]["count"]], [4 + 7, 6 + 13], "{compiler}");
        // Of n that is no multiple of 3: 4 below 6 in both runs; 7 is in both.
        let conditions = &chosen["decisions"][0]["conditions"];
        assert_eq!(conditions[0]["counts"], serde_json::json!([8, 11]), "{compiler}");
        assert_eq!(conditions[1]["counts"], serde_json::json!([2, 9]), "{compiler}");
        let turns = &function(&found, "work")["decisions"][0]["conditions"][0]["counts"];
        assert_eq!(*turns, serde_json::json!([8, 800_000]), "{compiler}");
        at.done("report --lcov counted.info");
        let lcov = at.read("counted.info");
        for record in ["FNDA:30,chosen", "FNDA:8,work", "DA:6,11", "BRDA:5,0,1,19"] {
            assert!(lcov.lines().any(|line| line == record), "{record}: {lcov}");
        }
    }
}

#[test]
fn what_is_not_counted_ran_once_for_other_tools() {
    let at = Workplace::with(COUNTED);
    built(&at, "-c stmt,bc", "gcc -pthread unit.c -o unit");
    shell(&at, "./unit 10");
    at.done("report --lcov plain.info");
    let lcov = at.read("plain.info");
    assert!(lcov.contains("FNDA:1,chosen\n") && lcov.contains("DA:6,1\n"), "{lcov}");
    assert!(function(&coverage(&at), "chosen")["entries"].is_null());
}
