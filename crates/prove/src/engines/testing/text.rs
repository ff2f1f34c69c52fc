//! The text form of systems, for tests.

use lydian_smt::{Sort, Term, TermPool};

use super::Fixture;
use crate::system::{Approach, Goal, GoalId, Point, PointId, System, Transition, Variable};
use lydian_base::{Arena, Span};

/// Reads a system.
pub(super) fn parsed(width: u32, text: &str) -> Fixture {
    let mut reader = Reader {
        width,
        pool: TermPool::new(),
        variables: Arena::new(),
        points: Arena::new(),
        start: Vec::new(),
        assumed: Vec::new(),
        transitions: Vec::new(),
        goals: Arena::new(),
    };
    text.lines().map(str::trim).filter(|line| !line.is_empty()).for_each(|line| reader.line(line));
    reader.finish()
}

struct Reader {
    width: u32,
    pool: TermPool,
    variables: Arena<crate::system::VarId, Variable>,
    points: Arena<PointId, Point>,
    start: Vec<(Term, Term)>,
    assumed: Vec<Term>,
    transitions: Vec<Transition>,
    goals: Arena<GoalId, Goal>,
}

impl Reader {
    fn line(&mut self, line: &str) {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        match first {
            "vars" | "flags" | "inputs" => {
                for name in rest.split_whitespace() {
                    let sort = if first == "flags" { Sort::Bool } else { Sort::BitVec(self.width) };
                    let symbol = self.pool.var(name, sort);
                    if first != "inputs" {
                        self.pool.var(&format!("{name}_0"), sort);
                        self.variables.push(Variable { symbol, name: name.to_owned() });
                    }
                }
            }
            "start" => self.start = self.assignments(rest, "="),
            "assume" => {
                let term = self.term(rest);
                self.assumed.push(term);
            }
            _ => self.arrow(line),
        }
    }

    fn assignments(&mut self, text: &str, sign: &str) -> Vec<(Term, Term)> {
        let parts = text.split(", ").filter(|part| !part.trim().is_empty());
        let parts: Vec<(String, String)> = parts
            .map(|part| part.split_once(sign).expect("an assignment has a sign"))
            .map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned()))
            .collect();
        let parts = parts.into_iter();
        parts.map(|(name, value)| (self.pool.find_var(&name).unwrap(), self.term(&value))).collect()
    }

    fn arrow(&mut self, line: &str) {
        let (head, actions) = line.split_once(": ").unwrap_or((line.trim_end_matches(':'), ""));
        let (ends, guard) = head.split_once(" if ").unwrap_or((head, "true"));
        let (from, to) = ends.split_once("->").expect("a transition has an arrow");
        let (from, to) = (self.point(from.trim()), to.trim());
        let guard = self.term(guard);
        if let Some(name) = to.strip_prefix('!') {
            let approach = Approach { from, condition: guard };
            let known = self.goals.iter_mut().find(|(_, goal)| goal.name == name);
            match known {
                Some((_, goal)) => goal.approaches.push(approach),
                None => {
                    let goal = Goal { name: name.to_owned(), approaches: vec![approach] };
                    self.goals.push(goal);
                }
            }
            return;
        }
        let to = self.point(to);
        let actions = self.assignments(actions, ":=");
        let next = self.variables.values().map(|variable| {
            let action = actions.iter().find(|(symbol, _)| *symbol == variable.symbol);
            action.map_or(variable.symbol, |(_, value)| *value)
        });
        let next = next.collect();
        self.transitions.push(Transition { from, to, guard, next });
    }

    fn point(&mut self, name: &str) -> PointId {
        let known = self.points.iter().find(|(_, point)| point.name == name).map(|(id, _)| id);
        known.unwrap_or_else(|| self.points.push(Point { name: name.to_owned(), span: Span::NONE }))
    }

    fn term(&mut self, text: &str) -> Term {
        let tokens = tokens(text);
        let mut at = Parser { pool: &mut self.pool, width: self.width, tokens: &tokens, at: 0 };
        let term = at.either();
        assert_eq!(at.at, tokens.len(), "the whole of `{text}` is a term");
        term
    }

    fn finish(mut self) -> Fixture {
        let mut initial = Vec::new();
        for variable in self.variables.values() {
            let given = self.start.iter().find(|(symbol, _)| *symbol == variable.symbol);
            let any = format!("{}_0", variable.name);
            initial.push(match given {
                Some((_, value)) => *value,
                None => self.pool.var(&any, self.pool.sort(variable.symbol)),
            });
        }
        let assumed = self.pool.and_all(self.assumed);
        let system = System {
            variables: self.variables,
            points: self.points,
            entry: lydian_base::EntityId::from_index(0),
            initial,
            assumed,
            transitions: self.transitions,
            goals: self.goals,
            inexact: Vec::new(),
        };
        Fixture { pool: self.pool, system }
    }
}

/// Words, numbers and signs.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut joined = false;
    for letter in text.chars() {
        let word = letter.is_alphanumeric() || letter == '_';
        let last = tokens.last().and_then(|token| token.chars().next());
        let fits = match last {
            Some(first) if word => {
                first.is_alphanumeric() || first == '_' || (letter == 'u' && "<>".contains(first))
            }
            Some(first) => "=<>!&|".contains(first) && "=&|".contains(letter),
            None => false,
        };
        match (letter.is_whitespace(), joined && fits) {
            (true, _) => joined = false,
            (false, true) => tokens.last_mut().unwrap().push(letter),
            (false, false) => {
                tokens.push(letter.to_string());
                joined = true;
            }
        }
    }
    tokens
}

/// A recursive descent: `||`, `&&`, comparisons, sums, products, signs.
struct Parser<'a> {
    pool: &'a mut TermPool,
    width: u32,
    tokens: &'a [String],
    at: usize,
}

impl Parser<'_> {
    fn next_is(&mut self, signs: &[&str]) -> Option<String> {
        let token = self.tokens.get(self.at)?;
        signs.contains(&token.as_str()).then(|| {
            self.at += 1;
            token.clone()
        })
    }

    fn either(&mut self) -> Term {
        let mut term = self.both();
        while self.next_is(&["||"]).is_some() {
            let other = self.both();
            term = self.pool.or(term, other);
        }
        term
    }

    fn both(&mut self) -> Term {
        let mut term = self.comparison();
        while self.next_is(&["&&"]).is_some() {
            let other = self.comparison();
            term = self.pool.and(term, other);
        }
        term
    }

    fn comparison(&mut self) -> Term {
        let a = self.sum();
        let signs = ["==", "!=", "<", "<=", ">", ">=", "<u", "<=u", ">u", ">=u"];
        let Some(sign) = self.next_is(&signs) else { return a };
        let b = self.sum();
        let pool = &mut *self.pool;
        match sign.as_str() {
            "==" => pool.eq(a, b),
            "!=" => pool.neq(a, b),
            "<" => pool.slt(a, b),
            "<=" => pool.sle(a, b),
            ">" => pool.slt(b, a),
            ">=" => pool.sle(b, a),
            "<u" => pool.ult(a, b),
            "<=u" => pool.ule(a, b),
            ">u" => pool.ult(b, a),
            _ => pool.ule(b, a),
        }
    }

    fn sum(&mut self) -> Term {
        let mut term = self.product();
        while let Some(sign) = self.next_is(&["+", "-"]) {
            let other = self.product();
            term = match sign.as_str() {
                "+" => self.pool.add(term, other),
                _ => self.pool.sub(term, other),
            };
        }
        term
    }

    fn product(&mut self) -> Term {
        let mut term = self.unary();
        while let Some(sign) = self.next_is(&["*", "/", "%"]) {
            let other = self.unary();
            term = match sign.as_str() {
                "*" => self.pool.mul(term, other),
                "/" => self.pool.udiv(term, other),
                _ => self.pool.urem(term, other),
            };
        }
        term
    }

    fn unary(&mut self) -> Term {
        match self.next_is(&["!", "-", "("]).as_deref() {
            Some("!") => {
                let term = self.unary();
                self.pool.not(term)
            }
            Some("-") => {
                let term = self.unary();
                self.pool.neg(term)
            }
            Some(_) => {
                let term = self.either();
                self.next_is(&[")"]).expect("a parenthesis is closed");
                term
            }
            None => self.leaf(),
        }
    }

    fn leaf(&mut self) -> Term {
        let token = self.tokens[self.at].clone();
        self.at += 1;
        match token.as_str() {
            "true" => self.pool.tt(),
            "false" => self.pool.ff(),
            _ => match token.parse::<u64>() {
                Ok(number) => self.pool.bv(self.width, number),
                Err(_) => self.pool.find_var(&token).expect("the symbol is known"),
            },
        }
    }
}
