//! The functions that engines model: a row each.
//!
//! A row has the function's name in the enum of its kind, its name in C, its signature
//! ([`Model::signature`](super::Model)), in brackets the properties of its name
//! ([`Traits`](super::Traits)), and in braces its effects ([`Effects`](super::Effects)). Engines
//! dispatch on the kind: its enum has no other functions, so that an engine that forgets one
//! does not compile.

use super::{Effects, Family, LibraryFunction, Model, Source, Traits};

macro_rules! modelled {
    ($($family:ident as $kind:ident($functions:ident) {
        $($variant:ident $name:literal $signature:literal
            $([$($trait:ident $(($($trait_argument:literal),*))?)*])?
            $({$($effect:ident $(($($effect_argument:literal),*))?)*})?,)*
    })*) => {
        $(
            /// The modelled functions of a kind, by their names in C.
            #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
            #[allow(missing_docs, reason = "each is the C function of that name")]
            pub enum $functions { $($variant,)* }

            impl From<$functions> for LibFn {
                fn from(function: $functions) -> Self {
                    Self::$kind(function)
                }
            }
        )*

        /// A modelled function, by its kind.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "each has the functions of one kind")]
        pub enum LibFn { $($kind($functions),)* }

        /// Every modelled function.
        pub static MODELLED: &[LibraryFunction] = &[$($(LibraryFunction {
            name: $name,
            family: Family::$family,
            source: Source::Model(Model {
                function: LibFn::$kind($functions::$variant),
                name: $name,
                signature: $signature,
                family: Family::$family,
            }),
            traits: Traits::NONE$($(.$trait($($($trait_argument),*)?))*)?,
            effects: Some(Effects::NONE$($(.$effect($($($effect_argument),*)?))*)?),
        },)*)*];
    };
}

modelled! {
    Memory as Memory(MemoryFn) {
        Memcpy "memcpy" "pppl" [builtin checked(3)] { writes(0) reads(1) copies(0, 1) returns(0) },
        Memmove "memmove" "pppl" [builtin checked(3)]
            { writes(0) reads(1) copies(0, 1) returns(0) },
        Memset "memset" "ppil" [builtin checked(3)] { writes(0) returns(0) },
        Memcmp "memcmp" "ippl" [builtin] { reads(0) reads(1) },
        Bcmp "bcmp" "ippl" [builtin] { reads(0) reads(1) },
        Memchr "memchr" "ppil" [builtin] { reads(0) returns(0) },
        Strlen "strlen" "lp" [builtin] { text(0) needs(0) },
        Strnlen "strnlen" "lpl" { reads(0) },
        Strcmp "strcmp" "ipp" [builtin] { text(0) needs(0) text(1) needs(1) },
        Strncmp "strncmp" "ippl" [builtin] { reads(0) reads(1) },
        Strcasecmp "strcasecmp" "ipp" [builtin] { text(0) needs(0) text(1) needs(1) },
        Strncasecmp "strncasecmp" "ippl" [builtin] { reads(0) reads(1) },
        Strcpy "strcpy" "ppp" [builtin checked(2)]
            { writes(0) needs(0) text(1) needs(1) copies(0, 1) returns(0) },
        Stpcpy "stpcpy" "ppp" [builtin checked(2)]
            { writes(0) needs(0) text(1) needs(1) copies(0, 1) returns(0) },
        Strncpy "strncpy" "pppl" [builtin checked(3)]
            { writes(0) reads(1) copies(0, 1) returns(0) },
        Strcat "strcat" "ppp" [builtin checked(2)]
            { writes(0) text(0) needs(0) text(1) needs(1) copies(0, 1) returns(0) },
        Strncat "strncat" "pppl" [builtin checked(3)]
            { writes(0) text(0) reads(1) copies(0, 1) returns(0) },
        Strchr "strchr" "ppi" [builtin] { text(0) needs(0) returns(0) },
        Strrchr "strrchr" "ppi" [builtin] { text(0) needs(0) returns(0) },
        Strstr "strstr" "ppp" [builtin] { text(0) needs(0) text(1) needs(1) returns(0) },
        Strspn "strspn" "lpp" [builtin] { text(0) needs(0) text(1) },
        Strcspn "strcspn" "lpp" [builtin] { text(0) needs(0) text(1) },
        Strpbrk "strpbrk" "ppp" [builtin] { text(0) needs(0) text(1) returns(0) },
    }
    Character as CharacterClass(CharacterClassFn) {
        Isalnum "isalnum" "ii" [builtin] { traps },
        Isalpha "isalpha" "ii" [builtin] { traps },
        Isblank "isblank" "ii" [builtin] { traps },
        Iscntrl "iscntrl" "ii" [builtin] { traps },
        Isdigit "isdigit" "ii" [builtin] { traps },
        Isgraph "isgraph" "ii" [builtin] { traps },
        Islower "islower" "ii" [builtin] { traps },
        Isprint "isprint" "ii" [builtin] { traps },
        Ispunct "ispunct" "ii" [builtin] { traps },
        Isspace "isspace" "ii" [builtin] { traps },
        Isupper "isupper" "ii" [builtin] { traps },
        Isxdigit "isxdigit" "ii" [builtin] { traps },
    }
    Character as Character(CharacterFn) {
        Tolower "tolower" "ii" [builtin],
        Toupper "toupper" "ii" [builtin],
        CtypeBLoc "__ctype_b_loc" "p",
        CtypeTolowerLoc "__ctype_tolower_loc" "p",
        CtypeToupperLoc "__ctype_toupper_loc" "p",
    }
    Allocation as Allocation(AllocationFn) {
        Malloc "malloc" "pl" [builtin],
        Calloc "calloc" "pll" [builtin],
        Realloc "realloc" "ppl" [builtin] { reads(0) frees(0) },
        Free "free" "vp" [builtin] { frees(0) },
        Strdup "strdup" "pp" [builtin] { text(0) needs(0) },
        Strndup "strndup" "ppl" [builtin] { reads(0) },
    }
    Integer as Integer(IntegerFn) {
        Abs "abs" "ii" [builtin] { traps },
        Labs "labs" "ll" [builtin] { traps },
        Llabs "llabs" "qq" [builtin] { traps },
        Clz "__builtin_clz" "ii" { traps },
        Clzl "__builtin_clzl" "il" { traps },
        Clzll "__builtin_clzll" "iq" { traps },
        Ctz "__builtin_ctz" "ii" { traps },
        Ctzl "__builtin_ctzl" "il" { traps },
        Ctzll "__builtin_ctzll" "iq" { traps },
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
    ExactMath as ExactMath(ExactMathFn) {
        Fabs "fabs" "dd" [builtin],
        Fabsf "fabsf" "ff" [builtin],
        Floor "floor" "dd" [builtin],
        Floorf "floorf" "ff" [builtin],
        Ceil "ceil" "dd" [builtin],
        Ceilf "ceilf" "ff" [builtin],
        Trunc "trunc" "dd" [builtin],
        Truncf "truncf" "ff" [builtin],
        Round "round" "dd" [builtin],
        Roundf "roundf" "ff" [builtin],
        Rint "rint" "dd" [builtin],
        Rintf "rintf" "ff" [builtin],
        Nearbyint "nearbyint" "dd" [builtin],
        Nearbyintf "nearbyintf" "ff" [builtin],
        Sqrt "sqrt" "dd" [builtin] { errno },
        Sqrtf "sqrtf" "ff" [builtin] { errno },
        Fmod "fmod" "ddd" [builtin] { errno },
        Fmodf "fmodf" "fff" [builtin] { errno },
        Fmin "fmin" "ddd" [builtin],
        Fminf "fminf" "fff" [builtin],
        Fmax "fmax" "ddd" [builtin],
        Fmaxf "fmaxf" "fff" [builtin],
        Copysign "copysign" "ddd" [builtin],
        Copysignf "copysignf" "fff" [builtin],
        Inf "__builtin_inf" "d",
        Inff "__builtin_inff" "f",
        HugeVal "__builtin_huge_val" "d",
        HugeValf "__builtin_huge_valf" "f",
        Nan "__builtin_nan" "dp" { text(0) },
        Nanf "__builtin_nanf" "fp" { text(0) },
    }
    ExactMath as FloatParts(FloatPartsFn) {
        Frexp "frexp" "ddp" [builtin] { writes(1) },
        Frexpf "frexpf" "ffp" [builtin] { writes(1) },
        Modf "modf" "ddp" [builtin] { writes(1) },
        Modff "modff" "ffp" [builtin] { writes(1) },
        Ldexp "ldexp" "ddi" [builtin] { errno },
        Ldexpf "ldexpf" "ffi" [builtin] { errno },
        Scalbn "scalbn" "ddi" [builtin] { errno },
        Scalbnf "scalbnf" "ffi" [builtin] { errno },
    }
    ExactMath as FloatTest(FloatTestFn) {
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
    InexactMath as InexactMath(InexactMathFn) {
        Pow "pow" "ddd" [builtin] { errno },
        Powf "powf" "fff" [builtin] { errno },
        Exp "exp" "dd" [builtin] { errno },
        Expf "expf" "ff" [builtin] { errno },
        Exp2 "exp2" "dd" [builtin] { errno },
        Exp2f "exp2f" "ff" [builtin] { errno },
        Log "log" "dd" [builtin] { errno },
        Logf "logf" "ff" [builtin] { errno },
        Log2 "log2" "dd" [builtin] { errno },
        Log2f "log2f" "ff" [builtin] { errno },
        Log10 "log10" "dd" [builtin] { errno },
        Log10f "log10f" "ff" [builtin] { errno },
        Sin "sin" "dd" [builtin] { errno },
        Sinf "sinf" "ff" [builtin] { errno },
        Cos "cos" "dd" [builtin] { errno },
        Cosf "cosf" "ff" [builtin] { errno },
        Tan "tan" "dd" [builtin] { errno },
        Tanf "tanf" "ff" [builtin] { errno },
        Asin "asin" "dd" [builtin] { errno },
        Asinf "asinf" "ff" [builtin] { errno },
        Acos "acos" "dd" [builtin] { errno },
        Acosf "acosf" "ff" [builtin] { errno },
        Atan "atan" "dd" [builtin] { errno },
        Atanf "atanf" "ff" [builtin] { errno },
        Sinh "sinh" "dd" [builtin] { errno },
        Sinhf "sinhf" "ff" [builtin] { errno },
        Cosh "cosh" "dd" [builtin] { errno },
        Coshf "coshf" "ff" [builtin] { errno },
        Tanh "tanh" "dd" [builtin] { errno },
        Tanhf "tanhf" "ff" [builtin] { errno },
        Cbrt "cbrt" "dd" [builtin] { errno },
        Cbrtf "cbrtf" "ff" [builtin] { errno },
        Atan2 "atan2" "ddd" [builtin] { errno },
        Atan2f "atan2f" "fff" [builtin] { errno },
        Hypot "hypot" "ddd" [builtin] { errno },
        Hypotf "hypotf" "fff" [builtin] { errno },
    }
    End as End(EndFn) {
        Abort "abort" "v" [builtin] { traps },
        Exit "exit" "vi" [builtin],
        UnderscoreExit "_exit" "vi" [builtin],
        CapitalExit "_Exit" "vi" [builtin],
        AssertFail "__assert_fail" "vppip" { traps text(0) text(1) text(3) },
        Unreachable "__builtin_unreachable" "v" { traps },
        Trap "__builtin_trap" "v" { traps },
    }
    Jump as Jump(JumpFn) {
        Setjmp "setjmp" "ip" { writes(0) },
        UnderscoreSetjmp "_setjmp" "ip" { writes(0) },
        Sigsetjmp "sigsetjmp" "ipi" { writes(0) },
        UnderscoreSigsetjmp "__sigsetjmp" "ipi" { writes(0) },
        BuiltinSetjmp "__builtin_setjmp" "ip" { writes(0) },
        Longjmp "longjmp" "vpi" { reads(0) traps },
        UnderscoreLongjmp "_longjmp" "vpi" { reads(0) traps },
        Siglongjmp "siglongjmp" "vpi" { reads(0) traps },
        BuiltinLongjmp "__builtin_longjmp" "vpi" { reads(0) traps },
    }
    Verification as Verification(VerificationFn) {
        VerifierAssume "__VERIFIER_assume" "*?",
        VerifierError "__VERIFIER_error" "*" { traps },
        ReachError "reach_error" "*" { traps },
        KleeAssume "klee_assume" "*l",
        KleeSilentExit "klee_silent_exit" "*i",
        KleeMakeSymbolic "klee_make_symbolic" "*plp" { writes(0) },
        KleeRange "klee_range" "iiip",
        KleeInt "klee_int" "ip",
        CproverAssume "__CPROVER_assume" "*?",
        CproverAssert "__CPROVER_assert" "*?p" { traps },
    }
    Environment as Environment(EnvironmentFn) {
        Getenv "getenv" "pp" { text(0) needs(0) },
        SecureGetenv "secure_getenv" "pp" { text(0) needs(0) },
    }
    Hint as Hint(HintFn) {
        Expect "__builtin_expect" "lll",
        ExpectWithProbability "__builtin_expect_with_probability" "llld",
        Assume "__builtin_assume" "vb" { traps },
        AssumeAligned "__builtin_assume_aligned" "ppl." { returns(0) },
        Prefetch "__builtin_prefetch" "vp.",
        ConstantP "__builtin_constant_p" "i?",
        ObjectSize "__builtin_object_size" "lpi",
        DynamicObjectSize "__builtin_dynamic_object_size" "lpi",
        GoesOn "__lydian_goes_on" "ip" { reads(0) },
        Anything "__lydian_anything" "q",
    }
    Overflow as Overflow(OverflowFn) {
        AddOverflow "__builtin_add_overflow" "b??p" { writes(2) },
        SubOverflow "__builtin_sub_overflow" "b??p" { writes(2) },
        MulOverflow "__builtin_mul_overflow" "b??p" { writes(2) },
        SaddOverflow "__builtin_sadd_overflow" "biip" { writes(2) },
        SsubOverflow "__builtin_ssub_overflow" "biip" { writes(2) },
        SmulOverflow "__builtin_smul_overflow" "biip" { writes(2) },
        UaddOverflow "__builtin_uadd_overflow" "biip" { writes(2) },
        UsubOverflow "__builtin_usub_overflow" "biip" { writes(2) },
        UmulOverflow "__builtin_umul_overflow" "biip" { writes(2) },
        SaddlOverflow "__builtin_saddl_overflow" "bllp" { writes(2) },
        SsublOverflow "__builtin_ssubl_overflow" "bllp" { writes(2) },
        SmullOverflow "__builtin_smull_overflow" "bllp" { writes(2) },
        UaddlOverflow "__builtin_uaddl_overflow" "bllp" { writes(2) },
        UsublOverflow "__builtin_usubl_overflow" "bllp" { writes(2) },
        UmullOverflow "__builtin_umull_overflow" "bllp" { writes(2) },
        SaddllOverflow "__builtin_saddll_overflow" "bqqp" { writes(2) },
        SsubllOverflow "__builtin_ssubll_overflow" "bqqp" { writes(2) },
        SmulllOverflow "__builtin_smulll_overflow" "bqqp" { writes(2) },
        UaddllOverflow "__builtin_uaddll_overflow" "bqqp" { writes(2) },
        UsubllOverflow "__builtin_usubll_overflow" "bqqp" { writes(2) },
        UmulllOverflow "__builtin_umulll_overflow" "bqqp" { writes(2) },
    }
}
