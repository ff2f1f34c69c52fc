//! Definitions and uses of a function's variables, and which definitions may reach which uses.
//!
//! # What counts ([001] 2, [002] III-B, Rapps and Weyuker)
//! - A variable is a named local: a parameter or an automatic variable, arrays and structs as a
//!   whole.
//! - Definitions: a parameter at the function's entry; an initialiser; an assignment, increment or
//!   copy to the variable or to a part of it; a call that gets its address through a parameter that
//!   is no pointer to const.
//! - Uses: a c-use is a read by a statement, one for each statement of the graph that reads the
//!   variable; a p-use is a read by a condition (or the operand of a `switch`), once for each way
//!   that it can go. What a condition reads before an effect of its own (`n-- > 0`) counts as read
//!   by the condition too.
//! - A store through a pointer that is not plainly the variable's address defines no variable here.
//!
//! Reaching definitions are computed on the graph by iteration to the least fixed point; a
//! definition of a part ends the reach of others, as one last definition a variable is what is
//! measured.

use lydian_base::{EntityId, Span, entity_id};
use lydian_ir::cfg::Cfg;
use lydian_ir::function::LocalKind;
use lydian_ir::source::{Point, RootKind};
use lydian_ir::stmt::{Callee, Terminator};
use lydian_ir::{
    BlockId, Body, CType, CTypes, ConditionId, DecisionId, Expr, ExprId, LocalId, Program, Stmt,
    StmtId,
};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

entity_id!(
    /// Names a definition of a function.
    DefinitionId,
    "def"
);
entity_id!(
    /// Names a use of a function.
    UseId,
    "use"
);

/// The definitions and uses of one function.
#[derive(Clone, Debug, Default)]
pub struct DataFlow {
    /// The definitions, those of a variable one after the other.
    pub definitions: Vec<Definition>,
    /// The uses.
    pub uses: Vec<Use>,
}

/// Where a variable gets a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// The variable.
    pub variable: LocalId,
    /// Where.
    pub at: DefinitionSite,
    /// The text to show for it.
    pub span: Span,
    /// Its number among the variable's definitions, from 1.
    pub number: u32,
}

/// Where a definition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum DefinitionSite {
    /// The function's entry.
    Entry,
    /// A statement: the last one of those that make one initialiser.
    Stmt(StmtId),
}

/// Where a variable's value is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Use {
    /// The variable.
    pub variable: LocalId,
    /// Where.
    pub at: UseSite,
    /// The statement that reads the value for a condition or a switch earlier than the branch.
    pub read_at: Option<StmtId>,
    /// The text to show for it.
    pub span: Span,
    /// The definitions that may reach it, in order.
    pub reaching: Vec<DefinitionId>,
    /// Whether it may also be reached without any definition.
    pub undefined: bool,
}

/// Where a use is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum UseSite {
    /// A statement.
    Stmt(StmtId),
    /// The value that a block returns.
    Return(BlockId),
    /// A condition, which has two ways: 0 false, 1 true.
    Condition(DecisionId, ConditionId),
    /// A switch, with the ways of its edges.
    Switch(BlockId),
}

/// A pair, in a sequence that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct DefUse {
    /// The definition.
    pub definition: DefinitionId,
    /// The use.
    pub usage: UseId,
    /// Which way, for a p-use; 0 for a c-use.
    pub way: u32,
}

impl UseSite {
    /// How many ways a use has, each of which is a pair of its own.
    pub fn ways(self, body: &Body) -> u32 {
        match self {
            Self::Stmt(_) | Self::Return(_) => 1,
            Self::Condition(..) => 2,
            Self::Switch(block) => match &body.blocks[block].term {
                Terminator::Switch { cases, .. } => cases.len() as u32 + 1,
                _ => 0,
            },
        }
    }
}

impl DataFlow {
    /// Finds the definitions and uses of a body's variables.
    pub fn of(program: &Program, body: &Body) -> Self {
        let cfg = Cfg::new(body);
        let mut finder = Finder::new(program, body);
        let events = finder.events(&cfg);
        finder.number(&events);
        finder.reach(&cfg, &events)
    }

    /// All pairs, by use and definition.
    pub fn pairs(&self, body: &Body) -> Vec<DefUse> {
        let mut pairs = Vec::new();
        for (index, usage) in self.uses.iter().enumerate() {
            let id = UseId::from_index(index);
            for definition in &usage.reaching {
                let ways = 0..usage.at.ways(body);
                pairs.extend(ways.map(|way| DefUse { definition: *definition, usage: id, way }));
            }
        }
        pairs
    }

    /// The definitions of a variable, by number.
    pub fn definitions_of(&self, variable: LocalId) -> impl Iterator<Item = DefinitionId> {
        let own = move |(_, definition): &(usize, &Definition)| definition.variable == variable;
        self.definitions.iter().enumerate().filter(own).map(|(i, _)| DefinitionId::from_index(i))
    }

    /// A definition.
    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.index()]
    }

    /// A use.
    pub fn usage(&self, id: UseId) -> &Use {
        &self.uses[id.index()]
    }
}

/// What happens to a variable at a place of a block, in order.
#[derive(Clone, Copy, Debug)]
enum Event {
    Read {
        variable: LocalId,
        at: UseSite,
        read_at: Option<StmtId>,
        span: Span,
    },
    Write {
        variable: LocalId,
        at: StmtId,
        span: Span,
    },
    /// Its lifetime begins: it has no value.
    Forget {
        variable: LocalId,
    },
}

struct Finder<'a> {
    program: &'a Program,
    body: &'a Body,
    /// The statement that alone sets a temporary.
    setter: FxHashMap<LocalId, StmtId>,
    definitions: Vec<Definition>,
    /// The definition that a statement makes of a variable.
    made: FxHashMap<(StmtId, LocalId), DefinitionId>,
}

impl<'a> Finder<'a> {
    fn new(program: &'a Program, body: &'a Body) -> Self {
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
        Self { program, body, setter, definitions: Vec::new(), made: FxHashMap::default() }
    }

    /// What each block does, in order.
    fn events(&self, cfg: &Cfg) -> Vec<Vec<Event>> {
        let mut all = vec![Vec::new(); self.body.blocks.len()];
        for block in cfg.reverse_postorder() {
            let events = &mut all[block.index()];
            let mut starts = FxHashMap::default();
            for stmt in &self.body.blocks[*block].stmts {
                starts.insert(*stmt, events.len());
                self.statement(*stmt, events);
            }
            self.terminator(*block, &starts, events);
        }
        all
    }

    fn statement(&self, id: StmtId, events: &mut Vec<Event>) {
        let at = UseSite::Stmt(id);
        let span = self.body.source.stmts[id];
        let read = |expr: ExprId, events: &mut Vec<Event>| {
            self.reads(expr, &mut |variable, own| {
                let span = if own.is_none() { span } else { own };
                events.push(Event::Read { variable, at, read_at: None, span });
            });
        };
        let write = |variable: Option<LocalId>, events: &mut Vec<Event>| {
            if let Some(variable) = variable {
                events.push(Event::Write { variable, at: id, span });
            }
        };
        match &self.body.stmts[id] {
            Stmt::Mark(_) | Stmt::Leave(_) | Stmt::Release { .. } => {}
            Stmt::Enter(local) => {
                if is_variable(self.body, *local) {
                    events.push(Event::Forget { variable: *local });
                }
            }
            Stmt::Assign { dst, value } => {
                read(*value, events);
                write(is_variable(self.body, *dst).then_some(*dst), events);
            }
            Stmt::Store { addr, value, .. } | Stmt::StoreBits { addr, value, .. } => {
                read(*value, events);
                read(*addr, events);
                write(self.variable_at(*addr), events);
            }
            Stmt::Copy { dst, src, .. } => {
                if let Some(variable) = self.variable_at(*src) {
                    events.push(Event::Read { variable, at, read_at: None, span });
                }
                read(*src, events);
                read(*dst, events);
                write(self.variable_at(*dst), events);
            }
            Stmt::Zero { dst, .. } => write(self.variable_at(*dst), events),
            Stmt::Call { callee, args, arg_types, dst, dst_addr, .. } => {
                if let Callee::Indirect(target) = callee {
                    read(*target, events);
                }
                for (arg, ty) in args.iter().zip(arg_types) {
                    read(*arg, events);
                    if let Some(variable) = self.variable_at(*arg) {
                        events.push(Event::Read { variable, at, read_at: None, span });
                        if self.lets_write(*ty) {
                            write(Some(variable), events);
                        }
                    }
                }
                write(dst.filter(|dst| is_variable(self.body, *dst)), events);
                write(dst_addr.and_then(|addr| self.variable_at(addr)), events);
            }
            Stmt::Alloca { size, .. } => read(*size, events),
            Stmt::VaStart { list } => write(self.variable_at(*list), events),
            Stmt::Havoc(havoc) => {
                havoc.registers.iter().for_each(|local| {
                    write(is_variable(self.body, *local).then_some(*local), events);
                });
                havoc.places.iter().for_each(|(addr, _)| write(self.variable_at(*addr), events));
            }
        }
    }

    /// Whether a parameter of this type lets the callee write to what it points to.
    fn lets_write(&self, ty: lydian_ir::CTypeId) -> bool {
        let types: &CTypes = &self.program.types;
        matches!(types.get(ty), CType::Pointer { to_const: false, .. })
    }

    /// `starts` says how many events precede each statement of the block.
    fn terminator(
        &self,
        block: BlockId,
        starts: &FxHashMap<StmtId, usize>,
        events: &mut Vec<Event>,
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
        self.reads(operand, &mut |variable, own| {
            let span = if own.is_none() { span } else { own };
            reads.push((events.len(), Event::Read { variable, at, read_at: None, span }));
        });
        if !matches!(at, UseSite::Return(_)) {
            for setter in self.setters(operand) {
                let Some(&before) = starts.get(&setter) else { continue };
                let Stmt::Assign { value, .. } = &self.body.stmts[setter] else { continue };
                self.reads(*value, &mut |variable, own| {
                    let span = if own.is_none() { span } else { own };
                    let read = Event::Read { variable, at, read_at: Some(setter), span };
                    reads.push((before, read));
                });
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

    /// Calls `visit` with each variable that an expression reads and the text that reads it.
    fn reads(&self, expr: ExprId, visit: &mut impl FnMut(LocalId, Span)) {
        let mut rest = vec![expr];
        let mut seen = FxHashSet::default();
        while let Some(at) = rest.pop() {
            if !seen.insert(at) {
                continue;
            }
            let span = self.body.source.exprs[at];
            match &self.body.exprs[at] {
                Expr::Local(local) if is_variable(self.body, *local) => visit(*local, span),
                Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } => {
                    if let Some(variable) = self.variable_at(*addr) {
                        visit(variable, span);
                    }
                }
                _ => {}
            }
            self.body.exprs[at].for_each_operand(|operand| rest.push(operand));
        }
    }

    /// The memory variable in which an address lies by its form.
    fn variable_at(&self, addr: ExprId) -> Option<LocalId> {
        match &self.body.exprs[addr] {
            Expr::AddrLocal(local) => is_variable(self.body, *local).then_some(*local),
            Expr::Field { base, .. } | Expr::Index { base, .. } => self.variable_at(*base),
            Expr::Cast(_, _, inner) => self.variable_at(*inner),
            _ => None,
        }
    }

    /// Gives definitions their numbers: by variable, then by place in the text.
    fn number(&mut self, events: &[Vec<Event>]) {
        let mut found: Vec<Definition> = Vec::new();
        for param in self.body.params.iter().filter(|local| is_variable(self.body, **local)) {
            let span = self.body.locals[*param].scope;
            let span = Span::new(span.start, span.start);
            let at = DefinitionSite::Entry;
            found.push(Definition { variable: *param, at, span, number: 0 });
        }
        let mut places: FxHashMap<(LocalId, Span), usize> = FxHashMap::default();
        let mut joined: Vec<(StmtId, LocalId, usize)> = Vec::new();
        for event in events.iter().flatten() {
            let Event::Write { variable, at, span } = event else { continue };
            // The statements of one initialiser make one definition.
            let position = match places.get(&(*variable, *span)) {
                Some(position) if !span.is_none() => *position,
                _ => {
                    let site = DefinitionSite::Stmt(*at);
                    let new = Definition { variable: *variable, at: site, span: *span, number: 0 };
                    found.push(new);
                    places.insert((*variable, *span), found.len() - 1);
                    found.len() - 1
                }
            };
            if let DefinitionSite::Stmt(last) = &mut found[position].at {
                *last = (*last).max(*at);
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
        let mut counts: FxHashMap<LocalId, u32> = FxHashMap::default();
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

    /// Which definitions reach which uses.
    fn reach(self, cfg: &Cfg, events: &[Vec<Event>]) -> DataFlow {
        let variables = Variables::new(self.body, &self.definitions);
        let mut entry = Reaching::empty(&variables);
        for local in variables.locals.iter() {
            entry.set_undefined(&variables, *local);
        }
        for (index, definition) in self.definitions.iter().enumerate() {
            if definition.at == DefinitionSite::Entry {
                entry.define(&variables, definition.variable, Some(index));
            }
        }
        let mut into: Vec<Option<Reaching>> = vec![None; self.body.blocks.len()];
        into[self.body.entry.index()] = Some(entry);
        let mut changed = true;
        while changed {
            changed = false;
            for block in cfg.reverse_postorder() {
                let Some(mut state) = into[block.index()].clone() else { continue };
                events[block.index()]
                    .iter()
                    .for_each(|event| self.apply(&variables, event, &mut state));
                for to in cfg.successors(*block) {
                    changed |= match &mut into[to.index()] {
                        Some(there) => there.join(&state),
                        none => {
                            *none = Some(state.clone());
                            true
                        }
                    };
                }
            }
        }
        let mut uses: Vec<Use> = Vec::new();
        let mut known: FxHashMap<UseKey, usize> = FxHashMap::default();
        for block in cfg.reverse_postorder() {
            let Some(mut state) = into[block.index()].clone() else { continue };
            // Reads of a variable between two writes, by one statement of the text, are one use.
            let mut epoch = 0;
            for event in &events[block.index()] {
                if let Event::Read { variable, at, read_at, span } = *event {
                    let key = self.use_key(*block, variable, at, epoch);
                    let (reaching, undefined) = state.of(&variables, variable);
                    let position = *known.entry(key).or_insert_with(|| {
                        let reaching = Vec::new();
                        let undefined = false;
                        uses.push(Use { variable, at, read_at, span, reaching, undefined });
                        uses.len() - 1
                    });
                    let usage = &mut uses[position];
                    usage.reaching.extend(reaching);
                    usage.reaching.sort_unstable();
                    usage.reaching.dedup();
                    usage.undefined |= undefined;
                } else {
                    epoch += 1;
                }
                self.apply(&variables, event, &mut state);
            }
        }
        uses.sort_by_key(|usage| (usage.span.start, usage.at, usage.variable));
        DataFlow { definitions: self.definitions, uses }
    }

    fn use_key(&self, block: BlockId, variable: LocalId, at: UseSite, epoch: u32) -> UseKey {
        match at {
            // The copies of a condition are one use.
            UseSite::Condition(..) | UseSite::Switch(_) | UseSite::Return(_) => {
                (variable, Some(at), block_of(at).unwrap_or(block), 0, 0)
            }
            UseSite::Stmt(stmt) => (variable, None, block, epoch, self.statement_of(block, stmt)),
        }
    }

    /// The number of the last mark before a statement in its block.
    fn statement_of(&self, block: BlockId, stmt: StmtId) -> u32 {
        let stmts = &self.body.blocks[block].stmts;
        let before = stmts.iter().take_while(|other| **other != stmt);
        before.filter(|other| matches!(self.body.stmts[**other], Stmt::Mark(_))).count() as u32
    }

    fn apply(&self, variables: &Variables, event: &Event, state: &mut Reaching) {
        match event {
            Event::Read { .. } => {}
            Event::Write { variable, at, .. } => {
                let made = self.made.get(&(*at, *variable));
                state.define(variables, *variable, made.map(|id| id.index()));
            }
            Event::Forget { variable } => state.define(variables, *variable, None),
        }
    }
}

type UseKey = (LocalId, Option<UseSite>, BlockId, u32, u32);

fn block_of(at: UseSite) -> Option<BlockId> {
    match at {
        UseSite::Return(block) | UseSite::Switch(block) => Some(block),
        // Blocks that evaluate a copy of a condition are not told apart.
        UseSite::Condition(..) => Some(BlockId::from_index(0)),
        UseSite::Stmt(_) => None,
    }
}

/// Whether a local is a variable that the user named.
pub fn is_variable(body: &Body, local: LocalId) -> bool {
    let local = &body.locals[local];
    matches!(local.kind, LocalKind::Param | LocalKind::Var) && !local.name.is_empty()
}

/// The text of a statement whose uses can be recorded around it: none if it is a declaration's.
pub fn root_of(body: &Body, stmt: StmtId) -> Option<Span> {
    let mut roots = body.source.roots.values();
    let root = roots.find(|root| {
        root.point == Point::Stmt(stmt)
            && matches!(root.kind, RootKind::Value | RootKind::Assigned { .. })
    });
    root.map(|root| root.span)
}

/// Bits of definitions, those of a variable in a row, with one before them for having none.
struct Variables {
    locals: Vec<LocalId>,
    /// Of each variable: the bit for having no definition; those of its definitions follow.
    first: FxHashMap<LocalId, (usize, usize)>,
    /// The position of each definition's bit.
    bit: Vec<usize>,
    bits: usize,
}

impl Variables {
    fn new(body: &Body, definitions: &[Definition]) -> Self {
        let mut counts: FxHashMap<LocalId, usize> = FxHashMap::default();
        definitions.iter().for_each(|d| *counts.entry(d.variable).or_default() += 1);
        let locals: Vec<_> = body.locals.ids().filter(|local| is_variable(body, *local)).collect();
        let (mut first, mut bits) = (FxHashMap::default(), 0);
        for local in &locals {
            let count = counts.get(local).copied().unwrap_or(0) + 1;
            first.insert(*local, (bits, count));
            bits += count;
        }
        let bit = definitions.iter().map(|d| first[&d.variable].0 + d.number as usize).collect();
        Self { locals, first, bit, bits }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Reaching {
    words: Vec<u64>,
}

impl Reaching {
    fn empty(variables: &Variables) -> Self {
        Self { words: vec![0; variables.bits.div_ceil(64)] }
    }

    fn set(&mut self, bit: usize) {
        self.words[bit / 64] |= 1 << (bit % 64);
    }

    fn set_undefined(&mut self, variables: &Variables, local: LocalId) {
        self.set(variables.first[&local].0);
    }

    /// The variable has this definition alone, or none.
    fn define(&mut self, variables: &Variables, local: LocalId, definition: Option<usize>) {
        let (first, count) = variables.first[&local];
        (first..first + count).for_each(|bit| self.words[bit / 64] &= !(1 << (bit % 64)));
        self.set(definition.map_or(first, |definition| variables.bit[definition]));
    }

    fn of(&self, variables: &Variables, local: LocalId) -> (Vec<DefinitionId>, bool) {
        let (first, count) = variables.first[&local];
        let is_set = |bit: usize| self.words[bit / 64] >> (bit % 64) & 1 == 1;
        // Definitions of a variable follow one another, so its first one is known by a bit.
        let of_variable = variables.bit.partition_point(|bit| *bit <= first);
        let reaching = (1..count).filter(|number| is_set(first + number));
        let id = |number: usize| DefinitionId::from_index(of_variable + number - 1);
        (reaching.map(id).collect(), is_set(first))
    }

    /// Adds what another state has. Returns whether that is anything new.
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            changed |= *other & !*word != 0;
            *word |= other;
        }
        changed
    }
}
