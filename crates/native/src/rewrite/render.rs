//! Rendering: makes the text of each edit from the text inside of it.

use indexmap::IndexMap;
use lydian_base::Span;
use lydian_ir::source::{MarkStyle, RootId, RootKind};
use lydian_ir::{Body, Expr, LocalId, Type};

use crate::rewrite::edits::EditAction;
use crate::rewrite::function::FunctionEdits;
use crate::rewrite::predicates::writer::{capture_declarations, capture_name};
use crate::rewrite::request::RewriteRequest;
use crate::rewrite::source::bit_fields::reads_bits;
use crate::rewrite::text::tree::{Node, splice};
use crate::rewrite::text::user_labels;

/// Makes the text of each edit from the text inside of it.
pub(crate) struct Renderer<'a> {
    pub(crate) request: &'a RewriteRequest<'a>,
    pub(crate) functions: IndexMap<u32, FunctionEdits>,
}

impl Renderer<'_> {
    pub(crate) fn render(&self, node: &Node<EditAction>) -> String {
        match &node.action {
            EditAction::Insert(text) => text.clone(),
            EditAction::Remove => user_labels::lines_of(self.request.map.slice(node.span)),
            EditAction::Start { function, text, cell } => {
                format!("{text}{}", self.set(*function, *cell))
            }
            EditAction::Mark { function, style, cell, probe } => {
                let probe = self.set(*function, *cell) + probe;
                mark(*style, &probe, &self.inside(node))
            }
            EditAction::Label { style, probe } => {
                user_labels::in_place_of(*style, probe, self.request.map.slice(node.span))
            }
            EditAction::Switch { function, index } => {
                let of = &self.functions[function];
                let operand = self.inside(node);
                match of.switches[*index].dispatch(&of.left_out) {
                    Some(dispatch) => format!(
                        "({{ __auto_type lydian_x = ({operand}) + 0; {dispatch} lydian_x; }})"
                    ),
                    None => operand,
                }
            }
            EditAction::Case { function, index, way } => {
                let of = &self.functions[function];
                of.switches[*index].ways[*way].at_label(&self.inside(node), &of.left_out)
            }
            EditAction::Goto { dispatch } => {
                let operand = self.inside(node);
                format!("({{ __auto_type lydian_x = ({operand}) + 0; {dispatch} lydian_x; }})")
            }
            EditAction::Decision { function, index } => {
                let edit = &self.functions[function].decisions[*index];
                edit.render(&self.inside(node))
            }
            EditAction::Condition { function, index, condition } => {
                let mut captured = Vec::new();
                let text = self.inside_capturing(node, &mut captured);
                let edit = &self.functions[function].decisions[*index];
                let captures = self.captures(*function, &captured);
                edit.render_condition(*condition, &text, &captures)
            }
            EditAction::Root { function, root } => {
                let mut captured = Vec::new();
                let text = self.inside_capturing(node, &mut captured);
                let captures = self.captures(*function, &captured);
                let probes = &self.functions[function].roots[root];
                let Some(body) = self.body(*function) else { return text };
                root_text(body, *root, &format!("{captures}{probes}"), &text)
            }
            // A capture whose root is not rewritten stays where it is.
            EditAction::Capture { .. } => self.inside(node),
            EditAction::Unit { function, span } => self.unit(*function, span, &self.inside(node)),
            EditAction::Place { function, span } => {
                self.functions[function].places[span].render(&self.inside(node))
            }
        }
    }

    fn unit(&self, function: u32, span: &Span, inside: &str) -> String {
        let of = &self.functions[&function];
        of.units[span].render(inside, &of.left_out)
    }

    /// The store to a cell, unless it is redundant.
    fn set(&self, function: u32, cell: Option<u32>) -> String {
        let set = cell.filter(|cell| !self.functions[&function].left_out.contains(cell));
        set.map_or(String::new(), |cell| format!("lydian_hit[{cell}] = 1; "))
    }

    fn body(&self, function: u32) -> Option<&Body> {
        let function = self.request.watched[function as usize].function;
        self.request.program.functions[function].body.as_ref()
    }

    fn captures(&self, function: u32, captured: &[(LocalId, String)]) -> String {
        let body = self.body(function);
        body.map_or(String::new(), |body| {
            capture_declarations(self.request.program, body, captured)
        })
    }

    fn inside(&self, node: &Node<EditAction>) -> String {
        splice(self.request.map.text(), node.span, &node.children, &mut |child| self.render(child))
    }

    /// The text inside, its captures replaced by their names and collected.
    fn inside_capturing(
        &self,
        node: &Node<EditAction>,
        captured: &mut Vec<(LocalId, String)>,
    ) -> String {
        splice(self.request.map.text(), node.span, &node.children, &mut |child| match &child.action
        {
            EditAction::Capture { temp } => {
                captured.push((*temp, self.inside(child)));
                capture_name(*temp)
            }
            EditAction::Unit { function, span } => {
                let inside = self.inside_capturing(child, captured);
                self.unit(*function, span, &inside)
            }
            EditAction::Place { function, span } => {
                let inside = self.inside_capturing(child, captured);
                self.functions[function].places[span].render(&inside)
            }
            _ => self.render(child),
        })
    }
}

fn mark(style: MarkStyle, probe: &str, inner: &str) -> String {
    match style {
        _ if probe.is_empty() => inner.to_owned(),
        MarkStyle::Wrap | MarkStyle::BeforeFor => format!("{{ {probe}{inner} }}"),
        MarkStyle::Before => format!("{probe}{inner}"),
        MarkStyle::Expression => format!("(({{ {probe}}}), {inner})"),
    }
}

/// A root with the statements before it.
fn root_text(body: &Body, id: RootId, before: &str, text: &str) -> String {
    let root = &body.source.roots[id];
    match root.kind {
        RootKind::Address => format!("(*({{ {before}&({text}); }}))"),
        // The value of a bit-field has the promoted type, which a block's value would lose.
        RootKind::Value | RootKind::Assigned { .. } if reads_bits(body, root.expr) => {
            format!("({{ {before}+({text}); }})")
        }
        // The value of a block is no null pointer constant.
        RootKind::Value | RootKind::Assigned { .. }
            if matches!(body.exprs[root.expr], Expr::Const(Type::Ptr, _)) =>
        {
            format!("({{ {before}(void *)({text}); }})")
        }
        _ => format!("({{ {before}{text}; }})"),
    }
}
