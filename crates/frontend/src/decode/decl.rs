//! Decodes functions and variables.

use super::Decoder;
use super::bounds::closing;
use super::node::{DeclRef as NodeRef, Node, Str, TypeRef};
use crate::ast::{
    BoundOwner, DeclRef, FunctionDecl, FunctionId, FunctionSpecifiers, TopLevel, VarDecl, VarId,
    VarStorage,
};
use crate::ctypes::{ArrayLength, CType, QualType};
use lydian_base::Span;

/// The alignment for `aligned` without an argument on the usual targets: the largest one.
const LARGEST_ALIGNMENT: u64 = 16;

/// The priority of constructors and destructors without one.
const LAST_PRIORITY: u32 = 65535;

impl Decoder<'_> {
    /// Decodes a declaration at file scope or in a block.
    pub(super) fn declaration(&mut self, node: &Node<'_>) {
        match node.kind {
            "FunctionDecl" => _ = self.listed_function(node),
            "VarDecl" => {
                let var = self.var(node);
                self.list(TopLevel::Var(var));
            }
            "RecordDecl" => {
                let record = self.record(node);
                if node.complete {
                    self.list(TopLevel::Record(record));
                }
            }
            "EnumDecl" => {
                let decl = self.enumeration(node);
                self.list(TopLevel::Enum(decl));
            }
            "TypedefDecl" => {
                let typedef = self.typedef(node);
                self.list(TopLevel::Typedef(typedef));
            }
            "FileScopeAsmDecl" => {
                let span = self.span(node);
                self.list(TopLevel::Asm(span));
            }
            // Static assertions, empty declarations, pragmas: nothing to keep.
            _ => {}
        }
    }

    /// Adds to the declarations at file scope; a variable is listed once.
    fn list(&mut self, item: TopLevel) {
        if !self.scopes.at_file_scope() {
            return;
        }
        let listed = match item {
            TopLevel::Var(var) => !self.listed_vars.insert(var),
            _ => false,
        };
        if !listed {
            self.unit.top_level.push(item);
        }
    }

    /// Decodes a function, and lists it among the declarations.
    pub(super) fn listed_function(&mut self, node: &Node<'_>) -> FunctionId {
        let function = self.function(node);
        self.list(TopLevel::Function(function));
        function
    }

    /// Decodes a function's declaration or definition. Functions have one namespace, so all
    /// declarations of a name are one function.
    fn function(&mut self, node: &Node<'_>) -> FunctionId {
        let name = node.name.as_deref().unwrap_or("");
        let ty = self.type_of(node);
        let id = self.function_named(name, ty);
        self.functions.insert(node.id, id);
        let params = node.inner.iter().filter(|child| child.kind == "ParmVarDecl");
        let body = node.inner.iter().find(|child| child.kind == "CompoundStmt");
        let span = self.span(node);
        let name_span = self.name_span(node);
        let in_system_header = self.is_system(node);
        let written = node.ty.as_ref().map_or("", |ty| &ty.written);
        self.attributes(id, node);
        let declared = !self.declared.insert(id);
        let decl = &mut self.unit.functions[id];
        if let Some(symbol) = node.mangled_name.as_deref().filter(|symbol| *symbol != name) {
            decl.symbol = Some(symbol.into());
        }
        decl.specifiers.is_static |= node.storage == Some("static");
        decl.specifiers.is_inline |= node.is_inline;
        decl.specifiers.no_return |= written.contains("noreturn");
        let has_prototype = |ty: QualType| {
            matches!(self.unit.types.get(ty.ty), CType::Function { prototype: true, .. })
        };
        let defined = decl.body.is_some() || decl.body_skipped;
        let better = !declared || (!has_prototype(decl.ty) && has_prototype(ty));
        if body.is_some() || (better && !defined) {
            decl.ty = ty;
            decl.written = written.into();
            decl.span = span;
            decl.name_span = name_span;
            decl.in_system_header = in_system_header;
            decl.is_builtin = node.implicit;
        } else {
            decl.is_builtin &= node.implicit;
        }
        if body.is_some() && in_system_header && !self.intrinsics.contains(name) {
            self.unit.functions[id].body_skipped = true;
            return id;
        }
        if body.is_none() && (defined || declared) {
            return id;
        }
        self.scopes.enter();
        let outer = self.function.replace(id);
        let params: Vec<VarId> = params.map(|param| self.param(param, id)).collect();
        self.unit.functions[id].params = params;
        match body {
            Some(body) => self.ask_for_bounds(self.span(body).start + 1),
            None => self.drop_bounds(),
        }
        if let Some(body) = body {
            let body = self.stmt(body);
            self.unit.functions[id].body = Some(body);
        }
        self.function = outer;
        self.scopes.leave();
        id
    }

    /// The function of this name, made when it is met for the first time.
    fn function_named(&mut self, name: &str, ty: QualType) -> FunctionId {
        if let Some(id) = self.function_names.get(name) {
            return *id;
        }
        let id = self.unit.functions.push(FunctionDecl {
            name: name.into(),
            symbol: None,
            ty,
            written: "".into(),
            params: Vec::new(),
            body: None,
            body_skipped: false,
            specifiers: FunctionSpecifiers::default(),
            is_builtin: true,
            span: Span::NONE,
            name_span: Span::NONE,
            in_system_header: true,
            locals: Vec::new(),
            labels: Vec::new(),
        });
        self.function_names.insert(name.into(), id);
        id
    }

    fn attributes(&mut self, id: FunctionId, node: &Node<'_>) {
        let attributes = node.inner.iter().filter(|child| child.kind.ends_with("Attr"));
        let alignment = self.alignment(node);
        let specifiers = &mut self.unit.functions[id].specifiers;
        specifiers.alignment = specifiers.alignment.max(alignment);
        for attribute in attributes {
            match attribute.kind {
                "ConstructorAttr" => {
                    let priority = self.priority(attribute);
                    self.unit.functions[id].specifiers.constructor = Some(priority);
                }
                "DestructorAttr" => {
                    let priority = self.priority(attribute);
                    self.unit.functions[id].specifiers.destructor = Some(priority);
                }
                _ => {}
            }
            let specifiers = &mut self.unit.functions[id].specifiers;
            specifiers.no_return |= matches!(attribute.kind, "NoReturnAttr" | "C11NoReturnAttr");
            if let Some(target) = &attribute.aliasee {
                specifiers.alias = Some((**target).into());
            }
            let name: Box<str> = attribute.kind.into();
            if let Err(at) = specifiers.attributes.binary_search(&name) {
                specifiers.attributes.insert(at, name);
            }
        }
    }

    /// The number in `constructor (101)`, which clang prints nowhere.
    fn priority(&self, attribute: &Node<'_>) -> u32 {
        let text = self.source.slice(self.span(attribute));
        let digits = text.split(['(', ')']).nth(1).map(str::trim);
        digits.and_then(|digits| digits.parse().ok()).unwrap_or(LAST_PRIORITY)
    }

    fn param(&mut self, node: &Node<'_>, function: FunctionId) -> VarId {
        let var = self.new_var(node, VarStorage::Param(function), true);
        self.vars.insert(node.id, var);
        let name = node.name.as_deref().unwrap_or("");
        let name_end = if name.is_empty() { None } else { Some(self.name_span(node).end) };
        if let Some(text) = name_end.and_then(|end| self.source.text().get(end as usize..)) {
            self.note_outermost_bound(var, text);
        }
        self.note_bounds(BoundOwner::Var(var), name, node.ty.as_ref());
        var
    }

    /// Decodes a variable's declaration, in a function or at file scope, with its initialiser.
    pub(super) fn var(&mut self, node: &Node<'_>) -> VarId {
        let name = node.name.as_deref().unwrap_or("");
        let is_extern = node.storage == Some("extern");
        let init = node.initialised.and_then(|_| node.inner.iter().find(|child| is_init(child)));
        let var = match self.function {
            Some(function) if !is_extern => {
                let storage = match node.storage {
                    Some("static") => VarStorage::StaticLocal(function),
                    _ => VarStorage::Local(function),
                };
                let var = self.new_var(node, storage, true);
                self.unit.functions[function].locals.push(var);
                self.note_bounds(BoundOwner::Var(var), name, node.ty.as_ref());
                var
            }
            _ => self.global(node, name, !is_extern || init.is_some()),
        };
        self.vars.insert(node.id, var);
        // Known before its initialiser, which may name it.
        self.scopes.declare_var(name, self.unit.vars[var].ty);
        if let Some(init) = init {
            let init = self.expr(init);
            self.unit.vars[var].init = Some(init);
        }
        var
    }

    /// A variable with linkage: all declarations of a name are one variable.
    fn global(&mut self, node: &Node<'_>, name: &str, defines: bool) -> VarId {
        let internal = node.storage == Some("static");
        let Some(&var) = self.global_names.get(name) else {
            let var = self.new_var(node, VarStorage::Global { internal }, defines);
            self.global_names.insert(name.into(), var);
            return var;
        };
        let ty = self.type_of(node);
        let (span, name_span) = (self.span(node), self.name_span(node));
        let alignment = self.alignment(node);
        let in_system_header = self.is_system(node);
        let incomplete = |ty: QualType| {
            matches!(
                self.unit.types.get(ty.ty),
                CType::Array { length: ArrayLength::Incomplete, .. }
            )
        };
        let completes = incomplete(self.unit.vars[var].ty) && !incomplete(ty);
        let decl = &mut self.unit.vars[var];
        if completes {
            decl.ty = ty;
        }
        decl.alignment = decl.alignment.max(alignment);
        decl.weak |= is_weak(node);
        decl.alias = alias_of(node).or(decl.alias.take());
        if defines && (!decl.is_definition || node.initialised.is_some()) {
            decl.is_definition = true;
            (decl.span, decl.name_span) = (span, name_span);
            decl.in_system_header = in_system_header;
            decl.written = node.ty.as_ref().map_or("", |ty| &ty.written).into();
        }
        var
    }

    fn new_var(&mut self, node: &Node<'_>, storage: VarStorage, defines: bool) -> VarId {
        let ty = self.type_of(node);
        let name = node.name.as_deref().unwrap_or("");
        let name_span = self.name_span(node);
        let alignment = self.alignment(node);
        if matches!(storage, VarStorage::Param(_)) {
            self.scopes.declare_var(name, ty);
        }
        let cleanup = node.inner.iter().find_map(|child| child.cleanup_function.as_deref());
        let cleanup = match cleanup.and_then(|function| self.decl_ref(function)) {
            Some(DeclRef::Function(function)) => Some(function),
            _ => None,
        };
        self.unit.vars.push(VarDecl {
            name: name.into(),
            ty,
            written: node.ty.as_ref().map_or("", |ty| &ty.written).into(),
            storage,
            is_definition: defines,
            thread_local: node.tls.is_some(),
            weak: is_weak(node),
            alias: alias_of(node),
            cleanup,
            init: None,
            alignment,
            span: self.span(node),
            name_span,
            in_system_header: self.is_system(node),
        })
    }

    /// The largest alignment that attributes of a declaration ask for, or of the typedef that it
    /// is declared with.
    pub(super) fn alignment(&mut self, node: &Node<'_>) -> Option<u64> {
        let attributes = node.inner.iter().filter(|child| child.kind == "AlignedAttr");
        let mut largest = node.ty.as_ref().and_then(|ty| self.typedef_alignment(ty));
        for attribute in attributes {
            let argument = attribute.inner.first().filter(|argument| !argument.kind.is_empty());
            let asked = match argument {
                None => Some(self.alignment_of_named_type(attribute).unwrap_or(LARGEST_ALIGNMENT)),
                Some(argument) => match argument.value.as_ref().and_then(|v| v.integer()) {
                    Some(value) => u64::try_from(value).ok(),
                    None => {
                        let argument = self.expr(argument);
                        self.unit.const_eval(argument).and_then(|value| value.try_into().ok())
                    }
                },
            };
            largest = largest.max(asked);
        }
        largest
    }

    /// The alignment of the type in `_Alignas (type)`, which clang prints nowhere.
    fn alignment_of_named_type(&mut self, attribute: &Node<'_>) -> Option<u64> {
        let start = self.span(attribute).start;
        let text = self.source.text().get(start as usize..)?;
        let text = text.strip_prefix("_Alignas").or_else(|| text.strip_prefix("alignas"))?;
        let inner = text.trim_start().strip_prefix('(')?;
        let name = &inner[..closing(inner, '(', ')')?];
        if name.contains('{') {
            // In a function clang prints its layout, but not its declaration.
            let keyword = inner.len() - inner.trim_start().len();
            let offset = self.source.text().len() - inner.len() + keyword;
            let (line, column) = self.scopes.line_and_column(u32::try_from(offset).ok()?);
            if let Some(layout) = self.layouts.unnamed(line, column) {
                return Some(layout.align);
            }
            let kind = if name.trim_start().starts_with("union") { "union" } else { "struct" };
            let printed = format!("{kind} (unnamed {kind} at <stdin>:{line}:{column})");
            let written = Str(printed.into());
            let ty = self.resolve(&TypeRef { written, ..TypeRef::default() });
            return self.unit.align_of(ty.ty);
        }
        let written = Str(name.trim().into());
        let ty = self.resolve(&TypeRef { written, ..TypeRef::default() });
        self.unit.align_of(ty.ty)
    }

    /// The alignment that the attributes of a typedef ask for, if the type is one by its name.
    pub(super) fn typedef_alignment(&self, ty: &TypeRef<'_>) -> Option<u64> {
        if self.aligned_typedefs.is_empty() {
            return None;
        }
        let name = ty.written.rsplit(' ').next()?;
        self.aligned_typedefs.get(name).copied()
    }

    /// What a reference in an expression means. A declaration that clang prints later, or never
    /// (of its own library functions), is made from what the reference says of it.
    pub(super) fn decl_ref(&mut self, referenced: &NodeRef<'_>) -> Option<DeclRef> {
        let name = referenced.name.as_deref()?;
        match referenced.kind {
            "EnumConstantDecl" => {
                self.enum_constants.get(&referenced.id).copied().map(DeclRef::EnumConstant)
            }
            "FunctionDecl" => {
                if let Some(id) = self.functions.get(&referenced.id) {
                    return Some(DeclRef::Function(*id));
                }
                let ty = self.resolve(referenced.ty.as_ref()?);
                let id = self.function_named(name, ty);
                self.functions.insert(referenced.id, id);
                Some(DeclRef::Function(id))
            }
            "VarDecl" | "ParmVarDecl" => {
                let known = self.vars.get(&referenced.id).or_else(|| self.global_names.get(name));
                known.copied().map(DeclRef::Var)
            }
            _ => None,
        }
    }
}

/// Whether a declaration is called weak.
fn is_weak(node: &Node<'_>) -> bool {
    node.inner.iter().any(|child| child.kind == "WeakAttr")
}

/// The name that a declaration is an alias of.
fn alias_of(node: &Node<'_>) -> Option<Box<str>> {
    node.inner.iter().find_map(|child| child.aliasee.as_deref()).map(Into::into)
}

/// Whether a child of a variable is its initialiser and no attribute or comment.
fn is_init(node: &Node<'_>) -> bool {
    node.value_category.is_some()
}
