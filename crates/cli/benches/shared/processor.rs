//! Times that other work on the machine changes little.
#![allow(dead_code, reason = "each bench uses a part of it")]

/// Seconds of processor time that this process and those that it started took so far.
pub(crate) fn processor_time() -> f64 {
    let of = |who| {
        // SAFETY: all bits zero are a value of `rusage`, and the place is one.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &raw mut usage);
            usage
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// What some work gives, and the seconds of processor time that it took.
pub(crate) fn timed<R>(work: impl FnOnce() -> R) -> (R, f64) {
    let begun = processor_time();
    let done = work();
    (done, processor_time() - begun)
}

/// What a process and those that it waited for took.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Spent {
    /// Seconds of processor time.
    pub(crate) seconds: f64,
    /// The most memory that one of them had.
    pub(crate) megabytes: f64,
}

/// Runs a command to its end, which must be a good one.
#[allow(clippy::zombie_processes, reason = "`wait4` waits for it")]
pub(crate) fn spent(command: &mut std::process::Command) -> Spent {
    let child = command.spawn().expect("the command starts");
    let mut status = 0;
    // SAFETY: all bits zero are a value of `rusage`, the places are one and an integer, and nobody
    // else waits for the child.
    let (ended, usage) = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        (libc::wait4(child.id() as i32, &raw mut status, 0, &raw mut usage), usage)
    };
    assert!(ended > 0 && status == 0, "{command:?}: status {status}");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    Spent {
        seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        megabytes: usage.ru_maxrss as f64 / 1024.0,
    }
}
