//! The system calls of 64-bit and 32-bit x86, each with its rule.
//!
//! What is allowed is listed: what touches only the process itself, its memory and what it has
//! open, or only looks. Everything else is refused, also calls that are newer than these tables.

use super::filter::Machine;

/// The rule for a system call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rule {
    /// It is made.
    Allowed,
    /// It is refused, and told.
    Refused,
    /// It fails as on a kernel that lacks it, without an attempt: the C library has another way.
    Absent,
    /// It is made where it starts a thread of the process.
    Thread,
    /// It is made where an argument is the process itself, or, in some calls, 0 for it.
    Itself {
        /// The argument.
        argument: u8,
        /// Whether 0 stands for the process.
        or_zero: bool,
    },
    /// It is made where an argument has one of some values.
    Only(u8, &'static [u32]),
    /// It is refused where an argument has one of some values.
    Except(u8, &'static [u32]),
    /// It is about files, which Landlock decides on. It is told where that refuses it, and where it
    /// changes something.
    File(FileCall),
}

/// The effect of a call on files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FileCall {
    /// The argument that is its path.
    pub(super) path: u8,
    /// That which is its second path.
    pub(super) second: Option<u8>,
    /// The argument that says whether the call changes anything.
    pub(super) change: Change,
}

/// The argument that says whether the call changes the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    /// It always does.
    Always = 1,
    /// The flags behind the path.
    Flags = 2,
    /// The first word to which the argument after the path points.
    FlagsThere = 3,
}

/// A name, and its numbers on both machines.
type Numbered = (&'static str, u32, u32);

/// The number in place of a call that an architecture lacks.
const NO: u32 = u32::MAX;

const fn opens(path: u8, change: Change) -> Rule {
    Rule::File(FileCall { path, second: None, change })
}

const fn changes(path: u8, second: Option<u8>) -> Rule {
    Rule::File(FileCall { path, second, change: Change::Always })
}

const fn itself(argument: u8, or_zero: bool) -> Rule {
    Rule::Itself { argument, or_zero }
}

/// Requests of `ioctl` for a descriptor's terminal, length or flags.
const HARMLESS_IOCTLS: &[u32] =
    &[0x5401, 0x5413, 0x540f, 0x5411, 0x541b, 0x5421, 0x5450, 0x5451, 0x802c_542a];

/// Commands of `fcntl` that make a descriptor send signals, or delay others that open the file:
/// `F_SETOWN`, `F_SETSIG`, `F_SETOWN_EX`, `F_SETLEASE`, `F_NOTIFY`.
const DESCRIPTOR_SIGNALS: &[u32] = &[8, 10, 15, 1024, 1026];

/// Options of `prctl` on the process or the thread itself: its death signal, dumps, its name, time
/// slack, huge pages, new privileges, names of its memory. The others are refused.
const OWN_CONTROLS: &[u32] =
    &[1, 2, 3, 4, 15, 16, 21, 23, 25, 27, 29, 30, 36, 37, 38, 39, 40, 41, 42, 0x5356_4d41];

/// The signals that tell the runner of refused calls: `SIGXFSZ`, `SIGSYS`.
const TELLING_SIGNALS: &[u32] = &[25, 31];

/// The argument of `personality` that only asks.
const ASKS_PERSONALITY: &[u32] = &[u32::MAX];

#[rustfmt::skip]
const RULED: &[(Numbered, Rule)] = &[
    (("kill", 62, 37), itself(0, false)),
    (("tgkill", 234, 270), itself(0, false)),
    (("tkill", 200, 238), itself(0, false)),
    (("rt_sigqueueinfo", 129, 178), itself(0, false)),
    (("rt_tgsigqueueinfo", 297, 335), itself(0, false)),
    (("sched_setaffinity", 203, 241), itself(0, true)),
    (("sched_setparam", 142, 154), itself(0, true)),
    (("sched_setscheduler", 144, 156), itself(0, true)),
    (("sched_setattr", 314, 351), itself(0, true)),
    (("prlimit64", 302, 340), itself(0, true)),
    (("get_robust_list", 274, 312), itself(0, true)),
    (("clone", 56, 120), Rule::Thread),
    (("clone3", 435, 435), Rule::Absent),
    (("ioctl", 16, 54), Rule::Only(1, HARMLESS_IOCTLS)),
    (("prctl", 157, 172), Rule::Only(0, OWN_CONTROLS)),
    (("personality", 135, 136), Rule::Only(0, ASKS_PERSONALITY)),
    (("fcntl", 72, 55), Rule::Except(1, DESCRIPTOR_SIGNALS)),
    (("fcntl64", NO, 221), Rule::Except(1, DESCRIPTOR_SIGNALS)),
    (("rt_sigaction", 13, 174), Rule::Except(0, TELLING_SIGNALS)),
    (("sigaction", NO, 67), Rule::Except(0, TELLING_SIGNALS)),
    (("signal", NO, 48), Rule::Except(0, TELLING_SIGNALS)),
    (("open", 2, 5), opens(0, Change::Flags)),
    (("openat", 257, 295), opens(1, Change::Flags)),
    (("openat2", 437, 437), opens(1, Change::FlagsThere)),
    (("creat", 85, 8), changes(0, None)),
    (("mkdir", 83, 39), changes(0, None)),
    (("mkdirat", 258, 296), changes(1, None)),
    (("mknod", 133, 14), changes(0, None)),
    (("mknodat", 259, 297), changes(1, None)),
    (("rmdir", 84, 40), changes(0, None)),
    (("unlink", 87, 10), changes(0, None)),
    (("unlinkat", 263, 301), changes(1, None)),
    (("rename", 82, 38), changes(0, Some(1))),
    (("renameat", 264, 302), changes(1, Some(3))),
    (("renameat2", 316, 353), changes(1, Some(3))),
    (("link", 86, 9), changes(0, Some(1))),
    (("linkat", 265, 303), changes(1, Some(3))),
    (("symlink", 88, 83), changes(0, Some(1))),
    (("symlinkat", 266, 304), changes(0, Some(2))),
    (("truncate", 76, 92), changes(0, None)),
    (("truncate64", NO, 193), changes(0, None)),
];

/// The kinds of files that are made.
#[rustfmt::skip]
const ALLOWED: &[Numbered] = &[
    ("read", 0, 3), ("write", 1, 4), ("close", 3, 6), ("stat", 4, 106), ("fstat", 5, 108),
    ("lstat", 6, 107), ("poll", 7, 168), ("lseek", 8, 19), ("mmap", 9, 90), ("mprotect", 10, 125),
    ("munmap", 11, 91), ("brk", 12, 45), ("rt_sigprocmask", 14, 175), ("rt_sigreturn", 15, 173),
    ("pread64", 17, 180), ("pwrite64", 18, 181), ("readv", 19, 145), ("writev", 20, 146),
    ("access", 21, 33), ("pipe", 22, 42), ("select", 23, 82), ("sched_yield", 24, 158),
    ("mremap", 25, 163), ("msync", 26, 144), ("mincore", 27, 218), ("madvise", 28, 219),
    ("dup", 32, 41), ("dup2", 33, 63), ("pause", 34, 29), ("nanosleep", 35, 162),
    ("getitimer", 36, 105), ("alarm", 37, 27), ("setitimer", 38, 104), ("getpid", 39, 20),
    ("sendfile", 40, 187), ("exit", 60, 1), ("wait4", 61, 114), ("uname", 63, 122),
    ("flock", 73, 143), ("fsync", 74, 118), ("fdatasync", 75, 148), ("ftruncate", 77, 93),
    ("getdents", 78, 141), ("getcwd", 79, 183), ("readlink", 89, 85), ("umask", 95, 60),
    ("gettimeofday", 96, 78), ("getrlimit", 97, 76), ("setrlimit", 160, 75), ("getrusage", 98, 77),
    ("sysinfo", 99, 116), ("times", 100, 43), ("getuid", 102, 24), ("getgid", 104, 47),
    ("geteuid", 107, 49), ("getegid", 108, 50), ("getppid", 110, 64), ("getpgrp", 111, 65),
    ("getgroups", 115, 80), ("getresuid", 118, 165), ("getresgid", 120, 171), ("getpgid", 121, 132),
    ("getsid", 124, 147), ("capget", 125, 184), ("rt_sigpending", 127, 176),
    ("rt_sigtimedwait", 128, 177), ("rt_sigsuspend", 130, 179), ("sigaltstack", 131, 186),
    ("ustat", 136, 62), ("statfs", 137, 99), ("fstatfs", 138, 100), ("sysfs", 139, 135),
    ("getpriority", 140, 96), ("sched_getparam", 143, 155), ("sched_getscheduler", 145, 157),
    ("sched_get_priority_max", 146, 159), ("sched_get_priority_min", 147, 160),
    ("sched_rr_get_interval", 148, 161), ("mlock", 149, 150), ("munlock", 150, 151),
    ("mlockall", 151, 152), ("munlockall", 152, 153), ("arch_prctl", 158, 384), ("sync", 162, 36),
    ("gettid", 186, 224), ("readahead", 187, 225), ("getxattr", 191, 229), ("lgetxattr", 192, 230),
    ("fgetxattr", 193, 231), ("listxattr", 194, 232), ("llistxattr", 195, 233),
    ("flistxattr", 196, 234), ("time", 201, 13), ("futex", 202, 240),
    ("sched_getaffinity", 204, 242), ("set_thread_area", 205, 243), ("get_thread_area", 211, 244),
    ("epoll_create", 213, 254), ("remap_file_pages", 216, 257), ("getdents64", 217, 220),
    ("set_tid_address", 218, 258), ("restart_syscall", 219, 0), ("fadvise64", 221, 250),
    ("timer_create", 222, 259), ("timer_settime", 223, 260), ("timer_gettime", 224, 261),
    ("timer_getoverrun", 225, 262), ("timer_delete", 226, 263), ("clock_gettime", 228, 265),
    ("clock_getres", 229, 266), ("clock_nanosleep", 230, 267), ("exit_group", 231, 252),
    ("epoll_wait", 232, 256), ("epoll_ctl", 233, 255), ("mbind", 237, 274),
    ("set_mempolicy", 238, 276), ("get_mempolicy", 239, 275), ("waitid", 247, 284),
    ("ioprio_get", 252, 290), ("newfstatat", 262, NO), ("readlinkat", 267, 305),
    ("faccessat", 269, 307), ("pselect6", 270, 308), ("ppoll", 271, 309),
    ("set_robust_list", 273, 311), ("splice", 275, 313), ("tee", 276, 315),
    ("sync_file_range", 277, 314), ("vmsplice", 278, 316), ("epoll_pwait", 281, 319),
    ("signalfd", 282, 321), ("timerfd_create", 283, 322), ("eventfd", 284, 323),
    ("fallocate", 285, 324), ("timerfd_settime", 286, 325), ("timerfd_gettime", 287, 326),
    ("signalfd4", 289, 327), ("eventfd2", 290, 328), ("epoll_create1", 291, 329),
    ("dup3", 292, 330), ("pipe2", 293, 331), ("preadv", 295, 333), ("pwritev", 296, 334),
    ("syncfs", 306, 344), ("getcpu", 309, 318), ("sched_getattr", 315, 352),
    ("getrandom", 318, 355), ("memfd_create", 319, 356), ("membarrier", 324, 375),
    ("mlock2", 325, 376), ("copy_file_range", 326, 377), ("preadv2", 327, 378),
    ("pwritev2", 328, 379), ("pkey_mprotect", 329, 380), ("pkey_alloc", 330, 381),
    ("pkey_free", 331, 382), ("statx", 332, 383), ("rseq", 334, 386), ("close_range", 436, 436),
    ("faccessat2", 439, 439), ("epoll_pwait2", 441, 441), ("memfd_secret", 447, 447),
    ("futex_waitv", 449, 449), ("set_mempolicy_home_node", 450, 450), ("cachestat", 451, 451),
    ("map_shadow_stack", 453, 453), ("futex_wake", 454, 454), ("futex_wait", 455, 455),
    ("futex_requeue", 456, 456), ("mseal", 462, 462), ("getxattrat", 464, 464),
    ("listxattrat", 465, 465), ("file_getattr", 468, 468), ("lsm_get_self_attr", 459, 459),
    ("lsm_list_modules", 461, 461), ("waitpid", NO, 7), ("oldstat", NO, 18), ("oldfstat", NO, 28),
    ("oldlstat", NO, 84), ("oldolduname", NO, 59), ("olduname", NO, 109), ("sgetmask", NO, 68),
    ("ssetmask", NO, 69), ("sigsuspend", NO, 72), ("sigpending", NO, 73), ("sigprocmask", NO, 126),
    ("sigreturn", NO, 119), ("_llseek", NO, 140), ("_newselect", NO, 142), ("ugetrlimit", NO, 191),
    ("mmap2", NO, 192), ("ftruncate64", NO, 194), ("stat64", NO, 195), ("lstat64", NO, 196),
    ("fstat64", NO, 197), ("getuid32", NO, 199), ("getgid32", NO, 200), ("geteuid32", NO, 201),
    ("getegid32", NO, 202), ("getgroups32", NO, 205), ("getresuid32", NO, 209),
    ("getresgid32", NO, 211), ("readdir", NO, 89), ("sendfile64", NO, 239), ("statfs64", NO, 268),
    ("fstatfs64", NO, 269), ("fadvise64_64", NO, 272), ("fstatat64", NO, 300),
    ("clock_gettime64", NO, 403), ("clock_getres_time64", NO, 406),
    ("clock_nanosleep_time64", NO, 407), ("timer_gettime64", NO, 408), ("timer_settime64", NO, 409),
    ("timerfd_gettime64", NO, 410), ("timerfd_settime64", NO, 411), ("pselect6_time64", NO, 413),
    ("ppoll_time64", NO, 414), ("rt_sigtimedwait_time64", NO, 421), ("futex_time64", NO, 422),
    ("sched_rr_get_interval_time64", NO, 423),
];

/// Calls that are refused, with their names.
#[rustfmt::skip]
const REFUSED: &[Numbered] = &[
    ("shmget", 29, 395), ("shmat", 30, 397), ("shmctl", 31, 396), ("socket", 41, 359),
    ("connect", 42, 362), ("accept", 43, NO), ("sendto", 44, 369), ("recvfrom", 45, 371),
    ("sendmsg", 46, 370), ("recvmsg", 47, 372), ("shutdown", 48, 373), ("bind", 49, 361),
    ("listen", 50, 363), ("getsockname", 51, 367), ("getpeername", 52, 368),
    ("socketpair", 53, 360), ("setsockopt", 54, 366), ("getsockopt", 55, 365), ("fork", 57, 2),
    ("vfork", 58, 190), ("execve", 59, 11), ("semget", 64, 393), ("semop", 65, NO),
    ("semctl", 66, 394), ("shmdt", 67, 398), ("msgget", 68, 399), ("msgsnd", 69, 400),
    ("msgrcv", 70, 401), ("msgctl", 71, 402), ("chdir", 80, 12), ("fchdir", 81, 133),
    ("chmod", 90, 15), ("fchmod", 91, 94), ("chown", 92, 182), ("fchown", 93, 95),
    ("lchown", 94, 16), ("ptrace", 101, 26), ("syslog", 103, 103), ("setuid", 105, 23),
    ("setgid", 106, 46), ("setpgid", 109, 57), ("setsid", 112, 66), ("setreuid", 113, 70),
    ("setregid", 114, 71), ("setgroups", 116, 81), ("setresuid", 117, 164), ("setresgid", 119, 170),
    ("setfsuid", 122, 138), ("setfsgid", 123, 139), ("capset", 126, 185), ("utime", 132, 30),
    ("uselib", 134, 86), ("setpriority", 141, 97), ("vhangup", 153, 111), ("modify_ldt", 154, 123),
    ("pivot_root", 155, 217), ("_sysctl", 156, 149), ("adjtimex", 159, 124), ("chroot", 161, 61),
    ("acct", 163, 51), ("settimeofday", 164, 79), ("mount", 165, 21), ("umount2", 166, 52),
    ("swapon", 167, 87), ("swapoff", 168, 115), ("reboot", 169, 88), ("sethostname", 170, 74),
    ("setdomainname", 171, 121), ("iopl", 172, 110), ("ioperm", 173, 101),
    ("create_module", 174, 127), ("init_module", 175, 128), ("delete_module", 176, 129),
    ("get_kernel_syms", 177, 130), ("query_module", 178, 167), ("quotactl", 179, 131),
    ("nfsservctl", 180, 169), ("getpmsg", 181, 188), ("putpmsg", 182, 189),
    ("afs_syscall", 183, 137), ("tuxcall", 184, NO), ("security", 185, NO), ("setxattr", 188, 226),
    ("lsetxattr", 189, 227), ("fsetxattr", 190, 228), ("removexattr", 197, 235),
    ("lremovexattr", 198, 236), ("fremovexattr", 199, 237), ("io_setup", 206, 245),
    ("io_destroy", 207, 246), ("io_getevents", 208, 247), ("io_submit", 209, 248),
    ("io_cancel", 210, 249), ("lookup_dcookie", 212, 253), ("epoll_ctl_old", 214, NO),
    ("epoll_wait_old", 215, NO), ("semtimedop", 220, NO), ("clock_settime", 227, 264),
    ("utimes", 235, 271), ("vserver", 236, 273), ("mq_open", 240, 277), ("mq_unlink", 241, 278),
    ("mq_timedsend", 242, 279), ("mq_timedreceive", 243, 280), ("mq_notify", 244, 281),
    ("mq_getsetattr", 245, 282), ("kexec_load", 246, 283), ("add_key", 248, 286),
    ("request_key", 249, 287), ("keyctl", 250, 288), ("ioprio_set", 251, 289),
    ("inotify_init", 253, 291), ("inotify_add_watch", 254, 292), ("inotify_rm_watch", 255, 293),
    ("migrate_pages", 256, 294), ("fchownat", 260, 298), ("futimesat", 261, 299),
    ("fchmodat", 268, 306), ("unshare", 272, 310), ("move_pages", 279, 317),
    ("utimensat", 280, 320), ("accept4", 288, 364), ("inotify_init1", 294, 332),
    ("perf_event_open", 298, 336), ("recvmmsg", 299, 337), ("fanotify_init", 300, 338),
    ("fanotify_mark", 301, 339), ("name_to_handle_at", 303, 341), ("open_by_handle_at", 304, 342),
    ("clock_adjtime", 305, 343), ("sendmmsg", 307, 345), ("setns", 308, 346),
    ("process_vm_readv", 310, 347), ("process_vm_writev", 311, 348), ("kcmp", 312, 349),
    ("finit_module", 313, 350), ("seccomp", 317, 354), ("kexec_file_load", 320, NO),
    ("bpf", 321, 357), ("execveat", 322, 358), ("userfaultfd", 323, 374),
    ("io_pgetevents", 333, 385), ("pidfd_send_signal", 424, 424), ("io_uring_setup", 425, 425),
    ("io_uring_enter", 426, 426), ("io_uring_register", 427, 427), ("open_tree", 428, 428),
    ("move_mount", 429, 429), ("fsopen", 430, 430), ("fsconfig", 431, 431), ("fsmount", 432, 432),
    ("fspick", 433, 433), ("pidfd_open", 434, 434), ("pidfd_getfd", 438, 438),
    ("process_madvise", 440, 440), ("mount_setattr", 442, 442), ("quotactl_fd", 443, 443),
    ("landlock_create_ruleset", 444, 444), ("landlock_add_rule", 445, 445),
    ("landlock_restrict_self", 446, 446), ("process_mrelease", 448, 448), ("fchmodat2", 452, 452),
    ("statmount", 457, 457), ("listmount", 458, 458), ("lsm_set_self_attr", 460, 460),
    ("setxattrat", 463, 463), ("removexattrat", 466, 466), ("open_tree_attr", 467, 467),
    ("file_setattr", 469, 469), ("break", NO, 17), ("umount", NO, 22), ("stime", NO, 25),
    ("stty", NO, 31), ("gtty", NO, 32), ("nice", NO, 34), ("ftime", NO, 35), ("prof", NO, 44),
    ("lock", NO, 53), ("mpx", NO, 56), ("ulimit", NO, 58), ("profil", NO, 98),
    ("socketcall", NO, 102), ("idle", NO, 112), ("vm86old", NO, 113), ("ipc", NO, 117),
    ("bdflush", NO, 134), ("vm86", NO, 166), ("lchown32", NO, 198), ("setreuid32", NO, 203),
    ("setregid32", NO, 204), ("setgroups32", NO, 206), ("fchown32", NO, 207),
    ("setresuid32", NO, 208), ("setresgid32", NO, 210), ("chown32", NO, 212), ("setuid32", NO, 213),
    ("setgid32", NO, 214), ("setfsuid32", NO, 215), ("setfsgid32", NO, 216),
    ("clock_settime64", NO, 404), ("clock_adjtime64", NO, 405), ("utimensat_time64", NO, 412),
    ("io_pgetevents_time64", NO, 416), ("recvmmsg_time64", NO, 417),
    ("mq_timedsend_time64", NO, 418), ("mq_timedreceive_time64", NO, 419),
    ("semtimedop_time64", NO, 420),
];

/// The refused calls whose first argument is the path that they are about.
const FIRST_IS_PATH: &[&str] = &[
    "execve",
    "chmod",
    "chown",
    "lchown",
    "chown32",
    "lchown32",
    "utime",
    "utimes",
    "setxattr",
    "lsetxattr",
    "removexattr",
    "lremovexattr",
    "umount",
    "umount2",
    "chroot",
    "chdir",
    "swapon",
    "swapoff",
    "acct",
    "pivot_root",
    "mq_open",
    "mq_unlink",
    "uselib",
];

/// The calls whose second argument is a path.
const SECOND_IS_PATH: &[&str] = &[
    "execveat",
    "fchmodat",
    "fchmodat2",
    "fchownat",
    "utimensat",
    "utimensat_time64",
    "futimesat",
    "mount",
    "inotify_add_watch",
    "name_to_handle_at",
    "open_tree",
    "setxattrat",
    "removexattrat",
    "file_setattr",
    "quotactl",
];

/// The argument that is the path a call is about, if it is one of the first two.
pub(super) fn path(call: &Call) -> Option<u8> {
    match call.rule {
        Rule::File(file) => Some(file.path),
        _ if FIRST_IS_PATH.contains(&call.name) => Some(0),
        _ if SECOND_IS_PATH.contains(&call.name) => Some(1),
        _ => None,
    }
}

/// A call of a machine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Call {
    pub(super) name: &'static str,
    pub(super) number: u32,
    pub(super) rule: Rule,
}

/// All calls of a machine, in the order of their numbers.
pub(super) fn calls(machine: Machine) -> Vec<Call> {
    let number = |(_, wide, narrow): &Numbered| match machine {
        Machine::X86_64 => *wide,
        Machine::I386 => *narrow,
    };
    let call = |of: &Numbered, rule| Call { name: of.0, number: number(of), rule };
    let allowed = ALLOWED.iter().map(|of| call(of, Rule::Allowed));
    let refused = REFUSED.iter().map(|of| call(of, Rule::Refused));
    let ruled = RULED.iter().map(|(of, rule)| call(of, *rule));
    let all = allowed.chain(refused).chain(ruled);
    let mut all: Vec<Call> = all.filter(|call| call.number != NO).collect();
    all.sort_by_key(|call| call.number);
    all
}

/// The call with a number, unless the tables do not have it.
pub(super) fn numbered(machine: Machine, number: u32) -> Option<Call> {
    calls(machine).into_iter().find(|call| call.number == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_both_machines_has_one_name_and_one_rule() {
        for machine in [Machine::X86_64, Machine::I386] {
            let calls = calls(machine);
            assert!(calls.windows(2).all(|pair| pair[0].number < pair[1].number), "{machine:?}");
            let mut names: Vec<&str> = calls.iter().map(|call| call.name).collect();
            names.sort_unstable();
            assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{machine:?}");
        }
        let name = |machine, number: u32| numbered(machine, number).map(|call| call.name);
        assert_eq!(name(Machine::X86_64, libc::SYS_openat as u32), Some("openat"));
        assert_eq!(
            name(Machine::X86_64, libc::SYS_landlock_restrict_self as u32),
            Some("landlock_restrict_self")
        );
        assert_eq!(name(Machine::I386, 39), Some("mkdir"));
    }

    #[test]
    fn calls_whose_path_is_told_are_refused_calls() {
        for name in FIRST_IS_PATH.iter().chain(SECOND_IS_PATH) {
            assert!(REFUSED.iter().any(|(known, ..)| known == name), "{name}");
        }
    }
}
