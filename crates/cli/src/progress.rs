//! The display of a running task: diagnostics, and lines of progress on standard error, one for each
//! function in work, if that is a terminal.

use std::collections::BTreeMap;
use std::io::{IsTerminal as _, Write as _};
use std::process::Output;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lydian::{Event, MutantProgress, Observer, Progress};

use crate::render;

/// The name of the line about mutants, which no function has.
const MUTANTS: &str = " mutants";

/// Shows events on standard error.
pub(crate) struct Terminal {
    lines: MultiProgress,
    /// The line of each function in work.
    bars: Mutex<BTreeMap<String, ProgressBar>>,
}

impl Terminal {
    /// A terminal without lines. They are hidden if standard error is no terminal.
    pub(crate) fn new() -> Self {
        let visible = std::io::stderr().is_terminal();
        let hidden = || MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        let lines = if visible { MultiProgress::new() } else { hidden() };
        Self { lines, bars: Mutex::default() }
    }

    /// Shows how far the tests of mutants came; nothing where there are none.
    fn mutants(&self, MutantProgress { done, all, killed }: MutantProgress) {
        let mut bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        if all == 0 {
            return bars.remove(MUTANTS).into_iter().for_each(|bar| bar.finish_and_clear());
        }
        let bar = bars.entry(MUTANTS.to_owned()).or_insert_with(|| {
            let bar = self.lines.add(ProgressBar::new(all as u64));
            if let Ok(style) = ProgressStyle::with_template(
                "{pos} of {len} mutants, {msg} ({elapsed}, {eta} left)",
            ) {
                bar.set_style(style);
            }
            bar
        });
        bar.set_message(format!("{killed} killed"));
        bar.set_position(done as u64);
    }

    /// Adds the line of a function, below the others.
    fn start(&self, function: &str) -> ProgressBar {
        let bar = self.lines.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_prefix(function.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }
}

impl Observer for Terminal {
    fn notice(&self, event: Event<'_>) {
        let bars = || self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            Event::Diagnostic(diagnostic) => {
                render::diagnostics(std::slice::from_ref(diagnostic));
            }
            Event::Begun { function } => {
                bars().insert(function.to_owned(), self.start(function));
            }
            Event::Progress { function, counters } => {
                let Progress { paths, states, labels_left, .. } = counters;
                if let Some(bar) = bars().get(function) {
                    bar.set_message(format!(
                        "{paths} paths, {states} waiting, {labels_left} labels left"
                    ));
                }
            }
            Event::Ended { function } => {
                bars().remove(function).into_iter().for_each(|bar| bar.finish_and_clear());
            }
            Event::Mutants(progress) => self.mutants(progress),
            Event::CompilerOutput(output) => relay(output),
            _ => {}
        }
    }
}

/// Passes on the output of a compiler or linker.
fn relay(output: &Output) {
    // A closed output is no error.
    drop(std::io::stdout().write_all(&output.stdout));
    drop(std::io::stderr().write_all(&output.stderr));
}
