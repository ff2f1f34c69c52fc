//! Contracts of functions that the program leaves undefined: their possible writes, and their results.

use lydian_ir::{FuncId, Program};

use crate::place::InputPlace;
use crate::settings::{PlacePattern, PlaceSettings, RESULT};
use crate::spec::InputSpec;

/// The contract of an undefined function.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contract {
    /// The places that it may write and the program can read: they begin with a parameter, through
    /// which they lead, or with a global variable. Empty if the function is pure; none if the user does
    /// not say.
    pub writes: Option<Vec<InputPlace>>,
    /// The settings of its result.
    pub returns: PlaceSettings,
}

impl Contract {
    /// Whether the user says that it writes nothing.
    pub fn is_pure(&self) -> bool {
        self.writes.as_ref().is_some_and(Vec::is_empty)
    }
}

impl InputSpec {
    /// The contract of a function that the program leaves undefined. [`crate::spec::fit`] checks that
    /// its places are the function's.
    pub fn contract_of(&self, program: &Program, function: FuncId) -> Contract {
        let name = &program.functions[function].name;
        let Some(own) = self.settings.function.get(name) else { return Contract::default() };
        let named = own.writes.as_ref();
        let named = named.map(|all| all.iter().map(|place| place.0.clone()).collect());
        let is_pure = own.pure == Some(true);
        let writes = named.or_else(|| is_pure.then(Vec::new));
        let result = own.places.get(&PlacePattern(InputPlace::root(RESULT)));
        Contract { writes, returns: result.cloned().unwrap_or_default() }
    }
}
