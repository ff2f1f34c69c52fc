//! The language by the paper's examples, its errors, and texts at random.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::syntax::{
    Duty, Extent, File, Item, LabelRef, LabelTree, Name, Named, PathTree, PointKind, PointRef,
    SequenceTree, Term, TermKind, Tree, TreeKind,
};
use super::*;
use crate::hyper::FormulaOp;
use crate::hyper::form::Rule;

fn names_of(text: &str) -> Result<BTreeSet<String>, HtolError> {
    visible_names(&parse(text)?, &|_| None)
}

fn names(list: &str) -> BTreeSet<String> {
    list.split_whitespace().map(str::to_owned).collect()
}

/// Examples 1 to 4 and V-D of [002], as written there.
const EXAMPLES: [(&str, &str); 8] = [
    (
        "< (loc1, x == y && a < b) |> { c1 <- x == y; c2 <- a < b } . \
           (loc1, !(x == y && a < b)) |> { c1' <- x == y; c2' <- a < b } \
         | c1 != c1' && c2 == c2' >",
        "c1 c1' c2 c2'",
    ),
    ("(loc1, true) + (loc2, true)", ""),
    ("[(loc1, true) -> (loc2, true)]", ""),
    (
        "< [(loc1, true) |> { lo <- low } -> (loc2, true) |> { r <- res }] . \
           [(loc1, true) |> { lo' <- low } -> (loc2, true) |> { r' <- res }] \
         | lo == lo' && r != r' >",
        "lo lo' r r'",
    ),
    (
        "\u{27e8} (loc1, c1 \u{2227} c2) \u{25b7} { r \u{21a4} d } \u{b7} \
           (loc1, \u{ac}c1 \u{2227} c2) \u{25b7} { r' \u{21a4} d } | r \u{2260} r' \u{27e9}",
        "r r'",
    ),
    ("[l1 -> l2] + [l1 -> l3]", ""),
    ("< [l5 |> { v1 <- i } -(pc == loc2 => j != v1)-> l6 |> { v2 <- k }] | v1 == v2 >", "v1 v2"),
    ("[activation n1 -(pc != n3; pc != n4)-> n2 -> n1]", ""),
];

#[test]
fn the_papers_examples_are_read_and_bind_their_names() {
    for (text, expected) in EXAMPLES {
        assert_eq!(names_of(text), Ok(names(expected)), "{text}");
        let tree = parse(text).expect("as above");
        assert_eq!(parse(&tree.to_string()).as_ref(), Ok(&tree), "{tree}");
    }
}

#[test]
fn a_text_is_printed_plainly() {
    let tree = parse("<(((a . b)) + c|>{x<-(p->n[2].m)*-(1+2)})|x<-1&&(y>2)>");
    assert_eq!(
        tree.expect("well-formed or not").to_string(),
        "< a . b + c |> { x <- p->n[2].m * -(1 + 2) } | x < -1 && y > 2 >"
    );
}

#[test]
fn each_rule_of_well_formedness_is_told_with_its_names_and_place() {
    let cases = [
        ("a |> { v <- x; v <- y }", Rule::Bindings, "v", "v"),
        ("[a |> { v <- x } -> b |> { v <- y; w <- z }]", Rule::Sequence, "v", "b |> {"),
        ("a |> { v <- x; w <- x } . (b . c |> { w <- y })", Rule::Conjunction, "w", "b . c"),
        ("a |> { v <- x } + b |> { w <- y }", Rule::Disjunction, "v w", "b |> {"),
        ("< a |> { v <- x } + b |> { v <- y } | v == u + t >", Rule::Guard, "t u", "u + t"),
    ];
    for (text, rule, expected, at) in cases {
        let Err(HtolError::IllFormed { rule: broken, names: found, at: place }) = names_of(text)
        else {
            panic!("{text}")
        };
        assert_eq!((broken, found), (rule, names(expected).into_iter().collect()), "{text}");
        assert!(text[place.start..].starts_with(at), "{text}: {}", &text[place]);
    }
}

#[test]
fn what_is_no_hyperlabel_is_told_where_it_stops_being_one() {
    let cases = [
        ("", "a label, `[`, `<` or `(` is expected here", 0),
        ("a . ", "a label, `[`, `<` or `(` is expected here", 4),
        ("[a]", "`->` is expected here", 2),
        ("[a -> b -(pc = x)-> c]", "`==` is expected here", 13),
        ("< a | 1", "`>` is expected here", 7),
        ("a |> { x = 1 }", "`<-` is expected here", 9),
        ("a b", "`.`, `+` or the end is expected here", 2),
        ("a @ b", "`@` has no meaning here", 2),
        (
            "< a | 170141183460469231731687303715884105728 >",
            "this is no number of at most 127 bits",
            6,
        ),
    ];
    for (text, message, at) in cases {
        let error = parse(text).expect_err(text);
        assert_eq!((error.to_string().as_str(), error.at().start), (message, at), "{text}");
    }
    let error = parse_file("function f;\n  objective = a;\n").expect_err("no name");
    assert_eq!(error.line_and_column("function f;\n  objective = a;\n"), (2, 13));
}

#[test]
fn deep_texts_are_refused_and_do_not_exhaust_the_stack() {
    for text in [
        "(".repeat(100_000),
        "<".repeat(100_000),
        format!("< a | {}", "!".repeat(100_000)),
        format!("< a | {}", "(".repeat(100_000)),
        format!("< a | 1{}", " + 1".repeat(100_000)),
        format!("< a | x{}", "[0]".repeat(100_000)),
    ] {
        assert!(parse(&text).is_err());
    }
}

fn name() -> impl Strategy<Value = Name> {
    "[a-d][0-9]?'?".prop_map(|text| Name { text, at: Extent::default() })
}

fn term() -> impl Strategy<Value = Term> {
    let make = |kind| Term { kind, at: Extent::default() };
    let leaf = prop_oneof![
        (0..300i128).prop_map(TermKind::Number),
        name().prop_map(|name| TermKind::Name(name.text)),
    ];
    let ops = [
        FormulaOp::And,
        FormulaOp::Or,
        FormulaOp::Eq,
        FormulaOp::Ne,
        FormulaOp::Lt,
        FormulaOp::Le,
        FormulaOp::Gt,
        FormulaOp::Ge,
        FormulaOp::Add,
        FormulaOp::Sub,
        FormulaOp::Mul,
        FormulaOp::Div,
        FormulaOp::Rem,
    ];
    leaf.prop_map(make).prop_recursive(4, 12, 2, move |inner| {
        let one = inner.clone().prop_map(Box::new).boxed();
        let two = (one.clone(), one.clone());
        prop_oneof![
            one.clone().prop_map(TermKind::Not),
            one.clone().prop_map(TermKind::Negate),
            one.clone().prop_map(TermKind::Deref),
            (one.clone(), name()).prop_map(|(a, name)| TermKind::Member(a, name.text)),
            (one, name()).prop_map(|(a, name)| TermKind::Arrow(a, name.text)),
            two.clone().prop_map(|(a, b)| TermKind::Index(a, b)),
            (proptest::sample::select(ops.to_vec()), two)
                .prop_map(|(op, (a, b))| TermKind::Binary(op, a, b)),
        ]
        .prop_map(make)
    })
}

fn point() -> impl Strategy<Value = PointRef> {
    let kind = prop_oneof![
        name().prop_map(|name| PointKind::Label(name.text)),
        Just(PointKind::Entry),
        (proptest::option::of("[a-z]{1,3}\\.c"), 1..50u32)
            .prop_map(|(file, line)| PointKind::Line(file, line)),
    ];
    (proptest::option::weighted(0.3, name()), kind).prop_map(|(function, kind)| PointRef {
        function,
        kind,
        at: Extent::default(),
    })
}

fn path() -> impl Strategy<Value = PathTree> {
    let more = proptest::collection::vec((any::<bool>(), point()), 0..4);
    (point(), more).prop_map(|(first, more)| {
        let (gaps, mut steps): (Vec<_>, Vec<_>) = more.into_iter().unzip();
        steps.insert(0, first);
        PathTree { steps, gaps, at: Extent::default() }
    })
}

fn file() -> impl Strategy<Value = File> {
    let item = prop_oneof![
        name().prop_map(Item::Function),
        (name(), label()).prop_map(|(name, label)| Item::Label(name, label)),
        (name(), tree()).prop_map(|(name, tree)| Item::Objective(name, tree)),
        (name(), path()).prop_map(|(name, path)| Item::Path(name, path)),
    ];
    proptest::collection::vec(item, 0..4).prop_map(|items| File { items })
}

fn label() -> impl Strategy<Value = LabelTree> {
    let reference = prop_oneof![
        (proptest::option::weighted(0.3, name()), name())
            .prop_map(|(function, name)| LabelRef::Named(Named { function, name })),
        (point(), term()).prop_map(|(point, term)| LabelRef::At(point, term)),
    ];
    let bindings = proptest::collection::vec((name(), term()), 0..3);
    (reference, bindings).prop_map(|(label, bindings)| LabelTree {
        label,
        bindings,
        at: Extent::default(),
    })
}

fn sequence() -> impl Strategy<Value = SequenceTree> {
    let duty =
        (point(), proptest::option::of(term())).prop_map(|(point, holds)| Duty { point, holds });
    let step = (proptest::collection::vec(duty, 0..3), label());
    (any::<bool>(), label(), proptest::collection::vec(step, 1..3)).prop_map(
        |(activation, first, steps)| {
            let (passages, mut labels): (Vec<_>, Vec<_>) = steps.into_iter().unzip();
            labels.insert(0, first);
            SequenceTree { activation, labels, passages }
        },
    )
}

fn tree() -> impl Strategy<Value = Tree> {
    let make = |kind| Tree { kind, at: Extent::default() };
    let leaf =
        prop_oneof![label().prop_map(TreeKind::Label), sequence().prop_map(TreeKind::Sequence),];
    leaf.prop_map(make).prop_recursive(3, 8, 3, move |inner| {
        let parts = proptest::collection::vec(inner.clone(), 2..4).boxed();
        prop_oneof![
            (inner.prop_map(Box::new), term()).prop_map(|(h, term)| TreeKind::Guard(h, term)),
            parts.clone().prop_map(TreeKind::All),
            parts.prop_map(TreeKind::Any),
        ]
        .prop_map(make)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_is_printed_reads_back_as_the_same(tree in tree()) {
        let text = tree.to_string();
        prop_assert_eq!(parse(&text).map_err(|error| error.to_string()), Ok(tree), "{}", text);
    }

    #[test]
    fn a_file_that_is_printed_reads_back_as_the_same(file in file()) {
        let text = file.to_string();
        prop_assert_eq!(parse_file(&text).map_err(|error| error.to_string()), Ok(file), "{}", text);
    }

    #[test]
    fn no_text_makes_the_parser_panic(text in "\\PC{0,60}") {
        _ = parse(&text);
        if let Err(error) = parse_file(&text) {
            prop_assert!(error.at().start <= text.len());
            _ = error.line_and_column(&text);
        }
    }

    #[test]
    fn no_row_of_tokens_makes_the_parser_panic(
        tokens in proptest::collection::vec(
            proptest::sample::select(vec![
                "(", ")", "[", "]", "<", ">", "|", "|>", "{", "}", "<-", "->", "-(", ")->", "pc",
                "==", "=>", "!=", "a", "b'", "1", ";", ",", ".", "+", "-", "*", "!", "&&", "entry",
                "line", "\"f.c\"", ":", "function", "label", "objective", "=", "activation",
                "path", "::", "...",
            ]),
            0..40,
        ),
    ) {
        let text = tokens.join(" ");
        if let Ok(tree) = parse(&text) {
            let printed = tree.to_string();
            prop_assert_eq!(parse(&printed), Ok(tree), "{}", printed);
        }
        _ = parse_file(&text);
    }
}
