//! Values as JSON, and back by their types.

use std::collections::BTreeMap;

use lydian_ir::libc::STREAMS;
use lydian_ir::test::{Image, ImagePointer, PointerTarget, TestObject};
use lydian_ir::{CType, CTypeId, CTypes, Field, Type, arith};
use serde_json::{Map, Value as Json, json};

use super::Fault;
use crate::suite::image::{ObservedImage, plain};
use crate::suite::value::{Pointer, Value, cut, is_byte, member, read, write};

/// Translates between images and JSON, with the objects that pointers name.
pub(super) struct Codec<'a> {
    types: &'a CTypes,
    objects: &'a [TestObject],
    /// Objects with a unique name, by name.
    by_name: BTreeMap<&'a str, u32>,
}

/// The text for an address that may change.
const UNKNOWN: &str = "?";

fn fault(why: impl Into<String>) -> Fault {
    (String::new(), why.into())
}

impl<'a> Codec<'a> {
    pub(super) fn new(types: &'a CTypes, objects: &'a [TestObject]) -> Self {
        let mut by_name: BTreeMap<&str, u32> = BTreeMap::new();
        let count = |name: &str| objects.iter().filter(|object| object.name == name).count();
        for (position, object) in objects.iter().enumerate() {
            if count(&object.name) == 1 {
                by_name.insert(&object.name, position as u32);
            }
        }
        Self { types, objects, by_name }
    }

    // ---- writing --------------------------------------------------------------------------------

    pub(super) fn encode(&self, ty: CTypeId, count: u64, memory: &ObservedImage) -> Json {
        self.value(&read(self.types, ty, count, memory))
    }

    pub(super) fn encode_bytes(&self, memory: &ObservedImage) -> Json {
        let image = plain(&memory.image);
        self.value(&Value::Raw(ObservedImage { image, ..memory.clone() }))
    }

    fn value(&self, value: &Value) -> Json {
        match value {
            Value::Int { bits, width, signed } => integer(*bits, *width, *signed),
            Value::Enumerator { name, .. } => json!(name),
            Value::Float(bits) => single(*bits),
            Value::Double(bits) => double(*bits),
            Value::OtherFloat(ty, bits) => other_float(*ty, *bits),
            Value::Pointer(pointer) => self.pointer(pointer),
            Value::Array(elements) => elements.iter().map(|value| self.value(value)).collect(),
            Value::Text(bytes) => text(bytes),
            Value::Struct(members) => {
                let members = members.iter();
                let named = members.map(|(name, value)| (name.clone(), self.value(value)));
                Json::Object(named.collect())
            }
            Value::Union(name, value) => json!({ name: self.value(value) }),
            Value::Raw(image) => self.raw(image),
        }
    }

    fn pointer(&self, pointer: &Pointer) -> Json {
        match pointer {
            Pointer::Null => Json::Null,
            Pointer::To(target) => json!(self.target(target)),
            Pointer::Bits(bits) => json!(format!("{bits:#x}")),
            Pointer::Unknown | Pointer::Block(..) => json!(UNKNOWN),
        }
    }

    fn raw(&self, raw: &ObservedImage) -> Json {
        let mut out = Map::new();
        out.insert("$bytes".into(), json!(hex(&raw.image.bytes)));
        let pointers = raw.image.pointers.iter().map(|p| (p.offset, self.target(&p.target)));
        let unknown = raw.unknown.iter().map(|at| (*at, UNKNOWN.to_owned()));
        let all: BTreeMap<u64, String> = pointers.chain(unknown).collect();
        if !all.is_empty() {
            let named = all.into_iter().map(|(at, target)| (at.to_string(), json!(target)));
            out.insert("$pointers".into(), Json::Object(named.collect()));
        }
        Json::Object(out)
    }

    /// The target of a pointer, as text.
    pub(super) fn target(&self, target: &PointerTarget) -> String {
        let plus = |text: String, offset: u64| match offset {
            0 => text,
            _ => format!("{text} + {offset}"),
        };
        match target {
            PointerTarget::Function(name) => format!("function {name}"),
            PointerTarget::Stream(name) => name.clone(),
            PointerTarget::Global(name, offset) => plus(format!("global {name}"), *offset),
            PointerTarget::Object(position, offset) => {
                let object = self.objects.get(*position as usize);
                let named = object.filter(|o| self.by_name.contains_key(o.name.as_str()));
                let Some(object) = named else {
                    return plus(format!("object {position}"), *offset);
                };
                let size = self.types.size(object.ty).unwrap_or(1).max(1);
                plus(format!("&{}[{}]", object.name, offset / size), offset % size)
            }
        }
    }

    // ---- reading --------------------------------------------------------------------------------

    pub(super) fn decode(
        &self,
        ty: CTypeId,
        count: u64,
        size: u64,
        json: &Json,
    ) -> Result<ObservedImage, Fault> {
        let mut memory = ObservedImage::zero(size);
        let value = if raw_size(json).is_some() {
            Value::Raw(self.decode_raw(json)?)
        } else if count == 1 {
            self.parse(ty, json)?
        } else {
            self.parse_array(ty, json)?
        };
        let written = write(self.types, ty, count, &value, &mut memory);
        written.map_err(|misfit| (misfit.path, misfit.why))?;
        self.settle(&mut memory.image);
        Ok(memory)
    }

    pub(super) fn decode_bytes(&self, json: &Json) -> Result<Image, Fault> {
        let mut image = self.decode_raw(json)?.image;
        self.settle(&mut image);
        Ok(image)
    }

    /// Gives pointers to objects their bytes.
    fn settle(&self, image: &mut Image) {
        for pointer in &image.pointers {
            let PointerTarget::Object(position, offset) = pointer.target else { continue };
            let address = self.objects[position as usize].address.wrapping_add(offset);
            let at = pointer.offset as usize;
            if let Some(bytes) = image.bytes.get_mut(at..at + 8) {
                bytes.copy_from_slice(&address.to_le_bytes());
            }
        }
    }

    fn parse(&self, ty: CTypeId, json: &Json) -> Result<Value, Fault> {
        if raw_size(json).is_some() {
            return Ok(Value::Raw(self.decode_raw(json)?));
        }
        match self.types.get(ty) {
            CType::Int { bits, signed, .. } => parse_integer(json, u16::from(*bits), *signed),
            CType::Enum { underlying, .. } => match json {
                Json::String(name)
                    if !name.starts_with(|c: char| c.is_ascii_digit() || c == '-') =>
                {
                    Ok(Value::Enumerator { name: name.clone(), is_zero: false })
                }
                _ => self.parse(*underlying, json),
            },
            CType::Float => parse_float(json).map(|(value, bits)| {
                Value::Float(bits.map_or((value as f32).to_bits(), |bits| bits as u32))
            }),
            CType::Double => parse_float(json)
                .map(|(value, bits)| Value::Double(bits.unwrap_or(value.to_bits()))),
            CType::Float16 => parse_other_float(Type::F16, json),
            CType::BFloat16 => parse_other_float(Type::BF16, json),
            CType::LongDouble => parse_other_float(Type::F80, json),
            CType::Pointer { .. } => self.parse_pointer(json).map(Value::Pointer),
            CType::Array { element, .. }
            | CType::Complex { element }
            | CType::Vector { element, .. } => self.parse_array(*element, json),
            CType::Record(record) => {
                let Json::Object(given) = json else {
                    return Err(fault("a struct or union is a JSON object"));
                };
                let mut members = Vec::new();
                for (name, value) in given {
                    let field = member(self.types, *record, name).map(|(field, _)| field);
                    members.push((name.clone(), self.parse_member(field, name, value)?));
                }
                if !self.types.records[*record].is_union {
                    return Ok(Value::Struct(members));
                }
                match members.pop() {
                    Some((name, value)) if members.is_empty() => {
                        Ok(Value::Union(name, Box::new(value)))
                    }
                    None => Ok(Value::Struct(Vec::new())),
                    Some(_) => Err(fault("a union has one member")),
                }
            }
            CType::Opaque { name, .. } => Err(fault(format!("a {name} is given by its $bytes"))),
            CType::Void | CType::Function { .. } => Err(fault("it has no value")),
        }
    }

    fn parse_member(&self, field: Option<&Field>, name: &str, json: &Json) -> Result<Value, Fault> {
        let value = match field {
            None if name.is_empty() && raw_size(json).is_some() => {
                self.decode_raw(json).map(Value::Raw)
            }
            None => Err(fault("there is no such member")),
            Some(Field { bits: Some(width), ty, .. }) => {
                parse_integer(json, *width, self.types.is_signed(*ty))
            }
            Some(field) => self.parse(field.ty, json),
        };
        value.map_err(super::inside(format!(".{name}")))
    }

    fn parse_array(&self, element: CTypeId, json: &Json) -> Result<Value, Fault> {
        if is_byte(self.types, element) {
            match json {
                Json::String(text) => return parse_text(text),
                Json::Object(object) => {
                    if let Some(Json::String(digits)) = object.get("$hex") {
                        return unhex(digits).map(Value::Text).map_err(fault);
                    }
                }
                _ => {}
            }
        }
        let Json::Array(elements) = json else { return Err(fault("an array is a JSON list")) };
        let mut values = Vec::new();
        for (index, element_json) in elements.iter().enumerate() {
            let value = self.parse(element, element_json);
            values.push(value.map_err(super::inside(format!("[{index}]")))?);
        }
        if !is_byte(self.types, element) {
            return Ok(Value::Array(values));
        }
        let byte = |value| if let Value::Int { bits, .. } = value { bits as u8 } else { 0 };
        Ok(Value::Text(values.into_iter().map(byte).collect()))
    }

    fn parse_pointer(&self, json: &Json) -> Result<Pointer, Fault> {
        match json {
            Json::Null => Ok(Pointer::Null),
            Json::String(text) if text == UNKNOWN => Ok(Pointer::Unknown),
            Json::String(text) => match text.strip_prefix("0x") {
                Some(digits) => {
                    let bits = u64::from_str_radix(digits, 16);
                    bits.map(Pointer::Bits).map_err(|_| fault(format!("'{text}' is no number")))
                }
                None => self.parse_target(text).map(Pointer::To).map_err(fault),
            },
            _ => Err(fault("a pointer is null or a string like \"&name[0]\"")),
        }
    }

    /// Reads a text of [`Self::target`].
    pub(super) fn parse_target(&self, text: &str) -> Result<PointerTarget, String> {
        let split = text.rsplit_once(" + ");
        let offset = split.and_then(|(_, digits)| digits.trim().parse::<u64>().ok());
        let (place, offset) = match (split, offset) {
            (Some((place, _)), Some(offset)) => (place, offset),
            _ => (text, 0),
        };
        if STREAMS.contains(&text) {
            return Ok(PointerTarget::Stream(text.into()));
        }
        if let Some(name) = text.strip_prefix("function ") {
            return Ok(PointerTarget::Function(name.trim().into()));
        }
        if let Some(name) = place.strip_prefix("global ") {
            return Ok(PointerTarget::Global(name.trim().into(), offset));
        }
        let (position, index) = if let Some(number) = place.strip_prefix("object ") {
            let number = number.trim().parse::<u32>().ok();
            (number.filter(|at| (*at as usize) < self.objects.len()), 0)
        } else if let Some(name) = place.strip_prefix('&') {
            self.named_element(name.trim())
        } else {
            return Err(format!("'{text}' is no pointer: write null or \"&name[0]\""));
        };
        let position = position.ok_or_else(|| format!("the test has no object for '{text}'"))?;
        let object = &self.objects[position as usize];
        let size = self.types.size(object.ty).unwrap_or(1).max(1);
        let offset = size.checked_mul(index).and_then(|start| start.checked_add(offset));
        let end = object.image.bytes.len() as u64;
        let inside = offset.filter(|offset| *offset <= end);
        let offset = inside.ok_or_else(|| format!("'{text}' is beyond the end of the object"))?;
        Ok(PointerTarget::Object(position, offset))
    }

    /// `name[3]`, and `name` for its first element.
    fn named_element(&self, text: &str) -> (Option<u32>, u64) {
        let split = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
        if let Some((name, digits)) = split
            && let Ok(index) = digits.parse::<u64>()
            && let Some(position) = self.by_name.get(name)
        {
            return (Some(*position), index);
        }
        (self.by_name.get(text).copied(), 0)
    }

    fn decode_raw(&self, json: &Json) -> Result<ObservedImage, Fault> {
        let digits = json.get("$bytes").and_then(Json::as_str).unwrap_or("");
        let bytes = unhex(digits).map_err(|why| ("$bytes".to_owned(), why))?;
        let length = bytes.len() as u64;
        let mut raw = ObservedImage::from(Image { bytes, pointers: Vec::new() });
        let given = json.get("$pointers").and_then(Json::as_object);
        for (offset, target) in given.into_iter().flatten() {
            let wrong = |why: String| (format!("$pointers.{offset}"), why);
            let text = target.as_str().ok_or_else(|| wrong("it is no string".into()))?;
            let at = offset.parse::<u64>().ok();
            let at = at.ok_or_else(|| wrong("it is no offset in bytes".into()))?;
            if at.checked_add(8).is_none_or(|end| end > length) {
                return Err(wrong("there is no room for it in the bytes".into()));
            }
            if text == UNKNOWN {
                raw.unknown.push(at);
            } else {
                let target = self.parse_target(text).map_err(wrong)?;
                raw.image.pointers.push(ImagePointer { offset: at, target });
            }
        }
        Ok(raw)
    }
}

/// The number of bytes of a raw value; `None` for other values.
pub(super) fn raw_size(json: &Json) -> Option<u64> {
    Some(json.get("$bytes")?.as_str()?.len() as u64 / 2)
}

fn integer(bits: u128, width: u16, signed: bool) -> Json {
    let negative = signed && width > 0 && bits >> (width - 1) & 1 == 1;
    if !negative {
        return u64::try_from(bits).map_or_else(|_| json!(bits.to_string()), |small| json!(small));
    }
    let value = (bits | !cut(u128::MAX, width)) as i128;
    i64::try_from(value).map_or_else(|_| json!(value.to_string()), |small| json!(small))
}

fn parse_integer(json: &Json, width: u16, signed: bool) -> Result<Value, Fault> {
    let given: Option<(bool, u128)> = match json {
        Json::Bool(value) => Some((false, u128::from(*value))),
        Json::Number(number) => (number.as_u64().map(|value| (false, value.into())))
            .or_else(|| number.as_i64().map(|value| (true, i128::from(value) as u128))),
        Json::String(text) => (text.parse::<u128>().ok().map(|value| (false, value)))
            .or_else(|| text.parse::<i128>().ok().map(|value| (true, value as u128))),
        _ => None,
    };
    let (negative, bits) = given.ok_or_else(|| fault("it is no integer"))?;
    let fits = match (negative, signed) {
        (true, false) => false,
        (true, true) => (bits as i128) >> (width - 1).min(127) == -1,
        (false, true) => bits >> (width - 1).min(127) == 0,
        (false, false) => cut(bits, width) == bits,
    };
    if !fits {
        let kind = if signed { "signed" } else { "unsigned" };
        return Err(fault(format!("{json} does not fit {width} {kind} bits")));
    }
    Ok(Value::Int { bits: cut(bits, width), width, signed })
}

/// The shortest number that reads back, or a word.
fn double(bits: u64) -> Json {
    let value = f64::from_bits(bits);
    if value.is_finite() {
        return json!(value);
    }
    special(value, bits, f64::NAN.to_bits())
}

fn single(bits: u32) -> Json {
    let value = f32::from_bits(bits);
    if value.is_finite() {
        let short = value.to_string().parse::<f64>().unwrap_or(value.into());
        let short = if (short as f32).to_bits() == bits { short } else { f64::from(value) };
        return json!(short);
    }
    special(value.into(), bits.into(), f32::NAN.to_bits().into())
}

/// A number if a binary64 expresses it exactly; else its digits, or its bits if it is no number.
fn other_float(ty: Type, bits: u128) -> Json {
    let value = arith::to_f64(ty, bits);
    if value.is_finite() && arith::float_bits(ty, value) == bits {
        return json!(value);
    }
    match arith::print_float(ty, bits) {
        Some(digits) => json!(digits),
        None if value.is_nan() && bits != arith::nan(ty) => json!(format!("nan:{bits:#x}")),
        None => special(value, f64::NAN.to_bits(), f64::NAN.to_bits()),
    }
}

fn parse_other_float(ty: Type, json: &Json) -> Result<Value, Fault> {
    let bits = match json {
        Json::String(text) => match text.strip_prefix("nan:0x") {
            Some(digits) => u128::from_str_radix(digits, 16).ok(),
            None => arith::parse_float(ty, text),
        },
        Json::Number(number) => number.as_f64().map(|value| arith::float_bits(ty, value)),
        _ => None,
    };
    let bits = bits.filter(|bits| arith::truncate(ty, *bits) == *bits);
    bits.map(|bits| Value::OtherFloat(ty, bits)).ok_or_else(|| fault("it is no number"))
}

fn special(value: f64, bits: u64, nan: u64) -> Json {
    match (value.is_nan(), value > 0.0) {
        (true, _) if bits == nan => json!("nan"),
        (true, _) => json!(format!("nan:{bits:#x}")),
        (false, true) => json!("inf"),
        (false, false) => json!("-inf"),
    }
}

/// A float, and its bits if it is a NaN with bits of its own.
fn parse_float(json: &Json) -> Result<(f64, Option<u64>), Fault> {
    let text = match json {
        Json::Number(number) => {
            return number.as_f64().map(|v| (v, None)).ok_or_else(|| fault("it is no float"));
        }
        Json::String(text) => text.as_str(),
        _ => return Err(fault("it is no number")),
    };
    match (text, text.strip_prefix("nan:0x")) {
        ("inf", _) => Ok((f64::INFINITY, None)),
        ("-inf", _) => Ok((f64::NEG_INFINITY, None)),
        ("nan", _) => Ok((f64::NAN, None)),
        (_, Some(digits)) => {
            let bits = u64::from_str_radix(digits, 16);
            bits.map(|bits| (f64::NAN, Some(bits))).map_err(|_| fault("these are no bits of a NaN"))
        }
        _ => Err(fault(format!("'{text}' is no number"))),
    }
}

/// Bytes as a string, or as hexadecimal digits if few of them are characters.
fn text(bytes: &[u8]) -> Json {
    let readable = |byte: &&u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t' | b'\r');
    let strange = bytes.iter().filter(|byte| !readable(byte)).count();
    if strange * 4 > bytes.len() {
        return json!({ "$hex": hex(bytes) });
    }
    Json::String(bytes.iter().map(|byte| char::from(*byte)).collect())
}

fn parse_text(text: &str) -> Result<Value, Fault> {
    let byte = |c: char| {
        u8::try_from(u32::from(c))
            .map_err(|_| fault(format!("'{c}' is more than one byte; write its bytes as \\u00XX")))
    };
    text.chars().map(byte).collect::<Result<_, _>>().map(Value::Text)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(digits: &str) -> Result<Vec<u8>, String> {
    let why = || "it is no even number of hexadecimal digits".to_owned();
    let digits: Vec<u32> =
        digits.chars().map(|c| c.to_digit(16)).collect::<Option<_>>().ok_or_else(why)?;
    if !digits.len().is_multiple_of(2) {
        return Err(why());
    }
    Ok(digits.chunks(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect())
}
