//! What undefined functions write, in the interpreter and natively: both do what the test says.

use std::path::Path;
use std::sync::Arc;

use lydian_base::Rng;
use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, Unit, load};
use lydian_ir::interp::{End, Options, Silent, run};
use lydian_ir::test::{
    ExternalResult, ExternalWrite, Image, ImagePointer, PointerTarget, Test, WriteBase,
};
use lydian_native::{Build, BuildRequest, Limits, Optimization, Outcome, Plan, Runner, Wants};

/// A ring of items, which the undefined `take` gets in several ways.
const RING: &str = r#"
struct item { int id; short marks[2]; struct item *next; int *at; };
static struct item items[3];
static struct item *head;
int take(const struct item *from, char c, ...);
static int place(const void *p) {
    for (int i = 0; i < 3; i++) if (p == (const void *)&items[i]) return i + 1;
    return p ? 5 : 0;
}
int f(int x) {
    int count = 7, sum = 0;
    for (int i = 0; i < 3; i++) {
        items[i].next = &items[(i + 1) % 3];
        items[i].at = &items[(i + x) % 3].id;
    }
    head = x & 1 ? &items[1] : 0;
    for (int i = 0; i < 2; i++) {
        sum = sum * 31 + take(x & 2 ? &items[0] : 0, 'c', 1.5, &items[2], 3L, 2.5, &count);
        for (int i = 0; i < 3; i++) {
            sum = sum * 31 + items[i].id + items[i].marks[0] * 3 + items[i].marks[1] * 5;
            sum = sum * 31 + place(items[i].next) * 7 + place(items[i].at);
        }
        sum = sum * 31 + place(head);
    }
    return sum * 31 + count;
}
"#;

const ITEM: u64 = 24;
const NEXT: u64 = 8;
const AT: u64 = 16;

fn number(value: u64, size: usize) -> Image {
    Image { bytes: value.to_le_bytes()[..size].to_vec(), pointers: vec![] }
}

/// Null, or a pointer to one of the items, whose first member is an `int`.
fn pointer(rng: &mut Rng) -> Image {
    let mut image = number(0, 8);
    if rng.below(4) > 0 {
        let target = PointerTarget::Global("items".into(), ITEM * rng.below(3));
        image.pointers.push(ImagePointer { offset: 0, target });
    }
    image
}

/// A write whose way the types say: from an item along `next`, at last along `at` to an `int`.
fn write(rng: &mut Rng) -> ExternalWrite {
    let base = rng.below(5);
    let (to, mut through) = match base {
        0 => (WriteBase::Argument(0), vec![NEXT]),
        1 => (WriteBase::Variable(0), vec![]),
        2 => (WriteBase::Global("items".into()), vec![]),
        3 => (WriteBase::Global("head".into()), vec![0]),
        _ => (WriteBase::Variable(2), vec![]),
    };
    let value = rng.below(100);
    if base == 4 {
        return ExternalWrite { to, through, offset: 0, image: number(value, 4) };
    }
    through.extend((0..rng.below(4)).map(|_| NEXT));
    let (offset, image) = match rng.below(5) {
        0 => (0, number(value, 4)),
        1 => (4 + 2 * rng.below(2), number(value, 2)),
        2 => (NEXT, pointer(rng)),
        3 => (AT, pointer(rng)),
        _ => {
            through.push(AT);
            (0, number(value, 4))
        }
    };
    ExternalWrite { to, through, offset, image }
}

fn test(rng: &mut Rng) -> Test {
    let mut test = Test::calling("f", vec![number(rng.below(4), 4)]);
    for _ in 0..2 {
        let writes = (0..rng.below(6)).map(|_| write(rng)).collect();
        let result = number(rng.below(9), 4);
        test.externals.push(ExternalResult { writes, ..ExternalResult::new("take", result) });
    }
    test
}

fn unit_of(source: &Path) -> Unit {
    let flags = CompileFlags::new(&[], source).unwrap();
    load(&LoadRequest::new(ParseRequest::new(source, flags))).unwrap_or_else(|e| panic!("{e}"))
}

fn runner(unit: &Unit) -> Runner {
    let entries = [unit.program.function_named("f").unwrap()];
    let build = BuildRequest {
        program: &unit.program,
        text: unit.source.text(),
        own_end: unit.source.text().len() as u32,
        companions: &[],
        plan: &Plan::default(),
        flags: &[],
        entries: &entries,
        modelled: &|_| false,
        level: Optimization::Some,
        compiler: "clang-19",
    };
    let build = Build::new(&build).unwrap_or_else(|error| panic!("{error}"));
    Runner::new(Arc::new(build), Limits::default()).unwrap()
}

#[test]
fn ways_to_what_is_written_lead_to_the_same_places_in_the_interpreter_and_natively() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("unit.c");
    std::fs::write(&file, RING).unwrap();
    let unit = unit_of(&file);
    let tests: Vec<Test> = (0..400).map(|seed| test(&mut Rng::new(seed))).collect();
    let natively = runner(&unit).run(&tests, Wants::default()).unwrap();
    let mut results = std::collections::BTreeSet::new();
    for (seed, (test, native)) in tests.iter().zip(natively).enumerate() {
        let followed = run(&unit.program, test, &Options::default(), &mut Silent).unwrap();
        assert_eq!(followed.end, End::Returned, "{seed}: {test:#?}");
        assert_eq!(followed.uninitialised, None, "{seed}: {test:#?}");
        let result = followed.result.expect("f gives a number");
        assert_eq!(native.outcome, Outcome::Returned(result.clone()), "{seed}: {test:#?}");
        results.insert(result);
    }
    assert!(results.len() > 300, "the writes matter: {} results", results.len());
}
