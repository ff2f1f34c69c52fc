//! A fork server: a process of a program that is copied for each run.
//!
//! The server's side is C (`runtime/server.c`), made into a shared object. The dynamic linker loads it
//! into the program before all others, and it replaces the C library's function that calls `main`. So
//! it suits programs that are dynamically linked with glibc. For others the object is not loaded or
//! does nothing, no greeting comes, and there is no server.
//!
//! A *kept* server stays for a while when Lydian ends, and the next run of Lydian finds it by a socket
//! in the cache. The socket's name encodes everything that a copy inherits ([`inherited`]), so a server
//! that is found there is as good as a new one.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::{AsRawFd as _, FromRawFd as _, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use lydian_base::Cache;
use lydian_base::cache::{Key, identity, locate};

use crate::inherited::inherited;
use crate::{Process, Start, StartedProcess, number};

const SOURCE: &str = include_str!("../runtime/server.c");
const FLAGS: [&str; 9] =
    ["-O1", "-w", "-std=gnu17", "-shared", "-fPIC", "-x", "c", "server.c", "-ldl"];

/// The flag of a packet that the server runs itself.
const TAKE: u8 = 1;

/// Seconds for the greeting.
const PATIENCE: i64 = 20;

/// A server, from its start on.
#[derive(Debug)]
pub(crate) struct Server {
    connection: OwnedFd,
    /// None for a server that stays when this process ends.
    process: Mutex<Option<Child>>,
    is_kept: bool,
    /// Whether its greeting came.
    greeted: OnceLock<bool>,
}

impl Server {
    /// Finds a kept server, or starts one, without waiting until it can be used. A new one is kept for
    /// the given time after its last use. None if there can be no server.
    pub(crate) fn start(
        program: &OsString,
        cache: &Cache,
        kept_for: Option<Duration>,
    ) -> Option<Self> {
        if std::env::var_os("LD_PRELOAD").is_some() {
            return None;
        }
        let path = std::fs::canonicalize(locate(program)?).ok()?;
        let mut magic = [0; 4];
        File::open(&path).ok()?.read_exact(&mut magic).ok()?;
        // A script cannot be loaded before its arguments are known.
        if magic != *b"\x7fELF" {
            return None;
        }
        let object = object(program, cache)?;
        // The linker's list has these characters between its entries.
        if object.as_os_str().as_bytes().iter().any(|byte| b" :;".contains(byte)) {
            return None;
        }
        let kept = kept_for.and_then(|time| Some((time.as_secs(), socket(program, cache)?)));
        if let Some((_, address)) = &kept
            && let Some(server) = Self::find(address)
        {
            return Some(server);
        }
        let file = std::fs::metadata(&path).ok()?;
        let mut name = OsString::from(format!("{}:{}", file.dev(), file.ino()));
        if let Some((seconds, address)) = &kept {
            name.push(format!(":{seconds}:"));
            name.push(address);
        }
        let (connection, theirs) = connection().ok()?;
        let mut command = Command::new(&path);
        command.arg0(program).env("LC_ALL", "C").env("LD_PRELOAD", object);
        command.env("LYDIAN_FORK_SERVER", name);
        if kept.is_some() {
            // The server resolves symbols once, so that copies need not.
            command.env("LD_BIND_NOW", "1");
        }
        command.stdin(Stdio::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
        let process = Mutex::new(Some(command.spawn().ok()?));
        Some(Self { connection, process, is_kept: kept.is_some(), greeted: OnceLock::new() })
    }

    /// The server at an address, if there is one that accepts the connection.
    fn find(address: &Path) -> Option<Self> {
        let connection = connected(address).ok()?;
        let process = Mutex::new(None);
        let server = Self { connection, process, is_kept: true, greeted: OnceLock::new() };
        server.is_ready().then_some(server)
    }

    /// Whether it can be used; waits for its greeting.
    pub(crate) fn is_ready(&self) -> bool {
        let greeting = || {
            let mut byte = 1u8;
            let socket = self.connection.as_raw_fd();
            // SAFETY: the place has room for the one byte.
            let received = unsafe { libc::recv(socket, (&raw mut byte).cast(), 1, 0) };
            received == 1 && byte == 0
        };
        *self.greeted.get_or_init(greeting)
    }

    /// Starts a run as a copy of the server, or as the server itself if it is the last run and no other
    /// is active. None if the server does not accept it.
    pub(crate) fn spawn(&self, start: &Start) -> Option<StartedProcess> {
        let here = || std::env::current_dir().ok();
        let directory = match &start.directory {
            // Errors about folders are reported by an ordinary start.
            Some(directory) if !directory.is_dir() => return None,
            Some(directory) if directory.is_absolute() => directory.clone(),
            Some(directory) => here()?.join(directory),
            None => here()?,
        };
        let packet = packet(start, &directory)?;
        let (ours, [input, output, messages]) = start.streams().ok()?;
        let (mut told, tell) = io::pipe().ok()?;
        let tell = OwnedFd::from(tell);
        let descriptors = [&input, &output, &messages, &tell].map(|end| end.as_raw_fd());
        send(&self.connection, &packet, descriptors).ok()?;
        // The end of the pipe shows that the server is gone, so no end of it stays here.
        drop((input, output, messages, tell));
        let process = u32::try_from(number(&mut told).ok()?).ok()?;
        let own = |child: &mut Child| child.id() == process;
        let mut server = self.process.lock().unwrap_or_else(PoisonError::into_inner);
        Some(ours.of(match server.take_if(own) {
            Some(child) => Process::Child(child),
            None => Process::Copy(told),
        }))
    }

    /// Whether it stays when this process ends.
    pub(crate) const fn is_kept(&self) -> bool {
        self.is_kept
    }

    /// Lets it end when its copies have ended, or leaves it to others. Returns its process, if that
    /// must be waited for.
    pub(crate) fn end(&self) -> Option<Child> {
        // SAFETY: the socket is open.
        unsafe { libc::shutdown(self.connection.as_raw_fd(), libc::SHUT_RDWR) };
        let process = self.process.lock().unwrap_or_else(PoisonError::into_inner).take();
        process.filter(|_| !self.is_kept)
    }
}

/// The shared object, kept for each compiler that made one.
fn object(compiler: &OsString, cache: &Cache) -> Option<PathBuf> {
    let identity = identity(compiler)?;
    let parts = [&*identity, SOURCE.as_bytes()];
    let flags = FLAGS.iter().map(|flag| flag.as_bytes());
    let key = Key::new("fork-server", parts.into_iter().chain(flags));
    if let Some(path) = cache.file(&key) {
        return Some(path);
    }
    cache.put(&key, &compiled(compiler)?);
    cache.file(&key)
}

fn compiled(compiler: &OsString) -> Option<Vec<u8>> {
    let place = tempfile::Builder::new().prefix("lydian-").tempdir().ok()?;
    std::fs::write(place.path().join("server.c"), SOURCE).ok()?;
    let mut command = Command::new(compiler);
    command.args(FLAGS).args(["-o", "server.so"]).current_dir(place.path());
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let done = command.status().ok()?.success();
    done.then(|| std::fs::read(place.path().join("server.so")).ok()).flatten()
}

/// The address of a program's kept server, for this version of the program and of the object, and for
/// everything that its copies inherit.
fn socket(program: &OsString, cache: &Cache) -> Option<PathBuf> {
    let (identity, inherited) = (identity(program)?, inherited()?);
    let parts = [&*identity, SOURCE.as_bytes(), &*inherited];
    let path = cache.socket(&Key::new("server", parts))?;
    // The server binds a longer name first.
    let limit = size_of::<libc::sockaddr_un>() - size_of::<libc::sa_family_t>() - 12;
    (path.as_os_str().len() < limit).then_some(path)
}

/// A connection to the server at an address.
fn connected(path: &Path) -> io::Result<OwnedFd> {
    // SAFETY: it takes numbers, and the result belongs to this process.
    let socket = unsafe {
        let socket = libc::socket(libc::AF_UNIX, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        OwnedFd::from_raw_fd(socket)
    };
    // SAFETY: all bits zero are a value of the type.
    let mut address: libc::sockaddr_un = unsafe { std::mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    for (to, byte) in address.sun_path.iter_mut().zip(path.as_os_str().as_bytes()) {
        *to = *byte as libc::c_char;
    }
    let size = size_of_val(&address) as libc::socklen_t;
    // SAFETY: the address is of this size, and its path ends within it.
    let done = unsafe { libc::connect(socket.as_raw_fd(), (&raw const address).cast(), size) };
    if done != 0 {
        return Err(io::Error::last_os_error());
    }
    wait_at_most(&socket, PATIENCE);
    Ok(socket)
}

/// Limits the time for which a socket waits for what it receives.
fn wait_at_most(socket: &OwnedFd, seconds: i64) {
    let limit = libc::timeval { tv_sec: seconds, tv_usec: 0 };
    let size = size_of_val(&limit) as libc::socklen_t;
    let (level, option) = (libc::SOL_SOCKET, libc::SO_RCVTIMEO);
    // SAFETY: the value is of the option's type and size. Without the limit nothing else changes.
    unsafe { libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const limit).cast(), size) };
}

/// A pair of sockets that carry packets. The first waits for what it receives for a limited time.
fn connection() -> io::Result<(OwnedFd, OwnedFd)> {
    let mut ends: [RawFd; 2] = [-1; 2];
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC;
    // SAFETY: the place has room for two descriptors, which are ours if the call succeeds.
    let ends = unsafe {
        if libc::socketpair(libc::AF_UNIX, kind, 0, ends.as_mut_ptr()) != 0 {
            return Err(io::Error::last_os_error());
        }
        ends.map(|end| OwnedFd::from_raw_fd(end))
    };
    wait_at_most(&ends[0], PATIENCE);
    let [ours, theirs] = ends;
    Ok((ours, theirs))
}

/// The packet of a run. None if a word contains the separator.
fn packet(start: &Start, directory: &Path) -> Option<Vec<u8>> {
    let mut packet = vec![if start.last { TAKE } else { 0 }];
    add_word(&mut packet, directory.as_os_str())?;
    // In the order in which the standard library passes it on.
    let mut environment: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    environment.insert("LC_ALL".into(), "C".into());
    for (mut entry, value) in environment {
        entry.push("=");
        entry.push(value);
        add_word(&mut packet, &entry)?;
    }
    add_word(&mut packet, "".as_ref())?;
    add_word(&mut packet, &start.program)?;
    for argument in &start.arguments {
        add_word(&mut packet, argument)?;
    }
    Some(packet)
}

fn add_word(packet: &mut Vec<u8>, word: &OsStr) -> Option<()> {
    if word.as_bytes().contains(&0) {
        return None;
    }
    packet.extend(word.as_bytes());
    packet.push(0);
    Some(())
}

/// Sends a packet and copies of descriptors.
fn send(connection: &OwnedFd, packet: &[u8], descriptors: [RawFd; 4]) -> io::Result<()> {
    /// Room for a header and the descriptors, aligned as a header is.
    #[repr(C)]
    union Control {
        header: libc::cmsghdr,
        room: [u8; 64],
    }
    let size = size_of_val(&descriptors) as u32;
    let mut bytes =
        libc::iovec { iov_base: packet.as_ptr().cast_mut().cast(), iov_len: packet.len() };
    let mut control = Control { room: [0; 64] };
    // SAFETY: all bits zero are a value of `msghdr`. Its pointers are to places that outlive the call
    // and are as large as it says; the control area has room for one header with four descriptors,
    // so the header and its data lie in it.
    let sent = unsafe {
        let mut message: libc::msghdr = std::mem::zeroed();
        message.msg_iov = &raw mut bytes;
        message.msg_iovlen = 1;
        message.msg_control = (&raw mut control).cast();
        message.msg_controllen = libc::CMSG_SPACE(size) as _;
        let header = libc::CMSG_FIRSTHDR(&raw const message);
        (*header).cmsg_level = libc::SOL_SOCKET;
        (*header).cmsg_type = libc::SCM_RIGHTS;
        (*header).cmsg_len = libc::CMSG_LEN(size) as _;
        libc::CMSG_DATA(header).cast::<[RawFd; 4]>().write_unaligned(descriptors);
        libc::sendmsg(connection.as_raw_fd(), &raw const message, libc::MSG_NOSIGNAL)
    };
    match usize::try_from(sent) {
        Ok(sent) if sent == packet.len() => Ok(()),
        Ok(_) => Err(io::Error::other("a packet was sent in part")),
        Err(_) => Err(io::Error::last_os_error()),
    }
}
