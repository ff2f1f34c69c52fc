//! Records at IR statements: around the expression that a statement's text is, or before the
//! declaration that it is a part of.
//!
//! Records before an expression are joined to it by commas, so that its value stays; what is
//! recorded after it makes a block of it that keeps the value.

use std::sync::Arc;

use indexmap::{IndexMap, IndexSet};
use lydian_base::Span;
use lydian_ir::source::{MarkSite, MarkStyle, Point};
use lydian_ir::{Body, LocalId, Stmt, StmtId};
use lydian_objective::dataflow::{is_variable, root_of};
use lydian_objective::{LabelId, SequenceId};
use rustc_hash::FxHashSet;

use super::NO_PLACE;
use super::pairs::calls_within;

/// The expressions of one function with records at their statements.
#[derive(Debug)]
pub(super) struct Units<'a> {
    body: &'a Body,
    text: &'a str,
    /// By their text.
    pub(super) around: IndexMap<Span, Unit>,
    /// What is recorded before declarations.
    pub(super) before: Vec<(MarkSite, String)>,
    /// The places that are read or written to, with what is recorded of their addresses.
    pub(super) places: IndexMap<Span, Place>,
    /// The texts of which something is kept.
    kept: IndexSet<Span>,
}

/// Sequences, each with the position of its function.
pub(super) type Sequences = Arc<[(u32, SequenceId)]>;

/// An expression with records.
#[derive(Debug, Default)]
pub(super) struct Unit {
    /// Cells that are set before it, whatever the state is.
    cells: Vec<u32>,
    /// Tables of which a cell is set before it: the first cell of each, and the text of the index.
    tables: Vec<(u32, String)>,
    /// Other records before it, each followed by a comma.
    first: String,
    /// Records of what it reads after the calls in it, each a statement.
    late: String,
    /// Records after it, each a statement.
    after: String,
    /// Records of what is read when it, a call, has returned and what it defines is known, each a
    /// statement.
    then: String,
    /// Whether nothing asks for the value, or there is none.
    value_unused: bool,
    /// Whether the value is a bit-field's.
    bits: bool,
    /// The sequences that are lost if the text cannot be rewritten.
    pub(super) sequences: Vec<Sequences>,
    /// The labels that are.
    pub(super) labels: Vec<LabelId>,
}

/// What is recorded where a place is evaluated.
#[derive(Debug, Default)]
pub(super) struct Place {
    /// The number of the variable that keeps its address.
    keep: Option<usize>,
    /// Statements that speak of its address as `lydian_b`.
    records: String,
    /// The sequences that are lost if the text cannot be rewritten.
    pub(super) sequences: Vec<Sequences>,
}

impl Place {
    /// The place with its records.
    pub(super) fn render(&self, text: &str) -> String {
        let keep =
            self.keep.map(|number| format!("lydian_held{number} = (unsigned long)lydian_b; "));
        let (keep, records) = (keep.unwrap_or_default(), &self.records);
        format!("(*({{ __auto_type lydian_b = &({text}); {keep}{records}lydian_b; }}))")
    }
}

/// Where something can be recorded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Host {
    /// Around an expression.
    Around(Span),
    /// Before a statement.
    Before(MarkSite),
}

impl Unit {
    fn lose(&mut self, sequences: &Sequences) {
        if !sequences.is_empty() {
            self.sequences.push(Arc::clone(sequences));
        }
    }

    /// The expression with its records, but for the cells that follow from others.
    pub(super) fn render(&self, text: &str, left_out: &FxHashSet<u32>) -> String {
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

impl<'a> Units<'a> {
    pub(super) fn new(body: &'a Body, text: &'a str) -> Self {
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
    pub(super) fn text_of(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Whether what follows a text assigns to it, which a value is not for.
    fn is_assigned(&self, span: Span) -> bool {
        let after = self.text.get(span.end as usize..).unwrap_or("").trim_start();
        let operator = after.trim_start_matches(['+', '-', '*', '/', '%', '&', '|', '^', '<', '>']);
        let taken = after.len() - operator.len();
        let assigns = operator.starts_with('=') && !operator.starts_with("==");
        // `<=` and `>=` compare.
        let compares = taken == 1 && after.starts_with(['<', '>']);
        // What is assigned to may be what the text points to.
        let before = self.text.get(..span.start as usize).unwrap_or("").trim_end();
        let through = before.ends_with('*');
        let steps = after.starts_with("++") || after.starts_with("--");
        steps || (assigns && taken < 3 && !compares && !through)
    }

    /// Whether the address of what a text stands for is taken before it.
    pub(super) fn is_addressed(&self, span: Span) -> bool {
        let before = self.text.get(..span.start as usize).unwrap_or("").trim_end();
        let before = before.trim_end_matches(['(', ' ', '\t', '\n']);
        before.ends_with('&') && !before.ends_with("&&")
    }

    /// Keeps the address of a place that is written to. Returns the number of the variable, and
    /// whether it is a new one.
    pub(super) fn keep_address(&mut self, place: Span, sequences: &Sequences) -> (usize, bool) {
        let (number, is_new) = self.keep_value(place);
        let kept = self.places.entry(place).or_default();
        kept.keep = Some(number);
        kept.sequences.push(Arc::clone(sequences));
        (number, is_new)
    }

    /// Records something, a statement that may speak of the place's address as `lydian_b`, where a
    /// place is evaluated.
    pub(super) fn at_place(&mut self, place: Span, record: &str, sequences: &Sequences) {
        let unit = self.places.entry(place).or_default();
        unit.records.push_str(record);
        unit.sequences.push(Arc::clone(sequences));
    }

    /// Whether the name at an offset is declared as a register.
    pub(super) fn is_register(&self, at: u32) -> bool {
        let before = self.text.get(..at as usize).unwrap_or("");
        let start = before.rfind([';', '{', '}', '(', ')']).map_or(0, |at| at + 1);
        before[start..].split_whitespace().any(|word| word == "register")
    }

    /// Keeps the value of a text. Returns the number of the variable, and whether it is a new one.
    pub(super) fn keep_value(&mut self, text: Span) -> (usize, bool) {
        self.kept.insert_full(text)
    }

    /// How many values are kept.
    pub(super) fn kept_values(&self) -> usize {
        self.kept.len()
    }

    /// Where a statement with this text is recorded.
    pub(super) fn host(&self, stmt: StmtId, span: Span) -> Result<Host, &'static str> {
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
            return match super::scan::has_compound_literal(slice) {
                true => Err("its text has a compound literal, which must not move into a block"),
                false => Ok(Host::Around(span)),
            };
        }
        let sites = self.body.source.marks.iter();
        let around = sites.filter(|site| site.span.contains(span));
        let smallest = around.min_by_key(|site| site.span.range().len());
        match smallest {
            Some(site) if site.style != MarkStyle::Expression => Ok(Host::Before(*site)),
            _ => Err(NO_PLACE),
        }
    }

    /// Where the evaluation of a value with this text is recorded.
    pub(super) fn host_of_value(&self, span: Span) -> Result<Host, &'static str> {
        let is_place = self.is_assigned(span) || self.is_addressed(span);
        let text = self.text_of(span);
        match is_place || is_statement(text) || super::scan::has_compound_literal(text) {
            true => Err("its text is not that of a value"),
            false => Ok(Host::Around(span)),
        }
    }

    /// Where what a statement reads is recorded: of a declaration, around the initial value.
    pub(super) fn host_of_use(&self, stmt: StmtId) -> Result<Host, &'static str> {
        let host = self.host(stmt, self.body.source.stmts[stmt])?;
        Ok(match (host, root_of(self.body, stmt)) {
            (Host::Before(_), Some(root)) if !root.is_none() => Host::Around(root),
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

    /// Records something, an expression followed by a comma, before a statement.
    pub(super) fn record(
        &mut self,
        host: Host,
        record: &str,
        sequences: &Sequences,
        labels: &[LabelId],
    ) {
        match host {
            Host::Around(span) => {
                let unit = self.around.entry(span).or_default();
                unit.first.push_str(record);
                unit.lose(sequences);
                unit.labels.extend(labels);
            }
            Host::Before(site) => {
                let record = record.strip_suffix(", ").unwrap_or(record);
                self.before.push((site, format!("{record}; ")));
            }
        }
    }

    /// Sets a cell before an expression, whatever the state is.
    pub(super) fn set_before(
        &mut self,
        span: Span,
        cell: u32,
        sequences: &Sequences,
        labels: &[LabelId],
    ) {
        let unit = self.around.entry(span).or_default();
        unit.cells.push(cell);
        unit.lose(sequences);
        unit.labels.extend(labels);
    }

    /// Sets a cell of a table before an expression: its first cell, and the text of the index.
    pub(super) fn set_one_before(
        &mut self,
        span: Span,
        (first, index): (u32, String),
        sequences: &Sequences,
    ) {
        let unit = self.around.entry(span).or_default();
        unit.tables.push((first, index));
        unit.lose(sequences);
    }

    /// Whether the evaluation of an expression goes on, once it has begun, from one part of it to the
    /// next: no call, choice or statement is within. `own` is the statement that is its whole.
    pub(super) fn is_straight(&self, text: Span, own: Option<StmtId>) -> bool {
        let source = &self.body.source;
        let within = |span: Span| !span.is_none() && text.contains(span);
        !calls_within(self.body, text, own)
            && !source.decisions.iter().any(|site| within(site.span))
            && !source.switches.iter().any(|site| within(site.operand))
            && !source.marks.iter().any(|site| site.span != text && within(site.span))
    }

    /// Records something, a statement, after a statement that gives a variable its value, or before
    /// the declaration that does.
    pub(super) fn define(&mut self, stmt: StmtId, host: Host, record: &str, sequences: &Sequences) {
        let span = match host {
            Host::Before(site) => return self.before.push((site, record.to_owned())),
            Host::Around(span) => span,
        };
        let unused = match &self.body.stmts[stmt] {
            Stmt::Call { dst, dst_addr, .. } => dst.is_none() && dst_addr.is_none(),
            Stmt::VaStart { .. } => true,
            _ => is_void(self.text_of(span)),
        };
        let unit = self.around.entry(span).or_default();
        unit.value_unused = unused && (unit.after.is_empty() || unit.value_unused);
        unit.bits |= matches!(self.body.stmts[stmt], Stmt::StoreBits { .. });
        unit.after.push_str(record);
        unit.lose(sequences);
    }

    /// The text of the last call that is evaluated before what stands at a point, as a part of its text;
    /// none if that is within a choice.
    pub(super) fn last_call_before(&self, at: Point) -> Option<Span> {
        let roots = self.body.source.roots.values().filter(|root| root.point == at);
        let mut captures = roots.flat_map(|root| &root.captures);
        let last = captures.rfind(|capture| calls_within(self.body, capture.span, None))?;
        let is_it = |(id, stmt): (StmtId, &Stmt)| {
            let made = matches!(stmt, Stmt::Call { dst, .. } if *dst == Some(last.temp));
            made && self.body.source.stmts[id] == last.span
        };
        let is_value = !super::scan::has_compound_literal(self.text_of(last.span));
        (is_value && self.body.stmts.iter().any(is_it)).then_some(last.span)
    }

    /// The text of the last argument of a call that calls something itself.
    pub(super) fn last_argument_that_calls(&self, call: StmtId) -> Option<Span> {
        let Stmt::Call { args, .. } = &self.body.stmts[call] else { return None };
        let mut texts = args.iter().map(|arg| self.body.source.exprs[*arg]);
        let text = texts.rfind(|text| calls_within(self.body, *text, None))?;
        let is_value =
            !self.is_addressed(text) && !super::scan::has_compound_literal(self.text_of(text));
        is_value.then_some(text)
    }

    /// Records something, an expression followed by a comma, when a call has returned whose value
    /// is used, and what it defines is recorded.
    pub(super) fn record_after(
        &mut self,
        call: Span,
        record: &str,
        sequences: &Sequences,
        labels: &[LabelId],
    ) {
        let unit = self.around.entry(call).or_default();
        unit.labels.extend(labels);
        if let Some(record) = record.strip_suffix(", ") {
            unit.then.push_str(&format!("{record}; "));
        }
        unit.value_unused = false;
        unit.lose(sequences);
    }

    /// Records something, an expression followed by a comma, when all calls in an expression have
    /// returned. `bits` says whether its value is a bit-field's.
    pub(super) fn record_late(
        &mut self,
        span: Span,
        bits: bool,
        record: &str,
        sequences: &Sequences,
        labels: &[LabelId],
    ) {
        let unit = self.around.entry(span).or_default();
        unit.labels.extend(labels);
        if let Some(record) = record.strip_suffix(", ") {
            unit.late.push_str(&format!("{record}; "));
        }
        unit.bits |= bits;
        unit.value_unused = false;
        unit.lose(sequences);
    }
}
