//! FCC: every pair of a caller and a callee ([002] Example 2).
//!
//! A pair is covered if control passes one of the calls: the objective is the disjunction of labels
//! at the call statements. The caller is the function that is annotated. Its callees are the
//! functions that it calls by name, defined here or not, in the order of their first calls. A call
//! through a pointer is no objective, since its callee is not known here.

use indexmap::IndexMap;
use lydian_base::Span;
use lydian_ir::stmt::Callee;
use lydian_ir::{FuncId, Stmt, StmtId};

use crate::annotate::context::{Annotator, Context};
use crate::criterion::Criterion;
use crate::hyper::Hyper;
use crate::label::{Pred, Site};

pub(crate) struct CallCoverage;

impl Annotator for CallCoverage {
    fn criterion(&self) -> Criterion {
        Criterion::Fcc
    }

    fn annotate(&self, cx: &mut Context<'_>) {
        let mut calls: Vec<(Span, StmtId, FuncId)> = Vec::new();
        for block in cx.body.blocks.values() {
            let copies = &cx.body.source.copies;
            for stmt in block.stmts.iter().filter(|stmt| !copies.contains_key(stmt)) {
                if let Stmt::Call { callee: Callee::Direct(callee), .. } = cx.body.stmts[*stmt] {
                    calls.push((cx.body.source.stmts[*stmt], *stmt, callee));
                }
            }
        }
        calls.sort_by_key(|(span, stmt, _)| (span.start, span.end, *stmt));
        let mut callees: IndexMap<FuncId, Vec<(StmtId, Span)>> = IndexMap::new();
        for (span, stmt, callee) in calls {
            callees.entry(callee).or_default().push((stmt, span));
        }
        for (callee, sites) in callees {
            let callee = &cx.program.functions[callee].name;
            let name = format!("{} calls {callee}", cx.function.name);
            let text = match sites.len() {
                1 => name.clone(),
                count => format!("{name} at one of {count} places"),
            };
            let first = sites[0].1;
            let mut atoms: Vec<Hyper> = sites
                .into_iter()
                .map(|(stmt, span)| {
                    let label = cx.label(Site::Stmt(stmt), Pred::Const(true), span);
                    Hyper::Atom(cx.atom(label, Vec::new()))
                })
                .collect();
            let hyper = match atoms.len() {
                1 => atoms.remove(0),
                _ => Hyper::Any(atoms),
            };
            cx.push_hyper(hyper, first, name, text);
        }
    }
}
