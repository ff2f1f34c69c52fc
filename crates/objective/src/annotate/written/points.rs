//! Points of a function: the places that the user names by a label or by a line.

use lydian_base::Span;
use lydian_ir::stmt::MarkKind;
use lydian_ir::{Body, MarkId};

use crate::annotate::context::Context;
use crate::decision::predicates::outcome_with;
use crate::htol::HtolError;
use crate::htol::syntax::{Extent, Name, PointKind, PointRef};
use crate::label::{Pred, Site};

/// A point of a function, with the text that shows it.
pub(super) struct ProgramPoint {
    pub(super) site: Site,
    pub(super) span: Span,
}

/// A label that the user wrote in the function.
pub(super) fn user_label(cx: &Context<'_>, name: &Name) -> Result<(ProgramPoint, Pred), HtolError> {
    let (mark, span) = label_mark(&cx.function.name, cx.body, &name.text, &name.at)?;
    let pred = user_predicate(cx, mark).unwrap_or(Pred::Const(true));
    Ok((ProgramPoint { site: Site::Mark(mark), span }, pred))
}

/// The mark of a label that the user wrote in a function.
pub(super) fn label_mark(
    function: &str,
    body: &Body,
    name: &str,
    at: &Extent,
) -> Result<(MarkId, Span), HtolError> {
    let is_it =
        |kind: &MarkKind| matches!(kind, MarkKind::UserLabel { name: other, .. } if other == name);
    let found = body.marks.iter().find(|(_, mark)| is_it(&mark.kind));
    found.map(|(id, mark)| (id, mark.span)).ok_or_else(|| HtolError::Unknown {
        what: format!("`{function}` has no label `{name}`"),
        at: at.0.clone(),
    })
}

/// A point of the function of `cx`.
pub(super) fn resolve(cx: &Context<'_>, point: &PointRef) -> Result<ProgramPoint, HtolError> {
    let function = &cx.function.name;
    let (mark, span) = match &point.kind {
        PointKind::Entry => {
            let start = cx.body.source.body.start;
            return Ok(ProgramPoint { site: Site::Entry, span: Span::new(start, start + 1) });
        }
        PointKind::Label(name) => label_mark(function, cx.body, name, &point.at)?,
        PointKind::Line(file, line) => {
            let is_there =
                |(_, span): &(MarkId, Span)| is_at(cx, span.start, file.as_deref(), *line);
            let marks = cx.statement_marks().filter(is_there);
            marks
                .min_by_key(|(_, span)| span.start)
                .ok_or_else(|| no_statement(cx, *line, point))?
        }
    };
    Ok(ProgramPoint { site: Site::Mark(mark), span })
}

/// The error that no statement begins at a line.
pub(super) fn no_statement(cx: &Context<'_>, line: u32, point: &PointRef) -> HtolError {
    let what = format!("`{}` has no statement that begins at line {line}", cx.function.name);
    HtolError::Unknown { what, at: point.at.0.clone() }
}

/// Whether a place of the text is at this line of a file, by default the function's own.
pub(super) fn is_at(cx: &Context<'_>, at: u32, file: Option<&str>, line: u32) -> bool {
    let place = cx.map.place(at);
    place.line == line
        && match file {
            Some(file) => is_file(&place.file, file),
            None => place.file == cx.map.place(cx.body.source.body.start).file,
        }
}

/// Whether a path ends with the path that the user wrote.
fn is_file(path: &str, written: &str) -> bool {
    path.strip_suffix(written).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

/// The predicate of a label that the user wrote at a mark.
pub(super) fn user_predicate(cx: &Context<'_>, mark: MarkId) -> Option<Pred> {
    let MarkKind::UserLabel { predicate, .. } = &cx.body.marks[mark].kind else { return None };
    Some(outcome_with(&predicate.tree, &|condition| {
        Pred::Expr(cx.exprs.canonical(predicate.conditions[condition].expr))
    }))
}
