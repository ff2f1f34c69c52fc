//! Lemmas: cubes that no run comes to within so many transitions.
//!
//! The frame of a point and a level excludes the cubes of all lemmas of that level and of higher ones.
//! Level 0 has the entry only. A frame is never too small: it has all states that runs reach within its
//! level.

use lydian_base::EntityId as _;
use lydian_smt::{Answer, Model, Term, TermPool};

use crate::engines::invariants::{Consecution, Invariants};
use crate::engines::queries::Queries;
use crate::system::{PointId, System};

/// Literals over predicates, in order.
pub(super) type Cube = Vec<Term>;

/// The literals of a cube that may fail to be removed.
const MOST_FAILURES: usize = 4;

/// An excluded cube.
struct Lemma {
    point: PointId,
    cube: Cube,
    level: usize,
    /// That the state is not in the cube.
    clause: Term,
}

/// The answer of whether a cube can be excluded.
pub(super) enum Block {
    /// No state of the frames before leads there, nor to this larger cube.
    Blocked(Cube),
    /// A transition leads there from a state in this model.
    From(usize, Model),
    /// A query had no answer.
    Unknown,
}

/// All lemmas.
pub(super) struct Frames<'s> {
    system: &'s System,
    consecution: Consecution<'s>,
    invariants: Invariants,
    lemmas: Vec<Lemma>,
}

impl<'s> Frames<'s> {
    pub(super) fn new(system: &'s System) -> Self {
        Self {
            system,
            consecution: Consecution::new(system),
            invariants: vec![Vec::new(); system.points.len()],
            lemmas: Vec::new(),
        }
    }

    /// Takes invariants for granted in all frames.
    pub(super) fn assume(&mut self, invariants: &Invariants) {
        self.invariants.clone_from(invariants);
    }

    /// What holds in the frame of a point and a level.
    pub(super) fn premises(&self, pool: &TermPool, point: PointId, level: usize) -> Vec<Term> {
        if point == self.system.entry {
            return Vec::new();
        }
        if level == 0 {
            return vec![pool.ff()];
        }
        let lemmas = self.lemmas.iter().filter(|l| l.point == point && l.level >= level);
        let known = self.invariants[point.index()].iter().copied();
        known.chain(lemmas.map(|lemma| lemma.clause)).collect()
    }

    /// Whether a lemma excludes all states of a cube from a frame.
    pub(super) fn is_blocked(&self, point: PointId, cube: &Cube, level: usize) -> bool {
        let mut lemmas = self.lemmas.iter().filter(|l| l.point == point && l.level >= level);
        lemmas.any(|lemma| is_subset(&lemma.cube, cube))
    }

    /// Whether some transition leads into a cube from the frames of the level before, but for states
    /// of the cube itself.
    pub(super) fn block(
        &mut self,
        queries: &mut Queries<'_>,
        point: PointId,
        cube: &Cube,
        level: usize,
    ) -> Block {
        let system = self.system;
        let mut needed: Cube = Vec::new();
        for (index, transition) in system.transitions.iter().enumerate() {
            if transition.to != point || (level < 2 && transition.from != system.entry) {
                continue;
            }
            let mut query = self.premises(queries.pool, transition.from, level - 1);
            query.push(transition.guard);
            if transition.from == point {
                query.push(negation(queries.pool, cube));
            }
            let mut ends = Vec::new();
            for literal in cube {
                ends.push(self.consecution.after(queries.pool, index, *literal));
            }
            query.extend(&ends);
            match queries.check(&query) {
                Answer::Sat(model) => return Block::From(index, model),
                Answer::Unknown(_) => return Block::Unknown,
                Answer::Unsat { core } => {
                    let literals = cube.iter().zip(&ends);
                    let is_needed =
                        |end: &Term| core.as_ref().is_none_or(|core| core.contains(end));
                    needed.extend(literals.filter(|(_, end)| is_needed(end)).map(|(l, _)| *l));
                }
            }
        }
        needed.sort_unstable();
        needed.dedup();
        Block::Blocked(needed)
    }

    /// Adds a lemma for a cube that is blocked in a level: for a cube as large, and a level as high, as
    /// can be shown with few queries.
    pub(super) fn learn(
        &mut self,
        queries: &mut Queries<'_>,
        point: PointId,
        cube: Cube,
        (mut level, frontier): (usize, usize),
    ) {
        let cube = self.generalised(queries, point, cube, level);
        while level < frontier && !queries.expired() {
            match self.block(queries, point, &cube, level + 1) {
                Block::Blocked(_) => level += 1,
                _ => break,
            }
        }
        let clause = negation(queries.pool, &cube);
        self.lemmas.retain(|lemma| {
            lemma.point != point || lemma.level > level || !is_subset(&cube, &lemma.cube)
        });
        self.lemmas.push(Lemma { point, cube, level, clause });
    }

    /// A larger cube that is still blocked.
    fn generalised(
        &mut self,
        queries: &mut Queries<'_>,
        point: PointId,
        mut cube: Cube,
        level: usize,
    ) -> Cube {
        let mut failures = 0;
        let literals = cube.clone();
        for literal in literals {
            if failures >= MOST_FAILURES || queries.expired() {
                break;
            }
            if !cube.contains(&literal) {
                continue;
            }
            let mut trial = cube.clone();
            trial.retain(|other| *other != literal);
            match self.block(queries, point, &trial, level) {
                Block::Blocked(smaller) => cube = smaller,
                _ => failures += 1,
            }
        }
        cube
    }

    /// Raises lemmas to the next level where they hold there, too. Gives the lemmas of a level that all
    /// transitions preserve, if there is one up to the frontier.
    pub(super) fn propagate(
        &mut self,
        queries: &mut Queries<'_>,
        frontier: usize,
    ) -> Option<Invariants> {
        for level in 1..=frontier {
            for at in 0..self.lemmas.len() {
                if self.lemmas[at].level != level || queries.expired() {
                    continue;
                }
                let (point, cube) = (self.lemmas[at].point, self.lemmas[at].cube.clone());
                if matches!(self.block(queries, point, &cube, level + 1), Block::Blocked(_)) {
                    self.lemmas[at].level += 1;
                }
            }
            if !self.lemmas.iter().any(|lemma| lemma.level == level) {
                return Some(self.above(level));
            }
        }
        None
    }

    /// The clauses of all lemmas of higher levels.
    fn above(&self, level: usize) -> Invariants {
        let mut found = vec![Vec::new(); self.system.points.len()];
        for lemma in self.lemmas.iter().filter(|lemma| lemma.level > level) {
            found[lemma.point.index()].push(lemma.clause);
        }
        found
    }
}

/// That a state is not in a cube.
fn negation(pool: &mut TermPool, cube: &Cube) -> Term {
    let all = pool.and_all(cube.iter().copied());
    pool.not(all)
}

/// Whether all literals of a cube are in another. Both are sorted.
fn is_subset(small: &Cube, large: &Cube) -> bool {
    let mut rest = large.iter();
    small.iter().all(|literal| rest.any(|other| other == literal))
}
