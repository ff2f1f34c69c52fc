//! The request to rewrite a text.

use lydian_base::{SourceMap, Span};
use lydian_ir::Program;
use lydian_objective::{FunctionObjectives, UnitFlows};

/// What to rewrite, and how.
#[derive(Clone, Copy, Debug)]
pub struct RewriteRequest<'a> {
    /// The preprocessed text of one unit, or of several units of the program one after the other.
    pub map: &'a SourceMap,
    /// Where the text of each unit begins; empty if there is one unit. Only functions of the first
    /// unit are watched. The other units get probes for the definitions and uses of globals that
    /// these functions ask for.
    pub starts: &'a [u32],
    /// The program that was lowered from it.
    pub program: &'a Program,
    /// The watched functions, with their objectives.
    pub watched: &'a [FunctionObjectives],
    /// Whether conditions that evaluation does not reach are unknown.
    pub short_circuit: bool,
    /// Whether signed overflow is a fault.
    pub overflow_traps: bool,
    /// The purpose of the instrumented text.
    pub purpose: Purpose,
    /// Whether redundant probes are left out. [`crate::plan::add_redundant`] adds their cells.
    pub leaves_out: bool,
    /// Whether it is counted how often control passes entries, statements, and the ways of
    /// conditions and switches.
    pub counts: bool,
    /// Whether the compiler may evaluate operands in another order than from left to right, as gcc
    /// does. Then it is known only at run time which calls precede a use.
    pub any_order: bool,
    /// The data flow of the program, where others have asked for it; it is worked out if there is
    /// none.
    pub flows: Option<&'a UnitFlows>,
}

/// The purpose of an instrumented text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// An object that the runner calls functions of: tests set its static and thread-local
    /// variables, and its compile flags make every automatic variable start as zero.
    Tests,
    /// The user's own program, with the user's flags. Its variables stay as they are. A condition
    /// that evaluation does not reach may have an undefined value, which must not become undefined
    /// behaviour.
    Program,
}

impl<'a> RewriteRequest<'a> {
    /// The request for the text of one unit that tests call: with all redundant probes, without
    /// counters, and with the value of unreached conditions where that is defined.
    pub const fn for_tests(
        map: &'a SourceMap,
        program: &'a Program,
        watched: &'a [FunctionObjectives],
    ) -> Self {
        Self {
            map,
            starts: &[],
            program,
            watched,
            short_circuit: false,
            overflow_traps: false,
            purpose: Purpose::Tests,
            leaves_out: false,
            counts: false,
            any_order: false,
            flows: None,
        }
    }
}

impl RewriteRequest<'_> {
    /// The texts of the units.
    pub(crate) fn units(&self) -> Vec<Span> {
        let all = self.map.text().len() as u32;
        let starts = if self.starts.is_empty() { &[0] } else { self.starts };
        let ends = starts.iter().skip(1).copied().chain([all]);
        starts.iter().zip(ends).map(|(start, end)| Span::new(*start, end)).collect()
    }

    /// The offset at which the text of the first unit ends.
    pub fn own_end(&self) -> u32 {
        self.units()[0].end
    }

    /// The position of the unit that contains an offset of the text.
    pub(crate) fn unit_at(&self, offset: u32) -> usize {
        self.starts.partition_point(|start| *start <= offset).saturating_sub(1)
    }
}
