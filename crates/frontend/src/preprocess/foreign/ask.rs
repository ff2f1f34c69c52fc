//! Asks the assembler which assembly of a text it refuses.

use super::Replacements;
use super::scan::{Found, Kind, inline_words};
use crate::clang::{Clang, ClangError, Message, Runs};
use crate::flags::CompileFlags;
use crate::preprocess::edits::{Edit, Edits};
use std::io::Read as _;

/// What stands in front of the text: clang assembles constructors though nobody calls them.
const KEEP_ALL: &str =
    "#pragma clang attribute push(__attribute__((constructor)), apply_to = function)\n";

/// What stands behind the text.
const KEPT_ALL: &str = "\n#pragma clang attribute pop\n";

/// Registers of other machines, which this machine's assembler takes for symbols.
const REGISTERS: [&str; 4] = ["sp", "pc", "lr", "xpsr"];

/// Marks the assembly that clang refuses in the text with the replacements made so far and further edits.
/// Returns whether there is any that was not marked before.
pub(super) fn mark_refused(
    clang: &Clang,
    flags: &CompileFlags,
    (text, made, further): (&str, &Replacements, &[Edit]),
    found: &[Found],
    foreign: &mut [bool],
) -> Result<bool, ClangError> {
    let mut news = false;
    for (one, is_foreign) in found.iter().zip(foreign.iter_mut()) {
        if !*is_foreign && (one.kind == Kind::Naked || names_register(&text[one.span.clone()])) {
            *is_foreign = true;
            news = true;
        }
    }
    if news {
        return Ok(true);
    }
    let edits = Edits::new([&made.edits, further].concat());
    let edited = edits.apply(text);
    let front = format!("{KEEP_ALL}{}", made.prelude);
    for message in compile(clang, flags, &front, &edited)? {
        let at = offset_of(&message, &front, &edited);
        // Of assembly between functions, messages have places in the assembler's own text.
        let is_outside = message.at.as_ref().is_some_and(|at| at.file == "<inline asm>");
        for (one, is_foreign) in found.iter().zip(foreign.iter_mut()) {
            let span = edits.moved(one.span.start)..edits.moved(one.span.end);
            let is_meant =
                at.is_some_and(|at| span.contains(&at)) || is_outside && one.kind == Kind::Outside;
            if is_meant && !*is_foreign {
                *is_foreign = true;
                news = true;
            }
        }
    }
    Ok(news)
}

/// Whether assembly names a register without the sign that this machine's have.
fn names_register(text: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || "_%$.[]".contains(c);
    let template = text.split('"').skip(1).step_by(2);
    template.flat_map(|part| part.split(|c| !is_part(c))).any(|word| {
        let lower = word.to_ascii_lowercase();
        let number = lower.strip_prefix('r').and_then(|rest| rest.parse::<u32>().ok());
        REGISTERS.contains(&lower.as_str()) || number.is_some_and(|number| number < 8)
    })
}

/// The errors of clang as a compiler of the text.
fn compile(
    clang: &Clang,
    flags: &CompileFlags,
    front: &str,
    text: &str,
) -> Result<Vec<Message>, ClangError> {
    let mut arguments =
        vec!["-c", "-o", "/dev/null", "-O0", "-w", "-Wno-everything", "-ferror-limit=0"];
    arguments.extend(flags.for_parsing());
    arguments.extend(["-x", "cpp-output", "-"]);
    let mut input = without_markers(front);
    let mut bytes = without_markers(text);
    // Otherwise only calls of such functions are assembled.
    inline_words(text).for_each(|word| bytes[word].fill(b' '));
    input.extend(bytes);
    input.extend(KEPT_ALL.as_bytes());
    let mut running = clang.start(&arguments, None, input, Runs::Several)?;
    let mut output = Vec::new();
    // Clang writes nothing there.
    drop(running.stdout.read_to_end(&mut output));
    running.finish(clang)
}

/// Where a message is in the text behind `front`.
fn offset_of(message: &Message, front: &str, text: &str) -> Option<usize> {
    let at = message.at.as_ref().filter(|at| at.file == "<stdin>")?;
    let line = (at.line as usize).checked_sub(1 + front.lines().count())?;
    let before: usize = text.split_inclusive('\n').take(line).map(str::len).sum();
    Some(before + (at.column as usize).checked_sub(1)?)
}

/// The text with spaces in place of line markers, so that clang counts the text's own lines.
pub(crate) fn without_markers(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let marker = line
            .strip_prefix("# ")
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
        if marker {
            let end = start + line.trim_end_matches('\n').len();
            bytes[start..end].fill(b' ');
        }
        start += line.len();
    }
    bytes
}
