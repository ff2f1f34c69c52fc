//! Pointers to string literals at the end of a test: the interpreter knows the literal, and a native run the
//! address.

use lydian_ir::Program;
use lydian_ir::interp;
use lydian_ir::test::PointerTarget;
use lydian_native::{Outcome, Run};

/// The first part of the names of string literals.
const STRING: &str = ".str.";

/// The pointers to string literals in what a run of a test leaves.
#[derive(Default)]
pub(crate) struct LiteralPointers(Vec<LiteralPointer>);

struct LiteralPointer {
    holder: Holder,
    offset: usize,
    literal: PointerTarget,
}

/// The memory that a pointer is in.
enum Holder {
    Result,
    /// An object of the test, by position.
    Object(usize),
    /// A variable of the program, by name.
    Global(String),
}

impl LiteralPointers {
    /// Those at the end of a run in the interpreter.
    pub(crate) fn of(program: &Program, run: &interp::Outcome) -> Self {
        let mut literals: Vec<(u64, u64, &str)> = program
            .globals
            .iter()
            .filter(|(_, global)| global.name.starts_with(STRING))
            .map(|(id, global)| (run.memory.global_address(id), global.size, &*global.name))
            .collect();
        literals.sort_unstable();
        let literal_at = |address: u64| {
            let behind = literals.partition_point(|(start, ..)| *start <= address);
            let (start, size, name) = literals[..behind].last()?;
            let offset = address - start;
            (offset < *size).then(|| PointerTarget::Global((*name).to_owned(), offset))
        };
        let mut found = Vec::new();
        let mut look = |bytes: &[u8], holder: &dyn Fn() -> Holder| {
            for (at, word) in bytes.chunks_exact(8).enumerate() {
                let address = u64::from_le_bytes(word.try_into().expect("eight bytes"));
                let literal = literal_at(address);
                found.extend(literal.map(|literal| LiteralPointer {
                    holder: holder(),
                    offset: at * 8,
                    literal,
                }));
            }
        };
        look(run.result.as_deref().unwrap_or_default(), &|| Holder::Result);
        for (at, object) in run.objects.iter().enumerate() {
            look(object, &|| Holder::Object(at));
        }
        for (id, global) in program.globals.iter().filter(|(_, global)| !global.read_only) {
            look(run.global(id), &|| Holder::Global(global.name.clone()));
        }
        Self(found)
    }

    /// Tells a native run of the same test which of its addresses are those of literals.
    pub(crate) fn tell(&self, run: &mut Run) {
        for LiteralPointer { holder, offset, literal } in &self.0 {
            let result = if let Outcome::Returned(bytes) = &run.outcome { &bytes[..] } else { &[] };
            let bytes = match holder {
                Holder::Result => Some(result),
                Holder::Object(at) => run.objects.get(*at).map(Vec::as_slice),
                Holder::Global(name) => {
                    let found = run.globals.iter().find(|(known, _)| known == name);
                    found.map(|(_, bytes)| bytes.as_slice())
                }
            };
            let word = bytes.and_then(|bytes| bytes.get(*offset..*offset + 8));
            let address = word.and_then(|word| Some(u64::from_le_bytes(word.try_into().ok()?)));
            if let Some(address) = address.filter(|address| *address != 0) {
                run.places.entry(address).or_insert_with(|| literal.clone());
            }
        }
    }
}
