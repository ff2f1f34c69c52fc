//! An expression as the C that a user would write: `p->len > 4 && buf[i] == 'x'`.
//!
//! The text is for predicates, objectives and reports, and it compiles where the expression stands:
//! [`crate::cexact`] is for machines and checks what could trap, this is for people and does not. It
//! means what the IR says in GNU C with `-fwrapv`. Types are followed as C's conversions make them: a
//! cast that C does by itself is left out, every other one is shown, and constants get the suffix
//! that they need. Where the user's own text has the value, it is taken.

use lydian_base::SideTable;

use crate::program::ctype::{CType, CTypeId};
use crate::program::expr::{Expr, ExprArena, ExprId, Type};
use crate::program::function::{Body, LocalId};
use crate::program::stmt::Stmt;
use crate::program::{GlobalId, Program};

mod cast;
mod constant;
mod lvalue;
mod operator;
mod precedence;
mod scan;
mod shape;

use constant::Reading;
use precedence::Text;
use shape::Shape;

/// Deeper parts are left out.
const MAX_DEPTH: u32 = 200;

/// Longer texts are cut, at the next operator.
const MAX_LENGTH: usize = 1 << 14;

/// The text that replaces parts that are left out.
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

/// A value's text and the type that C gives to it. That may be a narrower one than the expression's:
/// C's conversion to that gives the value.
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

/// Whether a text is 0 or 1 by its form: a comparison, a negation, a conjunction.
pub fn is_truth(text: &str) -> bool {
    Text::foreign(text.to_owned()).is_truth
}

/// The identifiers and keywords in a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    scan::words(text)
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

    /// The expression as C. A truth value may have any text that C tests for it.
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
        let mut value = match self.written(expr, node) {
            Some(written) => written,
            None => self.node(expr, node, depth + 1),
        };
        if value.text.text.len() > MAX_LENGTH {
            value.text = Text::primary(LEFT_OUT);
        }
        value
    }

    /// An expression of the user's by its text, if that has the value, with the type that C gives to
    /// it. Of conversions that C implies the text is the operand's.
    fn written(&self, id: ExprId, node: &Expr) -> Option<Val> {
        let machine = self.types[id];
        let shape = match node {
            Expr::AddrLocal(_) | Expr::AddrGlobal(_) | Expr::Field { .. } | Expr::Index { .. } => {
                return None;
            }
            Expr::Local(local) if !self.body.locals[*local].name.is_empty() => return None,
            // A null pointer of the user's may have another type than what it is put beside.
            Expr::Const(Type::Ptr, 0) | Expr::Cast(_, Type::Ptr, _) | Expr::LoadBits { .. } => {
                return None;
            }
            _ if machine == Type::BOOL => Shape::INT,
            _ if machine == Type::Ptr => Shape::Other,
            _ => self.written_shape(id, node, machine)?,
        };
        let text = (self.spelled)(id).filter(|text| !text.is_empty())?;
        Some(Val { text: Text::foreign(text), shape })
    }

    /// The type of the text of a number, if its conversion gives the number.
    fn written_shape(&self, id: ExprId, node: &Expr, machine: Type) -> Option<Shape> {
        let noted = self.body.source.c_types[id].map(|types| types.text);
        match node {
            // Characters and bit-fields have types that arithmetic does not know.
            Expr::Load { addr, .. } => {
                let found = self.object_type(*addr, 0).map(|ty| Shape::of(&self.program.types, ty));
                let fits = |shape: &Shape| shape.bits() == machine.bits() && *shape != Shape::Other;
                found.filter(fits).or_else(|| noted.map(Shape::of_number))
            }
            Expr::Const(..) => noted.map(Shape::of_number).filter(|shape| {
                let is_number = shape.is_integer() && shape.bits() <= machine.bits();
                is_number || *shape == Shape::Float(machine)
            }),
            Expr::Cast(..) => {
                noted.filter(|noted| noted.machine() == machine).map(Shape::of_number)
            }
            Expr::Local(local) => Some(Shape::of(&self.program.types, self.body.locals[*local].ty))
                .filter(|shape| *shape != Shape::Other)
                .or_else(|| noted.map(Shape::of_number)),
            _ => noted.filter(|noted| noted.machine() == machine).map(Shape::of_number),
        }
    }

    fn node(&self, id: ExprId, node: &Expr, depth: u32) -> Val {
        match node {
            Expr::Const(ty, bits) => self.constant(*ty, *bits, Reading::Signed),
            Expr::Local(local) if let Some(value) = self.kept(*local) => self.value(value, depth),
            Expr::Local(local) => {
                let shape = Shape::of(&self.program.types, self.body.locals[*local].ty);
                Val { text: Text::primary(self.local_name(*local)), shape }
            }
            Expr::AddrLocal(_) | Expr::AddrGlobal(_) | Expr::Field { .. } | Expr::Index { .. } => {
                self.address(id, depth)
            }
            Expr::AddrFunc(function) => {
                let name = &self.program.functions[*function].name;
                Val { text: Text::primary(own_name(name)), shape: Shape::Other }
            }
            Expr::Load { ty, addr, .. } => self.load(*ty, *addr, depth),
            Expr::LoadBits { field, addr } => self.bit_field(field, *addr, depth),
            Expr::Unary(op, a) => self.unary(*op, *a, depth),
            Expr::Binary(op, a, b) => self.binary(*op, *a, *b, depth),
            Expr::Cmp(op, a, b) => self.compare(*op, *a, *b, depth),
            Expr::Cast(op, to, a) => self.cast(*op, *to, *a, depth),
            Expr::PtrDiff { a, b, size } => self.difference(*a, *b, *size, depth),
            Expr::Select { test, then, otherwise } => self.choice(*test, *then, *otherwise, depth),
        }
    }

    /// The one value that a local without a name is given.
    fn kept(&self, local: LocalId) -> Option<ExprId> {
        if !self.body.locals[local].name.is_empty() {
            return None;
        }
        let mut values = self.body.stmts.values().filter_map(|stmt| match stmt {
            Stmt::Assign { dst, value } if *dst == local => Some(*value),
            _ => None,
        });
        values.next().filter(|_| values.next().is_none())
    }

    fn local_name(&self, local: LocalId) -> String {
        match self.body.locals[local].name.as_str() {
            "" => local.to_string(),
            name => name.to_owned(),
        }
    }

    fn global_name(&self, global: GlobalId) -> String {
        let global = &self.program.globals[global];
        if let Some(literal) = crate::cexact::string_literal(global) {
            return literal;
        }
        // A static local: `function.name`, and a number from the second of one name on.
        match global.name.split('.').nth(1) {
            Some(own) if !global.name.starts_with('.') => own_name(own).to_owned(),
            _ => own_name(&global.name).to_owned(),
        }
    }

    fn cast_to(&self, shape: Shape, a: Val) -> Val {
        let name = shape.name(self.program.types.target);
        Val { text: Text::prefix(&format!("({name})"), &a.text), shape }
    }
}

/// The name in its own file of what linking named after that.
fn own_name(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

/// The element type of an array, or the type that a pointer points to.
fn element(program: &Program, ty: CTypeId) -> Option<CTypeId> {
    match program.types.get(ty) {
        CType::Array { element, .. } => Some(*element),
        CType::Pointer { pointee, .. } => Some(*pointee),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
