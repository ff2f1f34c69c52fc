//! The user's labels (calls of `lydian_label`): a probe takes the place of each call.
//!
//! A call would evaluate the label's predicate as C does, and crash where the predicate traps. The
//! probe evaluates the predicate under guards, in Kleene's logic, as it does those of all labels.

use indexmap::IndexMap;
use lydian_ir::source::MarkStyle;
use lydian_ir::{Body, MarkId, MarkKind};
use rustc_hash::FxHashSet;

use crate::rewrite::edits::{EditAction, rank};
use crate::rewrite::request::RewriteRequest;
use crate::rewrite::text::tree::Edit;

/// Whether a mark is a label of the user's.
pub(crate) fn is_user_label(body: &Body, mark: MarkId) -> bool {
    matches!(body.marks[mark].kind, MarkKind::UserLabel { .. })
}

/// Edits of all calls of labels in functions that are not watched.
pub(crate) fn of_unwatched(request: &RewriteRequest<'_>, edits: &mut Vec<Edit<EditAction>>) {
    let watched: FxHashSet<_> = request.watched.iter().map(|watched| watched.function).collect();
    for (_, function) in request.program.defined().filter(|(id, _)| !watched.contains(id)) {
        if let Some(body) = &function.body {
            of_function(body, &mut IndexMap::new(), edits);
        }
    }
}

/// Edits of all calls of labels in a function. Takes the probes of watched labels out of `records`.
pub(crate) fn of_function(
    body: &Body,
    probes: &mut IndexMap<MarkId, String>,
    edits: &mut Vec<Edit<EditAction>>,
) {
    for site in body.source.marks.iter().filter(|site| is_user_label(body, site.mark)) {
        let probe = probes.swap_remove(&site.mark).unwrap_or_default();
        let action = EditAction::Label { style: site.style, probe };
        edits.push(Edit { span: site.span, rank: rank::MARK, action });
    }
}

/// The text in place of a call, on as many lines.
pub(crate) fn in_place_of(style: MarkStyle, probe: &str, text: &str) -> String {
    let lines = lines_of(text);
    match style {
        MarkStyle::Expression => format!("((void)({{ {probe}(void)0; }}){lines})"),
        MarkStyle::Wrap | MarkStyle::Before | MarkStyle::BeforeFor => {
            format!("{{ {probe}{lines}}}")
        }
    }
}

/// The ends of the lines of a text, and its line markers.
pub(crate) fn lines_of(text: &str) -> String {
    let mut kept = String::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let is_marker = index > 0 && line.trim_start().starts_with('#');
        match line.ends_with('\n') {
            true if is_marker => kept.push_str(line),
            true => kept.push('\n'),
            false => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_on_several_lines_leaves_its_lines_and_line_markers() {
        let text = "lydian_label(\"a\",\n# 7 \"u.c\"\n  x\n);";
        let put = in_place_of(MarkStyle::Before, "r; ", text);
        assert_eq!(put, "{ r; \n# 7 \"u.c\"\n\n}");
        assert_eq!(in_place_of(MarkStyle::Expression, "", "f(\n)"), "((void)({ (void)0; })\n)");
    }
}
