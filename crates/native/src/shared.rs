//! The memory that runner and parent share: one file without a name, mapped by both.

use std::os::fd::{AsRawFd as _, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use memmap2::MmapRaw;

use crate::build::PAGE;
use crate::confine::{ATTEMPTS_BYTES, FILTER_BYTES};

/// Offsets of the control page's words, as `struct control` lays them out.
#[derive(Clone, Copy)]
pub(crate) enum Word {
    Request = 0,
    Reply = 4,
    Current = 8,
    State = 12,
    ParentSleeps = 16,
    RunnerSleeps = 20,
    First = 24,
    Count = 28,
    Wants = 32,
    Done = 36,
    Signal = 56,
    Overflow = 60,
    WideFull = 80,
}

/// Offsets of the control page's 64-bit numbers.
#[derive(Clone, Copy)]
pub(crate) enum Long {
    RequestSize = 40,
    ReplySize = 48,
    Address = 64,
    WideUsed = 72,
}

const MESSAGE: usize = 88;
const MESSAGE_SIZE: usize = 512;

/// Where the parts lie. All start on a page.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Areas {
    pub(crate) cells: u64,
    pub(crate) cells_size: u64,
    pub(crate) wide: u64,
    pub(crate) wide_size: u64,
    pub(crate) symbols: u64,
    pub(crate) request: u64,
    pub(crate) request_size: u64,
    pub(crate) reply: u64,
    pub(crate) reply_size: u64,
    /// The filter of system calls, and the attempts of tests.
    pub(crate) filter: u64,
    pub(crate) attempts: u64,
    pub(crate) total: u64,
}

impl Areas {
    /// `memory` is how many bytes the globals and the largest result have together.
    pub(crate) fn new(
        cells_size: u64,
        wide_size: u64,
        symbols: u64,
        buffer: u64,
        memory: u64,
    ) -> Self {
        let cells = PAGE;
        let wide = cells + cells_size.next_multiple_of(PAGE);
        let symbols_at = wide + wide_size.next_multiple_of(PAGE);
        let request = symbols_at + (symbols * 32).next_multiple_of(PAGE);
        let reply = request + buffer;
        // A reply holds at least one test's: its memory, and every cell and vector.
        let one = buffer + memory + cells_size * 4 + wide_size + PAGE;
        let reply_size = (buffer + one).next_multiple_of(PAGE);
        let filter = reply + reply_size;
        let attempts = filter + FILTER_BYTES.next_multiple_of(PAGE);
        Self {
            cells,
            cells_size,
            wide,
            wide_size,
            symbols: symbols_at,
            request,
            request_size: buffer,
            reply,
            reply_size,
            filter,
            attempts,
            total: attempts + ATTEMPTS_BYTES.next_multiple_of(PAGE),
        }
    }
}

/// The mapping. The runner may change it at any time, so it is read by copies only.
pub(crate) struct Shared {
    file: OwnedFd,
    map: MmapRaw,
    pub(crate) areas: Areas,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").field("areas", &self.areas).finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn new(areas: Areas) -> std::io::Result<Self> {
        // SAFETY: the name is a C string; the descriptor that comes back is ours alone.
        let file = unsafe {
            let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
            let raw = libc::memfd_create(c"lydian".as_ptr(), flags);
            if raw < 0 {
                return Err(std::io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(raw)
        };
        let file = std::fs::File::from(file);
        file.set_len(areas.total)?;
        // Where a program under test made it shorter, reading it would end this process.
        let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | libc::F_SEAL_SEAL;
        // SAFETY: the descriptor is open; the call takes a number.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) } != 0 {
            return Err(std::io::Error::last_os_error());
        }
        let map = memmap2::MmapOptions::new().len(areas.total as usize).map_raw(&file)?;
        Ok(Self { file: file.into(), map, areas })
    }

    /// A descriptor of it, for another process.
    pub(crate) fn file(&self) -> std::io::Result<OwnedFd> {
        self.file.try_clone()
    }

    fn at(&self, offset: u64, size: usize) -> *mut u8 {
        let end = offset as usize + size;
        assert!(end <= self.map.len(), "shared memory is asked for where there is none");
        // SAFETY: the offset lies in the mapping, as was just checked.
        unsafe { self.map.as_mut_ptr().add(offset as usize) }
    }

    fn atomic(&self, word: Word) -> &AtomicU32 {
        let place = self.at(word as u64, 4).cast::<u32>();
        // SAFETY: the place is in the control page, aligned, lives as long as the mapping, and both
        // sides touch it by atomic operations or while the other one waits.
        unsafe { AtomicU32::from_ptr(place) }
    }

    /// The 32-bit number at a place.
    pub(crate) fn get_at(&self, offset: u64) -> u32 {
        let mut bytes = [0; 4];
        self.read(offset, &mut bytes);
        u32::from_le_bytes(bytes)
    }

    pub(crate) fn set_at(&self, offset: u64, value: u32) {
        self.write(offset, &value.to_le_bytes());
    }

    pub(crate) fn get(&self, word: Word) -> u32 {
        self.atomic(word).load(Ordering::SeqCst)
    }

    pub(crate) fn set(&self, word: Word, value: u32) {
        self.atomic(word).store(value, Ordering::SeqCst);
    }

    pub(crate) fn long(&self, word: Long) -> u64 {
        let mut bytes = [0; 8];
        self.read(word as u64, &mut bytes);
        u64::from_le_bytes(bytes)
    }

    pub(crate) fn set_long(&self, word: Long, value: u64) {
        self.write(word as u64, &value.to_le_bytes());
    }

    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) {
        let place = self.at(offset, bytes.len());
        // SAFETY: `at` checked the range; source and mapping do not overlap.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), place, bytes.len()) }
    }

    pub(crate) fn read(&self, offset: u64, to: &mut [u8]) {
        let place = self.at(offset, to.len());
        // SAFETY: `at` checked the range; the target and the mapping do not overlap. The runner
        // waits while its parts are read; where a program under test writes to them all the same,
        // the bytes are wrong but nothing else is.
        unsafe { std::ptr::copy_nonoverlapping(place, to.as_mut_ptr(), to.len()) }
    }

    pub(crate) fn bytes(&self, offset: u64, size: u64) -> Vec<u8> {
        let mut bytes = vec![0; size as usize];
        self.read(offset, &mut bytes);
        bytes
    }

    pub(crate) fn clear(&self, offset: u64, size: u64) {
        let place = self.at(offset, size as usize);
        // SAFETY: as for `write`.
        unsafe { std::ptr::write_bytes(place, 0, size as usize) }
    }

    /// The runner's message if it could not start.
    pub(crate) fn message(&self) -> String {
        let bytes = self.bytes(MESSAGE as u64, MESSAGE_SIZE as u64);
        let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }

    /// Wakes the runner if it sleeps on its request.
    pub(crate) fn wake_runner(&self) {
        if self.get(Word::RunnerSleeps) != 0 {
            futex(self.atomic(Word::Request), libc::FUTEX_WAKE, 1, None);
        }
    }

    /// Waits until the reply's word is no longer `seen`, or for `limit`, or for no reason.
    pub(crate) fn await_reply(&self, seen: u32, limit: Duration) {
        for _ in 0..200 {
            if self.get(Word::Reply) != seen {
                return;
            }
            std::hint::spin_loop();
        }
        self.set(Word::ParentSleeps, 1);
        if self.get(Word::Reply) == seen {
            futex(self.atomic(Word::Reply), libc::FUTEX_WAIT, seen, Some(limit));
        }
        self.set(Word::ParentSleeps, 0);
    }
}

fn futex(word: &AtomicU32, operation: i32, value: u32, limit: Option<Duration>) {
    let limit = limit.map(|limit| libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(limit.subsec_nanos()),
    });
    let limit = limit.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word and the limit outlive the call. Every way in which it may fail (woken, timed
    // out, the value changed) is a reason to look at the word again, which callers do.
    unsafe {
        libc::syscall(libc::SYS_futex, word.as_ptr(), operation, value, limit, 0, 0);
    }
}
