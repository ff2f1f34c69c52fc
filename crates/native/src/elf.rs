//! Symbols of compiled files: the undefined ones, and the offsets of the others.

use std::collections::BTreeSet;
use std::path::Path;

use lydian_base::NameSet;
use object::{Object, ObjectSection, ObjectSymbol};
use rustc_hash::FxHashMap;

use crate::build::BuildError;

/// The symbols of a compiled file.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    /// Names that it uses and does not define.
    pub(crate) undefined: BTreeSet<String>,
    /// The undefined names that it calls.
    pub(crate) called: BTreeSet<String>,
    /// Names that it defines for other files too.
    pub(crate) exported: BTreeSet<String>,
    /// Names that it defines, with their offsets from where it is loaded.
    pub(crate) defined: FxHashMap<String, u64>,
}

impl Symbols {
    /// Reads the symbol table of an ELF file, local symbols among them.
    pub(crate) fn read(path: &Path) -> Result<Self, BuildError> {
        let bytes = std::fs::read(path)
            .map_err(|error| BuildError::File { path: path.to_owned(), error })?;
        let file = object::File::parse(&*bytes)
            .map_err(|error| BuildError::Object { message: error.to_string() })?;
        let mut symbols = Self::default();
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            if name.is_empty() {
                continue;
            }
            if symbol.is_undefined() {
                symbols.undefined.insert(name.to_owned());
            } else {
                symbols.defined.insert(name.to_owned(), symbol.address());
                if symbol.is_global() {
                    symbols.exported.insert(name.to_owned());
                }
            }
        }
        for section in file.sections() {
            for (_, relocation) in section.relocations() {
                let object::RelocationTarget::Symbol(index) = relocation.target() else { continue };
                let symbol = file.symbol_by_index(index).ok().filter(|s| s.is_undefined());
                let name = symbol.and_then(|symbol| symbol.name().ok().map(str::to_owned));
                if relocation.kind() == object::RelocationKind::PltRelative {
                    symbols.called.extend(name);
                }
            }
        }
        Ok(symbols)
    }

    /// Adds the symbols of a file that this one is linked with. Offsets mean nothing then.
    pub(crate) fn join(&mut self, other: Self) {
        self.undefined.extend(other.undefined);
        self.called.extend(other.called);
        self.exported.extend(other.exported);
        let shared = other.defined.into_iter().filter(|(name, _)| self.exported.contains(name));
        self.defined.extend(shared.collect::<Vec<_>>());
        self.undefined.retain(|name| !self.exported.contains(name));
    }

    /// The names that a shared library defines for others; none if it cannot be read.
    pub(crate) fn exported(path: &Path) -> NameSet {
        let Ok(bytes) = std::fs::read(path) else { return NameSet::default() };
        let Ok(file) = object::File::parse(&*bytes) else { return NameSet::default() };
        let defined = file.dynamic_symbols().filter(|symbol| !symbol.is_undefined());
        defined.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).collect()
    }

    /// The offsets of the static locals `function.variable`, `function.variable.N`, in the order
    /// of their numbers, which is the order of the source.
    pub(crate) fn static_locals(&self, function: &str, variable: &str) -> Vec<u64> {
        let stem = format!("{function}.{variable}");
        let mut found: Vec<(u64, u64)> = Vec::new();
        for (name, offset) in &self.defined {
            let Some(rest) = name.strip_prefix(&stem) else { continue };
            let number = match rest.strip_prefix('.') {
                None if rest.is_empty() => 0,
                Some(digits) => match digits.parse() {
                    Ok(number) => number,
                    Err(_) => continue,
                },
                None => continue,
            };
            found.push((number, *offset));
        }
        found.sort_unstable();
        found.into_iter().map(|(_, offset)| offset).collect()
    }
}
