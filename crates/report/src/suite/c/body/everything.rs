//! Assertions on all that a call may write or do, for tests that are to notice any change of the program:
//! the changes that it made, and what it left alone.

use std::collections::BTreeSet;

use lydian_ir::test::Image;
use lydian_ir::{Expr, FuncId, GlobalId, Program};

use super::super::assertion::{Assertion, Line};
use super::super::check::{Checks, Shared};
use super::super::literal::Names;
use super::data::is_empty_text;
use super::{Body, Form};
use crate::suite::image::ObservedImage;
use crate::suite::observation::Observation;

/// The greatest size in bytes of a variable that is asserted to be unchanged.
const MOST_BYTES: u64 = 256;
/// The most variables that are asserted to be unchanged.
const MOST_VARIABLES: usize = 32;

impl Body<'_> {
    /// Asserts what a call left alone: the bytes of objects, variables that its code names, and the calls
    /// of undefined functions that it made and did not make.
    pub(super) fn everything(
        &mut self,
        names: &Names<'_>,
        observed: &Observation,
        shared: &mut Shared<'_>,
    ) {
        self.all_calls(names, observed);
        let mut lines = Vec::new();
        for (position, (object, name)) in names.test.objects.iter().zip(&names.objects).enumerate()
        {
            if !observed.leaves(position as u32) || object.read_only {
                continue;
            }
            let before: ObservedImage = object.image.clone().into();
            let mut checks = Checks::new(names, &before, None, shared);
            match name.form {
                Form::Text(_) => {}
                // Only its first byte stands in the test.
                Form::Array if is_empty_text(&self.program.types, object) => {}
                Form::Bytes => {
                    checks.bytes(&name.variable, 0, before.image.bytes.len() as u64, false);
                }
                Form::Array | Form::Block { is_one: false } => {
                    checks.elements(object.ty, object.count, &name.variable, 0);
                }
                _ => checks.value(object.ty, &name.lvalue(), 0),
            }
            lines.extend(checks.lines);
        }
        for id in self.variables_left_alone(names, observed) {
            let global = &self.program.globals[id];
            let set = names.test.globals.iter().find(|input| input.name == global.name);
            let before =
                set.map_or_else(|| Image::initial(self.program, id), |set| set.image.clone());
            let before: ObservedImage = before.into();
            let mut checks = Checks::new(names, &before, None, shared);
            checks.value(global.ty, &global.name, 0);
            lines.extend(checks.lines);
        }
        lines.retain(|line| matches!(line, Line::Assert(one) if one.stands_alone()));
        self.lines.extend(lines);
    }

    /// Asserts how often each undefined function was called that the code may call.
    fn all_calls(&mut self, names: &Names<'_>, observed: &Observation) {
        if self.stubs.counts_releases() {
            let count = observed.released.len();
            self.lines.push(Line::Assert(Assertion::Released { count }));
        }
        let program = self.program;
        let Some(function) = program.function_named(&names.test.function) else { return };
        let called = program.called_from(function);
        let called: BTreeSet<&str> =
            called.iter().map(|id| program.functions[*id].name.as_str()).collect();
        let made = observed.calls.iter().map(|(name, count)| (name.as_str(), *count));
        let others = called.into_iter().filter(|name| {
            self.stubs.counts(name) && observed.calls.iter().all(|(known, _)| known != name)
        });
        let all: Vec<(&str, u32)> = made.chain(others.map(|name| (name, 0))).collect();
        self.calls(all.into_iter());
    }

    /// The variables that the code names, as far as a test can see them, and that the call did not change.
    fn variables_left_alone(&self, names: &Names<'_>, observed: &Observation) -> Vec<GlobalId> {
        let program = self.program;
        let Some(function) = program.function_named(&names.test.function) else {
            return Vec::new();
        };
        let mut functions = program.called_from(function);
        functions.push(function);
        let is_left_alone = |id: &GlobalId| {
            let global = &program.globals[*id];
            let is_seen =
                !global.name.contains('.') && !global.read_only && !global.name.starts_with("__");
            let is_changed = observed.globals.iter().any(|(name, _)| *name == global.name);
            is_seen && !is_changed && global.size <= MOST_BYTES && is_plain(program, *id)
        };
        let all = functions.into_iter().flat_map(|function| named_by(program, function));
        let all: BTreeSet<GlobalId> = all.filter(is_left_alone).collect();
        all.into_iter().take(MOST_VARIABLES).collect()
    }
}

/// The variables whose addresses a function's code names.
fn named_by(program: &Program, function: FuncId) -> Vec<GlobalId> {
    let body = program.functions[function].body.as_ref();
    let is_own = !program.functions[function].library;
    let exprs = body.into_iter().filter(|_| is_own).flat_map(|body| body.exprs.values());
    let named = exprs.filter_map(|expr| match expr {
        Expr::AddrGlobal(id) => Some(*id),
        _ => None,
    });
    named.collect()
}

/// Whether a variable's first contents are known: it is defined here.
fn is_plain(program: &Program, id: GlobalId) -> bool {
    program.globals[id].init != lydian_ir::GlobalInit::Extern
}
