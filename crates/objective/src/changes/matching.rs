//! Which functions and nodes of two versions are the same.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::SourceMap;
use lydian_ir::{Body, CTypeId, CTypes, FuncId, GlobalId, LocalId, Program};
use rustc_hash::{FxHashMap, FxHashSet};
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::nodes::{NodeId, Nodes, global_text, is_named};
use crate::fingerprint::{code_fingerprint, reachable};

/// A version of a program.
#[derive(Clone, Copy, Debug)]
pub struct VersionOf<'a> {
    /// The program.
    pub program: &'a Program,
    /// The text that it was lowered from.
    pub map: &'a SourceMap,
}

/// How a function differs between two versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FunctionStatus {
    /// It is the same, with all that a run of it can reach.
    Equal,
    /// Its own text is the same; a function or variable that it reaches is not.
    ReachesChange,
    /// Its text differs.
    Changed,
    /// The old version does not define it.
    Added,
    /// The new version does not define it.
    Removed,
    /// Its type differs.
    Signature {
        /// As C spells it in the old version.
        old: String,
        /// As C spells it in the new version.
        new: String,
    },
}

/// A function in both versions.
#[derive(Clone, Debug)]
pub struct FunctionChange {
    /// Its name.
    pub name: String,
    /// The function of the old version, if that defines it.
    pub old: Option<FuncId>,
    /// The function of the new version, if that defines it.
    pub new: Option<FuncId>,
    /// How it differs.
    pub status: FunctionStatus,
    /// The nodes that are the same. Empty unless both versions define it.
    pub nodes: NodeMatching,
}

/// The nodes of a function in both versions.
#[derive(Clone, Debug, Default)]
pub struct NodeMatching {
    /// The old node of each matched new one.
    pub old_of: FxHashMap<NodeId, NodeId>,
    /// The new node of each matched old one.
    pub new_of: FxHashMap<NodeId, NodeId>,
    /// The new local of each old one that matched nodes name.
    pub locals: FxHashMap<LocalId, LocalId>,
    /// The new nodes that are not matched, in order.
    pub added: BTreeSet<NodeId>,
    /// The old nodes that are not matched, in order.
    pub removed: BTreeSet<NodeId>,
    /// Matched new nodes behind which control comes to other nodes than in the old version.
    pub redirected: BTreeSet<NodeId>,
}

/// The difference between two versions of a program.
#[derive(Clone, Debug)]
pub struct ProgramChanges {
    /// The functions that a version defines: those of the new version in its order, then those that it
    /// does not define any more. Functions of the C library are left out.
    pub functions: Vec<FunctionChange>,
    /// The globals of both versions that do not begin alike: the old one and the new one.
    pub globals: Vec<(GlobalId, GlobalId)>,
}

impl ProgramChanges {
    /// Matches the functions of two versions by their names, and the nodes of those that differ.
    /// `settings` has what else decides the meaning of both, such as the flags.
    pub fn between(old: VersionOf<'_>, new: VersionOf<'_>, settings: &str) -> Self {
        let own = |program: &Program| -> Vec<(FuncId, String)> {
            let defined = program.defined().filter(|(_, function)| !function.library);
            defined.map(|(id, function)| (id, function.name.clone())).collect()
        };
        let before: FxHashMap<String, FuncId> =
            own(old.program).into_iter().map(|(id, name)| (name, id)).collect();
        let mut functions = Vec::new();
        let mut known = FxHashSet::default();
        for (id, name) in own(new.program) {
            known.insert(name.clone());
            functions.push(match before.get(&name) {
                Some(earlier) => in_both((old, *earlier), (new, id), settings),
                None => in_one(name, (None, Some(id)), FunctionStatus::Added),
            });
        }
        let gone = own(old.program).into_iter().filter(|(_, name)| !known.contains(name));
        functions
            .extend(gone.map(|(id, name)| in_one(name, (Some(id), None), FunctionStatus::Removed)));
        Self { functions, globals: changed_globals(old.program, new.program) }
    }

    /// Whether two versions of a function have the same code: all nodes are matched of all functions
    /// that they reach, and so are the variables with their contents. Their texts may differ, and so may
    /// parts of types that they do not use.
    pub fn is_equal_code(&self, (old, new): (&Program, &Program), change: &FunctionChange) -> bool {
        let (Some(before), Some(after)) = (change.old, change.new) else { return false };
        let (olds, news) = (reachable(old, before), reachable(new, after));
        let is_same = |(name, id): (&&str, &FuncId)| match self.of_new(*id) {
            Some(one) => {
                let is_compared =
                    !matches!(one.status, FunctionStatus::Added | FunctionStatus::Signature { .. });
                is_compared && one.nodes.is_identity() && one.old == olds.0.get(name).copied()
            }
            None => olds.0.get(name).is_some_and(|id| self.of_old(*id).is_none()),
        };
        olds.0.len() == news.0.len()
            && news.0.iter().all(is_same)
            && named_globals(old, &olds.1) == named_globals(new, &news.1)
    }

    /// The change of a function of the new version.
    pub fn of_new(&self, function: FuncId) -> Option<&FunctionChange> {
        self.functions.iter().find(|change| change.new == Some(function))
    }

    /// The change of a function of the old version.
    pub fn of_old(&self, function: FuncId) -> Option<&FunctionChange> {
        self.functions.iter().find(|change| change.old == Some(function))
    }
}

/// The globals of both versions that do not begin alike, by their names.
fn changed_globals(old: &Program, new: &Program) -> Vec<(GlobalId, GlobalId)> {
    let in_both = new.globals.ids().filter(|id| is_named(new, *id)).filter_map(|id| {
        let before = old.global_named(&new.globals[id].name)?;
        Some((before, id))
    });
    in_both.filter(|both| global_text(old, both.0) != global_text(new, both.1)).collect()
}

/// The variables among some globals, with their contents.
fn named_globals(program: &Program, globals: &BTreeMap<&str, GlobalId>) -> Vec<String> {
    let named = globals.values().filter(|id| is_named(program, **id));
    named.map(|id| global_text(program, *id)).collect()
}

fn in_one(
    name: String,
    (old, new): (Option<FuncId>, Option<FuncId>),
    status: FunctionStatus,
) -> FunctionChange {
    FunctionChange { name, old, new, status, nodes: NodeMatching::default() }
}

fn in_both(
    (old, before): (VersionOf<'_>, FuncId),
    (new, after): (VersionOf<'_>, FuncId),
    settings: &str,
) -> FunctionChange {
    let name = new.program.functions[after].name.clone();
    let types = (old.program.functions[before].ty, new.program.functions[after].ty);
    let spelled = (signature(&old.program.types, types.0), signature(&new.program.types, types.1));
    // A pointer to const leads to the same objects.
    let plain = |spelled: &str| spelled.replace("const ", "");
    let status = if plain(&spelled.0) != plain(&spelled.1) {
        let (old, new) =
            (old.program.types.spell(types.0, &name), new.program.types.spell(types.1, &name));
        FunctionStatus::Signature { old, new }
    } else if code_fingerprint(old.program, old.map, before, settings)
        == code_fingerprint(new.program, new.map, after, settings)
    {
        FunctionStatus::Equal
    } else {
        FunctionStatus::Changed
    };
    let nodes = NodeMatching::of((old.program, before), (new.program, after));
    let status = match status {
        FunctionStatus::Changed if nodes.is_identity() => FunctionStatus::ReachesChange,
        other => other,
    };
    FunctionChange { name, old: Some(before), new: Some(after), status, nodes }
}

/// A function type with the layouts of the records that it passes by value.
fn signature(types: &CTypes, ty: CTypeId) -> String {
    let mut parts = CTypes::parts(types.get(ty));
    parts.retain(|part| types.is_aggregate(*part));
    let layouts = parts.iter().map(|part| (types.size(*part), types.align(*part)));
    format!("{} {:?}", types.spell(ty, ""), layouts.collect::<Vec<_>>())
}

impl NodeMatching {
    /// Matches the nodes of a function's two versions. Both have a body.
    fn of((old, before): (&Program, FuncId), (new, after): (&Program, FuncId)) -> Self {
        let (Some(old_body), Some(new_body)) =
            (&old.functions[before].body, &new.functions[after].body)
        else {
            return Self::default();
        };
        let olds = Nodes::of(old, before, old_body);
        let news = Nodes::of(new, after, new_body);
        let mut this = Self::default();
        let mut locals = LocalPairs::of_parameters(old_body, new_body);
        for (a, b) in aligned(&olds, &news) {
            if locals.agree(&olds.all[a].locals, &news.all[b].locals) {
                this.old_of.insert(b, a);
                this.new_of.insert(a, b);
            }
        }
        this.added = news.ids().filter(|node| !this.old_of.contains_key(node)).collect();
        this.removed = olds.ids().filter(|node| !this.new_of.contains_key(node)).collect();
        this.redirected = this.find_redirected(&olds, &news);
        this.locals = locals.new_of;
        this
    }

    /// Whether both versions have the same nodes, in the same order of control.
    pub fn is_identity(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.redirected.is_empty()
    }

    /// The matched nodes behind which control comes to other matched nodes than in the old version. On
    /// the way there may be nodes that are not matched.
    fn find_redirected(&self, olds: &Nodes, news: &Nodes) -> BTreeSet<NodeId> {
        let leads_elsewhere = |(new, old): (&NodeId, &NodeId)| {
            let (before, after) = (&olds.all[*old].successors, &news.all[*new].successors);
            let is_same = |(a, b): (&Option<NodeId>, &Option<NodeId>)| {
                let is_old = |node: NodeId| self.new_of.contains_key(&node);
                let is_new = |node: NodeId| self.old_of.contains_key(&node);
                let came: BTreeSet<NodeId> = next_matched(olds, *a, &is_old)
                    .iter()
                    .filter_map(|node| self.new_of.get(node).copied())
                    .collect();
                came == next_matched(news, *b, &is_new)
            };
            before.len() != after.len() || !before.iter().zip(after).all(is_same)
        };
        let all = self.old_of.iter().filter(|(new, old)| leads_elsewhere((new, old)));
        all.map(|(new, _)| *new).collect()
    }
}

/// The matched nodes that control comes to first from a node on, which counts itself.
fn next_matched(
    nodes: &Nodes,
    from: Option<NodeId>,
    is_matched: &dyn Fn(NodeId) -> bool,
) -> BTreeSet<NodeId> {
    let mut found = BTreeSet::new();
    let mut seen = FxHashSet::default();
    let mut waiting: Vec<NodeId> = from.into_iter().collect();
    while let Some(node) = waiting.pop() {
        if !seen.insert(node) {
            continue;
        }
        match is_matched(node) {
            true => _ = found.insert(node),
            false => waiting.extend(nodes.all[node].successors.iter().flatten()),
        }
    }
    found
}

/// The nodes with equal texts in an alignment of both sequences, in order.
fn aligned(olds: &Nodes, news: &Nodes) -> Vec<(NodeId, NodeId)> {
    let texts = |nodes: &Nodes| -> Vec<(NodeId, String)> {
        nodes.all.iter().map(|(id, node)| (id, node.text.clone())).collect()
    };
    let (olds, news) = (texts(olds), texts(news));
    let of = |all: &[(NodeId, String)]| -> Vec<String> {
        all.iter().map(|(_, text)| text.clone()).collect()
    };
    let mut pairs = Vec::new();
    for op in capture_diff_slices(Algorithm::Myers, &of(&olds), &of(&news)) {
        if let DiffOp::Equal { old_index, new_index, len } = op {
            pairs.extend((0..len).map(|at| (olds[old_index + at].0, news[new_index + at].0)));
        }
    }
    pairs
}

/// The locals that are the same in both versions: a bijection.
#[derive(Default)]
struct LocalPairs {
    new_of: FxHashMap<LocalId, LocalId>,
    old_of: FxHashMap<LocalId, LocalId>,
}

impl LocalPairs {
    /// Parameters are the same by their positions.
    fn of_parameters(old: &Body, new: &Body) -> Self {
        let mut this = Self::default();
        for (a, b) in old.params.iter().zip(&new.params) {
            this.add(*a, *b);
        }
        this
    }

    fn add(&mut self, a: LocalId, b: LocalId) {
        self.new_of.insert(a, b);
        self.old_of.insert(b, a);
    }

    /// Whether the locals of two nodes may be the same. If so, they are from then on.
    fn agree(&mut self, olds: &[LocalId], news: &[LocalId]) -> bool {
        let mut fresh: Vec<(LocalId, LocalId)> = Vec::new();
        for (a, b) in olds.iter().zip(news) {
            let of_a = self
                .new_of
                .get(a)
                .or_else(|| fresh.iter().find(|(other, _)| other == a).map(|(_, paired)| paired));
            let of_b = self
                .old_of
                .get(b)
                .or_else(|| fresh.iter().find(|(_, other)| other == b).map(|(paired, _)| paired));
            match (of_a, of_b) {
                (None, None) => fresh.push((*a, *b)),
                (Some(known), Some(back)) if known == b && back == a => {}
                _ => return false,
            }
        }
        fresh.into_iter().for_each(|(a, b)| self.add(a, b));
        olds.len() == news.len()
    }
}
