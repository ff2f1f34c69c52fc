//! The reader of formulas and of certificates takes any text.

use lydian_check::formula::FUNCTIONS;
use lydian_check::terms::Sort;
use lydian_check::{Certificate, Formula};
use proptest::collection::vec;
use proptest::prelude::*;

const SORTS: [Sort; 5] = [Sort::Bits(32), Sort::Bits(8), Sort::Bool, Sort::Array(8, 16), Sort::F32];

/// Pieces of formulas, most of which fit nowhere.
fn pieces() -> impl Strategy<Value = String> {
    let words: Vec<String> = FUNCTIONS
        .iter()
        .map(|(name, _)| (*name).to_owned())
        .chain(
            ["(", ")", "x0", "x1", "x2", "x4", "x99", "7:32", "7:8", "300:8", "0:0"]
                .map(String::from),
        )
        .chain(
            ["let", "t1", "select", "x3", "extract", "7", "0", "zext", "64", "é"].map(String::from),
        )
        .collect();
    vec(prop::sample::select(words), 0..40).prop_map(|words| words.join(" "))
}

/// Formulas of truth values and numbers of 32 bits.
fn formulas() -> impl Strategy<Value = String> {
    let leaf =
        prop_oneof![Just("x0".to_owned()), any::<u32>().prop_map(|value| format!("{value}:32")),];
    let number = leaf.prop_recursive(5, 40, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(bvadd {a} {b})")),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(bvmul {a} {b})")),
            inner.clone().prop_map(|a| format!("(let (t0 {a}) (bvxor t0 t0))")),
            inner.prop_map(|a| format!("(sext 32 (extract 7 0 {a}))")),
        ]
    });
    (number.clone(), number).prop_map(|(a, b)| format!("(or x2 (bvsle {a} {b}))"))
}

proptest! {
    #[test]
    fn any_text_is_a_formula_or_an_error(text in ".*") {
        let _ = Formula::parse(&text, &SORTS);
    }

    #[test]
    fn pieces_of_formulas_are_a_formula_or_an_error(text in pieces()) {
        if let Ok(formula) = Formula::parse(&text, &SORTS) {
            let again = Formula::parse(&formula.text(), &SORTS).expect("it was written so");
            prop_assert_eq!(again.text(), formula.text());
        }
    }

    #[test]
    fn a_formula_means_the_same_when_it_is_written_and_read_again(text in formulas()) {
        let formula = Formula::parse(&text, &SORTS).expect("it has the right sorts");
        let again = Formula::parse(&formula.text(), &SORTS).expect("it was written so");
        prop_assert_eq!(formula.text(), again.text());
    }

    #[test]
    fn any_text_is_a_certificate_or_an_error(text in ".*") {
        let _ = Certificate::parse(&text);
    }
}
