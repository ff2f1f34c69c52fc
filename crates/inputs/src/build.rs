//! Construction of input plans.
//!
//! Pointers are followed breadth first, so that a limit cuts off the deepest ones, in an order that
//! depends on the program and the settings alone. Attributes that need another pointer's target (`end`,
//! `into`, aliases) or another place's value (lengths) are resolved at the end, when every place has
//! its term.

pub(crate) mod layout;
mod objects;
mod pointers;
mod relations;
mod results;
mod writes;

pub use results::asked_for;
pub use writes::{MOST_WRITTEN, OutTarget, PreviousPointer};

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lydian_base::EntityId;
use lydian_ir::test::INPUT_REGION;
use lydian_ir::variadic;
use lydian_ir::{CType, CTypeId, FuncId, GlobalId, GlobalInit, IntKind, Program, Type};
use lydian_objective::{Assumption, AssumptionKind};
use lydian_smt::{Sort, Term, TermPool};

use crate::bounds::{Bound, Reach};
use crate::build::layout::{Bits, Leaf, LeafKind, OmittedPart, PointerChoice, View, layout};
use crate::callback::is_given_length;
use crate::globals::{GlobalUses, can_be_input};
use crate::guess::{is_text, parameter_name, variable_argument_name};
use crate::lazy::telling;
use crate::place::InputPlace;
use crate::plan::{
    ARGUMENT_ROOM, Addresses, ArgPlan, CellPlan, Cursor, ExternalPlan, FURTHER_CALL, GAP,
    GlobalPlan, InputPlan, ObjectPlan, PlanError, RawPointer, VARIABLE_ARGUMENT,
};
use crate::settings::length::Length;
use crate::settings::{Kind, PlaceSettings};
use crate::spec::fit;
use crate::spec::{FunctionSpec, InputSpec, Trail};
use crate::value::{RestrictedNumber, constant, sort_of};

/// Objects of one plan before further pointers are null.
const MAX_OBJECTS: usize = 256;

/// Scalars of one plan before further pointers are null.
const MAX_CELLS: usize = 1 << 16;

/// Plans the inputs of a function. The same program, settings and addresses give the same plan, and the
/// same terms in a pool that already has its symbols. `observed` are the globals that the predicates of
/// its objectives read.
pub fn plan(
    pool: &mut TermPool,
    program: &Program,
    function: FuncId,
    spec: &InputSpec,
    addresses: &dyn Addresses,
    observed: &BTreeSet<GlobalId>,
) -> Result<InputPlan, PlanError> {
    let cursor = Cursor { next: INPUT_REGION + GAP };
    let mut builder = Builder::new(pool, program, function, spec, addresses, cursor, None);
    let params = builder.parameters();
    let mut args = Vec::new();
    for (position, ty) in params.into_iter().enumerate() {
        let name = parameter_name(program, function, position);
        let place = InputPlace::root(name.clone());
        let Some(size) = program.types.size(ty) else { return Err(builder.incomplete(&place, ty)) };
        let block = builder.add_block(None);
        builder.lay(Site { block, depth: 0, global: None }, ty, 0, &place, &Trail::new())?;
        args.push((block, ArgPlan { name, ty, size, cells: Vec::new() }));
    }
    let mut planned = Vec::new();
    for global in builder.input_globals(observed)? {
        let place = InputPlace::root(program.globals[global].name.clone());
        if program.types.size(program.globals[global].ty).is_none() {
            let sentence = format!("{place} has no elements, since nothing says how many");
            builder.bound((AssumptionKind::Size, &place), sentence, false, Reach::Always);
            continue;
        }
        let block = builder.add_block(Some(addresses.global(global)));
        builder.bound_given_length(global, &place);
        let site = Site { block, depth: 0, global: Some(global) };
        builder.lay(site, program.globals[global].ty, 0, &place, &Trail::new())?;
        planned.push((block, global));
    }
    let preconditions = builder.preconditions()?;
    builder.finish()?;
    builder.check_set_places()?;
    let args = args.into_iter().map(|(block, arg)| {
        let cells = builder.take_cells(block);
        ArgPlan { cells, ..arg }
    });
    let args = args.collect();
    let globals = planned.into_iter().map(|(block, global)| {
        let cells = builder.take_cells(block);
        GlobalPlan { global, cells }
    });
    let globals = globals.collect();
    Ok(InputPlan {
        function,
        args,
        globals,
        objects: builder.take_objects(),
        constraints: builder.constraints,
        preferences: builder.preferences,
        preconditions,
        assumptions: builder.assumptions,
        bounds: builder.bounds,
        raw_pointers: builder.raw_pointers,
        cursor: builder.cursor,
    })
}

/// A call of an undefined function on a path.
#[derive(Clone, Copy, Debug)]
pub struct ExternalCall<'a> {
    /// The function.
    pub function: FuncId,
    /// The number of earlier calls of it on the path.
    pub nth: u32,
    /// The targets that it may write.
    pub targets: &'a [OutTarget],
    /// The bytes that it is asked for, if they are known and it returns `void *`.
    pub bytes: Option<u64>,
    /// The state's next free address for objects.
    pub cursor: Cursor,
}

/// Fresh inputs for the result of a call of an undefined function and for what it writes.
pub fn external_result(
    pool: &mut TermPool,
    program: &Program,
    call: ExternalCall<'_>,
    spec: &InputSpec,
    addresses: &dyn Addresses,
) -> Result<ExternalPlan, PlanError> {
    let ExternalCall { function, nth, targets, bytes, cursor } = call;
    let declared = &program.functions[function];
    let CType::Function { result, .. } = program.types.get(declared.ty) else {
        unreachable!("the type of a function is a function type");
    };
    let shown = format!("{}()#{nth}", declared.name);
    let mut builder = Builder::new(pool, program, function, spec, addresses, cursor, Some(shown));
    let block = builder.add_block(None);
    let size = match program.types.get(*result) {
        CType::Void => 0,
        _ => {
            let place = InputPlace::root("result");
            let size = program.types.size(*result);
            let size = size.ok_or_else(|| builder.incomplete(&place, *result))?;
            let site = Site { block, depth: 0, global: None };
            builder.lay(site, *result, 0, &place, &Trail::new())?;
            if let Some(bytes) = bytes {
                builder.set_result_size(bytes);
            }
            size
        }
    };
    let writes = builder.open_writes(targets)?;
    builder.finish()?;
    let writes = builder.close_writes(writes, targets);
    let plan = builder.into_external(&declared.name, nth, (*result, size), block);
    Ok(ExternalPlan { writes, ..plan })
}

/// The reading of a further argument for `...` on a path.
#[derive(Clone, Copy, Debug)]
pub struct VariableRead {
    /// The function under test.
    pub function: FuncId,
    /// The number of its earlier arguments for `...`.
    pub nth: u32,
    /// The type that it is read with, a scalar's.
    pub ty: CTypeId,
    /// The state's next free address for objects.
    pub cursor: Cursor,
}

/// A fresh input for an argument for `...`. A pointer to `char` points to a string, unless settings
/// say otherwise.
pub fn variable_argument(
    pool: &mut TermPool,
    program: &Program,
    read: VariableRead,
    spec: &InputSpec,
    addresses: &dyn Addresses,
) -> Result<ExternalPlan, PlanError> {
    let VariableRead { function, nth, ty, cursor } = read;
    let mut builder = Builder::new(pool, program, function, spec, addresses, cursor, None);
    let position = builder.parameters().len() + nth as usize;
    let place = InputPlace::root(variable_argument_name(program, function, position));
    let size = program.types.size(ty).ok_or_else(|| builder.incomplete(&place, ty))?;
    let block = builder.add_block(None);
    let site = Site { block, depth: 0, global: None };
    builder.lay(site, ty, 0, &place, &Trail::new())?;
    builder.take_for_text();
    builder.finish()?;
    Ok(builder.into_external(VARIABLE_ARGUMENT, nth, (ty, size), block))
}

/// A further call of the function under test on a path.
#[derive(Clone, Copy, Debug)]
pub struct FurtherCall {
    /// The function, all of whose parameters are scalars.
    pub function: FuncId,
    /// The number of earlier further calls on the path.
    pub nth: u32,
    /// The state's next free address for objects.
    pub cursor: Cursor,
}

/// Fresh inputs for the arguments of a further call.
pub fn further_call(
    pool: &mut TermPool,
    program: &Program,
    call: FurtherCall,
    spec: &InputSpec,
    addresses: &dyn Addresses,
) -> Result<ExternalPlan, PlanError> {
    let FurtherCall { function, nth, cursor } = call;
    let mut builder = Builder::new(pool, program, function, spec, addresses, cursor, None);
    builder.further_call = Some(nth);
    let block = builder.add_block(None);
    let params = builder.parameters();
    for (position, ty) in params.iter().enumerate() {
        let place = InputPlace::root(parameter_name(program, function, position));
        let site = Site { block, depth: 0, global: None };
        builder.lay(site, *ty, position as u64 * ARGUMENT_ROOM, &place, &Trail::new())?;
    }
    builder.finish()?;
    let size = params.len() as u64 * ARGUMENT_ROOM;
    Ok(builder.into_external(FURTHER_CALL, nth, (CTypeId::from_index(0), size), block))
}

/// The block that scalars are being placed in.
#[derive(Clone, Copy)]
struct Site {
    block: usize,
    /// The number of pointers on the way here.
    depth: u32,
    /// The global, if it is one.
    global: Option<GlobalId>,
}

/// A pointer whose value is not yet determined.
struct Slot {
    site: Site,
    /// Its position among the block's cells.
    cell: usize,
    ty: CTypeId,
    place: InputPlace,
    trail: Trail,
    /// In a union: the condition under which this pointer is the chosen member. Otherwise the cell
    /// keeps its bits.
    guard: Option<Term>,
    set: PlaceSettings,
}

/// The target of a pointer that is not null and no alias.
#[derive(Clone, Copy)]
struct Pointee {
    object: usize,
    address: u64,
    is_null: Term,
}

/// An object whose length is resolved when its terms are known.
struct OpenLength {
    object: usize,
    place: InputPlace,
    /// `None`: a symbol of its own, if a pointer to the end asks for it.
    length: Option<Length>,
    /// Whether the user did not state it.
    guessed: bool,
    is_null: Term,
    element: u64,
    /// Bytes before the first counted element: of a flexible array member, or of elements before the
    /// pointer.
    start: u64,
    /// Elements at most.
    capacity: u64,
}

/// The value at a place.
#[derive(Clone, Copy)]
struct Scalar {
    value: Term,
    signed: bool,
}

struct Builder<'a> {
    pool: &'a mut TermPool,
    program: &'a Program,
    function: FuncId,
    spec: FunctionSpec<'a>,
    globals: &'a GlobalUses,
    addresses: &'a dyn Addresses,
    cursor: Cursor,
    /// The shown name of a call's result. Places that the call writes are shown with it as a suffix.
    root_shown: Option<String>,
    /// The number of the further call of the function under test that the inputs are for, from 0; none
    /// for the first call.
    further_call: Option<u32>,
    blocks: Vec<Vec<CellPlan>>,
    objects: Vec<(usize, ObjectPlan)>,
    waiting: VecDeque<Slot>,
    related: Vec<Slot>,
    lengths: Vec<OpenLength>,
    scalars: BTreeMap<InputPlace, Scalar>,
    /// The accesses that read the numbers that may have any value of their type.
    readings: BTreeMap<InputPlace, Reach>,
    targets: BTreeMap<InputPlace, Pointee>,
    /// Pointers that are null because of a limit.
    cut_off: BTreeSet<InputPlace>,
    symbols: BTreeSet<String>,
    cells: usize,
    constraints: Vec<Term>,
    preferences: Vec<Term>,
    assumptions: Vec<String>,
    bounds: Vec<Bound>,
    raw_pointers: Vec<RawPointer>,
    /// The address of the object or global of each block, if it is known.
    bases: Vec<Option<u64>>,
}

impl<'a> Builder<'a> {
    fn new(
        pool: &'a mut TermPool,
        program: &'a Program,
        function: FuncId,
        spec: &'a InputSpec,
        addresses: &'a dyn Addresses,
        cursor: Cursor,
        root_shown: Option<String>,
    ) -> Self {
        Self {
            pool,
            program,
            function,
            spec: spec.for_function(program, function),
            globals: &spec.globals,
            addresses,
            cursor,
            root_shown,
            further_call: None,
            blocks: Vec::new(),
            objects: Vec::new(),
            waiting: VecDeque::new(),
            related: Vec::new(),
            lengths: Vec::new(),
            scalars: BTreeMap::new(),
            readings: BTreeMap::new(),
            targets: BTreeMap::new(),
            cut_off: BTreeSet::new(),
            symbols: BTreeSet::new(),
            cells: 0,
            constraints: Vec::new(),
            preferences: Vec::new(),
            assumptions: Vec::new(),
            bounds: Vec::new(),
            raw_pointers: Vec::new(),
            bases: Vec::new(),
        }
    }

    // ---- what is planned --------------------------------------------------------------------

    fn parameters(&self) -> Vec<CTypeId> {
        match self.program.types.get(self.program.functions[self.function].ty) {
            CType::Function { params, .. } => params.clone(),
            _ => unreachable!("the type of a function is a function type"),
        }
    }

    /// Turns the builder into the plan of a value of type `ty` and `size` bytes in block `block`,
    /// without writes.
    fn into_external(
        mut self,
        function: &str,
        nth: u32,
        (ty, size): (CTypeId, u64),
        block: usize,
    ) -> ExternalPlan {
        ExternalPlan {
            function: function.to_owned(),
            nth,
            object: None,
            ty,
            size,
            cells: self.take_cells(block),
            writes: Vec::new(),
            objects: self.take_objects(),
            constraints: self.constraints,
            preferences: self.preferences,
            assumptions: self.assumptions,
            bounds: self.bounds,
            raw_pointers: self.raw_pointers,
            cursor: self.cursor,
        }
    }

    /// Makes the waiting pointers to `char` point to strings unless a setting says what they point to.
    fn take_for_text(&mut self) {
        let types = &self.program.types;
        for slot in &mut self.waiting {
            let text = types.pointee(slot.ty).is_some_and(|pointee| is_text(types, pointee));
            if text && slot.set.implied_kind().is_none() {
                slot.set.kind = Some(Kind::String);
            }
        }
    }

    fn input_globals(&self, observed: &BTreeSet<GlobalId>) -> Result<Vec<GlobalId>, PlanError> {
        let Some(names) = self.spec.globals() else {
            return Ok(self.globals.inputs_of(self.program, self.function, observed));
        };
        let mut found = BTreeSet::new();
        for name in names {
            let id = self.program.global_named(name);
            let id = id.filter(|id| can_be_input(self.program, *id));
            let why = "is no global variable that can be set";
            found.insert(id.ok_or_else(|| self.wrong(&InputPlace::root(name.clone()), why))?);
        }
        Ok(found.into_iter().collect())
    }

    fn preconditions(&self) -> Result<Vec<FuncId>, PlanError> {
        let name = &self.program.functions[self.function].name;
        let texts = self.spec.preconditions().iter().enumerate();
        texts
            .map(|(n, text)| {
                let compiled = InputSpec::precondition_name(name, n);
                let found = self.program.function_named(&compiled);
                let why = "is a precondition that was not compiled";
                found.ok_or_else(|| self.wrong(&InputPlace::root(text.clone()), why))
            })
            .collect()
    }

    /// The names that arguments for `...` can have.
    fn variable_arguments(&self) -> impl Iterator<Item = String> {
        let room = variadic::room(self.program, self.function);
        let fixed = self.parameters().len();
        let positions = fixed..fixed + room.words + room.floats;
        positions.map(|position| variable_argument_name(self.program, self.function, position))
    }

    /// An error if a place in the settings begins with a name that the function does not have, which is
    /// a mistake of the user.
    fn check_set_places(&self) -> Result<(), PlanError> {
        let names: BTreeSet<&str> =
            self.scalars.keys().chain(self.targets.keys()).map(|place| &*place.root).collect();
        let declared = (0..self.parameters().len())
            .map(|position| parameter_name(self.program, self.function, position));
        let variable: BTreeSet<String> = self.variable_arguments().collect();
        let declared: BTreeSet<String> = declared.chain(variable.iter().cloned()).collect();
        for place in self.spec.set_places() {
            let root = place.root.as_str();
            let known = names.contains(root)
                || declared.contains(root)
                || self.program.global_named(root).is_some();
            if !known {
                return Err(self.wrong(place, "begins with no parameter or global variable"));
            }
            if !variable.contains(root) {
                let fits = fit::fits(self.program, self.function, place);
                fits.map_err(|why| self.wrong(place, why))?;
            }
        }
        Ok(())
    }

    fn wrong(&self, place: &InputPlace, why: impl Into<String>) -> PlanError {
        PlanError::Setting {
            function: self.program.functions[self.function].name.clone(),
            place: place.to_string(),
            why: why.into(),
        }
    }

    fn incomplete(&self, place: &InputPlace, ty: CTypeId) -> PlanError {
        PlanError::Incomplete {
            function: self.program.functions[self.function].name.clone(),
            place: place.to_string(),
            ty: self.program.types.spell(ty, ""),
        }
    }

    // ---- scalars ----------------------------------------------------------------------------

    fn add_block(&mut self, base: Option<u64>) -> usize {
        self.blocks.push(Vec::new());
        self.bases.push(base);
        self.blocks.len() - 1
    }

    fn take_cells(&mut self, block: usize) -> Vec<CellPlan> {
        let mut cells = std::mem::take(&mut self.blocks[block]);
        cells.sort_by_key(|cell| cell.offset);
        cells
    }

    fn take_objects(&mut self) -> Vec<ObjectPlan> {
        let objects = std::mem::take(&mut self.objects);
        let with_cells = objects.into_iter().map(|(block, object)| {
            let cells = self.take_cells(block);
            ObjectPlan { cells, ..object }
        });
        with_cells.collect()
    }

    /// The text of a place for the user.
    fn shown(&self, place: &InputPlace) -> String {
        match &self.root_shown {
            None => match self.further_call {
                None => place.to_string(),
                Some(nth) => format!("{place} in call {}", nth + 2),
            },
            Some(root) if place.root == "result" => {
                InputPlace { root: root.clone(), steps: place.steps.clone() }.to_string()
            }
            Some(call) => format!("{place} after {call}"),
        }
    }

    /// A symbol that this plan has not used. Another plan in the same pool has it too.
    fn symbol(&mut self, name: String, sort: Sort) -> Term {
        self.symbol_with_default(name, sort, 0)
    }

    /// The same with its value in models that do not mention it.
    fn symbol_with_default(&mut self, name: String, sort: Sort, default: u64) -> Term {
        let mut name = name;
        while self.symbols.contains(&name) {
            name.push('\'');
        }
        self.symbols.insert(name.clone());
        match self.pool.find_var(&name) {
            Some(known) if self.pool.sort(known) != sort => {
                let with_sort = format!("{name}:{sort}");
                self.symbol_with_default(with_sort, sort, default)
            }
            _ if sort.is_small() => self.pool.var_with_default(&name, sort, default),
            _ => self.pool.var(&name, sort),
        }
    }

    /// The symbol of a number. A float's stands for its bits, so that a NaN may have any.
    fn number_symbol(&mut self, name: String, machine: Type, default: u64) -> Term {
        match sort_of(machine) {
            Sort::Float(sort) => {
                let bits = self.symbol(name, Sort::BitVec(sort.width()));
                self.pool.fp_from_bits(sort, bits)
            }
            sort => self.symbol_with_default(name, sort, default),
        }
    }

    /// Notes a bound of some kind on a place in the inputs, which the user stated or not.
    fn bound(
        &mut self,
        (kind, place): (AssumptionKind, &InputPlace),
        sentence: String,
        stated: bool,
        reach: Reach,
    ) {
        if !stated {
            let assumption = Assumption::new(kind, self.shown(place), sentence.clone());
            let bound = Bound { assumption, reach, shown: true };
            if !self.bounds.contains(&bound) {
                self.bounds.push(bound);
            }
        }
        if !self.assumptions.contains(&sentence) {
            self.assumptions.push(sentence);
        }
    }

    /// Notes a guess about a place: the size that its pointer's type or use suggests, or the input that
    /// is its length. It is reported only where it makes a difference.
    fn bound_guess(
        &mut self,
        kind: AssumptionKind,
        place: &InputPlace,
        sentence: String,
        reach: Reach,
    ) {
        let assumption = Assumption::new(kind, self.shown(place), sentence);
        self.bounds.push(Bound { assumption, reach, shown: false });
    }

    /// Notes the bound on an array of another file whose number of elements was made up.
    fn bound_given_length(&mut self, global: GlobalId, place: &InputPlace) {
        let Some((elements, size)) = is_given_length(self.program, global) else { return };
        let object = self.addresses.global(global);
        let sentence = format!("{place} has {elements} elements, since nothing says how many");
        let reach = Reach::Behind { object, from: elements * size, element: size };
        self.bound_guess(AssumptionKind::Size, place, sentence, reach);
    }

    /// Notes that the size of an object is visible in the value of another input, which `reading`
    /// reads.
    fn show_size(&mut self, object: u64, reading: Reach) {
        let mut more = Vec::new();
        for bound in &mut self.bounds {
            if matches!(bound.reach, Reach::Behind { object: at, .. } if at == object) {
                bound.shown = true;
                match reading {
                    Reach::Always => bound.reach = Reach::Always,
                    _ => more.push(Bound { reach: reading, ..bound.clone() }),
                }
            }
        }
        self.bounds.extend(more);
    }

    /// The accesses that show that some bytes of a block were left at zero or null.
    fn reading(&self, block: usize, from: u64, to: u64) -> Reach {
        match self.bases[block] {
            Some(object) => Reach::Within { object, from, to },
            None => Reach::Always,
        }
    }

    /// Gives every part of a type its cell.
    fn lay(
        &mut self,
        site: Site,
        ty: CTypeId,
        offset: u64,
        place: &InputPlace,
        trail: &Trail,
    ) -> Result<(), PlanError> {
        let parts = layout(self.program, ty, offset, place, trail);
        for OmittedPart { place, why, bytes } in parts.omitted {
            let shown = self.shown(&place);
            let reach = self.reading(site.block, bytes.start, bytes.end);
            let kind = AssumptionKind::Other;
            self.bound((kind, &place), format!("{shown} {why}"), false, reach);
        }
        for leaf in parts.leaves {
            self.lay_leaf(site, leaf)?;
        }
        for bits in parts.bits {
            self.lay_bits(site, bits)?;
        }
        for view in parts.views {
            self.lay_view(site, view)?;
        }
        Ok(())
    }

    fn push(&mut self, site: Site, offset: u64, ty: Type, value: Term) -> usize {
        self.cells += 1;
        self.blocks[site.block].push(CellPlan { offset, ty, value });
        self.blocks[site.block].len() - 1
    }

    fn lay_leaf(&mut self, site: Site, leaf: Leaf) -> Result<(), PlanError> {
        match leaf.kind {
            LeafKind::Number(ty) => {
                let machine = self.program.types.scalar(ty).expect("a number is a scalar");
                let shown = self.shown(&leaf.place);
                // The default of a written value differs from the value that most programs set before
                // the call.
                let is_written = self.root_shown.is_some() && leaf.place.root != "result";
                let is_plain = matches!(
                    self.program.types.get(ty),
                    CType::Int { kind, .. } if *kind != IntKind::Bool
                );
                let default = if is_written && is_plain { telling(&shown) } else { 0 };
                let value = self.number_symbol(shown, machine, default);
                self.push(site, leaf.offset, machine, value);
                self.number(ty, value, &leaf.place, &leaf.trail)?;
                let set = self.spec.at(&leaf.place, &leaf.trail);
                if set.range.is_none() && set.values.is_none() {
                    let end = leaf.offset + machine.bytes();
                    let reading = self.reading(site.block, leaf.offset, end);
                    self.readings.entry(leaf.place.clone()).or_insert(reading);
                }
                self.prefer_initial(site, leaf.offset, machine, value);
            }
            LeafKind::Byte => {
                let value = self.symbol(self.shown(&leaf.place), Sort::BitVec(8));
                self.push(site, leaf.offset, Type::Int(8), value);
                self.prefer_initial(site, leaf.offset, Type::Int(8), value);
            }
            LeafKind::Pointer { choices, raw } => {
                self.lay_pointers(site, leaf.offset, &leaf.place, choices, raw);
            }
        }
        Ok(())
    }

    fn lay_pointers(
        &mut self,
        site: Site,
        offset: u64,
        place: &InputPlace,
        choices: Vec<PointerChoice>,
        raw: bool,
    ) {
        let value = if raw {
            let shown = self.shown(place);
            let bits = self.symbol(format!("bits({shown})"), Sort::BitVec(64));
            let sentence = format!("{shown} is a pointer wherever it is used as one");
            let assumption = Assumption::new(AssumptionKind::RawPointer, shown, sentence);
            self.raw_pointers.push(RawPointer { bits, assumption });
            bits
        } else {
            self.pool.bv(64, 0)
        };
        let cell = self.push(site, offset, Type::Ptr, value);
        for (at, PointerChoice { ty, place, trail }) in choices.into_iter().enumerate() {
            let chosen = raw || at > 0;
            let guard = chosen.then(|| {
                let name = format!("is({})", self.shown(&place));
                self.symbol(name, Sort::Bool)
            });
            let set = self.spec.at(&place, &trail);
            self.waiting.push_back(Slot { site, cell, ty, place, trail, guard, set });
        }
    }

    /// Constraints and preferences of a number's type and settings.
    fn number(
        &mut self,
        ty: CTypeId,
        value: Term,
        place: &InputPlace,
        trail: &Trail,
    ) -> Result<(), PlanError> {
        let types = &self.program.types;
        let signed = types.is_signed(ty);
        self.scalars.entry(place.clone()).or_insert(Scalar { value, signed });
        match types.get(ty) {
            CType::Int { kind: IntKind::Bool, .. } => {
                let one = self.pool.bv(8, 1);
                let canonical = self.pool.ule(value, one);
                self.constraints.push(canonical);
            }
            CType::Enum { constants, .. } if !constants.is_empty() => {
                let machine = types.scalar(ty).expect("an enumeration is a scalar");
                let mut declared = Vec::new();
                for (_, number) in constants {
                    let number = constant(self.pool, machine, *number as u128);
                    declared.push(self.pool.eq(value, number));
                }
                let any = self.pool.or_all(declared);
                self.preferences.push(any);
            }
            _ => {}
        }
        self.restrict(value, signed, place, trail)
    }

    fn restrict(
        &mut self,
        value: Term,
        signed: bool,
        place: &InputPlace,
        trail: &Trail,
    ) -> Result<(), PlanError> {
        let set = self.spec.at(place, trail);
        let number = RestrictedNumber { value, signed };
        if let Some((low, high)) = set.range {
            let within = number.within(self.pool, low, high);
            let within = within.map_err(|why| self.wrong(place, why))?;
            self.constraints.push(within);
        }
        if let Some(values) = &set.values {
            let among = number.among(self.pool, values);
            let among = among.map_err(|why| self.wrong(place, why))?;
            self.constraints.push(among);
        }
        Ok(())
    }

    /// Registers a bit-field under its place. Its bytes already have cells.
    fn lay_bits(&mut self, site: Site, bits: Bits) -> Result<(), PlanError> {
        let first = bits.bit_offset / 8;
        let last = (bits.bit_offset + u64::from(bits.width) - 1) / 8;
        let Some(whole) = self.laid(site, first, last + 1 - first) else { return Ok(()) };
        let low = (bits.bit_offset % 8) as u32;
        let value = self.pool.extract(low + u32::from(bits.width) - 1, low, whole);
        let known = Scalar { value, signed: bits.signed };
        self.scalars.entry(bits.place.clone()).or_insert(known);
        self.restrict(value, bits.signed, &bits.place, &bits.trail)
    }

    /// Registers a number of a union's member under its place if its bytes have cells.
    fn lay_view(&mut self, site: Site, view: View) -> Result<(), PlanError> {
        let types = &self.program.types;
        let machine = types.scalar(view.ty).expect("a number is a scalar");
        if self.scalars.contains_key(&view.place) || machine.is_float() {
            return Ok(());
        }
        let Some(value) = self.laid(site, view.offset, machine.bytes()) else { return Ok(()) };
        let signed = types.is_signed(view.ty);
        self.scalars.insert(view.place.clone(), Scalar { value, signed });
        self.restrict(value, signed, &view.place, &view.trail)
    }

    /// The bytes of a block from an offset on as one number; none where some are in no cell.
    fn laid(&mut self, site: Site, offset: u64, size: u64) -> Option<Term> {
        let mut whole: Option<Term> = None;
        let mut at = offset;
        while at < offset + size {
            let holds = |cell: &&CellPlan| cell.offset <= at && at < cell.offset + cell.ty.bytes();
            let CellPlan { offset: start, ty, value } =
                *self.blocks[site.block].iter().find(holds)?;
            let end = (start + ty.bytes()).min(offset + size);
            if !matches!(self.pool.sort(value), Sort::BitVec(_)) {
                return None;
            }
            let bit = |byte: u64| ((byte - start) * 8) as u32;
            let part = self.pool.extract(bit(end) - 1, bit(at), value);
            whole = Some(whole.map_or(part, |low| self.pool.concat(part, low)));
            at = end;
        }
        whole
    }

    fn prefer_initial(&mut self, site: Site, offset: u64, ty: Type, value: Term) {
        let Some(global) = site.global else { return };
        let init = &self.program.globals[global].init;
        if *init == GlobalInit::Extern {
            return;
        }
        let bits = initial_bits(init, offset, ty.bytes());
        let initial = constant(self.pool, ty, bits);
        let kept = self.pool.eq(value, initial);
        self.preferences.push(kept);
    }
}

/// The bits of an initial value, least significant byte first.
pub(crate) fn initial_bits(init: &GlobalInit, offset: u64, size: u64) -> u128 {
    let GlobalInit::Data { items, .. } = init else { return 0 };
    let byte = |at: u64| {
        let item = items
            .iter()
            .find(|item| item.offset <= at && at < item.offset + item.bytes.len() as u64);
        item.map_or(0, |item| item.bytes[(at - item.offset) as usize])
    };
    (0..size.min(16)).rev().fold(0, |bits, at| bits << 8 | u128::from(byte(offset + at)))
}
