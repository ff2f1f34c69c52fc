//! The memory of this process and of the machine.

/// Resident memory of this process in bytes; `None` where the system does not tell (Linux does, in
/// `/proc/self/statm`). Takes a few microseconds.
pub fn resident() -> Option<u64> {
    let counts = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = counts.split_ascii_whitespace().nth(1)?.parse().ok()?;
    // SAFETY: `sysconf` takes any name and touches no memory of ours.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    Some(pages * u64::try_from(page).ok()?)
}

/// The memory in bytes that new work on this machine can use without displacing others; `None` if the
/// system does not tell. The limit of the control group counts, too.
pub fn available() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    let group = std::fs::read_to_string("/sys/fs/cgroup/memory.max").ok();
    let group = group.and_then(|text| text.trim().parse().ok()).unwrap_or(u64::MAX);
    Some(group.min(kilobytes << 10))
}

/// Returns freed memory to the system as far as the allocator can. Only then does [`resident`]
/// decrease. Takes milliseconds for a gigabyte.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the function may be called at any time, and only touches free memory.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn resident_memory_grows_with_what_is_written() {
        let before = resident().expect("Linux tells");
        let bytes = std::hint::black_box(vec![1u8; 64 << 20]);
        let with = resident().expect("Linux tells");
        assert!(with > before + (32 << 20), "{before} and {with} with {} bytes", bytes.len());
        assert!(available().expect("Linux tells") > 0);
    }
}
