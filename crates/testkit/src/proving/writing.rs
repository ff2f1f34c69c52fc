//! Programs made of the sentences of the grammar.
//!
//! The holes of a sentence: `$k` a small number, `$j` a subscript below 4 most of the time, `$i` a number,
//! `$c` a condition, `$l` a place of a number, `$p` a pointer to `int`, `$q` a pointer to such a pointer,
//! `$f` a pointer to a function, `$b` some statements, `$r` a return, and `$u` a number that is the
//! sentence's own.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lydian_base::Rng;

use super::grammar::{
    BLOCKS, CONDITIONS, FUNCTIONS, GLOBALS, HEAD, LEAVES, LOCALS, MEMBERS_IN, MEMBERS_OUT, MIDDLE,
    OPERATIONS, PLACES, POINTERS, POINTERS_TO_POINTERS, SERVICES, STATEMENTS, SUBJECTS, Sentence,
    Subject, TEMPLATES, Template,
};
use super::numbers;

/// The deepest expressions.
const DEPTH: u32 = 3;
/// How many sentences a body may have, those of its blocks among them.
const SENTENCES: u32 = 14;
/// How many inputs a program reads at its beginning.
pub const FIRST_INPUTS: usize = 2;
/// The first inputs are below this.
pub const DOMAIN: u64 = 4;

/// The text of a whole program. It reads [`FIRST_INPUTS`] inputs at its beginning, and compares a sum over
/// its variables with an input at its end: the last error is reached where they are equal.
pub fn whole_program(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    let body = writer.body("return 0;");
    let sums = writer.sums(&body);
    let all = format!("{body}{sums}");
    let declared = writer.locals(&all, &["i0"]);
    let main = format!(
        "int main(void)\n{{\n\
         int i0 = __VERIFIER_nondet_int() & 3;\n\
         sum = __VERIFIER_nondet_uchar() & 3;\n\
         {declared}{all}\
         done = 1;\n\
         if (sum == __VERIFIER_nondet_ulong())\n\
         ERROR;\n\
         return 0;\n}}\n"
    );
    writer.finish(&main, true)
}

/// The text of a function under test, `run`, with parameters of many types and the functions that it
/// calls.
pub fn function_under_test(seed: u64) -> String {
    let mut writer = Writer::new(seed);
    let all = [
        ("i0", "int i0"),
        ("y", "int *y"),
        ("q", "int *q"),
        ("pp", "int **pp"),
        ("op", "struct out *op"),
        ("n", "struct node *n"),
        ("cb", "fn cb"),
        ("up", "union un *up"),
        ("s", "struct in s"),
        ("h", "short h"),
    ];
    let mut params: Vec<(&str, &str)> = Vec::new();
    for param in all {
        if params.is_empty() || writer.rng.below(3) > 0 {
            params.push(param);
        }
    }
    let names: Vec<&str> = params.iter().map(|(name, _)| *name).collect();
    let result = writer.fill("$i", DEPTH - 1);
    let body = writer.body("return 1;");
    let all = format!("{body}return {result};\n");
    let declared = writer.locals(&all, &names);
    let heads: Vec<&str> = params.iter().map(|(_, head)| *head).collect();
    let run = format!("int run({})\n{{\nfuel = 6;\n{declared}{all}}}\n", heads.join(", "));
    writer.finish(&run, false)
}

struct Writer {
    rng: Rng,
    subjects: Vec<Subject>,
    /// The number that the next sentence has as its own.
    next: u32,
    /// How many sentences the body may still have.
    left: u32,
    /// Counters that the body needs.
    counters: BTreeSet<String>,
    /// How the body returns.
    result: String,
}

impl Writer {
    fn new(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mut subjects = vec![Subject::Any];
        subjects.extend(SUBJECTS.into_iter().filter(|subject| {
            // Two subjects take much precision, so they are rare.
            let odds = match subject {
                Subject::Addresses => 7,
                Subject::Wild | Subject::Recursion | Subject::Sorting => 4,
                _ => 3,
            };
            rng.below(odds) == 0
        }));
        let (counters, result) = (BTreeSet::new(), String::new());
        Self { rng, subjects, next: 0, left: 0, counters, result }
    }

    fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.rng.below(all.len() as u64) as usize]
    }

    /// A sentence of one of the program's subjects. Those of a drawn subject come as often as all others.
    fn sentence(&mut self, all: [&[Sentence]; 2]) -> &'static str {
        let subject = self.subjects[self.rng.below(self.subjects.len() as u64) as usize];
        let of = |wanted: Subject| -> Vec<&'static str> {
            let all = all.into_iter().flatten();
            all.filter(|(subject, _)| *subject == wanted).map(|(_, text)| *text).collect()
        };
        let mut found = of(subject);
        if found.is_empty() {
            found = of(Subject::Any);
        }
        self.pick(&found)
    }

    /// A sentence with its holes filled.
    fn fill(&mut self, sentence: &str, depth: u32) -> String {
        self.next += 1;
        let own = self.next;
        let (mut text, mut rest) = (String::new(), sentence);
        while let Some((before, after)) = rest.split_once('$') {
            text.push_str(before);
            let hole = after.chars().next().unwrap_or('k');
            rest = &after[hole.len_utf8()..];
            match hole {
                'u' => {
                    let _ = write!(text, "{own}");
                }
                'b' => text.push_str(&self.block(depth)),
                'r' => text.push_str(&self.result.clone()),
                hole => text.push_str(&self.part(hole, depth)),
            }
        }
        text.push_str(rest);
        let counter = format!("t{own}++");
        if text.contains(&counter) && !text.contains(&format!("int t{own} ")) {
            self.counters.insert(format!("int t{own} = 0;\n"));
        }
        text
    }

    /// An expression for a hole.
    fn part(&mut self, hole: char, depth: u32) -> String {
        let is_leaf = depth == 0 || self.rng.below(3) == 0;
        let sentences = match hole {
            'k' => return (self.rng.below(7) as i64 - 2).to_string(),
            'j' => return self.subscript(depth),
            'i' if is_leaf => [LEAVES, numbers::LEAVES],
            'i' => [OPERATIONS, numbers::OPERATIONS],
            'c' if depth == 0 => return self.fill("$i == $k", 0),
            'c' => [CONDITIONS, numbers::CONDITIONS],
            'l' => [PLACES, numbers::PLACES],
            'p' if depth == 0 => return self.pick(&["0", "&a", "&g", "p", "q", "y"]).to_owned(),
            'p' => [POINTERS, &[]],
            'q' if depth == 0 => return self.pick(&["&p", "&q"]).to_owned(),
            'q' => [POINTERS_TO_POINTERS, &[]],
            _ if depth == 0 => return self.pick(&["f0", "f1", "cb"]).to_owned(),
            _ => [FUNCTIONS, &[]],
        };
        let sentence = self.sentence(sentences);
        self.fill(sentence, depth.saturating_sub(1))
    }

    fn subscript(&mut self, depth: u32) -> String {
        match self.rng.below(5) {
            0 if depth > 0 => format!("{} & 3", self.part('i', depth - 1)),
            0 | 1 => self.pick(&["i0 & 3", "a & 3", "b & 3", "c & 3"]).to_owned(),
            _ => self.rng.below(4).to_string(),
        }
    }

    fn block(&mut self, depth: u32) -> String {
        let mut text = String::new();
        for _ in 0..=self.rng.below(2) {
            text.push_str(&self.statement(depth));
        }
        text
    }

    fn statement(&mut self, depth: u32) -> String {
        if self.left == 0 {
            return String::new();
        }
        self.left -= 1;
        let is_block = depth > 0 && self.rng.below(3) == 0;
        let sentence = self.sentence(match is_block {
            true => [BLOCKS, numbers::BLOCKS],
            false => [STATEMENTS, numbers::STATEMENTS],
        });
        let depth = if is_block { depth - 1 } else { depth };
        let mut text = self.fill(sentence, depth);
        text.push('\n');
        text
    }

    /// The statements of a body. The counters of its loops stand first.
    fn body(&mut self, result: &str) -> String {
        (self.left, self.result) = (SENTENCES, result.to_owned());
        self.counters.clear();
        let mut text = String::new();
        for _ in 0..5 + self.rng.below(6) {
            text.push_str(&self.statement(DEPTH));
        }
        format!("{}{text}", self.counters.iter().cloned().collect::<String>())
    }

    /// Declarations of the locals that a text uses and that are no parameters.
    fn locals(&mut self, text: &str, params: &[&str]) -> String {
        let mut declared: Vec<String> = Vec::new();
        let mut used = text.to_owned();
        for local in LOCALS.iter().chain(numbers::LOCALS).rev() {
            if params.contains(&local.name) || !uses(&used, local.name) {
                continue;
            }
            let value = match self.rng.below(6) {
                0 if !local.declaration.starts_with("static") => String::new(),
                _ => {
                    let value = self.pick(local.values);
                    format!(" = {}", self.fill(value, 0))
                }
            };
            used.push_str(&value);
            declared.push(format!("{}{value};\n", local.declaration));
        }
        declared.iter().rev().map(String::as_str).collect()
    }

    /// Statements that add the variables that a body uses to the sum.
    fn sums(&mut self, body: &str) -> String {
        let mut text = String::new();
        let cells = [
            "a",
            "b",
            "c",
            "h",
            "w",
            "arr[0]",
            "arr[1]",
            "arr[3]",
            "sh[2]",
            "m2[1][1]",
            "s.x",
            "s.y",
            "s.z",
            "s.v[1]",
            "o.one.x",
            "o.in[1].x",
            "o.in[0].v[1]",
            "o.f1",
            "o.f2",
            "buf[1]",
            "uc",
            "sc",
            "us",
            "ul",
            "(dd > 1)",
            "u.c[1]",
            "(p == &a)",
            "(p ? *p : 3)",
            "(q ? *q : 3)",
            "(n ? n->v : 3)",
            "st",
        ];
        for cell in cells {
            let name = cell.trim_start_matches('(').split(['.', '[', ' ']).next().unwrap_or(cell);
            if uses(body, name) && self.rng.below(4) > 0 {
                let _ = writeln!(text, "sum = sum * 31 + (unsigned){cell};");
            }
        }
        text.push_str("sum = sum * 31 + (unsigned)(g + ga[1] + gs);\n");
        text
    }

    /// The whole text: declarations, the functions that `main` needs, and it.
    fn finish(&mut self, main: &str, is_whole: bool) -> String {
        let mut functions: Vec<(&str, String)> = Vec::new();
        let mut used = format!("{main} f0 f1");
        while let Some(template) = TEMPLATES.iter().find(|template| {
            uses(&used, template.name) && functions.iter().all(|(name, _)| *name != template.name)
        }) {
            let text = self.function(template);
            used.push_str(&text);
            functions.push((template.name, text));
        }
        let services = SERVICES.iter().filter(|(name, _)| uses(&used, name));
        let services: String = services.map(|(_, text)| *text).collect();
        let functions: String = functions.into_iter().map(|(_, text)| text).collect();
        let error = match is_whole && self.rng.below(2) == 0 {
            true => "void reach_error(void) { }\n",
            false => "extern void reach_error(void);\n",
        };
        let (members, globals) = (self.members(), self.globals());
        let declared = numbers::DECLARATIONS;
        format!("{HEAD}{members}{MIDDLE}{declared}{error}{globals}{services}{functions}{main}")
    }

    fn function(&mut self, template: &Template) -> String {
        let one = self.pick(template.results);
        let early = self.fill(one, 1);
        let other = self.pick(template.results);
        let result = self.fill(other, 2);
        let body = self.body(&format!("return {early};"));
        let begin = self.fill(template.begin, 1);
        let all = format!("{begin}\n{body}return {result};\n");
        let declared = self.locals(&format!("{all}{early}"), template.params);
        format!("{}\n{{\n{}{declared}{all}}}\n", template.head, template.first)
    }

    fn shuffled<'t>(&mut self, all: &[&'t str]) -> Vec<&'t str> {
        let mut left = all.to_vec();
        let mut found = Vec::new();
        while !left.is_empty() {
            found.push(left.remove(self.rng.below(left.len() as u64) as usize));
        }
        found
    }

    fn members(&mut self) -> String {
        let (inner, outer) = (self.shuffled(&MEMBERS_IN), self.shuffled(&MEMBERS_OUT));
        format!(
            "struct in {{ {} }};\nunion un;\nstruct out {{ {} }};\n",
            inner.join(" "),
            outer.join(" ")
        )
    }

    fn globals(&mut self) -> String {
        let mut text = String::new();
        let skipped = if self.rng.below(2) == 0 { "short gs" } else { "unsigned char gs" };
        for global in GLOBALS.iter().filter(|global| !global.starts_with(skipped)) {
            let linkage = if self.rng.below(2) == 0 { "static " } else { "" };
            let _ = writeln!(text, "{linkage}{}", self.fill(global, 0));
        }
        text
    }
}

/// Whether a text has a word.
fn uses(text: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let is_member = before == Some('.') || text[..at].ends_with("->");
        !is_member && !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}
