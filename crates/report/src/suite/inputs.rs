//! The inputs of a run of a whole program, in the order of its calls, for formats of suites that have
//! no functions.

use lydian_ir::libc::{AllocationFn, LibFn, gives_inputs, model_named};
use lydian_ir::test::{ANY_BYTES, ANY_NUMBER, ExternalResult, Image, Test};
use lydian_ir::{CTypeId, Program, Type, arith};

use crate::suite::signature::result_type;

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Input<'a> {
    /// The name that the program gives it, or the function that gives it.
    pub(crate) name: &'a str,
    /// Its type as C spells it, if that is known.
    pub(crate) ty: Option<String>,
    /// Its bytes.
    pub(crate) bytes: &'a [u8],
    /// Its value as a number, if it is one.
    pub(crate) number: Option<String>,
}

/// The inputs of a test of a whole program. The error is the reason why a list of inputs does not
/// express all of the test.
pub(crate) fn inputs_of<'a>(program: &Program, test: &'a Test) -> Result<Vec<Input<'a>>, String> {
    if !test.earlier.is_empty() {
        return Err("it calls a function several times".into());
    }
    let plain = test.args.is_empty()
        && test.variable.is_empty()
        && test.objects.is_empty()
        && test.globals.is_empty();
    if !plain {
        return Err("it calls a function with arguments of its own".into());
    }
    let mut inputs = Vec::new();
    for call in &test.externals {
        if !call.result.pointers.is_empty() {
            return Err(format!("{} gives a pointer", call.function));
        }
        if !call.writes.is_empty() {
            return Err(format!("it depends on what {} writes", call.function));
        }
        if gives_inputs(&call.function) {
            inputs.push(input(program, call));
        } else if !says_nothing(call) {
            return Err(format!("it depends on what {} returns", call.function));
        }
    }
    Ok(inputs)
}

/// Whether a function that gives no inputs does the usual: an allocator succeeds, others return zero.
fn says_nothing(call: &ExternalResult) -> bool {
    let model = model_named(&call.function);
    let allocates = model.is_some_and(|model| match model.function {
        LibFn::Allocation(function) => function != AllocationFn::Free,
        _ => false,
    });
    let zero = call.result.bytes.iter().all(|byte| *byte == 0);
    if allocates { !zero } else { zero }
}

fn input<'a>(program: &Program, call: &'a ExternalResult) -> Input<'a> {
    let bytes = call.result.bytes.as_slice();
    let ty = result_type(program, &call.function).filter(|ty| {
        program.types.size(*ty) == Some(bytes.len() as u64) && call.function != "klee_make_symbolic"
    });
    let number = match ty {
        Some(ty) => number(program, ty, bytes),
        None if bytes.len() <= 8 => Some(raw(bytes).to_string()),
        None => None,
    };
    Input {
        name: call.object.as_deref().unwrap_or(&call.function),
        ty: ty.map(|ty| program.types.spell(ty, "").trim().to_owned()),
        bytes,
        number,
    }
}

fn raw(bytes: &[u8]) -> u128 {
    let mut all = [0; 16];
    let size = bytes.len().min(16);
    all[..size].copy_from_slice(&bytes[..size]);
    u128::from_le_bytes(all)
}

/// A value as a number that suites can hold.
fn number(program: &Program, ty: CTypeId, bytes: &[u8]) -> Option<String> {
    let bits = raw(bytes);
    match program.types.scalar(ty)? {
        Type::Int(width) if program.types.is_signed(ty) => {
            Some(arith::signed(u32::from(width), bits).to_string())
        }
        Type::Int(_) | Type::Ptr => Some(bits.to_string()),
        float => {
            Some(arith::print_float(float, arith::truncate(float, bits)).unwrap_or_else(|| {
                let value = arith::to_f64(float, arith::truncate(float, bits));
                match value {
                    _ if value.is_nan() => "nan".to_owned(),
                    _ if value > 0.0 => "inf".to_owned(),
                    _ => "-inf".to_owned(),
                }
            }))
        }
    }
}

/// A test of a program's `main` or of a driver, with inputs whose functions are not known.
pub(crate) fn test_of(entry: &str, externals: Vec<ExternalResult>) -> Test {
    Test { externals, ..Test::calling(entry, vec![]) }
}

/// An input with known bytes.
pub(crate) fn any_bytes(name: &str, bytes: &[u8]) -> ExternalResult {
    let result = Image { bytes: bytes.to_vec(), pointers: Vec::new() };
    let object = Some(name.to_owned()).filter(|name| !name.is_empty());
    ExternalResult { object, ..ExternalResult::new(ANY_BYTES, result) }
}

/// An input with a known number.
pub(crate) fn any_number(image: Image) -> ExternalResult {
    ExternalResult::new(ANY_NUMBER, image)
}
