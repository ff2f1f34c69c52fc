//! The dependences among the modules of a crate, by the text of its source: the paths in `use` lines
//! and elsewhere that begin with `crate`, `super`, `self` or the name of a child module.
//!
//! Tests are left out, and so is a crate's root, which names all its modules.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A module, by the names that lead to it from the crate's root.
type Module = Vec<String>;

/// The modules of a crate that are files, each with the modules that it uses.
#[derive(Clone, Debug, Default)]
pub struct Structure {
    uses: BTreeMap<Module, BTreeSet<Module>>,
}

impl Structure {
    /// Reads the source of a crate from its `src` folder, without some files, which are named as they lie
    /// in it.
    ///
    /// # Errors
    /// Those of reading the files.
    pub fn read(src: &Path, without: &[&str]) -> io::Result<Self> {
        let mut files = BTreeMap::new();
        let mut folders = vec![src.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                } else if let Some(module) = module_of(src, &path, without) {
                    files.insert(module, fs::read_to_string(path)?);
                }
            }
        }
        let known: BTreeSet<Module> = files.keys().cloned().collect();
        let uses =
            files.iter().map(|(module, text)| (module.clone(), used_by(module, text, &known)));
        Ok(Self { uses: uses.collect() })
    }

    /// The number of dependences between the modules of the crate's root: from, to, and the number.
    pub fn arrows(&self) -> BTreeMap<(String, String), usize> {
        let mut arrows = BTreeMap::new();
        for (from, uses) in &self.uses {
            for to in uses.iter().filter(|to| to[0] != from[0]) {
                *arrows.entry((from[0].clone(), to[0].clone())).or_default() += 1;
            }
        }
        arrows
    }

    /// Files of the module `from` of the crate's root that use the module `to` of it.
    pub fn files_between(&self, from: &str, to: &str) -> Vec<String> {
        let of = self.uses.iter().filter(|(module, _)| module[0] == from);
        let of = of.filter(|(_, uses)| uses.iter().any(|used| used[0] == to));
        of.map(|(module, _)| module.join("::")).collect()
    }

    /// The number of files.
    pub fn files(&self) -> usize {
        self.uses.len()
    }

    /// The circles of files, each as large as can be: those that use each other, directly or through others.
    /// The largest comes first.
    pub fn circles(&self) -> Vec<Vec<String>> {
        let reach: BTreeMap<&Module, BTreeSet<&Module>> =
            self.uses.keys().map(|module| (module, self.reached_from(module))).collect();
        let mut placed: BTreeSet<&Module> = BTreeSet::new();
        let mut circles: Vec<Vec<String>> = Vec::new();
        for (module, reached) in &reach {
            if placed.contains(module) || !reached.contains(module) {
                continue;
            }
            let circle: Vec<&Module> =
                reached.iter().copied().filter(|other| reach[*other].contains(module)).collect();
            placed.extend(&circle);
            circles.push(circle.iter().map(|module| module.join("::")).collect());
        }
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }

    /// The modules that a module uses, directly or through others.
    fn reached_from<'a>(&'a self, module: &'a Module) -> BTreeSet<&'a Module> {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![module];
        while let Some(module) = waiting.pop() {
            waiting.extend(self.uses[module].iter().filter(|used| reached.insert(*used)));
        }
        reached
    }
}

/// The module that a file of a crate is; none of tests, of the crate's root, and of what is left out.
fn module_of(src: &Path, path: &Path, without: &[&str]) -> Option<Module> {
    let inside = path.strip_prefix(src).ok()?;
    let is_root = ["lib.rs", "main.rs"].iter().any(|root| inside == Path::new(root));
    let is_left_out = without.iter().any(|left_out| inside == Path::new(left_out));
    let is_rust = path.extension().is_some_and(|extension| extension == "rs");
    if !is_rust || is_root || is_left_out {
        return None;
    }
    let stem: PathBuf = inside.with_extension("");
    let names: Module = stem.iter().map(|name| name.to_string_lossy().into_owned()).collect();
    (names.last()? != "tests").then_some(names)
}

/// The modules that a module's text names.
fn used_by(module: &Module, text: &str, known: &BTreeSet<Module>) -> BTreeSet<Module> {
    let text = without_comments(without_tests(text));
    let mut found = BTreeSet::new();
    let is_start = |at: usize| {
        let before = text[..at].chars().next_back();
        let inside = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == ':');
        // `pub(in crate::module)` says who may use an item, and uses nothing.
        !inside && !text[..at].ends_with("(in ")
    };
    for child in known.iter().filter(|child| child.len() == module.len() + 1) {
        let Some(name) = child.strip_prefix(module.as_slice()).and_then(|rest| rest.first()) else {
            continue;
        };
        let path = format!("{name}::");
        for (at, _) in text.match_indices(&path).filter(|(at, _)| is_start(*at)) {
            add_tree(child, &text[at + path.len()..], known, &mut found);
        }
    }
    for keyword in ["crate::", "super::", "self::"] {
        for (at, _) in text.match_indices(keyword).filter(|(at, _)| is_start(*at)) {
            let mut base = match keyword {
                "crate::" => Module::new(),
                "self::" => module.clone(),
                _ => module[..module.len() - 1].to_vec(),
            };
            let mut rest = &text[at + keyword.len()..];
            while let Some(further) = rest.strip_prefix("super::") {
                base.pop();
                rest = further;
            }
            add_tree(&base, rest, known, &mut found);
        }
    }
    found.remove(module);
    found
}

/// Adds the modules that a path, or a tree of paths in braces, leads to. Gives how long its text is.
fn add_tree(
    base: &Module,
    text: &str,
    known: &BTreeSet<Module>,
    found: &mut BTreeSet<Module>,
) -> usize {
    let mut path = base.clone();
    let mut at = 0;
    loop {
        let rest = &text[at..];
        if let Some(inner) = rest.strip_prefix('{') {
            return at + 1 + add_branches(&path, inner, known, found);
        }
        let name = rest.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(rest.len());
        path.push(rest[..name].to_owned());
        at += name;
        if name == 0 || !text[at..].starts_with("::") {
            break;
        }
        at += 2;
    }
    // The rest of the path after the module is an item in it.
    let module = (1..=path.len()).rev().map(|count| path[..count].to_vec());
    found.extend(module.into_iter().find(|module| known.contains(module)));
    at
}

/// The same for what stands between braces.
fn add_branches(
    base: &Module,
    text: &str,
    known: &BTreeSet<Module>,
    found: &mut BTreeSet<Module>,
) -> usize {
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let first = rest.chars().next().unwrap_or('}');
        if first == '}' {
            return at + 1;
        }
        at += match first.is_alphabetic() || first == '_' || first == '{' {
            true => add_tree(base, rest, known, found).max(1),
            false => first.len_utf8(),
        };
    }
    at
}

/// The text before a module of tests.
fn without_tests(text: &str) -> &str {
    let tests = text.match_indices("#[cfg(test)]\n").find(|(at, found)| {
        let line = text[at + found.len()..].lines().next().unwrap_or_default();
        line.contains("mod tests") && line.ends_with('{')
    });
    tests.map_or(text, |(at, _)| &text[..at])
}

fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    lines.flat_map(|line| [line, "\n"]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn structure(files: &[(&str, &str)]) -> Structure {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().expect("a file lies in a folder"))
                .expect("it can be made");
            fs::write(path, text).expect("a file can be written");
        }
        Structure::read(folder.path(), &["left.rs"]).expect("it can be read")
    }

    #[test]
    fn arrows_lead_from_whoever_names_a_module_to_it() {
        let found = structure(&[
            ("lib.rs", "mod a; use crate::b::c::Item;"),
            ("left.rs", "use crate::a::Thing;"),
            ("a.rs", "// use crate::d::No;\nuse crate::b::{c::{Item, Other}, Own};"),
            ("b.rs", "mod c;"),
            (
                "b/c.rs",
                "use super::super::d::Item;\n#[cfg(test)]\nmod tests {\n use crate::a::X;\n}",
            ),
            ("d.rs", "fn f() { crate::a::thing(); }"),
        ]);
        let arrows: Vec<(String, String)> = found.arrows().into_keys().collect();
        let arrow = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(arrows, [arrow("a", "b"), arrow("b", "d"), arrow("d", "a")]);
        assert_eq!(found.circles(), [["a", "b::c", "d"]]);
        assert_eq!(found.files_between("b", "d"), ["b::c"]);
        assert_eq!(found.files(), 4);
    }

    #[test]
    fn a_path_from_a_child_is_a_use_and_a_visibility_is_none() {
        let found = structure(&[
            ("a.rs", "mod b;\nmod c;\nuse b::Item;\nfn f() { other::c::g(); }"),
            ("a/b.rs", "pub(in crate::a) struct Item(super::Thing);"),
            ("a/c.rs", "pub(in crate::a) fn g() {}"),
        ]);
        assert_eq!(found.circles(), [["a", "a::b"]]);
    }
}
