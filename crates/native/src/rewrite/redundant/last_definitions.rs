//! The number of a local's last definition at each point of a function, as far as control flow
//! determines it.
//!
//! The number is a constant, or the value merged at the start of a block, as a phi function of
//! static single assignment merges it.

use lydian_base::EntityId;
use lydian_ir::cfg::Cfg;
use lydian_ir::{BlockId, Body, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};

/// A statement that sets the number of a local's last definition.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NumberSet {
    pub(crate) stmt: StmtId,
    pub(crate) number: u32,
    /// Whether it does only where a write through a pointer hits the local.
    pub(crate) maybe: bool,
}

/// The number of a last definition, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum LastDefinition {
    /// The number of one definition.
    Of(u32),
    /// The number that came along the edge by which control last entered a block.
    Merged(BlockId),
    /// The number after a statement that may set it.
    After(StmtId),
}

/// The numbers of one local's last definition at each point.
#[derive(Debug)]
pub(crate) struct LastDefinitions {
    /// The statements that set the number in each block, by position.
    sets: FxHashMap<BlockId, Vec<(isize, LastDefinition)>>,
    /// The number at the start of each block; `None` for unreachable blocks.
    into: Vec<Option<LastDefinition>>,
}

impl LastDefinitions {
    /// The numbers of a local that starts with `begin` and that the statements `sets` change.
    /// `place` gives the position of a statement.
    pub(crate) fn new(
        body: &Body,
        cfg: &Cfg,
        place: impl Fn(StmtId) -> Option<(BlockId, isize)>,
        (begin, sets): (u32, &[NumberSet]),
    ) -> Self {
        let mut this = Self { sets: FxHashMap::default(), into: Vec::new() };
        for set in sets {
            let Some((block, position)) = place(set.stmt) else { continue };
            let number = match set.maybe {
                true => LastDefinition::After(set.stmt),
                false => LastDefinition::Of(set.number),
            };
            this.sets.entry(block).or_default().push((position, number));
        }
        this.sets.values_mut().for_each(|sets| sets.sort_by_key(|(position, _)| *position));
        let mut merging = FxHashSet::default();
        if !cfg.predecessors(body.entry).is_empty() {
            merging.insert(body.entry);
        }
        while this.follow(body, cfg, begin, &mut merging) {}
        this
    }

    /// Propagates the numbers from the entry, and merges them at the start of the blocks in
    /// `merging`. Adds the further blocks that must merge. Returns whether there were any.
    fn follow(
        &mut self,
        body: &Body,
        cfg: &Cfg,
        begin: u32,
        merging: &mut FxHashSet<BlockId>,
    ) -> bool {
        self.into = vec![None; body.blocks.len()];
        self.into[body.entry.index()] = Some(LastDefinition::Of(begin));
        merging
            .iter()
            .for_each(|block| self.into[block.index()] = Some(LastDefinition::Merged(*block)));
        for block in cfg.reverse_postorder() {
            let Some(out) = self.at_end(*block) else { continue };
            for to in cfg.successors(*block) {
                self.into[to.index()].get_or_insert(out);
            }
        }
        let before = merging.len();
        for block in cfg.reverse_postorder() {
            let Some(out) = self.at_end(*block) else { continue };
            let differs = |to: &&BlockId| self.into[to.index()] != Some(out);
            merging.extend(cfg.successors(*block).iter().filter(differs));
        }
        merging.len() > before
    }

    /// The number before a statement of a block, by its position.
    pub(crate) fn before(&self, block: BlockId, position: isize) -> Option<LastDefinition> {
        let sets = self.sets.get(&block).map_or(&[][..], Vec::as_slice);
        let set = sets.iter().rev().find(|(at, _)| *at < position);
        set.map(|(_, number)| *number).or(self.into[block.index()])
    }

    /// The number at the end of a block.
    pub(crate) fn at_end(&self, block: BlockId) -> Option<LastDefinition> {
        self.before(block, isize::MAX)
    }
}
