//! Puts labels at statements, and the steps of sequences at all sites.

use indexmap::IndexMap;
use lydian_ir::StmtId;
use lydian_ir::source::Point;
use lydian_objective::dataflow::UseSite;
use lydian_objective::{LabelId, Site};

use crate::rewrite::data_flow::probes::UseCell;
use crate::rewrite::edits::EditAction;
use crate::rewrite::function::FunctionRewriter;
use crate::rewrite::sequences::monitors::{FunctionMonitors, MonitorStep};
use crate::rewrite::source::calls::calls_for_arguments;
use crate::rewrite::statement_probes::{ProbeHost, SequenceList, StatementProbes, no_sequences};
use crate::rewrite::text::tree::Edit;
use crate::rewrite::text::user_labels;
use crate::rewrite::uninstrumentable::NO_PLACE;

impl<'a, 'p> FunctionRewriter<'a, 'p> {
    /// Records labels at a statement.
    pub(crate) fn statement(
        &mut self,
        stmt: StmtId,
        labels: &[LabelId],
        units: &mut StatementProbes<'_>,
    ) {
        let host = match units.host_of_use(stmt) {
            Ok(host) => host,
            Err(reason) => return self.add_uninstrumentable(labels, reason),
        };
        let cell = self.plan.cell(self.number, labels.to_vec());
        let ProbeHost::Around(around) = host else {
            let probe = format!("lydian_hit[{cell}] = 1, ");
            return units.probe_before(host, &probe, &no_sequences(), labels);
        };
        // Calls in its arguments may not return.
        if calls_for_arguments(self.body, around) {
            let probe = format!("lydian_hit[{cell}] = 1, ");
            if let Some(call) = units.last_call_before(Point::Stmt(stmt)) {
                return units.probe_after_call(call, &probe, &no_sequences(), labels);
            }
            let Some(argument) = units.last_argument_that_calls(stmt) else {
                return self
                    .add_uninstrumentable(labels, "it follows a call that is made by choice");
            };
            return units.probe_after_calls(argument, false, &probe, &no_sequences(), labels);
        }
        units.set_before(around, cell, &no_sequences(), labels);
        if units.is_straight(around, Some(stmt)) && !self.body.source.is_copied(stmt) {
            let at = UseSite::Stmt(stmt);
            self.function.flow.cells.push(UseCell { cell, around, at });
        }
    }

    /// Puts the steps of sequences that are neither data flow nor paths, and of labels that bind
    /// values.
    pub(crate) fn monitors(
        &mut self,
        monitors: &FunctionMonitors<'_>,
        units: &mut StatementProbes<'_>,
        edges: &mut IndexMap<lydian_ir::BlockId, Vec<(u32, LabelId)>>,
        edits: &mut Vec<Edit<EditAction>>,
    ) {
        self.function.monitors.clone_from(&monitors.declarations);
        for (site, steps) in &monitors.steps {
            for step in steps {
                if let Err(reason) = self.step(*site, step, units, edges, edits) {
                    step.add_uninstrumentable(&reason, self.plan);
                }
            }
        }
    }

    /// Puts the step of a sequence to a site.
    fn step(
        &mut self,
        site: Site,
        step: &MonitorStep<'_>,
        units: &mut StatementProbes<'_>,
        edges: &mut IndexMap<lydian_ir::BlockId, Vec<(u32, LabelId)>>,
        edits: &mut Vec<Edit<EditAction>>,
    ) -> Result<(), String> {
        match site {
            Site::Decision(decision) => {
                let sites = &self.body.source.decisions;
                if !sites.iter().any(|site| site.decision == decision) {
                    return Err(NO_PLACE.to_owned());
                }
                let MonitorStep::Bits(step) = step else { return Err(NO_PLACE.to_owned()) };
                let index = self.edit_of(decision, edits);
                let short_circuit = self.request.short_circuit;
                self.function.decisions[index].step(step, short_circuit, &mut self.predicates)?;
            }
            Site::Entry => {
                let text = step.text(&self.predicates, self.body_start())?;
                self.function.monitors.push_str(&text);
            }
            Site::Mark(mark) => {
                let sites = &self.body.source.marks;
                let site = sites.iter().find(|site| site.mark == mark).copied();
                let site = site.ok_or(NO_PLACE)?;
                let probe = step.text(&self.predicates, site.span.start)?;
                if user_labels::is_user_label(self.body, mark) {
                    self.user_labels.entry(mark).or_default().push_str(&probe);
                } else {
                    edits.push(self.at_mark(&site, None, probe));
                }
            }
            Site::Stmt(stmt) => {
                let host = units.host_of_use(stmt)?;
                let text = step.text(&self.predicates, self.body.source.stmts[stmt].start)?;
                let affected: SequenceList = step.sequence().into_iter().collect();
                units.probe_before(host, &format!("({{ {text}}}), "), &affected, &[]);
            }
            Site::Edge(edge) => {
                let switches = &self.body.source.switches;
                let site = switches.iter().find(|site| site.block == edge.from && !site.computed);
                let text = step.text(&self.predicates, site.ok_or(NO_PLACE)?.operand.start)?;
                edges.entry(edge.from).or_default();
                self.function.steps.entry(edge).or_default().push_str(&text);
            }
            _ => return Err(NO_PLACE.to_owned()),
        }
        Ok(())
    }
}
