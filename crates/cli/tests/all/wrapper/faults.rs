//! Faults between a build and its report: what is killed, full, damaged, changed or of another
//! version. Each costs what it must and no more, and the message says what to do.

use std::io::BufRead as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Command, Stdio};

use crate::common::wrapped::{built, cc, counts, coverage, entered, function, shell, warnings};
use crate::common::{self, Ran, Workplace, entries, wait_until};

/// A program whose run can be stopped in the middle: it says where it is, and waits.
const WAITS: &str = r#"
#include <stdio.h>
static int before(int n) { return n > 0 && n < 9 ? 1 : 2; }
static int after(int n) { return n > 0 ? 1 : 2; }
int main(int argc, char **argv) {
    (void)argv;
    int found = before(argc);
    puts("ready");
    fflush(stdout);
    found += getchar();
    return after(found) == 3;
}
"#;

const SMALL: &str = "int main(int c, char **v) { (void)v; return c > 3 && c < 9; }\n";

/// A build of a small program that ran once.
fn ran_once() -> Workplace {
    let at = Workplace::with(SMALL);
    built(&at, "-c fc,dc", "clang-19 unit.c -o unit");
    assert_eq!(shell(&at, "./unit").code, Some(0));
    at
}

/// Starts the program that waits, and returns it where it does.
fn waiting(at: &Workplace) -> std::process::Child {
    let mut command = Command::new(at.path("unit"));
    at.settle(&mut command);
    let mut child =
        command.stdin(Stdio::piped()).env_remove("LYDIAN_DIR").spawn().expect("it starts");
    let mut line = String::new();
    let out = child.stdout.as_mut().expect("a pipe");
    std::io::BufReader::new(out).read_line(&mut line).expect("it says something");
    assert_eq!(line, "ready\n");
    child
}

#[test]
fn a_run_that_is_killed_counts_up_to_there_and_can_be_reported_meanwhile() {
    let at = Workplace::with(WAITS);
    built(&at, "-c fc,dc,mcdc", "clang-19 -O2 unit.c -o unit");
    let mut child = waiting(&at);
    let during = coverage(&at);
    assert!(entered(&during, "before") && !entered(&during, "after"));
    child.kill().expect("it can be killed");
    assert_eq!(child.wait().expect("it ends").signal(), Some(9));
    let found = coverage(&at);
    assert_eq!(counts(&found, "before", "dc"), (2, 1));
    assert!(entered(&found, "before") && !entered(&found, "after"));
    assert_eq!(warnings(&found), "");
    // What the next run covers is added.
    drop(shell(&at, "echo | ./unit 1 2 3 4 5 6 7 8 9"));
    let found = coverage(&at);
    assert_eq!(counts(&found, "before", "dc"), (2, 2));
    assert!(entered(&found, "after"));
}

#[test]
fn a_build_that_is_killed_leaves_nothing_that_disturbs_the_next() {
    let at = Workplace::with(SMALL);
    // A compiler that waits where it is given the instrumented text.
    at.write(
        "slow",
        "#!/bin/sh\ncase \"$*\" in *unit.i*) touch begun; exec sleep 100;; esac\nexec clang-19 \"$@\"\n",
    );
    shell(&at, "chmod +x slow");
    let mut command = at.command("cc -c fc,dc -- ./slow -c unit.c");
    let mut child = command.process_group(0).env_remove("LYDIAN_DIR").spawn().expect("it starts");
    wait_until("the compiler begins", || at.path("begun").exists());
    shell(&at, &format!("kill -9 -{}", child.id()));
    assert_eq!(child.wait().expect("it ends").signal(), Some(9));
    assert!(!at.path("unit.o").exists());
    at.refused("report", 2, &["knows of no build", "lydian cc"]);
    built(&at, "-c fc,dc", "clang-19 -c unit.c");
    built(&at, "-c fc,dc", "clang-19 unit.o -o unit");
    shell(&at, "./unit");
    let found = coverage(&at);
    assert_eq!((counts(&found, "main", "dc"), warnings(&found).as_str()), ((2, 1), ""));
}

#[test]
fn builds_at_once_in_one_store_do_not_disturb_each_other() {
    let at = Workplace::with("");
    let mut calls = String::new();
    for number in 0..6 {
        let text = format!("int f{number}(int n) {{ return n > {number} && n < 9; }}\n");
        at.write(&format!("f{number}.c"), &text);
        calls += &format!("int f{number}(int); n += f{number}(5); ");
    }
    at.write("main.c", &format!("int main(void) {{ int n = 0; {calls} return n != 5; }}\n"));
    let lydian = common::LYDIAN;
    let line = format!(
        "for f in f0 f1 f2 f3 f4 f5 main; do {lydian} cc -c fc,dc -- clang-19 -c $f.c & done; wait; \
         {lydian} cc -- clang-19 f?.o main.o -o unit && (./unit & ./unit & wait) && ./unit"
    );
    let ran = shell(&at, &line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran}");
    let found = coverage(&at);
    assert_eq!(warnings(&found), "");
    for number in 0..6 {
        assert_eq!(counts(&found, &format!("f{number}"), "dc"), (2, 1));
    }
}

/// Runs a script with a small disk of its own in `disk`, where such can be had.
fn with_small_disk(at: &Workplace, script: &str) -> Option<Ran> {
    std::fs::create_dir(at.path("disk")).expect("a folder");
    let script = format!("mount -t tmpfs -o size=1m none disk || exit 99\n{script}");
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", &script, "sh", common::LYDIAN]);
    at.settle(&mut command);
    command.env_remove("LYDIAN_DIR");
    let ran = Ran::from(command.output().ok()?);
    let is_forbidden = ran.code == Some(99) || ran.err.contains("unshare:");
    (!is_forbidden).then_some(ran)
}

#[test]
fn a_full_disk_under_the_store_costs_the_measurement_and_no_build() {
    let at = Workplace::with(SMALL);
    let script = "dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null\n\
        \"$1\" cc --dir disk/store -- clang-19 -c unit.c -o unit.o || exit 98\n\
        \"$1\" cc --dir disk/store -- clang-19 unit.o -o unit || exit 97\n\
        rm disk/filler\n\
        ./unit\n";
    let Some(ran) = with_small_disk(&at, script) else { return };
    ran.says(0, &["unit.c is compiled as it is, and not measured", "No space left", "disk/store"]);
}

#[test]
fn a_full_disk_under_the_counters_is_told_by_the_report() {
    let at = Workplace::with(SMALL);
    let script = "\"$1\" cc -c fc --dir disk/store -- clang-19 unit.c -o unit || exit 98\n\
        dd if=/dev/zero of=disk/filler bs=1 count=1 2>/dev/null\n\
        dd if=/dev/zero of=disk/more bs=1k 2>/dev/null\n\
        ./unit || exit 97\n\
        rm disk/more\n\
        \"$1\" report --dir disk/store\n";
    let Some(ran) = with_small_disk(&at, script) else { return };
    // Whether not even an empty file could be left depends on the disk.
    ran.says(0, &["run"]);
    let told = ["some runs could not be counted", "no run was counted"];
    assert!(told.iter().any(|words| ran.err.contains(words)), "{ran}");
}

#[test]
fn a_full_disk_under_a_report_keeps_the_one_before() {
    let at = ran_once();
    let script = "\"$1\" report --json disk/c.json > /dev/null || exit 98\n\
        cp disk/c.json before.json\n\
        dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null\n\
        \"$1\" report --json disk/c.json\n\
        code=$?\n\
        cmp disk/c.json before.json || exit 97\n\
        \"$1\" report --html disk/pages\n\
        test $? = $code || exit 96\n\
        exit $code\n";
    let Some(ran) = with_small_disk(&at, script) else { return };
    ran.says(5, &["error[output]: cannot write disk/c.json", "disk/pages", "make room and run"]);
}

#[test]
fn a_report_goes_through_a_pipe_and_over_a_link() {
    let at = ran_once();
    let lydian = common::LYDIAN;
    let line = format!(
        "mkfifo pipe && (cat pipe > got.json &) && {lydian} report --json pipe > /dev/null && \
         test -p pipe && echo old > real.json && ln -s real.json link.json && \
         {lydian} report --json link.json > /dev/null && test -L link.json"
    );
    let ran = shell(&at, &line);
    assert_eq!(ran.code, Some(0), "{ran}");
    wait_until("the reader is done", || {
        at.read("got.json").ends_with('}') || at.read("got.json").ends_with("}\n")
    });
    assert_eq!(at.json("got.json"), at.json("real.json"));
}

#[test]
fn what_is_no_counter_file_is_told_and_costs_nothing_else() {
    let at = ran_once();
    let cells = at.path(".lydian/cells");
    let noise: Vec<u8> = (0..4096u32).map(|n| (n.wrapping_mul(2654435761) >> 13) as u8).collect();
    std::fs::write(cells.join("noise"), noise).expect("it can be written");
    std::fs::write(cells.join("short"), "hello").expect("it can be written");
    std::fs::write(cells.join("empty"), "").expect("it can be written");
    std::fs::create_dir(cells.join("folder")).expect("it can be made");
    let found = coverage(&at);
    let said = warnings(&found);
    for (name, words) in [
        ("noise", "the counter file is damaged"),
        ("short", "the counter file is cut off"),
        ("folder", "cannot be read"),
    ] {
        let line = said.lines().find(|line| line.contains(&format!("cells/{name}")));
        let line = line.unwrap_or_else(|| panic!("{name}: {said}"));
        assert!(
            line.contains(words) && line.contains("remove it and run the program again"),
            "{line}"
        );
    }
    assert_eq!(counts(&found, "main", "dc"), (2, 1));
    // Removing what is named mends it.
    shell(&at, "cd .lydian/cells && rm -r noise short empty folder");
    assert_eq!(warnings(&coverage(&at)), "");
}

#[test]
fn damaged_notes_are_told_and_building_again_mends_them() {
    let at = ran_once();
    let path = entries(&at.path(".lydian/notes")).remove(0);
    let mut bytes = std::fs::read(&path).expect("the notes can be read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0xff;
    std::fs::write(&path, &bytes).expect("the notes can be written");
    let said = "unit.c is left out: its notes are damaged; build it again";
    at.run("report").says(0, &[said]);
    at.refused("report --fail-under dc=1", 2, &[said, "dc was not measured"]);
    built(&at, "-c fc,dc", "clang-19 unit.c -o unit");
    let found = coverage(&at);
    // It is the same build, so what ran before counts.
    assert_eq!((counts(&found, "main", "dc"), warnings(&found).as_str()), ((2, 1), ""));
}

#[test]
fn damaged_records_of_a_build_are_told() {
    let at = ran_once();
    for folder in ["units", "images"] {
        let path = entries(&at.path(&format!(".lydian/{folder}"))).remove(0);
        let sound = std::fs::read(&path).expect("the record can be read");
        std::fs::write(&path, &sound[..sound.len() / 2]).expect("the record can be written");
        let found = coverage(&at);
        let said = warnings(&found);
        let name = path.display().to_string();
        assert!(said.contains(&name) && said.contains("remove it and build again"), "{said}");
        // The other record knows of the unit, too.
        assert_eq!(counts(&found, "main", "dc"), (2, 1));
        std::fs::remove_file(&path).expect("it can be removed");
        built(&at, "-c fc,dc", "clang-19 unit.c -o unit");
        assert_eq!(warnings(&coverage(&at)), "");
    }
}

#[test]
fn notes_of_another_version_are_told_and_building_again_mends_them() {
    let at = ran_once();
    let path = entries(&at.path(".lydian/notes")).remove(0);
    let mut bytes = std::fs::read(&path).expect("the notes can be read");
    bytes[0] = bytes[0].wrapping_sub(1);
    std::fs::write(&path, &bytes).expect("the notes can be written");
    let ran = at.run("report");
    ran.says(0, &["unit.c is left out: another version of Lydian compiled it; build it again"]);
    // Without the record of its compilation a unit is known by what it is linked into.
    shell(&at, "rm -r .lydian/units");
    at.run("report").says(0, &["a unit of ", "/unit is left out: another version"]);
    built(&at, "-c fc,dc", "clang-19 unit.c -o unit");
    let found = coverage(&at);
    assert_eq!((counts(&found, "main", "dc"), warnings(&found).as_str()), ((2, 1), ""));
}

#[test]
fn a_report_in_the_json_of_another_version_is_refused_with_what_to_do() {
    let at = ran_once();
    at.done("report --json c.json");
    let text = at.read("c.json");
    let other = text.replacen("\"version\": 1", "\"version\": 2", 1);
    let other =
        if other == text { text.replacen("\"version\":1", "\"version\":2", 1) } else { other };
    at.write("other.json", &other);
    at.refused("report --from-json other.json", 2, &["other.json", "version 2", "write it again"]);
    at.write("cut.json", &text[..text.len() / 2]);
    at.refused("report --from-json cut.json", 2, &["cut.json"]);
}

#[test]
fn a_source_that_changed_or_went_is_told_and_no_line_of_another_text_is_shown() {
    let at = ran_once();
    at.write("unit.c", "int nothing_of_this_was_compiled;\n");
    for what in ["changed", "gone"] {
        let ran = at.run("report --html pages --lcov l.info");
        ran.says(0, &["unit.c has changed since it was compiled; build it again"]);
        let page = at.read("pages/src_unit.c.html");
        assert!(!page.contains("nothing_of_this"), "{what}");
        assert!(at.read("l.info").contains("FNDA:1,main"), "{what}");
        let found = coverage(&at);
        assert_eq!(found["files"][0]["changed"], true, "{what}");
        assert_eq!(function(&found, "main")["entered"], true);
        drop(std::fs::remove_file(at.path("unit.c")));
    }
}

#[test]
fn a_report_without_a_build_or_a_run_says_which() {
    let at = Workplace::with(SMALL);
    at.refused("report", 2, &["there is no", ".lydian", "lydian cc"]);
    std::fs::create_dir(at.path(".lydian")).expect("a folder");
    at.refused("report", 2, &["knows of no build", "lydian cc"]);
    built(&at, "-c fc,dc", "clang-19 unit.c -o unit");
    at.run("report").says(0, &["no run was counted", "run the program first"]);
    at.run("report --fail-under fc=1").says(1, &["fc is covered to 0.0%"]);
}

#[test]
fn wrong_words_and_a_missing_compiler_have_the_documented_codes() {
    let at = Workplace::with(SMALL);
    let ran = cc(&at, "-c dcc,nonsense", "clang-19 -c unit.c");
    ran.says(2, &["nonsense"]);
    let ran = cc(&at, "--compiler no-such-compiler", "-c unit.c");
    ran.says(5, &["no-such-compiler"]);
    at.write("broken.c", "int main(void) { return }\n");
    assert_eq!(cc(&at, "", "clang-19 -c broken.c").code, Some(1));
    let both = cc(&at, "", "clang-19 -c unit.c broken.c");
    assert_eq!(both.code, Some(1), "{both}");
    assert!(at.path("unit.o").exists());
}

#[test]
fn an_error_that_the_compiler_foresees_is_recorded_before_it() {
    // What is undefined makes dead code of all that can only lead there.
    let text = "static int quotient(int a, int b) { return a / b; }\n\
        static int stored(int n) { int *p = 0; if (n > 1) *p = 3; return 5; }\n\
        int main(int c, char **v) { (void)v; return c > 2 ? quotient(1, 0) : stored(c); }\n";
    for compiler in ["clang-19 -O2 -mllvm -trap-unreachable", "gcc -O2"] {
        for criteria in ["rte", "rte,wm"] {
            let at = Workplace::with(text);
            built(&at, &format!("-c {criteria}"), &format!("{compiler} -w unit.c -o unit"));
            drop(shell(&at, "./unit 1"));
            drop(shell(&at, "./unit 1 2"));
            let found = coverage(&at);
            assert_eq!(counts(&found, "quotient", "rte"), (2, 1), "{compiler} {criteria}");
            assert_eq!(counts(&found, "stored", "rte"), (1, 1), "{compiler} {criteria}");
        }
    }
}
