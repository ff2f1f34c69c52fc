//! The shapes of systems: points, variables and terms of small programs.

use lydian_smt::TermPool;

use super::common::{encoded, load, run};

#[test]
fn a_loop_over_an_array_has_one_point_for_the_loop_and_one_array() {
    let unit = load(
        "extern int __VERIFIER_nondet_int(void);
         void reach_error(void);
         int main(void) {
             int a[10], i;
             for (i = 0; i < 10; i++) a[i] = __VERIFIER_nondet_int();
             if (a[3] == 7) reach_error();
             return 0;
         }",
    );
    let mut pool = TermPool::new();
    let encoded = encoded(&mut pool, &unit.program, "main");
    let system = &encoded.system;
    assert_eq!(system.points.len(), 2, "{}", system.text(&pool));
    let names: Vec<&str> = system.variables.values().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["main::i", "main::a[]"], "{}", system.text(&pool));
    assert!(system.inexact.is_empty(), "{:?}", system.inexact);
    let goal = system.goals.ids().next().expect("a goal");
    let hit = run(&pool, &encoded, &[1, 2, 3, 7]);
    assert!(hit.goals.contains(&goal) && hit.inputs == 10, "{hit:?}");
    assert!(run(&pool, &encoded, &[7, 7, 7, 6, 7]).goals.is_empty());
}
