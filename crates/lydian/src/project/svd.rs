//! Devices as `lydian.toml` states them: regions, and registers from CMSIS-SVD files.
//!
//! A read of a register with fields gives any value of these; the bits between them have their values after
//! a reset. Alternative registers at one address have the bits of all.

use std::path::Path;

use lydian_base::Diagnostic;
use lydian_inputs::settings::{DeviceSettings, RegionSettings, TomlStep};
use lydian_ir::device::{
    ADDRESSES_END, DeviceMap, DeviceRegion, DeviceRegister, FIRST_ADDRESS, ReadPlace,
    RegisterField, accesses_devices,
};
use lydian_ir::test::Test;
use svd_parser::Config;
use svd_parser::svd::{
    Access, Cluster, Device, Field, Peripheral, Register, RegisterCluster, ValidateLevel,
};

use super::Project;
use crate::configuration::Configuration;
use crate::error::{Error, ErrorKind};

/// The widest register, in bytes.
const WIDEST: u64 = 8;

/// What settings state of devices.
#[derive(Debug, Default)]
pub(super) struct StatedDevices {
    pub(super) map: DeviceMap,
    /// The texts of the files that it was read from.
    pub(super) texts: Vec<String>,
    /// What seems wrong, though it can be used.
    pub(super) warnings: Vec<Diagnostic>,
}

impl StatedDevices {
    /// Reads what settings state.
    pub(super) fn read(config: &Configuration) -> Result<Self, Error> {
        let DeviceSettings { svd, regions } = &config.settings.devices;
        let (mut stated, mut wrong) = (Self::default(), Vec::new());
        for (name, region) in regions {
            match addresses(region) {
                Ok(addresses) => {
                    stated.map.regions.push(DeviceRegion { name: name.clone(), addresses });
                }
                Err(why) => {
                    let way = ["devices", "regions", name].map(TomlStep::Value);
                    wrong.push(config.wrong(&way, format!("the region `{name}` {why}")));
                }
            }
        }
        for (at, file) in svd.iter().enumerate() {
            if let Err(why) = stated.add_file(config, file) {
                let way =
                    [TomlStep::Value("devices"), TomlStep::Value("svd"), TomlStep::Element(at)];
                wrong.push(config.wrong(&way, why));
            }
        }
        match wrong.is_empty() {
            true => Ok(stated),
            false => Err(Error { kind: ErrorKind::Usage, diagnostics: wrong }),
        }
    }

    fn add_file(&mut self, config: &Configuration, file: &str) -> Result<(), String> {
        let folder = config.file.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let path = folder.join(file);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {error}", path.display()))?;
        let how = Config::default()
            .expand(true)
            .expand_properties(true)
            .ignore_enums(true)
            .validate_level(ValidateLevel::Weak);
        let device = svd_parser::parse_with_config(&text, &how)
            .map_err(|error| format!("{file} is no CMSIS-SVD file: {error:#}"))?;
        let first = self.map.registers.len();
        self.add_device(&device);
        self.texts.push(text);
        let overlaps = overlaps(&self.map.registers[first..]);
        self.warnings
            .extend(overlaps.map(|what| Diagnostic::warning("devices", format!("{file}: {what}"))));
        Ok(())
    }

    fn add_device(&mut self, device: &Device) {
        for peripheral in &device.peripherals {
            let Peripheral::Single(_) = peripheral else { continue };
            for block in peripheral.address_block.iter().flatten() {
                let start = peripheral.base_address + u64::from(block.offset);
                let addresses = start..start + u64::from(block.size);
                let name = peripheral.name.clone();
                self.map.regions.push(DeviceRegion { name, addresses });
            }
            let at = DevicePart {
                device: &peripheral.name,
                prefix: String::new(),
                address: peripheral.base_address,
            };
            self.add_all(&at, peripheral.registers.iter().flatten());
        }
    }

    fn add_all<'d>(&mut self, at: &DevicePart<'_>, all: impl Iterator<Item = &'d RegisterCluster>) {
        for one in all {
            match one {
                RegisterCluster::Register(register) => {
                    self.map.registers.extend(at.register(register))
                }
                RegisterCluster::Cluster(cluster) => {
                    self.add_all(&at.cluster(cluster), cluster.children.iter());
                }
            }
        }
    }
}

impl Project {
    /// Whether devices may give what a test says that they do, as far as it is stated.
    pub(crate) fn devices_may_give(&self, test: &Test) -> bool {
        test.externals.iter().all(|entry| match entry.read_place() {
            Some(ReadPlace::Device(place)) => {
                self.spec.devices.may_give(place, &entry.result.bytes)
            }
            _ => true,
        })
    }

    /// What verdicts rest on where registers with fields are stated.
    pub(crate) fn stated_registers(&self) -> Option<String> {
        let known = self.spec.devices.registers.iter().any(|one| !one.fields.is_empty());
        let applies = known && accesses_devices(&self.program);
        applies.then(|| "bits of registers that no field has keep their values".to_owned())
    }
}

/// Where registers of a device stand.
struct DevicePart<'d> {
    device: &'d str,
    /// What stands before their names.
    prefix: String,
    address: u64,
}

impl DevicePart<'_> {
    fn cluster(&self, cluster: &Cluster) -> Self {
        Self {
            device: self.device,
            prefix: format!("{}{}_", self.prefix, cluster.name),
            address: self.address + u64::from(cluster.address_offset),
        }
    }

    /// A register; none if it is wider than any access.
    fn register(&self, register: &Register) -> Option<DeviceRegister> {
        let properties = &register.properties;
        let bytes = u64::from(properties.size.unwrap_or(32)).div_ceil(8);
        let access = properties.access.unwrap_or_default();
        let fields = register.fields.iter().flatten().map(field);
        (bytes <= WIDEST).then(|| DeviceRegister {
            device: self.device.to_owned(),
            name: format!("{}{}", self.prefix, register.name),
            address: self.address + u64::from(register.address_offset),
            bytes,
            readable: access.can_read(),
            writable: access != Access::ReadOnly,
            reset: properties.reset_value.unwrap_or(0),
            fields: fields.collect(),
        })
    }
}

fn field(field: &Field) -> RegisterField {
    let (lowest, bits) = (field.bit_range.offset, field.bit_range.width);
    RegisterField { name: field.name.clone(), lowest, bits }
}

/// The addresses of a region.
fn addresses(region: &RegionSettings) -> Result<std::ops::Range<u64>, String> {
    let RegionSettings { start, length, end } = *region;
    let end = match (length, end) {
        (Some(length), None) => start.checked_add(length),
        (None, Some(end)) => Some(end),
        _ => return Err("needs either a length or an end".to_owned()),
    };
    let end = end.filter(|end| *end > start).ok_or("is empty")?;
    match start >= FIRST_ADDRESS && end <= ADDRESSES_END {
        true => Ok(start..end),
        false => Err(format!(
            "does not lie between {FIRST_ADDRESS:#x} and {ADDRESSES_END:#x}, where devices can be answered"
        )),
    }
}

/// Registers that overlap others without being alternatives to them, in words.
fn overlaps(registers: &[DeviceRegister]) -> impl Iterator<Item = String> {
    let mut sorted: Vec<&DeviceRegister> = registers.iter().collect();
    sorted.sort_by_key(|register| (register.address, register.bytes));
    let pairs = sorted.windows(2).filter(|two| {
        two[0].address != two[1].address && two[0].address + two[0].bytes > two[1].address
    });
    let words = pairs.map(|two| format!("{} overlaps {}", two[0].full_name(), two[1].full_name()));
    words.collect::<Vec<_>>().into_iter()
}
