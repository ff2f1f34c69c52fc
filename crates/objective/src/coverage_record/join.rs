//! Joins: searches for environments, one for each part of a guarded conjunction, that satisfy its
//! guard ([002] VII-A).
//!
//! Trying all combinations takes the product of their numbers. So the guard is split into its
//! conjuncts. Those about one part filter its environments. Parts that no conjunct relates are solved
//! separately. An equality between a part and those chosen before it finds the part's environments by
//! look-up; `a != b` of two truth values is an equality, too. The rest is tried, each conjunct as
//! soon as its parts are chosen, up to a limit of steps.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::Row;
use crate::hyper::{Formula, FormulaOp};

/// The most combinations that are tried for one conjunction.
const STEPS: u64 = 50_000_000;

/// Too many combinations would have to be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManySteps(pub(super) u64);

/// A column of a part's environments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// The part, by position.
    pub(super) part: usize,
    /// The position in its rows.
    pub(super) at: usize,
    /// Whether its values are truth values.
    pub(super) truth: bool,
}

/// A formula over columns.
#[derive(Clone, Debug)]
enum Code {
    Number(i128),
    Column(Column),
    Unknown,
    Not(Box<Code>),
    Negate(Box<Code>),
    Binary(FormulaOp, Box<Code>, Box<Code>),
}

/// A guard, ready to be solved.
#[derive(Clone, Debug)]
pub(super) struct Join {
    parts: usize,
    conjuncts: Vec<Conjunct>,
}

#[derive(Clone, Debug)]
struct Conjunct {
    code: Code,
    /// The parts that it is about, in order.
    parts: SmallVec<[usize; 4]>,
}

/// The rows that are chosen, by part.
type Chosen<'r> = [Option<&'r Row>];

impl Code {
    fn new(formula: &Formula, column: &impl Fn(&str) -> Option<Column>) -> Self {
        let code = |formula: &Formula| Box::new(Self::new(formula, column));
        match formula {
            Formula::Number(number) => Self::Number(*number),
            Formula::Name(name) => column(name).map_or(Self::Unknown, Self::Column),
            Formula::State(_) => Self::Unknown,
            Formula::Not(a) => Self::Not(code(a)),
            Formula::Negate(a) => Self::Negate(code(a)),
            Formula::Binary(op, a, b) => Self::Binary(*op, code(a), code(b)),
        }
    }

    fn parts(&self) -> SmallVec<[usize; 4]> {
        let mut found = SmallVec::new();
        self.collect_parts(&mut found);
        found.sort_unstable();
        found.dedup();
        found
    }

    fn collect_parts(&self, found: &mut SmallVec<[usize; 4]>) {
        match self {
            Self::Number(_) | Self::Unknown => {}
            Self::Column(column) => found.push(column.part),
            Self::Not(a) | Self::Negate(a) => a.collect_parts(found),
            Self::Binary(_, a, b) => {
                a.collect_parts(found);
                b.collect_parts(found);
            }
        }
    }

    fn value(&self, chosen: &Chosen<'_>) -> Option<i128> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Column(column) => chosen[column.part].map(|row| row[column.at]),
            Self::Unknown => None,
            Self::Not(a) => a.value(chosen).map(|a| i128::from(a == 0)),
            Self::Negate(a) => a.value(chosen).and_then(i128::checked_neg),
            Self::Binary(op, a, b) => op.apply(a.value(chosen), || b.value(chosen)),
        }
    }

    fn holds(&self, chosen: &Chosen<'_>) -> bool {
        self.value(chosen).is_some_and(|value| value != 0)
    }

    /// The two sides of an equality; `None` if it is no equality.
    fn equality(&self) -> Option<(Self, Self)> {
        match self {
            Self::Binary(FormulaOp::Eq, a, b) => Some(((**a).clone(), (**b).clone())),
            Self::Binary(FormulaOp::Ne, a, b) => match (&**a, &**b) {
                (Self::Column(x), Self::Column(y)) if x.truth && y.truth => {
                    Some(((**a).clone(), Self::Not(b.clone())))
                }
                _ => None,
            },
            _ => None,
        }
    }
}

impl Join {
    /// The conjunction of guards over this many parts. `column` gives the column of a name.
    pub(super) fn new(
        parts: usize,
        guards: &[&Formula],
        column: &impl Fn(&str) -> Option<Column>,
    ) -> Self {
        let conjuncts = guards.iter().flat_map(|guard| guard.conjuncts()).map(|conjunct| {
            let code = Code::new(conjunct, column);
            Conjunct { parts: code.parts(), code }
        });
        Self { parts, conjuncts: conjuncts.collect() }
    }

    /// Whether there is a row of each part such that the guard holds.
    pub(super) fn is_solvable(&self, rows: &[&[Row]]) -> Result<bool, TooManySteps> {
        let nothing = vec![None; self.parts];
        let constants = self.conjuncts.iter().filter(|conjunct| conjunct.parts.is_empty());
        if !constants.clone().all(|conjunct| conjunct.code.holds(&nothing)) {
            return Ok(false);
        }
        let candidates: Vec<Vec<&Row>> =
            rows.iter().enumerate().map(|(part, rows)| self.filtered(part, rows)).collect();
        if candidates.iter().any(Vec::is_empty) {
            return Ok(false);
        }
        let mut steps = 0;
        for component in self.components() {
            let mut search = Search { stages: self.stages(&component, &candidates), steps };
            if !search.explore(0, &mut vec![None; self.parts])? {
                return Ok(false);
            }
            steps = search.steps;
        }
        Ok(true)
    }

    /// The rows of a part that satisfy the conjuncts about it alone.
    fn filtered<'r>(&self, part: usize, rows: &'r [Row]) -> Vec<&'r Row> {
        let own: Vec<&Conjunct> =
            self.conjuncts.iter().filter(|conjunct| conjunct.parts.as_slice() == [part]).collect();
        let mut chosen = vec![None; self.parts];
        let mut fits = |row: &'r Row| {
            chosen[part] = Some(row);
            own.iter().all(|conjunct| conjunct.code.holds(&chosen))
        };
        rows.iter().filter(|row| fits(row)).collect()
    }

    /// The parts in groups that no conjunct relates. A part that no conjunct relates to another is
    /// left out, since any row of it will do.
    fn components(&self) -> Vec<Vec<usize>> {
        let mut group: Vec<usize> = (0..self.parts).collect();
        for conjunct in &self.conjuncts {
            for pair in conjunct.parts.windows(2) {
                let (from, to) = (group[pair[1]], group[pair[0]]);
                group.iter_mut().filter(|group| **group == from).for_each(|group| *group = to);
            }
        }
        let members = |of: usize| (0..self.parts).filter(|part| group[*part] == of).collect();
        let groups = (0..self.parts).map(members);
        groups.filter(|members: &Vec<usize>| members.len() > 1).collect()
    }

    /// The order in which a component's parts are chosen, and how.
    fn stages<'j, 'r>(
        &'j self,
        component: &[usize],
        candidates: &[Vec<&'r Row>],
    ) -> Vec<Stage<'j, 'r>> {
        let mut rest = component.to_vec();
        let mut before: Vec<usize> = Vec::new();
        let mut stages = Vec::new();
        while !rest.is_empty() {
            // A part with an equality to a chosen one is preferred; among these the one with the
            // fewest rows.
            let best = (0..rest.len()).min_by_key(|at| {
                let part = rest[*at];
                (!before.is_empty() && !self.has_equality(part, &before), candidates[part].len())
            });
            let part = rest.remove(best.unwrap_or(0));
            stages.push(self.stage(part, &before, &candidates[part]));
            before.push(part);
        }
        stages
    }

    fn has_equality(&self, part: usize, before: &[usize]) -> bool {
        self.conjuncts.iter().any(|conjunct| keyed(&conjunct.code, part, before).is_some())
    }

    fn stage<'j, 'r>(
        &'j self,
        part: usize,
        before: &[usize],
        candidates: &[&'r Row],
    ) -> Stage<'j, 'r> {
        let mut keys = Vec::new();
        let mut checks = Vec::new();
        for conjunct in &self.conjuncts {
            let is_known = |other: &usize| *other == part || before.contains(other);
            let ready = conjunct.parts.contains(&part) && conjunct.parts.iter().all(is_known);
            if !ready || conjunct.parts.len() < 2 {
                continue;
            }
            match keyed(&conjunct.code, part, before) {
                Some(key) => keys.push(key),
                None => checks.push(&conjunct.code),
            }
        }
        let parts = self.parts;
        let mut index: FxHashMap<Key, Vec<&'r Row>> = FxHashMap::default();
        let mut chosen = vec![None; parts];
        for row in candidates {
            chosen[part] = Some(*row);
            let key: Option<Key> = keys.iter().map(|(_, own)| own.value(&chosen)).collect();
            if let Some(key) = key {
                index.entry(key).or_default().push(row);
            }
        }
        Stage { part, keys: keys.into_iter().map(|(other, _)| other).collect(), index, checks }
    }
}

type Key = SmallVec<[i128; 4]>;

/// For an equality between a part and parts chosen before: the side of the others, and the part's
/// own.
fn keyed(code: &Code, part: usize, before: &[usize]) -> Option<(Code, Code)> {
    let (a, b) = code.equality()?;
    let is_own = |code: &Code| code.parts().as_slice() == [part];
    let is_before = |code: &Code| code.parts().iter().all(|other| before.contains(other));
    match () {
        () if is_own(&b) && is_before(&a) => Some((a, b)),
        () if is_own(&a) && is_before(&b) => Some((b, a)),
        () => None,
    }
}

/// The choice of a row of one part.
struct Stage<'j, 'r> {
    part: usize,
    /// The key, from the rows chosen before.
    keys: Vec<Code>,
    /// The rows by key.
    index: FxHashMap<Key, Vec<&'r Row>>,
    /// The conjuncts that must hold, too.
    checks: Vec<&'j Code>,
}

struct Search<'j, 'r> {
    stages: Vec<Stage<'j, 'r>>,
    steps: u64,
}

impl<'r> Search<'_, 'r> {
    fn explore(
        &mut self,
        at: usize,
        chosen: &mut Vec<Option<&'r Row>>,
    ) -> Result<bool, TooManySteps> {
        let Some(stage) = self.stages.get(at) else { return Ok(true) };
        let key: Option<Key> = stage.keys.iter().map(|key| key.value(chosen)).collect();
        let part = stage.part;
        let count = key.as_ref().and_then(|key| stage.index.get(key)).map_or(0, Vec::len);
        for position in 0..count {
            self.steps += 1;
            if self.steps > STEPS {
                return Err(TooManySteps(STEPS));
            }
            let stage = &self.stages[at];
            let rows = key.as_ref().and_then(|key| stage.index.get(key));
            chosen[part] = rows.map(|rows| rows[position]);
            if stage.checks.iter().all(|check| check.holds(chosen))
                && self.explore(at + 1, chosen)?
            {
                return Ok(true);
            }
        }
        chosen[part] = None;
        Ok(false)
    }
}
