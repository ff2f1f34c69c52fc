//! Enumeration of every input of a bounded domain, for functions of [`crate::pointers`]: no engine may
//! call an objective infeasible that one of these inputs covers.
//!
//! # The domain
//! There are an array of two numbers, a pair, a pointer to a number, a row of two such pointers, and
//! two nodes. A pointer of the inputs is null or points to each of these, or into it, as far as its
//! type allows: to the elements of the array and one past its end, to those of the row, to the members
//! of the pair and of the nodes, to the globals. So parameters alias in every way, and lists have up to
//! two nodes and may be cyclic. A number is -1, 0, 1, 2 or 3. Each allocation fails or not. A static
//! local has its first value, and those that calls with inputs of the domain leave.
//!
//! Only objects that are reachable from the parameters, and globals that the function's text names, are
//! chosen. A function with more inputs than the limit gets a sample, whose results are still true. Runs
//! are the interpreter's, and count until they have undefined behaviour.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lydian_base::Rng;
use lydian_ir::interp::{End, Options};
use lydian_ir::test::{
    ExternalResult, GlobalInput, INPUT_REGION, Image, ImagePointer, PointerTarget, Test, TestObject,
};
use lydian_ir::{CType, CTypeId, FuncId, Program};
use lydian_objective::{CoverageInterpreter, Criterion, LabelId};
use lydian_symex::Config;

use crate::oracle::Subject;
use crate::pointers;

/// The numbers of the domain.
const NUMBERS: [i32; 5] = [-1, 0, 1, 2, 3];

/// A property of an input. Engines may promise less for inputs with some of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trait {
    /// Two pointers to one object, or into it.
    Alias,
    /// A pointer to an element but the first, or one past the end.
    InsideArray,
    /// A pointer to a member of a struct.
    Member,
    /// A pointer to a global.
    ToGlobal,
    /// A node that is reached from itself.
    Cycle,
    /// A global that does not have its first value.
    Global,
    /// A static local that does not have its first value.
    Static,
    /// An allocation that fails.
    NoMemory,
    /// A null pointer.
    Null,
}

/// An input that covers an objective, with its properties.
#[derive(Clone, Debug)]
pub struct Covering {
    /// The input.
    pub test: Test,
    /// Its properties: of all inputs that cover the objective, one with the fewest.
    pub traits: BTreeSet<Trait>,
}

/// The coverage of all inputs of a function.
#[derive(Debug, Default)]
pub struct InputCoverage {
    /// By label.
    pub covered: BTreeMap<LabelId, Covering>,
    /// The number of inputs that ran.
    pub inputs: u64,
    /// Whether these are all of the domain.
    pub exhaustive: bool,
}

/// Runs all inputs of a function, at most `limit` for each value of its static locals, that have none
/// of the traits `without`.
pub fn enumerate(
    subject: &Subject,
    coverage_interpreter: &CoverageInterpreter<'_>,
    func: FuncId,
    limit: u64,
    without: &[Trait],
) -> InputCoverage {
    let mut enumeration = Enumeration::new(subject, coverage_interpreter, func, limit, without);
    enumeration.run();
    enumeration.found
}

/// A sequence of choices: each choice has a number of alternatives, and the next run takes the next
/// alternative of the last choice that has one.
#[derive(Default)]
struct Choices {
    taken: Vec<(u64, u64)>,
    at: usize,
    /// In a sample each alternative is random.
    random: Option<Rng>,
}

impl Choices {
    /// One of `ways` numbers, from 0.
    fn choose(&mut self, ways: usize) -> usize {
        let ways = ways as u64;
        if let Some(rng) = &mut self.random {
            return rng.below(ways) as usize;
        }
        if self.at == self.taken.len() {
            self.taken.push((0, ways));
        }
        self.at += 1;
        self.taken[self.at - 1].0 as usize
    }

    /// Turns to the next input; false after the last one.
    fn advance(&mut self) -> bool {
        self.at = 0;
        if self.random.is_some() {
            return true;
        }
        while let Some((way, ways)) = self.taken.pop() {
            if way + 1 < ways {
                self.taken.push((way + 1, ways));
                return true;
            }
        }
        false
    }
}

/// An object of the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Object {
    Array,
    Pair,
    Pointer,
    Row,
    FirstNode,
    SecondNode,
}

impl Object {
    const ALL: [Self; 6] =
        [Self::Array, Self::Pair, Self::Pointer, Self::Row, Self::FirstNode, Self::SecondNode];

    const fn size(self) -> usize {
        match self {
            Self::Array | Self::Pair | Self::Pointer => 8,
            Self::Row | Self::FirstNode | Self::SecondNode => 16,
        }
    }
}

/// The target of a pointer of the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PointeeChoice {
    Null,
    In(Object, u64),
    Global(&'static str),
}

/// The possible targets of a pointer of a type.
fn targets(pointee: &CType, name: &str) -> Vec<PointeeChoice> {
    use Object::{Array, FirstNode, Pair, Pointer, Row, SecondNode};
    let objects: &[(Object, u64)] = match pointee {
        CType::Int { .. } => &[
            (Array, 0),
            (Array, 4),
            (Array, 8),
            (Pair, 0),
            (Pair, 4),
            (FirstNode, 0),
            (SecondNode, 0),
        ],
        CType::Pointer { .. } => &[(Pointer, 0), (Row, 0), (Row, 8)],
        CType::Record(_) if name == "struct pair" => &[(Pair, 0)],
        CType::Record(_) => &[(FirstNode, 0), (SecondNode, 0)],
        other => unreachable!("no parameter points to {other:?}"),
    };
    let globals: &[&'static str] = match pointee {
        CType::Int { .. } => &["g"],
        CType::Pointer { .. } => &["gp"],
        _ => &[],
    };
    let objects = objects.iter().map(|(object, offset)| PointeeChoice::In(*object, *offset));
    let globals = globals.iter().map(|name| PointeeChoice::Global(name));
    std::iter::once(PointeeChoice::Null).chain(objects).chain(globals).collect()
}

struct Enumeration<'a> {
    program: &'a Program,
    coverage_interpreter: &'a CoverageInterpreter<'a>,
    func: FuncId,
    index: usize,
    limit: u64,
    without: &'a [Trait],
    /// The globals that the function's text names.
    globals: Vec<&'static str>,
    allocates: bool,
    static_local: Option<String>,
    found: InputCoverage,
}

/// An input in the making.
#[derive(Default)]
struct Input {
    images: BTreeMap<Object, Image>,
    globals: BTreeMap<&'static str, Image>,
    /// Objects and globals whose contents are to be chosen.
    pending: Vec<PointeeChoice>,
    pointed: Vec<PointeeChoice>,
    traits: BTreeSet<Trait>,
}

impl<'a> Enumeration<'a> {
    fn new(
        subject: &'a Subject,
        coverage_interpreter: &'a CoverageInterpreter<'a>,
        func: FuncId,
        limit: u64,
        without: &'a [Trait],
    ) -> Self {
        let program = &subject.program;
        let function = &program.functions[func];
        let index = subject.functions.iter().position(|id| *id == func);
        let span = function.span;
        let text = &subject.map.text()[span.start as usize..span.end as usize];
        let words: Vec<&str> = text.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
        let named = |name: &&'static str| words.contains(name);
        let static_local = format!("{}.calls", function.name);
        let has_it = program.globals.iter().any(|(_, global)| global.name == static_local);
        Self {
            program,
            coverage_interpreter,
            func,
            index: index.expect("the function is the subject's"),
            limit,
            without,
            globals: ["g", "gp", "head"].into_iter().filter(named).collect(),
            allocates: words.contains(&"malloc"),
            static_local: has_it.then_some(static_local),
            found: InputCoverage { exhaustive: true, ..InputCoverage::default() },
        }
    }

    /// Runs all inputs, with each value that earlier calls may give the static local.
    fn run(&mut self) {
        let (mut known, mut waiting) = (BTreeSet::from([0]), vec![0]);
        while let Some(value) = waiting.pop() {
            for left in self.run_with(value) {
                if NUMBERS.contains(&left) && known.insert(left) && !self.excludes(Trait::Static) {
                    waiting.push(left);
                }
            }
        }
    }

    fn excludes(&self, special: Trait) -> bool {
        self.without.contains(&special)
    }

    /// Runs all inputs with one value of the static local. Returns the values that it has afterwards.
    fn run_with(&mut self, static_value: i32) -> BTreeSet<i32> {
        let mut left = BTreeSet::new();
        let mut choices = Choices::default();
        let (mut tried, mut drawn) = (0, 0);
        loop {
            let (test, traits) = self.input(&mut choices, static_value);
            if !traits.iter().any(|special| self.excludes(*special)) {
                left.extend(self.judge(test, traits));
            }
            tried += 1;
            if choices.random.is_some() {
                drawn += 1;
            } else if tried == self.limit / 2 {
                // The rest of the limit is a sample of the whole.
                choices = Choices { random: Some(Rng::new(self.limit)), ..Choices::default() };
                self.found.exhaustive = false;
            }
            if drawn * 2 > self.limit || !choices.advance() {
                return left;
            }
        }
    }

    /// Runs an input and keeps its coverage. Returns the value that it leaves in the static local.
    fn judge(&mut self, test: Test, traits: BTreeSet<Trait>) -> Option<i32> {
        self.found.inputs += 1;
        let options = Options { max_steps: 10_000, ..Options::default() };
        let run =
            self.coverage_interpreter.run(&test, &options).expect("the input suits the function");
        for label in &run.covered[self.index] {
            let better = |known: &Covering| known.traits.len() > traits.len();
            if self.found.covered.get(label).is_none_or(better) {
                let covering = Covering { test: test.clone(), traits: traits.clone() };
                self.found.covered.insert(*label, covering);
            }
        }
        let returned = run.outcome.end == End::Returned && run.outcome.uninitialised.is_none();
        let name = self.static_local.as_ref().filter(|_| returned)?;
        let (id, _) = self.program.globals.iter().find(|(_, global)| global.name == *name)?;
        Some(i32::from_le_bytes(run.outcome.global(id).try_into().ok()?))
    }

    /// The next input.
    fn input(&self, choices: &mut Choices, static_value: i32) -> (Test, BTreeSet<Trait>) {
        let function = &self.program.functions[self.func];
        let CType::Function { params, .. } = self.program.types.get(function.ty) else {
            unreachable!("a function has the type of one")
        };
        let mut input = Input::default();
        let args = params.iter().map(|ty| self.value(*ty, choices, &mut input)).collect();
        for name in &self.globals {
            self.global(name, choices, &mut input);
        }
        while let Some(target) = input.pending.pop() {
            match target {
                PointeeChoice::In(object, _) => self.fill(object, choices, &mut input),
                PointeeChoice::Global(name) => self.global(name, choices, &mut input),
                PointeeChoice::Null => {}
            }
        }
        let mut test = Test::calling(function.name.clone(), args);
        if self.allocates {
            let fails = choices.choose(2) == 1;
            let result = Image { bytes: vec![u8::from(!fails)], pointers: Vec::new() };
            test.externals.push(ExternalResult::new("malloc", result));
            if fails {
                input.traits.insert(Trait::NoMemory);
            }
        }
        if let Some(name) = self.static_local.as_ref().filter(|_| static_value != 0) {
            test.globals.push(GlobalInput { name: name.clone(), image: number(static_value) });
            input.traits.insert(Trait::Static);
        }
        self.finish(input, test)
    }

    /// A number or a pointer of the domain.
    fn value(&self, ty: CTypeId, choices: &mut Choices, input: &mut Input) -> Image {
        let types = &self.program.types;
        let CType::Pointer { pointee, .. } = types.get(ty) else {
            return number(NUMBERS[choices.choose(NUMBERS.len())]);
        };
        let name = match types.get(*pointee) {
            CType::Record(id) => types.records[*id].name.as_str(),
            _ => "",
        };
        let targets = targets(types.get(*pointee), name);
        let target = targets[choices.choose(targets.len())];
        input.pointed.push(target);
        input.pending.push(target);
        note(target, types.get(*pointee), input);
        pointer(target)
    }

    /// Chooses the contents of a global, once.
    fn global(&self, name: &'static str, choices: &mut Choices, input: &mut Input) {
        if input.globals.contains_key(name) {
            return;
        }
        // Cut the circle of a global pointer that points to itself.
        input.globals.insert(name, Image::default());
        let mut globals = self.program.globals.iter();
        let found = globals.find(|(_, global)| global.name == name);
        let image = self.value(found.expect("the text has it").1.ty, choices, input);
        if !image.pointers.is_empty() || image.bytes.iter().any(|byte| *byte != 0) {
            input.traits.insert(Trait::Global);
        }
        input.globals.insert(name, image);
    }

    /// Chooses the contents of an object, once.
    fn fill(&self, object: Object, choices: &mut Choices, input: &mut Input) {
        if input.images.contains_key(&object) {
            return;
        }
        input.images.insert(object, Image::default());
        let mut image = Image { bytes: vec![0; object.size()], pointers: Vec::new() };
        for (offset, ty) in self.cells(object) {
            let value = self.value(ty, choices, input);
            let at = offset as usize;
            image.bytes[at..at + value.bytes.len()].copy_from_slice(&value.bytes);
            let moved = value.pointers.into_iter().map(|p| ImagePointer { offset, ..p });
            image.pointers.extend(moved);
        }
        input.images.insert(object, image);
    }

    /// The numbers and pointers of an object, by offset.
    fn cells(&self, object: Object) -> Vec<(u64, CTypeId)> {
        let types = &self.program.types;
        let record = |name: &str| {
            let mut records = types.records.iter();
            let (_, found) = records.find(|(_, record)| record.name == name).expect("it has it");
            found.fields.iter().map(|field| (field.bit_offset / 8, field.ty)).collect()
        };
        let global = |name: &str| {
            let mut globals = self.program.globals.iter();
            globals.find(|(_, global)| global.name == name).expect("it has it").1.ty
        };
        match object {
            Object::Array => vec![(0, global("g")), (4, global("g"))],
            Object::Pointer => vec![(0, global("gp"))],
            Object::Row => vec![(0, global("gp")), (8, global("gp"))],
            Object::Pair => record("struct pair"),
            Object::FirstNode | Object::SecondNode => record("struct node"),
        }
    }

    /// Adds the objects and globals to the test, with their joint properties.
    fn finish(&self, input: Input, mut test: Test) -> (Test, BTreeSet<Trait>) {
        let Input { mut images, globals, pointed, mut traits, .. } = input;
        let mut seen = BTreeSet::new();
        for target in &pointed {
            let object = match target {
                PointeeChoice::In(object, _) => Some(*object as usize),
                PointeeChoice::Global(name) => Some(100 + name.len()),
                PointeeChoice::Null => None,
            };
            if object.is_some_and(|object| !seen.insert(object)) {
                traits.insert(Trait::Alias);
            }
        }
        if is_cyclic(&images) {
            traits.insert(Trait::Cycle);
        }
        for (number, object) in Object::ALL.into_iter().enumerate() {
            let nothing = Image { bytes: vec![0; object.size()], pointers: Vec::new() };
            let image = images.remove(&object).unwrap_or(nothing);
            test.objects.push(self.object(number, object, image));
        }
        let named = globals.into_iter();
        test.globals
            .extend(named.map(|(name, image)| GlobalInput { name: name.to_owned(), image }));
        (test, traits)
    }

    fn object(&self, number: usize, object: Object, image: Image) -> TestObject {
        let types = &self.program.types;
        let record = |name: &str| {
            let (id, _) =
                types.records.iter().find(|(_, record)| record.name == name).expect("it has it");
            let mut all = types.iter();
            all.find(|(_, ty)| **ty == CType::Record(id)).expect("the record has a type").0
        };
        let global = |name: &str| {
            let mut globals = self.program.globals.iter();
            globals.find(|(_, global)| global.name == name).expect("it has it").1.ty
        };
        let (ty, count) = match object {
            Object::Array => (global("g"), 2),
            Object::Pair => (record("struct pair"), 1),
            Object::Pointer => (global("gp"), 1),
            Object::Row => (global("gp"), 2),
            Object::FirstNode | Object::SecondNode => (record("struct node"), 1),
        };
        TestObject {
            name: format!("{object:?}"),
            address: INPUT_REGION + 0x1000 * number as u64,
            ty,
            count,
            align: 16,
            image,
            read_only: false,
        }
    }
}

/// Notes the properties of a pointer.
fn note(target: PointeeChoice, pointee: &CType, input: &mut Input) {
    let special = match target {
        PointeeChoice::Null => Trait::Null,
        PointeeChoice::Global(_) => Trait::ToGlobal,
        PointeeChoice::In(Object::Array | Object::Row, offset) if offset > 0 => Trait::InsideArray,
        PointeeChoice::In(Object::Array | Object::Pointer | Object::Row, _) => return,
        PointeeChoice::In(..) if matches!(pointee, CType::Int { .. }) => Trait::Member,
        PointeeChoice::In(..) => return,
    };
    input.traits.insert(special);
}

/// Whether a node is reached from itself.
fn is_cyclic(images: &BTreeMap<Object, Image>) -> bool {
    let next = |object: Object| {
        let image = images.get(&object)?;
        let pointer = image.pointers.first()?;
        match pointer.target {
            PointerTarget::Object(number, _) => Some(Object::ALL[number as usize]),
            _ => None,
        }
    };
    let nodes = [Object::FirstNode, Object::SecondNode];
    nodes.into_iter().any(|node| {
        let first = next(node);
        first == Some(node) || first.and_then(next) == Some(node)
    })
}

fn number(value: i32) -> Image {
    Image { bytes: value.to_le_bytes().to_vec(), pointers: Vec::new() }
}

fn pointer(target: PointeeChoice) -> Image {
    let target = match target {
        PointeeChoice::Null => None,
        PointeeChoice::In(object, offset) => Some(PointerTarget::Object(object as u32, offset)),
        PointeeChoice::Global(name) => Some(PointerTarget::Global(name.to_owned(), 0)),
    };
    let pointers = target.map(|target| ImagePointer { offset: 0, target }).into_iter().collect();
    Image { bytes: vec![0; 8], pointers }
}

/// The engines that [`judge`] names: exploration that is complete, the same under assumptions that it
/// states, and local proofs.
pub const EXPLORATION: &str = "exploration";
/// See [`EXPLORATION`].
pub const ASSUMING: &str = "exploration under assumptions";
/// See [`EXPLORATION`].
pub const LOCAL_PROOF: &str = "a local proof";

/// The result for one random function.
#[derive(Debug)]
pub struct FunctionJudgement {
    /// Its text, [`pointers::HEAD`] included.
    pub text: String,
    /// The coverage of its inputs.
    pub found: InputCoverage,
    /// The number of its labels, and of those that engines call infeasible.
    pub labels: (usize, usize),
    /// The labels that are called infeasible and that an input covers.
    pub wrong: Vec<WrongVerdict>,
}

/// A wrong verdict.
#[derive(Debug)]
pub struct WrongVerdict {
    /// The label, with its place.
    pub label: String,
    /// The engine that said so.
    pub engine: &'static str,
    /// An input that covers it.
    pub covering: Covering,
}

/// Compares the verdicts of exploration and local proofs on a random function, each within `time`, with
/// its inputs that have none of the properties `without`.
pub fn judge(
    (seed, moves): (u64, pointers::Moves),
    criteria: &[Criterion],
    limit: u64,
    without: &[Trait],
    settings: &str,
    time: Duration,
) -> FunctionJudgement {
    let text = pointers::HEAD.to_owned() + &pointers::function("f", seed, moves);
    let subject = Subject::read(&text, criteria, false);
    let func = subject.functions[0];
    let found = enumerate(&subject, &subject.coverage_interpreter(), func, limit, without);
    let mut infeasible = BTreeMap::new();
    let explored = subject.explore(func, settings, &Config::default(), time).summary;
    if explored.bounds.is_empty() {
        let engine = match explored.assumptions.is_empty() {
            true => EXPLORATION,
            false => ASSUMING,
        };
        let left = explored.left.iter();
        let left = left.filter(|left| left.reasons.is_empty() && left.bounds.is_empty());
        infeasible.extend(left.map(|left| (left.label.label, engine)));
    }
    let proved = subject.proved_infeasible(0, time);
    infeasible.extend(proved.into_iter().map(|label| (label, LOCAL_PROOF)));
    let wrong = infeasible.iter().filter_map(|(label, engine)| {
        let covering = found.covered.get(label)?.clone();
        Some(WrongVerdict { label: subject.describe(0, *label), engine, covering })
    });
    let labels = (subject.objectives[0].labels.len(), infeasible.len());
    FunctionJudgement { wrong: wrong.collect(), labels, found, text }
}

impl std::fmt::Display for WrongVerdict {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Covering { test, traits } = &self.covering;
        let input = serde_json::to_string(test).expect("a test is JSON");
        write!(
            f,
            "{} says {} is infeasible; covered by {traits:?} {input}",
            self.engine, self.label
        )
    }
}
