//! Monitors of sequences whose bound values matter: sets of environments in the place of bits.
//!
//! Set `i` of a sequence holds the environments with which its first `i + 1` atoms were covered in
//! order, all passages between them being kept so far. An environment has the values that a later
//! passage or a guard asks for, and stands in a set once. At an event the sets move from the last
//! to the first, so that one event stands for one atom only: obligations of passages first remove
//! environments, and then an atom joins its bindings to the environments of its predecessor. The
//! last atom enters the values that guards ask for into the sequence's table. If an obligation
//! removes the one environment with a given value, as a definition of an array's cell does, a hash
//! finds it. So all environments that [002] VII-A demands are kept. A cell says where there was no
//! room for one.
//!
//! The sets of a sequence of a run are variables of the text. Those of a sequence of one activation
//! belong to the activation, and are emptied where it ends. Their nodes come from one array
//! (`runtime/environments.h`).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::rc::Rc;

use lydian_base::EntityId as _;
use lydian_ir::{ExprId, FuncId};
use lydian_objective::coverage_record::{RequestedValues, SequenceValues};
use lydian_objective::hyper::{Formula, FormulaOp, Passage, Sequence, SequenceScope};
use lydian_objective::{Pred, SequenceId};
use rustc_hash::FxHashMap;

use crate::plan::{BoundOf, BoundTable, Column, Plan, ShortOf};
use crate::rewrite::predicates::writer::{PredicateWriter, TextContext};
use crate::rewrite::request::RewriteRequest;
use crate::rewrite::sequences::site::SiteEvents;
use crate::rewrite::sequences::values::{BoundWords, ValueWriter, value_column};

/// The number of an activation, a variable at the start of its body.
pub(crate) const ACTIVATION: &str = "unsigned long long lydian_n = \
     __atomic_add_fetch(&lydian_activations, 1ull, 0) << 20; ";

/// The declaration of the counter that [`ACTIVATION`] uses.
pub(crate) const ACTIVATIONS: &str =
    "static unsigned long long lydian_activations __attribute__((aligned(8)));\n";

/// The most words of an environment.
const WORDS: usize = 32;

/// The most positions of sequences with sets in a text, which owners of nodes are told apart by.
const POSITIONS: u64 = 1 << 20;

/// A sequence's sets.
#[derive(Debug)]
pub(crate) struct SetMonitor {
    sequence: (u32, SequenceId),
    scope: SequenceScope,
    /// For each set the values of its environments, in order: atom, binding, column, first word.
    layouts: Vec<Vec<EnvironmentSlot>>,
    tables: Vec<GuardTable>,
    cell: usize,
    short: u32,
    /// The number of its first set among all of the text.
    base: u64,
}

/// A table of values that guards ask for.
#[derive(Debug)]
struct GuardTable {
    number: u32,
    /// The values in order: atom and binding.
    values: Vec<(u32, u32)>,
    columns: Vec<Column>,
    /// The condition under which a row is kept.
    filter: Option<Formula>,
}

/// A value of an environment.
#[derive(Clone, Debug)]
struct EnvironmentSlot {
    atom: u32,
    binding: u32,
    name: String,
    column: Column,
    /// Its first word.
    at: usize,
}

/// The move of a sequence's sets at an event of a site.
#[derive(Debug)]
pub(crate) struct SetStep<'a> {
    pub(crate) sequence: (u32, SequenceId),
    monitor: Rc<SetMonitor>,
    here: SiteEvents<'a>,
}

impl SetMonitor {
    /// Lays out the sets of a sequence, and adds its tables to the plan. `cell` is set where it is
    /// covered; `positions` counts the sets of the text.
    ///
    /// # Errors
    /// Why it cannot be followed.
    pub(crate) fn new(
        request: &RewriteRequest<'_>,
        (owner, id): (u32, SequenceId),
        sequence: &Sequence,
        wanted: &[&RequestedValues<SequenceValues>],
        (cell, positions): (usize, &mut u64),
        numbers: &FxHashMap<FuncId, usize>,
        plan: &mut Plan,
    ) -> Result<Rc<Self>, &'static str> {
        let column_of = |atom: u32, binding: u32| {
            let atom = &sequence.atoms[atom as usize];
            value_column(request, numbers[&atom.function], &atom.bindings[binding as usize].value)
        };
        let sets = sequence.passages.len();
        let layouts: Vec<Vec<EnvironmentSlot>> =
            (0..sets).map(|set| layout(sequence, wanted, set, &column_of)).collect();
        let words = |slots: &[EnvironmentSlot]| {
            slots.last().map_or(0, |last| last.at + last.column.words())
        };
        let most = layouts.iter().map(|slots| words(slots)).max().unwrap_or(0);
        let base = *positions;
        *positions += sets as u64;
        if most > WORDS || *positions >= POSITIONS {
            return Err("it binds more values than can be kept");
        }
        plan.environments = plan.environments.max(most.max(1) as u32);
        let short = plan.short_cell(owner, ShortOf::Sequence(id));
        let mut tables = Vec::new();
        for RequestedValues { values, filter } in wanted {
            let columns = values.values.iter().map(|(atom, binding)| column_of(*atom, *binding));
            let columns: Vec<Column> = columns.collect();
            tables.push(GuardTable {
                number: plan.tables.len() as u32,
                values: values.values.clone(),
                columns: columns.clone(),
                filter: filter.clone(),
            });
            let of = BoundOf::Sequence(values.clone());
            plan.tables.push(BoundTable { function: owner, of, columns });
        }
        let (scope, sequence) = (sequence.scope, (owner, id));
        Ok(Rc::new(Self { sequence, scope, layouts, tables, cell, short, base }))
    }

    fn name(&self) -> String {
        format!("lydian_h{}_{}", self.sequence.0, self.sequence.1.index())
    }

    /// The declaration of its sets: how many there are, and the first node of each.
    pub(crate) fn declaration(&self) -> String {
        let (name, sets) = (self.name(), self.layouts.len());
        let ends = match self.scope {
            SequenceScope::Run => "",
            SequenceScope::Activation => " __attribute__((cleanup(lydian_forget)))",
        };
        format!("unsigned int {name}[{}]{ends} = {{{sets}}}; ", sets + 1)
    }

    /// The move of the sets at a site.
    pub(crate) fn step<'a>(self: &Rc<Self>, here: SiteEvents<'a>) -> SetStep<'a> {
        SetStep { sequence: self.sequence, monitor: Rc::clone(self), here }
    }

    /// The first node of a set.
    fn set(&self, position: usize) -> String {
        format!("{}[{}]", self.name(), position + 1)
    }

    /// Whether there is an environment in a set; looked at without the lock.
    fn has_some(&self, position: usize) -> String {
        format!("__atomic_load_n(&{}, 0) != 0", self.set(position))
    }

    fn owner(&self, position: usize) -> String {
        let number = self.base + position as u64;
        match self.scope {
            SequenceScope::Run => format!("{number}ull"),
            SequenceScope::Activation => format!("lydian_n + {number}ull"),
        }
    }
}

/// The values of a set's environments: those that guards, or passages after the set, ask for.
fn layout(
    sequence: &Sequence,
    wanted: &[&RequestedValues<SequenceValues>],
    set: usize,
    column_of: &dyn Fn(u32, u32) -> Column,
) -> Vec<EnvironmentSlot> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for passage in &sequence.passages[set..] {
        if let Passage::Obliged(all) = passage {
            all.iter()
                .for_each(|duty| duty.holds.for_each_name(&mut |name| _ = names.insert(name)));
        }
    }
    let mut slots = Vec::new();
    let mut at = 0;
    for (atom, of) in (0..).zip(&sequence.atoms[..=set]) {
        for (binding, bound) in (0..).zip(&of.bindings) {
            let is_wanted =
                wanted.iter().any(|asked| asked.values.values.contains(&(atom, binding)));
            if is_wanted || names.contains(bound.name.as_str()) {
                let (name, column) = (bound.name.clone(), column_of(atom, binding));
                slots.push(EnvironmentSlot { atom, binding, name, column, at });
                at += column.words();
            }
        }
    }
    slots
}

/// If a formula says that the only value of environments differs from an expression: the
/// expression.
fn differs(formula: &Formula, slots: &[EnvironmentSlot]) -> Option<ExprId> {
    let Formula::Binary(FormulaOp::Ne, a, b) = formula else { return None };
    let (name, state) = match (&**a, &**b) {
        (Formula::Name(name), Formula::State(state))
        | (Formula::State(state), Formula::Name(name)) => (name, *state),
        _ => return None,
    };
    matches!(slots, [slot] if slot.name == *name).then_some(state)
}

/// The words of a slot of the environment `lydian_e`.
fn words_of(slot: &EnvironmentSlot) -> Vec<String> {
    (slot.at..slot.at + slot.column.words()).map(|word| format!("lydian_e[{word}]")).collect()
}

impl SetStep<'_> {
    /// The statement for it.
    pub(crate) fn text(&self, predicates: &PredicateWriter<'_>, at: u32) -> Result<String, String> {
        let SiteEvents { atoms, duties } = &self.here;
        let monitor = &*self.monitor;
        let preds: Vec<&Pred> = atoms.iter().map(|atom| atom.pred).collect();
        let (mut text, truths) = predicates.truths(&preds, at)?;
        let mut writer = ValueWriter::new(predicates, TextContext::at(at));
        let mut covered = Vec::new();
        for (atom, truth) in atoms.iter().zip(&truths) {
            let bindings = atom.atom.bindings.iter();
            let values: Vec<BoundWords> =
                bindings.map(|binding| writer.bound(&binding.value)).collect::<Result<_, _>>()?;
            let mut covers = truth.clone();
            values.iter().for_each(|value| _ = write!(covers, " & {}", value.known));
            covered.push((atom.position, format!("({covers})"), values));
        }
        let mut kept: Vec<(usize, String)> = Vec::new();
        let mut hits: Vec<(usize, String)> = Vec::new();
        for (set, formula) in duties {
            let slots = &monitor.layouts[*set];
            let alone = duties.iter().filter(|(other, _)| other == set).count() == 1;
            if let Some(state) = differs(formula, slots).filter(|_| alone) {
                hits.push((*set, self.hit(*set, writer.declare(state, false)?)));
                continue;
            }
            let name = |name: &str| {
                let slot = slots.iter().find(|slot| slot.name == name)?;
                Some((slot.column, words_of(slot)))
            };
            let holds = match formula {
                Formula::Number(0) => "0".to_owned(),
                formula => writer.formula(formula, &name)?,
            };
            kept.push((*set, holds));
        }
        let mut moves = String::new();
        let mut any = Vec::new();
        for position in (0..=monitor.layouts.len()).rev() {
            for (_, hit) in hits.iter().filter(|(set, _)| *set == position) {
                any.push(monitor.has_some(position));
                moves.push_str(hit);
            }
            let holds: Vec<&str> =
                kept.iter().filter(|(set, _)| *set == position).map(|(_, h)| h.as_str()).collect();
            if !holds.is_empty() {
                any.push(monitor.has_some(position));
                moves.push_str(&self.taken_out(position, &holds.join(" && ")));
            }
            for (_, covers, values) in covered.iter().filter(|(at, ..)| *at == position) {
                any.push(match position.checked_sub(1) {
                    None => covers.clone(),
                    Some(before) => format!("({covers} && {})", monitor.has_some(before)),
                });
                let joined = self.joined(position, values, &mut writer)?;
                let _ = write!(moves, "if ({covers}) {{ {joined}}} ");
            }
        }
        text.push_str(&writer.finish());
        Ok(format!(
            "{{ {text}if ({}) {{ if (lydian_lock()) {{ {moves}lydian_unlock(); }} \
             else lydian_hit[{}] = 1; }} }} ",
            any.join(" || "),
            monitor.short
        ))
    }

    /// Takes out of a set the environment that has a value of the state, the only one for which it
    /// does not hold that the two differ; all where the value, `lydian_z` of this number, is
    /// unknown.
    fn hit(&self, position: usize, number: usize) -> String {
        let (set, owner) = (self.monitor.set(position), self.monitor.owner(position));
        let column = self.monitor.layouts[position][0].column;
        let low = format!("(unsigned long long)lydian_z{number}");
        let (words, fits) = match column {
            Column::Unsigned => (low.clone(), format!("(lydian_u128){low} == lydian_z{number}")),
            Column::Signed => (
                low.clone(),
                format!("(lydian_u128)(lydian_s128)(long long){low} == lydian_z{number}"),
            ),
            Column::Wide => {
                let high = format!("(unsigned long long)(lydian_z{number} >> 64)");
                (format!("{low}, {high}"), "1".to_owned())
            }
        };
        let count = column.words();
        format!(
            "if (!lydian_k{number}) {{ while ({set}) lydian_drop(&{set}, {set}); }} \
             else if ({fits}) {{ unsigned long long lydian_x[] = {{{words}}}; \
             unsigned int lydian_j = lydian_find({owner}, {count}, lydian_x); \
             if (lydian_j) lydian_drop(&{set}, lydian_j); }} "
        )
    }

    /// Takes out of a set the environments for which something does not hold.
    fn taken_out(&self, position: usize, holds: &str) -> String {
        format!(
            "{{ unsigned int lydian_j, lydian_i; \
             for (lydian_j = {set}; lydian_j; lydian_j = lydian_i) {{ \
             const unsigned long long *lydian_e = lydian_values(lydian_j); (void)lydian_e; \
             lydian_i = lydian_next(lydian_j); \
             if (!({holds})) lydian_drop(&{set}, lydian_j); }} }} ",
            set = self.monitor.set(position)
        )
    }

    /// Joins the bindings of an atom to the environments of its predecessor.
    fn joined(
        &self,
        position: usize,
        own: &[BoundWords],
        writer: &mut ValueWriter<'_, '_>,
    ) -> Result<String, String> {
        let monitor = &*self.monitor;
        let previous = position.checked_sub(1).map(|before| &monitor.layouts[before]);
        // The words of a binding of an atom up to this one.
        let words = |atom: u32, binding: u32| -> Vec<String> {
            if atom as usize == position {
                return own[binding as usize].words.clone();
            }
            let known = previous.into_iter().flatten();
            let slot = known.into_iter().find(|slot| (slot.atom, slot.binding) == (atom, binding));
            slot.map(words_of).unwrap_or_default()
        };
        let array = |words: &[String]| match words.is_empty() {
            true => "0".to_owned(),
            false => words.join(", "),
        };
        let put = match monitor.layouts.get(position) {
            Some(slots) => {
                let all: Vec<String> =
                    slots.iter().flat_map(|slot| words(slot.atom, slot.binding)).collect();
                format!(
                    "{{ unsigned long long lydian_x[] = {{{}}}; \
                     if (!lydian_add(&{}, {}, {}, lydian_x)) lydian_hit[{}] = 1; }} ",
                    array(&all),
                    monitor.set(position),
                    monitor.owner(position),
                    all.len(),
                    monitor.short
                )
            }
            None => {
                let mut put = format!("lydian_hit[{}] = 1; ", monitor.cell);
                for table in &monitor.tables {
                    let values = table.values.iter();
                    let values: Vec<Vec<String>> =
                        values.map(|(atom, binding)| words(*atom, *binding)).collect();
                    let name = |name: &str| {
                        let position: usize = name.parse().ok()?;
                        Some((*table.columns.get(position)?, values.get(position)?.clone()))
                    };
                    let holds = match &table.filter {
                        Some(filter) => format!("if ({}) ", writer.formula(filter, &name)?),
                        None => String::new(),
                    };
                    let all: Vec<String> = values.concat();
                    let _ = write!(
                        put,
                        "{holds}{{ unsigned long long lydian_x[] = {{{}}}; \
                         if (!lydian_row({}, {}, lydian_x)) lydian_hit[{}] = 1; }} ",
                        array(&all),
                        table.number,
                        all.len(),
                        monitor.short
                    );
                }
                put
            }
        };
        let Some(before) = position.checked_sub(1) else { return Ok(put) };
        Ok(format!(
            "{{ unsigned int lydian_j; for (lydian_j = {}; lydian_j; \
             lydian_j = lydian_next(lydian_j)) {{ \
             const unsigned long long *lydian_e = lydian_values(lydian_j); (void)lydian_e; \
             {put}}} }} ",
            monitor.set(before)
        ))
    }
}
