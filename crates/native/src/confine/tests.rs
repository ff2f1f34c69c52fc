//! The runner's side on 32-bit x86, where no tests are run yet.

use std::fmt::Write as _;
use std::process::Command;

use super::attempt::{ATTEMPTS_BYTES, noted};
use super::filter::{Machine, filter};

/// A program that confines itself and then makes a folder, starts a process, calls the kernel by
/// another table and signals its parent. It prints the noted attempts.
const HOSTILE: &str = r#"
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>
#include "confine.h"
static uint32_t running_test(void) { return 7; }
static struct sock_filter filter[] = {
#include "filter.inc"
};
static uint64_t memory[1 << 13];
int main(void) {
    struct confinement how = {1, 0, 0, sizeof filter / sizeof *filter, sizeof filter, 1 << 20, 1 << 28, 64};
    memcpy(memory, filter, sizeof filter);
    how.attempts_at = (sizeof filter + 15) / 16 * 16;
    int failed = confine((uint8_t *)memory, &how) != NULL;
    failed |= syscall(SYS_mkdir, "made", 0755) == 0 && access("made", F_OK) != 0;
    failed |= syscall(SYS_fork) != -1 || errno != EPERM;
    failed |= syscall(SYS_kill, getppid(), 0) != -1 || kill(getpid(), 0) != 0;
    fwrite((uint8_t *)memory + how.attempts_at, sizeof(struct attempts), 1, stderr);
    return failed;
}
"#;

/// The attempts of a hostile program of an architecture; `None` if it cannot be linked.
fn tried(machine: Machine, flag: &str) -> Option<Vec<String>> {
    let place = tempfile::tempdir().expect("a folder can be made");
    let mut text = String::new();
    for one in filter(machine) {
        let _ = writeln!(text, "{{{}, {}, {}, {}u}},", one.code, one.jt, one.jf, one.k);
    }
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).expect(name);
    write("filter.inc", &text);
    write("confine.h", crate::harness::CONFINE);
    write("hostile.c", HOSTILE);
    let mut compiler = Command::new("clang-19");
    let arguments = [flag, "-w", "-O1", "-std=gnu17", "hostile.c", "-o", "hostile"];
    let compiled = compiler.current_dir(place.path()).args(arguments).output().expect("it starts");
    if !compiled.status.success() {
        let said = String::from_utf8_lossy(&compiled.stderr).into_owned();
        assert!(flag == "-m32" && !said.contains("confine.h"), "{said}");
        return None;
    }
    let mut hostile = Command::new(place.path().join("hostile"));
    let ran = hostile.current_dir(place.path()).output().expect("it starts");
    assert!(ran.status.success(), "{:?}", ran.status);
    assert_eq!(ran.stderr.len() as u64, ATTEMPTS_BYTES);
    let noted = noted(&ran.stderr, machine, std::process::id());
    assert!(noted.iter().all(|noted| noted.test == Some(7)));
    Some(noted.into_iter().map(|noted| noted.attempt.to_string()).collect())
}

#[test]
fn processes_of_both_machines_confine_themselves_and_tell() {
    let expected = [
        "tried to make the folder `made`; done in a folder of its own",
        "tried to start a process; refused",
        "tried to send signal 0 to the process that runs it; refused",
    ];
    assert_eq!(tried(Machine::X86_64, "-m64").expect("it is linked"), expected);
    if let Some(found) = tried(Machine::I386, "-m32") {
        assert_eq!(found, expected);
    }
}
