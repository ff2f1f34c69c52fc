//! Nested replacements in a text.
//!
//! Sites nest as their spans do, so edits form a tree. The text inside of an edit is rendered
//! first, and the edit is then rendered around it.

use lydian_base::Span;

/// A replacement of one span, which may hold others.
#[derive(Debug)]
pub(crate) struct Node<A> {
    pub(crate) span: Span,
    pub(crate) action: A,
    pub(crate) children: Vec<Node<A>>,
}

/// An edit before it has its place in the tree. Of two with one span, the one of the lesser rank
/// is outside.
#[derive(Debug)]
pub(crate) struct Edit<A> {
    pub(crate) span: Span,
    pub(crate) rank: u8,
    pub(crate) action: A,
}

/// Makes the forest of edits in the order of the text. Edits that overlap an earlier one without
/// nesting come back as the second part.
pub(crate) fn nest<A>(mut edits: Vec<Edit<A>>) -> (Vec<Node<A>>, Vec<A>) {
    edits.sort_by_key(|edit| (edit.span.start, std::cmp::Reverse(edit.span.end), edit.rank));
    let mut roots = Vec::new();
    let mut open: Vec<Node<A>> = Vec::new();
    let mut refused = Vec::new();
    for Edit { span, action, .. } in edits {
        // An insertion (an empty span) at the end of another edit's text stands after it.
        while open.last().is_some_and(|top| top.span.end <= span.start) {
            close(&mut open, &mut roots);
        }
        if open.last().is_some_and(|top| !top.span.contains(span)) {
            refused.push(action);
            continue;
        }
        open.push(Node { span, action, children: Vec::new() });
    }
    while !open.is_empty() {
        close(&mut open, &mut roots);
    }
    (roots, refused)
}

fn close<A>(open: &mut Vec<Node<A>>, roots: &mut Vec<Node<A>>) {
    if let Some(node) = open.pop() {
        open.last_mut().map_or(roots, |parent| &mut parent.children).push(node);
    }
}

/// The text of `span` in which `render` replaces each node.
pub(crate) fn splice<A>(
    text: &str,
    span: Span,
    nodes: &[Node<A>],
    render: &mut impl FnMut(&Node<A>) -> String,
) -> String {
    let mut out = String::with_capacity(span.range().len());
    let mut at = span.start as usize;
    for node in nodes {
        let range = node.span.range();
        out.push_str(text.get(at..range.start).unwrap_or(""));
        out.push_str(&render(node));
        at = range.end;
    }
    out.push_str(text.get(at..span.end as usize).unwrap_or(""));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(start: u32, end: u32, rank: u8, action: &'static str) -> Edit<&'static str> {
        Edit { span: Span::new(start, end), rank, action }
    }

    fn wrap(text: &str, node: &Node<&'static str>) -> String {
        let inner = splice(text, node.span, &node.children, &mut |child| wrap(text, child));
        format!("{}({inner})", node.action)
    }

    fn wrapped(text: &str, edits: Vec<Edit<&'static str>>) -> (String, usize) {
        let (nodes, refused) = nest(edits);
        let all = Span::new(0, text.len() as u32);
        (splice(text, all, &nodes, &mut |node| wrap(text, node)), refused.len())
    }

    #[test]
    fn inner_edits_are_made_inside_of_outer_ones_whatever_their_order() {
        let edits = vec![edit(3, 4, 0, "c"), edit(1, 4, 0, "a"), edit(1, 2, 0, "b")];
        assert_eq!(wrapped("uvwxy", edits), ("ua(b(v)wc(x))y".to_owned(), 0));
    }

    #[test]
    fn of_two_edits_of_one_span_the_lesser_rank_is_outside() {
        let edits = vec![edit(1, 2, 5, "in"), edit(1, 2, 1, "out")];
        assert_eq!(wrapped("uvw", edits).0, "uout(in(v))w");
    }

    #[test]
    fn an_edit_that_crosses_another_is_refused() {
        let edits = vec![edit(0, 2, 0, "a"), edit(1, 3, 0, "b")];
        assert_eq!(wrapped("uvw", edits), ("a(uv)w".to_owned(), 1));
    }

    #[test]
    fn an_insertion_where_an_edit_begins_stands_before_it_or_inside_by_rank() {
        let edits = vec![edit(1, 1, 0, "i"), edit(1, 2, 1, "a")];
        assert_eq!(wrapped("uvw", edits).0, "ua(i()v)w");
    }
}
