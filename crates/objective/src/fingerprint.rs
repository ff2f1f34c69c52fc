//! Keys and fingerprints, which identify functions and labels across edits of a file.
//!
//! A *key* identifies a label. It follows from the function's own text, its types, and the label's
//! site and predicate, so it survives every edit elsewhere. A *code fingerprint* identifies the
//! meaning of a function. It covers everything that a run of it can reach (callees, globals) and the
//! settings of the caller (semantics, compile flags). Evidence is valid only for the code fingerprint
//! for which it was found, so after an edit of a callee the label stays, and its evidence is dropped.
//!
//! Local ids, marks, decisions and roots are numbered within their function, so they are hashed as
//! they are. Globals, functions, types and records are hashed by their names instead of their ids.
//! Literals have numbers for names, which every literal before them changes. They are hashed by their
//! types and contents ([`global_name`]).

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use lydian_base::{Arena, SourceMap, Span};
use lydian_ir::stmt::{Callee, Terminator};
use lydian_ir::{
    Body, CType, CTypeId, CTypes, Expr, ExprArena, ExprId, FuncId, Function, GlobalId, GlobalInit,
    Program, RecordId, RelocationTarget, Stmt,
};
use rustc_hash::{FxHashMap, FxHashSet};

pub use text::TextPosition;
use text::normalise;

use crate::hyper::{Atom, Hyper, Passage, Sequence, SequenceId};
use crate::label::{Label, LabelId, LabelKey, Pred, Site};

mod text;

/// What the names of globals begin with that are numbered within their unit: string literals, constant
/// initialisers, and compound literals at file scope.
const NUMBERED: [&str; 3] = [".str.", ".init.", ".literal."];

/// Makes the keys of one function's labels.
#[derive(Debug)]
pub struct KeyMaker {
    function: blake3::Hash,
    /// Hashes of expressions, by id.
    exprs: FxHashMap<ExprId, blake3::Hash>,
}

impl KeyMaker {
    /// Hashes what all labels of a function share: its name, its signature, its text, the layouts
    /// of the types and the declarations of the globals that it uses.
    pub fn new(program: &Program, map: &SourceMap, func: FuncId) -> Self {
        let function = &program.functions[func];
        let mut hasher = blake3::Hasher::new();
        part(&mut hasher, "lydian label key 1");
        hash_own(&mut hasher, program, map, function);
        Self { function: hasher.finalize(), exprs: FxHashMap::default() }
    }

    /// The key of a label whose predicate's expressions lie in `exprs`.
    pub fn key(
        &mut self,
        program: &Program,
        exprs: &ExprArena,
        site: Site,
        pred: &Pred,
    ) -> LabelKey {
        let mut text = String::new();
        self.write_pred(program, exprs, pred, &mut text);
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.function.as_bytes());
        part(&mut hasher, &format!("{site:?}"));
        part(&mut hasher, &text);
        // 128 bits keep collisions out of reach and keys short enough to read.
        LabelKey(hasher.finalize().to_hex()[..32].to_owned())
    }

    /// The key of a hyperlabel over labels and sequences of the same function. Labels of other
    /// functions count by their numbers.
    pub fn hyper_key(
        &self,
        func: FuncId,
        labels: &Arena<LabelId, Label>,
        sequences: &Arena<SequenceId, Sequence>,
        hyper: &Hyper,
    ) -> LabelKey {
        let mut text = String::new();
        write_hyper(func, labels, sequences, hyper, &mut text);
        let mut hasher = blake3::Hasher::new();
        hasher.update(self.function.as_bytes());
        part(&mut hasher, &text);
        LabelKey(hasher.finalize().to_hex()[..32].to_owned())
    }

    fn write_pred(&mut self, program: &Program, exprs: &ExprArena, pred: &Pred, out: &mut String) {
        let mut two = |name: &str, a: &Pred, b: &Pred, out: &mut String| {
            out.push_str(name);
            out.push('(');
            self.write_pred(program, exprs, a, out);
            out.push(',');
            self.write_pred(program, exprs, b, out);
            out.push(')');
        };
        match pred {
            Pred::And(a, b) => two("and", a, b, out),
            Pred::Or(a, b) => two("or", a, b, out),
            Pred::Xor(a, b) => two("xor", a, b, out),
            Pred::Not(a) => {
                out.push('!');
                self.write_pred(program, exprs, a, out);
            }
            Pred::Const(value) => write_to(out, format_args!("{value}")),
            Pred::Cond(condition) => write_to(out, format_args!("{condition}")),
            Pred::Reached(condition) => write_to(out, format_args!("reached {condition}")),
            Pred::Mutant(condition, expr) => {
                let hash = self.expr_hash(program, exprs, *expr);
                write_to(out, format_args!("{condition}:={hash}"));
            }
            Pred::Expr(expr) => {
                let hash = self.expr_hash(program, exprs, *expr);
                write_to(out, format_args!("{hash}"));
            }
        }
    }

    /// The hash of an expression's shape. Each expression is hashed once.
    fn expr_hash(&mut self, program: &Program, exprs: &ExprArena, expr: ExprId) -> blake3::Hash {
        let mut stack = vec![expr];
        while let Some(&at) = stack.last() {
            if self.exprs.contains_key(&at) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            exprs[at].for_each_operand(|operand| {
                if !self.exprs.contains_key(&operand) {
                    stack.push(operand);
                }
            });
            if stack.len() > before {
                continue;
            }
            let mut hasher = blake3::Hasher::new();
            part(&mut hasher, &expr_head(program, &exprs[at]));
            exprs[at].for_each_operand(|operand| {
                hasher.update(self.exprs[&operand].as_bytes());
            });
            self.exprs.insert(at, hasher.finalize());
            stack.pop();
        }
        self.exprs[&expr]
    }
}

/// Writes a hyperlabel by its parts.
fn write_hyper(
    func: FuncId,
    labels: &Arena<LabelId, Label>,
    sequences: &Arena<SequenceId, Sequence>,
    hyper: &Hyper,
    out: &mut String,
) {
    let atom = |atom: &Atom, out: &mut String| {
        match atom.function == func {
            true => out.push_str(&labels[atom.label].key.0),
            false => write_to(out, format_args!("{} {}", atom.function, atom.label)),
        }
        write_to(out, format_args!("{:?}", atom.bindings));
    };
    match hyper {
        Hyper::Atom(a) => atom(a, out),
        Hyper::Sequence(id) => {
            let sequence = &sequences[*id];
            sequence.atoms.iter().for_each(|a| atom(a, out));
            for passage in &sequence.passages {
                if let Passage::By(nodes, _) = passage {
                    write_to(out, format_args!("by {nodes:?} "));
                }
                match passage.otherwise() {
                    Passage::Clear(of) => write_to(out, format_args!("clear {} ", of.variable)),
                    Passage::Cell(same) => {
                        let (variable, written) = (&same.of.variable, same.written);
                        write_to(out, format_args!("cell {variable} {written:?} {} ", same.read));
                    }
                    other => write_to(out, format_args!("{other:?} ")),
                }
            }
            write_to(out, format_args!("{:?}", sequence.scope));
        }
        Hyper::Guard(inner, formula) => {
            write_hyper(func, labels, sequences, inner, out);
            write_to(out, format_args!("{formula:?}"));
        }
        Hyper::All(parts) | Hyper::Any(parts) => {
            out.push(if matches!(hyper, Hyper::All(_)) { '.' } else { '+' });
            for part in parts {
                out.push('(');
                write_hyper(func, labels, sequences, part, out);
                out.push(')');
            }
        }
    }
}

/// An expression without its operands, in which ids of the program are replaced by names.
pub(crate) fn expr_head(program: &Program, expr: &Expr) -> String {
    match expr {
        Expr::AddrGlobal(global) => format!("global {}", global_name(program, *global)),
        Expr::AddrFunc(func) => format!("function {}", program.functions[*func].name),
        Expr::LoadBits { field, .. } => format!(
            "bits {} {} {} {} {} {}",
            field.byte_offset, field.bit, field.bits, field.signed, field.ty, field.field
        ),
        Expr::Field { record, field, .. } => {
            let record = &program.types.records[*record];
            let offset = record.fields.get(*field as usize).map(|field| field.bit_offset);
            format!("field {} {field} {offset:?}", record.name)
        }
        Expr::Const(ty, bits) => format!("const {ty} {bits}"),
        Expr::Local(local) => format!("local {local}"),
        Expr::AddrLocal(local) => format!("address {local}"),
        Expr::Load { ty, volatile, .. } => format!("load {ty} {volatile}"),
        Expr::Unary(op, _) => op.to_string(),
        Expr::Binary(op, ..) => op.to_string(),
        Expr::Cmp(op, ..) => op.to_string(),
        Expr::Cast(op, ty, _) => format!("{op} {ty}"),
        Expr::Index { size, bound, .. } => format!("index {size} {bound:?}"),
        Expr::PtrDiff { size, .. } => format!("difference {size}"),
        Expr::Select { .. } => "select".to_owned(),
    }
}

/// The fingerprint of everything that a run of a function can reach: the function, the functions that
/// it calls or whose addresses it takes, and the globals that these read, with their types and first
/// contents. A call through a pointer counts as reaching every function of the program of that type.
/// `settings` has the settings that change the meaning: semantics, compile flags. Hexadecimal.
pub fn code_fingerprint(
    program: &Program,
    map: &SourceMap,
    func: FuncId,
    settings: &str,
) -> String {
    let (functions, globals) = reachable(program, func);
    let mut hasher = blake3::Hasher::new();
    part(&mut hasher, "lydian code 2");
    part(&mut hasher, settings);
    part(&mut hasher, &program.functions[func].name);
    for id in functions.values() {
        hash_own(&mut hasher, program, map, &program.functions[*id]);
    }
    for (name, id) in by_name(program, globals.into_values()) {
        hash_global(&mut hasher, program, (&name, id), true);
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Whether two units have the same text, but for comments and white space.
pub fn is_same_text(a: &SourceMap, b: &SourceMap) -> bool {
    normalise(a.text()) == normalise(b.text())
}

/// Functions and globals that a run of a function can reach, by name. A call through a pointer counts as
/// reaching every function of the program of that type.
pub fn reachable(
    program: &Program,
    start: FuncId,
) -> (BTreeMap<&str, FuncId>, BTreeMap<&str, GlobalId>) {
    let (mut functions, mut globals) = (BTreeMap::new(), BTreeMap::new());
    let mut rest = vec![Entity::Function(start)];
    while let Some(entity) = rest.pop() {
        match entity {
            Entity::Function(id) => {
                let function = &program.functions[id];
                if functions.insert(function.name.as_str(), id).is_none() {
                    references(program, function, &mut rest);
                }
            }
            Entity::Global(id) => {
                let global = &program.globals[id];
                if globals.insert(global.name.as_str(), id).is_none()
                    && let GlobalInit::Data { relocations, .. } = &global.init
                {
                    rest.extend(relocations.iter().map(|relocation| match relocation.target {
                        RelocationTarget::Global(id) => Entity::Global(id),
                        RelocationTarget::Function(id) => Entity::Function(id),
                    }));
                }
            }
        }
    }
    (functions, globals)
}

enum Entity {
    Function(FuncId),
    Global(GlobalId),
}

/// Adds the functions and globals that a function's body names or may call.
fn references(program: &Program, function: &Function, out: &mut Vec<Entity>) {
    let Some(body) = &function.body else { return };
    out.extend(body.exprs.values().filter_map(|expr| match expr {
        Expr::AddrGlobal(id) => Some(Entity::Global(*id)),
        Expr::AddrFunc(id) => Some(Entity::Function(*id)),
        _ => None,
    }));
    for stmt in body.stmts.values() {
        match stmt {
            Stmt::Call { callee: Callee::Direct(id), .. } => out.push(Entity::Function(*id)),
            Stmt::Call { callee: Callee::Indirect(_), ty, .. } => {
                let of_type = program.functions.iter().filter(|(_, other)| other.ty == *ty);
                out.extend(of_type.map(|(id, _)| Entity::Function(id)));
            }
            _ => {}
        }
    }
}

/// Hashes a function's own text and the declarations of the types and globals that it uses.
fn hash_own(hasher: &mut blake3::Hasher, program: &Program, map: &SourceMap, function: &Function) {
    let mut types = TypeHasher { types: &program.types, hasher, done: FxHashSet::default() };
    part(types.hasher, &function.name);
    types.add(function.ty);
    let Some(body) = &function.body else { return };
    part(types.hasher, &normalise(map.slice(own_span(function, body))));
    shape(types.hasher, body);
    body.locals.values().for_each(|local| types.add(local.ty));
    let mut globals = FxHashSet::default();
    for expr in body.exprs.values() {
        match expr {
            Expr::AddrGlobal(id) => {
                globals.insert(*id);
            }
            Expr::Field { record, .. } => types.add_record(*record),
            _ => {}
        }
    }
    for (name, id) in by_name(program, globals.into_iter()) {
        hash_global(hasher, program, (&name, id), false);
    }
}

/// The span of the text of a function with a body.
pub(crate) const fn own_span(function: &Function, body: &Body) -> Span {
    if body.source.body.is_none() { function.span } else { body.source.body }
}

/// The name of a global, which for one without a name in C follows from its type and contents. Within
/// a unit equal string literals are one global, and each compound literal is written once, so the
/// contents say as much as the number.
pub fn global_name(program: &Program, id: GlobalId) -> Cow<'_, str> {
    let global = &program.globals[id];
    let Some(kind) = NUMBERED.iter().find(|kind| global.name.starts_with(**kind)) else {
        return Cow::Borrowed(&global.name);
    };
    let mut hasher = blake3::Hasher::new();
    hash_global(&mut hasher, program, (kind, id), true);
    Cow::Owned(format!("{kind}{}", hasher.finalize().to_hex()))
}

/// Globals with their names, in the order of these.
fn by_name(
    program: &Program,
    globals: impl Iterator<Item = GlobalId>,
) -> Vec<(Cow<'_, str>, GlobalId)> {
    let mut named: Vec<_> = globals.map(|id| (global_name(program, id), id)).collect();
    named.sort();
    named
}

/// Hashes the sizes of a body's tables. Sites are named by their numbers, so a text that is lowered
/// differently (after a change of a macro, a flag or Lydian) must not keep its labels' keys.
fn shape(hasher: &mut blake3::Hasher, body: &Body) {
    let edges = |term: &Terminator| {
        let mut count = 0;
        term.for_each_successor(|_| count += 1);
        count
    };
    let exits: Vec<u32> = body.blocks.values().map(|block| edges(&block.term)).collect();
    let sizes = (body.locals.len(), body.exprs.len(), body.stmts.len(), body.decisions.len());
    part(hasher, &format!("{sizes:?} {} {} {exits:?}", body.marks.len(), body.source.roots.len()));
}

fn hash_global(
    hasher: &mut blake3::Hasher,
    program: &Program,
    (name, id): (&str, GlobalId),
    contents: bool,
) {
    let global = &program.globals[id];
    part(hasher, name);
    part(hasher, &format!("{} {} {}", global.size, global.align, global.read_only));
    TypeHasher { types: &program.types, hasher, done: FxHashSet::default() }.add(global.ty);
    if !contents {
        return;
    }
    match &global.init {
        GlobalInit::Extern => part(hasher, "extern"),
        GlobalInit::Zero => part(hasher, "zero"),
        GlobalInit::Data { items, relocations } => {
            for item in items {
                part(hasher, &item.offset.to_string());
                hasher.update(&item.bytes);
            }
            for relocation in relocations {
                let target = match relocation.target {
                    RelocationTarget::Global(id) => global_name(program, id),
                    RelocationTarget::Function(id) => {
                        Cow::Borrowed(program.functions[id].name.as_str())
                    }
                };
                part(hasher, &format!("{} {target} {}", relocation.offset, relocation.addend));
            }
        }
    }
}

/// Hashes types with the layouts of the records in them, each record once.
struct TypeHasher<'a> {
    types: &'a CTypes,
    hasher: &'a mut blake3::Hasher,
    done: FxHashSet<RecordId>,
}

impl TypeHasher<'_> {
    fn add(&mut self, ty: CTypeId) {
        part(self.hasher, &self.types.spell(ty, ""));
        self.visit(ty);
    }

    fn visit(&mut self, ty: CTypeId) {
        match self.types.get(ty) {
            CType::Pointer { pointee, .. } => self.visit(*pointee),
            CType::Array { element, .. } => self.visit(*element),
            CType::Function { result, params, .. } => {
                self.visit(*result);
                params.iter().for_each(|param| self.visit(*param));
            }
            CType::Record(record) => self.add_record(*record),
            CType::Enum { constants, .. } => part(self.hasher, &format!("{constants:?}")),
            _ => {}
        }
    }

    fn add_record(&mut self, record: RecordId) {
        if !self.done.insert(record) {
            return;
        }
        let record = &self.types.records[record];
        part(self.hasher, &format!("{} {:?} {}", record.name, record.size, record.is_union));
        for field in &record.fields {
            part(self.hasher, &format!("{} {:?}", field.bit_offset, field.bits));
            part(self.hasher, &self.types.spell(field.ty, &field.name));
            self.visit(field.ty);
        }
    }
}

/// Hashes a piece of text, such that two pieces are never taken for one.
fn part(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

fn write_to(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes all text");
}
