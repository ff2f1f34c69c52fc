//! The libraries that `scripts/survey-c` fetches: C that Lydian was not developed on.
#![allow(dead_code, reason = "each bench uses a part of it")]

use std::path::{Path, PathBuf};
use std::process::Command;

use lydian_base::random::Rng;
use serde::Deserialize;

/// A library with the files that clang compiles alone.
pub(crate) struct Library {
    pub(crate) name: String,
    /// The folder that files and flags are relative to.
    pub(crate) place: PathBuf,
    pub(crate) units: Vec<Unit>,
}

/// A file and the flags that it compiles with.
#[derive(Clone, Debug)]
pub(crate) struct Unit {
    pub(crate) file: String,
    pub(crate) flags: Vec<String>,
}

/// Those libraries of a part (`open`, `held-out`) that are named, all of it where none is. They are
/// fetched unless they are there.
pub(crate) fn libraries(root: &Path, part: &str, named: &[String]) -> Vec<Library> {
    let script = root.join("scripts/survey-c");
    let list = Command::new(&script).arg("--list").output().expect("the script can be started");
    let list = String::from_utf8_lossy(&list.stdout).into_owned();
    let of_part = list.lines().filter_map(|line| {
        let (name, its_part) = line.split_once(' ')?;
        (its_part.trim() == part).then(|| name.to_owned())
    });
    let chosen = of_part.filter(|name| named.is_empty() || named.contains(name));
    chosen.filter_map(|name| library(root, &script, name)).collect()
}

/// One library, `None` where it cannot be fetched, which the script says.
fn library(root: &Path, script: &Path, name: String) -> Option<Library> {
    let status = Command::new(script).arg(&name).status().expect("the script can be started");
    if !status.success() {
        return None;
    }
    let place = root.join("target/survey-c").join(&name);
    let text = std::fs::read_to_string(place.join("units.txt")).expect("the list of files");
    let units = text.lines().filter_map(|line| {
        let mut words = line.split_whitespace().map(String::from);
        Some(Unit { file: words.next()?, flags: words.collect() })
    });
    Some(Library { units: units.collect(), name, place })
}

/// The names of the functions that a file defines, in the order of the source; or why Lydian does
/// not say.
pub(crate) fn functions_of(library: &Library, unit: &Unit) -> Result<Vec<String>, String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let json = folder.path().join("objectives.json");
    let mut lydian = Command::new(env!("CARGO_BIN_EXE_lydian"));
    lydian.current_dir(&library.place).args(["objectives", &unit.file, "-c", "fc", "--json"]);
    lydian.arg(&json).arg("--").args(&unit.flags);
    let out = lydian.output().expect("lydian can be started");
    let text = std::fs::read_to_string(json).map_err(|_| {
        let errors = String::from_utf8_lossy(&out.stderr);
        errors.lines().next().unwrap_or("no list of functions").to_owned()
    })?;
    let listed: ObjectivesListing =
        serde_json::from_str(&text).map_err(|error| error.to_string())?;
    Ok(listed.functions.into_iter().map(|function| function.name).collect())
}

/// What `lydian objectives --json` writes, as far as it is read.
#[derive(Deserialize)]
struct ObjectivesListing {
    functions: Vec<ListedFunction>,
}

#[derive(Deserialize)]
struct ListedFunction {
    name: String,
}

/// Draws `count` of the things, in their own order; all of them where there are no more.
pub(crate) fn sample<T>(things: Vec<T>, count: usize, seed: u64) -> Vec<T> {
    let mut random = Rng::new(seed);
    let mut left = things.len();
    let mut wanted = count.min(left);
    let drawn = things.into_iter().filter(|_| {
        let taken = random.below(left as u64) < wanted as u64;
        left -= 1;
        wanted -= usize::from(taken);
        taken
    });
    drawn.collect()
}

/// The things in an order that follows from the seed.
pub(crate) fn shuffled<T>(mut things: Vec<T>, seed: u64) -> Vec<T> {
    let mut random = Rng::new(seed);
    for at in (1..things.len()).rev() {
        things.swap(at, random.below(at as u64 + 1) as usize);
    }
    things
}
