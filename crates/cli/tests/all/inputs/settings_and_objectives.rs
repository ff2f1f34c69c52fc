//! What users say about inputs and objectives, and the list of objectives.

use crate::common::{Workplace, figures};

const BAND: &str = "int band(int x) { if (x > 100) return 2; if (x < 0) return 1; return 0; }\n";

/// The figures of `dc` for a function, with this `lydian.toml` beside the file.
fn with_settings(text: &str, settings: &str, function: &str) -> [u64; 5] {
    let place = Workplace::with(text);
    place.write("lydian.toml", settings);
    place.done(&format!("gen unit.c -c dc -f {function} --json t.json"));
    figures(&place.json("t.json"), function, "dc")
}

#[test]
fn a_range_restricts_an_input() {
    let settings = "[function.band.places]\n\"x\" = { range = [0, 100] }\n";
    assert_eq!(with_settings(BAND, settings, "band"), [4, 2, 2, 0, 0]);
}

#[test]
fn a_precondition_restricts_the_inputs() {
    let settings = "[function.band]\npreconditions = [\"x <= 100 && x != 7\"]\n";
    assert_eq!(with_settings(BAND, settings, "band"), [4, 3, 1, 0, 0]);
}

#[test]
fn a_pointer_that_is_not_null_and_a_length_are_taken_at_their_word() {
    let text = "int f(const int *p, unsigned n) { if (!p) return -1; if (n > 3) return 1; return p[n]; }\n";
    let settings = "[function.f.places]\n\"p\" = { length = \"n + 1\", max = 4, null = false }\n";
    let place = Workplace::with(text);
    place.write("lydian.toml", settings);
    let ran = place.run("gen unit.c -c dc --json t.json");
    match ran.code {
        Some(0) => assert_eq!(figures(&place.json("t.json"), "f", "dc")[..3], [4, 2, 2]),
        // Lengths are places, their multiples and numbers.
        _ => ran.says(2, &["lydian.toml", "line 2"]),
    }
    let settings = "[function.f.places]\n\"p\" = { length = \"n\", max = 3, null = false }\n";
    assert_eq!(with_settings(text, settings, "f")[..3], [4, 2, 2]);
}

#[test]
fn a_stub_defines_what_the_program_leaves_undefined() {
    let place =
        Workplace::with("int ask(int); int f(int x) { if (ask(x) > 9) return 1; return 0; }\n");
    place.write("stubs.c", "int ask(int x) { return x & 7; }\n");
    place.write("lydian.toml", "stubs = [\"stubs.c\"]\n");
    place.done("gen unit.c -c dc -f f --json t.json");
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [2, 1, 1, 0, 0]);
}

#[test]
fn the_functions_that_are_named_are_printed_alone_and_as_in_the_whole_program() {
    let place =
        Workplace::with(&format!("int limit = 3;\n{BAND}int other(int y) {{ return y; }}\n"));
    let whole = place.done("ir unit.c").out;
    let band = place.done("ir unit.c --function band").out;
    assert!(whole.contains("\"limit\"") && !band.contains("\"limit\""), "{band}");
    assert!(band.starts_with("function f") && band.contains("\"band\""), "{band}");
    assert!(!band.contains("\"other\"") && band.trim_end().ends_with('}'), "{band}");
    assert!(whole.contains(&format!("\n\n{band}")), "{whole}");
    let both = place.done("ir unit.c -f other -f band").out;
    let other = place.done("ir unit.c -f other").out;
    assert_eq!(both, format!("{other}\n{band}"));
    place.refused("ir unit.c -f bnad", 3, &["does not define `bnad`", "`band`"]);
}

#[test]
fn mistakes_in_the_settings_are_shown_with_their_line() {
    let place = Workplace::with(BAND);
    for (settings, said) in [
        ("[function.band]\nprecondition = [\"x > 0\"]\n", "line 2"),
        ("[function.band.places]\n\n\"x\" = { range = [9, 3] }\n", "empty"),
        ("[defaults\n", "line 1"),
        ("stubs = [\"absent.c\"]\n", "absent.c"),
    ] {
        place.write("lydian.toml", settings);
        place.refused("gen unit.c", 2, &["error[configuration]", said]);
    }
}

#[test]
fn init_writes_a_file_that_gen_reads_back() {
    let place = Workplace::with(
        "int f(const char *s, const int *p, unsigned n) { if (*s == 'a' && n > 1) return p[n - 1] > 5; return 0; }\n",
    );
    place.done("gen unit.c -c dc,cc -o before --json before.json");
    place.done("init unit.c");
    let text = place.read("lydian.toml");
    assert!(text.contains("[function.\"f\"") && text.contains('#'), "{text}");
    place.refused("init unit.c", 2, &["lydian.toml"]);
    place.done("init unit.c --force");
    assert_eq!(place.read("lydian.toml"), text);
    place.done("gen unit.c -c dc,cc -o after --json after.json");
    let (before, after) = (place.json("before.json"), place.json("after.json"));
    assert_eq!(figures(&before, "f", "cc"), figures(&after, "f", "cc"));
}

#[test]
fn labels_of_the_user_are_reached_as_comments_and_as_calls() {
    let place = Workplace::with(
        "#ifndef __LYDIAN__\n#define lydian_label(name, predicate)\n#endif\n
int f(int x, int y)
{
    int z = x ^ y;
    //! meets: z == 42 && x > 1000
    lydian_label(\"never\", (z & 1) > 1);
    return z;
}
",
    );
    place.done("gen unit.c -c user -o tests --json t.json");
    assert_eq!(figures(&place.json("t.json"), "f", "user"), [2, 1, 1, 0, 0]);
    let ran = place.done("objectives unit.c -c user");
    assert!(ran.out.contains("meets: ") && ran.out.contains("never: "), "{ran}");
    place.done("cover unit.c -c user --tests tests --json c.json");
    assert_eq!(figures(&place.json("c.json"), "f", "user")[1], 1);
}

#[test]
fn flags_come_from_the_command_line_or_from_a_database() {
    let place = Workplace::with(
        "#include \"limit.h\"\nint f(int x) { if (x > LIMIT + EXTRA) return 1; return 0; }\n",
    );
    std::fs::create_dir(place.path("inc")).unwrap();
    place.write("inc/limit.h", "#define LIMIT 5\n");
    place.refused("objectives unit.c -c dc", 3, &["limit.h"]);
    let ran = place.done("objectives unit.c -c dc -- -Iinc -DEXTRA=2");
    assert!(ran.out.contains("x > (5 + 2)") || ran.out.contains("x > 5 + 2"), "{ran}");
    let folder = place.path("inc").parent().unwrap().display().to_string();
    let entry = serde_json::json!([{
        "directory": folder, "file": "unit.c",
        "arguments": ["cc", "-Iinc", "-DEXTRA=3", "-c", "unit.c", "-o", "unit.o"],
    }]);
    place.write("commands.json", &entry.to_string());
    place.done("objectives unit.c -c dc --compile-commands commands.json");
    place.write("compile_commands.json", &entry.to_string());
    place.done("gen unit.c -c dc --json t.json");
    assert_eq!(figures(&place.json("t.json"), "f", "dc"), [2, 2, 0, 0, 0]);
    place.write("other.json", "[]");
    place.refused("objectives unit.c --compile-commands other.json", 2, &["unit.c"]);
}

const CHECK: &str =
    "int check(const int *p, int x) { int ok = x > 3; if (p && *p > x) ok = 0; return ok; }\n";

#[test]
fn objectives_are_listed_with_place_and_predicate() {
    let place = Workplace::with(CHECK);
    let ran = place.done("objectives unit.c -c dc,cc,mcc --json list.json");
    let expected = "\
check dc: 2 objectives
  unit.c:1:54 d0 true: p && (*p > x)
  unit.c:1:54 d0 false: !(p && (*p > x))
check cc: 4 objectives
  unit.c:1:54 d0.c0 true: p
  unit.c:1:54 d0.c0 false: !p
  unit.c:1:59 d0.c1 true: *p > x
  unit.c:1:59 d0.c1 false: !(*p > x)
";
    assert!(ran.out.starts_with(expected), "{ran}");
    let list = place.json("list.json");
    let objectives = list["functions"][0]["objectives"].as_array().unwrap();
    assert_eq!(objectives.len(), 10);
    assert_eq!(objectives[0]["predicate"], "p && (*p > x)");
    assert_eq!(
        (objectives[0]["line"].as_u64(), objectives[0]["column"].as_u64()),
        (Some(1), Some(54))
    );
}

#[test]
fn lone_comparisons_are_decisions_when_asked_for() {
    let place = Workplace::with(CHECK);
    let ran = place.done("objectives unit.c -c dc --value-decisions all");
    assert!(ran.out.starts_with("check dc: 4 objectives\n"), "{ran}");
    place.done("gen unit.c -c dc --value-decisions all --json t.json");
    assert_eq!(figures(&place.json("t.json"), "check", "dc"), [4, 4, 0, 0, 0]);
}

#[test]
fn short_circuit_semantics_leave_what_is_not_reached_unknown() {
    let place =
        Workplace::with("int f(int x, int y) { if (x > 3 && y > 3) return 1; return 0; }\n");
    place.done("gen unit.c -c mcc -o three --json three.json");
    assert_eq!(figures(&place.json("three.json"), "f", "mcc"), [4, 4, 0, 0, 0]);
    place.done("gen unit.c -c mcc -o short --semantics short-circuit --json short.json");
    let [objectives, covered, infeasible, _, unknown] =
        figures(&place.json("short.json"), "f", "mcc");
    assert_eq!((objectives, covered, infeasible, unknown), (4, 2, 2, 0));
}

const BOTH: &str = "int f(int x, int y) { if (x > 3 && y > 3) return 1; return 0; }\n";

#[test]
fn criteria_over_pairs_are_listed_and_measured_on_tests_for_other_criteria() {
    let place = Workplace::with(BOTH);
    let ran = place.done("objectives unit.c -c cacc,mcdc");
    assert!(ran.out.contains("f cacc: 2 objectives\n"), "{ran}");
    assert!(ran.out.contains("d0.c1 decides: `y > 3` decides `x > 3 && y > 3`"), "{ran}");
    place.done("gen unit.c -c mcc -o tests");
    let criteria = "cacc,racc,ricc,mcdc,cutpnfp";
    place.done(&format!("cover unit.c -c {criteria} --tests tests --json c.json"));
    let covered = |criterion| figures(&place.json("c.json"), "f", criterion)[..2].to_vec();
    // All four combinations: only one that is idle where the outcome is true is out of reach.
    for (criterion, expected) in [
        ("cacc", [2, 2]),
        ("racc", [2, 2]),
        ("ricc", [4, 2]),
        ("mcdc", [2, 2]),
        ("cutpnfp", [4, 4]),
    ] {
        assert_eq!(covered(criterion), expected, "{criterion}");
    }
}

#[test]
fn decisions_of_many_conditions_are_measured_by_pairs() {
    let names: Vec<String> = (0..12).map(|n| format!("x{n}")).collect();
    let params: Vec<String> = names.iter().map(|name| format!("int {name}")).collect();
    let conditions: Vec<String> = names.iter().map(|name| format!("{name} > 0")).collect();
    let (params, conditions) = (params.join(", "), conditions.join(" && "));
    let place = Workplace::with(&format!("int f({params}) {{ return {conditions}; }}\n"));
    place.done("gen unit.c -c gacc -o tests");
    place.done("cover unit.c -c racc,mcdc --tests tests --json c.json");
    for criterion in ["racc", "mcdc"] {
        assert_eq!(figures(&place.json("c.json"), "f", criterion)[..2], [12, 12], "{criterion}");
    }
}

const FLOW: &str = "int flow(int high, int low) {\n  int res;\n  //! start: 1\n  \
    res = low + (high > 3);\n  //! end: 1\n  return res;\n}\n";

#[test]
fn hyperlabels_of_a_file_are_objectives() {
    let place = Workplace::with(FLOW);
    let leak = "function flow;\nobjective leak =\n\
        < [start |> { lo <- low } -> end |> { r <- res }] .\n\
        [start |> { lo' <- low } -> end |> { r' <- res }] | lo == lo' && r != r' >;\n";
    place.write("flow.htol", leak);
    let ran = place.done("objectives unit.c -c htol --htol flow.htol");
    assert!(ran.out.starts_with("flow htol: 1 objectives\n"), "{ran}");
    place.done("gen unit.c -c stmt -o tests");
    let test = |high: i32, low: i32| {
        format!(
            "{{\"name\": \"t{high}_{low}\", \"function\": \"flow\", \
                 \"args\": {{\"high\": {high}, \"low\": {low}}}}}"
        )
    };
    for (runs, covered) in [([(1, 5), (9, 6)], 0), ([(1, 5), (9, 5)], 1)] {
        let tests: Vec<String> = runs.iter().map(|(high, low)| test(*high, *low)).collect();
        let suite = format!("{{\"version\": 1, \"tests\": [{}]}}", tests.join(","));
        place.write("suite.json", &suite);
        let ran =
            place.done("cover unit.c -c htol --htol flow.htol --tests suite.json --json c.json");
        assert!(!ran.err.contains("not measured"), "{ran}");
        assert_eq!(figures(&place.json("c.json"), "flow", "htol")[..2], [1, covered]);
    }
    place.write("plain.htol", "function flow;\nobjective both = (entry, low > 0) + end;\n");
    place.done("cover unit.c -c htol --htol plain.htol --tests tests --json c.json");
    assert_eq!(figures(&place.json("c.json"), "flow", "htol")[..2], [1, 1]);
    for (text, said) in [
        ("function flow;\nobjective x = start |> { v <- low }\n;objective y = x . x;\n", "`v`"),
        ("function flow;\nobjective x = begin;\n", "bad.htol:2:15"),
        ("function flow;\nobjective x = ;\n", "is expected here"),
        ("function flows;\n", "`flows`"),
        ("objective x = start;\n", "bad.htol:1:11"),
        ("function flow;\nobjective x = flows::start;\n", "there is no function `flows`"),
        ("function flow;\npath p = line 3 -> line 1;\n", "bad.htol:2:20"),
    ] {
        place.write("bad.htol", text);
        place.run("objectives unit.c -c htol,spc --htol bad.htol").says(2, &["bad.htol", said]);
    }
    place.run("objectives unit.c -c htol --htol none.htol").says(2, &["none.htol"]);
}

/// A test that binds more values than one run has room for.
#[test]
fn an_objective_whose_values_had_no_room_is_not_judged() {
    let place = Workplace::with(
        "int f(int n) {\n  int i = 0;\n  for (; i < n; i++) {\n    //! at: 1\n    ;\n  }\n  return i;\n}\n",
    );
    place.write(
        "a.htol",
        "function f;\nlabel end = (at, i > 4990) |> { w <- i };\n\
         objective early = < at |> { v <- i } . end | v + 4992 == w && w == 4999 >;\n\
         objective late = < at |> { v <- i } . end | v + 8 == w && w == 4999 >;\n\
         objective plain = at;\nobjective one = < at |> { v <- i + 1 } | v == 5000 >;\n",
    );
    let test = "{\"version\": 1, \"tests\": [{\"name\": \"t\", \"function\": \"f\", \"args\": {\"n\": 5000}}]}";
    place.write("suite.json", test);
    let ran =
        place.done("cover unit.c -c htol --htol a.htol --tests suite.json --missing --json c.json");
    assert_eq!(figures(&place.json("c.json"), "f", "htol")[..2], [4, 3]);
    assert!(ran.out.contains("f htol late"), "{ran}");
    assert!(ran.err.contains("is not judged: a table was too small"), "{ran}");
}

/// Items of the language in comments: in a function, and in a block anywhere.
const WRITTEN: &str = "\
static int half(int x) {\n  //! out: x > 2\n  return x / 2;\n}\n\
int flow(int n) {\n  //! start: 1\n  n = half(n);\n  //! objective both =\n  //!   [start -> half::out];\n  \
//! path all = entry -> line 11;\n  return n;\n}\n\
/*! htol function half; objective big = out; */\n";

#[test]
fn hyperlabels_and_paths_in_comments_are_objectives() {
    let place = Workplace::with(WRITTEN);
    let ran = place.done("objectives unit.c -c htol,spc");
    for expected in [
        "half htol: 1 objectives",
        "flow htol: 1 objectives",
        "unit.c:6:3 both: [start -> half::out]",
        "flow spc: 1 objectives",
        "all: entry -> line 11",
    ] {
        assert!(ran.out.contains(expected), "{expected}: {ran}");
    }
    let test =
        |n: i32| format!("{{\"name\": \"t\", \"function\": \"flow\", \"args\": {{\"n\": {n}}}}}");
    for (n, covered) in [(1, 0), (5, 1)] {
        let suite = format!("{{\"version\": 1, \"tests\": [{}]}}", test(n));
        place.write("suite.json", &suite);
        place.done("cover unit.c -c htol,spc --tests suite.json --json c.json");
        assert_eq!(figures(&place.json("c.json"), "flow", "htol")[..2], [1, covered]);
        assert_eq!(figures(&place.json("c.json"), "half", "htol")[..2], [1, covered]);
        assert_eq!(figures(&place.json("c.json"), "flow", "spc")[..2], [1, 1]);
    }
}

#[test]
fn mistakes_in_comments_are_shown_where_they_stand() {
    for (items, said) in [
        ("//! objective o = nowhere;", "unit.c:3:21"),
        ("//! objective o =\n  //! [start ->\n  //!  begin];", "unit.c:5:8"),
        ("/*! htol label l = start;\n   objective o = l .; */", "unit.c:4:21"),
        ("//! objective o = start", "unit.c:3:26"),
        ("/*! htol\n * path p = line 77; */", "unit.c:4:13"),
    ] {
        let text = format!("int flow(int n) {{\n  //! start: 1\n  {items}\n  return n;\n}}\n");
        let place = Workplace::with(&text);
        place.run("objectives unit.c -c htol,spc").says(2, &["unit.c", said]);
    }
    let place = Workplace::with("/*! htol objective o = start; */ int f(int n) { return n; }\n");
    place.run("objectives unit.c -c htol").says(2, &["`function` and its name", "unit.c:1:20"]);
}

const LOOPS: &str = "int f(int n) {\n  int s = 0;\n  for (int i = 0; i < n; i++) s += i;\n  \
    while (s > 10) s -= 4;\n  do s++; while (s < 0);\n  do { s++; } while (0);\n  \
    for (;;) { s++; if (s > 5) break; }\n  while (s > 6) { s--; break; }\n  return s;\n}\n";

#[test]
fn loops_are_skipped_entered_and_repeated() {
    let place = Workplace::with(LOOPS);
    let ran = place.done("objectives unit.c -c slo,elo,mlo");
    // `do ... while (0)` is no loop, nor is what always leaves in its first round.
    for counted in ["f slo: 2 objectives", "f elo: 4 objectives", "f mlo: 4 objectives"] {
        assert!(ran.out.contains(counted), "{counted}: {ran}");
    }
    assert!(ran.out.contains("`while (s > 10)` skipped"), "{ran}");
}

/// A number that follows from the one before.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
    *state >> 33
}

#[test]
fn no_text_however_odd_makes_the_command_panic() {
    let pieces = [
        "{",
        "}",
        "(",
        ")",
        "*",
        "&&",
        "||",
        "!",
        "?",
        ":",
        ";",
        ",",
        "[",
        "]",
        "int ",
        "if",
        "\"",
        "'",
        "//! l: ",
        "//! objective o = ",
        "//! path p = line 1 -> ",
        "/*! htol ",
        "*/",
        "\n",
        "/*",
        "\\\n",
        "#if 1\n",
        "0x",
        "case 1:",
        "goto x;",
        "...",
        "\u{0}",
        "=",
        "struct s",
    ];
    let begun = std::time::Instant::now();
    let place = Workplace::with("");
    let mut state = 1;
    for round in 0..40u64 {
        let mut text: Vec<u8> = match round % 4 {
            0 => (0..200).map(|_| next(&mut state) as u8).collect(),
            1 => BAND.into(),
            _ => CHECK.into(),
        };
        for _ in 0..1 + round % 5 {
            let at = next(&mut state) as usize % (text.len() + 1);
            let piece = pieces[next(&mut state) as usize % pieces.len()];
            let end = (at + next(&mut state) as usize % 6).min(text.len());
            text.splice(at..end, piece.bytes());
        }
        std::fs::write(place.path("unit.c"), &text).unwrap();
        let ran = place.run("objectives unit.c");
        let shown = String::from_utf8_lossy(&text);
        assert!(!ran.err.contains("panicked"), "round {round}: {ran}\n{shown}");
        // An ill-formed label is the user's mistake; what is left may be nothing that is supported.
        assert!(matches!(ran.code, Some(0 | 2 | 3 | 4)), "round {round}: {ran}\n{shown}");
        if begun.elapsed().as_secs() > 20 {
            break; // a loaded machine
        }
    }
}
