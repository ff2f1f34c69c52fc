//! Writes bodies as text: expressions as trees whose nodes the parser numbers again.

use lydian_base::{EntityId, Span};
use rustc_hash::FxHashSet;

use super::names::{MARK_STYLES, PURITIES, TRAPS, word};
use super::print::{constant, in_range, line, list, quoted, span};
use crate::program::arithmetic_type::ExprTypes;
use crate::program::decision::{BoolTree, Condition, Decision, DecisionKind, UnreachedValue};
use crate::program::expr::{BitField, Expr, ExprArena, ExprId};
use crate::program::function::{Body, Local, LocalKind, Storage};
use crate::program::source::{Point, Root, RootKind};
use crate::program::stmt::{BlockId, Callee, Havoc, MarkKind, Stmt, StmtId, Terminator};

/// Trees are cut where their height is a multiple of this.
const CUT: u32 = 24;

/// How many nodes a tree for people has at most.
const PLAIN_NODES: u32 = 500;

/// Writes one body. Works on every body, also on one that breaks the verifier's rules.
pub(super) struct BodyPrinter<'a> {
    arena: &'a ExprArena,
    out: String,
    /// Which expressions stand in the text already.
    printed: Vec<bool>,
    /// Which expressions are used more than once.
    shared: Vec<bool>,
    /// Length of the longest way down to a leaf.
    heights: Vec<u32>,
    /// The id that the parser gives to a node without a label.
    next: usize,
    /// For a tree for people, which has no labels: how many nodes it may still have.
    plain: Option<u32>,
    body: Option<&'a Body>,
    placed: Vec<bool>,
}

impl<'a> BodyPrinter<'a> {
    pub(super) fn new(body: &'a Body) -> Self {
        let mut new = Self::on(&body.exprs);
        let mut uses = vec![0u32; body.exprs.len()];
        let mut count = |expr: ExprId| {
            if let Some(uses) = uses.get_mut(expr.index()) {
                *uses += 1;
            }
        };
        body.exprs.iter().for_each(|(_, expr)| expr.for_each_operand(&mut count));
        for_each_use(body, &mut count);
        new.shared = uses.iter().map(|uses| *uses > 1).collect();
        new.body = Some(body);
        new.placed = vec![false; body.stmts.len()];
        new
    }

    fn on(arena: &'a ExprArena) -> Self {
        let mut heights = vec![0u32; arena.len()];
        for (id, expr) in arena.iter() {
            let mut height = 0;
            expr.for_each_operand(|operand| {
                if operand < id {
                    height = height.max(1 + heights[operand.index()]);
                }
            });
            heights[id.index()] = height;
        }
        Self {
            arena,
            out: String::new(),
            printed: vec![false; arena.len()],
            shared: vec![false; arena.len()],
            heights,
            next: 0,
            plain: None,
            body: None,
            placed: Vec::new(),
        }
    }

    /// One tree for people. Expressions too large for one tree are left as ids.
    pub(super) fn tree(arena: &'a ExprArena, expr: ExprId) -> String {
        let mut printer = Self::on(arena);
        printer.plain = Some(PLAIN_NODES);
        printer.expr(expr)
    }

    pub(super) fn print(mut self) -> String {
        let Some(body) = self.body else { return self.out };
        line(&mut self.out, format_args!("{{\n  params ({})", list(&body.params)));
        for (id, found) in body.locals.iter() {
            line(&mut self.out, format_args!("  local {id} {}", local(found)));
        }
        line(&mut self.out, format_args!("  entry {}", body.entry));
        for id in body.blocks.ids() {
            self.block(body, id);
        }
        for id in body.stmts.ids() {
            if !self.placed[id.index()] {
                let text = self.stmt(body, id);
                line(&mut self.out, format_args!("  unplaced {text}"));
            }
        }
        for (id, decision) in body.decisions.iter() {
            let text = self.decision(decision);
            line(&mut self.out, format_args!("  decision {id} {text}"));
        }
        for (id, mark) in body.marks.iter() {
            let text = match &mark.kind {
                MarkKind::Statement => "statement".to_owned(),
                MarkKind::UserLabel { name, predicate } => {
                    format!("label {} {}", quoted(name), self.decision(predicate))
                }
            };
            line(&mut self.out, format_args!("  mark {id}{} {text}", span(mark.span)));
        }
        self.source(body);
        for id in body.exprs.ids() {
            self.cut([id]);
            if !self.printed[id.index()] {
                let text = self.expr(id);
                line(&mut self.out, format_args!("  expr {text}"));
            }
        }
        self.out.push_str("}\n");
        self.out
    }

    fn block(&mut self, body: &Body, id: BlockId) {
        let block = &body.blocks[id];
        line(&mut self.out, format_args!("  {id}:"));
        for stmt in &block.stmts {
            let text = self.stmt(body, *stmt);
            line(&mut self.out, format_args!("    {text}"));
        }
        let text = self.terminator(&block.term);
        line(&mut self.out, format_args!("    {text}"));
    }

    /// Writes lines for the parts of these expressions that are too deep for one tree.
    fn cut(&mut self, roots: impl IntoIterator<Item = ExprId>) {
        let mut deep: Vec<ExprId> = Vec::new();
        let mut seen: FxHashSet<ExprId> = FxHashSet::default();
        let mut work: Vec<ExprId> = roots.into_iter().collect();
        while let Some(id) = work.pop() {
            let is_new = in_range(id, self.arena.len()) && !self.printed[id.index()];
            if !is_new || self.heights[id.index()] < CUT || !seen.insert(id) {
                continue;
            }
            deep.extend(self.heights[id.index()].is_multiple_of(CUT).then_some(id));
            self.arena[id].for_each_operand(|operand| {
                if operand < id {
                    work.push(operand);
                }
            });
        }
        deep.sort_unstable();
        for id in deep {
            self.shared[id.index()] = true;
            let text = self.expr(id);
            line(&mut self.out, format_args!("    expr {text}"));
        }
    }

    /// An expression where it is used.
    fn expr(&mut self, id: ExprId) -> String {
        let index = id.index();
        if !in_range(id, self.arena.len()) {
            return id.to_string();
        }
        if let Some(nodes) = &mut self.plain {
            if *nodes == 0 || self.heights[index] > PLAIN_NODES {
                return id.to_string();
            }
            *nodes -= 1;
            return self.node(id);
        }
        if std::mem::replace(&mut self.printed[index], true) {
            return id.to_string();
        }
        let node = self.node(id);
        let label = self.next != index || self.shared[index];
        self.next = index + 1;
        if label { format!("{id}:{node}") } else { node }
    }

    /// An operand. An id that breaks the order of ids is not followed, as it could close a cycle.
    fn operand(&mut self, user: ExprId, id: ExprId) -> String {
        if id < user { self.expr(id) } else { id.to_string() }
    }

    fn node(&mut self, id: ExprId) -> String {
        let pair = |printer: &mut Self, a: ExprId, b: ExprId| {
            let a = printer.operand(id, a);
            format!("({a}, {})", printer.operand(id, b))
        };
        match &self.arena[id] {
            Expr::Const(ty, bits) => constant(*ty, *bits),
            Expr::Local(local) => local.to_string(),
            Expr::AddrLocal(local) => format!("&{local}"),
            Expr::AddrGlobal(global) => format!("&{global}"),
            Expr::AddrFunc(function) => format!("&{function}"),
            Expr::Load { ty, addr, volatile } => {
                let volatile = if *volatile { "volatile " } else { "" };
                format!("load {volatile}{ty}({})", self.operand(id, *addr))
            }
            Expr::LoadBits { field, addr } => {
                format!("loadbits {}({})", bit_field(field), self.operand(id, *addr))
            }
            Expr::Unary(op, a) => format!("{op}({})", self.operand(id, *a)),
            Expr::Binary(op, a, b) => format!("{op}{}", pair(self, *a, *b)),
            Expr::Cmp(op, a, b) => format!("{op}{}", pair(self, *a, *b)),
            Expr::Cast(op, ty, a) => format!("{op} {ty}({})", self.operand(id, *a)),
            Expr::Field { base, record, field } => {
                format!("field {record} {field}({})", self.operand(id, *base))
            }
            Expr::Index { base, index, size, bound } => {
                let bound = bound.map_or_else(String::new, |bound| format!(" of {bound}"));
                format!("index {size}{bound}{}", pair(self, *base, *index))
            }
            Expr::PtrDiff { a, b, size } => format!("ptrdiff {size}{}", pair(self, *a, *b)),
            Expr::Select { test, then, otherwise } => {
                let [test, then, otherwise] =
                    [test, then, otherwise].map(|operand| self.operand(id, *operand));
                format!("select({test}, {then}, {otherwise})")
            }
        }
    }

    fn stmt(&mut self, body: &Body, id: StmtId) -> String {
        let Some(stmt) = body.stmts.get(id) else { return id.to_string() };
        if std::mem::replace(&mut self.placed[id.index()], true) {
            return id.to_string();
        }
        let mut used = Vec::new();
        stmt.for_each_expr(|expr| used.push(expr));
        self.cut(used);
        let text = match stmt {
            Stmt::Mark(mark) => format!("mark {mark}"),
            Stmt::Assign { dst, value } => format!("{dst} = {}", self.expr(*value)),
            Stmt::Store { addr, value, ty, volatile } => {
                let volatile = if *volatile { "volatile " } else { "" };
                let addr = self.expr(*addr);
                format!("store {volatile}{ty} {addr}, {}", self.expr(*value))
            }
            Stmt::StoreBits { addr, field, value } => {
                let addr = self.expr(*addr);
                format!("storebits {} {addr}, {}", bit_field(field), self.expr(*value))
            }
            Stmt::Copy { dst, src, size } => {
                let dst = self.expr(*dst);
                format!("copy {dst}, {}, {size}", self.expr(*src))
            }
            Stmt::Zero { dst, size } => format!("zero {}, {size}", self.expr(*dst)),
            Stmt::Call { .. } => self.call(stmt),
            Stmt::Enter(local) => format!("enter {local}"),
            Stmt::Leave(local) => format!("leave {local}"),
            Stmt::Alloca { dst, size, align, array } => {
                let word = if *array { "vla" } else { "alloca" };
                format!("{dst} = {word} {}, {align}", self.expr(*size))
            }
            Stmt::Release { pointer } => format!("release {pointer}"),
            Stmt::VaStart { list } => format!("vastart {}", self.expr(*list)),
            Stmt::VaArg { at, ty } => format!("vaarg {}, {ty}", self.expr(*at)),
            Stmt::Havoc(havoc) => self.havoc(havoc),
        };
        format!("{id}: {text}")
    }

    fn havoc(&mut self, havoc: &Havoc) -> String {
        let places: Vec<_> = havoc
            .places
            .iter()
            .map(|(addr, size)| format!("{} {size}", self.expr(*addr)))
            .collect();
        let memory = if havoc.memory { " memory" } else { "" };
        let varies = if havoc.varies { " varies" } else { "" };
        format!("havoc ({}) ({}){memory}{varies}", list(&havoc.registers), places.join(", "))
    }

    fn call(&mut self, stmt: &Stmt) -> String {
        let Stmt::Call { callee, args, arg_types, dst, dst_addr, ty } = stmt else {
            return String::new();
        };
        let callee = match callee {
            Callee::Direct(function) => function.to_string(),
            Callee::Indirect(pointer) => format!("*{}", self.expr(*pointer)),
        };
        let args: Vec<_> = args.iter().map(|arg| self.expr(*arg)).collect();
        let mut text = format!("call {callee} {ty} ({}) ({})", args.join(", "), list(arg_types));
        if let Some(dst) = dst {
            text += &format!(" -> {dst}");
        }
        if let Some(addr) = dst_addr {
            text += &format!(" to {}", self.expr(*addr));
        }
        text
    }

    fn terminator(&mut self, term: &Terminator) -> String {
        self.cut(term.operand());
        match term {
            Terminator::Goto(to) => format!("goto {to}"),
            Terminator::Branch { cond, then_to, else_to, origin } => {
                let mut text = format!("branch {} ? {then_to} : {else_to}", self.expr(*cond));
                if let Some(origin) = origin {
                    text += &format!(" [{} {}", origin.decision, origin.condition);
                    text += if origin.begins { " begins" } else { "" };
                    for (word, outcome) in
                        [("then", origin.then_outcome), ("else", origin.else_outcome)]
                    {
                        if let Some(outcome) = outcome {
                            text += &format!(" {word} {outcome}");
                        }
                    }
                    text.push(']');
                }
                text
            }
            Terminator::Switch { value, cases, default } => {
                let mut text = format!("switch {} {{ ", self.expr(*value));
                for case in cases {
                    text += &match case.low == case.high {
                        true => case.low.to_string(),
                        false => format!("{}..{}", case.low, case.high),
                    };
                    text += &format!(": {}{} ", case.target, span(case.span));
                }
                text + &format!("default: {default} }}")
            }
            Terminator::Return(None) => "return void".to_owned(),
            Terminator::Return(Some(value)) => format!("return {}", self.expr(*value)),
            Terminator::Trap(kind) => format!("trap {}", word(&TRAPS, kind)),
        }
    }

    fn decision(&mut self, decision: &Decision) -> String {
        let kind = match decision.kind {
            DecisionKind::Control => "control",
            DecisionKind::Value => "value",
        };
        let exprs = decision.conditions.values();
        self.cut(exprs.flat_map(|c| std::iter::once(c.expr).chain(c.unreached.expr())));
        let mut text =
            format!("{kind}{} = {} {{\n", span(decision.span), bool_tree(&decision.tree));
        for (id, condition) in decision.conditions.iter() {
            let purity = word(&PURITIES, &condition.purity);
            let expr = self.expr(condition.expr);
            let unreached = self.unreached(condition);
            text += &format!("    {id} {purity}{} = {expr}{unreached}\n", span(condition.span));
        }
        text + "  }"
    }

    fn unreached(&mut self, condition: &Condition) -> String {
        if !has_unreached_text(condition) {
            return String::new();
        }
        match condition.unreached {
            UnreachedValue::Never => " unreached never".to_owned(),
            UnreachedValue::Always(expr) => format!(" unreached always {}", self.expr(expr)),
            UnreachedValue::WhereDefined(expr) => format!(" unreached defined {}", self.expr(expr)),
        }
    }

    fn source(&mut self, body: &Body) {
        let source = &body.source;
        line(&mut self.out, format_args!("  source{} {{", span(source.body)));
        let stmts = body.stmts.ids().map(|id| (format!("stmt {id}"), source.stmts[id]));
        let terms = body.blocks.ids().map(|id| (format!("term {id}"), source.terms[id]));
        let exprs = body.exprs.ids().map(|id| (format!("expr {id}"), source.exprs[id]));
        let known = stmts.chain(terms).chain(exprs).filter(|(_, span)| *span != Span::NONE);
        let known: Vec<_> = known.map(|(what, at)| format!("{what}{}", span(at))).collect();
        for group in known.chunks(4) {
            line(&mut self.out, format_args!("    {}", group.join("  ")));
        }
        let c_types = body.exprs.ids().filter_map(|id| Some((id, source.c_types[id]?)));
        let c_types = c_types.map(|(id, types)| {
            let ExprTypes { text, written, used } = types;
            format!("types {id} ({text}, {written}, {used})")
        });
        for group in c_types.collect::<Vec<_>>().chunks(4) {
            line(&mut self.out, format_args!("    {}", group.join("  ")));
        }
        for site in &source.marks {
            let style = word(&MARK_STYLES, &site.style);
            line(&mut self.out, format_args!("    mark {} {style}{}", site.mark, span(site.span)));
        }
        for site in &source.labels {
            line(&mut self.out, format_args!("    label {}{}", site.mark, span(site.span)));
        }
        for site in &source.decisions {
            let spans = list(site.conditions.iter().map(|span| listed(*span)));
            let keeps = if site.keeps_value { " keeps" } else { "" };
            let text = format!("decision {}{} ({spans}){keeps}", site.decision, span(site.span));
            line(&mut self.out, format_args!("    {text}"));
        }
        for site in &source.switches {
            let computed = if site.computed { " computed" } else { "" };
            let operand = span(site.operand);
            line(&mut self.out, format_args!("    switch {}{operand}{computed}", site.block));
        }
        for (copy, original) in &source.copies {
            line(&mut self.out, format_args!("    copy {copy} {original}"));
        }
        for (id, root) in source.roots.iter() {
            let text = self.root(root);
            line(&mut self.out, format_args!("    root {id} {text}"));
        }
        self.out.push_str("  }\n");
    }

    fn root(&mut self, root: &Root) -> String {
        let points: Vec<String> = root
            .points()
            .map(|point| match point {
                Point::Stmt(stmt) => stmt.to_string(),
                Point::Term(block) => block.to_string(),
            })
            .collect();
        let point = points.join(" and ");
        self.cut([root.expr]);
        if let RootKind::Assigned { addr, .. } = root.kind {
            self.cut(addr);
        }
        let kind = match root.kind {
            RootKind::Value => "value".to_owned(),
            RootKind::Assigned { local, addr } => {
                let local = local.map_or_else(String::new, |local| format!(" {local}"));
                let addr = addr.map_or_else(String::new, |addr| format!(" at {}", self.expr(addr)));
                format!("assigned{local}{addr} =")
            }
            RootKind::Address => "address".to_owned(),
            RootKind::Update => "update".to_owned(),
            RootKind::Condition { decision, condition } => {
                format!("condition {decision} {condition}")
            }
        };
        let mut text = format!("{point}{} {kind} {}", span(root.span), self.expr(root.expr));
        if !root.rewritable {
            text += " fixed";
        }
        if !root.captures.is_empty() {
            let captures = root.captures.iter();
            let captures =
                captures.map(|capture| format!("{} {}", capture.temp, listed(capture.span)));
            text += &format!(" ({})", list(captures));
        }
        text
    }
}

/// Whether a condition's text says what it is where it is not reached: not if its purity does.
fn has_unreached_text(condition: &Condition) -> bool {
    condition.unreached != Condition::new(condition.expr, condition.purity, Span::NONE).unreached
}

/// Calls `visit` with each expression that something outside of the arena uses.
fn for_each_use(body: &Body, visit: &mut impl FnMut(ExprId)) {
    body.stmts.values().for_each(|stmt| stmt.for_each_expr(&mut *visit));
    for block in body.blocks.values() {
        block.term.operand().into_iter().for_each(&mut *visit);
    }
    let labels = body.marks.values().filter_map(|mark| match &mark.kind {
        MarkKind::UserLabel { predicate, .. } => Some(&**predicate),
        MarkKind::Statement => None,
    });
    for decision in body.decisions.values().chain(labels) {
        decision.conditions.values().for_each(|condition| {
            visit(condition.expr);
            let unreached = condition.unreached.expr().filter(|_| has_unreached_text(condition));
            unreached.into_iter().for_each(&mut *visit);
        });
    }
    for root in body.source.roots.values() {
        visit(root.expr);
        if let RootKind::Assigned { addr: Some(addr), .. } = root.kind {
            visit(addr);
        }
    }
}

fn listed(span: Span) -> String {
    format!("@{}..{}", span.start, span.end)
}

fn local(local: &Local) -> String {
    let kind = match local.kind {
        LocalKind::Param => "param",
        LocalKind::Var => "var",
        LocalKind::Temp => "temp",
    };
    let storage = match local.storage {
        Storage::Register(ty) => format!("register {ty}"),
        Storage::Memory { size, align } => format!("memory {size} {align}"),
    };
    format!("{} {} {kind} {storage}{}", quoted(&local.name), local.ty, span(local.scope))
}

fn bit_field(field: &BitField) -> String {
    let sign = if field.signed { "signed" } else { "unsigned" };
    format!(
        "[{} {} byte {} bit {} width {} {sign} {}]",
        field.record, field.field, field.byte_offset, field.bit, field.bits, field.ty
    )
}

/// A tree; what nests to the left in one operator, as C's chains of `&&` do, becomes one list.
fn bool_tree(tree: &BoolTree) -> String {
    let call = |name: &str, operands: &[&BoolTree]| {
        format!("{name}({})", list(operands.iter().map(|operand| bool_tree(operand))))
    };
    match tree {
        BoolTree::Const(value) => value.to_string(),
        BoolTree::Cond(condition) => condition.to_string(),
        BoolTree::Not(a) => call("not", &[a]),
        BoolTree::And(..) => chain("and", tree, |tree| match tree {
            BoolTree::And(a, b) => Some((a, b)),
            _ => None,
        }),
        BoolTree::Or(..) => chain("or", tree, |tree| match tree {
            BoolTree::Or(a, b) => Some((a, b)),
            _ => None,
        }),
        BoolTree::BitAnd(a, b) => call("bitand", &[a, b]),
        BoolTree::BitOr(a, b) => call("bitor", &[a, b]),
        BoolTree::Eq(a, b) => call("eq", &[a, b]),
        BoolTree::Xor(a, b) => call("xor", &[a, b]),
        BoolTree::Ite(c, a, b) => call("ite", &[c, a, b]),
    }
}

fn chain<'t>(
    name: &str,
    tree: &'t BoolTree,
    split: impl Fn(&'t BoolTree) -> Option<(&'t BoolTree, &'t BoolTree)>,
) -> String {
    let mut operands = Vec::new();
    let mut at = tree;
    while let Some((left, right)) = split(at) {
        operands.push(bool_tree(right));
        at = left;
    }
    operands.push(bool_tree(at));
    operands.reverse();
    format!("{name}({})", operands.join(", "))
}
