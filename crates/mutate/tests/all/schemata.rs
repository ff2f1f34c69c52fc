//! A schema behaves as the text of the chosen mutant does when a compiler gets it alone.

use lydian_mutate::{MUTANT_VARIABLE, RECORD_VARIABLE, clones};

use crate::common::{Program, run};

/// Numbers of several types, conditions, loops and calls. Loops without an end are stopped early.
const NUMBERS: &str = "
int printf(const char *, ...);
void exit(int);
static void step(void) { static int n; if (++n > 300) exit(9); }
static unsigned seen;
static int clamp(int n, int low, int high) {
    if (n < low || low > high) return low;
    return n > high ? high : n;
}
long mean(const short *values, unsigned count) {
    long sum = 0;
    unsigned i;
    for (i = 0; i < count; i++) { sum += values[i]; step(); }
    seen = seen + count;
    if (!count) return -1;
    return sum / (long)count;
}
double scaled(double x, float y) {
    double half = x / 2;
    if (half >= y && x != 0.0) half = half - y;
    return half * 3;
}
int main(void) {
    const short all[] = {3, -4, 12};
    printf(\"%d %d %d\\n\", clamp(5, 1, 3), clamp(-7, 1, 9), clamp(4, 1, 9));
    printf(\"%ld %ld\\n\", mean(all, 3), mean(all, 0));
    printf(\"%.3f %u\\n\", scaled(9.0, 1.5f) + scaled(0, 1), seen);
    return 0;
}
";

/// Pointers, bit-fields, jumps, static locals, and parts that only one way evaluates.
const PLACES: &str = "
int printf(const char *, ...);
void exit(int);
void *malloc(unsigned long);
static void step(void) { static int n; if (++n > 300) exit(9); }
struct node { unsigned kind : 3; signed char weight; struct node *next; };
enum colour { RED, GREEN = 4, BLUE };
static int depth(const struct node *of) {
    int n = 0;
    while (of && of->next != of) {
        step();
        n += of->weight & 7;
        if (of->kind == 5) goto out;
        of = of->next;
    }
out:
    return n;
}
static int counted(enum colour c) {
    static int calls = 0;
    calls++;
    switch (c) {
    case RED: return calls << 1;
    case GREEN: calls = calls | 8; break;
    default: return -calls;
    }
    return calls ^ 3;
}
static struct node *made(int kind, int weight, struct node *next) {
    struct node *new = malloc(sizeof *new);
    new->kind = kind, new->weight = weight;
    new->next = next;
    return new;
}
static int power(int base, unsigned n) { return n == 0 ? 1 : base * power(base, n - 1); }
_Bool is_even(unsigned char c) { return !(c % 2); }
int main(void) {
    struct node *list = made(1, 9, made(2, 3, made(5, 100, 0)));
    int i = 0;
    do { step(); printf(\"%d \", counted(i == 1 ? GREEN : i)); } while (++i < 3);
    printf(\"%d %d %d %d\\n\", depth(list), depth(0), power(3, 4), is_even(7) + is_even(200));
    return i - 3;
}
";

fn behaves_as_its_texts(text: &str) {
    let program = Program::new(text);
    let (schema, choices) = (program.schema(), program.choices());
    let original = run(&schema, None);
    assert_eq!(original, run(&choices, None), "without a choice");
    let alone = program.compiled("original", program.unit.source.text()).unwrap();
    assert_eq!(original, run(&alone, None), "without a chosen mutant");
    assert!(program.found.mutants.len() > 100);
    let mut killed = 0;
    // What a missing argument is read as depends on the rest of the code. Each text takes a run of the
    // compiler, so a part of them is compared; LYDIAN_ALL_MUTANTS asks for all.
    let all = std::env::var_os("LYDIAN_ALL_MUTANTS").is_some();
    let compared = program.found.mutants.iter().filter(|it| {
        let step = if it.function == "main" { 16 } else { 5 };
        it.name != "ARR left out" && (all || it.number % step == 0)
    });
    for mutant in compared {
        let number = mutant.number;
        let id = format!("{}:{number}", program.id);
        let chosen = run(&schema, Some((MUTANT_VARIABLE, &id)));
        let alone = program.compiled("alone", &mutant.apply(program.unit.source.text()));
        let alone = alone.unwrap_or_else(|said| panic!("{mutant:?}: {said}"));
        assert_eq!(chosen, run(&alone, None), "{mutant:?}");
        let number = number.to_string();
        assert_eq!(chosen, run(&choices, Some(("CHOSEN", &number))), "by choices: {mutant:?}");
        killed += u32::from(chosen != original);
    }
    assert!(killed as usize > program.found.mutants.len() / 20, "{killed}");
}

/// The numbers of the mutants that a run reaches, and infects.
fn recorded(program: &Program) -> Vec<u8> {
    let folder = program.place.path().join("record");
    std::fs::create_dir_all(&folder).unwrap();
    let schema = program.schema();
    let original = run(&schema, None);
    let recording = run(&schema, Some((RECORD_VARIABLE, &folder.display().to_string())));
    assert_eq!(recording, original, "a run for the record behaves as the original");
    std::fs::read(folder.join(program.id.to_string())).unwrap()
}

fn infects_what_differs(text: &str) {
    let program = Program::new(text);
    let seen = recorded(&program);
    let schema = program.schema();
    let original = run(&schema, None);
    let mut not_infected = 0;
    for mutant in &program.found.mutants {
        let id = format!("{}:{}", program.id, mutant.number);
        let bits = seen[mutant.number as usize];
        not_infected += u32::from(bits != 3);
        if run(&schema, Some((MUTANT_VARIABLE, &id))) != original {
            assert_eq!(bits, 3, "it behaves differently, so it infects: {mutant:?}");
        }
    }
    assert!(not_infected > 0, "a record that has every mutant tells nothing");
}

#[test]
fn a_schema_of_numbers_behaves_as_each_mutants_text() {
    behaves_as_its_texts(NUMBERS);
}

#[test]
fn a_schema_of_places_behaves_as_each_mutants_text() {
    behaves_as_its_texts(PLACES);
}

#[test]
fn mutants_that_behave_differently_are_recorded_as_infected() {
    infects_what_differs(NUMBERS);
    infects_what_differs(PLACES);
}

/// Equal code is looked for among all mutants here, those that the program's output tells apart included.
#[test]
fn no_mutant_with_the_code_of_the_original_behaves_differently() {
    for text in [NUMBERS, PLACES] {
        let program = Program::new(text);
        let notes = program.notes();
        let all = notes.mutants.iter().filter(|it| clones::is_comparable(&notes, it));
        let all: Vec<_> = all.collect();
        let equal = clones::equal(&program.ir_of_clones(&clones::text(&notes, &all)), &all);
        assert!(!equal.is_empty() && equal.len() < all.len() / 2, "{equal:?}");
        let schema = program.schema();
        let original = run(&schema, None);
        for number in equal {
            let id = format!("{}:{number}", program.id);
            let chosen = run(&schema, Some((MUTANT_VARIABLE, &id)));
            assert_eq!(chosen, original, "{:?}", notes.mutant(number));
        }
    }
}

#[test]
fn infection_depends_on_values_and_not_on_control_alone() {
    let program = Program::new(
        "static int f(int a, int b) { return a < b; }
         int main(void) { return f(1, 1); }",
    );
    let seen = recorded(&program);
    let bits = |name: &str| {
        let found = program.found.mutants.iter().find(|it| it.name == name && it.function == "f");
        seen[found.unwrap().number as usize]
    };
    assert_eq!((bits("ROR < -> <="), bits("ROR < -> >"), bits("ROR < -> ==")), (3, 1, 3));
    assert_eq!((bits("ROR < -> true"), bits("ROR < -> false")), (3, 1));
}

#[test]
fn functions_that_cannot_be_copied_have_their_choices_in_place() {
    let program = Program::new(
        "static int next(void) { static int n = 1; n = n * 3; return n; }
         int main(void) { next(); return next(); }",
    );
    assert_eq!(run(&program.schema(), None).0, Some(9));
    let sum = program.found.mutants.iter().find(|it| it.name == "AOR * -> +").unwrap();
    let id = format!("{}:{}", program.id, sum.number);
    assert_eq!(run(&program.schema(), Some((MUTANT_VARIABLE, &id))).0, Some(7));
}
