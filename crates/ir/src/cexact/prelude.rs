//! The types and functions that the texts of [`super::ExactC`] use.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::program::ctype::Target;

/// The prefix of all names of the prelude.
const PREFIX: &str = "lydian_";

const WIDTHS: [(u32, &str, &str); 5] = [
    (8, "unsigned char", "signed char"),
    (16, "unsigned short", "short"),
    (32, "unsigned int", "int"),
    (64, "unsigned long long", "long long"),
    (128, "unsigned __int128", "__int128"),
];

/// C to be put once before the first function of the file. It needs no preprocessor and no header.
/// For a 32-bit target it has nothing of 128 bits, which no compiler has there: texts that need it do
/// not compile.
///
/// `readable` names a function `int readable(const void *address, unsigned long bytes)`, declared
/// before, that says whether these bytes can be read; guarded loads ask it. Without one a guarded
/// load only checks for addresses near null.
pub fn prelude(target: Target, readable: Option<&str>) -> String {
    let mut text = String::new();
    let widths =
        || WIDTHS.into_iter().filter(|(bits, ..)| *bits <= 2 * u32::from(target.pointer_bits()));
    for (bits, unsigned, signed) in widths() {
        let line = format!(
            "__extension__ typedef {unsigned} lydian_u{bits};\n\
             __extension__ typedef {signed} lydian_s{bits};\n\
             typedef lydian_u{bits} __attribute__((may_alias, aligned(1))) lydian_a{bits};\n"
        );
        text.push_str(&line);
    }
    text.push_str(
        "typedef float __attribute__((may_alias, aligned(1))) lydian_af32;\n\
         typedef double __attribute__((may_alias, aligned(1))) lydian_af64;\n\
         typedef long double __attribute__((may_alias, aligned(1))) lydian_af80;\n\
         typedef char *__attribute__((may_alias, aligned(1))) lydian_aptr;\n",
    );
    text.push_str(&conversions());
    if widths().any(|(bits, ..)| bits == 128) {
        text.push_str(&wide_conversions());
    }
    text.push_str(&readable_test(readable));
    for (bits, ..) in widths() {
        text.push_str(&operators(bits));
        text.push_str(&load(&bits.to_string(), &format!("lydian_u{bits}")));
        text.push_str(&float_conversions(bits));
    }
    text.push_str(&load("f32", "float"));
    text.push_str(&load("f64", "double"));
    text.push_str(&load("f80", "long double"));
    text.push_str(&load("ptr", "char *"));
    text
}

/// The part of the [`prelude`] that these texts use. To compile all of it takes several times as long as to
/// compile a small file.
pub fn prelude_for(target: Target, readable: Option<&str>, texts: &[&str]) -> String {
    let whole = prelude(target, readable);
    let lines: FxHashMap<&str, &str> =
        whole.lines().filter_map(|line| Some((defined(line)?, line))).collect();
    let mut used = FxHashSet::default();
    let mut work: Vec<&str> = texts.iter().flat_map(|text| names(text)).collect();
    while let Some(name) = work.pop() {
        if let Some(line) = lines.get(name)
            && used.insert(name)
        {
            work.extend(names(line));
        }
    }
    let is_used = |line: &&str| defined(line).is_none_or(|name| used.contains(name));
    whole.lines().filter(is_used).flat_map(|line| [line, "\n"]).collect()
}

/// The names of a text that may be the prelude's.
fn names(text: &str) -> impl Iterator<Item = &str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(PREFIX).map(move |(at, _)| {
        let rest = &text[at..];
        &rest[..rest.find(|c| !is_part(c)).unwrap_or(rest.len())]
    })
}

/// The name that a line of the prelude defines: one function, or one type, which is named last.
fn defined(line: &str) -> Option<&str> {
    match line.starts_with(INLINE) {
        true => names(line).find(|name| line.contains(&format!("{name}("))),
        false => names(line).last(),
    }
}

const INLINE: &str = "static __inline__ __attribute__((always_inline, unused))";

fn readable_test(readable: Option<&str>) -> String {
    let test = match readable {
        Some(name) => format!("{name}(p, n)"),
        None => "(unsigned long)p >= 4096 && n <= ~(unsigned long)p".to_owned(),
    };
    format!(
        "typedef lydian_u64 lydian_pages[4];\n\
         {INLINE} lydian_u64 lydian_element(lydian_u64 index, lydian_u64 count, int *bad) {{ \
         if (index >= count) {{ *bad = 1; return 0; }} return index; }}\n\
         {INLINE} int lydian_can_read(const char *p, lydian_u64 n, lydian_u64 *pages) {{ \
         lydian_u64 first = (unsigned long)p >> 12, last = ((unsigned long)p + n - 1) >> 12; \
         if (pages && first && first == last && pages[first & 3] == first) return 1; \
         if (!({test})) return 0; \
         if (pages) pages[last & 3] = last; \
         return 1; }}\n\
         {INLINE} char *lydian_within(char *base, lydian_s64 offset, lydian_u64 bytes, \
         lydian_u64 size, int *bad) {{ \
         if (offset < 0 || bytes > size || (lydian_u64)offset > size - bytes) \
         {{ *bad = 1; return base; }} return base + offset; }}\n\
         {INLINE} lydian_u64 lydian_checked_bits(const char *p, int bytes, int bit, int bits, \
         int is_signed, int *bad, lydian_u64 *pages) {{ \
         if (!lydian_can_read(p, (lydian_u64)bytes, pages)) {{ *bad = 1; return 0; }} \
         return lydian_bits(p, bytes, bit, bits, is_signed); }}\n"
    )
}

/// Floats as their bits, and bit-fields.
fn conversions() -> String {
    let mut text = String::new();
    for (name, float, bits) in [("f32", "float", "lydian_u32"), ("f64", "double", "lydian_u64")] {
        let pair = format!(
            "{INLINE} {bits} lydian_bits_of_{name}({float} a) \
             {{ union {{ {float} f; {bits} b; }} u; u.f = a; return u.b; }}\n\
             {INLINE} {float} lydian_{name}_of_bits({bits} a) \
             {{ union {{ {float} f; {bits} b; }} u; u.b = a; return u.f; }}\n"
        );
        text.push_str(&pair);
    }
    writeln!(
        text,
        "{INLINE} long double lydian_f80_of_words(lydian_u64 high, lydian_u64 low) \
         {{ union {{ long double f; struct {{ lydian_u64 low; lydian_u16 high; }} b; }} u; \
         u.f = 0; u.b.low = low; u.b.high = (lydian_u16)high; return u.f; }}\n\
         {INLINE} lydian_u64 lydian_bits(const char *p, int bytes, int bit, int bits, \
         int is_signed) {{ \
         lydian_u64 value = 0; int i; \
         for (i = 0; i < bytes; i++) {{ int at = 8 * i - bit; \
         lydian_u64 byte = ((const lydian_a8 *)p)[i]; \
         if (at > -8 && at < 64) value |= at < 0 ? byte >> -at : byte << at; }} \
         value <<= 64 - bits; \
         return is_signed ? (lydian_u64)((lydian_s64)value >> (64 - bits)) \
         : value >> (64 - bits); }}"
    )
    .expect("a String takes all text");
    text
}

/// A `long double` as its bits. Its padding holds anything.
fn wide_conversions() -> String {
    format!(
        "{INLINE} lydian_u128 lydian_bits_of_f80(long double a) \
         {{ union {{ long double f; lydian_u128 b; }} u; u.f = a; \
         return u.b & ((((lydian_u128)1) << 80) - 1); }}\n\
         {INLINE} long double lydian_f80_of_bits(lydian_u128 a) \
         {{ union {{ long double f; lydian_u128 b; }} u; u.b = a; return u.f; }}\n"
    )
}

/// The operators that may trap, on integers of `n` bits.
fn operators(n: u32) -> String {
    let (u, s) = (format!("lydian_u{n}"), format!("lydian_s{n}"));
    let least = format!("(({u})1 << {})", n - 1);
    let head = |name: &str| format!("{INLINE} {u} lydian_{name}{n}({u} a, {u} b, int *bad)");
    let mut text = String::new();
    for (name, symbol) in [("div", "/"), ("rem", "%")] {
        let pair = format!(
            "{} {{ if (b == 0) {{ *bad = 1; return 0; }} return ({u})(a {symbol} b); }}\n\
             {} {{ if (b == 0 || (a == {least} && b == ({u})-1)) {{ *bad = 1; return 0; }} \
             return ({u})(({s})a {symbol} ({s})b); }}\n",
            head(&format!("{name}u")),
            head(&format!("{name}s")),
        );
        text.push_str(&pair);
    }
    let too_far = format!("if (b >= {n}) {{ *bad = 1; return 0; }}");
    let shifts = format!(
        "{} {{ {too_far} return ({u})(a >> b); }}\n\
         {} {{ {too_far} return ({u})(({s})a >> b); }}\n\
         {} {{ {too_far} return ({u})(a << b); }}\n\
         {} {{ {too_far} {u} r = ({u})(a << b); \
         if (({s})a < 0 || (({s})r >> b) != ({s})a) {{ *bad = 1; return 0; }} return r; }}\n",
        head("shru"),
        head("shrs"),
        head("shlu"),
        head("shls"),
    );
    text.push_str(&shifts);
    for name in ["add", "sub", "mul"] {
        let checked = format!(
            "{} {{ {s} r; if (__builtin_{name}_overflow(({s})a, ({s})b, &r)) \
             {{ *bad = 1; return 0; }} return ({u})r; }}\n",
            head(&format!("{name}s")),
        );
        text.push_str(&checked);
    }
    text
}

fn load(suffix: &str, ty: &str) -> String {
    format!(
        "{INLINE} {ty} lydian_get{suffix}(const char *p, int *bad, lydian_u64 *pages) {{ \
         if (!lydian_can_read(p, sizeof(lydian_a{suffix}), pages)) {{ *bad = 1; return 0; }} \
         return *(const lydian_a{suffix} *)p; }}\n\
         {INLINE} {ty} lydian_own{suffix}(const char *p, lydian_u64 *pages) {{ \
         pages[(unsigned long)p >> 12 & 3] = (unsigned long)p >> 12; \
         return *(const lydian_a{suffix} *)p; }}\n"
    )
}

/// Float to integer, the comparisons being exact as powers of two are: the integer part of `a` fits
/// exactly if `-2^(n-1) - 1 < a < 2^(n-1)`, where a double has no number between the left bound and
/// `-2^(n-1)` once `n` is above 53, and a long double none once it is above 64.
fn float_conversions(n: u32) -> String {
    let (half, full) = (format!("0x1p{}", n - 1), format!("0x1p{n}"));
    let mut text = String::new();
    for (mark, float, digits) in [("", "double", 53), ("x", "long double", 64)] {
        let low = match n <= digits {
            true => format!("a > -({float}){half} - 1"),
            false => format!("a >= -{half}"),
        };
        let pair = format!(
            "{INLINE} lydian_u{n} lydian_ftos{mark}{n}({float} a, int *bad) {{ \
             if (!({low} && a < {half})) {{ *bad = 1; return 0; }} \
             return (lydian_u{n})(lydian_s{n})a; }}\n\
             {INLINE} lydian_u{n} lydian_ftou{mark}{n}({float} a, int *bad) {{ \
             if (!(a > -1 && a < {full})) {{ *bad = 1; return 0; }} return (lydian_u{n})a; }}\n"
        );
        text.push_str(&pair);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_prelude_defines_one_name() {
        let whole = prelude(Target::default(), Some("lydian_readable"));
        let names: Vec<&str> = whole.lines().filter_map(defined).collect();
        assert_eq!(names.len(), whole.lines().count());
        assert_eq!(names.iter().collect::<FxHashSet<_>>().len(), names.len());
        assert!(names.contains(&"lydian_pages") && names.contains(&"lydian_getf80"));
    }

    #[test]
    fn a_text_gets_what_it_uses_and_what_that_uses() {
        let of = |texts: &[&str]| prelude_for(Target::default(), None, texts);
        let names = |text: &str| -> Vec<String> {
            text.lines().filter_map(defined).map(str::to_owned).collect()
        };
        assert_eq!(of(&["int f(void) { return lydian_hit[3]; }"]), "");
        let loads = of(&["x = lydian_get16(p, &bad, 0);"]);
        let expected = [
            "lydian_u16",
            "lydian_a16",
            "lydian_u64",
            "lydian_pages",
            "lydian_can_read",
            "lydian_get16",
        ];
        assert!(names(&loads).iter().all(|name| expected.contains(&name.as_str())), "{loads}");
        assert!(names(&loads).contains(&"lydian_can_read".to_owned()));
        let whole = prelude(Target::default(), None);
        assert_eq!(of(&[&whole]), whole);
    }
}
