//! Where the objects of a test lie. What a test shows must not depend on it: in the suite they are variables,
//! which compilers place.

use lydian_ir::test::{INPUT_REGION, INPUT_REGION_SIZE, Test, TestObject};
use lydian_native::{Outcome, Run};

/// The bytes between objects, and the unit of the distances of their beginnings.
const DISTANCE: u64 = 1 << 16;
/// How far objects are moved to see whether a test depends on where they lie: by the sign of the lowest byte
/// of addresses, and by many bits.
const MOVES: [u64; 2] = [0x80, 0x7ff0];

/// The same test with its objects at other addresses, and in the reverse order there; none if it has no
/// objects, or if they have no room there.
pub(crate) fn with_moved_objects(test: &Test) -> impl DoubleEndedIterator<Item = Test> {
    let moves = MOVES.iter().take(if test.objects.is_empty() { 0 } else { MOVES.len() });
    moves.filter_map(|skew| {
        let mut moved = test.clone();
        let end = place_objects(moved.objects.iter_mut().rev(), *skew);
        (end <= INPUT_REGION + INPUT_REGION_SIZE).then_some(moved)
    })
}

/// Gives objects addresses, one behind the other, each moved by as much of `skew` as its alignment allows.
/// Returns an address behind the last one.
pub(crate) fn place_objects<'o>(
    objects: impl Iterator<Item = &'o mut TestObject>,
    skew: u64,
) -> u64 {
    let mut next = INPUT_REGION + DISTANCE;
    for object in objects {
        object.address = next + (skew & !(object.align.max(1) - 1));
        next += (object.image.bytes.len() as u64).next_multiple_of(DISTANCE) + DISTANCE;
    }
    next
}

/// Replaces the addresses of moved objects in what a run left by those that the objects have in the test.
pub(crate) fn move_back(run: &mut Run, moved: &Test, test: &Test) {
    let own = |word: u64| {
        let mut objects = moved.objects.iter().zip(&test.objects);
        objects.find_map(|(from, to)| {
            let distance = word.checked_sub(from.address)?;
            (distance <= from.image.bytes.len() as u64).then(|| to.address + distance)
        })
    };
    let move_words = |bytes: &mut [u8]| {
        for word in bytes.chunks_exact_mut(8) {
            let address = u64::from_le_bytes((&*word).try_into().expect("eight bytes"));
            if let Some(address) = own(address) {
                word.copy_from_slice(&address.to_le_bytes());
            }
        }
    };
    if let Outcome::Returned(result) = &mut run.outcome {
        move_words(result);
    }
    run.objects.iter_mut().for_each(|bytes| move_words(bytes));
    run.globals.iter_mut().for_each(|(_, bytes)| move_words(bytes));
    run.blocks.iter_mut().for_each(|(_, bytes)| move_words(bytes));
}
