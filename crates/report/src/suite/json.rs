//! A suite as JSON that people can read and edit: inputs by name, values by their C types.
//!
//! ```json
//! { "version": 1,
//!   "source": "src/parse.c",
//!   "tests": [ {
//!     "name": "parse_1",
//!     "function": "parse",
//!     "args": { "buf": "&buf[0]", "len": 3, "out": null },
//!     "objects": [ { "name": "buf", "type": "char", "count": 3, "align": 16,
//!                    "address": "0x2000000040", "value": "a=b" } ],
//!     "globals": { "strict": true },
//!     "externals": [ { "function": "malloc", "succeeds": false } ],
//!     "expected": { "outcome": "returned", "result": -1 } } ] }
//! ```
//!
//! - Structs are objects by member; a union is an object with one member. Arrays leave out zeros at
//!   their end. Arrays of characters are strings, one character for each byte (`\u00ff` is 255), or
//!   `{ "$hex": "…" }` where that reads better.
//! - Pointers are `null`, `"&name[3]"` for an element of an object (`"&name[3] + 2"` with bytes to
//!   go, `"object 2 + 16"` where names are not unique), `"global state + 8"`, `"function f"`,
//!   `"stderr"`, or
//!   their bits, `"0x10"`. In what was observed, `"?"` is an address that may change.
//! - Floats that JSON has no number for are `"inf"`, `"-inf"`, `"nan"`, `"nan:0x7ff8…"`. Integers of
//!   128 bits that do not fit 64 are strings.
//! - The writes of an undefined function are a list: `"externals": [ { "function": "parse", "result":
//!   1, "writes": [ { "to": "value", "value": 7 } ] } ]`. `to` is a parameter's name, `count` the
//!   number of elements if it is not one, and `offset` the number of bytes after the place that the
//!   parameter points to. In the place of `to` stands `"global": "state"` for a variable, or
//!   `"variable": 1` for the pointee of the second integer or pointer for `...`. `"through": [8, 0]`
//!   follows the pointer that lies 8 bytes after that place, and then the pointer at the place where
//!   it points. `type` is the type of the elements if it is not that of the place.
//! - The arguments for `...` are a list, too: `"variable": [ { "type": "int", "value": 5 } ]`.
//! - A test with `"thorough": true` asserts everything that its call may write.
//! - A test with `"keep": true` stays when the suite is made anew.
//! - A run with undefined behaviour has `"undefined": true` under `expected`. Only its end is
//!   expected then. One with assembly whose values differ between machines or runs has `"varies": true`,
//!   and nothing but its end is expected, too.
//! - Attempts of a run outside of the program are under `expected`, too: `"attempts": ["make the
//!   folder `x`"]`. In C such a test stands under a macro.
//! - Calls of the function before the last one, to which everything else belongs too, are a list:
//!   `"earlier": [ { "args": { "n": 1 } }, { "args": { "n": 2 } } ]`, with `variable` as in the test.
//! - All other contents of memory are `{ "$bytes": "00ff…", "$pointers": { "8": "&name[0]" } }`.
//!
//! Tests read back exactly, except for the bytes under pointers, which have no meaning: they are the
//! address of an input object, or zero for any other pointer.

mod codec;
mod devices;
mod write;

use lydian_ir::device::{DEVICE_READ, INTERRUPT};
use lydian_ir::test::{
    EarlierCall, ExternalResult, ExternalWrite, GlobalInput, INPUT_REGION, INPUT_REGION_SIZE,
    Image, PassedArguments, PointerTarget, Test, TestObject, VariableArgument, WriteBase,
};
use lydian_ir::variadic::class;
use lydian_ir::{CTypeId, CTypes, FuncId, Program};
use serde_json::{Map, Value as Json, json};
use thiserror::Error;

use crate::suite::elements::{self, Elements};
use crate::suite::image::ObservedImage;
use crate::suite::observation::{Observation, Outcome};
use crate::suite::signature::{parameter_names, result_type};
use crate::suite::test::SuiteTest;
use codec::Codec;
pub(crate) use devices::number;
use write::read_write;

/// The version of the format.
pub const VERSION: u64 = 1;

/// Why a suite cannot be read: the file, the test and the field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{file}: {place}{why}")]
pub struct SuiteError {
    /// The file.
    pub file: String,
    /// The test and the field, ending in `: `; empty for the whole file.
    pub place: String,
    /// The error.
    pub why: String,
}

/// A field and its error.
type Fault = (String, String);

fn fault(field: &str, why: impl Into<String>) -> Fault {
    (field.into(), why.into())
}

/// Writes a suite. `source` is the file under test as the user names it. The text ends with a
/// newline.
pub fn to_json(program: &Program, source: &str, tests: &[SuiteTest]) -> String {
    let tests: Vec<Json> = tests.iter().map(|test| Writer::new(program, test).test()).collect();
    let suite = json!({ "version": VERSION, "source": source, "tests": tests });
    let mut text = serde_json::to_string_pretty(&suite).expect("JSON values can be written");
    text.push('\n');
    text
}

/// Reads a suite. `file` is its name, for errors.
pub fn from_json(program: &Program, file: &str, text: &str) -> Result<Vec<SuiteTest>, SuiteError> {
    let error = |place: String, why: String| SuiteError { file: file.into(), place, why };
    let whole = |why: &str| error(String::new(), why.into());
    let suite: Json =
        serde_json::from_str(text).map_err(|e| error(String::new(), e.to_string()))?;
    match suite.get("version").and_then(Json::as_u64) {
        Some(VERSION) => {}
        Some(other) => {
            return Err(whole(&format!("version {other}, where {VERSION} can be read")));
        }
        None => return Err(whole("it has no version, so it is no suite of tests")),
    }
    let Some(Json::Array(tests)) = suite.get("tests") else {
        return Err(whole("it has no list 'tests'"));
    };
    let mut read = Vec::new();
    for (position, test) in tests.iter().enumerate() {
        let named = test.get("name").and_then(Json::as_str);
        let name = named.map_or_else(|| format!("{}", position + 1), |name| format!("'{name}'"));
        let test = read_test(program, test).map_err(|(field, why)| {
            let field = if field.is_empty() { field } else { format!("{field}: ") };
            error(format!("test {name}: {field}"), why)
        })?;
        read.push(test);
    }
    Ok(read)
}

// ---- writing ------------------------------------------------------------------------------------

struct Writer<'a> {
    program: &'a Program,
    suite_test: &'a SuiteTest,
    test: &'a Test,
    codec: Codec<'a>,
}

impl<'a> Writer<'a> {
    fn new(program: &'a Program, suite_test: &'a SuiteTest) -> Self {
        let test = &suite_test.test;
        Self { program, suite_test, test, codec: Codec::new(&program.types, &test.objects) }
    }

    fn test(&self) -> Json {
        let mut out = Map::new();
        out.insert("name".into(), json!(self.suite_test.name));
        out.insert("function".into(), json!(self.test.function));
        if !self.test.earlier.is_empty() {
            let calls = self.test.calls().take(self.test.earlier.len());
            out.insert(
                "earlier".into(),
                calls.map(|call| Json::Object(self.passed(call))).collect(),
            );
        }
        let last = PassedArguments { args: &self.test.args, variable: &self.test.variable };
        out.extend(self.passed(last));
        let objects: Vec<Json> = self.test.objects.iter().map(|o| self.object(o)).collect();
        if !objects.is_empty() {
            out.insert("objects".into(), Json::Array(objects));
        }
        if !self.test.globals.is_empty() {
            let globals = self.test.globals.iter();
            let globals =
                globals.map(|g| (g.name.clone(), self.global(&g.name, &g.image.clone().into())));
            out.insert("globals".into(), Json::Object(globals.collect()));
        }
        if !self.test.externals.is_empty() {
            let externals = self.test.externals.iter().map(|call| self.external(call));
            out.insert("externals".into(), externals.collect());
        }
        if let Some(observed) = &self.suite_test.observed {
            out.insert("expected".into(), self.expected(observed));
        }
        if !self.suite_test.covers.is_empty() {
            out.insert("covers".into(), json!(self.suite_test.covers));
        }
        if !self.suite_test.kept_for.is_empty() {
            out.insert("kept_for".into(), json!(self.suite_test.kept_for));
        }
        if self.suite_test.keep {
            out.insert("keep".into(), json!(true));
        }
        if self.suite_test.thorough {
            out.insert("thorough".into(), json!(true));
        }
        Json::Object(out)
    }

    /// The arguments of a call.
    fn passed(&self, call: PassedArguments<'_>) -> Map<String, Json> {
        let mut out = Map::new();
        out.insert("args".into(), self.args(call.args));
        if !call.variable.is_empty() {
            let variable = call.variable.iter().map(|argument| self.variable(argument));
            out.insert("variable".into(), variable.collect());
        }
        out
    }

    fn args(&self, args: &[Image]) -> Json {
        let function = self.program.function_named(&self.test.function);
        let types = function.map_or_else(Vec::new, |id| parameters(self.program, id));
        let mut out = Map::new();
        for (position, image) in args.iter().enumerate() {
            let (name, value) = match types.get(position) {
                Some((name, ty)) => {
                    (name.clone(), self.codec.encode(*ty, 1, &image.clone().into()))
                }
                None => {
                    let bytes = self.codec.encode_bytes(&image.clone().into());
                    (format!("arg{position}"), bytes)
                }
            };
            out.insert(name, value);
        }
        Json::Object(out)
    }

    fn variable(&self, argument: &VariableArgument) -> Json {
        let value = self.codec.encode(argument.ty, 1, &argument.image.clone().into());
        json!({ "type": type_name(&self.program.types, argument.ty), "value": value })
    }

    fn object(&self, object: &TestObject) -> Json {
        let mut out = Map::new();
        out.insert("name".into(), json!(object.name));
        out.insert("type".into(), json!(type_name(&self.program.types, object.ty)));
        out.insert("count".into(), json!(object.count));
        out.insert("align".into(), json!(object.align));
        out.insert("address".into(), json!(format!("{:#x}", object.address)));
        if object.read_only {
            out.insert("read_only".into(), json!(true));
        }
        let size = self.program.types.size(object.ty).unwrap_or(1);
        if object.image.bytes.len() as u64 != size * object.count {
            out.insert("size".into(), json!(object.image.bytes.len()));
        }
        let value = self.codec.encode(object.ty, object.count, &object.image.clone().into());
        out.insert("value".into(), value);
        Json::Object(out)
    }

    fn global(&self, name: &str, memory: &ObservedImage) -> Json {
        match self.program.global_named(name).map(|id| &self.program.globals[id]) {
            Some(global) if global.size == memory.image.bytes.len() as u64 => {
                self.codec.encode(global.ty, 1, memory)
            }
            _ => self.codec.encode_bytes(memory),
        }
    }

    fn external(&self, call: &ExternalResult) -> Json {
        if call.function == DEVICE_READ {
            return devices::read_to_json(call);
        }
        if call.function == INTERRUPT {
            return devices::interrupt_to_json(call);
        }
        let mut out = Map::new();
        out.insert("function".into(), json!(call.function));
        let bytes = &call.result.bytes;
        let ty = result_type(self.program, &call.function);
        let fits = ty.is_some_and(|ty| self.program.types.size(ty) == Some(bytes.len() as u64));
        if let Some(object) = &call.object {
            out.insert("object".into(), json!(object));
        }
        if let Some(ty) = ty.filter(|_| fits) {
            out.insert("result".into(), self.codec.encode(ty, 1, &call.result.clone().into()));
        } else if matches!(bytes.as_slice(), [0 | 1]) && call.object.is_none() {
            out.insert("succeeds".into(), json!(bytes[0] == 1));
        } else if !bytes.is_empty() {
            out.insert("result".into(), self.codec.encode_bytes(&call.result.clone().into()));
        }
        if !call.writes.is_empty() {
            let writes = call.writes.iter().map(|write| self.write(&call.function, write));
            out.insert("writes".into(), writes.collect());
        }
        Json::Object(out)
    }

    fn write(&self, function: &str, write: &ExternalWrite) -> Json {
        let mut out = Map::new();
        match &write.to {
            WriteBase::Argument(position) => {
                let name = elements::parameter_name(self.program, function, *position);
                out.insert("to".into(), json!(name));
            }
            WriteBase::Variable(position) => _ = out.insert("variable".into(), json!(position)),
            WriteBase::Global(name) => _ = out.insert("global".into(), json!(name)),
        }
        if !write.through.is_empty() {
            out.insert("through".into(), json!(write.through));
        }
        if write.offset > 0 {
            out.insert("offset".into(), json!(write.offset));
        }
        let memory = write.image.clone().into();
        let value = match elements::elements(self.program, function, write) {
            Some(Elements { ty, count, is_part }) => {
                if is_part {
                    out.insert("type".into(), json!(type_name(&self.program.types, ty)));
                }
                if count != 1 {
                    out.insert("count".into(), json!(count));
                }
                self.codec.encode(ty, count, &memory)
            }
            None => self.codec.encode_bytes(&memory),
        };
        out.insert("value".into(), value);
        Json::Object(out)
    }

    fn expected(&self, observed: &Observation) -> Json {
        let mut out = Map::new();
        out.insert("outcome".into(), json!(observed.outcome));
        if observed.varies {
            out.insert("varies".into(), json!(true));
        }
        if observed.is_undefined {
            out.insert("undefined".into(), json!(true));
        }
        if !observed.attempts.is_empty() {
            out.insert("attempts".into(), json!(observed.attempts));
        }
        if !observed.device_writes.is_empty() {
            let writes = observed.device_writes.iter().map(devices::write_to_json);
            out.insert(devices::WRITES.into(), writes.collect());
        }
        if let Some(result) = &observed.result
            && let Some(ty) = result_type(self.program, &self.test.function)
        {
            let value = self.codec.encode(ty, 1, result);
            out.insert("result".into(), value);
        }
        if !observed.objects.is_empty() {
            let mut objects = Vec::new();
            for (position, image) in &observed.objects {
                let object = &self.test.objects[*position as usize];
                let value = self.codec.encode(object.ty, object.count, image);
                let target = PointerTarget::Object(*position, 0);
                objects.push(json!({ "object": self.codec.target(&target), "value": value }));
            }
            out.insert("objects".into(), Json::Array(objects));
        }
        if !observed.globals.is_empty() {
            let globals =
                observed.globals.iter().map(|(name, seen)| (name.clone(), self.global(name, seen)));
            out.insert("globals".into(), Json::Object(globals.collect()));
        }
        Json::Object(out)
    }
}

/// Names and types of a function's parameters.
fn parameters(program: &Program, function: FuncId) -> Vec<(String, CTypeId)> {
    let names = parameter_names(program, function);
    match program.types.get(program.functions[function].ty) {
        lydian_ir::CType::Function { params, .. } => {
            names.into_iter().zip(params.iter().copied()).collect()
        }
        _ => Vec::new(),
    }
}

/// A type as C spells it, with its id where another one is spelled so too.
fn type_name(types: &CTypes, ty: CTypeId) -> String {
    let spelled = types.spell(ty, "");
    match find_type(types, &spelled) {
        Some(found) if found == ty => spelled,
        _ => format!("{spelled} ({ty})"),
    }
}

/// The type that a name of [`type_name`] means.
fn find_type(types: &CTypes, name: &str) -> Option<CTypeId> {
    let mut all = types.iter();
    if let Some((spelled, id)) = name.strip_suffix(')').and_then(|name| name.rsplit_once(" ("))
        && id.starts_with("ty")
    {
        let same = |ty: CTypeId| ty.to_string() == id && types.spell(ty, "") == spelled;
        return all.map(|(ty, _)| ty).find(|ty| same(*ty));
    }
    all.find(|(ty, _)| types.spell(*ty, "") == name).map(|(ty, _)| ty)
}

// ---- reading ------------------------------------------------------------------------------------

fn object_of<'a>(json: &'a Json, field: &str) -> Result<&'a Map<String, Json>, Fault> {
    json.as_object().ok_or_else(|| fault(field, "it is no JSON object"))
}

fn text_of<'a>(json: &'a Map<String, Json>, field: &str) -> Result<&'a str, Fault> {
    let found = json.get(field).ok_or_else(|| fault(field, "it is missing"))?;
    found.as_str().ok_or_else(|| fault(field, "it is no string"))
}

fn number_of(json: &Map<String, Json>, field: &str) -> Result<u64, Fault> {
    let found = json.get(field).ok_or_else(|| fault(field, "it is missing"))?;
    found.as_u64().ok_or_else(|| fault(field, "it is no whole number from 0"))
}

fn only_fields(json: &Map<String, Json>, known: &[&str]) -> Result<(), Fault> {
    match json.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(fault(key, format!("no such field; there are {}", known.join(", ")))),
        None => Ok(()),
    }
}

/// A list that may be missing, each element with its field's name.
fn list<'a>(json: &'a Map<String, Json>, field: &str) -> Result<Vec<(String, &'a Json)>, Fault> {
    match json.get(field) {
        None => Ok(Vec::new()),
        Some(Json::Array(elements)) => {
            let named = elements.iter().enumerate();
            Ok(named.map(|(at, element)| (format!("{field}[{at}]"), element)).collect())
        }
        Some(_) => Err(fault(field, "it is no list")),
    }
}

fn members<'a>(
    json: &'a Map<String, Json>,
    field: &str,
) -> Result<impl Iterator<Item = (&'a String, &'a Json)>, Fault> {
    let found = json.get(field).map(|found| object_of(found, field)).transpose()?;
    Ok(found.into_iter().flatten())
}

fn inside(field: impl std::fmt::Display) -> impl FnOnce(Fault) -> Fault {
    move |(inner, why)| match inner.is_empty() {
        true => (field.to_string(), why),
        false if inner.starts_with(['[', '.']) => (format!("{field}{inner}"), why),
        false => (format!("{field}.{inner}"), why),
    }
}

const TEST_FIELDS: [&str; 13] = [
    "name",
    "function",
    "earlier",
    "args",
    "variable",
    "objects",
    "globals",
    "externals",
    "expected",
    "covers",
    "kept_for",
    "keep",
    "thorough",
];

fn read_test(program: &Program, json: &Json) -> Result<SuiteTest, Fault> {
    let json = object_of(json, "")?;
    only_fields(json, &TEST_FIELDS)?;
    let name = text_of(json, "name")?.to_owned();
    let function = text_of(json, "function")?.to_owned();
    let declared = program.function_named(&function);
    let why = || fault("function", format!("the program has no function {function}"));
    let declared = declared.ok_or_else(why)?;
    let mut objects = Vec::new();
    let mut values = Vec::new();
    for (field, object) in list(json, "objects")? {
        let (object, value) = read_object(program, object).map_err(inside(&field))?;
        objects.push(object);
        values.push((field, value));
    }
    check_addresses(&objects)?;
    let codec = Codec::new(&program.types, &objects);
    let mut images = Vec::new();
    for (object, (field, value)) in objects.iter().zip(&values) {
        let size = object.image.bytes.len() as u64;
        let seen = codec.decode(object.ty, object.count, size, value);
        images.push(seen.map_err(inside("value")).map_err(inside(field))?.image);
    }
    let mut earlier = Vec::new();
    for (field, call) in list(json, "earlier")? {
        earlier.push(read_earlier(program, declared, call, &codec).map_err(inside(&field))?);
    }
    let EarlierCall { args, variable } = read_passed(program, declared, json, &codec)?;
    let mut globals = Vec::new();
    for (name, value) in members(json, "globals")? {
        let image = read_global(program, &codec, name, value).map_err(inside("globals"))?.image;
        globals.push(GlobalInput { name: name.clone(), image });
    }
    let mut externals = Vec::new();
    for (field, call) in list(json, "externals")? {
        externals.push(read_external(program, &codec, call).map_err(inside(&field))?);
    }
    let observed = json.get("expected").map(|expected| {
        let reader = ExpectedReader { program, codec: &codec, objects: &objects };
        reader.read(&function, expected).map_err(inside("expected"))
    });
    let observed = observed.transpose()?;
    for (object, image) in objects.iter_mut().zip(images) {
        object.image = image;
    }
    let test = Test { function, earlier, objects, args, variable, globals, externals };
    let texts = |name: &str| -> Result<Vec<String>, Fault> {
        let texts = list(json, name)?.into_iter().map(|(field, text)| {
            let text = text.as_str().ok_or_else(|| fault(&field, "it is no string"))?;
            Ok(text.to_owned())
        });
        texts.collect()
    };
    let (covers, kept_for) = (texts("covers")?, texts("kept_for")?);
    let keep = json.get("keep").and_then(Json::as_bool).unwrap_or(false);
    let thorough = json.get("thorough").and_then(Json::as_bool).unwrap_or(false);
    Ok(SuiteTest { name, test, observed, covers, kept_for, keep, thorough })
}

const OBJECT_FIELDS: [&str; 8] =
    ["name", "type", "count", "align", "address", "read_only", "size", "value"];

/// An object with an image of zero bytes, and its value.
fn read_object<'a>(program: &Program, json: &'a Json) -> Result<(TestObject, &'a Json), Fault> {
    let json = object_of(json, "")?;
    only_fields(json, &OBJECT_FIELDS)?;
    let spelled = text_of(json, "type")?;
    let ty = find_type(&program.types, spelled);
    let ty = ty.ok_or_else(|| fault("type", format!("the program has no type {spelled}")))?;
    let count = number_of(json, "count")?;
    let address = text_of(json, "address")?;
    let digits = address.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
    let address =
        digits.ok_or_else(|| fault("address", "it is no hexadecimal number like 0x20"))?;
    let element = program.types.size(ty);
    let element = element.ok_or_else(|| fault("type", format!("{spelled} is incomplete")))?;
    let size = match json.get("size") {
        Some(_) => Some(number_of(json, "size")?),
        None => element.checked_mul(count),
    };
    let size = size.filter(|size| *size <= INPUT_REGION_SIZE);
    let size = size.ok_or_else(|| fault("count", "the object is too large"))?;
    let read_only = match json.get("read_only") {
        None => false,
        Some(flag) => {
            flag.as_bool().ok_or_else(|| fault("read_only", "it is neither true nor false"))?
        }
    };
    let object = TestObject {
        name: text_of(json, "name")?.to_owned(),
        address,
        ty,
        count,
        align: number_of(json, "align")?.max(1),
        image: Image { bytes: vec![0; size as usize], pointers: Vec::new() },
        read_only,
    };
    let value = json.get("value").ok_or_else(|| fault("value", "it is missing"))?;
    Ok((object, value))
}

/// Checks that objects lie in their region, aligned, and do not overlap.
fn check_addresses(objects: &[TestObject]) -> Result<(), Fault> {
    for (at, object) in objects.iter().enumerate() {
        let wrong = |why: String| Err(fault(&format!("objects[{at}].address"), why));
        let end = object.address.checked_add(object.image.bytes.len() as u64);
        let region_end = INPUT_REGION + INPUT_REGION_SIZE;
        if object.address < INPUT_REGION || end.is_none_or(|end| end > region_end) {
            let why = format!("it is not between {INPUT_REGION:#x} and {region_end:#x}");
            return wrong(why);
        }
        if !object.address.is_multiple_of(object.align) {
            return wrong(format!("it is no multiple of {}", object.align));
        }
        let start = object.address;
        let overlaps = |other: &&TestObject| {
            let length = |object: &TestObject| object.image.bytes.len() as u64;
            other.address < start + length(object) && start < other.address + length(other)
        };
        if let Some(other) = objects[..at].iter().find(overlaps) {
            return wrong(format!("it overlaps the object {}", other.name));
        }
    }
    Ok(())
}

/// A call before the last one.
fn read_earlier(
    program: &Program,
    function: FuncId,
    json: &Json,
    codec: &Codec,
) -> Result<EarlierCall, Fault> {
    let json = object_of(json, "")?;
    only_fields(json, &["args", "variable"])?;
    read_passed(program, function, json, codec)
}

/// The arguments of a call.
fn read_passed(
    program: &Program,
    function: FuncId,
    json: &Map<String, Json>,
    codec: &Codec,
) -> Result<EarlierCall, Fault> {
    let args = read_args(program, function, json, codec)?;
    let mut variable = Vec::new();
    for (field, argument) in list(json, "variable")? {
        variable.push(read_variable(program, codec, argument).map_err(inside(&field))?);
    }
    Ok(EarlierCall { args, variable })
}

fn read_args(
    program: &Program,
    function: FuncId,
    json: &Map<String, Json>,
    codec: &Codec,
) -> Result<Vec<Image>, Fault> {
    let parameters = parameters(program, function);
    for (name, _) in members(json, "args")? {
        if parameters.iter().all(|(known, _)| known != name) {
            return Err(fault(&format!("args.{name}"), "there is no such parameter"));
        }
    }
    let mut images = Vec::new();
    for (name, ty) in &parameters {
        let field = format!("args.{name}");
        let given = json.get("args").and_then(|args| args.get(name));
        let given = given.ok_or_else(|| fault(&field, "it is missing"))?;
        let size = program.types.size(*ty).unwrap_or(0);
        images.push(codec.decode(*ty, 1, size, given).map_err(inside(&field))?.image);
    }
    Ok(images)
}

/// An argument for `...`.
fn read_variable(program: &Program, codec: &Codec, json: &Json) -> Result<VariableArgument, Fault> {
    let json = object_of(json, "")?;
    only_fields(json, &["type", "value"])?;
    let spelled = text_of(json, "type")?;
    let ty = find_type(&program.types, spelled);
    let ty = ty.ok_or_else(|| fault("type", format!("the program has no type {spelled}")))?;
    let passed = class(&program.types, ty).and_then(|_| program.types.size(ty));
    let why = || fault("type", format!("tests pass no argument of type {spelled} for `...`"));
    let size = passed.ok_or_else(why)?;
    let value = json.get("value").ok_or_else(|| fault("value", "it is missing"))?;
    let image = codec.decode(ty, 1, size, value).map_err(inside("value"))?.image;
    Ok(VariableArgument { ty, image })
}

fn read_global(
    program: &Program,
    codec: &Codec,
    name: &str,
    value: &Json,
) -> Result<ObservedImage, Fault> {
    let id = program.global_named(name);
    let id = id.ok_or_else(|| fault(name, "the program has no such global variable"))?;
    let global = &program.globals[id];
    codec.decode(global.ty, 1, global.size, value).map_err(inside(name))
}

fn read_external(program: &Program, codec: &Codec, json: &Json) -> Result<ExternalResult, Fault> {
    let json = object_of(json, "")?;
    if json.contains_key(devices::DEVICE) {
        return devices::read_from_json(json);
    }
    if json.contains_key(devices::INTERRUPT) {
        return devices::interrupt_from_json(json);
    }
    only_fields(json, &["function", "object", "result", "succeeds", "writes"])?;
    let function = text_of(json, "function")?.to_owned();
    let result = if let Some(succeeds) = json.get("succeeds") {
        let succeeds =
            succeeds.as_bool().ok_or_else(|| fault("succeeds", "it is neither true nor false"))?;
        Image { bytes: vec![u8::from(succeeds)], pointers: Vec::new() }
    } else if let Some(value) = json.get("result") {
        let raw = codec::raw_size(value);
        let ty = result_type(program, &function);
        match (ty, raw) {
            (_, Some(_)) => codec.decode_bytes(value).map_err(inside("result"))?,
            (Some(ty), None) => {
                let size = program.types.size(ty).unwrap_or(0);
                codec.decode(ty, 1, size, value).map_err(inside("result"))?.image
            }
            (None, None) => {
                return Err(fault("function", format!("{function} gives no result")));
            }
        }
    } else {
        Image::default()
    };
    let object = json.get("object").and_then(Json::as_str).map(str::to_owned);
    let mut writes = Vec::new();
    for (field, write) in list(json, "writes")? {
        let write = read_write(program, codec, &function, write);
        writes.push(write.map_err(inside(&field))?);
    }
    Ok(ExternalResult { object, writes, ..ExternalResult::new(function, result) })
}

struct ExpectedReader<'a> {
    program: &'a Program,
    codec: &'a Codec<'a>,
    objects: &'a [TestObject],
}

impl ExpectedReader<'_> {
    fn read(&self, function: &str, json: &Json) -> Result<Observation, Fault> {
        let json = object_of(json, "")?;
        let known = ["outcome", "undefined", "varies", "attempts", "result", "objects", "globals"];
        only_fields(json, &[&known[..], &[devices::WRITES]].concat())?;
        let outcome = json.get("outcome").ok_or_else(|| fault("outcome", "it is missing"))?;
        let outcome: Outcome = serde_json::from_value(outcome.clone())
            .map_err(|error| fault("outcome", error.to_string()))?;
        let result = match (json.get("result"), result_type(self.program, function)) {
            (None, _) => None,
            (Some(_), None) => return Err(fault("result", format!("{function} gives none"))),
            (Some(value), Some(ty)) => {
                let size = self.program.types.size(ty).unwrap_or(0);
                Some(self.codec.decode(ty, 1, size, value).map_err(inside("result"))?)
            }
        };
        let mut objects = Vec::new();
        for (field, object) in list(json, "objects")? {
            objects.push(self.object(object).map_err(inside(&field))?);
        }
        let mut globals = Vec::new();
        for (name, value) in members(json, "globals")? {
            let image = read_global(self.program, self.codec, name, value);
            globals.push((name.clone(), image.map_err(inside("globals"))?));
        }
        let flag = |name| json.get(name).and_then(Json::as_bool).unwrap_or(false);
        let (is_undefined, varies) = (flag("undefined"), flag("varies"));
        let ended = Observation::ended(outcome);
        let attempts = list(json, "attempts")?.into_iter().map(|(field, attempt)| {
            let words = attempt.as_str().ok_or_else(|| fault(&field, "it is no string"))?;
            Ok(words.to_owned())
        });
        let attempts = attempts.collect::<Result<_, Fault>>()?;
        let writes = list(json, devices::WRITES)?
            .into_iter()
            .map(|(field, write)| devices::write_from_json(write).map_err(inside(&field)));
        let device_writes = writes.collect::<Result<_, Fault>>()?;
        let seen = Observation { result, objects, globals, is_undefined, varies, ..ended };
        Ok(Observation { attempts, device_writes, ..seen })
    }

    fn object(&self, json: &Json) -> Result<(u32, ObservedImage), Fault> {
        let json = object_of(json, "")?;
        only_fields(json, &["object", "value"])?;
        let text = text_of(json, "object")?;
        let target = self.codec.parse_target(text).map_err(|why| fault("object", why))?;
        let PointerTarget::Object(position, 0) = target else {
            return Err(fault("object", "it is not the start of an object"));
        };
        let object = &self.objects[position as usize];
        let value = json.get("value").ok_or_else(|| fault("value", "it is missing"))?;
        let size = object.image.bytes.len() as u64;
        let seen = self.codec.decode(object.ty, object.count, size, value);
        Ok((position, seen.map_err(inside("value"))?))
    }
}
