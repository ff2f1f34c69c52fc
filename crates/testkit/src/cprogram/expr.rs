//! Values and Boolean expressions.
//!
//! An expression is written under two lists: names that it may not read, and names that it may not
//! write. Operators without an order of evaluation use them to keep their sides apart.

use super::Features;
use super::body::Writer;

/// The restrictions of an expression.
#[derive(Clone, Debug, Default)]
pub(super) struct Limits {
    /// Names that it may not read, nor write.
    pub(super) unread: Vec<String>,
    /// Names that it may not write.
    pub(super) unwritten: Vec<String>,
    /// Whether it may have no effect at all.
    pub(super) pure: bool,
}

impl Limits {
    /// Without effects.
    pub(super) fn pure() -> Self {
        Self { pure: true, ..Self::default() }
    }

    /// Without writing to a variable.
    pub(super) fn keeping(name: &str) -> Self {
        Self { unwritten: vec![name.to_owned()], ..Self::default() }
    }
}

const COMPARISONS: [&str; 6] = ["==", "!=", "<", "<=", ">", ">="];

impl Writer {
    /// A value without effects.
    pub(super) fn value(&mut self, depth: u32) -> String {
        self.value_within(depth, &Limits::pure())
    }

    fn leaf(&mut self, limits: &Limits) -> String {
        if self.chance(35) {
            return self.number();
        }
        let may_read = |name: &str| !limits.unread.iter().any(|unread| unread == name);
        let mut readable: Vec<String> =
            self.scope.iter().filter(|v| may_read(&v.name)).map(|v| v.name.clone()).collect();
        if self.has_pointers && may_read("x") {
            readable.push("*p".to_owned());
        }
        if self.has_pointers && may_read("t") {
            readable.push("t[1]".to_owned());
        }
        if self.has_helpers && self.features.has_all() {
            readable.push(format!("{}_k[2]", self.name));
        }
        if self.has_pointers && self.features.has_all() {
            readable.push("w.n".to_owned());
            readable.push("w.b".to_owned());
            readable.push("w.a[0][1]".to_owned());
        }
        if self.has_pointers && may_read("y") && self.features == Features::Faults {
            readable.push("*q".to_owned());
        }
        match readable.is_empty() {
            true => self.number(),
            false => self.one_of(&readable),
        }
    }

    fn number(&mut self) -> String {
        match self.features {
            Features::All | Features::Faults => (self.below(12) as i64 - 2).to_string(),
            Features::Comparable => (self.below(9) + 1).to_string(),
        }
    }

    /// Whether a compiler would make one of two operands or arms.
    fn is_folded(&self, a: &str, b: &str) -> bool {
        let is_number = |text: &str| text.trim_matches(['(', ')', '-', '~']).parse::<i64>().is_ok();
        self.features == Features::Comparable && (a == b || is_number(a) || is_number(b))
    }

    /// A value without effects that keeps to limits.
    pub(super) fn value_within(&mut self, depth: u32, limits: &Limits) -> String {
        if depth == 0 || self.chance(35) {
            return self.leaf(limits);
        }
        let a = self.value_within(depth - 1, limits);
        let b = self.value_within(depth - 1, limits);
        if self.is_folded(&a, &b) {
            return a;
        }
        let traps = self.features == Features::Faults && self.chance(30);
        match self.below(18) {
            0 if traps => format!("({a}) / (({b}) & 7)"),
            1 if traps => format!("({a}) % (({b}) & 3)"),
            0 => format!("({a}) / ((({b}) & 7) + 1)"),
            1 => format!("({a}) % ((({b}) & 3) + 2)"),
            2 => format!("(({a}) & 15) << (({b}) & 3)"),
            3 => format!("({a}) >> (({b}) & 3)"),
            4 => format!("-({a})"),
            5 => format!("~({a})"),
            6 if self.features == Features::Comparable => format!("({a}) * 3"),
            6 if self.features.has_all() && self.has_helpers => self.element(&a, &b),
            7 if self.has_pointers && !limits.unread.iter().any(|name| name == "t") => {
                format!("t[({a}) & 3]")
            }
            8 | 9 => {
                let test = self.boolean(1, &Limits { pure: true, ..limits.clone() });
                format!("(({test}) ? ({a}) : ({b}))")
            }
            10 => {
                let test = self.boolean(1, &Limits { pure: true, ..limits.clone() });
                format!("(({test}) + ({a}))")
            }
            11 if self.features.has_all() => format!("CLAMP({a})"),
            _ => {
                let op = self.pick(&["+", "-", "&", "|", "^", "+"]);
                format!("({a}) {op} ({b})")
            }
        }
    }

    /// An element of an array.
    fn element(&mut self, i: &str, j: &str) -> String {
        let name = self.name.clone();
        match self.below(if self.has_pointers { 6 } else { 4 }) {
            0 => format!("{name}_k[({i}) & 3]"),
            1 => format!("{name}_s.a[({i}) & 1][({j}) & 1]"),
            2 => format!("{name}_v[({i}) & 1].a[({j}) & 1][1]"),
            3 => format!("{name}_v[({i}) & 1].c"),
            4 => format!("w.a[({i}) & 1][({j}) & 1]"),
            _ => format!("t[({i}) & 3]"),
        }
    }

    /// The condition of a decision, in parentheses; its conditions are perhaps on lines of their own.
    pub(super) fn decision(&mut self, depth: u32, limits: &Limits) -> String {
        self.broken = self.chance(50);
        let text = self.boolean(depth, limits);
        self.broken = false;
        text
    }

    /// A Boolean expression.
    pub(super) fn boolean(&mut self, depth: u32, limits: &Limits) -> String {
        if depth == 0 || self.chance(22) {
            return self.condition(limits);
        }
        if limits.pure && self.chance(20) {
            return self.strict(depth, limits);
        }
        match self.below(20) {
            0..=6 => self.short_circuit("&&", depth, limits),
            7..=13 => self.short_circuit("||", depth, limits),
            14 | 15 => format!("!({})", self.boolean(depth - 1, limits)),
            16 => self.strict(depth, limits),
            17 => {
                let test = self.boolean(depth - 1, limits);
                let (a, b) = (self.boolean(depth - 1, limits), self.boolean(depth - 1, limits));
                match self.is_folded(&a, &b) {
                    true => test,
                    false => format!("(({test}) ? ({a}) : ({b}))"),
                }
            }
            18 if self.has_pointers && !limits.unread.iter().any(|name| name == "y") => {
                let op = self.pick(&COMPARISONS);
                let number = self.number();
                match self.chance(50) {
                    true => format!("(q && *q {op} {number})"),
                    false => format!("(!q || *q {op} {number})"),
                }
            }
            18 if self.features.has_all() && self.chance(50) => self.guarded(limits),
            18 if self.features.has_all() => {
                let (a, b) = (self.boolean(0, limits), self.boolean(0, limits));
                format!("BOTH({a}, {b})")
            }
            _ if self.features.has_all() && self.chance(30) => {
                let a = self.boolean(depth - 1, limits);
                let (op, constant) = (self.pick(&["&&", "||"]), self.pick(&["1", "0"]));
                match self.chance(50) {
                    true => format!("(({a}) {op} {constant})"),
                    false => format!("({constant} {op} ({a}))"),
                }
            }
            _ => self.condition(limits),
        }
    }

    /// A condition that traps on some states, behind others that keep it from being reached there,
    /// and on states where it would not.
    fn guarded(&mut self, limits: &Limits) -> String {
        let names: Vec<String> = self
            .scope
            .iter()
            .filter(|v| !v.is_bool && !limits.unread.contains(&v.name))
            .map(|v| v.name.clone())
            .collect();
        if names.is_empty() {
            return self.condition(limits);
        }
        let by = self.one_of(&names);
        let a = self.value_within(1, &Limits { pure: true, ..limits.clone() });
        let (op, number) = (self.pick(&COMPARISONS), self.number());
        let least = self.below(3);
        match self.below(6) {
            0 => format!("({by} > {least} && ({a}) / {by} {op} {number})"),
            1 => format!("({by} > {least} && !(({a}) % {by} {op} {number}))"),
            2 => format!("({by} >= {least} && {by} < 6 && ((({a}) >> {by}) & 1))"),
            3 => format!("!({by} < {least} || {by} > 8 || (1u << {by}) {op} (unsigned)({a}))"),
            _ => {
                let (array, length) = self.array(limits);
                format!("({by} >= {least} && {by} < {length} && {array}[{by}] {op} {number})")
            }
        }
    }

    /// An array of known length that may be read, and the least length that all of them have.
    fn array(&mut self, limits: &Limits) -> (String, u32) {
        let may_read = |name: &str| !limits.unread.iter().any(|unread| unread == name);
        let mut arrays = Vec::new();
        if self.has_pointers && may_read("t") {
            arrays.push(("t".to_owned(), 4));
        }
        if self.has_pointers {
            arrays.push(("w.a[1]".to_owned(), 2));
        }
        if self.has_helpers {
            arrays.push((format!("{}_k", self.name), 4));
            arrays.push((format!("{}_s.a[0]", self.name), 2));
        }
        arrays.push(("\"\\1\\4\\2\"".to_owned(), 4));
        let index = self.below(arrays.len() as u64) as usize;
        arrays.swap_remove(index)
    }

    fn short_circuit(&mut self, op: &str, depth: u32, limits: &Limits) -> String {
        let a = self.boolean(depth - 1, limits);
        let b = self.boolean(depth - 1, limits);
        let between = if self.broken { "\n        " } else { " " };
        format!("({a}{between}{op} {b})")
    }

    /// An operator that evaluates both sides, in no order.
    fn strict(&mut self, depth: u32, limits: &Limits) -> String {
        let op = self.pick(&["==", "!=", "^", "&", "|"]);
        let (left, rest) = match (!limits.pure && self.chance(40)).then(|| self.update(limits)) {
            Some(Some((name, text))) => {
                let mut rest = limits.clone();
                rest.unread.push(name);
                (text, rest)
            }
            _ => {
                let pure = Limits { pure: true, ..limits.clone() };
                (self.boolean(depth - 1, &pure), limits.clone())
            }
        };
        let right = self.boolean(depth - 1, &Limits { pure: true, ..rest });
        // Operands that are comparisons or `!`, so that they are Boolean in C too.
        match self.chance(50) {
            true => format!("(!({left}) {op} !({right}))"),
            false => format!("((({left}) != 0) {op} (({right}) != 0))"),
        }
    }

    /// A condition that writes to a variable, with the variable.
    fn update(&mut self, limits: &Limits) -> Option<(String, String)> {
        let name = self.writable(limits)?;
        let (op, number) = (self.pick(&COMPARISONS), self.number());
        let mut apart = limits.clone();
        apart.unread.push(name.clone());
        apart.pure = true;
        let text = match self.below(5) {
            0 => format!("{name}++ {op} {number}"),
            1 => format!("--{name} {op} {number}"),
            2 => format!("({name} += 2) {op} {number}"),
            3 => {
                let value = self.value_within(1, &apart);
                format!("({name} = ({value}) & 15) {op} {number}")
            }
            _ => format!("{name}--"),
        };
        Some((name, text))
    }

    /// A variable that may be written.
    fn writable(&mut self, limits: &Limits) -> Option<String> {
        let names: Vec<String> = self
            .scope
            .iter()
            .filter(|v| v.assignable && !v.is_bool)
            .map(|v| v.name.clone())
            .filter(|name| !limits.unwritten.contains(name) && !limits.unread.contains(name))
            .collect();
        (!names.is_empty()).then(|| self.one_of(&names))
    }

    /// A condition; now and then a repeated one, so that conditions are coupled.
    fn condition(&mut self, limits: &Limits) -> String {
        let free = limits.unread.is_empty() && limits.unwritten.is_empty();
        if free && !self.conditions.is_empty() && self.chance(20) {
            let known = self.conditions.clone();
            return self.one_of(&known);
        }
        if !limits.pure
            && self.chance(18)
            && let Some((_, text)) = self.update(limits)
        {
            return text;
        }
        let a = self.value_within(1, limits);
        let (op, number) = (self.pick(&COMPARISONS), self.number());
        match self.below(14) {
            0 if self.features.has_all() => return self.leaf(limits),
            1 if !self.is_folded(&a, "") => return format!("({a}) & 1"),
            2 | 3 if self.has_helpers => {
                // The function reads its argument alone.
                return format!("{}_odd({a})", self.name);
            }
            4 if self.has_helpers && !limits.pure => return format!("{}_step({a})", self.name),
            5 if self.has_helpers && !limits.pure => {
                return format!("{}_step({a}) {op} {number}", self.name);
            }
            6 => {
                let b = self.value_within(1, limits);
                if !self.is_folded(&a, &b) {
                    return format!("({a}) {op} ({b})");
                }
            }
            7 if self.has_helpers => {
                let b = self.boolean(1, &Limits { pure: true, ..limits.clone() });
                return format!("{}_odd({b}) {op} {number}", self.name);
            }
            _ => {}
        }
        let mut leaf = self.leaf(limits);
        for _ in 0..8 {
            if self.features == Features::Comparable && leaf.parse::<i64>().is_ok() {
                leaf = self.leaf(limits);
            }
        }
        let text = format!("{leaf} {op} {number}");
        if free {
            self.conditions.push(text.clone());
        }
        text
    }
}
