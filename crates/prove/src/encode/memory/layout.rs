//! The variables that hold the contents of a memory object.
//!
//! Where all accesses have constant offsets, the object has a variable for each stretch of bytes that
//! accesses share: a *cell*. Else it has arrays. The strides of the accesses divide it into periods, such
//! as the elements of an array of structs, and each member has an array of its own: a *lane*. Where
//! accesses do not keep to members, there is one lane of elements that all of them are made of.

use lydian_ir::Type;

use crate::encode::ids::ObjectId;
use crate::encode::pointers::accesses::{Access, Accesses};
use crate::encode::pointers::objects::Objects;
use crate::encode::pointers::offset::gcd;

/// The most bytes of a cell.
const MOST_OF_A_CELL: u64 = 16;
/// The most bytes of a lane's element.
const MOST_OF_AN_ELEMENT: u64 = 8;

/// The variables of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    Cells(Vec<Cell>),
    Lanes(Lanes),
}

/// A stretch of bytes in a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Cell {
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// The type of all accesses, where it is the same and they are to the whole cell.
    pub(crate) ty: Option<Type>,
}

/// Arrays with one element for each period.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lanes {
    /// In bytes.
    pub(crate) period: u64,
    pub(crate) lanes: Vec<Lane>,
    /// The bits of an index.
    pub(crate) index_bits: u32,
    /// How many elements a lane has at most.
    pub(crate) count: u64,
}

/// A stretch of bytes of each period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Lane {
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

impl Layout {
    /// The layout of an object for the accesses to it.
    pub(crate) fn new(objects: &Objects, object: ObjectId, all: &Accesses) -> Self {
        let size = objects.all[object].size;
        let is_in = |access: &&Access| match access.at.exact() {
            Some(start) => {
                let end = start.checked_add(access.size as i64);
                start >= 0 && end.is_some_and(|end| size.is_none_or(|size| end as u64 <= size))
            }
            None => size.is_none_or(|size| access.size <= size),
        };
        let accesses: Vec<Access> = all.to(object).filter(is_in).copied().collect();
        let step = objects.sites.get(&object).filter(|site| site.repeats).map(|site| site.step());
        let stride = all.strides.get(&object).copied().unwrap_or(0);
        let is_exact = stride == 0 && accesses.iter().all(|access| access.at.stride == 0);
        if is_exact
            && step.is_none()
            && let Some(cells) = cells(&accesses)
        {
            return Self::Cells(cells);
        }
        let strides = accesses
            .iter()
            .fold(gcd(stride, step.unwrap_or(0)), |all, access| gcd(all, access.at.stride));
        let bytes = size.unwrap_or(objects.region());
        let in_lanes = lanes(&accesses, strides);
        let (period, lanes) = in_lanes.unwrap_or_else(|| one_lane(&accesses, strides));
        let count = bytes.div_ceil(period).max(1);
        let index_bits = (64 - (count - 1).leading_zeros()).max(1);
        Self::Lanes(Lanes { period, lanes, index_bits, count })
    }
}

/// A stretch of bytes, and the type if there is one.
type Stretch = (u64, u64, Option<Type>);

/// Joins stretches that share bytes.
fn joined(mut stretches: Vec<Stretch>) -> Vec<Stretch> {
    stretches.sort_unstable();
    let mut all: Vec<Stretch> = Vec::new();
    for (start, size, ty) in stretches {
        match all.last_mut() {
            Some((last, last_size, last_ty)) if start < *last + *last_size => {
                let is_same = (start, size, ty) == (*last, *last_size, *last_ty);
                *last_ty = if is_same { ty } else { None };
                *last_size = (*last_size).max(start + size - *last);
            }
            _ => all.push((start, size, ty)),
        }
    }
    all
}

fn cells(accesses: &[Access]) -> Option<Vec<Cell>> {
    let stretch = |access: &Access| (access.at.start as u64, access.size, Some(access.ty));
    let all = joined(accesses.iter().map(stretch).collect());
    let fit = all.iter().all(|(_, size, _)| *size <= MOST_OF_A_CELL);
    let cell = |(offset, size, ty)| Cell { offset, size, ty };
    fit.then(|| all.into_iter().map(cell).collect())
}

/// Lanes of members, if all accesses keep to members.
fn lanes(accesses: &[Access], period: u64) -> Option<(u64, Vec<Lane>)> {
    if period == 0 {
        return None;
    }
    let stretch = |access: &Access| {
        let start = access.at.start.rem_euclid(period as i64) as u64;
        (start + access.size <= period).then_some((start, access.size, None))
    };
    let stretches: Option<Vec<Stretch>> = accesses.iter().map(stretch).collect();
    let all = joined(stretches?);
    let fit = all.iter().all(|(_, size, _)| *size <= MOST_OF_AN_ELEMENT);
    let lane = |(offset, size, _)| Lane { offset, size };
    fit.then(|| (period, all.into_iter().map(lane).collect()))
}

/// One lane of elements that all accesses are made of.
fn one_lane(accesses: &[Access], strides: u64) -> (u64, Vec<Lane>) {
    let all = accesses
        .iter()
        .fold(strides, |all, access| gcd(gcd(all, access.size), access.at.start.unsigned_abs()));
    let size = if all == 0 { 1 } else { 1 << all.trailing_zeros().min(3) };
    (size, vec![Lane { offset: 0, size }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::encode::pointers::offset::Offset;

    fn access(start: i64, stride: u64, bits: u8) -> Access {
        let at = Offset::ZERO.plus(start).with_stride(stride);
        Access::plain(at, u64::from(bits) / 8, Type::Int(bits))
    }

    #[test]
    fn accesses_that_share_bytes_share_a_cell() {
        let all = [access(0, 0, 32), access(4, 0, 16), access(4, 0, 32), access(8, 0, 64)];
        let found = cells(&all).expect("small cells");
        let shape: Vec<_> = found.iter().map(|cell| (cell.offset, cell.size, cell.ty)).collect();
        let (int, long) = (Some(Type::Int(32)), Some(Type::Int(64)));
        assert_eq!(shape, [(0, 4, int), (4, 4, None), (8, 8, long)]);
    }

    #[test]
    fn members_of_an_array_of_structs_have_a_lane_each() {
        let all = [access(0, 24, 64), access(8, 24, 32), access(20, 24, 8), access(12, 48, 32)];
        let (period, lanes) = lanes(&all, 24).expect("members");
        assert_eq!(period, 24);
        let shape: Vec<_> = lanes.iter().map(|lane| (lane.offset, lane.size)).collect();
        assert_eq!(shape, [(0, 8), (8, 4), (12, 4), (20, 1)]);
    }

    #[test]
    fn accesses_that_cross_the_period_are_made_of_smaller_elements() {
        let all = [access(0, 4, 32), access(0, 4, 64)];
        assert_eq!(lanes(&all, 4), None);
        assert_eq!(one_lane(&all, 4), (4, vec![Lane { offset: 0, size: 4 }]));
    }
}
