//! The servers of programs.

use std::ffi::{OsStr, OsString};
use std::io;
use std::process::Child;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lydian_base::Cache;

use crate::server::Server;
use crate::{Start, StartedProcess};

/// Starts programs, each from a server of its own.
#[derive(Debug)]
pub struct Starter {
    cache: Cache,
    /// The time for which unused servers stay; none if they end with this process.
    kept_for: Option<Duration>,
    known: Mutex<ServerTable>,
}

#[derive(Debug, Default)]
struct ServerTable {
    /// The servers by the program's name; none for a program without a possible server.
    servers: Vec<(OsString, Option<Arc<Server>>)>,
    /// Servers that were told to end.
    ended: Vec<Child>,
}

static OF_USER: LazyLock<Starter> = LazyLock::new(|| {
    let starter = Starter::new(Cache::of_user());
    match kept_for() {
        Some(time) => starter.keeping(time),
        None => starter,
    }
});

/// The environment variable with the seconds for which servers stay; 0 for none.
pub const KEEP_VARIABLE: &str = "LYDIAN_KEEP_SERVER";

/// The default seconds.
const USUAL: u64 = 60;

/// The greatest number of seconds, a day.
const MOST: u64 = 86_400;

fn kept_for() -> Option<Duration> {
    let seconds = match std::env::var(KEEP_VARIABLE) {
        // A value that is no number counts as 0.
        Ok(text) => text.trim().parse().unwrap_or(0).min(MOST),
        Err(_) => USUAL,
    };
    (seconds > 0).then(|| Duration::from_secs(seconds))
}

/// The starter of this process.
pub(crate) fn of_user() -> &'static Starter {
    &OF_USER
}

/// Starts a program's server, to be ready when the program is first needed.
pub fn prepare(program: impl AsRef<OsStr>) {
    drop(of_user().server(program.as_ref()));
}

/// Ends all servers that are not kept and waits for their ends, so that their processor time counts as
/// this process's. It is called when no more programs are started.
pub fn finish() {
    of_user().finish();
}

impl Starter {
    /// A starter that keeps the servers' files in a cache, and no servers after its end.
    pub const fn new(cache: Cache) -> Self {
        let known = ServerTable { servers: Vec::new(), ended: Vec::new() };
        Self { cache, kept_for: None, known: Mutex::new(known) }
    }

    /// The same, with servers that stay unused for this time, at least a second.
    #[must_use]
    pub fn keeping(mut self, time: Duration) -> Self {
        self.kept_for = Some(time.max(Duration::from_secs(1)));
        self
    }

    /// Starts a program, if possible as a copy.
    ///
    /// # Errors
    /// Those of [`Start::spawn`].
    pub fn spawn(&self, start: &Start) -> io::Result<StartedProcess> {
        let server = match start.last {
            true => self.take(&start.program),
            false => self.server(&start.program),
        };
        if let Some(server) = server {
            let copy = if server.is_ready() { server.spawn(start) } else { None };
            if start.last && !server.is_kept() {
                self.end(&server);
            } else if !server.is_ready() {
                self.refuse(&start.program);
                self.end(&server);
            }
            if let Some(copy) = copy {
                log::debug!("starting {start} as a copy of one that is loaded");
                return Ok(copy);
            }
        }
        log::debug!("starting {start}");
        start.spawn_by_itself()
    }

    /// Ends all servers and waits for their ends.
    pub fn finish(&self) {
        let servers = std::mem::take(&mut self.known().servers);
        servers.iter().filter_map(|(_, server)| server.as_ref()).for_each(|one| self.end(one));
        let ended = std::mem::take(&mut self.known().ended);
        for mut child in ended {
            // An error means that it is gone.
            drop(child.wait());
        }
    }

    /// The server of a program, which is made if there is none.
    fn server(&self, program: &OsStr) -> Option<Arc<Server>> {
        let mut known = self.known();
        if let Some((_, server)) = known.servers.iter().find(|(name, _)| name == program) {
            return server.clone();
        }
        let name = program.to_owned();
        let server = Server::start(&name, &self.cache, self.kept_for).map(Arc::new);
        known.servers.push((name, server.clone()));
        server
    }

    /// Removes the server of a program, unless it is kept, and returns it if there was one.
    fn take(&self, program: &OsStr) -> Option<Arc<Server>> {
        let mut known = self.known();
        let is_its = |(name, server): &(OsString, Option<_>)| name == program && server.is_some();
        let at = known.servers.iter().position(is_its)?;
        match &known.servers[at].1 {
            Some(server) if server.is_kept() => Some(server.clone()),
            _ => known.servers.swap_remove(at).1,
        }
    }

    /// Notes that a program can have no server.
    fn refuse(&self, program: &OsStr) {
        for (_, server) in self.known().servers.iter_mut().filter(|(name, _)| name == program) {
            *server = None;
        }
    }

    /// Lets a server end, and keeps its process for waiting.
    fn end(&self, server: &Server) {
        let process = server.end();
        self.known().ended.extend(process);
    }

    fn known(&self) -> MutexGuard<'_, ServerTable> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Starter {
    fn drop(&mut self) {
        self.finish();
    }
}
