//! What the number of a local's last definition is where something reads it, as far as that follows
//! from the control flow: in the manner of static single assignment, a constant, or what was merged
//! at the start of a block.

use lydian_base::EntityId;
use lydian_ir::cfg::Cfg;
use lydian_ir::{BlockId, Body, StmtId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::dataflow::NumberSet;

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Number {
    /// That of one definition.
    Of(u32),
    /// What control brought along the edge by which it last entered a block.
    Merged(BlockId),
    /// What a statement made of it that may set it.
    After(StmtId),
}

/// The numbers of one local.
#[derive(Debug)]
pub(super) struct Numbers {
    /// What sets it in each block, by position.
    sets: FxHashMap<BlockId, Vec<(isize, Number)>>,
    /// At the start of each block; none where control does not come.
    into: Vec<Option<Number>>,
}

impl Numbers {
    /// Those of a local that begins with a number and is set by statements, `place` saying where each
    /// of these is.
    pub(super) fn new(
        body: &Body,
        cfg: &Cfg,
        place: impl Fn(StmtId) -> Option<(BlockId, isize)>,
        (begin, sets): (u32, &[NumberSet]),
    ) -> Self {
        let mut this = Self { sets: FxHashMap::default(), into: Vec::new() };
        for set in sets {
            let Some((block, position)) = place(set.stmt) else { continue };
            let number = match set.maybe {
                true => Number::After(set.stmt),
                false => Number::Of(set.number),
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

    /// Follows the numbers from the entry on, merging them at the start of some blocks. Adds the
    /// others where that must be done; whether there are any.
    fn follow(
        &mut self,
        body: &Body,
        cfg: &Cfg,
        begin: u32,
        merging: &mut FxHashSet<BlockId>,
    ) -> bool {
        self.into = vec![None; body.blocks.len()];
        self.into[body.entry.index()] = Some(Number::Of(begin));
        merging.iter().for_each(|block| self.into[block.index()] = Some(Number::Merged(*block)));
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

    /// Before a statement of a block, by its position.
    pub(super) fn before(&self, block: BlockId, position: isize) -> Option<Number> {
        let sets = self.sets.get(&block).map_or(&[][..], Vec::as_slice);
        let set = sets.iter().rev().find(|(at, _)| *at < position);
        set.map(|(_, number)| *number).or(self.into[block.index()])
    }

    /// Where a block ends.
    pub(super) fn at_end(&self, block: BlockId) -> Option<Number> {
        self.before(block, isize::MAX)
    }
}
