//! Results that are kept for later runs.
//!
//! What a test does on a mutant follows from the code that it may run: the test's own text, the mutant, the
//! functions that are named, directly or by others, in what it runs, and everything outside of functions.
//! A hash of all that is the key of the result ([`Dependences`]). So a result is taken over exactly where
//! none of these texts changed, however often others did. Functions that run unnamed, before and after
//! `main`, belong to all. Files that a test reads are no part of the key, but for scripts that it names.
//!
//! **Invariant:** two mutants never share a key, also where units have functions with the same text.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use lydian_ir::libc::model_named;
use lydian_mutate::mutant::{FunctionText, Mutant, UnitMutants};
use lydian_mutate::results::{EquivalenceProof, Failure};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::files;
use crate::shared_ledger::digest;

/// The most results that are kept; with more, only those of the last run stay.
const MOST: usize = 1 << 19;
/// The version of the file. Others are not read.
const VERSION: u32 = 2;

/// The results of earlier runs, and those of this one.
#[derive(Debug)]
pub(crate) struct KeptResults {
    file: PathBuf,
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
    pub(crate) fn read(file: &Path) -> Self {
        let text = std::fs::read(file).ok();
        let all = text.and_then(|text| serde_json::from_slice::<Entries>(&text).ok());
        let all = all.filter(|all| all.version == VERSION);
        let all = all.unwrap_or_else(|| Entries { version: VERSION, ..Entries::default() });
        let known = Mutex::new(Known { all, ..Known::default() });
        Self { file: file.to_owned(), known }
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

    /// Whether a test is known to fail, without taking that over.
    pub(crate) fn is_failure(&self, key: &str) -> bool {
        self.with(|known| known.all.runs.get(key).is_some_and(Option::is_some))
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

    /// Writes the file at the end of a run. Of too many results, those stay that this run used.
    pub(crate) fn write(&self) -> Result<(), Error> {
        self.with(|Known { all, used, .. }| {
            if all.runs.len() + all.equivalence.len() > MOST {
                all.runs.retain(|key, _| used.contains(key));
                all.equivalence.retain(|key, _| used.contains(key));
            }
        });
        self.write_so_far()
    }

    /// Writes the file as it is in the middle of a run.
    pub(crate) fn write_so_far(&self) -> Result<(), Error> {
        let text = self.with(|known| serde_json::to_string(&known.all).unwrap_or_default());
        self.file.parent().map_or(Ok(()), files::folder)?;
        files::file(&self.file, &text)
    }
}

/// The texts of a program on which results depend.
pub(crate) struct Dependences<'a> {
    /// The definitions of each name; static functions of several units may share one.
    functions: BTreeMap<&'a str, Definitions<'a>>,
    /// A hash of everything outside of functions, with all units.
    outside: blake3::Hash,
    /// The functions that may run in each test: those that are named outside of functions, whose addresses
    /// may be anywhere, and those that the start of a program or the C library calls.
    anywhere: BTreeSet<&'a str>,
    /// The key of each unit.
    units: Vec<String>,
}

/// The functions of one name.
#[derive(Default)]
struct Definitions<'a> {
    /// Their texts, each with its unit.
    texts: blake3::Hasher,
    /// The functions that they name.
    named: BTreeSet<&'a str>,
}

impl<'a> Dependences<'a> {
    pub(crate) fn of(units: &'a [UnitMutants]) -> Self {
        let keys: Vec<String> = units.iter().map(|unit| unit_key(units, unit)).collect();
        let defined = units.iter().flat_map(|unit| &unit.defined);
        let names: BTreeSet<&str> = defined.map(|function| &*function.name).collect();
        let mut functions: BTreeMap<&str, Definitions<'_>> = BTreeMap::new();
        let mut outside = String::new();
        let mut anywhere = BTreeSet::new();
        for (unit, key) in units.iter().zip(&keys) {
            outside.push_str(key);
            let mut at = 0;
            for FunctionText { name, span } in &unit.defined {
                let own = unit.text.get(span.range()).unwrap_or_default();
                let definitions = functions.entry(name).or_default();
                definitions.texts.update(format!("{key} {}\n", plain(own)).as_bytes());
                definitions.named.extend(words(own).filter_map(|word| names.get(word).copied()));
                if is_called_unnamed(own) || model_named(name).is_some() {
                    anywhere.insert(&**name);
                }
                let between = unit.text.get(at..span.start as usize).unwrap_or_default();
                outside.push_str(&plain(between));
                at = at.max(span.end as usize);
            }
            outside.push_str(&plain(unit.text.get(at..).unwrap_or_default()));
        }
        let known = |word: &str| names.get(word).copied();
        match is_called_unnamed(&outside) {
            true => anywhere.extend(words(&outside).filter_map(known)),
            false => anywhere.extend(values(&outside).filter_map(known)),
        }
        Self { functions, outside: blake3::hash(outside.as_bytes()), anywhere, units: keys }
    }

    /// A hash of what code depends on that begins in some functions, or anywhere if there are none.
    pub(crate) fn key<'n>(&self, roots: impl IntoIterator<Item = &'n str>) -> String {
        let known = |name: &str| self.functions.get_key_value(name).map(|(name, _)| *name);
        let roots: Vec<&str> = roots.into_iter().collect();
        let mut waiting: Vec<&str> = match roots.is_empty() {
            true => self.functions.keys().copied().collect(),
            false => roots.into_iter().filter_map(known).collect(),
        };
        waiting.extend(&self.anywhere);
        let mut seen: BTreeSet<&str> = BTreeSet::new();
        while let Some(name) = waiting.pop() {
            if seen.insert(name) {
                waiting.extend(&self.functions[name].named);
            }
        }
        let mut hash = blake3::Hasher::new();
        hash.update(self.outside.as_bytes());
        for name in seen {
            hash.update(self.functions[name].texts.finalize().as_bytes());
        }
        digest::key(hash.finalize())
    }

    /// The key of a unit among those of the program.
    pub(crate) fn unit(&self, at: usize) -> &str {
        &self.units[at]
    }
}

/// The key of a unit, which stays while its text changes: its file, folder and flags. Where several units
/// have these, as those of a file that is compiled twice, their texts tell them apart.
fn unit_key(all: &[UnitMutants], unit: &UnitMutants) -> String {
    let compiled = |unit: &UnitMutants| {
        let (source, folder) = (unit.source.display(), unit.directory.display());
        format!("{source}\n{folder}\n{}", unit.flags.join("\n"))
    };
    let mut own = compiled(unit);
    if all.iter().filter(|other| compiled(other) == own).count() > 1 {
        own.push_str(&unit.id.to_string());
    }
    blake3::hash(own.as_bytes()).to_hex()[..16].to_owned()
}

/// The key of what a test does on a mutant. `test` and `unit` are the keys of the test and the unit.
pub(crate) fn run_key(test: &str, unit: &str, mutant: &Mutant) -> String {
    format!("{test}:{unit}:{}", mutant.key)
}

/// Whether a text makes a function run before or after `main`, as an attribute says.
fn is_called_unnamed(text: &str) -> bool {
    words(text).any(|word| matches!(word.trim_matches('_'), "constructor" | "destructor"))
}

/// A text without blanks between tokens and without line markers, which edits elsewhere move.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines().filter(|line| !is_line_marker(line)) {
        let (mut quote, mut escaped) = (None, false);
        for c in line.chars() {
            let is_blank = quote.is_none() && c.is_whitespace();
            match is_blank {
                true if out.is_empty() || out.ends_with([' ', '\n']) => {}
                true => out.push(' '),
                false => out.push(c),
            }
            quote = match quote {
                None if matches!(c, '"' | '\'') => Some(c),
                Some(open) if open == c && !escaped => None,
                same => same,
            };
            escaped = quote.is_some() && c == '\\' && !escaped;
        }
        let end = if line.starts_with('#') { '\n' } else { ' ' };
        if !out.is_empty() && !out.ends_with([' ', '\n']) {
            out.push(end);
        }
    }
    out
}

/// Whether a line of preprocessed text says where the next one stands. Other lines with `#` are pragmas.
fn is_line_marker(line: &str) -> bool {
    let rest = line.strip_prefix('#').map(str::trim_start);
    rest.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
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
            let head = own.split(" {").next().unwrap().rsplit_once('(').unwrap().0;
            let name = head.rsplit([' ', '*']).next().unwrap().to_owned();
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
    fn functions_that_run_unnamed_belong_to_all_tests() {
        let own = "__attribute__((constructor)) static void h(void) { x = 2; }";
        let other = own.replace('2', "3");
        let whole = |h: &str| format!("int x;\n{G}\n{h}\n");
        let first = key(&whole(own), &[G, own], "g");
        assert_ne!(key(&whole(&other), &[G, &other], "g"), first);
        let (own, other) = ("void h(void) { x = 2; }", "void h(void) { x = 3; }");
        let whole =
            |h: &str| format!("int x;\nvoid h(void) __attribute__((__destructor__));\n{G}\n{h}\n");
        let first = key(&whole(own), &[G, own], "g");
        assert_ne!(key(&whole(other), &[G, other], "g"), first);
        let (own, other) =
            ("void *malloc(int n) { return 0; }", "void *malloc(int n) { return p; }");
        let whole = |h: &str| format!("char p[9];\n{G}\n{h}\n");
        let first = key(&whole(own), &[G, own], "g");
        assert_ne!(key(&whole(other), &[G, other], "g"), first, "the C library may call it");
    }

    #[test]
    fn blanks_in_texts_count_and_so_do_pragmas() {
        let first = key("char s[] = \"a  b\";\n", &[], "f");
        assert_ne!(key("char s[] = \"a b\";\n", &[], "f"), first);
        assert_eq!(
            key("char  s[]  =\n\"a  b\" ;\n", &[], "f"),
            key("char s[] = \"a  b\" ;", &[], "f")
        );
        assert_eq!(plain("c = '\"';  d = \"\\\"  \";  e"), "c = '\"'; d = \"\\\"  \"; e ");
        let packed = key("#pragma pack(1)\nstruct s { char c; int n; };\n", &[], "f");
        assert_ne!(key("struct s { char c; int n; };\n", &[], "f"), packed);
    }

    #[test]
    fn units_with_the_same_function_have_keys_of_their_own() {
        let named =
            |source: &str, text: &str| UnitMutants { source: source.into(), ..unit(text, &[G]) };
        let [a, b] = ["a.c", "b.c"].map(|source| named(source, G));
        let all = [a, b];
        let both = Dependences::of(&all);
        assert_ne!(both.unit(0), both.unit(1));
        // One file that is compiled twice.
        let [a, b] = ["", "int x;\n"].map(|before| named("a.c", &format!("{before}{G}")));
        let all = [a, b];
        let both = Dependences::of(&all);
        assert_ne!(both.unit(0), both.unit(1));
    }

    #[test]
    fn functions_in_tables_may_be_called_by_all() {
        let whole = |h: &str| format!("{F}\n{G}\n{h}\nint (*all[])(void) = {{ h }};\n");
        let first = key(&whole(H), &[F, G, H], "f");
        let other = "int h(void) { return 3; }";
        assert_ne!(key(&whole(other), &[F, G, other], "f"), first);
    }
}
