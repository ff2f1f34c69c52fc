//! Journals: the temporaries, decisions, marks and statements that lowering a condition makes, for its second
//! copy.

use lydian_ir::{ConditionId, DecisionId, LocalId, MarkId, StmtId};
use rustc_hash::FxHashMap;

/// An entity that lowering a condition made. The right side of a Boolean `==` is lowered twice; the
/// second copy uses the same temporaries, decisions and marks as the first.
#[derive(Clone, Copy, Debug)]
enum CopiedEntity {
    Local(LocalId),
    Decision(DecisionId),
    Mark(MarkId),
}

/// The entities that lowering one condition makes, being written or read again.
#[derive(Debug, Default)]
struct Journal {
    entities: Vec<CopiedEntity>,
    /// The next entry, while it is read.
    at: Option<usize>,
    /// The statements of the first copy, in order.
    stmts: Vec<StmtId>,
    /// How many statements of another copy were made.
    copied: usize,
}

impl Journal {
    /// The entity to use where `new` would be made.
    fn next(&mut self, new: CopiedEntity) -> Option<CopiedEntity> {
        match &mut self.at {
            None => {
                self.entities.push(new);
                None
            }
            Some(at) => {
                *at += 1;
                self.entities.get(*at - 1).copied()
            }
        }
    }
}

/// The entities that the first copy of a condition made.
#[derive(Clone, Debug)]
struct FirstCopy {
    entities: Vec<CopiedEntity>,
    stmts: Vec<StmtId>,
}

/// The journals of the conditions being lowered, innermost last, and of those that were.
#[derive(Debug, Default)]
pub(in crate::lower) struct Journals {
    open: Vec<Journal>,
    done: FxHashMap<(DecisionId, ConditionId), FirstCopy>,
}

impl Journals {
    /// Begins the journal of a condition, or reads the one of its first copy again.
    pub(in crate::lower) fn open(&mut self, key: (DecisionId, ConditionId)) {
        let journal = match self.done.get(&key) {
            Some(copy) => {
                let FirstCopy { entities, stmts } = copy.clone();
                Journal { entities, at: Some(0), stmts, copied: 0 }
            }
            None => Journal::default(),
        };
        self.open.push(journal);
    }

    /// Ends the journal of the condition that was begun last.
    pub(in crate::lower) fn close(&mut self, key: (DecisionId, ConditionId)) {
        if let Some(journal) = self.open.pop() {
            self.done
                .entry(key)
                .or_insert(FirstCopy { entities: journal.entities, stmts: journal.stmts });
        }
    }

    /// How many are open.
    pub(in crate::lower) fn depth(&self) -> usize {
        self.open.len()
    }

    /// Forgets those that were opened since there were so many.
    pub(in crate::lower) fn cut(&mut self, depth: usize) {
        self.open.truncate(depth);
    }

    /// Whether this is a second copy.
    pub(in crate::lower) fn replaying(&self) -> bool {
        self.open.iter().any(|journal| journal.at.is_some())
    }

    fn next(&mut self, new: CopiedEntity) -> Option<CopiedEntity> {
        self.open.last_mut().and_then(|journal| journal.next(new))
    }

    /// The local to use: `new`, or the first copy's.
    pub(in crate::lower) fn local(&mut self, new: LocalId) -> LocalId {
        match self.next(CopiedEntity::Local(new)) {
            Some(CopiedEntity::Local(local)) => local,
            _ => new,
        }
    }

    /// Notes a new statement. Returns the one that it is a copy of.
    pub(in crate::lower) fn stmt(&mut self, new: StmtId) -> Option<StmtId> {
        let journal = self.open.last_mut()?;
        if journal.at.is_none() {
            journal.stmts.push(new);
            return None;
        }
        journal.copied += 1;
        journal.stmts.get(journal.copied - 1).copied()
    }

    /// The decision to use: `new`, or the first copy's.
    pub(in crate::lower) fn decision(&mut self, new: DecisionId) -> DecisionId {
        match self.next(CopiedEntity::Decision(new)) {
            Some(CopiedEntity::Decision(decision)) => decision,
            _ => new,
        }
    }

    /// The mark to use: `new`, or the first copy's.
    pub(in crate::lower) fn mark(&mut self, new: MarkId) -> MarkId {
        match self.next(CopiedEntity::Mark(new)) {
            Some(CopiedEntity::Mark(mark)) => mark,
            _ => new,
        }
    }
}
