//! The globals that are inputs of a function: those that it, a function it may call, or a predicate of
//! its objectives reads, and that can have another value than their initial one when it is called.
//!
//! Static locals are no inputs: nothing but a call of their function changes them, so a test that
//! starts from a fresh program finds their initial value. Neither are globals of this translation
//! unit alone that nothing in it writes or takes the address of.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::{
    Body, CTypeId, Callee, Expr, ExprId, FuncId, GlobalId, GlobalInit, Linkage, Program,
    RelocationTarget, Stmt, global_at, libc,
};

/// The uses of globals in one body.
#[derive(Clone, Debug, Default)]
struct Mentions {
    read: BTreeSet<GlobalId>,
    /// Written, or its address used for anything but reading and writing in place.
    changed: BTreeSet<GlobalId>,
    calls: BTreeSet<FuncId>,
    calls_through_pointer: bool,
}

/// The uses of globals in a program.
#[derive(Clone, Debug, Default)]
pub struct GlobalUses {
    bodies: BTreeMap<FuncId, Mentions>,
    /// Functions that a call through a pointer may reach.
    addressed: BTreeSet<FuncId>,
    /// Globals that never have another than their initial value.
    fixed: BTreeSet<GlobalId>,
}

impl GlobalUses {
    /// Reads every body of a program. Linear in its size.
    pub fn of(program: &Program) -> Self {
        let bodies: BTreeMap<FuncId, Mentions> = (program.defined())
            .filter_map(|(id, function)| Some((id, mentions(function.body.as_ref()?))))
            .collect();
        let mut changed: BTreeSet<GlobalId> =
            bodies.values().flat_map(|body| body.changed.iter().copied()).collect();
        changed.extend(relocations(program).filter_map(|target| match target {
            RelocationTarget::Global(global) => Some(global),
            RelocationTarget::Function(_) => None,
        }));
        let fixed = program
            .globals
            .iter()
            .filter(|(id, global)| global.linkage == Linkage::Internal && !changed.contains(id));
        let fixed = fixed.map(|(id, _)| id).collect();
        Self { bodies, addressed: addressed_functions(program), fixed }
    }

    /// The functions of a type whose address is taken anywhere.
    pub fn addressed_of_type(&self, program: &Program, ty: CTypeId) -> Vec<FuncId> {
        let of_type = |id: &&FuncId| program.functions[**id].ty == ty;
        self.addressed.iter().filter(of_type).copied().collect()
    }

    /// Whether the address of a function is taken anywhere.
    pub fn is_addressed(&self, function: FuncId) -> bool {
        self.addressed.contains(&function)
    }

    /// The globals that are inputs of a function where the user names none, in the program's
    /// order. Predicates of its labels read `observed`.
    pub fn inputs_of(
        &self,
        program: &Program,
        function: FuncId,
        observed: &BTreeSet<GlobalId>,
    ) -> Vec<GlobalId> {
        let mut reached = BTreeSet::new();
        let mut read = observed.clone();
        let mut waiting = vec![function];
        while let Some(next) = waiting.pop() {
            let Some(found) = self.bodies.get(&next).filter(|_| reached.insert(next)) else {
                continue;
            };
            read.extend(&found.read);
            waiting.extend(&found.calls);
            if found.calls_through_pointer {
                waiting.extend(&self.addressed);
            }
        }
        read.into_iter().filter(|id| self.can_differ(program, *id)).collect()
    }

    /// Whether a global can have another value than its first one when a function is called, and a test
    /// can set it.
    pub fn can_differ(&self, program: &Program, id: GlobalId) -> bool {
        can_be_input(program, id)
            && !self.fixed.contains(&id)
            && !libc::is_library_object(&program.globals[id].name)
    }
}

/// Whether a global can be set before a call: it is no constant, no literal and no static local. The
/// contents of a constant of another file are not known here.
pub fn can_be_input(program: &Program, id: GlobalId) -> bool {
    let global = &program.globals[id];
    let constant = global.read_only && global.init != GlobalInit::Extern;
    !constant && !global.name.contains('.')
}

fn relocations(program: &Program) -> impl Iterator<Item = RelocationTarget> + '_ {
    program
        .globals
        .values()
        .flat_map(|global| match &global.init {
            GlobalInit::Data { relocations, .. } => relocations.as_slice(),
            GlobalInit::Extern | GlobalInit::Zero => &[],
        })
        .map(|relocation| relocation.target)
}

/// Functions whose address is used as a value anywhere, which a call through a pointer may reach.
fn addressed_functions(program: &Program) -> BTreeSet<FuncId> {
    let mut found: BTreeSet<FuncId> = relocations(program)
        .filter_map(|target| match target {
            RelocationTarget::Function(function) => Some(function),
            RelocationTarget::Global(_) => None,
        })
        .collect();
    for (_, function) in program.defined() {
        let exprs = function.body.iter().flat_map(|body| body.exprs.values());
        found.extend(exprs.filter_map(|expr| match expr {
            Expr::AddrFunc(function) => Some(*function),
            _ => None,
        }));
    }
    found
}

fn mentions(body: &Body) -> Mentions {
    let mut found = Mentions::default();
    for expr in body.exprs.values() {
        if let Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } = expr {
            found.read.extend(global_at(&body.exprs, *addr));
        }
    }
    for stmt in body.stmts.values() {
        match stmt {
            Stmt::Store { addr, .. } | Stmt::StoreBits { addr, .. } => {
                found.changed.extend(global_at(&body.exprs, *addr));
            }
            Stmt::VaStart { list: dst } | Stmt::Zero { dst, .. } => {
                found.changed.extend(global_at(&body.exprs, *dst))
            }
            Stmt::Copy { dst, src, .. } => {
                found.changed.extend(global_at(&body.exprs, *dst));
                found.read.extend(global_at(&body.exprs, *src));
            }
            Stmt::Call { callee: Callee::Direct(callee), .. } => {
                found.calls.insert(*callee);
            }
            Stmt::Call { callee: Callee::Indirect(_), .. } => found.calls_through_pointer = true,
            _ => {}
        }
    }
    // Any other mention may pass the address to code that cannot be followed.
    for escaped in escaping(body) {
        found.read.insert(escaped);
        found.changed.insert(escaped);
    }
    found
}

/// The globals whose address is used as a value.
fn escaping(body: &Body) -> BTreeSet<GlobalId> {
    let mut found = BTreeSet::new();
    let mut as_value = |expr: ExprId| {
        if let Some(global) = global_at(&body.exprs, expr) {
            found.insert(global);
        }
    };
    for expr in body.exprs.values() {
        match expr {
            Expr::Load { .. } | Expr::LoadBits { .. } => {}
            // An address made of an address escapes where the outer one does.
            Expr::Field { .. } | Expr::Index { .. } => {}
            _ => expr.for_each_operand(&mut as_value),
        }
    }
    for stmt in body.stmts.values() {
        match stmt {
            Stmt::Assign { value, .. } | Stmt::Store { value, .. } => as_value(*value),
            Stmt::Call { args, .. } => args.iter().copied().for_each(&mut as_value),
            _ => {}
        }
    }
    for block in body.blocks.values() {
        if let lydian_ir::Terminator::Return(Some(value)) = block.term {
            as_value(value);
        }
    }
    found
}
