//! A set of many names that is cheap to read back: one text, in order, a line each.

use std::collections::BTreeSet;

/// Names without line breaks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NameSet {
    text: String,
    /// The offset of each name.
    starts: Vec<u32>,
}

impl NameSet {
    /// Reads the text that [`NameSet::text`] gave; none for another text.
    pub fn from_text(text: String) -> Option<Self> {
        let mut starts = Vec::new();
        let (mut last, mut at) = ("", 0);
        for line in text.split_inclusive('\n') {
            let name = line.strip_suffix('\n')?;
            if name <= last {
                return None;
            }
            starts.push(at);
            (last, at) = (name, at + u32::try_from(line.len()).ok()?);
        }
        Some(Self { text, starts })
    }

    /// All names, in order, each with a line break after it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether a name is one of them. Takes time logarithmic in their number.
    pub fn contains(&self, name: &str) -> bool {
        let name_at = |start: &u32| {
            let rest = &self.text[*start as usize..];
            rest.split_once('\n').map_or(rest, |(name, _)| name)
        };
        self.starts.binary_search_by(|start| name_at(start).cmp(name)).is_ok()
    }

    /// The number of names.
    pub const fn len(&self) -> usize {
        self.starts.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }
}

impl FromIterator<String> for NameSet {
    /// Names that are empty or have line breaks are left out.
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        let is_name = |name: &String| !name.is_empty() && !name.contains('\n');
        let names: BTreeSet<String> = names.into_iter().filter(is_name).collect();
        let mut set = Self::default();
        for name in names {
            set.starts.push(set.text.len() as u32);
            set.text.push_str(&name);
            set.text.push('\n');
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_has_the_names_that_it_is_made_of_and_no_others() {
        let names = ["malloc", "free", "", "a", "free", "two\nlines"].map(str::to_owned);
        let set: NameSet = names.into_iter().collect();
        assert_eq!(set.text(), "a\nfree\nmalloc\n");
        assert_eq!(set.len(), 3);
        for name in ["a", "free", "malloc"] {
            assert!(set.contains(name), "{name}");
        }
        for name in ["", "b", "fre", "freee", "malloc\n", "a\nfree", "zzz"] {
            assert!(!set.contains(name), "{name}");
        }
        assert!(!NameSet::default().contains("a") && NameSet::default().is_empty());
    }

    #[test]
    fn a_set_is_read_back_from_its_text_and_other_texts_are_none() {
        let set: NameSet = ["b", "a"].map(str::to_owned).into_iter().collect();
        assert_eq!(NameSet::from_text(set.text().to_owned()), Some(set));
        assert_eq!(NameSet::from_text(String::new()), Some(NameSet::default()));
        for text in ["b\na\n", "a\na\n", "a", "\n", "a\n\n"] {
            assert_eq!(NameSet::from_text(text.to_owned()), None, "{text:?}");
        }
    }
}
