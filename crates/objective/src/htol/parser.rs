//! A recursive descent parser.

use std::ops::Range;

use super::error::HtolError;
use super::lexer::{Token, tokens};
use super::syntax::{
    Duty, Extent, File, Item, LabelRef, LabelTree, Name, Named, PathTree, PointKind, PointRef,
    SequenceTree, Term, TermKind, Tree, TreeKind,
};
use crate::hyper::FormulaOp;

/// The greatest depth to which parts may be nested, so that no text exhausts the stack.
const DEPTH: u32 = 100;
/// The most operators that may follow each other at one level, for the same reason.
const CHAIN: usize = 1000;

/// Reads a file.
///
/// # Errors
/// At the first place that does not follow the grammar.
pub fn parse_file(text: &str) -> Result<File, HtolError> {
    Ok(File { items: items(text, 0)? })
}

/// Reads the items of a text from a place on.
///
/// # Errors
/// At the first place that does not follow the grammar.
pub(crate) fn items(text: &str, from: usize) -> Result<Vec<Item>, HtolError> {
    let mut parser = Parser::new(text, from)?;
    let mut items = Vec::new();
    while *parser.peek() != Token::End {
        items.push(parser.item()?);
    }
    Ok(items)
}

/// Reads a single hyperlabel.
///
/// # Errors
/// At the first place that does not follow the grammar.
pub fn parse(text: &str) -> Result<Tree, HtolError> {
    let mut parser = Parser::new(text, 0)?;
    let tree = parser.sum()?;
    match parser.peek() {
        Token::End => Ok(tree),
        _ => Err(parser.expected("`.`, `+` or the end")),
    }
}

struct Parser {
    tokens: Vec<(Token, Range<usize>)>,
    at: usize,
    depth: u32,
}

impl Parser {
    fn new(text: &str, from: usize) -> Result<Self, HtolError> {
        Ok(Self { tokens: tokens(text, from)?, at: 0, depth: 0 })
    }

    fn peek(&self) -> &Token {
        &self.tokens[self.at].0
    }

    /// The token after the next one.
    fn second(&self) -> &Token {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].0
    }

    fn place(&self) -> Range<usize> {
        self.tokens[self.at].1.clone()
    }

    fn advance(&mut self) {
        self.at = (self.at + 1).min(self.tokens.len() - 1);
    }

    fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(found) if *found == mark)
    }

    fn take(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.advance();
        }
        found
    }

    fn expect(&mut self, mark: &'static str) -> Result<(), HtolError> {
        if self.take(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    fn expected(&self, what: &str) -> HtolError {
        HtolError::Expected { what: what.to_owned(), at: self.place() }
    }

    fn name(&mut self, what: &str) -> Result<Name, HtolError> {
        let Token::Name(text) = self.peek().clone() else { return Err(self.expected(what)) };
        let at = Extent(self.place());
        self.advance();
        Ok(Name { text, at })
    }

    /// The extent from an offset to the end of the last token that was read.
    fn since(&self, start: usize) -> Extent {
        Extent(start..self.tokens[self.at.saturating_sub(1)].1.end.max(start))
    }

    fn nested<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<T, HtolError>,
    ) -> Result<T, HtolError> {
        if self.depth >= DEPTH {
            return Err(HtolError::TooDeep { limit: DEPTH as usize, at: self.place() });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    fn item(&mut self) -> Result<Item, HtolError> {
        const WHAT: &str = "`function`, `label`, `objective` or `path`";
        let keyword = self.name(WHAT)?;
        let name = self.name("a name")?;
        let item = match keyword.text.as_str() {
            "function" => Item::Function(name),
            "label" => {
                self.expect("=")?;
                Item::Label(name, self.label()?)
            }
            "objective" => {
                self.expect("=")?;
                Item::Objective(name, self.sum()?)
            }
            "path" => {
                self.expect("=")?;
                Item::Path(name, self.path()?)
            }
            _ => return Err(HtolError::Expected { what: WHAT.to_owned(), at: keyword.at.0 }),
        };
        self.expect(";")?;
        Ok(item)
    }

    fn path(&mut self) -> Result<PathTree, HtolError> {
        let start = self.place().start;
        let mut steps = vec![self.point()?];
        let mut gaps = Vec::new();
        while self.take("->") {
            let gap = self.take("...");
            if gap {
                self.expect("->")?;
            }
            gaps.push(gap);
            steps.push(self.point()?);
        }
        Ok(PathTree { steps, gaps, at: self.since(start) })
    }

    fn sum(&mut self) -> Result<Tree, HtolError> {
        self.nested(|p| p.list("+", Self::product, TreeKind::Any))
    }

    fn product(&mut self) -> Result<Tree, HtolError> {
        self.list(".", Self::primary, TreeKind::All)
    }

    fn list(
        &mut self,
        mark: &str,
        read: fn(&mut Self) -> Result<Tree, HtolError>,
        make: fn(Vec<Tree>) -> TreeKind,
    ) -> Result<Tree, HtolError> {
        let start = self.place().start;
        let first = read(self)?;
        if !self.is(mark) {
            return Ok(first);
        }
        let mut parts = vec![first];
        while self.take(mark) {
            parts.push(read(self)?);
        }
        Ok(Tree { kind: make(parts), at: self.since(start) })
    }

    fn primary(&mut self) -> Result<Tree, HtolError> {
        let start = self.place().start;
        let kind = if self.take("[") {
            TreeKind::Sequence(self.sequence()?)
        } else if self.take("<") {
            let inner = self.sum()?;
            self.expect("|")?;
            let guard = self.term()?;
            self.expect(">")?;
            TreeKind::Guard(Box::new(inner), guard)
        } else if self.is("(") && !self.begins_label() {
            self.advance();
            let inner = self.sum()?;
            self.expect(")")?;
            return Ok(inner);
        } else {
            TreeKind::Label(self.label()?)
        };
        Ok(Tree { kind, at: self.since(start) })
    }

    /// Whether `(point,` comes next.
    fn begins_label(&mut self) -> bool {
        let start = self.at;
        self.advance();
        let found = self.point().is_ok() && self.is(",");
        self.at = start;
        found
    }

    fn label(&mut self) -> Result<LabelTree, HtolError> {
        let start = self.place().start;
        let label = if self.take("(") {
            let point = self.point()?;
            self.expect(",")?;
            let predicate = self.term()?;
            self.expect(")")?;
            LabelRef::At(point, predicate)
        } else {
            let name = self.name("a label, `[`, `<` or `(`")?;
            LabelRef::Named(match self.take("::") {
                true => Named { function: Some(name), name: self.name("a label")? },
                false => Named { function: None, name },
            })
        };
        let mut bindings = Vec::new();
        if self.take("|>") {
            self.expect("{")?;
            while !self.is("}") {
                let name = self.name("a metavariable or `}`")?;
                self.expect("<-")?;
                bindings.push((name, self.term()?));
                if !self.take(";") {
                    break;
                }
            }
            self.expect("}")?;
        }
        Ok(LabelTree { label, bindings, at: self.since(start) })
    }

    fn point(&mut self) -> Result<PointRef, HtolError> {
        let start = self.place().start;
        let is_qualified =
            matches!(self.peek(), Token::Name(_)) && *self.second() == Token::Mark("::");
        let mut function = None;
        if is_qualified {
            function = Some(self.name("a function")?);
            self.advance();
        }
        let kind = if let Token::Text(file) = self.peek().clone() {
            self.advance();
            self.expect(":")?;
            PointKind::Line(Some(file), self.line()?)
        } else {
            let name = self.name("a point")?;
            match (name.text.as_str(), self.peek()) {
                ("entry", _) => PointKind::Entry,
                ("line", Token::Number(_)) => PointKind::Line(None, self.line()?),
                _ => PointKind::Label(name.text),
            }
        };
        Ok(PointRef { function, kind, at: self.since(start) })
    }

    fn line(&mut self) -> Result<u32, HtolError> {
        let line = match self.peek() {
            Token::Number(number) => u32::try_from(*number).ok(),
            _ => None,
        };
        let line = line.ok_or_else(|| self.expected("the number of a line"))?;
        self.advance();
        Ok(line)
    }

    fn sequence(&mut self) -> Result<SequenceTree, HtolError> {
        let is_keyword = *self.peek() == Token::Name("activation".to_owned())
            && matches!(self.second(), Token::Name(_) | Token::Mark("("));
        if is_keyword {
            self.advance();
        }
        let mut labels = vec![self.label()?];
        let mut passages = Vec::new();
        while !self.is("]") {
            passages.push(self.passage()?);
            labels.push(self.label()?);
        }
        if passages.is_empty() {
            return Err(self.expected("`->`"));
        }
        self.expect("]")?;
        Ok(SequenceTree { activation: is_keyword, labels, passages })
    }

    fn passage(&mut self) -> Result<Vec<Duty>, HtolError> {
        let mut duties = Vec::new();
        if self.take("->") {
            return Ok(duties);
        }
        if !self.take("-") {
            return Err(self.expected("`->` or `-(`"));
        }
        self.expect("(")?;
        loop {
            duties.push(self.duty()?);
            if !self.take(";") {
                break;
            }
        }
        self.expect(")")?;
        self.expect("->")?;
        Ok(duties)
    }

    fn duty(&mut self) -> Result<Duty, HtolError> {
        match self.peek() {
            Token::Name(name) if name == "pc" => self.advance(),
            _ => return Err(self.expected("`pc`")),
        }
        if self.take("!=") {
            return Ok(Duty { point: self.point()?, holds: None });
        }
        self.expect("==")?;
        let point = self.point()?;
        self.expect("=>")?;
        Ok(Duty { point, holds: Some(self.term()?) })
    }

    fn term(&mut self) -> Result<Term, HtolError> {
        self.nested(|p| p.binary(0))
    }

    /// Operators of a level and of those that bind tighter.
    fn binary(&mut self, level: usize) -> Result<Term, HtolError> {
        const LEVELS: [&[(&str, FormulaOp)]; 6] = [
            &[("||", FormulaOp::Or)],
            &[("&&", FormulaOp::And)],
            &[("==", FormulaOp::Eq), ("!=", FormulaOp::Ne)],
            &[
                ("<=", FormulaOp::Le),
                ("<-", FormulaOp::Lt),
                ("<", FormulaOp::Lt),
                (">=", FormulaOp::Ge),
                (">", FormulaOp::Gt),
            ],
            &[("+", FormulaOp::Add), ("-", FormulaOp::Sub)],
            &[("*", FormulaOp::Mul), ("/", FormulaOp::Div), ("%", FormulaOp::Rem)],
        ];
        let Some(operators) = LEVELS.get(level) else { return self.unary() };
        let start = self.place().start;
        let mut left = self.binary(level + 1)?;
        for _ in 0..CHAIN {
            let Some((mark, op)) = operators.iter().find(|(mark, _)| self.is(mark)) else {
                return Ok(left);
            };
            // The `>` that ends a guard has no operand after it.
            if *mark == ">" && !self.begins_operand() {
                return Ok(left);
            }
            self.advance();
            let right = if *mark == "<-" {
                // `a <-1` is `a < -1`, as in C.
                let from = self.tokens[self.at - 1].1.start + 1;
                let operand = self.binary(level + 1)?;
                Term { kind: TermKind::Negate(Box::new(operand)), at: self.since(from) }
            } else {
                self.binary(level + 1)?
            };
            let kind = TermKind::Binary(*op, Box::new(left), Box::new(right));
            left = Term { kind, at: self.since(start) };
        }
        Err(HtolError::TooDeep { limit: CHAIN, at: self.place() })
    }

    /// Whether the token after the next one can begin an operand.
    fn begins_operand(&self) -> bool {
        match self.second() {
            Token::Name(_) | Token::Number(_) => true,
            Token::Mark(mark) => matches!(*mark, "(" | "!" | "-" | "*"),
            Token::Text(_) | Token::End => false,
        }
    }

    fn unary(&mut self) -> Result<Term, HtolError> {
        let start = self.place().start;
        let make: fn(Box<Term>) -> TermKind = match self.peek() {
            Token::Mark("!") => TermKind::Not,
            Token::Mark("-") => TermKind::Negate,
            Token::Mark("*") => TermKind::Deref,
            _ => return self.postfix(),
        };
        self.advance();
        let operand = self.nested(Self::unary)?;
        Ok(Term { kind: make(Box::new(operand)), at: self.since(start) })
    }

    fn postfix(&mut self) -> Result<Term, HtolError> {
        let start = self.place().start;
        let mut term = self.operand()?;
        for _ in 0..CHAIN {
            let kind = if self.is(".") && matches!(self.second(), Token::Name(_)) {
                self.advance();
                TermKind::Member(Box::new(term), self.name("a member")?.text)
            } else if self.is("->") && matches!(self.second(), Token::Name(_)) {
                self.advance();
                TermKind::Arrow(Box::new(term), self.name("a member")?.text)
            } else if self.take("[") {
                let index = self.term()?;
                self.expect("]")?;
                TermKind::Index(Box::new(term), Box::new(index))
            } else {
                return Ok(term);
            };
            term = Term { kind, at: self.since(start) };
        }
        Err(HtolError::TooDeep { limit: CHAIN, at: self.place() })
    }

    fn operand(&mut self) -> Result<Term, HtolError> {
        let start = self.place().start;
        let kind = match self.peek().clone() {
            Token::Number(number) => TermKind::Number(number),
            Token::Name(name) => match name.as_str() {
                "true" => TermKind::Number(1),
                "false" => TermKind::Number(0),
                _ => TermKind::Name(name),
            },
            Token::Mark("(") => {
                self.advance();
                let inner = self.term()?;
                self.expect(")")?;
                return Ok(inner);
            }
            _ => return Err(self.expected("a name, a number or `(`")),
        };
        self.advance();
        Ok(Term { kind, at: self.since(start) })
    }
}
