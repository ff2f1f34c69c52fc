//! Functions and statements.

use std::fmt::Write as _;

use lydian_base::Rng;

use super::Features;
use super::expr::Limits;

/// A scalar variable that can be named.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub(super) name: String,
    /// Whether statements may write to it: not if it counts a loop.
    pub(super) assignable: bool,
    pub(super) is_bool: bool,
}

/// Writes one case.
pub(super) struct Writer {
    pub(super) rng: Rng,
    pub(super) name: String,
    pub(super) features: Features,
    /// The variables in scope, globals among them.
    pub(super) scope: Vec<Variable>,
    /// Whether `x`, `y`, `t`, `p` and `q` are there.
    pub(super) has_pointers: bool,
    /// Whether helpers may be called.
    pub(super) has_helpers: bool,
    /// Conditions that can be repeated: every name in them is in scope all over the function.
    pub(super) conditions: Vec<String>,
    /// Whether the operands of the decision stand on lines of their own.
    pub(super) broken: bool,
    text: String,
    /// The statements of the function at work.
    body: String,
    indent: usize,
    /// The number of statements that may still be begun.
    left: u32,
    numbers: u32,
    /// The counters of loops of the function.
    counters: Vec<String>,
    /// The number of enclosing loops and switches, by whether `break` and `continue` are allowed.
    loops: u32,
    breakable: u32,
    /// Whether the function calls itself somewhere already.
    recursive: bool,
    own_call: Option<String>,
}

impl Writer {
    pub(super) fn new(rng: Rng, name: &str, features: Features) -> Self {
        Self {
            rng,
            name: name.to_owned(),
            features,
            scope: Vec::new(),
            has_pointers: false,
            has_helpers: false,
            conditions: Vec::new(),
            broken: false,
            text: String::new(),
            body: String::new(),
            indent: 1,
            left: 0,
            numbers: 0,
            counters: Vec::new(),
            loops: 0,
            breakable: 0,
            recursive: false,
            own_call: None,
        }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.rng.below(bound)
    }

    /// True with a probability in percent.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.rng.below(100) < percent
    }

    pub(super) fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.rng.below(list.len() as u64) as usize]
    }

    pub(super) fn one_of(&mut self, list: &[String]) -> String {
        list[self.rng.below(list.len() as u64) as usize].clone()
    }

    fn declare(&mut self, name: &str, assignable: bool, is_bool: bool) {
        self.scope.push(Variable { name: name.to_owned(), assignable, is_bool });
    }

    /// Functions that the others call: without effects, with one on the global, with one through a
    /// pointer.
    pub(super) fn helpers(&mut self) {
        let name = self.name.clone();
        self.declare("v", false, false);
        let (first, test) = (self.boolean(1, &Limits::pure()), self.boolean(2, &Limits::pure()));
        let early = match self.below(3) {
            0 => String::new(),
            1 => format!("    if ({first})\n        return v > 1;\n"),
            _ => format!(
                "    switch (v & 7) {{\n    case 1:\n    case 6:\n        return {first};\n    \
                 case 3:\n        v--;\n    }}\n"
            ),
        };
        let _ =
            writeln!(self.text, "static int {name}_odd(int v)\n{{\n{early}    return {test};\n}}");
        let (test, value) = (self.boolean(1, &Limits::pure()), self.value(1));
        let _ = writeln!(
            self.text,
            "static int {name}_step(int v)\n{{\n    {name}_g++;\n    if ({test})\n        \
             {name}_g = ({value}) & 7;"
        );
        if self.features.has_all() {
            let _ = writeln!(self.text, "    {name}_k[v & 3] += {name}_s.a[1][v & 1]++;");
        }
        let _ = writeln!(self.text, "    return {name}_g > v;\n}}");
        self.declare("*r", false, false);
        let (test, value) = (self.boolean(2, &Limits::pure()), self.value(2));
        let _ = writeln!(
            self.text,
            "static void {name}_set(int *r, int v)\n{{\n    if ({test})\n        *r = {value};\n    \
             else\n        (*r)++;\n}}"
        );
        self.scope.clear();
        self.conditions.clear();
        self.has_helpers = true;
        let count = 1 + self.below(3) as u32;
        self.whole("_mid", &["int"], count);
        self.own_call = Some(format!("{name}_mid(d, {{}})"));
    }

    /// The function of the case.
    pub(super) fn function(&mut self, types: &[&str]) {
        let count = 2 + self.below(7) as u32;
        self.whole("", types, count);
    }

    /// A function `NAME + suffix(int d, T a, T b)`.
    fn whole(&mut self, suffix: &str, types: &[&str], statements: u32) {
        let name = self.name.clone();
        self.scope.clear();
        self.conditions.clear();
        self.counters.clear();
        self.recursive = false;
        let mut parameters = vec!["int d".to_owned()];
        self.declare("d", false, false);
        for (ty, parameter) in types.iter().zip(["a", "b"]) {
            parameters.push(format!("{ty} {parameter}"));
            self.declare(parameter, true, *ty == "_Bool");
        }
        self.declare(&format!("{name}_g"), true, false);
        let mut head = String::new();
        let storage = if suffix.is_empty() { "" } else { "static " };
        let _ = writeln!(head, "{storage}int {name}{suffix}({})\n{{", parameters.join(", "));
        self.has_pointers = false;
        let first = self.value(1);
        let _ = writeln!(head, "    int x = {first};");
        self.declare("x", true, false);
        let second = self.value(1);
        let _ = writeln!(head, "    int y = {second};");
        self.declare("y", true, false);
        if suffix.is_empty() {
            let test = self.boolean(1, &Limits::pure());
            let _ = writeln!(head, "    int t[4] = {{1, 2, x}};");
            if self.features.has_all() {
                let _ = writeln!(head, "    struct cells w = {{x}};");
            }
            let _ = writeln!(head, "    int *p = &x;");
            let _ = writeln!(head, "    int *q = ({test}) ? &y : 0;");
            self.has_pointers = true;
        }
        self.body.clear();
        self.indent = 1;
        self.left = statements;
        while self.left > 0 {
            self.statement(3, suffix);
        }
        let result = match self.chance(30) {
            true => self.decision(2, &Limits::default()),
            false => self.value(2),
        };
        self.line(&format!("return {result};"));
        for counter in &self.counters {
            let _ = writeln!(head, "    int {counter} = 0;");
        }
        self.text.push_str(&head);
        let body = std::mem::take(&mut self.body);
        self.text.push_str(&body);
        self.text.push_str("}\n");
        self.has_pointers = false;
    }

    fn line(&mut self, line: &str) {
        let _ = writeln!(self.body, "{:width$}{line}", "", width = self.indent * 4);
    }

    fn fresh(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    /// A counter of a loop. It is in scope in the loop, to be read.
    fn counter(&mut self) -> String {
        let counter = format!("n{}", self.fresh());
        self.counters.push(counter.clone());
        counter
    }

    /// One statement or more, in braces.
    fn block(&mut self, depth: u32, suffix: &str) {
        self.indent += 1;
        let known = self.scope.len();
        if self.chance(12) {
            let (name, value) = (format!("v{}", self.fresh()), self.value(1));
            self.line(&format!("int {name} = {value};"));
            self.declare(&name, true, false);
        }
        let count = 1 + self.below(2);
        for _ in 0..count {
            self.statement(depth, suffix);
        }
        self.scope.truncate(known);
        // Repeated conditions might name variables that are out of scope now.
        let scope = &self.scope;
        self.conditions.retain(|condition| {
            let first = condition.split_whitespace().next().unwrap_or("");
            scope.iter().any(|v| v.name == first)
        });
        self.indent -= 1;
    }

    fn statement(&mut self, depth: u32, suffix: &str) {
        self.left = self.left.saturating_sub(1);
        let choices = if depth == 0 || self.left == 0 { 9 } else { 24 };
        match self.below(choices) {
            0..=2 => self.assignment(),
            3 | 4 => self.value_decision(),
            5 => self.conditional_value(),
            6 | 7 => self.call(suffix),
            8 => self.leave(),
            9..=13 => self.branch(depth, suffix),
            14 => self.for_loop(depth, suffix),
            15 => self.while_loop(depth, suffix),
            16 => self.do_loop(depth, suffix),
            17 => self.endless_loop(depth, suffix),
            18 => self.forwards(depth, suffix),
            19 => self.backwards(depth, suffix),
            20 if self.features.has_all() => self.loop_from_inside(depth, suffix),
            21 | 22 => self.switch(depth, suffix),
            _ => {
                self.line("{");
                self.block(depth - 1, suffix);
                self.line("}");
            }
        }
    }

    /// A variable to assign to.
    fn target(&mut self) -> String {
        let names: Vec<String> =
            self.scope.iter().filter(|v| v.assignable).map(|v| v.name.clone()).collect();
        self.one_of(&names)
    }

    fn assignment(&mut self) {
        let (target, value) = (self.target(), self.value(2));
        let number = self.below(5);
        if self.features.has_all() && self.chance(20) {
            return self.array_assignment(&value);
        }
        match self.below(8) {
            0 => self.line(&format!("{target} += {number};")),
            1 => self.line(&format!("{target}++;")),
            2 => self.line(&format!("{target} ^= {value};")),
            3 if self.has_pointers => {
                let index = self.value(1);
                self.line(&format!("t[({index}) & 3] = {value};"));
            }
            4 if self.has_pointers => self.line(&format!("*p = {value};")),
            5 if self.has_pointers => {
                let limits = Limits { unread: vec!["x".to_owned()], ..Limits::pure() };
                let value = self.value_within(1, &limits);
                self.line(&format!("t[x++ & 3] = {value};"));
            }
            6 => {
                let other = self.target();
                self.line(&format!("{target} = ({other}++, {value});"));
            }
            _ => self.line(&format!("{target} = {value};")),
        }
    }

    /// Writes to elements of arrays, to all of one, or lets a pointer point into one.
    fn array_assignment(&mut self, value: &str) {
        let (name, number) = (self.name.clone(), self.below(5));
        let (i, j) = (self.value(1), self.value(1));
        let choices = if self.has_pointers { 20 } else { 8 };
        let line = match self.below(choices) {
            0 => format!("{name}_k[({i}) & 3] = {value};"),
            1 => format!("*({name}_k + (({i}) & 3)) += {number};"),
            2 => format!("{name}_s.a[({i}) & 1][({j}) & 1] ^= {value};"),
            3 => format!("{name}_s.n = {name}_k[({i}) & 3] = {value};"),
            4 => format!("{name}_k[({i}) & 3]++;"),
            5 => format!("{name}_s.b = {value};"),
            6 => format!("{name}_v[({i}) & 1].c += {number};"),
            7 => format!("{name}_v[({i}) & 1].a[1][({j}) & 1] = {value};"),
            8 => format!("w.a[({i}) & 1][({j}) & 1] = {value};"),
            13 => format!("w.a[0][({i}) & 1]--;"),
            14 => format!("w = {name}_s;"),
            15 => format!("{name}_s = w;"),
            16 => format!("{name}_v[({i}) & 1] = w;"),
            17 => format!("w = {name}_v[({i}) & 1];"),
            18 => "w.b--;".to_owned(),
            9 => "memset(t, 0, sizeof t);".to_owned(),
            10 => format!("p = &t[({i}) & 3];"),
            11 => format!("p = &{name}_k[({i}) & 3];"),
            12 => format!("t[({i}) & 3] += t[({j}) & 3];"),
            _ => format!("t[{number} & 3] = w.n += {value};"),
        };
        self.line(&line);
    }

    fn value_decision(&mut self) {
        let target = self.target();
        let test = self.decision(2, &Limits::keeping(&target));
        match self.below(5) {
            0 => {
                let pure = self.boolean(2, &Limits::pure());
                let value = self.value(1);
                self.line(&format!("{pure} && ({target} = {value});"));
            }
            1 => {
                let test = self.decision(2, &Limits::pure());
                self.line(&format!("{target} += ({test});"));
            }
            2 if self.has_helpers => {
                let (name, test) = (self.name.clone(), self.decision(2, &Limits::pure()));
                self.line(&format!("{target} = {name}_odd({test});"));
            }
            _ => self.line(&format!("{target} = {test};")),
        }
    }

    fn conditional_value(&mut self) {
        let target = self.target();
        let test = self.decision(2, &Limits::keeping(&target));
        let (a, mut b) = (self.value(1), self.value(1));
        if a == b {
            b = format!("{b} + 1");
        }
        let other = self.target();
        match self.chance(30) && other != target {
            true => self.line(&format!("{target} = ({test}) ? {other}++ : ({b});")),
            false => self.line(&format!("{target} = ({test}) ? ({a}) : ({b});")),
        }
    }

    fn call(&mut self, suffix: &str) {
        let name = self.name.clone();
        let (target, value) = (self.target(), self.value(1));
        match self.below(5) {
            0 if self.has_pointers => {
                let place = self.pick(&["&x", "&y", "p", "&t[2]"]);
                self.line(&format!("{name}_set({place}, {value});"));
            }
            1 => self.line(&format!("{target} = {name}_step({value});")),
            2 if !self.recursive && self.loops == 0 => {
                self.recursive = true;
                let more = if suffix.is_empty() { ", 2" } else { "" };
                self.line("if (d > 0)");
                self.line(&format!("    {target} = {name}{suffix}(d - 1, {value}{more});"));
            }
            3 if self.own_call.is_some() && self.loops < 2 => {
                let call = self.own_call.clone().unwrap_or_default().replace("{}", &value);
                self.line(&format!("{target} = {call};"));
            }
            _ => self.line(&format!("{target} = {name}_odd({value});")),
        }
    }

    /// Leaves a loop, a switch or the function.
    fn leave(&mut self) {
        let (test, value) = (self.decision(1, &Limits::default()), self.value(1));
        self.line(&format!("if ({test})"));
        let choice = self.below(3);
        let leaving = match choice {
            0 if self.breakable > 0 => "break;".to_owned(),
            1 if self.loops > 0 => "continue;".to_owned(),
            _ => format!("return {value};"),
        };
        self.line(&format!("    {leaving}"));
    }

    fn branch(&mut self, depth: u32, suffix: &str) {
        let test = self.decision(3, &Limits::default());
        self.line(&format!("if ({test}) {{"));
        self.block(depth - 1, suffix);
        if self.chance(50) {
            if self.chance(30) {
                let test = self.decision(2, &Limits::default());
                self.line(&format!("}} else if ({test}) {{"));
            } else {
                self.line("} else {");
            }
            self.block(depth - 1, suffix);
        }
        self.line("}");
    }

    /// A loop's body, in which `continue` is allowed.
    fn rounds(&mut self, depth: u32, suffix: &str) {
        self.loops += 1;
        self.breakable += 1;
        self.block(depth - 1, suffix);
        self.loops -= 1;
        self.breakable -= 1;
    }

    fn for_loop(&mut self, depth: u32, suffix: &str) {
        let (counter, bound) = (format!("i{}", self.fresh()), self.value(1));
        let known = self.scope.len();
        self.declare(&counter, false, false);
        let more = match self.chance(30) {
            true => format!(" && ({})", self.boolean(1, &Limits::default())),
            false => String::new(),
        };
        let line =
            format!("for (int {counter} = 0; {counter} < (({bound}) & 3){more}; {counter}++) {{");
        self.line(&line);
        self.rounds(depth, suffix);
        self.line("}");
        self.forget(known);
    }

    /// Removes all variables but the first `known` from the scope.
    fn forget(&mut self, known: usize) {
        let gone: Vec<String> = self.scope.drain(known..).map(|v| v.name).collect();
        self.conditions.retain(|c| !gone.iter().any(|name| c.starts_with(&format!("{name} "))));
    }

    fn while_loop(&mut self, depth: u32, suffix: &str) {
        let (counter, value) = (self.counter(), self.value(1));
        self.line(&format!("{counter} = ({value}) & 3;"));
        let test = match self.below(3) {
            0 => {
                let test = self.decision(1, &Limits::default());
                format!("{counter}-- > 0 && ({test})")
            }
            1 => {
                let test = self.decision(1, &Limits::default());
                format!("({test}) && {counter}-- > 0")
            }
            _ => format!("{counter}-- > 0"),
        };
        self.line(&format!("while ({test}) {{"));
        self.rounds(depth, suffix);
        self.line("}");
    }

    fn do_loop(&mut self, depth: u32, suffix: &str) {
        let counter = self.counter();
        self.line(&format!("{counter} = 0;"));
        self.line("do {");
        self.rounds(depth, suffix);
        let test = self.decision(1, &Limits::default());
        self.line(&format!("}} while (++{counter} < 3 && ({test}));"));
    }

    fn endless_loop(&mut self, depth: u32, suffix: &str) {
        let counter = self.counter();
        self.line(&format!("{counter} = 0;"));
        let head = self.pick(&["while (1) {", "for (;;) {"]);
        self.line(head);
        self.line(&format!("    if ({counter}++ >= 2)"));
        self.line("        break;");
        self.rounds(depth, suffix);
        self.line("}");
    }

    fn forwards(&mut self, depth: u32, suffix: &str) {
        let label = format!("out{}", self.fresh());
        let test = self.decision(2, &Limits::default());
        self.line(&format!("if ({test})"));
        self.line(&format!("    goto {label};"));
        self.line("{");
        self.block(depth - 1, suffix);
        self.line("}");
        self.line(&format!("{label}:"));
        self.assignment();
    }

    fn backwards(&mut self, depth: u32, suffix: &str) {
        let (label, counter) = (format!("again{}", self.fresh()), self.counter());
        self.line(&format!("{counter} = 0;"));
        self.line(&format!("{label}:"));
        self.line("{");
        // It is no loop for `break` and `continue`.
        let around = (std::mem::take(&mut self.breakable), std::mem::take(&mut self.loops));
        self.block(depth - 1, suffix);
        (self.breakable, self.loops) = around;
        self.line("}");
        let test = self.decision(1, &Limits::default());
        self.line(&format!("if ({counter}++ < 2 && ({test}))"));
        self.line(&format!("    goto {label};"));
    }

    fn loop_from_inside(&mut self, depth: u32, suffix: &str) {
        let (label, counter, value) =
            (format!("into{}", self.fresh()), self.counter(), self.value(1));
        self.line(&format!("{counter} = ({value}) & 3;"));
        let test = self.decision(1, &Limits::default());
        self.line(&format!("if ({test})"));
        self.line(&format!("    goto {label};"));
        self.line(&format!("while ({counter}-- > 0) {{"));
        self.indent += 1;
        self.line("{");
        self.rounds(depth, suffix);
        self.line("}");
        self.line(&format!("{label}:"));
        self.assignment();
        self.indent -= 1;
        self.line("}");
    }

    fn switch(&mut self, depth: u32, suffix: &str) {
        let value = match self.chance(25) {
            true => self.target(),
            false => self.value(2),
        };
        let operand = match self.chance(60) {
            true => format!("({value}) & 3"),
            false => value,
        };
        self.line(&format!("switch ({operand}) {{"));
        self.breakable += 1;
        let cases = 1 + self.below(3);
        for case in 0..cases {
            match self.below(6) {
                0 => self.line(&format!("case {} ... {}:", 2 * case, 2 * case + 1)),
                _ => self.line(&format!("case {}:", 2 * case)),
            }
            self.indent += 1;
            self.line("{");
            self.block(depth - 1, suffix);
            self.line("}");
            if self.chance(60) {
                self.line("break;");
            }
            self.indent -= 1;
        }
        if self.chance(60) {
            self.line("default:");
            self.indent += 1;
            self.line("{");
            self.block(depth - 1, suffix);
            self.line("}");
            self.indent -= 1;
        }
        self.line("}");
        self.breakable -= 1;
    }
}
