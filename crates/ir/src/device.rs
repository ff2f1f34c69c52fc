//! Devices: memory at addresses that a program names as numbers, such as the registers of a
//! microcontroller.
//!
//! Each volatile read of such memory is an input of its own, and each volatile write is observed. A test
//! has the values of all reads in the order in which they are made, its *script*: the results of
//! [`DEVICE_READ`] among [`crate::test::Test::externals`]. A run that asks for another read than the next
//! of its script ends there: it *outruns* the script. So loops that wait for a device end.

use std::fmt;
use std::str::FromStr;

use crate::program::Program;
use crate::program::ctype::Target;
use crate::test::{ExternalResult, Image};
use crate::{Body, Expr, ExprId, Stmt};

/// Instead of a function's name in [`ExternalResult`]: a volatile read of a device. The result is the
/// value, of as many bytes as are read. `object` says where ([`DevicePlace`]).
pub const DEVICE_READ: &str = "*device";

/// The first address of devices. This machine maps nothing below it (Linux: `vm.mmap_min_addr`).
pub const FIRST_ADDRESS: u64 = 1 << 16;

/// Behind the addresses of devices. Behind them no engine and no process has room for them.
pub const ADDRESSES_END: u64 = 1 << 35;

/// The C that answers accesses to devices in a native process, from a script: part of the runner, and of
/// suites. Its head has the interface.
pub const ACCESS_TRAPS: &str = include_str!("../runtime/devices.h");

/// Whether memory at an address, which lies in no object of the program, is a device's.
pub fn is_device(target: Target, address: u64) -> bool {
    target == Target::X86_64 && (FIRST_ADDRESS..ADDRESSES_END).contains(&address)
}

/// Whether a program may access devices: some volatile access is not to a variable by its name.
pub fn accesses_devices(program: &Program) -> bool {
    let bodies = program.functions.values().filter_map(|function| function.body.as_ref());
    program.types.target == Target::X86_64 && bodies.into_iter().any(has_volatile_access)
}

fn has_volatile_access(body: &Body) -> bool {
    let loads = body.exprs.values().filter_map(|expr| match expr {
        Expr::Load { addr, volatile: true, .. } => Some(*addr),
        _ => None,
    });
    let stores = body.stmts.values().filter_map(|stmt| match stmt {
        Stmt::Store { addr, volatile: true, .. } => Some(*addr),
        _ => None,
    });
    loads.chain(stores).any(|addr| !is_of_variable(body, addr))
}

/// Whether an address is that of a part of a variable.
fn is_of_variable(body: &Body, mut addr: ExprId) -> bool {
    loop {
        match &body.exprs[addr] {
            Expr::AddrLocal(_) | Expr::AddrGlobal(_) => return true,
            Expr::Field { base, .. } | Expr::Index { base, .. } => addr = *base,
            _ => return false,
        }
    }
}

/// Where a device is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DevicePlace {
    /// The address of the first byte.
    pub address: u64,
}

impl fmt::Display for DevicePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}

impl FromStr for DevicePlace {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let digits = text.strip_prefix("0x").ok_or(())?;
        let address = u64::from_str_radix(digits, 16).map_err(|_| ())?;
        Ok(Self { address })
    }
}

/// A volatile read of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceRead {
    /// Where.
    pub place: DevicePlace,
    /// How many bytes are read.
    pub bytes: u64,
}

/// A volatile write of a device.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeviceWrite {
    /// Where.
    pub place: DevicePlace,
    /// The bytes that are written.
    pub value: Vec<u8>,
}

impl ExternalResult {
    /// The value that a read of a device gives.
    pub fn device_read(place: DevicePlace, value: Vec<u8>) -> Self {
        let result = Image { bytes: value, pointers: Vec::new() };
        Self { object: Some(place.to_string()), ..Self::new(DEVICE_READ, result) }
    }

    /// Where a device is read; none if this is no read of a device, or does not say where.
    pub fn device_place(&self) -> Option<DevicePlace> {
        let object = self.object.as_deref().filter(|_| self.function == DEVICE_READ);
        object.and_then(|place| place.parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_says_where_it_is_made() {
        let place = DevicePlace { address: 0x4000_1004 };
        let read = ExternalResult::device_read(place, vec![1, 0, 0, 0]);
        assert_eq!(read.object.as_deref(), Some("0x40001004"));
        assert_eq!(read.device_place(), Some(place));
        let other = ExternalResult { function: "f".to_owned(), ..read };
        assert_eq!(other.device_place(), None);
    }

    #[test]
    fn what_no_machine_maps_is_no_device() {
        for (address, is) in
            [(0x25, false), (0x1_0000, true), (0xe000_e010, true), (1 << 35, false)]
        {
            assert_eq!(is_device(Target::X86_64, address), is, "{address:#x}");
        }
    }
}
