//! References: labels and duties of a passage that an objective of one function takes from another.
//!
//! A hyperlabel belongs to the function in whose section it is written, and may name labels and
//! places of others. The references to a function are kept in the order of the files, so that
//! everyone who binds them gives their labels the same numbers.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::{FuncId, Program};
use rustc_hash::FxHashMap;

use super::file::HtolFile;
use super::form::names_of_label;
use super::scope::{ItemPosition, NamedItem, Scopes};
use super::syntax::{Duty, File, Item, LabelRef, LabelTree, Named, SequenceTree, Tree, TreeKind};

/// The most labels and sequences of an objective, once its names are replaced by the trees that they
/// stand for.
pub(crate) const MOST_PARTS: usize = 10_000;

/// The user's files with the references between functions in them.
#[derive(Debug, Default)]
pub(crate) struct References<'a> {
    pub(crate) files: Vec<ScopedFile<'a>>,
    /// The references to each function, in the order of the files.
    to: BTreeMap<FuncId, Vec<Reference<'a>>>,
    index: FxHashMap<ReferenceKey, ReferencePosition>,
}

/// A file with the names that are defined in it.
#[derive(Debug)]
pub(crate) struct ScopedFile<'a> {
    pub(crate) file: &'a File,
    pub(crate) scopes: Scopes<'a>,
}

/// A label or duty of another function than the objective's.
#[derive(Debug)]
pub(crate) struct Reference<'a> {
    /// The position of the file.
    pub(crate) file: usize,
    /// The item that it is written in.
    pub(crate) from: ItemPosition<'a>,
    pub(crate) tree: ReferencedTree<'a>,
}

/// The tree of a reference.
#[derive(Debug)]
pub(crate) enum ReferencedTree<'a> {
    Label(&'a LabelTree),
    /// A duty of a passage, with the names that labels before it bind.
    Duty(&'a Duty, BTreeSet<String>),
}

/// Identifies a reference by its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct ReferenceKey {
    file: usize,
    /// The offset in the file at which it begins.
    start: usize,
}

/// A reference among those to a function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReferencePosition {
    pub(crate) function: FuncId,
    /// The position in [`References::to`] the function.
    pub(crate) position: usize,
}

impl<'a> References<'a> {
    pub(crate) fn of(program: &Program, files: &'a [HtolFile]) -> Self {
        let files = files.iter().map(|file| &file.file);
        let files = files.map(|file| ScopedFile { file, scopes: Scopes::of(file) });
        let files: Vec<_> = files.collect();
        let (mut to, mut index) = (BTreeMap::new(), FxHashMap::default());
        for (number, ScopedFile { file, scopes }) in files.iter().enumerate() {
            let mut collector = Collector {
                program,
                file: number,
                scopes,
                owner: "",
                parts: 0,
                to: &mut to,
                index: &mut index,
            };
            collector.items(file);
        }
        Self { files, to, index }
    }

    /// The references to a function, in the order of the files.
    pub(crate) fn to(&self, function: FuncId) -> &[Reference<'a>] {
        self.to.get(&function).map_or(&[], Vec::as_slice)
    }

    /// The reference that begins at an offset of a file; `None` if no such reference is to a function
    /// with a body.
    pub(crate) fn at(&self, file: usize, start: usize) -> Option<ReferencePosition> {
        self.index.get(&ReferenceKey { file, start }).copied()
    }
}

/// A function of this name that has a body.
pub(crate) fn function_named(program: &Program, name: &str) -> Option<FuncId> {
    let found = program.function_named(name)?;
    program.functions[found].body.is_some().then_some(found)
}

/// Collects the references of a file.
struct Collector<'w, 'a> {
    program: &'w Program,
    file: usize,
    scopes: &'w Scopes<'a>,
    /// The function whose objectives are walked.
    owner: &'a str,
    parts: usize,
    to: &'w mut BTreeMap<FuncId, Vec<Reference<'a>>>,
    index: &'w mut FxHashMap<ReferenceKey, ReferencePosition>,
}

impl<'a> Collector<'_, 'a> {
    fn items(&mut self, file: &'a File) {
        for (item, of) in file.items.iter().enumerate() {
            match of {
                Item::Function(name) => self.owner = &name.text,
                Item::Objective(_, tree) => {
                    self.parts = 0;
                    self.tree(tree, ItemPosition { function: self.owner, item });
                }
                Item::Label(..) | Item::Path(..) => {}
            }
        }
    }

    fn tree(&mut self, tree: &'a Tree, from: ItemPosition<'a>) {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            return;
        }
        match &tree.kind {
            TreeKind::Label(label) => {
                let named = match &label.label {
                    LabelRef::Named(name) => self.scopes.get(name, from),
                    LabelRef::At(..) => None,
                };
                match named {
                    Some((NamedItem::Objective(tree), at)) => self.tree(tree, at),
                    Some((NamedItem::Path(_), _)) => {}
                    _ => self.label(label, from),
                }
            }
            TreeKind::Sequence(sequence) => self.sequence(sequence, from),
            TreeKind::Guard(inner, _) => self.tree(inner, from),
            TreeKind::All(parts) | TreeKind::Any(parts) => {
                parts.iter().for_each(|part| self.tree(part, from));
            }
        }
    }

    fn sequence(&mut self, sequence: &'a SequenceTree, from: ItemPosition<'a>) {
        let mut bound = BTreeSet::new();
        for (position, label) in sequence.labels.iter().enumerate() {
            let duties = position.checked_sub(1).map(|before| &sequence.passages[before]);
            for duty in duties.into_iter().flatten() {
                let function = from.function_of(duty.point.function.as_ref());
                let tree = ReferencedTree::Duty(duty, bound.clone());
                self.push(function, duty.point.at.0.start, from, tree);
            }
            self.label(label, from);
            let known = |name: &Named| self.scopes.binds_of(name, from).cloned();
            bound.extend(names_of_label(label, &known).unwrap_or_default());
        }
    }

    fn label(&mut self, label: &'a LabelTree, from: ItemPosition<'a>) {
        let function = self.scopes.function_of(label, from);
        self.push(function, label.at.0.start, from, ReferencedTree::Label(label));
    }

    fn push(
        &mut self,
        function: &str,
        start: usize,
        from: ItemPosition<'a>,
        tree: ReferencedTree<'a>,
    ) {
        if function == self.owner {
            return;
        }
        let Some(function) = function_named(self.program, function) else { return };
        let references = self.to.entry(function).or_default();
        let key = ReferenceKey { file: self.file, start };
        self.index.entry(key).or_insert_with(|| {
            references.push(Reference { file: self.file, from, tree });
            ReferencePosition { function, position: references.len() - 1 }
        });
    }
}
