//! Forms of report for other tools: their texts.

mod sample;

use lydian_report::coverage_json;
use lydian_report::exports::{
    cobertura, codecov, gcov_json, github, gitlab, lcov, sarif, sonarqube,
};

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
fn the_json_form_is_as_expected_and_reads_back() {
    let report = sample::report();
    let text = coverage_json::render(&report);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    sample::check("coverage.json", &(serde_json::to_string_pretty(&json).unwrap() + "\n"));
    assert_eq!(coverage_json::read(&text).unwrap(), report.coverage);
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
