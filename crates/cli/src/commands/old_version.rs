//! The old version of a file: another file, or the file as a commit of git has it.

use std::path::{Path, PathBuf};
use std::process::Command;

use lydian::{
    ChangeImpact, Diagnostic, Objectives, Observer, PATH_OPTIONS, Project, ProjectRequest,
};

use super::report::changed;
use crate::args::ChangeArgs;
use crate::exit::Failure;
use crate::render;

/// The objectives that the difference from an old version affects, if one is named.
pub(crate) fn impact(
    args: &ChangeArgs,
    (project, request): (&Project, &ProjectRequest),
    objectives: &Objectives,
    observer: &dyn Observer,
) -> Result<Option<ChangeImpact>, Failure> {
    let flags = project.flags();
    let (old, _kept) = match (&args.against, &args.since) {
        (Some(file), _) => (of_file(file, request, flags)?, None),
        (None, Some(revision)) => {
            let tree = OldTree::of(revision, &request.file)?;
            (tree.request(request, &flags), Some(tree))
        }
        (None, None) => return Ok(None),
    };
    let old = Project::load(&old, observer)
        .map_err(|error| Failure::from(error).note("this is the old version"))?;
    Ok(Some(project.impact(objectives, &old)))
}

fn of_file(
    file: &Path,
    request: &ProjectRequest,
    flags: Vec<String>,
) -> Result<ProjectRequest, Failure> {
    if !file.is_file() {
        return Err(Failure::source("against", format!("there is no file {}", file.display()))
            .note("--against takes the old version of the file; --since takes a commit of git"));
    }
    Ok(old_request(file.to_owned(), request, flags))
}

/// The request for the old version: all its functions, with the same flags and settings.
fn old_request(file: PathBuf, request: &ProjectRequest, flags: Vec<String>) -> ProjectRequest {
    ProjectRequest { file, functions: Vec::new(), flags, compile_commands: None, ..request.clone() }
}

/// The files of a commit, in a folder that is removed at the end.
struct OldTree {
    folder: tempfile::TempDir,
    /// The root of the working tree.
    top: PathBuf,
    /// The file within the folder.
    file: PathBuf,
}

impl OldTree {
    /// Writes the files of a commit, in which a file is looked for by its name, or by its old name if it
    /// was moved.
    fn of(revision: &str, file: &Path) -> Result<Self, Failure> {
        let whole = file.canonicalize().unwrap_or_else(|_| file.to_owned());
        let beside = whole.parent().unwrap_or(Path::new("."));
        let note = format!("--since {revision} needs the git repository of the file");
        let git = |folder: &Path, words: &[&str]| {
            changed::git(folder, words).map_err(|failure| changed::noted_alone(failure, &note))
        };
        let top = git(beside, &["rev-parse", "--show-toplevel"])?;
        let top = PathBuf::from(top.trim_end_matches('\n'));
        let named = format!("{revision}^{{commit}}");
        let words = ["rev-parse", "--verify", "--quiet", "--end-of-options", named.as_str()];
        let commit = git(&top, &words).map_err(|_| no_such_revision(revision))?;
        let commit = commit.trim().to_owned();
        let own = whole.strip_prefix(&top).unwrap_or(&whole).to_owned();
        let own = Self::name_in(&top, &commit, &own, revision)?;
        let folder = tempfile::tempdir().map_err(|error| {
            Failure::environment("since", format!("no temporary folder: {error}"))
        })?;
        write_tree(&top, &commit, folder.path())?;
        let file = folder.path().join("tree").join(own);
        Ok(Self { folder, top, file })
    }

    /// The name of a file in a commit.
    fn name_in(top: &Path, commit: &str, own: &Path, revision: &str) -> Result<PathBuf, Failure> {
        let place = format!("{commit}:{}", own.display());
        if changed::git(top, &["cat-file", "-e", &place]).is_ok() {
            return Ok(own.to_owned());
        }
        let words =
            ["diff", "--name-status", "--find-renames", "--diff-filter=R", "-z", commit, "--"];
        let all = changed::git(top, &words)?;
        let words: Vec<&str> = all.split('\0').collect();
        let moved = words.chunks_exact(3).find(|part| Path::new(part[2]) == own);
        match moved {
            Some(part) => {
                let what = format!("{} was {} in {revision}", own.display(), part[1]);
                render::diagnostics(&[Diagnostic::new(lydian::Severity::Note, "since", what)]);
                Ok(PathBuf::from(part[1]))
            }
            None => {
                let what = format!("{revision} has no {}", own.display());
                Err(Failure::usage("since", what).note(
                    "if the file was moved and changed, --against takes its old version as a file",
                ))
            }
        }
    }

    /// The request for the old version. Paths of the working tree lead to the files of the commit.
    fn request(&self, request: &ProjectRequest, flags: &[String]) -> ProjectRequest {
        let flags = flags.iter().map(|flag| self.moved_flag(flag)).collect();
        let with = request.with.iter().map(|file| self.moved(file).unwrap_or_else(|| file.clone()));
        let with = with.collect();
        ProjectRequest { with, ..old_request(self.file.clone(), request, flags) }
    }

    /// The path of a file or folder of the working tree among the files of the commit.
    fn moved(&self, path: &Path) -> Option<PathBuf> {
        let whole = path.canonicalize().ok()?;
        let moved = self.folder.path().join("tree").join(whole.strip_prefix(&self.top).ok()?);
        moved.exists().then_some(moved)
    }

    fn moved_flag(&self, flag: &str) -> String {
        let moved = PATH_OPTIONS.iter().find_map(|option| {
            let path = flag.strip_prefix(option).filter(|path| !path.is_empty())?;
            Some(format!("{option}{}", self.moved(Path::new(path))?.display()))
        });
        moved.unwrap_or_else(|| flag.to_owned())
    }
}

/// Writes the files of a commit into the folder `tree`, with an index of its own.
fn write_tree(top: &Path, commit: &str, folder: &Path) -> Result<(), Failure> {
    let index = folder.join("index");
    let prefix = format!("--prefix={}/", folder.join("tree").display());
    for words in [vec!["read-tree", commit], vec!["checkout-index", "--all", prefix.as_str()]] {
        let mut git = Command::new("git");
        let ran = git.arg("-C").arg(top).args(&words).env("GIT_INDEX_FILE", &index).output();
        let failed = |what: String| {
            let what = format!("the files of {commit} cannot be written: {what}");
            Failure::environment("since", what)
        };
        let output = ran.map_err(|error| failed(error.to_string()))?;
        if !output.status.success() {
            return Err(failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()));
        }
    }
    Ok(())
}

fn no_such_revision(revision: &str) -> Failure {
    Failure::usage("since", format!("there is no commit {revision}"))
        .note("--since takes a commit, a branch or a tag of the repository that the file is in")
}
