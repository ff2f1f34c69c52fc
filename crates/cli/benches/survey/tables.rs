//! What a survey prints.

use std::collections::{BTreeMap, BTreeSet};

use comfy_table::{Table, presets};

use crate::results::{FunctionResult, Survey, kind_of};

/// A row for each library, and one for all.
pub(crate) fn libraries(survey: &Survey) -> String {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "library",
        "functions",
        "decided",
        "share",
        "objectives",
        "decided",
        "share",
        "median, s",
        "90th percentile, s",
    ]);
    let mut by_library: BTreeMap<&str, Vec<&FunctionResult>> = BTreeMap::new();
    for function in &survey.functions {
        by_library.entry(&function.library).or_default().push(function);
    }
    for (library, functions) in &by_library {
        table.add_row(row(library, functions));
    }
    if by_library.len() > 1 {
        table.add_row(row("all", &survey.functions.iter().collect::<Vec<_>>()));
    }
    table.to_string()
}

fn row(name: &str, functions: &[&FunctionResult]) -> Vec<String> {
    let decided = functions.iter().filter(|function| function.decided).count();
    let mut times: Vec<f64> = functions.iter().map(|function| function.seconds).collect();
    times.sort_by(f64::total_cmp);
    let (objectives, known) = functions.iter().fold((0, 0), |(all, decided), function| {
        let (own, known) = function.objectives();
        (all + own, decided + known)
    });
    vec![
        name.to_owned(),
        functions.len().to_string(),
        decided.to_string(),
        share(decided as u64, functions.len() as u64),
        objectives.to_string(),
        known.to_string(),
        share(known, objectives),
        format!("{:.2}", percentile(&times, 50)),
        format!("{:.2}", percentile(&times, 90)),
    ]
}

fn share(part: u64, whole: u64) -> String {
    format!("{:.1} %", 100.0 * part as f64 / whole.max(1) as f64)
}

/// The nearest-rank percentile of sorted times.
fn percentile(times: &[f64], percent: usize) -> f64 {
    let rank = (times.len() * percent).div_ceil(100);
    times.get(rank.max(1) - 1).copied().unwrap_or_default()
}

/// How many functions and objectives each reason leaves, most functions first. A function with
/// several reasons counts for each, and as "alone" where it has only one.
pub(crate) fn reasons(survey: &Survey) -> String {
    let mut counts: BTreeMap<String, (u64, u64, u64)> = BTreeMap::new();
    for function in survey.functions.iter().filter(|function| !function.decided) {
        let mut kinds: BTreeMap<String, u64> = BTreeMap::new();
        for (reason, objectives) in &function.reasons {
            *kinds.entry(kind_of(reason)).or_default() += objectives;
        }
        let alone = u64::from(kinds.len() == 1);
        for (kind, objectives) in kinds {
            let entry = counts.entry(kind).or_default();
            *entry = (entry.0 + 1, entry.1 + alone, entry.2 + objectives);
        }
    }
    let mut sorted: Vec<_> = counts.into_iter().collect();
    sorted.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(&b.0)));
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["reason", "functions", "alone", "objectives"]);
    for (reason, (functions, alone, objectives)) in sorted {
        table.add_row([reason, functions.to_string(), alone.to_string(), objectives.to_string()]);
    }
    table.to_string()
}

/// Panics, contradictions, files that failed.
pub(crate) fn troubles(survey: &Survey) -> String {
    let lines = survey.troubles.iter().map(|trouble| {
        let functions = trouble.functions.join(", ");
        format!("{} {} {functions}: {}", trouble.library, trouble.file, trouble.what)
    });
    let count = format!("internal errors: {}", survey.troubles.len());
    std::iter::once(count).chain(lines).collect::<Vec<_>>().join("\n")
}

/// What differs between an earlier run and this one, function by function.
pub(crate) fn comparison(before: &Survey, after: &Survey) -> String {
    let old: BTreeMap<_, _> = before.functions.iter().map(|f| (f.key(), f)).collect();
    let new: BTreeMap<_, _> = after.functions.iter().map(|f| (f.key(), f)).collect();
    let keys: BTreeSet<_> = old.keys().chain(new.keys()).collect();
    let libraries: BTreeSet<_> = new.keys().map(|key| &key.0).collect();
    let (mut lines, mut gained, mut lost) = (Vec::new(), 0, 0);
    for key in keys {
        let name = format!("{} {} {}", key.0, key.1, key.2);
        match (old.get(key), new.get(key)) {
            (Some(_), None) if libraries.contains(&key.0) => {
                lines.push(format!("- {name}: only in the earlier run"));
            }
            (None, Some(_)) => lines.push(format!("+ {name}: only in this run")),
            (Some(old), Some(new)) => {
                gained += usize::from(new.decided && !old.decided);
                lost += usize::from(old.decided && !new.decided);
                lines.extend(difference(&name, old, new));
            }
            (_, None) => {}
        }
    }
    lines.push(format!("decided now and not before: {gained}; before and not now: {lost}"));
    lines.join("\n")
}

fn difference(name: &str, old: &FunctionResult, new: &FunctionResult) -> Option<String> {
    let counts = |function: &FunctionResult| -> BTreeMap<String, Vec<u64>> {
        let of = |counts: &BTreeMap<String, u64>| {
            let names = ["objectives", "covered", "infeasible", "duplicate"];
            names.map(|name| counts.get(name).copied().unwrap_or(0)).to_vec()
        };
        function.criteria.iter().map(|(name, c)| (name.clone(), of(c))).collect()
    };
    if counts(old) == counts(new) {
        return None;
    }
    let sign = match (old.decided, new.decided) {
        (false, true) => '+',
        (true, false) => '-',
        _ => '~',
    };
    let all = |function: &FunctionResult| {
        let reasons: Vec<&str> = function.reasons.keys().map(String::as_str).collect();
        let (objectives, decided) = function.objectives();
        format!("{decided}/{objectives} ({})", reasons.join("; "))
    };
    Some(format!("{sign} {name}: {} -> {}", all(old), all(new)))
}
