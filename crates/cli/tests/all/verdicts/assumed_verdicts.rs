//! What infeasible rests on: assumptions that nobody stated, how the user accepts or states them, and
//! what is left of it after a contradiction.

use serde_json::Value;

use crate::common::{Ran, Workplace, faulty_clang, figures, rows};

/// Whether the two pointers can be equal is nothing that C says.
const COMPARED: &str = "int f(const int *p, const int *q)\n{\n    if (p == q)\n        return 1;\n    return *p + *q;\n}\n";

/// What the pointers point to, so that their difference alone is assumed.
const OBJECTS: &str = "[function.f.places]\np = { kind = \"object\" }\nq = { kind = \"object\"";

fn row<'a>(table: &'a Value, function: &str, criterion: &str) -> &'a Value {
    let found = rows(table, function).into_iter().find(|row| row["criterion"] == criterion);
    found.expect("a row of the criterion")
}

#[test]
fn a_guess_about_inputs_makes_infeasible_as_assumed_which_stays_in_the_denominator() {
    let place = Workplace::with(COMPARED);
    place.write("lydian.toml", &format!("{OBJECTS} }}\n"));
    let ran = place.done("gen unit.c -c dc --no-proofs --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "f", "dc"), [2, 1, 0, 0, 0], "{table:#}");
    let told = "f dc: 1 infeasible as assumed: p and q are different objects (alias): unit.c:3:9";
    assert!(ran.out.contains(told) && ran.out.contains(" 50.0% "), "{ran}");
    let row = row(&table, "f", "dc");
    assert_eq!(row["infeasible_as_assumed"], 1);
    let [objective] = &row["assumed"].as_array().expect("a list")[..] else { panic!("{row:#}") };
    assert_eq!((&objective["place"]["line"], &objective["text"]), (&3.into(), &"p == q".into()));
    let expected = serde_json::json!([{
        "kind": "alias", "subject": "p and q", "sentence": "p and q are different objects"
    }]);
    assert_eq!(objective["assumptions"], expected);
}

#[test]
fn what_the_user_accepts_counts_as_infeasible_and_is_named_once() {
    let place = Workplace::with(COMPARED);
    place.write("lydian.toml", &format!("{OBJECTS} }}\n"));
    place.done("gen unit.c -c dc --no-proofs");
    for kinds in ["alias", "shape,alias", "all"] {
        let ran =
            place.done(&format!("gen unit.c -c dc --no-proofs --json t.json --accept {kinds}"));
        let table = place.json("t.json");
        assert_eq!(figures(&table, "f", "dc"), [2, 1, 1, 0, 0], "{table:#}");
        let told = "accepted: p and q are different objects (alias)";
        assert!(ran.out.contains(told) && ran.out.contains(" 100.0% "), "{ran}");
    }
    place.done("gen unit.c -c dc --no-proofs --json t.json --accept shape");
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [2, 1, 0, 0, 0]);
    place.write("lydian.toml", &format!("accept = [\"alias\"]\n{OBJECTS} }}\n"));
    place.done("gen unit.c -c dc --no-proofs --json t.json");
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [2, 1, 1, 0, 0]);
}

#[test]
fn what_the_user_states_is_a_precondition_and_no_assumption() {
    let place = Workplace::with(COMPARED);
    place.write("lydian.toml", &format!("{OBJECTS}, alias = [] }}\n"));
    let ran = place.done("gen unit.c -c dc --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "f", "dc"), [2, 1, 1, 0, 0], "{table:#}");
    assert!(!ran.out.contains("accepted") && !ran.out.contains("granted"), "{ran}");
    let ledger = std::fs::read(place.path("tests/ledger.sqlite")).expect("a ledger");
    let says = |what: &[u8]| ledger.windows(what.len()).any(|bytes| bytes == what);
    assert!(says(b"\"preconditions\":\"p and q are different objects\""));
}

#[test]
fn a_word_that_is_no_kind_of_assumption_is_refused_wherever_it_stands() {
    let place = Workplace::with(COMPARED);
    let kinds = ["`alais` is no kind of assumption", "external-writes"];
    place.refused("gen unit.c -c dc --accept alais", 2, &kinds);
    place.write("lydian.toml", "accept = [\"alais\"]\n");
    place.refused("gen unit.c -c dc", 2, &["line 1", kinds[0], kinds[1]]);
}

/// A function that looks at a variable before and after it calls an undefined one.
fn polling(linkage: &str) -> String {
    format!(
        "void poll(void);\n{linkage} int mode;\nint f(void)\n{{\n    if (mode)\n        return 0;\n    \
         poll();\n    if (mode == 3)\n        return 1;\n    return 2;\n}}\n"
    )
}

#[test]
fn an_undefined_function_may_write_what_it_can_reach_until_a_stub_defines_it() {
    let place = Workplace::with(&polling("extern"));
    let ran = place.done("gen unit.c -c dc --json t.json --function f");
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [4, 4, 0, 0, 0], "{ran}");
    place.write("stubs.c", "void poll(void) { extern int mode; mode = 3; }\n");
    place.write("lydian.toml", "stubs = [\"stubs.c\"]\n");
    place.done("gen unit.c -c dc --json t.json --function f -o again");
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [4, 3, 1, 0, 0]);
}

#[test]
fn that_an_undefined_function_keeps_no_pointers_and_calls_nothing_back_is_granted() {
    let place = Workplace::with(&polling("static"));
    let ran = place.done("gen unit.c -c dc --json t.json --function f");
    // Nothing writes the variable.
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [4, 2, 2, 0, 0], "{ran}");
    let told =
        "granted: an undefined function keeps no pointers, and calls nothing back (kept-pointers)";
    assert!(ran.out.contains(told), "{ran}");
}

/// Of its decisions two have an outcome that only an exploration or a proof over all runs calls
/// infeasible, and one an outcome that a local proof does.
const EXPLORED: &str = "int f(unsigned char n)
{
    int s = 0;
    for (int i = 0; i < (n & 3); i++)
        s += 2;
    if (s == 3)
        return 1;
    if (s == 5)
        return 2;
    if (n > 100)
        return (n & 1) == 2 ? 3 : 4;
    return 0;
}
";

#[test]
fn a_test_that_covers_what_is_infeasible_withdraws_the_exploration_and_leaves_proofs() {
    let place = Workplace::with(EXPLORED);
    place.done("gen unit.c -c dc --json first.json");
    assert_eq!(figures(&place.json("first.json"), "f", "dc"), [10, 7, 3, 0, 0]);
    let ledger = rusqlite::Connection::open(place.path("tests/ledger.sqlite")).expect("a ledger");
    let changed = ledger.execute(
        "INSERT INTO evidence(function, label, kind, code, configuration, detail)
         SELECT function, (SELECT label FROM evidence WHERE kind = 'measured' LIMIT 1), kind, code,
             configuration, detail
         FROM evidence WHERE kind = 'complete' LIMIT 1",
        [],
    );
    assert_eq!(changed.expect("the ledger can be changed"), 1);
    drop(ledger);
    for _ in 0..2 {
        let said = ["complete exploration", "claims is infeasible"];
        let ran = place.refused("gen unit.c -c dc --no-proofs --json t.json", 70, &said);
        let table = place.json("t.json");
        assert_eq!(figures(&table, "f", "dc"), [10, 6, 1, 0, 3], "{table:#}");
        let told = "f dc: 2 unknown: withdrawn: a contradiction in the same exploration";
        assert!(ran.out.contains(told), "{ran}");
    }
    // Proofs over all runs do not rest on the exploration.
    let said = ["complete exploration", "claims is infeasible"];
    place.refused("gen unit.c -c dc --json t.json", 70, &said);
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [10, 6, 3, 0, 1]);
    let ran = place.done("explain infeasible");
    assert_eq!(ran.out.matches("because: proof over all runs").count(), 2, "{ran}");
    let ledger = rusqlite::Connection::open(place.path("tests/ledger.sqlite")).expect("a ledger");
    let kept = "SELECT count(*) FROM evidence WHERE kind = 'complete'";
    let kept: i64 = ledger.query_row(kept, [], |row| row.get(0)).expect("a count");
    assert_eq!(kept, 3 + 2, "the evidence stays, and proofs were added");
}

#[test]
fn a_guess_about_many_functions_is_printed_once_and_not_at_all_where_it_is_overruled() {
    let one = |n: usize| {
        format!(
            "int f{n}(const int *buf, unsigned n)\n{{\n    int s = {n};\n    \
             for (unsigned i = 0; i < n; i++)\n        s += buf[i];\n    return s;\n}}\n"
        )
    };
    let place = Workplace::with(&(0..30).map(one).collect::<String>());
    let ran = place.done("gen unit.c -c fc --max-paths 1 -o lazy");
    assert!(!ran.out.contains("length n"), "{ran}");
    place.write("lydian.toml", "lazy-inputs = false\n");
    let ran = place.done("gen unit.c -c fc --max-paths 1 --json t.json");
    let guesses: Vec<&str> = ran.out.lines().filter(|line| line.contains("length n")).collect();
    assert_eq!(guesses.len(), 1, "{ran}");
    assert!(guesses[0].starts_with("buf in 30 functions: array with length n"), "{ran}");
    let table = place.json("t.json");
    let [guess] = &table["guesses"].as_array().expect("a list")[..] else { panic!("{table:#}") };
    assert_eq!(guess["place"], "buf");
    assert_eq!(guess["functions"].as_array().expect("a list").len(), 30);
    let stated = (0..30).map(|n| {
        format!("[function.f{n}.places]\nbuf = {{ length = \"n\", null = false, max = 4 }}\n")
    });
    let stated: String = ["lazy-inputs = false\n".to_owned()].into_iter().chain(stated).collect();
    place.write("lydian.toml", &stated);
    let ran = place.done("gen unit.c -c fc --max-paths 1 --json t.json -o again");
    assert!(!ran.out.contains("guesses"), "{ran}");
    assert_eq!(place.json("t.json")["guesses"], Value::Null);
}

#[test]
fn a_claim_that_measuring_does_not_confirm_withdraws_what_the_exploration_calls_infeasible() {
    let place = Workplace::with(&EXPLORED.replace("(n & 1) == 2", "n == 177"));
    place.done("gen unit.c -c dc --json sound.json -o sound");
    assert_eq!(figures(&place.json("sound.json"), "f", "dc"), [10, 8, 2, 0, 0]);
    faulty_clang::write(&place);
    let ran =
        Ran::of(&mut faulty_clang::command(&place, "gen unit.c -c dc --no-proofs --json t.json"));
    ran.says(70, &["contradiction", "a test does not do what exploration claimed"]);
    let table = place.json("t.json");
    assert_eq!(figures(&table, "f", "dc")[2], 0, "{table:#}");
    let told = "f dc: 2 unknown: withdrawn: a contradiction in the same exploration";
    assert!(ran.out.contains(told), "{ran}");
}

/// What `gen` says is granted of a function on inputs that come into being.
fn granted(text: &str, infeasible: u64) -> Vec<String> {
    let place = Workplace::with(text);
    place.write("lydian.toml", "lazy-inputs = true\n");
    let ran = place.run("gen unit.c --function f -c dc --json t.json");
    let table = place.json("t.json");
    assert_eq!(figures(&table, "f", "dc")[2], infeasible, "{ran}");
    assert_eq!(row(&table, "f", "dc")["infeasible_as_assumed"], 0, "{ran}");
    ran.out.lines().filter(|line| line.starts_with("granted: ")).map(str::to_owned).collect()
}

const CHARACTERS: &str =
    "granted: a character pointer of the inputs leads to characters alone (character-pointer)";

#[test]
fn that_a_character_pointer_leads_to_characters_is_granted_and_named_where_it_matters() {
    let written = "int f(char *s, int *n)
{
    *n = 5;
    if (s[0] == 'x' && *n != 5)
        return 1;
    *s = 3;
    if (*n != 5)
        return 2;
    return 0;
}
";
    assert_eq!(granted(written, 2), [CHARACTERS]);
    let variable = "int g;
int f(char *s)
{
    g = 3;
    *s = 4;
    if (g != 3)
        return 1;
    return 0;
}
";
    assert_eq!(granted(variable, 1), [CHARACTERS]);
    let read = "int f(const char *s, const int *n)
{
    if (s[0] == 'x' && *n == 5)
        return s[0] == 'y' ? 1 : 2;
    return 0;
}
";
    assert_eq!(granted(read, 1), [""; 0], "nothing can show where these lead");
    let numbers = "int f(int *p, int *q) { *p = 3; *q = *p; if (*p != 3) return 1; return 0; }\n";
    assert_eq!(granted(numbers, 1), [""; 0], "there are no characters");
}

#[test]
fn that_no_object_has_2_gib_is_granted_and_named_where_an_access_could_leave_it() {
    let text = "int f(int *p, long i)
{
    p[i] = 7;
    if (p[i] != 7)
        return 1;
    return 0;
}
";
    let told = "granted: no object has 1 GiB or more (object-size)";
    assert_eq!(granted(text, 1), [told]);
    let near = "int f(int *p) { p[3] = 7; if (p[3] != 7) return 1; return 0; }\n";
    assert_eq!(granted(near, 1), [""; 0], "every access is near");
}

#[test]
fn that_nobody_writes_to_variables_between_calls_is_an_assumption_where_it_matters() {
    let place = Workplace::with(
        "int *gp;\n\
         int first(int x) { static int calls; if (calls < 3) x += *gp; if (x < 4) calls = 3; \
         if (gp == 0) return 1; return 0; }\n\
         int second(int x) { static int last; if (x == last) return 1; last = x & 3; \
         return 0; }\n",
    );
    let ran = place.done("gen unit.c -c bc --json t.json");
    let table = place.json("t.json");
    let told = "between calls nobody else writes to gp (other)";
    assert!(ran.out.contains(told), "{ran}");
    for function in ["first", "second"] {
        let row = row(&table, function, "bc");
        let assumed = row["infeasible_as_assumed"].as_u64();
        assert_eq!(
            (assumed > Some(0), &row["infeasible"]),
            (function == "first", &0.into()),
            "{ran}"
        );
    }
}
