//! Makes plans.
//!
//! Pointers are followed breadth first, so that a limit cuts off what is deepest, and in an order
//! that depends on the program and the settings alone. What needs another pointer's target (`end`,
//! `into`, aliases) and what needs another place's value (lengths) is filled in when everything
//! has its place.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use lydian_ir::test::{INPUT_REGION, INPUT_REGION_SIZE};
use lydian_ir::{
    CType, CTypeId, FuncId, GlobalId, GlobalInit, IntKind, Program, RelocationTarget, Type,
};
use lydian_smt::{Sort, Term, TermPool};

use super::callback::callback_of;
use super::globals;
use super::guess::parameter_name;
use super::layout::{Bits, Leaf, LeafKind, flexible_member, has_pointers, layout};
use super::length::{Length, Op};
use super::place::Place;
use super::plan::{
    Addresses, ArgPlan, CellPlan, Cursor, ExternalPlan, GAP, GlobalPlan, InputPlan, ObjectPlan,
    PlanError,
};
use super::settings::{Kind, PlaceSettings};
use super::spec::{FunctionSpec, InputSpec, Trail, types_named};
use super::value::{Restricted, constant, sort_of, to_64_bits};

/// Objects of one plan before further pointers are null.
const MAX_OBJECTS: usize = 256;

/// Scalars of one plan before further pointers are null.
const MAX_CELLS: usize = 1 << 16;

/// Plans the inputs of a function. The same program, settings and addresses give the same plan,
/// and in a pool that has its symbols already the same terms.
pub fn plan(
    pool: &mut TermPool,
    program: &Program,
    function: FuncId,
    spec: &InputSpec,
    addresses: &dyn Addresses,
) -> Result<InputPlan, PlanError> {
    let cursor = Cursor { next: INPUT_REGION + GAP };
    let mut builder = Builder::new(pool, program, function, spec, addresses, cursor, None);
    let params = builder.parameters();
    let mut args = Vec::new();
    for (position, ty) in params.into_iter().enumerate() {
        let name = parameter_name(program, function, position);
        let place = Place::root(name.clone());
        let Some(size) = program.types.size(ty) else { return Err(builder.incomplete(&place, ty)) };
        let block = builder.add_block();
        builder.lay(Site { block, depth: 0, global: None }, ty, 0, &place, &Trail::new())?;
        args.push((block, ArgPlan { name, ty, size, cells: Vec::new() }));
    }
    let mut planned = Vec::new();
    for global in builder.input_globals()? {
        let place = Place::root(program.globals[global].name.clone());
        let block = builder.add_block();
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
        cursor: builder.cursor,
    })
}

/// Fresh inputs for the result of a call of an undefined function. `nth` counts the calls of that
/// function on the path, from 0; `cursor` says where the state has room for objects.
pub fn external_result(
    pool: &mut TermPool,
    program: &Program,
    function: FuncId,
    nth: u32,
    spec: &InputSpec,
    addresses: &dyn Addresses,
    cursor: Cursor,
) -> Result<ExternalPlan, PlanError> {
    let declared = &program.functions[function];
    let CType::Function { result, .. } = program.types.get(declared.ty) else {
        unreachable!("the type of a function is a function type");
    };
    let shown = format!("{}()#{nth}", declared.name);
    let mut builder = Builder::new(pool, program, function, spec, addresses, cursor, Some(shown));
    let block = builder.add_block();
    let size = match program.types.get(*result) {
        CType::Void => 0,
        _ => {
            let place = Place::root("result");
            let size = program.types.size(*result);
            let size = size.ok_or_else(|| builder.incomplete(&place, *result))?;
            let site = Site { block, depth: 0, global: None };
            builder.lay(site, *result, 0, &place, &Trail::new())?;
            size
        }
    };
    builder.finish()?;
    Ok(ExternalPlan {
        function: declared.name.clone(),
        ty: *result,
        size,
        cells: builder.take_cells(block),
        objects: builder.take_objects(),
        constraints: builder.constraints,
        preferences: builder.preferences,
        assumptions: builder.assumptions,
        cursor: builder.cursor,
    })
}

/// Where scalars are being laid.
#[derive(Clone, Copy)]
struct Site {
    block: usize,
    /// How many pointers lead here.
    depth: u32,
    /// The global, if it is one.
    global: Option<GlobalId>,
}

/// A pointer that waits for its value.
struct Slot {
    site: Site,
    /// Its position among the block's cells.
    cell: usize,
    ty: CTypeId,
    place: Place,
    trail: Trail,
    /// In a union: the term that says that this choice holds. Else the cell keeps its bits.
    guard: Option<Term>,
    set: PlaceSettings,
}

/// Where a pointer points when it is not null and no alias.
#[derive(Clone, Copy)]
struct Target {
    object: usize,
    is_null: Term,
}

/// An object whose length waits for the terms that it is made of.
struct OpenLength {
    object: usize,
    place: Place,
    /// `None`: a symbol of its own, if a pointer to the end asks for it.
    length: Option<Length>,
    is_null: Term,
    element: u64,
    /// Bytes before the first element (of a flexible array).
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
    addresses: &'a dyn Addresses,
    cursor: Cursor,
    /// What stands for the root in the names of a call's results.
    root_shown: Option<String>,
    blocks: Vec<Vec<CellPlan>>,
    objects: Vec<(usize, ObjectPlan)>,
    waiting: VecDeque<Slot>,
    related: Vec<Slot>,
    lengths: Vec<OpenLength>,
    scalars: BTreeMap<Place, Scalar>,
    targets: BTreeMap<Place, Target>,
    symbols: BTreeSet<String>,
    cells: usize,
    constraints: Vec<Term>,
    preferences: Vec<Term>,
    assumptions: Vec<String>,
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
            addresses,
            cursor,
            root_shown,
            blocks: Vec::new(),
            objects: Vec::new(),
            waiting: VecDeque::new(),
            related: Vec::new(),
            lengths: Vec::new(),
            scalars: BTreeMap::new(),
            targets: BTreeMap::new(),
            symbols: BTreeSet::new(),
            cells: 0,
            constraints: Vec::new(),
            preferences: Vec::new(),
            assumptions: Vec::new(),
        }
    }

    // ---- what is planned --------------------------------------------------------------------

    fn parameters(&self) -> Vec<CTypeId> {
        match self.program.types.get(self.program.functions[self.function].ty) {
            CType::Function { params, .. } => params.clone(),
            _ => unreachable!("the type of a function is a function type"),
        }
    }

    fn input_globals(&self) -> Result<Vec<GlobalId>, PlanError> {
        let Some(names) = self.spec.globals() else {
            return Ok(globals::read_by(self.program, self.function));
        };
        let mut found = BTreeSet::new();
        for name in names {
            let id = self.program.global_named(name);
            let id = id.filter(|id| globals::can_be_input(self.program, *id));
            let why = "is no global variable that can be set";
            found.insert(id.ok_or_else(|| self.wrong(&Place::root(name.clone()), why))?);
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
                found.ok_or_else(|| self.wrong(&Place::root(text.clone()), why))
            })
            .collect()
    }

    /// A place of the settings that begins with nothing the function has is a slip of the pen.
    fn check_set_places(&self) -> Result<(), PlanError> {
        let names: BTreeSet<&str> =
            self.scalars.keys().chain(self.targets.keys()).map(|place| &*place.root).collect();
        let declared = (0..self.parameters().len())
            .map(|position| parameter_name(self.program, self.function, position));
        let declared: BTreeSet<String> = declared.collect();
        for place in self.spec.set_places() {
            let root = place.root.as_str();
            let known = names.contains(root)
                || declared.contains(root)
                || self.program.global_named(root).is_some();
            if !known {
                return Err(self.wrong(place, "begins with no parameter or global variable"));
            }
        }
        Ok(())
    }

    fn wrong(&self, place: &Place, why: impl Into<String>) -> PlanError {
        PlanError::Setting {
            function: self.program.functions[self.function].name.clone(),
            place: place.to_string(),
            why: why.into(),
        }
    }

    fn incomplete(&self, place: &Place, ty: CTypeId) -> PlanError {
        PlanError::Incomplete {
            function: self.program.functions[self.function].name.clone(),
            place: place.to_string(),
            ty: self.program.types.spell(ty, ""),
        }
    }

    // ---- scalars ----------------------------------------------------------------------------

    fn add_block(&mut self) -> usize {
        self.blocks.push(Vec::new());
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

    /// How a place is shown to the user.
    fn shown(&self, place: &Place) -> String {
        match &self.root_shown {
            None => place.to_string(),
            Some(root) => Place { root: root.clone(), steps: place.steps.clone() }.to_string(),
        }
    }

    /// A symbol that this plan has not used. Another plan in the same pool has it too.
    fn symbol(&mut self, name: String, sort: Sort) -> Term {
        let mut name = name;
        while self.symbols.contains(&name) {
            name.push('\'');
        }
        self.symbols.insert(name.clone());
        match self.pool.find_var(&name) {
            Some(known) if self.pool.sort(known) != sort => {
                let with_sort = format!("{name}:{sort}");
                self.symbol(with_sort, sort)
            }
            _ => self.pool.var(&name, sort),
        }
    }

    fn assume(&mut self, sentence: String) {
        if !self.assumptions.contains(&sentence) {
            self.assumptions.push(sentence);
        }
    }

    /// Gives every part of a type its cell.
    fn lay(
        &mut self,
        site: Site,
        ty: CTypeId,
        offset: u64,
        place: &Place,
        trail: &Trail,
    ) -> Result<(), PlanError> {
        let parts = layout(self.program, ty, offset, place, trail);
        for (place, why) in parts.left_out {
            let shown = self.shown(&place);
            self.assume(format!("{shown} {why}"));
        }
        for leaf in parts.leaves {
            self.lay_leaf(site, leaf)?;
        }
        for bits in parts.bits {
            self.lay_bits(site, bits)?;
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
                let value = self.symbol(self.shown(&leaf.place), sort_of(machine));
                self.push(site, leaf.offset, machine, value);
                self.number(ty, value, &leaf.place, &leaf.trail)?;
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
        place: &Place,
        choices: Vec<(CTypeId, Place, Trail)>,
        raw: bool,
    ) {
        let value = if raw {
            let name = format!("bits({})", self.shown(place));
            self.symbol(name, Sort::BitVec(64))
        } else {
            self.pool.bv(64, 0)
        };
        let cell = self.push(site, offset, Type::Ptr, value);
        for (at, (ty, place, trail)) in choices.into_iter().enumerate() {
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
        place: &Place,
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
        place: &Place,
        trail: &Trail,
    ) -> Result<(), PlanError> {
        let set = self.spec.at(place, trail);
        let number = Restricted { value, signed };
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

    /// Makes a bit-field known by its place. Its bytes are cells already.
    fn lay_bits(&mut self, site: Site, bits: Bits) -> Result<(), PlanError> {
        let first = bits.bit_offset / 8;
        let last = (bits.bit_offset + u64::from(bits.width) - 1) / 8;
        let cells = &self.blocks[site.block];
        let byte = |offset| cells.iter().find(|cell| cell.offset == offset).map(|c| c.value);
        let bytes: Option<Vec<Term>> = (first..=last).map(byte).collect();
        let Some(bytes) = bytes else { return Ok(()) };
        let low_first = bytes.into_iter();
        let whole = low_first.reduce(|low, high| self.pool.concat(high, low));
        let Some(whole) = whole else { return Ok(()) };
        let low = (bits.bit_offset % 8) as u32;
        let value = self.pool.extract(low + u32::from(bits.width) - 1, low, whole);
        let known = Scalar { value, signed: bits.signed };
        self.scalars.entry(bits.place.clone()).or_insert(known);
        self.restrict(value, bits.signed, &bits.place, &bits.trail)
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

    // ---- pointers ---------------------------------------------------------------------------

    fn finish(&mut self) -> Result<(), PlanError> {
        while let Some(slot) = self.waiting.pop_front() {
            self.resolve(slot)?;
        }
        self.close_lengths()?;
        for slot in std::mem::take(&mut self.related) {
            self.relate(slot)?;
        }
        Ok(())
    }

    /// Sets the cell of a pointer, under the slot's guard.
    fn set(&mut self, slot: &Slot, value: Term) {
        let old = self.blocks[slot.site.block][slot.cell].value;
        let value = match slot.guard {
            Some(guard) => self.pool.ite(guard, value, old),
            None => value,
        };
        self.blocks[slot.site.block][slot.cell].value = value;
    }

    fn resolve(&mut self, slot: Slot) -> Result<(), PlanError> {
        let zero = self.pool.bv(64, 0);
        let pointee = self.program.types.pointee(slot.ty).expect("a pointer points to something");
        if let CType::Function { .. } = self.program.types.get(pointee) {
            let value = self.function_pointer(&slot, pointee)?;
            let value = self.with_initial(&slot, value);
            self.set(&slot, value);
            return Ok(());
        }
        match slot.set.implied_kind() {
            Some(Kind::Null) => {
                let value = self.with_initial(&slot, zero);
                self.set(&slot, value);
                return Ok(());
            }
            Some(Kind::End | Kind::Into) => {
                self.related.push(slot);
                return Ok(());
            }
            _ => {}
        }
        if let Some(why) = self.cut_off(&slot, pointee) {
            let shown = self.shown(&slot.place);
            self.assume(format!("{shown} is null: {why}"));
            let value = self.with_initial(&slot, zero);
            self.set(&slot, value);
            return Ok(());
        }
        let is_null = self.null_choice(&slot);
        let object = self.object_behind(&slot, pointee, is_null)?;
        self.targets.insert(slot.place.clone(), Target { object, is_null });
        let base = self.pool.bv(64, self.objects[object].1.address);
        let value = self.pool.ite(is_null, zero, base);
        let value = self.with_initial(&slot, value);
        self.set(&slot, value);
        if slot.set.alias.is_some() {
            self.related.push(slot);
        }
        Ok(())
    }

    /// Why a pointer leads nowhere, if a limit says so.
    fn cut_off(&self, slot: &Slot, pointee: CTypeId) -> Option<String> {
        let deepest = self.spec.depth();
        // What ends here needs no further pointers, so it may lie one step deeper.
        let ends = !has_pointers(&self.program.types, pointee);
        if slot.site.depth >= deepest.saturating_add(u32::from(ends)) {
            return Some(format!("pointers are followed {deepest} deep"));
        }
        if self.objects.len() >= MAX_OBJECTS {
            return Some(format!("inputs have at most {MAX_OBJECTS} objects"));
        }
        (self.cells >= MAX_CELLS).then(|| format!("inputs have at most {MAX_CELLS} scalars"))
    }

    /// The term that says that the pointer is null.
    fn null_choice(&mut self, slot: &Slot) -> Term {
        if slot.set.null.unwrap_or_else(|| self.spec.null()) {
            let name = format!("null({})", self.shown(&slot.place));
            self.symbol(name, Sort::Bool)
        } else {
            self.pool.ff()
        }
    }

    /// For a pointer in a global with an initial value: that value is one more choice, preferred.
    fn with_initial(&mut self, slot: &Slot, value: Term) -> Term {
        let Some(global) = slot.site.global else { return value };
        let offset = self.blocks[slot.site.block][slot.cell].offset;
        let init = &self.program.globals[global].init;
        let initial = match init {
            GlobalInit::Extern => return value,
            GlobalInit::Zero => 0,
            GlobalInit::Data { relocations, .. } => {
                let relocation = relocations.iter().find(|found| found.offset == offset);
                relocation.map_or_else(
                    || initial_bits(init, offset, 8) as u64,
                    |found| {
                        let base = match found.target {
                            RelocationTarget::Global(global) => self.addresses.global(global),
                            RelocationTarget::Function(target) => self.addresses.function(target),
                        };
                        base.wrapping_add_signed(found.addend)
                    },
                )
            }
        };
        let name = format!("initial({})", self.shown(&slot.place));
        let kept = self.symbol(name, Sort::Bool);
        self.preferences.push(kept);
        let initial = self.pool.bv(64, initial);
        self.pool.ite(kept, initial, value)
    }

    fn function_pointer(&mut self, slot: &Slot, ty: CTypeId) -> Result<Term, PlanError> {
        let mut targets = Vec::new();
        match &slot.set.functions {
            Some(names) => {
                for name in names {
                    let found = self.program.function_named(name);
                    let why = format!("the program has no function {name}");
                    targets.push(found.ok_or_else(|| self.wrong(&slot.place, why))?);
                }
            }
            None => {
                let why = "the program was not prepared for callbacks";
                let callback = callback_of(self.program, ty);
                targets.push(callback.ok_or_else(|| self.wrong(&slot.place, why))?);
            }
        }
        let is_null = self.null_choice(slot);
        let mut value = None;
        for (position, target) in targets.into_iter().enumerate() {
            let address = self.pool.bv(64, self.addresses.function(target));
            value = Some(match value {
                None => address,
                Some(others) => {
                    let name = format!("choice{position}({})", self.shown(&slot.place));
                    let chosen = self.symbol(name, Sort::Bool);
                    self.pool.ite(chosen, address, others)
                }
            });
        }
        let zero = self.pool.bv(64, 0);
        Ok(self.pool.ite(is_null, zero, value.unwrap_or(zero)))
    }

    // ---- objects ----------------------------------------------------------------------------

    /// Makes the object that a pointer points to and gives its position.
    fn object_behind(
        &mut self,
        slot: &Slot,
        pointee: CTypeId,
        is_null: Term,
    ) -> Result<usize, PlanError> {
        let element = self.element_type(slot, pointee)?;
        let types = &self.program.types;
        let size = types.size(element).unwrap_or(1).max(1);
        let kind = slot.set.implied_kind().unwrap_or_else(|| default_kind(self.program, pointee));
        let fixed = match slot.set.length.as_ref().map(|text| &text.0) {
            Some(Length::Number(number)) => Some(*number),
            _ => None,
        };
        let limit = match types.get(element) {
            CType::Record(_) | CType::Pointer { .. } | CType::Array { .. } => {
                self.spec.max_records()
            }
            _ => self.spec.max_length(),
        };
        let capacity = match kind {
            Kind::String => {
                slot.set.max.unwrap_or_else(|| self.spec.max_string()).saturating_add(1)
            }
            Kind::Array => fixed.or(slot.set.max).unwrap_or(limit),
            _ => 1,
        };
        let flexible = (capacity == 1)
            .then(|| flexible_member(types, element, &slot.place.index(0)))
            .flatten();
        let tail = flexible.map(|(place, ty, start)| self.tail(slot, place, ty, start));
        let bytes = capacity.checked_mul(size);
        let bytes = bytes.map(|bytes| bytes.max(tail.as_ref().map_or(0, |tail| tail.bytes)));
        let object = self.place_object(slot, element, capacity, bytes)?;
        let shown = self.shown(&slot.place);
        match kind {
            Kind::Array if fixed.is_none() => {
                self.assume(format!("{shown} has at most {capacity} elements"));
                let length = slot.set.length.as_ref().map(|text| text.0.clone());
                self.lengths.push(OpenLength {
                    object,
                    place: slot.place.clone(),
                    length,
                    is_null,
                    element: size,
                    start: 0,
                    capacity,
                });
            }
            Kind::String => {
                self.assume(format!("{shown} has at most {} characters", capacity - 1));
            }
            _ => {}
        }
        self.fill(slot, object, element, capacity, kind == Kind::String)?;
        if let Some(tail) = tail {
            self.fill_tail(slot, object, tail, is_null)?;
        }
        Ok(object)
    }

    /// The type of an element: for `void *` the one that is set, else bytes, as for what has no
    /// size.
    fn element_type(&mut self, slot: &Slot, pointee: CTypeId) -> Result<CTypeId, PlanError> {
        let types = &self.program.types;
        if let Some(name) = &slot.set.pointee {
            let found = types_named(self.program, name);
            let complete = found.into_iter().find(|ty| types.size(*ty).is_some());
            let why = format!("the program has no complete type {name}");
            return complete.ok_or_else(|| self.wrong(&slot.place, why));
        }
        if types.size(pointee).is_some() {
            return Ok(pointee);
        }
        if !matches!(types.get(pointee), CType::Void) {
            let (shown, ty) = (self.shown(&slot.place), types.spell(pointee, ""));
            self.assume(format!("{shown} points to one byte, since {ty} is incomplete"));
        }
        let byte = |ty: &CType| matches!(ty, CType::Int { kind: IntKind::UChar, .. });
        let found = self.program.types.iter().find(|(_, ty)| byte(ty));
        let why = "the program was not prepared for inputs";
        found.map(|(id, _)| id).ok_or_else(|| self.wrong(&slot.place, why))
    }

    /// Takes room in the region of inputs.
    fn place_object(
        &mut self,
        slot: &Slot,
        element: CTypeId,
        capacity: u64,
        bytes: Option<u64>,
    ) -> Result<usize, PlanError> {
        let too_large = || PlanError::TooLarge {
            function: self.program.functions[self.function].name.clone(),
            place: slot.place.to_string(),
            limit: INPUT_REGION_SIZE,
        };
        let size = bytes.ok_or_else(too_large)?;
        // At least what malloc promises, so that code which relies on that finds it.
        let align = self.program.types.align(element).max(16);
        let address = self.cursor.next.next_multiple_of(align);
        let element_size = self.program.types.size(element).unwrap_or(1);
        // Room for an element on either side, so that "one too far" is nobody's memory.
        let gap = GAP.max(element_size.min(4096)).next_multiple_of(16);
        let end = INPUT_REGION + INPUT_REGION_SIZE;
        let next = address.checked_add(size).and_then(|at| at.checked_add(gap));
        self.cursor.next = next.filter(|next| *next <= end).ok_or_else(too_large)?;
        let block = self.add_block();
        let object = ObjectPlan {
            name: self.shown(&slot.place),
            address,
            element,
            capacity,
            size,
            byte_length: None,
            align,
            read_only: false,
            cells: Vec::new(),
        };
        self.objects.push((block, object));
        Ok(self.objects.len() - 1)
    }

    fn inside(&self, slot: &Slot, object: usize) -> Site {
        Site { block: self.objects[object].0, depth: slot.site.depth + 1, global: None }
    }

    /// Lays the elements of an object.
    fn fill(
        &mut self,
        slot: &Slot,
        object: usize,
        element: CTypeId,
        capacity: u64,
        is_string: bool,
    ) -> Result<(), PlanError> {
        let site = self.inside(slot, object);
        let size = self.program.types.size(element).unwrap_or(1);
        for index in 0..capacity {
            if is_string && index + 1 == capacity {
                // Whatever stands before it, there is a NUL.
                let machine = self.program.types.scalar(element).unwrap_or(Type::Int(8));
                let nul = constant(self.pool, machine, 0);
                self.push(site, index * size, machine, nul);
                break;
            }
            if self.cells >= MAX_CELLS {
                let shown = self.shown(&slot.place);
                self.assume(format!("{shown} is zero from element {index} on"));
                break;
            }
            self.lay(site, element, index * size, &slot.place.index(index), &slot.trail)?;
        }
        Ok(())
    }
}

/// The flexible array member of an object.
struct Tail {
    place: Place,
    element: CTypeId,
    element_size: u64,
    start: u64,
    capacity: u64,
    /// Bytes of the whole object.
    bytes: u64,
    length: Option<Length>,
    trail: Trail,
}

impl Builder<'_> {
    fn tail(&self, slot: &Slot, place: Place, element: CTypeId, start: u64) -> Tail {
        let types = &self.program.types;
        let record = slot.set.pointee.as_ref().map(|name| types_named(self.program, name));
        let record = record.and_then(|found| found.first().copied()).or(types.pointee(slot.ty));
        let mut trail = slot.trail.clone();
        trail.extend(record.map(|ty| (slot.place.steps.len() + 1, ty)));
        let set = self.spec.at(&place, &trail);
        let length = set.length.map(|text| text.0);
        let fixed = match length {
            Some(Length::Number(number)) => Some(number),
            _ => None,
        };
        let limit = match types.scalar(element) {
            Some(machine) if machine != Type::Ptr => self.spec.max_length(),
            _ => self.spec.max_records(),
        };
        let capacity = fixed.or(set.max).unwrap_or(limit).min(1 << 24);
        let element_size = types.size(element).unwrap_or(1).max(1);
        let bytes = start.saturating_add(capacity.saturating_mul(element_size));
        let length = length.filter(|_| fixed.is_none());
        Tail { place, element, element_size, start, capacity, bytes, length, trail }
    }

    fn fill_tail(
        &mut self,
        slot: &Slot,
        object: usize,
        tail: Tail,
        is_null: Term,
    ) -> Result<(), PlanError> {
        let site = self.inside(slot, object);
        for index in 0..tail.capacity {
            let offset = tail.start + index * tail.element_size;
            self.lay(site, tail.element, offset, &tail.place.index(index), &tail.trail)?;
        }
        let shown = self.shown(&tail.place);
        self.assume(format!("{shown} has at most {} elements", tail.capacity));
        if tail.length.is_some() {
            self.lengths.push(OpenLength {
                object,
                place: tail.place,
                length: tail.length,
                is_null,
                element: tail.element_size,
                start: tail.start,
                capacity: tail.capacity,
            });
        }
        Ok(())
    }

    // ---- lengths ----------------------------------------------------------------------------

    fn close_lengths(&mut self) -> Result<(), PlanError> {
        let ended: BTreeSet<Place> = (self.related.iter())
            .flat_map(|slot| slot.set.of.iter().map(|of| of.0.clone()))
            .collect();
        for open in std::mem::take(&mut self.lengths) {
            let elements = match &open.length {
                Some(length) => {
                    let Scalar { value, signed } = self.length_value(length, &open.place)?;
                    self.counted(value, signed, &open)
                }
                None if ended.contains(&open.place) => {
                    let name = format!("length({})", self.shown(&open.place));
                    let own = self.symbol(name, Sort::BitVec(64));
                    self.counted(own, false, &open)
                }
                None => continue,
            };
            let size = self.pool.bv(64, open.element);
            let mut bytes = self.pool.mul(elements, size);
            if open.start > 0 {
                let start = self.pool.bv(64, open.start);
                bytes = self.pool.add(bytes, start);
                let ty = self.objects[open.object].1.element;
                let least = self.program.types.size(ty).unwrap_or(0);
                let least = self.pool.bv(64, least);
                let short = self.pool.ult(bytes, least);
                bytes = self.pool.ite(short, least, bytes);
            }
            self.objects[open.object].1.byte_length = Some(bytes);
        }
        Ok(())
    }

    /// The number of elements that a length means: none where it is negative. It is at most the
    /// capacity wherever there is an object.
    fn counted(&mut self, value: Term, signed: bool, open: &OpenLength) -> Term {
        let capacity = self.pool.bv(64, open.capacity);
        let zero = self.pool.bv(64, 0);
        let (fits, elements) = if signed {
            let negative = self.pool.slt(value, zero);
            (self.pool.sle(value, capacity), self.pool.ite(negative, zero, value))
        } else {
            (self.pool.ule(value, capacity), value)
        };
        let fits = self.pool.or(open.is_null, fits);
        self.constraints.push(fits);
        elements
    }

    /// The 64-bit value of a length, and whether it may be negative.
    fn length_value(&mut self, length: &Length, place: &Place) -> Result<Scalar, PlanError> {
        match length {
            Length::Number(number) => {
                Ok(Scalar { value: self.pool.bv(64, *number), signed: false })
            }
            Length::Place(at) => {
                let known = self.scalars.get(at).copied();
                let known =
                    known.filter(|known| matches!(self.pool.sort(known.value), Sort::BitVec(_)));
                let why = || format!("its length {at} is no integer among the inputs");
                let Scalar { value, signed } = known.ok_or_else(|| self.wrong(place, why()))?;
                Ok(Scalar { value: to_64_bits(self.pool, value, signed), signed })
            }
            Length::Op(op, a, b) => {
                let a = self.length_value(a, place)?;
                let b = self.length_value(b, place)?;
                let signed = a.signed || b.signed || *op == Op::Sub;
                let value = match op {
                    Op::Add => self.pool.add(a.value, b.value),
                    Op::Sub => self.pool.sub(a.value, b.value),
                    Op::Mul => self.pool.mul(a.value, b.value),
                    Op::Div if signed => self.pool.sdiv(a.value, b.value),
                    Op::Div => self.pool.udiv(a.value, b.value),
                };
                Ok(Scalar { value, signed })
            }
        }
    }

    // ---- pointers that depend on others -------------------------------------------------------

    fn relate(&mut self, slot: Slot) -> Result<(), PlanError> {
        let value = match slot.set.implied_kind() {
            Some(Kind::End | Kind::Into) => self.within_array(&slot)?,
            _ => self.aliased(&slot)?,
        };
        self.set(&slot, value);
        Ok(())
    }

    fn target(&self, slot: &Slot, place: &Place) -> Result<Target, PlanError> {
        let why = || format!("{place} is no pointer with an object of its own");
        self.targets.get(place).copied().ok_or_else(|| self.wrong(&slot.place, why()))
    }

    /// `end` and `into`.
    fn within_array(&mut self, slot: &Slot) -> Result<Term, PlanError> {
        let of = slot.set.of.as_ref().expect("the settings were checked").0.clone();
        let Target { object, is_null } = self.target(slot, &of)?;
        let (address, size, length, element) = {
            let object = &self.objects[object].1;
            (object.address, object.size, object.byte_length, object.element)
        };
        let bytes = length.unwrap_or_else(|| self.pool.bv(64, size));
        let offset = if slot.set.implied_kind() == Some(Kind::End) {
            bytes
        } else {
            let name = format!("index({})", self.shown(&slot.place));
            let index = self.symbol(name, Sort::BitVec(64));
            let element = self.program.types.size(element).unwrap_or(1).max(1);
            let most = self.pool.bv(64, size / element);
            let small = self.pool.ule(index, most);
            let element = self.pool.bv(64, element);
            let offset = self.pool.mul(index, element);
            let inside = self.pool.ule(offset, bytes);
            let inside = self.pool.and(small, inside);
            self.constraints.push(inside);
            offset
        };
        let base = self.pool.bv(64, address);
        let value = self.pool.add(base, offset);
        let zero = self.pool.bv(64, 0);
        let own_null = self.null_choice(slot);
        let is_null = self.pool.or(is_null, own_null);
        let value = self.pool.ite(is_null, zero, value);
        Ok(self.with_initial(slot, value))
    }

    fn aliased(&mut self, slot: &Slot) -> Result<Term, PlanError> {
        let mut value = self.blocks[slot.site.block][slot.cell].value;
        let own = self.target(slot, &slot.place)?;
        for other in slot.set.alias.iter().flatten() {
            let target = self.target(slot, &other.0)?;
            let (mine, theirs) = (&self.objects[own.object].1, &self.objects[target.object].1);
            if mine.element != theirs.element {
                let why = format!("{} points to another type, so it cannot be an alias", other.0);
                return Err(self.wrong(&slot.place, why));
            }
            let base = self.pool.bv(64, theirs.address);
            let name = format!("alias({}, {})", self.shown(&slot.place), other.0);
            let chosen = self.symbol(name, Sort::Bool);
            value = self.pool.ite(chosen, base, value);
        }
        Ok(value)
    }
}

/// What a pointer points to where neither a setting nor a guess says it.
fn default_kind(program: &Program, pointee: CTypeId) -> Kind {
    match program.types.get(pointee) {
        CType::Int { kind: IntKind::Char, .. } => Kind::String,
        CType::Void => Kind::Array,
        _ => Kind::Object,
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
