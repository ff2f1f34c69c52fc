//! A small Unity.

/// As much of Unity as the suites use, to be compiled against where the real one is not
/// installed.
pub(crate) const UNITY: &str = "\
#include <stdio.h>
static int unity_failures, unity_tests, unity_failed;
void setUp(void);
void tearDown(void);
static void unity_run(void (*test)(void), const char *name)
{
    unity_failed = 0;
    unity_tests++;
    setUp();
    test();
    tearDown();
    printf(\"%s:%s\\n\", name, unity_failed ? \"FAIL\" : \"PASS\");
    unity_failures += unity_failed;
}
#include <string.h>
#define TEST_ASSERT_TRUE(holds) ((holds) ? 0 : (unity_failed = 1))
#define TEST_ASSERT_EQUAL_INT(expected, actual) TEST_ASSERT_TRUE((expected) == (actual))
#define TEST_ASSERT_EQUAL_INT64(expected, actual) TEST_ASSERT_EQUAL_INT(expected, actual)
#define TEST_ASSERT_EQUAL_UINT64(expected, actual) TEST_ASSERT_EQUAL_INT(expected, actual)
#define TEST_ASSERT_EQUAL_PTR(expected, actual) TEST_ASSERT_EQUAL_INT(expected, actual)
#define TEST_ASSERT_NULL(actual) TEST_ASSERT_TRUE(!(actual))
#define TEST_ASSERT_NOT_NULL(actual) TEST_ASSERT_TRUE(actual)
#define TEST_ASSERT_EQUAL_STRING(expected, actual) TEST_ASSERT_TRUE(!strcmp(expected, actual))
#define TEST_ASSERT_EQUAL_MEMORY(expected, actual, size) \
    TEST_ASSERT_TRUE(!memcmp(expected, actual, size))
#define UNITY_BEGIN() (unity_tests = unity_failures = 0)
#define UNITY_END() (printf(\"%d Tests %d Failures 0 Ignored\\n\", unity_tests, unity_failures), unity_failures)
#define RUN_TEST(test) unity_run(test, #test)
";
