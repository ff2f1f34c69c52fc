//! The user's settings about inputs, in the structure of `lydian.toml`:
//!
//! ```toml
//! [defaults]
//! max-length = 32
//! depth = 3
//!
//! [function.parse_header]
//! preconditions = ["len < 100"]
//! globals = ["strict"]
//!
//! [function.parse_header.places]
//! "buf" = { kind = "array", length = "len", max = 64, null = false }
//! "flags" = { range = [0, 7] }
//!
//! [function.send]
//! writes = ["*count", "conn->state"]
//! returns = { range = [-1, 0] }
//!
//! [types."struct chunk"]
//! invariant = "self->len <= self->cap"
//! ".data" = { kind = "array", length = ".len" }
//! ```
//!
//! Nothing here depends on a program. [`crate::spec::fit`] and [`crate::plan`] find settings that do
//! not fit one.

pub(crate) mod defaults;
pub mod length;
mod of_types;
mod position;

use indexmap::IndexMap;
use lydian_objective::AcceptedAssumptions;
use serde::de::{self, Deserializer, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use std::fmt;
use thiserror::Error;

pub use of_types::{INVARIANT, TypeSettings};
pub use position::{Position, TomlStep};

use crate::place::InputPlace;
use crate::settings::length::Length;

/// All settings about inputs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Settings {
    /// For every function.
    pub defaults: Limits,
    /// Whether memory behind pointers without settings is initialised lazily when a path accesses it,
    /// instead of being guessed from signatures and uses and kept within limits.
    #[serde(skip_serializing_if = "is_true")]
    pub lazy_inputs: bool,
    /// C files that define functions that the program leaves undefined, relative to the file of
    /// settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stubs: Vec<String>,
    /// Kinds of assumptions under which *infeasible* counts, or `all`. They change no input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub accept: Vec<String>,
    /// For reports of what runs covered.
    #[serde(skip_serializing_if = "is_default")]
    pub report: ReportSettings,
    /// For mutants.
    #[serde(skip_serializing_if = "is_default")]
    pub mutate: MutateSettings,
    /// For devices at addresses that the program names as numbers.
    #[serde(skip_serializing_if = "is_default")]
    pub devices: DeviceSettings,
    /// For handlers of interrupts.
    #[serde(skip_serializing_if = "is_default")]
    pub interrupts: InterruptSettings,
    /// By a function's name. For an undefined function the places begin with `result`.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub function: IndexMap<String, FunctionSettings>,
    /// For every object of a type, by the type as C spells it.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub types: IndexMap<String, TypeSettings>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            defaults: Limits::default(),
            lazy_inputs: true,
            stubs: Vec::new(),
            accept: Vec::new(),
            report: ReportSettings::default(),
            mutate: MutateSettings::default(),
            devices: DeviceSettings::default(),
            interrupts: InterruptSettings::default(),
            function: IndexMap::new(),
            types: IndexMap::new(),
        }
    }
}

/// Whether a part of the settings says nothing.
fn is_default<T: Default + PartialEq>(settings: &T) -> bool {
    *settings == T::default()
}

fn is_true(flag: &bool) -> bool {
    *flag
}

/// The user's own mutation operators.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct MutateSettings {
    /// The patterns.
    pub pattern: Vec<MutantPattern>,
}

/// A pattern of expressions, and what takes the place of a match. What they mean is for
/// `lydian-mutate` to say.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct MutantPattern {
    /// Its name.
    pub name: String,
    /// The tokens to be found.
    #[serde(rename = "match")]
    pub find: String,
    /// The tokens in their place.
    pub replace: String,
}

/// The devices that a program accesses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct DeviceSettings {
    /// CMSIS-SVD files with registers, relative to the file of settings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub svd: Vec<String>,
    /// Regions of addresses, by their names.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub regions: IndexMap<String, RegionSettings>,
}

/// A region of addresses: a start, and either a length or an end behind it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct RegionSettings {
    /// The first address.
    pub start: u64,
    /// How many bytes it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The address behind it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<u64>,
}

/// The handlers of interrupts of a program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct InterruptSettings {
    /// Functions that are handlers, besides those that are known by their names or by tables of vectors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub handlers: Vec<String>,
    /// How often handlers run in a test at most; 0 for never.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub most: Option<u32>,
}

/// The scope of a report and its thresholds, as on the command line.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ReportSettings {
    /// The files, folders and patterns that it is limited to, relative to the file of settings.
    pub include: Vec<String>,
    /// The files, folders and patterns that are left out.
    pub exclude: Vec<String>,
    /// `CRITERION=PERCENT`, or `PATH:CRITERION=PERCENT`.
    pub fail_under: Vec<String>,
    /// The same for reports on a change.
    pub diff_fail_under: Vec<String>,
}

/// The greatest sizes of inputs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Limits {
    /// Elements of an array of scalars whose length varies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// Bytes of a string before its NUL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_string: Option<u64>,
    /// Elements of an array of structs, unions or pointers whose length varies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_records: Option<u64>,
    /// Pointers followed one after the other before a pointer is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Whether pointers may be null where nothing else says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub null: Option<bool>,
}

/// The settings of one function.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct FunctionSettings {
    /// C expressions over the parameters and globals that are true of every input.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub preconditions: Vec<String>,
    /// The globals that are inputs, exactly these. If absent: those that the function reads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub globals: Option<Vec<String>>,
    /// Elements of an array of scalars whose length varies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_length: Option<u64>,
    /// Bytes of a string before its NUL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_string: Option<u64>,
    /// Elements of an array of structs, unions or pointers whose length varies.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_records: Option<u64>,
    /// Pointers followed one after the other before a pointer is null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Whether pointers may be null where nothing else says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub null: Option<bool>,
    /// Of an undefined function: that it writes nothing that outlives the call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pure: Option<bool>,
    /// Of an undefined function: the places that it may write, which begin with a parameter or a global
    /// variable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writes: Option<Vec<PlacePattern>>,
    /// Of an undefined function: the settings of its result; the same as the place `result`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub returns: Option<PlaceSettings>,
    /// By place or pattern of places.
    #[serde(skip_serializing_if = "IndexMap::is_empty")]
    pub places: IndexMap<PlacePattern, PlaceSettings>,
}

/// The name of the place of an undefined function's result.
pub const RESULT: &str = "result";

impl FunctionSettings {
    /// Whether it has settings that only undefined functions can have.
    pub const fn has_contract(&self) -> bool {
        self.pure.is_some() || self.writes.is_some() || self.returns.is_some()
    }

    /// Moves `returns` to the place `result`, so that there is one place to look it up.
    fn fold_result(&mut self) {
        if let Some(returns) = &self.returns {
            let result = PlacePattern(InputPlace::root(RESULT));
            self.places.entry(result).or_insert_with(|| returns.clone());
        }
    }

    /// A contradiction among its own attributes, with the key that it is about.
    fn check(&self) -> Result<(), (&'static str, String)> {
        if self.pure == Some(true) && self.writes.as_ref().is_some_and(|all| !all.is_empty()) {
            return Err(("pure", "what is pure writes nothing, but `writes` names places".into()));
        }
        if self.pure == Some(false) && self.writes.as_ref().is_some_and(Vec::is_empty) {
            return Err(("pure", "what writes nothing (`writes = []`) is pure".into()));
        }
        let all = self.writes.iter().flatten();
        if let Some(relative) = all.map(|place| &place.0).find(|place| place.root.is_empty()) {
            let why = format!("'{relative}' begins with no parameter or global");
            return Err(("writes", why));
        }
        if let Some(returns) = &self.returns {
            returns.check().map_err(|why| ("returns", format!("`returns`: {why}")))?;
            if self.places.contains_key(&PlacePattern(InputPlace::root(RESULT))) {
                return Err(("returns", "`returns` and the place `result` say the same".into()));
            }
        }
        Ok(())
    }
}

/// The settings of a place. Absent attributes are left to a wider setting.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct PlaceSettings {
    /// The kind of a pointer's target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<Kind>,
    /// The number of elements of the array. Implies `kind = "array"`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<LengthText>,
    /// For `end` and `into`: the pointer to the array.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of: Option<PlacePattern>,
    /// Greatest length: elements of an array, bytes of a string before its NUL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u64>,
    /// The number of elements before the one that the pointer points to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
    /// Whether the pointer may be null.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub null: Option<bool>,
    /// Pointers to the same type whose object this one may point to as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<Vec<PlacePattern>>,
    /// The type of what a `void *` points to, as C spells it.
    #[serde(skip_serializing_if = "Option::is_none", rename = "type")]
    pub pointee: Option<String>,
    /// Functions that a function pointer may point to. If absent: one whose results are inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub functions: Option<Vec<String>>,
    /// Least and greatest value of a number. A float that is no number is in no range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub range: Option<(Number, Number)>,
    /// The only values of a number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<Number>>,
}

/// The kind of a pointer's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// One object of the pointed-to type.
    Object,
    /// An array, of the length that `length` gives or any up to `max`.
    Array,
    /// Characters up to a NUL.
    String,
    /// Just past the array of `of`.
    End,
    /// Any element of the array of `of`, or just past it.
    Into,
    /// Nothing: it is always null.
    Null,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Object => "object",
            Self::Array => "array",
            Self::String => "string",
            Self::End => "end",
            Self::Into => "into",
            Self::Null => "null",
        })
    }
}

/// A number in the settings. Integers beyond TOML's 64 signed bits are written as strings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// An integer.
    Int(i128),
    /// A float.
    Float(f64),
}

/// A place or pattern, read when the settings are.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PlacePattern(pub InputPlace);

/// A length, read when the settings are. A plain number is a fixed length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LengthText(pub Length);

/// Settings that cannot be read: the place in the text and what is wrong there.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {why}")]
pub struct SettingsError {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The error.
    pub why: String,
}

impl Settings {
    /// Reads settings. A key that is not known is an error.
    pub fn from_toml_str(text: &str) -> Result<Self, SettingsError> {
        let mut settings: Self = toml::from_str(text).map_err(|error| located(text, &error))?;
        settings.check().map_err(|Misfit { way, why }| {
            let way: Vec<TomlStep<'_>> = way.iter().map(Step::within).collect();
            let at = Position::find(text, &way).unwrap_or(Position::START);
            SettingsError { line: at.line, column: at.column, why }
        })?;
        settings.function.values_mut().for_each(FunctionSettings::fold_result);
        Ok(settings)
    }

    /// Checks that serde cannot make: roots of places, empty ranges, attributes that exclude each
    /// other.
    fn check(&self) -> Result<(), Misfit> {
        for (index, name) in self.accept.iter().enumerate() {
            AcceptedAssumptions::named([name.as_str()]).map_err(|error| {
                Misfit::at([Step::value("accept"), Step::Element(index)], error)
            })?;
        }
        for (function, settings) in &self.function {
            let of = |steps: &[Step]| {
                let way = [Step::value("function"), Step::value(function)];
                [&way[..], steps].concat()
            };
            settings.check().map_err(|(key, why)| {
                Misfit::at(of(&[Step::Key(key.to_owned())]), format!("function {function}: {why}"))
            })?;
            for (place, set) in &settings.places {
                let text = place.0.to_string();
                let of = |why: String| Misfit::in_places(of(&[Step::value("places")]), place, why);
                if place.0.root.is_empty() {
                    let why = format!(
                        "'{text}' in function {function} begins with no parameter or global"
                    );
                    return Err(of(why));
                }
                set.check().map_err(|why| of(format!("'{text}': {why}")))?;
            }
        }
        for (ty, settings) in &self.types {
            for (place, set) in &settings.places {
                let of = [Step::value("types"), Step::value(ty)].to_vec();
                let misfit = |why| Misfit::in_places(of, place, format!("'{}': {why}", place.0));
                set.check().map_err(misfit)?;
            }
            if let Some(empty) = settings.invariants.iter().position(|text| text.trim().is_empty())
            {
                let way = [Step::value("types"), Step::value(ty), Step::value(INVARIANT)];
                let way = [&way[..], &[Step::Element(empty)]].concat();
                return Err(Misfit::at(way, "an invariant is a C expression over `self`"));
            }
        }
        Ok(())
    }
}

/// An invalid setting, with its position.
struct Misfit {
    way: Vec<Step>,
    why: String,
}

/// A step on the path to a setting.
#[derive(Clone)]
enum Step {
    Value(String),
    Key(String),
    Element(usize),
}

impl Step {
    fn value(name: &str) -> Self {
        Self::Value(name.to_owned())
    }

    fn within(&self) -> TomlStep<'_> {
        match self {
            Self::Value(name) => TomlStep::Value(name),
            Self::Key(name) => TomlStep::Key(name),
            Self::Element(index) => TomlStep::Element(*index),
        }
    }
}

impl Misfit {
    fn at(way: impl Into<Vec<Step>>, why: impl fmt::Display) -> Self {
        Self { way: way.into(), why: why.to_string() }
    }

    /// A misfit at the key of a place, however the user spells the place there.
    fn in_places(mut way: Vec<Step>, place: &PlacePattern, why: String) -> Self {
        way.push(Step::Key(place.0.to_string()));
        Self { way, why }
    }
}

fn located(text: &str, error: &toml::de::Error) -> SettingsError {
    let at = Position::of_byte(text, error.span().map_or(0, |span| span.start));
    SettingsError { line: at.line, column: at.column, why: error.message().trim().to_owned() }
}

impl PlaceSettings {
    /// The kind of the pointer's target, as far as the settings say or imply it.
    pub fn implied_kind(&self) -> Option<Kind> {
        self.kind.or_else(|| self.length.as_ref().map(|_| Kind::Array))
    }

    /// Removes a length that is a value of the inputs, or the relation of the pointer to the end of its
    /// array. Returns whether there was one.
    pub(super) fn loosen(&mut self) -> bool {
        let is_tied =
            self.length.as_ref().is_some_and(|length| !matches!(length.0, Length::Number(_)));
        if is_tied {
            self.length = None;
            self.kind = Some(Kind::Array);
        }
        let is_end = self.kind == Some(Kind::End);
        if is_end {
            self.kind = Some(Kind::Into);
        }
        is_tied || is_end
    }

    /// The attributes of these settings that `stated` does not have.
    pub(super) fn beyond(&self, stated: &Self) -> Self {
        fn open<T>(added: Option<T>, stated: &Option<T>) -> Option<T> {
            added.filter(|_| stated.is_none())
        }
        let all = stated.clone().or(self);
        Self {
            kind: self.kind.filter(|_| stated.implied_kind().is_none()),
            length: open(all.length, &stated.length),
            of: open(all.of, &stated.of),
            max: open(all.max, &stated.max),
            before: open(all.before, &stated.before),
            null: open(all.null, &stated.null),
            alias: open(all.alias, &stated.alias),
            pointee: open(all.pointee, &stated.pointee),
            functions: open(all.functions, &stated.functions),
            range: open(all.range, &stated.range),
            values: open(all.values, &stated.values),
        }
    }

    /// These settings, with absent attributes taken from wider ones. If the two disagree on the kind of
    /// pointer, the attributes of the wider kind are dropped.
    pub fn or(self, wider: &Self) -> Self {
        let agree = match (self.implied_kind(), wider.implied_kind()) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        };
        let of_kind = agree.then_some(wider);
        Self {
            kind: self.implied_kind().or(wider.kind),
            length: self.length.or_else(|| of_kind?.length.clone()),
            of: self.of.or_else(|| of_kind?.of.clone()),
            max: self.max.or_else(|| of_kind?.max),
            before: self.before.or_else(|| of_kind?.before),
            null: self.null.or(wider.null),
            alias: self.alias.or_else(|| wider.alias.clone()),
            pointee: self.pointee.or_else(|| wider.pointee.clone()),
            functions: self.functions.or_else(|| wider.functions.clone()),
            range: self.range.or(wider.range),
            values: self.values.or_else(|| wider.values.clone()),
        }
    }

    fn check(&self) -> Result<(), String> {
        let kind = self.implied_kind();
        if self.length.is_some() && kind != Some(Kind::Array) {
            return Err("only an array has a length".into());
        }
        if matches!(kind, Some(Kind::End | Kind::Into)) != self.of.is_some() {
            return Err("kinds end and into, and only they, need 'of'".into());
        }
        if self.before.is_some() && matches!(kind, Some(Kind::End | Kind::Into | Kind::Null)) {
            return Err("only what points to an object of its own has elements before it".into());
        }
        if kind == Some(Kind::Null) && self.null == Some(false) {
            return Err("a pointer of kind null is null".into());
        }
        let exact = |places: &[PlacePattern]| places.iter().all(|place| place.0.is_exact());
        if !exact(self.of.as_slice()) || !self.alias.as_deref().is_none_or(exact) {
            return Err("'of' and 'alias' name single places, without '[_]'".into());
        }
        match self.range {
            Some((low, high)) if !low.at_most(high) => {
                Err(format!("the range from {low} to {high} is empty"))
            }
            _ if self.values.as_deref() == Some(&[]) => Err("no value is left".into()),
            _ => Ok(()),
        }
    }
}

impl fmt::Display for PlaceSettings {
    /// In words: `array with length len, at most 32, may be null`; `not restricted` where nothing is
    /// set.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(kind) = self.implied_kind() {
            let with = match (&self.length, &self.of) {
                (Some(length), _) => format!(" with length {}", length.0),
                (None, Some(of)) => format!(" of {}", of.0),
                (None, None) => String::new(),
            };
            let of_type = self.pointee.as_ref().map(|ty| format!(" of type {ty}"));
            parts.push(format!("{kind}{}{with}", of_type.unwrap_or_default()));
        } else if let Some(ty) = &self.pointee {
            parts.push(format!("of type {ty}"));
        }
        parts.extend(self.max.map(|max| format!("at most {max}")));
        parts.extend(self.before.map(|before| format!("{before} before it")));
        parts.extend(self.functions.as_ref().map(|names| format!("one of {}", names.join(", "))));
        parts.extend(self.null.map(|null| match null {
            true => "may be null".to_owned(),
            false => "not null".to_owned(),
        }));
        if let Some(alias) = &self.alias {
            let names: Vec<String> = alias.iter().map(|place| place.0.to_string()).collect();
            parts.push(format!("may be {}", names.join(" or ")));
        }
        parts.extend(self.range.map(|(low, high)| format!("from {low} to {high}")));
        if let Some(values) = &self.values {
            let values: Vec<String> = values.iter().map(Number::to_string).collect();
            parts.push(format!("one of {}", values.join(", ")));
        }
        match parts.is_empty() {
            true => f.write_str("not restricted"),
            false => f.write_str(&parts.join(", ")),
        }
    }
}

impl Number {
    fn at_most(self, other: Self) -> bool {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a <= b,
            (a, b) => a.as_f64() <= b.as_f64(),
        }
    }

    /// As a double, rounded to nearest.
    pub fn as_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => value.fmt(f),
            Self::Float(value) => write!(f, "{value:?}"),
        }
    }
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(value) => match i64::try_from(*value) {
                Ok(small) => serializer.serialize_i64(small),
                Err(_) => serializer.serialize_str(&value.to_string()),
            },
            Self::Float(value) => serializer.serialize_f64(*value),
        }
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NumberVisitor)
    }
}

struct NumberVisitor;

impl Visitor<'_> for NumberVisitor {
    type Value = Number;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, or one as a string where it needs more than 64 bits")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Number, E> {
        Ok(Number::Int(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Number, E> {
        Ok(Number::Int(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Number, E> {
        Ok(Number::Float(value))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Number, E> {
        let digits = text.strip_prefix("0x").map(|hex| i128::from_str_radix(hex, 16));
        let value = digits.unwrap_or_else(|| text.parse());
        value.map(Number::Int).map_err(|_| E::custom(format!("'{text}' is no integer")))
    }
}

impl Serialize for PlacePattern {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for PlacePattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        InputPlace::parse(&text).map(Self).map_err(de::Error::custom)
    }
}

impl Serialize for LengthText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for LengthText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LengthVisitor)
    }
}

struct LengthVisitor;

impl Visitor<'_> for LengthVisitor {
    type Value = LengthText;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the place of a length such as \"len\", or a number of elements")
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<LengthText, E> {
        let number = u64::try_from(value).map_err(|_| E::custom("a length below 0"))?;
        Ok(LengthText(Length::Number(number)))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<LengthText, E> {
        Ok(LengthText(Length::Number(value)))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<LengthText, E> {
        Length::parse(text).map(LengthText).map_err(E::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXAMPLE: &str = r#"
stubs = ["stubs.c"]

[defaults]
max-length = 48
depth = 2

[function.parse_header]
preconditions = ["len < 100"]
globals = []

[function.parse_header.places]
"buf" = { kind = "array", length = "len", max = 64, null = false, alias = ["other"] }
"end" = { kind = "end", of = "buf" }
"flags" = { range = [0, "0xffffffffffffffff"] }
"ratio" = { range = [-1.5, 1] }
"mode" = { values = [1, 2, 4] }

[types."struct chunk"]
".data" = { length = ".len" }
".key" = { length = 16 }
"#;

    fn complaint(text: &str) -> String {
        Settings::from_toml_str(text).unwrap_err().to_string()
    }

    #[test]
    fn settings_read_back_from_the_toml_that_they_write() {
        let settings = Settings::from_toml_str(EXAMPLE).unwrap();
        let text = toml::to_string(&settings).unwrap();
        assert_eq!(Settings::from_toml_str(&text), Ok(settings.clone()), "{text}");
        let function = &settings.function["parse_header"];
        let set = |place: &str| &function.places[&PlacePattern(InputPlace::parse(place).unwrap())];
        assert_eq!(set("flags").range, Some((Number::Int(0), Number::Int(u64::MAX.into()))));
        assert_eq!(set("ratio").range, Some((Number::Float(-1.5), Number::Int(1))));
        assert_eq!(function.globals.as_deref(), Some(&[][..]));
    }

    #[test]
    fn a_key_that_is_not_known_is_named_with_its_line() {
        let text = "[function.f.places]\n\"p\" = { nul = true }\n";
        let complaint = complaint(text);
        assert!(complaint.starts_with("line 2, column"), "{complaint}");
        assert!(complaint.contains("nul"), "{complaint}");
    }

    #[test]
    fn a_place_that_cannot_be_read_is_named_with_its_line() {
        let complaint = complaint("[function.f.places]\n\"p[\" = { null = true }\n");
        assert!(complaint.starts_with("line 2"), "{complaint}");
        assert!(complaint.contains("'p[' is no place"), "{complaint}");
    }

    #[test]
    fn settings_that_exclude_each_other_are_refused() {
        let with = |set: &str| complaint(&format!("[function.f.places]\n\"p\" = {{ {set} }}\n"));
        assert!(with("kind = \"end\"").contains("need 'of'"));
        assert!(with("kind = \"string\", length = \"n\"").contains("only an array"));
        assert!(with("range = [2, 1]").contains("the range from 2 to 1 is empty"));
        assert!(with("values = []").contains("no value is left"));
        assert!(with("kind = \"null\", null = false").contains("is null"));
        assert!(with("alias = [\"q[_]\"]").contains("without '[_]'"));
        let relative = complaint("[function.f.places]\n\".x\" = { null = true }\n");
        assert!(relative.contains("begins with no parameter"), "{relative}");
        let rooted = complaint("[types.\"struct s\"]\n\"x\" = { null = true }\n");
        assert!(rooted.contains("must begin with '.'"), "{rooted}");
    }

    #[test]
    fn settings_are_shown_in_words() {
        let settings = Settings::from_toml_str(EXAMPLE).unwrap();
        let shown: Vec<String> =
            settings.function["parse_header"].places.values().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "array with length len, at most 64, not null, may be other",
                "end of buf",
                "from 0 to 18446744073709551615",
                "one of 1, 2, 4",
                "from -1.5 to 1"
            ]
        );
        assert_eq!(PlaceSettings::default().to_string(), "not restricted");
    }

    #[test]
    fn a_narrower_kind_drops_what_belongs_to_the_wider_one() {
        let wider = PlaceSettings {
            length: Some(LengthText(Length::Number(3))),
            null: Some(true),
            ..PlaceSettings::default()
        };
        let own = PlaceSettings { kind: Some(Kind::Object), ..PlaceSettings::default() };
        let merged = own.or(&wider);
        assert_eq!(
            (merged.kind, merged.length, merged.null),
            (Some(Kind::Object), None, Some(true))
        );
        let open = PlaceSettings::default().or(&wider);
        assert_eq!(open.implied_kind(), Some(Kind::Array));
    }
}
