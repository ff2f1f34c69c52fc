//! Inputs of a difference, made as plain as it allows: null pointers, zeros and small numbers wherever the
//! versions still differ in the same way.
//!
//! Candidates run in the interpreter. What is left is confirmed natively, as any difference is.

use std::time::{Duration, Instant};

use lydian_ir::test::{Image, Test};
use lydian_ir::{CType, CTypeId, Program};

use super::leaves::leaves;

/// The most candidates.
const MOST: usize = 2000;
/// The longest time.
const TIME: Duration = Duration::from_secs(2);
/// The scalars of an image whose type is not known, each of one byte.
const MOST_BYTES: usize = 64;

/// Where a test has an image.
#[derive(Clone, Copy)]
enum Holder {
    Argument(usize),
    Global(usize),
    Object(usize),
    /// The result of a call of an undefined function.
    Result(usize),
}

/// A scalar in an image: its first byte and its size.
#[derive(Clone, Copy)]
struct Scalar {
    at: usize,
    size: usize,
}

/// A search for plain inputs.
struct Search<'s> {
    program: &'s Program,
    test: Test,
    /// Whether the versions differ on a test as they did on the first.
    differs: &'s mut dyn FnMut(&Test) -> bool,
    left: usize,
    end: Instant,
}

/// Plain inputs on which `differs` holds, as it does on those of `test`.
pub(super) fn minimised(
    program: &Program,
    test: Test,
    differs: &mut dyn FnMut(&Test) -> bool,
) -> Test {
    let end = Instant::now() + TIME;
    let mut search = Search { program, test, differs, left: MOST, end };
    search.drop_results();
    search.drop_pointers();
    search.drop_objects();
    for holder in search.holders() {
        for scalar in search.scalars(holder) {
            search.lessen(holder, scalar);
        }
    }
    search.test
}

impl Search<'_> {
    /// Takes a candidate in the place of the test if the versions still differ.
    fn take(&mut self, candidate: Test) -> bool {
        if candidate == self.test || self.left == 0 || Instant::now() >= self.end {
            return false;
        }
        self.left -= 1;
        let takes = (self.differs)(&candidate);
        if takes {
            self.test = candidate;
        }
        takes
    }

    /// Drops results of undefined functions, the last ones first.
    fn drop_results(&mut self) {
        for at in (0..self.test.externals.len()).rev() {
            let mut candidate = self.test.clone();
            candidate.externals.remove(at);
            self.take(candidate);
        }
    }

    /// Makes pointers null.
    fn drop_pointers(&mut self) {
        for holder in self.holders() {
            for at in (0..image(&mut self.test, holder).pointers.len()).rev() {
                let mut candidate = self.test.clone();
                image(&mut candidate, holder).pointers.remove(at);
                self.take(candidate);
            }
        }
    }

    /// Drops the last objects as long as nothing leads to them: others would change their numbers.
    fn drop_objects(&mut self) {
        while !self.test.objects.is_empty() {
            let mut candidate = self.test.clone();
            candidate.objects.pop();
            if !self.take(candidate) {
                break;
            }
        }
    }

    fn holders(&self) -> Vec<Holder> {
        let Test { args, globals, objects, externals, .. } = &self.test;
        let all = (0..args.len()).map(Holder::Argument);
        let all = all.chain((0..globals.len()).map(Holder::Global));
        let all = all.chain((0..objects.len()).map(Holder::Object));
        all.chain((0..externals.len()).map(Holder::Result)).collect()
    }

    /// The type of an image, and of how many values of it the image consists.
    fn type_of(&self, holder: Holder) -> Option<(CTypeId, usize)> {
        let Program { types, functions, .. } = self.program;
        let signature = |name: &str| {
            let id = self.program.function_named(name)?;
            match types.get(functions[id].ty) {
                CType::Function { result, params, .. } => Some((*result, params)),
                _ => None,
            }
        };
        match holder {
            Holder::Argument(at) => Some((*signature(&self.test.function)?.1.get(at)?, 1)),
            Holder::Result(at) => Some((signature(&self.test.externals[at].function)?.0, 1)),
            Holder::Object(at) => {
                let object = &self.test.objects[at];
                Some((object.ty, object.count as usize))
            }
            Holder::Global(at) => {
                let global = self.program.global_named(&self.test.globals[at].name)?;
                Some((self.program.globals[global].ty, 1))
            }
        }
    }

    /// The scalars of an image that are no pointers.
    fn scalars(&mut self, holder: Holder) -> Vec<Scalar> {
        let of_type = self.type_of(holder).and_then(|(ty, count)| self.typed(ty, count));
        let image = image(&mut self.test, holder);
        let bytes = image.bytes.len();
        let all = of_type.unwrap_or_else(|| {
            (0..bytes.min(MOST_BYTES)).map(|at| Scalar { at, size: 1 }).collect()
        });
        let is_free = |scalar: &Scalar| {
            let end = scalar.at + scalar.size;
            let pointers = image.pointers.iter().map(|pointer| pointer.offset as usize);
            end <= bytes && pointers.into_iter().all(|at| end <= at || at + 8 <= scalar.at)
        };
        all.into_iter().filter(is_free).collect()
    }

    /// The scalars of so many values of a type; none if it has others than numbers.
    fn typed(&self, ty: CTypeId, count: usize) -> Option<Vec<Scalar>> {
        let types = &self.program.types;
        let size = types.size(ty)? as usize;
        let leaves = leaves(types, ty).ok()?;
        let mut all = Vec::new();
        for element in 0..count {
            for leaf in leaves.iter().filter(|leaf| leaf.bits.is_none()) {
                let at = element * size + (leaf.bit / 8) as usize;
                all.push(Scalar { at, size: types.size(leaf.ty)? as usize });
            }
        }
        Some(all)
    }

    /// Brings a number as near to zero as it goes.
    fn lessen(&mut self, holder: Holder, scalar: Scalar) {
        let value = number(image(&mut self.test, holder), scalar);
        if value == 0 || self.put(holder, scalar, 0) || self.put(holder, scalar, 1) {
            return;
        }
        if value < 0 {
            // It may be the bytes of a large number without a sign.
            let _ = self.put(holder, scalar, value.saturating_neg());
        }
        let mut step = number(image(&mut self.test, holder), scalar).unsigned_abs();
        while step > 0 {
            let now = number(image(&mut self.test, holder), scalar);
            let nearer = match now > 0 {
                true => now.saturating_sub_unsigned(step),
                false => now.saturating_add_unsigned(step),
            };
            let is_nearer = nearer.signum() == now.signum() && nearer != 0;
            if !is_nearer || !self.put(holder, scalar, nearer) {
                step /= 2;
            }
        }
    }

    fn put(&mut self, holder: Holder, Scalar { at, size }: Scalar, value: i64) -> bool {
        let mut candidate = self.test.clone();
        let bytes = &mut image(&mut candidate, holder).bytes;
        bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
        self.take(candidate)
    }
}

fn image(test: &mut Test, holder: Holder) -> &mut Image {
    match holder {
        Holder::Argument(at) => &mut test.args[at],
        Holder::Global(at) => &mut test.globals[at].image,
        Holder::Object(at) => &mut test.objects[at].image,
        Holder::Result(at) => &mut test.externals[at].result,
    }
}

/// A number of at most eight bytes, with its sign.
fn number(image: &Image, Scalar { at, size }: Scalar) -> i64 {
    let own = &image.bytes[at..at + size];
    let fill = if own.last().is_some_and(|byte| *byte >= 0x80) { 0xff } else { 0 };
    let mut bytes = [fill; 8];
    bytes[..size].copy_from_slice(own);
    i64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(numbers: &[i32]) -> Test {
        let image = |number: &i32| Image { bytes: number.to_le_bytes().to_vec(), pointers: vec![] };
        Test::calling("f", numbers.iter().map(image).collect())
    }

    fn numbers(test: &Test) -> Vec<i64> {
        let scalar = Scalar { at: 0, size: 4 };
        test.args.iter().map(|image| number(image, scalar)).collect()
    }

    #[test]
    fn numbers_that_decide_are_as_near_to_zero_as_they_go_and_others_are_zero() {
        let mut program = Program::default();
        let int = program.types.int(lydian_ir::IntKind::Int);
        let ty = CType::Function { result: int, params: vec![int; 3], variadic: false };
        let ty = program.types.intern(ty);
        program.functions.push(lydian_ir::Function::declared("f", ty));
        let mut differs = |test: &Test| {
            let all = numbers(test);
            all[0] > 41 && all[1] < -7
        };
        let small = minimised(&program, of(&[1_000_000, -2_000_000_000, 77]), &mut differs);
        assert_eq!(numbers(&small), [42, -8, 0]);
    }
}
