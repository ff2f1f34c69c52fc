//! The parameters of functions that probes call: values and addresses that a place passes.

use std::cell::RefCell;

use indexmap::IndexMap;
use lydian_ir::cexact::{Names, c_type};
use lydian_ir::{
    Body, CTypeId, ExprId, FuncId, GlobalId, LocalId, LocalKind, Program, Storage, Type,
};

use crate::rewrite::predicates::POISON;
use crate::rewrite::request::Purpose;

/// The parameters of a function that a probe calls.
#[derive(Debug, Default)]
pub(crate) struct ProbeParameters {
    pub(crate) taken: RefCell<IndexMap<ParameterSource, Parameter>>,
    /// The values of the program's own expressions that several mutants read, with declarations.
    pub(crate) shared: RefCell<IndexMap<ExprId, String>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ParameterSource {
    Local(LocalId),
    Global(GlobalId),
    Function(FuncId),
}

#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) ty: &'static str,
    /// The argument that the caller passes.
    pub(crate) argument: String,
}

impl ProbeParameters {
    /// The number of a parameter.
    fn number(
        &self,
        taken: ParameterSource,
        ty: &'static str,
        argument: impl FnOnce() -> String,
    ) -> usize {
        let mut all = self.taken.borrow_mut();
        let entry = all.entry(taken);
        let number = entry.index();
        entry.or_insert_with(|| Parameter { ty, argument: argument() });
        number
    }

    /// The words that the caller passes to code: `before`, and then the parameters.
    pub(crate) fn words(&self, before: &[String]) -> Vec<String> {
        let taken = self.taken.borrow();
        let word = |Parameter { ty, argument }: &Parameter| match *ty {
            "char *" => format!("(unsigned long){argument}"),
            "float" => format!("lydian_bits_of_f32({argument})"),
            "double" => format!("lydian_bits_of_f64({argument})"),
            _ => argument.clone(),
        };
        before.iter().cloned().chain(taken.values().map(word)).collect()
    }
}

/// Names inside of a mutant probe's function: the names of its parameters.
pub(crate) struct ParameterNames<'a> {
    pub(crate) names: &'a dyn Names,
    pub(crate) program: &'a Program,
    pub(crate) body: &'a Body,
    pub(crate) purpose: Purpose,
    pub(crate) parameters: &'a ProbeParameters,
}

impl ParameterNames<'_> {
    /// The number of the parameter that is a register's value.
    pub(crate) fn register(&self, local: LocalId) -> Option<usize> {
        let Storage::Register(ty) = self.body.locals[local].storage else { return None };
        let name = self.names.local(local)?;
        let argument = || self.value(local, ty, &name);
        Some(self.parameters.number(ParameterSource::Local(local), c_type(ty), argument))
    }

    /// The number of the parameter that is the address of a local in memory.
    pub(crate) fn local_address(&self, local: LocalId) -> Option<usize> {
        let is_memory = matches!(self.body.locals[local].storage, Storage::Memory { .. });
        let name = self.names.local(local).filter(|_| is_memory)?;
        Some(self.address(ParameterSource::Local(local), &name))
    }

    /// The number of the parameter that is the address of a global.
    pub(crate) fn global_address(&self, global: GlobalId) -> Option<usize> {
        Some(self.address(ParameterSource::Global(global), &self.names.global(global)?))
    }

    /// The number of the parameter that is the address of a function.
    pub(crate) fn function_address(&self, function: FuncId) -> Option<usize> {
        let name = self.names.function(function)?;
        let argument = || format!("((char *){name})");
        Some(self.parameters.number(ParameterSource::Function(function), "char *", argument))
    }

    fn address(&self, taken: ParameterSource, name: &str) -> usize {
        self.parameters.number(taken, "char *", || format!("((char *)&{name})"))
    }

    /// The text for a variable in memory whose address is passed. `None` for scalars of types that
    /// some compilers lack.
    fn variable(&self, taken: ParameterSource, ty: CTypeId, name: &str) -> Option<String> {
        let alias = match self.program.types.scalar(ty) {
            Some(scalar) => Some(alias_type(scalar)?),
            None => None,
        };
        let parameter = parameter_name(self.address(taken, name));
        Some(match alias {
            Some(alias) => format!("(*({alias} *){parameter})"),
            None => format!("(*{parameter})"),
        })
    }

    /// The argument for a register's value. An empty `asm` statement hides from the compiler that
    /// the value may be undefined.
    fn value(&self, local: LocalId, ty: Type, name: &str) -> String {
        let text = match ty {
            Type::Int(1) => format!("(({name}) != 0)"),
            _ if ty.is_float() => format!("({name})"),
            _ => format!("(({})({name}))", c_type(ty)),
        };
        if self.purpose == Purpose::Tests || self.body.locals[local].kind == LocalKind::Param {
            return text;
        }
        // A value in a register is no variable in memory for the optimiser.
        let place = match ty {
            Type::Int(..=64) | Type::Ptr => 'r',
            _ => 'm',
        };
        let ty = c_type(ty);
        format!("({{ {ty} lydian_x = {text}; __asm__(\"\" : \"+{place}\"(lydian_x)); lydian_x; }})")
    }
}

impl Names for ParameterNames<'_> {
    fn local(&self, local: LocalId) -> Option<String> {
        let found = &self.body.locals[local];
        match found.storage {
            Storage::Register(_) => self.register(local).map(parameter_name),
            Storage::Memory { .. } => {
                self.variable(ParameterSource::Local(local), found.ty, &self.names.local(local)?)
            }
        }
    }

    fn global(&self, global: GlobalId) -> Option<String> {
        let name = self.names.global(global)?;
        let ty = self.program.globals.get(global)?.ty;
        self.variable(ParameterSource::Global(global), ty, &name)
    }

    fn function(&self, function: FuncId) -> Option<String> {
        self.function_address(function).map(parameter_name)
    }

    fn shared(&self, expr: ExprId) -> Option<String> {
        self.parameters.shared.borrow().get_index_of(&expr).map(shared_name)
    }

    fn share(&self, expr: ExprId, ty: Type, text: &str) -> Option<String> {
        // An expression that checks its operands must do so for each mutant.
        if text.contains(POISON) {
            return None;
        }
        let mut shared = self.parameters.shared.borrow_mut();
        let name = shared_name(shared.len());
        let ty = c_type(ty);
        shared.insert(expr, format!("{ty} {name} = {text}; (void){name}; "));
        Some(name)
    }
}

pub(crate) fn parameter_name(number: usize) -> String {
    format!("lydian_p{number}")
}

fn shared_name(number: usize) -> String {
    format!("lydian_w{number}")
}

/// The type through which a variable of this type is read by its address.
const fn alias_type(ty: Type) -> Option<&'static str> {
    Some(match ty {
        Type::Int(1 | 8) => "lydian_a8",
        Type::Int(16) => "lydian_a16",
        Type::Int(32) => "lydian_a32",
        Type::Int(64) => "lydian_a64",
        Type::Int(128) => "lydian_a128",
        Type::F32 => "lydian_af32",
        Type::F64 => "lydian_af64",
        Type::F80 => "lydian_af80",
        Type::Ptr => "lydian_aptr",
        Type::Int(_) | Type::F16 | Type::BF16 => return None,
    })
}
