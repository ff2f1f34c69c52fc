//! The interpreter's reads of memory against what C compilers make of the same struct, and of the
//! text that `cexact` writes for them.

use std::fmt::Write as _;
use std::process::Command;

use lydian_base::{EntityId, Rng};
use lydian_ir::cexact::{ExactC, Guard, Loads, Names, c_type, prelude};
use lydian_ir::interp::{End, Options, Silent, run};
use lydian_ir::test::{INPUT_REGION, Image, ImagePointer, PointerTarget, Test, TestObject};
use lydian_ir::text::parse;
use lydian_ir::verify::verify;
use lydian_ir::{CTypeId, ExprId, FuncId, GlobalId, LocalId, Program, Target};

/// The struct of the program below, for the C compiler.
const C_STRUCT: &str = "struct s { signed char a; unsigned short b; int c : 5; unsigned d : 11; \
    long e : 40; int f[4]; double g; struct s *h; };\n";

/// What each expression is in C, and in the IR. `v0` is `p`, `v1` is `i`.
const READS: [(&str, &str); 13] = [
    ("p->a", "load i8(field rec0 0(v0))"),
    ("p->b", "load i16(field rec0 1(v0))"),
    ("p->c", "loadbits [rec0 2 byte 4 bit 0 width 5 signed i32](index 1(v0, 4:i64))"),
    ("p->d", "loadbits [rec0 3 byte 4 bit 5 width 11 unsigned i32](index 1(v0, 4:i64))"),
    ("p->e", "loadbits [rec0 4 byte 8 bit 0 width 40 signed i64](index 1(v0, 8:i64))"),
    ("p->f[i & 3]", "load i32(index 4(field rec0 5(v0), sext i64(and(v1, 3:i32))))"),
    ("p->g", "load f64(field rec0 6(v0))"),
    ("p->h", "load ptr(field rec0 7(v0))"),
    ("p->h->f[1]", "load i32(index 4 of 4(field rec0 5(load ptr(field rec0 7(v0))), 1:i64))"),
    ("((char *)p)[i & 15]", "load i8(index 1(v0, sext i64(and(v1, 15:i32))))"),
    ("*(int *)((char *)p + 5)", "load i32(index 1(v0, 5:i64))"),
    ("\"0123456789\"[i & 7]", "load i8(index 1(&g0, sext i64(and(v1, 7:i32))))"),
    ("counter", "load i32(&g1)"),
];

fn program() -> Program {
    let mut text = String::from(
        r#"
ty0 = int "int" 32 signed
ty1 = int "signed char" 8 signed
ty2 = int "unsigned short" 16 unsigned
ty3 = int "unsigned int" 32 unsigned
ty4 = int "long" 64 signed
ty5 = double
ty6 = record rec0
ty7 = pointer ty6
ty8 = array ty0 4
ty9 = array ty1 11
"#,
    );
    let results = [1, 2, 0, 3, 4, 0, 5, 7, 0, 1, 0, 1, 0];
    for (k, result) in results.iter().enumerate() {
        // One function type for each result.
        if results[..k].contains(result) {
            continue;
        }
        let id = 10 + results[..k].iter().collect::<std::collections::BTreeSet<_>>().len();
        writeln!(text, "ty{id} = function ty{result} (ty7, ty0)").unwrap();
    }
    text.push_str(
        r#"
rec0 = struct "struct s" size 56 align 8 {
  "a" ty1 at 0 "b" ty2 at 16 "c" ty0 at 32 bits 5 "d" ty3 at 37 bits 11 "e" ty4 at 64 bits 40
  "f" ty8 at 128 "g" ty5 at 256 "h" ty7 at 320
}
global g0 ".str.0" ty9 size 11 align 1 internal const = { 0: "0123456789\x00" }
global g1 "counter" ty0 size 4 align 4 internal = { 0: "\x2a\x00\x00\x00" }
"#,
    );
    let mut kinds: Vec<i32> = Vec::new();
    for (k, (_, ir)) in READS.iter().enumerate() {
        let kind = kinds.iter().position(|kind| *kind == results[k]).unwrap_or_else(|| {
            kinds.push(results[k]);
            kinds.len() - 1
        });
        writeln!(
            text,
            "function f{k} \"read{k}\" ty{} external (\"p\", \"i\") {{ params (v0, v1) \
             local v0 \"p\" ty7 param register ptr local v1 \"i\" ty0 param register i32 \
             entry bb0 bb0: return {ir} }}",
            10 + kind
        )
        .unwrap();
    }
    let program = parse(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    let found: Vec<_> = verify(&program).iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{found:#?}");
    program
}

struct ByName<'a>(&'a Program, FuncId);

impl Names for ByName<'_> {
    fn local(&self, local: LocalId) -> Option<String> {
        let body = self.0.functions[self.1].body.as_ref()?;
        Some(body.locals[local].name.clone())
    }
    fn global(&self, global: GlobalId) -> Option<String> {
        Some(self.0.globals[global].name.clone()).filter(|name| !name.starts_with('.'))
    }
    fn function(&self, _: FuncId) -> Option<String> {
        None
    }
}

/// Two objects, of which each points to the other.
fn test(function: usize, bytes: &[[u8; 56]; 2], i: i32) -> Test {
    let object = |k: usize| TestObject {
        name: format!("o{k}"),
        address: INPUT_REGION + 64 * k as u64,
        ty: CTypeId::from_index(6),
        count: 1,
        align: 8,
        image: Image {
            bytes: bytes[k].to_vec(),
            pointers: vec![ImagePointer {
                offset: 40,
                target: PointerTarget::Object(1 - k as u32, 0),
            }],
        },
        read_only: false,
    };
    let pointer = ImagePointer { offset: 0, target: PointerTarget::Object(0, 0) };
    let p = Image { bytes: vec![0; 8], pointers: vec![pointer] };
    let i = Image { bytes: i.to_le_bytes().to_vec(), pointers: vec![] };
    Test {
        objects: vec![object(0), object(1)],
        ..Test::calling(format!("read{function}"), vec![p, i])
    }
}

/// A C program that prints for each row and expression the user's text and `cexact`'s, as numbers.
fn c_file(program: &Program, rows: &[([[u8; 56]; 2], i32)]) -> String {
    let mut c = String::from("#include <stdio.h>\n#include <string.h>\n#include <sys/mman.h>\n");
    c.push_str(C_STRUCT);
    c.push_str("static int counter = 42;\n");
    c.push_str("static int readable(const void *p, unsigned long n) { (void)n; return p != 0; }\n");
    c.push_str(&prelude(Target::default(), Some("readable")));
    let bytes = |row: &[u8; 56]| row.map(|byte| byte.to_string()).join(",");
    writeln!(c, "static const unsigned char rows[][2][56] = {{").unwrap();
    rows.iter().for_each(|(row, _)| {
        writeln!(c, "{{{{{}}},{{{}}}}},", bytes(&row[0]), bytes(&row[1])).unwrap();
    });
    let numbers: Vec<_> = rows.iter().map(|(_, i)| i.to_string()).collect();
    writeln!(c, "}};\nstatic const int numbers[] = {{{}}};", numbers.join(",")).unwrap();
    c.push_str("static void show(struct s *p, int i) {\nint bad = 0; unsigned long out;\n");
    for (k, (text, _)) in READS.iter().enumerate() {
        let id = FuncId::from_index(k);
        let body = program.functions[id].body.as_ref().unwrap();
        let names = ByName(program, id);
        let root = ExprId::from_index(body.exprs.len() - 1);
        let ty = body.type_of(root);
        for guard in [
            None,
            Some(Guard {
                poison: "bad",
                pages: None,
                from: 0,
                overflow_traps: false,
                loads: Loads::Everything,
            }),
        ] {
            let exact = ExactC::new(program, body, &body.exprs, &names, guard).text(root).unwrap();
            let assign = format!("{} r = {exact};", c_type(ty));
            writeln!(
                c,
                "{{ {assign} out = 0; memcpy(&out, &r, sizeof r); printf(\"%lx \", out); }}"
            )
            .unwrap();
        }
        let user = match text {
            &"p->g" => "lydian_bits_of_f64(p->g)".to_owned(),
            text => format!("({}){text}", if ty.is_float() { "double" } else { c_type(ty) }),
        };
        writeln!(c, "printf(\"%lx\\n\", (unsigned long){user});").unwrap();
    }
    writeln!(
        c,
        "if (bad) puts(\"bad\"); }}\nint main(void) {{ char *base = mmap((void *){INPUT_REGION}ul, 4096, \
         PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0); \
         for (int k = 0; k < {}; k++) {{ struct s *a = (struct s *)base, *b = (struct s *)(base + 64); \
         memcpy(a, rows[k][0], 56); memcpy(b, rows[k][1], 56); a->h = b; b->h = a; \
         show(a, numbers[k]); }} return 0; }}",
        rows.len()
    )
    .unwrap();
    c
}

#[test]
fn reads_of_a_struct_give_what_c_reads_and_so_does_the_text_made_of_them() {
    let program = program();
    let mut rng = Rng::new(11);
    let mut row = || {
        let bytes = [(); 2].map(|()| [(); 56].map(|()| rng.next_u64() as u8));
        (bytes, rng.next_u64() as i32)
    };
    let rows: Vec<_> = (0..100).map(|_| row()).collect();
    let source = c_file(&program, &rows);
    let dir = tempfile::tempdir().expect("a folder for temporary files");
    for (compiler, level) in [("cc", "-O2"), ("clang-19", "-O2"), ("cc", "-O0")] {
        let (path, binary) = (dir.path().join("a.c"), dir.path().join("a"));
        std::fs::write(&path, &source).expect("the folder is writable");
        let mut command = Command::new(compiler);
        command
            .args([level, "-fwrapv", "-fno-strict-aliasing", "-w", "-o"])
            .arg(&binary)
            .arg(&path);
        let compiled = command.output().expect("the C compiler starts");
        assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
        let output = Command::new(&binary).output().expect("the program starts");
        let output = String::from_utf8(output.stdout).expect("the program prints text");
        let mut lines = output.lines();
        for (bytes, i) in &rows {
            for (k, (text, _)) in READS.iter().enumerate() {
                let test = test(k, bytes, *i);
                let outcome = run(&program, &test, &Options::default(), &mut Silent).unwrap();
                assert_eq!(outcome.end, End::Returned, "{text}");
                let mut raw = [0; 8];
                let result = outcome.result.expect("the function returns a value");
                raw[..result.len()].copy_from_slice(&result);
                let ours = format!("{:x}", u64::from_le_bytes(raw));
                let line = lines.next().expect("one line for each read");
                assert_eq!(line, format!("{ours} {ours} {ours}"), "{text} {compiler} {level}");
            }
        }
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn the_prelude_compiles_without_a_preprocessor_under_strict_flags() {
    let dir = tempfile::tempdir().expect("a folder for temporary files");
    let path = dir.path().join("a.i");
    let source = prelude(Target::default(), None) + "int main(void) { return 0; }\n";
    std::fs::write(&path, source).expect("the folder is writable");
    for compiler in ["cc", "clang-19"] {
        for standard in ["-std=c89", "-std=gnu99", "-std=c17"] {
            let mut command = Command::new(compiler);
            let strict = ["-Wall", "-Wextra", "-Werror", "-Wstrict-prototypes", "-c", "-o"];
            command.arg(standard).args(strict).arg(dir.path().join("a.o")).arg(&path);
            let compiled = command.output().expect("the C compiler starts");
            let errors = String::from_utf8_lossy(&compiled.stderr);
            assert!(compiled.status.success(), "{compiler} {standard}: {errors}");
        }
    }
}
