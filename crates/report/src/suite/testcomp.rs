//! Suites in the exchange format of the Competition on Software Testing: a zip file with
//! `metadata.xml` and one XML file a test, which has the inputs in the order of the program's calls.

use std::io::{Cursor, Read as _, Write as _};

use lydian_ir::Program;
use lydian_ir::test::{Test, number_image};
use quick_xml::escape::escape;
use sha2::{Digest as _, Sha256};
use thiserror::Error;
use zip::write::SimpleFileOptions;
use zip::{ZipArchive, ZipWriter};

use crate::suite::inputs::{any_number, inputs_of, test_of};
use crate::suite::test::SuiteTest;

/// The name of the file about the suite.
pub const METADATA: &str = "metadata.xml";

const XML: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"no\"?>\n";
/// Bytes of the largest file in a suite that is read.
const MOST_BYTES: u64 = 1 << 26;

/// The metadata of a suite.
#[derive(Clone, Debug)]
pub struct Metadata<'a> {
    /// The path of the program.
    pub program_file: &'a str,
    /// Its text.
    pub program_text: &'a [u8],
    /// The function that the program starts with.
    pub entry: &'a str,
    /// The goal of the tests, in the competition's notation: [`BRANCHES`] or [`ERROR`].
    pub specification: &'a str,
    /// Seconds since 1970.
    pub created: u64,
}

/// The specification that asks for all branches.
pub const BRANCHES: &str = "COVER( init(main()), FQL(COVER EDGES(@DECISIONEDGE)) )";
/// The specification that asks for a call of the error function.
pub const ERROR: &str = "COVER( init(main()), FQL(COVER EDGES(@CALL(reach_error))) )";

/// Why a suite cannot be read.
#[derive(Debug, Error)]
pub enum TestCompError {
    /// It is no zip file, or a damaged one.
    #[error("the zip file cannot be read: {0}")]
    Zip(#[from] zip::result::ZipError),
    /// A file in it cannot be read.
    #[error("{file}: {error}")]
    File {
        /// The file.
        file: String,
        /// The error of the system.
        error: std::io::Error,
    },
    /// A file is no XML.
    #[error("{file}: {error}")]
    Xml {
        /// The file.
        file: String,
        /// The error, with its place.
        error: roxmltree::Error,
    },
    /// An input is no number.
    #[error("{file}: the input `{text}` is no number")]
    Number {
        /// The file.
        file: String,
        /// The input.
        text: String,
    },
}

/// A suite in this form.
#[derive(Clone, Debug)]
pub struct TestComp {
    /// The files, by name.
    pub files: Vec<(String, String)>,
    /// The tests that the form cannot hold, by name, with the reason.
    pub left_out: Vec<(String, String)>,
}

/// Writes a suite of tests of a whole program.
pub fn to_testcomp(program: &Program, tests: &[SuiteTest], about: &Metadata<'_>) -> TestComp {
    let mut suite =
        TestComp { files: vec![(METADATA.to_owned(), metadata(about))], left_out: Vec::new() };
    for test in tests {
        match test_case(program, &test.test) {
            Ok(text) => suite.files.push((format!("{}.xml", test.name), text)),
            Err(why) => suite.left_out.push((test.name.clone(), why)),
        }
    }
    suite
}

impl TestComp {
    /// The suite as a zip file. The same suite gives the same bytes.
    pub fn to_zip(&self) -> Vec<u8> {
        let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
        let options = SimpleFileOptions::default();
        let mut write = || -> zip::result::ZipResult<()> {
            for (name, text) in &self.files {
                zip.start_file(name.as_str(), options)?;
                zip.write_all(text.as_bytes())?;
            }
            Ok(())
        };
        write().expect("memory can be written to");
        zip.finish().expect("memory can be written to").into_inner()
    }
}

fn metadata(about: &Metadata<'_>) -> String {
    let hash: String =
        Sha256::digest(about.program_text).iter().map(|byte| format!("{byte:02x}")).collect();
    let fields = [
        ("sourcecodelang", "C".to_owned()),
        ("producer", format!("Lydian {}", env!("CARGO_PKG_VERSION"))),
        ("specification", about.specification.to_owned()),
        ("programfile", about.program_file.to_owned()),
        ("programhash", hash),
        ("entryfunction", about.entry.to_owned()),
        ("architecture", "64bit".to_owned()),
        ("creationtime", iso_time(about.created)),
    ];
    let mut text = format!(
        "{XML}<!DOCTYPE test-metadata PUBLIC \"+//IDN sosy-lab.org//DTD test-format \
         test-metadata 1.1//EN\" \"https://sosy-lab.org/test-format/test-metadata-1.1.dtd\">\n\
         <test-metadata>\n"
    );
    for (name, value) in fields {
        text += &format!("  <{name}>{}</{name}>\n", escape(value.as_str()));
    }
    text + "</test-metadata>\n"
}

fn test_case(program: &Program, test: &Test) -> Result<String, String> {
    let mut text = format!(
        "{XML}<!DOCTYPE testcase PUBLIC \"+//IDN sosy-lab.org//DTD test-format testcase 1.1//EN\" \
         \"https://sosy-lab.org/test-format/testcase-1.1.dtd\">\n<testcase>\n"
    );
    for input in inputs_of(program, test)? {
        let number = input.number.ok_or_else(|| format!("{} is no number", input.name))?;
        let ty = input.ty.map_or(String::new(), |ty| format!(" type=\"{}\"", escape(ty.as_str())));
        text += &format!("  <input{ty}>{}</input>\n", escape(number.as_str()));
    }
    Ok(text + "</testcase>\n")
}

/// Seconds since 1970 as a date and time in UTC, as ISO 8601 has them.
pub fn iso_time(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Days are counted from the first of March of the year 0, so that leap days come last.
    let days = days + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hours, minutes) = (rest / 3600, rest / 60 % 60);
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{:02}Z", rest % 60)
}

/// Reads the tests of a zip file, in the order of their names: each a name and a test of `entry`.
///
/// # Errors
/// If the file or one in it cannot be read.
pub fn from_zip(entry: &str, bytes: &[u8]) -> Result<Vec<(String, Test)>, TestCompError> {
    let mut archive = ZipArchive::new(Cursor::new(bytes))?;
    let mut tests = Vec::new();
    for position in 0..archive.len() {
        let file = archive.by_index(position)?;
        let name = file.name()?.into_owned();
        if !name.ends_with(".xml") {
            continue;
        }
        let mut text = String::new();
        let read = file.take(MOST_BYTES).read_to_string(&mut text);
        read.map_err(|error| TestCompError::File { file: name.clone(), error })?;
        let test = from_xml(entry, &name, &text)?;
        tests.extend(test.map(|test| (name.trim_end_matches(".xml").to_owned(), test)));
    }
    tests.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(tests)
}

/// Reads one XML file. `file` is its name. `None` if it is no test, such as the file about the suite.
///
/// # Errors
/// If it is no XML, or has an input that is no number.
pub fn from_xml(entry: &str, file: &str, text: &str) -> Result<Option<Test>, TestCompError> {
    let options = roxmltree::ParsingOptions { allow_dtd: true, ..Default::default() };
    let document = roxmltree::Document::parse_with_options(text, options)
        .map_err(|error| TestCompError::Xml { file: file.to_owned(), error })?;
    let root = document.root_element();
    if root.tag_name().name() != "testcase" {
        return Ok(None);
    }
    let mut externals = Vec::new();
    for input in root.children().filter(|node| node.tag_name().name() == "input") {
        let text = input.text().unwrap_or("");
        let image = number_image(text).ok_or_else(|| TestCompError::Number {
            file: file.to_owned(),
            text: text.trim().to_owned(),
        })?;
        externals.push(any_number(image));
    }
    Ok(Some(test_of(entry, externals)))
}

#[cfg(test)]
mod tests {
    use lydian_ir::test::{ANY_NUMBER, ExternalResult, Image};

    use super::*;

    #[test]
    fn a_time_is_written_as_a_date() {
        assert_eq!(iso_time(0), "1970-01-01T00:00:00Z");
        assert_eq!(iso_time(951_782_399), "2000-02-28T23:59:59Z");
        assert_eq!(iso_time(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(iso_time(4_102_444_800), "2100-01-01T00:00:00Z");
        assert_eq!(iso_time(951_827_696), "2000-02-29T12:34:56Z");
        assert_eq!(iso_time(1_735_689_599), "2024-12-31T23:59:59Z");
    }

    #[test]
    fn a_suite_reads_back_from_its_zip_file_in_the_order_of_names() {
        let four = |value: i32| {
            let result = Image { bytes: value.to_le_bytes().to_vec(), pointers: Vec::new() };
            ExternalResult::new("__VERIFIER_nondet_int", result)
        };
        let test = |name: &str, values: &[i32]| SuiteTest {
            name: name.into(),
            test: test_of("main", values.iter().map(|value| four(*value)).collect()),
            observed: None,
            covers: Vec::new(),
            kept_for: Vec::new(),
            keep: false,
            thorough: false,
        };
        let about = Metadata {
            program_file: "a & b.c",
            program_text: b"int main(void) { }",
            entry: "main",
            specification: BRANCHES,
            created: 0,
        };
        let tests = [test("two", &[7]), test("one", &[1, 2])];
        let suite = to_testcomp(&Program::default(), &tests, &about);
        assert!(suite.left_out.is_empty(), "{suite:?}");
        assert!(suite.files[0].1.contains("<programfile>a &amp; b.c</programfile>"));
        let read = from_zip("main", &suite.to_zip()).unwrap();
        let names: Vec<&str> = read.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["one", "two"]);
        assert_eq!(read[0].1.externals.len(), 2);
        assert_eq!(read[1].1.externals[0].function, ANY_NUMBER);
        assert_eq!(read[1].1.externals[0].result.bytes[..4], [7, 0, 0, 0]);
    }

    #[test]
    fn what_is_no_test_is_told_with_its_file() {
        assert!(from_xml("main", "m.xml", "<test-metadata/>").unwrap().is_none());
        let bad = from_xml("main", "t.xml", "<testcase><input>abc</input></testcase>");
        assert!(bad.unwrap_err().to_string().starts_with("t.xml: the input `abc`"));
        assert!(from_xml("main", "t.xml", "<testcase>").is_err());
        assert!(from_zip("main", b"no zip").is_err());
    }
}
