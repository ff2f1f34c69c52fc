//! The inlined program: a tree of calls from the entry, and one graph of all its statements.
//!
//! Each call of a defined function is an instance of its own. A block is cut at the calls that are
//! inlined, so that a *node* is a run of statements without one. A call that is not inlined (too many
//! blocks, arguments that the type does not tell) stays a statement. A recursive function that a summary
//! stands for has one instance for all its calls.

pub(crate) mod calls;
pub(crate) mod graph;
pub(crate) mod recursion;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ops::Range;

use lydian_base::{Arena, EntityId, Span};
use lydian_ir::{
    BlockId, Body, CType, Callee, ExprArena, FuncId, Moment, Program, Stmt, StmtId, Terminator,
};

use crate::encode::ids::{InstanceId, NodeId};
use crate::encode::inlined::calls::{calls_later, handled_model, is_variadic, unsupported};
use crate::encode::inlined::recursion::recursive_functions;
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
    /// A call of a recursive function: the first successor is where that is entered, the second is the
    /// node after the call.
    Recursion { stmt: StmtId, callee: InstanceId },
    /// That of a node without statements, before or behind the body of a recursive function. It leads on to
    /// its successor, if it has one.
    Empty,
}

/// The instance of a recursive function.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Summary {
    pub(crate) function: FuncId,
    pub(crate) instance: InstanceId,
    /// The node that all its calls lead to, and that leads to its body.
    pub(crate) enter: NodeId,
    /// The node that all its returns lead to.
    pub(crate) exit: NodeId,
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
    /// The recursive functions.
    pub(crate) summaries: Vec<Summary>,
}

/// The inlined program while it is made.
struct Inliner<'a, 'r> {
    request: &'r EncodeRequest<'a>,
    instances: Arena<InstanceId, Instance<'a>>,
    nodes: Arena<NodeId, Node>,
    waiting: VecDeque<InstanceId>,
    blocks: usize,
    /// The recursive functions that have a summary, and the summaries that are made.
    recursive: BTreeSet<FuncId>,
    summaries: BTreeMap<FuncId, Summary>,
}

impl<'a> Inlined<'a> {
    /// Inlines calls from the entry, those of the fewest callers first. `opaque` are recursive functions
    /// without a summary.
    pub(crate) fn new(
        request: &EncodeRequest<'a>,
        opaque: &BTreeSet<FuncId>,
    ) -> Result<Self, EncodeError> {
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
        let mut inliner = Inliner {
            request,
            instances: Arena::new(),
            nodes: Arena::new(),
            waiting: VecDeque::new(),
            blocks: 0,
            recursive: BTreeSet::new(),
            summaries: BTreeMap::new(),
        };
        if is_whole {
            inliner.recursive = recursive_functions(program, &roots);
            inliner.recursive.retain(|function| !opaque.contains(function));
        }
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
        let Inliner { instances, nodes, summaries, .. } = inliner;
        let summaries = summaries.into_values().collect();
        Ok(Self { program, instances, nodes, entry, main, summaries })
    }

    /// The summary of which an instance is the body.
    pub(crate) fn summary(&self, instance: InstanceId) -> Option<&Summary> {
        self.summaries.iter().find(|summary| summary.instance == instance)
    }

    /// The instance that a chain of calls to an instance begins with.
    pub(crate) fn root(&self, mut instance: InstanceId) -> InstanceId {
        while let Some(call) = self.instances[instance].call {
            instance = call.caller;
        }
        instance
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
        let labels = self.request.goals.of(function);
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
                let summary = self.summary(call);
                if let Some(summary) = summary {
                    let next = self.rest(id, block, at + 1..content.stmts.len());
                    self.nodes[node].stmts = start..at;
                    self.nodes[node].successors = vec![summary.enter, next];
                    let callee = summary.instance;
                    self.nodes[node].exit = Exit::Recursion { stmt: *stmt, callee };
                    (node, start) = (next, at + 1);
                    continue;
                }
                let callees = self.callees(call, &wanted, args.len());
                if callees.is_empty() {
                    continue;
                }
                let next = self.rest(id, block, at + 1..content.stmts.len());
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

    /// A new node for the statements of a block behind a call.
    fn rest(&mut self, instance: InstanceId, block: BlockId, stmts: Range<usize>) -> NodeId {
        let exit = Exit::Terminator;
        self.nodes.push(Node { instance, block, stmts, exit, successors: Vec::new() })
    }

    /// The summary of the recursive function that a call is one of, made if it is the first one.
    fn summary(&mut self, call: CallSite) -> Option<Summary> {
        let caller = self.instances[call.caller].body;
        let Stmt::Call { callee: Callee::Direct(callee), args, dst_addr: None, .. } =
            &caller.stmts[call.stmt]
        else {
            return None;
        };
        if !self.recursive.contains(callee) {
            return None;
        }
        let program = self.request.program;
        let body = program.functions[*callee].body.as_ref()?;
        if args.len() < body.params.len() {
            return None;
        }
        if let Some(known) = self.summaries.get(callee) {
            return Some(*known);
        }
        if self.blocks + body.blocks.len() > self.request.limits.blocks {
            return None;
        }
        let name = program.functions[*callee].name.clone();
        let instance = self.instance(*callee, body, None, name);
        let end = body.blocks[body.entry].stmts.len();
        let enter = self.rest(instance, body.entry, end..end);
        let exit = self.rest(instance, body.entry, end..end);
        let entry = self.instances[instance].entry;
        self.nodes[enter].exit = Exit::Empty;
        self.nodes[enter].successors.push(entry);
        self.nodes[exit].exit = Exit::Empty;
        self.instances[instance].returns_to = Some(exit);
        let summary = Summary { function: *callee, instance, enter, exit };
        self.summaries.insert(*callee, summary);
        Some(summary)
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
        if self.recursive.contains(&function) {
            return None;
        }
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
