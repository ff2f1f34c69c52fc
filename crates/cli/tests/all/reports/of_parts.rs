//! Reports that are limited to files or to a change, and what they are to reach.

use crate::common::wrapped::{built, shell};
use crate::common::{Ran, Workplace};

const MAIN: &str = "\
#include \"lib/low.h\"
int main(int n, char **v) {
    (void)v;
    return low(n) == 9;
}
";

const LOW: &str = "\
int low(int n) {
    if (n > 3)
        return 3;
    return n;
}
";

/// A program of two files in a repository, built and run.
fn place() -> Workplace {
    let at = Workplace::with(MAIN);
    std::fs::create_dir(at.path("lib")).unwrap();
    at.write("lib/low.c", LOW);
    at.write("lib/low.h", "int low(int n);\n");
    at.write(".gitignore", ".lydian\n*.o\nunit\n");
    for line in ["init -q .", "add .", "commit -qm base"] {
        let line = format!("git -c user.name=t -c user.email=t@example.org {line}");
        assert_eq!(shell(&at, &line).code, Some(0), "{line}");
    }
    run(&at);
    at
}

fn run(at: &Workplace) {
    built(at, "-c stmt,bc", "gcc unit.c lib/low.c -o unit");
    assert_eq!(shell(at, "./unit").code, Some(0));
}

/// The columns of a row of the table: objectives, covered, missing.
fn row(ran: &Ran, name: &str, criterion: &str) -> Option<[u32; 3]> {
    let mut last = String::new();
    for line in ran.out.lines().filter(|line| line.starts_with('|')) {
        let words: Vec<&str> = line.split('|').map(str::trim).collect();
        if !words[1].is_empty() {
            words[1].clone_into(&mut last);
        }
        if last == name && words[2] == criterion {
            return Some([3, 4, 5].map(|at| words[at].parse().unwrap()));
        }
    }
    None
}

#[test]
fn files_are_chosen_by_folder_and_pattern_and_what_is_left_out_is_told() {
    let at = place();
    let all = at.done("report --by folder");
    assert_eq!(row(&all, "lib/", "stmt"), Some([3, 2, 1]));
    assert_eq!(row(&all, "total", "stmt"), Some([5, 4, 1]));
    for words in ["--include lib", "--exclude unit.c", "--include *.c --exclude unit.*"] {
        let ran = at.done(&format!("report {words}"));
        assert_eq!(row(&ran, "total", "stmt"), Some([3, 2, 1]), "{words}: {ran}");
        assert!(ran.out.contains("1 file is left out"), "{}", ran.out);
    }
    at.write("lydian.toml", "[report]\nexclude = [\"lib\"]\n");
    let ran = at.done("report");
    assert_eq!(row(&ran, "total", "stmt"), Some([2, 2, 0]));
    at.write("lydian.toml", "[report]\nexclude = [\"[\"]\n");
    at.refused("report", 2, &["exclude", "lydian.toml:2"]);
}

#[test]
fn thresholds_hold_for_everything_a_folder_or_each_file() {
    let at = place();
    at.done("report --fail-under stmt=80 --fail-under lib:stmt=66 --fail-under *.c:stmt=60");
    at.refused("report --fail-under lib:stmt=70", 1, &["stmt of lib is covered to 66.6% (2 of 3)"]);
    at.refused("report --fail-under *.c:bc=51", 1, &["bc of lib/low.c is covered to 50.0%"]);
    at.refused("report --fail-under src:stmt=1", 2, &["no file of the report is of src"]);
    at.write("lydian.toml", "[report]\nfail-under = [\"lib:bc=60\"]\n");
    at.refused("report", 1, &["bc of lib is covered to 50.0% (1 of 2), not 60%"]);
}

#[test]
fn a_report_on_a_change_counts_its_lines_alone_and_names_those_that_lack_something() {
    let at = place();
    let ran = at.done("report --diff HEAD --fail-under stmt=100");
    assert_eq!(row(&ran, "total", "stmt"), None);
    assert!(ran.out.contains("Nothing is missing on the changed lines"), "{}", ran.out);
    let with = "int low(int n) {\n    if (n > 3)\n        return 3;\n    if (n < 0 && n > -9)\n        \
                return 0;\n    return n;\n}\n";
    at.write("lib/low.c", with);
    at.write("new.c", "int unbuilt;\n");
    run(&at);
    let git = shell(&at, "git diff > change.patch");
    assert_eq!(git.code, Some(0));
    for (words, is_new) in [("--diff HEAD", true), ("--patch change.patch", false)] {
        let ran = at.run(&format!("report {words} --fail-under stmt=60 --html pages"));
        assert_eq!(ran.code, Some(1), "{ran}");
        assert_eq!(row(&ran, "total", "stmt"), Some([2, 1, 1]), "{ran}");
        assert_eq!(row(&ran, "lib/low.c", "bc"), Some([4, 1, 3]));
        let told: Vec<&str> = ran.out.lines().filter(|line| line.contains(" | ")).collect();
        let told: Vec<&str> = told.into_iter().filter(|line| !line.starts_with('|')).collect();
        assert_eq!(told.len(), 2, "{}", ran.out);
        assert!(told[0].contains("4  bc 1/4 ") && told[0].ends_with("|     if (n < 0 && n > -9)"));
        assert!(told[1].contains("5  not run ") && told[1].ends_with("|         return 0;"));
        assert!(ran.err.contains("not 60%"), "{}", ran.err);
        assert_eq!(ran.err.contains("new.c changed, and no build"), is_new, "{}", ran.err);
    }
    // What is not to be reported on is not missed.
    let ran = at.done("report --diff HEAD --exclude new.c");
    assert!(!ran.err.contains("new.c"), "{}", ran.err);
    at.refused("report --diff no-such-commit", 2, &["git diff", "no-such-commit"]);
    at.write("bad.patch", "+++ b/a.c\n@@ nonsense\n");
    at.refused("report --patch bad.patch", 2, &["line 2 of the diff"]);
    at.refused("report --patch none.patch", 5, &["cannot read none.patch"]);
}

#[test]
fn reports_of_several_jobs_are_one() {
    let at = place();
    at.done("report --json one.json");
    assert_eq!(shell(&at, "./unit 2 3 4 5").code, Some(0));
    at.done("report --json two.json");
    let ran = at.done("report --from-json one.json two.json --by total");
    assert_eq!(row(&ran, "total", "stmt"), Some([5, 5, 0]), "{ran}");
}

#[test]
fn totals_of_commits_are_kept_in_order_and_shown() {
    let at = place();
    at.done("report --trend trend.jsonl");
    at.done("report --trend trend.jsonl");
    let lines = |at: &Workplace| at.read("trend.jsonl").lines().count();
    assert_eq!(lines(&at), 1);
    let commit = "git -c user.name=t -c user.email=t@example.org commit -qm more --allow-empty";
    assert_eq!(shell(&at, commit).code, Some(0));
    at.done("report --trend trend.jsonl --html pages");
    assert_eq!(lines(&at), 2);
    assert!(at.read("trend.jsonl").contains("[\"stmt\",4,5]"), "{}", at.read("trend.jsonl"));
    assert!(at.read("pages/trend.html").contains("<polyline"));
    at.write("trend.jsonl", "{}\n");
    at.refused("report --trend trend.jsonl", 2, &["line 1 is no point of a trend"]);
}
