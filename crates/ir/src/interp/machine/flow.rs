//! Undefined values: follows values that depend on memory or registers that were never written through
//! slots and memory.
//!
//! A value is *undefined* if it was computed from bytes or registers that were never written (which read
//! as zero). Assigning, storing or copying it makes the register or the bytes undefined, and is no use.
//! A use is a test, a switch, an address, a divisor, an argument, a result, or output to a
//! file. A use is noted, or ends the run, as [`crate::interp::options::Options::uninitialised`] says.
//!
//! Nothing is followed until something undefined is read for the first time: up to there no slot
//! holds anything undefined. From there on [`Machine::follow`] looks at every operation before it
//! runs. Of a value in two slots only the first is marked.

use super::undefined::StoredBytes;
use crate::interp::code::{Code, Op, Slow};
use crate::interp::machine::{Machine, Step};
use crate::interp::slots::{Slot, Window};
use crate::program::expr::BinOp;

const fn moved(address: u64, by: i32) -> u64 {
    address.wrapping_add(by as i64 as u64)
}

impl<'p> Machine<'p, '_> {
    fn marks(&mut self) -> &mut [bool] {
        self.undefined.of_window_mut(self.calls.newest().base)
    }

    fn is_marked(&mut self, slot: Slot) -> bool {
        self.marks()[usize::from(slot)]
    }

    fn mark(&mut self, slot: Slot, undefined: bool) {
        self.marks()[usize::from(slot)] = undefined;
    }

    fn uses(&mut self, slots: &[Slot]) -> Step<()> {
        match slots.iter().any(|slot| self.is_marked(*slot)) {
            true => self.note_uninitialised(),
            false => Ok(()),
        }
    }

    fn makes(&mut self, to: Slot, from: &[Slot]) -> Step<()> {
        let undefined = from.iter().any(|slot| self.is_marked(*slot));
        self.mark(to, undefined);
        Ok(())
    }

    /// A load of bytes from an address that was made of slots.
    fn loads(&mut self, to: Slot, address: u64, bytes: u64, from: &[Slot]) -> Step<()> {
        self.uses(from)?;
        let undefined = self.memory.load(address, bytes).is_ok_and(|(_, written)| !written);
        self.mark(to, undefined);
        Ok(())
    }

    fn stores(&mut self, value: Slot, address: u64, bytes: u64, to: &[Slot]) -> Step<()> {
        self.uses(to)?;
        if self.is_marked(value) {
            self.undefined.store(StoredBytes { address, count: bytes });
        }
        Ok(())
    }

    /// A call uses its arguments, and its result is defined.
    fn calls(&mut self, code: &Code<'p>, site: u32) -> Step<()> {
        let site = &code.sites[site as usize];
        let slots = site.args.iter().map(|arg| site.at + arg.slot);
        let slots: Vec<Slot> = slots.chain(site.dst_addr).collect();
        self.uses(&slots)?;
        slots.iter().for_each(|slot| self.mark(*slot, false));
        if let Some((dst, _)) = site.dst {
            self.mark(dst, false);
        }
        Ok(())
    }

    /// Follows the effect of the next operation. The machine must know the place, for uses are noted with
    /// it.
    pub(in crate::interp) fn follow(
        &mut self,
        op: Op,
        code: &Code<'p>,
        regs: &Window,
        frame: u64,
    ) -> Step<()> {
        use Op::*;
        if let Some(stored) = self.undefined.take_stored() {
            self.memory.forget(stored.address, stored.count);
        }
        let get = |slot: Slot| regs[usize::from(slot)];
        let scaled = |base, index, size: u32, offset| {
            moved(get(base).wrapping_add(get(index).wrapping_mul(u64::from(size))), offset)
        };
        let extended = |base, index, size: u32, offset| {
            let index = i64::from(get(index) as u32 as i32) as u64;
            moved(get(base).wrapping_add(index.wrapping_mul(u64::from(size))), offset)
        };
        let local = |offset: u32| frame + u64::from(offset);
        match op {
            Steps(_) | Stop | Jump(_) | Trap(_) | Return | Enter(..) | Leave(..) | Havoc(_)
            | SeesEntry | SeesRoots(_) | SeesMark(_) | SeesStatement(_) | SeesBlock(_)
            | SeesEdge(..) | SeesCondition(_) => Ok(()),
            JumpIf(a, _)
            | JumpIfNot(a, _)
            | JEqI(a, ..)
            | JNeI(a, ..)
            | JLtUI(a, ..)
            | JGeUI(a, ..)
            | JLtS32I(a, ..)
            | JGeS32I(a, ..)
            | JLtS64I(a, ..)
            | JGeS64I(a, ..)
            | Switch(a, _)
            | SeesOutcome(a, _)
            | ReturnValue(a)
            | ReturnWide(a)
            | ReturnRecord(a)
            | Zero(a, _)
            | VaStart(a) => self.uses(&[a]),
            JEq(a, b, _)
            | JNe(a, b, _)
            | JLtU(a, b, _)
            | JLeU(a, b, _)
            | JLtS32(a, b, _)
            | JLeS32(a, b, _)
            | JLtS64(a, b, _)
            | JLeS64(a, b, _)
            | StoreBits(a, b, _)
            | Copy(a, b, _) => self.uses(&[a, b]),
            Call(_, site)
            | CallModel(site)
            | CallExternal(_, site)
            | CallHost(_, site)
            | CallTo(_, site) => self.calls(code, site),
            Resolve(to, a, _) | Alloca(to, a, ..) => {
                self.uses(&[a])?;
                self.makes(to, &[])
            }
            Const(to, _) | FrameAddr(to, _) | Release(to) => self.makes(to, &[]),
            Clear(from, to) => {
                self.marks()[usize::from(from)..usize::from(to)].fill(false);
                Ok(())
            }
            Check(flag, slot) => {
                if get(flag) == 0 {
                    self.mark(slot, true);
                }
                Ok(())
            }
            GetFar(to, index, _) => {
                let set = self.frame().far[index as usize].set;
                self.mark(to, !set);
                Ok(())
            }
            // Whether it was set is said when it is. A subscript is checked for its use, which follows.
            SetFar(..) | InsideX(..) | InsideS(..) => Ok(()),
            Move(to, a)
            | Neg32(to, a)
            | Neg64(to, a)
            | CheckedNeg32(to, a)
            | CheckedNeg64(to, a)
            | CheckedAddI32(to, a, _)
            | CheckedAddI64(to, a, _)
            | SExt8To32(to, a)
            | SExt16To32(to, a)
            | SExt8To64(to, a)
            | SExt16To64(to, a)
            | SExt32To64(to, a)
            | S32ToF64(to, a)
            | S64ToF64(to, a)
            | U64ToF64(to, a)
            | F32ToF64(to, a)
            | F64ToF32(to, a)
            | F64ToS32(to, a)
            | F64ToS64(to, a)
            | AddI32(to, a, _)
            | AddI64(to, a, _)
            | MovePtr(to, a, _)
            | MulI32(to, a, _)
            | MulI64(to, a, _)
            | AndI(to, a, _)
            | OrI(to, a, _)
            | XorI(to, a, _)
            | ShlI32(to, a, _)
            | ShlI64(to, a, _)
            | ShrUI(to, a, _)
            | ShrSI32(to, a, _)
            | ShrSI64(to, a, _)
            | DivUI(to, a, _)
            | RemUI(to, a, _)
            | DivSI32(to, a, _)
            | RemSI32(to, a, _)
            | DivSI64(to, a, _)
            | RemSI64(to, a, _)
            | EqI(to, a, _)
            | NeI(to, a, _) => self.makes(to, &[a]),
            DivU(to, a, b)
            | RemU(to, a, b)
            | DivS32(to, a, b)
            | RemS32(to, a, b)
            | DivS64(to, a, b)
            | RemS64(to, a, b) => {
                self.uses(&[b])?;
                self.makes(to, &[a, b])
            }
            LeaX(to, a, b, ..)
            | LeaS(to, a, b, ..)
            | PtrDiff(to, a, b, _)
            | PtrDiff32(to, a, b, _)
            | Add32(to, a, b)
            | Add64(to, a, b)
            | Sub32(to, a, b)
            | Sub64(to, a, b)
            | Mul32(to, a, b)
            | Mul64(to, a, b)
            | CheckedAdd32(to, a, b)
            | CheckedAdd64(to, a, b)
            | CheckedSub32(to, a, b)
            | CheckedSub64(to, a, b)
            | CheckedMul32(to, a, b)
            | CheckedMul64(to, a, b)
            | CheckedShl32(to, a, b)
            | CheckedShl64(to, a, b)
            | Shl32(to, a, b)
            | Shl64(to, a, b)
            | ShrU32(to, a, b)
            | ShrU64(to, a, b)
            | ShrS32(to, a, b)
            | ShrS64(to, a, b)
            | And(to, a, b)
            | Or(to, a, b)
            | Xor(to, a, b)
            | FAdd32(to, a, b)
            | FAdd64(to, a, b)
            | FSub32(to, a, b)
            | FSub64(to, a, b)
            | FMul32(to, a, b)
            | FMul64(to, a, b)
            | FDiv32(to, a, b)
            | FDiv64(to, a, b)
            | Eq(to, a, b)
            | Ne(to, a, b)
            | LtU(to, a, b)
            | LeU(to, a, b)
            | LtS32(to, a, b)
            | LeS32(to, a, b)
            | LtS64(to, a, b)
            | LeS64(to, a, b)
            | FEq32(to, a, b)
            | FEq64(to, a, b)
            | FNe32(to, a, b)
            | FNe64(to, a, b)
            | FLt32(to, a, b)
            | FLt64(to, a, b)
            | FLe32(to, a, b)
            | FLe64(to, a, b) => self.makes(to, &[a, b]),
            Slow(to, a, b, number) => self.slow_flow(code.slow[number as usize], to, a, b),
            Plan(to, number, _) => {
                let plan = &code.plans[number as usize];
                let mut scratch = Vec::new();
                let value = plan.eval(&self.eval_context(regs), &mut scratch);
                self.mark(to, value.is_ok_and(|value| value.uninitialised));
                Ok(())
            }
            Load8(to, a, o) => self.loads(to, moved(get(a), o), 1, &[a]),
            Load16(to, a, o) => self.loads(to, moved(get(a), o), 2, &[a]),
            Load32(to, a, o) => self.loads(to, moved(get(a), o), 4, &[a]),
            Load64(to, a, o) => self.loads(to, moved(get(a), o), 8, &[a]),
            LoadX8(to, a, i, s, o) => self.loads(to, scaled(a, i, s, o), 1, &[a, i]),
            LoadX16(to, a, i, s, o) => self.loads(to, scaled(a, i, s, o), 2, &[a, i]),
            LoadX32(to, a, i, s, o) => self.loads(to, scaled(a, i, s, o), 4, &[a, i]),
            LoadX64(to, a, i, s, o) => self.loads(to, scaled(a, i, s, o), 8, &[a, i]),
            LoadS8(to, a, i, s, o) => self.loads(to, extended(a, i, s, o), 1, &[a, i]),
            LoadS16(to, a, i, s, o) => self.loads(to, extended(a, i, s, o), 2, &[a, i]),
            LoadS32(to, a, i, s, o) => self.loads(to, extended(a, i, s, o), 4, &[a, i]),
            LoadS64(to, a, i, s, o) => self.loads(to, extended(a, i, s, o), 8, &[a, i]),
            LoadF8(to, o) => self.loads(to, local(o), 1, &[]),
            LoadF16(to, o) => self.loads(to, local(o), 2, &[]),
            LoadF32(to, o) => self.loads(to, local(o), 4, &[]),
            LoadF64(to, o) => self.loads(to, local(o), 8, &[]),
            LoadA8(to, address) => self.loads(to, address, 1, &[]),
            LoadA16(to, address) => self.loads(to, address, 2, &[]),
            LoadA32(to, address) => self.loads(to, address, 4, &[]),
            LoadA64(to, address) => self.loads(to, address, 8, &[]),
            LoadWide(to, a, bytes) => self.loads(to, get(a), u64::from(bytes), &[a]),
            LoadBits(to, a, number) => {
                let bytes = code.fields[number as usize].bytes();
                self.loads(to, get(a), bytes, &[a])
            }
            Store8(from, a, o) => self.stores(from, moved(get(a), o), 1, &[a]),
            Store16(from, a, o) => self.stores(from, moved(get(a), o), 2, &[a]),
            Store32(from, a, o) => self.stores(from, moved(get(a), o), 4, &[a]),
            Store64(from, a, o) => self.stores(from, moved(get(a), o), 8, &[a]),
            StoreX8(from, a, i, s, o) => self.stores(from, scaled(a, i, s, o), 1, &[a, i]),
            StoreX16(from, a, i, s, o) => self.stores(from, scaled(a, i, s, o), 2, &[a, i]),
            StoreX32(from, a, i, s, o) => self.stores(from, scaled(a, i, s, o), 4, &[a, i]),
            StoreX64(from, a, i, s, o) => self.stores(from, scaled(a, i, s, o), 8, &[a, i]),
            StoreS8(from, a, i, s, o) => self.stores(from, extended(a, i, s, o), 1, &[a, i]),
            StoreS16(from, a, i, s, o) => self.stores(from, extended(a, i, s, o), 2, &[a, i]),
            StoreS32(from, a, i, s, o) => self.stores(from, extended(a, i, s, o), 4, &[a, i]),
            StoreS64(from, a, i, s, o) => self.stores(from, extended(a, i, s, o), 8, &[a, i]),
            StoreF8(from, o) => self.stores(from, local(o), 1, &[]),
            StoreF16(from, o) => self.stores(from, local(o), 2, &[]),
            StoreF32(from, o) => self.stores(from, local(o), 4, &[]),
            StoreF64(from, o) => self.stores(from, local(o), 8, &[]),
            StoreA8(from, address) => self.stores(from, address, 1, &[]),
            StoreA16(from, address) => self.stores(from, address, 2, &[]),
            StoreA32(from, address) => self.stores(from, address, 4, &[]),
            StoreA64(from, address) => self.stores(from, address, 8, &[]),
            LoadVolatile(to, a, bytes) => match self.is_scripted(get(a)) {
                true => self.uses(&[a]).map(|()| self.mark(to, false)),
                false => self.loads(to, get(a), u64::from(bytes), &[a]),
            },
            StoreVolatile(from, a, bytes) => match self.is_device(get(a)) {
                true => self.uses(&[from, a]),
                false => self.stores(from, get(a), u64::from(bytes), &[a]),
            },
            StoreWide(from, a, bytes) => self.stores(from, get(a), u64::from(bytes), &[a]),
        }
    }

    fn slow_flow(&mut self, slow: Slow, to: Slot, a: Slot, b: Slot) -> Step<()> {
        if let Slow::Binary(BinOp::DivU | BinOp::DivS | BinOp::RemU | BinOp::RemS, _) = slow {
            self.uses(&[b])?;
        }
        self.makes(to, &[a, b])
    }

    /// Whether the value that is put beside the window is undefined.
    pub(in crate::interp) fn far_is_set(&mut self, from: Slot) -> bool {
        self.undefined.is_empty() || !self.is_marked(from)
    }
}
