//! The gate graph between terms and clauses.
//!
//! Bit-blasting makes gates here, not clauses. Gates are hashed structurally, so that equal bits
//! of different terms are one gate, and they outlive SAT solvers: when a solver is replaced, the
//! clauses of a new one are made from gates without touching terms again.
//!
//! Besides AND there are XOR, multiplexer and majority gates, because their direct clauses
//! propagate better than those of the ANDs that they stand for.

use rustc_hash::FxHashMap;

/// A gate's output or its complement: `2 * gate + complemented`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
#[repr(transparent)]
pub(crate) struct Lit(pub(crate) u32);

impl Lit {
    pub(crate) const FALSE: Lit = Lit(0);
    pub(crate) const TRUE: Lit = Lit(1);

    pub(crate) fn gate(self) -> usize {
        (self.0 >> 1) as usize
    }

    pub(crate) fn complemented(self) -> bool {
        self.0 & 1 == 1
    }

    pub(crate) fn constant(b: bool) -> Lit {
        Lit(b as u32)
    }

    fn is_constant(self) -> bool {
        self.0 < 2
    }

    /// The literal complemented if `c`.
    fn flip(self, c: bool) -> Lit {
        Lit(self.0 ^ c as u32)
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}

/// The function of a gate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Gate {
    /// Gate 0.
    False,
    /// A free bit.
    Input,
    And(Lit, Lit),
    /// Neither operand is complemented.
    Xor(Lit, Lit),
    /// No operand is complemented.
    Xor3(Lit, Lit, Lit),
    /// Neither condition nor then-operand is complemented.
    Mux(Lit, Lit, Lit),
    /// At most one operand is complemented.
    Majority(Lit, Lit, Lit),
}

/// A graph of hashed gates; operands are older than the gates that use them.
pub(crate) struct Gates {
    gates: Vec<Gate>,
    hashed: FxHashMap<Gate, u32>,
}

impl Gates {
    pub(crate) fn new() -> Gates {
        Gates { gates: vec![Gate::False], hashed: FxHashMap::default() }
    }

    pub(crate) fn len(&self) -> usize {
        self.gates.len()
    }

    pub(crate) fn gate(&self, i: usize) -> Gate {
        self.gates[i]
    }

    pub(crate) fn input(&mut self) -> Lit {
        self.gates.push(Gate::Input);
        Lit((self.gates.len() as u32 - 1) << 1)
    }

    fn make(&mut self, g: Gate) -> Lit {
        let next = self.gates.len() as u32;
        let id = *self.hashed.entry(g).or_insert(next);
        if id == next {
            self.gates.push(g);
        }
        Lit(id << 1)
    }

    pub(crate) fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match a {
            Lit::FALSE => return Lit::FALSE,
            Lit::TRUE => return b,
            _ if a == b => return a,
            _ if a == !b => return Lit::FALSE,
            _ => {}
        }
        // One level of absorption and contradiction.
        for (x, other) in [(a, b), (b, a)] {
            if let Gate::And(p, q) = self.gates[other.gate()] {
                if !other.complemented() {
                    if x == p || x == q {
                        return other;
                    }
                    if x == !p || x == !q {
                        return Lit::FALSE;
                    }
                } else {
                    if x == !p || x == !q {
                        return x;
                    }
                    if x == p {
                        return self.and(x, !q);
                    }
                    if x == q {
                        return self.and(x, !p);
                    }
                }
            }
        }
        self.make(Gate::And(a, b))
    }

    pub(crate) fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    pub(crate) fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let flip = a.complemented() != b.complemented();
        let (a, b) = (a.flip(a.complemented()), b.flip(b.complemented()));
        let (a, b) = (a.min(b), a.max(b));
        if a == Lit::FALSE {
            return b.flip(flip);
        }
        if a == b {
            return Lit::FALSE.flip(flip);
        }
        // (p ^ q) ^ q is p.
        for (x, other) in [(a, b), (b, a)] {
            if let Gate::Xor(p, q) = self.gates[other.gate()] {
                if x == p {
                    return q.flip(flip);
                }
                if x == q {
                    return p.flip(flip);
                }
            }
        }
        self.make(Gate::Xor(a, b)).flip(flip)
    }

    /// Whether an odd number of three hold: the sum of a full adder.
    pub(crate) fn xor3(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let flip = [a, b, c].iter().filter(|l| l.complemented()).count() % 2 == 1;
        let mut v = [a, b, c].map(|l| l.flip(l.complemented()));
        v.sort_unstable();
        let [a, b, c] = v;
        let sum = if a == Lit::FALSE || a == b {
            if a == b { c } else { self.xor(b, c) }
        } else if b == c {
            a
        } else {
            self.make(Gate::Xor3(a, b, c))
        };
        sum.flip(flip)
    }

    /// `x` where `c`, else `y`.
    pub(crate) fn mux(&mut self, c: Lit, x: Lit, y: Lit) -> Lit {
        if c.complemented() {
            return self.mux(!c, y, x);
        }
        if c == Lit::FALSE || x == y {
            return y;
        }
        if x == !y {
            return self.xor(c, y);
        }
        if x.is_constant() || x == c || x == !c {
            let value = x == Lit::TRUE || x == c;
            return if value { self.or(c, y) } else { self.and(!c, y) };
        }
        if y.is_constant() || y == c || y == !c {
            let value = y == Lit::TRUE || y == !c;
            return if value { self.or(!c, x) } else { self.and(c, x) };
        }
        let flip = x.complemented();
        self.make(Gate::Mux(c, x.flip(flip), y.flip(flip))).flip(flip)
    }

    /// At least two of three.
    pub(crate) fn majority(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let mut v = [a, b, c];
        v.sort_unstable();
        let [a, b, c] = v;
        match a {
            Lit::FALSE => return self.and(b, c),
            Lit::TRUE => return self.or(b, c),
            _ => {}
        }
        if a == b || b == c {
            return b;
        }
        if a == !b {
            return c;
        }
        if b == !c {
            return a;
        }
        // The function is its own dual: complementing all operands complements it.
        let complemented = v.iter().filter(|l| l.complemented()).count();
        let flip = complemented >= 2;
        let [a, b, c] = v.map(|l| l.flip(flip));
        self.make(Gate::Majority(a, b, c)).flip(flip)
    }

    /// Clauses that define a gate by a literal for its output and literals for operands.
    pub(crate) fn clauses<L: Copy + std::ops::Not<Output = L>>(
        &self,
        gate: Gate,
        out: L,
        lit: impl Fn(Lit) -> L,
        mut add: impl FnMut(&[L]),
    ) {
        match gate {
            Gate::False => add(&[!out]),
            Gate::Input => {}
            Gate::And(a, b) => {
                let (a, b) = (lit(a), lit(b));
                add(&[!out, a]);
                add(&[!out, b]);
                add(&[out, !a, !b]);
            }
            Gate::Xor(a, b) => {
                let (a, b) = (lit(a), lit(b));
                add(&[!out, a, b]);
                add(&[!out, !a, !b]);
                add(&[out, !a, b]);
                add(&[out, a, !b]);
            }
            Gate::Xor3(a, b, c) => {
                let (a, b, c) = (lit(a), lit(b), lit(c));
                for (b, out) in [(b, out), (!b, !out)] {
                    add(&[!out, a, b, c]);
                    add(&[!out, a, !b, !c]);
                    add(&[out, !a, b, c]);
                    add(&[out, !a, !b, !c]);
                }
            }
            Gate::Mux(c, x, y) => {
                let (c, x, y) = (lit(c), lit(x), lit(y));
                add(&[!c, !x, out]);
                add(&[!c, x, !out]);
                add(&[c, !y, out]);
                add(&[c, y, !out]);
                // Redundant, but lets equal branches propagate.
                add(&[!x, !y, out]);
                add(&[x, y, !out]);
            }
            Gate::Majority(a, b, c) => {
                let (a, b, c) = (lit(a), lit(b), lit(c));
                for (p, q) in [(a, b), (a, c), (b, c)] {
                    add(&[!p, !q, out]);
                    add(&[p, q, !out]);
                }
            }
        }
    }

    pub(crate) fn operands(&self, i: usize) -> smallvec::SmallVec<[Lit; 3]> {
        match self.gates[i] {
            Gate::False | Gate::Input => smallvec::smallvec![],
            Gate::And(a, b) | Gate::Xor(a, b) => smallvec::smallvec![a, b],
            Gate::Mux(a, b, c) | Gate::Majority(a, b, c) | Gate::Xor3(a, b, c) => {
                smallvec::smallvec![a, b, c]
            }
        }
    }
}
