//! Formulas over the parts of a program's state: the language of invariants.
//!
//! A formula has the meaning that SMT-LIB gives to its functions. Its text is
//!
//! ```text
//! formula = "true" | "false" | NUMBER ":" WIDTH | "x" PART
//!         | "(" function formula ... ")"
//!         | "(" ("extract" HIGH LOW | "zext" WIDTH | "sext" WIDTH) formula ")"
//!         | "(" "fp.round" MODE formula ")"
//!         | "(" ("fp.from_signed" | "fp.from_unsigned" | "fp.convert") WIDTH formula ")"
//!         | "(" "fp.from_bits" formula ")"
//!         | "(" "select" "x" PART formula ")"
//!         | "(" "let" "(" { NAME formula } ")" formula ")"
//! ```
//!
//! where a function is one of [`FUNCTIONS`], and a name of a `let` is `t` with a number. Widths of floats
//! are 32 and 64. A part of the state with the sort of an array stands only in a `select`.

mod parse;

use std::fmt::Write as _;

use crate::terms::{Sort, Term, Terms};

pub use parse::FormulaError;

/// The functions whose arguments are formulas and nothing else, each with its signature.
pub const FUNCTIONS: [(&str, Signature); 39] = [
    ("not", Signature::Truths(1)),
    ("and", Signature::Truths(2)),
    ("or", Signature::Truths(2)),
    ("=>", Signature::Truths(2)),
    ("=", Signature::Equality),
    ("ite", Signature::Choice),
    ("bvnot", Signature::Bits(1)),
    ("bvneg", Signature::Bits(1)),
    ("bvand", Signature::Bits(2)),
    ("bvor", Signature::Bits(2)),
    ("bvxor", Signature::Bits(2)),
    ("bvadd", Signature::Bits(2)),
    ("bvsub", Signature::Bits(2)),
    ("bvmul", Signature::Bits(2)),
    ("bvudiv", Signature::Bits(2)),
    ("bvurem", Signature::Bits(2)),
    ("bvsdiv", Signature::Bits(2)),
    ("bvsrem", Signature::Bits(2)),
    ("bvshl", Signature::Bits(2)),
    ("bvlshr", Signature::Bits(2)),
    ("bvashr", Signature::Bits(2)),
    ("bvult", Signature::BitsTest),
    ("bvule", Signature::BitsTest),
    ("bvslt", Signature::BitsTest),
    ("bvsle", Signature::BitsTest),
    ("concat", Signature::Concat),
    ("fp.neg", Signature::Floats(1)),
    ("fp.abs", Signature::Floats(1)),
    ("fp.sqrt", Signature::Rounded(1)),
    ("fp.add", Signature::Rounded(2)),
    ("fp.sub", Signature::Rounded(2)),
    ("fp.mul", Signature::Rounded(2)),
    ("fp.div", Signature::Rounded(2)),
    ("fp.rem", Signature::Floats(2)),
    ("fp.eq", Signature::FloatsTest(2)),
    ("fp.lt", Signature::FloatsTest(2)),
    ("fp.leq", Signature::FloatsTest(2)),
    ("fp.isNaN", Signature::FloatsTest(1)),
    ("fp.isInfinite", Signature::FloatsTest(1)),
];

/// The rounding modes of `fp.round`.
pub const MODES: [&str; 5] = ["RNE", "RNA", "RTZ", "RTP", "RTN"];

/// The most bits of a bit-vector in a formula.
const WIDEST: u32 = 1 << 12;

/// The arguments of a function, and its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// So many truth values give one.
    Truths(usize),
    /// Two values of one sort give a truth value.
    Equality,
    /// A truth value and two values of one sort give one of that sort.
    Choice,
    /// So many bit-vectors of one width give one of that width.
    Bits(usize),
    /// Two bit-vectors of one width give a truth value.
    BitsTest,
    /// Two bit-vectors give one.
    Concat,
    /// So many floats of one format give one of that format, exactly.
    Floats(usize),
    /// So many floats of one format give one of that format, rounded to nearest, ties to even.
    Rounded(usize),
    /// So many floats of one format give a truth value.
    FloatsTest(usize),
}

/// An operator of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operator {
    /// A function, by its position in [`FUNCTIONS`].
    Function(u8),
    /// The bits between two positions, the high one first.
    Extract(u32, u32),
    /// Zeros up to a width.
    ZeroExtend(u32),
    /// Copies of the sign up to a width.
    SignExtend(u32),
    /// Rounding to an integral float, by the position of the mode in [`MODES`].
    Round(u8),
    /// A signed number as a float of a width.
    FromSigned(u32),
    /// An unsigned number as a float of a width.
    FromUnsigned(u32),
    /// A float as one of a width.
    Convert(u32),
    /// The float of some bits.
    FromBits,
}

/// A node of a formula. Operands are nodes before it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Node {
    /// A truth value.
    Truth(bool),
    /// A constant and its width.
    Number(u128, u32),
    /// A part of the state.
    Part(u32),
    /// The element of a part of the state at an index.
    Element(u32, usize),
    /// An operator on operands.
    Apply(Operator, Vec<usize>),
}

/// A formula. The last node is the formula itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Formula {
    nodes: Vec<(Node, Sort)>,
}

/// The values of the parts of a state.
pub trait Parts {
    /// The terms that values are made of.
    fn terms(&mut self) -> &mut Terms;
    /// The value of a part that is no array.
    fn value(&mut self, part: u32) -> Term;
    /// The element of a part that is an array.
    fn element(&mut self, part: u32, index: Term) -> Term;
}

impl Operator {
    /// The function of a name.
    pub fn named(name: &str) -> Option<Self> {
        let at = FUNCTIONS.iter().position(|(known, _)| *known == name)?;
        Some(Self::Function(at as u8))
    }

    /// The sort of the result for operands of these sorts; none if it has none.
    fn result(self, operands: &[Sort]) -> Option<Sort> {
        let width_of = |sort: &Sort| match sort {
            Sort::Bits(width) => Some(*width),
            _ => None,
        };
        let only = if operands.len() == 1 { operands.first() } else { None };
        match self {
            Self::Function(at) => FUNCTIONS.get(usize::from(at))?.1.result(operands),
            Self::Extract(high, low) => {
                (low <= high && high < width_of(only?)?).then(|| Sort::Bits(high - low + 1))
            }
            Self::ZeroExtend(to) | Self::SignExtend(to) => {
                (width_of(only?)? <= to && to <= WIDEST).then_some(Sort::Bits(to))
            }
            Self::Round(_) => Some(*only?).filter(|sort| matches!(sort, Sort::Float(..))),
            Self::FromSigned(to) | Self::FromUnsigned(to) => {
                width_of(only?)?;
                Sort::float(to)
            }
            Self::Convert(to) => Sort::float(to).filter(|_| matches!(only, Some(Sort::Float(..)))),
            Self::FromBits => Sort::float(width_of(only?)?),
        }
    }
}

impl Signature {
    fn result(self, operands: &[Sort]) -> Option<Sort> {
        let (first, rest) = operands.split_first()?;
        let same = rest.iter().all(|sort| sort == first);
        let (is_bits, is_float) =
            (matches!(first, Sort::Bits(_)), matches!(first, Sort::Float(..)));
        match self {
            Self::Truths(count) => {
                (operands.len() == count && same && *first == Sort::Bool).then_some(Sort::Bool)
            }
            Self::Equality => (operands.len() == 2 && same).then_some(Sort::Bool),
            Self::Choice => match operands {
                [Sort::Bool, a, b] if a == b => Some(*a),
                _ => None,
            },
            Self::Bits(count) => (operands.len() == count && same && is_bits).then_some(*first),
            Self::BitsTest => (operands.len() == 2 && same && is_bits).then_some(Sort::Bool),
            Self::Concat => match operands {
                [Sort::Bits(a), Sort::Bits(b)] if a + b <= WIDEST => Some(Sort::Bits(a + b)),
                _ => None,
            },
            Self::Floats(count) | Self::Rounded(count) => {
                (operands.len() == count && same && is_float).then_some(*first)
            }
            Self::FloatsTest(count) => {
                (operands.len() == count && same && is_float).then_some(Sort::Bool)
            }
        }
    }
}

impl Formula {
    /// Adds a node, and returns its position; none if its operands are not there or have other sorts
    /// than it needs. `sorts` has those of the parts of the state.
    pub fn push(&mut self, node: Node, sorts: &[Sort]) -> Option<usize> {
        let part = |part: u32| sorts.get(part as usize).copied();
        let sort = match &node {
            Node::Truth(_) => Sort::Bool,
            Node::Number(value, width) => {
                let fits = *width >= 128 || *value >> *width == 0;
                let is_width = (1..=WIDEST).contains(width);
                (fits && is_width).then_some(Sort::Bits(*width))?
            }
            Node::Part(at) => part(*at).filter(|sort| !matches!(sort, Sort::Array(..)))?,
            Node::Element(at, index) => match (part(*at)?, self.nodes.get(*index)?.1) {
                (Sort::Array(bits, element), Sort::Bits(own)) if bits == own => Sort::Bits(element),
                _ => return None,
            },
            Node::Apply(operator, operands) => {
                let of = |operand: &usize| self.nodes.get(*operand).map(|(_, sort)| *sort);
                let operands: Option<Vec<Sort>> = operands.iter().map(of).collect();
                operator.result(&operands?)?
            }
        };
        self.nodes.push((node, sort));
        Some(self.nodes.len() - 1)
    }

    /// The formula that one of the nodes is.
    #[must_use]
    pub fn rooted(mut self, root: usize) -> Self {
        if root + 1 < self.nodes.len() {
            // It stood before others, and has to be last.
            let copy = self.nodes[root].clone();
            self.nodes.push(copy);
        }
        self
    }

    /// The sort of the whole; that of a truth value if there is nothing.
    pub fn sort_of_all(&self) -> Sort {
        self.nodes.last().map_or(Sort::Bool, |(_, sort)| *sort)
    }

    /// The sort of a node.
    pub fn sort(&self, node: usize) -> Option<Sort> {
        self.nodes.get(node).map(|(_, sort)| *sort)
    }

    /// The parts of the state that it speaks of.
    pub fn parts(&self) -> impl Iterator<Item = u32> + '_ {
        self.nodes.iter().filter_map(|(node, _)| match node {
            Node::Part(part) | Node::Element(part, _) => Some(*part),
            _ => None,
        })
    }

    /// The formula on a state.
    pub fn on(&self, parts: &mut impl Parts) -> Term {
        let mut values: Vec<Term> = Vec::with_capacity(self.nodes.len());
        for (node, sort) in &self.nodes {
            let value = match node {
                Node::Truth(value) => parts.terms().truth(*value),
                Node::Number(value, width) => parts.terms().bits(*width, *value),
                Node::Part(part) => parts.value(*part),
                Node::Element(part, index) => parts.element(*part, values[*index]),
                Node::Apply(operator, operands) => {
                    let operands: Vec<Term> =
                        operands.iter().map(|operand| values[*operand]).collect();
                    applied(parts.terms(), *operator, &operands, *sort)
                }
            };
            values.push(value);
        }
        values.last().copied().unwrap_or_else(|| parts.terms().truth(true))
    }

    /// The text. What is used more than once has a name.
    pub fn text(&self) -> String {
        let mut uses = vec![0_u32; self.nodes.len()];
        for (node, _) in &self.nodes {
            match node {
                Node::Apply(_, operands) => operands.iter().for_each(|at| uses[*at] += 1),
                Node::Element(_, index) => uses[*index] += 1,
                _ => {}
            }
        }
        let (mut named, mut names, mut texts) = (String::new(), 0, Vec::<String>::new());
        let last = self.nodes.len().saturating_sub(1);
        for (at, (node, _)) in self.nodes.iter().enumerate() {
            let mut text = node_text(node, &texts);
            let is_leaf = !matches!(node, Node::Apply(..) | Node::Element(..));
            if at != last && !is_leaf && (uses[at] > 1 || text.len() > LONGEST) {
                let space = if names == 0 { "" } else { " " };
                let _ = write!(named, "{space}t{names} {text}");
                text = format!("t{names}");
                names += 1;
            }
            texts.push(text);
        }
        let body = texts.pop().unwrap_or_else(|| "true".to_owned());
        if named.is_empty() { body } else { format!("(let ({named}) {body})") }
    }
}

/// Nodes of more text than this have a name.
const LONGEST: usize = 300;

fn node_text(node: &Node, texts: &[String]) -> String {
    match node {
        Node::Truth(value) => value.to_string(),
        Node::Number(value, width) => format!("{value}:{width}"),
        Node::Part(part) => format!("x{part}"),
        Node::Element(part, index) => format!("(select x{part} {})", texts[*index]),
        Node::Apply(operator, operands) => {
            let head = match operator {
                Operator::Function(at) => FUNCTIONS[usize::from(*at)].0.to_owned(),
                Operator::Extract(high, low) => format!("extract {high} {low}"),
                Operator::ZeroExtend(to) => format!("zext {to}"),
                Operator::SignExtend(to) => format!("sext {to}"),
                Operator::Round(mode) => format!("fp.round {}", MODES[usize::from(*mode) % 5]),
                Operator::FromSigned(to) => format!("fp.from_signed {to}"),
                Operator::FromUnsigned(to) => format!("fp.from_unsigned {to}"),
                Operator::Convert(to) => format!("fp.convert {to}"),
                Operator::FromBits => "fp.from_bits".to_owned(),
            };
            let operands: Vec<&str> = operands.iter().map(|at| texts[*at].as_str()).collect();
            format!("({head} {})", operands.join(" "))
        }
    }
}

/// An operator on terms.
fn applied(terms: &mut Terms, operator: Operator, operands: &[Term], sort: Sort) -> Term {
    match operator {
        Operator::Function(at) => {
            let (name, signature) = FUNCTIONS[usize::from(at)];
            by_name(terms, (name, signature), operands, sort)
        }
        Operator::Extract(high, low) => terms.extract(operands[0], high, low),
        Operator::ZeroExtend(to) => terms.zero_extend(operands[0], to),
        Operator::SignExtend(to) => terms.sign_extend(operands[0], to),
        Operator::Round(mode) => {
            let mode = MODES[usize::from(mode) % MODES.len()];
            terms.apply(format!("fp.roundToIntegral {mode}"), operands, sort)
        }
        Operator::FromSigned(_) | Operator::Convert(_) => {
            terms.apply(format!("{} RNE", sort.conversion("to_fp")), operands, sort)
        }
        Operator::FromUnsigned(_) => {
            terms.apply(format!("{} RNE", sort.conversion("to_fp_unsigned")), operands, sort)
        }
        Operator::FromBits => terms.apply(sort.conversion("to_fp"), operands, sort),
    }
}

fn by_name(
    terms: &mut Terms,
    (name, signature): (&'static str, Signature),
    operands: &[Term],
    sort: Sort,
) -> Term {
    match (name, operands) {
        ("not", [a]) => terms.not(*a),
        ("and", [a, b]) => terms.and(*a, *b),
        ("or", [a, b]) => terms.or(*a, *b),
        ("=", [a, b]) => terms.equal(*a, *b),
        ("ite", [test, a, b]) => terms.choose(*test, *a, *b),
        ("concat", [a, b]) => terms.concat(*a, *b),
        (_, [a, b]) if signature == Signature::Bits(2) => terms.arithmetic(name, *a, *b),
        (_, [a, b]) if signature == Signature::BitsTest => terms.compare(name, *a, *b),
        _ if matches!(signature, Signature::Rounded(_)) => {
            terms.apply(format!("{name} RNE"), operands, sort)
        }
        _ => terms.apply(name, operands, sort),
    }
}
