//! The texts of units, and what stands before each of them.

use lydian_base::Span;
use lydian_ir::cexact::prelude_for;

use super::judges::Judges;
use super::{Purpose, RewriteRequest};

impl RewriteRequest<'_> {
    /// The texts of the units.
    pub(super) fn units(&self) -> Vec<Span> {
        let all = self.map.text().len() as u32;
        let starts = if self.starts.is_empty() { &[0] } else { self.starts };
        let ends = starts.iter().skip(1).copied().chain([all]);
        starts.iter().zip(ends).map(|(start, end)| Span::new(*start, end)).collect()
    }

    /// Where the text of the first unit ends.
    pub fn own_end(&self) -> u32 {
        self.units()[0].end
    }

    /// Which unit a place of the text lies in.
    pub(super) fn unit_at(&self, offset: u32) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }
}

/// Which text declarations are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// That of a unit which alone has records.
    Text,
    /// That of the first of several units with records.
    First,
    /// That of another one, by its number.
    Further(usize),
}

impl Scope {
    /// The word before a variable that the texts with records share.
    pub(super) const fn storage(self) -> &'static str {
        match self {
            Self::Text => "static",
            Self::First => "",
            Self::Further(_) => "extern",
        }
    }

    /// Whether the text is that of a unit, by its number, or there is no other.
    pub(super) const fn is(self, unit: usize) -> bool {
        match self {
            Self::Text => true,
            Self::First => unit == 0,
            Self::Further(own) => own == unit,
        }
    }
}

/// What stands before and behind the text of a unit with records, besides the names that all share.
pub(super) struct Around<'a> {
    pub(super) text: &'a str,
    pub(super) declarations: &'a str,
    pub(super) epilogue: &'a str,
}

impl Around<'_> {
    /// The names that hooks use, as far as this unit uses them.
    fn shared(&self, request: &RewriteRequest<'_>, judges: &str) -> String {
        let target = request.program.types.target;
        let texts = [self.declarations, judges, self.text, self.epilogue];
        prelude_for(target, Some("lydian_readable"), &texts)
    }
}

/// What stands before the text.
pub(super) fn prelude(
    request: &RewriteRequest<'_>,
    around: &Around<'_>,
    judges: &Judges,
) -> String {
    if request.watched.is_empty() {
        return String::new();
    }
    let mut text = String::from("# 1 \"<lydian>\"\n");
    if request.purpose == Purpose::Tests {
        text.push_str("int lydian_readable(const void *, unsigned long);\n");
    }
    let judges = judges.text();
    text.push_str(&around.shared(request, &judges));
    text.push_str(around.declarations);
    text.push_str(&judges);
    text + &line_marker(request, 0)
}

/// What stands before the text of another unit, which begins at an offset.
pub(super) fn further_prelude(
    request: &RewriteRequest<'_>,
    start: u32,
    around: &Around<'_>,
) -> String {
    let (prelude, declarations) = (around.shared(request, ""), around.declarations);
    let marker = line_marker(request, start);
    format!(
        "# 1 \"<lydian>\"\nextern unsigned char lydian_hit[];\n\
         int lydian_readable(const void *, unsigned long);\n{prelude}{declarations}{marker}"
    )
}

/// The line marker of the text from an offset on.
fn line_marker(request: &RewriteRequest<'_>, start: u32) -> String {
    let first = request.map.place(start);
    let file = first.file.replace('\\', "\\\\").replace('"', "\\\"");
    format!("# {} \"{file}\"\n", first.line)
}
