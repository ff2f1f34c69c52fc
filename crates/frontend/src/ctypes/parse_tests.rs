use super::*;
use crate::ast::RecordId;
use lydian_base::EntityId;
use proptest::prelude::*;

/// Knows the tag `s`, the typedefs `T` (int) and `A` (int[3]), and the variable `x` (char).
struct TypedefNames;

impl TypeNames for TypedefNames {
    fn tag(&mut self, _: TagKind, name: TagName<'_>) -> Option<CType> {
        match name {
            TagName::Named("s") => Some(CType::Record(RecordId::from_index(0))),
            TagName::At(2, 25) => Some(CType::Record(RecordId::from_index(1))),
            _ => None,
        }
    }

    fn typedef(&mut self, name: &str, types: &mut CTypes) -> Option<QualType> {
        match name {
            "T" => Some(parse_type("int", types, self)),
            "A" => Some(parse_type("int[3]", types, self)),
            _ => None,
        }
    }

    fn type_of(&mut self, expression: &str, types: &mut CTypes) -> Option<QualType> {
        (expression == "x + 1").then(|| parse_type("char", types, self))
    }
}

/// Knows the typedef `bool` (int), as old programs have it.
struct OwnBool;

impl TypeNames for OwnBool {
    fn tag(&mut self, _: TagKind, _: TagName<'_>) -> Option<CType> {
        None
    }

    fn typedef(&mut self, name: &str, types: &mut CTypes) -> Option<QualType> {
        (name == "bool").then(|| parse_type("int", types, self))
    }

    fn type_of(&mut self, _: &str, _: &mut CTypes) -> Option<QualType> {
        None
    }
}

#[test]
fn a_type_that_a_program_names_bool_is_not_the_builtin_one() {
    let mut types = CTypes::new();
    let shown = |text: &str, names: &mut dyn TypeNames, types: &mut CTypes| {
        let ty = parse_type(text, types, names);
        types.display(ty).to_string()
    };
    assert_eq!(shown("bool (const bool)", &mut OwnBool, &mut types), "function(const int)(int)");
    assert_eq!(shown("bool *", &mut OwnBool, &mut types), "pointer(int)");
    assert_eq!(
        shown("_Bool", &mut OwnBool, &mut types),
        shown("bool", &mut TypedefNames, &mut types)
    );
}

fn show(text: &str) -> String {
    let mut types = CTypes::new();
    let ty = parse_type(text, &mut types, &mut TypedefNames);
    types.display(ty).to_string()
}

#[test]
fn builtin_types_are_read_in_any_order_of_their_words() {
    assert_eq!(show("unsigned long"), "unsigned long");
    assert_eq!(show("long unsigned int"), "unsigned long");
    assert_eq!(show("long long"), "long long");
    assert_eq!(show("unsigned char"), "unsigned char");
    assert_eq!(show("signed char"), "signed char");
    assert_eq!(show("long double"), "long double");
    assert_eq!(show("unsigned __int128"), "unsigned __int128");
    assert_eq!(show("_Bool"), "_Bool");
    assert_eq!(show("_Float16"), "_Float16");
}

#[test]
fn pointers_keep_the_qualifiers_of_each_level() {
    assert_eq!(
        show("const char *const *volatile"),
        "pointer(const pointer(const char))".replacen("pointer", "volatile pointer", 1)
    );
    assert_eq!(show("int *const volatile restrict"), "const volatile restrict pointer(int)");
}

#[test]
fn arrays_nest_from_left_to_right() {
    assert_eq!(show("int[2][3]"), "array[2](array[3](int))");
    assert_eq!(show("char[]"), "array[](char)");
    assert_eq!(show("int[n]"), "array[*](int)");
    assert_eq!(show("int (*)[4]"), "pointer(array[4](int))");
    assert_eq!(show("const A"), "array[3](const int)");
}

#[test]
fn functions_and_pointers_to_them_are_read() {
    assert_eq!(show("int (void)"), "function()(int)");
    assert_eq!(show("int ()"), "function(?)(int)");
    assert_eq!(show("int (const char *, ...)"), "function(pointer(const char), ...)(int)");
    assert_eq!(
        show("int (*[3])(int, char *)"),
        "array[3](pointer(function(int, pointer(char))(int)))"
    );
    let signal = "function(int, pointer(function(int)(void)))(pointer(function(int)(void)))";
    assert_eq!(show("void (*(int, void (*)(int)))(int)"), signal);
    assert_eq!(show("void (void) __attribute__((noreturn))"), "function()(void)");
    assert_eq!(show("void (*)(int) __attribute__((noreturn))"), "pointer(function(int)(void))");
    let hidden = "function(pointer(const char), int)(void)";
    assert_eq!(show("void (__attribute__((noescape)) const char *, int)"), hidden);
}

#[test]
fn names_are_resolved() {
    assert_eq!(show("T *"), "pointer(int)");
    assert_eq!(show("struct s"), "rec0");
    assert_eq!(show("union s::(anonymous at <stdin>:2:25)"), "rec1");
    assert_eq!(show("union (unnamed union at <stdin>:2:25)"), "rec1");
    assert_eq!(show("struct o::(anonymous union)::s *"), "pointer(rec0)");
    assert_eq!(show("const typeof (x + 1) *"), "pointer(const char)");
    assert_eq!(show("typeof (T *)"), "pointer(int)");
}

#[test]
fn atomic_types_are_marked() {
    assert_eq!(show("_Atomic(int) *"), "pointer(_Atomic int)");
    assert_eq!(show("_Atomic int"), "_Atomic int");
}

#[test]
fn complex_numbers_and_vectors_know_their_parts() {
    assert_eq!(show("_Complex long double *"), "pointer(complex(long double))");
    assert_eq!(show("const _Complex int"), "const complex(int)");
    let vector = "__attribute__((__vector_size__(4 * sizeof(unsigned int)))) unsigned int";
    assert_eq!(show(vector), "vector[4](unsigned int)");
    assert_eq!(show("float __attribute__((ext_vector_type(3))) *"), "pointer(vector[3](float))");
}

#[test]
fn integers_of_any_number_of_bits_are_types_of_their_own() {
    assert_eq!(show("_BitInt(7)"), "_BitInt(7)");
    assert_eq!(show("const unsigned _BitInt(128) *"), "pointer(const unsigned _BitInt(128))");
}

#[test]
fn what_is_not_modelled_is_kept_as_text() {
    for text in [
        "__attribute__((ext_vector_type(4))) _Bool",
        "unsigned _BitInt(129)",
        "_BitInt(n)",
        "unknown_name",
        "int (^)(void)",
        "",
        "int)",
    ] {
        assert_eq!(show(text), format!("unsupported `{text}`"));
    }
}

#[test]
fn very_deep_types_are_not_supported_and_no_crash() {
    let deep = format!("int {}{}", "(".repeat(100_000), ")".repeat(100_000));
    assert!(show(&deep).starts_with("unsupported"));
    let nested = "int (".repeat(10_000);
    assert!(show(&nested).starts_with("unsupported"));
    let arrays = format!("int{}", "[1]".repeat(10_000));
    assert!(show(&arrays).starts_with("unsupported"));
}

proptest! {
    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC*") {
        show(&text);
    }

    #[test]
    fn any_mix_of_type_tokens_is_read_without_a_panic(
        tokens in prop::collection::vec(prop::sample::select(vec![
            "int", "char", "const", "*", "(", ")", "[", "]", "[3]", "struct", "s", "T", ",", "...",
            "::", "_Atomic", "typeof", "__attribute__", "((x))", "unsigned", "(unnamed at f:1:2)",
        ]), 0..24)
    ) {
        show(&tokens.join(" "));
    }
}
