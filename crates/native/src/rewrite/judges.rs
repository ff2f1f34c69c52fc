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

use std::cell::RefCell;
use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_ir::cexact::{Names, c_type};
use lydian_ir::{
    Body, CTypeId, ExprId, FuncId, GlobalId, LocalId, LocalKind, Program, Storage, Type,
};

use super::Purpose;
use super::hooks::POISON;

/// The functions made so far.
#[derive(Debug, Default)]
pub(super) struct Judges {
    text: String,
    count: usize,
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

/// The cells of mutants, one after the other: those that need a negative operand are the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judged {
    pub(super) first: u32,
    pub(super) signs: u32,
    pub(super) end: u32,
}

impl Judges {
    /// All of their text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Makes a function of these statements and gives the call of it. `own` are parameters beside
    /// those that were taken: declarations, each with what the caller passes.
    pub(super) fn add(
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
        let _ = writeln!(
            self.text,
            "static __attribute__((noinline, cold, unused)) void {name}({}) \
             {{ int lydian_bad = 0; (void)lydian_bad; {shared}{statements}}}",
            if declared.is_empty() { "void".to_owned() } else { declared.join(", ") },
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
    /// The cells are `cell`s that it makes.
    pub(super) fn new(judged: Judged, cell: &mut dyn FnMut() -> u32) -> Self {
        let done = cell();
        let signs_only = (judged.signs < judged.end).then(cell);
        Self { done, signs_only }
    }

    /// Whether to call, `signs` being whether an operand is negative for which that matters.
    pub(super) fn is_open(&self, signs: &[String]) -> String {
        let open = format!("!lydian_hit[{}]", self.done);
        match (self.signs_only, signs) {
            (None, _) => open,
            (Some(cell), []) => format!("{open} && !lydian_hit[{cell}]"),
            (Some(cell), _) => format!("{open} && (!lydian_hit[{cell}] || {})", signs.join(" | ")),
        }
    }

    /// The end of the function, which sets the two cells.
    pub(super) fn update(&self, judged: Judged) -> String {
        let (first, end) = (judged.first, judged.end);
        let mut text = format!("unsigned long lydian_c = {first}; ");
        let all_to =
            |end: u32| format!("while (lydian_c < {end} && lydian_hit[lydian_c]) lydian_c++; ");
        if let Some(cell) = self.signs_only {
            let signs = judged.signs;
            let _ =
                write!(text, "{}if (lydian_c == {signs}) lydian_hit[{cell}] = 1; ", all_to(signs));
        }
        let _ =
            write!(text, "{}if (lydian_c == {end}) lydian_hit[{}] = 1; ", all_to(end), self.done);
        text
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
