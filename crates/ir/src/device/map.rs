//! What a user states of devices: regions of addresses, and registers with their fields.

use std::ops::Range;

use super::DevicePlace;

/// The devices of a machine, as far as they are stated.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceMap {
    /// Regions with names.
    pub regions: Vec<DeviceRegion>,
    /// Registers.
    pub registers: Vec<DeviceRegister>,
}

/// Addresses with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRegion {
    /// Its name.
    pub name: String,
    /// Its addresses.
    pub addresses: Range<u64>,
}

/// A register of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceRegister {
    /// The name of its device: `USART1`.
    pub device: String,
    /// Its own name: `SR`.
    pub name: String,
    /// The address of its first byte.
    pub address: u64,
    /// How many bytes it has, at most 8.
    pub bytes: u64,
    /// Whether it can be read.
    pub readable: bool,
    /// Whether it can be written.
    pub writable: bool,
    /// Its value after a reset.
    pub reset: u64,
    /// Its fields; empty where none are known.
    pub fields: Vec<RegisterField>,
}

/// A field of a register.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterField {
    /// Its name: `TXE`.
    pub name: String,
    /// The number of its lowest bit.
    pub lowest: u32,
    /// How many bits it has.
    pub bits: u32,
}

/// The bits of an access that no field has, and their values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReservedBits {
    /// The bits, in the number that is accessed.
    pub mask: u64,
    /// Their values, those after a reset; other bits are 0.
    pub value: u64,
}

impl RegisterField {
    /// Its bits in the register.
    pub fn mask(&self) -> u64 {
        low_bits(self.bits).checked_shl(self.lowest).unwrap_or(0)
    }
}

impl DeviceRegister {
    /// Its name with that of its device: `USART1.SR`.
    pub fn full_name(&self) -> String {
        format!("{}.{}", self.device, self.name)
    }

    /// The fields that are not 0 in a value of the register: `TXE`, `DIV=4`.
    pub fn fields_in(&self, value: u64) -> Vec<String> {
        let set = self.fields.iter().filter(|field| value & field.mask() != 0);
        let shown = set.map(|field| match field.bits {
            1 => field.name.clone(),
            _ => format!("{}={:#x}", field.name, (value & field.mask()) >> field.lowest),
        });
        shown.collect()
    }

    fn holds(&self, address: u64, bytes: u64) -> bool {
        address >= self.address && address - self.address + bytes <= self.bytes
    }
}

impl DeviceMap {
    /// Whether nothing is stated.
    pub fn is_empty(&self) -> bool {
        self.regions.is_empty() && self.registers.is_empty()
    }

    /// The registers that have all bytes of an access. Alternative registers have one address.
    pub fn registers_at(&self, address: u64, bytes: u64) -> impl Iterator<Item = &DeviceRegister> {
        self.registers.iter().filter(move |register| register.holds(address, bytes))
    }

    /// The register that is accessed as a whole.
    pub fn register(&self, address: u64, bytes: u64) -> Option<&DeviceRegister> {
        let mut found = self.registers_at(address, bytes);
        found.find(|register| register.address == address && register.bytes == bytes)
    }

    /// The bits that reads of a place do not vary; none where no fields are known.
    pub fn reserved(&self, address: u64, bytes: u64) -> Option<ReservedBits> {
        let found: Vec<&DeviceRegister> = self.registers_at(address, bytes).collect();
        let reset = found.first()?;
        if found.iter().any(|register| register.fields.is_empty() || !register.readable) {
            return None;
        }
        let used = found.iter().fold(0, |used, register| {
            let of_fields = register.fields.iter().fold(0, |all, field| all | field.mask());
            used | of_fields >> (8 * (address - register.address))
        });
        let all = low_bits(8 * bytes as u32);
        let mask = all & !used;
        let value = (reset.reset >> (8 * (address - reset.address))) & mask;
        (mask != 0).then_some(ReservedBits { mask, value })
    }

    /// Whether a read of a place may give a value.
    pub fn may_give(&self, place: DevicePlace, value: &[u8]) -> bool {
        let reserved = self.reserved(place.address, value.len() as u64);
        reserved.is_none_or(|reserved| number(value) & reserved.mask == reserved.value)
    }

    /// The nearest value that a read of a place may give.
    pub fn given(&self, place: DevicePlace, value: &[u8]) -> Vec<u8> {
        let Some(reserved) = self.reserved(place.address, value.len() as u64) else {
            return value.to_vec();
        };
        let given = number(value) & !reserved.mask | reserved.value;
        given.to_le_bytes()[..value.len()].to_vec()
    }

    /// The place of an access in words, `USART1.SR` or `uart+0x4`; none where nothing has it.
    pub fn words(&self, address: u64) -> Option<String> {
        if let Some(register) = self.registers_at(address, 1).next() {
            let inside = address - register.address;
            return Some(match inside {
                0 => register.full_name(),
                _ => format!("{}+{inside:#x}", register.full_name()),
            });
        }
        let mut regions = self.regions.iter();
        let region = regions.find(|region| region.addresses.contains(&address))?;
        Some(match address - region.addresses.start {
            0 => region.name.clone(),
            inside => format!("{}+{inside:#x}", region.name),
        })
    }
}

/// A number with so many lowest bits set.
const fn low_bits(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

fn number(value: &[u8]) -> u64 {
    value.iter().take(8).rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map() -> DeviceMap {
        let field = |name: &str, lowest, bits| RegisterField { name: name.into(), lowest, bits };
        let register = |name: &str, address, bytes, reset, fields| DeviceRegister {
            device: "UART".into(),
            name: name.into(),
            address,
            bytes,
            readable: true,
            writable: true,
            reset,
            fields,
        };
        let status = vec![field("RXNE", 5, 1), field("TXE", 7, 1), field("LEVEL", 8, 4)];
        DeviceMap {
            regions: vec![DeviceRegion { name: "adc".into(), addresses: 0x5000_0000..0x5000_0100 }],
            registers: vec![
                register("SR", 0x4000_0000, 4, 0x8000_00c0, status),
                register("DR", 0x4000_0004, 4, 0, Vec::new()),
            ],
        }
    }

    #[test]
    fn reserved_bits_have_their_values_after_a_reset() {
        let map = map();
        let reserved = map.reserved(0x4000_0000, 4).unwrap();
        assert_eq!(reserved, ReservedBits { mask: 0xffff_f05f, value: 0x8000_0040 });
        let second = map.reserved(0x4000_0001, 1).unwrap();
        assert_eq!(second, ReservedBits { mask: 0xf0, value: 0 });
        assert_eq!(map.reserved(0x4000_0004, 4), None);
        assert_eq!(map.reserved(0x4000_0008, 4), None);
        let place = DevicePlace { address: 0x4000_0000 };
        assert!(map.may_give(place, &[0x60, 0, 0, 0x80]));
        assert!(!map.may_give(place, &[0x60, 0, 0, 0]));
        assert_eq!(map.given(place, &[0xff; 4]), [0xe0, 0x0f, 0, 0x80]);
    }

    #[test]
    fn places_and_values_have_words() {
        let map = map();
        let words = |address| map.words(address);
        assert_eq!(words(0x4000_0000).as_deref(), Some("UART.SR"));
        assert_eq!(words(0x4000_0006).as_deref(), Some("UART.DR+0x2"));
        assert_eq!(words(0x5000_0004).as_deref(), Some("adc+0x4"));
        assert_eq!(words(0x6000_0000), None);
        let status = map.register(0x4000_0000, 4).unwrap();
        assert_eq!(status.fields_in(0x380), ["TXE", "LEVEL=0x3"]);
        assert_eq!(map.register(0x4000_0000, 2), None);
    }
}
