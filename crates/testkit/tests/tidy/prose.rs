//! How documents read: paragraphs are short, and the glossary is in order.

use super::{assert_none, root, shown, text_of, with_extension};

/// A paragraph has fewer words than this. So has an item of a list and a row of a table.
const WORDS: usize = 100;

/// Whether a line begins an item of a list.
fn begins_item(line: &str) -> bool {
    let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = number.len() < line.len() && number.starts_with(". ");
    numbered || line.starts_with("- ") || line.starts_with("* ")
}

/// The paragraphs of a Markdown text, each with the number of its first line. Items of lists, rows of
/// tables and headings are paragraphs of their own; code is none.
fn paragraphs(text: &str) -> Vec<(usize, String)> {
    let mut found: Vec<(usize, String)> = Vec::new();
    let (mut fenced, mut goes_on) = (false, false);
    for (index, line) in text.lines().enumerate() {
        let words = line.trim();
        let is_fence = words.starts_with("```");
        fenced ^= is_fence;
        // What is indented goes on with an item of a list, or is code.
        let is_code = is_fence || fenced || (!goes_on && line.starts_with("    "));
        let stands_alone = words.starts_with('|') || words.starts_with('#');
        if is_code || words.is_empty() {
            goes_on = false;
            continue;
        }
        match found.last_mut() {
            Some((_, paragraph)) if goes_on && !stands_alone && !begins_item(words) => {
                paragraph.push(' ');
                paragraph.push_str(words);
            }
            _ => found.push((index + 1, words.to_owned())),
        }
        goes_on = !stands_alone;
    }
    found
}

#[test]
fn no_paragraph_has_a_hundred_words() {
    let mut faults = Vec::new();
    // What changed is told in the words of its time.
    let documents = with_extension("md").into_iter().filter(|path| !path.ends_with("CHANGELOG.md"));
    for path in documents {
        for (line, paragraph) in paragraphs(&text_of(&path)) {
            let words = paragraph.split_whitespace().filter(|word| *word != "|").count();
            if words >= WORDS {
                let beginning: String = paragraph.chars().take(60).collect();
                faults.push(format!("{}:{line}: {words} words: {beginning}…", shown(&path)));
            }
        }
    }
    assert_none("long paragraphs", &faults);
}

#[test]
fn the_glossary_is_in_order_and_has_each_word_once() {
    let text = text_of(&root().join("docs/glossary.md"));
    let rows = text.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" |"));
    let words: Vec<String> = rows.map(|(word, _)| word.to_lowercase()).skip(1).collect();
    assert!(words.len() > 80, "the glossary was not read: {words:?}");
    let out_of_order = words.windows(2).filter(|pair| pair[0] >= pair[1]);
    let faults: Vec<String> = out_of_order.map(|pair| pair.join(" stands before ")).collect();
    assert_none("docs/glossary.md", &faults);
}

#[test]
fn items_rows_and_code_are_told_from_paragraphs() {
    let text = "one\ntwo\n\n- three\n  four\n- five\n| six |\n| seven |\n# eight\nnine\n```\nten\n```\n\n    \
                eleven\n1. twelve";
    let found: Vec<String> = paragraphs(text).into_iter().map(|(_, text)| text).collect();
    let expected = [
        "one two",
        "- three four",
        "- five",
        "| six |",
        "| seven |",
        "# eight",
        "nine",
        "1. twelve",
    ];
    assert_eq!(found, expected);
}
