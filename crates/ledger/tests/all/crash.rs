//! A process that is killed while it writes leaves a ledger with everything that it had committed.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use lydian_ir::CTypes;
use lydian_ir::test::{Image, Test};
use lydian_ledger::{EvidenceScope, FunctionName, Ledger};

const F: FunctionName<'_> = FunctionName { unit: "a.c", name: "f" };
const LEDGER: &str = "LYDIAN_TEST_LEDGER";

fn numbered(number: u32) -> Test {
    let image = Image { bytes: number.to_le_bytes().to_vec(), pointers: Vec::new() };
    Test::calling("f", vec![image])
}

fn number_of(test: &Test) -> u32 {
    u32::from_le_bytes(test.args[0].bytes[..].try_into().expect("four bytes"))
}

/// Writes two tests a transaction, and says so after each, until it is killed.
#[test]
#[ignore = "runs for ever: the crash test starts it in a process of its own and kills it"]
fn write_until_killed() {
    let path = std::env::var(LEDGER).expect("the crash test says where");
    let mut ledger = Ledger::open(Path::new(&path)).expect("a ledger");
    let scope = scope();
    for pair in 0.. {
        let mut recording = ledger.record(F, &scope).expect("a recording");
        for number in [2 * pair, 2 * pair + 1] {
            recording.test(&numbered(number), &CTypes::new()).expect("recorded");
        }
        recording.commit().expect("committed");
        writeln!(std::io::stderr(), "committed {pair}").expect("the parent listens");
    }
}

#[test]
fn a_process_killed_while_writing_loses_nothing_that_it_had_committed() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("ledger.db");
    let mut committed = 0;
    for kill_after in [1, 7, 20] {
        let mut child = Command::new(std::env::current_exe().expect("this test"))
            .args(["--exact", "crash::write_until_killed", "--ignored", "--nocapture"])
            .env(LEDGER, &path)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("a child");
        let output = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut lines = output.lines().map_while(Result::ok);
        let pairs: Vec<u32> = lines
            .by_ref()
            .filter_map(|line| line.strip_prefix("committed ")?.parse().ok())
            .take(kill_after)
            .collect();
        // SIGKILL on Unix.
        child.kill().expect("killed");
        child.wait().expect("ended");
        assert_eq!(pairs.len(), kill_after);
        committed = committed.max(pairs.len() as u32);

        let ledger = Ledger::open(&path).expect("the ledger is whole");
        let tests = ledger.tests(F, &scope(), &CTypes::new()).expect("tests");
        let numbers: Vec<u32> = tests.iter().map(|stored| number_of(&stored.test)).collect();
        assert!(numbers.len() as u32 >= 2 * committed, "{numbers:?}");
        assert_eq!(numbers.len() % 2, 0, "a transaction is kept whole");
        assert_eq!(numbers, (0..numbers.len() as u32).collect::<Vec<_>>());
    }
}

fn scope() -> EvidenceScope {
    EvidenceScope { code: "code".into(), configuration: String::new() }
}
