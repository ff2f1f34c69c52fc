//! Reads the record layouts that `-fdump-record-layouts-complete` prints.
//!
//! Clang prints a layout when a record becomes complete, in the order of the text:
//!
//! ```text
//! *** Dumping AST Record Layout
//!          0 | struct s
//!          0 |   int x
//!          4 |   union (anonymous at <stdin>:2:25)
//!          4 |     int u
//!     8:0-2 |   unsigned int b
//!            | [sizeof=12, align=4]
//! ```
//!
//! Lines one step deeper than the first are the record's fields; deeper ones repeat the layouts of
//! nested records.

use crate::ctypes::Layout;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// How a record is found: its tag, or for one without a tag where its keyword stands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum RecordKey {
    Tag(Box<str>),
    At(u32, u32),
}

/// A field's place in a record.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FieldPlace {
    /// Its name; empty for anonymous records and unnamed bit-fields.
    pub(crate) name: Box<str>,
    /// Its type, as clang prints it; kept where the record has no tag.
    pub(crate) ty: Box<str>,
    /// Bits from the record's start.
    pub(crate) bit_offset: u64,
    /// How many bits a bit-field has.
    pub(crate) bit_width: Option<u32>,
}

/// A record's layout as clang prints it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RecordLayout {
    pub(crate) layout: Layout,
    pub(crate) fields: Vec<FieldPlace>,
    pub(crate) is_union: bool,
}

/// All layouts that clang printed, in order for each key.
#[derive(Debug, Default)]
pub(crate) struct RecordLayouts {
    by_key: FxHashMap<RecordKey, VecDeque<RecordLayout>>,
    reading: Option<Reading>,
}

#[derive(Debug)]
struct Reading {
    key: RecordKey,
    indent: usize,
    fields: Vec<FieldPlace>,
    is_union: bool,
}

impl Reading {
    fn begin(text: &str, indent: usize) -> Option<Self> {
        let key = record_key(text)?;
        let is_union = text.starts_with("union ");
        Some(Self { key, indent, fields: Vec::new(), is_union })
    }

    fn field(&mut self, place: &str, text: &str) {
        let Some(bit_offset) = bit_offset(place) else { return };
        let name = field_name(text);
        let ty = match self.key {
            RecordKey::At(..) => text.trim_start().strip_suffix(name).unwrap_or("").trim_end(),
            RecordKey::Tag(_) => "",
        };
        let bit_width = bit_width(place);
        let (name, ty) = (name.into(), ty.into());
        self.fields.push(FieldPlace { name, ty, bit_offset, bit_width });
    }
}

impl RecordLayouts {
    /// Takes in one line of clang's output.
    pub(crate) fn line(&mut self, line: &str) {
        let Some((place, text)) = line.split_once('|') else {
            if line.starts_with("***") {
                self.reading = None;
            }
            return;
        };
        let place = place.trim();
        if let Some(summary) = text.trim().strip_prefix("[sizeof=") {
            self.finish(summary);
            return;
        }
        let indent = text.len() - text.trim_start().len();
        match &mut self.reading {
            None => {
                self.reading = Reading::begin(text.trim(), indent);
            }
            Some(reading) if indent == reading.indent + 2 => {
                reading.field(place, text);
            }
            Some(_) => {}
        }
    }

    fn finish(&mut self, summary: &str) {
        let Some(Reading { key, fields, is_union, .. }) = self.reading.take() else { return };
        let number = |text: &str| {
            text.find(|c: char| !c.is_ascii_digit()).and_then(|end| text[..end].parse().ok())
        };
        let align = summary.split_once("align=").and_then(|(_, text)| number(text));
        if let (Some(size), Some(align)) = (number(summary), align) {
            let layout = RecordLayout { layout: Layout { size, align }, fields, is_union };
            self.by_key.entry(key).or_default().push_back(layout);
        }
    }

    /// Takes out the next layout of a record with these field names, in the order of the text.
    pub(crate) fn take(&mut self, key: &RecordKey, names: &[&str]) -> Option<RecordLayout> {
        let layouts = self.by_key.get_mut(key)?;
        let same = |layout: &RecordLayout| {
            layout.fields.iter().map(|f| &*f.name).eq(names.iter().copied())
        };
        let found = layouts.iter().position(same)?;
        layouts.remove(found)
    }

    /// Takes out the layout of the record without a tag whose keyword stands there.
    pub(crate) fn take_unnamed(&mut self, line: u32, column: u32) -> Option<RecordLayout> {
        self.by_key.get_mut(&RecordKey::At(line, column))?.pop_front()
    }

    /// The layout of the record without a tag whose keyword stands there.
    pub(crate) fn unnamed(&self, line: u32, column: u32) -> Option<Layout> {
        let found = self.by_key.get(&RecordKey::At(line, column))?.iter().next()?;
        Some(found.layout)
    }
}

/// Reads `struct s`, `union s::(unnamed at <stdin>:2:25)`.
fn record_key(text: &str) -> Option<RecordKey> {
    let name = text.strip_prefix("struct ").or_else(|| text.strip_prefix("union "))?.trim();
    if let Some(inside) = name.strip_suffix(')') {
        let mut parts = inside.rsplitn(3, ':');
        let column = parts.next()?.parse().ok()?;
        let line = parts.next()?.parse().ok()?;
        return Some(RecordKey::At(line, column));
    }
    let last = name.rsplit("::").next()?;
    Some(RecordKey::Tag(last.into()))
}

/// Reads `12`, or for bit-fields `12:0-2`, `12:-` (of width zero).
fn bit_offset(place: &str) -> Option<u64> {
    match place.split_once(':') {
        None => place.parse::<u64>().ok()?.checked_mul(8),
        Some((byte, bits)) => {
            let byte: u64 = byte.parse().ok()?;
            let first = bits.split('-').next()?;
            let bit: u64 = if first.is_empty() { 0 } else { first.parse().ok()? };
            byte.checked_mul(8)?.checked_add(bit)
        }
    }
}

/// How many bits `12:0-2` and `12:-` are; `None` for `12`.
fn bit_width(place: &str) -> Option<u32> {
    let (first, last) = place.split_once(':')?.1.split_once('-')?;
    match (first.parse::<u32>(), last.parse::<u32>()) {
        (Ok(first), Ok(last)) => Some(last + 1 - first),
        _ => Some(0),
    }
}

/// The name in `type name`: what follows the last space, nothing for anonymous members.
fn field_name(text: &str) -> &str {
    text.rsplit(' ').next().unwrap_or("")
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "
*** Dumping AST Record Layout
         0 | struct (unnamed at <stdin>:2:9)
         0 |   int x
         4 |   union (anonymous at <stdin>:2:25) 
         4 |     int u
         4 |     float f
         8 |   struct (unnamed at <stdin>:2:52) in
         8 |     int q
    12:0-2 |   unsigned int b
      13:- |   int 
           | [sizeof=16, align=4]
";

    #[test]
    fn fields_are_the_lines_one_step_deeper() {
        let mut layouts = RecordLayouts::default();
        DUMP.lines().for_each(|line| layouts.line(line));
        let names = ["x", "", "in", "b", ""];
        let found = layouts.take(&RecordKey::At(2, 9), &names).unwrap();
        assert_eq!(found.layout, Layout { size: 16, align: 4 });
        let offsets: Vec<u64> = found.fields.iter().map(|field| field.bit_offset).collect();
        assert_eq!(offsets, [0, 32, 64, 96, 104]);
        assert!(layouts.take(&RecordKey::At(2, 9), &names).is_none());
    }

    #[test]
    fn fields_of_a_record_without_a_tag_have_their_types() {
        let mut layouts = RecordLayouts::default();
        DUMP.lines().for_each(|line| layouts.line(line));
        let found = layouts.take_unnamed(2, 9).unwrap();
        let fields: Vec<_> = found.fields.iter().map(|f| (&*f.ty, f.bit_width)).collect();
        let unnamed = "struct (unnamed at <stdin>:2:52)";
        let anonymous = "union (anonymous at <stdin>:2:25)";
        let expected = [
            ("int", None),
            (anonymous, None),
            (unnamed, None),
            ("unsigned int", Some(3)),
            ("int", Some(0)),
        ];
        assert_eq!(fields, expected);
        assert!(!found.is_union);
    }

    #[test]
    fn layouts_of_one_tag_are_told_apart_by_order_and_field_names() {
        let mut layouts = RecordLayouts::default();
        for (field, size) in [("a", 1), ("b", 2), ("b", 3)] {
            layouts.line("*** Dumping AST Record Layout");
            layouts.line("         0 | struct s");
            layouts.line(&format!("         0 |   char {field}"));
            layouts.line(&format!("           | [sizeof={size}, align=1]"));
        }
        let key = RecordKey::Tag("s".into());
        assert_eq!(layouts.take(&key, &["b"]).unwrap().layout.size, 2);
        assert_eq!(layouts.take(&key, &["b"]).unwrap().layout.size, 3);
        assert_eq!(layouts.take(&key, &["a"]).unwrap().layout.size, 1);
    }
}
