//! Certificates of the prover as documents, which `lydian check` checks with an external solver.

pub(crate) mod checking;
mod formulas;
mod objectives;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use indexmap::IndexSet;
use lydian_base::{EntityId, SourceMap};
use lydian_check::document::{
    Argument, ArgumentKind, Beginning, Call, Certificate, EXTENSION, FORMAT, Goal, Instance,
    Object, Origin, Part, Place, Point, PointKind, ProgramText, Rules, SignedOverflow, digest,
};
use lydian_ir::{FuncId, Program, StmtId, text};
use lydian_prove::encode::provenance::{OriginKind, PlaceKind, VariablePlace};
use lydian_prove::encode::{Encoded, GoalMeaning};
use lydian_prove::engines::{self, Contracts};
use lydian_prove::system::PointId;
use lydian_smt::{Term, TermPool};

use crate::error::Error;
use crate::files;
use crate::project::linked::LinkedProgram;
use formulas::{Symbol, Translation};
pub(crate) use objectives::{ObjectiveGoal, ObjectiveSource, shown_name};

/// How many digits of a program's digest stand in the names of its files.
const DIGITS: usize = 12;

/// The certificates of the proofs about a program.
#[derive(Clone, Debug, Default)]
pub struct Certificates {
    /// The IR's text.
    pub text: String,
    /// The certificates.
    pub all: Vec<Certificate>,
    /// The objectives' goals that have one, with its position.
    pub(crate) goals: Vec<(GoalMeaning, usize)>,
    /// Why a proof has none, with what it is about: a function that has an error, or an objective.
    pub missing: Vec<(String, String)>,
}

/// A program with its text.
#[derive(Clone, Copy)]
pub(crate) struct ProgramSource<'p> {
    pub(crate) program: &'p Program,
    pub(crate) texts: &'p SourceMap,
}

/// A proof that a statement is out of reach.
pub(crate) struct Proof<'p> {
    pub(crate) function: FuncId,
    pub(crate) statement: StmtId,
    pub(crate) place: Option<String>,
    pub(crate) certificate: &'p engines::Certificate,
}

impl Certificates {
    /// Writes the program and all certificates into a folder. Returns the files of the certificates.
    ///
    /// # Errors
    /// Files that cannot be written.
    pub fn write(&self, folder: &Path) -> Result<Vec<PathBuf>, Error> {
        files::folder(folder)?;
        let mut written = Vec::new();
        for (at, certificate) in self.all.iter().enumerate() {
            let short: String = certificate.program.sha256.chars().take(DIGITS).collect();
            let about = match &certificate.goal {
                Some(goal) => format!("{}-s{}", goal.function, goal.statement),
                None => format!("objectives-{}", at + 1),
            };
            let path = folder.join(format!("{short}-{about}{EXTENSION}"));
            files::file(&path, &certificate.json())?;
            written.push(path);
        }
        if let Some(certificate) = self.all.first() {
            files::file(&folder.join(&certificate.program.file), &self.text)?;
        }
        Ok(written)
    }

    /// The program and then the certificates in order, by their digests; nothing without certificates.
    pub(crate) fn documents(&self) -> Vec<(String, String)> {
        if self.all.is_empty() {
            return Vec::new();
        }
        let all = self.all.iter().map(|certificate| certificate.json());
        std::iter::once(self.text.clone()).chain(all).map(|text| (digest(&text), text)).collect()
    }

    /// The certificates of some proofs.
    pub(crate) fn of_proofs(
        linked: &LinkedProgram,
        (encoded, pool): (&Encoded, &TermPool),
        contracts: &Contracts,
        proofs: &[Proof<'_>],
    ) -> Self {
        let mut found = Self::default();
        if proofs.is_empty() {
            return found;
        }
        let program = &linked.linked.program;
        found.text = text::print(program);
        let source = ProgramSource { program, texts: &linked.linked.source };
        let writer = Writer::new((source, &found.text), (encoded, pool), contracts);
        for proof in proofs {
            match writer.certificate(proof) {
                Ok(certificate) => found.all.push(certificate),
                Err(why) => {
                    let function = program.functions[proof.function].name.clone();
                    found.missing.push((function, why));
                }
            }
        }
        found
    }
}

/// The function where runs begin.
fn entry_of(encoded: &Encoded) -> FuncId {
    let instances = encoded.provenance.instances.iter();
    let mut roots = instances.filter(|instance| instance.call.is_none() && !instance.recursive);
    roots.next_back().map_or(FuncId::from_index(0), |root| root.function)
}

/// Writes the certificates of a program.
struct Writer<'w> {
    program: &'w Program,
    texts: &'w SourceMap,
    encoded: &'w Encoded,
    contracts: &'w Contracts,
    pool: &'w TermPool,
    text: ProgramText,
}

/// The numbers that a document gives flags.
type FlagNumbers = BTreeMap<usize, usize>;

/// The parts of a document that follow from the invariants.
struct Statements {
    state: Vec<Part>,
    instantiations: Vec<String>,
    points: Vec<Point>,
}

impl<'w> Writer<'w> {
    fn new(
        (source, text): (ProgramSource<'w>, &str),
        (encoded, pool): (&'w Encoded, &'w TermPool),
        contracts: &'w Contracts,
    ) -> Self {
        let ProgramSource { program, texts } = source;
        let sha256 = digest(text);
        let short: String = sha256.chars().take(DIGITS).collect();
        let file = format!("{short}.ir");
        let entry = program.functions[entry_of(encoded)].name.clone();
        let beginning = match encoded.is_whole {
            true => Beginning::Program,
            false => Beginning::Function,
        };
        let text = ProgramText { file, sha256, entry, beginning };
        Self { program, texts, encoded, contracts, pool, text }
    }

    /// The certificate that a call is out of reach.
    fn certificate(&self, proof: &Proof<'_>) -> Result<Certificate, String> {
        let goal = Goal {
            function: self.program.functions[proof.function].name.clone(),
            statement: proof.statement.index() as u32,
            place: proof.place.clone(),
        };
        let statements = self.statements(proof.certificate, &FlagNumbers::default())?;
        Ok(Certificate { goal: Some(goal), ..self.document(proof.certificate, statements) })
    }

    /// A certificate without a goal.
    fn document(&self, proof: &engines::Certificate, statements: Statements) -> Certificate {
        let origins = &self.encoded.provenance;
        let Statements { state, instantiations, points } = statements;
        Certificate {
            format: FORMAT,
            program: self.text.clone(),
            rules: Rules { signed_overflow: SignedOverflow::Wraps, allocation_succeeds: true },
            goal: None,
            objectives: None,
            argument: Argument {
                kind: match proof.argument {
                    engines::Argument::Induction => ArgumentKind::Induction,
                    engines::Argument::Exhaustion => ArgumentKind::Exhaustion,
                },
                depth: proof.depth,
            },
            instances: self.instances(),
            objects: origins.objects.iter().map(object).collect(),
            functions: self
                .program
                .functions
                .ids()
                .map(|function| (function.index() as u32, origins.functions[function]))
                .collect(),
            state,
            instantiations,
            points,
        }
    }

    fn instances(&self) -> Vec<Instance> {
        let instances = self.encoded.provenance.instances.iter();
        let written = instances.map(|instance| Instance {
            function: instance.function.index() as u32,
            name: self.program.functions[instance.function].name.clone(),
            call: instance
                .call
                .map(|(caller, stmt)| Call { caller, statement: stmt.index() as u32 }),
            recursive: instance.recursive,
        });
        written.collect()
    }

    /// The parts of the state that the invariants of a proof and of contracts speak of, and the points.
    fn statements(
        &self,
        proof: &engines::Certificate,
        flags: &FlagNumbers,
    ) -> Result<Statements, String> {
        let (system, origins) = (&self.encoded.system, &self.encoded.provenance);
        let parameters = &proof.parameters;
        let mut translation = self.translation(proof);
        let mut formulas = Vec::new();
        for (own, contracts) in proof.invariants.iter().zip(self.contracts.formulas()) {
            let all: IndexSet<Term> = own.iter().chain(contracts).copied().collect();
            // What has no translation is left out. The argument may stand without it.
            let texts = all.into_iter().filter_map(|formula| translation.text(formula));
            formulas.push(texts.collect::<Vec<String>>());
        }
        let instances = parameters.instances.iter();
        let instantiations = instances.filter_map(|term| translation.term(*term)).collect();
        let mut state = Vec::new();
        for symbol in translation.used() {
            state.push(match symbol {
                Symbol::Variable(variable) => {
                    let place = origins.variables[*variable].and_then(|of| place(of, flags));
                    let place = place.ok_or("an invariant is of a note for goals")?;
                    Part { name: system.variables[*variable].name.clone(), place }
                }
                Symbol::Parameter(_, bits) => {
                    Part { name: "any value".to_owned(), place: Place::Any { bits: *bits } }
                }
            });
        }
        let mut points = Vec::new();
        for (point, invariants) in system.points.ids().zip(formulas) {
            points.push(self.point(point, translation.used(), invariants)?);
        }
        self.add_ends(&mut points);
        Ok(Statements { state, instantiations, points })
    }

    /// Translates formulas of a proof.
    fn translation(&self, proof: &engines::Certificate) -> Translation<'w> {
        let system = (&self.encoded.system, &self.encoded.provenance);
        Translation::new(self.pool, system, &proof.parameters.symbols)
    }

    fn point(
        &self,
        point: PointId,
        used: &[Symbol],
        invariants: Vec<String>,
    ) -> Result<Point, String> {
        let (system, origins) = (&self.encoded.system, &self.encoded.provenance);
        let origin = origins.points[point].ok_or("a loop begins in the midst of a block")?;
        let (live, span) = (&origins.live[point], system.points[point].span);
        let is_current = |symbol: &Symbol| match symbol {
            Symbol::Variable(variable) => live.contains(variable),
            Symbol::Parameter(..) => true,
        };
        let current = used.iter().enumerate().filter(|(_, symbol)| is_current(symbol));
        Ok(Point {
            instance: origin.instance,
            kind: match origin.kind {
                PlaceKind::Block => PointKind::Block,
                PlaceKind::Enter => PointKind::Enter,
                PlaceKind::Return => PointKind::Return,
            },
            block: origin.block.index() as u32,
            place: (!span.is_none()).then(|| self.texts.place(span.start).to_string()),
            current: current.map(|(part, _)| part as u32).collect(),
            invariants,
        })
    }

    /// Adds the ends of recursive functions that are no points of the system: no run comes there.
    fn add_ends(&self, points: &mut Vec<Point>) {
        for (instance, content) in self.encoded.provenance.instances.iter().enumerate() {
            if !content.recursive {
                continue;
            }
            let body = self.program.functions[content.function].body.as_ref();
            let block = body.map_or(0, |body| body.entry.index() as u32);
            for kind in [PointKind::Enter, PointKind::Return] {
                let is_it = |point: &Point| point.instance == instance && point.kind == kind;
                if !points.iter().any(is_it) {
                    let invariants = vec!["false".to_owned()];
                    let (place, current) = (None, Vec::new());
                    points.push(Point { instance, kind, block, place, current, invariants });
                }
            }
        }
    }
}

fn object(object: &lydian_prove::encode::provenance::ObjectOrigin) -> Object {
    let origin = match object.kind {
        OriginKind::Global(global) => Origin::Global { global: global.index() as u32 },
        OriginKind::Local(instance, local) => {
            Origin::Local { instance, local: local.index() as u32 }
        }
        OriginKind::Allocated { instance, stmt, step, repeats, most } => {
            let statement = stmt.index() as u32;
            Origin::Allocated { instance, statement, step, repeats, most }
        }
    };
    Object { origin, name: object.name.clone(), address: object.address }
}

/// The place of a variable; none for a flag that has no number in the document.
fn place(place: VariablePlace, flags: &FlagNumbers) -> Option<Place> {
    Some(match place {
        VariablePlace::Register(instance, local) => {
            Place::Register { instance, local: local.index() as u32 }
        }
        VariablePlace::Bytes { object, offset, size, float } => {
            Place::Bytes { object, offset, size, float }
        }
        VariablePlace::Elements { object, offset, size, period, index_bits } => {
            Place::Elements { object, offset, size, period, index_bits }
        }
        VariablePlace::End(object) => Place::End { object },
        VariablePlace::Argument(instance, local) => {
            Place::Argument { instance, local: local.index() as u32 }
        }
        VariablePlace::Before { instance, object, offset, size, float } => {
            Place::Before { instance, object, offset, size, float }
        }
        VariablePlace::Result(instance) => Place::Result { instance },
        VariablePlace::Flag(instance, flag) => {
            Place::Flag { instance, flag: *flags.get(&flag)? as u32 }
        }
        VariablePlace::Reached(instance, decision, condition) => {
            let (decision, condition) = (decision.index() as u32, condition.index() as u32);
            Place::Reached { instance, decision, condition }
        }
        VariablePlace::Outcome(instance, decision, condition) => {
            let (decision, condition) = (decision.index() as u32, condition.index() as u32);
            Place::Outcome { instance, decision, condition }
        }
        VariablePlace::Mutant { instance, decision, condition, expr, value } => Place::Mutant {
            instance,
            decision: decision.index() as u32,
            condition: condition.index() as u32,
            expression: expr.index() as u32,
            value,
        },
    })
}
