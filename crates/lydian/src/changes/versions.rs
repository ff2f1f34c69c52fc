//! Both versions of a file, loaded, with what is the same in them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use lydian_base::{Severity, Span};
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::preprocess::SelfRunning;
use lydian_frontend::{LoadRequest, ParseRequest, Unit};
use lydian_ir::source::Point;
use lydian_ir::{FuncId, Target};
use lydian_objective::changes::{
    FunctionChange, FunctionStatus, NodeId, NodeMatching, Nodes, ProgramChanges, VersionOf,
};

use super::DiffRequest;
use super::impact::exact_flags;
use crate::error::{Error, ErrorKind};
use crate::events::{Event, Observer, tell};
use crate::project::Project;
use crate::project::flags::{check_language, flags_of, rejected};
use crate::project::paths::{canonical, canonical_file};
use crate::project::request::ProjectRequest;
use crate::suite::without_self_running;

/// Both versions of a file.
pub(super) struct Versions<'r> {
    pub(super) request: &'r DiffRequest,
    pub(super) old: Unit,
    pub(super) new: Unit,
}

impl<'r> Versions<'r> {
    pub(super) fn load(request: &'r DiffRequest, observer: &dyn Observer) -> Result<Self, Error> {
        let flags = flags_of(&request.new, &request.flags, request.compile_commands.as_deref())?;
        let old_flags = match &request.old_flags {
            Some(own) => &flags_of(&request.old, own, None)?,
            None => &flags,
        };
        let old = load(&request.old, old_flags, "old", observer)?;
        let new = load(&request.new, &flags, "new", observer)?;
        if new.program.types.target != Target::X86_64 {
            let what = "versions of 32-bit programs (`-m32`) are not compared";
            let error = lydian_base::Diagnostic::error("unsupported-target", what);
            return Err(Error::new(ErrorKind::Unsupported, error));
        }
        Ok(Self { request, old, new })
    }

    /// Directives by which functions of either version that run by themselves do not run in tests.
    pub(super) fn without_self_running(&self) -> String {
        without_self_running(self.old.self_running.and_those_of(self.new.self_running))
    }

    /// The flags of the new version, with which programs of both are made.
    pub(super) const fn flags(&self) -> &CompileFlags {
        &self.new.flags
    }

    /// A function of a version as a project of its own, which runs natively.
    pub(super) fn project(&self, file: &Path, function: &str) -> Result<Project, Error> {
        let request = ProjectRequest {
            functions: vec![function.to_owned()],
            flags: exact_flags(self.flags_of(file)),
            ..ProjectRequest::new(file)
        };
        Project::load(&request, &|_: Event<'_>| {})
    }

    /// The flags of a version.
    fn flags_of(&self, file: &Path) -> &CompileFlags {
        match file == self.request.old {
            true => &self.old.flags,
            false => &self.new.flags,
        }
    }

    pub(super) fn changes(&self) -> ProgramChanges {
        let flags: Vec<&str> = self.flags().for_parsing().collect();
        let old = VersionOf { program: &self.old.program, map: &self.old.source };
        let new = VersionOf { program: &self.new.program, map: &self.new.source };
        let mut changes = ProgramChanges::between(old, new, &flags.join(" "));
        self.add_left_out(&mut changes.functions);
        changes
    }

    /// Adds the functions whose bodies are not supported in a version. No nodes of theirs are matched.
    fn add_left_out(&self, changes: &mut Vec<FunctionChange>) {
        let (old, new) = (left_out(&self.old), left_out(&self.new));
        for change in changes.iter_mut() {
            change.old = change.old.or_else(|| old.get(change.name.as_str()).copied());
            change.new = change.new.or_else(|| new.get(change.name.as_str()).copied());
            let in_one = matches!(change.status, FunctionStatus::Added | FunctionStatus::Removed);
            if in_one && change.old.is_some() && change.new.is_some() {
                change.status = FunctionStatus::Changed;
            }
        }
        let known: BTreeSet<String> = changes.iter().map(|change| change.name.clone()).collect();
        let names: BTreeSet<&str> = old.keys().chain(new.keys()).copied().collect();
        for name in names.into_iter().filter(|name| !known.contains(*name)) {
            let (old, new) = (old.get(name).copied(), new.get(name).copied());
            let status = match (old, new) {
                (Some(_), Some(_)) => FunctionStatus::Equal,
                (None, _) => FunctionStatus::Added,
                (_, None) => FunctionStatus::Removed,
            };
            let nodes = NodeMatching::default();
            changes.push(FunctionChange { name: name.to_owned(), old, new, status, nodes });
        }
    }

    /// Whether a function stands in the files themselves, and not in a header.
    pub(super) fn is_of_file(&self, change: &FunctionChange) -> bool {
        let stands = |unit: &Unit, function: Option<FuncId>, file: &Path| {
            function.is_some_and(|function| {
                let span = unit.program.functions[function].span;
                canonical_file(&unit.source.place(span.start)) == canonical(file)
            })
        };
        stands(&self.new, change.new, &self.request.new)
            || stands(&self.old, change.old, &self.request.old)
    }

    /// The lines of new or changed nodes in the new version, and of gone or changed ones in the old.
    pub(super) fn lines(&self, change: &FunctionChange) -> (Vec<u32>, Vec<u32>) {
        (
            lines(&self.new, change.new, change.nodes.added.union(&change.nodes.redirected)),
            lines(&self.old, change.old, change.nodes.removed.iter()),
        )
    }
}

/// The functions of a version whose bodies are not supported, by their names.
fn left_out(unit: &Unit) -> BTreeMap<&str, FuncId> {
    let all = unit.left_out.keys().map(|id| (&unit.program.functions[*id], *id));
    let own = all.filter(|(function, _)| !function.library);
    own.map(|(function, id)| (function.name.as_str(), id)).collect()
}

fn load(
    file: &Path,
    flags: &CompileFlags,
    which: &str,
    observer: &dyn Observer,
) -> Result<Unit, Error> {
    check_language(file)?;
    let self_running = SelfRunning::IsPlain;
    let parse = ParseRequest { self_running, ..ParseRequest::new(file, flags.clone()) };
    let request = LoadRequest::new(parse);
    let unit = lydian_frontend::load(&request)
        .map_err(|error| rejected(error).note(format!("this is the {which} version")))?;
    tell(observer, &unit.diagnostics);
    match unit.diagnostics.iter().any(|found| found.severity == Severity::Error) {
        true => Err(Error { kind: ErrorKind::Usage, diagnostics: Vec::new() }),
        false => Ok(unit),
    }
}

fn lines<'n>(
    unit: &Unit,
    function: Option<FuncId>,
    nodes: impl Iterator<Item = &'n NodeId>,
) -> Vec<u32> {
    let Some(function) = function else { return Vec::new() };
    let Some(body) = &unit.program.functions[function].body else { return Vec::new() };
    let all = Nodes::of(&unit.program, function, body);
    let spans = nodes.map(|node| match all.point(*node) {
        Point::Stmt(stmt) => body.source.stmts[stmt],
        Point::Term(block) => body.source.terms[block],
    });
    let placed = spans.filter(|span: &Span| !span.is_none());
    let lines: BTreeSet<u32> = placed.map(|span| unit.source.place(span.start).line).collect();
    lines.into_iter().collect()
}
