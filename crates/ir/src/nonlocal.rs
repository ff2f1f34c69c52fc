//! `setjmp` and `longjmp`: the contents of a `jmp_buf` in every engine.
//!
//! `setjmp` is an ordinary call. It writes a *ticket* into its buffer: which activation called it
//! and where in that function's body the call stands. `longjmp` reads the ticket, ends all
//! activations above that one, and lets the call return again. Locals keep their current values,
//! as they do in code that is compiled without optimisation.

use lydian_base::EntityId;

use crate::libc::{JumpFn, LibFn, model_named};
use crate::program::Program;
use crate::program::function::Body;
use crate::program::stmt::{BlockId, Callee, Stmt};

/// Bytes of a ticket; every `jmp_buf` is larger, and so are the five pointers of
/// `__builtin_setjmp`, also where they have four bytes each.
pub const TICKET_BYTES: u64 = 16;

/// The upper bits of a ticket's first word, which tell tickets from other bytes.
const MARK: u64 = 0x74_6b74;

/// How many bits below the mark number the activation.
const ACTIVATION_BITS: u32 = 40;

/// Where a `setjmp` waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The activation, by a number that no other activation of the run has. A ticket keeps 40 bits
    /// of it, more than a run has calls.
    pub activation: u64,
    /// The block of the call.
    pub block: BlockId,
    /// The call's position among the block's statements.
    pub position: u32,
}

impl Ticket {
    /// The words that stand in memory, eight bytes each.
    pub fn words(self) -> [u64; 2] {
        let place = (self.block.index() as u64) << 32 | u64::from(self.position);
        let activation = self.activation & ((1 << ACTIVATION_BITS) - 1);
        [MARK << ACTIVATION_BITS | activation, place]
    }

    /// The ticket that such words are; `None` where they are none.
    pub fn of_words(words: [u64; 2]) -> Option<Self> {
        let [first, place] = words;
        (first >> ACTIVATION_BITS == MARK).then(|| Self {
            activation: first & ((1 << ACTIVATION_BITS) - 1),
            block: BlockId::from_index((place >> 32) as usize),
            position: place as u32,
        })
    }

    /// Whether a call of `setjmp` stands where it says, in a body.
    pub fn suits(&self, program: &Program, body: &Body) -> bool {
        let block = body.blocks.get(self.block);
        let stmt = block.and_then(|block| block.stmts.get(self.position as usize));
        match stmt.map(|stmt| &body.stmts[*stmt]) {
            Some(Stmt::Call { callee: Callee::Direct(function), .. }) => {
                let name = &program.functions[*function].name;
                model_named(name).is_some_and(|model| sets(model.function))
            }
            Some(Stmt::Call { callee: Callee::Indirect(_), .. }) => true,
            _ => false,
        }
    }
}

/// Whether a modelled function is a `setjmp`.
pub const fn sets(function: LibFn) -> bool {
    matches!(function, LibFn::Jump(function) if function.sets())
}

impl JumpFn {
    /// Whether it is a `setjmp`, not a `longjmp`.
    pub const fn sets(self) -> bool {
        match self {
            Self::Setjmp
            | Self::UnderscoreSetjmp
            | Self::Sigsetjmp
            | Self::UnderscoreSigsetjmp
            | Self::BuiltinSetjmp => true,
            Self::Longjmp | Self::UnderscoreLongjmp | Self::Siglongjmp | Self::BuiltinLongjmp => {
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_reads_back_from_memory_and_other_bytes_are_none() {
        let ticket = Ticket { activation: 7, block: BlockId::from_index(3), position: 2 };
        assert_eq!(Ticket::of_words(ticket.words()), Some(ticket));
        assert_eq!(Ticket::of_words([0; 2]), None);
    }
}
