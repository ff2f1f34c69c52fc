//! Assertions of tests, written for Lydian's own runner and for test frameworks.

use super::literal::NULL;
use crate::suite::c::frameworks::Framework;

/// A line of a test.
#[derive(Clone, Debug)]
pub(super) enum Line {
    /// A statement or declaration.
    Text(String),
    /// An assertion.
    Assert(Assertion),
}

/// One assertion. `seen` and `expected` are C expressions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Assertion {
    /// Of a signed integer of at most 64 bits.
    Int { seen: String, expected: String },
    /// Of an unsigned integer of at most 64 bits.
    Unsigned { seen: String, expected: String },
    /// Of a `double`, by its bits, all NaNs being one.
    Double { seen: String, expected: String },
    /// Of a `float`, as of a `double`.
    Float { seen: String, expected: String },
    /// Of a pointer.
    Pointer { seen: String, expected: String },
    /// That a pointer is not null.
    NotNull { seen: String },
    /// Of a text up to its end; `expected` is a string literal.
    Text { seen: String, expected: String },
    /// Of so many bytes at an address; `expected` is a string literal.
    Bytes { seen: String, expected: String, size: usize },
    /// Of all bytes of an array; `expected` is a variable.
    Same { seen: String, expected: String },
    /// Of the number of calls of an undefined function.
    Calls { function: String, count: u32 },
    /// Of the number of blocks among the inputs that were released.
    Released { count: usize },
    /// Of accesses to devices.
    Device { text: String },
}

impl Assertion {
    /// The same of another expression, if it is of a number or a pointer.
    pub(super) fn of(&self, other: &str) -> Option<Self> {
        let mut copy = self.clone();
        match &mut copy {
            Self::Int { seen, .. }
            | Self::Unsigned { seen, .. }
            | Self::Double { seen, .. }
            | Self::Float { seen, .. }
            | Self::Pointer { seen, .. }
            | Self::Text { seen, .. } => *seen = other.to_owned(),
            _ => return None,
        }
        Some(copy)
    }

    /// The expression that is checked.
    pub(super) fn seen(&self) -> &str {
        match self {
            Self::Int { seen, .. }
            | Self::Unsigned { seen, .. }
            | Self::Double { seen, .. }
            | Self::Float { seen, .. }
            | Self::Pointer { seen, .. }
            | Self::NotNull { seen }
            | Self::Text { seen, .. }
            | Self::Bytes { seen, .. }
            | Self::Same { seen, .. } => seen,
            Self::Calls { function, .. } => function,
            Self::Released { .. } | Self::Device { .. } => "",
        }
    }

    /// Whether it names no variable that a statement before declares.
    pub(super) const fn stands_alone(&self) -> bool {
        !matches!(self, Self::Same { .. })
    }

    /// The statement, for the suite's own runner or a framework.
    pub(super) fn text(&self, framework: Option<Framework>) -> String {
        match framework {
            None | Some(Framework::Googletest) => self.own(),
            Some(framework) => self.of_framework(framework),
        }
    }

    fn own(&self) -> String {
        match self {
            Self::Int { seen, expected } => format!("CHECK_INT({seen}, {expected});"),
            Self::Unsigned { seen, expected } => format!("CHECK_UINT({seen}, {expected});"),
            Self::Double { seen, expected } => format!("CHECK_DOUBLE({seen}, {expected});"),
            Self::Float { seen, expected } => format!("CHECK_FLOAT({seen}, {expected});"),
            Self::Pointer { seen, expected } => format!("CHECK_PTR({seen}, {expected});"),
            Self::NotNull { seen } => format!("CHECK_NOT_NULL({seen});"),
            Self::Text { seen, expected } => format!("CHECK_STR({seen}, {expected});"),
            Self::Bytes { seen, expected, size } => {
                format!("CHECK_BYTES({seen}, {expected}, {size});")
            }
            Self::Same { seen, expected } => format!("CHECK_SAME({seen}, {expected});"),
            Self::Calls { function, count } => format!("CHECK_CALLS({function}, {count});"),
            Self::Released { count } => format!("CHECK_RELEASED({count});"),
            Self::Device { text } => text.clone(),
        }
    }

    fn of_framework(&self, framework: Framework) -> String {
        use Framework::{Check, Cmocka, Criterion, Cunit, Unity};
        let bytes = |seen: &str, expected: &str, size: &str| match framework {
            Unity => format!("TEST_ASSERT_EQUAL_MEMORY({expected}, {seen}, {size});"),
            Cmocka => format!("assert_memory_equal({seen}, {expected}, {size});"),
            Check => format!("ck_assert_mem_eq({seen}, {expected}, {size});"),
            _ => {
                let same = format!("__builtin_memcmp({seen}, {expected}, {size}) == 0");
                holds(framework, &same)
            }
        };
        match self {
            Self::Int { seen, expected } => match framework {
                Unity => format!("TEST_ASSERT_EQUAL_INT64({expected}, {seen});"),
                Cmocka => format!("assert_int_equal({seen}, {expected});"),
                Check => format!("ck_assert_int_eq({seen}, {expected});"),
                Cunit => format!("CU_ASSERT_EQUAL({seen}, {expected});"),
                _ => format!("cr_assert_eq({seen}, {expected});"),
            },
            Self::Unsigned { seen, expected } => match framework {
                Unity => format!("TEST_ASSERT_EQUAL_UINT64({expected}, {seen});"),
                Cmocka => format!("assert_int_equal({seen}, {expected});"),
                Check => format!("ck_assert_uint_eq({seen}, {expected});"),
                Cunit => format!("CU_ASSERT_EQUAL({seen}, {expected});"),
                _ => format!("cr_assert_eq({seen}, {expected});"),
            },
            Self::Double { seen, expected } | Self::Float { seen, expected } => {
                let same = match expected.contains("nan") {
                    true => format!("__builtin_isnan({seen})"),
                    false => format!("{seen} == {expected}"),
                };
                holds(framework, &same)
            }
            Self::Pointer { seen, expected } if expected == NULL => match framework {
                Unity => format!("TEST_ASSERT_NULL({seen});"),
                Cmocka => format!("assert_null({seen});"),
                Check => format!("ck_assert_ptr_null({seen});"),
                Cunit => format!("CU_ASSERT_PTR_NULL({seen});"),
                _ => format!("cr_assert_null({seen});"),
            },
            Self::Pointer { seen, expected } => {
                let (seen, expected) = (format!("(void *){seen}"), format!("(void *)({expected})"));
                match framework {
                    Unity => format!("TEST_ASSERT_EQUAL_PTR({expected}, {seen});"),
                    Cmocka => format!("assert_ptr_equal({seen}, {expected});"),
                    Check => format!("ck_assert_ptr_eq({seen}, {expected});"),
                    Cunit => format!("CU_ASSERT_PTR_EQUAL({seen}, {expected});"),
                    _ => format!("cr_assert_eq({seen}, {expected});"),
                }
            }
            Self::NotNull { seen } => match framework {
                Unity => format!("TEST_ASSERT_NOT_NULL({seen});"),
                Cmocka => format!("assert_non_null({seen});"),
                Check => format!("ck_assert_ptr_nonnull({seen});"),
                Cunit => format!("CU_ASSERT_PTR_NOT_NULL({seen});"),
                _ => format!("cr_assert_not_null({seen});"),
            },
            Self::Text { seen, expected } => {
                let seen = format!("(const char *){seen}");
                match framework {
                    Unity => format!("TEST_ASSERT_EQUAL_STRING({expected}, {seen});"),
                    Cmocka => format!("assert_string_equal({seen}, {expected});"),
                    Check => format!("ck_assert_str_eq({seen}, {expected});"),
                    Cunit => format!("CU_ASSERT_STRING_EQUAL({seen}, {expected});"),
                    Criterion => format!("cr_assert_str_eq({seen}, {expected});"),
                    Framework::Googletest => self.own(),
                }
            }
            Self::Bytes { seen, expected, size } => bytes(seen, expected, &size.to_string()),
            Self::Calls { .. } | Self::Released { .. } | Self::Device { .. } => self.own(),
            Self::Same { seen, expected } => bytes(seen, expected, &format!("sizeof {expected}")),
        }
    }
}

/// An assertion that a condition holds.
fn holds(framework: Framework, condition: &str) -> String {
    match framework {
        Framework::Unity => format!("TEST_ASSERT_TRUE({condition});"),
        Framework::Cmocka => format!("assert_true({condition});"),
        Framework::Check => format!("ck_assert({condition});"),
        Framework::Cunit => format!("CU_ASSERT({condition});"),
        Framework::Criterion | Framework::Googletest => format!("cr_assert({condition});"),
    }
}
