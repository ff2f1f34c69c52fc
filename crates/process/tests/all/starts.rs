//! Programs that are started from a server behave as if they were started as usual.

use std::io::{Read as _, Write as _};
use std::path::Path;

use lydian_base::Cache;
use lydian_process::{Start, StartedProcess, Starter};

const CLANG: &str = "clang-19";

/// The results of a run: its output, its messages and its status.
type Gave = (String, String, Option<i32>);

fn gave(mut started: StartedProcess, input: &str) -> Gave {
    if let Some(mut pipe) = started.input.take() {
        pipe.write_all(input.as_bytes()).unwrap();
    }
    let (mut output, mut messages) = (String::new(), String::new());
    if let Some(mut pipe) = started.output.take() {
        pipe.read_to_string(&mut output).unwrap();
    }
    started.messages.read_to_string(&mut messages).unwrap();
    let status = started.wait().unwrap();
    (output, messages, status.code())
}

fn with_servers(folder: &Path) -> Starter {
    Starter::new(Cache::at(folder.join("cache")))
}

/// A starter with no cache, so without servers.
fn without_servers() -> Starter {
    Starter::new(Cache::at("/dev/null/cache"))
}

fn preprocess() -> Start {
    Start::new(CLANG).args(["-E", "-P", "-x", "c", "-"]).piped_input().piped_output()
}

#[test]
fn a_copy_of_a_server_does_what_the_program_does_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("here.c"), "int f(void) { return here; }\n").unwrap();
    std::fs::write(folder.path().join("good.c"), "int f(void) { return 3; }\n").unwrap();
    let starts = [
        (preprocess(), "#define A 1 + 2\nint a = A;\n"),
        (Start::new(CLANG).args(["-fsyntax-only", "here.c"]).directory(folder.path()), ""),
        (Start::new(CLANG).args(["-fsyntax-only", "good.c"]).directory(folder.path()), ""),
        (Start::new(CLANG).args(["-E", "good.c"]).directory(folder.path()).piped_output(), ""),
        (Start::new(CLANG).args(["--no-such-flag"]), ""),
        (Start::new(CLANG), ""),
    ];
    let (servers, usual) = (with_servers(folder.path()), without_servers());
    let mut statuses = Vec::new();
    for (start, input) in &starts {
        let copy = servers.spawn(start).unwrap();
        assert!(copy.is_copy(), "{start:?}");
        let by_itself = usual.spawn(start).unwrap();
        assert!(!by_itself.is_copy());
        let (copy, by_itself) = (gave(copy, input), gave(by_itself, input));
        assert_eq!(copy, by_itself, "{start:?}");
        statuses.push(copy.2);
    }
    assert_eq!(statuses, [0, 1, 0, 0, 1, 1].map(Some));
}

#[test]
fn runs_of_one_server_may_overlap_in_any_way() {
    let folder = tempfile::tempdir().unwrap();
    let servers = with_servers(folder.path());
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let servers = &servers;
            scope.spawn(move || {
                for number in 0..5 {
                    let text = format!("int a{thread} = {number};\n");
                    let copy = servers.spawn(&preprocess()).unwrap();
                    assert!(copy.is_copy());
                    assert_eq!(gave(copy, &text), (text, String::new(), Some(0)));
                }
            });
        }
    });
}

#[test]
fn the_last_run_takes_the_server_and_a_later_one_makes_another() {
    let folder = tempfile::tempdir().unwrap();
    let servers = with_servers(folder.path());
    let expected = ("int a;\n".to_owned(), String::new(), Some(0));
    for copies in [true, true, false] {
        if copies {
            let first = servers.spawn(&preprocess()).unwrap();
            assert!(first.is_copy());
            assert_eq!(gave(first, "int a;\n"), expected);
        }
        let last = servers.spawn(&preprocess().last()).unwrap();
        assert_eq!(gave(last, "int a;\n"), expected);
    }
}

#[test]
fn the_last_run_does_not_end_those_that_are_under_way() {
    let folder = tempfile::tempdir().unwrap();
    let servers = with_servers(folder.path());
    let first = servers.spawn(&preprocess()).unwrap();
    let last = servers.spawn(&preprocess().last()).unwrap();
    assert!(first.is_copy() && last.is_copy());
    assert_eq!(gave(last, "int b;\n").0, "int b;\n");
    assert_eq!(gave(first, "int a;\n"), ("int a;\n".to_owned(), String::new(), Some(0)));
}

#[test]
fn servers_that_end_finish_what_they_began() {
    let folder = tempfile::tempdir().unwrap();
    let servers = with_servers(folder.path());
    let first = servers.spawn(&preprocess()).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| servers.finish());
        assert_eq!(gave(first, "int a;\n"), ("int a;\n".to_owned(), String::new(), Some(0)));
    });
}

/// A compiler that prints its attributes, except for the one file that it must compile.
const TELLER: &str = r#"
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
extern char **environ;
int main(int argc, char **argv)
{
    if (argc > 2) {
        argv[0] = "clang-19";
        return execvp(argv[0], argv);
    }
    for (char **one = environ; *one; one++)
        if (!strncmp(*one, "L", 1)) puts(*one);
    DIR *files = opendir("/proc/self/fd");
    for (struct dirent *one; (one = readdir(files));) {
        int number = -1;
        if (sscanf(one->d_name, "%d", &number) == 1 && number != dirfd(files)) printf("file %d\n", number);
    }
    sigset_t blocked;
    struct sigaction interrupt;
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    sigaction(SIGINT, NULL, &interrupt);
    printf("%d %d\n", sigismember(&blocked, SIGCHLD), interrupt.sa_handler == SIG_DFL);
    char folder[4096];
    puts(getcwd(folder, sizeof folder));
    return 7;
}
"#;

#[test]
fn a_run_sees_nothing_of_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let teller = folder.path().join("teller");
    let arguments = ["-w", "-x", "c", "-", "-o", teller.to_str().unwrap()];
    let made = Start::new(CLANG).args(arguments).piped_input();
    assert_eq!(gave(without_servers().spawn(&made).unwrap(), TELLER).2, Some(0));
    let start = Start::new(&teller).args(["tell"]).piped_output().directory(folder.path());
    let mut by_itself = gave(without_servers().spawn(&start).unwrap(), "");
    // This process passes on its inherited attributes, and a server does not.
    let is_inherited = |line: &&str| {
        let number = line.strip_prefix("file ").and_then(|number| number.parse().ok());
        number.is_some_and(|number: u32| number > 2)
    };
    let kept = by_itself.0.split_inclusive('\n').filter(|line| !is_inherited(&line.trim_end()));
    by_itself.0 = kept.collect();
    // Whether an interrupt ends it is as it was for this process.
    assert!(by_itself.0.contains("LC_ALL=C\n") && by_itself.0.contains("\n0 "), "{by_itself:?}");
    let servers = with_servers(folder.path());
    for start in [start.clone(), start.clone().last()] {
        let copy = servers.spawn(&start).unwrap();
        assert_eq!(gave(copy, ""), by_itself);
    }
    let again = with_servers(folder.path()).spawn(&start).unwrap();
    assert!(again.is_copy());
    assert_eq!(gave(again, ""), by_itself);
}

#[test]
fn scripts_are_started_as_usual() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("compiler");
    std::fs::write(&script, "#!/bin/sh\necho \"$@\"\n").unwrap();
    std::fs::set_permissions(&script, std::fs::Permissions::from_mode(0o755)).unwrap();
    let servers = with_servers(folder.path());
    let started = servers.spawn(&Start::new(&script).args(["a", "b c"]).piped_output()).unwrap();
    assert!(!started.is_copy());
    assert_eq!(gave(started, "").0, "a b c\n");
}

#[test]
fn a_program_or_folder_that_is_missing_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let servers = with_servers(folder.path());
    assert!(servers.spawn(&Start::new("no-such-program-here")).is_err());
    let elsewhere = folder.path().join("missing");
    assert!(servers.spawn(&Start::new(CLANG).directory(&elsewhere)).is_err());
    assert!(servers.spawn(&Start::new(CLANG)).unwrap().is_copy());
}

#[test]
fn a_damaged_object_is_made_again() {
    let folder = tempfile::tempdir().unwrap();
    let version = Start::new(CLANG).args(["--version"]).piped_output();
    gave(with_servers(folder.path()).spawn(&version).unwrap(), "");
    let kept = std::fs::read_dir(folder.path().join("cache")).unwrap();
    let kept: Vec<_> = kept.map(|entry| entry.unwrap().path()).collect();
    assert_eq!(kept.len(), 1);
    std::fs::write(&kept[0], "no object").unwrap();
    let started = with_servers(folder.path()).spawn(&version).unwrap();
    assert!(started.is_copy());
    assert!(gave(started, "").0.contains("clang version"));
}
