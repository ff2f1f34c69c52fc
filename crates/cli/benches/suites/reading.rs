//! What a reader of a suite sees.

/// Of the tests of a suite that run by default.
pub(crate) struct Reading {
    /// How many lines each has.
    pub(crate) lines: Vec<usize>,
    /// How many assert nothing.
    pub(crate) silent: usize,
    /// How many others C leaves undefined.
    pub(crate) undefined: usize,
}

/// The line behind which the tests stand, and those behind the last.
const BEGIN: &str = "/* ---- The tests ---- */";
const END: [&str; 2] = ["#ifdef LYDIAN_NO_MAIN", "int main(void)"];

impl Reading {
    pub(crate) fn of(text: &str) -> Self {
        let tests = text.split_once(BEGIN).map_or("", |(_, tests)| tests);
        let end = END.iter().filter_map(|end| tests.find(end)).min().unwrap_or(tests.len());
        let mut reading = Self { lines: Vec::new(), silent: 0, undefined: 0 };
        for test in tests[..end].split("\n}\n") {
            if !test.contains("static void test_") || test.contains("#ifdef LYDIAN_RUN_CRASHING") {
                continue;
            }
            if test.contains("#ifdef LYDIAN_RUN_UNDEFINED") {
                reading.undefined += 1;
                continue;
            }
            let lines = test.lines().filter(|line| !line.trim().is_empty() && *line != "#endif");
            let lines: Vec<&str> = lines.collect();
            let checks =
                lines.iter().filter(|line| line.trim_start().starts_with("CHECK_")).count();
            let is_table = lines.first().is_some_and(|line| line.starts_with("static void"));
            if is_table && checks > 1 {
                // Each check is a row, which is a test.
                let each = lines.len().div_ceil(checks);
                reading.lines.extend(std::iter::repeat_n(each, checks));
                continue;
            }
            reading.lines.push(lines.len() + 1);
            let is_silent = checks == 0 && !test.contains("LYDIAN_RETURNED(");
            reading.silent += usize::from(is_silent);
        }
        reading
    }
}
