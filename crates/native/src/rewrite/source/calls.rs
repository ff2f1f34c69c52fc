//! Whether a text contains calls.

use lydian_base::Span;
use lydian_ir::{Body, Stmt, StmtId};

/// Whether statements other than `own` call something within a text.
pub(crate) fn calls_within(body: &Body, text: Span, own: Option<StmtId>) -> bool {
    calls_in(body, text, |id, _| Some(id) != own)
}

/// Whether anything is called within a call's text for the arguments.
pub(crate) fn calls_for_arguments(body: &Body, call: Span) -> bool {
    calls_in(body, call, |_, at| at != call)
}

/// Whether a call that counts, by its statement and its text, stands within a text.
fn calls_in(body: &Body, text: Span, counts: impl Fn(StmtId, Span) -> bool) -> bool {
    body.stmts.iter().any(|(id, stmt)| {
        let at = body.source.stmts[id];
        let is_call = matches!(stmt, Stmt::Call { .. });
        is_call && counts(id, at) && !at.is_none() && text.contains(at)
    })
}
