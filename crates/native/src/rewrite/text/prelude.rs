//! The declarations that stand before the text of each unit.

use lydian_ir::Target;
use lydian_ir::cexact::prelude_for;

use crate::rewrite::decision::boundary::FLUSH;
use crate::rewrite::request::{Purpose, RewriteRequest};

/// The role of a unit among the units of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UnitRole {
    /// The only unit with probes.
    Text,
    /// The first of several units with probes.
    First,
    /// Another unit, by its number.
    Further(usize),
}

impl UnitRole {
    /// The role of the unit with a number. `shares` says whether other units than the first have
    /// probes.
    pub(crate) const fn of(unit: usize, shares: bool) -> Self {
        match (shares, unit) {
            (false, _) => Self::Text,
            (true, 0) => Self::First,
            (true, unit) => Self::Further(unit),
        }
    }

    /// The storage class of a variable that the units with probes share.
    pub(crate) const fn storage(self) -> &'static str {
        match self {
            Self::Text => "static",
            Self::First => "",
            Self::Further(_) => "extern",
        }
    }

    /// Whether this is the unit with a number, or the only one.
    pub(crate) const fn is(self, unit: usize) -> bool {
        match self {
            Self::Text => true,
            Self::First => unit == 0,
            Self::Further(own) => own == unit,
        }
    }
}

/// The text of a unit with probes, and its own text before and after it.
pub(crate) struct UnitFrame<'a> {
    pub(crate) text: &'a str,
    pub(crate) declarations: &'a str,
    pub(crate) epilogue: &'a str,
}

impl UnitFrame<'_> {
    /// The declarations of the names that probes use, as far as this unit uses them.
    fn shared(&self, request: &RewriteRequest<'_>, mutant_probes: &str) -> String {
        let target = request.program.types.target;
        let texts = [self.declarations, mutant_probes, self.text, self.epilogue];
        let flushes = texts.iter().any(|text| text.contains("lydian_flush("));
        let flush = if flushes { FLUSH } else { "" };
        prelude_for(target, Some("lydian_readable"), &texts) + &for_target(target, flush)
    }
}

/// Declarations without what their functions spare their callers, on processors for which clang
/// cannot compile that: a function that saves the registers that it uses.
fn for_target(target: Target, declarations: &str) -> String {
    match target {
        Target::I386 => declarations.replace(", preserve_most", ""),
        _ => declarations.to_owned(),
    }
}

/// The text before that of the first unit. `mutant_probes` are the functions and data of its mutant
/// probes.
pub(crate) fn prelude(
    request: &RewriteRequest<'_>,
    around: &UnitFrame<'_>,
    mutant_probes: &str,
) -> String {
    if request.watched.is_empty() {
        return String::new();
    }
    let mut text = String::from("# 1 \"<lydian>\"\n");
    if request.purpose == Purpose::Tests {
        text.push_str("int lydian_readable(const void *, unsigned long);\n");
    }
    text.push_str(&around.shared(request, mutant_probes));
    text.push_str(around.declarations);
    text.push_str(&for_target(request.program.types.target, mutant_probes));
    text + &request.map.line_marker(0)
}

/// The text before that of another unit, which begins at an offset.
pub(crate) fn further_prelude(
    request: &RewriteRequest<'_>,
    start: u32,
    around: &UnitFrame<'_>,
) -> String {
    let (prelude, declarations) = (around.shared(request, ""), around.declarations);
    let marker = request.map.line_marker(start);
    format!(
        "# 1 \"<lydian>\"\nextern unsigned char lydian_hit[];\n\
         int lydian_readable(const void *, unsigned long);\n{prelude}{declarations}{marker}"
    )
}
