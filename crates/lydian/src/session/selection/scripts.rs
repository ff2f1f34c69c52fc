//! Values of variables in scripts make way for what the program itself does: a volatile variable keeps its
//! first value, or a handler of interrupts writes it.
//!
//! Explorations take any value for each volatile read. A reader of the test would rather see how such a
//! value comes about.

use std::ops::RangeInclusive;

use lydian_ir::FuncId;
use lydian_ir::device::{INTERRUPT, ReadPlace, ScriptedInterrupt};
use lydian_ir::interp::End;
use lydian_ir::test::{ExternalResult, GlobalInput, Image, Test};
use lydian_native::Outcome;

use super::byte_holders::number;
use super::reduction::TestReduction;
use crate::error::Error;

/// The most reads of a variable before which a handler is tried.
const MOST_READS: u32 = 4;

/// The most reads of devices that a handler may make.
const MOST_DEVICE_READS: usize = 8;

/// The values that reads of devices by handlers get at first: no bit, and all.
const DEVICE_VALUES: [u8; 2] = [0, 0xff];

impl TestReduction<'_, '_, '_, '_> {
    /// Removes handlers of interrupts, each with the reads of devices that it makes.
    pub(super) fn drop_handlers(&mut self) -> Result<(), Error> {
        let mut at = 0;
        while at < self.test.externals.len() {
            let is_dropped =
                self.test.externals[at].function == INTERRUPT && self.drop_handler(at)?;
            at += usize::from(!is_dropped);
        }
        Ok(())
    }

    /// The same for one at a position. The reads that it makes follow it.
    fn drop_handler(&mut self, at: usize) -> Result<bool, Error> {
        for reads in 0..=MOST_DEVICE_READS {
            let mut candidate = self.test.clone();
            if at + 1 + reads > candidate.externals.len() {
                break;
            }
            candidate.externals.drain(at..at + 1 + reads);
            if self.take(candidate)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// How the interpreter says that a test ends; none if it does not end soon.
    fn end_of(&self, test: &Test) -> Option<End> {
        self.session.runner.follow(test, self.steps).map(|run| run.end)
    }

    /// Puts memory or handlers in the place of values in the script, where the test serves its purpose so.
    pub(super) fn run_handlers(&mut self) -> Result<(), Error> {
        let reads = self.test.externals.iter().filter_map(ExternalResult::read_place);
        let mut places: Vec<ReadPlace> =
            reads.filter(|place| matches!(place, ReadPlace::Variable(..))).collect();
        places.sort_by_key(ToString::to_string);
        places.dedup();
        for place in places {
            self.unscript(&place)?;
        }
        self.run_earlier()
    }

    /// Lets handlers run before earlier reads.
    fn run_earlier(&mut self) -> Result<(), Error> {
        for at in 0..self.test.externals.len() {
            while let Some(interrupt) = self.test.externals[at].scripted_interrupt()
                && interrupt.read > 1
            {
                let earlier = ScriptedInterrupt { read: interrupt.read - 1, ..interrupt };
                let mut candidate = self.test.clone();
                candidate.externals[at] = ExternalResult::interrupt(&earlier);
                if candidate.externals[..at].contains(&candidate.externals[at])
                    || !self.is_promising(&candidate)
                    || self.session.runner.has_race(&candidate)
                    || !self.take(candidate)?
                {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Puts memory or handlers in the place of the values of one variable.
    fn unscript(&mut self, place: &ReadPlace) -> Result<(), Error> {
        let ReadPlace::Variable(variable, offset) = place else { return Ok(()) };
        let is_here = |entry: &ExternalResult| entry.read_place().as_ref() == Some(place);
        let values: Vec<Vec<u8>> = self
            .test
            .externals
            .iter()
            .filter(|entry| is_here(entry))
            .map(|entry| entry.result.bytes.clone())
            .collect();
        let mut unset = self.test.clone();
        unset.externals.retain(|entry| !is_here(entry));
        let beginnings = beginnings(&values);
        let beginnings = beginnings.iter();
        let set = |bytes: &Vec<u8>| self.with_variable(&unset, (variable, *offset), bytes);
        let mut bases: Vec<Test> = beginnings.filter_map(set).collect();
        bases.push(unset);
        for base in &bases {
            if self.take(base.clone())? {
                return Ok(());
            }
        }
        let runs = self.test.externals.iter().any(|entry| entry.function == INTERRUPT);
        let handlers = match runs {
            true => Vec::new(),
            false => self.handlers_writing(variable),
        };
        // A run that outruns its script asks for one read more.
        let asked = self.measured.run.outcome == Outcome::OutranScript;
        let last = (values.len() as u32 + u32::from(asked)).min(MOST_READS);
        let changes = values.windows(2).position(|two| two[0] != two[1]);
        let first = changes.map(|before| before as u32 + 2).filter(|read| *read <= last);
        let order = first.into_iter().chain((1..=last).filter(|read| Some(*read) != first));
        let most = self.session.project.most_interrupts();
        for (read, times) in
            (1..=most).flat_map(|times| order.clone().map(move |read| (read, times)))
        {
            for handler in &handlers {
                for base in &bases {
                    if self.runs_before(base, *handler, (place, read..=read + times - 1))? {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// A test with other bytes of a variable at the beginning; none if there is no such variable.
    fn with_variable(
        &self,
        test: &Test,
        (name, offset): (&str, u64),
        bytes: &[u8],
    ) -> Option<Test> {
        let mut test = test.clone();
        let program = self.program();
        let global = program.global_named(name)?;
        let known = test.globals.iter().position(|global| global.name == name);
        let known = known.unwrap_or_else(|| {
            let image = Image::initial(program, global);
            test.globals.push(GlobalInput { name: name.to_owned(), image });
            test.globals.len() - 1
        });
        let offset = offset as usize;
        let target = test.globals[known].image.bytes.get_mut(offset..offset + bytes.len())?;
        target.copy_from_slice(bytes);
        Some(test)
    }

    /// The handlers that write a variable and may run while the function is tested.
    fn handlers_writing(&self, variable: &str) -> Vec<FuncId> {
        let Some(global) = self.program().global_named(variable) else { return Vec::new() };
        self.session.project.handlers_writing(self.session.entry, global)
    }

    /// Whether the test serves its purpose with a handler that runs before some reads.
    fn runs_before(
        &mut self,
        base: &Test,
        handler: FuncId,
        (place, reads): (&ReadPlace, RangeInclusive<u32>),
    ) -> Result<bool, Error> {
        let handler = self.program().functions[handler].name.clone();
        for value in DEVICE_VALUES {
            let mut candidate = base.clone();
            let interrupts = reads.clone().map(|read| {
                let (handler, place) = (handler.clone(), place.clone());
                ExternalResult::interrupt(&ScriptedInterrupt { handler, place, read })
            });
            candidate.externals.extend(interrupts);
            let asks = self.add_device_reads(&mut candidate, value);
            let returns = self.measured.run.outcome != Outcome::OutranScript
                || self.end_of(&candidate) == Some(End::Returned);
            if returns
                && self.is_promising(&candidate)
                && !self.session.runner.has_race(&candidate)
                && self.take(candidate)?
            {
                return Ok(true);
            }
            if !asks {
                break;
            }
        }
        Ok(false)
    }

    /// Adds values for the reads of devices that a handler makes. Returns whether there are any.
    fn add_device_reads(&mut self, candidate: &mut Test, value: u8) -> bool {
        for added in 0..MOST_DEVICE_READS {
            let run = self.session.runner.follow(candidate, self.steps);
            let asked = run.filter(|run| run.end == End::OutrunsScript);
            let Some((read, made)) = asked.and_then(|run| Some((run.outrun?, run.scripted_reads)))
            else {
                return added > 0;
            };
            let bytes = vec![value; read.bytes as usize];
            let bytes = self.session.project.spec.devices.given(read.place, &bytes);
            let entry = ExternalResult::device_read(&ReadPlace::Device(read.place), bytes);
            let is_read = |entry: &ExternalResult| entry.read_place().is_some();
            let mut reads =
                candidate.externals.iter().enumerate().filter(|(_, entry)| is_read(entry));
            let at = reads.nth(made as usize).map_or(candidate.externals.len(), |(at, _)| at);
            candidate.externals.insert(at, entry);
            if added == 0 {
                put_interrupt_before(candidate, at);
            }
        }
        true
    }

    /// Clears bits of values in the script.
    pub(super) fn clear_bits(&mut self) -> Result<(), Error> {
        for at in 0..self.test.externals.len() {
            let entry = &self.test.externals[at];
            if entry.read_place().is_none() || number(&entry.result.bytes, false).count_ones() < 2 {
                continue;
            }
            for bit in (0..8 * entry.result.bytes.len()).rev() {
                let mut candidate = self.test.clone();
                candidate.externals[at].result.bytes[bit / 8] &= !(1 << (bit % 8));
                self.take(candidate)?;
            }
        }
        Ok(())
    }
}

/// Values with which a variable may begin that has these values when it is read: the first, and those
/// from which counting leads to the last.
fn beginnings(values: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let (Some(first), Some(last)) = (values.first(), values.last()) else { return Vec::new() };
    let last = &last[..last.len().min(8)];
    let whole = |number: u64| number.to_le_bytes()[..last.len()].to_vec();
    let last = number(last, false) as u64;
    vec![first.clone(), whole(last.wrapping_sub(1)), whole(last.wrapping_add(1))]
}

/// Puts the only handler of a script before an entry, the first that it reads.
fn put_interrupt_before(test: &mut Test, at: usize) {
    let is_interrupt = |entry: &ExternalResult| entry.function == INTERRUPT;
    let mut all = test.externals.iter().enumerate().filter(|(_, entry)| is_interrupt(entry));
    if let (Some((from, _)), None) = (all.next(), all.next())
        && from > at
    {
        let interrupt = test.externals.remove(from);
        test.externals.insert(at, interrupt);
    }
}
