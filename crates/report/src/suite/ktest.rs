//! Tests in KLEE's form: one binary file for each test, `NAME.ktest`, with the inputs as named
//! objects in the order in which the program made them.
//!
//! All numbers are 32 bits, the highest byte first: the magic word, the version, the program's
//! arguments, two numbers about symbolic arguments, then the objects, each a name and bytes.

use lydian_ir::Program;
use lydian_ir::test::Test;
use thiserror::Error;

use crate::suite::inputs::{any_bytes, inputs_of, test_of};

const MAGIC: &[u8; 5] = b"KTEST";
/// An older magic word of the same format.
const OLD_MAGIC: &[u8; 5] = b"BOUT\n";
const VERSION: u32 = 3;
/// More objects than any test has.
const MOST_OBJECTS: u32 = 1 << 24;

/// Why a file is no test of KLEE's.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum KtestError {
    /// It begins otherwise.
    #[error("it is no .ktest file")]
    Magic,
    /// A version that is not known; its number.
    #[error("version {0} of .ktest files is not known")]
    Version(u32),
    /// It ends too early.
    #[error("the file is cut off after {0} bytes")]
    CutOff(usize),
}

/// A test of a whole program as a `.ktest` file. `source` is the program's name in the file.
///
/// # Errors
/// If inputs alone do not express the test. The error is the reason.
pub fn to_ktest(program: &Program, test: &Test, source: &str) -> Result<Vec<u8>, String> {
    let inputs = inputs_of(program, test)?;
    let mut out = MAGIC.to_vec();
    let number = |out: &mut Vec<u8>, n: usize| {
        out.extend(u32::try_from(n).unwrap_or(u32::MAX).to_be_bytes());
    };
    number(&mut out, VERSION as usize);
    number(&mut out, 1);
    number(&mut out, source.len());
    out.extend(source.bytes());
    // No arguments are symbolic in KLEE's old way.
    number(&mut out, 0);
    number(&mut out, 0);
    number(&mut out, inputs.len());
    for input in &inputs {
        number(&mut out, input.name.len());
        out.extend(input.name.bytes());
        number(&mut out, input.bytes.len());
        out.extend(input.bytes);
    }
    Ok(out)
}

/// Reads a `.ktest` file as a test of `entry`. The objects become the results of the functions that
/// give inputs, one after the other.
///
/// # Errors
/// If the bytes are no such file.
pub fn from_ktest(entry: &str, bytes: &[u8]) -> Result<Test, KtestError> {
    let mut reader = Reader { bytes, at: 0 };
    let magic = reader.take(MAGIC.len()).map_err(|_| KtestError::Magic)?;
    if magic != MAGIC && magic != OLD_MAGIC {
        return Err(KtestError::Magic);
    }
    let version = reader.number()?;
    if version > VERSION {
        return Err(KtestError::Version(version));
    }
    for _ in 0..reader.number()? {
        reader.text()?;
    }
    if version >= 2 {
        reader.number()?;
        reader.number()?;
    }
    let mut objects = Vec::new();
    for _ in 0..reader.number()?.min(MOST_OBJECTS) {
        let name = String::from_utf8_lossy(reader.text()?).into_owned();
        objects.push(any_bytes(&name, reader.text()?));
    }
    Ok(test_of(entry, objects))
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, size: usize) -> Result<&'a [u8], KtestError> {
        let end = self.at.checked_add(size).ok_or(KtestError::CutOff(self.bytes.len()))?;
        let taken = self.bytes.get(self.at..end).ok_or(KtestError::CutOff(self.bytes.len()))?;
        self.at = end;
        Ok(taken)
    }

    fn number(&mut self) -> Result<u32, KtestError> {
        let bytes = self.take(4)?;
        Ok(bytes.iter().fold(0, |number, byte| number << 8 | u32::from(*byte)))
    }

    /// Bytes behind their number.
    fn text(&mut self) -> Result<&'a [u8], KtestError> {
        let size = self.number()?;
        self.take(size as usize)
    }
}

#[cfg(test)]
mod tests {
    use lydian_ir::test::{ANY_BYTES, ExternalResult, Image};

    use super::*;

    fn made(name: &str, bytes: &[u8]) -> ExternalResult {
        let result = Image { bytes: bytes.to_vec(), pointers: Vec::new() };
        let object = Some(name.to_owned());
        ExternalResult { object, ..ExternalResult::new("klee_make_symbolic", result) }
    }

    #[test]
    fn objects_read_back_in_their_order_with_their_names() {
        let test = test_of("main", vec![made("x", &[1, 2, 3, 4]), made("buffer", b"abc")]);
        let bytes = to_ktest(&Program::default(), &test, "prog.c").unwrap();
        assert_eq!(&bytes[..17], b"KTEST\0\0\0\x03\0\0\0\x01\0\0\0\x06");
        let read = from_ktest("main", &bytes).unwrap();
        let found: Vec<_> = read.externals.iter().map(|call| call.object.as_deref()).collect();
        assert_eq!(found, [Some("x"), Some("buffer")]);
        assert!(read.externals.iter().all(|call| call.function == ANY_BYTES));
        assert_eq!(read.externals[1].result.bytes, b"abc");
        for cut in 0..bytes.len() {
            assert!(from_ktest("main", &bytes[..cut]).is_err(), "cut at {cut}");
        }
        assert_eq!(from_ktest("main", b"ELF..."), Err(KtestError::Magic));
    }

    #[test]
    fn a_test_that_needs_a_failing_allocation_is_no_list_of_inputs() {
        let failure = Image { bytes: vec![0], pointers: Vec::new() };
        let test = test_of("main", vec![ExternalResult::new("malloc", failure)]);
        let why = to_ktest(&Program::default(), &test, "prog.c").unwrap_err();
        assert!(why.contains("malloc"), "{why}");
    }
}
