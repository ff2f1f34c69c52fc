//! Labels as goals against the interpreter: a run of the system reaches the labels that a run of the
//! program covers.

use std::collections::BTreeSet;

use lydian_ir::interp::Options;
use lydian_ir::test::Test;
use lydian_objective::trace::Tracer;
use lydian_objective::{
    CoverageInterpreter, Criterion, FunctionObjectives, LabelId, RecordRequest, Request, annotate,
};
use lydian_prove::encode::{GoalMeaning, Goals};
use lydian_smt::TermPool;

use super::against_the_interpreter::nondet;
use super::common::{encoded_for, load, run};

const CRITERIA: [Criterion; 12] = [
    Criterion::Fc,
    Criterion::Stmt,
    Criterion::Bbc,
    Criterion::Bc,
    Criterion::Dcc,
    Criterion::Mcc,
    Criterion::Gacc,
    Criterion::Gicc,
    Criterion::Wm,
    Criterion::Rte,
    Criterion::Bva,
    Criterion::Mcdc,
];

/// Checks the labels of `f` on runs of `run` with several rows of inputs.
fn check(text: &str, rows: &[&[u64]]) {
    let text = format!(
        "extern int __VERIFIER_nondet_int(void);
         {text}
         int main(void) {{ run(); return 0; }}"
    );
    let unit = load(&text);
    let function = unit.program.function_named("f").expect("f");
    let request = Request::new(CRITERIA);
    let annotation = annotate(&unit.program, &unit.source, function, &request);
    let objectives = [annotation.expect("it has a body").objectives];
    let mut pool = TermPool::new();
    let goals = Goals { labels: &objectives, ..Goals::default() };
    let encoded = encoded_for(&mut pool, &unit.program, "main", goals);
    assert!(encoded.system.inexact.is_empty(), "{:?}", encoded.system.inexact);
    let interpreter = CoverageInterpreter::new(&unit.program, &objectives, false);
    let mut all = BTreeSet::new();
    for inputs in rows {
        let mut test = Test::calling("run", Vec::new());
        test.externals = inputs.iter().copied().map(nondet).collect();
        let covered = interpreter.run(&test, &Options::default()).expect("a test that fits");
        let covered: BTreeSet<LabelId> = covered.covered[0].iter().copied().collect();
        let hit = run(&pool, &encoded, inputs).goals.into_iter();
        let hit: BTreeSet<LabelId> = hit
            .filter_map(|goal| match encoded.goals[goal] {
                GoalMeaning::Label { label, .. } => Some(label),
                GoalMeaning::Error { .. } | GoalMeaning::Sequence { .. } => None,
            })
            .collect();
        let show = |labels: Vec<&LabelId>| -> Vec<String> {
            labels.into_iter().map(|label| shown(&objectives[0], *label)).collect()
        };
        let missed = show(covered.difference(&hit).collect());
        let added = show(hit.difference(&covered).collect());
        assert!(missed.is_empty(), "{inputs:?} missed: {missed:#?}");
        assert!(added.is_empty(), "{inputs:?} added: {added:#?}");
        all.extend(covered);
    }
    let count = objectives[0].labels.len();
    assert!(all.len() > count / 4, "{} of {count} are covered", all.len());
}

fn shown(objectives: &FunctionObjectives, label: LabelId) -> String {
    let label = &objectives.labels[label];
    format!("{:?}: {}", label.site, label.text)
}

/// Checks the sequences of `f` on runs of `run` with several rows of inputs.
fn check_sequences(text: &str, rows: &[&[u64]]) {
    let text = format!(
        "extern int __VERIFIER_nondet_int(void);
         {text}
         int main(void) {{ run(); return 0; }}"
    );
    let unit = load(&text);
    let function = unit.program.function_named("f").expect("f");
    let request = Request::new([Criterion::AllUses, Criterion::AllDefs, Criterion::Mlo]);
    let annotation = annotate(&unit.program, &unit.source, function, &request);
    let objectives = [annotation.expect("it has a body").objectives];
    let mut pool = TermPool::new();
    let goals = Goals { sequences: &objectives, ..Goals::default() };
    let encoded = encoded_for(&mut pool, &unit.program, "main", goals);
    let tracer = Tracer::new(&unit.program, &objectives, false);
    let (mut all, count) = (0, objectives[0].sequences.len());
    assert!(count > 3, "{count} sequences");
    for inputs in rows {
        let mut test = Test::calling("run", Vec::new());
        test.externals = inputs.iter().copied().map(nondet).collect();
        let (trace, _) = tracer.run(&test, &Options::default()).expect("a test that fits");
        let record = trace.record(&objectives[0], &RecordRequest::default());
        let hit = run(&pool, &encoded, inputs).goals;
        for (goal, meaning) in encoded.goals.iter() {
            let GoalMeaning::Sequence { sequence, .. } = *meaning else { continue };
            let covered = record.covers_sequence(sequence);
            let content = &objectives[0].sequences[sequence];
            let labels = content.atoms.iter().map(|atom| shown(&objectives[0], atom.label));
            let labels: Vec<String> = labels.collect();
            assert_eq!(hit.contains(&goal), covered, "{inputs:?}: {labels:#?}");
            all += usize::from(covered);
        }
    }
    assert!(all > count / 3, "{all} covered of {count}");
}

#[test]
fn pairs_of_definitions_and_uses() {
    check_sequences(
        "static int total;
         static int f(int a, int b) {
             int r = 0, k = a;
             while (k > 0) {
                 if (k & 1) r = r + b; else total += k;
                 if (r > 20) { b = b - r; r = 1; }
                 k = k >> 1;
             }
             switch (b) { case 1: r++; break; default: total = r; }
             return r + total;
         }
         int run(void) {
             int a = __VERIFIER_nondet_int();
             return f(a, 3) + f(a + 1, __VERIFIER_nondet_int());
         }",
        &[&[0, 1], &[5, 1], &[1, 21], &[255, 7], &[12, 25]],
    );
}

#[test]
fn decisions_with_conditions_that_are_not_always_reached() {
    check(
        "static int f(int a, int b, int c) {
             int r = 0;
             if ((a > 3 && b < c) || !(c == 7)) r = a + b;
             while (a-- > 0 && (b & 1 ? c > 2 : c < 9)) { r += c; c += b; }
             if (a != b && c / (a - b) > 1) r++;
             return (a < b || b < c) ? r : -r;
         }
         int run(void) {
             int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
             return f(a, b, 5) + f(b, a, 7);
         }",
        &[&[0, 0], &[4, 1], &[7, 2], &[3, 0xffff_fff0], &[5, 5]],
    );
}

#[test]
fn switches_and_loops() {
    check(
        "static int f(int a, int b) {
             int r = 0;
             for (int i = 0; i < 4; i++) {
                 switch ((a >> i) & 3) {
                 case 0: r += b; break;
                 case 1: r -= i;
                 case 2: r *= 2; continue;
                 default: if (b > r) goto out;
                 }
                 r ^= 5;
             }
         out:
             return r % 8 == b ? 1 : 0;
         }
         int run(void) {
             int a = __VERIFIER_nondet_int();
             return f(a, a + 2);
         }",
        &[&[0], &[1], &[6], &[27], &[0xffff_fffb]],
    );
}

#[test]
fn memory_in_conditions() {
    check(
        "struct s { int v; struct s *next; };
         static int f(struct s *p, const int *t, int n) {
             int sum = 0;
             while (p && p->v != n) { sum += t[p->v & 3]; p = p->next; }
             if (n >= 0 && n < 4 && t[n] > 2) sum++;
             return p == 0 || sum > p->v;
         }
         int run(void) {
             int t[4] = {1, 2, 3, 4}, n = __VERIFIER_nondet_int();
             struct s a = {1, 0}, b = {2, &a}, c = {5, &b};
             return f(&c, t, n) + f(0, t, n);
         }",
        &[&[1], &[5], &[3], &[9], &[0xffff_ffff]],
    );
}
