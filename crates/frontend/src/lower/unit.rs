//! Lowers a translation unit.
//!
//! Defined functions come first, then defined globals, both in the order of the text; then the functions
//! and globals that these refer to, as they are met.

use lydian_base::{Diagnostic, SourceMap};
use lydian_ir as ir;
use lydian_ir::{Alias, FuncId, GlobalId, GlobalInit, Moment, RelocationTarget, Startup};

use crate::ast::{FunctionId, FunctionSpecifiers, TopLevel, TranslationUnit};
use crate::lower::function::{lower_body, outline_body};
use crate::lower::module::{Module, PendingInitialiser};
use crate::lower::options::LoweringOptions;
use crate::lower::outcome::{LoweredUnit, UnsupportedConstruct};

/// Bytes of stack for lowering: expressions and statements nest as deep as generated code likes.
/// Only what is used takes memory.
const STACK: usize = 1 << 30;

/// Lowers a translation unit. `source` is the text that its spans refer to.
pub fn lower(unit: &TranslationUnit, source: &SourceMap, options: LoweringOptions) -> LoweredUnit {
    let run = || lower_unit(unit, source, options);
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().name("lowering".into()).stack_size(STACK);
        match builder.spawn_scoped(scope, run) {
            Ok(thread) => match thread.join() {
                Ok(lowered) => lowered,
                Err(panic) => std::panic::resume_unwind(panic),
            },
            // A system that grants no large stack still lowers what is not nested too deep.
            Err(_) => run(),
        }
    })
}

/// Lowers a translation unit on the stack that there is.
fn lower_unit(unit: &TranslationUnit, source: &SourceMap, options: LoweringOptions) -> LoweredUnit {
    let mut module = Module::new(unit, source, options);
    if unit.target.pointer.size == 4 {
        module.program.types.target = ir::Target::I386;
    }
    let defined: Vec<_> = unit.defined_functions().map(|(id, _)| id).collect();
    for id in &defined {
        module.function(*id);
    }
    for item in &unit.top_level {
        if let TopLevel::Var(var) = item
            && unit.vars[*var].is_definition
        {
            module.global(*var);
        }
    }
    for id in defined {
        module.body(id);
        module.startup(id);
    }
    module.aliases();
    module.finish_initialisers();
    module.typedefs();
    let Module { program, diagnostics, outlines, left_out, volatile_parts, .. } = module;
    LoweredUnit { program, diagnostics, outlines, left_out, volatile_parts }
}

impl Module<'_> {
    /// Notes the further names of functions and globals of this unit.
    fn aliases(&mut self) {
        let unit = self.unit;
        for (id, decl) in unit.functions.iter().filter(|(_, decl)| !decl.specifiers.is_static) {
            if self.alias_target(decl).is_some() {
                let target = RelocationTarget::Function(self.function(id));
                self.program.aliases.push(Alias { name: decl.name.to_string(), target });
            }
        }
        for (id, decl) in unit.vars.iter() {
            let target = decl.alias.as_deref().and_then(|target| unit.global_named(target));
            if target.is_some_and(|target| unit.vars[target].alias.is_none()) {
                let target = RelocationTarget::Global(self.global(id));
                self.program.aliases.push(Alias { name: decl.name.to_string(), target });
            }
        }
    }

    /// Notes the functions that run before and after `main`.
    fn startup(&mut self, id: FunctionId) {
        let (unit, function) = (self.unit, self.function(id));
        let FunctionSpecifiers { constructor, destructor, .. } = unit.functions[id].specifiers;
        let moments = [(constructor, Moment::BeforeMain), (destructor, Moment::AtExit)];
        for (priority, moment) in moments {
            if let Some(priority) = priority {
                self.program.startup.push(Startup { function, moment, priority });
            }
        }
    }

    fn body(&mut self, id: FunctionId) {
        let func = self.function(id);
        // Nobody measures functions that the system's headers define.
        let is_users = !self.source.is_system(self.unit.functions[id].span.start);
        let lowered = match self.options.outlines && is_users {
            true => outline_body(self, id),
            false => lower_body(self, id).map(|body| (body, Vec::new())),
        };
        match lowered {
            Ok((body, gaps)) if !gaps.is_empty() => {
                self.program.functions[func].body = Some(body);
                self.outlines.insert(func, gaps);
            }
            Ok((body, _)) if self.is_well_formed(func, &body) => {
                self.program.functions[func].body = Some(body);
            }
            Ok(_) => {}
            Err(unsupported) => {
                let name = &self.unit.functions[id].name;
                let message = format!("{} in function `{name}` is not supported", unsupported.what);
                let diagnostic = Diagnostic::warning("unsupported-construct", message)
                    .at(self.source.place(unsupported.span.start))
                    .note(format!("`{name}` is treated as a function defined elsewhere"));
                self.diagnostics.push(diagnostic);
                self.left_out.insert(func, unsupported);
            }
        }
    }

    /// Whether the verifier accepts a body; else that is reported as an error of Lydian's. Only
    /// builds with debug assertions ask.
    fn is_well_formed(&mut self, func: FuncId, body: &ir::Body) -> bool {
        if !cfg!(debug_assertions) {
            return true;
        }
        let violations = ir::verify::verify_body(&self.program, func, body);
        let function = &self.program.functions[func];
        let place = self.source.place(function.span.start);
        for violation in &violations {
            let message = format!("the IR of `{}` breaks {violation}", function.name);
            let diagnostic = Diagnostic::error("internal-error", message).at(place.clone());
            self.diagnostics.push(diagnostic);
        }
        violations.is_empty()
    }

    /// Computes initialisers, which may name further globals, until there are no more.
    fn finish_initialisers(&mut self) {
        while let Some(PendingInitialiser { global: id, ty, init }) = self.pending.pop() {
            self.program.globals[id].init = match self.static_init(ty, init) {
                Ok(contents) => contents,
                Err(unsupported) => {
                    self.report_initialiser(id, &unsupported);
                    GlobalInit::Extern
                }
            };
        }
    }

    fn report_initialiser(&mut self, id: GlobalId, unsupported: &UnsupportedConstruct) {
        let name = &self.program.globals[id].name;
        let message =
            format!("{} in the initialiser of `{name}` is not supported", unsupported.what);
        let diagnostic = Diagnostic::warning("unsupported-construct", message)
            .at(self.source.place(unsupported.span.start))
            .note(format!("the first contents of `{name}` are treated as unknown"));
        self.diagnostics.push(diagnostic);
    }

    fn typedefs(&mut self) {
        let unit = self.unit;
        for (_, typedef) in unit.typedefs.iter() {
            let ty = self.ctype(typedef.ty.ty);
            self.program.typedefs.insert(typedef.name.to_string(), ty);
        }
    }
}
