//! Changes to a text, made all at once, with the way from old offsets to new ones.

/// Takes out `delete` bytes at an offset and puts `insert` there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub(super) at: usize,
    pub(super) delete: usize,
    pub(super) insert: String,
}

/// Edits that do not overlap, in the order of their offsets.
#[derive(Debug, Default)]
pub(super) struct Edits(Vec<Edit>);

impl Edits {
    /// Sorts the edits; those at one offset stay in their order.
    pub(super) fn new(mut edits: Vec<Edit>) -> Self {
        edits.sort_by_key(|edit| edit.at);
        Self(edits)
    }

    /// The edited text.
    pub(super) fn apply(&self, text: &str) -> String {
        let inserted: usize = self.0.iter().map(|edit| edit.insert.len()).sum();
        let mut out = String::with_capacity(text.len() + inserted);
        let mut copied = 0;
        for edit in &self.0 {
            out.push_str(&text[copied..edit.at]);
            out.push_str(&edit.insert);
            copied = edit.at + edit.delete;
        }
        out.push_str(&text[copied..]);
        out
    }

    /// Where an offset of the old text is in the new one. What is inserted at the offset itself
    /// comes behind it.
    pub(super) fn moved(&self, at: usize) -> usize {
        let before = self.0.iter().take_while(|edit| edit.at < at);
        let shift = |at: usize, edit: &Edit| (at + edit.insert.len()).saturating_sub(edit.delete);
        before.fold(at, shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_move_with_their_text() {
        let edit = |at, delete, insert: &str| Edit { at, delete, insert: insert.into() };
        let edits = Edits::new(vec![edit(4, 2, ""), edit(1, 0, "xyz")]);
        assert_eq!(edits.apply("abcdefgh"), "axyzbcdgh");
        assert_eq!(edits.moved(0), 0);
        assert_eq!(edits.moved(1), 1);
        assert_eq!(edits.moved(2), 5);
        assert_eq!(edits.moved(7), 8);
    }
}
