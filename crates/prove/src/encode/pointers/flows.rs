//! The flows of addresses through the statements of an inlined program ([`super`]).

use std::collections::BTreeSet;

use lydian_ir::libc::LibFn;
use lydian_ir::stmt::Terminator;
use lydian_ir::{
    Callee, CastOp, Expr, ExprId, FuncId, Global, GlobalId, Stmt, StmtId, Storage, Type,
};
use rustc_hash::FxHashMap;

use crate::encode::ids::{InstanceId, NodeId};
use crate::encode::inlined::calls::{CallEffect, Code, effect_of, named_functions};
use crate::encode::inlined::{Exit, Inlined};
use crate::encode::pointers::accesses::{Mixed, mixed_objects};
use crate::encode::pointers::objects::{ObjectKind, Objects};
use crate::encode::pointers::offset::Offset;
use crate::encode::pointers::{Place, PointsTo, Targets, include, moved_by};

impl<'a> PointsTo<'a> {
    /// Follows all statements until nothing changes. `is_whole` says that the run begins with the
    /// program, and not with a function that others call.
    pub(crate) fn new(
        inlined: &Inlined<'a>,
        objects: &Objects,
        code: &Code,
        is_whole: bool,
    ) -> Self {
        let mut flows = Flows {
            inlined,
            objects,
            code,
            found: Self::start(inlined, objects),
            globals_of: FxHashMap::default(),
            named: if is_whole { Vec::new() } else { named_functions(inlined.program) },
        };
        flows.seed_parameters();
        if !is_whole {
            flows.seed_globals();
        }
        loop {
            flows.run();
            let Mixed { punned, torn } = mixed_objects(inlined, objects, &flows.found);
            let before = (flows.found.punned.len(), flows.found.torn.len());
            for object in punned.union(&torn) {
                if !flows.found.is_punned(*object) && !flows.found.is_torn(*object) {
                    let contents = flows.found.contents_of(Place::Object(*object));
                    flows.found.escape(&contents);
                    flows.found.write(*object, &unknown());
                }
            }
            flows.found.punned.extend(punned);
            flows.found.torn.extend(torn);
            if (flows.found.punned.len(), flows.found.torn.len()) == before {
                return flows.found;
            }
        }
    }
}

fn unknown() -> Targets {
    std::iter::once((Place::Unknown, Offset::ANY)).collect()
}

struct Flows<'a, 'i> {
    inlined: &'i Inlined<'a>,
    objects: &'i Objects,
    code: &'i Code,
    found: PointsTo<'a>,
    /// The globals that the code of a function names, and the code that it runs.
    globals_of: FxHashMap<FuncId, BTreeSet<GlobalId>>,
    /// The functions that an input may point to.
    named: Vec<FuncId>,
}

/// Whether an input may point to a global: it is no constant, no literal and no static local.
fn may_be_input(global: &Global) -> bool {
    !global.read_only && !global.name.contains('.')
}

impl<'a> Flows<'a, '_> {
    fn run(&mut self) {
        self.found.changed = true;
        while std::mem::take(&mut self.found.changed) {
            for node in self.inlined.nodes.ids() {
                self.node(node);
            }
            let functions: Vec<FuncId> = self.found.escaped_functions().collect();
            functions.into_iter().for_each(|function| self.may_be_run(function));
        }
    }

    fn targets(&self, instance: InstanceId, expr: ExprId) -> Targets {
        self.found.targets(self.inlined, self.objects, (instance, expr))
    }

    /// The entry function's parameters are inputs; those of `main`, too.
    fn seed_parameters(&mut self) {
        let main = self.inlined.main;
        let body = self.inlined.instances[main].body;
        for param in &body.params {
            match body.locals[*param].storage {
                Storage::Register(Type::Ptr) => self.found.assign((main, *param), &unknown()),
                Storage::Register(_) => {}
                Storage::Memory { .. } => {
                    let object = self.objects.of(ObjectKind::Local(main, *param));
                    object.into_iter().for_each(|object| self.found.write(object, &unknown()));
                }
            }
        }
    }

    /// Callers of the entry function may have written to globals.
    fn seed_globals(&mut self) {
        let globals = &self.inlined.program.globals;
        let inputs = globals.iter().filter(|(_, global)| may_be_input(global));
        let known: BTreeSet<GlobalId> = inputs.map(|(id, _)| id).collect();
        self.escape_globals(&known | self.code.known_globals());
        // Any code of the file may have written any pointer to a variable that nobody else knows.
        for (id, _) in self.inlined.program.globals.iter().filter(|(_, g)| !g.read_only) {
            let object = self.objects.of(ObjectKind::Global(id));
            object.into_iter().for_each(|object| self.found.write(object, &unknown()));
        }
    }

    fn node(&mut self, node: NodeId) {
        let instance = self.inlined.nodes[node].instance;
        for stmt in self.inlined.stmts(node) {
            self.stmt(instance, stmt);
        }
        if let Exit::Call { stmt, callees, may_skip } = &self.inlined.nodes[node].exit {
            self.numbers_of(instance, *stmt);
            for callee in callees {
                self.arguments(instance, *stmt, *callee);
            }
            if *may_skip {
                self.call(instance, *stmt);
            }
        }
        if let Exit::Recursion { stmt, callee } = &self.inlined.nodes[node].exit {
            self.numbers_of(instance, *stmt);
            self.arguments(instance, *stmt, *callee);
            // A summary gives a number.
            if let Stmt::Call { dst: Some(dst), .. } =
                &self.inlined.instances[instance].body.stmts[*stmt]
                && PointsTo::is_pointer(self.inlined, instance, *dst)
            {
                self.found.assign((instance, *dst), &unknown());
            }
        }
        if let Some(terminator) = self.inlined.terminator(node) {
            if let Some(operand) = terminator.operand() {
                self.numbers_in(instance, operand);
            }
            if let Terminator::Return(Some(value)) = terminator {
                self.result(instance, *value);
            }
        }
    }

    fn stmt(&mut self, instance: InstanceId, id: StmtId) {
        self.numbers_of(instance, id);
        let body = self.inlined.instances[instance].body;
        match &body.stmts[id] {
            Stmt::Assign { dst, value } => {
                if PointsTo::is_pointer(self.inlined, instance, *dst) {
                    let targets = self.targets(instance, *value);
                    self.found.assign((instance, *dst), &targets);
                }
            }
            Stmt::Store { addr, value, ty: Type::Ptr, .. } => {
                let (to, value) = (self.targets(instance, *addr), self.targets(instance, *value));
                self.found.write_to(&to, &value);
            }
            Stmt::Copy { dst, src, .. } => {
                let (to, from) = (self.targets(instance, *dst), self.targets(instance, *src));
                self.copy(&to, &from);
            }
            Stmt::Call { .. } => self.call(instance, id),
            Stmt::Alloca { dst, .. } => {
                let targets = self.allocated(instance, id);
                self.found.assign((instance, *dst), &targets);
            }
            Stmt::VaStart { list } => {
                let to = self.targets(instance, *list);
                self.found.write_to(&to, &unknown());
            }
            Stmt::Havoc(havoc) => {
                for register in &havoc.registers {
                    self.found.assign((instance, *register), &unknown());
                }
                for (addr, _) in &havoc.places {
                    let to = self.targets(instance, *addr);
                    self.found.write_to(&to, &unknown());
                }
                if havoc.memory {
                    // Its operands may be addresses of any object; the program does not say of which.
                    let all = self.objects.all.ids();
                    all.for_each(|object| self.found.escape_place(Place::Object(object)));
                }
            }
            Stmt::Store { .. }
            | Stmt::StoreBits { .. }
            | Stmt::Zero { .. }
            | Stmt::Mark(_)
            | Stmt::Enter(_)
            | Stmt::Leave(_)
            | Stmt::Release { .. }
            | Stmt::VaArg { .. } => {}
        }
    }

    /// Lets escape what the expressions of a statement use as numbers.
    fn numbers_of(&mut self, instance: InstanceId, stmt: StmtId) {
        let body = self.inlined.instances[instance].body;
        let mut exprs = Vec::new();
        body.stmts[stmt].for_each_expr(|expr| exprs.push(expr));
        exprs.into_iter().for_each(|expr| self.numbers_in(instance, expr));
    }

    fn numbers_in(&mut self, instance: InstanceId, expr: ExprId) {
        for pointer in self.found.numbers(self.inlined, instance, expr) {
            let targets = self.targets(instance, pointer);
            self.found.escape(&targets);
        }
    }

    fn copy(&mut self, to: &Targets, from: &Targets) {
        for place in from.keys() {
            let contents = self.found.contents_of(*place);
            self.found.write_to(to, &contents);
        }
    }

    fn allocated(&self, instance: InstanceId, stmt: StmtId) -> Targets {
        let object = self.objects.of(ObjectKind::Allocated(instance, stmt));
        object.map(|object| (Place::Object(object), Offset::ZERO)).into_iter().collect()
    }

    fn arguments(&mut self, caller: InstanceId, stmt: StmtId, callee: InstanceId) {
        let body = self.inlined.instances[callee].body;
        let Stmt::Call { args, .. } = &self.inlined.instances[caller].body.stmts[stmt] else {
            return;
        };
        for (param, arg) in body.params.iter().zip(args) {
            let given = self.targets(caller, *arg);
            let is_pointer = self.found.types.of(self.inlined, caller, *arg) == Type::Ptr;
            match body.locals[*param].storage {
                Storage::Register(Type::Ptr) if is_pointer => {
                    self.found.assign((callee, *param), &given);
                }
                Storage::Register(Type::Ptr) => self.found.assign((callee, *param), &unknown()),
                Storage::Register(_) if is_pointer => self.found.escape(&given),
                Storage::Register(_) => {}
                Storage::Memory { .. } => {
                    let Some(object) = self.objects.of(ObjectKind::Local(callee, *param)) else {
                        continue;
                    };
                    let ty = body.locals[*param].ty;
                    if self.inlined.program.types.is_aggregate(ty) {
                        let to = std::iter::once((Place::Object(object), Offset::ZERO)).collect();
                        self.copy(&to, &given);
                    } else {
                        self.found.write(object, &given);
                    }
                }
            }
        }
    }

    /// A value that an instance returns.
    fn result(&mut self, instance: InstanceId, value: ExprId) {
        let Some((caller, call)) = self.inlined.call_of(instance) else { return };
        let Stmt::Call { dst, dst_addr, .. } = call else { return };
        let targets = self.targets(instance, value);
        if let Some(dst) = dst
            && PointsTo::is_pointer(self.inlined, caller, *dst)
        {
            let is_pointer = self.found.types.of(self.inlined, instance, value) == Type::Ptr;
            let targets = if is_pointer { targets.clone() } else { unknown() };
            self.found.assign((caller, *dst), &targets);
        } else if dst.is_some() {
            self.found.escape(&targets);
        }
        if let Some(addr) = dst_addr {
            let to = self.targets(caller, *addr);
            self.copy(&to, &targets);
        }
    }

    /// A call that is not inlined.
    fn call(&mut self, instance: InstanceId, stmt: StmtId) {
        let body = self.inlined.instances[instance].body;
        let Stmt::Call { callee, args, dst, dst_addr, .. } = &body.stmts[stmt] else { return };
        let given: Vec<Targets> = args.iter().map(|arg| self.targets(instance, *arg)).collect();
        let effect = match callee {
            Callee::Direct(callee) => effect_of(self.inlined.program, *callee),
            Callee::Indirect(_) => CallEffect::Unknown,
        };
        let effect = match effect {
            CallEffect::Known(_) if given.iter().any(|given| has_function(self.inlined, given)) => {
                CallEffect::Unknown
            }
            effect => effect,
        };
        let mut result = unknown();
        match effect {
            CallEffect::Model(model) => {
                result = self.model(model.function, (instance, stmt), &given);
            }
            CallEffect::Value => {}
            CallEffect::Known(effects) => {
                let mut pointers = unknown();
                for at in &given {
                    include(&mut pointers, &moved_by(at, |_| Offset::ANY));
                }
                for (at, given) in given.iter().enumerate() {
                    if effects.writes.contains(at) {
                        self.found.write_to(given, &pointers);
                    }
                    if effects.keeps.contains(at) {
                        self.found.escape(given);
                    }
                    if effects.returns.contains(at) {
                        include(&mut result, &moved_by(given, |_| Offset::ANY));
                    }
                }
                if let Some((to, from)) = effects.copies
                    && let (Some(to), Some(from)) =
                        (given.get(to as usize), given.get(from as usize))
                {
                    self.copy(to, from);
                }
            }
            CallEffect::Unknown => {
                given.iter().for_each(|given| self.found.escape(given));
                match callee {
                    Callee::Direct(callee) => self.may_be_run(*callee),
                    Callee::Indirect(pointer) => self.unknown_callee(instance, *pointer),
                }
            }
        }
        if let Some(dst) = dst
            && PointsTo::is_pointer(self.inlined, instance, *dst)
        {
            self.found.assign((instance, *dst), &result);
        }
        if let Some(addr) = dst_addr {
            let to = self.targets(instance, *addr);
            self.found.write_to(&to, &unknown());
        }
    }

    /// The targets of a modelled function's result, and its effects.
    fn model(
        &mut self,
        function: LibFn,
        (instance, stmt): (InstanceId, StmtId),
        given: &[Targets],
    ) -> Targets {
        let empty = Targets::new();
        let arg = |at: usize| given.get(at).unwrap_or(&empty);
        match function {
            LibFn::Allocation(_) => {
                let to = self.allocated(instance, stmt);
                self.copy(&to, arg(0));
                to
            }
            LibFn::Memory(_) => {
                let row = lydian_ir::libc::MODELLED
                    .iter()
                    .find(|row| row.model().is_some_and(|model| model.function == function));
                let effects = row.and_then(|row| row.effects);
                let mut result = Targets::new();
                for (at, given) in given.iter().enumerate() {
                    if effects.is_some_and(|effects| effects.returns.contains(at)) {
                        include(&mut result, &moved_by(given, |at| at.with_stride(1)));
                    }
                }
                if effects.is_some_and(|effects| effects.copies.is_some()) {
                    self.copy(arg(0), arg(1));
                }
                result
            }
            LibFn::Hint(_) => arg(0).clone(),
            LibFn::Verification(_) => {
                self.found.write_to(arg(0), &unknown());
                unknown()
            }
            _ => {
                given.iter().for_each(|given| self.found.write_to(given, &unknown()));
                unknown()
            }
        }
    }

    /// A call through a pointer of what is not inlined.
    fn unknown_callee(&mut self, instance: InstanceId, pointer: ExprId) {
        for place in self.targets(instance, pointer).into_keys() {
            match place {
                Place::Function(function) => self.may_be_run(function),
                Place::Unknown => {
                    self.escape_globals(self.code.known_globals().clone());
                    let named = self.named.clone();
                    named.into_iter().for_each(|function| self.may_be_run(function));
                }
                Place::Object(_) => {}
            }
        }
    }

    /// Lets escape what the code of a function that is not followed knows by name.
    fn may_be_run(&mut self, function: FuncId) {
        let code = self.code;
        let globals = self.globals_of.entry(function).or_insert_with(|| code.globals_of(function));
        let globals = globals.clone();
        self.escape_globals(globals);
    }

    fn escape_globals(&mut self, globals: BTreeSet<GlobalId>) {
        for global in globals {
            let object = self.objects.of(ObjectKind::Global(global));
            object.into_iter().for_each(|object| self.found.escape_place(Place::Object(object)));
        }
    }
}

/// Whether a function that may be the program's is among some targets.
pub(crate) fn has_function(inlined: &Inlined<'_>, targets: &Targets) -> bool {
    let functions = &inlined.program.functions;
    targets.keys().any(|place| match place {
        Place::Function(function) => {
            let function = &functions[*function];
            function.body.is_some() || !function.system
        }
        _ => false,
    })
}

impl PointsTo<'_> {
    /// The pointers in an expression whose addresses it uses as numbers.
    pub(crate) fn numbers(
        &self,
        inlined: &Inlined<'_>,
        instance: InstanceId,
        expr: ExprId,
    ) -> Vec<ExprId> {
        let exprs = inlined.instances[instance].exprs;
        let (mut found, mut waiting) = (Vec::new(), vec![expr]);
        while let Some(expr) = waiting.pop() {
            match &exprs[expr] {
                Expr::Cast(CastOp::Bits, Type::Ptr, from) => {
                    let moved = self.moved(inlined, instance, *from);
                    waiting.push(moved.map_or(*from, |(base, _)| base));
                    continue;
                }
                Expr::Cast(_, to, from)
                    if *to != Type::Ptr && self.types.of(inlined, instance, *from) == Type::Ptr =>
                {
                    found.push(*from);
                }
                _ => {}
            }
            exprs[expr].for_each_operand(|operand| waiting.push(operand));
        }
        found
    }
}
