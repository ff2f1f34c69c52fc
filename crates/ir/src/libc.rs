//! The functions of the C library and of the compiler that Lydian knows by name.
//!
//! One table has a row for each: how engines follow a call of it, and its effects on the memory behind
//! its arguments. Its two parts are [`MODELLED`], of the functions whose meaning the interpreter
//! and the exploration have, under the row's name and signature, and [`UNMODELLED`], of those that
//! Lydian has in C (crate `clib`) or not at all. A function that is in neither is an external function,
//! each call of which gives a fresh input and of which nothing is known. A function that the program
//! defines itself is never modelled.
//!
//! All analyses ask this table about library functions. To model a function, add a row; the compiler then
//! leads to the engines' matches on the enum of its kind.

use std::sync::LazyLock;

use rustc_hash::FxHashMap;

use crate::program::ctype::{CType, CTypeId, CTypes, Target};
use crate::program::expr::Type;
use crate::program::function::Function;
use crate::program::{Global, GlobalId, GlobalInit, Program};

mod characters;
mod effects;
mod modelled;
mod unmodelled;

pub use characters::{TABLE_START, case_of, case_table, character_classes, class_bit, class_table};
pub use effects::{Effects, Params, Traits};
pub use modelled::{
    AllocationFn, CharacterClassFn, CharacterFn, EndFn, EnvironmentFn, ExactMathFn, FloatPartsFn,
    FloatTestFn, HintFn, InexactMathFn, IntegerFn, JumpFn, LibFn, MODELLED, MemoryFn, OverflowFn,
    VerificationFn,
};
pub use unmodelled::UNMODELLED;

/// The families of library functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Family {
    /// Reads or writes bytes and strings through pointers.
    Memory,
    /// Classifies or converts characters, in the C locale.
    Character,
    /// Allocates or frees.
    Allocation,
    /// Integers in, an integer out.
    Integer,
    /// Floats in, a float or a test out, exactly as IEEE 754 says.
    ExactMath,
    /// Floats in, a float out, to the C library's own precision.
    InexactMath,
    /// Does not return.
    End,
    /// A promise to the compiler or a question to it.
    Hint,
    /// Integer arithmetic that tells of overflow.
    Overflow,
    /// Returns a second time, or makes another call do so ([`crate::nonlocal`]).
    Jump,
    /// A function of verifiers and test generators: gives inputs, or assumes something of them.
    Verification,
    /// Gives the value of an environment variable, an input.
    Environment,
    /// Reads the number at the start of the text that is its first argument.
    Conversion,
    /// Sorts or searches by a function that it is given.
    Sorting,
    /// Works on wide or multibyte characters.
    Wide,
    /// Reads, writes or formats through streams, or as if through one.
    Stream,
    /// Tells or converts times, or waits.
    Time,
    /// Asks the system, or changes the state of the process in it.
    System,
}

/// A function of the C library or of the compiler: a row of the table.
#[derive(Clone, Copy, Debug)]
pub struct LibraryFunction {
    /// Its name in C.
    pub name: &'static str,
    /// Its family.
    pub family: Family,
    /// Where an engine that follows a call has its meaning from.
    pub source: Source,
    /// The properties of its name.
    pub traits: Traits,
    /// Its effects on the memory behind its arguments; none where they are not known.
    pub effects: Option<Effects>,
}

/// Where an engine that follows a call of a library function has its meaning from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// From a model in each engine.
    Model(Model),
    /// From its text in C.
    C(Exploration),
    /// From nowhere: it is an external function.
    Nowhere,
}

/// When explorations follow a function that there is in C. Runs of whole programs always do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exploration {
    /// Always.
    Always,
    /// Where standard input or files are inputs: it reads from them.
    WithInputs,
    /// Never: its result is an input.
    Never,
}

/// A function that is modelled.
#[derive(Clone, Copy, Debug)]
pub struct Model {
    /// Which.
    pub function: LibFn,
    /// Its name in C.
    pub name: &'static str,
    /// The type of its result and of its parameters, a letter each: `v` void, `b` `_Bool`, `w` 16
    /// bits, `i` 32 bits, `l` the bits of `long`, `q` 64 bits, `p` a pointer, `d` `double`, `f`
    /// `float`, `?` any integer, `#` `float` or `double`, `*` `void` or `int` (of a function that is
    /// not declared); `.` for any further arguments.
    pub signature: &'static str,
    /// Its family.
    pub family: Family,
}

impl LibraryFunction {
    /// Its model, if it has one.
    pub const fn model(&self) -> Option<&Model> {
        match &self.source {
            Source::Model(model) => Some(model),
            Source::C(_) | Source::Nowhere => None,
        }
    }
}

impl IntegerFn {
    /// The function as it is on a target: where `long` has 32 bits, those on `long` are those on
    /// `int`.
    pub const fn on(self, target: Target) -> Self {
        if target.pointer_bits() == 64 {
            return self;
        }
        match self {
            Self::Labs => Self::Abs,
            Self::Clzl => Self::Clz,
            Self::Ctzl => Self::Ctz,
            Self::Clrsbl => Self::Clrsb,
            Self::Popcountl => Self::Popcount,
            Self::Parityl => Self::Parity,
            Self::Ffsl => Self::Ffs,
            other => other,
        }
    }
}

/// The operations of the functions that report overflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverflowOp {
    /// Addition.
    Add,
    /// Subtraction.
    Sub,
    /// Multiplication.
    Mul,
}

impl OverflowFn {
    /// The operation, whatever the types.
    pub const fn operation(self) -> OverflowOp {
        use OverflowFn::*;
        match self {
            AddOverflow | SaddOverflow | UaddOverflow | SaddlOverflow | UaddlOverflow
            | SaddllOverflow | UaddllOverflow => OverflowOp::Add,
            SubOverflow | SsubOverflow | UsubOverflow | SsublOverflow | UsublOverflow
            | SsubllOverflow | UsubllOverflow => OverflowOp::Sub,
            MulOverflow | SmulOverflow | UmulOverflow | SmullOverflow | UmullOverflow
            | SmulllOverflow | UmulllOverflow => OverflowOp::Mul,
        }
    }
}

/// Variables of the C library, which a program may use without defining them.
const LIBRARY_OBJECTS: [&str; 17] = [
    "stdin",
    "stdout",
    "stderr",
    "environ",
    "__environ",
    "optarg",
    "optind",
    "opterr",
    "optopt",
    "timezone",
    "daylight",
    "tzname",
    "signgam",
    "program_invocation_name",
    "program_invocation_short_name",
    "sys_errlist",
    "sys_nerr",
];

/// The error number of the C library, as a variable of the program: the object behind `__errno_location()`.
pub const ERROR_NUMBER: &str = "errno";

/// The variables that hold the standard streams.
pub const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// Bytes that engines keep for a stream. Their contents are private to the C library.
pub const STREAM_BYTES: u64 = 256;

/// The variables of a program that hold standard streams of the C library's: pointers that the program
/// only declares. They point to three objects of their own, which nobody can look into.
pub fn streams(program: &Program) -> impl Iterator<Item = GlobalId> + '_ {
    let is_stream = |global: &Global| {
        global.init == GlobalInit::Extern
            && STREAMS.contains(&global.name.as_str())
            && program.types.scalar(global.ty) == Some(Type::Ptr)
    };
    program.globals.iter().filter(move |(_, global)| is_stream(global)).map(|(id, _)| id)
}

/// The error number after an allocation that failed, `ENOMEM`.
pub const NO_MEMORY: u32 = 12;

/// A block of allocated memory has at most so many bytes: an allocation of more fails. Any tester grants
/// that none has 1 GiB.
pub const MOST_OF_A_BLOCK: u64 = (1 << 30) - 1;

/// The C library's error number, where the program asks for it: the variable that its library has for
/// it. A variable of the program's own that happens to have the name is none.
pub fn error_number(program: &Program) -> Option<GlobalId> {
    let asked = program.function_named("__errno_location")?;
    let asked = &program.functions[asked];
    (asked.library && asked.body.is_some()).then(|| program.global_named(ERROR_NUMBER))?
}

/// Whether an undefined variable of this name is the C library's own.
pub fn is_library_object(name: &str) -> bool {
    LIBRARY_OBJECTS.contains(&name)
}

/// Whether each call of a function of this name gives a program an input, in the way of verifiers
/// (`__VERIFIER_nondet_int`, `nondet_int`) or of KLEE.
pub fn gives_inputs(name: &str) -> bool {
    let by_model = |model: &Model| match model.function {
        LibFn::Verification(function) => function.gives_input(),
        _ => false,
    };
    name.starts_with("__VERIFIER_nondet_")
        || name.starts_with("nondet_")
        || model_named(name).is_some_and(by_model)
}

impl VerificationFn {
    /// Whether each call of it gives an input.
    pub const fn gives_input(self) -> bool {
        match self {
            Self::KleeMakeSymbolic | Self::KleeInt | Self::KleeRange => true,
            Self::VerifierAssume
            | Self::VerifierError
            | Self::ReachError
            | Self::KleeAssume
            | Self::KleeSilentExit
            | Self::CproverAssume
            | Self::CproverAssert => false,
        }
    }

    /// Whether a call of it may end a run as one that is assumed away.
    pub const fn assumes(self) -> bool {
        match self {
            Self::VerifierAssume
            | Self::KleeAssume
            | Self::KleeSilentExit
            | Self::KleeRange
            | Self::CproverAssume => true,
            Self::VerifierError
            | Self::ReachError
            | Self::KleeMakeSymbolic
            | Self::KleeInt
            | Self::CproverAssert => false,
        }
    }
}

/// Whether a function of this name gives the value of an environment variable.
pub fn reads_environment(name: &str) -> bool {
    library_function(name).is_some_and(|found| found.family == Family::Environment)
}

/// Whether there can be an environment variable of this name.
pub fn names_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains('=')
}

/// The rows by name.
static BY_NAME: LazyLock<FxHashMap<&'static str, &'static LibraryFunction>> =
    LazyLock::new(|| MODELLED.iter().chain(UNMODELLED).map(|row| (row.name, row)).collect());

/// The row of a function by its name in C. `__builtin_memcpy` is `memcpy` and so on, and so are the
/// checked forms (`__builtin___memcpy_chk`, `__memcpy_chk`), whose last arguments are left out.
pub fn library_function(name: &str) -> Option<&'static LibraryFunction> {
    let exact = |name: &str| BY_NAME.get(name).copied();
    if let Some(found) = exact(name) {
        return Some(found);
    }
    if let Some(plain) = name.strip_prefix("__builtin_") {
        return exact(plain)
            .or_else(|| library_function(plain).filter(|_| plain.starts_with("__")));
    }
    if let Some(plain) = name.strip_prefix("__").and_then(|name| name.strip_suffix("_chk")) {
        return exact(plain);
    }
    // The functions behind the macros of <math.h>.
    match name {
        "isnan" | "__isnan" | "__isnanf" => exact("__builtin_isnan"),
        "isinf" | "__isinf" | "__isinff" => exact("__builtin_isinf_sign"),
        "finite" | "__finite" | "__finitef" => exact("__builtin_isfinite"),
        "__signbit" | "__signbitf" => exact("__builtin_signbit"),
        _ => None,
    }
}

/// The row of a function of a program, if it is the library's: one without a body, or one whose body
/// is from the library in C.
pub fn library_function_of(function: &Function) -> Option<&'static LibraryFunction> {
    let of_library = function.body.is_none() || function.library;
    library_function(&function.name).filter(|_| of_library)
}

/// Whether an undefined function of this name is one of the C library's that is known to write to no
/// variable of the program but to what its arguments point to.
pub fn is_confined(name: &str) -> bool {
    BY_NAME.get(name).is_some_and(|found| found.traits.confined)
}

/// The model of a function by its name in C, as [`library_function`] finds it.
pub fn model_named(name: &str) -> Option<&'static Model> {
    library_function(name)?.model()
}

/// The model of a call, if a function of this name and C type is modelled.
pub fn model_of(types: &CTypes, name: &str, ty: CTypeId) -> Option<&'static Model> {
    let model = model_named(name)?;
    let is_checked = name.ends_with("_chk");
    let CType::Function { result, params, .. } = types.get(ty) else { return None };
    let mut letters = model.signature.bytes();
    let result_suits = letters.next().is_some_and(|letter| suits(types, letter, *result));
    let mut given = params.iter().copied();
    for letter in letters {
        if letter == b'.' {
            return result_suits.then_some(model);
        }
        // Builtins that take any type have no parameters in their C type.
        match given.next() {
            Some(param) if suits(types, letter, param) => {}
            None if matches!(letter, b'?' | b'#') || model.signature.contains(['?', '#']) => {}
            // Programs for verifiers often declare these without a prototype, or not at all.
            None if model.family == Family::Verification && params.is_empty() => {}
            _ => return None,
        }
    }
    let rest = given.count();
    (result_suits && (rest == 0 || (is_checked && rest <= 2))).then_some(model)
}

fn suits(types: &CTypes, letter: u8, ty: CTypeId) -> bool {
    let scalar = types.scalar(ty);
    match letter {
        b'v' => matches!(types.get(ty), CType::Void),
        b'*' => matches!(types.get(ty), CType::Void) || scalar == Some(Type::Int(32)),
        b'b' => matches!(scalar, Some(Type::Int(8 | 32))),
        b'w' => scalar == Some(Type::Int(16)),
        b'i' => scalar == Some(Type::Int(32)),
        b'l' => scalar == Some(Type::Int(types.target.pointer_bits())),
        b'q' => scalar == Some(Type::Int(64)),
        b'p' => scalar == Some(Type::Ptr),
        b'd' => scalar == Some(Type::F64),
        b'f' => scalar == Some(Type::F32),
        b'?' => matches!(scalar, Some(Type::Int(_) | Type::Ptr)),
        b'#' => scalar.is_some_and(Type::is_float),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ctype::IntKind;

    #[test]
    fn every_row_is_found_by_its_name_and_no_name_is_there_twice() {
        for row in MODELLED.iter().chain(UNMODELLED) {
            let found = library_function(row.name).expect("a row");
            assert!(std::ptr::eq(found, row), "{} is there twice", row.name);
        }
        let plain = model_named("__builtin___memcpy_chk").map(|model| model.function);
        assert_eq!(plain, Some(LibFn::Memory(MemoryFn::Memcpy)));
        let fabs = model_named("__builtin_fabs").map(|model| model.function);
        assert_eq!(fabs, Some(LibFn::ExactMath(ExactMathFn::Fabs)));
        assert!(model_named("memcpyx").is_none() && model_named("__builtin_").is_none());
    }

    #[test]
    fn every_modelled_function_has_a_signature_that_its_effects_suit() {
        for row in MODELLED {
            let model = row.model().expect("a model");
            assert!(model.signature.bytes().all(|letter| b"vbwilqpdf?#*.".contains(&letter)));
            let effects = row.effects.expect("its effects are known");
            let pointed = |at: usize| model.signature.as_bytes().get(at + 1) == Some(&b'p');
            let sets = [effects.reads, effects.writes, effects.needs, effects.returns];
            for at in sets.into_iter().flat_map(Params::positions) {
                assert!(pointed(at), "{}: parameter {at} is no pointer", row.name);
            }
            let needed = effects.needs.positions();
            for at in needed {
                let is_used = effects.reads.contains(at) || effects.writes.contains(at);
                assert!(is_used, "{}: parameter {at} is not accessed", row.name);
            }
            if let Some((to, from)) = effects.copies {
                assert!(effects.writes.contains(to.into()) && effects.reads.contains(from.into()));
            }
            assert!(effects.returns.is_empty() || model.signature.starts_with('p'), "{}", row.name);
        }
    }

    #[test]
    fn a_function_of_the_same_name_but_another_type_is_not_modelled() {
        let mut types = CTypes::new();
        let void = types.void();
        let (p, n) = (types.pointer(void), types.int(IntKind::ULong));
        let of = |types: &mut CTypes, params: Vec<CTypeId>| {
            types.intern(CType::Function { result: n, params, variadic: false })
        };
        let (good, bad) = (of(&mut types, vec![p]), of(&mut types, vec![p, n]));
        assert!(model_of(&types, "strlen", good).is_some());
        assert!(model_of(&types, "strlen", bad).is_none());
    }
}
