//! Further sentences of random programs: floats, narrow and unsigned numbers, operations that may trap, and
//! functions that the program does not define.
//!
//! They stand beside those of [`super::grammar`], in its form.

use super::grammar::{Local, Sentence, Subject, local};

use Subject::*;

/// Numbers without operators.
pub(super) const LEAVES: &[Sentence] = &[
    (Narrow, "uc"),
    (Narrow, "us"),
    (Narrow, "sc"),
    (Narrow, "bo"),
    (Narrow, "(int)ul"),
    (Narrow, "(int)(ul >> 40)"),
    (Narrow, "table8[$j]"),
    (Narrow, "table8[uc & 7]"),
    (Floats, "(dd > $k)"),
    (Floats, "(dd < ff ? $k : 2)"),
    (Floats, "(dd > -99 && dd < 99 ? (int)dd : $k)"),
    (Floats, "(ff > -99 && ff < 99 ? (short)ff : $k)"),
    (Floats, "(int)(signed char)(int)(dd == dd ? 3.75 : 1)"),
    (Floats, "(ff != ff)"),
    (External, "ext($k)"),
    (External, "(int)ext_l()"),
    (External, "seen"),
];

/// Numbers with operators.
pub(super) const OPERATIONS: &[Sentence] = &[
    (Narrow, "(uc + $i)"),
    (Narrow, "(uc << 4)"),
    (Narrow, "(sc >> 1)"),
    (Narrow, "(us * us)"),
    (Narrow, "(uc == sc)"),
    (Narrow, "(unsigned char)(uc - $i)"),
    (Narrow, "(short)(us + 0x7fff)"),
    (Narrow, "((unsigned)($i) < (unsigned)($i))"),
    (Narrow, "(int)((unsigned)($i) / 3u)"),
    (Narrow, "(int)((unsigned)($i) % 7u)"),
    (Narrow, "(int)((unsigned)($i) * 2654435761u >> 29)"),
    (Narrow, "(int)(ul * 0x9E3779B97F4A7C15ul >> 61)"),
    (Narrow, "(int)((ul ^ (unsigned long)($i)) % 5)"),
    (Narrow, "(uc >= $i)"),
    (Narrow, "($i > ul)"),
    (Narrow, "(_Bool)($i)"),
    (Narrow, "($i >> ($i & 31))"),
    (Narrow, "(int)((unsigned)($i) << ($i & 31))"),
    (Traps, "($i / $i)"),
    (Traps, "($i % $i)"),
    (Traps, "($i / ($i - $k))"),
    (Traps, "(int)(ul / (unsigned)($i))"),
    (Traps, "arr[$i & 7]"),
    (Traps, "table8[$i & 15]"),
    (Floats, "($i * 0.5 > $k)"),
    (Floats, "(int)(($i & 15) * 0.25)"),
    (Floats, "(int)((unsigned char)($i) / 3.0f)"),
    (External, "ext($i)"),
];

/// Conditions.
pub(super) const CONDITIONS: &[Sentence] = &[
    (Narrow, "uc > $k"),
    (Narrow, "sc < 0"),
    (Narrow, "us - $i > $k"),
    (Narrow, "ul < $i"),
    (Narrow, "bo"),
    (Narrow, "(unsigned)($i) > 5u"),
    (Narrow, "!bo && uc == $k"),
    (Floats, "dd == $k"),
    (Floats, "dd * 2 > ff"),
    (Floats, "dd != dd"),
    (Floats, "dd < $k || ff >= $k"),
    (Floats, "(float)($i) == ff"),
    (External, "ext($i) == $k"),
    (External, "ext(a) && ext(b)"),
    (External, "ext_p(a) == &g"),
];

/// Places of numbers that may be written.
pub(super) const PLACES: &[Sentence] = &[
    (Narrow, "uc"),
    (Narrow, "us"),
    (Narrow, "sc"),
    (Narrow, "bo"),
    (Narrow, "ul"),
    (External, "seen"),
];

/// Statements.
pub(super) const STATEMENTS: &[Sentence] = &[
    (Narrow, "uc += $i;"),
    (Narrow, "uc++;"),
    (Narrow, "us--;"),
    (Narrow, "uc <<= 1;"),
    (Narrow, "sc = $i * 3;"),
    (Narrow, "sc = -sc;"),
    (Narrow, "us = us * us;"),
    (Narrow, "bo = $i;"),
    (Narrow, "ul = ul * 31 + $i;"),
    (Narrow, "ul |= (unsigned long)($i) << 33;"),
    (Narrow, "h += uc - sc;"),
    (Narrow, "c = c > 200 ? c - 200 : c + 100;"),
    (Narrow, "w = (long long)uc * sc - us;"),
    (Narrow, "for (unsigned char i$u = 250; i$u > 4; i$u++)\nsum += i$u;"),
    (Narrow, "for (uc = $k; uc < 3; uc++)\na += uc;"),
    (Floats, "dd = $i * 0.5;"),
    (Floats, "dd = dd + ff;"),
    (Floats, "dd = -dd;"),
    (Floats, "ff = (float)dd;"),
    (Floats, "ff = ($i & 7) / 2.0f;"),
    (Floats, "ff = (float)(uc * 3);"),
    (Floats, "dd = (unsigned)($i) * 1.0;"),
    (Floats, "dd = $c ? 1.5 : -0.0;"),
    (Floats, "dd = dd / ff;"),
    (Floats, "memcpy(&w, &dd, sizeof w);\nw = w < 0;"),
    (Floats, "if (dd > -50 && dd < 50)\n$l = (int)dd;"),
    (Traps, "$l = $i / $i;"),
    (Traps, "a /= $i;"),
    (Traps, "b %= ($i & 3);"),
    (Traps, "arr[($i & 7) - 1] = $i;"),
    (Traps, "p = $c ? &a : 0;\n*p = $i;"),
    (External, "$l = ext($i);"),
    (External, "poke(&a);"),
    (External, "poke($p);"),
    (External, "poke(arr);"),
    (External, "w = ext_l();"),
    (External, "p = ext_p($i);"),
    (External, "keep(&b);\n$l = ext(b);"),
    (External, "seen = $i;\npoke(0);"),
];

/// Statements with statements in them.
pub(super) const BLOCKS: &[Sentence] = &[
    (Narrow, "switch (uc) {\ncase 0 ... 2:\n$bbreak;\ncase 255:\n$bdefault:\n$b}"),
    (Narrow, "switch (ul >> 62) {\ncase 1:\n$bcase 3:\n$b}"),
    (Narrow, "for (unsigned i$u = 3; i$u-- > 0;) {\n$b}"),
    (Floats, "for (dd = 0; dd < 1; dd += 0.25) {\n$b}"),
    (Floats, "if (dd > $i) {\n$b} else {\n$b}"),
    (External, "for (int i$u = 0; i$u < 3 && ext(i$u); i$u++) {\n$b}"),
    (External, "if (ext($i)) {\n$b} else {\n$b}"),
];

/// Local variables. They are declared behind those of the grammar.
pub(super) const LOCALS: &[Local] = &[
    local("uc", "unsigned char uc", &["$k", "250", "i0"]),
    local("sc", "signed char sc", &["$k", "-128"]),
    local("us", "unsigned short us", &["$k", "i0 - 1"]),
    local("bo", "_Bool bo", &["0", "1"]),
    local("ul", "unsigned long ul", &["$k", "1ul << 63"]),
    local("dd", "double dd", &["0", "$k", "i0", "2.5"]),
    local("ff", "float ff", &["$k", "0.5f"]),
];

/// Declarations.
pub(super) const DECLARATIONS: &str = "\
extern int ext(int);
extern long long ext_l(void);
extern int *ext_p(int);
extern void poke(int *);
extern void keep(int *);
int seen = 1;
static const unsigned char table8[8] = {1, 0, 255, 7, 128, 3, 3, 64};
";
