//! Tests as small as they can be while they still do what they are kept for.
//!
//! What exploration leaves in a test is what one path's model needs, with values as they came. Here parts
//! are taken away from a test, one after the other, and its numbers are made small (delta debugging:
//! Zeller and Hildebrandt, TSE 2002). Each candidate runs as every test does, natively and in the
//! interpreter; it takes the place of the test if it ends in the same way, does nothing undefined that the
//! test does not do, and the suite as a whole still covers what it covered.
//!
//! At the end, what the function writes with the value that was there begins with another ([`super::write_probes`]).

use std::cell::Cell;
use std::time::{Duration, Instant};

use lydian_ir::interp::{End, Location};
use lydian_ir::libc::{self, Family};
use lydian_ir::scalars::{Scalar, ScalarKind, scalars};
use lydian_ir::test::{INPUT_REGION, INPUT_REGION_SIZE, Image, PointerTarget, Test, TestObject};
use lydian_ir::{CType, CTypeId, Program};
use lydian_native::{MeasuredRun, Outcome};
use lydian_objective::Harvest;
use lydian_report::suite_c::MOST_FAILING;
use rustc_hash::FxHashSet;

use crate::error::Error;
use crate::measurement::test_runner::{STEPS_OF_ENDLESS, does_undefined};
use crate::session::goals::Goal;
use crate::session::hyperlabel_coverage::{HyperOf, HyperlabelCoverage};
use crate::session::state::Session;

/// A candidate may take twice the steps of the test, and so many.
const LEAST_STEPS: u64 = 2000;

/// So many candidates of tests of one function are tried; one that takes so many steps counts as another.
const MOST_WORK: u64 = 4000;
const STEPS_OF_UNIT: u64 = 4000;

/// So often everything is tried.
const MOST_ROUNDS: u32 = 3;

/// So often all ways to make a test smaller are gone through.
const MOST_PASSES: u32 = 2;

/// So many candidates of one test are run.
const MOST_RUNS: u32 = 600;

/// Scalars of one object that are looked at one by one.
const MOST_SCALARS: usize = 256;

/// Bytes between two objects.
const DISTANCE: u64 = 1 << 12;

/// What the suite needs of one of its tests.
pub(crate) struct Needs {
    /// Labels that no other test covers.
    pub(crate) labels: FxHashSet<Goal>,
    /// Hyperlabels that the others do not cover together.
    pub(crate) hypers: Vec<HyperOf>,
    /// What the others have together, function by function.
    pub(crate) others: Vec<Harvest>,
}

/// How much work making tests of one function smaller may be. It is counted, so that the same tests come of
/// it each time; the time is only a limit for what takes longer than it should.
pub(crate) struct Patience {
    left: Cell<u64>,
    end: Option<Instant>,
}

impl Patience {
    /// [`MOST_WORK`] from now on, and no longer than this.
    pub(crate) fn of(time: Option<Duration>) -> Self {
        Self { left: Cell::new(MOST_WORK), end: time.map(|time| Instant::now() + time) }
    }

    /// A candidate was followed so many steps.
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

/// A test on its way to a smaller one.
pub(crate) struct TestReduction<'s, 'a, 'm, 'j> {
    pub(crate) session: &'s mut Session<'a, 'm>,
    needs: &'s Needs,
    hyper_coverage: &'s HyperlabelCoverage<'j>,
    patience: &'s Patience,
    pub(crate) test: Test,
    pub(crate) measured: MeasuredRun,
    is_undefined: bool,
    /// Whether it is refused memory for its size.
    is_refused: bool,
    /// Whether it ends by itself.
    is_orderly: bool,
    /// Whether the interpreter does not follow it to its end.
    is_stopped: bool,
    /// Where it ends, as the interpreter says.
    location: Option<Location>,
    /// How far candidates are followed.
    steps: u64,
    runs: u32,
}

/// Something that can be taken away from a test.
#[derive(Clone, Copy, Debug)]
enum Atom {
    /// What a call writes.
    Write(usize, usize),
    /// What a call returns.
    Result(usize),
    /// That a global has another value than at the start.
    Global(usize),
    /// A pointer at an offset, which becomes null.
    Pointer(Holder, u64),
    /// A number, which becomes zero, or what it is at the program's start.
    Number(Holder, Scalar),
}

/// A place of a test that has bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    Argument(usize, usize),
    Variable(usize, usize),
    Object(usize),
    Global(usize),
    Result(usize),
    Write(usize, usize),
}

impl<'s, 'a, 'm, 'j> TestReduction<'s, 'a, 'm, 'j> {
    /// The test as it is, with what it shows. None where it does not fit the program.
    pub(crate) fn new(
        session: &'s mut Session<'a, 'm>,
        (needs, hyper_coverage, patience): (&'s Needs, &'s HyperlabelCoverage<'j>, &'s Patience),
        (test, measured): &(Test, MeasuredRun),
    ) -> Option<Self> {
        let run = session.runner.follow(test, STEPS_OF_ENDLESS)?;
        let mut test = test.clone();
        // Whoever runs the suite may be granted what is refused here.
        for (allocator, call) in &run.refused {
            if (*call as usize) < MOST_FAILING {
                test.fail(allocator, *call);
            }
        }
        let is_refused = run.refused.iter().any(|(_, call)| *call as usize >= MOST_FAILING);
        let is_undefined = does_undefined(&run);
        let is_orderly = measured.run.outcome.is_orderly();
        let is_stopped = matches!(run.end, End::Stopped(_));
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
            location,
            steps,
            runs: 0,
        })
    }

    /// Makes it as small as it gets, and gives it with what it shows.
    pub(crate) fn run(mut self) -> Result<(Test, MeasuredRun), Error> {
        let before = (self.test.clone(), self.measured.clone());
        self.spread()?;
        // An array may be as long as a number says, which is small only afterwards.
        for _ in 0..MOST_PASSES {
            let known = self.test.clone();
            self.drop_all()?;
            self.shorten()?;
            self.drop_characters()?;
            self.lessen()?;
            if self.test == known {
                break;
            }
        }
        self.end_texts()?;
        self.clear_away();
        self.probe()?;
        self.clear_away();
        // What was taken away without a run is no difference; that is seen here.
        let Ok(last) = self.session.runner.measure(&self.test)? else { return Ok(before) };
        let is_same = ends_alike(&last.run.outcome, &before.1.run.outcome) && self.covers(&last);
        Ok(if is_same { (self.test, last) } else { before })
    }

    /// Objects lie far from each other: what goes past the end of one meets no other then, also where
    /// the first becomes shorter.
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

    /// Takes away what can be.
    fn drop_all(&mut self) -> Result<(), Error> {
        // What one thing was needed for may be gone with another.
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

    /// Takes a candidate if it does what the test is kept for; whether it does.
    pub(crate) fn take(&mut self, candidate: Test) -> Result<bool, Error> {
        self.attempt(candidate, |_| true)
    }

    /// The same, if what it shows is right, too.
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
        let Ok(measured) = self.session.runner.measure(&candidate)? else { return Ok(false) };
        let ends_alike = ends_alike(&self.measured.run.outcome, &measured.run.outcome);
        let known = &self.measured.run.attempts;
        let reaches_out = measured.run.attempts.iter().any(|attempt| !known.contains(attempt));
        if !(ends_alike && self.covers(&measured) && is_right(&measured)) || reaches_out {
            return Ok(false);
        }
        (self.test, self.measured) = (candidate, measured);
        Ok(true)
    }

    /// Whether the interpreter has nothing against a candidate: it comes to an end, does nothing undefined
    /// that the test does not do, and covers the labels that it must, as far as it is followed.
    fn is_promising(&self, candidate: &Test) -> bool {
        let Some(foreseen) = self.session.runner.foresee(candidate, self.steps) else {
            return false;
        };
        self.patience.pay(foreseen.outcome.steps);
        let end = foreseen.outcome.end;
        if self.is_orderly && matches!(end, End::Stopped(_)) && !self.is_stopped {
            return false;
        }
        // What a test shows that does not end well is where it ends.
        if !self.is_orderly && foreseen.outcome.location != self.location {
            return false;
        }
        if !self.is_undefined && does_undefined(&foreseen.outcome) {
            return false;
        }
        if !self.is_refused && !foreseen.outcome.refused.is_empty() {
            return false;
        }
        let is_followed = matches!(end, End::Returned | End::Exited(_));
        !is_followed || {
            let covered = self.session.covered_in(&foreseen.covered);
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

    /// What can be taken away from the test: first what undefined functions do, then globals, pointers and
    /// numbers.
    fn atoms(&self) -> Vec<Atom> {
        let mut atoms = Vec::new();
        for (at, call) in self.test.externals.iter().enumerate() {
            atoms.extend((0..call.writes.len()).map(|write| Atom::Write(at, write)));
            atoms.push(Atom::Result(at));
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

    /// Takes away all of these at once; where that is too much, halves of them, down to single ones.
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
                // Writes of nothing are no writes; positions stay what they are.
                Atom::Write(call, at) => test.externals[*call].writes[*at].image = Image::default(),
                Atom::Result(at) => {
                    let call = &mut test.externals[*at];
                    set_default(&mut call.result, &call.function);
                }
                Atom::Global(at) => test.globals[*at].image = self.base(Holder::Global(*at)),
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

    /// Takes away what says nothing any more, which is no difference for a run.
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

    /// Takes away results at the end of a function's that are what a call without a result gives. That is no
    /// difference for a run.
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

    /// Objects that no pointer leads to, which is no difference for a run.
    fn drop_unreached(&mut self) {
        let count = self.test.objects.len();
        let mut reached = vec![false; count];
        let mut waiting: Vec<usize> = Vec::new();
        for holder in holders(&self.test) {
            if !matches!(holder, Holder::Object(_)) {
                waiting.extend(objects_of(image(&self.test, holder)));
            }
        }
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
        let mut keeps = reached.iter();
        copy.objects.retain(|_| *keeps.next().expect("one for each object"));
        let mut keeps = reached.iter();
        self.measured.run.objects.retain(|_| keeps.next().is_none_or(|kept| *kept));
        self.test = copy;
    }

    pub(crate) fn image(&self, holder: Holder) -> &Image {
        image(&self.test, holder)
    }

    /// What the bytes of a place are where a test says nothing.
    fn base(&self, holder: Holder) -> Image {
        let size = image(&self.test, holder).bytes.len();
        let initial = match holder {
            Holder::Global(at) => {
                let program = self.program();
                let id = program.global_named(&self.test.globals[at].name);
                id.map(|id| Image::initial(program, id))
            }
            _ => None,
        };
        initial.unwrap_or_else(|| Image { bytes: vec![0; size], pointers: Vec::new() })
    }

    /// The numbers of a place, but those under pointers.
    pub(crate) fn numbers(&self, holder: Holder) -> Vec<Scalar> {
        let types = &self.program().types;
        let ty = self.type_of(holder);
        let own = image(&self.test, holder);
        let bytes = own.bytes.len() as u64;
        let all = match (ty, holder) {
            (Some(ty), _) if bytes <= 1 << 16 => scalars(types, ty, bytes),
            (None, Holder::Write(..)) => (0..bytes)
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

    fn type_of(&self, holder: Holder) -> Option<CTypeId> {
        let program = self.program();
        let function = |name: &str| {
            let id = program.function_named(name)?;
            match program.types.get(program.functions[id].ty) {
                CType::Function { result, params, .. } => Some((*result, params)),
                _ => None,
            }
        };
        match holder {
            Holder::Argument(_, at) => function(&self.test.function)?.1.get(at).copied(),
            Holder::Variable(call, at) => {
                self.test.calls().nth(call)?.variable.get(at).map(|passed| passed.ty)
            }
            Holder::Object(at) => Some(self.test.objects[at].ty),
            Holder::Global(at) => {
                let id = program.global_named(&self.test.globals[at].name)?;
                Some(program.globals[id].ty)
            }
            Holder::Result(at) => {
                let call = &self.test.externals[at];
                let (result, _) = function(&call.function)?;
                let fits = program.types.size(result) == Some(call.result.bytes.len() as u64);
                fits.then_some(result)
            }
            Holder::Write(..) => None,
        }
    }

    /// Arrays end where the run no longer looks at them.
    fn shorten(&mut self) -> Result<(), Error> {
        for at in 0..self.test.objects.len() {
            let object = &self.test.objects[at];
            let Some(size) = self.program().types.size(object.ty).filter(|size| *size > 0) else {
                continue;
            };
            if object.image.bytes.len() as u64 != size * object.count || object.count < 2 {
                continue;
            }
            let (mut low, mut high) = (1, object.count);
            // The smallest length that does, if longer ones do wherever one does.
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

    /// Numbers become small, characters ones that can be read.
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
                    // What a function writes has no type here. Little is a number, and a truth value is 1.
                    ScalarKind::Other if image(&self.test, holder).bytes.len() <= 8 => {
                        self.nearer(holder, &place, false)?;
                    }
                    ScalarKind::Pointer | ScalarKind::Other => {}
                }
            }
        }
        Ok(())
    }

    pub(crate) fn with(&self, holder: Holder, place: &Scalar, bytes: &[u8]) -> Test {
        let mut candidate = self.test.clone();
        put(image_mut(&mut candidate, holder), place, bytes);
        candidate
    }

    fn readable(&mut self, holder: Holder, place: &Scalar, own: u8) -> Result<(), Error> {
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

    /// The number that is nearest to zero, where all between it and the one that there is do, too.
    fn nearer(&mut self, holder: Holder, place: &Scalar, signed: bool) -> Result<(), Error> {
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

    /// The float with the fewest digits that does.
    fn rounder(&mut self, holder: Holder, place: &Scalar, own: &[u8]) -> Result<(), Error> {
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

/// Whether a run ends as another does.
pub(crate) fn ends_alike(a: &Outcome, b: &Outcome) -> bool {
    match (a, b) {
        (Outcome::Returned(_), Outcome::Returned(_)) => true,
        (Outcome::Crashed(a), Outcome::Crashed(b)) => a.signal == b.signal && a.class == b.class,
        _ => a == b,
    }
}

/// All places of a test that have bytes.
fn holders(test: &Test) -> Vec<Holder> {
    let mut all = Vec::new();
    for (call, passed) in test.calls().enumerate() {
        all.extend((0..passed.args.len()).map(|at| Holder::Argument(call, at)));
        all.extend((0..passed.variable.len()).map(|at| Holder::Variable(call, at)));
    }
    all.extend((0..test.globals.len()).map(Holder::Global));
    for (at, call) in test.externals.iter().enumerate() {
        if call.variable().is_none() && !call.result.bytes.is_empty() {
            all.push(Holder::Result(at));
        }
        all.extend((0..call.writes.len()).map(|write| Holder::Write(at, write)));
    }
    all.extend((0..test.objects.len()).map(Holder::Object));
    all
}

fn image(test: &Test, holder: Holder) -> &Image {
    let last = test.earlier.len();
    match holder {
        Holder::Argument(call, at) if call == last => &test.args[at],
        Holder::Argument(call, at) => &test.earlier[call].args[at],
        Holder::Variable(call, at) if call == last => &test.variable[at].image,
        Holder::Variable(call, at) => &test.earlier[call].variable[at].image,
        Holder::Object(at) => &test.objects[at].image,
        Holder::Global(at) => &test.globals[at].image,
        Holder::Result(at) => &test.externals[at].result,
        Holder::Write(call, at) => &test.externals[call].writes[at].image,
    }
}

fn image_mut(test: &mut Test, holder: Holder) -> &mut Image {
    let last = test.earlier.len();
    match holder {
        Holder::Argument(call, at) if call == last => &mut test.args[at],
        Holder::Argument(call, at) => &mut test.earlier[call].args[at],
        Holder::Variable(call, at) if call == last => &mut test.variable[at].image,
        Holder::Variable(call, at) => &mut test.earlier[call].variable[at].image,
        Holder::Object(at) => &mut test.objects[at].image,
        Holder::Global(at) => &mut test.globals[at].image,
        Holder::Result(at) => &mut test.externals[at].result,
        Holder::Write(call, at) => &mut test.externals[call].writes[at].image,
    }
}

fn objects_of(image: &Image) -> Vec<usize> {
    let targets = image.pointers.iter().filter_map(|pointer| match pointer.target {
        PointerTarget::Object(position, _) => Some(position as usize),
        _ => None,
    });
    targets.collect()
}

/// Makes pointers null.
fn clear_pointers(image: &mut Image, which: impl Fn(u64) -> bool) {
    for pointer in image.pointers.iter().filter(|pointer| which(pointer.offset)) {
        let at = pointer.offset as usize;
        if let Some(bytes) = image.bytes.get_mut(at..at + 8) {
            bytes.fill(0);
        }
    }
    image.pointers.retain(|pointer| !which(pointer.offset));
}

pub(crate) fn bytes_of(image: &Image, place: &Scalar) -> Vec<u8> {
    let range = place.offset as usize..(place.offset + place.size) as usize;
    image.bytes.get(range).map_or_else(Vec::new, <[u8]>::to_vec)
}

fn put(image: &mut Image, place: &Scalar, bytes: &[u8]) {
    let start = place.offset as usize;
    if let Some(own) = image.bytes.get_mut(start..start + bytes.len()) {
        own.copy_from_slice(bytes);
    }
}

fn number(bytes: &[u8], signed: bool) -> i128 {
    let mut all = [0; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    let is_negative = signed && bytes.last().is_some_and(|byte| byte & 0x80 != 0);
    if is_negative {
        all[bytes.len()..].fill(0xff);
    }
    i128::from_le_bytes(all)
}

/// The result of a call of which a test says nothing: zero, and success for what allocates.
fn set_default(result: &mut Image, function: &str) {
    let allocates = libc::model_named(function)
        .is_some_and(|model| model.family == Family::Allocation && result.bytes.len() == 1);
    result.bytes.fill(u8::from(allocates));
    result.pointers.clear();
}

/// The test with so many elements of an object; none where something is behind them.
fn shortened(test: &Test, at: usize, size: u64, count: u64) -> Option<Test> {
    let end = size * count;
    let TestObject { image: own, .. } = &test.objects[at];
    let is_used = own.bytes.get(end as usize..)?.iter().any(|byte| *byte != 0)
        || own.pointers.iter().any(|pointer| pointer.offset + 8 > end);
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
