//! The calls of a test, one after the other on one memory.

use crate::interp::machine::{Machine, Step};
use crate::interp::observe::Observer;
use crate::interp::outcome::{BadTest, End};
use crate::interp::start;
use crate::program::FuncId;
use crate::program::function::{Body, Storage};
use crate::test::{Image, PassedArguments, Test, VariableArgument};
use crate::variadic::{self, Area, Room};

/// The arguments of a call, all pointers being filled in.
pub(in crate::interp) struct CallImages {
    images: Vec<Vec<u8>>,
    /// The arguments for `...`; `None` for a function that takes none.
    variable: Option<VariableImages>,
}

/// Variable arguments: where they lie, and their bytes.
struct VariableImages {
    area: Area,
    images: Vec<Vec<u8>>,
}

impl Machine<'_, '_> {
    /// The arguments of a test's calls.
    pub(in crate::interp) fn call_images(
        &self,
        test: &Test,
        function: FuncId,
    ) -> Result<Vec<CallImages>, BadTest> {
        let Some(body) = &self.program.functions[function].body else {
            return Err(BadTest::NoFunction(test.function.clone()));
        };
        let images = |call: PassedArguments<'_>| {
            Ok(CallImages {
                images: self.argument_images(test, body, call.args)?,
                variable: self.variable_images(test, function, call.variable)?,
            })
        };
        test.calls().map(images).collect()
    }

    fn argument_images(
        &self,
        test: &Test,
        body: &Body,
        args: &[Image],
    ) -> Result<Vec<Vec<u8>>, BadTest> {
        let (wanted, given) = (body.params.len(), args.len());
        if wanted != given {
            return Err(BadTest::Arguments { wanted, given });
        }
        let mut images = Vec::new();
        for (param, image) in body.params.iter().zip(args) {
            let local = &body.locals[*param];
            let name = &local.name;
            let bytes = start::image_bytes(self.program, &self.memory, test, image, name)?;
            let most = match local.storage {
                Storage::Register(_) => 16,
                Storage::Memory { size, .. } => size,
            };
            if bytes.len() as u64 > most {
                return Err(BadTest::TooLarge(name.clone()));
            }
            images.push(bytes);
        }
        Ok(images)
    }

    /// A function that takes no variable arguments is given none, whatever the test says.
    fn variable_images(
        &self,
        test: &Test,
        function: FuncId,
        variable: &[VariableArgument],
    ) -> Result<Option<VariableImages>, BadTest> {
        if variadic::room(self.program, function) == Room::default() {
            return Ok(None);
        }
        let of: Vec<_> = variable.iter().map(|argument| argument.ty).collect();
        let area = variadic::area(&self.program.types, &of, 0);
        let mut images = Vec::new();
        for (slot, argument) in area.slots.iter().zip(variable) {
            let (memory, image) = (&self.memory, &argument.image);
            let bytes = start::image_bytes(self.program, memory, test, image, "...")?;
            if bytes.len() as u64 > slot.size {
                return Err(BadTest::TooLarge("...".to_owned()));
            }
            images.push(bytes);
        }
        Ok(Some(VariableImages { area, images }))
    }

    /// Calls a function as often as a test says, until a call does not return.
    ///
    /// # Errors
    /// Where the first call has no room.
    pub(in crate::interp) fn run_calls(
        &mut self,
        function: FuncId,
        calls: &[CallImages],
        observer: &mut dyn Observer,
    ) -> Result<End, BadTest> {
        for (number, call) in calls.iter().enumerate() {
            self.result = None;
            self.undetermined_result.clear();
            // Nothing of a call that has returned is in slots.
            self.undefined.clear();
            let end = match self.enter_first(function, call) {
                Ok(()) => self.execute(observer),
                Err(_) if number == 0 => {
                    let name = &self.program.functions[function].name;
                    return Err(BadTest::TooLarge(name.clone()));
                }
                Err(stop) => stop.end(),
            };
            if end != End::Returned {
                return Ok(end);
            }
        }
        Ok(End::Returned)
    }

    fn enter_first(&mut self, function: FuncId, call: &CallImages) -> Step<()> {
        self.first_call(function, &call.images)?;
        match &call.variable {
            Some(VariableImages { area, images }) => self.give_variable(area, images),
            None => Ok(()),
        }
    }
}
