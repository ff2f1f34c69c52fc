//! Tests for a change alone: what exploration costs with and without the old version, after Table III of
//! [003].
//!
//!     cargo bench -p lydian-cli --bench versions [-- OLD.c NEW.c]
//!
//! Each version is a program of `examples/versions` with one local change. All functions are tested for
//! MC/DC, in an empty folder each time, by one thread. Printed are the objectives that the change affects,
//! and for five explorations the statements that were executed (states), paths, objectives that were
//! decided, the time, and the part of it behind loading and comparing:
//!
//! - *directed*: with the old version, as `lydian gen --against` does it;
//! - *directed, unmerged*: the same, without merging in code that no objective asks for;
//! - *full*: without the old version, as `lydian gen` does it;
//! - *full, merged*: the same, with that merging, which shows how much of the gain is that of the change;
//! - *all paths*: without the old version, each path followed to its end, as the symbolic execution of the
//!   paper does.
//!
//! Times are processor times, those of compilers and native runs included. The last lines have the medians of the ratios, and the impacted objectives that a full exploration
//! decides and the directed one does not.

#[path = "versions/cost.rs"]
mod cost;
#[path = "shared/processor.rs"]
mod processor;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use comfy_table::{Table, presets};
use cost::{Cost, Pair, Way};

/// The time for each function.
const TIME: Duration = Duration::from_secs(60);

/// A program with its versions: the text that is replaced, and what takes its place.
struct Subject {
    file: &'static str,
    versions: &'static [(&'static str, &'static str)],
}

const SUBJECTS: [Subject; 2] = [
    Subject {
        file: "advisory.c",
        versions: &[
            (
                "own_is_above(e) && e->separation_up >= threshold",
                "own_is_above(e) && e->separation_up > threshold",
            ),
            (
                "found == DESCEND && e->own.altitude < HORIZON + 400",
                "found == DESCEND && e->own.altitude < HORIZON + 500",
            ),
            ("if (layer == 2)\n        return 640;", "if (layer == 2)\n        return 650;"),
            (
                "return e->other.altitude < e->own.altitude;",
                "return e->other.altitude <= e->own.altitude;",
            ),
            (
                "if (found == CLIMB && e->own.rate < 0 - MOST_RATE)",
                "if (found == CLIMB && (e->own.rate < 0 - MOST_RATE || e->layer > 3))",
            ),
            (
                "wants_down = descent_without_crossing(e) && own_is_above(e);",
                "wants_down = descent_without_crossing(e);",
            ),
            (
                "e->separation_up + CLIMB_BONUS : e->separation_up",
                "e->separation_up + 120 : e->separation_up",
            ),
        ],
    },
    Subject {
        file: "monitor.c",
        versions: &[
            ("m->alarms > 9 && m->held == 0", "m->alarms > 8 && m->held == 0"),
            ("if (m->wind > 40 || m->gear_is_down)", "if (m->wind > 40 && m->gear_is_down)"),
            ("m->own_rate * 2 < MOST_RATE", "m->own_rate < MOST_RATE"),
            ("t->closing > 600 || t->range < 1000", "t->closing > 600 || t->range <= 1000"),
            ("m->radio_height > 2500", "m->radio_height > 2400"),
            ("if (above && m->own_height > LOW)", "if (above)"),
            (
                "m->tracks[i].level > m->tracks[found].level",
                "m->tracks[i].level >= m->tracks[found].level",
            ),
            ("before != KEEP && m->held < 3", "before != KEEP && m->held < 5"),
        ],
    },
];

const WAYS: [Way; 5] = [
    Way { name: "directed", directed: true, merged: true, every_path: false },
    Way { name: "directed, unmerged", directed: true, merged: false, every_path: false },
    Way { name: "full", directed: false, merged: false, every_path: false },
    Way { name: "full, merged", directed: false, merged: true, every_path: false },
    Way { name: "all paths", directed: false, merged: false, every_path: true },
];

fn main() {
    let given: Vec<PathBuf> =
        std::env::args().skip(1).filter(|word| word.ends_with(".c")).map(PathBuf::from).collect();
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let groups: Vec<Vec<Pair>> = match &given[..] {
        [old, new] => vec![vec![Pair {
            name: "v1".into(),
            old: old.clone(),
            new: new.clone(),
            flags: Vec::new(),
        }]],
        _ => SUBJECTS.iter().map(|subject| subject.pairs(folder.path())).collect(),
    };
    let mut all = Vec::new();
    for pairs in groups {
        let costs: Vec<[Cost; 5]> =
            pairs.iter().map(|pair| explored(pair, folder.path())).collect();
        show(&pairs, &costs);
        all.extend(costs);
    }
    if given.is_empty() {
        say("all versions");
        show_medians(&all);
    }
}

fn explored(pair: &Pair, folder: &Path) -> [Cost; 5] {
    WAYS.map(|way| pair.cost(way, TIME, folder).expect("tests are made"))
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).expect("the output takes it");
}

fn show(pairs: &[Pair], costs: &[[Cost; 5]]) {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "version",
        "impacted",
        "exploration",
        "states",
        "paths",
        "decided",
        "open",
        "time",
        "behind loading",
    ]);
    for (pair, costs) in pairs.iter().zip(costs) {
        let counted = format!("{} of {}", costs[0].impacted, costs[0].all);
        for (way, cost) in WAYS.iter().zip(costs) {
            let first = way.name == WAYS[0].name;
            let of_first = |text: &str| if first { text.to_owned() } else { String::new() };
            table.add_row([
                of_first(&pair.name),
                of_first(&counted),
                way.name.to_owned(),
                cost.steps.to_string(),
                cost.paths.to_string(),
                cost.decided.to_string(),
                cost.open.len().to_string(),
                format!("{:.2} s", cost.seconds),
                format!("{:.2} s", cost.generating),
            ]);
        }
    }
    say(&table.to_string());
    show_medians(costs);
}

fn show_medians(costs: &[[Cost; 5]]) {
    for (at, way) in WAYS.iter().enumerate().skip(1) {
        let of = |part: fn(&Cost) -> f64| {
            median(costs.iter().map(|costs| part(&costs[0]) / part(&costs[at])).collect())
        };
        say(&format!(
            "median of directed to {}: {:.2} of the states, {:.2} of the time, {:.2} behind loading",
            way.name,
            of(|cost| cost.steps.max(1) as f64),
            of(|cost| cost.seconds),
            of(|cost| cost.generating),
        ));
    }
    let missed: usize =
        costs.iter().map(|costs| costs[0].open.difference(&costs[2].open).count()).sum();
    say(&format!("impacted objectives that full exploration alone decides: {missed}"));
}

fn median(mut all: Vec<f64>) -> f64 {
    all.sort_by(f64::total_cmp);
    let middle = all.len() / 2;
    if all.len() % 2 == 1 { all[middle] } else { f64::midpoint(all[middle - 1], all[middle]) }
}

impl Subject {
    /// The files of the old version and of each new one.
    fn pairs(&self, folder: &Path) -> Vec<Pair> {
        let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/versions");
        let old = examples.join(self.file);
        let text = std::fs::read_to_string(&old).expect("the example is there");
        let changed = self.versions.iter().enumerate().map(|(number, (from, to))| {
            assert_eq!(text.matches(from).count(), 1, "`{from}` stands there once");
            let name = format!("{} v{}", self.file.trim_end_matches(".c"), number + 1);
            let new = folder.join(format!("{}.c", name.replace(' ', "_")));
            std::fs::write(&new, text.replace(from, to)).expect("a file can be written");
            Pair { name, old: old.clone(), new, flags: Vec::new() }
        });
        changed.collect()
    }
}
