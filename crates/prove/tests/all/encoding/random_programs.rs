//! Random programs of loops, arrays, structs, pointers and calls, against the interpreter.

use lydian_base::Rng;

use super::against_the_interpreter::check;

/// How many programs are tried.
const PROGRAMS: u64 = 40;

/// The types and variables that all programs have.
const DECLARATIONS: &str = "
struct s { int a; unsigned char b; short c; struct s *next; };
struct t { short c[3]; int d; };
static int g = 3;
static short ga[5] = {1, -2, 3};
static struct s gs[3] = {{7, 200, 1, &gs[1]}, {-1}};
static struct t gt[2];
static int pick(int n, int *p) { if (n & 1) { *p += n; return g; } g ^= n; return *p; }
static struct s mix(struct s x, int n) { x.a += n; x.c = (short)n; return x; }
";

/// Writes the statements of a function.
struct Writer {
    rng: Rng,
    text: String,
    loops: u32,
}

impl Writer {
    fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.rng.below(all.len() as u64) as usize]
    }

    /// An index that lies inside of five elements, most of the time.
    fn index(&mut self, depth: u32) -> String {
        let value = self.expr(depth);
        match self.rng.below(12) {
            0 => format!("({value} & 7)"),
            _ => format!("(unsigned)({value}) % 5"),
        }
    }

    fn place(&mut self, depth: u32) -> String {
        match self.rng.below(9) {
            0 => format!("arr[{}]", self.index(depth)),
            1 => format!("ga[{}]", self.index(depth)),
            2 => format!("gs[(unsigned)({}) % 3].c", self.expr(depth)),
            3 => "*p".to_owned(),
            4 => "q->a".to_owned(),
            5 => "q->b".to_owned(),
            6 => format!("gt[{} & 1].c[{} & 1]", self.expr(depth), self.expr(depth)),
            7 => "g".to_owned(),
            _ => self.pick(&["a", "b", "c", "s.a", "s.b", "t.c[2]", "gt[1].d"]).to_owned(),
        }
    }

    fn expr(&mut self, depth: u32) -> String {
        if depth == 0 || self.rng.below(5) == 0 {
            return match self.rng.below(3) {
                0 => format!("{}", self.rng.below(20) as i64 - 6),
                1 => self.pick(&["a", "b", "c", "g", "i"]).to_owned(),
                _ => self.place(0),
            };
        }
        let (x, y) = (self.expr(depth - 1), self.expr(depth - 1));
        match self.rng.below(8) {
            0 => format!("({x} << ({y} & 7))"),
            1 => format!("({x} / ({y} | 1))"),
            2 => format!("({x} % ({y} | 2))"),
            3 => format!("({x} < {y} && {x} != 4 ? {y} : {x} ^ 3)"),
            4 => format!("(int)((unsigned){x} >> ({y} & 15))"),
            _ => format!("({x} {} {y})", self.pick(&["+", "-", "*", "&", "|", "^", "<", "=="])),
        }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn block(&mut self, depth: u32) {
        for _ in 0..=self.rng.below(3) {
            self.stmt(depth);
        }
    }

    fn stmt(&mut self, depth: u32) {
        match if depth == 0 { self.rng.below(7) } else { self.rng.below(11) } {
            0 => self.line("q = &gs[(unsigned)a % 3];"),
            1 => {
                let to = self.pick(&[
                    "&a",
                    "&b",
                    "&arr[(unsigned)c % 5]",
                    "&gs[1].a",
                    "&s.a",
                    "arr + 2",
                ]);
                self.line(&format!("p = {to};"));
            }
            2 => {
                let n = self.expr(1);
                self.line(&format!("c = pick({n}, p);"));
            }
            3 => {
                let text = self.pick(&[
                    "s = *q;",
                    "gt[a & 1] = t;",
                    "t = gt[0];",
                    "gs[2] = s;",
                    "s = mix(s, b);",
                    "if (q->next) q = q->next;",
                    "memset(&s, 0, sizeof s);",
                    "memcpy(&gs[1], &s, sizeof s);",
                ]);
                self.line(text);
            }
            4..=6 => {
                let (to, value) = (self.place(1), self.expr(3));
                let op = self.pick(&["=", "=", "+=", "^="]);
                self.line(&format!("{to} {op} {value};"));
            }
            7 | 8 => {
                let test = self.expr(2);
                self.line(&format!("if ({test}) {{"));
                self.block(depth - 1);
                self.line("} else {");
                self.block(depth - 1);
                self.line("}");
            }
            9 if self.loops > 0 => {
                self.loops -= 1;
                let (bound, leave) = (1 + self.rng.below(4), self.expr(1));
                self.line(&format!("for (int k = 0; k < {bound}; k++) {{ i++;"));
                self.block(depth - 1);
                self.line(&format!("if (({leave}) == 5) break;"));
                self.line("}");
            }
            _ => {
                let value = self.expr(2);
                self.line(&format!("switch (({value}) & 3) {{ case 0:"));
                self.block(depth - 1);
                self.line("case 2: b++; break; default:");
                self.block(depth - 1);
                self.line("}");
            }
        }
    }
}

#[test]
fn random_programs_do_what_the_interpreter_does() {
    let mut returned = 0;
    for seed in 0..PROGRAMS {
        let mut writer = Writer { rng: Rng::new(seed), text: String::new(), loops: 3 };
        for _ in 0..6 {
            writer.stmt(3);
        }
        let program = format!(
            "{DECLARATIONS}
             int run(void) {{
                 int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int(), c = 1, i = 0;
                 int arr[5] = {{1, 2, 3, 4, 5}}, *p = &a;
                 struct s s = {{1, 2, 3, 0}}, *q = &gs[0];
                 struct t t = {{{{4, 5}}}};
                 {}
                 return a + b * 3 + c * 5 + i + arr[1] * 7 + arr[4] + s.a + s.b + s.c + *p + t.c[2] + t.d
                     + gs[1].a + gs[2].c + gt[1].c[1] + g + ga[1];
             }}",
            writer.text
        );
        returned += check(&program, &[&[0, 1], &[7, 0xffff_fffe], &[1000, 3]]);
    }
    assert!(returned as u64 > 2 * PROGRAMS, "{returned} runs return");
}
