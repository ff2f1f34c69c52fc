//! Warnings of accesses in tests that contradict what is stated of devices.

use std::collections::BTreeMap;
use std::ops::Range;

use lydian_base::Diagnostic;
use lydian_ir::device::{DeviceMap, DevicePlace, ReadPlace};
use lydian_report::suite::SuiteTest;

use crate::project::Project;

/// The most accesses of one kind that are listed.
const MOST_LISTED: usize = 8;

/// The system registers of ARM's Cortex-M processors, which files of registers leave out.
const SYSTEM: Range<u64> = 0xe000_0000..0xe010_0000;

/// An access that is not as stated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Contradiction {
    /// A register that can only be read is written.
    Written,
    /// A register that can only be written is read.
    Read,
    /// Nothing that is stated lies there.
    Elsewhere,
}

impl Contradiction {
    const ALL: [Self; 3] = [Self::Written, Self::Read, Self::Elsewhere];

    const fn words(self) -> &'static str {
        match self {
            Self::Written => "registers that can only be read are written",
            Self::Read => "registers that can only be written are read",
            Self::Elsewhere => "memory is accessed that lies in no device of lydian.toml",
        }
    }

    /// How a write (or else a read) contradicts what is stated.
    fn of(
        map: &DeviceMap,
        DevicePlace { address }: DevicePlace,
        bytes: u64,
        writes: bool,
    ) -> Option<Self> {
        let mut registers = map.registers_at(address, bytes).peekable();
        if registers.peek().is_none() {
            let is_known = SYSTEM.contains(&address) || map.words(address).is_some();
            return (!is_known).then_some(Self::Elsewhere);
        }
        let allows = registers.any(|one| if writes { one.writable } else { one.readable });
        (!allows).then_some(if writes { Self::Written } else { Self::Read })
    }
}

/// The warnings about the tests of a suite, one of each kind.
pub(super) fn of(project: &Project, tests: &[SuiteTest]) -> Vec<Diagnostic> {
    let map = &project.spec.devices;
    if map.is_empty() {
        return Vec::new();
    }
    // Each place with the first test that accesses it.
    let mut found: BTreeMap<(Contradiction, u64), &str> = BTreeMap::new();
    for test in tests {
        for (place, bytes, writes) in accesses(test) {
            if let Some(kind) = Contradiction::of(map, place, bytes, writes) {
                found.entry((kind, place.address)).or_insert(&test.name);
            }
        }
    }
    let warning = |kind: Contradiction| {
        let all: Vec<_> = found.iter().filter(|((of, _), _)| *of == kind).collect();
        let warning = (!all.is_empty()).then(|| Diagnostic::warning("devices", kind.words()))?;
        let listed = all.iter().take(MOST_LISTED).fold(warning, |warning, ((_, address), test)| {
            let place = map.words(*address).unwrap_or_else(|| format!("{address:#x}"));
            warning.note(format!("{place}, in the test `{test}`"))
        });
        Some(match all.len().saturating_sub(MOST_LISTED) {
            0 => listed,
            more => listed.note(format!("and {more} more")),
        })
    };
    Contradiction::ALL.into_iter().filter_map(warning).collect()
}

/// The accesses of devices in a test: where, how many bytes, and whether it is a write.
fn accesses(test: &SuiteTest) -> impl Iterator<Item = (DevicePlace, u64, bool)> {
    let reads = test.test.externals.iter().filter_map(|entry| match entry.read_place()? {
        ReadPlace::Device(place) => Some((place, entry.result.bytes.len() as u64, false)),
        _ => None,
    });
    let writes = test.observed.iter().flat_map(|seen| &seen.device_writes);
    reads.chain(writes.map(|write| (write.place, write.value.len() as u64, true)))
}
