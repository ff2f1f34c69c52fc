//! Programs from C text, and runs of their systems on given inputs.

use std::collections::{BTreeMap, BTreeSet};

use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, Unit};
use lydian_ir::Program;
use lydian_prove::Semantics;
use lydian_prove::encode::{EncodeLimits, EncodeRequest, Encoded, Goals, Rules, encode};
use lydian_prove::system::{GoalId, PointId};
use lydian_smt::{Evaluator, Model, Term, TermPool, Value};

/// The most transitions of a run.
const MOST_STEPS: usize = 10_000;

/// Loads C text.
pub(crate) fn load(text: &str) -> Unit {
    load_with(text, &[])
}

/// Loads C text with flags for the compiler.
pub(crate) fn load_with(text: &str, flags: &[&str]) -> Unit {
    let dir = tempfile::tempdir().expect("a directory for the source");
    let path = dir.path().join("test.c");
    std::fs::write(&path, text).expect("the source can be written");
    let flags: Vec<String> = flags.iter().map(|flag| (*flag).to_owned()).collect();
    let flags = CompileFlags::new(&flags, &path).expect("flags that are known");
    let request = LoadRequest::new(ParseRequest::new(path, flags));
    let unit = lydian_frontend::load(&request).unwrap_or_else(|error| panic!("{error}"));
    let missing: Vec<_> = unit.diagnostics.iter().map(|found| &found.message).collect();
    assert!(missing.is_empty(), "{missing:?}");
    unit
}

/// A program's system.
pub(crate) fn encoded(pool: &mut TermPool, program: &Program, entry: &str) -> Encoded {
    encoded_for(pool, program, entry, Goals { errors: true, ..Goals::default() })
}

/// The request for a program's errors.
pub(crate) fn request_for<'a>(program: &'a Program, entry: &str) -> EncodeRequest<'a> {
    EncodeRequest {
        program,
        entry: program.function_named(entry).expect("the function exists"),
        whole: entry == "main",
        goals: Goals { errors: true, ..Goals::default() },
        semantics: Semantics::default(),
        rules: Rules { allocation_succeeds: true, ..Rules::default() },
        limits: EncodeLimits::default(),
        time: None,
    }
}

/// A program's system for some goals.
pub(crate) fn encoded_for(
    pool: &mut TermPool,
    program: &Program,
    entry: &str,
    goals: Goals<'_>,
) -> Encoded {
    let request = EncodeRequest { goals, ..request_for(program, entry) };
    encode(pool, &request).unwrap_or_else(|error| panic!("{error}"))
}

/// What a run of a system did.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) goals: BTreeSet<GoalId>,
    pub(crate) steps: usize,
    /// How many inputs were read.
    pub(crate) inputs: usize,
}

/// Runs a system: inputs that tests list have the given values, all others are zero.
pub(crate) fn run(pool: &TermPool, encoded: &Encoded, inputs: &[u64]) -> Run {
    let system = &encoded.system;
    let mut evaluator = Evaluator::new();
    let mut state: Vec<Value> = {
        let model = Model::new();
        system.initial.iter().map(|term| evaluator.eval(pool, &model, *term)).collect()
    };
    let (mut point, mut run) = (system.entry, Run::default());
    while run.steps < MOST_STEPS {
        let model =
            step_model(pool, encoded, (point, &state), &inputs[run.inputs.min(inputs.len())..]);
        for (id, goal) in system.goals.iter() {
            let mut approaches = goal.approaches.iter().filter(|approach| approach.from == point);
            if approaches.any(|approach| evaluator.holds(pool, &model, approach.condition)) {
                run.goals.insert(id);
            }
        }
        let mut taken = system.from(point).filter(|t| evaluator.holds(pool, &model, t.guard));
        let transition = taken.next();
        assert!(taken.next().is_none(), "two transitions of one run hold");
        let read = encoded.inputs[point].iter();
        run.inputs += read.filter(|read| evaluator.holds(pool, &model, read.condition)).count();
        let Some(transition) = transition else { return run };
        run.steps += 1;
        state = transition.next.iter().map(|t| evaluator.eval(pool, &model, *t)).collect();
        point = transition.to;
    }
    panic!("the run does not end")
}

/// The values of variables and inputs for the paths from a point.
fn step_model(
    pool: &TermPool,
    encoded: &Encoded,
    (point, state): (PointId, &[Value]),
    inputs: &[u64],
) -> Model {
    let symbols = encoded.system.variables.values().map(|variable| variable.symbol);
    let mut values: BTreeMap<Term, Value> = symbols.zip(state.iter().cloned()).collect();
    let mut inputs = inputs.iter();
    let mut evaluator = Evaluator::new();
    for read in &encoded.inputs[point] {
        let model = Model::from_values(values.clone().into_iter().collect());
        if evaluator.holds(pool, &model, read.condition) {
            let input = inputs.next().copied().unwrap_or(0);
            values.insert(read.symbol, Value::from_u64(pool.sort(read.symbol), input));
        }
    }
    Model::from_values(values.into_iter().collect())
}
