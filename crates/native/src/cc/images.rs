//! Linked files: the units in one, and the symbols that it shares with others.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use object::{Object as _, ObjectKind, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use serde::{Deserialize, Serialize};

use super::notes::UnitId;

/// A linked file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Image {
    /// The file, as an absolute path.
    pub linked: PathBuf,
    /// The units in it.
    pub units: Vec<UnitId>,
    /// Whether it is to be linked once more.
    #[serde(default)]
    pub is_object: bool,
    /// Whether it is a library that is loaded when programs run.
    #[serde(default)]
    pub is_library: bool,
    /// Its name for the dynamic linker, if that is not its file's name.
    #[serde(default)]
    pub soname: Option<String>,
    /// The libraries that it needs.
    #[serde(default)]
    pub needed: Vec<String>,
    /// Its dynamic symbols, defined or not.
    #[serde(default)]
    pub dynamic: BTreeSet<String>,
    /// The functions that other objects could call when it was linked, where its symbols tell.
    #[serde(default)]
    pub functions: Option<BTreeSet<String>>,
}

impl Image {
    /// The dynamic symbols of a file.
    pub(super) fn read(linked: &Path, units: Vec<UnitId>, file: &object::File<'_>) -> Self {
        let dynamic = Dynamic::of(file);
        let named = |symbol: object::Symbol<'_, '_>| symbol.name().ok().map(str::to_owned);
        let functions: BTreeSet<String> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_definition())
            .filter(|symbol| symbol.is_global())
            .filter_map(named)
            .filter(|name| !name.starts_with("lydian_"))
            .collect();
        let is_object = file.kind() == ObjectKind::Relocatable;
        let is_program =
            file.kind() == ObjectKind::Executable || file.section_by_name(".interp").is_some();
        Self {
            linked: linked.to_owned(),
            units,
            is_object,
            is_library: !is_object && !is_program,
            soname: dynamic.text(SONAME).next(),
            needed: dynamic.text(NEEDED).collect(),
            dynamic: file.dynamic_symbols().filter_map(named).collect(),
            functions: (!functions.is_empty()).then_some(functions),
        }
    }

    /// Whether it is the library of this name.
    pub fn is_called(&self, name: &str) -> bool {
        let file = self.linked.file_name().map(|file| file.to_string_lossy());
        self.soname.as_deref().map_or_else(|| file.as_deref() == Some(name), |own| own == name)
    }
}

/// Tags of the dynamic section that name libraries.
const NEEDED: u64 = 1;
const SONAME: u64 = 14;

/// The dynamic section: tags with values, and the texts that these are offsets into.
#[derive(Default)]
struct Dynamic<'a> {
    entries: Vec<(u64, u64)>,
    texts: &'a [u8],
}

impl<'a> Dynamic<'a> {
    fn of(file: &object::File<'a>) -> Self {
        let section = |name| file.section_by_name(name).and_then(|section| section.data().ok());
        let (Some(section), Some(texts)) = (section(".dynamic"), section(".dynstr")) else {
            return Self::default();
        };
        let width = if file.is_64() { 8 } else { 4 };
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        let entries = section.chunks_exact(2 * width);
        let entries = entries.map(|entry| (word(&entry[..width]), word(&entry[width..])));
        Self { entries: entries.collect(), texts }
    }

    /// The texts of a tag.
    fn text(&self, wanted: u64) -> impl Iterator<Item = String> {
        let values = self.entries.iter().filter(move |(tag, _)| *tag == wanted);
        values.filter_map(|(_, at)| {
            let rest = self.texts.get(usize::try_from(*at).ok()?..)?;
            let text = rest.split(|byte| *byte == 0).next()?;
            String::from_utf8(text.to_vec()).ok()
        })
    }
}
