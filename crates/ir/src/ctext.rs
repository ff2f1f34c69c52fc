//! An expression as the C that a user would write: `p->len > 4 && buf[i] == 'x'`.
//!
//! For predicates, objectives and reports, not for compilers (that is [`crate::cexact`]). Types
//! are followed as C's conversions make them: a cast that C does by itself is left out, every other
//! one is shown. Where C has no words for what the IR does, the text says it as near as it can.

use lydian_base::SideTable;

use crate::arith;
use crate::cexact::string_literal;
use crate::ctype::{CType, CTypeId};
use crate::expr::{BinOp, CastOp, CmpOp, Expr, ExprArena, ExprId, Type, UnOp};
use crate::function::{Body, LocalId};
use crate::program::{GlobalId, Program};

mod lvalue;
mod precedence;
mod shape;

use precedence::{Text, binary_level, level};
use shape::Shape;

/// Deeper parts are left out.
const MAX_DEPTH: u32 = 60;

/// Longer texts are cut, at the next operator.
const MAX_LENGTH: usize = 2000;

/// What stands for what is left out.
const LEFT_OUT: &str = "...";

/// Writes expressions of one arena that is or extends a body's.
pub struct UserC<'a> {
    program: &'a Program,
    body: &'a Body,
    arena: &'a ExprArena,
    types: SideTable<ExprId, Type>,
    spelled: &'a dyn Fn(ExprId) -> Option<String>,
}

impl std::fmt::Debug for UserC<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "UserC({} expressions)", self.arena.len())
    }
}

/// A value's text and the type that C gives to it.
struct Val {
    text: Text,
    shape: Shape,
}

/// The text of an object that an address is of.
struct Lvalue {
    text: Text,
    ty: Option<CTypeId>,
    /// The pointer, where the object is what one points to: a member of it is `p->m`.
    pointer: Option<Text>,
}

impl<'a> UserC<'a> {
    /// Prepares to write expressions of `arena`, which is `body`'s or extends it. Where `spelled`
    /// has a text for an expression, such as the user's own, that is taken.
    pub fn new(
        program: &'a Program,
        body: &'a Body,
        arena: &'a ExprArena,
        spelled: &'a dyn Fn(ExprId) -> Option<String>,
    ) -> Self {
        Self { program, body, arena, types: body.types_in(arena), spelled }
    }

    /// The expression as C.
    pub fn text(&self, expr: ExprId) -> String {
        self.value(expr, 0).text.text
    }

    /// The object at an address as C: `*p`, `a[i]`, `p->m`.
    pub fn object_text(&self, addr: ExprId) -> String {
        self.lvalue(addr, 0).text.text
    }

    fn value(&self, expr: ExprId, depth: u32) -> Val {
        let Some(node) = self.arena.get(expr).filter(|_| depth <= MAX_DEPTH) else {
            return Val { text: Text::primary(LEFT_OUT), shape: Shape::Other };
        };
        let mut value = self.node(expr, node, depth + 1);
        if let Some(text) = (self.spelled)(expr).filter(|text| !text.is_empty()) {
            value.text = Text::foreign(text);
        }
        if value.text.text.len() > MAX_LENGTH {
            value.text = Text::primary(LEFT_OUT);
        }
        value
    }

    fn node(&self, id: ExprId, node: &Expr, depth: u32) -> Val {
        match node {
            Expr::Const(ty, bits) => constant(*ty, *bits, Reading::Signed),
            Expr::Local(local) => {
                let shape = Shape::of(&self.program.types, self.body.locals[*local].ty);
                Val { text: Text::primary(self.local_name(*local)), shape }
            }
            Expr::AddrLocal(_) | Expr::AddrGlobal(_) | Expr::Field { .. } | Expr::Index { .. } => {
                self.address(id, depth)
            }
            Expr::AddrFunc(function) => {
                let name = &self.program.functions[*function].name;
                Val { text: Text::primary(name), shape: Shape::Other }
            }
            Expr::Load { ty, addr, .. } => self.load(*ty, *addr, depth),
            Expr::LoadBits { field, addr } => self.bit_field(field, *addr, depth),
            Expr::Unary(op, a) => self.unary(*op, *a, depth),
            Expr::Binary(op, a, b) => self.binary(*op, *a, *b, depth),
            Expr::Cmp(op, a, b) => self.compare(*op, *a, *b, depth),
            Expr::Cast(op, to, a) => self.cast(*op, *to, *a, depth),
            Expr::PtrDiff { a, b, .. } => {
                let (a, b) = (self.value(*a, depth).text, self.value(*b, depth).text);
                let shape = Shape::Int { bits: 64, signed: true };
                Val { text: Text::infix(&a, "-", &b, level::ADD), shape }
            }
            Expr::Select { test, then, otherwise } => {
                let [test, then, otherwise] =
                    [test, then, otherwise].map(|operand| self.value(*operand, depth));
                let text = |val: &Val| val.text.text.clone();
                let all = format!("({} ? {} : {})", text(&test), text(&then), text(&otherwise));
                Val { text: Text::primary(&all), shape: then.shape }
            }
        }
    }

    fn local_name(&self, local: LocalId) -> String {
        match self.body.locals[local].name.as_str() {
            "" => local.to_string(),
            name => name.to_owned(),
        }
    }

    fn global_name(&self, global: GlobalId) -> String {
        let global = &self.program.globals[global];
        if let Some(literal) = string_literal(global) {
            return literal;
        }
        // A static local: `function.name`, and a number from the second of one name on.
        match global.name.split('.').nth(1) {
            Some(own) if !global.name.starts_with('.') => own.to_owned(),
            _ => global.name.clone(),
        }
    }

    fn unary(&self, op: UnOp, a: ExprId, depth: u32) -> Val {
        let ty = self.types[a];
        let a = self.value(a, depth);
        match op {
            UnOp::Not if ty == Type::BOOL => {
                Val { text: Text::prefix("!", &a.text), shape: Shape::INT }
            }
            UnOp::FNeg => Val { text: Text::prefix("-", &a.text), shape: a.shape },
            UnOp::Not | UnOp::NegS | UnOp::NegU => {
                let signed = match op {
                    UnOp::Not => a.shape.is_signed(),
                    _ => op == UnOp::NegS,
                };
                let shape = Shape::Int { bits: ty.bits(), signed };
                let a = if a.shape.promoted() == shape { a } else { cast_to(shape, a) };
                let symbol = if op == UnOp::Not { "~" } else { "-" };
                Val { text: Text::prefix(symbol, &a.text), shape }
            }
        }
    }

    fn binary(&self, op: BinOp, a: ExprId, b: ExprId, depth: u32) -> Val {
        let ty = self.types[a];
        if ty == Type::BOOL {
            return self.connective(op, a, b, depth);
        }
        let symbol = symbol(op);
        if matches!(op, BinOp::ShlU | BinOp::ShlS | BinOp::ShrU | BinOp::ShrS) {
            let signed = matches!(op, BinOp::ShlS | BinOp::ShrS);
            let shape = Shape::Int { bits: ty.bits(), signed };
            let a = self.value(a, depth);
            let a = if a.shape.promoted() == shape { a } else { cast_to(shape, a) };
            // The amount is converted to what is shifted only in the IR.
            let amount = match self.arena[b] {
                Expr::Cast(CastOp::Trunc | CastOp::ZExt | CastOp::SExt, _, amount) => amount,
                _ => b,
            };
            let b = self.value(amount, depth).text;
            return Val { text: Text::infix(&a.text, symbol, &b, level::SHIFT), shape };
        }
        let wanted = match op {
            _ if ty.is_float() => Wanted::exactly(Shape::Float { bits: ty.bits() }),
            BinOp::And | BinOp::Or | BinOp::Xor => {
                Wanted { shape: Shape::int(ty, false), sign: None }
            }
            BinOp::AddU | BinOp::SubU | BinOp::MulU | BinOp::DivU | BinOp::RemU => {
                Wanted::exactly(Shape::int(ty, false))
            }
            _ => Wanted::exactly(Shape::int(ty, true)),
        };
        let is_mask = wanted.sign.is_none();
        let (a, b, shape) = self.operands(a, b, wanted, is_mask, depth);
        Val { text: Text::infix(&a, symbol, &b, binary_level(op)), shape }
    }

    /// Operators on tests.
    fn connective(&self, op: BinOp, a: ExprId, b: ExprId, depth: u32) -> Val {
        let (a, b) = (self.value(a, depth).text, self.value(b, depth).text);
        let text = match op {
            BinOp::And => Text::infix(&a, "&&", &b, level::LOGIC_AND),
            BinOp::Or => Text::infix(&a, "||", &b, level::LOGIC_OR),
            _ => Text::infix(&a, "!=", &b, level::EQUAL),
        };
        Val { text, shape: Shape::INT }
    }

    fn compare(&self, op: CmpOp, a: ExprId, b: ExprId, depth: u32) -> Val {
        let ty = self.types[a];
        let level = match op {
            CmpOp::Eq | CmpOp::Ne | CmpOp::FEq | CmpOp::FNe => level::EQUAL,
            _ => level::LESS,
        };
        let (a, b) = match ty {
            Type::Ptr | Type::Int(1) => (self.value(a, depth).text, self.value(b, depth).text),
            _ => {
                let wanted = match op {
                    _ if ty.is_float() => Wanted::exactly(Shape::Float { bits: ty.bits() }),
                    CmpOp::Eq | CmpOp::Ne => Wanted { shape: Shape::int(ty, true), sign: None },
                    CmpOp::LtU | CmpOp::LeU | CmpOp::GtU | CmpOp::GeU => {
                        Wanted::exactly(Shape::int(ty, false))
                    }
                    _ => Wanted::exactly(Shape::int(ty, true)),
                };
                let (a, b, _) = self.operands(a, b, wanted, false, depth);
                (a, b)
            }
        };
        Val { text: Text::infix(&a, op.c_symbol(), &b, level), shape: Shape::INT }
    }

    /// The texts of two operands that C's usual conversions bring to the wanted type.
    fn operands(
        &self,
        a: ExprId,
        b: ExprId,
        wanted: Wanted,
        is_mask: bool,
        depth: u32,
    ) -> (Text, Text, Shape) {
        let (mut x, mut y) = (self.value(a, depth), self.value(b, depth));
        self.adapt_constant(b, &mut y, &x, wanted, is_mask);
        self.adapt_constant(a, &mut x, &y, wanted, is_mask);
        if !wanted.is(Shape::common(x.shape, y.shape)) {
            // One cast if one will do, and rather of a variable than of a number.
            let (x_cast, y_cast) = (wanted.shape_for(x.shape), wanted.shape_for(y.shape));
            let by_x = wanted.is(Shape::common(x_cast, y.shape));
            let by_y = wanted.is(Shape::common(x.shape, y_cast));
            let is_number = matches!(self.arena[a], Expr::Const(..));
            if !by_y || (by_x && !is_number) {
                x = cast_to(x_cast, x);
            }
            if !by_x || (by_y && is_number) {
                y = cast_to(y_cast, y);
            }
        }
        let shape = Shape::common(x.shape, y.shape);
        (x.text, y.text, shape)
    }

    /// Writes a constant as its neighbour suggests: a character, a mask, an unsigned number.
    fn adapt_constant(
        &self,
        id: ExprId,
        value: &mut Val,
        other: &Val,
        wanted: Wanted,
        is_mask: bool,
    ) {
        let bare = match &self.arena[id] {
            Expr::Cast(CastOp::SExt | CastOp::ZExt, _, inner) => &self.arena[*inner],
            other => other,
        };
        let Expr::Const(ty @ Type::Int(_), bits) = bare else { return };
        if (self.spelled)(id).is_some_and(|text| !text.is_empty()) {
            return;
        }
        let is_char = matches!(other.shape, Shape::Int { bits: 8, .. } | Shape::Char { .. });
        let reading = match (is_char && matches!(other.shape, Shape::Char { .. }), is_mask) {
            (true, false) if (32..127).contains(bits) => Reading::Character,
            (_, true) if *bits > 255 => Reading::Mask,
            _ if wanted.sign == Some(false) => Reading::Unsigned,
            _ => Reading::Signed,
        };
        *value = constant(*ty, *bits, reading);
    }

    fn cast(&self, op: CastOp, to: Type, a: ExprId, depth: u32) -> Val {
        let from = self.types[a];
        let a = self.value(a, depth);
        match op {
            // A test has the type `int` in C.
            CastOp::ZExt | CastOp::SToF | CastOp::UToF if from == Type::BOOL => a,
            CastOp::ZExt | CastOp::SExt => widened(a, from, op == CastOp::SExt),
            CastOp::SToF | CastOp::UToF => {
                let shape = Shape::int(from, op == CastOp::SToF);
                let suits = a.shape.promoted() == shape || a.shape.is_narrower(shape);
                if suits { a } else { cast_to(shape, a) }
            }
            CastOp::FToF if to == Type::F64 && from != Type::F80 => a,
            CastOp::FToF => cast_to(Shape::Float { bits: to.bits() }, a),
            CastOp::FToS => cast_to(Shape::int(to, true), a),
            CastOp::Trunc if to == Type::BOOL => {
                let one = constant(from, 1, Reading::Signed).text;
                Val { text: Text::infix(&a.text, "&", &one, level::AND), shape: Shape::INT }
            }
            CastOp::Trunc | CastOp::FToU => cast_to(Shape::int(to, a.shape.is_signed()), a),
            CastOp::Bits if to == Type::Ptr => {
                Val { text: Text::prefix("(void *)", &a.text), shape: Shape::Other }
            }
            CastOp::Bits if from == Type::Ptr => cast_to(Shape::int(to, false), a),
            CastOp::Bits => {
                let text = Text::primary(format!("bits({})", a.text.text));
                let shape = match to {
                    _ if to.is_float() => Shape::Float { bits: to.bits() },
                    _ => Shape::int(to, false),
                };
                Val { text, shape }
            }
        }
    }
}

/// What an operator asks of the type that its operands are brought to.
#[derive(Clone, Copy)]
struct Wanted {
    shape: Shape,
    /// `None`: either sign will do.
    sign: Option<bool>,
}

impl Wanted {
    const fn exactly(shape: Shape) -> Self {
        Self { shape, sign: Some(shape.is_signed()) }
    }

    fn is(self, shape: Shape) -> bool {
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

/// A value that C brings to a wider type by itself, if its own type says how.
fn widened(a: Val, from: Type, signed: bool) -> Val {
    let from = Shape::int(from, signed);
    let keeps = a.shape.same_width(from) && a.shape.is_signed() == signed;
    if keeps || a.shape.is_narrower(from) { a } else { cast_to(from, a) }
}

fn cast_to(shape: Shape, a: Val) -> Val {
    Val { text: Text::prefix(&format!("({})", shape.name()), &a.text), shape }
}

/// How a constant is written.
#[derive(Clone, Copy)]
enum Reading {
    Signed,
    Unsigned,
    Mask,
    Character,
}

fn constant(ty: Type, bits: u128, reading: Reading) -> Val {
    match ty {
        Type::Ptr if bits == 0 => Val { text: Text::primary("NULL"), shape: Shape::Other },
        Type::Ptr => Val {
            text: Text::prefix("(void *)", &Text::primary(format!("{bits:#x}"))),
            shape: Shape::Other,
        },
        Type::F32 => {
            let text = float(f64::from(arith::f32_of(bits)), format!("{:?}f", arith::f32_of(bits)));
            Val { text: Text::number(text), shape: Shape::Float { bits: 32 } }
        }
        Type::F64 => {
            let text = float(arith::f64_of(bits), format!("{:?}", arith::f64_of(bits)));
            Val { text: Text::number(text), shape: Shape::Float { bits: 64 } }
        }
        Type::F16 | Type::BF16 | Type::F80 => {
            let value = arith::to_f64(ty, bits);
            let suffix = if ty == Type::F80 { "L" } else { "f" };
            let text = float(value, format!("{value:?}{suffix}"));
            Val { text: Text::number(text), shape: Shape::Float { bits: ty.bits() } }
        }
        Type::Int(width) => integer(u32::from(width), bits, reading),
    }
}

fn float(value: f64, finite: String) -> String {
    match value {
        _ if value.is_nan() => "NAN".to_owned(),
        f64::INFINITY => "INFINITY".to_owned(),
        f64::NEG_INFINITY => "-INFINITY".to_owned(),
        _ => finite,
    }
}

/// An integer constant, with the type that C gives to the digits.
fn integer(width: u32, bits: u128, reading: Reading) -> Val {
    let value = arith::signed(width, bits);
    let as_signed = |value: i128| {
        let wide = i32::try_from(value).is_err();
        let bits = if wide { 64.max(width.min(128)) } else { 32 };
        Val { text: Text::number(value.to_string()), shape: Shape::Int { bits, signed: true } }
    };
    match reading {
        _ if width == 1 => as_signed(bits as i128 & 1),
        Reading::Character => {
            let c = char::from(bits as u8);
            let escape = if matches!(c, '\'' | '\\') { "\\" } else { "" };
            Val { text: Text::primary(format!("'{escape}{c}'")), shape: Shape::INT }
        }
        Reading::Mask => {
            let shape = Shape::Int { bits: width.max(32), signed: false };
            Val { text: Text::primary(format!("{bits:#x}")), shape }
        }
        Reading::Unsigned if value < 0 => {
            let shape = Shape::Int { bits: width.max(32), signed: false };
            Val { text: Text::primary(format!("{bits}u")), shape }
        }
        Reading::Signed | Reading::Unsigned => as_signed(value),
    }
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

/// The element type of an array, or what a pointer points to.
fn element(program: &Program, ty: CTypeId) -> Option<CTypeId> {
    match program.types.get(ty) {
        CType::Array { element, .. } => Some(*element),
        CType::Pointer { pointee, .. } => Some(*pointee),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
