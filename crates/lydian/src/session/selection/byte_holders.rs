//! The parts of a test that hold bytes, and the numbers in them.

use lydian_ir::scalars::Scalar;
use lydian_ir::test::{Image, Test};

/// A part of a test that holds bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ByteHolder {
    Argument(usize, usize),
    Variable(usize, usize),
    Object(usize),
    Global(usize),
    Result(usize),
    Write(usize, usize),
}

/// All parts of a test that hold bytes.
pub(super) fn holders(test: &Test) -> Vec<ByteHolder> {
    let mut all = Vec::new();
    for (call, passed) in test.calls().enumerate() {
        all.extend((0..passed.args.len()).map(|at| ByteHolder::Argument(call, at)));
        all.extend((0..passed.variable.len()).map(|at| ByteHolder::Variable(call, at)));
    }
    all.extend((0..test.globals.len()).map(ByteHolder::Global));
    for (at, call) in test.externals.iter().enumerate() {
        if call.variable().is_none() && !call.result.bytes.is_empty() {
            all.push(ByteHolder::Result(at));
        }
        all.extend((0..call.writes.len()).map(|write| ByteHolder::Write(at, write)));
    }
    all.extend((0..test.objects.len()).map(ByteHolder::Object));
    all
}

pub(super) fn image(test: &Test, holder: ByteHolder) -> &Image {
    let last = test.earlier.len();
    match holder {
        ByteHolder::Argument(call, at) if call == last => &test.args[at],
        ByteHolder::Argument(call, at) => &test.earlier[call].args[at],
        ByteHolder::Variable(call, at) if call == last => &test.variable[at].image,
        ByteHolder::Variable(call, at) => &test.earlier[call].variable[at].image,
        ByteHolder::Object(at) => &test.objects[at].image,
        ByteHolder::Global(at) => &test.globals[at].image,
        ByteHolder::Result(at) => &test.externals[at].result,
        ByteHolder::Write(call, at) => &test.externals[call].writes[at].image,
    }
}

pub(crate) fn image_mut(test: &mut Test, holder: ByteHolder) -> &mut Image {
    let last = test.earlier.len();
    match holder {
        ByteHolder::Argument(call, at) if call == last => &mut test.args[at],
        ByteHolder::Argument(call, at) => &mut test.earlier[call].args[at],
        ByteHolder::Variable(call, at) if call == last => &mut test.variable[at].image,
        ByteHolder::Variable(call, at) => &mut test.earlier[call].variable[at].image,
        ByteHolder::Object(at) => &mut test.objects[at].image,
        ByteHolder::Global(at) => &mut test.globals[at].image,
        ByteHolder::Result(at) => &mut test.externals[at].result,
        ByteHolder::Write(call, at) => &mut test.externals[call].writes[at].image,
    }
}

/// Makes pointers null.
pub(super) fn clear_pointers(image: &mut Image, which: impl Fn(u64) -> bool) {
    for pointer in image.pointers.iter().filter(|pointer| which(pointer.offset)) {
        let at = pointer.offset as usize;
        if let Some(bytes) = image.bytes.get_mut(at..at + 8) {
            bytes.fill(0);
        }
    }
    image.pointers.retain(|pointer| !which(pointer.offset));
}

pub(crate) fn bytes_of(image: &Image, place: &Scalar) -> Vec<u8> {
    let range = place.offset as usize..(place.offset + place.size) as usize;
    image.bytes.get(range).map_or_else(Vec::new, <[u8]>::to_vec)
}

pub(super) fn put(image: &mut Image, place: &Scalar, bytes: &[u8]) {
    let start = place.offset as usize;
    if let Some(own) = image.bytes.get_mut(start..start + bytes.len()) {
        own.copy_from_slice(bytes);
    }
}

pub(super) fn number(bytes: &[u8], signed: bool) -> i128 {
    let mut all = [0; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    let is_negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    if is_negative {
        all[bytes.len()..].fill(0xff);
    }
    i128::from_le_bytes(all)
}
