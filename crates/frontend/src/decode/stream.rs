//! Cuts clang's output into pieces as it arrives: layout lines, then one piece of JSON for each
//! declaration at file scope.
//!
//! Clang prints the JSON of a large file in hundreds of megabytes. It is never held as a whole:
//! a thread reads ahead, and each declaration is parsed and dropped before the next one. Clang
//! indents its JSON by two spaces a level and escapes newlines in strings, so the lines `    {` and
//! `    }` are exactly the brackets of the declarations.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 20;
/// Blocks that may wait to be parsed.
const WAITING: usize = 32;

/// A piece of clang's output.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A line in front of the JSON.
    Line(&'a str),
    /// The JSON object of a declaration at file scope.
    Declaration(&'a [u8]),
}

/// Reads `input` to its end and hands its pieces to `each`, which can stop it with an error.
pub(super) fn read_pieces<E: From<io::Error>>(
    input: impl Read + Send,
    mut each: impl FnMut(Piece<'_>) -> Result<(), E>,
) -> Result<(), E> {
    thread::scope(|scope| {
        let (sender, blocks) = sync_channel(WAITING);
        let reader = scope.spawn(move || {
            let mut input = input;
            let mut indentation = Indentation::default();
            loop {
                let mut block = Vec::with_capacity(BLOCK);
                let read = input.by_ref().take(BLOCK as u64).read_to_end(&mut block)?;
                // A receiver that is gone has met an error of its own.
                if read == 0 || sender.send(indentation.shorten(&block)).is_err() {
                    return io::Result::Ok(());
                }
            }
        });
        let mut pieces = Pieces { blocks, text: Vec::new(), at: 0 };
        let parsed = pieces.run(&mut each);
        drop(pieces);
        let read = reader.join().unwrap_or_else(|_| Err(io::Error::other("the reader stopped")));
        parsed.and(read.map_err(E::from))
    })
}

/// Shortens the indentation of lines. More than half of clang's JSON is indentation, and for an
/// expression of depth `n` it is of the order of `n` squared.
#[derive(Default)]
struct Indentation {
    /// The spaces so far of the line that the last block ended in, while it is only spaces.
    spaces: Option<usize>,
}

impl Indentation {
    /// The spaces that are left: enough to tell declarations at file scope from what is deeper.
    const KEPT: usize = 5;

    fn shorten(&mut self, block: &[u8]) -> Vec<u8> {
        let mut out = Vec::with_capacity(block.len() / 2);
        let mut rest = block;
        loop {
            if let Some(spaces) = &mut self.spaces {
                let found = leading_spaces(rest);
                let kept = (*spaces + found).min(Self::KEPT).saturating_sub(*spaces);
                out.resize(out.len() + kept, b' ');
                *spaces += found;
                rest = &rest[found..];
                if rest.is_empty() {
                    return out;
                }
                self.spaces = None;
            }
            let Some(end) = memchr::memchr(b'\n', rest) else {
                out.extend_from_slice(rest);
                return out;
            };
            out.extend_from_slice(&rest[..=end]);
            rest = &rest[end + 1..];
            self.spaces = Some(0);
        }
    }
}

/// The number of spaces at the beginning, counted in groups: most of clang's output is spaces.
fn leading_spaces(text: &[u8]) -> usize {
    const GROUP: [u8; 16] = [b' '; 16];
    let groups = text.chunks_exact(GROUP.len()).take_while(|chunk| **chunk == GROUP).count();
    let counted = groups * GROUP.len();
    counted + text[counted..].iter().take_while(|byte| **byte == b' ').count()
}

struct Pieces {
    blocks: Receiver<Vec<u8>>,
    /// The bytes from `at` that were read and not yet handed on.
    text: Vec<u8>,
    at: usize,
}

impl Pieces {
    fn run<E>(&mut self, each: &mut impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<(), E> {
        if !self.lines(each)? {
            return Ok(());
        }
        // Past the unit's own keys to its list of declarations.
        if !self.skip_past(b"\n  \"inner\": [") {
            return Ok(());
        }
        let start = memchr::memmem::Finder::new(b"\n    {");
        let end = memchr::memmem::Finder::new(b"\n    }");
        loop {
            let Some(begin) = self.find(&start) else { return Ok(()) };
            self.at = begin + 1;
            let Some(close) = self.find(&end) else { return Ok(()) };
            let close = close + b"\n    }".len();
            each(Piece::Declaration(&self.text[self.at..close]))?;
            self.at = close;
        }
    }

    /// Hands on the lines in front of the JSON; false if there is no JSON.
    fn lines<E>(&mut self, each: &mut impl FnMut(Piece<'_>) -> Result<(), E>) -> Result<bool, E> {
        let newline = memchr::memmem::Finder::new(b"\n");
        loop {
            let Some(end) = self.find(&newline) else { return Ok(false) };
            let line = &self.text[self.at..end];
            if line == b"{" {
                return Ok(true);
            }
            each(Piece::Line(&String::from_utf8_lossy(line)))?;
            self.at = end + 1;
        }
    }

    fn skip_past(&mut self, needle: &[u8]) -> bool {
        let found = self.find(&memchr::memmem::Finder::new(needle));
        self.at = found.map_or(self.text.len(), |found| found + needle.len());
        found.is_some()
    }

    /// The offset in `text` of the next occurrence, reading on as needed.
    fn find(&mut self, needle: &memchr::memmem::Finder<'_>) -> Option<usize> {
        let mut from = self.at;
        loop {
            if let Some(found) = needle.find(&self.text[from..]) {
                return Some(from + found);
            }
            // The needle may lie across the end of the block.
            let overlap = needle.needle().len() - 1;
            from = self.text.len().saturating_sub(overlap).max(self.at);
            let block = self.blocks.recv().ok()?;
            from -= self.at;
            self.text.drain(..self.at);
            self.at = 0;
            self.text.extend_from_slice(&block);
        }
    }
}

/// The stack for decoding: clang's trees are as deep as the program's expressions, and
/// `a + b + …` of a generated table can be thousands deep. Only what is used is ever backed by
/// memory.
const STACK: usize = 1 << 30;

/// Runs `work` on a thread whose stack holds any syntax tree.
pub(super) fn on_deep_stack<T: Send>(work: impl FnOnce() -> T + Send) -> io::Result<T> {
    thread::scope(|scope| {
        let thread = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        match thread.join() {
            Ok(result) => Ok(result),
            // A panic of the decoder goes on to the caller.
            Err(fault) => std::panic::resume_unwind(fault),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time, the worst of all pipes.
    struct Drops<'a>(&'a [u8]);

    impl Read for Drops<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.0.read(&mut buffer[..1])
        }
    }

    const OUTPUT: &str = "*** Dumping\n  0 | struct s\n{\n  \"kind\": \"T\",\n  \"inner\": [\n    {\n      \
                          \"id\": \"1\"\n    },\n    {\n      \"id\": \"2\",\n      \"inner\": [\n        {}\n      ]\n    }\n  ]\n}\n";

    fn pieces(output: &str) -> Vec<String> {
        let mut found = Vec::new();
        read_pieces(Drops(output.as_bytes()), |piece| {
            found.push(match piece {
                Piece::Line(line) => line.to_owned(),
                Piece::Declaration(json) => {
                    let json: String = String::from_utf8_lossy(json).split_whitespace().collect();
                    json
                }
            });
            io::Result::Ok(())
        })
        .unwrap();
        found
    }

    #[test]
    fn lines_come_first_and_then_each_declaration() {
        let expected =
            ["*** Dumping", "  0 | struct s", "{\"id\":\"1\"}", "{\"id\":\"2\",\"inner\":[{}]}"];
        assert_eq!(pieces(OUTPUT), expected);
    }

    #[test]
    fn output_that_stops_early_gives_the_pieces_before_its_end() {
        for end in 0..OUTPUT.len() {
            assert!(pieces(&OUTPUT[..end]).len() <= 4);
        }
    }

    #[test]
    fn indentation_is_shortened_across_blocks_too() {
        let text = "a\n    b\n\n         c\n     d   e";
        let expected = "a\n    b\n\n     c\n     d   e";
        for cut in 0..=text.len() {
            let mut indentation = Indentation::default();
            let mut out = indentation.shorten(&text.as_bytes()[..cut]);
            out.extend(indentation.shorten(&text.as_bytes()[cut..]));
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }

    #[test]
    fn an_error_of_the_consumer_stops_the_reading() {
        let error = read_pieces(OUTPUT.as_bytes(), |_| Err(io::Error::other("enough")));
        assert_eq!(error.unwrap_err().to_string(), "enough");
    }
}
