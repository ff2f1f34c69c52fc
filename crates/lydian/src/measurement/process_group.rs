//! Processes that are groups of their own: when one has ended or its time is over, the whole group is
//! killed, so that nothing that it started is left.

use std::io;
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use lydian_base::CancelToken;

/// The longest pause between two looks at what was cancelled.
const PAUSE: Duration = Duration::from_millis(50);
/// The first and the longest pause between two looks at a process whose end the system does not tell.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(5));

/// Waits for the end of a child that leads a group, or until the time is over or the user stops it: then the
/// result is none. In any case nothing of the group is left.
pub(crate) fn wait(
    child: &mut Child,
    end: Instant,
    cancel: &CancelToken,
) -> io::Result<Option<ExitStatus>> {
    let process = descriptor(child.id());
    let mut pause = PAUSES.0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() || cancel.is_cancelled() {
            break None;
        }
        match &process {
            Some(process) => _ = is_readable(process.as_raw_fd(), left.min(PAUSE)),
            None => thread::sleep(pause),
        }
        pause = (pause * 5 / 4).min(PAUSES.1);
    };
    if let Ok(leader) = i32::try_from(child.id()) {
        self::end(leader);
    }
    if status.is_none() {
        drop(child.kill());
        child.wait()?;
    }
    Ok(status)
}

/// A descriptor of a child that can be read when the child has ended. None if the system has none.
fn descriptor(child: u32) -> Option<OwnedFd> {
    let child = libc::pid_t::try_from(child).ok()?;
    // SAFETY: the call takes two numbers, and its result is a descriptor that is ours, or negative.
    unsafe {
        let descriptor = RawFd::try_from(libc::syscall(libc::SYS_pidfd_open, child, 0)).ok()?;
        (descriptor >= 0).then(|| OwnedFd::from_raw_fd(descriptor))
    }
}

/// Waits until something can be read from a descriptor, for a time. Whether it can.
pub(crate) fn is_readable(descriptor: RawFd, time: Duration) -> bool {
    let mut seen = libc::pollfd { fd: descriptor, events: libc::POLLIN, revents: 0 };
    // A pause below a millisecond is one.
    let time = i32::try_from(time.as_micros().div_ceil(1000)).unwrap_or(i32::MAX);
    // SAFETY: the place is one entry. An error is as if nothing could be read.
    unsafe { libc::poll(&raw mut seen, 1, time) > 0 }
}

/// Kills all processes of a group, whose leader was started here, by this process or a server of it.
pub(crate) fn end(leader: i32) {
    // SAFETY: the call takes two numbers. A group that is gone is an error that changes nothing.
    unsafe { libc::kill(-leader, libc::SIGKILL) };
}

/// Kills a process that was started here, by this process or a server of it.
pub(crate) fn end_process(process: i32) {
    // SAFETY: the call takes two numbers. A process that is gone is an error that changes nothing.
    unsafe { libc::kill(process, libc::SIGKILL) };
}
