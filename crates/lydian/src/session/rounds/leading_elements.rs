//! Exploration with inputs that point into the middle of an array.
//!
//! `f(const char *s, int at)` that reads `s[at]` may be meant for negative numbers, too. Guesses put an
//! array's first element at the pointer's target, which is what people would choose. If objectives are
//! open and the main exploration noticed that the program may read or write before such an array, the
//! objectives are explored again with elements there. This finds tests and decides nothing else.

use std::time::Duration;

use lydian_base::Budget;
use lydian_inputs::InputSpec;
use lydian_inputs::place::InputPlace;
use lydian_inputs::settings::PlacePattern;
use lydian_symex::{Config, Mode, Summary};

use crate::error::Error;
use crate::session::hyperlabel_coverage::HyperlabelCoverage;
use crate::session::state::{Conclusion, Round, Session};

/// The number of elements before the target.
const ELEMENTS: u64 = 2;
/// The time for this.
const TIME: Duration = Duration::from_secs(2);

impl Session<'_, '_> {
    /// Explores the open objectives with elements before the arrays for which an exploration noticed
    /// the need.
    pub(crate) fn explore_leading_elements(
        &mut self,
        summary: &Summary,
        hyper_coverage: &mut HyperlabelCoverage<'_>,
        config: &Config,
        budget: &Budget,
        contradictions: &mut Vec<String>,
    ) -> Result<(), Error> {
        if config.mode == Mode::Plain || self.project.entry().is_some() {
            return Ok(());
        }
        let Some(spec) = self.with_elements_before(summary) else { return Ok(()) };
        let round = Round { spec: &spec, concludes: Conclusion::Never, ends_well: false };
        self.explore_open(&round, TIME, hyper_coverage, config, budget, contradictions)
    }

    /// The inputs with elements before the arrays of scalars without settings; none if there is no such
    /// array.
    fn with_elements_before(&self, summary: &Summary) -> Option<InputSpec> {
        let program = &self.project.program;
        let mut spec = self.project.spec.clone();
        let settings = spec.settings.function.entry(self.name().to_owned()).or_default();
        let early = summary.starts.iter().filter(|(_, early)| *early).map(|(start, _)| start);
        let scalars = early.filter(|start| program.types.scalar(start.element).is_some());
        let places = scalars.filter_map(|start| InputPlace::parse(&start.name).ok());
        let places = places.filter(|place| !settings.places.keys().any(|set| set.0.matches(place)));
        let places: Vec<PlacePattern> = places.map(PlacePattern).collect();
        let is_any = !places.is_empty();
        for place in places {
            settings.places.entry(place).or_default().before = Some(ELEMENTS);
        }
        is_any.then_some(spec)
    }
}
