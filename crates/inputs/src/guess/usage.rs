//! The uses of a program's pointers: which are indexed, tested for null, written through, passed on.
//!
//! One flow-insensitive pass over all bodies, after which facts of parameters are propagated to the
//! arguments that callers pass. It is cheap and only good for guesses: it misses flows through memory
//! other than parameters, globals and members. Nothing depends on it for soundness.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::libc::{Family, library_function, library_function_of};
use lydian_ir::{
    Body, Callee, CmpOp, Expr, ExprId, FuncId, Function, GlobalId, LocalId, Program, RecordId,
    Stmt, Storage, Type, UnOp,
};

/// A variable or member that holds a pointer.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum PointerVariable {
    /// A parameter, by its position.
    Param(FuncId, usize),
    /// A global, or an element of it.
    Global(GlobalId),
    /// A member of a struct or union, wherever that lies.
    Member(RecordId, u32),
    /// The target of another pointer variable, if it is a pointer itself.
    Pointee(Box<PointerVariable>),
}

/// The uses of one pointer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PointerUses {
    /// It is compared with null.
    pub null_tested: bool,
    /// Elements other than the first are reached through it, by an index that varies.
    pub varying_index: bool,
    /// One more than the greatest constant index used.
    pub constant_elements: u64,
    /// The number of elements before the first one that are reached through it, as far as constants
    /// say; [`WALKED_BACK`] if it is moved back by varying numbers, or repeatedly.
    pub before: u64,
    /// Memory is read through it.
    pub read: bool,
    /// Memory is written through it.
    pub written: bool,
    /// It is passed to a function of the C library that takes a NUL-terminated string.
    pub string: bool,
    /// It is passed to a function of the C library that reads one number from text.
    pub number: bool,
    /// It is passed to a function whose body is not known.
    pub handed_on: bool,
    /// Structs whose members are reached through it.
    pub records: BTreeSet<RecordId>,
    /// Pointers that it is compared with for equality.
    pub compared: BTreeSet<PointerVariable>,
    /// Pointers that it is subtracted from, or compared with for order: both point into one object.
    pub ordered: BTreeSet<PointerVariable>,
    /// For a number: the greatest constant that it is compared with.
    pub compared_constant: u64,
}

impl PointerUses {
    /// Whether more than one element is reached through it.
    pub fn is_indexed(&self) -> bool {
        self.varying_index || self.constant_elements > 1
    }

    /// Adds the uses of another pointer with the same value. Returns whether that changed anything.
    fn absorb(&mut self, other: &Self) -> bool {
        let before = self.clone();
        self.null_tested |= other.null_tested;
        self.varying_index |= other.varying_index;
        self.constant_elements = self.constant_elements.max(other.constant_elements);
        self.before = self.before.max(other.before);
        self.read |= other.read;
        self.written |= other.written;
        self.string |= other.string;
        self.number |= other.number;
        self.handed_on |= other.handed_on;
        self.compared_constant = self.compared_constant.max(other.compared_constant);
        self.records.extend(&other.records);
        *self != before
    }
}

/// The uses of every pointer of a program.
#[derive(Clone, Debug, Default)]
pub struct Usage {
    facts: BTreeMap<PointerVariable, PointerUses>,
    none: PointerUses,
    /// Values that flow from an argument to a parameter.
    flows: BTreeSet<(PointerVariable, PointerVariable)>,
}

/// Elements that are taken to lie before a pointer that is moved back.
const WALKED_BACK: u64 = 2;
/// The most elements before a pointer that a guess makes.
const MOST_BEFORE: u64 = 64;

/// The number of calls up which facts are propagated: wrappers of wrappers are rarely deeper.
const ROUNDS: usize = 8;

impl Usage {
    /// Reads every body of a program. Linear in its size.
    pub fn of(program: &Program) -> Self {
        let mut usage = Self::default();
        for (id, function) in program.defined() {
            let body = function.body.as_ref().expect("`defined` gives functions with a body");
            Reader::new(id, body).read(program, &mut usage);
        }
        for _ in 0..ROUNDS {
            if !usage.flow_up() {
                break;
            }
        }
        usage
    }

    /// The uses of the pointer in a variable.
    pub fn of_spot(&self, spot: &PointerVariable) -> &PointerUses {
        self.facts.get(spot).unwrap_or(&self.none)
    }

    fn at(&mut self, spot: PointerVariable) -> &mut PointerUses {
        self.facts.entry(spot).or_default()
    }

    fn flow_up(&mut self) -> bool {
        let mut news = false;
        for (argument, parameter) in self.flows.clone() {
            if let Some(facts) = self.facts.get(&parameter).cloned() {
                news |= self.at(argument).absorb(&facts);
            }
        }
        news
    }
}

/// Reads one body.
struct Reader<'a> {
    function: FuncId,
    body: &'a Body,
    /// The pointer that a register local holds, or is moved along from.
    holds: BTreeMap<LocalId, PointerVariable>,
}

impl<'a> Reader<'a> {
    fn new(function: FuncId, body: &'a Body) -> Self {
        let params = body.params.iter().enumerate();
        let holds =
            params.map(|(at, local)| (*local, PointerVariable::Param(function, at))).collect();
        Self { function, body, holds }
    }

    fn read(mut self, program: &Program, usage: &mut Usage) {
        // Twice, so that a temporary is known if a loop uses it before the text assigns it.
        for _ in 0..2 {
            for stmt in self.body.stmts.values() {
                if let Stmt::Assign { dst, value } = stmt
                    && let Some(spot) = self.pointer(*value, 0)
                {
                    self.holds.entry(*dst).or_insert(spot);
                }
            }
        }
        for (id, expr) in self.body.exprs.iter() {
            self.expression(usage, id, expr);
        }
        for stmt in self.body.stmts.values() {
            self.statement(program, usage, stmt);
        }
    }

    /// The variable whose pointer this value is, or is derived from by arithmetic.
    fn pointer(&self, expr: ExprId, depth: u32) -> Option<PointerVariable> {
        match &self.body.exprs[expr] {
            Expr::Local(local) => self.holds.get(local).cloned(),
            Expr::Load { addr, .. } => self.spot_at(*addr, depth),
            Expr::Index { base, .. } => self.pointer(*base, depth),
            Expr::Cast(_, _, a) => self.pointer(*a, depth),
            _ => None,
        }
    }

    /// The pointer variable at an address.
    fn spot_at(&self, addr: ExprId, depth: u32) -> Option<PointerVariable> {
        match &self.body.exprs[addr] {
            Expr::AddrLocal(local) => {
                let position = self.body.params.iter().position(|param| param == local)?;
                Some(PointerVariable::Param(self.function, position))
            }
            Expr::AddrGlobal(global) => Some(PointerVariable::Global(*global)),
            Expr::Field { record, field, .. } => Some(PointerVariable::Member(*record, *field)),
            Expr::Index { base, .. } if self.is_storage(*base) => self.spot_at(*base, depth),
            _ if depth < 2 => {
                Some(PointerVariable::Pointee(Box::new(self.pointer(addr, depth + 1)?)))
            }
            _ => None,
        }
    }

    /// Whether it is the address of a variable or member rather than the value of a pointer.
    fn is_storage(&self, expr: ExprId) -> bool {
        match &self.body.exprs[expr] {
            Expr::AddrLocal(_) | Expr::AddrGlobal(_) | Expr::Field { .. } => true,
            Expr::Index { base, .. } => self.is_storage(*base),
            _ => false,
        }
    }

    /// The pointer through which an address leads.
    fn through(&self, addr: ExprId) -> Option<PointerVariable> {
        match &self.body.exprs[addr] {
            Expr::Field { base, .. } | Expr::Index { base, .. } => self.through(*base),
            _ => self.pointer(addr, 0),
        }
    }

    fn expression(&self, usage: &mut Usage, _id: ExprId, expr: &Expr) {
        match expr {
            Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } => {
                if let Some(spot) = self.through(*addr) {
                    usage.at(spot).read = true;
                }
            }
            Expr::Index { base, index, .. } if !self.is_storage(*base) => {
                let Some(spot) = self.pointer(*base, 0) else { return };
                let facts = usage.at(spot);
                match self.constant(*index) {
                    Some(value @ 0..0x1_0000_0000) => {
                        facts.constant_elements = facts.constant_elements.max(value as u64 + 1);
                    }
                    Some(value) if value.unsigned_abs() <= MOST_BEFORE && value < 0 => {
                        facts.before = facts.before.max(value.unsigned_abs());
                    }
                    _ => {
                        facts.varying_index = true;
                        if self.is_subtracted(*index) {
                            facts.before = facts.before.max(WALKED_BACK);
                        }
                    }
                }
            }
            Expr::Field { base, record, .. } if !self.is_storage(*base) => {
                if let Some(spot) = self.pointer(*base, 0) {
                    usage.at(spot).records.insert(*record);
                }
            }
            Expr::Cmp(op, a, b) => self.comparison(usage, *op, *a, *b),
            Expr::PtrDiff { a, b, .. } => self.pair(usage, *a, *b, true),
            _ => {}
        }
    }

    /// The value of an index, if it is a constant.
    fn constant(&self, index: ExprId) -> Option<i64> {
        match self.body.exprs[index] {
            Expr::Const(Type::Int(bits @ 1..=64), value) => {
                let unused = 64 - u32::from(bits);
                Some((value as u64) << unused).map(|value| value as i64 >> unused)
            }
            _ => None,
        }
    }

    /// Whether an index is the negative of something, as in `p - n`.
    fn is_subtracted(&self, index: ExprId) -> bool {
        match &self.body.exprs[index] {
            Expr::Unary(UnOp::NegU | UnOp::NegS, _) => true,
            Expr::Cast(_, _, a) => self.is_subtracted(*a),
            _ => false,
        }
    }

    fn comparison(&self, usage: &mut Usage, op: CmpOp, a: ExprId, b: ExprId) {
        if op.is_float() {
            return;
        }
        let equality = matches!(op, CmpOp::Eq | CmpOp::Ne);
        for (pointer, other) in [(a, b), (b, a)] {
            if equality
                && self.is_null(other)
                && let Some(spot) = self.pointer(pointer, 0)
            {
                usage.at(spot).null_tested = true;
            }
            if let Expr::Const(Type::Int(_), value) = self.body.exprs[other]
                && value < 1 << 16
                && let Some(spot) = self.pointer(pointer, 0)
            {
                let facts = usage.at(spot);
                facts.compared_constant = facts.compared_constant.max(value as u64);
            }
        }
        self.pair(usage, a, b, !equality);
    }

    fn pair(&self, usage: &mut Usage, a: ExprId, b: ExprId, ordered: bool) {
        if let (Some(a), Some(b)) = (self.pointer(a, 0), self.pointer(b, 0))
            && a != b
        {
            for (one, other) in [(&a, &b), (&b, &a)] {
                let facts = usage.at(one.clone());
                let known = if ordered { &mut facts.ordered } else { &mut facts.compared };
                known.insert(other.clone());
            }
        }
    }

    fn is_null(&self, expr: ExprId) -> bool {
        match &self.body.exprs[expr] {
            Expr::Const(_, value) => *value == 0,
            Expr::Cast(_, _, a) => self.is_null(*a),
            _ => false,
        }
    }

    fn statement(&self, program: &Program, usage: &mut Usage, stmt: &Stmt) {
        match stmt {
            Stmt::Store { addr, value, .. } => {
                self.write(usage, *addr);
                // `p++` on a pointer that is kept in memory.
                if let Some(spot) = self.spot_at(*addr, 0)
                    && self.walks(*value, &spot)
                {
                    self.walked(usage.at(spot), *value);
                }
            }
            Stmt::StoreBits { addr, .. } => self.write(usage, *addr),
            Stmt::Zero { dst, .. } => self.write(usage, *dst),
            Stmt::Copy { dst, src, .. } => {
                self.write(usage, *dst);
                if let Some(spot) = self.through(*src) {
                    usage.at(spot).read = true;
                }
            }
            // A pointer that is advanced walks over an array.
            Stmt::Assign { dst, value } if self.moves(*dst, *value) => {
                if let Some(spot) = self.holds.get(dst) {
                    self.walked(usage.at(spot.clone()), *value);
                }
            }
            Stmt::Call { callee, args, .. } => self.call(program, usage, *callee, args),
            _ => {}
        }
    }

    /// Notes that a pointer moves to an address some elements away.
    fn walked(&self, facts: &mut PointerUses, to: ExprId) {
        facts.varying_index = true;
        let Expr::Index { index, .. } = self.body.exprs[to] else { return };
        if self.constant(index).is_some_and(|by| by < 0) {
            facts.before = facts.before.max(WALKED_BACK);
        }
    }

    fn moves(&self, dst: LocalId, value: ExprId) -> bool {
        let Expr::Index { base, .. } = &self.body.exprs[value] else { return false };
        let is_pointer = matches!(self.body.locals[dst].storage, Storage::Register(_));
        is_pointer && self.pointer(*base, 0).as_ref() == self.holds.get(&dst)
    }

    fn write(&self, usage: &mut Usage, addr: ExprId) {
        if let Some(spot) = self.through(addr) {
            usage.at(spot).written = true;
        }
    }

    fn walks(&self, value: ExprId, spot: &PointerVariable) -> bool {
        matches!(&self.body.exprs[value], Expr::Index { base, .. }
            if self.pointer(*base, 0).as_ref() == Some(spot))
    }

    fn call(&self, program: &Program, usage: &mut Usage, callee: Callee, args: &[ExprId]) {
        let target = match callee {
            Callee::Direct(target) => Some(target),
            Callee::Indirect(_) => None,
        };
        let function = target.map(|target| &program.functions[target]);
        for (position, arg) in args.iter().enumerate() {
            let Some(spot) = self.pointer(*arg, 0) else { continue };
            if function.is_some_and(|function| takes_number(function, position)) {
                usage.at(spot.clone()).number = true;
            }
            match (target, function) {
                (Some(target), Some(function)) if function.body.is_some() => {
                    usage.flows.insert((spot, PointerVariable::Param(target, position)));
                }
                (_, function) => {
                    let name = function.map_or("", |function| function.name.as_str());
                    let facts = usage.at(spot);
                    facts.handed_on = true;
                    facts.string |= takes_string(name, position);
                }
            }
        }
    }
}

/// Whether a function of the C library reads a number from the text that it gets there.
fn takes_number(function: &Function, position: usize) -> bool {
    let row = library_function_of(function);
    position == 0 && row.is_some_and(|row| row.family == Family::Conversion)
}

/// Whether the C library's function of a name reads a text to its end that it gets there.
fn takes_string(function: &str, position: usize) -> bool {
    let effects = library_function(function).and_then(|row| row.effects);
    effects.is_some_and(|effects| effects.texts.contains(position))
}
