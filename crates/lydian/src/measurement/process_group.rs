//! Processes that are groups of their own: when one has ended or its time is over, the whole group is
//! killed, so that nothing that it started is left.

use std::io;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use lydian_base::CancelToken;

/// The first and the longest pause between two looks at a process.
const PAUSES: (Duration, Duration) = (Duration::from_micros(100), Duration::from_millis(5));

/// Waits for the end of a child that leads a group, or until the time is over or the user stops it: then the
/// result is none. In any case nothing of the group is left.
pub(crate) fn wait(
    child: &mut Child,
    end: Instant,
    cancel: &CancelToken,
) -> io::Result<Option<ExitStatus>> {
    let mut pause = PAUSES.0;
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break Some(status);
        }
        if Instant::now() >= end || cancel.is_cancelled() {
            break None;
        }
        thread::sleep(pause);
        pause = (pause * 5 / 4).min(PAUSES.1);
    };
    end_group(child.id());
    if status.is_none() {
        drop(child.kill());
        child.wait()?;
    }
    Ok(status)
}

/// Kills all processes of a group.
fn end_group(leader: u32) {
    let Ok(leader) = i32::try_from(leader) else { return };
    // SAFETY: the call takes two numbers. The group is that of a child that this process started; a
    // group that is gone is an error that changes nothing.
    unsafe { libc::kill(-leader, libc::SIGKILL) };
}
