//! Hostile programs leave nothing behind, and are reported as what they tried. Functions of the C library
//! that would do such things are stubs, so the programs call the kernel themselves.
//!
//! Signals to others are number 0, which only asks: where confinement failed, this machine would go on.

use crate::common::{Ran, Workplace, entries};

const KERNEL: &str = r#"
static long call(long n, long a, long b, long c) {
    long r;
    __asm__ volatile("syscall" : "=a"(r) : "a"(n), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return r;
}
static long narrow(long n, long a, long b, long c) {
    long r;
    __asm__ volatile("int $0x80" : "=a"(r) : "a"(n), "b"(a), "c"(b), "d"(c) : "memory");
    return r;
}
"#;

/// A folder in which tests were made for `int f(int x)`, whose body is given, and what was said. `HERE` in the
/// body is the folder.
fn attacked_with(body: &str, words: &str) -> (Workplace, Ran) {
    let place = Workplace::with("");
    let here = place.path("").display().to_string();
    let text = format!("{KERNEL}\nint f(int x) {{ {} }}\n", body.replace("HERE", &here));
    place.write("unit.c", &text);
    place.write("secret", "of the user");
    let ran = place.done(&format!("gen unit.c -f f -c bc --time 20 --json t.json {words}"));
    (place, ran)
}

/// The same, which is to try these things where `x` is above 9, and to leave nothing behind.
fn tries(body: &str, whats: &[&str]) {
    let (place, ran) = attacked_with(&format!("if (x > 9) {{ {body} }} return 0;"), "");
    let here = place.path("").display().to_string();
    let table = place.json("t.json");
    let attempts = table["functions"][0]["attempts"].to_string();
    let suite = place.json("tests/tests.json")["tests"].to_string();
    for what in whats.iter().map(|what| what.replace("HERE", &here)) {
        assert!(ran.err.contains(&what), "`{what}` is not told: {ran}");
        assert!(attempts.contains(&what), "`{what}` is not in the table: {attempts}");
        assert!(suite.contains(&what), "`{what}` is not in the suite: {suite}");
    }
    assert!(ran.err.contains("warning[attempt]: `f` tried to"), "{ran}");
    assert!(!ran.err.contains("warning[unconfined]"), "{ran}");
    assert_eq!(place.left_over(), Vec::<std::path::PathBuf>::new());
    let names =
        entries(&place.path("")).into_iter().map(|path| path.file_name().unwrap().to_owned());
    let names: Vec<_> = names.collect();
    assert_eq!(names, ["secret", "t.json", "tests", "tmp", "unit.c"], "{ran}");
    assert_eq!(place.read("secret"), "of the user");
}

#[test]
fn a_folder_is_not_made_by_inline_assembly() {
    tries("return call(83, (long)\"HEREmade\", 0755, 0) < 0;", &["make the folder `HEREmade`"]);
    // In its own folder neither: that would stay where the suite runs.
    tries("return call(83, (long)\"made\", 0755, 0) < 0;", &["make the folder `made`"]);
}

#[test]
fn a_fork_bomb_starts_no_process() {
    tries(
        "for (int i = 0; i < 1000; i++) \
         if (call(57, 0, 0, 0) > 0 || call(58, 0, 0, 0) > 0 || call(56, 17, 0, 0) > 0) return 2; \
         return 1;",
        &["start a process"],
    );
}

#[test]
fn a_program_is_not_run() {
    tries(
        "char *a[] = {\"/bin/true\", 0}; return call(59, (long)a[0], (long)a, 0) < 0;",
        &["run the program `/bin/true`"],
    );
}

#[test]
fn a_gigabyte_is_not_written() {
    tries(
        "static char block[1 << 20]; long to = call(2, (long)\"big\", 0101, 0600); \
         for (int i = 0; i < 1024; i++) if (call(1, to, (long)block, sizeof block) < 0) return -1; \
         return 1;",
        &["make the file `big`", "write a file of more than 64 MiB"],
    );
}

#[test]
fn signals_reach_nobody_else() {
    tries(
        "return call(62, call(110, 0, 0, 0), 0, 0) < 0 && call(62, -1, 0, 0) < 0 \
         && call(62, 0, 0, 0) < 0 && call(200, 1, 0, 0) < 0;",
        &[
            "send signal 0 to the process that runs it",
            "send signal 0 to all processes",
            "send signal 0 to the processes of its group",
            "send signal 0 to process 1",
        ],
    );
}

#[test]
fn files_of_the_user_are_not_read_and_not_changed() {
    tries(
        "return call(2, (long)\"HEREsecret\", 0, 0) < 0 && call(2, (long)\"HEREsecret\", 1, 0) < 0 \
         && call(87, (long)\"HEREsecret\", 0, 0) < 0 && call(76, (long)\"HEREsecret\", 0, 0) < 0 \
         && call(90, (long)\"HEREsecret\", 0, 0) < 0 \
         && call(82, (long)\"HEREsecret\", (long)\"HEREmoved\", 0) < 0 \
         && call(2, (long)\"HEREtests\", 0200000, 0) < 0;",
        &[
            "read `HEREsecret`",
            "write to `HEREsecret`",
            "remove `HEREsecret`",
            "cut off `HEREsecret`",
            "change the mode of `HEREsecret`",
            "rename `HEREsecret` to `HEREmoved`",
            "read `HEREtests`",
        ],
    );
}

#[test]
fn links_lead_nowhere() {
    tries(
        "call(88, (long)\"HEREsecret\", (long)\"soft\", 0); call(86, (long)\"HEREsecret\", (long)\"hard\", 0); \
         return call(2, (long)\"soft\", 1, 0) < 0 && call(2, (long)\"hard\", 1, 0) < 0;",
        &["link `HEREsecret` as `soft`", "link `HEREsecret` as `hard`"],
    );
}

#[test]
fn the_network_and_other_processes_are_out_of_reach() {
    tries(
        "return call(41, 2, 1, 0) < 0 && call(41, 1, 1, 0) < 0 \
         && call(101, 16, call(110, 0, 0, 0), 0) < 0 && call(310, call(110, 0, 0, 0), 0, 0) < 0;",
        &[
            "open a socket (IPv4)",
            "open a socket (local)",
            "trace a process",
            "read the memory of a process",
        ],
    );
}

#[test]
fn other_tables_of_calls_are_no_way_round() {
    tries(
        "static const char path[] = \"HEREmade\"; \
         return narrow(39, (long)path, 0755, 0) < 0 && call(0x40000000 | 83, (long)path, 0755, 0) < 0 \
         && narrow(20, 0, 0, 0) < 0 && call(9999, 0, 0, 0) < 0;",
        &[
            "make the folder `HEREmade` (as x32 system call)",
            "(as 32-bit system call)",
            "make the 32-bit system call getpid",
            "make the system call 9999",
        ],
    );
}

#[test]
fn a_program_that_blocks_the_telling_signal_is_ended_and_told() {
    tries(
        "unsigned long all = -1; long r; \
         register long size __asm__(\"r10\") = 8; \
         __asm__ volatile(\"syscall\" : \"=a\"(r) : \"a\"(14L), \"D\"(0L), \"S\"(&all), \"d\"(0L), \"r\"(size) \
                          : \"rcx\", \"r11\", \"memory\"); \
         return call(57, 0, 0, 0);",
        &["make a system call that is refused while it blocks the signal which tells of it"],
    );
}

#[test]
fn what_is_harmless_is_no_attempt() {
    let (_, ran) = attacked_with(
        "if (x > 9) { \
         static const char *files[] = {\"/etc/localtime\", \"/dev/urandom\", \"/proc/self/status\", \
             \"/usr/include\", \"/proc/cpuinfo\", \"/no/such/file\"}; \
         for (int i = 0; i < 6; i++) call(2, (long)files[i], 0, 0); \
         call(2, (long)\"/dev/null\", 0101, 0600); char two[64]; call(16, 1, 0x5401, (long)two); \
         call(62, call(39, 0, 0, 0), 0, 0); call(318, (long)two, 8, 0); call(63, (long)two, 0, 0); \
         return call(39, 0, 0, 0) > 0; } return 0;",
        "",
    );
    assert!(!ran.err.contains("tried"), "{ran}");
}

#[test]
fn constructors_run_where_a_test_calls_them_and_are_confined_there() {
    let place = Workplace::with(&format!(
        "{KERNEL}\n__attribute__((constructor)) static void first(void) {{ call(83, (long)\"made\", 0755, 0); }}\n\
         int f(int x) {{ if (x > 9) return 1; return 0; }}\n"
    ));
    let ran = place.done("gen unit.c -f f -c bc");
    assert!(!ran.err.contains("tried"), "{ran}");
    let ran = place.done("gen unit.c -f first -c stmt -o of_first");
    assert!(ran.err.contains("`first` tried to make the folder `made`; refused"), "{ran}");
    assert!(!place.path("made").exists() && !place.path("tests/made").exists(), "{ran}");
}

#[test]
fn tests_that_reach_out_stand_behind_a_macro_and_say_what_they_do() {
    let body = "if (x == 7) return call(83, (long)\"made\", 0755, 0) < 0; return 2;";
    let (place, _) = attacked_with(body, "");
    let suite = place.read("tests/tests.c");
    assert!(
        suite.contains("It tries to make the folder `made` */\n#ifdef LYDIAN_RUN_UNCONFINED\n"),
        "{suite}"
    );
    let run = |flags: &str| {
        let mut compiler = std::process::Command::new("cc");
        compiler.args(["-w", "tests/tests.c", "-o", "suite"]).args(flags.split_whitespace());
        place.settle(&mut compiler);
        let ran = Ran::of(&mut compiler);
        assert_eq!(ran.code, Some(0), "{ran}");
        let mut suite = std::process::Command::new(place.path("suite"));
        place.settle(&mut suite);
        Ran::of(&mut suite);
        place.path("made").is_dir()
    };
    assert!(!run("") && run("-DLYDIAN_RUN_UNCONFINED"));
}

#[test]
fn cover_tells_of_attempts_and_reads_them_back() {
    let body = "if (x > 9) return call(57, 0, 0, 0) < 0; return 2;";
    let (place, _) = attacked_with(body, "");
    let ran = place.done("cover unit.c -f f -c bc --tests tests --json c.json");
    assert!(ran.err.contains("`f` tried to start a process; refused (confined)"), "{ran}");
    let attempts = &place.json("c.json")["functions"][0]["attempts"];
    assert_eq!(attempts[0]["call"], "fork", "{attempts}");
}

#[test]
fn unconfined_programs_do_what_they_like() {
    let body = "if (x > 9) return call(83, (long)\"HEREmade\", 0755, 0) < 0; return 2;";
    let (place, ran) = attacked_with(body, "--unconfined");
    assert!(place.path("made").is_dir(), "{ran}");
    assert!(!ran.err.contains("tried"), "{ran}");
}

#[test]
fn what_the_kernel_lacks_is_said_once() {
    let body = "if (x > 9) return call(57, 0, 0, 0) < 0; return 2;";
    let (place, _) = attacked_with(body, "");
    let said = |without: &str| {
        let mut command = place.command("cover unit.c -f f -c bc --tests tests");
        let ran = Ran::of(command.env("LYDIAN_WITHOUT", without));
        assert_eq!(ran.code, Some(0), "{ran}");
        assert_eq!(ran.err.matches("warning[unconfined]").count(), 1, "{ran}");
        ran.err
    };
    let all = said("landlock");
    assert!(all.contains("no Landlock") && all.contains("tried to start a process"), "{all}");
    let body = "if (x > 9) return call(83, (long)\"HEREmade\", 0755, 0) < 0; return 2;";
    let (place, _) = attacked_with(body, "");
    let mut command = place.command("cover unit.c -f f -c bc --tests tests");
    let ran = Ran::of(command.env("LYDIAN_WITHOUT", "seccomp"));
    assert!(ran.err.contains("no filters of system calls"), "{ran}");
    assert!(!place.path("made").exists());
}

#[test]
fn whole_programs_keep_their_files_and_are_confined() {
    let place = Workplace::with(&format!(
        "#include <stdio.h>\n{KERNEL}\n\
         int main(void) {{ FILE *in = fopen(\"A\", \"r\"); if (!in) return 3; int c = fgetc(in); \
         if (c == 'x') return call(83, (long)\"made\", 0755, 0) < 0; return 0; }}\n"
    ));
    let ran = place.done("gen unit.c --program --sym-files 1 2 -c bc --time 20");
    assert!(ran.err.contains("`main` tried to make the folder `made`; refused"), "{ran}");
    assert!(!ran.err.contains("`A`"), "{ran}");
}
