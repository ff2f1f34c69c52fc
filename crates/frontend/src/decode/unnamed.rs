//! Structs and unions without a tag that an expression declares, as in
//! `((union { double f; uint64_t i; }){ x }).i`.
//!
//! Clang's JSON has no declaration of them, only their place in type strings and the names of their
//! members. Their layouts are printed all the same, with the types of the members, and are all that
//! is needed.

use super::Decoder;
use super::node::{Node, Str, TypeRef};
use crate::ast::{FieldDecl, FieldRef, RecordDecl, RecordId, RecordKind};
use crate::ctypes::{CType, QualType};
use crate::layout::records::RecordLayout;
use lydian_base::Span;

/// The text that clang writes before the line and column of a record without a tag.
const PLACE: &str = " at <stdin>:";

impl Decoder<'_> {
    /// Declares the records without a tag that a type string names and that nothing has declared.
    /// False if there is none.
    pub(super) fn declare_unnamed(&mut self, type_text: &str) -> bool {
        let mut declared = false;
        for (at, _) in type_text.match_indices(PLACE) {
            let Some(place) = type_text[at + PLACE.len()..].split(')').next() else { continue };
            let Some((line, column)) = place.split_once(':') else { continue };
            if let (Ok(line), Ok(column)) = (line.parse(), column.parse()) {
                declared |= self.declare_at(line, column);
            }
        }
        declared
    }

    /// Declares the record whose keyword stands at a line and column as its layout shows it.
    fn declare_at(&mut self, line: u32, column: u32) -> bool {
        let Some(offset) = self.scopes.offset(line, column) else { return false };
        if self.scopes.has_anonymous(offset) {
            return false;
        }
        let Some(RecordLayout { layout, fields, is_union }) =
            self.layouts.take_unnamed(line, column)
        else {
            return false;
        };
        let fields = fields.into_iter().map(|field| FieldDecl {
            name: Some(field.name).filter(|name| !name.is_empty()),
            ty: self.printed_type(&field.ty),
            written: field.ty,
            bit_offset: field.bit_offset,
            bit_width: field.bit_width,
            span: Span::NONE,
        });
        let fields = fields.collect();
        let record = self.unit.records.push(RecordDecl {
            kind: if is_union { RecordKind::Union } else { RecordKind::Struct },
            tag: None,
            typedef_name: None,
            fields,
            layout: Some(layout),
            span: Span::new(offset, offset),
            in_system_header: self.source.is_system(offset),
            is_local: false,
        });
        self.scopes.declare_anonymous(offset, CType::Record(record));
        true
    }

    fn printed_type(&mut self, text: &str) -> QualType {
        let written = Str(text.to_owned().into());
        self.resolve(&TypeRef { written, ..TypeRef::default() })
    }

    /// The member that an expression names by the id of a declaration that clang did not print.
    pub(super) fn member_by_name(&self, node: &Node<'_>, base: QualType) -> Option<FieldRef> {
        let base = self.unit.types.pointee(base.ty).unwrap_or(base);
        let CType::Record(record) = *self.unit.ty(base) else { return None };
        self.field_by_name(record, node.name.as_deref().unwrap_or(""))
    }

    /// A member by its name; one without a name if it is the only one of the record.
    pub(super) fn field_by_name(&self, record: RecordId, name: &str) -> Option<FieldRef> {
        let fields = &self.unit.records[record].fields;
        let is_bits = |field: &FieldDecl| field.name.is_none() && field.bit_width.is_some();
        let mut found = fields
            .iter()
            .enumerate()
            .filter(|(_, field)| field.name.as_deref().unwrap_or("") == name && !is_bits(field));
        let (index, _) = found.next()?;
        found.next().is_none().then_some(FieldRef { record, index: index as u32 })
    }
}
