//! Volatile accesses of devices ([`crate::device`]).

use super::externals::GivenRead;
use crate::device::{DevicePlace, DeviceRead, DeviceWrite, is_device};
use crate::interp::machine::{Machine, Step, Stop};
use crate::interp::outcome::{BadTest, End};
use crate::test::ExternalResult;

impl Machine<'_, '_> {
    /// Takes a read of a device from a test's script.
    pub(super) fn take_read(&mut self, read: &ExternalResult) -> Result<(), BadTest> {
        let named = || read.object.clone().unwrap_or_default();
        let place = read.device_place().ok_or_else(|| BadTest::DevicePlace(named()))?;
        self.externals.add_read(GivenRead { place, bytes: read.result.bytes.clone() });
        Ok(())
    }

    /// Whether an address is a device's.
    pub(super) fn is_device(&self, address: u64) -> bool {
        is_device(self.program.types.target, address)
    }

    /// A volatile read of at most 8 bytes: the value that the script has for it. `None` if no device is at
    /// the address.
    pub(super) fn read_device(&mut self, address: u64, bytes: u64) -> Step<Option<u64>> {
        if !self.is_device(address) {
            return Ok(None);
        }
        let next = self.externals.next_read();
        let fits =
            |read: &GivenRead| read.place.address == address && read.bytes.len() as u64 == bytes;
        let Some(read) = next.filter(fits) else {
            self.outrun = Some(DeviceRead { place: DevicePlace { address }, bytes });
            return Err(Stop::End(End::OutrunsScript));
        };
        let mut raw = [0; 8];
        raw[..read.bytes.len()].copy_from_slice(&read.bytes);
        Ok(Some(u64::from_le_bytes(raw)))
    }

    /// A volatile write of at most 8 bytes; whether a device is at the address.
    pub(super) fn write_device(&mut self, address: u64, bytes: u64, value: u64) -> bool {
        let is_device = self.is_device(address);
        if is_device {
            let value = value.to_le_bytes()[..bytes as usize].to_vec();
            self.device_writes.push(DeviceWrite { place: DevicePlace { address }, value });
        }
        is_device
    }
}
