//! The check of objectives beside runs of the interpreter: random labels and sequences of a program with few
//! runs. An argument that looks at all runs stands if and only if none of them covers the objective.

use lydian_base::{EntityId as _, Rng};
use lydian_check::Outcome;
use lydian_ir::interp::{Observer, Options, View, run};
use lydian_ir::test::{ExternalResult, Image, Test};
use lydian_ir::{BlockId, StmtId, text};
use serde_json::{Value, json};

use crate::common::{Example, Parts, example};

/// How many objectives are tried.
const OBJECTIVES: usize = 60;
/// The inputs: three bits decide the ways of the three turns.
const INPUTS: u32 = 8;

/// A loop of three turns, each of which goes one of two ways. `e18` says that two turns were made.
fn turns() -> Example {
    let functions = r#"function f2 "main" ty6 external ()
{
  params ()
  local v0 "i" ty3 var register i32
  local v1 "in" ty3 var register i32
  entry bb0
  bb0:
    s0: v0 = e0:0:i32
    s1: call f1 ty5 () () -> v1
    goto bb1
  bb1:
    branch e3:lt.u(v0, 3:i32) ? bb2 : bb6
  bb2:
    branch e8:eq(and(v1, 1:i32), 0:i32) ? bb3 : bb4
  bb3:
    s2: v0 = e11:add.u(v0, 1:i32)
    goto bb5
  bb4:
    s3: v0 = e14:add.u(v0, 1:i32)
    goto bb5
  bb5:
    s4: v1 = shr.u(v1, 1:i32)
    goto bb1
  bb6:
    s5: v1 = 7:i32
    return 0:i32
  expr e22:eq(v0, 2:i32)
}
"#;
    let parts = Parts {
        main: 2,
        goal: 0,
        instances: json!([{"function": 2, "name": "main"}]),
        objects: json!([]),
        state: json!([]),
        points: json!([
            {"instance": 0, "block": 0, "current": [], "invariants": []},
            {"instance": 0, "block": 1, "current": [], "invariants": []},
        ]),
    };
    let mut example = example(functions, parts);
    let certificate = example.certificate.as_object_mut().expect("an object");
    certificate.remove("goal");
    certificate.insert("argument".to_owned(), json!({"kind": "exhaustion", "depth": 7}));
    example
}

/// A place of the program, as a run passes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    Entry,
    Block(u32),
    Stmt(u32),
}

impl Place {
    fn json(self) -> Value {
        match self {
            Self::Entry => json!("entry"),
            Self::Block(block) => json!({"block": block}),
            Self::Stmt(stmt) => json!({"statement": stmt}),
        }
    }

    fn any(rng: &mut Rng) -> Self {
        match rng.next_u64() % 14 {
            0 => Self::Entry,
            at @ 1..=7 => Self::Block(at as u32 - 1),
            at => Self::Stmt(at as u32 - 8),
        }
    }
}

/// The places that a run passes, each with the number of turns before it; none before the first statement.
#[derive(Default)]
struct Passed {
    all: Vec<(Place, Option<u32>)>,
    turns: Option<u32>,
}

impl Observer for Passed {
    fn hears_statements(&self) -> bool {
        true
    }

    fn entry(&mut self, _: &View<'_>) {
        self.all.push((Place::Entry, None));
    }

    fn block(&mut self, _: &View<'_>, block: BlockId) {
        self.all.push((Place::Block(block.index() as u32), self.turns));
    }

    fn statement(&mut self, _: &View<'_>, stmt: StmtId) {
        let stmt = stmt.index() as u32;
        self.all.push((Place::Stmt(stmt), self.turns));
        match stmt {
            0 => self.turns = Some(0),
            2 | 3 => self.turns = self.turns.map(|turns| turns + 1),
            _ => {}
        }
    }
}

/// A label: its place, and whether it asks for two turns.
#[derive(Clone, Copy, Debug)]
struct Label {
    place: Place,
    after_two: bool,
}

impl Label {
    fn any(rng: &mut Rng) -> Self {
        let place = Place::any(rng);
        // There is no count yet at the beginning.
        let is_early = matches!(place, Place::Entry | Place::Block(0) | Place::Stmt(0));
        Self { place, after_two: !is_early && rng.next_u64().is_multiple_of(3) }
    }

    fn is_covered(self, (place, turns): (Place, Option<u32>)) -> bool {
        place == self.place && (!self.after_two || turns == Some(2))
    }

    fn json(self, event: usize) -> Value {
        let predicate = match self.after_two {
            true => json!({"expression": 22}),
            false => json!({"constant": true}),
        };
        json!({"event": event, "predicate": predicate})
    }
}

/// A sequence: labels, and the places that must not be between each two of them.
#[derive(Clone, Debug)]
struct Sequence {
    labels: Vec<Label>,
    ends: Vec<Vec<Place>>,
}

impl Sequence {
    fn any(rng: &mut Rng) -> Self {
        let count = 1 + rng.next_u64() as usize % 3;
        let labels = (0..count).map(|_| Label::any(rng)).collect();
        let mut ends = Vec::new();
        for _ in 1..count {
            let places = rng.next_u64() % 4;
            ends.push((0..places).map(|_| Place::any(rng)).collect());
        }
        Self { labels, ends }
    }

    /// Whether a run covers it, by looking at all choices of places for its labels.
    fn is_covered(&self, passed: &[(Place, Option<u32>)]) -> bool {
        let covers = |label: usize, at: usize| self.labels[label].is_covered(passed[at]);
        let mut reached: Vec<usize> = (0..passed.len()).filter(|at| covers(0, *at)).collect();
        for label in 1..self.labels.len() {
            let ends = &self.ends[label - 1];
            let is_next = |at: usize| {
                let is_clear = |from: &usize| {
                    passed[from + 1..at].iter().all(|(place, _)| !ends.contains(place))
                };
                reached.iter().any(|from| *from < at && is_clear(from))
            };
            reached = (0..passed.len()).filter(|at| covers(label, *at) && is_next(*at)).collect();
        }
        !reached.is_empty()
    }

    fn json(&self, scope: &str) -> Value {
        let mut places: Vec<Place> = self.labels.iter().map(|label| label.place).collect();
        places.extend(self.ends.iter().flatten());
        let mut events: Vec<Place> = Vec::new();
        for place in places {
            if !events.contains(&place) {
                events.push(place);
            }
        }
        let number = |place: &Place| events.iter().position(|known| known == place).unwrap();
        let last = self.labels.len() - 1;
        let flags = (0..last).map(|at| {
            let label = self.labels[at];
            json!({
                "after": at.checked_sub(1),
                "label": label.json(number(&label.place)),
                "ends": self.ends[at].iter().map(number).collect::<Vec<usize>>(),
                "scope": scope,
            })
        });
        let goal = self.labels[last];
        json!({
            "short_circuit": false,
            "events": events.iter().map(|place| {
                json!({"function": 2, "name": "main", "at": [place.json()]})
            }).collect::<Vec<Value>>(),
            "flags": flags.collect::<Vec<Value>>(),
            "goals": [{
                "of": [],
                "after": last.checked_sub(1),
                "label": goal.json(number(&goal.place)),
            }],
        })
    }
}

#[test]
fn an_argument_over_all_runs_stands_where_and_only_where_none_covers_the_objective() {
    let example = turns();
    let program = text::parse(&example.text).expect("it is a program");
    let runs: Vec<Vec<(Place, Option<u32>)>> = (0..INPUTS)
        .map(|input| {
            let result = Image { bytes: input.to_le_bytes().to_vec(), pointers: Vec::new() };
            let externals = vec![ExternalResult::new("__VERIFIER_nondet_uint", result)];
            let test = Test { externals, ..Test::calling("main", Vec::new()) };
            let mut passed = Passed::default();
            run(&program, &test, &Options::default(), &mut passed).expect("it is a test");
            passed.all
        })
        .collect();
    assert!(runs.iter().all(|passed| passed.len() > 20), "{runs:?}");
    let mut rng = Rng::new(7);
    let mut counts = [0, 0];
    for _ in 0..OBJECTIVES {
        let sequence = Sequence::any(&mut rng);
        let is_covered = runs.iter().any(|passed| sequence.is_covered(passed));
        let scope = if rng.next_u64().is_multiple_of(2) { "run" } else { "activation" };
        let outcome = example.changed(|certificate| {
            certificate["objectives"] = sequence.json(scope);
        });
        match is_covered {
            true => {
                assert!(matches!(outcome, Outcome::Refuted { .. }), "{sequence:?}: {outcome:?}")
            }
            false => assert_eq!(outcome, Outcome::Checked, "{sequence:?}"),
        }
        counts[usize::from(is_covered)] += 1;
    }
    assert!(counts.iter().all(|count| *count > OBJECTIVES / 8), "{counts:?}");
}
