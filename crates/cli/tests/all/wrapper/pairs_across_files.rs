//! Pairs of definitions and uses of globals between files that `lydian cc` compiles apart, worked out
//! by hand.

use serde_json::Value;

use crate::common::wrapped::{built, counts, coverage, function, shell, warnings};
use crate::common::{LYDIAN, Workplace};

const HEADER: &str = "extern int mode, count, limit;\nvoid step(int n);\nvoid report(void);\n";

const MAIN: &str = "#include \"shared.h\"\nint main(int argc, char **argv) {\n  (void)argv;\n\
                      mode = argc;\n  step(argc);\n  if (count > limit)\n    return mode;\n\
                      limit = argc;\n  step(1);\n  return count;\n}\n";

const STEP: &str = "#include \"shared.h\"\nint mode;\nint count;\nstatic int seen;\n\
                    void step(int n) {\n  seen++;\n  if (mode == 4)\n    count = n;\n  else\n\
                        mode = 4;\n  if (limit < seen)\n    count += limit;\n  report();\n}\n";

const REPORT: &str = "#include \"shared.h\"\nint limit = 3;\nvoid report(void) {\n\
                        if (count > 100)\n    count = 0;\n}\n";

const MAKEFILE: &str = "all: prog\nlibreport.so: report.c\n\t$(CC) -fPIC -shared -o $@ report.c\n\
                        prog: main.o step.o libreport.so\n\
                        \t$(CC) -o $@ main.o step.o -L. -lreport -Wl,-rpath,.\n";

/// The texts of the pairs of a function whose definitions are in other files, with what became of
/// each.
fn across<'v>(coverage: &'v Value, name: &str) -> Vec<(&'v str, &'v Value)> {
    let objectives = function(coverage, name)["objectives"].as_array().expect("a list");
    let pairs = objectives.iter().filter(|one| one["criterion"] == "all-uses");
    let pairs = pairs.map(|one| (one["text"].as_str().expect("a text"), &one["status"]));
    pairs.filter(|(text, _)| text.contains(".c reaches ")).collect()
}

/// The same as lines, with a sign before what is covered.
fn shown(coverage: &Value, name: &str) -> Vec<String> {
    let sign = |status: &Value| match status.as_str() {
        Some("covered") => '+',
        Some("missing") => '-',
        _ => '?',
    };
    across(coverage, name).iter().map(|(text, status)| format!("{} {text}", sign(status))).collect()
}

fn project(compiler: &str) -> Workplace {
    let at = Workplace::with("");
    for (name, text) in
        [("shared.h", HEADER), ("main.c", MAIN), ("step.c", STEP), ("report.c", REPORT)]
    {
        at.write(name, text);
    }
    at.write("Makefile", MAKEFILE);
    let made =
        shell(&at, &format!("make CC='{LYDIAN} cc -c all-defs,all-uses -- {compiler}' 2>&1"));
    assert_eq!(made.code, Some(0), "{made}");
    at
}

#[test]
fn pairs_are_found_among_the_files_of_a_program_and_its_library() {
    for compiler in ["clang-19", "gcc", "clang-19 -m32", "gcc -m32 -O2"] {
        let at = project(compiler);
        shell(&at, "./prog; ./prog 1 2 3");
        let found = coverage(&at);
        assert_eq!(warnings(&found), "");
        assert_eq!(
            shown(&found, "main"),
            [
                "- count of `count = 0` in line 5 of report in report.c reaches the condition in line 6, false",
                "- count of `count = 0` in line 5 of report in report.c reaches the condition in line 6, true",
                "- count of `count = n` in line 8 of step in step.c reaches the condition in line 6, false",
                "+ count of `count = n` in line 8 of step in step.c reaches the condition in line 6, true",
                "- count of `count += limit` in line 12 of step in step.c reaches the condition in line 6, false",
                "- count of `count += limit` in line 12 of step in step.c reaches the condition in line 6, true",
                "- count of `count = 0` in line 5 of report in report.c reaches the return in line 10",
                "- count of `count = n` in line 8 of step in step.c reaches the return in line 10",
                "+ count of `count += limit` in line 12 of step in step.c reaches the return in line 10",
                "- mode of `mode = 4` in line 10 of step in step.c reaches the return in line 7",
            ]
        );
        assert_eq!(
            shown(&found, "report"),
            [
                "+ count of `count = n` in line 8 of step in step.c reaches the condition in line 4, false",
                "- count of `count = n` in line 8 of step in step.c reaches the condition in line 4, true",
                "+ count of `count += limit` in line 12 of step in step.c reaches the condition in line 4, false",
                "- count of `count += limit` in line 12 of step in step.c reaches the condition in line 4, true",
            ]
        );
        assert_eq!(
            shown(&found, "step"),
            [
                "+ mode of `mode = argc` in line 4 of main in main.c reaches the condition in line 7, false",
                "+ mode of `mode = argc` in line 4 of main in main.c reaches the condition in line 7, true",
                "- limit of `limit = argc` in line 8 of main in main.c reaches the condition in line 11, false",
                "+ limit of `limit = argc` in line 8 of main in main.c reaches the condition in line 11, true",
                "+ limit of `limit = argc` in line 8 of main in main.c reaches its use in line 12",
                "- count of `count = 0` in line 5 of report in report.c reaches its use in line 12",
            ]
        );
        // `limit = argc` reaches no use in its own file; what `report` sets was never set.
        assert_eq!(counts(&found, "main", "all-defs"), (5, 5));
        assert_eq!(counts(&found, "report", "all-defs"), (2, 1));
    }
}

#[test]
fn a_report_names_the_file_of_a_definition() {
    let at = project("clang-19");
    shell(&at, "./prog");
    at.done("report --html pages");
    let pages = shell(&at, "cat pages/*.html pages/*/*.html 2>/dev/null").out;
    let place = "L4\">line 4</a>, column 1 of main.c<";
    assert!(pages.contains(place), "no page has {place}");
    let found = coverage(&at);
    let pairs = function(&found, "step")["def_uses"].as_array().expect("a list");
    let foreign = pairs.iter().filter(|pair| pair["definition_file"].is_string());
    let foreign: Vec<&Value> = foreign.collect();
    assert_eq!(foreign.len(), 6, "{foreign:#?}");
    assert!(foreign.iter().any(|pair| pair["covered"] == true));
    let again = coverage(&at);
    assert_eq!(found, again, "a report is always the same");
}

#[test]
fn objects_that_are_never_in_one_program_have_no_pairs() {
    let at = Workplace::with("");
    // A tentative definition in each file, as old code has it; and a static of one name in each.
    let set = "int state;\nstatic int own;\nvoid set(int n) {\n  state = n;\n  own = n;\n}\n\
               int own_of_set(void) {\n  return own;\n}\n";
    let get = "int state;\nstatic int own;\nint get(void) {\n  return state + own;\n}\n\
               void own_of_get(void) {\n  own = 1;\n}\n";
    at.write("set.c", set);
    at.write("get.c", get);
    at.write("never.c", "extern int state;\nvoid never(void) {\n  state = 9;\n}\n");
    at.write(
        "both.c",
        "void set(int);\nint get(void);\nint main(void) {\n  set(3);\n  return get() != 3;\n}\n",
    );
    at.write("one.c", "void set(int);\nint main(void) {\n  set(3);\n  return 0;\n}\n");
    at.write("other.c", "int get(void);\nint main(void) {\n  return get();\n}\n");
    let options = "-c all-uses,all-defs";
    for file in ["set", "get", "never", "both", "one", "other"] {
        built(&at, options, &format!("clang-19 -fcommon -c {file}.c -o {file}.o"));
    }
    shell(&at, "ar rcs libparts.a set.o get.o never.o");
    built(&at, options, "clang-19 one.o set.o -o one");
    built(&at, options, "clang-19 other.o get.o -o other");
    shell(&at, "./one; ./other");
    let found = coverage(&at);
    assert_eq!(shown(&found, "get"), [""; 0]);
    assert_eq!(counts(&found, "never", "all-defs"), (0, 0));
    // What no function of the program needs is not linked from the archive.
    built(&at, options, "clang-19 both.o libparts.a -o both");
    let pair = "state of `state = n` in line 4 of set in set.c reaches the return in line 4";
    assert_eq!(shown(&coverage(&at), "get"), [format!("- {pair}")]);
    assert_eq!(shell(&at, "./both").code, Some(0));
    assert_eq!(shown(&coverage(&at), "get"), [format!("+ {pair}")]);
    assert_eq!(counts(&coverage(&at), "set", "all-defs").1, 2);
}

#[test]
fn definitions_of_other_threads_and_forked_processes_count() {
    let at = Workplace::with("");
    at.write("set.c", "int state;\nvoid *set(void *p) {\n  state = 1;\n  return p;\n}\n");
    at.write(
        "get.c",
        "#include <pthread.h>\n#include <sys/wait.h>\n#include <unistd.h>\n\
         extern int state;\nvoid *set(void *);\n\
         int main(int argc, char **argv) {\n  (void)argv;\n\
           if (argc > 1) {\n    set(0);\n    pid_t child = fork();\n\
             if (child == 0)\n      _exit(state);\n    waitpid(child, 0, 0);\n    return 0;\n  }\n\
           pthread_t one;\n  pthread_create(&one, 0, set, 0);\n  pthread_join(one, 0);\n\
           return state;\n}\n",
    );
    built(&at, "-c all-uses", "clang-19 -O2 -pthread set.c get.c -o prog");
    let to = |line: u32| match line {
        12 => {
            "state of `state = 1` in line 3 of set in set.c reaches its use in line 12".to_owned()
        }
        _ => format!(
            "state of `state = 1` in line 3 of set in set.c reaches the return in line {line}"
        ),
    };
    let mut lines = shown(&coverage(&at), "main");
    lines.sort_unstable();
    let (child, thread) = (to(12), to(19));
    assert!(lines.iter().any(|line| line.ends_with(&thread)), "{lines:?}");
    shell(&at, "./prog");
    assert!(shown(&coverage(&at), "main").contains(&format!("+ {thread}")));
    assert!(!shown(&coverage(&at), "main").contains(&format!("+ {child}")));
    shell(&at, "./prog x");
    let lines = shown(&coverage(&at), "main");
    assert!(
        lines.iter().any(|line| line.starts_with('+') && line.contains("line 12")),
        "{lines:?}"
    );
}

#[test]
fn what_a_table_has_no_room_for_is_not_called_missing() {
    let cases: String =
        (0..100).map(|n| format!("  case {n}:\n    state = {n};\n    break;\n")).collect();
    let at = Workplace::with("");
    at.write(
        "set.c",
        &format!("int state;\nvoid set(int n) {{\n  switch (n) {{\n{cases}  }}\n}}\n"),
    );
    at.write(
        "get.c",
        "extern int state;\nvoid set(int);\nint main(int argc, char **argv) {\n  (void)argv;\n  \
         int sum = 0;\n  for (int n = 0; n < (argc > 1 ? 100 : 10); n++) {\n    set(n);\n    \
         sum += state;\n  }\n  return sum == 0;\n}\n",
    );
    built(&at, "-c all-uses", "clang-19 -O1 set.c get.c -o prog");
    let signs = |sign: char| {
        let found = coverage(&at);
        shown(&found, "main").iter().filter(|line| line.starts_with(sign)).count()
    };
    shell(&at, "./prog");
    assert_eq!((signs('+'), signs('-'), signs('?')), (10, 90, 0));
    shell(&at, "./prog x");
    assert_eq!((signs('+'), signs('-'), signs('?')), (64, 0, 36));
}

/// gcc evaluates the arguments of a call from the right: `get` reads what was there before `set`,
/// and so does the argument `x`.
#[test]
fn a_use_before_a_definition_in_the_compilers_order_is_not_reached_by_it() {
    let at = Workplace::with(
        "static int state = 5;\nstatic int set(int n) {\n  state = n;\n  return n;\n}\n\
         static int get(void) {\n  return state;\n}\n\
         static int sum(int a, int b) {\n  return a + b;\n}\n\
         static int put(int *to) {\n  *to = 1;\n  return 0;\n}\n\
         int main(int argc, char **argv) {\n  (void)argv;\n  int x = 5;\n\
           if (argc > 1)\n    return sum(put(&x), x);\n  return sum(set(1), get());\n}\n",
    );
    let of_local = "x of `put(&x)` in line 20 reaches its use in line 20";
    let pair = "state of `state = n` in line 3 of set reaches the return in line 7";
    for compiler in ["clang-19", "gcc"] {
        shell(&at, "rm -rf .lydian");
        built(&at, "-c all-uses", &format!("{compiler} unit.c -o unit"));
        let status = shell(&at, "./unit").code;
        let found = coverage(&at);
        let objectives = function(&found, "get")["objectives"].as_array().expect("a list");
        let texts: Vec<_> = objectives.iter().map(|one| &one["text"]).collect();
        assert_eq!(texts, [pair]);
        let expected = if status == Some(2) { "covered" } else { "missing" };
        assert_eq!(objectives[0]["status"], expected, "{compiler}: {status:?}");
        let status = shell(&at, "./unit x").code;
        let found = coverage(&at);
        let objectives = function(&found, "main")["objectives"].as_array().expect("a list");
        let texts: Vec<_> =
            objectives.iter().map(|one| one["text"].as_str().expect("a text")).collect();
        let pair = objectives.iter().find(|one| one["text"] == of_local);
        let pair = pair.unwrap_or_else(|| panic!("{of_local} is not among {texts:?}"));
        let expected = if status == Some(1) { "covered" } else { "missing" };
        assert_eq!(pair["status"], expected, "{compiler}: {status:?}");
    }
}
