//! The text of an instrumented unit: its cells, its tables and its notes before the user's code.
//!
//! The cells are a static array whose address is never taken, so that compilers know that no
//! pointer of the user's reaches them; a function that reads them keeps compilers from finding them
//! unused. Its first [`HEADER`] bytes are the header, and the first cells of the plan stand for
//! them. All that the text adds is static, or weak and hidden: it clashes with nothing.

use std::fmt::Write as _;
use std::path::Path;

use super::notes::{ForeignTable, NotedBound, NotedTable, UnitId, section_header};
use crate::harness::ENVIRONMENTS;
use crate::plan::{FIRST_COUNTER, HEADER, Plan};

/// The first bytes of a header of cells.
pub(crate) const CELLS_MAGIC: &[u8; 8] = b"LYDIANC1";

/// The first bytes of a header of tables.
pub(crate) const TABLES_MAGIC: &[u8; 8] = b"LYDIANT1";

/// The first bytes of a header of counters.
pub(crate) const COUNTS_MAGIC: &[u8; 8] = b"LYDIANK1";

/// The position, in the header of tables, of the byte that says that one of them was full.
pub(crate) const FULL: usize = 32;

/// The same for the table of definitions in other units.
pub(crate) const FOREIGN_FULL: usize = 33;

/// The least and the most entries of that table.
const FOREIGN: [u32; 2] = [64, 1 << 14];

/// How many distinct evaluations of a wide decision are kept, up to 64 conditions and beyond.
const CAPACITIES: [u32; 2] = [4096, 1024];

/// How many distinct rows of values that a label or a sequence binds are kept.
const ROWS: u32 = 4096;

/// How many environments of sequences under way a unit can hold, and one; and how many lists they
/// are found by.
const NODES: [u32; 2] = [1 << 15, 1 << 14];

/// The parts of a unit's text.
#[derive(Clone, Copy, Debug)]
pub struct UnitText<'a> {
    /// The rewritten text.
    pub rewritten: &'a str,
    /// Its plan.
    pub plan: &'a Plan,
    /// Its tables.
    pub tables: &'a UnitTables,
    /// Its id.
    pub id: UnitId,
    /// Where its packed notes lie, and how many bytes they are.
    pub notes: (&'a Path, usize),
    /// How records are stored.
    pub stores: Stores,
    /// How counters are, if there are any.
    pub counters: Stores,
}

/// How records are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stores {
    /// As any store: the compiler may put one off to the end of a loop that calls nothing.
    #[default]
    Plain,
    /// Those to cells where they stand, for clang. It moves few of them out of loops, and finding
    /// out which takes it much time.
    InPlace,
    /// Where they stand, each of them.
    Exact,
    /// Atomically, for programs whose threads are checked for data races.
    Atomic,
}

impl Stores {
    /// The qualifier of C that makes cells be stored so.
    const fn of_cells(self) -> &'static str {
        match self {
            Self::InPlace => "volatile",
            _ => self.qualifier(),
        }
    }

    /// The qualifier of C that makes a variable beside the cells be stored so.
    const fn qualifier(self) -> &'static str {
        match self {
            Self::Plain | Self::InPlace => "",
            Self::Exact => "volatile",
            Self::Atomic => "_Atomic",
        }
    }
}

/// The tables of a unit: words of 64 bits, one table after the other.
#[derive(Clone, Debug, Default)]
pub struct UnitTables {
    /// The tables of its wide decisions.
    pub wide: Vec<NotedTable>,
    /// The tables of the values that labels and sequences bind.
    pub bound: Vec<NotedBound>,
    /// The table of the definitions in other units that reach uses.
    pub foreign: Option<ForeignTable>,
}

/// The tables of a plan.
pub fn tables_of(plan: &Plan) -> UnitTables {
    let mut next = (HEADER / 8) as u32;
    let mut place = |capacity: u32, words: u32| {
        let at = next;
        next += capacity * (1 + words);
        at
    };
    let wide = plan.wide.iter().map(|wide| {
        let words = wide.bits.div_ceil(64).max(1);
        let capacity = CAPACITIES[usize::from(words > 1)];
        let at = place(capacity, words);
        NotedTable { function: wide.function, decision: wide.decision, at, capacity, words }
    });
    let wide = wide.collect();
    let bound = plan.tables.iter().map(|table| {
        let words = table.columns.iter().map(|column| column.words() as u32).sum();
        let (of, columns) = (table.of.clone(), table.columns.clone());
        let (at, capacity) = (place(ROWS, words), ROWS);
        NotedBound { function: table.function, of, columns, at, capacity, words }
    });
    let bound = bound.collect();
    let ways: u32 = plan.shared.uses.iter().map(|usage| usage.ways).sum();
    let foreign = (ways > 0).then(|| {
        let [least, most] = FOREIGN;
        let capacity = (ways * 8).next_power_of_two().clamp(least, most);
        ForeignTable { at: place(capacity, 2), capacity }
    });
    UnitTables { wide, bound, foreign }
}

impl UnitTables {
    const fn is_empty(&self) -> bool {
        self.wide.is_empty() && self.bound.is_empty() && self.foreign.is_none()
    }

    /// The words of all of them, header and all.
    fn words(&self) -> u32 {
        let wide = self.wide.last().map(|last| last.at + last.capacity * (1 + last.words));
        let bound = self.bound.last().map(|last| last.at + last.capacity * (1 + last.words));
        let foreign = self.foreign.map(|table| table.at + table.capacity * 3);
        foreign.or(bound).or(wide).unwrap_or(0)
    }
}

/// The whole text, to be compiled as preprocessed C.
///
/// Line markers stay true: the added lines belong to a file of their own, and the first line is the
/// user's first marker, from which compilers take the unit's name.
pub fn unit_text(unit: &UnitText<'_>) -> String {
    let mut text = String::with_capacity(unit.rewritten.len() + 1024);
    let names_file = |line: &&str| {
        (line.starts_with("# 1 \"") || line.starts_with("# 0 \"")) && !line.contains("<lydian>")
    };
    if let Some(marker) = unit.rewritten.lines().find(names_file) {
        let name: String = marker.split_inclusive('"').skip(1).take(1).collect();
        let _ = writeln!(text, "# 1 \"{name}");
    }
    text.push_str("# 1 \"<lydian>\"\n");
    let size = unit.plan.cells.len().next_multiple_of(HEADER);
    let stored = unit.stores.qualifier();
    let _ = writeln!(
        text,
        "static {} unsigned char lydian_hit[{size}] \
         __attribute__((aligned({HEADER}), section(\"lydian_cells\"))) = {};\n\
         static __attribute__((used)) unsigned char lydian_read(unsigned long k) \
         {{ return lydian_hit[k]; }}",
        unit.stores.of_cells(),
        initialiser(&header(CELLS_MAGIC, unit.id, size)),
    );
    let _ = writeln!(text, "typedef {stored} unsigned long long lydian_definition;");
    let _ = writeln!(
        text,
        "typedef {stored} int lydian_turns; typedef {stored} unsigned int lydian_calls;"
    );
    text.push_str(if unit.stores == Stores::Exact { NO_PAUSE } else { PAUSE });
    if unit.plan.counters > 0 {
        text.push_str(&counters(unit));
    }
    if !unit.tables.is_empty() {
        text.push_str(&table(unit.id, unit.tables));
    }
    if unit.plan.environments > 0 {
        let [nodes, buckets] = NODES;
        let values = unit.plan.environments;
        let _ = writeln!(
            text,
            "enum {{ LYDIAN_NODES = {nodes}, LYDIAN_BUCKETS = {buckets}, \
             LYDIAN_VALUES = {values} }};\n{ENVIRONMENTS}"
        );
    }
    text.push_str(READABLE);
    text.push_str(&embedded(unit));
    match unit.stores {
        Stores::Plain => text.push_str(&with_kept_stores(unit)),
        Stores::InPlace | Stores::Exact | Stores::Atomic => text.push_str(unit.rewritten),
    }
    text
}

/// The rewritten text, whose stores of single cells the compiler may not move, but for those that
/// are made in each turn of a loop.
fn with_kept_stores(unit: &UnitText<'_>) -> String {
    const CELL: &str = "lydian_hit[";
    let mut text = String::with_capacity(unit.rewritten.len() * 5 / 4);
    text.push_str("typedef volatile unsigned char lydian_kept;\n");
    let mut parts = unit.rewritten.split(CELL);
    text.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let cell = part.split_once("] = 1").and_then(|(cell, _)| cell.parse::<u32>().ok());
        match cell.is_some_and(|cell| !unit.plan.steady.contains(&cell)) {
            true => text.push_str("*(lydian_kept *)&lydian_hit["),
            false => text.push_str(CELL),
        }
        text.push_str(part);
    }
    text
}

/// Magic, id, and the bytes from header to header.
fn header(magic: &[u8; 8], id: UnitId, size: usize) -> Vec<u8> {
    let mut header = magic.to_vec();
    header.extend(id.0);
    header.extend((size as u64).to_le_bytes());
    header
}

/// An initialiser of these bytes: a list, since arrays of atomic elements take no string.
fn initialiser(bytes: &[u8]) -> String {
    let numbers: Vec<_> = bytes.iter().map(u8::to_string).collect();
    format!("{{{}}}", numbers.join(","))
}

/// The counters, behind a header.
fn counters(unit: &UnitText<'_>) -> String {
    let words = (FIRST_COUNTER + unit.plan.counters as usize).next_multiple_of(HEADER / 8);
    let stored = unit.counters.qualifier();
    format!(
        "static {stored} unsigned long long lydian_counts[{words}] \
         __attribute__((aligned({HEADER}), section(\"lydian_cells\"))) = {};\n",
        words_of(&header(COUNTS_MAGIC, unit.id, words * 8)),
    )
}

/// An initialiser of words of 64 bits.
fn words_of(bytes: &[u8]) -> String {
    let word = |chunk: &[u8]| {
        let number = chunk.try_into().map_or(0, u64::from_le_bytes);
        format!("{number}ull")
    };
    format!("{{{}}}", bytes.chunks(8).map(word).collect::<Vec<_>>().join(", "))
}

/// The function that asks whether memory can be read. It is weak, so that objects link without the
/// run-time; then no memory can be read.
const READABLE: &str = "\
extern int lydian_can_be_read(const void *, unsigned long) \
__attribute__((weak, visibility(\"hidden\")));\n\
static __inline__ __attribute__((unused)) int lydian_readable(const void *p, unsigned long n) \
{ return lydian_can_be_read && lydian_can_be_read(p, n); }\n";

/// The number of passes that a place skips after `calls` calls that covered no new mutant: none at
/// first, and then a number with which the calls grow as the cube root of the passes.
const PAUSE: &str = "\
static __inline__ __attribute__((unused)) int lydian_pause(unsigned int calls) { \
unsigned int more = calls < 64 ? 0 : calls - 64, most = more < 32768 ? more * more / 4 : 268435456; \
return (int)((calls * 2654435761u >> 3) % (most + 1)); }\n";

/// Every pass counts.
const NO_PAUSE: &str = "\
static __inline__ __attribute__((unused)) int lydian_pause(unsigned int calls) \
{ (void)calls; return 0; }\n";

/// The tables and what enters evaluations and rows into them: open addressing, without locks. An
/// entry is free (0), being written (1) or there (2); a writer that is killed loses one. The last
/// arguments of the atomic builtins are C's orders, whose names are macros: 0 is relaxed, 2
/// acquires, 3 releases.
fn table(id: UnitId, tables: &UnitTables) -> String {
    let size = (tables.words() as usize * 8).next_multiple_of(HEADER);
    let initial = words_of(&header(TABLES_MAGIC, id, size));
    let place = |(at, capacity, words): (u32, u32, u32)| format!("{{{at}, {capacity}, {words}}}");
    let wide = tables.wide.iter().map(|table| place((table.at, table.capacity, table.words)));
    let bound = tables.bound.iter().map(|table| place((table.at, table.capacity, table.words)));
    let mut text = format!(
        "struct lydian_place {{ unsigned int at, capacity, words; }};\n\
         typedef unsigned long long __attribute__((aligned(8))) lydian_word;\n\
         static unsigned long long lydian_table[{}] \
         __attribute__((aligned({HEADER}), section(\"lydian_cells\"))) = {initial};\n{KEEP}",
        size / 8,
    );
    if !tables.wide.is_empty() {
        let _ = writeln!(
            text,
            "static __attribute__((noinline, unused)) void lydian_wide(unsigned int decision, \
             unsigned int words, const unsigned long long *values) {{ \
             static const struct lydian_place places[] = {{{}}}; \
             unsigned long long wide[{WIDEST}]; unsigned int word; \
             for (word = 0; word < words; word++) wide[word] = values[word]; \
             if (!lydian_keep(&places[decision], words, wide)) \
             __atomic_store_n((unsigned char *)lydian_table + {FULL}, 1, 0); }}",
            wide.collect::<Vec<_>>().join(", "),
            WIDEST = tables.wide.iter().map(|table| table.words).max().unwrap_or(1),
        );
        let _ = writeln!(text, "static lydian_definition lydian_entered[{}];", tables.wide.len());
        text.push_str(NARROW);
    }
    if let Some(foreign) = &tables.foreign {
        let place = place((foreign.at, foreign.capacity, 2));
        let _ = writeln!(
            text,
            "static lydian_word lydian_known[{KNOWN}];\n\
             static __attribute__((noinline, cold, unused)) unsigned long \
             lydian_foreign(unsigned long long last, unsigned long cell) {{ \
             static const struct lydian_place place = {place}; static unsigned char full; \
             unsigned long long row[2] = {{last, cell}}; \
             unsigned long long seen = last ^ (cell + 1) * 0x9e3779b97f4a7c15ull; \
             lydian_word *known = &lydian_known[(seen ^ seen >> 32) % {KNOWN}]; \
             if (__atomic_load_n(known, 0) == seen || __atomic_load_n(&full, 0)) return cell; \
             if (!lydian_keep(&place, 2, row)) {{ __atomic_store_n(&full, 1, 0); \
             __atomic_store_n((unsigned char *)lydian_table + {FOREIGN_FULL}, 1, 0); }} \
             __atomic_store_n(known, seen, 0); return cell; }}"
        );
    }
    if !tables.bound.is_empty() {
        let _ = writeln!(
            text,
            "static __attribute__((noinline, unused)) int lydian_row(unsigned int table, \
             unsigned int words, const unsigned long long *values) {{ \
             static const struct lydian_place places[] = {{{}}}; \
             static unsigned char full[{}]; \
             if (__atomic_load_n(&full[table], 0)) return 0; \
             if (lydian_keep(&places[table], words, values)) return 1; \
             __atomic_store_n(&full[table], 1, 0); return 0; }}",
            bound.collect::<Vec<_>>().join(", "),
            tables.bound.len(),
        );
    }
    text
}

/// How many definitions that reached uses a process remembers as entered. It remembers a hash of 64
/// bits, in one word, so that threads need no lock.
const KNOWN: usize = 256;

/// Enters an evaluation of less than 64 bits, unless it is the decision's last one. That is
/// remembered once it is entered, so a process that is killed loses nothing. Where a word is stored
/// in two parts, threads could make another one of two, so nothing is remembered.
const NARROW: &str = "\
static __attribute__((noinline, unused)) void lydian_enter(unsigned int decision, \
unsigned long long values) \
{ lydian_wide(decision, 1, &values); lydian_entered[decision] = values + 1; }\n\
static __inline__ __attribute__((unused)) void lydian_narrow(unsigned int decision, \
unsigned long long values) { if (sizeof(void *) < 8 || lydian_entered[decision] != values + 1) \
lydian_enter(decision, values); }\n";

/// Enters values into a table; 0 where there is no room.
const KEEP: &str = "\
static __attribute__((noinline, unused)) int lydian_keep(const struct lydian_place *place, \
unsigned int words, const unsigned long long *values) { \
unsigned int capacity = place->capacity, tried, word; \
unsigned long long hash = 0; \
for (word = 0; word < words; word++) { \
hash = (hash ^ values[word]) * 0x9e3779b97f4a7c15ull; hash ^= hash >> 29; } \
for (tried = 0; tried < capacity; tried++) { \
lydian_word *entry = lydian_table + place->at \
+ ((hash + tried) & (capacity - 1)) * (1 + words); \
unsigned long long state = __atomic_load_n(entry, 2); \
if (state == 0 && __atomic_compare_exchange_n(entry, &state, 1, 0, 2, 2)) { \
for (word = 0; word < words; word++) __atomic_store_n(entry + 1 + word, values[word], 0); \
__atomic_store_n(entry, 2, 3); return 1; } \
if (state == 2) { \
for (word = 0; word < words; word++) \
if (__atomic_load_n(entry + 1 + word, 0) != values[word]) break; \
if (word == words) return 1; } } \
return 0; }\n";

/// The notes, in a section that no program loads. The id in the text is their hash, so caches of
/// objects may compare the text alone. The directive is in two strings, since ccache does not cache
/// a text that contains it.
fn embedded(unit: &UnitText<'_>) -> String {
    let (path, size) = unit.notes;
    let bytes = section_header(unit.id, size);
    let bytes: Vec<_> = bytes.iter().map(u8::to_string).collect();
    let path = path.to_string_lossy().replace('\\', "\\\\").replace('"', "\\\"");
    let path = path.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "__asm__(\".pushsection .lydian_notes,\\\"\\\"\\n.byte {}\\n.inc\" \"bin \\\"{path}\\\"\\n\
         .popsection\");\n",
        bytes.join(","),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a unit, without tables.
    fn text_of(plan: &Plan, rewritten: &str, stores: Stores) -> String {
        unit_text(&UnitText {
            rewritten,
            plan,
            tables: &UnitTables::default(),
            id: UnitId([9; 16]),
            notes: (Path::new("/n"), 4),
            stores,
            counters: Stores::Plain,
        })
    }

    #[test]
    fn the_first_line_names_the_users_file_and_the_array_holds_the_header() {
        let plan = Plan::for_program();
        let rewritten = "# 1 \"<lydian>\"\nint lydian;\n# 1 \"a.c\" 1\nint x;\n";
        let text = text_of(&plan, rewritten, Stores::Plain);
        assert!(text.starts_with("# 1 \"a.c\"\n# 1 \"<lydian>\"\n"), "{text}");
        assert!(text.contains("lydian_hit[64]") && text.contains("bin \\\"/n\\\""), "{text}");
        assert!(text.ends_with("int x;\n"));
    }

    #[test]
    fn stores_that_only_some_turns_make_stay_where_they_stand() {
        let mut plan = Plan::for_program();
        plan.steady.insert(7);
        let rewritten = "lydian_hit[7] = 1; lydian_hit[8] = 1; lydian_hit[9 + k] = 1; \
                         if (lydian_hit[8]) lydian_hit[10] = 1;";
        let stored = "lydian_hit[7] = 1; *(lydian_kept *)&lydian_hit[8] = 1; \
                      lydian_hit[9 + k] = 1; if (lydian_hit[8]) \
                      *(lydian_kept *)&lydian_hit[10] = 1;";
        let plain = text_of(&plan, rewritten, Stores::Plain);
        assert!(plain.ends_with(stored), "{plain}");
        for stores in [Stores::InPlace, Stores::Exact] {
            let text = text_of(&plan, rewritten, stores);
            assert!(text.contains("static volatile unsigned char lydian_hit["), "{text}");
            assert!(text.ends_with(rewritten));
        }
    }

    #[test]
    fn a_table_has_room_by_the_words_of_its_evaluations() {
        let wide = |bits| crate::plan::WideDecision {
            function: 0,
            decision: lydian_base::EntityId::from_index(0),
            labels: Vec::new(),
            bits,
        };
        let plan = Plan { wide: vec![wide(20), wide(65)], ..Plan::default() };
        let found = tables_of(&plan).wide;
        assert_eq!((found[0].at, found[0].capacity, found[0].words), (8, 4096, 1));
        assert_eq!((found[1].at, found[1].capacity, found[1].words), (8 + 8192, 1024, 2));
    }
}
