//! The def-use pairs that watched functions ask for, and what becomes uninstrumentable with each
//! place.
//!
//! Pairs of whole variables ([`super::variables`]) and pairs of array cells ([`super::cells`])
//! share this module. Both remember the number of the last definition, and give each use a table
//! with one cell for each number and way. They differ in where they keep the number.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::Arc;

use lydian_base::{EntityId, SourceMap};
use lydian_ir::{BlockId, FuncId, GlobalId, Linkage};
use lydian_objective::dataflow::{DataFlow, DefUse, DefinitionId, Use, UseId, Variable, c_name};
use lydian_objective::{Sequence, SequenceId, UnitFlow};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::plan::{Plan, SHARED, SharedPlace, UnmeasuredSequence};
use crate::rewrite::request::{Purpose, RewriteRequest};
use crate::rewrite::statement_probes::{SequenceList, no_sequences};
use crate::rewrite::text::prelude::UnitRole;

/// The reason for a use that may be reached by a definition without a probe.
pub(crate) const NOT_WATCHED: &str = "a function that is not instrumented defines the variable";

/// The pairs of one data flow that all watched functions together want.
#[derive(Debug, Default)]
pub(crate) struct WantedPairs<'a> {
    /// The data flow, if any pair is wanted.
    flow: Option<&'a UnitFlow>,
    /// The wanted pairs of each use.
    uses: FxHashMap<(FuncId, UseId), Vec<WantedPair>>,
    /// The sequences of each global with wanted pairs.
    of_globals: BTreeMap<GlobalId, SequenceList>,
    /// The sequence that stands for each use of a shared variable among uninstrumentable ones.
    shared_uses: FxHashMap<(FuncId, UseId), SequenceId>,
    /// The place for which each sequence of [`SHARED`] stands.
    shared: Vec<SharedPlace>,
    /// The functions that are not watched but have definitions or uses of wanted pairs.
    pub(crate) further: Vec<FuncId>,
    /// The functions that get probes: these, and the watched ones.
    rewritten: FxHashSet<FuncId>,
}

/// A sequence that a use can end.
#[derive(Clone, Debug)]
struct WantedPair {
    /// The number of the definition.
    number: u32,
    /// The way of the use.
    way: u32,
    /// The position of the function whose sequence it is.
    owner: u32,
    sequence: SequenceId,
    /// The nodes of the path by which the use must be reached, if one is given. Both ends are then
    /// in one function.
    path: Option<(DefinitionId, Vec<BlockId>)>,
}

/// A sequence that a use ends if it is reached by a path.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PathPair<'a> {
    pub(crate) definition: DefinitionId,
    /// The number of the definition.
    pub(crate) number: u32,
    /// The way of the use.
    pub(crate) way: u32,
    /// The nodes that are entered since the definition, by their first blocks.
    pub(crate) entered: &'a [BlockId],
    /// With the position of its function.
    pub(crate) sequence: (u32, SequenceId),
}

impl<'a> WantedPairs<'a> {
    /// The wanted pairs. `pair_of` gives the pair of a sequence in this data flow, and `storing`
    /// the functions that define a global.
    pub(crate) fn new(
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
                let pair = WantedPair { number, way, owner, sequence, path };
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
    pub(crate) fn share(&mut self, request: &RewriteRequest<'_>) {
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
        for (global, affected) in self.of_globals.iter_mut().filter(|(id, _)| is_shared(**id)) {
            let number = SequenceId::from_index(self.shared.len());
            self.shared.push(SharedPlace::Variable(*global));
            *affected = affected.iter().copied().chain([(SHARED, number)]).collect();
        }
    }

    /// Whether a use is a wanted one of a variable that units share.
    pub(crate) fn is_shared(&self, function: FuncId, id: UseId) -> bool {
        self.shared_uses.contains_key(&(function, id))
    }

    /// Whether there is any such use.
    pub(crate) fn shares(&self) -> bool {
        !self.shared_uses.is_empty()
    }

    /// Moves the uninstrumentable places of shared variables from the plan's sequences to its
    /// shared variables.
    pub(crate) fn move_shared_places(&self, plan: &mut Plan) {
        let all = std::mem::take(&mut plan.unmeasured_sequences);
        let (shared, rest) = all.into_iter().partition(|affected| affected.function == SHARED);
        plan.unmeasured_sequences = rest;
        let shared: Vec<UnmeasuredSequence> = shared;
        let place = |affected: UnmeasuredSequence| {
            (self.shared[affected.sequence.index()], affected.reason)
        };
        plan.shared.uninstrumentable.extend(shared.into_iter().map(place));
        plan.shared.uninstrumentable.sort();
        plan.shared.uninstrumentable.dedup();
    }

    /// Whether no pair is wanted.
    pub(crate) fn is_empty(&self) -> bool {
        self.uses.is_empty()
    }

    /// The data flow of a function.
    pub(crate) fn function(&self, function: FuncId) -> Option<&'a DataFlow> {
        self.flow?.function(function)
    }

    /// The globals with wanted pairs.
    pub(crate) fn globals(&self) -> impl Iterator<Item = GlobalId> {
        self.of_globals.keys().copied()
    }

    /// Whether a function gets probes.
    pub(crate) fn is_rewritten(&self, function: FuncId) -> bool {
        self.rewritten.contains(&function)
    }

    /// How many labels of a function are its first because others name them.
    pub(crate) fn shared_labels(&self, function: FuncId) -> usize {
        self.flow.map_or(0, |flow| flow.shared(function).count())
    }

    /// All uses with wanted pairs, in no order.
    pub(crate) fn all_uses(&self) -> impl Iterator<Item = (FuncId, UseId, &'a Use)> {
        self.uses.keys().filter_map(|(function, id)| {
            let flow = self.function(*function)?;
            Some((*function, *id, flow.usage(*id)))
        })
    }

    /// Whether a path is given for some wanted pair of a variable.
    pub(crate) fn asks_paths(&self, wanted: Variable) -> bool {
        let asks = |(function, id, usage): (FuncId, UseId, &Use)| {
            usage.variable == wanted && self.of(function, id).iter().any(|p| p.path.is_some())
        };
        self.all_uses().any(asks)
    }

    /// Whether a path is given for any wanted pair.
    pub(crate) fn asks_any_path(&self) -> bool {
        self.uses.values().flatten().any(|pair| pair.path.is_some())
    }

    fn of(&self, function: FuncId, id: UseId) -> &[WantedPair] {
        self.uses.get(&(function, id)).map_or(&[][..], Vec::as_slice)
    }

    /// The sequences that end with a use.
    pub(crate) fn sequences_of(&self, function: FuncId, id: UseId) -> Vec<(u32, SequenceId)> {
        let own = self.of(function, id).iter().map(|pair| (pair.owner, pair.sequence));
        let shared = self.shared_uses.get(&(function, id)).map(|number| (SHARED, *number));
        own.chain(shared).collect()
    }
}

/// The pairs whose uses are in one function.
#[derive(Debug)]
pub(crate) struct FunctionPairs<'a> {
    asked: &'a WantedPairs<'a>,
    function: FuncId,
    /// Its definitions and uses.
    pub(crate) flow: &'a DataFlow,
    /// The sequences of each local, which become uninstrumentable with any of its places.
    of_locals: BTreeMap<Variable, SequenceList>,
    /// The variables with uses that must be reached by a path.
    with_paths: BTreeSet<Variable>,
}

impl<'a> FunctionPairs<'a> {
    /// The pairs of a function, if it has a data flow.
    pub(crate) fn new(asked: &'a WantedPairs<'a>, function: FuncId) -> Option<Self> {
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

    /// The function's uses with wanted pairs.
    pub(crate) fn uses(&self) -> Vec<(UseId, &'a Use)> {
        let own = self.flow.uses.iter().take_while(|usage| usage.elsewhere.is_none());
        let own = own.enumerate().map(|(index, usage)| (UseId::from_index(index), usage));
        own.filter(|(id, _)| self.asked.uses.contains_key(&(self.function, *id))).collect()
    }

    /// The locals with wanted pairs.
    pub(crate) fn locals(&self) -> impl Iterator<Item = Variable> {
        self.of_locals.keys().copied()
    }

    /// The sequences that end with a use.
    pub(crate) fn sequences_of(&self, id: UseId) -> Vec<(u32, SequenceId)> {
        self.asked.sequences_of(self.function, id)
    }

    /// Whether a path is given for a pair of a variable in the function.
    pub(crate) fn asks_paths(&self, variable: Variable) -> bool {
        self.with_paths.contains(&variable)
    }

    /// Whether a path is given for any pair in the function.
    pub(crate) fn asks_any_path(&self) -> bool {
        !self.with_paths.is_empty()
    }

    /// The sequences that end with a use which is reached by a path.
    pub(crate) fn by_path(&self, id: UseId) -> Vec<PathPair<'a>> {
        let pairs = self.asked.of(self.function, id).iter();
        let by_path = pairs.filter_map(|pair| {
            let (definition, entered) = pair.path.as_ref()?;
            Some(PathPair {
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
    pub(crate) fn is_shared(&self, id: UseId) -> bool {
        self.asked.is_shared(self.function, id)
    }

    /// The ways and sequences of the pairs without a path that end with a use.
    pub(crate) fn by_way(&self, id: UseId) -> impl Iterator<Item = (u32, (u32, SequenceId))> {
        let pairs = self.asked.of(self.function, id).iter().filter(|pair| pair.path.is_none());
        pairs.map(|pair| (pair.way, (pair.owner, pair.sequence)))
    }

    /// The sequences of the pairs without a path that end with a use, by definition number and way.
    pub(crate) fn by_number(&self, id: UseId) -> FxHashMap<(u32, u32), Vec<(u32, SequenceId)>> {
        let mut all: FxHashMap<(u32, u32), Vec<(u32, SequenceId)>> = FxHashMap::default();
        let pairs = self.asked.of(self.function, id).iter();
        for pair in pairs.filter(|pair| pair.path.is_none()) {
            all.entry((pair.number, pair.way)).or_default().push((pair.owner, pair.sequence));
        }
        all
    }

    /// The sequences that become uninstrumentable if a place of a variable cannot be recorded.
    pub(crate) fn sequences_with(&self, variable: Variable) -> SequenceList {
        let affected = match variable {
            Variable::Local(_) => self.of_locals.get(&variable),
            Variable::Global(id) => self.asked.of_globals.get(&id),
        };
        affected.map_or_else(no_sequences, Arc::clone)
    }
}

/// A variable with the address of a global, for probes before the global's declaration.
#[derive(Debug)]
pub(crate) struct GlobalAddress {
    /// The variable that has it.
    pub(crate) name: String,
    /// The global's name in C.
    pub(crate) of: String,
    /// The number of the unit that declares it.
    pub(crate) unit: usize,
}

impl GlobalAddress {
    /// The address of a global, under a name.
    pub(crate) fn of(request: &RewriteRequest<'_>, global: GlobalId, name: String) -> Self {
        let found = &request.program.globals[global];
        let (of, unit) = (c_name(&found.name).to_owned(), request.unit_at(found.span.start));
        Self { name, of, unit }
    }

    /// Adds its declaration, which stands before the unit's text.
    pub(crate) fn declare(&self, scope: UnitRole, text: &mut String) {
        let storage = if scope == UnitRole::Text { "static" } else { "extern" };
        let _ = writeln!(text, "{storage} const char *const {};", self.name);
    }

    /// Its definition, which stands after the unit's text.
    pub(crate) fn define(&self, scope: UnitRole) -> String {
        let Self { name, of, unit } = self;
        let storage = if scope == UnitRole::Text { "static " } else { "" };
        match scope.is(*unit) {
            true => format!("\n{storage}const char *const {name} = (const char *)&{of};"),
            false => String::new(),
        }
    }
}

/// A number that tells the unit with this text apart from others.
pub(crate) fn unit_hash(map: &SourceMap) -> u64 {
    let hash = blake3::hash(map.text().as_bytes());
    hash.as_bytes().first_chunk().map_or(0, |first| u64::from_le_bytes(*first))
}
