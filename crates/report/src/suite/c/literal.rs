//! Values as C: literals, initialisers, names.

use std::collections::BTreeSet;
use std::convert::Infallible;

use lydian_ir::test::{CALLBACK_PREFIX, Image, PointerTarget, Test};
use lydian_ir::{CType, CTypeId, CTypes, IntKind, Program, Type, arith};

use crate::suite::value::{Pointer, Value, cut, member};

/// The null pointer.
pub(super) const NULL: &str = "NULL";

/// The names in C of the parts of one test.
pub(super) struct Names<'a> {
    pub(super) program: &'a Program,
    pub(super) test: &'a Test,
    pub(super) objects: Vec<ObjectName>,
}

/// The name of an object.
#[derive(Clone, Debug)]
pub(super) struct ObjectName {
    /// The variable.
    pub(super) variable: String,
    /// The form of the variable.
    pub(super) form: Form,
}

/// The representation of an object in C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// A variable of its type.
    One,
    /// An array of its type.
    Array,
    /// A union of its type, as `it`, with as many bytes as the object has: its type ends with a flexible
    /// array member.
    Room,
    /// An array of bytes.
    Bytes,
    /// No variable: a string literal, which is given here.
    Text(String),
    /// A pointer to an allocated block, which the program releases; of one value, else of an array.
    Block {
        /// Whether it is one value.
        is_one: bool,
    },
}

impl ObjectName {
    /// The object as an lvalue; for an array the expression that an index follows.
    pub(super) fn lvalue(&self) -> String {
        match self.form {
            Form::Room => format!("{}.it", self.variable),
            Form::Block { is_one: true } => format!("(*{})", self.variable),
            _ => self.variable.clone(),
        }
    }
}

impl Names<'_> {
    /// A pointer as an expression. `pointee` is the pointee that the context expects, so that no
    /// unneeded cast is written. The error is the target that has no name in C.
    pub(super) fn pointer(
        &self,
        pointer: &Pointer,
        pointee: Option<CTypeId>,
    ) -> Result<String, String> {
        match pointer {
            Pointer::Null | Pointer::Unknown | Pointer::Block(..) => Ok(NULL.into()),
            Pointer::Bits(bits) => Ok(format!("(void *){bits:#x}UL")),
            Pointer::To(target) => self.target(target, pointee),
        }
    }

    fn target(&self, target: &PointerTarget, pointee: Option<CTypeId>) -> Result<String, String> {
        match target {
            PointerTarget::Function(name) => self.function(name, pointee),
            PointerTarget::Global(name, offset) => self.global(name, *offset, pointee),
            PointerTarget::Stream(name) => Ok(name.clone()),
            PointerTarget::Object(position, offset) => {
                Ok(self.object(*position as usize, *offset, pointee))
            }
        }
    }

    fn object(&self, position: usize, offset: u64, pointee: Option<CTypeId>) -> String {
        let object = &self.test.objects[position];
        let name = &self.objects[position];
        let types = &self.program.types;
        let variable = &name.variable;
        let size = types.size(object.ty).unwrap_or(1).max(1);
        // Everything is converted to `void *`.
        let is_void = pointee.is_some_and(|ty| matches!(types.get(ty), CType::Void));
        let fits = (pointee == Some(object.ty) || is_void) && !object.read_only;
        // A pointer may not point so far; a number may have this value.
        let length = object.image.bytes.len().max(1) as u64;
        if offset > length && !matches!(name.form, Form::Text(_)) {
            let first = match name.form {
                Form::One | Form::Room => format!("&{variable}"),
                _ => variable.clone(),
            };
            return format!("(void *)((unsigned long){first} {})", distance(offset));
        }
        let address = match &name.form {
            Form::Text(text) => {
                let is_plain =
                    matches!(types.get(object.ty), CType::Int { kind: IntKind::Char, .. });
                let cast = if is_plain || pointee.is_none() { "" } else { "(const void *)" };
                return format!("{cast}{text}");
            }
            Form::One | Form::Room if offset == 0 && (fits || pointee.is_none()) => {
                return format!("&{}", name.lvalue());
            }
            Form::Block { .. } if offset == 0 => variable.clone(),
            Form::Array if offset == 0 => variable.clone(),
            Form::Array | Form::Block { .. } if offset == size * object.count => {
                format!("{variable} + {}", object.count)
            }
            Form::One if offset == size && (fits || pointee.is_none()) => {
                return format!("&{variable} + 1");
            }
            Form::Array | Form::Block { is_one: false } if offset.is_multiple_of(size) => {
                format!("&{variable}[{}]", offset / size)
            }
            Form::Bytes => match offset {
                0 => return format!("(void *){variable}"),
                _ => return format!("(void *)({variable} + {offset})"),
            },
            _ => {
                let within = match &name.form {
                    Form::Array | Form::Block { is_one: false } => {
                        format!("{variable}[{}]", offset / size)
                    }
                    _ => name.lvalue(),
                };
                let wanted = pointee.filter(|_| offset < size * object.count);
                let part = wanted.and_then(|ty| part_at(types, object.ty, offset % size, ty));
                if let Some(part) = part.filter(|_| !object.read_only) {
                    let place = match (part.place.strip_prefix('.'), pointed_by(&within)) {
                        (Some(member), Some(pointer)) => format!("{pointer}->{member}"),
                        _ => format!("{within}{}", part.place),
                    };
                    return address_of_part(&place, part.is_element);
                }
                let first = match name.form {
                    Form::Block { .. } => variable.clone(),
                    _ => format!("&{variable}"),
                };
                return match offset {
                    0 => format!("(void *)&{}", name.lvalue()),
                    _ => format!("(void *)((char *){first} {})", distance(offset)),
                };
            }
        };
        let cast = match pointee {
            None => "",
            Some(_) if fits => "",
            Some(_) => "(void *)",
        };
        match address.contains(' ') && !cast.is_empty() {
            true => format!("{cast}({address})"),
            false => format!("{cast}{address}"),
        }
    }

    fn function(&self, name: &str, pointee: Option<CTypeId>) -> Result<String, String> {
        let own = self.program.function_named(name).map(|id| self.program.functions[id].ty);
        let called = function_name(name);
        let fits = pointee.is_some() && pointee == own && called == name;
        Ok(if fits { called } else { format!("(void *){called}") })
    }

    fn global(&self, name: &str, offset: u64, pointee: Option<CTypeId>) -> Result<String, String> {
        let text = literal_text(self.program, name);
        if text.is_none() && name.contains('.') {
            return Err(format!("C has no name for {name} here"));
        }
        let types = &self.program.types;
        let known = self.program.global_named(name).map(|id| &self.program.globals[id]);
        if let (None, Some(global), Some(wanted)) = (&text, known, pointee)
            && !global.read_only
            && let Some(part) = part_at(types, global.ty, offset, wanted)
        {
            return Ok(address_of_part(&format!("{name}{}", part.place), part.is_element));
        }
        let base = text.unwrap_or_else(|| format!("&{name}"));
        Ok(match offset {
            0 => format!("(void *){base}"),
            _ => format!("(void *)((char *){base} {})", distance(offset)),
        })
    }
}

/// The text that adds a number of bytes, or subtracts it.
fn distance(offset: u64) -> String {
    let offset = offset as i64;
    format!("{} {}", if offset < 0 { '-' } else { '+' }, offset.unsigned_abs())
}

/// The pointer of an lvalue `(*pointer)`.
pub(super) fn pointed_by(lvalue: &str) -> Option<&str> {
    lvalue.strip_prefix("(*")?.strip_suffix(')')
}

/// A member of an lvalue.
pub(super) fn member_of(lvalue: &str, member: &str) -> String {
    match pointed_by(lvalue) {
        Some(pointer) if pointer.starts_with('*') => format!("({pointer})->{member}"),
        Some(pointer) => format!("{pointer}->{member}"),
        None => format!("{lvalue}.{member}"),
    }
}

/// A part of a value, as C names it.
struct Part {
    /// The text after the name of the whole.
    place: String,
    /// Whether it is the first element of an array, whose name alone is its address.
    is_element: bool,
}

/// The part of a type that lies at an offset and has a type.
fn part_at(types: &CTypes, ty: CTypeId, offset: u64, wanted: CTypeId) -> Option<Part> {
    if ty == wanted && offset == 0 {
        return Some(Part { place: String::new(), is_element: false });
    }
    match types.get(ty) {
        CType::Array { element, .. } => {
            let size = types.size(*element).filter(|size| *size > 0)?;
            if offset == 0 && *element == wanted {
                return Some(Part { place: String::new(), is_element: true });
            }
            let part = part_at(types, *element, offset % size, wanted)?;
            Some(Part { place: format!("[{}]{}", offset / size, part.place), ..part })
        }
        CType::Record(record) => {
            let fields = &types.records[*record].fields;
            fields.iter().filter(|field| field.bits.is_none()).find_map(|field| {
                let behind = offset.checked_sub(field.bit_offset / 8)?;
                if behind >= types.size(field.ty)? {
                    return None;
                }
                let part = part_at(types, field.ty, behind, wanted)?;
                let own =
                    if field.name.is_empty() { String::new() } else { format!(".{}", field.name) };
                Some(Part { place: format!("{own}{}", part.place), ..part })
            })
        }
        _ => None,
    }
}

fn address_of_part(place: &str, is_element: bool) -> String {
    if is_element { place.to_owned() } else { format!("&{place}") }
}

/// The name of a function in the emitted file. Synthetic functions are known by their stubs.
pub(super) fn function_name(name: &str) -> String {
    if name.starts_with(CALLBACK_PREFIX) { format!("lydian_stub_{name}") } else { name.into() }
}

/// Whether a variable's name is that of a string literal of the program.
pub(super) fn is_literal(name: &str) -> bool {
    name.starts_with(".str.")
}

/// The text of a string literal of the program.
fn literal_text(program: &Program, name: &str) -> Option<String> {
    let global = program.global_named(name).filter(|_| is_literal(name))?;
    let mut bytes = Image::initial(program, global).bytes;
    bytes.pop(); // C adds the last NUL itself
    Some(string(&bytes))
}

/// The initialiser of a value of a type; an error if only bytes express it.
pub(super) fn initialiser(names: &Names, ty: CTypeId, value: &Value) -> Result<String, String> {
    let types = &names.program.types;
    match (types.get(ty), value) {
        (_, Value::Raw(_)) => Err("it has bytes that no value of its type has".into()),
        (CType::Array { element, length }, Value::Text(bytes)) => {
            Ok(characters(names.program, *element, bytes, length.unwrap_or(0)))
        }
        (CType::Array { element, .. }, Value::Array(elements)) => array(names, *element, elements),
        (CType::Vector { element, .. }, Value::Array(elements)) => {
            // Elements of vectors have no designators.
            let parts = elements.iter().map(|value| initialiser(names, *element, value));
            Ok(braced(&parts.collect::<Result<Vec<_>, _>>()?))
        }
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
            Ok(braced(&parts))
        }
        _ => scalar(names, ty, value),
    }
}

/// The most elements side by side that are written as zeros before another one.
const MOST_ZEROS: usize = 4;

/// The initialiser of an array. Elements that are zero are left out where they are aggregates, where many
/// stand side by side, and at the end.
pub(super) fn array(names: &Names, element: CTypeId, elements: &[Value]) -> Result<String, String> {
    let is_aggregate =
        |value: &Value| matches!(value, Value::Struct(_) | Value::Union(..) | Value::Array(_));
    sparse(elements, Value::is_zero, is_aggregate, |value| initialiser(names, element, value))
}

/// An initialiser that leaves out zeros: all if the element behind them is an aggregate, else those of
/// long runs.
fn sparse<T, E>(
    elements: &[T],
    is_zero: impl Fn(&T) -> bool,
    is_aggregate: impl Fn(&T) -> bool,
    text: impl Fn(&T) -> Result<String, E>,
) -> Result<String, E> {
    let mut parts = Vec::new();
    let mut next = 0;
    for (index, value) in elements.iter().enumerate().filter(|(_, value)| !is_zero(value)) {
        if index - next > MOST_ZEROS || is_aggregate(value) && index > next {
            parts.push(format!("[{index}] = {}", text(value)?));
        } else {
            for shown in &elements[next..=index] {
                parts.push(text(shown)?);
            }
        }
        next = index + 1;
    }
    Ok(braced(&parts))
}

/// An initialiser of these parts.
fn braced(parts: &[String]) -> String {
    if parts.is_empty() { "{ 0 }".into() } else { format!("{{ {} }}", parts.join(", ")) }
}

/// Whether most of the bytes are characters that a string literal shows as they are.
fn is_readable(bytes: &[u8]) -> bool {
    let shown = |byte: &&u8| (b' '..=b'~').contains(*byte) || matches!(**byte, b'\n' | b'\t');
    bytes.iter().filter(shown).count() * 2 >= bytes.len()
}

/// The initialiser of an array of characters with room for `length`: a text that ends, or numbers.
pub(super) fn characters(program: &Program, element: CTypeId, bytes: &[u8], length: u64) -> String {
    if (bytes.len() as u64) < length && !bytes.is_empty() && is_readable(bytes) {
        return string(bytes);
    }
    let signed = program.types.is_signed(element);
    let number = |byte: &u8| match signed {
        true => Ok((*byte as i8).to_string()),
        false => Ok::<_, Infallible>(byte.to_string()),
    };
    let Ok(numbers) = sparse(bytes, |byte| *byte == 0, |_| false, number);
    numbers
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
        Value::Enumerator { name, .. } => Ok(name.clone()),
        Value::Float(bits) => single(*bits),
        Value::Double(bits) => double(*bits),
        Value::OtherFloat(float, bits) => other_float(*float, *bits, &types.spell(ty, "")),
        Value::Pointer(pointer) => names.pointer(pointer, types.pointee(ty)),
        _ => Err("it is no scalar".into()),
    }
}

/// An integer for a place of its type: without a suffix if `int` can hold it.
pub(super) fn integer(bits: u128, width: u16, signed: bool) -> String {
    let is_negative = signed && width > 0 && bits >> (width - 1) & 1 == 1;
    match !is_negative && bits <= i32::MAX as u128 {
        true => bits.to_string(),
        false => typed_integer(bits, width, signed),
    }
}

/// An integer literal of at least that width.
pub(super) fn typed_integer(bits: u128, width: u16, signed: bool) -> String {
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

/// The literal of a double, NaNs of all kinds being one.
pub(super) fn double_or_nan(bits: u64) -> String {
    double(bits).unwrap_or_else(|_| "__builtin_nan(\"\")".into())
}

/// The literal of a float, NaNs of all kinds being one.
pub(super) fn single_or_nan(bits: u32) -> String {
    single(bits).unwrap_or_else(|_| "__builtin_nanf(\"\")".into())
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

/// A string literal of the bytes, without trigraphs. Octal escapes have three digits, so that a digit
/// after them is no part of them.
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

/// The name, or a new one that begins so: `text`, `text_`, `text_3`.
pub(super) fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    let others = (3..).map(|number| format!("{name}_{number}"));
    let mut all = [name.clone(), format!("{name}_")].into_iter().chain(others);
    let new = all.find(|name| taken.insert(name.clone()));
    new.expect("there are more names than are taken")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_keep_their_width_and_sign() {
        assert_eq!(typed_integer(0xffff_ffff, 32, true), "-1");
        assert_eq!(typed_integer(0xffff_ffff, 32, false), "4294967295U");
        assert_eq!(typed_integer(0x8000_0000, 32, true), "(-2147483647 - 1)");
        assert_eq!(typed_integer(1 << 63, 64, true), "(-9223372036854775807L - 1)");
        assert_eq!((typed_integer(5, 64, true), integer(5, 64, true)), ("5L".into(), "5".into()));
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
        let names = [(); 4].map(|()| unique("a".into(), &mut taken));
        assert_eq!(names, ["a", "a_", "a_3", "a_4"]);
    }
}
