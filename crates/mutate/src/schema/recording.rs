//! A full expression that records which mutants its values infect.
//!
//! Each node with mutants becomes a statement expression: its operands and its value are kept in
//! variables, the tests of its mutants read them, and its value is the result. Nodes whose mutants
//! always infect need no variables.

use std::fmt::Write as _;

use lydian_base::Span;

use crate::enumerate::site::{Infection, Node, Operands, Record, Site, ValueKind};
use crate::text::Edits;

/// The text of a site with its records.
pub(crate) fn recorded(text: &str, site: &Site) -> String {
    Recorder { text, nodes: &site.nodes }.within(site.span, 0)
}

struct Recorder<'a> {
    text: &'a str,
    /// Outer nodes come before inner ones.
    nodes: &'a [Node],
}

impl Recorder<'_> {
    /// The text of a range, with the nodes from the given one on that lie in it.
    fn within(&self, span: Span, from: usize) -> String {
        let mut edits = Edits::default();
        let mut end = span.start;
        for (at, node) in self.nodes.iter().enumerate().skip(from) {
            // Nodes inside of one that was seen are its own matter.
            if !span.contains(node.span) || node.span.start < end {
                continue;
            }
            end = node.span.end;
            edits.replace(node.span, self.node(at));
        }
        edits.apply(self.text, span)
    }

    fn node(&self, at: usize) -> String {
        let node = &self.nodes[at];
        let (always, tested): (Vec<&Record>, Vec<&Record>) =
            node.records.iter().partition(|record| record.infection == Infection::Always);
        let hits = hits(&always);
        let of_operands =
            tested.iter().any(|record| matches!(record.infection, Infection::Operands(_)));
        let inner = || self.within(node.span, at + 1);
        if tested.is_empty() {
            return format!("({hits}{})", inner());
        }
        let tests = tests(&tested);
        match &node.operands {
            _ if node.value == ValueKind::None => {
                let all: Vec<&Record> = node.records.iter().collect();
                format!("({}{})", self::hits(&all), inner())
            }
            Some(operands) if of_operands => {
                let (before, value) = self.operands(operands, at);
                format!("({hits}({{ {before}__auto_type lydian_v = {value}; {tests}lydian_v; }}))")
            }
            _ => {
                let value = kept(node.value, &inner());
                format!("({hits}({{ __auto_type lydian_v = {value}; {tests}lydian_v; }}))")
            }
        }
    }

    /// The declarations of an operator's operands, and its value.
    fn operands(&self, of: &Operands, at: usize) -> (String, String) {
        let left = kept(of.left_kind, &self.within(of.left, at + 1));
        let right = kept(of.right_kind, &self.within(of.right, at + 1));
        let symbol = of.symbol;
        match symbol {
            "&&" | "||" => {
                let left = format!("__auto_type lydian_l = !!({left}); ");
                (left, format!("(lydian_l {symbol} ({right}))"))
            }
            _ => {
                let both =
                    format!("__auto_type lydian_l = {left}; __auto_type lydian_r = {right}; ");
                (both, format!("(lydian_l {symbol} lydian_r)"))
            }
        }
    }
}

/// A value as a variable keeps it. A sign makes a bit-field a number of its promoted type.
fn kept(kind: ValueKind, text: &str) -> String {
    match kind {
        ValueKind::Number => format!("+({text})"),
        ValueKind::Copied | ValueKind::None => format!("({text})"),
    }
}

/// Calls that say that mutants infect, each followed by a comma.
fn hits(records: &[&Record]) -> String {
    let mut out = String::new();
    let mut numbers: Vec<u32> = records.iter().map(|record| record.number).collect();
    numbers.sort_unstable();
    let mut rest = &numbers[..];
    while let Some(first) = rest.first() {
        let count = rest.iter().zip(*first..).take_while(|(own, next)| **own == *next).count();
        let _ = write!(out, "lydian_infect({first}u, {count}u), ");
        rest = &rest[count..];
    }
    out
}

fn tests(records: &[&Record]) -> String {
    let mut out = String::new();
    for record in records {
        if let Infection::Value(test) | Infection::Operands(test) = &record.infection {
            let _ = write!(out, "lydian_reach({}u, {test}); ", record.number);
        }
    }
    out
}
