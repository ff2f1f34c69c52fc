//! Names of registers: the macros of the source that stand for memory of devices.
//!
//! A macro without parameters names a register if its replacement is memory at a number
//! (`(*(volatile uint32_t *)0x40001000)`), and a block of registers if it is a pointer to a struct of the
//! program (`((USART_TypeDef *) USART1_BASE)`). A macro that is defined in several ways names nothing.
//!
//! What has no name in the source has that of a register that is stated ([`DeviceMap`]).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lydian_base::macros::{definition, tokens};
use lydian_ir::device::DeviceMap;
use lydian_ir::{CType, CTypeId, CTypes, RecordId};

/// How often macros in replacements are replaced.
const MOST_DEPTH: usize = 16;
/// The most tokens of a replacement.
const MOST_TOKENS: usize = 256;

/// What a macro stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Meaning {
    /// Memory at an address.
    Memory,
    /// A pointer to a struct, or the struct there.
    Block { record: RecordId, is_pointer: bool },
}

/// A macro for memory of devices.
#[derive(Clone, Debug)]
struct Register {
    name: String,
    address: u64,
    meaning: Meaning,
    /// Its replacement, with macros replaced.
    text: String,
}

/// The macros for memory of devices that a source has.
#[derive(Clone, Debug, Default)]
pub struct Registers {
    all: Vec<Register>,
    /// What is stated of devices.
    stated: Arc<DeviceMap>,
    /// Names that have another meaning.
    taken: BTreeSet<String>,
}

impl Registers {
    /// The registers that the lines of a source and of what it includes define.
    pub fn of<'l>(types: &CTypes, lines: impl Iterator<Item = &'l str>) -> Self {
        let macros = macros_of(lines);
        let records: BTreeMap<&str, RecordId> =
            types.records.iter().map(|(id, record)| (record.name.as_str(), id)).collect();
        let all = macros.iter().filter_map(|(name, replacement)| {
            // Most macros have neither a cast nor another macro in them.
            let tokens = expanded(&macros, replacement, &mut vec![name.as_str()])?;
            let mut parser = Parser { tokens: &tokens, at: 0, records: &records };
            let value = parser.sum()?;
            let is_whole = parser.at == tokens.len();
            let (address, meaning) = match value.kind {
                _ if !is_whole => return None,
                Kind::Number => return None,
                Kind::Pointer(Some(record)) => {
                    (value.bits, Meaning::Block { record, is_pointer: true })
                }
                Kind::Memory(Some(record)) => {
                    (value.bits, Meaning::Block { record, is_pointer: false })
                }
                Kind::Memory(None) => (value.bits, Meaning::Memory),
                Kind::Pointer(None) => return None,
            };
            Some(Register { name: name.clone(), address, meaning, text: tokens.join(" ") })
        });
        Self { all: all.collect(), ..Self::default() }
    }

    /// These, and the registers that are stated. `taken` are names with another meaning.
    #[must_use]
    pub fn with_stated(self, stated: Arc<DeviceMap>, taken: BTreeSet<String>) -> Self {
        Self { stated, taken, ..self }
    }

    /// What a comment says of an access with a value: the fields that are set, or the place where it has
    /// no name.
    pub(super) fn remark(&self, place: &str, address: u64, value: &[u8]) -> Option<String> {
        let bytes = value.len() as u64;
        if let Some(register) = self.stated.register(address, bytes) {
            let mut raw = [0; 8];
            raw[..value.len()].copy_from_slice(value);
            let fields = register.fields_in(u64::from_le_bytes(raw));
            return (!fields.is_empty()).then(|| fields.join(", "));
        }
        place.starts_with("0x").then(|| self.stated.words(address)).flatten()
    }

    /// The macro for a register that is stated, and what it stands for.
    fn stated_at(&self, address: u64, size: u64) -> Option<(String, String)> {
        let register = self.stated.register(address, size)?;
        let of = |name: &str| name.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
        let name = format!("{}_{}", of(&register.device), of(&register.name));
        let ty = match size {
            1 => "unsigned char",
            2 => "unsigned short",
            4 => "unsigned int",
            8 => "unsigned long long",
            _ => return None,
        };
        let is_free =
            !self.taken.contains(&name) && !name.starts_with(|c: char| c.is_ascii_digit());
        is_free.then(|| (name, format!("(*(volatile {ty} *){address:#x})")))
    }

    /// The address of an access as an expression with the name of a register, if one has its place.
    pub fn name(&self, types: &CTypes, address: u64, size: u64) -> Option<String> {
        let of_source = self.find(types, address, size).map(|(_, text)| text);
        of_source.or_else(|| self.stated_at(address, size).map(|(name, _)| format!("&{name}")))
    }

    /// Directives that define the registers of some accesses where the source leaves them undefined at its
    /// end. Each access is its address with its size.
    pub fn definitions(&self, types: &CTypes, accesses: &BTreeSet<(u64, u64)>) -> String {
        let found = accesses.iter().filter_map(|(address, size)| self.find(types, *address, *size));
        let found = found.map(|(register, _)| (register.name.clone(), register.text.clone()));
        let stated =
            accesses.iter().filter_map(|(address, size)| match self.find(types, *address, *size) {
                Some(_) => None,
                None => self.stated_at(*address, *size),
            });
        let used: BTreeMap<String, String> = found.chain(stated).collect();
        let lines = used
            .iter()
            .map(|(name, text)| format!("#ifndef {name}\n#define {name} {text}\n#endif\n"));
        lines.collect()
    }

    fn find(&self, types: &CTypes, address: u64, size: u64) -> Option<(&Register, String)> {
        let exact = self
            .all
            .iter()
            .find(|register| register.meaning == Meaning::Memory && register.address == address);
        if let Some(register) = exact {
            return Some((register, format!("&{}", register.name)));
        }
        self.all.iter().find_map(|register| {
            let Meaning::Block { record, is_pointer } = register.meaning else { return None };
            let offset = address.checked_sub(register.address)?;
            let path = member(types, record, offset, size)?;
            let arrow = if is_pointer { "->" } else { "." };
            Some((register, format!("&{}{arrow}{path}", register.name)))
        })
    }
}

/// The member of a struct that lies at an offset and has a size.
fn member(types: &CTypes, record: RecordId, offset: u64, size: u64) -> Option<String> {
    let fields = types.records[record].fields.iter().filter(|field| field.bits.is_none());
    fields.into_iter().find_map(|field| {
        let inside = offset.checked_sub(field.bit_offset / 8)?;
        let rest = place(types, field.ty, inside, size)?;
        match field.name.as_str() {
            // Members of an anonymous struct are members of the one around it.
            "" => rest.strip_prefix('.').map(str::to_owned),
            name => Some(format!("{name}{rest}")),
        }
    })
}

/// What follows the name of a variable for the scalar at an offset.
fn place(types: &CTypes, ty: CTypeId, offset: u64, size: u64) -> Option<String> {
    let own = types.size(ty)?;
    if offset >= own {
        return None;
    }
    match types.get(ty) {
        CType::Array { element, .. } => {
            let each = types.size(*element).filter(|each| *each > 0)?;
            let rest = place(types, *element, offset % each, size)?;
            Some(format!("[{}]{rest}", offset / each))
        }
        CType::Record(record) => Some(format!(".{}", member(types, *record, offset, size)?)),
        _ => (offset == 0 && own == size).then(String::new),
    }
}

/// The macros without parameters, with the tokens of their replacements; those with several replacements,
/// and those that are undefined somewhere, are left out.
fn macros_of<'l>(mut lines: impl Iterator<Item = &'l str>) -> BTreeMap<String, Vec<String>> {
    let mut macros: BTreeMap<String, Option<Vec<String>>> = BTreeMap::new();
    while let Some(line) = lines.next() {
        let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
        if let Some(name) = directive.trim_start().strip_prefix("undef") {
            macros.insert(name.trim().to_owned(), None);
        }
        let mut text = line.to_owned();
        while text.ends_with('\\') {
            text.pop();
            text.push_str(lines.next().unwrap_or_default());
        }
        let Some((name, replacement)) = definition(&text) else { continue };
        let tokens = match replacement.starts_with('(') {
            true => None,
            false => tokens_of(replacement),
        };
        let known = macros.entry(name.to_owned()).or_insert_with(|| tokens.clone());
        if *known != tokens {
            *known = None;
        }
    }
    macros.into_iter().filter_map(|(name, tokens)| Some((name, tokens?))).collect()
}

/// The words, numbers and signs of a replacement; none where it has others, such as strings.
fn tokens_of(text: &str) -> Option<Vec<String>> {
    let is_word =
        |token: &str| token.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let is_known =
        |token: &str| is_word(token) || ["(", ")", "*", "+", "-", "|", "<<"].contains(&token);
    let tokens: Option<Vec<String>> =
        tokens(text).map(|token| is_known(token).then(|| token.to_owned())).collect();
    tokens.filter(|tokens| tokens.len() <= MOST_TOKENS)
}

/// Tokens with all macros replaced; none where that takes too many.
fn expanded<'m>(
    macros: &'m BTreeMap<String, Vec<String>>,
    tokens: &'m [String],
    open: &mut Vec<&'m str>,
) -> Option<Vec<String>> {
    let mut made = Vec::new();
    for token in tokens {
        match macros.get_key_value(token) {
            Some((name, replacement)) if !open.contains(&name.as_str()) => {
                if open.len() > MOST_DEPTH {
                    return None;
                }
                open.push(name);
                made.extend(expanded(macros, replacement, open)?);
                open.pop();
            }
            _ => made.push(token.clone()),
        }
    }
    (made.len() <= MOST_TOKENS).then_some(made)
}

/// What an expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Number,
    /// A pointer, with the struct that it points to, if it points to one.
    Pointer(Option<RecordId>),
    /// Memory at a number, with the same.
    Memory(Option<RecordId>),
}

/// The value of an expression: of memory its address.
#[derive(Clone, Copy, Debug)]
struct Value {
    bits: u64,
    kind: Kind,
}

/// Reads constant expressions about addresses. What it does not know is none.
struct Parser<'t> {
    tokens: &'t [String],
    at: usize,
    records: &'t BTreeMap<&'t str, RecordId>,
}

impl Parser<'_> {
    fn next(&self) -> Option<&str> {
        self.tokens.get(self.at).map(String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let is_next = self.next() == Some(token);
        self.at += usize::from(is_next);
        is_next
    }

    fn sum(&mut self) -> Option<Value> {
        let mut value = self.unary()?;
        while let Some(operator @ ("+" | "-" | "|" | "<<")) = self.next() {
            let operator = operator.to_owned();
            self.at += 1;
            let other = self.unary()?;
            if (value.kind, other.kind) != (Kind::Number, Kind::Number) {
                return None;
            }
            value.bits = match operator.as_str() {
                "+" => value.bits.wrapping_add(other.bits),
                "-" => value.bits.wrapping_sub(other.bits),
                "|" => value.bits | other.bits,
                _ => value.bits.checked_shl(u32::try_from(other.bits).ok()?)?,
            };
        }
        Some(value)
    }

    fn unary(&mut self) -> Option<Value> {
        if self.take("*") {
            let Value { bits, kind: Kind::Pointer(record) } = self.unary()? else { return None };
            return Some(Value { bits, kind: Kind::Memory(record) });
        }
        if !self.take("(") {
            let number = number(self.next()?)?;
            self.at += 1;
            return Some(Value { bits: number, kind: Kind::Number });
        }
        let start = self.at;
        if let Some(kind) = self.cast() {
            let Value { bits, kind: Kind::Number | Kind::Pointer(_) } = self.unary()? else {
                return None;
            };
            return Some(Value { bits, kind });
        }
        self.at = start;
        let value = self.sum()?;
        self.take(")").then_some(value)
    }

    /// A type up to its parenthesis: an integer, or a pointer.
    fn cast(&mut self) -> Option<Kind> {
        let mut words: Vec<&str> = Vec::new();
        while let Some(word) = self.tokens.get(self.at).map(String::as_str) {
            if !word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                break;
            }
            if !matches!(word, "volatile" | "const" | "__volatile__" | "__volatile") {
                words.push(word);
            }
            self.at += 1;
        }
        let is_pointer = self.take("*");
        // `* const`, which says nothing of what it points to.
        while is_pointer && (self.take("const") || self.take("volatile")) {}
        if words.is_empty() || !self.take(")") {
            return None;
        }
        let record = self.records.get(words.join(" ").as_str()).copied();
        Some(if is_pointer { Kind::Pointer(record) } else { Kind::Number })
    }
}

/// An integer with or without suffixes.
fn number(token: &str) -> Option<u64> {
    let digits = token.trim_end_matches(['u', 'U', 'l', 'L']);
    match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None if digits.len() > 1 && digits.starts_with('0') => u64::from_str_radix(digits, 8).ok(),
        None => digits.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use lydian_ir::{Field, IntKind, Record};

    use super::*;

    /// `typedef struct { unsigned SR, DR; unsigned char tail[4]; } uart_t;`
    fn types() -> CTypes {
        let mut types = CTypes::new();
        let word = types.int(IntKind::UInt);
        let byte = types.int(IntKind::UChar);
        let tail = types.intern(CType::Array { element: byte, length: Some(4) });
        let field = |name: &str, ty, bytes: u64| Field {
            name: name.into(),
            ty,
            bit_offset: 8 * bytes,
            bits: None,
        };
        let fields = vec![field("SR", word, 0), field("DR", word, 4), field("tail", tail, 8)];
        types.records.push(Record {
            name: "uart_t".into(),
            is_union: false,
            is_local: false,
            fields,
            size: Some(12),
            align: 4,
        });
        types
    }

    const SOURCE: &str = "\
#define __IO volatile
#define BASE 0x40000000UL /* of the bus */
  # define APB1 (BASE + (1U << 12))
#define STATUS (*(__IO unsigned *)(APB1 + 0x10))
#define UART1 ((uart_t *) (APB1 \\
    | 0x800))
#define UART2 (*(volatile uart_t *)0x50000000)
#define TWICE (*(volatile unsigned *)0x60000000)
#define TWICE (*(volatile unsigned *)0x60000004)
#define GONE (*(volatile unsigned *)0x70000000)
#undef GONE
#define AT(x) (*(volatile unsigned *)(x))
#define NAME \"uart\"
#define LOOP LOOP2
#define LOOP2 LOOP
";

    #[test]
    fn macros_name_registers_and_members_of_blocks() {
        let types = types();
        let registers = Registers::of(&types, SOURCE.lines());
        let name = |address, size| registers.name(&types, address, size);
        assert_eq!(name(0x4000_1010, 4).as_deref(), Some("&STATUS"));
        assert_eq!(name(0x4000_1804, 4).as_deref(), Some("&UART1->DR"));
        assert_eq!(name(0x5000_000a, 1).as_deref(), Some("&UART2.tail[2]"));
        for (address, size) in
            [(0x4000_1804, 2), (0x5000_0002, 4), (0x5000_000c, 1), (0x6000_0000, 4)]
        {
            assert_eq!(name(address, size), None, "{address:#x}");
        }
        assert_eq!(name(0x7000_0000, 4), None);
    }

    #[test]
    fn registers_are_defined_where_the_source_does_not() {
        let types = types();
        let registers = Registers::of(&types, SOURCE.lines());
        let used = BTreeSet::from([(0x5000_0004, 4), (0x5000_0000, 4), (0x1234_0000, 4)]);
        assert_eq!(
            registers.definitions(&types, &used),
            "#ifndef UART2\n#define UART2 ( * ( volatile uart_t * ) 0x50000000 )\n#endif\n"
        );
    }
}
