//! Effects of undefined functions. Beside returning, a call may set global variables, and variables behind
//! the pointers that it is given, directly or through further pointers.
//!
//! The declaration alone says which parameters may be written through. So the exploration, the
//! interpreter, the stubs of the native harness and those of emitted suites agree. The test lists the
//! writes of each call ([`crate::test::ExternalWrite`]).
//!
//! A definition reads a few arguments for `...` with `va_arg(list, void *)`, whether they were passed or
//! not. Such an argument is a *word*: an integer or a pointer, since numbers of floating
//! point are in registers of their own. On 32-bit x86 all arguments lie on the stack one after the
//! other, so that a word behind a number of floating point, or behind one of 64 bits, is none.

use crate::libc::gives_inputs;
use crate::program::ctype::{CType, CTypeId, CTypes};
use crate::test::INPUT_PREFIX;
use crate::variadic::{self, Class};

/// A parameter that an undefined function may write through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutParameter {
    /// Its position, from 0.
    pub position: u32,
    /// The type that it points to: `void`, or a type of known size.
    pub pointee: CTypeId,
}

/// The prefix of functions that the compiler knows, whatever is declared. They have
/// no stubs, so that no test can list their effects.
const COMPILERS_OWN: [&str; 3] = ["__builtin_", "__atomic_", "__sync_"];

/// The tags of records that hold state of the machine which no engine models.
const MACHINES_OWN: [&str; 3] = ["__va_list_tag", "__jmp_buf_tag", "_IO_FILE"];

/// The prefixes of the functions of POSIX that change locks and condition variables. These objects are
/// opaque: a program cannot see that they changed, and there is no error number.
const OF_LOCKS: [&str; 4] = ["pthread_mutex_", "pthread_rwlock_", "pthread_spin_", "pthread_cond_"];

/// The functions of the system that keep a function, to call it when the program ends or forks.
pub const CALLING_LATER: [&str; 6] =
    ["atexit", "at_quick_exit", "on_exit", "__cxa_atexit", "__cxa_at_quick_exit", "pthread_atfork"];

/// The functions of the system that have a function called beside the program's own statements: in other
/// threads, on signals, on another stack.
pub const CALLING_BESIDE: [&str; 8] = [
    "pthread_create",
    "thrd_create",
    "signal",
    "sigaction",
    "bsd_signal",
    "sigset",
    "timer_create",
    "makecontext",
];

/// Whether an undefined function of this name is known to write nothing that a program looks at: the
/// compiler's own, those that give inputs, and those of locks.
pub fn writes_nothing(name: &str) -> bool {
    let begins_with = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let known = begins_with(&COMPILERS_OWN) || begins_with(&OF_LOCKS) && !reads_out(name);
    known || gives_inputs(name) || name.starts_with(INPUT_PREFIX)
}

/// Whether a function of locks tells the program something through a pointer.
fn reads_out(name: &str) -> bool {
    name.contains("_get") || name.contains("_setprioceiling")
}

/// The parameters of a function of this name and type that it may write through if it is undefined:
/// pointers to what is not const. There are none among variable arguments, whose types a definition
/// does not know, and none behind a parameter whose type C cannot spell.
pub fn out_parameters(types: &CTypes, name: &str, ty: CTypeId) -> Vec<OutParameter> {
    let CType::Function { params, .. } = types.get(ty) else { return Vec::new() };
    if writes_nothing(name) {
        return Vec::new();
    }
    let spelled = params.iter().take_while(|param| can_be_passed(types, **param));
    let pointers = spelled.zip(0..).filter_map(|(param, position)| match types.get(*param) {
        CType::Pointer { pointee, to_const: false } => {
            Some(OutParameter { position, pointee: *pointee })
        }
        _ => None,
    });
    let is_written = |pointee| can_be_written(types, pointee) && !variadic::is_list(types, pointee);
    pointers.filter(|out| is_written(out.pointee)).collect()
}

/// How many words of the arguments for `...` a stub hands over.
pub const WORDS: u32 = 8;

/// The pointers that the stub of an undefined function hands over to the code that does the writes of a test.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HandedOver {
    /// How many parameters the stub has to have for that.
    pub parameters: u32,
    /// Those of them that are pointers, by position; to what is const, too, since a way may lead through
    /// it to what is not.
    pub pointers: Vec<u32>,
    /// How many words follow from the arguments for `...`.
    pub words: u32,
}

/// The pointers that the stub of an undefined function of this name and type hands over. Words of `...` can only be
/// reached behind a named parameter, and where C can spell the types of all of them.
pub fn handed_over(types: &CTypes, name: &str, ty: CTypeId) -> HandedOver {
    let CType::Function { params, variadic, .. } = types.get(ty) else {
        return HandedOver::default();
    };
    if writes_nothing(name) {
        return HandedOver::default();
    }
    let spelled = params.iter().take_while(|param| can_be_passed(types, **param)).count();
    // The memory behind a list of arguments is the compiler's.
    let is_pointer = |at: &usize| match types.get(params[*at]) {
        CType::Pointer { pointee, .. } => !variadic::is_list(types, *pointee),
        _ => false,
    };
    let pointers: Vec<u32> = (0..spelled).filter(is_pointer).map(|at| at as u32).collect();
    let has_words = *variadic && spelled > 0 && spelled == params.len();
    let last = pointers.last().map_or(0, |last| last + 1);
    HandedOver {
        parameters: if has_words { spelled as u32 } else { last },
        pointers,
        words: if has_words { WORDS } else { 0 },
    }
}

/// Whether an undefined function of this name and type may write behind the arguments that a `va_list`
/// among its parameters hands on, which no stub does. Those that print write nothing there.
pub fn may_write_behind_list(types: &CTypes, name: &str, ty: CTypeId) -> bool {
    let CType::Function { params, .. } = types.get(ty) else { return false };
    let is_list =
        |ty: &CTypeId| types.pointee(*ty).is_some_and(|pointee| variadic::is_list(types, pointee));
    let prints =
        matches!(name.strip_prefix('v'), Some("syslog" | "warn" | "warnx" | "err" | "errx"))
            || name.contains("printf");
    !prints && params.iter().any(is_list)
}

/// The words among the arguments for `...` that a call passes to an undefined function of this name and
/// type, as positions among all arguments, in their order and as far as a stub finds them. `passed` are
/// the types of all arguments.
pub fn variable_words(types: &CTypes, name: &str, ty: CTypeId, passed: &[CTypeId]) -> Vec<usize> {
    let handed = handed_over(types, name, ty);
    let CType::Function { params, .. } = types.get(ty) else { return Vec::new() };
    let mut vectors: usize = params.iter().map(|ty| variadic::vectors_at_most(types, *ty)).sum();
    let mut words = Vec::new();
    for (position, ty) in passed.iter().enumerate().skip(params.len()) {
        match variadic::class(types, *ty) {
            _ if words.len() == handed.words as usize => break,
            Some(Class::Word) if types.size(*ty) <= Some(variadic::slot(types.target)) => {
                words.push(position);
            }
            // Behind the last vector register floats lie among the words.
            Some(Class::Float) if vectors < variadic::vector_registers(types.target) => {
                vectors += 1
            }
            _ => break,
        }
    }
    words
}

/// Whether a definition can have a parameter of the type.
fn can_be_passed(types: &CTypes, ty: CTypeId) -> bool {
    match types.get(ty) {
        CType::Opaque { .. } | CType::Void => false,
        CType::Record(_) => types.size(ty).is_some() && !holds(types, ty, &is_opaque),
        _ => true,
    }
}

fn can_be_written(types: &CTypes, pointee: CTypeId) -> bool {
    match types.get(pointee) {
        CType::Void => true,
        CType::Function { .. } | CType::Opaque { .. } => false,
        _ => {
            types.size(pointee).is_some_and(|size| size > 0)
                && !holds(types, pointee, &|types, ty| is_machines_own(types, ty))
        }
    }
}

fn is_opaque(types: &CTypes, ty: CTypeId) -> bool {
    matches!(types.get(ty), CType::Opaque { .. })
}

fn is_machines_own(types: &CTypes, ty: CTypeId) -> bool {
    let CType::Record(record) = types.get(ty) else { return false };
    let name = &types.records[*record].name;
    MACHINES_OWN.iter().any(|tag| name.strip_prefix("struct ").unwrap_or(name) == *tag)
}

/// Whether a value of the type satisfies `is_one`, or has a part that does.
fn holds(types: &CTypes, ty: CTypeId, is_one: &dyn Fn(&CTypes, CTypeId) -> bool) -> bool {
    if is_one(types, ty) {
        return true;
    }
    match types.get(ty) {
        CType::Array { element, .. } => holds(types, *element, is_one),
        CType::Record(record) => {
            types.records[*record].fields.iter().any(|field| holds(types, field.ty, is_one))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::program::ctype::{IntKind, Record, Target};

    #[test]
    fn pointers_to_what_is_not_const_are_written_through() {
        let mut types = CTypes::default();
        let int = types.int(IntKind::Int);
        let void = types.intern(CType::Void);
        let pointer = |types: &mut CTypes, pointee, to_const| {
            types.intern(CType::Pointer { pointee, to_const })
        };
        let record = |types: &mut CTypes, name: &str, size| {
            let name = name.to_owned();
            let (is_union, is_local) = (false, false);
            let record = Record { name, is_union, is_local, fields: Vec::new(), size, align: 1 };
            let record = types.records.push(record);
            types.intern(CType::Record(record))
        };
        let incomplete = record(&mut types, "struct handle", None);
        let list = record(&mut types, "struct __va_list_tag", Some(24));
        let opaque = types.intern(CType::Opaque { name: "__float128".into(), size: 16, align: 16 });
        let to_function =
            types.intern(CType::Function { result: int, params: Vec::new(), variadic: false });
        let mut params = vec![
            pointer(&mut types, int, true),
            pointer(&mut types, int, false),
            int,
            pointer(&mut types, void, false),
            pointer(&mut types, incomplete, false),
            pointer(&mut types, list, false),
            pointer(&mut types, to_function, false),
        ];
        params.extend([opaque, params[1]]);
        let ty = types.intern(CType::Function { result: int, params, variadic: true });
        let found = out_parameters(&types, "set", ty);
        let written = |position, pointee| OutParameter { position, pointee };
        assert_eq!(found, [written(1, int), written(3, void)]);
        assert_eq!(out_parameters(&types, "__builtin_set", ty), []);
        let handed = handed_over(&types, "set", ty);
        assert_eq!((handed.parameters, handed.words), (7, 0), "what C cannot spell is in the way");
        assert_eq!(handed.pointers, [0, 1, 3, 4, 6], "a list of arguments is no pointer");
        assert_eq!(handed_over(&types, "__builtin_set", ty), HandedOver::default());
        assert!(may_write_behind_list(&types, "set", ty));
        assert!(!may_write_behind_list(&types, "vsnprintf", ty));
    }

    #[test]
    fn words_for_dots_are_those_that_a_stub_finds_behind_its_parameters() {
        let mut types = CTypes::default();
        let int = types.int(IntKind::Int);
        let (long, double) = (types.int(IntKind::LongLong), types.intern(CType::Double));
        let wide = types.int(IntKind::Int128);
        let pointer = types.pointer(int);
        let function = |types: &mut CTypes, params: &[CTypeId], variadic| {
            types.intern(CType::Function { result: int, params: params.to_vec(), variadic })
        };
        let dots = function(&mut types, &[int, double], true);
        let handed = handed_over(&types, "set", dots);
        assert_eq!((handed.parameters, handed.pointers.len(), handed.words), (2, 0, WORDS));
        let passed = |types: &CTypes, behind: &[CTypeId]| {
            let passed: Vec<CTypeId> = [int, double].iter().chain(behind).copied().collect();
            variable_words(types, "set", dots, &passed)
        };
        let mixed = [pointer, double, int, long, double, pointer, wide, pointer];
        assert_eq!(passed(&types, &mixed), [2, 4, 5, 7]);
        assert_eq!(passed(&types, &[pointer; 20]).len(), WORDS as usize);
        let floats = |count| [vec![double; count], vec![pointer]].concat();
        assert_eq!(passed(&types, &floats(7)), [9]);
        assert_eq!(passed(&types, &floats(8)), [0; 0], "the last float lies among the words");
        let nameless = function(&mut types, &[], true);
        assert_eq!(handed_over(&types, "set", nameless), HandedOver::default());
        assert_eq!(variable_words(&types, "set", nameless, &[pointer]), [0; 0]);
        types.target = Target::I386;
        assert_eq!(passed(&types, &[pointer, int, double, pointer]), [2, 3]);
        assert_eq!(passed(&types, &[pointer, long, pointer]), [2]);
    }
}
