//! The scalars that a value of a C type consists of, by their names and places.

use lydian_ir::{CType, CTypeId, CTypes};

/// The most scalars of a value that are compared.
const MOST_LEAVES: usize = 512;

/// A scalar within a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Leaf {
    /// What follows the value's name in C: `.x[2]`; nothing for a scalar.
    pub(super) path: String,
    /// Its type.
    pub(super) ty: CTypeId,
    /// Its offset in bits.
    pub(super) bit: u64,
    /// The width of a bit-field.
    pub(super) bits: Option<u16>,
}

/// The scalars of a type, in the order of memory.
///
/// # Errors
/// What cannot be compared: pointers, unions and others, in words that follow `has`.
pub(super) fn leaves(types: &CTypes, ty: CTypeId) -> Result<Vec<Leaf>, String> {
    let mut found = Vec::new();
    collect(types, (ty, String::new(), 0), &mut found)?;
    Ok(found)
}

fn collect(
    types: &CTypes,
    (ty, path, bit): (CTypeId, String, u64),
    out: &mut Vec<Leaf>,
) -> Result<(), String> {
    if out.len() >= MOST_LEAVES {
        return Err(format!("more than {MOST_LEAVES} members and elements"));
    }
    match types.get(ty) {
        CType::Int { bits, .. } if *bits <= 64 => {
            out.push(Leaf { path, ty, bit, bits: None });
            Ok(())
        }
        CType::Enum { .. } | CType::Float | CType::Double => {
            out.push(Leaf { path, ty, bit, bits: None });
            Ok(())
        }
        CType::Array { element, length: Some(length) } => {
            let size = types.size(*element).ok_or("an element of unknown size")? * 8;
            (0..*length).try_for_each(|at| {
                collect(types, (*element, format!("{path}[{at}]"), bit + at * size), out)
            })
        }
        CType::Record(record) if !types.records[*record].is_union => {
            types.records[*record].fields.iter().try_for_each(|field| match field.bits {
                // An unnamed bit-field has no value.
                Some(_) if field.name.is_empty() => Ok(()),
                Some(_) => {
                    let path = format!("{path}.{}", field.name);
                    out.push(Leaf {
                        path,
                        ty: field.ty,
                        bit: bit + field.bit_offset,
                        bits: field.bits,
                    });
                    Ok(())
                }
                None => {
                    let path = match field.name.is_empty() {
                        true => path.clone(),
                        false => format!("{path}.{}", field.name),
                    };
                    collect(types, (field.ty, path, bit + field.bit_offset), out)
                }
            })
        }
        CType::Record(_) => Err("a union".to_owned()),
        CType::Pointer { .. } => Err("a pointer".to_owned()),
        CType::Array { .. } => Err("an array of unknown length".to_owned()),
        _ => Err(format!("the type {}", types.spell(ty, ""))),
    }
}

impl Leaf {
    /// A scalar that is no part of another value.
    pub(super) const fn whole(ty: CTypeId) -> Self {
        Self { path: String::new(), ty, bit: 0, bits: None }
    }

    /// Whether its values are floats.
    pub(super) fn is_float(&self, types: &CTypes) -> bool {
        matches!(types.get(self.ty), CType::Float | CType::Double)
    }

    /// The C condition that two values of its type are not the same. All NaNs are one value; the two
    /// zeros are two.
    pub(super) fn differs(&self, types: &CTypes, a: &str, b: &str) -> String {
        match self.is_float(types) {
            true => format!(
                "!(({a} == {b} && !__builtin_signbit({a}) == !__builtin_signbit({b})) \
                 || ({a} != {a} && {b} != {b}))"
            ),
            false => format!("({a} != {b})"),
        }
    }

    /// Its value among the bytes of the whole, as C writes it; `None` where these are too few.
    pub(super) fn value(&self, types: &CTypes, bytes: &[u8]) -> Option<String> {
        let width = match self.bits {
            Some(bits) => u32::from(bits),
            None => (types.size(self.ty)? * 8) as u32,
        };
        let (from, shift) = ((self.bit / 8) as usize, (self.bit % 8) as u32);
        let end = from + (shift + width).div_ceil(8) as usize;
        let mut wide = [0; 16];
        let own = bytes.get(from..end)?;
        wide[..own.len()].copy_from_slice(own);
        let raw = (u128::from_le_bytes(wide) >> shift) & ((1 << width) - 1);
        Some(match types.get(self.ty) {
            CType::Float => float_text(f64::from(f32::from_bits(raw as u32))),
            CType::Double => float_text(f64::from_bits(raw as u64)),
            _ if types.is_signed(self.ty) => integer_text(sign_extended(raw, width)),
            _ => integer_text(raw as i128),
        })
    }
}

const fn sign_extended(raw: u128, width: u32) -> i128 {
    ((raw << (128 - width)) as i128) >> (128 - width)
}

/// An integer as C writes it where its type holds it.
fn integer_text(value: i128) -> String {
    if value == i128::from(i64::MIN) {
        return "(-9223372036854775807LL - 1)".to_owned();
    }
    let suffix = match value {
        _ if i32::try_from(value).is_ok_and(|small| small != i32::MIN) => "",
        _ if i64::try_from(value).is_ok() => "LL",
        _ => "ULL",
    };
    format!("{value}{suffix}")
}

fn float_text(value: f64) -> String {
    if value.is_nan() {
        return "__builtin_nan(\"\")".to_owned();
    }
    if value.is_infinite() {
        return if value > 0.0 { "__builtin_inf()" } else { "-__builtin_inf()" }.to_owned();
    }
    format!("{value:?}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_written_so_that_c_reads_the_same_value() {
        assert_eq!(integer_text(-5), "-5");
        assert_eq!(integer_text(i128::from(i32::MIN)), "-2147483648LL");
        assert_eq!(integer_text(i128::from(u64::MAX)), "18446744073709551615ULL");
        assert_eq!(integer_text(i128::from(i64::MIN)), "(-9223372036854775807LL - 1)");
    }

    #[test]
    fn the_sign_of_a_narrow_field_is_kept() {
        assert_eq!(sign_extended(0b111, 3), -1);
        assert_eq!(sign_extended(0b011, 3), 3);
    }
}
