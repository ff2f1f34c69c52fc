//! Definitions and uses of globals, within functions and across them: pairs worked out by hand, and
//! random programs whose pairs an evaluator of their own trees finds.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lydian_objective::Criterion;

use crate::common::units::WholeUnit;
use crate::common::whole::run_of;

const COUNTER: &str = "
static int count;
int limit = 3;
static void add(int n) {
  count += n;
}
static int next(void) {
  static int calls = 10;
  calls++;
  return calls;
}
int f(int n) {
  if (n > limit)
    limit = n;
  add(n);
  if (n & 1)
    add(next());
  return count + next();
}
";

fn covered_by(text: &str, runs: &[&[i32]]) -> [Vec<String>; 2] {
    let unit = WholeUnit::of(text, &[Criterion::AllUses], |_| true);
    let tests: Vec<_> = runs.iter().map(|args| run_of("f", args)).collect();
    unit.covers(Criterion::AllUses, &unit.measured(&tests))
}

fn of_globals(texts: &[String]) -> Vec<&str> {
    let about = |text: &&String| !text.starts_with("the parameter") && !text.starts_with("n of");
    texts.iter().filter(about).map(String::as_str).collect()
}

#[test]
fn pairs_across_functions_are_those_of_the_graph_of_calls() {
    let [covered, open] = covered_by(COUNTER, &[&[0]]);
    assert_eq!(
        of_globals(&covered),
        [
            "the initial value of count reaches its use in line 5",
            "the initial value of calls reaches its use in line 9",
            "calls of `calls++` in line 9 reaches the return in line 10",
            "the initial value of limit reaches the condition in line 13, false",
            "count of `count += n` in line 5 of add reaches its use in line 18",
        ]
    );
    assert_eq!(
        of_globals(&open),
        [
            "count of `count += n` in line 5 reaches its use in line 5",
            "calls of `calls++` in line 9 reaches its use in line 9",
            "limit of `limit = n` in line 14 reaches the condition in line 13, false",
            "limit of `limit = n` in line 14 reaches the condition in line 13, true",
            "the initial value of limit reaches the condition in line 13, true",
        ]
    );
    // The two of `limit = n` need a second call of f in one run.
    let [_, open] = covered_by(COUNTER, &[&[0], &[5]]);
    assert_eq!(of_globals(&open).len(), 2);
}

#[test]
fn each_test_begins_with_initial_values() {
    let [covered, _] = covered_by(COUNTER, &[&[5], &[0]]);
    assert!(covered.contains(
        &"the initial value of limit reaches the condition in line 13, false".to_owned()
    ));
}

#[test]
fn a_definition_is_covered_by_a_use_in_another_function() {
    let unit = WholeUnit::of(COUNTER, &[Criterion::AllDefs], |_| true);
    let [covered, open] = unit.covers(Criterion::AllDefs, &unit.measured(&[run_of("f", &[0])]));
    assert_eq!(
        of_globals(&covered),
        [
            "count of `count += n` in line 5 reaches a use",
            "the initial value of count reaches its use in line 5",
            "calls of `calls++` in line 9 reaches a use",
            "the initial value of calls reaches its use in line 9",
            "the initial value of limit reaches a use",
        ]
    );
    assert_eq!(of_globals(&open), ["limit of `limit = n` in line 14 reaches a use"]);
}

#[test]
fn functions_that_are_not_watched_still_tell_of_their_definitions() {
    let unit =
        WholeUnit::of(COUNTER, &[Criterion::AllDefs, Criterion::AllUses], |name| name == "f");
    let measured = unit.measured(&[run_of("f", &[1])]);
    let [covered, _] = unit.covers(Criterion::AllUses, &measured);
    assert!(
        covered.contains(
            &"count of `count += n` in line 5 of add reaches its use in line 18".to_owned()
        )
    );
    let unit =
        WholeUnit::of(COUNTER, &[Criterion::AllDefs, Criterion::AllUses], |name| name == "add");
    let measured = unit.measured(&[run_of("f", &[0])]);
    let [covered, _] = unit.covers(Criterion::AllDefs, &measured);
    assert!(
        covered.contains(&"count of `count += n` in line 5 reaches a use".to_owned()),
        "{covered:?}"
    );
}

#[test]
fn a_name_may_be_hidden_and_a_parameter_may_be_an_array() {
    let text = "
static struct { int a, b; } pair;
static int table[3];
static int x = 1;
static int get(const int *from) { return *from; }
int f(int n) {
  int y = x;
  {
    int x = n;
    y += x;
  }
  table[n & 1] = y;
  pair.a = get(table);
  pair.b = pair.a;
  x = pair.b;
  return x + table[2];
}
";
    let [covered, open] = covered_by(text, &[&[2]]);
    assert_eq!(
        of_globals(&covered).into_iter().filter(|text| !text.starts_with("y ")).collect::<Vec<_>>(),
        [
            "the initial value of x reaches its use in line 7",
            "x of `int x = n` in line 9 reaches its use in line 10",
            "table of `table[n & 1] = y` in line 12 reaches its use in `get(table)` in line 13",
            "pair of `pair.a = get(table)` in line 13 reaches its use in `pair.a` in line 14",
            "pair of `pair.b = pair.a` in line 14 reaches its use in `pair.b` in line 15",
            "x of `x = pair.b` in line 15 reaches the return in line 16",
            "table of `table[n & 1] = y` in line 12 reaches the return in line 16",
        ]
    );
    assert_eq!(of_globals(&open), ["x of `x = pair.b` in line 15 reaches its use in line 7"]);
}

#[test]
fn a_function_that_is_not_known_may_call_back() {
    let text = "
void elsewhere(void);
static int state;
void back(void) { state = 1; }
int f(int n) {
  state = n;
  elsewhere();
  return state;
}
";
    let [covered, open] = covered_by(text, &[&[2]]);
    assert_eq!(
        of_globals(&covered),
        ["state of `state = n` in line 6 reaches the return in line 8"]
    );
    assert_eq!(
        of_globals(&open),
        ["state of `state = 1` in line 4 of back reaches the return in line 8"]
    );
}

/// Statements of the random programs, one a line.
enum Line {
    /// `g = e;`
    Set(usize, Expr),
    /// `g += e;`
    Add(usize, Expr),
    /// `*to = e;`
    Through(Expr),
    /// `*to += e;`
    AddThrough(Expr),
    /// `to = &g;`
    Point(usize),
    /// `f(n - 1, e);`
    Call(usize, Expr),
    /// `f((h(n - 1, 0), n - 1), e);`
    Nested(usize, usize, Expr),
    /// `if (e) { ... } else { ... }`
    If(Expr, Vec<Line>, Vec<Line>),
    /// `for (int i = 0; i < 2; i++) { ... }`
    Twice(Vec<Line>),
}

/// Sums, evaluated from left to right.
struct Expr(Vec<Term>);

enum Term {
    Number(i32),
    Param,
    Global(usize),
    Call(usize),
}

const GLOBALS: [&str; 4] = ["ga", "gb", "gc", "own"];

struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (self.0 >> 33) % limit
    }

    /// A global; the static local is seen in the first function only.
    fn global(&mut self, function: usize) -> usize {
        self.below(if function == 0 { 4 } else { 3 }) as usize
    }

    fn expr(&mut self, function: usize) -> Expr {
        let terms = (0..=self.below(3)).map(|_| match self.below(8) {
            0 => Term::Number(self.below(4) as i32),
            1 => Term::Param,
            2 => Term::Call(self.below(FUNCTIONS as u64) as usize),
            _ => Term::Global(self.global(function)),
        });
        Expr(terms.collect())
    }

    fn lines(&mut self, function: usize, depth: u32) -> Vec<Line> {
        let count = 1 + self.below(3);
        let line = |this: &mut Self| match this.below(if depth == 0 { 8 } else { 11 }) {
            0 | 1 => Line::Set(this.global(function), this.expr(function)),
            2 => Line::Add(this.global(function), this.expr(function)),
            3 => Line::Call(this.below(FUNCTIONS as u64) as usize, this.expr(function)),
            4 => {
                let callee = |this: &mut Self| this.below(FUNCTIONS as u64) as usize;
                Line::Nested(callee(this), callee(this), this.expr(function))
            }
            // No pointer to the static local leaves its function.
            5 => Line::Point(this.below(3) as usize),
            6 => Line::Through(this.expr(function)),
            7 => Line::AddThrough(this.expr(function)),
            8 | 9 => {
                let condition = this.expr(function);
                let yes = this.lines(function, depth - 1);
                Line::If(condition, yes, this.lines(function, depth - 1))
            }
            _ => Line::Twice(this.lines(function, depth - 1)),
        };
        (0..count).map(|_| line(self)).collect()
    }
}

const FUNCTIONS: usize = 4;

/// How many calls the evaluator makes at most.
const STEPS: u32 = 20_000;

/// A pair: the variable, the line of the definition (0 for the initial value), that of the use, and
/// the way of a condition.
type Pair = (String, u32, u32, Option<bool>);

/// A program as text, and its evaluator.
struct Program {
    functions: Vec<Rc<(Vec<Line>, Expr)>>,
    text: String,
    /// The line of each function's `return`.
    returns: Vec<u32>,
    globals: [i32; 4],
    last: [u32; 4],
    to: usize,
    steps: u32,
    pairs: BTreeSet<Pair>,
}

impl Program {
    fn new(random: &mut Random) -> Self {
        let function = |f| Rc::new((random.lines(f, 2), random.expr(f)));
        let functions: Vec<_> = (0..FUNCTIONS).map(function).collect();
        let mut text = String::from(
            "static int ga;\nint gb = 1;\nstatic int gc = 2;\nstatic int *to = &ga;\n",
        );
        for function in 0..FUNCTIONS {
            text.push_str(&format!("{}int f{function}(int n, int m);\n", linkage(function)));
        }
        let mut returns = Vec::new();
        for (function, of) in functions.iter().enumerate() {
            text.push_str(&format!("{}int f{function}(int n, int m) {{\n", linkage(function)));
            if function == 0 {
                text.push_str("static int own = 1;\n");
            }
            text.push_str("if (n <= 0)\nreturn m;\n");
            write(&of.0, &mut text);
            returns.push(line_of(&text));
            text.push_str(&format!("return {};\n}}\n", shown(&of.1)));
        }
        text.push_str("int run(int n, int m) {\nreturn f3(n, m) + f3(n, 1);\n}\n");
        let (pairs, steps) = (BTreeSet::new(), 0);
        let (globals, last) = ([0, 1, 2, 1], [0; 4]);
        Self { functions, text, returns, globals, last, to: 0, steps, pairs }
    }

    fn run(&mut self, n: i32, m: i32) {
        (self.globals, self.last, self.to) = ([0, 1, 2, 1], [0; 4], 0);
        self.call(3, n, m);
        self.call(3, n, 1);
    }

    fn call(&mut self, function: usize, n: i32, m: i32) -> i32 {
        self.steps += 1;
        if n <= 0 || self.steps > STEPS {
            return m;
        }
        let of = Rc::clone(&self.functions[function]);
        self.lines(&of.0, &mut self.first_line(function), n, m);
        let (value, uses) = self.eval(&of.1, n, m);
        self.use_all(&uses, self.returns[function], None);
        value
    }

    /// The line of the first statement: after the head, the static local and the first test.
    fn first_line(&self, function: usize) -> u32 {
        let head = format!("int f{function}(int n, int m) {{\n");
        let at = self.text.find(&head).unwrap();
        line_of(&self.text[..at]) + if function == 0 { 4 } else { 3 }
    }

    /// The value of a sum, and for each global that it reads the definition that it read.
    fn eval(&mut self, expr: &Expr, n: i32, m: i32) -> (i32, Vec<(usize, u32)>) {
        let (mut sum, mut uses) = (0i32, Vec::new());
        for term in &expr.0 {
            sum = sum.wrapping_add(match term {
                Term::Number(value) => *value,
                Term::Param => m,
                Term::Global(global) => {
                    uses.push((*global, self.last[*global]));
                    self.globals[*global]
                }
                Term::Call(function) => self.call(*function, n - 1, 0),
            });
        }
        (sum, uses)
    }

    fn use_all(&mut self, uses: &[(usize, u32)], line: u32, way: Option<bool>) {
        for (global, definition) in uses {
            self.pairs.insert((GLOBALS[*global].to_owned(), *definition, line, way));
        }
    }

    fn lines(&mut self, lines: &[Line], line: &mut u32, n: i32, m: i32) {
        for one in lines {
            let here = *line;
            match one {
                Line::Set(global, expr) => {
                    let (value, uses) = self.eval(expr, n, m);
                    self.use_all(&uses, here, None);
                    (self.globals[*global], self.last[*global]) = (value, here);
                }
                Line::Add(global, expr) => {
                    let (value, mut uses) = self.eval(expr, n, m);
                    uses.push((*global, self.last[*global]));
                    self.use_all(&uses, here, None);
                    let sum = self.globals[*global].wrapping_add(value);
                    (self.globals[*global], self.last[*global]) = (sum, here);
                }
                Line::Point(global) => self.to = *global,
                Line::Through(expr) | Line::AddThrough(expr) => {
                    let (value, uses) = self.eval(expr, n, m);
                    self.use_all(&uses, here, None);
                    let adds = matches!(one, Line::AddThrough(_));
                    let old = if adds { self.globals[self.to] } else { 0 };
                    (self.globals[self.to], self.last[self.to]) = (old.wrapping_add(value), here);
                }
                Line::Call(function, expr) => {
                    let (value, uses) = self.eval(expr, n, m);
                    self.use_all(&uses, here, None);
                    self.call(*function, n - 1, value);
                }
                Line::Nested(function, inner, expr) => {
                    self.call(*inner, n - 1, 0);
                    let (value, uses) = self.eval(expr, n, m);
                    self.use_all(&uses, here, None);
                    self.call(*function, n - 1, value);
                }
                Line::If(condition, yes, no) => {
                    let (value, uses) = self.eval(condition, n, m);
                    self.use_all(&uses, here, Some(value != 0));
                    // What is read before a call is kept by a statement of its own.
                    let terms = &condition.0;
                    let is_call = |term: &Term| matches!(term, Term::Call(_));
                    let call = terms.iter().rposition(is_call).unwrap_or(0);
                    let kept = terms[..call].iter().filter(|t| matches!(t, Term::Global(_)));
                    self.use_all(&uses[..kept.count()], here, None);
                    *line += 1;
                    let mut other = *line + length(yes) + 1;
                    if value != 0 {
                        self.lines(yes, line, n, m);
                    } else {
                        self.lines(no, &mut other.clone(), n, m);
                    }
                    other += length(no);
                    *line = other;
                }
                Line::Twice(body) => {
                    for _ in 0..2 {
                        self.lines(body, &mut (here + 1), n, m);
                    }
                    *line = here + 1 + length(body);
                }
            }
            *line += 1;
        }
    }
}

fn linkage(function: usize) -> &'static str {
    if function.is_multiple_of(2) { "static " } else { "" }
}

fn line_of(text: &str) -> u32 {
    text.matches('\n').count() as u32 + 1
}

/// How many lines of text statements take.
fn length(lines: &[Line]) -> u32 {
    let of = |line: &Line| match line {
        Line::If(_, yes, no) => 3 + length(yes) + length(no),
        Line::Twice(body) => 2 + length(body),
        _ => 1,
    };
    lines.iter().map(of).sum()
}

fn shown(expr: &Expr) -> String {
    let term = |term: &Term| match term {
        Term::Number(value) => value.to_string(),
        Term::Param => "m".to_owned(),
        Term::Global(global) => GLOBALS[*global].to_owned(),
        Term::Call(function) => format!("f{function}(n - 1, 0)"),
    };
    expr.0.iter().map(term).collect::<Vec<_>>().join(" + ")
}

fn write(lines: &[Line], text: &mut String) {
    for line in lines {
        match line {
            Line::Set(global, e) => {
                text.push_str(&format!("{} = {};\n", GLOBALS[*global], shown(e)))
            }
            Line::Add(global, e) => {
                text.push_str(&format!("{} += {};\n", GLOBALS[*global], shown(e)));
            }
            Line::Through(e) => text.push_str(&format!("*to = {};\n", shown(e))),
            Line::AddThrough(e) => text.push_str(&format!("*to += {};\n", shown(e))),
            Line::Point(global) => text.push_str(&format!("to = &{};\n", GLOBALS[*global])),
            Line::Call(f, e) => text.push_str(&format!("f{f}(n - 1, {});\n", shown(e))),
            Line::Nested(f, inner, e) => {
                text.push_str(&format!("f{f}((f{inner}(n - 1, 0), n - 1), {});\n", shown(e)));
            }
            Line::If(e, yes, no) => {
                text.push_str(&format!("if ({}) {{\n", shown(e)));
                write(yes, text);
                text.push_str("} else {\n");
                write(no, text);
                text.push_str("}\n");
            }
            Line::Twice(body) => {
                text.push_str("for (int i = 0; i < 2; i++) {\n");
                write(body, text);
                text.push_str("}\n");
            }
        }
    }
}

/// The pair that an objective's text is about, if it is one of a global.
fn pair_of(text: &str) -> Option<Pair> {
    let (definition, usage) = text.split_once(" reaches ")?;
    let number = |text: &str| {
        let after = text.split("in line ").nth(1)?;
        after.split(|c: char| !c.is_ascii_digit()).next()?.parse::<u32>().ok()
    };
    let (name, line) = match definition.strip_prefix("the initial value of ") {
        Some(name) => (name, 0),
        None => (definition.split(' ').next()?, number(definition)?),
    };
    if !GLOBALS.contains(&name) {
        return None;
    }
    let way = usage.starts_with("the condition").then(|| usage.ends_with("true"));
    Some((name.to_owned(), line, number(usage)?, way))
}

#[test]
fn random_programs_cover_the_pairs_that_an_evaluator_of_their_trees_sees() {
    let mut random = Random(20_261_121);
    let (mut seen, mut objectives, mut tried) = (0, 0, 0);
    while tried < 12 {
        let mut program = Program::new(&mut random);
        let mut tests = Vec::new();
        for (n, m) in [(1, 0), (2, 0), (3, 1)] {
            program.run(n, m);
            tests.push(run_of("run", &[n, m]));
        }
        // Programs whose calls multiply take long.
        if program.steps > STEPS {
            continue;
        }
        tried += 1;
        let unit = WholeUnit::of(&program.text, &[Criterion::AllUses], |_| true);
        let [covered, open] = unit.covers(Criterion::AllUses, &unit.measured(&tests));
        let found: BTreeSet<Pair> = covered.iter().filter_map(|text| pair_of(text)).collect();
        let missed: Vec<_> = program.pairs.difference(&found).collect();
        let wrong: Vec<_> = found.difference(&program.pairs).collect();
        assert!(
            missed.is_empty() && wrong.is_empty(),
            "missed {missed:?}, wrong {wrong:?}, {} open in\n{}",
            open.len(),
            numbered(&program.text)
        );
        seen += found.len();
        objectives += covered.len() + open.len();
    }
    assert!(seen > 100 && objectives > seen, "{seen} of {objectives}");
}

fn numbered(text: &str) -> String {
    let lines: BTreeMap<usize, &str> = (1..).zip(text.lines()).collect();
    lines.iter().map(|(number, line)| format!("{number:3} {line}\n")).collect()
}

#[test]
fn a_write_through_a_pointer_hits_a_global_that_is_declared_later() {
    let text = "
struct state { int first, second; };
static void set(struct state *to, int n) { to->first = n; }
static struct state here;
static struct state there = {1, 2};
int f(int n) {
  set(n ? &here : &there, 5);
  return there.first;
}
";
    let through = "there of `to->first = n` in line 3 of set reaches the return in line 8";
    let [covered, open] = covered_by(text, &[&[1]]);
    assert_eq!(of_globals(&covered), ["the initial value of there reaches the return in line 8"]);
    assert_eq!(of_globals(&open), [through]);
    let [covered, _] = covered_by(text, &[&[0]]);
    assert_eq!(of_globals(&covered), [through]);
}
