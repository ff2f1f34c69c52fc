//! The filter of system calls, as the program that the kernel runs on each of them.
//!
//! Calls are found by a binary search over ranges of numbers with one rule, so that allowed ones
//! cost little; of those that need nothing but their number the kernel remembers the answer. What
//! is refused traps: the runner's handler gets the lowest 16 bits of the answer ([`Answer`]), tells
//! of the call and goes on.
//!
//! Calls about files trap as well, unless they come from one place in the runner, the gate: there
//! the handler makes them again, and sees what Landlock says. The gate keeps nothing out, so
//! nothing is lost where the code under test jumps there: it is for telling alone.
//!
//! The process and the gate are known when the runner has started. It writes them in the places
//! that [`PROCESS`], [`GATE_LOW`] and [`GATE_HIGH`] hold.

use libc::sock_filter as Instruction;

use super::calls::{Call, Change, Rule, calls};

/// The architecture of the confined process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Machine {
    /// 64-bit.
    X86_64,
    /// 32-bit.
    I386,
}

impl Machine {
    /// The kernel's number for it (`AUDIT_ARCH_X86_64`, `AUDIT_ARCH_I386`).
    pub(super) const fn number(self) -> u32 {
        match self {
            Self::X86_64 => 0xc000_003e,
            Self::I386 => 0x4000_0003,
        }
    }

    /// The machine with a number.
    pub(super) fn numbered(number: u32) -> Option<Self> {
        [Self::X86_64, Self::I386].into_iter().find(|machine| machine.number() == number)
    }
}

/// Stands for the number of the runner's process. The three are no values that a rule compares
/// with.
pub(super) const PROCESS: u32 = 0x6c79_0001;
/// Stands for the lower half of the gate's address.
pub(super) const GATE_LOW: u32 = 0x6c79_0002;
/// Stands for the upper half of the gate's address.
pub(super) const GATE_HIGH: u32 = 0x6c79_0003;

/// From here on the numbers of a 64-bit process are those of the x32 machine.
pub(super) const X32: u32 = 0x4000_0000;

const ALLOW: u32 = 0x7fff_0000;
const TRAP: u32 = 0x0003_0000;
const ERROR: u32 = 0x0005_0000;

const NUMBER_AT: u32 = 0;
const MACHINE_AT: u32 = 4;
const PLACE_AT: u32 = 8;
const ARGUMENTS_AT: u32 = 16;

/// `CLONE_THREAD`.
const THREAD: u32 = 0x0001_0000;
/// The flags of `clone` for new namespaces: `CLONE_NEWNS`, `CLONE_NEWCGROUP` to `CLONE_NEWNET`,
/// `CLONE_NEWTIME`.
const NAMESPACES: u32 = 0x7e02_0080;

/// The data of the filter's answer for the handler, as `confine.h` reads it.
#[derive(Clone, Copy)]
struct Answer(u16);

impl Answer {
    /// The call gives this error.
    fn refuse(error: i32) -> Self {
        Self(error as u16)
    }

    /// The call is made again.
    fn repeat(path: u8, second: Option<u8>, change: Change) -> Self {
        let second = second.map_or(0, |path| u16::from(path + 1) << 11);
        Self(u16::from(path + 1) << 8 | second | (change as u16) << 14)
    }
}

fn load(at: u32) -> Instruction {
    statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, at)
}

/// The lower half of an argument. All that rules compare are 32-bit numbers to the kernel.
fn load_argument(argument: u8) -> Instruction {
    load(ARGUMENTS_AT + 8 * u32::from(argument))
}

fn answer(value: u32) -> Instruction {
    statement(libc::BPF_RET | libc::BPF_K, value)
}

fn trap(answered: Answer) -> Instruction {
    answer(TRAP | u32::from(answered.0))
}

fn statement(code: u32, value: u32) -> Instruction {
    Instruction { code: code as u16, jt: 0, jf: 0, k: value }
}

/// Leaves out so many instructions if the test holds, and so many if not.
fn jump(test: u32, value: u32, holds: usize, fails: usize) -> Instruction {
    let near = |distance: usize| u8::try_from(distance).expect("rules are short");
    let code = (libc::BPF_JMP | test | libc::BPF_K) as u16;
    Instruction { code, jt: near(holds), jf: near(fails), k: value }
}

/// Leaves out so many instructions.
fn skip(distance: usize) -> Instruction {
    statement(libc::BPF_JMP | libc::BPF_JA, distance as u32)
}

/// The filter for a process of an architecture, with places that the runner fills in.
pub(super) fn filter(machine: Machine) -> Vec<Instruction> {
    let own = search(&ranges(&calls(machine)));
    let no = trap(Answer::refuse(libc::EPERM));
    // A process can call the kernel as one of another machine, too: no program that a compiler
    // makes does.
    let mut all =
        vec![load(MACHINE_AT), jump(libc::BPF_JEQ, machine.number(), 1, 0), no, load(NUMBER_AT)];
    if machine == Machine::X86_64 {
        all.extend([jump(libc::BPF_JGE, X32, 0, 1), no]);
    }
    all.extend(own);
    all
}

/// Numbers from `first` up to that of the next range, which have one rule.
#[derive(Clone, Copy)]
struct Range {
    first: u32,
    rule: Option<Rule>,
}

/// Ranges that cover all numbers. Numbers without a call have no rule.
fn ranges(calls: &[Call]) -> Vec<Range> {
    let mut ranges: Vec<Range> = Vec::new();
    let mut add = |first, rule| match ranges.last() {
        Some(last) if last.rule == rule => {}
        _ => ranges.push(Range { first, rule }),
    };
    let mut next = 0;
    for call in calls {
        if call.number > next {
            add(next, None);
        }
        add(call.number, Some(call.rule));
        next = call.number + 1;
    }
    add(next, None);
    ranges
}

/// The instructions that find the range of the loaded number, and answer by its rule.
fn search(ranges: &[Range]) -> Vec<Instruction> {
    let [range] = ranges else {
        let middle = ranges.len() / 2;
        let (below, above) = (search(&ranges[..middle]), search(&ranges[middle..]));
        let first = ranges[middle].first;
        let mut all = match below.len() {
            length @ ..256 => vec![jump(libc::BPF_JGE, first, length, 0)],
            length => vec![jump(libc::BPF_JGE, first, 0, 1), skip(length)],
        };
        all.extend(below);
        all.extend(above);
        return all;
    };
    // An unknown call is a new one: programs that use it can do without it.
    range.rule.map_or_else(|| vec![trap(Answer::refuse(libc::ENOSYS))], decide)
}

/// The instructions that answer by a rule.
fn decide(rule: Rule) -> Vec<Instruction> {
    let no = trap(Answer::refuse(libc::EPERM));
    let yes = answer(ALLOW);
    match rule {
        Rule::Allowed => vec![yes],
        Rule::Refused => vec![no],
        Rule::Absent => vec![answer(ERROR | libc::ENOSYS as u32)],
        Rule::Thread => vec![
            load_argument(0),
            jump(libc::BPF_JSET, THREAD, 0, 2),
            jump(libc::BPF_JSET, NAMESPACES, 1, 0),
            yes,
            no,
        ],
        Rule::Itself { argument, or_zero } => {
            let values: &[u32] = if or_zero { &[PROCESS, 0] } else { &[PROCESS] };
            chosen(argument, values, no, yes)
        }
        Rule::Only(argument, values) => chosen(argument, values, no, yes),
        Rule::Except(argument, values) => chosen(argument, values, yes, no),
        Rule::File(file) => vec![
            load(PLACE_AT),
            jump(libc::BPF_JEQ, GATE_LOW, 0, 3),
            load(PLACE_AT + 4),
            jump(libc::BPF_JEQ, GATE_HIGH, 0, 1),
            yes,
            trap(Answer::repeat(file.path, file.second, file.change)),
        ],
    }
}

/// The instructions that answer in one way if an argument has one of some values, and in another
/// way otherwise.
fn chosen(
    argument: u8,
    values: &[u32],
    elsewhere: Instruction,
    there: Instruction,
) -> Vec<Instruction> {
    let mut all = vec![load_argument(argument)];
    let tests = values.iter().enumerate();
    all.extend(tests.map(|(at, value)| jump(libc::BPF_JEQ, *value, values.len() - at, 0)));
    all.extend([elsewhere, there]);
    all
}

#[cfg(test)]
mod tests;
