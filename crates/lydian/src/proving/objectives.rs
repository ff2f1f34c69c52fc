//! Proofs about the objectives of a whole program: labels, sequences, and hyperlabels made of them.
//!
//! An objective is a place and a predicate, or a product with an automaton ([001] 4.3, Figure 2), so the
//! engines decide it as they decide a call of an error function. All objectives of a program are goals
//! of one system, and share its unrolling, samples and invariants. The exploration has the same
//! objectives at the same time. What is reached counts only if the interpreter, given the inputs of the
//! run, covers the objective itself ([`coverage`]).

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lydian_base::{Budget, CancelToken, Place};
use lydian_check::document::objectives::Named;
use lydian_ir::{FuncId, Overflow};
use lydian_objective::{Criterion, FunctionObjectives};
use lydian_prove::Semantics;
use lydian_prove::encode::{Encoded, Goals};
use lydian_prove::engines::{Decision, Recursive, Verdict};
use lydian_prove::system::GoalId;
use lydian_smt::{Limits, TermPool, standard_chain};
use lydian_symex::Search as SearchOrder;
use serde::Serialize;

use super::answers::{AnswerReader, ProvedText};
use super::board::Board;
use super::native_tests::{NativeTest, program_text};
use super::search::{CHECK_TIME, Search, alternates, chain, encode_whole};
use super::undefined;
use super::verdicts::{ErrorAnswer, InputValue, Provers};
use crate::certificates::{Certificates, ObjectiveGoal, ObjectiveSource, ProgramSource};
use crate::error::Error;
use crate::events::Observer;
use crate::objectives::ObjectiveRequest;
use crate::project::Project;
use crate::project::request::{ProjectRequest, WholeProgramRequest};
use answers::{Answered, answers};
use asked::AskedObjectives;
use companion::{ObjectiveCompanion, RunJudging};
use exploration::ObjectiveExploration;
use recorded::{LedgerContext, LedgerFindings};

mod answers;
mod asked;
mod companion;
mod coverage;
mod exploration;
mod monitor;
mod recorded;

/// The part of the time that is kept for the checks of arguments.
const CHECK_PART: u32 = 10;
/// The time that these checks may take beyond the end, so that a query comes to its own.
const GRACE: Duration = Duration::from_millis(500);

/// A program, its objectives, and the time for the proofs.
#[derive(Clone, Debug)]
pub struct ObjectiveProofRequest {
    /// The program. Its runs begin at `main`.
    pub program: ProjectRequest,
    /// The objectives.
    pub objectives: ObjectiveRequest,
    /// The time in all.
    pub time: Duration,
    /// Who looks for answers.
    pub provers: Provers,
    /// Which state the exploration takes next.
    pub search: SearchOrder,
    /// How many threads work at once; none for as many as there are cores. With one, the engines and the
    /// exploration take turns.
    pub jobs: Option<NonZeroUsize>,
    /// Whether certificates are wanted. With it the engines look for arguments of what the exploration has
    /// proved, too.
    pub certify: bool,
}

/// Proofs about the objectives of a program.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectiveProofs {
    /// Each objective, function by function, in the order of the criteria.
    pub objectives: Vec<ObjectiveProof>,
    /// Statements about the program's surroundings that the proofs rest on.
    pub surroundings: Vec<String>,
    /// Why the encoding may have more runs than the program; empty where it has the same.
    pub inexact: Vec<String>,
    /// The time of encoding, in seconds.
    pub encoding_seconds: f64,
    /// The time of the search for answers, in seconds.
    pub proving_seconds: f64,
    /// The time of the checks of all arguments and runs, in seconds.
    pub checking_seconds: f64,
    /// The functions that the program leaves undefined.
    #[serde(skip)]
    undefined: Vec<String>,
    /// The certificates of what is unreachable.
    #[serde(skip)]
    pub certificates: Certificates,
    /// What a ledger is told; nothing where no certificates are wanted.
    #[serde(skip)]
    findings: LedgerFindings,
}

/// What is known of an objective.
#[derive(Clone, Debug, Serialize)]
pub struct ObjectiveProof {
    /// The criterion that counts it.
    pub criterion: Criterion,
    /// The criterion's name for it.
    pub name: String,
    /// The objective in words.
    pub text: String,
    /// Its place.
    pub place: Place,
    /// The function that it belongs to.
    pub function: String,
    /// The answer.
    pub answer: ErrorAnswer,
    /// Who found the answer.
    pub engine: String,
    /// When it was found, in seconds since the search began, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
}

impl ObjectiveProofs {
    /// Decides for each objective of a program whether a run covers it.
    ///
    /// # Errors
    /// C that cannot be read, a program without `main`, objectives of the user's that are wrong, and what
    /// the encoding does not support.
    pub fn of_program(
        request: &ObjectiveProofRequest,
        cancel: &CancelToken,
        observer: &dyn Observer,
    ) -> Result<Self, Error> {
        let end = Instant::now() + request.time;
        let loaded = Subject::load(request, observer)?;
        let asked =
            AskedObjectives::new(&loaded.objectives, loaded.own, request.objectives.semantics);
        let begun = Instant::now();
        let mut pool = TermPool::new();
        let limits =
            Limits { interrupt: Some(cancel.flag().clone()), end: Some(end), ..Limits::none() };
        let mut encoded = loaded.encoded(&mut pool, &asked, &limits)?;
        let encoding_seconds = begun.elapsed().as_secs_f64();
        log::info!(
            "a system of {} points, {} transitions, {} variables and {} goals",
            encoded.system.points.len(),
            encoded.system.transitions.len(),
            encoded.system.variables.len(),
            encoded.goals.len(),
        );
        let begun = Instant::now();
        let parts = asked.of_system(&encoded);
        let goals: Vec<GoalId> = encoded.system.goals.ids().collect();
        let board = Board::new(asked.count(), alternates(request.provers, request.jobs));
        let board = Arc::new(board.certifying(request.certify));
        let text = loaded.text();
        let judging = RunJudging { encoded: &encoded, text, entry: loaded.entry, asked: &asked };
        let companion = Arc::new(ObjectiveCompanion::new(board.clone(), &parts, judging));
        let (end, last) = (end - request.time / CHECK_PART, end + GRACE);
        let explore = |workers: usize| {
            let (entry, search) = (loaded.entry, request.search);
            let exploration = ObjectiveExploration { text, entry, asked: &asked, search, workers };
            let left = end.saturating_duration_since(Instant::now());
            exploration.run(&board, &Budget::start(Some(left), board.exploration().clone()));
        };
        let search = Search {
            encoded: &encoded,
            goals: &goals,
            groups: asked.groups(&encoded),
            provers: request.provers,
            jobs: request.jobs,
            end,
            companion: companion.clone(),
            explore: &explore,
        };
        let mut solver = standard_chain(&chain());
        let decided = search.run(&mut pool, &mut *solver, &board, cancel);
        let seconds: Vec<Option<f64>> =
            (0..asked.count()).map(|objective| companion.seconds(objective, &parts)).collect();
        drop((search, companion));
        let proving_seconds = begun.elapsed().as_secs_f64();
        let begun = Instant::now();
        let limits = Limits { time: Some(CHECK_TIME), end: Some(last), ..limits };
        let recursive = Recursive { system: &encoded.system, calls: &encoded.calls };
        let contracts = decided.contracts.check(&mut pool, recursive, &mut *solver, &limits);
        encoded.system = decided.system;
        let mut reader = AnswerReader {
            text,
            main: loaded.entry,
            encoded: &encoded,
            pool: &mut pool,
            solver: &mut *solver,
            limits,
            contracts: &decided.contracts,
            flaw: contracts.err(),
            shown: RefCell::default(),
        };
        let found = answers(&asked, (&parts, &board), (&decided.verdicts, last), &mut reader);
        let objectives = asked.entries.iter().map(|entry| {
            let Answered { answer, engine, .. } = found[entry.objective].clone();
            loaded.proof(&asked, entry, (answer, engine), seconds[entry.objective])
        });
        let objectives = objectives.collect();
        let checking_seconds = begun.elapsed().as_secs_f64();
        let (mut certificates, mut findings) = Default::default();
        if let Some(context) = &loaded.context {
            let goals = certified_goals(&asked, (&encoded, &decided.verdicts), &found);
            let source = ProgramSource { program: text.program, texts: text.texts };
            let labels =
                ObjectiveSource { functions: asked.functions, short_circuit: asked.short_circuit };
            let of = (&encoded, &pool);
            certificates =
                Certificates::of_objectives((source, labels), of, &decided.contracts, &goals);
            findings = LedgerFindings::new((&loaded, context), &asked, &found, &certificates);
            certificates.missing.extend(asked.without_argument(&found));
        }
        Ok(Self {
            objectives,
            surroundings: loaded.project.surroundings().to_vec(),
            inexact: encoded.system.inexact.clone(),
            encoding_seconds,
            proving_seconds,
            checking_seconds,
            undefined: undefined(text.program),
            certificates,
            findings,
        })
    }

    /// A C file for each set of inputs that reaches something.
    pub fn native_tests(&self) -> Vec<NativeTest> {
        let mut tests: Vec<(&[InputValue], Vec<&ObjectiveProof>)> = Vec::new();
        for objective in &self.objectives {
            let ErrorAnswer::Reached(inputs) = &objective.answer else { continue };
            match tests.iter_mut().find(|(known, _)| *known == inputs.as_slice()) {
                Some((_, all)) => all.push(objective),
                None => tests.push((inputs, vec![objective])),
            }
        }
        let files = tests.iter().enumerate().map(|(at, (inputs, covered))| {
            let covered = covered.iter().map(|one| format!("{}: {}", one.place, one.text));
            let covered: Vec<String> = covered.collect();
            NativeTest {
                file: format!("run-{}.c", at + 1),
                text: program_text(&covered, inputs, &self.undefined),
            }
        });
        files.collect()
    }
}

/// The goals on which answers rest, with the engines' arguments.
fn certified_goals<'v>(
    asked: &AskedObjectives<'_>,
    (encoded, verdicts): (&Encoded, &'v [Verdict]),
    found: &[Answered],
) -> Vec<ObjectiveGoal<'v>> {
    let mut of: BTreeMap<GoalId, Vec<Named>> = BTreeMap::new();
    for entry in &asked.entries {
        for goal in &found[entry.objective].goals {
            of.entry(*goal).or_default().push(asked.named(entry));
        }
    }
    let goals = verdicts.iter().filter_map(|verdict| match &verdict.decision {
        Decision::Unreachable(certificate) => Some(ObjectiveGoal {
            meaning: encoded.goals[verdict.goal],
            certificate,
            of: of.remove(&verdict.goal)?,
        }),
        _ => None,
    });
    goals.collect()
}

/// A program with its objectives.
struct Subject {
    project: Project,
    entry: FuncId,
    /// Those of the functions that were asked for, and then the labels of others that they mention.
    objectives: Vec<FunctionObjectives>,
    /// How many of these are asked for.
    own: usize,
    /// What a ledger has to know; none where no certificates are wanted.
    context: Option<LedgerContext>,
}

impl Subject {
    /// Loads the program and makes first values of variables inputs.
    fn load(request: &ObjectiveProofRequest, observer: &dyn Observer) -> Result<Self, Error> {
        let whole = request.program.program.unwrap_or_default();
        let program = Some(WholeProgramRequest { always: true, ..whole });
        let mut project =
            Project::load(&ProjectRequest { program, ..request.program.clone() }, observer)?;
        let entry = project.entry();
        let entry = entry.ok_or_else(|| Error::source("no-main", "the program has no `main`"))?;
        let made = project.objectives(&request.objectives, observer)?;
        let own = made.functions.len();
        let mut objectives = made.functions;
        objectives.extend(made.further);
        let semantics = request.objectives.semantics;
        let of = (&objectives[..own], semantics);
        let context = request.certify.then(|| LedgerContext::new(&project, entry, of));
        begin_with_inputs(&mut project, &mut objectives);
        Ok(Self { project, entry, objectives, own, context })
    }

    fn text(&self) -> ProvedText<'_> {
        ProvedText {
            program: &self.project.program,
            texts: &self.project.texts.all,
            left_out: self.project.left_out.first().map(String::as_str),
        }
    }

    fn encoded(
        &self,
        pool: &mut TermPool,
        asked: &AskedObjectives<'_>,
        limits: &Limits,
    ) -> Result<Encoded, Error> {
        let goals = Goals {
            errors: false,
            labels: &self.objectives,
            sequences: &self.objectives,
            choice: Some(&asked.choice),
        };
        let semantics = Semantics { overflow: Overflow::Wrap, short_circuit: asked.short_circuit };
        encode_whole(pool, (&self.project.program, self.entry), goals, (semantics, limits))
    }

    fn proof(
        &self,
        asked: &AskedObjectives<'_>,
        entry: &asked::Entry,
        (answer, engine): (ErrorAnswer, String),
        seconds: Option<f64>,
    ) -> ObjectiveProof {
        let (place, text) = asked.shown(entry.objective);
        ObjectiveProof {
            criterion: entry.criterion,
            name: entry.name.clone(),
            text,
            place,
            function: self.project.name(entry.function).to_owned(),
            answer,
            engine,
            seconds,
        }
    }
}

/// Makes first values of variables inputs of the program. The objectives were made of the text before,
/// so that these are no definitions. The expressions of their predicates come before new ones.
fn begin_with_inputs(project: &mut Project, objectives: &mut [FunctionObjectives]) {
    for one in &*objectives {
        if let Some(body) = &mut project.program.functions[one.function].body {
            body.exprs = one.exprs.clone();
        }
    }
    lydian_ir::beginnings::make_inputs(&mut project.program);
    for one in objectives {
        if let Some(body) = &project.program.functions[one.function].body {
            one.exprs = body.exprs.clone();
        }
    }
}
