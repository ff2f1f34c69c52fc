//! Suites that `lydian gen` wrote.

use super::{mutate, outcome, outcomes};
use crate::common::Workplace;

const UNIT: &str = "\
int larger(int a, int b)
{
    return a < b ? b : a;
}
unsigned half(unsigned n)
{
    if (n > 100)
        return 50;
    return n / 2;
}
";

#[test]
fn a_generated_suite_kills_mutants_and_equivalent_ones_leave_the_count() {
    let at = Workplace::with(UNIT);
    at.done("gen unit.c -o tests -c wm --time 20");
    let words = ["unit.c", "--tests", "tests", "--json", "m.json", "--html", "m.html"];
    let ran = mutate(&at, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let report = at.json("m.json");
    assert_eq!(outcome(&report, "ROR < -> >", 3), "killed");
    assert_eq!(outcome(&report, "ROR < -> <=", 3), "equivalent");
    assert_eq!(outcome(&report, "CRO 50 -> 1", 8), "killed");
    let count = |kind: &str| outcomes(&report).iter().filter(|it| it.2 == kind).count();
    assert!(count("killed") * 10 > outcomes(&report).len() * 7, "{ran}");
    let score = &report["score"];
    let counted = score["mutants"].as_u64().unwrap() - score["equivalent"].as_u64().unwrap();
    let percent = count("killed") as f64 * 100.0 / counted as f64;
    assert!((score["percent"].as_f64().unwrap() - percent).abs() < 1e-9);
    let killed = report["mutants"].as_array().unwrap();
    let killed = killed.iter().find(|it| it["outcome"]["kind"] == "killed").unwrap();
    let infecting = killed["infected_by"].as_array().unwrap();
    assert!(infecting.contains(&killed["outcome"]["test"]), "a test that kills infects: {killed}");
    assert!(at.read("m.html").contains("return a &lt; b ? b : a;"));
    assert!(at.left_over().is_empty(), "{:?}", at.left_over());
}

#[test]
fn a_suite_without_a_test_of_a_border_leaves_a_survivor_as_a_diff() {
    let at = Workplace::with(UNIT);
    at.done("gen unit.c -o tests -c stmt --time 20 -f half");
    let operators = ["--operators", "ROR", "-f", "half"];
    let words = [&["unit.c", "--tests", "tests", "--show", "99"][..], &operators].concat();
    let ran = mutate(&at, &words);
    assert_eq!(ran.code, Some(0), "{ran}");
    let diff = "--- unit.c\n+++ unit.c (ROR > -> >=, line 7)\n@@ -5,5 +5,5 @@\n \
                unsigned half(unsigned n)\n {\n-    if (n > 100)\n+    if (n >= 100)\n";
    assert!(ran.out.contains(diff) || ran.out.contains("| equivalent |"), "{ran}");
    assert!(!ran.out.contains("larger"), "{ran}");
    let words = [&words[..], &["--fail-under", "100"]].concat();
    assert_eq!(mutate(&at, &words).code, Some(1));
}

/// Weak mutants are expressions, and strong ones are texts: two ways to the same changes.
#[test]
fn each_weak_mutant_has_a_strong_one_of_its_name_on_its_line() {
    let at = Workplace::with(
        "struct node { unsigned kind : 3; signed char weight; int values[4]; struct node *next; };
         enum colour { RED, GREEN = 4 };
         int total = 3;
         int walk(struct node *p, unsigned n, enum colour c)
         {
             int sum = 0;
             while (p && p->next)
                 p = p->next;
             if (!n || c == GREEN)
                 return -1;
             sum = p->values[n % 4] << 2;
             total = sum ^ (int)n;
             return p->kind == 5 || p->weight < 7 ? ~sum & 15 : total - 9;
         }
         double scaled(double x, float y)
         {
             double r = x * y;
             if (r >= 1.5 && y != x)
                 r = -r / 2.5;
             return r;
         }
         int main(void) { return 0; }
        ",
    );
    let listed = at.done("objectives unit.c -c wm -f walk -f scaled").out;
    let weak: Vec<(String, u64)> = listed
        .lines()
        .filter_map(|line| {
            let rest = line.strip_prefix("  unit.c:")?;
            let (place, rest) = rest.split_once(' ')?;
            let (name, _) = rest.split_once(": ")?;
            Some((name.to_owned(), place.split(':').next()?.parse().ok()?))
        })
        .collect();
    assert!(weak.len() > 150, "{listed}");
    let words = ["unit.c", "--build", "$CC unit.c -o unit", "--test", "./unit"];
    let ran = mutate(&at, &[&words[..], &["--json", "m.json"]].concat());
    assert_eq!(ran.code, Some(0), "{ran}");
    let mut strong: Vec<(String, u64)> =
        outcomes(&at.json("m.json")).into_iter().map(|(name, line, _)| (name, line)).collect();
    let mut alone = weak.clone();
    alone.retain(|mutant| match strong.iter().position(|other| other == mutant) {
        Some(at) => {
            strong.swap_remove(at);
            false
        }
        None => true,
    });
    assert_eq!(alone, [], "weak mutants without a strong one");
}
