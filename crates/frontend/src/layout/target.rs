//! Asks clang for the target's scalar types under the user's flags.
//!
//! A small program of enumeration constants is parsed; their values are the answers. The same run
//! shows which of the user's flags clang does not know, so that flags made for another compiler do
//! not stand in the way.

use crate::clang::{Clang, ClangError};
use crate::ctypes::{FloatKind, IntKind, Layout, TargetLayout};
use crate::decode::node::Node;
use crate::flags::CompileFlags;
use lydian_base::cache::{Key, identity};
use lydian_base::{Cache, Diagnostic};
use std::collections::BTreeMap;
use std::fmt::Write;

const INTS: [IntKind; 14] = [
    IntKind::Bool,
    IntKind::Char,
    IntKind::SChar,
    IntKind::UChar,
    IntKind::Short,
    IntKind::UShort,
    IntKind::Int,
    IntKind::UInt,
    IntKind::Long,
    IntKind::ULong,
    IntKind::LongLong,
    IntKind::ULongLong,
    IntKind::Int128,
    IntKind::UInt128,
];

const FLOATS: [FloatKind; 6] = [
    FloatKind::Half,
    FloatKind::BFloat,
    FloatKind::Float,
    FloatKind::Double,
    FloatKind::LongDouble,
    FloatKind::Float128,
];

/// The target under these flags. Flags that clang does not know are taken out of `flags`, each
/// with a warning in the result.
pub(crate) fn probe(
    clang: &Clang,
    flags: &mut CompileFlags,
) -> Result<(TargetLayout, Vec<Diagnostic>), ClangError> {
    let mut warnings = Vec::new();
    let program = program();
    loop {
        let mut arguments = vec!["-fsyntax-only", "-w", "-Xclang", "-ast-dump=json"];
        arguments.extend(flags.for_parsing());
        arguments.extend(["-x", "c", "-"]);
        let (cache, key) = (Cache::of_user(), key_of(clang, &arguments, &program));
        let kept = key.as_ref().and_then(|key| cache.get(key));
        if let Some(values) = kept.and_then(|text| serde_json::from_slice(&text).ok()) {
            return Ok((read_target(&values, flags), warnings));
        }
        match clang.output(&arguments, None, program.as_bytes()) {
            Ok(output) => {
                let values = constants(&output).map_err(ClangError::Json)?;
                if let (Some(key), Ok(text)) = (key, serde_json::to_vec(&values)) {
                    cache.put(&key, &text);
                }
                return Ok((read_target(&values, flags), warnings));
            }
            Err(ClangError::Rejected(errors)) => {
                let dropped = drop_unknown_flags(flags, &errors);
                if dropped.is_empty() {
                    return Err(ClangError::Rejected(errors));
                }
                warnings.extend(dropped);
            }
            Err(other) => return Err(other),
        }
    }
}

/// Under which the answers are kept, for a clang that can be told from others.
fn key_of(clang: &Clang, arguments: &[&str], program: &str) -> Option<Key> {
    let identity = identity(clang.program())?;
    let parts = [&*identity, program.as_bytes()];
    Some(Key::new("target", parts.into_iter().chain(arguments.iter().map(|word| word.as_bytes()))))
}

/// Takes out the flags that the errors name.
fn drop_unknown_flags(flags: &mut CompileFlags, errors: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    for error in errors.iter().filter(|error| error.place.is_none()) {
        for flag in error.message.split('\'').skip(1).step_by(2) {
            if flags.drop_language_flag(flag) {
                let message = format!("clang does not know the flag `{flag}`; it is left out");
                warnings.push(Diagnostic::warning("unknown-flag", message));
            }
        }
    }
    warnings
}

/// The program whose constants are the answers. Types that a target lacks are left out.
fn program() -> String {
    let mut text = String::from("enum { small_constant };\nenum {\n");
    let names = INTS.iter().map(|kind| kind.name()).chain(FLOATS.iter().map(|kind| kind.name()));
    for name in names.chain(["void *"]) {
        let condition = match name {
            "__int128" | "unsigned __int128" => "defined(__SIZEOF_INT128__)",
            "_Float16" => "defined(__FLT16_MANT_DIG__)",
            "__float128" => "defined(__SIZEOF_FLOAT128__)",
            // Clang has no macro that tells whether the target has it.
            "__bf16" => "0",
            _ => "1",
        };
        let key = key(name);
        // Writing to a string does not fail.
        let _ = writeln!(text, "#if {condition}");
        let _ = writeln!(
            text,
            "size_{key} = (int)sizeof({name}),\nalign_{key} = (int)_Alignof({name}),"
        );
        let _ = writeln!(text, "#endif");
    }
    text.push_str(
        "char_signed = (char)-1 < 0,\n\
         little_endian = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__,\n\
         size_is_long = __builtin_types_compatible_p(__SIZE_TYPE__, unsigned long),\n\
         size_is_int = __builtin_types_compatible_p(__SIZE_TYPE__, unsigned int),\n\
         short_enums = sizeof(small_constant_type) < sizeof(int) };\n",
    );
    text.replace("enum { small_constant };", "typedef enum { small_constant } small_constant_type;")
}

fn key(name: &str) -> String {
    name.replace([' ', '*'], "_")
}

/// Reads the constants' values; what is not there keeps x86-64's.
fn read_target(values: &BTreeMap<String, i64>, flags: &CompileFlags) -> TargetLayout {
    let answer = |name: &str| values.get(name).copied();
    let layout = |name: &str, default: Layout| {
        let key = key(name);
        let size = answer(&format!("size_{key}"));
        let align = answer(&format!("align_{key}"));
        let bytes = |value: i64| u64::try_from(value).ok();
        let layout = size.and_then(bytes).zip(align.and_then(bytes));
        layout.map_or(default, |(size, align)| Layout { size, align })
    };
    let usual = TargetLayout::default();
    TargetLayout {
        char_signed: answer("char_signed") != Some(0),
        little_endian: answer("little_endian") != Some(0),
        ints: INTS.map(|kind| layout(kind.name(), usual.int(kind))),
        floats: FLOATS.map(|kind| layout(kind.name(), usual.float(kind))),
        pointer: layout("void *", usual.pointer),
        size_type: match (answer("size_is_long"), answer("size_is_int")) {
            (Some(0), Some(1)) => IntKind::UInt,
            (Some(0), Some(0)) => IntKind::ULongLong,
            _ => IntKind::ULong,
        },
        short_enums: answer("short_enums") == Some(1),
        wrapv: flags.wraps_on_overflow(),
        main_returns_zero: !flags.before_c99(),
    }
}

/// The constants of the program with their values.
fn constants(output: &[u8]) -> Result<BTreeMap<String, i64>, serde_json::Error> {
    let unit: Node<'_> = serde_json::from_slice(output)?;
    let declared = unit.inner.iter().flat_map(|declaration| &declaration.inner);
    let constants = declared.filter(|node| node.kind == "EnumConstantDecl");
    let value = |node: &Node<'_>| {
        let value = node.inner.first()?.value.as_ref()?.integer()?;
        Some((node.name.as_ref()?.to_string(), i64::try_from(value).ok()?))
    };
    Ok(constants.filter_map(value).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn target(words: &[&str]) -> (TargetLayout, Vec<Diagnostic>) {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        let mut flags = CompileFlags::new(&words, Path::new("a.c")).unwrap();
        probe(&Clang::locate().unwrap(), &mut flags).unwrap()
    }

    #[test]
    fn the_default_target_is_measured_as_x86_64() {
        let (target, warnings) = target(&["--target=x86_64-linux-gnu"]);
        assert_eq!(target, TargetLayout::default());
        assert!(warnings.is_empty());
    }

    #[test]
    fn flags_change_the_target() {
        let (target, _) = target(&["-m32", "-funsigned-char", "-fshort-enums", "-fwrapv"]);
        assert_eq!(target.pointer, Layout { size: 4, align: 4 });
        assert_eq!(target.int(IntKind::Long).size, 4);
        assert_eq!(target.int(IntKind::LongLong), Layout { size: 8, align: 4 });
        assert_eq!(target.size_type, IntKind::UInt);
        assert!(!target.char_signed && target.short_enums && target.wrapv);
    }

    #[test]
    fn flags_of_another_compiler_are_left_out_with_a_warning() {
        let (_, warnings) = target(&["-fno-such-flag", "-mno-such-thing", "-fwrapv"]);
        assert_eq!(warnings.len(), 2, "{warnings:?}");
    }
}
