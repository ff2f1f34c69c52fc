//! Devices in tests: the values of their reads before the call, and checks of their writes behind it.

use lydian_ir::device::{ACCESS_TRAPS, DevicePlace, ReadPlace, ScriptedInterrupt};
use lydian_ir::test::{ExternalResult, PointerTarget, Test};

use super::super::assertion::{Assertion, Line};
use super::super::literal::Names;
use super::Body;
use crate::suite::json::number;
use crate::suite::observation::Observation;
use crate::suite::test::SuiteTest;
use crate::suite::value::Pointer;

/// The name of the header that tests of devices need beside [`super::super::HEADER`].
pub const DEVICES: &str = "lydian_devices.h";

/// What tests call, behind [`ACCESS_TRAPS`].
const SCRIPT: &str = include_str!("../devices.h");

/// The text of the header.
pub fn devices_header() -> String {
    let head = "/* What answers the accesses of devices in tests that Lydian writes: included twice, as\n \
                * lydian.h is. */\n#pragma GCC system_header\n\n\
                #ifndef LYDIAN_DEVICES_H\n#define LYDIAN_DEVICES_H\n\n";
    format!("{head}{ACCESS_TRAPS}{SCRIPT}")
}

/// Whether a test reads or writes devices.
pub fn accesses_devices(test: &SuiteTest) -> bool {
    has_script(&test.test)
        || test.observed.as_ref().is_some_and(|seen| !seen.device_writes.is_empty())
}

/// Whether a test has values of reads, or handlers that run.
fn has_script(test: &Test) -> bool {
    test.externals.iter().any(ExternalResult::is_of_script)
}

/// The places of a test's script.
fn places(test: &Test) -> impl Iterator<Item = ReadPlace> {
    test.externals
        .iter()
        .filter_map(|call| call.read_place().or_else(|| Some(call.scripted_interrupt()?.place)))
}

/// The arguments of a macro about an access.
fn access(place: &str, value: &[u8]) -> String {
    format!("{place}, {}, {:#x}", value.len(), number(value))
}

/// Where the accesses of devices by a test lie, and their sizes in bytes.
pub(crate) fn accesses(test: &SuiteTest) -> impl Iterator<Item = (u64, u64)> {
    let reads = test.test.externals.iter().filter_map(|call| match call.read_place()? {
        ReadPlace::Device(place) => Some((place.address, call.result.bytes.len() as u64)),
        _ => None,
    });
    let writes = test.observed.iter().flat_map(|seen| &seen.device_writes);
    reads.chain(writes.map(|write| (write.place.address, write.value.len() as u64)))
}

/// An address as C has it.
fn address(names: &Names<'_>, place: ReadPlace) -> Result<String, String> {
    let target = match place {
        ReadPlace::Device(place) => return Ok(place.to_string()),
        ReadPlace::Variable(name, 0) => return Ok(format!("&{name}")),
        ReadPlace::Variable(name, offset) => return Ok(format!("(char *)&{name} + {offset}")),
        ReadPlace::Object(position, offset) => PointerTarget::Object(position, offset),
    };
    names.pointer(&Pointer::To(target), None)
}

/// Whether volatile reads of an object of a test have values in its script. Then its page is guarded, which
/// must not be the stack's.
pub(super) fn is_scripted(test: &Test, position: usize) -> bool {
    let is_of_object = |place| matches!(place, ReadPlace::Object(at, _) if at as usize == position);
    places(test).any(is_of_object)
}

/// Whether a test's script is about variables that are read.
pub(super) fn scripts_variables(test: &Test) -> bool {
    places(test).any(|place| !matches!(place, ReadPlace::Device(_)))
}

impl Body<'_> {
    /// The script: the values of the reads, and the handlers of interrupts that run.
    pub(super) fn script(&mut self, names: &Names<'_>) -> Result<(), String> {
        for entry in &names.test.externals {
            if let Some(place) = entry.read_place() {
                let value = &entry.result.bytes;
                let line = match place {
                    ReadPlace::Device(place) => self.device_access("READS", place, value),
                    place => format!("READS({});", access(&address(names, place)?, value)),
                };
                self.line(line);
            }
            if let Some(ScriptedInterrupt { handler, place, read }) = entry.scripted_interrupt() {
                let place = match place {
                    ReadPlace::Device(place) => self.register_at(place),
                    place => address(names, place)?,
                };
                self.line(format!("RUNS({handler}, {place}, {read});"));
            }
        }
        Ok(())
    }

    /// Asserts the writes, and that all reads were made.
    pub(super) fn device_writes(&mut self, test: &Test, observed: &Observation) {
        for write in &observed.device_writes {
            let text = self.device_access("CHECK_WRITE", write.place, &write.value);
            self.assert(Assertion::Device { text });
        }
        if has_script(test) || !observed.device_writes.is_empty() {
            self.assert(Assertion::Device { text: "CHECK_DEVICES();".to_owned() });
        }
    }

    /// A macro about an access of a device, and what its value means.
    fn device_access(&self, name: &str, place: DevicePlace, value: &[u8]) -> String {
        let register = self.register(place, value.len());
        let text = format!("{name}({});", access(&register, value));
        match self.registers.remark(&register, place.address, value) {
            Some(remark) => format!("{text} /* {remark} */"),
            None => text,
        }
    }

    /// A place by the name of its register, or else by its number.
    fn register(&self, place: DevicePlace, size: usize) -> String {
        let name = self.registers.name(&self.program.types, place.address, size as u64);
        name.unwrap_or_else(|| place.to_string())
    }

    /// The same where only the address is known.
    fn register_at(&self, place: DevicePlace) -> String {
        let names = [4, 1, 2, 8].into_iter().map(|size| self.register(place, size));
        let number = place.to_string();
        names.into_iter().find(|name| *name != number).unwrap_or(number)
    }

    fn assert(&mut self, assertion: Assertion) {
        self.lines.push(Line::Assert(assertion));
    }
}
