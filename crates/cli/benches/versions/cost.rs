//! What tests for a new version of a file cost, with and without the old one.
#![allow(dead_code, reason = "each bench uses a part of it")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use lydian::exploration::Config;
use lydian::{
    CancelToken, Criterion, Error, Event, Generator, GeneratorOptions, ObjectiveRequest, Project,
    ProjectRequest, VerdictKind,
};

use crate::processor::processor_time;

/// How a version is explored.
#[derive(Clone, Copy)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) directed: bool,
    pub(crate) merged: bool,
    pub(crate) every_path: bool,
}

/// The cost of one run, over all functions.
#[derive(Clone, Default)]
pub(crate) struct Cost {
    pub(crate) steps: u64,
    pub(crate) paths: u64,
    pub(crate) decided: usize,
    /// The objectives that were asked for and are not decided.
    pub(crate) open: BTreeSet<String>,
    pub(crate) seconds: f64,
    /// Without loading and comparing the versions.
    pub(crate) generating: f64,
    pub(crate) impacted: usize,
    pub(crate) all: usize,
}

/// The old version and the new one.
pub(crate) struct Pair {
    pub(crate) name: String,
    pub(crate) old: PathBuf,
    pub(crate) new: PathBuf,
    /// The compiler's flags for both.
    pub(crate) flags: Vec<String>,
}

impl Pair {
    /// The cost of tests for the new version, with a time for each function.
    pub(crate) fn cost(&self, way: Way, time: Duration, folder: &Path) -> Result<Cost, Error> {
        let silent = |_: Event<'_>| {};
        let tests = tempfile::tempdir_in(folder).expect("a temporary folder can be made");
        let begun = processor_time();
        let load = |file| {
            let request = ProjectRequest { flags: self.flags.clone(), ..ProjectRequest::new(file) };
            Project::load(&request, &silent)
        };
        let project = load(&self.new)?;
        let objectives = project.objectives(&ObjectiveRequest::new([Criterion::Mcdc]), &silent)?;
        let impact = match way.directed {
            true => Some(project.impact(&objectives, &load(&self.old)?)),
            false => None,
        };
        let counts = impact.as_ref().map(|impact| impact.counts.clone()).unwrap_or_default();
        let options = GeneratorOptions {
            time,
            jobs: std::num::NonZeroUsize::new(1),
            exploration: Config {
                nice_values: true,
                seed: 1,
                look_ahead: !way.every_path,
                stop_when_covered: !way.every_path,
                merge_silent_code: way.merged,
                ..Config::default()
            },
            impact,
            ..GeneratorOptions::new(tests.path())
        };
        let generator = Generator::new(&project, &objectives, options);
        let loaded = processor_time() - begun;
        let generation = generator.run(&CancelToken::new(), &silent)?;
        let seconds = processor_time() - begun;
        let mut cost = Cost { seconds, generating: seconds - loaded, ..Cost::default() };
        cost.impacted = counts.iter().map(|count| count.impacted).sum();
        for function in &generation.summary.functions {
            if let Some(exploration) = &function.exploration {
                cost.steps += exploration.steps;
                cost.paths += exploration.paths;
            }
            for one in &function.objectives {
                cost.all += 1;
                match one.verdict {
                    VerdictKind::Unknown if one.reason.contains("left alone") => {}
                    VerdictKind::Unknown => {
                        _ = cost.open.insert(format!("{} {}", function.name, one.name));
                    }
                    _ => cost.decided += 1,
                }
            }
        }
        Ok(cost)
    }
}
