//! Control dependence between the blocks of a body.
//!
//! A block depends on a test if one way of the test surely leads to it and another may not (Ferrante,
//! Ottenstein and Warren, 1987). A block from which no end can be reached depends on every test before
//! it.

use lydian_ir::cfg::{Cfg, PostDominators};
use lydian_ir::{BlockId, Body};
use rustc_hash::{FxHashMap, FxHashSet};

/// The control dependence of a body.
#[derive(Clone, Debug)]
pub(super) struct ControlDependence {
    /// The blocks that depend on the test at the end of a block.
    dependent: FxHashMap<BlockId, Vec<BlockId>>,
    /// The blocks that control can come to behind a block. A block in a loop is behind itself.
    behind: FxHashMap<BlockId, FxHashSet<BlockId>>,
}

impl ControlDependence {
    pub(super) fn of(body: &Body) -> Self {
        let cfg = Cfg::new(body);
        let post = PostDominators::new(&cfg);
        let reachable: Vec<BlockId> = cfg.reverse_postorder().to_vec();
        let behind: FxHashMap<BlockId, FxHashSet<BlockId>> =
            reachable.iter().map(|block| (*block, all_behind(&cfg, *block))).collect();
        let ends = |block: &BlockId| post.post_dominates(*block, *block);
        let mut dependent = FxHashMap::default();
        for test in reachable.iter().filter(|block| cfg.successors(**block).len() > 1) {
            let depends = |block: &&BlockId| {
                if !behind[test].contains(*block) {
                    return false;
                }
                let surely = |way: &BlockId| post.post_dominates(**block, *way);
                let is_always = *block != test && post.post_dominates(**block, *test);
                !ends(block) || (cfg.successors(*test).iter().any(surely) && !is_always)
            };
            let all: Vec<BlockId> = reachable.iter().filter(depends).copied().collect();
            dependent.insert(*test, all);
        }
        Self { dependent, behind }
    }

    /// The blocks that depend on the test at the end of a block.
    pub(super) fn on(&self, test: BlockId) -> &[BlockId] {
        self.dependent.get(&test).map_or(&[], Vec::as_slice)
    }

    /// The blocks that control can come to behind a block.
    pub(super) fn behind(&self, block: BlockId) -> impl Iterator<Item = BlockId> + '_ {
        self.behind.get(&block).into_iter().flatten().copied()
    }

    /// Whether a block is in a loop.
    pub(super) fn is_in_loop(&self, block: BlockId) -> bool {
        self.behind.get(&block).is_some_and(|behind| behind.contains(&block))
    }
}

fn all_behind(cfg: &Cfg, block: BlockId) -> FxHashSet<BlockId> {
    let mut found = FxHashSet::default();
    let mut waiting = cfg.successors(block).to_vec();
    while let Some(next) = waiting.pop() {
        if found.insert(next) {
            waiting.extend(cfg.successors(next));
        }
    }
    found
}
