//! Suites for test frameworks: one file a framework, to be compiled with the suite as C.
//!
//! The suite as C ([`crate::suite_c`]) holds what tests do. Compiled with `LYDIAN_NO_MAIN` it has no
//! `main` but one function a test, which gives 0 where the test passes. A framework's file has a test
//! of the framework's for each. So the framework's header never meets the source under test, whose
//! names and macros may be anything, and a C++ framework can test C.

use std::fmt::Write as _;

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
    /// Whether it is there under `LYDIAN_RUN_CRASHING` alone.
    pub crashes: bool,
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

    /// What compiles it, with `$CFLAGS` for the flags of the source under test.
    const fn build(self) -> &'static str {
        match self {
            Self::Unity => "tests_unity.c tests.o unity.c",
            Self::Cmocka => "tests_cmocka.c tests.o -lcmocka",
            Self::Check => "tests_check.c tests.o $(pkg-config --libs check)",
            Self::Cunit => "tests_cunit.c tests.o -lcunit",
            Self::Criterion => "tests_criterion.c tests.o -lcriterion",
            Self::Googletest => "tests_googletest.cc tests.o -lgtest -lgtest_main -lpthread",
        }
    }

    /// The file. `suite` names the tests as a whole: a C identifier.
    pub fn text(self, suite: &str, cases: &[Case]) -> String {
        let compiler = if self == Self::Googletest { "c++" } else { "cc" };
        let mut text = format!(
            "/* The tests of tests.c for a test framework, written by Lydian.\n *\n \
             *     cc $CFLAGS -DLYDIAN_NO_MAIN -c tests.c\n \
             *     {compiler} {}\n *\n \
             * -DLYDIAN_RUN_CRASHING, for both files, adds the tests that are known to crash or to run\n \
             * out of time.\n */\n",
            self.build()
        );
        text += self.head();
        let linkage = if self == Self::Googletest { "extern \"C\" " } else { "" };
        text += "\n/* Each gives 0 where the test passes, and says what fails otherwise. */\n";
        for case in cases {
            let _ = writeln!(text, "{linkage}int {}(void);", case.function());
        }
        text.push('\n');
        for case in cases {
            guarded(&mut text, case, &self.test(suite, case));
        }
        self.main(&mut text, suite, cases);
        text
    }

    const fn head(self) -> &'static str {
        match self {
            Self::Unity => {
                "#include \"unity.h\"\n\nvoid setUp(void);\nvoid setUp(void) {}\n\
                 void tearDown(void);\nvoid tearDown(void) {}\n"
            }
            Self::Cmocka => {
                "#include <setjmp.h>\n#include <stdarg.h>\n#include <stddef.h>\n\
                 #include <stdint.h>\n#include <cmocka.h>\n"
            }
            Self::Check => "#include <check.h>\n",
            Self::Cunit => "#include <stddef.h>\n#include <CUnit/Basic.h>\n",
            Self::Criterion => "#include <criterion/criterion.h>\n",
            Self::Googletest => "#include <gtest/gtest.h>\n",
        }
    }

    /// One test.
    fn test(self, suite: &str, case: &Case) -> String {
        let (name, function) = (&case.name, case.function());
        match self {
            Self::Unity => format!(
                "static void test_{name}(void) {{ TEST_ASSERT_EQUAL_INT(0, {function}()); }}\n"
            ),
            Self::Cmocka => format!(
                "static void test_{name}(void **state)\n{{\n    (void)state;\n    \
                 assert_int_equal({function}(), 0);\n}}\n"
            ),
            Self::Check => format!(
                "START_TEST(test_{name})\n{{\n    ck_assert_int_eq({function}(), 0);\n}}\nEND_TEST\n"
            ),
            Self::Cunit => {
                format!("static void test_{name}(void) {{ CU_ASSERT_EQUAL({function}(), 0); }}\n")
            }
            Self::Criterion => {
                format!("Test({suite}, {name}) {{ cr_assert_eq({function}(), 0); }}\n")
            }
            Self::Googletest => {
                format!("TEST({suite}, {name}) {{ EXPECT_EQ(0, {function}()); }}\n")
            }
        }
    }

    fn main(self, text: &mut String, suite: &str, cases: &[Case]) {
        let (before, after) = match self {
            // They bring their own.
            Self::Criterion | Self::Googletest => return,
            Self::Unity => ("    UNITY_BEGIN();\n".to_owned(), "    return UNITY_END();\n"),
            Self::Cmocka => (
                "    const struct CMUnitTest tests[] = {\n".to_owned(),
                // An array has at least one element.
                "        { 0 },\n    };\n    \
                 return _cmocka_run_group_tests(\"tests\", tests, sizeof tests / sizeof *tests - 1, \
                 NULL, NULL);\n",
            ),
            Self::Check => (
                format!(
                    "    Suite *suite = suite_create(\"{suite}\");\n    \
                     TCase *all = tcase_create(\"all\");\n    tcase_set_timeout(all, 0);\n"
                ),
                "    suite_add_tcase(suite, all);\n    SRunner *runner = srunner_create(suite);\n    \
                 srunner_run_all(runner, CK_NORMAL);\n    \
                 int failed = srunner_ntests_failed(runner);\n    srunner_free(runner);\n    \
                 return failed > 0;\n",
            ),
            Self::Cunit => (
                format!(
                    "    if (CU_initialize_registry() != CUE_SUCCESS) return 2;\n    \
                     CU_pSuite suite = CU_add_suite(\"{suite}\", NULL, NULL);\n    \
                     if (!suite) return 2;\n"
                ),
                "    CU_basic_set_mode(CU_BRM_VERBOSE);\n    CU_basic_run_tests();\n    \
                 unsigned failed = CU_get_number_of_failures();\n    CU_cleanup_registry();\n    \
                 return failed > 0;\n",
            ),
        };
        text.push_str("\nint main(void)\n{\n");
        text.push_str(&before);
        for case in cases {
            let name = &case.name;
            let line = match self {
                Self::Unity => format!("    RUN_TEST(test_{name});\n"),
                Self::Cmocka => format!("        cmocka_unit_test(test_{name}),\n"),
                Self::Check => format!("    tcase_add_test(all, test_{name});\n"),
                _ => format!("    if (!CU_add_test(suite, \"{name}\", test_{name})) return 2;\n"),
            };
            guarded(text, case, &line);
        }
        text.push_str(after);
        text.push_str("}\n");
    }
}

/// Adds lines that belong to a test.
fn guarded(text: &mut String, case: &Case, lines: &str) {
    if case.crashes {
        text.push_str("#ifdef LYDIAN_RUN_CRASHING\n");
    }
    text.push_str(lines);
    if case.crashes {
        text.push_str("#endif\n");
    }
}
