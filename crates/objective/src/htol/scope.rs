//! Scopes: the labels, objectives and paths that the names of a file stand for.
//!
//! Each function has names of its own. A name is known after the item that defines it, so that it never
//! stands for itself.

use std::collections::{BTreeMap, BTreeSet};

use super::form::visible_names;
use super::syntax::{File, Item, LabelRef, LabelTree, Name, Named, PathTree, Tree, TreeKind};

/// The names of a file.
#[derive(Debug, Default)]
pub(crate) struct Scopes<'f> {
    functions: BTreeMap<&'f str, BTreeMap<&'f str, NameEntry<'f>>>,
}

/// A name's item and the position where it is defined.
#[derive(Debug)]
struct NameEntry<'f> {
    /// The position of the item in the file.
    item: usize,
    named: NamedItem<'f>,
    /// The names that it binds.
    binds: BTreeSet<String>,
}

/// An item that has a name.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NamedItem<'f> {
    Label(&'f LabelTree),
    Objective(&'f Tree),
    Path(&'f PathTree),
}

/// The item that a tree is written in: the function of its section, and its position in the file. Names of
/// items before it are known in it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ItemPosition<'f> {
    pub(crate) function: &'f str,
    pub(crate) item: usize,
}

impl<'f> ItemPosition<'f> {
    /// The function of a name or place that may name another one.
    pub(crate) fn function_of(self, named: Option<&'f Name>) -> &'f str {
        named.map_or(self.function, |name| &name.text)
    }
}

impl<'f> Scopes<'f> {
    /// The names of a file. Of those that are defined twice the first one counts; names that are
    /// not well-formed bind nothing.
    pub(crate) fn of(file: &'f File) -> Self {
        let mut this = Self::default();
        let mut function = "";
        for (item, of) in file.items.iter().enumerate() {
            let (name, named) = match of {
                Item::Function(name) => {
                    function = &name.text;
                    continue;
                }
                Item::Label(name, label) => (name, NamedItem::Label(label)),
                Item::Objective(name, tree) => (name, NamedItem::Objective(tree)),
                Item::Path(name, path) => (name, NamedItem::Path(path)),
            };
            let binds = this.binds(named, ItemPosition { function, item });
            let own = this.functions.entry(function).or_default();
            own.entry(&name.text).or_insert(NameEntry { item, named, binds });
        }
        this
    }

    fn binds(&self, named: NamedItem<'f>, from: ItemPosition<'f>) -> BTreeSet<String> {
        let known = |name: &Named| self.binds_of(name, from).cloned();
        let names = match named {
            NamedItem::Label(label) => {
                let kind = TreeKind::Label(label.clone());
                visible_names(&Tree { kind, at: label.at.clone() }, &known)
            }
            NamedItem::Objective(tree) => visible_names(tree, &known),
            NamedItem::Path(_) => return BTreeSet::new(),
        };
        names.unwrap_or_default()
    }

    fn find(&self, name: &Named, from: ItemPosition<'_>) -> Option<(&'f str, &NameEntry<'f>)> {
        let function = name.function.as_ref().map_or(from.function, |name| &name.text);
        let (function, own) = self.functions.get_key_value(function)?;
        let found = own.get(name.name.text.as_str())?;
        (found.item < from.item).then_some((*function, found))
    }

    /// The item that a name stands for in another item, and where it is written.
    pub(crate) fn get(
        &self,
        name: &Named,
        from: ItemPosition<'_>,
    ) -> Option<(NamedItem<'f>, ItemPosition<'f>)> {
        let (function, found) = self.find(name, from)?;
        Some((found.named, ItemPosition { function, item: found.item }))
    }

    /// The names that a label or objective binds.
    pub(crate) fn binds_of(
        &self,
        name: &Named,
        from: ItemPosition<'_>,
    ) -> Option<&BTreeSet<String>> {
        Some(&self.find(name, from)?.1.binds)
    }

    /// The position of the item that defines a name of a function.
    pub(crate) fn item_of(&self, function: &str, name: &str) -> Option<usize> {
        Some(self.functions.get(function)?.get(name)?.item)
    }

    /// The function in which a label stands.
    pub(crate) fn function_of<'t>(&self, label: &'t LabelTree, from: ItemPosition<'t>) -> &'t str
    where
        'f: 't,
    {
        match &label.label {
            LabelRef::At(point, _) => from.function_of(point.function.as_ref()),
            LabelRef::Named(name) => match self.get(name, from) {
                Some((NamedItem::Label(defined), at)) => self.function_of(defined, at),
                _ => from.function_of(name.function.as_ref()),
            },
        }
    }
}
