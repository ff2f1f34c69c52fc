//! Reads and writes of devices in JSON: `{ "device": "0x40001000", "bytes": 4, "value": "0x20" }`; and
//! handlers of interrupts that run before reads: `{ "interrupt": "SysTick_Handler", "before": "ticks",
//! "read": 2 }`.

use lydian_ir::device::{DeviceWrite, ReadPlace, ScriptedInterrupt};
use lydian_ir::test::ExternalResult;
use serde_json::{Map, Value as Json, json};

use super::{Fault, fault, number_of, object_of, only_fields, text_of};

/// The field that has the address.
pub(super) const DEVICE: &str = "device";
/// The field that has the name of a handler.
pub(super) const INTERRUPT: &str = "interrupt";
/// The field of the writes of a run.
pub(super) const WRITES: &str = "device_writes";
/// The widest value, in bytes.
const WIDEST: u64 = 16;

pub(super) fn read_to_json(read: &ExternalResult) -> Json {
    access_to_json(read.object.as_deref().unwrap_or_default(), &read.result.bytes)
}

pub(super) fn write_to_json(write: &DeviceWrite) -> Json {
    access_to_json(&write.place.to_string(), &write.value)
}

fn access_to_json(place: &str, value: &[u8]) -> Json {
    json!({ DEVICE: place, "bytes": value.len(), "value": format!("{:#x}", number(value)) })
}

/// The number that bytes stand for.
pub(crate) fn number(value: &[u8]) -> u128 {
    value.iter().rev().fold(0, |number, byte| number << 8 | u128::from(*byte))
}

pub(super) fn read_from_json(json: &Map<String, Json>) -> Result<ExternalResult, Fault> {
    let (place, value) = access_from_json(json)?;
    Ok(ExternalResult::device_read(&place, value))
}

pub(super) fn write_from_json(json: &Json) -> Result<DeviceWrite, Fault> {
    match access_from_json(object_of(json, "")?)? {
        (ReadPlace::Device(place), value) => Ok(DeviceWrite { place, value }),
        _ => Err(fault(DEVICE, "it is no address as `0x40001000`")),
    }
}

fn access_from_json(json: &Map<String, Json>) -> Result<(ReadPlace, Vec<u8>), Fault> {
    only_fields(json, &[DEVICE, "bytes", "value"])?;
    let place = text_of(json, DEVICE)?.parse::<ReadPlace>();
    let place = place
        .map_err(|()| fault(DEVICE, "it is neither an address as `0x40001000` nor a variable"))?;
    let bytes = number_of(json, "bytes")?;
    if !(1..=WIDEST).contains(&bytes) {
        return Err(fault("bytes", "no device is accessed with so many"));
    }
    let text = text_of(json, "value")?;
    let value = text.strip_prefix("0x").and_then(|digits| u128::from_str_radix(digits, 16).ok());
    let value = value.ok_or_else(|| fault("value", "it is no number as `0x20`"))?;
    if bytes < WIDEST && value >> (bytes * 8) != 0 {
        return Err(fault("value", "it has more bytes than are accessed"));
    }
    Ok((place, value.to_le_bytes()[..bytes as usize].to_vec()))
}

pub(super) fn interrupt_to_json(entry: &ExternalResult) -> Json {
    match entry.scripted_interrupt() {
        Some(ScriptedInterrupt { handler, place, read }) => {
            json!({ INTERRUPT: handler, "before": place.to_string(), "read": read })
        }
        None => json!({ INTERRUPT: entry.object }),
    }
}

pub(super) fn interrupt_from_json(json: &Map<String, Json>) -> Result<ExternalResult, Fault> {
    only_fields(json, &[INTERRUPT, "before", "read"])?;
    let place = text_of(json, "before")?.parse::<ReadPlace>();
    let place = place
        .map_err(|()| fault("before", "it is neither an address as `0x40001000` nor a variable"))?;
    let read = u32::try_from(number_of(json, "read")?).ok().filter(|read| *read > 0);
    let read = read.ok_or_else(|| fault("read", "reads are counted from 1"))?;
    let handler = text_of(json, INTERRUPT)?.to_owned();
    Ok(ExternalResult::interrupt(&ScriptedInterrupt { handler, place, read }))
}

#[cfg(test)]
mod tests {
    use lydian_ir::device::DevicePlace;

    use super::*;

    #[test]
    fn accesses_read_back_and_faulty_ones_name_the_field() {
        let place = DevicePlace { address: 0x4000_1004 };
        let write = DeviceWrite { place, value: vec![0x34, 0x12] };
        let json = write_to_json(&write);
        assert_eq!(json, json!({ "device": "0x40001004", "bytes": 2, "value": "0x1234" }));
        assert_eq!(write_from_json(&json).ok(), Some(write));
        for (field, value) in [
            ("device", json!("UART")),
            ("bytes", json!(0)),
            ("bytes", json!(17)),
            ("value", json!("12")),
            ("value", json!("0x12345")),
            ("other", json!(1)),
        ] {
            let mut faulty = json.clone();
            faulty[field] = value;
            assert!(write_from_json(&faulty).is_err(), "{faulty}");
        }
    }
}
