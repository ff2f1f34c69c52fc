//! Test reduction: tests become as small as possible while they serve their purpose.
//!
//! Exploration makes a test from the model of one path, with arbitrary values. Reduction removes parts
//! of the test, one after the other, and makes its numbers small (delta debugging: Zeller and
//! Hildebrandt, TSE 2002). Each candidate runs like any test, natively and in the interpreter. It
//! replaces the test if it ends in the same way, has no undefined behaviour that the test does not
//! have, and the suite as a whole keeps its coverage.
//!
//! At the end, values that the function overwrites with the same value get another initial value
//! ([`super::write_probes`]).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use lydian_ir::device::ReadPlace;
use lydian_ir::interp::{End, Location};
use lydian_ir::libc::{self, Family};
use lydian_ir::scalars::{Scalar, ScalarKind, scalars};
use lydian_ir::test::{INPUT_REGION, INPUT_REGION_SIZE, Image, PointerTarget, Test, TestObject};
use lydian_ir::{CType, CTypeId, Program};
use lydian_native::{MeasuredRun, Outcome};
use lydian_objective::CoverageRecord;
use lydian_report::suite::c::MOST_FAILING;
use rustc_hash::FxHashSet;

use super::byte_holders::{
    ByteHolder, bytes_of, clear_pointers, holders, image, image_mut, number, put,
};
use crate::error::Error;
use crate::measurement::claimed_ending::{ends_alike, is_cut_short};
use crate::measurement::test_runner::{STEPS_OF_ENDLESS, does_undefined};
use crate::session::goals::Goal;
use crate::session::hyperlabel_coverage::{HyperlabelCoverage, MeasuredHyperlabel};
use crate::session::state::Session;

/// The steps that a candidate may take in addition to twice the steps of the test.
const LEAST_STEPS: u64 = 2000;

/// The most candidates for the tests of one function; [`STEPS_OF_UNIT`] steps count as one more.
const MOST_WORK: u64 = 4000;
const STEPS_OF_UNIT: u64 = 4000;

/// The most rounds of removing everything that can be removed.
const MOST_ROUNDS: u32 = 3;

/// The most passes through all kinds of reduction.
const MOST_PASSES: u32 = 3;

/// The most candidates of one test.
const MOST_RUNS: u32 = 600;

/// The most scalars of one object that are tried one by one.
const MOST_SCALARS: usize = 256;

/// Bytes between two objects.
const DISTANCE: u64 = 1 << 12;

/// The contribution of a test that its suite needs.
#[derive(Default)]
pub(crate) struct Needs {
    /// Labels that no other test covers.
    pub(crate) labels: FxHashSet<Goal>,
    /// Hyperlabels that the others do not cover together.
    pub(crate) hypers: Vec<MeasuredHyperlabel>,
    /// The evidence of the other tests together, for each function.
    pub(crate) others: Vec<CoverageRecord>,
}

impl Needs {
    /// Whether the suite has the same coverage without the test.
    pub(crate) fn is_nothing(&self) -> bool {
        self.labels.is_empty() && self.hypers.is_empty()
    }
}

/// The work that the reduction of one function's tests may take. It is counted, so that each run gives
/// the same tests. The time is only a limit for unexpectedly slow cases.
pub(crate) struct Patience {
    left: Cell<u64>,
    end: Option<Instant>,
}

impl Patience {
    /// [`MOST_WORK`] from now on, and no longer than this.
    pub(crate) fn of(time: Option<Duration>) -> Self {
        Self { left: Cell::new(MOST_WORK), end: time.map(|time| Instant::now() + time) }
    }

    /// Pays for a candidate that was followed through a number of steps.
    fn pay(&self, steps: u64) {
        self.left.set(self.left.get().saturating_sub(1 + steps / STEPS_OF_UNIT));
    }

    fn is_over(&self) -> bool {
        self.left.get() == 0 || self.is_late()
    }

    /// Whether the time is over.
    pub(crate) fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

/// The coverage that the reduction of one test must keep, and the work that it may take.
pub(crate) struct SuiteNeeds<'s, 'j> {
    pub(crate) needs: &'s Needs,
    pub(crate) hyper_coverage: &'s HyperlabelCoverage<'j>,
    pub(crate) patience: &'s Patience,
}

/// The reduction of one test.
pub(crate) struct TestReduction<'s, 'a, 'm, 'j> {
    pub(crate) session: &'s mut Session<'a, 'm>,
    needs: &'s Needs,
    hyper_coverage: &'s HyperlabelCoverage<'j>,
    patience: &'s Patience,
    pub(crate) test: Test,
    pub(crate) measured: MeasuredRun,
    is_undefined: bool,
    /// Whether an allocation is refused because of its size.
    is_refused: bool,
    /// Whether it ends by itself.
    is_orderly: bool,
    /// Whether the interpreter does not follow it to its end, and sees no fault behind that place.
    pub(crate) is_stopped: bool,
    /// Whether candidates run in the interpreter alone, and only the last one natively. A crash costs a
    /// process, and the interpreter tells all that such a test is needed for.
    is_interpreted: bool,
    /// The place where it ends according to the interpreter.
    location: Option<Location>,
    /// The steps through which candidates are followed.
    pub(super) steps: u64,
    runs: u32,
}

/// A part of a test that can be removed.
#[derive(Clone, Copy, Debug)]
enum Atom {
    /// A write of a call.
    Write(usize, usize),
    /// The result of a call.
    Result(usize),

    /// The value of a global that differs from its initial one.
    Global(usize),
    /// A pointer at an offset, which becomes null.
    Pointer(ByteHolder, u64),
    /// A number, which becomes zero, or its value at the program's start.
    Number(ByteHolder, Scalar),
}

impl<'s, 'a, 'm, 'j> TestReduction<'s, 'a, 'm, 'j> {
    /// The test as it is, with its measurement. None if it does not fit the program.
    pub(crate) fn new(
        session: &'s mut Session<'a, 'm>,
        SuiteNeeds { needs, hyper_coverage, patience }: SuiteNeeds<'s, 'j>,
        (test, measured): &(Test, MeasuredRun),
    ) -> Option<Self> {
        let run = session.runner.follow(test, STEPS_OF_ENDLESS)?;
        let mut test = test.clone();
        // An allocation that is refused here may succeed elsewhere.
        for (allocator, call) in &run.refused {
            if (*call as usize) < MOST_FAILING {
                test.fail(allocator, *call);
            }
        }
        let is_refused = run.refused.iter().any(|(_, call)| *call as usize >= MOST_FAILING);
        let is_undefined = does_undefined(&run);
        let is_orderly = measured.run.outcome.is_orderly();
        let is_stopped = is_cut_short(run.end);
        let location = run.location;
        let steps = 2 * run.steps + LEAST_STEPS;
        Some(Self {
            session,
            needs,
            hyper_coverage,
            patience,
            test,
            measured: measured.clone(),
            is_undefined,
            is_refused,
            is_orderly,
            is_stopped,
            is_interpreted: !is_orderly && !is_stopped && needs.hypers.is_empty(),
            location,
            steps,
            runs: 0,
        })
    }

    /// Reduces the test as far as possible. Returns it with its measurement.
    pub(crate) fn run(mut self) -> Result<(Test, MeasuredRun), Error> {
        let before = (self.test.clone(), self.measured.clone());
        if self.is_interpreted {
            self.make_small()?;
            if let Some(small) = self.confirmed()? {
                return Ok(small);
            }
            (self.test, self.measured) = before.clone();
            (self.is_interpreted, self.runs) = (false, 0);
        }
        self.make_small()?;
        Ok(self.confirmed()?.unwrap_or(before))
    }

    fn make_small(&mut self) -> Result<(), Error> {
        self.spread()?;
        self.drop_wholes()?;
        // The length of an array may follow from a number, which becomes small only afterwards.
        for _ in 0..MOST_PASSES {
            let known = self.test.clone();
            self.drop_handlers()?;
            self.drop_reads()?;
            self.run_handlers()?;
            self.shorten()?;
            self.drop_all()?;
            self.shorten()?;
            self.begin_at_starts()?;
            self.drop_characters()?;
            self.lessen_equal()?;
            self.lessen()?;
            self.clear_bits()?;
            if self.test == known {
                break;
            }
        }
        self.fill_texts()?;
        self.end_texts()?;
        self.clear_away();
        self.probe()?;
        self.clear_away();
        Ok(())
    }

    /// The test with a measurement of its own, if it does what the test did before. Parts that were
    /// removed without a native run make no difference, which is checked here.
    fn confirmed(&mut self) -> Result<Option<(Test, MeasuredRun)>, Error> {
        let Ok(last) = self.session.runner.measure(&self.test)? else { return Ok(None) };
        let is_as_good = self.is_as_good(&last);
        Ok(is_as_good.then(|| (self.test.clone(), last)))
    }

    /// Whether a run ends as the test's, covers what the test is needed for, and tries nothing new outside of
    /// the program.
    fn is_as_good(&self, new: &MeasuredRun) -> bool {
        let (known, run) = (&self.measured.run, &new.run);
        let reaches_out = run.attempts.iter().any(|attempt| !known.attempts.contains(attempt));
        // A run that no longer waits for what does not come is the better test.
        let outran = known.outcome == Outcome::OutranScript;
        let returns = outran && matches!(run.outcome, Outcome::Returned(_));
        let ends_alike = returns || ends_alike(&known.outcome, &run.outcome);
        ends_alike && self.covers(new) && !reaches_out
    }

    /// Moves objects far from each other, so that an overrun of one meets no other even when the first
    /// becomes shorter.
    fn spread(&mut self) -> Result<(), Error> {
        let mut candidate = self.test.clone();
        let mut next = INPUT_REGION + DISTANCE;
        for object in &mut candidate.objects {
            object.address = next.next_multiple_of(object.align.max(1));
            next = object.address + object.image.bytes.len() as u64 + DISTANCE;
        }
        if candidate.objects.len() > 1 && next <= INPUT_REGION + INPUT_REGION_SIZE {
            self.take(candidate)?;
        }
        Ok(())
    }

    /// Removes reads of devices and handlers of interrupts, in runs that become shorter.
    fn drop_reads(&mut self) -> Result<(), Error> {
        let mut run = self.test.externals.iter().filter(|call| call.is_of_script()).count();
        while run > 0 {
            let mut at = 0;
            while !self.is_over() {
                let mut candidate = self.test.clone();
                let mut nth = 0..;
                candidate.externals.retain(|call| {
                    !call.is_of_script()
                        || !nth.next().is_some_and(|nth| (at..at + run).contains(&nth))
                });
                if candidate.externals.len() == self.test.externals.len() {
                    break;
                }
                if !self.take(candidate)? {
                    at += run;
                }
            }
            run /= 2;
        }
        Ok(())
    }

    /// Removes whole globals and effects of calls where it can, with all that they alone lead to: a test of a
    /// program with large tables is small after a few runs.
    fn drop_wholes(&mut self) -> Result<(), Error> {
        let is_whole = |atom: &Atom| !matches!(atom, Atom::Pointer(..) | Atom::Number(..));
        let wholes: Vec<Atom> = self.atoms().into_iter().filter(is_whole).collect();
        self.drop(&wholes)?;
        self.clear_away();
        Ok(())
    }

    /// Removes parts as far as possible.
    fn drop_all(&mut self) -> Result<(), Error> {
        // A part may become removable after another was removed.
        for _ in 0..MOST_ROUNDS {
            let known = self.test.clone();
            let atoms = self.atoms();
            self.drop(&atoms)?;
            self.clear_away();
            if self.test == known {
                break;
            }
        }
        Ok(())
    }

    fn is_over(&self) -> bool {
        self.runs >= MOST_RUNS || self.patience.is_over()
    }

    /// Accepts a candidate if it serves the test's purpose. Returns whether it does.
    pub(crate) fn take(&mut self, candidate: Test) -> Result<bool, Error> {
        self.attempt(candidate, |_| true)
    }

    /// The same, if its measurement also satisfies a condition.
    pub(crate) fn attempt(
        &mut self,
        candidate: Test,
        is_right: impl Fn(&MeasuredRun) -> bool,
    ) -> Result<bool, Error> {
        if self.is_over() || candidate == self.test {
            return Ok(false);
        }
        self.runs += 1;
        if !self.is_promising(&candidate) {
            return Ok(false);
        }
        if self.is_interpreted {
            self.test = candidate;
            return Ok(true);
        }
        let Ok(measured) = self.session.runner.measure(&candidate)? else { return Ok(false) };
        if !(self.is_as_good(&measured) && is_right(&measured)) {
            return Ok(false);
        }
        (self.test, self.measured) = (candidate, measured);
        Ok(true)
    }

    /// Whether the interpreter accepts a candidate: it ends, has no undefined behaviour that the test
    /// does not have, and covers the required labels, as far as it is followed.
    pub(super) fn is_promising(&self, candidate: &Test) -> bool {
        if !self.session.project.devices_may_give(candidate) {
            return false;
        }
        let Some(interpreted) = self.session.runner.interpret(candidate, self.steps) else {
            return false;
        };
        self.patience.pay(interpreted.outcome.steps);
        let end = interpreted.outcome.end;
        if self.is_orderly && is_cut_short(end) && !self.is_stopped {
            return false;
        }
        // The purpose of a test that does not end well includes the place where it ends.
        if !self.is_orderly && interpreted.outcome.location != self.location {
            return false;
        }
        if !self.is_undefined && does_undefined(&interpreted.outcome) {
            return false;
        }
        if !self.is_refused && !interpreted.outcome.refused.is_empty() {
            return false;
        }
        let ends_well = matches!(end, End::Returned | End::Exited(_) | End::OutrunsScript);
        let is_followed = ends_well || self.is_interpreted;
        !is_followed || {
            let covered = self.session.covered_in(&interpreted.covered);
            let found = covered.iter().filter(|goal| self.needs.labels.contains(goal)).count();
            found == self.needs.labels.len()
        }
    }

    fn covers(&self, measured: &MeasuredRun) -> bool {
        let Needs { labels, hypers, others } = self.needs;
        let covered = self.session.covered_by(measured);
        let found = covered.iter().filter(|goal| labels.contains(goal)).count();
        if found < labels.len() {
            return false;
        }
        if hypers.is_empty() {
            return true;
        }
        let mut has = self.hyper_coverage.of_run(measured);
        has.iter_mut().zip(others).for_each(|(own, others)| _ = own.merge(others));
        hypers.iter().all(|hyper| self.hyper_coverage.covers(*hyper, &has))
    }

    pub(crate) fn program(&self) -> &'a Program {
        &self.session.project.program
    }

    // ---- what is taken away -------------------------------------------------------------------------

    /// The removable parts of the test: first the effects of undefined functions, then globals,
    /// pointers and numbers.
    fn atoms(&self) -> Vec<Atom> {
        let mut atoms = Vec::new();
        for (at, call) in self.test.externals.iter().enumerate() {
            atoms.extend((0..call.writes.len()).map(|write| Atom::Write(at, write)));
            atoms.extend((!call.is_of_script()).then_some(Atom::Result(at)));
        }
        atoms.extend((0..self.test.globals.len()).map(Atom::Global));
        let holders = holders(&self.test);
        for holder in &holders {
            let pointers = &image(&self.test, *holder).pointers;
            atoms.extend(pointers.iter().map(|pointer| Atom::Pointer(*holder, pointer.offset)));
        }
        for holder in holders {
            let base = self.base(holder);
            let places = self.numbers(holder).into_iter();
            let own = image(&self.test, holder);
            let set = places.filter(|place| bytes_of(own, place) != bytes_of(&base, place));
            atoms.extend(set.map(|place| Atom::Number(holder, place)));
        }
        atoms
    }

    /// Removes all of these parts at once; if that is too much, halves of them, down to single ones.
    fn drop(&mut self, atoms: &[Atom]) -> Result<(), Error> {
        if atoms.is_empty() || self.is_over() {
            return Ok(());
        }
        let candidate = self.without(atoms);
        if self.take(candidate)? || atoms.len() == 1 {
            return Ok(());
        }
        let (first, second) = atoms.split_at(atoms.len() / 2);
        self.drop(first)?;
        self.drop(second)
    }

    fn without(&self, atoms: &[Atom]) -> Test {
        let mut test = self.test.clone();
        for atom in atoms {
            match atom {
                // Empty writes are no writes; positions stay the same.
                Atom::Write(call, at) => test.externals[*call].writes[*at].image = Image::default(),
                Atom::Result(at) => {
                    let call = &mut test.externals[*at];
                    set_default(&mut call.result, &call.function);
                }
                Atom::Global(at) => test.globals[*at].image = self.base(ByteHolder::Global(*at)),
                Atom::Pointer(holder, offset) => {
                    clear_pointers(image_mut(&mut test, *holder), |pointer| pointer == *offset);
                }
                Atom::Number(holder, place) => {
                    let base = self.base(*holder);
                    put(image_mut(&mut test, *holder), place, &bytes_of(&base, place));
                }
            }
        }
        test
    }

    /// Removes parts without meaning, which make no difference for a run.
    fn clear_away(&mut self) {
        for call in &mut self.test.externals {
            call.writes.retain(|write| !write.image.bytes.is_empty());
        }
        let program = self.program();
        self.test.globals.retain(|global| {
            let id = program.global_named(&global.name);
            id.is_none_or(|id| Image::initial(program, id) != global.image)
        });
        self.shorten_externals();
        self.drop_unreached();
    }

    /// Removes results at the end of a function's list that equal the default for a call without a
    /// result. They make no difference for a run.
    fn shorten_externals(&mut self) {
        let mut ended: FxHashSet<String> = FxHashSet::default();
        let mut kept = Vec::new();
        for call in std::mem::take(&mut self.test.externals).into_iter().rev() {
            let mut default = call.result.clone();
            set_default(&mut default, &call.function);
            let says_nothing = call.writes.is_empty()
                && call.object.is_none()
                && default == call.result
                && !call.function.starts_with(lydian_ir::test::INPUT_PREFIX)
                && !call.function.starts_with('*')
                && !libc::gives_inputs(&call.function);
            if says_nothing && !ended.contains(&call.function) {
                continue;
            }
            ended.insert(call.function.clone());
            kept.push(call);
        }
        kept.reverse();
        self.test.externals = kept;
    }

    /// Removes objects that no pointer leads to, which make no difference for a run.
    fn drop_unreached(&mut self) {
        let count = self.test.objects.len();
        let mut reached = vec![false; count];
        let mut waiting: Vec<usize> = Vec::new();
        for holder in holders(&self.test) {
            if !matches!(holder, ByteHolder::Object(_)) {
                waiting.extend(objects_of(image(&self.test, holder)));
            }
        }
        let read = self.test.externals.iter().filter_map(|call| match call.read_place()? {
            ReadPlace::Object(position, _) => Some(position as usize),
            _ => None,
        });
        waiting.extend(read);
        while let Some(at) = waiting.pop() {
            if at < count && !std::mem::replace(&mut reached[at], true) {
                waiting.extend(objects_of(&self.test.objects[at].image));
            }
        }
        if reached.iter().all(|reached| *reached) {
            return;
        }
        let mut copy = self.test.clone();
        let numbers: Vec<u32> = reached
            .iter()
            .scan(0, |next, reached| {
                let own = *next;
                *next += u32::from(*reached);
                Some(own)
            })
            .collect();
        for holder in holders(&self.test) {
            for pointer in &mut image_mut(&mut copy, holder).pointers {
                if let PointerTarget::Object(position, _) = &mut pointer.target {
                    *position = numbers.get(*position as usize).copied().unwrap_or(*position);
                }
            }
        }
        for call in &mut copy.externals {
            if let Some(ReadPlace::Object(position, offset)) = call.read_place() {
                let position = numbers.get(position as usize).copied().unwrap_or(position);
                call.object = Some(ReadPlace::Object(position, offset).to_string());
            }
        }
        let mut keeps = reached.iter();
        copy.objects.retain(|_| *keeps.next().expect("one for each object"));
        let mut keeps = reached.iter();
        self.measured.run.objects.retain(|_| keeps.next().is_none_or(|kept| *kept));
        self.test = copy;
    }

    pub(crate) fn image(&self, holder: ByteHolder) -> &Image {
        image(&self.test, holder)
    }

    /// The default bytes of a part.
    fn base(&self, holder: ByteHolder) -> Image {
        let size = image(&self.test, holder).bytes.len();
        let initial = match holder {
            ByteHolder::Global(at) => {
                let program = self.program();
                let id = program.global_named(&self.test.globals[at].name);
                id.map(|id| Image::initial(program, id))
            }
            _ => None,
        };
        initial.unwrap_or_else(|| Image { bytes: vec![0; size], pointers: Vec::new() })
    }

    /// The numbers of a part, without those at pointers.
    pub(crate) fn numbers(&self, holder: ByteHolder) -> Vec<Scalar> {
        let types = &self.program().types;
        let ty = self.type_of(holder);
        let own = image(&self.test, holder);
        let bytes = own.bytes.len() as u64;
        let all = match (ty, holder) {
            (Some(ty), _) if bytes <= 1 << 16 => scalars(types, ty, bytes),
            (None, ByteHolder::Write(..) | ByteHolder::Result(_)) => (0..bytes)
                .step_by(4)
                .map(|offset| {
                    let size = (bytes - offset).min(4);
                    Scalar { offset, size, kind: ScalarKind::Other }
                })
                .collect(),
            _ => Vec::new(),
        };
        let under = |place: &Scalar| {
            let mut pointers = own.pointers.iter();
            pointers.any(|p| p.offset < place.offset + place.size && place.offset < p.offset + 8)
        };
        all.into_iter().filter(|place| !under(place)).take(MOST_SCALARS).collect()
    }

    pub(crate) fn type_of(&self, holder: ByteHolder) -> Option<CTypeId> {
        let program = self.program();
        let function = |name: &str| {
            let id = program.function_named(name)?;
            match program.types.get(program.functions[id].ty) {
                CType::Function { result, params, .. } => Some((*result, params)),
                _ => None,
            }
        };
        match holder {
            ByteHolder::Argument(_, at) => function(&self.test.function)?.1.get(at).copied(),
            ByteHolder::Variable(call, at) => {
                self.test.calls().nth(call)?.variable.get(at).map(|passed| passed.ty)
            }
            ByteHolder::Object(at) => Some(self.test.objects[at].ty),
            ByteHolder::Global(at) => {
                let id = program.global_named(&self.test.globals[at].name)?;
                Some(program.globals[id].ty)
            }
            ByteHolder::Result(at) => {
                let call = &self.test.externals[at];
                let (result, _) = function(&call.function)?;
                let fits = program.types.size(result) == Some(call.result.bytes.len() as u64);
                fits.then_some(result)
            }
            ByteHolder::Write(..) => None,
        }
    }

    /// The size of an element of an object, if its bytes are those of its elements.
    pub(super) fn element_size(&self, at: usize) -> Option<u64> {
        let object = &self.test.objects[at];
        let size = self.program().types.size(object.ty).filter(|size| *size > 0)?;
        (object.image.bytes.len() as u64 == size * object.count).then_some(size)
    }

    /// Shortens arrays to the elements that the run reads, where the interpreter sees them all.
    fn shorten(&mut self) -> Result<(), Error> {
        if self.is_stopped {
            return Ok(());
        }
        for at in 0..self.test.objects.len() {
            let Some(size) = self.element_size(at) else { continue };
            let (mut low, mut high) = (1, self.test.objects[at].count);
            // The smallest sufficient length, if sufficiency is monotonic.
            while low < high && !self.is_over() {
                let middle = low + (high - low) / 2;
                let does = match shortened(&self.test, at, size, middle) {
                    Some(candidate) => self.take(candidate)?,
                    None => false,
                };
                match does {
                    true => high = middle,
                    false => low = middle + 1,
                }
            }
        }
        Ok(())
    }

    /// Makes numbers that are equal small together, such as a length and a capacity.
    fn lessen_equal(&mut self) -> Result<(), Error> {
        let mut groups: BTreeMap<i128, Vec<(ByteHolder, Scalar)>> = BTreeMap::new();
        for holder in holders(&self.test) {
            for place in self.numbers(holder) {
                if let ScalarKind::Integer { signed } = place.kind {
                    let value = number(&bytes_of(image(&self.test, holder), &place), signed);
                    groups.entry(value).or_default().push((holder, place));
                }
            }
        }
        groups.retain(|value, places| value.abs() > 1 && places.len() > 1);
        for (value, places) in groups {
            for small in [1, 2, 3, 4, 8, 16].into_iter().take_while(|small| *small < value.abs()) {
                let mut candidate = self.test.clone();
                for (holder, place) in &places {
                    let bytes = (value.signum() * small).to_le_bytes();
                    put(image_mut(&mut candidate, *holder), place, &bytes[..place.size as usize]);
                }
                if self.take(candidate)? {
                    break;
                }
            }
        }
        Ok(())
    }

    /// Makes numbers small and characters readable.
    fn lessen(&mut self) -> Result<(), Error> {
        for holder in holders(&self.test) {
            for place in self.numbers(holder) {
                let own = bytes_of(image(&self.test, holder), &place);
                if own.iter().all(|byte| *byte == 0) {
                    continue;
                }
                match place.kind {
                    ScalarKind::Character => self.readable(holder, &place, own[0])?,
                    ScalarKind::Integer { signed } => self.nearer(holder, &place, signed)?,
                    ScalarKind::Float => self.rounder(holder, &place, &own)?,
                    // Written values have no type here. Few bytes are a number, and a truth value is 1.
                    ScalarKind::Other if image(&self.test, holder).bytes.len() <= 8 => {
                        self.nearer(holder, &place, false)?;
                    }
                    ScalarKind::Pointer | ScalarKind::Other => {}
                }
            }
        }
        Ok(())
    }

    pub(crate) fn with(&self, holder: ByteHolder, place: &Scalar, bytes: &[u8]) -> Test {
        let mut candidate = self.test.clone();
        put(image_mut(&mut candidate, holder), place, bytes);
        candidate
    }

    fn readable(&mut self, holder: ByteHolder, place: &Scalar, own: u8) -> Result<(), Error> {
        let is_plain =
            |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\n' | b'\t');
        if is_plain(own) {
            return Ok(());
        }
        let tried: &[u8] = match own {
            b'!'..=b'~' => b"a1",
            _ => b"a1 \x01\x02",
        };
        for byte in tried {
            if self.take(self.with(holder, place, &[*byte]))? {
                break;
            }
        }
        Ok(())
    }

    /// The sufficient number that is nearest to zero, if all between it and the present one are
    /// sufficient.
    fn nearer(&mut self, holder: ByteHolder, place: &Scalar, signed: bool) -> Result<(), Error> {
        let own = bytes_of(image(&self.test, holder), place);
        let value = number(&own, signed);
        let write = |value: i128| value.to_le_bytes()[..own.len()].to_vec();
        let sign = if value < 0 { -1 } else { 1 };
        let (mut low, mut high) = (0, value.abs());
        for small in [1, 2, 3] {
            if small < high && self.take(self.with(holder, place, &write(sign * small)))? {
                return Ok(());
            }
            low = small;
        }
        while high - low > 1 && !self.is_over() {
            let middle = low + (high - low) / 2;
            match self.take(self.with(holder, place, &write(sign * middle)))? {
                true => high = middle,
                false => low = middle,
            }
        }
        Ok(())
    }

    /// The sufficient float with the fewest digits.
    fn rounder(&mut self, holder: ByteHolder, place: &Scalar, own: &[u8]) -> Result<(), Error> {
        let value = match own.len() {
            4 => f64::from(f32::from_le_bytes(own.try_into().expect("four bytes"))),
            _ => f64::from_le_bytes(own.try_into().expect("eight bytes")),
        };
        let places = [1.0, 10.0, 100.0, 1000.0];
        let rounded = places.map(|scale: f64| (value * scale).round() / scale);
        for tried in [1.0, -1.0, 0.5, 2.0].into_iter().chain(rounded) {
            let bytes = match own.len() {
                4 => (tried as f32).to_le_bytes().to_vec(),
                _ => tried.to_le_bytes().to_vec(),
            };
            if bytes == own || self.take(self.with(holder, place, &bytes))? {
                break;
            }
        }
        Ok(())
    }
}

fn objects_of(image: &Image) -> Vec<usize> {
    let targets = image.pointers.iter().filter_map(|pointer| match pointer.target {
        PointerTarget::Object(position, _) => Some(position as usize),
        _ => None,
    });
    targets.collect()
}

/// The default result of a call: zero, and success for functions that allocate.
fn set_default(result: &mut Image, function: &str) {
    let allocates = libc::model_named(function)
        .is_some_and(|model| model.family == Family::Allocation && result.bytes.len() == 1);
    result.bytes.fill(u8::from(allocates));
    result.pointers.clear();
}

/// The test with a number of elements of an object; none if pointers stand or lead behind them.
fn shortened(test: &Test, at: usize, size: u64, count: u64) -> Option<Test> {
    let end = size * count;
    let TestObject { image: own, .. } = &test.objects[at];
    let is_used = own.pointers.iter().any(|pointer| pointer.offset + 8 > end);
    let leads_behind = holders(test).into_iter().any(|holder| {
        image(test, holder).pointers.iter().any(|pointer| match pointer.target {
            PointerTarget::Object(position, offset) => position as usize == at && offset > end,
            _ => false,
        })
    });
    if is_used || leads_behind {
        return None;
    }
    let mut copy = test.clone();
    let object = &mut copy.objects[at];
    object.image.bytes.truncate(end as usize);
    object.count = count;
    Some(copy)
}
