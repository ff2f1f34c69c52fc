//! The calls in progress.

use crate::interp::code::Code;
use crate::interp::memory::FrameSpan;
use crate::interp::outcome::Location;
use crate::interp::slots::FarRegister;

/// One call that has not returned.
pub(in crate::interp) struct Frame<'p, 'c> {
    pub(in crate::interp) code: &'c Code<'p>,
    /// Where its window begins.
    pub(in crate::interp) base: usize,
    /// The operation after the one that runs, or that called.
    pub(in crate::interp) pc: usize,
    pub(in crate::interp) span: FrameSpan,
    /// The bytes of its objects.
    pub(in crate::interp) bytes: u64,
    /// The call in its caller.
    pub(in crate::interp) site: u32,
    /// Where a record that it returns goes; 0 for nowhere.
    pub(in crate::interp) dst_addr: u64,
    /// Tells it from all calls before.
    pub(in crate::interp) serial: u64,
    /// The address of its variable arguments; 0 where it takes none.
    pub(in crate::interp) variable: u64,
    pub(in crate::interp) far: Vec<FarRegister>,
    /// The conditions of all decisions that were reached since each was last begun, for an observer.
    pub(in crate::interp) conditions: Vec<Option<bool>>,
}

impl Frame<'_, '_> {
    /// The statement or terminator that runs, or that called.
    pub(super) fn location(&self) -> Option<Location> {
        let point = self.code.points.get(self.point_index().unwrap_or(0))?.point;
        Some(Location { function: self.code.function, point })
    }

    /// The position among the function's points of the one that runs, or that called.
    pub(super) fn point_index(&self) -> Option<usize> {
        self.code.points.index_at(self.pc.saturating_sub(1))
    }
}

/// The calls that have not returned, the newest last.
#[derive(Default)]
pub(super) struct CallStack<'p, 'c> {
    frames: Vec<Frame<'p, 'c>>,
    /// How many calls were made.
    serial: u64,
}

impl<'p, 'c> CallStack<'p, 'c> {
    /// How many calls are open.
    #[inline]
    pub(super) fn depth(&self) -> usize {
        self.frames.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The number of the next call, which tells it from all before.
    #[inline]
    pub(super) fn next_serial(&mut self) -> u64 {
        self.serial += 1;
        self.serial
    }

    #[inline]
    pub(super) fn push(&mut self, frame: Frame<'p, 'c>) {
        self.frames.push(frame);
    }

    /// Takes away the newest call.
    #[inline]
    pub(super) fn pop(&mut self) -> Frame<'p, 'c> {
        self.frames.pop().expect("a run has a frame until it ends")
    }

    /// The newest call, if there is one.
    #[inline]
    pub(super) fn last(&self) -> Option<&Frame<'p, 'c>> {
        self.frames.last()
    }

    /// The newest call of a run that has not ended.
    #[inline]
    pub(super) fn newest(&self) -> &Frame<'p, 'c> {
        self.frames.last().expect("a run has a frame until it ends")
    }

    #[inline]
    pub(super) fn newest_mut(&mut self) -> &mut Frame<'p, 'c> {
        self.frames.last_mut().expect("a run has a frame until it ends")
    }

    /// The caller of the newest call; `None` for the call from outside.
    pub(super) fn caller(&self) -> Option<&Frame<'p, 'c>> {
        self.frames.len().checked_sub(2).map(|index| &self.frames[index])
    }

    /// The call of this number, if it has not returned.
    pub(super) fn with_serial(&self, serial: u64) -> Option<&Frame<'p, 'c>> {
        self.frames.iter().find(|frame| frame.serial == serial)
    }

    /// The statement or terminator that runs.
    pub(super) fn location(&self) -> Option<Location> {
        self.frames.last()?.location()
    }

    /// The open calls, the newest first.
    pub(super) fn newest_first(&self) -> impl Iterator<Item = &Frame<'p, 'c>> {
        self.frames.iter().rev()
    }

    /// Where each open call stands, the newest first.
    pub(super) fn trace(&self) -> Vec<Location> {
        self.newest_first().filter_map(Frame::location).collect()
    }
}
