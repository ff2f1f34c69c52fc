//! Functions that judge mutants, and lists of data that do.
//!
//! A place has dozens of mutants. In the user's function they would take its registers, and
//! compilers need minutes for such functions. So a place makes a call and passes what the mutants
//! read: the values of registers, the addresses of all else. In a user's program one function gets
//! the list of the place's mutants as data ([`super::code`]); in objects for tests, and for mutants
//! that code cannot say, a place has a function of its own. Once every mutant is covered, the call is
//! passed over: a cell of the place says so, and in a user's program what counts its passes.
//!
//! What is never covered is what keeps such calls alive, most of all the absolute values of numbers
//! that are never negative. They differ only where an operand is negative; while nothing else is
//! open, as a second cell says, the place looks at these signs before it calls.
//!
//! Programs pass places thousands of millions of times, and some mutants equal the program always.
//! After some calls that found nothing new a place of a program skips passes, the more the oftener it
//! called, in no fixed rhythm: of `n` passes it judges about the cube root of `24 n`. Passes in which
//! a condition is false and those in which it is true count apart, or those with other values of all
//! conditions: the last one of a loop is a rare one. What skips is defined with the text that the
//! compiler gets ([`crate::cc`]), which may have it that none is skipped.

use std::cell::RefCell;
use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_ir::cexact::{Names, c_type};
use lydian_ir::{
    Body, CTypeId, ExprId, FuncId, GlobalId, LocalId, LocalKind, Program, Storage, Type,
};

use super::Purpose;
use super::code::{Op, Shared, c_numbers, number, numbered};
use super::hooks::{PAGES, POISON};

/// The functions made so far.
#[derive(Debug)]
pub(super) struct Judges {
    text: String,
    count: usize,
    /// Whether [`DIFFER`] is there.
    compares: bool,
    /// Code of what is judged by data.
    code: Vec<u8>,
    /// How many kinds of passes of such places are counted.
    turns: usize,
    /// The most values that are shared at a place.
    slots: usize,
}

/// What is judged by data at a place: the code of a list of entries.
#[derive(Debug, Default)]
pub(super) struct Entries(Vec<u8>);

numbered! {
    /// The kinds of entries. A `Sign…` is of cells that only a negative operand can set.
    enum Kind {
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

impl Entries {
    /// The bytes of mutants are made zero, if this is the first call in an evaluation.
    pub(super) fn bytes(&mut self, count: usize) {
        self.add(Kind::Bytes, &[count]);
    }

    /// Other entries, which count only where a condition was reached. Before the words of what was
    /// reached stand so many others.
    pub(super) fn if_reached(&mut self, condition: usize, words: usize, entries: &Self) {
        self.add(Kind::Reached, &[condition, words, entries.0.len()]);
        self.0.extend(&entries.0);
    }

    /// Values that entries share are computed.
    pub(super) fn shared(&mut self, shared: &Shared) {
        if !shared.code.is_empty() {
            self.add(Kind::Shared, &[shared.code.len() + 1]);
            self.0.extend(&shared.code);
            self.0.push(Op::End as u8);
        }
    }

    /// A mutant of a condition is evaluated into its byte, unless all cells that ask for it are set.
    pub(super) fn mutant(&mut self, byte: usize, cells: &[usize], code: &[u8]) {
        self.add(Kind::Mutant, &[byte, cells.len()]);
        cells.iter().for_each(|cell| number(&mut self.0, *cell as u64));
        self.coded(code);
    }

    /// A label's cell is set where its predicate is true.
    pub(super) fn label(&mut self, cell: usize, by_sign: bool, code: &[u8]) {
        self.add(if by_sign { Kind::SignLabel } else { Kind::Label }, &[cell]);
        self.coded(code);
    }

    /// The cells of mutants are set, from these first numbers on, whose byte is what code says.
    pub(super) fn run(&mut self, first: [usize; 2], count: usize, by_sign: bool, code: &[u8]) {
        let [cell, byte] = first;
        let kind = if by_sign { Kind::SignRun } else { Kind::Run };
        self.add(kind, &[cell, byte, count]);
        self.coded(code);
    }

    /// A cell that others set.
    pub(super) fn open(&mut self, cell: usize, by_sign: bool) {
        self.add(if by_sign { Kind::SignOpen } else { Kind::Open }, &[cell]);
    }

    /// Where no cell of the entries before is open, places are done.
    pub(super) fn gate(&mut self, sampled: &Sampled) {
        let signs_only = sampled.signs_only.unwrap_or(0) as usize;
        self.add(Kind::Gate, &[signs_only, sampled.first, sampled.count]);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds all of these.
    pub(super) fn append(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    fn add(&mut self, kind: Kind, numbers: &[usize]) {
        self.0.push(kind as u8);
        numbers.iter().for_each(|value| number(&mut self.0, *value as u64));
    }

    fn coded(&mut self, code: &[u8]) {
        number(&mut self.0, code.len() as u64);
        self.0.extend(code);
    }
}

/// Places of a user's program whose passes are judged now and then: the numbers of what counts them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    /// The cell that says that nothing is open but what needs a negative operand. No cell has the
    /// number 0.
    signs_only: Option<u32>,
    first: usize,
    count: usize,
}

impl Sampled {
    /// The calls, where one is due. `turn` is the text of the number of what counts the passes;
    /// `signs` are tests of operands, of which one must hold where only that matters.
    pub(super) fn pass(&self, turn: &str, signs: &[String], calls: &str) -> String {
        let open = match (self.signs_only, signs) {
            (None, _) => String::new(),
            (Some(cell), []) => format!("!lydian_hit[{cell}] && "),
            (Some(cell), _) => format!("(!lydian_hit[{cell}] || ({})) && ", signs.join(" | ")),
        };
        format!("if ({open}__builtin_expect(--lydian_wait[{turn}] < 0, 0)) {{ {calls}}} ")
    }

    /// The number of what counts the passes of the `index`-th place.
    pub(super) const fn turn(&self, index: usize) -> usize {
        self.first + index
    }
}

/// Where entries are judged.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub(super) parameters: &'a Parameters,
    /// Words before those of the parameters.
    pub(super) before: &'a [String],
    /// The text of the bytes of mutants.
    pub(super) bytes: Option<&'a str>,
    /// The text of the number of what counts its passes.
    pub(super) turn: Option<&'a str>,
}

/// What a function takes from the place that calls it.
#[derive(Debug, Default)]
pub(super) struct Parameters {
    taken: RefCell<IndexMap<Taken, Parameter>>,
    /// The values of the program's own expressions that several mutants read, with declarations.
    shared: RefCell<IndexMap<ExprId, String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Taken {
    Local(LocalId),
    Global(GlobalId),
    Function(FuncId),
}

#[derive(Debug)]
struct Parameter {
    ty: &'static str,
    /// What the caller passes.
    argument: String,
}

/// When a place calls.
#[derive(Debug, Default)]
pub(super) struct Gate {
    /// The cell that says that nothing is open.
    done: u32,
    /// The cell that says that nothing is open but what needs a negative operand.
    signs_only: Option<u32>,
}

/// Mutants read what the program does not, beside its objects too: no sanitizer is to see that.
const UNCHECKED: &str = "no_sanitize(\"address\", \"thread\", \"undefined\")";

/// Sets the cells of mutants whose byte is the one that is wanted, and says whether any is still not
/// set. Cells are given by their number, so that the address of none is known to anybody.
const DIFFER: &str = "\
static __attribute__((noinline, cold, unused)) int lydian_differ(const unsigned char *mutants, \
unsigned long cell, unsigned long count, int wanted) { int open = 0; \
for (; count--; mutants++, cell++) if (!lydian_hit[cell]) { \
if (wanted && *mutants == wanted) lydian_hit[cell] = 1; else open = 1; } return open; }\n";

/// Judges a place by data.
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

/// The flags of a function that judges which say that a mutant is still open, by whether that can
/// only be covered where an operand is negative.
pub(super) const fn open_flag(by_sign: bool) -> &'static str {
    if by_sign { "lydian_signs_open" } else { "lydian_open" }
}

impl Judges {
    pub(super) const fn new() -> Self {
        Self {
            text: String::new(),
            count: 0,
            compares: false,
            code: Vec::new(),
            turns: 0,
            slots: 1,
        }
    }

    /// Makes sure that `lydian_differ` is there.
    pub(super) fn compare(&mut self) {
        if !self.compares {
            self.text.push_str(DIFFER);
            self.compares = true;
        }
    }

    /// All of their text.
    pub(super) fn text(&self) -> String {
        let Self { text, code, turns, slots, .. } = self;
        match code.is_empty() {
            true => text.clone(),
            false => format!(
                "static lydian_turns lydian_wait[{turns}]; static lydian_calls \
                 lydian_called[{turns}]; enum {{ LYDIAN_SLOTS = {slots}{} }};\n\
                 static const unsigned char lydian_code[] = \"{}\";\n{JUDGE}{text}",
                c_numbers("LYDIAN_", Kind::NAMES),
                escaped(code)
            ),
        }
    }

    /// Makes what counts passes of places of a user's program, so many kinds of them. `signs_only` as
    /// in [`Sampled`]; `slots` is how many values are shared at most at such a place.
    pub(super) fn sampled(
        &mut self,
        count: usize,
        signs_only: Option<u32>,
        slots: usize,
    ) -> Sampled {
        let first = self.turns;
        self.turns += count;
        self.slots = self.slots.max(slots);
        Sampled { signs_only, first, count }
    }

    /// The call that has entries judged.
    pub(super) fn by_data(&mut self, entries: &Entries, place: Place<'_>) -> String {
        let at = self.code.len();
        self.code.extend(&entries.0);
        self.code.push(Kind::End as u8);
        let words = place.parameters.words(place.before);
        let (turn, bytes) = (place.turn.unwrap_or("-1"), place.bytes.unwrap_or("0"));
        format!("lydian_judge({at}, {turn}, {bytes}, {words}); ")
    }

    /// Makes a function of these statements and gives the call of it. `own` are parameters beside
    /// those that were taken: declarations, each with what the caller passes.
    pub(super) fn call(
        &mut self,
        own: &[(String, String)],
        parameters: &Parameters,
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

impl Parameters {
    /// The number of a parameter.
    fn number(&self, taken: Taken, ty: &'static str, argument: impl FnOnce() -> String) -> usize {
        let mut all = self.taken.borrow_mut();
        let entry = all.entry(taken);
        let number = entry.index();
        entry.or_insert_with(|| Parameter { ty, argument: argument() });
        number
    }

    /// What the caller passes to code: an array of words, `before` and what was taken.
    pub(super) fn words(&self, before: &[String]) -> String {
        let taken = self.taken.borrow();
        let word = |Parameter { ty, argument }: &Parameter| match *ty {
            "char *" => format!("(unsigned long){argument}"),
            "float" => format!("lydian_bits_of_f32({argument})"),
            "double" => format!("lydian_bits_of_f64({argument})"),
            _ => argument.clone(),
        };
        let words: Vec<String> = before.iter().cloned().chain(taken.values().map(word)).collect();
        match words.is_empty() {
            true => "0".to_owned(),
            false => format!("(const unsigned long long[]){{{}}}", words.join(", ")),
        }
    }
}

impl Gate {
    /// The cells are `cell`s that it makes: two where some mutants need a negative operand.
    pub(super) fn new(by_sign: bool, cell: &mut dyn FnMut() -> u32) -> Self {
        let done = cell();
        Self { done, signs_only: by_sign.then(cell) }
    }

    /// The call with `before` in front of it, where it is to be made, `signs` being whether an
    /// operand is negative for which that matters.
    pub(super) fn pass(&self, signs: &[String], before: &str, call: &str) -> String {
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

    /// The end of the function, which sets the two cells.
    pub(super) fn update(&self) -> String {
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

/// Names inside of a function that judges: those of its parameters.
pub(super) struct Passed<'a> {
    pub(super) names: &'a dyn Names,
    pub(super) program: &'a Program,
    pub(super) body: &'a Body,
    pub(super) purpose: Purpose,
    pub(super) parameters: &'a Parameters,
}

impl Passed<'_> {
    /// The number of the parameter that is a register's value.
    pub(super) fn register(&self, local: LocalId) -> Option<usize> {
        let Storage::Register(ty) = self.body.locals[local].storage else { return None };
        let name = self.names.local(local)?;
        let argument = || self.value(local, ty, &name);
        Some(self.parameters.number(Taken::Local(local), c_type(ty), argument))
    }

    /// The number of the parameter that is the address of a local in memory.
    pub(super) fn local_address(&self, local: LocalId) -> Option<usize> {
        let is_memory = matches!(self.body.locals[local].storage, Storage::Memory { .. });
        let name = self.names.local(local).filter(|_| is_memory)?;
        Some(self.address(Taken::Local(local), &name))
    }

    /// The number of the parameter that is the address of a global.
    pub(super) fn global_address(&self, global: GlobalId) -> Option<usize> {
        Some(self.address(Taken::Global(global), &self.names.global(global)?))
    }

    /// The number of the parameter that is the address of a function.
    pub(super) fn function_address(&self, function: FuncId) -> Option<usize> {
        let name = self.names.function(function)?;
        let argument = || format!("((char *){name})");
        Some(self.parameters.number(Taken::Function(function), "char *", argument))
    }

    fn address(&self, taken: Taken, name: &str) -> usize {
        self.parameters.number(taken, "char *", || format!("((char *)&{name})"))
    }

    /// What stands for a variable in memory whose address is passed. None for scalars of types that
    /// are not in all compilers.
    fn variable(&self, taken: Taken, ty: CTypeId, name: &str) -> Option<String> {
        let alias = match self.program.types.scalar(ty) {
            Some(scalar) => Some(alias_type(scalar)?),
            None => None,
        };
        let parameter = parameter_name(self.address(taken, name));
        Some(match alias {
            Some(alias) => format!("(*({alias} *){parameter})"),
            None => format!("(*{parameter})"),
        })
    }

    /// A register's value. One that may not be set must not be passed before the compiler has lost
    /// sight of that.
    fn value(&self, local: LocalId, ty: Type, name: &str) -> String {
        let text = match ty {
            Type::Int(1) => format!("(({name}) != 0)"),
            _ if ty.is_float() => format!("({name})"),
            _ => format!("(({})({name}))", c_type(ty)),
        };
        if self.purpose == Purpose::Tests || self.body.locals[local].kind == LocalKind::Param {
            return text;
        }
        let ty = c_type(ty);
        format!("({{ {ty} lydian_x = {text}; __asm__(\"\" : \"+m\"(lydian_x)); lydian_x; }})")
    }
}

impl Names for Passed<'_> {
    fn local(&self, local: LocalId) -> Option<String> {
        let found = &self.body.locals[local];
        match found.storage {
            Storage::Register(_) => self.register(local).map(parameter_name),
            Storage::Memory { .. } => {
                self.variable(Taken::Local(local), found.ty, &self.names.local(local)?)
            }
        }
    }

    fn global(&self, global: GlobalId) -> Option<String> {
        let name = self.names.global(global)?;
        let ty = self.program.globals.get(global)?.ty;
        self.variable(Taken::Global(global), ty, &name)
    }

    fn function(&self, function: FuncId) -> Option<String> {
        self.function_address(function).map(parameter_name)
    }

    fn shared(&self, expr: ExprId) -> Option<String> {
        self.parameters.shared.borrow().get_index_of(&expr).map(shared_name)
    }

    fn share(&self, expr: ExprId, ty: Type, text: &str) -> Option<String> {
        // What checks its operands must do so for each mutant.
        if text.contains(POISON) {
            return None;
        }
        let mut shared = self.parameters.shared.borrow_mut();
        let name = shared_name(shared.len());
        let ty = c_type(ty);
        shared.insert(expr, format!("{ty} {name} = {text}; (void){name}; "));
        Some(name)
    }
}

fn parameter_name(number: usize) -> String {
    format!("lydian_p{number}")
}

fn shared_name(number: usize) -> String {
    format!("lydian_w{number}")
}

/// The type through which a variable of this type is read by its address.
const fn alias_type(ty: Type) -> Option<&'static str> {
    Some(match ty {
        Type::Int(1 | 8) => "lydian_a8",
        Type::Int(16) => "lydian_a16",
        Type::Int(32) => "lydian_a32",
        Type::Int(64) => "lydian_a64",
        Type::Int(128) => "lydian_a128",
        Type::F32 => "lydian_af32",
        Type::F64 => "lydian_af64",
        Type::F80 => "lydian_af80",
        Type::Ptr => "lydian_aptr",
        Type::Int(_) | Type::F16 | Type::BF16 => return None,
    })
}
