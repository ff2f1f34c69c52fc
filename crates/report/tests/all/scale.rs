//! A report of the size of a large amalgamated source. Slow without optimisation, so run it with
//! `cargo test --release -p lydian-report --test all scale:: -- --ignored --nocapture`.

use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use lydian_base::EntityId as _;
use lydian_ir::{BoolTree, ConditionId};
use lydian_objective::Criterion;
use lydian_report::coverage::{
    ConditionCoverage, Coverage, DecisionCoverage, DecisionRow, DefUseCoverage, ExecutionCount,
    FileCoverage, FunctionCoverage, LineCoverage, ObjectiveCoverage, ObjectiveStatus, Position,
};
use lydian_report::exports::{cobertura, gcov_json, lcov, sarif};
use lydian_report::html;
use lydian_report::sources::{SourceText, Sources};
use lydian_report::{Report, coverage_json};

const FUNCTIONS: u32 = 2_500;
const LINES: u32 = 100;

/// A function of a hundred lines: twenty decisions of three conditions, 120 mutants, 40 pairs.
fn function(number: u32) -> FunctionCoverage {
    let first = number * LINES + 1;
    let at = |line: u32, column| Position { line: first + line, column };
    let objective = |criterion, line, n: u32, text: &str| ObjectiveCoverage {
        decision: None,
        criterion,
        name: format!("{criterion} {n}"),
        start: at(line, 6),
        text: text.into(),
        status: if n.is_multiple_of(3) {
            ObjectiveStatus::Missing
        } else {
            ObjectiveStatus::Covered
        },
    };
    let mut objectives = Vec::new();
    for n in 0..80 {
        objectives.push(objective(Criterion::Stmt, n, n, "x = x + 1;"));
    }
    for n in 0..120 {
        objectives.push(objective(Criterion::Dc, n / 6 * 4, n, "a > 0 && (b > 0 || c > 0)"));
        objectives.push(objective(Criterion::Wm, n / 2, n, "x + 1 -> x - 1"));
    }
    FunctionCoverage {
        part: false,
        name: format!("function_{number}"),
        start: at(0, 5),
        end_line: first + LINES - 1,
        entered: Some(true),
        entries: ExecutionCount::default(),
        lines: (0..80)
            .map(|n| LineCoverage {
                line: first + n,
                covered: n % 4 > 0,
                count: ExecutionCount::default(),
            })
            .collect(),
        decisions: (0..20).map(|n| decision(at(n * 4, 6))).collect(),
        switches: Vec::new(),
        objectives,
        def_uses: (0..40).map(|n| pair(at(n, 3), at(n + 20, 9), n)).collect(),
    }
}

fn pair(definition: Position, usage: Position, n: u32) -> DefUseCoverage {
    let (variable, covered) = (format!("v{}", n % 8), n.is_multiple_of(2));
    DefUseCoverage { variable, definition, definition_file: None, usage, branch: None, covered }
}

fn decision(start: Position) -> DecisionCoverage {
    let cond = |index| Box::new(BoolTree::Cond(ConditionId::from_index(index)));
    let rows = ["TTf=T", "TFF=F", "Ftf=F"];
    let condition = |text: &str| ConditionCoverage {
        start,
        text: text.into(),
        pure: true,
        counts: Default::default(),
    };
    DecisionCoverage {
        short_circuit: false,
        start,
        text: "a > 0 && (b > 0 || c > 0)".into(),
        from_macro: false,
        conditions: ["a > 0", "b > 0", "c > 0"].map(condition).to_vec(),
        tree: BoolTree::And(cond(0), Box::new(BoolTree::Or(cond(1), cond(2)))),
        rows: rows.iter().map(|row| DecisionRow::try_from((*row).to_owned()).unwrap()).collect(),
        outcomes: [true, true],
        recorded: true,
    }
}

#[test]
#[ignore = "slow without optimisation"]
fn a_quarter_of_a_million_lines_are_reported_in_seconds() {
    let text = "\tif (a > 0 && (b > 0 || c > 0)) x = x + 1;\n".repeat((FUNCTIONS * LINES) as usize);
    let mut sources = Sources::default();
    sources.insert("/large.c".into(), SourceText::of(text.as_bytes()));
    let file = FileCoverage {
        path: "/large.c".into(),
        functions: (0..FUNCTIONS).map(function).collect(),
        ..FileCoverage::default()
    };
    let criteria = vec![Criterion::Stmt, Criterion::Dc, Criterion::Wm];
    let coverage = Coverage { criteria, files: vec![file], ..Coverage::default() };
    let (report, _) = Report::with(coverage, sources, Path::new("/")).unwrap();
    let timed = |name: &str, make: &dyn Fn() -> usize| {
        let start = Instant::now();
        let bytes = make();
        let seconds = start.elapsed().as_secs_f64();
        let _ = writeln!(std::io::stderr(), "{name}: {seconds:.2} s, {} MB", bytes / 1_000_000);
        assert!(seconds < 10.0, "{name} took {seconds} s");
    };
    timed("pages", &|| {
        let pages = html::pages(&report, None);
        let sizes: Vec<usize> = pages.iter().map(|page| page.text.len()).collect();
        assert!(sizes.iter().all(|size| *size < 2_000_000), "{:?}", sizes.iter().max());
        sizes.iter().sum()
    });
    timed("json", &|| coverage_json::render(&report).len());
    timed("lcov", &|| lcov::render(&report, lcov::Version::WithConditions).len());
    timed("cobertura", &|| cobertura::render(&report, 0).len());
    timed("sarif", &|| sarif::render(&report).len());
    timed("gcov", &|| gcov_json::render(&report, &gcov_json::GCOVR_VERSION.parse().unwrap()).len());
}
