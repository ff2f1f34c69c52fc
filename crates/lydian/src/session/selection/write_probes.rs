//! Detection of writes that store the value that was already there.
//!
//! If a run leaves 0 where 0 was before, the test does not show that the function wrote it. So an
//! unchanged number of a test gets another initial value, and an unchanged null pointer leads to an
//! object or function of its type. If the call then ends as before and leaves the same memory, the
//! function writes the place, and the test asserts that.

use lydian_inputs::callback::callback_of;
use lydian_ir::scalars::{Scalar, ScalarKind};
use lydian_ir::test::{GlobalInput, Image, ImagePointer, PointerTarget, Test};
use lydian_ir::{CType, Callee, FuncId, GlobalId, GlobalInit, Program, Stmt, global_at, libc};
use lydian_native::{MeasuredRun, Outcome};
use lydian_report::suite::pointee_at;
use rustc_hash::FxHashSet;

use super::byte_holders::{ByteHolder, bytes_of, image_mut, put};
use super::reduction::TestReduction;
use crate::error::Error;

/// The most numbers of a test that are tried.
const MOST_PROBES: usize = 24;

/// The most numbers of a part that is probed before larger ones.
const FEW: usize = 4;

/// The fewest characters that may be a text.
const CHARACTERS: usize = 4;

impl TestReduction<'_, '_, '_, '_> {
    /// Gives other initial values to numbers that the function writes.
    pub(crate) fn probe(&mut self) -> Result<(), Error> {
        if !matches!(self.measured.run.outcome, Outcome::Returned(_)) {
            return Ok(());
        }
        let objects = (0..self.test.objects.len()).filter(|at| !self.test.objects[*at].read_only);
        let mut holders: Vec<ByteHolder> = objects.map(ByteHolder::Object).collect();
        holders.extend(self.give_written_globals().into_iter().map(ByteHolder::Global));
        let (mut few, mut many) = (Vec::new(), Vec::new());
        for holder in holders {
            let mut places = Vec::new();
            let numbers = self.numbers(holder);
            for (at, place) in numbers.iter().enumerate() {
                // Other characters before the last one leave a text.
                if !ends_characters(&numbers[..=at], numbers.get(at + 1))
                    && let Some(candidate) = self.with_another(&self.test, holder, place)
                    && candidate != self.test
                {
                    places.push((holder, *place));
                }
            }
            // What a call gives through a parameter may depend on what it finds in a large object.
            match places.len() {
                0..=FEW => few.append(&mut places),
                _ => many.append(&mut places),
            }
        }
        if few.len() + many.len() > MOST_PROBES {
            let mut left = MOST_PROBES;
            many = self.overwritten(&many, &mut left)?;
        }
        let places = few.into_iter().chain(many).take(MOST_PROBES);
        let places: Vec<(ByteHolder, Scalar)> = places.collect();
        places.into_iter().try_for_each(|(holder, place)| self.probe_place(holder, &place))
    }

    /// Those of many places that the function overwrites: with other initial values at all of them, they
    /// end as before. Where the run is another one with them, they are asked for in halves.
    fn overwritten(
        &mut self,
        places: &[(ByteHolder, Scalar)],
        left: &mut usize,
    ) -> Result<Vec<(ByteHolder, Scalar)>, Error> {
        if *left == 0 || places.is_empty() {
            return Ok(Vec::new());
        }
        *left -= 1;
        let candidate = places.iter().try_fold(self.test.clone(), |test, (holder, place)| {
            self.with_another(&test, *holder, place)
        });
        let Some(candidate) = candidate else { return Ok(Vec::new()) };
        let measured = self.session.runner.measure(&candidate)?.ok();
        if let Some(measured) = measured.filter(|new| new.run.outcome == self.measured.run.outcome)
        {
            let is_overwritten = |(holder, place): &&(ByteHolder, Scalar)| {
                let own = bytes_of(self.image(*holder), place);
                self.value_after(&measured, *holder, place) == Some(own)
            };
            return Ok(places.iter().filter(is_overwritten).copied().collect());
        }
        let (first, second) = places.split_at(places.len() / 2);
        if first.is_empty() {
            return Ok(Vec::new());
        }
        let mut found = self.overwritten(first, left)?;
        found.extend(self.overwritten(second, left)?);
        Ok(found)
    }

    /// A test with another initial value at a place that the call leaves as it is; `None` where there is
    /// none.
    fn with_another(&self, test: &Test, holder: ByteHolder, place: &Scalar) -> Option<Test> {
        let own = bytes_of(self.image(holder), place);
        if own.is_empty() || self.value_after(&self.measured, holder, place)? != own {
            return None;
        }
        let mut other = test.clone();
        match place.kind {
            ScalarKind::Other => return None,
            ScalarKind::Pointer => self.put_pointer(&mut other, holder, place)?,
            kind => put(image_mut(&mut other, holder), place, &another(&own, kind)),
        }
        Some(other)
    }

    /// Tries another initial value at one place.
    fn probe_place(&mut self, holder: ByteHolder, place: &Scalar) -> Result<(), Error> {
        let Some(candidate) = self.with_another(&self.test, holder, place) else { return Ok(()) };
        let known = self.measured.run.clone();
        let is_same = |measured: &MeasuredRun| {
            let run = &measured.run;
            run.outcome == known.outcome
                && run.globals == known.globals
                && run.objects == known.objects
        };
        self.attempt(candidate, is_same)?;
        Ok(())
    }

    /// Makes the pointer at one place lead to an object or function of its type.
    fn put_pointer(&self, test: &mut Test, holder: ByteHolder, place: &Scalar) -> Option<()> {
        let program = self.program();
        let pointee = pointee_at(&program.types, self.type_of(holder)?, place.offset)?;
        let is_any = matches!(program.types.get(pointee), CType::Void);
        let object = || test.objects.iter().position(|object| is_any || object.ty == pointee);
        let target = match callback_of(program, pointee) {
            Some(callback) => PointerTarget::Function(program.functions[callback].name.clone()),
            None => PointerTarget::Object(u32::try_from(object()?).ok()?, 0),
        };
        let image = image_mut(test, holder);
        let at = image.pointers.partition_point(|pointer| pointer.offset < place.offset);
        image.pointers.insert(at, ImagePointer { offset: place.offset, target });
        Some(())
    }

    /// The value of a place after a call.
    fn value_after(
        &self,
        measured: &MeasuredRun,
        holder: ByteHolder,
        place: &Scalar,
    ) -> Option<Vec<u8>> {
        let run = &measured.run;
        let bytes = match holder {
            ByteHolder::Object(at) => run.objects.get(at)?.clone(),
            ByteHolder::Global(at) => {
                let name = &self.test.globals[at].name;
                match run.globals.iter().find(|(changed, _)| changed == name) {
                    Some((_, bytes)) => bytes.clone(),
                    None => {
                        Image::initial(self.program(), self.program().global_named(name)?).bytes
                    }
                }
            }
            _ => return None,
        };
        bytes.get(place.offset as usize..(place.offset + place.size) as usize).map(<[u8]>::to_vec)
    }

    /// Adds to the test all globals that the function may write, with their initial values. Returns
    /// their positions.
    fn give_written_globals(&mut self) -> Vec<usize> {
        let program = self.program();
        let Some(function) = program.function_named(&self.test.function) else { return Vec::new() };
        let written = written_globals(program, function).into_iter();
        let position = |id: GlobalId| {
            let name = &program.globals[id].name;
            let globals = &mut self.test.globals;
            let known = globals.iter().position(|global| global.name == *name);
            known.unwrap_or_else(|| {
                let image = Image::initial(program, id);
                globals.push(GlobalInput { name: name.clone(), image });
                globals.len() - 1
            })
        };
        written.map(position).collect()
    }
}

/// Whether the last of some scalars is the last of several characters.
fn ends_characters(scalars: &[Scalar], next: Option<&Scalar>) -> bool {
    let is_character = |scalar: &Scalar| scalar.kind == ScalarKind::Character;
    let length = scalars.iter().rev().take_while(|scalar| is_character(scalar)).count();
    length >= CHARACTERS && !next.is_some_and(is_character)
}

/// A value that differs from this one.
fn another(own: &[u8], kind: ScalarKind) -> Vec<u8> {
    let mut other = vec![0; own.len()];
    if own.iter().all(|byte| *byte == 0) {
        match kind {
            ScalarKind::Float => *other.last_mut().expect("a float has bytes") = 0x40,
            ScalarKind::Character => other[0] = b'x',
            _ => other[0] = 1,
        }
    }
    other
}

/// The variables that a test can name and that a function, or one that it calls by name, stores to by
/// their names.
fn written_globals(program: &Program, function: FuncId) -> Vec<GlobalId> {
    let (mut seen, mut waiting) = (FxHashSet::from_iter([function]), vec![function]);
    let mut written = Vec::new();
    while let Some(function) = waiting.pop() {
        let function = &program.functions[function];
        let Some(body) = function.body.as_ref().filter(|_| !function.library) else { continue };
        for stmt in body.stmts.values() {
            if let Stmt::Call { callee: Callee::Direct(target), .. } = stmt
                && seen.insert(*target)
            {
                waiting.push(*target);
            }
            let to = stmt.written().and_then(|to| global_at(&body.exprs, to));
            written.extend(to.filter(|id| is_nameable(program, *id)));
        }
    }
    written.sort_unstable();
    written.dedup();
    written
}

fn is_nameable(program: &Program, id: GlobalId) -> bool {
    let global = &program.globals[id];
    !global.read_only
        && global.init != GlobalInit::Extern
        && !global.name.contains('.')
        && global.name != libc::ERROR_NUMBER
}
