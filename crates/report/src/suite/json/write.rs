//! Reads the writes of undefined functions.

use lydian_ir::test::{ExternalWrite, INPUT_REGION_SIZE, Image, WriteBase};
use lydian_ir::{CTypeId, Program};
use serde_json::{Map, Value as Json};

use super::codec::{self, Codec};
use super::{Fault, fault, find_type, inside, list, number_of, object_of, only_fields, text_of};
use crate::suite::elements;
use crate::suite::signature::parameter_names;

const FIELDS: [&str; 8] =
    ["to", "variable", "global", "through", "offset", "type", "count", "value"];

/// A write of one call of a function.
pub(super) fn read_write(
    program: &Program,
    codec: &Codec,
    function: &str,
    json: &Json,
) -> Result<ExternalWrite, Fault> {
    let json = object_of(json, "")?;
    only_fields(json, &FIELDS)?;
    let mut through = Vec::new();
    for (field, step) in list(json, "through")? {
        let step = step.as_u64();
        through.push(step.ok_or_else(|| fault(&field, "it is no whole number from 0"))?);
    }
    let to = read_base(program, function, json, through.len())?;
    let ty = read_type(program, json)?;
    let ty = ty.or_else(|| elements::type_at(program, function, &to, &through));
    let image = read_image(program, codec, ty, json)?;
    Ok(ExternalWrite { to, through, offset: number_or(json, "offset", 0)?, image })
}

/// The beginning of a path with this number of steps.
fn read_base(
    program: &Program,
    function: &str,
    json: &Map<String, Json>,
    steps: usize,
) -> Result<WriteBase, Fault> {
    let bases = ["to", "variable", "global"];
    if bases.iter().filter(|field| json.contains_key(**field)).count() != 1 {
        return Err(fault("", "it needs one of to, variable and global"));
    }
    if json.contains_key("variable") {
        return read_word(program, function, number_of(json, "variable")?);
    }
    if json.contains_key("global") {
        let name = text_of(json, "global")?;
        let known = program.global_named(name);
        known.ok_or_else(|| fault("global", format!("the program has no variable {name}")))?;
        return Ok(WriteBase::Global(name.to_owned()));
    }
    let to = text_of(json, "to")?;
    let names = program.function_named(function).map(|id| parameter_names(program, id));
    let position = names.and_then(|names| names.iter().position(|name| name == to));
    let position = position.map(|position| position as u32);
    let position =
        position.filter(|position| elements::begins_at(program, function, *position, steps));
    let why = || format!("{function} has no parameter {to} that it can write through");
    Ok(WriteBase::Argument(position.ok_or_else(|| fault("to", why()))?))
}

/// A word for `...`.
fn read_word(program: &Program, function: &str, position: u64) -> Result<WriteBase, Fault> {
    match elements::words(program, function) {
        0 => Err(fault("variable", format!("{function} has no arguments for `...` to reach"))),
        words if position >= u64::from(words) => {
            let last = words - 1;
            let why = format!(
                "of the arguments for `...`, integers and pointers 0 to {last} can be reached"
            );
            Err(fault("variable", why))
        }
        _ => Ok(WriteBase::Variable(position as u32)),
    }
}

/// The type that is given for the elements.
fn read_type(program: &Program, json: &Map<String, Json>) -> Result<Option<CTypeId>, Fault> {
    if !json.contains_key("type") {
        return Ok(None);
    }
    let spelled = text_of(json, "type")?;
    let ty = find_type(&program.types, spelled);
    let why = || fault("type", format!("the program has no type {spelled}"));
    ty.map(Some).ok_or_else(why)
}

fn read_image(
    program: &Program,
    codec: &Codec,
    ty: Option<CTypeId>,
    json: &Map<String, Json>,
) -> Result<Image, Fault> {
    let value = json.get("value").ok_or_else(|| fault("value", "it is missing"))?;
    if codec::raw_size(value).is_some() && !json.contains_key("count") {
        return codec.decode_bytes(value).map_err(inside("value"));
    }
    let count = number_or(json, "count", 1)?;
    let sized = ty.and_then(|ty| Some((ty, program.types.size(ty)?)));
    let (ty, element) = sized.ok_or_else(|| fault("value", "it is given by its $bytes"))?;
    let size = element.checked_mul(count).filter(|size| *size <= INPUT_REGION_SIZE);
    let size = size.ok_or_else(|| fault("count", "it is too large"))?;
    Ok(codec.decode(ty, count, size, value).map_err(inside("value"))?.image)
}

fn number_or(json: &Map<String, Json>, field: &str, otherwise: u64) -> Result<u64, Fault> {
    if json.contains_key(field) { number_of(json, field) } else { Ok(otherwise) }
}
