//! Files of functions that call each other and share types, variables and literals, and edits of them.

use std::fmt::Write as _;

/// Functions of one group call each other; no function calls one of another group.
const GROUP: usize = 10;

/// A file of functions.
#[derive(Clone)]
pub(crate) struct ConnectedFunctions {
    functions: Vec<Written>,
    /// Members that were added to the struct of group 0.
    members: usize,
    /// The first value of the variable of group 0.
    level: usize,
}

#[derive(Clone)]
struct Written {
    /// The constant in its conditions.
    constant: usize,
    /// The number in its literal.
    literal: usize,
    /// Conditions that were added, each with a literal of its own.
    added: usize,
}

/// A change of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Edit {
    /// A new condition, with a new literal, at the beginning of a function.
    Condition(usize),
    /// Another constant in a function.
    Constant(usize),
    /// Other contents of a function's literal.
    Literal(usize),
    /// A new member at the beginning of a struct that functions of the first group use.
    Type,
    /// Another first value of a variable that functions of the first group read.
    Variable,
}

impl ConnectedFunctions {
    pub(crate) fn new(count: usize) -> Self {
        let written = |at| Written { constant: 3 + at * 7 % 90, literal: at, added: 0 };
        Self { functions: (0..count).map(written).collect(), members: 0, level: 4 }
    }

    pub(crate) fn edit(&mut self, edit: Edit) {
        match edit {
            Edit::Condition(at) => self.functions[at].added += 1,
            Edit::Constant(at) => self.functions[at].constant += 1,
            Edit::Literal(at) => self.functions[at].literal += 1000,
            Edit::Type => self.members += 1,
            Edit::Variable => self.level += 1,
        }
    }

    pub(crate) fn text(&self) -> String {
        let mut out = String::new();
        for group in 0..self.functions.len().div_ceil(GROUP) {
            let (members, level) = if group == 0 { (self.members, self.level) } else { (0, 4) };
            let added: String = (0..members).map(|at| format!("short m{at}; ")).collect();
            let _ = writeln!(out, "struct point{group} {{ {added}int x; int y; }};");
            let _ = writeln!(out, "static const int level{group} = {level};");
            let _ = writeln!(out, "static int count{group};");
        }
        for at in 0..self.functions.len() {
            self.function(at, &mut out);
        }
        out
    }

    fn function(&self, at: usize, out: &mut String) {
        let Written { constant, literal, added } = self.functions[at];
        let group = at / GROUP;
        let parameters = match at % 5 {
            1 => format!("const struct point{group} *p, int a"),
            4 => "const unsigned char s[3], int a".to_owned(),
            _ => "int a, int b".to_owned(),
        };
        let _ = writeln!(out, "int f{at}({parameters})\n{{");
        let _ = writeln!(out, "    const char *name = \"literal {literal}\";");
        for more in 0..added {
            let number = at * 100 + more;
            let _ = writeln!(out, "    if (a == {number})\n        name = \"added {number}\";");
        }
        let before = at.saturating_sub(1);
        let body = match at % 5 {
            0 => format!(
                "    if (a > {constant} && b < a)\n        return a == b ? 1 : name[8];\n    \
                 return level{group} > b;\n"
            ),
            1 => format!(
                "    if (p->x == a || p->y == {constant})\n        count{group}++;\n    \
                 return f{before}(p->x, a) + name[8];\n"
            ),
            2 => format!(
                "    switch (a & 3) {{\n    case 0: return {constant};\n    case 1: return b > 4;\n    \
                 default: return name[8];\n    }}\n"
            ),
            3 => format!(
                "    if (a < 0 && a > {constant})\n        return 7;\n    \
                 return f{before}(b, a) == {constant} ? name[8] : 0;\n"
            ),
            _ => format!(
                "    for (int k = 0; k < 3; k++)\n        if (s[k] == {constant})\n            \
                 return name[8 + (k & 1)];\n    return a > level{group};\n"
            ),
        };
        out.push_str(&body);
        out.push_str("}\n");
    }
}
