//! A process, its time and the memory that it took.

use std::fs::File;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// What a process took.
pub(crate) struct ProcessFigures {
    pub(crate) status: ExitStatus,
    pub(crate) seconds: f64,
    /// Processor time of the process and of all that it started and waited for.
    pub(crate) cpu_seconds: f64,
    /// The peak of the process itself, looked at every few milliseconds.
    pub(crate) own_mb: f64,
    /// The greatest peak of the process and of all that it started and waited for.
    pub(crate) peak_mb: f64,
    /// All that it printed.
    pub(crate) said: String,
}

/// Runs a command to its end, which it comes to by itself.
#[allow(clippy::zombie_processes, reason = "`wait` waits for it, and tells what it took")]
pub(crate) fn watch(mut command: Command, log: &Path) -> ProcessFigures {
    let output = File::create(log).expect("a file in the temporary folder");
    let copy = output.try_clone().expect("the file can be shared");
    command.stdin(Stdio::null()).stdout(output).stderr(copy);
    let begun = Instant::now();
    let child = command.spawn().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let ended = AtomicBool::new(false);
    let (waited, seconds, own) = std::thread::scope(|scope| {
        let peak = scope.spawn(|| own_peak(child.id(), &ended));
        let waited = wait(child.id());
        let seconds = begun.elapsed().as_secs_f64();
        ended.store(true, Ordering::Relaxed);
        (waited, seconds, peak.join().expect("the watcher ends"))
    });
    let said = std::fs::read(log).unwrap_or_default();
    ProcessFigures {
        status: ExitStatus::from_raw(waited.0),
        seconds,
        cpu_seconds: waited.1,
        own_mb: own,
        peak_mb: waited.2.max(own),
        said: String::from_utf8_lossy(&said).into_owned(),
    }
}

/// Waits for a process; its status, and with its children its processor time in seconds and its peak
/// in MB.
fn wait(process: u32) -> (i32, f64, f64) {
    let mut status = 0;
    // SAFETY: both places are valid, and all bits zero are a value of `rusage`.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        let process = libc::pid_t::try_from(process).expect("a process number");
        let waited = libc::wait4(process, &raw mut status, 0, &raw mut usage);
        assert_eq!(waited, process, "a child is waited for once");
        usage
    };
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    let cpu = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    (status, cpu, usage.ru_maxrss as f64 / 1024.0)
}

/// The peak of a process in MB, as last seen before it ended.
fn own_peak(process: u32, ended: &AtomicBool) -> f64 {
    let path = format!("/proc/{process}/status");
    let mut peak = 0.0;
    while !ended.load(Ordering::Relaxed) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let number = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
        peak = number.map_or(peak, |number| number / 1024.0).max(peak);
        std::thread::sleep(Duration::from_millis(4));
    }
    peak
}
