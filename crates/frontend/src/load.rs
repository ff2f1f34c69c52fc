//! From a source file to a program: the front end as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use lydian_base::{Diagnostic, SourceMap};
use lydian_ir::source::WrittenLine;
use lydian_ir::{FuncId, Program};

use crate::flags::CompileFlags;
use crate::lower::{LoweredUnit, LoweringOptions, UnsupportedConstruct, lower};
use crate::parse::{FrontendError, ParseRequest, ParsedUnit, parse_unit};
use crate::preprocess::SelfRunningAttributes;

/// A request to load a source file.
#[derive(Clone, Debug)]
pub struct LoadRequest {
    /// The source file, and how to parse it.
    pub parse: ParseRequest,
    /// How to lower it.
    pub lowering: LoweringOptions,
}

impl LoadRequest {
    /// A request to load what `parse` names, with the default options.
    pub fn new(parse: ParseRequest) -> Self {
        Self { parse, lowering: LoweringOptions::default() }
    }
}

/// A translation unit, ready for every engine.
#[derive(Clone, Debug)]
pub struct Unit {
    /// The program.
    pub program: Program,
    /// The preprocessed text that all spans are ranges of, and the way back to the user's files.
    pub source: SourceMap,
    /// The flags in use, without those that clang does not know.
    pub flags: CompileFlags,
    /// What was left out and why, in the order of its finding: flags, label comments, constructs
    /// that are not supported, ill-formed objectives.
    pub diagnostics: Vec<Diagnostic>,
    /// The functions whose bodies are outlines, if these were asked for, each with what is not in it.
    pub outlines: BTreeMap<FuncId, Vec<UnsupportedConstruct>>,
    /// The functions without a body though they are defined, each with the reason.
    pub left_out: BTreeMap<FuncId, UnsupportedConstruct>,
    /// The functions that access volatile bit-fields, structs or unions.
    pub volatile_parts: BTreeSet<FuncId>,
    /// The lines of comments in which the user writes hyperlabels.
    pub written: Vec<WrittenLine>,
    /// Whether C took the place of assembly that is not this machine's.
    pub had_foreign_assembly: bool,
    /// The attributes of functions that ran by themselves and are plain functions now.
    pub self_running: SelfRunningAttributes,
}

/// Loads one source file. Runs clang; see [`parse_unit`].
///
/// # Errors
/// The file, the flags, clang or the program itself; not a construct that is not supported, which
/// is a diagnostic.
pub fn load(request: &LoadRequest) -> Result<Unit, FrontendError> {
    let begun = Instant::now();
    let parsed = parse_unit(&request.parse)?;
    let parsing = begun.elapsed();
    let mut lowered = lower(&parsed.ast, &parsed.source, request.lowering);
    let mut diagnostics = parsed.diagnostics;
    diagnostics.append(&mut lowered.diagnostics);
    let LoweredUnit { program, outlines, left_out, volatile_parts, .. } = lowered;
    let ParsedUnit { source, flags, written, had_foreign_assembly, self_running, .. } = parsed;
    log::info!(
        "loaded {}: {} functions with bodies, {} bytes of text; parsed in {parsing:.1?}, lowered in {:.1?}",
        request.parse.source.display(),
        program.defined().count(),
        source.text().len(),
        begun.elapsed() - parsing
    );
    Ok(Unit {
        program,
        source,
        flags,
        diagnostics,
        outlines,
        left_out,
        volatile_parts,
        written,
        had_foreign_assembly,
        self_running,
    })
}

/// Loads several source files at once, as many at a time as there are processors. The results are in
/// the order of the requests.
pub fn load_all(requests: &[LoadRequest]) -> Vec<Result<Unit, FrontendError>> {
    let slots: Vec<Mutex<Option<_>>> = requests.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some(index) = Some(next.fetch_add(1, Ordering::Relaxed))
            && let (Some(request), Some(slot)) = (requests.get(index), slots.get(index))
        {
            let loaded = load(request);
            *slot.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(loaded);
        }
    };
    let workers = std::thread::available_parallelism().map_or(1, |count| count.get());
    std::thread::scope(|scope| {
        for _ in 1..workers.min(requests.len()) {
            scope.spawn(work);
        }
        work();
    });
    let filled = slots.into_iter().map(|slot| {
        let loaded = slot.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
        loaded.expect("every request is taken by a worker")
    });
    filled.collect()
}
