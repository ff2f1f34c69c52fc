//! Terms as C expressions that have exactly their value.
//!
//! A bit-vector of 8, 16, 32 or 64 bits is an expression of the unsigned type of that width, so that sums
//! wrap as they do on the machine. Where order is signed, and for equality, a variable of that signed
//! type stands by its name alone. Operators whose result C leaves open for some operands are said only
//! where the operands are none of these.

use lydian_ir::cexact::{Names as _, ScopedNames};
use lydian_ir::{CType, CTypeId, FuncId, Program};
use lydian_prove::encode::Encoded;
use lydian_prove::encode::provenance::{OriginKind, VariablePlace};
use lydian_prove::system::{PointId, VarId};
use lydian_smt::{BinOp, Node, Sort, Term, TermPool, UnOp};
use rustc_hash::FxHashMap;

/// The greatest depth of an expression.
const DEEPEST: u32 = 24;

/// Writes the terms about the state at a point.
pub(super) struct CTerms<'a> {
    program: &'a Program,
    encoded: &'a Encoded,
    pool: &'a TermPool,
    instance: usize,
    function: FuncId,
    /// The place in the text where expressions will stand.
    offset: u32,
    variables: FxHashMap<Term, VarId>,
}

/// A variable as C names it.
struct Named {
    text: String,
    ty: CTypeId,
}

impl<'a> CTerms<'a> {
    pub(super) fn new(
        program: &'a Program,
        (encoded, pool): (&'a Encoded, &'a TermPool),
        (point, instance): (PointId, usize),
        offset: u32,
    ) -> Self {
        let live = encoded.provenance.live[point].iter();
        let variables = live.map(|id| (encoded.system.variables[*id].symbol, *id)).collect();
        let function = encoded.provenance.instances[instance].function;
        Self { program, encoded, pool, instance, function, offset, variables }
    }

    /// A condition as C.
    pub(super) fn condition(&self, term: Term) -> Option<String> {
        self.truth(term, DEEPEST)
    }

    fn truth(&self, term: Term, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        Some(match self.pool.node(term) {
            Node::Bool(value) => u8::from(value).to_string(),
            Node::Un(UnOp::Not, inner) => match self.pool.node(inner) {
                Node::Bin(BinOp::Slt, a, b) => self.signed_order(b, a, "<=", depth)?,
                Node::Bin(BinOp::Ult, a, b) => self.order(b, a, "<=", depth)?,
                Node::Bin(BinOp::Eq, a, b) => self.equality(a, b, "!=", depth)?,
                _ => format!("!({})", self.truth(inner, depth)?),
            },
            Node::Bin(BinOp::And, a, b) => {
                format!("({}) && ({})", self.truth(a, depth)?, self.truth(b, depth)?)
            }
            Node::Bin(BinOp::Eq, a, b) => self.equality(a, b, "==", depth)?,
            Node::Bin(BinOp::Slt, a, b) => self.signed_order(a, b, "<", depth)?,
            Node::Bin(BinOp::Ult, a, b) => self.order(a, b, "<", depth)?,
            Node::Ite(test, a, b) => format!(
                "({}) ? ({}) : ({})",
                self.truth(test, depth)?,
                self.truth(a, depth)?,
                self.truth(b, depth)?
            ),
            _ => return None,
        })
    }

    fn equality(&self, a: Term, b: Term, sign: &str, depth: u32) -> Option<String> {
        match self.pool.sort(a) {
            Sort::Bool => {
                let (a, b) = (self.truth(a, depth)?, self.truth(b, depth)?);
                Some(format!("!({a}) {} !({b})", sign))
            }
            Sort::BitVec(_) => {
                let is_plain =
                    |term| self.plain(term).is_some() || self.pool.as_u64(term).is_some();
                match is_plain(a) && is_plain(b) {
                    true => self.signed_order(a, b, sign, depth),
                    false => self.order(a, b, sign, depth),
                }
            }
            Sort::Float(_) | Sort::Array { .. } => None,
        }
    }

    fn order(&self, a: Term, b: Term, sign: &str, depth: u32) -> Option<String> {
        Some(format!("{} {sign} {}", self.bits(a, depth)?, self.bits(b, depth)?))
    }

    fn signed_order(&self, a: Term, b: Term, sign: &str, depth: u32) -> Option<String> {
        Some(format!("{} {sign} {}", self.signed(a, depth)?, self.signed(b, depth)?))
    }

    /// A bit-vector as an expression of the signed type of its width.
    fn signed(&self, term: Term, depth: u32) -> Option<String> {
        let width = self.pool.width(term);
        if let Some(named) = self.plain(term) {
            return Some(named.text);
        }
        if let Some(value) = self.pool.as_i64(term)
            && value > i64::MIN
            && (width == 32 || width == 64)
        {
            let suffix = if width == 64 { "ll" } else { "" };
            return Some(match value == i64::from(i32::MIN) && width == 32 {
                true => "(-2147483647 - 1)".to_owned(),
                false => format!("{value}{suffix}"),
            });
        }
        Some(format!("({}){}", signed_type(width)?, self.bits(term, depth)?))
    }

    /// A variable of the signed type of its width, which stands for itself.
    fn plain(&self, term: Term) -> Option<Named> {
        let named = self.named(term)?;
        let CType::Int { kind, .. } = self.program.types.get(named.ty) else { return None };
        let is_whole = self.program.types.size(named.ty)? * 8 == u64::from(self.pool.width(term));
        (is_whole && kind.spelling() == signed_type(self.pool.width(term))?).then_some(named)
    }

    /// A bit-vector as an expression of the unsigned type of its width, in parentheses.
    fn bits(&self, term: Term, depth: u32) -> Option<String> {
        let depth = depth.checked_sub(1)?;
        let width = self.pool.width(term);
        let ty = unsigned_type(width)?;
        if let Some(value) = self.pool.as_u64(term) {
            return Some(match width {
                33.. => format!("{value}ull"),
                32 => format!("{value}u"),
                _ => format!("(({ty}){value})"),
            });
        }
        if let Some(named) = self.named(term) {
            return Some(format!("(({ty}){})", named.text));
        }
        let cast = |text: String| Some(masked(&text, ty, width));
        match self.pool.node(term) {
            Node::Un(UnOp::BvNot, a) => cast(format!("~{}", self.bits(a, depth)?)),
            Node::Un(UnOp::BvNeg, a) => cast(format!("0u - {}", self.bits(a, depth)?)),
            Node::Un(UnOp::ZExt, a) => cast(self.bits(a, depth)?),
            Node::Un(UnOp::SExt, a) => cast(self.signed(a, depth)?),
            Node::Extract(a, low) => {
                let inner = self.bits(a, depth)?;
                cast(if low == 0 { inner } else { format!("{inner} >> {low}") })
            }
            Node::Ite(test, a, b) => {
                let test = self.truth(test, depth)?;
                cast(format!("({test}) ? {} : {}", self.bits(a, depth)?, self.bits(b, depth)?))
            }
            Node::Bin(BinOp::Concat, a, b) => {
                let (high, low) = (self.bits(a, depth)?, self.bits(b, depth)?);
                cast(format!("({ty}){high} << {} | {low}", self.pool.width(b)))
            }
            Node::Bin(op, a, b) => cast(self.binary((op, a, b), width, depth)?),
            _ => None,
        }
    }

    fn binary(&self, (op, a, b): (BinOp, Term, Term), width: u32, depth: u32) -> Option<String> {
        let constant = self.pool.as_u64(b);
        let sign = match op {
            BinOp::Add => "+",
            BinOp::Sub => "-",
            BinOp::Mul => "*",
            BinOp::BvAnd => "&",
            BinOp::BvOr => "|",
            BinOp::BvXor => "^",
            BinOp::UDiv if constant.is_some_and(|value| value != 0) => "/",
            BinOp::URem if constant.is_some_and(|value| value != 0) => "%",
            BinOp::Shl if constant.is_some_and(|value| value < u64::from(width)) => "<<",
            BinOp::LShr if constant.is_some_and(|value| value < u64::from(width)) => ">>",
            BinOp::AShr if constant.is_some_and(|value| value < u64::from(width)) => {
                return Some(format!("{} >> {}", self.signed(a, depth)?, self.bits(b, depth)?));
            }
            // Neither zero nor -1, for which the least number has no quotient.
            BinOp::SDiv | BinOp::SRem if constant? != 0 && self.pool.as_i64(b)? != -1 => {
                let sign = if op == BinOp::SDiv { "/" } else { "%" };
                return Some(format!(
                    "{} {sign} {}",
                    self.signed(a, depth)?,
                    self.signed(b, depth)?
                ));
            }
            _ => return None,
        };
        // Narrow operands would become signed, and their product might not fit.
        let wide = if width < 32 { "1u * " } else { "" };
        Some(format!("{wide}{} {sign} {}", self.bits(a, depth)?, self.bits(b, depth)?))
    }

    /// The variable that a symbol stands for.
    fn named(&self, term: Term) -> Option<Named> {
        let variable = *self.variables.get(&term)?;
        let place = self.encoded.provenance.variables[variable]?;
        let body = self.program.functions[self.function].body.as_ref()?;
        let none = |_| None;
        let names = ScopedNames::new(self.program, self.function, body, self.offset, &none);
        let found = match place {
            VariablePlace::Register(instance, local) if instance == self.instance => {
                Named { text: names.local(local)?, ty: body.locals[local].ty }
            }
            VariablePlace::Bytes { object, offset, size, float: false } => {
                let whole = match self.encoded.provenance.objects[object].kind {
                    OriginKind::Global(global) => {
                        Named { text: names.global(global)?, ty: self.program.globals[global].ty }
                    }
                    OriginKind::Local(instance, local) if instance == self.instance => {
                        Named { text: names.local(local)?, ty: body.locals[local].ty }
                    }
                    _ => return None,
                };
                self.part(whole, offset, size)?
            }
            _ => return None,
        };
        let types = &self.program.types;
        let is_number = matches!(types.get(found.ty), CType::Int { .. } | CType::Enum { .. });
        let bits = types.size(found.ty)? * 8;
        (is_number && bits == u64::from(self.pool.width(term))).then_some(found)
    }

    /// The scalar of an object at an offset.
    fn part(&self, whole: Named, offset: u64, size: u64) -> Option<Named> {
        let types = &self.program.types;
        match types.get(whole.ty) {
            CType::Array { element, .. } => {
                let step = types.size(*element)?;
                let text = format!("{}[{}]", whole.text, offset.checked_div(step)?);
                self.part(Named { text, ty: *element }, offset % step, size)
            }
            CType::Record(record) => {
                let record = &types.records[*record];
                let holds = |field: &&lydian_ir::Field| {
                    let begin = field.bit_offset / 8;
                    let bytes = types.size(field.ty).unwrap_or(0);
                    field.bits.is_none() && begin <= offset && offset < begin + bytes
                };
                let field = record.fields.iter().filter(|_| !record.is_union).find(holds)?;
                (!field.name.is_empty()).then_some(())?;
                let text = format!("{}.{}", whole.text, field.name);
                self.part(Named { text, ty: field.ty }, offset - field.bit_offset / 8, size)
            }
            _ => (offset == 0 && types.size(whole.ty) == Some(size)).then_some(whole),
        }
    }
}

/// The type of an expression for so many bits; what it has more are zero.
const fn unsigned_type(width: u32) -> Option<&'static str> {
    Some(match width {
        8 => "unsigned char",
        16 => "unsigned short",
        1..=32 => "unsigned int",
        33..=64 => "unsigned long long",
        _ => return None,
    })
}

/// An expression cut to the lowest bits.
fn masked(text: &str, ty: &str, width: u32) -> String {
    match width {
        8 | 16 | 32 | 64 => format!("(({ty})({text}))"),
        33.. => format!("(({ty})(({text}) & {}ull))", u64::MAX >> (64 - width)),
        _ => format!("(({ty})(({text}) & {}u))", u32::MAX >> (32 - width)),
    }
}

fn signed_type(width: u32) -> Option<&'static str> {
    Some(match width {
        8 => "signed char",
        16 => "short",
        32 => "int",
        64 => "long long",
        _ => return None,
    })
}
