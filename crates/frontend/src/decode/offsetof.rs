//! The value of `offsetof`, whose components clang's JSON leaves out.
//!
//! The type and the member path are read from the text, `__builtin_offsetof(type, a.b[2].c)`;
//! clang prints the index expressions only.

use std::borrow::Cow;

use super::Decoder;
use super::node::Node;
use super::scopes::{find_field, resolve_prefix};
use crate::ast::{ExprId, ExprKind, VariableOffset};
use crate::ctypes::{CType, QualType};
use lydian_base::Span;

/// One step of a member path.
#[derive(Debug, PartialEq, Eq)]
enum Step<'t> {
    Field(&'t str),
    Index,
}

impl Decoder<'_> {
    /// The expression `offsetof` of a node.
    pub(super) fn offset_of(&mut self, node: &Node<'_>, span: Span) -> ExprKind {
        let mut indices = Vec::new();
        match self.constant_offset(node, span, &mut indices) {
            Some(base) if !indices.is_empty() => {
                ExprKind::OffsetOf { value: None, variable: Some(VariableOffset { base, indices }) }
            }
            value => ExprKind::OffsetOf { value, variable: None },
        }
    }

    /// The offset in bytes without the indices that are not constant, which are added to `indices`;
    /// `None` if the text is of another form.
    fn constant_offset(
        &mut self,
        node: &Node<'_>,
        span: Span,
        indices: &mut Vec<(ExprId, u64)>,
    ) -> Option<u64> {
        let source = self.source;
        let text = without_markers(source.slice(span));
        let inside = text.strip_prefix("__builtin_offsetof")?.trim_start();
        let inside = inside.strip_prefix('(')?.strip_suffix(')')?;
        let mut nodes = node.inner.iter();
        let (mut ty, mut bits, steps) = match defined_struct(inside) {
            Some((members, path)) => {
                let mut steps = steps(path)?;
                let Step::Field(name) = steps.remove(0) else { return None };
                let (ty, offset) = self.member_of(members, name)?;
                (ty, offset.checked_mul(8)?, steps)
            }
            None => {
                let (ty, path) = resolve_prefix(&mut self.unit, &mut self.scopes, inside)?;
                (ty, 0, steps(path.trim_start().strip_prefix(',')?)?)
            }
        };
        for step in steps {
            let (next, distance) = match step {
                Step::Field(name) => self.field_step(ty, name)?,
                Step::Index => self.index_step(ty, nodes.next()?, indices)?,
            };
            ty = next;
            bits = bits.checked_add(distance)?;
        }
        Some(bits / 8)
    }

    /// The type and the offset in bytes of a member of a struct that is defined by these members, of which
    /// those up to it are declared one by one, without brackets or attributes. Clang does not print the
    /// definition.
    fn member_of(&mut self, members: &str, name: &str) -> Option<(QualType, u64)> {
        let (mut rest, mut end) = (members.trim_start(), 0u64);
        loop {
            let (ty, behind) = resolve_prefix(&mut self.unit, &mut self.scopes, rest)?;
            let (declared, behind) = behind.split_once(';')?;
            let layout = self.unit.layout_of(ty.ty)?;
            let offset = end.checked_next_multiple_of(layout.align)?;
            match declared.trim() {
                found if found == name => return Some((ty, offset)),
                other if other.chars().all(is_of_name) && !other.is_empty() => {}
                _ => return None,
            }
            end = offset.checked_add(layout.size)?;
            rest = behind.trim_start();
        }
    }

    fn field_step(&self, ty: QualType, name: &str) -> Option<(QualType, u64)> {
        let CType::Record(record) = *self.unit.ty(ty) else { return None };
        find_field(&self.unit.records, &self.unit.types, record, name)
    }

    fn index_step(
        &mut self,
        ty: QualType,
        index: &Node<'_>,
        indices: &mut Vec<(ExprId, u64)>,
    ) -> Option<(QualType, u64)> {
        let CType::Array { element, .. } = *self.unit.ty(ty) else { return None };
        let index = self.expr(index);
        let size = self.unit.layout_of(element.ty)?.size;
        let distance = match self.unit.const_eval(index) {
            Some(index) => u64::try_from(index).ok()?.checked_mul(size)?.checked_mul(8)?,
            None => {
                indices.push((index, size));
                0
            }
        };
        Some((element, distance))
    }
}

/// A text without the line markers that a preprocessor puts around the expansion of a macro.
fn without_markers(text: &str) -> Cow<'_, str> {
    if !text.contains('\n') {
        return text.into();
    }
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.collect::<Vec<_>>().join("\n").into()
}

/// The members and the path of `struct { char c; T x; }, x`. A struct with a tag is none: expressions are
/// written more than once, in probes and predicates, and a second definition of its tag is an error.
fn defined_struct(text: &str) -> Option<(&str, &str)> {
    let behind = text.trim_start().strip_prefix("struct")?.trim_start();
    let (members, path) = behind.strip_prefix('{')?.split_once('}')?;
    Some((members, path.trim_start().strip_prefix(',')?))
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// Splits `a.b[2].c` into its steps.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path.trim();
    loop {
        let end = rest.find(|c| !is_of_name(c)).unwrap_or(rest.len());
        if end == 0 {
            return None;
        }
        steps.push(Step::Field(&rest[..end]));
        rest = rest[end..].trim_start();
        while rest.starts_with('[') {
            rest = rest[closing_bracket(rest)? + 1..].trim_start();
            steps.push(Step::Index);
        }
        if rest.is_empty() {
            return Some(steps);
        }
        rest = rest.strip_prefix('.')?.trim_start();
    }
}

fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0;
    text.char_indices().find_map(|(at, c)| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        (depth == 0).then_some(at)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_markers_are_no_part_of_a_path() {
        let text = "__builtin_offsetof (\n# 28 \"a.c\"\nT\n# 28 \"a.c\" 3 4\n, \nup)";
        assert_eq!(without_markers(text), "__builtin_offsetof (\nT\n, \nup)");
    }

    #[test]
    fn a_member_path_is_split_into_fields_and_indices() {
        use Step::{Field, Index};
        let path = " a . b[x[1]][2].c ";
        assert_eq!(steps(path), Some(vec![Field("a"), Field("b"), Index, Index, Field("c")]));
        assert_eq!(steps("a."), None);
        assert_eq!(steps("a[1"), None);
        assert_eq!(steps(""), None);
    }
}
