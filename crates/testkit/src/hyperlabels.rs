//! Random hyperlabels and paths over random programs, as a user would write them in an `.htol` file.
//!
//! Labels stand at the entries and at statements of the functions of a [`crate::cprogram::Case`], and
//! use only parameters and globals, which always have values there. Bound values and conditions of
//! guards and passages are over small numbers, so that they hold now and then. Quotients are unknown if
//! a divisor is zero.

use std::fmt::Write as _;

use lydian_base::{Rng, SourceMap};
use lydian_ir::stmt::{MarkKind, Stmt, Terminator};
use lydian_ir::{Function, LocalId, Program, Type};
use lydian_objective::HtolFile;
use lydian_objective::paths::{Node, NodeGraph, NodeId};

/// A function that objectives are written about.
struct FunctionVocabulary {
    name: String,
    /// The lines at which statements begin.
    lines: Vec<u32>,
    /// Variables that have a value everywhere in it.
    variables: Vec<String>,
    /// For each node of its graph a line at which something in it begins, and its successors.
    nodes: Vec<(Option<u32>, Vec<NodeId>)>,
}

/// The number of objectives of a function.
const OBJECTIVES: u64 = 5;

/// A file about the functions of some cases, each given by the name that its functions begin with.
///
/// # Panics
/// If the text is not as the grammar says, which is a bug of this generator.
pub fn file(program: &Program, map: &SourceMap, cases: &[String], seed: u64) -> HtolFile {
    let mut rng = Rng::new(seed ^ 0x4170);
    let mut text = String::new();
    for case in cases {
        let helper = format!("{case}_");
        let is_own = |name: &str| name == case || name.starts_with(&helper);
        let globals: Vec<String> = program
            .globals
            .values()
            .filter(|global| is_own(&global.name) && global.size <= 8)
            .map(|global| global.name.clone())
            .filter(|name| !name.contains('.'))
            .collect();
        let own = program.defined().filter(|(_, function)| is_own(&function.name));
        let places: Vec<FunctionVocabulary> =
            own.filter_map(|(_, function)| place(program, map, function, &globals)).collect();
        for index in 0..places.len() {
            let mut writer =
                Writer { rng: &mut rng, places: &places, at: index, names: 0, inside: false };
            let _ = writeln!(text, "function {};", places[index].name);
            for number in 0..OBJECTIVES {
                let _ = writeln!(text, "objective o{number} = {};", writer.objective());
                if let Some(path) = writer.path() {
                    let _ = writeln!(text, "path p{number} = {path};");
                }
            }
        }
    }
    HtolFile::read("random.htol", text.clone()).unwrap_or_else(|error| panic!("{error:?}\n{text}"))
}

fn place(
    program: &Program,
    map: &SourceMap,
    function: &Function,
    globals: &[String],
) -> Option<FunctionVocabulary> {
    let body = function.body.as_ref()?;
    let marks = body.marks.values().filter(|mark| mark.kind == MarkKind::Statement);
    let mut lines: Vec<u32> = marks.map(|mark| map.place(mark.span.start).line).collect();
    lines.sort_unstable();
    lines.dedup();
    // Addresses are not the same in every run.
    let is_integer =
        |id: &&LocalId| matches!(program.types.scalar(body.locals[**id].ty), Some(Type::Int(_)));
    let parameters = body.params.iter().filter(is_integer);
    let parameters = parameters.map(|id| body.locals[*id].name.clone());
    let variables = parameters.chain(globals.iter().cloned()).collect();
    let graph = NodeGraph::of(body);
    let line = |node: &Node| {
        let marks =
            body.blocks[node.head].stmts.iter().filter_map(|stmt| match body.stmts[*stmt] {
                Stmt::Mark(mark) => Some(body.marks[mark].span),
                _ => None,
            });
        let condition = match &body.blocks[node.last].term {
            Terminator::Branch { origin: Some(origin), .. } => {
                Some(body.decisions[origin.decision].conditions[origin.condition].span)
            }
            _ => None,
        };
        marks.chain(condition).next().map(|span| map.place(span.start).line)
    };
    let nodes = (0..graph.nodes.len()).map(|id| (line(&graph.nodes[id]), graph.successors(id)));
    let mut nodes: Vec<(Option<u32>, Vec<NodeId>)> = nodes.collect();
    // A line with many nodes stands for too many paths.
    let known: Vec<Option<u32>> = nodes.iter().map(|(line, _)| *line).collect();
    for (line, _) in &mut nodes {
        *line = line.filter(|one| known.iter().filter(|other| **other == Some(*one)).count() < 3);
    }
    Some(FunctionVocabulary { name: function.name.clone(), lines, variables, nodes })
}

struct Writer<'a> {
    rng: &'a mut Rng,
    places: &'a [FunctionVocabulary],
    at: usize,
    names: u32,
    /// Whether objectives must lie in the function itself.
    inside: bool,
}

impl Writer<'_> {
    fn chance(&mut self, percent: u64) -> bool {
        self.rng.below(100) < percent
    }

    fn pick<'t, T>(&mut self, all: &'t [T]) -> &'t T {
        &all[self.rng.below(all.len() as u64) as usize]
    }

    /// A path that the graph has, or one with gaps.
    fn path(&mut self) -> Option<String> {
        let nodes = &self.places[self.at].nodes;
        let mut at = self.rng.below(nodes.len() as u64) as usize;
        let mut text = format!("line {}", nodes[at].0?);
        let gap_at = self.rng.below(8);
        for step in 0..1 + self.rng.below(4) {
            let gap = step == gap_at;
            at = match (gap, nodes[at].1.is_empty()) {
                (true, _) => self.rng.below(nodes.len() as u64) as usize,
                (false, true) => break,
                (false, false) => nodes[at].1[self.rng.below(nodes[at].1.len() as u64) as usize],
            };
            let mark = if gap { "-> ... ->" } else { "->" };
            let _ = write!(text, " {mark} line {}", nodes[at].0?);
        }
        Some(text)
    }

    fn objective(&mut self) -> String {
        let mut bound = Vec::new();
        let shape = self.rng.below(10);
        let inner = match shape {
            0..=4 => self.part(&mut bound),
            5..=7 => format!("{} . {}", self.part(&mut bound), self.part(&mut bound)),
            _ => {
                // The parts of a disjunction bind the same names.
                return format!("{} + {}", self.part_without(), self.part_without());
            }
        };
        match bound.is_empty() {
            true => inner,
            false => format!("< {inner} | {} >", self.guard(&bound)),
        }
    }

    fn part_without(&mut self) -> String {
        let before = self.names;
        let part = self.part(&mut Vec::new());
        // Its names would have to be bound by the other part, too.
        match self.names == before {
            true => part,
            false => self.label(self.at, 0, &mut Vec::new()),
        }
    }

    fn part(&mut self, bound: &mut Vec<String>) -> String {
        if self.chance(35) {
            return self.label(self.at, 2, bound);
        }
        let activation = self.chance(50);
        let mut text = String::from(if activation { "[activation " } else { "[" });
        let atoms = if self.chance(80) { 2 } else { 3 };
        let mut own = Vec::new();
        self.inside = activation;
        for atom in 0..atoms {
            if atom > 0 {
                text.push_str(&self.passage(&own));
            }
            let at = self.at;
            text.push_str(&self.label(at, if atoms == 2 { 2 } else { 1 }, &mut own));
        }
        self.inside = false;
        bound.extend(own);
        text + "]"
    }

    fn passage(&mut self, bound: &[String]) -> String {
        if self.chance(40) {
            return " -> ".to_owned();
        }
        let mut duties = Vec::new();
        for _ in 0..1 + self.rng.below(2) {
            let (at, point) = self.point(self.at);
            duties.push(match self.rng.below(10) {
                0..=2 => format!("pc != {point}"),
                3..=5 => format!("pc == {point} => {}", self.predicate(at)),
                _ if bound.is_empty() => format!("pc != {point}"),
                _ => {
                    let name = self.pick(bound).clone();
                    let value = self.value(at);
                    let op = *self.pick(&["==", "!=", "<", "<=", "> 1 +"]);
                    let or = if self.chance(30) {
                        format!(" || {}", self.predicate(at))
                    } else {
                        String::new()
                    };
                    format!("pc == {point} => {name} {op} {value}{or}")
                }
            });
        }
        format!(" -({})-> ", duties.join("; "))
    }

    /// A point, as a rule of a function, and the function.
    fn point(&mut self, mut at: usize) -> (usize, String) {
        let mut text = String::new();
        if !self.inside && self.chance(25) {
            at = self.rng.below(self.places.len() as u64) as usize;
            if at != self.at || self.chance(20) {
                text = format!("{}::", self.places[at].name);
            }
        }
        let lines = &self.places[at].lines;
        if lines.is_empty() || self.rng.below(8) == 0 {
            return (at, text + "entry");
        }
        let line = lines[self.rng.below(lines.len() as u64) as usize];
        (at, format!("{text}line {line}"))
    }

    fn label(&mut self, at: usize, most: u64, bound: &mut Vec<String>) -> String {
        let (at, point) = self.point(at);
        let predicate = if self.chance(60) { "true".to_owned() } else { self.predicate(at) };
        let count = if most == 0 { 0 } else { self.rng.below(most + 1) };
        let bindings: Vec<String> = (0..count)
            .map(|_| {
                let name = format!("m{}", self.names);
                self.names += 1;
                let value = self.value(at);
                bound.push(name.clone());
                format!("{name} <- {value}")
            })
            .collect();
        match bindings.is_empty() {
            true => format!("({point}, {predicate})"),
            false => format!("({point}, {predicate}) |> {{ {} }}", bindings.join("; ")),
        }
    }

    fn variable(&mut self, at: usize) -> String {
        let variables = &self.places[at].variables;
        match variables.is_empty() {
            true => "1".to_owned(),
            false => variables[self.rng.below(variables.len() as u64) as usize].clone(),
        }
    }

    fn value(&mut self, at: usize) -> String {
        let variable = self.variable(at);
        let other = self.variable(at);
        match self.rng.below(8) {
            0 => format!("({variable} + {other})"),
            1 => format!("({variable} / {other})"),
            2 => format!("({variable} % 3)"),
            3 => format!("({variable} > {other})"),
            4 => format!("(-{variable} * {other})"),
            _ => variable,
        }
    }

    fn predicate(&mut self, at: usize) -> String {
        let (a, b) = (self.value(at), self.rng.below(5));
        let op = *self.pick(&["==", "!=", "<", ">", "<=", ">="]);
        match self.rng.below(5) {
            0 => format!("!({a} {op} {b})"),
            1 => format!("({a} {op} {b} || {} > 2)", self.value(at)),
            _ => format!("{a} {op} {b}"),
        }
    }

    fn guard(&mut self, bound: &[String]) -> String {
        let operand = |this: &mut Self| match this.rng.below(4) {
            0 => this.rng.below(4).to_string(),
            _ => this.pick(bound).clone(),
        };
        let (a, b) = (operand(self), operand(self));
        let op = *self.pick(&["==", "!=", "<", "<=", "+ 1 ==", "/ 2 ==", "- 3 <", "* 2 >"]);
        let first = format!("({a} {op} {b})");
        if self.chance(50) {
            return first;
        }
        let (c, d) = (operand(self), operand(self));
        let join = *self.pick(&["&&", "||", "&& !"]);
        format!("{first} {join} ({c} != {d})")
    }
}
