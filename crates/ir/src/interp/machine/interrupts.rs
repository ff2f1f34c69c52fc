//! Handlers of interrupts that run before volatile reads ([`crate::device::ScriptedInterrupt`]).

use super::calls::NO_SITE;
use super::externals::PendingInterrupt;
use crate::device::{ReadPlace, can_interrupt, disables_interrupts, masks};
use crate::interp::machine::{Machine, Step, Stop};
use crate::interp::outcome::{BadTest, End, UnknownCause};
use crate::interp::slots::WINDOW;
use crate::test::{ExternalResult, Test};

/// A handler that began.
#[derive(Clone, Copy, Debug)]
pub(super) struct RunningHandler {
    /// The number of its call.
    serial: u64,
    /// The number of the call that makes the read before which it runs.
    interrupted: u64,
}

impl Machine<'_, '_> {
    /// Takes a handler that is to run from a test's script.
    pub(super) fn take_interrupt(
        &mut self,
        test: &Test,
        entry: &ExternalResult,
    ) -> Result<(), BadTest> {
        let named = || BadTest::Interrupt(entry.object.clone().unwrap_or_default());
        let interrupt = entry.scripted_interrupt().ok_or_else(named)?;
        let handler = self.program.function_named(&interrupt.handler).ok_or_else(named)?;
        if !can_interrupt(self.program, handler) {
            return Err(named());
        }
        let (address, _) = self.read_address(test, &interrupt.place).ok_or_else(named)?;
        let reads = interrupt.read;
        self.externals.add_interrupt(PendingInterrupt { address, reads, handler });
        Ok(())
    }

    /// The address of a place, and whether a variable or object is there.
    pub(super) fn read_address(&self, test: &Test, place: &ReadPlace) -> Option<(u64, bool)> {
        Some(match place {
            ReadPlace::Device(place) => (place.address, false),
            ReadPlace::Variable(name, offset) => {
                let global = self.program.global_named(name)?;
                (self.memory.global_address(global).wrapping_add(*offset), true)
            }
            ReadPlace::Object(position, offset) => {
                let object = test.objects.get(*position as usize)?;
                (object.address.wrapping_add(*offset), true)
            }
        })
    }

    /// Whether a handler may run before a read, or ran before the one that is about to be made.
    pub(super) fn awaits_interrupts(&self) -> bool {
        self.handler.is_some() || self.externals.has_interrupts()
    }

    /// Whether a handler runs.
    pub(super) fn is_in_handler(&self) -> bool {
        self.handler.is_some_and(|handler| self.call_of(handler.serial).is_some())
    }

    /// A volatile read is about to be made. Begins the handler that is to run before it, and returns
    /// whether there is one; the read is made when it has returned.
    pub(super) fn interrupted(&mut self, address: u64) -> Step<bool> {
        if self.is_in_handler() {
            // What it reads of variables is memory.
            if self.is_device(address) {
                self.externals.count_read(address);
            }
            return Ok(false);
        }
        let reader = self.frame().serial;
        let resumes = self.handler.is_some_and(|handler| handler.interrupted == reader);
        if !resumes {
            self.externals.count_read(address);
        }
        self.handler = None;
        let Some(function) = self.externals.due_interrupt(address) else { return Ok(false) };
        if self.are_interrupts_disabled() {
            return Err(Stop::End(End::Unknown(UnknownCause::MaskedInterrupt)));
        }
        let Some(code) = self.codes.get(function) else { return Err(self.no_room()) };
        if self.calls.depth() as u64 >= u64::from(self.options.max_depth) {
            return Err(Stop::End(End::TooDeep(self.options.max_depth)));
        }
        // The operation that reads runs again.
        self.frame_mut().pc -= 1;
        let base = self.frame().base + WINDOW;
        self.push(code, base, NO_SITE, 0)?;
        let serial = self.frame().serial;
        self.handler = Some(RunningHandler { serial, interrupted: reader });
        Ok(true)
    }

    /// Whether code keeps handlers from running.
    fn are_interrupts_disabled(&self) -> bool {
        let functions = &self.program.functions;
        let called = self.externals.called().iter().rev();
        let mut said = called.filter_map(|call| disables_interrupts(&functions[*call].name));
        if said.next() == Some(true) {
            return true;
        }
        masks(self.program).any(|mask| {
            let address = self.memory.global_address(mask);
            self.memory.load(address, 4).is_ok_and(|(value, _)| value != 0)
        })
    }
}
