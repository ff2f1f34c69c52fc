//! The value of `offsetof`, whose components clang's JSON leaves out.
//!
//! The type and the member path are read from the text, `__builtin_offsetof(type, a.b[2].c)`;
//! clang prints the index expressions only.

use super::Decoder;
use super::node::Node;
use super::scopes::{find_field, resolve_prefix};
use crate::ctypes::{CType, QualType};
use lydian_base::Span;

/// One step of a member path.
#[derive(Debug, PartialEq, Eq)]
enum Step<'t> {
    Field(&'t str),
    Index,
}

impl Decoder<'_> {
    /// The offset in bytes; `None` if an index is not constant or the text is of another form.
    pub(super) fn offset_of(&mut self, node: &Node<'_>, span: Span) -> Option<u64> {
        let source = self.source;
        let text = source.slice(span);
        let inside = text.strip_prefix("__builtin_offsetof")?.trim_start();
        let inside = inside.strip_prefix('(')?.strip_suffix(')')?;
        let (mut ty, path) = resolve_prefix(&mut self.unit, &mut self.scopes, inside)?;
        let path = path.trim_start().strip_prefix(',')?;
        let mut indices = node.inner.iter();
        let mut bits = 0u64;
        for step in steps(path)? {
            let (next, distance) = match step {
                Step::Field(name) => self.field_step(ty, name)?,
                Step::Index => self.index_step(ty, indices.next()?)?,
            };
            ty = next;
            bits = bits.checked_add(distance)?;
        }
        Some(bits / 8)
    }

    fn field_step(&self, ty: QualType, name: &str) -> Option<(QualType, u64)> {
        let CType::Record(record) = *self.unit.ty(ty) else { return None };
        find_field(&self.unit.records, &self.unit.types, record, name)
    }

    fn index_step(&mut self, ty: QualType, index: &Node<'_>) -> Option<(QualType, u64)> {
        let CType::Array { element, .. } = *self.unit.ty(ty) else { return None };
        let index = self.expr(index);
        let index = u64::try_from(self.unit.const_eval(index)?).ok()?;
        let bits = self.unit.layout_of(element.ty)?.size.checked_mul(8)?;
        Some((element, index.checked_mul(bits)?))
    }
}

/// Splits `a.b[2].c` into its steps.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut steps = Vec::new();
    let mut rest = path.trim();
    loop {
        let part = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
        let end = rest.find(|c| !part(c)).unwrap_or(rest.len());
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
    fn a_member_path_is_split_into_fields_and_indices() {
        use Step::{Field, Index};
        let path = " a . b[x[1]][2].c ";
        assert_eq!(steps(path), Some(vec![Field("a"), Field("b"), Index, Index, Field("c")]));
        assert_eq!(steps("a."), None);
        assert_eq!(steps("a[1"), None);
        assert_eq!(steps(""), None);
    }
}
