//! What cannot be mutated, and mutants that do harm.

use super::{mutate, outcomes};
use crate::common::Workplace;
use crate::common::wrapped::shell;

const BUILD: &str = "$CC unit.c -o unit";

#[test]
fn tests_that_fail_without_a_mutant_are_named_with_what_they_say() {
    let at =
        Workplace::with("int puts(const char *); int main(void) { puts(\"no good\"); return 3; }");
    let ran = mutate(&at, &["unit.c", "--build", BUILD, "--test", "./unit"]);
    ran.says(2, &["`./unit`", "status 3", "without any mutant", "no good"]);
    let ran = mutate(&at, &["unit.c", "--build", BUILD, "--test", "./unti"]);
    ran.says(2, &["`./unti`", "status 127", "not found"]);
}

#[test]
fn builds_that_fail_are_told() {
    let at = Workplace::with("int main(void) { return 0 }");
    mutate(&at, &["unit.c", "--build", BUILD, "--test", "./unit"]).says(3, &["fails", "expected"]);
    let at = Workplace::with("int main(void) { return 0; }");
    let ran = mutate(&at, &["unit.c", "--build", "clang-19 unit.c -o unit", "--test", "./unit"]);
    ran.says(4, &["no mutants", "lydian cc --mutants"]);
    let at = Workplace::with("int missing(void);\nint main(void) { return missing(); }\n");
    let ran = mutate(&at, &["unit.c", "--build", BUILD, "--test", "./unit"]);
    ran.says(3, &["fails", "it says", "undefined reference to `missing'"]);
}

#[test]
fn warnings_of_the_compiler_wrapper_reach_the_user() {
    let at = Workplace::with("int main(void) { return 0; }");
    // A name of the run-time's.
    at.write("other.c", "int lydian_c_fork(int) __asm__(\"other\");\nint f(void) { return 1; }\n");
    let build = "$CC -c other.c && $CC unit.c other.o -o unit";
    let ran = mutate(&at, &["--build", build, "--test", "./unit"]);
    ran.says(0, &["warning", "other.c is compiled as it is, and without mutants"]);
}

#[test]
fn files_and_folders_that_do_not_exist_are_named() {
    let at = Workplace::with("int f(int n) { return n; }");
    mutate(&at, &["none.c", "--tests", "tests"]).says(3, &["none.c"]);
    mutate(&at, &["unit.c", "--tests", "tests"]).says(3, &["tests/tests.c", "lydian gen"]);
    mutate(&at, &["unit.c", "--tests", "t", "--operators", "XYZ"]).says(2, &["XYZ", "AOR"]);
}

#[test]
fn a_revision_that_does_not_exist_is_named() {
    let at = Workplace::with("int main(void) { return 0; }");
    assert_eq!(shell(&at, "git init -q .").code, Some(0));
    let words = ["unit.c", "--build", BUILD, "--test", "./unit", "--since", "nowhere"];
    mutate(&at, &words).says(2, &["nowhere", "--since takes a commit"]);
}

/// The deletion of `n++` hangs, that of `done = 1` starts processes, and that of `left--` writes.
const HARMFUL: &str = "\
#include <stdio.h>
#include <unistd.h>
int main(int count, char **words)
{
    int n = 0, done = 0, left = 3;
    FILE *file;
    (void)words;
    while (n < 5)
        n++;
    if (count > 1) {
        done = 1;
        if (!done)
            for (n = 0; n < 20; n++)
                if (fork() == 0)
                    pause();
    }
    file = fopen(\"out\", \"w\");
    while (file && left > 0) {
        for (n = 0; n < 100000; n++)
            fputs(\"0123456789\", file);
        fflush(file);
        left--;
    }
    return file ? fclose(file) : 1;
}
";

#[test]
fn mutants_that_hang_start_processes_or_fill_the_disk_are_stopped() {
    let at = Workplace::with(HARMFUL);
    let words = ["--build", BUILD, "--test", "./unit 1", "--operators", "SDL", "--json", "m.json"];
    let ran = mutate(&at, &[&["unit.c"][..], &words].concat());
    assert_eq!(ran.code, Some(0), "{ran}");
    let of = |line: u64| {
        let all = outcomes(&at.json("m.json"));
        let found: Vec<String> = all.into_iter().filter(|it| it.1 == line).map(|it| it.2).collect();
        found.join(" ")
    };
    assert_eq!(of(9), "killed", "it hangs");
    assert_eq!(of(11), "survived", "it starts processes, and returns 0");
    assert_eq!(of(22), "killed", "it writes without an end");
    let size = at.path("out").metadata().unwrap().len();
    assert!(size <= 256 << 20, "{size}");
    let left = shell(&at, "pgrep -fx './unit 1' || true");
    assert_eq!(left.out, "", "no process of a mutant is left");
}
