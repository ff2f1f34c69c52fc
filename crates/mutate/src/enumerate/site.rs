//! Sites: full expressions with their mutants, and how the schema tells whether a mutant infects.

use lydian_base::Span;

use crate::mutant::FunctionNotes;
use crate::operator::Operator;

/// A mutant before it has a number and a place in a file.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) operator: Operator,
    pub(crate) name: String,
    /// The replaced text.
    pub(crate) span: Span,
    pub(crate) replacement: String,
    /// The expression whose value tells whether the mutant infects.
    pub(crate) node: Span,
    pub(crate) infection: Infection,
}

/// Where a mutant's state differs from the original's, once control has reached it. A condition is C
/// over the values of the node: `lydian_v` is its own, `lydian_l` and `lydian_r` are those of its
/// operands. It may be true too often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Infection {
    /// Wherever control passes.
    Always,
    /// Where the value meets a condition.
    Value(String),
    /// Where the values of the operands, or the value itself, meet a condition.
    Operands(String),
}

/// The mutants of a function, and where they stand.
#[derive(Clone, Debug)]
pub(crate) struct FunctionPlan {
    pub(crate) notes: FunctionNotes,
    pub(crate) sites: Vec<Site>,
    pub(crate) deletions: Vec<Deletion>,
    /// Calls of user labels, which are no part of the program.
    pub(crate) label_calls: Vec<Span>,
    /// How the original goes to the copy, if the function is copied.
    pub(crate) entry: Option<Entry>,
}

/// The call of a function's copy.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The names of the parameters.
    pub(crate) params: Vec<String>,
    pub(crate) returns_nothing: bool,
}

/// A statement that a mutant deletes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deletion {
    /// The statement with its semicolon.
    pub(crate) span: Span,
    pub(crate) number: u32,
}

/// A full expression.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    pub(crate) span: Span,
    pub(crate) usage: Usage,
    /// The alternatives: the replaced range and its replacement, with numbers from `first` on.
    pub(crate) first: u32,
    pub(crate) alternatives: Vec<(Span, String)>,
    /// The nodes with mutants, outer ones first.
    pub(crate) nodes: Vec<Node>,
}

/// The use of a full expression's value, which all alternatives must fit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Usage {
    /// None.
    Effect,
    /// It is tested against zero.
    Truth,
    /// It is converted to a scalar type, of this spelling.
    Converted(String),
    /// It is used as it is: all alternatives have its type.
    AsIs,
}

/// An expression whose mutants are recorded.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) span: Span,
    pub(crate) operands: Option<Operands>,
    pub(crate) value: ValueKind,
    pub(crate) records: Vec<Record>,
}

/// The operands of a node with a binary operator.
#[derive(Clone, Debug)]
pub(crate) struct Operands {
    pub(crate) left: Span,
    pub(crate) right: Span,
    pub(crate) left_kind: ValueKind,
    pub(crate) right_kind: ValueKind,
    pub(crate) symbol: &'static str,
}

/// How a value is kept in a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    /// A number, promoted.
    Number,
    /// A pointer, or another value that is copied as it is.
    Copied,
    /// It cannot be kept.
    None,
}

/// The record of one mutant.
#[derive(Clone, Debug)]
pub(crate) struct Record {
    pub(crate) number: u32,
    pub(crate) infection: Infection,
}

/// What drafts need to know of a node.
#[derive(Clone, Debug)]
pub(crate) struct NodeShape {
    pub(crate) span: Span,
    pub(crate) operands: Option<Operands>,
    pub(crate) value: ValueKind,
}

impl Site {
    /// A site of drafts, with numbers from `first` on.
    pub(crate) fn new(
        span: Span,
        usage: Usage,
        first: u32,
        drafts: &[Draft],
        shapes: &[NodeShape],
    ) -> Self {
        let mut nodes: Vec<Node> = Vec::new();
        for (number, draft) in (first..).zip(drafts) {
            let record = Record { number, infection: draft.infection.clone() };
            match nodes.iter_mut().find(|node| node.span == draft.node) {
                Some(node) => node.records.push(record),
                None => nodes.push(node_of(draft.node, shapes, record)),
            }
        }
        nodes.sort_by_key(|node| (node.span.start, std::cmp::Reverse(node.span.end)));
        let alternatives =
            drafts.iter().map(|draft| (draft.span, draft.replacement.clone())).collect();
        Self { span, usage, first, alternatives, nodes }
    }
}

/// A node as the shapes of its span tell. Conversions share their operand's span.
fn node_of(span: Span, shapes: &[NodeShape], record: Record) -> Node {
    let own = || shapes.iter().filter(|shape| shape.span == span);
    let operands = own().find_map(|shape| shape.operands.clone());
    let value = own().map(|shape| shape.value).next().unwrap_or(ValueKind::None);
    Node { span, operands, value, records: vec![record] }
}
