//! Formulas of invariants as C programmers write them.
//!
//! Order is signed unless an operand is shown as `(unsigned)`. A variable has the name that the system
//! gives it. Bits that are cut out of a value are `x[high:low]`, and the lowest ones as a number are
//! `x mod 8`.

use lydian_smt::{BinOp, Node, Term, TermPool, UnOp};

/// The deepest nesting that is shown; below it stands `…`.
const DEEPEST: u32 = 12;

/// The formula as text of bounded depth.
pub fn formula(pool: &TermPool, term: Term) -> String {
    Reader { pool }.text(term, DEEPEST)
}

struct Reader<'a> {
    pool: &'a TermPool,
}

impl Reader<'_> {
    fn text(&self, term: Term, depth: u32) -> String {
        let Some(depth) = depth.checked_sub(1) else { return "…".to_owned() };
        if let Some(text) = self.leaf(term) {
            return text;
        }
        match self.pool.node(term) {
            Node::Un(UnOp::Not, inner) => self.negation(inner, depth),
            Node::Un(op, a) => self.unary(op, term, a, depth),
            Node::Bin(op, a, b) => self.binary(op, a, b, depth),
            Node::Ite(test, a, b) => {
                let [test, a, b] = [test, a, b].map(|part| self.operand(part, depth));
                format!("{test} ? {a} : {b}")
            }
            Node::Extract(a, 0) if self.pool.width(term) < 32 => {
                let modulus = 1u64 << self.pool.width(term);
                format!("{} mod {modulus}", self.operand(a, depth))
            }
            Node::Extract(a, low) => {
                let high = low + self.pool.width(term) - 1;
                format!("{}[{high}:{low}]", self.operand(a, depth))
            }
            Node::Store(array, index, value) => {
                let [array, index, value] =
                    [array, index, value].map(|part| self.operand(part, depth));
                format!("{array} with [{index}] = {value}")
            }
            _ => self.pool.show(term).to_string(),
        }
    }

    /// A constant or a symbol.
    fn leaf(&self, term: Term) -> Option<String> {
        let pool = self.pool;
        if let Some(name) = pool.var_name(term) {
            return Some(name.to_owned());
        }
        if let Some(value) = pool.as_bool(term) {
            return Some(if value { "true" } else { "false" }.to_owned());
        }
        let bits = pool.as_u64(term)?;
        Some(match (pool.width(term), pool.as_i64(term)) {
            (2.., Some(value)) => value.to_string(),
            _ => bits.to_string(),
        })
    }

    /// An operand, in parentheses if it has operands of its own.
    fn operand(&self, term: Term, depth: u32) -> String {
        let text = self.text(term, depth);
        let is_postfix = match self.pool.node(term) {
            Node::Extract(..) => text.ends_with(']'),
            Node::Bin(BinOp::Select, ..) => true,
            Node::Un(UnOp::Not, inner) => text == format!("!{}", self.operand(inner, depth)),
            _ => false,
        };
        match self.leaf(term).is_some() || is_postfix || text == "…" {
            true => text,
            false => format!("({text})"),
        }
    }

    fn negation(&self, inner: Term, depth: u32) -> String {
        let sides = |a, b, sign: &str| {
            format!("{} {sign} {}", self.operand(a, depth), self.operand(b, depth))
        };
        match self.pool.node(inner) {
            Node::Bin(BinOp::Slt, a, b) => sides(b, a, "<="),
            Node::Bin(BinOp::Ult, a, b) => self.unsigned(b, a, "<=", depth),
            Node::Bin(BinOp::Eq, a, b) => sides(a, b, "!="),
            Node::Bin(BinOp::And, a, b) => self.disjunction(a, b, depth),
            _ => format!("!{}", self.operand(inner, depth)),
        }
    }

    /// `!(a && b)`, as the implication or disjunction that it was made of.
    fn disjunction(&self, a: Term, b: Term, depth: u32) -> String {
        let opposite = |term| match self.pool.node(term) {
            Node::Un(UnOp::Not, inner) => self.operand(inner, depth),
            _ => format!("({})", self.negation(term, depth)),
        };
        format!("{} || {}", opposite(a), opposite(b))
    }

    /// `factor * a`, where the product has the width of the number that `a` is the lower bits of.
    fn multiple(&self, a: Term, factor: u64, depth: u32) -> String {
        let whole = match self.pool.node(a) {
            Node::Extract(whole, 0) => whole,
            _ => a,
        };
        format!("{factor} * {}", self.operand(whole, depth))
    }

    fn unsigned(&self, a: Term, b: Term, sign: &str, depth: u32) -> String {
        let side = |term: Term| match self.pool.as_u64(term) {
            Some(value) => format!("{value}u"),
            None => format!("(unsigned){}", self.operand(term, depth)),
        };
        format!("{} {sign} {}", side(a), side(b))
    }

    fn unary(&self, op: UnOp, term: Term, a: Term, depth: u32) -> String {
        let inner = self.operand(a, depth);
        match op {
            UnOp::BvNot => format!("~{inner}"),
            UnOp::BvNeg | UnOp::FpNeg => format!("-{inner}"),
            UnOp::ZExt => format!("(unsigned {})(unsigned){inner}", self.pool.width(term)),
            UnOp::SExt => inner,
            _ => self.pool.show(term).to_string(),
        }
    }

    fn binary(&self, op: BinOp, a: Term, b: Term, depth: u32) -> String {
        let sign = match op {
            BinOp::And => "&&",
            BinOp::Eq | BinOp::FpEq => "==",
            BinOp::BvAnd => "&",
            BinOp::BvOr => "|",
            BinOp::BvXor => "^",
            BinOp::Add | BinOp::FpAdd => "+",
            BinOp::Sub | BinOp::FpSub => "-",
            BinOp::Mul | BinOp::FpMul => "*",
            BinOp::SDiv | BinOp::FpDiv => "/",
            BinOp::SRem => "%",
            BinOp::Shl => "<<",
            BinOp::AShr => ">>",
            BinOp::Slt | BinOp::FpLt => "<",
            BinOp::FpLe => "<=",
            BinOp::Ult => return self.unsigned(a, b, "<", depth),
            BinOp::UDiv => return self.unsigned(a, b, "/", depth),
            BinOp::URem => return self.unsigned(a, b, "%", depth),
            BinOp::LShr => return self.unsigned(a, b, ">>", depth),
            BinOp::Concat if self.pool.as_u64(b) == Some(0) && self.pool.width(b) < 32 => {
                return self.multiple(a, 1 << self.pool.width(b), depth);
            }
            BinOp::Concat => "++",
            BinOp::FpRem => "remainder",
            BinOp::Select => {
                return format!("{}[{}]", self.operand(a, depth), self.text(b, depth));
            }
        };
        format!("{} {sign} {}", self.operand(a, depth), self.operand(b, depth))
    }
}

#[cfg(test)]
mod tests {
    use lydian_smt::Sort;

    use super::*;

    #[test]
    fn comparisons_read_as_in_c_with_unsigned_ones_marked() {
        let mut pool = TermPool::new();
        let [i, n] = ["i", "n"].map(|name| pool.var(name, Sort::BitVec(32)));
        let (two, least) = (pool.bv(32, 2), pool.bv_signed(32, -1));
        let double = pool.mul(i, two);
        let sum = pool.add(double, n);
        let signed = pool.sle(sum, least);
        assert_eq!(formula(&pool, signed).matches('<').count(), 1, "{}", formula(&pool, signed));
        assert!(!formula(&pool, signed).contains("unsigned"));
        let unsigned = pool.ult(i, n);
        assert_eq!(formula(&pool, unsigned), "(unsigned)i < (unsigned)n");
        let unsigned = pool.ule(i, n);
        assert_eq!(formula(&pool, unsigned), "(unsigned)i <= (unsigned)n");
        let different = pool.neq(i, n);
        assert_eq!(formula(&pool, different), "i != n");
    }

    #[test]
    fn a_bit_is_a_number_without_a_sign() {
        let mut pool = TermPool::new();
        let x = pool.var("x", Sort::BitVec(8));
        let (bit, one) = (pool.extract(0, 0, x), pool.bv(1, 1));
        let is_odd = pool.eq(bit, one);
        assert_eq!(formula(&pool, is_odd), "(x mod 2) == 1");
    }

    #[test]
    fn a_shift_to_the_left_is_a_product() {
        let mut pool = TermPool::new();
        let [x, y] = ["x", "y"].map(|name| pool.var(name, Sort::BitVec(32)));
        let four = pool.bv(32, 4);
        let product = pool.mul(x, four);
        let same = pool.eq(y, product);
        assert!(formula(&pool, same).contains("(4 * x)"), "{}", formula(&pool, same));
    }

    #[test]
    fn a_comparison_that_begins_with_a_negation_is_no_single_operand() {
        let mut pool = TermPool::new();
        let [a, b, c] = ["a", "b", "c"].map(|name| pool.var(name, Sort::Bool));
        let negated = pool.not(a);
        let same = pool.eq(negated, b);
        let whole = pool.eq(same, c);
        let text = formula(&pool, whole);
        assert!(["c != (a == b)", "(a == b) != c", "(a != b) == c"].contains(&&*text), "{text}");
    }

    #[test]
    fn a_disjunction_is_not_shown_as_a_negated_conjunction() {
        let mut pool = TermPool::new();
        let [a, b] = ["a", "b"].map(|name| pool.var(name, Sort::Bool));
        let either = pool.or(a, b);
        assert_eq!(formula(&pool, either), "a || b");
        let implied = pool.implies(a, b);
        assert!(
            ["(!a) || b", "b || (!a)"].contains(&&*formula(&pool, implied)),
            "{}",
            formula(&pool, implied)
        );
    }
}
