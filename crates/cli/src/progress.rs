//! Lines on standard error that say how far the work is, one for each function that is worked on,
//! where that is a terminal.

use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lydian_symex::Progress as Counters;

/// The lines of all functions that are worked on.
pub(crate) struct Lines(MultiProgress);

impl Lines {
    /// None yet. Where nobody looks they are hidden.
    pub(crate) fn new() -> Self {
        let visible = std::io::stderr().is_terminal();
        let hidden = || MultiProgress::with_draw_target(ProgressDrawTarget::hidden());
        Self(if visible { MultiProgress::new() } else { hidden() })
    }

    /// Adds the line of one function, below the others.
    pub(crate) fn start(&self, function: &str) -> Progress {
        let bar = self.0.add(ProgressBar::new_spinner());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_prefix(function.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Progress(bar)
    }
}

/// The line of one function, which goes with it.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Shows an exploration's counters.
    pub(crate) fn update(&self, counters: &Counters) {
        let Counters { paths, states, labels_left, .. } = counters;
        self.0.set_message(format!("{paths} paths, {states} waiting, {labels_left} labels left"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
