//! The exploration of a product, and what follows from it.

use std::time::Duration;

use lydian_base::{Budget, CancelToken};
use lydian_frontend::Unit;
use lydian_inputs::{InputSpec, Settings};
use lydian_ir::{FuncId, TrapKind};
use lydian_objective::changes::{FunctionChange, ProgramChanges};
use lydian_objective::fingerprint::is_same_text;
use lydian_objective::{FunctionObjectives, LabelKey, Pred};
use lydian_smt::{ChainConfig, standard_chain};
use lydian_symex::{
    CallEnd, Config, Cut, Ending, Event, FoundTest, LabelRef, Limits, Summary, Task, Workers,
};

use super::confirmation::{Finding, Native};
use super::driver::{DRIVER, Driver, InputOf, Pair, check_bodies};
use super::product::{self, Product};
use super::versions::Versions;
use super::{DiffRequest, DiffVerdict};
use crate::error::Error;
use crate::events::Observer;
use crate::proving::error_label;

/// The most time of one question.
pub(super) const QUESTION: Duration = Duration::from_secs(2);

/// The part of the time for each function that proofs have, beside that of the exploration.
const PROOFS: u32 = 2;

/// Compares functions of two versions.
pub(super) struct Comparison<'a> {
    pub(super) versions: &'a Versions<'a>,
    pub(super) changes: &'a ProgramChanges,
    pub(super) request: &'a DiffRequest,
    pub(super) cancel: &'a CancelToken,
    pub(super) observer: &'a dyn Observer,
}

/// What an exploration of a product came to.
struct Explored {
    summary: Summary,
    /// The first test on which the versions differ.
    difference: Option<Finding>,
    /// Whether something was reached that cannot be compared.
    uncompared: bool,
    /// What the interpreter said of tests that should show a difference and do not.
    unconfirmed: Option<String>,
}

impl Comparison<'_> {
    /// Whether a run may enter a function whose body is not supported, and the versions' texts are not
    /// the same. What such a function uses is not known, so any difference of the file counts.
    pub(super) fn enters_unknown_text(&self, change: &FunctionChange) -> bool {
        self.pair(change).is_some_and(|pair| self.left_out(pair).is_some())
            && !is_same_text(&self.versions.old.source, &self.versions.new.source)
    }

    /// Both versions of a function that both define.
    fn pair(&self, change: &FunctionChange) -> Option<Pair<'_>> {
        let Versions { old, new, .. } = self.versions;
        Some(Pair { old: (&old.program, change.old?), new: (&new.program, change.new?) })
    }

    /// Compares both versions of a function that both define, with the same type.
    pub(super) fn compare(&self, change: &FunctionChange) -> Result<DiffVerdict, Error> {
        let unknown = |reason: String| Ok(DiffVerdict::Unknown { reason });
        let Some(pair) = self.pair(change) else {
            return unknown("only one version defines it".to_owned());
        };
        if self.cancel.is_cancelled() {
            return unknown("stopped by the user".to_owned());
        }
        if let Some(name) = self.left_out(pair) {
            return unknown(format!("`{name}` uses a construct that is not supported"));
        }
        if let Some(name) = self.entered(pair, |unit, id| unit.volatile_parts.contains(&id)) {
            return unknown(format!("`{name}` accesses volatile bit-fields or structs"));
        }
        if let Err(reason) = check_bodies(pair) {
            return unknown(reason);
        }
        let driver = match Driver::of(pair, self.request.elements) {
            Ok(driver) => driver,
            Err(reason) => {
                log::debug!("{}: no driver: {reason}", change.name);
                return self.compare_on_common_inputs(change, pair);
            }
        };
        let found = self.compare_by_driver(change, pair, &driver)?;
        // A later call may see other values of static locals, which a driver has looked at.
        if !matches!(found, DiffVerdict::Unknown { .. }) || !driver.statics.is_empty() {
            return Ok(found);
        }
        let other = self.compare_on_common_inputs(change, pair)?;
        Ok(if matches!(other, DiffVerdict::Unknown { .. }) { found } else { other })
    }

    /// Compares both versions by a driver that calls both.
    fn compare_by_driver(
        &self,
        change: &FunctionChange,
        pair: Pair<'_>,
        driver: &Driver,
    ) -> Result<DiffVerdict, Error> {
        let unknown = |reason: String| Ok(DiffVerdict::Unknown { reason });
        let product = match Product::link(self.versions, driver, &change.name) {
            Ok(product) => product,
            Err(reason) => return unknown(reason),
        };
        if let Some(name) = product::library_state(&product.program, [product.old, product.new]) {
            let what = "keeps what the old version left for the new one";
            return unknown(format!("the C library's `{name}` {what}"));
        }
        let explored = match self.explore(&product, driver, false) {
            Ok(explored) => explored,
            Err(reason) => return unknown(reason),
        };
        let native = Native { comparison: self, driver, product: &product };
        if let Some(finding) = explored.difference {
            return native.confirmed(&change.name, finding.minimised(&product, driver));
        }
        if let Some(reason) = explored.unconfirmed {
            return unknown(reason);
        }
        if let Some(finding) = self.ending_difference(&native, &change.name, &explored.summary)? {
            return native.confirmed(&change.name, finding);
        }
        let found = conclusion(&product, driver, &explored.summary, explored.uncompared);
        // What a complete exploration leaves open, proofs do not look at.
        let is_open = !explored.summary.complete && !explored.uncompared;
        if is_open && driver.statics.is_empty() {
            let time = self.request.time / PROOFS;
            return Ok(self.prove(pair, driver, time).unwrap_or(found));
        }
        if driver.statics.is_empty() || !matches!(found, DiffVerdict::Proved { .. }) {
            return Ok(found);
        }
        self.with_any_statics(&product, driver)
    }

    /// Static locals may have another value in a later call than in the first.
    fn with_any_statics(&self, product: &Product, driver: &Driver) -> Result<DiffVerdict, Error> {
        let later = match self.explore(product, driver, true) {
            Ok(later) => later,
            Err(reason) => return Ok(DiffVerdict::Unknown { reason }),
        };
        if later.difference.is_some() || later.unconfirmed.is_some() {
            let reason = "the versions are equal in the first call; they may differ in a later one, \
                          where static variables have other values";
            return Ok(DiffVerdict::Unknown { reason: reason.to_owned() });
        }
        Ok(conclusion(product, driver, &later.summary, later.uncompared))
    }

    /// A function that a run may enter and whose body is not supported.
    fn left_out(&self, pair: Pair<'_>) -> Option<String> {
        self.entered(pair, |unit, id| unit.left_out.contains_key(&id))
    }

    /// The name of a function of a kind that a run of a version may enter.
    fn entered(&self, pair: Pair<'_>, is_it: impl Fn(&Unit, FuncId) -> bool) -> Option<String> {
        let of = |unit: &Unit, entered: Vec<FuncId>| {
            let found = entered.into_iter().find(|id| is_it(unit, *id))?;
            Some(unit.program.functions[found].name.clone())
        };
        let (old, new) = (&self.versions.old, &self.versions.new);
        of(new, pair.new.0.entered_from(pair.new.1))
            .or_else(|| of(old, pair.old.0.entered_from(pair.old.1)))
    }

    /// Explores a product for the first difference. With `any_statics` static locals have any value,
    /// else their first one.
    fn explore(
        &self,
        product: &Product,
        driver: &Driver,
        any_statics: bool,
    ) -> Result<Explored, String> {
        let (objectives, label) = objectives(product);
        let spec = InputSpec::new(&product.program, settings(driver, any_statics));
        let budget = Budget::start(Some(self.request.time), CancelToken::new());
        let config = config();
        let task = Task {
            program: &product.program,
            func: product.driver,
            spec: &spec,
            objectives: std::slice::from_ref(&objectives),
            known: &[],
            config: &config,
            budget: &budget,
        };
        let (mut difference, mut unconfirmed, mut uncompared) = (None, None, false);
        let mut sink = |event: Event| {
            if self.cancel.is_cancelled() {
                budget.cancel_token().cancel();
            }
            let Event::Test(found) = event else { return };
            uncompared |= found.covers.iter().any(|covered| *covered != label);
            let is_claimed = found.covers.contains(&label);
            if difference.is_some() || !(is_claimed || is_trap(&found)) {
                return;
            }
            match Finding::of(product, driver, &found.test) {
                Ok(Some(finding)) => {
                    difference = Some(finding);
                    budget.cancel_token().cancel();
                }
                Ok(None) if !is_claimed => {}
                Ok(None) => unconfirmed = Some("the interpreter sees no difference".to_owned()),
                Err(reason) => unconfirmed = Some(reason),
            }
        };
        let chain = ChainConfig::default();
        let solver = || standard_chain(&chain);
        let summary = task
            .run_among(&Workers::new(1, &solver), &mut sink)
            .map_err(|error| format!("no inputs could be made: {error}"))?;
        Ok(Explored { summary, difference, uncompared, unconfirmed })
    }
}

/// Whether a test is said to trap. In which version it does, a run of it tells.
const fn is_trap(found: &FoundTest) -> bool {
    matches!(found.ending, Ending::Trapped(_))
}

/// The objectives of a driver: the call where versions differ, and those where something is not compared.
fn objectives(product: &Product) -> (FunctionObjectives, LabelRef) {
    let body = product.program.functions[product.driver].body.as_ref();
    let exprs = body.map(|body| body.exprs.clone()).unwrap_or_default();
    let mut all = FunctionObjectives::none(product.driver, exprs);
    let calls = std::iter::once(product.difference).chain(product.uncompared.iter().copied());
    let labels: Vec<_> = calls
        .map(|call| {
            let key = LabelKey(call.to_string());
            all.labels.push(error_label(call, Pred::Const(true), key))
        })
        .collect();
    (all, LabelRef { func: product.driver, label: labels[0] })
}

/// The settings of a driver: exactly its inputs are inputs.
pub(super) fn settings(driver: &Driver, any_statics: bool) -> Settings {
    let inputs = driver.inputs.iter().filter_map(|input| match &input.of {
        InputOf::Argument(_) => None,
        InputOf::Buffer { variable, .. } => Some(variable.clone()),
        InputOf::Global(name) => Some(name.clone()),
    });
    let statics = driver.statics.iter().filter(|_| any_statics).cloned();
    let mut settings = Settings::default();
    let own = settings.function.entry(DRIVER.to_owned()).or_default();
    own.globals = Some(inputs.chain(statics).collect());
    settings
}

/// Every path is followed to its end, also where no difference lies ahead: it may trap there.
pub(super) fn config() -> Config {
    Config {
        limits: Limits {
            query_time: Some(QUESTION),
            trap_queries: u32::MAX,
            memory: Some(1 << 30),
            ..Limits::default()
        },
        look_ahead: false,
        crash_tests: true,
        allocation_succeeds: true,
        nice_values: true,
        ..Config::default()
    }
}

/// The result of an exploration that found no difference.
fn conclusion(
    product: &Product,
    driver: &Driver,
    summary: &Summary,
    uncompared: bool,
) -> DiffVerdict {
    match open_reason(product, driver, summary, uncompared) {
        Some(reason) => DiffVerdict::Unknown { reason },
        None => {
            let found = summary.assumptions.iter().map(|one| one.sentence.clone());
            let assumptions = driver.assumptions.iter().cloned().chain(found).collect();
            DiffVerdict::Proved { assumptions, paths: summary.path_count() }
        }
    }
}

/// Why an exploration without a difference is no proof.
fn open_reason(
    product: &Product,
    driver: &Driver,
    summary: &Summary,
    uncompared: bool,
) -> Option<String> {
    if uncompared {
        return Some("some runs have results or calls that are not compared".to_owned());
    }
    if let Some(cut) = summary.cuts.keys().next() {
        return Some(match cut {
            Cut::Stopped(_) => "no difference was found in the time".to_owned(),
            other => format!("no difference was found, but not all paths were followed: {other}"),
        });
    }
    if !summary.complete {
        return Some("no difference was found, but not all paths were followed".to_owned());
    }
    if let Some(bound) = summary.bounds.first() {
        return Some(format!("no difference was found where {}", bound.sentence));
    }
    let reason = summary.ends.iter().find_map(|end| open_end(product, driver, end));
    reason.or_else(|| (summary.path_count() == 0).then(|| "no input was found".to_owned()))
}

/// Why an end of paths within a call keeps the comparison open.
fn open_end(product: &Product, driver: &Driver, end: &CallEnd) -> Option<String> {
    let CallEnd { callee, ending } = end;
    if *callee == product.new {
        return Some(format!("the new version may end otherwise: {ending}"));
    }
    match ending {
        Ending::Trapped(kind) if *callee == product.old => match driver.elements {
            // More elements might be there.
            Some(elements) if is_of_memory(*kind) => Some(format!(
                "no difference was found where pointers lead to {elements} elements (`--elements`)"
            )),
            _ if *kind == TrapKind::Abort => {
                Some("some runs of the old version abort, which is not compared".to_owned())
            }
            _ if kind.is_deliberate() => {
                Some(format!("some runs of the old version end by a {kind}, which is not compared"))
            }
            // C says nothing of such runs.
            _ => None,
        },
        other => Some(format!("some runs of the old version are not compared: {other}")),
    }
}

/// Whether a trap depends on which objects there are.
const fn is_of_memory(kind: TrapKind) -> bool {
    matches!(
        kind,
        TrapKind::OutOfBounds
            | TrapKind::BadFree
            | TrapKind::UseAfterFree
            | TrapKind::ReadOnly
            | TrapKind::Misaligned
    )
}
