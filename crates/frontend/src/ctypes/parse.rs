//! Reads the type strings that clang prints, such as `const struct s *(*)(int, char *)`.
//!
//! A recursive-descent reader of C's specifiers and abstract declarators. It never fails: a string
//! that it does not understand becomes [`CType::Unsupported`] with that string. What names mean
//! depends on where the string stands, so [`TypeNames`] answers that.

use super::{ArrayLength, CType, CTypes, FloatKind, IntKind, MAX_BIT_INT, QualType, Quals};

/// Struct, union or enumeration.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[allow(missing_docs)] // Each variant is the C keyword of its name.
pub enum TagKind {
    Struct,
    Union,
    Enum,
}

/// How clang names a struct, union or enumeration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TagName<'a> {
    /// By its tag, or by its typedef when it has no tag.
    Named(&'a str),
    /// By the line and column of its keyword.
    At(u32, u32),
}

/// Resolves the names in type strings.
pub trait TypeNames {
    /// The record or enumeration of this name; made as an incomplete one when it is not known.
    fn tag(&mut self, kind: TagKind, name: TagName<'_>) -> Option<CType>;
    /// The type of a typedef.
    fn typedef(&mut self, name: &str, types: &mut CTypes) -> Option<QualType>;
    /// The type of an expression given as its text, for `typeof`.
    fn type_of(&mut self, expression: &str, types: &mut CTypes) -> Option<QualType>;
}

/// Reads a whole type string.
pub fn parse_type(text: &str, types: &mut CTypes, names: &mut dyn TypeNames) -> QualType {
    let mut reader = Reader { text, at: 0, depth: 0, types, names };
    let found = reader.type_name().filter(|_| reader.rest().trim_start().is_empty());
    found.unwrap_or_else(|| QualType::plain(types.intern(CType::Unsupported(text.into()))))
}

/// Reads the type that `text` begins with and returns it with the rest of the text; `None` if it
/// begins with no type.
pub fn parse_type_prefix<'a>(
    text: &'a str,
    types: &mut CTypes,
    names: &mut dyn TypeNames,
) -> Option<(QualType, &'a str)> {
    let mut reader = Reader { text, at: 0, depth: 0, types, names };
    let found = reader.type_name()?;
    let rest = &text[reader.at..];
    Some((found, rest))
}

/// Adds qualifiers; those of an array go to its elements.
pub fn qualify(ty: QualType, quals: Quals, types: &mut CTypes) -> QualType {
    if quals.is_empty() {
        return ty;
    }
    match types.get(ty.ty).clone() {
        CType::Array { element, length } => {
            let element = qualify(element, quals, types);
            QualType { ty: types.intern(CType::Array { element, length }), quals: ty.quals }
        }
        CType::Function { .. } => ty,
        _ => ty.with(quals),
    }
}

/// Types nest at most this deep; deeper ones are not supported.
const MAX_DEPTH: u32 = 150;

struct Reader<'a, 'b> {
    text: &'a str,
    at: usize,
    depth: u32,
    types: &'b mut CTypes,
    names: &'b mut dyn TypeNames,
}

/// The words of a builtin type, counted.
#[derive(Default)]
struct Builtin {
    signed: bool,
    unsigned: bool,
    short: bool,
    complex: bool,
    long: u32,
    base: Option<&'static str>,
    bit_int: Option<u8>,
}

const BASES: &[&str] = &[
    "void",
    "char",
    "int",
    "float",
    "double",
    "_Bool",
    "bool",
    "__int128",
    "_Float16",
    "__fp16",
    "__bf16",
    "_Float128",
    "__float128",
    "_Float32",
    "_Float64",
    "_Float32x",
    "_Float64x",
];

impl Builtin {
    /// Takes one word in; false if it is no part of a builtin type.
    fn word(&mut self, word: &str) -> bool {
        match word {
            "signed" | "__signed" | "__signed__" => self.signed = true,
            "unsigned" => self.unsigned = true,
            "short" => self.short = true,
            "_Complex" | "__complex__" | "__complex" => self.complex = true,
            "long" => self.long += 1,
            _ => match BASES.iter().find(|base| **base == word) {
                Some(base) => self.base = Some(base),
                None => return false,
            },
        }
        true
    }

    fn is_empty(&self) -> bool {
        !self.signed
            && !self.unsigned
            && !self.short
            && !self.complex
            && self.long == 0
            && self.base.is_none()
            && self.bit_int.is_none()
    }

    fn ctype(&self) -> CType {
        use IntKind::{
            Bool, Char, Int, Int128, Long, LongLong, SChar, Short, UChar, UInt, UInt128, ULong,
            ULongLong, UShort,
        };
        let pick = |signed, unsigned| CType::Int(if self.unsigned { unsigned } else { signed });
        if let Some(bits) = self.bit_int {
            return CType::BitInt { bits, signed: !self.unsigned };
        }
        match self.base {
            Some("void") => CType::Void,
            Some("_Bool" | "bool") => CType::Int(Bool),
            Some("char") if self.signed => CType::Int(SChar),
            Some("char") => pick(Char, UChar),
            Some("__int128") => pick(Int128, UInt128),
            Some("float" | "_Float32") => CType::Float(FloatKind::Float),
            Some("double") if self.long > 0 => CType::Float(FloatKind::LongDouble),
            Some("double" | "_Float64" | "_Float32x") => CType::Float(FloatKind::Double),
            Some("_Float64x") => CType::Float(FloatKind::LongDouble),
            Some("_Float16" | "__fp16") => CType::Float(FloatKind::Half),
            Some("__bf16") => CType::Float(FloatKind::BFloat),
            Some("_Float128" | "__float128") => CType::Float(FloatKind::Float128),
            // GNU C's `_Complex` alone.
            None if self.complex
                && self.long == 0
                && !self.short
                && !self.signed
                && !self.unsigned =>
            {
                CType::Float(FloatKind::Double)
            }
            _ if self.short => pick(Short, UShort),
            _ => match self.long {
                0 => pick(Int, UInt),
                1 => pick(Long, ULong),
                _ => pick(LongLong, ULongLong),
            },
        }
    }
}

impl<'a> Reader<'a, '_> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    /// The identifier or keyword that comes next, without going past it.
    fn peek_word(&mut self) -> Option<&'a str> {
        self.skip_space();
        let rest = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
        (end > 0 && !rest.starts_with(|c: char| c.is_ascii_digit())).then(|| &rest[..end])
    }

    /// Goes past balanced brackets and returns what they hold.
    fn balanced(&mut self) -> Option<&'a str> {
        self.skip_space();
        let rest = self.rest();
        let mut depth = 0u32;
        for (at, c) in rest.char_indices() {
            match c {
                '(' | '[' => depth += 1,
                ')' | ']' => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        self.at += at + 1;
                        return Some(&rest[1..at]);
                    }
                }
                _ if depth == 0 => return None,
                _ => {}
            }
        }
        None
    }

    fn type_name(&mut self) -> Option<QualType> {
        self.depth += 1;
        let found = if self.depth > MAX_DEPTH {
            None
        } else {
            self.specifiers().and_then(|base| self.declarator(base))
        };
        self.depth -= 1;
        found
    }

    /// Qualifiers, attributes and the words that name the base type, in any order.
    fn specifiers(&mut self) -> Option<QualType> {
        let mut quals = Quals::NONE;
        let mut builtin = Builtin::default();
        let mut named: Option<QualType> = None;
        let mut lanes = None;
        while let Some(word) = self.peek_word() {
            if word == "bool"
                && named.is_none()
                && builtin.is_empty()
                && let Some(ty) = self.names.typedef(word, self.types)
            {
                // Before C23 a program may give the name to a type of its own.
                self.at += word.len();
                named = Some(ty);
            } else if named.is_none() && builtin.word(word) {
                self.at += word.len();
            } else if word == "_BitInt" {
                self.at += word.len();
                let bits = self.balanced()?.trim().parse().ok()?;
                builtin.bit_int = (1..=MAX_BIT_INT).contains(&bits).then_some(bits);
                builtin.bit_int?;
            } else if let Some(length) = self.vector_length(word) {
                lanes = Some(length);
            } else if self.qualifier(word, &mut quals, &mut named)? {
                // Taken.
            } else if named.is_none() && builtin.is_empty() {
                named = Some(self.named_type(word)?);
            } else {
                break;
            }
        }
        let base = match named {
            Some(ty) => ty,
            None if builtin.is_empty() => return None,
            None => QualType::plain(self.types.intern(builtin.ctype())),
        };
        let base = match builtin.complex {
            true => QualType::plain(self.types.intern(CType::Complex(base.ty))),
            false => base,
        };
        let base = match lanes {
            None => base,
            // Elements of one bit have a layout of their own.
            Some(_)
                if matches!(
                    self.types.get(base.ty),
                    CType::Int(IntKind::Bool) | CType::BitInt { .. }
                ) =>
            {
                return None;
            }
            Some(length) => {
                let vector = CType::Vector { element: base.ty, length };
                QualType::plain(self.types.intern(vector))
            }
        };
        Some(qualify(base, quals, self.types))
    }

    /// Takes the attribute of a vector type: how many elements it has.
    fn vector_length(&mut self, word: &str) -> Option<u64> {
        if word != "__attribute__" {
            return None;
        }
        let start = self.at;
        self.at += word.len();
        let length = self.balanced().and_then(|attribute| {
            let names = ["(__vector_size__(", "(ext_vector_type("];
            let rest = names.iter().find_map(|name| attribute.strip_prefix(name))?;
            let digits = rest.find(|c: char| !c.is_ascii_digit())?;
            rest[..digits].parse().ok()
        });
        if length.is_none() {
            self.at = start;
        }
        length
    }

    /// Takes a qualifier, an attribute or `_Atomic(type)`. `Some(false)` if the word is none.
    fn qualifier(
        &mut self,
        word: &str,
        quals: &mut Quals,
        named: &mut Option<QualType>,
    ) -> Option<bool> {
        let qualifier = match word {
            "const" | "__const" => Quals::CONST,
            "volatile" | "__volatile" => Quals::VOLATILE,
            "restrict" | "__restrict" | "__restrict__" => Quals::RESTRICT,
            "_Atomic" => {
                self.at += word.len();
                self.skip_space();
                if named.is_none() && self.rest().starts_with('(') {
                    *named = Some(self.parenthesised_type()?.with(Quals::ATOMIC));
                } else {
                    *quals = quals.with(Quals::ATOMIC);
                }
                return Some(true);
            }
            "__attribute__" => {
                self.at += word.len();
                let attribute = self.balanced()?;
                // A vector type is another type, and so is one in another address space.
                let changes = ["vector", "address_space", "matrix", "ext_"];
                return changes.iter().all(|name| !attribute.contains(name)).then_some(true);
            }
            "_Nonnull" | "_Nullable" | "_Null_unspecified" | "__extension__" => Quals::NONE,
            _ => return Some(false),
        };
        self.at += word.len();
        *quals = quals.with(qualifier);
        Some(true)
    }

    fn parenthesised_type(&mut self) -> Option<QualType> {
        if !self.eat("(") {
            return None;
        }
        let ty = self.type_name()?;
        self.eat(")").then_some(ty)
    }

    /// A tagged type, a typedef or `typeof`.
    fn named_type(&mut self, word: &'a str) -> Option<QualType> {
        self.at += word.len();
        let kind = match word {
            "struct" => TagKind::Struct,
            "union" => TagKind::Union,
            "enum" => TagKind::Enum,
            "typeof" | "__typeof__" | "__typeof" | "typeof_unqual" => {
                let ty = self.type_of()?;
                return Some(if word == "typeof_unqual" { QualType::plain(ty.ty) } else { ty });
            }
            _ => return self.names.typedef(word, self.types),
        };
        let name = self.tag_name()?;
        let ty = self.names.tag(kind, name)?;
        Some(QualType::plain(self.types.intern(ty)))
    }

    /// `name`, `outer::name` or `outer::(unnamed struct at <stdin>:3:1)`.
    fn tag_name(&mut self) -> Option<TagName<'a>> {
        loop {
            self.skip_space();
            let name = if self.rest().starts_with('(') {
                let inside = self.balanced()?;
                let mut parts = inside.rsplitn(3, ':');
                let column = parts.next().and_then(|part| part.parse().ok());
                let line = parts.next().and_then(|part| part.parse().ok());
                line.zip(column).map(|(line, column)| TagName::At(line, column))
            } else {
                let word = self.peek_word()?;
                self.at += word.len();
                Some(TagName::Named(word))
            };
            if !self.rest().starts_with("::") {
                return name;
            }
            self.at += 2;
        }
    }

    fn type_of(&mut self) -> Option<QualType> {
        let inside = self.balanced()?;
        self.depth += 1;
        let (end, start) = (self.text, self.at);
        // Read the operand as a type first; an expression cannot be read as one as a whole.
        (self.text, self.at) = (inside, 0);
        let mut ty = self.type_name().filter(|_| self.rest().trim().is_empty());
        (self.text, self.at) = (end, start);
        if ty.is_none() {
            ty = self.names.type_of(inside, self.types);
        }
        self.depth -= 1;
        ty
    }

    /// Pointers, then a declarator in parentheses or none, then arrays and parameters.
    fn declarator(&mut self, base: QualType) -> Option<QualType> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.depth -= 1;
            return None;
        }
        let found = self.declarator_within_depth(base);
        self.depth -= 1;
        found
    }

    fn declarator_within_depth(&mut self, mut base: QualType) -> Option<QualType> {
        while self.eat("*") {
            base = QualType::plain(self.types.pointer_to(base));
            let mut quals = Quals::NONE;
            while let Some(word) = self.peek_word() {
                if !self.qualifier(word, &mut quals, &mut Some(base))? {
                    break;
                }
            }
            base = base.with(quals);
        }
        if !self.groups() {
            return self.suffixes(base);
        }
        self.eat("(");
        // The inner declarator binds tighter: first see what follows its parentheses.
        let inner_start = self.at;
        self.at = inner_start - 1;
        self.balanced()?;
        let outer = self.suffixes(base)?;
        let end = self.at;
        self.at = inner_start;
        let ty = self.declarator(outer)?;
        if !self.eat(")") {
            return None;
        }
        self.at = end;
        Some(ty)
    }

    /// Whether a `(` comes that groups a declarator and begins no parameters.
    fn groups(&mut self) -> bool {
        self.skip_space();
        let start = self.at;
        let is_group = self.eat("(") && self.skip_attributes().is_some() && {
            self.skip_space();
            self.rest().starts_with(['*', '(', '['])
        };
        self.at = start;
        is_group
    }

    fn suffixes(&mut self, base: QualType) -> Option<QualType> {
        self.depth += 1;
        let found = if self.depth > MAX_DEPTH { None } else { self.suffixes_within_depth(base) };
        self.depth -= 1;
        found
    }

    fn suffixes_within_depth(&mut self, base: QualType) -> Option<QualType> {
        self.skip_space();
        if self.rest().starts_with('[') {
            let length = array_length(self.balanced()?);
            let element = self.suffixes(base)?;
            return Some(QualType::plain(self.types.intern(CType::Array { element, length })));
        }
        if self.eat("(") {
            let (params, variadic, prototype) = self.parameters()?;
            self.skip_attributes()?;
            let result = self.suffixes(base)?;
            let ty = CType::Function { result, params, variadic, prototype };
            return Some(QualType::plain(self.types.intern(ty)));
        }
        self.skip_attributes()?;
        Some(base)
    }

    fn skip_attributes(&mut self) -> Option<()> {
        while self.peek_word() == Some("__attribute__") {
            self.at += "__attribute__".len();
            self.balanced()?;
        }
        Some(())
    }

    /// Parameters after `(`: their types, whether `...` ends them, whether they are declared.
    fn parameters(&mut self) -> Option<(Box<[QualType]>, bool, bool)> {
        let mut params = Vec::new();
        if self.eat(")") {
            return Some((params.into(), false, false));
        }
        loop {
            if self.eat("...") {
                return self.eat(")").then(|| (params.into(), true, true));
            }
            params.push(self.type_name()?);
            if self.eat(")") {
                break;
            }
            if !self.eat(",") {
                return None;
            }
        }
        if let [only] = params[..]
            && *self.types.get(only.ty) == CType::Void
        {
            params.clear();
        }
        Some((params.into(), false, true))
    }
}

fn array_length(text: &str) -> ArrayLength {
    match text.trim() {
        "" => ArrayLength::Incomplete,
        text => text.parse().map_or(ArrayLength::Variable, ArrayLength::Constant),
    }
}

#[cfg(test)]
#[path = "parse_tests.rs"]
mod tests;
