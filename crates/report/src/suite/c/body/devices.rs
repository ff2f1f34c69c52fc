//! Devices in tests: the values of their reads before the call, and checks of their writes behind it.

use lydian_ir::device::{ACCESS_TRAPS, DEVICE_READ, DevicePlace, ReadPlace};
use lydian_ir::test::{PointerTarget, Test};

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
    test.test.externals.iter().any(|call| call.function == DEVICE_READ)
        || test.observed.as_ref().is_some_and(|seen| !seen.device_writes.is_empty())
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
    let mut places = test.externals.iter().filter_map(|call| call.read_place());
    places.any(|place| matches!(place, ReadPlace::Object(at, _) if at as usize == position))
}

/// Whether a test has values of variables that are read.
pub(super) fn scripts_variables(test: &Test) -> bool {
    let mut places = test.externals.iter().filter_map(|call| call.read_place());
    places.any(|place| !matches!(place, ReadPlace::Device(_)))
}

impl Body<'_> {
    /// The values of the reads, in their order.
    pub(super) fn device_reads(&mut self, names: &Names<'_>) -> Result<(), String> {
        for read in &names.test.externals {
            if let Some(place) = read.read_place() {
                let place = match place {
                    ReadPlace::Device(place) => self.register(place, read.result.bytes.len()),
                    place => address(names, place)?,
                };
                self.line(format!("READS({});", access(&place, &read.result.bytes)));
            }
        }
        Ok(())
    }

    /// Asserts the writes, and that all reads were made.
    pub(super) fn device_writes(&mut self, test: &Test, observed: &Observation) {
        for write in &observed.device_writes {
            let place = self.register(write.place, write.value.len());
            let text = format!("CHECK_WRITE({});", access(&place, &write.value));
            self.assert(Assertion::Device { text });
        }
        let reads = test.externals.iter().any(|call| call.function == DEVICE_READ);
        if reads || !observed.device_writes.is_empty() {
            self.assert(Assertion::Device { text: "CHECK_DEVICES();".to_owned() });
        }
    }

    /// A place by the name of its register, or else by its number.
    fn register(&self, place: DevicePlace, size: usize) -> String {
        let name = self.registers.name(&self.program.types, place.address, size as u64);
        name.unwrap_or_else(|| place.to_string())
    }

    fn assert(&mut self, assertion: Assertion) {
        self.lines.push(Line::Assert(assertion));
    }
}
