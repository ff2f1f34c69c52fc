//! Records that stand elsewhere than at what they are about, or that follow from others.

use crate::common::Workplace;
use crate::common::wrapped::{built, coverage, function, shell};

/// Labels of every form: with others, in nested blocks, in arms, beside a label of the user's, before
/// a declaration, in a loop of their own.
const LABELS: &str = r#"
#include <stdlib.h>
static int odd(int n, int other) {
    int sum = 0;
    switch (n) {
    case 0: sum += 1;
    case 1: sum += 2; break;
    case 2: case 3: case ':': case 'a': sum += 4; break;
    case 10 ... 12: sum += 8;
        __attribute__((fallthrough));
    case 20: sum += 16; break;
    case 30: { case 31: sum += 32; }
        break;
    case 40: if (other) case 41: sum += 64; else case 42: sum += 128;
        break;
    case 50: again: case 51: if (other-- > 0) goto again; sum++; break;
    case 60: ;
        int late;
    case 61: late = 1; sum += late; break;
    default: sum += 256;
    case 70: ;
    }
    switch (n) case 71: sum++;
    switch (n) { case 72: case 73: break; }
    return sum;
}
static int copied(int n) {
    int at = 0, turns = (n + 3) / 4;
    switch (n % 4) {
    case 0: do { at++;
    case 3: at++;
    case 2: at++;
    case 1: at++;
    } while (--turns > 0);
    }
    return at;
}
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    return n < 0 ? copied(-n) != -n : odd(n, argc > 2) == 1000;
}
"#;

/// The ways of a function's switches that runs took.
fn taken(at: &Workplace, name: &str) -> Vec<String> {
    let found = coverage(at);
    let switches = function(&found, name)["switches"].as_array().expect("it has switches").clone();
    let ways = switches.iter().flat_map(|of| of["ways"].as_array().expect("it has ways"));
    let taken = ways.filter(|way| way["covered"] == true);
    taken.map(|way| way["name"].as_str().expect("a name").to_owned()).collect()
}

#[test]
fn each_way_of_a_switch_is_recorded_wherever_its_label_stands() {
    let at = Workplace::with(LABELS);
    for compiler in ["gcc -O2", "clang-19 -O1"] {
        built(&at, "-c bc", &format!("{compiler} -w unit.c -o unit"));
        for n in
            [0, 1, 2, 3, 58, 97, 11, 20, 30, 31, 40, 41, 42, 50, 51, 60, 61, 70, 71, 72, 73, 80]
        {
            shell(&at, &format!("rm -rf .lydian/cells; ./unit {n}"));
            let own = |labels: &[i32]| match labels.contains(&n) {
                true => format!("case {n}"),
                false => "default".to_owned(),
            };
            let first = match n {
                11 => "case 10 ... 12".to_owned(),
                71..=80 => "default".to_owned(),
                _ => format!("case {n}"),
            };
            assert_eq!(taken(&at, "odd"), [first, own(&[71]), own(&[72, 73])], "{compiler} {n}");
        }
        for n in 5..9 {
            shell(&at, &format!("rm -rf .lydian/cells; ./unit -{n}"));
            assert_eq!(taken(&at, "copied"), [format!("case {}", n % 4)], "{compiler} {n}");
        }
    }
}

/// Statements where ways meet, with what may keep control from them.
const JOINS: &str = r#"
#include <stdlib.h>
static int joins(int n, int *to) {
    int x = 0;
    if (n & 1)
        x = 1;
    x += 2;
    if (n & 2)
        x += *to;
    x += 4;
    if (n & 4)
        exit(x & 1);
    x += 8;
    for (int i = 0; i < n; i++) {
        if (i == 5)
            continue;
        x += i;
    }
    return x;
}
int main(int argc, char **argv) {
    int n = atoi(argv[1]);
    return joins(n, argc > 2 ? 0 : &n) == 1000;
}
"#;

#[test]
fn statements_where_ways_meet_are_as_without_inference() {
    let at = Workplace::with(JOINS);
    let runs = ["0", "1", "2", "2 x", "3 x", "4", "5", "8", "16", "2; ./unit 4"];
    let measured = |options: &str| {
        built(&at, options, "gcc -O1 unit.c -o unit");
        let lines = runs.map(|run| {
            shell(&at, &format!("rm -rf .lydian/cells; ./unit {run} || true"));
            coverage(&at)["files"].clone()
        });
        shell(&at, "rm -rf .lydian");
        lines
    };
    let [plain, exact] = ["-c stmt,bc,all-uses", "--exact -c stmt,bc,all-uses"].map(measured);
    assert_eq!(plain, exact);
}
