//! Traces of explorations: what `gen --trace` writes, and the trees that `trace` shows of it.

use serde_json::Value;

use crate::common::Workplace;

const UNIT: &str = "\
int classify(int a, int b)
{
    if (a > 10)
        return 1;
    if (b == a * 3)
        return 2;
    return 3;
}
";

#[test]
fn each_path_of_a_function_is_a_branch_of_its_tree() {
    let place = Workplace::with(UNIT);
    place.done("gen unit.c -c bc --explore all --trace trace.json");
    let text = place.read("trace.json");
    let lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    let of = |event: &str| lines.iter().filter(|line| line["event"] == event).collect::<Vec<_>>();
    // Both branches fork, and each of three paths ends.
    let forks = of("fork");
    assert!(forks.len() >= 2, "{text}");
    assert!(forks.iter().all(|line| line["parent"].as_u64() < line["state"].as_u64()), "{text}");
    assert!(of("end").len() >= 3, "{text}");
    assert!(of("question").iter().any(|line| line["answer"] == "satisfiable"), "{text}");
    let shown = place.done("trace trace.json");
    assert!(shown.out.contains("classify: 3 states"), "{shown}");
    assert_eq!(shown.out.matches(" from unit.c:").count(), 3, "{shown}");
    let none = place.done("trace trace.json --function none");
    assert!(none.out.is_empty(), "{none}");
}

#[test]
fn a_file_that_is_no_trace_is_refused_with_the_line() {
    let place = Workplace::with(UNIT);
    place.write("no.json", "{\"function\":\"f\",\"event\":\"begin\"}\nnonsense\n");
    place.refused("trace no.json", 2, &["no.json:2", "gen --trace"]);
    place.refused("trace missing.json", 3, &["missing.json"]);
}
