//! From options of the command line to requests of the library.

use std::time::Duration;

use lydian::exploration::{Config, LabelDeletion, Limits, Mode, Search};
use lydian::wrapper::{Counters, MutantRequest, WrapperRequest};
use lydian::{
    ArgumentBounds, AssumptionKind, CheckerOptions, Configuration, Effort, FileBounds, Framework,
    GeneratorOptions, MeasurementOptions, ObjectiveRequest, OutsideRequest, ProjectRequest,
    Provers, Semantics, SuiteFormat, ValueDecisions, WholeProgramRequest,
};
use lydian_objective::criterion::set::CriterionChoice;
use lydian_objective::{AcceptedAssumptions, Criterion};

use crate::args::{
    CcArgs, CheckerArgs, ConfinementArgs, CountsArg, CoverArgs, CriteriaArgs, DeletionArg,
    ExplorationArgs, ExploreArg, FormatArg, GenArgs, LimitArgs, MinimiseArg, ModeArg, ProgramArgs,
    ProversArg, SearchArg, SemanticsArg, SourceArgs, ValueDecisionsArg,
};
use crate::exit::Failure;

impl SourceArgs {
    /// The named settings, or the nearest ones to the file.
    pub(crate) fn configuration(&self) -> Result<Configuration, Failure> {
        Ok(Configuration::read(self.config.as_deref(), &self.file)?)
    }

    /// The file with its flags.
    pub(crate) fn request(&self, configuration: Configuration) -> ProjectRequest {
        ProjectRequest {
            file: self.file.clone(),
            with: self.with.clone(),
            functions: self.functions.clone(),
            flags: self.flags.clone(),
            compile_commands: self.compile_commands.clone(),
            value_decisions: self.value_decisions.into(),
            program: None,
            configuration,
        }
    }
}

impl ProgramArgs {
    /// The options for testing the program as a whole.
    pub(crate) fn request(&self) -> Result<WholeProgramRequest, Failure> {
        let arguments = match self.sym_args[..] {
            [] => None,
            [least, most, length] => Some(ArgumentBounds { least, most, length }),
            _ => return Err(Failure::usage("arguments", "--sym-args takes MIN MAX LENGTH")),
        };
        let files = match self.sym_files[..] {
            [] => None,
            [count, bytes] => Some(FileBounds { count, bytes }),
            _ => return Err(Failure::usage("files", "--sym-files takes COUNT BYTES")),
        };
        Ok(WholeProgramRequest { always: self.program, arguments, stdin: self.sym_stdin, files })
    }
}

impl CriteriaArgs {
    /// The request for objectives.
    pub(crate) fn request(&self) -> ObjectiveRequest {
        ObjectiveRequest {
            criteria: self.chosen(),
            semantics: self.semantics.into(),
            htol: self.htol.clone(),
        }
    }
}

/// Refuses a criterion whose objectives have no labels, where nothing but labels is looked at.
pub(crate) fn check_labels(criteria: &[Criterion]) -> Result<(), Failure> {
    match criteria.iter().find(|criterion| criterion.is_strong()) {
        None => Ok(()),
        Some(criterion) => Err(Failure::usage(
            "criteria",
            format!("`{criterion}` is no criterion of places in one program, but of mutants"),
        )
        .note("`lydian mutate` says which mutants tests kill, `lydian gen` makes tests that kill them")),
    }
}

impl ConfinementArgs {
    /// The options of native runs with a time limit for each test.
    const fn options(self, test_milliseconds: u64) -> MeasurementOptions {
        let test_time = Duration::from_millis(test_milliseconds);
        MeasurementOptions { test_time, confined: !self.unconfined }
    }
}

impl CoverArgs {
    /// The options of native runs.
    pub(crate) const fn measurement(&self) -> MeasurementOptions {
        self.confinement.options(self.test_time)
    }
}

/// A limit of so many seconds. What is longer than clocks have room for is cut.
pub(crate) fn time_limit(seconds: f64) -> Duration {
    Duration::from_secs_f64(seconds.clamp(0.0, 1e9))
}

impl GenArgs {
    /// The request for objectives, those of augmentation among them.
    pub(crate) fn objectives(&self) -> ObjectiveRequest {
        let mut request = self.criteria.request();
        for criterion in self.augmentation.criteria() {
            if !request.criteria.contains(&criterion) {
                request.criteria.push(criterion);
            }
        }
        request
    }

    /// The options of the generator.
    pub(crate) fn options(&self) -> GeneratorOptions {
        let augmentation = self.augmentation.augmentation();
        let Self {
            suite,
            records,
            limits,
            confinement,
            exploration,
            jobs,
            accept,
            again,
            fresh,
            ..
        } = self;
        GeneratorOptions {
            folder: suite.output.clone(),
            time: time_limit(limits.time),
            exploration: Config {
                traces: records.trace.is_some(),
                augmentation,
                limits: limits.of_exploration(),
                ..exploration.config()
            },
            measurement: confinement.options(limits.test_time),
            minimise: suite.minimise.into(),
            proofs: !exploration.no_proofs,
            jobs: *jobs,
            accept: accept.iter().flat_map(|name| kinds_named(name)).collect(),
            again: *again,
            fresh: *fresh,
            formats: suite.format.iter().map(|format| (*format).into()).collect(),
            json: suite.json.clone(),
            query_log: records.log_queries.clone(),
            outside: self.outside.request(),
            impact: None,
        }
    }
}

impl CheckerArgs {
    /// The request to the checker, if one is named.
    pub(crate) fn request(&self) -> Option<OutsideRequest> {
        let options = CheckerOptions {
            checker: self.checker.clone()?,
            time: time_limit(self.checker_time),
            memory: self.checker_memory.map(|megabytes| megabytes.saturating_mul(1 << 20)),
            unwind: self.unwind,
        };
        Some(OutsideRequest { options, all: self.cross_check })
    }
}

impl LimitArgs {
    fn of_exploration(&self) -> Limits {
        Limits {
            time: None,
            query_time: Some(Duration::from_millis(self.solver_time)),
            states: Some(self.max_states),
            memory: Some(self.memory()),
            paths: Some(self.max_paths),
            loop_bound: Some(self.loop_bound),
            recursion: self.recursion,
            ..Limits::default()
        }
    }
}

impl ExplorationArgs {
    /// The configuration of explorations, without limits.
    fn config(&self) -> Config {
        let usual = Config::default();
        let only_needed = self.explore == ExploreArg::Needed;
        let is_plain = self.mode == ModeArg::Plain;
        Config {
            mode: self.mode.into(),
            label_deletion: self.label_deletion.into(),
            search: self.search.into(),
            seed: self.seed,
            look_ahead: !self.no_look_ahead && only_needed,
            // Merged paths are no paths of their own, and have no test if no label asks for one.
            merge: !self.no_merge && !is_plain,
            merge_states_after: usual.merge_states_after.filter(|_| !self.no_state_merging),
            every_path: is_plain,
            nice_values: true,
            stop_when_covered: only_needed,
            ..usual
        }
    }
}

/// The kinds of assumptions that a name stands for, which was checked when it was read.
fn kinds_named(name: &str) -> Vec<AssumptionKind> {
    match name {
        AcceptedAssumptions::ALL => AssumptionKind::ALL.to_vec(),
        name => name.parse().into_iter().collect(),
    }
}

impl CcArgs {
    /// The command with measurement built in.
    pub(crate) fn request(&self, off: bool) -> WrapperRequest {
        WrapperRequest {
            words: self.words.clone(),
            criteria: CriterionChoice::together(&self.criteria),
            htol: self.htol.clone(),
            semantics: self.semantics.into(),
            value_decisions: self.value_decisions.into(),
            compiler: self.compiler.clone(),
            store: self.dir.clone(),
            exact: self.exact,
            counts: self.counts.map(|how| match how {
                CountsArg::Plain => Counters::Plain,
                CountsArg::Atomic => Counters::Atomic,
            }),
            mutants: self
                .mutants
                .as_ref()
                .map(|files| MutantRequest { files: files.clone(), ..MutantRequest::default() }),
            off,
        }
    }
}

impl From<ProversArg> for Provers {
    fn from(who: ProversArg) -> Self {
        match who {
            ProversArg::Together => Self::Together,
            ProversArg::Engines => Self::Engines,
            ProversArg::Exploration => Self::Exploration,
        }
    }
}

impl From<MinimiseArg> for Effort {
    fn from(how: MinimiseArg) -> Self {
        match how {
            MinimiseArg::Exact => Self::Exact,
            MinimiseArg::Greedy => Self::Greedy,
            MinimiseArg::None => Self::None,
        }
    }
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Self {
        match mode {
            ModeArg::Tight => Self::Tight,
            ModeArg::Direct => Self::Direct,
            ModeArg::Plain => Self::Plain,
        }
    }
}

impl From<DeletionArg> for LabelDeletion {
    fn from(which: DeletionArg) -> Self {
        match which {
            DeletionArg::Off => Self::Off,
            DeletionArg::Solved => Self::Solved,
            DeletionArg::Run => Self::Run,
            DeletionArg::Kept => Self::Kept,
        }
    }
}

impl From<SearchArg> for Search {
    fn from(search: SearchArg) -> Self {
        match search {
            SearchArg::Mixed => Self::Mixed,
            SearchArg::Md2u => Self::Md2u,
            SearchArg::Dfs => Self::DepthFirst,
            SearchArg::Bfs => Self::BreadthFirst,
            SearchArg::RandomState => Self::RandomState,
            SearchArg::RandomPath => Self::RandomPath,
            SearchArg::Sdgs => Self::Sdgs,
            SearchArg::Cpgs => Self::Cpgs,
        }
    }
}

impl From<SemanticsArg> for Semantics {
    fn from(semantics: SemanticsArg) -> Self {
        match semantics {
            SemanticsArg::ThreeValued => Self::ThreeValued,
            SemanticsArg::ShortCircuit => Self::ShortCircuit,
        }
    }
}

impl From<ValueDecisionsArg> for ValueDecisions {
    fn from(which: ValueDecisionsArg) -> Self {
        match which {
            ValueDecisionsArg::WithOperators => Self::WithOperators,
            ValueDecisionsArg::All => Self::All,
        }
    }
}

impl From<FormatArg> for SuiteFormat {
    fn from(format: FormatArg) -> Self {
        match format {
            FormatArg::Testcomp => Self::Testcomp,
            FormatArg::Ktest => Self::Ktest,
            FormatArg::Unity => Self::Framework(Framework::Unity),
            FormatArg::Cmocka => Self::Framework(Framework::Cmocka),
            FormatArg::Check => Self::Framework(Framework::Check),
            FormatArg::Cunit => Self::Framework(Framework::Cunit),
            FormatArg::Criterion => Self::Framework(Framework::Criterion),
            FormatArg::Googletest => Self::Framework(Framework::Googletest),
        }
    }
}
