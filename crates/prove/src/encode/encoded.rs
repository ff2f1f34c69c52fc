//! The result of an encoding.

use lydian_base::{Arena, SideTable};
use lydian_ir::{CTypeId, FuncId, StmtId};
use lydian_objective::LabelId;
use lydian_objective::hyper::SequenceId;
use lydian_smt::Term;

use crate::encode::provenance::{Provenance, VariablePlace};
use crate::engines::Choice;
use crate::system::{GoalId, PointId, RecursiveCall, System};

/// A program as a transition system, and the way back.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// The system.
    pub system: System,
    /// The meaning of each goal, in the order of the system's.
    pub goals: Arena<GoalId, GoalMeaning>,
    /// The inputs that are read between each point and the next, in the order in which a path reads
    /// them. A path reads those whose condition holds.
    pub inputs: SideTable<PointId, Vec<InputRead>>,
    /// How many of the inputs that are read from an approach's point lie before its goal: for each goal,
    /// in the order of its approaches.
    pub inputs_before: Arena<GoalId, Vec<usize>>,
    /// The parts of the program that the system's variables and points stand for.
    pub provenance: Provenance,
    /// The calls of recursive functions. Those from one point are in an order in which values of later ones
    /// depend on results of earlier ones only.
    pub calls: Vec<RecursiveCall>,
    /// Whether runs begin with the program, and not in a function in any state.
    pub is_whole: bool,
}

impl Encoded {
    /// The inputs that may be read on a step of a run to a goal.
    pub fn inputs_of_step(&self, goal: GoalId, choice: Choice) -> &[InputRead] {
        match choice {
            Choice::Transition(index) => &self.inputs[self.system.transitions[index].from],
            Choice::Approach(index) => self.inputs_of_approach(goal, index),
        }
    }

    /// The inputs that are read on the way from the point of a goal's approach to the goal, among
    /// others whose conditions do not hold on that way.
    pub fn inputs_of_approach(&self, goal: GoalId, approach: usize) -> &[InputRead] {
        let from = self.system.goals[goal].approaches[approach].from;
        &self.inputs[from][..self.inputs_before[goal][approach]]
    }
}

/// What a goal stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum GoalMeaning {
    /// A call of an error function.
    Error {
        /// The caller.
        function: FuncId,
        /// The call.
        call: StmtId,
    },
    /// A label.
    Label {
        /// Its function.
        function: FuncId,
        /// The label.
        label: LabelId,
    },
    /// A sequence of labels.
    Sequence {
        /// The function that it belongs to.
        function: FuncId,
        /// The sequence.
        sequence: SequenceId,
    },
}

/// A read of an input: a call of an undefined function that gives a value.
#[derive(Clone, Debug)]
pub struct InputRead {
    /// The value, a symbol.
    pub symbol: Term,
    /// Where it is read: a Boolean over variables and inputs.
    pub condition: Term,
    /// The function.
    pub function: String,
    /// The C type of the value; of the byte of an object, that of the object's address.
    pub ty: CTypeId,
    /// For an object that a call fills: the place of the byte that this is. The bytes of one object
    /// follow one another.
    pub part: Option<u64>,
    /// What the call may have written, if it is none of a function that only gives inputs.
    pub writes: Option<CallWrites>,
}

/// What a call of an undefined function may have written, as far as its arguments lead there.
#[derive(Clone, Debug)]
pub struct CallWrites {
    /// The arguments, with their C types.
    pub args: Vec<(Term, CTypeId)>,
    /// The memory that is no object of the program, after the call.
    pub memory: Option<Term>,
    /// Parts of the objects that the arguments lead to, after the call.
    pub parts: Vec<(VariablePlace, Term)>,
}
