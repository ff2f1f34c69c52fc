//! Sequences whose bound values matter: sets of environments in the place of bits.
//!
//! Set `i` of a sequence holds the environments with which its first `i + 1` atoms were covered in
//! order, all that is asked between them holding so far: each as the values that a later passage or
//! a guard asks for, and each once. At an event the sets move from the last to the first, so that an
//! event stands for one atom only: what a passage asks at the site takes environments out, then an
//! atom joins what it binds to those of its predecessor. Where the last atom does, the values that
//! guards ask for go to the sequence's table. What takes out the one environment that has a value, as
//! the definition of an array's cell does, finds it by its hash. So all environments that [002] VII-A demands are kept;
//! where there is no room for one, a cell says so.
//!
//! The sets of a sequence of a run are variables of the text; those of a sequence of one activation
//! are the activation's own, and are emptied where it ends. Their nodes come from one array
//! (`runtime/environments.h`).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::rc::Rc;

use lydian_base::EntityId as _;
use lydian_ir::{CastOp, Expr, ExprId, FuncId, Type};
use lydian_objective::coverage_record::{RequestedValues, SequenceValues};
use lydian_objective::hyper::{BoundValue, Formula, FormulaOp, Passage, Sequence, SequenceScope};
use lydian_objective::{Pred, SequenceId};
use rustc_hash::FxHashMap;

use super::RewriteRequest;
use super::hooks::{Hooks, POISON, Standing};
use super::monitors::Here;
use crate::plan::{BoundOf, BoundTable, Column, Plan, ShortOf};

/// The number of an activation, a variable at the start of its body.
pub(super) const ACTIVATION: &str = "unsigned long long lydian_n = \
     __atomic_add_fetch(&lydian_activations, 1ull, 0) << 20; ";

/// Its source.
pub(super) const ACTIVATIONS: &str =
    "static unsigned long long lydian_activations __attribute__((aligned(8)));\n";

/// The most words of an environment.
const WORDS: usize = 32;

/// The most positions of sequences with sets in a text, which owners of nodes are told apart by.
const POSITIONS: u64 = 1 << 20;

/// A value that was evaluated.
#[derive(Clone, Debug)]
pub(super) struct Value {
    /// Whether it is known: a C expression without effects.
    pub(super) known: String,
    /// Its words.
    pub(super) words: Vec<String>,
}

/// The words of metavariables, and how they are kept.
pub(super) type Metavariables<'n> = dyn Fn(&str) -> Option<(Column, Vec<String>)> + 'n;

/// How a bound value is kept.
pub(super) fn column(request: &RewriteRequest<'_>, function: usize, bound: &BoundValue) -> Column {
    let BoundValue::Expr(expr) = bound else { return Column::Unsigned };
    let exprs = &request.watched[function].exprs;
    match &exprs[*expr] {
        Expr::Cast(CastOp::SExt, Type::Int(128), _) => Column::Signed,
        Expr::Cast(CastOp::ZExt, Type::Int(128), _) => Column::Unsigned,
        Expr::Const(Type::Int(128), bits) if i64::try_from(*bits as i128).is_ok() => Column::Signed,
        _ => {
            let body = request.program.functions[request.watched[function].function].body.as_ref();
            let ty = body.map(|body| body.types_in(exprs)[*expr]);
            match ty {
                Some(Type::Int(128)) | None => Column::Wide,
                Some(_) => Column::Unsigned,
            }
        }
    }
}

/// Writes values and formulas at one place of a text.
pub(super) struct Values<'h, 'a> {
    hooks: &'h Hooks<'a>,
    standing: Standing<'h>,
    declarations: String,
    known: FxHashMap<(ExprId, bool), usize>,
    preds: usize,
}

impl<'h, 'a> Values<'h, 'a> {
    pub(super) fn new(hooks: &'h Hooks<'a>, standing: Standing<'h>) -> Self {
        let known = FxHashMap::default();
        Self { hooks, standing, declarations: String::new(), known, preds: 0 }
    }

    /// The declarations that what was written needs before it.
    pub(super) fn finish(self) -> String {
        self.declarations
    }

    /// Declares the value of an expression, of the given type in C. Returns the number of the
    /// variables `lydian_z` and `lydian_k`, its value and whether it is known.
    fn declare(&mut self, expr: ExprId, half: bool) -> Result<usize, String> {
        if let Some(number) = self.known.get(&(expr, half)) {
            return Ok(*number);
        }
        let text = self.hooks.text(expr, self.standing)?;
        let number = self.known.len();
        let ty = if half { "unsigned long long" } else { "lydian_u128" };
        let _ = write!(
            self.declarations,
            "{POISON} = 0; {ty} lydian_z{number} = ({ty})({text}); \
             int lydian_k{number} = !{POISON}; (void)lydian_k{number}; "
        );
        self.known.insert((expr, half), number);
        Ok(number)
    }

    /// What is bound, in words.
    pub(super) fn bound(&mut self, bound: &BoundValue) -> Result<Value, String> {
        let expr = match bound {
            BoundValue::Expr(expr) => *expr,
            BoundValue::Truth(pred) => return self.truth(pred),
        };
        let objectives = self.hooks.objectives();
        let value = |number: usize| format!("lydian_z{number}");
        let known = |number: usize| format!("lydian_k{number}");
        let single = |number: usize| Value { known: known(number), words: vec![value(number)] };
        match &objectives.exprs[expr] {
            Expr::Cast(CastOp::SExt, Type::Int(128), of) => {
                let number = self.declare(*of, true)?;
                let width = self.hooks.width(*of);
                let word = match width {
                    1 => format!("(0ull - lydian_z{number})"),
                    _ => {
                        let by = 64 - width;
                        format!(
                            "(unsigned long long)((long long)(lydian_z{number} << {by}) >> {by})"
                        )
                    }
                };
                Ok(Value { known: known(number), words: vec![word] })
            }
            Expr::Cast(CastOp::ZExt, Type::Int(128), of) => Ok(single(self.declare(*of, true)?)),
            Expr::Const(Type::Int(128), bits) if i64::try_from(*bits as i128).is_ok() => {
                Ok(Value { known: "1".to_owned(), words: vec![format!("{}ull", *bits as u64)] })
            }
            _ if self.hooks.width(expr) == 128 => {
                let number = self.declare(expr, false)?;
                let words = vec![
                    format!("(unsigned long long)lydian_z{number}"),
                    format!("(unsigned long long)(lydian_z{number} >> 64)"),
                ];
                Ok(Value { known: known(number), words })
            }
            _ => Ok(single(self.declare(expr, true)?)),
        }
    }

    /// A truth value.
    fn truth(&mut self, pred: &Pred) -> Result<Value, String> {
        let (declarations, rails) = self.hooks.rails(pred, self.standing)?;
        let number = self.preds;
        self.preds += 1;
        let _ = write!(
            self.declarations,
            "int lydian_yes{number}, lydian_no{number}; {{ {declarations}\
             lydian_yes{number} = {}; lydian_no{number} = {}; }} ",
            rails.yes, rails.no
        );
        let known = format!("(lydian_yes{number} | lydian_no{number})");
        Ok(Value { known, words: vec![format!("(unsigned long long)lydian_yes{number}")] })
    }

    /// A C expression for whether a formula surely holds. `name` gives the words of a metavariable
    /// and how it is kept.
    pub(super) fn formula(
        &mut self,
        formula: &Formula,
        name: &Metavariables<'_>,
    ) -> Result<String, String> {
        if !self.hooks.has_wide_integers() {
            return Err("its formula needs integers of 128 bits".to_owned());
        }
        Ok(format!("lydian_f_holds({})", self.operand(formula, name)?))
    }

    fn operand(&mut self, formula: &Formula, name: &Metavariables<'_>) -> Result<String, String> {
        let wide = |high: &str, low: &str| {
            format!("lydian_f(1, (lydian_u128)({high}) << 64 | (lydian_u128)({low}))")
        };
        Ok(match formula {
            Formula::Number(number) => {
                let bits = *number as u128;
                wide(&format!("{}ull", (bits >> 64) as u64), &format!("{}ull", bits as u64))
            }
            Formula::Name(of) => match name(of) {
                Some((Column::Wide, words)) => wide(&words[1], &words[0]),
                Some((Column::Unsigned, words)) => format!("lydian_f(1, {})", words[0]),
                Some((Column::Signed, words)) => {
                    format!("lydian_f(1, (lydian_u128)(lydian_s128)(long long){})", words[0])
                }
                None => return Err("it asks for a value that nothing binds".to_owned()),
            },
            Formula::State(expr) => {
                let number = self.declare(*expr, false)?;
                format!("lydian_f(lydian_k{number}, lydian_z{number})")
            }
            Formula::Not(a) => format!("lydian_f_not({})", self.operand(a, name)?),
            Formula::Negate(a) => format!("lydian_f_neg({})", self.operand(a, name)?),
            Formula::Binary(op, a, b) => {
                let (a, b) = (self.operand(a, name)?, self.operand(b, name)?);
                format!("lydian_f_{}({a}, {b})", name_of(*op))
            }
        })
    }
}

const fn name_of(op: FormulaOp) -> &'static str {
    match op {
        FormulaOp::And => "and",
        FormulaOp::Or => "or",
        FormulaOp::Eq => "eq",
        FormulaOp::Ne => "ne",
        FormulaOp::Lt => "lt",
        FormulaOp::Le => "le",
        FormulaOp::Gt => "gt",
        FormulaOp::Ge => "ge",
        FormulaOp::Add => "add",
        FormulaOp::Sub => "sub",
        FormulaOp::Mul => "mul",
        FormulaOp::Div => "div",
        FormulaOp::Rem => "rem",
    }
}

/// Values of formulas as `lydian_objective::hyper` has them: integers of 128 bits, unknown where an
/// operand is, a divisor is zero or a result has no room.
pub(super) fn formulas() -> String {
    const INLINE: &str = "static __inline__ __attribute__((unused))";
    let mut text = format!(
        "struct lydian_f {{ int known; lydian_s128 value; }};\n\
         {INLINE} struct lydian_f lydian_f(int known, lydian_u128 value) \
         {{ struct lydian_f f; f.known = known; f.value = (lydian_s128)value; return f; }}\n\
         {INLINE} int lydian_f_holds(struct lydian_f a) {{ return a.known && a.value != 0; }}\n\
         {INLINE} struct lydian_f lydian_f_not(struct lydian_f a) \
         {{ a.value = a.value == 0; return a; }}\n\
         {INLINE} int lydian_f_least(lydian_s128 a) \
         {{ return (lydian_u128)a == (lydian_u128)1 << 127; }}\n\
         {INLINE} struct lydian_f lydian_f_neg(struct lydian_f a) \
         {{ return lydian_f(a.known && !lydian_f_least(a.value), 0 - (lydian_u128)a.value); }}\n\
         {INLINE} struct lydian_f lydian_f_and(struct lydian_f a, struct lydian_f b) {{ \
         int no = (a.known && a.value == 0) || (b.known && b.value == 0); \
         return lydian_f(no || (a.known && b.known), !no); }}\n\
         {INLINE} struct lydian_f lydian_f_or(struct lydian_f a, struct lydian_f b) {{ \
         int yes = (a.known && a.value != 0) || (b.known && b.value != 0); \
         return lydian_f(yes || (a.known && b.known), yes); }}\n"
    );
    let mut operator = |name: &str, body: &str| {
        let _ = writeln!(
            text,
            "{INLINE} struct lydian_f lydian_f_{name}(struct lydian_f a, struct lydian_f b) {{ \
             int known = a.known && b.known; lydian_u128 x = (lydian_u128)a.value, \
             y = (lydian_u128)b.value, z = 0; {body} return lydian_f(known, z); }}"
        );
    };
    for (name, sign) in
        [("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")]
    {
        operator(name, &format!("z = a.value {sign} b.value;"));
    }
    operator("add", "z = x + y; known = known && !((~(x ^ y) & (x ^ z)) >> 127);");
    operator("sub", "z = x - y; known = known && !(((x ^ y) & (x ^ z)) >> 127);");
    operator(
        "mul",
        "lydian_u128 m = a.value < 0 ? 0 - x : x, n = b.value < 0 ? 0 - y : y; \
         int minus = (a.value < 0) != (b.value < 0); \
         lydian_u128 most = ((lydian_u128)1 << 127) - !minus; \
         if (known && m != 0 && n > most / m) known = 0; \
         z = minus ? 0 - m * n : m * n;",
    );
    let divides = "known = known && y != 0 && !(lydian_f_least(a.value) && b.value == -1); \
                   if (known) z = (lydian_u128)";
    operator("div", &format!("{divides}(a.value / b.value);"));
    operator("rem", &format!("{divides}(a.value % b.value);"));
    text
}

/// A sequence's sets.
#[derive(Debug)]
pub(super) struct SetMonitor {
    sequence: (u32, SequenceId),
    scope: SequenceScope,
    /// For each set the values of its environments, in order: atom, binding, column, first word.
    layouts: Vec<Vec<Slot>>,
    tables: Vec<Table>,
    cell: usize,
    short: u32,
    /// The number of its first set among all of the text.
    base: u64,
}

/// A table of values that guards ask for.
#[derive(Debug)]
struct Table {
    number: u32,
    /// The values in order: atom and binding.
    values: Vec<(u32, u32)>,
    columns: Vec<Column>,
    /// What rows must satisfy to be kept.
    filter: Option<Formula>,
}

/// A value of an environment.
#[derive(Clone, Debug)]
struct Slot {
    atom: u32,
    binding: u32,
    name: String,
    column: Column,
    /// Its first word.
    at: usize,
}

/// What happens to a sequence's sets at an event of a site.
#[derive(Debug)]
pub(super) struct SetStep<'a> {
    pub(super) sequence: (u32, SequenceId),
    monitor: Rc<SetMonitor>,
    here: Here<'a>,
}

impl SetMonitor {
    /// Lays out the sets of a sequence, and adds its tables to the plan. `cell` is set where it is
    /// covered; `positions` counts the sets of the text.
    ///
    /// # Errors
    /// Why it cannot be followed.
    pub(super) fn new(
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
            column(request, numbers[&atom.function], &atom.bindings[binding as usize].value)
        };
        let sets = sequence.passages.len();
        let layouts: Vec<Vec<Slot>> =
            (0..sets).map(|set| layout(sequence, wanted, set, &column_of)).collect();
        let words = |slots: &[Slot]| slots.last().map_or(0, |last| last.at + last.column.words());
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
            tables.push(Table {
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
    pub(super) fn declaration(&self) -> String {
        let (name, sets) = (self.name(), self.layouts.len());
        let ends = match self.scope {
            SequenceScope::Run => "",
            SequenceScope::Activation => " __attribute__((cleanup(lydian_forget)))",
        };
        format!("unsigned int {name}[{}]{ends} = {{{sets}}}; ", sets + 1)
    }

    /// What happens at a site.
    pub(super) fn step<'a>(self: &Rc<Self>, here: Here<'a>) -> SetStep<'a> {
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

/// The values that the environments of a set have: those that guards or passages after it ask for.
fn layout(
    sequence: &Sequence,
    wanted: &[&RequestedValues<SequenceValues>],
    set: usize,
    column_of: &dyn Fn(u32, u32) -> Column,
) -> Vec<Slot> {
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
                slots.push(Slot { atom, binding, name, column, at });
                at += column.words();
            }
        }
    }
    slots
}

/// The expression from which a formula says that the only value of environments differs.
fn differs(formula: &Formula, slots: &[Slot]) -> Option<ExprId> {
    let Formula::Binary(FormulaOp::Ne, a, b) = formula else { return None };
    let (name, state) = match (&**a, &**b) {
        (Formula::Name(name), Formula::State(state))
        | (Formula::State(state), Formula::Name(name)) => (name, *state),
        _ => return None,
    };
    matches!(slots, [slot] if slot.name == *name).then_some(state)
}

/// The words of a slot of the environment `lydian_e`.
fn words_of(slot: &Slot) -> Vec<String> {
    (slot.at..slot.at + slot.column.words()).map(|word| format!("lydian_e[{word}]")).collect()
}

impl SetStep<'_> {
    /// The statement for it.
    pub(super) fn text(&self, hooks: &Hooks<'_>, at: u32) -> Result<String, String> {
        let Here { atoms, duties } = &self.here;
        let monitor = &*self.monitor;
        let preds: Vec<&Pred> = atoms.iter().map(|atom| atom.pred).collect();
        let (mut text, truths) = hooks.truths(&preds, at)?;
        let mut writer = Values::new(hooks, Standing::at(at));
        let mut covered = Vec::new();
        for (atom, truth) in atoms.iter().zip(&truths) {
            let bindings = atom.atom.bindings.iter();
            let values: Vec<Value> =
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
    /// does not hold that the two differ; all where the value, `lydian_z` of this number, is unknown.
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

    /// Joins what an atom binds to the environments of its predecessor.
    fn joined(
        &self,
        position: usize,
        own: &[Value],
        writer: &mut Values<'_, '_>,
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
