//! What the names of a file stand for: function by function, and from the place on where each is
//! defined, so that a name never stands for itself.

use std::collections::{BTreeMap, BTreeSet};

use super::form::visible_names;
use super::syntax::{File, Item, LabelRef, LabelTree, Name, Named, PathTree, Tree, TreeKind};

/// The names of a file.
#[derive(Debug, Default)]
pub(crate) struct Scopes<'f> {
    functions: BTreeMap<&'f str, BTreeMap<&'f str, Defined<'f>>>,
}

/// What a name stands for.
#[derive(Debug)]
struct Defined<'f> {
    /// The position of the item in the file.
    item: usize,
    what: What<'f>,
    /// The names that it binds.
    binds: BTreeSet<String>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum What<'f> {
    Label(&'f LabelTree),
    Objective(&'f Tree),
    Path(&'f PathTree),
}

/// Where a tree is written: the function whose section it is in, and the position of its item,
/// which sees what is defined before.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Home<'f> {
    pub(crate) function: &'f str,
    pub(crate) item: usize,
}

impl<'f> Home<'f> {
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
            let (name, what) = match of {
                Item::Function(name) => {
                    function = &name.text;
                    continue;
                }
                Item::Label(name, label) => (name, What::Label(label)),
                Item::Objective(name, tree) => (name, What::Objective(tree)),
                Item::Path(name, path) => (name, What::Path(path)),
            };
            let binds = this.binds(what, Home { function, item });
            let own = this.functions.entry(function).or_default();
            own.entry(&name.text).or_insert(Defined { item, what, binds });
        }
        this
    }

    fn binds(&self, what: What<'f>, home: Home<'f>) -> BTreeSet<String> {
        let known = |name: &Named| self.binds_of(name, home).cloned();
        let names = match what {
            What::Label(label) => {
                let kind = TreeKind::Label(label.clone());
                visible_names(&Tree { kind, at: label.at.clone() }, &known)
            }
            What::Objective(tree) => visible_names(tree, &known),
            What::Path(_) => return BTreeSet::new(),
        };
        names.unwrap_or_default()
    }

    fn find(&self, name: &Named, home: Home<'_>) -> Option<(&'f str, &Defined<'f>)> {
        let function = name.function.as_ref().map_or(home.function, |name| &name.text);
        let (function, own) = self.functions.get_key_value(function)?;
        let found = own.get(name.name.text.as_str())?;
        (found.item < home.item).then_some((*function, found))
    }

    /// What a name stands for at a place of the file, and where that is written.
    pub(crate) fn get(&self, name: &Named, home: Home<'_>) -> Option<(What<'f>, Home<'f>)> {
        let (function, found) = self.find(name, home)?;
        Some((found.what, Home { function, item: found.item }))
    }

    /// The names that a label or objective binds.
    pub(crate) fn binds_of(&self, name: &Named, home: Home<'_>) -> Option<&BTreeSet<String>> {
        Some(&self.find(name, home)?.1.binds)
    }

    /// The position of the item that defines a name of a function.
    pub(crate) fn item_of(&self, function: &str, name: &str) -> Option<usize> {
        Some(self.functions.get(function)?.get(name)?.item)
    }

    /// The function in which a label stands.
    pub(crate) fn function_of<'t>(&self, label: &'t LabelTree, home: Home<'t>) -> &'t str
    where
        'f: 't,
    {
        match &label.label {
            LabelRef::At(point, _) => home.function_of(point.function.as_ref()),
            LabelRef::Named(name) => match self.get(name, home) {
                Some((What::Label(defined), at)) => self.function_of(defined, at),
                _ => home.function_of(name.function.as_ref()),
            },
        }
    }
}
