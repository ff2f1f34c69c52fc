//! Linear equations modulo a power of two that all rows of a matrix satisfy.
//!
//! The ring has zero divisors, so Gauss's elimination takes as its next pivot an entry with the fewest
//! factors of two (Müller-Olm and Seidl: *Analysis of Modular Arithmetic*, 2007). Then all entries that
//! are left are multiples of the pivot. Operations on columns make the matrix diagonal, and are noted.

use lydian_smt::{odd_inverse, ones};

/// Vectors whose combinations are all vectors with product zero, modulo 2^`width`, with each row.
pub(crate) fn kernel(mut rows: Vec<Vec<u64>>, columns: usize, width: u32) -> Vec<Vec<u64>> {
    let unit = |at: usize| (0..columns).map(|i| u64::from(i == at)).collect::<Vec<u64>>();
    // By column of the diagonal matrix: its combination of the columns of the first.
    let mut combinations: Vec<Vec<u64>> = (0..columns).map(unit).collect();
    let mut found = Vec::new();
    let mut rank = 0;
    while let Some((row, column)) = pivot(&rows, rank, width) {
        rows.swap(rank, row);
        rows.iter_mut().for_each(|row| row.swap(rank, column));
        combinations.swap(rank, column);
        let twos = rows[rank][rank].trailing_zeros();
        let inverse = odd_inverse(rows[rank][rank] >> twos);
        for other in rank + 1..columns {
            let factor = (rows[rank][other] >> twos).wrapping_mul(inverse).wrapping_neg();
            if factor != 0 {
                for row in &mut rows[rank..] {
                    row[other] =
                        low(row[other].wrapping_add(factor.wrapping_mul(row[rank])), width);
                }
                combinations[other] = sum(&combinations[other], factor, &combinations[rank], width);
            }
        }
        rows[rank + 1..].iter_mut().for_each(|row| row[rank] = 0);
        if twos > 0 {
            found.push(multiple(1 << (width - twos), &combinations[rank], width));
        }
        rank += 1;
    }
    found.extend(combinations.drain(rank..));
    found.into_iter().map(|vector| smallest(&vector, width)).collect()
}

/// The entry from a row and column on that has the fewest factors of two, unless all are zero.
fn pivot(rows: &[Vec<u64>], from: usize, width: u32) -> Option<(usize, usize)> {
    let mut best = (width, None);
    for (at, row) in rows.iter().enumerate().skip(from) {
        for (column, entry) in row.iter().enumerate().skip(from) {
            if *entry != 0 && entry.trailing_zeros() < best.0 {
                best = (entry.trailing_zeros(), Some((at, column)));
            }
        }
        if best.0 == 0 {
            break;
        }
    }
    best.1
}

fn low(number: u64, width: u32) -> u64 {
    number & ones(width)
}

/// A vector and a multiple of another.
fn sum(a: &[u64], factor: u64, b: &[u64], width: u32) -> Vec<u64> {
    let both = a.iter().zip(b);
    both.map(|(x, y)| low(x.wrapping_add(factor.wrapping_mul(*y)), width)).collect()
}

fn multiple(factor: u64, vector: &[u64], width: u32) -> Vec<u64> {
    vector.iter().map(|x| low(factor.wrapping_mul(*x), width)).collect()
}

/// The multiple of a vector by an odd number that has the smallest entries. It has the same kernel.
fn smallest(vector: &[u64], width: u32) -> Vec<u64> {
    let mut best = vector.to_vec();
    for entry in vector.iter().filter(|entry| **entry != 0) {
        let inverse = odd_inverse(entry >> entry.trailing_zeros());
        for factor in [1u64, 3, 5, 7, 9, 15] {
            for factor in [factor, factor.wrapping_neg()] {
                let trial = multiple(inverse.wrapping_mul(factor), vector, width);
                if size(&trial, width) < size(&best, width) {
                    best = trial;
                }
            }
        }
    }
    best
}

/// The bits of a vector's entries as signed numbers; first of all those of the negative ones less.
fn size(vector: &[u64], width: u32) -> (u32, u32) {
    let bits = |entry: u64| {
        let (plus, minus) = (entry, low(entry.wrapping_neg(), width));
        64 - plus.min(minus).leading_zeros()
    };
    let negative = vector.iter().filter(|entry| low(entry.wrapping_neg(), width) < **entry);
    (vector.iter().map(|entry| bits(*entry)).sum(), negative.count() as u32)
}

#[cfg(test)]
mod tests {
    use lydian_base::Rng;

    use super::*;

    fn product(a: &[u64], b: &[u64], width: u32) -> u64 {
        let terms = a.iter().zip(b).map(|(x, y)| x.wrapping_mul(*y));
        low(terms.fold(0, u64::wrapping_add), width)
    }

    #[test]
    fn the_equation_of_a_line_is_found_with_small_numbers() {
        let rows = (0..5).map(|i| vec![1, i, 2 * i + 3]).collect();
        let found = kernel(rows, 3, 32);
        assert_eq!(found.len(), 1);
        let minus_one = low(1u64.wrapping_neg(), 32);
        assert_eq!(found[0], vec![3, 2, minus_one]);
    }

    #[test]
    fn vectors_of_the_kernel_are_exactly_the_combinations_that_are_found() {
        let mut rng = Rng::new(3);
        for _ in 0..200 {
            let width = 3;
            let count = rng.below(4) as usize;
            let row = |rng: &mut Rng| (0..3).map(|_| rng.below(8)).collect::<Vec<u64>>();
            let rows: Vec<Vec<u64>> = (0..count).map(|_| row(&mut rng)).collect();
            let found = kernel(rows.clone(), 3, width);
            let mut spanned = std::collections::BTreeSet::from([vec![0, 0, 0]]);
            for vector in &found {
                let before: Vec<Vec<u64>> = spanned.iter().cloned().collect();
                for (known, factor) in before.iter().flat_map(|v| (0..8).map(move |f| (v, f))) {
                    spanned.insert(sum(known, factor, vector, width));
                }
            }
            for number in 0..512u64 {
                let vector = vec![number & 7, number >> 3 & 7, number >> 6];
                let is_in = rows.iter().all(|row| product(row, &vector, width) == 0);
                assert_eq!(is_in, spanned.contains(&vector), "{rows:?} {vector:?} {found:?}");
            }
        }
    }
}
