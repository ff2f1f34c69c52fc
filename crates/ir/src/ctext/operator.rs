//! Operators, with the casts and suffixes that bring operands to the type in which they compute.

use super::constant::Reading;
use super::precedence::{Text, binary_level, level};
use super::shape::Shape;
use super::{UserC, Val};
use crate::program::arith;
use crate::program::ctype::CType;
use crate::program::expr::{BinOp, CastOp, CmpOp, Expr, ExprId, Type, UnOp};

/// The type to which an operator converts its operands.
#[derive(Clone, Copy)]
struct OperandType {
    shape: Shape,
    /// `None`: either sign will do.
    sign: Option<bool>,
    /// Whether large constants are masks.
    is_mask: bool,
}

impl OperandType {
    const fn exactly(shape: Shape) -> Self {
        Self { shape, sign: Some(shape.is_signed()), is_mask: false }
    }

    /// An integer of any sign. None is narrower than `int` where C computes.
    fn bits_of(ty: Type) -> Self {
        let shape = Shape::Int { bits: ty.bits().max(32), signed: true };
        Self { shape, sign: None, is_mask: false }
    }

    fn is(self, shape: Shape) -> bool {
        if !self.shape.is_integer() {
            return shape == self.shape;
        }
        shape.same_width(self.shape) && self.sign.is_none_or(|sign| sign == shape.is_signed())
    }

    /// The type to cast an operand to.
    fn shape_for(self, operand: Shape) -> Shape {
        match (self.sign, self.shape) {
            (None, Shape::Int { bits, .. }) => Shape::Int { bits, signed: operand.is_signed() },
            (_, shape) => shape,
        }
    }
}

impl UserC<'_> {
    pub(super) fn unary(&self, op: UnOp, a: ExprId, depth: u32) -> Val {
        let ty = self.types[a];
        let value = self.value(a, depth);
        match op {
            UnOp::Not if ty == Type::BOOL => {
                Val { text: Text::prefix("!", &value.text), shape: Shape::INT }
            }
            UnOp::FNeg => {
                let value = self.exactly(value, Shape::Float(ty));
                Val { text: Text::prefix("-", &value.text), shape: value.shape }
            }
            UnOp::Not | UnOp::NegS | UnOp::NegU => {
                let value = self.of_width(a, value, ty.bits().max(32));
                let symbol = if op == UnOp::Not { "~" } else { "-" };
                let shape = value.shape.promoted();
                self.narrowed(ty, Val { text: Text::prefix(symbol, &value.text), shape })
            }
        }
    }

    pub(super) fn binary(&self, op: BinOp, a: ExprId, b: ExprId, depth: u32) -> Val {
        let ty = self.types[a];
        match op {
            _ if ty == Type::BOOL => self.connective(op, a, b, depth),
            BinOp::ShlU | BinOp::ShlS | BinOp::ShrU | BinOp::ShrS => self.shift(op, a, b, depth),
            BinOp::SubU if let Some(of) = self.made_absolute(a, b) => self.absolute(of, depth),
            _ => {
                let wanted = match op {
                    _ if ty.is_float() => OperandType::exactly(Shape::Float(ty)),
                    BinOp::And | BinOp::Or | BinOp::Xor => {
                        OperandType { is_mask: true, ..OperandType::bits_of(ty) }
                    }
                    BinOp::DivU | BinOp::RemU if ty.bits() >= 32 => {
                        OperandType::exactly(Shape::int(ty, false))
                    }
                    BinOp::DivS | BinOp::RemS if ty.bits() >= 32 => {
                        OperandType::exactly(Shape::int(ty, true))
                    }
                    // Without a sign the bits are the same, as signed arithmetic wraps.
                    _ => OperandType::bits_of(ty),
                };
                let (a, b, shape) = self.operands(a, b, wanted, depth);
                let text = Text::infix(&a, symbol(op), &b, binary_level(op));
                self.narrowed(ty, Val { text, shape })
            }
        }
    }

    /// What C computes as `int` where the IR computes in a narrower type.
    fn narrowed(&self, ty: Type, value: Val) -> Val {
        match ty {
            Type::Int(bits @ ..32) => {
                let shape = Shape::Int { bits: u32::from(bits), signed: value.shape.is_signed() };
                self.cast_to(shape, value)
            }
            _ => value,
        }
    }

    fn shift(&self, op: BinOp, a: ExprId, b: ExprId, depth: u32) -> Val {
        let ty = self.types[a];
        let bits = ty.bits().max(32);
        let value = self.value(a, depth);
        let value = match op {
            BinOp::ShrU => self.operand_as(a, value, Shape::Int { bits, signed: false }),
            BinOp::ShrS => self.operand_as(a, value, Shape::Int { bits, signed: true }),
            _ => self.of_width(a, value, bits),
        };
        // The amount is converted to what is shifted only in the IR.
        let amount = match self.arena[b] {
            Expr::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt, _, amount)
                if self.types[amount] != Type::BOOL =>
            {
                amount
            }
            _ => b,
        };
        let amount = self.value(amount, depth).text;
        let text = Text::infix(&value.text, symbol(op), &amount, level::SHIFT);
        self.narrowed(ty, Val { text, shape: value.shape.promoted() })
    }

    /// Operators on tests.
    fn connective(&self, op: BinOp, a: ExprId, b: ExprId, depth: u32) -> Val {
        let (a, b) = (self.value(a, depth).text, self.value(b, depth).text);
        let text = match op {
            BinOp::And => Text::infix(&a, "&&", &b, level::LOGIC_AND),
            BinOp::Or => Text::infix(&a, "||", &b, level::LOGIC_OR),
            _ => Text::infix(&a.as_truth(), "!=", &b.as_truth(), level::EQUAL),
        };
        Val { text, shape: Shape::INT }
    }

    pub(super) fn compare(&self, op: CmpOp, a: ExprId, b: ExprId, depth: u32) -> Val {
        let ty = self.types[a];
        let level = match op {
            CmpOp::Eq | CmpOp::Ne | CmpOp::FEq | CmpOp::FNe => level::EQUAL,
            _ => level::LESS,
        };
        let sign = match op {
            CmpOp::Eq | CmpOp::Ne => None,
            CmpOp::LtU | CmpOp::LeU | CmpOp::GtU | CmpOp::GeU => Some(false),
            _ => Some(true),
        };
        let (a, b) = match ty {
            Type::Ptr => self.pointers(a, b, depth),
            Type::Int(1) => {
                let [a, b] = [a, b].map(|operand| self.value(operand, depth).text.as_truth());
                (a, b)
            }
            Type::Int(bits @ ..32) => self.narrow_operands((a, b), u32::from(bits), sign, depth),
            _ => {
                let wanted = match sign {
                    _ if ty.is_float() => OperandType::exactly(Shape::Float(ty)),
                    Some(signed) => OperandType::exactly(Shape::int(ty, signed)),
                    None => OperandType::bits_of(ty),
                };
                let (a, b, _) = self.operands(a, b, wanted, depth);
                (a, b)
            }
        };
        Val { text: Text::infix(&a, op.c_symbol(), &b, level), shape: Shape::INT }
    }

    /// Two addresses that C compares: of one type, or one of them as a `void *`.
    fn pointers(&self, a: ExprId, b: ExprId, depth: u32) -> (Text, Text) {
        let (x, y) = (self.value(a, depth).text, self.value(b, depth).text);
        let is_null = |expr: ExprId| matches!(self.arena[expr], Expr::Const(_, 0));
        let (p, q) = (self.pointee(a), self.pointee(b));
        let is_void = |ty| matches!(self.program.types.get(ty), CType::Void);
        let alike = p.zip(q).is_some_and(|(p, q)| p == q || is_void(p) || is_void(q));
        if is_null(a) || is_null(b) || alike {
            return (x, y);
        }
        match q {
            None => (x, Text::prefix("(void *)", &y)),
            Some(_) => (Text::prefix("(void *)", &x), y),
        }
    }

    /// Operands of a comparison in a type narrower than `int`: C compares what it promotes.
    fn narrow_operands(
        &self,
        (a, b): (ExprId, ExprId),
        bits: u32,
        sign: Option<bool>,
        depth: u32,
    ) -> (Text, Text) {
        let (x, y) = (self.value(a, depth), self.value(b, depth));
        let is_number = |expr: ExprId| matches!(self.arena[expr], Expr::Const(..));
        let of = if is_number(a) { y.shape } else { x.shape };
        let shape = Shape::Int { bits, signed: sign.unwrap_or(of.is_signed()) };
        let operand = |expr: ExprId, value: Val, other: Shape| match self.arena[expr] {
            Expr::Const(ty, number) => {
                let is_character = matches!(other, Shape::Char { .. });
                let reading = match shape.is_signed() {
                    _ if is_character && (32..127).contains(&number) => Reading::Character,
                    true => Reading::Signed,
                    false => Reading::Unsigned,
                };
                self.constant(ty, number, reading).text
            }
            _ => {
                let same =
                    value.shape.same_width(shape) && value.shape.is_signed() == shape.is_signed();
                let suits = same || value.shape.is_narrower(shape);
                if suits { value.text } else { self.cast_to(shape, value).text }
            }
        };
        let (of_x, of_y) = (x.shape, y.shape);
        (operand(a, x, of_y), operand(b, y, of_x))
    }

    /// The texts of two operands that C's usual conversions bring to the wanted type.
    fn operands(
        &self,
        a: ExprId,
        b: ExprId,
        wanted: OperandType,
        depth: u32,
    ) -> (Text, Text, Shape) {
        let (mut x, mut y) = (self.value(a, depth), self.value(b, depth));
        self.adapt_constant(b, &mut y, &x, wanted);
        self.adapt_constant(a, &mut x, &y, wanted);
        if !wanted.is(Shape::common(x.shape, y.shape)) {
            self.suffix_constant(b, &mut y, &x, wanted);
        }
        if !wanted.is(Shape::common(x.shape, y.shape)) {
            self.suffix_constant(a, &mut x, &y, wanted);
        }
        if !wanted.is(Shape::common(x.shape, y.shape)) {
            // One cast if one will do, and rather of a variable than of a number.
            let (x_cast, y_cast) = (wanted.shape_for(x.shape), wanted.shape_for(y.shape));
            let by_x = wanted.is(Shape::common(x_cast, y.shape));
            let by_y = wanted.is(Shape::common(x.shape, y_cast));
            let is_number = matches!(self.arena[a], Expr::Const(..));
            if !by_y || (by_x && !is_number) {
                x = self.cast_to(x_cast, x);
            }
            if !by_x || (by_y && is_number) {
                y = self.cast_to(y_cast, y);
            }
        }
        let shape = Shape::common(x.shape, y.shape);
        (x.text, y.text, shape)
    }

    /// An integer constant below the conversions that C implies, and its bits as an operand.
    fn number(&self, id: ExprId) -> Option<(Type, u128)> {
        match &self.arena[id] {
            Expr::Const(ty @ Type::Int(2..), bits) => Some((*ty, *bits)),
            Expr::Cast(op @ (CastOp::SExt | CastOp::ZExt), to, inner) => {
                match &self.arena[*inner] {
                    Expr::Const(ty @ Type::Int(2..), bits) => match op {
                        CastOp::SExt => {
                            let wide = arith::signed(ty.bits(), *bits) as u128;
                            Some((*to, arith::truncate(*to, wide)))
                        }
                        _ => Some((*to, *bits)),
                    },
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn is_spelled(&self, id: ExprId) -> bool {
        (self.spelled)(id).is_some_and(|text| !text.is_empty())
    }

    /// Writes a constant as its neighbour suggests: a character, a mask, an unsigned number.
    fn adapt_constant(&self, id: ExprId, value: &mut Val, other: &Val, wanted: OperandType) {
        let Some((ty, bits)) = self.number(id) else { return };
        if self.is_spelled(id) {
            return;
        }
        let is_char = matches!(other.shape, Shape::Char { .. });
        let reading = match (is_char, wanted.is_mask) {
            (true, false) if (32..127).contains(&bits) => Reading::Character,
            (_, true) if bits > 255 => Reading::Mask,
            _ if wanted.sign == Some(false) => Reading::Unsigned,
            _ => Reading::Signed,
        };
        *value = self.constant(ty, bits, reading);
    }

    /// Gives a constant the suffix with which it brings both operands to the wanted type, if there is
    /// one. What the user gave a name keeps it.
    fn suffix_constant(&self, id: ExprId, value: &mut Val, other: &Val, wanted: OperandType) {
        let Some((ty, bits)) = self.number(id).filter(|_| wanted.shape.is_integer()) else {
            return;
        };
        let is_digits = value.text.text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
        if ty.bits() < 32 || !is_digits {
            return;
        }
        let signed = wanted.sign.unwrap_or(other.shape.is_signed());
        let typed = self.typed_integer(ty.bits(), bits, signed);
        if wanted.is(Shape::common(typed.shape, other.shape)) {
            *value = typed;
        }
    }

    /// A value as one of exactly this type.
    pub(super) fn exactly(&self, value: Val, shape: Shape) -> Val {
        if value.shape == shape { value } else { self.cast_to(shape, value) }
    }

    /// An operand that C promotes to exactly this type.
    fn operand_as(&self, id: ExprId, value: Val, shape: Shape) -> Val {
        if value.shape.promoted() == shape {
            return value;
        }
        match self.number(id) {
            Some((ty, bits)) if ty.bits() == shape.bits() => {
                self.typed_integer(ty.bits(), bits, shape.is_signed())
            }
            _ => self.cast_to(shape, value),
        }
    }

    /// An operand that C promotes to an integer of this width.
    fn of_width(&self, id: ExprId, value: Val, bits: u32) -> Val {
        let signed = match value.shape.promoted() {
            Shape::Int { bits: found, .. } if found == bits => return value,
            shape => shape.is_signed(),
        };
        self.operand_as(id, value, Shape::Int { bits, signed })
    }

    /// What `(v ^ s) - s` is the absolute value of, `s` being the sign of `v` in all bits.
    fn made_absolute(&self, flipped: ExprId, sign: ExprId) -> Option<ExprId> {
        let &Expr::Binary(BinOp::Xor, of, other) = self.arena.get(flipped)? else { return None };
        let &Expr::Binary(BinOp::ShrS, shifted, amount) = self.arena.get(sign)? else {
            return None;
        };
        let &Expr::Const(ty, bits) = self.arena.get(amount)? else { return None };
        let is_sign = other == sign && shifted == of && bits + 1 == u128::from(ty.bits());
        is_sign.then_some(of)
    }

    fn absolute(&self, of: ExprId, depth: u32) -> Val {
        let ty = self.types[of];
        let value = self.value(of, depth);
        let wanted = Shape::Int { bits: ty.bits().max(32), signed: true };
        let value = match ty.bits() {
            32.. => self.operand_as(of, value, wanted),
            bits => self.exactly(value, Shape::Int { bits, signed: true }),
        };
        let negative = Text::infix(&value.text, "<", &Text::primary("0"), level::LESS);
        let negated = Text::prefix("-", &value.text);
        let text = choice(&negative, &negated, &value.text);
        self.narrowed(ty, Val { text, shape: wanted })
    }

    /// `test ? then : otherwise`.
    pub(super) fn choice(&self, test: ExprId, then: ExprId, otherwise: ExprId, depth: u32) -> Val {
        let ty = self.types[then];
        let test = self.value(test, depth).text;
        let (a, b, shape) = match ty {
            Type::Ptr => {
                let (a, b) = self.pointers(then, otherwise, depth);
                (a, b, Shape::Other)
            }
            Type::Int(1) => {
                let [a, b] = [then, otherwise].map(|side| self.value(side, depth).text.as_truth());
                (a, b, Shape::INT)
            }
            _ if ty.is_float() => {
                self.operands(then, otherwise, OperandType::exactly(Shape::Float(ty)), depth)
            }
            _ => self.operands(then, otherwise, OperandType::bits_of(ty), depth),
        };
        let mut text = choice(&test, &a, &b);
        text.is_truth = ty == Type::BOOL;
        self.narrowed_unless_truth(ty, Val { text, shape })
    }

    fn narrowed_unless_truth(&self, ty: Type, value: Val) -> Val {
        if ty == Type::BOOL { value } else { self.narrowed(ty, value) }
    }
}

/// `test ? then : otherwise` of texts.
fn choice(test: &Text, then: &Text, otherwise: &Text) -> Text {
    let side = |text: &Text| text.within(level::CONDITIONAL);
    let test = test.within(level::LOGIC_OR);
    let text = format!("{test} ? {} : {}", side(then), side(otherwise));
    Text::at(level::CONDITIONAL, text)
}

const fn symbol(op: BinOp) -> &'static str {
    match op {
        BinOp::AddU | BinOp::AddS | BinOp::FAdd => "+",
        BinOp::SubU | BinOp::SubS | BinOp::FSub => "-",
        BinOp::MulU | BinOp::MulS | BinOp::FMul => "*",
        BinOp::DivU | BinOp::DivS | BinOp::FDiv => "/",
        BinOp::RemU | BinOp::RemS => "%",
        BinOp::ShlU | BinOp::ShlS => "<<",
        BinOp::ShrU | BinOp::ShrS => ">>",
        BinOp::And => "&",
        BinOp::Or => "|",
        BinOp::Xor => "^",
    }
}
