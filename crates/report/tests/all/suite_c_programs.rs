//! Suites as C: the emitted text compiles without a warning, passes on its program, and fails if the
//! program does something else.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use lydian_frontend::flags::CompileFlags;
use lydian_frontend::{LoadRequest, ParseRequest, load};
use lydian_ir::Program;
use lydian_report::suite::c::{HEADER, Options, emit};
use lydian_report::suite::json::{from_json, to_json};
use lydian_report::suite::registers::Registers;

const COMPILERS: [&str; 2] = ["clang-19", "gcc"];

/// A program in a folder of its own.
pub(crate) struct World {
    folder: tempfile::TempDir,
    program: Program,
    /// The names that the C library is said to define.
    library: BTreeSet<String>,
    /// The macros that the program is said to define.
    macros: BTreeSet<String>,
}

/// The result of running a suite.
pub(crate) struct Ran {
    pub(crate) status: Option<i32>,
    pub(crate) output: String,
}

impl World {
    pub(crate) fn new(source: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("code.c");
        std::fs::write(&path, source).unwrap();
        let flags = CompileFlags::new(&[], &path).unwrap();
        let unit = load(&LoadRequest::new(ParseRequest::new(&path, flags))).unwrap();
        assert!(unit.diagnostics.is_empty(), "{:?}", unit.diagnostics);
        let library = ["getenv", "getpid", "write", "exit"].map(str::to_owned).into();
        Self { folder, program: unit.program, library, macros: BTreeSet::new() }
    }

    /// Emits a suite that is given as the tests of its JSON form.
    fn emit(&self, tests: &str) -> (String, Vec<(String, String)>) {
        let json = format!("{{ \"version\": 1, \"tests\": [ {tests} ] }}");
        let tests = from_json(&self.program, "suite.json", &json).unwrap();
        let written = to_json(&self.program, "code.c", &tests);
        assert_eq!(from_json(&self.program, "suite.json", &written).unwrap(), tests);
        let options = Options {
            source: "code.c",
            include: "code.c",
            before: "",
            stubs: &[],
            driver: "",
            externals: &[],
            macros: &self.macros,
            left_out: &BTreeSet::new(),
            registers: &Registers::default(),
            library: &|name| self.library.contains(name),
            apart: false,
            framework: None,
        };
        let emitted = emit(&self.program, &tests, &options);
        (emitted.text, emitted.left_out)
    }

    fn compile(&self, compiler: &str, text: &str, flags: &[&str]) -> PathBuf {
        let (file, binary) = (self.path("suite.c"), self.path(compiler));
        std::fs::write(&file, text).unwrap();
        std::fs::write(self.path(HEADER.0), HEADER.1).unwrap();
        let compiled = Command::new(compiler)
            .args(["-Wall", "-Wextra", "-Werror", "-O1", "-fwrapv", "-o"])
            .arg(&binary)
            .args(flags)
            .arg(&file)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&compiled.stderr);
        assert!(compiled.status.success(), "{compiler}: {errors}\n{text}");
        binary
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn run(&self, tests: &str, flags: &[&str]) -> Ran {
        let (text, left_out) = self.emit(tests);
        assert_eq!(left_out, []);
        let runs = COMPILERS.map(|compiler| run(&self.compile(compiler, &text, flags)));
        let [first, second] = runs;
        assert_eq!(first.status, second.status, "{}\n{}\n{text}", first.output, second.output);
        first
    }

    pub(crate) fn passes(&self, tests: &str) {
        let ran = self.run(tests, &[]);
        assert_eq!(ran.status, Some(0), "{}", ran.output);
    }
}

fn run(binary: &Path) -> Ran {
    let output = Command::new(binary).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    Ran { status: output.status.code(), output: text }
}

#[test]
fn a_static_function_is_called_and_its_result_asserted() {
    let world = World::new(
        "static int twice(int x) { return 2 * x; }\nint use(int y) { return twice(y); }\n",
    );
    let test = |result: i64| {
        format!(
            r#"{{ "name": "twice_1", "function": "twice", "args": {{ "x": -2147483648 }},
             "expected": {{ "outcome": "returned", "result": {result} }} }},
           {{ "name": "twice_2", "function": "twice", "args": {{ "x": 21 }},
             "expected": {{ "outcome": "returned", "result": 42 }} }}"#
        )
    };
    world.passes(&test(0));
    let ran = world.run(&test(1), &[]);
    assert_eq!(ran.status, Some(1));
    let said =
        "twice: twice((-2147483647 - 1)) is 0, expected 1\nFAILED twice\n1 tests, 1 failed\n";
    assert!(ran.output.contains(said), "{}", ran.output);
}

const STRUCTS: &str = r#"
struct point { short x, y; };
enum colour { RED = 1, BLUE = 5 };
struct node {
    char tag;
    unsigned low : 3, high : 13;
    struct node *next;
    const char *name;
    union { double d; long l; } value;
    struct { int inner; };
    enum colour colour;
    _Bool flag;
    float ratio;
    struct point points[2];
    unsigned char bytes[4];
};
struct point swap(struct point p) { struct point q = { p.y, p.x }; return q; }
int walk(struct node *n)
{
    int count = 0;
    for (; n; n = n->next) {
        count += n->low + (n->name ? n->name[0] : 0);
        n->high = 4097;
        n->value.d = n->ratio / 2;
        n->inner--;
        n->colour = n->flag ? BLUE : (enum colour)7;
        n->points[1].y = 9;
        n->bytes[2] = 200;
        n->next = n->next == n ? 0 : n->next;
    }
    return count;
}
"#;

#[test]
fn structs_lists_and_strings_are_inputs_and_are_asserted() {
    let world = World::new(STRUCTS);
    world.passes(r#"
        { "name": "walk_1", "function": "walk", "args": { "n": "&n[0]" },
          "covers": [ "dc: n is true", "a comment: */ x" ],
          "objects": [
            { "name": "n", "type": "struct node", "count": 1, "align": 16, "address": "0x2000000000",
              "value": { "tag": 39, "low": 5, "high": 0, "next": "&n->next[0]", "name": "&n->name[0]",
                         "value": { "d": 0.0 }, "inner": -1, "colour": "RED", "flag": true,
                         "ratio": 3.0, "points": [ { "x": 1, "y": 2 } ], "bytes": "ab" } },
            { "name": "n->next", "type": "struct node", "count": 1, "align": 16,
              "address": "0x2000001000",
              "value": { "tag": -1, "low": 2, "next": "&n->next[0]", "name": null,
                         "value": { "l": -5 }, "ratio": "inf" } },
            { "name": "n->name", "type": "char", "count": 5, "align": 16, "address": "0x2000002000",
              "value": "A?\"\u00ff" } ],
          "expected": { "outcome": "returned", "result": 72,
            "objects": [
              { "object": "&n[0]",
                "value": { "tag": 39, "low": 5, "high": 4097, "next": "&n->next[0]",
                           "name": "&n->name[0]", "value": { "d": 1.5 }, "inner": -2,
                           "colour": "BLUE", "flag": true, "ratio": 3.0,
                           "points": [ { "x": 1, "y": 2 }, { "x": 0, "y": 9 } ],
                           "bytes": { "$hex": "6162c8" } } },
              { "object": "&n->next[0]",
                "value": { "tag": -1, "low": 2, "high": 4097, "next": null, "name": null,
                           "value": { "d": "inf" }, "inner": -1, "colour": 7, "ratio": "inf",
                           "points": [ { "x": 0 }, { "y": 9 } ],
                           "bytes": { "$hex": "0000c8" } } } ] } },
        { "name": "swap_1", "function": "swap", "args": { "p": { "x": -3, "y": 4 } },
          "expected": { "outcome": "returned", "result": { "x": 4, "y": -3 } } }"#);
}

#[test]
fn what_a_struct_became_is_checked_member_by_member() {
    let world = World::new(STRUCTS);
    let test = |high: u32, y: u32| {
        format!(
            r#"
        {{ "name": "walk", "function": "walk", "args": {{ "n": "&n[0]" }},
          "objects": [ {{ "name": "n", "type": "struct node", "count": 1, "align": 8,
                         "address": "0x2000000000", "value": {{ "flag": true }} }} ],
          "expected": {{ "outcome": "returned", "result": 0,
            "objects": [ {{ "object": "&n[0]", "value":
               {{ "high": {high}, "inner": -1, "flag": true, "colour": "BLUE",
                  "points": [ {{}}, {{ "y": {y} }} ], "bytes": {{ "$hex": "0000c8" }} }} }} ] }} }}"#
        )
    };
    world.passes(&test(4097, 9));
    let ran = world.run(&test(4096, 8), &[]);
    assert!(ran.output.contains("n.high is 4097, expected 4096"), "{}", ran.output);
    assert!(ran.output.contains("n.points[1].y is 9, expected 8"), "{}", ran.output);
}

#[test]
fn floats_are_compared_by_their_bits_and_nans_are_alike() {
    let world =
        World::new("double neg(double x) { return -x; }\nfloat half(float x) { return x / 2; }\n");
    world.passes(
        r#"
        { "name": "a", "function": "neg", "args": { "x": 0.0 },
          "expected": { "outcome": "returned", "result": -0.0 } },
        { "name": "b", "function": "neg", "args": { "x": "nan" },
          "expected": { "outcome": "returned", "result": "nan:0x7ff8000000000123" } },
        { "name": "c", "function": "half", "args": { "x": "-inf" },
          "expected": { "outcome": "returned", "result": "-inf" } },
        { "name": "d", "function": "half", "args": { "x": 0.1 },
          "expected": { "outcome": "returned", "result": 0.05 } }"#,
    );
    let wrong = r#"{ "name": "a", "function": "neg", "args": { "x": 0.0 },
          "expected": { "outcome": "returned", "result": 0.0 } }"#;
    assert_eq!(world.run(wrong, &[]).status, Some(1));
}

#[test]
fn globals_are_set_and_each_test_starts_afresh() {
    let world = World::new(
        r#"
        struct limits { int low, high; long table[3]; };
        static struct limits limits = { 1, 2, { 7 } };
        extern int other_file;
        extern const int fixed, table[3];
        int counter = 3;
        const char *label = "first";
        int step(void)
        {
            static int calls;
            calls++;
            counter += limits.high + other_file + calls + fixed + table[2];
            limits.table[2] = label[0];
            label = "next";
            return counter;
        }"#,
    );
    world.passes(
        r#"
        { "name": "step_1", "function": "step", "args": {},
          "globals": { "limits": { "low": 0, "high": 10, "table": [1, 2] }, "other_file": 5,
                       "fixed": 1000, "table": [0, 0, 500] },
          "expected": { "outcome": "returned", "result": 1519,
            "globals": { "counter": 1519, "label": "?",
                         "limits": { "low": 0, "high": 10, "table": [1, 2, 102] } } } },
        { "name": "step_2", "function": "step", "args": {},
          "globals": { "counter": 100 },
          "expected": { "outcome": "returned", "result": 103 } }"#,
    );
}

#[test]
fn undefined_functions_give_what_the_test_says() {
    let world = World::new(
        r#"
        struct pair { long a, b; };
        int next_char(const char *const *where, int mode);
        struct pair lookup(int);
        char *name_of(int id);
        void note(const char *text);
        int sum(int n)
        {
            int total = 0, c;
            while ((c = next_char(0, n)) > 0) total += c;
            note("done");
            struct pair p = lookup(n);
            char *name = name_of(3);
            return total + p.a - p.b + (name ? name[1] : 0);
        }"#,
    );
    world.passes(
        r#"
        { "name": "sum_1", "function": "sum", "args": { "n": 3 },
          "objects": [ { "name": "name_of()#0", "type": "char", "count": 3, "align": 16,
                         "address": "0x2000000000", "value": "x!" } ],
          "externals": [ { "function": "next_char", "result": 4 },
                         { "function": "next_char", "result": 6 },
                         { "function": "next_char", "result": -1 },
                         { "function": "note" },
                         { "function": "lookup", "result": { "a": 100, "b": 1 } },
                         { "function": "name_of", "result": "&name_of()#0[0]" } ],
          "expected": { "outcome": "returned", "result": 142 } },
        { "name": "sum_2", "function": "sum", "args": { "n": 0 },
          "expected": { "outcome": "returned", "result": 0 } }"#,
    );
}

#[test]
fn what_undefined_functions_write_is_written_in_the_order_of_their_calls() {
    let world = World::new(
        r#"
        struct info { long size; struct { short a, b; } part; char name[6]; struct info *next; };
        int parse(const char *s, int *value, char *kind);
        void stat_of(int id, double scale, struct info *to);
        int read_all(void *to, unsigned long size);
        int getenv(char **end);
        int use(const char *s)
        {
            int value = 3, sum = 0; char kind = 1, *end = (char *)s; unsigned char raw[4] = {9, 9, 9, 9};
            struct info info = {0};
            while (parse(s, &value, &kind)) sum += value * kind;
            stat_of(1, 2.5, &info);
            sum += info.size + info.part.b + (info.name[1] == 'k') + (info.next ? 1000 : 0);
            read_all(raw, sizeof raw);
            getenv(&end);
            getenv(0);
            return sum * 10 + raw[0] + raw[2] + (end == s + 1);
        }"#,
    );
    world.passes(
        r#"
        { "name": "use_1", "function": "use", "args": { "s": "&s[0]" },
          "objects": [ { "name": "s", "type": "char", "count": 3, "align": 16,
                         "address": "0x2000000000", "value": "x!" },
                       { "name": "next", "type": "struct info", "count": 1, "align": 16,
                         "address": "0x2000000100", "value": { "size": 1 } } ],
          "externals": [ { "function": "parse", "result": 1,
                           "writes": [ { "to": "value", "value": 4 }, { "to": "kind", "value": 2 } ] },
                         { "function": "parse", "result": 1 },
                         { "function": "parse", "result": 1, "writes": [ { "to": "value", "value": -1 } ] },
                         { "function": "stat_of", "writes": [ { "to": "to",
                           "value": { "size": 40, "part": { "b": 2 }, "name": "ok", "next": "&next[0]" } } ] },
                         { "function": "read_all", "result": 3, "writes": [
                           { "to": "to", "value": { "$bytes": "01" } },
                           { "to": "to", "offset": 2, "value": { "$bytes": "0203" } } ] },
                         { "function": "getenv", "result": 1, "writes": [ { "to": "end", "value": "&s[1]" } ] },
                         { "function": "getenv", "result": 1, "writes": [ { "to": "end", "value": null } ] } ],
          "expected": { "outcome": "returned", "result": 10574 } },
        { "name": "use_2", "function": "use", "args": { "s": "&s[0]" },
          "objects": [ { "name": "s", "type": "char", "count": 3, "align": 16,
                         "address": "0x2000000000", "value": "x!" } ],
          "externals": [ { "function": "read_all", "result": 3 } ],
          "expected": { "outcome": "returned", "result": 18 } }"#,
    );
}

#[test]
fn earlier_calls_of_a_test_come_before_the_last_and_leave_memory_as_they_do() {
    let world = World::new(
        "struct pair { int a; int b; };\nint ask(void);\n\
         int f(void) { static int calls; calls++; if (calls > 3) return 1; return 0; }\n\
         int sum(struct pair p, int *at, ...) { static int all; all += p.a * 10 + p.b + ask(); \
         (*at)++; return all; }\n\
         int half(int n) { static int least = 1; least -= n == 0; return 8 / (least + n); }\n",
    );
    let counted = |name: &str, calls: usize, result: i32| {
        let earlier = vec![r#"{ "args": {} }"#; calls].join(",");
        format!(
            r#"{{ "name": "{name}", "function": "f", "args": {{}}, "earlier": [ {earlier} ],
             "expected": {{ "outcome": "returned", "result": {result} }} }}"#
        )
    };
    let passes = |a: i32, b: i32| {
        format!(
            r#""args": {{ "p": {{ "a": {a}, "b": {b} }}, "at": "&at[0]" }},
              "variable": [ {{ "type": "int", "value": {a} }} ]"#
        )
    };
    let answer = |value: i32| format!(r#"{{ "function": "ask", "result": {value} }}"#);
    let summed = format!(
        r#"{{ "name": "sum", "function": "sum", {}, "earlier": [ {{ {} }}, {{ {} }} ],
          "objects": [ {{ "name": "at", "type": "int", "count": 1, "align": 16,
                         "address": "0x2000000000", "value": 5 }} ],
          "externals": [ {}, {}, {} ],
          "expected": {{ "outcome": "returned", "result": 1335,
                        "objects": [ {{ "object": "&at[0]", "value": 8 }} ] }} }}"#,
        passes(5, 0),
        passes(1, 2),
        passes(3, 4),
        answer(1000),
        answer(200),
        answer(39),
    );
    let crashes = r#"{ "name": "half", "function": "half", "args": { "n": 3 },
          "earlier": [ { "args": { "n": 0 } }, { "args": { "n": 1 } } ],
          "expected": { "outcome": { "crashed": 8 } } }"#;
    let tests = [counted("four", 3, 1), counted("three", 2, 0), summed, crashes.to_owned()];
    let tests = tests.join(",");
    world.passes(&tests);
    let ran = world.run(&tests, &["-DLYDIAN_RUN_CRASHING"]);
    assert_eq!(ran.status, Some(0), "{}", ran.output);
    let ran = world.run(&counted("five", 3, 0), &[]);
    assert!(ran.output.contains("five: f() is 1, expected 0"), "{}", ran.output);
}

/// The program as if the C library's own text, linked to it, had `errno` as a variable.
fn with_error_number(world: &mut World) {
    let program = &mut world.program;
    let user = program.function_named("use").unwrap();
    let (body, asked) = (program.functions[user].body.clone(), "__errno_location");
    let asked = program.function_named(asked).unwrap();
    (program.functions[asked].body, program.functions[asked].library) = (body, true);
    program.globals.push(lydian_ir::Global {
        name: "errno".into(),
        ty: program.types.int(lydian_ir::IntKind::Int),
        size: 4,
        align: 4,
        linkage: lydian_ir::Linkage::External,
        read_only: false,
        weak: false,
        thread_local: false,
        init: lydian_ir::GlobalInit::Zero,
        span: lydian_base::Span::NONE,
    });
}

#[test]
fn an_undefined_function_sets_the_error_number() {
    let mut world = World::new(
        "#include <errno.h>\nint get(void);\n\
         int use(void) { int before = errno; return get() ? errno : before; }\n",
    );
    with_error_number(&mut world);
    world.passes(
        r#"{ "name": "use", "function": "use", "args": {}, "globals": { "errno": 3 },
             "externals": [ { "function": "get", "result": 1,
                              "writes": [ { "global": "errno", "value": 34 } ] } ],
             "expected": { "outcome": "returned", "result": 34 } },
           { "name": "use_2", "function": "use", "args": {}, "globals": { "errno": 3 },
             "expected": { "outcome": "returned", "result": 3 } }"#,
    );
}

const REFILL: &str = r#"
struct item { int id; short marks[3]; struct item *next; };
struct context { const char *name; struct item *first; };
static struct item *last;
static long total;
int refill(const struct context *from, char n, ...);
void note(void);
int use(int n)
{
    static struct item items[2];
    long count = 1;
    char word[4] = "abc";
    struct context context = { "c", &items[0] };
    items[0].next = n ? &items[1] : 0;
    last = &items[1];
    total = 5;
    refill(&context, 'n', 1.5, n, &count, 7L, word);
    note();
    return items[0].id + items[1].marks[1] * 10 + items[1].marks[2] * 100 + (int)count * 1000
        + (int)total * 10000 + items[1].id * 1000000 + (word[1] == 'z') * 10000000
        + !last * 20000000;
}"#;

/// A test of [`REFILL`].
fn refilled(n: i32, result: i32) -> String {
    format!(
        r#"
        {{ "name": "use_{n}", "function": "use", "args": {{ "n": {n} }},
          "externals": [ {{ "function": "refill", "result": 1, "writes": [
              {{ "to": "from", "through": [8], "type": "int", "value": 3 }},
              {{ "to": "from", "through": [8, 16], "offset": 6, "type": "short", "count": 2,
                 "value": [4, 5] }},
              {{ "global": "total", "value": 50 }},
              {{ "global": "last", "through": [0], "type": "int", "value": 6 }},
              {{ "variable": 1, "value": {{ "$bytes": "0900000000000000" }} }},
              {{ "variable": 3, "offset": 1, "type": "char", "value": 122 }} ] }},
            {{ "function": "note", "writes": [ {{ "global": "last", "value": null }} ] }} ],
          "expected": {{ "outcome": "returned", "result": {result} }} }}"#
    )
}

#[test]
fn what_undefined_functions_write_lies_behind_pointers_in_variables_and_behind_words_for_dots() {
    let world = World::new(REFILL);
    let tests = [refilled(1, 36509543), refilled(0, 36509003)].join(",");
    world.passes(&tests);
    let (text, _) = world.emit(&tests);
    for part in [".through = { 8, 16 }, .steps = 2", ".variable = (void *)&total"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn an_allocation_fails_where_the_test_says_so() {
    let world = World::new(
        r#"
        #include <stdlib.h>
        #include <string.h>
        int copies(const char *s)
        {
            char *a = malloc(strlen(s) + 1);
            if (!a) return -1;
            char *b = malloc(10);
            if (!b) { free(a); return -2; }
            free(a);
            free(b);
            return 0;
        }"#,
    );
    let test = |name: &str, flags: &str, result: i32| {
        format!(
            r#"
        {{ "name": "{name}", "function": "copies", "args": {{ "s": "&s[0]" }},
          "objects": [ {{ "name": "s", "type": "char", "count": 2, "align": 16,
                         "address": "0x2000000000", "value": "k" }} ],
          "externals": [ {flags} ],
          "expected": {{ "outcome": "returned", "result": {result} }} }}"#
        )
    };
    let call = |succeeds: bool| format!("{{ \"function\": \"malloc\", \"succeeds\": {succeeds} }}");
    let tests = [
        test("a", &call(false), -1),
        test("b", &format!("{}, {}", call(true), call(false)), -2),
        test("c", &call(true), 0),
    ];
    world.passes(&tests.join(", "));
}

#[test]
fn callbacks_are_stubs_of_their_own() {
    let mut world = World::new(
        r#"
        struct ops { int (*get)(void *, int); void *self; };
        int ask(struct ops *ops, int (*filter)(int))
        {
            return filter(ops->get(ops->self, 1)) + ops->get(ops->self, 2);
        }"#,
    );
    let types = &world.program.types;
    let mut functions: Vec<_> = types
        .iter()
        .filter_map(|(_, ty)| match ty {
            lydian_ir::CType::Pointer { pointee, .. } => Some(*pointee),
            _ => None,
        })
        .filter(|ty| matches!(types.get(*ty), lydian_ir::CType::Function { .. }))
        .collect();
    functions.sort_by_key(|ty| types.spell(*ty, ""));
    assert_eq!(types.spell(functions[1], ""), "int (void *, int)");
    for (number, ty) in functions.into_iter().enumerate() {
        world
            .program
            .functions
            .push(lydian_ir::Function::declared(format!("lydian_callback_{number}"), ty));
    }
    world.passes(
        r#"
        { "name": "ask", "function": "ask",
          "args": { "ops": "&ops[0]", "filter": "function lydian_callback_0" },
          "objects": [ { "name": "ops", "type": "struct ops", "count": 1, "align": 16,
                         "address": "0x2000000000",
                         "value": { "get": "function lydian_callback_1", "self": "&ops[0]" } } ],
          "externals": [ { "function": "lydian_callback_1", "result": 5 },
                         { "function": "lydian_callback_0", "result": 40 },
                         { "function": "lydian_callback_1", "result": 2 } ],
          "expected": { "outcome": "returned", "result": 42 } }"#,
    );
}

#[test]
fn arrays_with_a_flexible_end_and_padding_that_is_not_zero_are_copied_in() {
    let world = World::new(
        r#"
        struct message { short count; int items[]; };
        struct padded { char c; int i; };
        int total(struct message *m, struct padded *p)
        {
            int sum = ((unsigned char *)p)[1];
            for (int i = 0; i < m->count; i++) sum += m->items[i];
            m->items[1] = sum;
            return sum;
        }"#,
    );
    world.passes(
        r#"
        { "name": "total", "function": "total", "args": { "m": "&m[0]", "p": "&p[0]" },
          "objects": [ { "name": "m", "type": "struct message", "count": 1, "size": 12, "align": 16,
                         "address": "0x2000000000", "value": { "count": 2, "items": [3, 4] } },
                       { "name": "p", "type": "struct padded", "count": 1, "align": 16,
                         "address": "0x2000001000", "value": { "$bytes": "010a000000000000" } } ],
          "expected": { "outcome": "returned", "result": 17,
            "objects": [ { "object": "&m[0]", "value": { "count": 2, "items": [3, 17] } } ] } }"#,
    );
}

#[test]
fn tests_that_exit_pass_and_those_that_crash_wait_for_their_switch() {
    let world = World::new(
        r#"
        #include <stdlib.h>
        int risky(int *p, int mode)
        {
            if (mode == 1) exit(3);
            if (mode == 2) abort();
            while (mode == 3) { __asm__ volatile(""); }
            return *p;
        }"#
        .replace("__asm__ volatile(\"\");", "*(volatile int *)p;")
        .as_str(),
    );
    let test = |name: &str, mode: i32, outcome: &str| {
        format!(
            r#"{{ "name": "{name}", "function": "risky", "args": {{ "p": null, "mode": {mode} }},
             "expected": {{ "outcome": {outcome} }} }}"#
        )
    };
    let exits = test("exits", 1, r#"{ "exited": 3 }"#);
    let crash = test("crashes", 0, r#"{ "crashed": 11 }"#);
    let abort = test("aborts", 2, r#""aborted""#);
    let all = format!("{exits}, {crash}, {abort}");
    let ran = world.run(&all, &[]);
    assert_eq!((ran.status, ran.output.as_str()), (Some(0), "1 tests, 0 failed\n"));
    let ran = world.run(&all, &["-DLYDIAN_RUN_CRASHING"]);
    assert_eq!(ran.status, Some(0), "{}", ran.output);
    assert!(ran.output.contains("3 tests, 0 failed\n"), "{}", ran.output);
    let wrong = test("exits", 1, r#"{ "exited": 4 }"#);
    let ran = world.run(&wrong, &[]);
    assert!(ran.output.contains("exits: exited with status 3\nFAILED exits"), "{}", ran.output);
}

#[test]
fn a_program_with_a_main_of_its_own_is_tested_too() {
    let world = World::new("int main(int argc, char **argv) { return argc + (argv[0] != 0); }\n");
    let test = r#"{ "name": "main_1", "function": "main",
          "args": { "argc": 2, "argv": "&argv[0]" },
          "objects": [ { "name": "argv", "type": "char *", "count": 3, "align": 16,
                         "address": "0x2000000000", "value": ["&argv[0][0]"] },
                       { "name": "argv[0]", "type": "char", "count": 4, "align": 16,
                         "address": "0x2000001000", "value": "abc" } ],
          "expected": { "outcome": "returned", "result": 3 } }"#;
    world.passes(test);
    assert_eq!(world.run(test, &["-DLYDIAN_NO_FORK"]).status, Some(0));
}

#[test]
fn what_c_has_no_name_for_is_left_out_with_the_reason() {
    let world = World::new("int f(int x) { static int seen; return seen += x; }\n");
    let (text, left_out) = world.emit(
        r#"{ "name": "f_1", "function": "f", "args": { "x": 1 }, "globals": { "f.seen": 4 },
             "expected": { "outcome": "returned", "result": 5 } }"#,
    );
    assert_eq!(left_out.len(), 1);
    assert!(left_out[0].1.contains("C has no name for f.seen"), "{left_out:?}");
    assert!(text.contains("f_1 is only in the JSON form"), "{text}");
    let binary = world.compile("gcc", &text, &[]);
    assert_eq!(run(&binary).status, Some(0));
}

#[test]
fn a_stub_of_a_library_function_is_for_the_users_text_alone() {
    let world = World::new(
        "#include <unistd.h>\n\
         int f(void) { if (getpid()) return 1; return (int)write(1, \"x\", 1); }\n",
    );
    let test = r#"{ "name": "f_1", "function": "f", "args": {},
        "externals": [ { "function": "getpid", "result": 0 },
                       { "function": "write", "result": -5 } ],
        "expected": { "outcome": "returned", "result": -5 } }"#;
    world.passes(test);
    // A coverage tool's run-time library calls both at exit.
    let (text, _) = world.emit(test);
    let flags = ["-fprofile-instr-generate", "-fcoverage-mapping"];
    let binary = world.compile("clang-19", &text, &flags);
    let profile = world.path("unit.profraw");
    let status = Command::new(binary).env("LLVM_PROFILE_FILE", &profile).status().unwrap();
    assert!(status.success());
    assert!(std::fs::metadata(&profile).is_ok_and(|file| file.len() > 0), "no profile is written");
}

/// A member and a macro called `main`, macros with names that attributes, the runtime and members have.
const MACROS: &str = r#"
#define weak 1
#define state status.now
#define name "a name"
struct clock { int main, ticks; };
#define ticks elapsed_(1)
static int tick(struct clock *clock) { clock->main += 2; return clock->main > 3; }
int ask(void);
int asks(void) { return ask(); }
int main(int argc, char **argv) { (void)argv; return argc > 1; }
"#;

#[test]
fn names_of_the_program_that_are_macros_or_main_are_harmless() {
    let mut world = World::new(MACROS);
    world.macros = ["weak", "state", "name", "ticks"].map(str::to_owned).into();
    world.passes(
        r#"{ "name": "tick_1", "function": "tick", "args": { "clock": "&clock[0]" },
             "objects": [ { "name": "clock", "type": "struct clock", "count": 1, "align": 16,
                            "address": "0x2000000040", "value": { "main": 2, "ticks": 7 } } ],
             "expected": { "outcome": "returned", "result": 1,
                           "objects": [ { "object": "&clock[0]", "value": { "main": 4, "ticks": 7 } } ] } },
           { "name": "main_1", "function": "main", "args": { "argc": 2, "argv": null },
             "expected": { "outcome": "returned", "result": 1 } },
           { "name": "asks_1", "function": "asks", "args": {},
             "externals": [ { "function": "ask", "result": 3 } ],
             "expected": { "outcome": "returned", "result": 3 } }"#,
    );
}

#[test]
fn a_suite_compiles_as_the_c_of_its_source() {
    let world = World::new(
        "int fill(char *to, int count);\n\
         int f(char *s, double d) { int n = fill(s, 3); return n + (d > 0.5) + s[1]; }\n",
    );
    let test = r#"{ "name": "f_1", "function": "f", "args": { "s": "&s[0]", "d": 1.5 },
        "objects": [ { "name": "s", "type": "char", "count": 4, "align": 16,
                       "address": "0x2000000040", "value": "ab" } ],
        "externals": [ { "function": "fill", "result": 4 } ],
        "expected": { "outcome": "returned", "result": 103 } }"#;
    let (text, left_out) = world.emit(test);
    assert_eq!(left_out, []);
    for compiler in COMPILERS {
        for standard in ["-std=c90", "-std=gnu89", "-std=c17", "-std=gnu2x"] {
            let ran = run(&world.compile(compiler, &text, &[standard]));
            assert_eq!(ran.status, Some(0), "{compiler} {standard}: {}", ran.output);
        }
    }
}
