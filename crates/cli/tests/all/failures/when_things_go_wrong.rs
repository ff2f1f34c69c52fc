//! What the command says and how it ends when something is in its way: exit codes are those of
//! `docs/exit-codes.md`.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use crate::common::{self, LONG, Ran, Workplace, entries, figures, is_alive, wait_until};

const SIGN: &str = "int sign(int x) { if (x > 0) return 1; if (x < 0) return -1; return 0; }\n";

#[test]
fn a_missing_file_is_named() {
    let place = Workplace::with(SIGN);
    for command in ["gen", "objectives", "ir", "init"] {
        let ran = place.refused(&format!("{command} nowhere.c"), 3, &["nowhere.c"]);
        assert!(ran.err.starts_with("error"), "{ran}");
    }
    place.refused("cover nowhere.c --tests tests", 3, &["nowhere.c"]);
    assert!(!place.path("tests").exists());
}

#[test]
fn a_syntax_error_is_shown_with_its_line() {
    let place = Workplace::with("int f(int x)\n{\n    return x +;\n}\n");
    place.refused("gen unit.c", 3, &["error", "unit.c:3:15", "return x +;", "expected expression"]);
}

#[test]
fn a_file_that_has_no_function_or_is_another_language_is_told() {
    let place = Workplace::with("int table[2] = {1, 2};\n");
    let said = ["error[nothing-to-test]", "unit.c defines no function", "name the file"];
    place.refused("gen unit.c", 4, &said);
    place.write("unit.cpp", SIGN);
    place.refused("gen unit.cpp", 3, &["unit.cpp is C++ by its name", "Lydian reads C"]);
    place.write("other.c", "class A { int x; };\n");
    place.refused("gen other.c", 3, &["unknown type name 'class'", "this looks like C++"]);
}

#[test]
fn a_source_among_the_flags_of_the_compiler_is_told() {
    let place = Workplace::with(SIGN);
    place.write("more.c", "int more(void) { return 1; }\n");
    let said = ["more.c is a source file among the compiler's flags", "`--with more.c`"];
    place.refused("gen unit.c -- -I. more.c", 2, &said);
}

#[test]
fn a_criterion_that_is_not_known_is_answered_with_those_that_are_and_their_sets() {
    let place = Workplace::with(SIGN);
    place.refused("gen unit.c -c stmnt", 2, &["`stmnt`", "mcdc", "do178c-a", "mutation"]);
    let shown = place.done("objectives unit.c -c iso26262-d,stmt").out;
    for criterion in ["fc:", "fcc:", "stmt:", "bc:", "mcdc:"] {
        assert_eq!(shown.matches(&format!("sign {criterion}")).count(), 1, "{shown}");
    }
}

#[test]
fn an_include_that_is_not_found_is_shown() {
    let place = Workplace::with("#include \"absent.h\"\nint f(void) { return 1; }\n");
    place.refused("gen unit.c", 3, &["absent.h", "unit.c:1"]);
}

#[test]
fn an_unknown_function_gets_a_suggestion() {
    let place = Workplace::with(SIGN);
    place.refused("gen unit.c --function sing", 3, &["unit.c does not define `sing`", "`sign`"]);
    place.refused("gen unit.c --function zzz", 3, &["`zzz`", "lydian objectives unit.c"]);
}

/// `odd` computes with a type that is not supported.
const UNSUPPORTED: &str = "\
int plain(int x) { return x > 3; }
int odd(int x)
{
    __float128 wide = x;
    return wide > 3 && x < 9;
}
int tested(int x) { if (x > 3) return 1; return 0; }
";

#[test]
fn an_unsupported_construct_leaves_out_one_function_and_the_others_go_on() {
    let place = Workplace::with(UNSUPPORTED);
    let ran = place.done("gen unit.c -c dc --json t.json");
    ran.says(0, &["warning[unsupported-construct]", "unit.c:4:", "__float128", "odd"]);
    assert_eq!(figures(&place.json("t.json"), "tested", "dc"), [2, 2, 0, 0, 0]);
}

#[test]
fn an_unsupported_function_alone_ends_with_its_own_code() {
    let place = Workplace::with(UNSUPPORTED);
    place.refused("gen unit.c --function odd", 4, &["unit.c:4:", "odd", "nothing-supported"]);
    let ran = place.done("gen unit.c --function tested -c dc");
    assert!(!ran.err.contains("unit.c:4:"), "odd was not asked for: {ran}");
    assert!(ran.err.contains("1 more unsupported construct is outside"), "{ran}");
}

#[test]
fn a_32_bit_program_is_refused_where_tests_of_it_are_asked_for_and_nowhere_else() {
    let place = Workplace::with("int f(int *p) { if (*p > (long)sizeof p) return 1; return 0; }\n");
    place.refused("gen unit.c -- -m32", 4, &["unsupported-target", "-m32"]);
    let ran = place.done("objectives unit.c -c dc -- -m32");
    assert!(ran.out.contains("*p"), "{ran}");
}

#[test]
fn what_headers_have_that_is_not_supported_is_only_counted() {
    let place =
        Workplace::with("#include \"odd.h\"\nint f(int x) { if (x) return 1; return 0; }\n");
    place.write(
        "odd.h",
        "static inline int a(int x) { return (__float128)x > 3; }\n\
         static inline int b(int x) { return (__float128)x < 3; }\n",
    );
    let ran = place.done("gen unit.c -c dc");
    assert!(!ran.err.contains("odd.h"), "{ran}");
    assert!(ran.err.contains("2 more unsupported constructs are outside"), "{ran}");
}

#[test]
fn a_function_with_inline_assembly_gets_a_warning_and_tests_that_are_measured() {
    let place = Workplace::with(
        "int odd(int x)\n{\n    __asm__(\"incl %0\" : \"+r\"(x));\n    \
         return x > 3 && x < 9;\n}\n",
    );
    let ran = place.done("gen unit.c -c dc --json t.json");
    ran.says(0, &["warning[inline-assembly]", "unit.c:3:5", "odd"]);
    let [objectives, _, infeasible, _, _] = figures(&place.json("t.json"), "odd", "dc");
    assert_eq!((objectives, infeasible), (2, 0));
}

#[test]
fn a_file_that_only_includes_others_means_their_functions() {
    let place = Workplace::with("#include <ctype.h>\n#include \"part.c\"\n");
    place.write("part.c", SIGN);
    place.done("gen unit.c -c dc --json t.json");
    assert_eq!(figures(&place.json("t.json"), "sign", "dc"), [4, 4, 0, 0, 0]);
}

/// Runs the command, which is not to take much longer than its budget of two seconds.
fn within_budget(place: &Workplace, words: &str) -> Ran {
    let begun = Instant::now();
    let ran =
        place.done(&format!("gen unit.c -c dc --time 2 --test-time 200 --json t.json {words}"));
    // Starting, compiling twice and a loaded machine are allowed for.
    assert!(begun.elapsed() < Duration::from_secs(40), "{:?}: {ran}", begun.elapsed());
    ran
}

#[test]
fn an_endless_loop_ends_with_the_budget() {
    let place =
        Workplace::with("int f(int x) { if (x == 7) while (1); if (x > 9) return 1; return 0; }\n");
    within_budget(&place, "");
    let [objectives, covered, infeasible, _, unknown] = figures(&place.json("t.json"), "f", "dc");
    assert_eq!((objectives, infeasible), (4, 0), "a run without end proves nothing");
    assert_eq!((covered, unknown), (4, 0));
}

#[test]
fn a_loop_without_end_for_some_inputs_is_cut_and_the_rest_is_unknown_with_the_reason() {
    let place = Workplace::with(
        "unsigned f(unsigned n, unsigned step)
{
    unsigned turns = 0;
    while (n != 1) {
        n = n % 2 ? n * 3 + step : n / 2;
        turns++;
    }
    if (turns == 123456)
        return 1;
    return 0;
}
",
    );
    let ran = within_budget(&place, "");
    let [objectives, covered, infeasible, _, unknown] = figures(&place.json("t.json"), "f", "dc");
    assert_eq!((objectives, infeasible), (6, 0));
    assert!(covered >= 4 && unknown == objectives - covered, "{ran}");
    assert!(ran.out.contains("unknown: "), "{ran}");
}

#[test]
fn a_test_that_runs_too_long_is_reported_as_such() {
    let place = Workplace::with("int f(int x) { if (x == 7) while (1) x |= 1; return 0; }\n");
    place.write(
        "mine.json",
        r#"{"version": 1, "source": "unit.c", "tests": [
            {"name": "endless", "function": "f", "args": {"x": 7}},
            {"name": "short", "function": "f", "args": {"x": 8}}]}"#,
    );
    place.done("cover unit.c -c dc --tests mine.json --test-time 100 --json t.json");
    assert_eq!(figures(&place.json("t.json"), "f", "dc")[1], 2);
}

#[test]
fn a_memory_limit_that_cannot_be_kept_is_the_reason_of_what_is_unknown() {
    let place = Workplace::with(LONG);
    let words =
        "gen unit.c -c dc,cc,mcc -o tests --time 600 --no-merge --max-memory 1 --json t.json";
    let ran = place.done(words);
    assert!(ran.out.contains("unknown: memory limit of 1 MiB"), "{ran}");
    let table = place.json("t.json");
    assert!(figures(&table, "f", "mcc")[4] > 0, "{ran}");
}

#[test]
fn with_as_many_states_as_may_be_paths_come_to_their_ends_first() {
    let place = Workplace::with(
        "int many(const unsigned char *p)\n{\n    int sum = 0;\n    for (int i = 0; i < 12; i++) {\n        \
         if (p[i] & 1) sum += 3; else sum += p[i] >> 6;\n        if (p[i] == 77) sum ^= 5;\n    }\n    if \
         (sum == 30 && p[3] == 9 && p[11] == 200) return 1;\n    return 0;\n}\n",
    );
    let words = "gen unit.c -c stmt,bc --no-merge --jobs 1 --time 60 --max-states 50 --json t.json";
    place.done(words);
    let table = place.json("t.json");
    let [objectives, covered, ..] = figures(&table, "many", "bc");
    assert_eq!(objectives, covered, "{table:#}");
    let ran = place.done(
        &words.replace("--max-states 50", "--max-states 1 --fresh --max-paths 1 --no-proofs"),
    );
    assert!(ran.out.contains("unknown: limit of 1 paths (--max-paths)"), "{ran}");
}

#[test]
fn an_interrupt_keeps_what_was_found_and_the_next_run_goes_on() {
    let place = Workplace::with(LONG);
    let words = "gen unit.c -c dc,cc,mcc -o tests --time 600 --search dfs --no-merge --max-paths 1000000000 --json t.json";
    let child = place.command(words).spawn().expect("the command can be started");
    let pid = child.id();
    let files = ["tests/ledger.sqlite", "tests/ledger.sqlite-wal"].map(|name| place.path(name));
    let holds_measurements = |path: &PathBuf| {
        let bytes = std::fs::read(path).unwrap_or_default();
        bytes.windows(8).any(|window| window == b"measured")
    };
    wait_until("a finding in the ledger", || files.iter().any(holds_measurements));
    // Between two explorations of a function no runner is alive.
    let mut runners = Vec::new();
    wait_until("a process of their own for the tests", || {
        runners = common::children(pid);
        !runners.is_empty()
    });
    let kill = Command::new("kill").args(["-INT", &pid.to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let begun = Instant::now();
    let ran = Ran::from(child.wait_with_output().expect("it ends"));
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    ran.says(130, &["warning[interrupted]", "goes on from here"]);

    let after = place.json("t.json");
    assert!(figures(&after, "f", "dc")[1] > 0 || figures(&after, "f", "cc")[1] > 0, "{ran}");
    let tests = place.json("tests/tests.json");
    assert!(!tests["tests"].as_array().expect("there is a list").is_empty());
    wait_until("the runners' ends", || runners.iter().all(|pid| !is_alive(*pid)));
    assert_eq!(place.left_over(), Vec::<PathBuf>::new());
    let stray =
        |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().contains(".tmp"));
    assert!(!entries(&place.path("tests")).iter().any(|path| stray(path)));

    place.done("gen unit.c -c dc,cc,mcc -o tests --time 0 --max-paths 0 --json again.json");
    let again = place.json("again.json");
    for criterion in ["dc", "cc", "mcc"] {
        let (was, is) = (figures(&after, "f", criterion), figures(&again, "f", criterion));
        assert!(is[1] >= was[1], "{criterion}: {was:?} {is:?}");
    }
}

#[test]
fn a_damaged_ledger_is_left_as_it_is_and_fresh_sets_it_aside() {
    let place = Workplace::with(SIGN);
    place.done("gen unit.c -c dc -o tests");
    let damaged = "this is no ledger ".repeat(400);
    place.write("tests/ledger.sqlite", &damaged);
    place.refused("gen unit.c -c dc -o tests", 6, &["error[ledger]", "ledger.sqlite", "--fresh"]);
    assert_eq!(place.read("tests/ledger.sqlite"), damaged);
    let ran = place.done("gen unit.c -c dc -o tests --fresh --json t.json");
    assert!(ran.err.contains("the old ledger is now"), "{ran}");
    assert_eq!(figures(&place.json("t.json"), "sign", "dc"), [4, 4, 0, 0, 0]);
    let kept = entries(&place.path("tests"))
        .into_iter()
        .filter(|path| std::fs::read(path).is_ok_and(|bytes| bytes == damaged.as_bytes()));
    assert_eq!(kept.count(), 1, "the old ledger is kept under another name");
}

#[test]
fn a_full_disk_is_told_and_nothing_that_was_there_is_lost() {
    let place = Workplace::with(SIGN);
    let disk = place.path("disk");
    std::fs::create_dir(&disk).unwrap();
    // A name space of its own for the mount, so that nothing is left of it.
    let script = "mount -t tmpfs -o size=1m none disk || exit 99\n\
         \"$1\" gen unit.c -c dc -o disk/tests || exit 98\n\
         cp disk/tests/tests.json before.json\n\
         dd if=/dev/zero of=disk/filler bs=1k 2>/dev/null\n\
         \"$1\" gen long.c -c dc,cc,mcc,wm -o disk/tests --time 20\n\
         code=$?\n\
         cmp disk/tests/tests.json before.json || exit 97\n\
         rm disk/filler\n\
         \"$1\" gen unit.c -c dc -o disk/tests >/dev/null || exit 96\n\
         exit $code\n";
    // Two functions, so that two threads meet the full disk.
    place.write("long.c", &(LONG.to_owned() + &LONG.replace("int f(", "int g(")));
    let mut command = Command::new("unshare");
    command.args(["--mount", "--map-root-user", "sh", "-c", script, "sh", common::LYDIAN]);
    place.settle(&mut command);
    let ran = match command.output() {
        Ok(output) => Ran::from(output),
        Err(error) => Ran { code: Some(99), out: String::new(), err: error.to_string() },
    };
    if ran.code == Some(99) || ran.err.contains("unshare:") {
        // Only where name spaces are forbidden; the ledger's own tests fill its file in any case.
        return;
    }
    ran.says(5, &["error[", "disk/tests"]);
}

#[test]
fn output_that_cannot_be_written_is_told() {
    let place = Workplace::with(SIGN);
    let ran = Ran::of(
        place.command("objectives unit.c").stdout(std::fs::File::create("/dev/full").unwrap()),
    );
    ran.says(5, &["cannot write the output", "No space left"]);
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let place = Workplace::with(SIGN);
    let mut command = Command::new("sh");
    command.args(["-c", "\"$1\" objectives unit.c | true; echo over", "sh", common::LYDIAN]);
    place.settle(&mut command);
    let ran = Ran::of(&mut command);
    assert!(ran.err.is_empty() && ran.out == "over\n", "{ran}");
}

#[test]
fn a_folder_that_cannot_be_made_or_written_is_told() {
    let place = Workplace::with(SIGN);
    place.write("occupied", "a file");
    let said = ["error[output]", "occupied/tests", "occupied is a file: name another folder"];
    place.refused("gen unit.c -o occupied/tests", 5, &said);
    place.refused("gen unit.c --json nowhere/t.json", 5, &["nowhere/t.json"]);
    let folder = place.path("locked");
    std::fs::create_dir(&folder).unwrap();
    std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(0o555)).unwrap();
    if std::fs::write(folder.join("probe"), "").is_ok() {
        return; // permissions mean nothing to the superuser
    }
    place.refused("gen unit.c -o locked", 5, &["locked"]);
}

#[test]
fn settings_that_cannot_be_read_are_told() {
    let place = Workplace::with(SIGN);
    place.refused("gen unit.c --config absent.toml", 2, &["error[configuration]", "absent.toml"]);
    std::fs::create_dir(place.path("folder.toml")).unwrap();
    place.refused("gen unit.c --config folder.toml", 2, &["folder.toml"]);
}

#[test]
fn a_clang_that_is_missing_is_told() {
    let place = Workplace::with(SIGN);
    let ran = Ran::of(place.command("gen unit.c").env("LYDIAN_CLANG", "/nonexistent"));
    ran.says(5, &["/nonexistent"]);
}

#[test]
fn a_wrong_command_line_is_told() {
    let place = Workplace::with(SIGN);
    place.refused("gen unit.c --criteria dc,nonsense", 2, &["nonsense"]);
    place.refused("gen", 2, &["FILE"]);
    place.refused("gen unit.c --time=-3", 2, &["--time", "not negative"]);
    place.refused("gen unit.c --time -3", 2, &["--time", "not negative"]);
    place.refused("gen unit.c --mode sideways", 2, &["sideways", "tight", "direct"]);
}

#[test]
fn tests_that_do_not_fit_are_refused_with_their_place() {
    let place = Workplace::with(SIGN);
    place.refused("cover unit.c --tests absent", 2, &["absent", "tests.json"]);
    place.write("broken.json", "{\"version\": 1,\n \"tests\": [}\n");
    place.refused("cover unit.c --tests broken.json", 2, &["broken.json"]);
    place.write(
        "other.json",
        r#"{"version": 1, "source": "unit.c", "tests": [{"name": "t", "function": "gone", "args": {}}]}"#,
    );
    place.refused("cover unit.c --tests other.json", 2, &["gone"]);
}
