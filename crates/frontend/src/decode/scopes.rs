//! Scopes: the meaning of the names in clang's type strings at the decoder's place.
//!
//! A name in a type string is resolved as C resolves it: from the innermost scope outwards. Clang
//! names a record without a tag by its typedef or by its place; both are kept here. Resolved
//! strings are remembered, for as long as no local declaration can give them another meaning.

use super::bounds::Insertions;
use super::node::Id;
use super::text_expr::type_of_text;
use crate::ast::{EnumDecl, EnumId, RecordDecl, RecordId, RecordKind, TranslationUnit};
use crate::ctypes::{
    CType, CTypes, Layout, QualType, TagKind, TagName, TypeNames, parse_type, parse_type_prefix,
};
use lydian_base::{Arena, Span};
use lydian_ir::{Target, variadic::list_bytes};
use rustc_hash::FxHashMap;

/// The names of one scope.
#[derive(Debug, Default)]
struct Scope {
    tags: FxHashMap<Box<str>, CType>,
    typedefs: FxHashMap<Box<str>, QualType>,
    /// Records and enumerations without a tag, by the typedef that clang prints as their tag.
    named_by_typedef: FxHashMap<Box<str>, CType>,
    vars: FxHashMap<Box<str>, QualType>,
}

/// All scopes around the current place, the file's first.
#[derive(Debug)]
pub(super) struct Scopes {
    scopes: Vec<Scope>,
    /// Records and enumerations without a tag, by the offset of their keyword.
    anonymous: FxHashMap<u32, CType>,
    /// Records and enumerations by clang's id.
    by_id: FxHashMap<Id, CType>,
    typedef_by_id: FxHashMap<Id, QualType>,
    line_starts: Vec<u32>,
    /// The insertions in the text whose lines these are.
    pub(super) insertions: Insertions,
    remembered: FxHashMap<Box<str>, QualType>,
    /// The same while some local type hides or adds a name.
    remembered_locally: FxHashMap<Box<str>, QualType>,
    local_types: usize,
}

impl Scopes {
    pub(super) fn new(text: &str) -> Self {
        let newlines = memchr::memchr_iter(b'\n', text.as_bytes());
        let line_starts = std::iter::once(0).chain(newlines.map(|at| at as u32 + 1)).collect();
        Self {
            scopes: vec![Scope::default()],
            anonymous: FxHashMap::default(),
            by_id: FxHashMap::default(),
            typedef_by_id: FxHashMap::default(),
            line_starts,
            insertions: Insertions::default(),
            remembered: FxHashMap::default(),
            remembered_locally: FxHashMap::default(),
            local_types: 0,
        }
    }

    pub(super) fn enter(&mut self) {
        self.scopes.push(Scope::default());
    }

    pub(super) fn leave(&mut self) {
        if self.scopes.len() > 1
            && let Some(scope) = self.scopes.pop()
        {
            let types = scope.tags.len() + scope.typedefs.len() + scope.named_by_typedef.len();
            if types > 0 {
                self.local_types = self.local_types.saturating_sub(types);
                self.remembered_locally.clear();
            }
        }
    }

    pub(super) fn at_file_scope(&self) -> bool {
        self.scopes.len() == 1
    }

    /// Whether a type is declared in a function around the current place.
    pub(super) const fn has_local_types(&self) -> bool {
        self.local_types > 0
    }

    /// Line and column, both from 1, that clang prints for an offset.
    pub(super) fn line_and_column(&self, offset: u32) -> (u32, u32) {
        let offset = self.insertions.longer_offset(offset);
        let line = self.line_starts.partition_point(|start| *start <= offset);
        let start = self.line_starts[line.saturating_sub(1)];
        (line as u32, offset - start + 1)
    }

    /// The offset of a line and column that clang prints.
    pub(super) fn offset(&self, line: u32, column: u32) -> Option<u32> {
        let start = self.line_starts.get(line.checked_sub(1)? as usize)?;
        let offset = start.checked_add(column.checked_sub(1)?)?;
        Some(self.insertions.original_offset(offset))
    }

    pub(super) fn tag_by_id(&self, id: Id) -> Option<&CType> {
        self.by_id.get(&id)
    }

    /// The record or enumeration of this name in the innermost scope only.
    pub(super) fn tag_in_this_scope(&self, name: &str) -> Option<&CType> {
        self.scopes.last()?.tags.get(name)
    }

    pub(super) fn declare_id(&mut self, id: Id, ty: CType) {
        self.by_id.insert(id, ty);
    }

    pub(super) fn declare_anonymous(&mut self, offset: u32, ty: CType) {
        self.anonymous.insert(offset, ty);
    }

    /// Whether a record or enumeration without a tag is known whose keyword stands there.
    pub(super) fn has_anonymous(&self, offset: u32) -> bool {
        self.anonymous.contains_key(&offset)
    }

    pub(super) fn declare_tag(&mut self, name: &str, ty: CType) {
        if let Some(scope) = self.scopes.last_mut() {
            let new = scope.tags.insert(name.into(), ty).is_none();
            self.declared_type(new);
        }
    }

    pub(super) fn declare_typedef(&mut self, id: Id, name: &str, ty: QualType) {
        self.typedef_by_id.insert(id, ty);
        if let Some(scope) = self.scopes.last_mut() {
            let new = scope.typedefs.insert(name.into(), ty).is_none();
            self.declared_type(new);
        }
    }

    pub(super) fn name_by_typedef(&mut self, name: &str, ty: CType) {
        if let Some(scope) = self.scopes.last_mut() {
            let new = scope.named_by_typedef.insert(name.into(), ty).is_none();
            self.declared_type(new);
        }
    }

    pub(super) fn declare_var(&mut self, name: &str, ty: QualType) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.vars.insert(name.into(), ty);
        }
    }

    fn declared_type(&mut self, new: bool) {
        if !self.at_file_scope() {
            self.local_types += usize::from(new);
            self.remembered_locally.clear();
        }
    }

    fn innermost<T>(&self, find: impl Fn(&Scope) -> Option<T>) -> Option<T> {
        self.scopes.iter().rev().find_map(find)
    }

    fn recall(&self, text: &str) -> Option<QualType> {
        let memory =
            if self.local_types == 0 { &self.remembered } else { &self.remembered_locally };
        memory.get(text).copied()
    }

    fn remember(&mut self, text: &str, ty: QualType) {
        // What `typeof` means depends on variables, which come and go.
        if text.contains("typeof") {
            return;
        }
        let memory =
            if self.local_types == 0 { &mut self.remembered } else { &mut self.remembered_locally };
        memory.insert(text.into(), ty);
    }
}

/// The type that a string stands for at the current place. The string is clang's.
pub(super) fn resolve(unit: &mut TranslationUnit, scopes: &mut Scopes, text: &str) -> QualType {
    if let Some(known) = scopes.recall(text) {
        return known;
    }
    let ty = with_names(unit, scopes, |types, names| parse_type(text, types, names));
    if !matches!(unit.types.get(ty.ty), CType::Unsupported(_)) {
        scopes.remember(text, ty);
    }
    ty
}

/// The type that `text`, written by the user, begins with, and the rest of the text.
pub(super) fn resolve_prefix<'t>(
    unit: &mut TranslationUnit,
    scopes: &mut Scopes,
    text: &'t str,
) -> Option<(QualType, &'t str)> {
    with_names(unit, scopes, |types, names| parse_type_prefix(text, types, names))
}

fn with_names<T>(
    unit: &mut TranslationUnit,
    scopes: &mut Scopes,
    read: impl FnOnce(&mut CTypes, &mut Resolver<'_>) -> T,
) -> T {
    let TranslationUnit { types, records, enums, .. } = unit;
    let mut names = Resolver { scopes, records, enums, new_tags: Vec::new() };
    let result = read(types, &mut names);
    for (name, ty) in names.new_tags {
        scopes.scopes[0].tags.insert(name, ty);
    }
    result
}

/// Resolves names for the reader of type strings.
pub(super) struct Resolver<'a> {
    scopes: &'a Scopes,
    records: &'a mut Arena<RecordId, RecordDecl>,
    enums: &'a mut Arena<EnumId, EnumDecl>,
    /// Tags that were met for the first time, to be declared at file scope.
    new_tags: Vec<(Box<str>, CType)>,
}

impl Resolver<'_> {
    /// The type of the variable of this name.
    pub(super) fn var(&self, name: &str) -> Option<QualType> {
        self.scopes.innermost(|scope| scope.vars.get(name).copied())
    }

    /// The type of a record's field, found through anonymous members too.
    pub(super) fn field(&self, types: &CTypes, record: RecordId, name: &str) -> Option<QualType> {
        let found = find_field(self.records, types, record, name)?;
        Some(found.0)
    }
}

/// The type of a field and its distance in bits from the record's start, found through anonymous
/// members too.
pub(super) fn find_field(
    records: &Arena<RecordId, RecordDecl>,
    types: &CTypes,
    record: RecordId,
    name: &str,
) -> Option<(QualType, u64)> {
    records[record].fields.iter().find_map(|field| match (&field.name, types.get(field.ty.ty)) {
        (Some(own), _) => (&**own == name).then_some((field.ty, field.bit_offset)),
        (None, CType::Record(inner)) => {
            let (ty, offset) = find_field(records, types, *inner, name)?;
            Some((ty, field.bit_offset + offset))
        }
        (None, _) => None,
    })
}

impl TypeNames for Resolver<'_> {
    fn tag(&mut self, kind: TagKind, name: TagName<'_>) -> Option<CType> {
        let name = match name {
            TagName::Named(name) => name,
            TagName::At(line, column) => {
                let offset = self.scopes.offset(line, column)?;
                return self.scopes.anonymous.get(&offset).cloned();
            }
        };
        let fits = |ty: &CType| match ty {
            CType::Record(id) => match self.records[*id].kind {
                RecordKind::Struct => kind == TagKind::Struct,
                RecordKind::Union => kind == TagKind::Union,
            },
            _ => kind == TagKind::Enum,
        };
        let known = self.scopes.innermost(|scope| {
            let tag = scope.tags.get(name).filter(|ty| fits(ty));
            tag.or_else(|| scope.named_by_typedef.get(name).filter(|ty| fits(ty))).cloned()
        });
        let new = || self.new_tags.iter().find(|(tag, _)| &**tag == name).map(|(_, ty)| ty.clone());
        Some(known.or_else(new).unwrap_or_else(|| self.incomplete(kind, name)))
    }

    fn typedef(&mut self, name: &str, types: &mut CTypes) -> Option<QualType> {
        self.scopes.innermost(|scope| {
            let typedef = scope.typedefs.get(name).copied();
            // While a typedef is decoded, its record is known by its name already.
            let record = scope.named_by_typedef.get(name);
            typedef.or_else(|| types.find(record?).map(QualType::plain))
        })
    }

    fn type_of(&mut self, expression: &str, types: &mut CTypes) -> Option<QualType> {
        type_of_text(expression, types, self)
    }
}

impl Resolver<'_> {
    /// Declares a record or enumeration of which only the name is known.
    fn incomplete(&mut self, kind: TagKind, name: &str) -> CType {
        let ty = match kind {
            TagKind::Struct => record(self.records, RecordKind::Struct, name),
            TagKind::Union => record(self.records, RecordKind::Union, name),
            TagKind::Enum => CType::Enum(self.enums.push(EnumDecl {
                tag: Some(name.into()),
                typedef_name: None,
                underlying: None,
                constants: Vec::new(),
                span: Span::NONE,
                in_system_header: false,
            })),
        };
        self.new_tags.push((name.into(), ty.clone()));
        ty
    }
}

/// The tag of what a `va_list` of x86-64 is an array of. Clang declares it itself and prints no
/// layout of it; see [`lydian_ir::variadic`].
const VA_LIST_TAG: &str = "__va_list_tag";

fn record(records: &mut Arena<RecordId, RecordDecl>, kind: RecordKind, name: &str) -> CType {
    let layout =
        (name == VA_LIST_TAG).then_some(Layout { size: list_bytes(Target::X86_64), align: 8 });
    CType::Record(records.push(RecordDecl {
        kind,
        tag: Some(name.into()),
        typedef_name: None,
        fields: Vec::new(),
        layout,
        span: Span::NONE,
        in_system_header: false,
        is_local: false,
    }))
}
