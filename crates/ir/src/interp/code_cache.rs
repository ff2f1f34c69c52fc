//! The code of the functions of a program, made when each is first called.

use std::cell::OnceCell;

use lydian_base::EntityId;

use super::code::{Code, Op};
use super::compile::{Settings, compile};
use super::memory::Memory;
use super::observe::EventLevel;
use crate::program::arith;
use crate::program::{FuncId, Program};

/// The code of every function that ran, made when it is first called.
pub(super) struct CodeCache<'p> {
    program: &'p Program,
    overflow: arith::Overflow,
    events: EventLevel,
    hosted: bool,
    globals: Vec<u64>,
    codes: Vec<OnceCell<Option<Code<'p>>>>,
}

impl<'p> CodeCache<'p> {
    /// The code is for this memory, in which the globals lie where they lie in every run.
    pub(super) fn new(
        program: &'p Program,
        memory: &Memory,
        overflow: arith::Overflow,
        events: EventLevel,
        hosted: bool,
    ) -> Self {
        let globals = program.globals.ids().map(|id| memory.global_address(id)).collect();
        let codes = program.functions.ids().map(|_| OnceCell::new()).collect();
        Self { program, overflow, events, hosted, globals, codes }
    }

    /// Whether there are events for an observer.
    #[inline]
    pub(super) fn is_watched(&self) -> bool {
        self.events > EventLevel::Nothing
    }

    /// The code of a function; `None` where it has no body or needs more room than there is.
    #[inline]
    pub(super) fn get(&self, function: FuncId) -> Option<&Code<'p>> {
        let made = self.codes[function.index()].get_or_init(|| {
            let body = self.program.functions[function].body.as_ref()?;
            let settings = Settings {
                overflow: self.overflow,
                events: self.events,
                hosted: self.hosted,
                globals: &self.globals,
            };
            compile(self.program, function, body, settings)
        });
        made.as_ref()
    }
}

/// The code in which a run stops within a run of statements, made when its limit of steps comes near.
pub(super) type PatchedCode = OnceCell<Vec<Op>>;
