//! A line on standard error that says how far the work is, where that is a terminal.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use lydian_symex::exec::Progress as Counters;

/// The line of one function.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// Starts the line; a hidden one where nobody looks.
    pub(crate) fn start(function: &str, visible: bool) -> Self {
        let bar = if visible { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {prefix} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_prefix(function.to_owned());
        bar.enable_steady_tick(Duration::from_millis(200));
        Self(bar)
    }

    /// Shows an exploration's counters.
    pub(crate) fn update(&self, counters: &Counters) {
        let Counters { paths, states, labels_left, .. } = counters;
        self.0.set_message(format!("{paths} paths, {states} waiting, {labels_left} labels left"));
    }

    /// Removes the line.
    pub(crate) fn finish(&self) {
        self.0.finish_and_clear();
    }
}
