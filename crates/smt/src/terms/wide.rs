//! Unsigned integers of up to [`MAX_WIDTH`] bits, for bit-vectors that do not fit a machine word.
//!
//! Wide vectors are rare (`__int128`, concatenations of struct bytes, intermediate results of
//! floats), so this favours few lines over speed. Every operation takes the width and gives back
//! a value below 2^width.

use crate::terms::sort::MAX_WIDTH;
use std::cmp::Ordering;
use std::fmt;

const WORDS: usize = (MAX_WIDTH / 64) as usize;

/// An unsigned integer below 2^512, least significant word first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Wide([u64; WORDS]);

impl Wide {
    /// Zero.
    pub const ZERO: Wide = Wide([0; WORDS]);

    /// The value of a machine word.
    pub const fn from_u64(v: u64) -> Wide {
        let mut w = [0; WORDS];
        w[0] = v;
        Wide(w)
    }

    /// The value of a double word.
    pub const fn from_u128(v: u128) -> Wide {
        let mut w = [0; WORDS];
        w[0] = v as u64;
        w[1] = (v >> 64) as u64;
        Wide(w)
    }

    /// The lowest 64 bits.
    pub const fn low_u64(&self) -> u64 {
        self.0[0]
    }

    /// The lowest 128 bits.
    pub const fn low_u128(&self) -> u128 {
        self.0[0] as u128 | (self.0[1] as u128) << 64
    }

    /// Bit `i` (0 is the least significant).
    pub fn bit(&self, i: u32) -> bool {
        self.0[(i / 64) as usize] >> (i % 64) & 1 == 1
    }

    /// Sets bit `i`.
    pub fn set_bit(&mut self, i: u32) {
        self.0[(i / 64) as usize] |= 1 << (i % 64);
    }

    /// 2^width - 1.
    pub fn ones(width: u32) -> Wide {
        Wide([u64::MAX; WORDS]).mask(width)
    }

    /// The value modulo 2^width.
    pub fn mask(mut self, width: u32) -> Wide {
        for (i, w) in self.0.iter_mut().enumerate() {
            let low = 64 * i as u32;
            if width <= low {
                *w = 0;
            } else if width - low < 64 {
                *w &= (1 << (width - low)) - 1;
            }
        }
        self
    }

    /// Whether the value is 0.
    pub fn is_zero(&self) -> bool {
        self.0.iter().all(|&w| w == 0)
    }

    /// Bitwise combination word by word.
    pub(crate) fn zip(self, o: Wide, f: impl Fn(u64, u64) -> u64) -> Wide {
        let mut r = self;
        for (a, b) in r.0.iter_mut().zip(o.0) {
            *a = f(*a, b);
        }
        r
    }

    /// Sum modulo 2^width.
    pub fn add(self, o: Wide, width: u32) -> Wide {
        let mut r = Wide::ZERO;
        let mut carry = 0u128;
        for i in 0..WORDS {
            let s = self.0[i] as u128 + o.0[i] as u128 + carry;
            r.0[i] = s as u64;
            carry = s >> 64;
        }
        r.mask(width)
    }

    /// Complement modulo 2^width.
    pub fn not(self, width: u32) -> Wide {
        Wide(self.0.map(|w| !w)).mask(width)
    }

    /// Two's complement negation modulo 2^width.
    pub fn neg(self, width: u32) -> Wide {
        self.not(width).add(Wide::from_u64(1), width)
    }

    /// Difference modulo 2^width.
    pub fn sub(self, o: Wide, width: u32) -> Wide {
        self.add(o.neg(MAX_WIDTH), width)
    }

    /// Product modulo 2^width.
    pub fn mul(self, o: Wide, width: u32) -> Wide {
        let mut r = [0u64; WORDS];
        for i in 0..WORDS {
            let mut carry = 0u128;
            for j in 0..WORDS - i {
                let p = self.0[i] as u128 * o.0[j] as u128 + r[i + j] as u128 + carry;
                r[i + j] = p as u64;
                carry = p >> 64;
            }
        }
        Wide(r).mask(width)
    }

    /// The value shifted left by `n` bits, modulo 2^width; 0 when `n >= width`.
    pub fn shl(self, n: u32, width: u32) -> Wide {
        if n >= width {
            return Wide::ZERO;
        }
        let (words, bits) = ((n / 64) as usize, n % 64);
        let mut r = Wide::ZERO;
        for i in words..WORDS {
            r.0[i] = self.0[i - words] << bits;
            if bits > 0 && i > words {
                r.0[i] |= self.0[i - words - 1] >> (64 - bits);
            }
        }
        r.mask(width)
    }

    /// The value shifted right by `n` bits with zeros coming in.
    pub fn lshr(self, n: u32) -> Wide {
        let (words, bits) = ((n / 64) as usize, n % 64);
        let mut r = Wide::ZERO;
        for i in 0..WORDS.saturating_sub(words) {
            r.0[i] = self.0[i + words] >> bits;
            if bits > 0 && i + words + 1 < WORDS {
                r.0[i] |= self.0[i + words + 1] << (64 - bits);
            }
        }
        r
    }

    /// The value read as a signed number of `from` bits, widened to `to` bits.
    pub fn sext(self, from: u32, to: u32) -> Wide {
        if self.bit(from - 1) {
            self.zip(Wide::ones(to).zip(Wide::ones(from), |a, b| a & !b), |a, b| a | b)
        } else {
            self
        }
    }

    /// Quotient and remainder, SMT-LIB style: by zero they are all ones and the dividend.
    pub fn udivrem(self, d: Wide, width: u32) -> (Wide, Wide) {
        if d.is_zero() {
            return (Wide::ones(width), self);
        }
        let (mut q, mut r) = (Wide::ZERO, Wide::ZERO);
        for i in (0..width).rev() {
            // `width` is at most 511 here or the top bit of `r` is clear, because r < d.
            let top = r.bit(MAX_WIDTH - 1);
            r = r.shl(1, MAX_WIDTH);
            if self.bit(i) {
                r.0[0] |= 1;
            }
            if top || r.cmp(&d) != Ordering::Less {
                r = r.sub(d, MAX_WIDTH);
                q.set_bit(i);
            }
        }
        (q, r)
    }

    /// Number of bits needed to write the value: position of the highest set bit plus one.
    pub fn bit_length(&self) -> u32 {
        (0..WORDS)
            .rev()
            .find(|&i| self.0[i] != 0)
            .map_or(0, |i| 64 * i as u32 + 64 - self.0[i].leading_zeros())
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, o: &Wide) -> Option<Ordering> {
        Some(self.cmp(o))
    }
}

impl Ord for Wide {
    fn cmp(&self, o: &Wide) -> Ordering {
        self.0.iter().rev().cmp(o.0.iter().rev())
    }
}

impl fmt::Debug for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::LowerHex::fmt(self, f)
    }
}

impl fmt::LowerHex for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let top = (0..WORDS).rev().find(|&i| self.0[i] != 0).unwrap_or(0);
        write!(f, "{:x}", self.0[top])?;
        for i in (0..top).rev() {
            write!(f, "{:016x}", self.0[i])?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn wide_arithmetic_agrees_with_u128(a: u128, b: u128, n in 0u32..140) {
            let (x, y) = (Wide::from_u128(a), Wide::from_u128(b));
            prop_assert_eq!(x.add(y, 128).low_u128(), a.wrapping_add(b));
            prop_assert_eq!(x.sub(y, 128).low_u128(), a.wrapping_sub(b));
            prop_assert_eq!(x.mul(y, 128).low_u128(), a.wrapping_mul(b));
            prop_assert_eq!(x.shl(n, 128).low_u128(), a.checked_shl(n).unwrap_or(0));
            prop_assert_eq!(x.lshr(n).low_u128(), a.checked_shr(n).unwrap_or(0));
            prop_assert_eq!(x.cmp(&y), a.cmp(&b));
            let (q, r) = x.udivrem(y, 128);
            prop_assert_eq!(q.low_u128(), a.checked_div(b).unwrap_or(u128::MAX));
            prop_assert_eq!(r.low_u128(), a.checked_rem(b).unwrap_or(a));
            prop_assert_eq!(x.bit_length(), 128 - a.leading_zeros());
        }
    }
}
