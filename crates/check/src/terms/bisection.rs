//! A decision about floats by ranges and bisection.
//!
//! A query whose terms are floats of few symbols is contradictory if it is in each of some boxes that
//! have all values of the symbols (Botella, Gotlieb and Michel, *Symbolic Execution of Floating-Point
//! Computations*, 2006, for ranges of paths). External solvers turn floats into bits, and often have no
//! answer here.

use rustc_hash::FxHashMap;

use super::ranges::{Format, Operation, Range, Truths};
use super::{Node, Sort, Term, Terms};

/// The most nodes that are computed in all boxes together.
const MOST_WORK: usize = 40_000_000;

/// What a term may be.
#[derive(Clone, Copy, Debug)]
enum Content {
    Truths(Truths),
    /// A float, or the bits of one.
    Range(Range),
    Unknown,
}

impl Content {
    const fn truths(self) -> Truths {
        match self {
            Self::Truths(truths) => truths,
            _ => Truths::ANY,
        }
    }

    const fn range(self) -> Range {
        match self {
            Self::Range(range) => range,
            _ => Range::ANY,
        }
    }
}

/// A query, and the symbols that are floats.
struct Query<'t> {
    terms: &'t Terms,
    /// The nodes, operands before their users.
    nodes: Vec<Term>,
    /// The positions of each node's operands.
    operands: Vec<Vec<usize>>,
    /// The nodes' positions.
    positions: FxHashMap<Term, usize>,
    asserted: Vec<Term>,
    /// By symbol: the float whose bits it is defined to have.
    defined: FxHashMap<Term, Term>,
    variables: Vec<(Term, Format)>,
}

impl Terms {
    /// Whether some terms surely contradict one another, as far as ranges of floats show it.
    pub(crate) fn contradict_by_ranges(&self, asserted: &[Term]) -> bool {
        let (needed, all) = self.needed(asserted);
        let has_floats =
            (0..needed.len()).any(|at| needed[at] && self.bits_of_float(Term(at as u32)).is_some());
        if !has_floats {
            return false;
        }
        let query = Query::new(self, (needed, all));
        !query.variables.is_empty() && query.is_contradictory()
    }

    fn application(&self, term: Term) -> Option<(&str, &[Term])> {
        match &self.nodes[term.0 as usize].0 {
            Node::Application(head, args) => Some((head, args)),
            _ => None,
        }
    }

    /// The bits that a term is the float of.
    fn bits_of_float(&self, term: Term) -> Option<Term> {
        match self.application(term)? {
            (head, [bits]) if head.starts_with("(_ to_fp ") && !head.contains("RNE") => Some(*bits),
            _ => None,
        }
    }
}

impl<'t> Query<'t> {
    /// Of the nodes that are needed, and all that is asserted: see [`Terms::needed`].
    fn new(terms: &'t Terms, (needed, all): (Vec<bool>, Vec<Term>)) -> Self {
        let nodes = (0..needed.len()).filter(|at| needed[*at]).map(|at| Term(at as u32));
        let nodes: Vec<Term> = nodes.collect();
        let positions: FxHashMap<Term, usize> =
            nodes.iter().enumerate().map(|(at, term)| (*term, at)).collect();
        let operands_of = |term: &Term| {
            let args = terms.application(*term).map_or(&[][..], |(_, args)| args);
            args.iter().map(|arg| positions[arg]).collect()
        };
        let operands = nodes.iter().map(operands_of).collect();
        let mut query = Self {
            terms,
            nodes,
            operands,
            positions,
            asserted: Vec::new(),
            defined: FxHashMap::default(),
            variables: Vec::new(),
        };
        let is_definition = |term: &Term| terms.definitions.iter().any(|(_, own)| own == term);
        for term in all {
            match query.definition(term).filter(|_| is_definition(&term)) {
                Some((symbol, value)) => _ = query.defined.insert(symbol, value),
                None => query.asserted.push(term),
            }
        }
        query.find_variables();
        query
    }

    /// The symbol and the float of an equation that defines the symbol's bits. The float is made before.
    fn definition(&self, equation: Term) -> Option<(Term, Term)> {
        let ("=", [a, b]) = self.terms.application(equation)? else { return None };
        let symbol = self.terms.bits_of_float(*a)?;
        let is_symbol = matches!(self.terms.nodes[symbol.0 as usize].0, Node::Symbol(_));
        (is_symbol && b.0 < symbol.0).then_some((symbol, *b))
    }

    /// The symbols whose bits are floats, through choices.
    fn find_variables(&mut self) {
        let floats = self.nodes.iter().filter_map(|term| self.terms.bits_of_float(*term));
        let mut waiting: Vec<Term> = floats.collect();
        let mut seen = std::collections::BTreeSet::new();
        while let Some(term) = waiting.pop() {
            if !seen.insert(term) {
                continue;
            }
            let (node, sort) = &self.terms.nodes[term.0 as usize];
            match (node, sort) {
                (Node::Symbol(_), Sort::Bits(width)) if !self.defined.contains_key(&term) => {
                    let format = Format::of_width(*width);
                    self.variables.extend(format.map(|format| (term, format)));
                }
                (Node::Application(head, args), _) if head == "ite" => waiting.extend(&args[1..]),
                (Node::Application(head, args), _) if head == "bvxor" => waiting.extend(args),
                _ => {}
            }
        }
        self.variables.sort_unstable_by_key(|(term, _)| *term);
    }

    fn is_contradictory(&self) -> bool {
        let mut waiting = vec![vec![Range::ANY; self.variables.len()]];
        let mut work = 0;
        let mut contents = vec![Content::Unknown; self.nodes.len()];
        while let Some(values) = waiting.pop() {
            work += self.nodes.len();
            if work > MOST_WORK {
                return false;
            }
            if self.excludes(&values, &mut contents) {
                continue;
            }
            let sizes = values.iter().zip(&self.variables).enumerate();
            let widest = sizes.max_by_key(|(_, (range, (_, format)))| {
                (range.nan && range.low <= range.high, range.width(*format))
            });
            let Some((at, (range, (_, format)))) = widest else { return false };
            let Some(halves) = range.halves(*format) else { return false };
            for half in halves {
                let mut values = values.clone();
                values[at] = half;
                waiting.push(values);
            }
        }
        true
    }

    /// Whether some assertion is false whatever the symbols in these ranges are.
    fn excludes(&self, values: &[Range], contents: &mut [Content]) -> bool {
        for at in 0..self.nodes.len() {
            contents[at] = self.content(at, values, contents);
        }
        self.asserted.iter().any(|term| !contents[self.positions[term]].truths().yes)
    }

    fn content(&self, at: usize, values: &[Range], contents: &[Content]) -> Content {
        let term = self.nodes[at];
        let (node, sort) = &self.terms.nodes[term.0 as usize];
        match (node, sort) {
            (Node::Truth(value), _) => Content::Truths(Truths::of(*value)),
            (Node::Number(bits), Sort::Bits(width)) => match Format::of_width(*width) {
                Some(format) => Content::Range(Range::of(format.of_bits(*bits))),
                None => Content::Unknown,
            },
            (Node::Symbol(_), _) => {
                if let Some(value) = self.defined.get(&term) {
                    return self.positions.get(value).map_or(Content::Unknown, |at| contents[*at]);
                }
                let variable = self.variables.binary_search_by_key(&term, |(term, _)| *term);
                variable.map_or(Content::Unknown, |at| Content::Range(values[at]))
            }
            (Node::Application(head, args), sort) => {
                let positions = &self.operands[at];
                let mut operands = [Content::Unknown; 3];
                let Some(operands) = operands.get_mut(..positions.len()) else {
                    return Content::Unknown;
                };
                for (operand, at) in operands.iter_mut().zip(positions) {
                    *operand = contents[*at];
                }
                match sort {
                    Sort::Bool => self.truth(head, args, operands),
                    _ => self.float(head, (args, *sort), operands),
                }
            }
            _ => Content::Unknown,
        }
    }

    fn truth(&self, head: &str, args: &[Term], operands: &[Content]) -> Content {
        let is_float = |term: &Term| matches!(self.terms.sort(*term), Sort::Float(..));
        Content::Truths(match (head, operands) {
            ("not", [a]) => a.truths().not(),
            ("and", [a, b]) => a.truths().and(b.truths()),
            ("or", [a, b]) => a.truths().or(b.truths()),
            ("=>", [a, b]) => a.truths().not().or(b.truths()),
            ("ite", [test, a, b]) => {
                let (test, a, b) = (test.truths(), a.truths(), b.truths());
                test.and(a).or(test.not().and(b))
            }
            ("fp.lt", [a, b]) => a.range().less(b.range()),
            ("fp.leq", [a, b]) => a.range().less_or_equal(b.range()),
            ("fp.eq", [a, b]) => a.range().equal(b.range()),
            ("fp.isNaN", [a]) => a.range().is_nan(),
            ("=", [a, b]) if args.iter().all(is_float) => a.range().same(b.range()),
            _ => Truths::ANY,
        })
    }

    /// The floats, or the bits of floats, that an application may be.
    fn float(&self, head: &str, (args, sort): (&[Term], Sort), operands: &[Content]) -> Content {
        let format = match sort {
            Sort::F32 | Sort::Bits(32) => Format::Single,
            Sort::F64 | Sort::Bits(64) => Format::Double,
            _ => return Content::Unknown,
        };
        let is_float = |at: usize| matches!(self.terms.sort(args[at]), Sort::Float(..));
        Content::Range(match (head, operands) {
            ("ite", [test, a, b]) => match test.truths() {
                Truths { no: false, .. } => a.range(),
                Truths { yes: false, .. } => b.range(),
                _ => a.range().hull(b.range()),
            },
            ("bvxor", [a, _]) if self.is_sign(args[1], format) => a.range().negated(),
            ("fp.neg", [a]) => a.range().negated(),
            ("fp.abs", [a]) => a.range().magnitude(),
            (head, [a]) if head.starts_with("(_ to_fp ") => match head.ends_with("RNE") {
                true if is_float(0) => a.range().converted(format),
                true => match (self.terms.number(args[0]), self.terms.width(args[0])) {
                    (Some(number), width @ ..=64) => format.of_number(super::signed(number, width)),
                    _ => return Content::Unknown,
                },
                false => a.range(),
            },
            (head, [a, b]) => match Operation::named(head) {
                Some(op) => a.range().apply(op, b.range(), format),
                None => return Content::Unknown,
            },
            _ => return Content::Unknown,
        })
    }

    /// Whether a number has the sign's bit alone.
    fn is_sign(&self, term: Term, format: Format) -> bool {
        let sign = match format {
            Format::Single => 1 << 31,
            Format::Double => 1 << 63,
        };
        self.terms.number(term) == Some(sign)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms about a float of this sort, between two numbers.
    fn between(terms: &mut Terms, (low, high): (f64, f64)) -> (Term, Vec<Term>) {
        let bits = terms.fresh("x", Sort::Bits(64));
        let [x, low, high] = [bits, number(terms, low), number(terms, high)]
            .map(|bits| terms.apply(Sort::F64.conversion("to_fp"), &[bits], Sort::F64));
        let above = terms.apply("fp.leq", &[low, x], Sort::Bool);
        let below = terms.apply("fp.leq", &[x, high], Sort::Bool);
        (x, vec![above, below])
    }

    fn number(terms: &mut Terms, value: f64) -> Term {
        terms.bits(64, value.to_bits().into())
    }

    /// Whether the square of a number between two is less than a limit, by ranges that exclude it.
    fn squares_are_excluded(limits: (f64, f64), limit: f64) -> bool {
        let mut terms = Terms::default();
        let (x, mut asserted) = between(&mut terms, limits);
        let square = terms.apply("fp.mul RNE", &[x, x], Sort::F64);
        let limit = number(&mut terms, limit);
        let limit = terms.apply(Sort::F64.conversion("to_fp"), &[limit], Sort::F64);
        asserted.push(terms.apply("fp.lt", &[square, limit], Sort::Bool));
        terms.contradict_by_ranges(&asserted)
    }

    #[test]
    fn a_query_is_contradictory_only_if_no_float_satisfies_it() {
        assert!(squares_are_excluded((1.0, 2.0), 1.0));
        assert!(!squares_are_excluded((1.0, 2.0), 1.0 + f64::EPSILON));
        assert!(squares_are_excluded((-3.0, -2.0), 4.0));
        assert!(!squares_are_excluded((-3.0, -2.0), 4.5));
        assert!(!squares_are_excluded((-1.0, 1.0), 1e-300));
        // The product of ranges has numbers below zero, which halves exclude.
        assert!(squares_are_excluded((-1.0, 1.0), -0.5));
    }

    #[test]
    fn what_is_not_known_is_no_contradiction() {
        let mut terms = Terms::default();
        let (x, mut asserted) = between(&mut terms, (0.0, 1.0));
        let other = terms.fresh("y", Sort::Bool);
        asserted.push(other);
        assert!(!terms.contradict_by_ranges(&asserted));
        let is_nan = terms.apply("fp.isNaN", &[x], Sort::Bool);
        asserted.push(is_nan);
        assert!(terms.contradict_by_ranges(&asserted));
    }
}
