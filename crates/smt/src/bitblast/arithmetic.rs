//! Arithmetic circuits over gates: adders, multipliers, comparators, shifters.
//!
//! Vectors have the least significant bit first.

use crate::bitblast::aig::{Gates, Lit};

/// Sum of two vectors and a carry; as many bits as the operands have, and the carry out.
pub(crate) fn add(g: &mut Gates, a: &[Lit], b: &[Lit], carry: Lit) -> (Vec<Lit>, Lit) {
    let mut c = carry;
    let mut sum = Vec::with_capacity(a.len());
    for (&x, &y) in a.iter().zip(b) {
        sum.push(g.xor3(x, y, c));
        c = g.majority(x, y, c);
    }
    (sum, c)
}

pub(crate) fn complement(a: &[Lit]) -> Vec<Lit> {
    a.iter().map(|&l| !l).collect()
}

pub(crate) fn sub(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
    add(g, a, &complement(b), Lit::TRUE).0
}

pub(crate) fn neg(g: &mut Gates, a: &[Lit]) -> Vec<Lit> {
    let zero = vec![Lit::FALSE; a.len()];
    sub(g, &zero, a)
}

/// Whether `a < b` as unsigned numbers.
pub(crate) fn ult(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    a.iter().zip(b).fold(Lit::FALSE, |less, (&x, &y)| g.majority(!x, y, less))
}

/// Whether `a < b` as signed numbers.
pub(crate) fn slt(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    let n = a.len() - 1;
    let low = ult(g, &a[..n], &b[..n]);
    g.majority(a[n], !b[n], low)
}

pub(crate) fn eq(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Lit {
    let same: Vec<Lit> = a.iter().zip(b).map(|(&x, &y)| !g.xor(x, y)).collect();
    and_all(g, same)
}

/// Conjunction as a balanced tree.
pub(crate) fn and_all(g: &mut Gates, mut level: Vec<Lit>) -> Lit {
    while level.len() > 1 {
        level =
            level.chunks(2).map(|p| if p.len() == 2 { g.and(p[0], p[1]) } else { p[0] }).collect();
    }
    level.first().copied().unwrap_or(Lit::TRUE)
}

pub(crate) fn is_zero(g: &mut Gates, a: &[Lit]) -> Lit {
    and_all(g, complement(a))
}

pub(crate) fn mux(g: &mut Gates, c: Lit, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
    a.iter().zip(b).map(|(&x, &y)| g.mux(c, x, y)).collect()
}

/// The constant that the bits are, if all are constants; lowest 64 bits only matter to callers
/// with at most that many.
fn constant_digits(a: &[Lit]) -> Option<Vec<bool>> {
    a.iter()
        .map(|&l| match l {
            Lit::FALSE => Some(false),
            Lit::TRUE => Some(true),
            _ => None,
        })
        .collect()
}

/// Product, as many bits as the operands have.
pub(crate) fn mul(g: &mut Gates, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
    if let Some(k) = constant_digits(b) {
        return mul_constant(g, a, &k);
    }
    if let Some(k) = constant_digits(a) {
        return mul_constant(g, b, &k);
    }
    // The operand with more leading zeros gives fewer rows.
    let known_zeros = |v: &[Lit]| v.iter().filter(|&&l| l == Lit::FALSE).count();
    let (a, b) = if known_zeros(a) > known_zeros(b) { (b, a) } else { (a, b) };
    let w = a.len();
    let mut sum: Vec<Lit> = a.iter().map(|&x| g.and(x, b[0])).collect();
    for i in 1..w {
        if b[i] == Lit::FALSE {
            continue;
        }
        let row: Vec<Lit> = a[..w - i].iter().map(|&x| g.and(x, b[i])).collect();
        let (high, _) = add(g, &sum[i..], &row, Lit::FALSE);
        sum[i..].copy_from_slice(&high);
    }
    sum
}

/// Product with a constant, by additions and subtractions of its non-adjacent form.
fn mul_constant(g: &mut Gates, a: &[Lit], k: &[bool]) -> Vec<Lit> {
    let w = a.len();
    // Digits -1, 0, 1 with no two adjacent ones, from the bits with a carry.
    let mut digits = vec![0i8; w];
    let mut carry = 0;
    for i in 0..w {
        let bit = k[i] as u8 + carry;
        let next = i + 1 < w && k[i + 1];
        (digits[i], carry) = match (bit, next) {
            (1, true) => (-1, 1),
            (1, false) => (1, 0),
            (2, _) => (0, 1),
            _ => (0, 0),
        };
    }
    let mut sum = vec![Lit::FALSE; w];
    for (i, d) in digits.iter().enumerate() {
        let row = &a[..w - i];
        let high = match d {
            1 => add(g, &sum[i..], row, Lit::FALSE).0,
            -1 => sub(g, &sum[i..], row),
            _ => continue,
        };
        sum[i..].copy_from_slice(&high);
    }
    sum
}

/// The direction and fill of a shift.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shift {
    Left,
    Right,
    RightSigned,
}

/// A barrel shifter; amounts of the width or more give the fill everywhere.
pub(crate) fn shift(g: &mut Gates, kind: Shift, a: &[Lit], n: &[Lit]) -> Vec<Lit> {
    let w = a.len();
    let fill = if kind == Shift::RightSigned { a[w - 1] } else { Lit::FALSE };
    let mut v = a.to_vec();
    let mut too_far = Vec::new();
    for (stage, &bit) in n.iter().enumerate() {
        if stage >= 32 || 1usize << stage >= w {
            too_far.push(!bit);
            continue;
        }
        let by = 1usize << stage;
        let moved: Vec<Lit> = (0..w)
            .map(|i| match kind {
                Shift::Left => {
                    if i >= by {
                        v[i - by]
                    } else {
                        fill
                    }
                }
                _ => {
                    if i + by < w {
                        v[i + by]
                    } else {
                        fill
                    }
                }
            })
            .collect();
        v = mux(g, bit, &moved, &v);
    }
    let inside = and_all(g, too_far);
    v.into_iter().map(|l| g.mux(inside, l, fill)).collect()
}

/// A quotient and a remainder as free bits, with the constraints on them.
pub(crate) struct Division {
    pub(crate) quotient: Vec<Lit>,
    pub(crate) remainder: Vec<Lit>,
    /// True of exactly one quotient and remainder for every dividend and divisor.
    pub(crate) constraints: Vec<Lit>,
}

/// The numbers of low bits of quotient and remainder that can be set.
fn division_widths(a: &[Lit], d: &[Lit]) -> (usize, usize) {
    let length = |v: &[Lit]| v.iter().rposition(|&l| l != Lit::FALSE).map_or(0, |i| i + 1);
    let (a_bits, d_bits) = (length(a), length(d));
    // A remainder is never greater than the dividend, also by zero.
    match d.iter().rposition(|&l| l == Lit::TRUE) {
        // The divisor is at least 2^h, so that the quotient is less than 2^(a_bits - h).
        Some(h) => (a_bits.saturating_sub(h), a_bits.min(d_bits)),
        None => (a.len(), a_bits),
    }
}

/// Division by its definition: `q * d + r` is the dividend without overflow, and `r < d` or both
/// `d` is zero and `q` all ones (from which `r` being the dividend follows).
///
/// One multiplier of half a square has less than half of the gates of restoring division, and facts
/// about quotient, divisor and dividend propagate in every direction. Bits of quotient and remainder
/// that are zero whatever the operands' free bits are (`x / 10` has three at the top, `x % 10` all but
/// four) are constants.
pub(crate) fn udivrem(g: &mut Gates, a: &[Lit], d: &[Lit]) -> Division {
    let w = a.len();
    let (q_bits, r_bits) = division_widths(a, d);
    let mut free = |n: usize| -> Vec<Lit> {
        (0..w).map(|i| if i < n { g.input() } else { Lit::FALSE }).collect()
    };
    let (q, r) = (free(q_bits), free(r_bits));
    let mut constraints = Vec::new();
    // Partial sums only grow: none may overflow, and no row may lose bits that are set. `lost` is
    // whether the factor has a bit that row i shifts out. A constant divisor gives the fewest rows.
    let mut sum = r.clone();
    let mut lost = Lit::FALSE;
    let (rows, factor) = if constant_digits(d).is_some() { (d, &q[..]) } else { (&q[..], d) };
    for i in 0..w {
        if i > 0 {
            lost = g.or(lost, factor[w - i]);
        }
        if rows[i] == Lit::FALSE {
            continue;
        }
        constraints.push(!g.and(rows[i], lost));
        let row: Vec<Lit> = factor[..w - i].iter().map(|&x| g.and(x, rows[i])).collect();
        let (high, carry) = add(g, &sum[i..], &row, Lit::FALSE);
        sum[i..].copy_from_slice(&high);
        constraints.push(!carry);
    }
    constraints.extend(sum.iter().zip(a).map(|(&x, &y)| !g.xor(x, y)));
    let by_zero = is_zero(g, d);
    let fits = ult(g, &r, d);
    constraints.push(g.or(by_zero, fits));
    constraints.extend(q.iter().map(|&x| g.or(!by_zero, x)));
    constraints.retain(|&c| c != Lit::TRUE);
    Division { quotient: q, remainder: r, constraints }
}
