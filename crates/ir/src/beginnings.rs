//! Variables that begin without a value, as inputs of the program.
//!
//! C leaves the first value of a local variable without an initialiser open. By the rules of
//! verification tasks it is any value, chosen once, and an input like others. [`make_inputs`] says so
//! in the program itself: where such a variable begins, a call of a function that gives inputs sets
//! it. So every engine, and every test, treats that value as it treats other inputs.
//!
//! The function is named by [`BEGINNING`], the variable's function and the variable. A test lists the
//! results of each function in the order of its calls, so a value belongs to the *n*-th beginning of one
//! variable, whatever else the run reads.
//!
//! # What is left without a value
//! Pointers, bit-fields, members of unions, long arrays, blocks of memory that the program allocates, and
//! variables in registers that may begin more than once in a call of their function.

use std::collections::BTreeMap;

use crate::assigned::DefiniteAssignment;
use crate::cfg::{Cfg, Dominators, Loops};
use crate::program::ctype::{CType, CTypeId, CTypes, RecordId};
use crate::program::expr::{Expr, ExprId, Type};
use crate::program::function::{Body, Function, Local, LocalId, LocalKind, Storage};
use crate::program::stmt::{Callee, Stmt, StmtId};
use crate::program::{FuncId, Program};
use lydian_base::Span;

/// How the names of functions begin that give the first values of variables.
pub const BEGINNING: &str = "__VERIFIER_nondet_beginning.";

/// A variable with more scalars than these is left without a value.
const MOST_SCALARS: usize = 16;

/// A variable whose first value is an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beginning<'n> {
    /// The variable's function.
    pub function: &'n str,
    /// The variable, or a scalar in it as C writes it.
    pub variable: &'n str,
}

impl<'n> Beginning<'n> {
    /// The variable that a function gives the first value of, by the function's name.
    pub fn of_name(name: &'n str) -> Option<Self> {
        let (function, variable) = name.strip_prefix(BEGINNING)?.split_once(':')?;
        Some(Self { function, variable })
    }

    fn name(self) -> String {
        format!("{BEGINNING}{}:{}", self.function, self.variable)
    }
}

/// Makes the first values of variables inputs, in all functions but those of the library.
pub fn make_inputs(program: &mut Program) {
    let ids: Vec<FuncId> = program.functions.ids().collect();
    let mut givers = BTreeMap::new();
    for id in ids {
        let function = &mut program.functions[id];
        if function.library {
            continue;
        }
        let Some(body) = function.body.take() else { continue };
        let name = function.name.clone();
        let whole = function.span;
        let mut pass = Pass { program, givers: &mut givers, function: &name, whole, body };
        pass.registers();
        pass.memory();
        program.functions[id].body = Some(pass.body);
    }
}

/// A scalar of a variable in memory.
#[derive(Clone, Debug)]
struct Part {
    /// Its place in the variable as C writes it.
    text: String,
    steps: Vec<Step>,
    ty: CTypeId,
}

/// A step from an object to a part of it.
#[derive(Clone, Copy, Debug)]
enum Step {
    Field(RecordId, u32),
    Element { index: u64, size: u64, count: u64 },
}

/// The loops of a function, by their text.
struct LoopTexts {
    /// Where the texts of statements in loops begin; none if some have no text.
    starts: Option<Vec<u32>>,
    is_any: bool,
}

impl LoopTexts {
    fn new(body: &Body) -> Self {
        let cfg = Cfg::new(body);
        let loops = Loops::new(&cfg, &Dominators::new(&cfg));
        if loops.irreducible {
            return Self { starts: None, is_any: true };
        }
        let blocks = loops.loops.values().flat_map(|one| &one.blocks);
        let stmts = blocks.flat_map(|block| &body.blocks[*block].stmts);
        let starts = stmts.map(|stmt| {
            let span = body.source.stmts[*stmt];
            (!span.is_none()).then_some(span.start)
        });
        Self { starts: starts.collect(), is_any: loops.loops.values().next().is_some() }
    }

    /// Whether a variable of a function begins only once in a call: no loop leaves its scope and comes
    /// back.
    fn begins_once(&self, local: &Local, function: Span) -> bool {
        let is_outermost = !local.scope.is_none() && local.scope.end == function.end;
        let are_behind = |starts: &Vec<u32>| starts.iter().all(|at| *at >= local.scope.start);
        !self.is_any || is_outermost && self.starts.as_ref().is_some_and(are_behind)
    }
}

/// The pass over one function, whose body is taken out of the program.
struct Pass<'p> {
    program: &'p mut Program,
    /// The functions that give first values, by their names.
    givers: &'p mut BTreeMap<String, FuncId>,
    function: &'p str,
    /// The text of the function.
    whole: Span,
    body: Body,
}

impl Pass<'_> {
    /// Sets registers that may be read before they are set, where the function is entered.
    fn registers(&mut self) {
        let uncertain = DefiniteAssignment::new(&self.body).uncertain;
        let loops = LoopTexts::new(&self.body);
        let mut begun = Vec::new();
        for (id, local) in self.body.locals.iter() {
            let is_read = uncertain[lydian_base::EntityId::index(id)];
            let is_chosen =
                local.kind == LocalKind::Var && is_chosen(&self.program.types, local.ty);
            if is_read && is_chosen && loops.begins_once(local, self.whole) {
                begun.push((id, local.name.clone(), local.ty));
            }
        }
        let calls: Vec<StmtId> =
            begun.into_iter().map(|(id, name, ty)| self.call(&name, ty, id)).collect();
        let entry = self.body.entry;
        self.body.blocks[entry].stmts.splice(0..0, calls);
    }

    /// Sets the scalars of variables in memory, where their life begins.
    fn memory(&mut self) {
        let blocks: Vec<_> = self.body.blocks.ids().collect();
        for block in blocks {
            let old = std::mem::take(&mut self.body.blocks[block].stmts);
            let mut stmts = Vec::with_capacity(old.len());
            for (at, stmt) in old.iter().enumerate() {
                stmts.push(*stmt);
                if let Stmt::Enter(local) = self.body.stmts[*stmt]
                    && self.body.locals[local].kind == LocalKind::Var
                    && self.may_be_read_first(local, &old[at + 1..])
                {
                    stmts.extend(self.begin(local));
                }
            }
            self.body.blocks[block].stmts = stmts;
        }
    }

    /// Whether an object may be read before all of it is written, as far as its block shows.
    fn may_be_read_first(&self, object: LocalId, behind: &[StmtId]) -> bool {
        let Storage::Memory { size, .. } = self.body.locals[object].storage else { return false };
        for stmt in behind.iter().map(|stmt| &self.body.stmts[*stmt]) {
            let (dst, bytes) = match stmt {
                Stmt::Leave(local) if *local == object => return false,
                Stmt::Zero { dst, size } | Stmt::Copy { dst, size, .. } => (Some(*dst), *size),
                Stmt::Store { addr, ty, .. } => {
                    (Some(*addr), self.program.types.target.stored_bytes(*ty))
                }
                _ => (None, 0),
            };
            let is_whole = dst.is_some_and(|dst| self.body.exprs[dst] == Expr::AddrLocal(object));
            let mut mentions = 0;
            stmt.for_each_expr(|expr| mentions += usize::from(self.mentions(expr, object)));
            match mentions {
                0 => {}
                1 if is_whole && bytes == size => return false,
                _ => return true,
            }
        }
        true
    }

    fn mentions(&self, expr: ExprId, object: LocalId) -> bool {
        let mut waiting = vec![expr];
        while let Some(expr) = waiting.pop() {
            match &self.body.exprs[expr] {
                Expr::AddrLocal(local) if *local == object => return true,
                other => other.for_each_operand(|operand| waiting.push(operand)),
            }
        }
        false
    }

    /// The statements that give an object its first value.
    fn begin(&mut self, object: LocalId) -> Vec<StmtId> {
        let (ty, name) = (self.body.locals[object].ty, self.body.locals[object].name.clone());
        let mut parts = Vec::new();
        let whole = Part { text: name, steps: Vec::new(), ty };
        add_parts(&self.program.types, whole, &mut parts);
        if parts.len() > MOST_SCALARS {
            return Vec::new();
        }
        parts.iter().flat_map(|part| self.begin_part(object, part)).collect()
    }

    fn begin_part(&mut self, object: LocalId, part: &Part) -> Vec<StmtId> {
        let Some(ty) = self.program.types.scalar(part.ty) else { return Vec::new() };
        let value = self.body.locals.push(Local {
            name: String::new(),
            ty: part.ty,
            kind: LocalKind::Temp,
            storage: Storage::Register(ty),
            scope: Span::NONE,
        });
        let call = self.call(&part.text, part.ty, value);
        let mut addr = self.body.exprs.push(Expr::AddrLocal(object));
        for step in &part.steps {
            addr = self.step(addr, *step);
        }
        let value = self.body.exprs.push(Expr::Local(value));
        let store = Stmt::Store { addr, value, ty, volatile: false };
        vec![call, self.body.stmts.push(store)]
    }

    fn step(&mut self, base: ExprId, step: Step) -> ExprId {
        let expr = match step {
            Step::Field(record, field) => Expr::Field { base, record, field },
            Step::Element { index, size, count } => {
                let index = self.body.exprs.push(Expr::Const(Type::Int(64), index.into()));
                Expr::Index { base, index, size, bound: Some(count) }
            }
        };
        self.body.exprs.push(expr)
    }

    /// A call that sets a register to a first value of a type.
    fn call(&mut self, variable: &str, ty: CTypeId, dst: LocalId) -> StmtId {
        let name = Beginning { function: self.function, variable }.name();
        let kind = CType::Function { result: ty, params: Vec::new(), variadic: false };
        let kind = self.program.types.intern(kind);
        // Variables of one name in several blocks may have several types.
        let mut known = name.clone();
        let giver = loop {
            match self.givers.get(&known) {
                Some(giver) if self.program.functions[*giver].ty == kind => break *giver,
                Some(_) => known.push('\''),
                None => {
                    let giver = self.program.functions.push(Function::declared(&known, kind));
                    self.givers.insert(known, giver);
                    break giver;
                }
            }
        };
        self.body.stmts.push(Stmt::Call {
            callee: Callee::Direct(giver),
            args: Vec::new(),
            arg_types: Vec::new(),
            dst: Some(dst),
            dst_addr: None,
            ty: kind,
        })
    }
}

/// Whether the first value of a variable of this type is an input.
fn is_chosen(types: &CTypes, ty: CTypeId) -> bool {
    matches!(types.scalar(ty), Some(Type::Int(1..=64) | Type::F32 | Type::F64))
}

/// Adds the scalars of a part that have first values, until there are too many.
fn add_parts(types: &CTypes, part: Part, found: &mut Vec<Part>) {
    if found.len() > MOST_SCALARS {
        return;
    }
    match types.get(part.ty) {
        _ if is_chosen(types, part.ty) => found.push(part),
        CType::Array { element, length: Some(count) } => {
            let size = types.size(*element).unwrap_or(0);
            for index in 0..(*count).min(MOST_SCALARS as u64 + 1) {
                let step = Step::Element { index, size, count: *count };
                add_parts(types, inner(&part, format!("[{index}]"), step, *element), found);
            }
        }
        CType::Record(record) if !types.records[*record].is_union => {
            for (at, field) in types.records[*record].fields.iter().enumerate() {
                if field.bits.is_some() {
                    continue;
                }
                let dot = if field.name.is_empty() { "" } else { "." };
                let text = format!("{dot}{}", field.name);
                let step = Step::Field(*record, at as u32);
                add_parts(types, inner(&part, text, step, field.ty), found);
            }
        }
        _ => {}
    }
}

fn inner(part: &Part, text: String, step: Step, ty: CTypeId) -> Part {
    let mut steps = part.steps.clone();
    steps.push(step);
    Part { text: format!("{}{text}", part.text), steps, ty }
}
