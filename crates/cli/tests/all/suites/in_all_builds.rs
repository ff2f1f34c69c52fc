//! Suites compile and pass under gcc and clang, optimised and not, and under sanitizers.

use std::process::Command;

use crate::common::{Ran, Workplace, figures};

const BUILDS: [&str; 6] = [
    "gcc -O0",
    "gcc -O2",
    "gcc -O1 -fsanitize=address,undefined",
    "clang-19 -O0",
    "clang-19 -O2",
    "clang-19 -O1 -fsanitize=address,undefined",
];

/// Makes a suite and runs it in all builds. Compilers may warn of the source, not of the suite.
pub(super) fn passes_everywhere(place: &Workplace, flags: &str) {
    place.done(&format!("gen unit.c --time 2 -- {flags}"));
    for build in BUILDS {
        let compile = format!("{build} {flags} -Wall -Wextra tests/tests.c -o suite 2> said");
        let compile = format!("{compile} && ASAN_OPTIONS=detect_leaks=0 ./suite && ./suite");
        let mut shell = Command::new("sh");
        shell.args(["-c", &compile]);
        place.settle(&mut shell);
        let ran = Ran::of(&mut shell);
        let said = place.read("said");
        assert_eq!(ran.code, Some(0), "{compile}\n{said}\n{ran}\n{}", place.read("tests/tests.c"));
        let theirs = |line: &&str| line.starts_with("tests/tests.c:") || line.contains("lydian.h:");
        let warnings: Vec<&str> =
            said.lines().filter(theirs).filter(|line| line.contains("warning")).collect();
        assert!(warnings.is_empty(), "{compile}: {warnings:?}");
    }
}

/// Functions without types, `return` without a value, numbers for pointers, undeclared functions.
const BEFORE_C99: &str = "\
#include <stdio.h>
char *malloc();
int counter;
f(x) int x; { if (x > 3) return; return x * 2; }
char *next() { return counter++; }
g(n, s) char *s; { int i; for (i = 0; i < n; i++) if (s[i] == 'x') break; h(i); }
h(i) { counter = i; if (i > 5) return 7; }
struct node { struct node *next; int v; };
struct node *make(v) int v;
{
    struct node *p = (struct node *)malloc(sizeof *p);
    if (!p) return 0;
    p->v = v;
    p->next = 0;
    return p;
}
int outside(a) int a; { if (a == 3) return not_declared(a); return toupper(a) + strlen(\"abc\"); }
main(argc, argv) int argc; char *argv[];
{
    if (argc < 4) { printf(\"usage\\n\"); return; }
    printf(\"%d\\n\", argc);
}
";

#[test]
fn c_of_before_1999_is_taken_as_compilers_take_it() {
    let lax = "-Wno-implicit-int -Wno-implicit-function-declaration -Wno-int-conversion";
    let lax = format!("{lax} -Wno-return-mismatch -Wno-return-type");
    for standard in ["-std=gnu89", "-std=c90", "-std=gnu17"] {
        let place = Workplace::with(BEFORE_C99);
        passes_everywhere(&place, &format!("{standard} {lax}"));
        let suite = place.read("tests/tests.c");
        // What falls off its end has no result, nor has a `main` that returns none.
        for call in ["f(4)", "h(0)", "main(0, NULL)"] {
            assert!(suite.contains(&format!("(void){call};")), "{call}\n{suite}");
        }
        let end = suite.contains("CHECK_INT(main(4, NULL), 0)");
        assert_eq!(end, standard == "-std=gnu17", "{standard}\n{suite}");
    }
}

#[test]
fn an_undeclared_allocator_returns_pointers() {
    let place = Workplace::with(
        "struct s { int v; };\nstruct s *make(int v)\n{\n    struct s *made = \
         malloc(sizeof *made);\n    if (!made) return 0;\n    made->v = v;\n    return made;\n}\n",
    );
    let flags = "-w -Wno-implicit-function-declaration -Wno-int-conversion";
    passes_everywhere(&place, flags);
    place.done(&format!("gen unit.c --fresh --json out.json -- {flags}"));
    let [objectives, covered, ..] = figures(&place.json("out.json"), "make", "stmt");
    assert_eq!((objectives, covered), (5, 5));
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("FAILS(malloc, 1);"), "{suite}");
}

#[test]
fn calls_that_a_compiler_replaces_are_counted() {
    let place = Workplace::with(
        "#include <stdio.h>\nvoid report(int x) { if (x) printf(\"yes\\n\"); else fprintf(stderr, \
         \"no\"); }\nstruct log { int (*printf)(const char *, ...); };\nint log_it(struct log *l)\n{\n    \
         if (l->printf) return l->printf(\"%d\", 1);\n    return 0;\n}\nint say(const char *, ...) \
         __attribute__((format(printf, 1, 2)));\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    for call in ["CHECK_CALLS(printf, 1);", "CHECK_CALLS(fprintf, 1);"] {
        assert!(suite.contains(call), "{suite}");
    }
}

#[test]
fn a_main_that_ends_without_a_result_returns_zero() {
    let place = Workplace::with(
        "struct phase { int main; };\nint main(int argc, char **argv)\n{\n    struct phase p = { argc \
         };\n    (void)argv;\n    if (p.main > 3)\n        return 2;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("CHECK_INT(main(0, NULL), 0);"), "{suite}");
}

#[test]
fn a_result_that_is_declared_to_be_new_memory_may_be_one_of_the_test() {
    let place = Workplace::with(
        "#include <stdio.h>\n#include <stdlib.h>\nstruct file { FILE *fp; };\nstruct file \
         *open_it(const char *name)\n{\n    struct file *made = malloc(sizeof *made);\n    if (!made) \
         exit(1);\n    made->fp = fopen(name, \"r\");\n    if (!made->fp) exit(2);\n    return \
         made;\n}\nint numbers(void)\n{\n    int a, b;\n    if (scanf(\"%d %d\", &a, &b) != 2) return \
         -1;\n    return a > b;\n}\n",
    );
    passes_everywhere(&place, "");
}

#[test]
fn a_text_is_an_array_of_characters() {
    let place = Workplace::with(
        "int length(char *s) { int n = 0; while (*s++) n++; return n > 1 ? n : -1; }\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("char s[] = \"\";") && !suite.contains("char s = 0"), "{suite}");
}

#[test]
fn what_was_computed_from_memory_that_nobody_wrote_is_not_asserted() {
    let place = Workplace::with(
        "#include <stdlib.h>\nvoid coder(short *s, short *out);\nint last;\nstruct s { int code, kind; \
         };\nstruct s *encode(short *s, unsigned char *c)\n{\n    short made[8];\n    struct s *result = \
         malloc(sizeof *result);\n    coder(s, made);\n    if (!result) return result;\n    c[0] = 6 | \
         (made[0] & 3) << 4;\n    last = made[1];\n    result->code = made[2];\n    result->kind = 4;\n    \
         return result;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("CHECK_INT(result->kind, 4);"), "{suite}");
    assert!(!suite.contains("CHECK_UINT(c") && !suite.contains("CHECK_INT(last"), "{suite}");
    assert!(!suite.contains("CHECK_INT(result->code"), "{suite}");
}

#[test]
fn tests_of_callers_count_for_what_a_function_does_not_reach_by_itself() {
    let place = Workplace::with(
        "static int opens(const unsigned char *key)\n{\n    unsigned h = 5381;\n    for (int i = 0; i < 12; \
         i++)\n        for (unsigned turn = 0; turn < 40; turn++)\n            h = (h ^ (key[i] + turn)) * (h | \
         1) + (h >> 13) + 0x9e3779b9u;\n    if (h == 3738387486u)\n        return 1;\n    return \
         0;\n}\nint door(void)\n{\n    unsigned char key[12] = { 3 };\n    return opens(key);\n}\n",
    );
    place.done("gen unit.c -c stmt,bc --time 0.3 --json out.json");
    let table = place.json("out.json");
    for function in table["functions"].as_array().unwrap() {
        for objective in function["objectives"].as_array().unwrap() {
            let is_covered = objective["verdict"] == "covered";
            let has_tests = objective["tests"].as_array().is_some_and(|tests| !tests.is_empty());
            assert_eq!(is_covered, has_tests, "{objective:#}");
        }
    }
    let [objectives, covered, ..] = figures(&table, "opens", "bc");
    assert_eq!(objectives, covered, "{table:#}");
    let opened = &table["functions"][0]["objectives"];
    let by_door = |objective: &serde_json::Value| objective["tests"][0] == "door_line_13";
    assert!(opened.as_array().unwrap().iter().any(by_door), "{opened:#}");
}

const TOKENS: &str = "\
#include <ctype.h>
enum kind { END, NUMBER, PUNCT, ERROR };
struct token { enum kind kind; const char *start; long value; };
const char *next_token(const char *s, struct token *t)
{
    while (isspace((unsigned char)*s))
        s++;
    t->start = s;
    t->value = 0;
    if (!*s) {
        t->kind = END;
    } else if (isdigit((unsigned char)*s)) {
        t->kind = NUMBER;
        while (isdigit((unsigned char)*s))
            t->value = t->value * 10 + (*s++ - '0');
    } else if (*s == '+' || *s == '(' || *s == ')') {
        t->kind = PUNCT;
        s++;
    } else {
        t->kind = ERROR;
        s++;
    }
    return s;
}
";

#[test]
fn texts_are_short_and_end_and_pointers_into_them_are_checked_by_place() {
    let place = Workplace::with(TOKENS);
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    for line in [
        "    char s[] = \")\";\n",
        "    struct token t = { 0 };\n",
        "CHECK_PTR(next_token(s, &t), &s[1]);",
        "CHECK_INT(t.value, 0);",
    ] {
        assert!(suite.contains(line), "{line}\n{suite}");
    }
    assert!(!suite.contains("next_token(\""), "no literal has a known address\n{suite}");
    assert!(suite.contains("test_next_token_s_eq_plus("), "{suite}");
}

#[test]
fn conditions_with_macros_of_headers_are_shown_as_in_the_source() {
    let place = Workplace::with(TOKENS);
    place.done("gen unit.c --time 2");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("/* unit.c:6: !isspace((unsigned char)*s)\n"), "{suite}");
    assert!(!suite.contains("ctype_b_loc"), "{suite}");
}

#[test]
fn an_array_is_no_longer_than_the_number_that_says_so() {
    let place = Workplace::with(
        "#include <stdlib.h>\nstruct item { int weight; char name[8]; };\nstatic int by_weight(const void \
         *a, const void *b)\n{\n    const struct item *x = a, *y = b;\n    return (x->weight > y->weight) - \
         (x->weight < y->weight);\n}\nint heaviest(struct item *items, size_t n)\n{\n    if (n == 0) return \
         -1;\n    qsort(items, n, sizeof *items, by_weight);\n    if (n > 1 && items[n - 1].weight == items[n \
         - 2].weight) return -2;\n    return items[n - 1].weight;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("by_weight(&a, &b)"), "{suite}");
    assert!(suite.contains("struct item items[2] = { 0 };"), "{suite}");
    assert!(!suite.contains("static struct item items["), "{suite}");
}

#[test]
fn equal_texts_at_two_addresses_are_two_objects() {
    let place = Workplace::with(
        "int same(const char *s, const char *end)\n{\n    if (s == end)\n        return 1;\n    if (!*s && \
         !*end)\n        return 2;\n    return 0;\n}\n",
    );
    passes_everywhere(&place, "");
}

#[test]
fn values_of_environment_variables_stand_where_they_are_set() {
    let place = Workplace::with(
        "#include <stdlib.h>\nint f(void)\n{\n    const char *s = getenv(\"HOME\");\n    if (s && s[0] == \
         'q')\n        return 1;\n    return s ? 2 : 0;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("    lydian_setenv(\"HOME\", \"q\", 1);\n"), "{suite}");
    assert!(!suite.contains("getenv_gives"), "{suite}");
}

#[test]
fn memory_that_is_refused_for_its_size_is_told_to_fail() {
    let place = Workplace::with(
        "#include <stdlib.h>\nvoid *zeros(long n)\n{\n    char *p = calloc(1, n);\n    if (!p)\n        \
         return NULL;\n    p[0] = 1;\n    return p;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("FAILS(calloc, 1);"), "{suite}");
    assert!(!suite.contains("10737418"), "{suite}");
}

#[test]
fn bytes_that_are_copied_from_memory_that_nobody_wrote_have_no_oracle() {
    let place = Workplace::with(
        "#include <stdio.h>\n#include <stdlib.h>\nint load(FILE *in, unsigned char **out)\n{\n    unsigned \
         char *b;\n    if ((*out = malloc(1)) == NULL || (b = malloc(3)) == NULL)\n        return -1;\n    \
         int n = fread(b, 3, 1, in);\n    **out = *b;\n    free(b);\n    return n == 1 ? 0 : -2;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("CHECK_INT(load(NULL, &out), 0);\n    CHECK_NOT_NULL(out);"), "{suite}");
}

#[test]
fn an_address_in_the_place_of_numbers_has_no_oracle() {
    let place = Workplace::with(
        "int keep(int *a, int k)\n{\n    int *self = a;\n    if (k == 3) {\n        \
         __builtin_memcpy(a, &self, 8);\n        a[2] = 7;\n        return 1;\n    }\n    return 0;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("CHECK_INT(a[2], 7);"), "{suite}");
    assert!(!suite.contains("CHECK_INT(a[1], 32)"), "{suite}");
}

#[test]
fn what_a_function_writes_into_a_truth_value_is_one() {
    let place = Workplace::with(
        "#include <stdbool.h>\nvoid ask(int n, ...);\nint help(void)\n{\n    bool wanted = false;\n    \
         ask(1, &wanted);\n    if (!wanted)\n        return 0;\n    return 2;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains(".from = \"\\001\""), "{suite}");
}

#[test]
fn calls_are_counted_that_headers_make_of_others_where_compilers_optimise() {
    let place = Workplace::with(
        "#include <stdio.h>\nvoid show(int c)\n{\n    if (c == 3)\n        putchar('a');\n    putchar(c);\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("CHECK_CALLS(putchar, 2);"), "{suite}");
}

#[test]
fn functions_that_run_before_main_run_only_where_a_test_calls_them() {
    let place = Workplace::with(
        "#include <stdlib.h>\nstatic int table[4], ready;\nstatic char *memory;\n__attribute__((constructor)) \
         static void prepare(void)\n{\n    memory = malloc(4);\n    table[0] = 5;\n    ready = \
         1;\n}\n__attribute__((destructor)) static void release(void)\n{\n    free(memory);\n}\nint get(int \
         i)\n{\n    if (!ready)\n        return -1;\n    return table[i & 3];\n}\n",
    );
    passes_everywhere(&place, "");
    // A whole program begins with them.
    place.write(
        "run.c",
        "static int ready;\n__attribute__((constructor)) static void early(void)\n{\n    ready = 1;\n}\nint \
         main(int argc, char **argv)\n{\n    if (!ready)\n        return 7;\n    return argc > 2;\n}\n",
    );
    place.done("gen run.c --program -c stmt -o whole --time 2 --json whole.json");
    let [all, covered, infeasible, ..] = figures(&place.json("whole.json"), "main", "stmt");
    assert_eq!((all, covered + infeasible), (3, 3));
    assert_eq!(infeasible, 1);
}

#[test]
fn blocks_of_structs_with_a_flexible_member_are_filled_by_their_bytes() {
    let place = Workplace::with(include_str!("../../../../../examples/structures/hash_table.c"));
    passes_everywhere(&place, "");
}

#[test]
fn constants_of_other_files_are_set_before_a_function_reads_them() {
    let place = Workplace::with(
        "struct backend { int caps; int (*open)(int); int (*release)(int); };\nextern const struct backend \
         backend;\nextern const int limit;\nint release(int handle)\n{\n    if (backend.release)\n        return \
         backend.release(handle);\n    return -12;\n}\nint has(int kind)\n{\n    switch (kind) {\n    case 1:\n        \
         return backend.open != 0;\n    case 2:\n        return backend.caps & 1;\n    }\n    return limit > \
         3;\n}\n",
    );
    passes_everywhere(&place, "");
    assert!(place.read("tests/tests.c").contains("LYDIAN_OPAQUE(release)"));
}

#[test]
fn tests_that_read_beyond_a_table_are_undefined_wherever_they_read() {
    let place = Workplace::with(
        "static const int bits[8] = { 0, 0, 1, 1, 2, 2, 3, 3 };\nstatic const int symbols[300] = { 1, 2, 3 \
         };\nstatic int extra(int symbol)\n{\n    return bits[symbol - 257];\n}\nint cost(const unsigned short \
         *lengths)\n{\n    int sum = 0;\n    for (int i = 0; i < 2; i++)\n        sum += \
         extra(symbols[lengths[i]]);\n    return sum > 1 ? 1 : 0;\n}\n",
    );
    place.done("gen unit.c --time 2");
    let suite = place.read("tests/tests.c");
    let by_default = suite.split("#ifdef LYDIAN_RUN").next().unwrap_or_default();
    assert!(!by_default.contains("CHECK_INT(cost("), "{suite}");
}

#[test]
fn values_of_the_machine_are_not_asserted_and_contradict_nothing() {
    let place = Workplace::with(
        "static inline void cpuid(unsigned leaf, unsigned *a, unsigned *b)\n{\n    unsigned c, d;\n    __asm__ \
         volatile(\"cpuid\" : \"=a\"(*a), \"=b\"(*b), \"=c\"(c), \"=d\"(d) : \"a\"(leaf), \
         \"c\"(0));\n}\nunsigned features(unsigned leaf)\n{\n    unsigned all[4], sum = 0;\n    cpuid(leaf, all, \
         all + 1);\n    sum = all[0] ^ all[1];\n    return sum;\n}\nunsigned long control(unsigned \
         index)\n{\n    unsigned low, high;\n    __asm__ volatile(\".byte 0x0f, 0x01, 0xd0\" : \"=a\"(low), \
         \"=d\"(high) : \"c\"(index));\n    return low;\n}\nunsigned swapped(unsigned x)\n{\n    __asm__(\"bswap \
         %0\" : \"+r\"(x));\n    return x;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(!suite.contains("CHECK_UINT(features("), "{suite}");
    assert!(!suite.contains("CHECK_UINT(a,"), "{suite}");
    assert!(suite.contains("CHECK_UINT(swapped("), "{suite}");
}

#[test]
fn types_that_only_a_function_names_and_saved_registers_are_bytes() {
    let place = Workplace::with(
        "#include <setjmp.h>\njmp_buf *kept(void);\nint again(int x)\n{\n    if (setjmp(*kept()))\n        return \
         7;\n    return x > 3;\n}\nint sum(const void *bytes)\n{\n    struct words { unsigned short low, high; \
         };\n    typedef union { unsigned char c[4]; int all; } both;\n    const struct words *w = bytes;\n    const \
         both *b = bytes;\n    if (w->low == 3 && w->high > 7)\n        return b->all;\n    return w->low;\n}\n",
    );
    passes_everywhere(&place, "");
}

#[test]
fn bytes_that_a_struct_carries_along_without_a_value_have_no_oracle() {
    let place = Workplace::with(
        "union value { void *gc; int b; double n; };\nstruct tagged { union value value; int kind; \
         };\nstruct table { struct tagged *k; int n; };\nvoid *grow(void *p);\nstatic int add(struct table \
         *t, struct tagged *v)\n{\n    t->k[0] = *v;\n    return t->n;\n}\nint add_truth(struct table *t, int \
         b)\n{\n    struct tagged o;\n    o.value.b = b;\n    o.kind = 1;\n    return add(t, &o);\n}\nint \
         add_grown(struct table *t, int b)\n{\n    t->k = grow(t->k);\n    return add_truth(t, \
         b);\n}\nstruct tagged truth(int b)\n{\n    struct tagged o;\n    o.value.b = b;\n    o.kind = \
         1;\n    return o;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    let of_truth = suite.split("test_add_truth_line").nth(1).unwrap_or_default();
    assert!(of_truth.contains("CHECK_INT(k.kind, 1);"), "{suite}");
    assert!(!of_truth.contains("value.gc, NULL"), "{suite}");
}

#[test]
fn an_address_off_alignment_has_no_oracle() {
    let place = Workplace::with(
        "struct frame { void *code; long env; };\nint push(char *stack, void *code, long env)\n{\n    struct \
         frame f = { code, env };\n    __builtin_memcpy(stack + 4, &f, sizeof f);\n    stack[2] = 9;\n    \
         return *(int *)code == 3;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("CHECK_BYTES(stack + 2, \"\\t\", 1)"), "{suite}");
}

#[test]
fn what_is_computed_from_a_null_pointer_by_a_subscript_is_undefined() {
    let place = Workplace::with(
        "int ahead(const char *s, int length, int from)\n{\n    const char *p = s + from - 1;\n    if \
         (from > length)\n        return -1;\n    return p == 0 ? 1 : 2;\n}\n",
    );
    passes_everywhere(&place, "");
}

#[test]
fn large_objects_are_set_member_by_member() {
    let place = Workplace::with(
        "struct dictionary { char *text; char room[30000]; unsigned id; int has_tables; };\nunsigned \
         id_of(const struct dictionary *d)\n{\n    if (d == 0)\n        return 0;\n    return d->has_tables ? \
         d->id : 1;\n}\nint letter(const char *text)\n{\n    return text[40000] == 'x';\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("    d.id = 89;\n"), "{suite}");
    assert!(!suite.contains("\\000\\000\\000\\000"), "{suite}");
}

#[test]
fn variables_that_only_a_function_declares_can_be_set() {
    let place = Workplace::with(
        "struct heap { long cookie; int used; };\nextern __thread struct heap *own_heap;\nlong own(void)\n{\n    \
         return own_heap ? own_heap->cookie : 7;\n}\nlong hidden(long p)\n{\n    extern struct heap \
         main_heap;\n    extern const unsigned char table[4];\n    if (main_heap.used > 3)\n        return \
         table[2];\n    return p ^ main_heap.cookie;\n}\n",
    );
    passes_everywhere(&place, "");
}

#[test]
fn calls_write_nothing_to_a_block_whose_contents_are_lost() {
    let place = Workplace::with(
        "struct value { void *gc; int kind; };\nstruct proto { struct value *k; unsigned *code; int pc, n; \
         };\nvoid *grow(void *block, int *size);\nint emit(struct proto *p, int r)\n{\n    if (r) {\n        \
         p->k = (struct value *)grow(p->k, &p->n);\n        p->k[p->n & 3].kind = r;\n    }\n    p->code = \
         (unsigned *)grow(p->code, &p->n);\n    p->code[p->pc] = 7;\n    p->pc++;\n    p->code = (unsigned \
         *)grow(p->code, &p->n);\n    p->code[p->pc] = 8;\n    if (p->pc == 60)\n        return 2;\n    \
         return p->n > 4;\n}\n",
    );
    passes_everywhere(&place, "");
}

#[test]
fn a_record_stays_a_record_beside_an_array_that_may_be_the_same() {
    let place = Workplace::with(
        "struct entry { int kind, at; };\nstruct code { int *ops; int n; };\nint step(struct code *p, \
         struct entry *e)\n{\n    if (e->kind == 3) {\n        p->n++;\n        return 1;\n    }\n    return \
         e->at > 5 && p->ops[e->at] & 0x3f ? 2 : 0;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    assert!(suite.contains("struct entry e = { .at = 6 };"), "{suite}");
    assert!(!suite.contains("char e["), "{suite}");
}

#[test]
fn calls_that_c_orders_in_no_way_have_the_same_results() {
    let place = Workplace::with(
        "int get(int key);\nint last(void);\nint pair(int a, int b);\nstatic int tenfold(int a, int b)\n{\n    \
         return 10 * a + b;\n}\nint both(void)\n{\n    int sum = tenfold(get(1), get(2));\n    if (sum == \
         12)\n        return 1;\n    return sum > 50 ? last() - last() : 3;\n}\nint ordered(void)\n{\n    int a \
         = get(1), b = get(2);\n    return tenfold(a, b) == 12;\n}\n",
    );
    passes_everywhere(&place, "");
    let suite = place.read("tests/tests.c");
    let by_default = suite.split("#ifdef LYDIAN_RUN_UNDEFINED").next().unwrap_or_default();
    assert!(!by_default.contains("CHECK_INT(both(), 1);"), "{suite}");
    assert!(suite.contains("CHECK_INT(ordered(), 0);"), "{suite}");
}

#[test]
fn a_variable_called_alarm_is_the_programs_own() {
    let place = Workplace::with(
        "int alarm;\nint raise_alarm(int level)\n{\n    if (level > 3)\n        alarm = level;\n    return \
         alarm;\n}\n",
    );
    passes_everywhere(&place, "");
}
