//! Suites for test frameworks.
//!
//! For Unity, CMocka, Check, CUnit and Criterion the suite is written again with tests and assertions
//! of the framework ([`crate::suite::c`]): one file that needs only the framework and `lydian.h`. The
//! framework's header comes after the source under test. If the framework runs all tests in one
//! process, variables that some test changes get their first values again before each test. A test
//! that ends the process, or needs a process of its own for other reasons (files, the environment,
//! results of undefined functions, static variables within functions), runs in a child with Lydian's
//! checks.
//!
//! GoogleTest is C++, and C in general is not. Its tests call those of the suite as C, compiled with
//! `LYDIAN_NO_MAIN`.

use std::fmt::Write as _;

use crate::summary::OnDemand;

/// A test framework.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framework {
    /// ThrowTheSwitch's Unity.
    Unity,
    /// CMocka.
    Cmocka,
    /// Check.
    Check,
    /// CUnit.
    Cunit,
    /// Criterion.
    Criterion,
    /// GoogleTest, in C++.
    Googletest,
}

/// A test of a suite as C.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// Its name, a C identifier.
    pub name: String,
    /// The macros that it is compiled under.
    pub guard: Guard,
}

/// The reasons for which a test is compiled only if macros ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// It crashes or runs out of time.
    pub crashes: bool,
    /// C leaves undefined what it does.
    pub is_undefined: bool,
    /// It tries something outside of the program.
    pub attempts: bool,
}

impl Guard {
    /// The line before the test, if there is one.
    pub(crate) fn begins(self) -> Option<String> {
        let all = [
            (self.crashes, OnDemand::Crashing),
            (self.is_undefined, OnDemand::Undefined),
            (self.attempts, OnDemand::Unconfined),
        ];
        let macros = all.into_iter().filter(|(is_one, _)| *is_one).map(|(_, why)| why.macro_name());
        let macros: Vec<&str> = macros.collect();
        match macros[..] {
            [] => None,
            [one] => Some(format!("#ifdef {one}")),
            _ => Some(format!("#if defined {}", macros.join(" && defined "))),
        }
    }
}

impl Case {
    /// The name of its function in the suite as C.
    pub fn function(&self) -> String {
        format!("lydian_case_{}", self.name)
    }
}

impl Framework {
    /// The name of the file.
    pub const fn file(self) -> &'static str {
        match self {
            Self::Unity => "tests_unity.c",
            Self::Cmocka => "tests_cmocka.c",
            Self::Check => "tests_check.c",
            Self::Cunit => "tests_cunit.c",
            Self::Criterion => "tests_criterion.c",
            Self::Googletest => "tests_googletest.cc",
        }
    }

    /// The arguments that compile it, after the compiler and the flags of the source under test.
    pub(crate) const fn build(self) -> &'static str {
        match self {
            Self::Unity => "tests_unity.c unity.c",
            Self::Cmocka => "tests_cmocka.c -lcmocka",
            Self::Check => "tests_check.c $(pkg-config --libs check)",
            Self::Cunit => "tests_cunit.c -lcunit",
            Self::Criterion => "tests_criterion.c -lcriterion",
            Self::Googletest => "tests_googletest.cc tests.o -lgtest -lgtest_main -lpthread",
        }
    }

    /// The file of GoogleTest, whose tests call those of the suite as C. `suite` names the tests as a
    /// whole: a C identifier.
    pub fn glue(suite: &str, cases: &[Case]) -> String {
        let mut text = format!(
            "/* The tests of tests.c for GoogleTest, written by Lydian.\n *\n \
             *     cc $CFLAGS -DLYDIAN_NO_MAIN -c tests.c\n \
             *     c++ {}\n *\n \
             * -DLYDIAN_RUN_CRASHING, for both files, adds the tests that are known to crash or to run\n \
             * out of time.\n */\n#include <gtest/gtest.h>\n\n\
             /* Each gives 0 where the test passes, and says what fails otherwise. */\n",
            Self::Googletest.build()
        );
        for case in cases {
            let _ = writeln!(text, "extern \"C\" int {}(void);", case.function());
        }
        text.push('\n');
        let tests = cases.iter().map(|case| {
            let (name, function) = (&case.name, case.function());
            (case, format!("TEST({suite}, {name}) {{ EXPECT_EQ(0, {function}()); }}\n"))
        });
        guarded(&mut text, tests);
        text
    }

    pub(crate) const fn head(self) -> &'static str {
        match self {
            Self::Unity => "#include \"unity.h\"\n",
            Self::Cmocka => {
                "#include <setjmp.h>\n#include <stdarg.h>\n#include <stddef.h>\n\
                 #include <stdint.h>\n#include <cmocka.h>\n"
            }
            Self::Check => "#include <stddef.h>\n#include <check.h>\n",
            Self::Cunit => "#include <stddef.h>\n#include <CUnit/Basic.h>\n",
            Self::Criterion => "#include <criterion/criterion.h>\n",
            Self::Googletest => "",
        }
    }

    /// The beginning of a test's function.
    pub(crate) fn begins(self, function: &str, suite: &str) -> String {
        match self {
            Self::Cmocka => {
                format!("static void {function}(void **lydian_state)\n{{\n    (void)lydian_state;")
            }
            Self::Check => format!("START_TEST({function})\n{{"),
            Self::Criterion => format!("Test({suite}, {function})\n{{"),
            Self::Unity | Self::Cunit | Self::Googletest => {
                format!("static void {function}(void)\n{{")
            }
        }
    }

    /// Its end.
    pub(crate) const fn ends(self) -> &'static str {
        if matches!(self, Self::Check) { "}\nEND_TEST" } else { "}" }
    }

    /// A test that runs another one in a process of its own. `entry` is its entry in the table of
    /// tests.
    pub(crate) fn alone(self, function: &str, suite: &str, entry: &str) -> String {
        let passes = match self {
            Self::Unity => "TEST_ASSERT_EQUAL_INT(0, lydian_run(&test));",
            Self::Cmocka => "assert_int_equal(lydian_run(&test), 0);",
            Self::Check => "ck_assert_int_eq(lydian_run(&test), 0);",
            Self::Cunit => "CU_ASSERT_EQUAL(lydian_run(&test), 0);",
            Self::Criterion | Self::Googletest => "cr_assert_eq(lydian_run(&test), 0);",
        };
        format!(
            "\n{}\n    static const struct lydian_test test = {entry};\n    {passes}\n{}\n",
            self.begins(function, suite),
            self.ends()
        )
    }

    /// Whether all tests run in one process.
    const fn shares_process(self) -> bool {
        matches!(self, Self::Unity | Self::Cmocka | Self::Cunit)
    }

    /// Writes the function that runs the tests. `changed` are variables that tests change.
    pub(crate) fn main(
        self,
        text: &mut String,
        suite: &str,
        cases: &[(&Case, &str)],
        changed: &[&str],
    ) {
        let resets = self.shares_process() && !changed.is_empty();
        if resets {
            restore(text, changed);
        }
        let setup = if resets { "    lydian_restore();\n" } else { "" };
        let (before, after) = match self {
            // They have their own.
            Self::Criterion | Self::Googletest => return,
            Self::Unity => {
                let _ = write!(
                    text,
                    "\nvoid setUp(void);\nvoid setUp(void)\n{{\n{setup}}}\n\
                     void tearDown(void);\nvoid tearDown(void) {{}}\n"
                );
                ("    UNITY_BEGIN();\n".to_owned(), "    return UNITY_END();\n")
            }
            Self::Cmocka => {
                let _ = write!(
                    text,
                    "\nstatic int lydian_set_up(void **lydian_state)\n{{\n    (void)lydian_state;\n\
                     {setup}    return 0;\n}}\n"
                );
                (
                    "    const struct CMUnitTest tests[] = {\n".to_owned(),
                    // An array has at least one element.
                    "        { 0 },\n    };\n    \
                     return _cmocka_run_group_tests(\"tests\", tests, sizeof tests / sizeof *tests - 1, \
                     NULL, NULL);\n",
                )
            }
            Self::Check => (
                format!(
                    "    Suite *suite = suite_create(\"{suite}\");\n    \
                     TCase *all = tcase_create(\"all\");\n    int failed;\n    SRunner *runner;\n    \
                     tcase_set_timeout(all, 0);\n"
                ),
                "    suite_add_tcase(suite, all);\n    runner = srunner_create(suite);\n    \
                 srunner_run_all(runner, CK_NORMAL);\n    \
                 failed = srunner_ntests_failed(runner);\n    srunner_free(runner);\n    \
                 return failed > 0;\n",
            ),
            Self::Cunit => {
                let _ = write!(text, "\nstatic void lydian_set_up(void)\n{{\n{setup}}}\n");
                (
                    format!(
                        "    CU_pSuite suite;\n    unsigned failed;\n    \
                         if (CU_initialize_registry() != CUE_SUCCESS) return 2;\n    \
                         suite = CU_add_suite_with_setup_and_teardown(\"{suite}\", NULL, NULL, lydian_set_up, \
                         NULL);\n    if (!suite) return 2;\n"
                    ),
                    "    CU_basic_set_mode(CU_BRM_VERBOSE);\n    CU_basic_run_tests();\n    \
                     failed = CU_get_number_of_failures();\n    CU_cleanup_registry();\n    \
                     return failed > 0;\n",
                )
            }
        };
        text.push_str("\nint main(void)\n{\n");
        text.push_str(&before);
        let lines = cases.iter().map(|(case, function)| {
            let name = &case.name;
            let line = match self {
                Self::Unity => format!("    RUN_TEST({function});\n"),
                Self::Cmocka => {
                    format!("        cmocka_unit_test_setup({function}, lydian_set_up),\n")
                }
                Self::Check => format!("    tcase_add_test(all, {function});\n"),
                _ => format!("    if (!CU_add_test(suite, \"{name}\", {function})) return 2;\n"),
            };
            (*case, line)
        });
        guarded(text, lines);
        text.push_str(after);
        text.push_str("}\n");
    }
}

/// A function that gives variables the values that they had when it was called first.
fn restore(text: &mut String, changed: &[&str]) {
    text.push_str("\nstatic void lydian_restore(void)\n{\n    static int lydian_kept = 0;\n");
    for (number, name) in changed.iter().enumerate() {
        let _ = writeln!(text, "    static unsigned char lydian_kept_{number}[sizeof {name}];");
    }
    for (number, name) in changed.iter().enumerate() {
        let _ = writeln!(text, "    LYDIAN_RESTORE({name}, lydian_kept_{number}, lydian_kept);");
    }
    text.push_str("    lydian_kept = 1;\n}\n");
}

/// Adds lines that belong to tests. Those of neighbours with the same guard stand behind it together.
pub(crate) fn guarded<'c>(text: &mut String, all: impl IntoIterator<Item = (&'c Case, String)>) {
    let mut open = Guard::default();
    for (case, lines) in all {
        if case.guard != open {
            close(text, open);
            let begin = case.guard.begins();
            begin.into_iter().for_each(|begin| text.extend([begin.as_str(), "\n"]));
            open = case.guard;
        }
        text.push_str(&lines);
    }
    close(text, open);
}

fn close(text: &mut String, guard: Guard) {
    if guard != Guard::default() {
        text.push_str("#endif\n");
    }
}
