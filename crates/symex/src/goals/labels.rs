//! The labels and sequences that are left to cover, by site.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::EntityId;
use lydian_ir::source::Point;
use lydian_ir::trap::may_trap;
use lydian_ir::{Body, ConditionId, DecisionId, ExprId, FuncId, Overflow, Program};
use lydian_objective::hyper::normal::Part;
use lydian_objective::{Criterion, FunctionObjectives, LabelId, Pred, SequenceId, Site};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};

use crate::config::Augmentation;
use crate::goals::left::LeftLabel;
use crate::goals::refs::LabelRef;
use crate::goals::site_table::SiteTable;
use crate::limits::{Cut, add_reason};
use crate::machine::program::site::{ObserverId, SiteKey};
use crate::machine::reports::bounds_monitor::BoundsMonitor;
use crate::machine::reports::omissions::Hindrances;

mod augmented;

/// The number of a label or a sequence in a [`LabelTable`].
pub(crate) type GoalId = ObserverId;

/// The part of an objective that one input covers by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Aim {
    /// A label, with the position of its function among the objectives.
    Label(usize, LabelId),
    /// A sequence, with the position of its function among the objectives.
    Sequence(usize, SequenceId),
}

struct Goal {
    aim: Aim,
    /// Whether a criterion counts it.
    own: bool,
    /// Whether it is a transformed condition, which is asked for on augmented paths alone.
    augments: bool,
    /// Whether it stays to be asked for once it is covered.
    repeats: bool,
    /// The number of hyperlabels left that it is a part of.
    wanted: u32,
    /// How many of these ask for its bindings each time that it is covered.
    rows: u32,
    /// The decision that its label belongs to, if any.
    decision: Option<DecisionId>,
    /// The sites at which it is looked at.
    keys: SmallVec<[SiteKey; 1]>,
    /// Expressions that must have a value at its site: a root is evaluated after those before it at
    /// its place.
    after: Vec<ExprId>,
    covered: bool,
    reached: bool,
    reasons: BTreeSet<Cut>,
}

/// The labels of a site.
#[derive(Debug, Default)]
struct SiteLabels {
    goals: SmallVec<[GoalId; 2]>,
    /// One more than [`LabelTable::changes`] was when control last reached the site; 0 before that.
    reached_at: u64,
}

#[derive(Default)]
struct FunctionLabels {
    sites: SiteTable<SiteLabels>,
    /// The mutants of conditions. They are evaluated when the condition is reached.
    mutants: FxHashMap<(DecisionId, ConditionId), Vec<(GoalId, ExprId)>>,
    /// The sites at which parts of hyperlabels are completed, with the number of hyperlabels left
    /// that ask for them.
    watched: BTreeMap<SiteKey, u32>,
    /// The sites at which sequences end.
    ends: BTreeMap<SiteKey, Vec<GoalId>>,
}

/// A label of a goal, with everything that its evaluation needs.
#[derive(Clone, Copy)]
pub(crate) struct GoalLabel<'a> {
    /// The objectives of its function.
    pub(crate) objectives: &'a FunctionObjectives,
    pub(crate) pred: &'a Pred,
    /// The decision that it belongs to, if any.
    pub(crate) decision: Option<DecisionId>,
}

/// A condition of a decision in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct ConditionKey {
    pub(crate) func: FuncId,
    pub(crate) decision: DecisionId,
    pub(crate) condition: ConditionId,
}

/// The labels of an exploration, and the sequences of hyperlabels.
///
/// A label is looked for where a criterion counts it or where it is a part of a hyperlabel that is
/// left. The labels of sequences are no goals of their own.
pub(crate) struct LabelTable<'a> {
    objectives: &'a [FunctionObjectives],
    goals: Vec<Goal>,
    known: FxHashMap<Aim, GoalId>,
    functions: Vec<Option<FunctionLabels>>,
    left: usize,
    /// How often a label became settled or was reopened.
    changes: u64,
    /// The augmentation of paths, if there is one.
    augmentation: Option<Augmentation>,
    /// The number of hyperlabels that are left.
    hypers_left: usize,
    new_ones: usize,
    without_test: usize,
    reopened: usize,
    covered: Vec<GoalId>,
    /// Goals that were reopened, each once, with some that are settled again.
    reopened_goals: Vec<GoalId>,
}

impl<'a> LabelTable<'a> {
    /// The table of the labels that criteria count or that are parts of hyperlabels. It includes
    /// labels with a constantly false predicate, since they are to be reported. Where the
    /// objectives name no criteria at all, every label counts.
    pub(crate) fn new(
        program: &Program,
        objectives: &'a [FunctionObjectives],
        augmentation: Option<Augmentation>,
    ) -> Self {
        let mut table = Self {
            objectives,
            goals: Vec::new(),
            known: FxHashMap::default(),
            functions: (0..program.functions.len()).map(|_| None).collect(),
            left: 0,
            changes: 0,
            augmentation,
            hypers_left: 0,
            new_ones: 0,
            without_test: 0,
            reopened: 0,
            covered: Vec::new(),
            reopened_goals: Vec::new(),
        };
        let parts = parts_of_hypers(objectives);
        for (position, function) in objectives.iter().enumerate() {
            let Some(body) = &program.functions[function.function].body else { continue };
            let mut labels = FunctionLabels::default();
            let counted = counted(function);
            let sought = counted_by(function, |criterion| !criterion.is_of_augmentation());
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
                if augmentation.is_some()
                    && own
                    && !parts[position].contains(&id)
                    && !sought.contains(&id)
                {
                    table.leave_to_augmentation(goal);
                }
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
        table.new_ones = table.goals.iter().filter(|goal| !goal.augments).count();
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
            augments: false,
            repeats: false,
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

    /// Whether there is a goal for a label or a sequence.
    pub(crate) fn knows(&self, aim: Aim) -> bool {
        self.known.contains_key(&aim)
    }

    /// The goal of a label or a sequence that is a part of a hyperlabel. Goals of labels exist from
    /// the beginning; the goal of a sequence is made at the first call.
    pub(crate) fn part(&mut self, aim: Aim) -> Option<GoalId> {
        match (self.known.get(&aim), aim) {
            (Some(goal), _) => Some(*goal),
            (None, Aim::Sequence(..)) => {
                let own = false;
                Some(self.add(aim, own, None, SmallVec::new()))
            }
            (None, Aim::Label(..)) => None,
        }
    }

    /// Counts one more hyperlabel left with this goal as a part.
    pub(crate) fn want(&mut self, goal: GoalId) {
        self.goals[goal.index()].wanted += 1;
        self.changes += 1;
    }

    /// Counts one hyperlabel more that asks for the bindings of a goal.
    pub(crate) fn want_rows(&mut self, goal: GoalId) {
        self.goals[goal.index()].rows += 1;
    }

    /// Counts one hyperlabel less that asks for the bindings of a goal.
    pub(crate) fn unwant_rows(&mut self, goal: GoalId) {
        self.goals[goal.index()].rows -= 1;
    }

    /// Whether a sequence is still followed: it is not covered, or its bindings are asked for.
    pub(crate) fn is_followed(&self, goal: GoalId) -> bool {
        let goal = &self.goals[goal.index()];
        goal.rows > 0 || !goal.is_settled()
    }

    /// Counts one hyperlabel less with this goal as a part.
    pub(crate) fn unwant(&mut self, goal: GoalId) {
        self.goals[goal.index()].wanted -= 1;
        self.changes += 1;
    }

    /// Notes that a sequence ends at a site.
    pub(crate) fn ends_at(&mut self, goal: GoalId, func: FuncId, key: SiteKey) {
        let labels = self.functions[func.index()].get_or_insert_default();
        labels.ends.entry(key).or_default().push(goal);
    }

    /// Counts a hyperlabel left with a part that is completed at a site.
    pub(crate) fn watch(&mut self, func: FuncId, key: SiteKey) {
        let labels = self.functions[func.index()].get_or_insert_default();
        *labels.watched.entry(key).or_default() += 1;
    }

    /// Counts one such hyperlabel less.
    pub(crate) fn unwatch(&mut self, func: FuncId, key: SiteKey) {
        let labels = self.functions[func.index()].as_mut();
        if let Some(count) = labels.and_then(|labels| labels.watched.get_mut(&key)) {
            *count -= 1;
        }
    }

    /// Sets the number of hyperlabels that are left.
    pub(crate) fn set_hypers_left(&mut self, count: usize) {
        self.hypers_left = count;
    }

    /// The number of objectives that are left: labels that criteria count, and hyperlabels.
    pub(crate) const fn left(&self) -> usize {
        self.left + self.hypers_left
    }

    /// Whether a function has labels.
    pub(crate) fn has(&self, func: FuncId) -> bool {
        self.functions[func.index()].is_some()
    }

    /// Notes that control reaches a site. Returns whether it has labels; with label deletion,
    /// whether it has labels that are left.
    pub(crate) fn reach(&mut self, func: FuncId, key: SiteKey, deletion: bool) -> bool {
        let Some(labels) = &mut self.functions[func.index()] else { return false };
        let Some(listed) = labels.sites.get_mut(key) else { return false };
        if listed.reached_at != self.changes + 1 {
            listed.reached_at = self.changes + 1;
            if deletion {
                listed.goals.retain(|goal| !self.goals[goal.index()].is_settled());
            }
            for goal in &listed.goals {
                let goal = &mut self.goals[goal.index()];
                let is_new = !std::mem::replace(&mut goal.reached, true) && !goal.augments;
                self.new_ones -= usize::from(is_new);
            }
        }
        !listed.goals.is_empty()
    }

    /// The labels of a site, in the order of the objectives. With label deletion, labels that were
    /// covered when control reached the site are not among them.
    pub(crate) fn listed(&self, func: FuncId, key: SiteKey) -> &[GoalId] {
        let labels = self.functions[func.index()].as_ref();
        let listed = labels.and_then(|labels| labels.sites.get(key));
        listed.map(|listed| listed.goals.as_slice()).unwrap_or_default()
    }

    /// The sites of a function at which a label or a part of a hyperlabel is looked at.
    pub(crate) fn sites(&self, func: FuncId) -> impl Iterator<Item = SiteKey> + '_ {
        let labels = self.functions[func.index()].as_ref();
        labels.into_iter().flat_map(|labels| {
            let sites: BTreeSet<SiteKey> = labels.sites.keys().collect();
            let of_hypers = labels.ends.keys().chain(labels.watched.keys());
            sites.into_iter().chain(of_hypers.copied()).collect::<BTreeSet<SiteKey>>()
        })
    }

    /// Whether an objective that is left can be covered at a site of a function.
    pub(crate) fn is_open(&self, func: FuncId, site: SiteKey) -> bool {
        let Some(labels) = self.functions[func.index()].as_ref() else { return false };
        let here = self.listed(func, site);
        let ends = labels.ends.get(&site).map(Vec::as_slice).unwrap_or_default();
        here.iter().any(|goal| !self.goals[goal.index()].is_settled())
            || ends.iter().any(|goal| self.is_followed(*goal))
            || labels.watched.get(&site).is_some_and(|count| *count > 0)
    }

    /// Whether an objective that is left can be covered at a site of a function that no path
    /// passed.
    pub(crate) fn is_new(&self, func: FuncId, site: SiteKey) -> bool {
        self.listed(func, site).iter().any(|goal| {
            let goal = &self.goals[goal.index()];
            !goal.reached && !goal.augments && !goal.is_settled()
        })
    }

    /// Whether hyperlabels that are left ask for something other than labels at a site.
    pub(crate) fn is_watched(&self, func: FuncId, site: SiteKey) -> bool {
        let labels = self.functions[func.index()].as_ref();
        labels.and_then(|labels| labels.watched.get(&site)).is_some_and(|count| *count > 0)
    }

    /// The number of labels that no path reached.
    pub(crate) const fn new_ones(&self) -> usize {
        self.new_ones
    }

    /// How often a label became settled or was reopened.
    pub(crate) const fn changes(&self) -> u64 {
        self.changes
    }

    /// How often a covered label was reopened.
    pub(crate) const fn reopened(&self) -> usize {
        self.reopened
    }

    /// Whether labels of a function ask for mutants of conditions, whether or not the labels are
    /// left.
    pub(crate) fn have_mutants(&self, func: FuncId) -> bool {
        self.functions[func.index()].as_ref().is_some_and(|labels| !labels.mutants.is_empty())
    }

    /// The mutants of a condition that labels still need, each once, with these labels.
    pub(crate) fn mutants(
        &self,
        ConditionKey { func, decision, condition }: ConditionKey,
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

    /// The label of a goal.
    ///
    /// # Panics
    /// If the goal is a sequence: those have no site.
    pub(crate) fn goal_label(&self, goal: GoalId) -> GoalLabel<'a> {
        let entry = &self.goals[goal.index()];
        let Aim::Label(position, label) = entry.aim else {
            unreachable!("only labels stand at sites")
        };
        let objectives = &self.objectives[position];
        let pred = &objectives.labels[label].pred;
        GoalLabel { objectives, pred, decision: entry.decision }
    }

    /// The expressions that must have a value where a label is looked at.
    pub(crate) fn after(&self, goal: GoalId) -> &[ExprId] {
        &self.goals[goal.index()].after
    }

    /// The label or sequence of a goal.
    pub(crate) fn aim(&self, goal: GoalId) -> Aim {
        self.goals[goal.index()].aim
    }

    /// The label of a goal; `None` for a sequence.
    pub(crate) fn label_ref(&self, goal: GoalId) -> Option<LabelRef> {
        match self.goals[goal.index()].aim {
            Aim::Label(position, label) => {
                Some(LabelRef { func: self.objectives[position].function, label })
            }
            Aim::Sequence(..) => None,
        }
    }

    /// Whether a goal is covered, or no objective that is left asks for it.
    pub(crate) fn is_covered(&self, goal: GoalId) -> bool {
        self.goals[goal.index()].is_settled()
    }

    /// The goals that the search still follows, in the order in which they were made.
    pub(crate) fn followed(&self) -> impl Iterator<Item = GoalId> + '_ {
        let goals = (0..self.goals.len()).map(GoalId::from_index);
        goals.filter(|goal| self.is_followed(*goal) && !self.augments(*goal))
    }

    /// The function and sites at which a label is looked at; `None` for a sequence.
    pub(crate) fn sites_of(&self, goal: GoalId) -> Option<(FuncId, &[SiteKey])> {
        let entry = &self.goals[goal.index()];
        let Aim::Label(position, _) = entry.aim else { return None };
        Some((self.objectives[position].function, &entry.keys))
    }

    /// Notes that a goal is covered. Returns it if it was not covered before.
    pub(crate) fn cover(&mut self, goal: GoalId) -> Option<GoalId> {
        let entry = &mut self.goals[goal.index()];
        if entry.covered {
            return None;
        }
        entry.covered = true;
        self.changes += 1;
        self.left -= usize::from(entry.own && !entry.augments);
        self.without_test += 1;
        self.covered.push(goal);
        Some(goal)
    }

    /// Reopens a goal that was taken as covered. Paths that passed its site meanwhile did not look
    /// at it; `reason` stands for that.
    pub(crate) fn uncover(&mut self, goal: GoalId, reason: Cut) {
        let entry = &mut self.goals[goal.index()];
        entry.covered = false;
        self.changes += 1;
        entry.reasons.insert(reason);
        self.left += usize::from(entry.own && !entry.augments);
        self.without_test -= self.without_test.min(1);
        self.reopened += 1;
        self.covered.retain(|covered| *covered != goal);
        let (keys, aim) = (entry.keys.clone(), entry.aim);
        let goals = &self.goals;
        self.reopened_goals.retain(|other| *other != goal && goals[other.index()].is_left());
        self.reopened_goals.push(goal);
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

    /// Whether a goal is left that was reopened.
    pub(crate) fn has_reopened(&self) -> bool {
        self.reopened_goals.iter().any(|goal| self.goals[goal.index()].is_left())
    }

    /// The number of covered labels without a test.
    pub(crate) const fn without_test(&self) -> usize {
        self.without_test
    }

    /// Notes that a test was given for `count` covered labels.
    pub(crate) fn given(&mut self, count: usize) {
        self.without_test -= count.min(self.without_test);
    }

    /// Notes that another worker gave a test for a goal.
    pub(crate) fn cover_elsewhere(&mut self, goal: GoalId) {
        if self.cover(goal).is_some() {
            self.without_test -= 1;
        }
    }

    /// Notes that a path of another worker passed a goal's site.
    pub(crate) fn note_reached(&mut self, goal: GoalId) {
        let goal = &mut self.goals[goal.index()];
        let is_new = !std::mem::replace(&mut goal.reached, true) && !goal.augments;
        self.new_ones -= usize::from(is_new);
    }

    /// The goals with sites that some path passed.
    pub(crate) fn reached(&self) -> impl Iterator<Item = GoalId> + '_ {
        let goals = self.goals.iter().enumerate().filter(|(_, goal)| goal.reached);
        goals.map(|(at, _)| GoalId::from_index(at))
    }

    /// The goals that are undecided somewhere, with the reasons.
    pub(crate) fn hindered(&self) -> impl Iterator<Item = (GoalId, &Cut)> {
        let goals = self.goals.iter().enumerate();
        goals.flat_map(|(at, goal)| {
            goal.reasons.iter().map(move |reason| (GoalId::from_index(at), reason))
        })
    }

    /// The covered goals, in the order in which they were covered.
    pub(crate) fn covered_goals(&self) -> &[GoalId] {
        &self.covered
    }

    /// Notes a reason why a label is undecided somewhere.
    pub(crate) fn hinder(&mut self, goal: GoalId, reason: Cut) {
        add_reason(&mut self.goals[goal.index()].reasons, reason);
    }

    /// The labels and sequences that are covered.
    pub(crate) fn covered(&self) -> impl Iterator<Item = Aim> + '_ {
        self.covered.iter().map(|goal| self.aim(*goal))
    }

    /// The reasons why a goal that is left is undecided.
    pub(crate) fn reasons(&self, goal: GoalId) -> impl Iterator<Item = &Cut> {
        let entry = &self.goals[goal.index()];
        entry.reasons.iter().filter(|_| !entry.covered)
    }

    /// The covered labels in the order of their covering, and those that are left. A label that was
    /// looked for only because of a hyperlabel is not among the latter. `in_the_way` says what was
    /// left out at some sites.
    pub(crate) fn into_result(
        self,
        bounds: &BoundsMonitor,
        in_the_way: &Hindrances<'_>,
    ) -> (Vec<LabelRef>, Vec<LeftLabel>) {
        let covered = self.covered.iter().filter_map(|goal| self.label_ref(*goal)).collect();
        let left = self.goals.iter().enumerate();
        let left = left.filter(|(_, goal)| goal.is_left());
        let left = left.filter_map(|(at, goal)| {
            let id = GoalId::from_index(at);
            let label = self.label_ref(id)?;
            let sites: Vec<_> = goal.keys.iter().map(|site| (label.func, *site)).collect();
            let mut reasons: BTreeSet<Cut> = &goal.reasons | &in_the_way.of(&sites);
            reasons.extend(goal.augments.then_some(Cut::NotAugmented));
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
    /// Whether the goal is no longer asked for.
    const fn is_settled(&self) -> bool {
        self.covered && !self.repeats || !(self.own || self.wanted > 0)
    }

    /// Whether the goal is asked for and not covered.
    const fn is_left(&self) -> bool {
        !self.covered && !self.is_settled()
    }
}

/// The labels of a function that criteria count; `None` where no criteria are named.
fn counted(function: &FunctionObjectives) -> Option<BTreeSet<LabelId>> {
    let named = !function.criteria.is_empty() || !function.hyper_criteria.is_empty();
    named.then(|| counted_by(function, |_| true))
}

/// The labels of a function that some of the criteria count.
fn counted_by(
    function: &FunctionObjectives,
    is_one: impl Fn(Criterion) -> bool,
) -> BTreeSet<LabelId> {
    let criteria = function.criteria.iter().filter(|(criterion, _)| is_one(**criterion));
    criteria.flat_map(|(_, entries)| entries).map(|entry| entry.label).collect()
}

/// The labels that are parts of hyperlabels which criteria count, by function.
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

/// The expressions that are evaluated before a root at its place and may trap.
fn evaluated_before(site: Site, program: &Program, body: &Body) -> Vec<ExprId> {
    let Site::Root(root) = site else { return Vec::new() };
    let before = body.source.roots_before(root).map(|root| root.expr);
    let traps = |expr: &ExprId| may_trap(program, body, &body.exprs, *expr, Overflow::Trap);
    before.filter(traps).collect()
}

/// The sites at which a label is looked at.
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
