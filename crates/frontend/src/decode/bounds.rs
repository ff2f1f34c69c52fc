//! The bounds of variable length arrays, which clang's JSON leaves out.
//!
//! Clang prints `int a[n][m + 1]` as a type string; the bounds have no tree. So a file that declares
//! such types is parsed twice: the second time with `(void)sizeof(char[n][m + 1]);` after each
//! declaration (at the start of the body for parameters), whose tree does have them. The bounds'
//! text is what clang printed in the type string. [`Insertions`] leads offsets of the second text
//! back to the first, so that the tree's spans are those of the user's text.
//!
//! Where no statement can stand, the bounds are had in another way: those of the head of a `for` at
//! the end of its step, where the same names are known, and those of the type of a cast in front of
//! the cast's operand, `(int (*)[n])((void)sizeof(char[n]), p)`.

use super::Decoder;
use super::node::{Loc, Node, TypeRef};
use crate::ast::{Bound, BoundOwner, DeclRef, ExprId, ExprKind, VarId, VarStorage};
use crate::ctypes::{ArrayLength, CType, QualType};
use rustc_hash::FxHashMap;
use std::collections::VecDeque;
use std::str::CharIndices;

/// Text that is put into another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Insertions {
    /// Offsets in the text as it was, in ascending order, and the text that is inserted there.
    list: Vec<(u32, String)>,
}

impl Insertions {
    fn add(&mut self, at: u32, text: &str) {
        match self.list.binary_search_by_key(&at, |(at, _)| *at) {
            Ok(found) => self.list[found].1.push_str(text),
            Err(place) => self.list.insert(place, (at, text.to_owned())),
        }
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The text with all that is put in.
    pub(crate) fn apply(&self, text: &str) -> String {
        let (mut result, mut from) = (String::with_capacity(text.len() + 256), 0);
        for (at, insertion) in &self.list {
            result.push_str(&text[from..*at as usize]);
            result.push_str(insertion);
            from = *at as usize;
        }
        result.push_str(&text[from..]);
        result
    }

    /// The offset in the text as it was, and whether the offset lies in inserted text.
    fn original(&self, offset: u32) -> (u32, bool) {
        let mut shift = 0;
        for (at, text) in &self.list {
            let start = at + shift;
            if offset < start {
                break;
            }
            if offset < start + text.len() as u32 {
                return (*at, true);
            }
            shift += text.len() as u32;
        }
        (offset - shift, false)
    }

    /// The offset in the longer text.
    fn longer(&self, offset: u32) -> u32 {
        let before = self.list.iter().take_while(|(at, _)| *at <= offset);
        offset + before.map(|(_, text)| text.len() as u32).sum::<u32>()
    }

    pub(super) fn original_offset(&self, offset: u32) -> u32 {
        self.original(offset).0
    }

    pub(super) fn longer_offset(&self, offset: u32) -> u32 {
        self.longer(offset)
    }

    /// Makes the places of a node and all below it those of the text as it was.
    pub(super) fn lead_back(&self, node: &mut Node<'_>) {
        if self.is_empty() {
            return;
        }
        node.inserted = node.range.begin.token().is_some_and(|(at, _)| self.original(at).1);
        for loc in [&mut node.loc, &mut node.range.begin, &mut node.range.end] {
            self.lead_back_loc(loc);
        }
        node.inner.iter_mut().chain(&mut node.array_filler).for_each(|child| self.lead_back(child));
        // What a bracket that was put in closes ends where its last part does.
        if node.range.end.token().is_none() {
            let ends = node.inner.iter().map(|child| &child.range.end);
            let last = ends.max_by_key(|end| end.token().map(|(at, _)| at));
            if let Some(last) = last.filter(|end| end.token().is_some()) {
                node.range.end = *last;
            }
        }
    }

    /// Inserted text has no place.
    fn lead_back_loc(&self, loc: &mut Loc) {
        let lead = |offset: u32| match self.original(offset) {
            (_, true) => None,
            (original, false) => Some(original),
        };
        loc.offset = loc.offset.and_then(lead);
        if let Some(point) = &mut loc.expansion {
            point.offset = point.offset.and_then(lead);
        }
    }
}

/// The bounds of variable length arrays that the decoder has found.
#[derive(Debug, Default)]
pub(super) struct Bounds {
    /// The insertions that a second parse needs.
    pub(super) wanted: Insertions,
    /// The insertions in the text that is decoded.
    pub(super) given: Insertions,
    /// Declarations whose own bounds the next inserted statements give.
    awaiting: VecDeque<BoundOwner>,
    /// Declarations since the last statement, with their own bounds as text.
    declared: Vec<(BoundOwner, Vec<String>)>,
    /// The insertions for casts, by their operands.
    of_casts: FxHashMap<ExprId, Vec<ExprId>>,
}

/// The text whose tree has the bounds.
fn question(own: &[String]) -> String {
    let bounds: String = own.iter().map(|bound| format!("[{bound}]")).collect();
    // The longest way back is the one that messages of clang would take: none.
    format!("(void)sizeof(char{bounds})")
}

/// Declarations with their own bounds as text.
pub(super) type Declared = Vec<(BoundOwner, Vec<String>)>;

impl Decoder<'_> {
    /// Notes the bounds of a variable's or typedef's type, if it has any.
    pub(super) fn note_bounds(&mut self, owner: BoundOwner, name: &str, ty: Option<&TypeRef<'_>>) {
        let Some(written) = ty.map(|ty| &*ty.written) else { return };
        if !written.contains(['[', ' ', '_']) && self.unit.bounds.is_empty() {
            return;
        }
        let own = own_bounds(written);
        let mut bounds: Vec<Bound> = Vec::new();
        if let Some(base) = self.base_of(written) {
            let known = self.unit.bounds.get(&base).map_or(0, Vec::len);
            bounds.extend((0..known).map(|index| Bound::Of(base, index)));
        }
        if own.is_empty() && bounds.is_empty() {
            return;
        }
        self.bound_names.insert(name.into(), owner);
        self.unit.bounds.insert(owner, bounds);
        if !own.is_empty() {
            self.bounds.declared.push((owner, own));
        }
    }

    /// Notes the outermost bound of a parameter, given the text behind its name, if it may have an
    /// effect.
    pub(super) fn note_outermost_bound(&mut self, param: VarId, text: &str) {
        let Some(after) = text.trim_start().strip_prefix('[') else { return };
        let Some(end) = closing(after, '[', ']') else { return };
        let bound = without_qualifiers(&after[..end]);
        if may_have_effect(bound) {
            let owner = BoundOwner::Outermost(param);
            self.unit.bounds.insert(owner, Vec::new());
            self.bounds.declared.push((owner, vec![bound.to_owned()]));
        }
    }

    /// The declaration that a type is written with: a typedef, or the variable in `typeof (x)`.
    fn base_of(&self, written: &str) -> Option<BoundOwner> {
        let part = |c: char| !(c.is_alphanumeric() || c == '_');
        let words = written.split(part).filter(|word| !word.is_empty());
        let of_typeof = written.contains("typeof");
        for word in words {
            match self.bound_names.get(word) {
                Some(owner @ BoundOwner::Typedef(_)) => return Some(*owner),
                Some(owner @ BoundOwner::Var(_)) if of_typeof => return Some(*owner),
                _ => {}
            }
        }
        None
    }

    /// Asks for the bounds that were declared since, at a place of the text; or waits for them.
    pub(super) fn ask_for_bounds(&mut self, at: u32) {
        for (owner, own) in std::mem::take(&mut self.bounds.declared) {
            self.bounds.wanted.add(at, &format!("{};", question(&own)));
            self.bounds.awaiting.push_back(owner);
        }
    }

    /// Forgets declarations that get no statement of their own.
    pub(super) fn drop_bounds(&mut self) {
        for (owner, _) in std::mem::take(&mut self.bounds.declared) {
            self.unit.bounds.swap_remove(&owner);
        }
    }

    /// Takes the bounds that an inserted statement has.
    pub(super) fn take_bounds(&mut self, node: &Node<'_>) {
        if let Some(owner) = self.bounds.awaiting.pop_front() {
            self.take_bounds_of(owner, node);
        }
    }

    fn take_bounds_of(&mut self, owner: BoundOwner, node: &Node<'_>) {
        let before = self.unit.exprs.len();
        let own = self.answer(node);
        if self.names_later(owner, before) {
            self.unit.bounds.swap_remove(&owner);
        } else if let Some(bounds) = self.unit.bounds.get_mut(&owner) {
            bounds.splice(0..0, own.into_iter().map(Bound::Expr));
        }
    }

    /// The bounds in what a [`question`] became.
    fn answer(&mut self, node: &Node<'_>) -> Vec<ExprId> {
        let mut at = node;
        while at.kind != "UnaryExprOrTypeTraitExpr" {
            let Some(inner) = at.inner.first() else { return Vec::new() };
            at = inner;
        }
        at.inner.iter().map(|bound| self.expr(bound)).collect()
    }

    /// Whether the expressions from `before` on name a variable that is declared after `owner`: its
    /// bounds meant another one, which that one hides.
    fn names_later(&self, owner: BoundOwner, before: usize) -> bool {
        let BoundOwner::Var(owner) = owner else { return false };
        let unit = &self.unit;
        matches!(unit.vars[owner].storage, VarStorage::Local(_))
            && unit.exprs.iter().skip(before).any(|(_, expr)| match expr.kind {
                ExprKind::DeclRef(DeclRef::Var(var)) => {
                    var >= owner && matches!(unit.vars[var].storage, VarStorage::Local(_))
                }
                _ => false,
            })
    }

    /// Takes the declarations since the last statement, to be asked for elsewhere.
    pub(super) fn declared_bounds(&mut self) -> Declared {
        std::mem::take(&mut self.bounds.declared)
    }

    /// Decodes the step of a `for`, behind which the bounds of the head's declarations are asked
    /// for. `end` is where what stands before the second `;` ends.
    pub(super) fn step_with_bounds(
        &mut self,
        step: &Node<'_>,
        end: u32,
        declared: Declared,
    ) -> Option<ExprId> {
        let mut answers = Vec::new();
        let mut at = step;
        while let ("BinaryOperator", Some(","), [left, right]) = (at.kind, at.opcode, &at.inner[..])
            && right.inserted
        {
            answers.push(right);
            at = left;
        }
        if at.inserted {
            answers.push(at);
        }
        let present = !at.kind.is_empty() && !at.inserted;
        let step = present.then(|| self.expr(at));
        if answers.len() == declared.len() {
            for ((owner, _), answer) in declared.into_iter().zip(answers.into_iter().rev()) {
                self.take_bounds_of(owner, answer);
            }
            return step;
        }
        let place = match step {
            Some(step) => Some(self.unit.exprs[step].span.end),
            None => self.after_semicolon(end),
        };
        for (number, (owner, own)) in declared.into_iter().enumerate() {
            match place {
                Some(place) => {
                    let comma = if step.is_some() || number > 0 { ", " } else { "" };
                    self.bounds.wanted.add(place, &format!("{comma}{}", question(&own)));
                }
                None => drop(self.unit.bounds.swap_remove(&owner)),
            }
        }
        step
    }

    /// Past the `;` that comes next.
    fn after_semicolon(&self, from: u32) -> Option<u32> {
        let rest = self.source.text().get(from as usize..)?;
        let at = rest.find(|c: char| !c.is_whitespace())?;
        rest[at..].starts_with(';').then_some(from + at as u32 + 1)
    }

    /// The operand of a cast, past the bounds of the cast's type that were put in front of it.
    pub(super) fn cast_operand(&mut self, node: &Node<'_>) -> Option<ExprId> {
        let [operand] = &node.inner[..] else { return None };
        let asked = match &operand.inner[..] {
            [comma] if operand.inserted && operand.kind == "ParenExpr" => match &comma.inner[..] {
                [answer, operand] if answer.inserted => Some((answer, operand)),
                _ => None,
            },
            _ => None,
        };
        let Some((answer, operand)) = asked else { return Some(self.expr(operand)) };
        let own = self.answer(answer);
        let operand = self.expr(operand);
        self.bounds.of_casts.insert(operand, own);
        Some(operand)
    }

    /// Notes the bounds of the type that an explicit cast gives, or asks for them.
    pub(super) fn note_cast_bounds(&mut self, cast: ExprId, node: &Node<'_>) {
        let expr = &self.unit.exprs[cast];
        let ExprKind::Cast { operand, .. } = expr.kind else { return };
        if !self.leads_to_variable_array(expr.ty) {
            return;
        }
        let Some(written) = node.ty.as_ref().map(|ty| &*ty.written) else { return };
        let own = own_bounds(written);
        let mut bounds: Vec<Bound> = match self.bounds.of_casts.remove(&operand) {
            Some(answers) => answers.into_iter().map(Bound::Expr).collect(),
            None if own.is_empty() => Vec::new(),
            None => {
                let place = node.inner.first().map(|operand| self.span(operand));
                if let Some(place) = place.filter(|place| !place.is_none()) {
                    self.bounds.wanted.add(place.start, &format!("({}, ", question(&own)));
                    self.bounds.wanted.add(place.end, ")");
                }
                return;
            }
        };
        if let Some(base) = self.base_of(written) {
            let known = self.unit.bounds.get(&base).map_or(0, Vec::len);
            bounds.extend((0..known).map(|index| Bound::Of(base, index)));
        }
        self.unit.bounds.insert(BoundOwner::Cast(cast), bounds);
    }

    /// Whether it is a pointer, through any number of them, to an array of variable length.
    fn leads_to_variable_array(&self, ty: QualType) -> bool {
        let mut at = ty;
        let mut through_pointer = false;
        loop {
            at = match self.unit.ty(at) {
                CType::Pointer(pointee) => {
                    through_pointer = true;
                    *pointee
                }
                CType::Array { length: ArrayLength::Variable, .. } => return through_pointer,
                CType::Array { element, .. } => *element,
                _ => return false,
            };
        }
    }

    /// The bounds of the type in `sizeof (type)`, of which clang prints the own ones.
    pub(super) fn bounds_of_argument(&mut self, node: &Node<'_>, ty: &TypeRef<'_>) -> Vec<Bound> {
        let own: Vec<ExprId> = node.inner.iter().map(|bound| self.expr(bound)).collect();
        let mut bounds: Vec<Bound> = own.into_iter().map(Bound::Expr).collect();
        if let Some(base) = self.base_of(&ty.written) {
            let known = self.unit.bounds.get(&base).map_or(0, Vec::len);
            bounds.extend((0..known).map(|index| Bound::Of(base, index)));
        }
        bounds
    }
}

/// The text of the bounds of a type's own arrays that are no numbers, from the outermost in.
/// Those of parameters of functions in the type are not its own.
fn own_bounds(ty: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = ty;
    while let Some(at) = rest.find(['[', '(', ')']) {
        let after = &rest[at + 1..];
        match rest.as_bytes()[at] {
            b'[' => {
                let Some(end) = closing(after, '[', ']') else { break };
                let bound = without_qualifiers(&after[..end]);
                if !bound.is_empty() && !bound.bytes().all(|byte| byte.is_ascii_digit()) {
                    found.push(bound.to_owned());
                }
                rest = &after[end + 1..];
            }
            // `(*` and `(*[n]` belong to the declarator, everything else is of other types.
            b'(' if after.trim_start().starts_with('*')
                && !rest[..at].trim_end().ends_with("typeof") =>
            {
                rest = after;
            }
            b'(' => match closing(after, '(', ')') {
                Some(end) => rest = &after[end + 1..],
                None => break,
            },
            _ => rest = after,
        }
    }
    found
}

fn without_qualifiers(bound: &str) -> &str {
    let mut bound = bound.trim();
    for word in ["static ", "const ", "restrict ", "volatile "] {
        bound = bound.strip_prefix(word).unwrap_or(bound).trim_start();
    }
    bound
}

/// Whether the text of an expression assigns or calls. It may also say so of one that does not.
fn may_have_effect(text: &str) -> bool {
    let calls = text.match_indices('(').any(|(at, _)| {
        let before = text[..at].trim_end();
        let word = before.rsplit(|c: char| !(c.is_alphanumeric() || c == '_')).next();
        let word = word.unwrap_or_default();
        !word.is_empty() && !word.contains("sizeof") && !word.contains("lignof")
    });
    calls || text.contains('=') || text.contains("++") || text.contains("--")
}

/// The offset of the bracket that closes an opening bracket, past nested ones and literals.
pub(super) fn closing(text: &str, open: char, close: char) -> Option<usize> {
    let mut depth = 0u32;
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' | '\'' => skip_literal(&mut chars, c)?,
            _ if c == open => depth += 1,
            _ if c == close && depth == 0 => return Some(at),
            _ if c == close => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Goes past the rest of a literal, its closing quote too; `None` where it does not end.
pub(super) fn skip_literal(chars: &mut CharIndices<'_>, quote: char) -> Option<()> {
    loop {
        match chars.next()?.1 {
            '\\' => drop(chars.next()),
            end if end == quote => return Some(()),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_what_stands_in_a_types_own_brackets() {
        assert_eq!(own_bounds("int[n][m + 1]"), ["n", "m + 1"]);
        assert_eq!(own_bounds("int (*)[n]"), ["n"]);
        assert_eq!(own_bounds("int *[4][f(a[1])]"), ["f(a[1])"]);
        assert_eq!(own_bounds("char (*[k])[2]"), ["k"]);
        assert!(own_bounds("void (int, int (*)[n])").is_empty());
        assert!(own_bounds("typeof (*x[i])").is_empty());
        assert!(own_bounds("int[10]").is_empty());
        assert_eq!(own_bounds("int[static n]"), ["n"]);
    }

    #[test]
    fn assignments_and_calls_may_have_an_effect() {
        for text in ["n++", "--n", "n += 2", "f (n)", "sizeof(x) + f(1)"] {
            assert!(may_have_effect(text), "{text}");
        }
        for text in ["", "n + 1", "sizeof(int) * 4", "(n - 1)", "_Alignof(long)"] {
            assert!(!may_have_effect(text), "{text}");
        }
    }

    #[test]
    fn offsets_lead_back_to_the_text_as_it_was() {
        let mut insertions = Insertions::default();
        insertions.add(3, "xx");
        insertions.add(5, "y");
        insertions.add(3, "z");
        assert_eq!(insertions.apply("abcdefg"), "abcxxzdeyfg");
        assert_eq!(insertions.original(2), (2, false));
        assert_eq!(insertions.original(4), (3, true));
        assert_eq!(insertions.original(6), (3, false));
        assert_eq!(insertions.original(9), (5, false));
        assert_eq!((insertions.longer(2), insertions.longer(3), insertions.longer(6)), (2, 6, 10));
    }
}
