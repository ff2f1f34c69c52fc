//! The events of each block of a function: reads and writes of variables, and calls, in order.

use lydian_base::{EntityId, Span};
use lydian_ir::cfg::Cfg;
use lydian_ir::stmt::{Callee, Terminator};
use lydian_ir::{
    BlockId, Body, CType, CTypes, Expr, ExprId, FuncId, LocalId, Program, Stmt, StmtId,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::aliases::Aliases;
use super::cells::{self, Access, Grain};
use super::def_use::{Definition, DefinitionId, DefinitionSite, UseSite, Variable, is_variable};
use super::globals::TrackedGlobals;

/// An event of a block.
#[derive(Clone, Copy, Debug)]
pub(super) enum VariableEvent {
    Read {
        variable: Variable,
        at: UseSite,
        read_at: Option<StmtId>,
        span: Span,
        /// The text of the argument of a call that reads it; none elsewhere.
        argument: Span,
        /// The cells that it reads, in a data flow of cells.
        cell: Option<Access>,
    },
    Write {
        variable: Variable,
        at: StmtId,
        span: Span,
        /// The cells that are written, in a data flow of cells: none if all are.
        cell: Option<Access>,
    },
    /// A write through a pointer, which may hit the variable.
    MayWrite {
        variable: Variable,
        at: StmtId,
        span: Span,
        /// The cells that are written if it hits the variable, as for [`Self::Write`].
        cell: Option<Access>,
    },
    /// The lifetime of a local begins: it has no value.
    Forget { variable: LocalId },
    /// A call of code that may read and write globals.
    Call(CallTarget),
}

/// The callee of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallTarget {
    /// A function with a body.
    Function(FuncId),
    /// A function that the program does not define, which may be any code.
    Undefined(FuncId),
    /// Unknown code: any function that others can call, any number of times.
    Outside,
}

/// Finds the events of one function.
pub(super) struct EventFinder<'a> {
    program: &'a Program,
    body: &'a Body,
    globals: &'a TrackedGlobals,
    aliases: Aliases<'a>,
    /// The locals with cells, in a data flow of cells.
    with_cells: FxHashSet<LocalId>,
    /// The only statement that sets a temporary.
    setter: FxHashMap<LocalId, StmtId>,
    pub(super) definitions: Vec<Definition>,
    /// The definition that a statement makes of a variable.
    pub(super) made: FxHashMap<(StmtId, Variable), DefinitionId>,
}

impl<'a> EventFinder<'a> {
    pub(super) fn new(program: &'a Program, body: &'a Body, globals: &'a TrackedGlobals) -> Self {
        let mut setter: FxHashMap<LocalId, StmtId> = FxHashMap::default();
        let mut several = FxHashSet::default();
        for (id, stmt) in body.stmts.iter() {
            if let Stmt::Assign { dst, .. } = stmt
                && setter.insert(*dst, id).is_some()
            {
                several.insert(*dst);
            }
        }
        setter.retain(|local, _| !several.contains(local) && !is_variable(body, *local));
        let aliases = Aliases::of(program, body, globals);
        let with_cells = match globals.grain {
            Grain::Whole => FxHashSet::default(),
            Grain::Cells => {
                let locals = body.locals.ids();
                locals.filter(|local| cells::local_has_cells(program, body, *local)).collect()
            }
        };
        let (definitions, made) = (Vec::new(), FxHashMap::default());
        Self { program, body, globals, aliases, with_cells, setter, definitions, made }
    }

    /// Whether a local is a variable of this grain.
    fn is_variable(&self, local: LocalId) -> bool {
        let counts = self.globals.grain == Grain::Whole || self.with_cells.contains(&local);
        counts && is_variable(self.body, local)
    }

    /// The events of each block, in order.
    pub(super) fn events(&self, cfg: &Cfg) -> Vec<Vec<VariableEvent>> {
        let mut all = vec![Vec::new(); self.body.blocks.len()];
        for block in cfg.reverse_postorder() {
            let events = &mut all[block.index()];
            let mut starts = FxHashMap::default();
            for stmt in &self.body.blocks[*block].stmts {
                starts.insert(*stmt, events.len());
                self.statement(*stmt, events);
                let span = self.body.source.stmts[*stmt];
                let hit = self.aliases.hit(*stmt).into_iter();
                let cell = self.written_through_pointer(*stmt);
                let hit = hit.filter(|variable| self.counts(*variable));
                let write = |variable| VariableEvent::MayWrite { variable, at: *stmt, span, cell };
                events.extend(hit.map(write));
            }
            self.terminator(*block, &starts, events);
        }
        all
    }

    fn statement(&self, id: StmtId, events: &mut Vec<VariableEvent>) {
        let at = UseSite::Stmt(id);
        let span = self.body.source.stmts[id];
        let event_of_read =
            |variable: Variable, span: Span, argument: Span, cell: Option<Access>| {
                VariableEvent::Read { variable, at, read_at: None, span, argument, cell }
            };
        let read_in = |expr: ExprId, argument: Span, events: &mut Vec<VariableEvent>| {
            self.reads(expr, &mut |variable, own, cell| {
                let span = if own.is_none() { span } else { own };
                events.push(event_of_read(variable, span, argument, cell));
            });
        };
        let read =
            |expr: ExprId, events: &mut Vec<VariableEvent>| read_in(expr, Span::NONE, events);
        let write = |variable: Option<Variable>, events: &mut Vec<VariableEvent>| {
            if let Some(variable) = variable {
                events.push(VariableEvent::Write { variable, at: id, span, cell: None });
            }
        };
        let write_part = |addr: ExprId, events: &mut Vec<VariableEvent>| {
            if let Some(variable) = self.variable_at(addr) {
                let cell = self.written_part(id, addr, variable);
                events.push(VariableEvent::Write { variable, at: id, span, cell });
            }
        };
        let register = |local: LocalId| self.is_variable(local).then_some(Variable::Local(local));
        match &self.body.stmts[id] {
            Stmt::Mark(_) | Stmt::Leave(_) | Stmt::Release { .. } | Stmt::VaArg { .. } => {}
            Stmt::Enter(local) => {
                if self.is_variable(*local) {
                    events.push(VariableEvent::Forget { variable: *local });
                }
            }
            Stmt::Assign { dst, value } => {
                read(*value, events);
                write(register(*dst), events);
            }
            Stmt::Store { addr, value, .. } | Stmt::StoreBits { addr, value, .. } => {
                read(*value, events);
                read(*addr, events);
                write_part(*addr, events);
            }
            Stmt::Copy { dst, src, size } => {
                if let Some(variable) = self.variable_at(*src) {
                    let cell = self.part(*src, *size, Span::NONE, false);
                    events.push(event_of_read(variable, span, Span::NONE, cell));
                }
                read(*src, events);
                read(*dst, events);
                write_part(*dst, events);
            }
            Stmt::Zero { dst, .. } => write_part(*dst, events),
            Stmt::Call { callee, args, arg_types, dst, dst_addr, .. } => {
                if let Callee::Indirect(target) = callee {
                    read(*target, events);
                }
                let mut written = Vec::new();
                for (arg, ty) in args.iter().zip(arg_types) {
                    let argument = self.body.source.exprs[*arg];
                    read_in(*arg, argument, events);
                    if let Some(variable) = self.variable_at(*arg) {
                        written.extend(self.lets_write(*ty).then_some(variable));
                        let passed = self.program.types.size(*ty);
                        let passed = passed.filter(|_| self.program.types.is_aggregate(*ty));
                        let cell = passed.and_then(|size| self.part(*arg, size, argument, false));
                        // A passed address is a use of the whole variable, and of no cell.
                        if self.globals.grain == Grain::Whole || cell.is_some() {
                            events.push(event_of_read(variable, span, argument, cell));
                        }
                    }
                }
                events.extend(self.target(callee).map(VariableEvent::Call));
                written.into_iter().for_each(|variable| write(Some(variable), events));
                write(dst.and_then(register), events);
                dst_addr.iter().for_each(|addr| write_part(*addr, events));
            }
            Stmt::Alloca { size, .. } => read(*size, events),
            Stmt::VaStart { list } => write(self.variable_at(*list), events),
            Stmt::Havoc(havoc) => {
                havoc.registers.iter().for_each(|local| {
                    write(register(*local), events);
                });
                havoc.places.iter().for_each(|(addr, _)| write(self.variable_at(*addr), events));
            }
        }
    }

    /// The callee of a call, if it may touch globals.
    fn target(&self, callee: &Callee) -> Option<CallTarget> {
        match callee {
            Callee::Direct(function) if self.globals.inert.contains(function) => None,
            Callee::Direct(function) if self.globals.defined.contains(function) => {
                Some(CallTarget::Function(*function))
            }
            Callee::Direct(function) => Some(CallTarget::Undefined(*function)),
            Callee::Indirect(_) => Some(CallTarget::Outside),
        }
    }

    /// Whether a callee may write through a parameter of this type.
    fn lets_write(&self, ty: lydian_ir::CTypeId) -> bool {
        let types: &CTypes = &self.program.types;
        matches!(types.get(ty), CType::Pointer { to_const: false, .. })
    }

    /// Adds the events of a terminator. `starts` has the number of events before each statement of
    /// the block.
    fn terminator(
        &self,
        block: BlockId,
        starts: &FxHashMap<StmtId, usize>,
        events: &mut Vec<VariableEvent>,
    ) {
        let term = &self.body.blocks[block].term;
        let at = match term {
            Terminator::Branch { origin: Some(origin), .. } => {
                UseSite::Condition(origin.decision, origin.condition)
            }
            Terminator::Switch { .. } => UseSite::Switch(block),
            Terminator::Return(Some(_)) => UseSite::Return(block),
            _ => return,
        };
        let Some(operand) = term.operand() else { return };
        let span = match at {
            UseSite::Condition(decision, condition) => {
                self.body.decisions[decision].conditions[condition].span
            }
            _ => self.body.source.terms[block],
        };
        let mut reads = Vec::new();
        let mut read = |expr: ExprId, position: usize, read_at: Option<StmtId>| {
            self.reads(expr, &mut |variable, own, cell| {
                let span = if own.is_none() { span } else { own };
                let argument = Span::NONE;
                let read = VariableEvent::Read { variable, at, read_at, span, argument, cell };
                reads.push((position, read));
            });
        };
        read(operand, events.len(), None);
        if !matches!(at, UseSite::Return(_)) {
            for setter in self.setters(operand) {
                let Some(&before) = starts.get(&setter) else { continue };
                let Stmt::Assign { value, .. } = &self.body.stmts[setter] else { continue };
                read(*value, before, Some(setter));
            }
        }
        reads.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
        for (position, read) in reads {
            events.insert(position, read);
        }
    }

    /// The statements that set the temporaries of an expression, and theirs.
    fn setters(&self, expr: ExprId) -> Vec<StmtId> {
        let (mut found, mut rest) = (Vec::new(), vec![expr]);
        while let Some(expr) = rest.pop() {
            if let Expr::Local(local) = &self.body.exprs[expr]
                && let Some(setter) = self.setter.get(local)
                && !found.contains(setter)
            {
                found.push(*setter);
                if let Stmt::Assign { value, .. } = &self.body.stmts[*setter] {
                    rest.push(*value);
                }
            }
            self.body.exprs[expr].for_each_operand(|operand| rest.push(operand));
        }
        found
    }

    /// Calls `visit` with each variable that an expression reads, the text that reads it, and which
    /// of its cells.
    fn reads(&self, expr: ExprId, visit: &mut impl FnMut(Variable, Span, Option<Access>)) {
        let mut rest = vec![expr];
        let mut seen = FxHashSet::default();
        while let Some(at) = rest.pop() {
            if !seen.insert(at) {
                continue;
            }
            let span = self.body.source.exprs[at];
            match &self.body.exprs[at] {
                Expr::Local(local) if self.is_variable(*local) => {
                    visit(Variable::Local(*local), span, None);
                }
                Expr::Load { addr, ty, .. } => {
                    if let Some(variable) = self.variable_at(*addr) {
                        let bytes = self.program.types.target.stored_bytes(*ty);
                        visit(variable, span, self.part(*addr, bytes, span, true));
                    }
                }
                Expr::LoadBits { addr, field } => {
                    if let Some(variable) = self.variable_at(*addr) {
                        let cell = self.part(*addr, field.bytes(), span, true);
                        visit(variable, span, cell.map(|cell| Access { bits: true, ..cell }));
                    }
                }
                _ => {}
            }
            self.body.exprs[at].for_each_operand(|operand| rest.push(operand));
        }
    }

    /// The memory variable in which an address lies by its form.
    fn variable_at(&self, addr: ExprId) -> Option<Variable> {
        match &self.body.exprs[addr] {
            Expr::AddrLocal(local) => self.is_variable(*local).then_some(Variable::Local(*local)),
            Expr::AddrGlobal(global) => {
                self.globals.tracked.contains(global).then_some(Variable::Global(*global))
            }
            Expr::Field { base, .. } | Expr::Index { base, .. } => self.variable_at(*base),
            Expr::Cast(_, _, inner) => self.variable_at(*inner),
            _ => None,
        }
    }

    /// Whether a variable that may be hit is a variable of this grain.
    fn counts(&self, variable: Variable) -> bool {
        match variable {
            Variable::Local(local) => self.is_variable(local),
            Variable::Global(global) => self.globals.tracked.contains(&global),
        }
    }

    /// The cells of an access to a part of a variable, in a data flow of cells.
    fn part(&self, addr: ExprId, bytes: u64, text: Span, scalar: bool) -> Option<Access> {
        let access = || cells::access(self.program, self.body, (addr, bytes), text, scalar);
        (self.globals.grain == Grain::Cells).then(access)
    }

    /// The cells of a variable that a statement writes by name: none if all are.
    fn written_part(&self, id: StmtId, addr: ExprId, variable: Variable) -> Option<Access> {
        let (bytes, size) = match (&self.body.stmts[id], variable) {
            (_, Variable::Local(local)) if self.declares(id, local) => return None,
            (Stmt::Call { ty, .. }, _) => {
                let CType::Function { result, .. } = self.program.types.get(*ty) else {
                    return None;
                };
                (self.program.types.size(*result)?, self.size(variable))
            }
            (stmt, _) => (cells::written(self.program, stmt)?.1, self.size(variable)),
        };
        let access = self.part(addr, bytes, Span::NONE, false);
        let bits = matches!(self.body.stmts[id], Stmt::StoreBits { .. });
        let access = access.map(|access| Access { bits, ..access });
        access.filter(|access| access.bytes < size || access.fixed() != Some(0))
    }

    fn size(&self, variable: Variable) -> u64 {
        match variable {
            Variable::Local(id) => self.program.types.size(self.body.locals[id].ty).unwrap_or(0),
            Variable::Global(id) => self.program.globals[id].size,
        }
    }

    /// Whether a statement is a part of the declaration of a local.
    fn declares(&self, id: StmtId, local: LocalId) -> bool {
        let (text, start) = (self.body.source.stmts[id], self.body.locals[local].scope.start);
        !self.body.params.contains(&local) && text.start <= start && start < text.end
    }

    /// The cells of whatever variable a statement writes through a pointer: none if all are.
    fn written_through_pointer(&self, id: StmtId) -> Option<Access> {
        let (addr, bytes) = cells::written(self.program, &self.body.stmts[id])?;
        let access = cells::through_pointer(addr, bytes);
        (self.globals.grain == Grain::Cells).then_some(access)
    }

    /// Gives definitions their numbers: by variable, then by place in the text.
    pub(super) fn number(&mut self, events: &[Vec<VariableEvent>]) {
        let mut found: Vec<Definition> = Vec::new();
        for param in self.body.params.iter().filter(|local| self.is_variable(**local)) {
            let span = self.body.locals[*param].scope;
            let span = Span::new(span.start, span.start);
            let at = DefinitionSite::Entry;
            let variable = Variable::Local(*param);
            found.push(Definition {
                variable,
                at,
                span,
                number: 0,
                own: true,
                indirect: false,
                cell: None,
            });
        }
        let mut places: FxHashMap<(Variable, Span, bool), usize> = FxHashMap::default();
        let mut joined: Vec<(StmtId, Variable, usize)> = Vec::new();
        for event in events.iter().flatten() {
            let (variable, at, span, indirect, cell) = match event {
                VariableEvent::Write { variable, at, span, cell } => {
                    (variable, at, span, false, cell)
                }
                VariableEvent::MayWrite { variable, at, span, cell } => {
                    (variable, at, span, true, cell)
                }
                _ => continue,
            };
            // The statements of one initialiser make one definition.
            let key = (*variable, *span, cell.is_some());
            let position = match places.get(&key) {
                Some(position) if !span.is_none() => *position,
                _ => {
                    let site = DefinitionSite::Stmt(self.body.source.original(*at));
                    found.push(Definition {
                        variable: *variable,
                        at: site,
                        span: *span,
                        number: 0,
                        own: true,
                        indirect,
                        cell: *cell,
                    });
                    places.insert(key, found.len() - 1);
                    found.len() - 1
                }
            };
            if let DefinitionSite::Stmt(last) = &mut found[position].at {
                *last = (*last).max(self.body.source.original(*at));
            }
            joined.push((*at, *variable, position));
        }
        let mut order: Vec<usize> = (0..found.len()).collect();
        order.sort_by_key(|index| {
            let definition = &found[*index];
            (
                definition.variable,
                definition.at != DefinitionSite::Entry,
                definition.span.start,
                *index,
            )
        });
        let mut new_position = vec![0; found.len()];
        let mut counts: FxHashMap<Variable, u32> = FxHashMap::default();
        for (new, old) in order.into_iter().enumerate() {
            new_position[old] = new;
            let mut definition = found[old].clone();
            let count = counts.entry(definition.variable).or_default();
            *count += 1;
            definition.number = *count;
            self.definitions.push(definition);
        }
        for (stmt, variable, old) in joined {
            self.made.insert((stmt, variable), DefinitionId::from_index(new_position[old]));
        }
    }
}
