//! Servers that stay when the process that started them is gone.

use std::io::Read as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use lydian_base::Cache;
use lydian_process::{Start, Starter};

const LONG: Duration = Duration::from_secs(30);

/// Prints its parent's process id and its own, and stays if it is told so.
const TELLER: &str = r#"
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
    (void)argv;
    printf("%d %d\n", (int)getppid(), (int)getpid());
    fflush(stdout);
    return argc > 1 ? (int)sleep(100) : 3;
}
"#;

/// A folder with a program of which there can be a server. The compiler of the server's object is
/// the program itself, so it is clang for all other arguments.
struct ProgramFolder {
    folder: tempfile::TempDir,
}

impl ProgramFolder {
    fn new() -> Self {
        let place = Self { folder: tempfile::tempdir().unwrap() };
        let text = TELLER.replace(
            "(void)argv;",
            "if (argc > 2) { argv[0] = \"clang-19\"; return execvp(argv[0], argv); }",
        );
        std::fs::write(place.folder.path().join("teller.c"), text).unwrap();
        let mut command = std::process::Command::new("clang-19");
        command.args(["-w", "teller.c", "-o", "teller"]).current_dir(place.folder.path());
        assert!(command.status().unwrap().success());
        place
    }

    fn teller(&self) -> PathBuf {
        self.folder.path().join("teller")
    }

    fn starter(&self) -> Starter {
        Starter::new(Cache::at(self.folder.path().join("cache")))
    }

    fn sockets(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(self.folder.path().join("cache")).unwrap();
        let entries = entries.map(Result::unwrap);
        let is_socket = |entry: &std::fs::DirEntry| entry.file_type().unwrap().is_socket();
        entries.filter(is_socket).map(|entry| entry.path()).collect()
    }
}

/// The process ids of a run's parent and of the run, as it prints them.
fn told(starter: &Starter, start: &Start) -> [u32; 2] {
    let mut started = starter.spawn(&start.clone().piped_output()).unwrap();
    assert!(started.is_copy());
    let mut output = String::new();
    started.output.take().unwrap().read_to_string(&mut output).unwrap();
    assert_eq!(started.wait().unwrap().code(), Some(3));
    numbers(&output)
}

fn numbers(line: &str) -> [u32; 2] {
    let numbers: Vec<u32> = line.split_whitespace().map(|word| word.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

fn is_alive(process: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !status.is_empty() && !status.contains(") Z ")
}

fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < Duration::from_secs(60), "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Ends a server that a test has left.
fn end(process: u32) {
    std::process::Command::new("kill").args(["-9", &process.to_string()]).status().unwrap();
}

#[test]
fn who_comes_later_finds_the_server_of_who_came_before() {
    let place = ProgramFolder::new();
    let start = Start::new(place.teller());
    let first = place.starter().keeping(LONG);
    let [server, _] = told(&first, &start);
    first.finish();
    let second = place.starter().keeping(LONG);
    for start in [start.clone(), start.clone().last(), start.clone()] {
        assert_eq!(told(&second, &start)[0], server);
    }
    assert_eq!(place.sockets().len(), 1);
    let [own, _] = told(&place.starter(), &start);
    assert_ne!(own, server, "who keeps no servers uses none that were kept");
    end(server);
    // A socket without a listener does no harm.
    let [third, _] = told(&place.starter().keeping(LONG), &start);
    assert!(third != server && is_alive(third));
    end(third);
}

#[test]
fn a_server_that_nobody_uses_ends_and_leaves_nothing() {
    let place = ProgramFolder::new();
    let starter = place.starter().keeping(Duration::from_secs(1));
    let [server, _] = told(&starter, &Start::new(place.teller()));
    assert!(is_alive(server) && place.sockets().len() == 1);
    std::thread::sleep(Duration::from_millis(1500));
    assert!(is_alive(server), "it has a client");
    starter.finish();
    wait_until("the server's end", || !is_alive(server));
    assert_eq!(place.sockets(), Vec::<PathBuf>::new());
}

#[test]
fn what_a_client_started_ends_when_it_goes() {
    let place = ProgramFolder::new();
    let starter = place.starter().keeping(LONG);
    let start = Start::new(place.teller()).args(["stay"]).piped_output();
    let mut started = starter.spawn(&start).unwrap();
    let mut line = [0; 64];
    let read = started.output.as_mut().unwrap().read(&mut line).unwrap();
    let [server, run] = numbers(std::str::from_utf8(&line[..read]).unwrap());
    assert!(is_alive(run));
    starter.finish();
    wait_until("the run's end", || !is_alive(run));
    assert!(started.wait().unwrap().code().is_none(), "it was ended by a signal");
    assert!(is_alive(server));
    end(server);
}

#[test]
fn a_program_that_has_changed_has_another_server() {
    let place = ProgramFolder::new();
    let start = Start::new(place.teller());
    let [server, _] = told(&place.starter().keeping(LONG), &start);
    let other = place.folder.path().join("other");
    std::fs::copy(place.teller(), &other).unwrap();
    std::fs::rename(&other, place.teller()).unwrap();
    let [next, _] = told(&place.starter().keeping(LONG), &start);
    assert_ne!(next, server);
    end(server);
    end(next);
}

#[test]
fn two_that_start_at_once_both_have_what_they_need() {
    let place = ProgramFolder::new();
    let start = Start::new(place.teller());
    told(&place.starter(), &start);
    let servers: Vec<u32> = std::thread::scope(|scope| {
        let run = || told(&place.starter().keeping(LONG), &start)[0];
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(run)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert_eq!(place.sockets().len(), 1, "{:?}", place.sockets());
    servers.into_iter().for_each(end);
}

#[test]
fn a_folder_whose_path_is_too_long_for_a_socket_keeps_none() {
    let place = ProgramFolder::new();
    let long = place.folder.path().join("x".repeat(100));
    let starter = Starter::new(Cache::at(&long)).keeping(LONG);
    let [server, _] = told(&starter, &Start::new(place.teller()));
    starter.finish();
    wait_until("the server's end", || !is_alive(server));
    assert!(!has_socket(&long));
}

fn has_socket(folder: &Path) -> bool {
    let entries = std::fs::read_dir(folder).unwrap();
    entries.map(Result::unwrap).any(|entry| entry.file_type().unwrap().is_socket())
}
