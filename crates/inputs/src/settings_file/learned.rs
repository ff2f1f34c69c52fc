//! The file that `lydian init` writes: observations of an exploration, as settings that are commented
//! out, each with its origin.

use std::fmt::Write;

use lydian_ir::{CType, CTypeId, FuncId, Program};

use crate::learned::{Dereferences, PointerObservations};
use crate::place::{InputPlace, Step};
use crate::settings::length::Length;
use crate::settings::{Kind, LengthText, PlaceSettings, Settings};
use crate::settings_file::guessed::{inline, quoted, write_head};
use crate::spec::InputSpec;
use crate::spec::fit;

/// The observations of an exploration of one function.
#[derive(Clone, Debug, Default)]
pub struct ExplorationFindings {
    /// The extent of the exploration, as the end of a sentence; empty if there was none.
    pub how_far: String,
    /// The observations of its paths.
    pub learned: PointerObservations,
}

/// The most places of one function that are written.
const MOST_PLACES: usize = 24;
/// Places with more steps than this are not written.
const MOST_STEPS: usize = 4;

const HEADER: &str = "\
# What Lydian learned of the inputs by exploring each function. Nothing here restricts them: what a line
# that begins with `#\"` says holds once its `#` is taken away, and what the pointer leads to is then made
# as it says.
#
# kind    object, array, string, end (just past the array of `of`), into (somewhere in it), null
# length  where an array's length is kept: \"len\", \".len\", \"*n\", \"2 * n\", or a number
# null    whether the pointer may be null        type    what a void pointer leads to
#
# What is true of every object of a type is stated once for all functions:
#
# [types.\"struct buffer\"]
# invariant = \"self->len <= self->cap\"
";

/// Writes the observations of explorations of functions. None of them restricts inputs before the user
/// removes the `#`. [`Settings::from_toml_str`] reads the text either way.
pub fn write_learned(program: &Program, functions: &[(FuncId, ExplorationFindings)]) -> String {
    let spec = InputSpec::new(program, Settings::default());
    let mut text = HEADER.to_owned();
    for (function, explored) in functions {
        write_head(&mut text, program, &spec, *function, "# ");
        if explored.how_far.is_empty() {
            let _ = writeln!(text, "# It was not explored.");
            continue;
        }
        let _ = writeln!(text, "# ExplorationFindings {}.", explored.how_far);
        Writer { program, function: *function, learned: &explored.learned }.write(&mut text);
    }
    text
}

/// Writes the observations of one function.
struct Writer<'a> {
    program: &'a Program,
    function: FuncId,
    learned: &'a PointerObservations,
}

impl Writer<'_> {
    fn write(&self, text: &mut String) {
        let mut lines = Vec::new();
        for (name, followed) in &self.learned.followed {
            let place = InputPlace::parse(name).ok().filter(is_plain);
            if let Some(place) = place.filter(|place| self.type_of(place).is_some()) {
                self.add_followed(name, &place, followed, &mut lines);
            }
        }
        let only_tested = self.learned.null_tested.iter();
        for name in only_tested.filter(|name| !self.learned.followed.contains_key(*name)) {
            if InputPlace::parse(name).is_ok_and(|place| is_plain(&place)) {
                lines.push(format!("# {name} is compared with null, and not followed"));
            }
        }
        if !lines.is_empty() {
            let name = &self.program.functions[self.function].name;
            let _ = writeln!(text, "\n[function.{}.places]", quoted(name));
            lines.truncate(2 * MOST_PLACES);
            lines.iter().for_each(|line| _ = writeln!(text, "{line}"));
        }
    }

    /// The type of a place: its declared type, or the type as which paths accessed it behind a `void
    /// *`.
    fn type_of(&self, place: &InputPlace) -> Option<CTypeId> {
        if let Some(ty) = fit::type_of(self.program, self.function, place).ok()? {
            return Some(ty);
        }
        let mut above = place.parent()?;
        loop {
            let mut followed = self.learned.followed.iter();
            let is_above = |name: &str| InputPlace::parse(name).is_ok_and(|of| of == above);
            if let Some((_, found)) = followed.find(|(name, _)| is_above(name)) {
                let steps = place.steps.get(above.steps.len() + 1..)?;
                return fit::walk(self.program, found.element, steps).ok()?;
            }
            above = above.parent()?;
        }
    }

    fn add_followed(
        &self,
        name: &str,
        place: &InputPlace,
        followed: &Dereferences,
        lines: &mut Vec<String>,
    ) {
        let types = &self.program.types;
        let pointee = self.type_of(place).and_then(|ty| types.pointee(ty));
        let is_open = pointee.is_none_or(|to| types.size(to).is_none());
        let is_tested = self.learned.null_tested.contains(name);
        let element = types.spell(followed.element, "");
        let is_number = |bound: &&str| InputPlace::parse(bound).is_ok_and(|of| self.is_number(&of));
        let bound = followed.bound().filter(is_number);
        let settings = PlaceSettings {
            kind: Some(kind_of(followed, bound)),
            length: bound.and_then(|bound| Length::parse(bound).ok()).map(LengthText),
            pointee: is_open.then(|| element.clone()),
            null: Some(is_tested),
            ..PlaceSettings::default()
        };
        let mut reasons = vec![format!("{name} is followed to {element}")];
        reasons.extend(extent_of(followed, bound));
        reasons.push(match is_tested {
            true => "a branch compares it with null".to_owned(),
            false => "no branch compares it with null".to_owned(),
        });
        lines.push(format!("# {}", reasons.join("; ")));
        lines.push(format!("#{} = {}", quoted(&place.to_string()), inline(&settings)));
    }

    /// Whether a place holds an integer.
    fn is_number(&self, place: &InputPlace) -> bool {
        let ty = self.type_of(place);
        let is_integer =
            |ty| matches!(self.program.types.get(ty), CType::Int { .. } | CType::Enum { .. });
        ty.is_some_and(is_integer)
    }
}

/// Whether a person would state a setting for a place: it lies in no array element but the first, and
/// not behind many pointers.
fn is_plain(place: &InputPlace) -> bool {
    let is_first = |step: &Step| matches!(step, Step::Field(_) | Step::Index(0));
    !place.root.is_empty() && place.steps.len() <= MOST_STEPS && place.steps.iter().all(is_first)
}

fn kind_of(followed: &Dereferences, bound: Option<&str>) -> Kind {
    match (bound, followed.varies || followed.elements.len() > 1) {
        (None, true) if followed.is_text() => Kind::String,
        (Some(_), _) | (None, true) => Kind::Array,
        (None, false) => Kind::Object,
    }
}

/// The observed extent of an array, if there is something to say.
fn extent_of(followed: &Dereferences, bound: Option<&str>) -> Option<String> {
    let last = followed.elements.last().filter(|last| **last > 0);
    if let Some(bound) = bound {
        Some(format!("{bound} was greater than the number of each element that was looked at"))
    } else if followed.is_text() {
        Some("each element was looked at after the one before was found not to be zero".to_owned())
    } else if followed.varies {
        Some("an input is the number of an element".to_owned())
    } else {
        last.map(|last| format!("elements up to number {last} were looked at"))
    }
}
