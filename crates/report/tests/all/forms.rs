//! Forms of report for other tools: their texts.

use std::collections::BTreeSet;

use lydian_objective::Criterion;
use lydian_report::coverage::{ObjectiveCoverage, ObjectiveStatus, Position};
use lydian_report::coverage_json;
use lydian_report::exports::{
    cobertura, codecov, gcov_json, github, gitlab, junit, lcov, sarif, sonarqube,
};

use crate::sample;

#[test]
fn the_tracefile_is_as_expected() {
    let of = |version: &str| lcov::render(&sample::report(), version.parse().unwrap());
    sample::check("coverage.info", &of("1.16"));
    sample::check("coverage-2.2.info", &of("2.2"));
    // What 2.0 and 2.1 read has ends of functions and no conditions.
    let (old, new) = (of("2.1"), of("2.5.1"));
    let without = |line: &&str| !["MCDC:", "MCF:", "MCH:"].iter().any(|it| line.starts_with(it));
    assert!(new.lines().filter(without).eq(old.lines()) && new.len() > old.len());
    assert!(["", "2.x", "new"].iter().all(|bad| bad.parse::<lcov::Version>().is_err()));
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
    let text = gcov_json::render(&sample::report(), &gcov_json::GCOVR_VERSION.parse().unwrap());
    let gcov: serde_json::Value = serde_json::from_str(&text).unwrap();
    sample::check("gcov.json", &(serde_json::to_string_pretty(&gcov).unwrap() + "\n"));
}

#[test]
fn each_gcovr_is_given_the_format_that_it_reads() {
    let format = |gcovr: &str| {
        let text = gcov_json::render(&sample::report(), &gcovr.parse().unwrap());
        let json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json["gcovr/format_version"].as_str().unwrap().to_owned()
    };
    let known = [("5.0", "0.2"), ("5.2", "0.3"), ("7.2", "0.6"), ("8.2", "0.10"), ("8.8", "0.15")];
    for (gcovr, expected) in known {
        assert_eq!(format(gcovr), expected, "{gcovr}");
    }
    // That of gcovr's tracefiles themselves, known or not.
    assert_eq!(format("0.16"), "0.16");
    assert!(
        ["4.2", "new", "", "8.x"].iter().all(|it| it.parse::<gcov_json::GcovrFormat>().is_err())
    );
}

#[test]
fn the_forms_of_code_hosts_are_as_expected() {
    let report = sample::report();
    sample::check("sonarqube.xml", &sonarqube::render(&report));
    let pretty = |text: &str| {
        let json: serde_json::Value = serde_json::from_str(text).unwrap();
        serde_json::to_string_pretty(&json).unwrap() + "\n"
    };
    sample::check("codecov.json", &pretty(&codecov::render(&report)));
    sample::check("gitlab.json", &pretty(&gitlab::render(&report)));
    sample::check("github.txt", &github::render(&report));
}

#[test]
fn the_test_cases_of_junit_are_as_expected() {
    sample::check("junit.xml", &junit::render(&sample::report()));
}

/// The attributes of the test cases, and the message in each of them.
fn test_cases(text: &str) -> Vec<(String, String, Option<String>)> {
    let document = roxmltree::Document::parse(text).unwrap();
    let cases = document.descendants().filter(|node| node.has_tag_name("testcase"));
    let attribute = |node: &roxmltree::Node<'_, '_>, name| node.attribute(name).map(str::to_owned);
    let of = |case: roxmltree::Node<'_, '_>| {
        let message = case.first_element_child().and_then(|inner| attribute(&inner, "message"));
        (attribute(&case, "classname").unwrap(), attribute(&case, "name").unwrap(), message)
    };
    cases.map(of).collect()
}

#[test]
fn texts_of_test_cases_are_escaped_and_no_two_are_called_the_same() {
    let mut report = sample::report();
    let text = "s[0] == '\"' && a < b\n  && \"]]>\"[1] & '\u{1}'";
    let objective = |name: &str, text: &str, status| ObjectiveCoverage {
        criterion: Criterion::Dc,
        name: name.to_owned(),
        start: Position { line: 3, column: 1 },
        text: text.to_owned(),
        status,
        decision: None,
    };
    let file = report.coverage.files.iter_mut().find(|file| file.path.ends_with("gone.c")).unwrap();
    let long = "é".repeat(300);
    file.functions[0].objectives = vec![
        objective("d0", text, ObjectiveStatus::Missing),
        objective("d1", "1", ObjectiveStatus::Unmeasured("<no>\n&".to_owned())),
        objective("d1", "1", ObjectiveStatus::Covered),
        objective("d1 (2)", "1", ObjectiveStatus::Excluded(Some("\"a\" < 'b'".to_owned()))),
        objective("d1", "1", ObjectiveStatus::Duplicate),
        objective("d2", &long, ObjectiveStatus::Missing),
    ];
    let cases = test_cases(&junit::render(&report));
    let own = cases.iter().filter(|(class, ..)| class == "src.gone_c.gone");
    let own: Vec<_> = own.map(|(_, name, message)| (name.as_str(), message.as_deref())).collect();
    let line = "s[0] == '\"' && a < b && \"]]>\"[1] & '\u{fffd}'";
    let message = format!("No run covers d0 of dc in gone: {line}");
    assert_eq!(own[0], (format!("dc d0: {line}").as_str(), Some(message.as_str())));
    assert_eq!(own[1], ("dc d1", Some("It is not measured: <no> &")));
    assert_eq!(own[2], ("dc d1 (2)", None));
    assert_eq!(own[3], ("dc d1 (2) (2)", Some("It is justified: \"a\" < 'b'")));
    assert_eq!(own[4], ("dc d1 (3)", Some("It is the same as an earlier one of the criterion")));
    assert_eq!(own[5].0, format!("dc d2: {}…", "é".repeat(200)));
    assert!(own[5].1.unwrap().ends_with(&long));
    let names: BTreeSet<_> = cases.iter().map(|(class, name, _)| (class, name)).collect();
    assert_eq!(names.len(), cases.len());
}

#[test]
fn the_json_form_is_as_expected_and_reads_back() {
    let report = sample::report();
    let text = coverage_json::render(&report);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    sample::check("coverage.json", &(serde_json::to_string_pretty(&json).unwrap() + "\n"));
    assert_eq!(coverage_json::read(&text).unwrap(), report.coverage);
}

/// The members that the schema of SARIF 2.1.0 requires of the written objects.
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
    let mut fingerprints = BTreeSet::new();
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
