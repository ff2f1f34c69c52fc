//! Proofs by value ranges, and a check that no run of random programs contradicts them.

use std::time::Duration;

use lydian_ir::interp::Options;
use lydian_objective::trace::Tracer;
use lydian_objective::{Criterion, LabelId};
use lydian_testkit::agreement::{Batch, Settings};
use lydian_testkit::cprogram::Features;
use lydian_testkit::oracle::Subject;
use rustc_hash::FxHashSet;

const TIME: Duration = Duration::from_secs(60);

/// The names and predicates of the labels of the last function that are proved infeasible.
fn proved(text: &str, criterion: Criterion) -> Vec<String> {
    let subject = Subject::read(text, &[criterion], false);
    let last = subject.objectives.len() - 1;
    let objectives = &subject.objectives[last];
    let label = |id: &LabelId| objectives.labels[*id].text.to_string();
    subject.proved_infeasible(last, TIME).iter().map(label).collect()
}

fn has(proved: &[String], text: &str) -> bool {
    proved.iter().any(|label| label == text)
}

#[test]
fn a_loop_counter_stays_between_its_start_and_its_limit() {
    let text = "int f(const int *a, int n)\n{\n    int sum = 0;\n    if (n > 9)\n        n = 9;\n    \
                for (int i = 0; i < n; i++)\n        sum += a[i];\n    return sum;\n}\n";
    let proved = proved(text, Criterion::Wm);
    let absolute = "(i < n) != ((i < 0 ? -i : i) < n)";
    assert!(has(&proved, absolute), "{proved:#?}");
    let next = "i + 1 != (i + 1 < 0 ? -(i + 1) : i + 1)";
    assert!(has(&proved, next), "{proved:#?}");
    assert!(!proved.iter().any(|label| label.contains("sum ^")), "a sum can be negative");
}

#[test]
fn a_loop_counter_below_any_limit_does_not_wrap() {
    let text = "int f(const char *s, int n)\n{\n    int i = 0;\n    while (i < n && s[i] != 0)\n        \
                i++;\n    return i;\n}\n";
    let proved = proved(text, Criterion::Wm);
    let next = "i + 1 != (i + 1 < 0 ? -(i + 1) : i + 1)";
    assert!(has(&proved, next), "{proved:#?}");
    assert!(!has(&proved, "i != (-i)"), "{proved:#?}");
}

#[test]
fn elements_at_equal_subscripts_are_equal() {
    let text = "int f(const char *s, int n)\n{\n    int sum = 0;\n    \
                for (int i = 0; i < n; i++)\n        sum = s[i] * 2;\n    return sum;\n}\n";
    let proved = proved(text, Criterion::Wm);
    let is_proved = |at: &str| proved.iter().any(|label| label.contains(at));
    assert!(is_proved("s[i < 0 ? -i : i]"), "{proved:#?}");
    assert!(!is_proved("s[-i]"), "{proved:#?}");
}

/// The predicates of the labels of the last function that are infeasible only where its first parameter
/// points to the first element of an object.
fn proved_assuming_start(text: &str) -> Vec<String> {
    let subject = Subject::read(text, &[Criterion::Wm], false);
    let last = subject.objectives.len() - 1;
    let labels = &subject.objectives[last].labels;
    let without = subject.proved_infeasible(last, TIME);
    let mut proved = subject.proved_assuming_starts(last, TIME, &[0]);
    proved.retain(|label| !without.contains(label));
    proved.into_iter().map(|label| labels[label].text.to_string()).collect()
}

#[test]
fn what_only_a_mutant_reads_before_an_array_has_no_value_where_nothing_lies_there() {
    let text = "int f(const char *s, int n)\n{\n    int sum = 0;\n    \
                for (int i = 0; i < n; i++)\n        sum = s[i] * 2;\n    return sum;\n}\n";
    let proved = proved_assuming_start(text);
    assert!(proved.iter().all(|label| label.contains("s[")), "{proved:#?}");
    for mutant in ["-i", "~i", "-(i < 0 ? -i : i)"] {
        let at = format!("s[{mutant}]");
        assert!(proved.iter().any(|label| label.contains(&at)), "{at}: {proved:#?}");
    }
    assert!(!proved.iter().any(|label| label.contains("s[i - 1]")), "i can be 1");
}

#[test]
fn what_the_program_reads_before_an_array_excludes_nothing() {
    let text = "int f(const char *s, int i)\n{\n    return s[i] * 2;\n}\n";
    let proved = proved_assuming_start(text);
    let absolute = |label: &String| label.contains("s[i < 0 ? -i : i]");
    assert!(!proved.iter().any(absolute), "i can be negative: {proved:#?}");
    let text = "int f(const char *s, int n)\n{\n    int sum = 0;\n    \
                for (int i = 0; i < n; i++)\n        sum = *s++ * 2;\n    return sum - s[-n];\n}\n";
    assert_eq!(proved_assuming_start(text), Vec::<String>::new(), "it is moved");
}

#[test]
fn a_register_that_a_decision_does_not_change_is_the_same_in_all_of_its_conditions() {
    let text = "int g(int);\nint f(int n, int m)\n{\n    \
                return n < m && g(n) > 0 && n >= m;\n}\n";
    let kept = proved(text, Criterion::Mcc);
    assert!(has(&kept, "(n < m) && (g(n) > 0) && (n >= m)"), "{kept:#?}");
    let text = "int g(int);\nint f(int n, int m)\n{\n    \
                return n < m && g(n++) > 0 && n >= m;\n}\n";
    let changed = proved(text, Criterion::Mcc);
    assert!(!has(&changed, "(n < m) && (g(n++) > 0) && (n >= m)"), "{changed:#?}");
}

#[test]
fn memory_that_is_read_twice_is_the_same_both_times() {
    let text = "struct s { unsigned most, used; };\n\
                int f(const struct s *p, unsigned n, unsigned left)\n{\n    if (p->used < 5) {\n        \
                unsigned used = p->used;\n        if (used < 9)\n            return 2;\n    }\n    \
                unsigned block = n > p->most ? p->most : n;\n    if (left >= block)\n        \
                return 0;\n    if (left <= n)\n        return 1;\n    return 3;\n}\n";
    let proved = proved(text, Criterion::Cc);
    assert_eq!(proved, ["!(used < 9)", "!(left <= n)"]);
}

#[test]
fn memory_that_may_change_between_two_reads_can_be_anything_the_second_time() {
    let with = |parameters: &str, between: &str| {
        let text = format!(
            "struct s {{ unsigned used; struct s *next; }};\nvoid touch(void);\n\
             unsigned other;\nint f({parameters})\n{{\n    if (p->used > 4)\n        return 0;\n    \
             {between}\n    unsigned used = p->used;\n    if (used < 9)\n        return 1;\n    \
             return 2;\n}}\n"
        );
        has(&proved(&text, Criterion::Cc), "!(used < 9)")
    };
    let plain = "struct s *p, unsigned *q";
    for between in ["", "unsigned n = *q; if (n > 7) return 3;", "q++;"] {
        assert!(with(plain, between), "{between}");
    }
    for between in [
        "*q = 12;",
        "other = 12;",
        "touch();",
        "p++;",
        "p = p->next;",
        "struct s one = {12, 0}; *p = one;",
        "for (; *q; q++) p->used++;",
        "p->used += *q;",
    ] {
        assert!(!with(plain, between), "{between}");
    }
    assert!(!with("volatile struct s *p, unsigned *q", ""));
}

#[test]
fn a_call_gives_what_its_callee_returns() {
    let text = "static int kind(unsigned char c)\n{\n    if (c < 128)\n        return 0;\n    \
                return c < 192 ? -1 : 2;\n}\n\
                int f(unsigned char c)\n{\n    int k = kind(c);\n    if (k > 2)\n        return 9;\n    \
                if (k < 0)\n        return k;\n    return k == 1 || k < 3;\n}\n";
    let proved = proved(text, Criterion::Cc);
    assert!(has(&proved, "k > 2"), "{proved:#?}");
    assert!(has(&proved, "!(k < 3)"), "{proved:#?}");
    assert!(!has(&proved, "k == 1"), "an interval has no gaps: {proved:#?}");
}

#[test]
fn what_a_test_says_of_a_copy_it_says_of_the_original() {
    let text = "int f(const char *s)\n{\n    int faults = 0;\n    for (; *s; s++)\n        \
                if (*s == 'x' && faults++ > 0)\n            return -1;\n    return faults;\n}\n";
    let proved = proved(text, Criterion::Wm);
    let negative = "faults != (faults < 0 ? -faults : faults)";
    assert!(has(&proved, negative), "{proved:#?}");
}

#[test]
fn a_loop_counter_is_never_above_a_limit_that_is_not_negative() {
    let text = "int f(const char *s, unsigned n, int m)\n{\n    int sum = 0;\n    \
                for (unsigned i = 0; i < n; i++)\n        sum += s[i];\n    \
                for (int j = 0; j < m; j++)\n        sum -= s[j];\n    if (m < 0)\n        \
                return sum;\n    for (int k = 0; k < m; k++)\n        sum *= s[k];\n    \
                return sum;\n}\n";
    let proved = proved(text, Criterion::Wm);
    assert!(has(&proved, "(i < n) != (i != n)"), "{proved:#?}");
    assert!(has(&proved, "(k < m) != (k != m)"), "{proved:#?}");
    assert!(!has(&proved, "(j < m) != (j != m)"), "m can be negative: {proved:#?}");
}

#[test]
fn a_pointer_that_goes_up_to_another_one_is_never_beyond_it() {
    let text = "int f(const char *p, const char *end)\n{\n    int sum = 0;\n    if (p > end)\n        \
                return 0;\n    for (; p < end; p++)\n        sum += *p;\n    return sum;\n}\n\n\
                int g(const char *p, const char *end)\n{\n    int sum = 0;\n    if (p > end)\n        \
                return 0;\n    for (; p < end; p += 2)\n        sum += *p;\n    return sum;\n}\n";
    let subject = Subject::read(text, &[Criterion::Wm], false);
    let is_proved = |function: usize| {
        let labels = &subject.objectives[function].labels;
        let mut proved = subject.proved_infeasible(function, TIME).into_iter();
        proved.any(|label| &*labels[label].text == "(p < end) != (p != end)")
    };
    assert!(is_proved(0));
    assert!(!is_proved(1), "steps of two may go beyond it");
}

#[test]
fn what_a_call_gave_says_what_its_argument_was() {
    let text = "static int following(unsigned char c)\n{\n    if (c < 0xC0)\n        return 0;\n    \
                return c < 0xE0 ? 1 : 2;\n}\n\
                int f(unsigned char c)\n{\n    int n = following(c);\n    if (n != 1)\n        \
                return 0;\n    if (c < 0x90)\n        return 1;\n    c++;\n    \
                return c > 0xE0 ? 2 : 3;\n}\n";
    let proved = proved(text, Criterion::Cc);
    assert!(has(&proved, "c < 0x90"), "{proved:#?}");
    assert!(!has(&proved, "!(c < 0x90)"), "{proved:#?}");
    assert!(!has(&proved, "c > 0xE0"), "nothing is known of what c became: {proved:#?}");
}

#[test]
fn a_lead_byte_says_which_of_its_bits_its_length_leaves() {
    let text = "static int following(unsigned char c)\n{\n    if (c < 0xC0)\n        return -1;\n    \
                if (c < 0xE0)\n        return 1;\n    if (c < 0xF0)\n        return 2;\n    return -2;\n}\n\
                int f(const unsigned char *s)\n{\n    unsigned char lead = *s;\n    \
                int n = following(lead);\n    if (n < 0)\n        return n;\n    \
                return lead & (0x3Fu >> n);\n}\n";
    let proved = proved(text, Criterion::Wm);
    let less = "(lead & (0x3Fu >> n)) != (lead & (0x3Fu >> (n - 1)))";
    assert!(has(&proved, less), "{proved:#?}");
    assert!(!has(&proved, "(lead & (0x3Fu >> n)) != (lead & (0x3Fu >> (n + 1)))"));
}

#[test]
fn a_condition_with_an_effect_is_judged_on_the_state_at_its_branch() {
    let text = "int f(const char *s)\n{\n    int faults = 0;\n    for (; *s; s++)\n        \
                if (*s == 'x') {\n            if (faults++ > 0)\n                return -1;\n        }\n    \
                return faults;\n}\n";
    let proved = proved(text, Criterion::Wm);
    assert!(has(&proved, "(faults++ > 0) != (faults++ != 0)"), "{proved:#?}");
    assert!(!has(&proved, "(faults++ > 0) != (faults++ >= 0)"), "{proved:#?}");
}

#[test]
fn a_subscript_that_was_read_with_is_one_that_the_variable_has() {
    let with = |items: &str, between: &str, parameter: &str| {
        let text = format!(
            "struct item {{ int kind, more; }};\n{items}\n\
             int f({parameter} first, struct item *other)\n{{\n    \
             const struct item *item = &items[first];\n    {between}\n    \
             if (first < 0)\n        return 1;\n    return first > 2 ? 2 : 3;\n}}\n"
        );
        let proved = proved(&text, Criterion::Cc);
        (has(&proved, "first < 0"), has(&proved, "first > 2"))
    };
    let own = "static struct item items[3];";
    for read in [
        "if (item->kind) return 0;",
        "if (item->more) return 0;",
        "if (items[first].kind) return 0;",
        "int kind = item->kind; other->more = kind;",
        "items[first].more = 1;",
        "if (item[1].kind + other->kind) return 0; if (item[0].more) return 0;",
    ] {
        assert_eq!(with(own, read, "int"), (true, true), "{read}");
        assert_eq!(with(own, read, "long"), (false, false), "it may wrap: {read}");
        assert_eq!(with("struct item items[3] = {{0, 1}};", read, "int"), (true, true), "{read}");
    }
    for nothing in [
        "",
        "if (other->kind) return 0;",
        "if (other->kind && item->kind) return 0;",
        "first++; if (item->kind) return 0;",
        "if (item->kind) return 0; first += other->kind;",
        "item = other; if (item->kind) return 0;",
        "item++; item = other - first; if (item->kind) return 0;",
        "if (item[other->more].kind) return 0;",
    ] {
        assert_eq!(with(own, nothing, "int"), (false, false), "{nothing}");
    }
    let read = "if (item->kind) return 0;";
    for elsewhere in [
        "extern struct item items[3];",
        "extern struct item items[];",
        "__attribute__((weak)) struct item items[3];",
        "extern struct item *items;",
    ] {
        assert_eq!(with(elsewhere, read, "int"), (false, false), "{elsewhere}");
    }
    let longer = with("static struct item items[4];", read, "int");
    assert_eq!(longer, (true, false), "3 is a subscript, too");
}

#[test]
fn a_subscript_of_a_local_array_is_one_that_it_has_behind_a_write() {
    let text = "int f(unsigned char n, int m)\n{\n    int seen[8] = {0};\n    \
                seen[n & 15] = 1;\n    unsigned k = n & 15;\n    seen[k] = 2;\n    \
                if (k > 7)\n        return seen[0];\n    if (m == 3)\n        seen[m - 4] = 1;\n    \
                return m == 3;\n}\n";
    let proved = proved(text, Criterion::Cc);
    assert!(has(&proved, "k > 7"), "{proved:#?}");
    assert!(!has(&proved, "m == 3"), "the test before the write is passed: {proved:#?}");
}

/// The predicates of the labels of the last function that are infeasible only where no object of the
/// inputs is large.
fn proved_assuming_small_objects(text: &str) -> Vec<String> {
    let subject = Subject::read(text, &[Criterion::Wm, Criterion::Cc], false);
    let last = subject.objectives.len() - 1;
    let labels = &subject.objectives[last].labels;
    let without = subject.proved_infeasible(last, TIME);
    let mut proved = subject.proved_assuming_small_objects(last, TIME);
    assert!(without.iter().all(|label| proved.contains(label)), "it assumes more");
    proved.retain(|label| !without.contains(label));
    proved.into_iter().map(|label| labels[label].text.to_string()).collect()
}

#[test]
fn a_subscript_of_a_small_object_is_not_the_least_number() {
    let text = "int f(const char *s, int at, int n)\n{\n    \
                return at < n && s[at] == 'x';\n}\n";
    let proved = proved_assuming_small_objects(text);
    assert!(has(&proved, "((at < n) != (at - 1 < n)) && (s[at] == 'x')"), "{proved:#?}");
    assert!(!has(&proved, "((at < n) != (at + 1 < n)) && (s[at] == 'x')"), "{proved:#?}");
    let called = "int g(char);\nstruct r { int size; char line[2]; };\n\
                  int f(const struct r *r, int at, int n)\n{\n    \
                  return at < n && g(r->line[at]);\n}\n";
    let proved = proved_assuming_small_objects(called);
    assert!(has(&proved, "((at < n) != (at - 1 < n)) && (g(r->line[at]))"), "{proved:#?}");
}

#[test]
fn a_subscript_that_no_small_object_excludes_is_not_excluded() {
    for text in [
        // It is not read there.
        "int f(const char *s, int at)\n{\n    return at - 1 > at;\n}\n",
        // It is read on one of two ways.
        "int f(const char *s, int at)\n{\n    if (*s)\n        at += s[at];\n    \
         return at - 1 > at;\n}\n",
        // The parameter may point anywhere by then.
        "int f(const char *s, int at)\n{\n    s += *s;\n    s = (const char *)0 + at;\n    \
         if (s[at])\n        return 0;\n    return at - 1 > at;\n}\n",
        // Objects of the program can be of any size.
        "extern char *all;\nint f(int at)\n{\n    if (all[at])\n        return 0;\n    \
         return at - 1 > at;\n}\n",
    ] {
        assert_eq!(proved_assuming_small_objects(text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn an_unsigned_number_lies_between_what_two_tests_say() {
    let with = |ty: &str, before: &str| {
        let text = format!(
            "struct h {{ {ty} version; int more; }};\nvoid touch(struct h *);\n\
             int f(struct h *h, {ty} v)\n{{\n    if (v < 1 || v > 2)\n        return 0;\n    \
             if (h->version == 0 || h->version > 2)\n        return 1;\n    {before}\n    \
             if (v <= 1)\n        return 2;\n    if (v >= 3)\n        return 3;\n    \
             return h->version <= 1 ? 4 : 5;\n}}\n"
        );
        let proved = proved(&text, Criterion::Wm);
        let of_register = has(&proved, "(v <= 1) != (v == 1)");
        let of_memory = has(&proved, "(h->version <= 1) != (h->version == 1)");
        (of_register, of_memory)
    };
    for ty in ["unsigned char", "unsigned short", "unsigned", "unsigned long"] {
        assert_eq!(with(ty, ""), (true, true), "{ty}");
        assert!(!with(ty, "v -= h->version;").0, "{ty}");
        assert!(!with(ty, "v--;").0, "{ty}");
        for write in ["touch(h);", "h->version--;", "h++;", "h->more = 7;"] {
            assert_eq!(with(ty, write), (true, false), "{ty} {write}");
        }
    }
    for ty in ["signed char", "int"] {
        assert_eq!(with(ty, ""), (true, false), "{ty}");
    }
}

/// The conditions of `int f(struct s *p, struct s *q, int i)` with this body that are proved never to
/// come out so.
fn proved_of_pointers(body: &str) -> Vec<String> {
    let text = format!(
        "#include <stddef.h>\n#include <string.h>\n\
         struct s {{ int n; char name[8]; struct s *next; }};\nvoid touch(void);\n\
         extern int absent __attribute__((weak));\n\
         static char *name_of(struct s *p) {{ return p->name; }}\n\
         static struct s *behind(struct s *p) {{ return p + 1; }}\n\
         static struct s *some(struct s *p) {{ static struct s own; return p ? p : &own; }}\n\
         static void *private_of(struct s *p) {{\n\
             return (char *)p + ((sizeof *p + (16 - 1)) & ~(sizeof(int) - 1)); }}\n\
         static void reset(struct s *p, int n) {{ if (n > 3) p->n = n; else p->next = p; }}\n\
         static void reset_some(struct s *p, int n) {{ if (n > 3) p->n = n; }}\n\
         static void moved(struct s *p) {{ p->n = 1; p = p->next; }}\n\
         static struct s *next_of(struct s *p) {{ return p->next; }}\n\
         int f(struct s *p, struct s *q, int i)\n{{\n    {body}\n    return 0;\n}}\n"
    );
    proved(&text, Criterion::Cc)
}

#[test]
fn a_pointer_is_not_null_behind_an_access_by_way_of_it() {
    for before in [
        "p->n = 1;",
        "int n = p->n; if (n == 3) return 1;",
        "p[i].n = 1;",
        "p[i].name[2] = 1;",
        "if (!p) return 1;",
        "if (p == NULL) return 1; touch();",
        "q = &p[i]; q->n = 2;",
        "q = p; if (q == NULL) return 1;",
        "i = strlen(p->name);",
        "i = strcmp(q->name, (char *)p);",
        "struct s one = *q; if (one.next == p) return 1; p = &one;",
        "if (!q) return 1; p = q + 1;",
        "p = some(q);",
        "p->next = q; q = NULL;",
        "if (q == NULL || p != q) return 1;",
        "while (p->n) p = &p[1];",
    ] {
        let proved = proved_of_pointers(&format!("{before} if (p) return 7;"));
        assert!(has(&proved, "!p"), "{before}: {proved:#?}");
    }
}

#[test]
fn a_pointer_that_a_call_made_of_another_one_is_null_only_with_it() {
    for before in [
        "*name_of(p) = 1;",
        "q = behind(p); q->n = 1;",
        "int *n = private_of(p); *n = 3;",
        "reset(p, i);",
        "reset(q, i); p = q;",
    ] {
        let proved = proved_of_pointers(&format!("{before} if (p) return 7;"));
        assert!(has(&proved, "!p"), "{before}: {proved:#?}");
    }
    let proved = proved_of_pointers("p->n = 1; q = behind(p); if (q) return 7;");
    assert!(has(&proved, "!q"), "{proved:#?}");
}

#[test]
fn memory_that_holds_a_pointer_keeps_it_until_it_may_change() {
    let with = |between: &str| {
        let body = format!("if (!p->next) return 1; {between} if (p->next) return 7;");
        has(&proved_of_pointers(&body), "!p->next")
    };
    for between in ["", "q = p->next;", "i = p->next->n;"] {
        assert!(with(between), "{between}");
    }
    for between in ["touch();", "p = q;", "q->next = NULL;", "p++;", "p = p->next;"] {
        assert!(!with(between), "{between}");
    }
}

#[test]
fn a_pointer_that_nothing_was_accessed_by_may_be_null() {
    for before in [
        "",
        "q->n = 1;",
        "p = q->next;",
        "if (p) p->n = 1;",
        "if (i) p->n = 1;",
        "q = p; q = q->next; touch(); p = q;",
        "p->n = 1; p = q;",
        "p->n = 1; p = p->next;",
        "p = next_of(q);",
        "reset_some(p, i);",
        "reset(q, i); p = q->next;",
        "moved(p);",
        "memcpy(p, q, (size_t)i);",
        "i = strncmp(p->name, q->name, (size_t)i);",
        "p = (struct s *)&absent;",
        "if (p == q) return 1;",
        "i = (int)sizeof p->name;",
        "q = (struct s *)&p->next; if (!q) return 1;",
    ] {
        let proved = proved_of_pointers(&format!("{before} if (p) return 7;"));
        assert!(!has(&proved, "!p"), "{before}: {proved:#?}");
    }
}

#[test]
fn numbers_that_wrap_can_be_anything() {
    let text = "int f(int n)\n{\n    int i = 0;\n    while (n-- != 0)\n        i++;\n    \
                unsigned char c = (unsigned char)(i + 200);\n    if (i < 0 || c > 100)\n        \
                return 1;\n    return 0;\n}\n";
    assert_eq!(proved(text, Criterion::Cc), Vec::<String>::new());
}

#[test]
fn no_run_of_random_programs_covers_what_is_proved_infeasible() {
    let settings = Settings { cases: 6, tests: 12, ..Settings::default() };
    let (mut excluded, mut passed) = (0, 0);
    for first in [0, 500, 90_000] {
        let batch = Batch::new(first, &settings, Features::All, false);
        let subject = &batch.subject;
        let tracer = Tracer::new(&subject.program, &subject.objectives, false);
        let mut covered: Vec<FxHashSet<LabelId>> =
            vec![FxHashSet::default(); subject.objectives.len()];
        let mut rng = lydian_base::Rng::new(first ^ 0x5eed);
        for case in &batch.cases {
            for _ in 0..settings.tests {
                let test = case.test(&case.arguments(&mut rng));
                let options = Options { max_steps: 20_000, ..Options::default() };
                let (trace, _) = tracer.run(&test, &options).expect("tests suit their program");
                for event in &trace.events {
                    let of =
                        |one: &lydian_objective::FunctionObjectives| one.function == event.function;
                    let index = subject.objectives.iter().position(of).expect("it is annotated");
                    covered[index].extend(&event.labels);
                }
            }
        }
        for (index, covered) in covered.iter().enumerate() {
            // No object of these tests is large.
            let proved = subject.proved_assuming_small_objects(index, TIME);
            for label in &proved {
                assert!(!covered.contains(label), "{}", subject.describe(index, *label));
            }
            excluded += proved.len();
            passed += covered.len();
        }
    }
    assert!(excluded > 100 && passed > 1_000, "{excluded} labels are proved, {passed} covered");
}
