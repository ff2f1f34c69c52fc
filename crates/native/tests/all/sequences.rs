//! Sequences in general and calls: worked out by hand, and measured natively.

use lydian_objective::Criterion;

use crate::common::whole::Measuring;

const LOOPS: &str = "
static int twice(int x) { return 2 * x; }
static int once(int x) { return x; }
int f(int n, int m) {
  int sum = 0;
  for (int i = 0; i < n; i++)
    sum += twice(i);
  while (m > 0 && sum < 100) {
    m--;
    sum += m & 1 ? once(m) : twice(m);
  }
  do {
    sum--;
  } while (sum > 3);
  return sum;
}
";

#[test]
fn loops_are_skipped_entered_and_repeated_by_one_activation() {
    let measuring = Measuring::of(LOOPS, &[Criterion::Slo, Criterion::Mlo]);
    let (skipped, _) = measuring.covers(Criterion::Slo, &[&[0, 2]]);
    assert_eq!(skipped, ["`for (int i = 0; i < n; i++)` skipped"]);
    let (skipped, _) = measuring.covers(Criterion::Slo, &[&[2, 0]]);
    assert_eq!(skipped, ["`while (m > 0 && sum < 100)` skipped"]);
    // Once round each loop.
    let (repeated, open) = measuring.covers(Criterion::Mlo, &[&[1, 1]]);
    assert_eq!(repeated, [""; 0]);
    assert_eq!(open.len(), 3);
    let (repeated, _) = measuring.covers(Criterion::Mlo, &[&[3, 1]]);
    assert_eq!(
        repeated,
        ["`for (int i = 0; i < n; i++)` entered more than once", "`do` entered more than once"]
    );
}

#[test]
fn a_callee_is_covered_from_any_of_its_calls() {
    let measuring = Measuring::of(LOOPS, &[Criterion::Fcc]);
    let (called, open) = measuring.covers(Criterion::Fcc, &[&[0, 1]]);
    assert_eq!((called.len(), open.len()), (1, 1), "{called:?} {open:?}");
    assert!(called[0].contains("twice"), "{called:?}");
    let (called, _) = measuring.covers(Criterion::Fcc, &[&[0, 2]]);
    assert_eq!(called.len(), 2);
}
