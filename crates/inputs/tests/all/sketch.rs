//! Hand-made programs, and addresses for their globals and functions.

use lydian_base::{Arena, EntityId, Span};
use lydian_inputs::Addresses;
use lydian_ir::source::FunctionSource;
use lydian_ir::{
    Block, Body, CType, CTypeId, Expr, ExprId, Field, FuncId, Function, Global, GlobalId,
    GlobalInit, IntKind, Linkage, Local, LocalKind, Program, Record, RecordId, Stmt, Storage,
    Terminator, Type,
};

/// Globals and functions at fixed distances.
pub(crate) struct FixedAddresses;

impl Addresses for FixedAddresses {
    fn global(&self, global: GlobalId) -> u64 {
        0x10_0000_0000 + global.index() as u64 * 0x1_0000
    }
    fn function(&self, function: FuncId) -> u64 {
        0x30_0000_0000 + function.index() as u64 * 16
    }
}

/// A program in the making.
#[derive(Default)]
pub(crate) struct Sketch {
    pub(crate) program: Program,
}

impl Sketch {
    pub(crate) fn int(&mut self, kind: IntKind) -> CTypeId {
        self.program.types.int(kind)
    }

    pub(crate) fn pointer(&mut self, to: CTypeId) -> CTypeId {
        self.program.types.pointer(to)
    }

    pub(crate) fn const_pointer(&mut self, to: CTypeId) -> CTypeId {
        self.program.types.intern(CType::Pointer { pointee: to, to_const: true })
    }

    pub(crate) fn array(&mut self, element: CTypeId, length: Option<u64>) -> CTypeId {
        self.program.types.intern(CType::Array { element, length })
    }

    pub(crate) fn function_type(&mut self, result: CTypeId, params: Vec<CTypeId>) -> CTypeId {
        self.program.types.intern(CType::Function { result, params, variadic: false })
    }

    /// A record without members yet.
    pub(crate) fn record(&mut self, name: &str) -> (CTypeId, RecordId) {
        let record = Record {
            name: name.into(),
            is_local: false,
            is_union: name.starts_with("union"),
            fields: Vec::new(),
            size: None,
            align: 8,
        };
        let id = self.program.types.records.push(record);
        (self.program.types.intern(CType::Record(id)), id)
    }

    /// Sets a record's members, laid out as C does without bit-fields; `bits` of them share bytes.
    pub(crate) fn members(&mut self, id: RecordId, members: &[(&str, CTypeId, Option<u16>)]) {
        let types = &self.program.types;
        let is_union = types.records[id].is_union;
        let (mut at, mut size, mut align) = (0u64, 0u64, 1u64);
        let mut fields = Vec::new();
        for (name, ty, bits) in members {
            let own = types.align(*ty);
            align = align.max(own);
            let width = bits.map_or(types.size(*ty).unwrap_or(0) * 8, u64::from);
            if bits.is_none() {
                at = at.next_multiple_of(own * 8);
            }
            fields.push(Field { name: (*name).into(), ty: *ty, bit_offset: at, bits: *bits });
            size = size.max(at + width);
            at = if is_union { 0 } else { at + width };
        }
        let record = &mut self.program.types.records[id];
        (record.fields, record.align) = (fields, align);
        record.size = Some(size.div_ceil(8).next_multiple_of(align));
    }

    /// Declares a function without a body.
    pub(crate) fn declare(&mut self, name: &str, result: CTypeId, params: Vec<CTypeId>) -> FuncId {
        let ty = self.function_type(result, params);
        self.program.functions.push(Function::declared(name, ty))
    }

    /// Defines a function with register parameters; `write` fills its one block.
    pub(crate) fn define(
        &mut self,
        name: &str,
        params: &[(&str, CTypeId)],
        write: impl FnOnce(&mut Text),
    ) -> FuncId {
        let void = self.program.types.void();
        let id = self.declare(name, void, params.iter().map(|(_, ty)| *ty).collect());
        let mut locals = Arena::new();
        let of_params: Vec<_> = (params.iter())
            .map(|(name, ty)| {
                let machine = self.program.types.scalar(*ty).expect("parameters are scalars");
                locals.push(Local {
                    name: (*name).into(),
                    ty: *ty,
                    kind: LocalKind::Param,
                    storage: Storage::Register(machine),
                    scope: Span::NONE,
                })
            })
            .collect();
        let mut text = Text { exprs: Arena::new(), stmts: Arena::new() };
        write(&mut text);
        let mut blocks = Arena::new();
        let stmts = text.stmts.ids().collect();
        let entry = blocks.push(Block { stmts, term: Terminator::Return(None) });
        let function = &mut self.program.functions[id];
        function.param_names = params.iter().map(|(name, _)| (*name).to_owned()).collect();
        function.body = Some(Body {
            params: of_params,
            locals,
            exprs: text.exprs,
            stmts: text.stmts,
            blocks,
            entry,
            decisions: Arena::new(),
            marks: Arena::new(),
            source: FunctionSource::default(),
        });
        id
    }

    pub(crate) fn global(&mut self, name: &str, ty: CTypeId, init: GlobalInit) -> GlobalId {
        let types = &self.program.types;
        self.program.globals.push(Global {
            name: name.into(),
            ty,
            size: types.size(ty).expect("globals are complete"),
            align: types.align(ty),
            linkage: Linkage::External,
            read_only: false,
            weak: false,
            thread_local: false,
            init,
            span: Span::NONE,
        })
    }
}

/// The expressions and statements of a body.
pub(crate) struct Text {
    exprs: Arena<ExprId, Expr>,
    stmts: Arena<lydian_ir::StmtId, Stmt>,
}

impl Text {
    pub(crate) fn expr(&mut self, expr: Expr) -> ExprId {
        self.exprs.push(expr)
    }

    /// The value of a parameter.
    pub(crate) fn param(&mut self, position: usize) -> ExprId {
        self.expr(Expr::Local(lydian_ir::LocalId::from_index(position)))
    }

    pub(crate) fn load(&mut self, ty: Type, addr: ExprId) -> ExprId {
        self.expr(Expr::Load { ty, addr, volatile: false })
    }

    /// Reads element `index` of a parameter: a constant one, or one that varies.
    pub(crate) fn read(&mut self, position: usize, index: Option<u64>) {
        let base = self.param(position);
        let index = match index {
            Some(index) => self.expr(Expr::Const(Type::Int(64), index.into())),
            None => {
                let zero = self.expr(Expr::Const(Type::Ptr, 0x1000));
                self.load(Type::Int(64), zero)
            }
        };
        let addr = self.expr(Expr::Index { base, index, size: 1, bound: None });
        self.load(Type::Int(8), addr);
    }

    /// Compares a parameter with null.
    pub(crate) fn test_null(&mut self, position: usize) {
        let pointer = self.param(position);
        let null = self.expr(Expr::Const(Type::Ptr, 0));
        self.expr(Expr::Cmp(lydian_ir::CmpOp::Ne, pointer, null));
    }

    /// Writes what a parameter points to.
    pub(crate) fn write(&mut self, position: usize) {
        let addr = self.param(position);
        let value = self.expr(Expr::Const(Type::Int(32), 1));
        self.stmt(Stmt::Store { addr, value, ty: Type::Int(32), volatile: false });
    }

    pub(crate) fn stmt(&mut self, stmt: Stmt) {
        self.stmts.push(stmt);
    }
}
