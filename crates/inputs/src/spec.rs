//! What is assumed about inputs: the user's settings over guesses, looked up by place.
//!
//! For one place several settings may speak. An exact place counts most, then patterns with fewer
//! `[_]`, then what is said of every object of a type (the outermost object first); all of the
//! user's before all guesses, and defaults last. Each attribute comes from the first that gives it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lydian_ir::{CTypeId, FuncId, Program};
use lydian_objective::{Assumption, AssumptionKind};

use super::globals::GlobalUses;
use super::guess::{Guess, Guesses, guess};
use super::length::Length;
use super::place::{Place, Step};
use super::settings::{LengthText, Limits, PlacePattern, PlaceSettings, Settings};
use super::usage::Usage;

/// Elements of an array of scalars, where nothing is set.
pub const MAX_LENGTH: u64 = 16;
/// Bytes of a string before its NUL, where nothing is set.
pub const MAX_STRING: u64 = 16;
/// Elements of an array of structs or pointers, where nothing is set.
pub const MAX_RECORDS: u64 = 4;
/// Pointers followed one after the other, where nothing is set.
pub const DEPTH: u32 = 3;

/// Settings, and what a program's own text says about its pointers.
#[derive(Clone, Debug, Default)]
pub struct InputSpec {
    /// What the user says.
    pub settings: Settings,
    /// How the program uses its pointers.
    pub usage: Usage,
    /// How the program uses its globals.
    pub globals: GlobalUses,
    /// Whether what nobody states comes into being where a path looks at it ([`super::lazy`]), and is
    /// not guessed.
    pub lazy: bool,
    /// Guesses that were asked for. Clones share them.
    guesses: Arc<Mutex<BTreeMap<FuncId, Arc<Guesses>>>>,
}

/// What is true of every object of a type among the inputs when the function is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// The type.
    pub ty: CTypeId,
    /// How the settings name it.
    pub name: String,
    /// The C expression.
    pub text: String,
    /// The function of a pointer to the object that it was compiled to.
    pub function: FuncId,
}

impl Invariant {
    /// What it says, as a sentence.
    pub fn sentence(&self) -> String {
        format!("every {} among the inputs meets `{}`", self.name, self.text)
    }
}

impl InputSpec {
    /// The settings for a program; [`Settings::default`] where there are none. Reads every body
    /// once.
    pub fn new(program: &Program, settings: Settings) -> Self {
        let (usage, globals) = (Usage::of(program), GlobalUses::of(program));
        let lazy = settings.lazy_inputs;
        Self { settings, usage, globals, lazy, guesses: Arc::default() }
    }

    /// The name by which a precondition is compiled into the program: a function of the same
    /// parameters as `function`, for the precondition at position `n` in the settings.
    pub fn precondition_name(function: &str, n: usize) -> String {
        format!("lydian_pre_{function}_{n}")
    }

    /// The name by which what is true of every object of a type is compiled into the program: a
    /// function of a pointer to the object, for the expression at position `n` of the type at position
    /// `ty` in the settings.
    pub fn invariant_name(ty: usize, n: usize) -> String {
        format!("lydian_inv_{ty}_{n}")
    }

    /// Whether a function is one that is compiled for settings.
    pub fn is_of_settings(name: &str) -> bool {
        name.starts_with("lydian_pre_") || name.starts_with("lydian_inv_")
    }

    /// What the user says is true of every object of a type, as far as the program has the type.
    pub fn invariants(&self, program: &Program) -> Vec<Invariant> {
        let mut all = Vec::new();
        for (at, (name, settings)) in self.settings.types.iter().enumerate() {
            for (n, text) in settings.invariants.iter().enumerate() {
                let Some(function) = program.function_named(&Self::invariant_name(at, n)) else {
                    continue;
                };
                for ty in types_named(program, name) {
                    let (name, text) = (name.clone(), text.clone());
                    all.push(Invariant { ty, name, text, function });
                }
            }
        }
        all
    }

    /// The preconditions of a function that the settings state, with the functions that they were
    /// compiled to.
    pub fn preconditions_of(&self, program: &Program, function: FuncId) -> Vec<(String, FuncId)> {
        let name = &program.functions[function].name;
        let texts = self.settings.function.get(name).into_iter().flat_map(|of| &of.preconditions);
        let compiled = |n: usize| program.function_named(&Self::precondition_name(name, n));
        texts.enumerate().filter_map(|(n, text)| Some((text.clone(), compiled(n)?))).collect()
    }

    /// The guesses for a function of the spec's program, whether they are overruled or not. Made
    /// once.
    pub fn guesses(&self, program: &Program, function: FuncId) -> Arc<Guesses> {
        let mut known = self.guesses.lock().unwrap_or_else(PoisonError::into_inner);
        let make = || Arc::new(guess(program, function, &self.usage, &self.globals));
        known.entry(function).or_insert_with(make).clone()
    }

    /// The guesses for a function that the user's settings leave in effect, with only what they add to
    /// these. Of what comes into being nothing is guessed.
    pub fn guesses_in_effect(&self, program: &Program, function: FuncId) -> Guesses {
        let all = self.for_function(program, function);
        let own = self.settings.function.get(&program.functions[function].name);
        let states_no_place = own.is_none_or(|own| own.places.is_empty());
        let mut guesses = (*all.guesses).clone();
        guesses.places.retain(|guess| !all.comes_into_being(&guess.place));
        if states_no_place && all.comes_into_being(&Place::root(String::new())) {
            guesses.types.clear();
        }
        let left = |guess: &Guess, stated: &PlaceSettings| {
            let settings = guess.settings.beyond(stated);
            (settings != PlaceSettings::default()).then(|| Guess { settings, ..guess.clone() })
        };
        let places = guesses.places.iter().filter_map(|guess| {
            let own = own.into_iter().flat_map(|own| &own.places);
            left(guess, &by_place(own.map(|(pattern, set)| (&pattern.0, set)), &guess.place))
        });
        let types = guesses.types.iter().filter_map(|(ty, guess)| {
            let of_type = self.settings.types.iter();
            let of_type = of_type.filter(|(name, _)| types_named(program, name).contains(ty));
            let stated = of_type.flat_map(|(_, of_type)| &of_type.places);
            let stated = stated.map(|(pattern, set)| (&pattern.0, set));
            Some((*ty, left(guess, &by_place(stated, &guess.place))?))
        });
        Guesses { places: places.collect(), types: types.collect() }
    }

    /// Whether the user's settings of a function say what an assumption does: `before` that nothing else
    /// lies before an object, `alias` which other objects a pointer may lead to.
    pub fn states(&self, program: &Program, function: FuncId, assumption: &Assumption) -> bool {
        let Some(own) = self.settings.function.get(&program.functions[function].name) else {
            return false;
        };
        let is_set = |says: &dyn Fn(&PlaceSettings) -> bool| {
            let places = assumption.subject.split(" and ").filter_map(|at| Place::parse(at).ok());
            places.into_iter().any(|place| {
                let own = own.places.iter();
                says(&by_place(own.map(|(pattern, set)| (&pattern.0, set)), &place))
            })
        };
        match assumption.kind {
            AssumptionKind::LeadingElements => is_set(&|set| set.before.is_some()),
            AssumptionKind::Alias => is_set(&|set| set.alias.is_some()),
            _ => false,
        }
    }

    /// The same without guesses that tie a length to an array, or a pointer to its end, in the inputs
    /// of one function; none if there are no such guesses. An array whose guessed length is a value of
    /// the inputs has any length up to its limit, and what is guessed to be the end of an array points
    /// to any element of it, or just past it.
    pub fn without_guessed_lengths(&self, program: &Program, function: FuncId) -> Option<Self> {
        let mut guesses = (*self.guesses(program, function)).clone();
        let of_types = guesses.types.iter_mut().map(|(_, guess)| guess);
        let all = guesses.places.iter_mut().chain(of_types);
        let loosened = all.map(|guess| guess.settings.loosen()).filter(|changed| *changed);
        if loosened.count() == 0 {
            return None;
        }
        let known = BTreeMap::from([(function, Arc::new(guesses))]);
        Some(Self { guesses: Arc::new(Mutex::new(known)), ..self.clone() })
    }

    /// The settings as they hold for one function.
    pub(crate) fn for_function<'a>(
        &'a self,
        program: &'a Program,
        function: FuncId,
    ) -> FunctionSpec<'a> {
        let guesses = self.guesses(program, function);
        let types = self.settings.types.iter();
        let types = types.flat_map(|(name, of_type)| {
            let named = types_named(program, name);
            of_type.places.iter().flat_map(move |(place, set)| {
                named.clone().into_iter().map(move |ty| (ty, &place.0, set))
            })
        });
        let name = &program.functions[function].name;
        FunctionSpec {
            own: self.settings.function.get(name),
            defaults: &self.settings.defaults,
            types: types.collect(),
            guesses,
            lazy: self.lazy,
        }
    }
}

/// The types that C spells so, or that a `typedef` gives this name.
pub(crate) fn types_named(program: &Program, name: &str) -> Vec<CTypeId> {
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let wanted = words(name);
    let spelled = program.types.iter().filter(|(id, _)| program.types.spell(*id, "") == wanted);
    let mut found: Vec<CTypeId> = spelled.map(|(id, _)| id).collect();
    found.extend(program.typedefs.get(&wanted).filter(|id| !found.contains(id)));
    found
}

/// The struct or union objects that a place lies in, from the outermost: how many of the place's
/// steps lead to it, and its type.
pub(crate) type Trail = Vec<(usize, CTypeId)>;

/// The settings of one function.
pub(crate) struct FunctionSpec<'a> {
    own: Option<&'a super::settings::FunctionSettings>,
    defaults: &'a Limits,
    types: Vec<(CTypeId, &'a Place, &'a PlaceSettings)>,
    guesses: Arc<Guesses>,
    lazy: bool,
}

/// A limit: the function's own, else everybody's, else the built-in one.
macro_rules! limit {
    ($(#[$doc:meta])* $name:ident: $ty:ty = $built_in:expr) => {
        $(#[$doc])*
        pub(crate) fn $name(&self) -> $ty {
            self.own.and_then(|own| own.$name).or(self.defaults.$name).unwrap_or($built_in)
        }
    };
}

impl FunctionSpec<'_> {
    limit!(max_length: u64 = MAX_LENGTH);
    limit!(max_string: u64 = MAX_STRING);
    limit!(max_records: u64 = MAX_RECORDS);
    limit!(depth: u32 = DEPTH);
    limit!(null: bool = false);

    /// Whether nobody states anything about what the pointers at a place, and within what it leads to,
    /// lead to, so that it comes into being.
    pub(crate) fn comes_into_being(&self, place: &Place) -> bool {
        let named = self
            .own
            .is_some_and(|own| own.places.keys().any(|pattern| pattern.0.root == place.root));
        let limited = self.states_limits() || self.states_depth();
        self.lazy && self.types.is_empty() && !named && !limited
    }

    /// Whether the user says how large arrays and strings can be.
    fn states_limits(&self) -> bool {
        let own = self.own.map(|own| [own.max_length, own.max_string, own.max_records]);
        let all = self.defaults;
        let all = [all.max_length, all.max_string, all.max_records];
        own.into_iter().flatten().chain(all).any(|limit| limit.is_some())
    }

    /// Whether the user says that pointers are null, or that they are not.
    pub(crate) fn stated_null(&self) -> Option<bool> {
        self.own.and_then(|own| own.null).or(self.defaults.null)
    }

    /// The globals that the user wants as inputs, if that is said.
    pub(crate) fn globals(&self) -> Option<&[String]> {
        self.own?.globals.as_deref()
    }

    /// How many preconditions there are.
    pub(crate) fn preconditions(&self) -> &[String] {
        self.own.map_or(&[], |own| &own.preconditions)
    }

    /// The places that the user's settings of this function name.
    pub(crate) fn set_places(&self) -> impl Iterator<Item = &Place> {
        self.own.into_iter().flat_map(|own| own.places.keys().map(|pattern| &pattern.0))
    }

    /// Whether the user, rather than a guess or a default, says how large an array or string at a
    /// place can be.
    pub(crate) fn states_size(&self, place: &Place, trail: &Trail) -> bool {
        let own = self.own.into_iter().flat_map(|own| &own.places);
        let set = by_place(own.map(|(pattern, set)| (&pattern.0, set)), place);
        let set = set.or(&by_type(self.types.iter().copied(), place, trail));
        let own = self.own.map(|own| (own.max_length, own.max_string, own.max_records));
        let all = self.defaults;
        let somewhere = |limit: (Option<u64>, Option<u64>, Option<u64>)| {
            limit.0.is_some() && limit.1.is_some() && limit.2.is_some()
        };
        set.max.is_some()
            || own.is_some_and(somewhere)
            || somewhere((all.max_length, all.max_string, all.max_records))
    }

    /// Whether the user, rather than a guess or a default, says what a pointer at a place points to.
    pub(crate) fn states_shape(&self, place: &Place, trail: &Trail) -> bool {
        let own = self.own.into_iter().flat_map(|own| &own.places);
        let set = by_place(own.map(|(pattern, set)| (&pattern.0, set)), place);
        let set = set.or(&by_type(self.types.iter().copied(), place, trail));
        set.implied_kind().is_some()
    }

    /// Whether the user, rather than a guess, says what the length of an array at a place is.
    pub(crate) fn states_length(&self, place: &Place, trail: &Trail) -> bool {
        let own = self.own.into_iter().flat_map(|own| &own.places);
        let set = by_place(own.map(|(pattern, set)| (&pattern.0, set)), place);
        let set = set.or(&by_type(self.types.iter().copied(), place, trail));
        set.length.is_some()
    }

    /// Whether the user says how deep pointers are followed.
    pub(crate) fn states_depth(&self) -> bool {
        self.own.and_then(|own| own.depth).or(self.defaults.depth).is_some()
    }

    /// What holds for an exact place. Places in the result are absolute.
    pub(crate) fn at(&self, place: &Place, trail: &Trail) -> PlaceSettings {
        let own = self.own.into_iter().flat_map(|own| &own.places);
        let mut found = by_place(own.map(|(pattern, set)| (&pattern.0, set)), place);
        let types = self.types.iter().copied();
        found = found.or(&by_type(types, place, trail));
        let guesses = self.guesses.places.iter();
        found = found.or(&by_place(guesses.map(|guess| (&guess.place, &guess.settings)), place));
        let guesses = self.guesses.types.iter();
        let guesses =
            guesses.map(|(ty, guess): &(CTypeId, Guess)| (*ty, &guess.place, &guess.settings));
        found.or(&by_type(guesses, place, trail))
    }
}

fn by_place<'a>(
    all: impl Iterator<Item = (&'a Place, &'a PlaceSettings)>,
    place: &Place,
) -> PlaceSettings {
    let mut matching: Vec<_> = all.filter(|(pattern, _)| pattern.matches(place)).collect();
    matching.sort_by_key(|(pattern, _)| pattern.wildcards());
    let prefix = place.parent().unwrap_or_default();
    matching
        .into_iter()
        .fold(PlaceSettings::default(), |found, (_, set)| found.or(&absolute(set, &prefix)))
}

fn by_type<'a>(
    all: impl Iterator<Item = (CTypeId, &'a Place, &'a PlaceSettings)>,
    place: &Place,
    trail: &Trail,
) -> PlaceSettings {
    let mut matching = Vec::new();
    for (ty, pattern, set) in all {
        for (depth, _) in trail.iter().filter(|(_, enclosing)| *enclosing == ty) {
            if pattern.matches_steps(&place.steps[*depth..]) {
                matching.push((*depth, pattern.wildcards(), set));
            }
        }
    }
    matching.sort_by_key(|(depth, wildcards, _)| (*depth, *wildcards));
    matching.into_iter().fold(PlaceSettings::default(), |found, (depth, _, set)| {
        let prefix = Place { root: place.root.clone(), steps: place.steps[..depth].to_vec() };
        found.or(&absolute(set, &prefix))
    })
}

/// The settings with every relative place in them (`.len`) made absolute.
fn absolute(set: &PlaceSettings, prefix: &Place) -> PlaceSettings {
    let mut set = set.clone();
    for pattern in set.of.iter_mut().chain(set.alias.iter_mut().flatten()) {
        make_absolute(pattern, prefix);
    }
    if let Some(LengthText(length)) = &mut set.length {
        make_length_absolute(length, prefix);
    }
    set
}

fn make_absolute(PlacePattern(place): &mut PlacePattern, prefix: &Place) {
    if place.root.is_empty() {
        let steps: Vec<Step> = prefix.steps.iter().chain(&place.steps).cloned().collect();
        *place = Place { root: prefix.root.clone(), steps };
    }
}

fn make_length_absolute(length: &mut Length, prefix: &Place) {
    match length {
        Length::Number(_) => {}
        Length::Place(place) => {
            let mut pattern = PlacePattern(std::mem::take(place));
            make_absolute(&mut pattern, prefix);
            *place = pattern.0;
        }
        Length::Op(_, a, b) => {
            make_length_absolute(a, prefix);
            make_length_absolute(b, prefix);
        }
    }
}
