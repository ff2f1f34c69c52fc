//! The library's lowered program, kept between runs.
//!
//! To parse and lower the library takes longer than most files of users. Its program follows from its
//! preprocessed text, in which are the target's headers, from the flags, clang, and Lydian itself. So it is in
//! the [cache](lydian_base::cache) under the hash of these, and only the preprocessor runs.

use std::path::PathBuf;

use lydian_base::SourceMap;
use lydian_base::cache::{Cache, Key, identity};
use lydian_frontend::ParseRequest;
use lydian_frontend::clang::Clang;
use lydian_frontend::preprocess::{Preprocessing, SelfRunning, preprocess};
use lydian_ir::Program;

/// The place of a program in the cache.
pub(crate) struct KeptProgram {
    cache: Cache,
    key: Key,
    /// The preprocessed text.
    source: SourceMap,
}

impl KeptProgram {
    /// The place for the program of a file of Lydian's. None if it cannot be told what the program depends on.
    pub(crate) fn of(request: &ParseRequest, cache: Cache) -> Option<Self> {
        let clang = Clang::locate().ok()?;
        let flags = &request.flags;
        let text =
            preprocess(&clang, &request.source, flags, &Preprocessing::Clang, SelfRunning::Stays);
        let text = text.ok()?;
        // The file lies elsewhere each time. A place in the text moves with the length of its path.
        let path = request.source.display().to_string();
        let source = text.source;
        let same_everywhere = source.text().replace(&path, "");
        let length = path.len().to_le_bytes();
        let words: Vec<&str> = flags.for_parsing().collect();
        let (clang, own) = (identity(clang.program())?, identity(own_program()?.as_os_str())?);
        let words = words.join("\n");
        let parts = [same_everywhere.as_bytes(), &length, words.as_bytes(), &clang, &own];
        Some(Self { cache, key: Key::new("lowered", parts), source })
    }

    /// The program that an earlier run kept, with its text.
    pub(crate) fn read(&self) -> Option<(Program, SourceMap)> {
        let bytes = self.cache.get(&self.key)?;
        let program = postcard::from_bytes(&bytes).ok()?;
        Some((program, self.source.clone()))
    }

    /// Keeps a program, if its text is the one that the key is of.
    pub(crate) fn write(&self, program: &Program, source: &SourceMap) {
        if source.text() == self.source.text()
            && let Ok(bytes) = postcard::to_stdvec(program)
        {
            self.cache.put(&self.key, &bytes);
        }
    }
}

/// The program that runs: another build of Lydian may lower otherwise.
fn own_program() -> Option<PathBuf> {
    std::env::current_exe().ok()
}

#[cfg(test)]
mod tests {
    use lydian_frontend::{LoadRequest, Unit, load};

    use super::*;

    #[test]
    fn a_program_that_is_kept_is_the_one_that_was_lowered_wherever_its_file_lies() {
        let text = "#include <stddef.h>\n#line 1 \"own.c\"\nstatic const char *names[] = { \"a\", 0 };\n\
                    size_t f(size_t a) { return names[a & 1] ? a + sizeof(long) : 0x1p-3 > a; }\n";
        let cache = tempfile::tempdir().expect("a folder");
        let request = |folder: &tempfile::TempDir| {
            let path = folder.path().join("own.c");
            std::fs::write(&path, text).expect("it can be written");
            ParseRequest::new(&path, Default::default())
        };
        let kept = |request: &ParseRequest| {
            KeptProgram::of(request, Cache::at(cache.path())).expect("a place")
        };
        let folder = tempfile::tempdir().expect("a folder");
        let first = request(&folder);
        assert!(kept(&first).read().is_none());
        let Unit { program, source, .. } = load(&LoadRequest::new(first.clone())).expect("it is C");
        kept(&first).write(&program, &source);
        let elsewhere = tempfile::tempdir().expect("a folder");
        let (read, text) = kept(&request(&elsewhere)).read().expect("it is kept");
        assert_eq!(read, program);
        assert_eq!(text.text().len(), source.text().len());
        let other = ParseRequest { flags: flags(&["-funsigned-char"]), ..request(&elsewhere) };
        assert!(kept(&other).read().is_none(), "other flags");
    }

    fn flags(words: &[&str]) -> lydian_frontend::flags::CompileFlags {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        lydian_frontend::flags::CompileFlags::new(&words, std::path::Path::new("own.c"))
            .unwrap_or_default()
    }
}
