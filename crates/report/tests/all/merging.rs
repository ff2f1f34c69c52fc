//! Reports of several machines as one, and JSON that is no report.

use lydian_report::coverage::{Coverage, ExecutionCount, ObjectiveStatus};
use lydian_report::coverage_json;

use crate::sample;

#[test]
fn merging_a_report_with_itself_adds_its_counts_and_changes_nothing_else() {
    let mut twice = sample::coverage();
    twice.merge(sample::coverage());
    let mut once = sample::coverage();
    once.files.sort_by(|a, b| a.path.cmp(&b.path));
    let double = |count: &mut ExecutionCount| count.0 = count.0.map(|times| 2 * times);
    for function in once.files.iter_mut().flat_map(|file| &mut file.functions) {
        double(&mut function.entries);
        function.lines.iter_mut().for_each(|line| double(&mut line.count));
        let ways = function.switches.iter_mut().flat_map(|switch| &mut switch.ways);
        ways.for_each(|way| double(&mut way.count));
        let conditions = function.decisions.iter_mut().flat_map(|it| &mut it.conditions);
        conditions.flat_map(|condition| &mut condition.counts).for_each(double);
    }
    assert!(twice == once, "{twice:#?}");
}

#[test]
fn what_one_of_two_machines_covers_is_covered() {
    let mut all = sample::coverage();
    let mut other = sample::coverage();
    let function = |coverage: &mut Coverage| {
        let file = coverage.files.iter_mut().find(|f| f.path.ends_with("parse.c")).unwrap();
        std::mem::take(&mut file.functions).into_iter().nth(1).unwrap()
    };
    let mut weigh = function(&mut other);
    weigh.lines.iter_mut().for_each(|line| line.covered = true);
    weigh.switches[0].ways[1].covered = true;
    weigh.decisions[1].rows = vec![String::from("TTT=T").try_into().unwrap()];
    for objective in &mut weigh.objectives {
        objective.status = ObjectiveStatus::Covered;
    }
    let file = other.files.iter_mut().find(|f| f.path.ends_with("parse.c")).unwrap();
    file.functions = vec![weigh];
    all.merge(other);
    let file = all.files.iter().find(|f| f.path.ends_with("parse.c")).unwrap();
    let weigh = file.functions.iter().find(|f| f.name == "weigh").unwrap();
    assert_eq!(file.functions.len(), 4);
    assert!(weigh.lines.iter().all(|line| line.covered));
    assert!(weigh.switches[0].ways[1].covered && !weigh.switches[0].ways[2].covered);
    assert_eq!(weigh.decisions[1].rows.len(), 3);
    assert!(weigh.objectives.iter().all(|o| o.status == ObjectiveStatus::Covered));
}

#[test]
fn files_with_other_texts_are_not_mixed() {
    let mut one = sample::coverage();
    let mut other = sample::coverage();
    one.files[0].digest = Some("aa".into());
    other.files[0].digest = Some("bb".into());
    one.merge(other);
    let warnings =
        one.warnings.iter().filter(|w| w.contains("different texts of /project/limit.h"));
    assert_eq!(warnings.count(), 1, "{:?}", one.warnings);
}

#[test]
fn json_that_is_no_report_is_refused_with_the_reason() {
    let error = |text: &str| coverage_json::read(text).unwrap_err().to_string();
    assert!(error("{}").contains("lydian-coverage"));
    assert!(error("[1").contains("no coverage"));
    assert!(error(r#"{"format":"lydian-coverage","version":7}"#).contains("version 7"));
    let good = coverage_json::render(&sample::report());
    assert!(error(&good[..good.len() / 2]).contains("no coverage"));
    assert!(error(&good.replacen("=T", "=X", 1)).contains("is no row"));
    assert!(error(&good.replacen("\"TT", "\"T", 1)).contains("as many values"));
    assert!(
        error(&good.replacen("\"tree\":{\"or\":[0", "\"tree\":{\"or\":[9", 1))
            .contains("not listed")
    );
    assert!(
        error(&good.replacen("\"tree\":{\"or\":[0", "\"tree\":{\"or\":[1", 1)).contains("twice")
    );
}

#[test]
fn criteria_have_the_names_in_json_that_users_give_them() {
    for (criterion, name) in lydian_objective::Criterion::ALL {
        assert_eq!(serde_json::to_value(criterion).unwrap(), name);
    }
}
