//! Tasks as SV-COMP describes them, one `.yml` file for each. Of the format only the lines are read that
//! such files have.

use std::io;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// A task about calls of error functions.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// The folder that it lies in.
    pub(crate) folder: String,
    /// The name of its description.
    name: String,
    pub(crate) file: PathBuf,
    /// Whether no run gets to an error.
    pub(crate) is_safe: bool,
    /// Whether pointers have 32 bits.
    pub(crate) is_narrow: bool,
}

impl Task {
    /// The name of the task among all.
    pub(crate) fn name(&self) -> String {
        format!("{}/{}", self.folder, self.name)
    }

    /// Whether it belongs to the third that is not looked at.
    pub(crate) fn is_held_out(&self) -> bool {
        let digest = Sha256::digest(self.name());
        let remainder = digest.iter().fold(0, |left, byte| (left * 256 + u32::from(*byte)) % 3);
        remainder == 0
    }
}

/// The tasks in the folders of a folder, in the order of their names.
pub(crate) fn tasks(folder: &Path) -> io::Result<Vec<Task>> {
    let mut found = Vec::new();
    for group in std::fs::read_dir(folder)? {
        let group = group?.path();
        if !group.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(&group)? {
            let file = file?.path();
            if file.extension().is_some_and(|extension| extension == "yml") {
                found.extend(task(&group, &file, &std::fs::read_to_string(&file)?));
            }
        }
    }
    found.sort_by_key(Task::name);
    Ok(found)
}

/// The task of a description; none if it is not about calls of error functions.
fn task(group: &Path, description: &Path, text: &str) -> Option<Task> {
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let of = |line: &str, key: &str| {
        let value = line.trim_start_matches("- ").strip_prefix(key)?.trim();
        Some(value.trim_matches(['\'', '"']).to_owned())
    };
    let first = |key: &str| lines.iter().find_map(|line| of(line, key));
    let property = lines.iter().position(|line| line.contains("unreach-call.prp"))?;
    let verdict = lines[property..].iter().find_map(|line| of(line, "expected_verdict:"))?;
    let name = |path: &Path| Some(path.file_name()?.to_string_lossy().into_owned());
    Some(Task {
        folder: name(group)?,
        name: name(description)?,
        file: group.join(first("input_files:")?),
        is_safe: verdict == "true",
        is_narrow: first("data_model:").is_none_or(|model| model == "ILP32"),
    })
}
