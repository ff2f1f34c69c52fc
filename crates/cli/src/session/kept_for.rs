//! What a test is kept for, as a reader of the source finds it there.

use std::collections::BTreeMap;
use std::path::Path;

use lydian_base::Place;
use rustc_hash::FxHashSet;

use super::{Goal, Session};

/// Characters of a line of the source, or of a predicate, that are shown.
const MOST: usize = 72;

impl Session<'_, '_> {
    /// A text for each line of the source that has some of these objectives, in order: the place, and
    /// what is to hold there, or the line itself where control passes it.
    pub(super) fn kept_for(&self, goals: &FxHashSet<Goal>) -> Vec<String> {
        let mut lines: BTreeMap<(&str, u32), Vec<String>> = BTreeMap::new();
        for (target, goal, ..) in self.entries_of(goals) {
            let Place { file, line, .. } = target.place(goal);
            let texts = lines.entry((&**file, *line)).or_default();
            let text = self.text(goal).to_owned();
            // Its predicate is what is always so.
            if text != "1" && !texts.contains(&text) {
                texts.push(text);
            }
        }
        let shown = lines.into_iter().map(|((file, line), texts)| {
            let name =
                Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
            let whole = || {
                let source = self.loaded.sources().get(Path::new(file))?.ok()?;
                Some(source.line(line)?.trim().to_owned())
            };
            let text = match texts.is_empty() {
                true => whole().unwrap_or_default(),
                false => texts.join("; "),
            };
            format!("{name}:{line}: {}", shortened(&text))
        });
        shown.collect()
    }
}

/// The text, or its beginning where it is long.
fn shortened(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}...", text[..end].trim_end()),
        None => text.to_owned(),
    }
}
