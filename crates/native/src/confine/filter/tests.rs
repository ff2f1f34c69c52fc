//! The filter is run by a small interpreter of the kernel's instructions.

use super::*;

const OWN: u64 = 4711;
const GATE: u64 = 0x7f00_1234_5678;

/// A system call as the kernel shows it to a filter.
#[derive(Clone, Copy)]
struct Event {
    machine: Machine,
    number: u32,
    place: u64,
    arguments: [u64; 6],
}

fn event(machine: Machine, name: &str, arguments: &[u64]) -> Event {
    let call = calls(machine).into_iter().find(|call| call.name == name).expect("it is a call");
    let mut six = [0; 6];
    six[..arguments.len()].copy_from_slice(arguments);
    Event { machine, number: call.number, place: 0x1000, arguments: six }
}

impl Event {
    fn word(&self, at: u32) -> u32 {
        let half = |value: u64, at: u32| (value >> (8 * (at % 8))) as u32;
        match at {
            NUMBER_AT => self.number,
            MACHINE_AT => self.machine.number(),
            8..16 => half(self.place, at),
            _ => half(self.arguments[(at - ARGUMENTS_AT) as usize / 8], at),
        }
    }
}

/// The filter as the runner fills it in.
fn filled(machine: Machine) -> Vec<Instruction> {
    let mut filter = filter(machine);
    for instruction in &mut filter {
        instruction.k = match instruction.k {
            PROCESS => OWN as u32,
            GATE_LOW => GATE as u32,
            GATE_HIGH => (GATE >> 32) as u32,
            other => other,
        };
    }
    filter
}

fn answered(filter: &[Instruction], event: &Event) -> u32 {
    let (mut at, mut loaded) = (0, 0);
    loop {
        let Instruction { code, jt, jf, k } = filter[at];
        at += 1;
        let code = u32::from(code);
        if code == libc::BPF_RET | libc::BPF_K {
            return k;
        } else if code == libc::BPF_LD | libc::BPF_W | libc::BPF_ABS {
            loaded = event.word(k);
        } else if code == libc::BPF_JMP | libc::BPF_JA {
            at += k as usize;
        } else {
            let holds = match code & 0xf0 {
                libc::BPF_JEQ => loaded == k,
                libc::BPF_JGE => loaded >= k,
                libc::BPF_JSET => loaded & k != 0,
                other => panic!("no instruction has the operation {other:#x}"),
            };
            at += usize::from(if holds { jt } else { jf });
        }
    }
}

fn is_made(machine: Machine, name: &str, arguments: &[u64]) -> bool {
    answered(&filled(machine), &event(machine, name, arguments)) == ALLOW
}

const REFUSED: u32 = TRAP | libc::EPERM as u32;

#[test]
fn filters_fit_the_kernel_and_the_shared_memory() {
    for machine in [Machine::X86_64, Machine::I386] {
        let length = filter(machine).len();
        assert!(length <= super::super::FILTER_LENGTH, "{machine:?}: {length}");
    }
}

#[test]
fn every_call_is_answered_by_its_rule() {
    for machine in [Machine::X86_64, Machine::I386] {
        let filter = filled(machine);
        for call in calls(machine) {
            let found = answered(&filter, &event(machine, call.name, &[]));
            let (name, answer) = (call.name, found & 0xffff_0000);
            match call.rule {
                Rule::Allowed => assert_eq!(found, ALLOW, "{name}"),
                Rule::Refused => assert_eq!(found, REFUSED, "{name}"),
                Rule::Absent => assert_eq!(found, ERROR | libc::ENOSYS as u32, "{name}"),
                Rule::Thread => assert_eq!(found, REFUSED, "{name}"),
                Rule::File(file) => {
                    assert_eq!((answer, found & 0xff), (TRAP, 0), "{name}");
                    assert_eq!(found >> 8 & 7, u32::from(file.path) + 1, "{name}");
                }
                Rule::Itself { .. } | Rule::Only(..) | Rule::Except(..) => {}
            }
        }
    }
}

#[test]
fn numbers_that_no_call_has_are_told_and_do_not_exist() {
    for (machine, number) in [(Machine::X86_64, 400), (Machine::X86_64, 5000), (Machine::I386, 17)]
    {
        let unknown = Event { machine, number, place: 0, arguments: [0; 6] };
        let expected = if number == 17 { REFUSED } else { TRAP | libc::ENOSYS as u32 };
        assert_eq!(answered(&filled(machine), &unknown), expected, "{number}");
    }
}

#[test]
fn signals_reach_the_process_itself_alone() {
    for machine in [Machine::X86_64, Machine::I386] {
        for name in ["kill", "tgkill", "tkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"] {
            assert!(is_made(machine, name, &[OWN, 9]), "{name}");
            for other in [0, 1, OWN + 1, u64::MAX, u64::from(u32::MAX)] {
                assert!(!is_made(machine, name, &[other, 9]), "{name} {other}");
            }
        }
        assert!(is_made(machine, "prlimit64", &[0, 7]) && is_made(machine, "prlimit64", &[OWN]));
        assert!(!is_made(machine, "prlimit64", &[1, 7]));
        // The kernel looks at the lower half alone.
        assert!(!is_made(machine, "kill", &[1 << 32 | 1]));
    }
}

#[test]
fn threads_are_started_and_processes_are_not() {
    let thread = 0x003d_0f00;
    for machine in [Machine::X86_64, Machine::I386] {
        assert!(is_made(machine, "clone", &[thread]));
        for other in [0, 17, 0x4100, thread | 0x1000_0000, thread | 0x0002_0000] {
            assert!(!is_made(machine, "clone", &[other]), "{other:#x}");
        }
    }
}

#[test]
fn calls_about_files_are_made_from_the_gate_alone() {
    for machine in [Machine::X86_64, Machine::I386] {
        let filter = filled(machine);
        for name in ["open", "openat", "mkdir", "renameat2", "truncate"] {
            let at = |place| answered(&filter, &Event { place, ..event(machine, name, &[]) });
            assert_eq!(at(GATE), ALLOW, "{name}");
            assert_ne!(at(GATE + 1), ALLOW, "{name}");
            assert_ne!(at(GATE & 0xffff_ffff), ALLOW, "{name}");
        }
    }
}

#[test]
fn calls_of_another_machine_are_all_refused() {
    let both = [Machine::X86_64, Machine::I386];
    for (machine, other) in both.into_iter().zip([Machine::I386, Machine::X86_64]) {
        let filter = filled(machine);
        let gate = |call: &Call| Event {
            machine: other,
            number: call.number,
            place: GATE,
            arguments: [OWN; 6],
        };
        for call in calls(other) {
            assert_eq!(answered(&filter, &gate(&call)), REFUSED, "{}", call.name);
        }
    }
    let filter = filled(Machine::X86_64);
    let number = |number| Event { number, ..event(Machine::X86_64, "getpid", &[]) };
    assert_eq!(answered(&filter, &number(39)), ALLOW);
    assert_eq!(answered(&filter, &number(X32 | 39)), REFUSED);
}

#[test]
fn what_an_argument_says_decides() {
    for machine in [Machine::X86_64, Machine::I386] {
        let made = |name, arguments: &[u64]| is_made(machine, name, arguments);
        // TCGETS, and TIOCSTI.
        assert!(made("ioctl", &[0, 0x5401]) && !made("ioctl", &[0, 0x5412]));
        // F_GETFL, and F_SETOWN.
        assert!(made("fcntl", &[0, 3]) && !made("fcntl", &[0, 8]));
        // SIGUSR1, and SIGSYS.
        assert!(made("rt_sigaction", &[10]) && !made("rt_sigaction", &[31]));
        // PR_SET_NAME, and PR_SET_SECCOMP.
        assert!(made("prctl", &[15]) && !made("prctl", &[22]));
        assert!(made("personality", &[0xffff_ffff]) && !made("personality", &[8]));
    }
}
