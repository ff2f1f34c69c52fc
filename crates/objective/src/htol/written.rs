//! What the objectives of one function ask of others.
//!
//! A hyperlabel belongs to the function in whose section it is written, and may name labels and
//! places of others. An atom of another function names that function's label by its number, so
//! these labels are made before all others of the function, in the order of the files: whoever
//! annotates the function, or only asks for its labels, gets the same numbers.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::{FuncId, Program};
use rustc_hash::FxHashMap;

use super::HtolError;
use super::bind::{Binder, Bound};
use super::form::names_of_label;
use super::scope::{Home, Scopes, What};
use super::syntax::{Duty, File, Item, LabelTree, SequenceTree, Tree, TreeKind};
use crate::annotate::{Context, HtolFile};

/// How many labels and sequences an objective may have when its names are replaced by what they
/// stand for.
pub(super) const PARTS: usize = 10_000;

/// All files of a request.
#[derive(Debug, Default)]
pub(crate) struct Written<'a> {
    pub(super) files: Vec<(&'a File, Scopes<'a>)>,
    /// What is asked of each function by others, in order.
    pieces: BTreeMap<FuncId, Vec<Piece<'a>>>,
    /// The function and the position of each piece, by its file and where it begins.
    index: FxHashMap<(usize, usize), (FuncId, usize)>,
}

/// What is asked of a function by another.
#[derive(Debug)]
struct Piece<'a> {
    file: usize,
    home: Home<'a>,
    what: Asked<'a>,
}

#[derive(Debug)]
enum Asked<'a> {
    Label(&'a LabelTree),
    /// A duty of a passage, with the names that labels before it bind.
    Duty(&'a Duty, BTreeSet<String>),
}

impl<'a> Written<'a> {
    pub(crate) fn of(program: &Program, files: &'a [HtolFile]) -> Self {
        let files = files.iter().map(|file| (&file.file, Scopes::of(&file.file)));
        let files: Vec<_> = files.collect();
        let (mut pieces, mut index) = (BTreeMap::new(), FxHashMap::default());
        for (number, (file, scopes)) in files.iter().enumerate() {
            let mut walk = Walk {
                program,
                file: number,
                scopes,
                owner: "",
                parts: 0,
                pieces: &mut pieces,
                index: &mut index,
            };
            walk.items(file);
        }
        Self { files, pieces, index }
    }

    /// Makes the labels of a function that others name, and evaluates what they bind.
    pub(crate) fn pieces(&self, cx: &mut Context<'_>) -> Vec<Result<Bound, HtolError>> {
        let asked = self.pieces.get(&cx.id()).into_iter().flatten();
        let bind = |piece: &Piece<'a>| {
            let binder = Binder::new(self, piece.file);
            match &piece.what {
                Asked::Label(label) => binder.atom(cx, label, piece.home),
                Asked::Duty(duty, bound) => binder.duty(cx, duty, bound),
            }
        };
        asked.map(bind).collect()
    }

    /// The function and the position of what a tree of a file asks of another function.
    pub(super) fn place_of(&self, file: usize, start: usize) -> Option<(FuncId, usize)> {
        self.index.get(&(file, start)).copied()
    }
}

/// A function of this name that has a body.
pub(super) fn function_named(program: &Program, name: &str) -> Option<FuncId> {
    let found = program.function_named(name)?;
    program.functions[found].body.is_some().then_some(found)
}

/// Gathers pieces.
struct Walk<'w, 'a> {
    program: &'w Program,
    file: usize,
    scopes: &'w Scopes<'a>,
    /// The function whose objectives are walked.
    owner: &'a str,
    parts: usize,
    pieces: &'w mut BTreeMap<FuncId, Vec<Piece<'a>>>,
    index: &'w mut FxHashMap<(usize, usize), (FuncId, usize)>,
}

impl<'a> Walk<'_, 'a> {
    fn items(&mut self, file: &'a File) {
        for (item, of) in file.items.iter().enumerate() {
            match of {
                Item::Function(name) => self.owner = &name.text,
                Item::Objective(_, tree) => {
                    self.parts = 0;
                    self.tree(tree, Home { function: self.owner, item });
                }
                Item::Label(..) | Item::Path(..) => {}
            }
        }
    }

    fn tree(&mut self, tree: &'a Tree, home: Home<'a>) {
        self.parts += 1;
        if self.parts > PARTS {
            return;
        }
        match &tree.kind {
            TreeKind::Label(label) => {
                let named = match &label.label {
                    super::syntax::LabelRef::Named(name) => self.scopes.get(name, home),
                    super::syntax::LabelRef::At(..) => None,
                };
                match named {
                    Some((What::Objective(tree), at)) => self.tree(tree, at),
                    Some((What::Path(_), _)) => {}
                    _ => self.label(label, home),
                }
            }
            TreeKind::Sequence(sequence) => self.sequence(sequence, home),
            TreeKind::Guard(inner, _) => self.tree(inner, home),
            TreeKind::All(parts) | TreeKind::Any(parts) => {
                parts.iter().for_each(|part| self.tree(part, home));
            }
        }
    }

    fn sequence(&mut self, sequence: &'a SequenceTree, home: Home<'a>) {
        let mut bound = BTreeSet::new();
        for (position, label) in sequence.labels.iter().enumerate() {
            let duties = position.checked_sub(1).map(|before| &sequence.passages[before]);
            for duty in duties.into_iter().flatten() {
                let function = home.function_of(duty.point.function.as_ref());
                let what = Asked::Duty(duty, bound.clone());
                self.push(function, duty.point.at.0.start, home, what);
            }
            self.label(label, home);
            let known = |name: &super::syntax::Named| self.scopes.binds_of(name, home).cloned();
            bound.extend(names_of_label(label, &known).unwrap_or_default());
        }
    }

    fn label(&mut self, label: &'a LabelTree, home: Home<'a>) {
        let function = self.scopes.function_of(label, home);
        self.push(function, label.at.0.start, home, Asked::Label(label));
    }

    fn push(&mut self, function: &str, start: usize, home: Home<'a>, what: Asked<'a>) {
        if function == self.owner {
            return;
        }
        let Some(function) = function_named(self.program, function) else { return };
        let all = self.pieces.entry(function).or_default();
        self.index.entry((self.file, start)).or_insert_with(|| {
            all.push(Piece { file: self.file, home, what });
            (function, all.len() - 1)
        });
    }
}
