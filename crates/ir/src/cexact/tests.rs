use super::*;
use crate::program::ctype::{CType, Field, IntKind, Record};
use crate::program::function::{Function, Local, Storage};
use crate::program::{Global, GlobalInit, InitItem, Linkage};
use lydian_base::Span;

/// Names everything by its C name, temporaries by their id.
struct Plain<'a>(&'a Program, &'a Body);

impl Names for Plain<'_> {
    fn local(&self, local: LocalId) -> Option<String> {
        let name = &self.1.locals[local].name;
        Some(if name.is_empty() { format!("t{}", local.index()) } else { name.clone() })
    }
    fn global(&self, global: GlobalId) -> Option<String> {
        Some(self.0.globals[global].name.clone()).filter(|name| !name.starts_with('.'))
    }
    fn function(&self, function: FuncId) -> Option<String> {
        Some(self.0.functions[function].name.clone())
    }
}

fn local(name: &str, ty: crate::CTypeId, storage: Storage, scope: (u32, u32)) -> Local {
    let kind = if name.is_empty() { LocalKind::Temp } else { LocalKind::Var };
    Local { name: name.into(), ty, kind, storage, scope: Span::new(scope.0, scope.1) }
}

#[test]
fn a_member_behind_a_pointer_is_read_through_its_byte_offset() {
    let mut program = Program::default();
    let int = program.types.int(IntKind::Int);
    let field =
        |name: &str, bit_offset| Field { name: name.into(), ty: int, bit_offset, bits: None };
    let record = program.types.records.push(Record {
        name: "struct pair".into(),
        is_union: false,
        is_local: false,
        fields: vec![field("a", 0), field("b", 32)],
        size: Some(8),
        align: 4,
    });
    let pair = program.types.intern(CType::Record(record));
    let pointer = program.types.pointer(pair);
    let mut body = Body::returning();
    let p = body.locals.push(local("p", pointer, Storage::Register(Type::Ptr), (0, 9)));
    let base = body.exprs.push(Expr::Local(p));
    let addr = body.exprs.push(Expr::Field { base, record, field: 1 });
    let ty = Type::Int(32);
    let load = body.exprs.push(Expr::Load { ty, addr, volatile: false });
    let names = Plain(&program, &body);
    let text = ExactC::new(&program, &body, &body.exprs, &names, None).text(load);
    assert_eq!(text.unwrap(), "(*(lydian_a32 *)(((char *)(p)) + 4l))");
    let guard = Guard {
        poison: "bad",
        pages: None,
        from: 0,
        overflow_traps: false,
        loads: Loads::Everything,
    };
    let text = ExactC::new(&program, &body, &body.exprs, &names, Some(guard)).text(load);
    assert_eq!(text.unwrap(), "lydian_get32((((char *)(p)) + 4l), &bad, 0)");
}

#[test]
fn a_variable_in_memory_is_read_by_its_name_where_its_whole_value_is_read() {
    let mut program = Program::default();
    let int = program.types.int(IntKind::Int);
    let mut body = Body::returning();
    let storage = Storage::Memory { size: 4, align: 4 };
    let x = body.locals.push(local("x", int, storage, (0, 9)));
    let addr = body.exprs.push(Expr::AddrLocal(x));
    let whole = body.exprs.push(Expr::Load { ty: Type::Int(32), addr, volatile: false });
    let part = body.exprs.push(Expr::Load { ty: Type::Int(8), addr, volatile: false });
    let names = Plain(&program, &body);
    let printer = ExactC::new(&program, &body, &body.exprs, &names, None);
    assert_eq!(printer.text(whole).unwrap(), "((lydian_u32)(x))");
    assert_eq!(printer.text(part).unwrap(), "(*(lydian_a8 *)((char *)&x))");
}

#[test]
fn a_string_literal_has_a_text_only_where_its_address_does_not_show() {
    let mut program = Program::default();
    let int = program.types.int(IntKind::Char);
    let init = GlobalInit::Data {
        items: vec![InitItem { offset: 0, bytes: b"a\"?\n\0".to_vec() }],
        relocations: vec![],
    };
    let literal = program.globals.push(Global {
        name: ".str.0".into(),
        ty: int,
        size: 5,
        align: 1,
        linkage: Linkage::Internal,
        read_only: true,
        weak: false,
        thread_local: false,
        init,
        span: Span::NONE,
    });
    let mut body = Body::returning();
    let addr = body.exprs.push(Expr::AddrGlobal(literal));
    let load = body.exprs.push(Expr::Load { ty: Type::Int(8), addr, volatile: false });
    let names = Plain(&program, &body);
    let printer = ExactC::new(&program, &body, &body.exprs, &names, None);
    assert_eq!(printer.text(load).unwrap(), r#"(*(lydian_a8 *)((char *)"a\"\077\012"))"#);
    assert_eq!(printer.text(addr), Err(Unspeakable::Global(literal)));
}

#[test]
fn a_name_that_another_variable_hides_cannot_be_used() {
    let mut program = Program::default();
    let int = program.types.int(IntKind::Int);
    let global = |name: &str| Global {
        name: name.into(),
        ty: int,
        size: 4,
        align: 4,
        linkage: Linkage::Internal,
        read_only: false,
        weak: false,
        thread_local: false,
        init: GlobalInit::Zero,
        span: Span::NONE,
    };
    let x_global = program.globals.push(global("x"));
    let counter = program.globals.push(global("f.counter"));
    let twice = program.globals.push(global("f.twice"));
    let other = program.globals.push(global("f.twice.2"));
    let void = program.types.void();
    let ty = CType::Function { result: void, params: vec![], variadic: false };
    let ty = program.types.intern(ty);
    let f = program.functions.push(Function::declared("f", ty));
    let mut body = Body::returning();
    let reg = Storage::Register(Type::Int(32));
    let outer = body.locals.push(local("x", int, reg, (10, 50)));
    let inner = body.locals.push(local("x", int, reg, (20, 30)));
    let temp = body.locals.push(local("", int, reg, (0, 0)));
    let temporary = |_| Some("captured".to_owned());
    let at = |offset| ScopedNames::new(&program, f, &body, offset, &temporary);
    let x = Some("x".to_owned());
    let seen = |offset: u32| {
        let names = at(offset);
        (names.local(outer), names.local(inner), names.global(x_global))
    };
    assert_eq!(seen(15), (x.clone(), None, None));
    assert_eq!(seen(25), (None, x.clone(), None));
    assert_eq!(seen(60), (None, None, x));
    assert_eq!(at(15).global(counter), Some("counter".to_owned()));
    assert_eq!((at(15).global(twice), at(15).global(other)), (None, None));
    assert_eq!(at(15).local(temp), Some("captured".to_owned()));
}

#[test]
fn an_expression_that_would_be_endless_as_text_is_refused() {
    let program = Program::default();
    let mut body = Body::returning();
    let mut expr = body.exprs.push(Expr::Const(Type::Int(32), 1));
    for _ in 0..40 {
        expr = body.exprs.push(Expr::Binary(BinOp::AddU, expr, expr));
    }
    let names = Plain(&program, &body);
    let printer = ExactC::new(&program, &body, &body.exprs, &names, None);
    assert_eq!(printer.text(expr), Err(Unspeakable::TooDeep));
}
