//! Calls of modelled functions, and whether they do what the table of library functions says.

use super::*;
use crate::libc::{Family, LibraryFunction, MODELLED};

/// Calls a modelled function of the C type `(char *, char *, unsigned long)` or with fewer
/// parameters, on two objects, and gives the outcome.
fn call_model(name: &str, letters: &str, a: &[u8], b: &[u8], n: u64) -> Outcome {
    let values = |letter| match letter {
        'a' => ("v0", "ty3"),
        'b' => ("v1", "ty3"),
        'n' => ("v2", "ty4"),
        'i' => ("trunc i32(v2)", "ty1"),
        _ => ("0:ptr", "ty3"),
    };
    let (args, types): (Vec<_>, Vec<_>) = letters[1..].chars().map(values).unzip();
    let (result, register, value) = match &letters[..1] {
        "i" => ("ty1", "i32", "sext i64(v3)"),
        "p" => ("ty3", "ptr", "bits i64(v3)"),
        _ => ("ty4", "i64", "v3"),
    };
    // Equal types have one id.
    let ty = if letters == "ii" { "ty9" } else { "ty16" };
    let declared = match ty {
        "ty9" => String::new(),
        _ => format!("ty16 = function {result} ({})", types.join(", ")),
    };
    let functions = format!(
        "{declared}
function f0 \"f\" ty12 external () {{
  params (v0, v1, v2) local v0 \"a\" ty3 param register ptr local v1 \"b\" ty3 param register ptr
  local v2 \"n\" ty4 param register i64 local v3 \"\" {result} temp register {register}
  entry bb0 bb0: s0: call f1 {ty} ({}) ({}) -> v3 return {value} }}
function f1 \"{name}\" {ty} external ()",
        args.join(", "),
        types.join(", ")
    );
    let mut test = test(vec![
        pointer_to(PointerTarget::Object(0, 0)),
        pointer_to(PointerTarget::Object(1, 0)),
        Image { bytes: n.to_le_bytes().to_vec(), pointers: vec![] },
    ]);
    test.objects = vec![object(A, a), object(B, b)];
    run_with(&program(&functions), &test)
}

/// Name, letters, the two objects, the number, what is expected.
type ModelCase<T> = (&'static str, &'static str, &'static [u8], &'static [u8], u64, T);

const A: u64 = INPUT_REGION;
const B: u64 = INPUT_REGION + 0x1000;

#[test]
fn string_functions_read_as_c_says() {
    let cases: [ModelCase<i64>; 27] = [
        ("strlen", "la", b"abc\0d", b"", 0, 3),
        ("strnlen", "lan", b"abc", b"", 2, 2),
        ("__builtin_strlen", "la", b"\0", b"", 0, 0),
        ("strcmp", "iab", b"abc\0", b"abd\0", 0, -1),
        ("strcmp", "iab", b"ab\xff\0", b"ab\0", 0, 255),
        ("strncmp", "iabn", b"abc", b"abd", 2, 0),
        ("strncmp", "iabn", b"a\0x", b"a\0y", 3, 0),
        ("strcasecmp", "iab", b"HeLLo\0", b"hEllo\0", 0, 0),
        ("strncasecmp", "iabn", b"ABx", b"aby", 3, -1),
        ("memcmp", "iabn", b"a\0x", b"a\0y", 3, -1),
        ("memchr", "pain", b"abcabc", b"", 99, 2 + A as i64),
        ("strchr", "pai", b"abcabc\0", b"", 99, 2 + A as i64),
        ("strrchr", "pai", b"abcabc\0", b"", 99, 5 + A as i64),
        ("strchr", "pai", b"ab\0", b"", 99, 0),
        ("strchr", "pai", b"ab\0", b"", 0, 2 + A as i64),
        ("strrchr", "pai", b"ab\0", b"", 256, 2 + A as i64),
        ("strstr", "pab", b"aabaac\0", b"aac\0", 0, 3 + A as i64),
        ("strstr", "pab", b"aab\0", b"\0", 0, A as i64),
        ("strstr", "pab", b"aab\0", b"abc\0", 0, 0),
        ("strspn", "lab", b"aabbc\0", b"ab\0", 0, 4),
        ("strcspn", "lab", b"xyzab\0", b"ba\0", 0, 3),
        ("strpbrk", "pab", b"xyzab\0", b"ba\0", 0, 3 + A as i64),
        ("strpbrk", "pab", b"xyz\0", b"ba\0", 0, 0),
        ("isalpha", "ii", b"", b"", b'q' as u64, 0x400),
        ("isdigit", "ii", b"", b"", b'q' as u64, 0),
        ("toupper", "ii", b"", b"", b'q' as u64, b'Q' as i64),
        ("__builtin_popcountl", "in", b"", b"", u64::MAX, 64),
    ];
    for (name, letters, a, b, n, expected) in cases {
        assert_eq!(result(&call_model(name, letters, a, b, n)), expected, "{name} {a:?} {b:?} {n}");
    }
    let outcome = call_model("strlen", "la", b"abc", b"", 0);
    assert_eq!(outcome.end, End::Trapped(TrapKind::OutOfBounds));
    let outcome = call_model("isalpha", "ii", b"", b"", 300);
    assert_eq!(outcome.end, End::Trapped(TrapKind::OutOfBounds));
    let outcome = call_model("__builtin_clzl", "in", b"", b"", 0);
    assert_eq!(outcome.end, End::Trapped(TrapKind::Unreachable));
}

#[test]
fn string_functions_write_as_c_says() {
    let cases: [ModelCase<&[u8]>; 9] = [
        ("strcpy", "pab", b"xxxx", b"ab\0", 0, b"ab\0x"),
        ("strncpy", "pabn", b"xxxxx", b"ab\0", 4, b"ab\0\0x"),
        ("strncpy", "pabn", b"xxxxx", b"abcdef", 3, b"abcxx"),
        ("strcat", "pab", b"ab\0xx", b"cd\0", 0, b"abcd\0"),
        ("strncat", "pabn", b"ab\0xx", b"cdef", 2, b"abcd\0"),
        ("memcpy", "pabn", b"xxxx", b"abcd", 2, b"abxx"),
        ("__builtin___memcpy_chk", "pabnn", b"xxxx", b"abcd", 2, b"abxx"),
        ("memset", "pain", b"xxxx", b"", 3, b"\x03\x03\x03x"),
        ("memmove", "pabn", b"xxxx", b"abcd", 0, b"xxxx"),
    ];
    for (name, letters, a, b, n, expected) in cases {
        let outcome = call_model(name, letters, a, b, n);
        assert_eq!(result(&outcome), A as i64, "{name}");
        assert_eq!(outcome.objects[0], expected, "{name}");
    }
    let outcome = call_model("strcpy", "pab", b"xx", b"ab\0", 0);
    assert_eq!(outcome.end, End::Trapped(TrapKind::OutOfBounds));
}

/// The letters of a call by which [`call_model`] gives a function its pointers, a character and a number.
fn letters_of(row: &LibraryFunction) -> String {
    let mut pointers = "ab".chars();
    let signature = row.model().expect("it is modelled").signature;
    let argument = |letter| match letter {
        'p' => pointers.next().expect("at most two pointers"),
        'l' => 'n',
        other => other,
    };
    signature[..1].chars().chain(signature[1..].chars().map(argument)).collect()
}

/// What the functions on memory are called on.
const CALLS: [(&[u8], &[u8], u64); 4] = [
    (b"ab\0xxxxx", b"cd\0", 2),
    (b"abcabc\0xxxx", b"abc\0", 98),
    (b"\0xxxx", b"x\0", 1),
    (b"xxxx\0xxxxxxx", b"xy\0z", 4),
];

#[test]
fn functions_on_memory_write_and_return_what_the_table_says() {
    for row in MODELLED.iter().filter(|row| row.family == Family::Memory) {
        let (effects, letters) = (row.effects.expect("effects"), letters_of(row));
        let mut written = [false; 2];
        for (a, b, n) in CALLS {
            let outcome = call_model(row.name, &letters, a, b, n);
            let End::Returned = outcome.end else { continue };
            for (at, before) in [a, b].into_iter().enumerate() {
                let is_written = outcome.objects[at] != before;
                written[at] |= is_written;
                assert!(!is_written || effects.writes.contains(at), "{} writes {at}", row.name);
            }
            if letters.starts_with('p') && result(&outcome) != 0 {
                let at = usize::from(result(&outcome) >= B as i64);
                assert!(effects.returns.contains(at), "{} returns {at}", row.name);
            }
        }
        for at in effects.writes.positions() {
            assert!(written[at], "{} does not write {at}", row.name);
        }
    }
}

#[test]
fn functions_on_memory_need_the_pointers_that_the_table_says() {
    let mut needed = 0;
    for row in MODELLED.iter().filter(|row| row.family == Family::Memory) {
        let (effects, letters) = (row.effects.expect("effects"), letters_of(row));
        for at in effects.needs.positions() {
            needed += 1;
            let mut with_null: Vec<char> = letters.chars().collect();
            with_null[at + 1] = '0';
            let with_null = String::from_iter(with_null);
            for (a, b, n) in CALLS {
                let outcome = call_model(row.name, &with_null, a, b, n);
                let is_fault = matches!(outcome.end, End::Trapped(_));
                assert!(is_fault, "{} with null at {at}: {:?}", row.name, outcome.end);
            }
        }
    }
    assert!(needed > 15, "{needed}");
}

#[test]
fn functions_of_integers_trap_only_where_the_table_says() {
    let mut trapped = 0;
    for row in MODELLED.iter().filter(|row| row.family == Family::Integer) {
        // The number is passed as `int` or as the 64 bits of `long`.
        let signature = row.model().expect("it is modelled").signature.replace('q', "l");
        let letters = match &*signature {
            "ii" => "ii",
            "il" => "in",
            "ll" => "ln",
            _ => continue,
        };
        for n in [0, 1, u64::MAX, 1 << 31, 1 << 63] {
            let outcome = call_model(row.name, letters, b"", b"", n);
            if let End::Trapped(kind) = outcome.end {
                trapped += 1;
                let may_trap = row.effects.is_some_and(|effects| effects.traps);
                assert!(may_trap, "{} of {n}: {kind:?}", row.name);
            }
        }
    }
    assert!(trapped >= 6, "those that count zeros of 0 trap: {trapped}");
}
