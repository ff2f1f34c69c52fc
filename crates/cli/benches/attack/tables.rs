//! C for the attack: tables of the types, the function's call, and stubs of what the text leaves
//! undefined. `runtime.c` reads the tables.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use lydian_base::EntityId;
use lydian_ir::libc::{Family, model_named};
use lydian_ir::{CType, CTypeId, FuncId, GlobalInit, IntKind, Program};

/// What is compiled beside the runtime.
pub(crate) struct Tables {
    /// What stands behind the instrumented text, where static functions are in reach.
    pub(crate) appendix: String,
    /// A file of its own.
    pub(crate) stubs: String,
}

/// Kinds of types, as `runtime.c` numbers them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Opaque,
    Integer,
    Float,
    Double,
    Boolean,
    Pointer,
    Array,
    Struct,
    Union,
    Function,
}

/// Functions of the C library that write out, which do nothing to the program's memory.
const OUTPUT: [&str; 16] = [
    "printf", "fprintf", "vprintf", "vfprintf", "puts", "fputs", "fputc", "putc", "putchar",
    "fflush", "perror", "fclose", "fwrite", "syslog", "vsyslog", "remove",
];

/// Functions of the C library of which C says more than that they return something, and that are not
/// run here: a run ends there.
const ENDING: [&str; 34] = [
    "fread",
    "fgets",
    "getline",
    "getdelim",
    "fopen",
    "freopen",
    "fdopen",
    "tmpfile",
    "fscanf",
    "scanf",
    "vscanf",
    "sscanf",
    "snprintf",
    "sprintf",
    "vsnprintf",
    "vsprintf",
    "asprintf",
    "vasprintf",
    "qsort",
    "bsearch",
    "getenv",
    "secure_getenv",
    "strerror",
    "ungetc",
    "fseek",
    "ftell",
    "rewind",
    "time",
    "localtime",
    "gmtime",
    "strftime",
    "mktime",
    "atexit",
    "signal",
];

/// The tables of a function, or why it cannot be called.
pub(crate) fn tables(program: &Program, func: FuncId, text: &str) -> Result<Tables, &'static str> {
    let function = &program.functions[func];
    let CType::Function { result, params, variadic } = program.types.get(function.ty) else {
        return Err("it has no type of a function");
    };
    if *variadic {
        return Err("it takes variable arguments");
    }
    if params.len() > 16 || !params.iter().all(|ty| is_scalar(program, *ty)) {
        return Err("a parameter is no number or pointer that is passed in a register or word");
    }
    if !matches!(program.types.get(*result), CType::Void) && !is_scalar(program, *result) {
        return Err("its result is no number or pointer");
    }
    let constants = constants(program, text_of(program, func, text));
    let sentinels = sentinels(text);
    let (appendix, [globals, callees]) = appendix(program, func, params);
    let counts = [globals, callees, constants.len(), params.len(), sentinels.len()];
    let counts = counts.map(|count| count.to_string());
    let listed = |numbers: &BTreeSet<String>| {
        let numbers: Vec<&str> = numbers.iter().map(String::as_str).chain(["0"]).collect();
        numbers.join(", ")
    };
    let stubs = format!(
        "{HEAD}{}const unsigned long attack_constants[] = {{ {} }};\n\
         const unsigned long attack_sentinels[] = {{ {} }};\n\
         const int attack_counts[] = {{ {} }};\n{}",
        types(program),
        listed(&constants),
        listed(&sentinels),
        counts.join(", "),
        stubs(program)
    );
    Ok(Tables { appendix, stubs })
}

const HEAD: &str = "\
unsigned long attack_value(int);
float attack_float(void);
double attack_double(void);
void attack_write(unsigned long, int);
void attack_stop(void);
void *attack_malloc(unsigned long);
void *attack_calloc(unsigned long, unsigned long);
void *attack_realloc(void *, unsigned long);
void attack_free(void *);
struct attack_type { int kind; unsigned long size, align; int element, first, fields, is_const; unsigned long count; };
struct attack_field { int type; unsigned long bit_offset; int bits; };
";

fn text_of<'a>(program: &Program, func: FuncId, text: &'a str) -> &'a str {
    let span = program.functions[func].span;
    text.get(span.start as usize..span.end as usize).unwrap_or_default()
}

fn kind(program: &Program, ty: CTypeId) -> Kind {
    match program.types.get(ty) {
        CType::Int { kind: IntKind::Bool, .. } => Kind::Boolean,
        CType::Int { bits, .. } if *bits <= 64 => Kind::Integer,
        CType::Enum { .. } => Kind::Integer,
        CType::Float => Kind::Float,
        CType::Double => Kind::Double,
        CType::Pointer { .. } => Kind::Pointer,
        CType::Array { .. } => Kind::Array,
        CType::Function { .. } => Kind::Function,
        CType::Record(id) => match &program.types.records[*id] {
            record if record.size.is_none() => Kind::Opaque,
            record if record.is_union => Kind::Union,
            _ => Kind::Struct,
        },
        _ => Kind::Opaque,
    }
}

fn is_scalar(program: &Program, ty: CTypeId) -> bool {
    use Kind::{Boolean, Double, Float, Integer, Pointer};
    [Boolean, Double, Float, Integer, Pointer].contains(&kind(program, ty))
}

/// The type by which a word is passed that holds a value of the type.
fn passed(program: &Program, ty: CTypeId) -> &'static str {
    match kind(program, ty) {
        Kind::Float => "float",
        Kind::Double => "double",
        _ => "unsigned long",
    }
}

fn types(program: &Program) -> String {
    let (mut rows, mut fields, mut count) = (String::new(), String::new(), 0);
    for (id, ty) in program.types.iter() {
        let kind = kind(program, id);
        let size = match kind {
            Kind::Function => 0,
            _ => program.types.size(id).unwrap_or(0),
        };
        let align = if size == 0 { 1 } else { program.types.align(id).max(1) };
        let (mut element, mut first, mut own, mut is_const, mut length) = (0, 0, 0, 0, 0);
        match ty {
            CType::Pointer { pointee, to_const } => {
                (element, is_const) = (pointee.index(), i32::from(*to_const));
            }
            CType::Array { element: of, length: known } => {
                (element, length) = (of.index(), known.unwrap_or(0));
            }
            CType::Record(record) => {
                first = count;
                for field in &program.types.records[*record].fields {
                    if field.bits == Some(0) {
                        continue;
                    }
                    let bits = field.bits.map_or(-1, i32::from);
                    let _ =
                        write!(fields, "{{{}, {}, {bits}}}, ", field.ty.index(), field.bit_offset);
                    (count, own) = (count + 1, own + 1);
                }
            }
            _ => {}
        }
        let _ = writeln!(
            rows,
            "{{{}, {size}, {align}, {element}, {first}, {own}, {is_const}, {length}}},",
            kind as i32
        );
    }
    format!(
        "const struct attack_type attack_types[] = {{\n{rows}}};\n\
         const struct attack_field attack_fields[] = {{ {fields}{{0, 0, 0}} }};\n"
    )
}

/// Numbers and characters of a text, and the constants of enumerations that it names.
fn constants(program: &Program, text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words: BTreeSet<&str> = text.split(|c| !is_word(c)).collect();
    for word in &words {
        let digits = word.trim_end_matches(['u', 'U', 'l', 'L']);
        let number = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
            Some(hexadecimal) => u64::from_str_radix(hexadecimal, 16).ok(),
            None => digits.parse().ok(),
        };
        found.extend(number.map(|number| format!("{number}ul")));
    }
    for (at, c) in text.char_indices().filter(|(_, c)| matches!(c, '\'' | '"')) {
        let inner = text[at + 1..].chars().take_while(|inner| *inner != c && *inner != '\n');
        let plain = inner.filter(char::is_ascii).take(8);
        found.extend(plain.map(|inner| format!("{}ul", u32::from(inner))));
    }
    for (_, ty) in program.types.iter() {
        let CType::Enum { constants, .. } = ty else { continue };
        let named = constants.iter().filter(|(name, _)| words.contains(name.as_str()));
        found.extend(named.map(|(_, value)| format!("{}ul", *value as u64)));
    }
    found
}

/// Numbers that the text casts to pointers, as `(void *)-1`: a program may compare pointers with them.
fn sentinels(text: &str) -> BTreeSet<String> {
    let casts = text.match_indices("*)").map(|(at, cast)| &text[at + cast.len()..]);
    let number = |after: &str| {
        let after = after.trim_start_matches([' ', '(']);
        let (sign, digits) = match after.strip_prefix('-') {
            Some(digits) => ("-", digits.trim_start()),
            None => ("", after),
        };
        let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
        let number = digits[..end].parse::<u32>().ok().filter(|number| *number != 0)?;
        Some(format!("{sign}{number}l"))
    };
    casts.filter_map(number).collect()
}

/// What calls the function, and addresses that only its file knows, with the numbers of globals and
/// of functions among these.
fn appendix(program: &Program, func: FuncId, params: &[CTypeId]) -> (String, [usize; 2]) {
    let function = &program.functions[func];
    let mut globals = String::new();
    let mut global_count = 0;
    for (_, global) in program.globals.iter() {
        let is_name = global.name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let known = program.types.size(global.ty).is_some_and(|size| size > 0);
        if is_name && known && !global.read_only && !global.name.starts_with("__") {
            let _ = write!(globals, "{{ (void *)&{}, {} }}, ", global.name, global.ty.index());
            global_count += 1;
        }
    }
    let (mut callees, mut declared, mut callee_count) = (String::new(), String::new(), 0);
    for (id, ty) in program.types.iter() {
        if !matches!(ty, CType::Function { .. }) {
            continue;
        }
        let _ = writeln!(declared, "extern void attack_callee_{}(void);", id.index());
        let _ = write!(callees, "{{ {}, (void *)attack_callee_{} }}, ", id.index(), id.index());
        callee_count += 1;
        for (_, other) in program.functions.iter() {
            if other.ty == id
                && other.body.is_some()
                && !other.library
                && other.name != function.name
            {
                let _ = write!(callees, "{{ {}, (void *){} }}, ", id.index(), other.name);
                callee_count += 1;
            }
        }
    }
    let classes: Vec<&str> = params.iter().map(|ty| passed(program, *ty)).collect();
    let arguments = classes.iter().enumerate().map(|(at, class)| match *class {
        "float" => format!("attack_f[{at}]"),
        "double" => format!("attack_d[{at}]"),
        _ => format!("attack_w[{at}]"),
    });
    let arguments: Vec<String> = arguments.collect();
    let indices: Vec<String> = params.iter().map(|ty| ty.index().to_string()).collect();
    let appendix = format!(
        "\n# 1 \"<attack>\"\n{declared}\
         struct attack_global {{ void *at; int type; }};\n\
         struct attack_callee {{ int type; void *function; }};\n\
         struct attack_global attack_globals[] = {{ {globals}{{0, 0}} }};\n\
         struct attack_callee attack_callees[] = {{ {callees}{{0, 0}} }};\n\
         int attack_parameters[] = {{ {} }};\n\
         void attack_call(const unsigned long *attack_w, const double *attack_d, \
         const float *attack_f)\n{{\n    \
         ((void (*)({}))(void *){})({});\n}}\n",
        [&indices[..], &["0".to_owned()]].concat().join(", "),
        if classes.is_empty() { "void".to_owned() } else { classes.join(", ") },
        function.name,
        arguments.join(", "),
    );
    (appendix, [global_count, callee_count])
}

/// Definitions of functions and variables that the text leaves undefined, and of functions that
/// pointers of the inputs point to.
fn stubs(program: &Program) -> String {
    let mut text = String::new();
    for (_, function) in program.functions.iter() {
        // A definition that could not be lowered is in the text all the same, and is not weak.
        let undefined = function.body.is_none() && !function.library;
        if undefined && !function.name.starts_with("__builtin_") {
            stub(&mut text, program, function.link_name(), function.ty);
        }
    }
    for (id, ty) in program.types.iter() {
        if matches!(ty, CType::Function { .. }) {
            outside(&mut text, program, &format!("attack_callee_{}", id.index()), id, true);
        }
    }
    for (_, global) in program.globals.iter() {
        if matches!(global.init, GlobalInit::Extern) {
            let size = global.size.max(4096);
            let _ =
                writeln!(text, "__attribute__((weak, aligned(64))) char {}[{size}];", global.name);
        }
    }
    text
}

fn stub(text: &mut String, program: &Program, name: &str, ty: CTypeId) {
    match (name, model_named(name).map(|model| model.family)) {
        ("malloc", _) => text.push_str(
            "__attribute__((weak)) void *malloc(unsigned long n) { return attack_malloc(n); }\n",
        ),
        ("calloc", _) => text.push_str(
            "__attribute__((weak)) void *calloc(unsigned long n, unsigned long s) { return attack_calloc(n, s); }\n",
        ),
        ("realloc", _) => text.push_str(
            "__attribute__((weak)) void *realloc(void *p, unsigned long n) { return attack_realloc(p, n); }\n",
        ),
        ("free", _) => {
            text.push_str("__attribute__((weak)) void free(void *p) { attack_free(p); }\n");
        }
        (_, Some(Family::End | Family::Verification)) => ending(text, name),
        // The system's own are run: they have no effect but on memory.
        (_, Some(_)) => {}
        _ if ENDING.contains(&name) => ending(text, name),
        _ => outside(text, program, name, ty, !OUTPUT.contains(&name)),
    }
}

fn ending(text: &mut String, name: &str) {
    let _ = writeln!(text, "__attribute__((weak)) void {name}(void) {{ attack_stop(); }}");
}

/// A function that returns anything and, where it `writes`, writes through its pointers.
fn outside(text: &mut String, program: &Program, name: &str, ty: CTypeId, writes: bool) {
    let CType::Function { result, params, .. } = program.types.get(ty) else { return };
    let is_void = matches!(program.types.get(*result), CType::Void);
    let simple = params.iter().all(|ty| is_scalar(program, *ty));
    if !simple || !(is_void || is_scalar(program, *result)) {
        return ending(text, name);
    }
    let parameters = params.iter().enumerate();
    let parameters = parameters.map(|(at, ty)| format!("{} a{at}", passed(program, *ty)));
    let parameters: Vec<String> = parameters.collect();
    let mut body = String::new();
    for (at, ty) in params.iter().enumerate().filter(|_| writes) {
        if let CType::Pointer { pointee, to_const: false } = program.types.get(*ty) {
            let _ = write!(body, "attack_write(a{at}, {}); ", pointee.index());
        }
    }
    let (returned, value) = match (is_void, kind(program, *result)) {
        (true, _) => ("void", String::new()),
        (_, Kind::Float) => ("float", "return attack_float();".to_owned()),
        (_, Kind::Double) => ("double", "return attack_double();".to_owned()),
        _ => ("unsigned long", format!("return attack_value({});", result.index())),
    };
    let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    let _ =
        writeln!(text, "__attribute__((weak)) {returned} {name}({parameters}) {{ {body}{value} }}");
}
