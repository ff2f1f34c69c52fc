//! A test in C that passes with the old version of a file and fails with the new one.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use lydian_frontend::flags::CompileFlags;
use lydian_native::Build;

use super::Observed;
use super::versions::Versions;
use crate::error::Error;
use crate::events::Event;
use crate::files;
use crate::project::paths::absolute;
use crate::project::{COMPILER, Project};
use crate::suite::{C, Suite};

/// The macro with the file of the version that is tested.
const VERSION: &str = "VERSION";

/// A test of both versions.
pub(super) struct TwoVersionTest {
    /// The C file.
    pub(super) text: String,
    /// The inputs and the call in the test's function.
    pub(super) call: String,
    folder: tempfile::TempDir,
}

impl TwoVersionTest {
    /// The test of a suite of the old version.
    pub(super) fn of(
        suite: &Suite,
        (project, build): (&Project, &Build),
        (versions, function): (&Versions<'_>, &str),
    ) -> Result<Self, Error> {
        let request = versions.request;
        let folder = files::temporary_folder()?;
        let silent = |_: Event<'_>| {};
        let written = suite.write(folder.path(), &request.old, project, build, &[], &silent)?;
        files::files(&written)?;
        let path = folder.path().join(C);
        let text = written.into_iter().find(|(file, _)| *file == path).map(|(_, text)| text);
        let include = files::relative(folder.path(), &absolute(&request.old));
        let text = of_any_version(&text.unwrap_or_default(), &include, versions);
        files::files(&[(path, text.clone())])?;
        Ok(Self { call: inputs_and_call(&text, function), text, folder })
    }

    /// The failing checks of the new version, if the old version passes; none if it does not, or if no
    /// check fails.
    pub(super) fn observed(&self, versions: &Versions<'_>) -> Result<Option<Vec<Observed>>, Error> {
        let old = self.run(&versions.old.flags, Some(&versions.request.old))?;
        if !old.as_ref().is_some_and(|output| output.status.success()) {
            let said = old.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
            log::info!("a test of two versions fails with the old one: {said:?}\n{}", self.text);
            return Ok(None);
        }
        let Some(new) = self.run(&versions.new.flags, None)? else { return Ok(None) };
        let said = String::from_utf8_lossy(&new.stdout).into_owned();
        let observed: Vec<Observed> = said.lines().filter_map(observed).collect();
        if new.status.success() {
            log::info!("a test of two versions passes with both:\n{}", self.text);
        }
        Ok((!new.status.success() && !observed.is_empty()).then_some(observed))
    }

    /// Compiles and runs the test with a file in the place of the new version; none if it does not
    /// compile.
    fn run(&self, flags: &CompileFlags, file: Option<&Path>) -> Result<Option<Output>, Error> {
        let program = self.folder.path().join("program");
        let mut compile = Command::new(COMPILER);
        compile.arg("-w").args(flags.for_preprocessing());
        if let Some(directory) = flags.directory() {
            compile.current_dir(directory);
        }
        if let Some(file) = file {
            compile.arg(format!("-D{VERSION}=\"{}\"", absolute(file).display()));
        }
        compile.arg(self.folder.path().join(C)).args(["-lm", "-o"]).arg(&program);
        let compiled = compile.stdin(Stdio::null()).output();
        let compiled =
            compiled.map_err(|error| crate::wrapper::unstartable(COMPILER.as_ref(), &error))?;
        if !compiled.status.success() {
            let said = String::from_utf8_lossy(&compiled.stderr).into_owned();
            log::info!("a test of two versions does not compile: {said}");
            return Ok(None);
        }
        let ran = Command::new(&program).stdin(Stdio::null()).output();
        ran.map(Some).map_err(|error| {
            Error::environment("diff", format!("a test of two versions cannot be run: {error}"))
        })
    }
}

/// The text of a suite that includes any version of the source, without its seal.
fn of_any_version(text: &str, include: &str, versions: &Versions<'_>) -> String {
    let file = absolute(&versions.request.new).display().to_string();
    let before = versions.without_self_running();
    let (line, seal) = (format!("#include \"{include}\""), "/* Sealed by Lydian");
    let lines = text.lines().filter(|line| !line.starts_with(seal)).map(|own| match own == line {
        true => {
            format!(
                "{before}#ifndef {VERSION}\n#define {VERSION} \"{file}\"\n#endif\n#include {VERSION}"
            )
        }
        false => own.to_owned(),
    });
    let mut all = lines.collect::<Vec<_>>().join("\n");
    all.push('\n');
    all
}

/// The first test function of a suite, from its declarations to the call of the function.
fn inputs_and_call(text: &str, function: &str) -> String {
    let lines = text.lines().skip_while(|line| !line.starts_with("static void test_"));
    let body = lines.skip(2).take_while(|line| *line != "}");
    let mut shown = Vec::new();
    let (call, mut is_in_call) = (format!("{function}("), false);
    for line in body {
        is_in_call |= line.contains(&call);
        shown.push(line.strip_prefix("    ").unwrap_or(line));
        if is_in_call && line.ends_with(';') {
            break;
        }
    }
    shown.join("\n")
}

/// What a line of a failing test says: `FILE:LINE: NAME: result is 3, expected 2`.
fn observed(line: &str) -> Option<Observed> {
    let of = |what: &str, old: &str, new: &str| Observed {
        what: what.to_owned(),
        old: shown(old, "an address"),
        new: shown(new, "another address"),
    };
    if let Some((_, number)) = line.split_once(": ended by signal ") {
        return Some(of("the function", "returns", &format!("ends by signal {number}")));
    }
    let (place, rest) = line.split_once(": ")?;
    let (file, number) = place.rsplit_once(':')?;
    if file.is_empty() || number.parse::<u32>().is_err() {
        return None;
    }
    let (_, said) = rest.split_once(": ")?;
    let values = said.rsplit_once(", expected ");
    let values = values.and_then(|(seen, old)| Some((seen.rsplit_once(" is ")?, old)));
    match values {
        Some(((what, new), old)) => Some(of(what, old, new)),
        None => match said.strip_suffix(" is null") {
            Some(what) => Some(of(what, "not null", "null")),
            None => Some(of("the test", "passes", said)),
        },
    }
}

/// A value; addresses are others in each run, so they have words.
fn shown(value: &str, address: &str) -> String {
    match value {
        "(nil)" => "null".to_owned(),
        _ if value.starts_with("0x") => address.to_owned(),
        _ => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_failing_tests_give_both_values() {
        let read = |line: &str| observed(line).map(|one| (one.what, one.old, one.new));
        let three = |what: &str, old: &str, new: &str| {
            Some((what.to_owned(), old.to_owned(), new.to_owned()))
        };
        assert_eq!(
            read("/tmp/t/tests.c:12: f_differs: f(&p) is 3, expected 2"),
            three("f(&p)", "2", "3")
        );
        assert_eq!(
            read("tests.c:9: f_differs: l->name is \"a is b\", expected \"x\""),
            three("l->name is \"a", "\"x\"", "b\"")
        );
        assert_eq!(
            read("tests.c:9: f_differs: p->next is null"),
            three("p->next", "not null", "null")
        );
        assert_eq!(
            read("f_differs: ended by signal 11"),
            three("the function", "returns", "ends by signal 11")
        );
        let pointer = "tests.c:9: f_differs: p->next is (nil), expected 0x7ffe10";
        assert_eq!(read(pointer), three("p->next", "an address", "null"));
        assert_eq!(read("1 tests, 1 failed"), None);
    }

    #[test]
    fn a_test_is_shown_up_to_its_call() {
        let text = "x\nstatic void test_f(void)\n{\n    int a = 3;\n    CHECK_INT(f(&a,\n        2), 1);\n    \
                    CHECK_INT(a, 3);\n}\n";
        assert_eq!(inputs_and_call(text, "f"), "int a = 3;\nCHECK_INT(f(&a,\n    2), 1);");
    }
}
