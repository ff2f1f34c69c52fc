//! Images as C: initialisers for inputs, and checks of what was observed.

use lydian_ir::test::{Image, PointerTarget};
use lydian_ir::{CType, CTypeId, CTypes, Field, Program};

use crate::suite::ObservedImage;

/// The C names of a test's objects.
pub(super) struct Values<'a> {
    pub(super) program: &'a Program,
    /// In the order of the objects.
    pub(super) objects: &'a [String],
}

impl Values<'_> {
    fn types(&self) -> &CTypes {
        &self.program.types
    }

    /// A pointer as a C expression of type `void *`, or a function's name. `None` where C has no
    /// name for the target.
    pub(super) fn pointer(&self, target: &PointerTarget) -> Option<String> {
        let offset = |name: &str, offset: u64| match offset {
            0 => format!("(void *){name}"),
            _ => format!("(void *)((char *){name} + {offset})"),
        };
        match target {
            PointerTarget::Object(index, at) => {
                self.objects.get(*index as usize).map(|name| offset(name, *at))
            }
            PointerTarget::Global(name, at) => {
                (!name.contains('.')).then(|| offset(&format!("&{name}"), *at))
            }
            PointerTarget::Function(name) => Some(name.clone()),
        }
    }

    /// An initialiser of a value of the type at `at` of the image; `None` where C has none.
    pub(super) fn initialiser(&self, ty: CTypeId, image: &Image, at: u64) -> Option<String> {
        let size = self.types().size(ty)?;
        let bytes = image.bytes.get(at as usize..(at + size) as usize)?;
        match self.types().get(ty) {
            CType::Int { .. } | CType::Enum { .. } => Some(self.integer(ty, bytes)),
            CType::Float | CType::Double => Some(float(bytes)),
            CType::Pointer { .. } => {
                match image.pointers.iter().find(|pointer| pointer.offset == at) {
                    Some(pointer) => self.pointer(&pointer.target),
                    None if bytes.iter().all(|byte| *byte == 0) => Some("0".to_owned()),
                    None => Some(format!("(void *)0x{:x}ul", unsigned_value(bytes))),
                }
            }
            CType::Array { element, length } => self.array(*element, (*length)?, image, at),
            CType::Record(record) => {
                let record = &self.types().records[*record];
                if record.is_union || record.fields.is_empty() {
                    return None;
                }
                let fields = record.fields.iter().filter(|field| !is_padding(field));
                let fields: Option<Vec<_>> =
                    fields.map(|field| self.member(field, image, at)).collect();
                Some(format!("{{ {} }}", fields?.join(", ")))
            }
            CType::Void | CType::Function { .. } | CType::Opaque { .. } => None,
        }
    }

    fn member(&self, field: &Field, image: &Image, at: u64) -> Option<String> {
        let value = match field.bits {
            Some(bits) => {
                let value = read_bits(image, at, field, bits)?;
                literal(extended(value, bits, self.types().is_signed(field.ty)))
            }
            None => self.initialiser(field.ty, image, at + field.bit_offset / 8)?,
        };
        Some(match field.name.is_empty() {
            true => value,
            false => format!(".{} = {value}", field.name),
        })
    }

    /// `count` elements in braces, or as a string.
    pub(super) fn array(
        &self,
        element: CTypeId,
        count: u64,
        image: &Image,
        at: u64,
    ) -> Option<String> {
        let size = self.types().size(element)?;
        let bytes = image.bytes.get(at as usize..(at + count * size) as usize)?;
        let is_char = matches!(self.types().get(element), CType::Int { bits: 8, kind, .. }
            if *kind == lydian_ir::IntKind::Char);
        let text = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        let printable = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r');
        if is_char && (text as u64) < count && bytes[..text].iter().all(printable) {
            return Some(string(&bytes[..text]));
        }
        let end = bytes.len().min(text.next_multiple_of(size.max(1) as usize)) as u64;
        let last_pointer =
            image.pointers.iter().map(|pointer| pointer.offset + 8).filter(|end| *end > at).max();
        let end = end.max(last_pointer.map_or(0, |end| end - at)).min(count * size);
        let shown = end.div_ceil(size.max(1)).max(1).min(count);
        let values: Option<Vec<_>> =
            (0..shown).map(|index| self.initialiser(element, image, at + index * size)).collect();
        Some(format!("{{ {} }}", values?.join(", ")))
    }

    fn integer(&self, ty: CTypeId, bytes: &[u8]) -> String {
        let signed = self.types().is_signed(ty);
        let text = literal(signed_value(bytes, signed));
        let wide = bytes.len() >= 4 && !signed;
        if wide && !text.ends_with("ul") { format!("{text}u") } else { text }
    }

    /// Checks that the lvalue or value `expr` of the type is as it was observed at `at` of an image.
    /// Pointers that differ from run to run are not looked at.
    pub(super) fn checks(
        &self,
        expr: &str,
        ty: CTypeId,
        seen: &ObservedImage,
        at: u64,
        out: &mut Vec<String>,
    ) {
        let size = self.types().size(ty).unwrap_or(0);
        let Some(bytes) = seen.image.bytes.get(at as usize..(at + size) as usize) else { return };
        match self.types().get(ty) {
            CType::Int { .. } | CType::Enum { .. } => {
                out.push(format!("{expr} == {}", self.integer(ty, bytes)));
            }
            CType::Float | CType::Double => out.push(check_float(expr, bytes)),
            CType::Pointer { .. } => out.extend(self.check_pointer(expr, seen, at)),
            CType::Array { element, length } => {
                let size = self.types().size(*element).unwrap_or(0);
                for index in 0..length.unwrap_or(0) {
                    let part = format!("{expr}[{index}]");
                    self.checks(&part, *element, seen, at + index * size, out);
                }
            }
            CType::Record(record) => {
                let record = &self.types().records[*record];
                // Which member of a union counts is not known.
                let fields = record.fields.iter().filter(|f| !record.is_union && !is_padding(f));
                fields.for_each(|field| self.check_member(expr, field, seen, at, out));
            }
            CType::Void | CType::Function { .. } | CType::Opaque { .. } => {}
        }
    }

    fn check_member(
        &self,
        expr: &str,
        field: &Field,
        seen: &ObservedImage,
        at: u64,
        out: &mut Vec<String>,
    ) {
        let path = match field.name.is_empty() {
            true => expr.to_owned(),
            false => format!("{expr}.{}", field.name),
        };
        let Some(bits) = field.bits else {
            return self.checks(&path, field.ty, seen, at + field.bit_offset / 8, out);
        };
        if let Some(value) = read_bits(&seen.image, at, field, bits) {
            let value = extended(value, bits, self.types().is_signed(field.ty));
            out.push(format!("{path} == {}", literal(value)));
        }
    }

    fn check_pointer(&self, expr: &str, seen: &ObservedImage, at: u64) -> Option<String> {
        if seen.unknown.contains(&at) {
            return None;
        }
        let pointer = seen.image.pointers.iter().find(|pointer| pointer.offset == at);
        let Some(pointer) = pointer else {
            let bytes = seen.image.bytes.get(at as usize..at as usize + 8)?;
            return bytes.iter().all(|byte| *byte == 0).then(|| format!("{expr} == 0"));
        };
        let target = self.pointer(&pointer.target)?;
        match pointer.target {
            PointerTarget::Function(_) => Some(format!("{expr} == {target}")),
            _ => Some(format!("(const void *){expr} == {target}")),
        }
    }
}

fn unsigned_value(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |value, byte| value << 8 | u128::from(*byte))
}

fn signed_value(bytes: &[u8], signed: bool) -> i128 {
    extended(unsigned_value(bytes), bytes.len() as u16 * 8, signed)
}

/// The low bits as a number.
fn extended(raw: u128, bits: u16, signed: bool) -> i128 {
    let shift = 128 - u32::from(bits);
    if signed { ((raw << shift) as i128) >> shift } else { raw as i128 }
}

/// The bits of a bit-field of the record at `at`.
fn read_bits(image: &Image, at: u64, field: &Field, bits: u16) -> Option<u128> {
    let first = at * 8 + field.bit_offset;
    (0..u64::from(bits)).try_fold(0u128, |value, bit| {
        let byte = image.bytes.get(((first + bit) / 8) as usize)?;
        Some(value | u128::from(byte >> ((first + bit) % 8) & 1) << bit)
    })
}

fn is_padding(field: &Field) -> bool {
    field.bits.is_some() && field.name.is_empty()
}

/// An integer constant of C.
fn literal(value: i128) -> String {
    match value {
        -2_147_483_648 => "(-2147483647 - 1)".to_owned(),
        -9_223_372_036_854_775_808 => "(-9223372036854775807l - 1)".to_owned(),
        _ if i32::try_from(value).is_ok() => value.to_string(),
        _ if i64::try_from(value).is_ok() => format!("{value}l"),
        _ if u64::try_from(value).is_ok() => format!("{value}ul"),
        _ => {
            let (high, low) = ((value as u128 >> 64) as u64, value as u64);
            format!("((__int128)(((unsigned __int128){high}ul << 64) | {low}ul))")
        }
    }
}

fn as_double(bytes: &[u8]) -> (f64, &'static str) {
    let bits = unsigned_value(bytes);
    match bytes.len() {
        4 => (f64::from(f32::from_bits(bits as u32)), "f"),
        _ => (f64::from_bits(bits as u64), ""),
    }
}

fn float(bytes: &[u8]) -> String {
    let (value, suffix) = as_double(bytes);
    let sign = if value.is_sign_negative() { "-" } else { "" };
    if value.is_nan() {
        format!("{sign}__builtin_nan{suffix}(\"\")")
    } else if value.is_infinite() {
        format!("{sign}__builtin_inf{suffix}()")
    } else {
        format!("{value:e}{suffix}")
    }
}

fn check_float(expr: &str, bytes: &[u8]) -> String {
    let (value, _) = as_double(bytes);
    if value.is_nan() { format!("{expr} != {expr}") } else { format!("{expr} == {}", float(bytes)) }
}

/// A string literal.
pub(super) fn string(bytes: &[u8]) -> String {
    let mut text = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => text.extend(['\\', char::from(*byte)]),
            // Keeps trigraphs away.
            b'?' => text.push_str("\\?"),
            b' '..=b'~' => text.push(char::from(*byte)),
            b'\n' => text.push_str("\\n"),
            b'\t' => text.push_str("\\t"),
            _ => text.push_str(&format!("\\{byte:03o}")),
        }
    }
    text.push('"');
    text
}
