//! Times of solvers on six families of queries, as ratios from one run.
//!
//! `cargo bench -p lydian-smt` runs everything; arguments choose families (`paths`, `muldiv`,
//! `wide`, `array`, `doubles`, `doubles2`), `no-z3` leaves Z3 out, `first=N` takes N queries of each family and
//! `limit=MS` sets the time limit of each query in milliseconds (2000), `only=TEXT` keeps the
//! contenders whose name contains the text, `slow=MS` prints the queries that take longer, and
//! `factor=N` and `least=N` set the policy of rebuilding, `escalate=N` the conflicts after which a
//! query goes from batsat to CaDiCaL. Queries are generated from fixed seeds, so that two runs time the same ones.
#![allow(clippy::print_stdout, missing_docs, reason = "a benchmark reports by printing")]

use lydian_smt::{
    Answer, BitBlastSolver, ChainConfig, Evaluator, FloatSort, Limits, Model, RebuildPolicy,
    RoundingMode, SatBackend, Solver, Sort, Term, TermPool, Z3Mode, Z3Solver, Z3Use,
    standard_chain,
};
use std::time::{Duration, Instant};

#[path = "../tests/all/random.rs"]
mod random;
use random::Random;

type Queries = Vec<Vec<Term>>;

/// A program as a source of branch conditions: what it tests after the given decisions.
trait Program {
    fn condition(&mut self, pool: &mut TermPool, trace: &[bool]) -> Option<Term>;
}

/// Explores a program depth first and notes every query: both sides of every branch, each a path
/// condition that grows by its last conjunct.
fn explore(pool: &mut TermPool, program: &mut dyn Program, max: usize) -> Queries {
    let mut solver = BitBlastSolver::new(SatBackend::Cadical);
    let mut evaluator = Evaluator::new();
    let mut queries = Vec::new();
    let mut stack: Vec<(Vec<Term>, Vec<bool>, Model)> = vec![(vec![], vec![], Model::new())];
    while let Some((path, trace, model)) = stack.pop() {
        if queries.len() >= max {
            break;
        }
        let Some(c) = program.condition(pool, &trace) else { continue };
        let here = evaluator.holds(pool, &model, c);
        for side in [!here, here] {
            let conjunct = if side { c } else { pool.not(c) };
            let mut path = path.clone();
            if pool.as_bool(conjunct).is_none() {
                path.push(conjunct);
                queries.push(path.clone());
            }
            let answer = solver.check(pool, &path, &Limits::none());
            if let Answer::Sat(m) = answer {
                let mut trace = trace.clone();
                trace.push(side);
                stack.push((path, trace, m));
            }
        }
    }
    queries.truncate(max);
    queries
}

/// Collision avoidance in the manner of Tcas: twelve integers, thresholds from a small table,
/// comparisons of sums.
struct Avoidance {
    inputs: Vec<Term>,
}

impl Program for Avoidance {
    fn condition(&mut self, p: &mut TermPool, trace: &[bool]) -> Option<Term> {
        let v = self.inputs.clone();
        let k = |p: &mut TermPool, n: i64| p.bv_signed(32, n);
        let threshold = {
            let (zero, one, two) = (k(p, 0), k(p, 1), k(p, 2));
            let values = [k(p, 400), k(p, 500), k(p, 640), k(p, 740)];
            let is: Vec<Term> = [zero, one, two].iter().map(|&n| p.eq(v[6], n)).collect();
            let t = p.ite(is[2], values[2], values[3]);
            let t = p.ite(is[1], values[1], t);
            p.ite(is[0], values[0], t)
        };
        let hundred = k(p, 100);
        let biased = p.add(v[7], hundred);
        let inhibited = {
            let z = k(p, 0);
            let on = p.neq(v[11], z);
            p.ite(on, biased, v[8])
        };
        let n = trace.len();
        // What is tested depends on earlier outcomes, as after nested ifs.
        let taken = trace.iter().filter(|&&b| b).count() as i64;
        Some(match n {
            0 => {
                let c = k(p, 600);
                p.slt(c, v[0])
            }
            1 => {
                let z = k(p, 0);
                p.eq(v[1], z)
            }
            2 => {
                let c = k(p, 600);
                p.sle(v[3], c)
            }
            3 => {
                let z = k(p, 0);
                p.neq(v[2], z)
            }
            4 => p.slt(v[8], inhibited),
            5 => p.slt(v[3], v[5]),
            6 => p.sle(threshold, v[7]),
            7 => p.sle(threshold, v[8]),
            8 => p.slt(v[5], v[3]),
            9 => {
                let d = k(p, 300 + 10 * taken);
                let s = p.add(v[3], d);
                p.slt(s, v[5])
            }
            10 => {
                let d = p.sub(v[7], v[8]);
                p.slt(d, threshold)
            }
            11 => {
                let one = k(p, 1 + taken % 3);
                p.eq(v[9], one)
            }
            12 => {
                let two = k(p, 2);
                p.eq(v[10], two)
            }
            13 => {
                let s = p.add(v[3], v[4]);
                p.slt(s, v[0])
            }
            14 => {
                let c = k(p, 1000 + taken);
                let c2 = p.sub(c, v[4]);
                p.slt(c2, v[5])
            }
            _ => return None,
        })
    }
}

fn paths(p: &mut TermPool) -> Queries {
    let inputs = (0..12).map(|i| p.var(&format!("x{i}"), Sort::BitVec(32))).collect();
    explore(p, &mut Avoidance { inputs }, 5000)
}

fn muldiv(p: &mut TermPool) -> Queries {
    products_and_quotients(p, true)
}

/// The same without bounds on the variables, so that operations are 32 bits wide.
fn wide(p: &mut TermPool) -> Queries {
    products_and_quotients(p, false)
}

fn products_and_quotients(p: &mut TermPool, bounded: bool) -> Queries {
    let mut r = Random::new(7);
    let v: Vec<Term> = (0..4).map(|i| p.var(&format!("m{i}"), Sort::BitVec(32))).collect();
    (0..300)
        .map(|_| {
            let n = 2 + r.below(3);
            let mut q: Vec<Term> = (0..n)
                .map(|_| {
                    let (x, y) = (v[r.below(4) as usize], v[r.below(4) as usize]);
                    let k = p.bv(32, r.below(100_000));
                    let t = match r.below(5) {
                        0 => p.mul(x, y),
                        1 => p.sdiv(x, y),
                        2 => p.srem(x, y),
                        3 => p.udiv(x, y),
                        _ => {
                            let s = p.mul(x, y);
                            p.add(s, v[0])
                        }
                    };
                    match r.below(3) {
                        0 => p.eq(t, k),
                        1 => p.slt(t, k),
                        _ => p.slt(k, t),
                    }
                })
                .collect();
            let (zero, most) = (p.bv(32, 0), p.bv(32, 60_000));
            for &x in v.iter().filter(|_| bounded) {
                q.push(p.slt(zero, x));
                q.push(p.slt(x, most));
            }
            q
        })
        .collect()
}

/// A scanner over 64 bytes: each step reads at an index that earlier bytes decided.
struct Scanner {
    bytes: Term,
    start: Term,
}

impl Program for Scanner {
    fn condition(&mut self, p: &mut TermPool, trace: &[bool]) -> Option<Term> {
        let mut at = self.start;
        let mut bytes = self.bytes;
        let bound = p.bv(32, 64);
        if trace.is_empty() {
            return Some(p.ult(at, bound));
        }
        if !trace[0] || trace.len() > 14 {
            return None;
        }
        for (i, &taken) in trace[1..].iter().enumerate() {
            let c = p.select(bytes, at);
            let step = if taken {
                let low = p.bv(8, 7);
                let n = p.bvand(c, low);
                p.zext(n, 32)
            } else {
                p.bv(32, 1)
            };
            at = p.add(at, step);
            let mask = p.bv(32, 63);
            at = p.bvand(at, mask);
            if i % 4 == 3 {
                let v = p.bv(8, 32 + i as u64);
                bytes = p.store(bytes, at, v);
            }
        }
        let c = p.select(bytes, at);
        let k = p.bv(8, 48 + 7 * trace.len() as u64);
        Some(if trace.len().is_multiple_of(2) { p.eq(c, k) } else { p.ult(c, k) })
    }
}

fn array(p: &mut TermPool) -> Queries {
    let bytes = p.var("buf", Sort::Array { index: 32, element: 8 });
    let start = p.var("start", Sort::BitVec(32));
    explore(p, &mut Scanner { bytes, start }, 500)
}

fn doubles(p: &mut TermPool) -> Queries {
    let mut r = Random::new(11);
    let v: Vec<Term> = (0..4).map(|i| p.var(&format!("d{i}"), Sort::F64)).collect();
    let n = p.var("n", Sort::BitVec(32));
    (0..200)
        .map(|_| {
            (0..2 + r.below(4))
                .map(|_| {
                    let (x, y) = (v[r.below(4) as usize], v[r.below(4) as usize]);
                    let k = p.f64(r.below(2000) as f64 / 8.0 - 100.0);
                    let t = match r.below(8) {
                        0 => p.fp_add(x, y),
                        1 => p.fp_mul(x, k),
                        2 => p.fp_sub(x, y),
                        3 => {
                            let i = p.fp_from_signed(FloatSort::F64, n);
                            p.fp_add(i, x)
                        }
                        4 => p.fp_mul(x, y),
                        _ => x,
                    };
                    match r.below(3) {
                        0 => p.fp_lt(t, k),
                        1 => p.fp_le(k, t),
                        _ => p.fp_lt(t, y),
                    }
                })
                .collect()
        })
        .collect()
}

/// The operations that `doubles` does not have: quotients, roots, fused products, conversions and
/// roundings, two to four conditions a query.
fn doubles2(p: &mut TermPool) -> Queries {
    let mut r = Random::new(13);
    let v: Vec<Term> = (0..4).map(|i| p.var(&format!("e{i}"), Sort::F64)).collect();
    let f = p.var("f", Sort::F32);
    (0..100)
        .map(|_| {
            (0..2 + r.below(3))
                .map(|_| {
                    let (x, y) = (v[r.below(4) as usize], v[r.below(4) as usize]);
                    let k = p.f64(r.below(2000) as f64 / 8.0 - 100.0);
                    let t = match r.below(8) {
                        0 => p.fp_div(x, y),
                        1 => p.fp_div(x, k),
                        2 => p.fp_sqrt(x),
                        3 => p.fp_fma(x, y, k),
                        4 => {
                            let wide = p.fp_to_fp(FloatSort::F64, f);
                            p.fp_mul(wide, k)
                        }
                        5 => {
                            let i = p.fp_to_signed(32, x);
                            p.fp_from_signed(FloatSort::F64, i)
                        }
                        6 => p.fp_round(RoundingMode::TowardNegative, x),
                        _ => x,
                    };
                    match r.below(4) {
                        0 => p.fp_lt(t, k),
                        1 => p.fp_le(k, t),
                        2 => p.fp_lt(t, y),
                        _ => p.fp_eq(t, k),
                    }
                })
                .collect()
        })
        .collect()
}

/// Time on the processor of this process and its children in nanoseconds, which other work on the
/// machine distorts less than wall time; `None` where Linux's `/proc` is not there.
fn processor_time() -> Option<Duration> {
    let of = |pid: &str| {
        let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    };
    let mut total = of("self")?;
    let me = std::process::id();
    let tasks = std::fs::read_dir("/proc/self/task").ok()?;
    for task in tasks.flatten() {
        let id = task.file_name();
        if id.to_str() != Some(&me.to_string()) {
            total += of(&format!("self/task/{}", id.to_str()?)).unwrap_or(0);
        }
        if let Ok(children) = std::fs::read_to_string(task.path().join("children")) {
            total += children.split_whitespace().filter_map(of).sum::<u64>();
        }
    }
    // Children that ended: fields 16 and 17 of stat, in ticks of 10 ms.
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    let after_name = stat.rsplit_once(')')?.1;
    let ended: u64 =
        after_name.split_whitespace().skip(13).take(2).filter_map(|f| f.parse::<u64>().ok()).sum();
    Some(Duration::from_nanos(total) + Duration::from_millis(10 * ended))
}

struct Outcome {
    time: Duration,
    processor: Option<Duration>,
    sat: usize,
    unsat: usize,
    unknown: usize,
}

/// Runs the queries; those that take longer than `slow` are named.
fn run(
    p: &mut TermPool,
    solver: &mut dyn Solver,
    queries: &Queries,
    each: Duration,
    slow: Duration,
) -> Outcome {
    let mut o = Outcome { time: Duration::ZERO, processor: None, sat: 0, unsat: 0, unknown: 0 };
    let (start, before) = (Instant::now(), processor_time());
    for (i, q) in queries.iter().enumerate() {
        let began = Instant::now();
        let answer = solver.check(p, q, &Limits::time(each));
        match answer {
            Answer::Sat(_) => o.sat += 1,
            Answer::Unsat { .. } => o.unsat += 1,
            Answer::Unknown(_) => o.unknown += 1,
        }
        if began.elapsed() >= slow {
            println!("    query {i}: {answer} in {:.1} ms", 1e3 * began.elapsed().as_secs_f64());
            for &t in q {
                println!("      {}", p.show(t));
            }
        }
    }
    o.time = start.elapsed();
    o.processor = processor_time().and_then(|p| p.checked_sub(before?));
    o
}

type Family = (&'static str, fn(&mut TermPool) -> Queries);
type Contender = (String, Box<dyn Solver>);

fn contenders(policy: RebuildPolicy, escalation: Option<u64>) -> Vec<Contender> {
    let mut all: Vec<Contender> = Vec::new();
    for (name, sat) in [("cadical", SatBackend::Cadical), ("batsat", SatBackend::Batsat)] {
        for (policy_name, policy) in [("kept", RebuildPolicy::NEVER), ("rebuilt", policy)] {
            all.push((
                format!("{name}, {policy_name}"),
                Box::new(BitBlastSolver::with_policy(sat, policy)),
            ));
        }
        let config = ChainConfig {
            sat,
            rebuild: policy,
            escalation,
            z3: Z3Use::Off,
            ..ChainConfig::default()
        };
        all.push((format!("{name}, chain"), standard_chain(&config)));
    }
    all
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|a| a != "--bench").collect();
    let with_z3 = !arguments.iter().any(|a| a == "no-z3");
    let number = |key: &str, otherwise: u64| {
        let found = arguments.iter().find_map(|a| a.strip_prefix(key)?.parse().ok());
        found.unwrap_or(otherwise)
    };
    let first = number("first=", u64::MAX);
    let limit = Duration::from_millis(number("limit=", 2000));
    let slow = Duration::from_millis(number("slow=", u64::MAX));
    let policy = RebuildPolicy {
        factor: number("factor=", RebuildPolicy::default().factor as u64) as usize,
        least: number("least=", RebuildPolicy::default().least as u64) as usize,
    };
    let default = ChainConfig::default().escalation.unwrap_or(u64::MAX);
    let escalation = Some(number("escalate=", default)).filter(|&n| n != u64::MAX);
    let only = arguments.iter().find_map(|a| a.strip_prefix("only=")).unwrap_or("");
    let chosen = |name: &str| {
        let is_family = |a: &&String| *a != "no-z3" && !a.contains('=');
        let mut families = arguments.iter().filter(is_family).peekable();
        families.peek().is_none() || families.any(|a| a == name)
    };
    let families: [Family; 6] = [
        ("paths", paths),
        ("muldiv", muldiv),
        ("wide", wide),
        ("array", array),
        ("doubles", doubles),
        ("doubles2", doubles2),
    ];
    for (family, make) in families {
        if !chosen(family) {
            continue;
        }
        let mut pool = TermPool::new();
        let mut queries = make(&mut pool);
        queries.truncate(usize::try_from(first).unwrap_or(usize::MAX));
        let mut all = contenders(policy, escalation);
        if with_z3 {
            for (name, mode) in [("z3, push", Z3Mode::Incremental), ("z3, alone", Z3Mode::Alone)] {
                all.insert(0, (name.into(), Box::new(Z3Solver::with_mode("z3".into(), mode))));
            }
        }
        all.retain(|(name, _)| name.contains(only));
        println!("{family}: {} queries", queries.len());
        let mut base = None;
        for (name, mut solver) in all {
            let o = run(&mut pool, &mut *solver, &queries, limit, slow);
            let seconds = o.processor.unwrap_or(o.time).as_secs_f64();
            let base = *base.get_or_insert(seconds);
            println!(
                "  {name:<18} {:>9.1} ms on the processor ({:>9.1} ms of wall time)  {:>8.3} of the \
                 first  {} sat {} unsat {} unknown",
                1e3 * seconds,
                1e3 * o.time.as_secs_f64(),
                seconds / base,
                o.sat,
                o.unsat,
                o.unknown
            );
        }
    }
}
