//! What users state of inputs in C (preconditions of functions, invariants of types) and of undefined
//! functions; and what they are told where that is wrong.

use crate::common::{self, Workplace, figures};

const BUFFER: &str = "struct buf { unsigned len, cap; int *data; };\n";

/// A file with some C, and `lydian.toml` beside it.
fn stated(text: &str, settings: &str) -> Workplace {
    let place = Workplace::with(text);
    place.write("lydian.toml", settings);
    place
}

/// The figures of `dc` for `f`.
fn figures_of_f(text: &str, settings: &str) -> [u64; 5] {
    let place = stated(text, settings);
    place.done("gen unit.c -c dc -f f --json t.json");
    figures(&place.json("t.json"), "f", "dc")
}

#[test]
fn an_invariant_holds_for_every_object_of_its_type() {
    let text = format!(
        "{BUFFER}int f(struct buf *a, struct buf *b) {{
             if (a->len > a->cap) return 1;
             if (b && b[2].len > b[2].cap) return 2;
             if (a->len == 7) return 3;
             return 0;
         }}\n"
    );
    let settings = "[types.\"struct buf\"]\ninvariant = \"self->len <= self->cap\"\n";
    assert_eq!(figures_of_f(&text, settings), [6, 4, 2, 0, 0]);
    assert_eq!(figures_of_f(&text, "")[..3], [6, 6, 0]);
}

#[test]
fn several_invariants_are_a_list_and_the_suite_of_a_ring_compiles_and_runs() {
    let text = "struct ring { struct ring *next, *prev; int v; };
int f(struct ring *r) {
    if (r->next->prev != r) return 9;
    if (r->next == r) return 1;
    if (r->next->next == r) return 2;
    return 3;
}\n";
    let settings = "[types.\"struct ring\"]
invariant = [\"self->next->prev == self\", \"self->prev->next == self\"]\n";
    let place = stated(text, settings);
    place.done("gen unit.c -c dc -f f -o tests --json t.json");
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [6, 5, 1, 0, 0]);
    place.done("cover unit.c -c dc -f f --tests tests --json c.json");
    assert_eq!(figures(&place.json("c.json"), "f", "dc")[1], 5);
}

#[test]
fn preconditions_relate_parameters_without_planning_their_inputs() {
    let text = "struct s { unsigned len; int *data; };
int f(struct s *p, unsigned cap, const int *begin, const int *end, int n, int *a, int *b) {
    if (p->len > cap) return 1;
    if (end - begin != n) return 2;
    if (a == b) return 3;
    if (p->data && p->data[20] == 4) return 4;
    return 0;
}\n";
    let settings = "[function.f]\npreconditions = [
  \"p->len <= cap\", \"end - begin == n\", \"a != b\"]\n";
    let place = stated(text, settings);
    let ran = place.done("gen unit.c -c dc -f f --json t.json");
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [8, 5, 3, 0, 0], "{ran}");
    // An index beyond the limits of planned inputs is reached, and nothing was guessed.
    assert!(!ran.out.contains("guess"), "{ran}");
}

#[test]
fn a_precondition_that_no_input_meets_is_said_with_its_place() {
    let text = "int f(int x) { if (x > 3) return 1; return 0; }\n";
    let place = stated(text, "[function.f]\npreconditions = [\"x > 5\", \"x < 3\"]\n");
    let ran = place.run("gen unit.c -c dc -f f --json t.json");
    ran.says(2, &["no input meets the preconditions `x > 5`, `x < 3`", "lydian.toml:2:"]);
    assert_eq!(figures(&place.json("t.json"), "f", "dc")[1..3], [0, 0]);
    let json = place.read("t.json");
    assert!(json.contains("no input meets the preconditions"), "{json}");
    assert!(!json.contains("within bounds"), "{json}");
}

#[test]
fn an_invariant_that_contradicts_itself_is_said_with_its_place() {
    let text = format!("{BUFFER}int f(struct buf *b) {{ if (!b) return 1; return b->len > 2; }}\n");
    let settings = "[types.\"struct buf\"]\ninvariant = [\n  \"self->cap > 1\",\n  \
                    \"self->len < self->cap && self->cap < self->len\"]\n";
    let ran = stated(&text, settings).run("gen unit.c -c dc -f f");
    ran.says(2, &["no struct buf meets the invariant", "lydian.toml:4:4"]);
}

#[test]
fn c_that_does_not_compile_is_shown_in_lydian_toml() {
    let text = format!("{BUFFER}int f(struct buf *b, int n) {{ return b->len > 2 && n > 1; }}\n");
    for (settings, said) in [
        ("[types.\"struct buf\"]\ninvariant = \"self->length > 2\"\n", ["length", ":2:20"]),
        ("[types.\"struct buf\"]\ninvariant = \"b->len > 2\"\n", ["'b'", ":2:14"]),
        ("[function.f]\npreconditions = [\"n > 0\",\n  \"m > 0\"]\n", ["'m'", ":3:4"]),
        ("[function.f]\npreconditions = [\"n > \"]\n", ["expected expression", "lydian.toml:"]),
        ("[function.f]\npreconditions = [\"n = 3\"]\n", ["`==` compares", ":2:19"]),
        ("[types.\"struct buf\"]\ninvariant = \"self->len = 3\"\n", ["only reads", ":2:14"]),
    ] {
        stated(&text, settings).refused("gen unit.c", 2, &[said[0], "lydian.toml", said[1]]);
    }
}

#[test]
fn what_is_not_there_is_named_with_its_place() {
    let text = format!(
        "{BUFFER}struct open; int ask(int *out, const int *in);
int band(struct buf *b, struct open *o, int n) {{ return b->len > 2 && n > ask(&n, &n) && o; }}\n"
    );
    for (settings, said) in [
        ("[function.bnad]\npreconditions = [\"1\"]\n", ["there is no function `bnad`", ":1:11"]),
        ("[types.\"struct bfu\"]\ninvariant = \"1\"\n", ["there is no type `struct bfu`", ":1:9"]),
        ("[types.\"struct open\"]\ninvariant = \"1\"\n", ["never completed", ":1:9"]),
        ("[types.\"struct buf\"]\n\".lne\" = { range = [0, 1] }\n", ["no member 'lne'", ":1:9"]),
        ("[types.int]\ninvariant = \"*self > 0\"\n", ["no struct or union", ":2:1"]),
        ("[types.\"struct buf\"]\ninvariant = 3\n", ["a C expression", "line 2"]),
        ("[types.\"struct buf\"]\ninvariants = \"1\"\n", ["or be `invariant`", "line 2"]),
        ("[function.ask]\nwrites = [\"*outt\"]\n", ["begins with no parameter", ":2:12"]),
        ("[function.ask]\nwrites = [\"*in\"]\n", ["constant", ":2:12"]),
        ("[function.ask]\nwrites = [\"out\"]\n", ["'*out'", ":2:12"]),
        ("[function.ask]\npure = true\nwrites = [\"*out\"]\n", ["writes nothing", "line 2"]),
        ("[function.ask]\nreturns = { range = [3, 1] }\n", ["empty", "line 2"]),
        ("[function.band]\npure = true\n", ["band is defined", ":2:1"]),
    ] {
        stated(&text, settings).refused("gen unit.c", 2, &[said[0], "lydian.toml", said[1]]);
    }
    // The place of a function that is tested keeps only that function from being explored.
    let settings = "[function.band.places]\n\"b->lne\" = { range = [0, 1] }\n";
    let ran = stated(&text, settings).run("gen unit.c");
    ran.says(2, &["no member 'lne'", "lydian.toml:2:2"]);
    // What another file of the folder has is about that file.
    let place = stated(&text, "[function.other]\npreconditions = [\"1\"]\n");
    place.write("other.c", "int other(int x) { return x; }\n");
    place.done("gen unit.c -c dc -f band");
}

#[test]
fn what_an_undefined_function_returns_can_be_stated() {
    let text = "int ask(int); int f(int x) { if (ask(x) > 9) return 1; return 0; }\n";
    let settings = "[function.ask]\npure = true\nreturns = { range = [0, 7] }\n";
    assert_eq!(figures_of_f(text, settings), [2, 1, 1, 0, 0]);
}

const LEARNT: &str = "struct node { struct node *next; int key; };
struct list { struct node *head; int count; int *slots; };
int sum(const int *p, unsigned n) {
    int sum = 0;
    for (unsigned i = 0; i < n; i++) if (p[i] > 3) sum++;
    return sum;
}
int words(const char *s) {
    int n = 0;
    if (!s) return -1;
    for (int i = 0; s[i]; i++) if (s[i] == ' ') n++;
    return n;
}
int keyed(void *list, int i) {
    struct list *l = list;
    if (i < 0 || i >= l->count) return -1;
    if (l->head && l->head->key > 4) return l->slots[i];
    return 0;
}
";

#[test]
fn init_writes_what_exploration_learned_and_gen_takes_it_as_it_is() {
    let place = Workplace::with(LEARNT);
    place.done("gen unit.c -c dc -o before --json before.json");
    std::fs::create_dir(place.path("elsewhere")).unwrap();
    let mut command = place.command("init ../unit.c");
    command.current_dir(place.path("elsewhere"));
    let ran = common::Ran::of(&mut command);
    assert_eq!(ran.code, Some(0), "{ran}");
    let text = place.read("lydian.toml");
    for said in [
        "# p is followed to int; n was greater than the number of each element that was",
        "#\"p\" = { kind = \"array\", length = \"n\", null = false }",
        "#\"s\" = { kind = \"string\", null = true }",
        "#\"list\" = { kind = \"object\", type = \"struct list\", null = false }",
        "#\"list->slots\" = { kind = \"array\", length = \"list->count\", null = false }",
        "#\"list->head\" = { kind = \"object\", null = true }",
    ] {
        assert!(text.contains(said), "{said}:\n{text}");
    }
    place.done("gen unit.c -c dc -o after --json after.json");
    let (before, after) = (place.json("before.json"), place.json("after.json"));
    for function in ["sum", "words", "keyed"] {
        assert_eq!(figures(&before, function, "dc"), figures(&after, function, "dc"));
    }
    // Everything that it offers can be stated.
    let all = text.lines().map(|line| match line.strip_prefix("#\"") {
        Some(rest) => format!("\"{rest}\n"),
        None => format!("{line}\n"),
    });
    place.write("lydian.toml", &all.collect::<String>());
    place.done("gen unit.c -c dc -o stated");
}

#[test]
fn init_ends_in_bounded_time_and_writes_guesses_for_planned_inputs_when_asked() {
    let text = "int f(const unsigned char *p, unsigned n) {
    unsigned h = 0;
    for (unsigned i = 0; i < n; i++) { h = h * 31 + p[i]; if (h % 97 == 3) h ^= p[h % n]; }
    return h == 12345;
}\n";
    let place = Workplace::with(text);
    place.done("init unit.c --time 0.5");
    assert!(place.read("lydian.toml").contains("[function.\"f\""));
    place.refused("init unit.c", 2, &["is there already"]);
    place.done("init unit.c --planned -o planned.toml");
    let planned = place.read("planned.toml");
    assert!(planned.starts_with("lazy-inputs = false\n"), "{planned}");
    place.done("gen unit.c -c dc --config planned.toml");
}
