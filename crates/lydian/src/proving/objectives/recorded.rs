//! Proofs about objectives in a ledger: what no run covers, with certificates.
//!
//! What a run covers is not recorded: only what was measured counts as covered.

use std::path::Path;

use lydian_inputs::bounds::nothing_kept;
use lydian_ir::FuncId;
use lydian_ledger::{EvidenceScope, FunctionName, Ledger, LedgerError};
use lydian_objective::evidence::Evidence;
use lydian_objective::{Assumption, AssumptionKind, FunctionObjectives, LabelKey};

use super::super::verdicts::ErrorAnswer;
use super::answers::Answered;
use super::asked::{AskedObjectives, Entry};
use super::{ObjectiveProofs, Subject};
use crate::certificates::{Certificates, shown_name};
use crate::error::Error;
use crate::objectives::Semantics;
use crate::project::Project;
use crate::project::undefined::{allocates, calls_what_is_undefined};
use crate::shared_ledger::{Scopes, unit_name};

/// What a ledger has to know of a program, as it was before first values of variables became inputs.
pub(super) struct LedgerContext {
    /// The conditions under which evidence is valid, by function with objectives.
    scopes: Vec<EvidenceScope>,
    preconditions: String,
    assumptions: Vec<Assumption>,
}

impl LedgerContext {
    pub(super) fn new(
        project: &Project,
        entry: FuncId,
        (functions, semantics): (&[FunctionObjectives], Semantics),
    ) -> Self {
        let scopes = Scopes::new(project, semantics);
        let scope = |of: &FunctionObjectives| scopes.of(of.function);
        let mut assumptions = Vec::new();
        assumptions.extend(calls_what_is_undefined(project, entry).then(nothing_kept));
        if allocates(&project.program, entry) {
            let sentence = "allocations of memory succeed";
            assumptions.push(Assumption::new(AssumptionKind::Other, "", sentence));
        }
        Self {
            scopes: functions.iter().map(scope).collect(),
            preconditions: project.surroundings().join("; "),
            assumptions,
        }
    }
}

/// The findings about a function's objectives.
#[derive(Clone, Debug)]
struct FunctionFindings {
    name: String,
    scope: EvidenceScope,
    objectives: FunctionObjectives,
    evidence: Vec<(LabelKey, Evidence)>,
}

/// The findings about objectives that a ledger keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct LedgerFindings {
    unit: String,
    functions: Vec<FunctionFindings>,
    /// Programs and certificates, by their digests.
    documents: Vec<(String, String)>,
}

impl LedgerFindings {
    /// Those of arguments of the engines.
    pub(super) fn new(
        (subject, context): (&Subject, &LedgerContext),
        asked: &AskedObjectives<'_>,
        found: &[Answered],
        certificates: &Certificates,
    ) -> Self {
        let own = subject.objectives[..subject.own].iter().zip(&context.scopes);
        let functions = own.map(|(objectives, scope)| FunctionFindings {
            name: subject.project.name(objectives.function).to_owned(),
            scope: scope.clone(),
            objectives: objectives.clone(),
            evidence: Vec::new(),
        });
        let mut findings = Self {
            unit: unit_name(&subject.project.build.file),
            functions: functions.collect(),
            documents: certificates.documents(),
        };
        for entry in &asked.entries {
            let Some(evidence) = findings.evidence(context, asked, (entry, found), certificates)
            else {
                continue;
            };
            let own = findings.functions.iter_mut().zip(&subject.objectives);
            for (function, objectives) in own {
                let key = asked.key(entry.objective);
                let is_new = !function.evidence.iter().any(|(known, _)| known == key);
                if objectives.function == entry.function && is_new {
                    function.evidence.push((key.clone(), evidence.clone()));
                }
            }
        }
        findings
    }

    /// The evidence on an objective that no run covers by arguments of the engines.
    fn evidence(
        &self,
        context: &LedgerContext,
        asked: &AskedObjectives<'_>,
        (entry, found): (&Entry, &[Answered]),
        certificates: &Certificates,
    ) -> Option<Evidence> {
        let answered = &found[entry.objective];
        let ErrorAnswer::Unreachable(argument) = &answered.answer else { return None };
        if answered.goals.is_empty() {
            return None;
        }
        let named = asked.named(entry);
        let name = shown_name(&named);
        let is_missing = certificates.missing.iter().any(|(missing, _)| *missing == name);
        let all = certificates.all.iter().zip(self.documents.iter().skip(1));
        let own = all.filter(|(certificate, _)| {
            let goals = certificate.objectives.iter().flat_map(|objectives| &objectives.goals);
            !is_missing && goals.into_iter().any(|goal| goal.of.contains(&named))
        });
        Some(Evidence::Complete {
            method: Evidence::ALL_RUNS.to_owned(),
            preconditions: context.preconditions.clone(),
            assumptions: context.assumptions.clone(),
            invariants: argument.invariants.iter().map(ToString::to_string).collect(),
            certificates: own.map(|(_, (name, _))| name.clone()).collect(),
        })
    }
}

impl ObjectiveProofs {
    /// Records in a ledger what no run covers by an argument of the engines, with its certificates. The
    /// ledger is made if it is not there. Returns the number of objectives.
    ///
    /// # Errors
    /// Trouble with the ledger.
    pub fn record(&self, ledger: &Path) -> Result<usize, Error> {
        let mut opened = Ledger::open(ledger).map_err(Error::from)?;
        self.findings.write(&mut opened).map_err(Error::from)
    }
}

impl LedgerFindings {
    fn write(&self, ledger: &mut Ledger) -> Result<usize, LedgerError> {
        let Some(first) = self.functions.first() else { return Ok(0) };
        let name = FunctionName { unit: &self.unit, name: &first.name };
        let mut recording = ledger.record(name, &first.scope)?;
        for (name, text) in &self.documents {
            recording.document(name, text)?;
        }
        let mut count = 0;
        for function in &self.functions {
            let name = FunctionName { unit: &self.unit, name: &function.name };
            recording.turn_to(name, &function.scope)?;
            recording.objectives(&function.objectives)?;
            for (key, evidence) in &function.evidence {
                recording.evidence(key, evidence)?;
                count += 1;
            }
        }
        recording.commit()?;
        Ok(count)
    }
}
