//! Counter files, which runs leave behind.
//!
//! A file is the image of a program's section of cells: units one after the other, each behind its
//! header, with zeros between. Cells are 0 or 1; anything else is damage, which costs the unit
//! where it is found and no other.

use super::notes::UnitId;
use super::text::{CELLS_MAGIC, COUNTS_MAGIC, FOREIGN_FULL, FULL, TABLES_MAGIC};
use crate::plan::{FIRST_COUNTER, HEADER};

/// Files are whole pages of this many bytes.
const PAGE: usize = 4096;

/// The cells and counters of one unit in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnitCells {
    /// The unit.
    pub id: UnitId,
    /// The cells that are set, in order.
    pub set: Vec<u32>,
    /// The words of its tables, header and all; empty where it has none.
    pub tables: Vec<u64>,
    /// Whether a table was too small.
    pub full: bool,
    /// Whether that of definitions in other units was.
    pub foreign_full: bool,
    /// Its counters; empty where it has none.
    pub counts: Vec<u64>,
}

/// A fault of a counter file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DamagedCells {
    /// It ends too early.
    #[error("the counter file is cut off")]
    CutOff,
    /// A byte is neither 0 nor 1, or a header is none.
    #[error("the counter file is damaged")]
    Overwritten,
}

/// Reads a file. Returns its sound units, and the faults of the others.
pub fn read_cells(bytes: &[u8]) -> (Vec<UnitCells>, Vec<DamagedCells>) {
    let mut units: Vec<UnitCells> = Vec::new();
    let mut damage = Vec::new();
    let mut at = 0;
    if !bytes.len().is_multiple_of(PAGE) {
        damage.push(DamagedCells::CutOff);
    }
    while at + HEADER <= bytes.len() {
        let header = &bytes[at..at + HEADER];
        let magic = &header[..8];
        if ![CELLS_MAGIC, TABLES_MAGIC, COUNTS_MAGIC].iter().any(|known| magic == *known) {
            if header.iter().any(|byte| *byte != 0) && !header.starts_with(super::runtime::MAGIC) {
                damage.push(DamagedCells::Overwritten);
            }
            at += HEADER;
            continue;
        }
        let (Ok(id), Ok(size)) = (header[8..24].try_into(), header[24..32].try_into()) else {
            break;
        };
        let size = usize::try_from(u64::from_le_bytes(size)).unwrap_or(usize::MAX);
        if size < HEADER || !size.is_multiple_of(HEADER) {
            damage.push(DamagedCells::Overwritten);
            at += HEADER;
            continue;
        }
        let Some(unit) = at.checked_add(size).and_then(|end| bytes.get(at..end)) else {
            break;
        };
        let found = UnitCells { id: UnitId(id), ..UnitCells::default() };
        let words = unit.chunks_exact(8);
        let words = words.map(|word| word.try_into().map_or(0, u64::from_le_bytes));
        if magic == CELLS_MAGIC {
            match set_cells(unit) {
                Some(set) => units.push(UnitCells { set, ..found }),
                None => damage.push(DamagedCells::Overwritten),
            }
        } else if magic == COUNTS_MAGIC {
            units.push(UnitCells { counts: words.skip(FIRST_COUNTER).collect(), ..found });
        } else {
            let (full, foreign_full) = (unit[FULL] != 0, unit[FOREIGN_FULL] != 0);
            units.push(UnitCells { tables: words.collect(), full, foreign_full, ..found });
        }
        at += size;
    }
    damage.dedup();
    (units, damage)
}

fn set_cells(unit: &[u8]) -> Option<Vec<u32>> {
    let cells = unit.iter().enumerate().skip(HEADER).filter(|(_, cell)| **cell != 0);
    cells.map(|(at, cell)| (*cell == 1).then_some(at as u32)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(magic: &[u8; 8], id: u8, cells: &[u8]) -> Vec<u8> {
        let size = (HEADER + cells.len()).next_multiple_of(HEADER);
        let mut bytes = magic.to_vec();
        bytes.extend([id; 16]);
        bytes.extend((size as u64).to_le_bytes());
        bytes.resize(HEADER, 0);
        bytes.extend(cells);
        bytes.resize(size, 0);
        bytes
    }

    #[test]
    fn units_are_found_between_zeros() {
        let mut bytes = super::super::runtime::MAGIC.to_vec();
        bytes.resize(128, 0);
        bytes.extend(unit(CELLS_MAGIC, 1, &[0, 1, 1]));
        bytes.extend([0; 64]);
        bytes.extend(unit(CELLS_MAGIC, 2, &[1]));
        bytes.resize(PAGE, 0);
        let (units, damage) = read_cells(&bytes);
        assert_eq!(damage, []);
        let sets: Vec<_> = units.iter().map(|unit| (unit.id.0[0], unit.set.clone())).collect();
        assert_eq!(sets, [(1, vec![65, 66]), (2, vec![64])]);
    }

    #[test]
    fn damage_costs_one_unit_and_is_told() {
        let mut bytes = unit(CELLS_MAGIC, 1, &[2]);
        bytes.extend(unit(CELLS_MAGIC, 2, &[1]));
        let end = bytes.len();
        bytes.resize(PAGE, 0);
        let (units, damage) = read_cells(&bytes);
        assert_eq!((units.len(), units[0].id.0[0]), (1, 2));
        assert_eq!(damage, [DamagedCells::Overwritten]);
        let (units, damage) = read_cells(&bytes[..end - 10]);
        assert_eq!((units.len(), damage[0].clone()), (0, DamagedCells::CutOff));
    }

    #[test]
    fn a_table_comes_as_words_with_its_header() {
        let mut bytes = unit(TABLES_MAGIC, 3, &2u64.to_le_bytes());
        bytes[FULL] = 1;
        let (units, _) = read_cells(&bytes);
        assert_eq!((units[0].tables[8], units[0].full), (2, true));
    }

    #[test]
    fn counters_come_without_their_header() {
        let (units, damage) = read_cells(&{
            let mut bytes = unit(COUNTS_MAGIC, 4, &[7u64, 1 << 40].map(u64::to_le_bytes).concat());
            bytes.resize(PAGE, 0);
            bytes
        });
        assert_eq!((&units[0].counts[..3], damage), (&[7, 1 << 40, 0][..], vec![]));
    }
}
