//! Random C functions over a small domain, random edits of them, and the enumeration of all inputs of
//! both versions.
//!
//! A function is `int NAME(unsigned char a, _Bool b)`. It reads and writes the global `_Bool state`, calls
//! a static function of its own, loops, divides and returns early. Its statements stand on lines of
//! their own, so that an edit of a line gives another program.

use std::fmt::Write as _;

use lydian_base::Rng;
use lydian_ir::interp::{End, Interpreter, Options, Outcome, Silent};
use lydian_ir::test::{GlobalInput, Image, Test};
use lydian_ir::{Program, TrapKind};

/// The most steps of a run: every loop is short.
const MOST_STEPS: u64 = 100_000;

/// Two versions of a text.
#[derive(Clone, Debug)]
pub struct VersionPair {
    /// The old text.
    pub old: String,
    /// The new text.
    pub new: String,
    /// The functions that both define.
    pub functions: Vec<String>,
}

/// An input of such a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SmallInput {
    /// The argument `a`.
    pub a: u8,
    /// The argument `b`.
    pub b: bool,
    /// The global `state`.
    pub state: bool,
}

/// What a run of such a function shows: the result and the global `state` behind it; none where the run
/// is undefined.
pub type SmallOutcome = Option<(i32, u8)>;

impl VersionPair {
    /// Functions `f0`, `f1` and so on, and one or two edits of each.
    pub fn random(seed: u64, count: u64) -> Self {
        let mut rng = Rng::new(seed);
        let head = "_Bool state;\n";
        let (mut old, mut new) = (head.to_owned(), head.to_owned());
        let mut functions = Vec::new();
        for at in 0..count {
            let name = format!("f{at}");
            let lines =
                Generator { rng: Rng::new(seed * 1000 + at), lines: Vec::new() }.function(&name);
            old += &lines.join("\n");
            let mut edited = lines;
            for _ in 0..=rng.below(2) {
                edit(&mut edited, &mut rng);
            }
            new += &edited.join("\n");
            old.push('\n');
            new.push('\n');
            functions.push(name);
        }
        Self { old, new, functions }
    }
}

impl SmallInput {
    /// All inputs.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..1024u32).map(|number| Self {
            a: (number & 255) as u8,
            b: number & 256 != 0,
            state: number & 512 != 0,
        })
    }

    /// The call of a function with this input.
    pub fn test(self, function: &str) -> Test {
        let image = |byte| Image { bytes: vec![byte], pointers: Vec::new() };
        let mut test = Test::calling(function, vec![image(self.a), image(u8::from(self.b))]);
        let state = GlobalInput { name: "state".to_owned(), image: image(u8::from(self.state)) };
        test.globals.push(state);
        test
    }

    /// What a function does on this input. Panics where the interpreter cannot say.
    pub fn run(
        self,
        interpreter: &Interpreter<'_>,
        program: &Program,
        function: &str,
    ) -> SmallOutcome {
        let options = Options { max_steps: MOST_STEPS, ..Options::default() };
        let outcome = interpreter
            .run(&self.test(function), &options, &mut Silent)
            .expect("the test fits the program");
        shown(program, &outcome)
    }
}

fn shown(program: &Program, outcome: &Outcome) -> SmallOutcome {
    match outcome.end {
        End::Returned => {
            let result = outcome.result.as_ref().and_then(|bytes| bytes[..].try_into().ok());
            let state = program.global_named("state").expect("the text has it");
            Some((result.map_or(0, i32::from_le_bytes), outcome.global(state)[0]))
        }
        End::Trapped(TrapKind::DivisionByZero) => None,
        end => panic!("{end:?}"),
    }
}

/// The first input on which two versions of a function differ. An input on which the old one is undefined
/// tells nothing.
pub fn first_difference(old: &Program, new: &Program, function: &str) -> Option<SmallInput> {
    let (before, after) = (Interpreter::new(old), Interpreter::new(new));
    SmallInput::all().find(|input| {
        let first = input.run(&before, old, function);
        first.is_some() && first != input.run(&after, new, function)
    })
}

/// Changes, deletes or inserts a line.
fn edit(lines: &mut Vec<String>, rng: &mut Rng) {
    const SWAPS: [(&str, &str); 12] = [
        (" < ", " <= "),
        (" > ", " >= "),
        (" == ", " != "),
        (" + ", " - "),
        (" * ", " + "),
        (" & ", " | "),
        (" && ", " || "),
        ("a", "(a + 0)"),
        ("3", "4"),
        ("2", "1"),
        ("7", "9"),
        ("v", "w"),
    ];
    // The heads and the last lines of functions stay.
    let inner: Vec<usize> =
        (0..lines.len()).filter(|at| lines[*at].starts_with("        ")).collect();
    let Some(at) = inner.get(rng.below(inner.len().max(1) as u64) as usize).copied() else {
        return;
    };
    let is_simple = lines[at].ends_with(';') && !lines[at].contains("return");
    match rng.below(8) {
        0 if is_simple => _ = lines.remove(at),
        1 => lines.insert(at, "        v = v + 1;".to_owned()),
        2 => lines.insert(at, "        if (a == 7) return 3;".to_owned()),
        3 => lines.insert(at, "        w = w;".to_owned()),
        4 if is_simple && at + 1 < lines.len() && lines[at + 1].ends_with(';') => {
            lines.swap(at, at + 1);
        }
        _ => {
            let first = rng.below(SWAPS.len() as u64) as usize;
            let swaps = SWAPS.iter().cycle().skip(first).take(SWAPS.len());
            for (from, to) in swaps {
                if let Some(place) = word(&lines[at], from) {
                    lines[at].replace_range(place..place + from.len(), to);
                    return;
                }
            }
        }
    }
}

/// The place of a word that is no part of another one.
fn word(line: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = word.starts_with(is_part);
    let mut found = line.match_indices(word).map(|(at, _)| at);
    found.find(|at| {
        !is_name || !line[..*at].ends_with(is_part) && !line[at + word.len()..].starts_with(is_part)
    })
}

struct Generator {
    rng: Rng,
    lines: Vec<String>,
}

impl Generator {
    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.rng.below(list.len() as u64) as usize]
    }

    fn function(mut self, name: &str) -> Vec<String> {
        self.lines.push(format!(
            "static int {name}_inner(int a, int v)\n{{\n    int w = 2;\n    _Bool b = v & 1;"
        ));
        self.statement(name, false, 1);
        self.lines.push("    return v + w + b;\n}".to_owned());
        self.lines.push(format!("int {name}(unsigned char a, _Bool b)\n{{\n    int v = 1, w = 0;"));
        for _ in 0..3 + self.rng.below(3) {
            self.statement(name, true, 2);
        }
        self.lines.push("    return v * 2 + w;\n}".to_owned());
        self.lines
    }

    fn line(&mut self, text: String) {
        self.lines.push(format!("        {text}"));
    }

    fn statement(&mut self, name: &str, calls: bool, depth: u32) {
        let kinds = if depth > 0 { 9 } else { 5 };
        match self.rng.below(kinds) {
            0 | 1 => {
                let (target, value) = (self.pick(&["v", "w"]), self.value(2));
                self.line(format!("{target} = {value};"));
            }
            2 => {
                let value = self.value(1);
                self.line(format!("state = {value} & 1;"));
            }
            3 if calls => {
                let (first, second) = (self.value(1), self.value(1));
                self.line(format!("w = {name}_inner({first}, {second});"));
            }
            3 | 4 => {
                let (value, divisor) = (self.value(1), self.value(1));
                let guard = self.pick(&[" + 1", ""]);
                self.line(format!("v = {value} / (({divisor} & 3){guard});"));
            }
            5 => {
                let test = self.test(1);
                self.line(format!("if ({test}) {{"));
                self.statement(name, calls, depth - 1);
                self.line("}".to_owned());
            }
            6 => {
                let test = self.test(1);
                self.line(format!("if ({test}) {{"));
                self.statement(name, calls, depth - 1);
                self.line("} else {".to_owned());
                self.statement(name, calls, depth - 1);
                self.line("}".to_owned());
            }
            7 => {
                let bound = self.value(0);
                let counter = format!("i{depth}_{}", self.lines.len());
                self.line(format!(
                    "for (int {counter} = 0; {counter} < ({bound} & 3); {counter}++) {{"
                ));
                self.statement(name, calls, depth - 1);
                self.line("}".to_owned());
            }
            _ => {
                let (test, value) = (self.test(1), self.value(1));
                self.line(format!("if ({test}) return {value};"));
            }
        }
    }

    fn value(&mut self, depth: u32) -> String {
        match self.rng.below(if depth > 0 { 6 } else { 4 }) {
            0 => self.pick(&["1", "2", "3", "7"]).to_owned(),
            1 => "a".to_owned(),
            2 => self.pick(&["v", "w", "b"]).to_owned(),
            3 => self.pick(&["state", "a"]).to_owned(),
            _ => {
                let op = self.pick(&["+", "-", "*", "&"]);
                let (left, right) = (self.value(depth - 1), self.value(depth - 1));
                let mut text = String::new();
                let _ = write!(text, "(({left}) {op} ({right}))");
                text
            }
        }
    }

    fn test(&mut self, depth: u32) -> String {
        if depth > 0 && self.rng.below(3) == 0 {
            let op = self.pick(&["&&", "||"]);
            return format!("{} {op} {}", self.test(0), self.test(0));
        }
        let op = self.pick(&["<", ">", "==", "!="]);
        format!("{} {op} {}", self.value(1), self.value(0))
    }
}
