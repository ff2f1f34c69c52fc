//! One area of addresses: its bytes and their states.

/// The byte belongs to a live object.
pub(super) const LIVE: u8 = 1;
/// It was written.
pub(super) const WRITTEN: u8 = 2;
/// It may be written.
pub(super) const WRITABLE: u8 = 4;
/// It belonged to an object whose life has ended.
pub(super) const DEAD: u8 = 8;
/// The first byte of the gap before an allocation, in which its number stands.
pub(super) const HEADER: u8 = 16;

/// It counts as never written, but what was computed from such bytes was stored there.
pub(super) const KEPT: u8 = 32;

/// The states that a copy takes along.
const CARRIED: u8 = WRITTEN | KEPT;

/// Bytes at the end that are never live.
const MARGIN: usize = 64;

/// A run of bytes that grows, and a state for each.
#[derive(Clone, Debug, Default)]
pub(super) struct Area {
    base: u64,
    /// Offsets below this have at least 16 bytes after them.
    reach: usize,
    bytes: Vec<u8>,
    states: Vec<u8>,
}

/// A byte as it is read: zero where nothing was stored.
pub(super) const fn value(byte: u8, state: u8) -> u8 {
    if state & CARRIED == 0 { 0 } else { byte }
}

/// The positions of bytes that do not count as written.
pub(super) fn unwritten(states: &[u8]) -> impl Iterator<Item = usize> {
    let all = states.iter().enumerate();
    all.filter(|(_, state)| **state & WRITTEN == 0).map(|(at, _)| at)
}

/// Makes bytes count as written.
pub(super) fn set_written(states: &mut [u8]) {
    states.iter_mut().for_each(|state| *state = (*state | WRITTEN) & !KEPT);
}

/// Makes bytes count as never written, but keeps their values.
pub(super) fn set_kept(states: &mut [u8]) {
    states.iter_mut().for_each(|state| *state = (*state & !WRITTEN) | KEPT);
}

/// A state for each of `N` bytes.
const fn every<const N: usize>(state: u8) -> u64 {
    (0x0101_0101_0101_0101 * state as u64) & (u64::MAX >> (64 - 8 * N))
}

impl Area {
    pub(super) fn new(base: u64) -> Self {
        Self { base, ..Self::default() }
    }

    /// Makes room up to an address. Costs are linear in the room, spread over the calls.
    pub(super) fn grow(&mut self, end: u64) {
        let needed = (end - self.base) as usize + MARGIN;
        if needed <= self.bytes.len() {
            return;
        }
        if self.bytes.is_empty() {
            // Untouched zeroes cost nothing.
            self.bytes = vec![0; needed];
            self.states = vec![0; needed];
        } else {
            let room = needed.max(self.bytes.len() + self.bytes.len() / 2);
            self.bytes.resize(room, 0);
            self.states.resize(room, 0);
        }
        self.reach = self.bytes.len() - MARGIN + 1;
    }

    /// Sets the states of bytes that are there.
    #[inline]
    pub(super) fn mark(&mut self, address: u64, size: u64, state: u8) {
        let start = (address - self.base) as usize;
        self.states[start..start + size as usize].fill(state);
    }

    /// The states of `N` bytes, at most 8, as one number.
    #[inline(always)]
    fn states_at<const N: usize>(&self, offset: usize) -> u64 {
        debug_assert!(offset < self.reach && N <= 8);
        let mut raw = [0; 8];
        // SAFETY: `offset < reach`, so 16 bytes from there lie inside of `states`.
        let states = unsafe { self.states.as_ptr().add(offset).cast::<[u8; N]>().read() };
        raw[..N].copy_from_slice(&states);
        u64::from_le_bytes(raw)
    }

    #[inline(always)]
    pub(super) fn quick_load<const N: usize>(&self, offset: usize) -> Option<u64> {
        if offset >= self.reach {
            return None;
        }
        let wanted = every::<N>(LIVE | WRITTEN);
        if self.states_at::<N>(offset) & wanted != wanted {
            return None;
        }
        let mut raw = [0; 8];
        // SAFETY: `offset < reach`, so 16 bytes from there lie inside of `bytes`, which is as long
        // as `states`.
        let bytes = unsafe { self.bytes.as_ptr().add(offset).cast::<[u8; N]>().read() };
        raw[..N].copy_from_slice(&bytes);
        Some(u64::from_le_bytes(raw))
    }

    #[inline(always)]
    pub(super) fn quick_store<const N: usize>(&mut self, offset: usize, value: u64) -> bool {
        let wanted = every::<N>(LIVE | WRITTEN | WRITABLE);
        if offset >= self.reach || self.states_at::<N>(offset) != wanted {
            return false;
        }
        let mut bytes = [0; N];
        bytes.copy_from_slice(&value.to_le_bytes()[..N]);
        // SAFETY: as for `quick_load`.
        unsafe { self.bytes.as_mut_ptr().add(offset).cast::<[u8; N]>().write(bytes) };
        true
    }

    /// The range of bytes at an offset, cut at the end of the area.
    fn range(&self, offset: usize, len: u64) -> std::ops::Range<usize> {
        let start = offset.min(self.states.len());
        let end = (start as u64).saturating_add(len).min(self.states.len() as u64) as usize;
        start..end
    }

    /// Whether all bytes there are have a state, and none of them lies outside.
    pub(super) fn all(&self, offset: usize, len: u64, state: u8) -> bool {
        let range = self.range(offset, len);
        range.start == offset
            && range.len() as u64 == len
            && self.states[range].iter().fold(state, |all, one| all & one) == state
    }

    /// How many bytes from an offset on have a state, of at most `len`.
    pub(super) fn count(&self, offset: usize, len: u64, state: u8) -> u64 {
        let states = &self.states[self.range(offset, len)];
        states.iter().take_while(|one| **one & state == state).count() as u64
    }

    /// Whether one of the bytes has died.
    pub(super) fn any_dead(&self, offset: usize, len: u64) -> bool {
        // What begins outside of an object is named by where it begins.
        self.states[self.range(offset, len.min(16))].iter().any(|state| state & DEAD != 0)
    }

    pub(super) fn state(&self, address: u64) -> u8 {
        let offset = address.wrapping_sub(self.base) as usize;
        self.states.get(offset).copied().unwrap_or(0)
    }

    pub(super) fn set_state(&mut self, address: u64, state: u8) {
        self.states[(address - self.base) as usize] = state;
    }

    /// A number that the machine itself keeps in a gap.
    pub(super) fn note(&self, address: u64) -> u64 {
        let offset = address.wrapping_sub(self.base) as usize;
        let found = self.bytes.get(offset..).and_then(|rest| rest.first_chunk());
        found.map_or(0, |raw| u64::from_le_bytes(*raw))
    }

    pub(super) fn set_note(&mut self, address: u64, number: u64) {
        let offset = (address - self.base) as usize;
        self.bytes[offset..offset + 8].copy_from_slice(&number.to_le_bytes());
    }

    /// Bytes and states of a range that lies inside.
    pub(super) fn slices(&self, offset: usize, len: u64) -> (&[u8], &[u8]) {
        let range = self.range(offset, len);
        (&self.bytes[range.clone()], &self.states[range])
    }

    pub(super) fn slices_mut(&mut self, offset: usize, len: u64) -> (&mut [u8], &mut [u8]) {
        let range = self.range(offset, len);
        (&mut self.bytes[range.clone()], &mut self.states[range])
    }

    /// How many bytes there are from an offset to the first that is zero as it is read, that one
    /// included, or to `limit`; and whether the zero was found.
    pub(super) fn run_to_zero(&self, offset: usize, limit: u64) -> (u64, bool) {
        let (bytes, states) = self.slices(offset, limit);
        let is_zero = |(byte, state): (&u8, &u8)| value(*byte, *state) == 0;
        match bytes.iter().zip(states).position(is_zero) {
            Some(position) => (position as u64 + 1, true),
            None => (bytes.len() as u64, false),
        }
    }

    /// Copies bytes of this area, whether they overlap or not.
    pub(super) fn copy_within(&mut self, to: usize, from: usize, len: u64) {
        let len = len as usize;
        self.bytes.copy_within(from..from + len, to);
        let all_written = self.states[from..from + len].iter().fold(WRITTEN, |all, one| all & one);
        if all_written != 0 {
            set_written(&mut self.states[to..to + len]);
            return;
        }
        let states = self.states[from..from + len].to_vec();
        merge(&mut self.states[to..to + len], &states);
    }

    /// Copies bytes of another area.
    pub(super) fn copy_from(&mut self, to: usize, other: &Self, from: usize, len: u64) {
        let len = len as usize;
        self.bytes[to..to + len].copy_from_slice(&other.bytes[from..from + len]);
        merge(&mut self.states[to..to + len], &other.states[from..from + len]);
    }
}

/// Gives states what others say of having been written.
pub(super) fn merge(to: &mut [u8], from: &[u8]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = (*to & !CARRIED) | (from & CARRIED);
    }
}
