//! What the user says of functions that the program leaves undefined: what they write at most, and what
//! they return.

use lydian_ir::{FuncId, Program};

use super::place::Place;
use super::settings::{PlacePattern, PlaceSettings, RESULT};
use super::spec::InputSpec;

/// What an undefined function does, as far as the user says it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contract {
    /// What it writes of what the program can see, at most: places that begin with a parameter, through
    /// which they lead, or with a global variable. Nothing where it is pure. None where nobody says.
    pub writes: Option<Vec<Place>>,
    /// What is set for its result.
    pub returns: PlaceSettings,
}

impl Contract {
    /// Whether the user says that it writes nothing.
    pub fn is_pure(&self) -> bool {
        self.writes.as_ref().is_some_and(Vec::is_empty)
    }
}

impl InputSpec {
    /// What the user says of a function that the program leaves undefined. [`super::fit`] says whether
    /// the places are the function's.
    pub fn contract_of(&self, program: &Program, function: FuncId) -> Contract {
        let name = &program.functions[function].name;
        let Some(own) = self.settings.function.get(name) else { return Contract::default() };
        let named = own.writes.as_ref();
        let named = named.map(|all| all.iter().map(|place| place.0.clone()).collect());
        let is_pure = own.pure == Some(true);
        let writes = named.or_else(|| is_pure.then(Vec::new));
        let result = own.places.get(&PlacePattern(Place::root(RESULT)));
        Contract { writes, returns: result.cloned().unwrap_or_default() }
    }
}
