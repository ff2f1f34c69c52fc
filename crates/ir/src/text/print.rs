//! Writes programs as text. See [`super`] for the form.

use std::fmt::Write as _;

use lydian_base::{Span, arena::EntityId};

use super::body::BodyPrinter;
use super::names::{MOMENTS, word};
use crate::program::arith;
use crate::program::ctype::{CType, CTypes, Field, Target};
use crate::program::expr::{ExprArena, ExprId, Type};
use crate::program::function::{Body, Function};
use crate::program::{
    Alias, FuncId, Global, GlobalInit, Linkage, Program, RelocationTarget, Startup,
};

/// The whole program as text that [`super::parse`] reads back to an equal program.
pub fn print(program: &Program) -> String {
    let mut out = String::new();
    types(&mut out, &program.types);
    for (name, ty) in &program.typedefs {
        line(&mut out, format_args!("typedef {} {ty}", quoted(name)));
    }
    for (id, global) in program.globals.iter() {
        let head = format!("global {id} {}", global_text(global));
        line(&mut out, format_args!("{head}"));
    }
    for id in program.functions.ids() {
        out.push('\n');
        out.push_str(&print_function(program, id));
    }
    for Alias { name, target } in &program.aliases {
        let target = match target {
            RelocationTarget::Global(id) => id.to_string(),
            RelocationTarget::Function(id) => id.to_string(),
        };
        line(&mut out, format_args!("alias {} {target}", quoted(name)));
    }
    for Startup { function, moment, priority } in &program.startup {
        let moment = word(&MOMENTS, moment);
        line(&mut out, format_args!("startup {function} {moment} {priority}"));
    }
    out
}

/// One function with its body, if it has one, as it stands in the text of the program.
pub fn print_function(program: &Program, id: FuncId) -> String {
    let function = &program.functions[id];
    let mut out = String::new();
    line(&mut out, format_args!("function {id} {}", head(function)));
    if let Some(body) = &function.body {
        out.push_str(&print_body(body));
    }
    out
}

/// One body, in braces.
pub fn print_body(body: &Body) -> String {
    BodyPrinter::new(body).print()
}

/// One expression as a tree without labels, for people.
pub fn print_expr(arena: &ExprArena, expr: ExprId) -> String {
    BodyPrinter::tree(arena, expr)
}

pub(super) fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes all text");
    out.push('\n');
}

/// A span, with a space before it; nothing for [`Span::NONE`].
pub(super) fn span(span: Span) -> String {
    if span == Span::NONE { String::new() } else { format!(" @{}..{}", span.start, span.end) }
}

/// Things with commas between them.
pub(super) fn list<T: ToString>(items: impl IntoIterator<Item = T>) -> String {
    items.into_iter().map(|item| item.to_string()).collect::<Vec<_>>().join(", ")
}

/// Text in quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            ' '..='~' => out.push(c),
            _ => out.extend(c.escape_unicode()),
        }
    }
    out.push('"');
    out
}

/// Bytes in quotes.
fn quoted_bytes(bytes: &[u8]) -> String {
    let mut out = String::from("\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend(['\\', char::from(*byte)]),
            b' '..=b'~' => out.push(char::from(*byte)),
            b'\n' => out.push_str("\\n"),
            _ => write!(out, "\\x{byte:02x}").expect("a String takes all text"),
        }
    }
    out.push('"');
    out
}

/// A constant: small numbers in decimal, floats in decimal where that reads back to the same bits.
pub(super) fn constant(ty: Type, bits: u128) -> String {
    let fits = ty.bits() > 0 && arith::truncate(ty, bits) == bits;
    let decimal = match ty {
        Type::F32 if fits && f32::from_bits(bits as u32).is_finite() => {
            format!("{:?}", f32::from_bits(bits as u32))
        }
        Type::F16 | Type::BF16 | Type::F80 if fits => {
            arith::print_float(ty, bits).unwrap_or_else(|| format!("{bits:#x}"))
        }
        Type::F64 if fits && f64::from_bits(bits as u64).is_finite() => {
            format!("{:?}", f64::from_bits(bits as u64))
        }
        Type::Int(width) if fits && width > 1 => {
            let value = arith::signed(ty.bits(), bits);
            let is_small = (-65536..0).contains(&value);
            if is_small { value.to_string() } else { unsigned(bits) }
        }
        _ if ty.is_float() => format!("{bits:#x}"),
        _ => unsigned(bits),
    };
    format!("{decimal}:{ty}")
}

fn unsigned(value: u128) -> String {
    if value < 1 << 32 { value.to_string() } else { format!("{value:#x}") }
}

fn optional(value: Option<u64>) -> String {
    value.map_or_else(|| "?".to_owned(), |value| value.to_string())
}

fn linkage(linkage: Linkage) -> &'static str {
    match linkage {
        Linkage::External => "external",
        Linkage::Internal => "internal",
    }
}

fn types(out: &mut String, types: &CTypes) {
    if types.target == Target::I386 {
        line(out, format_args!("target i386"));
    }
    for (id, ty) in types.iter() {
        line(out, format_args!("{id} = {}", c_type(ty)));
    }
    for (id, record) in types.records.iter() {
        let word = if record.is_union { "union" } else { "struct" };
        let (name, size) = (quoted(&record.name), optional(record.size));
        let local = if record.is_local { " local" } else { "" };
        line(
            out,
            format_args!("{id} = {word} {name} size {size} align {}{local} {{", record.align),
        );
        record.fields.iter().for_each(|f| line(out, format_args!("  {}", field(f))));
        out.push_str("}\n");
    }
}

fn c_type(ty: &CType) -> String {
    match ty {
        CType::Void => "void".to_owned(),
        CType::Float16 => "float16".to_owned(),
        CType::BFloat16 => "bfloat16".to_owned(),
        CType::Float => "float".to_owned(),
        CType::Double => "double".to_owned(),
        CType::LongDouble => "longdouble".to_owned(),
        CType::Complex { element } => format!("complex {element}"),
        CType::Vector { element, length } => format!("vector {element} {length}"),
        CType::Int { kind, bits, signed } => {
            let sign = if *signed { "signed" } else { "unsigned" };
            format!("int {} {bits} {sign}", quoted(kind.spelling()))
        }
        CType::Enum { name, underlying, constants } => {
            let constants: String = constants
                .iter()
                .map(|(name, value)| format!("{} = {value} ", quoted(name)))
                .collect();
            format!("enum {} {underlying} {{ {constants}}}", quoted(name))
        }
        CType::Opaque { name, size, align } => format!("opaque {} {size} {align}", quoted(name)),
        CType::Pointer { pointee, to_const } => {
            format!("pointer {}{pointee}", if *to_const { "const " } else { "" })
        }
        CType::Array { element, length } => format!("array {element} {}", optional(*length)),
        CType::Function { result, params, variadic } => {
            let variadic = if *variadic { " variadic" } else { "" };
            format!("function {result} ({}){variadic}", list(params))
        }
        CType::Record(record) => format!("record {record}"),
    }
}

fn field(field: &Field) -> String {
    let bits = field.bits.map_or_else(String::new, |bits| format!(" bits {bits}"));
    format!("{} {} at {}{bits}", quoted(&field.name), field.ty, field.bit_offset)
}

fn global_text(global: &Global) -> String {
    let constant = if global.read_only { " const" } else { "" };
    let weak = if global.weak { " weak" } else { "" };
    let thread = if global.thread_local { " thread" } else { "" };
    let init = match &global.init {
        GlobalInit::Extern => "extern".to_owned(),
        GlobalInit::Zero => "zero".to_owned(),
        GlobalInit::Data { items, relocations } => {
            let bytes = items.iter();
            let bytes = bytes.map(|item| format!("{}: {}", item.offset, quoted_bytes(&item.bytes)));
            let addresses = relocations.iter().map(|relocation| {
                let target = match relocation.target {
                    RelocationTarget::Global(id) => id.to_string(),
                    RelocationTarget::Function(id) => id.to_string(),
                };
                format!("{}: &{target} + {}", relocation.offset, relocation.addend)
            });
            format!("{{ {} }}", bytes.chain(addresses).collect::<Vec<_>>().join(" "))
        }
    };
    format!(
        "{} {} size {} align {} {}{constant}{weak}{thread}{} = {init}",
        quoted(&global.name),
        global.ty,
        global.size,
        global.align,
        linkage(global.linkage),
        span(global.span)
    )
}

fn head(function: &Function) -> String {
    let symbol = function.symbol.as_ref().map(|symbol| format!(" symbol {}", quoted(symbol)));
    format!(
        "{}{} {} {}{}{}{}{}{} ({}){}",
        quoted(&function.name),
        symbol.unwrap_or_default(),
        function.ty,
        linkage(function.linkage),
        if function.noreturn { " noreturn" } else { "" },
        if function.weak { " weak" } else { "" },
        if function.library { " library" } else { "" },
        if function.system { " system" } else { "" },
        if function.implicit { " implicit" } else { "" },
        list(function.param_names.iter().map(|name| quoted(name))),
        span(function.span)
    )
}

/// Whether an id is one of `len` entities.
pub(super) fn in_range<I: EntityId>(id: I, len: usize) -> bool {
    id.index() < len
}
