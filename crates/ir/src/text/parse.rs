//! Reads programs from text. See [`super`] for the form.

use std::str::FromStr;

use lydian_base::{Arena, EntityId, Span};

use super::lex::{Placed, Token, tokens};
use super::names::{INT_KINDS, MOMENTS};
use super::read_body;
use crate::program::ctype::{CType, Field, Record, Target};
use crate::program::expr::Type;
use crate::program::function::Function;
use crate::program::{
    Alias, Global, GlobalInit, InitItem, Linkage, Program, Relocation, RelocationTarget, Startup,
};

/// Why a text is no program, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: {message}")]
pub struct ParseError {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
    /// The message.
    pub message: String,
}

impl ParseError {
    pub(super) fn at(text: &str, offset: usize, message: impl Into<String>) -> Self {
        let before = &text.as_bytes()[..offset.min(text.len())];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let column = before.iter().rev().take_while(|byte| **byte != b'\n').count() + 1;
        Self { line: line as u32, column: column as u32, message: message.into() }
    }
}

pub(super) type Result<T> = std::result::Result<T, ParseError>;

/// Reads a program that [`super::print`] wrote.
///
/// # Errors
/// The first place that does not follow the grammar.
pub fn parse(text: &str) -> Result<Program> {
    let mut reader = Reader { text, tokens: tokens(text)?, at: 0 };
    let mut program = Program::default();
    while let Some(word) = reader.peek_word() {
        match word {
            "typedef" => {
                reader.at += 1;
                let name = reader.quoted_text()?;
                let ty = reader.id("ty")?;
                if program.typedefs.insert(name, ty).is_some() {
                    return Err(reader.error_before("this typedef is given twice"));
                }
            }
            "target" => {
                reader.at += 1;
                let known = [(Target::X86_64, "x86_64"), (Target::I386, "i386")];
                program.types.target = reader.one_of("a target", &known)?;
            }
            "global" => {
                reader.at += 1;
                reader.next_of(&program.globals, "g")?;
                let global = reader.global()?;
                program.globals.push(global);
            }
            "function" => {
                reader.at += 1;
                reader.next_of(&program.functions, "f")?;
                let function = reader.function()?;
                program.functions.push(function);
            }
            "alias" => {
                reader.at += 1;
                let name = reader.quoted_text()?;
                let target = match reader.take_id("g") {
                    Some(id) => RelocationTarget::Global(id),
                    None => RelocationTarget::Function(reader.id("f")?),
                };
                program.aliases.push(Alias { name, target });
            }
            "startup" => {
                reader.at += 1;
                let function = reader.id("f")?;
                let moment = reader.one_of("a moment", &MOMENTS)?;
                let priority = reader.number()?;
                program.startup.push(Startup { function, moment, priority });
            }
            _ if word.starts_with("rec") => {
                reader.next_of(&program.types.records, "rec")?;
                let record = reader.record()?;
                program.types.records.push(record);
            }
            _ => reader.c_type(&mut program)?,
        }
    }
    match reader.at < reader.tokens.len() {
        true => Err(reader.error("a type, record, typedef, global or function expected")),
        false => Ok(program),
    }
}

/// The tokens of a text and how far they are read.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) tokens: Vec<Placed>,
    pub(super) at: usize,
}

impl Reader<'_> {
    /// An error at the next token.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        let offset = self.tokens.get(self.at).map_or(self.text.len(), |(offset, _)| *offset);
        ParseError::at(self.text, offset, message)
    }

    /// An error at the token that was read last.
    pub(super) fn error_before(&self, message: impl Into<String>) -> ParseError {
        let offset = self.tokens.get(self.at.wrapping_sub(1)).map_or(0, |(offset, _)| *offset);
        ParseError::at(self.text, offset, message)
    }

    fn expected(&self, what: &str) -> ParseError {
        match self.tokens.get(self.at) {
            Some((_, token)) => self.error(format!("{what} expected, not {}", token.describe())),
            None => self.error(format!("{what} expected, not the end")),
        }
    }

    pub(super) fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(_, token)| token)
    }

    pub(super) fn peek_word(&self) -> Option<&str> {
        match self.peek() {
            Some(Token::Word(word)) => Some(word),
            _ => None,
        }
    }

    /// Whether the next token is this mark.
    pub(super) fn sees(&self, mark: &str) -> bool {
        matches!(self.peek(), Some(Token::Mark(found)) if *found == mark)
    }

    /// Reads this mark if it comes next.
    pub(super) fn take(&mut self, mark: &str) -> bool {
        let sees = self.sees(mark);
        self.at += usize::from(sees);
        sees
    }

    pub(super) fn mark(&mut self, mark: &str) -> Result<()> {
        if self.take(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    /// Reads this word if it comes next.
    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let sees = self.peek_word() == Some(word);
        self.at += usize::from(sees);
        sees
    }

    pub(super) fn keyword(&mut self, word: &str) -> Result<()> {
        if self.take_word(word) { Ok(()) } else { Err(self.expected(&format!("`{word}`"))) }
    }

    pub(super) fn word(&mut self, what: &str) -> Result<String> {
        let word = self.peek_word().map(str::to_owned).ok_or_else(|| self.expected(what))?;
        self.at += 1;
        Ok(word)
    }

    /// One of the words of a list: the value that it stands for.
    pub(super) fn one_of<T: Copy>(&mut self, what: &str, list: &[(T, &str)]) -> Result<T> {
        let found = self.peek_word().and_then(|word| super::names::named(list, word));
        let found = found.ok_or_else(|| self.expected(what))?;
        self.at += 1;
        Ok(found)
    }

    /// An id with this prefix if one comes next.
    pub(super) fn peek_id<I: EntityId>(&self, prefix: &str) -> Option<I> {
        let digits = self.peek_word()?.strip_prefix(prefix)?;
        let is_plain = digits == "0" || !digits.starts_with('0');
        let index: u32 = digits.parse().ok().filter(|index| is_plain && *index < u32::MAX)?;
        digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| I::from_index(index as usize))
    }

    pub(super) fn take_id<I: EntityId>(&mut self, prefix: &str) -> Option<I> {
        let id = self.peek_id(prefix);
        self.at += usize::from(id.is_some());
        id
    }

    pub(super) fn id<I: EntityId>(&mut self, prefix: &str) -> Result<I> {
        self.take_id(prefix).ok_or_else(|| self.expected(&format!("an id `{prefix}N`")))
    }

    /// The id that comes next in an arena whose entities are given in order.
    pub(super) fn next_of<I: EntityId, T>(
        &mut self,
        arena: &Arena<I, T>,
        prefix: &str,
    ) -> Result<()> {
        let wanted = arena.next_id();
        match self.peek_id::<I>(prefix) {
            Some(id) if id == wanted => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.expected(&format!("`{wanted}`"))),
        }
    }

    pub(super) fn number<T: FromStr>(&mut self) -> Result<T> {
        let number = match self.peek() {
            Some(Token::Number(text)) => text.parse().ok(),
            _ => None,
        };
        let number = number.ok_or_else(|| self.expected("a number in range"))?;
        self.at += 1;
        Ok(number)
    }

    fn bytes(&mut self) -> Result<Vec<u8>> {
        let bytes = match self.peek() {
            Some(Token::Quoted(bytes)) => bytes.clone(),
            _ => return Err(self.expected("a quoted text")),
        };
        self.at += 1;
        Ok(bytes)
    }

    pub(super) fn quoted_text(&mut self) -> Result<String> {
        let bytes = self.bytes()?;
        String::from_utf8(bytes).map_err(|_| self.error_before("this text is not UTF-8"))
    }

    /// A number, or `None` for `?`.
    fn optional(&mut self) -> Result<Option<u64>> {
        if self.take("?") { Ok(None) } else { self.number().map(Some) }
    }

    pub(super) fn span(&mut self) -> Result<Span> {
        if !self.take("@") {
            return Ok(Span::NONE);
        }
        let start = self.number()?;
        self.mark("..")?;
        Ok(Span::new(start, self.number()?))
    }

    /// Things with commas between them, in parentheses.
    pub(super) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        self.mark("(")?;
        let mut items = Vec::new();
        if self.take(")") {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.take(")") {
                return Ok(items);
            }
            self.mark(",")?;
        }
    }

    pub(super) fn machine_type(&mut self) -> Result<Type> {
        let ty = match self.peek_word() {
            Some("f16") => Some(Type::F16),
            Some("bf16") => Some(Type::BF16),
            Some("f80") => Some(Type::F80),
            Some("f32") => Some(Type::F32),
            Some("f64") => Some(Type::F64),
            Some("ptr") => Some(Type::Ptr),
            Some(word) => word.strip_prefix('i').and_then(|bits| bits.parse().ok()).map(Type::Int),
            None => None,
        };
        let ty = ty.ok_or_else(|| self.expected("a machine type"))?;
        self.at += 1;
        Ok(ty)
    }

    fn sign(&mut self) -> Result<bool> {
        self.one_of("`signed` or `unsigned`", &[(true, "signed"), (false, "unsigned")])
    }

    fn c_type(&mut self, program: &mut Program) -> Result<()> {
        let count = program.types.iter().count();
        let start = self.at;
        let id: crate::CTypeId = self.id("ty")?;
        self.mark("=")?;
        let ty = self.c_type_after_equals()?;
        if !crate::CTypes::parts(&ty).iter().all(|part| part.index() < count) {
            return Err(self.error_before("a type is made of types that come before it"));
        }
        if id.index() != count || program.types.intern(ty) != id {
            self.at = start + 1;
            return Err(self.error_before("types are numbered in order and given once"));
        }
        Ok(())
    }

    fn c_type_after_equals(&mut self) -> Result<CType> {
        Ok(match self.word("a kind of type")?.as_str() {
            "void" => CType::Void,
            "float16" => CType::Float16,
            "bfloat16" => CType::BFloat16,
            "float" => CType::Float,
            "double" => CType::Double,
            "longdouble" => CType::LongDouble,
            "complex" => CType::Complex { element: self.id("ty")? },
            "vector" => CType::Vector { element: self.id("ty")?, length: self.number()? },
            "int" => {
                let spelling = self.quoted_text()?;
                let kind = INT_KINDS.into_iter().find(|kind| kind.spelling() == spelling);
                let kind = kind.ok_or_else(|| self.error_before("no integer type of C"))?;
                CType::Int { kind, bits: self.number()?, signed: self.sign()? }
            }
            "enum" => {
                let (name, underlying) = (self.quoted_text()?, self.id("ty")?);
                self.mark("{")?;
                let mut constants = Vec::new();
                while !self.take("}") {
                    let constant = self.quoted_text()?;
                    self.mark("=")?;
                    constants.push((constant, self.number()?));
                }
                CType::Enum { name, underlying, constants }
            }
            "opaque" => CType::Opaque {
                name: self.quoted_text()?,
                size: self.number()?,
                align: self.number()?,
            },
            "pointer" => {
                let to_const = self.take_word("const");
                CType::Pointer { pointee: self.id("ty")?, to_const }
            }
            "array" => CType::Array { element: self.id("ty")?, length: self.optional()? },
            "function" => CType::Function {
                result: self.id("ty")?,
                params: self.list(|reader| reader.id("ty"))?,
                variadic: self.take_word("variadic"),
            },
            "record" => CType::Record(self.id("rec")?),
            _ => return Err(self.error_before("no kind of type")),
        })
    }

    fn record(&mut self) -> Result<Record> {
        self.mark("=")?;
        let is_union = self.one_of("`struct` or `union`", &[(false, "struct"), (true, "union")])?;
        let name = self.quoted_text()?;
        self.keyword("size")?;
        let size = self.optional()?;
        self.keyword("align")?;
        let align = self.number()?;
        let is_local = self.take_word("local");
        self.mark("{")?;
        let mut fields = Vec::new();
        while !self.take("}") {
            let (name, ty) = (self.quoted_text()?, self.id("ty")?);
            self.keyword("at")?;
            let bit_offset = self.number()?;
            let bits = if self.take_word("bits") { Some(self.number()?) } else { None };
            fields.push(Field { name, ty, bit_offset, bits });
        }
        Ok(Record { name, is_union, is_local, fields, size, align })
    }

    fn linkage(&mut self) -> Result<Linkage> {
        let list = [(Linkage::External, "external"), (Linkage::Internal, "internal")];
        self.one_of("`external` or `internal`", &list)
    }

    fn global(&mut self) -> Result<Global> {
        let (name, ty) = (self.quoted_text()?, self.id("ty")?);
        self.keyword("size")?;
        let size = self.number()?;
        self.keyword("align")?;
        let align = self.number()?;
        let linkage = self.linkage()?;
        let read_only = self.take_word("const");
        let weak = self.take_word("weak");
        let thread_local = self.take_word("thread");
        let span = self.span()?;
        self.mark("=")?;
        let init = self.init()?;
        Ok(Global { name, ty, size, align, linkage, read_only, weak, thread_local, init, span })
    }

    fn init(&mut self) -> Result<GlobalInit> {
        if self.take_word("extern") {
            return Ok(GlobalInit::Extern);
        }
        if self.take_word("zero") {
            return Ok(GlobalInit::Zero);
        }
        self.mark("{")?;
        let (mut items, mut relocations) = (Vec::new(), Vec::new());
        while !self.take("}") {
            let offset = self.number()?;
            self.mark(":")?;
            if !self.take("&") {
                items.push(InitItem { offset, bytes: self.bytes()? });
                continue;
            }
            let target = match self.take_id("g") {
                Some(global) => RelocationTarget::Global(global),
                None => RelocationTarget::Function(self.id("f")?),
            };
            let addend = if self.take("+") { self.number()? } else { 0 };
            relocations.push(Relocation { offset, target, addend });
        }
        Ok(GlobalInit::Data { items, relocations })
    }

    fn function(&mut self) -> Result<Function> {
        let name = self.quoted_text()?;
        let symbol = if self.take_word("symbol") { Some(self.quoted_text()?) } else { None };
        let ty = self.id("ty")?;
        let linkage = self.linkage()?;
        let noreturn = self.take_word("noreturn");
        let weak = self.take_word("weak");
        let library = self.take_word("library");
        let system = self.take_word("system");
        let implicit = self.take_word("implicit");
        let param_names = self.list(Self::quoted_text)?;
        let span = self.span()?;
        let body = if self.sees("{") { Some(read_body::body(self)?) } else { None };
        Ok(Function {
            name,
            symbol,
            ty,
            linkage,
            param_names,
            noreturn,
            weak,
            library,
            system,
            implicit,
            body,
            span,
        })
    }
}
