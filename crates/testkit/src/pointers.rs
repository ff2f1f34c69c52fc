//! Random C functions over pointers: linked lists, aliasing parameters, pointers to pointers and rows
//! of them, the heap, globals and static locals, all over a handful of numbers.
//!
//! They are small enough for [`crate::enumeration`] to run all inputs of a bounded domain. Unlike the
//! functions of [`crate::cgen`] they may have undefined behaviour: a null pointer may be read, a freed
//! block used. The coverage of a run before that counts.

use std::fmt::Write as _;

use lydian_base::Rng;

/// The beginning of these texts: the types and globals that all functions of a text share. No struct
/// has padding, which C lets no pointer to a member read.
pub const HEAD: &str = "\
#include <stdlib.h>
struct node { int value, spare; struct node *next; };
struct pair { int left; int right; };
int g;
int *gp;
struct node *head;
struct pair couple;
";

/// Numbers in the text; inputs have the same.
const NUMBERS: [i32; 5] = [-1, 0, 1, 2, 3];

/// A parameter that a function may have.
struct Parameter {
    declaration: &'static str,
    /// Numbers that are read through it, and can be written.
    cells: &'static [&'static str],
    /// Pointers to `int` that it gives.
    pointers: &'static [&'static str],
    /// Pointers to nodes that it gives.
    nodes: &'static [&'static str],
    /// Places that can store pointers to `int`.
    slots: &'static [&'static str],
}

const PARAMETERS: [Parameter; 9] = [
    Parameter { declaration: "int x", cells: &["x"], pointers: &[], nodes: &[], slots: &[] },
    Parameter { declaration: "int *p", cells: &["*p"], pointers: &["p"], nodes: &[], slots: &[] },
    Parameter {
        declaration: "int *q",
        cells: &["*q", "q[0]"],
        pointers: &["q"],
        nodes: &[],
        slots: &[],
    },
    Parameter {
        declaration: "int *a",
        cells: &["a[0]", "a[1]"],
        pointers: &["a + 1"],
        nodes: &[],
        slots: &[],
    },
    Parameter {
        declaration: "int **pp",
        cells: &["**pp"],
        pointers: &["*pp"],
        nodes: &[],
        slots: &["*pp"],
    },
    Parameter {
        declaration: "int **row, int at",
        cells: &["*row[at & 1]", "*row[1]", "at"],
        pointers: &["row[at & 1]", "row[!at]", "row[0]"],
        nodes: &[],
        slots: &["row[at & 1]", "row[at & 1]", "row[1]"],
    },
    Parameter {
        declaration: "struct pair *s",
        cells: &["s->left", "s->right"],
        pointers: &["&s->right"],
        nodes: &[],
        slots: &[],
    },
    Parameter {
        declaration: "struct node *m",
        cells: &["m->value"],
        pointers: &["(m ? &m->value : 0)"],
        nodes: &["m", "m->next"],
        slots: &[],
    },
    Parameter {
        declaration: "struct node *n",
        cells: &["n->value", "n->next->value"],
        pointers: &["(n ? &n->value : 0)"],
        nodes: &["n", "n->next"],
        slots: &[],
    },
];

/// Operations of functions on pointers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Moves {
    /// They compare them, and access their targets.
    #[default]
    None,
    /// They also move them by numbers of the input, and free their targets.
    Any,
}

/// The text of a function `NAME`, which [`HEAD`] must precede.
pub fn function(name: &str, seed: u64, moves: Moves) -> String {
    let mut writer = Writer::new(seed, moves);
    writer.function(name)
}

struct Writer {
    rng: Rng,
    cells: Vec<&'static str>,
    pointers: Vec<&'static str>,
    nodes: Vec<&'static str>,
    slots: Vec<&'static str>,
    moves: Moves,
}

impl Writer {
    fn new(seed: u64, moves: Moves) -> Self {
        let (cells, pointers, nodes, slots) = Default::default();
        Self { rng: Rng::new(seed), cells, pointers, nodes, slots, moves }
    }

    fn one_in(&mut self, count: u64) -> bool {
        self.rng.below(count) == 0
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.rng.below(list.len() as u64) as usize]
    }

    fn number(&mut self) -> String {
        let number = self.pick(&NUMBERS);
        if number < 0 { format!("({number})") } else { number.to_string() }
    }

    fn function(&mut self, name: &str) -> String {
        let mut declarations = Vec::new();
        let wanted = 2 + usize::from(self.one_in(3));
        while declarations.len() < wanted {
            let parameter = &PARAMETERS[self.rng.below(PARAMETERS.len() as u64) as usize];
            if !declarations.contains(&parameter.declaration) {
                declarations.push(parameter.declaration);
                self.offer(parameter.cells, parameter.pointers, parameter.nodes);
                self.slots.extend(parameter.slots);
            }
        }
        let mut locals = "    int r = 0, v = 1;\n".to_owned();
        self.offer(&["v"], &["&v"], &[]);
        if self.one_in(3) {
            self.offer(&["g"], &["&g"], &[]);
        }
        if self.one_in(5) {
            self.offer(&["*gp"], &["gp"], &[]);
            self.slots.push("gp");
        }
        if self.one_in(5) {
            self.offer(&["head->value"], &[], &["head"]);
        }
        if self.one_in(4) {
            locals += "    static int calls;\n";
            self.offer(&["calls"], &[], &[]);
        }
        let mut body = String::new();
        for _ in 0..3 + self.rng.below(3) {
            let statement = self.statement();
            let _ = writeln!(body, "    {statement}");
        }
        let parameters = declarations.join(", ");
        format!("int {name}({parameters})\n{{\n{locals}{body}    return r;\n}}\n")
    }

    fn offer(&mut self, cells: &[&'static str], pointers: &[&'static str], nodes: &[&'static str]) {
        self.cells.extend(cells);
        self.pointers.extend(pointers);
        self.nodes.extend(nodes);
    }

    fn cell(&mut self) -> &'static str {
        let cells = self.cells.clone();
        self.pick(&cells)
    }

    fn pointer(&mut self) -> &'static str {
        let pointers = self.pointers.clone();
        self.pick(&pointers)
    }

    fn node(&mut self) -> Option<&'static str> {
        let nodes = self.nodes.clone();
        (!nodes.is_empty()).then(|| self.pick(&nodes))
    }

    fn value(&mut self) -> String {
        match self.rng.below(4) {
            0 => self.number(),
            1 => format!("{} + {}", self.cell(), self.number()),
            _ => self.cell().to_owned(),
        }
    }

    /// A condition.
    fn condition(&mut self) -> String {
        match (self.rng.below(8), self.node()) {
            (0 | 1, _) => format!("{} == {}", self.pointer(), self.pointer()),
            (2, Some(node)) => format!("{node} == {}", self.node().unwrap_or("0")),
            (3, Some(node)) => format!("{node} != 0"),
            (4, _) => format!("{} < {}", self.cell(), self.value()),
            (5, _) => format!(
                "{} == {} && {} != {}",
                self.cell(),
                self.number(),
                self.cell(),
                self.number()
            ),
            (6, _) => format!("{} != 0 || {} == {}", self.pointer(), self.cell(), self.number()),
            _ => format!("{} == {}", self.cell(), self.value()),
        }
    }

    fn effect(&mut self) -> String {
        if !self.slots.is_empty() && self.one_in(3) {
            let slots = self.slots.clone();
            return format!("{} = {};", self.pick(&slots), self.pointer());
        }
        match (self.rng.below(6), self.node()) {
            (0, Some(node)) => format!("{node}->value = {};", self.value()),
            (1, Some(node)) => format!("{node}->next = {};", self.node().unwrap_or("0")),
            (2, _) => format!("*({}) = {};", self.pointer(), self.value()),
            (3, _) => format!("r += {};", self.cell()),
            _ => format!("{} = {};", self.cell(), self.value()),
        }
    }

    fn statement(&mut self) -> String {
        if self.moves == Moves::Any && self.one_in(3) {
            return self.moving_statement();
        }
        match (self.rng.below(10), self.node()) {
            (0, Some(node)) => {
                let (limit, test) = (1 + self.rng.below(2), self.number());
                format!(
                    "{{ int i = 0; for (struct node *t = {node}; t && i <= {limit}; t = t->next, i++) \
                     if (t->value == {test}) r++; if (i > {limit}) r--; }}"
                )
            }
            (1, _) => {
                let (value, pointer) = (self.value(), self.pointer());
                let test = self.condition();
                format!(
                    "{{ int *h = malloc(sizeof *h); if (h) {{ *h = {value}; if (h == {pointer}) r++; \
                     if ({test}) r += *h; free(h); }} else r--; }}"
                )
            }
            (2, _) => {
                let (effect, value) = (self.effect(), self.pointer());
                let number = self.number();
                format!("{{ int *k = {value}; {effect} if (*k == {number}) r += 2; }}")
            }
            (3 | 4, _) => self.effect(),
            (5, _) => {
                let (first, second) = (self.condition(), self.condition());
                let (effect, other) = (self.effect(), self.effect());
                format!("if ({first}) {{ {effect} if ({second}) r++; }} else {{ {other} }}")
            }
            _ => {
                let (test, effect) = (self.condition(), self.effect());
                format!("if ({test}) {{ {effect} }}")
            }
        }
    }

    /// A statement that moves a pointer, replaces one by an equal one, or frees one.
    fn moving_statement(&mut self) -> String {
        let (pointer, other, cell) = (self.pointer(), self.pointer(), self.cell());
        let (effect, number, sign) = (self.effect(), self.number(), self.pick(&["+", "-"]));
        match (self.rng.below(6), self.node()) {
            (0 | 1, _) => format!(
                "{{ int *k = {pointer} {sign} {cell}; if (k == {other}) r++; {effect} \
                 if (*k == {number}) r += 2; }}"
            ),
            (2, Some(node)) => format!(
                "{{ char *k = (char *){node}; if (k == (char *){other}) \
                 {{ {effect} if (*(int *)k == {number}) r++; }} }}"
            ),
            (3, Some(node)) => format!("free({node}); if ({cell} == {number}) r++;"),
            (4, _) => format!(
                "{{ int *k = {pointer} {sign} {cell}; free(k); if ({cell} == {number}) r++; }}"
            ),
            _ => format!("if ({pointer} {sign} {cell} == {other}) {{ {effect} }}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::Subject;
    use lydian_objective::Criterion;

    #[test]
    fn every_function_compiles_and_the_same_seed_gives_the_same() {
        let moves = |seed| if seed < 20 { Moves::None } else { Moves::Any };
        let functions = (0..40).map(|seed| function(&format!("f{seed}"), seed, moves(seed)));
        let text = HEAD.to_owned() + &functions.collect::<String>();
        let subject = Subject::read(&text, &[Criterion::Stmt], false);
        assert_eq!(subject.functions.len(), 40);
        assert_eq!(function("f", 7, Moves::Any), function("f", 7, Moves::Any));
    }
}
