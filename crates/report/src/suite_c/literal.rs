//! Values as C: literals, initialisers, names.

use std::collections::BTreeSet;

use lydian_ir::test::{PointerTarget, Test};
use lydian_ir::{CType, CTypeId, GlobalInit, IntKind, Program, Type, arith};

use crate::value::{Pointer, Value, cut, member};

/// How the parts of one test are called in C.
pub(super) struct Names<'a> {
    pub(super) program: &'a Program,
    pub(super) test: &'a Test,
    /// A C expression for each object that decays or evaluates to its address, and whether its type
    /// is that of the object's elements.
    pub(super) objects: Vec<ObjectName>,
}

/// What an object is called.
#[derive(Clone, Debug)]
pub(super) struct ObjectName {
    /// The variable.
    pub(super) variable: String,
    /// Element 0 of the object as an lvalue prefix: `x` in `x[0]`. For one with a flexible array
    /// member the lvalue itself.
    pub(super) elements: String,
    /// Whether `elements` is the object itself, not an array.
    pub(super) lone: bool,
    /// Whether it has the type of its elements; else it is bytes.
    pub(super) typed: bool,
}

impl Names<'_> {
    /// A pointer as a constant expression. `pointee` is what the context wants it to point to, so
    /// that no cast is written where none is needed. An error says what C has no name for.
    pub(super) fn pointer(
        &self,
        pointer: &Pointer,
        pointee: Option<CTypeId>,
    ) -> Result<String, String> {
        match pointer {
            Pointer::Null | Pointer::Unknown => Ok("0".into()),
            Pointer::Bits(bits) => Ok(format!("(void *){bits:#x}UL")),
            Pointer::To(target) => self.target(target, pointee),
        }
    }

    fn target(&self, target: &PointerTarget, pointee: Option<CTypeId>) -> Result<String, String> {
        match target {
            PointerTarget::Function(name) => Ok(format!("(void *){}", function_name(name))),
            PointerTarget::Global(name, offset) => self.global(name, *offset),
            PointerTarget::Stream(name) => Ok(name.clone()),
            PointerTarget::Object(position, offset) => {
                let object = &self.test.objects[*position as usize];
                let name = &self.objects[*position as usize];
                let size = self.program.types.size(object.ty).unwrap_or(1).max(1);
                let same = pointee == Some(object.ty) && name.typed && !object.read_only;
                let address = match (name.lone, name.typed, *offset) {
                    (false, true, 0) => name.elements.clone(),
                    (false, true, at) if at % size == 0 => {
                        format!("&{}[{}]", name.elements, at / size)
                    }
                    (true, _, 0) => format!("&{}", name.elements),
                    (_, _, 0) => format!("(void *)&{}", name.variable),
                    (_, _, at) => {
                        return Ok(format!("(void *)((char *)&{} + {at})", name.variable));
                    }
                };
                let cast = if same || address.starts_with('(') { "" } else { "(void *)" };
                Ok(format!("{cast}{address}"))
            }
        }
    }

    fn global(&self, name: &str, offset: u64) -> Result<String, String> {
        let base = match literal_text(self.program, name) {
            Some(text) => text,
            None if name.contains('.') => return Err(format!("C has no name for {name} here")),
            None => format!("&{name}"),
        };
        Ok(match offset {
            0 => format!("(void *){base}"),
            _ => format!("(void *)((char *){base} + {offset})"),
        })
    }
}

/// What a function is called in the emitted file: synthetic ones are known by their stubs.
pub(super) fn function_name(name: &str) -> String {
    if name.starts_with("lydian_callback_") { format!("lydian_stub_{name}") } else { name.into() }
}

/// The text of a string literal of the program.
fn literal_text(program: &Program, name: &str) -> Option<String> {
    let global =
        &program.globals[program.global_named(name).filter(|_| name.starts_with(".str."))?];
    let mut bytes = vec![0u8; global.size as usize];
    if let GlobalInit::Data { items, .. } = &global.init {
        for item in items {
            let start = item.offset as usize;
            bytes.get_mut(start..start + item.bytes.len())?.copy_from_slice(&item.bytes);
        }
    }
    bytes.pop(); // C adds the last NUL itself
    Some(string(&bytes))
}

/// The initialiser of a value of a type; an error where only bytes can say it.
pub(super) fn initialiser(names: &Names, ty: CTypeId, value: &Value) -> Result<String, String> {
    let types = &names.program.types;
    match (types.get(ty), value) {
        (_, Value::Raw(_)) => Err("it has bytes that no value of its type has".into()),
        (CType::Array { element, length }, Value::Text(bytes)) => {
            Ok(characters(names.program, *element, bytes, length.unwrap_or(0)))
        }
        (CType::Array { element, .. }, Value::Array(elements)) => array(names, *element, elements),
        (CType::Vector { element, .. }, Value::Array(elements)) => array(names, *element, elements),
        (CType::Vector { element, .. }, Value::Text(bytes)) => {
            Ok(characters(names.program, *element, bytes, 0))
        }
        (CType::Complex { element }, Value::Array(parts)) => {
            let part = |index: usize| match parts.get(index) {
                Some(part) => initialiser(names, *element, part),
                None => Ok("0.0".into()),
            };
            // The builtin takes two operands of one type.
            let element = types.spell(*element, "");
            let (real, imaginary) = (part(0)?, part(1)?);
            Ok(format!("__builtin_complex(({element}){real}, ({element}){imaginary})"))
        }
        (CType::Record(record), Value::Struct(_) | Value::Union(..)) => {
            let lone;
            let members: &[(String, Value)] = match value {
                Value::Struct(members) => members,
                Value::Union(name, value) => {
                    lone = [(name.clone(), (**value).clone())];
                    &lone
                }
                _ => unreachable!("the pattern has no other values"),
            };
            let mut parts = Vec::new();
            for (name, value) in members.iter().filter(|(_, value)| !value.is_zero()) {
                let found = member(types, *record, name);
                let (field, _) = found.ok_or("it has bytes in a member without a name")?;
                parts.push(format!(".{name} = {}", initialiser(names, field.ty, value)?));
            }
            Ok(match parts.is_empty() {
                true => "{ 0 }".into(),
                false => format!("{{ {} }}", parts.join(", ")),
            })
        }
        (_, Value::Pointer(Pointer::To(PointerTarget::Stream(name)))) => {
            Err(format!("{name} is no constant"))
        }
        _ => scalar(names, ty, value),
    }
}

/// The initialiser of an array.
pub(super) fn array(names: &Names, element: CTypeId, elements: &[Value]) -> Result<String, String> {
    let mut parts = Vec::new();
    let mut next = 0;
    for (index, value) in elements.iter().enumerate() {
        let aggregate = matches!(value, Value::Struct(_) | Value::Union(..) | Value::Array(_));
        if aggregate && value.is_zero() {
            continue;
        }
        let text = initialiser(names, element, value)?;
        parts.push(if index == next { text } else { format!("[{index}] = {text}") });
        next = index + 1;
    }
    Ok(match parts.is_empty() {
        true => "{ 0 }".into(),
        false => format!("{{ {} }}", parts.join(", ")),
    })
}

/// The initialiser of an array of characters with room for `length`.
pub(super) fn characters(program: &Program, element: CTypeId, bytes: &[u8], length: u64) -> String {
    if (bytes.len() as u64) < length && !bytes.is_empty() {
        return string(bytes);
    }
    if bytes.is_empty() {
        return "{ 0 }".into();
    }
    let signed = program.types.is_signed(element);
    let number = |byte: &u8| if signed { (*byte as i8).to_string() } else { byte.to_string() };
    let numbers: Vec<String> = bytes.iter().map(number).collect();
    format!("{{ {} }}", numbers.join(", "))
}

/// A scalar as a constant expression.
pub(super) fn scalar(names: &Names, ty: CTypeId, value: &Value) -> Result<String, String> {
    let types = &names.program.types;
    match value {
        Value::Int { bits, width, signed } => match types.get(ty) {
            CType::Int { kind: IntKind::Bool, .. } if *bits > 1 => {
                Err("it is a _Bool that is neither 0 nor 1".into())
            }
            CType::Int { kind: IntKind::Char, .. } if (b' '..=b'~').contains(&(*bits as u8)) => {
                Ok(character(*bits as u8))
            }
            CType::Enum { name, .. } if !name.is_empty() => {
                Ok(format!("({name}){}", integer(*bits, *width, *signed)))
            }
            _ => Ok(integer(*bits, *width, *signed)),
        },
        Value::Enumerator(name) => Ok(name.clone()),
        Value::Float(bits) => single(*bits),
        Value::Double(bits) => double(*bits),
        Value::OtherFloat(float, bits) => other_float(*float, *bits, &types.spell(ty, "")),
        Value::Pointer(pointer) => names.pointer(pointer, types.pointee(ty)),
        _ => Err("it is no scalar".into()),
    }
}

/// An integer literal of at least that width.
pub(super) fn integer(bits: u128, width: u16, signed: bool) -> String {
    let negative = signed && width > 0 && bits >> (width - 1) & 1 == 1;
    if width > 64 {
        let wide = format!(
            "(((unsigned __int128){:#x}UL << 64) | {:#x}UL)",
            (bits >> 64) as u64,
            bits as u64
        );
        return if signed { format!("(__int128){wide}") } else { wide };
    }
    let suffix = match (signed, width) {
        (true, 33..) => "L",
        (false, 33..) => "UL",
        (false, 32) => "U",
        _ => "",
    };
    if !negative {
        return format!("{bits}{suffix}");
    }
    let value = (bits | !cut(u128::MAX, width)) as i128;
    // The literal of the least value would be too large before its sign is applied.
    let least = -(1i128 << (width - 1).min(126));
    match value == least && width >= 32 {
        true => format!("({}{suffix} - 1)", value + 1),
        false => format!("{value}{suffix}"),
    }
}

fn double(bits: u64) -> Result<String, String> {
    let value = f64::from_bits(bits);
    if value.is_finite() {
        return Ok(format!("{value:?}"));
    }
    match (bits == f64::NAN.to_bits(), value.is_nan(), value > 0.0) {
        (true, ..) => Ok("__builtin_nan(\"\")".into()),
        (_, true, _) => Err("it is a NaN with bits of its own".into()),
        (_, _, positive) => Ok(format!("{}__builtin_inf()", if positive { "" } else { "-" })),
    }
}

fn other_float(ty: Type, bits: u128, spelling: &str) -> Result<String, String> {
    if let Some(digits) = arith::print_float(ty, bits) {
        let suffix = if ty == Type::F80 { "L" } else { "" };
        return Ok(format!("({spelling}){digits}{suffix}"));
    }
    let text = double(arith::to_f64(ty, bits).to_bits())?;
    if arith::nan(ty) != bits && arith::to_f64(ty, bits).is_nan() {
        return Err("it is a NaN with bits of its own".into());
    }
    Ok(format!("({spelling}){text}"))
}

fn single(bits: u32) -> Result<String, String> {
    let value = f32::from_bits(bits);
    if value.is_finite() {
        return Ok(format!("{value:?}f"));
    }
    match (bits == f32::NAN.to_bits(), value.is_nan(), value > 0.0) {
        (true, ..) => Ok("__builtin_nanf(\"\")".into()),
        (_, true, _) => Err("it is a NaN with bits of its own".into()),
        (_, _, positive) => Ok(format!("{}__builtin_inff()", if positive { "" } else { "-" })),
    }
}

fn character(byte: u8) -> String {
    match byte {
        b'\'' => "'\\''".into(),
        b'\\' => "'\\\\'".into(),
        _ => format!("'{}'", char::from(byte)),
    }
}

/// A string literal of the bytes, without trigraphs; octal escapes have three digits, so that what
/// follows them is no part of them.
pub(super) fn string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' => text.push_str("\\\""),
            b'\\' => text.push_str("\\\\"),
            b'?' => text.push_str("\\?"),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}

/// A place of the inputs as part of a C identifier: `ctx->out.buf` as `ctx_out_buf`.
pub(super) fn identifier(place: &str) -> String {
    let mut name = String::new();
    for c in place.chars() {
        if c.is_ascii_alphanumeric() {
            name.push(c);
        } else if !name.is_empty() && !name.ends_with('_') {
            name.push('_');
        }
    }
    let name = name.trim_end_matches('_');
    if name.is_empty() { "object".into() } else { name.into() }
}

/// The name, with underscores at its end until it is new.
pub(super) fn unique(mut name: String, taken: &mut BTreeSet<String>) -> String {
    while !taken.insert(name.clone()) {
        name.push('_');
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_their_width_and_sign() {
        assert_eq!(integer(0xffff_ffff, 32, true), "-1");
        assert_eq!(integer(0xffff_ffff, 32, false), "4294967295U");
        assert_eq!(integer(0x8000_0000, 32, true), "(-2147483647 - 1)");
        assert_eq!(integer(1 << 63, 64, true), "(-9223372036854775807L - 1)");
        assert_eq!(integer(5, 3, true), "-3");
        assert_eq!(integer(1 << 64, 128, false), "(((unsigned __int128)0x1UL << 64) | 0x0UL)");
    }

    #[test]
    fn strings_have_no_escape_that_swallows_what_follows() {
        assert_eq!(string(b"a\x0012\"?\\\n\xff"), "\"a\\00012\\\"\\?\\\\\\n\\377\"");
    }

    #[test]
    fn places_become_identifiers() {
        assert_eq!(identifier("ctx->out.buf[2]"), "ctx_out_buf_2");
        assert_eq!(identifier("make()#0"), "make_0");
        let mut taken = BTreeSet::new();
        let both = [unique("a".into(), &mut taken), unique("a".into(), &mut taken)];
        assert_eq!(both, ["a", "a_"]);
    }
}
