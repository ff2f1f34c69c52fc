//! Probes at IR statements: around the expression that is a statement's text, or before the
//! declaration that the text is a part of.
//!
//! A probe before an expression is joined to it by a comma, which keeps the expression's value. A
//! probe after an expression makes the expression a block that keeps the value in a variable.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use lydian_base::Span;
use lydian_ir::source::{MarkSite, MarkStyle, Point};
use lydian_ir::{Body, LocalId, Stmt, StmtId};
use lydian_objective::dataflow::{is_variable, root_of};
use lydian_objective::{LabelId, SequenceId};
use rustc_hash::FxHashSet;

use crate::rewrite::source::calls::calls_within;
use crate::rewrite::source::scan;
use crate::rewrite::uninstrumentable::NO_PLACE;

/// No sequences.
pub(crate) fn no_sequences() -> SequenceList {
    SequenceList::default()
}

/// The probes at the statements of one function, by their expressions.
#[derive(Debug)]
pub(crate) struct StatementProbes<'a> {
    body: &'a Body,
    text: &'a str,
    /// By their text.
    pub(crate) around: IndexMap<Span, ExpressionProbes>,
    /// Probes before declarations.
    pub(crate) before: Vec<(MarkSite, String)>,
    /// The places that are read or written, with the probes of their addresses.
    pub(crate) places: IndexMap<Span, LvalueProbes>,
    /// The texts whose value or address is kept in a variable.
    kept: IndexSet<Span>,
}

/// Sequences, each with the position of its function.
pub(crate) type SequenceList = Arc<[(u32, SequenceId)]>;

/// The probes at an expression.
#[derive(Debug, Default)]
pub(crate) struct ExpressionProbes {
    /// Cells that are set before it on every state.
    cells: Vec<u32>,
    /// Tables of which a cell is set before it: the first cell of each, and the text of the index.
    tables: Vec<(u32, String)>,
    /// Other probes before it, each followed by a comma.
    first: String,
    /// Probes of its reads after the calls in it, each a statement.
    late: String,
    /// Probes after it, each a statement.
    after: String,
    /// If it is a call: probes after its return and after the probes of its definitions, each a
    /// statement.
    then: String,
    /// Whether the value is unused, or there is none.
    value_unused: bool,
    /// Whether the value is a bit-field's.
    bits: bool,
    /// The sequences that become uninstrumentable if the text cannot be rewritten.
    pub(crate) sequences: Vec<SequenceList>,
    /// The labels that do.
    pub(crate) labels: Vec<LabelId>,
}

/// The probes at the evaluation of a place.
#[derive(Debug, Default)]
pub(crate) struct LvalueProbes {
    /// The number of the variable that keeps its address.
    keep: Option<usize>,
    /// Statements; its address is `lydian_b` in them.
    probes: String,
    /// The sequences that become uninstrumentable if the text cannot be rewritten.
    pub(crate) sequences: Vec<SequenceList>,
}

impl LvalueProbes {
    /// The place with its probes.
    pub(crate) fn render(&self, text: &str) -> String {
        let keep =
            self.keep.map(|number| format!("lydian_held{number} = (unsigned long)lydian_b; "));
        let (keep, probes) = (keep.unwrap_or_default(), &self.probes);
        format!("(*({{ __auto_type lydian_b = &({text}); {keep}{probes}lydian_b; }}))")
    }
}

/// Where a probe can stand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ProbeHost {
    /// Around an expression.
    Around(Span),
    /// Before a statement.
    Before(MarkSite),
}

impl ExpressionProbes {
    fn add_uninstrumentable(&mut self, sequences: &SequenceList) {
        if !sequences.is_empty() {
            self.sequences.push(Arc::clone(sequences));
        }
    }

    /// The expression with its probes, without redundant cells.
    pub(crate) fn render(&self, text: &str, left_out: &FxHashSet<u32>) -> String {
        let cells = self.cells.iter().filter(|cell| !left_out.contains(cell));
        let tables = self.tables.iter().filter(|(first, _)| !left_out.contains(first));
        let indices = cells.map(u32::to_string).chain(tables.map(|(_, index)| index.clone()));
        let set: String = indices.map(|index| format!("lydian_hit[{index}] = 1, ")).collect();
        let first = set + &self.first;
        if self.after.is_empty() && self.late.is_empty() && self.then.is_empty() {
            return match first.is_empty() {
                true => text.to_owned(),
                false => format!("({first}{text})"),
            };
        }
        let first = match first.strip_suffix(", ") {
            Some(first) => format!("{first}; "),
            None => String::new(),
        };
        if self.value_unused {
            return format!("({{ {first}{text}; {}{}(void)0; }})", self.late, self.after);
        }
        let value = if self.bits { format!("+({text})") } else { format!("({text})") };
        let then = format!("{}{}{}", self.late, self.after, self.then);
        format!("({{ {first}__auto_type lydian_k = {value}; {then}lydian_k; }})")
    }
}

/// Whether a text is the call of a builtin that stores and has no value.
fn is_void(text: &str) -> bool {
    let name = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    let atomic = name.strip_prefix("__atomic_").or_else(|| name.strip_prefix("__c11_atomic_"));
    match atomic {
        // In the generic form, values are passed and given back through pointers.
        Some("load" | "exchange") => name.starts_with("__atomic_"),
        Some("store" | "store_n" | "init" | "clear") => true,
        _ => name.starts_with("__sync_lock_release") || name == "__builtin_va_copy",
    }
}

/// Whether a text begins with a keyword of statements, and so is no expression.
fn is_statement(text: &str) -> bool {
    let word = text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or("");
    ["return", "if", "else", "while", "do", "for", "switch", "goto"].contains(&word)
}

impl<'a> StatementProbes<'a> {
    pub(crate) fn new(body: &'a Body, text: &'a str) -> Self {
        Self {
            body,
            text,
            around: IndexMap::new(),
            before: Vec::new(),
            places: IndexMap::new(),
            kept: IndexSet::new(),
        }
    }

    /// A text.
    pub(crate) fn text_of(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Whether the text after an expression assigns to it, so that a value cannot take its place.
    fn is_assigned(&self, span: Span) -> bool {
        let after = self.text.get(span.end as usize..).unwrap_or("").trim_start();
        let operator = after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
        let taken = after.len() - operator.len();
        let assigns = operator.starts_with('=') && !operator.starts_with("==");
        // `<=` and `>=` compare.
        let compares = taken == 1 && after.starts_with(['<', '>']);
        // The assignment may be to the object that the text points to.
        let before = self.text.get(..span.start as usize).unwrap_or("").trim_end();
        let through = before.ends_with('*');
        let steps = after.starts_with("++") || after.starts_with("--");
        steps || (assigns && taken < 3 && !compares && !through)
    }

    /// Whether a `&` before the text takes its address.
    pub(crate) fn is_addressed(&self, span: Span) -> bool {
        let before = self.text.get(..span.start as usize).unwrap_or("").trim_end();
        let before = before.trim_end_matches(['(', ' ', '\t', '\n']);
        before.ends_with('&') && !before.ends_with("&&")
    }

    /// Keeps the address of a place that is written to. Returns the number of the variable, and
    /// whether it is a new one.
    pub(crate) fn keep_address(&mut self, place: Span, sequences: &SequenceList) -> (usize, bool) {
        let (number, is_new) = self.keep_value(place);
        let kept = self.places.entry(place).or_default();
        kept.keep = Some(number);
        kept.sequences.push(Arc::clone(sequences));
        (number, is_new)
    }

    /// Adds a probe where a place is evaluated: a statement in which `lydian_b` is the place's
    /// address.
    pub(crate) fn at_place(&mut self, place: Span, probe: &str, sequences: &SequenceList) {
        let unit = self.places.entry(place).or_default();
        unit.probes.push_str(probe);
        unit.sequences.push(Arc::clone(sequences));
    }

    /// Whether the name at an offset is declared as a register.
    pub(crate) fn is_register(&self, at: u32) -> bool {
        let before = self.text.get(..at as usize).unwrap_or("");
        let start = before.rfind([';', '{', '}', '(', ')']).map_or(0, |at| at + 1);
        before[start..].split_whitespace().any(|word| word == "register")
    }

    /// Keeps the value of a text. Returns the number of the variable, and whether it is a new one.
    pub(crate) fn keep_value(&mut self, text: Span) -> (usize, bool) {
        self.kept.insert_full(text)
    }

    /// How many values are kept.
    pub(crate) fn kept_values(&self) -> usize {
        self.kept.len()
    }

    /// Where the probes of a statement with this text stand.
    pub(crate) fn host(&self, stmt: StmtId, span: Span) -> Result<ProbeHost, &'static str> {
        if span.is_none() {
            return Err(NO_PLACE);
        }
        let is_expression =
            !matches!(self.body.stmts[stmt], Stmt::Havoc(_)) && self.declared_in(span).is_none();
        if is_expression {
            let slice = self.text.get(span.range()).unwrap_or("");
            if self.is_assigned(span) || is_statement(slice) {
                return Err("its text is not that of a value");
            }
            return match scan::has_compound_literal(slice) {
                true => Err("its text has a compound literal, which must not move into a block"),
                false => Ok(ProbeHost::Around(span)),
            };
        }
        let sites = self.body.source.marks.iter();
        let around = sites.filter(|site| site.span.contains(span));
        let smallest = around.min_by_key(|site| site.span.range().len());
        match smallest {
            Some(site) if site.style != MarkStyle::Expression => Ok(ProbeHost::Before(*site)),
            _ => Err(NO_PLACE),
        }
    }

    /// Where the probes of a value with this text stand.
    pub(crate) fn host_of_value(&self, span: Span) -> Result<ProbeHost, &'static str> {
        let is_place = self.is_assigned(span) || self.is_addressed(span);
        let text = self.text_of(span);
        match is_place || is_statement(text) || scan::has_compound_literal(text) {
            true => Err("its text is not that of a value"),
            false => Ok(ProbeHost::Around(span)),
        }
    }

    /// Where the probes of a statement's reads stand: for a declaration, around the initial value.
    pub(crate) fn host_of_use(&self, stmt: StmtId) -> Result<ProbeHost, &'static str> {
        let host = self.host(stmt, self.body.source.stmts[stmt])?;
        Ok(match (host, root_of(self.body, stmt)) {
            (ProbeHost::Before(_), Some(root)) if !root.is_none() => ProbeHost::Around(root),
            _ => host,
        })
    }

    /// The variable that is declared within a text, which is then no expression.
    fn declared_in(&self, span: Span) -> Option<LocalId> {
        let declared = |id: &LocalId| {
            let start = self.body.locals[*id].scope.start;
            is_variable(self.body, *id)
                && !self.body.params.contains(id)
                && start >= span.start
                && start < span.end
        };
        self.body.locals.ids().find(declared)
    }

    /// Adds a probe before a statement: an expression followed by a comma.
    pub(crate) fn probe_before(
        &mut self,
        host: ProbeHost,
        probe: &str,
        sequences: &SequenceList,
        labels: &[LabelId],
    ) {
        match host {
            ProbeHost::Around(span) => {
                let unit = self.around.entry(span).or_default();
                unit.first.push_str(probe);
                unit.add_uninstrumentable(sequences);
                unit.labels.extend(labels);
            }
            ProbeHost::Before(site) => {
                let probe = probe.strip_suffix(", ").unwrap_or(probe);
                self.before.push((site, format!("{probe}; ")));
            }
        }
    }

    /// Sets a cell before an expression, on every state.
    pub(crate) fn set_before(
        &mut self,
        span: Span,
        cell: u32,
        sequences: &SequenceList,
        labels: &[LabelId],
    ) {
        let unit = self.around.entry(span).or_default();
        unit.cells.push(cell);
        unit.add_uninstrumentable(sequences);
        unit.labels.extend(labels);
    }

    /// Sets a cell of a table before an expression: its first cell, and the text of the index.
    pub(crate) fn set_one_before(
        &mut self,
        span: Span,
        (first, index): (u32, String),
        sequences: &SequenceList,
    ) {
        let unit = self.around.entry(span).or_default();
        unit.tables.push((first, index));
        unit.add_uninstrumentable(sequences);
    }

    /// Whether an expression contains no call, choice or statement, so that all of it is evaluated
    /// once its evaluation begins. `own` is the statement that is the whole expression.
    pub(crate) fn is_straight(&self, text: Span, own: Option<StmtId>) -> bool {
        let source = &self.body.source;
        let within = |span: Span| !span.is_none() && text.contains(span);
        !calls_within(self.body, text, own)
            && !source.decisions.iter().any(|site| within(site.span))
            && !source.switches.iter().any(|site| within(site.operand))
            && !source.marks.iter().any(|site| site.span != text && within(site.span))
    }

    /// Adds a probe, a statement, after a statement that defines a variable, or before the
    /// declaration that does.
    pub(crate) fn define(
        &mut self,
        stmt: StmtId,
        host: ProbeHost,
        probe: &str,
        sequences: &SequenceList,
    ) {
        let span = match host {
            ProbeHost::Before(site) => return self.before.push((site, probe.to_owned())),
            ProbeHost::Around(span) => span,
        };
        let unused = match &self.body.stmts[stmt] {
            Stmt::Call { dst, dst_addr, .. } => dst.is_none() && dst_addr.is_none(),
            Stmt::VaStart { .. } => true,
            _ => is_void(self.text_of(span)),
        };
        let unit = self.around.entry(span).or_default();
        unit.value_unused = unused && (unit.after.is_empty() || unit.value_unused);
        unit.bits |= matches!(self.body.stmts[stmt], Stmt::StoreBits { .. });
        unit.after.push_str(probe);
        unit.add_uninstrumentable(sequences);
    }

    /// The text of the last call that is evaluated before a point, inside of the point's text.
    /// `None` if the call is made by choice.
    pub(crate) fn last_call_before(&self, at: Point) -> Option<Span> {
        let roots = self.body.source.roots.values().filter(|root| root.point == at);
        let mut captures = roots.flat_map(|root| &root.captures);
        let last = captures.rfind(|capture| calls_within(self.body, capture.span, None))?;
        let is_it = |(id, stmt): (StmtId, &Stmt)| {
            let made = matches!(stmt, Stmt::Call { dst, .. } if *dst == Some(last.temp));
            made && self.body.source.stmts[id] == last.span
        };
        let is_value = !scan::has_compound_literal(self.text_of(last.span));
        (is_value && self.body.stmts.iter().any(is_it)).then_some(last.span)
    }

    /// The text of the last argument of a call that calls something itself.
    pub(crate) fn last_argument_that_calls(&self, call: StmtId) -> Option<Span> {
        let Stmt::Call { args, .. } = &self.body.stmts[call] else { return None };
        let mut texts = args.iter().map(|arg| self.body.source.exprs[*arg]);
        let text = texts.rfind(|text| calls_within(self.body, *text, None))?;
        let is_value = !self.is_addressed(text) && !scan::has_compound_literal(self.text_of(text));
        is_value.then_some(text)
    }

    /// Adds a probe, an expression followed by a comma, after the return of a call whose value is
    /// used, and after the probes of the call's definitions.
    pub(crate) fn probe_after_call(
        &mut self,
        call: Span,
        probe: &str,
        sequences: &SequenceList,
        labels: &[LabelId],
    ) {
        let unit = self.around.entry(call).or_default();
        unit.labels.extend(labels);
        if let Some(probe) = probe.strip_suffix(", ") {
            unit.then.push_str(&format!("{probe}; "));
        }
        unit.value_unused = false;
        unit.add_uninstrumentable(sequences);
    }

    /// Adds a probe, an expression followed by a comma, after all calls in an expression. `bits`
    /// says whether its value is a bit-field's.
    pub(crate) fn probe_after_calls(
        &mut self,
        span: Span,
        bits: bool,
        probe: &str,
        sequences: &SequenceList,
        labels: &[LabelId],
    ) {
        let unit = self.around.entry(span).or_default();
        unit.labels.extend(labels);
        if let Some(probe) = probe.strip_suffix(", ") {
            unit.late.push_str(&format!("{probe}; "));
        }
        unit.bits |= bits;
        unit.value_unused = false;
        unit.add_uninstrumentable(sequences);
    }
}
