//! Terms of SMT-LIB: shared nodes with sorts, and the script that they are written to.
//!
//! Constants are computed here: then a run whose inputs are all known takes no solver's work. Some queries
//! are decided here, too: on floats by ranges (`bisection`), on products by equations (`equations`).

mod bisection;
mod equations;
mod polynomials;
mod ranges;

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

/// The sort of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sort {
    /// Truth values.
    Bool,
    /// Bit-vectors of a width.
    Bits(u32),
    /// IEEE floats by the widths of their exponent and their significand.
    Float(u32, u32),
    /// Arrays by the widths of an index and of an element.
    Array(u32, u32),
}

impl Sort {
    /// IEEE binary32.
    pub const F32: Self = Self::Float(8, 24);
    /// IEEE binary64.
    pub const F64: Self = Self::Float(11, 53);

    /// That of IEEE floats of a width; none if formulas have no such floats.
    pub(crate) const fn float(width: u32) -> Option<Self> {
        match width {
            32 => Some(Self::F32),
            64 => Some(Self::F64),
            _ => None,
        }
    }

    /// The conversion to floats of this sort that is `to_fp` or `to_fp_unsigned`.
    pub(crate) fn conversion(self, name: &str) -> String {
        match self {
            Self::Float(exponent, significand) => format!("(_ {name} {exponent} {significand})"),
            _ => String::new(),
        }
    }

    /// As SMT-LIB writes it.
    pub fn text(self) -> String {
        match self {
            Self::Bool => "Bool".to_owned(),
            Self::Bits(width) => format!("(_ BitVec {width})"),
            Self::Float(exponent, significand) => {
                format!("(_ FloatingPoint {exponent} {significand})")
            }
            Self::Array(index, element) => {
                format!("(Array (_ BitVec {index}) (_ BitVec {element}))")
            }
        }
    }
}

/// A term of a [`Terms`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Node {
    Truth(bool),
    Number(u128),
    Symbol(String),
    Application(String, Vec<Term>),
}

/// All terms of one condition.
#[derive(Debug, Default)]
pub struct Terms {
    nodes: Vec<(Node, Sort)>,
    /// Of each node, how often two surely divides it.
    alignments: Vec<u32>,
    ids: FxHashMap<(Node, Sort), Term>,
    symbols: u32,
    /// What is true of symbols that stand for results which have no term of their own.
    definitions: Vec<(Term, Term)>,
}

/// The bits of a width.
const fn mask(width: u32) -> u128 {
    if width >= 128 { u128::MAX } else { (1 << width) - 1 }
}

/// A number of a width as a signed one.
const fn signed(value: u128, width: u32) -> i128 {
    let unused = 128 - width;
    (value << unused) as i128 >> unused
}

impl Terms {
    fn node(&mut self, node: Node, sort: Sort) -> Term {
        let key = (node, sort);
        if let Some(id) = self.ids.get(&key) {
            return *id;
        }
        let id = Term(self.nodes.len() as u32);
        let alignment = self.alignment_of(&key.0, key.1);
        self.alignments.push(alignment);
        self.nodes.push(key.clone());
        self.ids.insert(key, id);
        id
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The sort of a term.
    pub fn sort(&self, term: Term) -> Sort {
        self.nodes[term.0 as usize].1
    }

    /// The width of a bit-vector; 1 for a truth value.
    pub fn width(&self, term: Term) -> u32 {
        match self.sort(term) {
            Sort::Bits(width) => width,
            _ => 1,
        }
    }

    /// The value of a constant bit-vector of at most 128 bits.
    pub fn number(&self, term: Term) -> Option<u128> {
        match &self.nodes[term.0 as usize].0 {
            Node::Number(value) => Some(*value),
            _ => None,
        }
    }

    /// The value of a constant truth value.
    pub fn truth_of(&self, term: Term) -> Option<bool> {
        match &self.nodes[term.0 as usize].0 {
            Node::Truth(value) => Some(*value),
            _ => None,
        }
    }

    /// A truth value.
    pub fn truth(&mut self, value: bool) -> Term {
        self.node(Node::Truth(value), Sort::Bool)
    }

    /// A constant of a width, of whose bits only the lowest count.
    pub fn bits(&mut self, width: u32, value: u128) -> Term {
        if width > 128 {
            let low = self.bits(128, value);
            return self.zero_extend(low, width);
        }
        self.node(Node::Number(value & mask(width)), Sort::Bits(width))
    }

    /// A symbol of its own that has any value.
    pub fn fresh(&mut self, name: &str, sort: Sort) -> Term {
        self.symbols += 1;
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.:".contains(c);
        let name: String = name.chars().filter(|c| is_plain(*c)).take(60).collect();
        self.node(Node::Symbol(format!("|{name}!{}|", self.symbols)), sort)
    }

    /// A symbol that is defined by an equation with itself in it. There has to be such a value whatever
    /// the values of the other symbols are.
    pub fn define(&mut self, symbol: Term, equation: Term) {
        self.definitions.push((symbol, equation));
    }

    /// An application of a function of SMT-LIB.
    pub fn apply(&mut self, head: impl Into<String>, args: &[Term], sort: Sort) -> Term {
        self.node(Node::Application(head.into(), args.to_vec()), sort)
    }

    // Truth values.

    /// Negation.
    pub fn not(&mut self, a: Term) -> Term {
        if let Some(value) = self.truth_of(a) {
            return self.truth(!value);
        }
        if let Node::Application(head, args) = &self.nodes[a.0 as usize].0
            && head == "not"
        {
            return args[0];
        }
        self.apply("not", &[a], Sort::Bool)
    }

    /// Conjunction.
    pub fn and(&mut self, a: Term, b: Term) -> Term {
        match (self.truth_of(a), self.truth_of(b)) {
            (Some(false), _) | (_, Some(true)) => a,
            (_, Some(false)) | (Some(true), _) => b,
            _ if a == b => a,
            _ => self.apply("and", &[a, b], Sort::Bool),
        }
    }

    /// Disjunction.
    pub fn or(&mut self, a: Term, b: Term) -> Term {
        match (self.truth_of(a), self.truth_of(b)) {
            (Some(true), _) | (_, Some(false)) => a,
            (_, Some(true)) | (Some(false), _) => b,
            _ if a == b => a,
            _ => self.or_of_two(a, b),
        }
    }

    /// `(x and c) or (x and not c)` is `x`: branches leave no trace once both sides have come together.
    fn or_of_two(&mut self, a: Term, b: Term) -> Term {
        let split = |terms: &Self, term: Term| match &terms.nodes[term.0 as usize].0 {
            Node::Application(head, args) if head == "and" => Some((args[0], args[1])),
            _ => None,
        };
        if let (Some((common, x)), Some((other, y))) = (split(self, a), split(self, b))
            && common == other
            && self.not(x) == y
        {
            return common;
        }
        self.apply("or", &[a, b], Sort::Bool)
    }

    /// Conjunction of all.
    pub fn all(&mut self, terms: &[Term]) -> Term {
        let start = self.truth(true);
        terms.iter().fold(start, |all, term| self.and(all, *term))
    }

    /// Disjunction of all.
    pub fn any(&mut self, terms: &[Term]) -> Term {
        let start = self.truth(false);
        terms.iter().fold(start, |all, term| self.or(all, *term))
    }

    /// The second where the first holds, else the third.
    pub fn choose(&mut self, test: Term, then: Term, otherwise: Term) -> Term {
        match self.truth_of(test) {
            Some(true) => then,
            Some(false) => otherwise,
            None if then == otherwise => then,
            None => {
                let sort = self.sort(then);
                self.apply("ite", &[test, then, otherwise], sort)
            }
        }
    }

    /// The condition and the numbers of a choice between two numbers.
    fn chosen(&self, term: Term) -> Option<(Term, u128, u128)> {
        match &self.nodes[term.0 as usize].0 {
            Node::Application(head, args) if head == "ite" => {
                Some((args[0], self.number(args[1])?, self.number(args[2])?))
            }
            _ => None,
        }
    }

    /// Identity.
    pub fn equal(&mut self, a: Term, b: Term) -> Term {
        if a == b {
            return self.truth(true);
        }
        if let (Some(a), Some(b)) = (self.number(a), self.number(b)) {
            return self.truth(a == b);
        }
        if let (Some(a), Some(b)) = (self.truth_of(a), self.truth_of(b)) {
            return self.truth(a == b);
        }
        // A truth value as a number is compared with one.
        for (choice, number) in [(a, b), (b, a)] {
            if let (Some((test, x, y)), Some(number)) = (self.chosen(choice), self.number(number)) {
                match (x == number, y == number) {
                    (true, false) => return test,
                    (false, true) => return self.not(test),
                    (same, _) => return self.truth(same),
                }
            }
        }
        self.apply("=", &[a, b], Sort::Bool)
    }

    // Bit-vectors.

    /// A comparison: `bvult`, `bvule`, `bvslt` or `bvsle`.
    pub fn compare(&mut self, head: &'static str, a: Term, b: Term) -> Term {
        if let (Some(x), Some(y)) = (self.number(a), self.number(b)) {
            let width = self.width(a);
            let (sx, sy) = (signed(x, width), signed(y, width));
            let known = match head {
                "bvult" => Some(x < y),
                "bvule" => Some(x <= y),
                "bvslt" => Some(sx < sy),
                "bvsle" => Some(sx <= sy),
                _ => None,
            };
            if let Some(known) = known {
                return self.truth(known);
            }
        }
        self.apply(head, &[a, b], Sort::Bool)
    }

    /// An operation on two bit-vectors of one width that gives one of that width.
    pub fn arithmetic(&mut self, head: &'static str, a: Term, b: Term) -> Term {
        let width = self.width(a);
        let (x, y) = (self.number(a), self.number(b));
        match (head, x, y) {
            (_, Some(x), Some(y)) if width <= 128 => {
                if let Some(value) = computed(head, width, x, y) {
                    return self.bits(width, value);
                }
            }
            ("bvadd" | "bvsub", _, Some(0)) | ("bvmul", _, Some(1)) => return a,
            ("bvadd", Some(0), _) | ("bvmul", Some(1), _) => return b,
            _ => {}
        }
        self.apply(head, &[a, b], Sort::Bits(width))
    }

    /// Sum.
    pub fn add(&mut self, a: Term, b: Term) -> Term {
        self.arithmetic("bvadd", a, b)
    }

    /// Difference.
    pub fn sub(&mut self, a: Term, b: Term) -> Term {
        self.arithmetic("bvsub", a, b)
    }

    /// The bits from `low` to `high`, both included.
    pub fn extract(&mut self, a: Term, high: u32, low: u32) -> Term {
        let width = high - low + 1;
        if width == self.width(a) {
            return a;
        }
        if let Some(value) = self.number(a) {
            return self.bits(width, value >> low);
        }
        if let Some((test, x, y)) = self.chosen(a) {
            let (x, y) = (self.bits(width, x >> low), self.bits(width, y >> low));
            return self.choose(test, x, y);
        }
        self.apply(format!("(_ extract {high} {low})"), &[a], Sort::Bits(width))
    }

    /// More bits, or as many, with zeros.
    pub fn zero_extend(&mut self, a: Term, width: u32) -> Term {
        let more = width - self.width(a);
        if let Some((test, x, y)) = self.chosen(a).filter(|_| width <= 128) {
            let (x, y) = (self.bits(width, x), self.bits(width, y));
            return self.choose(test, x, y);
        }
        match self.number(a) {
            _ if more == 0 => a,
            Some(value) if width <= 128 => self.bits(width, value),
            _ => self.apply(format!("(_ zero_extend {more})"), &[a], Sort::Bits(width)),
        }
    }

    /// More bits, or as many, with the sign.
    pub fn sign_extend(&mut self, a: Term, width: u32) -> Term {
        let from = self.width(a);
        let more = width - from;
        match self.number(a) {
            _ if more == 0 => a,
            Some(value) if width <= 128 => self.bits(width, signed(value, from) as u128),
            _ => self.apply(format!("(_ sign_extend {more})"), &[a], Sort::Bits(width)),
        }
    }

    /// Cut, or filled with zeros, to a width.
    pub fn resize(&mut self, a: Term, width: u32) -> Term {
        match self.width(a) {
            from if from > width => self.extract(a, width - 1, 0),
            _ => self.zero_extend(a, width),
        }
    }

    /// The bits of `high` above those of `low`.
    pub fn concat(&mut self, high: Term, low: Term) -> Term {
        let (of_high, of_low) = (self.width(high), self.width(low));
        let width = of_high + of_low;
        if let (Some(high), Some(low), true) = (self.number(high), self.number(low), width <= 128) {
            return self.bits(width, high << of_low | low);
        }
        self.apply("concat", &[high, low], Sort::Bits(width))
    }

    /// Whether a bit-vector has a one.
    pub fn is_nonzero(&mut self, a: Term) -> Term {
        let zero = self.bits(self.width(a), 0);
        let is_zero = self.equal(a, zero);
        self.not(is_zero)
    }

    /// A truth value as a number of a width.
    pub fn as_number(&mut self, truth: Term, width: u32) -> Term {
        let (one, zero) = (self.bits(width, 1), self.bits(width, 0));
        self.choose(truth, one, zero)
    }

    /// The power of two that surely divides a term, up to `2^63`.
    pub fn alignment(&self, term: Term) -> u32 {
        self.alignments[term.0 as usize]
    }

    fn alignment_of(&self, node: &Node, sort: Sort) -> u32 {
        let of = |term: &Term| self.alignment(*term);
        match node {
            Node::Number(value) => value.trailing_zeros().min(63),
            Node::Application(head, args) => match (head.as_str(), &args[..]) {
                ("bvadd" | "bvsub", [a, b]) => of(a).min(of(b)),
                ("bvmul", [a, b]) => (of(a) + of(b)).min(63),
                ("ite", [_, a, b]) => of(a).min(of(b)),
                (head, [a]) if head.contains("extend") => of(a),
                (head, [a]) if head.starts_with("(_ extract") && head.ends_with(" 0)") => {
                    let Sort::Bits(width) = sort else { return 0 };
                    of(a).min(width)
                }
                _ => 0,
            },
            _ => 0,
        }
    }

    // Arrays.

    /// The element at an index.
    pub fn select(&mut self, mut array: Term, index: Term) -> Term {
        let Sort::Array(_, element) = self.sort(array) else { return array };
        for _ in 0..MOST_WRITES {
            let Node::Application(head, args) = &self.nodes[array.0 as usize].0 else { break };
            match (head.as_str(), &args[..]) {
                ("store", [_, at, value]) if *at == index => return *value,
                ("store", [before, at, _])
                    if self.number(*at).is_some() && self.number(index).is_some() =>
                {
                    array = *before;
                }
                (head, [value]) if head.starts_with("(as const") => return *value,
                _ => break,
            }
        }
        self.apply("select", &[array, index], Sort::Bits(element))
    }

    /// The array with another element at an index.
    pub fn store(&mut self, array: Term, index: Term, value: Term) -> Term {
        let sort = self.sort(array);
        self.apply("store", &[array, index, value], sort)
    }

    /// The array whose elements all have one value.
    pub fn uniform(&mut self, sort: Sort, value: Term) -> Term {
        self.apply(format!("(as const {})", sort.text()), &[value], sort)
    }

    // Scripts.

    /// A script that asks whether some terms hold together.
    pub fn script(&self, asserted: &[Term]) -> String {
        let (needed, asserted) = self.needed(asserted);
        let mut uses = vec![0_u32; self.nodes.len()];
        for term in needed.iter().enumerate().filter(|(_, needed)| **needed).map(|(at, _)| at) {
            if let Node::Application(_, args) = &self.nodes[term].0 {
                args.iter().for_each(|arg| uses[arg.0 as usize] += 1);
            }
        }
        let mut script = String::from("(set-option :produce-models true)\n(set-logic ALL)\n");
        let mut texts: Vec<Option<String>> = vec![None; self.nodes.len()];
        for (at, (node, sort)) in self.nodes.iter().enumerate().filter(|(at, _)| needed[*at]) {
            let text = match node {
                Node::Truth(value) => value.to_string(),
                Node::Number(value) => match sort {
                    Sort::Bits(width) => format!("(_ bv{value} {width})"),
                    _ => value.to_string(),
                },
                Node::Symbol(name) => {
                    let _ = writeln!(script, "(declare-fun {name} () {})", sort.text());
                    name.clone()
                }
                Node::Application(head, args) => {
                    let mut text = format!("({head}");
                    for arg in args {
                        text.push(' ');
                        text.push_str(texts[arg.0 as usize].as_deref().unwrap_or("true"));
                    }
                    text.push(')');
                    if uses[at] > 1 || text.len() > LONGEST {
                        let _ = writeln!(script, "(define-fun t{at} () {} {text})", sort.text());
                        text = format!("t{at}");
                    }
                    text
                }
            };
            texts[at] = Some(text);
        }
        for term in asserted {
            if let Some(text) = &texts[term.0 as usize] {
                let _ = writeln!(script, "(assert {text})");
            }
        }
        script.push_str("(check-sat)\n");
        script
    }

    /// The nodes that some terms consist of, and the terms with the equations of the symbols among them.
    fn needed(&self, asserted: &[Term]) -> (Vec<bool>, Vec<Term>) {
        let mut needed = vec![false; self.nodes.len()];
        let mut all = asserted.to_vec();
        let mut waiting = all.clone();
        let mut known: FxHashSet<Term> = all.iter().copied().collect();
        loop {
            while let Some(term) = waiting.pop() {
                if std::mem::replace(&mut needed[term.0 as usize], true) {
                    continue;
                }
                if let Node::Application(_, args) = &self.nodes[term.0 as usize].0 {
                    waiting.extend(args);
                }
            }
            for (symbol, equation) in &self.definitions {
                if needed[symbol.0 as usize] && known.insert(*equation) {
                    all.push(*equation);
                    waiting.push(*equation);
                }
            }
            if waiting.is_empty() {
                return (needed, all);
            }
        }
    }
}

/// The result of an operation on numbers of a width, as SMT-LIB defines it; none for other operations.
fn computed(head: &str, width: u32, x: u128, y: u128) -> Option<u128> {
    let (sx, sy) = (signed(x, width), signed(y, width));
    let shift = u32::try_from(y).ok().filter(|shift| *shift < width);
    Some(match head {
        "bvadd" => x.wrapping_add(y),
        "bvsub" => x.wrapping_sub(y),
        "bvmul" => x.wrapping_mul(y),
        "bvand" => x & y,
        "bvor" => x | y,
        "bvxor" => x ^ y,
        "bvudiv" => x.checked_div(y).unwrap_or(u128::MAX),
        "bvurem" => x.checked_rem(y).unwrap_or(x),
        "bvsdiv" if sy != 0 => sx.wrapping_div(sy) as u128,
        "bvsrem" if sy != 0 => sx.wrapping_rem(sy) as u128,
        "bvshl" => shift.map_or(0, |shift| x << shift),
        "bvlshr" => shift.map_or(0, |shift| x >> shift),
        "bvashr" => (sx >> shift.unwrap_or(width - 1)) as u128,
        _ => return None,
    })
}

/// The most writes to an array that are looked at for a read of it.
const MOST_WRITES: usize = 1 << 12;

/// Terms of more text than this have a name in scripts.
const LONGEST: usize = 400;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_computed_in_their_width() {
        let mut terms = Terms::default();
        let (a, b) = (terms.bits(8, 200), terms.bits(8, 100));
        let sum = terms.add(a, b);
        assert_eq!(terms.number(sum), Some(44));
        let below = terms.compare("bvslt", a, b);
        assert_eq!(terms.truth_of(below), Some(true));
        let wide = terms.sign_extend(a, 16);
        assert_eq!(terms.number(wide), Some(0xffc8));
        let both = terms.concat(a, b);
        assert_eq!(terms.number(both), Some(200 << 8 | 100));
    }

    #[test]
    fn an_element_is_that_of_the_last_write_to_its_index() {
        let mut terms = Terms::default();
        let sort = Sort::Array(8, 16);
        let [i, j, zero, one] = [(8, 3), (8, 4), (16, 0), (16, 1)].map(|(w, v)| terms.bits(w, v));
        let start = terms.uniform(sort, zero);
        let once = terms.store(start, i, one);
        let twice = terms.store(once, j, zero);
        let any = terms.fresh("k", Sort::Bits(8));
        assert_eq!(terms.select(twice, i), one);
        assert_eq!(terms.select(twice, any), terms.apply("select", &[twice, any], Sort::Bits(16)));
        let thrice = terms.store(twice, any, one);
        let read = terms.select(thrice, i);
        assert_eq!(terms.number(read), None, "the write in between may hit");
        assert_eq!(terms.select(start, any), zero);
    }

    #[test]
    fn sums_of_sums_have_the_alignment_of_their_parts() {
        let mut terms = Terms::default();
        let symbol = terms.fresh("a", Sort::Bits(64));
        let eight = terms.bits(64, 8);
        let mut sum = terms.arithmetic("bvmul", symbol, eight);
        for _ in 0..200 {
            sum = terms.add(sum, sum);
        }
        assert_eq!(terms.alignment(sum), 3);
        let odd = terms.add(sum, symbol);
        assert_eq!(terms.alignment(odd), 0);
    }

    #[test]
    fn a_script_declares_what_it_needs_and_nothing_else() {
        let mut terms = Terms::default();
        let [a, b] = ["a", "b"].map(|name| terms.fresh(name, Sort::Bits(8)));
        let least = terms.bits(8, 0);
        let equation = terms.compare("bvult", least, a);
        terms.define(a, equation);
        let is_one = terms.bits(8, 1);
        let asked = terms.equal(a, is_one);
        let script = terms.script(&[asked]);
        assert!(script.contains("|a!1|") && !script.contains("|b!2|"), "{script}");
        assert!(script.contains("bvult"), "{script}");
        let other = terms.equal(b, is_one);
        assert!(!terms.script(&[other]).contains("bvult"));
    }
}
