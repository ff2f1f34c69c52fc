//! Terms as formulas over the parts of a program's state.

use lydian_check::Formula;
use lydian_check::formula::{MODES, Node as Written, Operator};
use lydian_check::terms::Sort as WrittenSort;
use lydian_prove::System;
use lydian_prove::encode::provenance::Provenance;
use lydian_prove::system::VarId;
use lydian_smt::{BinOp, FloatSort, Node, Sort, Term, TermPool, UnOp};
use rustc_hash::FxHashMap;

/// The most writes to an array that are told apart one by one.
const MOST_WRITES: u32 = 64;

/// The meaning of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A variable of the system.
    Variable(VarId),
    /// A parameter of invariants, with so many bits.
    Parameter(Term, u32),
}

/// Translates terms over a system's variables, and parameters of invariants, and notes which of them they have.
pub(super) struct Translation<'t> {
    pool: &'t TermPool,
    symbols: FxHashMap<Term, Symbol>,
    used: Vec<Symbol>,
    sorts: Vec<WrittenSort>,
}

/// A formula while it is made.
struct Draft<'d, 't> {
    translation: &'d mut Translation<'t>,
    formula: Formula,
    known: FxHashMap<Term, usize>,
}

impl<'t> Translation<'t> {
    /// For the variables that have a place in the program, and some parameters.
    pub(super) fn new(
        pool: &'t TermPool,
        (system, origins): (&System, &Provenance),
        parameters: &[Term],
    ) -> Self {
        let variables = system.variables.iter();
        let placed = variables.filter(|(id, _)| origins.variables[*id].is_some());
        let placed = placed.map(|(id, variable)| (variable.symbol, Symbol::Variable(id)));
        let numbers = parameters.iter().filter_map(|parameter| match pool.sort(*parameter) {
            Sort::BitVec(bits @ 1..=64) => Some((*parameter, Symbol::Parameter(*parameter, bits))),
            _ => None,
        });
        let symbols = placed.chain(numbers).collect();
        Self { pool, symbols, used: Vec::new(), sorts: Vec::new() }
    }

    /// The symbols that the formulas so far have, in the order of their numbers there.
    pub(super) fn used(&self) -> &[Symbol] {
        &self.used
    }

    /// A formula's text; none if the language has no word for something in it.
    pub(super) fn text(&mut self, formula: Term) -> Option<String> {
        let text = self.written(formula)?;
        // What does not read back is no certificate's.
        Formula::parse(&text, &self.sorts).is_ok().then_some(text)
    }

    /// A term's text; none if the language has no word for something in it.
    pub(super) fn term(&mut self, formula: Term) -> Option<String> {
        let text = self.written(formula)?;
        Formula::parse_term(&text, &self.sorts).is_ok().then_some(text)
    }

    fn written(&mut self, formula: Term) -> Option<String> {
        let known = FxHashMap::default();
        let mut draft = Draft { translation: self, formula: Formula::default(), known };
        let root = draft.translate(formula)?;
        let Draft { formula, .. } = draft;
        Some(formula.rooted(root).text())
    }

    fn part(&mut self, term: Term) -> Option<u32> {
        let symbol = *self.symbols.get(&term)?;
        if let Some(at) = self.used.iter().position(|used| *used == symbol) {
            return Some(at as u32);
        }
        self.sorts.push(sort(self.pool.sort(term)));
        self.used.push(symbol);
        Some(self.used.len() as u32 - 1)
    }
}

impl Draft<'_, '_> {
    fn push(&mut self, node: Written) -> Option<usize> {
        self.formula.push(node, &self.translation.sorts)
    }

    /// The node of a term; operands are translated first, without recursion.
    fn translate(&mut self, root: Term) -> Option<usize> {
        let mut waiting = vec![root];
        while let Some(term) = waiting.last().copied() {
            if self.known.contains_key(&term) {
                waiting.pop();
                continue;
            }
            let operands = self.operands(term);
            let open = operands.iter().filter(|operand| !self.known.contains_key(operand));
            let before = waiting.len();
            waiting.extend(open.copied().collect::<Vec<Term>>());
            if waiting.len() == before {
                let node = self.node(term)?;
                self.known.insert(term, node);
                waiting.pop();
            }
        }
        self.known.get(&root).copied()
    }

    /// The operands that have to be translated before a term. Of arrays only elements are.
    fn operands(&self, term: Term) -> Vec<Term> {
        let pool = self.translation.pool;
        match pool.node(term) {
            Node::Bin(BinOp::Select, array, index) => {
                let mut all = vec![index];
                let mut arrays = vec![array];
                while let Some(array) = arrays.pop() {
                    match pool.node(array) {
                        Node::Store(inner, at, value) => {
                            all.extend([at, value]);
                            arrays.push(inner);
                        }
                        Node::Ite(test, a, b) => {
                            all.push(test);
                            arrays.extend([a, b]);
                        }
                        Node::Un(UnOp::ConstArray, value) => all.push(value),
                        _ => {}
                    }
                    if all.len() > MOST_WRITES as usize * 2 {
                        break;
                    }
                }
                all
            }
            _ => pool.children(term).to_vec(),
        }
    }

    fn node(&mut self, term: Term) -> Option<usize> {
        let pool = self.translation.pool;
        let width = match pool.sort(term) {
            Sort::BitVec(width) => width,
            Sort::Float(FloatSort::F32) => 32,
            Sort::Float(FloatSort::F64) => 64,
            Sort::Bool | Sort::Array { .. } => 0,
        };
        match pool.node(term) {
            Node::Bool(value) => self.push(Written::Truth(value)),
            Node::Bits(value) => self.push(Written::Number(value.into(), width)),
            Node::Wide(id) => {
                let value = pool.wide(id);
                let fits = (128..width).all(|at| !value.bit(at));
                fits.then(|| self.push(Written::Number(value.low_u128(), width)))?
            }
            Node::Float(bits) => {
                let bits = self.push(Written::Number(bits.into(), width))?;
                self.push(Written::Apply(Operator::FromBits, vec![bits]))
            }
            Node::Var(_) => {
                let part = self.translation.part(term)?;
                self.push(Written::Part(part))
            }
            Node::Un(op, a) => {
                let operator = unary(op, width)?;
                self.apply(operator, &[a])
            }
            Node::Bin(BinOp::Select, array, index) => {
                let index = self.known[&index];
                self.element(array, index, MOST_WRITES)
            }
            Node::Bin(op, a, b) => {
                let operator = Operator::named(op.smt_name())?;
                self.apply(operator, &[a, b])
            }
            Node::Ite(test, a, b) => {
                let operator = Operator::named("ite")?;
                self.apply(operator, &[test, a, b])
            }
            Node::Extract(a, low) => self.apply(Operator::Extract(low + width - 1, low), &[a]),
            Node::Table(_) | Node::Store(..) | Node::Fma(..) => None,
        }
    }

    fn apply(&mut self, operator: Operator, operands: &[Term]) -> Option<usize> {
        let operands = operands.iter().map(|operand| self.known[operand]).collect();
        self.push(Written::Apply(operator, operands))
    }

    /// The element of an array at an index that is translated.
    fn element(&mut self, array: Term, index: usize, left: u32) -> Option<usize> {
        let left = left.checked_sub(1)?;
        let pool = self.translation.pool;
        let choice = Operator::named("ite")?;
        match pool.node(array) {
            Node::Var(_) => {
                let part = self.translation.part(array)?;
                self.push(Written::Element(part, index))
            }
            Node::Store(inner, at, value) => {
                let (at, value) = (*self.known.get(&at)?, *self.known.get(&value)?);
                let other = self.element(inner, index, left)?;
                let same = Operator::named("=")?;
                let is_it = self.push(Written::Apply(same, vec![at, index]))?;
                self.push(Written::Apply(choice, vec![is_it, value, other]))
            }
            Node::Ite(test, a, b) => {
                let test = *self.known.get(&test)?;
                let (a, b) = (self.element(a, index, left / 2)?, self.element(b, index, left / 2)?);
                self.push(Written::Apply(choice, vec![test, a, b]))
            }
            Node::Un(UnOp::ConstArray, value) => self.known.get(&value).copied(),
            _ => None,
        }
    }
}

fn sort(sort: Sort) -> WrittenSort {
    match sort {
        Sort::Bool => WrittenSort::Bool,
        Sort::BitVec(width) => WrittenSort::Bits(width),
        Sort::Float(FloatSort::F32) => WrittenSort::F32,
        Sort::Float(FloatSort::F64) => WrittenSort::F64,
        Sort::Array { index, element } => WrittenSort::Array(index, element),
    }
}

/// The operator of a term with a result of a width.
fn unary(op: UnOp, width: u32) -> Option<Operator> {
    Some(match op {
        UnOp::Not => Operator::named("not")?,
        UnOp::BvNot => Operator::named("bvnot")?,
        UnOp::BvNeg => Operator::named("bvneg")?,
        UnOp::ZExt => Operator::ZeroExtend(width),
        UnOp::SExt => Operator::SignExtend(width),
        UnOp::FpNeg => Operator::named("fp.neg")?,
        UnOp::FpAbs => Operator::named("fp.abs")?,
        UnOp::FpSqrt => Operator::named("fp.sqrt")?,
        UnOp::FpRound(mode) => {
            let mode = MODES.iter().position(|known| *known == mode.smt_name())?;
            Operator::Round(u8::try_from(mode).ok()?)
        }
        UnOp::FpIsNan => Operator::named("fp.isNaN")?,
        UnOp::FpIsInf => Operator::named("fp.isInfinite")?,
        UnOp::FpFromBits => Operator::FromBits,
        UnOp::FpToFp => Operator::Convert(width),
        UnOp::FpFromSigned => Operator::FromSigned(width),
        UnOp::FpFromUnsigned => Operator::FromUnsigned(width),
        UnOp::ConstArray | UnOp::FpToBits | UnOp::FpToSigned | UnOp::FpToUnsigned => return None,
    })
}
