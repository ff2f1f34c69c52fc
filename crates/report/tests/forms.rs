//! Forms of report for other tools: their texts, and that the tools read them.

mod sample;

use std::path::Path;
use std::process::Command;

use lydian_report::{Report, cobertura, coverage_json, gcov_json, lcov, sarif};

/// Runs a tool; `None`, with a message, where it is not installed.
fn run(tool: &str, arguments: &[&str], folder: &Path) -> Option<String> {
    let output = match Command::new(tool).args(arguments).current_dir(folder).output() {
        Ok(output) => output,
        Err(error) => {
            let mut err = std::io::stderr();
            let _ = std::io::Write::write_fmt(
                &mut err,
                format_args!("skipped: {tool} cannot be started: {error}\n"),
            );
            return None;
        }
    };
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let (out, err) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{tool} {arguments:?}: {out}{err}");
    Some(out + &err)
}

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

#[test]
fn the_tracefile_is_as_expected() {
    sample::check("coverage.info", &lcov::render(&sample::report()));
}

#[test]
fn the_cobertura_file_is_as_expected() {
    sample::check("cobertura.xml", &cobertura::render(&sample::report(), 1_700_000_000));
}

#[test]
fn the_sarif_log_is_as_expected() {
    let log: serde_json::Value = serde_json::from_str(&sarif::render(&sample::report())).unwrap();
    sample::check("coverage.sarif", &(serde_json::to_string_pretty(&log).unwrap() + "\n"));
}

#[test]
fn the_gcov_file_is_as_expected() {
    let text = gcov_json::render(&sample::report(), gcov_json::GCOVR_VERSION);
    let gcov: serde_json::Value = serde_json::from_str(&text).unwrap();
    sample::check("gcov.json", &(serde_json::to_string_pretty(&gcov).unwrap() + "\n"));
}

#[test]
fn the_json_form_is_as_expected_and_reads_back() {
    let report = sample::report();
    let text = coverage_json::render(&report);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    sample::check("coverage.json", &(serde_json::to_string_pretty(&json).unwrap() + "\n"));
    assert_eq!(coverage_json::read(&text).unwrap(), report.coverage);
}

#[test]
fn lcov_and_genhtml_count_what_the_tracefile_says() {
    let (folder, report) = project();
    std::fs::write(folder.path().join("coverage.info"), lcov::render(&report)).unwrap();
    let arguments = ["--rc", "lcov_branch_coverage=1", "--summary", "coverage.info"];
    let Some(summary) = run("lcov", &arguments, folder.path()) else { return };
    for expected in ["17 of 21 lines", "3 of 4 functions", "20 of 30 branches"] {
        assert!(summary.contains(expected), "{expected}: {summary}");
    }
    let arguments = ["--branch-coverage", "-o", "html", "coverage.info"];
    let Some(log) = run("genhtml", &arguments, folder.path()) else { return };
    assert!(!log.to_lowercase().contains("error"), "{log}");
    assert!(log.contains("17 of 21 lines"), "{log}");
}

#[test]
fn gcovr_counts_what_the_gcov_file_says() {
    let (folder, report) = project();
    let text = gcov_json::render(&report, gcov_json::GCOVR_VERSION);
    std::fs::write(folder.path().join("gcov.json"), text).unwrap();
    let arguments = ["--root", ".", "--add-tracefile", "gcov.json", "--print-summary"];
    let Some(summary) = run("gcovr", &arguments, folder.path()) else { return };
    for expected in ["17 out of 21", "20 out of 30"] {
        assert!(summary.contains(expected), "{expected}: {summary}");
    }
}

#[test]
fn the_cobertura_file_is_valid_against_its_document_type() {
    let (folder, report) = project();
    let text = cobertura::render(&report, 1_700_000_000);
    let without = text.lines().filter(|line| !line.starts_with("<!DOCTYPE"));
    std::fs::write(folder.path().join("c.xml"), without.collect::<Vec<_>>().join("\n")).unwrap();
    let dtd = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sample/cobertura.dtd");
    let dtd = dtd.display().to_string();
    run("xmllint", &["--noout", "--dtdvalid", &dtd, "c.xml"], folder.path());
}

/// What the schema of SARIF 2.1.0 requires of the objects that are written.
#[test]
fn the_sarif_log_has_what_its_schema_requires() {
    let log: serde_json::Value = serde_json::from_str(&sarif::render(&sample::report())).unwrap();
    assert_eq!(log["version"], "2.1.0");
    let run = &log["runs"][0];
    let driver = &run["tool"]["driver"];
    assert!(driver["name"].is_string());
    let rules = driver["rules"].as_array().unwrap();
    assert!(rules.iter().all(|rule| rule["id"].is_string()));
    let results = run["results"].as_array().unwrap();
    assert!(!results.is_empty());
    let mut fingerprints = std::collections::BTreeSet::new();
    for result in results {
        assert!(result["message"]["text"].is_string());
        let index = result["ruleIndex"].as_u64().unwrap() as usize;
        assert_eq!(rules[index]["id"], result["ruleId"]);
        let place = &result["locations"][0]["physicalLocation"];
        assert!(place["artifactLocation"]["uri"].is_string());
        assert!(place["region"]["startLine"].as_u64().unwrap() >= 1);
        let print = result["partialFingerprints"]["lydianObjective/v1"].as_str().unwrap();
        assert!(fingerprints.insert(print.to_owned()), "{print} twice");
    }
}
