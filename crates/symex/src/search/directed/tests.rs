//! Cut points and weights on functions in C.

use lydian_base::{Budget, CancelToken, EntityId as _, SourceMap};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest};
use lydian_inputs::{InputSpec, Settings, prepare};
use lydian_ir::{Program, Terminator};
use lydian_objective::annotate::{Request, annotate};
use lydian_objective::{Criterion, FunctionObjectives};
use lydian_smt::{BitBlastSolver, SatBackend};

use super::*;
use crate::exploration::explore::Engine;
use crate::{Config, Event, Search, Task};

struct Subject {
    program: Program,
    objectives: Vec<FunctionObjectives>,
    func: FuncId,
}

impl Subject {
    /// The uses of definitions in a program's functions; the last function is under test.
    fn of(text: &str, criterion: Criterion) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the source");
        let path = folder.path().join("test.c");
        std::fs::write(&path, text).expect("the source can be written");
        let request = LoadRequest::new(ParseRequest::new(path, CompileFlags::default()));
        let unit = lydian_frontend::load(&request).unwrap_or_else(|error| panic!("{error}"));
        let (mut program, map): (Program, SourceMap) = (unit.program, unit.source);
        prepare(&mut program);
        let request = Request::new(vec![criterion]);
        let annotated = program.defined().map(|(id, _)| {
            annotate(&program, &map, id, &request).expect("it has a body").objectives
        });
        let objectives: Vec<FunctionObjectives> = annotated.collect();
        let func = objectives.last().expect("there is a function").function;
        Self { program, objectives, func }
    }

    /// Calls `look` with an exploration by cut points that has not begun.
    fn with_engine<R>(&self, look: impl FnOnce(&mut Engine<'_, '_>, Box<State>) -> R) -> R {
        let spec = InputSpec::new(&self.program, Settings::default());
        let config = Config { search: Search::Cpgs, merge: false, ..Config::default() };
        let mut solver = BitBlastSolver::new(SatBackend::default());
        let budget = Budget::start(None, CancelToken::new());
        let mut sink = |_: Event| {};
        let task = Task {
            program: &self.program,
            func: self.func,
            spec: &spec,
            objectives: &self.objectives,
            known: &[],
            config: &config,
            budget: &budget,
        };
        let made = Engine::set_up(&task, &mut solver, &mut sink);
        let (mut engine, first) = made.expect("it can be explored");
        look(&mut engine, first.expect("there is a first state"))
    }

    /// The decision of a node that is a branch.
    fn decision(&self, graph: &Graph, node: NodeId) -> usize {
        for (func, function) in self.program.defined() {
            let blocks = function.body.iter().flat_map(|body| body.blocks.iter());
            for (id, block) in blocks {
                if graph.node(func, id, block.stmts.len()) == Some(node)
                    && let Terminator::Branch { origin: Some(origin), .. } = &block.term
                {
                    return origin.decision.index() + 100 * func.index();
                }
            }
        }
        panic!("node {node} is no branch of a decision")
    }

    /// The pair of a definition and a use with a description that contains all these parts.
    fn pair(&self, engine: &Engine<'_, '_>, parts: &[&str]) -> GoalId {
        let mut found = Vec::new();
        for goal in engine.goals.labels.followed() {
            let Aim::Sequence(position, sequence) = engine.goals.labels.aim(goal) else {
                continue;
            };
            let of = &self.objectives[position];
            let named = of.hypers.values().filter(|hyper| {
                let mut own = false;
                hyper.hyper.for_each_part(&mut |part| {
                    use lydian_objective::hyper::normal::Part;
                    own |= matches!(part, Part::Sequence(id) if id == sequence);
                });
                own
            });
            let texts: Vec<&str> = named.map(|hyper| &*hyper.text).collect();
            if texts.iter().any(|text| parts.iter().all(|part| text.contains(part))) {
                found.push((goal, texts));
            }
        }
        assert_eq!(found.len(), 1, "{parts:?}: {found:?}");
        found[0].0
    }
}

const WEIGH: &str = "\
int weigh(int kind, int n)
{
    int total;
    if (kind > 3)
        kind = 3;
    total = 10;
    while (n > 0) {
        total += kind;
        n--;
    }
    if (kind == 2) {
        if (n < 0)
            return total * 2;
        return 1;
    }
    return total;
}
";

#[test]
fn cut_points_of_a_pair_are_the_choices_that_all_ways_to_its_definition_and_its_use_pass() {
    let subject = Subject::of(WEIGH, Criterion::AllUses);
    subject.with_engine(|engine, _| {
        let goal = subject.pair(engine, &["total", "line 6", "line 13"]);
        let directed = engine.frontier.directed().expect("the search has a directed");
        let way =
            directed.way(goal, &engine.goals.labels, &engine.goals.hypers).expect("there is a way");
        let choices = |stage: &Stage| -> Vec<usize> {
            let points = stage.points().iter();
            points.map(|node| subject.decision(&directed.graph, *node)).collect()
        };
        let all: Vec<Vec<usize>> = way.stages.iter().map(choices).collect();
        // To the definition: that of `kind > 3`. To the use: `n > 0`, `kind == 2` and `n < 0`.
        let base = 100 * subject.func.index();
        assert_eq!(all, [vec![base], vec![base + 1, base + 2, base + 3]]);
    });
}

const CALLED_TWICE: &str = "\
static int limit(int x)
{
    if (x > 9)
        return 9;
    return x;
}
int area(int a, int b)
{
    if (a < 0)
        return 0;
    if (b == 1)
        return limit(a);
    return limit(a + b);
}
";

#[test]
fn cut_points_of_a_label_in_a_function_are_common_to_all_calls_of_it() {
    let subject = Subject::of(CALLED_TWICE, Criterion::Dc);
    subject.with_engine(|engine, _| {
        let inner = subject.objectives[0].function;
        let of_limit = |goal: &GoalId| {
            engine.goals.labels.sites_of(*goal).is_some_and(|(func, _)| func == inner)
        };
        let goal = engine.goals.labels.followed().find(of_limit).expect("it has labels");
        let directed = engine.frontier.directed().expect("the search has a directed");
        let way =
            directed.way(goal, &engine.goals.labels, &engine.goals.hypers).expect("there is a way");
        let points = way.stages[0].points().iter();
        let choices: Vec<usize> =
            points.map(|node| subject.decision(&directed.graph, *node)).collect();
        let base = 100 * subject.func.index();
        assert_eq!(choices, [base, base + 1], "`a < 0` and `b == 1`, whichever call it is");
    });
}

const REDEFINED: &str = "\
int f(int a, int b)
{
    int v = 1;
    if (a > 5) {
        v = 2;
    } else {
        b = b * 3;
        b = b + a;
        b = b ^ 5;
    }
    return v + b;
}
";

#[test]
fn a_nearer_state_that_must_redefine_the_variable_has_no_weight_for_the_pair() {
    let subject = Subject::of(REDEFINED, Criterion::AllUses);
    subject.with_engine(|engine, first| {
        let goal = subject.pair(engine, &["line 3", "line 11"]);
        engine.push(first);
        let state = engine.frontier.next(&engine.goals, 0, 0).expect("the first state waits");
        let directed = engine.frontier.guide_mut().expect("the search has a directed");
        directed.aim_at(goal, &engine.goals.labels, &engine.goals.hypers);
        engine.run_state(state);
        let states = engine.waiting();
        assert_eq!(states.len(), 2, "one for each side");
        let directed = engine.frontier.directed().expect("the search has a directed");
        let stage = directed.current.as_ref().expect("an objective has its turn").way.stages.last();
        let places = stage.expect("a pair has two labels").places();
        let all = directed.graph.distances(places, Extent::Activation, &FxHashSet::default());
        let near = |state: &State| all[directed.places(state).last().expect("a frame").0];
        let (nearer, other) = match near(&states[0]) < near(&states[1]) {
            true => (&states[0], &states[1]),
            false => (&states[1], &states[0]),
        };
        assert!(near(nearer) < near(other));
        assert_eq!(directed.weight(nearer, 1), 0);
        assert!(directed.weight(other, 1) > 0);
    });
}

#[test]
fn a_deeper_cut_point_outweighs_any_distance_and_then_near_and_fresh_states_come_first() {
    let subject = Subject::of(WEIGH, Criterion::AllUses);
    subject.with_engine(|engine, mut state| {
        let goal = subject.pair(engine, &["total", "line 6", "line 13"]);
        let directed = engine.frontier.guide_mut().expect("the search has a directed");
        directed.aim_at(goal, &engine.goals.labels, &engine.goals.hypers);
        let turn = directed.turn();
        let first = directed.weight(&state, 1);
        assert!(first > 0);
        state.course.steps += 50;
        let stale = directed.weight(&state, 1);
        assert!(stale < first, "instructions that are not new make it less");
        state.notes.search.progress = Progress { turn, stage: 0, passed: 1 };
        assert!(directed.weight(&state, 1) > first, "what was passed while it had its turn counts");
        state.notes.search.progress.turn += 1;
        assert_eq!(directed.weight(&state, 1), stale, "but not what was noted for another");
    });
}

#[test]
fn the_fraction_is_the_sum_of_the_inverse_squares() {
    let whole = ((1u64 << POINT_SHIFT) - 1) as f64;
    let of = |distance, since| fraction(distance, since) as f64 / whole * 2.0;
    for (distance, since) in [(1, 1), (2, 1), (2, 3), (40, 7)] {
        let (d, i) = (f64::from(distance), since as f64);
        assert!((of(distance, since) - (1.0 / (d * d) + 1.0 / (i * i))).abs() < 1e-9);
    }
    assert_eq!(fraction(0, 0), fraction(1, 1), "neither is less than one instruction");
}
