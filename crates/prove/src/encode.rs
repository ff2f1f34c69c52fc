//! The encoder: from a program to a transition system.
//!
//! 1. Calls are inlined into one graph (`inlined`), whose cycles are cut at points (`inlined::graph`).
//! 2. An analysis of pointers says which objects each address may lie in, and at which offsets
//!    (`pointers`). From that follow the accesses to each object (`pointers::accesses`) and the
//!    variables that hold its contents (`memory::layout`).
//! 3. The parts of the state are slots (`state::slots`); at each point those that matter are
//!    variables (`state::liveness`).
//! 4. All paths from a point to the next are simulated at once (`machine`), statement by statement, on
//!    states whose values are terms (`state`).
//!
//! # Where the system has more runs than the program
//! Each reason is in [`System::inexact`](crate::System::inexact). Memory behind pointers that are inputs
//! is one array of bytes without objects (`memory::outside`). Calls of functions that are not known, recursion
//! without a summary (`summaries`), and functions beyond the limits give any value, change all that they can know, and count as reaching the
//! goals inside of them. Where a program uses the number of an address, it has any number.
//!
//! A run ends where the program traps: at undefined behaviour that has no other meaning here, at `exit`,
//! and at failed assumptions.

mod encoded;
mod goals;
mod ids;
mod inlined;
mod machine;
mod memory;
mod pointers;
pub mod provenance;
mod request;
mod state;
mod summaries;

use std::cell::RefCell;
use std::collections::BTreeSet;

use lydian_smt::TermPool;

pub use encoded::{CallWrites, Encoded, GoalMeaning, InputRead};
pub use inlined::calls::{is_assertion, is_error};
pub use request::{
    EncodeError, EncodeLimits, EncodeRequest, GoalChoice, Goals, Rules, UninitialisedRead,
};

use goals::GoalTable;
use goals::labels::LabelSites;
use goals::sequences::SequenceSites;
use inlined::Inlined;
use inlined::calls::Code;
use inlined::graph::Graph;
use machine::Machine;
use machine::region::Builder;
use pointers::PointsTo;
use pointers::accesses::Accesses;
use pointers::objects::Objects;
use state::liveness::{Analysed, Liveness};
use state::slots::{Layouts, Slots};
use summaries::{Summaries, entangled};

/// Encodes a program.
///
/// # Errors
/// Where the entry has no body, and where the program has threads, signals or jumps between functions.
pub fn encode(pool: &mut TermPool, request: &EncodeRequest<'_>) -> Result<Encoded, EncodeError> {
    let program = request.program;
    let is_whole = request.whole;
    let code = Code::new(program);
    let mut opaque = BTreeSet::new();
    let (inlined, graph, objects, pointers) = loop {
        let inlined = Inlined::new(request, &opaque)?;
        let graph = Graph::new(&inlined);
        let objects = Objects::new(&inlined, &graph)?;
        let instances = inlined.instances.values().map(|instance| instance.function);
        if let Some(what) = code.runs_unsupported(program, instances) {
            return Err(EncodeError::Unsupported(what));
        }
        let pointers = PointsTo::new(&inlined, &objects, &code, is_whole);
        let entangled = entangled(&inlined, &objects, &pointers);
        if entangled.is_empty() {
            break (inlined, graph, objects, pointers);
        }
        request.check_time()?;
        opaque.extend(entangled);
    };
    let accesses = Accesses::new(&inlined, &objects, &pointers);
    let layouts = Layouts::new(program, &objects, &accesses, is_whole);
    let mut slots = Slots::new(&inlined, &objects, &layouts);
    if request.limits.outside {
        memory::outside::add_slot(&mut slots);
    }
    let sites = LabelSites::new(&inlined, request.goals);
    sites.add_slots(&inlined, &mut slots);
    let sequences = SequenceSites::new(&inlined, request.goals);
    sequences.add_slots(&inlined, &mut slots);
    let summaries = Summaries::new(&inlined, (&objects, &pointers), &code, &layouts, &mut slots);
    let analysed = Analysed {
        inlined: &inlined,
        objects: &objects,
        pointers: &pointers,
        layouts: &layouts,
        slots: &slots,
        code: &code,
        summaries: &summaries,
    };
    let live = Liveness::new(analysed, &graph, |node| {
        let mut notes = sites.notes((&inlined, &slots), node);
        sequences.notes((&inlined, &slots), node, &mut notes);
        summaries.notes(&inlined, node, &mut notes);
        notes
    });
    let machine = Machine {
        analysed,
        request: *request,
        is_whole,
        inexact: sequences.inexact().into_iter().collect(),
        reads: Vec::new(),
        recursive_calls: Vec::new(),
        goals: GoalTable::new(&inlined, request.goals),
        beyond: None,
        constants: RefCell::default(),
        sites: &sites,
        sequences: &sequences,
    };
    Builder::new(machine, &graph, &live).build(pool)
}
