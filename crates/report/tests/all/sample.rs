//! A small project with a coverage of it that was worked out by hand.
//!
//! The project was "run" with `number("7x", 2)`, `number(NULL, 0)` and `weigh` of `(1, 1, 0)`,
//! `(1, 0, 0)` and `(0, 5, 0)`. Places are found by the text that stands there.

use std::path::{Path, PathBuf};

use lydian_base::EntityId as _;
use lydian_ir::{BoolTree, ConditionId};
use lydian_objective::Criterion;
use lydian_report::Report;
use lydian_report::coverage::{
    ConditionCoverage, Coverage, DecisionCoverage, DecisionRow, DefUseCoverage, ExecutionCount,
    FileCoverage, FunctionCoverage, LineCoverage, LineRanges, ObjectiveCoverage, ObjectiveStatus,
    PlainFile, Position, SwitchCoverage, SwitchWay, TestCoverage,
};
use lydian_report::sources::{SourceText, Sources};

const PARSE: &str = include_str!("../sample/project/src/parse.c");
const LIMIT: &str = include_str!("../sample/project/limit.h");

/// The folder that the project is said to be in, so that golden files name no folder of this machine.
pub(crate) const ROOT: &str = "/project";

/// The report of the project.
pub(crate) fn report() -> Report {
    let mut sources = Sources::default();
    sources.insert(PathBuf::from("/project/src/parse.c"), SourceText::of(PARSE.as_bytes()));
    sources.insert(PathBuf::from("/project/limit.h"), SourceText::of(LIMIT.as_bytes()));
    let (report, warnings) = Report::with(coverage(), sources, Path::new(ROOT)).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    report
}

/// The coverage with the files below another folder.
pub(crate) fn coverage_at(root: &Path) -> Coverage {
    let mut coverage = coverage();
    for file in &mut coverage.files {
        file.path = root.join(file.path.strip_prefix(ROOT).unwrap());
    }
    coverage
}

/// Compares a text with a golden file; with `LYDIAN_BLESS=1` the file is written.
pub(crate) fn check(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample/golden").join(name);
    if std::env::var_os("LYDIAN_BLESS").is_some() {
        std::fs::write(&path, actual).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    let differs = expected.lines().zip(actual.lines()).find(|(a, b)| a != b);
    assert!(expected == actual, "{name} differs; LYDIAN_BLESS=1 writes it: {differs:?}");
}

/// The coverage of the project, before its comments were read.
pub(crate) fn coverage() -> Coverage {
    let parse = FileCoverage {
        path: "/project/src/parse.c".into(),
        functions: vec![number(), weigh(), debug(), never()],
        ..FileCoverage::default()
    };
    let limit = FileCoverage {
        path: "/project/limit.h".into(),
        functions: vec![clamp()],
        ..FileCoverage::default()
    };
    let gone = FileCoverage {
        path: "/project/src/gone.c".into(),
        functions: vec![gone()],
        ..FileCoverage::default()
    };
    Coverage {
        criteria: vec![
            Criterion::Stmt,
            Criterion::Dc,
            Criterion::Cc,
            Criterion::Gacc,
            Criterion::Wm,
        ],
        files: vec![limit, gone, parse],
        plain: vec![PlainFile {
            path: "/project/src/start.S".into(),
            reason: "it is assembler".into(),
        }],
        warnings: vec!["one run's counters were damaged & left out <run 7>".into()],
        tests: vec![TestCoverage {
            name: "smoke & <more>".into(),
            files: [("/project/src/parse.c".into(), LineRanges(vec![(7, 7), (9, 11)]))].into(),
        }],
    }
}

/// The place of a text in the n-th line of a file that contains it, from 0.
fn nth(source: &str, text: &str, n: usize) -> Position {
    let mut lines = source.lines().enumerate().filter_map(|(i, line)| Some((i, line.find(text)?)));
    let (line, column) = lines.nth(n).unwrap_or_else(|| panic!("no {text}"));
    Position { line: line as u32 + 1, column: column as u32 + 1 }
}

fn at(text: &str) -> Position {
    nth(PARSE, text, 0)
}

fn lines(covered: &[&str], missing: &[&str]) -> Vec<LineCoverage> {
    let line = |covered: bool| {
        move |text: &&str| LineCoverage {
            line: at(text).line,
            covered,
            count: ExecutionCount::default(),
        }
    };
    let mut all: Vec<_> = covered.iter().map(line(true)).collect();
    all.extend(missing.iter().map(line(false)));
    all.sort_by_key(|line| line.line);
    all
}

fn cond(index: usize) -> Box<BoolTree> {
    Box::new(BoolTree::Cond(ConditionId::from_index(index)))
}

fn decision(
    start: Position,
    text: &str,
    parts: &[&str],
    tree: BoolTree,
    rows: &[&str],
) -> DecisionCoverage {
    let rows: Vec<DecisionRow> =
        rows.iter().map(|row| DecisionRow::try_from((*row).to_owned()).unwrap()).collect();
    let condition = |part: &&str| ConditionCoverage {
        start: at(part),
        text: (*part).to_owned(),
        pure: !part.contains('*') && !part.contains('['),
        counts: Default::default(),
    };
    DecisionCoverage {
        short_circuit: false,
        start,
        text: text.to_owned(),
        from_macro: false,
        conditions: parts.iter().map(condition).collect(),
        tree,
        outcomes: [false, true].map(|way| rows.iter().any(|row| row.outcome == way)),
        rows,
        recorded: true,
    }
}

/// The objectives of a decision for DC, CC and GACC, judged from its rows.
fn logic(number: usize, decision: &DecisionCoverage) -> Vec<ObjectiveCoverage> {
    let mut found = Vec::new();
    let mut push = |criterion, start, name: String, text: String, covered: bool| {
        let status = if covered { ObjectiveStatus::Covered } else { ObjectiveStatus::Missing };
        found.push(ObjectiveCoverage { decision: None, criterion, name, start, text, status });
    };
    for (way, name) in [(1, "true"), (0, "false")] {
        let text = if way == 1 { decision.text.clone() } else { format!("!({})", decision.text) };
        let covered = decision.outcomes[way];
        push(Criterion::Dc, decision.start, format!("d{number} {name}"), text, covered);
    }
    let analysis = lydian_report::independence::analyse(decision);
    for (index, condition) in decision.conditions.iter().enumerate() {
        for (way, name) in [(true, "true"), (false, "false")] {
            let seen = decision.rows.iter().any(|row| row.values[index] == Some(way));
            let text = if way { condition.text.clone() } else { format!("!({})", condition.text) };
            let title = format!("d{number}.c{index} {name}");
            push(Criterion::Cc, condition.start, title.clone(), text.clone(), seen);
            let decided = analysis[index].decided()[usize::from(way)];
            let text = format!("{text}, and it decides");
            push(Criterion::Gacc, condition.start, title + " active", text, decided);
        }
    }
    found
}

fn statements(lines: &[LineCoverage]) -> Vec<ObjectiveCoverage> {
    let objective = |line: &LineCoverage| ObjectiveCoverage {
        decision: None,
        criterion: Criterion::Stmt,
        name: format!("line {}", line.line),
        start: Position { line: line.line, column: 2 },
        text: PARSE.lines().nth(line.line as usize - 1).unwrap().trim().to_owned(),
        status: if line.covered { ObjectiveStatus::Covered } else { ObjectiveStatus::Missing },
    };
    lines.iter().map(objective).collect()
}

fn mutant(name: &str, place: &str, text: &str, status: ObjectiveStatus) -> ObjectiveCoverage {
    ObjectiveCoverage {
        decision: None,
        criterion: Criterion::Wm,
        name: name.into(),
        start: at(place),
        text: text.into(),
        status,
    }
}

fn du(variable: &str, from: &str, to: &str, branch: Option<bool>, covered: bool) -> DefUseCoverage {
    let (definition, usage) = (at(from), at(to));
    DefUseCoverage {
        variable: variable.into(),
        definition,
        definition_file: None,
        usage,
        branch,
        covered,
    }
}

fn number() -> FunctionCoverage {
    let null = decision(
        at("s == NULL"),
        "s == (void *)0 || n == 0",
        &["s == NULL", "n == 0"],
        BoolTree::Or(cond(0), cond(1)),
        &["Tt=T", "FF=F"],
    );
    let mut digits = decision(
        at("i < n"),
        "i < n && ((s[i]) >= '0' && (s[i]) <= '9')",
        &["i < n", "IS_DIGIT(s", "IS_DIGIT(s"],
        BoolTree::And(cond(0), Box::new(BoolTree::And(cond(1), cond(2)))),
        &["TTT=T", "TTF=F"],
    );
    digits.from_macro = true;
    digits.conditions[1].text = "(s[i]) >= '0'".into();
    digits.conditions[2].text = "(s[i]) <= '9'".into();
    digits.conditions[1].pure = false;
    digits.conditions[2].pure = false;
    let some = decision(at("i > 0 ?"), "i > 0", &["i > 0"], *cond(0), &["T=T"]);
    let lines = lines(
        &[
            "int value",
            "size_t i",
            "s == NULL",
            "return -1;",
            "i < n",
            "value * 10",
            "i++",
            "i > 0 ?",
        ],
        &[],
    );
    let mut objectives = statements(&lines);
    for (index, decision) in [&null, &digits, &some].into_iter().enumerate() {
        objectives.extend(logic(index, decision));
    }
    objectives.extend([
        mutant("AOR 0", "value * 10", "value * 10 -> value + 10", ObjectiveStatus::Covered),
        mutant("AOR 1", "value * 10", "value * 10 -> value / 10", ObjectiveStatus::Missing),
        mutant("AOR 2", "value * 10", "value * 10 -> value - 10", ObjectiveStatus::Covered),
        mutant("CRO 3", "value * 10", "10 -> 0", ObjectiveStatus::Missing),
        mutant("ABS 4", "value * 10", "value -> abs(value)", ObjectiveStatus::Duplicate),
        mutant(
            "LHS 5",
            "value * 10",
            "value = -> i =",
            ObjectiveStatus::Unmeasured("it is of another type".into()),
        ),
    ]);
    FunctionCoverage {
        part: false,
        name: "number".into(),
        start: at("number("),
        end_line: 18,
        entered: Some(true),
        entries: ExecutionCount::default(),
        lines,
        decisions: vec![null, digits, some],
        switches: Vec::new(),
        objectives,
        def_uses: vec![
            du("value", "value = 0", "value * 10", None, true),
            du("value", "value = value", "value * 10", None, false),
            du("value", "value = value", "value) : -1", None, true),
            du("value", "value = 0", "value) : -1", None, false),
            du("i", "i = 0", "i < n", Some(true), true),
            du("i", "i = 0", "i < n", Some(false), false),
            du("i", "i++", "i > 0", Some(true), true),
        ],
    }
}

fn weigh() -> FunctionCoverage {
    let flags = decision(
        at("a > 0 &&"),
        "a > 0 && (b > 0 || c > 0)",
        &["a > 0", "b > 0", "c > 0"],
        BoolTree::And(cond(0), Box::new(BoolTree::Or(cond(1), cond(2)))),
        &["TTf=T", "TFF=F", "Ftf=F"],
    );
    let equal = decision(
        at("(a > 1) =="),
        "(a > 1) == (b > c && c > 1)",
        &["a > 1", "b > c", "c > 1"],
        BoolTree::Eq(cond(0), Box::new(BoolTree::And(cond(1), cond(2)))),
        &["FTF=T", "FFf=T"],
    );
    let mut flags = flags;
    for (condition, counts) in flags.conditions.iter_mut().zip([[12, 30], [1, 29], [1, 0]]) {
        condition.counts = counts.map(|count| ExecutionCount(Some(count)));
    }
    let lines = lines(
        &[
            "int best",
            "a > 0 &&",
            "best = a + b",
            "(a > 1) ==",
            "best = -best",
            "switch (best",
            "return 0",
            "return best",
        ],
        &["return a & b"],
    );
    let mut lines = lines;
    lines
        .iter_mut()
        .filter(|line| line.covered)
        .for_each(|line| line.count = ExecutionCount(Some(42)));
    let way = |name: &str, times: u64| SwitchWay {
        name: name.into(),
        start: at(name),
        covered: times > 0,
        count: ExecutionCount(Some(times)),
    };
    let switch = SwitchCoverage {
        start: at("switch ("),
        ways: vec![
            way("case 0", 5_000_000_000),
            way("case 1", 0),
            way("case 2", 0),
            way("default", 37),
        ],
    };
    let mut objectives = statements(&lines);
    objectives.extend(logic(0, &flags));
    objectives.extend(logic(1, &equal));
    FunctionCoverage {
        part: false,
        name: "weigh".into(),
        start: at("weigh("),
        end_line: 40,
        entered: Some(true),
        entries: ExecutionCount(Some(42)),
        lines,
        decisions: vec![flags, equal],
        switches: vec![switch],
        objectives,
        def_uses: vec![
            du("best", "best = a;", "-best", None, true),
            du("best", "best = a + b", "-best", None, true),
            du("best", "best = -best", "(best)", None, true),
        ],
    }
}

fn debug() -> FunctionCoverage {
    let mut both = decision(
        at("text && *text"),
        "text && *text == '<'",
        &["text && *", "*text == "],
        BoolTree::And(cond(0), cond(1)),
        &[],
    );
    both.conditions[0].text = "text".into();
    both.conditions[1].text = "*text == '<'".into();
    let lines = lines(&[], &["return text"]);
    let mut objectives = statements(&lines);
    objectives.extend(logic(0, &both));
    FunctionCoverage {
        part: false,
        name: "debug".into(),
        start: at("debug("),
        end_line: 46,
        entered: Some(false),
        entries: ExecutionCount::default(),
        lines,
        decisions: vec![both],
        switches: Vec::new(),
        objectives,
        def_uses: Vec::new(),
    }
}

fn never() -> FunctionCoverage {
    let negative = decision(at("x < 0"), "x < 0", &["x < 0"], *cond(0), &[]);
    let lines = lines(&[], &["if (x < 0", "return -x", "return x"]);
    let mut objectives = statements(&lines);
    objectives.extend(logic(0, &negative));
    FunctionCoverage {
        part: false,
        name: "never".into(),
        start: at("never("),
        end_line: 54,
        entered: Some(false),
        entries: ExecutionCount::default(),
        lines,
        decisions: vec![negative],
        switches: Vec::new(),
        objectives,
        def_uses: Vec::new(),
    }
}

fn clamp() -> FunctionCoverage {
    let start = nth(LIMIT, "x > 999", 0);
    let condition =
        ConditionCoverage { start, text: "x > 999".into(), pure: true, counts: Default::default() };
    let decision = DecisionCoverage {
        short_circuit: false,
        start,
        text: "x > 999".into(),
        from_macro: false,
        conditions: vec![condition],
        tree: *cond(0),
        rows: Vec::new(),
        outcomes: [true, false],
        recorded: false,
    };
    let objective = |name: &str, text: &str, status| ObjectiveCoverage {
        decision: None,
        criterion: Criterion::Dc,
        name: name.into(),
        start,
        text: text.into(),
        status,
    };
    FunctionCoverage {
        part: false,
        name: "clamp".into(),
        start: nth(LIMIT, "clamp", 0),
        end_line: 7,
        entered: Some(true),
        entries: ExecutionCount::default(),
        lines: vec![LineCoverage {
            line: start.line,
            covered: true,
            count: ExecutionCount::default(),
        }],
        objectives: vec![
            objective("d0 true", "x > 999", ObjectiveStatus::Missing),
            objective("d0 false", "!(x > 999)", ObjectiveStatus::Covered),
        ],
        decisions: vec![decision],
        switches: Vec::new(),
        def_uses: Vec::new(),
    }
}

/// A function whose file is no longer there.
fn gone() -> FunctionCoverage {
    let start = Position { line: 3, column: 5 };
    FunctionCoverage {
        part: false,
        name: "gone".into(),
        start,
        end_line: 9,
        entered: Some(true),
        entries: ExecutionCount::default(),
        lines: vec![
            LineCoverage { line: 4, covered: true, count: ExecutionCount::default() },
            LineCoverage { line: 5, covered: false, count: ExecutionCount::default() },
        ],
        decisions: Vec::new(),
        switches: Vec::new(),
        objectives: vec![ObjectiveCoverage {
            decision: None,
            criterion: Criterion::Stmt,
            name: "line 5".into(),
            start: Position { line: 5, column: 9 },
            text: "return \"<gone>\";".into(),
            status: ObjectiveStatus::Missing,
        }],
        def_uses: Vec::new(),
    }
}
