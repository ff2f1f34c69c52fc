//! Reads formulas from text. Never panics, however the text is.

use std::collections::BTreeMap;
use std::fmt;

use super::{Formula, MODES, Node, Operator};
use crate::terms::Sort;

/// The deepest nesting that is read. Texts that Lydian writes give names to what lies deeper.
const DEEPEST: u32 = 400;

/// Why a text is no formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FormulaError {
    /// Where in the text, in bytes.
    pub at: usize,
    /// The message.
    pub message: String,
}

impl fmt::Display for FormulaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at byte {})", self.message, self.at)
    }
}

impl std::error::Error for FormulaError {}

type Result<T> = std::result::Result<T, FormulaError>;

impl Formula {
    /// Reads a truth value over parts of these sorts.
    ///
    /// # Errors
    /// The first place that is no formula, or has values of a sort that does not fit.
    pub fn parse(text: &str, sorts: &[Sort]) -> Result<Self> {
        let formula = Self::parse_term(text, sorts)?;
        if formula.sort_of_all() != Sort::Bool {
            return Err(FormulaError { at: 0, message: "it is no truth value".to_owned() });
        }
        Ok(formula)
    }

    /// Reads a term of any sort over parts of these sorts.
    ///
    /// # Errors
    /// The first place that is no term, or has values of a sort that does not fit.
    pub fn parse_term(text: &str, sorts: &[Sort]) -> Result<Self> {
        let mut reader =
            Reader { text, at: 0, sorts, formula: Self::default(), names: BTreeMap::new() };
        let root = reader.formula(DEEPEST)?;
        reader.space();
        if reader.at < text.len() {
            return Err(reader.error("there is more text behind the formula"));
        }
        Ok(reader.formula.rooted(root))
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    sorts: &'a [Sort],
    formula: Formula,
    names: BTreeMap<&'a str, usize>,
}

impl<'a> Reader<'a> {
    fn error(&self, message: impl Into<String>) -> FormulaError {
        FormulaError { at: self.at, message: message.into() }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn eat(&mut self, sign: char) -> bool {
        self.space();
        let found = self.rest().starts_with(sign);
        if found {
            self.at += sign.len_utf8();
        }
        found
    }

    fn expect(&mut self, sign: char) -> Result<()> {
        if self.eat(sign) { Ok(()) } else { Err(self.error(format!("`{sign}` was expected"))) }
    }

    fn word(&mut self) -> Result<&'a str> {
        self.space();
        let rest = self.rest();
        let end = rest.find(|c: char| c.is_whitespace() || c == '(' || c == ')');
        let word = &rest[..end.unwrap_or(rest.len())];
        if word.is_empty() {
            return Err(self.error("a word was expected"));
        }
        self.at += word.len();
        Ok(word)
    }

    fn number(&mut self) -> Result<u32> {
        let word = self.word()?;
        word.parse().map_err(|_| self.error(format!("`{word}` is no number")))
    }

    fn push(&mut self, node: Node) -> Result<usize> {
        let pushed = self.formula.push(node, self.sorts);
        pushed.ok_or_else(|| self.error("the values here have sorts that do not fit"))
    }

    fn formula(&mut self, depth: u32) -> Result<usize> {
        let depth = depth.checked_sub(1).ok_or_else(|| self.error("it is nested too deeply"))?;
        if !self.eat('(') {
            let word = self.word()?;
            return self.leaf(word);
        }
        let word = self.word()?;
        if word == "let" {
            return self.bindings(depth);
        }
        if word == "select" {
            let part = self.word()?;
            let part = part_of(part).ok_or_else(|| self.error("a part was expected"))?;
            let index = self.formula(depth)?;
            self.expect(')')?;
            return self.push(Node::Element(part, index));
        }
        let operator = self.operator(word)?;
        let mut operands = Vec::new();
        while !self.eat(')') {
            operands.push(self.formula(depth)?);
        }
        self.push(Node::Apply(operator, operands))
    }

    fn bindings(&mut self, depth: u32) -> Result<usize> {
        let before = self.names.clone();
        self.expect('(')?;
        while !self.eat(')') {
            let name = self.word()?;
            if !name.starts_with('t') || name == "true" {
                return Err(self.error(format!("`{name}` is no name")));
            }
            let value = self.formula(depth)?;
            self.names.insert(name, value);
        }
        let body = self.formula(depth)?;
        self.expect(')')?;
        self.names = before;
        Ok(body)
    }

    fn leaf(&mut self, word: &str) -> Result<usize> {
        if let Some(value) = self.names.get(word) {
            return Ok(*value);
        }
        let node = match word.split_once(':') {
            _ if word == "true" => Some(Node::Truth(true)),
            _ if word == "false" => Some(Node::Truth(false)),
            Some((value, width)) => match (value.parse(), width.parse()) {
                (Ok(value), Ok(width)) => Some(Node::Number(value, width)),
                _ => None,
            },
            None => part_of(word).map(Node::Part),
        };
        let node = node.ok_or_else(|| self.error(format!("`{word}` is not known")))?;
        self.push(node)
    }

    fn operator(&mut self, word: &str) -> Result<Operator> {
        Ok(match word {
            "extract" => Operator::Extract(self.number()?, self.number()?),
            "zext" => Operator::ZeroExtend(self.number()?),
            "sext" => Operator::SignExtend(self.number()?),
            "fp.round" => {
                let mode = self.word()?;
                let mode = MODES.iter().position(|known| *known == mode);
                Operator::Round(mode.ok_or_else(|| self.error("a rounding mode"))? as u8)
            }
            "fp.from_signed" => Operator::FromSigned(self.number()?),
            "fp.from_unsigned" => Operator::FromUnsigned(self.number()?),
            "fp.convert" => Operator::Convert(self.number()?),
            "fp.from_bits" => Operator::FromBits,
            _ => Operator::named(word)
                .ok_or_else(|| self.error(format!("`{word}` is no function")))?,
        })
    }
}

fn part_of(word: &str) -> Option<u32> {
    word.strip_prefix('x')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SORTS: [Sort; 4] = [Sort::Bits(32), Sort::Bool, Sort::Array(8, 16), Sort::F64];

    #[test]
    fn a_formula_reads_back_as_it_was_written() {
        for text in [
            "true",
            "(bvsle x0 100:32)",
            "(=> x1 (= (extract 7 0 x0) 3:8))",
            "(= (select x2 (extract 7 0 x0)) 0:16)",
            "(fp.leq (fp.add x3 (fp.from_bits 0:64)) x3)",
            "(let (t0 (bvadd x0 1:32)) (= t0 (bvmul t0 t0)))",
        ] {
            let formula = Formula::parse(text, &SORTS).expect(text);
            assert_eq!(formula.text(), text);
        }
    }

    #[test]
    fn a_text_of_wrong_sorts_or_shape_is_refused() {
        for text in [
            "",
            "(",
            "x0",
            "(and x0 x1)",
            "(bvsle x0 100:8)",
            "(= x2 x2)",
            "(= 300:8 300:8)",
            "(= x9 x9)",
            "true true",
            "(select x0 x0)",
            "(extract 40 0 x0)",
            "(let (true x1) true)",
            "(fp.round X x3)",
        ] {
            assert!(Formula::parse(text, &SORTS).is_err(), "{text}");
        }
        let deep = "(not ".repeat(5000) + "true" + &")".repeat(5000);
        assert!(Formula::parse(&deep, &SORTS).is_err());
    }
}
