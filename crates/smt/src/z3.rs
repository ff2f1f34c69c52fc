//! Z3 as a process that speaks SMT-LIB.
//!
//! Z3 runs as a process and not as a library: building Lydian then does not need Z3, a crash of Z3
//! cannot end a run, and a query can always be stopped by killing the process. Terms are defined once,
//! outside of any scope, and a query is asserted between push and pop. The first query starts the
//! process. It is restarted when it dies, and killed when the solver is dropped.
//!
//! Models are read by `get-value`: the values of all variables, and for arrays each index at which the
//! query reads, with the element there. So no array literal has to be parsed.

use crate::solver::{Answer, Limits, Reason, Solver, checked};
use crate::terms::eval::Evaluator;
use crate::terms::pool::TermPool;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term};
use crate::terms::value::{ArrayValue, Model, Value};
use crate::terms::wide::Wide;
use crate::text::smtlib::{self, Writer};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// Queries after which the process is replaced, as it only grows.
const QUERIES_PER_PROCESS: u32 = 2000;
/// The time by which Z3 may overrun its own limit before it is killed.
const GRACE: Duration = Duration::from_millis(500);

/// The resource limit of Z3 for each conflict that a query may have. Z3 uses some 1.6 million units in
/// a second.
const OF_A_CONFLICT: u64 = 400;
/// The effort of one resource unit, in literals that a SAT solver propagates.
const OF_A_RESOURCE: u64 = 8;

/// The sequence of queries in one process.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Z3Mode {
    /// Each query between push and pop, terms defined once: Z3's incremental core. Best for many
    /// easy queries that share terms.
    #[default]
    Incremental,
    /// Each query alone after a reset: Z3 then preprocesses it by the tactics for its logic, which
    /// is what floats, multiplication and division by variables need.
    Alone,
}

struct Process {
    child: Child,
    texts: Sender<String>,
    lines: Receiver<String>,
    writer: Writer,
    queries: u32,
    /// The resources that Z3 reported.
    resources: u64,
}

impl Drop for Process {
    fn drop(&mut self) {
        // Both calls fail only if the process has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Z3 behind the [`Solver`] interface.
pub struct Z3Solver {
    program: PathBuf,
    process: Option<Process>,
    pool: u64,
    evaluator: Evaluator,
    marks: u64,
    mode: Z3Mode,
    effort: u64,
}

impl Z3Solver {
    /// A solver that runs this program; nothing is started before the first query.
    pub fn new(program: PathBuf) -> Z3Solver {
        Z3Solver::with_mode(program, Z3Mode::default())
    }

    /// A solver that runs this program in the given mode.
    pub fn with_mode(program: PathBuf, mode: Z3Mode) -> Z3Solver {
        Z3Solver {
            program,
            process: None,
            pool: 0,
            evaluator: Evaluator::new(),
            marks: 0,
            mode,
            effort: 0,
        }
    }

    fn start(&mut self) -> Result<&mut Process, Reason> {
        let worn = |p: &Process| p.queries >= QUERIES_PER_PROCESS;
        if self.process.as_ref().is_some_and(worn) {
            self.process = None;
        }
        if self.process.is_none() {
            let mut child = Command::new(&self.program)
                .args(["-in", "-smt2"])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .map_err(|e| match e.kind() {
                    std::io::ErrorKind::NotFound => {
                        Reason::BackendMissing(self.program.display().to_string())
                    }
                    _ => Reason::Backend(e.to_string()),
                })?;
            let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
                return Err(Reason::Backend("no pipes to the process".into()));
            };
            // Threads read and write, since a wait with a time limit is not possible otherwise: a busy
            // Z3 reads nothing, and the pipe fills quickly.
            let (texts, to_write) = channel::<String>();
            std::thread::spawn(move || {
                for text in to_write {
                    if input.write_all(text.as_bytes()).is_err() {
                        break;
                    }
                }
            });
            let (send, lines) = channel();
            std::thread::spawn(move || {
                for line in BufReader::new(output).lines() {
                    let Ok(line) = line else { break };
                    if send.send(line).is_err() {
                        break;
                    }
                }
            });
            self.process = Some(Process {
                child,
                texts,
                lines,
                writer: Writer::default(),
                queries: 0,
                resources: 0,
            });
        }
        Ok(self.process.as_mut().expect("just started"))
    }

    /// Sends text and gives the lines that come back.
    fn exchange(
        &mut self,
        text: String,
        limits: &Limits,
        deadline: Option<Instant>,
    ) -> Result<String, Reason> {
        self.marks += 1;
        let mark = format!("done {}", self.marks);
        let process = self.start()?;
        // A writer that has ended cannot report it. Its process has ended too, and the missing lines
        // show it.
        let _ = process.texts.send(format!("{text}(echo \"{mark}\")\n"));
        let mut reply = String::new();
        let failure = loop {
            match process.lines.recv_timeout(Duration::from_millis(20)) {
                Ok(line) if line == mark => return Ok(reply),
                Ok(line) => {
                    reply.push_str(&line);
                    reply.push('\n');
                }
                Err(RecvTimeoutError::Disconnected) => {
                    break Reason::Backend("the process ended".into());
                }
                Err(RecvTimeoutError::Timeout) => {
                    if limits.interrupted() {
                        break Reason::Interrupted;
                    }
                    if let (Some(d), Some(t)) = (deadline, limits.time)
                        && Instant::now() > d + GRACE
                    {
                        break Reason::Time(t);
                    }
                }
            }
        };
        self.process = None;
        Err(failure)
    }

    fn query(
        &mut self,
        pool: &mut TermPool,
        assumptions: &[Term],
        limits: &Limits,
    ) -> Result<Answer, Reason> {
        if self.pool != pool.id() {
            self.process = None;
            self.pool = pool.id();
        }
        let deadline = limits.deadline();
        let cone = smtlib::cone(pool, assumptions);
        let mode = self.mode;
        let process = self.start()?;
        process.queries += 1;
        let mut text = String::new();
        process.writer.define(pool, &cone, &mut text);
        if mode == Z3Mode::Incremental {
            text.push_str("(push)\n");
        }
        smtlib::constrain(pool, &cone, &mut text);
        for &a in assumptions {
            let _ = writeln!(text, "(assert {})", smtlib::reference(pool, a));
        }
        // 2^32 - 1 is Z3's way to say no limit.
        let left = deadline.map(|d| d.saturating_duration_since(Instant::now()));
        let millis = left.map_or(u32::MAX as u128, |t| t.as_millis().max(1));
        let resources = limits.conflicts.map_or(0, |conflicts| (conflicts * OF_A_CONFLICT).max(1));
        let _ = writeln!(text, "(set-option :timeout {millis})\n(set-option :rlimit {resources})");
        text.push_str("(check-sat)\n(get-info :rlimit)\n");
        let reply = self.exchange(text, limits, deadline)?;
        let (reply, took) = reply.trim_end().rsplit_once('\n').unwrap_or_default();
        self.account(took);
        let answer = match reply.lines().next_back() {
            _ if reply.contains("(error") => {
                self.process = None;
                return Err(Reason::Backend(reply.trim().to_string()));
            }
            Some("sat") => {
                let model = self.read_model(pool, &cone, limits, deadline)?;
                checked(&mut self.evaluator, pool, assumptions, model, "z3")
            }
            Some("unsat") => Answer::Unsat { core: None },
            _ => Answer::Unknown(match (limits.time, limits.conflicts) {
                (Some(t), _) if deadline.is_some_and(|d| Instant::now() >= d) => Reason::Time(t),
                (_, Some(conflicts)) => Reason::Conflicts(conflicts),
                _ => Reason::GaveUp(reply.trim().to_string()),
            }),
        };
        let clear = match mode {
            Z3Mode::Incremental => "(pop)\n",
            Z3Mode::Alone => "(reset)\n",
        };
        // Where this fails the process is gone, and the next query starts another.
        let cleared = self.exchange(clear.into(), limits, Some(Instant::now()));
        if let (Ok(_), Z3Mode::Alone, Some(process)) = (cleared, mode, &mut self.process) {
            process.writer = Writer::default();
            process.resources = 0;
        }
        Ok(answer)
    }

    /// Adds the resources of a query to the effort, from the total that Z3 reports.
    fn account(&mut self, said: &str) {
        let number = said.trim_start_matches("(:rlimit ").trim_end_matches(')').parse::<u64>();
        if let (Ok(now), Some(process)) = (number, &mut self.process) {
            self.effort += now.saturating_sub(process.resources) * OF_A_RESOURCE;
            process.resources = now;
        }
    }

    fn read_model(
        &mut self,
        pool: &TermPool,
        cone: &[Term],
        limits: &Limits,
        deadline: Option<Instant>,
    ) -> Result<Model, Reason> {
        let vars: Vec<Term> = cone
            .iter()
            .copied()
            .filter(|&t| {
                matches!(pool.node(t), Node::Var(_)) && !matches!(pool.sort(t), Sort::Array { .. })
            })
            .collect();
        let reads = reads(pool, cone);
        if vars.is_empty() && reads.is_empty() {
            return Ok(Model::new());
        }
        let mut wanted: Vec<String> = vars.iter().map(|&v| smtlib::reference(pool, v)).collect();
        for &(array, index) in &reads {
            let (a, i) = (smtlib::reference(pool, array), smtlib::reference(pool, index));
            wanted.push(format!("(select {a} {i})"));
            wanted.push(i);
        }
        let text = format!("(get-value ({}))\n", wanted.join(" "));
        let reply = self.exchange(text, limits, deadline.map(|d| d + GRACE))?;
        let bad = || Reason::Backend(format!("a model that cannot be read: {reply}"));
        let values = parse_values(&reply).ok_or_else(bad)?;
        if values.len() != wanted.len() {
            return Err(bad());
        }
        let mut model = Vec::new();
        for (&v, bits) in vars.iter().zip(&values) {
            model.push((v, Value::from_wide(pool.sort(v), *bits)));
        }
        let mut arrays: BTreeMap<Term, ArrayValue> = BTreeMap::new();
        for (&(array, _), pair) in reads.iter().zip(values[vars.len()..].chunks(2)) {
            let array = arrays.entry(array).or_default();
            array.elements.insert(pair[1].low_u64(), pair[0].low_u64());
        }
        model.extend(arrays.into_iter().map(|(t, a)| (t, Value::Array(Arc::new(a)))));
        Ok(Model::from_values(model))
    }
}

impl Solver for Z3Solver {
    fn check(&mut self, pool: &mut TermPool, assumptions: &[Term], limits: &Limits) -> Answer {
        self.query(pool, assumptions, limits).unwrap_or_else(|reason| {
            // The process may be in any state, so the next query must not use it.
            self.process = None;
            Answer::Unknown(reason)
        })
    }

    fn effort(&self) -> u64 {
        self.effort
    }

    fn name(&self) -> String {
        match self.mode {
            Z3Mode::Incremental => "z3".into(),
            Z3Mode::Alone => "z3, each query alone".into(),
        }
    }
}

/// Array variables and the indexes at which terms of the cone may read them.
fn reads(pool: &TermPool, cone: &[Term]) -> Vec<(Term, Term)> {
    let mut found = BTreeSet::new();
    for &t in cone {
        let Node::Bin(BinOp::Select, array, index) = pool.node(t) else { continue };
        let mut stack = vec![array];
        let mut seen = BTreeSet::new();
        while let Some(a) = stack.pop() {
            if !seen.insert(a) {
                continue;
            }
            match pool.node(a) {
                Node::Var(_) => {
                    found.insert((a, index));
                }
                Node::Store(b, ..) => stack.push(b),
                Node::Ite(_, x, y) => stack.extend([x, y]),
                _ => {}
            }
        }
    }
    found.into_iter().collect()
}

/// An S-expression.
#[derive(Debug, PartialEq)]
enum Sexp<'a> {
    Atom(&'a str),
    List(Vec<Sexp<'a>>),
}

/// The first S-expression of a text.
fn parse_sexp(text: &str) -> Option<Sexp<'_>> {
    let mut open: Vec<Vec<Sexp<'_>>> = Vec::new();
    let mut rest = text.trim_start();
    loop {
        let first = rest.chars().next()?;
        let done = match first {
            '(' => {
                open.push(Vec::new());
                rest = rest[1..].trim_start();
                continue;
            }
            ')' => {
                rest = &rest[1..];
                Sexp::List(open.pop()?)
            }
            _ => {
                let end = rest
                    .find(|c: char| c.is_whitespace() || c == '(' || c == ')')
                    .unwrap_or(rest.len());
                let (atom, after) = rest.split_at(end);
                rest = after;
                Sexp::Atom(atom)
            }
        };
        match open.last_mut() {
            Some(list) => list.push(done),
            None => return Some(done),
        }
        rest = rest.trim_start();
    }
}

/// The values of a reply to `get-value`, as bit patterns.
fn parse_values(reply: &str) -> Option<Vec<Wide>> {
    let Sexp::List(pairs) = parse_sexp(reply)? else { return None };
    pairs
        .iter()
        .map(|pair| match pair {
            Sexp::List(p) if p.len() == 2 => parse_value(&p[1]).map(|(bits, _)| bits),
            _ => None,
        })
        .collect()
}

/// A literal as bit pattern and width.
fn parse_value(s: &Sexp<'_>) -> Option<(Wide, u32)> {
    match s {
        Sexp::Atom("true") => Some((Wide::from_u64(1), 1)),
        Sexp::Atom("false") => Some((Wide::ZERO, 1)),
        Sexp::Atom(a) => {
            let (digits, per_digit, radix) = match (a.strip_prefix("#x"), a.strip_prefix("#b")) {
                (Some(d), _) => (d, 4, 16),
                (_, Some(d)) => (d, 1, 2),
                _ => return None,
            };
            let mut v = Wide::ZERO;
            for c in digits.chars() {
                let d = Wide::from_u64(c.to_digit(radix)? as u64);
                v = v.shl(per_digit, crate::MAX_WIDTH).zip(d, |a, b| a | b);
            }
            Some((v, per_digit * digits.len() as u32))
        }
        Sexp::List(items) => match items.as_slice() {
            [Sexp::Atom("fp"), sign, exponent, fraction] => {
                let ((s, _), (e, we), (f, wf)) =
                    (parse_value(sign)?, parse_value(exponent)?, parse_value(fraction)?);
                let or = |a: Wide, b: Wide| a.zip(b, |x, y| x | y);
                let width = 1 + we + wf;
                Some((or(or(s.shl(we + wf, width), e.shl(wf, width)), f), width))
            }
            [Sexp::Atom("_"), Sexp::Atom(special), Sexp::Atom(e), Sexp::Atom(m)] => {
                let (e, m): (u32, u32) = (e.parse().ok()?, m.parse().ok()?);
                let width = e + m;
                let exponent = Wide::ones(e).shl(m - 1, width);
                let sign = Wide::from_u64(1).shl(width - 1, width);
                let or = |a: Wide, b: Wide| a.zip(b, |x, y| x | y);
                let bits = match *special {
                    "+zero" => Wide::ZERO,
                    "-zero" => sign,
                    "+oo" => exponent,
                    "-oo" => or(exponent, sign),
                    "NaN" => or(exponent, Wide::from_u64(1).shl(m - 2, width)),
                    _ => return None,
                };
                Some((bits, width))
            }
            [Sexp::Atom("_"), Sexp::Atom(n), Sexp::Atom(w)] => {
                let n: u128 = n.strip_prefix("bv")?.parse().ok()?;
                Some((Wide::from_u128(n), w.parse().ok()?))
            }
            _ => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_of_every_form_are_read() {
        let read = |s: &str| parse_value(&parse_sexp(s).expect("parses")).map(|v| v.0.low_u64());
        assert_eq!(read("#x0f"), Some(15));
        assert_eq!(read("#b101"), Some(5));
        assert_eq!(read("(_ bv7 8)"), Some(7));
        assert_eq!(read("(_ NaN 8 24)"), Some(0x7fc0_0000));
        assert_eq!(read("(_ -oo 8 24)"), Some(0xff80_0000));
        assert_eq!(read("(_ -zero 11 53)"), Some(1 << 63));
        assert_eq!(read("(fp #b0 #x7f #b00000000000000000000000)"), Some(0x3f80_0000));
        assert_eq!(read("((as const (Array Int Int)) 0)"), None);
        assert_eq!(parse_sexp("(a (b"), None);
    }

    #[test]
    fn a_missing_program_is_said_so() {
        let mut p = TermPool::new();
        let b = p.var("b", Sort::Bool);
        let mut z3 = Z3Solver::new("/nonexistent/z3".into());
        let answer = z3.check(&mut p, &[b], &Limits::none());
        assert!(matches!(answer, Answer::Unknown(Reason::BackendMissing(_))), "{answer}");
    }

    #[test]
    fn a_program_that_reads_nothing_is_killed_at_the_time_limit_however_long_the_query_is() {
        let place = std::env::temp_dir().join(format!("lydian-deaf-{}", std::process::id()));
        std::fs::write(&place, "#!/bin/sh\nexec sleep 1000\n").expect("a script can be written");
        let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&place, executable).expect("it can be made a program");
        let mut p = TermPool::new();
        let word = Sort::BitVec(64);
        let mut sum = p.var("sum", word);
        for i in 0..10_000 {
            let v = p.var(&format!("a variable with a long name, number {i}"), word);
            sum = p.add(sum, v);
        }
        let zero = p.bv(64, 0);
        let query = p.eq(sum, zero);
        let mut z3 = Z3Solver::new(place.clone());
        let limit = Duration::from_millis(100);
        let answer = z3.check(&mut p, &[query], &Limits { time: Some(limit), ..Limits::none() });
        std::fs::remove_file(&place).expect("the script is there");
        assert!(matches!(answer, Answer::Unknown(Reason::Time(t)) if t == limit), "{answer}");
    }
}
