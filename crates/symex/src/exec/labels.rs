//! What is left to cover, by the place where it is decided.

use std::collections::BTreeSet;

use lydian_base::{EntityId, entity_id};
use lydian_ir::source::Point;
use lydian_ir::stmt::Edge;
use lydian_ir::{Body, ConditionId, DecisionId, ExprId, FuncId, MarkId, Program};
use lydian_objective::{FunctionObjectives, LabelId, Pred, Site};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smallvec::SmallVec;

use super::outcome::LeftLabel;
use crate::limits::Cut;

entity_id!(
    /// Names a label of a [`LabelTable`].
    GoalId,
    "goal"
);

/// A label of one of several functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LabelRef {
    /// The function.
    pub func: FuncId,
    /// The label among the function's.
    pub label: LabelId,
}

/// Where labels are looked at. Roots are looked at where they are evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum SiteKey {
    Entry,
    Mark(MarkId),
    Edge(Edge),
    Decision(DecisionId),
    Point(Point),
}

struct Goal {
    label: LabelRef,
    /// Position of the function's objectives among all that were given.
    objectives: usize,
    /// For a decision's label, the decision.
    decision: Option<DecisionId>,
    /// Where it is looked at.
    keys: SmallVec<[SiteKey; 1]>,
    covered: bool,
    reached: bool,
    reasons: BTreeSet<Cut>,
}

#[derive(Default)]
struct FunctionLabels {
    sites: FxHashMap<SiteKey, SmallVec<[GoalId; 2]>>,
    /// Mutants of conditions, evaluated when the condition is reached.
    mutants: FxHashMap<(DecisionId, ConditionId), Vec<(GoalId, ExprId)>>,
}

/// The labels of an exploration.
pub(super) struct LabelTable<'a> {
    objectives: &'a [FunctionObjectives],
    goals: Vec<Goal>,
    functions: Vec<Option<FunctionLabels>>,
    left: usize,
    without_test: usize,
    covered: Vec<LabelRef>,
}

impl<'a> LabelTable<'a> {
    /// All labels of some functions; those whose predicate is constantly false too, as they are
    /// to be reported.
    pub(super) fn new(program: &Program, objectives: &'a [FunctionObjectives]) -> Self {
        let mut table = Self {
            objectives,
            goals: Vec::new(),
            functions: (0..program.functions.len()).map(|_| None).collect(),
            left: 0,
            without_test: 0,
            covered: Vec::new(),
        };
        for (position, function) in objectives.iter().enumerate() {
            let Some(body) = &program.functions[function.function].body else { continue };
            let mut labels = FunctionLabels::default();
            for (id, label) in function.labels.iter() {
                let goal = GoalId::from_index(table.goals.len());
                let decision = match label.site {
                    Site::Decision(decision) => Some(decision),
                    _ => None,
                };
                if let Some(decision) = decision {
                    collect_mutants(&label.pred, &mut |condition, expr| {
                        let list = labels.mutants.entry((decision, condition)).or_default();
                        list.push((goal, expr));
                    });
                }
                let keys = keys(label.site, body);
                for key in &keys {
                    labels.sites.entry(*key).or_default().push(goal);
                }
                table.goals.push(Goal {
                    label: LabelRef { func: function.function, label: id },
                    objectives: position,
                    decision,
                    keys,
                    covered: false,
                    reached: false,
                    reasons: not_looked_at(label.site).into_iter().collect(),
                });
            }
            table.functions[function.function.index()] = Some(labels);
        }
        table.left = table.goals.len();
        table
    }

    /// How many labels are left.
    pub(super) const fn left(&self) -> usize {
        self.left
    }

    /// Whether a function has labels.
    pub(super) fn has(&self, func: FuncId) -> bool {
        self.functions[func.index()].is_some()
    }

    /// The labels of a site, in the order of the objectives; with label deletion those left.
    pub(super) fn at(
        &mut self,
        func: FuncId,
        key: SiteKey,
        deletion: bool,
    ) -> SmallVec<[GoalId; 4]> {
        let Some(labels) = &mut self.functions[func.index()] else { return SmallVec::new() };
        let Some(list) = labels.sites.get_mut(&key) else { return SmallVec::new() };
        if deletion {
            list.retain(|goal| !self.goals[goal.index()].covered);
        }
        for goal in list.iter() {
            self.goals[goal.index()].reached = true;
        }
        list.iter().copied().collect()
    }

    /// The sites of a function that have labels left.
    pub(super) fn open_sites(&self, func: FuncId) -> impl Iterator<Item = SiteKey> + '_ {
        let labels = self.functions[func.index()].as_ref();
        labels.into_iter().flat_map(|labels| {
            let open = |list: &SmallVec<[GoalId; 2]>| {
                list.iter().any(|goal| !self.goals[goal.index()].covered)
            };
            labels.sites.iter().filter(move |(_, list)| open(list)).map(|(key, _)| *key)
        })
    }

    /// The mutants of a condition that labels still need, each once.
    pub(super) fn mutants(
        &self,
        func: FuncId,
        decision: DecisionId,
        condition: ConditionId,
        deletion: bool,
    ) -> Vec<ExprId> {
        let labels = self.functions[func.index()].as_ref();
        let list = labels.and_then(|labels| labels.mutants.get(&(decision, condition)));
        let mut exprs: Vec<ExprId> = Vec::new();
        for (goal, expr) in list.into_iter().flatten() {
            let wanted = !deletion || !self.goals[goal.index()].covered;
            if wanted && !exprs.contains(expr) {
                exprs.push(*expr);
            }
        }
        exprs
    }

    /// The objectives of a function that has labels.
    pub(super) fn objectives_of(&self, func: FuncId) -> Option<&'a FunctionObjectives> {
        self.objectives.iter().find(|objectives| objectives.function == func)
    }

    /// A label's objectives, its predicate, and its decision if it belongs to one.
    pub(super) fn goal(
        &self,
        goal: GoalId,
    ) -> (&'a FunctionObjectives, &'a Pred, Option<DecisionId>) {
        let entry = &self.goals[goal.index()];
        let objectives = &self.objectives[entry.objectives];
        (objectives, &objectives.labels[entry.label.label].pred, entry.decision)
    }

    /// Whether a label is covered.
    pub(super) fn is_covered(&self, goal: GoalId) -> bool {
        self.goals[goal.index()].covered
    }

    /// Notes that a label is covered; gives it if it was not before.
    pub(super) fn cover(&mut self, goal: GoalId) -> Option<LabelRef> {
        let entry = &mut self.goals[goal.index()];
        if entry.covered {
            return None;
        }
        entry.covered = true;
        self.left -= 1;
        self.without_test += 1;
        self.covered.push(entry.label);
        Some(entry.label)
    }

    /// A label that was taken as covered is open again. Where its site was passed meanwhile it was
    /// not looked at, for which `reason` stands.
    pub(super) fn uncover(&mut self, label: LabelRef, reason: Cut) {
        let Some(at) = self.goals.iter().position(|goal| goal.label == label) else { return };
        let entry = &mut self.goals[at];
        entry.covered = false;
        entry.reasons.insert(reason);
        self.left += 1;
        self.without_test -= self.without_test.min(1);
        self.covered.retain(|covered| *covered != label);
        let (keys, goal) = (entry.keys.clone(), GoalId::from_index(at));
        let Some(labels) = &mut self.functions[label.func.index()] else { return };
        for key in keys {
            let list = labels.sites.entry(key).or_default();
            if let Err(place) = list.binary_search(&goal) {
                list.insert(place, goal);
            }
        }
    }

    /// How many covered labels have no test yet.
    pub(super) const fn without_test(&self) -> usize {
        self.without_test
    }

    /// Notes that a test was given for so many covered labels.
    pub(super) fn given(&mut self, count: usize) {
        self.without_test -= count.min(self.without_test);
    }

    /// Notes what kept a label from being decided somewhere.
    pub(super) fn hinder(&mut self, goal: GoalId, reason: Cut) {
        self.goals[goal.index()].reasons.insert(reason);
    }

    /// Covered labels in the order of their covering, and those that are left.
    pub(super) fn into_result(self) -> (Vec<LabelRef>, Vec<LeftLabel>) {
        let left = self.goals.into_iter().filter(|goal| !goal.covered).map(|goal| LeftLabel {
            label: goal.label,
            reasons: goal.reasons.into_iter().collect(),
            site_reached: goal.reached,
        });
        (self.covered, left.collect())
    }
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

/// Why a label of a site is never decided.
fn not_looked_at(site: Site) -> Option<Cut> {
    matches!(site, Site::Condition(..))
        .then(|| Cut::Unsupported("a label at the evaluation of one condition".to_owned()))
}

/// Where a label of a site is looked at.
fn keys(site: Site, body: &Body) -> SmallVec<[SiteKey; 1]> {
    let one = match site {
        Site::Entry => SiteKey::Entry,
        Site::Mark(mark) => SiteKey::Mark(mark),
        Site::Edge(edge) => SiteKey::Edge(edge),
        Site::Decision(decision) => SiteKey::Decision(decision),
        Site::Root(root) => {
            return body.source.roots[root].points().map(SiteKey::Point).collect();
        }
        Site::Stmt(stmt) => SiteKey::Point(Point::Stmt(stmt)),
        Site::Block(block) => SiteKey::Point(match body.blocks[block].stmts.first() {
            Some(stmt) => Point::Stmt(*stmt),
            None => Point::Term(block),
        }),
        Site::Start | Site::Condition(..) => return SmallVec::new(),
    };
    SmallVec::from_iter([one])
}
