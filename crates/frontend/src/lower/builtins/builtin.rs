//! Builtin functions of the compiler: those with a meaning in the IR, those that are a library
//! function under another name, and the rest, which are not supported.

use lydian_ir::libc::library_function;
use lydian_ir::{
    BinOp, CTypeId, CastOp, CmpOp, Expr, ExprId, FuncId, IntKind, Stmt, TrapKind, Type,
};

use crate::ast::{self, BinaryOp, FunctionId};
use crate::ctypes::CType;
use crate::lower::builder::FunctionLowering;
use crate::lower::builtins::atomic::AtomicOp;
use crate::lower::builtins::builtin_values::ValueOp;
use crate::lower::builtins::float_tests::FloatTest;
use crate::lower::builtins::variadic::VaOp;
use crate::lower::builtins::wide_overflow::OverflowTypes;
use crate::lower::constant::Constant;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::Scalar;

/// The builtin functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::lower) enum Builtin {
    /// Its value is its first argument's.
    FirstArgument,
    /// A constant.
    Constant(i128),
    /// A constant that the constant evaluator knows.
    Known,
    /// Nothing is evaluated.
    Nothing,
    /// The arguments are evaluated, that is all.
    ArgumentsOnly,
    /// The end of the path.
    Trap(TrapKind),
    /// A library function of this name, called with this many of the arguments at most.
    Library(&'static str, usize),
    /// Counts or moves bits.
    Bits(BitsOp),
    /// Checked arithmetic: true if the exact result does not fit.
    Overflow(BinaryOp),
    /// A question about a float.
    Float(FloatTest),
    /// `__sync_*`.
    Sync(AtomicOp),
    /// `va_start` and its like.
    Va(VaOp),
    /// `alloca`.
    Alloca,
    /// Classifies, aligns, carries, or says where the program is.
    Value(ValueOp),
    /// Has no meaning in the IR.
    Unsupported(String),
}

/// The operations on the bits of an integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::lower) enum BitsOp {
    LeadingZeros,
    TrailingZeros,
    Ones,
    Parity,
    FirstSet,
    RedundantSigns,
    SwapBytes,
    ReverseBits,
    RotateLeft,
    RotateRight,
}

/// Builtins that order memory accesses between threads: they do nothing, as no other thread runs.
const FENCES: [&str; 5] = [
    "__sync_synchronize",
    "__atomic_thread_fence",
    "__atomic_signal_fence",
    "__c11_atomic_thread_fence",
    "__c11_atomic_signal_fence",
];

/// All arguments.
const ALL: usize = usize::MAX;

impl Builtin {
    /// Whether the call itself emits nothing: its value is a pure expression.
    pub(in crate::lower) const fn is_transparent(&self) -> bool {
        matches!(
            self,
            Self::FirstArgument
                | Self::Constant(_)
                | Self::Known
                | Self::Nothing
                | Self::ArgumentsOnly
                | Self::Float(_)
        )
    }

    /// Whether it may write memory or end the run.
    pub(in crate::lower) const fn writes_memory(&self) -> bool {
        !self.is_transparent() && !matches!(self, Self::Bits(_))
    }

    fn of_name(name: &str) -> Option<Self> {
        if name == "alloca" {
            return Some(Self::Alloca);
        }
        // Calls like any other, that engines give their meaning.
        if matches!(name, "__builtin_setjmp" | "__builtin_longjmp") {
            return None;
        }
        if matches!(name, "__atomic_is_lock_free" | "__atomic_always_lock_free")
            || name == "__c11_atomic_is_lock_free"
        {
            return Some(Self::Constant(1));
        }
        if FENCES.contains(&name) {
            return Some(Self::ArgumentsOnly);
        }
        if name.starts_with("__sync_") || name.starts_with("__atomic_") {
            let unsupported = || Self::Unsupported(format!("the atomic operation `{name}`"));
            return Some(AtomicOp::of_name(name).map_or_else(unsupported, Self::Sync));
        }
        // Clang's headers for x86 declare them, and it knows them by these names.
        if let "_mm_pause" | "_mm_lfence" | "_mm_mfence" | "_mm_sfence" | "_mm_clflush" = name {
            return Some(Self::ArgumentsOnly);
        }
        let rest = name.strip_prefix("__builtin_")?;
        Some(
            Self::plain(rest)
                .or_else(|| ValueOp::of_name(rest).map(Self::Value))
                .or_else(|| Self::bits(rest))
                .or_else(|| Self::overflow(rest))
                .or_else(|| Self::library(rest))
                .unwrap_or_else(|| Self::Unsupported(format!("`{name}`"))),
        )
    }

    fn plain(rest: &str) -> Option<Self> {
        Some(match rest {
            "expect" | "expect_with_probability" | "unpredictable" | "assume_aligned" => {
                Self::FirstArgument
            }
            "constant_p" | "huge_val" | "huge_valf" | "huge_vall" | "inf" | "inff" | "infl"
            | "nan" | "nanf" | "nanl" => Self::Known,
            "extract_return_addr" | "frob_return_addr" => Self::FirstArgument,
            "flt_rounds" => Self::Constant(1),
            "classify_type" | "nans" | "nansf" => Self::Known,
            "assume" => Self::Nothing,
            "prefetch" | "ia32_pause" | "ia32_lfence" | "ia32_mfence" | "ia32_sfence"
            | "ia32_emms" => Self::ArgumentsOnly,
            "unreachable" => Self::Trap(TrapKind::Unreachable),
            "trap" | "debugtrap" | "verbose_trap" => Self::Trap(TrapKind::Trap),
            "isnan" => Self::Float(FloatTest::IsNan),
            "isinf" => Self::Float(FloatTest::IsInf),
            "isinf_sign" => Self::Float(FloatTest::InfinitySign),
            "isnormal" => Self::Float(FloatTest::IsNormal),
            "isfinite" | "finite" => Self::Float(FloatTest::IsFinite),
            "signbit" | "signbitf" | "signbitl" => Self::Float(FloatTest::SignBit),
            "isgreater" => Self::Float(FloatTest::Compare(CmpOp::FGt)),
            "isgreaterequal" => Self::Float(FloatTest::Compare(CmpOp::FGe)),
            "isless" => Self::Float(FloatTest::Compare(CmpOp::FLt)),
            "islessequal" => Self::Float(FloatTest::Compare(CmpOp::FLe)),
            "islessgreater" => Self::Float(FloatTest::LessGreater),
            "isunordered" => Self::Float(FloatTest::Unordered),
            "issubnormal" => Self::Float(FloatTest::IsSubnormal),
            "iszero" => Self::Float(FloatTest::IsZero),
            "alloca"
            | "alloca_with_align"
            | "alloca_uninitialized"
            | "alloca_with_align_uninitialized" => Self::Alloca,
            "va_start" | "c23_va_start" | "stdarg_start" => Self::Va(VaOp::Start),
            "va_end" => Self::Va(VaOp::End),
            "va_copy" => Self::Va(VaOp::Copy),
            _ => return None,
        })
    }

    fn bits(rest: &str) -> Option<Self> {
        let op = match rest {
            "clz" | "clzl" | "clzll" | "clzs" | "clzg" => BitsOp::LeadingZeros,
            "ctz" | "ctzl" | "ctzll" | "ctzs" | "ctzg" => BitsOp::TrailingZeros,
            "popcount" | "popcountl" | "popcountll" | "popcountg" => BitsOp::Ones,
            "parity" | "parityl" | "parityll" => BitsOp::Parity,
            "ffs" | "ffsl" | "ffsll" => BitsOp::FirstSet,
            "clrsb" | "clrsbl" | "clrsbll" => BitsOp::RedundantSigns,
            "bswap16" | "bswap32" | "bswap64" => BitsOp::SwapBytes,
            "bitreverse8" | "bitreverse16" | "bitreverse32" | "bitreverse64" => BitsOp::ReverseBits,
            "rotateleft8" | "rotateleft16" | "rotateleft32" | "rotateleft64" => BitsOp::RotateLeft,
            "rotateright8" | "rotateright16" | "rotateright32" | "rotateright64" => {
                BitsOp::RotateRight
            }
            _ => return None,
        };
        Some(Self::Bits(op))
    }

    fn overflow(rest: &str) -> Option<Self> {
        let spelling = rest.strip_suffix("_overflow")?;
        let ops = [("add", BinaryOp::Add), ("sub", BinaryOp::Sub), ("mul", BinaryOp::Mul)];
        ops.into_iter().find_map(|(name, op)| {
            // `add` takes any types; `sadd`, `uaddl` and the like take one.
            let typed = ["s", "u"].iter().any(|sign| {
                let width = spelling.strip_prefix(sign).and_then(|rest| rest.strip_prefix(name));
                matches!(width, Some("" | "l" | "ll"))
            });
            (spelling == name || typed).then_some(Self::Overflow(op))
        })
    }

    fn library(rest: &str) -> Option<Self> {
        let named = |name: &str| library_function(name).filter(|found| found.name == name);
        if let Some(found) = named(rest).filter(|found| found.traits.builtin) {
            return Some(Self::Library(found.name, ALL));
        }
        let checked = named(rest.strip_prefix("__")?.strip_suffix("_chk")?)?;
        Some(Self::Library(checked.name, checked.traits.checked?.into()))
    }
}

impl<'a> FunctionLowering<'_, 'a> {
    /// The builtin that a call names.
    pub(in crate::lower) fn builtin_of(&self, callee: ast::ExprId) -> Option<Builtin> {
        let function = self.unit.direct_callee(callee)?;
        let decl = &self.unit.functions[function];
        if decl.body.is_some() {
            return None;
        }
        Builtin::of_name(&decl.name)
    }

    /// The function of the program that a direct call calls.
    pub(in crate::lower) fn callee_function(&mut self, function: FunctionId) -> FuncId {
        let name = &*self.unit.functions[function].name;
        match Builtin::of_name(name) {
            Some(Builtin::Library(library, count)) => {
                self.module.library_function(library, function, count)
            }
            _ => self.module.function(function),
        }
    }

    /// The value of a builtin that is computed in place. Its statements stand for its text, not for
    /// that of the statement around it, so that what they read is known by a place of its own.
    fn computed(
        &mut self,
        e: ast::ExprId,
        compute: impl FnOnce(&mut Self) -> Lowering<ExprId>,
    ) -> Lowering<ExprId> {
        let (expr, text) = (&self.unit.exprs[e], self.text(e));
        let (_, temp) = self.within(text, |l| {
            let value = l.apart(compute)?;
            l.keep(value, expr.ty.ty, expr.span)
        })?;
        self.capture(text, temp);
        Ok(self.read(temp))
    }

    /// A call of a builtin whose result is used.
    pub(in crate::lower) fn builtin_value(
        &mut self,
        e: ast::ExprId,
        callee: ast::ExprId,
        args: &'a [ast::ExprId],
        builtin: Builtin,
    ) -> Lowering<ExprId> {
        let expr = &self.unit.exprs[e];
        let span = expr.span;
        match builtin {
            Builtin::FirstArgument => match args.split_first() {
                Some((first, rest)) => {
                    let value = self.rvalue(*first)?;
                    rest.iter().try_for_each(|arg| self.discard(*arg))?;
                    Ok(value)
                }
                None => Err(UnsupportedConstruct::new("this builtin", span)),
            },
            Builtin::Constant(value) => {
                let scalar = self.scalar(expr.ty.ty, span)?;
                Ok(self.constant(scalar.ty, value))
            }
            Builtin::Known => {
                let scalar = self.scalar(expr.ty.ty, span)?;
                match self.module.constant(e) {
                    Some(Constant::Bits(bits)) => Ok(self.expr(Expr::Const(scalar.ty, bits))),
                    _ => Err(UnsupportedConstruct::new("this builtin", span)),
                }
            }
            Builtin::Library(_, count) => {
                let args = &args[..count.min(args.len())];
                let temp = self.call_into_temp(e, callee, args)?;
                self.capture(self.text(e), temp);
                Ok(self.read(temp))
            }
            Builtin::Bits(op) => self.computed(e, |l| l.bits_builtin(e, op, args)),
            Builtin::Overflow(op) => self.computed(e, |l| l.overflow_builtin(e, op, args)),
            Builtin::Float(test) => self.float_builtin(e, test, args),
            Builtin::Sync(op) => match self.sync(e, op, args)? {
                Some(value) => Ok(value),
                None => Err(UnsupportedConstruct::new("the value of this builtin", span)),
            },
            Builtin::Alloca => self.alloca(e, args),
            Builtin::Value(op) => self.computed(e, |l| l.value_builtin(e, op, args)),
            Builtin::Unsupported(what) => Err(UnsupportedConstruct::new(what, span)),
            Builtin::Nothing | Builtin::ArgumentsOnly | Builtin::Trap(_) | Builtin::Va(_) => {
                Err(UnsupportedConstruct::new("the value of this builtin", span))
            }
        }
    }

    /// A call of a builtin whose result, if any, is not used.
    pub(in crate::lower) fn builtin_for_effect(
        &mut self,
        e: ast::ExprId,
        callee: ast::ExprId,
        args: &'a [ast::ExprId],
        builtin: Builtin,
    ) -> Lowering<()> {
        match builtin {
            Builtin::FirstArgument | Builtin::ArgumentsOnly | Builtin::Float(_) => {
                args.iter().try_for_each(|arg| self.discard(*arg))
            }
            Builtin::Constant(_) | Builtin::Known | Builtin::Nothing => Ok(()),
            Builtin::Trap(kind) => {
                self.within(self.unit.exprs[e].span, |l| l.trap(kind));
                Ok(())
            }
            Builtin::Library(_, count) => {
                let args = &args[..count.min(args.len())];
                self.library_call_for_effect(e, callee, args)
            }
            Builtin::Sync(op) => self.apart(|l| l.sync(e, op, args)).map(drop),
            Builtin::Va(op) => self.va_builtin(e, op, args),
            Builtin::Bits(_) | Builtin::Overflow(_) | Builtin::Alloca | Builtin::Value(_) => {
                self.apart(|l| l.builtin_value(e, callee, args, builtin)).map(drop)
            }
            Builtin::Unsupported(what) => {
                Err(UnsupportedConstruct::new(what, self.unit.exprs[e].span))
            }
        }
    }

    // Bits.

    fn bits_builtin(
        &mut self,
        e: ast::ExprId,
        op: BitsOp,
        args: &[ast::ExprId],
    ) -> Lowering<ExprId> {
        let span = self.unit.exprs[e].span;
        let [first, rest @ ..] = args else {
            return Err(UnsupportedConstruct::new("this builtin", span));
        };
        let arg_type = self.unit.exprs[*first].ty.ty;
        let arg = self.scalar(arg_type, span)?;
        self.refuse_narrow(arg, span)?;
        let result = self.scalar(self.unit.exprs[e].ty.ty, span)?;
        let later = self.effects_of_all(rest);
        let value = self.operand(*first, &later)?;
        let word = Word { ty: arg.ty, ctype: self.ctype(arg_type) };
        let unsigned = Scalar::new(arg.ty, false);
        let x = self.share(word, value);
        let counted = match op {
            BitsOp::SwapBytes => self.swap_bytes(word, x),
            BitsOp::ReverseBits => self.reverse_bits(word, x),
            BitsOp::RotateLeft | BitsOp::RotateRight => {
                let Some(amount) = rest.first() else {
                    return Err(UnsupportedConstruct::new("this builtin", span));
                };
                let from = self.scalar(self.unit.exprs[*amount].ty.ty, span)?;
                let amount = self.rvalue(*amount)?;
                let amount = self.convert(amount, from, unsigned);
                self.rotate(word, x, amount, op == BitsOp::RotateLeft)
            }
            BitsOp::Ones => self.ones(word, x),
            BitsOp::Parity => {
                let ones = self.ones(word, x);
                self.word_op(BinOp::And, ones, word, 1)
            }
            BitsOp::LeadingZeros => self.leading_zeros(word, x),
            BitsOp::TrailingZeros => {
                let below = self.word_op(BinOp::SubU, x, word, 1);
                let not = self.unary(lydian_ir::UnOp::Not, x);
                let mask = self.expr(Expr::Binary(BinOp::And, not, below));
                self.ones(word, mask)
            }
            BitsOp::FirstSet => {
                let below = self.word_op(BinOp::SubU, x, word, 1);
                let upto = self.expr(Expr::Binary(BinOp::Xor, x, below));
                let count = self.ones(word, upto);
                let there = self.test(x);
                let there = self.cast(CastOp::ZExt, word.ty, there);
                self.expr(Expr::Binary(BinOp::MulU, count, there))
            }
            BitsOp::RedundantSigns => {
                let sign = self.word_op(BinOp::ShrS, x, word, i128::from(word.ty.bits()) - 1);
                let differs = self.expr(Expr::Binary(BinOp::Xor, x, sign));
                let differs = self.share(word, differs);
                let zeros = self.leading_zeros(word, differs);
                self.word_op(BinOp::SubU, zeros, word, 1)
            }
        };
        let counted = self.convert(counted, unsigned, result);
        // The second argument of the generic forms is the value for zero.
        match (op, rest.first()) {
            (BitsOp::LeadingZeros | BitsOp::TrailingZeros, Some(for_zero)) => {
                let (there, none) = self.is_there_or_zero(result, x);
                let for_zero = self.rvalue(*for_zero)?;
                let for_zero = self.expr(Expr::Binary(BinOp::MulU, for_zero, none));
                let counted = self.expr(Expr::Binary(BinOp::MulU, counted, there));
                Ok(self.expr(Expr::Binary(BinOp::AddU, counted, for_zero)))
            }
            (BitsOp::LeadingZeros | BitsOp::TrailingZeros, None) => {
                Ok(self.undefined_for_zero(result, counted, x))
            }
            _ => Ok(counted),
        }
    }

    /// As numbers of a type, 1 or 0: whether a value is not zero, and whether it is.
    fn is_there_or_zero(&mut self, of: Scalar, x: ExprId) -> (ExprId, ExprId) {
        let there = self.test(x);
        let there = self.cast(CastOp::ZExt, of.ty, there);
        let one = self.constant(of.ty, 1);
        (there, self.expr(Expr::Binary(BinOp::SubU, one, there)))
    }

    /// A positive count that C does not define where `x` is zero. A large number is added to it there and
    /// taken away again: the sum is a signed overflow, which runs treat as undefined that are to follow C
    /// strictly. In others the count is what it was.
    fn undefined_for_zero(&mut self, of: Scalar, count: ExprId, x: ExprId) -> ExprId {
        let (_, is_zero) = self.is_there_or_zero(of, x);
        let most = self.constant(of.ty, (1 << (of.ty.bits() - 1)) - 1);
        let large = self.expr(Expr::Binary(BinOp::MulU, is_zero, most));
        let sum = self.expr(Expr::Binary(BinOp::AddS, count, large));
        self.expr(Expr::Binary(BinOp::SubU, sum, large))
    }

    /// Bits of a byte by exchanging neighbours, pairs and halves; then the bytes.
    fn reverse_bits(&mut self, word: Word, x: ExprId) -> ExprId {
        let all = lydian_ir::arith::mask(word.ty.bits());
        let mut x = x;
        for (step, divisor) in [(1, 3), (2, 5), (4, 17)] {
            let pattern = (all / divisor) as i128;
            let down = self.word_op(BinOp::ShrU, x, word, step);
            let down = self.word_op(BinOp::And, down, word, pattern);
            let up = self.word_op(BinOp::And, x, word, pattern);
            let up = self.word_op(BinOp::ShlU, up, word, step);
            let both = self.expr(Expr::Binary(BinOp::Or, down, up));
            x = self.share(word, both);
        }
        self.swap_bytes(word, x)
    }

    /// Keeps a value that is used several times.
    fn share(&mut self, word: Word, value: ExprId) -> ExprId {
        let dst = self.temp_of(word.ctype, word.ty);
        self.emit(Stmt::Assign { dst, value });
        self.read(dst)
    }

    fn word_op(&mut self, op: BinOp, a: ExprId, word: Word, b: i128) -> ExprId {
        let b = self.constant(word.ty, b);
        self.expr(Expr::Binary(op, a, b))
    }

    /// The number of ones: sums of two, four and eight bits in parallel.
    fn ones(&mut self, word: Word, value: ExprId) -> ExprId {
        let all = lydian_ir::arith::mask(word.ty.bits());
        let pattern = |divisor: u128| (all / divisor) as i128;
        let x = self.share(word, value);
        let half = self.word_op(BinOp::ShrU, x, word, 1);
        let odd = self.word_op(BinOp::And, half, word, pattern(3));
        let twos = self.expr(Expr::Binary(BinOp::SubU, x, odd));
        let x = self.share(word, twos);
        let low = self.word_op(BinOp::And, x, word, pattern(5));
        let high = self.word_op(BinOp::ShrU, x, word, 2);
        let high = self.word_op(BinOp::And, high, word, pattern(5));
        let fours = self.expr(Expr::Binary(BinOp::AddU, low, high));
        let x = self.share(word, fours);
        let high = self.word_op(BinOp::ShrU, x, word, 4);
        let eights = self.expr(Expr::Binary(BinOp::AddU, x, high));
        let eights = self.word_op(BinOp::And, eights, word, pattern(17));
        let total = self.word_op(BinOp::MulU, eights, word, pattern(255));
        let total = self.word_op(BinOp::ShrU, total, word, i128::from(word.ty.bits()) - 8);
        self.share(word, total)
    }

    fn leading_zeros(&mut self, word: Word, value: ExprId) -> ExprId {
        let mut x = value;
        let mut step = 1;
        while step < word.ty.bits() {
            let shifted = self.word_op(BinOp::ShrU, x, word, i128::from(step));
            let smeared = self.expr(Expr::Binary(BinOp::Or, x, shifted));
            x = self.share(word, smeared);
            step *= 2;
        }
        let used = self.ones(word, x);
        let width = self.constant(word.ty, i128::from(word.ty.bits()));
        self.expr(Expr::Binary(BinOp::SubU, width, used))
    }

    fn swap_bytes(&mut self, word: Word, x: ExprId) -> ExprId {
        let bytes = word.ty.bits() / 8;
        let mut result = None;
        for byte in 0..bytes {
            let down = self.word_op(BinOp::ShrU, x, word, i128::from(byte * 8));
            let one = self.word_op(BinOp::And, down, word, 0xff);
            let up = self.word_op(BinOp::ShlU, one, word, i128::from((bytes - 1 - byte) * 8));
            result = Some(match result {
                None => up,
                Some(sum) => self.expr(Expr::Binary(BinOp::Or, sum, up)),
            });
        }
        result.unwrap_or(x)
    }

    fn rotate(&mut self, word: Word, x: ExprId, amount: ExprId, left: bool) -> ExprId {
        let in_range = i128::from(word.ty.bits()) - 1;
        let amount = self.share(word, amount);
        let there = self.word_op(BinOp::And, amount, word, in_range);
        let back = self.unary(lydian_ir::UnOp::NegU, amount);
        let back = self.word_op(BinOp::And, back, word, in_range);
        let (up, down) = if left { (there, back) } else { (back, there) };
        let high = self.expr(Expr::Binary(BinOp::ShlU, x, up));
        let low = self.expr(Expr::Binary(BinOp::ShrU, x, down));
        self.expr(Expr::Binary(BinOp::Or, high, low))
    }

    // Checked arithmetic.

    fn overflow_builtin(
        &mut self,
        e: ast::ExprId,
        op: BinaryOp,
        args: &[ast::ExprId],
    ) -> Lowering<ExprId> {
        let unit = self.unit;
        let span = unit.exprs[e].span;
        let [left, right, pointer] = args else {
            return Err(UnsupportedConstruct::new("this builtin", span));
        };
        let CType::Pointer(pointee) = *unit.ty(unit.exprs[*pointer].ty) else {
            return Err(UnsupportedConstruct::new("this builtin", span));
        };
        let (a_type, b_type) = (
            self.scalar(unit.exprs[*left].ty.ty, span)?,
            self.scalar(unit.exprs[*right].ty.ty, span)?,
        );
        let to = self.scalar(pointee.ty, span)?;
        self.refuse_narrow(to, span)?;
        let widest = a_type.ty.bits().max(b_type.ty.bits()).max(to.ty.bits());
        let (exact, kind) = match widest {
            0..=32 => (Type::Int(64), self.target().word64(true)),
            33..=64 => (Type::Int(128), IntKind::Int128),
            _ => {
                let types = OverflowTypes { left: a_type, right: b_type, result: to };
                return self.wide_overflow(e, op, args, types);
            }
        };
        let later = self.effects_of_all(&[*right, *pointer]);
        let a = self.operand(*left, &later)?;
        let later = self.effects_of(*pointer);
        let b = self.operand(*right, &later)?;
        let addr = self.rvalue(*pointer)?;
        let (a, b) = (self.extend(a, a_type, exact), self.extend(b, b_type, exact));
        let op = match op {
            BinaryOp::Add => BinOp::AddU,
            BinaryOp::Sub => BinOp::SubU,
            _ => BinOp::MulU,
        };
        let value = self.expr(Expr::Binary(op, a, b));
        let ctype = self.module.program.types.int(kind);
        let value = self.share(Word { ty: exact, ctype }, value);
        let cut = self.cast(CastOp::Trunc, to.ty, value);
        let back = self.extend(cut, to, exact);
        let fits = self.expr(Expr::Cmp(CmpOp::Ne, back, value));
        let test_type = self.scalar(unit.exprs[e].ty.ty, span)?;
        let result = self.test_value(fits, test_type);
        let pointee_volatile = pointee.quals.has(crate::ctypes::Quals::VOLATILE);
        self.emit(Stmt::Store { addr, value: cut, ty: to.ty, volatile: pointee_volatile });
        Ok(result)
    }

    fn extend(&mut self, value: ExprId, from: Scalar, to: Type) -> ExprId {
        self.convert(value, from, Scalar::new(to, true))
    }
}

/// An integer type that bits are counted in.
#[derive(Clone, Copy)]
struct Word {
    ty: Type,
    ctype: CTypeId,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checked_arithmetic_is_known_in_all_its_spellings() {
        for (name, op) in [
            ("__builtin_add_overflow", BinaryOp::Add),
            ("__builtin_sub_overflow", BinaryOp::Sub),
            ("__builtin_ssub_overflow", BinaryOp::Sub),
            ("__builtin_usubll_overflow", BinaryOp::Sub),
            ("__builtin_umull_overflow", BinaryOp::Mul),
            ("__builtin_mul_overflow", BinaryOp::Mul),
            ("__builtin_saddl_overflow", BinaryOp::Add),
        ] {
            assert_eq!(Builtin::of_name(name), Some(Builtin::Overflow(op)), "{name}");
        }
    }

    #[test]
    fn a_library_function_is_known_under_its_builtin_names() {
        assert_eq!(Builtin::of_name("__builtin_memcpy"), Some(Builtin::Library("memcpy", ALL)));
        assert_eq!(Builtin::of_name("__builtin___memcpy_chk"), Some(Builtin::Library("memcpy", 3)));
        assert_eq!(Builtin::of_name("memcpy"), None);
    }
}
