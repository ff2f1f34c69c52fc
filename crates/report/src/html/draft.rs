//! Pages of bounded size. They are composed of pieces. Links to lines are filled in when the page of
//! each line is known.

use std::borrow::Cow;
use std::ops::RangeInclusive;

use maud::Markup;

use super::shell;

/// The most bytes of pieces on a page, unless a single piece is larger.
pub(super) const PAGE_BYTES: usize = 1_200_000;
/// The size from which on a piece gets pages of its own.
pub(super) const INLINE_BYTES: usize = 24_000;

/// The mark around a link to a line while its page is not known. No text that is shown has it.
const MARK: char = '\u{1}';

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Its name in the folder.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A page whose links to lines are not filled in.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) name: String,
    pub(super) title: String,
    /// The lines of a source that it has.
    pub(super) lines: Option<RangeInclusive<u32>>,
    pub(super) body: String,
}

/// The pages that the lines of each file are on.
#[derive(Debug, Default)]
pub(super) struct PageIndex(pub(super) Vec<Vec<(RangeInclusive<u32>, String)>>);

/// A link to a line of a file, to be filled in.
pub(super) fn link(file: usize, line: u32) -> String {
    format!("{MARK}{file}:{line}{MARK}")
}

impl PageIndex {
    /// The page that shows a line of a file.
    pub(super) fn of(&self, file: usize, line: u32) -> Option<&str> {
        let pages = self.0.get(file)?;
        let page = pages.iter().find(|(lines, _)| line <= *lines.end()).or(pages.last())?;
        Some(&page.1)
    }

    /// A text with its links filled in, for a page of this name.
    pub(super) fn fill(&self, text: &str, here: &str) -> String {
        let mut out = String::with_capacity(text.len());
        for (number, piece) in text.split(MARK).enumerate() {
            if number % 2 == 0 {
                out.push_str(piece);
                continue;
            }
            let place = piece.split_once(':').and_then(|(file, line)| {
                Some((file.parse::<usize>().ok()?, line.parse::<u32>().ok()?))
            });
            let Some((file, line)) = place else { continue };
            let page = self.of(file, line).unwrap_or(here);
            if page != here {
                out.push_str(page);
            }
            out.push_str(&format!("#L{line}"));
        }
        out
    }

    /// The page that a draft becomes.
    pub(super) fn page(&self, draft: &Draft) -> Page {
        let text = self.fill(&shell::page(&draft.title, &draft.name, &draft.body), &draft.name);
        Page { name: draft.name.clone(), text }
    }
}

/// A text for a page: without the mark of links.
pub(super) fn clean(text: &str) -> String {
    text.replace(MARK, "\u{fffd}")
}

/// The first characters of a text.
pub(super) fn clipped(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some((at, _)) => format!("{} …", &text[..at]),
    }
}

/// Pieces in groups. No group is larger than a page, unless a single piece is.
pub(super) fn grouped(pieces: Vec<String>) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    for piece in pieces {
        match groups.last_mut() {
            Some(last) if last.len() + piece.len() <= PAGE_BYTES => last.push_str(&piece),
            _ => groups.push(piece),
        }
    }
    groups
}

/// Makes pages of pieces, each with the body that is made of its part of them. Returns their names.
pub(super) fn apart(
    stem: &str,
    title: &str,
    pieces: Vec<String>,
    others: &mut Vec<Draft>,
    body: impl Fn(String) -> Markup,
) -> Vec<String> {
    let mut names = Vec::new();
    for (number, group) in grouped(pieces).into_iter().enumerate() {
        let name = part_name(stem, number);
        let (title, body) = (title.to_owned(), body(group).into_string());
        others.push(Draft { name: name.clone(), title, lines: None, body });
        names.push(name);
    }
    names
}

/// The names of the parts of something on several pages: the first has the plain name.
pub(super) fn part_name(stem: &str, part: usize) -> String {
    match part {
        0 => format!("{stem}.html"),
        part => format!("{stem}.{}.html", part + 1),
    }
}

/// Calls a function for each number below a count, on all processors. The results are in order.
pub(super) fn in_parallel<T: Send>(count: usize, make: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        let mut made = Vec::new();
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            if index >= count {
                return made;
            }
            made.push((index, make(index)));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(count.max(1));
    let mut all: Vec<(usize, T)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        let done = workers.into_iter();
        done.flat_map(|worker| worker.join().expect("a page is always made")).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, made)| made).collect()
}

/// A text with spaces for tabs, to every eighth column: browsers do not agree on the width of tabs.
pub(super) fn tabs_expanded(text: &str) -> Cow<'_, str> {
    if !text.contains('\t') {
        return Cow::Borrowed(text);
    }
    let (mut expanded, mut column) = (String::with_capacity(text.len() + 16), 0);
    for c in text.chars() {
        let blanks = 8 - column % 8;
        match c {
            '\t' => expanded.extend(std::iter::repeat_n(' ', blanks)),
            c => expanded.push(c),
        }
        column += if c == '\t' { blanks } else { 1 };
    }
    Cow::Owned(expanded)
}
