//! The real libraries and functions of `examples/real-c.toml`, and where their sources are.
#![allow(dead_code, reason = "each bench reads a part of the list")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;

/// `examples/real-c.toml`.
#[derive(Deserialize)]
pub(crate) struct Evaluation {
    /// Libraries by their names.
    pub(crate) library: BTreeMap<String, Library>,
    /// The functions that are worked on.
    pub(crate) function: Vec<RealFunction>,
}

#[derive(Deserialize)]
pub(crate) struct Library {
    /// What clang needs for its files.
    pub(crate) flags: Vec<String>,
}

#[derive(Deserialize)]
pub(crate) struct RealFunction {
    pub(crate) library: String,
    /// Its path in the library's folder.
    pub(crate) file: String,
    pub(crate) function: String,
    /// Why it was chosen.
    pub(crate) traits: Vec<String>,
}

impl Evaluation {
    /// The list in a checkout of Lydian at `root`.
    pub(crate) fn read(root: &Path) -> Self {
        let text = std::fs::read_to_string(root.join("examples/real-c.toml")).expect("the list");
        toml::from_str(&text).expect("the list is TOML")
    }
}

/// The folder of a library's sources, which `scripts/real-c` fetches unless they are there; or why
/// they cannot be fetched.
pub(crate) fn place_of(root: &Path, library: &str) -> Result<PathBuf, String> {
    let place = root.join("target/real-c").join(library);
    if !place.join(".from").is_file() {
        let fetched = Command::new(root.join("scripts/real-c")).arg(library).output();
        let fetched = fetched.map_err(|error| error.to_string())?;
        if !fetched.status.success() {
            return Err(String::from_utf8_lossy(&fetched.stderr).into_owned());
        }
    }
    Ok(place)
}

/// The settings for the inputs of a library's functions, if there are any.
pub(crate) fn config_of(root: &Path, library: &str) -> Option<PathBuf> {
    let config = root.join(format!("examples/real-c/{library}.toml"));
    config.is_file().then_some(config)
}
