//! The programs of `docs/differences.md` under Lydian, gcov and clang: what each says is what the
//! page says. `LYDIAN_BLESS=1` writes it there.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::Workplace;
use crate::common::wrapped::built;

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or("")
}

fn sign(covered: bool) -> char {
    if covered { '+' } else { '-' }
}

/// Lines, each with signs.
type Signs = BTreeMap<u64, String>;

fn shown(signs: &Signs) -> String {
    let mut shown = String::new();
    for (line, signs) in signs {
        let _ = write!(shown, " {line}{signs}");
    }
    shown
}

/// Runs a program that is to succeed; its output.
fn run(at: &Workplace, words: &[&str]) -> Vec<u8> {
    let program = at.path(words[0]);
    let program = if program.is_file() { program } else { words[0].into() };
    let mut command = Command::new(program);
    at.settle(command.args(&words[1..]).env("LLVM_PROFILE_FILE", at.path("unit.profraw")));
    let output = command.output().unwrap_or_else(|error| panic!("{words:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {said}");
    output.stdout
}

fn json(text: &[u8]) -> Value {
    serde_json::from_slice(text).expect("tools write JSON")
}

/// What Lydian says, by kind.
fn lydian(at: &Workplace) -> BTreeMap<&'static str, Signs> {
    built(at, "-c stmt,bc,mcdc --semantics short-circuit", "clang-19 -w unit.c -o measured");
    run(at, &["measured"]);
    at.done("report --json report.json");
    let report = at.json("report.json");
    let (mut lines, mut branches, mut mcdc) = (Signs::new(), Signs::new(), Signs::new());
    for function in list(&report["coverage"]["files"][0]["functions"]) {
        for line in list(&function["lines"]) {
            let sign = sign(line["covered"] == Value::Bool(true));
            lines.entry(line["line"].as_u64().unwrap_or(0)).or_default().push(sign);
        }
        for objective in list(&function["objectives"]) {
            let kind = match text(&objective["criterion"]) {
                "bc" => &mut branches,
                "mcdc" => &mut mcdc,
                _ => continue,
            };
            let sign = sign(objective["status"] == "covered");
            kind.entry(objective["start"][0].as_u64().unwrap_or(0)).or_default().push(sign);
        }
    }
    [("lines", lines), ("branches", branches), ("mcdc", mcdc)].into()
}

/// What gcov says, by kind.
fn gcov(at: &Workplace) -> BTreeMap<&'static str, Signs> {
    run(at, &["gcc", "-O0", "-w", "--coverage", "unit.c", "-o", "counted"]);
    run(at, &["counted"]);
    let said =
        run(at, &["gcov", "--json-format", "--stdout", "--branch-probabilities", "counted-unit"]);
    let said = json(&said);
    let (mut lines, mut branches) = (Signs::new(), Signs::new());
    for line in list(&said["files"][0]["lines"]) {
        let number = line["line_number"].as_u64().unwrap_or(0);
        lines.insert(number, sign(line["count"] != 0).to_string());
        for branch in list(&line["branches"]) {
            branches.entry(number).or_default().push(sign(branch["count"] != 0));
        }
    }
    [("lines", lines), ("branches", branches)].into()
}

/// What clang says, by kind.
fn clang(at: &Workplace) -> BTreeMap<&'static str, Signs> {
    let flags = ["-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc"];
    let mut words = vec!["clang-19", "-O0", "-w", "unit.c", "-o", "profiled"];
    words.extend(flags);
    run(at, &words);
    run(at, &["profiled"]);
    run(at, &["llvm-profdata-19", "merge", "unit.profraw", "-o", "unit.profdata"]);
    let said = run(at, &["llvm-cov-19", "export", "profiled", "-instr-profile=unit.profdata"]);
    let said = json(&said);
    let file = &said["data"][0]["files"][0];
    let (mut branches, mut mcdc) = (Signs::new(), Signs::new());
    for branch in list(&file["branches"]) {
        let of_line: &mut String = branches.entry(branch[0].as_u64().unwrap_or(0)).or_default();
        of_line.push(sign(branch[4] != 0));
        of_line.push(sign(branch[5] != 0));
    }
    for record in list(&file["mcdc_records"]) {
        let signs = list(&record[6]).iter().map(|covered| sign(*covered == Value::Bool(true)));
        mcdc.entry(record[0].as_u64().unwrap_or(0)).or_default().extend(signs);
    }
    [("branches", branches), ("mcdc", mcdc)].into()
}

/// A program with what is asked about it, one kind of result a line.
fn results(program: &str, asked: &str) -> String {
    let at = Workplace::with(program);
    let mut tools: BTreeMap<&str, BTreeMap<&str, Signs>> = BTreeMap::new();
    let mut found = String::new();
    for line in asked.lines() {
        let mut words = line.split_whitespace();
        let (tool, kind) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
        let said = tools.entry(tool).or_insert_with(|| match tool {
            "lydian" => lydian(&at),
            "gcov" => gcov(&at),
            "clang" => clang(&at),
            _ => panic!("there is no tool {tool}"),
        });
        let signs = said.get(kind).unwrap_or_else(|| panic!("{tool} has no {kind}"));
        let shown = if signs.is_empty() { " none".to_owned() } else { shown(signs) };
        let _ = writeln!(found, "{:<16}{shown}", format!("{tool} {kind}"));
    }
    found
}

#[test]
fn other_tools_differ_as_the_page_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/differences.md");
    let page = std::fs::read_to_string(&path).expect("the page is there");
    let (mut expected, mut found) = (Vec::new(), Vec::new());
    let mut new = String::new();
    let mut rest = page.as_str();
    while let Some(start) = rest.find("```c\n") {
        let program = &rest[start + 5..];
        let end = program.find("```\n```text\n").expect("results follow a program");
        let asked = &program[end + 12..];
        let after = asked.find("```").expect("the block ends");
        let results = results(&program[..end], &asked[..after]);
        let heading = rest[..start].rfind("## ").map_or("", |at| &rest[at..start]);
        let title = heading.lines().next().unwrap_or("");
        expected.push(format!("{title}\n{}", &asked[..after]));
        found.push(format!("{title}\n{results}"));
        let kept = rest.len() - asked.len();
        new.push_str(&rest[..kept]);
        new.push_str(&results);
        rest = &asked[after..];
    }
    new.push_str(rest);
    assert!(found.len() > 10, "there is a program for each difference");
    if std::env::var_os("LYDIAN_BLESS").is_some() {
        return std::fs::write(&path, new).expect("the page can be written");
    }
    assert_eq!(found, expected);
}
