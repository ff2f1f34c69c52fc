//! Inline assembly: its outputs have values of which nothing is known.
//!
//! Assembly that surely does nothing is left out: an empty template, with which the compiler is only kept
//! from moving or knowing values (then an output that is tied to an input has its value), and the
//! instructions of [`IDLE`]. Everything else is a [`Stmt::Havoc`] and a warning.

use lydian_base::Diagnostic;
use lydian_ir::stmt::Havoc;
use lydian_ir::{BlockId, ExprId, LocalId, Stmt, SwitchCase, Terminator, Type};

use crate::ast::{self, Assembly, AssemblyOperand};
use crate::lower::builder::FunctionLowering;
use crate::lower::expressions::lvalue::LValue;
use crate::lower::outcome::{Lowering, UnsupportedConstruct};
use crate::lower::types::scalar_of;

/// Instructions that change nothing that a program of one thread can see.
const IDLE: [&str; 8] = ["nop", "pause", "mfence", "lfence", "sfence", "yield", "rep", "isb"];

/// Instructions and registers whose values depend on the machine, the process or the time, and directives
/// that write instructions as numbers.
const VARYING: [&str; 36] = [
    ".byte", ".inst", ".long", ".word", "call", "cpuid", "in", "inb", "inl", "int", "inw", "mrs",
    "rdfsbase", "rdgsbase", "rdmsr", "rdpid", "rdpmc", "rdrand", "rdseed", "rdtsc", "rdtscp",
    "rip", "rsp", "sgdt", "sidt", "sldt", "smsw", "str", "svc", "syscall", "sysenter", "vmcall",
    "vmmcall", "xgetbv", "fs:0", "gs:0",
];

/// A place that assembly writes.
struct Output {
    place: LValue,
    ty: crate::ctypes::TypeId,
    /// Its value after instructions that change nothing.
    after: After,
}

/// The value of a place after instructions that change nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
enum After {
    /// Anything.
    Unknown,
    /// Its value before: it is read and written (`+`).
    Unchanged,
    /// The value of the input that is tied to it.
    Value(ExprId),
}

impl FunctionLowering<'_, '_> {
    /// An `asm` statement.
    pub(in crate::lower) fn assembly(&mut self, asm: &Assembly) -> Lowering<()> {
        let span = self.span;
        let idle = asm.is_idle();
        let mut outputs = Vec::new();
        for operand in &asm.outputs {
            outputs.push(self.output(operand)?);
        }
        for operand in &asm.inputs {
            self.input(asm, operand, idle, &mut outputs)?;
        }
        self.span = span;
        if asm.is_barrier() {
            return Ok(());
        }
        let silent = idle && outputs.iter().all(|output| output.after != After::Unknown);
        if !silent && self.writes_something(asm) {
            self.warn_of_assembly(span);
            self.havoc(asm, &outputs)?;
        }
        if idle {
            self.keep_known(&outputs)?;
        }
        self.span = span;
        self.jumps_of(asm)
    }

    fn writes_something(&self, asm: &Assembly) -> bool {
        !asm.outputs.is_empty() || asm.clobbers_memory || !asm.extended || !asm.labels.is_empty()
    }

    fn output(&mut self, operand: &AssemblyOperand) -> Lowering<Output> {
        let expr = &self.unit.exprs[operand.expr];
        let ty = expr.ty.ty;
        let place = self.apart(|l| l.lvalue(operand.expr))?;
        let is_read = operand.constraint.starts_with('+');
        let after = if is_read { After::Unchanged } else { After::Unknown };
        Ok(Output { place, ty, after })
    }

    /// An input is evaluated; one that is tied to an output by its number is the output's value
    /// where no instruction changes it.
    fn input(
        &mut self,
        asm: &Assembly,
        operand: &AssemblyOperand,
        idle: bool,
        outputs: &mut [Output],
    ) -> Lowering<()> {
        let tied = operand.constraint.trim_start_matches(['%', '&']).parse::<usize>().ok();
        let tied = tied.filter(|at| *at < asm.outputs.len());
        let scalar = scalar_of(self.unit, self.unit.exprs[operand.expr].ty.ty);
        match (tied, scalar) {
            (Some(at), Some(from)) if idle => {
                let to = scalar_of(self.unit, outputs[at].ty);
                let value = self.apart(|l| l.rvalue(operand.expr))?;
                if let Some(to) = to {
                    outputs[at].after = After::Value(self.convert(value, from, to));
                }
                Ok(())
            }
            _ => self.apart(|l| l.discard(operand.expr)),
        }
    }

    fn keep_known(&mut self, outputs: &[Output]) -> Lowering<()> {
        for output in outputs {
            if let After::Value(value) = output.after {
                let ty = self.body.type_of(value);
                self.write_lvalue(output.place, value, ty);
            }
        }
        Ok(())
    }

    fn havoc(&mut self, asm: &Assembly, outputs: &[Output]) -> Lowering<()> {
        let span = self.span;
        let mut havoc = Havoc {
            // Assembly without operands may do anything.
            memory: asm.clobbers_memory || !asm.extended,
            varies: asm.varies(),
            ..Havoc::default()
        };
        let mut fields: Vec<(LValue, LocalId, Type)> = Vec::new();
        for output in
            outputs.iter().filter(|output| output.after == After::Unknown || !asm.is_idle())
        {
            match output.place {
                LValue::Register(local) => havoc.registers.push(local),
                LValue::Memory { addr, .. } => {
                    let size = self.size_of(output.ty, span)?;
                    if size > 0 {
                        havoc.places.push((addr, size));
                    }
                }
                LValue::Bits { field, .. } => {
                    let ctype = self.ctype(output.ty);
                    let temp = self.temp_of(ctype, field.ty);
                    havoc.registers.push(temp);
                    fields.push((output.place, temp, field.ty));
                }
            }
        }
        self.emit(Stmt::Havoc(Box::new(havoc)));
        for (place, temp, ty) in fields {
            let value = self.read(temp);
            self.write_lvalue(place, value, ty);
        }
        Ok(())
    }

    /// `asm goto`: control goes on, or to one of the labels, and nothing is known of which.
    fn jumps_of(&mut self, asm: &Assembly) -> Lowering<()> {
        if asm.labels.is_empty() {
            return Ok(());
        }
        let span = self.span;
        let int = self.module.program.types.int(lydian_ir::IntKind::Int);
        let way = self.temp_of(int, Type::Int(32));
        let varies = asm.varies();
        let choice = Havoc { registers: vec![way], varies, ..Havoc::default() };
        self.emit(Stmt::Havoc(Box::new(choice)));
        let value = self.read(way);
        let next = self.new_block();
        let (mut cases, mut arrivals): (Vec<SwitchCase>, Vec<(BlockId, ast::LabelId)>) =
            (Vec::new(), Vec::new());
        for (index, name) in asm.labels.iter().enumerate() {
            let labels = &self.unit.functions[self.function].labels;
            let label = labels.iter().find(|label| self.unit.labels[**label].name == *name);
            let Some(label) = label else {
                return Err(UnsupportedConstruct::new(
                    "a label of `asm goto` that is not here",
                    span,
                ));
            };
            let target = self.new_block();
            let at = index as i128 + 1;
            cases.push(SwitchCase { low: at, high: at, target, span: lydian_base::Span::NONE });
            arrivals.push((target, *label));
        }
        self.terminate(Terminator::Switch { value, cases, default: next });
        for (block, label) in arrivals {
            self.start(block);
            self.goto(label)?;
        }
        self.start(next);
        Ok(())
    }

    fn warn_of_assembly(&mut self, span: lydian_base::Span) {
        if self.journals.replaying() {
            return;
        }
        let name = &self.unit.functions[self.function].name;
        let message = format!("nothing is known of what inline assembly in `{name}` computes");
        let diagnostic = Diagnostic::warning("inline-assembly", message)
            .at(self.module.source.place(span.start))
            .note("what depends on its outputs is measured, but neither generated nor proved");
        self.module.diagnostics.push(diagnostic);
    }
}

impl Assembly {
    /// Whether its instructions, if any, change nothing.
    fn is_idle(&self) -> bool {
        self.words().iter().all(|word| IDLE.contains(&word.as_str()))
    }

    /// Whether what it computes may differ from machine to machine or from run to run.
    fn varies(&self) -> bool {
        self.words().iter().any(|word| VARYING.contains(&word.trim_start_matches('%')))
    }

    /// The words of its instructions.
    fn words(&self) -> Vec<String> {
        let template = self.template.replace("\\n", " ").replace("\\t", " ");
        let words = template.split([' ', ';', ',', '\t', '\n']).filter(|word| !word.is_empty());
        words.map(str::to_lowercase).collect()
    }

    /// Whether it only keeps the compiler from moving or knowing values.
    fn is_barrier(&self) -> bool {
        self.is_idle() && self.outputs.is_empty() && self.labels.is_empty()
    }
}
