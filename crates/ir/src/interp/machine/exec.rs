//! The loop that runs linear code.
//!
//! One `match` over the operations, with an arm for each operation at its width. Each
//! arm computes the same as [`crate::program::arith`], which is tested, operator by operator
//! and width by width. Rare cases (a load of bytes that are not all live and written, calls that are not
//! plain, events) are executed out of line.

use crate::interp::code::{Code, Op, Slow};
use crate::interp::machine::{Machine, Step, Stop};
use crate::interp::observe::Observer;
use crate::interp::outcome::{End, Location, UnknownCause};
use crate::interp::slots::{Slot, WINDOW, Window, is_wide, read, write};
use crate::program::arith::{self, f32_bits, f64_bits};
use crate::program::ctype::Target;
use crate::program::expr::{CastOp, Type};
use crate::program::stmt::{Edge, TrapKind};

/// The window that begins at a slot, with more slots made if there are not enough.
fn window(slots: &mut Vec<u64>, base: usize) -> &mut Window {
    let end = base + WINDOW;
    if slots.len() < end {
        slots.resize(end.max(slots.len() * 2), 0);
    }
    slots[base..end].first_chunk_mut().expect("there are as many slots as a window has")
}

const fn signed32(bits: u64) -> i32 {
    bits as u32 as i32
}

const fn word(value: i32) -> u64 {
    value as u32 as u64
}

fn single(value: f32) -> u64 {
    f32_bits(value) as u64
}

fn double(value: f64) -> u64 {
    f64_bits(value) as u64
}

const fn of_single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

const fn of_double(bits: u64) -> f64 {
    f64::from_bits(bits)
}

fn float_to_int(bits: u64, to: Type) -> Result<u64, TrapKind> {
    arith::cast(CastOp::FToS, Type::F64, to, u128::from(bits)).map(|bits| bits as u64)
}

/// The slots of an operator: of its result, and of its operands.
struct Operands {
    to: Slot,
    a: Slot,
    b: Slot,
}

impl<'p, 'c> Machine<'p, 'c> {
    /// Runs to the end.
    pub(in crate::interp) fn execute(&mut self, observer: &mut dyn Observer) -> End {
        let mut slots = std::mem::take(&mut self.slots);
        let mut end = match self.undefined.is_empty() {
            true => self.interpret::<false>(&mut slots, observer),
            false => self.interpret::<true>(&mut slots, observer),
        };
        if let Err(Stop::Follow) = end {
            // The operation that stopped there runs again.
            self.frame_mut().pc -= 1;
            end = self.interpret::<true>(&mut slots, observer);
        }
        let end = match end {
            Ok(end) => end,
            Err(stop) => stop.end(),
        };
        self.slots = slots;
        end
    }

    #[allow(clippy::too_many_lines, reason = "one arm an operation; each is a line or two")]
    fn interpret<const FOLLOWS: bool>(
        &mut self,
        slots: &mut Vec<u64>,
        observer: &mut dyn Observer,
    ) -> Step<End> {
        let mut code: &'c Code<'p> = self.frame().code;
        let mut ops: &'c [Op] = match self.patched.get() {
            Some(patched) => patched,
            None => &code.ops,
        };
        let mut pc = self.frame().pc;
        let mut frame_base = self.frame().span.base;
        let mut regs: &mut Window = window(slots, self.frame().base);

        // A slot's value.
        macro_rules! get {
            ($slot:expr) => {
                regs[usize::from($slot)]
            };
        }
        // Lets the machine know where the run is.
        macro_rules! here {
            () => {
                self.frame_mut().pc = pc
            };
        }
        macro_rules! inside {
            ($index:expr, $before:ident, $count:ident) => {
                if $index.wrapping_add(u64::from($before)) >= u64::from($count) {
                    here!();
                    self.note_misuse(true);
                }
            };
        }
        // C defines no address that is made of a null pointer.
        macro_rules! made_of {
            ($base:expr, $is_moved:expr) => {
                if get!($base) == 0 && $is_moved {
                    here!();
                    self.note_misuse(!self.program.functions[code.function].library);
                }
            };
        }
        macro_rules! attempt {
            ($value:expr) => {
                match $value {
                    Ok(value) => value,
                    Err(stop) => {
                        here!();
                        return Err(stop.into());
                    }
                }
            };
        }
        // Goes on in the newest frame.
        macro_rules! resume {
            () => {{
                let frame = self.frame();
                code = frame.code;
                ops = &code.ops;
                pc = frame.pc;
                frame_base = frame.span.base;
                let base = frame.base;
                regs = window(slots, base);
            }};
        }
        macro_rules! two {
            ($to:expr, $a:expr, $b:expr, |$x:ident, $y:ident| $value:expr) => {{
                let ($x, $y) = (get!($a), get!($b));
                get!($to) = $value;
            }};
        }
        macro_rules! try_two {
            ($to:expr, $a:expr, $b:expr, |$x:ident, $y:ident| $value:expr) => {{
                let ($x, $y) = (get!($a), get!($b));
                let value: Result<u64, TrapKind> = $value;
                get!($to) = attempt!(value);
            }};
        }
        macro_rules! one {
            ($to:expr, $a:expr, |$x:ident| $value:expr) => {{
                let $x = get!($a);
                get!($to) = $value;
            }};
        }
        macro_rules! jump_if {
            ($test:expr, $to:expr) => {
                if $test {
                    pc = $to as usize;
                }
            };
        }
        macro_rules! indexed {
            ($base:expr, $index:expr, $size:expr, $offset:expr) => {
                get!($base)
                    .wrapping_add(get!($index).wrapping_mul(u64::from($size)))
                    .wrapping_add($offset as i64 as u64)
            };
        }
        macro_rules! extended {
            ($base:expr, $index:expr, $size:expr, $offset:expr) => {
                get!($base)
                    .wrapping_add(
                        (i64::from(signed32(get!($index))) as u64).wrapping_mul(u64::from($size)),
                    )
                    .wrapping_add($offset as i64 as u64)
            };
        }
        macro_rules! load {
            ($bytes:literal, $quick:ident, $to:expr, $address:expr) => {{
                let address: u64 = $address;
                get!($to) = match self.memory.$quick::<$bytes>(address) {
                    Some(value) => value,
                    None => {
                        here!();
                        self.slow_load::<FOLLOWS>(address, $bytes)?
                    }
                };
            }};
        }
        macro_rules! store {
            ($bytes:literal, $quick:ident, $from:expr, $address:expr) => {{
                let (address, value): (u64, u64) = ($address, get!($from));
                if !self.memory.$quick::<$bytes>(address, value) {
                    attempt!(self.memory.store(address, $bytes, u128::from(value)));
                }
            }};
        }

        loop {
            let op = ops[pc];
            pc += 1;
            if FOLLOWS {
                here!();
                self.follow(op, code, regs, frame_base)?;
            }
            match op {
                Op::Steps(count) => {
                    if self.steps.count(u64::from(count)) {
                        here!();
                        if self.steps.is_checkpoint() {
                            if observer.stops() {
                                return Ok(self.steps.cancel());
                            }
                            self.steps.go_on();
                            continue;
                        }
                        match self.limit(u64::from(count)) {
                            Some(patched) => ops = patched,
                            None => return Ok(self.steps.stop()),
                        }
                    }
                }
                Op::Stop => {
                    here!();
                    return Ok(self.steps.stop());
                }
                Op::Jump(to) => pc = to as usize,
                Op::JumpIf(a, to) => jump_if!(get!(a) != 0, to),
                Op::JumpIfNot(a, to) => jump_if!(get!(a) == 0, to),
                Op::JEq(a, b, to) => jump_if!(get!(a) == get!(b), to),
                Op::JNe(a, b, to) => jump_if!(get!(a) != get!(b), to),
                Op::JLtU(a, b, to) => jump_if!(get!(a) < get!(b), to),
                Op::JLeU(a, b, to) => jump_if!(get!(a) <= get!(b), to),
                Op::JLtS32(a, b, to) => jump_if!(signed32(get!(a)) < signed32(get!(b)), to),
                Op::JLeS32(a, b, to) => jump_if!(signed32(get!(a)) <= signed32(get!(b)), to),
                Op::JLtS64(a, b, to) => jump_if!((get!(a) as i64) < get!(b) as i64, to),
                Op::JLeS64(a, b, to) => jump_if!(get!(a) as i64 <= get!(b) as i64, to),
                Op::JEqI(a, to, k) => jump_if!(get!(a) == k, to),
                Op::JNeI(a, to, k) => jump_if!(get!(a) != k, to),
                Op::JLtUI(a, to, k) => jump_if!(get!(a) < k, to),
                Op::JGeUI(a, to, k) => jump_if!(get!(a) >= k, to),
                Op::JLtS32I(a, to, k) => jump_if!(signed32(get!(a)) < signed32(k), to),
                Op::JGeS32I(a, to, k) => jump_if!(signed32(get!(a)) >= signed32(k), to),
                Op::JLtS64I(a, to, k) => jump_if!((get!(a) as i64) < k as i64, to),
                Op::JGeS64I(a, to, k) => jump_if!(get!(a) as i64 >= k as i64, to),
                Op::Switch(a, table) => {
                    let upper = regs[(usize::from(a) + 1) & (WINDOW - 1)];
                    pc = code.tables[table as usize].target(get!(a), upper) as usize;
                }
                Op::Trap(kind) => {
                    here!();
                    return Err(kind.into());
                }
                Op::Call(function, site) => {
                    here!();
                    self.enter(function, code, site, regs)?;
                    resume!();
                }
                Op::Resolve(to, a, site) => {
                    let address = get!(a);
                    get!(to) = attempt!(self.resolve(address, &code.sites[site as usize]));
                }
                Op::CallTo(a, site) => {
                    here!();
                    let index = get!(a);
                    let jumps = self.call_to(index, code, site, regs)?;
                    resume!();
                    if jumps {
                        self.jumped(regs);
                    }
                }
                Op::CallModel(site) => {
                    here!();
                    if self.call_model(&code.sites[site as usize], regs)? {
                        resume!();
                        self.jumped(regs);
                    }
                }
                Op::CallExternal(function, site) => {
                    here!();
                    self.external(function, &code.sites[site as usize], regs)?;
                }
                Op::CallHost(host, site) => {
                    here!();
                    self.call_host(host, &code.sites[site as usize], regs)?;
                }
                Op::Return => {
                    here!();
                    self.gives_nothing()?;
                    self.pop();
                    if self.calls.is_empty() {
                        return Ok(End::Returned);
                    }
                    resume!();
                }
                Op::ReturnValue(a) => {
                    let value = get!(a);
                    if self.calls.depth() == 1 {
                        self.first_result(u128::from(value));
                        return Ok(End::Returned);
                    }
                    let site = self.pop().site;
                    resume!();
                    if let Some((to, ty)) = code.sites[site as usize].dst {
                        get!(to) = value;
                        if is_wide(ty) {
                            write(regs, to, ty, u128::from(value));
                        }
                    }
                }
                Op::ReturnWide(a) => {
                    let value = read(regs, a, Type::Int(128));
                    if self.calls.depth() == 1 {
                        self.first_result(value);
                        return Ok(End::Returned);
                    }
                    let site = self.pop().site;
                    resume!();
                    if let Some((to, ty)) = code.sites[site as usize].dst {
                        write(regs, to, ty, value);
                    }
                }
                Op::ReturnRecord(a) => {
                    here!();
                    let from = get!(a);
                    self.give_record(from)?;
                    if self.calls.is_empty() {
                        return Ok(End::Returned);
                    }
                    resume!();
                }

                Op::Const(to, value) => get!(to) = value,
                Op::Move(to, a) => get!(to) = get!(a),
                Op::Clear(from, to) => regs[usize::from(from)..usize::from(to)].fill(0),
                Op::Check(flag, _) => {
                    if !FOLLOWS && get!(flag) == 0 {
                        here!();
                        return Err(Stop::Follow);
                    }
                }
                Op::GetFar(to, index, wide) => {
                    here!();
                    let bits = self.far::<FOLLOWS>(index)?;
                    write(regs, to, Type::Int(if wide { 128 } else { 64 }), bits);
                }
                Op::SetFar(from, index, wide) => {
                    let bits = read(regs, from, Type::Int(if wide { 128 } else { 64 }));
                    let set = self.far_is_set(from);
                    self.set_far(index, bits, set);
                }
                Op::FrameAddr(to, offset) => get!(to) = frame_base + u64::from(offset),
                Op::LeaX(to, base, index, size, offset) => {
                    made_of!(base, get!(index) != 0 || offset != 0);
                    get!(to) = indexed!(base, index, size, offset);
                }
                Op::LeaS(to, base, index, size, offset) => {
                    made_of!(base, signed32(get!(index)) != 0 || offset != 0);
                    get!(to) = extended!(base, index, size, offset);
                }
                Op::InsideX(index, before, count) => {
                    inside!(get!(index), before, count);
                }
                Op::InsideS(index, before, count) => {
                    inside!(signed32(get!(index)) as i64 as u64, before, count);
                }
                Op::PtrDiff(to, a, b, size) => {
                    let (x, y) = (get!(a), get!(b));
                    let is_own = !self.program.functions[code.function].library;
                    if is_own && !self.memory.is_one_object(x, y) {
                        here!();
                        self.note_misuse(true);
                    }
                    get!(to) = arith::address_difference(x, y, size);
                }
                Op::PtrDiff32(to, a, b, size) => {
                    two!(to, a, b, |x, y| Target::I386.address_difference(x, y, size));
                }

                Op::Add32(to, a, b) => {
                    two!(to, a, b, |x, y| word(signed32(x).wrapping_add(signed32(y))))
                }
                Op::Add64(to, a, b) => two!(to, a, b, |x, y| x.wrapping_add(y)),
                Op::Sub32(to, a, b) => {
                    two!(to, a, b, |x, y| word(signed32(x).wrapping_sub(signed32(y))))
                }
                Op::Sub64(to, a, b) => two!(to, a, b, |x, y| x.wrapping_sub(y)),
                Op::Mul32(to, a, b) => {
                    two!(to, a, b, |x, y| word(signed32(x).wrapping_mul(signed32(y))))
                }
                Op::Mul64(to, a, b) => two!(to, a, b, |x, y| x.wrapping_mul(y)),
                Op::CheckedAdd32(to, a, b) => {
                    try_two!(to, a, b, |x, y| narrow(signed32(x).checked_add(signed32(y))));
                }
                Op::CheckedAdd64(to, a, b) => {
                    try_two!(to, a, b, |x, y| wide((x as i64).checked_add(y as i64)));
                }
                Op::CheckedSub32(to, a, b) => {
                    try_two!(to, a, b, |x, y| narrow(signed32(x).checked_sub(signed32(y))));
                }
                Op::CheckedSub64(to, a, b) => {
                    try_two!(to, a, b, |x, y| wide((x as i64).checked_sub(y as i64)));
                }
                Op::CheckedMul32(to, a, b) => {
                    try_two!(to, a, b, |x, y| narrow(signed32(x).checked_mul(signed32(y))));
                }
                Op::CheckedMul64(to, a, b) => {
                    try_two!(to, a, b, |x, y| wide((x as i64).checked_mul(y as i64)));
                }
                Op::CheckedShl32(to, a, b) => {
                    try_two!(to, a, b, |x, y| amount(y, 32).and_then(|y| {
                        let shifted = signed32(x) << y;
                        narrow((signed32(x) >= 0 && shifted >> y == signed32(x)).then_some(shifted))
                    }));
                }
                Op::CheckedShl64(to, a, b) => {
                    try_two!(to, a, b, |x, y| amount(y, 64).and_then(|y| {
                        let (x, shifted) = (x as i64, (x as i64) << y);
                        wide((x >= 0 && shifted >> y == x).then_some(shifted))
                    }));
                }
                Op::DivU(to, a, b) => {
                    try_two!(to, a, b, |x, y| x.checked_div(y).ok_or(TrapKind::DivisionByZero));
                }
                Op::RemU(to, a, b) => {
                    try_two!(to, a, b, |x, y| x.checked_rem(y).ok_or(TrapKind::DivisionByZero));
                }
                Op::DivS32(to, a, b) => {
                    try_two!(to, a, b, |x, y| divisible(signed32(y) != 0)
                        .and_then(|()| narrow(signed32(x).checked_div(signed32(y)))));
                }
                Op::RemS32(to, a, b) => {
                    try_two!(to, a, b, |x, y| divisible(signed32(y) != 0)
                        .and_then(|()| narrow(signed32(x).checked_rem(signed32(y)))));
                }
                Op::DivS64(to, a, b) => {
                    try_two!(to, a, b, |x, y| divisible(y != 0)
                        .and_then(|()| wide((x as i64).checked_div(y as i64))));
                }
                Op::RemS64(to, a, b) => {
                    try_two!(to, a, b, |x, y| divisible(y != 0)
                        .and_then(|()| wide((x as i64).checked_rem(y as i64))));
                }
                Op::Shl32(to, a, b) => {
                    try_two!(to, a, b, |x, y| amount(y, 32).map(|y| u64::from((x as u32) << y)));
                }
                Op::Shl64(to, a, b) => try_two!(to, a, b, |x, y| amount(y, 64).map(|y| x << y)),
                Op::ShrU32(to, a, b) => try_two!(to, a, b, |x, y| amount(y, 32).map(|y| x >> y)),
                Op::ShrU64(to, a, b) => try_two!(to, a, b, |x, y| amount(y, 64).map(|y| x >> y)),
                Op::ShrS32(to, a, b) => {
                    try_two!(to, a, b, |x, y| amount(y, 32).map(|y| word(signed32(x) >> y)));
                }
                Op::ShrS64(to, a, b) => {
                    try_two!(to, a, b, |x, y| amount(y, 64).map(|y| (x as i64 >> y) as u64));
                }
                Op::And(to, a, b) => two!(to, a, b, |x, y| x & y),
                Op::Or(to, a, b) => two!(to, a, b, |x, y| x | y),
                Op::Xor(to, a, b) => two!(to, a, b, |x, y| x ^ y),
                Op::FAdd32(to, a, b) => {
                    two!(to, a, b, |x, y| single(of_single(x) + of_single(y)));
                }
                Op::FAdd64(to, a, b) => {
                    two!(to, a, b, |x, y| double(of_double(x) + of_double(y)));
                }
                Op::FSub32(to, a, b) => {
                    two!(to, a, b, |x, y| single(of_single(x) - of_single(y)));
                }
                Op::FSub64(to, a, b) => {
                    two!(to, a, b, |x, y| double(of_double(x) - of_double(y)));
                }
                Op::FMul32(to, a, b) => {
                    two!(to, a, b, |x, y| single(of_single(x) * of_single(y)));
                }
                Op::FMul64(to, a, b) => {
                    two!(to, a, b, |x, y| double(of_double(x) * of_double(y)));
                }
                Op::FDiv32(to, a, b) => {
                    two!(to, a, b, |x, y| single(of_single(x) / of_single(y)));
                }
                Op::FDiv64(to, a, b) => {
                    two!(to, a, b, |x, y| double(of_double(x) / of_double(y)));
                }
                Op::Eq(to, a, b) => two!(to, a, b, |x, y| u64::from(x == y)),
                Op::Ne(to, a, b) => two!(to, a, b, |x, y| u64::from(x != y)),
                Op::LtU(to, a, b) => two!(to, a, b, |x, y| u64::from(x < y)),
                Op::LeU(to, a, b) => two!(to, a, b, |x, y| u64::from(x <= y)),
                Op::LtS32(to, a, b) => two!(to, a, b, |x, y| u64::from(signed32(x) < signed32(y))),
                Op::LeS32(to, a, b) => {
                    two!(to, a, b, |x, y| u64::from(signed32(x) <= signed32(y)));
                }
                Op::LtS64(to, a, b) => two!(to, a, b, |x, y| u64::from((x as i64) < y as i64)),
                Op::LeS64(to, a, b) => two!(to, a, b, |x, y| u64::from(x as i64 <= y as i64)),
                Op::FEq32(to, a, b) => {
                    two!(to, a, b, |x, y| u64::from(of_single(x) == of_single(y)));
                }
                Op::FEq64(to, a, b) => {
                    two!(to, a, b, |x, y| u64::from(of_double(x) == of_double(y)));
                }
                Op::FNe32(to, a, b) => {
                    two!(to, a, b, |x, y| u64::from(of_single(x) != of_single(y)));
                }
                Op::FNe64(to, a, b) => {
                    two!(to, a, b, |x, y| u64::from(of_double(x) != of_double(y)));
                }
                Op::FLt32(to, a, b) => {
                    two!(to, a, b, |x, y| u64::from(of_single(x) < of_single(y)));
                }
                Op::FLt64(to, a, b) => {
                    two!(to, a, b, |x, y| u64::from(of_double(x) < of_double(y)));
                }
                Op::FLe32(to, a, b) => {
                    two!(to, a, b, |x, y| u64::from(of_single(x) <= of_single(y)));
                }
                Op::FLe64(to, a, b) => {
                    two!(to, a, b, |x, y| u64::from(of_double(x) <= of_double(y)));
                }

                Op::AddI32(to, a, k) => {
                    one!(to, a, |x| word(signed32(x).wrapping_add(signed32(k))))
                }
                Op::AddI64(to, a, k) => one!(to, a, |x| x.wrapping_add(k)),
                Op::MovePtr(to, a, k) => {
                    made_of!(a, true);
                    get!(to) = get!(a).wrapping_add(k);
                }
                Op::CheckedAddI32(to, a, k) => {
                    get!(to) = attempt!(narrow(signed32(get!(a)).checked_add(signed32(k))));
                }
                Op::CheckedAddI64(to, a, k) => {
                    get!(to) = attempt!(wide((get!(a) as i64).checked_add(k as i64)));
                }
                Op::MulI32(to, a, k) => {
                    one!(to, a, |x| word(signed32(x).wrapping_mul(signed32(k))))
                }
                Op::MulI64(to, a, k) => one!(to, a, |x| x.wrapping_mul(k)),
                Op::AndI(to, a, k) => one!(to, a, |x| x & k),
                Op::OrI(to, a, k) => one!(to, a, |x| x | k),
                Op::XorI(to, a, k) => one!(to, a, |x| x ^ k),
                Op::ShlI32(to, a, k) => one!(to, a, |x| u64::from((x as u32) << (k & 31))),
                Op::ShlI64(to, a, k) => one!(to, a, |x| x << (k & 63)),
                Op::ShrUI(to, a, k) => one!(to, a, |x| x >> (k & 63)),
                Op::ShrSI32(to, a, k) => one!(to, a, |x| word(signed32(x) >> (k & 31))),
                Op::ShrSI64(to, a, k) => one!(to, a, |x| (x as i64 >> (k & 63)) as u64),
                Op::DivUI(to, a, k) => one!(to, a, |x| x.checked_div(k).unwrap_or(0)),
                Op::RemUI(to, a, k) => one!(to, a, |x| x.checked_rem(k).unwrap_or(0)),
                Op::DivSI32(to, a, k) => {
                    one!(to, a, |x| word(signed32(x).checked_div(signed32(k)).unwrap_or(0)));
                }
                Op::RemSI32(to, a, k) => {
                    one!(to, a, |x| word(signed32(x).checked_rem(signed32(k)).unwrap_or(0)));
                }
                Op::DivSI64(to, a, k) => {
                    one!(to, a, |x| (x as i64).checked_div(k as i64).unwrap_or(0) as u64);
                }
                Op::RemSI64(to, a, k) => {
                    one!(to, a, |x| (x as i64).checked_rem(k as i64).unwrap_or(0) as u64);
                }
                Op::EqI(to, a, k) => one!(to, a, |x| u64::from(x == k)),
                Op::NeI(to, a, k) => one!(to, a, |x| u64::from(x != k)),

                Op::Neg32(to, a) => one!(to, a, |x| word(signed32(x).wrapping_neg())),
                Op::Neg64(to, a) => one!(to, a, |x| x.wrapping_neg()),
                Op::CheckedNeg32(to, a) => {
                    get!(to) = attempt!(narrow(signed32(get!(a)).checked_neg()));
                }
                Op::CheckedNeg64(to, a) => {
                    get!(to) = attempt!(wide((get!(a) as i64).checked_neg()));
                }
                Op::SExt8To32(to, a) => one!(to, a, |x| word(i32::from(x as u8 as i8))),
                Op::SExt16To32(to, a) => one!(to, a, |x| word(i32::from(x as u16 as i16))),
                Op::SExt8To64(to, a) => one!(to, a, |x| i64::from(x as u8 as i8) as u64),
                Op::SExt16To64(to, a) => one!(to, a, |x| i64::from(x as u16 as i16) as u64),
                Op::SExt32To64(to, a) => one!(to, a, |x| i64::from(signed32(x)) as u64),
                Op::S32ToF64(to, a) => one!(to, a, |x| double(f64::from(signed32(x)))),
                Op::S64ToF64(to, a) => one!(to, a, |x| double(x as i64 as f64)),
                Op::U64ToF64(to, a) => one!(to, a, |x| double(x as f64)),
                Op::F32ToF64(to, a) => one!(to, a, |x| double(f64::from(of_single(x)))),
                Op::F64ToF32(to, a) => one!(to, a, |x| single(of_double(x) as f32)),
                Op::F64ToS32(to, a) => {
                    get!(to) = attempt!(float_to_int(get!(a), Type::Int(32)));
                }
                Op::F64ToS64(to, a) => {
                    get!(to) = attempt!(float_to_int(get!(a), Type::Int(64)));
                }
                Op::Slow(to, a, b, number) => {
                    attempt!(self.slow(code.slow[number as usize], Operands { to, a, b }, regs));
                }
                Op::Plan(to, number, wide) => {
                    here!();
                    let value = self.planned::<FOLLOWS>(code, number, regs)?;
                    write(regs, to, Type::Int(if wide { 128 } else { 64 }), value);
                }

                Op::Load8(to, a, o) => load!(1, quick_load, to, offset(get!(a), o)),
                Op::Load16(to, a, o) => load!(2, quick_load, to, offset(get!(a), o)),
                Op::Load32(to, a, o) => load!(4, quick_load, to, offset(get!(a), o)),
                Op::Load64(to, a, o) => load!(8, quick_load, to, offset(get!(a), o)),
                Op::LoadX8(to, a, i, s, o) => load!(1, quick_load, to, indexed!(a, i, s, o)),
                Op::LoadX16(to, a, i, s, o) => load!(2, quick_load, to, indexed!(a, i, s, o)),
                Op::LoadX32(to, a, i, s, o) => load!(4, quick_load, to, indexed!(a, i, s, o)),
                Op::LoadX64(to, a, i, s, o) => load!(8, quick_load, to, indexed!(a, i, s, o)),
                Op::LoadS8(to, a, i, s, o) => load!(1, quick_load, to, extended!(a, i, s, o)),
                Op::LoadS16(to, a, i, s, o) => load!(2, quick_load, to, extended!(a, i, s, o)),
                Op::LoadS32(to, a, i, s, o) => load!(4, quick_load, to, extended!(a, i, s, o)),
                Op::LoadS64(to, a, i, s, o) => load!(8, quick_load, to, extended!(a, i, s, o)),
                Op::LoadF8(to, o) => load!(1, quick_load_local, to, frame_base + u64::from(o)),
                Op::LoadF16(to, o) => load!(2, quick_load_local, to, frame_base + u64::from(o)),
                Op::LoadF32(to, o) => load!(4, quick_load_local, to, frame_base + u64::from(o)),
                Op::LoadF64(to, o) => load!(8, quick_load_local, to, frame_base + u64::from(o)),
                Op::LoadA8(to, address) => load!(1, quick_load, to, address),
                Op::LoadA16(to, address) => load!(2, quick_load, to, address),
                Op::LoadA32(to, address) => load!(4, quick_load, to, address),
                Op::LoadA64(to, address) => load!(8, quick_load, to, address),
                Op::LoadWide(to, a, bytes) => {
                    here!();
                    let address = get!(a);
                    let bits = self.load::<FOLLOWS>(address, u64::from(bytes))?;
                    write(regs, to, Type::Int(128), bits);
                }
                Op::LoadBits(to, a, number) => {
                    here!();
                    let field = &code.fields[number as usize];
                    let address = get!(a);
                    let raw = self.load::<FOLLOWS>(address, field.bytes())?;
                    write(regs, to, field.ty, arith::extract_bits(field, raw));
                }
                Op::Store8(from, a, o) => store!(1, quick_store, from, offset(get!(a), o)),
                Op::Store16(from, a, o) => store!(2, quick_store, from, offset(get!(a), o)),
                Op::Store32(from, a, o) => store!(4, quick_store, from, offset(get!(a), o)),
                Op::Store64(from, a, o) => store!(8, quick_store, from, offset(get!(a), o)),
                Op::StoreX8(from, a, i, s, o) => store!(1, quick_store, from, indexed!(a, i, s, o)),
                Op::StoreX16(from, a, i, s, o) => {
                    store!(2, quick_store, from, indexed!(a, i, s, o));
                }
                Op::StoreX32(from, a, i, s, o) => {
                    store!(4, quick_store, from, indexed!(a, i, s, o));
                }
                Op::StoreX64(from, a, i, s, o) => {
                    store!(8, quick_store, from, indexed!(a, i, s, o));
                }
                Op::StoreS8(from, a, i, s, o) => {
                    store!(1, quick_store, from, extended!(a, i, s, o));
                }
                Op::StoreS16(from, a, i, s, o) => {
                    store!(2, quick_store, from, extended!(a, i, s, o));
                }
                Op::StoreS32(from, a, i, s, o) => {
                    store!(4, quick_store, from, extended!(a, i, s, o));
                }
                Op::StoreS64(from, a, i, s, o) => {
                    store!(8, quick_store, from, extended!(a, i, s, o));
                }
                Op::StoreF8(from, o) => {
                    store!(1, quick_store_local, from, frame_base + u64::from(o));
                }
                Op::StoreF16(from, o) => {
                    store!(2, quick_store_local, from, frame_base + u64::from(o));
                }
                Op::StoreF32(from, o) => {
                    store!(4, quick_store_local, from, frame_base + u64::from(o));
                }
                Op::StoreF64(from, o) => {
                    store!(8, quick_store_local, from, frame_base + u64::from(o));
                }
                Op::StoreA8(from, address) => store!(1, quick_store, from, address),
                Op::StoreA16(from, address) => store!(2, quick_store, from, address),
                Op::StoreA32(from, address) => store!(4, quick_store, from, address),
                Op::StoreA64(from, address) => store!(8, quick_store, from, address),
                Op::StoreWide(from, a, bytes) => {
                    let bits = read(regs, from, Type::Int(128));
                    attempt!(self.memory.store(get!(a), u64::from(bytes), bits));
                }
                Op::LoadVolatile(to, a, bytes) => {
                    here!();
                    if self.awaits_interrupts() && self.interrupted(get!(a))? {
                        resume!();
                        continue;
                    }
                    get!(to) = match self.read_device(get!(a), u64::from(bytes))? {
                        Some(value) => value,
                        None => self.load::<FOLLOWS>(get!(a), u64::from(bytes))? as u64,
                    };
                }
                Op::StoreVolatile(from, a, bytes) => {
                    let (address, value) = (get!(a), get!(from));
                    if !self.write_device(address, u64::from(bytes), value) {
                        attempt!(self.memory.store(address, u64::from(bytes), u128::from(value)));
                    }
                }
                Op::StoreBits(from, a, number) => {
                    let field = &code.fields[number as usize];
                    let (address, bits) = (get!(a), read(regs, from, field.ty));
                    let (raw, _) = attempt!(self.memory.load(address, field.bytes()));
                    let raw = arith::insert_bits(field, raw, bits);
                    attempt!(self.memory.store(address, field.bytes(), raw));
                }
                Op::Copy(to, from, size) => {
                    attempt!(self.memory.copy(get!(to), get!(from), size));
                }
                Op::Zero(to, size) => attempt!(self.memory.fill(get!(to), size, 0)),
                Op::Enter(o, size) => {
                    self.memory.enter(frame_base + u64::from(o), u64::from(size));
                }
                Op::Leave(o, size) => {
                    self.memory.leave(frame_base + u64::from(o), u64::from(size));
                }
                Op::Alloca(to, size, align, array) => {
                    here!();
                    let size = get!(size) as i64;
                    get!(to) = self.alloca(size, u64::from(align), array)?;
                }
                Op::Release(pointer) => {
                    self.release(get!(pointer));
                    get!(pointer) = 0;
                }
                Op::VaStart(list) => {
                    let list = get!(list);
                    attempt!(self.va_start(list));
                }
                Op::Havoc(varies) => {
                    here!();
                    return Ok(End::Unknown(match varies {
                        true => UnknownCause::VaryingAssembly,
                        false => UnknownCause::Assembly,
                    }));
                }

                Op::SeesEntry => observer.entry(&self.view(regs)),
                Op::SeesRoots(number) => {
                    let view = self.view(regs);
                    for event in &code.events.roots[number as usize] {
                        observer.root(&view, event.root);
                        if event.may_trap.as_ref().is_some_and(|plan| view.eval_plan(plan).is_err())
                        {
                            break;
                        }
                    }
                }
                Op::SeesMark(mark) => observer.mark(&self.view(regs), mark),
                Op::SeesStatement(stmt) => observer.statement(&self.view(regs), stmt),
                Op::SeesBlock(block) => observer.block(&self.view(regs), block),
                Op::SeesEdge(from, way) => observer.edge(&self.view(regs), Edge { from, way }),
                Op::SeesCondition(number) => self.sees_condition(observer, regs, number),
                Op::SeesOutcome(a, number) => {
                    let value = get!(a) != 0;
                    self.sees_outcome(observer, regs, number, value);
                }
            }
        }
    }

    /// The code for the rest of a segment of `count` statements that the limit of steps cuts; `None` if
    /// no statement of it may run.
    #[cold]
    fn limit(&mut self, count: u64) -> Option<&'c [Op]> {
        let frame = self.frame();
        let (code, pc) = (frame.code, frame.pc);
        let first = code.points.index_from(pc);
        let over = self.steps.excess();
        let stop = code.points.get(first + (count - over) as usize);
        let stop = stop.expect("a segment has as many points as it counts");
        self.steps.stop_at(Location { function: code.function, point: stop.point });
        if over == count {
            return None;
        }
        Some(self.patched.get_or_init(|| {
            let mut ops = code.ops.clone();
            ops[stop.pc as usize] = Op::Stop;
            ops
        }))
    }

    /// A number that is not all live and written.
    #[cold]
    fn slow_load<const FOLLOWS: bool>(&self, address: u64, bytes: u64) -> Step<u64> {
        self.load::<FOLLOWS>(address, bytes).map(|bits| bits as u64)
    }

    /// A number of any size.
    fn load<const FOLLOWS: bool>(&self, address: u64, bytes: u64) -> Step<u128> {
        let (bits, written) = self.memory.load(address, bytes)?;
        if written || FOLLOWS { Ok(bits) } else { Err(Stop::Follow) }
    }

    fn far<const FOLLOWS: bool>(&self, index: u32) -> Step<u128> {
        let far = self.frame().far[index as usize];
        if far.set || FOLLOWS { Ok(far.bits) } else { Err(Stop::Follow) }
    }

    fn slow(
        &self,
        slow: Slow,
        Operands { to, a, b }: Operands,
        regs: &mut Window,
    ) -> Result<(), TrapKind> {
        let overflow = self.options.overflow;
        let (result, bits) = match slow {
            Slow::Unary(op, ty) => (ty, arith::unary(op, ty, read(regs, a, ty), overflow)?),
            Slow::Binary(op, ty) => {
                let (x, y) = (read(regs, a, ty), read(regs, b, ty));
                (ty, arith::binary(op, ty, x, y, overflow)?)
            }
            Slow::Cmp(op, ty) => {
                let (x, y) = (read(regs, a, ty), read(regs, b, ty));
                (Type::BOOL, u128::from(arith::compare(op, ty, x, y)))
            }
            Slow::Cast(op, from, to) => (to, arith::cast(op, from, to, read(regs, a, from))?),
        };
        write(regs, to, result, bits);
        Ok(())
    }

    fn planned<const FOLLOWS: bool>(
        &mut self,
        code: &Code<'p>,
        number: u32,
        regs: &Window,
    ) -> Step<u128> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let value = code.plans[number as usize].eval(&self.eval_context(regs), &mut scratch);
        self.scratch = scratch;
        let value = value?;
        if value.uninitialised && !FOLLOWS { Err(Stop::Follow) } else { Ok(value.bits) }
    }
}

const fn offset(address: u64, by: i32) -> u64 {
    address.wrapping_add(by as i64 as u64)
}

fn narrow(value: Option<i32>) -> Result<u64, TrapKind> {
    value.map(word).ok_or(TrapKind::SignedOverflow)
}

fn wide(value: Option<i64>) -> Result<u64, TrapKind> {
    value.map(|value| value as u64).ok_or(TrapKind::SignedOverflow)
}

const fn divisible(by: bool) -> Result<(), TrapKind> {
    if by { Ok(()) } else { Err(TrapKind::DivisionByZero) }
}

const fn amount(bits: u64, width: u64) -> Result<u32, TrapKind> {
    if bits < width { Ok(bits as u32) } else { Err(TrapKind::ShiftRange) }
}
