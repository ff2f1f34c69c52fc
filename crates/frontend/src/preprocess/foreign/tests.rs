use super::*;
use crate::preprocess::edits::Edits;

/// The text as it is read, without line markers and blanks at the ends of lines.
fn replaced(text: &str) -> String {
    let made = made(text);
    let edited = Edits::new(made.edits).apply(text);
    edited.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn made(text: &str) -> Replacements {
    let clang = Clang::locate().unwrap();
    foreign_assembly(&clang, &CompileFlags::default(), text, &[]).unwrap()
}

#[test]
fn assembly_of_this_machine_stays() {
    for text in [
        "int f(int x) { __asm__ volatile (\"nop\" : \"+r\" (x)); return x; }",
        "int f(int x) { if (x) asm(\"\" ::: \"memory\"); return x; }",
        "extern int f(int) __asm__(\"g\"); int h(void) { extern int k(void) asm(\"sp\"); return k(); }",
        "__asm__(\".globl lydian_here\");",
    ] {
        assert_eq!(replaced(text), text);
    }
}

#[test]
fn unknown_assembly_becomes_calls_of_undefined_functions() {
    assert_eq!(
        replaced(
            "int f(int a) { int x; __asm volatile (\"foo %0, %1\" : \"=r\" (x) : \"r\" (a)); return x; }"
        ),
        "extern unsigned long long assembly_in_f(void); int f(int a) { int x; \
         (void)(a), (x) = (__typeof__((x) + 0))assembly_in_f(); return x; }"
    );
    let memory = "void f(char *p) { if (p) asm(\"foo\" : \"=m\" (*p)); else asm(\"bar\"); }";
    assert_eq!(
        replaced(memory),
        "extern void assembly_in_f_at(void *); extern unsigned long long assembly_in_f(void); \
         void f(char *p) { if (p) assembly_in_f_at((void *)&(*p)); else (void)assembly_in_f(); }"
    );
}

#[test]
fn inline_functions_that_nobody_calls_are_assembled_too() {
    for head in ["static inline", "inline", "extern inline __attribute__((gnu_inline))"] {
        let text = format!("{head} void f(void) {{ asm(\"foo\"); }}");
        assert_eq!(made(&text).places.len(), 1, "{head}");
    }
}

#[test]
fn instructions_with_a_model_become_their_meaning() {
    let text = "unsigned f(unsigned a) { unsigned x; asm(\"rev %0, %1\" : \"=r\" (x) : \"r\" (a)); \
                asm volatile(\"cpsid i\" ::: \"memory\"); asm(\"dsb 0xF\"); return x; }";
    assert_eq!(
        replaced(text),
        "unsigned f(unsigned a) { unsigned x; (x) = lydian_rev(a); lydian_primask = 1u; (void)0; \
         return x; }"
    );
    let named = "int f(int a) { int x; asm(\"ssat %[to], %[bits], %[from]\" : [to] \"=r\" (x) : \
                 [bits] \"I\" (8), [from] \"r\" (a)); return x; }";
    assert_eq!(replaced(named), "int f(int a) { int x; (x) = lydian_ssat(8, a); return x; }");
    assert!(made(named).prelude.contains("static int lydian_ssat("));
}

#[test]
fn registers_of_other_machines_are_no_symbols() {
    let text = "int f(void) { int x; asm(\"mov %0, sp\" : \"=r\" (x)); return x; }";
    assert!(replaced(text).contains("assembly_in_f()"));
    assert_eq!(replaced("register unsigned top __asm(\"sp\");"), " unsigned top;");
    let local = "int f(int a) { register int x asm(\"r0\") = a; return x; }";
    assert_eq!(replaced(local), "int f(int a) { register int x  = a; return x; }");
}

#[test]
fn a_naked_function_is_one_call_and_lines_stay() {
    let text = "static __attribute__((naked)) unsigned *f(void);\n\
                static __attribute__((naked)) unsigned *f(void)\n{\n  asm(\"bx lr\");\n}\nint g;";
    assert_eq!(
        replaced(text),
        "static __attribute__((unused)) unsigned *f(void);\n\
         extern unsigned long long assembly_in_f(void); static __attribute__((unused)) unsigned *f(void)\n\
         { return (unsigned *)assembly_in_f(); }\n\n\nint g;"
    );
}

#[test]
fn errors_of_the_program_are_left_to_its_parser() {
    let text = "int f(void) { asm(\"nop\"); return undeclared; }";
    assert_eq!(replaced(text), text);
}

#[test]
fn assembly_behind_errors_that_hide_it_is_found() {
    let text = "void f(void) { asm(\"svc 0\" ::: \"r0\"); asm(\"foo\"); }\n__asm(\".thumb_func\");";
    let found = made(text);
    assert_eq!(found.places.len(), 3, "{found:?}");
}
