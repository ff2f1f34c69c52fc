//! Decodes structs, unions, enumerations and typedefs.

use super::Decoder;
use super::node::{Id, Node};
use crate::ast::{
    BoundOwner, EnumConstant, EnumDecl, EnumId, FieldDecl, FieldRef, RecordDecl, RecordId,
    RecordKind, TypedefDecl, TypedefId,
};
use crate::ctypes::{CType, IntKind, QualType, TypeId};
use crate::layout::records::RecordKey;

impl Decoder<'_> {
    /// Decodes a struct or union: a declaration, or the definition with its fields.
    pub(super) fn record(&mut self, node: &Node<'_>) -> RecordId {
        let tag = node.name.as_deref().filter(|tag| !tag.is_empty());
        let record = self.record_of(node, tag);
        self.scopes.declare_id(node.id, CType::Record(record));
        if node.complete {
            self.unit.records[record].span = self.span(node);
            self.unit.records[record].in_system_header = self.is_system(node);
            self.fields(node, record);
            self.lay_out(node, tag, record);
        }
        record
    }

    /// The record that a declaration declares, made when it is a new one.
    fn record_of(&mut self, node: &Node<'_>, tag: Option<&str>) -> RecordId {
        let earlier = [node.id, node.previous].map(|id| self.scopes.tag_by_id(id));
        // Without an earlier declaration a tag is new, except that a type string may have named
        // it already.
        let known = earlier.into_iter().flatten().next();
        let known = known.or_else(|| {
            let named = self.scopes.tag_in_this_scope(tag?)?;
            self.scopes.at_file_scope().then_some(named)
        });
        if let Some(CType::Record(record)) = known {
            return *record;
        }
        let kind = match node.tag {
            Some("union") => RecordKind::Union,
            _ => RecordKind::Struct,
        };
        let name_span = self.name_span(node);
        let record = self.unit.records.push(RecordDecl {
            kind,
            tag: tag.map(Into::into),
            typedef_name: None,
            fields: Vec::new(),
            layout: None,
            span: self.span(node),
            in_system_header: self.is_system(node),
            is_local: !self.scopes.at_file_scope(),
        });
        match tag {
            Some(tag) => self.scopes.declare_tag(tag, CType::Record(record)),
            None => self.scopes.declare_anonymous(name_span.start, CType::Record(record)),
        }
        record
    }

    fn fields(&mut self, node: &Node<'_>, record: RecordId) {
        let mut fields = Vec::new();
        for child in &node.inner {
            match child.kind {
                "FieldDecl" => {
                    let index = fields.len() as u32;
                    self.fields.insert(child.id, FieldRef { record, index });
                    let field = self.field(child);
                    fields.push(field);
                }
                "RecordDecl" | "EnumDecl" => self.declaration_inside(child),
                // Attributes, comments, and the members of anonymous members once more.
                _ => {}
            }
        }
        self.unit.records[record].fields = fields;
    }

    /// A type that is declared inside of a record belongs to the scope around it.
    fn declaration_inside(&mut self, node: &Node<'_>) {
        match node.kind {
            "RecordDecl" => drop(self.record(node)),
            _ => drop(self.enumeration(node)),
        }
    }

    fn field(&mut self, node: &Node<'_>) -> FieldDecl {
        let width = if node.bit_field { self.constant_child(node) } else { None };
        FieldDecl {
            name: node.name.as_deref().filter(|name| !name.is_empty()).map(Into::into),
            ty: self.type_of(node),
            written: node.ty.as_ref().map_or("", |ty| &ty.written).into(),
            bit_offset: 0,
            bit_width: width.and_then(|width| u32::try_from(width).ok()),
            span: self.span(node),
        }
    }

    /// The value of the first expression among a node's children.
    fn constant_child(&mut self, node: &Node<'_>) -> Option<i128> {
        let child = node.inner.iter().find(|child| child.value_category.is_some())?;
        if let (Some(value), "ConstantExpr") = (&child.value, child.kind) {
            return value.integer();
        }
        let expr = self.expr(child);
        self.unit.const_eval(expr)
    }

    /// Takes over the layout that clang printed.
    fn lay_out(&mut self, node: &Node<'_>, tag: Option<&str>, record: RecordId) {
        let key = match tag {
            Some(tag) => RecordKey::Tag(tag.into()),
            None => {
                let (line, column) = self.scopes.line_and_column(self.name_span(node).start);
                RecordKey::At(line, column)
            }
        };
        let decl = &mut self.unit.records[record];
        let names: Vec<&str> =
            decl.fields.iter().map(|field| field.name.as_deref().unwrap_or("")).collect();
        let Some(found) = self.layouts.take(&key, &names) else { return };
        decl.layout = Some(found.layout);
        for (field, place) in decl.fields.iter_mut().zip(found.fields) {
            field.bit_offset = place.bit_offset;
        }
    }

    /// Whether a record is a union.
    pub(super) fn is_union(&self, record: RecordId) -> bool {
        self.unit.records[record].kind == RecordKind::Union
    }

    /// Decodes an enumeration and its constants.
    pub(super) fn enumeration(&mut self, node: &Node<'_>) -> EnumId {
        let tag = node.name.as_deref().filter(|tag| !tag.is_empty());
        let id = self.enum_of(node, tag);
        self.scopes.declare_id(node.id, CType::Enum(id));
        let fixed = node.underlying.as_deref().map(|ty| self.resolve(ty).ty);
        if let Some(fixed) = fixed {
            self.unit.enums[id].underlying = Some(fixed);
        }
        let is_constant = |child: &&Node<'_>| child.kind == "EnumConstantDecl";
        if node.inner.iter().any(|child| is_constant(&child)) {
            self.unit.enums[id].span = self.span(node);
            let mut previous: i128 = -1;
            let mut values = Vec::new();
            for child in node.inner.iter().filter(is_constant) {
                let given = self.constant_child(child);
                let value = given.unwrap_or_else(|| previous.wrapping_add(1));
                previous = value;
                values.push(value);
                self.enum_constant(child, id, value);
            }
            if fixed.is_none() {
                let packed = node.inner.iter().any(|child| child.kind == "PackedAttr");
                let small = packed || self.unit.target.short_enums;
                self.unit.enums[id].underlying = Some(self.enum_type(&values, small));
            }
        }
        id
    }

    fn enum_of(&mut self, node: &Node<'_>, tag: Option<&str>) -> EnumId {
        let earlier = [node.id, node.previous].map(|id| self.scopes.tag_by_id(id));
        let known = earlier.into_iter().flatten().next();
        let known = known.or_else(|| {
            let named = self.scopes.tag_in_this_scope(tag?)?;
            self.scopes.at_file_scope().then_some(named)
        });
        if let Some(CType::Enum(id)) = known {
            return *id;
        }
        let name_span = self.name_span(node);
        let id = self.unit.enums.push(EnumDecl {
            tag: tag.map(Into::into),
            typedef_name: None,
            underlying: None,
            constants: Vec::new(),
            span: self.span(node),
            in_system_header: self.is_system(node),
        });
        match tag {
            Some(tag) => self.scopes.declare_tag(tag, CType::Enum(id)),
            None => self.scopes.declare_anonymous(name_span.start, CType::Enum(id)),
        }
        id
    }

    fn enum_constant(&mut self, node: &Node<'_>, parent: EnumId, value: i128) {
        let constant = EnumConstant {
            name: node.name.as_deref().unwrap_or("").into(),
            value,
            ty: self.type_of(node),
            parent,
            span: self.span(node),
        };
        let id = self.unit.enum_constants.push(constant);
        self.unit.enums[parent].constants.push(id);
        self.enum_constants.insert(node.id, id);
    }

    /// The integer type that clang gives to an enumeration with these values: `unsigned int` or
    /// `int` if they fit, else a wider one; the smallest that fits when it is packed.
    fn enum_type(&mut self, values: &[i128], small: bool) -> TypeId {
        use IntKind::{Int, Long, LongLong, SChar, Short, UChar, UInt, ULong, ULongLong, UShort};
        let negative = values.iter().any(|value| *value < 0);
        let candidates: &[IntKind] = match (negative, small) {
            (true, true) => &[SChar, Short, Int, Long, LongLong],
            (true, false) => &[Int, Long, LongLong],
            (false, true) => &[UChar, UShort, UInt, ULong, ULongLong],
            (false, false) => &[UInt, ULong, ULongLong],
        };
        let mut chosen = QualType::plain(self.unit.types.intern(CType::Int(candidates[0])));
        for kind in candidates {
            chosen = QualType::plain(self.unit.types.intern(CType::Int(*kind)));
            let fits = |value: &i128| self.unit.wrap_to(*value, chosen) == Some(*value);
            if values.iter().all(fits) {
                break;
            }
        }
        chosen.ty
    }

    /// Decodes a typedef. The first typedef of a record without a tag names it.
    pub(super) fn typedef(&mut self, node: &Node<'_>) -> TypedefId {
        let name = node.name.as_deref().unwrap_or("");
        if let Some(tag) = tagged_type(&node.inner) {
            self.name_tagless(tag, name);
        }
        let ty = self.type_of(node);
        let alignment = self.alignment(node);
        self.scopes.declare_typedef(node.id, name, ty);
        if let Some(alignment) = alignment {
            self.aligned_typedefs.insert(name.into(), alignment);
        }
        let span = self.span(node);
        let id = self.unit.typedefs.push(TypedefDecl {
            name: name.into(),
            ty,
            written: node.ty.as_ref().map_or("", |ty| &ty.written).into(),
            alignment,
            span,
            in_system_header: self.is_system(node),
        });
        if !self.scopes.at_file_scope() {
            self.note_bounds(BoundOwner::Typedef(id), name, node.ty.as_ref());
        }
        id
    }

    fn name_tagless(&mut self, tag: Id, name: &str) {
        let Some(ty) = self.scopes.tag_by_id(tag).cloned() else { return };
        let (own_tag, typedef_name) = match ty {
            CType::Record(id) => {
                let decl = &mut self.unit.records[id];
                (&decl.tag, &mut decl.typedef_name)
            }
            CType::Enum(id) => {
                let decl = &mut self.unit.enums[id];
                (&decl.tag, &mut decl.typedef_name)
            }
            _ => return,
        };
        if own_tag.is_none() && typedef_name.is_none() {
            *typedef_name = Some(name.into());
            // The type exists from here on, so that the typedef's own string resolves.
            self.unit.types.intern(ty.clone());
            self.scopes.name_by_typedef(name, ty);
        }
    }
}

/// The record or enumeration that a typedef's type is, not counting those behind pointers.
fn tagged_type(types: &[Node<'_>]) -> Option<Id> {
    types.iter().find_map(|node| match node.kind {
        "RecordType" | "EnumType" => node.decl.as_deref().map(|decl| decl.id),
        "ElaboratedType" | "QualType" | "AttributedType" => tagged_type(&node.inner),
        _ => None,
    })
}
