//! The translation unit's state: functions, globals and literals, each made when it is first named.

use std::collections::{BTreeMap, BTreeSet};

use lydian_base::{Diagnostic, SourceMap, Span};
use lydian_ir as ir;
use lydian_ir::{CTypeId, FuncId, Function, Global, GlobalId, GlobalInit, Linkage, Program};
use rustc_hash::FxHashMap;

use crate::ast::{
    ExprId, ExprKind, FunctionDecl, FunctionId, FunctionSpecifiers, LabelId, StringLiteral,
    TranslationUnit, VarId, VarStorage,
};
use crate::ctypes::{ArrayLength, CType, QualType, Quals, TypeId};
use crate::lower::options::LoweringOptions;
use crate::lower::outcome::{NESTED, UnsupportedConstruct};
use crate::lower::types::{TypeMap, layout_of, quals_of};

/// A global whose initialiser is still to be computed.
#[derive(Clone, Copy, Debug)]
pub(super) struct PendingInitialiser {
    pub global: GlobalId,
    pub ty: QualType,
    pub init: ExprId,
}

/// The state of lowering a translation unit.
pub(super) struct Module<'a> {
    /// The tree.
    pub unit: &'a TranslationUnit,
    /// The text.
    pub source: &'a SourceMap,
    /// How to lower.
    pub options: LoweringOptions,
    /// The program that is made.
    pub program: Program,
    /// Diagnostics, mostly for constructs that were left out.
    pub diagnostics: Vec<Diagnostic>,
    /// The functions whose bodies are outlines, each with the parts that are left out.
    pub outlines: BTreeMap<FuncId, Vec<UnsupportedConstruct>>,
    /// The functions without a body though they are defined, each with the reason.
    pub left_out: BTreeMap<FuncId, UnsupportedConstruct>,
    /// The functions that access volatile bit-fields, structs or unions.
    pub volatile_parts: BTreeSet<FuncId>,
    types: TypeMap,
    functions: FxHashMap<FunctionId, FuncId>,
    by_name: FxHashMap<String, FuncId>,
    globals: FxHashMap<VarId, GlobalId>,
    strings: FxHashMap<(Vec<u8>, CTypeId), GlobalId>,
    literals: FxHashMap<ExprId, GlobalId>,
    static_locals: FxHashMap<String, u32>,
    constant_objects: u32,
    labels: FxHashMap<FunctionId, GlobalId>,
    /// Globals whose initialiser is still to be computed.
    pub pending: Vec<PendingInitialiser>,
}

impl<'a> Module<'a> {
    /// An empty program.
    pub(super) fn new(
        unit: &'a TranslationUnit,
        source: &'a SourceMap,
        options: LoweringOptions,
    ) -> Self {
        Self {
            unit,
            source,
            options,
            program: Program::default(),
            diagnostics: Vec::new(),
            outlines: BTreeMap::new(),
            left_out: BTreeMap::new(),
            volatile_parts: BTreeSet::new(),
            types: TypeMap::default(),
            functions: FxHashMap::default(),
            by_name: FxHashMap::default(),
            globals: FxHashMap::default(),
            strings: FxHashMap::default(),
            literals: FxHashMap::default(),
            static_locals: FxHashMap::default(),
            constant_objects: 0,
            labels: FxHashMap::default(),
            pending: Vec::new(),
        }
    }

    /// Whether a declaration, with its last token, is what clang saw of a nested function's definition.
    pub(super) fn is_nested(&self, declaration: Span) -> bool {
        self.source.slice(declaration).ends_with('{')
    }

    /// Notes a nested function: nothing of it is seen.
    pub(super) fn leave_out_nested(&mut self, id: FunctionId, span: Span) {
        let func = self.function(id);
        self.left_out.insert(func, UnsupportedConstruct::new(NESTED, span));
    }

    // Types.

    /// The IR's type for the decoder's.
    pub(super) fn ctype(&mut self, ty: TypeId) -> CTypeId {
        self.types.ctype(self.unit, &mut self.program.types, ty)
    }

    /// The IR's record for the decoder's.
    pub(super) fn record(&mut self, id: crate::ast::RecordId) -> ir::RecordId {
        self.types.record(self.unit, &mut self.program.types, id)
    }

    /// A type that is not supported, as a noun for a diagnostic.
    pub(super) fn type_description(&self, ty: TypeId) -> String {
        match self.unit.types.get(ty) {
            CType::Float(kind) => {
                let name = match kind {
                    crate::ctypes::FloatKind::LongDouble => "long double",
                    _ => "extended floating-point",
                };
                format!("{name} arithmetic")
            }
            CType::Array { length: ArrayLength::Variable, .. } => {
                "a variable-length array".to_owned()
            }
            CType::Unsupported(name) => format!("type `{name}`"),
            CType::Array { element, .. } => self.type_description(element.ty),
            CType::Record(record) => match self.unit.records[*record].tag.as_deref() {
                Some("__va_list_tag") => "`va_list`".to_owned(),
                _ => "an incomplete type".to_owned(),
            },
            _ => "an incomplete type".to_owned(),
        }
    }

    // Functions.

    /// The function of a declaration.
    pub(super) fn function(&mut self, id: FunctionId) -> FuncId {
        if let Some(known) = self.functions.get(&id) {
            return *known;
        }
        let decl = &self.unit.functions[id];
        if let Some(target) = self.alias_target(decl) {
            let func = self.function(target);
            self.functions.insert(id, func);
            return func;
        }
        let func = match self.by_name.get(&*decl.name) {
            Some(known) => *known,
            None => {
                let params =
                    decl.params.iter().map(|param| self.unit.vars[*param].name.to_string());
                let function = Function {
                    name: decl.name.to_string(),
                    symbol: decl.symbol.as_deref().map(str::to_owned),
                    ty: self.function_type(id),
                    linkage: linkage(decl.specifiers.is_static),
                    param_names: params.collect(),
                    noreturn: decl.specifiers.no_return,
                    weak: is_weak(&decl.specifiers),
                    library: decl.in_system_header && decl.body.is_some(),
                    system: decl.in_system_header,
                    implicit: decl.is_builtin && decl.body.is_none(),
                    body: None,
                    span: decl.span,
                };
                self.program.functions.push(function)
            }
        };
        self.functions.insert(id, func);
        self.by_name.insert(decl.name.to_string(), func);
        func
    }

    /// The function that another name stands for. An alias of what is not here is a function of its
    /// own.
    pub(super) fn alias_target(&self, decl: &FunctionDecl) -> Option<FunctionId> {
        let target = self.unit.function_named(decl.specifiers.alias.as_deref()?)?;
        self.unit.functions[target].specifiers.alias.is_none().then_some(target)
    }

    /// A function of the compiler's run-time library, declared if it is not yet.
    pub(super) fn runtime_function(
        &mut self,
        name: &str,
        result: CTypeId,
        params: Vec<CTypeId>,
        span: Span,
    ) -> FuncId {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        let param_names = vec![String::new(); params.len()];
        let ty = ir::CType::Function { result, params, variadic: false };
        let ty = self.program.types.intern(ty);
        let function = Function { param_names, span, ..Function::declared(name, ty) };
        let id = self.program.functions.push(function);
        self.by_name.insert(name.to_owned(), id);
        id
    }

    /// A function's type. One that is defined without a prototype takes the parameters that it
    /// has.
    fn function_type(&mut self, id: FunctionId) -> CTypeId {
        let decl = &self.unit.functions[id];
        match self.unit.ty(decl.ty) {
            CType::Function { result, prototype: false, .. } if decl.body.is_some() => {
                let result = self.ctype(result.ty);
                let params =
                    decl.params.iter().map(|param| self.ctype(self.unit.vars[*param].ty.ty));
                let params = params.collect();
                let ty = ir::CType::Function { result, params, variadic: false };
                self.program.types.intern(ty)
            }
            _ => self.ctype(decl.ty.ty),
        }
    }

    /// The library function that a builtin stands for (`memcpy` for `__builtin_memcpy`), with the
    /// first `count` parameters of the builtin where the program does not declare it.
    pub(super) fn library_function(
        &mut self,
        name: &str,
        builtin: FunctionId,
        count: usize,
    ) -> FuncId {
        if let Some(known) = self.by_name.get(name) {
            return *known;
        }
        if let Some(declared) = self.unit.function_named(name) {
            return self.function(declared);
        }
        let decl = &self.unit.functions[builtin];
        let mut ty = self.ctype(decl.ty.ty);
        let mut plain = self.program.types.get(ty).clone();
        if let ir::CType::Function { params, .. } = &mut plain {
            params.truncate(count);
            ty = self.program.types.intern(plain);
        }
        let function = Function {
            symbol: decl.symbol.as_deref().map(str::to_owned),
            param_names: vec![String::new(); decl.params.len().min(count)],
            noreturn: decl.specifiers.no_return,
            ..Function::declared(name, ty)
        };
        let func = self.program.functions.push(function);
        self.by_name.insert(name.to_owned(), func);
        func
    }

    // Globals.

    /// The global of a variable with static storage.
    pub(super) fn global(&mut self, id: VarId) -> GlobalId {
        if let Some(known) = self.globals.get(&id) {
            return *known;
        }
        let decl = &self.unit.vars[id];
        let target = decl.alias.as_deref().and_then(|target| self.unit.global_named(target));
        if let Some(target) = target.filter(|target| self.unit.vars[*target].alias.is_none()) {
            let global = self.global(target);
            self.globals.insert(id, global);
            return global;
        }
        let name = match decl.storage {
            VarStorage::StaticLocal(function) => self.static_local_name(function, &decl.name),
            _ => decl.name.to_string(),
        };
        let internal = match decl.storage {
            VarStorage::Global { internal } => internal,
            _ => true,
        };
        let global = self.new_global(name, decl.ty, decl.span, internal);
        let layout = layout_of(self.unit, decl.ty.ty);
        let object = &mut self.program.globals[global];
        if let Some(align) = decl.alignment {
            object.align = object.align.max(align);
        }
        object.weak = decl.weak;
        object.thread_local = decl.thread_local;
        if !decl.is_definition {
            object.init = GlobalInit::Extern;
        }
        self.globals.insert(id, global);
        if let Some(init) = decl.init {
            let flexible = self.flexible_tail(decl.ty, init);
            let object = &mut self.program.globals[global];
            object.size = object.size.max(flexible).max(layout.map_or(0, |layout| layout.size));
            self.pending.push(PendingInitialiser { global, ty: decl.ty, init });
        }
        global
    }

    fn static_local_name(&mut self, function: FunctionId, name: &str) -> String {
        let name = format!("{}.{name}", self.unit.functions[function].name);
        let count = self.static_locals.entry(name.clone()).or_insert(0);
        *count += 1;
        match *count {
            1 => name,
            n => format!("{name}.{n}"),
        }
    }

    fn new_global(&mut self, name: String, ty: QualType, span: Span, internal: bool) -> GlobalId {
        let layout = layout_of(self.unit, ty.ty);
        let quals = quals_of(self.unit, ty);
        let global = Global {
            name,
            ty: self.ctype(ty.ty),
            size: layout.map_or(0, |layout| layout.size),
            align: layout.map_or(1, |layout| layout.align),
            linkage: linkage(internal),
            read_only: quals.has(Quals::CONST) && !quals.has(Quals::VOLATILE),
            weak: false,
            thread_local: false,
            init: GlobalInit::Zero,
            span,
        };
        self.program.globals.push(global)
    }

    /// The global that holds a string literal; equal literals of one type share one.
    pub(super) fn string(&mut self, e: ExprId) -> Option<GlobalId> {
        let expr = &self.unit.exprs[e];
        let ExprKind::String(literal) = &expr.kind else { return None };
        let size = layout_of(self.unit, expr.ty.ty)?.size;
        let bytes = string_bytes(literal, size);
        let key = (bytes, self.ctype(expr.ty.ty));
        if let Some(known) = self.strings.get(&key) {
            return Some(*known);
        }
        let name = format!(".str.{}", self.strings.len());
        let id = self.new_global(name, expr.ty, expr.span, true);
        let global = &mut self.program.globals[id];
        global.read_only = true;
        if key.0.iter().any(|byte| *byte != 0) {
            let items = vec![ir::InitItem { offset: 0, bytes: key.0.clone() }];
            global.init = GlobalInit::Data { items, relocations: Vec::new() };
        }
        self.strings.insert(key, id);
        Some(id)
    }

    /// A read-only object with the contents of a constant initialiser.
    pub(super) fn constant_object(
        &mut self,
        ty: QualType,
        init: GlobalInit,
        span: Span,
    ) -> GlobalId {
        let name = format!(".init.{}", self.constant_objects);
        self.constant_objects += 1;
        let id = self.new_global(name, ty, span, true);
        let global = &mut self.program.globals[id];
        global.read_only = true;
        global.init = init;
        id
    }

    /// The function of a label and its position among that function's labels.
    pub(super) fn label_place(&self, label: LabelId) -> (FunctionId, i64) {
        let function = self.unit.labels[label].function;
        let labels = &self.unit.functions[function].labels;
        let index = labels.iter().position(|other| *other == label).unwrap_or(0);
        (function, index as i64)
    }

    /// The object whose bytes are the addresses of a function's labels (`&&label`), in their order.
    /// It is never read.
    pub(super) fn labels_of(&mut self, function: FunctionId) -> GlobalId {
        if let Some(known) = self.labels.get(&function) {
            return *known;
        }
        let decl = &self.unit.functions[function];
        let element = self.program.types.int(ir::IntKind::Char);
        let size = decl.labels.len() as u64;
        let ty = ir::CType::Array { element, length: Some(size) };
        let id = self.program.globals.push(Global {
            name: format!(".labels.{}", decl.name),
            ty: self.program.types.intern(ty),
            size,
            align: 1,
            linkage: Linkage::Internal,
            read_only: true,
            weak: false,
            thread_local: false,
            init: GlobalInit::Zero,
            span: decl.span,
        });
        self.labels.insert(function, id);
        id
    }

    /// The global of a compound literal at file scope.
    pub(super) fn file_literal(&mut self, e: ExprId) -> Option<GlobalId> {
        if let Some(known) = self.literals.get(&e) {
            return Some(*known);
        }
        let expr = &self.unit.exprs[e];
        let ExprKind::CompoundLiteral { init, .. } = expr.kind else { return None };
        let name = format!(".literal.{}", self.literals.len());
        let id = self.new_global(name, expr.ty, expr.span, true);
        self.literals.insert(e, id);
        self.pending.push(PendingInitialiser { global: id, ty: expr.ty, init });
        Some(id)
    }
}

/// The bytes of a string literal in an array of `size` bytes: padded with zeros, or cut.
pub(super) fn string_bytes(literal: &StringLiteral, size: u64) -> Vec<u8> {
    let unit = usize::from(literal.unit_size);
    let mut bytes: Vec<u8> =
        literal.units.iter().flat_map(|code| code.to_le_bytes().into_iter().take(unit)).collect();
    bytes.resize(size as usize, 0);
    bytes
}

/// Whether a definition in another unit takes the place of this one: it is called weak, or it is an
/// inline definition, which every unit may have.
fn is_weak(specifiers: &FunctionSpecifiers) -> bool {
    specifiers.attributes.iter().any(|name| &**name == "WeakAttr")
        || (specifiers.is_inline && !specifiers.is_static)
}

const fn linkage(internal: bool) -> Linkage {
    if internal { Linkage::Internal } else { Linkage::External }
}
