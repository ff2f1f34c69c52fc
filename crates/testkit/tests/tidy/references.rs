//! Citations and `docs/references.md` agree in both directions.
//!
//! A paper that Lydian implements is cited by a key, three digits in brackets that begin with 0; other
//! works are cited by the words that stand in the first column of the page's tables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::{assert_none, files, root, shown, text_of};

const PAGE: &str = "docs/references.md";

/// Kinds of files in which works are cited.
const CITING: [&str; 7] = ["rs", "md", "c", "h", "toml", "py", "sh"];

/// The keys of papers that stand in a text. `t[012]` is a subscript, no citation.
fn keys(text: &str) -> BTreeSet<String> {
    let is_key = |inner: &str| {
        inner.len() == 3 && inner.starts_with('0') && inner.bytes().all(|b| b.is_ascii_digit())
    };
    let mut found = BTreeSet::new();
    for (at, _) in text.match_indices('[') {
        let before = text[..at].chars().next_back();
        let subscript = before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | ')' | ']'));
        let inner = text[at + 1..].split_once(']').map_or("", |(inner, _)| inner);
        if !subscript && is_key(inner) {
            found.insert(format!("[{inner}]"));
        }
    }
    found
}

/// The text as one line, without the marks of comments at the beginnings of its lines.
fn flowing(text: &str) -> String {
    let unmarked = text.lines().map(|line| line.trim().trim_start_matches(['/', '!', '*', '#']));
    unmarked.flat_map(str::split_whitespace).collect::<Vec<_>>().join(" ")
}

/// What stands in the first column of the page's tables, heads left out.
fn entries(page: &str) -> Vec<String> {
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let names = rows.map(|(name, _)| name.to_owned());
    names.filter(|name| name != "key" && name != "cited as").collect()
}

/// Every file in which works may be cited, but the page itself, with its text.
fn citing() -> BTreeMap<String, String> {
    let cites = |path: &Path| {
        path.extension().is_some_and(|found| CITING.iter().any(|kind| found == *kind))
    };
    let paths = files().into_iter().filter(|path| cites(path) && shown(path) != PAGE);
    paths.filter_map(|path| Some((shown(&path), std::fs::read_to_string(&path).ok()?))).collect()
}

#[test]
fn every_key_that_is_cited_is_defined() {
    let page = text_of(&root().join(PAGE));
    let defined: BTreeSet<String> = entries(&page).into_iter().collect();
    let mut faults = Vec::new();
    for (place, text) in citing() {
        for key in keys(&text).difference(&defined) {
            faults.push(format!("{place}: {key}"));
        }
    }
    assert_none("keys that docs/references.md does not define", &faults);
}

#[test]
fn every_work_that_is_listed_is_cited() {
    let listed = entries(&text_of(&root().join(PAGE)));
    assert!(listed.len() > 40, "the page was not read: {listed:?}");
    let texts: Vec<String> = citing().values().map(|text| flowing(text)).collect();
    let is_cited = |name: &String| texts.iter().any(|text| text.contains(name.as_str()));
    let uncited: Vec<String> = listed.iter().filter(|name| !is_cited(name)).cloned().collect();
    assert_none("works of docs/references.md that nothing cites", &uncited);
    let distinct: BTreeSet<&String> = listed.iter().collect();
    assert_eq!(distinct.len(), listed.len(), "no work is listed twice");
}

#[test]
fn a_subscript_is_no_citation_and_a_citation_may_go_over_a_line() {
    let key = |digits: &str| format!("[{digits}]");
    let text = format!("see {} and t{} or {}", key("000"), key("012"), key("128"));
    assert_eq!(keys(&text), BTreeSet::from([key("000")]));
    assert_eq!(flowing("//! by Ammann\n//! and Offutt"), "by Ammann and Offutt");
}
