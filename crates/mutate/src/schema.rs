//! The schema: a unit's text that behaves as any of its mutants, chosen when the program starts
//! ([Schemata]).
//!
//! The unit's own run-time (`runtime/schema.c`) stands before its text, so that an object needs nothing
//! at link time. A function with mutants is there twice: as it is, with a test at its begin, and as a
//! copy in which every site is a choice. Where it cannot be copied, its own sites are choices.
//!
//! # Invariants
//! - Without a chosen mutant the program does what the user's does. A copied function costs one test
//!   of a variable for each call.
//! - A chosen mutant does what its text does when it is compiled alone: alternatives are whole full
//!   expressions, converted to the type that their value is used with.
//! - In a run for the record, each expression is evaluated once, as the original evaluates it; tests
//!   of infection read kept values and variables, and neither trap nor overflow.

mod recording;

use lydian_base::{SourceMap, Span};

use crate::enumerate::Enumeration;
use crate::enumerate::site::{Deletion, Entry, FunctionPlan, Site, Usage};
use crate::mutant::UnitId;
use crate::text::{Edits, on_one_line};
use recording::recorded;

/// The environment variable that names the chosen mutant.
pub const MUTANT_VARIABLE: &str = "LYDIAN_MUTANT";
/// The environment variable that names the folder for records of infections.
pub const RECORD_VARIABLE: &str = "LYDIAN_RECORD";
/// The environment variable with the descriptor of a socket, for a program that is copied for each mutant.
pub const SERVER_VARIABLE: &str = "LYDIAN_SERVER";
/// The environment variable that names a copy's test, for programs that run one of several.
pub const CASE_VARIABLE: &str = "LYDIAN_CASE";

const RUNTIME: &str = include_str!("../runtime/schema.c");
/// The most bytes of a file that a program with a chosen mutant can write.
const MOST_FILE_BYTES: u64 = 256 << 20;

/// The text with all mutants of an enumeration.
pub fn schema(map: &SourceMap, found: &Enumeration, id: &UnitId) -> String {
    let text = map.text();
    // A unit without mutants has nothing to choose and to record.
    if found.functions.is_empty() {
        return text.to_string();
    }
    let mut edits = Edits::default();
    for plan in &found.functions {
        function(map, plan, &mut edits);
    }
    let whole = Span::new(0, text.len() as u32);
    let runtime = RUNTIME
        .replace("LYDIAN_UNIT", &format!("\"{id}\""))
        .replace("LYDIAN_COUNT", &format!("{}ul", found.mutants.len()))
        .replace("LYDIAN_FILE_BYTES", &format!("{MOST_FILE_BYTES}ul"));
    let runtime = without_comments(&runtime);
    format!("# 1 \"<lydian>\" 1 3\n{runtime}\n{}", edits.apply(text, whole))
}

/// The variable that chooses a mutant in [`choices`].
pub const CHOICE: &str = "lydian_mutant";

/// The text with all mutants of an enumeration, each where it stands: [`CHOICE`], a static variable that
/// nothing writes to, has the number of the chosen one. It is a text to be analysed, and not to be run: a
/// recursive call, a static variable and an address of a function mean what they mean in the mutant
/// alone, and infections are not recorded.
pub fn choices(map: &SourceMap, found: &Enumeration) -> String {
    let text = map.text();
    let mut edits = Edits::default();
    for plan in &found.functions {
        let mut own = Edits::default();
        for site in &plan.sites {
            own.replace(site.span, bare_choice(text, site));
        }
        for Deletion { span, number } in &plan.deletions {
            let before = format!("{{ if ({CHOICE} != {number}u) ");
            own.wrap(*span, before, " }".to_owned());
        }
        for call in &plan.label_calls {
            own.replace(*call, "(void)0".to_owned());
        }
        edits.replace(plan.notes.body, own.apply(text, plan.notes.body));
    }
    let whole = Span::new(0, text.len() as u32);
    format!("# 1 \"<lydian>\" 1 3\nstatic unsigned {CHOICE};\n{}", edits.apply(text, whole))
}

/// The text of the run-time without comments, since preprocessed text has none.
fn without_comments(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("/*") {
        out.push_str(before);
        rest = after.split_once("*/").map_or("", |(_, rest)| rest);
    }
    out + rest
}

fn function(map: &SourceMap, plan: &FunctionPlan, edits: &mut Edits) {
    let text = map.text();
    let notes = &plan.notes;
    let mut own = Edits::default();
    for site in &plan.sites {
        own.replace(site.span, choice(text, site));
    }
    for deletion in &plan.deletions {
        let number = deletion.number;
        let before = format!(
            "{{ if (lydian_mutant == ~0u) lydian_infect({number}, 1); if (lydian_mutant != {number}) "
        );
        own.wrap(deletion.span, before, " }".to_owned());
    }
    for call in &plan.label_calls {
        own.replace(*call, "(void)0".to_owned());
    }
    let body = own.apply(text, notes.body);
    match &plan.entry {
        None => edits.replace(notes.body, body),
        Some(entry) => copied(map, plan, entry, &body, edits),
    }
}

/// Puts a copy of a function behind it, and its declaration before.
fn copied(map: &SourceMap, plan: &FunctionPlan, entry: &Entry, body: &str, edits: &mut Edits) {
    let (text, notes) = (map.text(), &plan.notes);
    let name = format!("lydian_mutated_{}", notes.name);
    let head = renamed_head(text, (notes.span, notes.name_span, notes.body), &name);
    let words = head.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let is_static = words.clone().any(|word| word == "static");
    let storage = if is_static { "" } else { "static " };
    let head = format!("{storage}__attribute__((noinline, cold)) {head}");
    let start = notes.span.start;
    edits.replace(Span::new(start, start), format!("{}; ", on_one_line(&head)));
    let (first, end) = notes.numbers;
    let call = format!("{name}({})", entry.params.join(", "));
    let jump = match entry.returns_nothing {
        true => format!("{{ {call}; return; }}"),
        false => format!("return {call};"),
    };
    let inside = Span::new(notes.body.start + 1, notes.body.start + 1);
    let test = format!(
        " if (__builtin_expect(lydian_mutant != 0, 0) && lydian_among({first}u, {}u)) {jump} ",
        end - first
    );
    edits.replace(inside, test);
    for call in &plan.label_calls {
        edits.replace(*call, "(void)0".to_owned());
    }
    let at = notes.span.end;
    let copy = format!("\n{}{head}{body}\n{}", map.line_marker(start), map.line_marker(at - 1));
    edits.replace(Span::new(at, at), copy);
}

/// A function's text from its begin to its body, with another name.
pub(crate) fn renamed_head(
    text: &str,
    (span, name, body): (Span, Span, Span),
    new: &str,
) -> String {
    let part = |start: u32, end: u32| text.get(start as usize..end as usize).unwrap_or_default();
    format!("{}{new}{}", part(span.start, name.start), part(name.end, body.start))
}

/// The alternatives of a site, each behind the test of its number.
fn chain(text: &str, site: &Site) -> String {
    let mut chain = String::new();
    for (number, (span, replacement)) in (site.first..).zip(&site.alternatives) {
        let range = site.span.range();
        let before = text.get(range.start..span.start as usize).unwrap_or_default();
        let after = text.get(span.end as usize..range.end).unwrap_or_default();
        let mutant = format!("{before}{replacement}{after}");
        chain.push_str(&format!("{CHOICE} == {number}u ? {} : ", used(&site.usage, &mutant)));
    }
    chain
}

/// A site as a choice of its alternatives, without records.
fn bare_choice(text: &str, site: &Site) -> String {
    let own = used(&site.usage, text.get(site.span.range()).unwrap_or_default());
    let (first, count) = (site.first, site.alternatives.len());
    format!("({CHOICE} - {first}u < {count}u ? ({}{own}) : {own})", chain(text, site))
}

/// A site as a choice of its alternatives, the original among them.
fn choice(text: &str, site: &Site) -> String {
    let original = text.get(site.span.range()).unwrap_or_default();
    let (own, chain) = (used(&site.usage, original), chain(text, site));
    let recorded = used(&site.usage, &recorded(text, site));
    format!(
        "(__builtin_expect(lydian_mutant == 0, 1) ? {own} : lydian_mutant == ~0u ? {recorded} : \
         lydian_mutant - {}u < {}u ? ({chain}{own}) : {own})",
        site.first,
        site.alternatives.len()
    )
}

/// An alternative, converted as the site's value is.
fn used(usage: &Usage, text: &str) -> String {
    match usage {
        Usage::Effect => format!("(void)({text})"),
        Usage::Truth => format!("!!({text})"),
        Usage::Converted(ty) => format!("({ty})({text})"),
        Usage::AsIs => format!("({text})"),
    }
}
