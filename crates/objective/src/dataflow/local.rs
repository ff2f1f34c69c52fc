//! Reaching definitions of one function's locals, and the uses of all its variables.

use lydian_base::EntityId;
use lydian_ir::cfg::Cfg;
use lydian_ir::{BlockId, Body, LocalId, Program, Stmt, StmtId};
use rustc_hash::FxHashMap;

use super::cells::{Access, may_meet, overwrites};
use super::def_use::{
    Definition, DefinitionId, DefinitionSite, Use, UseSite, Variable, is_variable,
};
use super::events::{EventFinder, VariableEvent};
use super::globals::TrackedGlobals;

/// The data flow of one function, before others are looked at.
pub(super) struct LocalFlow {
    pub(super) cfg: Cfg,
    /// The events of each block, in order.
    pub(super) events: Vec<Vec<VariableEvent>>,
    /// Its definitions: those of locals, then those of globals, numbered within the function.
    pub(super) definitions: Vec<Definition>,
    /// The definition that a statement makes of a variable.
    pub(super) made: FxHashMap<(StmtId, Variable), DefinitionId>,
    /// Its uses in no order. The definitions that reach uses of globals are not known yet.
    pub(super) uses: Vec<Use>,
    pub(super) global_reads: Vec<GlobalRead>,
}

/// A read of a global.
pub(super) struct GlobalRead {
    pub(super) block: BlockId,
    /// The position of the event in its block.
    pub(super) event: usize,
    /// The position of the use in [`LocalFlow::uses`].
    pub(super) usage: usize,
}

impl LocalFlow {
    pub(super) fn of(program: &Program, body: &Body, globals: &TrackedGlobals) -> Self {
        let cfg = Cfg::new(body);
        let mut finder = EventFinder::new(program, body, globals);
        let events = finder.events(&cfg);
        finder.number(&events);
        let mut this = Self {
            cfg,
            events,
            definitions: finder.definitions,
            made: finder.made,
            uses: Vec::new(),
            global_reads: Vec::new(),
        };
        this.reach(body);
        this
    }

    /// Finds the definitions of locals that reach each use.
    fn reach(&mut self, body: &Body) {
        let variables = Variables::new(body, &self.definitions);
        let mut entry = Reaching::empty(&variables);
        for local in variables.locals.iter() {
            entry.set_undefined(&variables, *local);
        }
        for (index, definition) in self.definitions.iter().enumerate() {
            if let Definition {
                variable: Variable::Local(local), at: DefinitionSite::Entry, ..
            } = definition
            {
                entry.define(&variables, *local, Some(index));
            }
        }
        let mut into: Vec<Option<Reaching>> = vec![None; body.blocks.len()];
        into[body.entry.index()] = Some(entry);
        let mut changed = true;
        while changed {
            changed = false;
            for block in self.cfg.reverse_postorder() {
                let Some(mut state) = into[block.index()].clone() else { continue };
                self.events[block.index()]
                    .iter()
                    .for_each(|event| self.apply(&variables, event, &mut state));
                for to in self.cfg.successors(*block) {
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
        self.find_uses(body, &variables, &into);
    }

    fn find_uses(&mut self, body: &Body, variables: &Variables, into: &[Option<Reaching>]) {
        let mut uses: Vec<Use> = Vec::new();
        let mut global_reads = Vec::new();
        let mut known: FxHashMap<UseKey, usize> = FxHashMap::default();
        let originals = self.keys_of_originals(body);
        for block in self.cfg.reverse_postorder() {
            let Some(mut state) = into[block.index()].clone() else { continue };
            // Reads of a variable between two writes, by one statement of the text, are one use.
            let mut epochs = [0; 2];
            for (index, event) in self.events[block.index()].iter().enumerate() {
                match *event {
                    VariableEvent::Read { variable, at, read_at, span, argument, cell } => {
                        let epoch = epochs[usize::from(variable.is_global())];
                        let key = match (at, cell) {
                            (_, Some(cell)) => Some(cell_key(variable, at, &cell)),
                            (UseSite::Stmt(stmt), None) => {
                                originals.get(&(stmt, variable)).copied()
                            }
                            _ => None,
                        };
                        let key = key.unwrap_or_else(|| use_key(body, *block, variable, at, epoch));
                        let at = match at {
                            UseSite::Stmt(stmt) => UseSite::Stmt(body.source.original(stmt)),
                            other => other,
                        };
                        let read_at = read_at.map(|stmt| body.source.original(stmt));
                        let position = *known.entry(key).or_insert_with(|| {
                            uses.push(Use {
                                variable,
                                at,
                                elsewhere: None,
                                ways: at.ways(body),
                                read_at,
                                argument,
                                span,
                                reaching: Vec::new(),
                                undefined: false,
                                cell,
                            });
                            uses.len() - 1
                        });
                        match variable {
                            Variable::Local(local) => {
                                let (mut reaching, undefined) = state.of(variables, local);
                                reaching.retain(|id| {
                                    let definition = &self.definitions[id.index()];
                                    may_meet(definition.cell.as_ref(), cell.as_ref())
                                });
                                uses[position].add(reaching, undefined);
                            }
                            Variable::Global(_) => {
                                let (block, event, usage) = (*block, index, position);
                                global_reads.push(GlobalRead { block, event, usage });
                            }
                        }
                    }
                    _ => pass_epochs(event, &mut epochs),
                }
                self.apply(variables, event, &mut state);
            }
        }
        self.uses = uses;
        self.global_reads = global_reads;
    }

    /// For each statement that is a copy, and each variable that it reads, the key of the original's
    /// use, which is the same use.
    fn keys_of_originals(&self, body: &Body) -> FxHashMap<(StmtId, Variable), UseKey> {
        let copies = &body.source.copies;
        let mut keys = FxHashMap::default();
        if copies.is_empty() {
            return keys;
        }
        let mut own: FxHashMap<(StmtId, Variable), UseKey> = FxHashMap::default();
        for (block, events) in body.blocks.ids().zip(&self.events) {
            let mut epochs = [0; 2];
            for event in events {
                match *event {
                    VariableEvent::Read { variable, at: UseSite::Stmt(stmt), .. } => {
                        let (at, epoch) =
                            (UseSite::Stmt(stmt), epochs[usize::from(variable.is_global())]);
                        let key = use_key(body, block, variable, at, epoch);
                        own.entry((stmt, variable)).or_insert(key);
                    }
                    _ => pass_epochs(event, &mut epochs),
                }
            }
        }
        for (stmt, variable) in own.keys() {
            let original = copies.get(stmt).and_then(|stmt| own.get(&(*stmt, *variable)));
            keys.extend(original.map(|key| ((*stmt, *variable), *key)));
        }
        keys
    }

    fn apply(&self, variables: &Variables, event: &VariableEvent, state: &mut Reaching) {
        match event {
            VariableEvent::Write {
                variable: Variable::Local(local), at, cell: Some(cell), ..
            } => {
                let made = self.made.get(&(*at, Variable::Local(*local)));
                let Some(made) = made.map(|id| id.index()) else { return };
                let all = self.definitions.iter().enumerate();
                let own = all.filter(|(_, other)| other.variable == Variable::Local(*local));
                for (index, other) in own {
                    if overwrites(Some(cell), other.cell.as_ref()) {
                        state.clear(variables.bit[index]);
                    }
                }
                state.set(variables.bit[made]);
            }
            VariableEvent::Write { variable: Variable::Local(local), at, cell: None, .. } => {
                let made = self.made.get(&(*at, Variable::Local(*local)));
                state.define(variables, *local, made.map(|id| id.index()));
            }
            VariableEvent::MayWrite { variable: Variable::Local(local), at, .. } => {
                if let Some(made) = self.made.get(&(*at, Variable::Local(*local))) {
                    state.set(variables.bit[made.index()]);
                }
            }
            VariableEvent::Forget { variable } => state.define(variables, *variable, None),
            VariableEvent::MayWrite { .. }
            | VariableEvent::Read { .. }
            | VariableEvent::Call(_)
            | VariableEvent::Write { .. } => {}
        }
    }
}

/// Counts the events that separate the reads before from those after: for locals, and for globals.
fn pass_epochs(event: &VariableEvent, epochs: &mut [u32; 2]) {
    match event {
        VariableEvent::Read { .. } => {}
        VariableEvent::Write { variable, .. } | VariableEvent::MayWrite { variable, .. } => {
            epochs[usize::from(variable.is_global())] += 1;
        }
        VariableEvent::Forget { .. } => epochs[0] += 1,
        VariableEvent::Call(_) => epochs[1] += 1,
    }
}

fn use_key(body: &Body, block: BlockId, variable: Variable, at: UseSite, epoch: u32) -> UseKey {
    match at {
        // The copies of a condition are one use.
        UseSite::Condition(..) | UseSite::Switch(_) | UseSite::Return(_) => {
            UseKey::Branch { variable, at }
        }
        UseSite::Stmt(stmt) => {
            let mark = marks_before(body, block, stmt);
            UseKey::Statement { variable, block, epoch, mark }
        }
    }
}

/// The key of a use of cells: its text, which is evaluated once, and the branch that it is read for.
fn cell_key(variable: Variable, at: UseSite, cell: &Access) -> UseKey {
    let at = if let UseSite::Stmt(_) = at { None } else { Some(at) };
    let (start, end) = match cell.text.is_none() {
        true => (u32::MAX, cell.addr.index() as u32),
        false => (cell.text.start, cell.text.end),
    };
    UseKey::Cell { variable, at, start, end }
}

/// The number of marks before a statement in its block.
fn marks_before(body: &Body, block: BlockId, stmt: StmtId) -> u32 {
    let stmts = &body.blocks[block].stmts;
    let before = stmts.iter().take_while(|other| **other != stmt);
    before.filter(|other| matches!(body.stmts[**other], Stmt::Mark(_))).count() as u32
}

/// Reads with the same key are one use.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum UseKey {
    /// By a condition, a switch or a return.
    Branch { variable: Variable, at: UseSite },
    /// By a statement of the text, which begins behind a mark, between two writes.
    Statement { variable: Variable, block: BlockId, epoch: u32, mark: u32 },
    /// Of cells. The range of the access in the text, or the number of its address.
    Cell { variable: Variable, at: Option<UseSite>, start: u32, end: u32 },
}

/// The bits of definitions. Those of a variable follow one another, after a bit for having no
/// definition.
struct Variables {
    locals: Vec<LocalId>,
    /// For each variable, the bit for having no definition, which the bits of its definitions follow,
    /// and their number.
    first: FxHashMap<LocalId, (usize, usize)>,
    /// The position of each definition's bit.
    bit: Vec<usize>,
    bits: usize,
}

impl Variables {
    fn new(body: &Body, definitions: &[Definition]) -> Self {
        let mut counts: FxHashMap<LocalId, usize> = FxHashMap::default();
        let of_locals = || {
            definitions.iter().filter_map(|definition| match definition.variable {
                Variable::Local(local) => Some((local, definition)),
                Variable::Global(_) => None,
            })
        };
        of_locals().for_each(|(local, _)| *counts.entry(local).or_default() += 1);
        let locals: Vec<_> = body.locals.ids().filter(|local| is_variable(body, *local)).collect();
        let (mut first, mut bits) = (FxHashMap::default(), 0);
        for local in &locals {
            let count = counts.get(local).copied().unwrap_or(0) + 1;
            first.insert(*local, (bits, count));
            bits += count;
        }
        let bit = of_locals().map(|(local, d)| first[&local].0 + d.number as usize).collect();
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

    fn clear(&mut self, bit: usize) {
        self.words[bit / 64] &= !(1 << (bit % 64));
    }

    fn set_undefined(&mut self, variables: &Variables, local: LocalId) {
        self.set(variables.first[&local].0);
    }

    /// Gives a variable this definition alone, or none.
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

    /// Adds the definitions of another state. Returns whether any is new.
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            changed |= *other & !*word != 0;
            *word |= other;
        }
        changed
    }
}
