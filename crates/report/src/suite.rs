//! A suite: tests with what was observed when they ran natively.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::test::{GlobalInput, Image, ImagePointer, PointerTarget, Test};
use lydian_ir::{CType, CTypeId, Program, libc};
use serde::{Deserialize, Serialize};

use crate::value::pointer_offsets;

/// A test with its name and, once it has run, what was observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SuiteTest {
    /// A C identifier, unique in its suite: the function's name and a number.
    pub name: String,
    /// The inputs.
    pub test: Test,
    /// What happened.
    pub observed: Option<Observed>,
    /// What it is kept for, in words: the objectives that no earlier test covers.
    pub covers: Vec<String>,
    /// The same as a reader of the source finds it: a line of the source each, with what is to hold there.
    pub kept_for: Vec<String>,
}

/// What a native run of a test showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Observed {
    /// How the run ended.
    pub outcome: Outcome,
    /// The result; `None` for `void` and where the call did not return.
    pub result: Option<ObservedImage>,
    /// The objects whose contents changed, by position in the test.
    pub objects: Vec<(u32, ObservedImage)>,
    /// The globals whose contents changed, by name.
    pub globals: Vec<(String, ObservedImage)>,
}

/// How a native run ended.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// The call returned.
    Returned,
    /// The program called `exit` or one of its kind, with this status.
    Exited(i32),
    /// The program called `abort`, or an `assert` failed.
    Aborted,
    /// A signal ended it, by its number.
    Crashed(i32),
    /// It ran longer than the limit, in milliseconds.
    TimedOut(u64),
    /// Something else, in words: a call of a function that does not return, a bad `free`.
    Ended(String),
}

/// Memory as a run left it. Some of its pointers have values that differ from run to run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ObservedImage {
    /// The contents; zero bytes where nothing is known.
    pub image: Image,
    /// Offsets of addresses, eight bytes each, that may differ in the next run: of allocated
    /// memory, of locals, of code.
    pub unknown: Vec<u64>,
}

impl ObservedImage {
    /// Zero bytes, without pointers.
    pub(crate) fn zero(size: u64) -> Self {
        let image = Image { bytes: vec![0; size as usize], pointers: Vec::new() };
        Self { image, unknown: Vec::new() }
    }
}

impl From<Image> for ObservedImage {
    fn from(image: Image) -> Self {
        Self { image, unknown: Vec::new() }
    }
}

impl Observed {
    /// What was observed, from the bytes of memory that a runner hands back: the result's, those of
    /// all objects in their order, and those of the globals that are not as the program's start
    /// made them. Addresses among them become references to input objects where they are such.
    /// What the run left as the test set it is dropped.
    pub fn from_bytes(
        program: &Program,
        test: &Test,
        outcome: Outcome,
        result: &[u8],
        objects: &[Vec<u8>],
        globals: &[(String, Vec<u8>)],
    ) -> Self {
        let result_type = result_type(program, &test.function);
        let returned = outcome == Outcome::Returned;
        let has_result = returned && !result.is_empty();
        let result =
            result_type.filter(|_| has_result).map(|ty| observe(program, test, ty, 1, result));
        let of_objects = test.objects.iter().zip(objects).enumerate();
        let changed_objects = of_objects.filter_map(|(at, (object, bytes))| {
            let seen = observe(program, test, object.ty, object.count.max(1), bytes);
            let before = object.image.clone().into();
            (!same_contents(&before, &seen)).then_some((at as u32, seen))
        });
        let set: BTreeMap<&str, &GlobalInput> =
            test.globals.iter().map(|global| (global.name.as_str(), global)).collect();
        let mut changed_globals = Vec::new();
        let told: BTreeSet<&str> = globals.iter().map(|(name, _)| name.as_str()).collect();
        // What is again as the program's start made it is not handed back.
        let again = set.keys().filter(|name| returned && !told.contains(**name));
        let again = again.filter(|name| **name != libc::ERROR_NUMBER).filter_map(|name| {
            let id = program.global_named(name)?;
            let initial = Image::initial(program, id);
            (initial != set[name].image).then(|| ((*name).to_owned(), initial.into()))
        });
        changed_globals.extend(again);
        for (name, bytes) in globals {
            let Some(id) = program.global_named(name) else { continue };
            let seen = observe(program, test, program.globals[id].ty, 1, bytes);
            let before = set.get(name.as_str()).map(|global| global.image.clone().into());
            if before.is_none_or(|before| !same_contents(&before, &seen)) {
                changed_globals.push((name.clone(), seen));
            }
        }
        changed_globals.sort_by(|a, b| a.0.cmp(&b.0));
        Self { outcome, result, objects: changed_objects.collect(), globals: changed_globals }
    }
}

/// The type of a function's result; `None` for `void` and for a function that is not there.
pub(crate) fn result_type(program: &Program, function: &str) -> Option<CTypeId> {
    let function = &program.functions[program.function_named(function)?];
    match program.types.get(function.ty) {
        CType::Function { result, .. } => program.types.size(*result).map(|_| *result),
        _ => None,
    }
}

/// Finds the pointers in bytes that hold `count` elements of a type.
fn observe(program: &Program, test: &Test, ty: CTypeId, count: u64, bytes: &[u8]) -> ObservedImage {
    let mut seen = ObservedImage {
        image: Image { bytes: bytes.to_vec(), pointers: Vec::new() },
        unknown: Vec::new(),
    };
    for (offset, sure) in pointer_offsets(&program.types, ty, count, bytes.len() as u64) {
        let at = offset as usize;
        let value = u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
        if value == 0 {
            continue;
        }
        if let Some(target) = object_at(test, value) {
            seen.image.pointers.push(ImagePointer { offset, target });
        } else if sure || looks_like_an_address(value) {
            seen.image.bytes[at..at + 8].fill(0);
            seen.unknown.push(offset);
        }
    }
    seen
}

/// Whether a number is where Linux puts the code, heap, libraries and stack of a 64-bit process.
fn looks_like_an_address(value: u64) -> bool {
    matches!(value >> 40, 0x55 | 0x56 | 0x7e | 0x7f)
}

/// The input object that an address lies in or ends.
fn object_at(test: &Test, address: u64) -> Option<PointerTarget> {
    let holds = |object: &&lydian_ir::test::TestObject| {
        object.address <= address && address <= object.address + object.image.bytes.len() as u64
    };
    let position = test.objects.iter().position(|object| holds(&object))?;
    let offset = address - test.objects[position].address;
    Some(PointerTarget::Object(position as u32, offset))
}

/// Whether two images say the same, whatever bytes stand where pointers are.
fn same_contents(before: &ObservedImage, after: &ObservedImage) -> bool {
    after.unknown.is_empty() && plain(&before.image) == plain(&after.image)
}

/// The image with zero bytes under its pointers, and those in order.
pub(crate) fn plain(image: &Image) -> Image {
    let mut image = image.clone();
    for pointer in &image.pointers {
        let at = pointer.offset as usize;
        if let Some(bytes) = image.bytes.get_mut(at..at + 8) {
            bytes.fill(0);
        }
    }
    image.pointers.sort_by_key(|pointer| pointer.offset);
    image
}

/// The names of a function's parameters: `arg0` and so on for one that has none or shares it.
pub(crate) fn parameter_names(program: &Program, function: lydian_ir::FuncId) -> Vec<String> {
    let declared = &program.functions[function];
    let CType::Function { params, .. } = program.types.get(declared.ty) else { return Vec::new() };
    let mut names: Vec<String> = Vec::new();
    for position in 0..params.len() {
        let local = || {
            let body = declared.body.as_ref()?;
            Some(&body.locals[*body.params.get(position)?].name)
        };
        let name = declared.param_names.get(position).or_else(local);
        let usable = name.filter(|name| !name.is_empty() && !names.contains(name));
        names.push(usable.cloned().unwrap_or_else(|| format!("arg{position}")));
    }
    names
}
