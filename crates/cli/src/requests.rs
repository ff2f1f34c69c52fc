//! From options of the command line to requests of the library.

use std::time::Duration;

use lydian::exploration::{Config, LabelDeletion, Limits, Mode};
use lydian::wrapper::{Counters, WrapperRequest};
use lydian::{
    ArgumentBounds, AssumptionKind, Configuration, Effort, FileBounds, Framework, GeneratorOptions,
    MeasurementOptions, ObjectiveRequest, ProjectRequest, Semantics, SuiteFormat, ValueDecisions,
    WholeProgramRequest,
};
use lydian_objective::AcceptedAssumptions;
use lydian_objective::criterion::set::CriterionChoice;

use crate::args::{
    CcArgs, ConfinementArgs, CountsArg, CoverArgs, CriteriaArgs, DeletionArg, ExploreArg,
    FormatArg, GenArgs, MinimiseArg, ModeArg, ProgramArgs, SemanticsArg, SourceArgs,
    ValueDecisionsArg,
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

impl GenArgs {
    /// The options of the generator.
    pub(crate) fn options(&self) -> GeneratorOptions {
        GeneratorOptions {
            folder: self.output.clone(),
            time: Duration::from_secs_f64(self.limits.time.clamp(0.0, 1e9)),
            exploration: self.exploration(),
            measurement: self.confinement.options(self.limits.test_time),
            minimise: match self.minimise {
                MinimiseArg::Exact => Effort::Exact,
                MinimiseArg::Greedy => Effort::Greedy,
                MinimiseArg::None => Effort::None,
            },
            jobs: self.jobs,
            accept: self.accept.iter().flat_map(|name| kinds_named(name)).collect(),
            fresh: self.fresh,
            formats: self.format.iter().map(|format| (*format).into()).collect(),
            json: self.json.clone(),
            query_log: self.log_queries.clone(),
        }
    }

    fn exploration(&self) -> Config {
        let limits = &self.limits;
        Config {
            mode: match self.mode {
                ModeArg::Tight => Mode::Tight,
                ModeArg::Direct => Mode::Direct,
                ModeArg::Plain => Mode::Plain,
            },
            label_deletion: match self.label_deletion {
                DeletionArg::Off => LabelDeletion::Off,
                DeletionArg::Solved => LabelDeletion::Solved,
                DeletionArg::Run => LabelDeletion::Run,
                DeletionArg::Kept => LabelDeletion::Kept,
            },
            search: self.search.into(),
            traces: self.trace.is_some(),
            seed: self.seed,
            limits: Limits {
                time: None,
                query_time: Some(Duration::from_millis(limits.solver_time)),
                states: Some(limits.max_states),
                memory: Some(limits.memory()),
                paths: Some(limits.max_paths),
                loop_bound: Some(limits.loop_bound),
                recursion: limits.recursion,
                ..Limits::default()
            },
            look_ahead: !self.no_look_ahead && self.explore == ExploreArg::Needed,
            // Merged paths are no paths of their own, and have no test if no label asks for one.
            merge: !self.no_merge && self.mode != ModeArg::Plain,
            merge_states_after: Config::default()
                .merge_states_after
                .filter(|_| !self.no_state_merging),
            every_path: self.mode == ModeArg::Plain,
            nice_values: true,
            stop_when_covered: self.explore == ExploreArg::Needed,
            ..Config::default()
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
            off,
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
