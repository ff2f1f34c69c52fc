//! The inlined program: a tree of calls from the entry, and one graph of all its statements.
//!
//! Each call of a defined function is an instance of its own. A block is cut at the calls that are
//! inlined, so that a *node* is a run of statements without one. A call that is not inlined (recursion,
//! too many blocks, arguments that the type does not tell) stays a statement.

pub(crate) mod calls;
pub(crate) mod graph;

use std::collections::VecDeque;
use std::ops::Range;

use lydian_base::{Arena, EntityId, Span};
use lydian_ir::{
    BlockId, Body, CType, Callee, ExprArena, FuncId, Moment, Program, Stmt, StmtId, Terminator,
};

use crate::encode::ids::{InstanceId, NodeId};
use crate::encode::inlined::calls::{calls_later, handled_model, is_variadic, unsupported};
use crate::encode::request::{EncodeError, EncodeRequest};

/// A function in one context of calls.
#[derive(Debug)]
pub(crate) struct Instance<'a> {
    pub(crate) function: FuncId,
    pub(crate) body: &'a Body,
    /// The body's expressions, and after them those of the labels that are goals.
    pub(crate) exprs: &'a ExprArena,
    /// The call; none for a function that the run begins with.
    pub(crate) call: Option<CallSite>,
    /// Where control goes on after its return.
    pub(crate) returns_to: Option<NodeId>,
    pub(crate) entry: NodeId,
    pub(crate) name: String,
}

impl Instance<'_> {
    /// The text of the first statement of a block, or of what ends it.
    pub(crate) fn block_span(&self, block: BlockId) -> Span {
        let source = &self.body.source;
        let first = self.body.blocks[block].stmts.first();
        first.map_or(source.terms[block], |stmt| source.stmts[*stmt])
    }
}

/// A call in an instance.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallSite {
    pub(crate) caller: InstanceId,
    pub(crate) stmt: StmtId,
}

/// A run of statements of a block.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) instance: InstanceId,
    pub(crate) block: BlockId,
    /// Its statements, by their positions in the block.
    pub(crate) stmts: Range<usize>,
    pub(crate) exit: Exit,
    pub(crate) successors: Vec<NodeId>,
}

/// The end of a node.
#[derive(Debug)]
pub(crate) enum Exit {
    /// The block's terminator; the successors by the number of the way. A return has one or none.
    Terminator,
    /// A call of one of some instances, in the order of the successors.
    Call {
        stmt: StmtId,
        callees: Vec<InstanceId>,
        /// Whether the last successor is the node after the call: no instance is called, but what is
        /// not known.
        may_skip: bool,
    },
}

/// The inlined program.
#[derive(Debug)]
pub(crate) struct Inlined<'a> {
    pub(crate) program: &'a Program,
    pub(crate) instances: Arena<InstanceId, Instance<'a>>,
    pub(crate) nodes: Arena<NodeId, Node>,
    pub(crate) entry: NodeId,
    /// The instance of the entry function.
    pub(crate) main: InstanceId,
}

/// The inlined program while it is made.
struct Inliner<'a, 'r> {
    request: &'r EncodeRequest<'a>,
    instances: Arena<InstanceId, Instance<'a>>,
    nodes: Arena<NodeId, Node>,
    waiting: VecDeque<InstanceId>,
    blocks: usize,
}

impl<'a> Inlined<'a> {
    /// Inlines calls from the entry, those of the fewest callers first.
    pub(crate) fn new(request: &EncodeRequest<'a>) -> Result<Self, EncodeError> {
        let mut inliner = Inliner {
            request,
            instances: Arena::new(),
            nodes: Arena::new(),
            waiting: VecDeque::new(),
            blocks: 0,
        };
        let program = request.program;
        let is_whole = request.whole;
        let mut roots = Vec::new();
        if is_whole {
            if !program.run_at(Moment::AtExit).is_empty() {
                return Err(EncodeError::Unsupported("a function that runs at the exit".into()));
            }
            roots.extend(program.run_at(Moment::BeforeMain));
        }
        roots.push(request.entry);
        let mut instances = Vec::new();
        for root in roots {
            let name = program.functions[root].name.clone();
            let body = program.functions[root].body.as_ref();
            let body = body.ok_or_else(|| EncodeError::NoBody(name.clone()))?;
            instances.push(inliner.instance(root, body, None, name));
        }
        for pair in instances.windows(2) {
            let next = inliner.instances[pair[1]].entry;
            inliner.instances[pair[0]].returns_to = Some(next);
        }
        while let Some(instance) = inliner.waiting.pop_front() {
            inliner.fill(instance)?;
        }
        inliner.link_returns();
        let (first, main) = (instances[0], instances[instances.len() - 1]);
        let entry = inliner.instances[first].entry;
        let Inliner { instances, nodes, .. } = inliner;
        Ok(Self { program, instances, nodes, entry, main })
    }

    /// The statements of a node, in order.
    pub(crate) fn stmts(&self, node: NodeId) -> impl Iterator<Item = StmtId> + use<'a> {
        let node = &self.nodes[node];
        let body = self.instances[node.instance].body;
        body.blocks[node.block].stmts[node.stmts.clone()].iter().copied()
    }

    /// The terminator that a node ends with, if it does.
    pub(crate) fn terminator(&self, node: NodeId) -> Option<&'a Terminator> {
        let node = &self.nodes[node];
        let body = self.instances[node.instance].body;
        matches!(node.exit, Exit::Terminator).then(|| &body.blocks[node.block].term)
    }

    /// The call that an instance was made for.
    pub(crate) fn call_of(&self, instance: InstanceId) -> Option<(InstanceId, &'a Stmt)> {
        let call = self.instances[instance].call?;
        Some((call.caller, &self.instances[call.caller].body.stmts[call.stmt]))
    }

    /// The size of what an instance returns, if its type has one.
    pub(crate) fn result_size(&self, instance: InstanceId) -> Option<u64> {
        let function = &self.program.functions[self.instances[instance].function];
        match self.program.types.get(function.ty) {
            CType::Function { result, .. } => self.program.types.size(*result),
            _ => None,
        }
    }

    /// Whether a node is the first of its block.
    pub(crate) fn begins_block(&self, node: NodeId) -> bool {
        self.nodes[node].stmts.start == 0
    }
}

impl<'a> Inliner<'a, '_> {
    /// Makes an instance, with an empty node for each of its blocks.
    fn instance(
        &mut self,
        function: FuncId,
        body: &'a Body,
        call: Option<CallSite>,
        name: String,
    ) -> InstanceId {
        let goals = &self.request.goals;
        let labels = goals.labels.or(goals.sequences);
        let labels = labels.filter(|labels| labels.function == function);
        let exprs = labels.map_or(&body.exprs, |labels| &labels.exprs);
        let id = self.instances.next_id();
        let first = self.nodes.next_id();
        for (block, _) in body.blocks.iter() {
            let exit = Exit::Terminator;
            let node = Node { instance: id, block, stmts: 0..0, exit, successors: Vec::new() };
            self.nodes.push(node);
        }
        let entry = node_of(first, body.entry);
        let returns_to = None;
        self.instances.push(Instance { function, body, exprs, call, returns_to, entry, name });
        self.blocks += body.blocks.len();
        self.waiting.push_back(id);
        id
    }

    /// Gives the nodes of an instance their statements, and makes instances for its calls.
    fn fill(&mut self, id: InstanceId) -> Result<(), EncodeError> {
        let body = self.instances[id].body;
        let first = NodeId::from_index(self.instances[id].entry.index() - body.entry.index());
        for (block, content) in body.blocks.iter() {
            let (mut node, mut start) = (node_of(first, block), 0);
            for (at, stmt) in content.stmts.iter().enumerate() {
                let Stmt::Call { callee, args, arg_types, ty, .. } = &body.stmts[*stmt] else {
                    continue;
                };
                let wanted = match callee {
                    Callee::Direct(callee) => vec![*callee],
                    Callee::Indirect(_) => self.choices(*ty, arg_types),
                };
                for callee in &wanted {
                    if let Some(what) = unsupported(self.request.program, *callee) {
                        return Err(EncodeError::Unsupported(what));
                    }
                }
                let call = CallSite { caller: id, stmt: *stmt };
                let callees = self.callees(call, &wanted, args.len());
                if callees.is_empty() {
                    continue;
                }
                let next = self.nodes.next_id();
                let rest = at + 1..content.stmts.len();
                let exit = Exit::Terminator;
                let after = Node { instance: id, block, stmts: rest, exit, successors: Vec::new() };
                self.nodes.push(after);
                let may_skip = matches!(callee, Callee::Indirect(_));
                self.end_with_call(node, start..at, (call, callees), (next, may_skip));
                (node, start) = (next, at + 1);
            }
            self.nodes[node].stmts = start..content.stmts.len();
            let mut successors = Vec::new();
            content.term.for_each_successor(|to| successors.push(node_of(first, to)));
            self.nodes[node].successors = successors;
        }
        Ok(())
    }

    fn end_with_call(
        &mut self,
        node: NodeId,
        stmts: Range<usize>,
        (call, callees): (CallSite, Vec<InstanceId>),
        (next, may_skip): (NodeId, bool),
    ) {
        let mut successors = Vec::new();
        for callee in &callees {
            self.instances[*callee].returns_to = Some(next);
            successors.push(self.instances[*callee].entry);
        }
        successors.extend(may_skip.then_some(next));
        let node = &mut self.nodes[node];
        node.stmts = stmts;
        node.successors = successors;
        node.exit = Exit::Call { stmt: call.stmt, callees, may_skip };
    }

    /// The defined functions that a call through a pointer of this type may call; none if there are
    /// too many.
    fn choices(&self, ty: lydian_ir::CTypeId, args: &[lydian_ir::CTypeId]) -> Vec<FuncId> {
        let program = self.request.program;
        let suits =
            |function: &FuncId| program.types.call_suits(program.functions[*function].ty, ty, args);
        let found: Vec<FuncId> = program.addressed_functions().into_iter().filter(suits).collect();
        if found.len() > self.request.limits.choices { Vec::new() } else { found }
    }

    /// New instances for those of some functions that can be inlined at a call.
    fn callees(&mut self, call: CallSite, wanted: &[FuncId], args: usize) -> Vec<InstanceId> {
        let mut callees = Vec::new();
        for function in wanted {
            if let Some(body) = self.inlinable(call.caller, *function, args) {
                let program = self.request.program;
                let caller = &self.instances[call.caller].name;
                let name = format!("{caller}/{}", program.functions[*function].name);
                callees.push(self.instance(*function, body, Some(call), name));
            }
        }
        callees
    }

    /// The body of a function that can be inlined at a call.
    fn inlinable(&self, caller: InstanceId, function: FuncId, args: usize) -> Option<&'a Body> {
        let program = self.request.program;
        let callee = &program.functions[function];
        let body = callee.body.as_ref()?;
        let fits = self.blocks + body.blocks.len() <= self.request.limits.blocks;
        let is_odd = is_variadic(program, callee) || args < body.params.len();
        if !fits || is_odd || calls_later(callee) || handled_model(program, callee).is_some() {
            return None;
        }
        let mut at = Some(caller);
        while let Some(instance) = at {
            if self.instances[instance].function == function {
                return None;
            }
            at = self.instances[instance].call.map(|call| call.caller);
        }
        Some(body)
    }

    /// Leads each return to the node after its call.
    fn link_returns(&mut self) {
        for (_, node) in self.nodes.iter_mut() {
            let instance = &self.instances[node.instance];
            let is_return = matches!(instance.body.blocks[node.block].term, Terminator::Return(_));
            if is_return && matches!(node.exit, Exit::Terminator) {
                node.successors = instance.returns_to.into_iter().collect();
            }
        }
    }
}

/// The first node of a block of an instance whose first block has the node `first`.
fn node_of(first: NodeId, block: BlockId) -> NodeId {
    NodeId::from_index(first.index() + block.index())
}
