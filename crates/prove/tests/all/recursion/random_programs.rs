//! Random recursive programs, against all their runs in the interpreter.

use std::collections::BTreeSet;

use lydian_base::Rng;
use lydian_ir::interp::{self, Observer, Options, View};
use lydian_ir::test::{ANY_BYTES, ExternalResult, Image, Test};
use lydian_ir::{FuncId, Program, StmtId};
use lydian_prove::encode::GoalMeaning;
use lydian_prove::engines::Decision;
use lydian_smt::TermPool;

use super::{HEAD, decided};
use crate::encoding::common::load;

/// How many programs are tried.
const PROGRAMS: u64 = 24;
/// How many values each of the two inputs has.
const VALUES: u32 = 6;

struct Writer {
    rng: Rng,
}

impl Writer {
    fn pick<'t>(&mut self, all: &[&'t str]) -> &'t str {
        all[self.rng.below(all.len() as u64) as usize]
    }

    fn value(&mut self) -> String {
        let constant = self.rng.below(5).to_string();
        let variable = self.pick(&["n", "m", "g", "n + m", "m - 1", "n & 1", "2 * m"]);
        if self.rng.below(3) == 0 { constant } else { variable.to_owned() }
    }

    fn test(&mut self) -> String {
        let (a, b) = (self.value(), self.rng.below(6));
        format!("{a} {} {b}", self.pick(&["==", "!=", "<", ">"]))
    }

    /// A call whose first argument is less than that of the caller.
    fn call(&mut self) -> String {
        let function = self.pick(&["f", "f", "h"]);
        format!("{function}(n - {}, {})", self.rng.below(2) + 1, self.value())
    }

    fn statement(&mut self) -> String {
        match self.rng.below(11) {
            0 => format!("if ({}) return {};", self.test(), self.value()),
            1 => format!("g = {};", self.value()),
            2 => format!("if ({}) m = {};", self.test(), self.call()),
            3 => format!("m = {} + {};", self.call(), self.value()),
            4 => format!("if ({}) reach_error();", self.test()),
            5 => format!("for (int i = 0; i < (n & 1); i++) m += {};", self.value()),
            6 => format!(
                "{{ int x[2] = {{m, n}}; m = {}; g += x[n & 1] + x[{} & 1]; }}",
                self.call(),
                self.value()
            ),
            7 => format!(
                "{{ int y = {}; put(&y, {}); m = {} + y; }}",
                self.value(),
                self.value(),
                self.call()
            ),
            8 => format!("{{ int y = m; k(n - 1, {}); m = y; }}", self.pick(&["&y", "&m", "&g"])),
            _ => format!("m = {};", self.value()),
        }
    }

    fn body(&mut self) -> String {
        let count = self.rng.below(3) + 1;
        let statements: Vec<String> = (0..count).map(|_| self.statement()).collect();
        let end = self.call();
        let base = self.value();
        format!(
            "if (n <= 0) return {base}; {} return {end} + {};",
            statements.join(" "),
            self.value()
        )
    }

    fn program(&mut self) -> String {
        let (f, h) = (self.body(), self.body());
        let limit = VALUES;
        format!(
            "{HEAD} static int g;
             static int h(int n, int m);
             static void put(int *p, int v) {{ *p += v; }}
             static void k(int n, int *p) {{
                 int y = n;
                 if (n <= 0) {{ *p += 1; return; }}
                 k(n - 1, n & 1 ? &y : p);
                 *p += y;
             }}
             static int f(int n, int m) {{ {f} }}
             static int h(int n, int m) {{ {h} }}
             int main(void) {{
                 unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
                 if (a >= {limit} || b >= {limit}) return 0;
                 int r = f(a, b);
                 if (r == {}) reach_error();
                 if (g == {}) reach_error();
                 return 0;
             }}",
            self.rng.below(12),
            self.rng.below(5)
        )
    }
}

/// Notes which statements run.
#[derive(Default)]
struct Statements(BTreeSet<(FuncId, StmtId)>);

impl Observer for Statements {
    fn hears_statements(&self) -> bool {
        true
    }

    fn statement(&mut self, view: &View<'_>, stmt: StmtId) {
        self.0.insert((view.function(), stmt));
    }
}

/// The statements that some run comes to.
fn reached(program: &Program) -> BTreeSet<(FuncId, StmtId)> {
    let mut seen = Statements::default();
    for (a, b) in (0..VALUES).flat_map(|a| (0..VALUES).map(move |b| (a, b))) {
        let mut test = Test::calling("main", Vec::new());
        let input = |value: u32| ExternalResult {
            function: ANY_BYTES.to_owned(),
            result: Image { bytes: value.to_le_bytes().to_vec(), pointers: Vec::new() },
            object: None,
            writes: Vec::new(),
        };
        test.externals = vec![input(a), input(b)];
        let outcome = interp::run(program, &test, &Options::default(), &mut seen);
        assert!(outcome.is_ok(), "{:?}", outcome.err());
    }
    seen.0
}

#[test]
fn what_a_run_of_the_interpreter_comes_to_is_never_out_of_reach() {
    let (mut all, mut proved) = (0, 0);
    for seed in 0..PROGRAMS {
        let text = Writer { rng: Rng::new(seed) }.program();
        let unit = load(&text);
        let reached = reached(&unit.program);
        let mut pool = TermPool::new();
        let (encoded, decided) = decided(&mut pool, &unit.program, 2);
        for verdict in &decided.verdicts {
            let GoalMeaning::Error { function, call } = encoded.goals[verdict.goal] else {
                continue;
            };
            let is_reached = reached.contains(&(function, call));
            let is_proved = matches!(verdict.decision, Decision::Unreachable(_));
            assert!(!(is_reached && is_proved), "seed {seed}, {call}: {text}");
            all += usize::from(!is_reached);
            proved += usize::from(is_proved);
        }
    }
    assert!(proved * 4 > all, "{proved} of {all} are proved");
}
