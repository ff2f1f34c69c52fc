//! A test: the inputs of one call, as images of memory.
//!
//! The interpreter, the symbolic engine and the native runner all start from this one form.
//! Input objects have fixed addresses, the same in all three, so that what a program can observe of
//! them by casts or comparisons is the same too.

use serde::{Deserialize, Serialize};

use crate::ctype::CTypeId;

/// First address of the region that holds input objects, in every engine and in the runner.
pub const INPUT_REGION: u64 = 0x20_0000_0000;

/// Bytes of that region.
pub const INPUT_REGION_SIZE: u64 = 0x4000_0000;

/// The inputs of one call.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Test {
    /// The function that is called.
    pub function: String,
    /// The objects that pointers point to.
    pub objects: Vec<TestObject>,
    /// An image of each argument, of the size of its type.
    pub args: Vec<Image>,
    /// The globals that differ from their initial contents, by name.
    pub globals: Vec<GlobalInput>,
    /// What undefined functions return (and `malloc` and its like, by their names), in the order
    /// of the calls. A call beyond the list gives zero bytes (for `malloc`: success).
    pub externals: Vec<ExternalResult>,
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
    /// What it points to.
    pub target: PointerTarget,
}

/// What a pointer in an image points to. Null pointers are plain zero bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum PointerTarget {
    /// An input object, by position, and a byte offset into it.
    Object(u32, u64),
    /// A global by name, and a byte offset into it.
    Global(String, u64),
    /// A function by name.
    Function(String),
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

/// What one call of an undefined function returns.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct ExternalResult {
    /// The function.
    pub function: String,
    /// An image of the result, of the size of its type; empty for `void`. For `malloc` and its like
    /// one byte: 0 where the allocation fails. For `klee_make_symbolic` the bytes that it writes.
    pub result: Image,
    /// The name that the program gives the input, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object: Option<String>,
}

impl ExternalResult {
    /// What a call of a function returns.
    pub fn new(function: impl Into<String>, result: Image) -> Self {
        Self { function: function.into(), result, object: None }
    }
}
