//! What a survey keeps: one entry a function, written as JSON, so that two runs can be compared.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

/// A whole run.
#[derive(Serialize, Deserialize)]
pub(crate) struct Survey {
    pub(crate) part: String,
    /// Seconds for each function.
    pub(crate) time: f64,
    pub(crate) functions: Vec<FunctionResult>,
    /// Panics, contradictions and files that failed.
    pub(crate) troubles: Vec<Trouble>,
}

/// What became of one function.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct FunctionResult {
    pub(crate) library: String,
    pub(crate) file: String,
    pub(crate) function: String,
    /// Whether every objective is covered, infeasible or a duplicate.
    pub(crate) decided: bool,
    /// Wall-clock time; the first function of a file has its compilation in it.
    pub(crate) seconds: f64,
    /// Counts by criterion, as `gen --json` names them.
    pub(crate) criteria: BTreeMap<String, BTreeMap<String, u64>>,
    /// Why objectives are left, without the numbers and names of the case: how many for each.
    pub(crate) reasons: BTreeMap<String, u64>,
}

/// Something that is wrong with Lydian.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) struct Trouble {
    pub(crate) library: String,
    pub(crate) file: String,
    /// The functions that were asked for; none for the whole file.
    pub(crate) functions: Vec<String>,
    pub(crate) what: String,
}

impl FunctionResult {
    /// What tells it from the others of a run.
    pub(crate) fn key(&self) -> (&str, &str, &str) {
        (&self.library, &self.file, &self.function)
    }

    /// A function that `gen` says nothing of.
    pub(crate) fn without_a_row(library: &str, file: &str, function: &str, reason: &str) -> Self {
        Self {
            library: library.to_owned(),
            file: file.to_owned(),
            function: function.to_owned(),
            decided: false,
            seconds: 0.0,
            criteria: BTreeMap::new(),
            reasons: BTreeMap::from([(reason.to_owned(), 1)]),
        }
    }

    /// A function of the table of `gen --json`. Counts that are not known here, as of verdicts under
    /// assumptions, are kept and decide nothing.
    pub(crate) fn from_row(library: &str, file: &str, row: &serde_json::Value) -> Option<Self> {
        let mut result = Self::without_a_row(library, file, row["name"].as_str()?, "");
        result.reasons.clear();
        result.seconds = row["seconds"].as_f64().unwrap_or_default();
        result.decided = true;
        for criterion in row["criteria"].as_array()? {
            let fields = criterion.as_object()?;
            let counts: BTreeMap<String, u64> = fields
                .iter()
                .filter_map(|(name, value)| Some((name.clone(), value.as_u64()?)))
                .collect();
            let count = |name| counts.get(name).copied().unwrap_or(0);
            let known = count("covered") + count("infeasible") + count("duplicate");
            result.decided &= known >= count("objectives");
            for reason in criterion["reasons"].as_array().into_iter().flatten() {
                let text = normalised(reason[0].as_str().unwrap_or("no reason"));
                *result.reasons.entry(text).or_default() += reason[1].as_u64().unwrap_or(1);
            }
            if count("infeasible_as_assumed") > 0 {
                let reason = result.reasons.entry("infeasible only as assumed".to_owned());
                *reason.or_default() += count("infeasible_as_assumed");
            }
            result.criteria.insert(criterion["criterion"].as_str()?.to_owned(), counts);
        }
        Some(result)
    }

    /// Objectives of all criteria, and those that are decided.
    pub(crate) fn objectives(&self) -> (u64, u64) {
        let count = |names: &[&str]| {
            let criteria = self.criteria.values();
            let counts = criteria.flat_map(|c| names.iter().filter_map(|name| c.get(*name)));
            counts.sum::<u64>()
        };
        (count(&["objectives"]), count(&["covered", "infeasible", "duplicate"]))
    }
}

impl Survey {
    pub(crate) fn read(path: &Path) -> Result<Self, String> {
        let text = std::fs::read_to_string(path).map_err(|error| error.to_string())?;
        serde_json::from_str(&text).map_err(|error| error.to_string())
    }

    pub(crate) fn write(&self, path: &Path) {
        let text = serde_json::to_string_pretty(self).expect("counts and names are valid JSON");
        let folder = path.parent().expect("the file lies in a folder");
        std::fs::create_dir_all(folder).expect("the folder can be made");
        std::fs::write(path, text + "\n").expect("the results can be written");
    }
}

/// What kind of reason it is, for tables: bounds on inputs are one kind whatever they bound, and so
/// are inputs that cannot be made.
pub(crate) fn kind_of(reason: &str) -> String {
    if let Some(bounds) = reason.strip_prefix("not reached within bounds on inputs: ") {
        let kinds = [
            ("elements", "lengths of arrays"),
            ("characters", "lengths of strings"),
            ("points to one object", "one object"),
            ("pointers are followed", "depth"),
            ("inputs have at most", "number of objects"),
            ("different objects", "no aliases"),
        ];
        let met = kinds.iter().filter(|(words, _)| bounds.contains(words));
        let met: Vec<&str> = met.map(|(_, kind)| *kind).collect();
        return format!("bounds on inputs: {}", met.join(", "));
    }
    match reason.strip_prefix("no inputs could be made: ").and_then(|rest| rest.rsplit_once(": ")) {
        Some((_, why)) => format!("no inputs could be made: {why}"),
        None => reason.to_owned(),
    }
}

/// A reason without what is special to the case: numbers, quoted names, places.
pub(crate) fn normalised(reason: &str) -> String {
    let mut text = String::new();
    let mut characters = reason.chars().peekable();
    while let Some(c) = characters.next() {
        match c {
            '`' | '"' => {
                while characters.next().is_some_and(|inner| inner != c) {}
                text.push_str("...");
            }
            '0'..='9' if !text.ends_with(|before: char| before.is_alphanumeric()) => {
                let number = |c: &char| c.is_ascii_alphanumeric() || *c == '.' || *c == ',';
                while characters.next_if(number).is_some() {}
                text.push('N');
            }
            _ => text.push(c),
        }
    }
    text
}
