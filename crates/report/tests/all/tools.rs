//! The tools that read Lydian's reports accept them without a complaint, and count the same.
//!
//! `scripts/report-tools` brings them to `target/report-tools`. Missing ones are left out with a
//! message.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use lydian_report::Report;
use lydian_report::branches::LineTable;
use lydian_report::coverage::FunctionCoverage;
use lydian_report::exports::{cobertura, gcov_json, junit, lcov, sarif, sonarqube};
use quick_xml::events::Event;

use crate::sample;

/// The sample project in a folder of its own, so that tools can read its sources.
fn project() -> (tempfile::TempDir, Report) {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("src")).unwrap();
    let original = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample/project");
    for name in ["src/parse.c", "limit.h"] {
        std::fs::copy(original.join(name), root.join(name)).unwrap();
    }
    let mut coverage = sample::coverage_at(&root);
    coverage.files.retain(|file| file.path.exists());
    let (report, warnings) = Report::read(coverage, &root).unwrap();
    assert!(warnings.is_empty(), "{warnings:?}");
    (folder, report)
}

/// The number of items, and the number of covered ones.
struct Counts {
    lines: (usize, usize),
    functions: (usize, usize),
    branches: (usize, usize),
    conditions: (usize, usize),
}

impl Counts {
    fn of(report: &Report) -> Self {
        let sum = |a: (usize, usize), b: (usize, usize)| (a.0 + b.0, a.1 + b.1);
        let mut counts =
            Self { lines: (0, 0), functions: (0, 0), branches: (0, 0), conditions: (0, 0) };
        for file in &report.coverage.files {
            let table = LineTable::of(file);
            counts.lines = sum(counts.lines, table.count());
            counts.branches = sum(counts.branches, table.count_branches());
            counts.conditions = sum(counts.conditions, table.count_conditions());
            let is_counted = |function: &&FunctionCoverage| {
                function.is_listed() && !file.exclusions.line(function.start.line)
            };
            for function in file.functions.iter().filter(is_counted) {
                counts.functions = sum(counts.functions, (1, usize::from(function.ran())));
            }
        }
        assert!(counts.conditions.1 > 0 && counts.branches.1 < counts.branches.0);
        counts
    }
}

fn tools() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/report-tools")
}

/// Says that a tool is not there.
fn left_out(tool: &str) {
    // The writer of the test harness would keep it to itself.
    let _ = std::io::Write::write_fmt(&mut std::io::stderr(), format_args!("left out: {tool}\n"));
}

/// Runs a command. Returns its output, which has neither an error nor a warning.
fn run(command: &mut Command, folder: &Path) -> String {
    let output = command.current_dir(folder).output();
    let output = output.unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let all = text(&output.stdout) + &text(&output.stderr);
    assert!(output.status.success(), "{command:?}: {all}");
    all
}

fn is_there(tool: &str) -> bool {
    let found = Command::new(tool).arg("--version").output().is_ok();
    if !found {
        left_out(tool);
    }
    found
}

/// An lcov.
struct Lcov {
    /// The version of its package, since some print another one.
    version: String,
    programs: PathBuf,
    modules: Option<PathBuf>,
}

impl Lcov {
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        if let Some(modules) = &self.modules {
            command.env("PERL5LIB", modules);
        }
        command
    }

    /// The installed one, and those that were brought.
    fn all() -> Vec<Self> {
        let mut all = Vec::new();
        if is_there("lcov") {
            let said = run(Command::new("lcov").arg("--version"), Path::new("."));
            let version = said.trim().rsplit(' ').next().unwrap();
            let version = version.split('-').next().unwrap().to_owned();
            all.push(Self { version, programs: PathBuf::new(), modules: None });
        }
        for release in ["trixie", "sid"] {
            match Self::brought(release) {
                Some(lcov) => all.push(lcov),
                None => left_out(&format!("lcov of {release}")),
            }
        }
        all
    }

    fn brought(release: &str) -> Option<Self> {
        let folder = tools().join(format!("lcov-{release}"));
        let root = folder.join("root/usr");
        let modules = ["lib/lcov", "share/perl5"].map(|place| root.join(place));
        let modules = modules.into_iter().find(|place| place.join("lcovutil.pm").exists())?;
        let files = std::fs::read_dir(&folder).ok()?.flatten().map(|entry| entry.file_name());
        // lcov_2.3.1-1_all.deb
        let version = files.filter_map(|name| {
            let rest = name.to_str()?.strip_prefix("lcov_")?;
            Some(rest.split('-').next()?.to_owned())
        });
        Some(Self { version: version.last()?, programs: root.join("bin"), modules: Some(modules) })
    }
}

#[test]
fn every_lcov_and_genhtml_counts_what_the_tracefile_for_it_says() {
    let (folder, report) = project();
    let counts = Counts::of(&report);
    for tool in Lcov::all() {
        let version = &tool.version;
        let is_old = version.starts_with("1.");
        let branches: &[&str] = match is_old {
            true => &["--rc", "lcov_branch_coverage=1"],
            false => &["--branch-coverage"],
        };
        let mut wanted = vec![("lines", counts.lines), ("functions", counts.functions)];
        wanted.push(("branches", counts.branches));
        let check = |text: &str, wanted: &[(&str, (usize, usize))]| {
            for (what, (all, hit)) in wanted {
                let expected = format!("({hit} of {all} {what}");
                assert!(text.contains(&expected), "lcov {version}, {expected}: {text}");
            }
        };
        // The one that all read.
        std::fs::write(folder.path().join("any.info"), lcov::render(&report, lcov::Version::Any))
            .unwrap();
        let any = ["--summary", "any.info"];
        check(&run(tool.command("lcov").args(branches).args(any), folder.path()), &wanted);
        // The one for it.
        let own = lcov::render(&report, version.parse().unwrap());
        std::fs::write(folder.path().join("own.info"), own).unwrap();
        let mut options = branches.to_vec();
        if !is_old {
            options.push("--mcdc-coverage");
        }
        let summary =
            run(tool.command("lcov").args(&options).args(["--summary", "own.info"]), folder.path());
        let conditions = [("conditions", counts.conditions)];
        check(&summary, &wanted);
        check(&summary, if is_old { &[] } else { &conditions });
        let merge = ["-a", "own.info", "-a", "own.info", "-o", "sum.info"];
        let merged = run(tool.command("lcov").args(&options).args(merge), folder.path());
        let pages = if is_old { vec!["--branch-coverage"] } else { options };
        let html = ["-o", "html", "own.info"];
        let pages = run(tool.command("genhtml").args(pages).args(html), folder.path());
        let wanted = if is_old { &wanted[..2] } else { &wanted[..] };
        check(&pages, wanted);
        for text in [&summary, &merged, &pages] {
            let text = text.to_lowercase();
            assert!(
                !text.contains("error:") && !text.contains("warning:"),
                "lcov {version}: {text}"
            );
        }
    }
}

/// The Python that runs the tools of PyPI in a folder of the brought ones.
fn python(names: &[&str]) -> Option<Command> {
    let missing = names.iter().find(|name| !tools().join(name).is_dir());
    if let Some(missing) = missing {
        left_out(missing);
        return None;
    }
    let mut path = String::new();
    for name in names {
        let _ = write!(path, "{}:", tools().join(name).display());
    }
    let mut command = Command::new("python3");
    command.env("PYTHONPATH", path.trim_end_matches(':')).args(["-W", "ignore"]);
    Some(command)
}

/// Checks what a gcovr prints as its summary.
fn check_gcovr(name: &str, text: &str, wanted: &[(&str, (usize, usize))]) {
    for (what, (all, hit)) in wanted {
        let line = text.lines().find(|line| line.starts_with(&format!("{what}:")));
        let line = line.unwrap_or_else(|| panic!("{name} says nothing of {what}: {text}"));
        assert!(line.ends_with(&format!("({hit} out of {all})")), "{name}: {line}");
    }
    assert!(!text.to_lowercase().contains("warning"), "{name}: {text}");
}

#[test]
fn every_gcovr_counts_what_the_tracefile_for_it_says() {
    let (folder, report) = project();
    let counts = Counts::of(&report);
    for version in ["5.0", "5.2", "6.0", "7.2", "8.0", "8.3", "8.6", "8.8"] {
        let name = format!("gcovr-{version}");
        let Some(mut gcovr) = python(&[&name, "libraries"]) else { continue };
        let text = gcov_json::render(&report, &version.parse().unwrap());
        std::fs::write(folder.path().join("gcov.json"), text).unwrap();
        let pages = folder.path().join(format!("html-{version}"));
        std::fs::create_dir(&pages).unwrap();
        gcovr.args(["-m", "gcovr", "--root", ".", "--add-tracefile", "gcov.json"]);
        gcovr.arg("--print-summary").arg("--html-details").arg(pages.join("index.html"));
        let summary = run(&mut gcovr, folder.path());
        let mut wanted = vec![("lines", counts.lines), ("branches", counts.branches)];
        if version != "5.0" {
            wanted.push(("functions", counts.functions));
        }
        if version == "8.3" || version == "8.6" || version == "8.8" {
            wanted.push(("conditions", counts.conditions));
        }
        check_gcovr(&name, &summary, &wanted);
        let page = std::fs::read_dir(&pages).unwrap().count();
        assert!(page > report.coverage.files.len(), "{name} wrote {page} pages");
    }
}

#[test]
fn readers_of_cobertura_count_what_the_file_says() {
    let (folder, report) = project();
    let counts = Counts::of(&report);
    let text = cobertura::render(&report, 1_700_000_000);
    std::fs::write(folder.path().join("c.xml"), &text).unwrap();
    if let Some(mut gcovr) = python(&["gcovr-8.8", "libraries"]) {
        gcovr.args(["-m", "gcovr", "--root", ".", "--cobertura-add-tracefile", "c.xml"]);
        let summary = run(gcovr.arg("--print-summary"), folder.path());
        check_gcovr("gcovr", &summary, &[("lines", counts.lines), ("branches", counts.branches)]);
    }
    if let Some(mut pycobertura) = python(&["libraries"]) {
        let program = "from pycobertura import Cobertura; c = Cobertura('c.xml'); \
                       print(c.total_statements(), c.line_rate(), len(c.files()))";
        let said = run(pycobertura.args(["-c", program]), folder.path());
        let said: Vec<f64> = said.split_whitespace().map(|it| it.parse().unwrap()).collect();
        let (all, hit) = (counts.lines.0 as f64, counts.lines.1 as f64);
        let [statements, rate, files] = said[..] else { panic!("{said:?}") };
        assert_eq!((statements, files), (all, report.coverage.files.len() as f64));
        assert!((rate - hit / all).abs() < 1e-3, "{rate}");
    }
    let converter = tools().join("lcov-trixie/root/usr/bin/xml2lcov");
    if converter.exists() {
        let mut convert = Command::new("python3");
        run(convert.arg(converter).args(["-o", "c.info", "c.xml"]), folder.path());
        let text = std::fs::read_to_string(folder.path().join("c.info")).unwrap();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("DA:")).collect();
        let hit = lines.iter().filter(|line| !line.contains(",0")).count();
        assert_eq!((lines.len(), hit), counts.lines);
    } else {
        left_out("xml2lcov");
    }
    if is_there("xmllint") {
        let without = text.lines().filter(|line| !line.starts_with("<!DOCTYPE"));
        let without = without.collect::<Vec<_>>().join("\n");
        std::fs::write(folder.path().join("c.xml"), without).unwrap();
        let dtd = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample/cobertura.dtd");
        let mut lint = Command::new("xmllint");
        run(lint.arg("--noout").arg("--dtdvalid").arg(dtd).arg("c.xml"), folder.path());
    }
}

#[test]
fn sarif_tools_find_every_missing_objective_at_its_line() {
    let (folder, report) = project();
    let text = sarif::render(&report);
    std::fs::write(folder.path().join("c.sarif"), &text).unwrap();
    let Some(mut python) = python(&["sarif", "libraries"]) else { return };
    let program = "from sarif import loader\n\
                   for one in loader.load_sarif_file('c.sarif').get_records():\n\
                   \x20   print(one['Location'], one['Line'], one['Code'], one['Severity'])";
    let said = run(python.args(["-c", program]), folder.path());
    let log: serde_json::Value = serde_json::from_str(&text).unwrap();
    let mut expected = Vec::new();
    for result in log["runs"][0]["results"].as_array().unwrap() {
        let place = &result["locations"][0]["physicalLocation"];
        let text = |it: &serde_json::Value| it.as_str().unwrap().to_owned();
        expected.push(format!(
            "{} {} {} note",
            text(&place["artifactLocation"]["uri"]),
            place["region"]["startLine"],
            text(&result["ruleId"]),
        ));
    }
    let mut said: Vec<&str> = said.lines().collect();
    said.sort_unstable();
    expected.sort_unstable();
    assert_eq!(said, expected);
}

/// The number of test cases, and the numbers of those that failed, had errors, and were skipped.
fn test_cases(report: &Report) -> [usize; 4] {
    let mut sums = [0; 4];
    for row in report.coverage.totals() {
        let out = row.duplicates + row.excluded;
        let counts = [row.objectives, row.missing, row.unmeasured, out];
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    assert!(sums.iter().all(|sum| *sum > 0), "{sums:?}");
    // Each file that was compiled as it is makes an error of its own.
    let plain = report.coverage.plain.len();
    [sums[0] + plain, sums[1], sums[2] + plain, sums[3]]
}

#[test]
fn readers_of_junit_count_what_the_file_says() {
    let (folder, report) = project();
    std::fs::write(folder.path().join("j.xml"), junit::render(&report)).unwrap();
    // Their own counts, and those of the attributes.
    let readers = [
        (
            "junitparser",
            "from junitparser import JUnitXml\n\
             said = JUnitXml.fromfile('j.xml')\n\
             attributes = [said.tests, said.failures, said.errors, said.skipped]\n\
             said.update_statistics()\n\
             counted = [said.tests, said.failures, said.errors, said.skipped]\n\
             assert attributes == counted, (attributes, counted)\n\
             print(*counted)",
        ),
        (
            "xunitparser",
            "import xunitparser\n\
             suite, result = xunitparser.parse(open('j.xml'))\n\
             print(result.testsRun, len(result.failures), len(result.errors), len(result.skipped))",
        ),
    ];
    for (reader, program) in readers {
        let Some(mut python) = python(&[reader, "libraries"]) else { continue };
        let said = run(python.args(["-c", program]), folder.path());
        let said: Vec<usize> = said.split_whitespace().map(|it| it.parse().unwrap()).collect();
        assert_eq!(said, test_cases(&report), "{reader}");
    }
}

/// The rules that SonarQube's scanner has for the elements and attributes, and the totals.
#[test]
fn the_generic_coverage_for_sonarqube_keeps_its_rules_and_totals() {
    let (_folder, report) = project();
    let counts = Counts::of(&report);
    let text = sonarqube::render(&report);
    let mut reader = quick_xml::Reader::from_str(&text);
    let (mut lines, mut branches) = ((0, 0), (0, 0));
    let mut seen = std::collections::BTreeSet::new();
    loop {
        match reader.read_event().unwrap() {
            Event::Start(start) if start.name().as_ref() == "file" => {
                let path = start.try_get_attribute("path").unwrap().unwrap();
                assert!(report.root.join(path.value.as_ref()).exists());
                seen.clear();
            }
            Event::Empty(line) => {
                assert_eq!(line.name().as_ref(), "lineToCover");
                let of = |name: &str| {
                    let found = line.try_get_attribute(name).unwrap()?;
                    Some(found.value.into_owned())
                };
                assert!(seen.insert(of("lineNumber").unwrap().parse::<u32>().unwrap()));
                lines.0 += 1;
                lines.1 += usize::from(of("covered").unwrap().parse::<bool>().unwrap());
                let number = |name: &str| of(name).map_or(0, |it| it.parse::<usize>().unwrap());
                let (all, taken) = (number("branchesToCover"), number("coveredBranches"));
                assert!(taken <= all);
                branches = (branches.0 + all, branches.1 + taken);
            }
            Event::Eof => break,
            _ => {}
        }
    }
    assert_eq!((lines, branches), (counts.lines, counts.branches));
}
