//! `lydian gen --since`: old versions from git.

use crate::common::Workplace;
use crate::common::wrapped::shell;

const HEADER: &str = "#define LIMIT 3\n";
const UNIT: &str = "\
#include \"limit.h\"
int f(int a) { return a > LIMIT ? 1 : 0; }
int g(int a) { return a == 9 ? 1 : 0; }
";

fn repository() -> Workplace {
    let at = Workplace::with(UNIT);
    std::fs::create_dir(at.path("include")).expect("a folder can be made");
    at.write("include/limit.h", HEADER);
    let made = shell(
        &at,
        "git init -q . && git add unit.c include && \
         git -c user.name=a -c user.email=a@b commit -q -m first",
    );
    assert_eq!(made.code, Some(0), "{made}");
    at
}

#[test]
fn a_change_of_a_header_since_a_commit_counts() {
    let at = repository();
    at.write("include/limit.h", "#define LIMIT 4\n");
    let ran = at.done("gen unit.c --since HEAD -o t -- -Iinclude");
    assert!(ran.out.contains("f: 4 of 4 objectives are impacted, 0 were left alone"), "{ran}");
    assert!(ran.out.contains("g: 0 of 4 objectives are impacted, 4 were left alone"), "{ran}");
}

#[test]
fn a_file_that_was_moved_is_found_by_its_old_name() {
    let at = repository();
    let moved = shell(&at, "git mv unit.c other.c");
    assert_eq!(moved.code, Some(0), "{moved}");
    at.write("other.c", &UNIT.replace("a == 9", "a == 8"));
    let ran = at.done("gen other.c --since HEAD -o t -- -Iinclude");
    assert!(ran.err.contains("other.c was unit.c in HEAD"), "{ran}");
    assert!(ran.out.contains("f: 0 of 4 objectives are impacted"), "{ran}");
    assert!(ran.out.contains("g: 4 of 4 objectives are impacted"), "{ran}");
}

#[test]
fn revisions_and_files_that_do_not_exist_are_named() {
    let at = repository();
    let words = "gen unit.c -o t --since nowhere -- -Iinclude";
    at.refused(words, 2, &["there is no commit nowhere", "--since takes a commit"]);
    at.write("late.c", "int late(int a) { return a; }\n");
    at.refused("gen late.c -o t --since HEAD", 2, &["HEAD has no late.c", "--against"]);
}

#[test]
fn names_of_other_changed_files_are_no_statuses_of_renames() {
    let at = repository();
    at.write("README", "first\n");
    let added = shell(&at, "git add README && git -c user.name=a -c user.email=a@b commit -qm two");
    assert_eq!(added.code, Some(0), "{added}");
    at.write("README", "second\n");
    at.write("late.c", "int late(int a) { return a; }\n");
    let staged = shell(&at, "git add README late.c");
    assert_eq!(staged.code, Some(0), "{staged}");
    at.refused("gen late.c -o t --since HEAD", 2, &["HEAD has no late.c", "--against"]);
}

#[test]
fn outside_of_a_repository_there_is_no_old_version() {
    let at = Workplace::with("int f(int a) { return a; }");
    at.refused("gen unit.c -o t --since HEAD", 2, &["--since HEAD needs the git repository"]);
}
