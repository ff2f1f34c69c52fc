//! Attributes that a process passes on to its children, besides those in a packet to a server.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;

/// Lines of `/proc/self/status`.
const OF_STATUS: [&str; 16] = [
    "Umask:",
    "Uid:",
    "Gid:",
    "Groups:",
    "SigBlk:",
    "SigIgn:",
    "CapInh:",
    "CapPrm:",
    "CapEff:",
    "CapBnd:",
    "CapAmb:",
    "NoNewPrivs:",
    "Seccomp:",
    "Seccomp_filters:",
    "Cpus_allowed:",
    "Mems_allowed:",
];

const FILES: [&str; 5] = [
    "/proc/self/limits",
    "/proc/self/cgroup",
    "/proc/self/personality",
    "/proc/self/oom_score_adj",
    "/proc/sys/kernel/random/boot_id",
];

const NAME_SPACES: [&str; 7] = ["cgroup", "ipc", "mnt", "net", "pid", "user", "uts"];

/// Variables that the dynamic linker and the C library read before `main`.
const EARLY: [&str; 3] = ["LD_", "GLIBC_", "MALLOC_"];

/// All these attributes, as bytes: limits, rights, name spaces, priority, the variables that are read
/// before `main`. None if the system does not tell.
pub(crate) fn inherited() -> Option<Vec<u8>> {
    let mut all = Vec::new();
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let is_inherited = |line: &&str| OF_STATUS.iter().any(|name| line.starts_with(name));
    status.lines().filter(is_inherited).for_each(|line| add(&mut all, line.as_bytes()));
    for path in FILES {
        // A kernel may be built without one of them.
        add(&mut all, &fs::read(path).unwrap_or_default());
    }
    for space in NAME_SPACES {
        let name = fs::read_link(format!("/proc/self/ns/{space}")).unwrap_or_default();
        add(&mut all, name.as_os_str().as_bytes());
    }
    let root = fs::metadata("/").ok()?;
    for number in [root.dev(), root.ino()] {
        add(&mut all, &number.to_le_bytes());
    }
    // SAFETY: it takes numbers and changes nothing.
    let priority = unsafe { libc::getpriority(libc::PRIO_PROCESS, 0) };
    add(&mut all, &priority.to_le_bytes());
    let is_early = |name: &[u8]| EARLY.iter().any(|prefix| name.starts_with(prefix.as_bytes()));
    let mut early: Vec<_> =
        std::env::vars_os().filter(|(name, _)| is_early(name.as_bytes())).collect();
    early.sort_unstable();
    for (name, value) in early {
        add(&mut all, name.as_bytes());
        add(&mut all, value.as_bytes());
    }
    Some(all)
}

/// Adds a part with its length, so that different parts never give the same bytes.
fn add(all: &mut Vec<u8>, part: &[u8]) {
    all.extend((part.len() as u64).to_le_bytes());
    all.extend(part);
}
