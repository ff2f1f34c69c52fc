//! The scalars of a C type that inputs have values for.
//!
//! - A struct is its members; padding is left out. Bytes that bit-fields share are bytes.
//! - A union is its largest member (the first of several), and its remaining bytes are single bytes. If
//!   any member has a pointer at an offset, the union has a pointer there: one of the members'
//!   pointers, or other bits if another member overlaps with a different type. Numbers of other members
//!   are views of its bytes.
//! - Flexible array members and types that Lydian does not compute with are left out.

use std::ops::Range;

use lydian_ir::{CType, CTypeId, CTypes, Field, Program, RecordId};

use crate::place::{InputPlace, Step};
use crate::spec::Trail;

/// A part of a type that gets a value of its own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Leaf {
    pub(crate) offset: u64,
    pub(crate) place: InputPlace,
    pub(crate) trail: Trail,
    pub(crate) kind: LeafKind,
}

/// The kind of a part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum LeafKind {
    /// A number of a C type.
    Number(CTypeId),
    /// A pointer, or one of several in a union.
    Pointer {
        /// One for each member that has a pointer there.
        choices: Vec<PointerChoice>,
        /// Whether it may also hold bits that are no pointer.
        raw: bool,
    },
    /// A byte of bit-fields or of a union.
    Byte,
}

/// A pointer of one member of a union, or one that is in no union.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct PointerChoice {
    /// Its pointer type.
    pub(crate) ty: CTypeId,
    pub(crate) place: InputPlace,
    pub(crate) trail: Trail,
}

/// A part that gets no value, and stays zero.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OmittedPart {
    /// The place that it is a part of.
    pub(crate) place: InputPlace,
    /// The reason, as the end of a sentence that begins with the place.
    pub(crate) why: String,
    pub(crate) bytes: Range<u64>,
}

/// The flexible array member at the end of a struct.
pub(crate) struct FlexibleMember {
    pub(crate) place: InputPlace,
    pub(crate) element: CTypeId,
    /// Bytes from the start of the struct to its first element.
    pub(crate) offset: u64,
}

/// A bit-field, whose bits lie in [`LeafKind::Byte`]s.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bits {
    pub(crate) place: InputPlace,
    pub(crate) trail: Trail,
    /// Offset in bits from the start of the whole.
    pub(crate) bit_offset: u64,
    pub(crate) width: u16,
    pub(crate) signed: bool,
}

/// A number of a union's member whose bytes are other parts.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct View {
    pub(crate) offset: u64,
    pub(crate) place: InputPlace,
    pub(crate) trail: Trail,
    pub(crate) ty: CTypeId,
}

/// The parts of a type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Layout {
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) bits: Vec<Bits>,
    pub(crate) views: Vec<View>,
    pub(crate) omitted: Vec<OmittedPart>,
}

/// Scalars of one array before the rest of it is left at zero.
pub(crate) const MAX_ARRAY_LEAVES: usize = 4096;

impl Leaf {
    pub(crate) fn size(&self, types: &CTypes) -> u64 {
        match &self.kind {
            LeafKind::Number(ty) => types.size(*ty).unwrap_or(0),
            LeafKind::Pointer { .. } => 8,
            LeafKind::Byte => 1,
        }
    }

    fn overlaps(&self, types: &CTypes, start: u64, size: u64) -> bool {
        self.offset < start + size && start < self.offset + self.size(types)
    }
}

/// The parts of a type at a place, `offset` bytes from the start of the enclosing object.
pub(crate) fn layout(
    program: &Program,
    ty: CTypeId,
    offset: u64,
    place: &InputPlace,
    trail: &Trail,
) -> Layout {
    let mut layout = Layout::default();
    layout.add(&program.types, ty, offset, place, trail);
    layout.leaves.sort_by_key(|leaf| leaf.offset);
    layout
}

impl Layout {
    fn add(&mut self, types: &CTypes, ty: CTypeId, offset: u64, place: &InputPlace, trail: &Trail) {
        let leaf = |kind| Leaf { offset, place: place.clone(), trail: trail.clone(), kind };
        match types.get(ty) {
            CType::Int { .. } | CType::Enum { .. } | CType::Float | CType::Double => {
                self.leaves.push(leaf(LeafKind::Number(ty)));
            }
            CType::Pointer { .. } => {
                let choices =
                    vec![PointerChoice { ty, place: place.clone(), trail: trail.clone() }];
                self.leaves.push(leaf(LeafKind::Pointer { choices, raw: false }));
            }
            CType::Opaque { .. } | CType::Float16 | CType::BFloat16 | CType::LongDouble => {
                let bytes = offset..offset + types.size(ty).unwrap_or(0);
                let why = format!("of type {} is zero", types.spell(ty, ""));
                self.omitted.push(OmittedPart { place: place.clone(), why, bytes });
            }
            CType::Complex { element } => self.add_array(types, *element, 2, offset, place, trail),
            CType::Vector { element, length } => {
                self.add_array(types, *element, *length, offset, place, trail);
            }
            CType::Array { element, length } => {
                self.add_array(types, *element, length.unwrap_or(0), offset, place, trail);
            }
            CType::Record(record) => self.add_record(types, ty, *record, offset, place, trail),
            CType::Void | CType::Function { .. } => {}
        }
    }

    fn add_array(
        &mut self,
        types: &CTypes,
        element: CTypeId,
        length: u64,
        offset: u64,
        place: &InputPlace,
        trail: &Trail,
    ) {
        let size = types.size(element).unwrap_or(0);
        let before = self.leaves.len();
        for index in 0..length {
            if self.leaves.len() - before >= MAX_ARRAY_LEAVES {
                let why = format!("is zero from element {index} on");
                let bytes = offset + index * size..offset + length * size;
                self.omitted.push(OmittedPart { place: place.clone(), why, bytes });
                return;
            }
            let known = self.leaves.len();
            self.add(types, element, offset + index * size, &place.index(index as i64), trail);
            if self.leaves.len() == known {
                return; // elements without parts: the rest has none either
            }
        }
    }

    fn add_record(
        &mut self,
        types: &CTypes,
        ty: CTypeId,
        id: RecordId,
        offset: u64,
        place: &InputPlace,
        trail: &Trail,
    ) {
        let record = &types.records[id];
        let mut trail = trail.clone();
        trail.push((place.steps.len(), ty));
        if record.is_union {
            let size = record.size.unwrap_or(0);
            return self.add_union(types, &record.fields, size, offset, place, &trail);
        }
        let mut storage = std::collections::BTreeSet::new();
        for field in &record.fields {
            let at = field_place(place, field);
            match field.bits {
                None => self.add(types, field.ty, offset + field.bit_offset / 8, &at, &trail),
                Some(0) => {}
                Some(width) => {
                    let first = field.bit_offset / 8;
                    let last = (field.bit_offset + u64::from(width) - 1) / 8;
                    if !field.name.is_empty() {
                        storage.extend(first..=last);
                        self.bits.push(bits_of(types, field, width, offset, at, &trail));
                    }
                }
            }
        }
        for byte in storage {
            self.leaves.push(Leaf {
                offset: offset + byte,
                place: place.field(&format!("bits{byte}")),
                trail: trail.clone(),
                kind: LeafKind::Byte,
            });
        }
    }

    /// The numbers of a layout that are no elements of arrays, as views of whatever lies there.
    fn as_views(&self) -> impl Iterator<Item = View> {
        let own = self.leaves.iter().filter_map(|leaf| match leaf.kind {
            LeafKind::Number(ty) if !matches!(leaf.place.steps.last(), Some(Step::Index(_))) => {
                let (place, trail) = (leaf.place.clone(), leaf.trail.clone());
                Some(View { offset: leaf.offset, place, trail, ty })
            }
            _ => None,
        });
        own.chain(self.views.iter().cloned())
    }

    fn add_union(
        &mut self,
        types: &CTypes,
        members: &[Field],
        size: u64,
        offset: u64,
        place: &InputPlace,
        trail: &Trail,
    ) {
        let mut layouts: Vec<Layout> = Vec::new();
        for field in members.iter().filter(|field| field.bits.is_none()) {
            let mut member = Self::default();
            member.add(types, field.ty, offset, &field_place(place, field), trail);
            self.omitted.append(&mut member.omitted);
            layouts.push(member);
        }
        let plain = members.iter().filter(|field| field.bits.is_none());
        let sizes: Vec<u64> = plain.map(|field| types.size(field.ty).unwrap_or(0)).collect();
        let largest = sizes.iter().max().copied().unwrap_or(0);
        let primary = sizes.iter().position(|size| *size == largest).unwrap_or(0);
        let pointers = merged_pointers(types, &layouts);
        self.views.extend(layouts.iter().flat_map(Self::as_views));
        let mut leaves: Vec<Leaf> = Vec::new();
        if let Some(chosen) = layouts.get_mut(primary) {
            self.bits.append(&mut chosen.bits);
            let free = |leaf: &Leaf| !pointers.iter().any(|p| leaf.overlaps(types, p.offset, 8));
            leaves.extend(chosen.leaves.drain(..).filter(free));
        }
        leaves.extend(pointers);
        let mut open: Vec<bool> = vec![true; size as usize];
        for leaf in &leaves {
            let start = (leaf.offset - offset) as usize;
            let end = (start + leaf.size(types) as usize).min(open.len());
            open[start.min(end)..end].fill(false);
        }
        let beyond = open.iter().enumerate().filter(|(_, open)| **open).nth(MAX_ARRAY_LEAVES);
        if let Some((byte, _)) = beyond {
            let why = format!("is zero from byte {byte} on where no member has it");
            let bytes = offset + byte as u64..offset + size;
            self.omitted.push(OmittedPart { place: place.clone(), why, bytes });
        }
        let open = open.iter().enumerate().filter(|(_, open)| **open);
        leaves.extend(open.take(MAX_ARRAY_LEAVES).map(|(byte, _)| Leaf {
            offset: offset + byte as u64,
            place: place.field(&format!("byte{byte}")),
            trail: trail.clone(),
            kind: LeafKind::Byte,
        }));
        self.leaves.append(&mut leaves);
    }
}

/// The pointers of all members of a union, one for each offset.
fn merged_pointers(types: &CTypes, members: &[Layout]) -> Vec<Leaf> {
    let mut merged: Vec<Leaf> = Vec::new();
    for leaf in members.iter().flat_map(|member| &member.leaves) {
        let LeafKind::Pointer { choices, raw } = &leaf.kind else { continue };
        match merged.iter_mut().find(|known| known.overlaps(types, leaf.offset, 8)) {
            None => merged.push(leaf.clone()),
            Some(known) if known.offset == leaf.offset => {
                if let LeafKind::Pointer { choices: all, raw: any } = &mut known.kind {
                    all.extend(choices.iter().cloned());
                    *any |= raw;
                }
            }
            Some(_) => {} // packed across another pointer: only its bits
        }
    }
    for pointer in &mut merged {
        let offset = pointer.offset;
        let shared = members.iter().flat_map(|member| &member.leaves).any(|leaf| {
            leaf.overlaps(types, offset, 8)
                && (leaf.offset != offset || !matches!(leaf.kind, LeafKind::Pointer { .. }))
        });
        if let LeafKind::Pointer { raw, .. } = &mut pointer.kind {
            *raw |= shared;
        }
    }
    merged
}

fn bits_of(
    types: &CTypes,
    field: &Field,
    width: u16,
    offset: u64,
    place: InputPlace,
    trail: &Trail,
) -> Bits {
    Bits {
        place,
        trail: trail.clone(),
        bit_offset: offset * 8 + field.bit_offset,
        width,
        signed: types.is_signed(field.ty),
    }
}

/// The place of a member. Members of an anonymous member are the record's own, as in C.
fn field_place(place: &InputPlace, field: &Field) -> InputPlace {
    if field.name.is_empty() { place.clone() } else { place.field(&field.name) }
}

/// Whether a value of the type has pointers to objects in it.
pub fn has_pointers(types: &CTypes, ty: CTypeId) -> bool {
    match types.get(ty) {
        CType::Pointer { pointee, .. } => !matches!(types.get(*pointee), CType::Function { .. }),
        CType::Array { element, .. } => has_pointers(types, *element),
        CType::Record(record) => {
            types.records[*record].fields.iter().any(|field| has_pointers(types, field.ty))
        }
        _ => false,
    }
}

/// The flexible array member at the end of a struct, if the type has one.
pub(crate) fn flexible_member(
    types: &CTypes,
    ty: CTypeId,
    place: &InputPlace,
) -> Option<FlexibleMember> {
    let CType::Record(record) = types.get(ty) else { return None };
    let record = &types.records[*record];
    let last = record.fields.last().filter(|_| !record.is_union)?;
    match types.get(last.ty) {
        CType::Array { element, length: None | Some(0) } => {
            let (place, offset) = (field_place(place, last), last.bit_offset / 8);
            Some(FlexibleMember { place, element: *element, offset })
        }
        _ => None,
    }
}
