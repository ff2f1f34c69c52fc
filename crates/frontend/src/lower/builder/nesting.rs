//! The scopes, loops and switches around the statement that is being lowered.

use lydian_ir::{BlockId, LocalId, SwitchCase};

use crate::ast::{FunctionId, StmtId};

/// A scope of the text with the locals that end with it.
#[derive(Debug)]
pub(in crate::lower) struct Scope {
    /// The statement that opens it, by which labels know whether they are inside.
    pub stmt: StmtId,
    /// The memory locals that live in it.
    pub memory: Vec<LocalId>,
    /// The variables for which a function is called when it is left, in order.
    pub cleanups: Vec<(LocalId, FunctionId)>,
    /// The registers with the addresses of the variable length arrays that live in it.
    pub arrays: Vec<LocalId>,
}

/// Where `break` and `continue` lead.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct JumpTargets {
    /// After the loop or switch.
    pub break_to: BlockId,
    /// The loop's next turn; `None` in a switch.
    pub continue_to: Option<BlockId>,
    /// How many scopes are open around the loop or switch.
    pub depth: usize,
}

/// The cases of a switch whose body is being lowered.
#[derive(Debug, Default)]
pub(in crate::lower) struct SwitchCases {
    pub cases: Vec<SwitchCase>,
    pub default: Option<BlockId>,
}

/// How many scopes, loops and switches are open.
#[derive(Clone, Copy, Debug)]
pub(in crate::lower) struct NestingDepth {
    scopes: usize,
    jumps: usize,
    switches: usize,
}

/// The scopes, loops and switches around a statement, outermost first.
#[derive(Debug, Default)]
pub(in crate::lower) struct Nesting {
    scopes: Vec<Scope>,
    jumps: Vec<JumpTargets>,
    switches: Vec<SwitchCases>,
}

impl Nesting {
    /// How much is open.
    pub(in crate::lower) fn depth(&self) -> NestingDepth {
        let Self { scopes, jumps, switches } = self;
        NestingDepth { scopes: scopes.len(), jumps: jumps.len(), switches: switches.len() }
    }

    /// Closes the scopes, loops and switches beyond a depth.
    pub(in crate::lower) fn cut(&mut self, depth: NestingDepth) {
        self.scopes.truncate(depth.scopes);
        self.jumps.truncate(depth.jumps);
        self.switches.truncate(depth.switches);
    }

    /// All open scopes.
    pub(in crate::lower) fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// Opens the scope of a statement.
    pub(in crate::lower) fn open_scope(&mut self, stmt: StmtId) {
        let (memory, cleanups, arrays) = (Vec::new(), Vec::new(), Vec::new());
        self.scopes.push(Scope { stmt, memory, cleanups, arrays });
    }

    /// Closes the innermost scope.
    pub(in crate::lower) fn close_scope(&mut self) {
        self.scopes.pop();
    }

    /// A memory local lives to the end of the innermost scope.
    pub(in crate::lower) fn add_memory(&mut self, local: LocalId) {
        if let Some(scope) = self.scopes.last_mut()
            && !scope.memory.contains(&local)
        {
            scope.memory.push(local);
        }
    }

    /// A variable length array lives to the end of the innermost scope; `pointer` has its address.
    pub(in crate::lower) fn add_array(&mut self, pointer: LocalId) {
        if let Some(scope) = self.scopes.last_mut()
            && !scope.arrays.contains(&pointer)
        {
            scope.arrays.push(pointer);
        }
    }

    /// A function is to be called for a variable when the innermost scope is left.
    pub(in crate::lower) fn add_cleanup(&mut self, local: LocalId, function: FunctionId) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.cleanups.push((local, function));
        }
    }

    /// Opens a loop, or a switch, in which there is no `continue_to`.
    pub(in crate::lower) fn open_jumps(&mut self, break_to: BlockId, continue_to: Option<BlockId>) {
        let depth = self.scopes.len();
        self.jumps.push(JumpTargets { break_to, continue_to, depth });
    }

    pub(in crate::lower) fn close_jumps(&mut self) {
        self.jumps.pop();
    }

    /// The targets of the loops and switches, innermost first.
    pub(in crate::lower) fn jumps(&self) -> impl Iterator<Item = &JumpTargets> {
        self.jumps.iter().rev()
    }

    /// Begins to collect the cases of a switch.
    pub(in crate::lower) fn open_switch(&mut self) {
        self.switches.push(SwitchCases::default());
    }

    /// The cases of the innermost switch, if there is one.
    pub(in crate::lower) fn switch_mut(&mut self) -> Option<&mut SwitchCases> {
        self.switches.last_mut()
    }

    /// Ends the innermost switch: its cases.
    pub(in crate::lower) fn close_switch(&mut self) -> SwitchCases {
        self.switches.pop().unwrap_or_default()
    }
}
