//! Smart constructors of Booleans, equality and if-then-else.

use crate::terms::pool::TermPool;
use crate::terms::rules::Rule;
use crate::terms::sort::Sort;
use crate::terms::term::{BinOp, Node, Term, UnOp};

impl TermPool {
    /// Boolean negation.
    pub fn not(&mut self, a: Term) -> Term {
        if self.rewriting()
            && let Some(Some(known)) = self.negations.get(a.index())
        {
            return *known;
        }
        assert_eq!(self.sort(a), Sort::Bool, "not of a {}", self.sort(a));
        if let Some(t) = self.fold_un(UnOp::Not, a, Sort::Bool) {
            return t;
        }
        if self.rewriting()
            && let Node::Un(UnOp::Not, x) = self.node(a)
        {
            return self.by(Rule::NotNot, x);
        }
        let negation = self.make_un(UnOp::Not, a, Sort::Bool);
        if self.rewriting() {
            if self.negations.len() <= a.index() {
                self.negations.resize(self.len(), None);
            }
            self.negations[a.index()] = Some(negation);
        }
        negation
    }

    /// The operand of a negation.
    pub(crate) fn as_not(&self, t: Term) -> Option<Term> {
        match self.node(t) {
            Node::Un(UnOp::Not, x) => Some(x),
            _ => None,
        }
    }

    fn complementary(&self, a: Term, b: Term) -> bool {
        self.as_not(a) == Some(b) || self.as_not(b) == Some(a)
    }

    /// Boolean conjunction.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        assert_eq!((self.sort(a), self.sort(b)), (Sort::Bool, Sort::Bool), "and of non-Booleans");
        if self.rewriting()
            && let Some(t) = self.rewrite_and(a, b).or_else(|| self.rewrite_and(b, a))
        {
            return t;
        }
        let (a, b) = self.ordered(a, b);
        self.make_bin(BinOp::And, a, b, Sort::Bool)
    }

    fn rewrite_and(&mut self, a: Term, b: Term) -> Option<Term> {
        match self.as_bool(b) {
            Some(true) => return Some(self.by(Rule::AndTrue, a)),
            Some(false) => return Some(self.by(Rule::AndFalse, b)),
            None => {}
        }
        if a == b {
            return Some(self.by(Rule::AndSame, a));
        }
        if self.complementary(a, b) {
            let f = self.ff();
            return Some(self.by(Rule::AndComplement, f));
        }
        match self.node(b) {
            Node::Bin(BinOp::And, x, y) => {
                if x == a || y == a {
                    return Some(self.by(Rule::AndAbsorb, b));
                }
                if self.complementary(x, a) || self.complementary(y, a) {
                    let f = self.ff();
                    return Some(self.by(Rule::AndContradiction, f));
                }
            }
            Node::Un(UnOp::Not, n) => {
                if let Node::Bin(BinOp::And, x, y) = self.node(n) {
                    // a and not (a and y) is a and not y.
                    if x == a || y == a {
                        let other = if x == a { y } else { x };
                        let other = self.not(other);
                        let t = self.and(a, other);
                        return Some(self.by(Rule::AndNotAnd, t));
                    }
                    if self.complementary(x, a) || self.complementary(y, a) {
                        return Some(self.by(Rule::AndImplied, a));
                    }
                }
            }
            _ => {}
        }
        None
    }

    /// Boolean disjunction.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        let (na, nb) = (self.not(a), self.not(b));
        let n = self.and(na, nb);
        self.not(n)
    }

    /// Boolean exclusive or.
    pub fn xor(&mut self, a: Term, b: Term) -> Term {
        let e = self.eq(a, b);
        self.not(e)
    }

    /// Boolean implication.
    pub fn implies(&mut self, a: Term, b: Term) -> Term {
        let nb = self.not(b);
        let n = self.and(a, nb);
        self.not(n)
    }

    /// Conjunction of any number of Booleans; `true` of none.
    pub fn and_all(&mut self, all: impl IntoIterator<Item = Term>) -> Term {
        let start = self.tt();
        all.into_iter().fold(start, |acc, t| self.and(acc, t))
    }

    /// Disjunction of any number of Booleans; `false` of none.
    pub fn or_all(&mut self, all: impl IntoIterator<Item = Term>) -> Term {
        let start = self.ff();
        all.into_iter().fold(start, |acc, t| self.or(acc, t))
    }

    /// Operands of a commutative operator in canonical order: a constant right, else by age.
    pub(crate) fn ordered(&self, a: Term, b: Term) -> (Term, Term) {
        if !self.rewriting() {
            return (a, b);
        }
        match (self.is_constant(a), self.is_constant(b)) {
            (true, false) => (b, a),
            (false, true) => (a, b),
            _ => (a.min(b), a.max(b)),
        }
    }

    /// Equality of two terms of one sort (no arrays). On floats this is identity, not C's `==`.
    pub fn eq(&mut self, a: Term, b: Term) -> Term {
        let sort = self.sort(a);
        assert_eq!(sort, self.sort(b), "equality of a {sort} and a {}", self.sort(b));
        assert!(!matches!(sort, Sort::Array { .. }), "arrays have no equality");
        if let Some(t) = self.fold_bin(BinOp::Eq, a, b, Sort::Bool) {
            return t;
        }
        let (a, b) = self.ordered(a, b);
        if self.rewriting() {
            if a == b {
                let t = self.tt();
                return self.by(Rule::EqSame, t);
            }
            let rewritten = match sort {
                Sort::Bool => self.rewrite_eq_bool(a, b),
                Sort::BitVec(_) => self.rewrite_eq_bv(a, b),
                _ => self.rewrite_eq_const_ite(a, b),
            };
            if let Some(t) = rewritten {
                return t;
            }
        }
        self.make_bin(BinOp::Eq, a, b, Sort::Bool)
    }

    /// Inequality.
    pub fn neq(&mut self, a: Term, b: Term) -> Term {
        let e = self.eq(a, b);
        self.not(e)
    }

    fn rewrite_eq_bool(&mut self, a: Term, b: Term) -> Option<Term> {
        match self.as_bool(b) {
            Some(true) => return Some(self.by(Rule::EqTrue, a)),
            Some(false) => {
                let t = self.not(a);
                return Some(self.by(Rule::EqFalse, t));
            }
            None => {}
        }
        if self.complementary(a, b) {
            let f = self.ff();
            return Some(self.by(Rule::EqComplement, f));
        }
        match (self.as_not(a), self.as_not(b)) {
            (Some(x), Some(y)) => {
                let t = self.eq(x, y);
                Some(self.by(Rule::EqNotNot, t))
            }
            (Some(x), None) => {
                let e = self.eq(x, b);
                let t = self.not(e);
                Some(self.by(Rule::EqNot, t))
            }
            (None, Some(y)) => {
                let e = self.eq(a, y);
                let t = self.not(e);
                Some(self.by(Rule::EqNot, t))
            }
            (None, None) => None,
        }
    }

    /// `ite(c, k1, k2) = k`: decided by the branches, which are constants (also nested).
    pub(crate) fn rewrite_eq_const_ite(&mut self, a: Term, b: Term) -> Option<Term> {
        if !self.is_constant(b) {
            return None;
        }
        let Node::Ite(c, x, y) = self.node(a) else { return None };
        if !self.is_const_tree(a, 4) {
            // One constant branch that differs rules that branch out.
            let (x_differs, y_differs) =
                (self.is_constant(x) && x != b, self.is_constant(y) && y != b);
            let (guard, rest) = match (x_differs, y_differs) {
                (true, _) => (self.not(c), y),
                (_, true) => (c, x),
                _ => return self.rewrite_eq_same_ite(c, [x, y], b),
            };
            let e = self.eq(rest, b);
            let t = self.and(guard, e);
            return Some(self.by(Rule::EqIteOneConst, t));
        }
        let (ex, ey) = (self.eq(x, b), self.eq(y, b));
        let t = self.ite(c, ex, ey);
        Some(self.by(Rule::EqIteConst, t))
    }

    /// `ite(c, k, x) = k` where `x = k` is known to be false: the condition alone.
    fn rewrite_eq_same_ite(&mut self, c: Term, [x, y]: [Term; 2], k: Term) -> Option<Term> {
        let (guard, rest) = match (x == k, y == k) {
            (true, false) => (c, y),
            (false, true) => (self.not(c), x),
            _ => return None,
        };
        let equal = self.eq(rest, k);
        (self.as_bool(equal) == Some(false)).then(|| self.by(Rule::EqIteSameConst, guard))
    }

    /// Whether the term is a tree of if-then-else, at most `depth` deep, over constants.
    pub(crate) fn is_const_tree(&self, t: Term, depth: u32) -> bool {
        match self.node(t) {
            Node::Ite(_, x, y) => {
                depth > 0 && self.is_const_tree(x, depth - 1) && self.is_const_tree(y, depth - 1)
            }
            _ => self.is_constant(t),
        }
    }

    /// If-then-else over two terms of one sort, arrays too.
    pub fn ite(&mut self, c: Term, x: Term, y: Term) -> Term {
        let sort = self.sort(x);
        assert_eq!(self.sort(c), Sort::Bool, "ite on a {}", self.sort(c));
        assert_eq!(sort, self.sort(y), "ite of a {sort} and a {}", self.sort(y));
        if self.rewriting()
            && let Some(t) = self.rewrite_ite(c, x, y, sort)
        {
            return t;
        }
        self.intern(Node::Ite(c, x, y), sort)
    }

    fn rewrite_ite(&mut self, c: Term, x: Term, y: Term, sort: Sort) -> Option<Term> {
        if let Some(v) = self.as_bool(c) {
            return Some(self.by(Rule::IteConst, if v { x } else { y }));
        }
        if x == y {
            return Some(self.by(Rule::IteSame, x));
        }
        if let Some(n) = self.as_not(c) {
            let t = self.ite(n, y, x);
            return Some(self.by(Rule::IteNotCond, t));
        }
        if sort == Sort::Bool
            && let Some(t) = self.rewrite_ite_bool(c, x, y)
        {
            return Some(t);
        }
        if let Node::Ite(d, x1, y1) = self.node(x) {
            if d == c {
                let t = self.ite(c, x1, y);
                return Some(self.by(Rule::IteNestedSameCond, t));
            }
            if y1 == y || x1 == y {
                // ite(c, ite(d, u, y), y) takes u where both hold.
                let both = if y1 == y {
                    self.and(c, d)
                } else {
                    let nd = self.not(d);
                    self.and(c, nd)
                };
                let t = self.ite(both, if y1 == y { x1 } else { y1 }, y);
                return Some(self.by(Rule::IteMergeThen, t));
            }
        }
        if let Node::Ite(d, x1, y1) = self.node(y) {
            if d == c {
                let t = self.ite(c, x, y1);
                return Some(self.by(Rule::IteNestedSameCond, t));
            }
            if x1 == x || y1 == x {
                let either = if x1 == x {
                    self.or(c, d)
                } else {
                    let nd = self.not(d);
                    self.or(c, nd)
                };
                let t = self.ite(either, x, if x1 == x { y1 } else { x1 });
                return Some(self.by(Rule::IteMergeElse, t));
            }
        }
        None
    }

    fn rewrite_ite_bool(&mut self, c: Term, x: Term, y: Term) -> Option<Term> {
        match (self.as_bool(x), self.as_bool(y)) {
            (Some(true), Some(false)) => return Some(self.by(Rule::IteTrueFalse, c)),
            (Some(false), Some(true)) => {
                let t = self.not(c);
                return Some(self.by(Rule::IteFalseTrue, t));
            }
            (Some(true), None) => {
                let t = self.or(c, y);
                return Some(self.by(Rule::IteThenTrue, t));
            }
            (Some(false), None) => {
                let nc = self.not(c);
                let t = self.and(nc, y);
                return Some(self.by(Rule::IteThenFalse, t));
            }
            (None, Some(true)) => {
                let t = self.implies(c, x);
                return Some(self.by(Rule::IteElseTrue, t));
            }
            (None, Some(false)) => {
                let t = self.and(c, x);
                return Some(self.by(Rule::IteElseFalse, t));
            }
            _ => {}
        }
        if c == x {
            let t = self.or(c, y);
            return Some(self.by(Rule::IteThenCond, t));
        }
        if c == y {
            let t = self.and(c, x);
            return Some(self.by(Rule::IteElseCond, t));
        }
        None
    }

    /// A Boolean as a bit-vector: 1 or 0.
    pub fn bool_to_bv(&mut self, c: Term, width: u32) -> Term {
        let (one, zero) = (self.bv(width, 1), self.bv(width, 0));
        self.ite(c, one, zero)
    }

    /// Whether a bit-vector is not zero.
    pub fn is_nonzero(&mut self, a: Term) -> Term {
        let zero = self.bv(self.width(a), 0);
        self.neq(a, zero)
    }
}
