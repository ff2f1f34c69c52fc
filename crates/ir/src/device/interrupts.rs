//! Handlers of interrupts that run where a script says so: just before a volatile read.

use std::fmt;
use std::str::FromStr;

use super::ReadPlace;
use crate::program::ctype::CType;
use crate::program::{FuncId, GlobalId, Program};
use crate::test::{ExternalResult, Image};

/// Instead of a function's name in [`ExternalResult`]: a handler of interrupts runs. `object` says which
/// and where ([`ScriptedInterrupt`]); there is no result.
pub const INTERRUPT: &str = "*interrupt";

/// The variables that stand for registers which keep handlers from running, where code sets them: those of
/// ARM's processors. A number other than 0 is taken for a mask of all handlers.
pub const MASKS: [&str; 3] = ["lydian_primask", "lydian_faultmask", "lydian_basepri"];

/// Functions that keep handlers from running, where the program leaves them undefined, and those that let
/// them run again: CMSIS's, IAR's, AVR's and TI's.
const DISABLING: [&str; 4] = ["__disable_irq", "__disable_interrupt", "cli", "_disable_interrupts"];
const ENABLING: [&str; 4] = ["__enable_irq", "__enable_interrupt", "sei", "_enable_interrupts"];

/// Whether a call of an undefined function disables interrupts (`true`) or enables them; none if it does
/// neither.
pub fn disables_interrupts(function: &str) -> Option<bool> {
    let disables = DISABLING.contains(&function);
    (disables || ENABLING.contains(&function)).then_some(disables)
}

/// A handler that runs just before a volatile read.
///
/// Reads are counted by their place, from 1: of a device all reads, of a variable those that no handler
/// makes. While a handler runs, no other does, and volatile variables are memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ScriptedInterrupt {
    /// The name of the handler, a function without parameters.
    pub handler: String,
    /// Where the read is made.
    pub place: ReadPlace,
    /// The number of the read among those of its place, from 1.
    pub read: u32,
}

impl fmt::Display for ScriptedInterrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.handler, self.place, self.read)
    }
}

impl FromStr for ScriptedInterrupt {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ');
        let mut word = || words.next().filter(|word| !word.is_empty()).ok_or(());
        let (handler, place, read) = (word()?, word()?, word()?);
        let read = read.parse().map_err(|_| ())?;
        if words.next().is_some() || read == 0 {
            return Err(());
        }
        Ok(Self { handler: handler.to_owned(), place: place.parse()?, read })
    }
}

impl ExternalResult {
    /// A handler of interrupts runs.
    pub fn interrupt(interrupt: &ScriptedInterrupt) -> Self {
        Self { object: Some(interrupt.to_string()), ..Self::new(INTERRUPT, Image::default()) }
    }

    /// The handler that runs; none if this is none, or does not say which and where.
    pub fn scripted_interrupt(&self) -> Option<ScriptedInterrupt> {
        let object = self.object.as_deref().filter(|_| self.function == INTERRUPT);
        object.and_then(|text| text.parse().ok())
    }
}

/// Whether a function can run as a handler: it has a body, no parameters and no result.
pub fn can_interrupt(program: &Program, function: FuncId) -> bool {
    let function = &program.functions[function];
    let takes_nothing = match program.types.get(function.ty) {
        CType::Function { params, result, variadic, .. } => {
            params.is_empty() && !variadic && program.types.size(*result).unwrap_or(0) == 0
        }
        _ => false,
    };
    takes_nothing && function.body.is_some()
}

/// The variables of [`MASKS`] that a program has.
pub fn masks(program: &Program) -> impl Iterator<Item = GlobalId> {
    MASKS.into_iter().filter_map(|name| program.global_named(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupt_says_which_handler_runs_at_which_read() {
        let interrupt = ScriptedInterrupt {
            handler: "SysTick_Handler".to_owned(),
            place: ReadPlace::Variable("ring".to_owned(), 4),
            read: 2,
        };
        let entry = ExternalResult::interrupt(&interrupt);
        assert_eq!(entry.object.as_deref(), Some("SysTick_Handler ring+4 2"));
        assert_eq!(entry.scripted_interrupt(), Some(interrupt));
        let other = ExternalResult { function: "f".to_owned(), ..entry };
        assert_eq!(other.scripted_interrupt(), None);
        for text in
            ["", "f", "f ticks", "f ticks 0", "f ticks x", "f ticks 1 2", "f 4 1", " ticks 1"]
        {
            assert!(text.parse::<ScriptedInterrupt>().is_err(), "{text}");
        }
    }
}
