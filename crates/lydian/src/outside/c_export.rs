//! Proofs as C: the program with its loops cut at their heads, which CBMC checks without unwinding.
//!
//! At the head of a loop the invariant is asserted. Then every variable that the program writes gets any
//! value that the invariant allows, and one turn is followed, at whose end the invariant is asserted
//! again. So each loop is passed at most twice, and if no assertion fails, no run of the program reaches an
//! error. It is the argument of Floyd and Hoare, with *k* = 1.
//!
//! # What is refused
//! Variables must be known by name where a loop begins. So programs that write through pointers, hand
//! addresses to functions without a body, or allocate memory are not written, nor are recursive ones and
//! those of several files.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lydian_base::{Place, Span};
use lydian_ir::cexact::{Names as _, ScopedNames};
use lydian_ir::{
    Body, CType, Callee, Expr, ExprId, FuncId, GlobalId, LocalId, LocalKind, Program, Stmt,
};

use crate::project::linked::LinkedProgram;
use crate::proving::source_invariants::{HeadKind, SourceInvariant, SourceInvariants};
use crate::proving::{ErrorAnswer, ErrorProof, Proofs};

/// A program with its proof, as C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProofInC {
    /// The text.
    pub text: String,
    /// The parts of the proof that have no form in C. Without them the check may fail.
    pub left_out: Vec<String>,
}

/// Text at a place.
struct Insertion {
    at: u32,
    /// Of several at one place the lower come first.
    rank: u8,
    text: String,
}

/// The variables that a program writes.
#[derive(Default)]
struct Written {
    globals: BTreeSet<GlobalId>,
    locals: BTreeSet<(FuncId, LocalId)>,
}

impl Proofs {
    /// The program with its loops cut at the invariants of the proofs.
    ///
    /// # Errors
    /// The reason why it has no such form.
    pub fn in_c(&self) -> Result<ProofInC, String> {
        let proved = &self.proved;
        proof_in_c(&proved.linked, &proved.invariants, &self.errors, proved.is_recursive)
    }
}

/// Writes the proof of a program's errors.
///
/// # Errors
/// The reason why the program has no such form.
fn proof_in_c(
    linked: &LinkedProgram,
    invariants: &SourceInvariants,
    errors: &[ErrorProof],
    is_recursive: bool,
) -> Result<ProofInC, String> {
    let program = &linked.linked.program;
    if is_recursive {
        return Err("it is recursive".to_owned());
    }
    if linked.files.len() != 1 {
        return Err("it has several files".to_owned());
    }
    if invariants.has_unknown_loops {
        return Err("a loop of it is not found in its text".to_owned());
    }
    let written = Written::of(program)?;
    let mut insertions = Vec::new();
    let mut left_out = invariants.unsaid.clone();
    for (number, invariant) in invariants.all.iter().enumerate() {
        cut(linked, &written, (number, invariant), &mut insertions)?;
    }
    for error in errors {
        let body = program.functions[error.call.0].body.as_ref();
        let span = body.map_or(Span::NONE, |body| body.source.stmts[error.call.1]);
        if span.is_none() {
            return Err("an error has no place in the text".to_owned());
        }
        let place = shown(&linked.linked.source.place(span.start));
        left_out.extend(unshown(error).map(|why| format!("the error at {place}: {why}")));
        let text = format!("(__CPROVER_assert(0, \"error at {place}\"), ");
        insertions.push(Insertion { at: span.start, rank: 1, text });
        insertions.push(Insertion { at: span.end, rank: 0, text: ")".to_owned() });
    }
    insertions.sort_by_key(|one| (one.at, one.rank));
    let end =
        linked.linked.starts.get(1).map_or(linked.linked.source.text().len(), |at| *at as usize);
    let text = with(&linked.linked.source.text()[..end], &insertions);
    Ok(ProofInC { text, left_out })
}

fn shown(place: &Place) -> String {
    place.to_string().replace(['\\', '"'], "_")
}

fn with(text: &str, insertions: &[Insertion]) -> String {
    let mut whole = String::with_capacity(text.len());
    let mut from = 0;
    for one in insertions {
        whole.push_str(&text[from..one.at as usize]);
        whole.push_str(&one.text);
        from = one.at as usize;
    }
    whole + &text[from..]
}

/// Why the invariants do not show by one step that an error is out of reach.
fn unshown(error: &ErrorProof) -> Option<&'static str> {
    match &error.answer {
        ErrorAnswer::Unreachable(argument) if argument.paths.is_some() => {
            Some("its argument has no invariants")
        }
        ErrorAnswer::Unreachable(argument) if argument.depth > 1 => {
            Some("its argument needs several successive states")
        }
        ErrorAnswer::Unreachable(_) => None,
        _ => Some("it is not proved"),
    }
}

/// Cuts a loop at its head.
fn cut(
    linked: &LinkedProgram,
    written: &Written,
    (number, invariant): (usize, &SourceInvariant),
    insertions: &mut Vec<Insertion>,
) -> Result<(), String> {
    let program = &linked.linked.program;
    let SourceInvariant { function, head, value } = invariant;
    let body = program.functions[*function].body.as_ref().ok_or("a loop has no function")?;
    let none = |_| None;
    let at = match head.kind {
        HeadKind::Condition(span) => span.start,
        HeadKind::Body(at) => at,
        HeadKind::Statement => {
            return Err("it jumps to a place that no loop begins at".to_owned());
        }
    };
    let names = ScopedNames::new(program, *function, body, at, &none);
    let mut any = String::new();
    for global in &written.globals {
        let name = names.global(*global).filter(|_| is_declared(program, *global, at));
        let name = name
            .ok_or_else(|| format!("`{}` has no name at a loop", program.globals[*global].name))?;
        let _ = write!(any, "__CPROVER_havoc_object(&{name}); ");
    }
    for (_, local) in written.locals.iter().filter(|(of, _)| of == function) {
        let Span { start, end } = body.locals[*local].scope;
        match names.local(*local) {
            Some(name) => _ = write!(any, "__CPROVER_havoc_object(&{name}); "),
            None if start <= at && at < end => {
                return Err(format!("`{}` is hidden at a loop", body.locals[*local].name));
            }
            // It begins anew in each turn.
            None => {}
        }
    }
    let (turn, value) = (format!("lydian_turn{number}"), value.as_deref().unwrap_or("1"));
    let place = shown(&linked.linked.source.place(head.offset));
    let step = format!(
        "__CPROVER_assert({value}, \"invariant at {place}\"); if ({turn}) __CPROVER_assume(0); \
         {turn} = 1; {any}__CPROVER_assume({value});"
    );
    let begin =
        Insertion { at: body.source.body.start + 1, rank: 0, text: format!(" int {turn} = 0;") };
    insertions.push(begin);
    match head.kind {
        HeadKind::Condition(span) => {
            let is_empty = linked.linked.source.slice(span).trim().is_empty();
            let rest = if is_empty { "1" } else { "" };
            let text = format!("({{ {step} }}), ({rest}");
            insertions.push(Insertion { at: span.start, rank: 2, text });
            insertions.push(Insertion { at: span.end, rank: 0, text: ")".to_owned() });
        }
        HeadKind::Body(at) => {
            insertions.push(Insertion { at, rank: 2, text: format!(" {step} ") });
        }
        HeadKind::Statement => {}
    }
    Ok(())
}

/// Whether a global is declared before an offset of the text.
fn is_declared(program: &Program, global: GlobalId, offset: u32) -> bool {
    let span = program.globals[global].span;
    span.is_none() || span.start < offset
}

impl Written {
    /// The variables that the user's functions write.
    fn of(program: &Program) -> Result<Self, String> {
        let mut this = Self::default();
        let functions = program.defined().filter(|(_, function)| !function.library);
        for (id, function) in functions {
            let Some(body) = &function.body else { continue };
            for stmt in body.stmts.values() {
                this.note(program, (id, body), stmt)?;
            }
        }
        Ok(this)
    }

    fn note(
        &mut self,
        program: &Program,
        (function, body): (FuncId, &Body),
        stmt: &Stmt,
    ) -> Result<(), String> {
        match stmt {
            Stmt::Mark(_) => {}
            Stmt::Assign { dst, .. } => self.note_local((function, body), *dst),
            Stmt::Store { addr: to, .. }
            | Stmt::StoreBits { addr: to, .. }
            | Stmt::Copy { dst: to, .. }
            | Stmt::Zero { dst: to, .. } => self.note_place((function, body), *to)?,
            Stmt::Call { callee, args, dst, dst_addr, .. } => {
                if let Some(dst) = dst {
                    self.note_local((function, body), *dst);
                }
                if let Some(to) = dst_addr {
                    self.note_place((function, body), *to)?;
                }
                check_call(program, body, callee, args)?;
            }
            _ => return Err("it uses a statement that is not followed".to_owned()),
        }
        Ok(())
    }

    fn note_local(&mut self, (function, body): (FuncId, &Body), local: LocalId) {
        if body.locals[local].kind != LocalKind::Temp {
            self.locals.insert((function, local));
        }
    }

    /// Notes the variable that an address is in.
    fn note_place(&mut self, (function, body): (FuncId, &Body), at: ExprId) -> Result<(), String> {
        match &body.exprs[at] {
            Expr::AddrLocal(local) => self.note_local((function, body), *local),
            Expr::AddrGlobal(global) => _ = self.globals.insert(*global),
            Expr::Field { base, .. } | Expr::Index { base, .. } => {
                self.note_place((function, body), *base)?;
            }
            _ => return Err("it writes through a pointer".to_owned()),
        }
        Ok(())
    }
}

/// A function without a body may write where its arguments lead.
fn check_call(
    program: &Program,
    body: &Body,
    callee: &Callee,
    args: &[ExprId],
) -> Result<(), String> {
    let Callee::Direct(callee) = callee else {
        return Err("it calls through a pointer".to_owned());
    };
    let called = &program.functions[*callee];
    let is_users = called.body.is_some() && !called.library;
    let types = body.types_in(&body.exprs);
    let gets_address = args.iter().any(|arg| types[*arg] == lydian_ir::Type::Ptr);
    let CType::Function { result, .. } = program.types.get(called.ty) else {
        return Err("a function has no type".to_owned());
    };
    let gives_address = matches!(program.types.get(*result), CType::Pointer { .. });
    let is_end = called.noreturn || called.name.starts_with("__assert");
    match !is_users && !is_end && (gets_address || gives_address) {
        true => Err(format!("`{}` may write through a pointer", called.name)),
        false => Ok(()),
    }
}
