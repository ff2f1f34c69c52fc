//! Differences between numbers: bounds `x - y <= k` on pairs of variables, closed under addition.
//!
//! This is the zone domain of Miné ("A New Numerical Abstract Domain Based on Difference-Bound
//! Matrices", 2001), kept as a sparse table: most pairs of a function's registers have no bound, or
//! only those that their intervals give. Variables are whole numbers of any size. The caller gives
//! them their meaning, and ensures that nothing wraps if one is another plus a constant.

use std::collections::{BTreeMap, BTreeSet};

/// The most bounds of a table: with more of them, no further pair gets one.
const MOST: usize = 256;
/// Bounds of a greater amount are dropped, since they exclude next to nothing.
const LARGEST: i128 = 1 << 66;

/// Bounds on the differences of some variables. The table is closed: if it has `x - y <= a` and `y -
/// z <= b`, it has a bound on `x - z` of `a + b` or less, unless there was no room for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Differences<V: Ord> {
    bounds: BTreeMap<(V, V), i128>,
}

impl<V: Ord> Default for Differences<V> {
    fn default() -> Self {
        Self { bounds: BTreeMap::new() }
    }
}

impl<V: Ord + Copy> Differences<V> {
    /// The upper bound of `x - y`, if there is one.
    pub(super) fn get(&self, x: V, y: V) -> Option<i128> {
        if x == y { Some(0) } else { self.bounds.get(&(x, y)).copied() }
    }

    /// All bounds, each with its pair.
    pub(super) fn iter(&self) -> impl Iterator<Item = ((V, V), i128)> + '_ {
        self.bounds.iter().map(|(pair, most)| (*pair, *most))
    }

    /// Adds `x - y <= most` and the bounds that follow. Returns false if nothing satisfies all
    /// bounds; the table must then be dropped.
    #[must_use]
    pub(super) fn add(&mut self, x: V, y: V, most: i128) -> bool {
        if self.get(x, y).is_some_and(|known| known <= most) {
            return true;
        }
        let to_x = self.iter().filter(|((_, to), _)| *to == x).map(|((from, _), k)| (from, k));
        let from_y = self.iter().filter(|((from, _), _)| *from == y).map(|((_, to), k)| (to, k));
        let before: Vec<(V, i128)> = to_x.chain([(x, 0)]).collect();
        let after: Vec<(V, i128)> = from_y.chain([(y, 0)]).collect();
        for (from, first) in before {
            for (to, last) in &after {
                let sum = first + most + last;
                if from == *to {
                    if sum < 0 {
                        return false;
                    }
                    continue;
                }
                self.lower(from, *to, sum);
            }
        }
        true
    }

    /// Adds a bound if it is less than the present one.
    fn lower(&mut self, x: V, y: V, most: i128) {
        if most.abs() > LARGEST {
            return;
        }
        let is_full = self.bounds.len() >= MOST;
        match self.bounds.get_mut(&(x, y)) {
            Some(known) => *known = most.min(*known),
            None if is_full => {}
            None => _ = self.bounds.insert((x, y), most),
        }
    }

    /// Removes all bounds of a variable. Bounds that followed from them stay.
    pub(super) fn forget(&mut self, variable: V) {
        self.bounds.retain(|(x, y), _| *x != variable && *y != variable);
    }

    /// Removes all bounds of some variables. Bounds that followed from them stay.
    pub(super) fn forget_all(&mut self, are: impl Fn(V) -> bool) {
        self.bounds.retain(|(x, y), _| !are(*x) && !are(*y));
    }

    /// Increases a variable by an offset.
    pub(super) fn shift(&mut self, variable: V, offset: i128) {
        for ((x, y), most) in &mut self.bounds {
            if *x == variable {
                *most += offset;
            } else if *y == variable {
                *most -= offset;
            }
        }
        self.bounds.retain(|_, most| most.abs() <= LARGEST);
    }

    /// Keeps the bounds that hold in both of two states. If a pair has a bound in one table alone,
    /// `here` and `there` give the bound of the other state by its intervals, if any.
    pub(super) fn join(
        &mut self,
        others: &Self,
        here: impl Fn(V, V) -> Option<i128>,
        there: impl Fn(V, V) -> Option<i128>,
    ) {
        let pairs: BTreeSet<(V, V)> =
            self.bounds.keys().chain(others.bounds.keys()).copied().collect();
        let both = pairs.into_iter().filter_map(|(x, y)| {
            let mine = self.get(x, y).or_else(|| here(x, y))?;
            let theirs = others.get(x, y).or_else(|| there(x, y))?;
            Some(((x, y), mine.max(theirs)))
        });
        let both: BTreeMap<(V, V), i128> = both.take(MOST).collect();
        self.bounds = both;
    }

    /// Keeps the bounds that are not greater than in an earlier table.
    pub(super) fn widen(&mut self, before: &Self) {
        self.bounds.retain(|(x, y), most| before.get(*x, *y).is_some_and(|known| *most <= known));
    }
}

#[cfg(test)]
mod tests {
    use lydian_base::Rng;

    use super::*;

    const LOW: i128 = -2;
    const HIGH: i128 = 3;
    const VARIABLES: usize = 3;

    type State = [i128; VARIABLES];

    fn all_states() -> Vec<State> {
        let numbers = LOW..=HIGH;
        let pairs = numbers.clone().flat_map(|x| numbers.clone().map(move |y| (x, y)));
        pairs.flat_map(|(x, y)| numbers.clone().map(move |z| [x, y, z])).collect()
    }

    fn satisfies(state: &State, table: &Differences<usize>) -> bool {
        table.iter().all(|((x, y), most)| state[x] - state[y] <= most)
    }

    fn two(rng: &mut Rng) -> (usize, usize) {
        let x = rng.below(VARIABLES as u64) as usize;
        (x, (x + 1 + rng.below(VARIABLES as u64 - 1) as usize) % VARIABLES)
    }

    /// The bounds that intervals of a set of states give.
    fn implied(states: &[State], x: usize, y: usize) -> Option<i128> {
        let most = states.iter().map(|state| state[x]).max()?;
        Some(most - states.iter().map(|state| state[y]).min()?)
    }

    /// Random steps on a set of states and on a table.
    fn step(rng: &mut Rng, states: &mut Vec<State>, table: &mut Differences<usize>) {
        let (x, y) = two(rng);
        let offset = rng.below(5) as i128 - 2;
        match rng.below(4) {
            0 => {
                states.retain(|state| state[x] - state[y] <= offset);
                if !table.add(x, y, offset) {
                    assert_eq!(states, &Vec::<State>::new(), "nothing satisfies the bounds");
                }
            }
            1 => {
                states.iter_mut().for_each(|state| state[x] += offset);
                table.shift(x, offset);
            }
            2 => {
                states.iter_mut().for_each(|state| state[x] = state[y] + offset);
                table.forget(x);
                assert!(table.add(x, y, offset) && table.add(y, x, -offset));
            }
            _ => {
                let any = LOW..=HIGH;
                let all = states.iter().flat_map(|state| {
                    any.clone().map(move |value| {
                        let mut state = *state;
                        state[x] = value;
                        state
                    })
                });
                *states = all.collect();
                table.forget(x);
            }
        }
    }

    #[test]
    fn tables_hold_every_state_that_steps_and_joins_lead_to() {
        let mut rng = Rng::new(7);
        let (mut bounded, mut excluded) = (0, 0);
        for _ in 0..2_000 {
            let mut sides = Vec::new();
            for _ in 0..2 {
                let (mut states, mut table) = (all_states(), Differences::default());
                for _ in 0..5 {
                    step(&mut rng, &mut states, &mut table);
                    if states.is_empty() {
                        break;
                    }
                    assert!(states.iter().all(|state| satisfies(state, &table)), "{table:?}");
                }
                sides.push((states, table));
            }
            let (second, others) = sides.pop().expect("two sides");
            let (first, mut table) = sides.pop().expect("two sides");
            if first.is_empty() || second.is_empty() {
                continue;
            }
            let of = |states: &'_ [State]| {
                let states = states.to_vec();
                move |x, y| implied(&states, x, y)
            };
            table.join(&others, of(&first), of(&second));
            let both = first.iter().chain(&second);
            assert!(both.clone().all(|state| satisfies(state, &table)), "{table:?}");
            bounded += usize::from(table.iter().next().is_some());
            excluded += all_states().iter().filter(|state| !satisfies(state, &table)).count();
        }
        assert!(bounded > 500 && excluded > 10_000, "{bounded} tables, {excluded} states");
    }

    #[test]
    fn bounds_follow_from_one_another() {
        let mut table = Differences::default();
        assert!(table.add('x', 'y', -1) && table.add('y', 'z', 3));
        assert_eq!(table.get('x', 'z'), Some(2));
        table.forget('y');
        assert_eq!((table.get('x', 'z'), table.get('x', 'y')), (Some(2), None));
        table.shift('x', 2);
        assert_eq!(table.get('x', 'z'), Some(4));
        assert!(table.add('z', 'x', -4), "they can be equal to their bounds");
        assert!(!table.add('z', 'x', -5), "nothing is less");
    }

    #[test]
    fn a_bound_that_grows_is_widened_away() {
        let (mut before, mut now) = (Differences::default(), Differences::default());
        assert!(before.add('x', 'y', 1) && before.add('y', 'x', 5));
        assert!(now.add('x', 'y', 2) && now.add('y', 'x', 4) && now.add('x', 'z', 0));
        now.widen(&before);
        assert_eq!(now.iter().collect::<Vec<_>>(), [(('y', 'x'), 4)]);
    }
}
