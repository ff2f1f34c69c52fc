//! Functions with sites made by hand, found in the text by their words.

use lydian_base::{EntityId, SourceMap, Span};
use lydian_ir::decision::Condition;
use lydian_ir::source::{DecisionSite, MarkSite, MarkStyle};
use lydian_ir::stmt::{Mark, MarkKind};
use lydian_ir::test::Test;
use lydian_ir::{BoolTree, CmpOp, ConditionId, Decision, DecisionKind, Expr, MarkId, Purity, Type};
use lydian_native::{
    Limits, MeasureRequest, MeasuredRun, Measurer, Optimization, Plan, RewriteRequest,
};
use lydian_objective::annotate::{Request, annotate};
use lydian_objective::{Criterion, FunctionObjectives};

use super::Unit;

/// A unit whose only function with sites is its first one.
pub(crate) struct Watched {
    pub(crate) unit: Unit,
    /// The user's condition of unreached conditions.
    pub(crate) short_circuit: bool,
}

impl Watched {
    pub(crate) fn new(unit: Unit) -> Self {
        let mut this = Self { unit, short_circuit: false };
        let start = this.unit.text.find('{').unwrap();
        let mut depth = 0;
        let end = this.unit.text[start..].char_indices().find_map(|(at, c)| {
            depth += i32::from(c == '{') - i32::from(c == '}');
            (depth == 0).then_some(start + at + 1)
        });
        this.body().source.body = Span::new(start as u32, end.unwrap() as u32);
        this
    }

    pub(crate) fn body(&mut self) -> &mut lydian_ir::Body {
        let (id, _) = self.unit.program.defined().next().unwrap();
        self.unit.program.functions[id].body.as_mut().unwrap()
    }

    /// The span of the first place where the words stand, from `from` on.
    pub(crate) fn span(&self, words: &str, from: u32) -> Span {
        let at = self.unit.text[from as usize..].find(words);
        let start = from + at.unwrap_or_else(|| panic!("`{words}` is not there")) as u32;
        Span::new(start, start + words.len() as u32)
    }

    pub(crate) fn decision(&mut self, words: &str, tree: BoolTree, conditions: &[(&str, Purity)]) {
        let span = self.span(words, 0);
        let mut at = span.start;
        let mut spans = Vec::new();
        for (words, _) in conditions {
            let span = self.span(words, at);
            at = span.end;
            spans.push(span);
        }
        let body = self.body();
        let conditions = conditions.iter().zip(&spans).map(|((_, purity), span)| {
            // A constant would be no condition.
            let one = body.exprs.push(Expr::Const(Type::BOOL, 1));
            let expr = body.exprs.push(Expr::Cmp(CmpOp::Eq, one, one));
            Condition::new(expr, *purity, *span)
        });
        let conditions = conditions.collect();
        let kind = DecisionKind::Control;
        let decision = body.decisions.push(Decision { kind, tree, conditions, span });
        let site = DecisionSite { decision, span, conditions: spans, keeps_value: false };
        body.source.decisions.push(site);
    }

    pub(crate) fn mark(&mut self, words: &str, style: MarkStyle) -> MarkId {
        let span = self.span(words, 0);
        let body = self.body();
        let mark = body.marks.push(Mark { kind: MarkKind::Statement, span });
        body.source.marks.push(MarkSite { mark, span, style });
        mark
    }

    pub(crate) fn objectives(&self, criteria: &[Criterion]) -> FunctionObjectives {
        let map = SourceMap::from_preprocessed(self.unit.text.as_str(), "unit.c");
        let (id, _) = self.unit.program.defined().next().unwrap();
        let request = Request::new(criteria);
        annotate(&self.unit.program, &map, id, &request).unwrap().objectives
    }

    /// Runs the tests; for each, how it ended and the names of the entries that it covers.
    pub(crate) fn measure(
        &self,
        criterion: Criterion,
        tests: &[Test],
        level: Optimization,
    ) -> (Vec<MeasuredRun>, Vec<Vec<String>>, Plan) {
        let objectives = self.objectives(&[criterion]);
        let map = SourceMap::from_preprocessed(self.unit.text.as_str(), "unit.c");
        let entries: Vec<_> = self.unit.program.defined().map(|(id, _)| id).collect();
        let watched = [objectives];
        let request = MeasureRequest {
            rewrite: RewriteRequest {
                short_circuit: self.short_circuit,
                ..RewriteRequest::for_tests(&map, &self.unit.program, &watched)
            },
            companions: &[],
            flags: &[],
            entries: &entries,
            modelled: &|_| false,
            level,
            compiler: "clang-19",
        };
        let limits = Limits { test: std::time::Duration::from_millis(300), ..Limits::default() };
        let mut measurer = Measurer::new(request, limits).unwrap_or_else(|error| panic!("{error}"));
        let measured = measurer.measure(tests).unwrap_or_else(|error| panic!("{error}"));
        let names = measured.iter().map(|measured| {
            let entries = watched[0].criteria[&criterion].iter();
            let covered = entries.filter(|entry| measured.covered[0].contains(&entry.label));
            covered.map(|entry| entry.name.clone()).collect()
        });
        let names = names.collect();
        (measured, names, measurer.plan().clone())
    }
}

pub(crate) fn cond(index: usize) -> Box<BoolTree> {
    Box::new(BoolTree::Cond(ConditionId::from_index(index)))
}

pub(crate) fn and(a: Box<BoolTree>, b: Box<BoolTree>) -> Box<BoolTree> {
    Box::new(BoolTree::And(a, b))
}

pub(crate) fn or(a: Box<BoolTree>, b: Box<BoolTree>) -> Box<BoolTree> {
    Box::new(BoolTree::Or(a, b))
}
