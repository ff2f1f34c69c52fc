//! What is left to cover, by the place where it is decided.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::EntityId;
use lydian_ir::source::Point;
use lydian_ir::trap::may_trap;
use lydian_ir::{Body, ConditionId, DecisionId, ExprId, FuncId, Overflow, Program};
use lydian_objective::hyper::normal::Part;
use lydian_objective::{FunctionObjectives, LabelId, Pred, SequenceId, Site};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::goals::left::LeftLabel;
use crate::goals::refs::LabelRef;
use crate::goals::site_table::SiteTable;
use crate::limits::{Cut, add_reason};
use crate::machine::program::site::{ObserverId, SiteKey};
use crate::machine::reports::bounds_monitor::BoundsMonitor;
use crate::machine::reports::omissions::Hindrances;

/// Names a label or a sequence of a [`LabelTable`].
pub(crate) type GoalId = ObserverId;

/// What an input is to cover by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Aim {
    /// A label, with the position of its function's objectives.
    Label(usize, LabelId),
    /// A sequence.
    Sequence(usize, SequenceId),
}

struct Goal {
    aim: Aim,
    /// Whether a criterion counts it.
    own: bool,
    /// How many hyperlabels that are left it is a part of.
    wanted: u32,
    /// How many of these ask for what it binds, each time that it is covered.
    rows: u32,
    /// For a decision's label, the decision.
    decision: Option<DecisionId>,
    /// Where it is looked at.
    keys: SmallVec<[SiteKey; 1]>,
    /// What must have a value there: a root is evaluated after those before it at its place.
    after: Vec<ExprId>,
    covered: bool,
    reached: bool,
    reasons: BTreeSet<Cut>,
}

/// The labels of a site.
#[derive(Debug, Default)]
struct SiteLabels {
    goals: SmallVec<[GoalId; 2]>,
    /// What [`LabelTable::changes`] was when control last reached the site, and one more.
    reached_at: u64,
}

#[derive(Default)]
struct FunctionLabels {
    sites: SiteTable<SiteLabels>,
    /// Mutants of conditions, evaluated when the condition is reached.
    mutants: FxHashMap<(DecisionId, ConditionId), Vec<(GoalId, ExprId)>>,
    /// Where what hyperlabels ask for is completed, with how many that are left ask for it.
    watched: BTreeMap<SiteKey, u32>,
    /// Where sequences end.
    ends: BTreeMap<SiteKey, Vec<GoalId>>,
}

/// The labels of an exploration, and the sequences that hyperlabels are made of.
///
/// A label is looked for where a criterion counts it or a hyperlabel that is left is made of it. The
/// labels of sequences are no goals of their own.
pub(crate) struct LabelTable<'a> {
    objectives: &'a [FunctionObjectives],
    goals: Vec<Goal>,
    known: FxHashMap<Aim, GoalId>,
    functions: Vec<Option<FunctionLabels>>,
    left: usize,
    /// How often a label came to be settled, or to be open again.
    changes: u64,
    /// Hyperlabels that are left.
    hypers_left: usize,
    new_ones: usize,
    without_test: usize,
    reopened: usize,
    covered: Vec<GoalId>,
}

impl<'a> LabelTable<'a> {
    /// The labels of some functions that criteria count or hyperlabels are made of; those whose
    /// predicate is constantly false too, as they are to be reported. Where the objectives name no
    /// criteria at all, every label counts.
    pub(crate) fn new(program: &Program, objectives: &'a [FunctionObjectives]) -> Self {
        let mut table = Self {
            objectives,
            goals: Vec::new(),
            known: FxHashMap::default(),
            functions: (0..program.functions.len()).map(|_| None).collect(),
            left: 0,
            changes: 0,
            hypers_left: 0,
            new_ones: 0,
            without_test: 0,
            reopened: 0,
            covered: Vec::new(),
        };
        let parts = parts_of_hypers(objectives);
        for (position, function) in objectives.iter().enumerate() {
            let Some(body) = &program.functions[function.function].body else { continue };
            let mut labels = FunctionLabels::default();
            let counted = counted(function);
            for (id, label) in function.labels.iter() {
                let own = counted.as_ref().is_none_or(|counted| counted.contains(&id));
                if !own && !parts[position].contains(&id) {
                    continue;
                }
                let decision = match label.site {
                    Site::Decision(decision) | Site::Condition(decision, _) => Some(decision),
                    _ => None,
                };
                let keys = keys(label.site, body);
                let goal = table.add(Aim::Label(position, id), own, decision, keys);
                table.goals[goal.index()].after = evaluated_before(label.site, program, body);
                if let Some(decision) = decision {
                    collect_mutants(&label.pred, &mut |condition, expr| {
                        let list = labels.mutants.entry((decision, condition)).or_default();
                        list.push((goal, expr));
                    });
                }
                for key in &table.goals[goal.index()].keys {
                    labels.sites.entry(*key).goals.push(goal);
                }
                if label.site == Site::Start {
                    let what = "a label at the start of the run".to_owned();
                    table.goals[goal.index()].reasons.insert(Cut::Unsupported(what));
                }
            }
            table.functions[function.function.index()] = Some(labels);
        }
        table.new_ones = table.goals.len();
        table
    }

    fn add(
        &mut self,
        aim: Aim,
        own: bool,
        decision: Option<DecisionId>,
        keys: SmallVec<[SiteKey; 1]>,
    ) -> GoalId {
        let goal = GoalId::from_index(self.goals.len());
        self.goals.push(Goal {
            aim,
            own,
            wanted: 0,
            rows: 0,
            decision,
            keys,
            after: Vec::new(),
            covered: false,
            reached: false,
            reasons: BTreeSet::new(),
        });
        self.known.insert(aim, goal);
        self.left += usize::from(own);
        goal
    }

    /// Whether there is a goal of a label or a sequence.
    pub(crate) fn knows(&self, aim: Aim) -> bool {
        self.known.contains_key(&aim)
    }

    /// The goal of a label or a sequence that a hyperlabel is made of. That of a label is known from
    /// the beginning; that of a sequence is made when it is first asked for.
    pub(crate) fn part(&mut self, aim: Aim) -> Option<GoalId> {
        match (self.known.get(&aim), aim) {
            (Some(goal), _) => Some(*goal),
            (None, Aim::Sequence(..)) => Some(self.add(aim, false, None, SmallVec::new())),
            (None, Aim::Label(..)) => None,
        }
    }

    /// One more hyperlabel that is left is made of a goal.
    pub(crate) fn want(&mut self, goal: GoalId) {
        self.goals[goal.index()].wanted += 1;
        self.changes += 1;
    }

    /// One more hyperlabel that is left asks for what a goal binds, or one less.
    pub(crate) fn want_rows(&mut self, goal: GoalId, one_more: bool) {
        let rows = &mut self.goals[goal.index()].rows;
        *rows = if one_more { *rows + 1 } else { *rows - 1 };
    }

    /// Whether a sequence is still to be followed: it is not covered, or what it binds is asked for.
    pub(crate) fn is_followed(&self, goal: GoalId) -> bool {
        let goal = &self.goals[goal.index()];
        goal.rows > 0 || !goal.is_settled()
    }

    /// One less.
    pub(crate) fn unwant(&mut self, goal: GoalId) {
        self.goals[goal.index()].wanted -= 1;
        self.changes += 1;
    }

    /// A sequence ends at a site.
    pub(crate) fn ends_at(&mut self, goal: GoalId, func: FuncId, key: SiteKey) {
        let labels = self.functions[func.index()].get_or_insert_default();
        labels.ends.entry(key).or_default().push(goal);
    }

    /// Something that a hyperlabel which is left asks for is completed at a site.
    pub(crate) fn watch(&mut self, func: FuncId, key: SiteKey) {
        let labels = self.functions[func.index()].get_or_insert_default();
        *labels.watched.entry(key).or_default() += 1;
    }

    /// A hyperlabel that asked for it is not left.
    pub(crate) fn unwatch(&mut self, func: FuncId, key: SiteKey) {
        let labels = self.functions[func.index()].as_mut();
        if let Some(count) = labels.and_then(|labels| labels.watched.get_mut(&key)) {
            *count -= 1;
        }
    }

    /// Says how many hyperlabels are left.
    pub(crate) fn set_hypers_left(&mut self, count: usize) {
        self.hypers_left = count;
    }

    /// How many objectives are left: labels that criteria count, and hyperlabels.
    pub(crate) const fn left(&self) -> usize {
        self.left + self.hypers_left
    }

    /// Whether a function has labels.
    pub(crate) fn has(&self, func: FuncId) -> bool {
        self.functions[func.index()].is_some()
    }

    /// Notes that control reaches a site. Whether there are labels; with label deletion, labels that
    /// are left.
    pub(crate) fn reach(&mut self, func: FuncId, key: SiteKey, deletion: bool) -> bool {
        let Some(labels) = &mut self.functions[func.index()] else { return false };
        let Some(listed) = labels.sites.get_mut(key) else { return false };
        if listed.reached_at != self.changes + 1 {
            listed.reached_at = self.changes + 1;
            if deletion {
                listed.goals.retain(|goal| !self.goals[goal.index()].is_settled());
            }
            for goal in &listed.goals {
                let reached = &mut self.goals[goal.index()].reached;
                self.new_ones -= usize::from(!std::mem::replace(reached, true));
            }
        }
        !listed.goals.is_empty()
    }

    /// The labels of a site, in the order of the objectives; those that were covered when control
    /// reached it with label deletion are not among them.
    pub(crate) fn listed(&self, func: FuncId, key: SiteKey) -> &[GoalId] {
        let labels = self.functions[func.index()].as_ref();
        let listed = labels.and_then(|labels| labels.sites.get(key));
        listed.map(|listed| listed.goals.as_slice()).unwrap_or_default()
    }

    /// The sites of a function at which something is looked at.
    pub(crate) fn sites(&self, func: FuncId) -> impl Iterator<Item = SiteKey> + '_ {
        let labels = self.functions[func.index()].as_ref();
        labels.into_iter().flat_map(|labels| {
            let sites: BTreeSet<SiteKey> = labels.sites.keys().collect();
            let of_hypers = labels.ends.keys().chain(labels.watched.keys());
            sites.into_iter().chain(of_hypers.copied()).collect::<BTreeSet<SiteKey>>()
        })
    }

    /// Whether something that is left can be covered at a site of a function.
    pub(crate) fn is_open(&self, func: FuncId, site: SiteKey) -> bool {
        let Some(labels) = self.functions[func.index()].as_ref() else { return false };
        let here = self.listed(func, site);
        let ends = labels.ends.get(&site).map(Vec::as_slice).unwrap_or_default();
        here.iter().any(|goal| !self.goals[goal.index()].is_settled())
            || ends.iter().any(|goal| self.is_followed(*goal))
            || labels.watched.get(&site).is_some_and(|count| *count > 0)
    }

    /// Whether something that is left can be covered at a site of a function, and no path passed it.
    pub(crate) fn is_new(&self, func: FuncId, site: SiteKey) -> bool {
        self.listed(func, site).iter().any(|goal| {
            let goal = &self.goals[goal.index()];
            !goal.reached && !goal.is_settled()
        })
    }

    /// Whether hyperlabels that are left ask for what is at a site beside labels.
    pub(crate) fn is_watched(&self, func: FuncId, site: SiteKey) -> bool {
        let labels = self.functions[func.index()].as_ref();
        labels.and_then(|labels| labels.watched.get(&site)).is_some_and(|count| *count > 0)
    }

    /// How many labels no path reached.
    pub(crate) const fn new_ones(&self) -> usize {
        self.new_ones
    }

    /// How often a label came to be settled, or to be open again.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }

    /// How often what was covered was opened again.
    pub(crate) const fn reopened(&self) -> usize {
        self.reopened
    }

    /// Whether labels of a function ask for mutants of conditions, be they left or not.
    pub(crate) fn have_mutants(&self, func: FuncId) -> bool {
        self.functions[func.index()].as_ref().is_some_and(|labels| !labels.mutants.is_empty())
    }

    /// The mutants of a condition that labels still need, each once, with the labels.
    pub(crate) fn mutants(
        &self,
        (func, decision, condition): (FuncId, DecisionId, ConditionId),
        deletion: bool,
    ) -> Vec<(ExprId, SmallVec<[GoalId; 1]>)> {
        let labels = self.functions[func.index()].as_ref();
        let list = labels.and_then(|labels| labels.mutants.get(&(decision, condition)));
        let mut mutants: Vec<(ExprId, SmallVec<[GoalId; 1]>)> = Vec::new();
        for (goal, expr) in list.into_iter().flatten() {
            if deletion && self.goals[goal.index()].is_settled() {
                continue;
            }
            match mutants.iter_mut().find(|(known, _)| known == expr) {
                Some((_, goals)) => goals.push(*goal),
                None => mutants.push((*expr, smallvec![*goal])),
            }
        }
        mutants
    }

    /// The objectives of a function that has labels.
    pub(crate) fn objectives_of(&self, func: FuncId) -> Option<&'a FunctionObjectives> {
        self.objectives.iter().find(|objectives| objectives.function == func)
    }

    /// A label's objectives, its predicate, and its decision if it belongs to one.
    ///
    /// # Panics
    /// If the goal is a sequence: those have no site.
    pub(crate) fn goal(
        &self,
        goal: GoalId,
    ) -> (&'a FunctionObjectives, &'a Pred, Option<DecisionId>) {
        let entry = &self.goals[goal.index()];
        let Aim::Label(position, label) = entry.aim else {
            unreachable!("only labels stand at sites")
        };
        let objectives = &self.objectives[position];
        (objectives, &objectives.labels[label].pred, entry.decision)
    }

    /// What must have a value where a label is looked at.
    pub(crate) fn after(&self, goal: GoalId) -> &[ExprId] {
        &self.goals[goal.index()].after
    }

    /// What a goal is.
    pub(crate) fn aim(&self, goal: GoalId) -> Aim {
        self.goals[goal.index()].aim
    }

    /// The label that a goal is, if it is one.
    pub(crate) fn label_ref(&self, goal: GoalId) -> Option<LabelRef> {
        match self.goals[goal.index()].aim {
            Aim::Label(position, label) => {
                Some(LabelRef { func: self.objectives[position].function, label })
            }
            Aim::Sequence(..) => None,
        }
    }

    /// Whether a goal is covered, or nothing that is left asks for it.
    pub(crate) fn is_covered(&self, goal: GoalId) -> bool {
        self.goals[goal.index()].is_settled()
    }

    /// The goals that are to be followed still, in the order in which they were made.
    pub(crate) fn followed(&self) -> impl Iterator<Item = GoalId> + '_ {
        let goals = (0..self.goals.len()).map(GoalId::from_index);
        goals.filter(|goal| self.is_followed(*goal))
    }

    /// Where a label is looked at: its function and sites there; `None` for a sequence.
    pub(crate) fn sites_of(&self, goal: GoalId) -> Option<(FuncId, &[SiteKey])> {
        let entry = &self.goals[goal.index()];
        let Aim::Label(position, _) = entry.aim else { return None };
        Some((self.objectives[position].function, &entry.keys))
    }

    /// Notes that a goal is covered; gives it if it was not before.
    pub(crate) fn cover(&mut self, goal: GoalId) -> Option<GoalId> {
        let entry = &mut self.goals[goal.index()];
        if entry.covered {
            return None;
        }
        entry.covered = true;
        self.changes += 1;
        self.left -= usize::from(entry.own);
        self.without_test += 1;
        self.covered.push(goal);
        Some(goal)
    }

    /// A goal that was taken as covered is open again. Where its site was passed meanwhile it was
    /// not looked at, for which `reason` stands.
    pub(crate) fn uncover(&mut self, goal: GoalId, reason: Cut) {
        let entry = &mut self.goals[goal.index()];
        entry.covered = false;
        self.changes += 1;
        entry.reasons.insert(reason);
        self.left += usize::from(entry.own);
        self.without_test -= self.without_test.min(1);
        self.reopened += 1;
        self.covered.retain(|covered| *covered != goal);
        let (keys, aim) = (entry.keys.clone(), entry.aim);
        let Aim::Label(position, _) = aim else { return };
        let func = self.objectives[position].function;
        let Some(labels) = &mut self.functions[func.index()] else { return };
        for key in keys {
            let list = &mut labels.sites.entry(key).goals;
            if let Err(place) = list.binary_search(&goal) {
                list.insert(place, goal);
            }
        }
    }

    /// How many covered labels have no test yet.
    pub(crate) const fn without_test(&self) -> usize {
        self.without_test
    }

    /// Notes that a test was given for so many covered labels.
    pub(crate) fn given(&mut self, count: usize) {
        self.without_test -= count.min(self.without_test);
    }

    /// Notes that a worker gave a test for a goal.
    pub(crate) fn cover_elsewhere(&mut self, goal: GoalId) {
        if self.cover(goal).is_some() {
            self.without_test -= 1;
        }
    }

    /// Notes that a path of a worker passed a goal's site.
    pub(crate) fn note_reached(&mut self, goal: GoalId) {
        let reached = &mut self.goals[goal.index()].reached;
        self.new_ones -= usize::from(!std::mem::replace(reached, true));
    }

    /// The goals whose sites some path passed.
    pub(crate) fn reached(&self) -> impl Iterator<Item = GoalId> + '_ {
        let goals = self.goals.iter().enumerate().filter(|(_, goal)| goal.reached);
        goals.map(|(at, _)| GoalId::from_index(at))
    }

    /// What kept goals from being decided somewhere.
    pub(crate) fn hindered(&self) -> impl Iterator<Item = (GoalId, &Cut)> {
        let goals = self.goals.iter().enumerate();
        goals.flat_map(|(at, goal)| {
            goal.reasons.iter().map(move |reason| (GoalId::from_index(at), reason))
        })
    }

    /// The goals that are covered, in the order in which they were.
    pub(crate) fn covered_goals(&self) -> &[GoalId] {
        &self.covered
    }

    /// Notes what kept a label from being decided somewhere.
    pub(crate) fn hinder(&mut self, goal: GoalId, reason: Cut) {
        add_reason(&mut self.goals[goal.index()].reasons, reason);
    }

    /// What is covered.
    pub(crate) fn covered(&self) -> impl Iterator<Item = Aim> + '_ {
        self.covered.iter().map(|goal| self.aim(*goal))
    }

    /// What kept a goal that is left from being decided.
    pub(crate) fn reasons(&self, goal: GoalId) -> impl Iterator<Item = &Cut> {
        let entry = &self.goals[goal.index()];
        entry.reasons.iter().filter(|_| !entry.covered)
    }

    /// CoveredStep labels in the order of their covering, and those that are left. A label that was only
    /// looked for as long as a hyperlabel was left is none of the latter. `in_the_way` says what
    /// was left out at some sites.
    pub(crate) fn into_result(
        self,
        bounds: &BoundsMonitor,
        in_the_way: &Hindrances<'_>,
    ) -> (Vec<LabelRef>, Vec<LeftLabel>) {
        let covered = self.covered.iter().filter_map(|goal| self.label_ref(*goal)).collect();
        let left = self.goals.iter().enumerate().filter(|(_, goal)| !goal.is_settled());
        let left = left.filter_map(|(at, goal)| {
            let id = GoalId::from_index(at);
            let label = self.label_ref(id)?;
            let sites: Vec<_> = goal.keys.iter().map(|site| (label.func, *site)).collect();
            let reasons: BTreeSet<Cut> = &goal.reasons | &in_the_way.of(&sites);
            Some(LeftLabel {
                label,
                reasons: reasons.into_iter().collect(),
                bounds: bounds.met_for(id),
            })
        });
        let left = left.collect();
        (covered, left)
    }
}

impl Goal {
    /// Whether it is not to be asked for any more.
    const fn is_settled(&self) -> bool {
        self.covered || !(self.own || self.wanted > 0)
    }
}

/// The labels of a function that criteria count; `None` where no criteria are named.
fn counted(function: &FunctionObjectives) -> Option<BTreeSet<LabelId>> {
    let named = !function.criteria.is_empty() || !function.hyper_criteria.is_empty();
    let entries = function.criteria.values().flatten();
    named.then(|| entries.map(|entry| entry.label).collect())
}

/// The labels, function by function, that hyperlabels of criteria are made of.
fn parts_of_hypers(objectives: &[FunctionObjectives]) -> Vec<BTreeSet<LabelId>> {
    let mut parts = vec![BTreeSet::new(); objectives.len()];
    for function in objectives {
        for entry in function.hyper_criteria.values().flatten() {
            function.hypers[entry.hyper].hyper.for_each_part(&mut |part| {
                let Part::Atom(atom) = part else { return };
                let at = objectives.iter().position(|of| of.function == atom.function);
                at.into_iter().for_each(|at| _ = parts[at].insert(atom.label));
            });
        }
    }
    parts
}

fn collect_mutants(pred: &Pred, visit: &mut impl FnMut(ConditionId, ExprId)) {
    match pred {
        Pred::Mutant(condition, expr) => visit(*condition, *expr),
        Pred::Not(a) => collect_mutants(a, visit),
        Pred::And(a, b) | Pred::Or(a, b) | Pred::Xor(a, b) => {
            collect_mutants(a, visit);
            collect_mutants(b, visit);
        }
        Pred::Const(_) | Pred::Cond(_) | Pred::Reached(_) | Pred::Expr(_) => {}
    }
}

/// What is evaluated at a root's place before it and may trap.
fn evaluated_before(site: Site, program: &Program, body: &Body) -> Vec<ExprId> {
    let Site::Root(root) = site else { return Vec::new() };
    let before = body.source.roots_before(root).map(|root| root.expr);
    let traps = |expr: &ExprId| may_trap(program, body, &body.exprs, *expr, Overflow::Trap);
    before.filter(traps).collect()
}

/// Where a label of a site is looked at.
pub(crate) fn keys(site: Site, body: &Body) -> SmallVec<[SiteKey; 1]> {
    let one = match site {
        Site::Entry => SiteKey::Entry,
        Site::Mark(mark) => SiteKey::Mark(mark),
        Site::Edge(edge) => SiteKey::Edge(edge),
        Site::Decision(decision) => SiteKey::Decision(decision),
        Site::Root(root) => {
            return body.source.roots[root].points().map(SiteKey::Point).collect();
        }
        Site::Stmt(stmt) => {
            let copies = body.source.copies.iter().filter(|(_, original)| **original == stmt);
            let all = std::iter::once(stmt).chain(copies.map(|(copy, _)| *copy));
            return all.map(|stmt| SiteKey::Point(Point::Stmt(stmt))).collect();
        }
        Site::Block(block) => SiteKey::Point(match body.blocks[block].stmts.first() {
            Some(stmt) => Point::Stmt(*stmt),
            None => Point::Term(block),
        }),
        Site::Condition(decision, condition) => SiteKey::Condition(decision, condition),
        Site::Start => return SmallVec::new(),
    };
    SmallVec::from_iter([one])
}
