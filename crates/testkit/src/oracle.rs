//! Oracles: the independent ways in which a test of a program can be run and judged.
//!
//! The parties are the interpreter, which evaluates every label's predicate on the states that it
//! passes ([`Subject::coverage_interpreter`]), the natively compiled and instrumented program
//! ([`Subject::measurer`]), the symbolic engine ([`Subject::explore`]) and the local prover
//! ([`Subject::proved_infeasible`]). They share the front end, so a fault there is seen only by a
//! native run that is compiled from the text itself.

use std::path::Path;
use std::time::Duration;

use lydian_base::{Budget, CancelToken, Rng, Severity, SourceMap};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest};
use lydian_inputs::{InputSpec, Settings, prepare};
use lydian_ir::arith::Overflow;
use lydian_ir::link::{LinkUnit, Role, link};
use lydian_ir::test::{INPUT_REGION, Image, ImagePointer, PointerTarget, Test, TestObject};
use lydian_ir::{CType, FuncId, Program};
use lydian_native::{Companion, Limits, MeasureRequest, Measurer, Optimization, RewriteRequest};
use lydian_objective::{
    Annotators, CoverageInterpreter, Criterion, FunctionObjectives, LabelId, Request,
};
use lydian_prove::local::{LocalOutcome, LocalProver, Semantics};
use lydian_smt::{ChainConfig, TermPool, standard_chain};
use lydian_symex::{Config, FoundTest, Summary, Task, Workers};
use lydian_symex::{Event, ExploreError, Unreached};

/// A C text, or those of several files, read and annotated.
pub struct Subject {
    /// The program.
    pub program: Program,
    /// Its text, or one text after the other.
    pub map: SourceMap,
    /// Where the text of each file begins; empty where there is one.
    pub starts: Vec<u32>,
    /// The other files.
    companions: Vec<Companion>,
    /// The labels of functions in other files that the objectives name.
    further: Vec<FunctionObjectives>,
    /// The objectives of every function with a body, in the program's order.
    pub objectives: Vec<FunctionObjectives>,
    /// The functions of `objectives`.
    pub functions: Vec<FuncId>,
    /// Whether conditions that evaluation does not reach are unknown.
    pub short_circuit: bool,
}

/// The result of an exploration.
pub struct ExplorationResult {
    /// Its tests, in the order of their finding.
    pub tests: Vec<FoundTest>,
    /// Its summary.
    pub summary: Summary,
}

impl Subject {
    /// Reads a C text and makes the objectives of all its functions. Panics where it is rejected:
    /// generated programs are valid.
    pub fn read(text: &str, criteria: &[Criterion], short_circuit: bool) -> Self {
        Self::read_with(text, &Request { short_circuit, ..Request::new(criteria) })
    }

    /// The same with all that a request can say.
    pub fn read_with(text: &str, request: &Request) -> Self {
        Self::read_asking(text, |_, _| request.clone())
    }

    /// The same with a request that is made for the program.
    pub fn read_asking(text: &str, ask: impl FnOnce(&Program, &SourceMap) -> Request) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let file = folder.path().join("subject.c");
        std::fs::write(&file, text).expect("a temporary file can be written");
        Self::load(&file, ask)
    }

    fn load(file: &Path, ask: impl FnOnce(&Program, &SourceMap) -> Request) -> Self {
        let request = LoadRequest::new(ParseRequest::new(file, CompileFlags::default()));
        let unit = lydian_frontend::load(&request).unwrap_or_else(|error| panic!("{error}"));
        assert!(unit.diagnostics.is_empty(), "{:?}", unit.diagnostics);
        let mut program = unit.program;
        prepare(&mut program);
        let functions: Vec<FuncId> = program.defined().map(|(id, _)| id).collect();
        let request = ask(&program, &unit.source);
        let short_circuit = request.short_circuit;
        let annotators = Annotators::new(&program, &unit.source, &request);
        let objectives = functions.iter().map(|id| {
            let annotation = annotators.function(*id).expect("the function has a body");
            let wrong = annotation.diagnostics.iter().find(|d| d.severity == Severity::Error);
            assert!(wrong.is_none(), "{wrong:?}");
            annotation.objectives
        });
        let objectives: Vec<FunctionObjectives> = objectives.collect();
        let (starts, companions, further) = Default::default();
        let map = unit.source;
        Self { program, map, starts, companions, further, objectives, functions, short_circuit }
    }

    /// Reads the files of one program and makes the objectives of the functions of the first.
    pub fn read_files(texts: &[String], request: &Request) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        let units = texts.iter().enumerate().map(|(number, text)| {
            let file = folder.path().join(format!("subject{number}.c"));
            std::fs::write(&file, text).expect("a temporary file can be written");
            let request = LoadRequest::new(ParseRequest::new(&file, CompileFlags::default()));
            let unit = lydian_frontend::load(&request).unwrap_or_else(|error| panic!("{error}"));
            let role = if number == 0 { Role::Part } else { Role::Companion };
            let name = format!("subject{number}.c");
            LinkUnit { name, program: unit.program, source: unit.source, role }
        });
        let units: Vec<LinkUnit> = units.collect();
        let companions = units[1..].iter().map(|unit| Companion {
            text: unit.source.text().to_string(),
            declarations: lydian_native::implicit_declarations(&unit.program),
            flags: Vec::new(),
        });
        let companions = companions.collect();
        let linked = link(units).unwrap_or_else(|error| panic!("{error}"));
        let (mut program, map, starts) = (linked.program, linked.source, linked.starts);
        prepare(&mut program);
        let is_first = |id: &FuncId| program.functions[*id].span.start < starts[1];
        let defined = program.defined().map(|(id, _)| id);
        let (functions, others): (Vec<FuncId>, Vec<FuncId>) = defined.partition(is_first);
        let annotators = Annotators::new(&program, &map, request).of_units(&map, &starts);
        let annotated = |id: &FuncId| annotators.function(*id).expect("it has a body").objectives;
        let objectives = functions.iter().map(annotated).collect();
        let further = others.iter().map(|id| annotators.labels_for_others(*id));
        let further = further.map(|of| of.expect("it has a body")).collect();
        let short_circuit = request.short_circuit;
        Self { program, map, starts, companions, further, objectives, functions, short_circuit }
    }

    /// The objectives, then the labels of functions in other files that they name.
    pub fn with_further(&self) -> Vec<FunctionObjectives> {
        [self.objectives.clone(), self.further.clone()].concat()
    }

    /// Compiles the instrumented text; `level` as for the command line.
    pub fn measurer(&self, level: Optimization) -> Measurer<'_> {
        let request = MeasureRequest {
            rewrite: RewriteRequest {
                map: &self.map,
                starts: &self.starts,
                program: &self.program,
                watched: &self.objectives,
                short_circuit: self.short_circuit,
                overflow_traps: false,
                purpose: lydian_native::Purpose::Tests,
                leaves_out: level != Optimization::None,
                counts: false,
                any_order: false,
                flows: None,
            },
            companions: &self.companions,
            flags: &[],
            entries: &self.functions,
            modelled: &|name: &str| lydian_ir::libc::model_named(name).is_some(),
            level,
            compiler: "clang-19",
        };
        let limits = Limits { test: Duration::from_secs(2), ..Limits::default() };
        Measurer::new(request, limits).unwrap_or_else(|error| panic!("{error}"))
    }

    /// The objectives, ready to be watched in runs of the interpreter.
    pub fn coverage_interpreter(&self) -> CoverageInterpreter<'_> {
        CoverageInterpreter::new(&self.program, &self.objectives, self.short_circuit)
    }

    /// Explores one function, with its own labels and those of all others, under these settings.
    pub fn explore(
        &self,
        func: FuncId,
        settings: &str,
        config: &Config,
        time: Duration,
    ) -> ExplorationResult {
        let mut solver = standard_chain(&ChainConfig::default());
        self.explore_by(func, settings, config, time, |task, sink| task.run(&mut *solver, sink))
    }

    /// The same as [`Self::explore`] by several workers, who help each other from the beginning.
    pub fn explore_with(
        &self,
        func: FuncId,
        settings: &str,
        config: &Config,
        time: Duration,
        workers: usize,
    ) -> ExplorationResult {
        let solver = || standard_chain(&ChainConfig::default());
        let workers = Workers::new(workers, &solver).eager();
        self.explore_by(func, settings, config, time, |task, sink| task.run_among(&workers, sink))
    }

    fn explore_by(
        &self,
        func: FuncId,
        settings: &str,
        config: &Config,
        time: Duration,
        run: impl FnOnce(&Task<'_>, &mut dyn FnMut(Event)) -> Result<Summary, ExploreError>,
    ) -> ExplorationResult {
        let settings = Settings::from_toml_str(settings).expect("the settings are valid");
        let spec = InputSpec::new(&self.program, settings);
        let budget = Budget::start(Some(time), CancelToken::new());
        let config = self.with_semantics(config);
        let task = Task {
            program: &self.program,
            func,
            spec: &spec,
            objectives: &self.objectives,
            known: &[],
            config: &config,
            budget: &budget,
        };
        let mut tests = Vec::new();
        let mut sink = |event: Event| {
            if let Event::Test(found) = event {
                tests.push(*found);
            }
        };
        let summary = run(&task, &mut sink).unwrap_or_else(|error| panic!("{error}"));
        ExplorationResult { tests, summary }
    }

    /// The configuration with this subject's semantics of conditions that are not reached.
    fn with_semantics(&self, config: &Config) -> Config {
        let unreached = match self.short_circuit {
            true => Unreached::Unknown,
            false => Unreached::Evaluated,
        };
        Config { unreached, ..config.clone() }
    }

    /// The labels of the function at `index` that the local prover proves infeasible, within `time`;
    /// labels after that are not tried.
    pub fn proved_infeasible(&self, index: usize, time: Duration) -> Vec<LabelId> {
        self.proved_with(index, time, |prover| prover.with_ranges(&self.program))
    }

    /// The same under the assumption that parameters, given by position, point to the first element of
    /// an object, and only for labels whose proofs need it.
    pub fn proved_assuming_starts(
        &self,
        index: usize,
        time: Duration,
        parameters: &[usize],
    ) -> Vec<LabelId> {
        self.proved_with(index, time, |prover| {
            prover.with_ranges(&self.program).assuming_starts(parameters)
        })
    }

    /// The same under the assumption that the objects that parameters point to are small
    /// (`lydian_prove::ranges::ObjectSizes::Small`).
    pub fn proved_assuming_small_objects(&self, index: usize, time: Duration) -> Vec<LabelId> {
        self.proved_with(index, time, |prover| prover.assuming_small_objects(&self.program))
    }

    fn proved_with<'a>(
        &'a self,
        index: usize,
        time: Duration,
        equip: impl FnOnce(LocalProver<'a>) -> LocalProver<'a>,
    ) -> Vec<LabelId> {
        let objectives = &self.objectives[index];
        let body = self.program.functions[objectives.function].body.as_ref();
        let body = body.expect("functions with objectives have bodies");
        let semantics = Semantics { overflow: Overflow::Wrap, short_circuit: self.short_circuit };
        let prover = LocalProver::new(&self.program.types, body, objectives, semantics);
        let mut prover = equip(prover);
        let (mut pool, mut solver) = (TermPool::new(), standard_chain(&ChainConfig::default()));
        // Conflicts, not time, so that proofs do not depend on the load of the machine.
        let limits =
            lydian_smt::Limits { conflicts: Some(2_000), ..lydian_smt::Limits::time(time) };
        let budget = Budget::start(Some(time), CancelToken::new());
        let mut proved = Vec::new();
        for (id, label) in objectives.labels.iter() {
            if budget.exceeded().is_some() {
                break;
            }
            let outcome = prover.prove(&mut pool, &mut *solver, &limits, label);
            if matches!(outcome, LocalOutcome::Infeasible) {
                proved.push(id);
            }
        }
        proved
    }

    /// A label in words, for a failure's message.
    pub fn describe(&self, index: usize, label: LabelId) -> String {
        let objectives = &self.objectives[index];
        let name = &self.program.functions[objectives.function].name;
        let label = &objectives.labels[label];
        format!("{name} at {}: {} ({:?})", label.place, label.text, label.site)
    }

    /// A random call of a function. Pointers to integers get an array of `length` elements of
    /// their own; numbers are small, at a limit of their type, or anything.
    pub fn random_test(&self, func: FuncId, length: u64, rng: &mut Rng) -> Test {
        let function = &self.program.functions[func];
        let types = &self.program.types;
        let CType::Function { params, .. } = types.get(function.ty) else {
            panic!("{} has the type of a function", function.name)
        };
        let mut objects: Vec<TestObject> = Vec::new();
        let mut args = Vec::new();
        for (index, ty) in params.iter().enumerate() {
            let size = types.size(*ty).expect("parameters have sizes") as usize;
            let CType::Pointer { pointee, .. } = types.get(*ty) else {
                args.push(plain(random_bytes(size, is_bool(types.get(*ty)), rng)));
                continue;
            };
            let element = types.size(*pointee).expect("what is pointed to has a size");
            let bytes = (0..length).flat_map(|_| random_bytes(element as usize, false, rng));
            let target = PointerTarget::Object(objects.len() as u32, 0);
            args.push(Image {
                bytes: vec![0; 8],
                pointers: vec![ImagePointer { offset: 0, target }],
            });
            objects.push(TestObject {
                name: function.param_names.get(index).cloned().unwrap_or_default(),
                address: INPUT_REGION + 0x1000 * objects.len() as u64,
                ty: *pointee,
                count: length,
                align: types.align(*pointee),
                image: plain(bytes.collect()),
                read_only: false,
            });
        }
        let function = function.name.clone();
        Test { objects, ..Test::calling(function, args) }
    }
}

fn is_bool(ty: &CType) -> bool {
    matches!(ty, CType::Int { kind: lydian_ir::IntKind::Bool, .. })
}

fn plain(bytes: Vec<u8>) -> Image {
    Image { bytes, pointers: Vec::new() }
}

/// Bytes of a number: small, at a limit, or anything.
fn random_bytes(size: usize, boolean: bool, rng: &mut Rng) -> Vec<u8> {
    let value = match rng.below(4) {
        _ if boolean => rng.below(2),
        0 => rng.below(16).wrapping_sub(4),
        1 => {
            let limits = [0, 1, u64::MAX, 1 << (8 * size - 1), (1 << (8 * size - 1)) - 1, 255];
            limits[rng.below(limits.len() as u64) as usize]
        }
        2 => rng.below(700).wrapping_sub(100),
        _ => rng.next_u64(),
    };
    value.to_le_bytes()[..size].to_vec()
}

/// Changes one number of a test a little, so that inputs near those that an engine found are tried.
pub fn disturb(program: &Program, test: &mut Test, rng: &mut Rng) {
    let func = program.function_named(&test.function).expect("the test is the program's");
    let ty = program.types.get(program.functions[func].ty);
    let CType::Function { params, .. } = ty else { return };
    let booleans: Vec<bool> = params.iter().map(|ty| is_bool(program.types.get(*ty))).collect();
    let numbers = |image: &Image| image.pointers.is_empty() && !image.bytes.is_empty();
    let candidates: Vec<usize> =
        (0..test.args.len()).filter(|at| numbers(&test.args[*at])).collect();
    let objects = test.objects.len();
    let calls = test.externals.iter_mut().flat_map(|call| {
        std::iter::once(&mut call.result)
            .chain(call.writes.iter_mut().map(|write| &mut write.image))
    });
    let mut given: Vec<&mut Image> = calls.filter(|image| numbers(image)).collect();
    let choice = rng.below((candidates.len() + objects + given.len()) as u64) as usize;
    let (bytes, boolean) = match candidates.get(choice) {
        Some(at) => (&mut test.args[*at].bytes[..], booleans.get(*at).copied().unwrap_or(false)),
        None if choice >= candidates.len() + objects => {
            let bytes = &mut given[choice - candidates.len() - objects].bytes;
            let size = bytes.len().min(1 << rng.below(4));
            let at = rng.below((bytes.len() - size + 1) as u64) as usize;
            (&mut bytes[at..at + size], false)
        }
        None => {
            let bytes = &mut test.objects[choice - candidates.len()].image.bytes;
            let at = 4 * rng.below((bytes.len() / 4) as u64) as usize;
            (&mut bytes[at..at + 4], false)
        }
    };
    if boolean {
        bytes[0] ^= 1;
        return;
    }
    let mut value = [0; 8];
    value[..bytes.len()].copy_from_slice(bytes);
    let value = u64::from_le_bytes(value);
    let value = match rng.below(4) {
        0 => value.wrapping_add(1),
        1 => value.wrapping_sub(1),
        2 => value ^ 1 << rng.below(8 * bytes.len() as u64),
        _ => value.wrapping_neg(),
    };
    let size = bytes.len();
    bytes.copy_from_slice(&value.to_le_bytes()[..size]);
}

/// The seeds of a test: those of the environment's `LYDIAN_SEEDS`, like `0..100`, or the usual ones.
pub fn seeds(usual: std::ops::Range<u64>) -> std::ops::Range<u64> {
    let Ok(text) = std::env::var("LYDIAN_SEEDS") else { return usual };
    let parsed = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    parsed.unwrap_or_else(|| panic!("LYDIAN_SEEDS is {text}, and not like 0..100"))
}
