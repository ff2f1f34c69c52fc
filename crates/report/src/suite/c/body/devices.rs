//! Devices in tests: the values of their reads before the call, and checks of their writes behind it.

use lydian_ir::device::{ACCESS_TRAPS, DEVICE_READ, ReadPlace};
use lydian_ir::test::Test;

use super::super::assertion::{Assertion, Line};
use super::Body;
use crate::suite::json::number;
use crate::suite::observation::Observation;
use crate::suite::test::SuiteTest;

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
pub(crate) fn accesses_devices(test: &SuiteTest) -> bool {
    test.test.externals.iter().any(|call| call.function == DEVICE_READ)
        || test.observed.as_ref().is_some_and(|seen| !seen.device_writes.is_empty())
}

/// The arguments of a macro about an access.
fn access(place: &ReadPlace, value: &[u8]) -> String {
    let place = match place {
        ReadPlace::Device(place) => place.to_string(),
        ReadPlace::Variable(name, 0) => format!("&{name}"),
        ReadPlace::Variable(name, offset) => format!("(char *)&{name} + {offset}"),
    };
    format!("{place}, {}, {:#x}", value.len(), number(value))
}

/// Whether a test has values of variables that are read.
pub(super) fn scripts_variables(test: &Test) -> bool {
    let places = test.externals.iter().filter_map(|call| call.read_place());
    places.into_iter().any(|place| matches!(place, ReadPlace::Variable(..)))
}

impl Body<'_> {
    /// The values of the reads, in their order.
    pub(super) fn device_reads(&mut self, test: &Test) {
        for read in &test.externals {
            if let Some(place) = read.read_place() {
                self.line(format!("READS({});", access(&place, &read.result.bytes)));
            }
        }
    }

    /// Asserts the writes, and that all reads were made.
    pub(super) fn device_writes(&mut self, test: &Test, observed: &Observation) {
        for write in &observed.device_writes {
            let text =
                format!("CHECK_WRITE({});", access(&ReadPlace::Device(write.place), &write.value));
            self.assert(Assertion::Device { text });
        }
        let reads = test.externals.iter().any(|call| call.function == DEVICE_READ);
        if reads || !observed.device_writes.is_empty() {
            self.assert(Assertion::Device { text: "CHECK_DEVICES();".to_owned() });
        }
    }

    fn assert(&mut self, assertion: Assertion) {
        self.lines.push(Line::Assert(assertion));
    }
}
