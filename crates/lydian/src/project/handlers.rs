//! Handlers of interrupts, which may run between any two statements of the code under test.
//!
//! Reads of volatile memory give any value. Where a handler writes other variables that the code reads,
//! explorations let it run before volatile reads, too. Elsewhere it is not run: an argument about code that
//! reads such a variable assumes that the handler does not run meanwhile.

use std::collections::{BTreeMap, BTreeSet};

use lydian_inputs::settings::TomlStep;
use lydian_ir::device::can_interrupt;
use lydian_ir::{
    Body, Expr, ExprId, FuncId, GlobalId, GlobalInit, Program, RelocationTarget, Stmt, global_at,
};
use lydian_objective::fingerprint::reachable;
use lydian_objective::{Assumption, AssumptionKind};

use lydian_symex::{InterruptHandler, Interrupts};

use super::Project;
use crate::configuration::Configuration;
use crate::error::{Error, ErrorKind};

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

/// How often handlers run in a test at most, where no setting says so.
const MOST_INTERRUPTS: u32 = 3;

/// The handlers of a program, by their names, by tables of vectors and by settings.
fn handlers(program: &Program, stated: &[String]) -> BTreeSet<FuncId> {
    let is_handler = |name: &str| {
        ENDINGS.iter().any(|end| name.ends_with(end))
            || BEGINNINGS.iter().any(|start| name.starts_with(start))
            || EXCEPTIONS.contains(&name)
            || stated.iter().any(|stated| stated == name)
    };
    let named = program.functions.iter().filter(|(_, function)| is_handler(&function.name));
    let named = named.map(|(id, _)| id);
    named.chain(in_vectors(program)).filter(|id| program.functions[*id].body.is_some()).collect()
}

/// Refuses settings that name functions which cannot be handlers.
pub(super) fn check_stated(
    program: &Program,
    stated: &[String],
    config: &Configuration,
) -> Result<(), Error> {
    let wrong = stated.iter().enumerate().filter_map(|(at, name)| {
        let why = match program.function_named(name) {
            Some(function) if can_interrupt(program, function) => return None,
            Some(_) => "is no function without parameters and result that the program defines",
            None => "is no function of the program",
        };
        let way =
            [TomlStep::Value("interrupts"), TomlStep::Value("handlers"), TomlStep::Element(at)];
        Some(config.wrong(&way, format!("`{name}` {why}, so it is no handler of interrupts")))
    });
    match wrong.collect::<Vec<_>>() {
        none if none.is_empty() => Ok(()),
        diagnostics => Err(Error { kind: ErrorKind::Usage, diagnostics }),
    }
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

/// The handlers of a program.
#[derive(Debug, Default)]
pub(super) struct Handlers {
    all: BTreeSet<FuncId>,
    /// The variables that they write, each with those that do.
    written: BTreeMap<GlobalId, Vec<FuncId>>,
}

impl Handlers {
    fn of(program: &Program, stated: &[String]) -> Self {
        let all = handlers(program, stated);
        let mut written: BTreeMap<GlobalId, Vec<FuncId>> = BTreeMap::new();
        for handler in &all {
            for global in variables(program, *handler, written_in) {
                written.entry(global).or_default().push(*handler);
            }
        }
        Self { all, written }
    }
}

impl Project {
    /// The assumption of an argument about a function that reads what a handler may write meanwhile, other
    /// than volatile memory.
    pub(crate) fn undisturbed(&self, function: FuncId) -> Option<Assumption> {
        let program = &self.program;
        let written = &self.handlers().written;
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

    fn handlers(&self) -> &Handlers {
        let stated = &self.settings.interrupts.handlers;
        self.handlers.get_or_init(|| Handlers::of(&self.program, stated))
    }

    /// The handlers that explorations of a function let run before volatile reads: those that write
    /// what the function reads, other than as an input of its own each time. None while a handler is
    /// tested.
    pub(crate) fn interrupts(&self, function: FuncId) -> Interrupts {
        let program = &self.program;
        let written = &self.handlers().written;
        let most = self.most_interrupts();
        if written.is_empty() || most == 0 || self.is_handler(function) {
            return Interrupts::default();
        }
        let read = variables(program, function, read_in);
        let noticed = read.iter().filter_map(|global| written.get(global)).flatten();
        let noticed: BTreeSet<FuncId> =
            noticed.copied().filter(|handler| can_interrupt(program, *handler)).collect();
        let handlers = noticed.into_iter().map(|function| InterruptHandler {
            function,
            writes: variables(program, function, written_in),
        });
        Interrupts { handlers: handlers.collect(), most }
    }

    /// The handlers that write a variable and may run while a function is tested.
    pub(crate) fn handlers_writing(&self, function: FuncId, variable: GlobalId) -> Vec<FuncId> {
        if self.is_handler(function) {
            return Vec::new();
        }
        let handlers = self.handlers().written.get(&variable).into_iter().flatten().copied();
        handlers.filter(|handler| can_interrupt(&self.program, *handler)).collect()
    }

    /// How often handlers run in a test at most.
    pub(crate) fn most_interrupts(&self) -> u32 {
        self.settings.interrupts.most.unwrap_or(MOST_INTERRUPTS)
    }

    fn is_handler(&self, function: FuncId) -> bool {
        self.handlers().all.contains(&function)
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
