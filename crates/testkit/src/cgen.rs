//! Random C functions without undefined behaviour (under `-fwrapv`), for differential tests.
//!
//! Everything follows from the seed. Divisors are kept positive, shift amounts and subscripts are
//! masked, loops count to a small bound, so that every input gives a result and every engine must
//! agree on it.

use std::fmt::Write as _;

use lydian_base::Rng;

/// The scalar types of parameters and variables.
const TYPES: [&str; 10] = [
    "int",
    "unsigned",
    "short",
    "unsigned char",
    "signed char",
    "long",
    "unsigned long",
    "unsigned short",
    "_Bool",
    "long long",
];

/// The largest depth of expressions.
const DEPTH: u32 = 3;

/// Length of the array that every function gets.
pub const ARRAY_LENGTH: u64 = 8;

/// The text of a function `NAME(p0, p1, p2, int *a)` that returns `long`, with decisions, loops, a
/// switch, an array of [`ARRAY_LENGTH`] ints and calls of a static function.
pub fn function(name: &str, seed: u64) -> String {
    let mut writer =
        Writer { rng: Rng::new(seed), names: Vec::new(), text: String::new(), loops: 0 };
    writer.callee(name);
    writer.function(name);
    writer.text
}

/// The text of a function `NAME(p0, p1, p2, int *a)` that returns `long`, small enough to be
/// explored completely, with what [`function`] has not: side effects and calls in conditions,
/// values that are decisions, `?:` in tests, `do` and `while`, `goto`, a struct, a global, a
/// static local, and floats.
pub fn small_function(name: &str, seed: u64) -> String {
    let mut writer =
        Writer { rng: Rng::new(seed), names: Vec::new(), text: String::new(), loops: 0 };
    writer.small(name);
    writer.text
}

/// The settings that say what such a function gets as its array, as in `lydian.toml`.
pub fn settings(name: &str) -> String {
    format!(
        "[function.{name}.places]\n\
         \"a\" = {{ kind = \"array\", length = {ARRAY_LENGTH}, null = false }}\n"
    )
}

struct Writer {
    rng: Rng,
    names: Vec<String>,
    text: String,
    loops: u32,
}

impl Writer {
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.rng.below(list.len() as u64) as usize]
    }

    fn callee(&mut self, name: &str) {
        self.names = vec!["x".into(), "y".into()];
        let (test, first, second) = (self.test(2), self.value(2), self.value(2));
        let _ = writeln!(
            self.text,
            "static int {name}_inner(int x, unsigned y)\n{{\n    if ({test})\n        return {first};\n    return {second};\n}}\n"
        );
    }

    fn function(&mut self, name: &str) {
        let types = [(); 3].map(|()| self.pick(&TYPES));
        let _ = writeln!(
            self.text,
            "long {name}({} p0, {} p1, {} p2, int *a)\n{{\n    long r = 1;",
            types[0], types[1], types[2]
        );
        self.names = ["p0", "p1", "p2", "r"].map(String::from).into();
        for index in 0..2 {
            let (ty, value) = (self.pick(&TYPES), self.value(2));
            let _ = writeln!(self.text, "    {ty} v{index} = {value};");
            self.names.push(format!("v{index}"));
        }
        let count = 3 + self.rng.below(4);
        for _ in 0..count {
            self.statement(name, 1, 3);
        }
        let _ = writeln!(self.text, "    return r + a[1] + v0 + v1;\n}}");
    }

    fn line(&mut self, indent: usize, line: &str) {
        let _ = writeln!(self.text, "{:width$}{line}", "", width = indent * 4);
    }

    fn statement(&mut self, name: &str, indent: usize, depth: u32) {
        let choices = if depth == 0 { 4 } else { 9 };
        match self.rng.below(choices) {
            0 | 1 => self.assignment(indent),
            2 => {
                let (index, value) = (self.value(1), self.value(2));
                self.line(indent, &format!("a[({index}) & {}] = {value};", ARRAY_LENGTH - 1));
            }
            3 => {
                let (first, second) = (self.value(1), self.value(1));
                self.line(indent, &format!("r += {name}_inner({first}, {second});"));
            }
            4..=6 => self.branch(name, indent, depth),
            7 => self.counting_loop(name, indent, depth),
            _ => self.switch(name, indent, depth),
        }
    }

    fn assignment(&mut self, indent: usize) {
        let target = self.pick(&["r", "v0", "v1", "p0", "p1"]);
        let value = self.value(DEPTH);
        let op = self.pick(&["=", "+=", "-=", "^=", "|=", "&=", "*="]);
        self.line(indent, &format!("{target} {op} {value};"));
    }

    fn branch(&mut self, name: &str, indent: usize, depth: u32) {
        let test = self.test(DEPTH);
        self.line(indent, &format!("if ({test}) {{"));
        self.statement(name, indent + 1, depth - 1);
        if self.rng.below(2) == 0 {
            self.line(indent, "} else {");
            self.statement(name, indent + 1, depth - 1);
        }
        self.line(indent, "}");
    }

    fn counting_loop(&mut self, name: &str, indent: usize, depth: u32) {
        let counter = format!("i{}", self.loops);
        self.loops += 1;
        let (bound, test) = (self.value(1), self.test(1));
        self.line(
            indent,
            &format!("for (int {counter} = 0; {counter} < (({bound}) & 3); {counter}++) {{"),
        );
        self.line(indent + 1, &format!("if ({test})"));
        let exit = self.pick(&["break;", "continue;"]);
        self.line(indent + 2, exit);
        self.statement(name, indent + 1, depth - 1);
        self.line(indent, "}");
    }

    fn switch(&mut self, name: &str, indent: usize, depth: u32) {
        let value = self.value(2);
        self.line(indent, &format!("switch (({value}) & 3) {{"));
        for case in 0..2 {
            self.line(indent, &format!("case {case}:"));
            self.statement(name, indent + 1, depth - 1);
            if self.rng.below(3) > 0 {
                self.line(indent + 1, "break;");
            }
        }
        self.line(indent, "default:");
        self.statement(name, indent + 1, depth - 1);
        self.line(indent, "}");
    }

    fn small(&mut self, name: &str) {
        let types = [(); 3].map(|()| self.pick(&TYPES));
        let _ = writeln!(
            self.text,
            "struct {name}_pair {{ short first; unsigned flag : 3; int low : 5; }};\n\
             static int {name}_count = 3;\n\
             static int {name}_t[5] = {{ 4, 0, 3, 9, 1 }};\n\
             static int {name}_odd(int x) {{ return (x & 1) && x != 5; }}\n\
             static int {name}_step(void) {{ return ++{name}_count; }}\n\
             long {name}({} p0, {} p1, {} p2, int *a)\n{{\n    \
             static int kept = 1;\n    struct {name}_pair s = {{ (short)p0, p1 & 7, 2 }};\n    \
             long r = 0;",
            types[0], types[1], types[2]
        );
        self.names = ["p0", "p1", "p2", "r", "a[2]", "s.first", "s.flag", "s.low", "kept"]
            .map(String::from)
            .into();
        let count = 2 + self.rng.below(3);
        for _ in 0..count {
            self.small_statement(name, 1);
        }
        let _ = writeln!(self.text, "    return r + s.first + kept;\n}}");
    }

    fn small_statement(&mut self, name: &str, indent: usize) {
        let number = self.loops;
        self.loops += 1;
        match self.rng.below(12) {
            0 | 1 => {
                let target = self.pick(&["r", "p0", "s.first", "s.flag", "s.low", "a[1]", "kept"]);
                let (op, value) = (self.pick(&["=", "+=", "-=", "^=", "|="]), self.easy_value(1));
                self.line(indent, &format!("{target} {op} {value};"));
            }
            2 => {
                let test = self.easy_test(name, 2);
                self.line(indent, &format!("r += {test};"));
            }
            3 => {
                let (test, other) = (self.easy_test(name, 2), self.easy_test(name, 1));
                self.line(indent, &format!("_Bool b{number} = {test};"));
                self.line(indent, &format!("if (b{number} ? {other} : !({other})) r += 5;"));
            }
            4 => {
                let value = self.easy_value(1);
                self.line(indent, &format!("int n{number} = ({value}) & 3;"));
                let test = self.easy_test(name, 1);
                self.line(indent, &format!("while (n{number}-- > 0 && {test}) r += 3;"));
            }
            5 => {
                let test = self.easy_test(name, 1);
                self.line(indent, &format!("int n{number} = 0;"));
                self.line(indent, &format!("do r ^= 7; while (++n{number} < 3 && {test});"));
            }
            6 => {
                let test = self.easy_test(name, 2);
                self.line(indent, &format!("if ({test}) goto out{number};"));
                self.line(indent, "r += 100;");
                self.line(indent, &format!("out{number}: r++;"));
            }
            7 => {
                let value = self.easy_value(1);
                let low = self.rng.below(5);
                self.line(indent, &format!("switch ({value}) {{"));
                self.line(indent, &format!("case {low}: r += 2;"));
                self.line(indent, "case 7 ... 9: r += 3; break;");
                self.line(indent, "case -1: r -= 4; break;");
                self.line(indent, "}");
            }
            8 => {
                let (value, limit) = (self.easy_value(0), self.pick(&["0.5", "-2.0", "7.25"]));
                self.line(indent, &format!("double d{number} = (signed char)({value}) * 0.5;"));
                let test = self.easy_test(name, 0);
                self.line(indent, &format!("if (d{number} > {limit} || {test}) r += 11;"));
            }
            9 => {
                let test = self.easy_test(name, 2);
                let index = self.easy_value(0);
                self.line(indent, &format!("if ({test}) r += a[({index}) & 7];"));
            }
            _ => {
                let test = self.easy_test(name, 3);
                self.line(indent, &format!("if ({test}) {{"));
                if indent < 3 {
                    self.small_statement(name, indent + 1);
                }
                self.line(indent + 1, "r += 13;");
                self.line(indent, "}");
            }
        }
    }

    /// A Boolean expression that a solver decides at once.
    fn easy_test(&mut self, name: &str, depth: u32) -> String {
        if depth == 0 || self.rng.below(4) == 0 {
            let a = self.easy_value(1);
            return match self.rng.below(16) {
                12 | 13 => self.easy_guarded(name, &a),
                14 => {
                    let (b, c) = (self.easy_value(0), self.easy_value(0));
                    format!("(!({b})) + (({c}) ? 2 : 3) == ({a})")
                }
                15 => {
                    let (b, c) = (self.easy_value(0), self.easy_value(0));
                    format!("((({b}) > 3 && {name}_t[({c}) & 3]) | 2) == ({a})")
                }
                0 => format!("({a})"),
                1 => format!("{name}_odd({a})"),
                2 => "(p1 += 3) > 10".to_owned(),
                3 => format!("{name}_step() > 4"),
                4 => format!("a[({a}) & 7] == 3"),
                5 => "p2++".to_owned(),
                _ => {
                    let b = self.easy_value(1);
                    format!("({a}) {} ({b})", self.pick(&["==", "!=", "<", "<=", ">", ">="]))
                }
            };
        }
        let mut part = || self.easy_test(name, depth - 1);
        let (a, b) = (part(), part());
        match self.rng.below(10) {
            0..=2 => format!("(({a}) && ({b}))"),
            3..=5 => format!("(({a}) || ({b}))"),
            6 => format!("!({a})"),
            // Both sides are evaluated, in no order, so neither writes what the other reads.
            op @ (7 | 8) => {
                let (x, y) = (self.easy_value(1), self.easy_value(1));
                let op = if op == 7 { "^" } else { "&" };
                if self.rng.below(2) == 0 {
                    format!("(({name}_odd({x}) != 0) {op} ({name}_odd(({y}) + 1) != 0))")
                } else {
                    format!("((({a}) != 0) {op} (({x}) < ({y})))")
                }
            }
            _ => {
                let c = self.easy_test(name, 0);
                format!("(({c}) ? ({a}) : ({b}))")
            }
        }
    }

    /// A condition that traps on some states, behind others that keep it from being reached there.
    fn easy_guarded(&mut self, name: &str, a: &str) -> String {
        let by = self.pick(&["p0", "p1", "p2"]);
        match self.rng.below(4) {
            0 => format!("({by} > 0 && {by} < 5 && {name}_t[{by}] > 2)"),
            1 => format!("({by} > 0 && {by} < 9 && ((({a}) >> {by}) & 1))"),
            2 => format!("({by} > 2 && {by} < 7 && (unsigned char)({a}) / (int){by} > 1)"),
            _ => format!("!({by} < 1 || {by} >= 5 || {name}_t[{by} - 1] == ({a}))"),
        }
    }

    /// An integer expression without multiplication and division.
    fn easy_value(&mut self, depth: u32) -> String {
        if depth == 0 || self.rng.below(3) == 0 {
            return match self.rng.below(4) {
                0 => (self.rng.below(24) as i64 - 4).to_string(),
                1 => self.pick(&["0", "1", "255", "2147483647", "3u", "-1L", "128"]).to_owned(),
                _ => {
                    let at = self.rng.below(self.names.len() as u64) as usize;
                    self.names[at].clone()
                }
            };
        }
        let (a, b) = (self.easy_value(depth - 1), self.easy_value(depth - 1));
        match self.rng.below(8) {
            0 => format!("({a}) << 2"),
            1 => format!("({a}) >> 1"),
            2 => format!("({})({a})", self.pick(&TYPES)),
            3 => format!("-({a})"),
            _ => format!("({a}) {} ({b})", self.pick(&["+", "-", "&", "|", "^"])),
        }
    }

    /// A Boolean expression.
    fn test(&mut self, depth: u32) -> String {
        if depth == 0 || self.rng.below(3) == 0 {
            return match self.rng.below(4) {
                0 => self.value(1),
                _ => {
                    let (a, b) = (self.value(1), self.value(1));
                    let op = self.pick(&["==", "!=", "<", "<=", ">", ">="]);
                    format!("({a}) {op} ({b})")
                }
            };
        }
        let (a, b) = (self.test(depth - 1), self.test(depth - 1));
        match self.rng.below(7) {
            0 | 1 => format!("({a}) && ({b})"),
            2 | 3 => format!("({a}) || ({b})"),
            4 => format!("!({a})"),
            5 => {
                let at = self.rng.below(self.names.len() as u64) as usize;
                let (by, value) = (self.names[at].clone(), self.value(1));
                format!("({by} > 0 && ({value}) / {by} > 1 || ({a}))")
            }
            _ => format!("!({a}) == !({b})"),
        }
    }

    /// An integer expression.
    fn value(&mut self, depth: u32) -> String {
        if depth == 0 || self.rng.below(4) == 0 {
            return match self.rng.below(4) {
                0 => (self.rng.below(300) as i64 - 20).to_string(),
                1 => self.pick(&["0", "1", "-1", "255", "65536", "2147483647"]).to_owned(),
                _ => {
                    let at = self.rng.below(self.names.len() as u64) as usize;
                    self.names[at].clone()
                }
            };
        }
        let (a, b) = (self.value(depth - 1), self.value(depth - 1));
        match self.rng.below(10) {
            0 => format!("({a}) / ((({b}) & 7) + 1)"),
            1 => format!("({a}) % ((({b}) & 15) + 1)"),
            2 => format!("({a}) << (({b}) & 7)"),
            3 => format!("({a}) >> (({b}) & 7)"),
            4 => format!("~({a})"),
            5 => format!("({}) ({a})", self.pick(&TYPES)),
            _ => format!("({a}) {} ({b})", self.pick(&["+", "-", "*", "&", "|", "^"])),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_always_gives_the_same_function() {
        assert_eq!(function("f", 3), function("f", 3));
        assert_ne!(function("f", 3), function("f", 4));
    }

    #[test]
    fn generated_functions_compile() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("all.c");
        let large = (0..40).map(|seed| function(&format!("f{seed}"), seed));
        let small = (0..40).map(|seed| small_function(&format!("g{seed}"), seed));
        let text: String = large.chain(small).collect();
        std::fs::write(&file, &text).unwrap();
        let output = std::process::Command::new("cc")
            .args(["-fsyntax-only", "-w"])
            .arg(&file)
            .output()
            .expect("a C compiler is part of the set-up");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
