//! The programs and their bounds.

/// A program in this folder.
#[derive(Debug)]
pub(crate) struct Subject {
    /// Its file's name without `.c`.
    pub(crate) name: &'static str,
    /// The program of Table I that it calls, which the bench writes before it.
    pub(crate) after: Option<&'static str>,
    /// Its macros, as `NAME=VALUE` with blanks between.
    pub(crate) bounds: &'static str,
    /// Whether KLEE takes a tenth of a second or so.
    pub(crate) small: bool,
}

/// All programs, small ones first.
pub(crate) const SUBJECTS: &[Subject] = &[
    small("triangle").after("trityp"),
    small("four_balls").after("four_balls"),
    small("advice"),
    small("calendar"),
    small("rectangles"),
    large("mesh", "COUNT=3").after("trityp"),
    large("balls", "COUNT=10"),
    large("utf8_count", "LENGTH=8").after("utf8"),
    large("encounter", "REPORTS=2").after("tcas"),
    large("pattern", "PATTERN=4 TEXT=3"),
    large("sort", "COUNT=5"),
    large("heap", "COUNT=4"),
    large("search", "RANGES=6 KEYS=3"),
    large("calculator", "LENGTH=6"),
    large("request", "LENGTH=7"),
    large("crc", "BYTES=1"),
    large("checksum", "LENGTH=9"),
    large("json", "LENGTH=4"),
    large("glob", "PATTERN=5 NAME=5"),
    large("csv", "LENGTH=11"),
    large("unpack", "LENGTH=6"),
    large("table", "KEYS=4"),
    large("message", "LENGTH=7"),
    large("network", "SITES=5 LINKS=3"),
    large("base64", "LENGTH=8"),
    large("number", "LENGTH=7"),
    large("address", "LENGTH=7"),
    large("uri", "LENGTH=6"),
    large("utf16", "LENGTH=5"),
];

const fn small(name: &'static str) -> Subject {
    Subject { name, after: None, bounds: "", small: true }
}

const fn large(name: &'static str, bounds: &'static str) -> Subject {
    Subject { name, after: None, bounds, small: false }
}

impl Subject {
    const fn after(self, program: &'static str) -> Self {
        Self { after: Some(program), ..self }
    }

    /// Whether the words of a command line choose it; no words choose all.
    pub(crate) fn is_chosen(&self, words: &[String]) -> bool {
        let is = |word: &String| match &**word {
            "small" => self.small,
            "large" => !self.small,
            word => self.name == word,
        };
        words.is_empty() || words.iter().any(is)
    }

    /// The compiler's flags.
    pub(crate) fn flags(&self) -> impl Iterator<Item = String> {
        self.bounds.split_whitespace().map(|bound| format!("-D{bound}"))
    }
}
