//! The operands of inline assembly, whose constraints clang's JSON leaves out.
//!
//! Clang prints the operands' expressions, outputs first; the template, the constraints, the
//! clobbers and the labels are read from the text, `asm volatile ("…" : "=r" (a) : "r" (b) : "cc")`.

use super::Decoder;
use super::bounds::skip_literal;
use super::node::Node;
use crate::ast::{Assembly, AssemblyOperand, StmtKind};
use lydian_base::Span;

/// Words between `asm` and its parenthesis.
const QUALIFIERS: [&str; 7] =
    ["volatile", "__volatile__", "__volatile", "inline", "__inline__", "__inline", "goto"];

/// Assembly as its text says it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Text {
    template: String,
    /// Whether there is a colon: assembly without is taken to do anything.
    extended: bool,
    outputs: Vec<String>,
    inputs: Vec<String>,
    clobbers: Vec<String>,
    labels: Vec<String>,
}

impl Decoder<'_> {
    /// An `asm` statement; `None` if its text is of a form that is not read.
    pub(super) fn assembly(&mut self, node: &Node<'_>, span: Span) -> Option<StmtKind> {
        let source = self.source;
        let text = read(source.slice(span))?;
        let count = text.outputs.len() + text.inputs.len();
        if node.inner.len() < count {
            return None;
        }
        let mut operands = node.inner.iter().map(|operand| self.expr(operand));
        let mut pair = |constraints: Vec<String>| -> Vec<AssemblyOperand> {
            let operand = |(constraint, expr): (String, _)| AssemblyOperand {
                constraint: constraint.into(),
                expr,
            };
            constraints.into_iter().zip(&mut operands).map(operand).collect()
        };
        let (outputs, inputs) = (pair(text.outputs), pair(text.inputs));
        Some(StmtKind::Asm(Box::new(Assembly {
            template: text.template.into(),
            extended: text.extended,
            outputs,
            inputs,
            clobbers_memory: text.clobbers.iter().any(|clobber| clobber == "memory"),
            labels: text.labels.into_iter().map(Into::into).collect(),
        })))
    }
}

/// The parts of an `asm` statement without its `;`: the template, outputs, inputs, clobbers and labels, as
/// far as it has them.
pub(crate) fn sections(text: &str) -> Option<Vec<&str>> {
    let mut rest = text.trim_start();
    rest = ["__asm__", "__asm", "asm"].iter().find_map(|word| rest.strip_prefix(word))?;
    loop {
        rest = rest.trim_start();
        match QUALIFIERS.iter().find_map(|word| rest.strip_prefix(word)) {
            Some(after) => rest = after,
            None => break,
        }
    }
    let inside = rest.strip_prefix('(')?.trim_end().strip_suffix(')')?;
    split(inside, ':')
}

/// Reads an `asm` statement without its `;`.
fn read(text: &str) -> Option<Text> {
    let sections = sections(text)?;
    let (template, sections) = sections.split_first()?;
    let strings = |section: Option<&&str>| -> Option<Vec<String>> {
        entries(section)?.into_iter().map(leading_strings).collect()
    };
    let words = entries(sections.get(3))?;
    Some(Text {
        template: leading_strings(template)?,
        extended: !sections.is_empty(),
        outputs: strings(sections.first())?,
        inputs: strings(sections.get(1))?,
        clobbers: strings(sections.get(2))?,
        labels: words.into_iter().map(|word| word.trim().to_owned()).collect(),
    })
}

pub(crate) fn entries<'t>(section: Option<&&'t str>) -> Option<Vec<&'t str>> {
    match section {
        Some(section) if !section.trim().is_empty() => split(section, ','),
        _ => Some(Vec::new()),
    }
}

/// Splits at a separator that stands in no string, parenthesis or bracket.
fn split(text: &str, separator: char) -> Option<Vec<&str>> {
    let (mut parts, mut start, mut depth) = (Vec::new(), 0, 0u32);
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' | '\'' => skip_literal(&mut chars, c)?,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.checked_sub(1)?,
            _ if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    Some(parts)
}

/// The string literals at the start of an operand, after its `[name]`; escapes are left alone.
pub(crate) fn leading_strings(text: &str) -> Option<String> {
    let mut rest = text.trim_start();
    if let Some(named) = rest.strip_prefix('[') {
        rest = named.split_once(']')?.1.trim_start();
    }
    let mut whole = String::new();
    while let Some(literal) = rest.strip_prefix('"') {
        let mut escaped = false;
        let end = literal.find(|c: char| {
            let ends = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            ends
        })?;
        whole.push_str(&literal[..end]);
        rest = literal[end + 1..].trim_start();
    }
    Some(whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_clobbers_and_labels_are_found_in_the_text() {
        let text = read(
            "__asm__ volatile goto (\"a %0\" \"b\" : [x] \"=\" \"r\" (p ? a : b), \"+m\"(c[1])\
             : \"r\" (f(1, 2)) : \"cc\", \"memory\" : one, two)",
        )
        .unwrap();
        assert_eq!(text.template, "a %0b");
        assert_eq!(text.outputs, ["=r", "+m"]);
        assert_eq!(text.inputs, ["r"]);
        assert_eq!(text.clobbers, ["cc", "memory"]);
        assert_eq!(text.labels, ["one", "two"]);
    }

    #[test]
    fn sections_may_be_empty_or_missing() {
        let empty = read("asm(\"\" ::: \"memory\")").unwrap();
        assert_eq!((empty.extended, empty.clobbers.len()), (true, 1));
        assert!(!read("asm(\"nop\")").unwrap().extended);
        assert_eq!(read("asm(\"unfinished)"), None);
        assert_eq!(read("volatile"), None);
    }
}
