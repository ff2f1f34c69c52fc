//! Why an objective is unknown that hangs on what the program does not determine: each reason in its
//! own words, with the place in the source where it arose.

use crate::common::{Workplace, figures, rows};

/// What `gen -c dc` says of the function `f` of a file: the lines below the table, and the reasons in
/// the JSON.
fn reasons_of(text: &str, figures_of_f: [u64; 5]) -> (Vec<String>, Vec<(String, u64)>) {
    let place = Workplace::with(text);
    let ran = place.done("gen unit.c --function f -c dc --no-proofs --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "f", "dc"), figures_of_f, "{ran}");
    let lines = ran.out.lines().filter_map(|line| line.strip_prefix("f dc: "));
    let lines = lines.filter(|line| line.contains(" unknown: "));
    let row = rows(&table, "f").into_iter().find(|row| row["criterion"] == "dc").expect("a row");
    let reasons = row["reasons"].as_array().into_iter().flatten();
    let reasons = reasons.map(|pair| {
        let [reason, count] = &pair.as_array().expect("a pair")[..] else { panic!("{row:#}") };
        (reason.as_str().expect("a text").to_owned(), count.as_u64().expect("a count"))
    });
    (lines.map(str::to_owned).collect(), reasons.collect())
}

/// Checks that one reason, the same in the table and in the JSON, is given for so many objectives.
#[track_caller]
fn is_unknown_since(text: &str, figures_of_f: [u64; 5], expected: &str) {
    let (lines, reasons) = reasons_of(text, figures_of_f);
    let count = figures_of_f[4];
    assert_eq!(lines, [format!("{count} unknown: {expected}")]);
    assert_eq!(reasons, [(expected.to_owned(), count)]);
}

#[test]
fn a_read_of_uninitialised_memory_is_the_reason_with_its_place() {
    let text = "int f(int a)
{
    int x;
    int known = a > 3;
    if (known)
        x = 1;
    int copy = x;
    if (a == 2)
        return 5;
    if (copy == 3)
        return 1;
    return 0;
}
";
    let expected = "depends on uninitialised memory, read at unit.c:7:5";
    is_unknown_since(text, [6, 5, 0, 0, 1], expected);
}

#[test]
fn a_read_of_an_uninitialised_element_of_an_array_is_the_reason_with_its_place() {
    let text = "int f(int a)
{
    char buffer[8];
    buffer[0] = 1;
    if (buffer[a & 7] == 3)
        return 1;
    return 0;
}
";
    let expected = "depends on uninitialised memory, read at unit.c:5:9";
    is_unknown_since(text, [2, 0, 0, 0, 2], expected);
}

#[test]
fn a_function_that_is_not_computed_exactly_is_the_reason_with_the_place_of_its_call() {
    let text = "#include <math.h>
int f(double x)
{
    double y = sin(x);
    if (y > 2)
        return 1;
    return 0;
}
";
    let expected = "depends on inexact mathematics, `sin` of more than a few values, \
                    called at unit.c:4:16";
    is_unknown_since(text, [2, 1, 0, 0, 1], expected);
}

#[test]
fn a_number_that_is_used_as_an_address_is_the_reason_with_the_place_of_its_use() {
    let text = "int f(unsigned long n)
{
    int *p = (int *)n;
    if (*p == 3)
        return 1;
    return 0;
}
";
    let expected = "depends on where objects lie, used at unit.c:4:9";
    let place = Workplace::with(text);
    let ran = place.run("gen unit.c -c dc --json t.json");
    assert!(ran.out.contains(&format!("f dc: 2 unknown: {expected}\n")), "{ran}");
    let table = place.json("t.json");
    assert_eq!(rows(&table, "f")[0]["reasons"], serde_json::json!([[expected, 2]]), "{table:#}");
}

/// Neither side is infeasible, and no test that does otherwise is an error of Lydian's.
#[test]
fn where_variables_of_the_program_lie_is_the_reason_with_the_place_of_its_use() {
    let order = "int low, high;
int f(void)
{
    if (&low < &high)
        return 1;
    return 0;
}
";
    let expected = "depends on where objects lie, used at unit.c:4:9";
    is_unknown_since(order, [2, 1, 0, 0, 1], expected);
    let distance = "int f(void)
{
    int a, b;
    return &a - &b == 12345 ? 1 : 0;
}
";
    let expected = "depends on where objects lie, used at unit.c:4:12";
    is_unknown_since(distance, [2, 1, 0, 0, 1], expected);
    let number = "int f(int n)
{
    int a = n;
    unsigned long k = (unsigned long)&a;
    if (k % 1048576 == 1048560)
        return 1;
    return *(int *)k == 7;
}
";
    let expected = "depends on where objects lie, used at unit.c:4:5";
    is_unknown_since(number, [2, 1, 0, 0, 1], expected);
}

#[test]
fn a_number_that_overlaps_a_part_of_a_pointer_depends_on_where_objects_lie() {
    let text = "struct pair { char *first, *second; };
int f(struct pair *p)
{
    if (!p)
        return 2;
    if (*(long *)((char *)p + 1) < 0)
        return 1;
    return 0;
}
";
    let expected = "depends on where objects lie, used at unit.c:6:9";
    is_unknown_since(text, [4, 3, 0, 0, 1], expected);
}

/// Neither is infeasible: mutants that read a part of a pointer, and one that looks at a record that no
/// path looks at.
#[test]
fn mutants_of_a_condition_that_have_no_value_give_their_reasons() {
    let text = "struct own { char flags; int *p; int *q; };
struct seen { int *h; int len; };
int f(struct seen *t)
{
    if (((struct own *)((char *)t - (sizeof(struct own) ^ 0)))->p)
        return 1;
    return 0;
}
";
    let ran = Workplace::with(text).done("gen unit.c -c stmt,wm");
    let part = "f wm: 6 unknown: depends on where objects lie, used at unit.c:5:9\n";
    let record = "f wm: 1 unknown: not supported: a record that only a predicate looks at\n";
    assert!(ran.out.contains(part) && ran.out.contains(record), "{ran}");
}

#[test]
fn a_hash_of_a_pointer_of_the_inputs_depends_on_where_objects_lie() {
    let text = "int f(int *p)
{
    if ((unsigned long)p % 1000003 == 5)
        return 1;
    return 0;
}
";
    let expected = "depends on where objects lie, used at unit.c:3:9";
    is_unknown_since(text, [2, 1, 0, 0, 1], expected);
}

/// Tests of it may lie elsewhere than the path supposes, which is no error.
#[test]
fn the_distance_of_pointers_to_two_objects_is_that_of_one_array_in_tests() {
    let text = "struct item { int a; char more[52]; };
struct list { struct item *items; int n; };
int f(struct item *item, struct list *list)
{
    int index = item - list->items;
    if (index + 1 < list->n)
        return 1;
    return 0;
}
";
    let place = Workplace::with(text);
    let ran = place.done("gen unit.c --function f -c stmt,dc,wm --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "f", "dc"), [2, 2, 0, 0, 0], "{ran}");
    let mut reasons = ran.out.lines().filter(|line| line.contains(" unknown: "));
    let expected = "depends on where objects lie, used at unit.c:5:5";
    assert!(reasons.all(|reason| reason.ends_with(expected)), "{ran}");
}

#[test]
fn what_is_compared_within_one_object_does_not_depend_on_where_that_lies() {
    let text = "int f(int n)
{
    int all[4];
    int *end = all + 4;
    for (int *p = all; p < end; p++)
        *p = n;
    if (all[3] != n)
        return 1;
    return end - all == 4 ? 2 : 3;
}
";
    let (lines, reasons) = reasons_of(text, [6, 4, 2, 0, 0]);
    assert_eq!((lines, reasons), (Vec::new(), Vec::new()));
}

#[test]
fn of_two_reasons_that_hold_each_is_named_with_its_place() {
    let text = "#include <math.h>
int f(int a, double x)
{
    int y;
    if (a > 3)
        y = 1;
    if (sin(x) > 2)
        return 3;
    if (y == 4)
        return 2;
    return 0;
}
";
    // What stands before the memory is read hangs on the function alone.
    let of_sine = "depends on inexact mathematics, `sin` of more than a few values, \
                   called at unit.c:7:9";
    let of_both = format!("depends on uninitialised memory, read at unit.c:9:9; {of_sine}");
    let (lines, _) = reasons_of(text, [6, 4, 0, 0, 2]);
    let expected = [of_sine, of_both.as_str()].map(|reason| format!("1 unknown: {reason}"));
    assert_eq!(lines, expected);
}

#[test]
fn what_inline_assembly_leaves_is_a_reason_of_its_own() {
    let text = "int f(int x)
{
    int y;
    __asm__(\"mov %1, %0\" : \"=r\"(y) : \"r\"(x));
    if (x > 3)
        return 1;
    if (y == 9)
        return 2;
    return 3;
}
";
    let expected = "depends on inline assembly, run at unit.c:4:5";
    is_unknown_since(text, [4, 3, 0, 0, 1], expected);
}

#[test]
fn a_mutant_that_only_a_very_long_string_shows_is_not_infeasible() {
    let place = Workplace::with(
        "#include <string.h>
int f(const char *s)
{
    size_t length = strlen(s);
    return length == 2000;
}
",
    );
    place.done("gen unit.c --function f -c wm --json t.json");
    let [all, covered, infeasible, _, unknown] = figures(&place.json("t.json"), "f", "wm");
    assert_eq!((covered + unknown, infeasible), (all, 0));
    assert!(unknown > 0);
    let reasons = rows(&place.json("t.json"), "f")[0]["reasons"].to_string();
    assert!(reasons.contains("how long a very long string is"), "{reasons}");
}

#[test]
fn what_only_a_call_after_one_with_a_very_long_string_covers_is_not_infeasible() {
    let text = "#include <string.h>
int f(const char *s)
{
    static int seen;
    if (seen == 3)
        return 1;
    if (strlen(s) > 7000)
        seen = 3;
    return 0;
}
";
    let expected = "depends on how long a very long string is, measured at unit.c:7:9";
    is_unknown_since(text, [4, 2, 0, 0, 2], expected);
}

#[test]
fn several_workers_name_the_same_reasons_as_one() {
    let text = "#include <math.h>
int f(int a, int b, double x)
{
    int y, z;
    if (a > 3)
        y = 1;
    for (int i = 0; i < (b & 7); i++)
        if (a == i * 3)
            z = 4;
    if (sin(x) > 2)
        return 3;
    if (y == 4 && z > 7)
        return 2;
    return 0;
}
";
    let place = Workplace::with(text);
    let said = |jobs: &str| {
        place.done(&format!("gen unit.c -c dc --fresh --jobs {jobs} --json t.json"));
        place.json("t.json")["functions"][0]["criteria"][0]["reasons"].clone()
    };
    let one = said("1");
    let reasons: Vec<&str> =
        one.as_array().expect("a list").iter().filter_map(|reason| reason[0].as_str()).collect();
    let names_both = |text: &&str| {
        text.contains("read at unit.c:12:9") && text.contains("called at unit.c:10:9")
    };
    assert!(reasons.iter().any(names_both), "{one}");
    assert_eq!(said("2"), one);
}

#[test]
fn the_end_of_a_run_is_not_claimed_behind_an_access_to_an_unknown_place() {
    let text = "struct row { const char *name; char letter; unsigned kind; void *more; };
unsigned mask = 255;
int walk(const struct row *row)
{
    int n = 0;
    for (; row->name || row->letter || row->more; row++) {
        switch (row->kind & mask) {
        case 4:
            if (row->more != 0)
                n += walk(row->more);
            break;
        case 5:
            n += 7;
            break;
        default:
            n++;
            break;
        }
    }
    return n;
}
";
    let place = Workplace::with(text);
    // A table that includes itself has no end. `done` fails on an internal error.
    let ran = place.done("gen unit.c -c stmt,bc,mcdc --time 4 --test-time 200 --json t.json");
    let [_, covered, _, _, _] = figures(&place.json("t.json"), "walk", "stmt");
    assert!(covered >= 9, "{ran}");
}

#[test]
fn a_callback_writes_in_its_test_what_it_wrote_on_the_path() {
    // It writes addresses of variables byte by byte, and a table also through a pointer to it.
    let text = "struct row;
typedef void (*action)(const char *text);
union value { void *any; action act; const struct row *rows; };
struct row { const char *name; char letter; unsigned kind; void *value; int number; const char *text; };
unsigned mask = 255;
struct row standard[6];
struct row *translated;
void run(const struct row *row)
{
    for (; row->name || row->letter || row->value; row++) {
        union value value = { .any = row->value };
        if (value.any)
            switch (row->kind & mask) {
            case 4:
                if (value.rows == standard)
                    value.rows = translated;
                run(value.rows);
                break;
            case 5:
                if (row->kind & 256)
                    break;
                value.act(row->text);
                break;
            }
    }
}
";
    let place = Workplace::with(text);
    for seed in [1, 3] {
        let ran = place.done(&format!(
            "gen unit.c -c stmt,bc,mcdc --function run --time 3 --seed {seed} --fresh --json t.json"
        ));
        let [_, covered, _, _, _] = figures(&place.json("t.json"), "run", "stmt");
        assert!(covered >= 9, "{ran}");
    }
}

#[test]
fn predicates_add_no_records_to_an_object_of_the_path() {
    // Mutants of `SIZE` lead to places behind the object, where each would find a record of its own.
    let text = "struct ctx { int level; };
struct dev { int n; struct ctx *ctx; };
struct inner { int a; struct dev *dev; int c; long d[3]; };
struct outer { unsigned kind; int x; void *more; };
#define SIZE ((sizeof(struct inner) + 7) & ~7ul)
#define TO_INNER(t) ((struct inner *)((unsigned char *)(t) - SIZE))
int f(struct inner *in)
{
    struct outer *out = (struct outer *)((unsigned char *)in + SIZE);
    if (out->kind == 3)
        return 2;
    if (TO_INNER(out)->dev)
        return TO_INNER(out)->dev->ctx != 0;
    return 1;
}
";
    let place = Workplace::with(text);
    place.done("gen unit.c -c wm --json t.json");
    let reasons = rows(&place.json("t.json"), "f")[0]["reasons"].to_string();
    assert!(reasons.contains("a record that only a predicate looks at"), "{reasons}");
}

#[test]
fn a_distance_to_a_pointer_that_nobody_follows_is_no_contradiction() {
    let text = "typedef struct value { long v; unsigned char tag; } value;
struct stack { value *top; value *last; };
struct frame { value *base; };
int grow(struct stack *s, int n);
void f(struct stack *s, struct frame *c, int n)
{
    int actual = (int)(s->top - c->base) - 1;
    if (s->last - s->top <= 3)
        grow(s, actual);
    *s->top++ = *c->base;
    for (int i = 1; i <= n; i++) {
        *s->top++ = c->base[i];
        c->base[i].tag = 0;
    }
}
";
    let place = Workplace::with(text);
    let ran = place.done("gen unit.c -c stmt,bc,mcdc --time 2");
    assert!(!ran.err.contains("contradiction"), "{ran}");
}
