//! Reads the messages that clang prints for people.

/// A position as clang prints it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: u32,
    /// From 1.
    pub(crate) column: u32,
}

/// An error that clang reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Message {
    /// Where it is, if the message says so.
    pub(crate) at: Option<Position>,
    /// The message without place and severity.
    pub(crate) text: String,
    /// The notes that follow it.
    pub(crate) notes: Vec<String>,
}

/// The errors in clang's output, with their notes; warnings and everything else are dropped.
pub(crate) fn parse_messages(output: &str) -> Vec<Message> {
    let mut messages: Vec<Message> = Vec::new();
    let mut after_error = false;
    for line in output.lines() {
        if let Some((at, text)) = message_of(line, &["error: ", "fatal error: "]) {
            messages.push(Message { at, text, notes: Vec::new() });
            after_error = true;
        } else if let Some((_, text)) = message_of(line, &["note: "]) {
            if let (true, Some(message)) = (after_error, messages.last_mut()) {
                message.notes.push(text);
            }
        } else if message_of(line, &["warning: "]).is_some() {
            after_error = false;
        }
    }
    messages
}

/// Splits `file:line:column: severity: text`, where the place may be missing or be the compiler's
/// own name.
fn message_of(line: &str, severities: &[&str]) -> Option<(Option<Position>, String)> {
    severities.iter().find_map(|severity| {
        if let Some(text) = line.strip_prefix(severity) {
            return Some((None, text.to_owned()));
        }
        let (before, text) = line.split_once(&format!(": {severity}"))?;
        Some((position_of(before), text.to_owned()))
    })
}

fn position_of(text: &str) -> Option<Position> {
    let mut parts = text.rsplitn(3, ':');
    let column = parts.next()?.parse().ok()?;
    let line = parts.next()?.parse().ok()?;
    Some(Position { file: parts.next()?.to_owned(), line, column })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_are_read_with_their_notes_and_warnings_dropped() {
        let output = "a:b.c:3:4: warning: odd\na:b.c:3:4: note: why odd\n\
                      a:b.c:5:6: error: bad: very\n  source line\na:b.c:1:2: note: here\n\
                      clang-19: error: no such file or directory: 'x.c'\n1 error generated.\n";
        let messages = parse_messages(output);
        assert_eq!(messages.len(), 2);
        assert_eq!(messages[0].at, Some(Position { file: "a:b.c".into(), line: 5, column: 6 }));
        assert_eq!(messages[0].text, "bad: very");
        assert_eq!(messages[0].notes, ["here"]);
        assert_eq!(messages[1].at, None);
    }
}
