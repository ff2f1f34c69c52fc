//! A table with values for some sites of a function.

use lydian_base::EntityId as _;
use lydian_ir::source::Point;
use rustc_hash::FxHashMap;

use crate::machine::program::site::SiteKey;

/// A table with values for some sites. Most places that control passes are statements and ends of
/// blocks, which are found without hashing.
#[derive(Debug)]
pub(crate) struct SiteTable<T> {
    /// By the numbers of statements and of blocks: one more than the position of the value; 0 where
    /// there is none.
    stmts: Vec<u32>,
    blocks: Vec<u32>,
    /// The positions of the other sites' values.
    others: FxHashMap<SiteKey, u32>,
    all: Vec<(SiteKey, T)>,
}

impl<T> Default for SiteTable<T> {
    fn default() -> Self {
        Self {
            stmts: Vec::new(),
            blocks: Vec::new(),
            others: FxHashMap::default(),
            all: Vec::new(),
        }
    }
}

impl<T: Default> SiteTable<T> {
    fn position(&self, site: SiteKey) -> Option<usize> {
        let behind = match site {
            SiteKey::Point(Point::Stmt(stmt)) => self.stmts.get(stmt.index()),
            SiteKey::Point(Point::Term(block)) => self.blocks.get(block.index()),
            other => return self.others.get(&other).map(|position| *position as usize),
        };
        behind.and_then(|behind| behind.checked_sub(1)).map(|position| position as usize)
    }

    /// The value of a site, if it has one.
    pub(crate) fn get(&self, site: SiteKey) -> Option<&T> {
        self.position(site).map(|position| &self.all[position].1)
    }

    /// The value of a site, to be changed.
    pub(crate) fn get_mut(&mut self, site: SiteKey) -> Option<&mut T> {
        self.position(site).map(|position| &mut self.all[position].1)
    }

    /// The value of a site, which is added if there is none.
    pub(crate) fn entry(&mut self, site: SiteKey) -> &mut T {
        let position = self.position(site).unwrap_or_else(|| self.add(site));
        &mut self.all[position].1
    }

    fn add(&mut self, site: SiteKey) -> usize {
        let position = self.all.len();
        self.all.push((site, T::default()));
        let (list, number) = match site {
            SiteKey::Point(Point::Stmt(stmt)) => (&mut self.stmts, stmt.index()),
            SiteKey::Point(Point::Term(block)) => (&mut self.blocks, block.index()),
            other => {
                self.others.insert(other, position as u32);
                return position;
            }
        };
        if list.len() <= number {
            list.resize(number + 1, 0);
        }
        list[number] = position as u32 + 1;
        position
    }

    /// The sites, in the order in which they were added.
    pub(crate) fn keys(&self) -> impl Iterator<Item = SiteKey> + '_ {
        self.all.iter().map(|(site, _)| *site)
    }
}

#[cfg(test)]
mod tests {
    use lydian_ir::{BlockId, DecisionId, StmtId};

    use super::*;

    #[test]
    fn sites_of_all_kinds_keep_their_own_values() {
        let mut table: SiteTable<u32> = SiteTable::default();
        let sites = [
            SiteKey::Point(Point::Stmt(StmtId::from_index(7))),
            SiteKey::Point(Point::Term(BlockId::from_index(7))),
            SiteKey::Entry,
            SiteKey::Decision(DecisionId::from_index(7)),
            SiteKey::Point(Point::Stmt(StmtId::from_index(0))),
        ];
        for (number, site) in sites.into_iter().enumerate() {
            assert_eq!(table.get(site), None);
            *table.entry(site) += number as u32 + 1;
        }
        *table.entry(sites[2]) += 10;
        if let Some(value) = table.get_mut(sites[0]) {
            *value = 20;
        }
        let values = sites.map(|site| table.get(site).copied());
        assert_eq!(values, [20, 2, 13, 4, 5].map(Some));
        assert_eq!(table.keys().collect::<Vec<_>>(), sites);
        assert_eq!(table.get(SiteKey::Point(Point::Stmt(StmtId::from_index(9)))), None);
    }
}
