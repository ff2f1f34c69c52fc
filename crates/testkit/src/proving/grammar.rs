//! The sentences of random programs.
//!
//! A sentence is C text with holes: `$i` for a number, `$c` for a condition, and so on (see
//! [`super::writing`]). All functions have the same names for their locals, of which those that a body
//! uses are declared. Each sentence belongs to a subject, and a program draws some of the subjects: so
//! programs differ more from each other than if all had everything (Groce, Zhang, Eide, Chen and Regehr,
//! *Swarm Testing*).

/// The subject of a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    /// What all programs may have.
    Any,
    Structs,
    Unions,
    Lists,
    Heap,
    PointersToPointers,
    Callbacks,
    Copies,
    /// Addresses as numbers, and accesses by other types.
    Addresses,
    Sorting,
    Jumps,
    Ends,
    LateInputs,
    /// Subscripts that may lie outside. None lies so far outside that it may lead into another object,
    /// which the interpreter would not see.
    Wild,
    Recursion,
    Builtins,
    Floats,
    /// Numbers of few bits, and without signs.
    Narrow,
    /// Operations that may trap.
    Traps,
    /// Functions that the program does not define.
    External,
}

/// The subjects that a program may draw.
pub(super) const SUBJECTS: [Subject; 19] = [
    Subject::Structs,
    Subject::Unions,
    Subject::Lists,
    Subject::Heap,
    Subject::PointersToPointers,
    Subject::Callbacks,
    Subject::Copies,
    Subject::Addresses,
    Subject::Sorting,
    Subject::Jumps,
    Subject::Ends,
    Subject::LateInputs,
    Subject::Wild,
    Subject::Recursion,
    Subject::Builtins,
    Subject::Floats,
    Subject::Narrow,
    Subject::Traps,
    Subject::External,
];

use Subject::*;

/// A sentence and its subject.
pub(super) type Sentence = (Subject, &'static str);

/// Numbers without operators: `$i` where expressions are deep enough.
pub(super) const LEAVES: &[Sentence] = &[
    (Any, "$k"),
    (Any, "$k"),
    (Any, "a"),
    (Any, "a"),
    (Any, "b"),
    (Any, "i0"),
    (Any, "i0"),
    (Any, "c"),
    (Any, "h"),
    (Any, "(int)w"),
    (Any, "g"),
    (Any, "gs"),
    (Any, "ga[$j]"),
    (Any, "arr[$j]"),
    (Any, "sh[$j]"),
    (Any, "(p ? *p : $k)"),
    (Any, "(q ? *q : $k)"),
    (Any, "(y ? *y : $k)"),
    (Any, "st"),
    (Any, "m2[$j & 1][$j]"),
    (Structs, "s.x"),
    (Structs, "s.y"),
    (Structs, "s.z"),
    (Structs, "s.v[$j]"),
    (Structs, "(s.ip ? *s.ip : $k)"),
    (Structs, "o.one.x"),
    (Structs, "o.in[$j & 1].x"),
    (Structs, "o.in[$j & 1].v[1]"),
    (Structs, "o.tail"),
    (Structs, "o.f1"),
    (Structs, "go.f2"),
    (Structs, "go.in[$j & 1].z"),
    (Structs, "(op ? op->one.x : $k)"),
    (Structs, "(op ? op->in[$j & 1].y : $k)"),
    (Structs, "(op ? op->f2 : $k)"),
    (Structs, "(op && op->next ? op->next->tail : $k)"),
    (Structs, "(op && op->one.ip ? *op->one.ip : $k)"),
    (Structs, "(int)sizeof(struct out)"),
    (Unions, "u.i"),
    (Unions, "u.c[$j]"),
    (Unions, "u.h[$j & 1]"),
    (Unions, "(int)u.l"),
    (Unions, "gu.s.b"),
    (Unions, "gu.c[$j]"),
    (Unions, "(up ? up->c[$j] : $k)"),
    (Lists, "(n ? n->v : $k)"),
    (Lists, "(n && n->next ? n->next->v : $k)"),
    (Lists, "(head ? head->v : $k)"),
    (PointersToPointers, "(pp && *pp ? **pp : $k)"),
    (PointersToPointers, "(pa[$j & 1] ? *pa[1] : $k)"),
    (PointersToPointers, "(gp ? *gp : $k)"),
    (Copies, "buf[$j]"),
    (Addresses, "((unsigned char *)arr)[$j]"),
    (Addresses, "(p ? *(short *)p : $k)"),
    (Addresses, "(int)(w >> 8)"),
];

/// Numbers with operators.
pub(super) const OPERATIONS: &[Sentence] = &[
    (Any, "($i + $i)"),
    (Any, "($i + $i)"),
    (Any, "($i - $i)"),
    (Any, "($i * $i)"),
    (Any, "($i & $i)"),
    (Any, "($i ^ $i)"),
    (Any, "($i | $i)"),
    (Any, "($i << ($i & 3))"),
    (Any, "($i >> ($i & 3))"),
    (Any, "($i / ($i | 1))"),
    (Any, "($i % (($i & 3) + 1))"),
    (Any, "($c ? $i : $i)"),
    (Any, "!!($c)"),
    (Any, "(unsigned char)($i)"),
    (Any, "(short)($i)"),
    (Any, "-($i)"),
    (Any, "~($i)"),
    (Any, "(int)((unsigned)($i) >> 2)"),
    (Any, "(int)((long long)($i) * ($i) >> 3)"),
    (Any, "(int)(p - arr)"),
    (Any, "(int)(p - q)"),
    (Builtins, "__builtin_popcount($i)"),
    (Builtins, "(int)__builtin_expect($i, 1)"),
    (Builtins, "__builtin_bswap16($i)"),
    (Builtins, "abs($i)"),
    (Builtins, "__builtin_ffs($i)"),
    (Builtins, "__builtin_ctz($i | 8)"),
];

/// Conditions.
pub(super) const CONDITIONS: &[Sentence] = &[
    (Any, "$i < $k"),
    (Any, "$i == $k"),
    (Any, "$i == $k"),
    (Any, "$i != $i"),
    (Any, "$i > $i"),
    (Any, "($i & 1)"),
    (Any, "!($i & 3)"),
    (Any, "$c && $c"),
    (Any, "$c || $c"),
    (Any, "!($c)"),
    (Any, "($i & 1) && !($i & 1)"),
    (Any, "p"),
    (Any, "p == q"),
    (Any, "p == &a"),
    (Any, "p == $p"),
    (Any, "p < q"),
    (Any, "p >= arr && p < arr + 3"),
    (Any, "(p && *p == $k && q && *q == $k)"),
    (Any, "(a++, $c)"),
    (Structs, "op == &go"),
    (Structs, "s.ip == p"),
    (Structs, "(op && op->one.x == $k)"),
    (Lists, "n"),
    (Lists, "(n && n->next == head)"),
    (PointersToPointers, "(pp && *pp == p)"),
    (Callbacks, "cb == f1"),
    (Callbacks, "table[$j & 1] == cb"),
    (Addresses, "((uintptr_t)p & 7) == 4"),
    (Addresses, "(uintptr_t)p > (uintptr_t)q"),
    (Copies, "!strcmp(buf, \"ab\")"),
];

/// Places of numbers that may be written: `$l`.
pub(super) const PLACES: &[Sentence] = &[
    (Any, "a"),
    (Any, "a"),
    (Any, "b"),
    (Any, "c"),
    (Any, "h"),
    (Any, "w"),
    (Any, "g"),
    (Any, "gs"),
    (Any, "st"),
    (Any, "ga[$j]"),
    (Any, "arr[$j]"),
    (Any, "sh[$j]"),
    (Any, "m2[$j & 1][$j]"),
    (Any, "*(p ? p : &a)"),
    (Structs, "s.x"),
    (Structs, "s.y"),
    (Structs, "s.z"),
    (Structs, "s.v[$j]"),
    (Structs, "o.one.x"),
    (Structs, "o.in[$j & 1].y"),
    (Structs, "o.in[$j & 1].v[0]"),
    (Structs, "o.f1"),
    (Structs, "o.f2"),
    (Structs, "go.f2"),
    (Structs, "go.tail"),
    (Structs, "(op ? op : &go)->one.x"),
    (Structs, "(op ? op : &o)->in[$j & 1].z"),
    (Structs, "(op ? op : &o)->f1"),
    (Unions, "u.i"),
    (Unions, "u.c[$j]"),
    (Unions, "u.h[$j & 1]"),
    (Unions, "u.l"),
    (Unions, "gu.s.a"),
    (Unions, "(up ? up : &gu)->c[$j]"),
    (Copies, "buf[$j]"),
];

/// Pointers to `int`: `$p`.
pub(super) const POINTERS: &[Sentence] = &[
    (Any, "0"),
    (Any, "&a"),
    (Any, "&b"),
    (Any, "&g"),
    (Any, "p"),
    (Any, "q"),
    (Any, "y"),
    (Any, "&arr[$j]"),
    (Any, "arr"),
    (Any, "&ga[$j]"),
    (Any, "&m2[$j & 1][1]"),
    (Any, "($c ? $p : $p)"),
    (Any, "(p ? p + 1 : 0)"),
    (Any, "&st"),
    (Structs, "&s.x"),
    (Structs, "&s.v[$j & 1]"),
    (Structs, "s.ip"),
    (Structs, "&o.one.x"),
    (Structs, "&o.in[$j & 1].v[0]"),
    (Structs, "&go.in[$j & 1].x"),
    (Structs, "(op ? &op->one.x : 0)"),
    (Structs, "(op ? op->in[$j & 1].ip : 0)"),
    (Unions, "&u.i"),
    (Lists, "(n ? &n->v : 0)"),
    (PointersToPointers, "(pp ? *pp : 0)"),
    (PointersToPointers, "pa[$j & 1]"),
    (PointersToPointers, "gp"),
    (PointersToPointers, "e0($i, $q)"),
    (Addresses, "(int *)((char *)arr + 4 * ($j))"),
    (Addresses, "(int *)((uintptr_t)arr + 8)"),
];

/// Pointers to pointers: `$q`.
pub(super) const POINTERS_TO_POINTERS: &[Sentence] = &[
    (Any, "&p"),
    (Any, "&q"),
    (PointersToPointers, "pp"),
    (PointersToPointers, "&gp"),
    (PointersToPointers, "&pa[$j & 1]"),
    (Structs, "&s.ip"),
    (Structs, "&o.in[$j & 1].ip"),
    (Structs, "(op ? &op->one.ip : &p)"),
];

/// Pointers to functions: `$f`.
pub(super) const FUNCTIONS: &[Sentence] = &[
    (Any, "f0"),
    (Any, "f1"),
    (Any, "cb"),
    (Any, "table[$j & 1]"),
    (Any, "($c ? f0 : cb)"),
    (Structs, "o.f"),
    (Structs, "(op ? op->f : f1)"),
    (Any, "0"),
];

/// Statements.
pub(super) const STATEMENTS: &[Sentence] = &[
    (Any, "$l = $i;"),
    (Any, "$l = $i;"),
    (Any, "$l += $i;"),
    (Any, "$l ^= $i;"),
    (Any, "sum = sum * 31 + (unsigned)($i);"),
    (Any, "p = $p;"),
    (Any, "q = $p;"),
    (Any, "if (p)\n*p = $i;"),
    (Any, "if (q)\n*q += $i;"),
    (Any, "arr[$j] = $i;"),
    (Any, "b = ($c) ? a++ : (h = $i);"),
    (Any, "$l = f0($i, $p);"),
    (Any, "$l = f1($i, $p);"),
    (Any, "check($c);"),
    (Any, "{\nint x$u;\nif ($c)\nx$u = $i;\nelse\nx$u = $i;\n$l = x$u;\n}"),
    (Structs, "s = o.in[$j & 1];"),
    (Structs, "o.one = s;"),
    (Structs, "o.in[$j & 1] = go.one;"),
    (Structs, "o = go;"),
    (Structs, "go = o;"),
    (Structs, "if (op)\n*op = o;"),
    (Structs, "if (op)\no = *op;"),
    (Structs, "op = &o;"),
    (Structs, "op = &go;"),
    (Structs, "if (op)\nop = op->next;"),
    (Structs, "o.next = $c ? &go : &o;"),
    (Structs, "if (op)\nop->next = &o;"),
    (Structs, "s.ip = $p;"),
    (Structs, "if (op)\nop->in[$j & 1].ip = $p;"),
    (Structs, "if (op && op->one.ip)\n*op->one.ip = $i;"),
    (Structs, "s = h0(s, $i);"),
    (Structs, "o.in[$j & 1] = h0(o.one, $i);"),
    (Structs, "k0($c ? op : &go, 0, $i);"),
    (Structs, "s = (struct in){.x = $i, .ip = $p};"),
    (Structs, "{\nstruct in *t$u = $c ? &s : &o.in[$j & 1];\nt$u->x = $i;\nt$u->v[$j & 1]++;\n}"),
    (Unions, "u = gu;"),
    (Unions, "gu = u;"),
    (Unions, "up = $c ? &u : &gu;"),
    (Unions, "if (up)\nup->l = $i;"),
    (Unions, "u.ip = $p;\nif (u.ip)\n*u.ip = $i;"),
    (Lists, "n = push(n, $i);"),
    (Lists, "head = push($c ? head : n, $i);"),
    (Lists, "head = n;"),
    (Lists, "n = head;"),
    (Lists, "if (n)\nn->v = $i;"),
    (Lists, "if (n)\nn = n->next;"),
    (Lists, "if (n && n->next)\nn->next = n->next->next;"),
    (Lists, "if (n && head)\nhead->next = n;"),
    (
        Lists,
        "{\nint t$u = 0;\nfor (struct node *m = n; m && t$u < 4; m = m->next, t$u++) {\nsum += m->v;\n$b}\n}",
    ),
    (Lists, "if (n) {\nstruct node *m = n;\nn = n->next;\nfree(m);\n}"),
    (Lists, "{\nstruct node l$u = {$i, n};\nn = &l$u;\n$bn = l$u.next;\n}"),
    (Lists, "k0(0, n, $i);"),
    (Heap, "p = malloc(4 * sizeof *p);\nfor (int i$u = 0; i$u < 4; i$u++)\np[i$u] = $i;"),
    (Heap, "p = calloc(($j) + 1, sizeof *p);\np[$j] = $i;"),
    (
        Heap,
        "for (int i$u = 0; i$u < 3; i$u++) {\nint *t$u = malloc(8);\nt$u[1] = $i;\nt$u[0] = i$u;\nif ($c)\np = t$u;\nelse\nq = t$u + 1;\n}",
    ),
    (Heap, "{\nint *t$u = calloc(3, 4);\nt$u[$j] = $i;\nsum += t$u[1];\n$bfree(t$u);\n}"),
    (Heap, "op = calloc(1, sizeof *op);\nop->one.ip = p;"),
    (Heap, "op = malloc(sizeof *op);\n*op = o;"),
    (
        Heap,
        "for (int i$u = 0; i$u < 2; i$u++) {\nop = calloc(1, sizeof *op);\nop->one.x = $i;\nop->next = o.next;\no.next = op;\n}",
    ),
    (
        Heap,
        "{\nstruct in *t$u = calloc(3, sizeof *t$u);\nt$u[$j & 1].x = $i;\nt$u[$j & 1].ip = $p;\ns = t$u[1];\n}",
    ),
    (
        Heap,
        "{\nint n$u = (($i) & 3) + 1;\nint v$u[n$u];\nv$u[0] = $i;\nv$u[$j] = $i;\nsum += v$u[0];\n}",
    ),
    (
        Heap,
        "{\nint **t$u = malloc(2 * sizeof *t$u);\nt$u[0] = $p;\nt$u[1] = $p;\np = t$u[$j & 1];\n}",
    ),
    (PointersToPointers, "pp = $q;"),
    (PointersToPointers, "if (pp)\n*pp = $p;"),
    (PointersToPointers, "if (pp && *pp)\n**pp = $i;"),
    (PointersToPointers, "pa[$j & 1] = $p;"),
    (PointersToPointers, "gp = $p;"),
    (PointersToPointers, "p = e0($i, $q);"),
    (PointersToPointers, "{\nint ***t$u = &pp;\n*t$u = $q;\nif (**t$u)\n***t$u = $i;\n}"),
    (Callbacks, "cb = $f;"),
    (Callbacks, "if (cb)\n$l = cb($i, $p);"),
    (Callbacks, "$l = table[$j & 1]($i, $p);"),
    (Callbacks, "table[$j & 1] = $f;"),
    (Callbacks, "$l = apply($f, $i, $p);"),
    (Callbacks, "o.f = $f;\nif (o.f)\n$l = o.f($i, $p);"),
    (Callbacks, "if (op && op->f)\n$l = op->f($i, $p);"),
    (Callbacks, "{\nvoid (*t$u)(void) = $c ? reach_error : nothing;\nt$u();\n}"),
    (Copies, "memcpy(arr, ga, sizeof arr);"),
    (Copies, "memcpy(ga, arr, 2 * sizeof(int));"),
    (Copies, "memmove(arr, arr + 1, 3 * sizeof(int));"),
    (Copies, "memset(arr, $k, 8);"),
    (Copies, "memset(&s, 0, sizeof s);"),
    (Copies, "memcpy(&o.in[$j & 1], &s, sizeof s);"),
    (Copies, "memcpy(&s, $c ? &o.one : &go.in[1], sizeof s);"),
    (Copies, "memcpy(buf + ($j), &a, 4);"),
    (Copies, "memcpy(&a, buf + ($j), 4);"),
    (Copies, "memset(buf, $k, sizeof buf);"),
    (Copies, "strcpy(buf, $c ? \"ab\" : \"xyz\");"),
    (Copies, "buf[7] = 0;\nb = (int)strlen(buf);"),
    (Copies, "memcpy(arr, ga, ($j) * sizeof(int));"),
    (Copies, "if (p)\nmemcpy(p, &b, sizeof b);"),
    (Copies, "memcpy(&q, &p, sizeof q);"),
    (Addresses, "w = (uintptr_t)p;\nq = (int *)w;"),
    (Addresses, "memcpy(&w, &p, sizeof w);\nmemcpy(&q, &w, sizeof q);"),
    (Addresses, "u.ip = $p;\nw = u.l;"),
    (Addresses, "((char *)&a)[$j] = $i;"),
    (Addresses, "if (p)\n*(unsigned char *)p = $i;"),
    (Addresses, "if (p)\n((short *)p)[1] = $i;"),
    (Addresses, "{\nchar *t$u = (char *)&s;\nt$u[offsetof(struct in, z)] = $i;\n}"),
    (
        Addresses,
        "{\nint *t$u = (int *)((char *)&o + offsetof(struct out, in[1].x));\n*t$u = $i;\n}",
    ),
    (Sorting, "qsort(arr, 4, sizeof(int), cmp);"),
    (Sorting, "p = bsearch(&a, arr, 4, sizeof(int), cmp);"),
    (Sorting, "if (op)\nqsort(op->in, 2, sizeof(struct in), cmp);"),
    (Jumps, "l$u:;\n$bif (t$u++ < 2 && $c)\ngoto l$u;"),
    (Jumps, "if ($c)\ngoto l$u;\n$bl$u:;"),
    (Jumps, "if ($c) {\nl$u:;\n$b}\nif (t$u++ < 1 && $c)\ngoto l$u;"),
    (Ends, "if ($c)\nexit(0);"),
    (Ends, "if ($c)\n$r"),
    (Ends, "if ($c)\nabort();"),
    (LateInputs, "a = __VERIFIER_nondet_int() & 3;"),
    (LateInputs, "c = __VERIFIER_nondet_uchar();"),
    (LateInputs, "__VERIFIER_assume($i != $k);"),
    (Wild, "arr[$i & 7] = $i;"),
    (Wild, "b = s.v[$i & 3];"),
    (Wild, "s.v[$i & 3] = $i;"),
    (Wild, "o.in[0].v[$j] = $i;"),
    (Wild, "p = $p;\n*p = $i;"),
    (Wild, "p[$j] = $i;"),
    (Recursion, "$l = r0($i, $p);"),
    (Recursion, "$l = r1($i, $p);"),
    (Recursion, "$l = r0($i & 1, $p);"),
    (Builtins, "__builtin_add_overflow($i, $i, &a);"),
    (Builtins, "if (__builtin_mul_overflow(a, $i, &h))\nb++;"),
];

/// Statements with statements in them, and errors.
pub(super) const BLOCKS: &[Sentence] = &[
    (Any, "if ($c) {\n$b} else {\n$b}"),
    (Any, "if ($c) {\n$b}"),
    (Any, "if ($c)\nERROR;"),
    (Any, "if ($c)\nERROR;"),
    (Any, "if ($c) {\n$bif ($c)\nERROR;\n}"),
    (Any, "for (int i$u = 0; i$u < (($i) & 3); i$u++) {\n$b}"),
    (Any, "for (int i$u = 0; i$u < 4; i$u++) {\narr[i$u] = $i + i$u;\n$b}"),
    (Any, "{\nint t$u = 3;\nwhile (t$u-- > 0) {\n$bif ($c)\nbreak;\n}\n}"),
    (Any, "{\nint t$u = 0;\ndo {\nif ($c)\ncontinue;\n$b} while (++t$u < 3);\n}"),
    (Any, "switch (($i) & 3) {\ncase 0:\n$bcase 1:\n$bbreak;\ndefault:\n$b}"),
    (Any, "switch ($i) {\ncase 1:\n$bbreak;\ncase -2 ... 0:\n$b}"),
    (Any, "for (p = arr; p < arr + 4; p++) {\n*p += $i;\n$b}"),
];

/// A local variable: its name, its declaration, and initialisers.
pub(super) struct Local {
    pub(super) name: &'static str,
    pub(super) declaration: &'static str,
    pub(super) values: &'static [&'static str],
}

pub(super) const fn local(
    name: &'static str,
    declaration: &'static str,
    values: &'static [&'static str],
) -> Local {
    Local { name, declaration, values }
}

/// The local variables. An initialiser uses those before it.
pub(super) const LOCALS: &[Local] = &[
    local("i0", "int i0", &["1"]),
    local("y", "int *y", &["&g", "0"]),
    local("a", "int a", &["i0", "i0", "$k", "i0 * 2"]),
    local("b", "int b", &["$k", "i0", "g"]),
    local("c", "unsigned char c", &["$k", "i0"]),
    local("h", "short h", &["$k", "-1"]),
    local("w", "long long w", &["$k", "a"]),
    local("arr", "int arr[4]", &["{1, 2, $k}", "{0}", "{i0, i0, 1, $k}"]),
    local("sh", "short sh[4]", &["{3}", "{1, -2, $k, 4}"]),
    local("m2", "int m2[2][4]", &["{{1}, {$k, 3}}"]),
    local("buf", "char buf[8]", &["\"abc\"", "{0}"]),
    local("s", "struct in s", &["{1}", "{.x = i0}", "{.v = {$k, 2}, .ip = &g}"]),
    local("o", "struct out o", &["{0}", "{.one = {.x = $k}, .f2 = -3}"]),
    local("u", "union un u", &["{$k}", "{.l = -1}"]),
    local("up", "union un *up", &["&gu", "0", "&u"]),
    local("st", "static int st", &["$k"]),
    local("p", "int *p", &["0", "&a", "&g", "arr", "y"]),
    local("q", "int *q", &["0", "&b", "&ga[1]", "y"]),
    local("pa", "int *pa[2]", &["{&a}", "{p, q}"]),
    local("pp", "int **pp", &["&p", "0"]),
    local("op", "struct out *op", &["0", "&go", "&o"]),
    local("n", "struct node *n", &["0", "head"]),
    local("cb", "fn cb", &["f0", "0", "f1"]),
];

/// The declarations that all programs have.
pub(super) const HEAD: &str = "\
typedef unsigned long size_t;
typedef unsigned long uintptr_t;
#define offsetof(type, member) __builtin_offsetof(type, member)
#define ERROR reach_error()
extern int __VERIFIER_nondet_int(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern unsigned long __VERIFIER_nondet_ulong(void);
extern void __VERIFIER_assume(int);
extern void *malloc(size_t);
extern void *calloc(size_t, size_t);
extern void free(void *);
extern void exit(int) __attribute__((noreturn));
extern void abort(void) __attribute__((noreturn));
extern int abs(int);
extern void *memcpy(void *, const void *, size_t);
extern void *memmove(void *, const void *, size_t);
extern void *memset(void *, int, size_t);
extern size_t strlen(const char *);
extern char *strcpy(char *, const char *);
extern int strcmp(const char *, const char *);
extern void qsort(void *, size_t, size_t, int (*)(const void *, const void *));
extern void *bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
typedef int (*fn)(int, int *);
struct node { int v; struct node *next; };
";

/// Members of `struct in`, in any order.
pub(super) const MEMBERS_IN: [&str; 5] =
    ["int x;", "unsigned char y : 3;", "short z;", "int v[2];", "int *ip;"];

/// Members of `struct out`, in any order.
pub(super) const MEMBERS_OUT: [&str; 7] = [
    "struct in in[2];",
    "struct in one;",
    "struct out *next;",
    "fn f;",
    "short tail;",
    "unsigned f1 : 5;",
    "int f2 : 7;",
];

/// Further declarations.
pub(super) const MIDDLE: &str = "\
union un { int i; unsigned char c[8]; short h[4]; long long l; int *ip; struct { short a, b; } s; };
int f0(int, int *);
int f1(int, int *);
int r0(int, int *);
int r1(int, int *);
int *e0(int, int **);
struct in h0(struct in, int);
void k0(struct out *, struct node *, int);
int cmp(const void *, const void *);
static void nothing(void) { }
static unsigned sum;
static int fuel = 12, done;
";

/// Global variables: after `static` or nothing.
pub(super) const GLOBALS: [&str; 9] = [
    "int g = $k;",
    "short gs = $k;",
    "unsigned char gs = $k;",
    "int ga[4] = {$k, 2, $k};",
    "int *gp;",
    "struct out go = {.one = {.x = $k}, .tail = $k};",
    "union un gu = {$k};",
    "struct node *head;",
    "fn table[2] = {f0, f1};",
];

/// Small functions that all programs may call.
pub(super) const SERVICES: [(&str, &str); 3] = [
    ("check", "static void check(int c)\n{\nif (!c)\nERROR;\n}\n"),
    (
        "push",
        "static struct node *push(struct node *to, int v)\n{\nstruct node *new = malloc(sizeof *new);\n\
         new->v = v;\nnew->next = to;\nreturn new;\n}\n",
    ),
    ("apply", "static int apply(fn f, int x, int *y)\n{\nreturn f ? f(x, y) + 1 : 0;\n}\n"),
];

/// A function that programs may have.
pub(super) struct Template {
    pub(super) name: &'static str,
    pub(super) head: &'static str,
    /// The locals that are its parameters.
    pub(super) params: &'static [&'static str],
    /// A declaration before those of its locals.
    pub(super) first: &'static str,
    /// Its first statements.
    pub(super) begin: &'static str,
    /// The values that it returns.
    pub(super) results: &'static [&'static str],
}

/// The functions.
pub(super) const TEMPLATES: [Template; 8] = [
    Template {
        name: "f0",
        head: "int f0(int i0, int *y)",
        params: &["i0", "y"],
        first: "",
        begin: "if (fuel-- <= 0)\nreturn $k;",
        results: &["$i"],
    },
    Template {
        name: "f1",
        head: "int f1(int i0, int *y)",
        params: &["i0", "y"],
        first: "",
        begin: "if (fuel-- <= 0)\nreturn $k;",
        results: &["$i"],
    },
    Template {
        name: "r0",
        head: "int r0(int i0, int *y)",
        params: &["i0", "y"],
        first: "",
        begin: "if (fuel-- <= 0 || i0 <= 0)\nreturn $k;\nb = r0(i0 - 1, $p);",
        results: &["$i", "r0(i0 - 2, $p) + $i", "r1(i0 - 1, y)"],
    },
    Template {
        name: "r1",
        head: "int r1(int i0, int *y)",
        params: &["i0", "y"],
        first: "",
        begin: "if (fuel-- <= 0 || i0 > 3)\nreturn $k;\nif (i0 & 1)\nreturn r0(i0 / 2, $p);",
        results: &["$i", "r1(i0 + 1, &a)"],
    },
    Template {
        name: "e0",
        head: "int *e0(int i0, int **pp)",
        params: &["i0", "pp"],
        first: "",
        begin: "if (fuel-- <= 0)\nreturn 0;\nif (pp && $c)\n*pp = &ga[$j];",
        results: &["$p", "(pp ? *pp : &g)"],
    },
    Template {
        name: "h0",
        head: "struct in h0(struct in s, int i0)",
        params: &["s", "i0"],
        first: "",
        begin: "if (fuel-- <= 0)\nreturn s;\ns.x += i0;",
        results: &["s", "o.in[$j & 1]"],
    },
    Template {
        name: "k0",
        head: "void k0(struct out *op, struct node *n, int i0)",
        params: &["op", "n", "i0"],
        first: "",
        begin: "if (fuel-- <= 0)\nreturn;\nif (op)\nop->one.x = i0;\nif (n)\nn->v++;",
        results: &[""],
    },
    Template {
        name: "cmp",
        head: "int cmp(const void *left, const void *right)",
        params: &["i0"],
        first: "int i0 = *(const int *)left;\n",
        begin: "if (fuel-- <= 0)\nreturn 0;",
        results: &["i0 - *(const int *)right", "(g++, i0 < *(const int *)right ? -1 : 1)"],
    },
];
