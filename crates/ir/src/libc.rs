//! The functions of the C library and of the compiler that engines model instead of calling.
//!
//! One table, [`MODELLED`], for the interpreter and the symbolic engine: who models a function does
//! so under this name and signature. What is not in it is an external function, each call of which
//! gives a fresh input. A function that the program defines itself is never modelled.

use crate::ctype::{CType, CTypeId, CTypes, Target};
use crate::expr::Type;
use crate::program::{Global, GlobalId, GlobalInit, Program};

/// What a family of functions has in common for an engine that models it.
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
    /// What verifiers and test generators give a program: inputs, and what is assumed of them.
    Verification,
    /// Gives the value of an environment variable, an input.
    Environment,
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
    /// What kind of function.
    pub family: Family,
}

macro_rules! modelled {
    ($($family:ident { $($variant:ident $name:literal $signature:literal,)* })*) => {
        /// A modelled function, by its name in C.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each is the C function of that name")]
        pub enum LibFn { $($($variant,)*)* }

        /// Every modelled function.
        pub const MODELLED: &[Model] = &[$($(Model {
            function: LibFn::$variant,
            name: $name,
            signature: $signature,
            family: Family::$family,
        },)*)*];
    };
}

modelled! {
    Memory {
        Memcpy "memcpy" "pppl",
        Memmove "memmove" "pppl",
        Memset "memset" "ppil",
        Memcmp "memcmp" "ippl",
        Bcmp "bcmp" "ippl",
        Memchr "memchr" "ppil",
        Strlen "strlen" "lp",
        Strnlen "strnlen" "lpl",
        Strcmp "strcmp" "ipp",
        Strncmp "strncmp" "ippl",
        Strcasecmp "strcasecmp" "ipp",
        Strncasecmp "strncasecmp" "ippl",
        Strcpy "strcpy" "ppp",
        Stpcpy "stpcpy" "ppp",
        Strncpy "strncpy" "pppl",
        Strcat "strcat" "ppp",
        Strncat "strncat" "pppl",
        Strchr "strchr" "ppi",
        Strrchr "strrchr" "ppi",
        Strstr "strstr" "ppp",
        Strspn "strspn" "lpp",
        Strcspn "strcspn" "lpp",
        Strpbrk "strpbrk" "ppp",
    }
    Character {
        Isalnum "isalnum" "ii",
        Isalpha "isalpha" "ii",
        Isblank "isblank" "ii",
        Iscntrl "iscntrl" "ii",
        Isdigit "isdigit" "ii",
        Isgraph "isgraph" "ii",
        Islower "islower" "ii",
        Isprint "isprint" "ii",
        Ispunct "ispunct" "ii",
        Isspace "isspace" "ii",
        Isupper "isupper" "ii",
        Isxdigit "isxdigit" "ii",
        Tolower "tolower" "ii",
        Toupper "toupper" "ii",
        CtypeBLoc "__ctype_b_loc" "p",
        CtypeTolowerLoc "__ctype_tolower_loc" "p",
        CtypeToupperLoc "__ctype_toupper_loc" "p",
    }
    Allocation {
        Malloc "malloc" "pl",
        Calloc "calloc" "pll",
        Realloc "realloc" "ppl",
        Free "free" "vp",
        Strdup "strdup" "pp",
        Strndup "strndup" "ppl",
    }
    Integer {
        Abs "abs" "ii",
        Labs "labs" "ll",
        Llabs "llabs" "qq",
        Clz "__builtin_clz" "ii",
        Clzl "__builtin_clzl" "il",
        Clzll "__builtin_clzll" "iq",
        Ctz "__builtin_ctz" "ii",
        Ctzl "__builtin_ctzl" "il",
        Ctzll "__builtin_ctzll" "iq",
        Clrsb "__builtin_clrsb" "ii",
        Clrsbl "__builtin_clrsbl" "il",
        Clrsbll "__builtin_clrsbll" "iq",
        Popcount "__builtin_popcount" "ii",
        Popcountl "__builtin_popcountl" "il",
        Popcountll "__builtin_popcountll" "iq",
        Parity "__builtin_parity" "ii",
        Parityl "__builtin_parityl" "il",
        Parityll "__builtin_parityll" "iq",
        Ffs "ffs" "ii",
        Ffsl "ffsl" "il",
        Ffsll "ffsll" "iq",
        Bswap16 "__builtin_bswap16" "ww",
        Bswap32 "__builtin_bswap32" "ii",
        Bswap64 "__builtin_bswap64" "qq",
    }
    ExactMath {
        Fabs "fabs" "dd",
        Fabsf "fabsf" "ff",
        Floor "floor" "dd",
        Floorf "floorf" "ff",
        Ceil "ceil" "dd",
        Ceilf "ceilf" "ff",
        Trunc "trunc" "dd",
        Truncf "truncf" "ff",
        Round "round" "dd",
        Roundf "roundf" "ff",
        Rint "rint" "dd",
        Rintf "rintf" "ff",
        Nearbyint "nearbyint" "dd",
        Nearbyintf "nearbyintf" "ff",
        Sqrt "sqrt" "dd",
        Sqrtf "sqrtf" "ff",
        Fmod "fmod" "ddd",
        Fmodf "fmodf" "fff",
        Fmin "fmin" "ddd",
        Fminf "fminf" "fff",
        Fmax "fmax" "ddd",
        Fmaxf "fmaxf" "fff",
        Copysign "copysign" "ddd",
        Copysignf "copysignf" "fff",
        Frexp "frexp" "ddp",
        Frexpf "frexpf" "ffp",
        Modf "modf" "ddp",
        Modff "modff" "ffp",
        Ldexp "ldexp" "ddi",
        Ldexpf "ldexpf" "ffi",
        Scalbn "scalbn" "ddi",
        Scalbnf "scalbnf" "ffi",
        Inf "__builtin_inf" "d",
        Inff "__builtin_inff" "f",
        HugeVal "__builtin_huge_val" "d",
        HugeValf "__builtin_huge_valf" "f",
        Nan "__builtin_nan" "dp",
        Nanf "__builtin_nanf" "fp",
        Isnan "__builtin_isnan" "i#",
        Isinf "__builtin_isinf" "i#",
        IsinfSign "__builtin_isinf_sign" "i#",
        Isfinite "__builtin_isfinite" "i#",
        Isnormal "__builtin_isnormal" "i#",
        Signbit "__builtin_signbit" "i#",
        Isgreater "__builtin_isgreater" "i##",
        Isgreaterequal "__builtin_isgreaterequal" "i##",
        Isless "__builtin_isless" "i##",
        Islessequal "__builtin_islessequal" "i##",
        Islessgreater "__builtin_islessgreater" "i##",
        Isunordered "__builtin_isunordered" "i##",
    }
    InexactMath {
        Pow "pow" "ddd",
        Powf "powf" "fff",
        Exp "exp" "dd",
        Expf "expf" "ff",
        Exp2 "exp2" "dd",
        Exp2f "exp2f" "ff",
        Log "log" "dd",
        Logf "logf" "ff",
        Log2 "log2" "dd",
        Log2f "log2f" "ff",
        Log10 "log10" "dd",
        Log10f "log10f" "ff",
        Sin "sin" "dd",
        Sinf "sinf" "ff",
        Cos "cos" "dd",
        Cosf "cosf" "ff",
        Tan "tan" "dd",
        Tanf "tanf" "ff",
        Asin "asin" "dd",
        Asinf "asinf" "ff",
        Acos "acos" "dd",
        Acosf "acosf" "ff",
        Atan "atan" "dd",
        Atanf "atanf" "ff",
        Sinh "sinh" "dd",
        Sinhf "sinhf" "ff",
        Cosh "cosh" "dd",
        Coshf "coshf" "ff",
        Tanh "tanh" "dd",
        Tanhf "tanhf" "ff",
        Cbrt "cbrt" "dd",
        Cbrtf "cbrtf" "ff",
        Atan2 "atan2" "ddd",
        Atan2f "atan2f" "fff",
        Hypot "hypot" "ddd",
        Hypotf "hypotf" "fff",
    }
    End {
        Abort "abort" "v",
        Exit "exit" "vi",
        UnderscoreExit "_exit" "vi",
        CapitalExit "_Exit" "vi",
        AssertFail "__assert_fail" "vppip",
        Unreachable "__builtin_unreachable" "v",
        Trap "__builtin_trap" "v",
    }
    Jump {
        Setjmp "setjmp" "ip",
        UnderscoreSetjmp "_setjmp" "ip",
        Sigsetjmp "sigsetjmp" "ipi",
        UnderscoreSigsetjmp "__sigsetjmp" "ipi",
        BuiltinSetjmp "__builtin_setjmp" "ip",
        Longjmp "longjmp" "vpi",
        UnderscoreLongjmp "_longjmp" "vpi",
        Siglongjmp "siglongjmp" "vpi",
        BuiltinLongjmp "__builtin_longjmp" "vpi",
    }
    Verification {
        VerifierAssume "__VERIFIER_assume" "*?",
        VerifierError "__VERIFIER_error" "*",
        ReachError "reach_error" "*",
        KleeAssume "klee_assume" "*l",
        KleeSilentExit "klee_silent_exit" "*i",
        KleeMakeSymbolic "klee_make_symbolic" "*plp",
        KleeRange "klee_range" "iiip",
        KleeInt "klee_int" "ip",
        CproverAssume "__CPROVER_assume" "*?",
        CproverAssert "__CPROVER_assert" "*?p",
    }
    Environment {
        Getenv "getenv" "pp",
        SecureGetenv "secure_getenv" "pp",
    }
    Hint {
        Expect "__builtin_expect" "lll",
        ExpectWithProbability "__builtin_expect_with_probability" "llld",
        Assume "__builtin_assume" "vb",
        AssumeAligned "__builtin_assume_aligned" "ppl.",
        Prefetch "__builtin_prefetch" "vp.",
        ConstantP "__builtin_constant_p" "i?",
        ObjectSize "__builtin_object_size" "lpi",
        DynamicObjectSize "__builtin_dynamic_object_size" "lpi",
        GoesOn "__lydian_goes_on" "ip",
        Anything "__lydian_anything" "q",
    }
    Overflow {
        AddOverflow "__builtin_add_overflow" "b??p",
        SubOverflow "__builtin_sub_overflow" "b??p",
        MulOverflow "__builtin_mul_overflow" "b??p",
        SaddOverflow "__builtin_sadd_overflow" "biip",
        SsubOverflow "__builtin_ssub_overflow" "biip",
        SmulOverflow "__builtin_smul_overflow" "biip",
        UaddOverflow "__builtin_uadd_overflow" "biip",
        UsubOverflow "__builtin_usub_overflow" "biip",
        UmulOverflow "__builtin_umul_overflow" "biip",
        SaddlOverflow "__builtin_saddl_overflow" "bllp",
        SsublOverflow "__builtin_ssubl_overflow" "bllp",
        SmullOverflow "__builtin_smull_overflow" "bllp",
        UaddlOverflow "__builtin_uaddl_overflow" "bllp",
        UsublOverflow "__builtin_usubl_overflow" "bllp",
        UmullOverflow "__builtin_umull_overflow" "bllp",
        SaddllOverflow "__builtin_saddll_overflow" "bqqp",
        SsubllOverflow "__builtin_ssubll_overflow" "bqqp",
        SmulllOverflow "__builtin_smulll_overflow" "bqqp",
        UaddllOverflow "__builtin_uaddll_overflow" "bqqp",
        UsubllOverflow "__builtin_usubll_overflow" "bqqp",
        UmulllOverflow "__builtin_umulll_overflow" "bqqp",
    }
}

impl LibFn {
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

/// The error number of the C library, as a variable of the program: what `*__errno_location()` is.
pub const ERROR_NUMBER: &str = "errno";

/// The variables that hold the standard streams.
pub const STREAMS: [&str; 3] = ["stdin", "stdout", "stderr"];

/// Bytes that engines keep for a stream. What is in them is the C library's secret.
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

/// What the error number is after an allocation that failed, `ENOMEM`.
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
    const KLEE: [&str; 3] = ["klee_make_symbolic", "klee_int", "klee_range"];
    name.starts_with("__VERIFIER_nondet_") || name.starts_with("nondet_") || KLEE.contains(&name)
}

/// Whether a function of this name gives the value of an environment variable.
pub fn reads_environment(name: &str) -> bool {
    MODELLED.iter().any(|model| model.family == Family::Environment && model.name == name)
}

/// Whether there can be an environment variable of this name.
pub fn names_variable(name: &str) -> bool {
    !name.is_empty() && !name.contains('=')
}

/// Functions of the C library without a model here, of which C says that they write to no variable of the
/// program but to what their arguments point to.
const CONFINED: [&str; 47] = [
    "asctime",
    "clearerr",
    "clock",
    "ctime",
    "difftime",
    "fclose",
    "feof",
    "ferror",
    "fflush",
    "fgetc",
    "fgets",
    "fileno",
    "fopen",
    "fprintf",
    "fputc",
    "fputs",
    "fread",
    "fseek",
    "ftell",
    "fwrite",
    "getc",
    "getchar",
    "gmtime",
    "localtime",
    "mktime",
    "perror",
    "printf",
    "putc",
    "putchar",
    "puts",
    "remove",
    "rename",
    "rewind",
    "snprintf",
    "sprintf",
    "strerror",
    "strftime",
    "system",
    "time",
    "tmpfile",
    "ungetc",
    "vfprintf",
    "vprintf",
    "vsnprintf",
    "vsprintf",
    "fputwc",
    "fgetwc",
];

/// Whether an undefined function of this name is one of the C library's that is known to write to no
/// variable of the program but to what its arguments point to.
pub fn is_confined(name: &str) -> bool {
    CONFINED.contains(&name)
}

/// The model of a function by its name in C. `__builtin_memcpy` is `memcpy` and so on, and so are
/// the checked forms (`__builtin___memcpy_chk`, `__memcpy_chk`), whose last argument is left out.
pub fn model_named(name: &str) -> Option<&'static Model> {
    let exact = |name: &str| MODELLED.iter().find(|model| model.name == name);
    if let Some(model) = exact(name) {
        return Some(model);
    }
    if let Some(plain) = name.strip_prefix("__builtin_") {
        return exact(plain).or_else(|| model_named(plain).filter(|_| plain.starts_with("__")));
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

/// The classes of a character in the C locale, as the bits of glibc's table of them.
pub const fn character_classes(c: u8) -> u16 {
    let classes: [(bool, u16); 12] = [
        (c.is_ascii_uppercase(), 0x100),
        (c.is_ascii_lowercase(), 0x200),
        (c.is_ascii_alphabetic(), 0x400),
        (c.is_ascii_digit(), 0x800),
        (c.is_ascii_hexdigit(), 0x1000),
        (matches!(c, b' ' | 9..=13), 0x2000),
        (matches!(c, 32..=126), 0x4000),
        (matches!(c, 33..=126), 0x8000),
        (matches!(c, b' ' | b'\t'), 1),
        (c.is_ascii_control(), 2),
        (c.is_ascii_punctuation(), 4),
        (c.is_ascii_alphanumeric(), 8),
    ];
    let (mut bits, mut k) = (0, 0);
    while k < classes.len() {
        if classes[k].0 {
            bits |= classes[k].1;
        }
        k += 1;
    }
    bits
}

/// The bit of [`character_classes`] that a function such as `isalpha` asks for.
pub const fn class_bit(function: LibFn) -> Option<u16> {
    Some(match function {
        LibFn::Isupper => 0x100,
        LibFn::Islower => 0x200,
        LibFn::Isalpha => 0x400,
        LibFn::Isdigit => 0x800,
        LibFn::Isxdigit => 0x1000,
        LibFn::Isspace => 0x2000,
        LibFn::Isprint => 0x4000,
        LibFn::Isgraph => 0x8000,
        LibFn::Isblank => 1,
        LibFn::Iscntrl => 2,
        LibFn::Ispunct => 4,
        LibFn::Isalnum => 8,
        _ => return None,
    })
}

/// The least character that glibc's tables have an entry for; they go up to 255.
pub const TABLE_START: i32 = -128;

/// What `*__ctype_b_loc()` points into, from [`TABLE_START`] on.
pub fn class_table() -> [u16; 384] {
    std::array::from_fn(|index| match index as i32 + TABLE_START {
        c @ 0..=127 => character_classes(c as u8),
        _ => 0,
    })
}

/// What `*__ctype_tolower_loc()` (or `toupper`) points into, from [`TABLE_START`] on.
pub fn case_table(to_upper: bool) -> [i32; 384] {
    std::array::from_fn(|index| case_of(index as i32 + TABLE_START, to_upper))
}

/// `tolower` or `toupper` in the C locale.
pub const fn case_of(c: i32, to_upper: bool) -> i32 {
    match c {
        0x41..=0x5a if !to_upper => c + 32,
        0x61..=0x7a if to_upper => c - 32,
        // glibc's tables give -128 to -2 as the bytes that they are as `unsigned char`.
        -128..=-2 => c + 256,
        _ => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ctype::IntKind;

    #[test]
    fn every_model_is_found_by_its_name_and_no_name_is_there_twice() {
        for model in MODELLED {
            let found = model_named(model.name).map(|found| found.function);
            assert_eq!(found, Some(model.function), "{}", model.name);
            assert!(model.signature.bytes().all(|letter| b"vbwilqpdf?#*.".contains(&letter)));
        }
        let plain = model_named("__builtin___memcpy_chk").map(|model| model.function);
        assert_eq!(plain, Some(LibFn::Memcpy));
        assert_eq!(model_named("__builtin_fabs").map(|model| model.function), Some(LibFn::Fabs));
        assert!(model_named("memcpyx").is_none() && model_named("__builtin_").is_none());
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

    #[test]
    fn the_character_tables_agree_with_the_functions_that_rust_has() {
        let table = class_table();
        let class = |c: i32| table[(c - TABLE_START) as usize];
        assert_eq!(class(i32::from(b'a')), 0x200 | 0x400 | 0x1000 | 0x4000 | 0x8000 | 8);
        assert_eq!(class(i32::from(b'\t')), 0x2000 | 1 | 2);
        assert_eq!((class(-1), class(200)), (0, 0));
        assert_eq!(case_table(true)[(i32::from(b'z') - TABLE_START) as usize], i32::from(b'Z'));
        assert_eq!(case_of(-1, true), -1);
    }
}
