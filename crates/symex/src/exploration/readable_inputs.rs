//! Readable inputs: values that a person would choose, where a path leaves a choice.
//!
//! A solver gives any value that satisfies the path condition, often a large one. Before a test is
//! given, each input that is large or no printable character is replaced, if possible. Candidates
//! are small and round numbers and letters. The value is then brought as near to zero as the path
//! allows, which gives the value at a border of the condition. No solver is asked. A value counts
//! if the facts of the path, and the conditions for the labels that the test claims, hold when they
//! are evaluated with it. So the test takes the same path and covers the same labels. Values that
//! are small already stay: they differ from each other, which helps to kill mutants.

use lydian_inputs::{CellPlan, WritePlan};
use lydian_ir::Type;
use lydian_smt::{Evaluator, Model, Sort, Term, Value};

use crate::State;
use crate::exploration::explore::Engine;

/// The most evaluations of terms for one test.
const MOST_EVALUATIONS: u32 = 4000;
/// Integers from 0 to this value are left as they are.
const SMALL: i64 = 128;
const INTEGERS: [u64; 9] = [2, 5, 1, 10, 0, 20, 100, 50, 1000];
/// Candidates where a value read as unsigned would be large.
const NEGATIVE: [i64; 5] = [-1, -2, -5, -10, -100];
const CHARACTERS: &[u8] = b"aAx0 1-.,z9_/";
const FLOATS: [f64; 10] = [1.0, 2.0, 0.5, 0.0, -1.0, 10.0, 0.25, -0.5, 100.0, 1000.0];

/// The search for one test's values.
struct ValueSearch<'a> {
    evaluator: Evaluator,
    model: Model,
    /// Terms that must stay true.
    kept: Vec<&'a Term>,
    left: u32,
}

impl Engine<'_, '_> {
    /// The state's model with more readable values, where these take the same path and cover the
    /// same labels.
    pub(crate) fn nicer_model(&mut self, state: &State) -> Model {
        let cells: Vec<CellPlan> = self.cells_of(state).filter(|cell| is_number(cell.ty)).collect();
        let model = self.near_model(state).unwrap_or_else(|| state.model.clone());
        let mut search = ValueSearch {
            evaluator: Evaluator::new(),
            model,
            kept: state.path.facts.iter().chain(&state.claims.promises).collect(),
            left: MOST_EVALUATIONS,
        };
        let all = search.kept.iter();
        if !all
            .clone()
            .all(|term| search.evaluator.holds(&self.machine.pool, &search.model, **term))
        {
            return state.model.clone();
        }
        for cell in cells {
            if let Some(var) = self.variable_of(&cell) {
                self.improve(&mut search, cell.ty, var);
            }
        }
        search.model
    }

    fn cells_of<'s>(&'s self, state: &'s State) -> impl Iterator<Item = CellPlan> + 's {
        let plan = &self.machine.plan;
        let args = plan.args.iter().flat_map(|arg| &arg.cells);
        let objects = plan.objects.iter().flat_map(|object| &object.cells);
        let globals = plan.globals.iter().flat_map(|global| &global.cells);
        let externals = state.inputs.externals.iter().flat_map(|call| {
            let written = call.writes.iter().flat_map(WritePlan::cells);
            let objects = call.objects.iter().flat_map(|object| &object.cells);
            call.cells.iter().chain(written).chain(objects)
        });
        args.chain(objects).chain(globals).chain(externals).copied()
    }

    /// The variable that holds the bits of an input. The bits of a float may have a variable of
    /// their own, so that a NaN can be any NaN.
    fn variable_of(&mut self, cell: &CellPlan) -> Option<Term> {
        if self.machine.pool.var_name(cell.value).is_some() {
            return Some(cell.value);
        }
        let vars = self.machine.pool.vars_of(cell.value);
        let [only] = vars[..] else { return None };
        let holds_bits = self.machine.pool.sort(only) == Sort::BitVec(cell.ty.bits());
        (holds_bits && cell.ty.is_float()).then_some(only)
    }

    /// Gives one input a readable value, if it needs one and has one.
    fn improve(&mut self, search: &mut ValueSearch<'_>, ty: Type, var: Term) {
        let Some(bits) = search.model.get(var).and_then(Value::to_u64) else { return };
        if is_nice(ty, bits) {
            return;
        }
        let kept: Vec<Term> = search
            .kept
            .iter()
            .map(|term| **term)
            .filter(|term| self.machine.pool.vars_of(*term).contains(&var))
            .collect();
        for candidate in candidates(ty) {
            if self.try_value(search, var, candidate, &kept) {
                return;
            }
        }
        let Type::Int(width @ 16..=64) = ty else { return };
        let mut far = signed(width, bits);
        if far < 0 {
            if self.improve_unsigned(search, width, var, &kept) {
                return;
            }
            for candidate in NEGATIVE {
                let mask = u64::MAX >> (64 - u32::from(width));
                if self.try_value(search, var, candidate as u64 & mask, &kept) {
                    return;
                }
            }
        }
        // Halves the distance to zero as long as the value suits; the original value always suits.
        let mut near = 0;
        while far.abs_diff(near) > 1 {
            let middle = near + (far - near) / 2;
            match self.try_value(search, var, middle as u64, &kept) {
                true => far = middle,
                false => near = middle,
            }
        }
    }

    /// Improves a value that looks negative but may be a large unsigned number: takes the least
    /// value that suits, if that is less than half of the type's maximum. Returns whether it took
    /// one.
    fn improve_unsigned(
        &mut self,
        search: &mut ValueSearch<'_>,
        width: u8,
        var: Term,
        kept: &[Term],
    ) -> bool {
        let before = search.model.clone();
        let Some(bits) = before.get(var).and_then(Value::to_u64) else { return false };
        let (mut near, mut far) = (0, bits);
        while far - near > 1 {
            let middle = near + (far - near) / 2;
            match self.try_value(search, var, middle, kept) {
                true => far = middle,
                false => near = middle,
            }
        }
        let positive = signed(width, far) >= 0;
        if !positive {
            search.model = before;
        }
        positive
    }

    /// Sets an input to a value if everything that depends on it still holds. Returns whether it
    /// did.
    fn try_value(
        &mut self,
        search: &mut ValueSearch<'_>,
        var: Term,
        bits: u64,
        kept: &[Term],
    ) -> bool {
        let cost = kept.len() as u32;
        if search.left < cost {
            return false;
        }
        search.left -= cost;
        let value = Value::from_u64(self.machine.pool.sort(var), bits);
        let model = search.model.with([(var, value)]);
        let holds =
            kept.iter().all(|term| search.evaluator.holds(&self.machine.pool, &model, *term));
        if holds {
            search.model = model;
        }
        holds
    }
}

const fn is_number(ty: Type) -> bool {
    matches!(ty, Type::Int(8 | 16 | 32 | 64) | Type::F32 | Type::F64)
}

const fn signed(width: u8, bits: u64) -> i64 {
    let shift = 64 - width as u32;
    ((bits << shift) as i64) >> shift
}

/// Whether a person might have chosen a value.
fn is_nice(ty: Type, bits: u64) -> bool {
    let round = |value: f64| value.abs() <= 1000.0 && (value * 4.0).fract() == 0.0;
    match ty {
        // A byte is a character, or a small number.
        Type::Int(8) => bits <= 16 || (0x20..0x7f).contains(&bits),
        Type::Int(width) => (0..=SMALL).contains(&signed(width, bits)),
        Type::F32 => round(f64::from(f32::from_bits(bits as u32))),
        _ => round(f64::from_bits(bits)),
    }
}

/// Readable values of a type, the best first.
fn candidates(ty: Type) -> Vec<u64> {
    match ty {
        Type::Int(8) => CHARACTERS.iter().map(|letter| u64::from(*letter)).collect(),
        Type::Int(_) => INTEGERS.to_vec(),
        Type::F32 => FLOATS.iter().map(|value| u64::from((*value as f32).to_bits())).collect(),
        _ => FLOATS.iter().map(|value| value.to_bits()).collect(),
    }
}
