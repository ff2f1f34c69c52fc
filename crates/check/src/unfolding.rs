//! The program unfolded along the calls that a certificate tells apart, as one graph, and its points.
//!
//! The certificate says which calls are followed. Every other call is one of code that is not followed,
//! whatever it calls. So a wrong list of instances leaves more runs, or is refused.
//!
//! A recursive instance stands for all activations of its function that calls by name begin. Such a call
//! leads to where the function is entered, or, if it returns, to the node behind it (`recursion`).

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use lydian_base::{EntityId, SideTable};
use lydian_ir::stmt::Terminator;
use lydian_ir::{
    BinOp, BlockId, Body, CType, Callee, CastOp, Expr, ExprId, FuncId, Moment, Program, Stmt,
    StmtId, Type,
};

use crate::document::{Beginning, Certificate, PointKind};
use crate::fault::Fault;

/// An activation.
#[derive(Debug)]
pub(crate) struct Instance<'a> {
    pub(crate) function: FuncId,
    pub(crate) body: &'a Body,
    pub(crate) types: Rc<SideTable<ExprId, Type>>,
    /// The caller and the call.
    pub(crate) call: Option<(usize, StmtId)>,
    /// The nodes before and behind the body, if it stands for all activations of a function.
    pub(crate) ends: Option<Ends>,
    /// The calls that are followed.
    pub(crate) callees: BTreeMap<StmtId, Vec<usize>>,
    /// The node of its block 0; the others follow in the order of the blocks.
    first: usize,
    /// The node that control goes to when it returns.
    pub(crate) returns_to: Option<usize>,
}

/// The nodes before and behind the body of a recursive instance.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ends {
    /// All calls lead here.
    pub(crate) enter: usize,
    /// All returns lead here.
    pub(crate) exit: usize,
}

/// A run of statements of a block.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) instance: usize,
    pub(crate) block: BlockId,
    pub(crate) stmts: Vec<StmtId>,
    pub(crate) exit: Exit,
}

/// The end of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exit {
    /// The block's terminator.
    Terminator,
    /// A call that is followed, and the node behind it.
    Call { stmt: StmtId, next: usize },
    /// A call of a recursive instance, and the node behind it.
    Recursion { stmt: StmtId, callee: usize, next: usize },
    /// The beginning of the body of a recursive instance.
    Enter,
    /// Nothing follows.
    Return,
}

/// The unfolded program.
#[derive(Debug)]
pub(crate) struct Unfolding<'a> {
    pub(crate) program: &'a Program,
    pub(crate) beginning: Beginning,
    pub(crate) instances: Vec<Instance<'a>>,
    pub(crate) nodes: Vec<Node>,
    /// The nodes of the points, the entry first.
    pub(crate) points: Vec<usize>,
}

impl Instance<'_> {
    /// Whether a run begins with it.
    pub(crate) fn is_root(&self) -> bool {
        self.call.is_none() && self.ends.is_none()
    }
}

impl<'a> Unfolding<'a> {
    pub(crate) fn new(program: &'a Program, certificate: &Certificate) -> Result<Self, Fault> {
        let mut instances = Vec::new();
        let mut types = BTreeMap::new();
        for (at, instance) in certificate.instances.iter().enumerate() {
            let made = instance_of(program, &instances, instance, &mut types);
            instances.push(made.map_err(|what| Fault::form(format!("instance {at}: {what}")))?);
        }
        let beginning = certificate.program.beginning;
        let (nodes, points) = (Vec::new(), Vec::new());
        let mut unfolding = Self { program, beginning, instances, nodes, points };
        unfolding.link_callees()?;
        unfolding.check_roots(certificate)?;
        unfolding.add_nodes();
        unfolding.add_points(certificate)?;
        unfolding.check_ends()?;
        Ok(unfolding)
    }

    /// Tells each instance which calls of it are followed.
    fn link_callees(&mut self) -> Result<(), Fault> {
        for at in 0..self.instances.len() {
            let Some((caller, stmt)) = self.instances[at].call else { continue };
            let function = self.instances[at].function;
            if self.follows((caller, stmt), function) {
                return Err(Fault::form("a call has two instances of one function"));
            }
            self.instances[caller].callees.entry(stmt).or_default().push(at);
        }
        Ok(())
    }

    /// The instances without a call are those that a run begins with.
    fn check_roots(&self, certificate: &Certificate) -> Result<(), Fault> {
        let program = self.program;
        let entry = program
            .function_named(&certificate.program.entry)
            .ok_or_else(|| Fault::form("the entry is not there"))?;
        let is_whole = self.beginning.is_of_program();
        if is_whole && certificate.program.entry != "main" {
            return Err(Fault::unsupported("a program that does not begin with `main`"));
        }
        if !is_whole && has_any_arguments(program, entry) {
            return Err(Fault::unsupported("a function with any number of arguments"));
        }
        if !program.run_at(Moment::AtExit).is_empty() {
            return Err(Fault::unsupported("functions that run at the exit"));
        }
        let mut expected = if is_whole { program.run_at(Moment::BeforeMain) } else { Vec::new() };
        expected.push(entry);
        let roots: Vec<FuncId> = self
            .instances
            .iter()
            .filter(|instance| instance.is_root())
            .map(|instance| instance.function)
            .collect();
        if roots == expected {
            return Ok(());
        }
        Err(Fault::form("runs begin with other functions than the instances say"))
    }

    fn add_nodes(&mut self) {
        for at in 0..self.instances.len() {
            let body = self.instances[at].body;
            self.instances[at].first = self.nodes.len();
            for (block, _) in body.blocks.iter() {
                self.add_node(at, block, Exit::Terminator);
            }
            if self.instances[at].ends.is_some() {
                let enter = self.add_node(at, body.entry, Exit::Enter);
                let exit = self.add_node(at, body.entry, Exit::Return);
                self.instances[at].ends = Some(Ends { enter, exit });
                self.instances[at].returns_to = Some(exit);
            }
        }
        for at in 0..self.instances.len() {
            let body = self.instances[at].body;
            for (block, content) in body.blocks.iter() {
                let mut node = self.instances[at].first + block.index();
                for stmt in &content.stmts {
                    let callees = self.instances[at].callees.get(stmt).cloned();
                    let recursive = self.recursive_callee(at, *stmt);
                    if callees.is_none() && recursive.is_none() {
                        self.nodes[node].stmts.push(*stmt);
                        continue;
                    }
                    let next = self.add_node(at, block, Exit::Terminator);
                    self.nodes[node].exit = match recursive {
                        Some(callee) => Exit::Recursion { stmt: *stmt, callee, next },
                        None => Exit::Call { stmt: *stmt, next },
                    };
                    for callee in callees.into_iter().flatten() {
                        self.instances[callee].returns_to = Some(next);
                    }
                    node = next;
                }
            }
        }
        let roots: Vec<usize> =
            (0..self.instances.len()).filter(|at| self.instances[*at].is_root()).collect();
        for pair in roots.windows(2) {
            self.instances[pair[0]].returns_to = Some(self.entry_of(pair[1]));
        }
    }

    fn add_node(&mut self, instance: usize, block: BlockId, exit: Exit) -> usize {
        self.nodes.push(Node { instance, block, stmts: Vec::new(), exit });
        self.nodes.len() - 1
    }

    /// The recursive instance that a call by name leads to: one without an instance of its own.
    pub(crate) fn recursive_callee(&self, caller: usize, stmt: StmtId) -> Option<usize> {
        let content = &self.instances[caller];
        let Stmt::Call { callee: Callee::Direct(callee), args, dst_addr: None, .. } =
            &content.body.stmts[stmt]
        else {
            return None;
        };
        if content.callees.contains_key(&stmt) {
            return None;
        }
        let suits = |instance: &Instance<'_>| {
            let is_it = instance.ends.is_some() && instance.function == *callee;
            is_it && args.len() >= instance.body.params.len()
        };
        self.instances.iter().position(suits)
    }

    /// The instance that a chain of calls to an instance begins with.
    pub(crate) fn root(&self, mut instance: usize) -> usize {
        while let Some((caller, _)) = self.instances[instance].call {
            instance = caller;
        }
        instance
    }

    /// The node where control enters an instance.
    pub(crate) fn entry_of(&self, instance: usize) -> usize {
        self.block(instance, self.instances[instance].body.entry)
    }

    /// The node where a block begins.
    pub(crate) fn block(&self, instance: usize, block: BlockId) -> usize {
        self.instances[instance].first + block.index()
    }

    fn add_points(&mut self, certificate: &Certificate) -> Result<(), Fault> {
        for (at, point) in certificate.points.iter().enumerate() {
            let instance = self.instances.get(point.instance);
            let block = BlockId::from_index(point.block as usize);
            if instance.is_none_or(|instance| instance.body.blocks.get(block).is_none()) {
                return Err(Fault::form(format!("point {at} is at no block")));
            }
            self.points.push(match (point.kind, self.instances[point.instance].ends) {
                (PointKind::Block, _) => self.block(point.instance, block),
                (PointKind::Enter, Some(ends)) => ends.enter,
                (PointKind::Return, Some(ends)) => ends.exit,
                (_, None) => {
                    return Err(Fault::form(format!("point {at} is of no recursive instance")));
                }
            });
        }
        let root = self.instances.iter().position(Instance::is_root);
        let entry = root.map(|root| self.entry_of(root));
        if self.points.first().copied() != entry {
            return Err(Fault::form("the first point is not the entry"));
        }
        let different: BTreeSet<usize> = self.points.iter().copied().collect();
        if different.len() != self.points.len() {
            return Err(Fault::form("two points are at one place"));
        }
        Ok(())
    }

    /// A recursive instance has points where it is entered and where it returns, and is the only one of
    /// its function.
    fn check_ends(&self) -> Result<(), Fault> {
        let mut functions = BTreeSet::new();
        for instance in &self.instances {
            let Some(ends) = instance.ends else { continue };
            if !functions.insert(instance.function) {
                return Err(Fault::form("a function has two recursive instances"));
            }
            if !self.points.contains(&ends.enter) || !self.points.contains(&ends.exit) {
                return Err(Fault::form("a recursive instance has no points at its ends"));
            }
        }
        Ok(())
    }

    /// Whether a call is followed to a function.
    pub(crate) fn follows(&self, (caller, stmt): (usize, StmtId), function: FuncId) -> bool {
        let mut callees = self.instances[caller].callees.get(&stmt).into_iter().flatten();
        callees.any(|callee| self.instances[*callee].function == function)
    }

    /// The nodes that control may go to from a node.
    pub(crate) fn successors(&self, node: usize) -> Vec<usize> {
        let content = &self.nodes[node];
        let instance = &self.instances[content.instance];
        match content.exit {
            Exit::Call { stmt, next } => {
                let mut all: Vec<usize> = instance
                    .callees
                    .get(&stmt)
                    .into_iter()
                    .flatten()
                    .map(|callee| self.entry_of(*callee))
                    .collect();
                if self.is_indirect(content.instance, stmt) {
                    all.push(next);
                }
                all
            }
            Exit::Recursion { callee, next, .. } => {
                let enter = self.instances[callee].ends.map(|ends| ends.enter);
                enter.into_iter().chain([next]).collect()
            }
            Exit::Enter => vec![self.entry_of(content.instance)],
            Exit::Return => Vec::new(),
            Exit::Terminator => {
                let term = &instance.body.blocks[content.block].term;
                if matches!(term, Terminator::Return(_)) {
                    return instance.returns_to.into_iter().collect();
                }
                let mut all = Vec::new();
                term.for_each_successor(|to| all.push(self.block(content.instance, to)));
                all
            }
        }
    }

    /// Whether a call goes through a pointer.
    pub(crate) fn is_indirect(&self, instance: usize, stmt: StmtId) -> bool {
        let stmt = &self.instances[instance].body.stmts[stmt];
        matches!(stmt, Stmt::Call { callee: Callee::Indirect(_), .. })
    }

    /// The nodes that a node leads to without passing a point, each before those that it leads to but for
    /// ways that close a cycle.
    pub(crate) fn between_points(&self, start: usize) -> Vec<usize> {
        let mut visited = BTreeSet::from([start]);
        let mut stack = vec![(start, self.successors(start))];
        let mut order = Vec::new();
        while let Some((node, left)) = stack.last_mut() {
            let Some(to) = left.pop() else {
                order.push(*node);
                stack.pop();
                continue;
            };
            if self.points.contains(&to) {
                continue;
            }
            if visited.insert(to) {
                stack.push((to, self.successors(to)));
            }
        }
        order.reverse();
        order
    }

    /// Whether control may come to a node again and again.
    pub(crate) fn is_in_cycle(&self, node: usize) -> bool {
        let mut seen = BTreeSet::new();
        let mut waiting = self.successors(node);
        while let Some(at) = waiting.pop() {
            if at == node {
                return true;
            }
            if seen.insert(at) {
                waiting.extend(self.successors(at));
            }
        }
        false
    }

    /// The number of an expression that is a constant.
    pub(crate) fn constant(&self, instance: usize, expr: ExprId) -> Option<u64> {
        match self.instances[instance].body.exprs[expr] {
            Expr::Const(_, value) => u64::try_from(value).ok(),
            _ => None,
        }
    }

    /// The pointer and the distance of a number that is a moved address, as in `(uintptr_t)p + 8`.
    pub(crate) fn moved_address(&self, instance: usize, number: ExprId) -> Option<(ExprId, i64)> {
        let content = &self.instances[instance];
        let exprs = &content.body.exprs;
        let (mut at, mut distance) = (number, 0_i64);
        loop {
            match exprs[at] {
                Expr::Cast(CastOp::Bits, Type::Int(64), pointer)
                    if content.types[pointer] == Type::Ptr =>
                {
                    return Some((pointer, distance));
                }
                Expr::Binary(op @ (BinOp::AddU | BinOp::SubU), a, b) => {
                    let Expr::Const(Type::Int(64), by) = exprs[b] else { return None };
                    let by = by as i64;
                    let by = if op == BinOp::AddU { Some(by) } else { by.checked_neg() };
                    distance = distance.checked_add(by?)?;
                    at = a;
                }
                _ => return None,
            }
        }
    }

    /// The node that executes a statement of an instance.
    pub(crate) fn node_of(&self, instance: usize, stmt: StmtId) -> Option<usize> {
        self.nodes.iter().position(|node| node.instance == instance && node.stmts.contains(&stmt))
    }
}

/// The activation that a certificate speaks of, whose caller is one of some.
fn instance_of<'a>(
    program: &'a Program,
    others: &[Instance<'a>],
    wanted: &crate::document::Instance,
    types: &mut BTreeMap<FuncId, Rc<SideTable<ExprId, Type>>>,
) -> Result<Instance<'a>, String> {
    let function = FuncId::from_index(wanted.function as usize);
    let content = program.functions.get(function).ok_or("there is no such function")?;
    if content.name != wanted.name {
        return Err(format!("the function is {} and not {}", content.name, wanted.name));
    }
    let body = content.body.as_ref().ok_or("the function has no body")?;
    if wanted.recursive && (wanted.call.is_some() || !gives_number(program, function)) {
        return Err("it cannot stand for all activations".to_owned());
    }
    let call = match wanted.call {
        None => None,
        Some(call) => {
            let caller = others.get(call.caller).ok_or("the caller is not before it")?;
            let stmt = StmtId::from_index(call.statement as usize);
            check_call(program, caller, stmt, (function, body))?;
            Some((call.caller, stmt))
        }
    };
    let types = types.entry(function).or_insert_with(|| Rc::new(body.types_in(&body.exprs)));
    let (types, callees) = (types.clone(), BTreeMap::new());
    let ends = wanted.recursive.then(Ends::default);
    Ok(Instance { function, body, types, call, ends, callees, first: 0, returns_to: None })
}

/// Whether a function has a fixed number of arguments, and gives a number or nothing.
fn gives_number(program: &Program, function: FuncId) -> bool {
    let CType::Function { variadic, params, result } =
        program.types.get(program.functions[function].ty)
    else {
        return false;
    };
    let is_number = match program.types.get(*result) {
        CType::Void => true,
        _ => program.types.scalar(*result).is_some_and(|ty| ty != Type::Ptr),
    };
    is_number && (!*variadic || params.is_empty())
}

/// A statement of the caller may call the function.
fn check_call(
    program: &Program,
    caller: &Instance<'_>,
    stmt: StmtId,
    (function, body): (FuncId, &Body),
) -> Result<(), String> {
    let Some(Stmt::Call { callee, args, .. }) = caller.body.stmts.get(stmt) else {
        return Err("there is no such call".to_owned());
    };
    let may_be = match callee {
        Callee::Direct(callee) => *callee == function,
        Callee::Indirect(_) => true,
    };
    if !may_be {
        return Err("the call is of another function".to_owned());
    }
    if !matches!(program.types.get(program.functions[function].ty), CType::Function { .. }) {
        return Err("its type is none of a function".to_owned());
    }
    if has_any_arguments(program, function) || args.len() < body.params.len() {
        return Err("the arguments are not those of the function".to_owned());
    }
    Ok(())
}

/// Whether a function takes arguments that it does not name.
fn has_any_arguments(program: &Program, function: FuncId) -> bool {
    let ty = program.functions[function].ty;
    matches!(program.types.get(ty), CType::Function { variadic: true, params, .. } if !params.is_empty())
}
