//! The assumptions about inputs: the user's settings over guesses, looked up by place.
//!
//! Several settings may apply to one place. An exact place has the highest precedence, then patterns
//! with fewer `[_]`, then settings for every object of a type (the outermost object first). All of the
//! user's settings precede all guesses, and defaults come last. Each attribute is taken from the first
//! setting that has it.

mod contract;
pub mod fit;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use lydian_ir::device::DeviceMap;
use lydian_ir::{CTypeId, FuncId, Program};
use lydian_objective::{Assumption, AssumptionKind};

use crate::globals::GlobalUses;
use crate::guess::usage::Usage;
use crate::guess::{Guess, Guesses, guess};
use crate::place::{InputPlace, Step};
use crate::settings::defaults::{DEPTH, MAX_LENGTH, MAX_RECORDS, MAX_STRING};
use crate::settings::length::Length;
use crate::settings::{
    FunctionSettings, LengthText, Limits, PlacePattern, PlaceSettings, RESULT, Settings,
    TypeSettings,
};
use crate::type_names::types_named;

pub use contract::Contract;

/// The settings for a program, and the facts about its pointers that guesses are made from.
#[derive(Clone, Debug, Default)]
pub struct InputSpec {
    /// The user's settings.
    pub settings: Settings,
    /// The program's uses of pointers.
    pub usage: Usage,
    /// The program's uses of globals.
    pub globals: GlobalUses,
    /// Whether memory without settings is initialised lazily ([`crate::lazy`]) instead of being
    /// guessed.
    pub lazy: bool,
    /// What is stated of devices.
    pub devices: Arc<DeviceMap>,
    /// The guesses made so far. Clones share them.
    guesses: Arc<Mutex<BTreeMap<FuncId, Arc<Guesses>>>>,
}

/// An invariant of every object of a type among the inputs, which holds when the function is called.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invariant {
    /// The type.
    pub ty: CTypeId,
    /// The name of the type in the settings.
    pub name: String,
    /// The C expression.
    pub text: String,
    /// The function of a pointer to the object that it was compiled to.
    pub function: FuncId,
}

impl Invariant {
    /// The invariant as a sentence.
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
        let devices = Arc::default();
        Self { settings, usage, globals, lazy, devices, guesses: Arc::default() }
    }

    /// The name by which a precondition is compiled into the program: a function of the same
    /// parameters as `function`, for the precondition at position `n` in the settings.
    pub fn precondition_name(function: &str, n: usize) -> String {
        format!("lydian_pre_{function}_{n}")
    }

    /// The name of the function that an invariant is compiled to. It takes a pointer to the object. The
    /// invariant is the `n`-th of the type at position `ty` in the settings.
    pub fn invariant_name(ty: usize, n: usize) -> String {
        format!("lydian_inv_{ty}_{n}")
    }

    /// Whether a function is one that is compiled for settings.
    pub fn is_of_settings(name: &str) -> bool {
        name.starts_with("lydian_pre_") || name.starts_with("lydian_inv_")
    }

    /// The invariants of the settings whose types the program has.
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

    /// The guesses for a function that settings do not override, with only the attributes that they
    /// add. There are none for lazily initialised memory.
    pub fn guesses_in_effect(&self, program: &Program, function: FuncId) -> Guesses {
        let all = self.for_function(program, function);
        let own = self.settings.function.get(&program.functions[function].name);
        let states_no_place = own.is_none_or(|own| own.places.is_empty());
        let mut guesses = (*all.guesses).clone();
        guesses.places.retain(|guess| !all.comes_into_being(&guess.place));
        if states_no_place && all.comes_into_being(&InputPlace::root(String::new())) {
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

    /// Whether the user's settings of a function already state an assumption: `before` that no further
    /// elements lie before an object, `alias` which other objects a pointer may lead to.
    pub fn states(&self, program: &Program, function: FuncId, assumption: &Assumption) -> bool {
        let Some(own) = self.settings.function.get(&program.functions[function].name) else {
            return false;
        };
        let is_set = |says: &dyn Fn(&PlaceSettings) -> bool| {
            let places =
                assumption.subject.split(" and ").filter_map(|at| InputPlace::parse(at).ok());
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

    /// Whether the user states something of the inputs of a function: of its parameters and variables, of
    /// types, or of what undefined functions give and write. That a whole program begins with the first
    /// values of its variables does not count.
    pub fn restricts(&self, function: &str, whole: bool) -> bool {
        let Settings { defaults, function: functions, types, .. } = &self.settings;
        let is_of_inputs = |(name, own): (&String, &FunctionSettings)| {
            let globals = own.globals.clone().filter(|_| !whole);
            let own = FunctionSettings { globals, ..own.clone() };
            own.has_contract()
                || own.places.keys().any(|place| place.0.root == RESULT)
                || (name == function && own != FunctionSettings::default())
        };
        defaults.null.is_some()
            || types.values().any(|of_type| *of_type != TypeSettings::default())
            || functions.iter().any(is_of_inputs)
    }

    /// The same without the guesses that tie a length to an array, or a pointer to its end, in the
    /// inputs of one function; none if there are no such guesses. An array whose guessed length is a
    /// value of the inputs then has any length up to its limit, and a pointer that is guessed to end an
    /// array points to any element of it, or just past it.
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
                named.clone().into_iter().map(move |ty| TypeMember {
                    ty,
                    place: &place.0,
                    settings: set,
                })
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

/// The struct or union objects that a place lies in, from the outermost: how many of the place's
/// steps lead to it, and its type.
pub(crate) type Trail = Vec<(usize, CTypeId)>;

/// The settings or the guess for a member of every object of a type.
#[derive(Clone, Copy)]
struct TypeMember<'a> {
    ty: CTypeId,
    /// The member, relative to the object.
    place: &'a InputPlace,
    settings: &'a PlaceSettings,
}

/// The settings of one function.
pub(crate) struct FunctionSpec<'a> {
    own: Option<&'a crate::settings::FunctionSettings>,
    defaults: &'a Limits,
    types: Vec<TypeMember<'a>>,
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

    /// Whether the user states nothing about the targets of the pointers at a place and within its
    /// targets, so that they are initialised lazily.
    pub(crate) fn comes_into_being(&self, place: &InputPlace) -> bool {
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

    /// The user's statement that pointers may be null or may not, if there is one.
    pub(crate) fn stated_null(&self) -> Option<bool> {
        self.own.and_then(|own| own.null).or(self.defaults.null)
    }

    /// The globals that the user named as inputs, if any were named.
    pub(crate) fn globals(&self) -> Option<&[String]> {
        self.own?.globals.as_deref()
    }

    /// The preconditions.
    pub(crate) fn preconditions(&self) -> &[String] {
        self.own.map_or(&[], |own| &own.preconditions)
    }

    /// The places that the user's settings of this function name.
    pub(crate) fn set_places(&self) -> impl Iterator<Item = &InputPlace> {
        self.own.into_iter().flat_map(|own| own.places.keys().map(|pattern| &pattern.0))
    }

    /// Whether the user, rather than a guess or a default, says how large an array or string at a
    /// place can be.
    pub(crate) fn states_size(&self, place: &InputPlace, trail: &Trail) -> bool {
        let own = self.own.into_iter().flat_map(|own| &own.places);
        let set = by_place(own.map(|(pattern, set)| (&pattern.0, set)), place);
        let set = set.or(&by_type(self.types.iter().copied(), place, trail));
        let own = self.own.map(|own| [own.max_length, own.max_string, own.max_records]);
        let all = self.defaults;
        let are_all_set = |limits: [Option<u64>; 3]| limits.iter().all(Option::is_some);
        set.max.is_some()
            || own.is_some_and(are_all_set)
            || are_all_set([all.max_length, all.max_string, all.max_records])
    }

    /// Whether the user, rather than a guess or a default, says what a pointer at a place points to.
    pub(crate) fn states_shape(&self, place: &InputPlace, trail: &Trail) -> bool {
        let own = self.own.into_iter().flat_map(|own| &own.places);
        let set = by_place(own.map(|(pattern, set)| (&pattern.0, set)), place);
        let set = set.or(&by_type(self.types.iter().copied(), place, trail));
        set.implied_kind().is_some()
    }

    /// Whether the user, rather than a guess, says what the length of an array at a place is.
    pub(crate) fn states_length(&self, place: &InputPlace, trail: &Trail) -> bool {
        let own = self.own.into_iter().flat_map(|own| &own.places);
        let set = by_place(own.map(|(pattern, set)| (&pattern.0, set)), place);
        let set = set.or(&by_type(self.types.iter().copied(), place, trail));
        set.length.is_some()
    }

    /// Whether the user says how deep pointers are followed.
    pub(crate) fn states_depth(&self) -> bool {
        self.own.and_then(|own| own.depth).or(self.defaults.depth).is_some()
    }

    /// The settings that hold for an exact place. Places in the result are absolute.
    pub(crate) fn at(&self, place: &InputPlace, trail: &Trail) -> PlaceSettings {
        let own = self.own.into_iter().flat_map(|own| &own.places);
        let mut found = by_place(own.map(|(pattern, set)| (&pattern.0, set)), place);
        let types = self.types.iter().copied();
        found = found.or(&by_type(types, place, trail));
        let guesses = self.guesses.places.iter();
        found = found.or(&by_place(guesses.map(|guess| (&guess.place, &guess.settings)), place));
        let guesses = self.guesses.types.iter();
        let guesses = guesses.map(|(ty, guess): &(CTypeId, Guess)| TypeMember {
            ty: *ty,
            place: &guess.place,
            settings: &guess.settings,
        });
        found.or(&by_type(guesses, place, trail))
    }
}

fn by_place<'a>(
    all: impl Iterator<Item = (&'a InputPlace, &'a PlaceSettings)>,
    place: &InputPlace,
) -> PlaceSettings {
    let mut matching: Vec<_> = all.filter(|(pattern, _)| pattern.matches(place)).collect();
    matching.sort_by_key(|(pattern, _)| pattern.wildcards());
    let prefix = place.parent().unwrap_or_default();
    matching
        .into_iter()
        .fold(PlaceSettings::default(), |found, (_, set)| found.or(&absolute(set, &prefix)))
}

fn by_type<'a>(
    all: impl Iterator<Item = TypeMember<'a>>,
    place: &InputPlace,
    trail: &Trail,
) -> PlaceSettings {
    let mut matching = Vec::new();
    for member in all {
        for (depth, _) in trail.iter().filter(|(_, enclosing)| *enclosing == member.ty) {
            if member.place.matches_steps(&place.steps[*depth..]) {
                matching.push((*depth, member.place.wildcards(), member.settings));
            }
        }
    }
    matching.sort_by_key(|(depth, wildcards, _)| (*depth, *wildcards));
    matching.into_iter().fold(PlaceSettings::default(), |found, (depth, _, set)| {
        let prefix = InputPlace { root: place.root.clone(), steps: place.steps[..depth].to_vec() };
        found.or(&absolute(set, &prefix))
    })
}

/// The settings with every relative place in them (`.len`) made absolute.
fn absolute(set: &PlaceSettings, prefix: &InputPlace) -> PlaceSettings {
    let mut set = set.clone();
    for pattern in set.of.iter_mut().chain(set.alias.iter_mut().flatten()) {
        make_absolute(pattern, prefix);
    }
    if let Some(LengthText(length)) = &mut set.length {
        make_length_absolute(length, prefix);
    }
    set
}

fn make_absolute(PlacePattern(place): &mut PlacePattern, prefix: &InputPlace) {
    if place.root.is_empty() {
        let steps: Vec<Step> = prefix.steps.iter().chain(&place.steps).cloned().collect();
        *place = InputPlace { root: prefix.root.clone(), steps };
    }
}

fn make_length_absolute(length: &mut Length, prefix: &InputPlace) {
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
