//! Rendering: what each edit makes of the text inside of it.

use indexmap::IndexMap;
use lydian_base::Span;
use lydian_ir::source::{MarkStyle, RootId, RootKind};
use lydian_ir::{Body, Expr, LocalId, Stmt, Type};

use super::hooks::{self, captures};
use super::tree::{Node, splice};
use super::{Action, RewriteRequest, WatchedFunction, labels};

/// Makes the text of each edit from the text inside of it.
pub(super) struct Renderer<'a> {
    pub(super) request: &'a RewriteRequest<'a>,
    pub(super) functions: IndexMap<u32, WatchedFunction>,
}

impl Renderer<'_> {
    pub(super) fn render(&self, node: &Node<Action>) -> String {
        match &node.action {
            Action::Insert(text) => text.clone(),
            Action::Remove => labels::lines_of(self.request.map.slice(node.span)),
            Action::Start { function, text, cell } => {
                format!("{text}{}", self.set(*function, *cell))
            }
            Action::Mark { function, style, cell, record } => {
                let record = self.set(*function, *cell) + record;
                mark(*style, &record, &self.inside(node))
            }
            Action::Label { style, record } => {
                labels::in_place_of(*style, record, self.request.map.slice(node.span))
            }
            Action::Switch { function, index } => {
                let of = &self.functions[function];
                let (operand, dispatch) =
                    (self.inside(node), of.switches[*index].dispatch(&of.left_out));
                format!("({{ __auto_type lydian_x = ({operand}) + 0; {dispatch} lydian_x; }})")
            }
            Action::Goto { dispatch } => {
                let operand = self.inside(node);
                format!("({{ __auto_type lydian_x = ({operand}) + 0; {dispatch} lydian_x; }})")
            }
            Action::Decision { function, index } => {
                let edit = &self.functions[function].decisions[*index];
                edit.render(&self.inside(node))
            }
            Action::Condition { function, index, condition } => {
                let mut captured = Vec::new();
                let text = self.inside_capturing(node, &mut captured);
                let edit = &self.functions[function].decisions[*index];
                let captures = self.captures(*function, &captured);
                edit.render_condition(*condition, &text, &captures)
            }
            Action::Root { function, root } => {
                let mut captured = Vec::new();
                let text = self.inside_capturing(node, &mut captured);
                let captures = self.captures(*function, &captured);
                let hooks = &self.functions[function].roots[root];
                let Some(body) = self.body(*function) else { return text };
                root_text(body, *root, &format!("{captures}{hooks}"), &text)
            }
            // A capture whose root is not rewritten stays where it is.
            Action::Capture { .. } => self.inside(node),
            Action::Unit { function, span } => self.unit(*function, span, &self.inside(node)),
            Action::Place { function, span } => {
                self.functions[function].places[span].render(&self.inside(node))
            }
        }
    }

    fn unit(&self, function: u32, span: &Span, inside: &str) -> String {
        let of = &self.functions[&function];
        of.units[span].render(inside, &of.left_out)
    }

    /// What sets a cell, unless it follows from others.
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
        body.map_or(String::new(), |body| captures(self.request.program, body, captured))
    }

    fn inside(&self, node: &Node<Action>) -> String {
        splice(self.request.map.text(), node.span, &node.children, &mut |child| self.render(child))
    }

    /// The text inside, its captures replaced by their names and collected.
    fn inside_capturing(
        &self,
        node: &Node<Action>,
        captured: &mut Vec<(LocalId, String)>,
    ) -> String {
        splice(self.request.map.text(), node.span, &node.children, &mut |child| match &child.action
        {
            Action::Capture { temp } => {
                captured.push((*temp, self.inside(child)));
                hooks::temporary(*temp)
            }
            Action::Unit { function, span } => {
                let inside = self.inside_capturing(child, captured);
                self.unit(*function, span, &inside)
            }
            Action::Place { function, span } => {
                let inside = self.inside_capturing(child, captured);
                self.functions[function].places[span].render(&inside)
            }
            _ => self.render(child),
        })
    }
}

fn mark(style: MarkStyle, record: &str, inner: &str) -> String {
    match style {
        _ if record.is_empty() => inner.to_owned(),
        MarkStyle::Wrap | MarkStyle::BeforeFor => format!("{{ {record}{inner} }}"),
        MarkStyle::Before => format!("{record}{inner}"),
        MarkStyle::Expression => format!("(({{ {record}}}), {inner})"),
    }
}

/// A root with what is done before it is evaluated.
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

/// Whether a decision tests a value that was kept and is a bit-field's.
pub(super) fn tests_bits(body: &Body, decision: &lydian_ir::Decision) -> bool {
    let mut kept = Vec::new();
    for condition in decision.conditions.values() {
        let mut work = vec![condition.expr];
        while let Some(expr) = work.pop() {
            match &body.exprs[expr] {
                Expr::Local(local) => kept.push(*local),
                other => other.for_each_operand(|operand| work.push(operand)),
            }
        }
    }
    body.stmts.values().any(|stmt| match stmt {
        Stmt::Assign { dst, value } => kept.contains(dst) && reads_bits(body, *value),
        _ => false,
    })
}

fn reads_bits(body: &Body, expr: lydian_ir::ExprId) -> bool {
    match &body.exprs[expr] {
        Expr::LoadBits { .. } => true,
        Expr::Cast(_, _, inner) => reads_bits(body, *inner),
        _ => false,
    }
}
