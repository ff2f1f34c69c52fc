//! The theorems of [000] on random functions that are explored completely: the coverage of the modes of
//! exploration, and their numbers of paths.
//!
//! `LYDIAN_SEEDS=100..400` chooses the seeds.

use std::collections::BTreeSet;
use std::time::Duration;

use lydian_objective::Criterion;
use lydian_symex::{Config, Cut, LabelDeletion, Mode, Search, Summary};
use lydian_symex::{HyperRef, LabelRef};
use lydian_testkit::oracle::seeds;

use crate::functions::{Function, as_in_the_paper};

const CRITERIA: [Criterion; 6] =
    [Criterion::Bbc, Criterion::Dc, Criterion::Cc, Criterion::Mcc, Criterion::Gacc, Criterion::Wm];

impl Function {
    /// A complete exploration as in the paper; none if limits or the solver prevented it.
    fn explore_in(&self, mode: Mode, label_deletion: LabelDeletion) -> Option<Summary> {
        self.explore_as(&Config { mode, label_deletion, ..as_in_the_paper() })
    }

    fn explore_as(&self, config: &Config) -> Option<Summary> {
        let time = Duration::from_secs(3);
        let summary = self.subject.explore(self.func, &self.settings, config, time).summary;
        let hinders = |reason: &Cut| *reason != Cut::NotAsked;
        let hindered = summary.left.iter().any(|left| left.reasons.iter().any(hinders));
        (summary.complete && !hindered).then_some(summary)
    }

    /// The most labels at one place.
    fn labels_at_a_place(&self) -> u64 {
        let objectives = self.subject.objectives.iter();
        let most = objectives.map(|of| {
            let labels = of.labels.values();
            let at = labels.clone().map(|l| labels.clone().filter(|m| m.site == l.site).count());
            at.max().unwrap_or(0) as u64
        });
        most.max().unwrap_or(0)
    }
}

fn covered(summary: &Summary) -> BTreeSet<LabelRef> {
    summary.covered.iter().copied().collect()
}

fn hypers(summary: &Summary) -> BTreeSet<HyperRef> {
    summary.covered_hypers.iter().copied().collect()
}

#[test]
fn tight_exploration_adds_linearly_many_paths_and_deletion_loses_no_label() {
    let mut complete = 0;
    for seed in seeds(0..25) {
        let function = Function::random(seed, &CRITERIA);
        let plain = function.explore_in(Mode::Plain, LabelDeletion::Off);
        let Some(plain) = plain else { continue };
        let tight = |deletion| function.explore_in(Mode::Tight, deletion);
        let Some(off) = tight(LabelDeletion::Off) else { continue };
        complete += 1;
        // Theorem 7: the program's own paths stay as they are, and each step of their tree has at
        // most one more for each label there.
        assert_eq!(off.paths, plain.paths, "seed {seed}");
        let most = function.labels_at_a_place() * plain.statistics.steps;
        assert!(off.label_paths <= most, "seed {seed}: {} label paths", off.label_paths);
        for deletion in [LabelDeletion::Solved, LabelDeletion::Run, LabelDeletion::Kept] {
            let Some(found) = tight(deletion) else { continue };
            // Theorem 8.
            assert_eq!(covered(&found), covered(&off), "seed {seed}, {deletion:?}");
            assert_eq!(found.paths, plain.paths, "seed {seed}, {deletion:?}");
            let labels = found.covered.len() as u64;
            assert!(found.label_paths <= labels.min(off.label_paths), "seed {seed}, {deletion:?}");
        }
    }
    assert!(complete > 0, "no function was explored completely");
}

#[test]
fn direct_exploration_covers_the_same_with_at_least_as_many_paths() {
    let mut complete = 0;
    for seed in seeds(100..120) {
        let function = Function::random(seed, &CRITERIA);
        let tight = function.explore_in(Mode::Tight, LabelDeletion::Kept);
        let direct = function.explore_in(Mode::Direct, LabelDeletion::Off);
        let (Some(tight), Some(direct)) = (tight, direct) else { continue };
        complete += 1;
        // Theorem 5 is about how many more these may be.
        assert!(direct.path_count() >= tight.path_count(), "seed {seed}");
        assert_eq!(covered(&direct), covered(&tight), "seed {seed}");
    }
    assert!(complete > 0, "no function was explored completely");
}

#[test]
fn every_search_covers_the_same_pairs_of_definitions_and_uses() {
    let (mut complete, mut pairs) = (0, 0);
    for seed in seeds(300..312) {
        let function = Function::random(seed, &[Criterion::AllUses, Criterion::Dc]);
        let explore = |search, look_ahead| {
            function.explore_as(&Config { search, look_ahead, ..as_in_the_paper() })
        };
        let Some(all) = explore(Search::BreadthFirst, false) else { continue };
        complete += 1;
        let hypers = |summary: &Summary| -> BTreeSet<HyperRef> {
            summary.covered_hypers.iter().copied().collect()
        };
        pairs += all.covered_hypers.len();
        for search in Search::ALL {
            let Some(found) = explore(search, true) else { continue };
            assert_eq!(hypers(&found), hypers(&all), "seed {seed}, {search:?}");
            assert_eq!(covered(&found), covered(&all), "seed {seed}, {search:?}");
        }
    }
    assert!(complete > 0 && pairs > 0, "{complete}, {pairs}");
}

#[test]
fn every_search_covers_the_same_whatever_is_dropped_and_merged_on_the_way() {
    let (mut complete, mut dropped, mut merged) = (0, 0, 0);
    for seed in seeds(200..218) {
        // With all mutants hardly a place is without a label that no input covers.
        let criteria = if seed.is_multiple_of(3) { &CRITERIA[..] } else { &CRITERIA[..4] };
        let function = Function::random(seed, criteria);
        let Some(all) = function.explore_in(Mode::Tight, LabelDeletion::Kept) else { continue };
        complete += 1;
        for search in Search::ALL {
            for (merge, label_deletion) in [
                (false, LabelDeletion::Kept),
                (true, LabelDeletion::Solved),
                (true, LabelDeletion::Kept),
            ] {
                let config =
                    Config { search, label_deletion, look_ahead: true, merge, ..as_in_the_paper() };
                let Some(found) = function.explore_as(&config) else { continue };
                dropped += found.statistics.dropped;
                merged += found.statistics.merged;
                assert_eq!(covered(&found), covered(&all), "seed {seed}, {config:?}");
                assert!(found.path_count() <= all.path_count(), "seed {seed}, {config:?}");
            }
        }
    }
    assert!(complete > 0 && dropped > 0 && merged > 0, "{complete}, {dropped}, {merged}");
}

#[test]
fn merging_states_where_no_label_is_left_changes_no_verdict() {
    let sequences = [Criterion::Bc, Criterion::Racc, Criterion::AllUses];
    let (mut complete, mut merged, mut fewer) = (0, 0, 0);
    for seed in seeds(400..424) {
        let criteria = match seed % 3 {
            0 => &sequences[..],
            1 => &CRITERIA[..2],
            _ => &CRITERIA[..],
        };
        let function = Function::random(seed, criteria);
        for (search, look_ahead) in [(Search::Mixed, true), (Search::DepthFirst, false)] {
            let apart = Config {
                search,
                look_ahead,
                merge: true,
                merge_states_after: None,
                ..as_in_the_paper()
            };
            let together = Config { merge_states_after: Some(0), ..apart.clone() };
            let mut evicted = together.clone();
            evicted.limits.whole_states = Some(0);
            let silent = Config { merge_silent_code: true, ..together.clone() };
            let Some(apart) = function.explore_as(&apart) else { continue };
            for config in [together, evicted, silent] {
                let Some(found) = function.explore_as(&config) else { continue };
                complete += 1;
                merged += found.statistics.merged_states;
                fewer += apart.path_count() - found.path_count().min(apart.path_count());
                let left = |summary: &Summary| -> BTreeSet<LabelRef> {
                    summary.left.iter().map(|left| left.label).collect()
                };
                assert_eq!(covered(&found), covered(&apart), "seed {seed}, {config:?}");
                assert_eq!(left(&found), left(&apart), "seed {seed}, {config:?}");
                assert_eq!(hypers(&found), hypers(&apart), "seed {seed}, {config:?}");
                assert!(found.path_count() <= apart.path_count(), "seed {seed}, {config:?}");
            }
        }
    }
    assert!(complete > 0 && merged > 0 && fewer > 0, "{complete}, {merged}, {fewer}");
}

#[test]
fn compacting_all_states_that_wait_changes_nothing_that_is_found() {
    // Directed searches use data of a state that eviction drops.
    let searches =
        Search::ALL.iter().filter(|search| !matches!(search, Search::Sdgs | Search::Cpgs));
    let sequences = [Criterion::Gacc, Criterion::Racc, Criterion::AllUses, Criterion::Wm];
    let (mut complete, mut evicted) = (0, 0);
    for seed in seeds(300..304) {
        let criteria = if seed.is_multiple_of(3) { &sequences[..] } else { &CRITERIA[..] };
        let function = Function::random(seed, criteria);
        for (search, merge) in searches.clone().flat_map(|s| [(*s, false), (*s, true)]) {
            let whole = Config { search, merge, look_ahead: merge, ..as_in_the_paper() };
            let mut config = whole.clone();
            config.limits.whole_states = Some(0);
            let found = [&whole, &config].map(|config| function.explore_as(config));
            let [Some(whole), Some(found)] = found else { continue };
            complete += 1;
            evicted += found.statistics.evicted;
            let of = |summary: &Summary| {
                let hypers = summary.covered_hypers.clone();
                let left: Vec<_> = summary.left.iter().map(|left| left.label).collect();
                let steps = summary.statistics.steps;
                (
                    summary.paths.clone(),
                    summary.label_paths,
                    summary.covered.clone(),
                    hypers,
                    left,
                    steps,
                )
            };
            assert_eq!(of(&found), of(&whole), "seed {seed}, {config:?}");
        }
    }
    assert!(complete > 0 && evicted > 100, "{complete}, {evicted}");
}
