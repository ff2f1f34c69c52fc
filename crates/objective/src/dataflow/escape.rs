//! Escape analysis: the holders of an address.
//!
//! An address is that of a local, or an argument of the function. Locals hold it. Others hold it,
//! too, once it has escaped: it was stored elsewhere, or passed to a function that keeps it. A
//! function keeps an argument if it stores it where others find it, or passes it to a function that
//! keeps it. It may also return it. This is computed for all functions of the text together, to the
//! least fixed point.

use lydian_ir::libc::{Effects, Family, library_function_of};
use lydian_ir::stmt::Callee;
use lydian_ir::{Body, Expr, ExprId, FuncId, LocalId, Program, Stmt};
use rustc_hash::{FxHashMap, FxHashSet};

/// The escape of an argument from a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ArgumentEscape {
    /// Whether it may be stored where others find it.
    kept: bool,
    /// Whether it may be a part of the returned value.
    returned: bool,
}

impl ArgumentEscape {
    /// The escape that is assumed for an unknown function.
    const UNKNOWN: Self = Self { kept: true, returned: true };
}

/// The escapes of the arguments of a text's functions.
#[derive(Clone, Debug, Default)]
pub(super) struct EscapeSummaries {
    /// By parameter. A function that is missing is unknown.
    of: FxHashMap<FuncId, Vec<ArgumentEscape>>,
}

impl EscapeSummaries {
    /// The escapes for functions whose bodies no other unit replaces.
    pub(super) fn of(program: &Program, defined: &FxHashSet<FuncId>) -> Self {
        let known = |id: &FuncId| !program.functions[*id].weak;
        let mut bodies: Vec<(FuncId, &Body)> = defined
            .iter()
            .filter(|id| known(id))
            .filter_map(|id| Some((*id, program.functions[*id].body.as_ref()?)))
            .collect();
        bodies.sort_unstable_by_key(|(id, _)| *id);
        let none = ArgumentEscape { kept: false, returned: false };
        let of = bodies.iter().map(|(id, body)| (*id, vec![none; body.params.len()])).collect();
        let mut this = Self { of };
        let mut callers: FxHashMap<FuncId, Vec<usize>> = FxHashMap::default();
        for (index, (_, body)) in bodies.iter().enumerate() {
            for stmt in body.stmts.values() {
                if let Stmt::Call { callee: Callee::Direct(callee), .. } = stmt {
                    let of = callers.entry(*callee).or_default();
                    if of.last() != Some(&index) {
                        of.push(index);
                    }
                }
            }
        }
        let taken: Vec<_> = bodies.iter().map(|(_, body)| addresses_taken(program, body)).collect();
        let mut waiting: Vec<usize> = (0..bodies.len()).rev().collect();
        let mut waits = vec![true; bodies.len()];
        while let Some(index) = waiting.pop() {
            waits[index] = false;
            let (id, body) = bodies[index];
            let found =
                EscapeAnalysis { program, body, taken: &taken[index], escapes: &this }.arguments();
            if this.of.get(&id) == Some(&found) {
                continue;
            }
            this.of.insert(id, found);
            for caller in callers.get(&id).into_iter().flatten() {
                if !std::mem::replace(&mut waits[*caller], true) {
                    waiting.push(*caller);
                }
            }
        }
        this
    }

    /// The escape of an argument of a call, by its position.
    fn at(&self, callee: &Callee, position: usize) -> ArgumentEscape {
        let Callee::Direct(function) = callee else { return ArgumentEscape::UNKNOWN };
        let known = self.of.get(function).and_then(|escapes| escapes.get(position));
        known.copied().unwrap_or(ArgumentEscape::UNKNOWN)
    }
}

/// The locals whose addresses are values somewhere in a body.
pub(super) fn addresses_taken(program: &Program, body: &Body) -> FxHashSet<LocalId> {
    let mut taken = FxHashSet::default();
    for_each_value(program, body, &mut |expr| {
        if let Expr::AddrLocal(local) = body.exprs[expr] {
            taken.insert(local);
        }
    });
    taken
}

/// The effects of a call of a library function on memory that neither keeps nor returns an address;
/// `None` for other calls.
fn forgetful(program: &Program, call: &Stmt) -> Option<Effects> {
    let Stmt::Call { callee: Callee::Direct(callee), dst, .. } = call else { return None };
    let row = library_function_of(&program.functions[*callee])?;
    let effects = row.effects.filter(|_| row.family == Family::Memory)?;
    let forgets = effects.keeps.is_empty() && (dst.is_none() || effects.returns.is_empty());
    forgets.then_some(effects)
}

/// Whether a call is one of a library function on memory that neither keeps nor returns an address.
pub(super) fn forgets_addresses(program: &Program, call: &Stmt) -> bool {
    forgetful(program, call).is_some()
}

/// The local in which an address lies by its form.
fn local_at(body: &Body, addr: ExprId) -> Option<LocalId> {
    match &body.exprs[addr] {
        Expr::AddrLocal(local) => Some(*local),
        Expr::Field { base, .. } | Expr::Index { base, .. } => local_at(body, *base),
        Expr::Cast(_, _, inner) => local_at(body, *inner),
        _ => None,
    }
}

/// The holders of an address in one activation of a function.
#[derive(Debug, Default)]
pub(super) struct EscapeSet {
    /// The local that has the address; `None` for an address that is an argument.
    of: Option<LocalId>,
    locals: FxHashSet<LocalId>,
    /// Whether memory outside of variables, or another function, may hold it.
    others: bool,
}

impl EscapeSet {
    /// Whether the value of an expression may be that address.
    pub(super) fn may_be(&self, body: &Body, expr: ExprId) -> bool {
        match &body.exprs[expr] {
            Expr::AddrLocal(of) => self.of == Some(*of),
            Expr::Local(holder) => self.locals.contains(holder),
            Expr::Load { addr, .. } => match local_at(body, *addr) {
                // Others may write to a local in memory, too.
                Some(holder) => self.locals.contains(&holder) || self.others,
                None => self.others,
            },
            Expr::Field { base, .. } | Expr::Index { base, .. } => self.may_be(body, *base),
            Expr::Unary(_, a) | Expr::Cast(_, _, a) => self.may_be(body, *a),
            Expr::Binary(_, a, b) => self.may_be(body, *a) || self.may_be(body, *b),
            _ => false,
        }
    }

    /// Whether the memory at an address may hold it.
    fn may_be_in(&self, body: &Body, addr: ExprId) -> bool {
        local_at(body, addr).map_or(self.others, |from| self.locals.contains(&from))
    }

    /// Notes that it is stored to an address.
    fn store(&mut self, body: &Body, addr: ExprId) {
        match local_at(body, addr) {
            Some(holder) => _ = self.locals.insert(holder),
            None => self.others = true,
        }
    }
}

/// Follows addresses through one body, whatever the order of its statements.
pub(super) struct EscapeAnalysis<'a> {
    pub(super) program: &'a Program,
    pub(super) body: &'a Body,
    /// The locals whose addresses are values there.
    pub(super) taken: &'a FxHashSet<LocalId>,
    pub(super) escapes: &'a EscapeSummaries,
}

impl EscapeAnalysis<'_> {
    /// The holders of the address of a local.
    pub(super) fn of_local(&self, local: LocalId) -> EscapeSet {
        self.follow(EscapeSet { of: Some(local), ..EscapeSet::default() })
    }

    /// The escapes of the arguments.
    fn arguments(&self) -> Vec<ArgumentEscape> {
        // It is known whether inline assembly may write to memory, but not what it reads.
        let is_unknown = |stmt: &Stmt| matches!(stmt, Stmt::Havoc(havoc) if havoc.memory);
        if self.body.stmts.values().any(is_unknown) {
            return vec![ArgumentEscape::UNKNOWN; self.body.params.len()];
        }
        let escape = |param: &LocalId| {
            let begin =
                EscapeSet { locals: [*param].into_iter().collect(), ..EscapeSet::default() };
            let found = self.follow(begin);
            let returns = |operand: ExprId| {
                found.may_be(self.body, operand)
                    || local_at(self.body, operand).is_some_and(|of| found.locals.contains(&of))
            };
            let mut ends = self.body.blocks.values().filter_map(|block| match block.term {
                lydian_ir::Terminator::Return(value) => value,
                _ => None,
            });
            ArgumentEscape { kept: found.others, returned: ends.any(returns) }
        };
        self.body.params.iter().map(escape).collect()
    }

    fn follow(&self, mut found: EscapeSet) -> EscapeSet {
        loop {
            let before = (found.locals.len(), found.others);
            self.body.stmts.values().for_each(|stmt| self.pass_on(stmt, &mut found));
            // A function that has the address of a holder can read it.
            found.others |= found.locals.iter().any(|holder| self.taken.contains(holder));
            if before == (found.locals.len(), found.others) {
                return found;
            }
        }
    }

    /// Adds the holders after a statement.
    fn pass_on(&self, stmt: &Stmt, found: &mut EscapeSet) {
        let body = self.body;
        match stmt {
            Stmt::Assign { dst, value } if found.may_be(body, *value) => {
                found.locals.insert(*dst);
            }
            Stmt::Store { addr, value, .. } if found.may_be(body, *value) => {
                found.store(body, *addr);
            }
            Stmt::Copy { dst, src, .. } if found.may_be_in(body, *src) => found.store(body, *dst),
            Stmt::Call { callee, args, dst, dst_addr, .. } => {
                if let Some(effects) = forgetful(self.program, stmt) {
                    // The copied memory may hold the address.
                    if let Some((to, from)) = effects.copies
                        && let Some(from) = args.get(usize::from(from))
                        && let Some(to) = args.get(usize::from(to))
                        && found.may_be_in(body, *from)
                    {
                        found.store(body, *to);
                    }
                    return;
                }
                let mut returned = false;
                for (position, arg) in args.iter().enumerate() {
                    // A struct is passed by the address of a copy.
                    let inside = local_at(body, *arg).is_some_and(|of| found.locals.contains(&of));
                    if inside || found.may_be(body, *arg) {
                        let escape = self.escapes.at(callee, position);
                        found.others |= escape.kept || inside;
                        returned |= escape.returned || inside;
                    }
                }
                if returned || found.others {
                    found.locals.extend(dst);
                    dst_addr.iter().for_each(|addr| found.store(body, *addr));
                }
            }
            _ => {}
        }
    }
}

/// Calls `visit` with each expression of a body that is a value. The address of an access is none,
/// nor is a part of it that names its variable. The arguments of a function that keeps no address
/// count as addresses of accesses.
pub(super) fn for_each_value(program: &Program, body: &Body, visit: &mut impl FnMut(ExprId)) {
    let mut seen = FxHashSet::default();
    let mut work: Vec<(ExprId, bool)> = Vec::new();
    for stmt in body.stmts.values() {
        match stmt {
            Stmt::Store { addr, value, .. } | Stmt::StoreBits { addr, value, .. } => {
                work.extend([(*value, false), (*addr, true)]);
            }
            Stmt::Copy { dst, src, .. } => work.extend([(*dst, true), (*src, true)]),
            Stmt::Zero { dst, .. } => work.push((*dst, true)),
            Stmt::Call { args, .. } if forgets_addresses(program, stmt) => {
                work.extend(args.iter().map(|arg| (*arg, true)));
            }
            Stmt::Call { dst_addr: Some(addr), .. } => {
                work.push((*addr, true));
                stmt.for_each_expr(|expr| work.extend((expr != *addr).then_some((expr, false))));
            }
            other => other.for_each_expr(|expr| work.push((expr, false))),
        }
    }
    work.extend(body.blocks.values().filter_map(|block| Some((block.term.operand()?, false))));
    while let Some((expr, is_place)) = work.pop() {
        if !seen.insert((expr, is_place)) {
            continue;
        }
        match &body.exprs[expr] {
            Expr::Load { addr, .. } | Expr::LoadBits { addr, .. } => work.push((*addr, true)),
            Expr::Field { base, .. } => work.push((*base, is_place)),
            Expr::Index { base, index, .. } => work.extend([(*base, is_place), (*index, false)]),
            Expr::Cast(_, _, inner) if is_place => work.push((*inner, true)),
            other => other.for_each_operand(|operand| work.push((operand, false))),
        }
        if !is_place {
            visit(expr);
        }
    }
}
