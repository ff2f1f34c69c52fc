//! A certificate as a document.
//!
//! Numbers of functions, globals, locals, statements and blocks are those of the IR's text, which lies in
//! a file beside the certificate. [`FORMAT`] is the version; a certificate of another one is refused.

pub mod objectives;

use std::path::{Path, PathBuf};
use std::{fmt, fs, io};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::terms::Sort;
use objectives::Objectives;

/// The version of the format.
pub const FORMAT: u32 = 3;

/// The end of the names of certificates.
pub const EXTENSION: &str = ".certificate.json";

/// An argument that no run of a program comes to a statement, or covers some objectives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// [`FORMAT`].
    pub format: u32,
    /// The program.
    pub program: ProgramText,
    /// The meaning of what C leaves open.
    pub rules: Rules,
    /// The statement that no run comes to; none if the certificate is about objectives.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<Goal>,
    /// The objectives that no run covers; none if the certificate is about a statement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objectives: Option<Objectives>,
    /// The last part of the argument.
    pub argument: Argument,
    /// The activations that are told apart, callers before those that they call. Those without a call
    /// run one after the other: constructors, and then the entry.
    pub instances: Vec<Instance>,
    /// All memory objects.
    pub objects: Vec<Object>,
    /// The numbers that stand for the addresses of functions, by the functions' numbers.
    pub functions: Vec<(u32, u64)>,
    /// The parts of the state that invariants speak of.
    pub state: Vec<Part>,
    /// Terms over the state that are used in place of its parts of any value: what holds for any value
    /// holds for those.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub instantiations: Vec<String>,
    /// The points: the entry first, and places that every run without end passes again and again.
    pub points: Vec<Point>,
}

/// The program's text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramText {
    /// The file with the IR's text, beside the certificate.
    pub file: String,
    /// The SHA-256 of that text, in hexadecimal.
    pub sha256: String,
    /// The function where runs begin.
    pub entry: String,
    /// What is known where they begin.
    #[serde(default, skip_serializing_if = "Beginning::is_of_program")]
    pub beginning: Beginning,
}

/// What is known where runs begin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Beginning {
    /// The program begins: variables have their initial values.
    #[default]
    Program,
    /// A function is entered in any state: variables have any value but constants, pointers lead anywhere that
    /// code outside of the function may know, and sequences of the run may be under way.
    Function,
}

impl Beginning {
    /// Whether the program begins.
    pub const fn is_of_program(&self) -> bool {
        matches!(self, Self::Program)
    }
}

/// The meaning of what C leaves open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The effect of signed overflow.
    pub signed_overflow: SignedOverflow,
    /// Whether allocations of memory always succeed.
    pub allocation_succeeds: bool,
}

/// The effect of signed overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignedOverflow {
    /// It wraps.
    Wraps,
}

/// The statement that no run comes to. It is a call: of a function that stands for an error, or of one
/// that does where its argument is false.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// The function's name.
    pub function: String,
    /// The statement.
    pub statement: u32,
    /// Its place in the source, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

/// The last part of an argument.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Argument {
    /// The kind.
    pub kind: ArgumentKind,
    /// The number of states or transitions that it looks at; at least 1.
    pub depth: u32,
}

/// The kinds of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArgumentKind {
    /// No successive states of the given number end in the goal.
    Induction,
    /// No run has so many transitions that lead towards the goal.
    Exhaustion,
}

/// An activation of a function in one context of calls, or all activations of a recursive one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instance {
    /// The function's number.
    pub function: u32,
    /// Its name, for people.
    pub name: String,
    /// The call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<Call>,
    /// Whether it stands for each activation that a call by name begins which has no instance of its own.
    /// Then it has a point where it is entered, and one where it returns. The invariants at the second are
    /// the function's contract.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub recursive: bool,
}

/// A call of an activation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The caller, by its position among the instances.
    pub caller: usize,
    /// The statement.
    pub statement: u32,
}

/// A memory object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Object {
    /// Its origin.
    pub origin: Origin,
    /// Its name, for people.
    pub name: String,
    /// The number that stands for the address of its first byte. It means nothing else than that
    /// addresses of objects differ.
    pub address: u64,
}

/// The origin of a memory object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Origin {
    /// A global.
    Global {
        /// Its number.
        global: u32,
    },
    /// A local in memory.
    Local {
        /// The instance.
        instance: usize,
        /// The local's number.
        local: u32,
    },
    /// A place that allocates memory: its blocks lie one after the other.
    Allocated {
        /// The instance.
        instance: usize,
        /// The statement.
        statement: u32,
        /// The distance between blocks of a constant size; none for other blocks, which are so far apart
        /// as their size needs.
        step: Option<u64>,
        /// Whether it may allocate more than one block.
        repeats: bool,
        /// The most bytes of all blocks.
        most: u64,
    },
}

/// A part of the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    /// Its name, for people.
    pub name: String,
    /// Its place.
    pub place: Place,
}

/// The place of a part of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Place {
    /// A register of an instance: a truth value, a bit-vector or a float, as its type says.
    Register {
        /// The instance.
        instance: usize,
        /// The local's number.
        local: u32,
    },
    /// Bytes of an object, least significant first.
    Bytes {
        /// The object, by its position.
        object: usize,
        /// The offset.
        offset: u64,
        /// How many bytes.
        size: u64,
        /// Whether they are a float.
        float: bool,
    },
    /// Bytes of an object that come again and again: an array of bit-vectors.
    Elements {
        /// The object, by its position.
        object: usize,
        /// The offset of element 0.
        offset: u64,
        /// The bytes of an element.
        size: u64,
        /// The distance between elements.
        period: u64,
        /// The bits of an index.
        index_bits: u32,
    },
    /// How many bytes the blocks of an allocating place take so far: 64 bits.
    End {
        /// The object, by its position.
        object: usize,
    },
    /// The value that a parameter of a recursive instance had where the activation began.
    Argument {
        /// The instance.
        instance: usize,
        /// The local's number.
        local: u32,
    },
    /// The bytes of an object where the activation of a recursive instance began.
    Before {
        /// The instance.
        instance: usize,
        /// The object, by its position.
        object: usize,
        /// The offset.
        offset: u64,
        /// How many bytes.
        size: u64,
        /// Whether they are a float.
        float: bool,
    },
    /// The result of a recursive instance.
    Result {
        /// The instance.
        instance: usize,
    },
    /// Whether a flag of the objectives is set: in an activation, or in the run.
    Flag {
        /// The instance; none for a flag of the run.
        instance: Option<usize>,
        /// The flag, by its position.
        flag: u32,
    },
    /// Whether the last evaluation of a decision reached a condition.
    Reached {
        /// The instance.
        instance: usize,
        /// The decision.
        decision: u32,
        /// The condition.
        condition: u32,
    },
    /// The value that the condition had there.
    Outcome {
        /// The instance.
        instance: usize,
        /// The decision.
        decision: u32,
        /// The condition.
        condition: u32,
    },
    /// Whether an expression in place of the condition surely had a value there.
    Mutant {
        /// The instance.
        instance: usize,
        /// The decision.
        decision: u32,
        /// The condition.
        condition: u32,
        /// The expression.
        expression: u32,
        /// The value.
        value: bool,
    },
    /// No part of the program's state: any value, which never changes. An invariant with it holds for each.
    Any {
        /// How many bits.
        bits: u32,
    },
}

/// A point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The instance, by its position.
    pub instance: usize,
    /// The kind.
    #[serde(default, skip_serializing_if = "PointKind::is_block")]
    pub kind: PointKind,
    /// The block, whose beginning is the point. At the ends of a recursive instance it is the first one.
    pub block: u32,
    /// The place in the source, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The parts of the state that are current here. Others have in invariants the value that they had
    /// at the last point where they were current.
    pub current: Vec<u32>,
    /// What always holds here.
    pub invariants: Vec<String>,
}

/// The kinds of points.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointKind {
    /// The beginning of a block.
    #[default]
    Block,
    /// An activation of a recursive instance begins.
    Enter,
    /// An activation of a recursive instance returns.
    Return,
}

impl PointKind {
    /// Whether it is the beginning of a block.
    pub fn is_block(&self) -> bool {
        *self == Self::Block
    }
}

/// Why there is no certificate in a file.
#[derive(Debug)]
pub enum DocumentError {
    /// It cannot be read.
    Access(PathBuf, io::Error),
    /// It is none, or is one of another format.
    Form(String),
    /// The program's text is another.
    OtherProgram(String),
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Access(path, error) => write!(f, "cannot read {}: {error}", path.display()),
            Self::Form(what) => write!(f, "this is no certificate: {what}"),
            Self::OtherProgram(file) => {
                write!(f, "{file} is not the program that the certificate is about")
            }
        }
    }
}

impl std::error::Error for DocumentError {}

/// A certificate with the text of its program.
#[derive(Clone, Debug)]
pub struct Document {
    /// The certificate.
    pub certificate: Certificate,
    /// The IR's text.
    pub text: String,
}

/// The SHA-256 of a text, in hexadecimal.
pub fn digest(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Certificate {
    /// Reads a certificate from JSON.
    ///
    /// # Errors
    /// Text that is no certificate, or one of another format.
    pub fn parse(json: &str) -> Result<Self, DocumentError> {
        #[derive(Deserialize)]
        struct Head {
            format: u32,
        }
        let form = |error: serde_json::Error| DocumentError::Form(error.to_string());
        let head: Head = serde_json::from_str(json).map_err(form)?;
        if head.format != FORMAT {
            let found = head.format;
            let message = format!("it has format {found}, and this version reads {FORMAT}");
            return Err(DocumentError::Form(message));
        }
        serde_json::from_str(json).map_err(form)
    }

    /// The certificate as JSON.
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

impl Document {
    /// Reads a certificate, and the program beside it.
    ///
    /// # Errors
    /// Files that cannot be read, what is no certificate, and a program that is another one.
    pub fn read(path: &Path) -> Result<Self, DocumentError> {
        let text_of = |path: &Path| {
            fs::read_to_string(path).map_err(|error| DocumentError::Access(path.to_owned(), error))
        };
        let certificate = Certificate::parse(&text_of(path)?)?;
        let file = &certificate.program.file;
        if Path::new(file).components().count() != 1 {
            return Err(DocumentError::Form("its program does not lie beside it".to_owned()));
        }
        let text = text_of(&path.with_file_name(file))?;
        if digest(&text) != certificate.program.sha256 {
            return Err(DocumentError::OtherProgram(file.clone()));
        }
        Ok(Self { certificate, text })
    }
}

impl Place {
    /// The sort of a part, unless it is a register, the value of one, or a result.
    pub(crate) fn sort(&self) -> Option<Sort> {
        let bits = |bytes: u64| u32::try_from(bytes.checked_mul(8)?).ok();
        match *self {
            Self::Register { .. } | Self::Argument { .. } | Self::Result { .. } => None,
            Self::Bytes { size, float: true, .. } | Self::Before { size, float: true, .. } => {
                Sort::float(bits(size)?)
            }
            Self::Bytes { size, .. } | Self::Before { size, .. } => {
                bits(size).filter(|bits| (8..=4096).contains(bits)).map(Sort::Bits)
            }
            Self::Elements { size, index_bits, .. } => {
                let element = bits(size).filter(|bits| (8..=4096).contains(bits))?;
                (1..=64).contains(&index_bits).then_some(Sort::Array(index_bits, element))
            }
            Self::End { .. } => Some(Sort::Bits(64)),
            Self::Flag { .. }
            | Self::Reached { .. }
            | Self::Outcome { .. }
            | Self::Mutant { .. } => Some(Sort::Bool),
            Self::Any { bits } => (1..=64).contains(&bits).then_some(Sort::Bits(bits)),
        }
    }
}
