//! Bit-blasting: from terms to gates, once a term.
//!
//! Floats and reads of stores are first expanded into simpler terms of the same pool
//! ([`floats`](crate::bitblast::floats)). Bit-vectors and reads of array variables remain. A float is
//! blasted to its bit pattern, in which NaN is always the canonical one.
//!
//! Reads of array variables become free bits. The consistency of two reads at equal indexes is not
//! encoded here: the solver adds it for pairs of reads where a model violates it.

use crate::bitblast::aig::{Gates, Lit};
use crate::bitblast::arithmetic as arith;
use crate::bitblast::floats;
use crate::solver::{Reason, Theory};
use crate::terms::pool::TermPool;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term, UnOp};
use rustc_hash::FxHashMap;

/// The number of turns of the loop over a term's parts between reads of the clock.
const CLOCK_TURNS: u32 = 32;

/// A read of an array variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Read {
    pub(crate) array: Term,
    pub(crate) index: Term,
    pub(crate) term: Term,
}

const NOT_YET: u32 = u32::MAX;

/// A dividend's and a divisor's bits, or a quotient's and a remainder's.
type Division = (Vec<Lit>, Vec<Lit>);

/// Gates of terms, memoised.
pub(crate) struct Blaster {
    pub(crate) gates: Gates,
    /// By term: where its bits start in `bits`.
    starts: Vec<u32>,
    bits: Vec<Lit>,
    /// The expansions of terms that have no circuit of their own.
    expansions: FxHashMap<Term, Term>,
    /// Quotients and remainders by operands, as both are often wanted.
    divisions: FxHashMap<Division, Division>,
    /// Reads of array variables, with their index blasted.
    pub(crate) reads: Vec<Read>,
    /// The bits of the index of each read.
    pub(crate) read_indexes: Vec<Vec<Lit>>,
    /// The position in `reads` of the read that a free bit belongs to.
    pub(crate) read_of_gate: FxHashMap<usize, usize>,
    /// The constraints that must hold if bits of a quotient or remainder are used.
    constraints: Vec<Vec<Lit>>,
    /// The position in `constraints` of the constraints on a free bit.
    constraint_of_gate: FxHashMap<usize, usize>,
    /// No more gates are made, if limited.
    pub(crate) max_gates: Option<usize>,
    /// When to stop blasting.
    pub(crate) deadline: Option<std::time::Instant>,
}

impl Blaster {
    pub(crate) fn new() -> Blaster {
        Blaster {
            gates: Gates::new(),
            starts: Vec::new(),
            bits: Vec::new(),
            expansions: FxHashMap::default(),
            divisions: FxHashMap::default(),
            reads: Vec::new(),
            read_indexes: Vec::new(),
            read_of_gate: FxHashMap::default(),
            constraints: Vec::new(),
            constraint_of_gate: FxHashMap::default(),
            max_gates: None,
            deadline: None,
        }
    }

    /// The constraints that give a free bit its meaning; empty for most gates.
    ///
    /// Some free bits satisfy it whatever the others are, so that it may be asserted for good.
    pub(crate) fn constraints_of(&self, gate: usize) -> &[Lit] {
        if self.constraints.is_empty() {
            return &[];
        }
        self.constraint_of_gate.get(&gate).map_or(&[], |&c| &self.constraints[c])
    }

    /// Adds the gates that a gate's value depends on: operands, and those of its constraints.
    pub(crate) fn extend_by_dependencies(&self, gate: usize, work: &mut Vec<usize>) {
        work.extend(self.gates.operands(gate).iter().map(|o| o.gate()));
        work.extend(self.constraints_of(gate).iter().map(|c| c.gate()));
    }

    /// An error if `more` gates would be too many.
    fn room_for(&self, more: usize) -> Result<(), Reason> {
        match self.max_gates {
            Some(max) if self.gates.len().saturating_add(more) > max => Err(Reason::Memory(max)),
            _ => Ok(()),
        }
    }

    /// The bits of a term that was blasted, least significant first.
    pub(crate) fn bits_of(&self, pool: &TermPool, t: Term) -> Option<&[Lit]> {
        let start = *self.starts.get(t.index())?;
        let end = start as usize + pool.width(t) as usize;
        (start != NOT_YET).then(|| &self.bits[start as usize..end])
    }

    fn bits(&self, pool: &TermPool, t: Term) -> Vec<Lit> {
        self.bits_of(pool, t).expect("operands are blasted first").to_vec()
    }

    fn done(&self, t: Term) -> bool {
        self.starts.get(t.index()).is_some_and(|&s| s != NOT_YET)
    }

    /// Blasts a term of any sort but arrays.
    pub(crate) fn blast(&mut self, pool: &mut TermPool, root: Term) -> Result<(), Reason> {
        if self.done(root) {
            return Ok(());
        }
        let mut stack = vec![root];
        let mut turns = 0u32;
        while let Some(&t) = stack.last() {
            turns += 1;
            if turns.is_multiple_of(CLOCK_TURNS)
                && self.deadline.is_some_and(|end| std::time::Instant::now() >= end)
            {
                return Err(Reason::Time(std::time::Duration::ZERO));
            }
            if self.done(t) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            let expansion = self.expand(pool, t)?;
            match expansion {
                Some(e) => stack.extend(Some(e).filter(|&e| !self.done(e))),
                None => {
                    for c in pool.children(t) {
                        if !matches!(pool.sort(c), Sort::Array { .. }) && !self.done(c) {
                            stack.push(c);
                        }
                    }
                }
            }
            if stack.len() > before {
                continue;
            }
            stack.pop();
            self.room_for(0)?;
            let bits = match expansion {
                Some(e) => self.bits(pool, e),
                None => self.circuit(pool, t)?,
            };
            debug_assert_eq!(bits.len(), pool.width(t) as usize, "{}", pool.show(t));
            if self.starts.len() < pool.len() {
                self.starts.resize(pool.len(), NOT_YET);
            }
            self.starts[t.index()] = self.bits.len() as u32;
            self.bits.extend(bits);
        }
        Ok(())
    }

    fn expand(&mut self, pool: &mut TermPool, t: Term) -> Result<Option<Term>, Reason> {
        if let Some(&e) = self.expansions.get(&t) {
            return Ok(Some(e));
        }
        let e = match pool.node(t) {
            Node::Bin(BinOp::Select, array, i) => expand_select(pool, array, i),
            _ => floats::expand(pool, t)?,
        };
        if let Some(e) = e {
            self.expansions.insert(t, e);
        }
        Ok(e)
    }

    fn inputs(&mut self, n: u32) -> Vec<Lit> {
        (0..n).map(|_| self.gates.input()).collect()
    }

    fn circuit(&mut self, pool: &TermPool, t: Term) -> Result<Vec<Lit>, Reason> {
        let w = pool.width(t);
        Ok(match pool.node(t) {
            Node::Bool(_) | Node::Bits(_) | Node::Wide(_) | Node::Float(_) => {
                let k = pool.const_bits(t).expect("a constant");
                (0..w).map(|i| Lit::constant(k.bit(i))).collect()
            }
            Node::Var(_) => {
                let bits = self.inputs(w);
                if let Sort::Float(f) = pool.sort(t) {
                    floats::canonical_gates(&mut self.gates, f, &bits)
                } else {
                    bits
                }
            }
            Node::Ite(c, x, y) => {
                let c = self.bits(pool, c)[0];
                let (x, y) = (self.bits(pool, x), self.bits(pool, y));
                arith::mux(&mut self.gates, c, &x, &y)
            }
            Node::Extract(a, low) => self.bits(pool, a)[low as usize..(low + w) as usize].to_vec(),
            Node::Un(op, a) => {
                let a = self.bits(pool, a);
                self.unary(op, a, w)?
            }
            Node::Bin(BinOp::Select, array, i) => self.read(pool, t, array, i)?,
            Node::Bin(op, a, b) => {
                let (a, b) = (self.bits(pool, a), self.bits(pool, b));
                self.binary(op, a, b)?
            }
            Node::Fma(..) => return Err(Reason::Unsupported(Theory::Floats)),
            Node::Table(_) | Node::Store(..) => return Err(Reason::Unsupported(Theory::Arrays)),
        })
    }

    fn unary(&mut self, op: UnOp, a: Vec<Lit>, w: u32) -> Result<Vec<Lit>, Reason> {
        Ok(match op {
            UnOp::Not | UnOp::BvNot => arith::complement(&a),
            UnOp::BvNeg => arith::neg(&mut self.gates, &a),
            UnOp::ZExt => extended(a, w, Lit::FALSE),
            UnOp::SExt => {
                let sign = *a.last().expect("vectors are not empty");
                extended(a, w, sign)
            }
            UnOp::FpToBits => a,
            UnOp::ConstArray => return Err(Reason::Unsupported(Theory::Arrays)),
            _ => return Err(Reason::Unsupported(Theory::Floats)),
        })
    }

    fn binary(&mut self, op: BinOp, a: Vec<Lit>, b: Vec<Lit>) -> Result<Vec<Lit>, Reason> {
        if op == BinOp::Mul {
            // An AND and a full adder of three gates for half of the pairs of bits.
            self.room_for(a.len() * b.len() * 2)?;
        }
        let g = &mut self.gates;
        let pairwise = |g: &mut Gates, f: fn(&mut Gates, Lit, Lit) -> Lit| {
            a.iter().zip(&b).map(|(&x, &y)| f(g, x, y)).collect::<Vec<_>>()
        };
        Ok(match op {
            BinOp::And | BinOp::BvAnd => pairwise(g, Gates::and),
            BinOp::BvOr => pairwise(g, Gates::or),
            BinOp::BvXor => pairwise(g, Gates::xor),
            BinOp::Eq => vec![arith::eq(g, &a, &b)],
            BinOp::Ult => vec![arith::ult(g, &a, &b)],
            BinOp::Slt => vec![arith::slt(g, &a, &b)],
            BinOp::Add => arith::add(g, &a, &b, Lit::FALSE).0,
            BinOp::Sub => arith::sub(g, &a, &b),
            BinOp::Mul => arith::mul(g, &a, &b),
            BinOp::Shl => arith::shift(g, arith::Shift::Left, &a, &b),
            BinOp::LShr => arith::shift(g, arith::Shift::Right, &a, &b),
            BinOp::AShr => arith::shift(g, arith::Shift::RightSigned, &a, &b),
            BinOp::Concat => b.into_iter().chain(a).collect(),
            BinOp::UDiv => self.division(a, b)?.0,
            BinOp::URem => self.division(a, b)?.1,
            BinOp::SDiv | BinOp::SRem => self.signed_division(op, a, b)?,
            BinOp::Select => return Err(Reason::Unsupported(Theory::Arrays)),
            _ => return Err(Reason::Unsupported(Theory::Floats)),
        })
    }

    fn division(&mut self, a: Vec<Lit>, d: Vec<Lit>) -> Result<Division, Reason> {
        let key = (a, d);
        if let Some(done) = self.divisions.get(&key) {
            return Ok(done.clone());
        }
        self.room_for(key.0.len() * key.0.len() * 2)?;
        let made = arith::udivrem(&mut self.gates, &key.0, &key.1);
        let free = |l: &&Lit| **l != Lit::FALSE;
        for l in made.quotient.iter().chain(&made.remainder).filter(free) {
            self.constraint_of_gate.insert(l.gate(), self.constraints.len());
        }
        self.constraints.push(made.constraints);
        let result = (made.quotient, made.remainder);
        self.divisions.insert(key, result.clone());
        Ok(result)
    }

    fn signed_division(&mut self, op: BinOp, a: Vec<Lit>, b: Vec<Lit>) -> Result<Vec<Lit>, Reason> {
        let (sa, sb) = (a[a.len() - 1], b[b.len() - 1]);
        let abs = |g: &mut Gates, v: &[Lit], s: Lit| {
            let n = arith::neg(g, v);
            arith::mux(g, s, &n, v)
        };
        let (x, y) = (abs(&mut self.gates, &a, sa), abs(&mut self.gates, &b, sb));
        let (q, r) = self.division(x, y)?;
        Ok(if op == BinOp::SDiv {
            let s = self.gates.xor(sa, sb);
            abs(&mut self.gates, &q, s)
        } else {
            abs(&mut self.gates, &r, sa)
        })
    }

    /// A read of a table or of a variable; other arrays were expanded.
    fn read(
        &mut self,
        pool: &TermPool,
        t: Term,
        array: Term,
        index: Term,
    ) -> Result<Vec<Lit>, Reason> {
        let w = pool.width(t);
        match pool.node(array) {
            Node::Table(id) => {
                let index = self.bits(pool, index);
                Ok(self.table(pool.table(id), &index, w))
            }
            Node::Var(_) => {
                let bits = self.inputs(w);
                for l in &bits {
                    self.read_of_gate.insert(l.gate(), self.reads.len());
                }
                self.read_indexes.push(self.bits(pool, index));
                self.reads.push(Read { array, index, term: t });
                Ok(bits)
            }
            _ => Err(Reason::Unsupported(Theory::Arrays)),
        }
    }

    /// The element of a constant table, by multiplexers over the bits of the index.
    fn table(&mut self, table: &[u64], index: &[Lit], w: u32) -> Vec<Lit> {
        let stages = table.len().next_power_of_two().trailing_zeros() as usize;
        let stages = stages.min(index.len());
        let inside = arith::is_zero(&mut self.gates, &index[stages..]);
        (0..w)
            .map(|bit| {
                let mut level: Vec<Lit> = (0..1usize << stages)
                    .map(|i| Lit::constant(table.get(i).is_some_and(|v| v >> bit & 1 == 1)))
                    .collect();
                for &i in &index[..stages] {
                    level = level.chunks(2).map(|p| self.gates.mux(i, p[1], p[0])).collect();
                }
                self.gates.and(inside, level[0])
            })
            .collect()
    }
}

fn extended(mut a: Vec<Lit>, w: u32, with: Lit) -> Vec<Lit> {
    a.resize(w as usize, with);
    a
}

/// One step of read-over-write elimination.
fn expand_select(pool: &mut TermPool, array: Term, i: Term) -> Option<Term> {
    match pool.node(array) {
        Node::Store(a, j, v) => {
            let same = pool.eq(i, j);
            let below = pool.select(a, i);
            Some(pool.ite(same, v, below))
        }
        Node::Ite(c, x, y) => {
            let (x, y) = (pool.select(x, i), pool.select(y, i));
            Some(pool.ite(c, x, y))
        }
        Node::Un(UnOp::ConstArray, v) => Some(v),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bitblast::sat::SatBackend;
    use crate::bitblast::solver::BitBlastSolver;
    use crate::solver::{Answer, Limits, Solver};

    #[test]
    fn a_product_that_needs_too_many_gates_is_refused_before_they_are_made() {
        let mut p = TermPool::new();
        let (x, y) = (p.var("x", Sort::BitVec(512)), p.var("y", Sort::BitVec(512)));
        let product = p.mul(x, y);
        let query = p.eq(product, x);
        let limits = Limits { gates: Some(10_000), ..Limits::none() };
        let mut s = BitBlastSolver::new(SatBackend::Batsat);
        let answer = s.check(&mut p, &[query], &limits);
        assert!(matches!(answer, Answer::Unknown(Reason::Memory(10_000))), "{answer}");
        assert!(s.statistics().gates <= 10_000);
    }
}
