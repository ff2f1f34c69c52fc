//! Rendering of diagnostics on standard error, with the line of source that they are about.

use std::fmt::Write as _;
use std::io::Write as _;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use lydian_base::{Diagnostic, Place, Severity};

/// Writes diagnostics to standard error. A closed standard error is no reason to stop.
pub(crate) fn diagnostics(list: &[Diagnostic]) {
    let mut err = std::io::stderr().lock();
    for diagnostic in list {
        let _ = writeln!(err, "{}", to_text(diagnostic, &mut read_line));
    }
}

/// The text of one diagnostic. `line_of` returns the line of source at a place, if it can be read.
fn to_text(diagnostic: &Diagnostic, line_of: &mut dyn FnMut(&Place) -> Option<String>) -> String {
    let level = match diagnostic.severity {
        Severity::Note => Level::NOTE,
        Severity::Warning => Level::WARNING,
        Severity::Error => Level::ERROR,
    };
    let title = level.primary_title(&diagnostic.message).id(diagnostic.code);
    let line = diagnostic.place.as_ref().and_then(|place| Some((place, line_of(place)?)));
    let mut text = match &line {
        Some((place, line)) => {
            let column = (place.column as usize - 1).min(line.len());
            let column = line.floor_char_boundary(column);
            let end = column + line[column..].chars().next().map_or(0, char::len_utf8);
            let snippet = Snippet::source(line.as_str())
                .line_start(place.line as usize)
                .path(&*place.file)
                .annotation(AnnotationKind::Primary.span(column..end));
            Renderer::plain().render(&[title.element(snippet)])
        }
        None => {
            let mut text = Renderer::plain().render(&[Group::with_title(title)]);
            if let Some(place) = &diagnostic.place {
                let _ = write!(text, "\n --> {place}");
            }
            text
        }
    };
    for note in &diagnostic.notes {
        let _ = write!(text, "\n  = {note}");
    }
    text
}

fn read_line(place: &Place) -> Option<String> {
    let text = std::fs::read(&*place.file).ok()?;
    let line = text.split(|byte| *byte == b'\n').nth(place.line as usize - 1)?;
    Some(String::from_utf8_lossy(line).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place { file: "a.c".into(), line: 4, column: 3 }
    }

    #[test]
    fn a_diagnostic_shows_the_line_that_it_is_about() {
        let diagnostic = Diagnostic::error("unsupported-construct", "inline assembly in `f`")
            .at(place())
            .note("the other functions go on");
        let text = to_text(&diagnostic, &mut |_| Some("  __asm__(\"nop\");".into()));
        for part in
            ["error[unsupported-construct]", "inline assembly", "a.c:4:3", "__asm__", "= the"]
        {
            assert!(text.contains(part), "{part} is missing:\n{text}");
        }
    }

    #[test]
    fn a_place_beyond_the_line_that_was_read_is_still_shown() {
        let text =
            to_text(&Diagnostic::warning("x", "y").at(place()), &mut |_| Some(String::new()));
        assert!(text.contains("a.c:4"), "{text}");
        let text = to_text(&Diagnostic::warning("x", "y").at(place()), &mut |_| None);
        assert!(text.contains("a.c:4:3"), "{text}");
    }
}
