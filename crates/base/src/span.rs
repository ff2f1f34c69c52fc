//! Places: byte ranges of the preprocessed text, and the way back to the user's files.
//!
//! All of Lydian works on one text, the one that the preprocessor gives, so that a macro cannot
//! confuse an offset. Its line markers lead back to the file and line that the user wrote.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::columns::{self, Piece, Ranges, SourceLines};
use crate::macros::{MacroUse, MacroUses};

/// A half-open range of byte offsets into the preprocessed text.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset just past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` up to, not including, `end`.
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The span of entities without text.
    pub const NONE: Self = Self { start: 0, end: 0 };

    /// Whether it has no text.
    pub const fn is_none(self) -> bool {
        self.start == self.end
    }

    /// The smallest span that holds both.
    pub fn to(self, other: Self) -> Self {
        if self.is_none() {
            return other;
        }
        if other.is_none() {
            return self;
        }
        Self { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    /// Whether `other` lies wholly inside.
    pub const fn contains(self, other: Self) -> bool {
        self.start <= other.start && other.end <= self.end
    }

    /// The same range of a text that now starts `by` bytes later; [`Span::NONE`] stays what it is.
    #[must_use]
    pub const fn shifted(self, by: u32) -> Self {
        if self.is_none() { self } else { Self { start: self.start + by, end: self.end + by } }
    }

    /// The range for slicing text.
    pub const fn range(self) -> std::ops::Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// A place in the source: a line and column of a user's file, both counted from 1. The column counts
/// bytes.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize,
)]
pub struct Place {
    /// The file as the preprocessor names it.
    pub file: Arc<str>,
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1. The expansion of a macro has the column of its name.
    pub column: u32,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A part of the preprocessed text that comes from consecutive lines of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct LineBlock {
    start: u32,
    file: Arc<str>,
    line: u32,
    system: bool,
}

/// The preprocessed text of one translation unit, with the way back to the user's files.
#[derive(Clone, Debug)]
pub struct SourceMap {
    text: Arc<str>,
    blocks: Vec<LineBlock>,
    line_starts: Vec<u32>,
    /// The pieces whose columns in the source differ from those of the text, in the order of their
    /// offsets.
    pieces: Vec<Piece>,
}

impl SourceMap {
    /// The line marker of the text from an offset on, with its newline.
    pub fn line_marker(&self, offset: u32) -> String {
        let place = self.place(offset);
        let file = place.file.replace('\\', "\\\\").replace('"', "\\\"");
        format!("# {} \"{file}\"\n", place.line)
    }

    /// Reads the line markers (`# 12 "file.c" 1 3`) of a preprocessed text.
    /// Text before the first marker belongs to `main_file`.
    pub fn from_preprocessed(text: impl Into<Arc<str>>, main_file: &str) -> Self {
        let text: Arc<str> = text.into();
        let mut builder = SourceMapBuilder::new(main_file);
        let mut included = IncludeStack::new();
        let mut line_starts = Vec::new();
        let mut offset = 0u32;
        for line in text.split_inclusive('\n') {
            line_starts.push(offset);
            let next = offset + line.len() as u32;
            if let Some(marker) = parse_line_marker(line) {
                let system = included.is_system(&marker, &mut builder.blocks);
                builder.begin(next, &marker.file, marker.line, system);
            }
            offset = next;
        }
        line_starts.push(offset);
        Self { text, blocks: builder.blocks, line_starts, pieces: Vec::new() }
    }

    /// Finds the columns of text after macros. `read` returns the text of a source.
    pub fn find_columns(&mut self, read: impl Fn(&str) -> Option<String>) {
        let users = self.blocks.iter().filter(|block| !block.system);
        let users: BTreeSet<&str> = users.map(|block| &*block.file).collect();
        let mut files: FxHashMap<&str, Ranges> = FxHashMap::default();
        for (index, bounds) in self.line_starts.windows(2).enumerate() {
            let range = bounds[0] as usize..bounds[1] as usize;
            let block = self.block(bounds[0]);
            let is_blank = self.text[range.clone()].trim().is_empty();
            if is_blank || !users.contains(&*block.file) || self.is_marker(&range) {
                continue;
            }
            let number = self.number(block, index);
            let lines = files.entry(&*block.file).or_default();
            match lines.last_mut() {
                Some((last, ranges)) if *last == number => ranges.push(range),
                _ => lines.push((number, vec![range])),
            }
        }
        let mut pieces = Vec::new();
        for (file, lines) in files {
            let Some(text) = read(file) else { continue };
            let source = SourceLines::new(&text);
            for (number, ranges) in lines {
                pieces.extend(source.pieces(&self.text, &ranges, number));
            }
        }
        pieces.sort_unstable_by_key(|piece: &Piece| piece.at);
        self.pieces = pieces;
    }

    /// The uses of macros in the user's lines whose columns were found. `line` returns a line of a source.
    pub fn macro_uses<'s>(&self, line: impl Fn(&str, u32) -> Option<&'s str>) -> MacroUses {
        let mut uses = MacroUses::default();
        let same = |one: &Piece, other: &Piece| {
            let is_one_use = one.of_macro && other.of_macro && one.column == other.column;
            is_one_use && self.line_index(one.at) == self.line_index(other.at)
        };
        let (mut before, mut rest) = (None, &self.pieces[..]);
        for group in self.pieces.chunk_by(same) {
            rest = &rest[group.len()..];
            let first = group[0];
            let of_line = |piece: &&Piece| self.line_index(piece.at) == self.line_index(first.at);
            let (last, next) =
                (before.filter(|piece| of_line(piece)), rest.first().filter(of_line));
            before = group.last();
            if !first.of_macro {
                continue;
            }
            let place = self.place(first.at);
            let written = line(&place.file, place.line).and_then(|line| {
                columns::macro_use(line, first.column, next.map(|piece| piece.column))
            });
            let Some(written) = written else { continue };
            let expansion = group.iter().map(|piece| self.token(piece)).collect();
            let neighbours = [last, next].map(|piece| piece.map(|piece| self.token(piece)));
            uses.add(&place, MacroUse { expansion, neighbours, written: written.to_owned() });
        }
        uses
    }

    /// The token that a piece begins with.
    fn token(&self, piece: &Piece) -> String {
        self.text[piece.at as usize..][..columns::token(&self.text[piece.at as usize..])].to_owned()
    }

    /// Whether a line of the text is a line marker or another directive.
    fn is_marker(&self, line: &Range<usize>) -> bool {
        self.text[line.clone()].trim_start().starts_with('#')
    }

    /// One map for the texts of several, concatenated, and the offset at which each now starts. `None`
    /// if they are too long together for an offset of 32 bits.
    pub fn join(maps: &[Self]) -> Option<(Self, Vec<u32>)> {
        let total: usize = maps.iter().map(|map| map.text.len()).sum();
        u32::try_from(total).ok()?;
        let mut text = String::with_capacity(total);
        let (mut blocks, mut line_starts, mut starts) = (Vec::new(), Vec::new(), Vec::new());
        let mut pieces = Vec::new();
        for map in maps {
            let base = text.len() as u32;
            starts.push(base);
            text.push_str(&map.text);
            let moved =
                |block: &LineBlock| LineBlock { start: block.start + base, ..block.clone() };
            blocks.extend(map.blocks.iter().map(moved));
            let moved = |piece: &Piece| Piece { at: piece.at + base, ..*piece };
            pieces.extend(map.pieces.iter().map(moved));
            // The last one is the text's end.
            let own = map.line_starts.split_last().map_or(&[][..], |(_, rest)| rest);
            line_starts.extend(own.iter().map(|start| start + base));
        }
        line_starts.push(total as u32);
        Some((Self { text: text.into(), blocks, line_starts, pieces }, starts))
    }

    /// The preprocessed text.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// The text of a span; empty for a span outside of the text.
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// The user's file, line and column for an offset. Logarithmic in the number of lines.
    pub fn place(&self, offset: u32) -> Place {
        let block = self.block(offset);
        let line = self.line_index(offset);
        Place {
            file: block.file.clone(),
            line: self.number(block, line),
            column: self.column(offset, self.line_starts[line]),
        }
    }

    /// The number in its file of a line of the text, which lies in a block.
    fn number(&self, block: &LineBlock, line: usize) -> u32 {
        block.line + (line - self.line_index(block.start)) as u32
    }

    /// The column of an offset on the line that starts at another one.
    fn column(&self, offset: u32, start: u32) -> u32 {
        let after = self.pieces.partition_point(|piece| piece.at <= offset);
        let piece = after.checked_sub(1).map(|index| self.pieces[index]);
        match piece.filter(|piece| piece.at >= start) {
            Some(piece) if piece.of_macro => piece.column,
            Some(piece) => piece.column + (offset - piece.at),
            None => offset - start + 1,
        }
    }

    /// The files that the text came from, each once, in the order of their names.
    pub fn files(&self) -> BTreeSet<&str> {
        self.blocks.iter().map(|block| &*block.file).collect()
    }

    /// Whether the offset lies in a system header.
    pub fn is_system(&self, offset: u32) -> bool {
        self.block(offset).system
    }

    fn block(&self, offset: u32) -> &LineBlock {
        let after = self.blocks.partition_point(|block| block.start <= offset);
        &self.blocks[after.saturating_sub(1)]
    }

    fn line_index(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }
}

/// Collects the blocks of a [`SourceMap`] in the order of their offsets.
#[derive(Debug)]
pub struct SourceMapBuilder {
    blocks: Vec<LineBlock>,
}

impl SourceMapBuilder {
    /// Starts with everything belonging to line 1 of `main_file`.
    pub fn new(main_file: &str) -> Self {
        let first = LineBlock { start: 0, file: main_file.into(), line: 1, system: false };
        Self { blocks: vec![first] }
    }

    /// From `offset` on the text is line `line` of `file`, and the lines after it.
    pub fn begin(&mut self, offset: u32, file: &str, line: u32, system: bool) {
        let known = self.blocks.iter().rev().find(|block| &*block.file == file);
        let file = known.map_or_else(|| Arc::from(file), |block| block.file.clone());
        self.blocks.push(LineBlock { start: offset, file, line, system });
    }
}

/// A line marker: `# 12 "file.c" 1 3`.
struct Marker {
    line: u32,
    /// The file, without its escapes.
    file: String,
    /// Flag 1: the file begins here.
    enters: bool,
    /// Flag 2: the file continues here, after another one that it includes.
    returns: bool,
    /// Flag 3: it is a system header.
    system: bool,
}

/// The files that are being read, the innermost last; the first is the main file.
struct IncludeStack(Vec<Level>);

/// A file that is being read.
#[derive(Default)]
struct Level {
    /// Whether it is a system header from its beginning.
    system: bool,
    /// Whether `#pragma GCC system_header` is in effect in a file that includes it.
    inherited: bool,
    /// The blocks that are marked as a system header's within the file: all that follows
    /// `#pragma GCC system_header`, or tokens of a macro that a system header defines.
    marked: Vec<usize>,
}

impl IncludeStack {
    fn new() -> Self {
        Self(vec![Level::default()])
    }

    /// Whether the text after a marker belongs to a system header; it is the next block.
    ///
    /// The pragma marks all files that the file includes, too, as generated files for precompiled
    /// headers include headers of the project: of these only the system's own are system headers. A
    /// marked macro token stands alone: the text after it has no mark, whereas all text after a pragma
    /// has one. Such text is the user's, as `bool` at the beginning of a function is.
    fn is_system(&mut self, marker: &Marker, blocks: &mut [LineBlock]) -> bool {
        if marker.enters && marker.file.starts_with('<') {
            // It is no file, and no marker returns from it.
            return marker.system;
        }
        if marker.enters {
            let around =
                self.0.last().is_some_and(|level| level.inherited || !level.marked.is_empty());
            self.0.push(Level { system: marker.system, inherited: around, marked: Vec::new() });
        } else if marker.returns && self.0.len() > 1 {
            self.0.pop();
        }
        let Some(level) = self.0.last_mut() else { return marker.system };
        match (marker.enters || level.system, marker.system) {
            (true, _) => {}
            (false, true) => level.marked.push(blocks.len()),
            (false, false) => {
                level.marked.drain(..).for_each(|at| blocks[at].system = false);
            }
        }
        marker.system && (!level.inherited || is_of_system(&marker.file))
    }
}

/// Whether a path is in a place where systems and compilers keep their headers.
fn is_of_system(file: &str) -> bool {
    ["/usr/", "/opt/"].iter().any(|place| file.starts_with(place))
        || ["/lib/clang/", "/lib/gcc/"].iter().any(|place| file.contains(place))
}

fn parse_line_marker(line: &str) -> Option<Marker> {
    let rest = line.strip_prefix('#')?;
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let line = rest[..digits].parse().ok()?;
    let quoted = rest[digits..].trim_start().strip_prefix('"')?;
    let mut file = String::new();
    let mut chars = quoted.char_indices();
    let flags = loop {
        match chars.next()? {
            (_, '\\') => file.push(chars.next()?.1),
            (at, '"') => break &quoted[at + 1..],
            (_, c) => file.push(c),
        }
    };
    let has = |wanted: &str| flags.split_whitespace().any(|flag| flag == wanted);
    Some(Marker { line, file, enters: has("1"), returns: has("2"), system: has("3") })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str =
        "# 1 \"a.c\"\nint x;\n# 7 \"/usr/h.h\" 1 3\nint y;\n# 3 \"a.c\" 2\n  int z;\n";

    fn place_of(needle: &str) -> String {
        let map = SourceMap::from_preprocessed(TEXT, "a.c");
        map.place(TEXT.find(needle).unwrap() as u32).to_string()
    }

    #[test]
    fn a_line_marker_leads_back_to_the_users_file() {
        assert_eq!(place_of("int x"), "a.c:1:1");
        assert_eq!(place_of("int y"), "/usr/h.h:7:1");
        assert_eq!(place_of("int z"), "a.c:3:3");
    }

    #[test]
    fn a_pragma_makes_no_system_headers_of_those_of_the_project() {
        let text = "# 1 \"a.c\"\n# 1 \"pch.h\" 1\n# 4 \"pch.h\" 3\nint p;\n# 1 \"own.h\" 1 3\nint o;\n\
                    # 1 \"/usr/include/s.h\" 1 3\nint s;\n# 2 \"own.h\" 2 3\nint r;\n\
                    # 5 \"pch.h\" 2 3\n# 1 \"a.c\" 2\nint a;\n# 1 \"v/h.h\" 1 3\nint v;\n";
        let map = SourceMap::from_preprocessed(text, "a.c");
        let system = |name: &str| map.is_system(text.find(&format!("int {name};")).unwrap() as u32);
        assert_eq!(
            ["p", "o", "s", "r", "a", "v"].map(system),
            [true, false, true, false, false, true]
        );
    }

    #[test]
    fn tokens_of_a_systems_macro_are_the_users() {
        let text = "# 1 \"<lydian>\" 1 3\nint l;\n# 1 \"a.c\"\n# 1 \"/usr/include/b.h\" 1 3 4\nint b;\n# 2 \"a.c\" 2\n\
                    # 2 \"a.c\" 3 4\n_Bool\n# 3 \"a.c\"\nf(void);\n# 4 \"a.c\" 3 4\n_Bool g;\n";
        let map = SourceMap::from_preprocessed(text, "a.c");
        let system = |what: &str| map.is_system(text.find(what).unwrap() as u32);
        assert_eq!(["int b", "_Bool\n", "f(void)"].map(system), [true, false, false]);
    }

    #[test]
    fn flag_3_of_a_line_marker_means_a_system_header() {
        let map = SourceMap::from_preprocessed(TEXT, "a.c");
        let system = |needle: &str| map.is_system(TEXT.find(needle).unwrap() as u32);
        assert_eq!((system("int x"), system("int y"), system("int z")), (false, true, false));
    }

    #[test]
    fn joined_texts_lead_back_to_their_own_files() {
        let a = SourceMap::from_preprocessed("int a;\nint b;", "a.c");
        let b = SourceMap::from_preprocessed(TEXT, "b.c");
        let (both, starts) = SourceMap::join(&[a.clone(), b]).unwrap();
        assert_eq!(starts, [0, 13]);
        assert_eq!(both.place(7).to_string(), "a.c:2:1");
        let y = both.text().find("int y").unwrap() as u32;
        assert_eq!(both.place(y).to_string(), "/usr/h.h:7:1");
        assert!(both.is_system(y) && !both.is_system(3));
        let (one, _) = SourceMap::join(std::slice::from_ref(&a)).unwrap();
        assert_eq!((one.blocks, one.line_starts), (a.blocks, a.line_starts));
    }

    #[test]
    fn a_file_name_with_quotes_in_it_is_read_back() {
        let marker = parse_line_marker("# 2 \"a\\\"b\\\\c.h\" 1\n").unwrap();
        assert_eq!((marker.line, marker.file.as_str()), (2, "a\"b\\c.h"));
        assert!(marker.enters && !marker.returns && !marker.system);
    }
}
