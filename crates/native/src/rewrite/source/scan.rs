//! Properties of a C text that need no parser.

/// Whether the text has a `(type){...}`, whose object would end with a block put around it.
pub(crate) fn has_compound_literal(text: &str) -> bool {
    let mut after_parenthesis = false;
    for byte in text.bytes() {
        match byte {
            b')' => after_parenthesis = true,
            b'{' if after_parenthesis => return true,
            b' ' | b'\t' | b'\n' => {}
            _ => after_parenthesis = false,
        }
    }
    false
}

/// The offset behind the brace that `body` begins with and the pragmas that follow it at once
/// (`#pragma STDC FENV_ACCESS ON`).
pub(crate) fn after_first_pragmas(body: &str) -> u32 {
    let (mut end, mut at) = (1, 1);
    while let Some(line) = body.get(at..) {
        let blank = line.len() - line.trim_start().len();
        let Some(directive) = line[blank..].strip_prefix('#') else { break };
        let length = line[blank..].find('\n').map_or(line.len() - blank, |length| length + 1);
        at += blank + length;
        // A line marker may stand between them.
        if directive.trim_start().starts_with("pragma") {
            end = at;
        }
    }
    end as u32
}

/// Whether a label begins a statement of a block, so that another statement may stand before it.
/// Labels before it may be those of a switch. What says that control falls through must stand right
/// before the label.
pub(crate) fn begins_statement(text: &str, at: usize) -> bool {
    let Some(mut before) = text.get(..at) else { return false };
    loop {
        before = before.trim_end();
        let line = before.rfind('\n').map_or(0, |at| at + 1);
        if !before[line..].trim_start().starts_with('#') {
            break;
        }
        before = &before[..line];
    }
    match before.chars().next_back() {
        Some('{' | '}') => true,
        Some(';') => {
            let statement = before[..before.len() - 1].rsplit([';', '{', '}']).next();
            !statement.is_some_and(|text| text.contains("fallthrough"))
        }
        Some(':') => {
            before.rfind("case").or_else(|| before.rfind("default")).is_some_and(|label| {
                let own = &before[label..before.len() - 1];
                let is_label = !own.contains([';', '{', '}', ':', '?', '\n', '"']);
                is_label && begins_statement(text, label)
            })
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::begins_statement;

    #[test]
    fn labels_begin_statements_of_blocks_but_not_of_arms_or_behind_attributes() {
        let last = |text: &str| begins_statement(text, text.rfind("case").unwrap_or(0));
        for text in [
            "switch (n) { case 1:",
            "x(); case 1:",
            "if (x) { } case 1:",
            "x(); case 1: case 2:",
            "x(); default:\n# 3 \"a.c\"\n  case 2:",
        ] {
            assert!(last(text), "{text}");
        }
        for text in [
            "switch (n) case 1:",
            "if (n) x(); else case 1:",
            "x(); __attribute__((fallthrough)); case 1:",
            "x(); [[fallthrough]];\n# 3 \"a.c\"\ncase 1:",
            "if (n) case 1: case 2:",
            "do case 1:",
            "own: case 1:",
        ] {
            assert!(!last(text), "{text}");
        }
    }
}
