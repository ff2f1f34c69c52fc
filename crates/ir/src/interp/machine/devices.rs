//! Volatile accesses of devices ([`crate::device`]).

use super::externals::GivenRead;
use crate::device::{DevicePlace, DeviceRead, DeviceWrite, ReadPlace, is_device};
use crate::interp::machine::{Machine, Step, Stop};
use crate::interp::outcome::{BadTest, End};
use crate::test::{ExternalResult, Test};

impl Machine<'_, '_> {
    /// Takes a read of a device from a test's script.
    pub(super) fn take_read(&mut self, test: &Test, read: &ExternalResult) -> Result<(), BadTest> {
        let named = || BadTest::DevicePlace(read.object.clone().unwrap_or_default());
        let place = read.read_place().ok_or_else(named)?;
        let (address, in_variable) =
            self.read_address(test, &place).ok_or_else(|| match place {
                ReadPlace::Variable(name, _) => BadTest::NoGlobal(name),
                _ => named(),
            })?;
        let bytes = read.result.bytes.clone();
        self.externals.add_read(GivenRead { address, in_variable, bytes });
        Ok(())
    }

    /// Whether an address is a device's.
    pub(super) fn is_device(&self, address: u64) -> bool {
        is_device(self.program.types.target, address)
    }

    /// A volatile read of at most 8 bytes: the value that the script has for it. `None` if the address is
    /// that of memory of which the script says nothing.
    pub(super) fn read_device(&mut self, address: u64, bytes: u64) -> Step<Option<u64>> {
        if !self.is_scripted(address) {
            return Ok(None);
        }
        let next = self.externals.next_read();
        let fits = |read: &GivenRead| read.address == address && read.bytes.len() as u64 == bytes;
        let Some(read) = next.filter(fits) else {
            self.outrun = Some(DeviceRead { place: DevicePlace { address }, bytes });
            return Err(Stop::End(End::OutrunsScript));
        };
        self.scripted_reads += 1;
        if read.in_variable {
            self.memory.write(address, &read.bytes)?;
        }
        let mut raw = [0; 8];
        raw[..read.bytes.len()].copy_from_slice(&read.bytes);
        Ok(Some(u64::from_le_bytes(raw)))
    }

    /// Whether the script has the values that are read at an address.
    pub(super) fn is_scripted(&self, address: u64) -> bool {
        self.is_device(address) || self.externals.scripts(address) && !self.is_in_handler()
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
