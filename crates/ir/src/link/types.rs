//! C types of several units in one table.
//!
//! Types are compared by structure, structs and unions by name and layout: two of one unit stay
//! two, and the n-th of one key in a unit is the n-th of that key in the program.

use lydian_base::EntityId;
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

use crate::program::ctype::{CType, CTypeId, CTypes, Record, RecordId};

/// The structs and unions of the program so far.
pub(super) struct RecordIndex {
    /// Complete ones by [`key`].
    by_key: FxHashMap<String, Vec<RecordId>>,
    /// The first complete one of each name.
    by_name: FxHashMap<String, RecordId>,
    /// Incomplete ones by name.
    incomplete: FxHashMap<String, RecordId>,
}

/// The key by which structs and unions are compared. Structs within it count by their names alone, so that
/// recursion ends.
fn key(types: &CTypes, record: &Record) -> String {
    let mut key = format!("{} {} {} {:?}", record.name, record.is_union, record.align, record.size);
    for field in &record.fields {
        let _ = write!(key, ";{} {} {:?} ", field.name, field.bit_offset, field.bits);
        shape(&mut key, types, field.ty);
    }
    key
}

fn shape(out: &mut String, types: &CTypes, ty: CTypeId) {
    // Writing to a String does not fail.
    match types.get(ty) {
        CType::Record(id) => {
            let record = &types.records[*id];
            match record.name.as_str() {
                "" => {
                    let _ = write!(out, "{{{}}}", key(types, record));
                }
                name => out.push_str(name),
            }
        }
        CType::Pointer { pointee, to_const } => {
            out.push_str(if *to_const { "*const " } else { "*" });
            shape(out, types, *pointee);
        }
        CType::Array { element, length } => {
            let _ = write!(out, "{length:?}");
            shape(out, types, *element);
        }
        CType::Function { result, params, variadic } => {
            let _ = write!(out, "({variadic} ");
            for ty in std::iter::once(result).chain(params) {
                shape(out, types, *ty);
                out.push(',');
            }
            out.push(')');
        }
        CType::Enum { name, underlying, constants } => {
            let _ = write!(out, "enum {name} {constants:?} ");
            shape(out, types, *underlying);
        }
        other => {
            let _ = write!(out, "{other:?}");
        }
    }
}

impl RecordIndex {
    /// The records of the first unit.
    pub(super) fn of(types: &CTypes) -> Self {
        let mut index = Self {
            by_key: FxHashMap::default(),
            by_name: FxHashMap::default(),
            incomplete: FxHashMap::default(),
        };
        for (id, record) in types.records.iter() {
            index.add(key(types, record), record, id);
        }
        index
    }

    fn add(&mut self, key: String, record: &Record, id: RecordId) {
        if record.size.is_none() {
            self.incomplete.entry(record.name.clone()).or_insert(id);
            return;
        }
        if !record.name.is_empty() {
            self.by_name.entry(record.name.clone()).or_insert(id);
        }
        self.by_key.entry(key).or_default().push(id);
    }

    /// What a unit's record is in the program: the record, and whether its contents are still to
    /// be filled in.
    fn place(
        &mut self,
        key: &str,
        ordinal: usize,
        record: &Record,
        table: &mut CTypes,
    ) -> (RecordId, bool) {
        if let Some(known) = self.by_key.get(key).and_then(|all| all.get(ordinal)) {
            return (*known, false);
        }
        let named = !record.name.is_empty();
        if record.size.is_none() && named {
            let known =
                self.by_name.get(&record.name).or_else(|| self.incomplete.get(&record.name));
            if let Some(known) = known {
                return (*known, false);
            }
        }
        let completes = match record.size {
            Some(_) if named => self.incomplete.remove(&record.name),
            _ => None,
        };
        let id = completes
            .unwrap_or_else(|| table.records.push(Record { fields: Vec::new(), ..record.clone() }));
        self.add(key.to_owned(), record, id);
        (id, true)
    }
}

/// The types of one unit, and what they are in the program; each is taken over when it is first
/// asked for.
pub(super) struct UnitTypes<'t> {
    from: &'t CTypes,
    types: Vec<Option<CTypeId>>,
    records: Vec<Option<RecordId>>,
    /// The key of each record, and how many before it have the same.
    keys: Vec<(String, usize)>,
}

impl<'t> UnitTypes<'t> {
    pub(super) fn new(from: &'t CTypes) -> Self {
        let mut counts: FxHashMap<String, usize> = FxHashMap::default();
        let keys = from.records.values().map(|record| {
            let key = key(from, record);
            let count = counts.entry(key.clone()).or_insert(0);
            *count += 1;
            (key, *count - 1)
        });
        let keys = keys.collect();
        let types = vec![None; from.iter().count()];
        Self { from, types, records: vec![None; from.records.len()], keys }
    }

    /// The type in the program.
    pub(super) fn ty(
        &mut self,
        ty: CTypeId,
        table: &mut CTypes,
        index: &mut RecordIndex,
    ) -> CTypeId {
        if let Some(known) = self.types[ty.index()] {
            return known;
        }
        let mut new = self.from.get(ty).clone();
        match &mut new {
            CType::Void
            | CType::Int { .. }
            | CType::Float16
            | CType::BFloat16
            | CType::Float
            | CType::Double
            | CType::LongDouble
            | CType::Opaque { .. } => {}
            CType::Enum { underlying: part, .. }
            | CType::Pointer { pointee: part, .. }
            | CType::Complex { element: part }
            | CType::Vector { element: part, .. }
            | CType::Array { element: part, .. } => *part = self.ty(*part, table, index),
            CType::Function { result, params, .. } => {
                *result = self.ty(*result, table, index);
                for param in params {
                    *param = self.ty(*param, table, index);
                }
            }
            CType::Record(record) => *record = self.record(*record, table, index),
        }
        // A record that leads back here has made it meanwhile.
        let id = table.intern(new);
        self.types[ty.index()] = Some(id);
        id
    }

    /// The struct or union in the program.
    pub(super) fn record(
        &mut self,
        id: RecordId,
        table: &mut CTypes,
        index: &mut RecordIndex,
    ) -> RecordId {
        if let Some(known) = self.records[id.index()] {
            return known;
        }
        let record = &self.from.records[id];
        let (key, ordinal) = &self.keys[id.index()];
        let (new, fill) = index.place(key, *ordinal, record, table);
        self.records[id.index()] = Some(new);
        if fill {
            let mut contents = record.clone();
            for field in &mut contents.fields {
                field.ty = self.ty(field.ty, table, index);
            }
            table.records[new] = contents;
        }
        // Where it is only what a pointer is taken for, nothing has that type.
        table.intern(CType::Record(new));
        new
    }
}
