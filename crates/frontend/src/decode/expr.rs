//! Decodes expressions.

use super::Decoder;
use super::literal::{read_character, read_float, read_string};
use super::node::Node;
use crate::ast::{
    BinaryOp, CastKind, DeclRef, Expr, ExprId, ExprKind, FieldRef, InitList, StringLiteral,
    TraitArgument, TraitKind, UnaryOp, ValueCategory,
};
use crate::ctypes::{ArrayLength, CType, FloatKind, QualType, Quals};
use lydian_base::Span;

impl Decoder<'_> {
    /// Decodes an expression and everything below it.
    pub(super) fn expr(&mut self, node: &Node<'_>) -> ExprId {
        let span = self.span(node);
        // The type of a name is its declaration's: there a type's name cannot be hidden by a later
        // one, as it can in the string printed here.
        let referenced = node.referenced.as_deref().filter(|_| node.kind == "DeclRefExpr");
        let reference = referenced.and_then(|decl| self.decl_ref(decl));
        let ty = match reference {
            Some(DeclRef::Var(var)) => self.unit.vars[var].ty,
            Some(DeclRef::Function(function)) => self.unit.functions[function].ty,
            _ => self.type_of(node),
        };
        let kind = match reference {
            Some(reference) => Some(ExprKind::DeclRef(reference)),
            None => self.expr_kind(node, ty, span),
        };
        let ty = self.without_hidden_names(&kind, ty);
        let kind = kind.unwrap_or_else(|| ExprKind::Unsupported(node.kind.into()));
        let category = match node.value_category {
            Some("lvalue" | "xvalue") => ValueCategory::LValue,
            _ => ValueCategory::PrValue,
        };
        // A string in braces is just the string.
        if let ExprKind::InitList(InitList::Array { elements, filler: None }) = &kind
            && let [only] = elements[..]
            && self.is_string_for(only, ty)
        {
            return only;
        }
        let id = self.unit.exprs.push(Expr { kind, ty, category, span });
        if node.kind == "CStyleCastExpr" {
            self.note_cast_bounds(id, node);
        }
        id
    }

    /// The kind of an expression; `None` if it is not modelled.
    fn expr_kind(&mut self, node: &Node<'_>, ty: QualType, span: Span) -> Option<ExprKind> {
        Some(match node.kind {
            "IntegerLiteral" => ExprKind::Integer(node.value.as_ref()?.integer()?),
            "CXXBoolLiteralExpr" => ExprKind::Integer(node.value.as_ref()?.integer()?),
            "CharacterLiteral" => self.character(node, ty)?,
            "FloatingLiteral" => self.floating(node, ty)?,
            "ImaginaryLiteral" => {
                let [number] = self.children(node)?;
                ExprKind::Imaginary(number)
            }
            "ShuffleVectorExpr" => {
                ExprKind::Shuffle(node.inner.iter().map(|arg| self.expr(arg)).collect())
            }
            "ConvertVectorExpr" => {
                let [operand] = self.children(node)?;
                ExprKind::ConvertVector(operand)
            }
            "ExtVectorElementExpr" => self.swizzle(node, span)?,
            "StringLiteral" => self.string(node, ty)?,
            "MemberExpr" => self.member(node)?,
            "ArraySubscriptExpr" => self.subscript(node)?,
            "CallExpr" => self.call(node)?,
            "UnaryOperator" => self.unary(node)?,
            "BinaryOperator" => self.binary(node)?,
            "CompoundAssignOperator" => self.compound_assign(node)?,
            "ConditionalOperator" => {
                let [condition, then, otherwise] = self.children(node)?;
                ExprKind::Conditional { condition, then, otherwise }
            }
            "BinaryConditionalOperator" => self.binary_conditional(node)?,
            "OpaqueValueExpr" => {
                ExprKind::OpaqueValue { source: *self.opaque.get(&node.inner.first()?.id)? }
            }
            "ImplicitCastExpr" => self.cast(node, false)?,
            "CStyleCastExpr" => self.cast(node, true)?,
            "InitListExpr" => ExprKind::InitList(self.init_list(node, ty)?),
            "ImplicitValueInitExpr" => ExprKind::ImplicitValueInit,
            "NoInitExpr" => ExprKind::NoInit,
            "DesignatedInitUpdateExpr" => {
                let [base, updater] = self.children(node)?;
                ExprKind::DesignatedInitUpdate { base, updater }
            }
            "CompoundLiteralExpr" => {
                let [init] = self.children(node)?;
                ExprKind::CompoundLiteral { init, file_scope: self.function.is_none() }
            }
            "UnaryExprOrTypeTraitExpr" => self.type_trait(node)?,
            "OffsetOfExpr" => self.offset_of(node, span),
            "StmtExpr" => ExprKind::StmtExpr(self.stmt(node.inner.first()?)),
            "VAArgExpr" => {
                let list = self.expr(node.inner.first()?);
                ExprKind::VaArg { list }
            }
            "GenericSelectionExpr" => {
                let chosen = node.inner.iter().find(|association| association.selected)?;
                ExprKind::Chosen(self.expr(chosen.inner.last()?))
            }
            "ChooseExpr" => {
                let [condition, then, otherwise] = self.children(node)?;
                let truth = self.unit.const_eval(condition)? != 0;
                ExprKind::Chosen(if truth { then } else { otherwise })
            }
            "PredefinedExpr" => {
                let [literal] = self.children(node)?;
                ExprKind::Predefined { name: node.name.as_deref()?.into(), literal }
            }
            "ParenExpr" => {
                let [inner] = self.children(node)?;
                ExprKind::Paren(inner)
            }
            "ConstantExpr" => {
                let [inner] = self.children(node)?;
                let printed = node.value.as_ref().and_then(|value| value.integer());
                let value = printed.or_else(|| self.unit.const_eval(inner));
                ExprKind::Constant { inner, value }
            }
            "AddrLabelExpr" => ExprKind::AddrLabel(self.label(node.label, node.name.as_deref())?),
            "AtomicExpr" => ExprKind::Atomic {
                op: node.name.as_deref()?.into(),
                args: node.inner.iter().map(|arg| self.expr(arg)).collect(),
            },
            "TypeTraitExpr" => self.types_compatible(node, span)?,
            "SourceLocExpr" => self.source_location(span)?,
            _ => return None,
        })
    }

    /// The type of a value that is read, taken from what it is read from, where local types may
    /// hide the names in the string that clang prints.
    fn without_hidden_names(&self, kind: &Option<ExprKind>, ty: QualType) -> QualType {
        match kind {
            Some(ExprKind::Cast { kind: CastKind::LValueToRValue, operand, .. })
                if self.scopes.has_local_types() =>
            {
                QualType::plain(self.unit.exprs[*operand].ty.ty)
            }
            _ => ty,
        }
    }

    /// Exactly `N` children, decoded in order.
    fn children<const N: usize>(&mut self, node: &Node<'_>) -> Option<[ExprId; N]> {
        if node.inner.len() != N {
            return None;
        }
        let children: Vec<ExprId> = node.inner.iter().map(|child| self.expr(child)).collect();
        children.try_into().ok()
    }

    fn character(&mut self, node: &Node<'_>, ty: QualType) -> Option<ExprKind> {
        let printed = node.value.as_ref()?.integer()?;
        let bits = self.unit.layout_of(ty.ty)?.size as u32 * 8;
        let signed = self.unit.is_signed(ty)?;
        Some(ExprKind::Character(read_character(printed, signed, bits)))
    }

    fn floating(&mut self, node: &Node<'_>, ty: QualType) -> Option<ExprKind> {
        let single = matches!(self.unit.ty(ty), CType::Float(FloatKind::Float));
        let printed = node.value.as_ref()?;
        Some(ExprKind::Floating(read_float(printed.text()?, single)?))
    }

    fn string(&mut self, node: &Node<'_>, ty: QualType) -> Option<ExprKind> {
        let CType::Array { element, .. } = *self.unit.ty(ty) else { return None };
        let unit_size = u8::try_from(self.unit.layout_of(element.ty)?.size).ok()?;
        let printed = node.value.as_ref()?;
        Some(ExprKind::String(read_string(printed.text()?, unit_size)?))
    }

    fn is_string_for(&self, id: ExprId, ty: QualType) -> bool {
        let expr = &self.unit.exprs[id];
        let is_array = |ty| matches!(self.unit.ty(ty), CType::Array { .. });
        matches!(expr.kind, ExprKind::String(_)) && is_array(ty) && is_array(expr.ty) && {
            let element = |ty| match self.unit.ty(ty) {
                CType::Array { element, .. } => Some(element.ty),
                _ => None,
            };
            element(ty) == element(expr.ty)
        }
    }

    fn member(&mut self, node: &Node<'_>) -> Option<ExprKind> {
        let known = self.fields.get(&node.member).copied();
        let [base] = self.children(node)?;
        let field = known.or_else(|| self.member_by_name(node, self.unit.exprs[base].ty))?;
        Some(ExprKind::Member { base, arrow: node.arrow, field })
    }

    fn subscript(&mut self, node: &Node<'_>) -> Option<ExprKind> {
        let [left, right] = self.children(node)?;
        let is_pointer =
            |id: ExprId| matches!(self.unit.ty(self.unit.exprs[id].ty), CType::Pointer(_));
        let is_vector =
            |id: ExprId| matches!(self.unit.ty(self.unit.exprs[id].ty), CType::Vector { .. });
        match (is_pointer(left), is_pointer(right)) {
            _ if is_vector(left) => Some(ExprKind::VectorElement { vector: left, index: right }),
            _ if is_vector(right) => Some(ExprKind::VectorElement { vector: right, index: left }),
            (true, _) => Some(ExprKind::Subscript { pointer: left, index: right }),
            (false, true) => Some(ExprKind::Subscript { pointer: right, index: left }),
            (false, false) => None,
        }
    }

    /// `v.xyz`, whose names clang prints nowhere.
    fn swizzle(&mut self, node: &Node<'_>, span: Span) -> Option<ExprKind> {
        let [base] = self.children(node)?;
        let ty = self.unit.exprs[base].ty.ty;
        let pointee = self.unit.types.pointee(ty);
        let vector = pointee.map_or(ty, |to| to.ty);
        let CType::Vector { length, .. } = *self.unit.types.get(vector) else { return None };
        let text = self.source.slice(span);
        let name = text.rsplit(['.', '>', ' ', '\n', '\t']).next()?;
        let lanes = component_lanes(name, u8::try_from(length).ok()?)?;
        Some(ExprKind::Swizzle { base, arrow: pointee.is_some(), lanes: lanes.into() })
    }

    fn call(&mut self, node: &Node<'_>) -> Option<ExprKind> {
        let (callee, args) = node.inner.split_first()?;
        let callee = self.expr(callee);
        let args = args.iter().map(|arg| self.expr(arg)).collect();
        Some(ExprKind::Call { callee, args })
    }

    fn unary(&mut self, node: &Node<'_>) -> Option<ExprKind> {
        let op = match (node.opcode?, node.postfix) {
            ("++", false) => UnaryOp::PreInc,
            ("--", false) => UnaryOp::PreDec,
            ("++", true) => UnaryOp::PostInc,
            ("--", true) => UnaryOp::PostDec,
            ("&", _) => UnaryOp::AddressOf,
            ("*", _) => UnaryOp::Deref,
            ("+", _) => UnaryOp::Plus,
            ("-", _) => UnaryOp::Minus,
            ("~", _) => UnaryOp::BitNot,
            ("!", _) => UnaryOp::LogicalNot,
            ("__extension__", _) => UnaryOp::Extension,
            ("__real" | "__real__", _) => UnaryOp::Real,
            ("__imag" | "__imag__", _) => UnaryOp::Imag,
            _ => return None,
        };
        let [operand] = self.children(node)?;
        Some(ExprKind::Unary { op, operand })
    }

    fn binary(&mut self, node: &Node<'_>) -> Option<ExprKind> {
        let symbol = node.opcode?;
        let [left, right] = self.children(node)?;
        if symbol == "=" {
            return Some(ExprKind::Assign { target: left, value: right });
        }
        Some(ExprKind::Binary { op: BinaryOp::from_symbol(symbol)?, left, right })
    }

    fn compound_assign(&mut self, node: &Node<'_>) -> Option<ExprKind> {
        let op = BinaryOp::from_symbol(node.opcode?.strip_suffix('=')?)?;
        let compute_target = self.resolve(node.compute_left.as_deref()?);
        let compute_result = self.resolve(node.compute_result.as_deref()?);
        let [target, value] = self.children(node)?;
        Some(ExprKind::CompoundAssign { op, target, value, compute_target, compute_result })
    }

    /// Clang prints the common operand, then condition, true and false values, in which opaque
    /// values repeat the tree of the common operand.
    fn binary_conditional(&mut self, node: &Node<'_>) -> Option<ExprKind> {
        let [common_node, condition, then, otherwise] = &node.inner[..] else { return None };
        let common = self.expr(common_node);
        self.opaque.insert(common_node.id, common);
        let (condition, then) = (self.expr(condition), self.expr(then));
        let otherwise = self.expr(otherwise);
        Some(ExprKind::BinaryConditional { common, condition, then, otherwise })
    }

    fn cast(&mut self, node: &Node<'_>, explicit: bool) -> Option<ExprKind> {
        let kind = match node.cast_kind? {
            "LValueToRValue" => CastKind::LValueToRValue,
            "NoOp" => CastKind::NoOp,
            "ArrayToPointerDecay" => CastKind::ArrayToPointerDecay,
            "FunctionToPointerDecay" => CastKind::FunctionToPointerDecay,
            "BuiltinFnToFnPtr" => CastKind::BuiltinFnToFnPtr,
            "BitCast" => CastKind::BitCast,
            "LValueBitCast" => CastKind::LValueBitCast,
            "NullToPointer" => CastKind::NullToPointer,
            "IntegralToPointer" => CastKind::IntegralToPointer,
            "PointerToIntegral" => CastKind::PointerToIntegral,
            "PointerToBoolean" => CastKind::PointerToBoolean,
            "IntegralCast" => CastKind::IntegralCast,
            "IntegralToBoolean" => CastKind::IntegralToBoolean,
            "IntegralToFloating" => CastKind::IntegralToFloating,
            "FloatingToIntegral" => CastKind::FloatingToIntegral,
            "FloatingToBoolean" => CastKind::FloatingToBoolean,
            "FloatingCast" => CastKind::FloatingCast,
            "BooleanToSignedIntegral" => CastKind::BooleanToSignedIntegral,
            "ToVoid" => CastKind::ToVoid,
            "ToUnion" => CastKind::ToUnion,
            "AtomicToNonAtomic" => CastKind::AtomicToNonAtomic,
            "NonAtomicToAtomic" => CastKind::NonAtomicToAtomic,
            "FloatingRealToComplex" | "IntegralRealToComplex" => CastKind::RealToComplex,
            "FloatingComplexToReal" | "IntegralComplexToReal" => CastKind::ComplexToReal,
            "FloatingComplexToBoolean" | "IntegralComplexToBoolean" => CastKind::ComplexToBoolean,
            "FloatingComplexCast"
            | "FloatingComplexToIntegralComplex"
            | "IntegralComplexCast"
            | "IntegralComplexToFloatingComplex" => CastKind::ComplexCast,
            "VectorSplat" => CastKind::VectorSplat,
            other => CastKind::Unsupported(other.into()),
        };
        let operand = self.cast_operand(node)?;
        if kind == CastKind::BuiltinFnToFnPtr {
            self.give_builtin_its_type(node, operand);
        }
        Some(ExprKind::Cast { kind, operand, explicit })
    }

    /// Clang does not print the type of a builtin function's name, but that of the pointer to it.
    fn give_builtin_its_type(&mut self, node: &Node<'_>, operand: ExprId) {
        let pointer = self.type_of(node);
        let Some(ty) = self.unit.types.pointee(pointer.ty) else { return };
        self.unit.exprs[operand].ty = ty;
        if let ExprKind::DeclRef(DeclRef::Function(id)) = self.unit.exprs[operand].kind {
            let decl = &mut self.unit.functions[id];
            if matches!(self.unit.types.get(decl.ty.ty), CType::Unsupported(_)) {
                decl.ty = ty;
            }
        }
    }

    /// Clang prints the semantic form: in the order of elements and fields, gaps filled.
    fn init_list(&mut self, node: &Node<'_>, ty: QualType) -> Option<InitList> {
        match *self.unit.ty(ty) {
            CType::Array { .. } => {
                // With a filler, the filler comes first and then the elements.
                let (filler, elements) = match node.array_filler.split_first() {
                    Some((filler, elements)) => (Some(self.expr(filler)), elements),
                    None => (None, &node.inner[..]),
                };
                let elements = elements.iter().map(|element| self.expr(element)).collect();
                Some(InitList::Array { elements, filler })
            }
            CType::Record(record) if node.field.is_some() || self.is_union(record) => {
                let Some(init) = node.inner.first() else { return Some(InitList::Union(None)) };
                let field = node.field.as_deref()?;
                let name = field.name.as_deref().unwrap_or("");
                let known = self.fields.get(&field.id).copied();
                let field = known.or_else(|| self.field_by_name(record, name))?;
                Some(InitList::Union(Some((field, self.expr(init)))))
            }
            CType::Record(record) => {
                let declared = &self.unit.records[record].fields;
                let named = |index: &u32| {
                    let field = &declared[*index as usize];
                    field.name.is_some() || field.bit_width.is_none()
                };
                let fields: Vec<u32> = (0..declared.len() as u32).filter(named).collect();
                if node.inner.len() > fields.len() {
                    return None;
                }
                let mut inits = Vec::with_capacity(node.inner.len());
                for (index, init) in fields.into_iter().zip(&node.inner) {
                    inits.push((FieldRef { record, index }, self.expr(init)));
                }
                Some(InitList::Struct(inits))
            }
            CType::Vector { .. } => {
                let elements = node.inner.iter().map(|element| self.expr(element)).collect();
                Some(InitList::Array { elements, filler: None })
            }
            CType::Complex(_) if node.inner.len() == 2 => {
                let elements = node.inner.iter().map(|part| self.expr(part)).collect();
                Some(InitList::Array { elements, filler: None })
            }
            CType::Unsupported(_) | CType::Function { .. } | CType::Void => None,
            _ => match &node.inner[..] {
                [] => Some(InitList::Scalar(None)),
                [init] => Some(InitList::Scalar(Some(self.expr(init)))),
                _ => None,
            },
        }
    }

    fn type_trait(&mut self, node: &Node<'_>) -> Option<ExprKind> {
        let kind = match node.name.as_deref()? {
            "sizeof" => TraitKind::SizeOf,
            "alignof" | "_Alignof" => TraitKind::AlignOf,
            "__alignof" | "__alignof__" => TraitKind::PreferredAlignOf,
            _ => return None,
        };
        let argument = match (&node.argument, node.inner.first()) {
            (Some(ty), _) => TraitArgument::Type(self.resolve(ty)),
            (None, Some(operand)) => TraitArgument::Expr(self.expr(operand)),
            (None, None) => return None,
        };
        let of_typedef = node.argument.as_deref().and_then(|ty| self.typedef_alignment(ty));
        let bounds = match &node.argument {
            Some(ty) => self.bounds_of_argument(node, ty),
            None => Vec::new(),
        };
        let value = match (kind, of_typedef) {
            (TraitKind::AlignOf | TraitKind::PreferredAlignOf, Some(align)) => Some(align),
            _ => self.trait_value(kind, argument),
        };
        Some(ExprKind::TypeTrait { kind, argument, bounds, value })
    }

    fn trait_value(&self, kind: TraitKind, argument: TraitArgument) -> Option<u64> {
        let unit = &self.unit;
        let ty = match argument {
            TraitArgument::Type(ty) => ty,
            TraitArgument::Expr(id) => unit.exprs[id].ty,
        };
        let is_atomic = ty.quals.has(Quals::ATOMIC);
        let ty = ty.ty;
        if kind == TraitKind::SizeOf {
            return unit.layout_of(ty).map(|layout| layout.size);
        }
        if let TraitArgument::Expr(id) = argument
            && let ExprKind::DeclRef(DeclRef::Var(var)) = unit.exprs[unit.strip_parens(id)].kind
            && let Some(align) = unit.vars[var].alignment
        {
            return Some(align);
        }
        if let TraitArgument::Expr(id) = argument
            && let ExprKind::DeclRef(DeclRef::Function(function)) =
                unit.exprs[unit.strip_parens(id)].kind
            && let Some(align) = unit.functions[function].specifiers.alignment
        {
            return Some(align);
        }
        let align = unit.align_of(ty)?;
        // On 32-bit x86, 8-byte scalars are aligned less in records than on their own.
        let scalar = matches!(unit.types.get(ty), CType::Int(_) | CType::Float(FloatKind::Double));
        match (kind, scalar) {
            (_, true) if is_atomic => Some(align.max(unit.layout_of(ty)?.size)),
            (TraitKind::PreferredAlignOf, true) => Some(align.max(unit.layout_of(ty)?.size)),
            _ => Some(align),
        }
    }

    /// `__builtin_types_compatible_p(a, b)`, whose value clang does not print.
    fn types_compatible(&mut self, node: &Node<'_>, span: Span) -> Option<ExprKind> {
        if !self.source.slice(span).starts_with("__builtin_types_compatible_p") {
            return None;
        }
        let [left, right] = &node.inner[..] else { return None };
        let (left, right) = (self.named_type(left)?, self.named_type(right)?);
        let supported = |ty: QualType| !matches!(self.unit.ty(ty), CType::Unsupported(_));
        (supported(left) && supported(right)).then_some(())?;
        Some(ExprKind::Integer(self.are_compatible(left, right).into()))
    }

    /// The type that a node of a type stands for. That of `typeof` is printed as it is written.
    fn named_type(&mut self, node: &Node<'_>) -> Option<QualType> {
        match node.kind {
            "TypeOfExprType" | "TypeOfType" => self.named_type(node.inner.first()?),
            _ => Some(self.resolve(node.ty.as_ref()?)),
        }
    }

    /// Whether two types are compatible, outermost qualifiers aside: the same, an enumeration and
    /// its integer type, or arrays of which one has no length.
    fn are_compatible(&self, left: QualType, right: QualType) -> bool {
        match (self.unit.ty(left), self.unit.ty(right)) {
            (CType::Array { element: a, length: m }, CType::Array { element: b, length: n }) => {
                let open = [m, n].contains(&&ArrayLength::Incomplete);
                (m == n || open) && a.quals == b.quals && self.are_compatible(*a, *b)
            }
            (CType::Enum(_), CType::Enum(_)) => left.ty == right.ty,
            (CType::Enum(id), CType::Int(_)) => self.unit.enums[*id].underlying == Some(right.ty),
            (CType::Int(_), CType::Enum(id)) => self.unit.enums[*id].underlying == Some(left.ty),
            _ => left.ty == right.ty,
        }
    }

    /// `__builtin_LINE()` and its like: of the user's text, not of the preprocessed one.
    fn source_location(&mut self, span: Span) -> Option<ExprKind> {
        let text = self.source.slice(span);
        let place = self.source.place(span.start);
        if text.starts_with("__builtin_LINE") {
            return Some(ExprKind::Integer(place.line.into()));
        }
        if text.starts_with("__builtin_COLUMN") {
            return Some(ExprKind::Integer(place.column.into()));
        }
        let name = match self.function {
            Some(function) => self.unit.functions[function].name.to_string(),
            None => String::new(),
        };
        if text.starts_with("__builtin_FUNCTION") {
            return Some(self.decayed_string(&name, span));
        }
        text.starts_with("__builtin_FILE").then(|| self.decayed_string(&place.file, span))
    }

    /// The address of a string literal that the text does not have.
    fn decayed_string(&mut self, text: &str, span: Span) -> ExprKind {
        let units: Box<[u32]> = text.bytes().map(u32::from).collect();
        let char_type = self.unit.types.intern(CType::Int(crate::ctypes::IntKind::Char));
        let length = ArrayLength::Constant(units.len() as u64 + 1);
        let element = QualType::plain(char_type).with(Quals::CONST);
        let array = self.unit.types.intern(CType::Array { element, length });
        let literal = ExprKind::String(StringLiteral { units, unit_size: 1 });
        let operand = self.unit.exprs.push(Expr {
            kind: literal,
            ty: QualType::plain(array),
            category: ValueCategory::LValue,
            span,
        });
        ExprKind::Cast { kind: CastKind::ArrayToPointerDecay, operand, explicit: false }
    }
}

/// The elements that a name of vector components designates: `xyzw` or `rgba`, `s` and hexadecimal
/// digits, or `lo`, `hi`, `even` and `odd`.
fn component_lanes(name: &str, length: u8) -> Option<Vec<u8>> {
    let half = length.div_ceil(2);
    let lanes = match name {
        "lo" => (0..half).collect(),
        "hi" => (half..2 * half).collect(),
        "even" => (0..half).map(|lane| 2 * lane).collect(),
        "odd" => (0..half).map(|lane| 2 * lane + 1).collect(),
        _ => {
            let digits = name.strip_prefix(['s', 'S']);
            let lane = |c: char| match digits {
                Some(_) => c.to_digit(16).map(|digit| digit as u8),
                None => "xyzw".find(c).or_else(|| "rgba".find(c)).map(|at| at as u8),
            };
            digits.unwrap_or(name).chars().map(lane).collect::<Option<Vec<u8>>>()?
        }
    };
    (!lanes.is_empty() && lanes.iter().all(|lane| *lane < length)).then_some(lanes)
}

#[cfg(test)]
mod tests {
    use super::component_lanes;

    #[test]
    fn components_are_named_by_letter_number_or_half() {
        assert_eq!(component_lanes("zyx", 3), Some(vec![2, 1, 0]));
        assert_eq!(component_lanes("sa2", 16), Some(vec![10, 2]));
        assert_eq!(component_lanes("hi", 4), Some(vec![2, 3]));
        assert_eq!(component_lanes("odd", 4), Some(vec![1, 3]));
        assert_eq!(component_lanes("w", 3), None);
    }
}
