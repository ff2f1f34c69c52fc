//! Labels at statements, and the steps of sequences at all sites.

use indexmap::IndexMap;
use lydian_ir::StmtId;
use lydian_ir::source::Point;
use lydian_objective::dataflow::UseSite;
use lydian_objective::{LabelId, Site};

use super::monitors::{self, Step};
use super::tree::Edit;
use super::units::{self, Host};
use super::{Action, NO_PLACE, Watch, dataflow, labels, no_sequences, pairs};

impl<'a, 'p> Watch<'a, 'p> {
    /// Records labels at a statement.
    pub(super) fn statement(
        &mut self,
        stmt: StmtId,
        labels: &[LabelId],
        units: &mut units::Units<'_>,
    ) {
        let host = match units.host_of_use(stmt) {
            Ok(host) => host,
            Err(reason) => return self.unwatch(labels, reason),
        };
        let cell = self.plan.cell(self.number, labels.to_vec());
        let Host::Around(around) = host else {
            let record = format!("lydian_hit[{cell}] = 1, ");
            return units.record(host, &record, &no_sequences(), labels);
        };
        // What is called for its arguments may not return.
        if pairs::calls_for_arguments(self.body, around) {
            let record = format!("lydian_hit[{cell}] = 1, ");
            if let Some(call) = units.last_call_before(Point::Stmt(stmt)) {
                return units.record_after(call, &record, &no_sequences(), labels);
            }
            let Some(argument) = units.last_argument_that_calls(stmt) else {
                return self.unwatch(labels, "it follows a call that is made by choice");
            };
            return units.record_late(argument, false, &record, &no_sequences(), labels);
        }
        units.set_before(around, cell, &no_sequences(), labels);
        if units.is_straight(around, Some(stmt)) && !self.body.source.is_copied(stmt) {
            let at = UseSite::Stmt(stmt);
            self.function.flow.cells.push(dataflow::UseCell { cell, around, at });
        }
    }

    /// Records the sequences that are neither data flow nor paths, and what labels bind.
    pub(super) fn monitors(
        &mut self,
        monitors: &monitors::OfFunction<'_>,
        units: &mut units::Units<'_>,
        edges: &mut IndexMap<lydian_ir::BlockId, Vec<(u32, LabelId)>>,
        edits: &mut Vec<Edit<Action>>,
    ) {
        self.function.monitors.clone_from(&monitors.declarations);
        for (site, steps) in &monitors.steps {
            for step in steps {
                if let Err(reason) = self.step(*site, step, units, edges, edits) {
                    step.lose(&reason, self.plan);
                }
            }
        }
    }

    /// Puts the step of a sequence to a site.
    fn step(
        &mut self,
        site: Site,
        step: &Step<'_>,
        units: &mut units::Units<'_>,
        edges: &mut IndexMap<lydian_ir::BlockId, Vec<(u32, LabelId)>>,
        edits: &mut Vec<Edit<Action>>,
    ) -> Result<(), String> {
        match site {
            Site::Decision(decision) => {
                let sites = &self.body.source.decisions;
                if !sites.iter().any(|site| site.decision == decision) {
                    return Err(NO_PLACE.to_owned());
                }
                let Step::Bits(step) = step else { return Err(NO_PLACE.to_owned()) };
                let index = self.edit_of(decision, edits);
                let short_circuit = self.request.short_circuit;
                self.function.decisions[index].step(step, short_circuit, &mut self.hooks)?;
            }
            Site::Entry => {
                let text = step.text(&self.hooks, self.body_start())?;
                self.function.monitors.push_str(&text);
            }
            Site::Mark(mark) => {
                let sites = &self.body.source.marks;
                let site = sites.iter().find(|site| site.mark == mark).copied();
                let site = site.ok_or(NO_PLACE)?;
                let record = step.text(&self.hooks, site.span.start)?;
                if labels::is_user_label(self.body, mark) {
                    self.user_labels.entry(mark).or_default().push_str(&record);
                } else {
                    edits.push(self.at_mark(&site, None, record));
                }
            }
            Site::Stmt(stmt) => {
                let host = units.host_of_use(stmt)?;
                let text = step.text(&self.hooks, self.body.source.stmts[stmt].start)?;
                let lost: units::Sequences = step.sequence().into_iter().collect();
                units.record(host, &format!("({{ {text}}}), "), &lost, &[]);
            }
            Site::Edge(edge) => {
                let switches = &self.body.source.switches;
                let site = switches.iter().find(|site| site.block == edge.from && !site.computed);
                let text = step.text(&self.hooks, site.ok_or(NO_PLACE)?.operand.start)?;
                edges.entry(edge.from).or_default();
                self.function.steps.entry(edge).or_default().push_str(&text);
            }
            _ => return Err(NO_PLACE.to_owned()),
        }
        Ok(())
    }
}
