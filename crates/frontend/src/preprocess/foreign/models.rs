//! What instructions of ARM's processors for microcontrollers do, as C.
//!
//! An instruction is recognised in a template that has no other. The meanings are those of the ARMv7-M
//! Architecture Reference Manual, A7.7; special registers are variables that the program leaves
//! undefined, so that tests begin with any value of them. Not modelled: the flag Q, which saturation
//! sets, and the handlers of interrupts, which `wfi` waits for. Code is taken to be privileged.

/// The meaning of an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// It changes nothing that a program of one thread can see.
    Nothing,
    /// The output is the result of a function of the inputs, in their order.
    Value(&'static Definition),
    /// The output is this expression.
    Read(&'static Definition, &'static str),
    /// An effect; `%` is the input.
    Effect(&'static Definition, &'static str),
}

/// C that stands in front of a program which has the instruction.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Definition {
    /// The function's name; empty for a variable.
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

const IDLE: [&str; 12] =
    ["nop", "wfi", "wfe", "sev", "sevl", "dsb", "dmb", "isb", "yield", "clrex", "csdb", "pld"];

/// The functions for instructions with a result.
const FUNCTIONS: [(&str, Definition); 10] = [
    (
        "rev",
        Definition {
            name: "lydian_rev",
            text: "static unsigned lydian_rev(unsigned x) { return x << 24 | (x & 0xff00u) << 8 | \
               (x >> 8 & 0xff00u) | x >> 24; }",
        },
    ),
    (
        "rev16",
        Definition {
            name: "lydian_rev16",
            text: "static unsigned lydian_rev16(unsigned x) { return (x & 0xff00ffu) << 8 | \
               (x >> 8 & 0xff00ffu); }",
        },
    ),
    (
        "revsh",
        Definition {
            name: "lydian_revsh",
            text: "static int lydian_revsh(unsigned x) { return (short)((x & 0xffu) << 8 | \
               (x >> 8 & 0xffu)); }",
        },
    ),
    (
        "rbit",
        Definition {
            name: "lydian_rbit",
            text: "static unsigned lydian_rbit(unsigned x) { \
               x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u); \
               x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u); \
               x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu); \
               x = (x & 0x00ff00ffu) << 8 | (x >> 8 & 0x00ff00ffu); return x << 16 | x >> 16; }",
        },
    ),
    (
        "clz",
        Definition {
            name: "lydian_clz",
            text: "static unsigned lydian_clz(unsigned x) { \
               return (unsigned)__builtin_clzll((unsigned long long)x << 1 | 1u) - 31u; }",
        },
    ),
    (
        "ror",
        Definition {
            name: "lydian_ror",
            text: "static unsigned lydian_ror(unsigned x, unsigned n) { \
               return x >> (n & 31u) | x << (-n & 31u); }",
        },
    ),
    (
        "qadd",
        Definition {
            name: "lydian_qadd",
            text: "static int lydian_qadd(int a, int b) { long long x = (long long)a + b; \
               return (int)(x > 0x7fffffff ? 0x7fffffff : x < -0x7fffffff - 1 ? -0x7fffffff - 1 : x); }",
        },
    ),
    (
        "qsub",
        Definition {
            name: "lydian_qsub",
            text: "static int lydian_qsub(int a, int b) { long long x = (long long)a - b; \
               return (int)(x > 0x7fffffff ? 0x7fffffff : x < -0x7fffffff - 1 ? -0x7fffffff - 1 : x); }",
        },
    ),
    (
        "ssat",
        Definition {
            name: "lydian_ssat",
            text: "static int lydian_ssat(unsigned bits, int x) { long long most = (1ll << ((bits - 1u) & 31u)) - 1; \
               return (int)(x > most ? most : x < -most - 1 ? -most - 1 : x); }",
        },
    ),
    (
        "usat",
        Definition {
            name: "lydian_usat",
            text: "static unsigned lydian_usat(unsigned bits, int x) { long long most = (1ll << (bits & 31u)) - 1; \
               return (unsigned)(x > most ? most : x < 0 ? 0 : x); }",
        },
    ),
];

/// A special register: its name, its variable, what reads it, and what writes it.
struct Special {
    name: &'static str,
    definition: Definition,
    read: &'static str,
    write: &'static str,
}

const SPECIAL: [Special; 5] = [
    Special {
        name: "primask",
        definition: Definition { name: "", text: "extern unsigned lydian_primask;" },
        read: "lydian_primask & 1u",
        write: "lydian_primask = (%) & 1u",
    },
    Special {
        name: "faultmask",
        definition: Definition { name: "", text: "extern unsigned lydian_faultmask;" },
        read: "lydian_faultmask & 1u",
        write: "lydian_faultmask = (%) & 1u",
    },
    Special {
        name: "basepri",
        definition: Definition { name: "", text: "extern unsigned lydian_basepri;" },
        read: "lydian_basepri & 0xffu",
        write: "lydian_basepri = (%) & 0xffu",
    },
    Special {
        name: "basepri_max",
        definition: Definition {
            name: "",
            text: "extern unsigned lydian_basepri; static void lydian_basepri_max(unsigned x) { \
                   unsigned now = lydian_basepri & 0xffu; x &= 0xffu; \
                   lydian_basepri = x != 0 && (x < now || now == 0) ? x : now; }",
        },
        read: "lydian_basepri & 0xffu",
        write: "lydian_basepri_max(%)",
    },
    Special {
        name: "control",
        definition: Definition { name: "", text: "extern unsigned lydian_control;" },
        read: "lydian_control & 7u",
        write: "lydian_control = (%) & 7u",
    },
];

/// The meaning of a template, if it is one instruction that has a model.
pub(super) fn meaning(template: &str) -> Option<Meaning> {
    let plain = template.replace("\\n", "\n").replace("\\t", " ").to_ascii_lowercase();
    let lines = plain.split(['\n', ';']).map(str::trim);
    let mut lines = lines.filter(|line| !line.is_empty() && !line.starts_with(".syntax"));
    let line = lines.next()?;
    if lines.next().is_some() {
        return None;
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let word = word.trim_end_matches(".w").trim_end_matches(".n");
    let operands: Vec<&str> =
        rest.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    let special = |name: &str| {
        let name = if name == "faultmask" || name == "f" { "faultmask" } else { name };
        let name = if name == "i" { "primask" } else { name };
        SPECIAL.iter().find(|special| special.name == name)
    };
    match (word, operands.as_slice()) {
        (word, _) if IDLE.contains(&word) => Some(Meaning::Nothing),
        ("cpsid" | "cpsie", [flag @ ("i" | "f")]) => {
            let special = special(flag)?;
            let effect = match (word, *flag) {
                ("cpsid", "i") => "lydian_primask = 1u",
                ("cpsie", "i") => "lydian_primask = 0u",
                ("cpsid", _) => "lydian_faultmask = 1u",
                _ => "lydian_faultmask = 0u",
            };
            Some(Meaning::Effect(&special.definition, effect))
        }
        ("mrs", ["%0", name]) => {
            let special = special(name)?;
            Some(Meaning::Read(&special.definition, special.read))
        }
        ("msr", [name, "%0"]) => {
            let special = special(name)?;
            Some(Meaning::Effect(&special.definition, special.write))
        }
        (word, ["%0", inputs @ ..]) => {
            let in_order = ["%1", "%2"].get(..inputs.len()).is_some_and(|all| all == inputs);
            let (_, definition) = FUNCTIONS.iter().find(|(name, _)| *name == word)?;
            let arity = definition.text.split(')').next()?.matches(',').count() + 1;
            (in_order && inputs.len() == arity).then_some(Meaning::Value(definition))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// Other definitions of the instructions, bit by bit, and a comparison on numbers of all kinds.
    const OTHERS: &str = "
        typedef unsigned u;
        static u bit(u x, u n) { return x >> n & 1u; }
        static u rbit(u x) { u y = 0; for (u n = 0; n < 32; n++) y |= bit(x, n) << (31 - n); return y; }
        static u clz(u x) { u n = 0; while (n < 32 && !bit(x, 31 - n)) n++; return n; }
        static u byte(u x, u n) { return x >> 8 * n & 255u; }
        static u rev(u x) { return byte(x, 0) << 24 | byte(x, 1) << 16 | byte(x, 2) << 8 | byte(x, 3); }
        static u rev16(u x) { return byte(x, 2) << 24 | byte(x, 3) << 16 | byte(x, 0) << 8 | byte(x, 1); }
        static int revsh(u x) { int y = (int)(byte(x, 0) << 8 | byte(x, 1)); return y >= 32768 ? y - 65536 : y; }
        static u ror(u x, u n) { for (n %= 32; n; n--) x = x >> 1 | bit(x, 0) << 31; return x; }
        static int limit(double x, double least, double most) { return x < least ? least : x > most ? most : x; }
        static u ulimit(double x, double most) { return x < 0 ? 0 : x > most ? most : x; }
        static double power(u n) { double x = 1; while (n--) x *= 2; return x; }
        static int check(u x, u y)
        {
            double a = (int)x, b = (int)y, low = -power(31), high = power(31) - 1;
            u n = y % 32, m = n + 1;
            if (lydian_rbit(x) != rbit(x)) return 1;
            if (lydian_clz(x) != clz(x)) return 2;
            if (lydian_rev(x) != rev(x)) return 3;
            if (lydian_rev16(x) != rev16(x)) return 4;
            if (lydian_revsh(x) != revsh(x)) return 5;
            if (lydian_ror(x, y) != ror(x, y)) return 6;
            if (lydian_qadd(x, y) != limit(a + b, low, high)) return 7;
            if (lydian_qsub(x, y) != limit(a - b, low, high)) return 8;
            if (lydian_ssat(m, x) != limit(a, -power(m - 1), power(m - 1) - 1)) return 9;
            if (lydian_usat(n, x) != ulimit(a, power(n) - 1)) return 10;
            return 0;
        }
        int main(void)
        {
            const u borders[] = { 0, 1, 2, 31, 32, 127, 128, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff };
            const u count = sizeof borders / sizeof *borders;
            u seed = 1;
            for (u i = 0; i < 20000; i++) {
                u x = seed = seed * 1664525u + 1013904223u, y = seed = seed * 1664525u + 1013904223u;
                if (i < count * count) { x = borders[i / count]; y = borders[i % count]; }
                int wrong = check(x >> i % 32, y);
                if (!wrong) wrong = check(x, y);
                if (wrong) return wrong;
            }
            return 0;
        }";

    #[test]
    fn the_models_agree_with_other_definitions_of_the_instructions() {
        let models: Vec<&str> = FUNCTIONS.iter().map(|(_, model)| model.text).collect();
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("models.c");
        std::fs::write(&file, format!("{}\n{OTHERS}", models.join("\n"))).unwrap();
        for compiler in ["clang-19", "gcc"] {
            let program = folder.path().join(compiler);
            let mut compile = Command::new(compiler);
            compile.args(["-O1", "-w"]).arg(&file).arg("-o").arg(&program);
            assert!(compile.status().unwrap().success(), "{compiler}");
            assert_eq!(Command::new(&program).status().unwrap().code(), Some(0), "{compiler}");
        }
    }

    #[test]
    fn only_one_instruction_with_its_operands_in_order_has_a_meaning() {
        assert_eq!(meaning("dsb 0xF\\n\\t"), Some(Meaning::Nothing));
        assert!(matches!(meaning("MRS %0, PRIMASK"), Some(Meaning::Read(..))));
        assert!(matches!(meaning("qadd\\t%0, %1, %2"), Some(Meaning::Value(_))));
        for template in
            ["rev %1, %0", "rev %0, %1\\nadd %0, #1", "qadd %0, %1", "mrs %0, psp", "foo"]
        {
            assert_eq!(meaning(template), None, "{template}");
        }
    }
}
