//! A test: the inputs of one call, as images of memory.
//!
//! The interpreter, the symbolic engine and the native runner all start from this one form.
//! Input objects have fixed addresses, the same in all three, so that what a program can observe of
//! them by casts or comparisons is the same too.

use serde::{Deserialize, Serialize};

use crate::program::ctype::{CTypeId, Target};
use crate::program::{GlobalId, GlobalInit, Program, RelocationTarget, arith};

pub use crate::program::target::{INPUT_REGION, INPUT_REGION_SIZE};

/// Instead of a function's name in [`ExternalResult`]: the result of whichever function that gives
/// inputs ([`crate::libc::gives_inputs`]) is called next, as bytes. Suites of other tools do not say
/// which. A run that asks for more than such a test has ends there.
pub const ANY_BYTES: &str = "*bytes";

/// The same as a number, whose type is that of the result: an image of [`number_image`].
pub const ANY_NUMBER: &str = "*number";

/// How the names of functions begin that give the bytes of standard input (`lydian_input_stdin`) and
/// of files: each call one byte as an `int`, -1 at the end. Natively the bytes are in the file.
pub const INPUT_PREFIX: &str = "lydian_input_";

/// The prefix of the names of functions that only pointers of the inputs lead to; a number follows.
pub const CALLBACK_PREFIX: &str = "lydian_callback_";

/// How a result is read from the image of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum NumberKind {
    /// As an integer.
    Integer = 1,
    /// As a `float`.
    Float = 2,
    /// As a `double`.
    Double = 3,
    /// As a `long double` of the x87's 80 bits.
    Extended = 4,
}

impl NumberKind {
    /// For a result of a machine type.
    pub const fn of(ty: crate::Type) -> Self {
        match ty {
            crate::Type::F32 => Self::Float,
            crate::Type::F64 => Self::Double,
            crate::Type::F80 => Self::Extended,
            _ => Self::Integer,
        }
    }

    /// Where its bytes are in the image of a number, and how many.
    pub const fn place(self) -> (usize, usize) {
        match self {
            Self::Integer => (0, 16),
            Self::Double => (16, 8),
            Self::Float => (24, 4),
            Self::Extended => (32, 16),
        }
    }
}

/// The image of a number whose type is not known, as suites write it: an integer, also in
/// hexadecimal, a character in quotes, or a float, which may be `inf` or `nan`; suffixes of C are
/// left out. It is kept as an integer of 128 bits, `double`, `float` and `long double`, one after the
/// other. `None` where the text is no number.
pub fn number_image(text: &str) -> Option<Image> {
    let text = text.trim();
    let float = |ty, text: &str| arith::parse_float(ty, text);
    let mut bytes = vec![0; 48];
    let mut put = |kind: NumberKind, value: u128| {
        let (at, size) = kind.place();
        bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    };
    let floats = [
        (NumberKind::Float, crate::Type::F32),
        (NumberKind::Double, crate::Type::F64),
        (NumberKind::Extended, crate::Type::F80),
    ];
    if let Some(integer) = integer(text) {
        put(NumberKind::Integer, integer as u128);
        for (kind, ty) in floats {
            put(kind, float(ty, &integer.to_string())?);
        }
    } else {
        let plain = text.trim_end_matches(['f', 'F', 'l', 'L']);
        let plain = if float(crate::Type::F64, text).is_some() { text } else { plain };
        put(NumberKind::Integer, arith::f64_of(float(crate::Type::F64, plain)?) as i128 as u128);
        for (kind, ty) in floats {
            put(kind, float(ty, plain)?);
        }
    }
    Some(Image { bytes, pointers: Vec::new() })
}

/// An integer as suites write it.
fn integer(text: &str) -> Option<i128> {
    if let Some(quoted) = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) {
        let mut characters = quoted.chars();
        let only = characters.next()?;
        return characters.next().is_none().then_some(i128::from(u32::from(only)));
    }
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let hexadecimal = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
    let magnitude = match hexadecimal {
        Some(digits) => u128::from_str_radix(digits.trim_end_matches(['u', 'U', 'l', 'L']), 16),
        None => digits.trim_end_matches(['u', 'U', 'l', 'L']).parse::<u128>(),
    };
    let magnitude = magnitude.ok()? as i128;
    Some(if negative { magnitude.wrapping_neg() } else { magnitude })
}

/// The inputs of one call, or of several of one function.
///
/// The objects, globals and externals are those of all calls together: they are set up once, before the
/// first, and results of undefined functions are taken in the order of their calls. What any call covers
/// counts, a call that does not return ends the test, and its result is that of the last call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Test {
    /// The function that is called.
    pub function: String,
    /// Earlier calls of the function, in order, whose memory the last call finds as they left it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierCall>,
    /// The objects that pointers point to.
    pub objects: Vec<TestObject>,
    /// An image of each argument, of the size of its type.
    pub args: Vec<Image>,
    /// The arguments for `...`, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variable: Vec<VariableArgument>,
    /// The globals that differ from their initial contents, by name.
    pub globals: Vec<GlobalInput>,
    /// What undefined functions return (and `malloc` and its like, by their names), in the order
    /// of the calls. A call beyond the list gives zero bytes (for `malloc`: success).
    pub externals: Vec<ExternalResult>,
}

/// A call of the function under test before the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct EarlierCall {
    /// As [`Test::args`].
    pub args: Vec<Image>,
    /// As [`Test::variable`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variable: Vec<VariableArgument>,
}

/// The arguments of one of a test's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassedArguments<'a> {
    /// For the parameters.
    pub args: &'a [Image],
    /// For `...`.
    pub variable: &'a [VariableArgument],
}

/// An argument of the variable part of a call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct VariableArgument {
    /// Its type, as passed.
    pub ty: CTypeId,
    /// An image of its value.
    pub image: Image,
}

/// Bytes with pointers among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Image {
    /// The bytes; eight arbitrary ones where a pointer stands.
    pub bytes: Vec<u8>,
    /// The pointers, by offset.
    pub pointers: Vec<ImagePointer>,
}

/// A pointer in an image.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ImagePointer {
    /// Where it stands.
    pub offset: u64,
    /// The target.
    pub target: PointerTarget,
}

/// The target of a pointer in an image. Null pointers are plain zero bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PointerTarget {
    /// An input object, by position, and a byte offset into it.
    Object(u32, u64),
    /// A global by name, and a byte offset into it.
    Global(String, u64),
    /// A function by name.
    Function(String),
    /// What a variable of [`crate::libc::STREAMS`] points to, by its name.
    Stream(String),
}

/// An object that an input pointer points to.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct TestObject {
    /// The place in the inputs as C programmers write it: `buf`, `ctx->out.buf`.
    pub name: String,
    /// Its address, in the region of inputs.
    pub address: u64,
    /// Type of an element.
    pub ty: CTypeId,
    /// How many elements.
    pub count: u64,
    /// Alignment in bytes, at least that of the type.
    pub align: u64,
    /// Its contents when the call starts.
    pub image: Image,
    /// Whether the callee may not write to it.
    pub read_only: bool,
}

/// The contents of a global when the call starts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct GlobalInput {
    /// The global's name in the program.
    pub name: String,
    /// Its contents.
    pub image: Image,
}

/// The result of one call of an undefined function.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ExternalResult {
    /// The function.
    pub function: String,
    /// An image of the result, of the size of its type; empty for `void`. For `malloc` and its like
    /// one byte: 0 where the allocation fails. For `klee_make_symbolic` the bytes that it writes.
    pub result: Image,
    /// The name that the program gives the input, where it gives one: that of the environment variable
    /// for `getenv`, whose result holds for all calls with that name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
    /// The writes of the call before it returns, in this order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<ExternalWrite>,
}

/// A write of a call of an undefined function ([`crate::outside`]).
///
/// The way to the place begins at what an argument points to, or at a variable. Each step follows the
/// pointer that lies so many bytes behind where the way leads so far. Where an argument or a pointer on
/// the way is null, the write is left out. The way is followed when the turn of the write comes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ExternalWrite {
    /// Where the way to the place begins. Tests of earlier versions have the position of an argument.
    #[serde(alias = "argument", deserialize_with = "base_or_position")]
    pub to: WriteBase,
    /// Pointers that are followed on the way: each lies so many bytes behind where the one before leads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub through: Vec<u64>,
    /// How many bytes behind the place where the way ends.
    pub offset: u64,
    /// The bytes that are written.
    pub image: Image,
}

/// Where the chain of pointers to a written place begins.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum WriteBase {
    /// What the argument at a position, from 0, points to.
    Argument(u32),
    /// What the word at a position among the arguments for `...` points to, from 0; numbers of floating
    /// point are not counted ([`crate::outside::variable_words`]).
    Variable(u32),
    /// A global variable by its name. [`crate::libc::ERROR_NUMBER`] is one, as among [`Test::globals`].
    Global(String),
}

/// Reads where a write begins, which used to be the position of an argument.
fn base_or_position<'de, D: serde::Deserializer<'de>>(from: D) -> Result<WriteBase, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum StoredBase {
        Position(u32),
        Base(WriteBase),
    }
    Ok(match StoredBase::deserialize(from)? {
        StoredBase::Position(position) => WriteBase::Argument(position),
        StoredBase::Base(base) => base,
    })
}

impl ExternalWrite {
    /// A write behind what an argument points to.
    pub const fn behind_argument(position: u32, offset: u64, image: Image) -> Self {
        Self { to: WriteBase::Argument(position), through: Vec::new(), offset, image }
    }
}

impl Image {
    /// A global's contents when the program starts.
    pub fn initial(program: &Program, id: GlobalId) -> Self {
        let global = &program.globals[id];
        let mut image = Self { bytes: vec![0; global.size as usize], pointers: Vec::new() };
        let GlobalInit::Data { items, relocations } = &global.init else { return image };
        for item in items {
            let start = (item.offset as usize).min(image.bytes.len());
            let end = (start + item.bytes.len()).min(image.bytes.len());
            image.bytes[start..end].copy_from_slice(&item.bytes[..end - start]);
        }
        for relocation in relocations {
            let target = match relocation.target {
                RelocationTarget::Global(global) => PointerTarget::Global(
                    program.globals[global].name.clone(),
                    relocation.addend as u64,
                ),
                RelocationTarget::Function(function) => {
                    PointerTarget::Function(program.functions[function].name.clone())
                }
            };
            image.pointers.push(ImagePointer { offset: relocation.offset, target });
        }
        image.pointers.sort_by_key(|pointer| pointer.offset);
        image
    }
}

impl Test {
    /// A call of a function with these arguments, and nothing else among the inputs.
    pub fn calling(function: impl Into<String>, args: Vec<Image>) -> Self {
        Self {
            function: function.into(),
            earlier: Vec::new(),
            objects: Vec::new(),
            args,
            variable: Vec::new(),
            globals: Vec::new(),
            externals: Vec::new(),
        }
    }

    /// All images of the inputs.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        let calls = self.calls().flat_map(|call| {
            call.args.iter().chain(call.variable.iter().map(|argument| &argument.image))
        });
        let objects = self.objects.iter().map(|object| &object.image);
        let globals = self.globals.iter().map(|global| &global.image);
        let externals = self.externals.iter().flat_map(|call| {
            std::iter::once(&call.result).chain(call.writes.iter().map(|write| &write.image))
        });
        calls.chain(objects).chain(globals).chain(externals)
    }

    /// The arguments of its calls, in their order.
    pub fn calls(&self) -> impl Iterator<Item = PassedArguments<'_>> {
        let earlier = self.earlier.iter();
        let earlier =
            earlier.map(|call| PassedArguments { args: &call.args, variable: &call.variable });
        earlier.chain([PassedArguments { args: &self.args, variable: &self.variable }])
    }

    /// Lets a call of an allocator fail, by its number from 0.
    pub fn fail(&mut self, allocator: &str, call: u32) {
        let image = |is_granted| Image { bytes: vec![u8::from(is_granted)], ..Image::default() };
        let is_own = |one: &&mut ExternalResult| one.function == allocator;
        let known = self.externals.iter().filter(|one| one.function == allocator).count();
        for _ in known..=call as usize {
            self.externals.push(ExternalResult::new(allocator, image(true)));
        }
        if let Some(one) = self.externals.iter_mut().filter(is_own).nth(call as usize) {
            one.result = image(false);
        }
    }

    /// The environment variables that the run asks for, by name: their values without the NUL, none where
    /// there is no such variable.
    pub fn environment(&self) -> Vec<(&str, Option<Vec<u8>>)> {
        let value = |image: &Image| {
            let PointerTarget::Object(position, offset) = &image.pointers.first()?.target else {
                return None;
            };
            let bytes = &self.objects.get(*position as usize)?.image.bytes;
            let text = bytes.get(*offset as usize..)?.iter();
            Some(text.take_while(|byte| **byte != 0).copied().collect())
        };
        let calls = self.externals.iter();
        calls.filter_map(|call| Some((call.variable()?, value(&call.result)))).collect()
    }

    /// The contents of standard input (`stdin`) and of files, by name, as far as the run reads them.
    pub fn files(&self) -> Vec<(&str, Vec<u8>)> {
        let mut files: Vec<(&str, Vec<u8>, bool)> = Vec::new();
        for call in &self.externals {
            let Some(name) = call.function.strip_prefix(INPUT_PREFIX) else { continue };
            let at = files.iter().position(|file| file.0 == name).unwrap_or_else(|| {
                files.push((name, Vec::new(), false));
                files.len() - 1
            });
            let low = call.result.bytes.first().copied().unwrap_or(0);
            let at_end = call.result.bytes.get(1).is_some_and(|byte| *byte != 0);
            files[at].2 |= at_end;
            if !files[at].2 {
                files[at].1.push(low);
            }
        }
        files.into_iter().map(|(name, bytes, _)| (name, bytes)).collect()
    }
}

impl ExternalResult {
    /// The environment variable whose value this is, if it is one.
    pub fn variable(&self) -> Option<&str> {
        self.object.as_deref().filter(|_| crate::libc::reads_environment(&self.function))
    }

    /// That there is no such environment variable.
    pub fn no_variable(name: &str, target: Target) -> Self {
        let null = Image { bytes: vec![0; target.pointer_bytes() as usize], ..Image::default() };
        Self { object: Some(name.to_owned()), ..Self::new("getenv", null) }
    }

    /// What a call of a function returns.
    pub fn new(function: impl Into<String>, result: Image) -> Self {
        Self { function: function.into(), result, object: None, writes: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(text: &str, kind: NumberKind) -> u128 {
        let image = number_image(text).unwrap_or_else(|| panic!("{text} is a number"));
        let (at, size) = kind.place();
        let mut bytes = [0; 16];
        bytes[..size].copy_from_slice(&image.bytes[at..at + size]);
        u128::from_le_bytes(bytes)
    }

    #[test]
    fn a_number_is_kept_as_every_type_that_may_be_asked_for() {
        for (text, integer) in
            [("-5", -5), ("0x1F", 31), ("'a'", 97), ("42ul", 42), ("+7", 7), ("-1.5", -1)]
        {
            assert_eq!(part(text, NumberKind::Integer) as i128, integer, "{text}");
        }
        assert_eq!(part("-5", NumberKind::Double), u128::from((-5.0f64).to_bits()));
        assert_eq!(part("0.1f", NumberKind::Float), u128::from(0.1f32.to_bits()));
        assert_eq!(part("inf", NumberKind::Double), u128::from(f64::INFINITY.to_bits()));
        assert_eq!(part("18446744073709551615", NumberKind::Integer), u128::from(u64::MAX));
        for text in ["", "x", "'ab'", "1.2.3", "--1"] {
            assert!(number_image(text).is_none(), "{text}");
        }
    }
}
