//! The encoder: from a program to a transition system.
//!
//! 1. Calls are inlined into one graph (`inlined`), whose cycles are cut at points (`graph`).
//! 2. An analysis of pointers says which objects each address may lie in, and at which offsets
//!    (`pointers`, `flows`). From that follow the accesses to each object (`accesses`) and the variables
//!    that hold its contents (`layout`).
//! 3. The parts of the state are slots (`slots`); at each point those that matter are variables
//!    (`liveness`).
//! 4. All paths from a point to the next are simulated at once (`region`), statement by statement, on
//!    states whose values are terms (`state`).
//!
//! # Where the system has more runs than the program
//! Each reason is in [`System::inexact`](crate::System::inexact). Memory behind pointers that are inputs
//! is one array of bytes without objects (`outside`). Calls of functions that are not known, recursion, and
//! functions beyond the limits give any value, change all that they can know, and count as reaching the
//! goals inside of them. Where a program uses the number of an address, it has any number.
//!
//! A run ends where the program traps: at undefined behaviour that has no other meaning here, at `exit`,
//! and at failed assumptions.

mod accesses;
mod blocks;
mod call_effects;
mod calls;
mod distance;
mod encoded;
mod flows;
mod goal_table;
mod graph;
mod ids;
mod initial;
mod inlined;
mod labels;
mod layout;
mod library;
mod liveness;
mod machine;
mod memory;
mod objects;
mod offset;
mod outside;
mod pointers;
mod reader;
mod region;
mod request;
mod sequences;
mod slots;
mod state;
mod statements;

use lydian_smt::TermPool;

pub use encoded::{Encoded, GoalMeaning, InputRead};
pub use request::{EncodeError, EncodeLimits, EncodeRequest, Goals, Rules, UninitialisedRead};

use accesses::Accesses;
use calls::Code;
use goal_table::GoalTable;
use graph::Graph;
use inlined::Inlined;
use labels::LabelSites;
use liveness::{Analysed, Liveness};
use machine::Machine;
use objects::Objects;
use pointers::PointsTo;
use region::Builder;
use sequences::SequenceSites;
use slots::{Layouts, Slots};

/// Encodes a program.
///
/// # Errors
/// Where the entry has no body, and where the program has threads, signals or jumps between functions.
pub fn encode(pool: &mut TermPool, request: &EncodeRequest<'_>) -> Result<Encoded, EncodeError> {
    let program = request.program;
    let is_whole = program.functions[request.entry].name == "main";
    let inlined = Inlined::new(request)?;
    let graph = Graph::new(&inlined);
    let objects = Objects::new(&inlined, &graph)?;
    let code = Code::new(program);
    let pointers = PointsTo::new(&inlined, &objects, &code, is_whole);
    let accesses = Accesses::new(&inlined, &objects, &pointers);
    let layouts = Layouts::new(program, &objects, &accesses, is_whole);
    let mut slots = Slots::new(&inlined, &objects, &layouts);
    if request.limits.outside {
        outside::add_slot(&mut slots);
    }
    let sites = LabelSites::new(&inlined, request.goals);
    sites.add_slots(&inlined, &mut slots);
    let sequences = SequenceSites::new(&inlined, request.goals.sequences);
    sequences.add_slots(&inlined, &mut slots);
    let analysed = Analysed {
        inlined: &inlined,
        objects: &objects,
        pointers: &pointers,
        layouts: &layouts,
        slots: &slots,
        code: &code,
    };
    let live = Liveness::new(analysed, &graph, |node| {
        let mut notes = sites.notes((&inlined, &slots), node);
        sequences.notes((&inlined, &slots), node, &mut notes);
        notes
    });
    let machine = Machine {
        analysed,
        request: *request,
        is_whole,
        inexact: sequences.inexact().into_iter().collect(),
        reads: Vec::new(),
        goals: GoalTable::new(&inlined, request.goals),
        beyond: None,
        sites: &sites,
        sequences: &sequences,
    };
    Ok(Builder::new(machine, &graph, &live).build(pool))
}
