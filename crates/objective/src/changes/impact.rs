//! The objectives whose verdicts a change may affect.

use lydian_ir::source::Point;
use lydian_ir::stmt::Terminator;
use lydian_ir::{BlockId, Body, DecisionId, FuncId, MarkId, Program, Stmt};
use rustc_hash::FxHashSet;

use super::affected::{AffectedNodes, AffectedPlaces, VersionFlow};
use super::matching::{FunctionStatus, ProgramChanges};
use super::nodes::{NodeId, Nodes};
use super::places::PlaceOf;
use crate::hyper::HyperId;
use crate::hyper::normal::Part;
use crate::label::{Label, LabelId, Site};
use crate::objectives::FunctionObjectives;

/// The impacted objectives of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImpactedObjectives {
    /// The labels.
    pub labels: FxHashSet<LabelId>,
    /// The hyperlabels.
    pub hypers: FxHashSet<HyperId>,
}

impl ImpactedObjectives {
    /// The impacted objectives of a function of the new version, where runs begin in `entry`. `new` and
    /// `affected` are what [`AffectedPlaces::from`] made for it.
    pub fn of(
        changes: &ProgramChanges,
        (new, affected): (&VersionFlow<'_>, &AffectedPlaces),
        (program, entry): (&Program, FuncId),
        objectives: &FunctionObjectives,
    ) -> Self {
        let function = objectives.function;
        let status = |id| changes.of_new(id).map(|change| &change.status);
        let compared = [entry, function].into_iter().all(|id| {
            !matches!(
                status(id),
                Some(FunctionStatus::Added | FunctionStatus::Signature { .. }) | None
            )
        });
        if !compared {
            return Self::all(objectives);
        }
        let (Some(body), Some(own)) = (&program.functions[function].body, affected.of(function))
        else {
            return Self::default();
        };
        let Some(nodes) = new.nodes(function) else { return Self::default() };
        let judge = ImpactJudge { flow: new, body, nodes, own, affected, objectives };
        judge.objectives()
    }

    fn all(objectives: &FunctionObjectives) -> Self {
        Self {
            labels: objectives.labels.ids().collect(),
            hypers: objectives.hypers.ids().collect(),
        }
    }
}

/// Judges the objectives of one function.
struct ImpactJudge<'a> {
    flow: &'a VersionFlow<'a>,
    body: &'a Body,
    nodes: &'a Nodes,
    own: &'a AffectedNodes,
    affected: &'a AffectedPlaces,
    objectives: &'a FunctionObjectives,
}

impl ImpactJudge<'_> {
    fn objectives(&self) -> ImpactedObjectives {
        let labels = self.objectives.labels.iter().filter(|(_, label)| self.label(label));
        let labels: FxHashSet<LabelId> = labels.map(|(id, _)| id).collect();
        let hypers = self.objectives.hypers.iter().filter(|(_, hyper)| {
            let mut found = false;
            hyper.hyper.for_each_part(&mut |part| {
                found |= match part {
                    Part::Atom(atom) if atom.function == self.objectives.function => {
                        labels.contains(&atom.label)
                    }
                    // What lies between the atoms counts, too.
                    Part::Atom(_) | Part::Sequence(_) => !self.affected.is_empty(),
                };
            });
            found
        });
        let hypers = hypers.map(|(id, _)| id).collect();
        ImpactedObjectives { labels, hypers }
    }

    fn label(&self, label: &Label) -> bool {
        match label.site {
            Site::Start => false,
            Site::Entry => {
                let entry = self.body.entry;
                self.is_executed(entry) || self.reads(label, self.nodes.first_of(entry))
            }
            Site::Mark(mark) => self.mark(mark, label),
            Site::Edge(edge) => self.any(self.nodes.at(Point::Term(edge.from))),
            Site::Decision(decision) => self.decision(decision) || self.reads(label, None),
            Site::Condition(decision, _) => self.decision(decision),
            Site::Root(root) => {
                let node = self.nodes.at(self.body.source.roots[root].point);
                self.any(node) || self.reads(label, node)
            }
            Site::Stmt(stmt) => {
                let node = self.nodes.at(Point::Stmt(stmt));
                self.any(node) || self.reads(label, node) || self.block_of(Point::Stmt(stmt))
            }
            Site::Block(block) => {
                let node = self.nodes.first_of(block);
                self.is_executed(block) || self.any(node) || self.reads(label, node)
            }
        }
    }

    /// A place that control only passes: its own execution and what stands there.
    fn mark(&self, mark: MarkId, label: &Label) -> bool {
        let is_here = |stmt: &lydian_ir::StmtId| matches!(self.body.stmts[*stmt], Stmt::Mark(other) if other == mark);
        let blocks =
            self.body.blocks.iter().filter_map(|(id, block)| {
                Some((id, block, block.stmts.iter().position(&is_here)?))
            });
        blocks.into_iter().any(|(id, block, at)| {
            let mut behind = block.stmts[at..].iter().map(|stmt| Point::Stmt(*stmt));
            let next = behind.find_map(|point| self.nodes.at(point));
            let next = next.or_else(|| self.nodes.at(Point::Term(id)));
            let before = block.stmts[..at].iter().rev().map(|stmt| Point::Stmt(*stmt));
            let before = before.filter_map(|point| self.nodes.at(point)).next();
            self.is_executed(id)
                || next.is_some_and(|next| {
                    self.own.changed.contains(&next) || self.own.executions.contains(&next)
                })
                || (next.is_none() && self.ends_behind(before))
                || self.reads(label, next)
        })
    }

    /// Whether the execution of what comes behind a node is affected, as far as its block knows. A
    /// mark without anything behind it is judged so.
    fn ends_behind(&self, node: Option<NodeId>) -> bool {
        match node {
            Some(node) => self.any(Some(node)),
            None => !self.own.changed.is_empty(),
        }
    }

    fn is_executed(&self, block: BlockId) -> bool {
        self.own.blocks.contains(&block)
    }

    fn block_of(&self, point: Point) -> bool {
        let holds = self.body.blocks.iter().find(|(id, block)| match point {
            Point::Stmt(stmt) => block.stmts.contains(&stmt),
            Point::Term(own) => *id == own,
        });
        holds.is_some_and(|(id, _)| self.is_executed(id))
    }

    fn any(&self, node: Option<NodeId>) -> bool {
        node.is_some_and(|node| {
            self.own.changed.contains(&node)
                || self.own.operands.contains(&node)
                || self.own.executions.contains(&node)
                || self.is_executed(self.nodes.block(node))
        })
    }

    /// Whether a test of the decision is affected, or a value that one of its conditions reads.
    fn decision(&self, decision: DecisionId) -> bool {
        let tests = self.body.blocks.iter().filter(|(_, block)| match block.term {
            Terminator::Branch { origin: Some(origin), .. } => origin.decision == decision,
            _ => false,
        });
        let mut tests = tests.map(|(id, _)| self.nodes.at(Point::Term(id)));
        tests.any(|node| self.any(node))
    }

    /// Whether the predicate of a label reads an affected value, at a node; without one, anywhere.
    fn reads(&self, label: &Label, node: Option<NodeId>) -> bool {
        let mut found = false;
        label.pred.for_each_expr(&mut |expr| {
            let places =
                self.flow.places().read_by(self.objectives.function, &self.objectives.exprs, expr);
            found |= places.iter().any(|place| self.is_affected(*place, node));
        });
        found
    }

    fn is_affected(&self, place: PlaceOf, node: Option<NodeId>) -> bool {
        match (place, node) {
            (PlaceOf::Local(local), None) => {
                self.own.locals.values().any(|locals| locals.contains(&local))
            }
            (place, Some(node)) => self.affected.has(place, (self.own, node)),
            (place, None) => self.affected.has_shared(place),
        }
    }
}
