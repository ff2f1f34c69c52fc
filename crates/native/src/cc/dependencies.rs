//! Dependency files as the plain compiler makes them.
//!
//! They are written by the run that preprocesses. Its output is another one than the object, so
//! what a compiler would derive from the object's name is spelt out: the file and the target.

use std::path::Path;

use super::{CommandLine, Input};

/// The options with which the preprocessor writes the dependency file of this input's compilation;
/// empty if there is none.
pub fn dependency_arguments(line: &CommandLine, input: &Input) -> Vec<String> {
    if !line.writes_dependencies() {
        return Vec::new();
    }
    let object = line.object_of(input);
    let mut arguments = Vec::new();
    let (mut names_file, mut names_target) = (false, false);
    for words in line.dependency_words() {
        let word = words[0].as_str();
        if let Some(rest) = word.strip_prefix("-Wp,") {
            // `-Wp,-MD,file` hands option and file to the preprocessor itself.
            let mut parts = rest.split(',');
            while let Some(part) = parts.next() {
                match part {
                    "-MD" | "-MMD" => {
                        arguments.push(part.to_owned());
                        if let Some(file) = parts.next() {
                            arguments.extend(["-MF".to_owned(), file.to_owned()]);
                            names_file = true;
                        }
                    }
                    "-MF" | "-MT" | "-MQ" => {
                        names_file |= part == "-MF";
                        names_target |= part != "-MF";
                        arguments.push(part.to_owned());
                        arguments.extend(parts.next().map(str::to_owned));
                    }
                    other => arguments.push(other.to_owned()),
                }
            }
            continue;
        }
        names_file |= word.starts_with("-MF");
        names_target |= word.starts_with("-MT") || word.starts_with("-MQ");
        arguments.extend(words.iter().cloned());
    }
    if !names_file {
        let file = shown(&object.with_extension("d"));
        arguments.extend(["-MF".to_owned(), file]);
    }
    if !names_target {
        arguments.extend(["-MQ".to_owned(), shown(&object)]);
    }
    arguments
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> String {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let line = CommandLine::parse(&words).expect("the line can be read");
        let input = line.inputs().next().expect("an input").clone();
        dependency_arguments(&line, &input).join(" ")
    }

    #[test]
    fn file_and_target_come_from_the_object_unless_they_are_named() {
        assert_eq!(of("-c a.c"), "");
        assert_eq!(of("-MD -c x/a.c"), "-MD -MF a.d -MQ a.o");
        assert_eq!(of("-MMD -MP -c a.c -o o/b.o"), "-MMD -MP -MF o/b.d -MQ o/b.o");
        assert_eq!(of("-MD -MF d -MT t -c a.c"), "-MD -MF d -MT t");
        assert_eq!(of("-MD -MFd -c a.c -o a.lo"), "-MD -MFd -MQ a.lo");
        assert_eq!(of("-Wp,-MD,k/.a.d -c a.c -o k/a.o"), "-MD -MF k/.a.d -MQ k/a.o");
        assert_eq!(of("-Wp,-MMD,a.d,-MT,t -c a.c"), "-MMD -MF a.d -MT t");
    }
}
