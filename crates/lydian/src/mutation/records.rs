//! Which mutants each test reaches and infects, and how long it takes.

use std::path::Path;
use std::time::Duration;

use lydian_base::CancelToken;
use lydian_mutate::RECORD_VARIABLE;

use super::Target;
use super::commands::{TestCommand, check_passes, fails};
use super::warnings::warn;
use crate::error::Error;
use crate::events::Observer;

/// The most time of a run for the record, over that of the original.
const SLOWER: u32 = 100;
const LEAST: Duration = Duration::from_secs(20);

/// The records of all tests.
pub(crate) struct Records {
    all: Vec<TestRecord>,
}

/// The record of one test.
struct TestRecord {
    name: String,
    time: Duration,
    /// The bytes of each unit, by the unit's position; none if nothing is known.
    seen: Option<Vec<Vec<u8>>>,
}

/// What a record tells of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contact {
    pub(crate) reached: bool,
    pub(crate) infected: bool,
}

impl Records {
    /// Runs each test on the original, and once more for the record.
    ///
    /// # Errors
    /// A test fails without a mutant.
    pub(crate) fn make(
        target: &Target,
        place: &Path,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let mut all = Vec::new();
        for (number, test) in target.tests.iter().enumerate() {
            let time = check_passes(test, cancel)?.time;
            let folder = place.join(number.to_string());
            let seen = match cancel.is_cancelled() {
                true => None,
                false => recorded(target, test, &folder, time, cancel)?,
            };
            if seen.is_none() && !cancel.is_cancelled() {
                let name = &test.name;
                let what = format!(
                    "`{name}` fails while infections are recorded: it runs on every mutant"
                );
                warn(observer, what);
            }
            all.push(TestRecord { name: test.name.clone(), time, seen });
        }
        Ok(Self { all })
    }

    /// The tests with their times in microseconds.
    pub(crate) fn tests(&self) -> Vec<(String, u64)> {
        let micros = |time: Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.all.iter().map(|test| (test.name.clone(), micros(test.time))).collect()
    }

    pub(crate) fn time(&self, test: usize) -> Duration {
        self.all[test].time
    }

    /// Whether a test reaches and infects a mutant of a unit. A test without a record does both.
    pub(crate) fn contact(&self, test: usize, unit: usize, number: u32) -> Contact {
        let Some(seen) = &self.all[test].seen else {
            return Contact { reached: true, infected: true };
        };
        let bits = seen.get(unit).and_then(|seen| seen.get(number as usize)).unwrap_or(&0);
        Contact { reached: bits & 1 != 0, infected: bits & 2 != 0 }
    }
}

/// The record of a test; none if it fails meanwhile.
fn recorded(
    target: &Target,
    test: &TestCommand,
    folder: &Path,
    time: Duration,
    cancel: &CancelToken,
) -> Result<Option<Vec<Vec<u8>>>, Error> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Error::environment("mutants", format!("cannot record: {error}")))?;
    let limit = time * SLOWER + LEAST;
    let variable = (RECORD_VARIABLE, &*folder.display().to_string());
    if test.run(Some(variable), limit, cancel)?.failure.is_some() {
        // A test that fails now and then would kill anything.
        return match test.run(None, limit, cancel)?.failure {
            Some(failure) if !cancel.is_cancelled() => Err(fails(test, failure)),
            _ => Ok(None),
        };
    }
    let read = |unit: &lydian_mutate::UnitMutants| {
        std::fs::read(folder.join(unit.id.to_string())).unwrap_or_default()
    };
    Ok(Some(target.units.iter().map(read).collect()))
}
