//! Offsets within an object, as far as they are known: a start, and a stride of which any multiple is
//! added.
//!
//! This is the domain of arithmetical congruences (Granger). A stride of zero is one offset.

/// `start + k * stride` for any `k`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Offset {
    /// Less than the stride, and not negative, where that is not zero.
    pub(crate) start: i64,
    pub(crate) stride: u64,
}

impl Offset {
    /// The first byte.
    pub(crate) const ZERO: Self = Self { start: 0, stride: 0 };
    /// Anywhere.
    pub(crate) const ANY: Self = Self { start: 0, stride: 1 };

    fn new(start: i64, stride: u64) -> Self {
        let start = match i64::try_from(stride) {
            Ok(0) | Err(_) => start,
            Ok(stride) => start.rem_euclid(stride),
        };
        Self { start, stride }
    }

    /// The least that has both.
    #[must_use]
    pub(crate) fn join(self, other: Self) -> Self {
        let apart = self.start.abs_diff(other.start);
        Self::new(self.start, gcd(gcd(self.stride, other.stride), apart))
    }

    /// Moved by a constant.
    #[must_use]
    pub(crate) fn plus(self, distance: i64) -> Self {
        Self::new(self.start.wrapping_add(distance), self.stride)
    }

    /// With any multiple of a number added.
    #[must_use]
    pub(crate) fn with_stride(self, stride: u64) -> Self {
        Self::new(self.start, gcd(self.stride, stride))
    }

    /// The only offset, if there is one.
    pub(crate) const fn exact(self) -> Option<i64> {
        if self.stride == 0 { Some(self.start) } else { None }
    }

    /// Whether some access of `size` bytes at one of these offsets has bytes that some stretch of
    /// `other_size` bytes at one of the others has, and bytes that this stretch does not have.
    pub(crate) fn may_cut(self, size: u64, other: Self, other_size: u64) -> bool {
        let (size, other_size) = (i128::from(size), i128::from(other_size));
        let stride = i128::from(gcd(self.stride, other.stride));
        let apart = i128::from(self.start) - i128::from(other.start);
        // The distances from the stretch's first byte to the access's.
        let has = |from: i128, end: i128| match stride {
            0 => (from..end).contains(&apart),
            _ => from < end && from + (apart - from).rem_euclid(stride) < end,
        };
        let begins_before = has(1 - size, 0.min(other_size));
        let ends_after = has((other_size - size + 1).max(1 - size), other_size);
        other_size > 0 && (begins_before || ends_after)
    }

    /// Whether some access of `size` bytes at one of these offsets shares a byte with some access of
    /// `other_size` bytes at one of the others.
    pub(crate) fn may_overlap(self, size: u64, other: Self, other_size: u64) -> bool {
        let stride = gcd(self.stride, other.stride);
        let apart = i128::from(other.start) - i128::from(self.start);
        if stride == 0 {
            return apart < i128::from(size) && -apart < i128::from(other_size);
        }
        let apart = apart.rem_euclid(i128::from(stride));
        apart < i128::from(size) || i128::from(stride) - apart < i128::from(other_size)
    }
}

/// The greatest common divisor; that of zero and a number is the number.
pub(crate) const fn gcd(a: u64, b: u64) -> u64 {
    let (mut a, mut b) = (a, b);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_join_has_the_offsets_of_both_sides() {
        for (a, b) in [((0, 0), (4, 0)), ((1, 6), (4, 9)), ((0, 0), (0, 8)), ((3, 4), (5, 0))] {
            let (a, b) = (Offset::new(a.0, a.1), Offset::new(b.0, b.1));
            let both = a.join(b);
            for k in 0..20 {
                for side in [a, b] {
                    let offset = side.start + k * side.stride as i64;
                    let is_in = match both.stride {
                        0 => offset == both.start,
                        stride => (offset - both.start).rem_euclid(stride as i64) == 0,
                    };
                    assert!(is_in, "{offset} of {side:?} in {both:?}");
                }
            }
        }
    }

    #[test]
    fn accesses_overlap_where_trying_all_offsets_finds_a_shared_byte() {
        let touched = |offset: Offset, size: u64| {
            let mut bytes = std::collections::BTreeSet::new();
            let most = if offset.stride == 0 { 0 } else { 30 };
            for k in -most..=most {
                let at = offset.start + k * offset.stride as i64;
                bytes.extend(at..at + size as i64);
            }
            bytes
        };
        for a_stride in [0, 4, 6] {
            for b_stride in [0, 8, 9] {
                for b_start in 0..9 {
                    for size in [1, 2, 4] {
                        let (a, b) = (Offset::new(1, a_stride), Offset::new(b_start, b_stride));
                        let shared = !touched(a, size).is_disjoint(&touched(b, 2));
                        assert_eq!(a.may_overlap(size, b, 2), shared, "{a:?} {b:?} {size}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_stretch_cuts_an_access_where_trying_all_offsets_finds_one_that_is_partly_in_it() {
        let starts = |offset: Offset| {
            let most = if offset.stride == 0 { 0 } else { 30 };
            (-most..=most).map(move |k| offset.start + k * offset.stride as i64)
        };
        let is_cut = |at: i64, size: i64, other: i64, bytes: i64| {
            let shared =
                (at..at + size).filter(|byte| (other..other + bytes).contains(byte)).count();
            0 < shared && shared < size as usize
        };
        for (a_stride, b_stride) in [(0, 0), (0, 8), (4, 0), (4, 8), (6, 9), (8, 8)] {
            for b_start in 0..9 {
                for (size, bytes) in [(4, 4), (4, 2), (4, 8), (1, 3), (8, 4), (4, 0), (2, 5)] {
                    let (a, b) = (Offset::new(1, a_stride), Offset::new(b_start, b_stride));
                    let cut = starts(a).any(|at| starts(b).any(|b| is_cut(at, size, b, bytes)));
                    let found = a.may_cut(size as u64, b, bytes as u64);
                    assert_eq!(found, cut, "{a:?} {b:?} {size} {bytes}");
                }
            }
        }
    }
}
