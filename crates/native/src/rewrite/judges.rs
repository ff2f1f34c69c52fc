//! Functions that judge mutants.
//!
//! A place has dozens of mutants. In the user's function they would take its registers, and
//! compilers need minutes for such functions. So a place calls a function of its own, which gets
//! what the mutants read: the values of registers, the addresses of all else. It is a call that
//! ends: once every mutant is covered a cell of the place says so, and the call is passed over.
//!
//! What is never covered is what keeps such calls alive, most of all the absolute values of numbers
//! that are never negative. They differ only where an operand is negative; while nothing else is
//! open, as a second cell says, the place looks at these signs before it calls.
//!
//! Programs pass places thousands of millions of times, and some mutants equal the program always.
//! After some thousand calls a place of a program skips passes, the more the oftener it called, in
//! no fixed rhythm: of `n` passes it judges about `sqrt(8192 n)`. Passes in which a condition is
//! false and those in which it is true count apart: the last one of a loop is a rare one. What skips is defined with the
//! text that the compiler gets ([`crate::cc`]), which may have it that none is skipped.

use std::cell::RefCell;
use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_ir::cexact::{Names, c_type};
use lydian_ir::{
    Body, CTypeId, ExprId, FuncId, GlobalId, LocalId, LocalKind, Program, Storage, Type,
};

use super::Purpose;
use super::hooks::{PAGES, POISON};

/// The functions made so far.
#[derive(Debug)]
pub(super) struct Judges {
    text: String,
    count: usize,
    purpose: Purpose,
}

/// A call of a function that judges.
#[derive(Debug)]
pub(super) struct Call {
    /// Whether it is made in this pass: what follows a condition, or nothing.
    turn: String,
    /// The statement.
    call: String,
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

/// The flags of a function that judges which say that a mutant is still open, by whether that can
/// only be covered where an operand is negative.
pub(super) const fn open_flag(by_sign: bool) -> &'static str {
    if by_sign { "lydian_signs_open" } else { "lydian_open" }
}

impl Judges {
    pub(super) const fn new(purpose: Purpose) -> Self {
        Self { text: String::new(), count: 0, purpose }
    }

    /// All of their text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Makes a function of these statements and gives the call of it, which may skip passes.
    /// `own` are parameters beside those that were taken: declarations, each with what the caller
    /// passes. Passes in which the variable `kind` is 0 are counted apart from those in which it is
    /// 1.
    pub(super) fn add(
        &mut self,
        own: &[(String, String)],
        parameters: &Parameters,
        statements: &str,
        kind: Option<&str>,
    ) -> Call {
        if self.purpose == Purpose::Tests {
            return Call { turn: String::new(), call: self.call(own, parameters, statements) };
        }
        let (wait, called) =
            (format!("lydian_wait{}", self.count), format!("lydian_called{}", self.count));
        let (kinds, of_kind) = match kind {
            Some(kind) => ("[2]", format!("[{kind}]")),
            None => ("", String::new()),
        };
        let _ = writeln!(
            self.text,
            "static lydian_turns {wait}{kinds}; static lydian_calls {called}{kinds};"
        );
        let statements =
            format!("{statements}{wait}{of_kind} = lydian_pause(++{called}{of_kind}); ");
        let kind = kind.map(|kind| (format!("int {kind}"), kind.to_owned()));
        let own: Vec<_> = own.iter().cloned().chain(kind).collect();
        Call {
            turn: format!(" && --{wait}{of_kind} < 0"),
            call: self.call(&own, parameters, &statements),
        }
    }

    /// As [`Judges::add`], but the call is made in every pass.
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
        let declared = declared.map(|(number, taken)| format!("{} lydian_p{number}", taken.ty));
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
    /// The name of a parameter.
    fn take(&self, taken: Taken, ty: &'static str, argument: impl FnOnce() -> String) -> String {
        let mut all = self.taken.borrow_mut();
        let entry = all.entry(taken);
        let name = format!("lydian_p{}", entry.index());
        entry.or_insert_with(|| Parameter { ty, argument: argument() });
        name
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
    pub(super) fn pass(&self, signs: &[String], before: &str, call: &Call) -> String {
        format!("if ({}{}) {{ {before}{}}} ", self.is_open(signs), call.turn, call.call)
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
    /// What stands for a variable in memory whose address is passed. None for scalars of types that
    /// are not in all compilers.
    fn variable(&self, taken: Taken, ty: CTypeId, name: &str) -> Option<String> {
        let alias = match self.program.types.scalar(ty) {
            Some(scalar) => Some(alias_type(scalar)?),
            None => None,
        };
        let parameter = self.parameters.take(taken, "char *", || format!("((char *)&{name})"));
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
        let name = self.names.local(local)?;
        let found = &self.body.locals[local];
        match found.storage {
            Storage::Register(ty) => {
                let argument = || self.value(local, ty, &name);
                Some(self.parameters.take(Taken::Local(local), c_type(ty), argument))
            }
            Storage::Memory { .. } => self.variable(Taken::Local(local), found.ty, &name),
        }
    }

    fn global(&self, global: GlobalId) -> Option<String> {
        let name = self.names.global(global)?;
        let ty = self.program.globals.get(global)?.ty;
        self.variable(Taken::Global(global), ty, &name)
    }

    fn function(&self, function: FuncId) -> Option<String> {
        let name = self.names.function(function)?;
        let argument = || format!("((char *){name})");
        Some(self.parameters.take(Taken::Function(function), "char *", argument))
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
