//! Mutant probes: functions, or lists of data, that judge the weak mutants of a place.
//!
//! A place has dozens of mutants. Inside the user's function they would take its registers, and
//! compilers need minutes for such functions. So a place makes one call, and passes the values of
//! registers and the addresses of all other variables that the mutants read. In a user's program,
//! one function gets the list of the place's mutants as data ([`super::predicates::code`]). In
//! objects for tests, and for mutants that code cannot express, a place has a function of its own.
//! A place stops calling when every mutant is covered: a cell says so and, in a user's program, the
//! counter of its passes.
//!
//! Mutants that are never covered keep such calls alive, above all the absolute values of numbers
//! that are never negative. These differ only where an operand is negative. If no other mutant is
//! open, which a second cell says, the place tests the operands' signs before it calls.
//!
//! Programs pass places thousands of millions of times, and some mutants are equivalent to the
//! program. So a place of a program skips passes after some calls that found nothing new: of `n`
//! passes it judges about the cube root of `24 n`, in no fixed rhythm. Passes are counted apart by
//! the values of conditions, since the last pass of a loop is a rare one. The counting functions
//! are defined with the text that the compiler gets ([`crate::cc`]), and may be told to skip no
//! pass.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::rewrite::predicates::code::{Op, SharedValues, c_numbers, number, numbered};
use crate::rewrite::predicates::parameters::{ProbeParameters, parameter_name};
use crate::rewrite::predicates::{PAGES, POISON};

/// The functions and data of the mutant probes made so far.
#[derive(Debug)]
pub(crate) struct MutantProbes {
    text: String,
    count: usize,
    /// Whether the text contains [`DIFFER`].
    compares: bool,
    /// The code of all places that are judged by data.
    code: Vec<u8>,
    /// The number of pass counters.
    turns: usize,
    /// The most shared values of a place.
    slots: usize,
    /// The numbers of words that places pass as arguments.
    arities: BTreeSet<usize>,
}

/// The most words that a place passes as arguments. Arrays are variables in memory, which cost the
/// optimiser time in each of its passes.
const MOST_ARGUMENTS: usize = 16;

/// The code of a list of entries, which `runtime/judge.h` executes at a place.
#[derive(Debug, Default)]
pub(crate) struct ProbeEntries(Vec<u8>);

numbered! {
    /// The kinds of entries. Entries whose name begins with `Sign` have cells that only a negative
    /// operand can set.
    enum EntryKind {
        End,
        Label,
        SignLabel,
        Mutant,
        Run,
        SignRun,
        Open,
        SignOpen,
        Bytes,
        Reached,
        Shared,
        Gate,
    }
}

impl ProbeEntries {
    /// Makes the bytes of mutants zero, if this is the first call in an evaluation.
    pub(crate) fn bytes(&mut self, count: usize) {
        self.add(EntryKind::Bytes, &[count]);
    }

    /// Entries that apply only if a condition was reached. `words` words come before those that say
    /// which conditions were reached.
    pub(crate) fn if_reached(&mut self, condition: usize, words: usize, entries: &Self) {
        self.add(EntryKind::Reached, &[condition, words, entries.0.len()]);
        self.0.extend(&entries.0);
    }

    /// Computes values that entries share.
    pub(crate) fn shared(&mut self, shared: &SharedValues) {
        if !shared.code.is_empty() {
            self.add(EntryKind::Shared, &[shared.code.len() + 1]);
            self.0.extend(&shared.code);
            self.0.push(Op::End as u8);
        }
    }

    /// Evaluates a mutant of a condition into its byte, unless all cells that need it are set.
    pub(crate) fn mutant(&mut self, byte: usize, cells: &[usize], code: &[u8]) {
        self.add(EntryKind::Mutant, &[byte, cells.len()]);
        cells.iter().for_each(|cell| number(&mut self.0, *cell as u64));
        self.coded(code);
    }

    /// Sets a label's cell if its predicate is true.
    pub(crate) fn label(&mut self, cell: usize, by_sign: bool, code: &[u8]) {
        self.add(if by_sign { EntryKind::SignLabel } else { EntryKind::Label }, &[cell]);
        self.coded(code);
    }

    /// Sets the cells of mutants whose byte is the result of the code. Both cells and bytes have
    /// consecutive numbers from `first` on.
    pub(crate) fn run(&mut self, first: [usize; 2], count: usize, by_sign: bool, code: &[u8]) {
        let [cell, byte] = first;
        let kind = if by_sign { EntryKind::SignRun } else { EntryKind::Run };
        self.add(kind, &[cell, byte, count]);
        self.coded(code);
    }

    /// A cell that other probes set.
    pub(crate) fn open(&mut self, cell: usize, by_sign: bool) {
        self.add(if by_sign { EntryKind::SignOpen } else { EntryKind::Open }, &[cell]);
    }

    /// Stops the passes of the place if no cell of the entries before is open.
    pub(crate) fn gate(&mut self, sampled: &PassCounters) {
        let signs_only = sampled.signs_only.unwrap_or(0) as usize;
        self.add(EntryKind::Gate, &[signs_only, sampled.first, sampled.count]);
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Appends other entries.
    pub(crate) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn add(&mut self, kind: EntryKind, numbers: &[usize]) {
        self.0.push(kind as u8);
        numbers.iter().for_each(|value| number(&mut self.0, *value as u64));
    }

    fn coded(&mut self, code: &[u8]) {
        number(&mut self.0, code.len() as u64);
        self.0.extend(code);
    }
}

/// The counters of the passes of a place in a user's program, which judges samples of its passes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PassCounters {
    /// The cell that says that only mutants that need a negative operand are open. No such cell has
    /// number 0.
    signs_only: Option<u32>,
    first: usize,
    count: usize,
}

impl PassCounters {
    /// The calls, made on a pass that is sampled. `turn` is the text of the counter's number.
    /// `signs` are tests of operands' signs; one of them must hold if only such mutants are open.
    pub(crate) fn pass(&self, turn: &str, signs: &[String], calls: &str) -> String {
        let open = match (self.signs_only, signs) {
            (None, _) => String::new(),
            (Some(cell), []) => format!("!lydian_hit[{cell}] && "),
            (Some(cell), _) => format!("(!lydian_hit[{cell}] || ({})) && ", signs.join(" | ")),
        };
        format!("if ({open}__builtin_expect(--lydian_wait[{turn}] < 0, 0)) {{ {calls}}} ")
    }

    /// The number of the counter at position `index`.
    pub(crate) const fn turn(&self, index: usize) -> usize {
        self.first + index
    }
}

/// The place at which entries are judged.
#[derive(Clone, Copy)]
pub(crate) struct ProbeSite<'a> {
    pub(crate) parameters: &'a ProbeParameters,
    /// Words before those of the parameters.
    pub(crate) before: &'a [String],
    /// The text of the array of mutants' bytes.
    pub(crate) bytes: Option<&'a str>,
    /// The text of the number of the counter of its passes.
    pub(crate) turn: Option<&'a str>,
}

/// The cells that say when a place of an object for tests calls.
#[derive(Debug, Default)]
pub(crate) struct ProbeGate {
    /// The cell that says that no mutant is open.
    done: u32,
    /// The cell that says that only mutants that need a negative operand are open.
    signs_only: Option<u32>,
}

/// Mutants may read memory that the program does not read, outside of objects too. Sanitizers must
/// not report that.
const UNCHECKED: &str = "no_sanitize(\"address\", \"thread\", \"undefined\")";

/// Sets the cells of mutants whose byte is the wanted one, and returns whether any is still not
/// set. Cells are passed by number, so that no cell's address is taken.
const DIFFER: &str = "\
static __attribute__((noinline, cold, unused)) int lydian_differ(const unsigned char *mutants, \
unsigned long cell, unsigned long count, int wanted) { int open = 0; \
for (; count--; mutants++, cell++) if (!lydian_hit[cell]) { \
if (wanted && *mutants == wanted) lydian_hit[cell] = 1; else open = 1; } return open; }\n";

/// The C that judges the mutants of a place by data.
const JUDGE: &str = include_str!("../../runtime/judge.h");

/// Bytes as the text of a string literal.
fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() * 3);
    for byte in bytes {
        match byte {
            b'"' | b'\\' | b'?' => _ = write!(text, "\\{byte:03o}"),
            b' '..=b'~' => text.push(char::from(*byte)),
            _ => _ = write!(text, "\\{byte:03o}"),
        }
    }
    text
}

/// A function that calls `lydian_judge` with its last arguments as words.
fn judge_of_arguments(count: usize) -> String {
    let names = |prefix: &str| {
        let all = (0..count).map(|number| format!("{prefix}lydian_p{number}"));
        all.collect::<Vec<_>>().join(", ")
    };
    format!(
        "static __attribute__((noinline, cold, preserve_most)) void \
         lydian_judge_of{count}(unsigned long at, long turn, unsigned char *bytes, {}) {{ const unsigned long long words[] = {{{}}}; \
         lydian_judge(at, turn, bytes, words); }}\n",
        names("unsigned long long "),
        names(""),
    )
}

/// The flag of a mutant probe that says that a mutant is open. `by_sign` chooses the flag of
/// mutants that only a negative operand can cover.
pub(crate) const fn open_flag(by_sign: bool) -> &'static str {
    if by_sign { "lydian_signs_open" } else { "lydian_open" }
}

impl MutantProbes {
    pub(crate) const fn new() -> Self {
        Self {
            text: String::new(),
            count: 0,
            compares: false,
            code: Vec::new(),
            turns: 0,
            slots: 1,
            arities: BTreeSet::new(),
        }
    }

    /// Adds `lydian_differ` to the text, once.
    pub(crate) fn compare(&mut self) {
        if !self.compares {
            self.text.push_str(DIFFER);
            self.compares = true;
        }
    }

    /// The text of all functions and data.
    pub(crate) fn text(&self) -> String {
        let Self { text, code, turns, slots, arities, .. } = self;
        let callers: String = arities.iter().copied().map(judge_of_arguments).collect();
        match code.is_empty() {
            true => text.clone(),
            false => format!(
                "static lydian_turns lydian_wait[{turns}]; static lydian_calls \
                 lydian_called[{turns}]; enum {{ LYDIAN_SLOTS = {slots}{} }};\n\
                 static const unsigned char lydian_code[] = \"{}\";\n{JUDGE}{callers}{text}",
                c_numbers("LYDIAN_", EntryKind::NAMES),
                escaped(code)
            ),
        }
    }

    /// Makes `count` counters of passes for a place of a user's program. `signs_only` is the cell
    /// of [`PassCounters`]; `slots` is the most values that are shared at the place.
    pub(crate) fn sampled(
        &mut self,
        count: usize,
        signs_only: Option<u32>,
        slots: usize,
    ) -> PassCounters {
        let first = self.turns;
        self.turns += count;
        self.slots = self.slots.max(slots);
        PassCounters { signs_only, first, count }
    }

    /// The call that executes entries.
    pub(crate) fn by_data(&mut self, entries: &ProbeEntries, place: ProbeSite<'_>) -> String {
        let at = self.code.len();
        self.code.extend(&entries.0);
        self.code.push(EntryKind::End as u8);
        let words = place.parameters.words(place.before);
        let (turn, bytes) = (place.turn.unwrap_or("-1"), place.bytes.unwrap_or("0"));
        match (words.len(), words.join(", ")) {
            (0, _) => format!("lydian_judge({at}, {turn}, {bytes}, 0); "),
            (count @ ..=MOST_ARGUMENTS, words) => {
                self.arities.insert(count);
                format!("lydian_judge_of{count}({at}, {turn}, {bytes}, {words}); ")
            }
            (_, words) => {
                let words = format!("(const unsigned long long[]){{{words}}}");
                format!("lydian_judge({at}, {turn}, {bytes}, {words}); ")
            }
        }
    }

    /// Makes a function of statements, and returns the call of it. `own` are further parameters:
    /// declarations, each with the argument that the caller passes.
    pub(crate) fn call(
        &mut self,
        own: &[(String, String)],
        parameters: &ProbeParameters,
        statements: &str,
    ) -> String {
        let name = format!("lydian_judge{}", self.count);
        self.count += 1;
        let taken = parameters.taken.borrow();
        let declared = taken.values().enumerate();
        let declared =
            declared.map(|(number, taken)| format!("{} {}", taken.ty, parameter_name(number)));
        let declared: Vec<String> =
            own.iter().map(|(own, _)| own.clone()).chain(declared).collect();
        let passed = taken.values().map(|taken| taken.argument.as_str());
        let passed: Vec<&str> =
            own.iter().map(|(_, passed)| passed.as_str()).chain(passed).collect();
        let shared: String = parameters.shared.borrow().values().map(String::as_str).collect();
        let declared = if declared.is_empty() { "void".to_owned() } else { declared.join(", ") };
        let (open, signs_open) = (open_flag(false), open_flag(true));
        let _ = writeln!(
            self.text,
            "static __attribute__((noinline, cold, unused, {UNCHECKED})) void {name}({declared}) \
             {{ int {POISON} = 0, {open} = 0, {signs_open} = 0; lydian_pages {PAGES} = {{0}}; \
             (void){POISON}, (void){open}, (void){signs_open}, (void){PAGES}; \
             {shared}{statements}}}",
        );
        format!("{name}({}); ", passed.join(", "))
    }
}

impl ProbeGate {
    /// Makes the cells with `cell`: two if some mutants need a negative operand.
    pub(crate) fn new(by_sign: bool, cell: &mut dyn FnMut() -> u32) -> Self {
        let done = cell();
        Self { done, signs_only: by_sign.then(cell) }
    }

    /// The call with `before` in front of it, made if a mutant is open. `signs` are tests of
    /// operands' signs; one of them must hold if only such mutants are open.
    pub(crate) fn pass(&self, signs: &[String], before: &str, call: &str) -> String {
        format!("if ({}) {{ {before}{call}}} ", self.is_open(signs))
    }

    fn is_open(&self, signs: &[String]) -> String {
        let open = format!("!lydian_hit[{}]", self.done);
        match (self.signs_only, signs) {
            (None, _) => open,
            (Some(cell), []) => format!("{open} && !lydian_hit[{cell}]"),
            (Some(cell), _) => {
                format!("{open} && (!lydian_hit[{cell}] || ({}))", signs.join(" | "))
            }
        }
    }

    /// The statement at the end of a function that sets the two cells.
    pub(crate) fn update(&self) -> String {
        let signs_only = self.signs_only.map(|cell| format!("lydian_hit[{cell}] = 1; "));
        format!(
            "if (!{}) {{ {}if (!{}) lydian_hit[{}] = 1; }} ",
            open_flag(false),
            signs_only.unwrap_or_default(),
            open_flag(true),
            self.done
        )
    }
}
