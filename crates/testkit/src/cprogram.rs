//! Random C programs for measuring coverage, and tests of them.
//!
//! A [`Case`] is a function with the helpers that it calls: nested decisions, coupled conditions,
//! side effects in conditions, conditions that may trap, values that are decisions, `==`, `!=`, `^`,
//! `&` and `|` of Boolean expressions, `?:`, loops of every kind, `switch` with fall-through,
//! `goto` forwards, backwards and into loops, early returns, calls, bounded recursion, globals,
//! arrays of one dimension and two and in structs, copies of those, and pointers to locals and into
//! arrays.
//!
//! # What holds by construction
//! - Every run ends: each loop has a counter that nothing else writes, recursion a depth.
//! - Nothing is undefined under `-fwrapv`: operators with unordered sides never write a variable that
//!   the other side reads or writes, every variable has an initialiser that no `goto` skips, divisors,
//!   shifts and subscripts are masked, and pointers that may be null are tested first. With
//!   [`Features::Faults`] some divisors may be 0 and some pointers null.
//! - A statement stands on a line of its own, and so that other tools' lines can be compared, the
//!   conditions of one decision either all stand on its line or each on its own.

use std::fmt::Write as _;

use lydian_base::Rng;
use lydian_ir::test::{Image, Test};

mod body;
mod expr;
mod split;

/// An integer type of parameters.
#[derive(Clone, Copy)]
struct ParameterType {
    name: &'static str,
    /// Bytes.
    size: usize,
    is_signed: bool,
}

/// The types of parameters. Signed ones that every tool treats alike come first.
const TYPES: [ParameterType; 7] = [
    ParameterType { name: "int", size: 4, is_signed: true },
    ParameterType { name: "int", size: 4, is_signed: true },
    ParameterType { name: "short", size: 2, is_signed: true },
    ParameterType { name: "long", size: 8, is_signed: true },
    ParameterType { name: "unsigned char", size: 1, is_signed: false },
    ParameterType { name: "unsigned", size: 4, is_signed: false },
    ParameterType { name: "_Bool", size: 1, is_signed: false },
];

/// The features of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Features {
    /// Everything.
    All,
    /// Programs in which other tools see the same decisions: no macros, nothing that a compiler folds
    /// without optimisation (constant operands, comparisons beyond a type's range, equal arms), and no
    /// `goto` into a loop.
    Comparable,
    /// Everything, and faults: divisors that may be 0, pointers that may be null.
    Faults,
}

impl Features {
    /// Whether programs have everything that a run without a fault can have.
    pub(crate) const fn has_all(self) -> bool {
        matches!(self, Self::All | Self::Faults)
    }
}

/// A function to be tested, with its helpers.
#[derive(Clone, Debug)]
pub struct Case {
    /// The function. The names of its helpers begin with it and an underscore.
    pub name: String,
    /// The text.
    pub text: String,
    /// Its parameters after the first, which is the depth of recursion: indices of types.
    parameters: Vec<usize>,
    /// Its globals and their initial values.
    globals: Vec<(String, i64)>,
}

/// The number of signed types, which come first.
const SIGNED: usize = 4;

/// The arguments of a call, the depth first.
pub type Arguments = Vec<i128>;

/// The macros that cases use; stands before them.
pub const PRELUDE: &str = "#define BOTH(a, b) ((a) && (b))\n\
    #define CLAMP(v) ((v) < 0 ? 0 : (v) > 9 ? 9 : (v))\n\
    struct cells { int n; short a[2][2]; unsigned b : 5, c : 9; };\n\
    void *memset(void *, int, unsigned long);\n";

impl Case {
    /// The case of a seed.
    pub fn new(name: &str, seed: u64, features: Features) -> Self {
        let mut rng = Rng::new(seed ^ 0xc0de);
        let types = match features {
            Features::All | Features::Faults => TYPES.len(),
            Features::Comparable => SIGNED,
        };
        let parameters: Vec<usize> = (0..2).map(|_| rng.below(types as u64) as usize).collect();
        let global = format!("{name}_g");
        let globals = vec![(global, rng.below(5) as i64 - 1)];
        let mut case = Self { name: name.to_owned(), text: String::new(), parameters, globals };
        for (global, value) in &case.globals {
            let _ = writeln!(case.text, "int {global} = {value};");
        }
        if features.has_all() {
            let _ = writeln!(case.text, "int {name}_k[4] = {{3, 1}};");
            let _ = writeln!(case.text, "static struct cells {name}_s, {name}_v[2];");
        }
        let mut writer = body::Writer::new(rng, name, features);
        writer.helpers();
        let types: Vec<&str> = case.parameters.iter().map(|index| TYPES[*index].name).collect();
        writer.function(&types);
        case.text.push_str(&writer.finish());
        case
    }

    /// Random arguments: small numbers as a rule, now and then one at a limit.
    pub fn arguments(&self, rng: &mut Rng) -> Arguments {
        let mut all = vec![i128::from(rng.below(3))];
        for index in &self.parameters {
            let ParameterType { name, size, is_signed: signed } = TYPES[*index];
            let bits = 8 * size as u32 - u32::from(signed);
            let (low, high) = match signed {
                true => (-(1i128 << bits), (1i128 << bits) - 1),
                false => (0, (1i128 << bits) - 1),
            };
            all.push(match rng.below(12) {
                _ if name == "_Bool" => i128::from(rng.below(2)),
                0 => low,
                1 => high,
                2 => i128::from(rng.below(300)).clamp(low, high),
                _ => (i128::from(rng.below(13)) - 4).clamp(low, high),
            });
        }
        all
    }

    /// The call as a test.
    pub fn test(&self, arguments: &Arguments) -> Test {
        let sizes =
            std::iter::once(4).chain(self.parameters.iter().map(|index| TYPES[*index].size));
        let image = |(value, size): (&i128, usize)| Image {
            bytes: value.to_le_bytes()[..size].to_vec(),
            pointers: Vec::new(),
        };
        Test::calling(self.name.clone(), arguments.iter().zip(sizes).map(image).collect())
    }

    /// The declarations of the function and its globals for another file.
    pub fn declaration(&self) -> String {
        let types = self.parameters.iter().map(|index| TYPES[*index].name);
        let types: Vec<&str> = std::iter::once("int").chain(types).collect();
        let mut text = format!("int {}({});\n", self.name, types.join(", "));
        for (global, _) in &self.globals {
            let _ = writeln!(text, "extern int {global};");
        }
        text
    }

    /// The call as C statements that begin with the globals as they were at first.
    pub fn call(&self, arguments: &Arguments) -> String {
        let mut text = String::new();
        for (global, value) in &self.globals {
            let _ = write!(text, "{global} = {value}; ");
        }
        let literals: Vec<String> = arguments.iter().map(|value| literal(*value)).collect();
        let _ = write!(text, "{}({});", self.name, literals.join(", "));
        text
    }
}

/// A number as C has it, of type `long`.
fn literal(value: i128) -> String {
    match value == i128::from(i64::MIN) {
        true => format!("({}L - 1)", i64::MIN + 1),
        false => format!("{value}L"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_case() {
        let case = |seed| Case::new("f", seed, Features::All).text;
        assert_eq!(case(3), case(3));
        assert_ne!(case(3), case(4));
    }

    #[test]
    fn cases_compile_and_are_defined_for_sanitizers() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("all.c");
        let mut text = PRELUDE.to_owned();
        let mut calls = String::new();
        let mut rng = Rng::new(1);
        for seed in 0..60 {
            let case = Case::new(&format!("f{seed}"), seed, Features::All);
            text.push_str(&case.text);
            for _ in 0..10 {
                let _ = writeln!(calls, "    {}", case.call(&case.arguments(&mut rng)));
            }
        }
        let _ = writeln!(text, "int main(void)\n{{\n{calls}    return 0;\n}}");
        std::fs::write(&file, &text).unwrap();
        let program = folder.path().join("all");
        let output = std::process::Command::new("clang-19")
            .args(["-O1", "-w", "-fwrapv", "-Wunsequenced", "-Werror=unsequenced"])
            .args([
                "-fsanitize=undefined,address",
                "-fno-sanitize=signed-integer-overflow,shift-base",
            ])
            .arg("-fno-sanitize-recover=all")
            .args([&file, std::path::Path::new("-o"), &program])
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let output = std::process::Command::new(&program).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
