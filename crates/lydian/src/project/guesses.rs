//! The guesses about inputs, for the user: each once, with the functions that it is for.

use indexmap::IndexMap;
use lydian_report::GuessSummary;

use super::Project;

impl Project {
    /// The guesses about inputs that settings do not overrule, each once. Those about types come last.
    pub fn guesses(&self) -> &[GuessSummary] {
        self.guesses.get_or_init(|| all(self))
    }
}

/// The parts of a guess in which guesses of several functions are the same.
#[derive(PartialEq, Eq, Hash)]
struct GuessKey {
    /// The type that it is about, if it is about one.
    ty: Option<String>,
    place: String,
    text: String,
}

fn all(project: &Project) -> Vec<GuessSummary> {
    let mut places: IndexMap<GuessKey, GuessSummary> = IndexMap::new();
    let mut types: IndexMap<GuessKey, GuessSummary> = IndexMap::new();
    for func in project.entries() {
        let name = &project.program.functions[*func].name;
        let guesses = project.spec.guesses_in_effect(&project.program, *func);
        let of_types = guesses.types.iter().map(|(ty, guess)| (Some(ty), guess));
        for (ty, guess) in guesses.places.iter().map(|guess| (None, guess)).chain(of_types) {
            let ty = ty.map(|ty| project.program.types.spell(*ty, ""));
            let (place, text) = (guess.place.to_string(), guess.settings.to_string());
            let found = if ty.is_some() { &mut types } else { &mut places };
            let known =
                found.entry(GuessKey { ty: ty.clone(), place: place.clone(), text: text.clone() });
            let known = known.or_insert_with(|| GuessSummary {
                ty,
                place,
                guess: text,
                reason: guess.reason.clone(),
                functions: Vec::new(),
            });
            if known.functions.last() != Some(name) {
                known.functions.push(name.clone());
            }
        }
    }
    places.into_values().chain(types.into_values()).collect()
}
