//! Logged questions, read back by Z3 where it is installed.

use lydian_base::SourceMap;
use lydian_smt::{
    BitBlastSolver, FloatSort, Limits, LogTarget, Logging, QueryLog, SatBackend, Solver, Sort,
    Term, TermPool,
};
use std::process::Command;
use std::sync::Arc;

/// Queries over every kind of sort, some satisfiable and some not.
fn queries(p: &mut TermPool) -> Vec<Vec<Term>> {
    let (x, y) = (p.var("a name (with) ;signs", Sort::BitVec(16)), p.var("y", Sort::BitVec(16)));
    let a = p.var("a", Sort::Array { index: 16, element: 8 });
    let (f, w) = (p.var("f", Sort::F32), p.var("w", Sort::BitVec(100)));
    let (b, zero, seven) = (p.var("b", Sort::Bool), p.bv(16, 0), p.bv(16, 7));
    let quotient = p.udiv(x, seven);
    let signed = p.sdiv(x, y);
    let byte = p.bv(8, 200);
    let stored = p.store(a, x, byte);
    let read = p.select(stored, y);
    let table = p.const_table(16, 8, &[1, 2, 3]);
    let element = p.select(table, x);
    let three = p.bv(8, 3);
    let half = p.f32(0.5);
    let number = p.fp_from_signed(FloatSort::F32, x);
    let sum = p.fp_add(f, half);
    let (product, one) = (p.mul(w, w), p.bv(100, 1));
    let (lower, higher) = (p.ult(x, y), p.ult(y, x));
    vec![
        vec![p.eq(quotient, seven), b],
        vec![p.slt(signed, zero), p.slt(zero, x)],
        vec![p.neq(read, byte), p.eq(x, y)],
        vec![p.eq(read, byte), lower],
        vec![p.eq(element, three)],
        vec![p.fp_lt(sum, number), p.fp_lt(number, f)],
        vec![p.eq(product, one), p.ult(one, w)],
        vec![lower, higher],
    ]
}

#[test]
fn z3_reads_logged_queries_and_gives_the_answer_that_is_noted_in_them() {
    if Command::new("z3").arg("-version").output().is_err() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let mut p = TermPool::new();
    let log = QueryLog::begin(folder.path(), SourceMap::from_preprocessed("", "f.c"));
    let log = Arc::new(log.expect("the folder is writable"));
    let target = LogTarget { log: log.clone(), asker: "f".to_owned() };
    let mut solver = Logging::new(BitBlastSolver::new(SatBackend::Batsat), target);
    let queries = queries(&mut p);
    for q in &queries {
        solver.check(&mut p, q, &Limits::none());
    }
    let error = log.take_error();
    assert!(error.is_none(), "{error:?}");
    let (mut sat, mut unsat) = (0, 0);
    for n in 1..=queries.len() {
        let path = folder.path().join(format!("{n:06}-f.smt2"));
        let text = std::fs::read_to_string(&path).expect("every query is logged");
        let status = text.lines().find_map(|line| line.strip_prefix("(set-info :status "));
        let noted = status.and_then(|rest| rest.strip_suffix(')')).expect("the status is noted");
        let out = Command::new("z3").arg("-T:60").arg(&path).output().expect("z3 runs");
        let reply = String::from_utf8_lossy(&out.stdout);
        assert_eq!(reply.trim(), noted, "{text}");
        *(if noted == "sat" { &mut sat } else { &mut unsat }) += 1;
    }
    assert_eq!((sat, unsat), (5, 3));
}
