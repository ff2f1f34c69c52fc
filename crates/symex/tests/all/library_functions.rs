//! Models of library functions, from C.

use lydian_inputs::Settings;
use lydian_ir::TrapKind;
use lydian_objective::Criterion;
use lydian_symex::{Config, Cut, Ending, Search};

use crate::common::{explore_c, explore_c_with, guessed, plain};

/// The bytes of the first object of every test, in the order of their finding. All paths are followed,
/// which guessed inputs have for strings: those have a few characters.
fn objects(text: &str, function: &str, settings: Settings) -> Vec<Vec<u8>> {
    let found = explore_c_with(text, function, &[], &plain(), settings);
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
    let image = |test: &lydian_symex::FoundTest| {
        test.test.objects.first().map_or_else(Vec::new, |object| object.image.bytes.clone())
    };
    found.tests.iter().map(image).collect()
}

#[test]
fn a_string_is_compared_without_a_path_for_each_of_its_bytes() {
    let text = r#"
        #include <string.h>
        int is_yes(const char *s) { return strcmp(s, "yes") == 0 ? 1 : 0; }
    "#;
    let found = objects(text, "is_yes", guessed());
    assert_eq!(found.len(), 2);
    assert!(found.iter().any(|bytes| bytes.starts_with(b"yes\0")), "{found:?}");
}

#[test]
fn a_string_not_followed_to_its_end_ends_in_the_test() {
    let text = r#"
        #include <string.h>
        int long_or_not(const char *name, int b) {
            size_t length = strlen(name);
            if (b > 3) return 1;
            return length < 60;
        }
    "#;
    for search in [Search::DepthFirst, Search::BreadthFirst, Search::Mixed] {
        let config = Config { search, ..plain() };
        let found = explore_c_with(text, "long_or_not", &[], &config, Settings::default());
        let names = found.tests.iter().filter_map(|found| found.test.objects.first());
        let names: Vec<&[u8]> = names.map(|name| &name.image.bytes[..]).collect();
        assert!(names.iter().all(|name| name.contains(&0)), "{names:?}");
        assert!(names.iter().any(|name| !name[..64.min(name.len())].contains(&0)), "{names:?}");
    }
}

#[test]
fn a_length_can_be_asked_for() {
    let text = r#"
        #include <string.h>
        int five(const char *s) { if (strlen(s) == 5 && s[4] == 'x') return 1; return 0; }
    "#;
    let found = objects(text, "five", guessed());
    let five = |bytes: &Vec<u8>| bytes.iter().position(|b| *b == 0) == Some(5) && bytes[4] == b'x';
    assert!(found.iter().any(five), "{found:?}");
}

#[test]
fn searching_gives_a_pointer_into_the_string() {
    let text = r#"
        #include <string.h>
        int port(const char *s) {
            const char *colon = strchr(s, ':');
            if (!colon) return -1;
            if (colon[1] == '8') return colon - s;
            return -2;
        }
    "#;
    let found = objects(text, "port", guessed());
    assert!(found.iter().any(|bytes| bytes.windows(2).any(|pair| pair == b":8")), "{found:?}");
}

#[test]
fn copied_bytes_are_read_back() {
    let text = r#"
        #include <string.h>
        int copy(const unsigned char *buf, size_t len) {
            unsigned char local[8];
            if (len > sizeof local) return -1;
            memset(local, 0xff, sizeof local);
            memcpy(local, buf, len);
            if (local[3] == 7) return 1;
            return 0;
        }
    "#;
    let found = objects(text, "copy", Settings::default());
    assert!(found.iter().any(|bytes| bytes.len() > 3 && bytes[3] == 7), "{found:?}");
}

#[test]
fn memory_is_allocated_may_fail_and_is_freed_once() {
    let text = r#"
        #include <stdlib.h>
        int twice(int again) {
            int *p = malloc(sizeof *p);
            if (!p) return -1;
            *p = again;
            int value = *p;
            free(p);
            if (value == 42) free(p);
            return 0;
        }
    "#;
    let found = explore_c(text, "twice", &[], &plain());
    let bad_free = Ending::Trapped(TrapKind::BadFree);
    assert_eq!(found.summary.paths.get(&bad_free), Some(&1), "{:?}", found.summary);
    assert_eq!(found.summary.paths.get(&Ending::Returned), Some(&2));
    let fails = |test: &&lydian_symex::FoundTest| test.test.externals[0].result.bytes == [0];
    assert_eq!(found.tests.iter().filter(fails).count(), 1);
}

#[test]
fn characters_are_classified_and_bits_are_counted() {
    let text = r#"
        #include <ctype.h>
        int digit_and_bits(unsigned char c) {
            if (!isdigit(c)) return 0;
            return __builtin_popcount(c) == 5 ? 2 : 1;
        }
    "#;
    let found = explore_c(text, "digit_and_bits", &[], &plain());
    assert_eq!(found.summary.path_count(), 3, "{:?}", found.summary);
    let five = found.tests.iter().any(|test| test.test.args[0].bytes == [b'7']);
    assert!(five, "only the digit 7 has five bits");
}

#[test]
fn arithmetic_that_reports_overflow_stores_the_wrapped_result() {
    let text = r#"
        int add(int a, int b) {
            int sum;
            if (__builtin_add_overflow(a, b, &sum)) return sum == -2 ? 1 : 2;
            return 0;
        }
    "#;
    let found = explore_c(text, "add", &[], &plain());
    assert_eq!(found.summary.path_count(), 3, "{:?}", found.summary);
}

#[test]
fn rounding_is_exact_and_other_mathematics_is_not_complete() {
    let text = r#"
        #include <math.h>
        int floors(double x) { return floor(x) == 3.0 && x > 3.5 ? 1 : 0; }
        int sines(double x) { return sin(x) > 0.5 ? 1 : 0; }
    "#;
    let exact = explore_c(text, "floors", &[], &plain());
    assert!(exact.summary.complete, "{:?}", exact.summary.cuts);
    let inexact = explore_c(text, "sines", &[], &plain());
    assert!(!inexact.summary.complete);
    let is_sine = |cut: &Cut| matches!(cut, Cut::Mathematics(name, _) if name == "sin");
    assert!(inexact.summary.cuts.keys().any(is_sine), "{:?}", inexact.summary.cuts);
    assert!(!inexact.tests.is_empty());
}

#[test]
fn a_string_at_an_unknown_place_ends_with_its_object() {
    let text = r#"
        #include <string.h>
        unsigned char to[24];
        int copy(unsigned at, unsigned from, size_t count) {
            const char text[] = "abcdefgh";
            if (from > 8 || at > 20) return -1;
            memcpy(to + at, text + from, count);
            memset(to + at, 1, count);
            if (strlen(text + from) + count == 9 && count > 4) return 2;
            if (strchr(text + from, 'g') == 0) return 1;
            return 0;
        }
    "#;
    let found = explore_c(text, "copy", &[Criterion::Bbc], &Config::default());
    assert!(found.summary.complete, "{:?}", found.summary.cuts);
    assert_eq!(found.summary.left.len(), 0, "{:?}", found.summary.left);
}
