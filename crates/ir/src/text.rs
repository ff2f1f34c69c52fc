//! The text form of a [`Program`]: what a developer reads, and what reads back to the same program.
//!
//! [`print`] and [`parse`] are inverse: `parse(&print(p)) == Ok(p)`, ids, spans and source tables
//! included. The parser checks syntax, and that ids are dense where they are given; what the
//! program means is the verifier's business. It never panics: an error has its line and column.
//! Decision trees that nest more than 150 deep (but for chains of `&&` and `||`) do not read back.
//!
//! # Expressions
//! They are written as trees where they are used. A tree's nodes get ids by counting: each node,
//! after its operands, gets the id after the last one that was given. A node with another id, or
//! one that is used again, has a label, `e7:add.u(v0, 1:i32)`, and is `e7` wherever it is used
//! again. Trees that are deep are cut into `expr` lines before the line that uses them; what
//! nothing uses stands in `expr` lines at the end.
//!
//! # Grammar
//! Space and line breaks part tokens and mean nothing else; `#` begins a comment that ends with
//! the line. Ids are as they display: `ty3`, `rec0`, `g1`, `f2`, `v0`, `e7`, `s4`, `bb1`, `d0`,
//! `c1`, `m2`, `r5`. Text in quotes has the escapes `\"`, `\\`, `\n`, `\xNN` and `\u{N}`.
//!
//! ```text
//! program   = { type | record | typedef | global | function | alias | startup }
//! span      = [ "@" N ".." N ]                                       none: Span::NONE
//! type      = tyN "=" ( "void" | "float" | "double"
//!             | "int" "C spelling" BITS ("signed" | "unsigned")
//!             | "enum" "name" tyN "{" { "name" "=" N } "}"
//!             | "opaque" "name" SIZE ALIGN
//!             | "pointer" ["const"] tyN
//!             | "array" tyN (N | "?")
//!             | "function" tyN "(" tyN, ... ")" ["variadic"]
//!             | "record" recN )
//! record    = recN "=" ("struct" | "union") "name" "size" (N | "?") "align" N
//!             "{" { "name" tyN "at" BIT ["bits" N] } "}"
//! typedef   = "typedef" "name" tyN
//! global    = "global" gN "name" tyN "size" N "align" N linkage ["const"] ["weak"] ["thread"] span "=" init
//! linkage   = "external" | "internal"
//! init      = "extern" | "zero" | "{" { N ":" ( "bytes" | "&"(gN | fN) ["+" N] ) } "}"
//! function  = "function" fN "name" tyN linkage ["noreturn"] ["weak"] ["library"]
//!             ["system"] ["implicit"] "(" "name", ... ")" span [ body ]
//! alias     = "alias" "name" (gN | fN)
//! startup   = "startup" fN ("before" | "after") PRIORITY
//! body      = "{" "params" "(" vN, ... ")" { local } "entry" bbN
//!             { block | "expr" expr | "unplaced" stmt | decision | mark | source } "}"
//! local     = "local" vN "name" tyN ("param" | "var" | "temp")
//!             ("register" mtype | "memory" SIZE ALIGN) span
//! block     = bbN ":" { stmt | "expr" expr } terminator
//! stmt      = sN [ ":" ( "mark" mN | vN "=" expr | "enter" vN | "leave" vN
//!             | "store" ["volatile"] mtype expr "," expr             address, value
//!             | "storebits" bitfield expr "," expr
//!             | "copy" expr "," expr "," N                           to, from, bytes
//!             | "zero" expr "," N
//!             | "call" (fN | "*" expr) tyN "(" expr, ... ")" "(" tyN, ... ")"
//!               ["->" vN] ["to" expr] ) ]                            without ":" a repeated use
//! terminator= "goto" bbN | "return" (expr | "void") | "trap" kind
//!             | "branch" expr "?" bbN ":" bbN
//!               [ "[" dN cN ["begins"] ["then" bool] ["else" bool] "]" ]
//!             | "switch" expr "{" { N [".." N] ":" bbN span } "default" ":" bbN "}"
//! decision  = "decision" dN tree
//! tree      = ("control" | "value") span "=" btree "{" { cN purity span "=" expr
//!             [ "unreached" ( "never" | ( "always" | "defined" ) expr ) ] } "}"
//! purity    = "pure" | "may-trap" | "effects"
//! btree     = "true" | "false" | cN | ("not" | "and" | "or" | "bitand" | "bitor" | "eq" | "xor"
//!             | "ite") "(" btree, ... ")"              and, or: two or more, nested to the left
//! mark      = "mark" mN span ("statement" | "label" "name" tree)
//! source    = "source" span "{" { "stmt" sN span | "term" bbN span | "expr" eN span
//!             | "mark" mN style span | "label" mN span | "decision" dN span "(" span, ... ")"
//!             | "switch" bbN span | "expr" expr
//!             | "root" rN (sN | bbN) span rkind expr ["fixed"] [ "(" vN span, ... ")" ] } "}"
//! style     = "wrap" | "before" | "expression" | "before-for"
//! rkind     = "value" | "assigned" [vN] ["at" expr] "=" | "address" | "update" | "condition" dN cN
//! expr      = [ eN ":" ] node | eN
//!             | "$" NAME ":" expr | "$" NAME                         for text written by hand
//! node      = NUMBER ":" mtype | vN | "&" (vN | gN | fN)
//!             | "load" ["volatile"] mtype "(" expr ")" | "loadbits" bitfield "(" expr ")"
//!             | unop "(" expr ")" | binop "(" expr "," expr ")" | cmpop "(" expr "," expr ")"
//!             | castop mtype "(" expr ")"
//!             | "field" recN N "(" expr ")"
//!             | "index" SIZE ["of" N] "(" expr "," expr ")"
//!             | "ptrdiff" SIZE "(" expr "," expr ")"
//! bitfield  = "[" recN N "byte" N "bit" N "width" N ("signed" | "unsigned") mtype "]"
//! mtype     = "i" BITS | "f32" | "f64" | "ptr"
//! ```
//!
//! Numbers are decimal, or hexadecimal after `0x`; a negative constant is cut to its type. A float
//! constant is decimal, or its IEEE pattern in hexadecimal. `span`s in lists have their `@` even
//! where they are none (`@0..0`).

mod body;
mod lex;
mod names;
mod parse;
mod print;
mod read_body;

pub use parse::{ParseError, parse};
pub use print::{print, print_body, print_expr, print_function};

#[cfg(test)]
mod tests;
