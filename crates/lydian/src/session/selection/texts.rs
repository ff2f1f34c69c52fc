//! Readable texts in tests: as short as the path allows, and terminated.

use lydian_ir::test::{Test, TestObject};
use lydian_ir::{CType, IntKind};

use super::reduction::TestReduction;
use crate::error::Error;

/// The length up to which characters of a text are tried one by one.
const MOST_CHARACTERS: usize = 24;

impl TestReduction<'_, '_, '_, '_> {
    /// Removes unnecessary characters, one by one.
    pub(crate) fn drop_characters(&mut self) -> Result<(), Error> {
        if self.is_stopped {
            return Ok(());
        }
        for at in self.texts() {
            if self.test.objects[at].image.bytes.len() > MOST_CHARACTERS {
                continue;
            }
            let mut position = 0;
            while position < self.test.objects[at].image.bytes.len() {
                let object = &self.test.objects[at];
                if object.count < 2 || object.image.bytes[position] == 0 {
                    break;
                }
                let mut candidate = self.test.clone();
                candidate.objects[at].image.bytes.remove(position);
                candidate.objects[at].count -= 1;
                if !self.take(candidate)? {
                    position += 1;
                }
            }
        }
        Ok(())
    }

    /// Gives characters that do not matter, in front of others that do, a readable value.
    pub(crate) fn fill_texts(&mut self) -> Result<(), Error> {
        for at in self.texts() {
            let mut candidate = self.test.clone();
            let bytes = &mut candidate.objects[at].image.bytes;
            let last = bytes.iter().rposition(|byte| *byte != 0).unwrap_or_default();
            let gaps = bytes[..last].iter_mut().filter(|byte| **byte == 0);
            gaps.for_each(|byte| *byte = b'a');
            self.take(candidate)?;
        }
        Ok(())
    }

    /// Appends a terminator that the run does not read, so that the function gets a string.
    pub(crate) fn end_texts(&mut self) -> Result<(), Error> {
        for at in self.texts() {
            let bytes = &self.test.objects[at].image.bytes;
            let is_unchanged = self.measured.run.objects.get(at) == Some(bytes);
            if bytes.contains(&0) || !bytes.iter().copied().all(is_of_text) || !is_unchanged {
                continue;
            }
            self.take(ended(&self.test, at))?;
        }
        Ok(())
    }

    /// The objects that consist of characters.
    fn texts(&self) -> Vec<usize> {
        let types = &self.program().types;
        let is_text = |object: &TestObject| {
            matches!(types.get(object.ty), CType::Int { kind: IntKind::Char, .. })
                && object.image.pointers.is_empty()
                && object.image.bytes.len() as u64 == object.count
        };
        let objects = self.test.objects.iter().enumerate();
        objects.filter(|(_, object)| is_text(object)).map(|(at, _)| at).collect()
    }
}

fn is_of_text(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\t' | b'\n' | b'\r')
}

/// The test with a zero byte appended to an object.
fn ended(test: &Test, at: usize) -> Test {
    let mut candidate = test.clone();
    candidate.objects[at].image.bytes.push(0);
    candidate.objects[at].count += 1;
    candidate
}
