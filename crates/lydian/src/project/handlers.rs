//! Handlers of interrupts, which may run between any two statements of the code under test.
//!
//! Reads of volatile memory give any value. What a handler writes to other variables is not explored: an
//! argument about code that reads such a variable assumes that the handler does not run meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use lydian_ir::{
    Body, Expr, ExprId, FuncId, GlobalId, GlobalInit, Program, RelocationTarget, Stmt,
};
use lydian_objective::fingerprint::reachable;
use lydian_objective::{Assumption, AssumptionKind};

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
pub(crate) fn handlers(program: &Program) -> BTreeSet<FuncId> {
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

/// The assumption of an argument about a function that reads what a handler may write meanwhile, other than
/// volatile memory.
pub(crate) fn undisturbed(program: &Program, function: FuncId) -> Option<Assumption> {
    let mut written: BTreeMap<GlobalId, FuncId> = BTreeMap::new();
    for handler in handlers(program).into_iter().filter(|handler| *handler != function) {
        for global in variables(program, handler, written_in) {
            written.entry(global).or_insert(handler);
        }
    }
    let read = variables(program, function, read_in);
    let (global, handler) = read.iter().find_map(|read| written.get_key_value(read))?;
    let (handler, global) = (&program.functions[*handler].name, &program.globals[*global].name);
    let sentence = format!("`{handler}`, which writes `{global}`, does not run meanwhile");
    Some(Assumption::new(AssumptionKind::Other, handler, sentence))
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
        let addresses = accessed(body);
        addresses.into_iter().filter_map(|address| variable_of(body, address)).collect::<Vec<_>>()
    });
    all.collect()
}

fn written_in(body: &Body) -> Vec<ExprId> {
    let written = body.stmts.values().filter_map(|stmt| match stmt {
        Stmt::Store { addr, .. } | Stmt::StoreBits { addr, .. } => Some(*addr),
        Stmt::Copy { dst, .. } | Stmt::Zero { dst, .. } => Some(*dst),
        _ => None,
    });
    written.collect()
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

/// The variable in which an address lies, if the address says so.
fn variable_of(body: &Body, address: ExprId) -> Option<GlobalId> {
    match &body.exprs[address] {
        Expr::AddrGlobal(global) => Some(*global),
        Expr::Field { base, .. } | Expr::Index { base, .. } => variable_of(body, *base),
        _ => None,
    }
}
