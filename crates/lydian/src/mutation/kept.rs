//! Results that are kept for later runs.
//!
//! What a test does on a mutant follows from the code that it may run: the test's own text, the mutant, the
//! functions that are named, directly or by others, in what it runs, and everything outside of functions.
//! A hash of all that is the key of the result ([`Dependences`]). So a result is taken over exactly where
//! none of these texts changed, however often others did. Files that a test reads are no part of the key.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lydian_mutate::mutant::{FunctionText, Mutant, UnitMutants};
use lydian_mutate::results::{EquivalenceProof, Failure};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files;

/// The most results that are kept; with more, only those of the last run stay.
const MOST: usize = 1 << 19;
/// The version of the file. Others are not read.
const VERSION: u32 = 1;

/// The results of earlier runs, and those of this one.
#[derive(Debug)]
pub(crate) struct KeptResults {
    file: Option<PathBuf>,
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    all: Entries,
    used: BTreeSet<String>,
    taken: u64,
}

/// The file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Entries {
    version: u32,
    /// The failure of a test on a mutant; none if it passed.
    runs: BTreeMap<String, Option<Failure>>,
    /// The argument that a mutant is equivalent; none if none was found.
    equivalence: BTreeMap<String, Option<EquivalenceProof>>,
}

impl KeptResults {
    /// The results in a file. A file that cannot be read, or of another version, has none.
    pub(crate) fn read(file: Option<&Path>) -> Self {
        let text = file.and_then(|file| std::fs::read(file).ok());
        let all = text.and_then(|text| serde_json::from_slice::<Entries>(&text).ok());
        let all = all.filter(|all| all.version == VERSION);
        let all = all.unwrap_or_else(|| Entries { version: VERSION, ..Entries::default() });
        let known = Mutex::new(Known { all, ..Known::default() });
        Self { file: file.map(Path::to_owned), known }
    }

    fn with<R>(&self, work: impl FnOnce(&mut Known) -> R) -> R {
        work(&mut self.known.lock().unwrap_or_else(|poisoned| poisoned.into_inner()))
    }

    /// What a test did on a mutant in an earlier run.
    pub(crate) fn run(&self, key: &str) -> Option<Option<Failure>> {
        self.with(|known| {
            let found = *known.all.runs.get(key)?;
            known.used.insert(key.to_owned());
            known.taken += 1;
            Some(found)
        })
    }

    /// Keeps what a test did on a mutant.
    pub(crate) fn keep_run(&self, key: String, failure: Option<Failure>) {
        self.with(|known| {
            known.used.insert(key.clone());
            known.all.runs.insert(key, failure);
        });
    }

    /// What an earlier run found about the equivalence of a mutant.
    pub(crate) fn equivalence(&self, key: &str) -> Option<Option<EquivalenceProof>> {
        self.with(|known| {
            let found = *known.all.equivalence.get(key)?;
            known.used.insert(key.to_owned());
            Some(found)
        })
    }

    /// Keeps what was found about the equivalence of a mutant.
    pub(crate) fn keep_equivalence(&self, key: String, proof: Option<EquivalenceProof>) {
        self.with(|known| {
            known.used.insert(key.clone());
            known.all.equivalence.insert(key, proof);
        });
    }

    /// The number of runs that were taken over.
    pub(crate) fn taken(&self) -> u64 {
        self.with(|known| known.taken)
    }

    /// Writes the file.
    pub(crate) fn write(&self) -> Result<(), Error> {
        let Some(file) = &self.file else { return Ok(()) };
        let text = self.with(|Known { all, used, .. }| {
            if all.runs.len() + all.equivalence.len() > MOST {
                all.runs.retain(|key, _| used.contains(key));
                all.equivalence.retain(|key, _| used.contains(key));
            }
            serde_json::to_string(all).unwrap_or_default()
        });
        file.parent().map_or(Ok(()), files::folder)?;
        files::file(file, &text)
    }
}

/// The texts of a program on which results depend.
pub(crate) struct Dependences<'a> {
    /// The definitions of each name; static functions of several units may share one.
    functions: BTreeMap<&'a str, Vec<String>>,
    /// Everything outside of functions, and the flags of all units.
    outside: String,
    /// The functions that are named outside of functions: their addresses may be anywhere.
    addressed: BTreeSet<&'a str>,
}

impl<'a> Dependences<'a> {
    pub(crate) fn of(units: &'a [UnitMutants]) -> Self {
        let mut functions: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        let mut outside = String::new();
        for unit in units {
            let mut at = 0;
            for FunctionText { name, span } in &unit.defined {
                let own = unit.text.get(span.range()).unwrap_or_default();
                functions.entry(name).or_default().push(plain(own));
                let between = unit.text.get(at..span.start as usize).unwrap_or_default();
                outside.push_str(&plain(between));
                at = at.max(span.end as usize);
            }
            outside.push_str(&plain(unit.text.get(at..).unwrap_or_default()));
            outside.push_str(&unit.flags.join(" "));
        }
        let named: BTreeSet<&str> = values(&outside).collect();
        let addressed = functions.keys().copied().filter(|name| named.contains(name)).collect();
        Self { functions, outside, addressed }
    }

    /// A hash of what code depends on that begins in some functions, or anywhere if there are none.
    pub(crate) fn key<'n>(&self, roots: impl IntoIterator<Item = &'n str>) -> String {
        let mut waiting: Vec<String> = roots.into_iter().map(str::to_owned).collect();
        if waiting.is_empty() {
            waiting.extend(self.functions.keys().map(|name| (*name).to_owned()));
        }
        waiting.extend(self.addressed.iter().map(|name| (*name).to_owned()));
        let mut seen: BTreeSet<String> = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            let Some(texts) = self.functions.get(name.as_str()) else { continue };
            if !seen.insert(name) {
                continue;
            }
            let named = texts.iter().flat_map(|text| words(text));
            let known = named.filter(|word| self.functions.contains_key(word));
            waiting.extend(known.map(str::to_owned));
        }
        let mut hash = blake3::Hasher::new();
        hash.update(self.outside.as_bytes());
        for name in &seen {
            for text in self.functions.get(name.as_str()).into_iter().flatten() {
                hash.update(text.as_bytes());
                hash.update(&[0]);
            }
        }
        hash.finalize().to_hex()[..32].to_owned()
    }
}

/// The key of what a test does on a mutant. `test` is the test's key.
pub(crate) fn run_key(test: &str, mutant: &Mutant) -> String {
    format!("{test}:{}", mutant.key)
}

/// A text without blanks and line markers, which edits elsewhere move.
fn plain(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let mut out = String::new();
    for word in lines.flat_map(str::split_whitespace) {
        out.push_str(word);
        out.push(' ');
    }
    out
}

/// The names in a text outside of functions that are no declarations of functions: there a name before a
/// bracket is declared, and never called.
fn values(text: &str) -> impl Iterator<Item = &str> {
    let is_declared = |word: &str| {
        let end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
        text[end..].trim_start().starts_with('(')
    };
    words(text).filter(move |word| !is_declared(word))
}

/// The names in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use lydian_base::Span;
    use lydian_mutate::UnitId;

    use super::*;

    fn unit(text: &str, functions: &[&str]) -> UnitMutants {
        let defined = functions.iter().map(|own| {
            let start = text.find(own).unwrap() as u32;
            let name = own.split('(').next().unwrap().rsplit(' ').next().unwrap().to_owned();
            FunctionText { name, span: Span::new(start, start + own.len() as u32) }
        });
        UnitMutants {
            id: UnitId::of(text, &[]),
            source: "unit.c".into(),
            directory: "/".into(),
            flags: Vec::new(),
            text: text.to_owned(),
            mutants: Vec::new(),
            functions: Vec::new(),
            left_out: Vec::new(),
            refused: Vec::new(),
            defined: defined.collect(),
        }
    }

    fn key(text: &str, functions: &[&str], root: &str) -> String {
        Dependences::of(&[unit(text, functions)]).key([root])
    }

    const F: &str = "int f(void) { return g(); }";
    const G: &str = "int g(void) { return 1; }";
    const H: &str = "int h(void) { return 2; }";

    #[test]
    fn results_depend_on_functions_that_are_named_directly_or_by_others() {
        let whole = |g: &str, h: &str| format!("int g(void);\n{F}\n{g}\n{h}\n");
        let first = key(&whole(G, H), &[F, G, H], "f");
        let other = "int h(void) { return 3; }";
        assert_eq!(key(&whole(G, other), &[F, G, other], "f"), first);
        let other = "int g(void) { return 3; }";
        assert_ne!(key(&whole(other, H), &[F, other, H], "f"), first);
        let moved = format!("# 12 \"x.c\"\n\n{}", whole(G, H));
        assert_eq!(key(&moved, &[F, G, H], "f"), first);
    }

    #[test]
    fn functions_in_tables_may_be_called_by_all() {
        let whole = |h: &str| format!("{F}\n{G}\n{h}\nint (*all[])(void) = {{ h }};\n");
        let first = key(&whole(H), &[F, G, H], "f");
        let other = "int h(void) { return 3; }";
        assert_ne!(key(&whole(other), &[F, G, other], "f"), first);
    }
}
