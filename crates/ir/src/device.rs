//! Devices: memory at addresses that a program names as numbers, such as the registers of a
//! microcontroller.
//!
//! Each volatile read of such memory is an input of its own, and each volatile write is observed. A test
//! has the values of all reads in the order in which they are made, its *script*: the results of
//! [`DEVICE_READ`] among [`crate::test::Test::externals`]. A run that asks for another read than the next
//! of its script ends there: it *outruns* the script. So loops that wait for a device end.
//!
//! Reads of volatile variables of the program ([`VolatileVariables`]) may be part of a script, too. Then
//! all reads of such a variable are, and the run finds what the script says in memory. A variable of which
//! the script says nothing is memory.
//!
//! A script may say that a handler of interrupts runs just before a read ([`ScriptedInterrupt`]).

mod interrupts;
mod map;
mod variables;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::program::Program;
use crate::program::ctype::Target;
use crate::test::{ExternalResult, Image};
use crate::{AddressOrigin, Body, Expr, ExprId, GlobalId, Stmt, global_at};

pub use interrupts::{
    INTERRUPT, MASKS, ScriptedInterrupt, can_interrupt, disables_interrupts, masks,
};
pub use map::{DeviceMap, DeviceRegion, DeviceRegister, RegisterField, ReservedBits};
pub use variables::{VolatileVariables, is_truth_value};

/// Instead of a function's name in [`ExternalResult`]: a volatile read of a device. The result is the
/// value, of as many bytes as are read. `object` says where ([`ReadPlace`]).
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

/// Whether a program has volatile accesses, so that a run may end at one.
pub fn has_volatile_accesses(program: &Program) -> bool {
    let mut bodies = program.functions.values().filter_map(|function| function.body.as_ref());
    bodies.any(|body| {
        let is_load = |expr: &Expr| matches!(expr, Expr::Load { volatile: true, .. });
        body.exprs.values().any(is_load)
    })
}

/// Whether a program may access devices: some volatile access is not to a variable by its name.
pub fn accesses_devices(program: &Program) -> bool {
    let bodies = program.functions.values().filter_map(|function| function.body.as_ref());
    program.types.target == Target::X86_64 && bodies.into_iter().any(has_volatile_access)
}

fn has_volatile_access(body: &Body) -> bool {
    let mut origins = volatile_addresses(body).map(|addr| AddressOrigin::of(&body.exprs, addr));
    origins.any(|origin| origin == AddressOrigin::Pointer)
}

/// The addresses of a body's volatile accesses.
pub fn volatile_addresses(body: &Body) -> impl Iterator<Item = ExprId> {
    let loads = body.exprs.values().filter_map(|expr| match expr {
        Expr::Load { addr, volatile: true, .. } => Some(*addr),
        _ => None,
    });
    let stores = body.stmts.values().filter_map(|stmt| match stmt {
        Stmt::Store { addr, volatile: true, .. } => Some(*addr),
        _ => None,
    });
    loads.chain(stores)
}

/// The variables that some function accesses as volatile, some more than once.
pub fn volatile_variables(program: &Program) -> impl Iterator<Item = GlobalId> {
    let bodies = program.functions.values().filter_map(|function| function.body.as_ref());
    bodies.flat_map(|body| {
        volatile_addresses(body).filter_map(|address| global_at(&body.exprs, address))
    })
}

/// Where a device is read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct DevicePlace {
    /// The address of the first byte.
    pub address: u64,
}

impl fmt::Display for DevicePlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}", self.address)
    }
}

/// Where the value of a read in a script is found.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReadPlace {
    /// In a device: `0x40001000`.
    Device(DevicePlace),
    /// In a variable of the program, so many bytes behind its start: `ready`, `ring+4`.
    Variable(String, u64),
    /// In an object of the test, by its position, so many bytes behind its start: `#0+4`.
    Object(u32, u64),
}

impl fmt::Display for ReadPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Device(place) => write!(f, "{place}"),
            Self::Variable(name, 0) => f.write_str(name),
            Self::Variable(name, offset) => write!(f, "{name}+{offset}"),
            Self::Object(position, offset) => write!(f, "#{position}+{offset}"),
        }
    }
}

impl FromStr for ReadPlace {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        if let Some(digits) = text.strip_prefix("0x") {
            let address = u64::from_str_radix(digits, 16).map_err(|_| ())?;
            return Ok(Self::Device(DevicePlace { address }));
        }
        let (name, offset) = text.split_once('+').unwrap_or((text, "0"));
        let is_name = name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
        let offset = offset.parse().map_err(|_| ())?;
        if let Some(position) = name.strip_prefix('#') {
            return Ok(Self::Object(position.parse().map_err(|_| ())?, offset));
        }
        is_name.then(|| Self::Variable(name.to_owned(), offset)).ok_or(())
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
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct DeviceWrite {
    /// Where.
    pub place: DevicePlace,
    /// The bytes that are written.
    pub value: Vec<u8>,
}

impl ExternalResult {
    /// The value that a read of a device gives.
    pub fn device_read(place: &ReadPlace, value: Vec<u8>) -> Self {
        let result = Image { bytes: value, pointers: Vec::new() };
        Self { object: Some(place.to_string()), ..Self::new(DEVICE_READ, result) }
    }

    /// Whether it is an entry of a script: the value of a read, or a handler of interrupts.
    pub fn is_of_script(&self) -> bool {
        self.function == DEVICE_READ || self.function == INTERRUPT
    }

    /// Where the value of a read in a script is; none if this is none, or does not say where.
    pub fn read_place(&self) -> Option<ReadPlace> {
        let object = self.object.as_deref().filter(|_| self.function == DEVICE_READ);
        object.and_then(|place| place.parse().ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_says_where_it_is_made() {
        let variable = |offset| ReadPlace::Variable("ring".to_owned(), offset);
        for (place, text) in [
            (ReadPlace::Device(DevicePlace { address: 0x4000_1004 }), "0x40001004"),
            (variable(0), "ring"),
            (variable(4), "ring+4"),
            (ReadPlace::Object(2, 8), "#2+8"),
        ] {
            let read = ExternalResult::device_read(&place, vec![1, 0, 0, 0]);
            assert_eq!(read.object.as_deref(), Some(text));
            assert_eq!(read.read_place(), Some(place));
            let other = ExternalResult { function: "f".to_owned(), ..read };
            assert_eq!(other.read_place(), None);
        }
        for text in ["", "4", "0x", "0xg", "ring+", "ring+x", "#", "#-1+0"] {
            assert!(text.parse::<ReadPlace>().is_err(), "{text}");
        }
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
