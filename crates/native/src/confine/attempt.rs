//! Attempts of tests that confinement refuses, in words.

use serde::{Deserialize, Serialize};

use super::FILE_SIZE;
use super::calls::{self, Call, Rule};
use super::filter::{Machine, X32};

/// Something that a test did outside of the program, or tried to do.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Attempt {
    /// The system call, or `signal` if only a signal tells of the attempt.
    pub call: String,
    /// The purpose, as the words after "tried to".
    pub what: String,
    /// Whether it failed; else it was done in the folder of the run, which is gone afterwards.
    pub refused: bool,
}

impl std::fmt::Display for Attempt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let end = if self.refused { "refused" } else { "done in a folder of its own" };
        write!(f, "tried to {}; {end}", self.what)
    }
}

impl Attempt {
    /// A call that was made while its signal was blocked, so that the kernel ended the process.
    pub(crate) fn blocked() -> Self {
        let what =
            "make a system call that is refused while it blocks the signal which tells of it";
        Self { call: "signal".to_owned(), what: what.to_owned(), refused: true }
    }
}

/// An attempt with the test that was running, by position; none while the program was loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noted {
    pub(crate) test: Option<u32>,
    pub(crate) attempt: Attempt,
}

/// The layout of `struct attempts`.
const HEAD: usize = 16;
const ATTEMPTS: usize = 64;
const TEXT: usize = 128;
const ARGUMENTS: usize = 6;
const ATTEMPT: usize = 16 + ARGUMENTS * 8 + 2 * TEXT;
/// Bytes of all.
pub(crate) const ATTEMPTS_BYTES: u64 = (HEAD + ATTEMPTS * ATTEMPT) as u64;

/// In the place of a call's number: a file grew beyond its limit.
const FILE_SIZE_EXCEEDED: u32 = u32::MAX;

/// Decodes the notes of a runner. `parent` is the process that started it. The program may have
/// overwritten the notes, so any content must give attempts.
pub(crate) fn noted(bytes: &[u8], own: Machine, parent: u32) -> Vec<Noted> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
    let long = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"));
    let used = (word(0) as usize).min(ATTEMPTS);
    let read = |index: usize| {
        let at = HEAD + index * ATTEMPT;
        let arguments = std::array::from_fn(|argument| long(at + 16 + 8 * argument));
        let text = |which: usize| {
            let from = at + 16 + ARGUMENTS * 8 + which * TEXT;
            shown(&bytes[from..from + TEXT])
        };
        let refused = RefusedCall {
            own,
            machine: Machine::numbered(word(at + 4)),
            number: word(at + 8),
            arguments,
            texts: [text(0), text(1)],
            parent,
        };
        let attempt = refused.attempt(word(at + 12) != 0);
        Noted { test: Some(word(at)).filter(|test| *test != u32::MAX), attempt }
    };
    (0..used).map(read).collect()
}

/// A program's text without characters that would spoil a line.
fn shown(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let text: String =
        String::from_utf8_lossy(&bytes[..end]).chars().flat_map(char::escape_debug).collect();
    let cut = if end + 1 >= bytes.len() { "..." } else { "" };
    format!("`{}{cut}`", text.replace('`', "'"))
}

/// A call as the runner noted it.
struct RefusedCall {
    /// The architecture of the process, and of its system call.
    own: Machine,
    machine: Option<Machine>,
    number: u32,
    arguments: [u64; ARGUMENTS],
    texts: [String; 2],
    parent: u32,
}

impl RefusedCall {
    fn attempt(&self, refused: bool) -> Attempt {
        if self.number == FILE_SIZE_EXCEEDED {
            let what = format!("write a file of more than {} MiB", FILE_SIZE >> 20);
            return Attempt { call: "signal".to_owned(), what, refused: true };
        }
        let number = self.number & !X32;
        let found = self.machine.and_then(|machine| calls::numbered(machine, number));
        let name = found.map(|call| call.name);
        let call = name.map_or_else(|| format!("{number}"), str::to_owned);
        let kind = match self.machine {
            _ if self.number & X32 != 0 => "x32 ",
            Some(Machine::I386) if self.own != Machine::I386 => "32-bit ",
            _ => "",
        };
        let what = match found.and_then(|call| self.deed(&call)) {
            Some(deed) if kind.is_empty() => deed,
            Some(deed) => format!("{deed} (as {kind}system call)"),
            None => format!("make the {kind}system call {call}"),
        };
        Attempt { call, what, refused }
    }

    /// The purpose of a call; `None` if its name must do.
    fn deed(&self, call: &Call) -> Option<String> {
        self.deed_with_files(call).or_else(|| self.deed_beyond(call.name))
    }

    /// The path of a call. The runner notes the paths of calls on files and, for other calls, the
    /// strings to which the first two arguments point.
    fn path(&self, call: &Call) -> &str {
        let is_own = matches!(call.rule, Rule::File(_)) && !self.is_foreign();
        let which = if is_own { 0 } else { usize::from(calls::path(call) == Some(1)) };
        &self.texts[which]
    }

    /// Whether it was made as a process of another machine makes it.
    fn is_foreign(&self) -> bool {
        self.machine != Some(self.own) || self.number & X32 != 0
    }

    fn deed_with_files(&self, call: &Call) -> Option<String> {
        let (path, other) = (self.path(call), &self.texts[1]);
        Some(match call.name {
            "open" => opening(path, self.arguments[1]),
            "openat" => opening(path, self.arguments[2]),
            "openat2" => format!("open {path}"),
            "creat" => format!("make the file {path}"),
            "mkdir" | "mkdirat" => format!("make the folder {path}"),
            "mknod" | "mknodat" => format!("make the file {path}"),
            "rmdir" => format!("remove the folder {path}"),
            "unlink" | "unlinkat" => format!("remove {path}"),
            "rename" | "renameat" | "renameat2" => format!("rename {path} to {other}"),
            "link" | "linkat" | "symlink" | "symlinkat" => format!("link {path} as {other}"),
            "truncate" | "truncate64" => format!("cut off {path}"),
            "chdir" => format!("go to the folder {path}"),
            "fchdir" => "go to another folder".to_owned(),
            "chmod" | "fchmodat" | "fchmodat2" => format!("change the mode of {path}"),
            "fchmod" => "change the mode of a file".to_owned(),
            "chown" | "lchown" | "fchownat" => format!("change the owner of {path}"),
            "fchown" => "change the owner of a file".to_owned(),
            "utime" | "utimes" | "futimesat" => format!("change the times of {path}"),
            // Without a path it is about a descriptor.
            "utimensat" if path == "``" => "change the times of a file".to_owned(),
            "utimensat" => format!("change the times of {path}"),
            "setxattr" | "lsetxattr" | "removexattr" | "lremovexattr" => {
                format!("change the attributes of {path}")
            }
            "mount" => format!("mount {path}"),
            "umount2" => format!("unmount {path}"),
            "execve" | "execveat" => format!("run the program {path}"),
            "chroot" => format!("make {path} its root"),
            _ => return None,
        })
    }

    fn deed_beyond(&self, name: &str) -> Option<String> {
        let [first, second, third, ..] = self.arguments;
        Some(match name {
            "fork" | "vfork" | "clone" => "start a process".to_owned(),
            "socket" | "socketpair" => format!("open a socket ({})", family(first)),
            "socketcall" => "use the network".to_owned(),
            "connect" | "bind" | "sendto" | "sendmsg" | "listen" | "accept" | "accept4" => {
                format!("use the network (`{name}`)")
            }
            "kill" | "tkill" | "rt_sigqueueinfo" => self.signalling(second),
            "tgkill" | "rt_tgsigqueueinfo" => self.signalling(third),
            "pidfd_open" | "pidfd_send_signal" | "pidfd_getfd" => {
                format!("get hold of another process (`{name}`)")
            }
            "ptrace" => "trace a process".to_owned(),
            "process_vm_readv" => "read the memory of a process".to_owned(),
            "process_vm_writev" => "write to the memory of a process".to_owned(),
            "shmget" | "msgget" | "semget" | "ipc" | "mq_open" => {
                format!("make an object that outlives it (`{name}`)")
            }
            "setuid" | "setgid" | "setreuid" | "setregid" | "setresuid" | "setresgid"
            | "setgroups" | "setfsuid" | "setfsgid" | "capset" => {
                format!("change whom it runs for (`{name}`)")
            }
            "clock_settime" | "settimeofday" | "adjtimex" | "clock_adjtime" => {
                "set the clock".to_owned()
            }
            "rt_sigaction" | "sigaction" | "signal" => {
                "handle the signals that tell of refused calls".to_owned()
            }
            _ => return None,
        })
    }

    /// Whom a signal is for: process numbers differ from run to run, but for these.
    fn signalling(&self, signal: u64) -> String {
        let whom = match self.arguments[0] as u32 as i32 {
            -1 => "all processes".to_owned(),
            0 => "the processes of its group".to_owned(),
            id if id as u32 == self.parent => "the process that runs it".to_owned(),
            id if id < 0 => format!("the processes of group {}", id.unsigned_abs()),
            id => format!("process {id}"),
        };
        format!("send signal {} to {whom}", signal as u32 as i32)
    }
}

fn opening(path: &str, flags: u64) -> String {
    const WRITES: u64 = (libc::O_WRONLY | libc::O_RDWR) as u64;
    match () {
        () if flags & libc::O_CREAT as u64 != 0 => format!("make the file {path}"),
        () if flags & WRITES != 0 => format!("write to {path}"),
        () => format!("read {path}"),
    }
}

fn family(number: u64) -> String {
    match number as i32 {
        libc::AF_INET => "IPv4".to_owned(),
        libc::AF_INET6 => "IPv6".to_owned(),
        libc::AF_UNIX => "local".to_owned(),
        libc::AF_NETLINK => "netlink".to_owned(),
        libc::AF_PACKET => "packets".to_owned(),
        other => format!("family {other}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words for a call of a 64-bit process.
    fn words(name: &str, arguments: &[u64], texts: [&str; 2]) -> String {
        let all = calls::calls(Machine::X86_64);
        let number = all.iter().find(|call| call.name == name).expect("it is a call").number;
        let mut six = [0; ARGUMENTS];
        six[..arguments.len()].copy_from_slice(arguments);
        let texts = texts.map(|text| shown(format!("{text:\0<TEXT$}").as_bytes()));
        let machine = Some(Machine::X86_64);
        RefusedCall { own: Machine::X86_64, machine, number, arguments: six, texts, parent: 100 }
            .attempt(true)
            .what
    }

    #[test]
    fn what_is_tried_is_said_in_plain_words() {
        assert_eq!(words("mkdir", &[], ["/x", ""]), "make the folder `/x`");
        assert_eq!(words("rename", &[], ["a", "b"]), "rename `a` to `b`");
        assert_eq!(words("open", &[0, 0], ["/etc/shadow", ""]), "read `/etc/shadow`");
        assert_eq!(words("openat", &[0, 0, 0o102], ["a", ""]), "make the file `a`");
        assert_eq!(words("openat", &[0, 0, 1], ["/a", ""]), "write to `/a`");
        assert_eq!(words("kill", &[u64::MAX, 9], ["", ""]), "send signal 9 to all processes");
        assert_eq!(
            words("kill", &[100, 15], ["", ""]),
            "send signal 15 to the process that runs it"
        );
        assert_eq!(words("socket", &[2], ["", ""]), "open a socket (IPv4)");
        assert_eq!(words("bpf", &[], ["", ""]), "make the system call bpf");
    }

    #[test]
    fn a_path_spoils_no_line() {
        assert_eq!(shown(b"a\nb\x1b[2J`c\0the rest"), "`a\\nb\\u{1b}[2J'c`");
        assert_eq!(shown(&[b'a'; TEXT]).len(), TEXT + 5);
    }

    #[test]
    fn what_a_program_wrote_over_is_still_read() {
        for byte in [0, 1, 0x40, 0xff] {
            let bytes = vec![byte; ATTEMPTS_BYTES as usize];
            let read = noted(&bytes, Machine::X86_64, 1);
            assert!(read.len() <= ATTEMPTS && (byte != 0 || read.is_empty()));
        }
    }
}
