//! Definitions and uses: pairs that were worked out by hand, and measured natively.

use lydian_ir::libc::{Family, MODELLED, UNMODELLED};
use lydian_objective::{Criterion, Hyper, SequenceId};

use crate::common::whole::{Measuring, run_of};

/// Those of a loop with an increment in its condition and two assignments.
const LOOP: &str = "
int f(int n) {
  int x = 0;
  while (n-- > 0) {
    if (x > 3)
      x = 1;
    else
      x += 2;
  }
  return x;
}
";

#[test]
fn the_pairs_of_a_loop_are_told_apart_by_the_last_definition() {
    let measuring = Measuring::of(LOOP, &[Criterion::AllUses]);
    let (covered, open) = measuring.covers(Criterion::AllUses, &[&[0]]);
    assert_eq!(
        covered,
        [
            "the parameter n reaches its use in line 4",
            "the parameter n reaches the condition in line 4, false",
            "x of `int x = 0` in line 3 reaches the return in line 10",
        ]
    );
    assert_eq!(open.len(), 15);
    // x takes the values 0, 2, 4, 1, 3, 5.
    let (covered, open) = measuring.covers(Criterion::AllUses, &[&[5]]);
    assert_eq!(covered.len(), 13);
    assert_eq!(
        open,
        [
            "the parameter n reaches the condition in line 4, false",
            "x of `int x = 0` in line 3 reaches the condition in line 5, true",
            "x of `x = 1` in line 6 reaches the condition in line 5, true",
            "x of `int x = 0` in line 3 reaches the return in line 10",
            "x of `x = 1` in line 6 reaches the return in line 10",
        ]
    );
}

#[test]
fn a_definition_is_covered_by_any_of_its_uses() {
    let measuring = Measuring::of(LOOP, &[Criterion::AllDefs]);
    let (covered, open) = measuring.covers(Criterion::AllDefs, &[&[1]]);
    assert_eq!(
        covered,
        [
            "the parameter n reaches a use",
            "n of `n--` in line 4 reaches a use",
            "x of `int x = 0` in line 3 reaches a use",
            "x of `x += 2` in line 8 reaches a use",
        ]
    );
    assert_eq!(open, ["x of `x = 1` in line 6 reaches a use"]);
}

#[test]
fn recursion_keeps_the_definitions_of_activations_apart() {
    let text = "
int f(int n) {
  int x = 1;
  if (n > 0) {
    x = f(n - 1);
  }
  return x;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses]);
    let (covered, open) = measuring.covers(Criterion::AllUses, &[&[1]]);
    assert_eq!(
        covered,
        [
            "the parameter n reaches the condition in line 4, false",
            "the parameter n reaches the condition in line 4, true",
            "the parameter n reaches its use in line 5",
            "x of `int x = 1` in line 3 reaches the return in line 7",
            "x of `x = f(n - 1)` in line 5 reaches the return in line 7",
        ]
    );
    assert_eq!(open, [""; 0]);
}

fn has(covered: &[String], text: &str) -> bool {
    covered.iter().any(|covered| covered == text)
}

#[test]
fn parts_of_arrays_and_structs_calls_that_write_and_switches_are_seen() {
    let text = "
struct point { int x, y; unsigned bits : 3; };
static void set(int *place, int value) { *place = value; }
static int get(const int *place) { return *place; }
int f(int n) {
  struct point p = {n, 2, 1};
  int a[4] = {0}, out;
  a[n & 3] = 5;
  p.bits++;
  set(&out, n);
  switch (out) {
    case 1:
      p.x = get(&out);
      break;
    default:
      a[0] = out ? p.bits : n;
  }
  for (int i = 0, j = 1; i < 2; i++)
    out += a[i] + j;
  return p.x + out;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses]);
    let (covered, _) = measuring.covers(Criterion::AllUses, &[&[1]]);
    assert!(has(
        &covered,
        "out of `set(&out, n)` in line 10 reaches the switch in line 11, case 1"
    ));
    assert!(has(
        &covered,
        "out of `set(&out, n)` in line 10 reaches its use in `get(&out)` in line 13"
    ));
    assert!(has(&covered, "p of `p.x = get(&out)` in line 13 reaches the return in line 20"));
    assert!(has(&covered, "a of `a[n & 3] = 5` in line 8 reaches its use in `a[i]` in line 19"));
    assert!(has(&covered, "i of `i++` in line 18 reaches the condition in line 18, true"));
    assert_eq!(covered.len(), 19, "{covered:#?}");
    let (covered, _) = measuring.covers(Criterion::AllUses, &[&[0]]);
    assert!(has(
        &covered,
        "out of `set(&out, n)` in line 10 reaches the switch in line 11, default"
    ));
    assert!(has(
        &covered,
        "out of `set(&out, n)` in line 10 reaches the condition in line 16, false"
    ));
    assert!(has(&covered, "the parameter n reaches its use in line 16"));
    assert!(has(
        &covered,
        "a of `a[0] = out ? p.bits : n` in line 16 reaches its use in `a[i]` in line 19"
    ));
    assert!(has(&covered, "p of `p.bits++` in line 9 reaches the return in line 20"));
    assert_eq!(covered.len(), 20, "{covered:#?}");
}

#[test]
fn paths_from_definitions_to_uses_are_simple_and_pass_no_other_definition() {
    let measuring = Measuring::of(LOOP, &[Criterion::AllDuPaths]);
    let entries = &measuring.objectives.hyper_criteria[&Criterion::AllDuPaths];
    assert_eq!(entries.len(), 21);
    // The use in `x += 2` is reached on the paths of the condition before it, that of x in the
    // return on the path of n to the way out of the loop.
    assert_eq!(entries.iter().filter(|entry| entry.duplicate_of.is_some()).count(), 4);
    let (covered, _) = measuring.covers(Criterion::AllDuPaths, &[&[0]]);
    assert_eq!(
        covered,
        [
            "the parameter n reaches its use in line 4 by lines 3, 4",
            "the parameter n reaches the condition in line 4, false by lines 3, 4, 10",
            "the parameter n reaches the condition in line 4, false by lines 3, 4, 10",
        ]
    );
    // x takes the values 0, 2, 4, 1, 3, 5.
    let (_, open) = measuring.covers(Criterion::AllDuPaths, &[&[5]]);
    assert_eq!(
        open,
        [
            "the parameter n reaches the condition in line 4, false by lines 3, 4, 10",
            "n of `n--` in line 4 reaches the condition in line 4, false by lines 4, 5, 6, 4, 10",
            "x of `int x = 0` in line 3 reaches the condition in line 5, true by lines 3, 4, 5, 6",
            "x of `x = 1` in line 6 reaches the condition in line 5, true by lines 6, 4, 5, 6",
            "the parameter n reaches the condition in line 4, false by lines 3, 4, 10",
            "x of `x = 1` in line 6 reaches the return in line 10 by lines 6, 4, 10",
        ]
    );
}

#[test]
fn a_pair_with_two_ways_between_has_two_paths() {
    let text = "
int f(int n, int m) {
  int x = n;
  if (m)
    n = 2;
  while (m > 0) {
    int x = m;
    m = x - 1;
  }
  return x;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllDuPaths]);
    // A path stands for every variable whose pair it is, x and m here.
    let out = |texts: &[String]| -> Vec<String> {
        let paths = texts.iter().map(|text| text.split(" by lines ").nth(1).unwrap().to_owned());
        let mut paths: Vec<_> = paths.filter(|path| path.ends_with(", 10")).collect();
        paths.sort();
        paths.dedup();
        paths
    };
    let (covered, open) = measuring.covers(Criterion::AllDuPaths, &[&[0, 1]]);
    // With one turn of the loop neither path is taken: the condition is passed twice.
    assert_eq!(out(&covered), ["7, 6, 10"]);
    assert_eq!(out(&open), ["3, 5, 6, 10", "3, 6, 10"]);
    let inner = "x of `int x = m` in line 7 reaches its use in line 8 by lines 7";
    assert!(has(&covered, inner), "{covered:#?}");
    let (covered, _) = measuring.covers(Criterion::AllDuPaths, &[&[0, 0], &[0, -1]]);
    assert_eq!(out(&covered), ["3, 5, 6, 10", "3, 6, 10"]);
}

#[test]
fn a_write_through_a_pointer_defines_what_it_hits() {
    let text = "
int f(int n) {
  int a = 1, b = 2;
  int *p = n ? &a : &b;
  *p = 5;
  return a;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses]);
    let initial = "a of `int a = 1` in line 3 reaches the return in line 6";
    let through = "a of `*p = 5` in line 5 reaches the return in line 6";
    let (covered, _) = measuring.covers(Criterion::AllUses, &[&[0]]);
    assert!(has(&covered, initial) && !has(&covered, through), "{covered:#?}");
    let (covered, _) = measuring.covers(Criterion::AllUses, &[&[1]]);
    assert!(!has(&covered, initial) && has(&covered, through), "{covered:#?}");
}

#[test]
fn pointers_that_cannot_hold_an_address_hit_nothing() {
    let text = "
struct pair { int first, second; };
static void fill(int *place, struct pair *pair) { *place = 1; pair->first = 2; }
int f(int n) {
  int out = 0;
  struct pair one;
  fill(&out, &one);
  int other[2] = {n, n}, *q = other + 1;
  *q = 3;
  return out + one.first + other[1];
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses]);
    let (covered, open) = measuring.covers(Criterion::AllUses, &[&[1]]);
    let through = "other of `*q = 3` in line 9 reaches the return in line 10";
    assert!(has(&covered, through), "{covered:#?}");
    let hits = |text: &&String| text.contains("`*q = 3`");
    assert!(covered.iter().chain(&open).filter(hits).all(|text| text.starts_with("other of")));
}

#[test]
fn what_functions_of_the_text_do_with_an_address_says_who_may_write_through_it() {
    let text = "
static int *kept;
struct holder { int *at; };
static void fill(int *place) { *place = 1; }
static void fills(int *place) { int *same = place; fill(same); }
static void keep(int *place) { kept = place; }
static void keeps(int *place, int n) { if (n) keeps(place, n - 1); else keep(place); }
static int *same(int *place) { return place; }
static void keep_within(struct holder *holder) { kept = holder->at; }
static void keep_copied(struct holder holder) { kept = holder.at; }
int f(int n) {
  int filled = 0, passed_on = 0, given_back = 0, within = 0, copied = 0, out = n;
  int *own = &out;
  kept = own;
  fills(&filled);
  keeps(&passed_on, 2);
  int *back = same(&given_back);
  struct holder a = {&within}, b = {&copied};
  if (n == 2) keep_within(&a);
  if (n == 3) keep_copied(b);
  if (n == 4) kept = &passed_on;
  int *p = n == 1 ? back : kept;
  *p = 5;
  return filled + passed_on + given_back + within + copied + out;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses]);
    let (covered, open) = measuring.covers(Criterion::AllUses, &[&[0], &[1], &[2], &[3]]);
    let hits = |all: &[String], name: &str| {
        has(all, &format!("{name} of `*p = 5` in line 23 reaches the return in line 24"))
    };
    for name in ["given_back", "within", "copied", "passed_on"] {
        assert!(hits(&covered, name), "{name}: {covered:#?}");
    }
    // It is hit only where `keeps` did not hide it.
    assert!(hits(&open, "out"), "{open:#?}");
    assert!(!hits(&covered, "filled") && !hits(&open, "filled"));
}

#[test]
fn members_copies_effects_in_places_and_library_calls_hit_too() {
    let text = "
void *memcpy(void *, const void *, unsigned long);
struct pair { int first, second; };
int f(int n) {
  struct pair one = {1, 2}, two = {3, 4}, *p = n & 1 ? &one : &two;
  int a[4] = {0}, i = 0, *q = a;
  p->second = i;
  *q++ = 7;
  int from[2] = {8, 9};
  if (n > 1)
    memcpy(n > 2 ? (void *)&two : (void *)&one, from, sizeof from);
  if (n > 3)
    *p = (two);
  return one.second + a[0];
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses]);
    let returns = |args: &[i32]| -> Vec<String> {
        let (covered, _) = measuring.covers(Criterion::AllUses, &[args]);
        let mut found: Vec<String> = covered
            .iter()
            .filter_map(|text| text.strip_suffix(" reaches the return in line 14"))
            .map(|text| text.split(" in line").next().unwrap().to_owned())
            .collect();
        found.sort();
        found
    };
    let a = "a of `*q++ = 7`".to_owned();
    assert_eq!(returns(&[0])[0], a);
    assert!(returns(&[0])[1].starts_with("one of `struct pair one"), "{:?}", returns(&[0]));
    assert_eq!(returns(&[1]), [a.clone(), "one of `p->second = i`".to_owned()]);
    assert!(returns(&[2])[1].starts_with("one of `memcpy("), "{:?}", returns(&[2]));
    assert_eq!(returns(&[3]), [a.clone(), "one of `p->second = i`".to_owned()]);
    assert_eq!(returns(&[5]), [a, "one of `*p = (two)`".to_owned()]);
}

/// A declaration and a call of each library function that writes to memory, where `p` points.
const WRITING: [(&str, &str); 24] = [
    ("void *memcpy(void *, const void *, unsigned long)", "memcpy(p, from, 2)"),
    ("void *memmove(void *, const void *, unsigned long)", "memmove(p, from, 2)"),
    ("void *memset(void *, int, unsigned long)", "memset(p, 0, 2)"),
    ("char *strcpy(char *, const char *)", "strcpy(p, from)"),
    ("char *stpcpy(char *, const char *)", "stpcpy(p, from)"),
    ("char *strncpy(char *, const char *, unsigned long)", "strncpy(p, from, 2)"),
    ("char *strcat(char *, const char *)", "strcat(p, from)"),
    ("char *strncat(char *, const char *, unsigned long)", "strncat(p, from, 2)"),
    ("void *mempcpy(void *, const void *, unsigned long)", "mempcpy(p, from, 2)"),
    ("void *memccpy(void *, const void *, int, unsigned long)", "memccpy(p, from, 1, 2)"),
    ("char *stpncpy(char *, const char *, unsigned long)", "stpncpy(p, from, 2)"),
    ("unsigned long strlcpy(char *, const char *, unsigned long)", "strlcpy(p, from, 8)"),
    ("unsigned long strlcat(char *, const char *, unsigned long)", "strlcat(p, from, 8)"),
    ("void bcopy(const void *, void *, unsigned long)", "bcopy(from, p, 2)"),
    ("void bzero(void *, unsigned long)", "bzero(p, 2)"),
    ("void explicit_bzero(void *, unsigned long)", "explicit_bzero(p, 2)"),
    ("void swab(const void *, void *, long)", "swab(from, p, 2)"),
    ("char *strtok(char *, const char *)", "strtok(p, from)"),
    ("char *strtok_r(char *, const char *, char **)", "strtok_r(p, from, &rest)"),
    ("char *__strtok_r(char *, const char *, char **)", "__strtok_r(p, from, &rest)"),
    ("char *strsep(char **, const char *)", "strsep((char **)p, from)"),
    ("unsigned long strxfrm(char *, const char *, unsigned long)", "strxfrm(p, from, 2)"),
    (
        "void *__memcpy_chk(void *, const void *, unsigned long, unsigned long)",
        "__memcpy_chk(p, from, 2, 8)",
    ),
    ("char *__stpcpy_chk(char *, const char *, unsigned long)", "__stpcpy_chk(p, from, 8)"),
];

#[test]
fn every_library_function_that_writes_to_memory_defines_what_it_hits() {
    let rows = MODELLED.iter().chain(UNMODELLED).filter(|row| row.family == Family::Memory);
    let writing = rows.filter(|row| row.effects.is_some_and(|of| !of.writes.is_empty()));
    for row in writing {
        let call = format!("{}(", row.name);
        assert!(WRITING.iter().any(|(_, text)| text.starts_with(&call)), "no call of {}", row.name);
    }
    for (declaration, call) in WRITING {
        let text = format!(
            "{declaration};
int f(int n) {{
  char one[16] = {{1}}, two[16] = {{2}}, from[4] = {{3}}, *rest = 0;
  char *p = n ? one : two;
  {call};
  return one[0] + (rest != 0);
}}
"
        );
        let measuring = Measuring::of(&text, &[Criterion::AllUses]);
        let through = format!("one of `{call}` in line 5 reaches the return in line 6");
        let (covered, open) = measuring.covers(Criterion::AllUses, &[&[0]]);
        assert!(has(&open, &through) && !has(&covered, &through), "{call}: {covered:#?} {open:#?}");
        let (covered, _) = measuring.covers(Criterion::AllUses, &[&[1]]);
        assert!(has(&covered, &through), "{call}: {covered:#?}");
    }
}

#[test]
fn both_copies_of_the_right_side_of_a_boolean_operator_are_one_place() {
    // The right side of `&` is lowered once for each value of the left.
    let text = "
static int odd(int v) { return v & 1; }
int f(int a, int b) {
  int x = b;
  if ((a > 3) & (odd(x) != 0))
    return x;
  return a;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses, Criterion::Fcc]);
    for a in [9, 1] {
        let (covered, open) = measuring.covers(Criterion::AllUses, &[&[a, 1]]);
        let uses = |all: &[String]| {
            all.iter().filter(|text| text.contains("its use") && text.contains("x of")).count()
        };
        assert_eq!((uses(&covered), uses(&open)), (1, 0), "{covered:#?} {open:#?}");
        assert_eq!(measuring.covers(Criterion::Fcc, &[&[a, 1]]).0.len(), 1);
    }
}

#[test]
fn what_a_call_writes_reaches_none_of_its_arguments() {
    let text = "
static void set(int *place, int value) { *place = value; }
int f(int n) {
  int x = n;
  set(&x, x);
  return x;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses]);
    let (covered, open) = measuring.covers(Criterion::AllUses, &[&[1]]);
    let has = |text: &str| covered.iter().any(|covered| covered == text);
    assert!(has("x of `set(&x, x)` in line 5 reaches the return in line 6"), "{covered:#?}");
    let to_itself = |text: &&String| text.starts_with("x of `set") && text.contains("its use");
    assert_eq!(covered.iter().chain(&open).filter(to_itself).count(), 0, "{covered:#?} {open:#?}");
}

#[test]
fn places_that_are_assigned_or_whose_address_is_taken_stay_places() {
    let text = "
void *memset(void *, int, unsigned long);
struct sum { volatile int error; int all[2]; };
static int next(int *to) { return ++*to; }
static int shared;
static int add(const int *a, int b) { return *a + b; }
int f(int n) {
  struct sum sum = {n, {n, n}}, *at = n ? &sum : 0;
  char bytes[4] = {1, 2, 3, 4}, *from = bytes;
  if (at)
    at->error += (n - 1) + n;
  memset(&from[1], 0, 2);
  memset((&from[2]), 0, 1);
  shared = next(&n) + add(&shared, next(&n));
  return sum.error + bytes[1] + shared;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses]);
    let lost = measuring.unmeasured();
    assert!(lost.iter().all(|reason| !reason.contains("overlaps")), "{lost:?}");
}

#[test]
fn a_definition_that_cannot_be_recorded_costs_the_pairs_of_the_uses_that_it_reaches() {
    let text = "
struct p { int a; };
int f(int n) {
  int x = n;
  if (n > 0)
    x = ((struct p){ 7 }).a;
  int y = x;
  x = 1;
  if (n > 1)
    x = 2;
  return x + y;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses]);
    let mut measurer = measuring.measurer();
    let lost: Vec<SequenceId> =
        measurer.plan().unmeasured_sequences.iter().map(|lost| lost.sequence).collect();
    let covered = measurer.measure(&[run_of("f", &[2])]).unwrap()[0].sequences[0].clone();
    let of = |sequences: &dyn Fn(&SequenceId) -> bool| -> Vec<&str> {
        let hypers = measuring.objectives.hypers.values();
        let of_x = hypers.filter(|hyper| hyper.text.starts_with("x of"));
        let found = of_x.filter(|hyper| match &hyper.hyper {
            Hyper::Sequence(id) => sequences(id),
            _ => false,
        });
        found.map(|hyper| &*hyper.text).collect()
    };
    assert_eq!(
        of(&|id| lost.contains(id)),
        [
            "x of `int x = n` in line 4 reaches its use in line 7",
            "x of `x = ((struct p){ 7 }).a` in line 6 reaches its use in line 7",
        ]
    );
    assert_eq!(
        of(&|id| covered.contains(id)),
        ["x of `x = 2` in line 10 reaches the return in line 11"]
    );
}

#[test]
fn atomic_operations_are_definitions_and_uses_also_those_without_a_value() {
    let text = "
int f(int n) {
  int x = 0;
  _Bool set;
  __atomic_store_n(&x, n, __ATOMIC_RELAXED);
  __atomic_clear(&set, __ATOMIC_RELAXED);
  if (__atomic_load_n(&x, __ATOMIC_RELAXED) > 1)
    return x + set;
  return 0;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllUses]);
    let (covered, _) = measuring.covers(Criterion::AllUses, &[&[2]]);
    assert_eq!(
        covered,
        [
            "the parameter n reaches its use in line 5",
            "x of `__atomic_store_n(&x, n, 0)` in line 5 reaches its use in `__atomic_load_n(&x, 0)` in line 7",
            "x of `__atomic_store_n(&x, n, 0)` in line 5 reaches the condition in line 7, true",
            "x of `__atomic_store_n(&x, n, 0)` in line 5 reaches the return in line 8",
            "set of `__atomic_clear(&set, 0)` in line 6 reaches the return in line 8",
        ]
    );
}

#[test]
fn paths_to_a_use_whose_text_branches_are_not_measured_and_others_are() {
    let text = "
static int g;
int f(int a, int b) {
  int r;
  g = a;
  r = g + (a && b);
  if (a > 1)
    r += g;
  return r;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllDuPaths]);
    // By either way of `a`, and for a true one by either way of `b`.
    assert_eq!(measuring.unmeasured(), ["control branches within its text"; 3]);
    let measurer = measuring.measurer();
    for lost in &measurer.plan().unmeasured_sequences {
        let mut hypers = measuring.objectives.hypers.values();
        let one = hypers.find(|one| one.hyper == Hyper::Sequence(lost.sequence)).unwrap();
        let begin = "g of `g = a` in line 5 reaches its use in line 6 by";
        assert!(one.text.starts_with(begin), "{}", one.text);
    }
}

#[test]
fn what_an_earlier_activation_defined_has_come_by_no_path_of_a_later_one() {
    let text = "
static int g;
int f(int n) {
  if (n > 0)
    g = n;
  if (n > 1)
    f(0);
  return g;
}
";
    let measuring = Measuring::of(text, &[Criterion::AllDuPaths]);
    let of_g = |texts: Vec<String>| {
        texts.into_iter().filter(|text| text.starts_with("g of")).collect::<Vec<_>>()
    };
    // f(0) reads what f(2) defined, and passes the same nodes from its second condition on.
    let (covered, open) = measuring.covers(Criterion::AllDuPaths, &[&[2]]);
    let by =
        |lines: &str| format!("g of `g = n` in line 5 reaches the return in line 8 by {lines}");
    assert_eq!(of_g(covered), [by("lines 6, 7, 8")]);
    assert_eq!(of_g(open), [by("lines 6, 8")]);
    let (covered, _) = measuring.covers(Criterion::AllDuPaths, &[&[2], &[1]]);
    assert_eq!(of_g(covered), [by("lines 6, 7, 8"), by("lines 6, 8")]);
}

#[test]
fn a_call_whose_arguments_do_not_come_back_is_not_made() {
    let text = "void exit(int);
        static int g(int x) { if (x > 4) exit(0); return 2; }
        static int v(int a, int b) { return a + b; }
        int f(int a, int b) {
            switch (b) {
            case 1: return v(1, g(a));
            case 2: return v(a < 9 ? g(a) : 7, 3);
            case 3: return g(a) + v(2, 1);
            default: return v(g(a) + v(0, 0), (a++, a));
            }
        }";
    let measuring = Measuring::of(text, &[Criterion::Fcc]);
    let called = |a, b| {
        let covered = measuring.covers(Criterion::Fcc, &[&[a, b]]).0;
        ["calls g", "calls v"].map(|call| covered.iter().any(|name| name.contains(call)))
    };
    for b in 1..4 {
        assert_eq!([called(1, b), called(5, b)], [[true, true], [true, false]], "{b}");
    }
    assert_eq!([called(9, 2), called(5, 4)], [[false, true], [true, false]]);
}
