//! Pairs of a definition and a use, as far as the records of whole variables and those of cells are
//! alike: which are asked for, where they end, and what is lost with what.
//!
//! Both remember the number of the last definition, and give each use a table with one cell for each
//! number and way. They differ in where the number lies.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use lydian_base::{EntityId, SourceMap, Span};
use lydian_ir::{BlockId, Body, FuncId, GlobalId, Linkage, Stmt, StmtId};
use lydian_objective::dataflow::{DataFlow, DefUse, DefinitionId, Use, UseId, Variable, c_name};
use lydian_objective::{Sequence, SequenceId, UnitFlow};
use rustc_hash::{FxHashMap, FxHashSet};

use super::units::Sequences;
use super::{Purpose, RewriteRequest, Scope, no_sequences};
use crate::plan::{Plan, SHARED, SharedPlace, UnmeasuredSequence};

/// Why a use is not measured that a definition may reach of which nothing is recorded.
pub(super) const NOT_WATCHED: &str = "a function that is not instrumented defines the variable";

/// What all watched functions together ask of one data flow.
#[derive(Debug, Default)]
pub(super) struct Pairs<'a> {
    /// The data flow, if anything is asked of it.
    flow: Option<&'a UnitFlow>,
    /// What is asked of each use.
    uses: FxHashMap<(FuncId, UseId), Vec<Pair>>,
    /// The sequences of each global of which something is asked.
    of_globals: BTreeMap<GlobalId, Sequences>,
    /// What is lost with each use of variables that units share, and with each of these.
    shared_uses: FxHashMap<(FuncId, UseId), SequenceId>,
    /// What [`SHARED`]'s sequences are about.
    shared: Vec<SharedPlace>,
    /// The functions that are not watched and yet have definitions or uses that are asked for.
    pub(super) further: Vec<FuncId>,
    /// The functions that are rewritten: those, and the watched ones.
    rewritten: FxHashSet<FuncId>,
}

/// A sequence that a use can end.
#[derive(Clone, Debug)]
struct Pair {
    /// The number of the definition.
    number: u32,
    /// The way of the use.
    way: u32,
    /// The position of the function whose sequence it is.
    owner: u32,
    sequence: SequenceId,
    /// The nodes by which the use must be reached, if that is asked. Both ends are then in one
    /// function.
    path: Option<(DefinitionId, Vec<BlockId>)>,
}

/// A sequence that a use ends if it is reached by a path.
#[derive(Clone, Copy, Debug)]
pub(super) struct ByPath<'a> {
    pub(super) definition: DefinitionId,
    /// The number of the definition.
    pub(super) number: u32,
    /// The way of the use.
    pub(super) way: u32,
    /// The nodes that are entered since the definition, by their first blocks.
    pub(super) entered: &'a [BlockId],
    /// With the position of its function.
    pub(super) sequence: (u32, SequenceId),
}

impl<'a> Pairs<'a> {
    /// Those of the sequences that `pair_of` says are pairs of this data flow. `storing` are the
    /// functions that define a global.
    pub(super) fn new(
        request: &RewriteRequest<'_>,
        flow: &'a UnitFlow,
        pair_of: impl Fn(&Sequence) -> Option<DefUse>,
        storing: impl Fn(GlobalId) -> Vec<FuncId>,
    ) -> Self {
        let mut this = Self { flow: Some(flow), ..Self::default() };
        let mut of_globals: BTreeMap<GlobalId, Vec<(u32, SequenceId)>> = BTreeMap::new();
        for (owner, objectives) in (0..).zip(request.watched) {
            let Some(own) = flow.function(objectives.function) else { continue };
            for (sequence, one) in objectives.sequences.iter() {
                let Some(pair) = pair_of(one) else { continue };
                let usage = own.usage(pair.usage);
                let at = usage.elsewhere.unwrap_or((objectives.function, pair.usage));
                let id = pair.definition;
                let definition = own.definition(id);
                if let Variable::Global(global) = definition.variable {
                    of_globals.entry(global).or_default().push((owner, sequence));
                }
                let (number, way) = (definition.number, pair.way);
                let path = one.path().map(|path| (id, path.to_vec()));
                let pair = Pair { number, way, owner, sequence, path };
                this.uses.entry(at).or_default().push(pair);
            }
        }
        this.rewritten = request.watched.iter().map(|of| of.function).collect();
        if request.purpose == Purpose::Tests {
            let stores = of_globals.keys().flat_map(|global| storing(*global));
            let functions = stores.chain(this.uses.keys().map(|(function, _)| *function));
            let further: BTreeSet<FuncId> =
                functions.filter(|function| !this.rewritten.contains(function)).collect();
            let is_users = |id: &FuncId| !request.program.functions[*id].library;
            this.further = further.into_iter().filter(is_users).collect();
            this.rewritten.extend(&this.further);
        }
        this.of_globals = of_globals.into_iter().map(|(of, all)| (of, all.into())).collect();
        this
    }

    /// Asks for the definitions and uses of variables that units share, in functions that are
    /// rewritten.
    pub(super) fn share(&mut self, request: &RewriteRequest<'_>) {
        let is_shared = |id: GlobalId| request.program.globals[id].linkage == Linkage::External;
        for objectives in request.watched {
            let Some(flow) = self.function(objectives.function) else { continue };
            for definition in &flow.definitions {
                if let Variable::Global(global) = definition.variable
                    && is_shared(global)
                {
                    self.of_globals.entry(global).or_insert_with(no_sequences);
                }
            }
            let own = flow.uses.iter().take_while(|usage| usage.elsewhere.is_none());
            for (index, usage) in own.enumerate() {
                let Variable::Global(global) = usage.variable else { continue };
                if !is_shared(global) {
                    continue;
                }
                self.of_globals.entry(global).or_insert_with(no_sequences);
                let key = (objectives.function, UseId::from_index(index));
                self.uses.entry(key).or_default();
                let number = SequenceId::from_index(self.shared.len());
                self.shared.push(SharedPlace::Use(key.0, key.1));
                self.shared_uses.insert(key, number);
            }
        }
        for (global, lost) in self.of_globals.iter_mut().filter(|(id, _)| is_shared(**id)) {
            let number = SequenceId::from_index(self.shared.len());
            self.shared.push(SharedPlace::Variable(*global));
            *lost = lost.iter().copied().chain([(SHARED, number)]).collect();
        }
    }

    /// Whether a use of a variable that units share is asked for.
    pub(super) fn is_shared(&self, function: FuncId, id: UseId) -> bool {
        self.shared_uses.contains_key(&(function, id))
    }

    /// Whether any is.
    pub(super) fn shares(&self) -> bool {
        !self.shared_uses.is_empty()
    }

    /// Takes what was lost of shared variables out of what was lost of sequences.
    pub(super) fn lost_of_shared(&self, plan: &mut Plan) {
        let all = std::mem::take(&mut plan.unmeasured);
        let (shared, rest) = all.into_iter().partition(|lost| lost.function == SHARED);
        plan.unmeasured = rest;
        let shared: Vec<UnmeasuredSequence> = shared;
        let place = |lost: UnmeasuredSequence| (self.shared[lost.sequence.index()], lost.reason);
        plan.shared.lost.extend(shared.into_iter().map(place));
        plan.shared.lost.sort();
        plan.shared.lost.dedup();
    }

    /// Whether nothing is asked.
    pub(super) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// The data flow of a function.
    pub(super) fn function(&self, function: FuncId) -> Option<&'a DataFlow> {
        self.flow?.function(function)
    }

    /// The globals of which something is asked.
    pub(super) fn globals(&self) -> impl Iterator<Item = GlobalId> {
        self.of_globals.keys().copied()
    }

    /// Whether records are put into a function.
    pub(super) fn is_rewritten(&self, function: FuncId) -> bool {
        self.rewritten.contains(&function)
    }

    /// How many labels of a function are its first because others name them.
    pub(super) fn shared_labels(&self, function: FuncId) -> usize {
        self.flow.map_or(0, |flow| flow.shared(function).count())
    }

    /// All uses of which something is asked, in no order.
    pub(super) fn all_uses(&self) -> impl Iterator<Item = (FuncId, UseId, &'a Use)> {
        self.uses.keys().filter_map(|(function, id)| {
            let flow = self.function(*function)?;
            Some((*function, *id, flow.usage(*id)))
        })
    }

    /// Whether some uses of a variable of which something is asked must be reached by a path.
    pub(super) fn asks_paths(&self, wanted: Variable) -> bool {
        let asks = |(function, id, usage): (FuncId, UseId, &Use)| {
            usage.variable == wanted && self.of(function, id).iter().any(|p| p.path.is_some())
        };
        self.all_uses().any(asks)
    }

    /// Whether any use must be reached by a path.
    pub(super) fn asks_any_path(&self) -> bool {
        self.uses.values().flatten().any(|pair| pair.path.is_some())
    }

    fn of(&self, function: FuncId, id: UseId) -> &[Pair] {
        self.uses.get(&(function, id)).map_or(&[][..], Vec::as_slice)
    }

    /// The sequences that end with a use.
    pub(super) fn sequences_of(&self, function: FuncId, id: UseId) -> Vec<(u32, SequenceId)> {
        let own = self.of(function, id).iter().map(|pair| (pair.owner, pair.sequence));
        let shared = self.shared_uses.get(&(function, id)).map(|number| (SHARED, *number));
        own.chain(shared).collect()
    }
}

/// The pairs whose uses are in one function.
#[derive(Debug)]
pub(super) struct OfFunction<'a> {
    asked: &'a Pairs<'a>,
    function: FuncId,
    /// Its definitions and uses.
    pub(super) flow: &'a DataFlow,
    /// The sequences of each local, which are lost with any of its places.
    of_locals: BTreeMap<Variable, Sequences>,
    /// The variables with uses that must be reached by a path.
    with_paths: BTreeSet<Variable>,
}

impl<'a> OfFunction<'a> {
    /// Those of a function, if it has a data flow.
    pub(super) fn new(asked: &'a Pairs<'a>, function: FuncId) -> Option<Self> {
        let flow = asked.function(function)?;
        let (of_locals, with_paths) = (BTreeMap::new(), BTreeSet::new());
        let mut this = Self { asked, function, flow, of_locals, with_paths };
        let uses = this.uses().into_iter();
        let with_paths = uses.filter(|(id, _)| !this.by_path(*id).is_empty());
        this.with_paths = with_paths.map(|(_, usage)| usage.variable).collect();
        let mut of_locals: BTreeMap<Variable, Vec<(u32, SequenceId)>> = BTreeMap::new();
        for (id, usage) in this.uses().into_iter().filter(|(_, of)| !of.variable.is_global()) {
            of_locals.entry(usage.variable).or_default().extend(this.sequences_of(id));
        }
        this.of_locals = of_locals.into_iter().map(|(of, all)| (of, all.into())).collect();
        Some(this)
    }

    /// The function's uses of which something is asked.
    pub(super) fn uses(&self) -> Vec<(UseId, &'a Use)> {
        let own = self.flow.uses.iter().take_while(|usage| usage.elsewhere.is_none());
        let own = own.enumerate().map(|(index, usage)| (UseId::from_index(index), usage));
        own.filter(|(id, _)| self.asked.uses.contains_key(&(self.function, *id))).collect()
    }

    /// The locals of which something is asked.
    pub(super) fn locals(&self) -> impl Iterator<Item = Variable> {
        self.of_locals.keys().copied()
    }

    /// The sequences that end with a use.
    pub(super) fn sequences_of(&self, id: UseId) -> Vec<(u32, SequenceId)> {
        self.asked.sequences_of(self.function, id)
    }

    /// Whether uses of a variable in the function must be reached by a path.
    pub(super) fn asks_paths(&self, variable: Variable) -> bool {
        self.with_paths.contains(&variable)
    }

    /// Whether any use in the function must.
    pub(super) fn asks_any_path(&self) -> bool {
        !self.with_paths.is_empty()
    }

    /// The sequences that end with a use which is reached by a path.
    pub(super) fn by_path(&self, id: UseId) -> Vec<ByPath<'a>> {
        let pairs = self.asked.of(self.function, id).iter();
        let by_path = pairs.filter_map(|pair| {
            let (definition, entered) = pair.path.as_ref()?;
            Some(ByPath {
                definition: *definition,
                number: pair.number,
                way: pair.way,
                entered,
                sequence: (pair.owner, pair.sequence),
            })
        });
        by_path.collect()
    }

    /// Whether a use is of a variable that units share.
    pub(super) fn is_shared(&self, id: UseId) -> bool {
        self.asked.is_shared(self.function, id)
    }

    /// The ways of the pairs that end with a use, however it is reached, with their sequences.
    pub(super) fn by_way(&self, id: UseId) -> impl Iterator<Item = (u32, (u32, SequenceId))> {
        let pairs = self.asked.of(self.function, id).iter().filter(|pair| pair.path.is_none());
        pairs.map(|pair| (pair.way, (pair.owner, pair.sequence)))
    }

    /// The sequences that end with a use, however it is reached, by the number of their definition
    /// and their way.
    pub(super) fn by_number(&self, id: UseId) -> FxHashMap<(u32, u32), Vec<(u32, SequenceId)>> {
        let mut all: FxHashMap<(u32, u32), Vec<(u32, SequenceId)>> = FxHashMap::default();
        let pairs = self.asked.of(self.function, id).iter();
        for pair in pairs.filter(|pair| pair.path.is_none()) {
            all.entry((pair.number, pair.way)).or_default().push((pair.owner, pair.sequence));
        }
        all
    }

    /// The sequences that are lost if a place of a variable cannot be recorded.
    pub(super) fn lost_with(&self, variable: Variable) -> Sequences {
        let lost = match variable {
            Variable::Local(_) => self.of_locals.get(&variable),
            Variable::Global(id) => self.asked.of_globals.get(&id),
        };
        lost.map_or_else(no_sequences, Arc::clone)
    }
}

/// Where a global is, for those who may ask before its declaration.
#[derive(Debug)]
pub(super) struct Address {
    /// The variable that has it.
    pub(super) name: String,
    /// The global's name in C.
    pub(super) of: String,
    /// The number of the unit that declares it.
    pub(super) unit: usize,
}

impl Address {
    /// That of a global, under a name.
    pub(super) fn of(request: &RewriteRequest<'_>, global: GlobalId, name: String) -> Self {
        let found = &request.program.globals[global];
        let (of, unit) = (c_name(&found.name).to_owned(), request.unit_at(found.span.start));
        Self { name, of, unit }
    }

    /// Adds what stands before the text.
    pub(super) fn declare(&self, scope: Scope, text: &mut String) {
        let storage = if scope == Scope::Text { "static" } else { "extern" };
        let _ = writeln!(text, "{storage} const char *const {};", self.name);
    }

    /// What stands after the text.
    pub(super) fn define(&self, scope: Scope) -> String {
        let Self { name, of, unit } = self;
        let storage = if scope == Scope::Text { "static " } else { "" };
        match scope.is(*unit) {
            true => format!("\n{storage}const char *const {name} = (const char *)&{of};"),
            false => String::new(),
        }
    }
}

/// A number that tells the unit with this text apart from others.
pub(super) fn unit_number(map: &SourceMap) -> u64 {
    let hash = blake3::hash(map.text().as_bytes());
    hash.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}

/// Whether statements other than `own` call something within a text.
pub(super) fn calls_within(body: &Body, text: Span, own: Option<StmtId>) -> bool {
    calls_in(body, text, |id, _| Some(id) != own)
}

/// Whether anything is called within a call's text for the arguments.
pub(super) fn calls_for_arguments(body: &Body, call: Span) -> bool {
    calls_in(body, call, |_, at| at != call)
}

/// Whether a call that counts, by its statement and its text, stands within a text.
fn calls_in(body: &Body, text: Span, counts: impl Fn(StmtId, Span) -> bool) -> bool {
    body.stmts.iter().any(|(id, stmt)| {
        let at = body.source.stmts[id];
        let is_call = matches!(stmt, Stmt::Call { .. });
        is_call && counts(id, at) && !at.is_none() && text.contains(at)
    })
}
