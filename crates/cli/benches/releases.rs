//! Tests for a change alone, on releases of libraries: what exploration costs with and without the old version,
//! after Table III of [003].
//!
//!     cargo bench -p lydian-cli --bench releases [-- [libraries=NAME,NAME] [files=NAME,NAME] [time=SECONDS]]
//!
//! `scripts/releases` fetches the releases that are not in `target/releases`. Each file of a release that the
//! next one changes is tested for MC/DC, `time` seconds a function (default 1), by one thread, in an empty folder
//! each time: *directed* as `lydian gen --against` does it, *full* as `lydian gen` does it. Printed are the
//! objectives that the change affects, and for both the statements that were executed (states), the objectives
//! that were decided and those that were asked for and are open, and the processor time, with compilers and native
//! runs. Files that Lydian cannot read are named with the reason. The last lines have sums, and the median of
//! the ratios.

#[path = "versions/cost.rs"]
mod cost;
#[path = "shared/processor.rs"]
mod processor;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use comfy_table::{Table, presets};
use cost::{Cost, Pair, Way};

const DIRECTED: Way = Way { name: "directed", directed: true, merged: true, every_path: false };
const FULL: Way = Way { name: "full", directed: false, merged: false, every_path: false };

/// The words of the command line.
struct Arguments {
    libraries: Vec<String>,
    files: Vec<String>,
    time: Duration,
}

impl Arguments {
    fn read() -> Self {
        let mut asked =
            Self { libraries: Vec::new(), files: Vec::new(), time: Duration::from_secs(1) };
        for word in std::env::args().skip(1).filter(|word| word != "--bench") {
            let names = |value: &str| value.split(',').map(String::from).collect();
            match word.split_once('=') {
                Some(("libraries", value)) => asked.libraries = names(value),
                Some(("files", value)) => asked.files = names(value),
                Some(("time", value)) => {
                    asked.time = Duration::from_secs_f64(value.parse().expect("seconds"));
                }
                _ => panic!("`{word}` is no argument of this bench; see the head of its file"),
            }
        }
        asked
    }
}

fn main() {
    let asked = Arguments::read();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let script = root.join("scripts/releases");
    let fetched = Command::new(&script).args(&asked.libraries).status().expect("the script starts");
    assert!(fetched.success(), "the releases are fetched");
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let mut all = Vec::new();
    for pair in pairs(&root, &script, &asked) {
        let cost = |way| pair.cost(way, asked.time, folder.path());
        match cost(DIRECTED).and_then(|directed| Ok([directed, cost(FULL)?])) {
            Ok(costs) => {
                say(&format!(
                    "{}: {:.1} and {:.1} s",
                    pair.name, costs[0].seconds, costs[1].seconds
                ));
                all.push((pair, costs));
            }
            Err(error) => {
                let said = error.diagnostics.first().map_or("", |first| first.message.as_str());
                say(&format!("{}: {said}", pair.name));
            }
        }
    }
    show(&all);
}

fn say(text: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{text}").and_then(|()| out.flush()).expect("the output takes it");
}

/// The files that a release changes, with those of the release before it.
fn pairs(root: &Path, script: &Path, asked: &Arguments) -> Vec<Pair> {
    let list = Command::new(script).arg("--list").output().expect("the script starts");
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let known: Vec<(&str, &str)> = list
        .lines()
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            Some((words.next()?, words.next()?))
        })
        .filter(|(name, _)| {
            asked.libraries.is_empty() || asked.libraries.iter().any(|it| it == name)
        })
        .collect();
    let next = known.windows(2).filter(|two| two[0].0 == two[1].0);
    next.flat_map(|two| changed_files(root, two[0].0, (two[0].1, two[1].1), asked)).collect()
}

fn changed_files(
    root: &Path,
    library: &str,
    (before, after): (&str, &str),
    asked: &Arguments,
) -> Vec<Pair> {
    let place = |version: &str| root.join("target/releases").join(library).join(version);
    let (old, new) = (place(before), place(after));
    let entries = std::fs::read_dir(&new).expect("the release is there");
    let mut names: Vec<String> =
        entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort_unstable();
    let is_asked = |name: &String| {
        name.ends_with(".c") && (asked.files.is_empty() || asked.files.contains(name))
    };
    let text = |folder: &PathBuf, name: &String| std::fs::read(folder.join(name)).ok();
    let is_changed = |name: &String| {
        let before = text(&old, name);
        before.is_some() && before != text(&new, name)
    };
    let pair = |name: String| Pair {
        name: format!("{library} {before} to {after}: {name}"),
        old: old.join(&name),
        new: new.join(&name),
        flags: vec!["-w".to_owned()],
    };
    names.into_iter().filter(is_asked).filter(is_changed).map(pair).collect()
}

fn show(all: &[(Pair, [Cost; 2])]) {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header([
        "change",
        "impacted",
        "states, directed",
        "full",
        "decided, directed",
        "full",
        "open, directed",
        "full",
        "time, directed",
        "full",
        "missed",
    ]);
    let missed = |[directed, full]: &[Cost; 2]| directed.open.difference(&full.open).count();
    for (pair, costs) in all {
        let [directed, full] = costs;
        table.add_row([
            pair.name.clone(),
            format!("{} of {}", directed.impacted, directed.all),
            directed.steps.to_string(),
            full.steps.to_string(),
            directed.decided.to_string(),
            full.decided.to_string(),
            directed.open.len().to_string(),
            full.open.len().to_string(),
            format!("{:.2} s", directed.seconds),
            format!("{:.2} s", full.seconds),
            missed(costs).to_string(),
        ]);
    }
    say(&table.to_string());
    let ratio = |part: fn(&Cost) -> f64| {
        let mut ratios: Vec<f64> =
            all.iter().map(|(_, [directed, full])| part(directed) / part(full)).collect();
        ratios.sort_by(f64::total_cmp);
        let sum = |at: usize| all.iter().map(|(_, costs)| part(&costs[at])).sum::<f64>();
        let median = ratios.get(ratios.len() / 2).copied().unwrap_or(f64::NAN);
        format!("{median:.2} in the median, {:.2} of the sum", sum(0) / sum(1))
    };
    say(&format!("directed to full: states {}", ratio(|cost| cost.steps.max(1) as f64)));
    say(&format!("directed to full: time {}", ratio(|cost| cost.seconds)));
    let missed: usize = all.iter().map(|(_, costs)| missed(costs)).sum();
    say(&format!("impacted objectives that full exploration alone decides: {missed}"));
}
