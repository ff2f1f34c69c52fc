//! Confinement of foreign code: before a runner's process loads the program, it gives up the rights
//! that the program must not have, by the kernel's means.
//!
//! Two layers confine the program. With Landlock it can read only the files that loading needs, and
//! use the folder of its tests. With a filter of system calls it can make only calls that touch
//! nothing but itself. Limits bound files and memory. The ruleset and the filter are made here and set by the process
//! itself (`confine.h`), before constructors of the program run; from there on nothing can be given
//! back.
//!
//! A refused call fails as it does on a system that forbids it, and is reported ([`Attempt`]). The
//! report is no barrier: a program that writes over the memory it shares with its parent can hide
//! an attempt, but the attempt still fails.

mod attempt;
mod calls;
mod filter;

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, Scope, path_beneath_rules,
};

pub use attempt::Attempt;
pub(crate) use attempt::{ATTEMPTS_BYTES, Noted};
use filter::Machine;

/// Whether the code under test is confined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Confinement {
    /// By all means that the kernel has.
    #[default]
    On,
    /// Not at all.
    Off,
}

/// A feature that confinement needs and the kernel lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MissingFeature {
    /// Landlock, so that files are open to the program.
    Landlock,
    /// Landlock's third version, so that files can be emptied.
    Truncation,
    /// Filters of system calls.
    Filters,
}

impl std::fmt::Display for MissingFeature {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Landlock => {
                "this kernel has no Landlock: code under test can read and change files outside of its folder"
            }
            Self::Truncation => {
                "Landlock of this kernel knows nothing of truncation: code under test can empty files outside of its folder"
            }
            Self::Filters => {
                "this kernel has no filters of system calls: code under test can start processes, send signals and use the network"
            }
        })
    }
}

/// The environment variable that names features to be treated as missing, for tests.
const WITHOUT: &str = "LYDIAN_WITHOUT";

fn is_taken_away(what: &str) -> bool {
    std::env::var(WITHOUT).is_ok_and(|names| names.split(',').any(|name| name == what))
}

/// The features of the kernel.
#[derive(Clone, Copy)]
struct Kernel {
    /// The version of Landlock, 0 where there is none.
    landlock: i64,
    filters: bool,
}

static KERNEL: LazyLock<Kernel> = LazyLock::new(|| {
    const VERSION: libc::c_ulong = 1;
    const IS_ACTION_AVAILABLE: libc::c_ulong = 2;
    let trap = libc::SECCOMP_RET_TRAP;
    // SAFETY: the first call takes no memory, the second reads the number that it gets the place
    // of.
    let (landlock, filters) = unsafe {
        let none = std::ptr::null::<libc::c_void>();
        let landlock = libc::syscall(libc::SYS_landlock_create_ruleset, none, 0, VERSION);
        let trap = std::ptr::from_ref(&trap);
        (landlock, libc::syscall(libc::SYS_seccomp, IS_ACTION_AVAILABLE, 0, trap))
    };
    Kernel {
        landlock: if is_taken_away("landlock") { 0 } else { landlock.max(0) },
        filters: filters == 0 && !is_taken_away("seccomp"),
    }
});

/// The features that the kernel lacks; empty if confinement is complete.
pub fn missing() -> Vec<MissingFeature> {
    const TRUNCATES: i64 = 3;
    let landlock = match KERNEL.landlock {
        ..1 => Some(MissingFeature::Landlock),
        1..TRUNCATES => Some(MissingFeature::Truncation),
        _ => None,
    };
    landlock.into_iter().chain((!KERNEL.filters).then_some(MissingFeature::Filters)).collect()
}

/// The architecture of runners.
const RUNNER: Machine = Machine::X86_64;

/// The attempts that the runners of this process noted.
pub(crate) fn noted(bytes: &[u8]) -> Vec<Noted> {
    attempt::noted(bytes, RUNNER, std::process::id())
}

/// The most instructions of a filter.
const FILTER_LENGTH: usize = 2048;
const INSTRUCTION_BYTES: u64 = 8;
/// Bytes that a filter may need in the shared memory.
pub(crate) const FILTER_BYTES: u64 = FILTER_LENGTH as u64 * INSTRUCTION_BYTES;

/// Bytes that a file may grow to.
pub(crate) const FILE_SIZE: u64 = 64 << 20;
/// The memory limit of the program in bytes, without the runner's own memory.
const MEMORY: u64 = 2 << 30;
/// Files that may be open at once.
const DESCRIPTORS: u64 = 256;

/// The confinement that a runner's process sets for itself.
#[derive(Debug)]
pub(crate) struct Sandbox {
    ruleset: Option<OwnedFd>,
}

impl Sandbox {
    /// A sandbox that leaves the program its folder, and to read its object and the system's
    /// libraries.
    ///
    /// # Errors
    /// Where the kernel refuses rules that it says it has.
    pub(crate) fn new(folder: &Path, readable: &[&Path]) -> Result<Self, RulesetError> {
        let ruleset = match KERNEL.landlock {
            0 => None,
            _ => ruleset(folder, readable)?,
        };
        Ok(Self { ruleset })
    }

    /// The ruleset, which the process gets as its standard output.
    pub(crate) fn ruleset(&self) -> std::io::Result<Option<OwnedFd>> {
        self.ruleset.as_ref().map(OwnedFd::try_clone).transpose()
    }

    /// The filter, as bytes for the shared memory; none where the kernel has no filters.
    pub(crate) fn filter() -> &'static [u8] {
        static FILTER: LazyLock<Vec<u8>> = LazyLock::new(|| {
            let filter = filter::filter(RUNNER);
            assert!(filter.len() <= FILTER_LENGTH, "its place in the memory is too small");
            let bytes = filter.iter().flat_map(|one| {
                let [code, [jt, jf]] = [one.code.to_le_bytes(), [one.jt, one.jf]];
                let value = one.k.to_le_bytes();
                code.into_iter().chain([jt, jf]).chain(value)
            });
            bytes.collect()
        });
        if KERNEL.filters { &FILTER } else { &[] }
    }

    /// The numbers of `struct confinement`. `own` is how many bytes the runner itself needs.
    pub(crate) fn setup(&self, filter: u64, attempts: u64, own: u64) -> [u64; 8] {
        let length = Self::filter().len() as u64 / INSTRUCTION_BYTES;
        let landlock = u64::from(self.ruleset.is_some());
        [1, landlock, filter, length, attempts, FILE_SIZE, own + MEMORY, DESCRIPTORS]
    }
}

/// The files that loading a program and ordinary functions of the C library read: libraries and
/// their indices, locales, time zones, users' names, and the files of `sysconf`. No user's files
/// are among them.
const SYSTEM: &[&str] = &[
    "/usr",
    "/lib",
    "/lib64",
    "/nix/store",
    "/gnu/store",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/passwd",
    "/etc/group",
    "/etc/hosts",
    "/proc/cpuinfo",
    "/proc/meminfo",
    "/proc/stat",
    "/proc/sys/kernel",
    "/sys/devices/system/cpu",
];

/// Devices that keep nothing.
const DEVICES: &[&str] = &["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

/// The rules for files. Nobody may make folders or links: so a run leaves files alone, and these in
/// its folder.
fn ruleset(folder: &Path, readable: &[&Path]) -> Result<Option<OwnedFd>, RulesetError> {
    const KNOWN: ABI = ABI::V7;
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    let write: BitFlags<AccessFs> = AccessFs::WriteFile | AccessFs::Truncate;
    let device = AccessFs::ReadFile | AccessFs::WriteFile | AccessFs::IoctlDev;
    let readable: Vec<PathBuf> =
        SYSTEM.iter().map(PathBuf::from).chain(readable.iter().map(|&path| path.into())).collect();
    let created = Ruleset::default()
        .handle_access(AccessFs::from_all(KNOWN))?
        .handle_access(AccessNet::from_all(KNOWN))?
        .scope(Scope::from_all(KNOWN))?
        .create()?
        .add_rules(path_beneath_rules(readable, read))?
        .add_rules(path_beneath_rules(DEVICES, device))?
        .add_rules(path_beneath_rules(
            [folder],
            read | write | AccessFs::MakeReg | AccessFs::RemoveFile,
        ))?;
    Ok(created.into())
}

#[cfg(test)]
mod tests;
