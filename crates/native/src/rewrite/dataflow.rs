//! Last definitions: how def-use pairs are recorded ([002] III, with a variable instead of monitors).
//!
//! `lydian_dN` holds the number of the last definition of local `vN` in this activation, 0 for
//! none. A definition sets it, a use sets the cell of its own table that the number names: one
//! store each, whatever the number of pairs. The compiler keeps the numbers in registers.
//! A use that only one definition can reach needs no number: it sets its cell.

use std::fmt::Write as _;

use indexmap::IndexMap;
use lydian_base::EntityId;
use lydian_ir::source::Point;
use lydian_ir::{BlockId, Body, ConditionId, DecisionId, LocalId, Program};
use lydian_objective::dataflow::{
    DataFlow, DefUse, DefinitionId, DefinitionSite, Use, UseId, UseSite,
};
use lydian_objective::{FunctionObjectives, SequenceId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::NO_PLACE;
use super::units::{Host, Units};
use crate::plan::Plan;

/// What the text of one function must record of its data flow.
#[derive(Debug, Default)]
pub(super) struct Flow {
    /// What is recorded where a condition is false, and where it is true.
    pub(super) conditions: IndexMap<(DecisionId, ConditionId), [String; 2]>,
    /// What is recorded on a way out of a switch.
    pub(super) switches: IndexMap<(BlockId, u32), String>,
    /// Variables at the start of the function's body.
    pub(super) declarations: String,
    /// The sequences whose uses are in a condition.
    of_conditions: IndexMap<(DecisionId, ConditionId), Vec<SequenceId>>,
}

/// Works out the records of one function, whose cells it adds to the plan.
pub(super) fn flow(
    program: &Program,
    body: &Body,
    objectives: &FunctionObjectives,
    number: u32,
    units: &mut Units<'_>,
    plan: &mut Plan,
) -> Flow {
    let wanted: IndexMap<DefUse, SequenceId> = objectives
        .sequences
        .iter()
        .filter_map(|(id, sequence)| sequence.flow.map(|pair| (pair, id)))
        .collect();
    if wanted.is_empty() {
        return Flow::default();
    }
    let found = DataFlow::of(program, body);
    let out = Flow::default();
    let sequences = FxHashMap::default();
    let mut maker =
        Maker { body, number, units, plan, flow: &found, wanted, sequences, out, reads: 0 };
    maker.all();
    maker.out
}

impl Flow {
    /// The sequences that cannot be measured because a decision's text cannot be rewritten.
    pub(super) fn lost_with_decision(&self, decision: DecisionId) -> Vec<SequenceId> {
        let own = |key: &&(DecisionId, ConditionId)| key.0 == decision;
        let lost = self.of_conditions.iter().filter(|(key, _)| own(key));
        lost.flat_map(|(_, sequences)| sequences.iter().copied()).collect()
    }
}

struct Maker<'a, 't> {
    body: &'a Body,
    number: u32,
    units: &'a mut Units<'t>,
    plan: &'a mut Plan,
    flow: &'a DataFlow,
    wanted: IndexMap<DefUse, SequenceId>,
    /// The sequences of each variable, which are lost with any of its places.
    sequences: FxHashMap<LocalId, Vec<SequenceId>>,
    out: Flow,
    /// How many values are kept for conditions that read before an effect.
    reads: usize,
}

impl Maker<'_, '_> {
    fn all(&mut self) {
        for (pair, sequence) in &self.wanted {
            let variable = self.flow.definition(pair.definition).variable;
            self.sequences.entry(variable).or_default().push(*sequence);
        }
        let uses: Vec<(UseId, &Use)> =
            self.flow.uses.iter().enumerate().map(|(i, u)| (UseId::from_index(i), u)).collect();
        let asked = |(id, usage): &(UseId, &Use)| !self.sequences_of(*id, usage).is_empty();
        let uses: Vec<_> = uses.into_iter().filter(asked).collect();
        let dynamic: FxHashSet<LocalId> = uses
            .iter()
            .filter(|(_, usage)| is_dynamic(usage))
            .map(|(_, usage)| usage.variable)
            .collect();
        let lost = self.define(&dynamic);
        for (id, usage) in uses {
            let reason = match lost.get(&usage.variable).filter(|_| is_dynamic(usage)) {
                Some(reason) => Some(*reason),
                None => self.record(id, usage).err(),
            };
            if let Some(reason) = reason {
                self.unmeasured(id, usage, reason);
            }
        }
    }

    fn unmeasured(&mut self, id: UseId, usage: &Use, reason: &str) {
        let lost = self.sequences_of(id, usage);
        super::lose_sequences(self.number, &lost, reason, self.plan);
    }

    /// The sequences that end with a use.
    fn sequences_of(&self, id: UseId, usage: &Use) -> Vec<SequenceId> {
        let ways = 0..usage.at.ways(self.body);
        let pairs = usage.reaching.iter().flat_map(|definition| {
            ways.clone().map(|way| DefUse { definition: *definition, usage: id, way })
        });
        pairs.filter_map(|pair| self.wanted.get(&pair).copied()).collect()
    }

    /// Sets the number of the last definition wherever one is. Returns the variables for which
    /// that is not possible, with the reason.
    fn define(&mut self, variables: &FxHashSet<LocalId>) -> FxHashMap<LocalId, &'static str> {
        let mut lost = FxHashMap::default();
        let mut hosts = Vec::new();
        for definition in self.flow.definitions.iter().filter(|d| variables.contains(&d.variable)) {
            let DefinitionSite::Stmt(stmt) = definition.at else { continue };
            match self.units.host(stmt, definition.span) {
                Ok(host) => hosts.push((definition, stmt, host)),
                Err(reason) => _ = lost.insert(definition.variable, reason),
            }
        }
        for (definition, stmt, host) in hosts {
            let variable = definition.variable;
            if lost.contains_key(&variable) {
                continue;
            }
            let set = format!("lydian_d{} = {}; ", variable.index(), definition.number);
            let sequences = self.sequences.get(&variable).map_or(&[][..], Vec::as_slice);
            self.units.define(stmt, host, &set, sequences);
        }
        let mut ordered: Vec<_> = variables.iter().filter(|v| !lost.contains_key(v)).collect();
        ordered.sort_unstable();
        for variable in ordered {
            let at_entry = self.flow.definitions.iter().find(|definition| {
                definition.variable == *variable && definition.at == DefinitionSite::Entry
            });
            let number = at_entry.map_or(0, |definition| definition.number);
            let _ = write!(
                self.out.declarations,
                "unsigned long lydian_d{} = {number}; ",
                variable.index()
            );
        }
        lost
    }

    /// Records a use in its table.
    fn record(&mut self, id: UseId, usage: &Use) -> Result<(), &'static str> {
        let ways = usage.at.ways(self.body);
        match usage.at {
            UseSite::Stmt(stmt) => {
                let host = self.units.host_of_use(stmt)?;
                let cell = self.table(id, usage, ways);
                self.record_at(host, usage, &format!("lydian_hit[{cell}] = 1, "));
            }
            UseSite::Return(block) => {
                let mut roots = self.body.source.roots.values();
                let root = roots.find(|root| root.point == Point::Term(block));
                let root = root.ok_or(NO_PLACE)?;
                let host = Host::Around(root.span);
                let cell = self.table(id, usage, ways);
                self.record_at(host, usage, &format!("lydian_hit[{cell}] = 1, "));
            }
            UseSite::Condition(decision, condition) => {
                let mut sites = self.body.source.decisions.iter();
                if !sites.any(|site| site.decision == decision) {
                    return Err(NO_PLACE);
                }
                let number = self.read(usage)?;
                let cell = self.table_of(id, usage, ways, &number);
                let sequences = self.sequences_of(id, usage);
                let of_condition = self.out.of_conditions.entry((decision, condition));
                of_condition.or_default().extend(sequences);
                let texts = self.out.conditions.entry((decision, condition)).or_default();
                for (way, text) in texts.iter_mut().enumerate() {
                    let _ = write!(text, "lydian_hit[{cell} + {way}] = 1, ");
                }
            }
            UseSite::Switch(block) => {
                let mut sites = self.body.source.switches.iter();
                let site = sites.find(|site| site.block == block);
                if site.is_none_or(|site| site.computed) {
                    return Err("it is of a computed goto");
                }
                let number = self.read(usage)?;
                let cell = self.table_of(id, usage, ways, &number);
                for way in 0..ways {
                    let text = self.out.switches.entry((block, way)).or_default();
                    let _ = write!(text, "lydian_hit[{cell} + {way}] = 1; ");
                }
            }
        }
        Ok(())
    }

    fn record_at(&mut self, host: Host, usage: &Use, record: &str) {
        let sequences = self.sequences.get(&usage.variable).map_or(&[][..], Vec::as_slice);
        self.units.record(host, record, sequences, &[]);
    }

    /// The name of the number that a condition's use looks up: kept from where the value is read,
    /// if an effect may lie between.
    fn read(&mut self, usage: &Use) -> Result<String, &'static str> {
        let number = format!("lydian_d{}", usage.variable.index());
        let Some(stmt) = usage.read_at.filter(|_| is_dynamic(usage)) else { return Ok(number) };
        let Host::Around(span) = self.units.host(stmt, self.body.source.stmts[stmt])? else {
            return Err("it is read in a declaration");
        };
        let kept = format!("lydian_q{}", self.reads);
        self.reads += 1;
        let _ = write!(self.out.declarations, "unsigned long {kept} = 0; ");
        self.record_at(Host::Around(span), usage, &format!("{kept} = {number}, "));
        Ok(kept)
    }

    fn table(&mut self, id: UseId, usage: &Use, ways: u32) -> String {
        let number = format!("lydian_d{}", usage.variable.index());
        self.table_of(id, usage, ways, &number)
    }

    /// Adds the cells of a use; the text of the index of the first one of the last definition.
    fn table_of(&mut self, id: UseId, usage: &Use, ways: u32, number: &str) -> String {
        let first = self.plan.cells.len();
        let definitions: Vec<Option<DefinitionId>> = match is_dynamic(usage) {
            false => usage.reaching.iter().copied().map(Some).collect(),
            // Number 0 is that of no definition.
            true => std::iter::once(None)
                .chain(self.flow.definitions_of(usage.variable).map(Some))
                .collect(),
        };
        for definition in definitions {
            for way in 0..ways {
                let pair = definition.map(|definition| DefUse { definition, usage: id, way });
                let sequence = pair.and_then(|pair| self.wanted.get(&pair).copied());
                self.plan.sequence_cell(self.number, sequence);
            }
        }
        match ways {
            _ if !is_dynamic(usage) => first.to_string(),
            1 => format!("{first} + {number}"),
            _ => format!("{first} + {number} * {ways}"),
        }
    }
}

/// Whether which definition reached a use is known only at run time.
fn is_dynamic(usage: &Use) -> bool {
    usage.undefined || usage.reaching.len() != 1
}
