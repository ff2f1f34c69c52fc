//! Handlers of interrupts, which may run between any two statements of the code under test.
//!
//! Reads of volatile memory give any value. What a handler writes to other variables is not explored: an
//! argument about code that reads such a variable assumes that the handler does not run meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::{
    Body, Expr, ExprId, FuncId, GlobalId, GlobalInit, Program, RelocationTarget, Stmt, global_at,
};
use lydian_objective::fingerprint::reachable;
use lydian_objective::{Assumption, AssumptionKind};

use super::Project;

/// How the names of handlers end, in CMSIS and other collections of headers.
const ENDINGS: [&str; 5] = ["_IRQHandler", "_ISR", "_isr", "_irq_handler", "_interrupt"];

/// How they begin: libraries' own, and AVR's.
const BEGINNINGS: [&str; 3] = ["ISR_", "isr_", "__vector_"];

/// Handlers of exceptions of ARM's processors, whose names say nothing else.
const EXCEPTIONS: [&str; 11] = [
    "NMI_Handler",
    "HardFault_Handler",
    "MemManage_Handler",
    "BusFault_Handler",
    "UsageFault_Handler",
    "SVC_Handler",
    "DebugMon_Handler",
    "PendSV_Handler",
    "SysTick_Handler",
    "sys_tick_handler",
    "pend_sv_handler",
];

/// The handlers of a program, by their names and by tables of vectors.
fn handlers(program: &Program) -> BTreeSet<FuncId> {
    let is_handler = |name: &str| {
        ENDINGS.iter().any(|end| name.ends_with(end))
            || BEGINNINGS.iter().any(|start| name.starts_with(start))
            || EXCEPTIONS.contains(&name)
    };
    let named = program.functions.iter().filter(|(_, function)| is_handler(&function.name));
    let named = named.map(|(id, _)| id);
    named.chain(in_vectors(program)).filter(|id| program.functions[*id].body.is_some()).collect()
}

/// The functions in constant tables that are called vectors.
fn in_vectors(program: &Program) -> impl Iterator<Item = FuncId> {
    let tables = program
        .globals
        .values()
        .filter(|global| global.read_only && global.name.to_ascii_lowercase().contains("vector"));
    let relocations = tables.flat_map(|table| match &table.init {
        GlobalInit::Data { relocations, .. } => &relocations[..],
        _ => &[],
    });
    relocations.filter_map(|relocation| match relocation.target {
        RelocationTarget::Function(function) => Some(function),
        RelocationTarget::Global(_) => None,
    })
}

/// The variables that handlers write, each with those that do.
#[derive(Debug, Default)]
pub(super) struct HandlerWrites(BTreeMap<GlobalId, Vec<FuncId>>);

impl HandlerWrites {
    fn of(program: &Program) -> Self {
        let mut all = Self::default();
        for handler in handlers(program) {
            for global in variables(program, handler, written_in) {
                all.0.entry(global).or_default().push(handler);
            }
        }
        all
    }
}

impl Project {
    /// The assumption of an argument about a function that reads what a handler may write meanwhile, other
    /// than volatile memory.
    pub(crate) fn undisturbed(&self, function: FuncId) -> Option<Assumption> {
        let program = &self.program;
        let HandlerWrites(written) = self.handlers.get_or_init(|| HandlerWrites::of(program));
        if written.is_empty() {
            return None;
        }
        let (global, handler) =
            variables(program, function, read_in).into_iter().find_map(|global| {
                let mut handlers = written.get(&global)?.iter();
                Some((global, *handlers.find(|handler| **handler != function)?))
            })?;
        let (handler, global) = (&program.functions[handler].name, &program.globals[global].name);
        let sentence = format!("`{handler}`, which writes `{global}`, does not run meanwhile");
        Some(Assumption::new(AssumptionKind::Other, handler, sentence))
    }
}

/// The variables that a function and all that it reaches access in some way.
fn variables(
    program: &Program,
    function: FuncId,
    accessed: impl Fn(&Body) -> Vec<ExprId>,
) -> BTreeSet<GlobalId> {
    let (functions, _) = reachable(program, function);
    let bodies = functions.into_values().filter_map(|id| program.functions[id].body.as_ref());
    let all = bodies.flat_map(|body| {
        let addresses = accessed(body).into_iter();
        addresses.filter_map(|address| global_at(&body.exprs, address)).collect::<Vec<_>>()
    });
    all.collect()
}

fn written_in(body: &Body) -> Vec<ExprId> {
    body.stmts.values().filter_map(Stmt::written).collect()
}

fn read_in(body: &Body) -> Vec<ExprId> {
    let read = body.exprs.values().filter_map(|expr| match expr {
        Expr::Load { addr, volatile: false, .. } | Expr::LoadBits { addr, .. } => Some(*addr),
        _ => None,
    });
    let copied = body.stmts.values().filter_map(|stmt| match stmt {
        Stmt::Copy { src, .. } => Some(*src),
        _ => None,
    });
    read.chain(copied).collect()
}
