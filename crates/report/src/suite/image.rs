//! Images of memory as a run left it.

use lydian_ir::test::Image;
use serde::{Deserialize, Serialize};

/// Memory as a run left it. Some of its pointers have values that differ from run to run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObservedImage {
    /// The contents. Unknown bytes are zero.
    pub image: Image,
    /// Offsets of addresses of eight bytes that may differ in the next run, such as those of locals
    /// and of the library.
    pub unknown: Vec<u64>,
    /// Addresses within blocks that the program allocated.
    pub blocks: Vec<BlockPointer>,
    /// Bytes that are not determined: ranges of offsets, in order.
    pub vague: Vec<(u64, u64)>,
}

/// A pointer to a block that the program allocated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BlockPointer {
    /// Its offset in the image.
    pub offset: u64,
    /// The block, by position in [`super::Observation::blocks`].
    pub block: u32,
    /// The number of bytes after the block's start that it points to.
    pub at: u64,
}

impl ObservedImage {
    /// Zero bytes, without pointers.
    pub(crate) fn zero(size: u64) -> Self {
        Image { bytes: vec![0; size as usize], pointers: Vec::new() }.into()
    }

    /// Whether a range has a byte that is not determined.
    pub(crate) fn is_vague(&self, offset: u64, size: u64) -> bool {
        self.vague.iter().any(|(start, end)| *start < offset + size && offset < *end)
    }
}

impl From<Image> for ObservedImage {
    fn from(image: Image) -> Self {
        Self { image, unknown: Vec::new(), blocks: Vec::new(), vague: Vec::new() }
    }
}

/// The image with zero bytes under its pointers, and with these in order.
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
