//! The constants of an exploration: the program, the options, and facts that follow from these
//! alone.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lydian_base::{Arena, EntityId};
use lydian_inputs::callback::callback_of;
use lydian_inputs::globals::can_be_input;
use lydian_inputs::lazy::shape::Shape;
use lydian_inputs::lazy::{GlobalPlace, LazyInputs, PointerType, REGION};
use lydian_inputs::{Addresses, InputPlan, InputSpec, Invariant};
use lydian_ir::ctype::IntKind;
use lydian_ir::device::VolatileVariables;
use lydian_ir::libc::{LibFn, STREAM_BYTES, error_number, is_library_object, model_of, streams};
use lydian_ir::program::{GlobalInit, RelocationTarget};
use lydian_ir::{
    BlockId, Body, CType, CTypeId, CTypes, Callee, CmpOp, ConditionId, DecisionId, Expr, ExprArena,
    ExprId, FuncId, GlobalId, Linkage, LocalId, Program, RecordId, Stmt, Storage, Type,
};
use rustc_hash::FxHashMap;

use crate::config::{Config, SecondRun, Unreached};
use crate::machine::inputs::aliasing::{Aliasing, is_character, places_within};
use crate::machine::libc::farthest::{FARTHEST, farthest};
use crate::machine::memory::{function_address, global_addresses};

/// For each block, the set of blocks that it reaches, as bits.
type Reachability = Rc<Vec<Vec<u64>>>;

/// The most functions of the program that a pointer may lead to.
const MOST_FUNCTIONS: usize = 8;
/// The most places in globals that a pointer may lead to.
const MOST_GLOBALS: usize = 16;
/// The most numbers named by the program that a pointer may be equal to.
const MOST_NUMBERS: usize = 4;

/// The constants of an exploration.
pub(crate) struct Context<'p> {
    pub(crate) program: &'p Program,
    pub(crate) config: Config,
    pub(crate) spec: InputSpec,
    /// The user's invariants of types.
    pub(crate) invariants: Vec<Invariant>,
    /// The element types of planned objects and of variables that are inputs, by first address.
    pub(crate) planned: BTreeMap<u64, CTypeId>,
    /// The lazy inputs.
    pub(crate) inputs: LazyInputs,
    /// Where the code can show that pointers of the inputs lead into one object.
    pub(crate) aliasing: Aliasing,
    /// Whether there are variables of other types than characters, and the code would show that a
    /// pointer to characters leads to one.
    pub(crate) has_other_variables: bool,
    /// The address of each global.
    pub(crate) globals: Vec<u64>,
    /// The variables that hold standard streams, with the addresses of the streams.
    pub(crate) streams: Vec<(GlobalId, u64)>,
    /// Whether paths may end by an assumption about inputs: the program may state one while it runs, or
    /// traps are taken for that.
    pub(crate) assumes: bool,
    /// Whether the program has global variables that can be written.
    pub(crate) has_variables: bool,
    /// The C library's error number (`errno`), if the program uses it.
    pub(crate) error_number: Option<GlobalId>,
    /// How far, in bytes, strings of the inputs without an end in sight are followed.
    pub(crate) farthest: u64,
    /// The variables of the explored functions that other files know by their names.
    pub(crate) shared_globals: Vec<GlobalId>,
    /// The volatile variables of the program.
    pub(crate) volatile: VolatileVariables,
    reach: RefCell<FxHashMap<FuncId, Reachability>>,
    /// Which expressions of predicates may trap.
    traps: RefCell<FxHashMap<(FuncId, ExprId), bool>>,
}

impl Addresses for Context<'_> {
    fn global(&self, global: GlobalId) -> u64 {
        self.globals[global.index()]
    }

    fn function(&self, function: FuncId) -> u64 {
        function_address(function.index())
    }

    fn streams(&self) -> &[(GlobalId, u64)] {
        &self.streams
    }

    fn lazy(&self) -> Option<&LazyInputs> {
        Some(&self.inputs)
    }
}

impl<'p> Context<'p> {
    pub(crate) fn new(program: &'p Program, config: Config, spec: InputSpec) -> Self {
        let sizes = program.globals.values().map(|global| global.size);
        let held: Vec<GlobalId> = streams(program).collect();
        let more = held.iter().map(|_| STREAM_BYTES);
        let mut globals = global_addresses(sizes.chain(more));
        let behind = globals.split_off(program.globals.len());
        let streams = held.into_iter().zip(behind).collect();
        let (reach, traps) = (RefCell::default(), RefCell::default());
        let assumes_in_text = program.functions.iter().any(|(id, function)| {
            let model = model_of(&program.types, &function.name, function.ty);
            let function = match model.map(|model| model.function) {
                Some(LibFn::Verification(known)) if function.body.is_none() => known,
                _ => return false,
            };
            function.assumes() && program.is_used(id)
        });
        let assumes = config.good_ends || assumes_in_text;
        let is_library = |name: &str| name.starts_with('.') || is_library_object(name);
        let has_variables =
            program.globals.values().any(|global| !global.read_only && !is_library(&global.name));
        let error_number = error_number(program);
        let invariants = spec.invariants(program);
        Self {
            program,
            config,
            spec,
            invariants,
            planned: BTreeMap::new(),
            inputs: LazyInputs::new(),
            aliasing: Aliasing::default(),
            has_other_variables: false,
            globals,
            streams,
            assumes,
            has_variables,
            error_number,
            farthest: FARTHEST,
            shared_globals: Vec::new(),
            volatile: VolatileVariables::of(program),
            reach,
            traps,
        }
    }

    /// The functions that state something about the inputs of a function: its preconditions, and
    /// the invariants.
    pub(crate) fn stated_functions(&self, func: FuncId) -> Vec<FuncId> {
        let preconditions = self.spec.preconditions_of(self.program, func);
        let preconditions = preconditions.into_iter().map(|(_, compiled)| compiled);
        preconditions.chain(self.invariants.iter().map(|invariant| invariant.function)).collect()
    }

    /// Notes the types of planned objects.
    pub(crate) fn note_planned(&mut self, plan: &InputPlan) {
        let objects = plan.objects.iter().map(|object| (object.address, object.element));
        let globals = plan.globals.iter().map(|planned| {
            (self.globals[planned.global.index()], self.program.globals[planned.global].ty)
        });
        self.planned = objects.chain(globals).collect();
    }

    /// Analyses functions; `touched` also has the globals that they use.
    pub(crate) fn look_at(&mut self, touched: &TouchedSymbols) {
        self.aliasing = Aliasing::of(self.program, &touched.functions);
        self.farthest = farthest(self.program, &touched.functions);
        if !self.spec.lazy {
            return;
        }
        let is_shared = |id: &GlobalId| {
            let global = &self.program.globals[*id];
            global.linkage == Linkage::External
                && !global.read_only
                && !is_library_object(&global.name)
        };
        self.shared_globals = touched.globals.iter().copied().filter(is_shared).collect();
        let types = &self.program.types;
        let character = Shape::of(types, self.type_of_access(None));
        self.has_other_variables = touched.globals.iter().any(|id| {
            let element = element_of(types, self.program.globals[*id].ty);
            !is_character(types, element) && self.is_shown(*id, &character)
        });
        // Numbers in the address range of input objects cannot be told from these objects.
        let is_apart = |number: &&u64| !(REGION..2 * REGION).contains(*number);
        let numbers: Vec<u64> =
            touched.numbers.iter().filter(is_apart).take(MOST_NUMBERS).copied().collect();
        let leaves_numbers_out = numbers.len() < touched.numbers.len();
        let pointers = types.iter().filter_map(|(id, _)| Some((id, types.pointee(id)?)));
        let known = pointers.map(|(id, pointee)| {
            let is_function = matches!(types.get(pointee), CType::Function { .. });
            let (functions, mut leaves_out) = match is_function {
                true => self.functions_of(pointee),
                false => (Vec::new(), false),
            };
            let is_complete = !is_function && types.size(pointee).is_some();
            let aligned =
                if is_complete { types.align(pointee).max(1).trailing_zeros() } else { 0 };
            let mut globals = Vec::new();
            if is_complete {
                leaves_out |= !self.add_places(pointee, &touched.globals, &mut globals);
            }
            globals.extend(self.streams_of(pointee, &touched.globals));
            leaves_out |= leaves_numbers_out;
            let numbers = numbers.clone();
            (id, PointerType { aligned, globals, functions, numbers, leaves_out })
        });
        self.inputs = LazyInputs::with_types(known.collect::<Vec<_>>());
    }

    /// The functions that a pointer to functions of a type may lead to: the test's own, and those
    /// of the program with a taken address. Also returns whether there are more of the latter.
    fn functions_of(&self, ty: CTypeId) -> (Vec<(String, u64)>, bool) {
        let own = callback_of(self.program, ty);
        let addressed = self.spec.globals.addressed_of_type(self.program, ty);
        let leaves_out = addressed.len() > MOST_FUNCTIONS;
        let all = own.into_iter().chain(addressed.into_iter().take(MOST_FUNCTIONS));
        let named =
            |id: FuncId| (self.program.functions[id].name.clone(), function_address(id.index()));
        (all.map(named).collect(), leaves_out)
    }

    /// Whether a pointer to values of a shape may lead to a variable, and the code may show that.
    fn is_shown(&self, id: GlobalId, shape: &Shape) -> bool {
        let global = &self.program.globals[id];
        can_be_input(self.program, id)
            && !global.read_only
            && self.config.second_run.and_then(SecondRun::variable) != Some(id)
            && !global.name.starts_with('.')
            && !is_library_object(&global.name)
            && self.aliasing.may_show_global(id, shape)
    }

    /// Adds the variables that a pointer to a type may lead to, where the code may show it. Returns
    /// whether these are all.
    fn add_places(
        &self,
        pointee: CTypeId,
        globals: &BTreeSet<GlobalId>,
        places: &mut Vec<GlobalPlace>,
    ) -> bool {
        let types = &self.program.types;
        let shape = Shape::of(types, pointee);
        let mut are_all = true;
        for id in globals.iter().filter(|id| self.is_shown(**id, &shape)) {
            let global = &self.program.globals[*id];
            let (found, are_all_within) = places_within(types, global.ty, pointee);
            are_all &= are_all_within;
            for within in found {
                places.push(GlobalPlace {
                    name: match within.first {
                        0 => global.name.clone(),
                        first => format!("{}+{first}", global.name),
                    },
                    address: self.globals[id.index()] + within.first,
                    stride: within.elements.0,
                    count: within.elements.1,
                });
            }
        }
        are_all &= places.len() <= MOST_GLOBALS;
        places.truncate(MOST_GLOBALS);
        are_all
    }

    /// The standard streams that a pointer to a type may lead to, where the code names them.
    fn streams_of<'a>(
        &'a self,
        pointee: CTypeId,
        globals: &'a BTreeSet<GlobalId>,
    ) -> impl Iterator<Item = GlobalPlace> + 'a {
        let types = &self.program.types;
        let named = self.streams.iter().filter(|(holder, _)| globals.contains(holder));
        let named = named.filter(move |(holder, _)| {
            types.pointee(self.program.globals[*holder].ty).is_some_and(|own| own == pointee)
        });
        named.map(|(holder, address)| GlobalPlace {
            name: format!("*{}", self.program.globals[*holder].name),
            address: *address,
            stride: 1,
            count: 1,
        })
    }

    /// The type of a pointer without known target type.
    pub(crate) fn void_pointer(&self) -> CTypeId {
        let types = &self.program.types;
        let is_one = |ty: &CType| matches!(ty, CType::Pointer { pointee, .. } if *types.get(*pointee) == CType::Void);
        let found = types.iter().find(|(_, ty)| is_one(ty)).map(|(id, _)| id);
        found.unwrap_or_else(|| CTypeId::from_index(0))
    }

    /// The type of a struct or union.
    pub(crate) fn record_type(&self, record: RecordId) -> Option<CTypeId> {
        let mut types = self.program.types.iter();
        types.find(|(_, ty)| **ty == CType::Record(record)).map(|(id, _)| id)
    }

    /// A C type of values that are accessed as a machine type; bytes where that is not known.
    pub(crate) fn type_of_access(&self, access: Option<Type>) -> CTypeId {
        let types = &self.program.types;
        let of = |wanted: Type| {
            let fits = |id: CTypeId| types.scalar(id) == Some(wanted);
            // Such a type has fewer values than its bytes have.
            let is_narrow = |ty: &CType| {
                matches!(ty, CType::Enum { .. } | CType::Int { kind: IntKind::Bool, .. })
            };
            types.iter().find(|(id, ty)| fits(*id) && !is_narrow(ty))
        };
        let found = access.and_then(of).or_else(|| of(Type::Int(8)));
        found.map_or_else(|| CTypeId::from_index(0), |(id, _)| id)
    }

    /// Whether evaluating an expression may trap. Its arena extends that of a function.
    pub(crate) fn may_trap(&self, func: FuncId, exprs: &ExprArena, expr: ExprId) -> bool {
        if let Some(known) = self.traps.borrow().get(&(func, expr)) {
            return *known;
        }
        let Some(body) = &self.program.functions[func].body else { return true };
        let overflow = self.config.overflow;
        let traps = lydian_ir::trap::may_trap(self.program, body, exprs, expr, overflow);
        self.traps.borrow_mut().insert((func, expr), traps);
        traps
    }

    /// The type of a register of a function; `None` for a local in memory.
    pub(crate) fn register_type(&self, func: FuncId, local: LocalId) -> Option<Type> {
        match self.program.functions[func].body.as_ref()?.locals[local].storage {
            Storage::Register(ty) => Some(ty),
            Storage::Memory { .. } => None,
        }
    }

    /// The expression of a condition's value where the condition is not reached and its evaluation
    /// does not trap; `None` where it has no value there.
    pub(crate) fn unreached_condition(
        &self,
        func: FuncId,
        decision: Option<DecisionId>,
        condition: ConditionId,
    ) -> Option<ExprId> {
        if self.config.unreached == Unreached::Unknown {
            return None;
        }
        let body = self.program.functions[func].body.as_ref()?;
        body.decisions[decision?].conditions[condition].unreached.expr()
    }

    /// Whether a condition's mutants have a value where the condition is not reached, if they
    /// cannot trap.
    pub(crate) fn is_one_expression(
        &self,
        func: FuncId,
        decision: Option<DecisionId>,
        condition: ConditionId,
    ) -> bool {
        let body = self.program.functions[func].body.as_ref();
        let is_one = || Some(body?.decisions[decision?].conditions[condition].is_one_expression());
        self.config.unreached != Unreached::Unknown && is_one().unwrap_or(false)
    }

    /// Whether control can get from the start of one block to another of the same function.
    pub(crate) fn reaches(&self, func: FuncId, from: BlockId, to: BlockId) -> bool {
        let known = self.reach.borrow().get(&func).cloned();
        let reach = known.unwrap_or_else(|| {
            let body = self.program.functions[func].body.as_ref();
            let computed = Rc::new(body.map_or_else(Vec::new, |body| reachability(&body.blocks)));
            self.reach.borrow_mut().insert(func, computed.clone());
            computed
        });
        let word = reach.get(from.index()).and_then(|bits| bits.get(to.index() / 64));
        word.is_some_and(|word| word >> (to.index() % 64) & 1 == 1)
    }
}

/// The element type of an array, also of an array of arrays; any other type itself.
fn element_of(types: &CTypes, ty: CTypeId) -> CTypeId {
    match types.get(ty) {
        CType::Array { element, .. } => element_of(types, *element),
        _ => ty,
    }
}

/// Reflexive and transitive successors of every block.
fn reachability(blocks: &Arena<BlockId, lydian_ir::Block>) -> Vec<Vec<u64>> {
    let words = blocks.len().div_ceil(64);
    let mut all = Vec::with_capacity(blocks.len());
    for start in blocks.ids() {
        let mut bits = vec![0u64; words];
        let mut waiting = vec![start];
        while let Some(block) = waiting.pop() {
            let (word, bit) = (block.index() / 64, 1u64 << (block.index() % 64));
            if bits[word] & bit == 0 {
                bits[word] |= bit;
                blocks[block].term.for_each_successor(|next| waiting.push(next));
            }
        }
        all.push(bits);
    }
    all
}

/// The functions and globals that some functions may use, directly or through calls and pointers.
#[derive(Debug, Default)]
pub(crate) struct TouchedSymbols {
    /// Functions with bodies, in the order of discovery.
    pub(crate) functions: Vec<FuncId>,
    /// Globals with a taken address, or that are read or written.
    pub(crate) globals: BTreeSet<GlobalId>,
    /// Numbers other than null that pointers are compared with.
    numbers: BTreeSet<u64>,
}

impl TouchedSymbols {
    /// The symbols that these functions and globals touch.
    pub(crate) fn by(
        program: &Program,
        roots: &[FuncId],
        globals: impl Iterator<Item = GlobalId>,
    ) -> Self {
        let mut touched = Self::default();
        let mut waiting: Vec<FuncId> = roots.iter().rev().copied().collect();
        globals.for_each(|global| touched.visit_global(program, global, &mut waiting));
        while let Some(func) = waiting.pop() {
            let Some(body) = &program.functions[func].body else { continue };
            if !touched.functions.contains(&func) {
                touched.functions.push(func);
                touched.visit_body(program, body, &mut waiting);
            }
        }
        touched
    }

    fn visit_body(&mut self, program: &Program, body: &Body, waiting: &mut Vec<FuncId>) {
        for expr in body.exprs.values() {
            match expr {
                Expr::AddrFunc(func) => waiting.push(*func),
                Expr::AddrGlobal(global) => {
                    self.visit_global(program, *global, waiting);
                }
                Expr::Cmp(CmpOp::Eq | CmpOp::Ne, a, b) => {
                    let numbers = [a, b].into_iter().filter_map(|side| match body.exprs[*side] {
                        Expr::Const(Type::Ptr, number) => Some(number as u64),
                        _ => None,
                    });
                    self.numbers.extend(numbers.filter(|number| *number != 0));
                }
                _ => {}
            }
        }
        for stmt in body.stmts.values() {
            if let Stmt::Call { callee: Callee::Direct(func), .. } = stmt {
                waiting.push(*func);
            }
        }
    }

    fn visit_global(&mut self, program: &Program, global: GlobalId, waiting: &mut Vec<FuncId>) {
        if !self.globals.insert(global) {
            return;
        }
        if let GlobalInit::Data { relocations, .. } = &program.globals[global].init {
            for relocation in relocations {
                match relocation.target {
                    RelocationTarget::Global(other) => self.visit_global(program, other, waiting),
                    RelocationTarget::Function(func) => waiting.push(func),
                }
            }
        }
    }
}
